"""The walk of kOMB's Algorithm 2 through the groups outside of the blanket."""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

from komb.counts.compiling import inner, stay_apart
from komb.sessions.formula_kernels.hash_table import NO_COLUMN
from komb.sessions.formula_kernels.lot import (
    FIRST_POSITION,
    GENERATION,
    MOST_ALLIES,
    N_ANSWERS,
    N_COLUMNS,
    NEVER,
    ORDER,
    is_full,
    is_in,
)
from komb.sessions.formula_kernels.witnesses import find_allies


@inner
def _write_group(size, lot):
    """Write down the columns of the present group; returns its row among all groups."""
    walk, positions = lot.walk, lot.place[FIRST_POSITION:]
    row = walk.first[size]
    for index in range(size):
        column = lot.columns[positions[index]]
        lot.sets[0, index] = column
        row += walk.binomials[index + 1, walk.position[column]]
    lot.sets[0, size] = NO_COLUMN
    return row


@inner
def _compare_with_last(size, lot):
    """Where the present leaf is: before the last that was examined (-1), there (0) or later."""
    last = lot.walk.last
    for index in range(size):
        column = lot.columns[lot.place[FIRST_POSITION + index]]
        if column != last[index + 1]:
            return -1 if column < last[index + 1] else 1
    return 0


@inner
def _examine_leaf(size, lot, work):
    """Examine a group that takes no allies, unless that was done; returns whether it is done."""
    stay_apart()
    last = lot.walk.last
    place = _compare_with_last(size, lot)
    if place < 0:
        return True
    _write_group(size, lot)
    if place > 0:
        for index in range(size):
            last[index + 1] = lot.sets[0, index]
        last[0] = -1
    lot.lines[0, MOST_ALLIES] = 0
    for index in range(lot.asked[N_COLUMNS]):
        column = lot.columns[index]
        if column <= last[0] or is_in(column, lot.sets[0], size):
            continue
        if is_full(lot, work):
            return False
        last[0] = column
        if find_allies(0, column, 0, NEVER, lot, work):
            return True
    return True


@inner
def _examine(size, lot, work):
    """Examine a group with new allies; returns whether it is done."""
    stay_apart()
    row, generation, examined = _write_group(size, lot), lot.asked[GENERATION], lot.walk.examined
    lot.lines[0, MOST_ALLIES] = lot.asked[ORDER] - size
    for index in range(lot.asked[N_COLUMNS]):
        column = lot.columns[index]
        if examined[row, column] == generation or is_in(column, lot.sets[0], size):
            continue
        if is_full(lot, work):
            return False
        before = examined[row, column]
        examined[row, column] = generation
        if find_allies(0, column, 0, before, lot, work):
            return True
    return True


@inner
def walk_groups(lot, work):
    """Find the first candidate with a witness, group after group.

    A prefix comes before its extensions, and they in lexicographic order. A walk that was
    interrupted begins anew: it passes by what is examined.
    """
    stay_apart()
    positions, n_columns = lot.place[FIRST_POSITION:], lot.asked[N_COLUMNS]
    size = 0
    while True:
        is_leaf = size == lot.asked[ORDER]
        is_done = _examine_leaf(size, lot, work) if is_leaf else _examine(size, lot, work)
        if not is_done or lot.place[N_ANSWERS] > 0:
            return is_done
        following = positions[size - 1] + 1 if size > 0 else 0
        if not is_leaf and following < n_columns:
            positions[size] = following
            size += 1
            continue
        while size > 0 and positions[size - 1] == n_columns - 1:
            size -= 1
        if size == 0:
            return True
        positions[size - 1] += 1
