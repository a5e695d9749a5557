"""Pearson's X2 against the distribution it has given the margins of the table.

If ``X`` and ``Y`` are independent given ``Z``, then the values of ``X`` in the rows of one stratum
of ``Z`` could as well stand in any other order. Over all these orders X2 has a mean and a variance,
and both follow from the margins of the strata in closed form (Haldane 1940; the formulas are in
:mod:`komb.counts.contingency`). On a thick table they are near ``df`` and ``2 df``, those of the
chi-square distribution; on a thin one, with many levels, many strata or rare values, they are not,
and there chi-square misleads.

The null distribution is taken to be the gamma distribution with this mean and this variance: its
shape is ``mean^2 / variance``, its scale ``variance / mean``. That is a chi-square distribution
with ``2 mean^2 / variance`` degrees of freedom, a real number, for ``2 X2 mean / variance``.
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
from komb.citests.measure import BoolArray, Measurement, Tail, TestSums
from komb.citests.registry import TestOptions, ci_test

NAME = "x2"
"""What decided."""


@ci_test(
    "auto",
    summary="Pearson's X2 with its mean and variance given the margins, on thick tables and thin.",
    citation="Haldane (1940), The mean and variance of chi-squared, when used as a test of "
    "homogeneity, when expectations are small, Biometrika 31(3/4)",
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
        mean, variance = sums.pearson_mean, sums.pearson_variance
        varies = variance > 0
        stretch = np.where(varies, 2.0 * mean / np.where(varies, variance, 1.0), 0.0)
        by_g = Tail(g_statistic(sums), np.ones(len(statistic), dtype=np.int64))
        by_moments = Tail(statistic * stretch, mean * stretch)
        freedom = np.where(varies, mean, 0.0)
        return Measurement(statistic, freedom, varies, NAME, tails=(by_g, by_moments))

    def screen(self, sums: TestSums, alpha: float) -> BoolArray:
        """Tell which tests could be dependences: by definition those for which G is large enough.

        On tables of any kind.
        """
        return is_possible(sums, alpha)
