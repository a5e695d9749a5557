"""A hash table whose keys are small sets of integers."""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

from typing import Any

import numpy as np

from komb.counts.compiling import inner, kernel, stay_apart
from komb.counts.records import Record

FREE = np.iinfo(np.int32).min  # in front of a key: the place is not taken
NO_COLUMN = -1  # behind the columns of a set that is smaller than a key has room for
N_VALUES = 3

# What is in front of a key that is not a test: for those it is the candidate.
SUMS = -1  # sums over a set
SPLITS = -2  # and below: split length of a set, for length class ``SPLITS - head``


class Hash(Record):
    """An open hash table; its size is a power of two, half of which is used at most."""

    keys: Any  # [place, (head, columns in ascending order, NO_COLUMN ...)]
    values: Any  # [place, 3]
    used: Any  # [0]: how many places are taken


@inner
def find_place(keys, head, columns, size):
    """Find the place of a key, or the free one where it belongs."""
    stay_apart()
    mixed = np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(np.int64(head) & 0xFFFFFFFF)
    for index in range(size):
        mixed = (mixed ^ np.uint64(columns[index])) * np.uint64(0xFF51AFD7ED558CCD)
        mixed ^= mixed >> np.uint64(32)
    mixed *= np.uint64(0xC4CEB9FE1A85EC53)
    mixed ^= mixed >> np.uint64(29)
    mask = np.uint64(keys.shape[0] - 1)
    place = mixed & mask
    while keys[place, 0] != FREE:
        if keys[place, 0] == head:
            index = 0
            while index < size and keys[place, index + 1] == columns[index]:
                index += 1
            if index == size and (size + 1 == keys.shape[1] or keys[place, size + 1] == NO_COLUMN):
                return np.int64(place)
        place = (place + np.uint64(1)) & mask
    return np.int64(place)


@inner
def take_place(hashed, place, head, columns, size):
    """Put a key in its place, unless the table is full; returns whether it is there."""
    stay_apart()
    keys = hashed.keys
    if keys[place, 0] != FREE:
        return True
    if 2 * hashed.used[0] >= keys.shape[0]:
        return False
    hashed.used[0] += 1
    keys[place, 0] = np.int32(head)
    for index in range(size):
        keys[place, index + 1] = np.int32(columns[index])
    for index in range(size + 1, keys.shape[1]):
        keys[place, index] = np.int32(NO_COLUMN)
    return True


@kernel
def move(old, new):
    """Put everything that is in one table into a larger one."""
    for place in range(old.keys.shape[0]):
        if old.keys[place, 0] == FREE:
            continue
        size = 0
        while size + 1 < old.keys.shape[1] and old.keys[place, size + 1] != NO_COLUMN:
            size += 1
        row = old.keys[place, 1 : size + 1]
        there = find_place(new.keys, old.keys[place, 0], row, size)
        if take_place(new, there, old.keys[place, 0], row, size):
            for index in range(N_VALUES):
                new.values[there, index] = old.values[place, index]
