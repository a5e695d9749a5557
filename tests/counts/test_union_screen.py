"""How the unions of a sweep are cut into rectangles."""

from __future__ import annotations

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.counts import union_screen
from komb.counts.contingency import Contingency
from komb.counts.union_screen import Need, Rectangle, UnionScreen
from komb.data.table import DiscreteTable
from komb.sessions.sweeps import colex_subsets


def make_screen(n_columns: int, size: int) -> UnionScreen:
    codes = np.random.default_rng(0).integers(0, 2, (50, n_columns + 1))
    table = DiscreteTable.from_codes(codes)
    columns = np.arange(1, n_columns + 1)
    sets = colex_subsets(n_columns, size)
    return UnionScreen(
        Contingency(table.codes, table.cardinalities, 0),
        columns,
        np.zeros(n_columns, dtype=np.int64),
        np.ones(n_columns, dtype=np.bool_),
        sets,
        256,
        Need(
            np.full((1, len(sets)), -(1 << 61)), np.zeros(257, dtype=np.int64), 0.0
        ),  # all are listed
    )


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(3, 40), st.integers(1, 2), st.integers(1, 200), st.integers(1, 20))
def test_every_union_is_in_one_rectangle(
    n_columns: int, size: int, room: int, sets_per_block: int
) -> None:
    screen = make_screen(n_columns, size)
    sets = colex_subsets(n_columns, size)
    before, union_screen.SETS_PER_BLOCK = union_screen.SETS_PER_BLOCK, sets_per_block
    try:
        parts = list(screen.cut(room))
    finally:
        union_screen.SETS_PER_BLOCK = before
    listed = []
    for part in parts:
        found = screen.screen(part)
        assert screen.count(part) == found.n_counted == len(found.given)
        unions = np.column_stack((sets[found.given], found.candidate))
        listed += [tuple(union) for union in unions.tolist()]
    assert len(listed) == len(set(listed))
    assert set(listed) == set(combinations(range(n_columns), size + 1))


@pytest.mark.parametrize("n_columns", [100, 5_000, 100_000])
def test_rectangles_of_wide_tables_have_many_sets(n_columns: int) -> None:
    """A block of columns is read once for all given sets of a rectangle, so few would be slow."""
    screen = UnionScreen.__new__(UnionScreen)
    screen._sets = np.arange(n_columns)[:, None]
    screen._n_lanes = 8
    screen._pool = SimpleNamespace(levels=range(n_columns))  # type: ignore[assignment]
    parts: list[Rectangle] = []
    for part in screen.cut(50_000):
        parts.append(part)
        if len(parts) == 20:
            break
    n_sets = {part.sets.stop - part.sets.start for part in parts}
    assert min(n_sets) >= min(union_screen.SETS_PER_BLOCK, n_columns)
    assert max(map(screen.count, parts)) <= 50_000
