"""Counting by labels: every row has the number of its stratum among those that occur."""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import numpy as np

from komb.counts.compiling import inner, stay_apart
from komb.counts.contingency_kernels.buffers import (
    FIT,
    FREEDOM,
    INVERSE_X,
    INVERSE_Y,
    LENGTH,
    LEVELS,
    MEAN,
    N_KEPT,
    N_RUNS,
    N_SINGLE,
    N_STRATA,
    PEARSON,
    SQUARE_X,
    SQUARE_Y,
    STRATA,
    THIRD,
    VARIANCE,
)
from komb.counts.contingency_kernels.pearson_moments import (
    inverse_of,
    pearson_term,
    permuted_cumulants,
)

CLEARED_CELLS_PER_ROW = 16  # from so many on, clearing by rows is faster
STRATA_PER_ROW = 0.6  # from so many on, most strata are single rows, which are then left out
STEP_CELLS = 1 << 16  # strata are numbered by several columns at once up to so many cells


@inner
def _clear(table, cells, n_kept):
    """Set a table to zero: all of it, or the cells of the rows if that is less."""
    if table.size < CLEARED_CELLS_PER_ROW * n_kept:
        table[:] = 0
    else:
        for position in range(np.uint64(n_kept)):
            table[np.uint64(cells[position])] = 0


@inner
def _number_cells(cells, n_cells, n_kept, table, numbers):
    """Give each row the number of its cell, by first occurrence; returns how many there are."""
    stay_apart()
    found = np.int32(0)
    for position in range(np.uint64(n_kept)):
        cell = np.uint64(cells[position])
        known = table[cell]  # one more than its number, or zero; no branch: it is unpredictable
        found += np.int32(known == 0)
        number = found if known == 0 else known
        table[cell] = number
        numbers[position] = number - np.int32(1)
    _clear(table[:n_cells], cells, n_kept)
    return np.int64(found)


@inner
def _combine(labels, codes, levels, cells):
    """Turn the number of each row's cell into that of its cell by one more column."""
    n_kept, width, rows = labels.counts[N_KEPT], np.int32(levels), labels.rows
    if n_kept == codes.size:  # row by row, which the compiler can vectorise
        for row in range(np.uint64(n_kept)):
            cells[row] = cells[row] * width + np.int32(codes[row])
    else:
        for position in range(np.uint64(n_kept)):
            code = codes[np.uint64(rows[position])]
            cells[position] = cells[position] * width + np.int32(code)


@inner
def _copy(source, n_kept, sink):
    """Begin the cells of the rows with numbers they have."""
    for position in range(np.uint64(n_kept)):
        sink[position] = source[position]


@inner
def _leave_out_single(labels, n_strata):
    """Leave out the rows that are alone in their stratum; returns how many strata remain."""
    n_kept, sizes, stratum = labels.counts[N_KEPT], labels.stratum_sizes, labels.stratum
    for number in range(n_strata):
        sizes[number] = 0
    for position in range(np.uint64(n_kept)):
        sizes[np.uint64(stratum[position])] += np.int32(1)
    remaining = np.int32(0)
    for number in range(n_strata):  # from here on, the new number of a stratum that remains
        is_single = sizes[number] == 1
        sizes[number] = np.int32(-1) if is_single else remaining
        remaining += np.int32(not is_single)
    kept = np.uint64(0)
    for position in range(np.uint64(n_kept)):
        number = sizes[np.uint64(stratum[position])]
        labels.rows[kept] = labels.rows[position]
        stratum[kept] = number
        kept += np.uint64(number >= 0)
    labels.counts[N_KEPT] = kept
    labels.counts[N_SINGLE] += n_kept - np.int64(kept)
    return np.int64(remaining)


@inner
def label_rows(given, prepared, labels):
    """Label every row with its stratum and its run; returns whether the table was large enough."""
    n_rows = prepared.codes.shape[1]
    labels.counts[N_KEPT] = n_rows
    for row in range(np.uint64(n_rows)):
        labels.rows[row] = np.int32(row)
    return label_kept_rows(given, prepared, labels)


@inner
def label_kept_rows(given, prepared, labels):
    """Label the rows that are kept so far; returns whether the table was large enough."""
    stay_apart()
    counts, cells, stratum, table = labels.counts, labels.cells, labels.stratum, labels.table
    counts[N_SINGLE] = 0
    for position in range(np.uint64(counts[N_KEPT])):
        stratum[position] = 0
    n_strata = 1
    depth = 0
    while depth < given.size:
        _copy(stratum, counts[N_KEPT], cells)
        n_cells, first = n_strata, depth
        while depth < given.size:
            levels = prepared.cardinalities[given[depth]]
            if n_cells * levels > (min(STEP_CELLS, table.size) if depth > first else table.size):
                break
            n_cells *= levels
            _combine(labels, prepared.codes[given[depth]], levels, cells)
            depth += 1
        if depth == first:
            return False
        n_strata = _number_cells(cells, n_cells, counts[N_KEPT], table, stratum)
        if n_strata > STRATA_PER_ROW * counts[N_KEPT]:
            n_strata = _leave_out_single(labels, n_strata)
    n_y = prepared.cardinalities[prepared.target]
    if n_strata * n_y > table.size:
        return False
    _copy(stratum, counts[N_KEPT], cells)
    _combine(labels, prepared.codes[prepared.target], n_y, cells)
    counts[N_STRATA] = n_strata
    counts[N_RUNS] = _number_cells(cells, n_strata * n_y, counts[N_KEPT], table, labels.run)
    _size_labels(labels)
    return True


@inner
def _size_labels(labels):
    """Count the rows of every stratum and run, and the runs of every stratum."""
    for stratum in range(labels.counts[N_STRATA]):
        labels.stratum_sizes[stratum] = 0
        labels.runs_of_stratum[stratum] = 0
    for run in range(labels.counts[N_RUNS]):
        labels.run_sizes[run] = 0
    for position in range(np.uint64(labels.counts[N_KEPT])):
        run = np.uint64(labels.run[position])
        labels.run_sizes[run] += np.int32(1)
        labels.stratum_of_run[run] = labels.stratum[position]
    for run in range(labels.counts[N_RUNS]):
        stratum = np.uint64(labels.stratum_of_run[run])
        labels.stratum_sizes[stratum] += labels.run_sizes[run]
        labels.runs_of_stratum[stratum] += np.int32(1)


@inner
def fits_table(width, labels):
    """Whether a column of so many codes can be counted in the table of the labelled strata."""
    return (labels.counts[N_STRATA] + labels.counts[N_RUNS]) * width <= labels.table.size


@inner
def sum_labelled(x, column, levels, terms, wants_lengths, labels, out, j):
    """Sum over the table of ``x`` with the strata that occur."""
    stay_apart()
    sums = count_labelled(x, levels, terms, wants_lengths, labels)
    put_labelled(sums, terms, wants_lengths, labels, out, j)
    if terms.wants_tables:
        tabulate_labelled(column, levels, terms, labels, out, j)
    clear_labelled(levels, labels)


@inner
def count_labelled(x, width, terms, wants_lengths, labels):
    """Count ``x`` in runs and strata and sum over the counts; returns fit, length and sets."""
    stay_apart()
    increments, lengths = terms.entropy[1], terms.lengths[0]
    table, in_run, in_stratum = labels.table, labels.cells, labels.other_cells
    n_kept = labels.counts[N_KEPT]
    one = np.uint64(1)
    first = np.uint64(labels.counts[N_RUNS] * width)  # the strata's own cells come after
    _copy(labels.run, n_kept, in_run)
    _combine(labels, x, width, in_run)
    _copy(labels.stratum, n_kept, in_stratum)
    _combine(labels, x, width, in_stratum)
    fit = length = sets = 0
    for position in range(np.uint64(n_kept)):
        run_cell, cell = np.uint64(in_run[position]), first + np.uint64(in_stratum[position])
        run_count, count = np.uint64(table[run_cell]), np.uint64(table[cell])
        fit += increments[run_count] - increments[count]
        if wants_lengths:
            length += lengths[count + one] - lengths[count]
        sets += count == 0
        table[run_cell] = np.int32(run_count + one)
        table[cell] = np.int32(count + one)
    return fit, length, sets


@inner
def clear_labelled(width, labels):
    """Leave the table as it was before counting."""
    n_kept, first = labels.counts[N_KEPT], np.uint64(labels.counts[N_RUNS] * width)
    end = first + np.uint64(labels.counts[N_STRATA] * width)
    _clear(labels.table[:first], labels.cells, n_kept)
    _clear(labels.table[first:end], labels.other_cells, n_kept)


@inner
def put_labelled(sums, terms, wants_lengths, labels, out, j):
    """Write down the sums over labelled rows and over the rows that are alone in a stratum."""
    fit, length, sets = sums
    n_single = labels.counts[N_SINGLE]
    out[j, FIT] = fit
    out[j, STRATA] = sets + n_single
    out[j, LENGTH] = length + (n_single * terms.lengths[0, 1] if wants_lengths else 0)
    out[j, FREEDOM] = out[j, PEARSON] = out[j, MEAN] = out[j, VARIANCE] = out[j, THIRD] = 0


@inner
def tabulate_labelled(column, width, terms, labels, out, j):
    """Sum freedom, Pearson's statistic and its moments over a table that was just counted.

    Counts are made negative once they are used.
    """
    stay_apart()
    table, in_run, in_stratum = labels.table, labels.cells, labels.other_cells
    margins, scale = labels.margins, terms.scale
    first = labels.counts[N_RUNS] * width
    pearson = 0
    for stratum in range(labels.counts[N_STRATA]):
        for place in range(margins.shape[1]):
            margins[stratum, place] = 0
    for position in range(labels.counts[N_KEPT]):
        run, stratum = labels.run[position], labels.stratum[position]
        run_cell, cell = in_run[position], first + in_stratum[position]
        count, n_xz = table[run_cell], table[cell]
        if count > 0:
            table[run_cell] = -count
            n_z, n_yz = labels.stratum_sizes[stratum], labels.run_sizes[run]
            pearson += pearson_term(count, n_z, abs(n_xz), n_yz, scale)
        if n_xz > 0:
            table[cell] = -n_xz
            margins[stratum, LEVELS] += 1
            inverse, square = inverse_of(n_xz)
            margins[stratum, INVERSE_X] += inverse
            margins[stratum, SQUARE_X] += square
    for run in range(labels.counts[N_RUNS]):
        if labels.run_sizes[run] > 0:
            stratum = labels.stratum_of_run[run]
            inverse, square = inverse_of(labels.run_sizes[run])
            margins[stratum, INVERSE_Y] += inverse
            margins[stratum, SQUARE_Y] += square
    out[j, PEARSON] = pearson
    _sum_labelled_strata(scale, terms.variance_scales[column], terms.third_scales[column], labels,
                         out, j)  # fmt: skip


@inner
def _sum_labelled_strata(scale, variance_scale, third_scale, labels, out, j):
    """Sum what depends on the margins of each stratum only."""
    margins = labels.margins
    freedom = pearson = mean = variance = third = 0
    for stratum in range(labels.counts[N_STRATA]):
        n_z, y_levels = labels.stratum_sizes[stratum], labels.runs_of_stratum[stratum]
        x_levels = margins[stratum, LEVELS]
        pearson -= np.int64(n_z * scale)
        if x_levels > 1 and y_levels > 1:
            freedom += (x_levels - 1) * (y_levels - 1)
            own_mean, own_variance, own_third = permuted_cumulants(
                n_z, x_levels, y_levels,
                (margins[stratum, INVERSE_X], margins[stratum, SQUARE_X]),
                (margins[stratum, INVERSE_Y], margins[stratum, SQUARE_Y]),
                scale, variance_scale, third_scale,
            )  # fmt: skip
            mean += own_mean
            variance += own_variance
            third += own_third
    out[j, FREEDOM] = freedom
    out[j, PEARSON] += pearson
    out[j, MEAN] = mean
    out[j, VARIANCE] = variance
    out[j, THIRD] = third


@inner
def list_labelled(labels, lengths, wants_lengths, scratch):
    """List the sizes of the strata and of their runs, as ``list_dense`` does."""
    stay_apart()
    n_strata = n_single = labels.counts[N_SINGLE]
    n_sizes = n_cells = 0
    length = n_single * lengths[0, 1] if wants_lengths else 0
    for stratum in range(labels.counts[N_STRATA]):
        size = labels.stratum_sizes[stratum]
        n_strata += size > 0
        if wants_lengths:
            length += lengths[0, np.uint64(size)]
        scratch.sizes[n_sizes] = size
        n_sizes += labels.runs_of_stratum[stratum] > 1
    for run in range(labels.counts[N_RUNS]):
        scratch.cells[n_cells] = labels.run_sizes[run]
        n_cells += labels.runs_of_stratum[labels.stratum_of_run[run]] > 1
    return n_strata, n_sizes, n_cells, length
