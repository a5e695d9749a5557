"""G, and Pearson's X2, against the distributions they have given the margins of the table.

If ``X`` and ``Y`` are independent given ``Z``, then the values of ``X`` in the rows of one stratum
of ``Z`` could be in any other order, equally likely. Over all these orders X2 has a mean, a
variance and a third cumulant, and all three follow from the margins of the strata in closed form
(Haldane 1940; Kazi-Aoual et al. 1995; the formulas are in :mod:`komb.counts.contingency`). On a
dense table they are near ``df``, ``2 df`` and ``8 df``, those of the chi-square distribution; on a
sparse one, with many levels, many strata or rare values, they are not, and there chi-square
misleads.

The null distribution is taken to be Pearson's type III, the shifted gamma distribution that has
these three cumulants: with skewness ``g`` it is a chi-square distribution with ``8 / g^2`` degrees
of freedom, a real number, for ``8 / g^2 + 4 z / g``, where ``z`` is how many standard deviations X2
is above its mean. Where there is no skewness, or a negative one, that is all but a normal
distribution. Where the skewness is more than that of chi-square with one degree of freedom, X2 is
mostly one of a few values, and the larger p-value counts, this one or that of the gamma
distribution with the same mean and variance.


X2 weighs a few cells of small expectation heavily; G has more power with many levels. G has a
mean and a variance over all orders of the rows too (:mod:`komb.counts.expected_g_kernels`). They
take more time, so G is asked only where ``p_X2 <= 0.1``, and then it decides; elsewhere X2 does.
The third cumulant of G has no closed form. A gamma distribution of its mean and variance is too
light in the tail where margins are skewed, and one as skewed as X2 is too heavy, so the skewness of
G is taken to be the geometric mean of these two. That was chosen by simulation.

Nothing is drawn at random, and there are p-values as small as the table calls for. If X2 is the
same for every order, then the table says nothing: ``p = 1``, and the outcome is called unreliable.

A p-value is never smaller than that of G for a chi-square distribution with one degree of freedom.
As G is a difference of two sums over sets, that decides most tests of a sweep before their own
table is counted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from komb.citests.contract import CITest, GScreen, TestOptions
from komb.citests.decision import thresholds
from komb.citests.g import g_statistic, is_possible
from komb.citests.measure import (
    LEAST_SKEWNESS,
    MOST_SKEWNESS,
    BoolArray,
    Measurement,
    Moments,
    TestSums,
)
from komb.citests.mixed.combination import COMPONENTS
from komb.citests.registry import register_test
from komb.counts.expected_g import GMoments
from komb.counts.fixedpoint import FloatArray, Int64Array

BY_G, BY_X2 = "g", "x2"
"""What decided."""

UNLIKELY = 0.1
"""Where the p-value of X2 is above, G is not asked."""

_SKEWNESS = np.array([LEAST_SKEWNESS, MOST_SKEWNESS])  # as kernels want it


@register_test(
    "auto",
    summary="Pearson's X2, then G, each with its moments given the margins; for any table.",
    citation="Haldane (1940), The mean and variance of chi-squared, when used as a test of "
    "homogeneity, when expectations are small, Biometrika 31(3/4); Kazi-Aoual, Hitier, Sabatier & "
    "Lebreton (1995), Refined approximations to permutation tests for multivariate inference, "
    "Computational Statistics & Data Analysis 20(6)",
)
class AutomaticTest(CITest):
    """G, after Pearson's statistic, each with the moments that it has given the margins."""

    needs_tables = True
    can_screen: ClassVar[bool] = True
    takes_numbers: ClassVar[bool] = True
    symbols: ClassVar[Mapping[str, str]] = {BY_G: "G", BY_X2: "X2"} | dict.fromkeys(
        COMPONENTS, "chi-square"
    )
    unreliable_note: ClassVar[str] = (
        "{tests} had nothing to compare and count as independent: given the columns conditioned "
        "on, one of the two tested is constant."
    )

    def __init__(self, options: TestOptions) -> None:
        super().__init__(options)
        self._expected: GMoments | None = None

    def measure(self, sums: TestSums) -> Measurement:
        """Measure a batch."""
        return self._measure(sums, UNLIKELY)

    def measure_strong(self, sums: TestSums, alpha: float) -> Measurement:
        """Measure without asking G where X2 has a p-value above ``alpha``."""
        return self._measure(sums, min(alpha, UNLIKELY))

    def _measure(self, sums: TestSums, unlikely: float) -> Measurement:
        from komb.counts.chi_square_kernels import functions
        from komb.counts.gamma_tail_kernels import judge_by_g, judge_by_x2

        statistic, g = np.maximum(sums.pearson, 0.0), g_statistic(sums)
        moments = Moments(sums.pearson_mean, sums.pearson_variance, sums.pearson_third)
        varies = moments.variance > 0
        freedom = np.where(varies, moments.mean, 0.0)
        by_x2, judged = np.empty((2, len(g)))
        asked = np.empty(len(g), dtype=np.int64)
        n_asked = judge_by_x2(
            statistic, g, *moments, _SKEWNESS, functions(), math.log2(unlikely), by_x2, judged,
            asked,
        )  # fmt: skip
        decider: npt.NDArray[np.str_] | str = BY_X2
        if n_asked:
            asked = asked[:n_asked]
            mean, variance = self._expect_g(sums, asked)
            decides = np.zeros(len(g), dtype=np.bool_)
            judge_by_g(
                asked, g, mean, variance, moments.variance, moments.third, _SKEWNESS, functions(),
                judged, decides,
            )  # fmt: skip
            statistic[decides] = g[decides]
            freedom[asked] = np.where(decides[asked], mean, freedom[asked])
            decider = np.where(decides, BY_G, BY_X2)
        return Measurement(
            statistic,
            freedom,
            varies,
            decider,
            log2_p_value=judged,
            second_log2_p_value=by_x2,
            moments=moments,
        )

    def _expect_g(self, sums: TestSums, asked: Int64Array) -> tuple[FloatArray, FloatArray]:
        """Return the mean and the variance of G for some tests."""
        tests = sums.tests
        if self._expected is None:
            self._expected = tests.contingency.make_expected_g()
        return self._expected.moments(
            tests.contingency, tests.sets, tests.set_of[asked], tests.candidates[asked]
        )

    def screen(self, sums: TestSums, alpha: float) -> BoolArray:
        """Tell which tests could be dependences: by definition those for which G is large enough.

        On tables of any kind.
        """
        return is_possible(sums, alpha)

    def screen_by_g(self, freedom: Int64Array, alpha: float) -> GScreen:
        """Return what :meth:`screen` compares with."""
        return GScreen(thresholds(np.ones_like(freedom), alpha), rows_per_cell=0.0)
