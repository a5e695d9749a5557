"""Engines that answer by rules of their own, and as naive searches ask, one test at a time."""

from __future__ import annotations

from hashlib import blake2b

from komb.engine.engine import Power
from komb.engine.questions import Variables
from tests.engine.random_answers import FunctionEngine, throw

SIZES_OF_BATCHES = [
    "SETS_AT_FIRST",
    "SETS_AT_MOST",
    "TESTS_AT_ONCE",
    "CANDIDATES_AT_FIRST",
    "CANDIDATES_AT_MOST",
]
"""The constants of :mod:`komb.engine.plain` that decide how many tests it makes at a time."""


class Answers(FunctionEngine):
    """What a kind of answers says by its ``independent`` or ``strength``."""

    def __init__(self, n_variables: int) -> None:
        super().__init__(n_variables, lambda y, x, given: float(not self.independent(y, x, given)))

    @property
    def largest(self) -> int:
        """Size of the largest given set that was asked for."""
        return max((len(given) for _, _, given in self.asked), default=0)


class Dice(Answers):
    """Throws dice: strengths of 1 to ``sides``, or 0."""

    def __init__(self, n_variables: int, seed: int, bias: float, sides: int = 3) -> None:
        super().__init__(n_variables)
        self.seed, self.bias, self.sides = seed, bias, sides

    def strength(self, y: int, x: int, given: Variables) -> float:
        thrown = throw(self.seed, y, x, given)
        is_zero = int.from_bytes(thrown[:4]) < self.bias * 2**32
        return 0.0 if is_zero else 1.0 + int.from_bytes(thrown[4:]) % self.sides

    def can_detect(
        self,
        target: int,
        candidate: int,
        given: Variables,
        witness: Variables,
        power: Power | float,
    ) -> bool:
        thrown = blake2b(repr((self.seed, candidate, sorted(given))).encode(), digest_size=1)
        return thrown.digest()[0] >= 64

    def confirmed(self, y: int, x: int, given: Variables) -> float:
        return self.strength(y, x, given)

    def is_large(self, y: int, x: int, given: Variables) -> bool:
        return False


class Coin(Answers):
    """Tosses a coin: dependent or not."""

    def __init__(self, n_variables: int, seed: int, bias: float) -> None:
        super().__init__(n_variables)
        self.seed, self.bias = seed, bias

    def independent(self, y: int, x: int, given: Variables) -> bool:
        return int.from_bytes(throw(self.seed, y, x, given)) < self.bias * 2**64
