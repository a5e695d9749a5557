"""From sums to evidence: count what is not remembered, compare, decide, remember."""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import math

import numpy as np

from komb.counts.chi_square_kernels import critical_value, log2_p_value
from komb.counts.compiling import inner, stay_apart
from komb.engine.kernels.memo import CANDIDATE, LENGTH_CLASS, MEMBER, find, key_of, take
from komb.engine.kernels.places import (
    BY_OTHER,
    FALLBACKS,
    FIT,
    FREE,
    FREEDOM,
    IS_RELIABLE,
    LENGTH,
    LOG2_P,
    NO_FREEDOM,
    NULL_MEAN,
    NULL_VARIANCE,
    OWN_FIT,
    OWN_LENGTH,
    OWN_STRATA,
    PEARSON,
    ROWS,
    SECOND_LOG2_P,
    SPLIT,
    STATISTIC,
    STRATA,
    TESTS,
    UNRELIABLE,
)
from komb.engine.kernels.strata import need_table
from komb.engine.kernels.sums import sum_up

ROUNDING = 1e-9  # bits; smaller differences of code lengths count as zero
NO_LENGTH = np.iinfo(np.int64).min  # instead of a sum of lengths that was not needed
NATS = 2.0 * math.log(2.0)  # G of a gain of one bit


@inner
def has_rows_per_cell(s, column, enough):
    """Whether the table of a test has so many rows per cell; one without rows never has."""
    cells = s.levels[column] * s.sums[OWN_STRATA] * s.n_y
    return cells > 0 and s.sums[ROWS] >= enough * cells


@inner
def is_coded(s, column):
    """Whether a table is so sparse that code lengths decide."""
    return s.coded_below > 0.0 and not has_rows_per_cell(s, column, s.coded_below)


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
    if has_own and has_union and not s.is_adjusted:
        return
    need_table(s, size, column)
    wants_lengths = _may_be_coded(s, size, column)
    sum_up(s, wants_lengths, not has_own or s.is_adjusted)
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
def judge(s, size, column, wants_p_value):
    """Write down what a test says; without p-value only whether it is a dependence."""
    sums, verdict = s.sums, s.verdict
    gain = (sums[FIT] - sums[OWN_FIT]) / s.scale
    verdict[BY_OTHER], verdict[SECOND_LOG2_P] = 0.0, 0.0
    verdict[IS_RELIABLE] = has_rows_per_cell(s, column, s.reliable_from)
    if is_coded(s, column):
        by_target = (sums[OWN_LENGTH] - sums[LENGTH]) / s.scale
        saved = gain + max(sums[SPLIT] / s.scale, by_target)
        saved = 0.0 if abs(saved) < ROUNDING else saved
        verdict[STATISTIC], verdict[FREE], verdict[LOG2_P] = saved, NO_FREEDOM, -saved
        verdict[SECOND_LOG2_P], verdict[BY_OTHER] = -saved, 1.0
        return saved > 0.0
    freedom = (s.levels[column] - 1) * (s.n_y - 1) * sums[OWN_STRATA]
    if s.is_adjusted:
        freedom = sums[FREEDOM]
    statistic = max(NATS * gain, 0.0)
    verdict[STATISTIC], verdict[FREE], verdict[LOG2_P] = statistic, freedom, 0.0
    verdict[NULL_MEAN], verdict[NULL_VARIANCE] = freedom, 2.0 * freedom
    depends = freedom > 0 and statistic >= _critical(s, freedom)
    if wants_p_value and freedom > 0:
        verdict[LOG2_P] = verdict[SECOND_LOG2_P] = log2_p_value(statistic, freedom, s.addresses)
    return depends


@inner
def _critical(s, freedom):
    """Smallest statistic that counts as a dependence."""
    if freedom >= s.critical.size:
        return critical_value(freedom, s.alpha, s.addresses)
    if s.critical[freedom] < 0.0:
        s.critical[freedom] = critical_value(freedom, s.alpha, s.addresses)
    return s.critical[freedom]


@inner
def weigh(s, size, column, wants_bits):
    """Evidence of one test in bits, or 1 if they are not wanted; 0 for independence."""
    need_sums(s, size, column)
    depends = judge(s, size, column, wants_bits)
    if not depends:
        return 0.0
    return -s.verdict[LOG2_P] if wants_bits else 1.0


@inner
def evidence(s, size, column, wants_bits):
    """Evidence that a column depends on the target given the present set; 0 if it does not."""
    low, high = key_of(s, CANDIDATE, column)
    place = find(s.test_keys, low, high)
    is_new = s.test_keys[place, 1] == 0
    if not is_new:
        bits = s.test_values[place, 0]
        if bits >= 0.0 or not wants_bits:  # negative: dependent, nobody asked how strongly
            return abs(bits)
    bits = weigh(s, size, column, wants_bits)
    if is_new:
        s.work[TESTS] += 1
        s.work[FALLBACKS] += s.is_fallback and s.verdict[BY_OTHER] != 0.0
        s.work[UNRELIABLE] += s.verdict[IS_RELIABLE] == 0.0
        place = take(s.test_keys, s.test_used, low, high)
    s.test_values[place, 0] = bits if wants_bits else -bits
    return bits
