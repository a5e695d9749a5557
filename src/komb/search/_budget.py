"""How much work a search may do."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

MAX_TESTS = 10**12
"""Tests that one step of a search may take if it was asked for: all pairs of a million columns."""

MAX_SETS = 2_000_000
"""Sets of columns that one step may condition on; a few hundred bytes are kept for each."""


def _now() -> float:
    """Read a monotonic clock."""
    return time.monotonic()


@dataclass(frozen=True, slots=True)
class Budget:
    """Time and work that a search may spend; the clock starts when the budget is made.

    A search asks before each step, and names the steps that it leaves out in
    :attr:`Found.omissions <komb.search.task.Found>`.

    Examples
    --------
    >>> Budget().is_spent(), Budget(seconds=1e-9).is_spent()
    (False, True)
    """

    seconds: float | None = None  # None: any time; otherwise the machine has a say in what is found
    max_tests: int = MAX_TESTS  # of one step; this depends on nothing but the table
    max_sets: int = MAX_SETS  # sets of columns that one step may condition on
    _began: float = field(default_factory=_now, compare=False)

    @property
    def seconds_used(self) -> float:
        """Time since the budget was made."""
        return _now() - self._began

    def is_spent(self) -> bool:
        """Whether the time is over."""
        return self.seconds is not None and self.seconds_used >= self.seconds
