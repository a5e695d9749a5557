"""What else a search can say: what could replace members, leaks, and detectable effects."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from komb.engine.engine import Engine
from komb.engine.questions import EMPTY, Variables, subsets
from komb.search._region import Region, is_copied
from komb.search._thresholds import power_to_detect
from komb.search.task import Leak, Sight, Task

LEAKED_SHARE = 0.95
"""From this share of the target's variation on, a column is called a possible leak."""

ALL = 1 - 1e-9
"""Share from which on a column determines the target, but for rounding."""

POWER = 0.8
"""Chance to find the weakest dependence that can be found."""

SHARE_TO_REPLACE = 0.2
"""A test that finds a member superfluous must be able to see this share of its dependence."""

DETERMINED_ROWS = 2.0
"""Rows per combination of values from which on columns are said to determine another one."""

MOST_STAND_INS = 5
"""Columns that are examined as replacements for one member, singly and in pairs."""

_DIGITS = 6  # of bits that are compared: rounding errors are behind
_MOST_LEAKS = 20  # columns that are examined, those that depend on the target most


Witnesses = Mapping[int, Variables | None]


def find_equivalents(
    region: Region, task: Task, witnesses: Witnesses
) -> tuple[dict[int, Variables | None], dict[int, tuple[Variables, ...]]]:
    """For each member, the columns outside that could replace it.

    Of a member and single columns that could replace it, the one with most evidence given the other
    members is the member: so the members may change, and are returned too.
    """
    alone, members = region.alone(task.target), dict(witnesses)
    found: dict[int, tuple[Variables, ...]] = {}
    shown = [x for x in witnesses.keys() - task.include if witnesses[x] is not None]
    for member in sorted(shown, key=lambda x: (-alone.get(x, 0.0), x)):
        if region.engine.allowance.is_spent:
            break
        given, sets = _find_replacements(region, task, member, members)
        if sets:
            best = _strongest(region.engine, task.target, member, sets, given)
            if not _exchange(region.engine, task, members, member, best):
                best = member
            swapped = [each if each != {best} else frozenset({member}) for each in sets]
            found[best] = tuple(sorted(swapped, key=sorted))
    return dict(sorted(members.items())), dict(sorted(found.items()))


def _find_replacements(
    region: Region, task: Task, member: int, members: Witnesses
) -> tuple[Variables, list[Variables]]:
    """Return the sets that tell the same as a member, and what given.

    Given all other members, if they leave it visible, or else its witness. Columns that depend on
    the member most are examined; pairs where no single column will do.
    """
    near, some, others = region.alone(member), frozenset({member}), frozenset(members) - {member}
    outside = sorted(near.keys() & task.candidates - members.keys(), key=lambda x: (-near[x], x))
    engine, target, near_by = region.engine, task.target, frozenset(outside[:MOST_STAND_INS])
    for given in dict.fromkeys((others, members[member] or EMPTY)):
        if not _joint_bits(engine, target, some, given):
            continue
        # most of them tell something of their own, so they are asked about together
        free = near_by - set(engine.dependents(target, near_by, some | given))
        for size in (1, 2):
            sets = [
                each
                for each in subsets(free, size, size)
                if tells_the_same(engine, target, some, each, given)
            ]
            if sets:
                return given, sets
    return EMPTY, []


def tells_the_same(
    engine: Engine, target: int, some: Variables, other: Variables, given: Variables
) -> bool:
    """Whether each of two sets leaves nothing for the other to tell, given a third.

    On data only a test with power says that nothing is left, unless the one set determines the
    other, or nearly does: no test can tell a column from its copy. And the one has to have about as
    much evidence as the other.
    """
    bits = _joint_bits(engine, target, some, given)
    if not bits or engine.dependents(target, other, some | given):
        return False
    least = (1 - SHARE_TO_REPLACE) * bits if bits < math.inf else bits
    if _joint_bits(engine, target, other, given) < least:
        return False
    if engine.dependents(target, some, other | given):  # last: each other set is its own condition
        return False
    power = power_to_detect(SHARE_TO_REPLACE)
    return all(
        engine.determines(other | given, x, DETERMINED_ROWS)
        or is_copied(engine, x, other)
        or engine.can_detect(target, x, other | given, given, power)
        for x in some
    )


def _joint_bits(engine: Engine, target: int, some: Variables, given: Variables) -> float:
    """Evidence that columns depend on the target given a set, one after the other."""
    total = 0.0
    for x in sorted(some):
        total += engine.evidence(target, [({x}, given)])[0].get(x, 0.0)
        given |= {x}
    return total


def _strongest(
    engine: Engine, target: int, member: int, sets: Sequence[Variables], given: Variables
) -> int:
    """Return the member, or the column that could replace it and has more evidence."""
    columns = [member, *(x for each in sets if len(each) == 1 for x in each)]
    [bits] = engine.evidence(target, [(frozenset(columns), given)])
    return max(columns, key=lambda x: (round(bits.get(x, 0.0), _DIGITS), x == member, -x))


def _exchange(
    engine: Engine, task: Task, members: dict[int, Variables | None], old: int, new: int
) -> bool:
    """Put one column in the place of another, in witnesses too, if all stay visible by that."""
    moved = {
        new if x == old else x: w and frozenset(new if z == old else z for z in w)
        for x, w in members.items()
    }
    changed = {x: w for x, w in moved.items() if w is not None and w != members.get(x)}
    if not all(engine.is_dependent(task.target, x, w) for x, w in changed.items()):
        return False
    members.clear()
    members.update(moved)
    return True


def find_leaks(
    engine: Engine, task: Task, alone: Mapping[int, float], needed: float = 0.0
) -> tuple[Leak, ...]:
    """Return the dependent columns that determine the target, or nearly do, the closest first."""
    dependent = [x for x in alone if alone[x] >= needed]
    strongest = sorted(dependent, key=lambda x: (-alone[x], x))[:_MOST_LEAKS]
    shares = engine.explained_shares(task.target, strongest)
    leaks = [
        Leak(x, share) for x, share in zip(strongest, shares, strict=True) if share >= LEAKED_SHARE
    ]
    return tuple(sorted(leaks, key=lambda leak: (-leak.share, leak.column)))


def find_determining(leaks: Sequence[Leak], alone: Mapping[int, float]) -> int | None:
    """Return the column that determines the target, of several the one that depends on it most."""
    determining = [leak.column for leak in leaks if leak.share >= ALL]
    return max(determining, key=lambda x: (alone[x], -x), default=None)


def describe_sight(engine: Engine, task: Task, order: int, n_tests: int, needed: float) -> Sight:
    """Say which dependence is found with a chance of ``POWER``, for a column of median levels."""
    assert engine.n_rows is not None  # an oracle sees everything
    levels = engine.n_levels
    others = np.array([levels[x] for x in sorted(task.candidates)], dtype=np.float64)
    typical = float(np.median(others)) if len(others) else 2.0
    strata = engine.n_strata * typical**order
    freedom = max(1.0, (typical - 1) * (levels[task.target] - 1) * strata)
    threshold = 2.0**-needed
    least = least_noncentrality(freedom, threshold * engine.least_share)
    bits_per_row = least / (2 * math.log(2) * (engine.n_rows or math.inf))
    return Sight(order, n_tests, threshold, bits_per_row)


def least_noncentrality(freedom: float, threshold: float) -> float:
    """Noncentrality of a chi-square that is beyond a threshold in ``POWER`` of the cases."""
    from scipy.special import chdtri, chndtrinc

    critical = chdtri(freedom, max(threshold, 1e-300))
    return float(chndtrinc(critical, freedom, 1 - POWER))
