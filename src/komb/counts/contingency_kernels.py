"""Every compiled loop of komb: arrays in, arrays out, no names, no policy.

A *set* is a set of columns, always seen together with the target ``y``. For each set the kernels
return a few sums over its contingency table with the target (module ``contingency`` says which
sums and what they mean). All of them are sums of fixed-point integers, so they do not depend on the
order in which cells are visited: the ways of counting below give bit-identical results.

Four ways of counting the table of ``given`` u ``{x}`` against ``y``:

popcount
    One bitmap a level, rows grouped by ``y``, so that one AND and one popcount give a whole row of
    the table. The last stratum and the first level of ``x`` follow by subtraction.
histogram
    One pass over the rows into a dense table, for tables too large for popcount.
labelled
    Every row gets the number of its stratum among those that occur, once a set; then one pass over
    the rows counts ``x`` in a table of the strata that occur only.
grouped
    Rows sorted by stratum once a set; then each stratum is counted in scratch space of the size of
    ``x`` alone, for when even the strata that occur are too many for a table. Cost and memory
    depend on the rows, never on a product of cardinalities.

Missing values have the code that follows the last level of their column. ``summarise`` is for
tables without any; ``summarise_present`` counts every test on the rows that are complete for it,
and is compiled when a table first needs it. Incomplete rows have no bit in any stratum, or are
counted in cells beside the table, or are not labelled or sorted at all.

Index arithmetic in the hot loops is unsigned: signed indices cost a sign test an access.
"""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from komb.counts.compiling import IS_COMPILED, kernel, popcount
from komb.counts.compiling import inner as _inner

# Costs in nanoseconds, measured by benchmarks/crossover.py on the machine komb is developed on.
# They only choose the way of counting: speed depends on them, an answer never does.
COST_WORD = 0.28  # AND and popcount of one 64-row word
COST_SEGMENT = 4.5  # starting one run of words
COST_CELL = 0.75  # clearing and summing one cell of a dense table
COST_HISTOGRAM_ROW = 0.65
COST_LABELLED_ROW = 2.6
COST_LABELLING_ROW = 3.2  # numbering the strata, once a given set

WORDS_A_BLOCK = 4  # bitmap segments are padded to 256 bits, one AVX2 register
MAX_DENSE_CELLS = 1 << 17  # half a MiB of counts: a larger dense table leaves the cache
LABELLED_CELLS = 1 << 20  # the same for a table that is cleared by its rows, not by its cells
CLEARED_CELLS_A_ROW = 16  # from so many on, clearing by rows is faster
FEW_LEVELS_TO_PACK = 6  # up to here a comparison with each level is faster than a scatter
STRATA_A_ROW = 0.6  # from so many on, most strata are single rows, which are then left out
STEP_CELLS = 1 << 16  # strata are numbered by several columns at once up to so many cells
DENSE_CELLS_A_ROW = 0.5  # a given set's own table is counted densely up to so many cells a row

# More strata than any limit they are compared with, yet times |Y| |X| they still fit 64 bits.
MANY_STRATA = np.int64(1 << 24)

# columns of ``out_given`` and ``out_unions``
FIT, STRATA, LENGTH, FREEDOM, PEARSON, MEAN, VARIANCE, THIRD, SPLIT = range(9)
# further columns of ``out_unions``, for tables with missing values: the given set of each test
OWN_FIT, OWN_STRATA, OWN_LENGTH, OWN_ROWS = range(9, 13)
# last axis of ``out_margins``
MARGIN_FIT, MARGIN_STRATA, MARGIN_LENGTH, MARGIN_SPLIT = range(4)
NOT_COUNTED = -1  # instead of a margin's strata

# places of ``Scratch.state``: the last set whose strata are on each stack, or -1, and what is ready
# for the present set
LAST_PACKED, LAST_GROUPED, HAS_BASE, HAS_LABELS, HAS_GROUPS = range(5)

# places of ``Labels.counts``
N_STRATA, N_RUNS, N_KEPT, N_SINGLE = range(4)

# columns of ``Labels.margins``: levels of the column, sums of 1 / n and of 1 / n^2 for x and y
LEVELS, INVERSE_X, INVERSE_Y, SQUARE_X, SQUARE_Y = range(5)

# Units of 1 / n. A sum over the levels of a stratum stays below 2^60.
INVERSE_SCALE = 2.0**44
SQUARE_SCALE = 2.0**46  # of 1 / n^2, whose sum over 2^16 levels stays below 2^62
# Differences of so much per level are rounding: sixteen times what a sum of 1 / n can be wrong by.
NO_DIFFERENCE = 2.0**-40
# The same for what the sum of 1 / n^2 decides, which is multiplied by n^2 and then left as it is.
NO_SKEW = 2.0**-43

FACTORED_ROWS = 1024  # up to here 1 / n and the factors of the third cumulant are tabulated

POPCOUNT, HISTOGRAM, BY_STRATUM = range(3)


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


class Prepared(NamedTuple):
    """A table made ready for one target."""

    codes: Any  # [column, row]
    cardinalities: Any
    most_levels: int
    target: int
    order: Any  # rows sorted by the target's level
    level_start: Any  # first bitmap of each column, or -1
    bitmaps: Any  # [level, word]; the last one marks the rows that exist
    level_counts: Any  # [level, y]
    segments: Any  # first word of each level of the target


class Prices(NamedTuple):
    """What the sums are made of."""

    entropy: Any  # [0, n]: f(n) = n log2 n in fixed point; [1, n]: f(n + 1) - f(n)
    lengths: Any  # [length class, n]: log2 of the multinomial normaliser; class 0 is the target
    length_below: float  # rows a cell below which code lengths are summed; 0 for never
    wants_tables: bool  # whether freedom and Pearson's sum and its moments are wanted
    scale: float  # fixed-point units of Pearson's statistic and of its mean
    variance_scales: Any  # [column]: those of its variance
    third_scales: Any  # [column]: those of its third cumulant


class Scratch(NamedTuple):
    """Buffers kept from call to call."""

    strata: Any  # [columns of the given set so far, stratum, word]
    codes: Any  # [columns so far, stratum]: its place among all that there could be
    n_strata: Any  # [columns so far]
    by_y: Any
    table: Any
    column_sums: Any
    row_base: Any
    sizes: Any
    cells: Any
    state: Any  # see LAST_PACKED and following


class Labels(NamedTuple):
    """The stratum of each row, numbered by first occurrence, and its run.

    A run is the rows of a stratum with one level of the target. Where there are many strata of one
    row, those rows are left out: such a stratum stays one whatever column comes next, adds nothing
    to a fit and always the same to a length, so it is enough to count them.
    """

    counts: Any  # see N_STRATA and following
    rows: Any  # [position]: the rows that are kept; all in order if none was left out
    stratum: Any  # [position]
    run: Any  # [position]
    stratum_sizes: Any
    run_sizes: Any
    runs_of_stratum: Any  # how many it has
    stratum_of_run: Any
    cells: Any  # [position]
    other_cells: Any  # [position]
    margins: Any  # [stratum, of one test: see LEVELS and following]
    table: Any  # all zero between uses


class Groups(NamedTuple):
    """Rows sorted by stratum and, inside a stratum, by target level; empty if never needed.

    Only strata of two rows or more are kept. A stratum of one row stays one whatever column comes
    next, adds nothing to a fit and always the same to a length: it is enough to count those.
    """

    rows: Any  # [columns of the given set so far, position]
    starts: Any  # [columns so far, stratum]: first position of each stratum, and their end
    n_strata: Any  # [columns so far]
    n_single: Any  # [columns so far]: strata of one row
    runs: Any  # first position of each run of one target level
    run_of_stratum: Any
    touched: Any
    in_stratum: Any
    in_run: Any
    gathered: Any


class Present(NamedTuple):
    """What is needed to leave out rows with missing values."""

    has_gaps: Any  # [column]: whether any value is missing
    is_complete: Any  # [row]: whether the target and the given set are there
    not_labelled: Any  # complete rows that are alone in their stratum
    not_grouped: Any
    by_y: Any  # dense [stratum, y] of the rows of one test
    labels: Any  # the labels again, but with the sizes of strata and runs in one test


@intrinsic
def _popcount(typingctx: Any, word: Any) -> Any:  # noqa: ARG001 - Numba passes both
    """Count the set bits of a 64-bit word; the compiler vectorises it where it can."""

    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        word_type = ir.IntType(64)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(word_type, [word_type]), "llvm.ctpop.i64"
        )
        return builder.call(function, args)

    return types.uint64(types.uint64), codegen


if not IS_COMPILED:
    _popcount: Any = popcount  # type: ignore[no-redef]


@kernel
def pack_levels(codes, cardinalities, packed, level_start, order, y_start, segments, bitmaps,
                level_counts):  # fmt: skip
    """Fill one bitmap a level of every packed column, rows grouped by the target's level."""
    valid = bitmaps.shape[0] - 1
    gathered = np.empty(64, dtype=codes.dtype)
    by_level = np.empty(cardinalities.max() + 1, dtype=np.uint64)
    for y in range(y_start.size - 1):
        n_rows = np.uint64(y_start[y + 1] - y_start[y])
        full, rest = n_rows >> np.uint64(6), n_rows & np.uint64(63)
        word = np.uint64(segments[y])
        bitmaps[valid, word : word + full] = ~np.uint64(0)
        if rest:
            bitmaps[valid, word + full] = (np.uint64(1) << rest) - np.uint64(1)
    for column in packed:
        start, n_levels = level_start[column], cardinalities[column]
        for y in range(y_start.size - 1):
            word = segments[y]
            for first in range(y_start[y], y_start[y + 1], 64):
                n_bits = min(64, y_start[y + 1] - first)
                for bit in range(n_bits):
                    gathered[bit] = codes[column, order[first + bit]]
                _pack_word(gathered, n_bits, n_levels, by_level)
                for level in range(n_levels):
                    bitmaps[start + level, word] = by_level[level]
                    level_counts[start + level, y] += np.int32(_popcount(by_level[level]))
                word += 1


@_inner
def _pack_word(gathered, n_bits, n_levels, by_level):
    """Write a word for each level: the bits of the rows that have it."""
    if n_levels > FEW_LEVELS_TO_PACK:
        by_level[: n_levels + 1] = np.uint64(0)  # one more for missing values, which nobody reads
        for bit in range(n_bits):
            by_level[gathered[bit]] |= np.uint64(1) << np.uint64(bit)
        return
    for level in range(n_levels):
        bits = np.uint64(0)
        for bit in range(n_bits):
            bits |= np.uint64(gathered[bit] == level) << np.uint64(bit)
        by_level[level] = bits


@_inner
def _fill_strata(given, shared, prepared, scratch):
    """Write the bitmap of every observed stratum of ``given``; returns how many there are.

    The strata of its first ``shared`` columns are there already, from the set before.
    """
    strata, n_strata, bitmaps = scratch.strata, scratch.n_strata, prepared.bitmaps
    codes = scratch.codes
    n_words = np.uint64(bitmaps.shape[1])
    if shared < 0:
        valid = bitmaps.shape[0] - 1
        for word in range(n_words):
            strata[0, 0, word] = bitmaps[valid, word]
        codes[0, 0] = 0
        n_strata[0] = 1
        shared = 0
    for depth in range(shared, given.size):
        source, sink = np.uint64(depth), np.uint64(depth + 1)
        column = given[depth]
        found = np.uint64(0)
        for stratum in range(np.uint64(n_strata[depth])):
            for level in range(prepared.cardinalities[column]):
                row = np.uint64(prepared.level_start[column] + level)
                seen = np.uint64(0)
                for word in range(n_words):
                    both = strata[source, stratum, word] & bitmaps[row, word]
                    strata[sink, found, word] = both
                    seen |= both
                if seen != np.uint64(0):
                    code = codes[source, stratum] * prepared.cardinalities[column] + level
                    codes[sink, found] = code
                    found += np.uint64(1)
        n_strata[depth + 1] = found
    return n_strata[given.size]


@_inner
def _count_strata(depth, prepared, scratch):
    """Count each stratum's rows by target level into ``by_y``."""
    source = np.uint64(depth)
    n_strata = scratch.n_strata[depth]
    n_y = prepared.segments.size - 1
    for stratum in range(n_strata):
        for y in range(n_y):
            count = np.uint64(0)
            row = np.uint64(stratum)
            for word in range(np.uint64(prepared.segments[y]), np.uint64(prepared.segments[y + 1])):
                count += _popcount(scratch.strata[source, row, word])
            scratch.by_y[stratum * n_y + y] = np.int32(count)


@_inner
def _count_by_popcount(depth, n_strata, levels, first_bitmap, strata, by_y, bitmaps, level_counts,
                       segments, has_gaps, has_gap, table):  # fmt: skip
    """Fill ``table[stratum, y, x]`` from the bitmaps of the strata and of the column's levels.

    The last stratum does not follow by subtraction if the given set has gaps, nor the first level
    if the column has.
    """
    n_y = segments.size - 1
    source = np.uint64(depth)
    n_counted, first_level = n_strata - (not has_gaps), np.int64(not has_gap)
    last = (n_strata - 1) * n_y
    for y in range(n_y):
        lo = np.uint64(segments[y])
        hi = np.uint64(segments[y + 1])
        for level in range(first_level, levels):
            bitmap = np.uint64(first_bitmap + level)
            left = level_counts[bitmap, y]
            for stratum in range(n_counted):
                count = np.uint64(0)
                row = np.uint64(stratum)
                for word in range(lo, hi):
                    count += _popcount(strata[source, row, word] & bitmaps[bitmap, word])
                table[(stratum * n_y + y) * levels + level] = np.int32(count)
                left -= np.int32(count)
            if not has_gaps:
                table[(last + y) * levels + level] = left
        for stratum in range(0 if has_gap else n_strata):
            cell = (stratum * n_y + y) * levels
            rest = by_y[stratum * n_y + y]
            for level in range(1, levels):
                rest -= table[cell + level]
            table[cell] = rest


@_inner
def _fill_base(given, with_target, prepared, row_base):
    """Give each row the number of its cell in the table of ``given``, maybe with ``y`` fastest."""
    for row in range(row_base.size):
        row_base[row] = 0
    for index in range(given.size + with_target):
        column = given[index] if index < given.size else prepared.target
        width = np.uint32(prepared.cardinalities[column])
        codes = prepared.codes[column]
        for row in range(row_base.size):
            row_base[row] = row_base[row] * width + np.uint32(codes[row])


@_inner
def _count_rows(row_base, n_cells, table):
    """Fill ``table[stratum, y]`` with one pass over the rows."""
    for cell in range(n_cells):
        table[cell] = 0
    for row in range(row_base.size):
        table[row_base[row]] += 1


@_inner
def _count_by_histogram(row_base, x, levels, n_cells, table):
    """Fill ``table[stratum, y, x]`` with one pass over the rows."""
    for cell in range(n_cells):
        table[cell] = 0
    width = np.uint64(levels)
    for row in range(row_base.size):
        table[np.uint64(row_base[row]) * width + np.uint64(x[row])] += 1


@_inner
def _pearson_term(count, n_z, n_xz, n_yz, scale):
    """Fixed-point n_xyz^2 n_z / (n_xz n_yz): a cell's share of Pearson's statistic plus n_z."""
    share = np.float64(count) * np.float64(count) / (np.float64(n_xz) * np.float64(n_yz))
    return np.int64(np.rint(share * np.float64(n_z) * scale))


@_inner
def _inverse(count):
    """Fixed-point 1 / n and 1 / n^2; from a table, for most counts are small."""
    if count < FACTORED_ROWS:
        return _INVERSES[np.uint64(count)], _SQUARES[np.uint64(count)]
    inverse = 1.0 / np.float64(count)
    return (
        np.int64(np.rint(INVERSE_SCALE * inverse)),
        np.int64(np.rint(SQUARE_SCALE * (inverse * inverse))),
    )


@_inner
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


@_inner
def _skew(levels, share, inverse, square):
    """Sum of the third powers of ``1 / n - levels / n``, one term for each of the n rows."""
    skew = np.float64(square) / SQUARE_SCALE - share * (
        3.0 * (np.float64(inverse) / INVERSE_SCALE) - 2.0 * levels * share
    )
    return 0.0 if abs(skew) < NO_SKEW * levels else skew


@_inner
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


@_inner
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


@_inner
def _permuted(n_z, x_levels, y_levels, margin_x, margin_y, scale, variance_scale, third_scale):
    """Fixed-point cumulants of a stratum's Pearson statistic over all orders of its rows.

    Mean, variance (Haldane 1940) and the third. There are two levels of each variable at least;
    the margins are the sums of 1 / n and 1 / n^2 over them.
    """
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


@_inner
def _sum_dense(n_strata, n_y, levels, entropy, lengths, wants_lengths, wants_tables, scale,
               variance_scale, third_scale, table, column_sums, out, j):  # fmt: skip
    """Sum over the dense ``table[stratum, y, x]``."""
    fit = length = sets = freedom = pearson = mean = variance = third = 0
    width = np.uint64(levels)
    for stratum in range(n_strata):
        for x in range(width):
            column_sums[x] = 0
        rows_seen = 0
        for y in range(n_y):
            cell = np.uint64(stratum * n_y + y) * width
            total = 0
            for x in range(width):
                count = table[cell + x]
                fit += entropy[0, np.uint64(count)]
                column_sums[x] += count
                total += count
            rows_seen += total > 0
        columns_seen = 0
        for x in range(width):
            count = column_sums[x]
            fit -= entropy[0, np.uint64(count)]
            columns_seen += count > 0
            if wants_lengths:
                length += lengths[0, np.uint64(count)]
        sets += columns_seen
        if wants_tables and columns_seen > 0:
            freedom += (rows_seen - 1) * (columns_seen - 1)
            own, own_mean, own_variance, own_third = _pearson_dense(
                stratum, n_y, levels, rows_seen, columns_seen, table, column_sums, scale,
                variance_scale, third_scale,
            )  # fmt: skip
            pearson += own
            mean += own_mean
            variance += own_variance
            third += own_third
    out[j, FIT] = fit
    out[j, STRATA] = sets
    out[j, LENGTH] = length
    out[j, FREEDOM] = freedom
    out[j, PEARSON] = pearson
    out[j, MEAN] = mean
    out[j, VARIANCE] = variance
    out[j, THIRD] = third


@_inner
def _pearson_dense(stratum, n_y, levels, rows_seen, columns_seen, table, column_sums, scale,
                   variance_scale, third_scale):  # fmt: skip
    """One stratum's Pearson statistic in fixed point, with its cumulants."""
    n_z = inverse_x = inverse_y = square_x = square_y = pearson = 0
    for x in range(levels):
        n_z += column_sums[x]
        if column_sums[x] > 0:
            inverse, square = _inverse(column_sums[x])
            inverse_x += inverse
            square_x += square
    for y in range(n_y):
        cell = (stratum * n_y + y) * levels
        total = 0
        for x in range(levels):
            total += table[cell + x]
        if total > 0:
            inverse, square = _inverse(total)
            inverse_y += inverse
            square_y += square
        for x in range(levels):
            if table[cell + x] > 0:
                pearson += _pearson_term(table[cell + x], n_z, column_sums[x], total, scale)
    pearson -= np.int64(n_z * scale)
    if rows_seen == 1 or columns_seen == 1:
        return pearson, np.int64(0), np.int64(0), np.int64(0)
    mean, variance, third = _permuted(
        n_z, columns_seen, rows_seen, (inverse_x, square_x), (inverse_y, square_y), scale,
        variance_scale, third_scale,
    )  # fmt: skip
    return pearson, mean, variance, third


@_inner
def _refine(depth, codes, groups):
    """Split every stratum of the first ``depth`` columns by one more column, stably."""
    rows, starts = groups.rows, groups.starts
    tally, touched = groups.in_stratum, groups.touched
    source, sink = np.uint64(depth), np.uint64(depth + 1)
    found = 0
    place = np.int32(0)
    n_single = groups.n_single[depth]
    for stratum in range(groups.n_strata[depth]):
        lo = np.uint64(starts[source, stratum])
        hi = np.uint64(starts[source, stratum + 1])
        n_touched = 0
        for position in range(lo, hi):
            code = np.uint64(codes[np.uint64(rows[source, position])])
            if tally[code] == 0:
                touched[n_touched] = np.int32(code)
                n_touched += 1
            tally[code] += 1
        for index in range(n_touched):
            size = tally[touched[index]]
            if size == 1:
                n_single += 1
                tally[touched[index]] = -1
            else:
                starts[sink, found] = place
                found += 1
                tally[touched[index]] = place
                place += size
        for position in range(lo, hi):
            row = rows[source, position]
            code = np.uint64(codes[np.uint64(row)])
            if tally[code] >= 0:
                rows[sink, np.uint64(tally[code])] = row
                tally[code] += 1
        for index in range(n_touched):
            tally[touched[index]] = 0
    starts[sink, found] = place
    groups.n_strata[depth + 1] = found
    groups.n_single[depth + 1] = n_single


@_inner
def _sort_by_columns(given, shared, prepared, groups):
    """Sort rows by stratum of ``given``, column by column.

    The first ``shared`` columns have been sorted by already, for the set before.
    """
    if shared < 0:
        for position in range(prepared.order.size):
            groups.rows[0, position] = prepared.order[position]
        groups.starts[0, 0] = 0
        groups.starts[0, 1] = prepared.order.size
        groups.n_strata[0] = 1
        groups.n_single[0] = 0
        shared = 0
    for depth in range(shared, given.size):
        _refine(depth, prepared.codes[given[depth]], groups)


@_inner
def _mark_runs(depth, prepared, groups):
    """Find the runs of one target level inside each stratum."""
    y = prepared.codes[prepared.target]
    rows, starts = groups.rows, groups.starts
    n_strata = groups.n_strata[depth]
    n_runs = 0
    last = np.uint64(depth)
    for stratum in range(n_strata):
        groups.run_of_stratum[stratum] = n_runs
        before = -1
        for position in range(
            np.uint64(starts[last, stratum]), np.uint64(starts[last, stratum + 1])
        ):
            level = np.int64(y[np.uint64(rows[last, position])])
            if level != before:
                groups.runs[n_runs] = position
                n_runs += 1
                before = level
    groups.run_of_stratum[n_strata] = n_runs
    groups.runs[n_runs] = starts[last, n_strata]


@_inner
def _clear(table, cells, n_kept):
    """Set a table to zero: all of it, or the cells of the rows if that is less."""
    if table.size < CLEARED_CELLS_A_ROW * n_kept:
        table[:] = 0
    else:
        for position in range(np.uint64(n_kept)):
            table[np.uint64(cells[position])] = 0


@_inner
def _number_cells(cells, n_cells, n_kept, table, numbers):
    """Give each row the number of its cell, by first occurrence; returns how many there are."""
    found = np.int32(0)
    for position in range(np.uint64(n_kept)):
        cell = np.uint64(cells[position])
        known = table[cell]  # one more than its number, or zero; no branch: it is unpredictable
        found += np.int32(known == 0)
        number = found if known == 0 else known
        table[cell] = number
        numbers[position] = number - np.int32(1)
    _clear(table[:n_cells], cells, n_kept)
    return np.int64(found)


@_inner
def _combine(labels, codes, levels, cells):
    """Turn the number of each row's cell into that of its cell by one more column."""
    n_kept, width, rows = labels.counts[N_KEPT], np.int32(levels), labels.rows
    if n_kept == codes.size:  # row by row, which the compiler can vectorise
        for row in range(np.uint64(n_kept)):
            cells[row] = cells[row] * width + np.int32(codes[row])
    else:
        for position in range(np.uint64(n_kept)):
            code = codes[np.uint64(rows[position])]
            cells[position] = cells[position] * width + np.int32(code)


@_inner
def _copy(source, n_kept, sink):
    """Begin the cells of the rows with numbers they have."""
    for position in range(np.uint64(n_kept)):
        sink[position] = source[position]


@_inner
def _leave_out_single(labels, n_strata):
    """Leave out the rows that are alone in their stratum; returns how many strata remain."""
    n_kept, sizes, stratum = labels.counts[N_KEPT], labels.stratum_sizes, labels.stratum
    for number in range(n_strata):
        sizes[number] = 0
    for position in range(np.uint64(n_kept)):
        sizes[np.uint64(stratum[position])] += np.int32(1)
    remaining = np.int32(0)
    for number in range(n_strata):  # from here on, the new number of a stratum that remains
        is_single = sizes[number] == 1
        sizes[number] = np.int32(-1) if is_single else remaining
        remaining += np.int32(not is_single)
    kept = np.uint64(0)
    for position in range(np.uint64(n_kept)):
        number = sizes[np.uint64(stratum[position])]
        labels.rows[kept] = labels.rows[position]
        stratum[kept] = number
        kept += np.uint64(number >= 0)
    labels.counts[N_KEPT] = kept
    labels.counts[N_SINGLE] += n_kept - np.int64(kept)
    return np.int64(remaining)


@_inner
def _label_rows(given, prepared, labels):
    """Label every row with its stratum and its run; returns whether the table was large enough."""
    n_rows = prepared.codes.shape[1]
    labels.counts[N_KEPT] = n_rows
    for row in range(np.uint64(n_rows)):
        labels.rows[row] = np.int32(row)
    return _label_kept_rows(given, prepared, labels)


@_inner
def _label_kept_rows(given, prepared, labels):
    """Label the rows that are kept so far; returns whether the table was large enough."""
    counts, cells, stratum, table = labels.counts, labels.cells, labels.stratum, labels.table
    counts[N_SINGLE] = 0
    for position in range(np.uint64(counts[N_KEPT])):
        stratum[position] = 0
    n_strata = 1
    depth = 0
    while depth < given.size:
        _copy(stratum, counts[N_KEPT], cells)
        n_cells, first = n_strata, depth
        while depth < given.size:
            levels = prepared.cardinalities[given[depth]]
            if n_cells * levels > (min(STEP_CELLS, table.size) if depth > first else table.size):
                break
            n_cells *= levels
            _combine(labels, prepared.codes[given[depth]], levels, cells)
            depth += 1
        if depth == first:
            return False
        n_strata = _number_cells(cells, n_cells, counts[N_KEPT], table, stratum)
        if n_strata > STRATA_A_ROW * counts[N_KEPT]:
            n_strata = _leave_out_single(labels, n_strata)
    n_y = prepared.cardinalities[prepared.target]
    if n_strata * n_y > table.size:
        return False
    _copy(stratum, counts[N_KEPT], cells)
    _combine(labels, prepared.codes[prepared.target], n_y, cells)
    counts[N_STRATA] = n_strata
    counts[N_RUNS] = _number_cells(cells, n_strata * n_y, counts[N_KEPT], table, labels.run)
    _size_labels(labels)
    return True


@_inner
def _size_labels(labels):
    """Count the rows of every stratum and run, and the runs of every stratum."""
    for stratum in range(labels.counts[N_STRATA]):
        labels.stratum_sizes[stratum] = 0
        labels.runs_of_stratum[stratum] = 0
    for run in range(labels.counts[N_RUNS]):
        labels.run_sizes[run] = 0
    for position in range(np.uint64(labels.counts[N_KEPT])):
        run = np.uint64(labels.run[position])
        labels.run_sizes[run] += np.int32(1)
        labels.stratum_of_run[run] = labels.stratum[position]
    for run in range(labels.counts[N_RUNS]):
        stratum = np.uint64(labels.stratum_of_run[run])
        labels.stratum_sizes[stratum] += labels.run_sizes[run]
        labels.runs_of_stratum[stratum] += np.int32(1)


@_inner
def _sum_labelled(x, column, levels, prices, wants_lengths, labels, out, j):
    """Sum over the table of ``x`` with the strata that occur."""
    sums = _count_labelled(x, levels, prices, wants_lengths, labels)
    _put_labelled(sums, prices, wants_lengths, labels, out, j)
    if prices.wants_tables:
        _tabulate_labelled(column, levels, prices, labels, out, j)
    _clear_labelled(levels, labels)


@_inner
def _count_labelled(x, width, prices, wants_lengths, labels):
    """Count ``x`` in runs and strata and sum over the counts; returns fit, length and sets."""
    increments, lengths = prices.entropy[1], prices.lengths[0]
    table, in_run, in_stratum = labels.table, labels.cells, labels.other_cells
    n_kept = labels.counts[N_KEPT]
    one = np.uint64(1)
    first = np.uint64(labels.counts[N_RUNS] * width)  # the strata's own cells come after
    _copy(labels.run, n_kept, in_run)
    _combine(labels, x, width, in_run)
    _copy(labels.stratum, n_kept, in_stratum)
    _combine(labels, x, width, in_stratum)
    fit = length = sets = 0
    for position in range(np.uint64(n_kept)):
        run_cell, cell = np.uint64(in_run[position]), first + np.uint64(in_stratum[position])
        run_count, count = np.uint64(table[run_cell]), np.uint64(table[cell])
        fit += increments[run_count] - increments[count]
        if wants_lengths:
            length += lengths[count + one] - lengths[count]
        sets += count == 0
        table[run_cell] = np.int32(run_count + one)
        table[cell] = np.int32(count + one)
    return fit, length, sets


@_inner
def _clear_labelled(width, labels):
    """Leave the table as it was before counting."""
    n_kept, first = labels.counts[N_KEPT], np.uint64(labels.counts[N_RUNS] * width)
    end = first + np.uint64(labels.counts[N_STRATA] * width)
    _clear(labels.table[:first], labels.cells, n_kept)
    _clear(labels.table[first:end], labels.other_cells, n_kept)


@_inner
def _put_labelled(sums, prices, wants_lengths, labels, out, j):
    """Write down the sums over labelled rows and over the rows that are alone in a stratum."""
    fit, length, sets = sums
    n_single = labels.counts[N_SINGLE]
    out[j, FIT] = fit
    out[j, STRATA] = sets + n_single
    out[j, LENGTH] = length + (n_single * prices.lengths[0, 1] if wants_lengths else 0)
    out[j, FREEDOM] = out[j, PEARSON] = out[j, MEAN] = out[j, VARIANCE] = out[j, THIRD] = 0


@_inner
def _tabulate_labelled(column, width, prices, labels, out, j):
    """Sum freedom, Pearson's statistic and its moments over a table that was just counted.

    Counts are made negative once they are used.
    """
    table, in_run, in_stratum = labels.table, labels.cells, labels.other_cells
    margins, scale = labels.margins, prices.scale
    first = labels.counts[N_RUNS] * width
    pearson = 0
    for stratum in range(labels.counts[N_STRATA]):
        for place in range(margins.shape[1]):
            margins[stratum, place] = 0
    for position in range(labels.counts[N_KEPT]):
        run, stratum = labels.run[position], labels.stratum[position]
        run_cell, cell = in_run[position], first + in_stratum[position]
        count, n_xz = table[run_cell], table[cell]
        if count > 0:
            table[run_cell] = -count
            n_z, n_yz = labels.stratum_sizes[stratum], labels.run_sizes[run]
            pearson += _pearson_term(count, n_z, abs(n_xz), n_yz, scale)
        if n_xz > 0:
            table[cell] = -n_xz
            margins[stratum, LEVELS] += 1
            inverse, square = _inverse(n_xz)
            margins[stratum, INVERSE_X] += inverse
            margins[stratum, SQUARE_X] += square
    for run in range(labels.counts[N_RUNS]):
        if labels.run_sizes[run] > 0:
            stratum = labels.stratum_of_run[run]
            inverse, square = _inverse(labels.run_sizes[run])
            margins[stratum, INVERSE_Y] += inverse
            margins[stratum, SQUARE_Y] += square
    out[j, PEARSON] = pearson
    _sum_labelled_strata(scale, prices.variance_scales[column], prices.third_scales[column], labels,
                         out, j)  # fmt: skip


@_inner
def _sum_labelled_strata(scale, variance_scale, third_scale, labels, out, j):
    """Sum what depends on the margins of each stratum only."""
    margins = labels.margins
    freedom = pearson = mean = variance = third = 0
    for stratum in range(labels.counts[N_STRATA]):
        n_z, y_levels = labels.stratum_sizes[stratum], labels.runs_of_stratum[stratum]
        x_levels = margins[stratum, LEVELS]
        pearson -= np.int64(n_z * scale)
        if x_levels > 1 and y_levels > 1:
            freedom += (x_levels - 1) * (y_levels - 1)
            own_mean, own_variance, own_third = _permuted(
                n_z, x_levels, y_levels,
                (margins[stratum, INVERSE_X], margins[stratum, SQUARE_X]),
                (margins[stratum, INVERSE_Y], margins[stratum, SQUARE_Y]),
                scale, variance_scale, third_scale,
            )  # fmt: skip
            mean += own_mean
            variance += own_variance
            third += own_third
    out[j, FREEDOM] = freedom
    out[j, PEARSON] += pearson
    out[j, MEAN] = mean
    out[j, VARIANCE] = variance
    out[j, THIRD] = third


@_inner
def _shared_prefix(given, index, previous):
    """How many leading columns set ``index`` shares with set ``previous``; -1 without one."""
    if previous < 0:
        return -1
    shared = 0
    while shared < given.shape[1] and given[index, shared] == given[previous, shared]:
        shared += 1
    return shared


@_inner
def _group_rows(given, index, prepared, scratch, groups):
    """Sort rows by stratum of ``given[index]``, then by target level."""
    state = scratch.state
    shared = _shared_prefix(given, index, state[LAST_GROUPED])
    _sort_by_columns(given[index], shared, prepared, groups)
    state[LAST_GROUPED] = index
    _mark_runs(given.shape[1], prepared, groups)
    state[HAS_GROUPS] = 1


@_inner
def _sum_grouped(depth, x, column, prices, wants_lengths, groups, out, j):
    """Sum over the table of ``x``, counting it stratum by stratum."""
    gathered, in_stratum, in_run = groups.gathered, groups.in_stratum, groups.in_run
    increments, lengths = prices.entropy[1], prices.lengths[0]
    rows, starts = groups.rows, groups.starts
    one, last = np.uint64(1), np.uint64(depth)
    n_strata, n_single = groups.n_strata[depth], groups.n_single[depth]
    variance_scale, third_scale = prices.variance_scales[column], prices.third_scales[column]
    fit = freedom = pearson = mean = variance = third = 0
    sets = n_single
    length = n_single * lengths[one] if wants_lengths else 0
    for position in range(starts[last, n_strata]):
        gathered[position] = x[np.uint64(rows[last, position])]
    for stratum in range(n_strata):
        lo = starts[last, stratum]
        hi = starts[last, stratum + 1]
        columns_seen = inverse_x = inverse_y = square_x = square_y = 0
        for position in range(lo, hi):
            code = np.uint64(gathered[position])
            count = np.uint64(in_stratum[code])
            fit -= increments[count]
            if wants_lengths:
                length += lengths[count + one] - lengths[count]
            columns_seen += count == 0
            in_stratum[code] += 1
        sets += columns_seen
        first_run = groups.run_of_stratum[stratum]
        end_run = groups.run_of_stratum[stratum + 1]
        for run in range(first_run, end_run):
            run_lo = groups.runs[run]
            run_hi = groups.runs[run + 1]
            for position in range(run_lo, run_hi):
                code = np.uint64(gathered[position])
                count = np.uint64(in_run[code])
                fit += increments[count]
                in_run[code] += 1
            for position in range(run_lo, run_hi):
                code = np.uint64(gathered[position])
                if prices.wants_tables and in_run[code] > 0:
                    pearson += _pearson_term(
                        in_run[code], hi - lo, in_stratum[code], run_hi - run_lo, prices.scale
                    )
                in_run[code] = 0
            if prices.wants_tables:
                inverse, square = _inverse(run_hi - run_lo)
                inverse_y += inverse
                square_y += square
        for position in range(lo, hi):
            code = np.uint64(gathered[position])
            if prices.wants_tables and in_stratum[code] > 0:
                inverse, square = _inverse(in_stratum[code])
                inverse_x += inverse
                square_x += square
            in_stratum[code] = 0
        n_runs = end_run - first_run
        if prices.wants_tables:
            pearson -= np.int64((hi - lo) * prices.scale)
        if prices.wants_tables and columns_seen > 1 and n_runs > 1:
            freedom += (columns_seen - 1) * (n_runs - 1)
            own_mean, own_variance, own_third = _permuted(
                hi - lo, columns_seen, n_runs, (inverse_x, square_x), (inverse_y, square_y),
                prices.scale, variance_scale, third_scale,
            )  # fmt: skip
            mean += own_mean
            variance += own_variance
            third += own_third
    out[j, FIT] = fit
    out[j, STRATA] = sets
    out[j, LENGTH] = length
    out[j, FREEDOM] = freedom
    out[j, PEARSON] = pearson
    out[j, MEAN] = mean
    out[j, VARIANCE] = variance
    out[j, THIRD] = third


@_inner
def _list_dense(counts, n_groups, n_y, lengths, wants_lengths, sizes, cells):
    """List the sizes and counts of ``counts[group, y]``; returns strata, both list lengths, length.

    Strata in which the target has one level only are not listed: size and count would cancel.
    """
    n_strata = n_sizes = n_cells = length = 0
    for group in range(n_groups):
        size = 0
        first = n_cells
        for y in range(n_y):
            count = counts[group * n_y + y]
            if count > 0:
                cells[n_cells] = count
                n_cells += 1
                size += count
        if size > 0:
            n_strata += 1
            if wants_lengths:
                length += lengths[0, np.uint64(size)]
        if n_cells - first > 1:
            sizes[n_sizes] = size
            n_sizes += 1
        else:
            n_cells = first
    return n_strata, n_sizes, n_cells, length


@_inner
def _list_labelled(labels, lengths, wants_lengths, scratch):
    """List the sizes of the strata and of their runs, as ``_list_dense`` does."""
    n_strata = n_single = labels.counts[N_SINGLE]
    n_sizes = n_cells = 0
    length = n_single * lengths[0, 1] if wants_lengths else 0
    for stratum in range(labels.counts[N_STRATA]):
        size = labels.stratum_sizes[stratum]
        n_strata += size > 0
        if wants_lengths:
            length += lengths[0, np.uint64(size)]
        scratch.sizes[n_sizes] = size
        n_sizes += labels.runs_of_stratum[stratum] > 1
    for run in range(labels.counts[N_RUNS]):
        scratch.cells[n_cells] = labels.run_sizes[run]
        n_cells += labels.runs_of_stratum[labels.stratum_of_run[run]] > 1
    return n_strata, n_sizes, n_cells, length


@_inner
def _list_grouped(depth, groups, lengths, wants_lengths, scratch):
    """List the sizes of the strata and of their runs, as ``_list_dense`` does."""
    n_strata, n_single = groups.n_strata[depth], groups.n_single[depth]
    n_sizes = n_cells = 0
    length = n_single * lengths[0, 1] if wants_lengths else 0
    for stratum in range(n_strata):
        size = groups.starts[depth, stratum + 1] - groups.starts[depth, stratum]
        if wants_lengths:
            length += lengths[0, np.uint64(size)]
        first = groups.run_of_stratum[stratum]
        end = groups.run_of_stratum[stratum + 1]
        if end - first > 1:
            scratch.sizes[n_sizes] = size
            n_sizes += 1
            for run in range(first, end):
                scratch.cells[n_cells] = groups.runs[run + 1] - groups.runs[run]
                n_cells += 1
    return n_strata + n_single, n_sizes, n_cells, length


@_inner
def _sum_listed(n_sizes, n_cells, table, kind, sizes, cells):
    """Sum a table's row ``kind`` over the listed cells minus the listed sizes."""
    total = 0
    row = np.uint64(kind)
    for index in range(n_cells):
        total += table[row, np.uint64(cells[index])]
    for index in range(n_sizes):
        total -= table[row, np.uint64(sizes[index])]
    return total


@_inner
def _cheapest(n_strata, product, levels, n_y, n_rows, n_words, is_packed, labelling):
    """Choose a way of counting one more column; ``labelling`` is what labels cost a row."""
    way, cost = BY_STRATUM, n_rows * (COST_LABELLED_ROW + labelling)
    cells = product * n_y * levels
    if cells <= MAX_DENSE_CELLS:
        histogram = n_rows * COST_HISTOGRAM_ROW + cells * COST_CELL
        if histogram < cost:
            way, cost = HISTOGRAM, histogram
    cells = n_strata * n_y * levels
    if is_packed and cells <= MAX_DENSE_CELLS:
        words = n_words * COST_WORD + n_y * COST_SEGMENT
        if (n_strata - 1) * (levels - 1) * words + cells * COST_CELL < cost:
            way = POPCOUNT
    return way


@_inner
def _size_up(given, prepared, scratch):
    """How many strata ``given`` could have, and whether bitmaps are the way to list them."""
    n_rows = prepared.codes.shape[1]
    product = 1
    n_words = prepared.bitmaps.shape[1]
    is_packed = n_words > 0 and prepared.bitmaps.shape[0] > 1  # else no column has bitmaps
    for column in given:
        product = min(product * prepared.cardinalities[column], MANY_STRATA)
        is_packed = is_packed and prepared.level_start[column] >= 0
    is_packed = is_packed and product <= scratch.strata.shape[1]
    is_packed = is_packed and product * n_words * COST_WORD < n_rows * COST_LABELLING_ROW
    return product, is_packed


@_inner
def _list_given(given, index, product, is_packed, prepared, prices, scratch, labels, groups):
    """List the counts of a given set; returns strata, list lengths and target length."""
    n_y = prepared.cardinalities[prepared.target]
    wants_lengths = prices.length_below > 0
    state = scratch.state
    state[HAS_BASE] = state[HAS_LABELS] = state[HAS_GROUPS] = 0
    if is_packed:
        _fill_strata(given[index], _shared_prefix(given, index, state[LAST_PACKED]), prepared,
                     scratch)  # fmt: skip
        state[LAST_PACKED] = index
        _count_strata(given.shape[1], prepared, scratch)
        return _list_dense(scratch.by_y, scratch.n_strata[given.shape[1]], n_y, prices.lengths,
                           wants_lengths, scratch.sizes, scratch.cells)  # fmt: skip
    if product * n_y <= min(MAX_DENSE_CELLS, DENSE_CELLS_A_ROW * prepared.codes.shape[1]):
        _fill_base(given[index], 1, prepared, scratch.row_base)
        state[HAS_BASE] = 1
        _count_rows(scratch.row_base, product * n_y, scratch.table)
        return _list_dense(scratch.table, product, n_y, prices.lengths, wants_lengths,
                           scratch.sizes, scratch.cells)  # fmt: skip
    if _label_rows(given[index], prepared, labels):
        state[HAS_LABELS] = 1
        return _list_labelled(labels, prices.lengths, wants_lengths, scratch)
    _group_rows(given, index, prepared, scratch, groups)
    return _list_grouped(given.shape[1], groups, prices.lengths, wants_lengths, scratch)


@_inner
def _sum_given(index, listed, thin, entropy, lengths, sizes, cells, out_given, out_splits):
    """Sum over the counts of a given set that were just listed."""
    n_strata, n_sizes, n_cells, length = listed
    out_given[index, FIT] = _sum_listed(n_sizes, n_cells, entropy, 0, sizes, cells)
    out_given[index, STRATA] = n_strata
    out_given[index, LENGTH] = length
    if n_strata > thin:
        for kind in range(out_splits.shape[1]):
            split = _sum_listed(n_sizes, n_cells, lengths, kind, sizes, cells)
            out_splits[index, kind] = -split


@_inner
def _sum_splits(lo, hi, listed, thin, candidates, length_class, lengths, sizes, cells, out_unions):
    """Sum the split length of a given set for each of its candidates."""
    n_strata, n_sizes, n_cells, _ = listed
    last_kind = np.int64(-1)
    split = np.int64(0)
    for j in range(lo, hi):
        kind = length_class[candidates[j]]
        if n_strata > thin and kind != last_kind:
            last_kind = kind
            split = -_sum_listed(n_sizes, n_cells, lengths, kind, sizes, cells)
        out_unions[j, SPLIT] = split


@_inner
def _sum_unions(given, index, lo, hi, candidates, n_strata, product, is_packed, thin, prepared,
                prices, scratch, labels, groups, out):  # fmt: skip
    """Count and sum the table of a given set with each of its candidates."""
    # taken out of their tuples once: every access through a tuple counts references
    bitmaps, level_counts, segments = prepared.bitmaps, prepared.level_counts, prepared.segments
    cardinalities, level_start = prepared.cardinalities, prepared.level_start
    strata, by_y, table = scratch.strata, scratch.by_y, scratch.table
    column_sums, row_base, state = scratch.column_sums, scratch.row_base, scratch.state
    entropy, lengths = prices.entropy, prices.lengths
    wants_tables, scale = prices.wants_tables, prices.scale
    variance_scales, third_scales = prices.variance_scales, prices.third_scales
    n_rows, n_y, n_given = row_base.size, cardinalities[prepared.target], given.shape[1]
    n_words = bitmaps.shape[1]
    for j in range(lo, hi):
        column = candidates[j]
        levels = cardinalities[column]
        is_thin = min(n_rows, n_strata * levels) > thin
        can_and = is_packed and level_start[column] >= 0
        labelling = COST_LABELLING_ROW if state[HAS_LABELS] == 0 else 0.0
        way = _cheapest(n_strata, product, levels, n_y, n_rows, n_words, can_and, labelling)
        if way == POPCOUNT:
            _count_by_popcount(n_given, n_strata, levels, level_start[column], strata, by_y,
                               bitmaps, level_counts, segments, False, False, table)  # fmt: skip
            _sum_dense(n_strata, n_y, levels, entropy, lengths, is_thin, wants_tables, scale,
                       variance_scales[column], third_scales[column], table, column_sums, out,
                       j)  # fmt: skip
        elif way == HISTOGRAM:
            if state[HAS_BASE] == 0:
                _fill_base(given[index], 1, prepared, row_base)
                state[HAS_BASE] = 1
            _count_by_histogram(row_base, prepared.codes[column], levels, product * n_y * levels,
                                table)  # fmt: skip
            _sum_dense(product, n_y, levels, entropy, lengths, is_thin, wants_tables, scale,
                       variance_scales[column], third_scales[column], table, column_sums, out,
                       j)  # fmt: skip
        elif _has_labels(given[index], levels, prepared, state, labels):
            _sum_labelled(prepared.codes[column], column, levels, prices, is_thin, labels, out, j)
        else:
            if state[HAS_GROUPS] == 0:
                _group_rows(given, index, prepared, scratch, groups)
            _sum_grouped(n_given, prepared.codes[column], column, prices, is_thin, groups, out, j)


@_inner
def _has_labels(given, levels, prepared, state, labels):
    """Whether rows are labelled, now at the latest, and a column of ``levels`` fits the table."""
    if state[HAS_LABELS] == 0 and state[HAS_GROUPS] == 0:
        state[HAS_LABELS] = _label_rows(given, prepared, labels)
    return (
        state[HAS_LABELS] == 1
        and (labels.counts[N_STRATA] + labels.counts[N_RUNS]) * levels <= labels.table.size
    )


@kernel
def summarise(prepared, prices, scratch, labels, groups, given, candidate_start, candidates,
              length_class, out_given, out_splits, out_unions):  # fmt: skip
    """Summarise a batch of sets ``given[i]`` and ``given[i] + {candidate}`` against the target.

    ``out_given[i]`` gets fit, strata and target length of ``given[i]``; ``out_unions[j]`` fit,
    strata, target length, adjusted freedom and Pearson's sum of the table of candidate ``j`` with
    its given set, the mean, variance and third cumulant of that sum over all orders of the rows of
    each stratum, and the split length of the given set for that candidate. If ``out_splits`` has
    columns, ``out_splits[i, c]`` gets the split length for every length class ``c``. Lengths are
    summed only where a test could have fewer than ``length_below`` rows a cell. Sets that begin
    with the same columns as the one before them are cheaper.
    """
    n_rows = prepared.codes.shape[1]
    widest = prepared.most_levels * prepared.cardinalities[prepared.target]
    thin = n_rows / max(prices.length_below * widest, 1e-300)  # so many strata are too many
    entropy, lengths, sizes, cells = prices.entropy, prices.lengths, scratch.sizes, scratch.cells
    scratch.state[LAST_PACKED] = scratch.state[LAST_GROUPED] = -1
    for index in range(given.shape[0]):
        lo, hi = candidate_start[index], candidate_start[index + 1]
        product, is_packed = _size_up(given[index], prepared, scratch)
        listed = _list_given(given, index, product, is_packed, prepared, prices, scratch, labels,
                             groups)  # fmt: skip
        _sum_given(index, listed, thin, entropy, lengths, sizes, cells, out_given, out_splits)
        _sum_splits(lo, hi, listed, thin, candidates, length_class, lengths, sizes, cells,
                    out_unions)  # fmt: skip
        _sum_unions(given, index, lo, hi, candidates, listed[0], product, is_packed, thin, prepared,
                    prices, scratch, labels, groups, out_unions)  # fmt: skip


# ------------------------------------------------------------------------------- missing values


@_inner
def _mark_complete(given, prepared, present):
    """Mark the rows that are complete for the target and the given set."""
    is_complete = present.is_complete
    is_complete[:] = True
    for index in range(given.size + 1):
        column = given[index] if index < given.size else prepared.target
        if present.has_gaps[column]:
            levels, codes = prepared.cardinalities[column], prepared.codes[column]
            for row in range(np.uint64(is_complete.size)):
                is_complete[row] &= codes[row] < levels


@_inner
def _fill_complete_base(given, n_cells, prepared, row_base, present):
    """Give each complete row the number of its cell, and all others the one after the last."""
    _fill_base(given, 1, prepared, row_base)
    _mark_complete(given, prepared, present)
    for row in range(np.uint64(row_base.size)):
        if not present.is_complete[row]:
            row_base[row] = n_cells


@_inner
def _squeeze(n_groups, levels, table):
    """Take the column of the missing values out of a dense table."""
    width = np.uint64(levels)
    for group in range(np.uint64(n_groups)):
        for x in range(width):
            table[group * width + x] = table[group * (width + np.uint64(1)) + x]


@_inner
def _keep_complete_rows(given, prepared, labels, present):
    """Keep the complete rows for labelling."""
    _mark_complete(given, prepared, present)
    n_kept = np.uint64(0)
    for row in range(np.uint64(present.is_complete.size)):
        labels.rows[n_kept] = np.int32(row)
        n_kept += np.uint64(present.is_complete[row])
    labels.counts[N_KEPT] = n_kept


@_inner
def _group_complete_rows(given, prepared, groups, present):
    """Sort the complete rows by stratum of ``given`` and, inside a stratum, by target level."""
    _mark_complete(given, prepared, present)
    n_kept = 0
    for row in prepared.order:
        if present.is_complete[row]:
            groups.rows[0, n_kept] = row
            n_kept += 1
    groups.starts[0, 0] = 0
    groups.starts[0, 1] = n_kept
    groups.n_strata[0] = 1
    groups.n_single[0] = 0
    for depth in range(given.size):
        _refine(depth, prepared.codes[given[depth]], groups)
    end = groups.starts[given.size, groups.n_strata[given.size]]
    _list_single(
        groups.rows[given.size], end, groups.n_single[given.size], present.is_complete,
        present.not_grouped,
    )  # fmt: skip


@_inner
def _list_single(rows, n_kept, n_single, is_complete, single):
    """List the complete rows that are not kept, for they are alone in their stratum."""
    if n_single == 0:
        return
    for position in range(n_kept):
        is_complete[rows[position]] = False
    found = 0
    for row in range(is_complete.size):
        if is_complete[row]:
            single[found] = row
            found += 1


@_inner
def _count_present(rows, n_rows, x, levels):
    """How many of some rows have a value of ``x``."""
    count = 0
    for index in range(np.uint64(n_rows)):
        count += x[np.uint64(rows[index])] < levels
    return count


@_inner
def _sum_dense_present(n_groups, n_y, members, column, product, stratum_codes, cardinalities,
                       entropy, lengths, length_below, wants_tables, scale, variance_scale,
                       third_scale, table, by_y, sizes, cells, column_sums, length_class, out,
                       out_margins, j):  # fmt: skip
    """Sum over a dense table, and over the given set in the rows of the table."""
    levels = cardinalities[column]
    n_rows = 0
    width = np.uint64(levels)
    for group in range(np.uint64(n_groups * n_y)):
        total = np.int32(0)
        for x in range(width):
            total += table[group * width + x]
        by_y[group] = total
        n_rows += total
    listed = _list_dense(by_y, n_groups, n_y, lengths, length_below > 0, sizes, cells)
    is_thin = n_rows < length_below * (listed[0] * levels * n_y)
    _put_own(listed, n_rows, is_thin, length_class[column], entropy, lengths, sizes, cells, out, j)
    if out_margins.shape[1] > 0:
        is_thin |= _sum_margins(n_groups, n_rows, n_y, members, levels, product, stratum_codes,
                                cardinalities, entropy, lengths, length_below, table, by_y, sizes,
                                cells, length_class, out_margins, j)  # fmt: skip
    _sum_dense(n_groups, n_y, levels, entropy, lengths, is_thin, wants_tables, scale,
               variance_scale, third_scale, table, column_sums, out, j)  # fmt: skip


@_inner
def _sum_margins(n_groups, n_rows, n_y, members, levels, product, stratum_codes, cardinalities,
                 entropy, lengths, length_below, table, margin, sizes, cells, length_class,
                 out_margins, j):  # fmt: skip
    """Sum over the table without each of the members in turn; returns if any is then thin.

    That is what the test of this member, given the others and the column, has as its given set.
    """
    if n_rows == 0:
        out_margins[j] = 0
        return False
    if product * levels * n_y > margin.size:
        out_margins[j, :, MARGIN_STRATA] = NOT_COUNTED
        return False
    is_any_thin = False
    stride = 1
    for place in range(members.size - 1, -1, -1):
        width = cardinalities[members[place]]
        n_left = product // width * levels
        _add_up(n_groups, n_left, width, stride, levels, n_y, stratum_codes, table, margin)
        n_strata, n_sizes, n_cells, length = _list_dense(
            margin, n_left, n_y, lengths, length_below > 0, sizes, cells
        )
        is_thin = n_rows < length_below * (n_strata * width * n_y)
        split = np.int64(0)
        if is_thin:
            kind = length_class[members[place]]
            split = -_sum_listed(n_sizes, n_cells, lengths, kind, sizes, cells)
        fit = _sum_listed(n_sizes, n_cells, entropy, 0, sizes, cells)
        out_margins[j, place, MARGIN_FIT] = fit
        out_margins[j, place, MARGIN_STRATA] = n_strata
        out_margins[j, place, MARGIN_LENGTH] = length
        out_margins[j, place, MARGIN_SPLIT] = split
        is_any_thin |= is_thin
        stride *= width
    return is_any_thin


@_inner
def _add_up(n_groups, n_left, width, stride, levels, n_y, stratum_codes, table, margin):
    """Add up ``table[stratum, y, x]`` over one column of the given set: ``margin[rest, x, y]``.

    Without ``stratum_codes`` a stratum has its number for a code.
    """
    for cell in range(np.uint64(n_left * n_y)):
        margin[cell] = 0
    cell = np.uint64(0)
    for stratum in range(n_groups):
        code = np.int64(stratum_codes[stratum]) if stratum_codes.size > 0 else stratum
        rest = code // (width * stride) * stride + code % stride
        for y in range(n_y):
            sink = np.uint64(rest * levels * n_y + y)
            for _ in range(levels):
                margin[sink] += table[cell]
                cell += np.uint64(1)
                sink += np.uint64(n_y)


@_inner
def _leave_out_missing(levels, sums, prices, wants_lengths, labels, kept):
    """Take the missing values of a column back out of a count, and size what is left."""
    fit, length, sets = sums
    entropy, lengths, table = prices.entropy[0], prices.lengths[0], labels.table
    n_strata, n_runs, width = labels.counts[N_STRATA], labels.counts[N_RUNS], levels + 1
    for stratum in range(n_strata):
        kept.runs_of_stratum[stratum] = 0
    cell = np.uint64(levels)
    for run in range(np.uint64(n_runs)):
        missing = table[cell]
        table[cell] = 0
        fit -= entropy[np.uint64(missing)]
        kept.run_sizes[run] = labels.run_sizes[run] - missing
        stratum = np.uint64(labels.stratum_of_run[run])
        kept.runs_of_stratum[stratum] += np.int32(kept.run_sizes[run] > 0)
        cell += np.uint64(width)
    for stratum in range(np.uint64(n_strata)):
        missing = table[cell]
        table[cell] = 0
        fit += entropy[np.uint64(missing)]
        if wants_lengths:
            length -= lengths[np.uint64(missing)]
        sets -= missing > 0
        kept.stratum_sizes[stratum] = labels.stratum_sizes[stratum] - missing
        cell += np.uint64(width)
    return fit, length, sets


@_inner
def _sum_labelled_present(column, kind, prepared, prices, scratch, labels, present, out, j):
    """Sum over the table of a column with the labelled strata, and over those in its rows."""
    x, levels = prepared.codes[column], prepared.cardinalities[column]
    has_gap = present.has_gaps[column]
    wants_lengths = prices.length_below > 0
    width = levels + has_gap
    sums = _count_labelled(x, width, prices, wants_lengths, labels)
    kept = labels
    if has_gap:
        kept = present.labels
        for place in range(kept.counts.size):
            kept.counts[place] = labels.counts[place]
        kept.counts[N_SINGLE] = _count_present(
            present.not_labelled, labels.counts[N_SINGLE], x, levels
        )
        sums = _leave_out_missing(levels, sums, prices, wants_lengths, labels, kept)
    _put_labelled(sums, prices, wants_lengths, kept, out, j)
    if prices.wants_tables:
        _tabulate_labelled(column, width, prices, kept, out, j)
    _clear_labelled(width, labels)
    n_rows = kept.counts[N_SINGLE]
    for stratum in range(kept.counts[N_STRATA]):
        n_rows += kept.stratum_sizes[stratum]
    listed = _list_labelled(kept, prices.lengths, wants_lengths, scratch)
    _put_own(listed, n_rows, wants_lengths, kind, prices.entropy, prices.lengths, scratch.sizes,
             scratch.cells, out, j)  # fmt: skip


@_inner
def _keep_present(depth, x, levels, groups, present):
    """Keep the sorted rows that have a value of ``x``, and the strata that have such rows."""
    rows, starts = groups.rows, groups.starts
    source, sink = np.uint64(depth), np.uint64(depth + 1)
    found = 0
    place = np.uint64(0)
    for stratum in range(groups.n_strata[depth]):
        first = place
        for position in range(
            np.uint64(starts[source, stratum]), np.uint64(starts[source, stratum + 1])
        ):
            row = rows[source, position]
            rows[sink, place] = row
            place += np.uint64(x[np.uint64(row)] < levels)
        starts[sink, found] = first
        found += place > first
    starts[sink, found] = place
    groups.n_strata[depth + 1] = found
    groups.n_single[depth + 1] = _count_present(
        present.not_grouped, groups.n_single[depth], x, levels
    )


@_inner
def _sum_grouped_present(depth, column, kind, prepared, prices, scratch, groups, present, out,
                         j):  # fmt: skip
    """Sum over the table of a column stratum by stratum, and over the strata in its rows."""
    x, levels = prepared.codes[column], prepared.cardinalities[column]
    wants_lengths = prices.length_below > 0
    _keep_present(depth, x, levels, groups, present)
    _mark_runs(depth + 1, prepared, groups)
    _sum_grouped(depth + 1, x, column, prices, wants_lengths, groups, out, j)
    n_rows = groups.starts[depth + 1, groups.n_strata[depth + 1]] + groups.n_single[depth + 1]
    listed = _list_grouped(depth + 1, groups, prices.lengths, wants_lengths, scratch)
    _put_own(listed, n_rows, wants_lengths, kind, prices.entropy, prices.lengths, scratch.sizes,
             scratch.cells, out, j)  # fmt: skip


@_inner
def _put_own(listed, n_rows, is_thin, kind, entropy, lengths, sizes, cells, out, j):
    """Sum over the given set of a test, which was just listed in the rows of that test."""
    n_strata, n_sizes, n_cells, length = listed
    out[j, OWN_FIT] = _sum_listed(n_sizes, n_cells, entropy, 0, sizes, cells)
    out[j, OWN_STRATA] = n_strata
    out[j, OWN_LENGTH] = length
    out[j, OWN_ROWS] = n_rows
    split = np.int64(0)
    if is_thin:
        split = -_sum_listed(n_sizes, n_cells, lengths, kind, sizes, cells)
    out[j, SPLIT] = split


@_inner
def _sum_dense_tables(given, lo, hi, candidates, n_strata, product, is_packed, prepared, prices,
                      scratch, present, length_class, out, out_margins):  # fmt: skip
    """Count and sum the table of a given set with each candidate, on the rows complete for both.

    Returns whether some are left to be counted in other ways.
    """
    # taken out of their tuples once: every access through a tuple counts references
    bitmaps, level_counts, segments = prepared.bitmaps, prepared.level_counts, prepared.segments
    cardinalities, level_start = prepared.cardinalities, prepared.level_start
    strata, strata_by_y, table = scratch.strata, scratch.by_y, scratch.table
    column_sums, row_base = scratch.column_sums, scratch.row_base
    sizes, cells, stratum_codes = scratch.sizes, scratch.cells, scratch.codes[given.size]
    entropy, lengths, length_below = prices.entropy, prices.lengths, prices.length_below
    wants_tables, scale = prices.wants_tables, prices.scale
    variance_scales, third_scales = prices.variance_scales, prices.third_scales
    gaps, by_y = present.has_gaps, present.by_y
    n_rows, n_y, n_words = row_base.size, cardinalities[prepared.target], bitmaps.shape[1]
    has_gaps = has_base = some_are_left = False
    for column in given:
        if gaps[column]:
            has_gaps = True
    for j in range(lo, hi):
        column = candidates[j]
        levels, has_gap = cardinalities[column], gaps[column]
        can_and = is_packed and level_start[column] >= 0
        labelling = 0.0 if some_are_left else COST_LABELLING_ROW
        # a stratum and a level more, for rows that are left out
        way = _cheapest(n_strata + 1, product + 1, levels + 1, n_y, n_rows, n_words, can_and,
                        labelling)  # fmt: skip
        if way == BY_STRATUM:
            out_margins[j, :, MARGIN_STRATA] = out[j, OWN_STRATA] = NOT_COUNTED
            some_are_left = True
            continue
        n_groups, codes = n_strata, stratum_codes
        if way == POPCOUNT:
            _count_by_popcount(given.size, n_strata, levels, level_start[column], strata,
                               strata_by_y, bitmaps, level_counts, segments, has_gaps, has_gap,
                               table)  # fmt: skip
        else:
            n_groups, codes = product, stratum_codes[:0]  # every stratum is in its place
            if not has_base:
                _fill_complete_base(given, product * n_y, prepared, row_base, present)
                has_base = True
            width = levels + has_gap
            n_cells = (product * n_y + 1) * width
            _count_by_histogram(row_base, prepared.codes[column], width, n_cells, table)
            if has_gap:
                _squeeze(product * n_y, levels, table)
        _sum_dense_present(n_groups, n_y, given, column, product, codes, cardinalities, entropy,
                           lengths, length_below, wants_tables, scale, variance_scales[column],
                           third_scales[column], table, by_y, sizes, cells, column_sums,
                           length_class, out, out_margins, j)  # fmt: skip
    return some_are_left


@kernel
def summarise_present(prepared, prices, scratch, labels, groups, present, given, candidate_start,
                      candidates, length_class, out, out_margins):  # fmt: skip
    """Summarise a batch of tests, each on the rows that are complete for its variables.

    As ``summarise``, but what belongs to the given set is summed anew for every candidate: the
    columns from ``OWN_FIT`` on of ``out[j]``. If ``out_margins`` has room, ``out_margins[j, i]``
    gets the same for the test of ``given[i]`` with the candidate in its place, unless the table is
    too large to be dense.
    """
    # calls are not nested deeper than they must be: every level is optimised anew
    scratch.state[LAST_PACKED] = -1
    for index in range(given.shape[0]):
        members = given[index]
        lo, hi = candidate_start[index], candidate_start[index + 1]
        product, is_packed = _size_up(members, prepared, scratch)
        n_strata = product
        if is_packed:
            shared = _shared_prefix(given, index, scratch.state[LAST_PACKED])
            n_strata = _fill_strata(members, shared, prepared, scratch)
            scratch.state[LAST_PACKED] = index
            _count_strata(members.size, prepared, scratch)
        if not _sum_dense_tables(members, lo, hi, candidates, n_strata, product, is_packed,
                                 prepared, prices, scratch, present, length_class, out,
                                 out_margins):  # fmt: skip
            continue
        _keep_complete_rows(members, prepared, labels, present)
        has_labels = _label_kept_rows(members, prepared, labels)
        has_groups = False
        if has_labels:
            _list_single(labels.rows, labels.counts[N_KEPT], labels.counts[N_SINGLE],
                         present.is_complete, present.not_labelled)  # fmt: skip
        for j in range(lo, hi):
            column = candidates[j]
            width = prepared.cardinalities[column] + present.has_gaps[column]
            if out[j, OWN_STRATA] != NOT_COUNTED:
                continue
            if has_labels and (
                (labels.counts[N_STRATA] + labels.counts[N_RUNS]) * width <= labels.table.size
            ):
                _sum_labelled_present(column, length_class[column], prepared, prices, scratch,
                                      labels, present, out, j)  # fmt: skip
                continue
            if not has_groups:
                _group_complete_rows(members, prepared, groups, present)
                has_groups = True
            _sum_grouped_present(members.size, column, length_class[column], prepared, prices,
                                 scratch, groups, present, out, j)  # fmt: skip
