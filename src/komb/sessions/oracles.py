"""Answers from the truth: a graph or an exact distribution instead of data.

A graph answers by separation, a distribution by independence. The two differ exactly where
faithfulness fails: for ``Y = X1 xor X2`` the graph calls ``X1`` and ``Y`` connected while the
distribution makes them independent.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from komb.sessions.session import Outcome, Session, Variables


class _OracleSession(Session):
    """An oracle answers one question at a time and is always right."""

    name = "oracle"

    @abstractmethod
    def _depends(self, target: int, candidates: Sequence[int], given: Variables) -> list[bool]:
        """For each candidate, whether it depends on the target given the set."""

    def _decide(
        self, target: int, questions: Sequence[tuple[Sequence[int], Variables]]
    ) -> Sequence[Sequence[bool]]:
        return [self._depends(target, candidates, given) for candidates, given in questions]

    def outcome(self, target: int, candidate: int, given: Collection[int]) -> Outcome:
        """Say what the oracle says; it has no statistic."""
        depends = self.is_dependent(target, candidate, frozenset(given))
        return Outcome(not depends, None, None, None, self.name, reliable=True)


class DSeparationOracle(_OracleSession):
    """d-separation in a directed acyclic graph.

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

    name = "d-separation"

    def __init__(self, graph: Any, names: Sequence[Any] | None = None) -> None:
        self._names = list(graph.nodes) if names is None else list(names)
        super().__init__(len(self._names))
        position = {name: index for index, name in enumerate(self._names)}
        self._parents = [[position[p] for p in graph.predecessors(name)] for name in self._names]
        self._children = [[position[c] for c in graph.successors(name)] for name in self._names]

    def _depends(self, target: int, candidates: Sequence[int], given: Variables) -> list[bool]:
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


class SeparationOracle(_OracleSession):
    """Separation in an undirected graph.

    Examples
    --------
    >>> import networkx as nx
    >>> path = SeparationOracle(nx.path_graph(3))
    >>> path.is_dependent(0, 2, frozenset()), path.is_dependent(0, 2, frozenset({1}))
    (True, False)
    """

    name = "separation"

    def __init__(self, graph: Any, names: Sequence[Any] | None = None) -> None:
        names = list(graph.nodes) if names is None else list(names)
        super().__init__(len(names))
        position = {name: index for index, name in enumerate(names)}
        self._neighbours = [[position[n] for n in graph.neighbors(name)] for name in names]

    def _depends(self, target: int, candidates: Sequence[int], given: Variables) -> list[bool]:
        reached = {target}
        frontier = [target]
        while frontier:
            for neighbour in self._neighbours[frontier.pop()]:
                if neighbour not in reached and neighbour not in given:
                    reached.add(neighbour)
                    frontier.append(neighbour)
        return [candidate in reached for candidate in candidates]


class DistributionOracle(_OracleSession):
    """Independence in an exact joint distribution.

    Parameters
    ----------
    joint : array
        One axis a variable; entries sum to one.
    tolerance : float
        Largest relative difference of products of probabilities that counts as rounding.

    Examples
    --------
    >>> joint = np.zeros((2, 2, 2))
    >>> joint[0, 0, 0] = joint[0, 1, 1] = joint[1, 0, 1] = joint[1, 1, 0] = 0.25  # xor
    >>> xor = DistributionOracle(joint)
    >>> xor.is_dependent(2, 0, frozenset()), xor.is_dependent(2, 0, frozenset({1}))
    (False, True)
    """

    name = "distribution"

    def __init__(self, joint: npt.ArrayLike, *, tolerance: float = 1e-9) -> None:
        self._joint = np.asarray(joint, dtype=np.float64)
        super().__init__(self._joint.ndim)
        self._tolerance = tolerance

    def _depends(self, target: int, candidates: Sequence[int], given: Variables) -> list[bool]:
        return [self._is_dependent(target, candidate, given) for candidate in candidates]

    def _is_dependent(self, target: int, candidate: int, given: Variables) -> bool:
        kept = {target, candidate, *given}
        joint = self._joint.sum(
            axis=tuple(v for v in range(self.n_variables) if v not in kept), keepdims=True
        )
        without_target = joint.sum(axis=target, keepdims=True)
        without_candidate = joint.sum(axis=candidate, keepdims=True)
        condition = without_target.sum(axis=candidate, keepdims=True)
        left, right = joint * condition, without_target * without_candidate
        return bool((np.abs(left - right) > self._tolerance * np.maximum(left, right)).any())
