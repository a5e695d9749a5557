"""Columns as features.

A numeric column is its ranks: whatever transforms it monotonically changes nothing. The ranks are
turned into normal scores, so that what is linear and Gaussian stays linear, and polynomials of them
add what is not. Ties share their mean rank. A nominal column is one contrast per level, less one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from komb.counts.fixedpoint import FloatArray, Int64Array

RAREST_LEVEL = 10
"""Levels of fewer rows are put together with other rare ones."""

RAREST_CONDITION = 3
"""The same for a condition: what is put together there is no longer held fixed."""

MANY_ROWS = 2000
"""From here on variables have one degree more."""

LARGEST_DEGREE, LARGEST_DEGREE_OF_MANY = 3, 4
"""Of polynomials of the target and the candidate."""

SMOOTHEST, ROUGHEST = 1.0, 12.0
"""Costs of the functions of a condition: the degree of a polynomial, or what is like it."""

ROUGHEST_OF_MANY = 24.0
"""Costs go up to the third root of the rows, if that is above ``ROUGHEST``, but not beyond this."""

KINK = 4.0
"""Cost of a jump, or of a bend, at the median."""

MOST_JOINT_LEVELS = 5
"""Contrasts of a nominal column that are multiplied with others, those of the largest levels."""


@dataclass(frozen=True, slots=True)
class Features:
    """One column as a test sees it; all arrays have shape ``(n_features, n_rows)``."""

    own: FloatArray  # features as a target or a candidate, each with its degree
    degrees: Int64Array  # those of ``own``; contrasts of a nominal column have degree 1
    joint: FloatArray  # features that are multiplied with those of other columns
    smooth: FloatArray  # functions of the column as a condition, each with its cost
    costs: FloatArray  # those of ``smooth``
    is_nominal: bool

    def take(self, rows: Int64Array) -> Features:
        """Features of some rows."""
        return Features(
            self.own[:, rows],
            self.degrees,
            self.joint[:, rows],
            self.smooth[:, rows],
            self.costs,
            self.is_nominal,
        )

    @property
    def sharpest(self) -> FloatArray:
        """What stands for the column in products of more than two."""
        return self.joint if self.is_nominal else self.joint[-1:]


def numeric_features(values: FloatArray) -> Features:
    """Features of numbers; missing ones (NaN) have zeros, for no test looks at them."""
    is_known = ~np.isnan(values)
    ranks, n_distinct = _mean_ranks(values[is_known])
    n_rows = max(1, len(ranks))
    score, centred = _normal_scores(ranks / n_rows), 2.0 * ranks / n_rows - 1.0
    largest = LARGEST_DEGREE if n_rows < MANY_ROWS else LARGEST_DEGREE_OF_MANY
    own = _own_features(score, centred)[: min(largest, n_distinct - 1)]
    smooth, costs = _smooth_functions(score, centred, n_distinct, roughest(n_rows))
    joint = [score, np.sign(centred)] if n_distinct > 2 else [score][: n_distinct - 1]

    def filled(parts: list[FloatArray]) -> FloatArray:
        every = np.zeros((len(parts), len(values)))
        for row, part in zip(every, parts, strict=True):
            row[is_known] = part
        return every

    degrees = np.arange(1, len(own) + 1, dtype=np.int64)
    return Features(
        filled(own), degrees, filled(joint), filled(smooth), np.array(costs), is_nominal=False
    )


def roughest(n_rows: int) -> float:
    """Largest cost of a function of one condition.

    What a basis cannot follow is taken for a dependence as soon as there are rows enough to see it.
    """
    return float(max(ROUGHEST, min(ROUGHEST_OF_MANY, np.floor(np.cbrt(n_rows)))))


def _mean_ranks(values: FloatArray) -> tuple[FloatArray, int]:
    """Ranks from 1/2 on, ties with their mean, and the number of distinct values."""
    _, code, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - 0.5 * counts)[code], len(counts)


def _normal_scores(shares: FloatArray) -> FloatArray:
    """Quantiles of the normal distribution at some shares, standardised."""
    from scipy.special import ndtri

    score: FloatArray = ndtri(shares)
    score -= score.mean() if len(score) else 0.0
    scale = np.sqrt(np.mean(score**2)) if len(score) else 0.0
    return score / scale if scale > 0 else score


def _own_features(score: FloatArray, centred: FloatArray) -> list[FloatArray]:
    """Polynomials in the order of their degrees."""
    return [score, score**2 - 1.0, *legendre(4, centred)[2:]]


def _smooth_functions(
    score: FloatArray, centred: FloatArray, n_distinct: int, largest_cost: float
) -> tuple[list[FloatArray], list[float]]:
    """Functions of a condition, the smoothest first, as many as its values can tell apart."""
    functions = [score, score**2 - 1.0, score**3 - 3.0 * score]
    costs = [1.0, 2.0, 3.0]
    side = np.sign(centred)
    polynomials = legendre(int(largest_cost) - 2, centred)
    for degree in range(4, int(largest_cost) + 1):
        functions.append(polynomials[degree - 3])
        costs.append(float(degree))
        if degree == KINK:
            functions += [side, side * score]
            costs += [KINK, KINK]
    if n_distinct <= len(functions):  # polynomials alone give every function of so few values
        kept = [i for i, cost in enumerate(costs) if cost <= n_distinct - 1]
        kept = kept[: max(0, n_distinct - 1)]
        return [functions[i] for i in kept], [costs[i] for i in kept]
    return functions, costs


def legendre(degree: int, x: FloatArray) -> list[FloatArray]:
    """Legendre polynomials up to a degree, of unit variance on ranks between -1 and 1."""
    before, value = np.ones_like(x), x
    found = [value * np.sqrt(3.0)]
    for k in range(1, degree):
        before, value = value, ((2 * k + 1) * x * value - k * before) / (k + 1)
        found.append(value * np.sqrt(2 * k + 3))
    return found


def nominal_features(codes: Int64Array, n_levels: int) -> Features:
    """Features of categories; codes that are no level are missing, and have zeros.

    The contrasts are orthonormal, so that together they weigh levels as Pearson's statistic does.
    """
    is_known = codes < n_levels

    def filled(rarest: int) -> FloatArray:
        merged = _merge_rare(codes[is_known], n_levels, rarest)
        contrasts = np.zeros((int(merged.max(initial=0)), len(codes)))
        contrasts[:, is_known] = _contrasts(merged)
        return contrasts

    contrasts, fine = filled(RAREST_LEVEL), filled(RAREST_CONDITION)
    return Features(
        contrasts,
        np.ones(len(contrasts), dtype=np.int64),
        contrasts[:MOST_JOINT_LEVELS],
        fine,
        np.full(len(fine), SMOOTHEST),
        is_nominal=True,
    )


def _merge_rare(codes: Int64Array, n_levels: int, rarest: int) -> Int64Array:
    """Sort levels by their frequency and give them numbers, the rare ones one of them."""
    counts = np.bincount(codes, minlength=n_levels)
    order = np.argsort(-counts, kind="stable")
    n_frequent = int(np.count_nonzero(counts >= rarest))
    n_rare_rows = int(counts[order[n_frequent:]].sum())
    last = n_frequent if n_rare_rows >= rarest else max(0, n_frequent - 1)
    numbers = np.empty(n_levels, dtype=np.int64)
    numbers[order] = np.minimum(np.arange(n_levels), last)
    return numbers[codes]


def _contrasts(codes: Int64Array) -> FloatArray:
    """Orthonormal contrasts between each level and the more frequent ones (Helmert)."""
    counts = np.bincount(codes).astype(np.float64)
    n_rows = counts.sum()
    before = np.cumsum(counts)
    contrasts = np.zeros((len(counts) - 1, len(codes)))
    for level in range(1, len(counts)):
        below, own = before[level - 1], counts[level]
        scale = np.sqrt(n_rows / (below * own * (below + own)))
        values = np.zeros(len(counts))
        values[:level], values[level] = -own * scale, below * scale
        contrasts[level - 1] = values[codes]
    return contrasts
