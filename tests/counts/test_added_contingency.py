"""What is summed over counts that were added up is what kernels sum over rows, to the last bit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.counts import added_contingency, added_expected_g, joint_counts
from komb.counts.added_contingency import AddedContingency, CountTerms
from komb.counts.contingency import Contingency, Summaries
from komb.counts.expected_g import ExpectedG
from komb.counts.joint_tables import JointTables
from komb.data.table import DiscreteTable
from komb.errors import MemoryLimitError
from tests.counts.batches import PER_SET, PER_TEST, Question, batches, summarise
from tests.counts.parts import PartsCounter
from tests.counts.tables import make_table, tables, tables_with_missing

some = settings(max_examples=30, deadline=None, derandomize=True)
Batch = tuple[DiscreteTable, int, list[Question]]


def add_up(table: DiscreteTable, target: int, rows: int = 37) -> AddedContingency:
    at_hand = JointTables(PartsCounter(table, rows))
    return AddedContingency(at_hand, target, CountTerms(table.n_rows))


def in_memory(table: DiscreteTable, target: int) -> Contingency:
    codes: Any = table.codes
    return Contingency(codes, table.cardinalities, target)


def check(left: Summaries, right: Summaries, names: Sequence[str]) -> None:
    for name in names:
        assert getattr(left, name).tolist() == getattr(right, name).tolist(), name


@pytest.mark.parametrize("length_below", [math.inf, 5.0, 0.0])
@some
@given(batch=batches(source=tables(n_rows=(1, 120))), rows=st.integers(1, 130))
def test_complete_tables(length_below: float, batch: Batch, rows: int) -> None:
    table, target, questions = batch
    options = {"length_below": length_below, "wants_tables": True, "wants_splits": True}
    expected = summarise(in_memory(table, target), questions, **options)
    found = summarise(add_up(table, target, rows), questions, **options)
    check(found, expected, (*PER_SET, *PER_TEST))


@some
@given(batch=batches(source=tables_with_missing(n_rows=(1, 120))), rows=st.integers(1, 130))
def test_missing_values(batch: Batch, rows: int) -> None:
    table, target, questions = batch
    options = {"length_below": math.inf, "wants_tables": True}
    expected = summarise(in_memory(table, target), questions, **options)
    found = summarise(add_up(table, target, rows), questions, **options)
    check(found, expected, ("fit", "strata", "length", *PER_TEST))
    if in_memory(table, target).has_missing:
        check(found, expected, ("rows",))


@some
@given(batch=batches(source=tables(n_rows=(1, 60)) | tables_with_missing(n_rows=(1, 60))))
def test_large_tables(batch: Batch) -> None:
    """Listed combinations, strata in several blocks, and counts beyond the tables."""
    table, target, questions = batch
    options = {"length_below": math.inf, "wants_tables": True}
    expected = summarise(in_memory(table, target), questions, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joint_counts, "MOST_DENSE_CELLS", 3)
        patch.setattr(added_contingency, "BLOCK_CELLS", 10)
        patch.setattr(added_contingency, "TABULATED", 5)
        found = summarise(add_up(table, target), questions, **options)
    check(found, expected, ("fit", "strata", "length", *PER_TEST))


@some
@given(batch=batches(source=tables_with_missing(n_rows=(2, 120), n_columns=(3, 6))))
def test_exchanged(batch: Batch) -> None:
    table, target, questions = batch
    rows = in_memory(table, target)
    if not rows.has_missing:
        return
    sets = np.array([members for members, _ in questions], dtype=np.int64)
    starts = np.concatenate(([0], np.cumsum([len(asked) for _, asked in questions])))
    candidates = np.array([x for _, asked in questions for x in asked], dtype=np.int64)
    arguments = sets.reshape(len(questions), -1), starts.astype(np.int64), candidates
    expected = rows.summarise_exchanged(*arguments, length_below=math.inf)
    found = add_up(table, target).summarise_exchanged(*arguments, length_below=math.inf)
    for ours, theirs in zip(found, expected, strict=True):
        is_counted = theirs.strata >= 0
        for name in ("fit", "strata", "union_fit", "union_strata", "rows", "length", "split"):
            own, other = getattr(ours, name), getattr(theirs, name)
            assert own[is_counted].tolist() == other[is_counted].tolist(), name


@pytest.mark.parametrize("tabulated", [1 << 20, 40])
@some
@given(batch=batches(source=tables(n_rows=(2, 200)) | tables_with_missing(n_rows=(2, 200))))
def test_moments_of_g(tabulated: int, batch: Batch) -> None:
    table, target, questions = batch
    sets = np.array([members for members, _ in questions], dtype=np.int64)
    sets = sets.reshape(len(questions), -1)
    index = np.repeat(np.arange(len(questions)), [len(asked) for _, asked in questions])
    candidates = np.array([x for _, asked in questions for x in asked], dtype=np.int64)
    rows, added = in_memory(table, target), add_up(table, target)
    assert isinstance(rows.make_expected_g(), ExpectedG)
    expected = rows.make_expected_g().moments(rows, sets, index, candidates)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(added_expected_g, "TABULATED", tabulated)
        found = added.make_expected_g().moments(added, sets, index, candidates)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.tolist() == theirs.tolist()


def test_logarithms_of_large_numbers() -> None:
    """A cell whose count hardly varies although it is large."""
    codes = np.zeros((2, 5000), dtype=np.int64)
    codes[0, :3] = 1
    codes[1, 1:5] = 1
    table = DiscreteTable.from_codes(codes.T)
    nothing = np.empty((1, 0), dtype=np.int64)
    asked = nothing, np.array([0]), np.array([0])
    rows, added = in_memory(table, 1), add_up(table, 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(added_expected_g, "TABULATED", 100)
        found = added.make_expected_g().moments(added, *asked)
    assert [each.tolist() for each in found] == [
        each.tolist() for each in rows.make_expected_g().moments(rows, *asked)
    ]


def test_rows_are_not_at_hand() -> None:
    with pytest.raises(MemoryLimitError, match="works on rows, not on counts"):
        _ = add_up(make_table([2, 2], 50, 0), 0).codes
