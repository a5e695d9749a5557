"""What else a search can say: what could replace members, leaks, and detectable effects."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from komb.engine.engine import Engine
from komb.engine.questions import EMPTY, Variables, subsets
from komb.search._region import Region
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

_MOST_LEAKS = 20  # columns that are examined, those that depend on the target most


def find_equivalents(
    region: Region,
    task: Task,
    separators: Mapping[int, Variables],
    witnesses: Mapping[int, Variables | None],
) -> dict[int, tuple[Variables, ...]]:
    """For each member, the columns outside that could replace it.

    They are separated from the target by the member, and separate it in turn.
    """
    alone = region.alone(task.target)
    outside = sorted(task.candidates - witnesses.keys(), key=lambda x: (-alone.get(x, 0.0), x))
    stand_ins = {
        member: [x for x in outside if member in separators.get(x, EMPTY)][:MOST_STAND_INS]
        for member, witness in witnesses.items()
        if witness is not None
    }
    found: dict[int, tuple[Variables, ...]] = {}
    for size in (1, 2):  # pairs where no single column does
        sets = {
            member: list(subsets(others, size, size))
            for member, others in stand_ins.items()
            if member not in found
        }
        found |= _find_replacements(region.engine, task, witnesses, sets)
    return {member: found[member] for member in witnesses if member in found}


def _find_replacements(
    engine: Engine,
    task: Task,
    witnesses: Mapping[int, Variables | None],
    sets: Mapping[int, Sequence[Variables]],
) -> dict[int, tuple[Variables, ...]]:
    """For each member, those of some sets of columns that leave nothing for it to tell.

    On data, only a test with power decides that, or columns that determine the member.
    """
    power = power_to_detect(SHARE_TO_REPLACE)
    tests = [
        (member, columns, witnesses[member] or EMPTY)
        for member, each in sets.items()
        for columns in each
    ]
    questions = [({member}, columns | witness) for member, columns, witness in tests]
    answers = engine.evidence(task.target, questions, wants_bits=False)
    found: dict[int, list[Variables]] = {}
    for (member, columns, witness), depends in zip(tests, answers, strict=True):
        if depends:
            continue
        if engine.determines(columns, member, DETERMINED_ROWS) or engine.can_detect(
            task.target, member, columns | witness, witness, power
        ):
            found.setdefault(member, []).append(columns)
    return {member: tuple(sorted(each, key=sorted)) for member, each in found.items()}


def find_leaks(engine: Engine, task: Task, alone: Mapping[int, float]) -> tuple[Leak, ...]:
    """Return the columns that determine the target, or nearly do, the closest first."""
    strongest = sorted(alone, key=lambda x: (-alone[x], x))[:_MOST_LEAKS]
    shares = engine.explained_shares(task.target, strongest)
    leaks = [
        Leak(x, share) for x, share in zip(strongest, shares, strict=True) if share >= LEAKED_SHARE
    ]
    return tuple(sorted(leaks, key=lambda leak: (-leak.share, leak.column)))


def find_determining(
    leaks: Sequence[Leak], alone: Mapping[int, float], needed: float
) -> int | None:
    """Return the column that determines the target, of several the one that depends on it most."""
    determining = [
        leak.column for leak in leaks if leak.share >= ALL and alone[leak.column] >= needed
    ]
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
    n_rows = engine.n_rows or math.inf
    bits_per_row = least_noncentrality(freedom, threshold) / (2 * math.log(2) * n_rows)
    return Sight(order, n_tests, threshold, bits_per_row)


def least_noncentrality(freedom: float, threshold: float) -> float:
    """Noncentrality of a chi-square that is beyond a threshold in ``POWER`` of the cases."""
    from scipy.special import chdtri, chndtrinc

    critical = chdtri(freedom, max(threshold, 1e-300))
    return float(chndtrinc(critical, freedom, 1 - POWER))
