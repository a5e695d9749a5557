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

# The loops
SOME_TESTS, WALK, WITNESSES, WEAKEST, SEPARATED = range(5)

# Places of ``Lot.asked``: what is asked
(
    LOOP,
    WANTS_BITS,
    ONE_IS_ENOUGH,
    N_LINES,
    N_COLUMNS,
    N_POOL,
    N_CORE,
    MIN_SIZE,
    MAX_SIZE,
    MOST_TABLES,  # to count in one call
) = range(10)
N_ASKED = 10

# Places of ``Lot.place``: how far a loop has come
(
    LINE,
    CANDIDATE,  # of the line
    SET,  # of the line
    N_ANSWERS,
    N_LEFT,  # candidates that nothing separates yet
    SUBSET_SIZE,
    FIRST_POSITION,  # and following: positions in the pool of the present subset
) = range(7)
NONE_YET = -1  # in ``Lot.found``

# Columns of ``Lot.lines``: what is asked of each line
(
    FIRST_CANDIDATE,
    END_OF_CANDIDATES,
    FIRST_SET,
    END_OF_SETS,
    MOST_ALLIES,
    SETTLED,  # the row with allies that were examined before, or -1
) = range(6)
N_OF_LINE = 6


class Lot(Record):
    """What is asked, and the answers.

    Arrays have room for more than is asked: ``asked`` says how much of them counts.

    ==========  =====================================  =============================================
    loop        asked                                  answers
    ==========  =====================================  =============================================
    SOME_TESTS  for each line the end of its           ``evidence`` of each candidate
                candidates in ``ends``, the set
                that is given in ``sets``
    WALK        ``columns`` to be tested one after     ``free``, the set in the end; its size is
                the other given the rest of a set,     in N_ANSWERS
                at first that in ``pool``, which
                grows by those that depend and loses
                those that do not; with at most
                MAX_SIZE given columns
    WITNESSES   ``lines``: see FIRST_CANDIDATE and     ``answers``: line, candidate and first
                following                              witness whose dependence no separator out
                                                       of the ``pool`` removes: one of the sets
                                                       with some columns of the pool
    WEAKEST     ``columns`` with the least             ``evidence``; in ``found`` the size of the
                ``evidence`` known of each, a          first subset of the pool that separates a
                ``core`` that is always given          candidate, or NONE_YET; ``separators``
    SEPARATED   the same                               the same, candidate by candidate up to the
                                                       first that nothing separates
    ==========  =====================================  =============================================
    """

    asked: Any  # see LOOP and following
    place: Any  # see LINE and following
    ends: Any
    lines: Any  # [line, see FIRST_CANDIDATE and following]
    columns: Any
    evidence: Any
    found: Any
    sets: Any  # [set, column], NO_COLUMN behind the last
    pool: Any  # in ascending order
    core: Any
    separators: Any  # [candidate, column]
    answers: Any  # [answer, (line, candidate, witness ...)], NO_COLUMN behind the last
    settled: Any  # [row, column]: whether it is in a blanket whose subsets were examined before
    free: Any  # scratch: the part of the pool that may be in a separator
    chosen: Any  # scratch: positions in it
    allies: Any  # scratch: positions of allies in the pool


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
    recent: Any  # [column, latest first, column]: what separated it; the last row is of any column


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
        given.counts[N_TABLES] >= lot.asked[MOST_TABLES]
        or 4 * tests.used[0] >= tests.keys.shape[0]
        or 4 * sets.used[0] >= sets.keys.shape[0]
    )


@inner
def _make_tests(lot, work):
    """Weigh every candidate of every given set."""
    place, asked = lot.place, lot.asked
    index = place[CANDIDATE]
    while place[LINE] < asked[N_LINES]:
        line = place[LINE]
        begin_set(_write_set(lot.sets[line], 0, work), work)
        while index < lot.ends[line]:
            if _is_full(lot, work):
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
        if _is_full(lot, work):
            return False
        if not _test_next(lot, work):
            return True
        place[LINE] += 1
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
    recent = work.recent[row]
    for number in range(recent.shape[0]):
        if recent[number, 0] == NO_COLUMN:
            return -1
        size = _write_set(recent[number], n_witness, work)
        is_free = size - n_witness <= lot.asked[MAX_SIZE]
        for index in range(n_witness, size):
            is_free = is_free and _is_in(given.columns[index], lot.free, n_free)
        if is_free:
            begin_set(size, work)
            if evidence(column, False, work) == 0.0:
                return number
    return -1


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
    n_witness = _write_set(witness, 0, work)
    n_free = 0
    for index in range(asked[N_POOL]):
        free = lot.pool[index]
        if free != column and not _is_in(free, given.columns, n_witness):
            lot.free[n_free] = free
            n_free += 1
    for row in (column, work.recent.shape[0] - 1):
        number = _try_recent(column, row, n_witness, n_free, lot, work)
        if number >= 0:
            n_columns = given.state[0] - n_witness
            _remember(column, given.columns[n_witness:], n_columns, work)
            return True
    for size in range(min(asked[MAX_SIZE], n_free) + 1):
        _first_subset(size, lot.chosen)
        while True:
            for index in range(size):
                given.columns[n_witness + index] = lot.free[lot.chosen[index]]
            begin_set(n_witness + size, work)
            if evidence(column, False, work) == 0.0:
                _remember(column, given.columns[n_witness:], size, work)
                return True
            if not _next_subset(size, n_free, lot.chosen):
                break
    return False


@inner
def _is_settled(row, n_set, size, lot, work):
    """Whether the allies of the present set, which come last, were examined before."""
    if row < 0:
        return False
    is_settled = True
    for index in range(n_set, size):
        is_settled = is_settled and lot.settled[row, work.given.columns[index]] == 1
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
def _find_allies(line, column, number, lot, work):
    """Find the first allies that make a set a witness of a candidate; returns whether there are."""
    stay_apart()
    given, n_pool = work.given, lot.asked[N_POOL]
    row = lot.lines[line, SETTLED]
    for n_allies in range(min(lot.lines[line, MOST_ALLIES], n_pool) + 1):
        _first_subset(n_allies, lot.allies)
        while True:
            n_set = _write_set(lot.sets[number], 0, work)
            for index in range(n_allies):
                given.columns[n_set + index] = lot.pool[lot.allies[index]]
            size = n_set + n_allies
            is_new = not _is_in(column, given.columns, size)
            is_new = is_new and not _is_settled(row, n_set, size, lot, work)
            if is_new and _is_witness(line, column, size, lot, work):
                return True
            if not _next_subset(n_allies, n_pool, lot.allies):
                break
    return False


@inner
def _find_witness(line, column, lot, work):
    """Find the first witness of a candidate; returns whether the search came to its end."""
    place = lot.place
    first, end = lot.lines[line, FIRST_SET], lot.lines[line, END_OF_SETS]
    is_found = False
    while first + place[SET] < end and not is_found:
        if _is_full(lot, work):
            return False
        is_found = _find_allies(line, column, first + place[SET], lot, work)
        place[SET] += 1
    place[SET] = 0
    return True


@inner
def _find_witnesses(lot, work):
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
        if _is_full(lot, work):
            place[CANDIDATE] = number
            return False
        column = lot.columns[number]
        if _is_in(column, given.columns[n_core:], size):
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
            if not _next_subset(size, n_pool, positions):
                break
        place[SUBSET_SIZE] = size + 1
        _first_subset(size + 1, positions)
    return True


@inner
def _begin_subsets(n_candidates, lot):
    """Begin with the first and smallest subset, for so many candidates."""
    place, size = lot.place, lot.asked[MIN_SIZE]
    place[N_LEFT], place[SUBSET_SIZE] = n_candidates, size
    _first_subset(size, place[FIRST_POSITION:])


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
        return _find_witnesses(lot, work)
    if loop == SEPARATED:
        return _separate_in_turn(lot, work)
    return _weigh_together(lot, work)
