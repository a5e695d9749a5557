"""Twin of what is explained about a blanket."""

from __future__ import annotations

from dataclasses import dataclass

from tests.naive.counts import Set
from tests.naive.sessions import DataSession
from tests.naive.steps import Witnesses, separable, subsets


@dataclass(frozen=True)
class Told:
    """What is to be told about one variable."""

    shown: Set | None  # the condition in which it depends on y
    separator: Set | None  # of a member: shown and more, given which the dependence is weakest
    alone_separator: Set | None = None


def closest(session: DataSession, y: int, x: int, z: Set, s: Set, most: int) -> Set | None:
    """Return z with those few members of s given which x depends on y least."""
    larger = [z | c for c in subsets(s - z - {x}, most) if c]
    larger.sort(key=lambda given: (len(given), sorted(given)))
    return min(larger, key=lambda given: round(session.strength(y, x, given), 6), default=None)


def separators(
    session: DataSession, variables: Set, y: int, blanket: Set, most: int
) -> dict[int, Set]:
    """What separates variables outside a blanket: the first few members, or all of them."""
    found: dict[int, Set] = {}
    for x in sorted(variables - blanket):
        separator = separable(session, y, x, blanket, most)
        if separator is None and session.independent(y, x, blanket):
            separator = blanket
        if separator is not None:
            found[x] = separator
    return found


def explain(
    session: DataSession, variables: Set, y: int, witnesses: Witnesses, most: int
) -> dict[int, Told]:
    """What to tell about the members of a blanket, and about what depends on y outside of it."""
    s, nothing = frozenset(witnesses), frozenset[int]()
    known = separators(session, variables, y, s, most)
    told: dict[int, Told] = {}
    for x in sorted(variables):
        z, is_dependent = witnesses.get(x), not session.independent(y, x, nothing)
        if z is not None:
            too = closest(session, y, x, nothing, s, most) if z and is_dependent else None
            told[x] = Told(z, closest(session, y, x, z, s, most), too)
        elif x in witnesses and not is_dependent:
            told[x] = Told(None, None)
        elif x in witnesses:
            told[x] = Told(nothing, closest(session, y, x, nothing, s, most))
        elif is_dependent:
            told[x] = Told(nothing, known.get(x))
    return told
