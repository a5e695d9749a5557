"""Every sum against its twin, and the same bits whatever the way of counting."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import komb
from komb.counts import contingency as contingency_module
from komb.counts.contingency import Summaries
from komb.counts.threads import use_threads
from komb.data.table import DiscreteTable
from komb.errors import MemoryLimitError
from tests import naive
from tests.counts.batches import (
    EVERYTHING,
    NEEDS_TABLES,
    NO_TABLES,
    PER_SET,
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
from tests.counts.tables import columns_of, make_table, tables

thorough = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


def check_against_twin(table: DiscreteTable, target: int, questions: Sequence[Question]) -> None:
    columns, levels = columns_of(table), table.cardinalities
    contingency = prepare(table, target)
    scale = contingency.scale
    sums = summarise(contingency, questions)
    without_tables = summarise(contingency, questions, **NO_TABLES)
    for name in (*PER_SET, *PER_TEST):
        if name not in NEEDS_TABLES:
            assert np.array_equal(getattr(without_tables, name), getattr(sums, name)), name
    classes = contingency.class_levels.tolist()
    assert classes == [levels[target], *sorted(set(levels.tolist()))]
    test = 0
    for index, (members, candidates) in enumerate(questions):
        assert sums.fit[index] / scale == close(naive.counts.fit(columns, target, members))
        assert sums.strata[index] == naive.counts.strata(columns, members)
        length = naive.counts.length(columns, members, levels[target])
        assert sums.length[index] / scale == close(length)
        for split, r in zip(sums.splits[index], classes, strict=True):
            assert split / scale == close(twin_split(columns, target, members, r))
        for x in candidates:
            union = (*members, x)
            t = naive.counts.count(columns, target, x, members)
            assert sums.union_fit[test] / scale == close(naive.counts.fit(columns, target, union))
            assert sums.union_strata[test] == naive.counts.strata(columns, union)
            length = naive.counts.length(columns, union, levels[target])
            assert sums.union_length[test] / scale == close(length)
            assert sums.freedom[test] == naive.statistics.degrees_of_freedom(t, "adjusted")
            assert sums.pearson[test] / contingency.pearson_scale == close(
                naive.statistics.pearson(t)
            )
            check_moments(contingency, sums, test, x, t)
            split = twin_split(columns, target, members, levels[x])
            assert sums.split[test] / scale == close(split)
            test += 1
    assert test == len(sums.union_fit)


@thorough
@given(batches())
def test_every_sum_equals_its_twin(batch: tuple[DiscreteTable, int, list[Question]]) -> None:
    table, target, questions = batch
    check_against_twin(table, target, questions)


@pytest.mark.parametrize("size", range(5))
@pytest.mark.parametrize(
    ("kinds", "n_rows"),
    [
        ([2, 3, 2, 2, 4, 2], 700),  # bitmaps all the way
        ([2, 20, 18, 17, 2, 30], 700),  # too many levels for bitmaps, dense tables
        ([2, 200, 150, 90, 120, 60], 400),  # more cells than rows: grouped
        ([2, 2, 300, 3, "id", 17], 520),  # a mixture, and codes of 16 bits
        (["id", 2, 3, 200, 2, 2], 310),  # a target with a level per row
        ([300, 2, 3, 40, 2, 2], 900),  # a target of many levels
        ([1, 1, 1, 2, "copy", "copy"], 64),
        ([1, 2, 2, 3, "rare", 2], 257),
    ],
)
def test_each_way_of_counting_equals_its_twin(
    kinds: list[int | str], n_rows: int, size: int
) -> None:
    table = make_table(kinds, n_rows, seed=size)
    questions = all_questions(table.n_columns, 0, size)[:3]
    check_against_twin(table, 0, questions)


@pytest.mark.parametrize("kinds", [[2, 3, 2, "copy", 4], [60, 3, 80, 70, 50, 2]])
@pytest.mark.parametrize("size", [0, 1, 3])
def test_any_number_of_threads_counts_the_same(
    monkeypatch: pytest.MonkeyPatch, kinds: list[int | str], size: int
) -> None:
    monkeypatch.setattr(contingency_module, "WORK_PER_THREAD", 1)
    table = make_table(kinds, 3000, seed=4)
    questions = all_questions(table.n_columns, 0, size)
    answers = []
    for threads in (1, 2, 4):
        with use_threads(threads):
            contingency = prepare(table, 0)
            assert len(contingency.workers(10)) == threads
            answers += [summarise(contingency, questions) for _ in range(2)]
    for answer in answers[1:]:
        for one, other in zip(answers[0], answer, strict=True):
            assert np.array_equal(one, other)


def test_codes_are_as_wide_as_they_must_be() -> None:
    """The tables above do exercise both widths."""
    assert make_table([2, "id"], 256, seed=0).codes.dtype == np.uint8
    assert make_table([2, "id"], 257, seed=0).codes.dtype == np.uint16


@pytest.mark.parametrize("n_columns", [2, 5])
def test_a_single_row(n_columns: int) -> None:
    table = DiscreteTable.from_codes(np.arange(n_columns).reshape(1, -1))
    for size in range(n_columns):
        questions = all_questions(n_columns, 0, size)
        check_against_twin(table, 0, questions)
        assert not summarise(prepare(table, 0), questions).union_fit.any()


# --------------------------------------------------- the same bits in whatever way they are counted


def rows_of(
    sums: Summaries, questions: Sequence[Question]
) -> dict[tuple[frozenset[int], int], Any]:
    """All sums by set (candidate -1) and by test."""
    found: dict[tuple[frozenset[int], int], Any] = {}
    test = 0
    for index, (members, candidates) in enumerate(questions):
        own = [getattr(sums, name)[index].tolist() for name in PER_SET]
        assert found.setdefault((frozenset(members), -1), own) == own
        for x in candidates:
            mine = [int(getattr(sums, name)[test]) for name in PER_TEST]
            assert found.setdefault((frozenset(members), x), mine) == mine
            test += 1
    return found


@thorough
@given(batches(most_sets=20), st.integers(0, 10**6), st.booleans())
def test_batches_do_not_matter(
    batch: tuple[DiscreteTable, int, list[Question]], seed: int, wants_tables: bool
) -> None:
    """Order of sets, of candidates and of columns in a set, splits and repeats of the batch."""
    table, target, questions = batch
    rng = np.random.default_rng(seed)
    contingency = prepare(table, target)

    def ask(asked: Sequence[Question]) -> dict[tuple[frozenset[int], int], Any]:
        options = EVERYTHING | {"wants_tables": wants_tables}
        return rows_of(summarise(contingency, asked, **options), asked)

    expected = ask(questions)

    shuffled = [
        (tuple(rng.permutation(members).tolist()), tuple(rng.permutation(candidates).tolist()))
        for members, candidates in (questions[i] for i in rng.permutation(len(questions)))
    ]
    assert ask(shuffled) == expected

    in_order = sorted((tuple(sorted(members)), x) for members, x in questions)  # shared prefixes
    assert ask(in_order) == expected

    twice = in_order + shuffled
    assert ask(twice) == expected

    cut = int(rng.integers(len(questions) + 1))
    parts: dict[tuple[frozenset[int], int], Any] = {}
    for part in (shuffled[:cut], shuffled[cut:]):
        if part:
            parts |= ask(part)
    assert parts == expected

    one_by_one = [(members, (x,)) for members, candidates in questions for x in candidates]
    for question in one_by_one[:10]:
        for key, row in ask([question]).items():
            assert row == expected[key]


@thorough
@given(batches(most_sets=20), st.booleans())
def test_both_kernels_find_the_same(
    batch: tuple[DiscreteTable, int, list[Question]], wants_tables: bool
) -> None:
    """The one that only knows dense tables, and goes as far as it can, and the one for all."""
    table, target, questions = batch
    options = EVERYTHING | {"wants_tables": wants_tables}
    first_dense, all_ways = prepare(table, target), prepare(table, target)
    all_ways._shared._is_thin = True
    found, expected = (summarise(each, questions, **options) for each in (first_dense, all_ways))
    for name in (*PER_SET, *PER_TEST):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()


@pytest.mark.parametrize("options", [EVERYTHING, NO_TABLES], ids=["tables", "no tables"])
@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("target", [0, 3])
def test_prefixes_shared_by_sets_of_low_and_high_cardinality(
    size: int, target: int, options: dict[str, Any]
) -> None:
    """Neighbours in a batch use different ways of counting and still build on each other."""
    table = make_table([2, 3, 40, 2, 200, "id", 2, 17], 290, seed=1)
    contingency = prepare(table, target)

    def ask(asked: Sequence[Question]) -> dict[tuple[frozenset[int], int], Any]:
        return rows_of(summarise(contingency, asked, **options), asked)

    questions = all_questions(table.n_columns, target, size)
    alone = {key: row for question in questions for key, row in ask([question]).items()}
    assert ask(questions) == alone
    rng = np.random.default_rng(size)
    for _ in range(20):
        batch = [
            (tuple(rng.permutation(questions[i][0]).tolist()), questions[i][1])
            for i in rng.integers(0, len(questions), 30)
        ]
        for key, row in ask(batch).items():
            assert row == alone[key]


def test_sizes_may_alternate() -> None:
    """Buffers are kept from call to call; a call with sets of another size does not see them."""
    table = make_table([2, 3, 40, 2, 2, 200], 300, seed=5)
    kept = prepare(table, 0)
    for size in (0, 3, 1, 4, 0, 2, 1):
        questions = all_questions(table.n_columns, 0, size)
        fresh = summarise(prepare(table, 0), questions)
        again = summarise(kept, questions)
        assert rows_of(again, questions) == rows_of(fresh, questions)


@thorough
@given(st.data(), tables(kinds=(1, 2, 2, 3, 7, 16, "rare", "copy", "parity"), n_columns=(2, 6)))
def test_ways_of_counting_agree_bit_by_bit(data: st.DataObject, table: DiscreteTable) -> None:
    """The same table counted by popcount, in dense tables, by labels and by grouping.

    Without bitmaps nothing can be popcounted. A column that claims more levels than it shows leaves
    every sum as it is but the tables too large to be dense, so that rows must be labelled, or, if
    there is no room for that, grouped.
    """
    target = data.draw(st.integers(0, table.n_columns - 1), "target")
    size = data.draw(st.integers(0, min(4, table.n_columns - 1)), "size")
    questions = all_questions(table.n_columns, target, size)
    expected = summarise(prepare(table, target), questions)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contingency_module, "MAX_BITMAP_LEVELS", 0)
        without_bitmaps = summarise(prepare(table, target), questions)
    assert rows_of(without_bitmaps, questions) == rows_of(expected, questions)

    for members, candidates in questions[:4]:
        if not members:
            continue
        claimed = table.cardinalities
        claimed[list(members)] = 20 * table.n_rows + 1
        question = [(members, candidates)]
        for options, room in product((EVERYTHING, NO_TABLES), (1 << 20, 40 * table.n_rows, 1)):
            large = prepare_with(table, claimed, target)
            large._shared.labels = large._shared.labels.replaced(  # type: ignore[attr-defined]
                table=np.zeros(room, dtype=np.int32)
            )
            counted = summarise(large, question, **options)
            plain = summarise(prepare(table, target), question, **options)
            for name in ("fit", "strata", "length", *PER_TEST):
                assert getattr(counted, name).tolist() == getattr(plain, name).tolist(), name
            assert not large._shared.labels.table.any()  # type: ignore[attr-defined]


@pytest.mark.parametrize("n_rows", [2, 40, 600])
def test_strata_of_one_row_are_only_counted(n_rows: int) -> None:
    """Nearly every row has a value of its own: what is left out makes no difference."""
    rng = np.random.default_rng(n_rows)
    keys = np.arange(n_rows)
    keys[: n_rows // 4] = 0
    columns = [rng.integers(0, 3, n_rows), rng.integers(0, 4, n_rows), keys]
    columns.append(rng.integers(0, 2, n_rows))
    table = DiscreteTable.from_data(np.column_stack(columns))
    for members in [(2,), (2, 3), (3, 2)]:
        check_against_twin(table, 0, [(members, (1,))])


@pytest.mark.parametrize("size", [1, 2, 3])
def test_huge_claims_take_no_memory(size: int) -> None:
    """65,535 levels per column: a table of all combinations would have 10^19 cells."""
    table = make_table([2, 3, 5, 2, 4], 200, seed=size)
    claimed = np.array([2, 65_535, 65_535, 65_535, 65_535])
    question = [(tuple(range(1, size + 1)), (4,))]
    for wants_tables in (False, True):
        huge, plain = (
            summarise(prepare_with(table, levels, 0), question, wants_tables=wants_tables)
            for levels in (claimed, table.cardinalities)
        )
        for name in ("fit", "strata", "union_fit", "union_strata", *NEEDS_TABLES[:3]):
            assert getattr(huge, name).tolist() == getattr(plain, name).tolist(), name


# ----------------------------------------------------------------------------- what is asked for


@thorough
@given(batches(), st.sampled_from([0.5, 5.0, 40.0]))
def test_lengths_are_there_for_every_thin_test(
    batch: tuple[DiscreteTable, int, list[Question]], length_below: float
) -> None:
    """Where a test has fewer rows per cell than asked for, its three code lengths are summed."""
    table, target, questions = batch
    contingency, levels = prepare(table, target), table.cardinalities
    every = summarise(contingency, questions)
    some = summarise(contingency, questions, length_below=length_below, wants_splits=True)
    test = 0
    for index, (_, candidates) in enumerate(questions):
        assert some.fit[index] == every.fit[index]
        assert some.strata[index] == every.strata[index]
        for x in candidates:
            assert some.union_fit[test] == every.union_fit[test]
            cells = int(levels[target] * levels[x] * every.strata[index])
            if table.n_rows < length_below * cells:
                kind = contingency.length_class[x]
                assert some.length[index] == every.length[index]
                assert some.union_length[test] == every.union_length[test]
                assert some.split[test] == every.split[test]
                assert some.splits[index, kind] == every.splits[index, kind] == every.split[test]
            test += 1


@pytest.mark.parametrize("levels", [2, 64, 65, 129, 200, 300, 1000])
def test_the_largest_pearson_statistic(levels: int) -> None:
    """Of a column with itself: (levels - 1) for every row, far more than any code length."""
    column = np.tile(np.arange(levels), 3)
    table = DiscreteTable.from_codes(np.column_stack([column, column]))
    contingency = prepare(table, 0)
    sums = summarise(contingency, [((), (1,))])
    assert sums.pearson[0] / contingency.pearson_scale == close(3 * levels * (levels - 1))


def test_a_million_rows_stay_within_64_bits() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (3, 1_000_000))
    codes[2] = codes[0] ^ codes[1] ^ (rng.random(1_000_000) < 0.1)
    contingency = prepare(DiscreteTable.from_codes(codes.T), 2)
    sums = summarise(contingency, [((0,), (1,))])
    table = np.bincount(codes[0] * 4 + codes[1] * 2 + codes[2], minlength=8).reshape(4, 2)
    expected = (table * np.log2(table / table.sum(axis=1, keepdims=True))).sum()
    assert sums.union_fit[0] / contingency.scale == pytest.approx(expected, rel=1e-12)


def test_code_lengths_are_refused_before_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """One table for each number of levels: many columns of many levels can be too much."""
    monkeypatch.setenv("KOMB_MEMORY_LIMIT", "5 kB")
    monkeypatch.setattr(contingency_module, "FEW_BYTES", 0)
    rng = np.random.default_rng(0)
    columns = {str(levels): rng.integers(0, levels, 200) for levels in range(2, 12)}
    with pytest.raises(MemoryLimitError, match=r"Code lengths for \d+ numbers of levels and 200 r"):
        komb.markov_blanket(columns, "2", order=1, max_separator=1, test="sci")
