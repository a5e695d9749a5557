"""Pearson's X2 against the distribution it has given the margins of the table.

If ``X`` and ``Y`` are independent given ``Z``, then the values of ``X`` in the rows of one stratum
of ``Z`` could as well stand in any other order. Over all these orders X2 has a mean, a variance and
a third cumulant, and all three follow from the margins of the strata in closed form (Haldane 1940;
Kazi-Aoual et al. 1995; the formulas are in :mod:`komb.counts.contingency`). On a thick table they
are near ``df``, ``2 df`` and ``8 df``, those of the chi-square distribution; on a thin one, with
many levels, many strata or rare values, they are not, and there chi-square misleads.

The null distribution is taken to be Pearson's type III, the shifted gamma distribution that has
these three cumulants: with skewness ``g`` it is a chi-square distribution with ``8 / g^2`` degrees
of freedom, a real number, for ``8 / g^2 + 4 z / g``, where ``z`` is how many standard deviations X2
is above its mean. Where there is no skewness, or one to the other side, that is all but a normal
distribution. Where the skewness is more than that of chi-square with one degree of freedom, X2 is
mostly one of a few values, and the larger p-value counts, this one or that of the gamma
distribution with the same mean and variance.

Nothing is drawn at random, and there are p-values as small as the table calls for. If X2 is the
same for every order, then the table says nothing: ``p = 1``, and the outcome is called unreliable.

A p-value is never smaller than that of G with one degree of freedom. Where margins are very skewed,
X2 owes its size to a few cells of small expectation, of which G makes less; and as G is a
difference of two sums over sets, most tests of a sweep are decided before their own table is
counted.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from komb.citests.g import g_statistic, is_possible
from komb.citests.measure import BoolArray, Measurement, Moments, Tail, TestSums
from komb.citests.registry import TestOptions, ci_test

NAME = "x2"
"""What decided."""


@ci_test(
    "auto",
    summary="Pearson's X2 with the moments it has given the margins, on thick tables and thin.",
    citation="Haldane (1940), The mean and variance of chi-squared, when used as a test of "
    "homogeneity, when expectations are small, Biometrika 31(3/4); Kazi-Aoual, Hitier, Sabatier & "
    "Lebreton (1995), Refined approximations to permutation tests for multivariate inference, "
    "Computational Statistics & Data Analysis 20(6)",
)
class AutomaticTest:
    """Pearson's statistic with the moments that it has given the margins."""

    length_below: ClassVar[float] = 0.0
    needs_tables = True

    def __init__(self, options: TestOptions) -> None:
        del options  # the margins say all

    def measure(self, sums: TestSums) -> Measurement:
        """Measure a batch."""
        statistic = np.maximum(sums.pearson, 0.0)
        moments = Moments(sums.pearson_mean, sums.pearson_variance, sums.pearson_third)
        varies = moments.variance > 0
        by_g = Tail(g_statistic(sums), np.ones(len(statistic), dtype=np.int64))
        return Measurement(
            statistic,
            np.where(varies, moments.mean, 0.0),
            varies,
            NAME,
            tails=(by_g, *moments.tails(statistic)),
            moments=moments,
        )

    def screen(self, sums: TestSums, alpha: float) -> BoolArray:
        """Tell which tests could be dependences: by definition those for which G is large enough.

        On tables of any kind.
        """
        return is_possible(sums, alpha)
