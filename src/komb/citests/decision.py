"""The one place where a statistic is compared with a threshold.

A statistic with degrees of freedom says "dependent" when its p-value is at most ``alpha``, that is
when it reaches the critical value; with no freedom left (df 0) it never does. A statistic without
degrees of freedom (a difference of code lengths) says "dependent" when it is positive. A test that
brings p-values along, of a sample or of a distribution of its own, says "dependent" when they are
at most ``alpha``.
"""

from __future__ import annotations

import functools

import numpy as np

from komb.citests.formula import Formula
from komb.citests.measure import NO_FREEDOM, BoolArray, Measurement, Resampled, Tail
from komb.counts.fixedpoint import FloatArray, Int64Array

_TABLED = 1024  # critical values kept in an array; larger freedoms are looked up one by one
_KNOWN_TO_KERNELS = 1 << 14  # the same in kernels, which compute the others when they need them
_SMALLEST_POSITIVE = 5e-324

# From one degree of freedom on, a statistic that is no larger than its freedom has a p-value of
# more than 0.317; it is quicker to see that than to compute it.
_NEVER_BELOW = 0.3

POWER_DEVIATIONS = 0.84
"""Below the mean, so that four cases of five are above."""


@functools.lru_cache(maxsize=32)
def _critical_table(alpha: float) -> FloatArray:
    from scipy.special import chdtri

    table: FloatArray = chdtri(np.arange(_TABLED, dtype=np.float64), alpha)
    table[0] = np.inf
    return table


@functools.lru_cache(maxsize=1 << 16)
def _critical_value(freedom: int, alpha: float) -> float:
    from scipy.special import chdtri

    return float(chdtri(float(freedom), alpha))


@functools.lru_cache(maxsize=32)
def make_formula(
    alpha: float,
    *,
    is_pearson: bool = False,
    is_adjusted: bool = False,
    coded_below: float = 0.0,
    is_fallback: bool = False,
    reliable_from: float,
) -> Formula:
    """Describe a test to kernels; they need the critical values of this module.

    Kernels that compute more critical values add them for whoever has the same formula.
    """
    from komb.counts.chi_square_kernels import functions

    critical = np.full(_KNOWN_TO_KERNELS, -1.0)
    critical[:_TABLED] = _critical_table(alpha)
    return Formula(
        is_pearson, is_adjusted, coded_below, is_fallback, reliable_from, alpha, critical,
        functions(),
    )  # fmt: skip


def thresholds(freedom: Int64Array, alpha: float) -> FloatArray:
    """Smallest statistic that counts as dependence, for each number of degrees of freedom."""
    tabled = np.minimum(freedom, _TABLED - 1)
    result: FloatArray = _critical_table(alpha)[np.maximum(tabled, 0)]
    result[freedom == NO_FREEDOM] = _SMALLEST_POSITIVE
    for index in (freedom >= _TABLED).nonzero()[0]:
        result[index] = _critical_value(int(freedom[index]), alpha)
    return result


def is_dependent(measured: Measurement, alpha: float) -> BoolArray:
    """Decide every test of a batch."""
    if measured.resampled is not None:
        small: BoolArray = measured.resampled.p_value <= alpha
        return small
    if measured.log2_p_value is not None:
        return np.asarray(measured.log2_p_value <= np.log2(alpha))
    return _reaches(measured.statistic, measured.freedom, alpha)


def _all_reach(tails: tuple[Tail, ...], alpha: float) -> BoolArray:
    """Whether the p-values of all tails are at most ``alpha``; the quickest should come first."""
    decisions = np.ones(len(tails[0].statistic), dtype=np.bool_)
    for statistic, freedom in tails:
        is_open = decisions.nonzero()[0]
        decisions[is_open] = _reaches(statistic[is_open], freedom[is_open], alpha)
    return decisions


def _reaches(statistic: FloatArray, freedom: Int64Array | FloatArray, alpha: float) -> BoolArray:
    """Whether the p-value of each statistic is at most ``alpha``."""
    if freedom.dtype.kind == "i":
        decisions: BoolArray = statistic >= thresholds(freedom.astype(np.int64), alpha)
        return decisions
    from scipy.special import chdtrc

    decisions = freedom > 0
    if alpha < _NEVER_BELOW:
        decisions &= (statistic > freedom) | (freedom < 1)
    is_open = decisions.nonzero()[0]
    decisions[is_open] = chdtrc(freedom[is_open], statistic[is_open]) <= alpha
    return decisions


def strengths(measured: Measurement, alpha: float) -> FloatArray:
    """Evidence for dependence of each test of a batch, in bits; 0 where it says "independent".

    A p-value of 2^-b is b bits. A code that saves b bits is as rare under independence as a p-value
    of 2^-b, or rarer, so the two kinds of statistics are on one scale.
    """
    if measured.resampled is not None:
        bits = _resampled_bits(measured.statistic, measured.resampled)
    elif measured.log2_p_value is not None:
        bits = -measured.log2_p_value
    else:
        bits = np.array(measured.statistic, dtype=np.float64)
        has_freedom = measured.freedom > 0
        bits[has_freedom] = -log2_p_values(bits[has_freedom], measured.freedom[has_freedom])
    bits[~is_dependent(measured, alpha)] = 0.0
    return bits


def confirmed_strengths(measured: Measurement, alpha: float) -> FloatArray:
    """Return strengths with no more bits than another statistic of the same table gives.

    Far out in the tail no approximation is exact; where a test has two statistics, both are asked.
    """
    return confirmed(strengths(measured, alpha), measured)


def confirmed(bits: FloatArray, measured: Measurement) -> FloatArray:
    """Return what another statistic of the same tables leaves of some strengths."""
    if measured.second_log2_p_value is None:
        return bits
    return np.minimum(bits, np.maximum(-measured.second_log2_p_value, 0.0))


def _resampled_bits(statistics: FloatArray, resampled: Resampled) -> FloatArray:
    """Bits of p-values that were found by sampling.

    Many are the smallest that the sample can give. Those differ by less than one bit:
    ``b / (1 + b)`` with the bits ``b`` that the tail of a scaled chi-square with the mean and the
    variance of the sample would give.
    """
    bits: FloatArray = -np.log2(resampled.p_value)
    is_tied = (resampled.p_value <= resampled.smallest) & (resampled.variance > 0)
    mean, variance = resampled.mean[is_tied], resampled.variance[is_tied]
    scale = variance / (2 * mean)
    beyond = -log2_p_values(statistics[is_tied] / scale, mean / scale)
    bits[is_tied] += beyond / (1 + beyond)
    return bits


def log2_p_values(statistics: FloatArray, freedom: Int64Array | FloatArray) -> FloatArray:
    """Logarithms of p-values, also of those that underflow to zero."""
    from komb.counts import chi_square_kernels as kernels

    logarithms = np.empty(len(statistics))
    kernels.log2_p_values(
        np.ascontiguousarray(statistics, dtype=np.float64),
        np.ascontiguousarray(freedom, dtype=np.float64),
        kernels.functions(),
        logarithms,
    )
    return logarithms


def excess(measured: Measurement) -> FloatArray:
    """How far each statistic is above its mean under independence; 0 if it is below.

    That estimates the noncentrality of a dependence. A statistic without degrees of freedom has
    none.
    """
    mean = np.maximum(measured.freedom, 0)
    over: FloatArray = np.where(measured.freedom > 0, measured.statistic - mean, 0.0)
    return np.maximum(over, 0.0)


def has_power(measured: Measurement, noncentrality: FloatArray, alpha: float) -> BoolArray:
    """Whether each test would see a dependence of some noncentrality in four cases of five.

    A statistic with mean ``m`` and variance ``v`` under independence has, roughly, mean ``m + c``
    and variance ``v + 4 c`` under a dependence of noncentrality ``c``, and stays above its mean
    less 0.84 standard deviations in four cases of five.
    """
    moments = measured.moments
    if moments is not None:
        return _all_reach(moments.tails(_low(moments.mean, moments.variance, noncentrality)), alpha)
    freedom = np.maximum(np.asarray(measured.freedom, dtype=np.float64), 0.0)
    return _reaches(_low(freedom, 2.0 * freedom, noncentrality), freedom, alpha)


def _low(mean: FloatArray, variance: FloatArray, noncentrality: FloatArray) -> FloatArray:
    """Statistic that a dependence of some noncentrality exceeds in four cases of five."""
    spread = np.sqrt(variance + 4.0 * noncentrality)
    return np.maximum(mean + noncentrality - POWER_DEVIATIONS * spread, 0.0)


def p_values(measured: Measurement) -> list[float | None]:
    """P-value of each test of a batch; None for those that have none."""
    if measured.resampled is not None:
        return list(measured.resampled.p_value.tolist())
    if measured.log2_p_value is not None:
        return list(np.exp2(measured.log2_p_value).tolist())
    tests = zip(measured.statistic.tolist(), measured.freedom.tolist(), strict=True)
    return [p_value(statistic, freedom) for statistic, freedom in tests]


def p_value(statistic: float, freedom: float) -> float | None:
    """Chance of a statistic at least this large under independence; None without freedom."""
    from scipy.special import chdtrc

    if freedom == NO_FREEDOM:
        return None
    return 1.0 if freedom == 0 else float(chdtrc(float(freedom), statistic))
