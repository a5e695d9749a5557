"""The loops of searches over many tests, each loop one compiled call.

A loop stops where it is when it has counted for a while or when the memory is half full, and goes
on when it is called again: between two calls interrupts are heard and the memory is enlarged.
"""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

from komb.counts.compiling import inner, kernel, stay_apart
from komb.sessions.formula_kernels.counting import begin_set
from komb.sessions.formula_kernels.evidence import evidence
from komb.sessions.formula_kernels.group_walk import walk_groups
from komb.sessions.formula_kernels.lot import (
    CANDIDATE,
    FIRST_POSITION,
    GROUPS,
    LINE,
    LOOP,
    MAX_SIZE,
    MIN_SIZE,
    N_ANSWERS,
    N_COLUMNS,
    N_CORE,
    N_LEFT,
    N_LINES,
    N_POOL,
    NONE_YET,
    SEPARATED,
    SOME_TESTS,
    SUBSET_SIZE,
    WALK,
    WANTS_BITS,
    WITNESSES,
    first_subset,
    is_full,
    is_in,
    next_subset,
    write_set,
)
from komb.sessions.formula_kernels.witnesses import find_witnesses


@inner
def _make_tests(lot, work):
    """Weigh every candidate of every given set."""
    place, asked = lot.place, lot.asked
    index = place[CANDIDATE]
    while place[LINE] < asked[N_LINES]:
        line = place[LINE]
        begin_set(write_set(lot.sets[line], 0, work), work)
        while index < lot.ends[line]:
            if is_full(lot, work):
                place[CANDIDATE] = index
                return False
            lot.evidence[index] = evidence(lot.columns[index], asked[WANTS_BITS] == 1, work)
            index += 1
        place[LINE] = line + 1
    return True


@inner
def _test_next(lot, work):
    """Test the next column given the rest of the set, and change the set if need be.

    Returns whether there were not too many to be given.
    """
    place, given = lot.place, work.given
    column, n_set, n_given = lot.columns[place[LINE]], place[N_ANSWERS], 0
    for index in range(n_set):
        if lot.free[index] != column:
            if n_given == lot.asked[MAX_SIZE]:  # there is no room for more
                return False
            given.columns[n_given] = lot.free[index]
            n_given += 1
    begin_set(n_given, work)
    depends = evidence(column, False, work) > 0.0
    if depends and n_given == n_set:
        lot.free[n_set] = column
        place[N_ANSWERS] = n_set + 1
    elif not depends and n_given < n_set:
        for index in range(n_given):
            lot.free[index] = given.columns[index]
        place[N_ANSWERS] = n_given
    return True


@inner
def _walk(lot, work):
    """Test one column after the other given the rest of a set, which changes on the way."""
    place, asked = lot.place, lot.asked
    if place[LINE] == 0:
        place[N_ANSWERS] = asked[N_POOL]
        for index in range(asked[N_POOL]):
            lot.free[index] = lot.pool[index]
    while place[LINE] < asked[N_COLUMNS]:
        if is_full(lot, work):
            return False
        if not _test_next(lot, work):
            return True
        place[LINE] += 1
    return True


@inner
def _weigh_set(first, end, size, lot, work):
    """Weigh candidates that are not separated yet given the core and a subset of the pool.

    Returns whether all were weighed.
    """
    given, place = work.given, lot.place
    n_core = lot.asked[N_CORE]
    for index in range(n_core):
        given.columns[index] = lot.core[index]
    for index in range(size):
        given.columns[n_core + index] = lot.pool[place[FIRST_POSITION + index]]
    begin_set(n_core + size, work)
    for number in range(max(first, place[CANDIDATE]), end):
        if lot.found[number] != NONE_YET:
            continue
        if is_full(lot, work):
            place[CANDIDATE] = number
            return False
        column = lot.columns[number]
        if is_in(column, given.columns[n_core:], size):
            continue
        weight = evidence(column, lot.asked[WANTS_BITS] == 1, work)
        if weight > 0.0:
            lot.evidence[number] = min(lot.evidence[number], weight)
        else:
            lot.found[number] = size
            for index in range(n_core + size):
                lot.separators[number, index] = given.columns[index]
            place[N_LEFT] -= 1
    place[CANDIDATE] = 0
    return True


@inner
def _find_weakest(first, end, lot, work):
    """Weigh candidates given each subset of the pool, until something separates them."""
    stay_apart()
    place, n_pool = lot.place, lot.asked[N_POOL]
    positions = place[FIRST_POSITION:]
    while place[SUBSET_SIZE] <= min(lot.asked[MAX_SIZE], n_pool):
        size = place[SUBSET_SIZE]
        while True:
            if not _weigh_set(first, end, size, lot, work):
                return False
            if place[N_LEFT] == 0:
                return True
            if not next_subset(size, n_pool, positions):
                break
        place[SUBSET_SIZE] = size + 1
        first_subset(size + 1, positions)
    return True


@inner
def _begin_subsets(n_candidates, lot):
    """Begin with the first and smallest subset, for so many candidates."""
    place, size = lot.place, lot.asked[MIN_SIZE]
    place[N_LEFT], place[SUBSET_SIZE] = n_candidates, size
    first_subset(size, place[FIRST_POSITION:])


@inner
def _weigh_together(lot, work):
    """Look for the weakest dependence, or a separator, of all candidates."""
    n_candidates = lot.asked[N_COLUMNS]
    if lot.place[LINE] == 0:
        lot.place[LINE] = 1
        _begin_subsets(n_candidates, lot)
    return _find_weakest(0, n_candidates, lot, work)


@inner
def _separate_in_turn(lot, work):
    """Look for a separator of one candidate after the other, up to one that has none."""
    place = lot.place
    while place[LINE] < lot.asked[N_COLUMNS]:
        if place[N_LEFT] == 0:
            _begin_subsets(1, lot)
        if not _find_weakest(place[LINE], place[LINE] + 1, lot, work):
            return False
        if place[N_LEFT] == 1:
            return True
        place[LINE] += 1
    return True


@kernel
def run_lot(lot, work):
    """Go on with a loop; returns whether it is done."""
    loop = lot.asked[LOOP]
    if loop == SOME_TESTS:
        return _make_tests(lot, work)
    if loop == WALK:
        return _walk(lot, work)
    if loop == WITNESSES:
        return find_witnesses(lot, work)
    if loop == GROUPS:
        return walk_groups(lot, work)
    if loop == SEPARATED:
        return _separate_in_turn(lot, work)
    return _weigh_together(lot, work)
