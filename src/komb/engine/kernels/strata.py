"""The strata of a counted test, one after the other: margins, and the cells that occur.

What belongs to a test, not to a set (Pearson's statistic, the moments under independence), is a sum
over strata. They look the same however the test was counted.
"""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import numpy as np

from komb.engine.compiling import inner, stay_apart
from komb.engine.kernels.counting import count, n_codes
from komb.engine.kernels.groups import group_further, line_of
from komb.engine.kernels.places import (
    COLUMN,
    DENSE,
    FREEDOM,
    LINE,
    N_GIVEN,
    N_RESTS,
    NOTHING,
    WAY,
)


@inner
def need_table(s, size, column):
    """Have a test of the present set counted, again if something else was counted since."""
    if s.counted[WAY] == NOTHING or s.counted[COLUMN] != column:
        count(s, size, column)


@inner
def n_strata(s):
    """How many strata of the counted test there are to be looked at.

    Those of one row may be left out: they add nothing to a test.
    """
    if s.counted[WAY] == DENSE:
        return s.n_groups[s.counted[LINE]] * s.counted[N_RESTS]
    while s.n_built[0] < s.counted[N_GIVEN]:
        group_further(s)
    return s.n_groups[line_of(s, s.counted[N_GIVEN])]


@inner
def sum_freedom(s):
    """Sum the degrees of freedom of the levels that occur in each stratum."""
    stay_apart()
    freedom = np.int64(0)
    for number in range(n_strata(s)):
        rows, n_x, n_y, _ = take_stratum(s, number)
        if rows > 0:
            freedom += (n_x - 1) * (n_y - 1)
    s.sums[FREEDOM] = freedom


@inner
def take_stratum(s, number):
    """List a stratum; returns rows, levels of the candidate and the target, and cells that occur.

    Margins are in ``by_x`` and ``by_y``. A cell has its rows in ``cell_rows``, the places of its
    margins in ``cell_x`` and ``cell_y``.
    """
    if s.counted[WAY] == DENSE:
        return _take_dense(s, number)
    return _take_group(s, number)


@inner
def _take_dense(s, number):
    stay_apart()
    by_x, by_y, x_place, line = s.by_x, s.by_y, s.x_place, s.counted[LINE]
    n_x, width, n_rests = s.levels[s.counted[COLUMN]], n_codes(s), s.counted[N_RESTS]
    group, rest = number // n_rests, number % n_rests
    rows = n_rows_seen = n_columns_seen = n_cells = np.int64(0)
    for run in range(s.first_run[line, group], s.first_run[line, group + 1]):
        cell, total = np.uint64(run * width + rest * n_x), np.int64(0)
        for x in range(n_x):
            n = np.int64(s.table[cell])
            cell += np.uint64(1)
            if n > 0:
                if x_place[x] < 0:
                    x_place[x], by_x[n_columns_seen] = n_columns_seen, 0
                    n_columns_seen += 1
                by_x[x_place[x]] += n
                s.cell_rows[n_cells], s.cell_x[n_cells] = n, x_place[x]
                s.cell_y[n_cells] = n_rows_seen
                n_cells += 1
                total += n
        if total > 0:
            by_y[n_rows_seen] = total
            n_rows_seen += 1
            rows += total
    for x in range(n_x):
        x_place[x] = -1
    return rows, n_columns_seen, n_rows_seen, n_cells


@inner
def _take_group(s, number):
    stay_apart()
    x, y, n_x = s.sorted[s.counted[COLUMN]], s.sorted[s.target], s.levels[s.counted[COLUMN]]
    by_x, by_y, x_place, in_run = s.by_x, s.by_y, s.x_place, s.x_cell
    line = line_of(s, s.counted[N_GIVEN])
    grouped, starts = s.grouped_rows[line], s.group_start[line]
    is_weighted, weight = s.sorted_weight.size > 0, s.sorted_weight
    rows = n_rows_seen = n_columns_seen = n_cells = np.int64(0)
    level, first = np.int64(-1), np.int64(0)  # of the present run, and its first cell
    for position in range(np.uint64(starts[number]), np.uint64(starts[number + 1])):
        row = np.uint64(grouped[position])
        code = np.int64(x[row])
        if code == n_x:
            continue
        n = np.int64(weight[row]) if is_weighted else np.int64(1)
        if np.int64(y[row]) != level:
            level, first = np.int64(y[row]), n_cells
            by_y[n_rows_seen] = 0
            n_rows_seen += 1
        if x_place[code] < 0:
            x_place[code], by_x[n_columns_seen], in_run[code] = n_columns_seen, 0, -1
            n_columns_seen += 1
        if in_run[code] < first:
            in_run[code] = n_cells
            s.cell_rows[n_cells] = 0
            s.cell_x[n_cells], s.cell_y[n_cells] = x_place[code], n_rows_seen - 1
            n_cells += 1
        s.cell_rows[in_run[code]] += n
        by_x[x_place[code]] += n
        by_y[n_rows_seen - 1] += n
        rows += n
    for position in range(np.uint64(starts[number]), np.uint64(starts[number + 1])):
        code = np.int64(x[np.uint64(grouped[position])])
        if code < n_x:
            x_place[code] = -1
    return rows, n_columns_seen, n_rows_seen, n_cells
