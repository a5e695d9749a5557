"""The kernel for tables without missing values."""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import numpy as np

from komb.counts.compiling import inner, kernel
from komb.counts.contingency_kernels.bitmaps import (
    count_by_popcount,
    count_strata,
    fill_strata,
    shared_prefix,
)
from komb.counts.contingency_kernels.buffers import (
    DENSE_CELLS_PER_ROW,
    FIT,
    HAS_BASE,
    HAS_GROUPS,
    HAS_LABELS,
    LAST_GROUPED,
    LAST_PACKED,
    MAX_DENSE_CELLS,
    SPLIT,
)
from komb.counts.contingency_kernels.costs import (
    COST_LABELLING_ROW,
    HISTOGRAM,
    POPCOUNT,
    cheapest,
    size_up,
)
from komb.counts.contingency_kernels.dense_tables import (
    count_by_histogram,
    count_rows,
    fill_base,
    list_dense,
    sum_dense,
)
from komb.counts.contingency_kernels.labelled_rows import (
    fits_table,
    label_rows,
    list_labelled,
    sum_labelled,
)
from komb.counts.contingency_kernels.sorted_rows import group_rows, list_grouped, sum_grouped


@inner
def sum_listed(n_sizes, n_cells, table, kind, sizes, cells):
    """Sum a table's row ``kind`` over the listed cells minus the listed sizes."""
    total = 0
    row = np.uint64(kind)
    for index in range(n_cells):
        total += table[row, np.uint64(cells[index])]
    for index in range(n_sizes):
        total -= table[row, np.uint64(sizes[index])]
    return total


@inner
def put_listed(listed, entropy, sizes, cells, out, row, first):
    """Write fit, strata and length of listed counts into three columns, from ``first`` on."""
    n_strata, n_sizes, n_cells, length = listed
    out[row, first] = sum_listed(n_sizes, n_cells, entropy, 0, sizes, cells)
    out[row, first + 1] = n_strata
    out[row, first + 2] = length


@inner
def _list_given(given, index, product, is_packed, prepared, terms, scratch, labels, groups):
    """List the counts of a given set; returns strata, list lengths and target length."""
    n_y = prepared.cardinalities[prepared.target]
    wants_lengths = terms.length_below > 0
    state = scratch.state
    state[HAS_BASE] = state[HAS_LABELS] = state[HAS_GROUPS] = 0
    if is_packed:
        fill_strata(given[index], shared_prefix(given, index, state[LAST_PACKED]), prepared,
                    scratch)  # fmt: skip
        state[LAST_PACKED] = index
        count_strata(given.shape[1], prepared, scratch)
        return list_dense(scratch.by_y, scratch.n_strata[given.shape[1]], n_y, terms.lengths,
                          wants_lengths, scratch.sizes, scratch.cells)  # fmt: skip
    if product * n_y <= min(MAX_DENSE_CELLS, DENSE_CELLS_PER_ROW * prepared.codes.shape[1]):
        fill_base(given[index], 1, prepared, scratch.row_base)
        state[HAS_BASE] = 1
        count_rows(scratch.row_base, product * n_y, scratch.table)
        return list_dense(scratch.table, product, n_y, terms.lengths, wants_lengths,
                          scratch.sizes, scratch.cells)  # fmt: skip
    if label_rows(given[index], prepared, labels):
        state[HAS_LABELS] = 1
        return list_labelled(labels, terms.lengths, wants_lengths, scratch)
    group_rows(given, index, prepared, scratch, groups)
    return list_grouped(given.shape[1], groups, terms.lengths, wants_lengths, scratch)


@inner
def _sum_given(index, listed, thin, entropy, lengths, sizes, cells, out_given, out_splits):
    """Sum over the counts of a given set that were just listed."""
    n_strata, n_sizes, n_cells, _ = listed
    put_listed(listed, entropy, sizes, cells, out_given, index, FIT)
    if n_strata > thin:
        for kind in range(out_splits.shape[1]):
            split = sum_listed(n_sizes, n_cells, lengths, kind, sizes, cells)
            out_splits[index, kind] = -split


@inner
def _sum_splits(lo, hi, listed, thin, candidates, length_class, lengths, sizes, cells, out_unions):
    """Sum the split length of a given set for each of its candidates."""
    n_strata, n_sizes, n_cells, _ = listed
    last_kind = np.int64(-1)
    split = np.int64(0)
    for j in range(lo, hi):
        kind = length_class[candidates[j]]
        if n_strata > thin and kind != last_kind:
            last_kind = kind
            split = -sum_listed(n_sizes, n_cells, lengths, kind, sizes, cells)
        out_unions[j, SPLIT] = split


@inner
def _sum_unions(given, index, lo, hi, candidates, n_strata, product, is_packed, thin, prepared,
                terms, scratch, labels, groups, out):  # fmt: skip
    """Count and sum the table of a given set with each of its candidates."""
    # taken out of their tuples once: every access through a tuple counts references
    bitmaps, level_counts, segments = prepared.bitmaps, prepared.level_counts, prepared.segments
    cardinalities, level_start = prepared.cardinalities, prepared.level_start
    strata, by_y, table = scratch.strata, scratch.by_y, scratch.table
    column_sums, row_base, state = scratch.column_sums, scratch.row_base, scratch.state
    entropy, lengths = terms.entropy, terms.lengths
    wants_tables, scale = terms.wants_tables, terms.scale
    variance_scales, third_scales = terms.variance_scales, terms.third_scales
    n_rows, n_y, n_given = row_base.size, cardinalities[prepared.target], given.shape[1]
    n_words = bitmaps.shape[1]
    for j in range(lo, hi):
        column = candidates[j]
        levels = cardinalities[column]
        is_thin = min(n_rows, n_strata * levels) > thin
        can_and = is_packed and level_start[column] >= 0
        labelling = COST_LABELLING_ROW if state[HAS_LABELS] == 0 else 0.0
        way = cheapest(n_strata, product, levels, n_y, n_rows, n_words, can_and, labelling)
        if way == POPCOUNT:
            count_by_popcount(n_given, n_strata, levels, level_start[column], strata, by_y,
                              bitmaps, level_counts, segments, False, False, table)  # fmt: skip
            sum_dense(n_strata, n_y, levels, entropy, lengths, is_thin, wants_tables, scale,
                      variance_scales[column], third_scales[column], table, column_sums, out,
                      j)  # fmt: skip
        elif way == HISTOGRAM:
            if state[HAS_BASE] == 0:
                fill_base(given[index], 1, prepared, row_base)
                state[HAS_BASE] = 1
            count_by_histogram(row_base, prepared.codes[column], levels, product * n_y * levels,
                               table)  # fmt: skip
            sum_dense(product, n_y, levels, entropy, lengths, is_thin, wants_tables, scale,
                      variance_scales[column], third_scales[column], table, column_sums, out,
                      j)  # fmt: skip
        elif _has_labels(given[index], levels, prepared, state, labels):
            sum_labelled(prepared.codes[column], column, levels, terms, is_thin, labels, out, j)
        else:
            if state[HAS_GROUPS] == 0:
                group_rows(given, index, prepared, scratch, groups)
            sum_grouped(n_given, prepared.codes[column], column, terms, is_thin, groups, out, j)


@inner
def _has_labels(given, levels, prepared, state, labels):
    """Whether rows are labelled, now at the latest, and a column of ``levels`` fits the table."""
    if state[HAS_LABELS] == 0 and state[HAS_GROUPS] == 0:
        state[HAS_LABELS] = label_rows(given, prepared, labels)
    return state[HAS_LABELS] == 1 and fits_table(levels, labels)


@kernel
def summarise(prepared, terms, scratch, labels, groups, given, candidate_start, candidates,
              length_class, out_given, out_splits, out_unions):  # fmt: skip
    """Summarise a batch of sets ``given[i]`` and ``given[i] + {candidate}`` against the target.

    ``out_given[i]`` gets fit, strata and target length of ``given[i]``; ``out_unions[j]`` fit,
    strata, target length, adjusted freedom and Pearson's sum of the table of candidate ``j`` with
    its given set, the mean, variance and third cumulant of that sum over all orders of the rows of
    each stratum, and the split length of the given set for that candidate. If ``out_splits`` has
    columns, ``out_splits[i, c]`` gets the split length for every length class ``c``. Lengths are
    summed only where a test could have fewer than ``length_below`` rows per cell. Sets that begin
    with the same columns as the one before them are cheaper.
    """
    n_rows = prepared.codes.shape[1]
    widest = prepared.most_levels * prepared.cardinalities[prepared.target]
    thin = n_rows / max(terms.length_below * widest, 1e-300)  # so many strata are too many
    entropy, lengths, sizes, cells = terms.entropy, terms.lengths, scratch.sizes, scratch.cells
    scratch.state[LAST_PACKED] = scratch.state[LAST_GROUPED] = -1
    for index in range(given.shape[0]):
        lo, hi = candidate_start[index], candidate_start[index + 1]
        product, is_packed = size_up(given[index], prepared, scratch)
        listed = _list_given(given, index, product, is_packed, prepared, terms, scratch, labels,
                             groups)  # fmt: skip
        _sum_given(index, listed, thin, entropy, lengths, sizes, cells, out_given, out_splits)
        _sum_splits(lo, hi, listed, thin, candidates, length_class, lengths, sizes, cells,
                    out_unions)  # fmt: skip
        _sum_unions(given, index, lo, hi, candidates, listed[0], product, is_packed, thin, prepared,
                    terms, scratch, labels, groups, out_unions)  # fmt: skip
