"""A compiled loop for the arguments of tails: statistics against shifted gamma distributions.

The formulas are those of :meth:`komb.citests.measure.Moments.tails`.
"""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import math

from komb.counts.compiling import kernel


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
