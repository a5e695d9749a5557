"""Blankets of several targets: a mapping, and the network that they make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from komb.data.names import Name
from komb.errors import ParameterError
from komb.results.blanket import Blanket
from komb.results.export import Drawn, columns_of
from komb.results.member import MEMBER_COLUMNS
from komb.views.comparison_text import blankets_sheet
from komb.views.text import Sheet, plural

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.axes import Axes

    from komb.describe.structure import Symmetry


class Blankets(Drawn, Mapping[Name, Blanket]):
    """The Markov blankets of several targets: a mapping from target to :class:`Blanket`.

    Parameters
    ----------
    blankets
        The blankets, in order.

    Examples
    --------
    >>> import komb
    >>> blankets = komb.markov_blankets(komb.boolean_table("parity", 500, n_parents=2))
    >>> blankets
    Blankets(3 targets)
    >>> {target: blanket.members for target, blanket in blankets.items()}
    {'X1': ('X2', 'Y'), 'X2': ('X1', 'Y'), 'Y': ('X1', 'X2')}
    >>> blankets.to_frame("polars").select("target", "member").rows()[:3]
    [('X1', 'X2'), ('X1', 'Y'), ('X2', 'X1')]

    Notes
    -----
    ``to_frame`` has the rows of :meth:`Blanket.to_frame` of all targets, with a column ``target``
    in front; a target without members has no row.

    The picture has a row for each target, its members in colours: the darker a cell, the stronger
    the evidence. A dot marks a one-sided cell: the member was searched too, and does not have the
    target in its blanket. A frame marks members that depend on the target only given others.
    Members that were no targets come last.
    """

    __slots__ = ("_by_target",)

    def __init__(self, blankets: Iterable[Blanket] = ()) -> None:
        self._by_target = {blanket.target: blanket for blanket in blankets}

    def __getitem__(self, target: Name) -> Blanket:
        return self._by_target[target]

    def __iter__(self) -> Iterator[Name]:
        return iter(self._by_target)

    def __len__(self) -> int:
        return len(self._by_target)

    @property
    def library(self) -> str | None:
        """The dataframe library that the user came with; ``None`` if that was none."""
        return next((blanket.library for blanket in self.values()), None)

    @property
    def seconds(self) -> float:
        """Time of all searches together."""
        return sum(blanket.seconds for blanket in self.values())

    def __repr__(self) -> str:
        return f"Blankets({plural(len(self), 'target')})"

    def to_dict(self) -> dict[Name, dict[str, Any]]:
        """Return everything as dictionaries and lists, by target.

        Examples
        --------
        >>> import komb
        >>> blankets = komb.markov_blankets(komb.boolean_table("and", 500), ["Y"])
        >>> blankets.to_dict()["Y"]["members"]
        ['X1', 'X2', 'X3']
        """
        return {target: blanket.to_dict() for target, blanket in self.items()}

    @classmethod
    def from_dict(cls, record: Mapping[Any, Mapping[str, Any]]) -> Blankets:
        """Rebuild blankets from :meth:`to_dict`, or from parsed :meth:`to_json`.

        Examples
        --------
        >>> Blankets.from_dict({})
        Blankets(0 targets)
        """
        return cls(Blanket.from_dict(entry) for entry in record.values())

    def _columns(self) -> dict[str, list[Any]]:
        targets = [blanket.target for blanket in self.values() for _ in blanket]
        evidence = [member for blanket in self.values() for member in blanket.evidence]
        return {"target": targets, **columns_of(evidence, MEMBER_COLUMNS, "member")}

    def _sheet(self) -> Sheet:
        return blankets_sheet(self)

    def _draw(self, ax: Axes | None) -> Axes:
        from komb.views.pictures.heatmap import plot_blankets

        return plot_blankets(self, ax)

    def graph(self, symmetry: str = "and") -> nx.Graph:
        """Return the undirected network of targets and members, spouses among them.

        In theory, two columns are in each other's blanket or in neither's. In data, one search may
        find what the other does not.

        Parameters
        ----------
        symmetry
            ``"and"`` joins two columns if each has the other in its blanket, ``"or"`` if one of
            them has. Where only one of the two was searched, there is one opinion only, and it
            decides in both cases.

        Returns
        -------
        networkx.Graph
            Nodes are the targets, in order, and after them members that were no targets; the
            attribute ``searched`` tells them apart. Edges have ``named_by``, the one or two targets
            that have the other in their blanket; ``mutual``, whether those are two; ``bits``, the
            evidence (see :attr:`Member.bits`), of two the smaller number, ``None`` by request;
            and ``witnesses``, those of ``named_by`` in turn.

        Raises
        ------
        komb.errors.ParameterError
            If ``symmetry`` is something else.

        Examples
        --------
        >>> import komb
        >>> blankets = komb.markov_blankets(komb.boolean_table("parity", 500, n_parents=2))
        >>> graph = blankets.graph()
        >>> sorted(graph.edges)
        [('X1', 'X2'), ('X1', 'Y'), ('X2', 'Y')]
        >>> graph.edges["X1", "Y"]["witnesses"]
        [['X2'], ['X2']]
        """
        import networkx as nx

        _check_symmetry(symmetry)
        graph = nx.Graph()
        graph.add_nodes_from(self._nodes())
        for target, blanket in self.items():
            for name in blanket:
                if graph.has_edge(target, name):
                    continue  # added with the one that was searched first
                edge = self._edge(target, name)
                if edge["mutual"] or symmetry == "or" or name not in self:
                    graph.add_edge(target, name, **edge)
        return graph

    def to_networkx(self, symmetry: Symmetry = "or") -> nx.DiGraph:
        """Return the partially directed network of targets and their neighbours.

        Two columns are joined if no set of members separates them (see :attr:`Blanket.roles`).
        Directions come from colliders: two columns that are not joined, and depend on each other
        given a common neighbour that does not separate them, are causes of it. What follows from
        those is added, by the rules of Meek (1995). Where tests contradict each other, an edge has
        no direction.

        Parameters
        ----------
        symmetry
            ``"or"`` joins two targets if one of them has the other as a neighbour, ``"and"`` if
            both have. Tests that lack power separate too much, so the first errs less.

        Returns
        -------
        networkx.DiGraph
            Nodes as in :meth:`graph`. An edge whose direction is known is there once, from cause to
            effect; one whose direction is not known is there in both directions. The attribute
            ``directed`` tells them apart. ``graph["groups"]`` has the columns that depend on each
            other only together, as sorted tuples; the attribute ``groups`` of a node those that it
            belongs to.

        Raises
        ------
        komb.errors.InputError
            If ``symmetry`` is something else, or the data are not at hand, as after pickling.

        Examples
        --------
        >>> import komb
        >>> table = komb.boolean_table("and", 500, n_parents=2)
        >>> sorted(komb.markov_blankets(table).to_networkx().edges)
        [('X1', 'Y'), ('X2', 'Y')]
        >>> parity = komb.boolean_table("parity", 500, n_parents=2)
        >>> komb.markov_blankets(parity).to_networkx().graph["groups"]
        [('X1', 'X2', 'Y')]
        """
        import networkx as nx

        _check_symmetry(symmetry)
        network = nx.DiGraph(groups=[])
        network.add_nodes_from(self._nodes())
        if self:
            from komb.describe.structure import join

            run = next(iter(self.values())).run_for("to_networkx()")
            join(run, self.values(), symmetry, network)
        return network

    def _nodes(self) -> Iterator[tuple[Name, dict[str, bool]]]:
        """Yield the targets, and after them members that were no targets."""
        yield from ((target, {"searched": True}) for target in self)
        others = dict.fromkeys(name for blanket in self.values() for name in blanket)
        yield from ((name, {"searched": False}) for name in others if name not in self)

    def _edge(self, one: Name, other: Name) -> dict[str, Any]:
        """Gather what two columns say of each other."""
        found = {
            target: self[target][name]
            for target, name in ((one, other), (other, one))
            if target in self and name in self[target]
        }
        bits = [member.bits for member in found.values()]
        return {
            "named_by": list(found),
            "mutual": len(found) == 2,
            "bits": None if None in bits else min(bit for bit in bits if bit is not None),
            "witnesses": [
                None if member.witness is None else list(member.witness)
                for member in found.values()
            ],
        }


def _check_symmetry(symmetry: str) -> None:
    if symmetry not in ("and", "or"):
        remedy = "'and' joins columns that have each other, 'or' those of which one has."
        raise ParameterError.because("symmetry", "be 'and' or 'or'", symmetry, remedy)
