"""What the sums over the table of a test say, and the only place where a p-value meets a level.

A rule says how: G or another power divergence by a chi-square distribution, differences of code
lengths by their sign, or X2 and G by the moments that they have given the margins.
"""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import math
from typing import Any

import numpy as np

from komb.engine.compiling import inner, patient_kernel, stay_apart
from komb.engine.kernels.g_moments import sum_g_moments
from komb.engine.kernels.pearson import sum_divergence, sum_pearson
from komb.engine.kernels.places import (
    BY_OTHER,
    FIT,
    FREE,
    FREEDOM,
    IS_RELIABLE,
    LENGTH,
    LOG2_P,
    MEAN,
    NO_FREEDOM,
    NULL_MEAN,
    NULL_THIRD,
    NULL_VARIANCE,
    OWN_FIT,
    OWN_LENGTH,
    OWN_STRATA,
    PEARSON,
    ROWS,
    SECOND_LOG2_P,
    SPLIT,
    STATISTIC,
    THIRD,
    VARIANCE,
)
from komb.engine.kernels.strata import need_table, sum_freedom
from komb.engine.kernels.tails import critical_value, log2_p_value, log2_type_three

DECISION, BITS, CONSERVATIVE, ALL = range(4)
"""What is wanted of a test: whether it is a dependence; its bits; its bits by all statistics;
everything."""

LEAST_BITS, LEAST_G, UNLIKELY = range(3)
"""Places of ``s.bounds``: bits below which nobody wants to know more; for tests by moments the G
that these take at least, and the logarithm of the p-value of X2 up to which G is asked. Where it is
above, X2 decides."""

SMALLEST_LEVEL = 1e-290  # that a critical value is known of
ROUNDING = 1e-9  # bits; smaller differences of code lengths count as zero
NATS = 2.0 * math.log(2.0)  # G of a gain of one bit
POWER_DEVIATIONS = 0.84  # below the mean, so that four cases of five are above


def bounds_for(alpha: float, least_bits: float = 0.0, *, is_conservative: bool = False) -> Any:
    """Return bounds for questions about tests at a level, and of so many bits at least."""
    from scipy.special import chdtri

    unlikely = math.log2(0.1)
    level = max(min(alpha, 2.0**-least_bits), SMALLEST_LEVEL)
    enough = min(unlikely, -least_bits) if is_conservative else unlikely
    return np.array([least_bits, chdtri(1.0, level), enough])


@inner
def has_rows_per_cell(s, column, enough):
    """Whether the table of a test has so many rows per cell; one without rows never has."""
    cells = s.levels[column] * s.sums[OWN_STRATA] * s.n_y
    return cells > 0 and s.sums[ROWS] >= enough * cells


@inner
def is_coded(s, column):
    """Whether a table is so sparse that code lengths decide."""
    return s.coded_below > 0.0 and not has_rows_per_cell(s, column, s.coded_below)


@inner
def g_statistic(s):
    """G of the test at hand; rounding below zero is cut off."""
    return max(NATS * ((s.sums[FIT] - s.sums[OWN_FIT]) / s.scale), 0.0)


@inner
def judge(s, size, column, wants):
    """Write down what a test says, from its sums; returns whether it is a dependence."""
    verdict = s.verdict
    verdict[BY_OTHER] = verdict[LOG2_P] = verdict[SECOND_LOG2_P] = 0.0
    if s.has_moments:
        return _judge_by_moments(s, size, column, g_statistic(s), wants)
    verdict[IS_RELIABLE] = has_rows_per_cell(s, column, s.reliable_from)
    if is_coded(s, column):
        return _judge_by_lengths(s)
    return _judge_by_freedom(s, size, column, g_statistic(s), wants)


@inner
def _judge_by_lengths(s):
    """Judge by the bits that a code of one variable saves if it knows the other."""
    verdict, gain = s.verdict, (s.sums[FIT] - s.sums[OWN_FIT]) / s.scale
    by_target = (s.sums[OWN_LENGTH] - s.sums[LENGTH]) / s.scale
    saved = gain + max(s.sums[SPLIT] / s.scale, by_target)
    if abs(saved) < ROUNDING:
        saved = 0.0
    verdict[STATISTIC], verdict[FREE], verdict[BY_OTHER] = saved, NO_FREEDOM, 1.0
    verdict[LOG2_P] = verdict[SECOND_LOG2_P] = -saved
    verdict[NULL_MEAN] = verdict[NULL_VARIANCE] = verdict[NULL_THIRD] = 0.0
    return saved > 0.0


@inner
def _judge_by_freedom(s, size, column, g, wants):
    """Judge by a chi-square distribution: by its critical value, which is quicker than p-values."""
    stay_apart()
    verdict, sums, statistic = s.verdict, s.sums, g
    if s.divergence != 0.0:
        need_table(s, size, column)
        sum_divergence(s)
        statistic = max(sums[PEARSON] / s.pearson_scale, 0.0)
    freedom = (s.levels[column] - 1) * (s.n_y - 1) * sums[OWN_STRATA]
    if s.is_adjusted:
        if statistic < _critical(s, 1) and wants != ALL:  # more freedom takes a larger statistic
            return False
        if s.divergence == 0.0:
            need_table(s, size, column)
            sum_freedom(s)
        freedom = sums[FREEDOM]
    verdict[STATISTIC], verdict[FREE] = statistic, freedom
    verdict[NULL_MEAN], verdict[NULL_VARIANCE], verdict[NULL_THIRD] = (
        freedom, 2.0 * freedom, 8.0 * freedom
    )  # fmt: skip
    depends = freedom > 0 and statistic >= _critical(s, freedom)
    if freedom > 0 and (wants == ALL or (wants != DECISION and depends)):
        verdict[LOG2_P] = verdict[SECOND_LOG2_P] = log2_p_value(statistic, freedom, s.addresses)
    return depends


@inner
def _critical(s, freedom):
    """Smallest statistic that counts as a dependence."""
    if freedom >= s.critical.size:
        return critical_value(freedom, s.alpha, s.addresses)
    if s.critical[freedom] < 0.0:
        s.critical[freedom] = critical_value(freedom, s.alpha, s.addresses)
    return s.critical[freedom]


@inner
def _judge_by_moments(s, size, column, g, wants):
    """Judge by X2 and, where that is unlikely, by G, each by the moments given the margins.

    The p-value is never below that of G with one degree of freedom, so most tests end before their
    table is looked at. One with G = 0 may have nothing to compare, which is to be told.
    """
    stay_apart()
    verdict, bounds = s.verdict, s.bounds
    if wants != ALL and 0.0 < g < bounds[LEAST_G]:
        verdict[IS_RELIABLE] = 1.0
        return False
    need_table(s, size, column)
    sum_pearson(s, column)
    x2, mean = max(s.sums[PEARSON] / s.pearson_scale, 0.0), s.sums[MEAN] / s.pearson_scale
    variance = s.sums[VARIANCE] / s.variance_scales[column]
    third = s.sums[THIRD] / s.third_scales[column]
    verdict[NULL_MEAN], verdict[NULL_VARIANCE], verdict[NULL_THIRD] = mean, variance, third
    verdict[STATISTIC], verdict[FREE], verdict[IS_RELIABLE] = x2, 0.0, variance > 0.0
    if variance <= 0.0:
        return False
    verdict[FREE] = mean
    by_x2 = log2_type_three(x2, mean, variance, third, s.addresses)
    verdict[LOG2_P] = verdict[SECOND_LOG2_P] = by_x2
    if by_x2 <= bounds[UNLIKELY]:
        _judge_by_g(s, g, max(third, 0.0) / (variance * math.sqrt(variance)))
    verdict[LOG2_P] = max(verdict[LOG2_P], log2_p_value(g, 1.0, s.addresses))
    return verdict[LOG2_P] <= s.log2_alpha


@inner
def _judge_by_g(s, g, skewness_of_x2):
    """Have G decide, if it varies.

    Its third cumulant has no closed form. A gamma distribution of its mean and variance is too
    light in the tail where margins are skewed, and one as skewed as X2 is too heavy; the skewness
    is taken to be the geometric mean of these two.
    """
    mean, variance = sum_g_moments(s)
    if variance > 0.0 and mean > 0.0:
        deviation, verdict = math.sqrt(variance), s.verdict
        third = math.sqrt(2.0 * deviation / mean * skewness_of_x2) * variance * deviation
        verdict[STATISTIC], verdict[FREE], verdict[BY_OTHER] = g, mean, 1.0
        verdict[LOG2_P] = log2_type_three(g, mean, variance, third, s.addresses)


@patient_kernel(lambda *_: True)
def has_power(verdict, noncentrality, log2_alpha, addresses):
    """Whether a test would see a dependence of some noncentrality in four cases of five.

    A statistic with mean m and variance v under independence has, roughly, mean m + c and variance
    v + 4 c under a dependence of noncentrality c.
    """
    mean, variance, third = verdict[NULL_MEAN], verdict[NULL_VARIANCE], verdict[NULL_THIRD]
    if variance <= 0.0:
        return False
    spread = math.sqrt(variance + 4.0 * noncentrality)
    low = max(mean + noncentrality - POWER_DEVIATIONS * spread, 0.0)
    return log2_type_three(low, mean, variance, third, addresses) <= log2_alpha
