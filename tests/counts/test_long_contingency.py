"""Tests read from the tables of blocks, against tests that are counted one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.counts import contingency as contingency_module
from komb.counts import long_contingency, union_tables
from komb.counts.contingency import Contingency
from komb.counts.expected_g import ExpectedG
from komb.counts.long_contingency import LongContingency
from komb.counts.threads import use_threads
from komb.data.table import DiscreteTable
from tests.counts.batches import EVERYTHING, PER_SET, PER_TEST, Question, prepare, summarise
from tests.counts.tables import make_table, tables

KINDS = (1, 2, 3, 4, 6, 20, "rare", "copy", "parity")


def prepare_long(table: DiscreteTable, target: int) -> LongContingency:
    codes: Any = table.codes
    return LongContingency(codes, table.cardinalities, target)


@st.composite
def questions(draw: Any, n_columns: int, target: int) -> list[Question]:
    """Given sets of one size, some of them without candidates."""
    others = [x for x in range(n_columns) if x != target]
    size = draw(st.integers(1, min(3, len(others) - 1)))
    drawn = []
    for _ in range(draw(st.integers(1, 5))):
        order = draw(st.permutations(others))
        rest = order[size:]
        drawn.append((tuple(order[:size]), tuple(rest[: draw(st.integers(0, len(rest)))])))
    return drawn


def check(table: DiscreteTable, asked: list[Question], target: int, **options: Any) -> None:
    usual, long = prepare(table, target), prepare_long(table, target)
    for _ in range(2):  # the second time from memory
        expected, found = summarise(usual, asked, **options), summarise(long, asked, **options)
        for name in (*PER_SET, *PER_TEST):
            assert getattr(found, name).tolist() == getattr(expected, name).tolist(), name
    check_moments(table, asked, usual, long)


def check_moments(
    table: DiscreteTable, asked: list[Question], usual: Contingency, long: LongContingency
) -> None:
    codes: Any = table.codes
    sets = np.array([members for members, _ in asked], dtype=np.int64)
    index = np.repeat(np.arange(len(asked)), [len(candidates) for _, candidates in asked])
    candidates = np.array([x for _, candidates in asked for x in candidates], dtype=np.int64)
    expected = ExpectedG(codes, table.cardinalities)
    if len(index):
        counted = expected.moments(usual, sets, index, candidates)
        read = expected.moments(long, sets, index, candidates)
        assert np.array_equal(counted, read)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.data(), st.booleans(), st.sampled_from([1, 3]), st.sampled_from([0, 1 << 30]))
def test_sums_are_the_same(data: st.DataObject, has_tables: bool, threads: int, room: int) -> None:
    table = data.draw(tables(kinds=KINDS, n_rows=(1, 300), n_columns=(3, 6)))
    target = data.draw(st.integers(0, table.n_columns - 1))
    asked = data.draw(questions(table.n_columns, target))
    with pytest.MonkeyPatch.context() as patch, use_threads(threads):
        patch.setattr(contingency_module, "WORK_PER_THREAD", 1)
        patch.setattr(contingency_module, "STRATA_BYTES", 1)  # nothing is counted by bitmaps
        patch.setattr(long_contingency, "STRATA_BYTES", 1)
        patch.setattr(long_contingency, "CELLS_PER_ROW", 1e9)
        most = 6 * 6 * 20 * 20 * 20
        patch.setattr(union_tables, "KEPT_CELLS", max(most, min(room, 1 << 20)))
        check(table, asked, target, wants_tables=has_tables, wants_splits=True)


def test_sets_of_many_cells_and_those_with_code_lengths_are_counted() -> None:
    table = make_table([3, 4, 20, 6, 2, "parity"], 400, seed=1)
    asked: list[Question] = [((1, 2), (3, 4)), ((1, 4), (2, 3, 5)), ((4, 5), ())]
    check(table, asked, 0, wants_tables=True)
    check(table, asked, 0, **EVERYTHING)


def test_tables_make_room_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_contingency, "STRATA_BYTES", 1)
    monkeypatch.setattr(union_tables, "KEPT_CELLS", 200)
    monkeypatch.setattr(long_contingency, "CELLS_PER_ROW", 0.1)
    table = make_table([3, 4, 2, 6, 2, 3, 3, "parity"], 2000, seed=2)
    asked: list[Question] = [((x, x + 1), (7,)) for x in range(1, 6)]
    check(table, asked, 0, wants_tables=True)
    long = prepare_long(table, 0)
    summarise(long, asked, wants_tables=True)
    assert long.margins(np.array([5, 6]), 7) is not None
    assert long.margins(np.array([1, 2]), 7) is None
