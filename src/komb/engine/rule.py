"""What a test says to the compiled judge: which statistic, which degrees of freedom, what decides.

A :class:`Rule` is data. The judge (``kernels/judge.py`` and ``kernels/evidence.py``) is the only
place where a statistic is compared with a level.
"""

from __future__ import annotations

from typing import NamedTuple

ROWS_PER_CELL = 5.0
"""Rows per cell on average below which a likelihood-ratio or Pearson test is unreliable."""

CODED_ROWS_PER_CELL = 1.0
"""Rows per cell below which even code lengths are unreliable: they call independent variables
dependent (measured; at a quarter of a row per cell, always)."""


class Rule(NamedTuple):
    """How a test decides.

    Attributes
    ----------
    alpha : float
        Level.
    name : str
        What decides, such as "g".
    divergence : float
        Power of the power divergence that is the statistic: 0 for G, 1 for Pearson's X2.
    is_adjusted : bool
        Whether degrees of freedom are those of the levels that occur in each stratum.
    has_moments : bool
        Whether the null distribution has the moments given the margins (test ``auto``).
    coded_below : float
        Rows per cell below which code lengths decide; 0 for never, infinity for always.
    other_name : str
        What decides instead: where code lengths do, or where ``auto`` asks G.
    is_fallback : bool
        Whether those tests count as decided by a fall-back.
    reliable_from : float
        Rows per cell from which on a test is reliable.
    """

    alpha: float
    name: str
    divergence: float = 0.0
    is_adjusted: bool = False
    has_moments: bool = False
    coded_below: float = 0.0
    other_name: str = ""
    is_fallback: bool = False
    reliable_from: float = ROWS_PER_CELL
