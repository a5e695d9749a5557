"""Cells that occur, their information, and halves of the rows in them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.describe.cells import count_cells
from tests import naive

levels = st.integers(0, 2)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.tuples(levels, levels, levels, levels), min_size=1, max_size=40))
def test_twin(rows: list[tuple[int, ...]]) -> None:
    x, y, *z = np.array(rows).T
    cells = count_cells(np.stack([x, y]), [3, 3], z)
    expected = naive.information.plain(x.tolist(), y.tolist(), [each.tolist() for each in z])
    assert float(cells.information(cells.counts)) == pytest.approx(expected, abs=1e-12)
    assert sorted(cells.counts.tolist()) == sorted(Counter(rows).values())


def test_halves_are_halves() -> None:
    rng = np.random.default_rng(0)
    x, y, z = rng.integers(0, 3, (3, 101))
    cells = count_cells(np.stack([x, y]), [3, 3], [z])
    halves = cells.halves(40, rng)
    assert (halves.sum(axis=1) == 50).all()
    assert (halves >= 0).all()
    assert (halves <= cells.counts).all()
    assert halves.mean(axis=0) == pytest.approx(cells.counts / 2, abs=1.0)


def test_lines_are_tables() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 2, (2, 60))
    cells = count_cells(np.stack([x, y]), [2, 2], [])
    halves = cells.halves(3, rng)
    together = cells.information(halves)
    assert together.tolist() == [float(cells.information(half)) for half in halves]
