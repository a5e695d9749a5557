"""What members are to a target, one question at a time: the twin of komb's search for roles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import NamedTuple, Protocol


class Answers(Protocol):
    """Answers one question at a time."""

    def independent(self, y: int, x: int, given: frozenset[int]) -> bool: ...

    def can_detect(
        self, y: int, x: int, given: frozenset[int], witness: frozenset[int], share: float
    ) -> bool: ...


class Part(NamedTuple):
    """What a member is, without its direction."""

    kind: str
    separator: frozenset[int] | None
    children: tuple[int, ...]
    partners: tuple[int, ...]


def separator(
    session: Answers, y: int, x: int, pool: Iterable[int], max_size: int
) -> frozenset[int] | None:
    """The first set that separates two variables, by a test that could have seen half of it."""
    others = sorted(set(pool) - {x, y})
    for size in range(max_size + 1):
        for chosen in combinations(others, size):
            given = frozenset(chosen)
            if session.independent(y, x, given) and (
                not given or session.can_detect(y, x, given, frozenset(), 0.5)
            ):
                return given
    return None


def find_parts(
    session: Answers, y: int, witnesses: Mapping[int, frozenset[int] | None], max_size: int
) -> dict[int, Part]:
    """Neighbours, spouses and partners among the members of a blanket."""
    everyone = {y, *witnesses}

    def apart(a: int, b: int) -> frozenset[int] | None:
        # komb looks at the target first, then from the lower number
        first, second = (a, b) if a == y or (b != y and a < b) else (b, a)
        return separator(session, first, second, everyone, max_size)

    own = {x: apart(y, x) for x in witnesses}
    neighbours = [x for x in sorted(witnesses) if own[x] is None]
    kinds: dict[int, tuple[str, tuple[int, ...]]] = {}
    for x in sorted(witnesses):
        given = own[x]
        if given is None:
            kinds[x] = "neighbour", ()
            continue
        children = tuple(
            c
            for c in neighbours
            if apart(x, c) is None and c not in given and not session.independent(y, x, given | {c})
        )
        if children:
            kinds[x] = "spouse", children
        elif witnesses[x]:
            kinds[x] = "partner", ()
        else:
            kinds[x] = ("by request" if witnesses[x] is None else "undecided"), ()
    groups = [
        {x, *(witnesses[x] or ())} & witnesses.keys() for x in witnesses if kinds[x][0] == "partner"
    ]
    return {
        x: Part(
            kinds[x][0],
            own[x],
            kinds[x][1],
            tuple(sorted(set().union(*(g for g in groups if x in g)) - {x})),
        )
        for x in sorted(witnesses)
    }
