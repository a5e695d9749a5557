"""The kernel for tables with missing values: every test on the rows that are complete for it."""

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
    N_KEPT,
    N_RUNS,
    N_SINGLE,
    N_STRATA,
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
from komb.counts.contingency_kernels.labelled_rows import (
    clear_labelled,
    count_labelled,
    fits_table,
    label_kept_rows,
    list_labelled,
    put_labelled,
    tabulate_labelled,
)
from komb.counts.contingency_kernels.sorted_rows import list_grouped, mark_runs, refine, sum_grouped
from komb.counts.contingency_kernels.summaries import put_listed, sum_listed


@inner
def _mark_complete(given, prepared, present):
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
    _mark_complete(given, prepared, present)
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
def _keep_complete_rows(given, prepared, labels, present):
    """Keep the complete rows for labelling."""
    _mark_complete(given, prepared, present)
    n_kept = np.uint64(0)
    for row in range(np.uint64(present.is_complete.size)):
        labels.rows[n_kept] = np.int32(row)
        n_kept += np.uint64(present.is_complete[row])
    labels.counts[N_KEPT] = n_kept


@inner
def _group_complete_rows(given, prepared, groups, present):
    """Sort the complete rows by stratum of ``given`` and, inside a stratum, by target level."""
    _mark_complete(given, prepared, present)
    n_kept = 0
    for row in prepared.order:
        if present.is_complete[row]:
            groups.rows[0, n_kept] = row
            n_kept += 1
    groups.starts[0, 0] = 0
    groups.starts[0, 1] = n_kept
    groups.n_strata[0] = 1
    groups.n_single[0] = 0
    for depth in range(given.size):
        refine(depth, prepared.codes[given[depth]], groups)
    end = groups.starts[given.size, groups.n_strata[given.size]]
    _list_single(
        groups.rows[given.size], end, groups.n_single[given.size], present.is_complete,
        present.not_grouped,
    )  # fmt: skip


@inner
def _list_single(rows, n_kept, n_single, is_complete, single):
    """List the complete rows that are not kept, for they are alone in their stratum."""
    if n_single == 0:
        return
    for position in range(n_kept):
        is_complete[rows[position]] = False
    found = 0
    for row in range(is_complete.size):
        if is_complete[row]:
            single[found] = row
            found += 1


@inner
def _count_present(rows, n_rows, x, levels):
    """How many of some rows have a value of ``x``."""
    count = 0
    for index in range(np.uint64(n_rows)):
        count += x[np.uint64(rows[index])] < levels
    return count


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
    _put_own(listed, n_rows, is_thin, length_class[column], entropy, lengths, sizes, cells, out, j)
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
def _leave_out_missing(levels, sums, terms, wants_lengths, labels, kept):
    """Take the missing values of a column back out of a count, and size what is left."""
    fit, length, sets = sums
    entropy, lengths, table = terms.entropy[0], terms.lengths[0], labels.table
    n_strata, n_runs, width = labels.counts[N_STRATA], labels.counts[N_RUNS], levels + 1
    for stratum in range(n_strata):
        kept.runs_of_stratum[stratum] = 0
    cell = np.uint64(levels)
    for run in range(np.uint64(n_runs)):
        missing = table[cell]
        table[cell] = 0
        fit -= entropy[np.uint64(missing)]
        kept.run_sizes[run] = labels.run_sizes[run] - missing
        stratum = np.uint64(labels.stratum_of_run[run])
        kept.runs_of_stratum[stratum] += np.int32(kept.run_sizes[run] > 0)
        cell += np.uint64(width)
    for stratum in range(np.uint64(n_strata)):
        missing = table[cell]
        table[cell] = 0
        fit += entropy[np.uint64(missing)]
        if wants_lengths:
            length -= lengths[np.uint64(missing)]
        sets -= missing > 0
        kept.stratum_sizes[stratum] = labels.stratum_sizes[stratum] - missing
        cell += np.uint64(width)
    return fit, length, sets


@inner
def _sum_labelled_present(column, kind, prepared, terms, scratch, labels, present, out, j):
    """Sum over the table of a column with the labelled strata, and over those in its rows."""
    x, levels = prepared.codes[column], prepared.cardinalities[column]
    x_has_missing = present.is_incomplete[column]
    wants_lengths = terms.length_below > 0
    width = levels + x_has_missing
    sums = count_labelled(x, width, terms, wants_lengths, labels)
    kept = labels
    if x_has_missing:
        kept = present.labels
        for place in range(kept.counts.size):
            kept.counts[place] = labels.counts[place]
        kept.counts[N_SINGLE] = _count_present(
            present.not_labelled, labels.counts[N_SINGLE], x, levels
        )
        sums = _leave_out_missing(levels, sums, terms, wants_lengths, labels, kept)
    put_labelled(sums, terms, wants_lengths, kept, out, j)
    if terms.wants_tables:
        tabulate_labelled(column, width, terms, kept, out, j)
    clear_labelled(width, labels)
    n_rows = kept.counts[N_SINGLE]
    for stratum in range(kept.counts[N_STRATA]):
        n_rows += kept.stratum_sizes[stratum]
    listed = list_labelled(kept, terms.lengths, wants_lengths, scratch)
    _put_own(listed, n_rows, wants_lengths, kind, terms.entropy, terms.lengths, scratch.sizes,
             scratch.cells, out, j)  # fmt: skip


@inner
def _keep_present(depth, x, levels, groups, present):
    """Keep the sorted rows that have a value of ``x``, and the strata that have such rows."""
    rows, starts = groups.rows, groups.starts
    source, sink = np.uint64(depth), np.uint64(depth + 1)
    found = 0
    place = np.uint64(0)
    for stratum in range(groups.n_strata[depth]):
        first = place
        for position in range(
            np.uint64(starts[source, stratum]), np.uint64(starts[source, stratum + 1])
        ):
            row = rows[source, position]
            rows[sink, place] = row
            place += np.uint64(x[np.uint64(row)] < levels)
        starts[sink, found] = first
        found += place > first
    starts[sink, found] = place
    groups.n_strata[depth + 1] = found
    groups.n_single[depth + 1] = _count_present(
        present.not_grouped, groups.n_single[depth], x, levels
    )


@inner
def _sum_grouped_present(depth, column, kind, prepared, terms, scratch, groups, present, out,
                         j):  # fmt: skip
    """Sum over the table of a column stratum by stratum, and over the strata in its rows."""
    x, levels = prepared.codes[column], prepared.cardinalities[column]
    wants_lengths = terms.length_below > 0
    _keep_present(depth, x, levels, groups, present)
    mark_runs(depth + 1, prepared, groups)
    sum_grouped(depth + 1, x, column, terms, wants_lengths, groups, out, j)
    n_rows = groups.starts[depth + 1, groups.n_strata[depth + 1]] + groups.n_single[depth + 1]
    listed = list_grouped(depth + 1, groups, terms.lengths, wants_lengths, scratch)
    _put_own(listed, n_rows, wants_lengths, kind, terms.entropy, terms.lengths, scratch.sizes,
             scratch.cells, out, j)  # fmt: skip


@inner
def _put_own(listed, n_rows, is_thin, kind, entropy, lengths, sizes, cells, out, j):
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
def summarise_present(prepared, terms, scratch, labels, groups, present, given, candidate_start,
                      candidates, length_class, out, out_margins):  # fmt: skip
    """Summarise a batch of tests, each on the rows that are complete for its variables.

    As ``summarise``, but what belongs to the given set is summed anew for every candidate: the
    columns from ``OWN_FIT`` on of ``out[j]``. If ``out_margins`` has room, ``out_margins[j, i]``
    gets the same for the test of ``given[i]`` with the candidate in its place, unless the table is
    too large to be dense.
    """
    # calls are not nested deeper than they must be: every level is optimised anew
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
        if not _sum_dense_tables(members, lo, hi, candidates, n_strata, product, is_packed,
                                 prepared, terms, scratch, present, length_class, out,
                                 out_margins):  # fmt: skip
            continue
        _keep_complete_rows(members, prepared, labels, present)
        has_labels = label_kept_rows(members, prepared, labels)
        has_groups = False
        if has_labels:
            _list_single(labels.rows, labels.counts[N_KEPT], labels.counts[N_SINGLE],
                         present.is_complete, present.not_labelled)  # fmt: skip
        for j in range(lo, hi):
            column = candidates[j]
            width = prepared.cardinalities[column] + present.is_incomplete[column]
            if out[j, OWN_STRATA] != NOT_COUNTED:
                continue
            if has_labels and fits_table(width, labels):
                _sum_labelled_present(column, length_class[column], prepared, terms, scratch,
                                      labels, present, out, j)  # fmt: skip
                continue
            if not has_groups:
                _group_complete_rows(members, prepared, groups, present)
                has_groups = True
            _sum_grouped_present(members.size, column, length_class[column], prepared, terms,
                                 scratch, groups, present, out, j)  # fmt: skip
