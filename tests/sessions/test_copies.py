"""Whether columns determine another one, without a table of all combinations of their levels."""

from __future__ import annotations

import tracemalloc

import numpy as np
import numpy.typing as npt
import pytest

from komb.data.table import DiscreteTable
from komb.sessions.data import DataSession


def session_of(*columns: npt.NDArray[np.int64]) -> DataSession:
    return DataSession(DiscreteTable.from_codes(np.column_stack(columns)), "auto")


@pytest.mark.parametrize("levels", [2, 300])
def test_a_copy_determines_a_column(levels: int) -> None:
    column = np.arange(1800) % levels
    session = session_of(column, (column + 1) % levels, column % 2)
    assert session.determines(frozenset({0}), 1)
    assert session.determines(frozenset({1}), 0)
    assert session.determines(frozenset({0}), 2)
    assert session.determines(frozenset({2}), 0) == (levels == 2)


def test_memory_does_not_grow_with_a_product_of_levels() -> None:
    column = np.tile(np.arange(20_000), 3)
    session = session_of(column, column[::-1], column)
    tracemalloc.start()
    assert session.determines(frozenset({0}), 2)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100 * len(column)
