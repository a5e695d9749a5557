"""When "independent" counts: the power a test must have."""

from __future__ import annotations

from komb.engine.engine import Power

DENSE_ROWS_PER_CELL = 50.0
"""Rows per cell from which on the formula for the power of a test can be trusted."""

LARGER_SHARE = 3.0
"""How many times the share a test on so dense a table has to detect."""


def power_to_detect(share: float) -> Power:
    """Return the power to detect so large a share of a dependence."""
    return Power(share, LARGER_SHARE * share, DENSE_ROWS_PER_CELL)
