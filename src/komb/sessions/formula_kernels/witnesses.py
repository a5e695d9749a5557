"""Witnesses: sets given which a candidate depends on the target, and no separator removes that."""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

from komb.counts.compiling import inner, stay_apart
from komb.sessions.formula_kernels.counting import SIZE, begin_set
from komb.sessions.formula_kernels.evidence import evidence
from komb.sessions.formula_kernels.hash_table import NO_COLUMN
from komb.sessions.formula_kernels.lot import (
    CANDIDATE,
    END_OF_CANDIDATES,
    END_OF_SETS,
    FIRST_CANDIDATE,
    FIRST_SET,
    LINE,
    MAX_SIZE,
    MOST_ALLIES,
    N_ANSWERS,
    N_LINES,
    N_POOL,
    NEVER,
    ONE_IS_ENOUGH,
    SET,
    first_subset,
    is_full,
    is_in,
    next_subset,
    write_set,
)


@inner
def _try_recent(column, n_witness, n_free, lot, work):
    """Try what separated this candidate before; returns whether that did it again."""
    stay_apart()
    given = work.given
    recent = work.recent[column]
    for number in range(recent.shape[0]):
        if recent[number, 0] == NO_COLUMN:
            return False
        size = write_set(recent[number], n_witness, work)
        is_free = size - n_witness <= lot.asked[MAX_SIZE]
        for index in range(n_witness, size):
            is_free = is_free and is_in(given.columns[index], lot.free, n_free)
        if is_free:
            begin_set(size, work)
            if evidence(column, False, work) == 0.0:
                return True
    return False


@inner
def _remember(column, separator, n_columns, work):
    """Put a separator in front of those that worked for a candidate."""
    stay_apart()
    recent = work.recent[column]
    if n_columns == 0 or n_columns > recent.shape[1]:
        return
    place = recent.shape[0] - 1
    for number in range(recent.shape[0]):
        is_same = True
        for index in range(recent.shape[1]):
            own = separator[index] if index < n_columns else NO_COLUMN
            is_same = is_same and recent[number, index] == own
        if is_same:
            place = number
            break
    for number in range(place, 0, -1):
        for index in range(recent.shape[1]):
            recent[number, index] = recent[number - 1, index]
    for index in range(recent.shape[1]):
        recent[0, index] = separator[index] if index < n_columns else NO_COLUMN


@inner
def _is_separable(column, witness, lot, work):
    """Whether a subset of the pool makes a candidate independent, together with its witness."""
    stay_apart()
    given, asked = work.given, lot.asked
    n_witness = write_set(witness, 0, work)
    n_free = 0
    for index in range(asked[N_POOL]):
        free = lot.pool[index]
        if free != column and not is_in(free, given.columns, n_witness):
            lot.free[n_free] = free
            n_free += 1
    if _try_recent(column, n_witness, n_free, lot, work):
        _remember(column, given.columns[n_witness:], given.state[SIZE] - n_witness, work)
        return True
    for size in range(min(asked[MAX_SIZE], n_free) + 1):
        first_subset(size, lot.chosen)
        while True:
            for index in range(size):
                given.columns[n_witness + index] = lot.free[lot.chosen[index]]
            begin_set(n_witness + size, work)
            if evidence(column, False, work) == 0.0:
                _remember(column, given.columns[n_witness:], size, work)
                return True
            if not next_subset(size, n_free, lot.chosen):
                break
    return False


@inner
def _is_settled(examined, n_set, size, lot, work):
    """Whether the allies of the present set, which come last, were examined in a generation."""
    is_settled = examined != NEVER
    for index in range(n_set, size):
        is_settled = is_settled and lot.walk.entered[work.given.columns[index]] <= examined
    return is_settled


@inner
def _is_witness(line, column, size, lot, work):
    """Whether a candidate depends given the present set, and no separator removes that.

    Then it is written down in the next row of the answers.
    """
    given = work.given
    begin_set(size, work)
    if evidence(column, False, work) == 0.0:
        return False
    row = lot.answers[lot.place[N_ANSWERS]]
    for index in range(size):
        row[index + 2] = given.columns[index]
    row[size + 2] = NO_COLUMN
    if _is_separable(column, row[2:], lot, work):
        return False
    row[0], row[1] = line, column
    lot.place[N_ANSWERS] += 1
    return True


@inner
def find_allies(line, column, number, examined, lot, work):
    """Find the first allies that make a set a witness of a candidate; returns whether there are.

    Those of the generations that were ``examined`` before are not.
    """
    stay_apart()
    given, n_pool = work.given, lot.asked[N_POOL]
    for n_allies in range(min(lot.lines[line, MOST_ALLIES], n_pool) + 1):
        first_subset(n_allies, lot.allies)
        while True:
            n_set = write_set(lot.sets[number], 0, work)
            for index in range(n_allies):
                given.columns[n_set + index] = lot.pool[lot.allies[index]]
            size = n_set + n_allies
            is_new = not is_in(column, given.columns, size)
            is_new = is_new and not _is_settled(examined, n_set, size, lot, work)
            if is_new and _is_witness(line, column, size, lot, work):
                return True
            if not next_subset(n_allies, n_pool, lot.allies):
                break
    return False


@inner
def _find_witness(line, column, lot, work):
    """Find the first witness of a candidate; returns whether the search came to its end."""
    place = lot.place
    first, end = lot.lines[line, FIRST_SET], lot.lines[line, END_OF_SETS]
    is_found = False
    while first + place[SET] < end and not is_found:
        if is_full(lot, work):
            return False
        is_found = find_allies(line, column, first + place[SET], NEVER, lot, work)
        place[SET] += 1
    place[SET] = 0
    return True


@inner
def find_witnesses(lot, work):
    """Find the first witness of each candidate of each line."""
    place, asked = lot.place, lot.asked
    while place[LINE] < asked[N_LINES]:
        line = place[LINE]
        first, end = lot.lines[line, FIRST_CANDIDATE], lot.lines[line, END_OF_CANDIDATES]
        while first + place[CANDIDATE] < end:
            if not _find_witness(line, lot.columns[first + place[CANDIDATE]], lot, work):
                return False
            place[CANDIDATE] += 1
            if asked[ONE_IS_ENOUGH] == 1 and place[N_ANSWERS] > 0:
                return True
        place[LINE], place[CANDIDATE] = line + 1, 0
    return True
