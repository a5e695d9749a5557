"""Compiled loops for the tails of X2 and of G: statistics against shifted gamma distributions.

The formulas are those of :meth:`komb.citests.measure.Moments.tails` and of
:mod:`komb.citests.auto`. A search asks for a few tests at a time, thousands of times: as array
operations the same would take longer than counting the tables.
"""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import math

from komb.counts.chi_square_kernels import log2_p_value
from komb.counts.compiling import inner, kernel


@kernel
def shift_gammas(statistic, mean, variance, third, least_skewness, most_skewness, by_three, by_two):
    """Write what a chi-square distribution is asked for, a statistic and its degrees of freedom.

    ``by_three`` is for the distribution of all three cumulants, ``by_two`` for that of mean and
    variance where the skewness is above ``most_skewness``, and the same as the other elsewhere.
    Returns whether it is above anywhere.
    """
    is_any_skewed = False
    for i in range(statistic.size):
        varies = variance[i] > 0.0
        own = variance[i] if varies else 1.0
        deviation = math.sqrt(own)
        slope = 4.0 / max(third[i] / (own * deviation), least_skewness)
        freedom = 0.5 * slope * slope if varies else 0.0
        by_three[0, i] = max(freedom + slope * (statistic[i] - mean[i]) / deviation, 0.0)
        by_three[1, i] = freedom
        if varies and slope < 4.0 / most_skewness:
            is_any_skewed = True
            scale = 2.0 * mean[i] / own
            by_two[0, i] = max(statistic[i], 0.0) * scale
            by_two[1, i] = mean[i] * scale
        else:
            by_two[0, i] = by_three[0, i]
            by_two[1, i] = freedom
    return is_any_skewed


@inner
def _log2_tail(statistic, mean, variance, third, skewness, addresses):
    """Logarithm of the p-value of a statistic that varies, the largest where there are two.

    ``skewness`` is the least and the most that :func:`shift_gammas` gets.
    """
    deviation = math.sqrt(variance)
    slope = 4.0 / max(third / (variance * deviation), skewness[0])
    freedom = 0.5 * slope * slope
    value = max(freedom + slope * (statistic - mean) / deviation, 0.0)
    logarithm = log2_p_value(value, freedom, addresses) if freedom > 0.0 else 0.0
    if slope < 4.0 / skewness[1]:
        scale = 2.0 * mean / variance
        by_two = 0.0
        if mean * scale > 0.0:
            by_two = log2_p_value(max(statistic, 0.0) * scale, mean * scale, addresses)
        logarithm = max(logarithm, by_two)
    return logarithm


@kernel
def judge_by_x2(x2, g, mean, variance, third, skewness, addresses, enough, by_x2, judged, asked):
    """Write the logarithms of the p-values of X2 into ``by_x2``, and of the tests into ``judged``.

    Returns how many tests G is to be asked about, those with logarithms of at most ``enough``; they
    are in ``asked``.
    """
    n_asked = 0
    for i in range(x2.size):
        by_x2[i] = judged[i] = 0.0
        if variance[i] > 0.0:
            by_x2[i] = _log2_tail(x2[i], mean[i], variance[i], third[i], skewness, addresses)
            judged[i] = by_x2[i]
            if by_x2[i] <= enough:
                asked[n_asked] = i
                n_asked += 1
            else:
                judged[i] = max(by_x2[i], log2_p_value(g[i], 1.0, addresses))
    return n_asked


@kernel
def judge_by_g(asked, g, mean, variance, x2_variance, x2_third, skewness, addresses, judged,
               decides):  # fmt: skip
    """Replace the logarithms of p-values of X2 by those of G in ``judged``, where G varies.

    ``mean`` and ``variance`` are those of G for each of the tests in ``asked``; all other arrays
    are of all tests. ``decides`` gets where G does.
    """
    for place in range(asked.size):
        i = asked[place]
        if variance[place] > 0.0 and mean[place] > 0.0:
            deviation = math.sqrt(variance[place])
            of_gamma = 2.0 * deviation / mean[place]
            of_x2 = max(x2_third[i], 0.0) / (x2_variance[i] * math.sqrt(x2_variance[i]))
            third = math.sqrt(of_gamma * of_x2) * variance[place] * deviation
            decides[i] = True
            judged[i] = _log2_tail(g[i], mean[place], variance[place], third, skewness, addresses)
        judged[i] = max(judged[i], log2_p_value(g[i], 1.0, addresses))
