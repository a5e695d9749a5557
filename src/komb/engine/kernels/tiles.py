"""Products of small matrices with the rows of a table, four by four.

A matrix is kept in blocks of the rows of a table: ``[block, function, row]``. A library for linear
algebra is made for matrices that are large both ways. Of these one side is small, and loops that
are compiled for the processor are quicker; they start no threads, and sums are the same on any
number of processors.

Functions come in fours: whoever calls has room for some more, which are zero. So are rows that
fill up the last block.
"""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

from komb.engine.compiling import inner, stay_apart, vectorised

TILE = 4

NONE = -1
"""Stands for a factor that a product does not have."""


def padded(size: int) -> int:
    """Return the least multiple of ``TILE`` that is not smaller."""
    return -(-size // TILE) * TILE


@vectorised
def add_products(left, n_left, right, n_right, is_lower, sums):
    """Add scalar products to sums, of all of the left with all of the right.

    Of a symmetric matrix the lower half is enough.
    """
    stay_apart()
    n_rows = left.shape[1]
    for i in range(0, n_left, TILE):
        a0, a1, a2, a3 = left[i], left[i + 1], left[i + 2], left[i + 3]
        for j in range(0, min(i + TILE, n_right) if is_lower else n_right, TILE):
            b0, b1, b2, b3 = right[j], right[j + 1], right[j + 2], right[j + 3]
            s00 = s01 = s02 = s03 = s10 = s11 = s12 = s13 = 0.0
            s20 = s21 = s22 = s23 = s30 = s31 = s32 = s33 = 0.0
            for row in range(n_rows):
                x, y, z, w = a0[row], a1[row], a2[row], a3[row]
                p, q, r, s = b0[row], b1[row], b2[row], b3[row]
                s00 += x * p
                s01 += x * q
                s02 += x * r
                s03 += x * s
                s10 += y * p
                s11 += y * q
                s12 += y * r
                s13 += y * s
                s20 += z * p
                s21 += z * q
                s22 += z * r
                s23 += z * s
                s30 += w * p
                s31 += w * q
                s32 += w * r
                s33 += w * s
            first, second, third, fourth = sums[i], sums[i + 1], sums[i + 2], sums[i + 3]
            _add_four(first, j, s00, s01, s02, s03)
            _add_four(second, j, s10, s11, s12, s13)
            _add_four(third, j, s20, s21, s22, s23)
            _add_four(fourth, j, s30, s31, s32, s33)


@inner
def _add_four(sums, j, a, b, c, d):
    sums[j] += a
    sums[j + 1] += b
    sums[j + 2] += c
    sums[j + 3] += d


@vectorised
def add_combinations(weights, n_out, functions, n_in, result):
    """Add linear combinations of functions to what is there; tiles of zeros cost nothing."""
    stay_apart()
    n_rows = functions.shape[1]
    for i in range(0, n_out, TILE):
        u0, u1, u2, u3 = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
        r0, r1, r2, r3 = result[i], result[i + 1], result[i + 2], result[i + 3]
        for k in range(0, n_in, TILE):
            a0, a1, a2, a3 = u0[k], u0[k + 1], u0[k + 2], u0[k + 3]
            b0, b1, b2, b3 = u1[k], u1[k + 1], u1[k + 2], u1[k + 3]
            c0, c1, c2, c3 = u2[k], u2[k + 1], u2[k + 2], u2[k + 3]
            d0, d1, d2, d3 = u3[k], u3[k + 1], u3[k + 2], u3[k + 3]
            if (
                a0 == a1 == a2 == a3 == b0 == b1 == b2 == b3 == 0.0
                and c0 == c1 == c2 == c3 == d0 == d1 == d2 == d3 == 0.0
            ):
                continue
            f0, f1, f2, f3 = functions[k], functions[k + 1], functions[k + 2], functions[k + 3]
            for row in range(n_rows):
                x, y, z, w = f0[row], f1[row], f2[row], f3[row]
                r0[row] += a0 * x + a1 * y + a2 * z + a3 * w
                r1[row] += b0 * x + b1 * y + b2 * z + b3 * w
                r2[row] += c0 * x + c1 * y + c2 * z + c3 * w
                r3[row] += d0 * x + d1 * y + d2 * z + d3 * w


@inner
def fill(values, n_rows, value):
    """Set the rows that there are to a value, and those that fill up a block to zero."""
    for row in range(n_rows):
        values[row] = value
    for row in range(n_rows, len(values)):
        values[row] = 0.0
