"""The kernel for tables without missing values, where dense tables are the way to count them.

Most searches never need another. The one that knows all ways, :mod:`thin_summaries`, takes as long
to compile again, and that is left until a table asks for it.
"""

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
    HAS_LABELS,
    LAST_PACKED,
    MAX_DENSE_CELLS,
    SPLIT,
)
from komb.counts.contingency_kernels.costs import (
    BY_STRATUM,
    COST_LABELLING_ROW,
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
def can_list(product, is_packed, prepared):
    """Whether the counts of a given set fit a dense table."""
    n_cells = product * prepared.cardinalities[prepared.target]
    n_rows = prepared.codes.shape[1]
    return is_packed or n_cells <= min(MAX_DENSE_CELLS, DENSE_CELLS_PER_ROW * n_rows)


@inner
def list_given(given, index, product, is_packed, prepared, terms, scratch):
    """List the counts of a given set; returns strata, list lengths and target length."""
    n_y = prepared.cardinalities[prepared.target]
    wants_lengths = terms.length_below > 0
    state = scratch.state
    if is_packed:
        fill_strata(given[index], shared_prefix(given, index, state[LAST_PACKED]), prepared,
                    scratch)  # fmt: skip
        state[LAST_PACKED] = index
        count_strata(given.shape[1], prepared, scratch)
        return list_dense(scratch.by_y, scratch.n_strata[given.shape[1]], n_y, terms.lengths,
                          wants_lengths, scratch.sizes, scratch.cells)  # fmt: skip
    fill_base(given[index], 1, prepared, scratch.row_base)
    state[HAS_BASE] = 1
    count_rows(scratch.row_base, product * n_y, scratch.table)
    return list_dense(scratch.table, product, n_y, terms.lengths, wants_lengths, scratch.sizes,
                      scratch.cells)  # fmt: skip


@inner
def sum_given(index, listed, thin, entropy, lengths, sizes, cells, out_given, out_splits):
    """Sum over the counts of a given set that were just listed."""
    n_strata, n_sizes, n_cells, _ = listed
    put_listed(listed, entropy, sizes, cells, out_given, index, FIT)
    if n_strata > thin:
        for kind in range(out_splits.shape[1]):
            split = sum_listed(n_sizes, n_cells, lengths, kind, sizes, cells)
            out_splits[index, kind] = -split


@inner
def sum_splits(lo, hi, listed, thin, candidates, length_class, lengths, sizes, cells, out_unions):
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
def choose_way(column, n_strata, product, is_packed, prepared, state):
    """Choose how to count one more column."""
    can_and = is_packed and prepared.level_start[column] >= 0
    labelling = COST_LABELLING_ROW if state[HAS_LABELS] == 0 else 0.0
    n_y, n_words = prepared.cardinalities[prepared.target], prepared.bitmaps.shape[1]
    return cheapest(n_strata, product, prepared.cardinalities[column], n_y,
                    prepared.codes.shape[1], n_words, can_and, labelling)  # fmt: skip


@inner
def sum_union(given, index, way, j, column, n_strata, product, is_thin, prepared, terms, scratch,
              out):  # fmt: skip
    """Count and sum the table of a given set with one more column, by bitmaps or a histogram."""
    levels, n_y = prepared.cardinalities[column], prepared.cardinalities[prepared.target]
    table, state, n_given = scratch.table, scratch.state, given.shape[1]
    if way == POPCOUNT:
        count_by_popcount(n_given, n_strata, levels, prepared.level_start[column], scratch.strata,
                          scratch.by_y, prepared.bitmaps, prepared.level_counts, prepared.segments,
                          False, False, table)  # fmt: skip
    else:
        if state[HAS_BASE] == 0:
            fill_base(given[index], 1, prepared, scratch.row_base)
            state[HAS_BASE] = 1
        count_by_histogram(scratch.row_base, prepared.codes[column], levels, product * n_y * levels,
                           table)  # fmt: skip
        n_strata = product
    sum_dense(n_strata, n_y, levels, terms.entropy, terms.lengths, is_thin, terms.wants_tables,
              terms.scale, terms.variance_scales[column], terms.third_scales[column], table,
              scratch.column_sums, out, j)  # fmt: skip


@inner
def find_thin(prepared, terms):
    """Return how many strata are too many for a test without code lengths."""
    widest = prepared.most_levels * prepared.cardinalities[prepared.target]
    return prepared.codes.shape[1] / max(terms.length_below * widest, 1e-300)


@kernel
def summarise_dense(prepared, terms, scratch, given, candidate_start, candidates, length_class,
                    out_given, out_splits, out_unions):  # fmt: skip
    """Summarise a batch of sets as :func:`thin_summaries.summarise` does, as far as that goes.

    Returns how many sets are done: less than all if the next one has a table that is not to be
    counted as a dense one.
    """
    thin, n_rows, state = find_thin(prepared, terms), prepared.codes.shape[1], scratch.state
    entropy, lengths, sizes, cells = terms.entropy, terms.lengths, scratch.sizes, scratch.cells
    state[LAST_PACKED] = -1
    for index in range(given.shape[0]):
        lo, hi = candidate_start[index], candidate_start[index + 1]
        product, is_packed = size_up(given[index], prepared, scratch)
        if not can_list(product, is_packed, prepared):
            return index
        state[HAS_BASE] = state[HAS_LABELS] = 0
        listed = list_given(given, index, product, is_packed, prepared, terms, scratch)
        sum_given(index, listed, thin, entropy, lengths, sizes, cells, out_given, out_splits)
        sum_splits(lo, hi, listed, thin, candidates, length_class, lengths, sizes, cells,
                   out_unions)  # fmt: skip
        for j in range(lo, hi):
            column = candidates[j]
            way = choose_way(column, listed[0], product, is_packed, prepared, state)
            if way == BY_STRATUM:
                return index
            is_thin = min(n_rows, listed[0] * prepared.cardinalities[column]) > thin
            sum_union(given, index, way, j, column, listed[0], product, is_thin, prepared, terms,
                      scratch, out_unions)  # fmt: skip
    return given.shape[0]
