"""Counting by popcount: one bitmap for each level of a column, and for each stratum.

Bits are rows in the order of the target, whose levels begin at whole words. A missing value has no
bit.
"""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import numpy as np

from komb.engine.compiling import inner, stay_apart
from komb.engine.kernels.bits import count_bits
from komb.engine.kernels.rows import n_shared, need_column, note


@inner
def need_bitmaps(s, column):
    """Have a bitmap for each level of a column."""
    if not s.is_packed[column]:
        s.is_packed[column] = True
        need_column(s, column)
        _pack(s, column)


@inner
def _pack(s, column):
    stay_apart()
    codes, first, bitmaps, counts = (
        s.sorted[column], s.first_bitmap[column], s.bitmaps, s.level_counts
    )  # fmt: skip
    for y in range(s.n_y):
        word, end = np.uint64(s.words[y]), np.uint64(s.rows[y + 1])
        for start in range(np.uint64(s.rows[y]), end, np.uint64(64)):
            n_bits = min(np.uint64(64), end - start)
            for level in range(s.levels[column]):
                bits = np.uint64(0)
                for bit in range(n_bits):
                    bits |= np.uint64(codes[start + bit] == level) << bit
                bitmaps[first + level, word] = bits
                counts[first + level, y] += np.int32(count_bits(bits))
            word += np.uint64(1)


@inner
def fits_bitmaps(s, size, column):
    """Whether bitmaps are quicker than rows for a test, and there is room for the strata."""
    if s.first_bitmap[column] < 0:
        return False
    n_strata = n_lines = np.int64(1)
    for index in range(size):
        if s.first_bitmap[s.given[index]] < 0:
            return False
        n_strata = min(n_strata * s.levels[s.given[index]], np.int64(1) << 30)
        n_lines += n_strata
    work = n_strata * s.levels[column]
    has_room = n_lines <= s.strata.shape[0] and work * s.n_y <= s.table.size
    return has_room and work <= s.most_bitmap_work


@inner
def need_strata(s, size):
    """Have a bitmap for each stratum of the given set, and its rows by level of the target.

    Those of the leading columns are on a stack, one set of strata behind the other.
    """
    stay_apart()
    strata, bitmaps, first = s.strata, s.bitmaps, s.first_stratum
    n_words = np.uint64(s.words[s.n_y])
    shared = n_shared(s.packed, s, size)
    if shared == size and s.packed[0] == size:
        return
    if shared == 0:
        first[0], first[1] = 0, 1
        for word in range(n_words):
            strata[0, word] = bitmaps[bitmaps.shape[0] - 1, word]
    for depth in range(shared, size):
        column, found = s.given[depth], np.uint64(first[depth + 1])
        need_bitmaps(s, column)
        for stratum in range(np.uint64(first[depth]), np.uint64(first[depth + 1])):
            for level in range(s.levels[column]):
                bitmap, seen = np.uint64(s.first_bitmap[column] + level), np.uint64(0)
                for word in range(n_words):
                    both = strata[stratum, word] & bitmaps[bitmap, word]
                    strata[found, word] = both
                    seen |= both
                found += np.uint64(seen != np.uint64(0))
        first[depth + 2] = np.int64(found)
    _count_strata(s, first[size], first[size + 1])
    note(s.packed, s, size)


@inner
def _count_strata(s, start, end):
    """Count the rows of some strata by level of the target."""
    for stratum in range(end - start):
        line = np.uint64(start + stratum)
        for y in range(s.n_y):
            total = np.uint64(0)
            for word in range(np.uint64(s.words[y]), np.uint64(s.words[y + 1])):
                total += np.uint64(count_bits(s.strata[line, word]))
            s.stratum_rows[stratum * s.n_y + y] = np.int32(total)


@inner
def count_bitmaps(s, size, column):
    """Fill the table [y, stratum, x], and return how many strata there are.

    What follows by subtraction is not counted: the last stratum, unless a value of the given set
    may be missing, and the first level, unless one of the column may be.
    """
    stay_apart()
    start, n_z, n_y, n_x = s.first_stratum[size], s.first_stratum[size + 1], s.n_y, s.levels[column]
    first, table, strata, bitmaps = s.first_bitmap[column], s.table, s.strata, s.bitmaps
    n_z -= start
    is_complete = not s.is_incomplete[column]
    covers_all = True
    for index in range(size):
        covers_all = covers_all and not s.is_incomplete[s.given[index]]
    for y in range(n_y):
        low, high = np.uint64(s.words[y]), np.uint64(s.words[y + 1])
        for x in range(np.int64(is_complete), n_x):
            bitmap, left = np.uint64(first + x), s.level_counts[first + x, y]
            for z in range(n_z - covers_all):
                line, total = np.uint64(start + z), np.uint64(0)
                for word in range(low, high):
                    total += np.uint64(count_bits(strata[line, word] & bitmaps[bitmap, word]))
                table[np.uint64((y * n_z + z) * n_x + x)] = np.int32(total)
                left -= np.int32(total)
            if covers_all:
                table[np.uint64((y * n_z + n_z - 1) * n_x + x)] = left
        for z in range(n_z if is_complete else 0):
            rest = s.stratum_rows[z * n_y + y]
            for x in range(1, n_x):
                rest -= table[np.uint64((y * n_z + z) * n_x + x)]
            table[np.uint64((y * n_z + z) * n_x)] = rest
    return n_z
