"""Twins of the cut points that numbers are discretized at."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence


def entropy(classes: Sequence[int]) -> float:
    counts = Counter(classes).values()
    return -math.fsum(n / len(classes) * math.log2(n / len(classes)) for n in counts)


def mdl_cuts(values: Sequence[float], classes: Sequence[int]) -> list[float]:
    """Fayyad & Irani (1993): split where classes are purest, while that pays; then the halves."""
    rows = sorted(zip(values, classes, strict=True))
    whole = [label for _, label in rows]
    n, best = len(rows), None
    for i in range(1, n):
        if rows[i - 1][0] == rows[i][0]:
            continue
        lower, upper = whole[:i], whole[i:]
        mean = (len(lower) * entropy(lower) + len(upper) * entropy(upper)) / n
        if best is None or mean < best[0] - 1e-9:  # of equals, the lowest
            best = mean, i
    if best is None:
        return []
    mean, i = best
    lower, upper = whole[:i], whole[i:]
    k, e = len(set(whole)), entropy(whole)
    halves = len(set(lower)) * entropy(lower) + len(set(upper)) * entropy(upper)
    delta = math.log2(3**k - 2) - (k * e - halves)
    if e - mean <= (math.log2(n - 1) + delta) / n:
        return []
    cut = (rows[i - 1][0] + rows[i][0]) / 2
    below, above = rows[:i], rows[i:]
    return [
        *mdl_cuts([value for value, _ in below], lower),
        cut,
        *mdl_cuts([value for value, _ in above], upper),
    ]


def bin_of(value: float, cuts: Sequence[float]) -> int:
    """Number of the bin that a value is in; one on a cut point is in the bin above."""
    return sum(value >= cut for cut in cuts)
