"""The loops of searches over many tests, each loop one compiled call.

A loop stops where it is when it has counted for a while or when the memory is half full, and goes
on when it is called again: between two calls interrupts are heard and the memory is enlarged.
"""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

from typing import Any

from komb.counts.compiling import inner, kernel, stay_apart
from komb.counts.records import Record
from komb.sessions.formula_kernels.counting import N_TABLES, begin_set
from komb.sessions.formula_kernels.evidence import evidence
from komb.sessions.formula_kernels.hash_table import NO_COLUMN

SOME_TESTS, FIRST_INSEPARABLE, WITNESSES, WEAKEST = range(4)
"""The loops."""

# Places of ``Lot.place``: how far a loop has come. WEAKEST has the size of the subsets there, then
# the positions in the pool of the present one, and at the end how many candidates are not separated
# yet and the number of the next one.
LINE, WITNESS, N_ANSWERS = range(3)
NONE_YET, NOT_SEPARATED = -2, -1  # in ``Lot.found``


class Lot(Record):
    """What is asked, and the answers.

    ========================  =========================  ===========================================
    field                     SOME_TESTS                 FIRST_INSEPARABLE
    ========================  =========================  ===========================================
    lines                     given set of each line     candidate of each line
    starts                    first candidate of each    first witness of each
    sets                      given sets                 witnesses
    columns                   candidates
    evidence                  of each candidate
    found                                                for each line, its first witness that no
                                                         separator removes, or NOT_SEPARATED
    ========================  =========================  ===========================================

    For WITNESSES ``sets`` are the groups of the branches, ``starts`` has the first candidate of
    each in ``columns`` and the one after the last, ``found`` the row of ``settled`` with the allies
    that were examined before, or -1, and ``answers`` gets branch, candidate and witness;
    ``min_size`` is the number of allies.

    For WEAKEST ``columns`` are the candidates, ``evidence`` is the least that is known of each, and
    ``found`` has for each the set that separates it, if there is one: see ``separators``.
    """

    loop: int
    wants_bits: bool
    one_is_enough: bool
    min_size: int
    max_size: int
    most_tables: int  # to count in one call
    lines: Any
    starts: Any
    sets: Any  # [set, column], NO_COLUMN behind the last
    columns: Any
    evidence: Any
    found: Any
    pool: Any  # in ascending order
    core: Any
    separators: Any  # [candidate, column]: what separates it, NO_COLUMN behind the last
    place: Any
    free: Any  # scratch: the part of the pool that may be in a separator
    chosen: Any  # scratch: positions in it, and after them those of allies in the pool
    settled: Any  # [row, column]: whether it is in a blanket whose subsets were examined before
    answers: Any  # [answer, (branch, candidate, witness ...)]
    recent: Any  # [column, latest first, column]: what separated it; the last row is of any column


class Work(Record):
    """All that is needed to make tests of one target."""

    prepared: Any
    terms: Any
    scratch: Any
    labels: Any
    groups: Any
    rules: Any
    given: Any
    tests: Any  # remembered decisions
    sets: Any  # remembered sums


@inner
def _write_set(row, start, work):
    """Append the columns of a set to the present given set; returns its size."""
    given = work.given
    size = start
    for index in range(row.size):
        if row[index] == NO_COLUMN:
            break
        given.columns[size] = row[index]
        size += 1
    return size


@inner
def _first_subset(size, chosen):
    """Choose the first positions."""
    for index in range(size):
        chosen[index] = index


@inner
def _next_subset(size, n, chosen):
    """Choose the next positions out of ``n``, in lexicographic order; returns whether there are."""
    index = size - 1
    while index >= 0 and chosen[index] == n - size + index:
        index -= 1
    if index < 0:
        return False
    chosen[index] += 1
    for later in range(index + 1, size):
        chosen[later] = chosen[later - 1] + 1
    return True


@inner
def _is_full(lot, work):
    """Whether it is time to stop for a moment."""
    given, tests, sets = work.given, work.tests, work.sets
    return (
        given.counts[N_TABLES] >= lot.most_tables
        or 4 * tests.used[0] >= tests.keys.shape[0]
        or 4 * sets.used[0] >= sets.keys.shape[0]
    )


@inner
def _make_tests(lot, work):
    """Weigh every candidate of every given set."""
    while lot.place[LINE] < lot.lines.size:
        line = lot.place[LINE]
        begin_set(_write_set(lot.sets[lot.lines[line]], 0, work), work)
        first = lot.starts[line] + lot.place[WITNESS]
        for index in range(first, lot.starts[line + 1]):
            if _is_full(lot, work):
                lot.place[WITNESS] = index - lot.starts[line]
                return False
            lot.evidence[index] = evidence(lot.columns[index], lot.wants_bits, work)
        lot.place[LINE], lot.place[WITNESS] = line + 1, 0
    return True


@inner
def _is_in(column, row, n):
    """Whether a column is among the first so many of a set."""
    index = 0
    while index < n and row[index] != column:
        index += 1
    return index < n


@inner
def _try_recent(column, row, n_witness, n_free, lot, work):
    """Try what separated this candidate, or any, before; returns which did it again, or -1."""
    stay_apart()
    given = work.given
    recent = lot.recent[row]
    for number in range(recent.shape[0]):
        if recent[number, 0] == NO_COLUMN:
            return -1
        size = _write_set(recent[number], n_witness, work)
        is_free = size - n_witness <= lot.max_size
        for index in range(n_witness, size):
            is_free = is_free and _is_in(given.columns[index], lot.free, n_free)
        if is_free:
            begin_set(size, work)
            if evidence(column, False, work) == 0.0:
                return number
    return -1


@inner
def _remember(column, separator, n_columns, lot):
    """Put a separator in front of those that worked for a candidate."""
    stay_apart()
    recent = lot.recent[column]
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
    given = work.given
    n_witness = _write_set(witness, 0, work)
    n_free = 0
    for index in range(lot.pool.size):
        free = lot.pool[index]
        if free != column and not _is_in(free, given.columns, n_witness):
            lot.free[n_free] = free
            n_free += 1
    for row in (column, lot.recent.shape[0] - 1):
        number = _try_recent(column, row, n_witness, n_free, lot, work)
        if number >= 0:
            n_columns = given.state[0] - n_witness
            _remember(column, given.columns[n_witness:], n_columns, lot)
            return True
    for size in range(min(lot.max_size, n_free) + 1):
        _first_subset(size, lot.chosen)
        while True:
            for index in range(size):
                given.columns[n_witness + index] = lot.free[lot.chosen[index]]
            begin_set(n_witness + size, work)
            if evidence(column, False, work) == 0.0:
                _remember(column, given.columns[n_witness:], size, lot)
                return True
            if not _next_subset(size, n_free, lot.chosen):
                break
    return False


@inner
def _find_inseparable(lot, work):
    """Find the first witness of each line whose dependence no separator removes."""
    while lot.place[LINE] < lot.lines.size:
        line = lot.place[LINE]
        column = lot.lines[line]
        lot.found[line] = NOT_SEPARATED
        first = lot.starts[line] + lot.place[WITNESS]
        for index in range(first, lot.starts[line + 1]):
            if _is_full(lot, work):
                lot.place[WITNESS] = index - lot.starts[line]
                return False
            if not _is_separable(column, lot.sets[index], lot, work):
                lot.found[line] = index
                break
        lot.place[LINE], lot.place[WITNESS] = line + 1, 0
        if lot.one_is_enough and lot.found[line] >= 0:
            return True
    return True


@inner
def _is_settled(branch, n_group, size, lot, work):
    """Whether the allies of the present set, which come after the group, were examined before."""
    row, given = lot.found[branch], work.given
    if row < 0:
        return False
    is_settled = True
    for index in range(n_group, size):
        is_settled = is_settled and lot.settled[row, given.columns[index]] == 1
    return is_settled


@inner
def _find_witness(branch, column, lot, work):
    """Find the first allies with which a candidate has a dependence that no separator removes.

    They are written down, after the group, in the next row of the answers.
    """
    stay_apart()
    given, n_allies = work.given, lot.min_size
    positions = lot.chosen[lot.max_size + 1 :]
    _first_subset(n_allies, positions)
    while n_allies <= lot.pool.size:
        n_group = _write_set(lot.sets[branch], 0, work)
        is_own = False
        for index in range(n_allies):
            ally = lot.pool[positions[index]]
            is_own = is_own or ally == column
            given.columns[n_group + index] = ally
        size = n_group + n_allies
        if not is_own and not _is_settled(branch, n_group, size, lot, work):
            begin_set(size, work)
            if evidence(column, False, work) > 0.0:
                row = lot.answers[lot.place[N_ANSWERS]]
                for index in range(row.size - 2):
                    row[index + 2] = given.columns[index] if index < size else NO_COLUMN
                if not _is_separable(column, row[2:], lot, work):
                    row[0], row[1] = branch, column
                    lot.place[N_ANSWERS] += 1
                    return True
        if not _next_subset(n_allies, lot.pool.size, positions):
            break
    return False


@inner
def _find_witnesses(lot, work):
    """Find the first witness of each candidate of each branch."""
    while lot.place[LINE] < lot.sets.shape[0]:
        branch = lot.place[LINE]
        first, end = lot.starts[2 * branch], lot.starts[2 * branch + 1]
        for index in range(first + lot.place[WITNESS], end):
            if _is_full(lot, work):
                lot.place[WITNESS] = index - first
                return False
            column = lot.columns[index]
            is_in_group = _is_in(column, lot.sets[branch], lot.sets.shape[1])
            is_found = not is_in_group and _find_witness(branch, column, lot, work)
            if is_found and lot.one_is_enough:
                return True
        lot.place[LINE], lot.place[WITNESS] = branch + 1, 0
    return True


@inner
def _weigh_set(size, lot, work):
    """Weigh every candidate that is not separated yet given the core and a subset of the pool.

    Returns whether all were weighed.
    """
    given = work.given
    n_core = lot.core.size
    for index in range(n_core):
        given.columns[index] = lot.core[index]
    for index in range(size):
        given.columns[n_core + index] = lot.pool[lot.place[index + 1]]
    begin_set(n_core + size, work)
    for number in range(lot.place[-1], lot.columns.size):
        if lot.found[number] != NONE_YET:
            continue
        if _is_full(lot, work):
            lot.place[-1] = number
            return False
        column = lot.columns[number]
        if _is_in(column, given.columns[n_core:], size):
            continue
        weight = evidence(column, lot.wants_bits, work)
        if weight > 0.0:
            lot.evidence[number] = min(lot.evidence[number], weight)
        else:
            lot.found[number] = size
            for index in range(n_core + size):
                lot.separators[number, index] = given.columns[index]
            lot.place[-2] -= 1
    lot.place[-1] = 0
    return True


@inner
def _find_weakest(lot, work):
    """Weigh candidates given each subset of the pool, until something separates them."""
    place = lot.place
    while place[0] <= min(lot.max_size, lot.pool.size):
        size = place[0]
        while True:
            if not _weigh_set(size, lot, work):
                return False
            if place[-2] == 0:
                return True
            if not _next_subset(size, lot.pool.size, place[1:]):
                break
        place[0] = size + 1
        _first_subset(size + 1, place[1:])
    return True


@kernel
def run_lot(lot, work):
    """Go on with a loop; returns whether it is done."""
    if lot.loop == SOME_TESTS:
        return _make_tests(lot, work)
    if lot.loop == FIRST_INSEPARABLE:
        return _find_inseparable(lot, work)
    if lot.loop == WITNESSES:
        return _find_witnesses(lot, work)
    return _find_weakest(lot, work)
