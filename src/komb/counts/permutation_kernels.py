"""Compiled loops of the permutation test: shuffle a column within strata, sum, compare.

With the margins of every stratum fixed, the statistic G varies only with the sum of ``f(n_xyz)``,
``f(n) = n log2 n`` in fixed point (module ``fixedpoint``). A shuffle therefore does not have to
move rows; it has to draw the counts of a table with given margins, each with its right probability,
and to add up ``f``. Two ways to draw a stratum, both exact and both in integers only, so that a
p-value is the same on every machine:

by rows
    Fisher and Yates' shuffle: for every group of rows (those with one level of the one variable)
    draw its values (of the other variable) one by one out of those that are left.
by bits
    For strata of many rows per cell. Every value that is left goes to the group or not, by coins
    that all fall alike with a chance of so many 64ths near the group's share: 64 coins are a few
    random words, and only how many fell is of interest. Then take back values, or add some, drawn
    one by one, until the group has its size. Coins that fall alike prefer no value to another, and
    neither does what is drawn after, so every choice of that size is equally likely.

The largest group of a stratum is never drawn: it gets what is left.

Strata are numbered by the first row they have, levels by the first row of the stratum, and the two
variables take their roles by what is in them, so the order of columns changes nothing.
"""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from komb.counts.compiling import inner as _inner
from komb.counts.compiling import kernel

ROWS_PER_CELL_BY_BITS = 6  # strata with more are drawn by bits; measured, and part of the stream

# SplitMix64 (Steele, Lea & Flood 2014, Fast splittable pseudorandom number generators, OOPSLA)
STEP = np.uint64(0x9E3779B97F4A7C15)
FIRST_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
SECOND_FACTOR = np.uint64(0x94D049BB133111EB)

COIN_SIDES = 64  # chances are so many 64ths
COIN_BITS = 6

# places of ``Strata.counts``
N_STRATA = 0

_KEYS_AT_MOST = 1 << 62  # combined codes stay below

# columns of ``counts`` and ``moments`` that ``shuffle_tests`` fills
SHUFFLES, EXCEEDANCES, STATISTIC, VARIES = range(4)
SUM, SUM_OF_SQUARES = range(2)


class Table(NamedTuple):
    """Codes; one that is not below its column's cardinality is missing."""

    codes: Any  # [column, row]
    cardinalities: Any
    target: int
    hashes: Any  # of each column


class Strata(NamedTuple):
    """Rows by stratum of a given set; rows with something missing there are left out."""

    counts: Any
    keys: Any  # [row]: combined codes, then the stratum; -1 if left out
    starts: Any  # [stratum]: first of ``rows``
    rows: Any
    slots: Any  # of a hash table: keys
    slot_labels: Any


class Varying(NamedTuple):
    """The strata in which something can vary, one after the other, and room to count in."""

    values: Any  # what is shuffled, group by group, levels numbered within the stratum
    first_value: Any  # [stratum]
    level_counts: Any  # how often each level occurs
    first_level: Any  # [stratum]
    group_sizes: Any  # the largest last
    first_group: Any  # [stratum]
    by_bits: Any  # [stratum]
    local: Any  # [level]: number within the stratum; all -1 between uses
    x_of: Any  # [position in the stratum]
    y_of: Any
    x_counts: Any  # [number within the stratum]
    y_counts: Any
    ends: Any  # [group]
    rest: Any  # [number within the stratum]
    chosen: Any  # all zero between uses


@_inner
def _mix(state):
    """Output function of SplitMix64."""
    state = (state ^ (state >> np.uint64(30))) * FIRST_FACTOR
    state = (state ^ (state >> np.uint64(27))) * SECOND_FACTOR
    return state ^ (state >> np.uint64(31))


@_inner
def _popcount(word):
    """Count the set bits of a word; the compiler knows this idiom and its instruction."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@_inner
def _below(state, bound):
    """Draw a number below ``bound``, all equally likely; returns it and the next state.

    Lemire (2019), Fast random integer generation in an interval, ACM TOMACS 29(1).
    """
    width = np.uint64(bound)
    mask = np.uint64(0xFFFFFFFF)
    state += STEP
    product = (_mix(state) >> np.uint64(32)) * width
    if (product & mask) < width:
        rejected = (np.uint64(1 << 32) - width) % width
        while (product & mask) < rejected:
            state += STEP
            product = (_mix(state) >> np.uint64(32)) * width
    return np.int64(product >> np.uint64(32)), state


@kernel
def hash_columns(codes, columns, hashes):
    """Fill the hashes of some columns: one number for all that is in a column."""
    for column in columns:
        total = np.uint64(0)
        place = np.uint64(0)
        for code in codes[column]:
            place += STEP
            total += _mix(place ^ np.uint64(code))
        hashes[column] = total


@_inner
def _stream(seed, x, y, given, hashes):
    """Where the random numbers of a test start: the same whichever of x and y is the target."""
    pair = _mix(hashes[x]) + _mix(hashes[y])
    condition = np.uint64(0)
    for column in given:
        condition += _mix(hashes[column] ^ STEP)
    return _mix(_mix(seed + STEP) ^ _mix(pair) ^ condition)


@_inner
def _number_keys(strata):
    """Replace keys by numbers, in order of first occurrence; returns how many there are."""
    keys, slots, slot_labels = strata.keys, strata.slots, strata.slot_labels
    mask = np.uint64(slots.size - 1)
    slots[:] = -1
    n_labels = 0
    for row in range(keys.size):
        key = keys[row]
        if key < 0:
            continue
        slot = _mix(np.uint64(key)) & mask
        while slots[slot] != key and slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] < 0:
            slots[slot] = key
            slot_labels[slot] = n_labels
            n_labels += 1
        keys[row] = slot_labels[slot]
    return n_labels


@_inner
def _group_rows(given, table, strata):
    """Group the rows by stratum of ``given``."""
    keys, starts, rows = strata.keys, strata.starts, strata.rows
    n_rows = keys.size
    keys[:] = 0
    n_keys = 1
    for column in given:
        width = table.cardinalities[column]
        if n_keys > _KEYS_AT_MOST // max(width, 1):  # a column of missing values has no level
            n_keys = _number_keys(strata)
        codes = table.codes[column]
        for row in range(n_rows):
            code = np.int64(codes[row])
            keys[row] = keys[row] * width + code if keys[row] >= 0 and code < width else -1
        n_keys *= width
    n_strata = _number_keys(strata)
    starts[: n_strata + 1] = 0
    for row in range(n_rows):
        if keys[row] >= 0:
            starts[keys[row] + 1] += 1
    for stratum in range(n_strata):
        starts[stratum + 1] += starts[stratum]
    for row in range(n_rows):
        if keys[row] >= 0:
            rows[starts[keys[row]]] = row
            starts[keys[row]] += 1
    for stratum in range(n_strata, 0, -1):
        starts[stratum] = starts[stratum - 1]
    starts[0] = 0
    strata.counts[N_STRATA] = n_strata


@_inner
def _gather(lo, hi, rows, x, y, x_width, y_width, x_of, y_of):
    """Fetch the levels of a stratum's complete rows; returns how many rows those are."""
    n = 0
    for position in range(lo, hi):
        row = np.uint64(rows[position])
        x_code, y_code = np.int64(x[row]), np.int64(y[row])
        if x_code < x_width and y_code < y_width:
            x_of[n] = x_code
            y_of[n] = y_code
            n += 1
    return n


@_inner
def _number_levels(n, of, local, seen, counts):
    """Give the levels in ``of[:n]`` numbers by first occurrence, count them; returns how many."""
    n_levels = 0
    for position in range(n):
        code = of[position]
        if local[code] < 0:
            local[code] = n_levels
            seen[n_levels] = code
            counts[n_levels] = 0
            n_levels += 1
        of[position] = local[code]
        counts[local[code]] += 1
    for level in range(n_levels):
        local[seen[level]] = -1
    return n_levels


@_inner
def _largest(n_levels, counts):
    """Position of the first of the largest counts."""
    best = 0
    for level in range(1, n_levels):
        if counts[level] > counts[best]:
            best = level
    return best


@_inner
def _arrange(first, first_group, n, values, groups, n_groups, group_counts, out_values, out_sizes,
             ends):  # fmt: skip
    """Sort values by their groups, the largest group last."""
    last = _largest(n_groups, group_counts)
    end = first
    for group in range(n_groups):  # the largest changes places with the last
        source = group
        if group == last:
            source = n_groups - 1
        elif group == n_groups - 1:
            source = last
        out_sizes[first_group + group] = group_counts[source]
        ends[source] = end
        end += group_counts[source]
    for position in range(n):
        group = groups[position]
        out_values[ends[group]] = values[position]
        ends[group] += 1


@_inner
def _sum_observed(lo, first_group, n_groups, group_sizes, values, chosen, increments):
    """Sum ``f`` over the cells of a stratum as its values are arranged now."""
    total = np.int64(0)
    for group in range(first_group, first_group + n_groups):
        hi = lo + group_sizes[group]
        for position in range(lo, hi):
            value = np.uint64(values[position])
            total += increments[np.uint64(chosen[value])]
            chosen[value] += 1
        for position in range(lo, hi):
            chosen[np.uint64(values[position])] = 0
        lo = hi
    return total


@_inner
def _set_up(x, table, strata, entropy, varying):
    """List the strata in which something can vary; returns how many, and two sums over them.

    The sums are ``f(n) - sum f(n_x) - sum f(n_y)``, which no shuffle changes, and ``sum f(n_xy)``.
    """
    y = table.target
    x_codes, y_codes = table.codes[x], table.codes[y]
    x_width, y_width = table.cardinalities[x], table.cardinalities[y]
    x_is_first = table.hashes[x] < table.hashes[y]
    starts, rows = strata.starts, strata.rows
    x_of, y_of, x_counts, y_counts = varying.x_of, varying.y_of, varying.x_counts, varying.y_counts
    local, ends, values = varying.local, varying.ends, varying.values
    level_counts, group_sizes, chosen = varying.level_counts, varying.group_sizes, varying.chosen
    first_value, first_level = varying.first_value, varying.first_level
    first_group, by_bits = varying.first_group, varying.by_bits
    costs, increments = entropy[0], entropy[1]
    place = 0
    fixed = observed = np.int64(0)
    for stratum in range(strata.counts[N_STRATA]):
        lo, hi = starts[stratum], starts[stratum + 1]
        if hi - lo < 2:
            continue
        n = _gather(lo, hi, rows, x_codes, y_codes, x_width, y_width, x_of, y_of)
        n_x = _number_levels(n, x_of, local, ends, x_counts)
        n_y = _number_levels(n, y_of, local, ends, y_counts)
        if n_x < 2 or n_y < 2:
            continue
        fixed += costs[n]
        for level in range(n_x):
            fixed -= costs[x_counts[level]]
        for level in range(n_y):
            fixed -= costs[y_counts[level]]
        lo, level, group = first_value[place], first_level[place], first_group[place]
        most_x, most_y = x_counts[_largest(n_x, x_counts)], y_counts[_largest(n_y, y_counts)]
        if most_x > most_y or (most_x == most_y and x_is_first):
            n_groups, n_levels = n_x, n_y
            _arrange(lo, group, n, y_of, x_of, n_x, x_counts, values, group_sizes, ends)
            for number in range(n_y):
                level_counts[level + number] = y_counts[number]
        else:
            n_groups, n_levels = n_y, n_x
            _arrange(lo, group, n, x_of, y_of, n_y, y_counts, values, group_sizes, ends)
            for number in range(n_x):
                level_counts[level + number] = x_counts[number]
        observed += _sum_observed(lo, group, n_groups, group_sizes, values, chosen, increments)
        by_bits[place] = n > ROWS_PER_CELL_BY_BITS * n_x * n_y
        place += 1
        first_value[place] = lo + n
        first_level[place] = level + n_levels
        first_group[place] = group + n_groups
    return place, fixed, observed


@_inner
def _draw_by_rows(lo, left, n_levels, group_sizes, first_group, end_group, values, rest, chosen,
                  costs, increments, state):  # fmt: skip
    """Draw a stratum value by value; returns its sum of ``f`` and the next state."""
    total = np.int64(0)
    for group in range(first_group, end_group - 1):
        size = np.int64(group_sizes[group])
        for _ in range(size):
            drawn, state = _below(state, left)
            left -= 1
            here, end = np.uint64(lo + drawn), np.uint64(lo + left)
            value = values[here]
            values[here] = values[end]
            values[end] = value
            level = np.uint64(value)
            total += increments[np.uint64(chosen[level])]
            chosen[level] += 1
            rest[level] -= 1
        for position in range(lo + left, lo + left + size):
            chosen[np.uint64(values[np.uint64(position)])] = 0
    for level in range(n_levels):
        total += costs[np.uint64(rest[level])]
    return total, state


@_inner
def _toss(n, chance, state):
    """Toss ``n`` coins with a chance of so many 64ths; returns how many fell, and the state."""
    fell = np.int64(0)
    lowest = 0
    while chance >> lowest & 1 == 0:
        lowest += 1
    while n > 0:
        state += STEP
        word = _mix(state)
        for higher in range(lowest + 1, COIN_BITS):  # each halves the chance, or adds a half
            state += STEP
            if chance >> higher & 1:
                word |= _mix(state)
            else:
                word &= _mix(state)
        if n < 64:
            word &= (np.uint64(1) << np.uint64(n)) - np.uint64(1)
        fell += _popcount(word)
        n -= 64
    return fell, state


@_inner
def _draw_by_bits(left, n_levels, group_sizes, first_group, end_group, rest, chosen, costs, state):
    """Draw a stratum group by group, see the top; returns its sum of ``f`` and the next state."""
    total = np.int64(0)
    for group in range(first_group, end_group - 1):
        size = np.int64(group_sizes[group])
        chance = (2 * COIN_SIDES * size + left) // (2 * left)
        n_chosen = np.int64(0)
        for level in range(n_levels):
            fell = np.int64(0)
            if chance > 0:
                fell, state = _toss(np.int64(rest[level]), chance, state)
            chosen[level] = fell
            n_chosen += fell
        while n_chosen > size:
            drawn, state = _below(state, n_chosen)
            level = 0
            while drawn >= chosen[level]:
                drawn -= chosen[level]
                level += 1
            chosen[level] -= 1
            n_chosen -= 1
        while n_chosen < size:
            drawn, state = _below(state, left - n_chosen)
            level = 0
            while drawn >= rest[level] - chosen[level]:
                drawn -= rest[level] - chosen[level]
                level += 1
            chosen[level] += 1
            n_chosen += 1
        for level in range(n_levels):
            total += costs[np.uint64(chosen[level])]
            rest[level] -= chosen[level]
            chosen[level] = 0
        left -= size
    for level in range(n_levels):
        total += costs[np.uint64(rest[level])]
    return total, state


@_inner
def _shuffle(n_strata, most, enough, fixed, observed, slack, scale, entropy, state, varying):
    """Shuffle all strata again and again; returns how often, exceedances, sum and squares."""
    # taken out of their tuple once: every access through a tuple counts references
    values, level_counts, group_sizes = varying.values, varying.level_counts, varying.group_sizes
    first_value, first_level = varying.first_value, varying.first_level
    first_group, by_bits = varying.first_group, varying.by_bits
    rest, chosen = varying.rest, varying.chosen
    costs, increments = entropy[0], entropy[1]
    shuffles = exceedances = 0
    sum_of_bits = squares = 0.0
    while shuffles < most and exceedances < enough:
        total = np.int64(0)
        for place in range(n_strata):
            lo, end = np.int64(first_value[place]), np.int64(first_value[place + 1])
            start = first_level[place]
            n_levels = first_level[place + 1] - start
            for level in range(n_levels):
                rest[level] = level_counts[start + level]
            if by_bits[place]:
                part, state = _draw_by_bits(end - lo, n_levels, group_sizes, first_group[place],
                                            first_group[place + 1], rest, chosen, costs,
                                            state)  # fmt: skip
            else:
                part, state = _draw_by_rows(lo, end - lo, n_levels, group_sizes,
                                            first_group[place], first_group[place + 1], values,
                                            rest, chosen, costs, increments, state)  # fmt: skip
            total += part
        bits = np.float64(total + fixed) / scale
        sum_of_bits += bits
        squares += bits * bits
        shuffles += 1
        exceedances += total + slack >= observed
    return shuffles, exceedances, sum_of_bits, squares


@kernel
def shuffle_tests(table, strata, varying, entropy, scale, slack, seed, most, enough, given, index,
                  candidates, counts, moments):  # fmt: skip
    """Shuffle each test ``most`` times, or until ``enough`` shuffles are as extreme as the data.

    Test ``j`` is that of ``candidates[j]`` given ``given[index[j]]``. ``counts[j]`` gets the number
    of shuffles made, of those at least as large as the data (to within ``slack``), the statistic
    (in fixed point) and the number of strata in which anything can vary; if there is none, nothing
    is shuffled. ``moments[j]`` gets the sum of the shuffles' statistics, in bits, and of
    their squares. Tests with the same given set should follow one another.
    """
    last = -1
    for j in range(candidates.size):
        if index[j] != last:
            last = index[j]
            _group_rows(given[last], table, strata)
        x = candidates[j]
        n_strata, fixed, observed = _set_up(x, table, strata, entropy, varying)
        state = _stream(seed, x, table.target, given[last], table.hashes)
        most_here = most if n_strata > 0 else 0
        shuffles, exceedances, total, squares = _shuffle(
            n_strata, most_here, enough, fixed, observed, slack, scale, entropy, state, varying
        )
        counts[j, SHUFFLES] = shuffles
        counts[j, EXCEEDANCES] = exceedances
        counts[j, STATISTIC] = observed + fixed
        counts[j, VARIES] = n_strata
        moments[j, SUM] = total
        moments[j, SUM_OF_SQUARES] = squares
