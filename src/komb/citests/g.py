"""The likelihood-ratio test G.

``G = 2 sum n_xyz ln(n_xyz n_z / (n_xz n_yz))``, twice the log-likelihood that ``X`` adds to the
prediction of ``Y`` from ``Z``; under independence it is, for large samples, chi-square distributed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from komb.citests.contract import CITest, GScreen, TestOptions
from komb.citests.decision import make_formula, thresholds
from komb.citests.formula import Formula
from komb.citests.measure import ROWS_PER_CELL, BoolArray, Measurement, TestSums
from komb.citests.registry import register_test
from komb.counts.fixedpoint import FloatArray, Int64Array


def g_statistic(sums: TestSums) -> FloatArray:
    """``G`` of each test; rounding below zero is cut off."""
    statistic: FloatArray = np.maximum(2.0 * math.log(2.0) * sums.gain, 0.0)
    return statistic


def degrees_of_freedom(sums: TestSums, df: str) -> Int64Array:
    """Degrees of freedom by the rule ``observed`` or ``adjusted``.

    ``observed``: ``(|X| - 1)(|Y| - 1)`` for every observed stratum. ``adjusted``: the same with the
    levels that occur in the stratum, so that empty rows and columns take no freedom.
    """
    if df == "adjusted":
        return sums.adjusted_freedom
    freedom: Int64Array = (sums.levels - 1) * (sums.target_levels - 1) * sums.strata
    return freedom


@register_test(
    "g",
    summary="Likelihood-ratio test at level alpha.",
    citation="Spirtes, Glymour & Scheines (2000), Causation, Prediction, and Search, ch. 5",
)
class GTest(CITest):
    """The likelihood-ratio test alone, sparse tables or not."""

    can_screen: ClassVar[bool] = True
    has_df_rule: ClassVar[bool] = True
    symbols: ClassVar[Mapping[str, str]] = {"g": "G"}

    def __init__(self, options: TestOptions) -> None:
        super().__init__(options)
        self.needs_tables = options.df == "adjusted"  # summed over the table of each test

    def measure(self, sums: TestSums) -> Measurement:
        """Measure a batch."""
        return Measurement(
            g_statistic(sums), degrees_of_freedom(sums, self.options.df), sums.is_thick, "g"
        )

    def formula(self, alpha: float) -> Formula:
        """Describe the test to kernels."""
        return make_formula(
            alpha, is_adjusted=self.options.df == "adjusted", reliable_from=ROWS_PER_CELL
        )

    def screen(self, sums: TestSums, alpha: float) -> BoolArray:
        """Tell which tests could be dependences, without the freedom of their tables.

        A p-value falls with the degrees of freedom, of which a dependence has one at least.
        """
        return is_possible(sums, alpha)

    def screen_by_g(self, freedom: Int64Array, alpha: float) -> GScreen:
        """Return the critical values; on thin tables tests are called unreliable one by one."""
        if self.needs_tables:
            return GScreen(thresholds(np.ones_like(freedom), alpha), rows_per_cell=0.0)
        return GScreen(thresholds(freedom, alpha), ROWS_PER_CELL)


def is_possible(sums: TestSums, alpha: float) -> BoolArray:
    """Whether ``G`` is large enough for a dependence with a single degree of freedom."""
    possible: BoolArray = g_statistic(sums) >= thresholds(np.ones(1, dtype=np.int64), alpha)
    return possible
