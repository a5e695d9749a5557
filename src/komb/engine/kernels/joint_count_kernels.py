"""The compiled loop that counts many blocks of columns in one pass over some rows."""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import numpy as np

from komb.engine.compiling import inner, kernel

ROWS_PER_CHUNK = 1 << 16
"""Rows that all blocks are counted in before the next: their codes stay in the cache."""

ROWS_PER_STEP = 1 << 12
"""Rows whose codes are combined at once: the result stays in the first cache."""


@inner
def _has_levels(codes, first, n_rows, n_codes):
    """Whether no code of some rows is too high."""
    highest = codes[first]
    for row in range(np.uint64(first), np.uint64(first + n_rows)):
        highest = max(highest, codes[row])
    return highest < n_codes


@inner
def _combine(codes, first, n_rows, n_codes, is_first, keys):
    """Combine the codes of one more column with those so far."""
    start, factor = np.uint64(first), np.uint32(n_codes)
    if is_first:
        for row in range(np.uint64(n_rows)):
            keys[row] = codes[start + row]
    else:
        for row in range(np.uint64(n_rows)):
            keys[row] = np.uint32(keys[row]) * factor + np.uint32(codes[start + row])


@kernel
def count_blocks(codes, columns, blocks, sizes, starts, keys, tables):
    """Add some rows to the tables of some blocks; returns a column with codes too high, or -1.

    ``columns`` are those of all blocks: the line of each in ``codes``, and how many codes it may
    have. Block ``i`` is ``blocks[i, :sizes[i]]``, numbers of columns; its table, the last column
    fastest, begins at ``starts[i]`` of ``tables``. ``keys`` is scratch, of a type that numbers the
    combinations of every block.
    """
    n_rows = codes.shape[1]
    for chunk in range(0, n_rows, ROWS_PER_CHUNK):
        end = min(chunk + ROWS_PER_CHUNK, n_rows)
        for column in range(columns.shape[0]):
            if not _has_levels(codes[columns[column, 0]], chunk, end - chunk, columns[column, 1]):
                return column
        for block in range(blocks.shape[0]):
            start = np.uint64(starts[block])
            for first in range(chunk, end, ROWS_PER_STEP):
                n_step = min(ROWS_PER_STEP, end - first)
                keys[:n_step] = 0
                for place in range(sizes[block]):
                    line, n_codes = columns[blocks[block, place]]
                    _combine(codes[line], first, n_step, n_codes, place == 0, keys)
                for row in range(np.uint64(n_step)):
                    tables[start + np.uint64(keys[row])] += np.int32(1)
    return -1
