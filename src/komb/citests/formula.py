"""Statistics that kernels know: what a test may hand over to be decided in compiled code.

A :class:`Formula` says in a few numbers what a test computes from the sums over its tables, so that
kernels can count, measure and decide thousands of tests without coming back to Python. It must
lead to the very decisions, to the last bit, that the test's own ``measure`` leads to.
"""

from __future__ import annotations

from typing import NamedTuple

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
