"""Counting one test: a candidate and the target in each stratum of the given set.

There are three ways. Popcounts of bitmaps and histograms of labelled rows fill a dense table
[stratum, x, y]. Where that would be too large, rows are grouped by their stratum, and sums go
through the rows.
"""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import numpy as np

from komb.counts.compiling import inner, stay_apart
from komb.engine.kernels.bitmaps import count_bitmaps, fits_bitmaps, need_bitmaps, need_strata
from komb.engine.kernels.groups import need_groups
from komb.engine.kernels.places import (
    COLUMN,
    DENSE,
    N_GIVEN,
    N_STRATA,
    NOTHING,
    ROWS_COUNTED,
    SPARSE,
    TABLES,
    WAY,
)
from komb.engine.kernels.rows import clear, n_combinations, need_column, need_labels


@inner
def count(s, size, column):
    """Count the test of a column given the present set."""
    stay_apart()
    counted, n_rows = s.counted, s.order.size
    counted[COLUMN], counted[N_GIVEN], counted[WAY] = column, size, DENSE
    s.work[TABLES] += 1
    s.work[ROWS_COUNTED] += n_rows + 1
    if fits_bitmaps(s, size, column) and (size > 0 or s.is_sorted[column]):
        need_bitmaps(s, column)
        need_strata(s, size)
        counted[N_STRATA] = count_bitmaps(s, size, column)
        return
    product = n_combinations(s, 0, size)
    cells = (product + s.has_missing) * (s.levels[column] + 1) * (s.n_y + 1)
    if cells > s.most_cells:
        counted[WAY] = SPARSE
        need_column(s, column)
        need_groups(s, size, column, s.is_adjusted)
        return
    counted[N_STRATA] = product
    if size == 0 and not s.is_sorted[column]:
        _count_pair(s, column)
    else:
        need_column(s, column)
        _count_labels(s, need_labels(s, size), column, product)


@inner
def forget_count(s):
    """Forget what was counted last, as the given set changes."""
    s.counted[WAY] = NOTHING


@inner
def _fold(table, second):
    """Add the second of two tables, one behind the other, to the first."""
    for cell in range(np.uint64(second)):
        table[cell] += table[np.uint64(second) + cell]


@inner
def _count_pair(s, column):
    """Fill the table [x, y] from the columns as they are; each has a place for missing values."""
    stay_apart()
    x, y, table, weight, step = s.codes[column], s.codes[s.target], s.table, s.weight, s.n_y + 1
    n_cells, is_weighted = (s.levels[column] + 1) * step, weight.size > 0
    second = np.uint64(n_cells if 2 * n_cells <= x.size else 0)
    clear(table, n_cells + np.int64(second))
    for row in range(np.uint64(x.size)):
        # in turn in two tables: neighbours often fall into one cell, and would wait
        cell = (row & np.uint64(1)) * second + np.uint64(x[row]) * np.uint64(step) + np.uint64(y[row])
        table[cell] += weight[row] if is_weighted else np.int32(1)
    _fold(table, second)
    for x in range(s.levels[column]):  # without the places of missing values
        for y in range(s.n_y):
            table[np.uint64(x * s.n_y + y)] = table[np.uint64(x * step + y)]


@inner
def _count_labels(s, line, column, n_z):
    """Fill the table [stratum, x, y] row by row; missing levels of the candidate come last."""
    stay_apart()
    codes, table, labels, weight = s.sorted[column], s.table, s.labels[line], s.sorted_weight
    n_x, is_weighted = s.levels[column], weight.size > 0
    step, row_step = np.uint64((n_x + s.is_incomplete[column]) * s.n_y), np.uint64(s.n_y)
    n_cells = (n_z + s.has_missing) * np.int64(step)
    second = np.uint64(n_cells if 2 * n_cells <= s.order.size else 0)
    clear(table, n_cells + np.int64(second))
    for y in range(s.n_y):
        for row in range(np.uint64(s.rows[y]), np.uint64(s.rows[y + 1])):
            cell = np.uint64(labels[row]) * step + np.uint64(codes[row]) * row_step + np.uint64(y)
            table[(row & np.uint64(1)) * second + cell] += (
                weight[row] if is_weighted else np.int32(1)
            )
    _fold(table, second)
    if s.is_incomplete[column]:
        for z in range(1, n_z):
            for cell in range(n_x * s.n_y):
                table[np.uint64(z * n_x * s.n_y + cell)] = table[np.uint64(z) * step + np.uint64(cell)]
