"""G, and Pearson's X2, against the distributions they have given the margins of the table.

If ``X`` and ``Y`` are independent given ``Z``, then the values of ``X`` in the rows of one stratum
of ``Z`` could be in any other order, equally likely. Over all these orders X2 has a mean, a
variance and a third cumulant, and all three follow from the margins of the strata in closed form
(Haldane 1940; Kazi-Aoual et al. 1995; the formulas are in :mod:`komb.engine.kernels.pearson`). On a
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
mean and a variance over all orders of the rows too (:mod:`komb.engine.kernels.g_moments`). They
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

from collections.abc import Mapping
from typing import ClassVar

from komb.citests.contract import RuleTest
from komb.citests.registry import register_test
from komb.engine.features import COMPONENTS
from komb.engine.rule import Rule

BY_G, BY_X2 = "g", "x2"
"""What decided."""


@register_test(
    "auto",
    summary="Pearson's X2, then G, each with its moments given the margins; for any table.",
    citation="Haldane (1940), The mean and variance of chi-squared, when used as a test of "
    "homogeneity, when expectations are small, Biometrika 31(3/4); Kazi-Aoual, Hitier, Sabatier & "
    "Lebreton (1995), Refined approximations to permutation tests for multivariate inference, "
    "Computational Statistics & Data Analysis 20(6)",
)
class AutomaticTest(RuleTest):
    """G, after Pearson's statistic, each with the moments that it has given the margins."""

    takes_numbers: ClassVar[bool] = True
    symbols: ClassVar[Mapping[str, str]] = {BY_G: "G", BY_X2: "X2"} | dict.fromkeys(
        COMPONENTS, "chi-square"
    )
    unreliable_note: ClassVar[str] = (
        "{tests} had nothing to compare and count as independent: given the columns conditioned "
        "on, one of the two tested is constant."
    )

    def rule(self, alpha: float) -> Rule:
        """Describe the test to the compiled judge."""
        return Rule(alpha, BY_X2, divergence=1.0, has_moments=True, other_name=BY_G)
