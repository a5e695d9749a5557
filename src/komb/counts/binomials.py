"""How many subsets there are: for the ranks of sets in colexicographic order."""

from __future__ import annotations

import math

import numpy as np

from komb.counts.fixedpoint import Int64Array


def binomials(n: int, size: int) -> Int64Array:
    """``table[k, c] = C(c, k)``, for ``k`` up to ``size`` and ``c`` up to ``n``."""
    return np.array([[math.comb(c, k) for c in range(n + 1)] for k in range(size + 1)], np.int64)
