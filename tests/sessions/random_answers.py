"""Sessions that answer at random, but the same question always in the same way."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from komb.sessions.session import Outcome, Session, Variables


class Coin(Session):
    """Tosses a coin: dependent or not."""

    def __init__(self, n_variables: int, seed: int, bias: float) -> None:
        super().__init__(n_variables)
        self.seed, self.bias = seed, bias
        self.computed: list[tuple[int, int, Variables]] = []

    def independent(self, y: int, x: int, given: Variables) -> bool:
        rng = np.random.default_rng([self.seed, y, x, *sorted(given)])
        return bool(rng.random() < self.bias)

    def _decide(
        self, target: int, questions: Sequence[tuple[Sequence[int], Variables]]
    ) -> Sequence[Sequence[bool]]:
        for candidates, members in questions:
            self.computed += [(target, x, members) for x in candidates]
        return [[not self.independent(target, x, z) for x in xs] for xs, z in questions]

    def outcome(self, target: int, candidate: int, given: Any) -> Outcome:
        raise NotImplementedError


class Dice(Session):
    """Throws dice: strengths of 1 to ``sides``, or 0."""

    def __init__(self, n_variables: int, seed: int, bias: float, sides: int = 3) -> None:
        super().__init__(n_variables)
        self.seed, self.bias, self.sides = seed, bias, sides
        self.largest = 0  # the largest condition asked for

    def strength(self, y: int, x: int, given: Variables) -> float:
        thrown = blake2b(repr((self.seed, y, x, sorted(given))).encode(), digest_size=8).digest()
        is_zero = int.from_bytes(thrown[:4]) < self.bias * 2**32
        return 0.0 if is_zero else 1.0 + int.from_bytes(thrown[4:]) % self.sides

    def independent(self, y: int, x: int, given: Variables) -> bool:
        return self.strength(y, x, given) == 0

    def can_detect(
        self, target: int, candidate: int, given: Variables, witness: Variables, share: float
    ) -> bool:
        thrown = blake2b(repr((self.seed, candidate, sorted(given))).encode(), digest_size=1)
        return thrown.digest()[0] >= 64

    def confirmed(self, y: int, x: int, given: Variables) -> float:
        return self.strength(y, x, given)

    def is_large(self, y: int, x: int, given: Variables) -> bool:
        return False

    def _weigh(
        self,
        target: int,
        questions: Sequence[tuple[Sequence[int], Variables]],
        *,
        is_counted: bool = True,
    ) -> Sequence[Sequence[float]]:
        self.largest = max([self.largest, *(len(given) for _, given in questions)])
        return [[self.strength(target, x, given) for x in xs] for xs, given in questions]

    def _decide(
        self, target: int, questions: Sequence[tuple[Sequence[int], Variables]]
    ) -> Sequence[Sequence[bool]]:
        return [[bits > 0 for bits in answer] for answer in self._weigh(target, questions)]

    def outcome(self, target: int, candidate: int, given: Collection[int]) -> Outcome:
        raise NotImplementedError
