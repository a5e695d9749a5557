"""Rows in the order of the target, and the label of each row in the given set.

Rows are sorted by the target, so its level is known without being looked up. A label is the number
of a combination of the levels of the given set, the last one for rows in which one of them is
missing. Labels are kept on a stack, one line for the leading columns that the next set may share.
"""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import numpy as np

from komb.counts.compiling import inner, stay_apart


@inner
def clear(array, n):
    """Set the first elements of an array to zero."""
    for index in range(np.uint64(n)):
        array[index] = 0


@inner
def need_column(s, column):
    """Have a column in the order of the target."""
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


@inner
def need_labels(s, size):
    """Have the label of each row in the given set; returns its line on the stack."""
    stay_apart()
    deepest = s.labels.shape[0] - 1
    shared = n_shared(s.labelled, s, size)
    if s.labelled[0] > deepest:  # the deepest were written over each other
        shared = min(shared, deepest - 1)
    if shared < size or s.labelled[0] > deepest:
        for depth in range(shared, size):
            _label(s, min(depth, deepest), min(depth + 1, deepest), depth)
    note(s.labelled, s, size)
    return min(size, deepest)


@inner
def _label(s, source, sink, depth):
    """Label rows by one more column."""
    column = s.given[depth]
    need_column(s, column)
    before, labels, codes, width = s.labels[source], s.labels[sink], s.sorted[column], s.levels[column]
    step, missing = np.int32(width), np.int32(n_combinations(s, 0, depth))
    if not s.has_missing:
        for row in range(np.uint64(s.order.size)):
            labels[row] = before[row] * step + np.int32(codes[row])
        return
    for row in range(np.uint64(s.order.size)):
        label, code = before[row], np.int32(codes[row])
        is_missing = label == missing or code == step
        labels[row] = missing * step if is_missing else label * step + code
