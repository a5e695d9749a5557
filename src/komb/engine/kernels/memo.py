"""Hash tables of sets: a set is the exclusive or of 128 random bits for each of its columns.

A table that is half full takes no more: what is not remembered is counted again. Between two
questions it may be replaced by a larger one.
"""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import numpy as np

from komb.engine.compiling import inner, patient_kernel, stop_if_late
from komb.engine.kernels.counting import forget_count

MEMBER, CANDIDATE, LENGTH_CLASS = 0, 2, 4  # roles of a column, or of a length class, in a key
N_ROLES = 6
MOST_PLACES_IN_PYTHON = 1 << 14


@inner
def begin(s, size):
    """Take the first columns of ``given`` as the given set."""
    stop_if_late()
    low = high = np.uint64(0)
    for index in range(size):
        low ^= s.bits[0, s.given[index]]
        high ^= s.bits[1, s.given[index]]
    if low != s.hash[0] or high != s.hash[1]:
        s.hash[0], s.hash[1] = low, high
        s.generation[0] += 1
        forget_count(s)


@inner
def restart(s):
    """Forget the present given set: something else may have been counted since it was taken."""
    s.hash[1] += np.uint64(1)


@inner
def key_of(s, role, column):
    """Key of the given set with a column in some role."""
    return s.hash[0] ^ s.bits[role, column], (s.hash[1] ^ s.bits[role + 1, column]) | np.uint64(1)


@inner
def find(keys, low, high):
    """Return the place of a key, or the free one where it belongs."""
    mask = np.uint64(keys.shape[0] - 1)
    place = low & mask
    while keys[place, 1] != 0 and (keys[place, 0] != low or keys[place, 1] != high):
        place = (place + np.uint64(1)) & mask
    return place


@inner
def take(keys, used, low, high):
    """Return the place of a key, now taken; the last one, which is nobody's, if half are taken."""
    place = find(keys, low, high)
    if keys[place, 1] == 0:
        if 2 * used[0] >= keys.shape[0]:
            return np.uint64(keys.shape[0])
        used[0] += 1
        keys[place, 0], keys[place, 1] = low, high
    return place


@inner
def is_filling_up(s):
    """Whether it is time to make room for more."""
    return 4 * s.test_used[0] >= s.test_keys.shape[0] or 4 * s.set_used[0] >= s.set_keys.shape[0]


@patient_kernel(lambda keys, *_: keys.shape[0] <= MOST_PLACES_IN_PYTHON)
def move(keys, values, new_keys, new_values, used):
    """Put everything into a larger table."""
    for old in range(keys.shape[0]):
        if keys[old, 1] != 0:
            place = take(new_keys, used, keys[old, 0], keys[old, 1])
            for index in range(values.shape[1]):
                new_values[place, index] = values[old, index]
