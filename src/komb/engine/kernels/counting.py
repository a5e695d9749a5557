"""Counting one test: a candidate and the target in each stratum of the given set.

There are three ways. Popcounts of bitmaps and histograms of rows fill a dense table [run, code]: a
run is a level of the target in a group of rows, a code a combination of levels of columns that rows
are not grouped by, the candidate being the last. Where that table would be too large, sums go
through the rows themselves.
"""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import numpy as np

from komb.engine.compiling import inner, stay_apart
from komb.engine.kernels.bitmaps import count_bitmaps, fits_bitmaps, need_bitmaps, need_strata
from komb.engine.kernels.cells import count_block
from komb.engine.kernels.groups import begin_groups, group_further, line_of, n_runs, write_codes
from komb.engine.kernels.places import (
    BUILT,
    COLUMN,
    DENSE,
    IS_UNCOUNTED,
    LINE,
    N_GIVEN,
    N_RESTS,
    NOTHING,
    ROWS_COUNTED,
    SPARSE,
    TABLES,
    WAY,
)
from komb.engine.kernels.rows import clear


@inner
def count(s, size, column):
    """Count the test of a column given the present set."""
    stay_apart()
    counted, n_rows = s.counted, s.order.size
    counted[COLUMN], counted[N_GIVEN], counted[WAY] = column, size, DENSE
    if s.is_elsewhere:
        _note_one_group(s)
        s.noted[IS_UNCOUNTED], counted[N_RESTS] = s.block.size == 0, 0
    s.work[TABLES] += s.noted[IS_UNCOUNTED] == 0
    if s.is_elsewhere:
        if s.block.size > 0:
            counted[N_RESTS] = count_block(s, size, column)
        return
    s.work[ROWS_COUNTED] += n_rows + 1
    if fits_bitmaps(s, size, column) and (size > 0 or s.is_sorted[column]):
        need_bitmaps(s, column)
        need_strata(s, size)
        counted[N_RESTS] = count_bitmaps(s, size, column)
        _note_one_group(s)
    elif (
        size == 0
        and not s.is_sorted[column]
        and (s.n_y + 1) * (s.levels[column] + 1) <= s.most_cells
    ):
        counted[N_RESTS] = 1
        _count_pair(s, column)
        _note_one_group(s)
    else:
        _count_groups(s, size, column)


@inner
def forget_count(s):
    """Forget what was counted last, as the given set changes."""
    s.counted[WAY] = NOTHING


@inner
def _note_one_group(s):
    """Note that all rows are one group, with a run for each level of the target."""
    line = s.grouped_rows.shape[0] - 1
    s.counted[BUILT], s.counted[LINE] = 0, line
    s.n_groups[line], s.first_run[line, 0], s.first_run[line, 1] = 1, 0, np.int32(s.n_y)


@inner
def n_codes(s):
    """How many codes the rows of the counted test may have."""
    if s.counted[BUILT] > s.counted[N_GIVEN]:
        return np.int64(1)
    return s.counted[N_RESTS] * s.levels[s.counted[COLUMN]]


@inner
def _fold(table, second):
    """Add the second of two tables, one behind the other, to the first."""
    for cell in range(np.uint64(second)):
        table[cell] += table[np.uint64(second) + cell]


@inner
def _count_pair(s, column):
    """Fill the table [y, x] from the columns as they are; missing values come last."""
    stay_apart()
    x, y, table, weight = s.codes[column], s.codes[s.target], s.table, s.weight
    n_x = s.levels[column]
    width, is_weighted = n_x + s.is_incomplete[column], weight.size > 0
    n_cells, step = (s.n_y + 1) * width, np.uint64(width)
    second = np.uint64(n_cells if 2 * n_cells <= x.size else 0)
    clear(table, n_cells + np.int64(second))
    for row in range(np.uint64(x.size)):
        # in turn in two tables: neighbours often fall into one cell, and would wait
        cell = (row & np.uint64(1)) * second + np.uint64(y[row]) * step + np.uint64(x[row])
        table[cell] += weight[row] if is_weighted else np.int32(1)
    _fold(table, second)
    for cell in range(n_x, s.n_y * n_x if width > n_x else 0):
        table[cell] = table[cell // n_x * width + cell % n_x]


@inner
def _count_groups(s, size, column):
    """Group rows by as many columns as it takes, and fill the table if it is small enough."""
    stay_apart()
    counted = s.counted
    s.given[size] = column
    counted[BUILT] = begin_groups(s, size + 1)
    is_again = s.n_asked[size] > 1
    while True:
        built, counted[LINE] = counted[BUILT], line_of(s, counted[BUILT])
        counted[N_RESTS] = 1
        for index in range(built, size):
            product = counted[N_RESTS] * s.levels[s.given[index]]
            counted[N_RESTS] = min(product, np.int64(1) << 31)
        width = n_codes(s)
        cells = max(n_runs(s, counted[LINE]), 1) * width
        enough = s.few_cells if is_again and built < size else s.most_cells
        if cells <= enough:
            break
        if (built >= size or not is_again) and (
            cells + s.n_groups[counted[LINE]] * width < s.cells.size
        ):
            break
        group_further(s)
        counted[BUILT] += 1
    if cells > s.most_cells or built > size:
        counted[WAY] = SPARSE
    else:
        _fill_table(s, cells, width)


@inner
def _fill_table(s, n_cells, width):
    """Fill the table [run, code] row by row."""
    stay_apart()
    line, table, codes, weight = s.counted[LINE], s.table, s.row_codes, s.sorted_weight
    first, size = s.counted[BUILT], s.counted[N_GIVEN] + 1
    rows, run_of, step, is_weighted = (
        s.grouped_rows[line], s.run_of[line], np.int32(width), weight.size > 0
    )  # fmt: skip
    n_rows = write_codes(s, line, first, size, size)
    second = np.uint64(n_cells if 2 * n_cells <= n_rows else 0)
    clear(table, n_cells + np.int64(second))
    for position in range(np.uint64(n_rows)):
        if s.has_missing and codes[position] < 0:
            continue
        cell = np.uint64(run_of[position] * step + codes[position])
        w = weight[np.uint64(rows[position])] if is_weighted else np.int32(1)
        table[(position & np.uint64(1)) * second + cell] += w
    _fold(table, second)
