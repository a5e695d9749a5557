"""Engines that know the truth: separation in a graph, independence in an exact distribution.

Variables that are separated in a graph are independent in every distribution that belongs to it.
The converse is faithfulness, and a graph answers as if it held: for ``Y = X1 xor X2`` it calls
``X1`` and ``Y`` dependent, while the distribution makes them independent.

Graphs answer many questions at once: a whole number has a bit for each, so that one pass over the
edges takes all questions a step further.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from komb.engine.plain import PlainEngine
from komb.engine.questions import EMPTY, Candidates, Dependence, Outcome, Variables

Bits = list[int]
"""For each variable, a whole number that has a bit for each question."""

Joint = npt.NDArray[np.float64]

MARGINALS_BYTES = 64 << 20
"""Of marginal distributions, which are remembered up to so many bytes."""


class OracleEngine(PlainEngine):
    """An engine that is always right, and sure of everything.

    Attributes
    ----------
    answers_by : str
        What it knows.
    """

    answers_by: str

    def examine(self, target: int, tests: Sequence[Dependence]) -> list[Outcome]:
        """Say what the oracle says; it has no statistic."""
        weighed = self.weigh(target, [([x], given) for x, given in tests])
        return [
            Outcome(not bits, None, None, None, self.answers_by, reliable=True)
            for [bits] in weighed
        ]


class _GraphEngine(OracleEngine):
    """Separation in a graph."""

    @abstractmethod
    def reach(self, target: int, given: Bits, every: int) -> Bits:
        """Tell in which questions each variable is connected to the target."""

    def weigh(self, target: int, questions: Sequence[Candidates]) -> list[list[float]]:
        """Infinite evidence for what is connected to the target."""
        given = [0] * self.n_variables
        for number, (_, condition) in enumerate(questions):
            for variable in condition:
                given[variable] |= 1 << number
        reached = self.reach(target, given, (1 << len(questions)) - 1)
        return [
            [math.inf if reached[x] >> number & 1 else 0.0 for x in candidates]
            for number, (candidates, _) in enumerate(questions)
        ]


class DSeparationEngine(_GraphEngine):
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
        import networkx as nx

        names = list(graph.nodes) if names is None else list(names)
        super().__init__(len(names), fixed)
        position = {name: index for index, name in enumerate(names)}
        # causes first
        self._parents = [
            (position[x], [position[p] for p in graph.predecessors(x)])
            for x in nx.topological_sort(graph)
        ]

    def reach(self, target: int, given: Bits, every: int) -> Bits:
        """Follow active trails, in turn from effects to causes and from causes to effects."""
        opened = list(given)  # as a collider: it is given, or a variable that it leads to
        for variable, parents in reversed(self._parents):
            for parent in parents:
                opened[parent] |= opened[variable]
        from_effect, from_cause, before = [0] * len(given), [0] * len(given), None
        from_effect[target] = every
        while from_cause != before:
            before = list(from_cause)
            for variable, parents in reversed(self._parents):
                passed = from_effect[variable] & ~given[variable]
                passed |= from_cause[variable] & opened[variable]
                if passed:
                    for parent in parents:
                        from_effect[parent] |= passed
            passing = [up & ~own for up, own in zip(from_effect, given, strict=True)]
            for variable, parents in self._parents:
                for parent in parents:
                    from_cause[variable] |= passing[parent]
                passing[variable] |= from_cause[variable] & ~given[variable]
        return [up | down for up, down in zip(from_effect, from_cause, strict=True)]


class SeparationEngine(_GraphEngine):
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
        self._neighbours = [[position[n] for n in graph.neighbors(x)] for x in names]

    def reach(self, target: int, given: Bits, every: int) -> Bits:
        """Follow paths around the given sets."""
        reached = [0] * len(given)
        reached[target] = every
        latest = {target}
        while latest:
            following = set()
            for variable in latest:
                passed = reached[variable] & ~given[variable]
                for neighbour in self._neighbours[variable]:
                    if passed & ~reached[neighbour]:
                        reached[neighbour] |= passed
                        following.add(neighbour)
            latest = following
        return reached


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
        self._joint: Joint = np.asarray(joint, dtype=np.float64)
        super().__init__(self._joint.ndim, fixed)
        self._marginals: dict[tuple[int, ...], Joint] = {}  # by the variables that are summed out
        self._n_bytes = 0
        self._tolerance = tolerance

    def weigh(self, target: int, questions: Sequence[Candidates]) -> list[list[float]]:
        """Infinite evidence for what depends."""
        return [self._weigh(target, candidates, given) for candidates, given in questions]

    def _weigh(self, target: int, candidates: Sequence[int], given: Variables) -> list[float]:
        others = set(range(self.n_variables)) - {target, *candidates, *given}
        joint = self._without(tuple(sorted(others)))
        depends = dict(self._judge(joint, target, list(candidates)))
        return [math.inf if depends[x] else 0.0 for x in candidates]

    def _judge(
        self, joint: Joint, target: int, candidates: list[int]
    ) -> Iterator[tuple[int, bool]]:
        """Tell which candidates depend on the target given the other variables of a joint.

        Those of the first half are summed out for the second half, and the other way round.
        """
        if len(candidates) > 1:
            half = len(candidates) // 2
            parts = candidates[:half], candidates[half:]
            for own, others in (parts, parts[::-1]):
                yield from self._judge(joint.sum(axis=tuple(others), keepdims=True), target, own)
        elif candidates:
            yield candidates[0], self._is_dependent(joint, target, candidates[0])

    def _without(self, others: tuple[int, ...]) -> Joint:
        """Sum variables out, the last one after the others: what they leave is remembered."""
        if not others:
            return self._joint
        if others not in self._marginals:
            marginal: Joint = self._without(others[:-1]).sum(axis=others[-1], keepdims=True)
            self._n_bytes += marginal.nbytes
            if self._n_bytes > MARGINALS_BYTES:
                self._marginals, self._n_bytes = {}, marginal.nbytes
            self._marginals[others] = marginal
        return self._marginals[others]

    def _is_dependent(self, joint: npt.NDArray[np.float64], target: int, candidate: int) -> bool:
        without_target = joint.sum(axis=target, keepdims=True)
        without_candidate = joint.sum(axis=candidate, keepdims=True)
        condition = without_target.sum(axis=candidate, keepdims=True)
        left, right = joint * condition, without_target * without_candidate
        return bool((np.abs(left - right) > self._tolerance * np.maximum(left, right)).any())
