"""Tests that sessions measure in Python, from the sums over tables that they count.

Or in kernels: a :class:`Formula` must lead to the very decisions that ``measure`` leads to.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np

from komb.citests.contract import AnyTest
from komb.citests.measure import BoolArray, Measurement, TestSums
from komb.counts.fixedpoint import FloatArray, Int64Array


class Formula(NamedTuple):
    """How a test decides.

    Attributes
    ----------
    is_pearson : bool
        Whether the statistic is Pearson's, not G.
    is_adjusted : bool
        Whether degrees of freedom are those of the levels that occur.
    coded_below : float
        Rows per cell below which code lengths decide; 0 for never.
    is_fallback : bool
        Whether a test that code lengths decide counts as one of a fall-back.
    reliable_from : float
        Rows per cell from which on a test is reliable.
    alpha : float
        Level.
    critical : float array
        Critical values by degrees of freedom; negative where they are not computed yet.
    addresses : int array
        Of the functions that kernels call.
    """

    is_pearson: bool
    is_adjusted: bool
    coded_below: float
    is_fallback: bool
    reliable_from: float
    alpha: float
    critical: FloatArray
    addresses: Int64Array

    @property
    def needs_tables(self) -> bool:
        """Whether sums over the table of each test are needed, not only those over sets."""
        return self.is_pearson or self.is_adjusted


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

        ``freedom`` is ``(|X| - 1)(|Y| - 1)`` for every observed stratum, of each test. Whoever
        overrides :meth:`measure` overrides this, too. None if ``G`` alone rules nothing out.
        """
        return None
