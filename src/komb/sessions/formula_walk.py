"""kOMB's walk through the groups outside of a growing blanket, one compiled call a success."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from komb.counts.binomials import binomials
from komb.counts.contingency import Contingency
from komb.sessions.formula_tests import FormulaTests
from komb.sessions.questions import EMPTY, Dependence, Variables

_MOST_BYTES = 64 << 20  # of what is known of groups: beyond, walks are made in another way


class FormulaWalk:
    """As :class:`~komb.sessions.questions.GroupWalk`."""

    def __init__(
        self,
        tests: FormulaTests,
        contingency: Callable[[], Contingency],
        candidates: Variables,
        order: int,
        max_separator: int,
    ) -> None:
        self._tests = tests
        self._contingency = contingency
        self._candidates = candidates
        self._sizes = order, max_separator
        self._blanket = EMPTY
        self._generation = 0
        n_columns = len(contingency().cardinalities)
        self._walk = _make_walk(sorted(candidates), order, n_columns)

    def first_witness(self, blanket: Variables, on_pause: Callable[[], None]) -> Dependence | None:
        """Return the first candidate outside that has a witness, and that witness."""
        self._generation += 1
        self._walk.entered[list(blanket - self._blanket)] = self._generation
        self._blanket = blanket
        return self._tests.first_witness(
            self._contingency(),
            self._walk,
            self._candidates - blanket,
            blanket,
            self._sizes,
            self._generation,
            on_pause,
        )


def fits_memory(n_candidates: int, order: int, n_columns: int) -> bool:
    """Whether there is room for what a walk has to remember."""
    return 4 * n_columns * _count_groups(n_candidates, order) <= _MOST_BYTES


def _count_groups(n_candidates: int, order: int) -> int:
    """Count the groups that take allies."""
    return sum(math.comb(n_candidates, size) for size in range(order))


def _make_walk(candidates: list[int], order: int, n_columns: int) -> Any:
    from komb.sessions.formula_kernels.lot import Walk

    n = len(candidates)
    position = np.zeros(n_columns, dtype=np.int64)
    position[candidates] = np.arange(n)
    first = [_count_groups(n, size) for size in range(order + 1)]
    return Walk(
        entered=np.zeros(n_columns, dtype=np.int64),
        examined=np.zeros((max(first[order], 1), n_columns), dtype=np.int32),
        first=np.array(first, dtype=np.int64),
        position=position,
        binomials=binomials(n, order),
        last=np.full(order + 1, -1, dtype=np.int64),
    )
