"""Answers from a graph, by separation.

Variables that are separated are independent in every distribution that belongs to the graph. The
converse is faithfulness, and a graph answers as if it held: for ``Y = X1 xor X2`` it calls ``X1``
and ``Y`` dependent, while the distribution makes them independent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from komb.sessions.oracle import Oracle
from komb.sessions.questions import Variables
from komb.sessions.session import Session


class DSeparationOracle(Session):
    """A session that answers by d-separation in a directed acyclic graph.

    Examples
    --------
    >>> import networkx as nx
    >>> collider = DSeparationOracle(nx.DiGraph([("a", "b"), ("c", "b")]), names="abc")
    >>> collider.is_dependent(0, 2, frozenset()), collider.is_dependent(0, 2, frozenset({1}))
    (False, True)
    """

    def __init__(self, graph: Any, names: Sequence[Any] | None = None) -> None:
        super().__init__(DirectedGraphSource(graph, names))


class SeparationOracle(Session):
    """A session that answers by separation in an undirected graph.

    Examples
    --------
    >>> import networkx as nx
    >>> path = SeparationOracle(nx.path_graph(3))
    >>> path.is_dependent(0, 2, frozenset()), path.is_dependent(0, 2, frozenset({1}))
    (True, False)
    """

    def __init__(self, graph: Any, names: Sequence[Any] | None = None) -> None:
        super().__init__(UndirectedGraphSource(graph, names))


class DirectedGraphSource(Oracle):
    """d-separation in a directed acyclic graph."""

    name = "d-separation"

    def __init__(self, graph: Any, names: Sequence[Any] | None = None) -> None:
        names = list(graph.nodes) if names is None else list(names)
        super().__init__(len(names))
        position = {name: index for index, name in enumerate(names)}
        self._parents = [_as_bits(position[p] for p in graph.predecessors(x)) for x in names]
        self._children = [_as_bits(position[c] for c in graph.successors(x)) for x in names]

    def depends(self, target: int, candidates: Sequence[int], given: Variables) -> list[bool]:
        """For each candidate, whether an active trail leads to it from the target."""
        reached = self._reachable(target, _as_bits(given))
        return [bool(reached >> candidate & 1) for candidate in candidates]

    def _reachable(self, source: int, given: int) -> int:
        """Variables with an active trail from ``source``: the Bayes-ball traversal.

        Sets of variables are bits of whole numbers here: an oracle is asked very often.
        """
        opened = self._with_ancestors(given)  # colliders that are conditioned on or lead to it
        from_child, from_parent = 1 << source, 0  # variables by how they are entered
        up, down = from_child, from_parent  # those entered just now
        while up | down:
            children = _neighbours((up | down) & ~given, self._children)
            parents = _neighbours((up & ~given) | (down & opened), self._parents)
            up, down = parents & ~from_child, children & ~from_parent
            from_child |= up
            from_parent |= down
        return (from_child | from_parent) & ~given

    def _with_ancestors(self, variables: int) -> int:
        found = latest = variables
        while latest:
            latest = _neighbours(latest, self._parents) & ~found
            found |= latest
        return found


class UndirectedGraphSource(Oracle):
    """Separation in an undirected graph."""

    name = "separation"

    def __init__(self, graph: Any, names: Sequence[Any] | None = None) -> None:
        names = list(graph.nodes) if names is None else list(names)
        super().__init__(len(names))
        position = {name: index for index, name in enumerate(names)}
        self._neighbours = [_as_bits(position[n] for n in graph.neighbors(x)) for x in names]

    def depends(self, target: int, candidates: Sequence[int], given: Variables) -> list[bool]:
        """For each candidate, whether a path around the given set leads to it."""
        reached = latest = 1 << target
        blocked = _as_bits(given)
        while latest:
            latest = _neighbours(latest, self._neighbours) & ~(reached | blocked)
            reached |= latest
        return [bool(reached >> candidate & 1) for candidate in candidates]


def _as_bits(variables: Iterable[int]) -> int:
    """Return a set of variables as the bits of a whole number."""
    bits = 0
    for variable in variables:
        bits |= 1 << variable
    return bits


def _neighbours(variables: int, neighbours: Sequence[int]) -> int:
    """Return all neighbours of some variables."""
    found = 0
    while variables:
        lowest = variables & -variables
        found |= neighbours[lowest.bit_length() - 1]
        variables ^= lowest
    return found
