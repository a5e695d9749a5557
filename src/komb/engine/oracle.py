"""Engines that know the truth: separation in a graph, independence in an exact distribution.

Variables that are separated in a graph are independent in every distribution that belongs to it.
The converse is faithfulness, and a graph answers as if it held: for ``Y = X1 xor X2`` it calls
``X1`` and ``Y`` dependent, while the distribution makes them independent.

Sets of variables are bits of whole numbers here: an oracle is asked very often.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from komb.engine.plain import PlainEngine
from komb.engine.questions import EMPTY, Candidates, Dependence, Outcome, Variables


class OracleEngine(PlainEngine):
    """An engine that is always right, and sure of everything.

    Attributes
    ----------
    answers_by : str
        What it knows.
    """

    answers_by: str

    @abstractmethod
    def dependents_of(self, target: int, candidates: Sequence[int], given: Variables) -> list[bool]:
        """For each candidate, whether it depends on the target given the set."""

    def weigh(self, target: int, questions: Sequence[Candidates]) -> list[list[float]]:
        """Infinite evidence for what depends."""
        return [
            [math.inf if depends else 0.0 for depends in self.dependents_of(target, *question)]
            for question in questions
        ]

    def examine(self, target: int, tests: Sequence[Dependence]) -> list[Outcome]:
        """Say what the oracle says; it has no statistic."""
        answers = [self.dependents_of(target, [x], given)[0] for x, given in tests]
        return [
            Outcome(not depends, None, None, None, self.answers_by, reliable=True)
            for depends in answers
        ]


class DSeparationEngine(OracleEngine):
    """d-separation in a directed acyclic graph.

    Examples
    --------
    >>> import networkx as nx
    >>> collider = DSeparationEngine(nx.DiGraph([("a", "b"), ("c", "b")]), names="abc")
    >>> collider.is_dependent(0, 2, frozenset()), collider.is_dependent(0, 2, frozenset({1}))
    (False, True)
    """

    answers_by = "d-separation"

    def __init__(
        self, graph: Any, names: Sequence[Any] | None = None, fixed: Variables = EMPTY
    ) -> None:
        names = list(graph.nodes) if names is None else list(names)
        super().__init__(len(names), fixed)
        position = {name: index for index, name in enumerate(names)}
        self._parents = [_as_bits(position[p] for p in graph.predecessors(x)) for x in names]
        self._children = [_as_bits(position[c] for c in graph.successors(x)) for x in names]

    def dependents_of(self, target: int, candidates: Sequence[int], given: Variables) -> list[bool]:
        """For each candidate, whether an active trail leads to it from the target."""
        reached = self._reachable(target, _as_bits(given))
        return [bool(reached >> candidate & 1) for candidate in candidates]

    def _reachable(self, source: int, given: int) -> int:
        """Variables with an active trail from ``source``: the Bayes-ball traversal."""
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


class SeparationEngine(OracleEngine):
    """Separation in an undirected graph.

    Examples
    --------
    >>> import networkx as nx
    >>> path = SeparationEngine(nx.path_graph(3))
    >>> path.is_dependent(0, 2, frozenset()), path.is_dependent(0, 2, frozenset({1}))
    (True, False)
    """

    answers_by = "separation"

    def __init__(
        self, graph: Any, names: Sequence[Any] | None = None, fixed: Variables = EMPTY
    ) -> None:
        names = list(graph.nodes) if names is None else list(names)
        super().__init__(len(names), fixed)
        position = {name: index for index, name in enumerate(names)}
        self._neighbours = [_as_bits(position[n] for n in graph.neighbors(x)) for x in names]

    def dependents_of(self, target: int, candidates: Sequence[int], given: Variables) -> list[bool]:
        """For each candidate, whether a path around the given set leads to it."""
        reached = latest = 1 << target
        blocked = _as_bits(given)
        while latest:
            latest = _neighbours(latest, self._neighbours) & ~(reached | blocked)
            reached |= latest
        return [bool(reached >> candidate & 1) for candidate in candidates]


class DistributionEngine(OracleEngine):
    """Independence in an exact joint distribution.

    Examples
    --------
    >>> joint = np.zeros((2, 2, 2))
    >>> joint[0, 0, 0] = joint[0, 1, 1] = joint[1, 0, 1] = joint[1, 1, 0] = 0.25  # xor
    >>> xor = DistributionEngine(joint)
    >>> xor.is_dependent(2, 0, frozenset()), xor.is_dependent(2, 0, frozenset({1}))
    (False, True)
    """

    answers_by = "distribution"

    def __init__(
        self, joint: npt.ArrayLike, fixed: Variables = EMPTY, *, tolerance: float = 1e-9
    ) -> None:
        self._joint = np.asarray(joint, dtype=np.float64)
        super().__init__(self._joint.ndim, fixed)
        self._tolerance = tolerance

    def dependents_of(self, target: int, candidates: Sequence[int], given: Variables) -> list[bool]:
        """For each candidate, whether it depends on the target given the set."""
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
