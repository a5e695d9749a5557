"""From sums to evidence: count what is not remembered, compare, decide, remember."""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import numpy as np

from komb.engine.compiling import inner, stay_apart
from komb.engine.kernels.counting import forget_count
from komb.engine.kernels.g_moments import sum_g_moments
from komb.engine.kernels.judge import (
    ALL,
    CONSERVATIVE,
    DECISION,
    LEAST_BITS,
    g_statistic,
    is_coded,
    judge,
)
from komb.engine.kernels.memo import CANDIDATE, LENGTH_CLASS, MEMBER, find, key_of, take
from komb.engine.kernels.pearson import sum_pearson
from komb.engine.kernels.places import (
    BY_OTHER,
    FALLBACKS,
    FIRST_NOTED,
    FIT,
    IS_RELIABLE,
    IS_UNCOUNTED,
    LENGTH,
    LOG2_P,
    MOST_NOTED,
    N_NOTED,
    NULL_MEAN,
    NULL_VARIANCE,
    OWN_FIT,
    OWN_LENGTH,
    ROWS,
    SECOND_LOG2_P,
    SPLIT,
    STATISTIC,
    TESTS,
    UNRELIABLE,
)
from komb.engine.kernels.strata import need_table
from komb.engine.kernels.sums import sum_up

NO_LENGTH = np.iinfo(np.int64).min  # instead of a sum of lengths that was not needed
SUMS, PEARSON_SUMS, MEAN_OF_G = range(ALL + 1, ALL + 4)
"""What else is wanted of a test, to be measured elsewhere: sums over sets, over strata, or how
large G is by chance."""

UNKNOWN = -1.0  # evidence of a dependence that nobody has asked the bits of
NOT_COUNTED = np.inf  # in the place of evidence: the rows are elsewhere


@inner
def _recall(s, place, first):
    """Read the sums of a set from memory; returns whether they are there."""
    if s.set_keys[place, 1] == 0:
        return False
    s.sums[ROWS] = s.set_values[place, 0]
    for index in range(3):  # fit, strata and length
        s.sums[first + index] = s.set_values[place, index + 1]
    return True


@inner
def _remember(s, key, rows, first, wants_length):
    """Remember the sums of a set."""
    place = take(s.set_keys, s.set_used, key[0], key[1])
    s.set_values[place, 0] = rows
    for index in range(3):
        s.set_values[place, index + 1] = s.sums[first + index]
    if not wants_length:
        s.set_values[place, 3] = NO_LENGTH


@inner
def need_sums(s, size, column):
    """Have the sums of a test, from what is remembered of its sets if possible.

    Where the candidate may be missing, those of the given set belong to the test alone.
    """
    stay_apart()
    sums, kind, belongs = s.sums, s.length_class[column], not s.is_incomplete[column]
    own_key, union_key = (s.hash[0], s.hash[1] | np.uint64(1)), key_of(s, MEMBER, column)
    split_key = key_of(s, LENGTH_CLASS, kind)
    has_union = _recall(s, find(s.set_keys, union_key[0], union_key[1]), FIT)
    has_own = belongs and _recall(s, find(s.set_keys, own_key[0], own_key[1]), OWN_FIT)
    if has_own and is_coded(s, column):
        split = find(s.set_keys, split_key[0], split_key[1])
        has_own = s.set_keys[split, 1] != 0 and sums[OWN_LENGTH] != NO_LENGTH
        sums[SPLIT] = s.set_values[split, 0]
        has_union = has_union and sums[LENGTH] != NO_LENGTH
    if has_own and has_union:
        return
    need_table(s, size, column)
    if s.noted[IS_UNCOUNTED]:
        return
    wants_lengths = _may_be_coded(s, size, column)
    sum_up(s, wants_lengths, not has_own)
    if not has_own and belongs:
        _remember(s, own_key, sums[ROWS], OWN_FIT, wants_lengths)
        for each in range(s.splits.size if wants_lengths else 0):
            low, high = key_of(s, LENGTH_CLASS, each)
            place = take(s.set_keys, s.set_used, low, high)
            s.set_values[place, 0] = s.splits[each]
    if not has_own and wants_lengths:
        sums[SPLIT] = s.splits[kind]
    if not has_union:
        _remember(s, union_key, sums[ROWS], FIT, wants_lengths)


@inner
def _may_be_coded(s, size, column):
    """Whether code lengths could decide a test, however many of its strata occur."""
    if s.coded_below == 0.0:
        return False
    cells = s.levels[column] * s.n_y
    for index in range(size):
        cells = min(cells * s.levels[s.given[index]], np.int64(1) << 40)
    return s.has_missing or s.n_rows < s.coded_below * cells


@inner
def _weigh(s, size, column, wants):
    """Return evidence, and conservative evidence: 0 for independence, UNKNOWN unless wanted."""
    need_sums(s, size, column)
    depends = judge(s, size, column, wants)
    if s.noted[IS_UNCOUNTED]:
        _note(s, size, column)
        return NOT_COUNTED, NOT_COUNTED
    if not depends:
        return 0.0, 0.0
    bits = -s.verdict[LOG2_P]
    if bits == 0.0:
        return UNKNOWN, UNKNOWN
    return bits, min(bits, max(-s.verdict[SECOND_LOG2_P], 0.0))


@inner
def is_noting_enough(s):
    """Whether it is time to have tests counted that were noted."""
    return s.noted[N_NOTED] >= s.noted[MOST_NOTED]


@inner
def _note(s, size, column):
    """Note a test whose rows are elsewhere, if there is room."""
    noted, end = s.noted, s.noted[N_NOTED] + FIRST_NOTED
    noted[IS_UNCOUNTED] = 0
    forget_count(s)
    if not is_noting_enough(s):
        noted[end], noted[end + 1] = size, column
        for index in range(size):
            noted[end + 2 + index] = s.given[index]
        noted[N_NOTED] += size + 2


@inner
def evidence(s, size, column, wants):
    """Evidence that a column depends on the target given the present set; 0 if it does not.

    In bits, or any positive number for a DECISION. CONSERVATIVE evidence has no more bits than all
    statistics of the test agree on. NOT_COUNTED if the test was noted.
    """
    low, high = key_of(s, CANDIDATE, column)
    place = find(s.test_keys, low, high)
    values, which = s.test_values, np.int64(wants == CONSERVATIVE)
    if s.test_keys[place, 1] != 0:
        bits = values[place, which]
        if bits >= 0.0 or wants == DECISION:
            return abs(bits)
        bits, conservative = _weigh(s, size, column, wants)
        if bits != NOT_COUNTED:
            values[place, 0], values[place, 1] = bits, conservative
        return conservative if wants == CONSERVATIVE else bits
    bits, conservative = _weigh(s, size, column, wants)
    if bits == NOT_COUNTED:
        return bits
    _note_work(s)
    place = take(s.test_keys, s.test_used, low, high)
    values[place, 0], values[place, 1] = bits, conservative
    return abs(conservative if wants == CONSERVATIVE else bits)


@inner
def _note_work(s):
    """Count a test that was just judged."""
    s.work[TESTS] += 1
    s.work[FALLBACKS] += s.is_fallback and s.verdict[BY_OTHER] != 0.0
    s.work[UNRELIABLE] += s.verdict[IS_RELIABLE] == 0.0


@inner
def strong_evidence(s, size, column, wants):
    """Evidence in bits of a test that has so many of them as the bounds say, else 0.

    CONSERVATIVE: that all statistics agree on so many. What is weaker is not remembered.
    """
    low, high = key_of(s, CANDIDATE, column)
    place, values = find(s.test_keys, low, high), s.test_values
    bits, conservative = values[place, 0], values[place, 1]
    is_known = s.test_keys[place, 1] != 0
    if not is_known or bits < 0.0:
        bits, conservative = _weigh(s, size, column, wants)
    if not is_known:
        _note_work(s)
    if bits == 0.0 or (conservative if wants == CONSERVATIVE else bits) < s.bounds[LEAST_BITS]:
        return 0.0
    place = take(s.test_keys, s.test_used, low, high)
    values[place, 0], values[place, 1] = bits, conservative
    return bits


@inner
def examine(s, size, column, wants):
    """Have all sums that are wanted of a test, or what it says, with nothing remembered of it."""
    need_sums(s, size, column)
    if wants == ALL:
        judge(s, size, column, ALL)
    if wants > SUMS:
        need_table(s, size, column)
    if wants == PEARSON_SUMS:
        sum_pearson(s, column)
    if wants == MEAN_OF_G:
        s.verdict[STATISTIC] = g_statistic(s)
        s.verdict[NULL_MEAN], s.verdict[NULL_VARIANCE] = sum_g_moments(s)
