"""Engines that answer at random, but the same question always in the same way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from hashlib import blake2b

from komb.engine.plain import PlainEngine
from komb.engine.questions import EMPTY, Candidates, Dependence, Outcome, Variables

Test = tuple[int, int, Variables]  # target, candidate, given set


def tests_of(target: int, questions: Sequence[Candidates]) -> list[Test]:
    """The tests of some questions, one by one."""
    return [(target, x, given) for candidates, given in questions for x in candidates]


class FunctionEngine(PlainEngine):
    """Asks a function about one test after the other; ``batches`` lists what it asked."""

    def __init__(
        self,
        n_variables: int,
        strength: Callable[[int, int, Variables], float],
        fixed: Variables = EMPTY,
    ) -> None:
        super().__init__(n_variables, fixed)
        self._strength = strength
        self.batches: list[list[Test]] = []

    @property
    def asked(self) -> list[Test]:
        """Everything that was asked."""
        return [test for batch in self.batches for test in batch]

    def strength(self, y: int, x: int, given: Variables) -> float:
        """One answer, as a naive search asks for it."""
        return self._strength(y, x, given)

    def independent(self, y: int, x: int, given: Variables) -> bool:
        """The same without its bits."""
        return self.strength(y, x, given) == 0

    def weigh(self, target: int, questions: Sequence[Candidates]) -> list[list[float]]:
        self.batches.append(tests_of(target, questions))
        return [
            [self.strength(target, x, given) for x in candidates] for candidates, given in questions
        ]

    def examine(self, target: int, tests: Sequence[Dependence]) -> list[Outcome]:
        answers = [self.independent(target, x, given) for x, given in tests]
        return [Outcome(own, None, None, None, "function", reliable=True) for own in answers]


@lru_cache(maxsize=100_000)  # a search and its twin ask the same, and so do other searches
def throw(seed: int, y: int, x: int, given: Variables) -> bytes:
    """Eight bytes that depend on nothing but the question."""
    question = repr((seed, y, x, sorted(given)))
    return blake2b(question.encode(), digest_size=8).digest()


def dice(n_variables: int, seed: int, bias: float, sides: int = 3) -> FunctionEngine:
    """Bits of 1 to ``sides``, or 0 with a chance of ``bias``."""

    def strength(y: int, x: int, given: Variables) -> float:
        thrown = throw(seed, y, x, given)
        is_zero = int.from_bytes(thrown[:4]) < bias * 2**32
        return 0.0 if is_zero else 1.0 + int.from_bytes(thrown[4:]) % sides

    return FunctionEngine(n_variables, strength)
