"""Whether two columns are copies, whatever the number of their levels."""

from __future__ import annotations

import tracemalloc

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from komb.citests.data_session import DataSession
from komb.data import DiscreteTable

CODES = st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3)), min_size=1, max_size=12)


@given(CODES)
def test_by_hand(rows: list[tuple[int, int]]) -> None:
    if any(all(row[i] == -1 for row in rows) for i in (0, 1)):
        return
    table = DiscreteTable.from_codes(np.array(rows), missing="testwise")
    pairs = {(a, b) for a, b in rows if a >= 0 and b >= 0}
    is_copy = all((a == c) == (b == d) for a, b in pairs for c, d in pairs)
    assert DataSession(table, "g").are_copies(0, 1) == is_copy


def test_many_levels_take_no_table_of_all_pairs() -> None:
    n_levels = 20_000  # 400 MB for a byte per pair
    column = np.arange(n_levels)
    table = DiscreteTable.from_codes(np.column_stack([column, column[::-1]]))
    session = DataSession(table, "g")
    tracemalloc.start()
    assert session.are_copies(0, 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 * n_levels
