"""Counting stratum by stratum, for when even the strata that occur are too many for a table."""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import numpy as np

from komb.counts.compiling import inner, stay_apart
from komb.counts.contingency_kernels.bitmaps import shared_prefix
from komb.counts.contingency_kernels.buffers import (
    FIT,
    FREEDOM,
    HAS_GROUPS,
    LAST_GROUPED,
    LENGTH,
    MEAN,
    PEARSON,
    STRATA,
    THIRD,
    VARIANCE,
)
from komb.counts.contingency_kernels.pearson_moments import (
    inverse_of,
    pearson_term,
    permuted_cumulants,
)


@inner
def refine(depth, codes, groups):
    """Split every stratum of the first ``depth`` columns by one more column, stably."""
    stay_apart()
    rows, starts = groups.rows, groups.starts
    tally, touched = groups.in_stratum, groups.touched
    source, sink = np.uint64(depth), np.uint64(depth + 1)
    found = 0
    place = np.int32(0)
    n_single = groups.n_single[depth]
    for stratum in range(groups.n_strata[depth]):
        lo = np.uint64(starts[source, stratum])
        hi = np.uint64(starts[source, stratum + 1])
        n_touched = 0
        for position in range(lo, hi):
            code = np.uint64(codes[np.uint64(rows[source, position])])
            if tally[code] == 0:
                touched[n_touched] = np.int32(code)
                n_touched += 1
            tally[code] += 1
        for index in range(n_touched):
            size = tally[touched[index]]
            if size == 1:
                n_single += 1
                tally[touched[index]] = -1
            else:
                starts[sink, found] = place
                found += 1
                tally[touched[index]] = place
                place += size
        for position in range(lo, hi):
            row = rows[source, position]
            code = np.uint64(codes[np.uint64(row)])
            if tally[code] >= 0:
                rows[sink, np.uint64(tally[code])] = row
                tally[code] += 1
        for index in range(n_touched):
            tally[touched[index]] = 0
    starts[sink, found] = place
    groups.n_strata[depth + 1] = found
    groups.n_single[depth + 1] = n_single


@inner
def sort_by_columns(given, shared, prepared, groups):
    """Sort rows by stratum of ``given``, column by column.

    The first ``shared`` columns have been sorted by already, for the set before.
    """
    if shared < 0:
        for position in range(prepared.order.size):
            groups.rows[0, position] = prepared.order[position]
        groups.starts[0, 0] = 0
        groups.starts[0, 1] = prepared.order.size
        groups.n_strata[0] = 1
        groups.n_single[0] = 0
        shared = 0
    for depth in range(shared, given.size):
        refine(depth, prepared.codes[given[depth]], groups)


@inner
def mark_runs(depth, prepared, groups):
    """Find the runs of one target level inside each stratum."""
    stay_apart()
    y = prepared.codes[prepared.target]
    rows, starts = groups.rows, groups.starts
    n_strata = groups.n_strata[depth]
    n_runs = 0
    last = np.uint64(depth)
    for stratum in range(n_strata):
        groups.run_of_stratum[stratum] = n_runs
        before = -1
        for position in range(
            np.uint64(starts[last, stratum]), np.uint64(starts[last, stratum + 1])
        ):
            level = np.int64(y[np.uint64(rows[last, position])])
            if level != before:
                groups.runs[n_runs] = position
                n_runs += 1
                before = level
    groups.run_of_stratum[n_strata] = n_runs
    groups.runs[n_runs] = starts[last, n_strata]


@inner
def group_rows(given, index, prepared, scratch, groups):
    """Sort rows by stratum of ``given[index]``, then by target level."""
    state = scratch.state
    shared = shared_prefix(given, index, state[LAST_GROUPED])
    sort_by_columns(given[index], shared, prepared, groups)
    state[LAST_GROUPED] = index
    mark_runs(given.shape[1], prepared, groups)
    state[HAS_GROUPS] = 1


@inner
def sum_grouped(  # noqa: C901, PLR0912, PLR0915 - one loop, over scratch that each step leaves clean
    depth, x, column, terms, wants_lengths, groups, out, j
):
    """Sum over the table of ``x``, counting it stratum by stratum."""
    stay_apart()
    gathered, in_stratum, in_run = groups.gathered, groups.in_stratum, groups.in_run
    increments, lengths = terms.entropy[1], terms.lengths[0]
    rows, starts = groups.rows, groups.starts
    one, last = np.uint64(1), np.uint64(depth)
    n_strata, n_single = groups.n_strata[depth], groups.n_single[depth]
    variance_scale, third_scale = terms.variance_scales[column], terms.third_scales[column]
    fit = freedom = pearson = mean = variance = third = 0
    sets = n_single
    length = n_single * lengths[one] if wants_lengths else 0
    for position in range(starts[last, n_strata]):
        gathered[position] = x[np.uint64(rows[last, position])]
    for stratum in range(n_strata):
        lo = starts[last, stratum]
        hi = starts[last, stratum + 1]
        columns_seen = inverse_x = inverse_y = square_x = square_y = 0
        for position in range(lo, hi):
            code = np.uint64(gathered[position])
            count = np.uint64(in_stratum[code])
            fit -= increments[count]
            if wants_lengths:
                length += lengths[count + one] - lengths[count]
            columns_seen += count == 0
            in_stratum[code] += 1
        sets += columns_seen
        first_run = groups.run_of_stratum[stratum]
        end_run = groups.run_of_stratum[stratum + 1]
        for run in range(first_run, end_run):
            run_lo = groups.runs[run]
            run_hi = groups.runs[run + 1]
            for position in range(run_lo, run_hi):
                code = np.uint64(gathered[position])
                count = np.uint64(in_run[code])
                fit += increments[count]
                in_run[code] += 1
            for position in range(run_lo, run_hi):
                code = np.uint64(gathered[position])
                if terms.wants_tables and in_run[code] > 0:
                    pearson += pearson_term(
                        in_run[code], hi - lo, in_stratum[code], run_hi - run_lo, terms.scale
                    )
                in_run[code] = 0
            if terms.wants_tables:
                inverse, square = inverse_of(run_hi - run_lo)
                inverse_y += inverse
                square_y += square
        for position in range(lo, hi):
            code = np.uint64(gathered[position])
            if terms.wants_tables and in_stratum[code] > 0:
                inverse, square = inverse_of(in_stratum[code])
                inverse_x += inverse
                square_x += square
            in_stratum[code] = 0
        n_runs = end_run - first_run
        if terms.wants_tables:
            pearson -= np.int64((hi - lo) * terms.scale)
        if terms.wants_tables and columns_seen > 1 and n_runs > 1:
            freedom += (columns_seen - 1) * (n_runs - 1)
            own_mean, own_variance, own_third = permuted_cumulants(
                hi - lo, columns_seen, n_runs, (inverse_x, square_x), (inverse_y, square_y),
                terms.scale, variance_scale, third_scale,
            )  # fmt: skip
            mean += own_mean
            variance += own_variance
            third += own_third
    out[j, FIT] = fit
    out[j, STRATA] = sets
    out[j, LENGTH] = length
    out[j, FREEDOM] = freedom
    out[j, PEARSON] = pearson
    out[j, MEAN] = mean
    out[j, VARIANCE] = variance
    out[j, THIRD] = third


@inner
def list_grouped(depth, groups, lengths, wants_lengths, scratch):
    """List the sizes of the strata and of their runs, as ``list_dense`` does."""
    stay_apart()
    n_strata, n_single = groups.n_strata[depth], groups.n_single[depth]
    n_sizes = n_cells = 0
    length = n_single * lengths[0, 1] if wants_lengths else 0
    for stratum in range(n_strata):
        size = groups.starts[depth, stratum + 1] - groups.starts[depth, stratum]
        if wants_lengths:
            length += lengths[0, np.uint64(size)]
        first = groups.run_of_stratum[stratum]
        end = groups.run_of_stratum[stratum + 1]
        if end - first > 1:
            scratch.sizes[n_sizes] = size
            n_sizes += 1
            for run in range(first, end):
                scratch.cells[n_cells] = groups.runs[run + 1] - groups.runs[run]
                n_cells += 1
    return n_strata + n_single, n_sizes, n_cells, length
