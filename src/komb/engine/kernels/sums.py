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

from komb.counts.compiling import inner, stay_apart
from komb.engine.kernels.groups import write_codes
from komb.engine.kernels.places import (
    BUILT,
    COLUMN,
    DENSE,
    FIT,
    FREEDOM,
    LENGTH,
    LINE,
    N_GIVEN,
    N_STRATA,
    OWN_FIT,
    OWN_LENGTH,
    OWN_STRATA,
    ROWS,
    STRATA,
    WAY,
)
from komb.engine.kernels.rows import clear

MOST_TAGS = 1 << 31


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
        _sum_dense(s, wants_lengths)
        if wants_own:
            _sum_own_dense(s, wants_lengths)
    else:
        _sum_sparse(s, wants_lengths, wants_own)
    if wants_own and wants_lengths:
        _add_small_splits(s)


@inner
def _sum_dense(s, wants_lengths):
    """Sum over the dense table [stratum, x, y]."""
    stay_apart()
    table, n_y, n_x, own = s.table, s.n_y, s.levels[s.counted[COLUMN]], s.length_class[s.target]
    fit = strata = length = np.int64(0)
    cell = np.uint64(0)
    for z in range(s.counted[N_STRATA]):
        x_seen = np.int64(0)
        for _ in range(n_x):
            total = np.int32(0)
            for _ in range(n_y):
                n = table[cell]
                cell += np.uint64(1)
                fit += entropy_of(s, n)
                total += n
            fit -= entropy_of(s, total)
            x_seen += total > 0
            if wants_lengths:
                length += length_of(s, total, own)
        strata += x_seen
        if s.is_adjusted:
            s.x_seen[z] = x_seen
    s.sums[FIT], s.sums[STRATA], s.sums[LENGTH] = fit, strata, length


@inner
def _sum_own_dense(s, wants_lengths):
    """Sum over the margin [stratum, y] of the dense table, and sum degrees of freedom."""
    stay_apart()
    table, n_y, n_x, own = s.table, s.n_y, s.levels[s.counted[COLUMN]], s.length_class[s.target]
    rows = fit = strata = length = freedom = np.int64(0)
    for z in range(s.counted[N_STRATA]):
        size, y_seen = np.int32(0), np.int64(0)
        for y in range(n_y):
            cell, total = np.uint64(z * n_x * n_y + y), np.int32(0)
            for _ in range(n_x):
                total += table[cell]
                cell += np.uint64(n_y)
            fit += entropy_of(s, total)
            y_seen += total > 0
            size += total
            if wants_lengths:
                _note_split(s, total, -1)
        fit -= entropy_of(s, size)
        rows += size
        strata += size > 0
        if wants_lengths:
            length += length_of(s, size, own)
            _note_split(s, size, 1)
        if s.is_adjusted and size > 0:
            freedom += (y_seen - 1) * np.int64(s.x_seen[z] - 1)
    sums = s.sums
    sums[ROWS], sums[OWN_FIT], sums[OWN_STRATA], sums[OWN_LENGTH] = rows, fit, strata, length
    sums[FREEDOM] = freedom


@inner
def _note_split(s, n, times):
    """Add code lengths of n rows to all splits; small numbers, which are many, are counted first."""
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
def _sum_sparse(s, wants_lengths, wants_own):
    """Sum over grouped rows."""
    stay_apart()
    sums, line, column = s.sums, s.counted[LINE], s.counted[COLUMN]
    first, size, n_alone = s.counted[BUILT], s.counted[N_GIVEN], s.n_alone[s.counted[LINE]]
    alone = np.int64(0)
    if wants_lengths:
        alone = n_alone * length_of(s, 1, s.length_class[s.target])
    n_marked = s.n_groups[line] if s.is_adjusted else 0
    clear(s.x_seen, n_marked)
    clear(s.y_seen, n_marked)
    if wants_own:
        n_rows = write_codes(s, line, first, size, column, False)
        rows, fit, strata, length = _scan(s, line, n_rows, False, wants_lengths)
        sums[ROWS], sums[OWN_FIT] = rows + n_alone, fit
        sums[OWN_STRATA], sums[OWN_LENGTH] = strata + n_alone, length + alone
    n_rows = write_codes(s, line, first, size, column, True)
    _, fit, strata, length = _scan(s, line, n_rows, True, wants_lengths)
    sums[FIT], sums[STRATA], sums[LENGTH] = fit, strata + n_alone, length + alone
    sums[FREEDOM] = 0
    for stratum in range(np.uint64(n_marked)):
        if s.y_seen[stratum] > 0:
            sums[FREEDOM] += np.int64(s.y_seen[stratum] - 1) * np.int64(s.x_seen[stratum] - 1)


@inner
def _begin_tags(s, line):
    """Return the first of as many tags as there are runs, none of which is in ``tags``."""
    first = s.next_tag[0]
    if first + s.n_runs[line] >= MOST_TAGS:
        first = np.int64(1)
        for code in range(s.tags.shape[0]):
            s.tags[code, 0] = s.tags[code, 1] = 0
    s.next_tag[0] = first + s.n_runs[line] + 1
    return first


@inner
def _scan(s, line, n_rows, is_union, wants_lengths):
    """Return rows, fit, strata and length of the sets of grouped rows with the same code.

    Counts of a code, in the present stratum and run, have a tag that says which these are, so they
    need not be cleared.
    """
    stay_apart()
    tags, codes, stratum_of, run_of = s.tags, s.row_codes, s.stratum_of[line], s.run_of[line]
    rows, weight, own = s.grouped_rows[line], s.sorted_weight, s.length_class[s.target]
    is_weighted, marks, splits = weight.size > 0, s.is_adjusted, wants_lengths and not is_union
    fit = strata = length = total = np.int64(0)
    first, mask = _begin_tags(s, line), np.int64(MOST_TAGS - 1)
    for position in range(np.uint64(n_rows)):
        if codes[position] < 0:
            continue
        code, stratum = np.uint64(codes[position]), stratum_of[position]
        own_tag, run_tag = first + np.int64(stratum), first + np.int64(run_of[position])
        in_stratum, in_run = tags[code, 0], tags[code, 1]
        m = in_stratum & mask if in_stratum >> 31 == own_tag else np.int64(0)
        n = in_run & mask if in_run >> 31 == run_tag else np.int64(0)
        w = np.int64(weight[np.uint64(rows[position])]) if is_weighted else np.int64(1)
        tags[code, 0], tags[code, 1] = own_tag << 31 | (m + w), run_tag << 31 | (n + w)
        fit += entropy_of(s, n + w) - entropy_of(s, n) - entropy_of(s, m + w) + entropy_of(s, m)
        total += w
        strata += m == 0
        if wants_lengths:
            length += length_of(s, m + w, own) - length_of(s, m, own)
        if splits:
            _note_split(s, n, 1)
            _note_split(s, n + w, -1)
            _note_split(s, m, -1)
            _note_split(s, m + w, 1)
        if marks and is_union:
            s.x_seen[stratum] += m == 0
        elif marks:
            s.y_seen[stratum] += n == 0
    return total, fit, strata, length
