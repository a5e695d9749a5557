"""Rows grouped by their stratum, and inside a stratum in runs of one level of the target.

Groups are kept on a stack, one line for each number of leading columns of the given set. Rows in
which a value of these columns is missing are left out, and so are rows that are alone in their
stratum: they stay alone whatever column comes next, add nothing to a fit and always the same to a
length, so it is enough to count them.

A test need not be counted in groups of its whole given set. The other columns and the candidate are
as good as a single column, whose level is their combination: the code of a row. So only given sets
that are asked for again have their rows grouped, and those whose codes would be too many.
"""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import numpy as np

from komb.engine.compiling import inner, stay_apart
from komb.engine.kernels.rows import n_shared, need_column, note


@inner
def line_of(s, depth):
    """Line of the stack for so many leading columns; very many take turns on two lines.

    The last line is for tests that are counted without grouping rows.
    """
    last = s.grouped_rows.shape[0] - 3
    return depth if depth < last else last + (depth - last) % 2


@inner
def begin_groups(s, size):
    """Take the present set for grouping; returns by how many leading columns rows are grouped.

    The candidate is a column of the set, the last one.
    """
    stay_apart()
    if s.grouped[s.grouped.size - 1] != s.target:
        _group_all(s)
    shared, built = n_shared(s.grouped, s, size), s.n_built[0]
    if built > shared:
        built = min(shared, s.grouped_rows.shape[0] - 4)  # further lines were written over
    for depth in range(shared + 1, size + 1):
        s.n_asked[depth] = 0
    note(s.grouped, s, size)
    s.n_asked[size - 1] += 1
    s.n_built[0] = built
    return built


@inner
def _group_all(s):
    """Begin with all rows as one group."""
    need_column(s, s.target)
    for row in range(s.order.size):
        s.grouped_rows[0, row] = row
    s.group_start[0, 0], s.group_start[0, 1] = 0, s.order.size
    s.n_groups[0], s.n_alone[0], s.n_built[0] = 1, 0, 0
    _mark_runs(s, 0)


@inner
def group_further(s):
    """Group rows by one more column of the set."""
    source, sink = line_of(s, s.n_built[0]), line_of(s, s.n_built[0] + 1)
    _refine(s, source, sink, s.grouped[s.n_built[0] + 1])
    _mark_runs(s, sink)
    s.n_built[0] += 1


@inner
def _refine(s, source, sink, column):
    """Split every stratum by one more column, stably."""
    stay_apart()
    need_column(s, column)
    codes, tally, touched, leaves_out = s.sorted[column], s.tally, s.touched, s.can_leave_out
    rows, new_rows, width = s.grouped_rows[source], s.grouped_rows[sink], s.levels[column]
    starts, new_starts = s.group_start[source], s.group_start[sink]
    found, place, n_alone = np.uint64(0), np.int32(0), s.n_alone[source]
    for stratum in range(np.uint64(s.n_groups[source])):
        low, high = np.uint64(starts[stratum]), np.uint64(starts[stratum + np.uint64(1)])
        n_touched = np.uint64(0)
        for position in range(low, high):
            code = np.uint64(codes[np.uint64(rows[position])])
            touched[n_touched] = np.int32(code)
            n_touched += np.uint64(tally[code] == 0)
            tally[code] += 1
        for index in range(n_touched):
            code = np.uint64(touched[index])
            size = tally[code]
            if (leaves_out and size == 1) or code == np.uint64(width):
                n_alone += code < np.uint64(width)
                tally[code] = -1
            else:
                new_starts[found] = place
                found += np.uint64(1)
                tally[code] = place
                place += size
        for position in range(low, high):
            row = rows[position]
            code = np.uint64(codes[np.uint64(row)])
            if tally[code] >= 0:
                new_rows[np.uint64(tally[code])] = row
                tally[code] += 1
        for index in range(n_touched):
            tally[np.uint64(touched[index])] = 0
    new_starts[found] = place
    s.n_groups[sink], s.n_alone[sink] = np.int64(found), n_alone


@inner
def _mark_runs(s, line):
    """Write for each row the number of its stratum and of its run, and where strata begin."""
    stay_apart()
    y, rows = s.sorted[s.target], s.grouped_rows[line]
    stratum_of, run_of, first_run = s.stratum_of[line], s.run_of[line], s.first_run[line]
    run, starts = np.int32(-1), s.group_start[line]
    for stratum in range(np.uint64(s.n_groups[line])):
        before, first_run[stratum] = np.int64(-1), run + 1
        low, high = np.uint64(starts[stratum]), np.uint64(starts[stratum + np.uint64(1)])
        for position in range(low, high):
            level = np.int64(y[np.uint64(rows[position])])
            run += np.int32(level != before)
            before = level
            stratum_of[position], run_of[position] = np.int32(stratum), run
    first_run[s.n_groups[line]] = run + 1


@inner
def n_runs(s, line):
    """How many runs there are."""
    return np.int64(s.first_run[line, s.n_groups[line]])


@inner
def write_codes(s, line, first, end, size):
    """Write the code of some columns of the set for each grouped row; returns how many rows.

    It is -1 where one of the ``size`` columns is missing.
    """
    stay_apart()
    n_rows, codes = np.uint64(s.group_start[line, s.n_groups[line]]), s.row_codes
    for position in range(n_rows):
        codes[position] = 0
    for index in range(first, end):
        _combine(s, line, s.grouped[index + 1], n_rows)
    for index in range(first, size):
        if s.is_incomplete[s.grouped[index + 1]]:
            _mark_missing(s, line, s.grouped[index + 1], n_rows)
    return np.int64(n_rows)


@inner
def _combine(s, line, column, n_rows):
    """Combine the code of each row with the level of one more column."""
    need_column(s, column)
    values, rows, codes = s.sorted[column], s.grouped_rows[line], s.row_codes
    width = s.levels[column]
    if line == 0:  # all rows, in their order
        for position in range(n_rows):
            codes[position] = codes[position] * np.int32(width) + np.int32(values[position])
    else:
        for position in range(n_rows):
            value = np.int32(values[np.uint64(rows[position])])
            codes[position] = codes[position] * np.int32(width) + value


@inner
def _mark_missing(s, line, column, n_rows):
    need_column(s, column)
    values, rows, codes = s.sorted[column], s.grouped_rows[line], s.row_codes
    width = s.levels[column]
    for position in range(n_rows):
        if np.int64(values[np.uint64(rows[position])]) == width:
            codes[position] = -1
