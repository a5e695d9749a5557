"""Counting one test: a candidate and the target in each stratum of the given set.

There are three ways. Popcounts of bitmaps and histograms of labelled rows fill a dense table
[stratum, y, x]. Where that would be too large, a test is left to its rows, each with a key: the
number of its stratum and level of the candidate.
"""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import numpy as np

from komb.counts.compiling import inner, stay_apart
from komb.engine.kernels.bitmaps import count_bitmaps, fits_bitmaps, need_bitmaps, need_strata
from komb.engine.kernels.places import (
    COLUMN,
    DENSE,
    DEPTH,
    N_STRATA,
    NOTHING,
    ROWS_COUNTED,
    SPARSE,
    TABLES,
    WAY,
    WIDTH,
)
from komb.engine.kernels.rows import clear, need_column, need_labels, number_by_hash, renumber

DENSE_CELLS_PER_ROW = 4  # a larger table is left to its rows
FEWEST_CELLS = 1024  # that a dense table may have, however few rows there are


@inner
def count(s, size, column):
    """Count the test of a column given the present set."""
    stay_apart()
    counted = s.counted
    counted[COLUMN], counted[DEPTH] = column, size
    s.work[TABLES] += 1
    s.work[ROWS_COUNTED] += s.order.size + 1
    width = s.levels[column] + s.is_incomplete[column]
    if fits_bitmaps(s, size, column):
        if size > 0 or s.is_packed[column] or s.is_sorted[column]:
            need_bitmaps(s, column)
            need_strata(s, size)
            counted[N_STRATA] = count_bitmaps(s, size, column)
            counted[WAY], counted[WIDTH] = DENSE, s.levels[column]
            return
    counted[WIDTH] = width
    if size == 0 and not s.is_sorted[column] and (s.n_y + 1) * width <= _room(s, s.order.size):
        _count_pair(s, column, width)
        counted[WAY], counted[N_STRATA] = DENSE, 1
        return
    need_column(s, column)
    depth = need_labels(s, size)
    s.n_uses[depth] += 1
    n_kept = s.first_kept[depth, s.n_y]
    cells = s.bound[depth] * s.n_y * width
    if not s.is_exact[depth] and cells > _room(s, n_kept):
        if s.n_uses[depth] > 1 or s.bound[depth] * width > s.cells.size:
            renumber(s, depth)
            n_kept, cells = s.first_kept[depth, s.n_y], s.bound[depth] * s.n_y * width
    counted[DEPTH], counted[N_STRATA] = depth, s.bound[depth]
    if cells <= _room(s, n_kept) and s.n_alone[depth] == 0:
        _count_labels(s, depth, column, width)
        counted[WAY] = DENSE
    else:
        counted[WAY] = SPARSE


@inner
def forget_count(s):
    """Forget what was counted last, as the given set changes."""
    s.counted[WAY] = NOTHING


@inner
def _room(s, n_rows):
    return max(DENSE_CELLS_PER_ROW * n_rows, FEWEST_CELLS)


@inner
def _fold(table, second):
    """Add the second of two tables, one behind the other, to the first."""
    for cell in range(np.uint64(second)):
        table[cell] += table[np.uint64(second) + cell]


@inner
def _count_pair(s, column, width):
    """Fill the table [y, x] from the columns as they are; missing levels are the last."""
    stay_apart()
    x, y, table, weight = s.codes[column], s.codes[s.target], s.table, s.weight
    n_cells, step = (s.n_y + 1) * width, np.uint64(width)
    is_weighted = weight.size > 0
    second = np.uint64(n_cells if 2 * n_cells <= x.size else 0)
    clear(table, n_cells + np.int64(second))
    for row in range(np.uint64(x.size)):
        # in turn in two tables: neighbours often fall into one cell, and would wait
        cell = (row & np.uint64(1)) * second + np.uint64(y[row]) * step + np.uint64(x[row])
        table[cell] += weight[row] if is_weighted else np.int32(1)
    _fold(table, second)


@inner
def _count_labels(s, depth, column, width):
    """Fill the table [stratum, y, x] row by row; a missing level of the candidate is the last."""
    stay_apart()
    codes, table, labels, kept = s.sorted[column], s.table, s.labels[depth], s.kept[depth]
    is_all, is_weighted, weight = s.is_all[depth], s.sorted_weight.size > 0, s.sorted_weight
    n_cells, step = s.bound[depth] * s.n_y * width, np.uint64(s.n_y * width)
    second = np.uint64(n_cells if 2 * n_cells <= s.first_kept[depth, s.n_y] else 0)
    clear(table, n_cells + np.int64(second))
    for y in range(s.n_y):
        first = np.uint64(y * width)
        for place in range(np.uint64(s.first_kept[depth, y]), np.uint64(s.first_kept[depth, y + 1])):
            row = place if is_all else np.uint64(kept[place])
            cell = np.uint64(labels[place]) * step + first + np.uint64(codes[row])
            table[(place & np.uint64(1)) * second + cell] += (
                weight[row] if is_weighted else np.int32(1)
            )
    _fold(table, second)


@inner
def write_keys(s):
    """Write the key of each row of a sparse test in ``keys``, its label in ``own_keys``.

    Rows in which the candidate is missing are left out. Those with level y of the target begin at
    ``first_key[y]``. Returns how many different keys there could be.
    """
    stay_apart()
    depth, column = s.counted[DEPTH], s.counted[COLUMN]
    codes, labels, kept, is_all = s.sorted[column], s.labels[depth], s.kept[depth], s.is_all[depth]
    n_x, is_weighted, weight = s.levels[column], s.sorted_weight.size > 0, s.sorted_weight
    is_wide, found = s.bound[depth] * n_x > s.cells.size, np.uint64(0)
    step = np.int32(0 if is_wide else n_x)
    for y in range(s.n_y):
        s.first_key[y] = found
        for place in range(np.uint64(s.first_kept[depth, y]), np.uint64(s.first_kept[depth, y + 1])):
            row = place if is_all else np.uint64(kept[place])
            s.own_keys[found] = labels[place]
            s.keys[found] = labels[place] * step + np.int32(codes[row])
            if is_weighted:
                s.key_weight[found] = weight[row]
            found += np.uint64(codes[row] < n_x)
    s.first_key[s.n_y] = found
    if not is_wide:
        return s.bound[depth] * n_x
    for place in range(found):
        s.wide[place] = np.int64(s.own_keys[place]) * n_x + np.int64(s.keys[place])
    return number_by_hash(s, np.int64(found), s.keys)
