"""Twins of the searches that grow one set and shrink it."""

from __future__ import annotations

from collections.abc import Iterable

from tests.naive.counts import Set
from tests.naive.sessions import Session, WeighingSession
from tests.naive.steps import Witnesses, first_strongest, kept_by_the_others, separable, shrink


def gs(
    session: Session, variables: Iterable[int], y: int, most: int | None, start: Set, include: Set
) -> Witnesses:
    """Add whatever depends given the set so far; ``most`` is the largest set to condition on."""
    v = frozenset(variables) - {y}
    b = start | include
    has_grown = True
    while has_grown:
        has_grown = False
        for x in sorted(v - b):
            if most is not None and len(b) > most:
                break
            if not session.independent(y, x, b):
                b = b | {x}
                has_grown = True
    return kept_by_the_others(session, y, shrink(session, y, b, include))


def iamb(
    session: WeighingSession,
    variables: Iterable[int],
    y: int,
    most: int | None,
    start: Set,
    include: Set,
) -> Witnesses:
    """Add what depends most clearly given the set so far."""
    v = frozenset(variables) - {y}
    b = start | include
    while most is None or len(b) <= most:
        dependent = {
            x: session.strength(y, x, b) for x in v - b if not session.independent(y, x, b)
        }
        if not dependent:
            break
        b = b | {first_strongest(dependent)}
    return kept_by_the_others(session, y, shrink(session, y, b, include))


def lrh(
    session: WeighingSession, variables: Iterable[int], y: int, most: int, start: Set, include: Set
) -> Witnesses:
    """Add the strongest of those that no few others make redundant."""
    v = frozenset(variables) - {y}
    b = start | include
    while m1 := frozenset(x for x in v - b if not session.independent(y, x, b)):
        m2 = {x for x in m1 if separable(session, y, x, m1, most, b, least=1) is None}
        b = b | {first_strongest({x: session.strength(y, x, b) for x in m2 or m1})}
    return kept_by_the_others(session, y, shrink(session, y, b, include))
