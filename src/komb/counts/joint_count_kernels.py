"""The compiled loop that counts many sets of columns in one pass over some rows."""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import numpy as np

from komb.counts.compiling import inner, kernel

ROWS_PER_BLOCK = 1 << 16
"""Rows whose combined codes are kept while all sets are counted; they stay in the cache."""


@inner
def _extend_keys(data, start, width, n_codes, before, n_rows, after):
    """Combine the codes of one more column with those so far."""
    factor = np.uint32(n_codes)
    if width == 1:
        for row in range(np.uint64(n_rows)):
            after[row] = before[row] * factor + np.uint32(data[np.uint64(start) + row])
    else:
        for row in range(np.uint64(n_rows)):
            low = np.uint64(start) + np.uint64(2) * row
            code = np.uint32(data[low]) | np.uint32(data[low + np.uint64(1)]) << np.uint32(8)
            after[row] = before[row] * factor + code


@inner
def _count_keys(keys, n_rows, start, tables):
    """Count combined codes into a table."""
    first = np.uint64(start)
    for row in range(np.uint64(n_rows)):
        tables[first + np.uint64(keys[row])] += np.int32(1)


@inner
def _shared_columns(sets, sizes, index):
    """How many leading columns a set shares with the one before."""
    if index == 0:
        return 0
    shared = 0
    most = min(sizes[index], sizes[index - 1])
    while shared < most and sets[index, shared] == sets[index - 1, shared]:
        shared += 1
    return shared


@kernel
def count_joint(data, n_rows, offsets, widths, n_codes, sets, sizes, starts, keys, tables):
    """Add the rows of a part to the tables of some sets of columns.

    Codes of column ``c`` lie in ``data`` from ``offsets[c]`` on, ``widths[c]`` bytes each. Set
    ``i`` is ``sets[i, :sizes[i]]``; its table, the last column fastest, begins at ``starts[i]`` of
    ``tables``. ``keys`` is scratch: ``keys[d]`` are the combined codes of the first ``d`` columns
    of the present set, of which the first row stays zero.
    """
    block = keys.shape[1]
    for first in range(0, n_rows, block):
        n_block = min(block, n_rows - first)
        for index in range(sets.shape[0]):
            for depth in range(_shared_columns(sets, sizes, index), sizes[index]):
                column = sets[index, depth]
                _extend_keys(data, offsets[column] + first * widths[column], widths[column],
                             n_codes[column], keys[depth], n_block, keys[depth + 1])  # fmt: skip
            _count_keys(keys[sizes[index]], n_block, starts[index], tables)
