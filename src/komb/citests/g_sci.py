"""G where it can be trusted, stochastic complexity where it cannot: the paper's choice.

With fewer than five rows per cell on average the null distribution of G is far from chi-square
(with three-level variables, 1000 rows and five conditions it rejects nearly always), so the code
lengths decide those tests instead. (Below one row per cell those fail too; the outcome says so.)
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from komb.citests.contract import GScreen
from komb.citests.decision import make_formula
from komb.citests.formula import Formula
from komb.citests.g import GTest
from komb.citests.measure import (
    CODED_ROWS_PER_CELL,
    NO_FREEDOM,
    ROWS_PER_CELL,
    BoolArray,
    Measurement,
    TestSums,
)
from komb.citests.registry import register_test
from komb.citests.sci import UNRELIABLE_NOTE, sci_statistic
from komb.counts.fixedpoint import Int64Array


@register_test(
    "g-sci",
    summary="G; stochastic complexity where a table has fewer than 5 rows per cell.",
    citation="Lee, Krishnamoorthy & Piatkowski (2026), High-Order Markov Blanket Discovery via a "
    "k-Order Relaxation of the Faithfulness Assumption, UAI",
)
class GThenStochasticComplexityTest(GTest):
    """G with a fall-back for sparse tables."""

    length_below: ClassVar[float] = ROWS_PER_CELL
    fallback: ClassVar[str] = "sci"
    unreliable_note: ClassVar[str] = UNRELIABLE_NOTE

    def measure(self, sums: TestSums) -> Measurement:
        """Measure a batch."""
        by_g = super().measure(sums)
        is_thick = by_g.is_reliable
        if is_thick.all():
            return by_g
        return Measurement(
            np.where(is_thick, by_g.statistic, sci_statistic(sums)),
            np.where(is_thick, by_g.freedom, NO_FREEDOM),
            sums.is_codable,
            np.where(is_thick, "g", self.fallback),
        )

    def formula(self, alpha: float) -> Formula:
        """Describe the test to kernels."""
        return make_formula(
            alpha,
            is_adjusted=self.options.df == "adjusted",
            coded_below=self.length_below,
            is_fallback=True,
            reliable_from=CODED_ROWS_PER_CELL,
        )

    def screen(self, sums: TestSums, alpha: float) -> BoolArray:
        """Tell which tests could be dependences; code lengths have no say before they are known."""
        return super().screen(sums, alpha) | ~sums.is_thick

    def screen_by_g(self, freedom: Int64Array, alpha: float) -> GScreen:
        """Return what G needs where it decides."""
        return super().screen_by_g(freedom, alpha)._replace(rows_per_cell=ROWS_PER_CELL)
