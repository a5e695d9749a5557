"""Sums of tests on the rows that are complete for them, against their twins."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from komb.counts import contingency as contingency_module
from komb.counts.contingency import Contingency, Summaries
from komb.data.table import DiscreteTable
from komb.errors import DataError
from tests import naive
from tests.counts.batches import (
    EVERYTHING,
    NO_TABLES,
    PER_TEST,
    Question,
    all_questions,
    batches,
    check_moments,
    close,
    prepare,
    prepare_with,
    summarise,
    twin_split,
)
from tests.counts.tables import columns_of, make_table, tables_with_missing, with_missing

thorough = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)

OF_THE_GIVEN_SET = ("fit", "strata", "length", "rows")
EVERY_SUM = (*OF_THE_GIVEN_SET, *PER_TEST)

WAYS: list[tuple[list[int | str], int]] = [
    ([2, 3, 2, 2, 4, 2], 500),  # bitmaps all the way
    ([2, 20, 18, 17, 2, 30], 500),  # too many levels for bitmaps, dense tables
    ([2, 200, 150, 90, 120, 60], 400),  # more cells than rows
    ([2, 2, 300, 3, "id", 17], 520),  # a mixture, and codes of 16 bits
    (["id", 2, 3, 200, 2, 2], 310),  # a target with a level per row
    ([1, 1, 1, 2, "copy", "copy"], 64),
    ([1, 2, 2, 3, "rare", 2], 257),
]


def check_against_twin(table: DiscreteTable, target: int, questions: Sequence[Question]) -> None:
    contingency = prepare(table, target)
    if not contingency.has_missing:
        return  # see test_contingency
    columns, levels = columns_of(table), table.cardinalities
    scale = contingency.scale
    sums = summarise(contingency, questions)
    test = 0
    for members, candidates in questions:
        for x in candidates:
            used = naive.counts.complete(columns, [target, x, *members])
            t = naive.counts.count(columns, target, x, members)
            union = (*members, x)
            assert sums.rows[test] == t.n_rows
            assert sums.strata[test] == naive.counts.strata(used, members)
            assert sums.union_strata[test] == naive.counts.strata(used, union)
            assert sums.fit[test] / scale == close(naive.counts.fit(used, target, members))
            assert sums.union_fit[test] / scale == close(naive.counts.fit(used, target, union))
            for length, of in ((sums.length, members), (sums.union_length, union)):
                assert length[test] / scale == close(naive.counts.length(used, of, levels[target]))
            assert sums.freedom[test] == naive.statistics.degrees_of_freedom(t, "adjusted")
            assert sums.pearson[test] / contingency.pearson_scale == close(
                naive.statistics.pearson(t)
            )
            check_moments(contingency, sums, test, x, t)
            split = twin_split(used, target, members, levels[x])
            assert sums.split[test] / scale == close(split)
            test += 1
    assert test == len(sums.union_fit) == len(sums.fit)


@thorough
@given(batches(source=tables_with_missing()))
def test_every_sum_equals_its_twin(batch: tuple[DiscreteTable, int, list[Question]]) -> None:
    check_against_twin(*batch)


@pytest.mark.parametrize("size", range(5))
@pytest.mark.parametrize(("kinds", "n_rows"), WAYS)
def test_each_way_of_counting_equals_its_twin(
    kinds: list[int | str], n_rows: int, size: int
) -> None:
    complete = make_table(kinds, n_rows, seed=size)
    questions = all_questions(complete.n_columns, 0, size)[:3]
    shares = ([0.1] * 6, [0, 0.3, 0, 0.3, 0, 0.3], [0.2, 0, 0.1, 0, 0.4, 0])[size % 3]
    check_against_twin(with_missing(complete, shares, seed=size), 0, questions)


def test_codes_are_as_wide_as_they_must_be() -> None:
    """Of 256 levels the code for "missing" is the first that takes 16 bits."""
    table = make_table([2, "id"], 257, seed=0)
    codes = with_missing(table, [0, 0.002], seed=0).codes
    assert codes.dtype == np.uint16
    assert codes.max() == 256
    assert (
        with_missing(make_table([2, "id"], 256, seed=0), [0, 0.01], seed=0).codes.dtype == np.uint8
    )


# --------------------------------------------------- the same bits in whatever way they are counted


def sums_of(contingency: Contingency, questions: Sequence[Question], **options: Any) -> Any:
    """All sums by test."""
    sums: Summaries = summarise(contingency, questions, **options)
    rows = zip(*(getattr(sums, name).tolist() for name in EVERY_SUM), strict=True)
    tests = [(frozenset(members), x) for members, asked in questions for x in asked]
    found: dict[tuple[frozenset[int], int], Any] = {}
    for test, row in zip(tests, rows, strict=True):
        assert found.setdefault(test, row) == row
    return found


@thorough
@given(batches(source=tables_with_missing(), most_sets=20), st.integers(0, 10**6), st.booleans())
def test_batches_do_not_matter(
    batch: tuple[DiscreteTable, int, list[Question]], seed: int, wants_tables: bool
) -> None:
    table, target, questions = batch
    contingency = prepare(table, target)
    if not contingency.has_missing:
        return
    rng = np.random.default_rng(seed)
    options = EVERYTHING | {"wants_tables": wants_tables}
    expected = sums_of(contingency, questions, **options)
    shuffled = [
        (tuple(rng.permutation(members).tolist()), tuple(rng.permutation(candidates).tolist()))
        for members, candidates in (questions[i] for i in rng.permutation(len(questions)))
    ]
    in_order = sorted((tuple(sorted(members)), x) for members, x in questions)  # shared prefixes
    for asked in (shuffled, in_order, in_order + shuffled):
        assert sums_of(contingency, asked, **options) == expected
    for members, candidates in questions[:3]:
        for x in candidates:
            alone = sums_of(prepare(table, target), [(members, (x,))], **options)
            assert alone == {key: expected[key] for key in alone}


@thorough
@given(st.data(), tables_with_missing(kinds=(1, 2, 2, 3, 7, 16, "rare", "copy"), n_columns=(2, 6)))
def test_ways_of_counting_agree_bit_by_bit(data: st.DataObject, table: DiscreteTable) -> None:
    """The same table counted by popcount, in dense tables, by labels and by grouping.

    As for complete tables; but a column can claim more levels only if nothing is missing in it,
    so the sets that are counted have one such column more, which says nothing.
    """
    codes = np.vstack([table.codes, np.zeros((1, table.n_rows), table.codes.dtype)])
    constant = table.n_columns
    table = DiscreteTable((*table.names, constant), codes, (*table.levels, (0,)))
    target = data.draw(st.integers(0, constant - 1), "target")
    size = data.draw(st.integers(1, min(4, constant)), "size")
    questions = [
        (members, candidates)
        for members, candidates in all_questions(table.n_columns, target, size)
        if constant in members
    ]
    if not prepare(table, target).has_missing:
        return
    expected = sums_of(prepare(table, target), questions)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contingency_module, "MAX_BITMAP_LEVELS", 0)
        assert sums_of(prepare(table, target), questions) == expected

    claimed = table.cardinalities
    claimed[constant] = 20 * table.n_rows + 1
    for options, room in product((EVERYTHING, NO_TABLES), (1 << 20, 40 * table.n_rows, 1)):
        large = prepare_with(table, claimed, target)
        large._shared.labels = large._shared.labels.replaced(  # type: ignore[attr-defined]
            table=np.zeros(room, dtype=np.int32)
        )
        large._shared.present = large._shared._make_present()
        plain = sums_of(prepare(table, target), questions, **options)
        assert sums_of(large, questions, **options) == plain
        assert not large._shared.labels.table.any()  # type: ignore[attr-defined]


@pytest.mark.parametrize("share", [0.0, 0.2, 0.9])
@pytest.mark.parametrize("n_rows", [2, 40, 600])
def test_strata_of_one_row_are_only_counted(n_rows: int, share: float) -> None:
    """Nearly every row has a value of its own: those without the candidate are not there."""
    rng = np.random.default_rng(n_rows)
    keys = np.arange(n_rows)
    keys[: n_rows // 4] = 0
    columns = [rng.integers(0, 3, n_rows), rng.integers(0, 4, n_rows), keys]
    columns.append(rng.integers(0, 2, n_rows))
    table = with_missing(
        DiscreteTable.from_codes(np.column_stack(columns)), [0.1, 0.4, share, 0.1], 1
    )
    for members in [(2,), (2, 3), (3, 2)]:
        check_against_twin(table, 0, [(members, (1,))])


def test_labels_and_groups_in_one_set() -> None:
    """Two candidates of few levels are labelled, one of many between them is grouped."""
    table = with_missing(make_table([2, "id", 3, "id", 2], 600, seed=3), [0.1, 0.2, 0.3, 0.3, 0], 3)
    check_against_twin(table, 0, [((1,), (2, 3, 4, 2))])


# ------------------------------------------------------------------------------ what is asked for


@thorough
@given(batches(source=tables_with_missing()), st.sampled_from([0.5, 5.0, 40.0]))
def test_lengths_are_there_for_every_thin_test(
    batch: tuple[DiscreteTable, int, list[Question]], length_below: float
) -> None:
    table, target, questions = batch
    contingency, levels = prepare(table, target), table.cardinalities
    if not contingency.has_missing:
        return
    every = summarise(contingency, questions)
    some = summarise(contingency, questions, length_below=length_below)
    candidates = [x for _, asked in questions for x in asked]
    for test, x in enumerate(candidates):
        assert some.fit[test] == every.fit[test]
        assert some.union_fit[test] == every.union_fit[test]
        cells = int(levels[target] * levels[x] * every.strata[test])
        if every.rows[test] < length_below * cells:
            assert some.length[test] == every.length[test]
            assert some.union_length[test] == every.union_length[test]
            assert some.split[test] == every.split[test]


@thorough
@given(batches(source=tables_with_missing()), st.sampled_from([0.0, 5.0, np.inf]))
def test_all_tests_of_a_union_from_one_table(
    batch: tuple[DiscreteTable, int, list[Question]], length_below: float
) -> None:
    """What is read off the margins of a table is what tests of their own would have."""
    table, target, questions = batch
    contingency = prepare(table, target)
    if not contingency.has_missing:
        return
    sets = np.array([members for members, _ in questions], dtype=np.int64)
    counts = [len(candidates) for _, candidates in questions]
    exchanged = contingency.summarise_exchanged(
        sets.reshape(len(questions), -1),
        np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        np.array([x for _, candidates in questions for x in candidates], dtype=np.int64),
        length_below=length_below,
    )
    unions = [(members, x) for members, candidates in questions for x in candidates]
    for place, sums in enumerate(exchanged):
        for test, (members, x) in enumerate(unions):
            if sums.strata[test] < 0:
                assert place < len(members)  # too large for margins; never the test itself
                continue
            given_set = list(members)
            candidate = x
            if place < len(members):
                given_set[place], candidate = x, members[place]
            alone = summarise(
                contingency, [(tuple(given_set), (candidate,))], length_below=length_below
            )
            names = ["fit", "strata", "rows", "union_fit", "union_strata"]
            cells = table.cardinalities[[target, candidate]].prod() * alone.strata[0]
            if alone.rows[0] < length_below * max(1, cells):
                names += ["length", "union_length", "split"]
            for name in names:
                assert getattr(sums, name)[test] == getattr(alone, name)[0], name


def test_tables_with_margins_are_the_common_ones() -> None:
    """Few levels by bitmaps, more in dense tables, many by labels: the last has no margins."""
    table = with_missing(make_table([2, 3, 2, 30, 25, 200, 190], 500, seed=0), [0.1] * 7, seed=0)
    contingency = prepare(table, 0)
    for members, x, has_margins in [([1], 2, True), ([3], 4, True), ([5, 6], 3, False)]:
        first, *_ = contingency.summarise_exchanged(
            np.array([members]), np.array([0, 1]), np.array([x])
        )
        assert (first.strata[0] >= 0) == has_margins


def test_gaps_in_columns_that_are_not_asked_about() -> None:
    """Then the sums are those of the table without that column."""
    complete = make_table([2, 3, 4, 2, 20], 400, seed=0)
    table = with_missing(complete, [0, 0, 0, 0, 0.5], seed=0)
    questions: list[Question] = [((1, 2), (3,)), ((3, 1), (2,))]
    sums, plain = (summarise(prepare(each, 0), questions) for each in (table, complete))
    assert sums.rows.tolist() == [400, 400]
    for name in ("fit", "strata", "length", *PER_TEST):
        assert getattr(sums, name).tolist() == getattr(plain, name).tolist(), name


def test_codes_beyond_missing_are_refused() -> None:
    codes = np.array([[0, 1, 3], [0, 1, 0]], dtype=np.uint8)
    with pytest.raises(DataError, match="equal to it for a missing value"):
        Contingency(codes, np.array([2, 2]), 1)
