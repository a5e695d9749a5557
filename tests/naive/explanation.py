"""Twin of what is explained about a blanket."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

from tests.naive.counts import Set
from tests.naive.decision import Answer
from tests.naive.komb import no_seps
from tests.naive.sessions import DataSession
from tests.naive.steps import Witnesses, subsets


@dataclass(frozen=True)
class Told:
    """What is to be told about one variable."""

    shown: Set | None  # the condition in which it depends on y
    separator: Set | None  # shown and more: where that is undone, or else least clear
    alone_separator: Set | None = None


def hardest(session: DataSession, y: int, x: int, z: Set, s: Set, most: int) -> Set | None:
    """z with as few members as undo a dependence; else with those it is weakest with."""
    weakest: list[tuple[float, Set]] = []
    for size in range(1, most + 1):
        larger = [z | frozenset(c) for c in combinations(sorted(s - z - {x}), size)]
        larger.sort(key=sorted)
        undone = [given for given in larger if session.independent(y, x, given)]
        if undone:
            return min(undone[:10], key=lambda given: doubt(session.answer(y, x, given)))
        weakest += [(round(session.strength(y, x, given), 6), given) for given in larger]
    return min(weakest, key=lambda entry: entry[0])[1] if weakest else None


def doubt(answer: Answer) -> tuple[bool, float]:
    """How little convincing it is that a test says independent."""
    bits = answer.statistic if answer.p_value is None else -math.log2(answer.p_value)
    return not answer.reliable, round(bits, 6)


def explain(
    session: DataSession, variables: Set, y: int, witnesses: Witnesses, k: int, most: int
) -> dict[int, Told]:
    """What to tell about the members of a blanket, and about what depends on y outside of it."""
    s = frozenset(witnesses)
    told: dict[int, Told] = {}
    for x in sorted(variables):
        z = witnesses.get(x)
        if z is not None:
            alone = None
            if z and not session.independent(y, x, frozenset()):
                alone = hardest(session, y, x, frozenset(), s, most)
            told[x] = Told(z, hardest(session, y, x, z, s, most), alone)
            continue
        dependent = [a for a in subsets(s - {x}, k) if not session.independent(y, x, a)]
        if not dependent:
            if x in witnesses:
                told[x] = Told(None, None)
            continue
        standing = [a for a in dependent if no_seps(session, y, x, a, s, most)]
        fewest = [a for a in dependent if len(a) == len(dependent[0])]
        shown = (
            standing[0]
            if standing
            else max(fewest, key=lambda a: round(session.strength(y, x, a), 6))
        )
        separator = hardest(session, y, x, shown, s, most)
        if standing and separator is not None and session.independent(y, x, s - {x}):
            separator = s - {x}
        told[x] = Told(shown, separator)
    return told
