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

from komb.citests.contract import RuleTest
from komb.citests.registry import register_test
from komb.engine.rule import CODED_ROWS_PER_CELL, Rule

UNRELIABLE_NOTE = (
    "Caution: {tests} had too few rows per cell for test {test} to be trusted. Collect more rows, "
    "merge rare levels or exclude columns with many levels."
)


@register_test(
    "sci",
    summary="Stochastic complexity: dependent if one column shortens the other's code. No alpha.",
    citation="Marx & Vreeken (2019), Testing Conditional Independence on Discrete Data using "
    "Stochastic Complexity, AISTATS",
)
class StochasticComplexityTest(RuleTest):
    """Stochastic complexity for every test."""

    unreliable_note: ClassVar[str] = UNRELIABLE_NOTE

    def rule(self, alpha: float) -> Rule:
        """Describe the test to the compiled judge."""
        return Rule(
            alpha, "sci", coded_below=math.inf, other_name="sci", reliable_from=CODED_ROWS_PER_CELL
        )
