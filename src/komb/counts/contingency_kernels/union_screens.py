"""The kernel of large sweeps: counts all unions of given sets with larger columns, keeps a few.

A sweep has millions of unions and finds a handful of dependences. So the kernel does not hand over
sums for others to look through: it compares each union's fit with the smallest that any of its
tests needs to be a dependence, and lists only the unions that reach it.

It counts by popcount, ``LANES`` columns at a time: their bitmaps are interleaved, word by word, so
that one vector holds the same word of all of them, and counts come out side by side. A block of
given sets stays in the second-level cache while the interleaved words of one block of columns, in
the first-level cache, are compared with all of them.
"""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from komb.counts.compiling import inner, kernel, merged
from komb.counts.contingency_kernels.bitmaps import count_bits
from komb.counts.contingency_kernels.lanes import (
    LANES,
    add_common_bits,
    add_common_bits_twice,
    add_lanes,
    sum_terms,
)

WORDS_AT_ONCE = 128  # of one bitmap; with some levels and all lanes they fill a first-level cache


class Pool(NamedTuple):
    """The columns of a sweep, all with bitmaps, numbered in the order in which they stand here."""

    bitmaps: Any  # [level, word]; see ``Prepared``
    level_counts: Any  # [level, y]
    segments: Any
    level_start: Any  # [column]: its first bitmap
    levels: Any  # [column]
    is_asked: Any  # [column]: whether it is a candidate
    kind: Any  # [column]: columns of one kind have equally many levels
    has_missing: bool  # whether every test has rows of its own
    entropy: Any  # [n]: n log2 n in fixed point
    binomials: Any  # [k, c]: C(c, k), for ranks of sets


class Bounds(NamedTuple):
    """What a union must reach to be listed."""

    most_cells: int  # unions of more combinations of levels are left to others
    most_strata: int  # given sets of more have no union that is left
    needed_fit: Any  # [kind, rank of a given set]: of a union, for that test; if nothing is missing
    needed_gain: Any  # [(levels of the candidate - 1) x strata]: the same without the set's own fit
    rows_per_combination: float  # with fewer complete rows a union is listed whatever its fit


class Block(NamedTuple):
    """Buffers, one of each for every thread."""

    strata: Any  # [given set of the block, stratum, word], flat
    codes: Any  # [given set, stratum]: its place among all that there could be
    by_y: Any  # [given set, stratum, y, lane], flat: the same in every lane
    n_strata: Any  # [given set]
    combinations: Any  # [given set]: strata that there could be
    any_asked: Any  # [given set]: whether a candidate is in it
    bases: Any  # [given set, member]: rank without that member, before a larger column is added
    lanes: Any  # [level, word, lane], flat
    lane_counts: Any  # [level, y, lane], flat
    tables: Any  # [given set, y, stratum, level, lane], flat
    margin: Any  # [cell, lane], flat
    lane_fits: Any  # [lane]
    own_fit: Any  # [element of the union, lane]
    own_strata: Any
    rows: Any  # [lane]


class Listed(NamedTuple):
    """Unions that reach what one of their tests needs."""

    given: Any  # number of the given set
    candidate: Any
    tests: Any  # bit i: the test of the union's i-th element reaches it
    fit: Any
    tables: Any  # [union, cell]: [code of the given set, y, level], flat; empty if not wanted


@inner
def _rank_rests(t, members, binomials, bases):
    """Rank a given set without each of its members, up to what a larger column will add."""
    for omitted in range(members.size):
        base = 0
        for place in range(members.size):
            if place != omitted:
                base += binomials[place + 1 - (place > omitted), members[place]]
        bases[t, omitted] = base


@inner
def _fill_strata(t, members, most_strata, pool, block):
    """Write the bitmap of every observed stratum of a given set, and count its rows by target."""
    n_words, n_y = pool.bitmaps.shape[1], pool.segments.size - 1
    product = 1
    block.any_asked[t] = False
    for column in members:
        product *= pool.levels[column]
        block.any_asked[t] |= pool.is_asked[column]
    block.combinations[t] = product
    _rank_rests(t, members, pool.binomials, block.bases)
    found = 0
    for code in range(product if product <= most_strata else 0):
        start = np.uint64((t * block.codes.shape[1] + found) * n_words)
        left = code
        for place in range(members.size - 1, -1, -1):
            column = members[place]
            row = np.uint64(pool.level_start[column] + left % pool.levels[column])
            left //= pool.levels[column]
            if place == members.size - 1:
                for word in range(np.uint64(n_words)):
                    block.strata[start + word] = pool.bitmaps[row, word]
            else:
                for word in range(np.uint64(n_words)):
                    block.strata[start + word] &= pool.bitmaps[row, word]
        size = 0
        for y in range(n_y):
            count = np.uint64(0)
            for word in range(np.uint64(pool.segments[y]), np.uint64(pool.segments[y + 1])):
                count += count_bits(block.strata[start + word])
            sink = ((t * block.codes.shape[1] + found) * n_y + y) * LANES
            block.by_y[sink : sink + LANES] = np.int32(count)
            size += np.int64(count)
        block.codes[t, found] = code
        found += size > 0
    block.n_strata[t] = found


@inner
def _fill_lanes(first_column, first_level, n_levels, lo, hi, pool, lanes):
    """Interleave some words of the bitmaps of ``LANES`` columns; what is not there is zero."""
    n_words = np.uint64(hi - lo)
    step, from_word = np.uint64(LANES), np.uint64(lo)
    for level in range(first_level, n_levels):
        for lane in range(LANES):
            column = first_column + lane
            sink = np.uint64(level * (hi - lo) * LANES + lane)
            if column < pool.levels.size and level < pool.levels[column]:
                row = np.uint64(pool.level_start[column] + level)
                for word in range(n_words):
                    lanes[sink] = pool.bitmaps[row, from_word + word]
                    sink += step
            else:
                for _ in range(n_words):
                    lanes[sink] = np.uint64(0)
                    sink += step


@inner
def _fill_lane_counts(first_column, pool, lane_counts):
    """Interleave how often each level of ``LANES`` columns occurs with each level of the target.

    Returns the largest number of levels, and whether any of the columns is a candidate.
    """
    n_y = pool.segments.size - 1
    n_levels, any_asked = 0, False
    for column in range(first_column, min(first_column + LANES, pool.levels.size)):
        n_levels = max(n_levels, pool.levels[column])
        any_asked |= pool.is_asked[column]
    for level in range(n_levels):
        for y in range(n_y):
            for lane in range(LANES):
                column = first_column + lane
                count = np.int32(0)
                if column < pool.levels.size and level < pool.levels[column]:
                    count = pool.level_counts[pool.level_start[column] + level, y]
                lane_counts[(level * n_y + y) * LANES + lane] = count
    return n_levels, any_asked


@merged
def _count(first_stratum, n_counted, n_strata, first_level, n_levels, lo, hi, segments, n_words,
           strata, lanes, table, base):  # fmt: skip
    """Count some words of the strata with each level into ``table[y, stratum, level, lane]``."""
    if lo == 0:
        for cell in range(np.uint64((segments.size - 1) * n_strata * n_levels * LANES)):
            table[np.uint64(base) + cell] = 0
    for y in range(segments.size - 1):
        begin, end = max(lo, segments[y]), min(hi, segments[y + 1])
        if begin >= end:
            continue
        for level in range(first_level, n_levels):
            start = (level * (hi - lo) + begin - lo) * LANES
            place, step = base + (y * n_strata * n_levels + level) * LANES, n_levels * LANES
            first = first_stratum * n_words + begin
            for _ in range(n_counted // 2):
                add_common_bits_twice(strata, first, n_words, lanes, start, end - begin, table,
                                      place, step)  # fmt: skip
                first += 2 * n_words
                place += 2 * step
            if n_counted % 2:
                add_common_bits(strata, first, n_words, lanes, start, end - begin, table, place,
                                step)  # fmt: skip


@merged
def _complete(first_stratum, n_strata, n_levels, n_y, by_y, lane_counts, table, base):
    """Fill in the last stratum and the first level, which follow by subtraction."""
    step = n_levels * LANES
    for y in range(n_y):
        first = base + y * n_strata * step
        for level in range(1, n_levels):
            cell = first + level * LANES
            add_lanes(table, cell + (n_strata - 1) * step, lane_counts, (level * n_y + y) * LANES,
                      table, cell, step, n_strata - 1, -1)  # fmt: skip
        for stratum in range(n_strata):
            cell = first + stratum * step
            start = ((first_stratum + stratum) * n_y + y) * LANES
            add_lanes(table, cell, by_y, start, table, cell + LANES, LANES, n_levels - 1, -1)


@merged
def _fit(n_groups, n_y, table, base, entropy, fits):
    """Sum the fit of each lane of ``table[y, group, lane]``; its totals over ``y`` go behind it."""
    first, step = np.uint64(base), np.uint64(n_groups * LANES)
    end = base + n_y * n_groups * LANES
    totals = np.uint64(end)
    for cell in range(step):
        table[totals + cell] = table[first + cell]
    row = first
    for _ in range(n_y - 1):
        row += step
        for cell in range(step):
            table[totals + cell] += table[row + cell]
    for lane in range(LANES):
        fits[lane] = 0
    sum_terms(table, base, n_y * n_groups, entropy, fits, 1)
    sum_terms(table, end, n_groups, entropy, fits, -1)


@inner
def _sum_margin(omitted, members, levels_of, n_levels, codes, n_strata, n_y, table, base,
                margin):  # fmt: skip
    """Add up a table over one element of the union: ``margin[y, group, lane]``.

    That is what the given set of this element's test has in the rows of the union. Returns how many
    groups there are.
    """
    width = stride = 1
    n_groups = n_strata
    if omitted < members.size:
        width, product = levels_of[members[omitted]], 1
        for place in range(members.size):
            product *= levels_of[members[place]]
            if place > omitted:
                stride *= levels_of[members[place]]
        n_groups = product // width * n_levels
    for cell in range(np.uint64(n_groups * n_y * LANES)):
        margin[cell] = 0
    cell = base
    for y in range(n_y):
        for stratum in range(n_strata):
            code = np.int64(codes[stratum])
            rest = (code // (width * stride) * stride + code % stride) * n_levels
            for level in range(n_levels):
                group = rest + level if omitted < members.size else stratum
                sink = (y * n_groups + group) * LANES
                add_lanes(margin, sink, margin, sink, table, cell, LANES, 1, 1)
                cell += LANES
    return n_groups


@inner
def _sum_own(t, members, n_levels, pool, block, table, base):
    """Fit and strata of the given set of each test, and the rows of the union, for all lanes."""
    n_y = pool.segments.size - 1
    margin, own_strata, rows = block.margin, block.own_strata, block.rows
    for omitted in range(members.size + 1):
        n_groups = _sum_margin(omitted, members, pool.levels, n_levels, block.codes[t],
                               block.n_strata[t], n_y, table, base, margin)  # fmt: skip
        _fit(n_groups, n_y, margin, 0, pool.entropy, block.own_fit[omitted])
        totals = n_y * n_groups * LANES
        for lane in range(LANES):
            n_rows = n_strata = 0
            for group in range(n_groups):
                size = margin[totals + group * LANES + lane]
                n_rows += size
                n_strata += size > 0
            own_strata[omitted, lane] = n_strata
            rows[lane] = n_rows


@merged
def _reached(t, index, sets, x, fit, is_asked, kind, bases, added, needed_fit):
    """Which tests of a union reach what they need, if every test has all rows."""
    tests = np.int64(0)
    size, row, x = np.uint64(sets.shape[1]), np.uint64(index), np.uint64(x)
    for omitted in range(size):
        column = np.uint64(sets[row, omitted])
        rank = np.uint64(bases[np.uint64(t), omitted] + added[x])
        needed = needed_fit[np.uint64(kind[column]), rank]
        if fit >= needed and is_asked[column]:
            tests |= np.int64(1) << np.int64(omitted)
    if fit >= needed_fit[np.uint64(kind[x]), row] and is_asked[x]:
        tests |= np.int64(1) << np.int64(size)
    return tests


@merged
def _reached_present(index, sets, x, lane, fit, is_thin, is_asked, levels, needed_gain, own_fit,
                     own_strata):  # fmt: skip
    """Which tests of a union reach what they need, if every test has rows of its own."""
    tests = np.int64(0)
    for omitted in range(sets.shape[1] + 1):
        column = sets[index, omitted] if omitted < sets.shape[1] else x
        freedom = (levels[column] - 1) * own_strata[omitted, lane]
        gain = fit - own_fit[omitted, lane]
        if is_asked[column] and (is_thin or gain >= needed_gain[freedom]):
            tests |= np.int64(1) << omitted
    return tests


@inner
def _screen_block(first_column, sets, first, last, pool, bounds, block, listed, n_counted,
                  n_listed):  # fmt: skip
    """List the unions of some given sets with ``LANES`` columns; returns both numbers, grown."""
    # taken out of their tuples once: every access through a tuple counts references
    segments, entropy, levels, is_asked = pool.segments, pool.entropy, pool.levels, pool.is_asked
    has_missing, kind, added = pool.has_missing, pool.kind, pool.binomials[sets.shape[1]]
    needed_fit, needed_gain, most_cells = bounds.needed_fit, bounds.needed_gain, bounds.most_cells
    strata, n_strata_of, by_y, bases = block.strata, block.n_strata, block.by_y, block.bases
    lanes, lane_counts, table, fits = block.lanes, block.lane_counts, block.tables, block.lane_fits
    combinations, set_asked, rows = block.combinations, block.any_asked, block.rows
    own_fit, own_strata, most_strata = block.own_fit, block.own_strata, block.codes.shape[1]
    n_words, n_y, size = pool.bitmaps.shape[1], segments.size - 1, sets.shape[1]
    table_size = table.size // n_strata_of.size if n_words > WORDS_AT_ONCE else 0
    end_column = min(first_column + LANES, levels.size)
    first_level = np.int64(not has_missing)
    n_levels, any_asked = _fill_lane_counts(first_column, pool, lane_counts)
    for lo in range(0, n_words, WORDS_AT_ONCE):
        hi = min(lo + WORDS_AT_ONCE, n_words)
        _fill_lanes(first_column, first_level, n_levels, lo, hi, pool, lanes)
        for index in range(first, last):
            t = index - first
            begin = max(first_column, sets[index, size - 1] + 1)
            is_wanted = begin < end_column and combinations[t] <= bounds.most_strata
            if not (is_wanted and (any_asked or set_asked[t])):
                continue
            n_strata, base = n_strata_of[t], t * table_size
            first_stratum = t * most_strata
            _count(first_stratum, n_strata - (not has_missing), n_strata, first_level, n_levels,
                   lo, hi, segments, n_words, strata, lanes, table, base)  # fmt: skip
            if hi < n_words:
                continue
            if has_missing:
                _sum_own(t, sets[index], n_levels, pool, block, table, base)
            else:
                _complete(first_stratum, n_strata, n_levels, n_y, by_y, lane_counts, table, base)
            _fit(n_strata * n_levels, n_y, table, base, entropy, fits)
            for x in range(begin, end_column):
                cells, lane = combinations[t] * levels[x], x - first_column
                if cells > most_cells or not (set_asked[t] or is_asked[x]):
                    continue
                n_counted += 1
                if has_missing:
                    is_thin = rows[lane] < bounds.rows_per_combination * cells
                    tests = _reached_present(index, sets, x, lane, fits[lane], is_thin, is_asked,
                                             levels, needed_gain, own_fit, own_strata)  # fmt: skip
                else:
                    tests = _reached(t, index, sets, x, fits[lane], is_asked, kind, bases, added,
                                     needed_fit)  # fmt: skip
                if tests:
                    _put(n_listed, index, x, tests, fits[lane], listed)
                    _put_table(n_listed, combinations[t], block.codes[t], n_strata, n_levels,
                               levels[x], n_y, table, base + lane, listed.tables)  # fmt: skip
                    n_listed += 1
    return n_counted, n_listed


@inner
def _put(place, index, x, tests, fit, listed):
    """List one union."""
    listed.given[place] = index
    listed.candidate[place] = x
    listed.tests[place] = tests
    listed.fit[place] = fit


@inner
def _put_table(place, product, codes, n_strata, n_levels, levels, n_y, table, first, tables):
    """Write down the table of one union, out of its lane, if tables are wanted."""
    if tables.shape[0] == 0:
        return
    for cell in range(np.uint64(product * n_y * levels)):
        tables[place, cell] = 0
    for y in range(n_y):
        for stratum in range(n_strata):
            source = first + (y * n_strata + stratum) * n_levels * LANES
            sink = (np.int64(codes[stratum]) * n_y + y) * levels
            for level in range(levels):
                tables[place, sink + level] = table[source + level * LANES]


@kernel
def screen_unions(sets, first, last, first_column, end_column, pool, bounds, block, listed):
    """List the unions of ``sets[first:last]`` with larger columns that may hold a dependence.

    Columns are those from ``first_column``, a multiple of ``LANES``, to before ``end_column``, a
    multiple too or the number of columns. Returns how many unions were counted, and how many are
    listed.
    """
    n_counted = n_listed = np.int64(0)
    size, n_sets = sets.shape[1], block.n_strata.size
    for tile in range(first, last, n_sets):
        tile_end = min(tile + n_sets, last)
        smallest = pool.levels.size
        for index in range(tile, tile_end):
            _fill_strata(index - tile, sets[index], bounds.most_strata, pool, block)
            smallest = min(smallest, sets[index, size - 1])
        begin = max(first_column, (smallest + 1) // LANES * LANES)
        for column in range(begin, end_column, LANES):
            n_counted, n_listed = _screen_block(column, sets, tile, tile_end, pool, bounds, block,
                                                listed, n_counted, n_listed)  # fmt: skip
    return n_counted, n_listed
