"""Terms of Pearson's statistic, and its cumulants over all orders of a stratum's rows.

Module ``contingency`` has the formulas. Everything is added up in fixed point.
"""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

from typing import Any

import numpy as np

from komb.counts.compiling import inner, stay_apart

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
def pearson_term(count, n_z, n_xz, n_yz, scale):
    """Fixed-point n_xyz^2 n_z / (n_xz n_yz): a cell's share of Pearson's statistic plus n_z."""
    share = np.float64(count) * np.float64(count) / (np.float64(n_xz) * np.float64(n_yz))
    return np.int64(np.rint(share * np.float64(n_z) * scale))


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
    """Return sums b, c, e and f of a margin; module ``contingency`` says what they are."""
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
def permuted_cumulants(
    n_z, x_levels, y_levels, margin_x, margin_y, scale, variance_scale, third_scale
):
    """Fixed-point cumulants of a stratum's Pearson statistic over all orders of its rows.

    Mean, variance (Haldane 1940) and the third. There are two levels of each variable at least;
    the margins are the sums of 1 / n and 1 / n^2 over them.
    """
    stay_apart()
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
