"""G where it can be trusted, stochastic complexity where it cannot: the paper's choice.

With fewer than five rows per cell on average the null distribution of G is far from chi-square
(with three-level variables, 1000 rows and five conditions it rejects nearly always), so the code
lengths decide those tests instead. (Below one row per cell those fail too; the outcome says so.)
"""

from __future__ import annotations

from typing import ClassVar

from komb.citests.g import GTest
from komb.citests.registry import register_test
from komb.citests.sci import UNRELIABLE_NOTE
from komb.engine.rule import CODED_ROWS_PER_CELL, ROWS_PER_CELL, Rule


@register_test(
    "g-sci",
    summary="G; stochastic complexity where a table has fewer than 5 rows per cell.",
    citation="Lee, Krishnamoorthy & Piatkowski (2026), High-Order Markov Blanket Discovery via a "
    "k-Order Relaxation of the Faithfulness Assumption, UAI",
)
class GThenStochasticComplexityTest(GTest):
    """G with a fall-back for sparse tables."""

    fallback: ClassVar[str] = "sci"
    unreliable_note: ClassVar[str] = UNRELIABLE_NOTE

    def rule(self, alpha: float) -> Rule:
        """Describe the test to the compiled judge."""
        return super().rule(alpha)._replace(
            coded_below=ROWS_PER_CELL, other_name=self.fallback, is_fallback=True,
            reliable_from=CODED_ROWS_PER_CELL,
        )  # fmt: skip
