"""The power divergence of Cressie and Read with lambda = 2/3, between Pearson's X2 and G.

``9 / 5 sum n_xyz ((n_xyz n_z / (n_xz n_yz))^(2/3) - 1)``; under independence it
is, for large samples, chi-square distributed, as are all power divergences.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from komb.citests.contract import RuleTest
from komb.citests.registry import register_test
from komb.engine.rule import Rule


@register_test(
    "cressie-read",
    summary="Power divergence between X2 and G (lambda = 2/3) at level alpha.",
    citation="Cressie & Read (1984), JRSS B 46(3)",
)
class CressieReadTest(RuleTest):
    """Less moved by cells of small expectation than X2, by empty cells than G."""

    has_df_rule: ClassVar[bool] = True
    symbols: ClassVar[Mapping[str, str]] = {"cressie-read": "CR"}

    def rule(self, alpha: float) -> Rule:
        """Describe the test to the compiled judge."""
        is_adjusted = self.options.df == "adjusted"
        return Rule(alpha, "cressie-read", divergence=2 / 3, is_adjusted=is_adjusted)
