"""G with a null distribution that holds on thin tables.

On a thick table ``G`` is compared with the chi-square distribution of its (adjusted) degrees of
freedom. On a thin one that is wrong both ways: with many levels ``G`` is far too silent, with many
strata far too loud. There the table is shuffled a few times within the strata of the given set, as
in :mod:`~komb.citests.perm`, not to count how often ``G`` is exceeded but to see how large it is
under independence, and how much that varies. A chi-square distribution of that mean and variance
then stands for the null distribution: ``df = 2 mean^2 / variance``, and the statistic is ``G df /
mean``. (Matching two moments is what Satterthwaite 1946 did for sums of squares.) Unlike a
permutation test of as many shuffles it gives small p-values where there are small ones, so members
can be ranked and many tests be made.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from komb.citests.g import g_statistic
from komb.citests.measure import BoolArray, Measurement, TestSums
from komb.citests.perm import ShufflerShelf
from komb.citests.registry import TestOptions, ci_test
from komb.counts.fixedpoint import FloatArray, Int64Array

SHUFFLES = 64
"""Of a thin table: the mean is then known to an eighth of a standard deviation."""


@ci_test(
    "auto",
    summary="G; on thin tables against the mean and variance that shuffles of the table give.",
    citation="Satterthwaite (1946), An Approximate Distribution of Estimates of Variance "
    "Components, Biometrics Bulletin 2(6)",
)
class AutomaticTest:
    """G, with moments from shuffles where chi-square does not hold."""

    length_below: ClassVar[float] = 0.0
    needs_tables = True  # the adjusted freedom is of the table

    def __init__(self, options: TestOptions) -> None:
        self._seed = options.seed
        self._shelf = ShufflerShelf()

    def measure(self, sums: TestSums) -> Measurement:
        """Measure a batch."""
        statistic, freedom = g_statistic(sums), sums.adjusted_freedom.copy()
        is_reliable = sums.is_thick
        doubtful = np.flatnonzero(~is_reliable & (freedom > 0))
        if len(doubtful):
            is_reliable = is_reliable.copy()
            is_reliable[doubtful] = self._match(sums, doubtful, statistic, freedom)
        return Measurement(statistic, freedom, is_reliable, "g")

    def _match(
        self, sums: TestSums, doubtful: Int64Array, statistic: FloatArray, freedom: Int64Array
    ) -> BoolArray:
        """Put matched statistics and freedoms in place; returns where there was what to shuffle."""
        tests = sums.tests
        shuffled = self._shelf.shuffler(tests.contingency).run(
            tests.sets, tests.set_of[doubtful], tests.candidates[doubtful],
            seed=self._seed, most=SHUFFLES, enough=SHUFFLES + 1,
        )  # fmt: skip
        nats = 2.0 * math.log(2.0)  # shuffles speak of half of G, in bits
        mean, variance = nats * shuffled.mean, nats**2 * shuffled.variance
        varies: BoolArray = shuffled.varies & (variance > 0)
        matched = np.maximum(np.rint(2 * mean[varies] ** 2 / variance[varies]), 1)
        where = doubtful[varies]
        statistic[where] *= matched / mean[varies]
        freedom[where] = matched.astype(np.int64)
        return varies
