"""Compiled loops of the permutation test: shuffle a column within strata, sum, compare.

With the margins of every stratum fixed, the statistic G varies only with the sum of ``f(n_xyz)``,
``f(n) = n log2 n`` in fixed point. A shuffle therefore does not have to move rows; it has to draw
the counts of a table with given margins, each with its right probability, and to add up ``f``. Two
ways to draw a stratum, both exact and both in integers only, so that a p-value is the same on every
machine:

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

from typing import Any

import numpy as np

from komb.engine.compiling import inner, kernel
from komb.engine.kernels.bits import count_bits
from komb.engine.records import Record

ROWS_PER_CELL_BY_BITS = 6  # strata with more are drawn by bits; measured, and part of the stream
COIN_SIDES, COIN_BITS = 64, 6  # chances are so many 64ths

# SplitMix64 (Steele, Lea & Flood 2014, Fast splittable pseudorandom number generators, OOPSLA)
STEP = np.uint64(0x9E3779B97F4A7C15)
FIRST_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
SECOND_FACTOR = np.uint64(0x94D049BB133111EB)

# columns of ``Ask.counts`` and ``Ask.moments``
MADE, EXCEEDANCES, STATISTIC, N_VARYING = range(4)
SUM, SUM_OF_SQUARES = range(2)

# places of ``Strata.state``
N_STRATA, SET, FIXED, OBSERVED = range(4)


class Ask(Record):
    """Tests: of ``candidates[j]`` given ``sets[set_of[j]]``; and room for what they say."""

    target: int
    candidates: Any
    sets: Any  # [given set, element]
    set_of: Any
    seed: int
    most: int  # shuffles of each test
    enough: int  # shuffles at least as extreme as the data after which it stops
    counts: Any  # [test]: see MADE and following
    moments: Any  # [test]: of the statistics of the shuffles, in bits; see SUM


class Strata(Record):
    """A table, and the strata of a test in which something can vary, one after the other."""

    codes: Any  # [column, row]; one that is not below its column's levels is missing
    levels: Any
    hashes: Any  # [column]: one number for all that is in it
    terms: Any  # [n]: n log2 n in fixed point
    scale: float
    slack: int  # sums that are equal but for rounding differ by less
    state: Any  # see N_STRATA and following
    random: Any  # state of the random numbers
    labels: Any  # [row]: stratum of the given set; -1 if something is missing there
    slots: Any  # of a hash table: keys
    slot_labels: Any
    starts: Any  # [stratum of the given set]: first of ``rows``
    rows: Any
    values: Any  # what is shuffled, group by group, levels numbered within the stratum
    first_value: Any  # [stratum]
    level_counts: Any  # how often each level occurs
    first_level: Any  # [stratum]
    group_sizes: Any  # the largest last
    first_group: Any  # [stratum]
    is_by_bits: Any  # [stratum]
    number: Any  # [level]: within the stratum; all -1 between uses
    of: Any  # [candidate or target, position in the stratum]: level
    margins: Any  # [candidate or target, number of the level]
    ends: Any  # [group]
    rest: Any  # [number of the level]
    chosen: Any  # all zero between uses


@inner
def _mix(state):
    """Output function of SplitMix64."""
    state = (state ^ (state >> np.uint64(30))) * FIRST_FACTOR
    state = (state ^ (state >> np.uint64(27))) * SECOND_FACTOR
    return state ^ (state >> np.uint64(31))


@inner
def _below(state, bound):
    """Draw a number below ``bound``, all equally likely; returns it and the next state.

    Lemire (2019), Fast random integer generation in an interval, ACM TOMACS 29(1).
    """
    width, mask = np.uint64(bound), np.uint64(0xFFFFFFFF)
    state += STEP
    product = (_mix(state) >> np.uint64(32)) * width
    if (product & mask) < width:
        rejected = (np.uint64(1 << 32) - width) % width
        while (product & mask) < rejected:
            state += STEP
            product = (_mix(state) >> np.uint64(32)) * width
    return np.int64(product >> np.uint64(32)), state


@inner
def _begin_stream(s, ask, x, given):
    """Where the random numbers of a test start: the same whichever variable is the target."""
    pair = _mix(s.hashes[x]) + _mix(s.hashes[ask.target])
    condition = np.uint64(0)
    for column in given:
        condition += _mix(s.hashes[column] ^ STEP)
    s.random[0] = _mix(_mix(np.uint64(ask.seed) + STEP) ^ _mix(pair) ^ condition)


@inner
def _number_labels(s):
    """Give labels numbers by first occurrence; returns how many there are."""
    labels, slots, slot_labels = s.labels, s.slots, s.slot_labels
    mask, n_labels = np.uint64(slots.size - 1), 0
    slots[:] = -1
    for row in range(labels.size):
        key = labels[row]
        if key < 0:
            continue
        slot = _mix(np.uint64(key)) & mask
        while slots[slot] != key and slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] < 0:
            slots[slot] = key
            slot_labels[slot] = n_labels
            n_labels += 1
        labels[row] = slot_labels[slot]
    return n_labels


@inner
def _group_rows(s, given):
    """Group the rows by stratum of the given set."""
    labels, starts, rows, n_strata = s.labels, s.starts, s.rows, 1
    labels[:] = 0
    for column in given:
        width, codes = s.levels[column], s.codes[column]
        for row in range(labels.size):
            code = np.int64(codes[row])
            labels[row] = labels[row] * width + code if labels[row] >= 0 and code < width else -1
        n_strata = _number_labels(s)
    starts[: n_strata + 2] = 0
    for row in range(labels.size):
        starts[labels[row] + 2] += 1  # those without a label come first, and are left out
    starts[1] = 0
    for stratum in range(n_strata):
        starts[stratum + 2] += starts[stratum + 1]
    for row in range(labels.size):
        if labels[row] >= 0:
            rows[starts[labels[row] + 1]] = row
            starts[labels[row] + 1] += 1
    starts[0] = 0
    s.state[N_STRATA] = n_strata


@inner
def _gather(s, stratum, x, y):
    """Fetch the levels of a stratum's complete rows; returns how many rows those are."""
    n, of, x_codes, y_codes = 0, s.of, s.codes[x], s.codes[y]
    x_width, y_width = s.levels[x], s.levels[y]
    for position in range(s.starts[stratum], s.starts[stratum + 1]):
        row = np.uint64(s.rows[position])
        x_code, y_code = np.int64(x_codes[row]), np.int64(y_codes[row])
        if x_code < x_width and y_code < y_width:
            of[0, n] = x_code
            of[1, n] = y_code
            n += 1
    return n


@inner
def _number_levels(s, side, n):
    """Give the levels of one variable numbers by first occurrence, and count them.

    Returns how many there are, and the first that is most frequent.
    """
    n_levels, largest, of, margin, seen = 0, 0, s.of[side], s.margins[side], s.ends
    for position in range(n):
        code = of[position]
        if s.number[code] < 0:
            s.number[code] = n_levels
            seen[n_levels] = code
            margin[n_levels] = 0
            n_levels += 1
        of[position] = s.number[code]
        margin[of[position]] += 1
    for level in range(n_levels):
        s.number[seen[level]] = -1
        if margin[level] > margin[largest]:
            largest = level
    return n_levels, largest


@inner
def _arrange(s, place, n, groups, n_groups, last):
    """Sort the values of a stratum by the levels of one variable, the most frequent level last."""
    group_of, value_of, margin, ends = s.of[groups], s.of[1 - groups], s.margins[groups], s.ends
    end = s.first_value[place]
    for group in range(n_groups):  # the largest changes places with the last
        source = group
        if group == last:
            source = n_groups - 1
        elif group == n_groups - 1:
            source = last
        s.group_sizes[s.first_group[place] + group] = margin[source]
        ends[source] = end
        end += margin[source]
    for position in range(n):
        group = group_of[position]
        s.values[ends[group]] = value_of[position]
        ends[group] += 1


@inner
def _sum_observed(s, place, n_groups):
    """Sum ``f`` over the cells of a stratum as its values are arranged now."""
    total, lo, chosen = np.int64(0), s.first_value[place], s.chosen
    for group in range(s.first_group[place], s.first_group[place] + n_groups):
        hi = lo + s.group_sizes[group]
        for position in range(lo, hi):
            value = np.uint64(s.values[position])
            total += s.terms[chosen[value] + 1] - s.terms[chosen[value]]
            chosen[value] += 1
        for position in range(lo, hi):
            chosen[s.values[position]] = 0
        lo = hi
    return total


@inner
def _set_up(s, x, y):
    """List the strata in which something can vary; returns how many, and notes two sums over them.

    They are ``f(n) - sum f(n_x) - sum f(n_y)``, which no shuffle changes, and ``sum f(n_xy)``.
    """
    place, fixed, observed = 0, np.int64(0), np.int64(0)
    margins, terms = s.margins, s.terms
    for stratum in range(s.state[N_STRATA]):
        n = _gather(s, stratum, x, y)
        n_x, most_x = _number_levels(s, 0, n)
        n_y, most_y = _number_levels(s, 1, n)
        if n_x < 2 or n_y < 2:
            continue
        fixed += terms[n]
        for level in range(n_x):
            fixed -= terms[margins[0, level]]
        for level in range(n_y):
            fixed -= terms[margins[1, level]]
        groups, n_groups, n_levels, last = 1, n_y, n_x, most_y
        ahead = margins[0, most_x] - margins[1, most_y]
        if ahead > 0 or (ahead == 0 and s.hashes[x] < s.hashes[y]):
            groups, n_groups, n_levels, last = 0, n_x, n_y, most_x
        for number in range(n_levels):
            s.level_counts[s.first_level[place] + number] = margins[1 - groups, number]
        _arrange(s, place, n, groups, n_groups, last)
        observed += _sum_observed(s, place, n_groups)
        s.is_by_bits[place] = n > ROWS_PER_CELL_BY_BITS * n_x * n_y
        s.first_value[place + 1] = s.first_value[place] + n
        s.first_level[place + 1] = s.first_level[place] + n_levels
        s.first_group[place + 1] = s.first_group[place] + n_groups
        place += 1
    s.state[FIXED], s.state[OBSERVED] = fixed, observed
    return place


@inner
def _draw_by_rows(s, place, n_levels, state):
    """Draw a stratum value by value; returns its sum of ``f`` and the next state."""
    values, chosen, rest, terms = s.values, s.chosen, s.rest, s.terms
    total, lo = np.int64(0), np.int64(s.first_value[place])
    left = np.int64(s.first_value[place + 1]) - lo
    for group in range(s.first_group[place], s.first_group[place + 1] - 1):
        size = np.int64(s.group_sizes[group])
        for _ in range(size):
            drawn, state = _below(state, left)
            left -= 1
            here, end = np.uint64(lo + drawn), np.uint64(lo + left)
            value = values[here]
            values[here] = values[end]
            values[end] = value
            level = np.uint64(value)
            before = np.uint64(chosen[level])
            total += terms[before + np.uint64(1)] - terms[before]
            chosen[level] += 1
            rest[level] -= 1
        for position in range(lo + left, lo + left + size):
            chosen[np.uint64(values[np.uint64(position)])] = 0
    for level in range(n_levels):
        total += terms[np.uint64(rest[level])]
    return total, state


@inner
def _toss(n, chance, state):
    """Toss ``n`` coins with a chance of so many 64ths; returns how many fell, and the state."""
    fell, lowest = np.int64(0), 0
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
        fell += np.int64(count_bits(word))
        n -= 64
    return fell, state


@inner
def _move(n, chosen, rest, pool, sign, state):
    """Draw so many of ``pool`` values one by one, and take them back (-1) or add them (1)."""
    for _ in range(n):
        drawn, state = _below(state, pool)
        level = 0
        here = chosen[0] if sign < 0 else rest[0] - chosen[0]
        while drawn >= here:
            drawn -= here
            level += 1
            here = chosen[level] if sign < 0 else rest[level] - chosen[level]
        chosen[level] += sign
        pool -= 1
    return state


@inner
def _draw_by_bits(s, place, n_levels, state):
    """Draw a stratum group by group, see the top; returns its sum of ``f`` and the next state."""
    chosen, rest, terms = s.chosen, s.rest, s.terms
    total = np.int64(0)
    left = np.int64(s.first_value[place + 1] - s.first_value[place])
    for group in range(s.first_group[place], s.first_group[place + 1] - 1):
        size = np.int64(s.group_sizes[group])
        chance = (2 * COIN_SIDES * size + left) // (2 * left)
        n_chosen = np.int64(0)
        for level in range(n_levels):
            fell = np.int64(0)
            if chance > 0:
                fell, state = _toss(np.int64(rest[level]), chance, state)
            chosen[level] = fell
            n_chosen += fell
        if n_chosen > size:
            state = _move(n_chosen - size, chosen, rest, n_chosen, -1, state)
        else:
            state = _move(size - n_chosen, chosen, rest, left - n_chosen, 1, state)
        for level in range(n_levels):
            total += terms[np.uint64(chosen[level])]
            rest[level] -= chosen[level]
            chosen[level] = 0
        left -= size
    for level in range(n_levels):
        total += terms[np.uint64(rest[level])]
    return total, state


@inner
def _shuffle(s, n_strata):
    """Shuffle all strata once; returns the sum of ``f``."""
    total, state = np.int64(0), s.random[0]
    for place in range(n_strata):
        start = s.first_level[place]
        n_levels = s.first_level[place + 1] - start
        for level in range(n_levels):
            s.rest[level] = s.level_counts[start + level]
        if s.is_by_bits[place]:
            part, state = _draw_by_bits(s, place, n_levels, state)
        else:
            part, state = _draw_by_rows(s, place, n_levels, state)
        total += part
    s.random[0] = state
    return total


@inner
def _begin_test(s, ask, j):
    """Set up one test; tests with the same given set should follow one another."""
    x, given = ask.candidates[j], ask.sets[ask.set_of[j]]
    if s.state[SET] != ask.set_of[j]:
        s.state[SET] = ask.set_of[j]
        _group_rows(s, given)
    ask.counts[j, N_VARYING] = _set_up(s, x, ask.target)
    ask.counts[j, STATISTIC] = s.state[OBSERVED] + s.state[FIXED]
    ask.counts[j, MADE] = ask.counts[j, EXCEEDANCES] = 0
    ask.moments[j, SUM] = ask.moments[j, SUM_OF_SQUARES] = 0.0
    _begin_stream(s, ask, x, given)


@kernel
def shuffle_tests(s, ask, first, is_begun, n_rows):
    """Shuffle tests from the first on, until so many rows have been.

    Returns the test to go on with, and whether it has begun. Nothing is shuffled where nothing can
    vary.
    """
    for j in range(first, ask.candidates.size):
        if not is_begun:
            _begin_test(s, ask, j)
            n_rows -= s.labels.size
        is_begun, n_strata = False, ask.counts[j, N_VARYING]
        while (
            n_strata > 0
            and ask.counts[j, MADE] < ask.most
            and ask.counts[j, EXCEEDANCES] < ask.enough
        ):
            total = _shuffle(s, n_strata)
            bits = np.float64(total + s.state[FIXED]) / s.scale
            ask.counts[j, MADE] += 1
            ask.counts[j, EXCEEDANCES] += total + s.slack >= s.state[OBSERVED]
            ask.moments[j, SUM] += bits
            ask.moments[j, SUM_OF_SQUARES] += bits * bits
            n_rows -= s.labels.size
            if n_rows < 0:
                return j, True
        if n_rows < 0:
            return j + 1, False
    return ask.candidates.size, False
