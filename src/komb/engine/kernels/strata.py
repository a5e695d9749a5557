"""The strata of a counted test, one after the other: margins, and the cells that occur.

What belongs to a test, not to a set (Pearson's statistic, the moments under independence), is a sum
over strata. They look the same however the test was counted.
"""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import numpy as np

from komb.counts.compiling import inner, stay_apart
from komb.engine.kernels.counting import count
from komb.engine.kernels.places import COLUMN, DENSE, DEPTH, N_STRATA, NOTHING, WAY, WIDTH
from komb.engine.kernels.rows import need_column, renumber


@inner
def need_table(s, size, column):
    """Have a test of the present set counted, again if something else was counted since."""
    if s.counted[WAY] == NOTHING or s.counted[COLUMN] != column:
        count(s, size, column)


@inner
def n_strata(s):
    """How many strata of the counted test there are to be looked at.

    Those in which the target has one level may be left out: they add nothing to a test.
    """
    if s.counted[WAY] == DENSE:
        return s.counted[N_STRATA]
    _group_rows(s)
    return s.n_groups[0]


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
def _take_dense(s, z):
    stay_apart()
    table, n_y, width, n_x = s.table, s.n_y, s.counted[WIDTH], s.levels[s.counted[COLUMN]]
    x_place, by_x, by_y, cell_rows, cell_x, cell_y = (
        s.x_place, s.by_x, s.by_y, s.cell_rows, s.cell_x, s.cell_y
    )  # fmt: skip
    rows = n_rows_seen = n_columns_seen = n_cells = np.int64(0)
    for x in range(n_x):
        x_place[x] = -1
    for y in range(n_y):
        first, total = (z * n_y + y) * width, np.int64(0)
        for x in range(n_x):
            n = np.int64(table[np.uint64(first + x)])
            if n > 0:
                if x_place[x] < 0:
                    x_place[x], by_x[n_columns_seen] = n_columns_seen, 0
                    n_columns_seen += 1
                by_x[x_place[x]] += n
                cell_rows[n_cells], cell_x[n_cells], cell_y[n_cells] = n, x_place[x], n_rows_seen
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
def _group_rows(s):
    """Have the rows of each stratum together, in the order of the target, if it has two levels."""
    depth = s.counted[DEPTH]
    if s.n_groups[1] == s.generation[0]:
        return
    if not s.is_exact[depth]:
        renumber(s, depth)
    s.n_groups[0], s.n_groups[1] = _sort_by_label(s, depth), s.generation[0]


@inner
def _sort_by_label(s, depth):
    """Write the rows of strata in which the target varies, one after the other; returns how many."""
    stay_apart()
    labels, kept, is_all, starts = s.labels[depth], s.kept[depth], s.is_all[depth], s.group_start
    sizes, last, varies = s.cells, s.totals, s.y_seen
    for y in range(s.n_y):
        for place in range(np.uint64(s.first_kept[depth, y]), np.uint64(s.first_kept[depth, y + 1])):
            label = np.uint64(labels[place])
            varies[label] |= np.int32(last[label] != 0) & np.int32(last[label] != y + 1)
            sizes[label] += 1
            last[label] = y + 1
    found = end = np.int64(0)
    for label in range(np.uint64(s.bound[depth])):
        size = np.int64(sizes[label])
        sizes[label] = np.int32(end if varies[label] else -1)
        if varies[label]:
            starts[found] = end
            found += 1
            end += size
        varies[label] = last[label] = 0
    starts[found] = end
    for place in range(np.uint64(s.first_kept[depth, s.n_y])):
        label = np.uint64(labels[place])
        if sizes[label] >= 0:
            s.grouped[np.uint64(sizes[label])] = np.int32(place) if is_all else kept[place]
            sizes[label] += 1
    for label in range(np.uint64(s.bound[depth])):
        sizes[label] = 0
    return found


@inner
def _take_group(s, number):
    stay_apart()
    need_column(s, s.target)
    x, y, n_x = s.sorted[s.counted[COLUMN]], s.sorted[s.target], s.levels[s.counted[COLUMN]]
    by_x, by_y, x_place, in_run = s.by_x, s.by_y, s.x_place, s.x_cell
    is_weighted, weight = s.sorted_weight.size > 0, s.sorted_weight
    low, high = s.group_start[number], s.group_start[number + 1]
    rows = n_rows_seen = n_columns_seen = n_cells = np.int64(0)
    level, first = np.int64(-1), np.int64(0)  # of the present run, and its first cell
    for place in range(np.uint64(low), np.uint64(high)):
        row = np.uint64(s.grouped[place])
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
    for place in range(np.uint64(low), np.uint64(high)):
        code = np.int64(x[np.uint64(s.grouped[place])])
        if code < n_x:
            x_place[code] = -1
    return rows, n_columns_seen, n_rows_seen, n_cells
