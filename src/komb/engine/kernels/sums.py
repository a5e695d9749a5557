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
from komb.engine.kernels.counting import write_keys
from komb.engine.kernels.places import (
    COLUMN,
    DENSE,
    DEPTH,
    FIT,
    FREEDOM,
    LENGTH,
    N_STRATA,
    OWN_FIT,
    OWN_LENGTH,
    OWN_STRATA,
    ROWS,
    STRATA,
    WAY,
    WIDTH,
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

    With lengths, the splits of the given set are summed as well.
    """
    if s.counted[WAY] == DENSE:
        _sum_dense(s, wants_lengths)
        if wants_lengths and wants_own:
            _split_dense(s)
    else:
        _sum_sparse(s, wants_lengths, wants_own)


@inner
def _sum_dense(s, wants_lengths):
    """Sum over the dense table [stratum, y, x]."""
    stay_apart()
    table, by_x, n_y, width = s.table, s.column_sums, s.n_y, s.counted[WIDTH]
    n_x, own, sums = s.levels[s.counted[COLUMN]], s.length_class[s.target], s.sums
    rows = own_fit = own_strata = own_length = np.int64(0)
    fit = strata = length = freedom = np.int64(0)
    for z in range(s.counted[N_STRATA]):
        clear(by_x, n_x)
        size, y_seen, x_seen = np.int32(0), np.int64(0), np.int64(0)
        for y in range(n_y):
            first, total = np.uint64((z * n_y + y) * width), np.int32(0)
            for x in range(np.uint64(n_x)):
                n = table[first + x]
                fit += entropy_of(s, n)
                by_x[x] += n
                total += n
            own_fit += entropy_of(s, total)
            y_seen += total > 0
            size += total
        if size == 0:
            continue
        for x in range(np.uint64(n_x)):
            n = by_x[x]
            fit -= entropy_of(s, n)
            x_seen += n > 0
            if wants_lengths:
                length += length_of(s, n, own)
        if wants_lengths:
            own_length += length_of(s, size, own)
        own_fit -= entropy_of(s, size)
        rows += size
        own_strata += 1
        strata += x_seen
        freedom += (y_seen - 1) * (x_seen - 1)
    sums[ROWS], sums[OWN_FIT], sums[OWN_STRATA], sums[OWN_LENGTH] = rows, own_fit, own_strata, own_length
    sums[FIT], sums[STRATA], sums[LENGTH], sums[FREEDOM] = fit, strata, length, freedom


@inner
def _split_dense(s):
    """Sum what a code of each length class would save beyond the fit if it knew the target."""
    stay_apart()
    table, n_y, width, n_x = s.table, s.n_y, s.counted[WIDTH], s.levels[s.counted[COLUMN]]
    clear(s.splits, s.splits.size)
    for z in range(s.counted[N_STRATA]):
        size = np.int32(0)
        for y in range(n_y):
            first, total = np.uint64((z * n_y + y) * width), np.int32(0)
            for x in range(np.uint64(n_x)):
                total += table[first + x]
            size += total
            _note_split(s, total, -1)
        _note_split(s, size, 1)
    _add_small_splits(s)


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
    """Sum over the rows of a test whose table would be too large."""
    stay_apart()
    write_keys(s)
    sums, n_alone = s.sums, s.n_alone[s.counted[DEPTH]]
    alone = np.int64(0)
    if wants_lengths:
        alone = n_alone * length_of(s, 1, s.length_class[s.target])
    if wants_own:
        clear(s.splits, s.splits.size)
        rows, fit, strata, length = _sum_rows(s, s.own_keys, False, wants_lengths)
        _add_small_splits(s)
        sums[ROWS], sums[OWN_FIT] = rows + n_alone, fit
        sums[OWN_STRATA], sums[OWN_LENGTH] = strata + n_alone, length + alone
    rows, fit, strata, length = _sum_rows(s, s.keys, True, wants_lengths)
    sums[FIT], sums[STRATA], sums[LENGTH] = fit, strata + n_alone, length + alone
    sums[FREEDOM] = 0
    for place in range(np.uint64(s.first_key[s.n_y] if s.is_adjusted else 0)):
        label = np.uint64(s.own_keys[place])
        if s.y_seen[label] > 0:
            sums[FREEDOM] += np.int64(s.y_seen[label] - 1) * np.int64(s.x_seen[label] - 1)
        s.y_seen[label] = s.x_seen[label] = 0


@inner
def _sum_rows(s, keys, is_union, wants_lengths):
    """Return rows, fit, strata and length of the sets of rows with the same key.

    The first row of a set takes its count and clears it: of nothing all terms are 0.
    """
    stay_apart()
    cells, totals, weight, own = s.cells, s.totals, s.key_weight, s.length_class[s.target]
    labels, y_seen, x_seen = s.own_keys, s.y_seen, s.x_seen
    is_weighted, marks_y = weight.size > 0, s.is_adjusted and not is_union
    marks_x, splits = s.is_adjusted and is_union, wants_lengths and not is_union
    n_rows = fit = strata = length = np.int64(0)
    for y in range(s.n_y):
        low, high = np.uint64(s.first_key[y]), np.uint64(s.first_key[y + 1])
        for place in range(low, high):
            cells[np.uint64(keys[place])] += weight[place] if is_weighted else np.int32(1)
        for place in range(low, high):
            key = np.uint64(keys[place])
            n = cells[key]
            cells[key] = 0
            totals[key] += n
            fit += entropy_of(s, n)
            if splits:
                _note_split(s, n, -1)
            if marks_y:
                y_seen[np.uint64(labels[place])] += n > 0
    for place in range(np.uint64(s.first_key[s.n_y])):
        key = np.uint64(keys[place])
        n = totals[key]
        totals[key] = 0
        n_rows += n
        strata += n > 0
        fit -= entropy_of(s, n)
        if wants_lengths:
            length += length_of(s, n, own)
        if splits:
            _note_split(s, n, 1)
        if marks_x:
            x_seen[np.uint64(labels[place])] += n > 0
    return n_rows, fit, strata, length
