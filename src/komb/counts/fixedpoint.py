"""Fixed-point tables of the two functions that every statistic is a sum of.

``n log2 n`` (entropies, likelihoods) and ``log2 C(r, n)`` (the multinomial normaliser of the
stochastic-complexity test) are tabulated as 64-bit integers. Integer addition is associative, so a
sum over a contingency table is the same to the last bit whatever the order of its cells, the way
they were counted or the batch they were counted in. Intermediate sums may wrap around;
the final ones fit, and two's complement makes them right.

>>> scale = scale_for(1000)
>>> int(entropy_table(1000, scale)[8]) / scale
24.0
"""

from __future__ import annotations

import functools
import math

import numpy as np
import numpy.typing as npt

Int64Array = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

MAX_LEVELS = 65_535
_REMEMBERED_ROWS = 20_000  # length tables up to this size are kept for the next target
_RESCALE_EVERY = 8  # steps of the normaliser's recurrence; each grows by less than n + 1


def scale_for(n_rows: int) -> float:
    """Fixed-point units per bit: the largest power of two that keeps every sum within 63 bits.

    A sum never exceeds ``n_rows * log2(max(n_rows, MAX_LEVELS + 1))`` bits.
    """
    return largest_scale(n_rows * max(math.log2(max(n_rows, 2)), math.log2(MAX_LEVELS + 1)))


def largest_scale(bound: float) -> float:
    """Largest power of two by which sums up to ``bound`` can be multiplied, with room to spare."""
    return 2.0 ** (61 - math.ceil(math.log2(max(bound, 1.0))))


def entropy_table(n_rows: int, scale: float) -> Int64Array:
    """Tabulate ``n log2 n`` for n = 0 .. n_rows + 1 in fixed point.

    The binary exponent's share, ``n * e``, is an integer and kept exact; only the mantissa's
    logarithm is rounded, which keeps ten more bits at a million rows.
    """
    return entropy_of(np.arange(n_rows + 2, dtype=np.int64), scale)


def entropy_of(n: Int64Array, scale: float) -> Int64Array:
    """``n log2 n`` in fixed point, for some numbers: the same bits as in the table."""
    mantissa, exponent = np.frexp(np.maximum(n, 1).astype(np.float64))
    whole = n * exponent.astype(np.int64) * np.int64(scale)
    table: Int64Array = whole + np.rint(n * np.log2(mantissa) * scale).astype(np.int64)
    return table


def length_table(levels: int, n_rows: int, scale: float) -> Int64Array:
    """Tabulate ``log2 C(levels, n)`` for n = 0 .. n_rows + 1 in fixed point.

    ``C(r, n)`` is the normaliser of the normalised maximum likelihood of a multinomial with ``r``
    levels and ``n`` rows: ``C(1, n) = 1``, ``C(r + 2, n) = C(r + 1, n) + (n / r) C(r, n)``.
    """
    make = _remembered_length_table if n_rows <= _REMEMBERED_ROWS else _make_length_table
    return make(levels, n_rows, scale)


def _make_length_table(levels: int, n_rows: int, scale: float) -> Int64Array:
    return np.rint(log2_normaliser(levels, n_rows + 1) * scale).astype(np.int64)


def length_of(levels: int, n: Int64Array, scale: float) -> Int64Array:
    """``log2 C(levels, n)`` in fixed point, for some numbers: the same bits as in the table."""
    numbers = n.astype(np.float64)
    logarithms = _log2_normaliser_of(levels, numbers, _log2_two_levels_of(numbers))
    return np.rint(logarithms * scale).astype(np.int64)


# searches for many targets of one table ask for the same tables again and again
_remembered_length_table = functools.lru_cache(maxsize=64)(_make_length_table)


def log2_normaliser(levels: int, n_max: int) -> FloatArray:
    """``log2 C(levels, n)`` for n = 0 .. n_max, in floating point."""
    n = np.arange(n_max + 1, dtype=np.float64)
    return _log2_normaliser_of(levels, n, _log2_two_levels(n_max))


def _log2_normaliser_of(levels: int, n: FloatArray, two_levels: FloatArray) -> FloatArray:
    """``log2 C(levels, n)`` from ``log2 C(2, n)``, number by number."""
    if levels == 1:
        return np.zeros(len(n))
    before, now = np.ones(len(n)), np.exp2(two_levels)
    exponents = np.zeros(len(n))
    for step in range(1, levels - 1):
        before, now = now, now + (n / step) * before
        if step % _RESCALE_EVERY == 0:
            _, shift = np.frexp(now)
            before, now = np.ldexp(before, -shift), np.ldexp(now, -shift)
            exponents += shift
    result: FloatArray = np.log2(now) + exponents
    return result


@functools.lru_cache(maxsize=1)
def _log2_two_levels(n_max: int) -> FloatArray:
    """``log2 C(2, n)``: ``C(2, n) = sum_j n! / ((n - j)! n^j)``, an incomplete gamma function.

    The sum equals ``n! (e/n)^n Q(n + 1, n)``. Stirling's series gives the first factor without the
    cancellation that ``lgamma(n + 1) - n log n + n`` suffers for large n.
    """
    return _log2_two_levels_of(np.arange(n_max + 1, dtype=np.float64))


def _log2_two_levels_of(n: FloatArray) -> FloatArray:
    """``log2 C(2, n)``, number by number."""
    from scipy.special import gammaincc

    small = np.zeros(64)
    for number in range(1, 64):
        factors = np.arange(number, 0, -1) / number
        small[number] = np.log2(1.0 + np.cumprod(factors).sum())
    is_small = n < 64
    result = np.empty(len(n))
    result[is_small] = small[n[is_small].astype(np.int64)]
    n_large = n[~is_small]
    inverse = 1.0 / n_large
    series = inverse * (1 / 12 - inverse**2 * (1 / 360 - inverse**2 * (1 / 1260)))
    stirling = 0.5 * np.log(2 * np.pi * n_large) + series
    result[~is_small] = (stirling + np.log(gammaincc(n_large + 1, n_large))) / np.log(2.0)
    return result
