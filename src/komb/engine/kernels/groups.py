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
    need_column(s, s.target)  # runs are marked by it; it may be gone though groups are there
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
    for row in range(s.order.size):
        s.grouped_rows[0, row], s.stratum_of[0, row] = row, 0
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
    """Split every stratum by one more column, stably: number the parts, then put rows in place."""
    need_column(s, column)
    first, n_parts, n_groups = np.int64(0), np.int32(0), s.n_groups[source]
    at_once = s.cells.size // (s.levels[column] + 1)
    while first < n_groups:
        end = min(first + at_once, n_groups)
        n_parts = _number_parts(s, source, column, first, end, n_parts)
        first = end
    _lay_out(s, source, sink, n_parts)
    _put_in_place(s, source, sink)


@inner
def _number_parts(s, line, column, first, end, n_parts):
    """Write the parts of some strata, numbered by first occurrence, and count their rows."""
    stay_apart()
    codes, numbers, cells, sizes = s.sorted[column], s.row_codes, s.cells, s.part_place
    rows, stratum_of, starts = s.grouped_rows[line], s.stratum_of[line], s.group_start[line]
    missing, start = np.int32(s.levels[column]), np.int32(first)
    low, high = np.uint64(starts[first]), np.uint64(starts[end])
    for position in range(low, high):
        code = np.int32(codes[np.uint64(rows[position])])
        if code == missing:
            numbers[position] = -1
            continue
        cell = np.uint64((stratum_of[position] - start) * missing + code)
        known = cells[cell]  # one more than its number, or zero; no branch: it is unpredictable
        n_parts += np.int32(known == 0)
        number = n_parts if known == 0 else known
        cells[cell], numbers[position] = number, number - np.int32(1)
        part = np.uint64(number - np.int32(1))
        size = sizes[part]
        sizes[part] = np.int32(1) if known == 0 else size + np.int32(1)
    for position in range(low, high):
        code = min(np.int32(codes[np.uint64(rows[position])]), missing - np.int32(1))
        cells[np.uint64((stratum_of[position] - start) * missing + code)] = 0
    return n_parts


@inner
def _lay_out(s, source, sink, n_parts):
    """Turn sizes of parts into their places; rows that are left out come last."""
    stay_apart()
    places, groups, starts = s.part_place, s.part_group, s.group_start[sink]
    found, place, n_alone = np.int32(0), np.int32(0), np.int32(0)
    last, leaves_out = np.int32(s.order.size - 1), s.can_leave_out
    for part in range(np.uint64(n_parts)):
        size = places[part]
        is_alone = leaves_out and size == 1
        starts[np.uint64(found)], groups[part] = place, found
        places[part] = last - n_alone if is_alone else place
        place += np.int32(0) if is_alone else size
        n_alone += np.int32(is_alone)
        found += np.int32(not is_alone)
    starts[np.uint64(found)] = place
    s.n_groups[sink], s.n_alone[sink] = np.int64(found), s.n_alone[source] + n_alone


@inner
def _put_in_place(s, source, sink):
    """Move each row, with the number of its stratum, to the place of its part."""
    stay_apart()
    numbers, places, groups = s.row_codes, s.part_place, s.part_group
    rows, new_rows, stratum_of = s.grouped_rows[source], s.grouped_rows[sink], s.stratum_of[sink]
    for position in range(np.uint64(s.group_start[source, s.n_groups[source]])):
        if numbers[position] >= 0:
            part = np.uint64(numbers[position])
            place = np.uint64(places[part])
            places[part] += np.int32(1)
            new_rows[place], stratum_of[place] = rows[position], groups[part]


@inner
def _mark_runs(s, line):
    """Write for each row the number of its run, and for each stratum that of its first run."""
    stay_apart()
    y, rows, n_groups = s.sorted[s.target], s.grouped_rows[line], s.n_groups[line]
    stratum_of, run_of, first_run = s.stratum_of[line], s.run_of[line], s.first_run[line]
    run, before, first_run[0] = np.int32(-1), np.int64(-1), 0
    for position in range(np.uint64(s.group_start[line, n_groups])):
        stratum = np.int64(stratum_of[position])
        present = stratum * s.n_y + np.int64(y[np.uint64(rows[position])])
        run += np.int32(present != before)
        run_of[position], before = run, present
        first_run[np.uint64(stratum + 1)] = run + 1  # the last of a stratum writes it last
    first_run[n_groups] = run + 1


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
