"""The combinations of a block that occur, as rows of a table with weights."""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import numpy as np

from komb.counts.compiling import inner, kernel


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
