"""Permutation test: G against its own distribution, whatever the table looks like.

If ``X`` and ``Y`` are independent given ``Z``, then the values of ``X`` in the rows of one stratum
of ``Z`` could be in any other order, equally likely. Shuffle them within every stratum, and G of
the shuffled table is one more draw from the distribution that G has under independence, given the
margins. If ``g`` out of ``n`` shuffles are at least as large as the data, ``(1 + g) / (1 + n)`` is
a p-value that holds for any number of rows, levels or strata: nothing is assumed to be large.

Savings that keep it exact:

* Where ``g`` has reached ``ENOUGH``, no more is shuffled, and ``p = g / n`` (Besag & Clifford 1991,
  who show that this is as valid). Most tests of independent variables end after a few shuffles.
* Strata of one row, or with one level of either variable, never change and are left out. If there
  is nothing else, then ``p = 1``, and the outcome is called unreliable.
* Only counts are drawn, not rows, where that is faster (:mod:`komb.engine.kernels.shuffle`).

The number of shuffles is ``SHUFFLES``, or as many more as it takes for ``ENOUGH`` of them to be a
share of ``alpha``; so the smallest p-value is at most a tenth of ``alpha``.

The random numbers depend on the seed and on what is in the columns of the test, not on what was
tested before, nor on names or the order of columns. ``X`` and ``Y`` may change places.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from komb.citests.contract import CITest, TestOptions
from komb.citests.registry import register_test
from komb.engine.measurement import NO_FREEDOM, Measurement, Resampled
from komb.engine.shuffle import Shuffler, Shuffles
from komb.engine.test_sums import TestSums
from komb.errors import ParameterError

SHUFFLES = 999
"""Shuffles of a test, unless a small ``alpha`` needs more or an early stop fewer."""

ENOUGH = 10
"""Shuffles at least as large as the data after which a test stops."""

SMALLEST_ALPHA = 1e-5
"""Below, a single test would take more than a million shuffles."""


@register_test(
    "perm",
    summary="Permutation test of G: exact at level alpha however sparse the table; slower.",
    citation="Besag & Clifford (1991), Sequential Monte Carlo p-values, Biometrika 78(2)",
)
class PermutationTest(CITest):
    """G against shuffles of the candidate within the strata of the given set."""

    is_random: ClassVar[bool] = True
    symbols: ClassVar[Mapping[str, str]] = {"perm": "G"}
    unreliable_note: ClassVar[str] = (
        "Caution: {tests} had nothing to permute and count as independent: given the columns "
        "conditioned on, one of the two tested is constant. Collect more rows, merge rare levels "
        "or exclude columns with many levels."
    )

    def __init__(self, options: TestOptions) -> None:
        super().__init__(options)
        self._most = shuffles_for(options.alpha)
        self._shuffler: Shuffler | None = None

    def measure(self, sums: TestSums) -> Measurement:
        """Measure a batch of tests with equally many conditions."""
        if self._shuffler is None:
            self._shuffler = Shuffler(sums.source.counter.codes, sums.source.levels)
        numbers: dict[tuple[int, ...], int] = {}  # of the given sets
        tests = [sums.variables(test)[1:] for test in range(len(sums))]
        set_of = [numbers.setdefault(given, len(numbers)) for _, given in tests]
        shuffled = self._shuffler.run(
            sums.target, np.array(list(numbers), dtype=np.int64), np.array(set_of),
            np.array([x for x, _ in tests]), seed=self.options.seed, most=self._most, enough=ENOUGH,
        )  # fmt: skip
        nats = 2.0 * math.log(2.0)  # G is twice a difference of log-likelihoods in nats
        return Measurement(
            nats * shuffled.statistic,
            np.full(len(tests), NO_FREEDOM),
            shuffled.varies,
            "perm",
            Resampled(
                p_values(shuffled),
                self.smallest_p_value,
                nats * shuffled.mean,
                nats**2 * shuffled.variance,
            ),
        )

    @property
    def smallest_p_value(self) -> float:
        """That of data which are larger than all shuffles."""
        return 1 / (1 + self._most)


def p_values(shuffled: Shuffles) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """P-values of a batch, by Besag and Clifford's rule."""
    made, exceeded = shuffled.made, shuffled.exceedances
    is_stopped = exceeded >= ENOUGH
    return np.where(is_stopped, exceeded / np.maximum(made, 1), (exceeded + 1) / (made + 1))


def shuffles_for(alpha: float) -> int:
    """How many shuffles tests at level ``alpha`` take at most."""
    if alpha < SMALLEST_ALPHA:
        raise ParameterError.because(
            "alpha",
            f"be at least {SMALLEST_ALPHA} for test 'perm', which needs {ENOUGH} / alpha shuffles",
            alpha,
            "Try a larger alpha, or test='g' with df='adjusted'.",
        )
    return max(SHUFFLES, math.ceil(ENOUGH / alpha) - 1)
