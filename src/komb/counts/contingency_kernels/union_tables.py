"""Kernels for sets whose table, counted once, is read for the tests of all their elements.

The table of a set ``A`` with the target holds the tables of all tests that ``A`` is made of: for
each element ``X`` that of ``X`` given the others. They have the same cells, in another order, so
sums over them cost next to nothing beside a count over many rows. Nor do those over the margins of
a table: several sets are counted as one *block*, all of their columns together, as long as that has
few cells beside the rows.
"""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

from typing import Any

import numpy as np

from komb.counts.compiling import inner, kernel, stay_apart
from komb.counts.contingency_kernels.buffers import FIT, SPLIT, STRATA
from komb.counts.contingency_kernels.dense_tables import ROWS_AT_ONCE, sum_dense
from komb.counts.records import Record


class Sorted(Record):
    """Some columns of a table, rows sorted by the level of the target."""

    codes: Any  # [column, row]
    y_start: Any  # [y]: its first row, and the end
    levels: Any  # [column]


class Room(Record):
    """Buffers, one of each for every thread."""

    strata: Any  # [row]: its combination of the leading columns of a block
    cells: Any  # [row], for some rows at a time
    block: Any  # [y, combination], flat: the table of one block
    margin: Any  # the same for some of its columns
    other_margin: Any
    table: Any  # [stratum, y, x], flat
    exchanged: Any  # the same for another element as x
    column_sums: Any  # [x]


@inner
def _fill_strata(members, codes, levels, strata):
    """Give each row the number of its combination."""
    stay_apart()
    n_rows = np.uint64(strata.size)
    first = np.uint64(0)
    while first < n_rows:  # some rows at a time, which stay in the cache
        end = min(first + ROWS_AT_ONCE, n_rows)
        for row in range(first, end):
            strata[row] = 0
        for column in members:
            width, own = np.uint16(levels[column]), codes[column]
            for row in range(first, end):
                strata[row] = strata[row] * width + np.uint16(own[row])
        first = end


@inner
def _count_block(last, rows, room, n_combinations, table, first):
    """Fill ``table[y, combination]``, one level of the target after the other.

    Of a level of the target there are few cells, so they stay in the cache. ``room.strata`` are
    those of all columns but the ``last``.
    """
    stay_apart()
    codes, y_start, levels = rows.codes, rows.y_start, rows.levels
    strata, cells = room.strata, room.cells
    for cell in range(np.uint64(first), np.uint64(first + (y_start.size - 1) * n_combinations)):
        table[cell] = 0
    for y in range(y_start.size - 1):
        sink = np.uint64(first + y * n_combinations)
        row, end = np.uint64(y_start[y]), np.uint64(y_start[y + 1])
        while row < end:
            n_rows = min(ROWS_AT_ONCE, end - row)
            for place in range(n_rows):
                cells[place] = strata[row + place]
            for column in last:
                width, own = np.uint16(levels[column]), codes[column]
                for place in range(n_rows):
                    cells[place] = cells[place] * width + np.uint16(own[row + place])
            for place in range(n_rows):
                table[sink + np.uint64(cells[place])] += 1
            row += n_rows


@inner
def _count_next(blocks, sizes, index, previous, rows, room, table, first):
    """Count a block, after that of ``previous``; returns how many combinations it has.

    Blocks that begin alike are cheaper one after the other.
    """
    size = sizes[index]
    n_leading = max(size - 2, 0)
    n_combinations = 1
    for place in range(size):
        n_combinations *= rows.levels[blocks[index, place]]
    is_same = previous >= 0 and max(sizes[previous] - 2, 0) == n_leading
    for place in range(n_leading):
        is_same = is_same and blocks[previous, place] == blocks[index, place]
    if not is_same:
        _fill_strata(blocks[index, :n_leading], rows.codes, rows.levels, room.strata)
    _count_block(blocks[index, n_leading:size], rows, room, n_combinations, table, first)
    return n_combinations


@inner
def _sum_out(source, first, n_outer, width, n_inner, sink):
    """Sum ``source[outer, level, inner]`` over the levels."""
    stay_apart()
    inner_cells = np.uint64(n_inner)
    for outer in range(n_outer):
        start, place = np.uint64(first + outer * width * n_inner), np.uint64(outer * n_inner)
        for cell in range(inner_cells):
            sink[place + cell] = source[start + cell]
        for _ in range(width - 1):
            start += inner_cells
            for cell in range(inner_cells):
                sink[place + cell] += source[start + cell]


@inner
def _put_last(source, first, n_y, n_before, width, n_after, table):
    """Put ``source[y, before, x, after]`` in order as ``table[stratum, y, x]``."""
    stay_apart()
    cell = np.uint64(first)
    for y in range(n_y):
        for before in range(n_before):
            for x in range(width):
                sink = np.uint64((before * n_after * n_y + y) * width + x)
                for _ in range(n_after):
                    table[sink] = source[cell]
                    cell += np.uint64(1)
                    sink += np.uint64(n_y * width)


@inner
def _read_union(block, union, tested, levels, n_y, n_combinations, tables, first, room):
    """Read the table of a set out of that of a block, both ascending, into ``room.table``.

    The member at ``tested`` is x; all are strata if there is none. Returns the number of strata.
    """
    stay_apart()
    source, start = tables, first
    n_before, n_after = n_y, n_combinations
    sink, other = room.margin, room.other_margin
    kept = 0
    for column in block:
        width = levels[column]
        n_after //= width
        if kept < union.size and union[kept] == column:
            kept += 1
            n_before *= width
            continue
        _sum_out(source, start, n_before, width, n_after, sink)
        source, start = sink, 0
        sink, other = other, sink
    n_before = n_after = width = 1
    for place in range(union.size):
        if place < tested:
            n_before *= levels[union[place]]
        elif place > tested:
            n_after *= levels[union[place]]
        else:
            width = levels[union[place]]
    _put_last(source, start, n_y, n_before, width, n_after, room.table)
    return n_before * n_after


@inner
def _exchange(place, members, all_levels, n_strata, n_y, levels, table, exchanged):
    """Let a member and ``x`` change places in a table; returns how many strata it has then."""
    stay_apart()
    width, stride = all_levels[members[place]], 1
    for later in range(place + 1, members.size):
        stride *= all_levels[members[later]]
    cell = np.uint64(0)
    for stratum in range(n_strata):
        level = stratum // stride % width
        rest = stratum // (stride * width) * stride + stratum % stride
        for y in range(n_y):
            sink = np.uint64((rest * levels * n_y + y) * width + level)
            for _ in range(levels):
                exchanged[sink] = table[cell]
                cell += np.uint64(1)
                sink += np.uint64(n_y * width)
    return n_strata // width * levels


@inner
def _sum_test(place, members, column, n_strata, levels, n_y, terms, table, room, out, j):
    """Sum over the table of a test: of the member at ``place``, or of the column after the last."""
    stay_apart()
    tested = column
    if place < members.size:
        tested = members[place]
        n_strata = _exchange(place, members, levels, n_strata, n_y, levels[column], table,
                             room.exchanged)  # fmt: skip
        table = room.exchanged
    sum_dense(n_strata, n_y, levels[tested], terms.entropy, terms.lengths, False, True, terms.scale,
              terms.variance_scales[tested], terms.third_scales[tested], table, room.column_sums,
              out, j)  # fmt: skip
    out[j, SPLIT] = 0


@kernel
def summarise_unions(rows, terms, room, blocks, sizes, first_union, unions, least_fit, out):
    """Summarise the tests of all elements of the sets that are inside of each block.

    ``blocks[i, :sizes[i]]`` are the columns of a block, ``unions[first_union[i]:]`` the sets, both
    ascending. ``out[j, place]`` gets for set ``j`` what ``summarise`` writes of the test of the
    element at ``place``. Of tests whose set has a fit below ``least_fit[j, place]`` only the fit is
    summed.
    """
    levels, n_y, size = rows.levels, rows.y_start.size - 1, unions.shape[1] - 1
    for index in range(blocks.shape[0]):
        n_combinations = _count_next(blocks, sizes, index, index - 1, rows, room, room.block, 0)
        block = blocks[index, : sizes[index]]
        for j in range(first_union[index], first_union[index + 1]):
            members, column = unions[j, :size], unions[j, size]
            n_strata = _read_union(block, unions[j], size, levels, n_y, n_combinations, room.block,
                                   0, room)  # fmt: skip
            sum_dense(n_strata, n_y, levels[column], terms.entropy, terms.lengths, False, False,
                      terms.scale, 1.0, 1.0, room.table, room.column_sums, out[j],
                      size)  # fmt: skip
            fit = out[j, size, FIT]
            for place in range(size + 1):
                out[j, place, FIT] = fit
                if fit >= least_fit[j, place]:
                    _sum_test(place, members, column, n_strata, levels, n_y, terms, room.table,
                              room, out[j], place)  # fmt: skip


@kernel
def count_blocks(rows, room, blocks, sizes, starts, tables):
    """Count blocks; the table of the i-th, ``[y, combination]``, begins at ``starts[i]``."""
    for index in range(blocks.shape[0]):
        _count_next(blocks, sizes, index, index - 1, rows, room, tables, starts[index])


@inner
def _sum_given(n_strata, n_y, width, entropy, table, out, row):
    """Sum fit and strata of a given set over ``table[stratum, y, x]``."""
    stay_apart()
    fit = found = 0
    cell = np.uint64(0)
    for _ in range(n_strata):
        total = 0
        for _ in range(n_y):
            count = 0
            for _ in range(np.uint64(width)):
                count += table[cell]
                cell += np.uint64(1)
            fit += entropy[0, np.uint64(count)]
            total += count
        fit -= entropy[0, np.uint64(total)]
        found += total > 0
    out[row, FIT] = fit
    out[row, STRATA] = found


@kernel
def read_tests(levels, n_y, terms, room, blocks, sizes, starts, tables, block_of, unions, places,
               given, unions_out):  # fmt: skip
    """Summarise tests, and their given sets, whose blocks are counted.

    Test ``j`` is that of the element at ``places[j]`` of ``unions[j]``, in block ``block_of[j]``;
    there is no test, but a given set, if that is beyond the last.
    """
    for j in range(places.size):
        index = block_of[j]
        block = blocks[index, : sizes[index]]
        n_combinations = 1
        for column in block:
            n_combinations *= levels[column]
        n_strata = _read_union(block, unions[j], places[j], levels, n_y, n_combinations, tables,
                               starts[index], room)  # fmt: skip
        width = 1
        if places[j] < unions.shape[1]:
            tested = unions[j, places[j]]
            width = levels[tested]
            sum_dense(n_strata, n_y, width, terms.entropy, terms.lengths, False, terms.wants_tables,
                      terms.scale, terms.variance_scales[tested], terms.third_scales[tested],
                      room.table, room.column_sums, unions_out, j)  # fmt: skip
            unions_out[j, SPLIT] = 0
        _sum_given(n_strata, n_y, width, terms.entropy, room.table, given, j)


@kernel
def read_margins(levels, n_y, room, blocks, sizes, starts, tables, index, union, place, by_x,
                 by_y):  # fmt: skip
    """Read the margins of a test, ``by_x[stratum, x]`` and ``by_y[stratum, y]``, from a block."""
    block = blocks[index, : sizes[index]]
    n_combinations = 1
    for column in block:
        n_combinations *= levels[column]
    n_strata = _read_union(block, union, place, levels, n_y, n_combinations, tables, starts[index],
                           room)  # fmt: skip
    width = np.uint64(levels[union[place]])
    cell = np.uint64(0)
    for stratum in range(n_strata):
        by_x[stratum] = 0
        for y in range(n_y):
            total = 0
            for x in range(width):
                count = room.table[cell]
                by_x[stratum, x] += count
                total += count
                cell += np.uint64(1)
            by_y[stratum, y] = total


@kernel
def summarise_tables(tables, levels, n_y, terms, room, unions, table_of, places, out):
    """Summarise tests whose tables are counted: of the element at ``places[j]`` of a union.

    ``tables[table_of[j]]`` is that of ``unions[table_of[j]]``, the last element being ``x``.
    """
    size = unions.shape[1] - 1
    for j in range(places.size):
        union = unions[table_of[j]]
        n_strata = 1
        for place in range(size):
            n_strata *= levels[union[place]]
        _sum_test(places[j], union[:size], union[size], n_strata, levels, n_y, terms,
                  tables[table_of[j]], room, out, j)  # fmt: skip
