"""Bayesian networks: a directed acyclic graph with a probability table for every variable.

Networks are where tables with a known truth come from: :meth:`DiscreteNetwork.blanket` is the true
Markov blanket, :meth:`DiscreteNetwork.sample` draws data, and :meth:`DiscreteNetwork.joint` is the
exact distribution, which an oracle can ask instead of data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from komb.data.checks import (
    check_cardinality,
    check_cells,
    check_count,
    check_number,
    find_cycle,
    random_pairs,
)
from komb.data.levels import code_dtype
from komb.data.models.sampling import Floats, draw, flat_index, spread, thresholds
from komb.data.problems import MAX_LEVELS
from komb.data.table import DiscreteTable
from komb.errors import ParameterError, UnknownNameError

if TYPE_CHECKING:
    import networkx as nx


def graph_blanket(graph: nx.DiGraph, node: Any) -> tuple[Any, ...]:
    """Return parents, children and the other parents of children, in the order of the graph."""
    children = set(graph.successors(node))
    parents = {parent for below in (node, *children) for parent in graph.predecessors(below)}
    members = (children | parents) - {node}
    return tuple(other for other in graph if other in members)


class DiscreteNetwork:
    """A Bayesian network of discrete variables.

    Parameters
    ----------
    parents
        The parents of every variable. The order of the keys is the order of the variables.
    tables
        For every variable the probabilities of its levels given its parents, of shape
        ``(levels of parent 1, ..., levels of parent m, levels of the variable)``. They must sum to
        1 over the last axis, up to 1e-6.
    levels
        The values of every variable; 0, 1, ... for variables that are left out.

    Raises
    ------
    komb.errors.ParameterError
        If the graph has a cycle or a table does not fit.

    Examples
    --------
    >>> network = DiscreteNetwork(
    ...     parents={"rain": [], "wet": ["rain"]},
    ...     tables={"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.05, 0.95]]},
    ...     levels={"rain": ["no", "yes"]},
    ... )
    >>> network
    DiscreteNetwork(2 variables, 1 edge)
    >>> network.blanket("rain")
    ('wet',)
    >>> network.sample(1000, seed=1)
    DiscreteTable(1000 rows x 2 columns, 2 levels)
    """

    __slots__ = ("_graph", "_levels", "_parents", "_tables")

    def __init__(
        self,
        parents: Mapping[str, Sequence[str]],
        tables: Mapping[str, npt.ArrayLike],
        levels: Mapping[str, Sequence[object]] | None = None,
    ) -> None:
        self._parents = _check_parents(parents)
        self._graph = _make_graph(self._parents)
        _check_keys("tables", tables, self._parents, is_complete=True)
        arrays = {name: _to_array(name, tables[name]) for name in self._parents}
        sizes = {name: array.shape[-1] for name, array in arrays.items()}
        _check_keys("levels", levels or {}, self._parents, is_complete=False)
        self._levels = {
            name: _check_levels(name, size, (levels or {}).get(name, range(size)))
            for name, size in sizes.items()
        }
        self._tables = {
            name: _check_table(name, array, [*(sizes[p] for p in self._parents[name]), sizes[name]])
            for name, array in arrays.items()
        }

    @classmethod
    def random(
        cls,
        n_variables: int,
        *,
        n_edges: int | None = None,
        degree: float = 2.0,
        cardinality: int | tuple[int, int] = (2, 3),
        max_parents: int = 4,
        concentration: float = 1.0,
        seed: int = 0,
    ) -> DiscreteNetwork:
        """Draw a network at random, with variables ``X1``, ``X2``, ...

        Parameters
        ----------
        n_variables
            How many variables.
        n_edges
            How many edges; if left out, ``n_variables * degree / 2``.
        degree
            Mean number of neighbours of a variable, used when ``n_edges`` is left out.
        cardinality
            The number of levels, or the fewest and the most.
        max_parents
            The most parents that a variable may get. If that leaves no room for the edges wanted,
            the network has fewer.
        concentration
            Of the Dirichlet distribution that the tables come from: small values make strong
            dependencies.
        seed
            The same seed gives the same network.

        Examples
        --------
        >>> DiscreteNetwork.random(10, n_edges=12, seed=3)
        DiscreteNetwork(10 variables, 12 edges)
        """
        rng = np.random.default_rng(check_count("seed", seed))
        total = check_count("n_variables", n_variables, 1)
        low, high = check_cardinality(cardinality)
        alpha = check_number("concentration", concentration, 1e-3, 1e6, 1.0)
        most = check_count("max_parents", max_parents)
        names = [f"X{number}" for number in range(1, total + 1)]
        above = _random_parents(rng.permutation(total).tolist(), n_edges, degree, most, rng)
        sizes = rng.integers(low, high + 1, total).tolist()
        tables = {}
        for name, size, owners in zip(names, sizes, above, strict=True):
            # The smallest concentrations underflow to rows of zeros without this tiny addition.
            shape = [*(sizes[owner] for owner in owners), size]
            weights = rng.gamma(alpha, size=shape) + 1e-12
            tables[name] = weights / weights.sum(axis=-1, keepdims=True)
        parents = {
            name: [names[owner] for owner in owners]
            for name, owners in zip(names, above, strict=True)
        }
        return cls(parents, tables)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, in order."""
        return tuple(self._parents)

    @property
    def cardinalities(self) -> npt.NDArray[np.int64]:
        """The number of levels of each variable."""
        return np.array([len(found) for found in self._levels.values()], np.int64)

    @property
    def graph(self) -> nx.DiGraph:
        """The graph, as a new ``networkx.DiGraph`` with edges from parents to children."""
        return self._graph.copy()

    def parents(self, name: str) -> tuple[str, ...]:
        """Return the parents of a variable, in the order of the axes of its table.

        Examples
        --------
        >>> tables = {"x": [0.5, 0.5], "y": [[0.9, 0.1], [0.2, 0.8]]}
        >>> DiscreteNetwork({"x": [], "y": ["x"]}, tables).parents("y")
        ('x',)
        """
        return self._parents[self._known(name)]

    def children(self, name: str) -> tuple[str, ...]:
        """Return the children of a variable, in the order of the variables.

        Examples
        --------
        >>> tables = {"x": [0.5, 0.5], "y": [[0.9, 0.1], [0.2, 0.8]]}
        >>> DiscreteNetwork({"x": [], "y": ["x"]}, tables).children("x")
        ('y',)
        """
        return tuple(self._graph.successors(self._known(name)))

    def levels(self, name: str) -> tuple[object, ...]:
        """Return the values of a variable.

        Examples
        --------
        >>> DiscreteNetwork({"x": []}, {"x": [0.5, 0.5]}, {"x": ["no", "yes"]}).levels("x")
        ('no', 'yes')
        """
        return self._levels[self._known(name)]

    def table(self, name: str) -> Floats:
        """Return the probability table of a variable; read-only.

        Examples
        --------
        >>> DiscreteNetwork({"x": []}, {"x": [0.25, 0.75]}).table("x")
        array([0.25, 0.75])
        """
        return self._tables[self._known(name)]

    def blanket(self, name: str) -> tuple[str, ...]:
        """Return the true Markov blanket: parents, children and the other parents of children.

        Examples
        --------
        >>> coins = {"x": [0.5, 0.5], "y": [0.5, 0.5]}
        >>> equal = [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]
        >>> network = DiscreteNetwork({"x": [], "y": [], "z": ["x", "y"]}, {**coins, "z": equal})
        >>> network.blanket("x")
        ('y', 'z')
        """
        return graph_blanket(self._graph, self._known(name))

    def sample(self, n_rows: int, seed: int = 0) -> DiscreteTable:
        """Draw independent rows.

        Parameters
        ----------
        n_rows
            How many rows.
        seed
            The same seed gives the same table.

        Returns
        -------
        DiscreteTable
            With the variables in order; levels that do not occur in the sample are dropped.

        Examples
        --------
        >>> DiscreteNetwork.random(5, cardinality=3, seed=1).sample(1000)
        DiscreteTable(1000 rows x 5 columns, 3 levels)
        """
        import networkx as nx

        total = check_count("n_rows", n_rows, 1)
        rng = np.random.default_rng(check_count("seed", seed))
        position = {name: i for i, name in enumerate(self._parents)}
        codes = np.empty((len(position), total), code_dtype(int(self.cardinalities.max())))
        for name in nx.topological_sort(self._graph):
            table = self._tables[name]
            context = flat_index(
                codes, [position[p] for p in self._parents[name]], table.shape[:-1]
            )
            limits = thresholds(table.reshape(-1, table.shape[-1]))
            codes[position[name]] = draw(rng.random(total), limits, context)
        return DiscreteTable.from_codes(codes.T, self.names, list(self._levels.values()))

    def joint(self) -> Floats:
        """Return the exact joint distribution, with one axis for each variable, in order.

        Raises
        ------
        komb.errors.ParameterError
            If it has more than 2**24 cells.

        Examples
        --------
        >>> DiscreteNetwork({"x": []}, {"x": [0.25, 0.75]}).joint()
        array([0.25, 0.75])
        """
        sizes = self.cardinalities.tolist()
        check_cells(sizes)
        position = {name: i for i, name in enumerate(self._parents)}
        product = np.ones(sizes)
        for name, table in self._tables.items():
            scope = [*(position[p] for p in self._parents[name]), position[name]]
            product *= spread(table, scope, len(sizes))
        return product

    def __repr__(self) -> str:
        n_edges = sum(map(len, self._parents.values()))
        edges = f"{n_edges} edge{'' if n_edges == 1 else 's'}"
        n_variables = len(self._parents)
        return f"DiscreteNetwork({n_variables} variable{'' if n_variables == 1 else 's'}, {edges})"

    def _known(self, name: str) -> str:
        if name not in self._parents:
            raise UnknownNameError.among("variable", name, self._parents)
        return name


def _check_parents(parents: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    if not isinstance(parents, Mapping) or not parents:
        remedy = "For a variable without parents write {'x': []}."
        rule = "map every variable to its parents"
        raise ParameterError.because("parents", rule, parents, remedy)
    for name, above in parents.items():
        if isinstance(above, str):
            rule = f"map {name!r} to a list of variables"
            raise ParameterError.because("parents", rule, above, f"Write [{above!r}].")
        for parent in above:
            if parent not in parents:
                raise UnknownNameError.among("variable", parent, parents)
        if len(set(above)) < len(above):
            rule = f"name each parent of {name!r} once"
            raise ParameterError.because("parents", rule, list(above), "Remove the repeated one.")
    return {name: tuple(above) for name, above in parents.items()}


def _make_graph(parents: Mapping[str, Sequence[str]]) -> nx.DiGraph:
    import networkx as nx

    graph = nx.DiGraph()
    graph.add_nodes_from(parents)
    graph.add_edges_from((parent, name) for name, above in parents.items() for parent in above)
    if not nx.is_directed_acyclic_graph(graph):
        cycle, remedy = " -> ".join(map(str, find_cycle(graph.edges))), "Remove one of these edges."
        raise ParameterError.because("parents", "have no cycle", cycle, remedy)
    return graph


def _check_keys(
    parameter: str, given: Mapping[str, Any], known: Mapping[str, Any], *, is_complete: bool
) -> None:
    for name in given:
        if name not in known:
            raise UnknownNameError.among("variable", name, known)
    absent = [name for name in known if name not in given]
    if is_complete and absent:
        rule = "have an entry for every variable"
        remedy = f"Add one for {absent[0]!r}."
        raise ParameterError.because(parameter, rule, f"none for {absent[:5]}", remedy)


def _to_array(name: str, table: npt.ArrayLike) -> Floats:
    rule = f"be an array of numbers for {name!r}"
    remedy = "Its last axis holds the probabilities of the levels."
    try:
        array = np.array(table, np.float64)
    except (TypeError, ValueError):
        raise ParameterError.because("tables", rule, table, remedy) from None
    if array.ndim == 0 or array.shape[-1] == 0:
        raise ParameterError.because("tables", rule, table, remedy)
    return array


def _check_levels(name: str, size: int, levels: Sequence[object]) -> tuple[object, ...]:
    found = tuple(levels)
    if size > MAX_LEVELS:
        rule = f"have at most {MAX_LEVELS} levels for {name!r}"
        raise ParameterError.because("tables", rule, size, "Group its levels.")
    if len(found) != size or len(set(found)) < size:
        rule = f"hold {size} distinct values for {name!r}, as its table does"
        raise ParameterError.because("levels", rule, found, "Correct the levels or the table.")
    return found


def _check_table(name: str, table: Floats, shape: Sequence[int]) -> Floats:
    if table.shape != tuple(shape):
        rule = f"have shape {tuple(shape)} for {name!r}: one axis per parent, then its levels"
        raise ParameterError.because("tables", rule, table.shape, "Reshape or transpose it.")
    sums = table.sum(axis=-1, keepdims=True)
    is_bad = ~(np.abs(sums[..., 0] - 1) <= 1e-6) | ~(table >= 0).all(axis=-1)
    if is_bad.any():
        where = tuple(int(i) for i in np.argwhere(is_bad)[0])
        rule = f"hold probabilities that sum to 1 over the last axis for {name!r}"
        got = f"{table[where].tolist()} at {where}" if where else table.tolist()
        raise ParameterError.because("tables", rule, got, "Divide each row by its sum.")
    table /= sums
    table.flags.writeable = False
    return table


def _random_parents(
    order: Sequence[int],
    n_edges: int | None,
    degree: float,
    max_parents: int,
    rng: np.random.Generator,
) -> list[list[int]]:
    """Direct random pairs along a random order, which excludes cycles."""
    pairs, wanted = random_pairs(len(order), n_edges, degree, rng)
    above: list[list[int]] = [[] for _ in order]
    for early, late in pairs:
        if not wanted:
            break
        if len(above[order[late]]) < max_parents:
            above[order[late]].append(order[early])
            wanted -= 1
    return [sorted(owners) for owners in above]
