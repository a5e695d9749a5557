"""Twins of the searches that find neighbours first, then their spouses."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from tests.naive.counts import Set
from tests.naive.sessions import Session, WeighingSession
from tests.naive.steps import (
    Witnesses,
    first_strongest,
    kept_by_the_others,
    prune,
    separable,
    shrink,
    weakest,
)


@dataclass(frozen=True)
class Near:
    """Likely neighbours, and for every other variable a set that separates it."""

    members: Set
    separators: dict[int, Set]


def with_spouses(
    session: Session, y: int, own: Near, near_of: Callable[[int], Near], include: Set
) -> Witnesses:
    """Neighbours, and neighbours of neighbours that depend once the child is given as well."""
    found: Witnesses = {}
    for x in own.members:
        is_alone = x in include and session.independent(y, x, frozenset())
        found[x] = None if is_alone else frozenset()
    for child in sorted(own.members):
        for x in sorted(near_of(child).members - own.members - {y}):
            z = own.separators[x] | {child}
            if x not in found and not session.independent(y, x, z):
                found[x] = z
    return found


def spouses_second(
    find: Callable[[WeighingSession, Set, int, int, Set, Set], Near],
    session: WeighingSession,
    v: Set,
    y: int,
    most: int,
    start: Set,
    include: Set,
) -> Witnesses:
    """Find the neighbours of the target, then those of each neighbour."""
    everything, nobody = v | {y}, frozenset[int]()
    own = find(session, everything - {y}, y, most, start, include)
    return with_spouses(
        session, y, own, lambda x: find(session, everything - {x}, x, most, nobody, nobody), include
    )


def hiton_pc(session: WeighingSession, v: Set, y: int, most: int, first: Set, fixed: Set) -> Near:
    """By decreasing strength: enters unless separated, then the members are looked at again."""
    strengths = {x: session.strength(y, x, frozenset()) for x in v}
    separators: dict[int, Set] = {x: frozenset() for x in v - fixed if strengths[x] == 0}
    members = fixed
    for x in sorted(
        (v - fixed).difference(separators), key=lambda x: (x not in first, -strengths[x], x)
    ):
        separator = separable(session, y, x, members, most, least=1)
        if separator is not None:
            separators[x] = separator
            continue
        dropped = prune(session, y, members - fixed, members, most - 1, frozenset({x}))
        separators |= dropped
        members = members.difference(dropped) | {x}
    return Near(members, separators)


def hiton_mb(
    session: WeighingSession, variables: Iterable[int], y: int, most: int, start: Set, include: Set
) -> Witnesses:
    return spouses_second(hiton_pc, session, frozenset(variables), y, most, start, include)


def mmpc(session: WeighingSession, v: Set, y: int, most: int, first: Set, fixed: Set) -> Near:
    """The candidate whose least strength is largest enters; what a set separates is out."""
    dependent = frozenset(x for x in v if session.strength(y, x, frozenset()) > 0)
    separators: dict[int, Set] = {x: frozenset() for x in v - fixed - dependent}
    members = fixed | (first & dependent)
    waiting: dict[int, float] = {}

    def look(x: int, before: float, bound: int, core: Set) -> None:
        separator = separable(session, y, x, members, bound, core)
        if separator is None:
            waiting[x] = min(before, weakest(session, y, x, members, bound, core))
        else:
            separators[x] = separator
            waiting.pop(x, None)

    for x in sorted(dependent - members):
        look(x, math.inf, most, frozenset())
    while waiting:
        newcomer = first_strongest(waiting)
        del waiting[newcomer]
        for x in sorted(waiting):
            look(x, waiting[x], most - 1, frozenset({newcomer}))
        members = members | {newcomer}
    dropped = prune(session, y, members - fixed, members, most)
    return Near(members.difference(dropped), separators | dropped)


def mmmb(
    session: WeighingSession, variables: Iterable[int], y: int, most: int, start: Set, include: Set
) -> Witnesses:
    return spouses_second(mmpc, session, frozenset(variables), y, most, start, include)


def get_pcd(session: WeighingSession, v: Set, y: int, most: int, first: Set, fixed: Set) -> Near:
    """As MMPC, but members are looked at again with every newcomer, before the candidates are."""
    dependent = frozenset(x for x in v if session.strength(y, x, frozenset()) > 0)
    separators: dict[int, Set] = {x: frozenset() for x in v - fixed - dependent}
    members = fixed | (first & dependent)
    waiting = dependent - members
    dropped = prune(session, y, members - fixed, members, most)
    while True:
        separators |= dropped
        members = members.difference(dropped)
        for x in sorted(waiting):
            separator = separable(session, y, x, members, most)
            if separator is not None:
                separators[x] = separator
                waiting = waiting - {x}
        if not waiting:
            return Near(members, separators)
        newcomer = first_strongest({x: weakest(session, y, x, members, most) for x in waiting})
        waiting = waiting - {newcomer}
        members = members | {newcomer}
        dropped = prune(
            session, y, members - fixed - {newcomer}, members, most - 1, frozenset({newcomer})
        )


def pcmb(
    session: WeighingSession, variables: Iterable[int], y: int, most: int, start: Set, include: Set
) -> Witnesses:
    everything = frozenset(variables) | {y}
    known: dict[int, Near] = {}

    def pcd(x: int) -> Near:
        if x not in known:
            first, fixed = (start, include) if x == y else (frozenset(), frozenset())
            known[x] = get_pcd(session, everything - {x}, x, most, first, fixed)
        return known[x]

    def pc(x: int) -> Near:
        """Neighbours by the word of both sides."""
        fixed = include if x == y else frozenset()
        denied = [z for z in pcd(x).members - fixed if x not in pcd(z).members]
        separators = {z: pcd(z).separators[x] for z in denied}
        return Near(pcd(x).members.difference(separators), pcd(x).separators | separators)

    return with_spouses(session, y, pc(y), pc, include)


def stmb(
    session: Session, variables: Iterable[int], y: int, most: int, start: Set, include: Set
) -> Witnesses:
    """Everybody is a neighbour until separated; a spouse that separates its child unmasks it."""
    del start  # it starts from all
    members = frozenset(variables) - {y}
    separators: dict[int, Set] = {}
    for size in range(most + 1):
        dropped = prune(session, y, members - include, members, size, least=size)
        separators |= dropped
        members = members.difference(dropped)
        if len(members) <= size + 1:
            break
    spouses: dict[int, Set] = {}
    candidates = frozenset(separators)
    while candidates:
        false = unmask(session, y, members, candidates, separators, spouses, most, include)
        members = members.difference(false)
        separators |= false
        for child in false:
            spouses.pop(child, None)
        candidates = frozenset(false)
    b = (members | include).union(*spouses.values())
    for x in sorted(b - members - include):
        if session.independent(y, x, b - {x}):
            b = b - {x}
    return kept_by_the_others(session, y, shrink(session, y, b, include))


def unmask(
    session: Session,
    y: int,
    members: Set,
    candidates: Set,
    separators: Mapping[int, Set],
    spouses: dict[int, Set],
    most: int,
    include: Set,
) -> dict[int, Set]:
    """Members that a spouse separates, with the separators; the other spouses are noted."""
    false: dict[int, Set] = {}
    for child in sorted(members):
        for x in sorted(candidates):
            if session.independent(y, x, separators[x] | {child}):
                continue
            if child not in include:
                core = frozenset({x})
                separator = separable(session, y, child, members - {child}, most - 1, core)
                if separator is not None:
                    false[child] = separator
                    break
            spouses[child] = spouses.get(child, frozenset()) | {x}
    return false
