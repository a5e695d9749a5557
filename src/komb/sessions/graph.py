"""Answers from a graph, by separation.

Variables that are separated are independent in every distribution that belongs to the graph. The
converse is faithfulness, and a graph answers as if it held: for ``Y = X1 xor X2`` it calls ``X1``
and ``Y`` dependent, while the distribution makes them independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from komb.sessions.oracle import Oracle
from komb.sessions.questions import Variables
from komb.sessions.session import Session


class DSeparationOracle(Session):
    """A session that answers by d-separation in a directed acyclic graph.

    Parameters
    ----------
    graph : networkx.DiGraph
    names : sequence, optional
        Variable ``i`` is ``names[i]``; the graph's own node order by default.

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

    Parameters
    ----------
    graph : networkx.Graph
    names : sequence, optional
        Variable ``i`` is ``names[i]``; the graph's own node order by default.

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
        self._parents = [[position[p] for p in graph.predecessors(name)] for name in names]
        self._children = [[position[c] for c in graph.successors(name)] for name in names]

    def depends(self, target: int, candidates: Sequence[int], given: Variables) -> list[bool]:
        """For each candidate, whether an active trail leads to it from the target."""
        reached = self._reachable(target, given)
        return [candidate in reached for candidate in candidates]

    def _reachable(self, source: int, given: Variables) -> set[int]:
        """Variables with an active trail from ``source``: the Bayes-ball traversal."""
        opened = self._with_ancestors(given)  # colliders that are conditioned on or lead to it
        reached: set[int] = set()
        visited: set[tuple[int, bool]] = set()
        frontier = [(source, True)]  # (variable, whether it is entered from a child)
        while frontier:
            variable, from_child = step = frontier.pop()
            if step in visited:
                continue
            visited.add(step)
            if variable not in given:
                reached.add(variable)
                frontier += [(child, False) for child in self._children[variable]]
                if from_child:
                    frontier += [(parent, True) for parent in self._parents[variable]]
            if not from_child and variable in opened:
                frontier += [(parent, True) for parent in self._parents[variable]]
        return reached

    def _with_ancestors(self, variables: Variables) -> set[int]:
        found: set[int] = set()
        frontier = list(variables)
        while frontier:
            variable = frontier.pop()
            if variable not in found:
                found.add(variable)
                frontier += self._parents[variable]
        return found


class UndirectedGraphSource(Oracle):
    """Separation in an undirected graph."""

    name = "separation"

    def __init__(self, graph: Any, names: Sequence[Any] | None = None) -> None:
        names = list(graph.nodes) if names is None else list(names)
        super().__init__(len(names))
        position = {name: index for index, name in enumerate(names)}
        self._neighbours = [[position[n] for n in graph.neighbors(name)] for name in names]

    def depends(self, target: int, candidates: Sequence[int], given: Variables) -> list[bool]:
        """For each candidate, whether a path around the given set leads to it."""
        reached = {target}
        frontier = [target]
        while frontier:
            for neighbour in self._neighbours[frontier.pop()]:
                if neighbour not in reached and neighbour not in given:
                    reached.add(neighbour)
                    frontier.append(neighbour)
        return [candidate in reached for candidate in candidates]
