"""Counting by popcount: one bitmap per level and per stratum."""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from komb.counts.compiling import IS_COMPILED, inner, kernel, popcount, stay_apart

FEW_LEVELS_TO_PACK = 6  # up to here a comparison with each level is faster than a scatter
_NO_LEVEL = np.uint8(64)  # in the place of a row after the last one
_EACH_BYTE = np.uint64(0x0101010101010101)
_LOW_BITS = np.uint64(0x7F7F7F7F7F7F7F7F)
_COLLECT = np.uint64(0x0102040810204080)


@intrinsic
def count_bits(typingctx: Any, word: Any) -> Any:  # noqa: ARG001 - Numba passes both
    """Count the set bits of a 64-bit word; the compiler vectorises it where it can."""

    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        word_type = ir.IntType(64)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(word_type, [word_type]), "llvm.ctpop.i64"
        )
        return builder.call(function, args)

    return types.uint64(types.uint64), codegen


if not IS_COMPILED:
    count_bits: Any = popcount  # type: ignore[no-redef]


@kernel
def pack_levels(codes, cardinalities, packed, level_start, order, y_start, segments, bitmaps,
                level_counts, gathered, by_level):  # fmt: skip
    """Fill one bitmap per level of every packed column, rows grouped by the target's level."""
    valid = bitmaps.shape[0] - 1
    eights = gathered.view(np.uint64)
    for y in range(y_start.size - 1):
        n_rows = np.uint64(y_start[y + 1] - y_start[y])
        full, rest = n_rows >> np.uint64(6), n_rows & np.uint64(63)
        word = np.uint64(segments[y])
        bitmaps[valid, word : word + full] = ~np.uint64(0)
        if rest:
            bitmaps[valid, word + full] = (np.uint64(1) << rest) - np.uint64(1)
    for column in packed:
        start, n_levels = level_start[column], cardinalities[column]
        for y in range(y_start.size - 1):
            word = segments[y]
            for first in range(y_start[y], y_start[y + 1], 64):
                n_bits = min(64, y_start[y + 1] - first)
                for bit in range(n_bits):
                    gathered[bit] = codes[column, order[first + bit]]
                for bit in range(n_bits, 64):
                    gathered[bit] = _NO_LEVEL
                _pack_word(gathered, eights, n_levels, by_level)
                for level in range(n_levels):
                    bitmaps[start + level, word] = by_level[level]
                    level_counts[start + level, y] += np.int32(count_bits(by_level[level]))
                word += 1


@inner
def _pack_word(gathered, eights, n_levels, by_level):
    """Write a word for each level: the bits of the rows that have it."""
    if n_levels > FEW_LEVELS_TO_PACK:
        by_level[: n_levels + 1] = np.uint64(0)  # one more for missing values, which is never read
        for bit in range(64):
            if gathered[bit] != _NO_LEVEL:
                by_level[gathered[bit]] |= np.uint64(1) << np.uint64(bit)
        return
    for level in range(n_levels):
        same = np.uint64(level) * _EACH_BYTE
        bits = np.uint64(0)
        for eight in range(8):
            # eight rows at once: a byte gets its highest bit unless it is the level's, and a
            # product collects these bits in its highest byte
            differs = ((eights[eight] ^ same) + _LOW_BITS) >> np.uint64(7)
            collected = (~differs & _EACH_BYTE) * _COLLECT >> np.uint64(56)
            bits |= collected << np.uint64(8 * eight)
        by_level[level] = bits


@inner
def fill_strata(given, shared, prepared, scratch):
    """Write the bitmap of every observed stratum of ``given``; returns how many there are.

    The strata of its first ``shared`` columns are there already, from the set before.
    """
    stay_apart()
    strata, n_strata, bitmaps = scratch.strata, scratch.n_strata, prepared.bitmaps
    codes = scratch.codes
    n_words = np.uint64(bitmaps.shape[1])
    if shared < 0:
        valid = bitmaps.shape[0] - 1
        for word in range(n_words):
            strata[0, 0, word] = bitmaps[valid, word]
        codes[0, 0] = 0
        n_strata[0] = 1
        shared = 0
    for depth in range(shared, given.size):
        source, sink = np.uint64(depth), np.uint64(depth + 1)
        column = given[depth]
        found = np.uint64(0)
        for stratum in range(np.uint64(n_strata[depth])):
            for level in range(prepared.cardinalities[column]):
                row = np.uint64(prepared.level_start[column] + level)
                seen = np.uint64(0)
                for word in range(n_words):
                    both = strata[source, stratum, word] & bitmaps[row, word]
                    strata[sink, found, word] = both
                    seen |= both
                if seen != np.uint64(0):
                    code = codes[source, stratum] * prepared.cardinalities[column] + level
                    codes[sink, found] = code
                    found += np.uint64(1)
        n_strata[depth + 1] = found
    return n_strata[given.size]


@inner
def count_strata(depth, prepared, scratch):
    """Count each stratum's rows by target level into ``by_y``."""
    stay_apart()
    source = np.uint64(depth)
    n_strata = scratch.n_strata[depth]
    n_y = prepared.segments.size - 1
    for stratum in range(n_strata):
        for y in range(n_y):
            count = np.uint64(0)
            row = np.uint64(stratum)
            for word in range(np.uint64(prepared.segments[y]), np.uint64(prepared.segments[y + 1])):
                count += count_bits(scratch.strata[source, row, word])
            scratch.by_y[stratum * n_y + y] = np.int32(count)


@inner
def count_by_popcount(depth, n_strata, levels, first_bitmap, strata, by_y, bitmaps, level_counts,
                      segments, given_has_missing, x_has_missing, table):  # fmt: skip
    """Fill ``table[stratum, y, x]`` from the bitmaps of the strata and of the column's levels.

    The last stratum does not follow by subtraction if the given set has missing values, nor the
    first level if the column has any.
    """
    stay_apart()
    n_y = segments.size - 1
    source = np.uint64(depth)
    n_counted, first_level = n_strata - (not given_has_missing), np.int64(not x_has_missing)
    last = (n_strata - 1) * n_y
    for y in range(n_y):
        lo = np.uint64(segments[y])
        hi = np.uint64(segments[y + 1])
        for level in range(first_level, levels):
            bitmap = np.uint64(first_bitmap + level)
            left = level_counts[bitmap, y]
            for stratum in range(n_counted):
                count = np.uint64(0)
                row = np.uint64(stratum)
                for word in range(lo, hi):
                    count += count_bits(strata[source, row, word] & bitmaps[bitmap, word])
                table[(stratum * n_y + y) * levels + level] = np.int32(count)
                left -= np.int32(count)
            if not given_has_missing:
                table[(last + y) * levels + level] = left
        for stratum in range(0 if x_has_missing else n_strata):
            cell = (stratum * n_y + y) * levels
            rest = by_y[stratum * n_y + y]
            for level in range(1, levels):
                rest -= table[cell + level]
            table[cell] = rest


@inner
def shared_prefix(given, index, previous):
    """How many leading columns set ``index`` shares with set ``previous``; -1 without one."""
    if previous < 0:
        return -1
    shared = 0
    while shared < given.shape[1] and given[index, shared] == given[previous, shared]:
        shared += 1
    return shared
