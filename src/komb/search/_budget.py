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

    Attributes
    ----------
    seconds : float or None
        Time that the search may take; ``None`` is any time. What is found then depends on the
        machine.
    max_tests : int
        Tests that one step of the search may take. It depends on nothing but the table.
    max_sets : int
        Sets of columns that one step may condition on.

    Examples
    --------
    >>> Budget().is_spent(), Budget(seconds=1e-9).is_spent()
    (False, True)
    """

    seconds: float | None = None
    max_tests: int = MAX_TESTS
    max_sets: int = MAX_SETS
    _began: float = field(default_factory=_now, compare=False)

    @property
    def seconds_used(self) -> float:
        """Time since the budget was made."""
        return _now() - self._began

    def is_spent(self) -> bool:
        """Whether the time is over."""
        return self.seconds is not None and self.seconds_used >= self.seconds
