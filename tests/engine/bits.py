"""Bitmaps of small tables, made slowly: what a screen reads."""

from __future__ import annotations

import numpy as np

from komb.data.table import DiscreteTable
from komb.engine.fixed_point import entropies, scale_for
from komb.engine.screens import Bits

MOST_LEVELS = 16  # of a column with bitmaps


def bits_of(table: DiscreteTable, target: int) -> Bits:
    """Bitmaps of all columns of few levels, for one target."""
    codes, levels = table.codes.astype(np.int64), table.cardinalities
    y, n_y = codes[target], int(levels[target])
    parts = [np.flatnonzero(y == level) for level in range(n_y)]
    words = np.cumsum([0, *(4 * -(-len(part) // 256) for part in parts)])
    has_bitmaps = (levels <= MOST_LEVELS) & (levels > 0)
    ends = np.cumsum(np.where(has_bitmaps, levels, 0))
    bitmaps = np.zeros((ends[-1] + 1, words[-1]), np.uint64)
    counts = np.zeros((ends[-1] + 1, n_y), np.int32)

    def pack(row: int, is_set: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> None:
        for level, part in enumerate(parts):
            for place in np.flatnonzero(is_set[part]).tolist():
                bitmaps[row, words[level] + place // 64] |= np.uint64(1 << place % 64)
            counts[row, level] = is_set[part].sum()

    first = np.where(has_bitmaps, ends - levels, -1)
    for column in np.flatnonzero(has_bitmaps).tolist():
        for level in range(int(levels[column])):
            pack(int(first[column]) + level, codes[column] == level)
    pack(-1, np.ones(table.n_rows, np.bool_))
    n_rows = sum(map(len, parts))
    has_missing = bool((codes == levels[:, None]).any())
    entropy = entropies(table.n_rows, scale_for(table.n_rows))
    return Bits(bitmaps, counts, words, first, levels, entropy, n_rows, has_missing)
