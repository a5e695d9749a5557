"""SCI: independence by stochastic complexity.

The stochastic complexity of ``X`` given ``Z`` is its length under the normalised-maximum-likelihood
code, ``S(X|Z) = sum_z [n_z H(X|z) + log2 C(|X|, n_z)]``. ``Y`` and ``X`` are dependent given ``Z``
when knowing one shortens the code of the other. The cost of the model is part of the length, so
there is no level and no large-sample assumption. With less than about one row per cell it breaks
down all the same, towards dependence; such outcomes are marked unreliable.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from komb.citests.contract import CITest
from komb.citests.decision import make_formula
from komb.citests.formula import Formula
from komb.citests.measure import (
    CODED_ROWS_PER_CELL,
    NO_FREEDOM,
    ROUNDING,
    Measurement,
    TestSums,
)
from komb.citests.registry import register_test
from komb.counts.fixedpoint import FloatArray

UNRELIABLE_NOTE = (
    "Caution: {tests} had too few rows per cell for test {test} to be trusted. Collect more rows, "
    "merge rare levels or exclude columns with many levels."
)


def sci_statistic(sums: TestSums) -> FloatArray:
    """``max(S(X|Z) - S(X|Y,Z), S(Y|Z) - S(Y|X,Z))`` of each test, in bits."""
    saved = sums.gain + np.maximum(sums.candidate_saving, sums.target_saving)
    statistic: FloatArray = np.where(np.abs(saved) < ROUNDING, 0.0, saved)
    return statistic


@register_test(
    "sci",
    summary="Stochastic complexity: dependent if one column shortens the other's code. No alpha.",
    citation="Marx & Vreeken (2019), Testing Conditional Independence on Discrete Data using "
    "Stochastic Complexity, AISTATS",
)
class StochasticComplexityTest(CITest):
    """Stochastic complexity for every test."""

    length_below: ClassVar[float] = math.inf
    unreliable_note: ClassVar[str] = UNRELIABLE_NOTE

    def measure(self, sums: TestSums) -> Measurement:
        """Measure a batch."""
        n_tests = len(sums.levels)
        return Measurement(
            sci_statistic(sums), np.full(n_tests, NO_FREEDOM), sums.is_codable, "sci"
        )

    def formula(self, alpha: float) -> Formula:
        """Describe the test to kernels."""
        return make_formula(alpha, coded_below=math.inf, reliable_from=CODED_ROWS_PER_CELL)
