"""Twins of what is counted: contingency tables, and sums over one set of variables."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

MISSING = -1  # stands for a value that is not there
Columns = Sequence[Sequence[int]]
Counts = Counter[tuple[int, ...]]
Set = frozenset[int]


def joint_counts(columns: Columns, variables: Sequence[int]) -> Counts:
    """How often each combination of levels of ``variables`` occurs."""
    if not variables:
        return Counter([()] * len(columns[0]))
    return Counter(zip(*(columns[v] for v in variables), strict=True))


def complete(columns: Columns, variables: Collection[int]) -> Columns:
    """The rows in which no value of ``variables`` is missing."""
    chosen = [columns[v] for v in variables]
    if not any(MISSING in column for column in chosen):
        return columns
    rows = [row for row, values in enumerate(zip(*chosen, strict=True)) if MISSING not in values]
    return [[column[row] for row in rows] for column in columns]


def count_levels(column: Sequence[int]) -> int:
    return len(set(column) - {MISSING})


@dataclass(frozen=True)
class Tables:
    """Counts of x, y and the strata of given."""

    xyz: Counts  # keys (x, y, *z)
    xz: Counts
    yz: Counts
    z: Counts
    n_rows: int
    x_levels: int
    y_levels: int


def by_stratum(counts: Counts) -> dict[tuple[int, ...], dict[int, int]]:
    """Counts with keys (x, *z) for each z: how often each level of x occurs."""
    found: dict[tuple[int, ...], dict[int, int]] = {}
    for (x, *z), n in counts.items():
        found.setdefault(tuple(z), {})[x] = n
    return found


def count(columns: Columns, y: int, x: int, given: Collection[int]) -> Tables:
    z = sorted(given)
    used = complete(columns, [x, y, *z])
    return Tables(
        joint_counts(used, [x, y, *z]),
        joint_counts(used, [x, *z]),
        joint_counts(used, [y, *z]),
        joint_counts(used, z),
        len(used[0]),
        count_levels(columns[x]),
        count_levels(columns[y]),
    )


def fit(columns: Columns, y: int, members: Sequence[int]) -> float:
    """Sum of n_ay log2(n_ay / n_a): how well the set ``a`` of members predicts y, in bits."""
    n_a = joint_counts(columns, members)
    n_ya = joint_counts(columns, [y, *members])
    return math.fsum(n * math.log2(n / n_a[key[1:]]) for key, n in n_ya.items())


def strata(columns: Columns, members: Sequence[int]) -> int:
    """How many combinations of levels of the members occur."""
    return len(joint_counts(columns, members))


@cache
def normaliser_of_two(n: int) -> Fraction:
    """C(2, n) = sum_j n! / (n - j)! / n^j."""
    return Fraction(sum(math.perm(n, j) * n ** (n - j) for j in range(n + 1)), n**n)


@cache
def normaliser(levels: int, n: int) -> Fraction:
    """C(levels, n) by the recurrence, in exact arithmetic."""
    if n == 0 or levels == 1:
        return Fraction(1)
    before, now = Fraction(1), normaliser_of_two(n)
    for r in range(1, levels - 1):
        before, now = now, now + Fraction(n, r) * before
    return now


@cache
def log2_normaliser(levels: int, n: int) -> float:
    exact = normaliser(levels, n)
    return math.log2(exact.numerator) - math.log2(exact.denominator)


def length(columns: Columns, members: Sequence[int], levels: int) -> float:
    """Sum of log2 C(levels, n_a) over the combinations of levels of the members."""
    n_a = joint_counts(columns, members)
    return math.fsum(log2_normaliser(levels, n) for n in n_a.values())
