"""Counting by histogram, and sums over dense tables."""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import numpy as np

from komb.counts.compiling import inner, stay_apart
from komb.counts.contingency_kernels.buffers import (
    FIT,
    FREEDOM,
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

ROWS_AT_ONCE = np.uint64(4096)


@inner
def fill_base(given, with_target, prepared, row_base):
    """Give each row the number of its cell in the table of ``given``, maybe with ``y`` fastest.

    Some rows at a time, which stay in the cache while columns are added.
    """
    stay_apart()
    n_rows = np.uint64(row_base.size)
    first = np.uint64(0)
    while first < n_rows:
        end = min(first + ROWS_AT_ONCE, n_rows)
        for row in range(first, end):
            row_base[row] = 0
        for index in range(given.size + with_target):
            column = given[index] if index < given.size else prepared.target
            width = np.uint32(prepared.cardinalities[column])
            codes = prepared.codes[column]
            for row in range(first, end):
                row_base[row] = row_base[row] * width + np.uint32(codes[row])
        first = end


@inner
def count_rows(row_base, n_cells, table):
    """Fill ``table[stratum, y]`` with one pass over the rows."""
    for cell in range(n_cells):
        table[cell] = 0
    for row in range(row_base.size):
        table[row_base[row]] += 1


@inner
def count_by_histogram(row_base, x, levels, n_cells, table):
    """Fill ``table[stratum, y, x]`` with one pass over the rows.

    Rows take turns in two tables as long as those are small: neighbours often fall into the same
    cell, and the second would wait for the first.
    """
    stay_apart()
    width, n_rows = np.uint64(levels), np.uint64(row_base.size)
    is_small = 2 * n_cells <= min(table.size, row_base.size)
    second = np.uint64(n_cells if is_small else 0)
    for cell in range(np.uint64(2 * n_cells if is_small else n_cells)):
        table[cell] = 0
    for row in range(np.uint64(1), n_rows, np.uint64(2)):
        before = row - np.uint64(1)
        table[np.uint64(row_base[before]) * width + np.uint64(x[before])] += 1
        table[second + np.uint64(row_base[row]) * width + np.uint64(x[row])] += 1
    if n_rows & np.uint64(1):
        last = n_rows - np.uint64(1)
        table[np.uint64(row_base[last]) * width + np.uint64(x[last])] += 1
    if is_small:
        for cell in range(second):
            table[cell] += table[second + cell]


@inner
def sum_dense(n_strata, n_y, levels, entropy, lengths, wants_lengths, wants_tables, scale,
              variance_scale, third_scale, table, column_sums, out, j):  # fmt: skip
    """Sum over the dense ``table[stratum, y, x]``."""
    stay_apart()
    fit = length = sets = freedom = pearson = mean = variance = third = 0
    width = np.uint64(levels)
    for stratum in range(n_strata):
        for x in range(width):
            column_sums[x] = 0
        rows_seen = 0
        for y in range(n_y):
            cell = np.uint64(stratum * n_y + y) * width
            total = 0
            for x in range(width):
                count = table[cell + x]
                fit += entropy[0, np.uint64(count)]
                column_sums[x] += count
                total += count
            rows_seen += total > 0
        columns_seen = 0
        for x in range(width):
            count = column_sums[x]
            fit -= entropy[0, np.uint64(count)]
            columns_seen += count > 0
            if wants_lengths:
                length += lengths[0, np.uint64(count)]
        sets += columns_seen
        if wants_tables and columns_seen > 0:
            freedom += (rows_seen - 1) * (columns_seen - 1)
            own, own_mean, own_variance, own_third = _pearson_dense(
                stratum, n_y, levels, rows_seen, columns_seen, table, column_sums, scale,
                variance_scale, third_scale,
            )  # fmt: skip
            pearson += own
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
def _pearson_dense(stratum, n_y, levels, rows_seen, columns_seen, table, column_sums, scale,
                   variance_scale, third_scale):  # fmt: skip
    """One stratum's Pearson statistic in fixed point, with its cumulants."""
    stay_apart()
    n_z = inverse_x = inverse_y = square_x = square_y = pearson = 0
    for x in range(levels):
        n_z += column_sums[x]
        if column_sums[x] > 0:
            inverse, square = inverse_of(column_sums[x])
            inverse_x += inverse
            square_x += square
    for y in range(n_y):
        cell = (stratum * n_y + y) * levels
        total = 0
        for x in range(levels):
            total += table[cell + x]
        if total > 0:
            inverse, square = inverse_of(total)
            inverse_y += inverse
            square_y += square
        for x in range(levels):
            if table[cell + x] > 0:
                pearson += pearson_term(table[cell + x], n_z, column_sums[x], total, scale)
    pearson -= np.int64(n_z * scale)
    if rows_seen == 1 or columns_seen == 1:
        return pearson, np.int64(0), np.int64(0), np.int64(0)
    mean, variance, third = permuted_cumulants(
        n_z, columns_seen, rows_seen, (inverse_x, square_x), (inverse_y, square_y), scale,
        variance_scale, third_scale,
    )  # fmt: skip
    return pearson, mean, variance, third


@inner
def list_dense(counts, n_groups, n_y, lengths, wants_lengths, sizes, cells):
    """List the sizes and counts of ``counts[group, y]``; returns strata, both list lengths, length.

    Strata in which the target has one level only are not listed: size and count would cancel.
    """
    stay_apart()
    n_strata = n_sizes = n_cells = length = 0
    for group in range(n_groups):
        size = 0
        first = n_cells
        for y in range(n_y):
            count = counts[group * n_y + y]
            if count > 0:
                cells[n_cells] = count
                n_cells += 1
                size += count
        if size > 0:
            n_strata += 1
            if wants_lengths:
                length += lengths[0, np.uint64(size)]
        if n_cells - first > 1:
            sizes[n_sizes] = size
            n_sizes += 1
        else:
            n_cells = first
    return n_strata, n_sizes, n_cells, length
