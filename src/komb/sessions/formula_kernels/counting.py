"""Counting the tables of one given set after the other, with what neighbours share kept."""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

from typing import Any

import numpy as np

from komb.counts.compiling import inner, stay_apart
from komb.counts.contingency_kernels.bitmaps import count_by_popcount, count_strata, fill_strata
from komb.counts.contingency_kernels.buffers import (
    DENSE_CELLS_PER_ROW,
    FIT,
    LENGTH,
    MAX_DENSE_CELLS,
    STRATA,
)
from komb.counts.contingency_kernels.costs import (
    COST_HISTOGRAM_ROW,
    COST_LABELLING_ROW,
    COST_WORD,
    HISTOGRAM,
    MANY_STRATA,
    POPCOUNT,
    cheapest,
)
from komb.counts.contingency_kernels.dense_tables import (
    count_by_histogram,
    count_rows,
    list_dense,
    sum_dense,
)
from komb.counts.contingency_kernels.labelled_rows import (
    fits_table,
    label_rows,
    list_labelled,
    sum_labelled,
)
from komb.counts.contingency_kernels.sorted_rows import (
    list_grouped,
    mark_runs,
    sort_by_columns,
    sum_grouped,
)
from komb.counts.contingency_kernels.summaries import sum_listed
from komb.counts.records import Record
from komb.sessions.formula_kernels.hash_table import SPLITS, SUMS, find_place, take_place

# places of ``Given.state``: what is known of the present set, and what is prepared for it
(
    SIZE,
    IS_SIZED,
    PRODUCT,
    IS_PACKED,
    HAS_SUMS,
    HAS_LIST,
    N_SIZES,
    N_CELLS,
    HAS_STRATA,
    BASE,  # the row of ``Given.bases`` that is ready, or -1
    HAS_LABELS,
    HAS_GROUPS,
    COUNTED,  # one more than the column whose histogram is in the table, or 0
) = range(13)

N_STATE = 13
NOT_SUMMED = np.iinfo(np.int64).min  # instead of a length
COST_EXTENDING_ROW = 0.2  # of a base by one more column

# places of ``Given.counts``
N_TESTS, N_TABLES, N_CODED, N_UNRELIABLE = range(4)


class Given(Record):
    """The present given set, and what was prepared for it and for those before it."""

    columns: Any  # in the order of counting
    ordered: Any  # in ascending order, for keys
    union: Any  # the same with the candidate
    state: Any  # see SIZE and following
    own: Any  # fit, strata and length
    packed: Any  # the set whose strata are on the stack of bitmaps: its size or -1, its columns
    based: Any  # the set whose cells are on the stack of bases
    grouped: Any  # the set whose sorted rows are on their stack
    bases: Any  # [columns so far, row]: its cell in the table of these columns, the target fastest
    sums: Any  # [0]: sums over the table of the present test, as a row of ``out_unions``
    counts: Any  # see N_TESTS and following


@inner
def begin_set(size, work):
    """Take the columns that were written down as the present given set."""
    given = work.given
    for place in range(N_STATE):
        given.state[place] = 0
    given.state[SIZE] = size
    given.state[BASE] = -1
    for index in range(size):
        column = given.columns[index]
        place = index
        while place > 0 and given.ordered[place - 1] > column:
            given.ordered[place] = given.ordered[place - 1]
            place -= 1
        given.ordered[place] = column


@inner
def _size_up(work):
    """Find out how many strata there could be, and whether bitmaps are the way to count them."""
    stay_apart()
    prepared, scratch, given = work.prepared, work.scratch, work.given
    state = given.state
    if state[IS_SIZED] == 1:
        return
    n_rows, n_words = prepared.codes.shape[1], prepared.bitmaps.shape[1]
    product = np.int64(1)
    is_packed = n_words > 0 and prepared.bitmaps.shape[0] > 1
    for index in range(state[SIZE]):
        column = given.columns[index]
        product = min(product * prepared.cardinalities[column], MANY_STRATA)
        is_packed = is_packed and prepared.level_start[column] >= 0
    is_packed = is_packed and product <= scratch.strata.shape[1]
    by_words = product * n_words * 4 * COST_WORD  # strata, their counts, and two levels
    by_rows = n_rows * (COST_EXTENDING_ROW + 2 * COST_HISTOGRAM_ROW)
    state[IS_PACKED] = is_packed and by_words < by_rows
    state[PRODUCT] = product
    state[IS_SIZED] = 1


@inner
def _shared(stack, work):
    """How many leading columns the present set shares with one on a stack; -1 without one."""
    given = work.given
    if stack[0] < 0:
        return -1
    shared = 0
    most = min(stack[0], given.state[SIZE])
    while shared < most and stack[shared + 1] == given.columns[shared]:
        shared += 1
    return shared


@inner
def _note_stack(stack, work):
    """Note that the present set is on a stack."""
    given = work.given
    stack[0] = given.state[SIZE]
    for index in range(given.state[SIZE]):
        stack[index + 1] = given.columns[index]


@inner
def _need_strata(work):
    """Have the bitmaps of the strata, and their counts."""
    stay_apart()
    prepared, scratch, given = work.prepared, work.scratch, work.given
    if given.state[HAS_STRATA] == 0:
        size = given.state[SIZE]
        fill_strata(given.columns[:size], _shared(given.packed, work), prepared, scratch)
        _note_stack(given.packed, work)
        count_strata(size, prepared, scratch)
        given.state[HAS_STRATA] = 1


@inner
def _need_base(work):
    """Have the cell of each row in the table of the set with the target; returns where."""
    stay_apart()
    prepared, given = work.prepared, work.given
    if given.state[BASE] >= 0:
        return given.state[BASE]
    size, bases = given.state[SIZE], given.bases
    is_stacked = bases.shape[0] > size
    shared = max(_shared(given.based, work), 0) if is_stacked else 0
    stride = prepared.cardinalities[prepared.target]
    for depth in range(shared):
        stride *= prepared.cardinalities[given.columns[depth]]
    sink = np.int64(shared)
    for depth in range(shared, size):
        source = depth if is_stacked else min(depth, 1)
        sink = depth + 1 if is_stacked else 1
        codes, step = prepared.codes[given.columns[depth]], np.uint32(stride)
        for row in range(np.uint64(codes.size)):
            bases[sink, row] = bases[source, row] + np.uint32(codes[row]) * step
        stride *= prepared.cardinalities[given.columns[depth]]
    if is_stacked:
        _note_stack(given.based, work)
    elif size > 0:
        given.based[0] = -1  # what was on the stack is written over
    given.state[BASE] = sink
    return sink


@inner
def _need_groups(work):
    """Have the rows sorted by stratum and target."""
    stay_apart()
    prepared, groups, given = work.prepared, work.groups, work.given
    if given.state[HAS_GROUPS] == 0:
        size = given.state[SIZE]
        sort_by_columns(given.columns[:size], _shared(given.grouped, work), prepared, groups)
        _note_stack(given.grouped, work)
        mark_runs(size, prepared, groups)
        given.state[HAS_GROUPS] = 1


@inner
def _need_labels(work):
    """Whether the rows are labelled, now at the latest: not if there are too many strata."""
    stay_apart()
    prepared, labels, given = work.prepared, work.labels, work.given
    state = given.state
    if state[HAS_LABELS] == 0 and state[HAS_GROUPS] == 0:
        state[HAS_LABELS] = label_rows(given.columns[: state[SIZE]], prepared, labels)
    return state[HAS_LABELS] == 1


@inner
def _count_histogram(column, work):
    """Have the histogram of the present set with a candidate in the table."""
    stay_apart()
    prepared, scratch, given = work.prepared, work.scratch, work.given
    if given.state[COUNTED] == column + 1:
        return
    base = _need_base(work)
    levels = prepared.cardinalities[column]
    n_cells = given.state[PRODUCT] * prepared.cardinalities[prepared.target] * levels
    count_by_histogram(given.bases[base], prepared.codes[column], levels, n_cells, scratch.table)
    given.counts[N_TABLES] += 1
    given.state[COUNTED] = column + 1


@inner
def _count_margin(column, n_cells, work):
    """Count the present set alone, as the margin of a table that is wanted next if it is small.

    Returns where in the table it is.
    """
    prepared, scratch, given = work.prepared, work.scratch, work.given
    table, levels = scratch.table, prepared.cardinalities[column]
    first = n_cells * levels
    if first > prepared.codes.shape[1] or first + n_cells > table.size:
        base = _need_base(work)
        count_rows(given.bases[base], n_cells, table)
        given.counts[N_TABLES] += given.state[SIZE] > 0
        return 0
    _count_histogram(column, work)
    for cell in range(np.uint64(n_cells)):
        total = np.int32(0)
        for level in range(np.uint64(levels)):
            total += table[cell * np.uint64(levels) + level]
        table[np.uint64(first) + cell] = total
    return first


@inner
def _list(column, work):
    """List the counts of the present set; returns strata, list lengths and target length."""
    stay_apart()
    prepared, terms, scratch, labels, groups, given = (
        work.prepared,
        work.terms,
        work.scratch,
        work.labels,
        work.groups,
        work.given,
    )
    _size_up(work)
    state = given.state
    n_y = prepared.cardinalities[prepared.target]
    wants_lengths = terms.length_below > 0
    product = state[PRODUCT]
    if state[IS_PACKED]:
        _need_strata(work)
        given.counts[N_TABLES] += state[SIZE] > 0  # that of the target alone counts for nothing
        return list_dense(scratch.by_y, scratch.n_strata[state[SIZE]], n_y, terms.lengths,
                          wants_lengths, scratch.sizes, scratch.cells)  # fmt: skip
    if product * n_y <= min(MAX_DENSE_CELLS, DENSE_CELLS_PER_ROW * prepared.codes.shape[1]):
        first = _count_margin(column, product * n_y, work)
        return list_dense(scratch.table[first:], product, n_y, terms.lengths, wants_lengths,
                          scratch.sizes, scratch.cells)  # fmt: skip
    given.counts[N_TABLES] += 1
    if _need_labels(work):
        return list_labelled(labels, terms.lengths, wants_lengths, scratch)
    _need_groups(work)
    return list_grouped(state[SIZE], groups, terms.lengths, wants_lengths, scratch)


@inner
def _need_list(column, work):
    """Have the counts of the present set listed, and its own sums."""
    stay_apart()
    terms, scratch, given = work.terms, work.scratch, work.given
    if given.state[HAS_LIST] == 0:
        n_strata, n_sizes, n_cells, length = _list(column, work)
        given.state[N_SIZES], given.state[N_CELLS] = n_sizes, n_cells
        given.state[HAS_LIST] = 1
        fit = sum_listed(n_sizes, n_cells, terms.entropy, 0, scratch.sizes, scratch.cells)
        given.own[FIT], given.own[STRATA], given.own[LENGTH] = fit, n_strata, length


@inner
def need_sums(column, work):
    """Have fit, strata and target length of the present set, remembered or counted.

    ``column`` is the candidate of the test that they are wanted for.
    """
    stay_apart()
    terms, given, sets = work.terms, work.given, work.sets
    if given.state[HAS_SUMS] == 1:
        return
    size, needs_length = given.state[SIZE], terms.length_below > 0
    place = find_place(sets.keys, SUMS, given.ordered, size)
    is_known = sets.keys[place, 0] == SUMS
    if is_known and not (needs_length and sets.values[place, LENGTH] == NOT_SUMMED):
        for index in range(3):
            given.own[index] = sets.values[place, index]
    else:
        _need_list(column, work)
        if take_place(sets, place, SUMS, given.ordered, size):
            for index in range(3):
                sets.values[place, index] = given.own[index]
            if not needs_length:
                sets.values[place, LENGTH] = NOT_SUMMED
    given.state[HAS_SUMS] = 1


@inner
def split_length(kind, column, work):
    """Split length of the present set for one length class, remembered or summed."""
    stay_apart()
    terms, scratch, given, sets = work.terms, work.scratch, work.given, work.sets
    size = given.state[SIZE]
    place = find_place(sets.keys, SPLITS - kind, given.ordered, size)
    if sets.keys[place, 0] == SPLITS - kind:
        return sets.values[place, 0]
    _need_list(column, work)
    split = -sum_listed(given.state[N_SIZES], given.state[N_CELLS], terms.lengths, kind,
                        scratch.sizes, scratch.cells)  # fmt: skip
    if take_place(sets, place, SPLITS - kind, given.ordered, size):
        sets.values[place, 0] = split
    return split


@inner
def _order_union(column, work):
    """Write down the present set with one more column, in ascending order."""
    given = work.given
    size, place = given.state[SIZE], 0
    while place < size and given.ordered[place] < column:
        given.union[place] = given.ordered[place]
        place += 1
    given.union[place] = column
    for index in range(place, size):
        given.union[index + 1] = given.ordered[index]


@inner
def need_union(column, wants_length, work):
    """Have the sums over the table of the present set with a candidate."""
    stay_apart()
    terms, given, sets = work.terms, work.given, work.sets
    size = given.state[SIZE]
    place = np.int64(-1)
    if not terms.wants_tables:  # sums that belong to the set, whichever of it is the candidate
        _order_union(column, work)
        place = find_place(sets.keys, SUMS, given.union, size + 1)
        is_known = sets.keys[place, 0] == SUMS
        if is_known and not (wants_length and sets.values[place, LENGTH] == NOT_SUMMED):
            for index in range(3):
                given.sums[0, index] = sets.values[place, index]
            return
    _count_union(column, wants_length, work)
    if place >= 0 and take_place(sets, place, SUMS, given.union, size + 1):
        for index in range(3):
            sets.values[place, index] = given.sums[0, index]
        if not wants_length:
            sets.values[place, LENGTH] = NOT_SUMMED


@inner
def _count_union(column, wants_length, work):
    """Count the present set with a candidate, and sum over the table."""
    stay_apart()
    prepared, terms, scratch, labels, groups, given = (
        work.prepared,
        work.terms,
        work.scratch,
        work.labels,
        work.groups,
        work.given,
    )
    _size_up(work)
    state, out = given.state, given.sums
    levels, n_y = prepared.cardinalities[column], prepared.cardinalities[prepared.target]
    n_rows, n_strata, product = prepared.codes.shape[1], given.own[STRATA], state[PRODUCT]
    can_and = state[IS_PACKED] == 1 and prepared.level_start[column] >= 0
    labelling = COST_LABELLING_ROW if state[HAS_LABELS] == 0 else 0.0
    way = cheapest(n_strata, product, levels, n_y, n_rows, prepared.bitmaps.shape[1], can_and,
                   labelling)  # fmt: skip
    if way == POPCOUNT:
        _need_strata(work)
        count_by_popcount(state[SIZE], n_strata, levels, prepared.level_start[column],
                          scratch.strata, scratch.by_y, prepared.bitmaps, prepared.level_counts,
                          prepared.segments, False, False, scratch.table)  # fmt: skip
        given.counts[N_TABLES] += 1
        state[COUNTED] = 0
        product = n_strata
    elif way == HISTOGRAM:
        _count_histogram(column, work)
    if way in (POPCOUNT, HISTOGRAM):
        sum_dense(product, n_y, levels, terms.entropy, terms.lengths, wants_length,
                  terms.wants_tables, terms.scale, terms.variance_scales[column],
                  terms.third_scales[column], scratch.table, scratch.column_sums, out,
                  0)  # fmt: skip
        return
    given.counts[N_TABLES] += 1
    if _need_labels(work) and fits_table(levels, labels):
        sum_labelled(prepared.codes[column], column, levels, terms, wants_length, labels, out, 0)
    else:
        _need_groups(work)
        sum_grouped(state[SIZE], prepared.codes[column], column, terms, wants_length, groups,
                    out, 0)  # fmt: skip
