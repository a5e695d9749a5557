"""The kernel for tables with missing values: every test on the rows that are complete for it.

Tables that are not to be counted as dense ones are left to :mod:`thin_missing_values`, which is
compiled when one is met.
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
    LAST_PACKED,
    MARGIN_FIT,
    MARGIN_LENGTH,
    MARGIN_SPLIT,
    MARGIN_STRATA,
    NOT_COUNTED,
    OWN_FIT,
    OWN_ROWS,
    OWN_STRATA,
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
    fill_base,
    list_dense,
    sum_dense,
)
from komb.counts.contingency_kernels.summaries import put_listed, sum_listed


@inner
def mark_complete(given, prepared, present):
    """Mark the rows that are complete for the target and the given set."""
    is_complete = present.is_complete
    is_complete[:] = True
    for index in range(given.size + 1):
        column = given[index] if index < given.size else prepared.target
        if present.is_incomplete[column]:
            levels, codes = prepared.cardinalities[column], prepared.codes[column]
            for row in range(np.uint64(is_complete.size)):
                is_complete[row] &= codes[row] < levels


@inner
def _fill_complete_base(given, n_cells, prepared, row_base, present):
    """Give each complete row the number of its cell, and all others the one after the last."""
    fill_base(given, 1, prepared, row_base)
    mark_complete(given, prepared, present)
    for row in range(np.uint64(row_base.size)):
        if not present.is_complete[row]:
            row_base[row] = n_cells


@inner
def _squeeze(n_groups, levels, table):
    """Take the column of the missing values out of a dense table."""
    width = np.uint64(levels)
    for group in range(np.uint64(n_groups)):
        for x in range(width):
            table[group * width + x] = table[group * (width + np.uint64(1)) + x]


@inner
def _sum_dense_present(n_groups, n_y, members, column, product, stratum_codes, cardinalities,
                       entropy, lengths, length_below, wants_tables, scale, variance_scale,
                       third_scale, table, by_y, sizes, cells, column_sums, length_class, out,
                       out_margins, j):  # fmt: skip
    """Sum over a dense table, and over the given set in the rows of the table."""
    levels = cardinalities[column]
    n_rows = 0
    width = np.uint64(levels)
    for group in range(np.uint64(n_groups * n_y)):
        total = np.int32(0)
        for x in range(width):
            total += table[group * width + x]
        by_y[group] = total
        n_rows += total
    listed = list_dense(by_y, n_groups, n_y, lengths, length_below > 0, sizes, cells)
    is_thin = n_rows < length_below * (listed[0] * levels * n_y)
    put_own(listed, n_rows, is_thin, length_class[column], entropy, lengths, sizes, cells, out, j)
    if out_margins.shape[1] > 0:
        is_thin |= _sum_margins(n_groups, n_rows, n_y, members, levels, product, stratum_codes,
                                cardinalities, entropy, lengths, length_below, table, by_y, sizes,
                                cells, length_class, out_margins, j)  # fmt: skip
    sum_dense(n_groups, n_y, levels, entropy, lengths, is_thin, wants_tables, scale,
              variance_scale, third_scale, table, column_sums, out, j)  # fmt: skip


@inner
def _sum_margins(n_groups, n_rows, n_y, members, levels, product, stratum_codes, cardinalities,
                 entropy, lengths, length_below, table, margin, sizes, cells, length_class,
                 out_margins, j):  # fmt: skip
    """Sum over the table without each of the members in turn; returns if any is then sparse.

    That is what the test of this member, given the others and the column, has as its given set.
    """
    if n_rows == 0:
        out_margins[j] = 0
        return False
    if product * levels * n_y > margin.size:
        out_margins[j, :, MARGIN_STRATA] = NOT_COUNTED
        return False
    is_any_thin = False
    stride = 1
    for place in range(members.size - 1, -1, -1):
        width = cardinalities[members[place]]
        n_left = product // width * levels
        _add_up(n_groups, n_left, width, stride, levels, n_y, stratum_codes, table, margin)
        n_strata, n_sizes, n_cells, length = list_dense(
            margin, n_left, n_y, lengths, length_below > 0, sizes, cells
        )
        is_thin = n_rows < length_below * (n_strata * width * n_y)
        split = np.int64(0)
        if is_thin:
            kind = length_class[members[place]]
            split = -sum_listed(n_sizes, n_cells, lengths, kind, sizes, cells)
        fit = sum_listed(n_sizes, n_cells, entropy, 0, sizes, cells)
        out_margins[j, place, MARGIN_FIT] = fit
        out_margins[j, place, MARGIN_STRATA] = n_strata
        out_margins[j, place, MARGIN_LENGTH] = length
        out_margins[j, place, MARGIN_SPLIT] = split
        is_any_thin |= is_thin
        stride *= width
    return is_any_thin


@inner
def _add_up(n_groups, n_left, width, stride, levels, n_y, stratum_codes, table, margin):
    """Add up ``table[stratum, y, x]`` over one column of the given set: ``margin[rest, x, y]``.

    Without ``stratum_codes`` a stratum has its number for a code.
    """
    for cell in range(np.uint64(n_left * n_y)):
        margin[cell] = 0
    cell = np.uint64(0)
    for stratum in range(n_groups):
        code = np.int64(stratum_codes[stratum]) if stratum_codes.size > 0 else stratum
        rest = code // (width * stride) * stride + code % stride
        for y in range(n_y):
            sink = np.uint64(rest * levels * n_y + y)
            for _ in range(levels):
                margin[sink] += table[cell]
                cell += np.uint64(1)
                sink += np.uint64(n_y)


@inner
def put_own(listed, n_rows, is_thin, kind, entropy, lengths, sizes, cells, out, j):
    """Sum over the given set of a test, which was just listed in the rows of that test."""
    put_listed(listed, entropy, sizes, cells, out, j, OWN_FIT)
    out[j, OWN_ROWS] = n_rows
    out[j, SPLIT] = 0
    if is_thin:
        out[j, SPLIT] = -sum_listed(listed[1], listed[2], lengths, kind, sizes, cells)


@inner
def _sum_dense_tables(given, lo, hi, candidates, n_strata, product, is_packed, prepared, terms,
                      scratch, present, length_class, out, out_margins):  # fmt: skip
    """Count and sum the table of a given set with each candidate, on the rows complete for both.

    Returns whether some are left to be counted in other ways.
    """
    # taken out of their tuples once: every access through a tuple counts references
    bitmaps, level_counts, segments = prepared.bitmaps, prepared.level_counts, prepared.segments
    cardinalities, level_start = prepared.cardinalities, prepared.level_start
    strata, strata_by_y, table = scratch.strata, scratch.by_y, scratch.table
    column_sums, row_base = scratch.column_sums, scratch.row_base
    sizes, cells, stratum_codes = scratch.sizes, scratch.cells, scratch.codes[given.size]
    entropy, lengths, length_below = terms.entropy, terms.lengths, terms.length_below
    wants_tables, scale = terms.wants_tables, terms.scale
    variance_scales, third_scales = terms.variance_scales, terms.third_scales
    incomplete, by_y = present.is_incomplete, present.by_y
    n_rows, n_y, n_words = row_base.size, cardinalities[prepared.target], bitmaps.shape[1]
    given_has_missing = has_base = some_are_left = False
    for column in given:
        if incomplete[column]:
            given_has_missing = True
    for j in range(lo, hi):
        column = candidates[j]
        levels, x_has_missing = cardinalities[column], incomplete[column]
        can_and = is_packed and level_start[column] >= 0
        labelling = 0.0 if some_are_left else COST_LABELLING_ROW
        # a stratum and a level more, for rows that are left out
        way = cheapest(n_strata + 1, product + 1, levels + 1, n_y, n_rows, n_words, can_and,
                       labelling)  # fmt: skip
        if way == BY_STRATUM:
            out_margins[j, :, MARGIN_STRATA] = out[j, OWN_STRATA] = NOT_COUNTED
            some_are_left = True
            continue
        n_groups, codes = n_strata, stratum_codes
        if way == POPCOUNT:
            count_by_popcount(given.size, n_strata, levels, level_start[column], strata,
                              strata_by_y, bitmaps, level_counts, segments, given_has_missing,
                              x_has_missing, table)  # fmt: skip
        else:
            n_groups, codes = product, stratum_codes[:0]  # every stratum is in its place
            if not has_base:
                _fill_complete_base(given, product * n_y, prepared, row_base, present)
                has_base = True
            width = levels + x_has_missing
            n_cells = (product * n_y + 1) * width
            count_by_histogram(row_base, prepared.codes[column], width, n_cells, table)
            if x_has_missing:
                _squeeze(product * n_y, levels, table)
        _sum_dense_present(n_groups, n_y, given, column, product, codes, cardinalities, entropy,
                           lengths, length_below, wants_tables, scale, variance_scales[column],
                           third_scales[column], table, by_y, sizes, cells, column_sums,
                           length_class, out, out_margins, j)  # fmt: skip
    return some_are_left


@kernel
def summarise_present(prepared, terms, scratch, present, given, candidate_start, candidates,
                      length_class, out, out_margins):  # fmt: skip
    """Summarise a batch of tests, each on the rows that are complete for its variables.

    As ``summarise``, but what belongs to the given set is summed anew for every candidate: the
    columns from ``OWN_FIT`` on of ``out[j]``. If ``out_margins`` has room, ``out_margins[j, i]``
    gets the same for the test of ``given[i]`` with the candidate in its place, unless the table is
    too large to be dense.

    Returns whether some tests are left, because their table is not to be counted as a dense one:
    they have ``NOT_COUNTED`` strata.
    """
    some_are_left = False
    scratch.state[LAST_PACKED] = -1
    for index in range(given.shape[0]):
        members = given[index]
        lo, hi = candidate_start[index], candidate_start[index + 1]
        product, is_packed = size_up(members, prepared, scratch)
        n_strata = product
        if is_packed:
            shared = shared_prefix(given, index, scratch.state[LAST_PACKED])
            n_strata = fill_strata(members, shared, prepared, scratch)
            scratch.state[LAST_PACKED] = index
            count_strata(members.size, prepared, scratch)
        some_are_left |= _sum_dense_tables(members, lo, hi, candidates, n_strata, product,
                                           is_packed, prepared, terms, scratch, present,
                                           length_class, out, out_margins)  # fmt: skip
    return some_are_left
