r"""Information in bits per row, free of the bias that chance alone gives it.

The information on ``Y`` that ``X`` has given ``Z`` is estimated by ``G / (2 N ln 2)``, which is
positive even where there is none: the thinner the table, the more. If ``X`` and ``Y`` are
independent given ``Z``, the values of ``X`` in the rows of one stratum could be in any other order,
and over all these orders ``G`` has a mean that follows from the margins
(:mod:`komb.counts.expected_g_kernels`). Without it

.. math:: \hat I(Y; X | Z) = \frac{G - E[G]}{2 N \ln 2}

is zero on average where there is nothing, whatever the table, and may be negative. It is the
numerator of the adjusted mutual information (Vinh, Epps & Bailey 2010, *Information theoretic
measures for clusterings comparison: variants, properties, normalization and correction for chance*,
JMLR 11) for each stratum.
"""

from __future__ import annotations

import math

import numpy as np

from komb.citests.contract import CITest, TestOptions
from komb.citests.g import g_statistic
from komb.citests.measure import NO_FREEDOM, Measurement, TestSums
from komb.counts.expected_g import GMoments


class Information(CITest):
    """Bits per row beyond chance; a statistic without a test."""

    def __init__(self, options: TestOptions | None = None) -> None:
        super().__init__(options or TestOptions())
        self._expected: GMoments | None = None

    def measure(self, sums: TestSums) -> Measurement:
        """Measure a batch; what has too few rows per cell is called unreliable."""
        tests = sums.tests
        if self._expected is None:
            self._expected = tests.contingency.make_expected_g()
        chance, _ = self._expected.moments(
            tests.contingency, tests.sets, tests.set_of, tests.candidates
        )
        n_rows = np.maximum(sums.n_rows, 1)
        bits = (g_statistic(sums) - chance) / (2.0 * n_rows * math.log(2.0))
        freedom = np.full(len(bits), NO_FREEDOM)
        return Measurement(bits, freedom, sums.is_thick, "information")
