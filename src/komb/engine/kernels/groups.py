"""Rows grouped by their stratum, for tests whose dense table would be too large.

Inside a stratum rows are in the order of the target: a run of one level follows the other. Groups
are kept on a stack, one line for each number of leading columns. Rows in which a value of the given
set is missing are left out, and so are rows that are alone in their stratum: they stay alone
whatever column comes next, add nothing to a fit and always the same to a length, so it is enough to
count them.

The sums over a set of columns need not be taken over groups of all of them but one: the last
columns together, as one code, are as good as one column, until there are too many codes. So only
given sets that are asked for again have their rows grouped.
"""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import numpy as np

from komb.counts.compiling import inner, stay_apart
from komb.engine.kernels.places import BUILT, LINE
from komb.engine.kernels.rows import n_combinations, n_shared, need_column, note


@inner
def _line(s, depth):
    """Line of the stack for so many leading columns; very many take turns on the last two."""
    last = s.grouped_rows.shape[0] - 2
    return depth if depth < last else last + (depth - last) % 2


@inner
def need_groups(s, size, column, is_wanted):
    """Have rows grouped by some leading columns of the given set; returns how many.

    By all of them if that is wanted or the set is asked for again, otherwise by as many as it
    takes to have few codes of the others with the candidate. The line of the stack is noted.
    """
    stay_apart()
    shared, built = n_shared(s.grouped, s, size), s.n_built[0]
    if s.grouped[0] < 0:  # another target
        _begin(s)
        built = 0
    if built > shared:
        built = min(shared, s.grouped_rows.shape[0] - 3)  # further lines are written over
    for depth in range(shared + 1, size + 1):
        s.n_asked[depth] = 0
    note(s.grouped, s, size)
    s.n_asked[size] += 1
    wanted = size if is_wanted or s.n_asked[size] > 1 else built
    while built < wanted or (
        built < size and n_combinations(s, built, size) * s.levels[column] > s.most_codes
    ):
        _refine(s, _line(s, built), _line(s, built + 1), s.given[built])
        built += 1
    s.n_built[0], line = built, _line(s, built)
    if not s.is_marked[line]:
        _mark_runs(s, line)
    s.counted[LINE], s.counted[BUILT] = line, built
    return line


@inner
def _begin(s):
    """Begin with all rows as one group."""
    need_column(s, s.target)
    for row in range(s.order.size):
        s.grouped_rows[0, row] = row
    s.group_start[0, 0], s.group_start[0, 1] = 0, s.order.size
    s.n_groups[0], s.n_alone[0], s.is_marked[0] = 1, 0, False


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
            if (leaves_out and size == 1) or code == width:
                n_alone += code < width
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
    s.n_groups[sink], s.n_alone[sink], s.is_marked[sink] = np.int64(found), n_alone, False


@inner
def _mark_runs(s, line):
    """Write the number of its stratum and of its run for each row."""
    stay_apart()
    y, rows, stratum_of, run_of = s.sorted[s.target], s.grouped_rows[line], s.stratum_of[line], s.run_of[line]
    run, starts = np.int32(-1), s.group_start[line]
    for stratum in range(np.uint64(s.n_groups[line])):
        before = np.int64(-1)
        for position in range(np.uint64(starts[stratum]), np.uint64(starts[stratum + np.uint64(1)])):
            level = np.int64(y[np.uint64(rows[position])])
            run += np.int32(level != before)
            before = level
            stratum_of[position], run_of[position] = np.int32(stratum), run
    s.n_runs[line], s.is_marked[line] = run + 1, True


@inner
def write_codes(s, line, first, size, column, is_with_candidate):
    """Write the code of some given columns, and maybe of a candidate, for each grouped row.

    It is -1 where one of them or the candidate is missing. Returns how many rows there are.
    """
    stay_apart()
    n_rows = np.uint64(s.group_start[line, s.n_groups[line]])
    rows, codes = s.grouped_rows[line], s.row_codes
    for index in range(first, size + 1):
        own = s.given[index] if index < size else column
        values, width = s.sorted[own], np.int32(s.levels[own])
        if index == size and not is_with_candidate:
            width = np.int32(0)  # whatever level it has
        need_column(s, own)
        if index == first:
            for position in range(n_rows):
                value = np.int32(values[np.uint64(rows[position])])
                codes[position] = value if width > 0 else np.int32(0)
        elif width > 0:
            for position in range(n_rows):
                value = np.int32(values[np.uint64(rows[position])])
                codes[position] = codes[position] * width + value
    for index in range(first, size + 1):
        own = s.given[index] if index < size else column
        if s.is_incomplete[own]:
            values, width = s.sorted[own], s.levels[own]
            for position in range(n_rows):
                if values[np.uint64(rows[position])] == width:
                    codes[position] = -1
    return np.int64(n_rows)
