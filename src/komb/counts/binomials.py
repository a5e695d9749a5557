"""How many subsets there are: for the ranks of sets in colexicographic order."""

from __future__ import annotations

import math

import numpy as np

from komb.counts.fixedpoint import Int64Array


def binomials(n: int, size: int) -> Int64Array:
    """``table[k, c] = C(c, k)``, for ``k`` up to ``size`` and ``c`` up to ``n``.

    Examples
    --------
    >>> binomials(4, 2).tolist()
    [[1, 1, 1, 1, 1], [0, 1, 2, 3, 4], [0, 0, 1, 3, 6]]
    """
    return np.array([[math.comb(c, k) for c in range(n + 1)] for k in range(size + 1)], np.int64)
