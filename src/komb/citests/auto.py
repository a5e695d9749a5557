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

On a thin table, one with fewer than 5 rows per cell, X2 is not the best statistic: it makes much of
rare cells, and G has more power. There ``p`` is the harmonic mean of two p-values,
``2 / (1 / p_X2 + 1 / p_G)``. The second is found in the same way: G against the gamma distribution
with the mean and the variance of G over all orders (:mod:`komb.counts.likelihood`). As these take
some time, they are left alone where they could change little, and that is part of the definition:

* ``p_X2 > 0.1``: ``p = p_X2``.
* ``p_X2 < 1e-6``: ``p = 2 p_X2``, the largest that the harmonic mean can be.
* G is the same for every order, X2 is not: ``p = p_X2``.

A p-value is never smaller than that of G with one degree of freedom. Where margins are very skewed,
X2 owes its size to a few cells of small expectation, of which G makes less; and as G is a
difference of two sums over sets, most tests of a sweep are decided before their own table is
counted.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from komb.citests.decision import tail_log2_p_values
from komb.citests.g import g_statistic, is_possible
from komb.citests.measure import BoolArray, Measurement, Tail, TestSums
from komb.citests.registry import TestOptions, ci_test
from komb.counts.contingency import Contingency
from komb.counts.expected_g import ExpectedG
from komb.counts.fixedpoint import FloatArray

NAME = "x2"
"""What decided."""

CLEAR = 1e-6
"""A p-value of X2 below is doubled on a thin table, whatever G is."""

UNLIKELY = 0.1
"""A p-value of X2 above stays as it is on a thin table, whatever G is."""

_LOG2_CLEAR, _LOG2_UNLIKELY = math.log2(CLEAR), math.log2(UNLIKELY)


@ci_test(
    "auto",
    summary="Pearson's X2, and G too on thin tables, with their moments given the margins.",
    citation="Haldane (1940), The mean and variance of chi-squared, when used as a test of "
    "homogeneity, when expectations are small, Biometrika 31(3/4)",
)
class AutomaticTest:
    """Pearson's statistic with the moments that it has given the margins."""

    length_below: ClassVar[float] = 0.0
    needs_tables = True

    def __init__(self, options: TestOptions) -> None:
        del options  # the margins say all
        self._expected: ExpectedG | None = None

    def measure(self, sums: TestSums) -> Measurement:
        """Measure a batch."""
        statistic = np.maximum(sums.pearson, 0.0)
        mean = sums.pearson_mean
        by_g = Tail(g_statistic(sums), np.ones(len(statistic), dtype=np.int64))
        by_moments = gamma_tail(statistic, mean, sums.pearson_variance)
        varies = by_moments.freedom > 0
        return Measurement(
            statistic,
            np.where(varies, mean, 0.0),
            varies,
            NAME,
            tails=(by_g, by_moments),
            partner=self._partner(sums, by_moments, by_g.statistic),
        )

    def _partner(self, sums: TestSums, by_x2: Tail, g: FloatArray) -> FloatArray | None:
        """Logarithms of the p-values to be combined with those of X2; None if all tables are thick.

        What is combined with itself stays as it is, and infinity doubles a p-value.
        """
        thin = np.flatnonzero(~sums.is_thick & (by_x2.freedom > 0))
        if not len(thin):
            return None
        partner = tail_log2_p_values(by_x2)
        own = partner[thin]
        asked = thin[(own >= _LOG2_CLEAR) & (own <= _LOG2_UNLIKELY)]
        partner[thin[own < _LOG2_CLEAR]] = np.inf
        if len(asked):
            tests = sums.tests
            self._expected = self._expected or make_expected(tests.contingency)
            mean, variance = self._expected.moments(
                tests.contingency.target, tests.sets, tests.set_of[asked], tests.candidates[asked]
            )
            by_g = gamma_tail(g[asked], mean, variance)
            varies = by_g.freedom > 0
            partner[asked[varies]] = tail_log2_p_values(by_g)[varies]
        return partner

    def screen(self, sums: TestSums, alpha: float) -> BoolArray:
        """Tell which tests could be dependences: by definition those for which G is large enough.

        On tables of any kind.
        """
        return is_possible(sums, alpha)


def gamma_tail(statistic: FloatArray, mean: FloatArray, variance: FloatArray) -> Tail:
    """Compare a statistic with the gamma distribution of this mean and variance."""
    varies = variance > 0
    stretch = np.where(varies, 2.0 * mean / np.where(varies, variance, 1.0), 0.0)
    return Tail(statistic * stretch, mean * stretch)


def make_expected(contingency: Contingency) -> ExpectedG:
    """Prepare the table of a contingency; it serves all targets."""
    return ExpectedG(contingency.codes, contingency.cardinalities)
