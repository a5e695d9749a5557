"""Columns in the order of the target, and stacks of what neighbouring given sets share."""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import numpy as np

from komb.engine.compiling import inner


@inner
def clear(array, n):
    """Set the first elements of an array to zero."""
    for index in range(np.uint64(n)):
        array[index] = 0


@inner
def need_column(s, column):
    """Have a column in the order of the target, so that its level is known without a look."""
    if not s.is_sorted[column]:
        s.is_sorted[column] = True
        codes, ordered, order = s.codes[column], s.sorted[column], s.order
        for row in range(np.uint64(order.size)):
            ordered[row] = codes[np.uint64(order[row])]


@inner
def n_shared(stack, s, size):
    """How many leading columns the given set shares with that on a stack.

    The stack has the size of its set, the columns and, at the end, the target.
    """
    if stack[stack.size - 1] != s.target:
        stack[0], stack[stack.size - 1] = -1, s.target
    shared = 0
    while shared < min(stack[0], size) and stack[shared + 1] == s.given[shared]:
        shared += 1
    return shared


@inner
def note(stack, s, size):
    """Note that the given set is on a stack."""
    stack[0] = size
    for index in range(size):
        stack[index + 1] = s.given[index]


@inner
def n_combinations(s, first, size):
    """How many combinations of levels there could be of the given columns from one on."""
    product = np.int64(1)
    for index in range(first, size):
        product = min(product * s.levels[s.given[index]], np.int64(1) << 40)
    return product
