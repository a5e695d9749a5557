"""The kernel of large sweeps: counts all unions of given sets with larger columns, lists a few.

A sweep has millions of tests and finds a handful of dependences. So the kernel hands over no sums
for others to look through: it compares what a union of a given set and a column fits with what each
of its tests needs to be a dependence, and lists only the tests that have it.

It counts by popcount, ``LANES`` columns at a time: their bitmaps are interleaved, word by word, so
that one vector holds the same word of all of them, and counts come out side by side. A tile of
given sets stays in the second-level cache while the interleaved words of one block of columns, in
the first-level cache, are compared with all of them.
"""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

from typing import Any

import numpy as np

from komb.engine.compiling import inner, kernel, merged
from komb.engine.kernels.bits import count_bits
from komb.engine.kernels.lanes import LANES, add_common_bits, add_common_bits_twice, subtract
from komb.engine.records import Record

COUNTED, LISTED = range(2)  # places of ``Block.found``

WORDS_AT_ONCE = 128  # of one bitmap; with some levels and all lanes they fill a first-level cache


class Screen(Record):
    """The columns of a sweep, numbered as they stand here, and what their tests need."""

    bitmaps: Any  # [bitmap, word]: rows in order of the target; the last one has all rows
    level_counts: Any  # [bitmap, y]
    words: Any  # [y]: first word of each level of the target, and their end
    first_bitmap: Any  # [column]
    levels: Any  # [column]
    need_of: Any  # [column]: its row in what follows; 0 if it is no candidate
    sets: Any  # [given set, element]: ascending, in order of their largest elements
    binomials: Any  # [k, c]: how many sets of k there are among c, for the ranks of sets
    entropy: Any  # [n]: n log2 n in fixed point
    has_missing: bool  # whether every test has rows of its own
    most_combinations: int  # of levels; larger unions are left to others
    most_strata: int  # of a given set that any union is counted with
    is_first: bool  # whether sums over unions are wanted, not tests
    own_fit: Any  # [rank of a union]
    own_strata: Any
    needed_fit: Any  # [need, rank of a given set]: of a union, where no value is missing
    needed_gain: Any  # [need, strata of the given set]: the same without the fit of the given set
    sparse_gain: Any  # [need]: where there are fewer complete rows per cell than these
    rows_per_cell: float


class Block(Record):
    """Buffers, one of each for every thread."""

    n_sets: int  # of a tile
    strata: Any  # [given set, stratum, word], flat
    codes: Any  # [given set, stratum]: its number among all that there could be
    by_y: Any  # [given set, stratum, y, lane], flat: the same in every lane
    n_strata: Any  # [given set]
    combinations: Any  # [given set]: strata that there could be
    is_asked: Any  # [given set]: whether a candidate is in it
    begin: Any  # [given set]: the first larger column
    bases: Any  # [given set, element]: rank without that element, before a larger column is added
    lanes: Any  # [level, word, lane], flat
    lane_counts: Any  # [level, y, lane], flat
    tables: Any  # [given set, y, stratum, level, lane], flat; each with totals over y behind it
    margin: Any  # the same without an element of the union
    fits: Any  # [element of the union, lane], flat; those of the union are the last
    n_groups: Any  # [element of the union, lane]: strata without it
    rows: Any  # [lane]
    found: Any  # see COUNTED and following


@inner
def _fill_strata(s, b, t, index):
    """Write the bitmap of every stratum of a given set that occurs, and count its rows."""
    members, n_words, n_y = s.sets[index], s.bitmaps.shape[1], s.words.size - 1
    product, b.is_asked[t], b.begin[t] = 1, False, 0
    for place in range(members.size):
        column, base = members[place], 0
        product *= s.levels[column]
        b.is_asked[t] |= s.need_of[column] > 0
        b.begin[t] = column + 1
        for other in range(members.size):
            if other != place:
                base += s.binomials[other + 1 - (other > place), members[other]]
        b.bases[t, place] = base
    b.combinations[t] = product
    found = 0
    for code in range(product if product <= s.most_strata else 0):
        start, left = np.uint64((t * b.codes.shape[1] + found) * n_words), code
        for place in range(max(members.size, 1)):
            row = np.uint64(s.bitmaps.shape[0] - 1)
            if place < members.size:
                column = members[members.size - 1 - place]
                row = np.uint64(s.first_bitmap[column] + left % s.levels[column])
                left //= s.levels[column]
            for word in range(np.uint64(n_words)):
                b.strata[start + word] = s.bitmaps[row, word] & (
                    b.strata[start + word] if place else ~np.uint64(0)
                )
        size = 0
        for y in range(n_y):
            count = np.uint64(0)
            for word in range(np.uint64(s.words[y]), np.uint64(s.words[y + 1])):
                count += count_bits(b.strata[start + word])
            sink = ((t * b.codes.shape[1] + found) * n_y + y) * LANES
            b.by_y[sink : sink + LANES] = np.int32(count)
            size += np.int64(count)
        b.codes[t, found] = code
        found += size > 0
    b.n_strata[t] = found


@inner
def _fill_lanes(s, b, first_column, n_levels, lo, hi):
    """Interleave some words of the bitmaps of ``LANES`` columns; what is not there is zero."""
    n_words, step = np.uint64(hi - lo), np.uint64(LANES)
    for level in range(np.int64(not s.has_missing), n_levels):
        for lane in range(LANES):
            column = first_column + lane
            sink = np.uint64(level * (hi - lo) * LANES + lane)
            is_there = column < s.levels.size and level < s.levels[column]
            row = np.uint64(s.first_bitmap[column] + level if is_there else 0)
            for word in range(n_words):
                b.lanes[sink] = s.bitmaps[row, np.uint64(lo) + word] if is_there else np.uint64(0)
                sink += step


@inner
def _fill_lane_counts(s, b, first_column):
    """Interleave how often each level of ``LANES`` columns occurs with each level of the target.

    Returns the largest number of levels, and whether any of the columns is a candidate.
    """
    n_y, n_levels, is_asked = s.words.size - 1, 0, False
    for column in range(first_column, min(first_column + LANES, s.levels.size)):
        n_levels = max(n_levels, s.levels[column])
        is_asked |= s.need_of[column] > 0
    for level in range(n_levels):
        for y in range(n_y):
            for lane in range(LANES):
                column, count = first_column + lane, np.int32(0)
                if column < s.levels.size and level < s.levels[column]:
                    count = s.level_counts[s.first_bitmap[column] + level, y]
                b.lane_counts[(level * n_y + y) * LANES + lane] = count
    return n_levels, is_asked


@inner
def _count(s, b, t, n_levels, lo, hi, base):
    """Count some words of the strata with each level into ``tables[y, stratum, level, lane]``.

    Where no value is missing, the last stratum and the first level follow by subtraction.
    """
    n_words, n_y, n_strata = s.bitmaps.shape[1], s.words.size - 1, b.n_strata[t]
    if lo == 0:
        for cell in range(np.uint64(n_y * n_strata * n_levels * LANES)):
            b.tables[np.uint64(base) + cell] = 0
    n_counted, step = n_strata - (not s.has_missing), n_levels * LANES
    for y in range(n_y):
        begin, end = max(lo, s.words[y]), min(hi, s.words[y + 1])
        if begin >= end:
            continue
        for level in range(np.int64(not s.has_missing), n_levels):
            start = (level * (hi - lo) + begin - lo) * LANES
            place = base + (y * n_strata * n_levels + level) * LANES
            first = t * b.codes.shape[1] * n_words + begin
            for _ in range(n_counted // 2):
                places = first, n_words, end - begin, start, place, step
                add_common_bits_twice(b.strata, b.lanes, b.tables, places)
                first += 2 * n_words
                place += 2 * step
            if n_counted % 2:
                places = first, n_words, end - begin, start, place, step
                add_common_bits(b.strata, b.lanes, b.tables, places)


@merged
def _add_terms(table, first, n_cells, terms, factor, sums, place):
    """Add to ``sums[place + lane]`` the terms of so many cells."""
    cell = np.uint64(first)
    for _ in range(n_cells):
        for lane in range(np.uint64(LANES)):
            sums[np.uint64(place) + lane] += factor * terms[np.uint64(table[cell + lane])]
        cell += np.uint64(LANES)


@inner
def _complete(s, b, t, n_levels, base):
    """Fill in the last stratum and the first level, which follow by subtraction."""
    n_y, n_strata, step = s.words.size - 1, b.n_strata[t], n_levels * LANES
    for y in range(n_y):
        first = base + y * n_strata * step
        for level in range(1, n_levels):
            cell = first + level * LANES
            last, source = cell + (n_strata - 1) * step, (level * n_y + y) * LANES
            subtract(b.lane_counts, b.tables, (source, cell, step, n_strata - 1, last))
        for stratum in range(n_strata):
            cell = first + stratum * step
            source = ((t * b.codes.shape[1] + stratum) * n_y + y) * LANES
            subtract(b.by_y, b.tables, (source, cell + LANES, LANES, n_levels - 1, cell))


@inner
def _fit(s, b, table, base, n_cells, row):
    """Sum the fit of each lane of ``table[y, group, lane]``; its totals over ``y`` go behind it."""
    n_y, first, step = s.words.size - 1, np.uint64(base), np.uint64(n_cells * LANES)
    totals = first + np.uint64(n_y) * step
    for cell in range(step):
        table[totals + cell] = table[first + cell]
    source = first
    for _ in range(n_y - 1):
        source += step
        for cell in range(step):
            table[totals + cell] += table[source + cell]
    for lane in range(row * LANES, (row + 1) * LANES):
        b.fits[lane] = 0
    _add_terms(table, base, n_y * n_cells, s.entropy, 1, b.fits, row * LANES)
    _add_terms(table, base + n_y * n_cells * LANES, n_cells, s.entropy, -1, b.fits, row * LANES)


@inner
def _sum_margin(s, b, t, index, omitted, n_levels, base):
    """Add up a table over one element of the union: ``margin[y, group, lane]``.

    That is what the given set of this element's test has in the rows of the union. Returns how many
    groups there are.
    """
    n_y, n_strata, size, table = s.words.size - 1, b.n_strata[t], s.sets.shape[1], b.tables
    width = stride = 1
    n_groups = n_strata
    if omitted < size:
        width = s.levels[s.sets[index, omitted]]
        for place in range(omitted + 1, size):
            stride *= s.levels[s.sets[index, place]]
        n_groups = b.combinations[t] // width * n_levels
    for cell in range(np.uint64(n_groups * n_y * LANES)):
        b.margin[cell] = 0
    source = np.uint64(base)
    for y in range(n_y):
        for stratum in range(n_strata):
            code = np.int64(b.codes[t, stratum])
            rest = (code // (width * stride) * stride + code % stride) * n_levels
            for level in range(n_levels):
                group = rest + level if omitted < size else stratum
                sink = np.uint64((y * n_groups + group) * LANES)
                for lane in range(np.uint64(LANES)):
                    b.margin[sink + lane] += table[source + lane]
                source += np.uint64(LANES)
    return n_groups


@inner
def _sum_given_sets(s, b, t, index, n_levels, base):
    """Fit and strata of the given set of each test in the rows of the union, for all lanes."""
    n_y = s.words.size - 1
    for omitted in range(s.sets.shape[1] + 1):
        n_groups = _sum_margin(s, b, t, index, omitted, n_levels, base)
        _fit(s, b, b.margin, 0, n_groups, omitted)
        for lane in range(LANES):
            n_rows = n_strata = 0
            for group in range(n_groups):
                size = b.margin[((n_y * n_groups) + group) * LANES + lane]
                n_rows += size
                n_strata += size > 0
            b.n_groups[omitted, lane] = n_strata
            b.rows[lane] = n_rows


@merged
def _is_listed(s, b, t, index, x, omitted):
    """Whether the test of one element of a union gains what it needs to be a dependence."""
    size, lane = s.sets.shape[1], x % LANES
    column, rank = x, index
    if omitted < size:
        column, rank = s.sets[index, omitted], b.bases[t, omitted] + s.binomials[size, x]
    fit, need = b.fits[(size + 1) * LANES + lane], s.need_of[column]
    if not s.has_missing:
        return fit >= s.needed_fit[need, rank]
    n_strata = b.n_groups[omitted, lane]
    cells = n_strata * s.levels[column] * (s.words.size - 1)
    is_sparse = b.rows[lane] < s.rows_per_cell * cells
    needed = s.sparse_gain[need] if is_sparse else s.needed_gain[need, n_strata]
    return fit - b.fits[omitted * LANES + lane] >= needed


@inner
def _note_sums(s, b, t, index, begin, n_levels, base):
    """Keep the fit and the strata of the unions of a given set: they are given sets themselves."""
    size, n_cells, rank = s.sets.shape[1], b.n_strata[t] * n_levels, 0
    totals = base + (s.words.size - 1) * n_cells * LANES
    for place in range(size):
        rank += s.binomials[place + 1, s.sets[index, place]]
    for x in range(begin, min(begin // LANES * LANES + LANES, s.levels.size)):
        union = rank + s.binomials[size + 1, x]
        s.own_fit[union] = b.fits[(size + 1) * LANES + x % LANES]
        s.own_strata[union] = 0
        for cell in range(n_cells):
            s.own_strata[union] += b.tables[totals + cell * LANES + x % LANES] > 0


@inner
def _list(s, b, t, index, begin, listed):
    """List the tests in the unions of a given set with the columns of a block, from one on."""
    size, n_counted, n_listed = s.sets.shape[1], b.found[COUNTED], b.found[LISTED]
    for x in range(begin, min(begin // LANES * LANES + LANES, s.levels.size)):
        if b.combinations[t] * s.levels[x] > s.most_combinations:
            continue
        n_counted += 1
        for omitted in range(size + 1):
            if _is_listed(s, b, t, index, x, omitted):
                listed[n_listed, 0], listed[n_listed, 1], listed[n_listed, 2] = index, x, omitted
                n_listed += 1
    b.found[COUNTED], b.found[LISTED] = n_counted, n_listed


@inner
def _screen_block(s, b, first_column, first, last, listed):
    """List tests in the unions of a tile with ``LANES`` columns."""
    size, n_words = s.sets.shape[1], s.bitmaps.shape[1]
    table_size = b.tables.size // b.n_sets if n_words > WORDS_AT_ONCE else 0
    n_levels, is_asked = _fill_lane_counts(s, b, first_column)
    for lo in range(0, n_words, WORDS_AT_ONCE):
        hi = min(lo + WORDS_AT_ONCE, n_words)
        _fill_lanes(s, b, first_column, n_levels, lo, hi)
        for t in range(last - first):
            base, begin = t * table_size, max(first_column, b.begin[t])
            is_wanted = begin < min(first_column + LANES, s.levels.size) and b.n_strata[t] > 0
            if not (is_wanted and (is_asked or b.is_asked[t])):
                continue
            _count(s, b, t, n_levels, lo, hi, base)
            if hi < n_words:
                continue
            if s.has_missing:
                _sum_given_sets(s, b, t, first + t, n_levels, base)
            else:
                _complete(s, b, t, n_levels, base)
            _fit(s, b, b.tables, base, b.n_strata[t] * n_levels, size + 1)
            if s.is_first:
                _note_sums(s, b, t, first + t, begin, n_levels, base)
            else:
                _list(s, b, t, first + t, begin, listed)


@kernel
def list_tests(s, b, part, listed):
    """List the tests in some unions that may be dependences: given set, larger column, element.

    Unions are those of ``sets[part[0]:part[1]]`` with larger columns from ``part[2]``, a multiple
    of ``LANES``, to before ``part[3]``. ``found`` has how many of them were counted, and how many
    tests are listed.
    """
    b.found[:] = 0
    for first in range(part[0], part[1], b.n_sets):
        last, begin = min(first + b.n_sets, part[1]), s.levels.size
        for index in range(first, last):
            _fill_strata(s, b, index - first, index)
            begin = min(begin, b.begin[index - first])
        begin = max(part[2], begin // LANES * LANES)
        for column in range(begin, part[3], LANES):
            _screen_block(s, b, column, first, last, listed)
