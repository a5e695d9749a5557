"""Counts of a block of columns: tables of tests inside it, or rows of a table with weights.

A block has a code for each level of its columns, and one more where values may be missing.
"""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import numpy as np

from komb.engine.compiling import inner, kernel, stay_apart


@inner
def count_block(s, size, column):
    """Fill the table [y, code] of a test from the block; returns combinations of the given set."""
    stay_apart()
    table, n_cells = s.table, np.int64(s.n_y * s.levels[column])
    n_rests = np.int64(1)
    for index in range(size):
        n_rests *= s.levels[s.given[index]]
    for cell in range(np.uint64(n_cells * n_rests)):
        table[cell] = 0
    if n_cells * n_rests > 0:
        _set_steps(s, size, column, n_rests)
        _add_up(s.block, s.block_shape, s.block_steps, s.block_ends, s.block_digits, table)
    return n_rests


@inner
def _set_steps(s, size, column, n_rests):
    """Set how far a code of each column of the block takes in the table, and the codes that count.

    The candidate is next to each other, then come the given set and the target. Codes of columns
    that are in no test all count.
    """
    columns, steps, ends = s.block_columns, s.block_steps, s.block_ends
    for place in range(columns.size):
        steps[place], ends[place] = 0, s.block_shape[place]
        if columns[place] == column:
            steps[place] = 1
        elif columns[place] == s.target:
            steps[place] = n_rests * s.levels[column]
        else:
            step = s.levels[column]
            for index in range(size - 1, -1, -1):
                if columns[place] == s.given[index]:
                    steps[place] = step
                step *= s.levels[s.given[index]]
        if steps[place] > 0:
            ends[place] = s.levels[columns[place]]


@inner
def _add_up(block, shape, steps, ends, digits, table):
    """Add the cells of a block whose codes count to the cells of a table."""
    last = shape.size - 1
    n_last, step, end = np.uint64(shape[last]), np.uint64(steps[last]), np.uint64(ends[last])
    start, first, n_outside = np.uint64(0), np.int64(0), 0
    for place in range(last):
        digits[place] = 0
    while True:
        if n_outside == 0:
            cell = np.uint64(first)
            for code in range(end):
                table[cell + code * step] += np.int32(block[start + code])
        start += n_last
        place = last - 1
        while place >= 0:
            digits[place] += 1
            first += steps[place]
            n_outside += digits[place] == ends[place] and ends[place] < shape[place]
            if digits[place] < shape[place]:
                break
            n_outside -= ends[place] < shape[place]
            first -= steps[place] * shape[place]
            digits[place] = 0
            place -= 1
        if place < 0:
            return


@inner
def _count_on(digits, shape, target):
    """Go on to the next combination of all columns but the target."""
    column = shape.size - 1
    while column >= 0:
        if column != target:
            digits[column] += 1
            if digits[column] < shape[column]:
                return
            digits[column] = 0
        column -= 1


@kernel
def list_cells(counts, shape, target, digits, codes, weight, starts):
    """List the combinations of a dense block that occur, in the order of the target.

    ``counts`` has the last column next to each other, ``starts`` gets the first row of each level
    of the target. ``digits`` is scratch, a number for each column. Where the target is missing,
    combinations are left out.
    """
    n_columns, row, before, behind = shape.size, np.uint64(0), np.int64(1), np.int64(1)
    for column in range(n_columns):
        if column < target:
            before *= shape[column]
        elif column > target:
            behind *= shape[column]
        digits[column] = 0
    for y in range(starts.size - 1):
        starts[y] = np.int64(row)
        digits[target] = y
        for first in range(before):
            cell = np.uint64((first * shape[target] + y) * behind)
            for _ in range(behind):
                if counts[cell] > 0:
                    for column in range(n_columns):
                        codes[column, row] = digits[column]
                    weight[row] = np.int32(counts[cell])
                    row += np.uint64(1)
                cell += np.uint64(1)
                _count_on(digits, shape, target)
    starts[starts.size - 1] = np.int64(row)
