"""Steps that several searches share."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import combinations

from tests.naive.counts import Set
from tests.naive.sessions import Session, WeighingSession

Witnesses = dict[int, Set | None]


def subsets(items: Set, most: int) -> Iterator[Set]:
    """By size, then lexicographically."""
    for size in range(most + 1):
        for chosen in combinations(sorted(items), size):
            yield frozenset(chosen)


def first_strongest(strengths: Mapping[int, float]) -> int:
    return min(strengths, key=lambda x: (-strengths[x], x))


def separable(
    session: Session, y: int, x: int, pool: Set, most: int, core: Set = frozenset(), least: int = 0
) -> Set | None:
    """The first set of ``core`` and ``least`` to ``most`` others out of the pool that separates."""
    for z in subsets(pool - core - {x}, most):
        if len(z) >= least and session.independent(y, x, core | z):
            return core | z
    return None


def prune(
    session: Session,
    y: int,
    members: Set,
    pool: Set,
    most: int,
    core: Set = frozenset(),
    least: int = 0,
) -> dict[int, Set]:
    """Drop the members that can be separated; what is dropped leaves the pool at once."""
    dropped: dict[int, Set] = {}
    for x in sorted(members):
        separator = separable(session, y, x, pool.difference(dropped), most, core, least)
        if separator is not None:
            dropped[x] = separator
    return dropped


def weakest(
    session: WeighingSession, y: int, x: int, pool: Set, most: int, core: Set = frozenset()
) -> float:
    """Least strength over the sets that :func:`separable` tries; infinite if there is none."""
    sets = subsets(pool - core - {x}, most)
    return min((session.strength(y, x, core | z) for z in sets), default=math.inf)


def shrink(session: Session, y: int, b: Set, include: Set) -> Set:
    """Pass over the blanket, dropping at once what the rest makes independent, until all stay."""
    while True:
        before = b
        for x in sorted(before - include):
            if session.independent(y, x, b - {x}):
                b = b - {x}
        if b == before:
            return b


def kept_by_the_others(session: Session, y: int, b: Set) -> Witnesses:
    """Each member with all others; None for one that they make independent (by request only)."""
    return {x: None if session.independent(y, x, b - {x}) else b - {x} for x in sorted(b)}
