"""The evidence for a dependence, from the sums over the tables of a test."""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import math
from typing import Any

import numpy as np

from komb.citests.measure import ROUNDING
from komb.counts.chi_square_kernels import critical_value, log2_p_value
from komb.counts.compiling import inner, stay_apart
from komb.counts.contingency_kernels.buffers import FIT, FREEDOM, LENGTH, PEARSON, STRATA
from komb.counts.records import Record
from komb.sessions.formula_kernels.counting import (
    N_CODED,
    N_TESTS,
    N_UNRELIABLE,
    SIZE,
    need_sums,
    need_union,
    split_length,
)
from komb.sessions.formula_kernels.hash_table import FREE, find_place, take_place

_NATS = 2.0 * math.log(2.0)  # G of a gain of one bit

# What is remembered of a test: whether it was decided, as a number of bits or only as yes or no.
INDEPENDENT, DEPENDENT, WEIGHED = 1, 2, 3
DECISION, BITS = range(2)  # columns of the values of the memory


class Swept(Record):
    """The dependences that sweeps of 1, 2 ... conditions have found."""

    position: Any  # [column]: in the pool, or -1
    binomials: Any  # [k, n]: how many sets of k there are among n
    first: Any  # [size]: where its sets begin in ``starts``; as many as there are sizes, and one
    starts: Any  # [set, by rank]: where its dependences begin
    members: Any  # the candidates that depend on the target given a set, in ascending order


class Rules(Record):
    """What sums are turned into evidence with."""

    formula: Any
    scale: float  # fixed-point units of a bit
    length_class: Any  # [column]
    swept: Any


@inner
def _critical(freedom, formula):
    """Smallest statistic that counts as a dependence."""
    if freedom >= formula.critical.size:
        return critical_value(freedom, formula.alpha, formula.addresses)
    if formula.critical[freedom] < 0:
        formula.critical[freedom] = critical_value(freedom, formula.alpha, formula.addresses)
    return formula.critical[freedom]


@inner
def _bits_of_statistic(levels, wants_bits, work):
    """Evidence of G or of Pearson's statistic: 0 if it does not reach the critical value."""
    stay_apart()
    prepared, terms, rules, given = work.prepared, work.terms, work.rules, work.given
    formula, sums = rules.formula, given.sums
    if formula.is_pearson:
        statistic = max(sums[0, PEARSON] / terms.scale, 0.0)
    else:
        statistic = max(_NATS * ((sums[0, FIT] - given.own[FIT]) / rules.scale), 0.0)
    n_y = prepared.cardinalities[prepared.target]
    freedom = (levels - 1) * (n_y - 1) * given.own[STRATA]
    if formula.is_adjusted:
        freedom = sums[0, FREEDOM]
    if freedom == 0 or statistic < _critical(freedom, formula):
        return 0.0
    return -log2_p_value(statistic, freedom, formula.addresses) if wants_bits else 1.0


@inner
def _bits_of_code(column, work):
    """Bits that a code of one variable saves if it knows the other."""
    rules, given = work.rules, work.given
    kind = rules.length_class[column]
    split = split_length(kind, column, work)
    by_candidate = split / rules.scale
    by_target = (given.own[LENGTH] - given.sums[0, LENGTH]) / rules.scale
    gain = (given.sums[0, FIT] - given.own[FIT]) / rules.scale
    saved = gain + max(by_candidate, by_target)
    return 0.0 if abs(saved) < ROUNDING else max(saved, 0.0)


@inner
def _weigh(column, wants_bits, is_new, work):
    """Count, measure and compare one test of the present set."""
    stay_apart()
    prepared, rules, given = work.prepared, work.rules, work.given
    need_sums(column, work)
    formula, n_rows = rules.formula, prepared.codes.shape[1]
    levels = prepared.cardinalities[column]
    cells = levels * given.own[STRATA] * prepared.cardinalities[prepared.target]
    is_coded = n_rows < formula.coded_below * cells
    if is_new:
        given.counts[N_CODED] += is_coded and formula.is_fallback
        given.counts[N_UNRELIABLE] += n_rows < formula.reliable_from * cells
    need_union(column, is_coded, work)
    if is_coded:
        return _bits_of_code(column, work)
    return _bits_of_statistic(levels, wants_bits, work)


@inner
def _is_swept(column, work):
    """Whether a sweep has decided, and counted, this test."""
    swept, given = work.rules.swept, work.given
    size = given.state[SIZE]
    if size == 0 or size >= swept.first.size or swept.position[column] < 0:
        return False
    is_inside = True
    for index in range(size):
        is_inside = is_inside and swept.position[given.columns[index]] >= 0
    return is_inside


@inner
def _was_found(column, work):
    """Whether a sweep has found this test to be a dependence."""
    swept, given = work.rules.swept, work.given
    size = given.state[SIZE]
    rank = np.int64(0)
    for index in range(size):
        rank += swept.binomials[index + 1, swept.position[given.ordered[index]]]
    low = swept.starts[swept.first[size] + rank]
    high = swept.starts[swept.first[size] + rank + 1]
    while low < high:
        middle = (low + high) >> 1
        if swept.members[middle] < column:
            low = middle + 1
        else:
            high = middle
    return low < swept.starts[swept.first[size] + rank + 1] and swept.members[low] == column


@inner
def evidence(column, wants_bits, work):
    """Evidence that a candidate depends on the target given the present set; 0 if it does not.

    In bits if they are wanted, else any positive number.
    """
    stay_apart()
    given, tests = work.given, work.tests
    size = given.state[SIZE]
    is_swept = _is_swept(column, work)
    if is_swept and not wants_bits:
        return 1.0 if _was_found(column, work) else 0.0
    place = find_place(tests.keys, column, given.ordered, size)
    bits = tests.values.view(np.float64)
    is_new = tests.keys[place, 0] == FREE
    if not is_new:
        decision = tests.values[place, DECISION]
        if decision == INDEPENDENT:
            return 0.0
        if decision == WEIGHED:
            return bits[place, BITS]
        if not wants_bits:
            return 1.0
    weight = _weigh(column, wants_bits, is_new, work)
    if is_new and not is_swept:
        given.counts[N_TESTS] += 1
    if take_place(tests, place, column, given.ordered, size):
        tests.values[place, DECISION] = INDEPENDENT if weight == 0.0 else DEPENDENT
        if wants_bits and weight > 0.0:
            tests.values[place, DECISION] = WEIGHED
            bits[place, BITS] = weight
    return weight
