"""Pearson's chi-square test, summed over the strata of the condition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from komb.citests.contract import RuleTest
from komb.citests.registry import register_test
from komb.engine.rule import Rule


@register_test(
    "chi2",
    summary="Pearson's chi-square test at level alpha.",
    citation="Pearson (1900), Philosophical Magazine 50(302)",
)
class PearsonTest(RuleTest):
    """Pearson's statistic with the same degrees of freedom as G."""

    has_df_rule: ClassVar[bool] = True
    symbols: ClassVar[Mapping[str, str]] = {"chi2": "chi-square"}

    def rule(self, alpha: float) -> Rule:
        """Describe the test to the compiled judge."""
        return Rule(alpha, "chi2", divergence=1.0, is_adjusted=self.options.df == "adjusted")
