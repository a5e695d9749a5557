"""Pearson's chi-square test, summed over the strata of the condition."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from komb.citests.g import degrees_of_freedom
from komb.citests.measure import Measurement, TestSums
from komb.citests.registry import TestOptions, ci_test


@ci_test(
    "chi2",
    summary="Pearson's chi-square test at level alpha.",
    citation="Pearson (1900), Philosophical Magazine 50(302)",
)
class PearsonTest:
    """Pearson's statistic with the same degrees of freedom as G."""

    length_below: ClassVar[float] = 0.0
    needs_tables = True

    def __init__(self, options: TestOptions) -> None:
        self.df = options.df

    def measure(self, sums: TestSums) -> Measurement:
        """Measure a batch."""
        statistic = np.maximum(sums.pearson, 0.0)
        return Measurement(statistic, degrees_of_freedom(sums, self.df), sums.is_thick, "chi2")
