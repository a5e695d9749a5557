"""Twin of kOMB: Algorithms 1 to 3, from the last to the first."""

from __future__ import annotations

from collections.abc import Iterable

from tests.naive.counts import Set
from tests.naive.sessions import Session
from tests.naive.steps import subsets


def no_seps(session: Session, y: int, x: int, z: Set, s: Set, most: int) -> bool:
    """Algorithm 3: no small part of the blanket makes y and x independent."""
    return not any(
        session.independent(y, x, z | separator) for separator in subsets(s - z - {x}, most)
    )


def find_cond(session: Session, y: int, x: int, g: Set, s: Set, k: int, most: int) -> Set | None:
    """Algorithm 3: the first witness of x; None is bottom."""
    for a in subsets(s, k - len(g)):
        z = g | a
        if not session.independent(y, x, z) and no_seps(session, y, x, z, s, most):
            return z
    return None


def make_strict(session: Session, y: int, x: int, z: Set, s: Set, most: int) -> Set:
    """Algorithm 2: x with those of its witness that depend in turn."""
    for w in sorted(z):
        if not no_seps(session, y, w, (z - {w}) | {x}, s, most):
            z = z - {w}
    return z | {x}


def find_inter_dep(
    session: Session, variables: Set, y: int, g: Set, s: Set, rest: Set, k: int, most: int
) -> Set:
    """Algorithm 2: a group of variables that depends on y; empty when there is none."""
    if len(g) > k:
        return frozenset()
    for x in sorted(variables - {y} - s - g):
        z = find_cond(session, y, x, g, s, k, most)
        if z is not None:
            return make_strict(session, y, x, z, s, most)
    for x in sorted(rest - {y} - s - g):
        rest = rest - {x}
        found = find_inter_dep(session, variables, y, g | {x}, s, rest, k, most)
        if found:
            return found
    return frozenset()


def komb(
    session: Session,
    variables: Iterable[int],
    y: int,
    k: int,
    most: int,
    start: Set = frozenset(),
    include: Set = frozenset(),
) -> dict[int, Set | None]:
    """Algorithm 1: the blanket, each member with its witness.

    ``variables`` may be conditioned on and found; members by ``include`` stay without a witness.
    """
    everything = frozenset(variables)
    s = start | include
    while found := find_inter_dep(
        session, everything, y, frozenset(), s, everything - {y} - s, k, most
    ):
        s = s | found
    while True:
        witnesses = {x: find_cond(session, y, x, frozenset(), s - {x}, k, most) for x in sorted(s)}
        lonely = [x for x, z in witnesses.items() if z is None and x not in include]
        if not lonely:
            return witnesses
        s = s - {lonely[0]}
