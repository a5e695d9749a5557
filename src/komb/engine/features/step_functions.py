"""Whether one column is a function of another: of its levels, or a step function of its numbers.

Every column of distinct numbers determines all others, so the function has to be simple: steps (or
levels) and their values take fewer bits to write down than half of those that the values of the
other column take. A function that keeps or reverses the order needs the places of the steps alone.
"""

from __future__ import annotations

import math

import numpy as np

from komb.engine.fixed_point import FloatArray, Int64Array

LARGEST_CODE = 0.5
"""Of a simple function, as a share of what it explains."""


def is_simple_function(
    values: FloatArray, cause: FloatArray, *, is_number: bool, has_numbers: bool
) -> bool:
    """Whether values follow from those of another column; ``has_numbers`` is about the latter."""
    target, own = (np.unique(each, return_inverse=True)[1] for each in (values, cause))
    counts, n_values = np.bincount(target), int(own.max()) + 1
    pairs = np.unique(own * len(counts) + target)
    if len(pairs) != n_values:
        return False  # one value goes with several
    steps = np.diff(pairs % len(counts))
    n_steps, is_ordered = len(pairs), False
    if has_numbers:
        n_steps = 1 + int(np.count_nonzero(steps))
        is_ordered = is_number and bool((steps >= 0).all() or (steps <= 0).all())
    code = 1.0 if is_ordered else n_steps * math.log2(len(counts))
    if has_numbers:
        code += _bits_of_arrangements(np.array([n_steps - 1, len(pairs) - n_steps]))
    return code <= LARGEST_CODE * _bits_of_arrangements(counts)


def _bits_of_arrangements(counts: Int64Array) -> float:
    """Logarithm of the number of orders of so many things of each kind."""
    from scipy.special import gammaln

    ways = gammaln(counts.sum() + 1.0) - gammaln(counts + 1.0).sum()
    return float(ways / math.log(2.0))
