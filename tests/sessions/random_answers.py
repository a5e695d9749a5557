"""Sessions that answer at random, but the same question always in the same way."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

import numpy as np

from komb.sessions.questions import Variables
from komb.sessions.session import Session
from komb.sessions.source import Power
from tests.sessions.sources import DecidingSource, WeighingSource


@lru_cache(maxsize=100_000)  # a search and its twin ask the same, and so do other searches
def throw(seed: int, y: int, x: int, given: Variables) -> bytes:
    """Eight bytes that depend on nothing but the question."""
    question = repr((seed, y, x, sorted(given)))
    return blake2b(question.encode(), digest_size=8).digest()


class Coin(Session):
    """Tosses a coin: dependent or not."""

    source: DecidingSource

    def __init__(self, n_variables: int, seed: int, bias: float) -> None:
        super().__init__(DecidingSource(n_variables, self))
        self.seed, self.bias = seed, bias

    def independent(self, y: int, x: int, given: Variables) -> bool:
        rng = np.random.default_rng([self.seed, y, x, *sorted(given)])
        return bool(rng.random() < self.bias)


class Dice(Session):
    """Throws dice: strengths of 1 to ``sides``, or 0."""

    source: WeighingSource

    def __init__(self, n_variables: int, seed: int, bias: float, sides: int = 3) -> None:
        super().__init__(WeighingSource(n_variables, self))
        self.seed, self.bias, self.sides = seed, bias, sides

    def strength(self, y: int, x: int, given: Variables) -> float:
        thrown = throw(self.seed, y, x, given)
        is_zero = int.from_bytes(thrown[:4]) < self.bias * 2**32
        return 0.0 if is_zero else 1.0 + int.from_bytes(thrown[4:]) % self.sides

    def independent(self, y: int, x: int, given: Variables) -> bool:
        return self.strength(y, x, given) == 0

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

    @property
    def largest(self) -> int:
        """Size of the largest given set that was asked for."""
        return max((len(given) for _, _, given in self.source.computed), default=0)
