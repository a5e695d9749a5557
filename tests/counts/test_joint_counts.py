"""Joint counts of parts, added up, are those of the whole table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.counts import joint_counts
from komb.counts.joint_counts import Columns, JointCounts, words_of
from komb.counts.joint_tables import JointTables
from komb.data.table import DiscreteTable
from tests import naive
from tests.counts.parts import PartsCounter
from tests.counts.tables import make_table, tables, tables_with_missing

some = settings(max_examples=40, deadline=None, derandomize=True)


def check_against_twin(table: DiscreteTable, counts: JointCounts) -> None:
    """A missing value is one more code, the last."""
    columns = table.codes.tolist()
    expected = naive.counts.joint_counts(columns, counts.columns)
    codes = counts.codes().T.tolist()
    found = {
        tuple(combination): count
        for combination, count in zip(codes, counts.counts.tolist(), strict=True)
        if count
    }
    assert found == dict(expected)
    assert counts.is_dense or (counts.counts > 0).all()


@st.composite
def lots(draw: st.DrawFn, n_columns: int) -> list[Columns]:
    sets = st.sets(st.integers(0, n_columns - 1), min_size=0, max_size=4)
    drawn = draw(st.lists(sets, min_size=1, max_size=12))
    return [tuple(sorted(columns)) for columns in drawn]


@some
@given(tables(n_rows=(1, 80)) | tables_with_missing(n_rows=(1, 80)), st.integers(1, 90), st.data())
@pytest.mark.parametrize("most_dense", [1 << 24, 0, 12])
def test_parts(most_dense: int, table: DiscreteTable, rows: int, data: st.DataObject) -> None:
    """Dense or listed, in parts of any size."""
    lot = data.draw(lots(table.n_columns))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joint_counts, "MOST_DENSE_CELLS", most_dense)
        for columns, counts in zip(lot, PartsCounter(table, rows).count(lot), strict=True):
            assert counts.columns == columns
            check_against_twin(table, counts)
            for place in range(len(columns)):
                check_against_twin(table, counts.margin(columns[:place] + columns[place + 1 :]))


@some
@given(tables(n_rows=(5, 60)), st.sampled_from([10, 3000, 10**7]), st.data())
def test_what_is_at_hand(table: DiscreteTable, limit: int, data: st.DataObject) -> None:
    """Whatever was counted before, and however little memory there is."""
    at_hand = JointTables(PartsCounter(table, 17, limit))
    for _ in range(3):
        lot = data.draw(lots(table.n_columns))
        seen: list[int] = []
        for places in at_hand.lots(lot):
            seen += places
            for place in places:
                check_against_twin(table, at_hand.counts_of(lot[place]))
        assert sorted(seen) == list(range(len(lot)))


def asked(counter: PartsCounter) -> int:
    return sum(len(lot) for lot in counter.lots)


def test_a_subset_is_not_counted_again() -> None:
    counter = PartsCounter(make_table([2, 3, 2, 4, 2], 400, 1), 100)
    at_hand = JointTables(counter)
    pairs: Sequence[Columns] = [(a, b) for a in range(5) for b in range(a)]
    pairs = [tuple(sorted(pair)) for pair in pairs]
    assert [len(places) for places in at_hand.lots(pairs)] == [10]
    assert asked(counter) < 10  # merged
    before = asked(counter)
    assert [len(places) for places in at_hand.lots([(0,), (3,), (1, 2)])] == [3]
    assert asked(counter) == before


def test_wide_keys() -> None:
    """More combinations than one word can number."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 300, (12, 50))
    table = DiscreteTable.from_codes(codes.T)
    everything = tuple(range(12))
    assert len(words_of([300] * 12)) > 1
    [counts] = PartsCounter(table, 20).count([everything])
    assert counts.keys is not None
    check_against_twin(table, counts)
    check_against_twin(table, counts.margin((3, 7)))
