"""The kernel of the search for groups: counts all groups of a size, lists those that may interact.

A group is a *prefix* of all its columns but two, and a pair of larger columns. Rows are put in the
order of the classes of the target and, inside of these, of the strata of the prefix; each stratum
begins at a whole word. In that order every larger column is packed into bitmaps once, and the pairs
cost a popcount per word of a bitmap, which is as long as the table: the strata of the prefix are
not counted one by one. ``LANES`` columns are counted side by side.

Of each group it takes what its cells explain of the responses, a weighted sum of squares, and, of
what exceeds its need, the part that no smaller group explains: with ``C`` the contrasts that every
table without interaction has zero, ``m`` the means of the cells and ``V`` one over their rows, it
is ``(Cm)' (C V C')^-1 (Cm)``. A cell with too few rows gets a parameter of its own, which is a
variance without bound; the pivots say how many contrasts are left.
"""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

from typing import Any

import numpy as np

from komb.engine.compiling import inner, kernel
from komb.engine.kernels.bits import count_bits
from komb.engine.kernels.lanes import (
    LANES,
    add_common_bits,
    add_common_bits_twice,
    add_squares,
    match_codes,
    subtract,
)
from komb.engine.records import Record

TESTED, LISTED = range(2)  # places of ``Block.found``

UNKNOWN = 1e9  # variance of a cell with too few rows, and what a pivot with one exceeds
_HUGE = 1e5


class Groups(Record):
    """The columns that groups are made of, and what a group needs to be listed."""

    codes: Any  # [column, row]: above its levels where missing; the row after the last has none
    order: Any  # [place]: row, by class; a row may be in several of them
    classes: Any  # [class]: its first place, and the end of the last
    levels: Any  # [column]
    n_codes: Any  # [column]: with a missing value
    first_bitmap: Any  # [column]: none for the first level
    prefixes: Any  # [prefix, element], ascending
    weights: Any  # [1 + response, class], flat: of the rows, and of each response
    n_responses: int
    has_missing: bool
    is_saturated: bool  # whether associations are listed, not interactions
    least_rows: float  # in a cell with no parameter of its own
    most_cells: int  # larger groups are left out
    needed: Any  # [contrasts]: least statistic that is listed
    needed_bound: Any  # [contrasts of a full table]: below it no group is tested


class Block(Record):
    """Buffers, one of each for every thread."""

    stratum_of: Any  # [place]
    tally: Any  # [stratum]
    rows: Any  # [bit]: row, in the order of the bitmaps
    words: Any  # [segment]: first word of a stratum in a class, and their end
    sizes: Any  # [segment]: rows
    gathered: Any  # [bit]: codes of one column
    bitmaps: Any  # [bitmap, word], flat
    margins: Any  # [bitmap, segment], flat
    explained: Any  # [column]: by the prefix with this column
    lanes: Any  # [level, word, lane], flat
    lane_margins: Any  # [level, segment, lane], flat
    row_margins: Any  # [level, segment, lane], flat: the same in every lane
    table: Any  # [segment, level, level, lane], flat
    sums: Any  # [lane]
    variances: Any  # [cell]
    means: Any  # [response, cell]
    sizes_of: Any  # [element]: levels of the group's columns
    strides: Any  # [element]
    contrasts: Any  # [contrast, element]
    system: Any  # [contrast, contrast]
    right: Any  # [response, contrast]
    packed: Any  # prefix whose bitmaps these are, and how many strata it has
    found: Any  # see TESTED and following


@inner
def _sort_rows(s, b, prefix):
    """Sort the rows of each class by the strata of a prefix; returns how many strata it has."""
    members, n_classes, n_strata, word = s.prefixes[prefix], s.classes.size - 1, 1, 0
    for element in range(members.size):
        n_strata *= s.levels[members[element]]
    for y in range(n_classes):
        b.tally[:n_strata] = 0
        for place in range(s.classes[y], s.classes[y + 1]):
            stratum = 0
            for element in range(members.size):
                column = members[element]
                code = np.int64(s.codes[column, s.order[place]])
                is_known = stratum >= 0 and code < s.levels[column]
                stratum = stratum * s.levels[column] + code if is_known else -1
            b.stratum_of[place] = stratum
            if stratum >= 0:
                b.tally[stratum] += 1
        for stratum in range(n_strata):
            segment = y * n_strata + stratum
            b.sizes[segment], b.words[segment] = b.tally[stratum], word
            b.tally[stratum] = word * 64
            word += (b.sizes[segment] + 63) // 64
            b.rows[b.tally[stratum] + b.sizes[segment] : word * 64] = s.codes.shape[1] - 1
        for place in range(s.classes[y], s.classes[y + 1]):
            stratum = b.stratum_of[place]
            if stratum >= 0:
                b.rows[b.tally[stratum]] = s.order[place]
                b.tally[stratum] += 1
    b.words[n_classes * n_strata] = word
    return n_strata


@inner
def _pack(s, b, column, n_segments):
    """Make the bitmaps of a column, and count their rows by segment."""
    n_words = b.words[n_segments]
    for bit in range(n_words * 64):
        b.gathered[bit] = s.codes[column, b.rows[bit]]
    for level in range(1, s.n_codes[column]):
        bitmap = s.first_bitmap[column] + level - 1
        for word in range(n_words):
            b.bitmaps[bitmap * n_words + word] = match_codes(b.gathered, (word * 64, level))
        for segment in range(n_segments):
            total = np.uint64(0)
            for word in range(b.words[segment], b.words[segment + 1]):
                total += np.uint64(count_bits(b.bitmaps[bitmap * n_words + word]))
            b.margins[bitmap * n_segments + segment] = np.int32(total)


@inner
def _margin(s, b, column, level, segment, n_segments):
    """Rows of a segment with one level of a column; the first has those that no other has."""
    if level > 0:
        return b.margins[(s.first_bitmap[column] + level - 1) * n_segments + segment]
    rest = np.int32(b.sizes[segment])
    for other in range(1, s.n_codes[column]):
        rest -= b.margins[(s.first_bitmap[column] + other - 1) * n_segments + segment]
    return rest


@inner
def _explain(s, b, column, n_strata):
    """Write what the prefix and one more column explain of the responses."""
    n_classes, total = s.classes.size - 1, 0.0
    for stratum in range(n_strata):
        for level in range(s.levels[column]):
            for response in range(s.n_responses + 1):
                own = 0.0
                for y in range(n_classes):
                    segment = y * n_strata + stratum
                    count = _margin(s, b, column, level, segment, n_classes * n_strata)
                    own += s.weights[response * n_classes + y] * count
                if response == 0:
                    rows = max(own, 1.0)
                else:
                    total += own * own / rows
    return total


@inner
def _fill_lanes(s, b, first, start, n_levels, width, n_segments):
    """Interleave the bitmaps and margins of ``LANES`` columns; the last level is missing."""
    n_words = b.words[n_segments]
    for lane in range(LANES):
        column = first + lane
        n_own = s.levels[column] if start <= column < s.levels.size else 0
        for level in range(width):
            own, is_own = level, level < n_own
            if level == n_levels and n_own > 0:
                own, is_own = n_own, s.n_codes[column] > n_own
            for segment in range(n_segments):
                count = np.int32(0)
                if is_own:
                    count = _margin(s, b, column, own, segment, n_segments)
                b.lane_margins[(level * n_segments + segment) * LANES + lane] = count
            if level > 0:
                source = (s.first_bitmap[column] + own - 1) * n_words if is_own else 0
                sink = np.uint64((level - 1) * n_words * LANES + lane)
                for word in range(n_words):
                    b.lanes[sink] = b.bitmaps[source + word] if is_own else np.uint64(0)
                    sink += np.uint64(LANES)


@inner
def _count(s, b, a, width, n_segments):
    """Count ``table[segment, level of a, level, lane]``; the first levels follow by subtraction."""
    n_words, n_codes, row = b.words[n_segments], s.n_codes[a], width * LANES
    for cell in range(np.uint64(n_segments * n_codes * row)):
        b.table[cell] = 0
    for segment in range(n_segments):
        low = b.words[segment]
        n_own, base = b.words[segment + 1] - low, segment * n_codes * row
        for level in range(1, width if n_own > 0 else 1):
            first = s.first_bitmap[a] * n_words + low
            start, sink = ((level - 1) * n_words + low) * LANES, base + row + level * LANES
            for _ in range((n_codes - 1) // 2):
                places = first, n_words, n_own, start, sink, row
                add_common_bits_twice(b.bitmaps, b.lanes, b.table, places)
                first += 2 * n_words
                sink += 2 * row
            if (n_codes - 1) % 2:
                places = first, n_words, n_own, start, sink, row
                add_common_bits(b.bitmaps, b.lanes, b.table, places)
        for own in range(1, n_codes):
            sink, source = base + own * row, (own * n_segments + segment) * LANES
            subtract(b.row_margins, b.table, (source, sink + LANES, LANES, width - 1, sink))
        for level in range(width):
            sink, source = base + level * LANES, (level * n_segments + segment) * LANES
            subtract(b.lane_margins, b.table, (source, sink + row, row, n_codes - 1, sink))


@inner
def _sum_squares(s, b, a, n_levels, width, n_strata):
    """Write what the groups of each lane explain of the responses."""
    n_classes, n_codes, row = s.classes.size - 1, s.n_codes[a], width * LANES
    step = n_strata * n_codes * row
    for lane in range(LANES):
        b.sums[lane] = np.float32(0)
    if not s.has_missing:
        places = 0, n_strata * n_codes * width, step, n_classes, s.n_responses, 0
        add_squares(b.table, s.weights, b.sums, places)
        return
    for stratum in range(n_strata):
        for level in range(s.levels[a]):
            first = (stratum * n_codes + level) * row
            places = first, n_levels, step, n_classes, s.n_responses, 0
            add_squares(b.table, s.weights, b.sums, places)


@inner
def _read_cells(s, b, a, x, width, n_strata):
    """Means and variances of the cells of a group; returns how many cells have enough rows."""
    n_classes, n_codes, lane, n_known = s.classes.size - 1, s.n_codes[a], x % LANES, 0
    cell = 0
    for stratum in range(n_strata):
        for own in range(s.levels[a]):
            for level in range(s.levels[x]):
                first = ((stratum * n_codes + own) * width + level) * LANES + lane
                rows = 0.0
                for response in range(s.n_responses + 1):
                    total = 0.0
                    for y in range(n_classes):
                        count = b.table[first + y * n_strata * n_codes * width * LANES]
                        total += s.weights[response * n_classes + y] * count
                    if response == 0:
                        rows = total
                    else:
                        b.means[response - 1, cell] = total / rows if rows > 0 else 0.0
                is_known = rows >= s.least_rows
                b.variances[cell] = 1.0 / rows if is_known else UNKNOWN
                n_known += is_known
                cell += 1
    return n_known


@inner
def _sum_known_cells(s, b, n_cells):
    """Return what the cells with enough rows explain."""
    total = 0.0
    for response in range(s.n_responses):
        for cell in range(n_cells):
            if b.variances[cell] < UNKNOWN:
                total += b.means[response, cell] ** 2 / b.variances[cell]
    return total


@inner
def _list_contrasts(b, n_elements):
    """Write the levels, none of them the first, that each contrast compares; return how many."""
    n_contrasts = 1
    for element in range(n_elements):
        n_contrasts *= b.sizes_of[element] - 1
    for number in range(n_contrasts):
        left = number
        for element in range(n_elements - 1, -1, -1):
            b.contrasts[number, element] = left % (b.sizes_of[element] - 1) + 1
            left //= b.sizes_of[element] - 1
    return n_contrasts


@inner
def _cell_of(b, contrast, subset, n_elements):
    """Return the cell with a contrast's levels of some columns, of others with the first."""
    cell = 0
    for element in range(n_elements):
        if subset >> element & 1:
            cell += b.contrasts[contrast, element] * b.strides[element]
    return cell


@inner
def _fill_system(s, b, n_contrasts, n_elements):
    """Write the contrasts of the means, and their covariances."""
    for x in range(n_contrasts):
        _write_contrast(s, b, x, n_elements)
        for z in range(x + 1):
            b.system[x, z] = _covariance(b, x, z, n_elements)


@inner
def _write_contrast(s, b, x, n_elements):
    """Write the contrast of the means of all responses."""
    for response in range(s.n_responses):
        b.right[response, x] = 0.0
    for subset in range(1 << n_elements):
        cell, sign = _cell_of(b, x, subset, n_elements), 1.0
        for element in range(n_elements):
            if not subset >> element & 1:
                sign = -sign
        for response in range(s.n_responses):
            b.right[response, x] += sign * b.means[response, cell]


@inner
def _covariance(b, x, z, n_elements):
    """Return the covariance of two contrasts: the variances of the cells that both have."""
    common, total = 0, 0.0
    for element in range(n_elements):
        if b.contrasts[x, element] == b.contrasts[z, element]:
            common |= 1 << element
    subset = common
    while True:
        total += b.variances[_cell_of(b, x, subset, n_elements)]
        if subset == 0:
            break
        subset = (subset - 1) & common
    return total


@inner
def _solve(s, b, n_contrasts):
    """Return the quadratic form, by Cholesky's method, and how many contrasts are known."""
    total, n_known = 0.0, 0
    for x in range(n_contrasts):
        for z in range(x):
            value = b.system[x, z]
            for other in range(z):
                value -= b.system[x, other] * b.system[z, other] * b.system[other, other]
            b.system[x, z] = value / b.system[z, z]
        for z in range(x):
            b.system[x, x] -= b.system[x, z] ** 2 * b.system[z, z]
        pivot = b.system[x, x]
        n_known += pivot < _HUGE
        for response in range(s.n_responses):
            value = b.right[response, x]
            for z in range(x):
                value -= b.system[x, z] * b.right[response, z]
            b.right[response, x] = value
            total += value * value / pivot if pivot < _HUGE else 0.0
    return total, n_known


@inner
def _is_listed(s, b, prefix, a, x, width, n_strata):
    """Whether a group has a statistic large enough for its degrees of freedom."""
    members = s.prefixes[prefix]
    n_elements, stride = members.size + 2, 1
    for element in range(n_elements - 1, -1, -1):
        column = x
        if element < members.size:
            column = members[element]
        elif element == members.size:
            column = a
        b.sizes_of[element], b.strides[element] = s.levels[column], stride
        stride *= s.levels[column]
    n_known = _read_cells(s, b, a, x, width, n_strata)
    if s.is_saturated:
        return n_known > 1 and _sum_known_cells(s, b, stride) >= s.needed[n_known - 1]
    n_contrasts = _list_contrasts(b, n_elements)
    _fill_system(s, b, n_contrasts, n_elements)
    statistic, freedom = _solve(s, b, n_contrasts)
    return freedom > 0 and statistic >= s.needed[freedom]


@inner
def _list_lanes(s, b, prefix, a, first, width, n_strata, listed):
    """List the groups of a prefix, a column, and those of a block that are larger."""
    members, contrasts = s.prefixes[prefix], s.levels[a] - 1
    for element in range(members.size):
        contrasts *= s.levels[members[element]] - 1
    is_bounded = members.size > 0 and not (s.has_missing or s.is_saturated)
    for x in range(max(first, a + 1), min(first + LANES, s.levels.size)):
        n_cells = n_strata * s.levels[a] * s.levels[x]
        if n_cells > s.most_cells:
            continue
        b.found[TESTED] += 1
        bound, full = np.float64(b.sums[x % LANES]), contrasts * (s.levels[x] - 1)
        if is_bounded:
            bound -= max(b.explained[a], b.explained[x])
        if s.is_saturated:
            full = n_cells - 1
        if bound * 1.0001 + 1e-3 < s.needed_bound[full]:
            continue
        if _is_listed(s, b, prefix, a, x, width, n_strata):
            place = b.found[LISTED]
            listed[place, 0], listed[place, 1], listed[place, 2] = prefix, a, x
            b.found[LISTED] += 1


@inner
def _fill_rows(s, b, a, n_segments):
    """Write how many rows each level of a column has, once for every lane."""
    for level in range(s.n_codes[a]):
        for segment in range(n_segments):
            first = (level * n_segments + segment) * LANES
            count = _margin(s, b, a, level, segment, n_segments)
            for lane in range(LANES):
                b.row_margins[first + lane] = count


@inner
def _prepare(s, b, prefix, start):
    """Have the bitmaps of all columns after a prefix."""
    if b.packed[0] != prefix:
        n_strata = _sort_rows(s, b, prefix)
        for column in range(start, s.levels.size):
            _pack(s, b, column, (s.classes.size - 1) * n_strata)
            b.explained[column] = _explain(s, b, column, n_strata)
        b.packed[0], b.packed[1] = prefix, n_strata
    return b.packed[1]


@kernel
def list_groups(s, b, part, listed):
    """List the groups that may interact: prefix, column, larger column.

    Those of the prefixes from ``part[0]`` to before ``part[1]``, with middle columns from
    ``part[2]`` to before ``part[3]``. ``found`` has how many were tested, and how many are listed.
    """
    b.found[:] = 0
    for prefix in range(part[0], part[1]):
        size = s.prefixes.shape[1]
        start = s.prefixes[prefix, size - 1] + 1 if size else 0
        n_strata = _prepare(s, b, prefix, start)
        n_segments, low = (s.classes.size - 1) * n_strata, max(start, part[2])
        for first in range((low + 1) // LANES * LANES, s.levels.size, LANES):
            n_levels, has_missing = 0, 0
            for column in range(first, min(first + LANES, s.levels.size)):
                n_levels = max(n_levels, s.levels[column])
                has_missing |= np.int64(s.n_codes[column] > s.levels[column])
            width, is_filled = n_levels + has_missing, False
            for a in range(low, min(part[3], first + LANES - 1, s.levels.size - 1)):
                if n_strata * s.levels[a] * s.levels[first] > s.most_cells:
                    continue
                if not is_filled:
                    _fill_lanes(s, b, first, start, n_levels, width, n_segments)
                    is_filled = True
                _fill_rows(s, b, a, n_segments)
                _count(s, b, a, width, n_segments)
                _sum_squares(s, b, a, n_levels, width, n_strata)
                _list_lanes(s, b, prefix, a, first, width, n_strata, listed)
