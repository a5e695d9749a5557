"""Rows in the order of the target, and the label of each row in the given set.

Rows are sorted by the target, so its level is known without being looked up. A label is the number
of a combination of the levels of the given set. Labels are kept on a stack, one set of them for the
leading columns of the given set that the next one may share. Combinations may outnumber the rows:
then those that occur are numbered anew, and rows that are alone with theirs are left out: they stay
alone whatever column comes next, add nothing to a fit and always the same to a length, so it is
enough to count them. Rows in which a value of the given set is missing are left out as well.
"""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import numpy as np

from komb.counts.compiling import inner, stay_apart

ALONE_PER_ROW = 0.4  # from so many combinations per row on, rows that are alone are left out


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
def need_labels(s, size):
    """Have the label of each complete row in the given set; returns its depth on the stack."""
    stay_apart()
    deepest = s.labels.shape[0] - 1
    if s.labelled[s.labelled.size - 1] != s.target:
        for y in range(s.n_y + 1):
            s.first_kept[0, y] = s.rows[y]
    shared = n_shared(s.labelled, s, size)
    if s.labelled[0] > deepest:  # the deepest were written over each other
        shared = min(shared, deepest - 1)
    if shared < size or s.labelled[0] < size:
        for depth in range(shared, size):
            _extend(s, min(depth, deepest), min(depth + 1, deepest), s.given[depth])
    note(s.labelled, s, size)
    return min(size, deepest)


@inner
def _extend(s, source, sink, column):
    """Label rows by one more column."""
    stay_apart()
    need_column(s, column)
    width = s.levels[column]
    if s.bound[source] * width > s.cells.size and not s.is_exact[source]:
        renumber(s, source)
    if s.bound[source] * width > s.cells.size:
        _extend_by_hash(s, source, sink, column)
        return
    before, labels, codes = s.labels[source], s.labels[sink], s.sorted[column]
    step, n_kept = np.int32(width), s.first_kept[source, s.n_y]
    if s.is_all[source] and not s.is_incomplete[column]:
        for row in range(np.uint64(n_kept)):
            labels[row] = before[row] * step + np.int32(codes[row])
        for y in range(s.n_y + 1):
            s.first_kept[sink, y] = s.first_kept[source, y]
        s.is_all[sink] = True
    else:
        for place in range(_keep_present(s, source, sink, column)):
            row, old = np.uint64(s.kept[sink, place]), np.uint64(s.old_places[place])
            labels[place] = before[old] * step + np.int32(codes[row])
    s.bound[sink], s.is_exact[sink] = s.bound[source] * width, False
    s.n_alone[sink], s.n_uses[sink] = s.n_alone[source], 0


@inner
def _keep_present(s, source, sink, column):
    """Keep the rows in which one more column is present; returns how many there are.

    Their places before are in ``old_places``.
    """
    codes, levels, before, kept = s.sorted[column], s.levels[column], s.kept[source], s.kept[sink]
    is_all, places, n_kept = s.is_all[source], s.old_places, np.uint64(0)
    low = s.first_kept[source, 0]
    for y in range(s.n_y):
        high = s.first_kept[source, y + 1]
        s.first_kept[sink, y] = n_kept
        for place in range(np.uint64(low), np.uint64(high)):
            row = np.int32(place) if is_all else before[place]
            kept[n_kept] = row
            places[n_kept] = np.int32(place)
            n_kept += np.uint64(codes[np.uint64(row)] < levels)
        low = high
    s.first_kept[sink, s.n_y] = n_kept
    s.is_all[sink] = False
    return np.int64(n_kept)


@inner
def _extend_by_hash(s, source, sink, column):
    """Label rows by one more column where combinations are too many for a table."""
    before, labels, codes = s.labels[source], s.labels[sink], s.sorted[column]
    n_kept = _keep_present(s, source, sink, column)
    for place in range(np.uint64(n_kept)):
        row, old = np.uint64(s.kept[sink, place]), np.uint64(s.old_places[place])
        s.wide[place] = np.int64(before[old]) * s.levels[column] + np.int64(codes[row])
    s.bound[sink], s.is_exact[sink] = number_by_hash(s, n_kept, labels), True
    s.n_alone[sink], s.n_uses[sink] = s.n_alone[source], 0


@inner
def number_by_hash(s, n_kept, numbers):
    """Number the values in ``wide`` by first occurrence; returns how many there are."""
    stay_apart()
    keys, found = s.hash_keys, 0
    mask = np.uint64(keys.shape[0] - 1)
    for place in range(n_kept):
        value = s.wide[place] + 1  # 0: free
        slot = (np.uint64(value) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)) & mask
        while keys[slot, 0] != value and keys[slot, 0] != 0:
            slot = (slot + np.uint64(1)) & mask
        if keys[slot, 0] == 0:
            keys[slot, 0], keys[slot, 1] = value, found
            s.slots[found] = np.int64(slot)
            found += 1
        numbers[place] = np.int32(keys[slot, 1])
    for number in range(found):
        keys[np.uint64(s.slots[number]), 0] = 0
    return found


@inner
def renumber(s, depth):
    """Number the labels that occur, by first occurrence, and leave out rows that are alone."""
    stay_apart()
    labels, numbers, sizes, firsts = s.labels[depth], s.cells, s.totals, s.slots
    n_kept, found = np.uint64(s.first_kept[depth, s.n_y]), np.int32(0)
    for place in range(n_kept):
        label = np.uint64(labels[place])
        number = numbers[label]  # one more than it is, or 0; no branch: it is unpredictable
        firsts[np.uint64(found)] = np.int64(label)
        found += np.int32(number == 0)
        number = found if number == 0 else number
        numbers[label] = number
        labels[place] = number - np.int32(1)
        sizes[np.uint64(number - np.int32(1))] += 1
    for number in range(np.uint64(found)):
        numbers[np.uint64(firsts[number])] = 0
    s.bound[depth], s.is_exact[depth] = found, True
    if s.can_leave_out and np.int64(found) > ALONE_PER_ROW * np.int64(n_kept):
        _leave_out(s, depth)
    clear(sizes, found)


@inner
def _leave_out(s, depth):
    """Leave out rows that are alone; ``totals`` has how many rows each label has."""
    labels, kept, sizes, is_all = s.labels[depth], s.kept[depth], s.totals, s.is_all[depth]
    remaining = np.int32(0)
    for number in range(np.uint64(s.bound[depth])):  # from here on: the new number, or -1
        is_alone = sizes[number] == 1
        sizes[number] = np.int32(-1) if is_alone else remaining
        remaining += np.int32(not is_alone)
    low, n_kept = s.first_kept[depth, 0], np.uint64(0)
    for y in range(s.n_y):
        high = s.first_kept[depth, y + 1]
        s.first_kept[depth, y] = n_kept
        for place in range(np.uint64(low), np.uint64(high)):
            number = sizes[np.uint64(labels[place])]
            kept[n_kept] = np.int32(place) if is_all else kept[place]
            labels[n_kept] = number
            n_kept += np.uint64(number >= 0)
        low = high
    s.first_kept[depth, s.n_y] = n_kept
    s.n_alone[depth] += low - np.int64(n_kept)
    s.bound[depth], s.is_all[depth] = remaining, False
