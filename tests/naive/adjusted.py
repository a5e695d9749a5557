"""Answers as background knowledge has them: one question at a time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import combinations

from tests.naive.counts import Set
from tests.naive.sessions import WeighingSession

LEAST_BITS = 1e-9


@dataclass
class InformedSession:
    """Tiers by variable (None: any time), forbidden and required pairs."""

    session: WeighingSession
    variables: Collection[int]
    tiers: list[int | None]
    forbidden: set[frozenset[int]] = field(default_factory=set)
    required: set[frozenset[int]] = field(default_factory=set)
    largest_separator: int = 3
    largest_pool: int = 15

    def earlier(self, y: int, x: int, given: Set) -> Set:
        """The part of a set that is not later than both."""
        own = self.tiers[y], self.tiers[x]
        if own[0] is None or own[1] is None:
            return given
        last = max(own[0], own[1])
        return frozenset(z for z in given if (tier := self.tiers[z]) is None or tier <= last)

    def independent(self, y: int, x: int, given: Set) -> bool:
        return self.strength(y, x, given) == 0

    def strength(self, y: int, x: int, given: Set) -> float:
        bits = self.session.strength(y, x, given)
        if bits == 0:
            bits = self.session.strength(y, x, self.earlier(y, x, given))
        pair = frozenset({y, x})
        if pair in self.required:
            return bits or LEAST_BITS
        if bits and pair in self.forbidden:
            separator = self.separator(min(pair), max(pair))
            if separator is None:
                return 0.0
            return min(bits, self.session.strength(y, x, given | separator))
        return bits

    def separator(self, y: int, x: int) -> Set | None:
        others = self.earlier(y, x, frozenset(self.variables) - {x, y})
        empty: Set = frozenset()
        bits = {
            z: max(self.session.strength(y, z, empty), self.session.strength(x, z, empty))
            for z in others
        }
        pool = sorted((z for z in bits if bits[z]), key=lambda z: (-bits[z], z))
        pool = sorted(pool[: self.largest_pool])
        for size in range(self.largest_separator + 1):
            for some in combinations(pool, size):
                if self.session.independent(y, x, frozenset(some)):
                    return frozenset(some)
        return None
