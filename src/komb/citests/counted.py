"""Tests that sessions measure in Python, from the sums over tables that they count."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np

from komb.citests.contract import AnyTest
from komb.citests.measure import BoolArray, Measurement, TestSums
from komb.counts.fixedpoint import FloatArray, Int64Array


class GScreen(NamedTuple):
    """What the likelihood ratio ``G`` alone says about tests whose tables are not counted yet."""

    smallest: FloatArray  # G that could be a dependence, of each test
    rows_per_cell: float  # below which it says nothing


class CountedTest(AnyTest, ABC):
    """A statistic made from sums over contingency tables.

    Attributes
    ----------
    needs_tables : bool
        Whether it uses Pearson's sums or adjusted degrees of freedom, which are counted only then.
    length_below : float
        It uses code lengths for tests of fewer than this many rows per cell; 0 for never.
    can_screen : bool
        Whether :meth:`screen` can rule out dependences before tables are counted.
    """

    needs_tables: bool = False
    length_below: ClassVar[float] = 0.0
    can_screen: ClassVar[bool] = False

    @abstractmethod
    def measure(self, sums: TestSums) -> Measurement:
        """Turn sums into a statistic for each test of the batch."""

    def measure_strong(self, sums: TestSums, alpha: float) -> Measurement:
        """Measure where only p-values up to ``alpha`` matter, by every statistic of a test.

        Any other test may be measured by whatever shows that it has a larger one.
        """
        return self.measure(sums)

    def screen(self, sums: TestSums, alpha: float) -> BoolArray:
        """Tell which tests could be dependences at level ``alpha``, without tables of their own.

        False only where :meth:`measure` could never lead to "dependent". Called if ``can_screen``.
        """
        return np.ones(len(sums.levels), dtype=np.bool_)

    def screen_by_g(self, freedom: Int64Array, alpha: float) -> GScreen | None:
        """Return the smallest ``G`` with which tests could be dependences at level ``alpha``.

        With it most tests of a sweep are decided where they are counted. A test whose ``G`` is
        smaller, on a table with enough rows per cell, must never be a dependence, and nobody will
        miss what :meth:`measure` would have said about it: whether it was reliable, or which test
        decided. So whoever overrides :meth:`measure` overrides this, too.

        Parameters
        ----------
        freedom : int array
            ``(|X| - 1)(|Y| - 1)`` for every observed stratum, of each test.
        alpha : float

        Returns
        -------
        GScreen or None
            None if ``G`` alone rules nothing out.
        """
        return None
