"""When "independent" counts: the power a test must have."""

from __future__ import annotations

from komb.sessions.source import Power

VERY_THICK_ROWS_PER_CELL = 50.0
"""Rows per cell of a very thick table."""

LARGER_SHARE = 3.0
"""How many times the share a test on a very thick table has to see."""


def power_to_see(share: float) -> Power:
    """Return the power to see so large a share of a dependence."""
    return Power(share, LARGER_SHARE * share, VERY_THICK_ROWS_PER_CELL)
