"""Sums over a counted test: fits, strata, code lengths, degrees of freedom.

Let ``fit(A) = sum n_ay log2(n_ay / n_a)``, the log-likelihood of the target given a set A in bits;
``length(A) = sum log2 C(|Y|, n_a)``, what coding the target costs beyond it. The likelihood ratio
and stochastic complexity are differences of these sums for the given set with and without the
candidate. All are integers, in fixed point, so the order in which they are added up is no matter.
"""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import math

import numpy as np

from komb.engine.compiling import inner, stay_apart
from komb.engine.kernels.counting import n_codes
from komb.engine.kernels.groups import line_of, n_runs, write_codes
from komb.engine.kernels.places import (
    BUILT,
    COLUMN,
    DENSE,
    FIT,
    LENGTH,
    LINE,
    N_GIVEN,
    N_RESTS,
    OWN_FIT,
    OWN_LENGTH,
    OWN_STRATA,
    ROWS,
    STRATA,
    WAY,
)
from komb.engine.kernels.rows import clear


@inner
def entropy_of(s, n):
    """``n log2 n`` in fixed point."""
    if n < s.entropy.size:
        return s.entropy[np.uint64(n)]
    return _large_entropy(n, s.scale)


@inner
def _large_entropy(n, scale):
    stay_apart()
    mantissa, exponent = math.frexp(np.float64(n))
    rest = np.int64(np.rint(np.float64(n) * math.log2(mantissa) * scale))
    return np.int64(n) * np.int64(exponent) * np.int64(scale) + rest


@inner
def length_of(s, n, kind):
    """``log2 C(levels, n)`` in fixed point for one of the numbers of levels that columns have."""
    if n < s.lengths.shape[0]:
        return s.lengths[np.uint64(n), np.uint64(kind)]
    return _large_length(s.class_levels[kind], np.float64(n), s.scale)


@inner
def _large_length(levels, n, scale):
    """From ``C(r + 2, n) = C(r + 1, n) + n / r C(r, n)`` and the series of ``C(2, n)``."""
    stay_apart()
    if levels < 2:
        return np.int64(0)
    root = math.sqrt(math.pi / (2.0 * n))
    now = n * root + 2.0 / 3.0 + root / 12.0 - 4.0 / (135.0 * n) + root / (288.0 * n)
    now += 8.0 / (2835.0 * n * n)
    before, exponent = 1.0, 0
    for step in range(1, levels - 1):
        before, now = now, now + n / step * before
        if now > 1e200:
            before, now, exponent = math.ldexp(before, -512), math.ldexp(now, -512), exponent + 512
    return np.int64(np.rint((math.log2(now) + exponent) * scale))


@inner
def sum_up(s, wants_lengths, wants_own):
    """Sum over the test that was counted last and, if wanted, over its given set in the same rows.

    With lengths, the splits of the given set are summed as well: what a code of each length class
    would save beyond the fit if it knew the target.
    """
    if wants_own and wants_lengths:
        clear(s.splits, s.splits.size)
    if s.counted[WAY] == DENSE:
        _sum_table(s, wants_lengths)
        if wants_own:
            _sum_margin(s, wants_lengths)
    else:
        _sum_rows(s, wants_lengths, wants_own)
    if wants_own and wants_lengths:
        _add_small_splits(s)
    _add_rows_alone(s, wants_lengths, wants_own)


@inner
def _add_rows_alone(s, wants_lengths, wants_own):
    """Add rows that are alone in their stratum, and so were left out of groups."""
    sums, n_alone = s.sums, s.n_alone[s.counted[LINE]]
    length = length_of(s, 1, s.length_class[s.target]) if wants_lengths else np.int64(0)
    sums[STRATA] += n_alone
    sums[LENGTH] += n_alone * length
    if wants_own:
        n_alone = s.n_alone[own_line(s)]
        sums[ROWS] += n_alone
        sums[OWN_STRATA] += n_alone
        sums[OWN_LENGTH] += n_alone * length


@inner
def own_line(s):
    """Line of the stack with the groups of the given set, or of some of its columns.

    The candidate may be one of those that rows are grouped by.
    """
    size = s.counted[N_GIVEN]
    return line_of(s, size) if s.counted[BUILT] > size else s.counted[LINE]


@inner
def _sum_table(s, wants_lengths):
    """Sum over the table [run, code]."""
    stay_apart()
    table, by_code, line, own = s.table, s.by_code, s.counted[LINE], s.length_class[s.target]
    width, entropy, is_tabled = np.uint64(n_codes(s)), s.entropy, s.n_rows < s.entropy.size
    fit = strata = length = np.int64(0)
    cell = np.uint64(0)
    for group in range(s.n_groups[line]):
        clear(by_code, width)
        for _ in range(s.first_run[line, group], s.first_run[line, group + 1]):
            for code in range(width):
                n = table[cell + code]
                fit += entropy[np.uint64(n)] if is_tabled else entropy_of(s, n)
                by_code[code] += n
            cell += width
        for code in range(width):
            n = by_code[code]
            fit -= entropy[np.uint64(n)] if is_tabled else entropy_of(s, n)
            strata += n > 0
            if wants_lengths:
                length += length_of(s, n, own)
    s.sums[FIT], s.sums[STRATA], s.sums[LENGTH] = fit, strata, length


@inner
def _sum_margin(s, wants_lengths):
    """Sum over the table without the candidate."""
    stay_apart()
    table, first_run, n_x = s.table, s.first_run[s.counted[LINE]], s.levels[s.counted[COLUMN]]
    own, width, n_rests = s.length_class[s.target], np.uint64(n_codes(s)), s.counted[N_RESTS]
    rows = fit = strata = length = np.int64(0)
    for group in range(s.n_groups[s.counted[LINE]]):
        for rest in range(n_rests):
            size = np.int32(0)
            for run in range(first_run[group], first_run[group + 1]):
                cell, total = np.uint64(run) * width + np.uint64(rest * n_x), np.int32(0)
                for x in range(np.uint64(n_x)):
                    total += table[cell + x]
                fit += entropy_of(s, total)
                size += total
                if wants_lengths:
                    _note_split(s, total, -1)
            fit -= entropy_of(s, size)
            rows += size
            strata += size > 0
            if wants_lengths:
                length += length_of(s, size, own)
                _note_split(s, size, 1)
    sums = s.sums
    sums[ROWS], sums[OWN_FIT], sums[OWN_STRATA], sums[OWN_LENGTH] = rows, fit, strata, length


@inner
def _note_split(s, n, times):
    """Add code lengths of n rows to all splits; small numbers are many, and counted first."""
    if n < s.small.size:
        s.small[np.uint64(n)] += times
    else:
        _add_split(s, n, times)


@inner
def _add_split(s, n, times):
    stay_apart()
    if n < s.lengths.shape[0]:
        for kind in range(np.uint64(s.splits.size)):
            s.splits[kind] += times * s.lengths[np.uint64(n), kind]
    else:
        for kind in range(s.splits.size):
            s.splits[kind] += times * length_of(s, n, kind)


@inner
def _add_small_splits(s):
    for n in range(1, s.small.size):
        if s.small[n] != 0:
            _add_split(s, n, s.small[n])
    clear(s.small, s.small.size)


@inner
def _sum_rows(s, wants_lengths, wants_own):
    """Sum over the rows of a test whose table would be too large."""
    stay_apart()
    sums, counted = s.sums, s.counted
    line, first, size = counted[LINE], counted[BUILT], counted[N_GIVEN]
    n_rows = write_codes(s, line, first, size + 1, size + 1)
    _, sums[FIT], sums[STRATA], sums[LENGTH] = _scan(
        s, line, n_rows, n_codes(s), wants_lengths, False
    )
    if wants_own:
        line = own_line(s)
        n_rows = write_codes(s, line, min(first, size), size, size + 1)
        sums[ROWS], sums[OWN_FIT], sums[OWN_STRATA], sums[OWN_LENGTH] = _scan(
            s, line, n_rows, counted[N_RESTS], wants_lengths, wants_lengths
        )


@inner
def _scan(s, line, n_rows, width, wants_lengths, wants_splits):
    """Return rows, fit, strata and length of the sets of grouped rows with the same code.

    Rows are counted first. What is counted is added up where the first of its rows is, and cleared,
    so that the others add nothing.
    """
    _count_cells(s, line, n_rows, width)
    if wants_splits:
        _split_cells(s, n_rows)
    return _add_cells(s, n_rows, wants_lengths)


@inner
def _count_cells(s, line, n_rows, width):
    """Count the rows of each cell; a row notes that of its run and that of its stratum."""
    stay_apart()
    cells, codes, stratum_of, run_of = s.cells, s.row_codes, s.stratum_of[line], s.run_of[line]
    in_run, in_stratum, rows, weight = s.in_run, s.in_stratum, s.grouped_rows[line], s.sorted_weight
    step, start = np.int32(width), np.int32(n_runs(s, line) * width)
    nowhere = np.int32(cells.size - 1)  # of rows in which a value is missing
    for position in range(np.uint64(n_rows)):
        code = codes[position]
        in_run[position] = nowhere if code < 0 else run_of[position] * step + code
        in_stratum[position] = nowhere if code < 0 else start + stratum_of[position] * step + code
    for position in range(np.uint64(n_rows)):
        w = weight[np.uint64(rows[position])] if weight.size > 0 else np.int32(1)
        cells[np.uint64(in_run[position])] += w
        cells[np.uint64(in_stratum[position])] += w
    cells[np.uint64(nowhere)] = 0


@inner
def _split_cells(s, n_rows):
    """Add code lengths of all cells to the splits; each is made negative, and so seen once."""
    stay_apart()
    cells, in_run, in_stratum = s.cells, s.in_run, s.in_stratum
    for position in range(np.uint64(n_rows)):
        run, stratum = np.uint64(in_run[position]), np.uint64(in_stratum[position])
        if cells[run] > 0:
            _note_split(s, cells[run], -1)
            cells[run] = -cells[run]
        if cells[stratum] > 0:
            _note_split(s, cells[stratum], 1)
            cells[stratum] = -cells[stratum]


@inner
def _add_cells(s, n_rows, wants_lengths):
    """Return rows, fit, strata and length of what was counted, and clear it."""
    stay_apart()
    cells, in_run, in_stratum, own = s.cells, s.in_run, s.in_stratum, s.length_class[s.target]
    entropy, is_tabled = s.entropy, s.n_rows < s.entropy.size
    fit = strata = length = total = np.int64(0)
    for position in range(np.uint64(n_rows)):
        run, stratum = np.uint64(in_run[position]), np.uint64(in_stratum[position])
        n, m = abs(cells[run]), abs(cells[stratum])
        cells[run], cells[stratum] = np.int32(0), np.int32(0)
        if is_tabled:
            fit += entropy[np.uint64(n)] - entropy[np.uint64(m)]
        else:
            fit += entropy_of(s, n) - entropy_of(s, m)
        total += m
        strata += m > 0
        if wants_lengths:
            length += length_of(s, m, own)
    return total, fit, strata, length
