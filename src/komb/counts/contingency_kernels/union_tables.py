"""Kernels for sets whose table, counted once, is read for the tests of all their elements.

The table of a set ``A`` with the target holds the tables of all tests that ``A`` is made of: for
each element ``X`` that of ``X`` given the others. They have the same cells, in another order, so
sums over them cost next to nothing beside a count over many rows.
"""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

from typing import Any

import numpy as np

from komb.counts.compiling import inner, kernel, stay_apart
from komb.counts.contingency_kernels.buffers import FIT, SPLIT
from komb.counts.contingency_kernels.dense_tables import ROWS_AT_ONCE, sum_dense
from komb.counts.records import Record


class Sorted(Record):
    """Some columns of a table, rows sorted by the level of the target."""

    codes: Any  # [column, row]
    y_start: Any  # [y]: its first row, and the end
    levels: Any  # [column]


class Room(Record):
    """Buffers, one of each for every thread."""

    strata: Any  # [row]
    table: Any  # [stratum, y, x], flat
    exchanged: Any  # the same for another element as x
    column_sums: Any  # [x]


@inner
def _fill_strata(members, codes, levels, strata):
    """Give each row the number of its stratum; returns how many there could be."""
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
    product = 1
    for column in members:
        product *= levels[column]
    return product


@inner
def _count(strata, x, levels, n_cells, y_start, table):
    """Fill ``table[stratum, y, x]``, one level of the target after the other.

    Of a level of the target there are few cells, so they stay in the cache.
    """
    stay_apart()
    n_y = y_start.size - 1
    for cell in range(np.uint64(n_cells)):
        table[cell] = 0
    width = np.uint64(n_y * levels)
    for y in range(n_y):
        first = np.uint64(y * levels)
        for row in range(np.uint64(y_start[y]), np.uint64(y_start[y + 1])):
            table[np.uint64(strata[row]) * width + first + np.uint64(x[row])] += 1


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
def summarise_unions(rows, terms, room, sets, first_candidate, candidates, least_fit, out):
    """Summarise the tests of all elements of ``sets[i]`` with each of its candidates.

    ``out[j, place]`` gets for candidate ``j`` what ``summarise`` writes of the test of the element
    at ``place``, the candidate being the last. Of tests whose union has a fit below ``least_fit[j,
    place]`` only the fit is summed.
    """
    levels, n_y, size = rows.levels, rows.y_start.size - 1, sets.shape[1]
    for index in range(sets.shape[0]):
        lo, hi = first_candidate[index], first_candidate[index + 1]
        if lo == hi:
            continue
        n_strata = _fill_strata(sets[index], rows.codes, levels, room.strata)
        for j in range(lo, hi):
            column = candidates[j]
            n_cells = n_strata * n_y * levels[column]
            _count(room.strata, rows.codes[column], levels[column], n_cells, rows.y_start,
                   room.table)  # fmt: skip
            sum_dense(n_strata, n_y, levels[column], terms.entropy, terms.lengths, False, False,
                      terms.scale, 1.0, 1.0, room.table, room.column_sums, out[j],
                      size)  # fmt: skip
            fit = out[j, size, FIT]
            for place in range(size + 1):
                out[j, place, FIT] = fit
                if fit >= least_fit[j, place]:
                    _sum_test(place, sets[index], column, n_strata, levels, n_y, terms, room.table,
                              room, out[j], place)  # fmt: skip


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
