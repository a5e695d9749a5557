"""Pearson's chi-square test, summed over the strata of the condition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from komb.citests.contract import RuleTest
from komb.citests.counted import CountedTest
from komb.citests.g import degrees_of_freedom
from komb.citests.measure import Measurement, TestSums
from komb.citests.registry import register_test
from komb.engine.rule import Rule


@register_test(
    "chi2",
    summary="Pearson's chi-square test at level alpha.",
    citation="Pearson (1900), Philosophical Magazine 50(302)",
)
class PearsonTest(RuleTest, CountedTest):
    """Pearson's statistic with the same degrees of freedom as G."""

    needs_tables = True
    has_df_rule: ClassVar[bool] = True
    symbols: ClassVar[Mapping[str, str]] = {"chi2": "chi-square"}

    def measure(self, sums: TestSums) -> Measurement:
        """Measure a batch."""
        statistic = np.maximum(sums.pearson, 0.0)
        freedom = degrees_of_freedom(sums, self.options.df)
        return Measurement(statistic, freedom, sums.is_thick, "chi2")

    def rule(self, alpha: float) -> Rule:
        """Describe the test to the compiled judge."""
        return Rule(alpha, "chi2", divergence=1.0, is_adjusted=self.options.df == "adjusted")
