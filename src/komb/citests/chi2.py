"""Pearson's chi-square test, summed over the strata of the condition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from komb.citests.contract import CITest
from komb.citests.decision import make_formula
from komb.citests.formula import Formula
from komb.citests.g import degrees_of_freedom
from komb.citests.measure import ROWS_PER_CELL, Measurement, TestSums
from komb.citests.registry import register_test


@register_test(
    "chi2",
    summary="Pearson's chi-square test at level alpha.",
    citation="Pearson (1900), Philosophical Magazine 50(302)",
)
class PearsonTest(CITest):
    """Pearson's statistic with the same degrees of freedom as G."""

    needs_tables = True
    has_df_rule: ClassVar[bool] = True
    symbols: ClassVar[Mapping[str, str]] = {"chi2": "chi-square"}

    def measure(self, sums: TestSums) -> Measurement:
        """Measure a batch."""
        statistic = np.maximum(sums.pearson, 0.0)
        freedom = degrees_of_freedom(sums, self.options.df)
        return Measurement(statistic, freedom, sums.is_thick, "chi2")

    def formula(self, alpha: float) -> Formula:
        """Describe the test to kernels."""
        return make_formula(
            alpha,
            is_pearson=True,
            is_adjusted=self.options.df == "adjusted",
            reliable_from=ROWS_PER_CELL,
        )
