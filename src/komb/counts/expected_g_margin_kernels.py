"""Compiled loops that count the margins of a test, which is what the moments of G depend on.

The levels of the candidate and of the target are counted in each stratum of the given set: by
popcount or in a dense table, as in :mod:`~komb.counts.contingency_kernels`, or else, and wherever
values are missing, row by row after sorting the rows by stratum.
"""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

from typing import Any

import numpy as np

from komb.counts.compiling import inner, kernel, stay_apart
from komb.counts.contingency_kernels.bitmaps import (
    count_by_popcount,
    count_strata,
    fill_strata,
    shared_prefix,
)
from komb.counts.contingency_kernels.buffers import MAX_DENSE_CELLS
from komb.counts.contingency_kernels.costs import (
    COST_LABELLING_ROW,
    HISTOGRAM,
    POPCOUNT,
    cheapest,
    size_up,
)
from komb.counts.contingency_kernels.dense_tables import count_by_histogram, fill_base
from komb.counts.expected_g_kernels import add_size, add_stratum
from komb.counts.records import Record

_KEYS_AT_MOST = 1 << 62  # combined codes stay below
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: spreads keys evenly

# places of ``Strata.counts``
N_STRATA = 0


class Strata(Record):
    """Rows by stratum of a given set, without strata that have a single row or target level."""

    counts: Any
    keys: Any  # [row]: combined codes, then the stratum; -1 if left out
    starts: Any  # [stratum]: first of ``rows``
    rows: Any
    target_codes: Any  # of these rows
    slots: Any  # of a hash table: keys
    slot_labels: Any


class Levels(Record):
    """Room to count the levels of a stratum."""

    counts: Any  # [variable, code]: all zero between uses
    seen: Any  # [number]: code
    sizes: Any  # [variable, row, number]: different sizes in ascending order, and what they give
    by_y: Any  # dense [stratum, y]
    first: Any  # [column]: place of its first level in ``of_column``
    is_counted: Any  # [column]
    of_column: Any  # rows of each level of the columns that are counted, if all are complete


@inner
def _number_keys(n_keys, strata):
    """Replace keys by numbers, in order of first occurrence; returns how many there are."""
    keys, slots, slot_labels = strata.keys, strata.slots, strata.slot_labels
    is_direct = n_keys <= slots.size
    mask = np.uint64(slots.size - 1)
    for slot in range(min(n_keys, slots.size)):
        slots[slot] = -1
    n_labels = 0
    for row in range(keys.size):
        key = keys[row]
        if key < 0:
            continue
        slot = np.uint64(key)
        if not is_direct:
            slot = (slot * _FACTOR >> np.uint64(32)) & mask
            while slots[slot] != key and slots[slot] >= 0:
                slot = (slot + np.uint64(1)) & mask
        if slots[slot] < 0:
            slots[slot] = key
            slot_labels[slot] = n_labels
            n_labels += 1
        keys[row] = slot_labels[slot]
    return n_labels


@inner
def _label_rows(given, prepared, strata):
    """Write the stratum of every row into ``keys``; returns how many there are."""
    keys = strata.keys
    y_codes, y_width = prepared.codes[prepared.target], prepared.cardinalities[prepared.target]
    for row in range(keys.size):
        keys[row] = 0 if y_codes[row] < y_width else -1
    n_keys = np.int64(1)
    for column in given:
        width = prepared.cardinalities[column]
        if n_keys > _KEYS_AT_MOST // max(width, 1):  # a column of missing values has no level
            n_keys = np.int64(_number_keys(n_keys, strata))
        codes = prepared.codes[column]
        for row in range(keys.size):
            code = np.int64(codes[row])
            keys[row] = keys[row] * width + code if keys[row] >= 0 and code < width else -1
        n_keys *= width
    return _number_keys(n_keys, strata)


@inner
def _group_rows(given, prepared, strata):
    """Group the rows by stratum of ``given``; strata in which nothing can vary are left out."""
    keys, starts, rows, target_codes = strata.keys, strata.starts, strata.rows, strata.target_codes
    y_codes = prepared.codes[prepared.target]
    n_strata = _label_rows(given, prepared, strata)
    for stratum in range(n_strata + 1):
        starts[stratum] = 0
    for row in range(keys.size):
        if keys[row] >= 0:
            starts[keys[row] + 1] += 1
    for stratum in range(n_strata):
        starts[stratum + 1] += starts[stratum]
    for row in range(keys.size):
        if keys[row] >= 0:
            place = starts[keys[row]]
            rows[place] = row
            target_codes[place] = y_codes[row]
            starts[keys[row]] += 1
    _keep_varying(n_strata, strata)


@inner
def _keep_varying(n_strata, strata):
    """Leave out the strata in which the target has one level only."""
    starts, rows, target_codes = strata.starts, strata.rows, strata.target_codes
    kept = end = lo = 0
    for stratum in range(n_strata):
        hi = starts[stratum]
        varies = False
        for place in range(lo + 1, hi):
            varies |= target_codes[place] != target_codes[lo]
        if varies:
            starts[kept] = end
            kept += 1
            for place in range(lo, hi):
                rows[end] = rows[place]
                target_codes[end] = target_codes[place]
                end += 1
        lo = hi
    starts[kept] = end
    strata.counts[N_STRATA] = kept


@inner
def _count_stratum(lo, hi, x, x_width, strata, levels):
    """Count both variables in a stratum; returns its complete rows, levels of x and of y."""
    rows, target_codes = strata.rows, strata.target_codes
    x_counts, y_counts = levels.counts[0], levels.counts[1]
    x_seen, y_seen = levels.seen[0], levels.seen[1]
    n = n_x = n_y = 0
    for place in range(lo, hi):
        x_code = np.uint64(x[np.uint64(rows[np.uint64(place)])])
        if x_code >= x_width:
            continue
        y_code = np.uint64(target_codes[np.uint64(place)])
        if x_counts[x_code] == 0:
            x_seen[n_x] = x_code
            n_x += 1
        if y_counts[y_code] == 0:
            y_seen[n_y] = y_code
            n_y += 1
        x_counts[x_code] += 1
        y_counts[y_code] += 1
        n += 1
    return n, n_x, n_y


@inner
def _list_seen(n_seen, counts, seen, sizes):
    """List the different sizes of levels, and empty ``counts``; returns how many there are."""
    found = 0
    for number in range(n_seen):
        found = add_size(float(counts[seen[number]]), found, sizes)
        counts[seen[number]] = 0
    return found


@inner
def _sum_by_rows(x, x_width, strata, levels, cells, moments):
    """Sum the moments over strata whose rows are together."""
    x_sizes, y_sizes = levels.sizes[0], levels.sizes[1]
    for stratum in range(strata.counts[N_STRATA]):
        lo, hi = strata.starts[stratum], strata.starts[stratum + 1]
        n_rows, n_x, n_y = _count_stratum(lo, hi, x, x_width, strata, levels)
        different_x = _list_seen(n_x, levels.counts[0], levels.seen[0], x_sizes)
        different_y = _list_seen(n_y, levels.counts[1], levels.seen[1], y_sizes)
        if n_x > 1 and n_y > 1:
            add_stratum(n_rows, different_x, x_sizes, different_y, y_sizes, cells, moments)


@inner
def _list_dense(counts, first, n_levels, sizes):
    """List the different sizes of the levels of a stratum; returns these, levels and rows."""
    found = n_seen = n_rows = 0
    for cell in range(np.uint64(first), np.uint64(first + n_levels)):
        if counts[cell] > 0:
            found = add_size(float(counts[cell]), found, sizes)
            n_seen += 1
            n_rows += counts[cell]
    return found, n_seen, n_rows


@inner
def _sum_by_margins(n_strata, n_x, by_x, n_y, by_y, levels, cells, moments):
    """Sum the moments over dense tables of the strata with each of the two variables."""
    stay_apart()
    x_sizes, y_sizes = levels.sizes[0], levels.sizes[1]
    for stratum in range(n_strata):
        different_y, y_seen, n_rows = _list_dense(by_y, stratum * n_y, n_y, y_sizes)
        if y_seen < 2:
            continue
        different_x, x_seen, _ = _list_dense(by_x, stratum * n_x, n_x, x_sizes)
        if x_seen > 1:
            add_stratum(n_rows, different_x, x_sizes, different_y, y_sizes, cells, moments)


@inner
def _count_levels(depth, n_strata, levels, first_bitmap, prepared, scratch, totals, all_words):
    """Fill ``table[stratum, x]`` from bitmaps, as if the target had one level."""
    n_y = prepared.level_counts.shape[1]
    for bitmap in range(first_bitmap, first_bitmap + levels):
        totals[bitmap, 0] = prepared.level_counts[bitmap].sum()
    for stratum in range(n_strata):
        scratch.sizes[stratum] = scratch.by_y[stratum * n_y : (stratum + 1) * n_y].sum()
    count_by_popcount(depth, n_strata, levels, first_bitmap, scratch.strata, scratch.sizes,
                      prepared.bitmaps, totals, all_words, False, False, scratch.table)  # fmt: skip


@inner
def _count_column(column, prepared, levels):
    """Count once how many rows each level of a complete column has; returns where that is."""
    first, end = levels.first[column], levels.first[column + 1]
    counts = levels.of_column[first:end]
    if not levels.is_counted[column]:
        for code in prepared.codes[column]:
            counts[np.uint64(code)] += 1
        levels.is_counted[column] = True
    return first, end


@kernel
def sum_moments(prepared, has_missing, scratch, strata, levels, cells, given, index, candidates,
                totals, all_words, moments):  # fmt: skip
    """Sum the mean and the variance of half of G over the strata of each test.

    Test ``j`` is that of ``candidates[j]`` given ``given[index[j]]``. ``moments[j]`` gets whole
    numbers and ``FRACTION``s of the two. Tests with the same given set should follow one another.
    ``totals`` is scratch; ``all_words`` are the first word of the bitmaps and the end.
    """
    n_rows, n_words = prepared.codes.shape[1], prepared.bitmaps.shape[1]
    n_y, n_given = prepared.cardinalities[prepared.target], given.shape[1]
    last = last_packed = np.int64(-1)
    n_strata = product = np.int64(0)
    is_packed = has_base = has_groups = False
    for j in range(candidates.size):
        if index[j] != last and (n_given > 0 or has_missing):
            last = index[j]
            has_base = has_groups = is_packed = False
            if not has_missing:
                product, is_packed = size_up(given[last], prepared, scratch)
                n_strata = product
            if is_packed:
                shared = shared_prefix(given, last, last_packed)
                n_strata = fill_strata(given[last], shared, prepared, scratch)
                count_strata(n_given, prepared, scratch)
                last_packed = last
        moments[j] = 0
        column = candidates[j]
        if n_given == 0 and not has_missing:
            first, end = _count_column(column, prepared, levels)
            first_y, end_y = _count_column(prepared.target, prepared, levels)
            by_x, by_y = levels.of_column[first:end], levels.of_column[first_y:end_y]
            _sum_by_margins(1, by_x.size, by_x, n_y, by_y, levels, cells, moments[j])
            continue
        x, n_x = prepared.codes[column], prepared.cardinalities[column]
        can_and = is_packed and prepared.level_start[column] >= 0
        way = cheapest(n_strata, product, n_x, 1, n_rows, n_words, can_and, COST_LABELLING_ROW)
        if can_and and way == POPCOUNT:
            _count_levels(n_given, n_strata, n_x, prepared.level_start[column], prepared, scratch,
                          totals, all_words)  # fmt: skip
            _sum_by_margins(n_strata, n_x, scratch.table, n_y, scratch.by_y, levels, cells,
                            moments[j])  # fmt: skip
        elif not has_missing and way == HISTOGRAM and product * n_y <= MAX_DENSE_CELLS:
            if not has_base:
                fill_base(given[last], 0, prepared, scratch.row_base)
                count_by_histogram(scratch.row_base, prepared.codes[prepared.target], n_y,
                                   product * n_y, levels.by_y)  # fmt: skip
                has_base = True
            count_by_histogram(scratch.row_base, x, n_x, product * n_x, scratch.table)
            _sum_by_margins(product, n_x, scratch.table, n_y, levels.by_y, levels, cells,
                            moments[j])  # fmt: skip
        else:
            if not has_groups:
                _group_rows(given[last], prepared, strata)
                has_groups = True
            _sum_by_rows(x, np.uint64(n_x), strata, levels, cells, moments[j])
