"""What a conditional-independence test is: the class that every test derives from.

A test turns counts into statistics. What it can do beyond that, and what it has to say about
itself, is part of this contract, with defaults that suit a plain test with p-values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, NamedTuple

import numpy as np

from komb.citests.formula import Formula
from komb.citests.measure import BoolArray, Measurement, TestSums
from komb.counts.fixedpoint import FloatArray, Int64Array

DF_RULES = ("observed", "adjusted")


@dataclass(frozen=True, slots=True)
class TestOptions:
    """What a test is built with; most need little of it.

    Attributes
    ----------
    df : {"observed", "adjusted"}
        Rule for the degrees of freedom.
    seed : int
        Of random numbers.
    alpha : float
        Level that p-values must be able to reach. Comparing with it is not for a test to do.
    """

    __test__ = False

    df: str = "observed"
    seed: int = 0
    alpha: float = 0.01


class GScreen(NamedTuple):
    """What the likelihood ratio ``G`` alone says about tests whose tables are not counted yet."""

    smallest: FloatArray  # G that could be a dependence, of each test
    rows_per_cell: float  # below which it says nothing


class CITest(ABC):
    """A statistic for conditional independence, made from sums over contingency tables.

    Only :meth:`measure` has to be written.

    Parameters
    ----------
    options : TestOptions

    Attributes
    ----------
    needs_tables : bool
        Whether it uses Pearson's sums or adjusted degrees of freedom, which are counted only then.
    length_below : float
        It uses code lengths for tests of fewer than this many rows per cell; 0 for never.
    can_screen : bool
        Whether :meth:`screen` can rule out dependences before tables are counted.
    has_df_rule : bool
        Whether the option ``df`` makes a difference.
    is_random : bool
        Whether it draws random numbers, so that its answers depend on the seed.
    takes_numbers : bool
        Whether numeric columns with many values are tested by their values, where those are at
        hand (``komb.citests.mixed``); tests that count see their bins.
    fallback : str or None
        What ``Measurement.decider`` says where a fall-back for sparse tables decided.
    symbols : mapping
        What the statistic is called in print, for each decider: ``{"g": "G"}``.
    unreliable_note : str
        What it means, and what helps, if tests were unreliable. ``{tests}`` stands for how many of
        how many tests, such as "3 of 120 tests"; ``{test}`` for the name of the test.
    """

    needs_tables: bool = False
    length_below: ClassVar[float] = 0.0
    can_screen: ClassVar[bool] = False
    has_df_rule: ClassVar[bool] = False
    is_random: ClassVar[bool] = False
    takes_numbers: ClassVar[bool] = False
    fallback: ClassVar[str | None] = None
    symbols: ClassVar[Mapping[str, str]] = MappingProxyType({})
    unreliable_note: ClassVar[str] = (
        "Caution: {tests} had too few rows per cell for test {test} to be trusted. Collect more "
        "rows, merge rare levels or exclude columns with many levels, or use test auto."
    )

    def __init__(self, options: TestOptions) -> None:
        self.options = options

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

    def formula(self, alpha: float) -> Formula | None:
        """Describe the test to kernels that decide it themselves; None if they cannot.

        Only for the tests of komb: kernels must come to the very decisions of :meth:`measure`.
        """
        return None

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

    @property
    def smallest_p_value(self) -> float:
        """The smallest p-value that it can give; 0 if there is no limit."""
        return 0.0
