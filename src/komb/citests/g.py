"""The likelihood-ratio test G.

``G = 2 sum n_xyz ln(n_xyz n_z / (n_xz n_yz))``, twice the log-likelihood that ``X`` adds to the
prediction of ``Y`` from ``Z``; under independence it is, for large samples, chi-square distributed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from komb.citests.contract import RuleTest
from komb.citests.registry import register_test
from komb.engine.rule import Rule


@register_test(
    "g",
    summary="Likelihood-ratio test at level alpha.",
    citation="Spirtes, Glymour & Scheines (2000), Causation, Prediction, and Search, ch. 5",
)
class GTest(RuleTest):
    """The likelihood-ratio test alone, sparse tables or not."""

    has_df_rule: ClassVar[bool] = True
    symbols: ClassVar[Mapping[str, str]] = {"g": "G"}

    def rule(self, alpha: float) -> Rule:
        """Describe the test to the compiled judge."""
        return Rule(alpha, "g", is_adjusted=self.options.df == "adjusted")
