"""Markov random fields: an undirected graph with a positive factor for each group of variables.

The Markov blanket of a variable is the set of its neighbours, and no direction is involved: a
check that a search does not secretly rely on directed graphs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from komb.data.checks import check_cardinality, check_cells, check_count, check_number, random_pairs
from komb.data.levels import code_dtype
from komb.data.models.sampling import Codes, Floats, draw, flat_index, spread, thresholds
from komb.data.problems import MAX_LEVELS
from komb.data.table import DiscreteTable
from komb.errors import ParameterError, UnknownNameError

if TYPE_CHECKING:
    import networkx as nx

_TABLE_CELLS = 1 << 18  # largest table of conditional probabilities made for one variable

_Factor = tuple[tuple[int, ...], Floats]


class MarkovField:
    """A Markov random field of discrete variables.

    The probability of a joint state is proportional to the product of the factors.

    Parameters
    ----------
    cardinalities
        The number of levels of every variable. The order of the keys is that of the variables.
    factors
        Pairs of a tuple of variables and an array with one axis for each of them. All entries must
        be positive.

    Raises
    ------
    komb.errors.ParameterError
        If a factor does not fit.

    Examples
    --------
    >>> agree = [[3.0, 1.0], [1.0, 3.0]]
    >>> field = MarkovField({"a": 2, "b": 2, "c": 2}, [(("a", "b"), agree), (("b", "c"), agree)])
    >>> field
    MarkovField(3 variables, 2 factors)
    >>> field.blanket("a"), field.blanket("b")
    (('b',), ('a', 'c'))
    >>> field.sample(1000, seed=1)
    DiscreteTable(1000 rows x 3 columns, 2 levels)
    """

    __slots__ = ("_factors", "_neighbours", "_sizes")

    def __init__(
        self,
        cardinalities: Mapping[str, int],
        factors: Sequence[tuple[tuple[str, ...], npt.ArrayLike]],
    ) -> None:
        if not isinstance(cardinalities, Mapping) or not cardinalities:
            rule = "map every variable to its number of levels"
            remedy = "For one variable write {'x': 2}."
            raise ParameterError.because("cardinalities", rule, cardinalities, remedy)
        self._sizes: dict[str, int] = {
            name: check_count(f"cardinalities[{name!r}]", size, 1, MAX_LEVELS)
            for name, size in cardinalities.items()
        }
        self._factors = [_check_factor(scope, values, self._sizes) for scope, values in factors]
        members: list[set[int]] = [set() for _ in self._sizes]
        for scope, _ in self._factors:
            for position in scope:
                members[position].update(scope)
        self._neighbours = [sorted(found - {i}) for i, found in enumerate(members)]

    @classmethod
    def random(
        cls,
        n_variables: int,
        *,
        n_edges: int | None = None,
        degree: float = 2.0,
        cardinality: int | tuple[int, int] = (2, 3),
        strength: float = 1.0,
        seed: int = 0,
    ) -> MarkovField:
        """Draw a field at random, with variables ``X1``, ``X2``, ... and a factor for each edge.

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
        strength
            Standard deviation of the logarithms of the entries: larger values make stronger
            dependencies.
        seed
            The same seed gives the same field.

        Examples
        --------
        >>> MarkovField.random(10, n_edges=12, seed=3)
        MarkovField(10 variables, 12 factors)
        """
        rng = np.random.default_rng(check_count("seed", seed))
        total = check_count("n_variables", n_variables, 1)
        low, high = check_cardinality(cardinality)
        scale = check_number("strength", strength, 0, 100, 1.0)
        names = [f"X{number}" for number in range(1, total + 1)]
        sizes = rng.integers(low, high + 1, total).tolist()
        pairs, wanted = random_pairs(total, n_edges, degree, rng)
        factors = [
            ((names[a], names[b]), np.exp(rng.normal(0, scale, (sizes[a], sizes[b]))))
            for a, b in sorted(pairs[:wanted])
        ]
        return cls(dict(zip(names, sizes, strict=True)), factors)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, in order."""
        return tuple(self._sizes)

    @property
    def cardinalities(self) -> npt.NDArray[np.int64]:
        """The number of levels of each variable."""
        return np.array(list(self._sizes.values()), np.int64)

    @property
    def graph(self) -> nx.Graph:
        """The graph, as a new ``networkx.Graph``: variables that share a factor are neighbours."""
        import networkx as nx

        names = self.names
        graph = nx.Graph()
        graph.add_nodes_from(names)
        for position, others in enumerate(self._neighbours):
            graph.add_edges_from((names[position], names[i]) for i in others if i > position)
        return graph

    def blanket(self, name: str) -> tuple[str, ...]:
        """Return the true Markov blanket of a variable: its neighbours, in order.

        Examples
        --------
        >>> MarkovField.random(4, n_edges=6).blanket("X2")
        ('X1', 'X3', 'X4')
        """
        names = self.names
        if name not in self._sizes:
            raise UnknownNameError.among("variable", name, names)
        return tuple(names[other] for other in self._neighbours[names.index(name)])

    def joint(self) -> Floats:
        """Return the exact joint distribution, with one axis for each variable, in order.

        Raises
        ------
        komb.errors.ParameterError
            If it has more than 2**24 cells.

        Examples
        --------
        >>> MarkovField({"x": 2}, [(("x",), [1.0, 3.0])]).joint()
        array([0.25, 0.75])
        """
        sizes = list(self._sizes.values())
        check_cells(sizes)
        product = np.zeros(sizes)
        for scope, logarithms in self._factors:
            product += spread(logarithms, scope, len(sizes))
        return _normalise(product, axis=None)

    def sample(self, n_rows: int, seed: int = 0, sweeps: int = 200) -> DiscreteTable:
        """Draw rows by Gibbs sampling, each from a chain of its own.

        Rows are independent of each other; only if ``sweeps`` is too small for strong dependencies
        do they still show where the chains began, which is uniform.

        Parameters
        ----------
        n_rows
            How many rows.
        seed
            The same seed gives the same table.
        sweeps
            How often every variable is drawn anew.

        Returns
        -------
        DiscreteTable
            With the variables in order; levels that do not occur in the sample are dropped.

        Examples
        --------
        >>> MarkovField.random(5, cardinality=3, seed=1).sample(1000, sweeps=20)
        DiscreteTable(1000 rows x 5 columns, 3 levels)
        """
        total = check_count("n_rows", n_rows, 1)
        n_sweeps = check_count("sweeps", sweeps, 1)
        rng = np.random.default_rng(check_count("seed", seed))
        sizes = self.cardinalities
        start = rng.random((len(sizes), total)) * sizes[:, None]
        codes: Codes = start.astype(code_dtype(int(sizes.max())))
        conditionals = [self._conditional(position) for position in range(len(sizes))]
        for _ in range(n_sweeps):
            for position, (others, limits) in enumerate(conditionals):
                if limits is None:
                    limits, context = self._limits_by_row(codes, position), np.arange(total)
                else:
                    context = flat_index(codes, others, sizes[others].tolist())
                codes[position] = draw(rng.random(total), limits, context)
        return DiscreteTable.from_codes(codes.T, self.names)

    def __repr__(self) -> str:
        n_variables, n_factors = len(self._sizes), len(self._factors)
        variables = f"{n_variables} variable{'' if n_variables == 1 else 's'}"
        return f"MarkovField({variables}, {n_factors} factor{'' if n_factors == 1 else 's'})"

    def _conditional(self, position: int) -> tuple[list[int], Floats | None]:
        """Tabulate a variable given its neighbours, unless they have too many joint states."""
        others = self._neighbours[position]
        axes = [*others, position]
        shape = self.cardinalities[axes].tolist()
        if math.prod(shape) > _TABLE_CELLS or len(shape) > 32:
            return others, None
        weights = np.zeros(shape)
        for scope, logarithms in self._factors:
            if position in scope:
                weights += spread(logarithms, [axes.index(i) for i in scope], len(shape))
        return others, thresholds(_normalise(weights, axis=-1).reshape(-1, shape[-1]))

    def _limits_by_row(self, codes: Codes, position: int) -> Floats:
        """Compute the distribution of a variable in each row from its factors."""
        weights = np.zeros((codes.shape[1], int(self.cardinalities[position])))
        for scope, logarithms in self._factors:
            if position in scope:
                axis = scope.index(position)
                others = [*scope[:axis], *scope[axis + 1 :]]
                rows = np.moveaxis(logarithms, axis, -1)
                context = flat_index(codes, others, rows.shape[:-1])
                weights += rows.reshape(-1, rows.shape[-1])[context]
        return thresholds(_normalise(weights, axis=-1))


def _check_factor(scope: Sequence[str], values: npt.ArrayLike, sizes: Mapping[str, int]) -> _Factor:
    """Return the positions of the variables and the logarithms of the entries."""
    members = (scope,) if isinstance(scope, str) else tuple(scope)
    for name in members:
        if name not in sizes:
            raise UnknownNameError.among("variable", name, sizes)
    if not members or len(set(members)) < len(members):
        rule = "be over one or more different variables each"
        raise ParameterError.because("factors", rule, members, "Name each variable once.")
    shape = tuple(sizes[name] for name in members)
    try:
        array = np.array(values, np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.shape != shape:
        rule = f"have shape {shape} over {members}"
        raise ParameterError.because("factors", rule, array.shape, "Reshape or transpose it.")
    if not ((array > 0) & np.isfinite(array)).all():
        worst = float(array[~((array > 0) & np.isfinite(array))][0])
        rule = f"be positive and finite over {members}"
        raise ParameterError.because("factors", rule, worst, "Use a small number for rare states.")
    names = list(sizes)
    return tuple(names.index(name) for name in members), np.log(array)


def _normalise(logarithms: Floats, axis: int | None) -> Floats:
    """Turn logarithms of weights into probabilities without overflow."""
    weights: Floats = np.exp(logarithms - logarithms.max(axis=axis, keepdims=True))
    normalised: Floats = weights / weights.sum(axis=axis, keepdims=True)
    return normalised
