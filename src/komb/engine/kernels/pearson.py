"""Pearson's X2, with the three cumulants that it has over all orders of a stratum's rows.

If ``X`` and ``Y`` are independent given ``Z``, the values of ``X`` in the rows of a stratum could
be in any other order, equally likely. With ``n`` rows, ``r`` levels of ``X`` that occur ``n_i``
times and ``s`` of ``Y`` that occur ``m_j`` times, X2 has over all orders (Haldane 1940)

    mean     = (r - 1)(s - 1) n / (n - 1)
    variance = 2 n / (n - 3) (v - w)(v' - w') + n^2 / (n - 1) w w'
    v = (n - r)(r - 1) / (n - 1),   w = (n sum 1 / n_i - r^2) / (n - 2),   v', w' with s and m_j.

The third cumulant is of the same kind. X2 is ``n sum A_kl B_kl`` over all pairs of rows, with the
projections ``A`` and ``B`` on the levels of ``X`` and of ``Y``. What varies of ``A`` has two parts:
``d_k = 1 / n_i - r / n`` for a row of level i, and for two rows of levels i and j
``O_kl = (1 / n_i if i = j) + (d_k + d_l) / (n - 2) - (n - r) / (n (n - 1))``, whose rows add up to
zero. No permutation mixes the two, so the cumulant is a sum over the ways to combine three of them:

    third = n^7 / ((n - 1)(n - 2)^4) a a' + 6 n^4 / ((n - 2)^2 (n - 3)) b b'
            + 12 n^4 / ((n - 1)(n - 3)(n - 4)) c c' + 4 n^2 (n - 1)(n - 2)^2 / ((n - 3) p) e e'
            + 8 n^2 / ((n - 1)(n - 2)(n - 3)(n - 4)(n - 5) p) f f'
    a = sum d_k^3,   b = sum d_k O_kl d_l,   c = sum d_k O_kl^2,   e = sum O_kl^3,
    f = p tr(O^3) - (3 n^2 - 15 n + 16) e,   p = n^3 - 9 n^2 + 26 n - 22,

without the terms whose denominators vanish or are negative. All five need ``n``, ``r`` and the sums
of ``1 / n_i`` and ``1 / n_i^2`` only. (Kazi-Aoual, Hitier, Sabatier and Lebreton 1995 have the
third moment of any such product of two matrices, for six rows and more.)

Strata are independent, so their cumulants add up; in fixed point, whatever the order of the strata.
A stratum in which one of the variables does not vary says nothing.
"""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

from typing import Any

import numpy as np

from komb.engine.compiling import inner, stay_apart
from komb.engine.kernels.places import FREEDOM, MEAN, PEARSON, THIRD, VARIANCE
from komb.engine.kernels.strata import n_strata, take_stratum

# Units of 1 / n. A sum over the levels of a stratum stays below 2^60.
INVERSE_SCALE = 2.0**44
SQUARE_SCALE = 2.0**46  # of 1 / n^2, whose sum over 2^16 levels stays below 2^62
# Differences of so much per level are rounding: sixteen times what a sum of 1 / n can be wrong by.
NO_DIFFERENCE = 2.0**-40
# The same for what the sum of 1 / n^2 decides, which is multiplied by n^2 and then left as it is.
NO_SKEW = 2.0**-43
FACTORED_ROWS = 1024  # up to here 1 / n and the factors of the third cumulant are tabulated


def _tabulate_factors() -> Any:
    """Tabulate what the third cumulant multiplies products of sums with: ``[rows, term]``."""
    n = np.arange(FACTORED_ROWS, dtype=np.float64)
    cubic = n * (n * (n - 9.0) + 26.0) - 22.0
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = [
            n**7 / ((n - 1.0) * (n - 2.0) ** 4),
            6.0 * n**4 / ((n - 2.0) ** 2 * (n - 3.0)),
            12.0 * n**4 / ((n - 1.0) * (n - 3.0) * (n - 4.0)),
            4.0 * n**2 * (n - 2.0) ** 2 * (n - 1.0) / ((n - 3.0) * cubic),
            8.0 * n**2
            / ((n - 1.0) * (n - 2.0) * (n - 3.0) * (n - 4.0) * (n - 5.0) * cubic),
        ]  # fmt: skip
    return np.column_stack(
        [np.where(n < least, 0.0, term) for least, term in zip((3, 4, 5, 4, 6), terms, strict=True)]
    )


_FACTORS = _tabulate_factors()
_COUNTS = np.maximum(np.arange(FACTORED_ROWS, dtype=np.float64), 1.0)
_INVERSES = np.rint(INVERSE_SCALE * (1.0 / _COUNTS)).astype(np.int64)
_SQUARES = np.rint(SQUARE_SCALE * ((1.0 / _COUNTS) * (1.0 / _COUNTS))).astype(np.int64)


@inner
def divergence_term(count, rows, n_x, n_y, power, scale):
    """Fixed-point share of a cell in a power divergence, 2 n ((n / e)^p - 1) / (p (p + 1)).

    For a power of 1 that is Pearson's statistic. Below -1 cells without rows are left out, and each
    of the others adds 2 (e - n) / (p + 1), without which its share could be negative.
    """
    n, product = np.float64(count), np.float64(n_x) * np.float64(n_y)
    if power == 1.0:
        share = n * n / product
        return np.int64(np.rint(share * np.float64(rows) * scale)) - np.int64(n * scale)
    expected = product / np.float64(rows)
    term = n * ((n / expected) ** power - 1.0) / power
    if power < -1.0:
        term -= n - expected
    return np.int64(np.rint(2.0 / (power + 1.0) * term * scale))


@inner
def _sum_cells(s, rows, n_cells, power):
    """Power divergence of the stratum at hand, in fixed point."""
    by_x, by_y, cell_x, cell_y = s.by_x, s.by_y, s.cell_x, s.cell_y
    scale, total = s.pearson_scale, np.int64(0)
    for cell in range(np.uint64(n_cells)):
        n_x, n_y = by_x[np.uint64(cell_x[cell])], by_y[np.uint64(cell_y[cell])]
        total += divergence_term(s.cell_rows[cell], rows, n_x, n_y, power, scale)
    return total


@inner
def sum_divergence(s):
    """Sum a power divergence, and the degrees of freedom of the levels that occur."""
    divergence = freedom = np.int64(0)
    for number in range(n_strata(s)):
        rows, n_x, n_y, n_cells = take_stratum(s, number)
        if n_x > 1 and n_y > 1:
            divergence += _sum_cells(s, rows, n_cells, s.divergence)
            freedom += (n_x - 1) * (n_y - 1)
    s.sums[PEARSON], s.sums[FREEDOM] = divergence, freedom


@inner
def sum_pearson(s, column):
    """Sum Pearson's statistic with its cumulants, and the freedom of the levels that occur."""
    stay_apart()
    pearson = freedom = mean = variance = third = np.int64(0)
    scales = s.pearson_scale, s.variance_scales[column], s.third_scales[column]
    for number in range(n_strata(s)):
        rows, n_x, n_y, n_cells = take_stratum(s, number)
        if n_x > 1 and n_y > 1:
            pearson += _sum_cells(s, rows, n_cells, 1.0)
            freedom += (n_x - 1) * (n_y - 1)
            own = permuted_cumulants(
                rows, n_x, n_y, _sum_inverses(s.by_x, n_x), _sum_inverses(s.by_y, n_y), scales
            )
            mean += own[0]
            variance += own[1]
            third += own[2]
    sums = s.sums
    sums[PEARSON], sums[FREEDOM] = pearson, freedom
    sums[MEAN], sums[VARIANCE], sums[THIRD] = mean, variance, third


@inner
def _sum_inverses(counts, n_levels):
    """Fixed-point sums of 1 / n and 1 / n^2 over the levels of a stratum."""
    inverse = square = np.int64(0)
    for level in range(np.uint64(n_levels)):
        own, own_square = inverse_of(counts[level])
        inverse += own
        square += own_square
    return inverse, square


@inner
def inverse_of(count):
    """Fixed-point 1 / n and 1 / n^2; from a table, for most counts are small."""
    if count < FACTORED_ROWS:
        return _INVERSES[np.uint64(count)], _SQUARES[np.uint64(count)]
    inverse = 1.0 / np.float64(count)
    return (
        np.int64(np.rint(INVERSE_SCALE * inverse)),
        np.int64(np.rint(SQUARE_SCALE * (inverse * inverse))),
    )


@inner
def _unevenness(n, levels, inverse, by_one_less, by_two_less):
    """How uneven a margin is, and what it lacks of the most that it could be.

    ``inverse`` is the sum of 1 / n over its levels. Zero is exact: whether a statistic can vary at
    all depends on it.
    """
    uneven = (n * (np.float64(inverse) / INVERSE_SCALE) - levels * levels) * by_two_less
    lacking = (n - levels) * (levels - 1.0) * by_one_less - uneven
    if uneven < NO_DIFFERENCE * levels:
        uneven = 0.0
    if lacking < NO_DIFFERENCE * levels:
        lacking = 0.0
    return uneven, lacking


@inner
def _skew(levels, share, inverse, square):
    """Sum of the third powers of ``1 / n - levels / n``, one term for each of the n rows."""
    skew = np.float64(square) / SQUARE_SCALE - share * (
        3.0 * (np.float64(inverse) / INVERSE_SCALE) - 2.0 * levels * share
    )
    return 0.0 if abs(skew) < NO_SKEW * levels else skew


@inner
def _invariants(n, levels, square, skew, by_n, by_one_less, by_two_less):
    """Return sums b, c, e and f of a margin; the module's docstring says which."""
    rest = n - levels
    by_two_squared = by_two_less * by_two_less
    products = rest * (levels - 1.0) * by_n
    skew *= n
    wide = square * rest * by_one_less - skew * by_two_less
    near = (
        square * (n - 2.0 * levels + 2.0) * by_two_less
        - skew * (n - 1.0) * by_two_squared
    )  # fmt: skip
    cubes = (
        products * (n * (levels - 2.0) + levels) * by_one_less * by_one_less
        + square * (n * (n * (n - 3.0 * levels + 4.0) - 4.0) + 6.0 * levels - 4.0)
        * by_one_less * by_two_squared
        - skew * (n * n - 2.0) * by_two_less * by_two_squared
    )  # fmt: skip
    rounds = (
        skew * 2.0 * (n - 1.0) * (n - 2.0)
        - square * (n * (n * (3.0 * n - 6.0 * levels - 9.0) + 24.0 * levels) - 24.0 * levels + 16.0)
        + products * (n * (n * (n - 2.0 * levels - 6.0) + 11.0 * levels + 10.0) - 16.0 * levels)
    )  # fmt: skip
    return wide, near, cubes, rounds


@inner
def _third(n_z, n, skew_x, skew_y, of_x, of_y, by_one_less, by_two_less):
    """Third cumulant of a stratum's Pearson statistic over all orders of its rows."""
    skews, wide = skew_x * skew_y, of_x[0] * of_y[0]
    near, cubes, rounds = of_x[1] * of_y[1], of_x[2] * of_y[2], of_x[3] * of_y[3]
    if n_z < FACTORED_ROWS:
        row = np.uint64(n_z)
        return (
            _FACTORS[row, 0] * skews + _FACTORS[row, 1] * wide + _FACTORS[row, 2] * near
            + _FACTORS[row, 3] * cubes + _FACTORS[row, 4] * rounds
        )  # fmt: skip
    squared, by_three_less, by_four_less = n * n, 1.0 / (n - 3.0), 1.0 / (n - 4.0)
    by_cubic = 1.0 / (n * (n * (n - 9.0) + 26.0) - 22.0)
    scaled = squared * by_two_less * by_two_less
    by_one_and_four = by_one_less * by_four_less
    third = scaled * scaled * squared * n * by_one_less * skews
    third += by_three_less * squared * (
        6.0 * scaled * wide
        + 12.0 * squared * by_one_and_four * near
        + 4.0 * (n - 2.0) * (n - 2.0) * (n - 1.0) * by_cubic * cubes
        + 8.0 * by_one_and_four * by_two_less * by_cubic / (n - 5.0) * rounds
    )  # fmt: skip
    return third


@inner
def permuted_cumulants(n_z, x_levels, y_levels, margin_x, margin_y, scales):
    """Fixed-point cumulants of a stratum's Pearson statistic over all orders of its rows.

    There are two levels of each variable at least; the margins are the sums of 1 / n and 1 / n^2
    over them.
    """
    stay_apart()
    scale, variance_scale, third_scale = scales
    n, r, s = np.float64(n_z), np.float64(x_levels), np.float64(y_levels)
    by_one_less = 1.0 / (n - 1.0)
    mean = np.int64(np.rint((r - 1.0) * (s - 1.0) * n * by_one_less * scale))
    if n_z < 3:
        return mean, np.int64(0), np.int64(0)
    by_two_less = 1.0 / (n - 2.0)
    uneven_x, lacking_x = _unevenness(n, r, margin_x[0], by_one_less, by_two_less)
    uneven_y, lacking_y = _unevenness(n, s, margin_y[0], by_one_less, by_two_less)
    variance = uneven_x * uneven_y * (n * n * by_one_less)
    if n_z > 3:  # three rows lack nothing
        variance += lacking_x * lacking_y * (2.0 * n / (n - 3.0))
    by_n = 1.0 / n
    skew_x = _skew(r, r * by_n, margin_x[0], margin_x[1])
    skew_y = _skew(s, s * by_n, margin_y[0], margin_y[1])
    back = (n - 2.0) * by_n
    of_x = _invariants(n, r, uneven_x * back, skew_x, by_n, by_one_less, by_two_less)
    of_y = _invariants(n, s, uneven_y * back, skew_y, by_n, by_one_less, by_two_less)
    third = _third(n_z, n, skew_x, skew_y, of_x, of_y, by_one_less, by_two_less)
    return (
        mean, np.int64(np.rint(variance * variance_scale)), np.int64(np.rint(third * third_scale)),
    )  # fmt: skip
