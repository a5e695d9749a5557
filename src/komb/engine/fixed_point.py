"""Tables of the two functions that every sum over counts is made of, in fixed point.

``n log2 n`` (entropies, likelihoods) and ``log2 C(r, n)`` (the multinomial normaliser of stochastic
complexity) are 64-bit integers. Integer addition is associative, so a sum is the same to the last
bit whatever the order of its terms. Intermediate sums may wrap around; the final ones fit.

>>> scale = scale_for(1000)
>>> int(entropies(1000, scale)[8]) / scale
24.0
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Int64Array = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

MOST_LEVELS = 65_535
MOST_ENTROPIES, MOST_LENGTHS = 1 << 20, 1 << 14
"""Rows up to which terms are tabulated; kernels compute those of more rows."""

_RESCALE_EVERY = 8  # steps of the normaliser's recurrence; each grows by less than n + 1


def scale_for(n_rows: int) -> float:
    """Units per bit: the largest power of two that keeps every sum within 63 bits.

    A sum never exceeds ``n_rows * log2(max(n_rows, MOST_LEVELS + 1))`` bits.
    """
    return largest_scale(n_rows * max(math.log2(max(n_rows, 2)), math.log2(MOST_LEVELS + 1)))


def largest_scale(bound: float) -> float:
    """Largest power of two by which sums up to ``bound`` can be multiplied, with room to spare."""
    return 2.0 ** (61 - math.ceil(math.log2(max(bound, 1.0))))


def entropies(n_rows: int, scale: float) -> Int64Array:
    """Tabulate ``n log2 n`` for n = 0 .. n_rows.

    The binary exponent's share, ``n * e``, is an integer and kept exact; only the mantissa's
    logarithm is rounded, which keeps ten more bits at a million rows.
    """
    n = np.arange(n_rows + 1, dtype=np.int64)
    mantissa, exponent = np.frexp(np.maximum(n, 1).astype(np.float64))
    whole = n * exponent.astype(np.int64) * np.int64(scale)
    table: Int64Array = whole + np.rint(n * np.log2(mantissa) * scale).astype(np.int64)
    return table


def lengths(levels: Iterable[int], n_rows: int, scale: float) -> Int64Array:
    """Tabulate ``log2 C(levels, n)`` for n = 0 .. n_rows, one column for each number of levels.

    ``C(r, n)`` is the normaliser of the normalised maximum likelihood of a multinomial with ``r``
    levels and ``n`` rows: ``C(1, n) = 1``, ``C(r + 2, n) = C(r + 1, n) + (n / r) C(r, n)``.
    """
    wanted, most = dict.fromkeys(levels), min(n_rows, MOST_LENGTHS)
    n = np.arange(most + 1, dtype=np.float64)
    before, now, exponents = np.ones(most + 1), np.exp2(_log2_two_levels(most)), np.zeros(most + 1)
    logarithms = {0: exponents, 1: exponents, 2: np.log2(now)}
    for step in range(1, max(wanted, default=0) - 1):
        before, now = now, now + (n / step) * before
        if step % _RESCALE_EVERY == 0:
            _, shift = np.frexp(now)
            before, now = np.ldexp(before, -shift), np.ldexp(now, -shift)
            exponents = exponents + shift
        if step + 2 in wanted:
            logarithms[step + 2] = np.log2(now) + exponents
    table = np.stack([logarithms[each] for each in wanted], axis=1)
    return np.rint(table * scale).astype(np.int64)


@lru_cache(maxsize=4)
def _log2_two_levels(most: int) -> FloatArray:
    """``log2 C(2, n)``: ``C(2, n) = sum_j n! / ((n - j)! n^j)``, an incomplete gamma function.

    The sum equals ``n! (e/n)^n Q(n + 1, n)``. Stirling's series gives the first factor without the
    cancellation that ``lgamma(n + 1) - n log n + n`` suffers for large n.
    """
    from scipy.special import gammaincc

    result = np.zeros(most + 1)
    for number in range(1, min(64, most + 1)):
        factors = np.arange(number, 0, -1) / number
        result[number] = np.log2(1.0 + np.cumprod(factors).sum())
    n = np.arange(64, most + 1, dtype=np.float64)
    inverse = 1.0 / n
    series = inverse * (1 / 12 - inverse**2 * (1 / 360 - inverse**2 * (1 / 1260)))
    stirling = 0.5 * np.log(2 * np.pi * n) + series
    result[64:] = (stirling + np.log(gammaincc(n + 1, n))) / np.log(2.0)
    return result
