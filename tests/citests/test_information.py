"""Information beyond chance: against all orders of the rows, and zero where there is nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.citests.information import Information
from komb.data.table import DiscreteTable
from komb.sessions.data import DataSession
from tests import naive

levels = st.integers(0, 2)


def bits(table: DiscreteTable, given_set: frozenset[int]) -> float:
    """What column 0 tells about column 1."""
    return float(DataSession(table, Information()).source.measure(1, [0], given_set).statistic[0])


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.lists(st.tuples(levels, levels, levels), min_size=2, max_size=7))
def test_twin(rows: list[tuple[int, int, int]]) -> None:
    table = DiscreteTable.from_codes(np.array(rows))
    x, y, z = (list(column) for column in zip(*rows, strict=True))
    assert bits(table, frozenset()) == pytest.approx(naive.information.beyond_chance(x, y))
    assert bits(table, frozenset({2})) == pytest.approx(naive.information.beyond_chance(x, y, [z]))


@pytest.mark.parametrize(
    ("n_rows", "n_levels", "n_given"), [(200, 2, 0), (200, 5, 1), (200, 3, 2), (50, 10, 1)]
)
def test_nothing_is_zero_on_average(n_rows: int, n_levels: int, n_given: int) -> None:
    """Thick tables or thin ones; without the correction, ten standard errors too much."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, n_levels, (n_rows, 201 + n_given))
    table = DiscreteTable.from_codes(codes)
    source = DataSession(table, Information()).source
    given_set = frozenset(range(1, 1 + n_given))
    candidates = list(range(1 + n_given, 201 + n_given))
    found = source.measure(0, candidates, given_set).statistic
    error = found.std() / np.sqrt(len(found))
    conditions = [codes[:, z].tolist() for z in sorted(given_set)]
    plain = [
        naive.information.plain(codes[:, x].tolist(), codes[:, 0].tolist(), conditions)
        for x in candidates[:20]
    ]
    assert abs(found.mean()) < 3 * error
    assert np.mean(plain) > 10 * error


def test_what_is_thin_is_unreliable() -> None:
    table = DiscreteTable.from_codes(np.random.default_rng(0).integers(0, 4, (100, 3)))
    source = DataSession(table, Information()).source
    assert source.measure(1, [0], frozenset()).is_reliable.tolist() == [True]
    assert source.measure(1, [0], frozenset({2})).is_reliable.tolist() == [False]
