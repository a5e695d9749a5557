"""The mean and the variance that G has given the margins of a table.

Under independence the values of ``X`` in the rows of a stratum could be in any other
order. Over all orders a cell whose levels have ``a`` and ``b`` of the ``N`` rows has a
hypergeometric count ``n``, and ``G = 2 sum g(n)`` with ``g(n) = n ln(n / e) - n + e``,
``e = ab / N``. So the mean of G is a sum over cells.

For the variance write ``g`` in the orthonormal polynomials of the hypergeometric distribution
(Hahn polynomials), ``alpha_k`` being its coefficient of degree ``k``. Parts of different degree are
uncorrelated, in the same cell or not, because they lie in different irreducible representations of
the group of all orders. Parts of one degree have a correlation that is a product of one factor for
the pair of rows and one for the pair of columns: 1 for a level with itself and
``(-1)^k w w'`` for two different levels, where ``w^2 = C(a, k) / C(N - a, k)``. Hence, with
``s = (-1)^k``, the variance of G is 4 times the sum over the degrees of ::

    sum_ij alpha^2 (1 - s w_i^2) (1 - s v_j^2)  +  s sum_i (1 - s w_i^2) (sum_j alpha v_j)^2
        +  s sum_j (1 - s v_j^2) (sum_i alpha w_i)^2  +  (sum_ij w_i alpha v_j)^2

Degrees 1 and 2 are summed like this; all higher ones together, the rest of the variance of a cell,
as if cells were uncorrelated.

A cell is a sum over its distribution, outwards from the mode to where probabilities are ``CUT``
times smaller; if its variance is above ``SERIES_FROM``, a Taylor series. Levels with equally many
rows are alike, so there is one cell for each pair of different sizes; they are taken in ascending
order, and strata are added up in fixed point: the same bits whatever the order of rows, levels and
strata, and whichever of the two variables is the target.
"""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import math
from typing import Any

import numpy as np

from komb.engine.compiling import inner, stay_apart
from komb.engine.kernels.strata import n_strata, take_stratum
from komb.engine.records import Record

SERIES_FROM = 8.0  # variance of a count above which its cell is a series
CUT = 1e-6  # of the probability of the mode
ROUNDING = 1e-9  # share of its terms below which a variance is none

FRACTION = 2.0**40  # fixed-point units of a sum; whole numbers are added up by themselves

CELL_BITS = 17  # binary logarithm of the number of cells remembered: 5.2 MB
TABULATED = 1 << 20  # logarithms of numbers up to here

_REMEMBERED_ROWS = 1 << 21  # three numbers below fit in one key
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: spreads keys evenly

# rows of a list of different sizes, and what they give
SIZE, LEVELS, SQUARE_1, SQUARE_2, WEIGHT_1, WEIGHT_2, SUM_1, SUM_2 = range(8)

# columns of ``CellMoments.found``
MEAN, FIRST, SECOND, REST = range(4)


class CellMoments(Record):
    """Cells seen lately, by a hash of their key; one with the same hash takes its place."""

    keys: Any
    found: Any  # [slot, column]
    logarithms: Any  # [number]
    sizes: Any  # [variable, row, number]: different sizes in ascending order, and what they give


def remember_cells(n_rows: int, most_levels: int) -> CellMoments:
    """Return room to remember cells of a table."""
    small = np.arange(min(n_rows, TABULATED) + 1.0)
    return CellMoments(
        keys=np.zeros(1 << CELL_BITS, dtype=np.uint64),
        found=np.empty((1 << CELL_BITS, 4)),
        logarithms=np.log(np.maximum(small, 1.0)),
        sizes=np.empty((2, 8, most_levels)),
    )


@inner
def _add_size(size, found, sizes):
    """Add a level to the list of different sizes, in ascending order; returns their number."""
    place = found
    while place > 0 and sizes[SIZE, place - 1] >= size:
        place -= 1
    if place < found and sizes[SIZE, place] == size:
        sizes[LEVELS, place] += 1.0
        return found
    for other in range(found, place, -1):
        sizes[SIZE, other] = sizes[SIZE, other - 1]
        sizes[LEVELS, other] = sizes[LEVELS, other - 1]
    sizes[SIZE, place] = size
    sizes[LEVELS, place] = 1.0
    return found + 1


@inner
def _weigh_sizes(found, n, sizes):
    """Write down what each size contributes to correlations in a stratum of ``n`` rows."""
    for place in range(found):
        a = sizes[SIZE, place]
        first = a / max(n - a, 1.0)
        second = first * (a - 1.0) / max(n - a - 1.0, 1.0)
        sizes[SQUARE_1, place] = first
        sizes[SQUARE_2, place] = second if n - a > 1.0 else 0.0
        sizes[WEIGHT_1, place] = math.sqrt(first)
        sizes[WEIGHT_2, place] = math.sqrt(sizes[SQUARE_2, place])


@inner
def _sum_cell(n, a, b, logarithms, found):
    """Moments of ``g`` over the distribution of a cell."""
    expected = a * b / n
    log_expected = math.log(expected)
    lowest, highest = max(0.0, a + b - n), a
    has_second = min(a, n - b) > 1.0
    first_norm = expected * ((n - a) / n) * ((n - b) / (n - 1.0))
    centre = second_norm = 0.0
    if has_second:
        centre = (
            n * (a - 1.0) * (b - 1.0) + (n - a) * (n - b) * ((n - 2.0) / n)
        ) / ((n - 1.0) * (n - 2.0))  # fmt: skip
        second_norm = (
            (a - 1.0) * (b - 1.0) * (n - a - 1.0) * (n - b - 1.0) * 2.0 * n
            / ((n - 1.0) * (n - 2.0) * (n - 2.0) * (n - 3.0))
        )  # fmt: skip
    rest = n - a - b
    mode = min(max(math.floor((a + 1.0) * (b + 1.0) / (n + 2.0)), lowest), highest)
    total = sum_g = squares = by_first = by_second = 0.0
    for step in (1.0, -1.0):
        x, p = mode, 1.0
        if step < 0.0:
            if mode == lowest:
                break
            p = mode * (rest + mode) / ((a - mode + 1.0) * (b - mode + 1.0))
            x = mode - 1.0
        while p >= CUT:
            logarithm = logarithms[np.int64(x)] if x < logarithms.size else math.log(x)
            g = x * (logarithm - log_expected) - x + expected
            weighted = p * g
            first = x - expected
            total += p
            sum_g += weighted
            squares += weighted * g
            by_first += weighted * first
            by_second += weighted * ((x - centre) * first - first_norm)
            if step > 0.0:
                p *= (a - x) * (b - x) / ((x + 1.0) * (rest + x + 1.0))
            else:
                p *= x * (rest + x) / ((a - x + 1.0) * (b - x + 1.0))
            x += step
    mean = sum_g / total
    left = squares / total - mean * mean
    found[MEAN] = mean
    found[FIRST] = by_first / total / math.sqrt(first_norm)
    left -= found[FIRST] * found[FIRST]
    found[SECOND] = 0.0
    if has_second:
        found[SECOND] = by_second / total / math.sqrt(first_norm * second_norm)
        left -= found[SECOND] * found[SECOND]
    found[REST] = max(left, 0.0) if min(a, n - b) > 2.0 else 0.0


@inner
def _expand_cell(n, a, b, found):
    """Expand the moments of a large cell into Taylor series of ``g`` and of its differences."""
    expected = a * b / n
    variance = expected * ((n - a) / n) * ((n - b) / (n - 1.0))
    third = variance * ((n - 2.0 * a) / n) * ((n - 2.0 * b) / (n - 2.0))
    inverse = 1.0 / expected
    spread_a, spread_b = a * (n - a), b * (n - b)
    excess = (
        (n - 1.0) * n * n * (n * (n + 1.0) - 6.0 * spread_b - 6.0 * spread_a)
        + 6.0 * spread_a * spread_b * (5.0 * n - 6.0)
    ) / (spread_a * spread_b * (n - 2.0) * (n - 3.0))  # fmt: skip
    fourth = variance * variance * (3.0 + excess)
    fifth, sixth = 10.0 * variance * third, 15.0 * variance * variance * variance
    found[MEAN] = inverse * (variance / 2.0 + inverse * (-third / 6.0 + inverse * (
        fourth / 12.0 + inverse * (-fifth / 20.0 + inverse * sixth / 30.0))))  # fmt: skip
    norm = 1.0
    for k in (1.0, 2.0):  # alpha_k is the mean of the k-th difference, times a norm
        norm *= (
            (a - k + 1.0) * (b - k + 1.0) * (n - a - k + 1.0) * (n - b - k + 1.0) * k
            * (n + 2.0 - k) / ((n + 3.0 - 2.0 * k) * (n + 2.0 - 2.0 * k) * (n + 2.0 - 2.0 * k)
                               * (n + 1.0 - 2.0 * k))
        )  # fmt: skip
        rows, own_a, own_b = n - 2.0 * k, a - k, b - k
        mean = own_a * own_b / rows
        second = mean * ((rows - own_a) / rows) * ((rows - own_b) / (rows - 1.0))
        skew = second * ((rows - 2.0 * own_a) / rows) * ((rows - 2.0 * own_b) / (rows - 2.0))
        inverse = 1.0 / (mean + 0.5 * k)
        if k == 1.0:
            slope = math.log((mean + 0.5) / expected) - inverse * inverse * (
                1.0 / 24.0
                + second / 2.0
                - inverse * (skew / 3.0 - inverse * 0.75 * second * second)
            )
            found[FIRST] = math.sqrt(norm) * slope
        else:
            bend = 1.0 + inverse * inverse * (
                1.0 / 6.0 + second - inverse * (skew - inverse * 3.0 * second * second)
            )
            found[SECOND] = math.sqrt(norm) / 2.0 * bend * inverse
    found[REST] = 0.0


@inner
def _find_cell(n, a, b, cells):
    """Slot with the moments of a cell, after computing them if they are not there."""
    if a > b:
        a, b = b, a
    slot = np.uint64(0)
    if n < _REMEMBERED_ROWS:
        key = np.uint64(np.int64(n) << 42 | np.int64(a) << 21 | np.int64(b))
        slot = key * _FACTOR >> np.uint64(64 - CELL_BITS)
        if cells.keys[slot] == key:
            return slot
        cells.keys[slot] = key
    else:
        cells.keys[slot] = np.uint64(0)
    found = cells.found[slot]
    if a * b / n * ((n - a) / n) * ((n - b) / (n - 1.0)) <= SERIES_FROM:
        _sum_cell(n, a, b, cells.logarithms, found)
    else:
        _expand_cell(n, a, b, found)
    return slot


@inner
def _is_smaller(n_left, left, n_right, right):
    """Whether a list of sizes comes before another."""
    if n_left != n_right:
        return n_left < n_right
    for place in range(n_left):
        if left[SIZE, place] != right[SIZE, place]:
            return left[SIZE, place] < right[SIZE, place]
        if left[LEVELS, place] != right[LEVELS, place]:
            return left[LEVELS, place] < right[LEVELS, place]
    return True


@inner
def _sum_stratum(n, n_rows, rows, n_columns, columns, cells):
    """Mean and variance of half of G in a stratum of ``n`` rows, see the top."""
    stay_apart()
    found = cells.found
    mean = gross = net = 0.0
    for j in range(n_columns):
        columns[SUM_1, j] = columns[SUM_2, j] = 0.0
    for i in range(n_rows):
        a, a_levels = rows[SIZE, i], rows[LEVELS, i]
        a_first, a_second = 1.0 + rows[SQUARE_1, i], 1.0 - rows[SQUARE_2, i]
        a_weight_1, a_weight_2 = a_levels * rows[WEIGHT_1, i], a_levels * rows[WEIGHT_2, i]
        sum_1 = sum_2 = row_mean = row_gross = 0.0
        for j in range(n_columns):
            slot = _find_cell(n, a, columns[SIZE, j], cells)
            b_levels = columns[LEVELS, j]
            first, second = found[slot, FIRST], found[slot, SECOND]
            row_mean += b_levels * found[slot, MEAN]
            row_gross += b_levels * (
                first * first * a_first * (1.0 + columns[SQUARE_1, j])
                + second * second * a_second * (1.0 - columns[SQUARE_2, j])
                + found[slot, REST]
            )
            sum_1 += b_levels * first * columns[WEIGHT_1, j]
            sum_2 += b_levels * second * columns[WEIGHT_2, j]
            columns[SUM_1, j] += a_weight_1 * first
            columns[SUM_2, j] += a_weight_2 * second
        mean += a_levels * row_mean
        gross += a_levels * row_gross
        net += a_levels * (a_second * sum_2 * sum_2 - a_first * sum_1 * sum_1)
    all_1 = all_2 = 0.0
    for j in range(n_columns):
        b_levels, sum_1, sum_2 = columns[LEVELS, j], columns[SUM_1, j], columns[SUM_2, j]
        net += b_levels * (
            (1.0 - columns[SQUARE_2, j]) * sum_2 * sum_2
            - (1.0 + columns[SQUARE_1, j]) * sum_1 * sum_1
        )
        all_1 += b_levels * sum_1 * columns[WEIGHT_1, j]
        all_2 += b_levels * sum_2 * columns[WEIGHT_2, j]
    variance = gross + net + all_1 * all_1 + all_2 * all_2
    return mean, variance if variance > ROUNDING * abs(gross) else 0.0


@inner
def _list_sizes(n_levels, counts, sizes):
    """List the different sizes of the levels of a stratum; returns how many there are."""
    found = 0
    for level in range(n_levels):
        found = _add_size(float(counts[level]), found, sizes)
    return found


@inner
def _add(value, whole, part):
    """Add a number to a sum of whole numbers and to one of fractions."""
    floor = math.floor(value)
    return whole + np.int64(floor), part + np.int64((value - floor) * FRACTION)


@inner
def sum_g_moments(s):
    """Mean and variance of G over all orders of the rows of each stratum."""
    stay_apart()
    cells, x_sizes, y_sizes = s.cell_moments, s.cell_moments.sizes[0], s.cell_moments.sizes[1]
    mean = mean_part = variance = variance_part = np.int64(0)
    for number in range(n_strata(s)):
        rows, n_x, n_y, _ = take_stratum(s, number)
        if n_x < 2 or n_y < 2:
            continue
        n, different_x = float(rows), _list_sizes(n_x, s.by_x, x_sizes)
        different_y = _list_sizes(n_y, s.by_y, y_sizes)
        _weigh_sizes(different_x, n, x_sizes)
        _weigh_sizes(different_y, n, y_sizes)
        if _is_smaller(different_x, x_sizes, different_y, y_sizes):
            own, spread = _sum_stratum(n, different_x, x_sizes, different_y, y_sizes, cells)
        else:
            own, spread = _sum_stratum(n, different_y, y_sizes, different_x, x_sizes, cells)
        mean, mean_part = _add(own, mean, mean_part)
        variance, variance_part = _add(spread, variance, variance_part)
    return 2.0 * (mean + mean_part / FRACTION), 4.0 * (variance + variance_part / FRACTION)
