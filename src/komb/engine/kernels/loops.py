"""The questions of searches: loops around the evidence of one test.

A loop stops where it is when it has counted for a while or when the memory fills up, and goes on
when it is called again: between two calls interrupts are heard and the memory is enlarged.

Where rows are elsewhere, tests that are not remembered are noted. A loop goes on as far as it makes
sense without them, to note more that will be needed; when they have been counted, by others, it
begins anew, and finds them in the memory.
"""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

from komb.engine.compiling import (
    MOST_ROWS_IN_PYTHON,
    inner,
    patient_kernel,
    stay_apart,
    stop_if_late,
)
from komb.engine.kernels.bitmaps import need_bitmaps
from komb.engine.kernels.evidence import (
    NOT_COUNTED,
    evidence,
    examine,
    is_noting_enough,
    strong_evidence,
)
from komb.engine.kernels.judge import DECISION
from komb.engine.kernels.memo import begin, is_filling_up, restart
from komb.engine.kernels.places import N_NOTED, RECENT, ROWS_COUNTED

EVIDENCE, STRONG, EXAMINE, FIRST_WITNESS, WEAKEST, PACK = range(6)
"""The loops."""

# ``Ask.words`` is what is asked, one number behind the other: these, then all columns and queries
(
    LOOP, IS_BEGUN, N_QUERIES, FIRST_QUERY, POOL, END_OF_POOL, CORE, END_OF_CORE, MIN_SIZE,
    MAX_SIZE, WANTS, IS_IN_TURN,
) = range(12)  # fmt: skip
N_HEADER = 12

# Words of a query: where its candidates and its own columns are; of a witness, how many allies
CANDIDATES, END_OF_CANDIDATES, COLUMNS, END_OF_COLUMNS, N_ALLIES = range(5)
N_OF_QUERY = 5

# ``Ask.place``: how far a loop has come
QUERY, ITEM, N_LEFT, SIZE, CHOSEN = range(5)  # positions of the present subset follow
NOT_SEPARATED = -1  # in ``Ask.found``

ROWS_PER_CALL = 1 << 28  # about half a second

PAUSED, DONE, REFUSED = range(3)
"""What :func:`ask` returns: the last if a column does not exist."""


@patient_kernel(lambda _, s: s.codes.shape[1] <= MOST_ROWS_IN_PYTHON)
def ask(q, s):
    """Begin a loop or go on with it; returns whether it is done.

    ============= ============================================= ===================================
    loop          a query                                       answer
    ============= ============================================= ===================================
    EVIDENCE      candidates, and the given set                 ``bits`` of each candidate
    STRONG        the same                                      ``bits`` where they are enough
    EXAMINE       the same                                      ``sums`` and ``verdicts``
    FIRST_WITNESS candidates, and a group that is part of each  ``found``: the query, the candidate,
                  witness, with allies of the ``pool``          the size of the witness and its
                                                                columns; or -1
    WEAKEST       candidates, and their pool                    ``bits``, the least; ``found`` has
                                                                the size of the first subset that
                                                                separates, ``separators`` the set
    PACK          candidates                                    they have bitmaps
    ============= ============================================= ===================================
    """
    restart(s)
    s.work[ROWS_COUNTED] = 0
    if q.words[IS_BEGUN] == 0:
        q.words[IS_BEGUN] = 1
        for index in range(CHOSEN):
            q.place[index] = 0
        s.noted[N_NOTED] = 0
        for index in range(N_HEADER, q.words[FIRST_QUERY]):
            if not 0 <= q.words[index] < s.levels.size:
                return REFUSED
    is_done = _go_on(q, s)
    if s.noted[N_NOTED] > 0:
        q.words[IS_BEGUN] = 0
        q.found[:] = NOT_SEPARATED
        return PAUSED
    return DONE if is_done else PAUSED


@inner
def _go_on(q, s):
    if q.words[LOOP] <= EXAMINE:
        return _find_evidence(q, s)
    if q.words[LOOP] == FIRST_WITNESS:
        return _find_first_witness(q, s)
    if q.words[LOOP] == PACK:
        query = q.words[q.words[FIRST_QUERY] :]
        for place in range(query[CANDIDATES], query[END_OF_CANDIDATES]):
            need_bitmaps(s, q.words[place])
        return True
    return _find_weakest(q, s)


@inner
def _is_to_pause(s):
    stop_if_late()
    return s.work[ROWS_COUNTED] >= ROWS_PER_CALL or is_filling_up(s) or is_noting_enough(s)


@inner
def _give(s, start, columns, first, end):
    """Append columns to the given set; returns its size."""
    for index in range(first, end):
        s.given[start + index - first] = columns[index]
    return start + end - first


@inner
def _is_in(column, columns, first, end):
    index = first
    while index < end and columns[index] != column:
        index += 1
    return index < end


@inner
def _first_subset(size, chosen):
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
def _start_of(q, number):
    """Return where the words of a query are."""
    return q.words[FIRST_QUERY] + number * N_OF_QUERY


@inner
def _answer(q, s, size, column, item):
    """Answer what is asked about one candidate given the present set."""
    wants = q.words[WANTS]
    if q.words[LOOP] == EVIDENCE:
        q.bits[item] = evidence(s, size, column, wants)
    elif q.words[LOOP] == STRONG:
        q.bits[item] = strong_evidence(s, size, column, wants)
    else:
        examine(s, size, column, wants)
        for index in range(s.sums.size):
            q.sums[item, index] = s.sums[index]
        for index in range(s.verdict.size):
            q.verdicts[item, index] = s.verdict[index]


@inner
def _find_evidence(q, s):
    """Find the evidence for every candidate of every query, one query's behind the other's."""
    place = q.place
    while place[QUERY] < q.words[N_QUERIES]:
        query = q.words[_start_of(q, place[QUERY]) :]
        size = _give(s, 0, q.words, query[COLUMNS], query[END_OF_COLUMNS])
        begin(s, size)
        while query[CANDIDATES] + place[ITEM] < query[END_OF_CANDIDATES]:
            if _is_to_pause(s):
                return False
            column = q.words[query[CANDIDATES] + place[ITEM]]
            _answer(q, s, size, column, place[N_LEFT])
            place[ITEM] += 1
            place[N_LEFT] += 1
        place[QUERY] += 1
        place[ITEM] = 0
    return True


@inner
def _has_no_separator(q, s, column, n_witness):
    """Whether no subset of the pool makes a candidate independent, together with its witness.

    If that is not known because tests were noted, one is said to.
    """
    stay_apart()
    free, recent, n_noted = s.free, s.recent[column], s.noted[N_NOTED]
    n_free = _list_free(q, s, column, n_witness)
    most = min(q.words[MAX_SIZE], n_free)
    _give(s, 0, s.witness, 0, n_witness)
    if _separates_again(s, column, n_witness, n_free, most):
        return False
    for size in range(most + 1):
        _first_subset(size, s.chosen)
        while True:
            for index in range(size):
                s.given[n_witness + index] = free[s.chosen[index]]
            begin(s, n_witness + size)
            if evidence(s, n_witness + size, column, DECISION) == 0.0:
                for index in range(recent.size - 1, RECENT - 1, -1):  # the oldest makes room
                    recent[index] = recent[index - RECENT]
                for index in range(RECENT):
                    recent[index] = s.given[n_witness + index] if index < size else -1
                return False
            if not _next_subset(size, n_free, s.chosen):
                break
        if s.noted[N_NOTED] > n_noted:
            return False
    return True


@inner
def _list_free(q, s, column, n_witness):
    """List the columns of the pool beside a candidate and its witness; returns their number."""
    n_free = 0
    for index in range(q.words[POOL], q.words[END_OF_POOL]):
        other = q.words[index]
        if other != column and not _is_in(other, s.witness, 0, n_witness):
            s.free[n_free] = other
            n_free += 1
    return n_free


@inner
def _separates_again(s, column, n_witness, n_free, most):
    """Whether one of the sets that separated a candidate lately does it again."""
    recent = s.recent[column]
    for first in range(0, recent.size, RECENT):
        size = 0
        while size < RECENT and _is_in(recent[first + size], s.free, 0, n_free):
            s.given[n_witness + size] = recent[first + size]
            size += 1
        if 0 < size <= most and (size == RECENT or recent[first + size] < 0):
            begin(s, n_witness + size)
            if evidence(s, n_witness + size, column, DECISION) == 0.0:
                return True
    return False


@inner
def _find_witness(q, s, query, column):
    """Find the first witness of a candidate; returns its size, or -1 if there is none."""
    stay_apart()
    witness, allies, pool = s.witness, s.allies, q.words[POOL]
    n_pool, first, end = q.words[END_OF_POOL] - pool, query[COLUMNS], query[END_OF_COLUMNS]
    n_group = end - first
    if _is_in(column, q.words, first, end):
        return -1
    for index in range(n_group):
        witness[index] = q.words[first + index]
    for n_allies in range(min(query[N_ALLIES], n_pool) + 1):
        size = n_group + n_allies
        _first_subset(n_allies, allies)
        while True:
            is_valid = True
            for index in range(n_allies):
                ally = q.words[pool + allies[index]]
                is_valid = is_valid and ally != column and not _is_in(ally, witness, 0, n_group)
                witness[n_group + index] = ally
            if is_valid:
                _give(s, 0, witness, 0, size)
                begin(s, size)
                bits = evidence(s, size, column, DECISION)
                if 0.0 < bits < NOT_COUNTED and _has_no_separator(q, s, column, size):
                    return size
            if not _next_subset(n_allies, n_pool, allies):
                break
    return -1


@inner
def _find_first_witness(q, s):
    """Find the first candidate, query by query, that has a witness."""
    place, found = q.place, q.found
    while place[QUERY] < q.words[N_QUERIES]:
        query = q.words[_start_of(q, place[QUERY]) :]
        while query[CANDIDATES] + place[ITEM] < query[END_OF_CANDIDATES]:
            if _is_to_pause(s):
                return False
            column = q.words[query[CANDIDATES] + place[ITEM]]
            size = _find_witness(q, s, query, column)
            if size >= 0:
                found[0], found[1], found[2] = place[QUERY], column, size
                for index in range(size):
                    found[index + 3] = s.witness[index]
                return True
            place[ITEM] += 1
        place[QUERY] += 1
        place[ITEM] = 0
    found[0] = -1
    return True


@inner
def _weigh_subset(q, s, query, first, size):
    """Weigh candidates that nothing separates so far given the core and the chosen subset.

    ``first`` is the place of the first candidate's answer. Returns whether all were weighed.
    """
    place, n_core = q.place, q.words[END_OF_CORE] - q.words[CORE]
    _give(s, 0, q.words, q.words[CORE], q.words[END_OF_CORE])
    for index in range(size):
        s.given[n_core + index] = q.words[query[COLUMNS] + place[CHOSEN + index]]
    begin(s, n_core + size)
    while query[CANDIDATES] + place[ITEM] < query[END_OF_CANDIDATES]:
        column, item = q.words[query[CANDIDATES] + place[ITEM]], first + place[ITEM]
        if q.found[item] == NOT_SEPARATED and not _is_in(column, s.given, 0, n_core + size):
            if _is_to_pause(s):
                return False
            bits = evidence(s, n_core + size, column, q.words[WANTS])
            if bits > 0.0:
                q.bits[item] = min(q.bits[item], bits)
            else:
                q.found[item] = n_core + size
                for index in range(n_core + size):
                    q.separators[item, index] = s.given[index]
                place[N_LEFT] -= 1
        place[ITEM] += 1
    place[ITEM] = 0
    return True


@inner
def _weigh_subsets(q, s, query, first):
    """Weigh the candidates of a query given each subset of its pool; returns whether it is done."""
    stay_apart()
    place = q.place
    chosen, n_pool = place[CHOSEN:], query[END_OF_COLUMNS] - query[COLUMNS]
    while place[SIZE] <= min(q.words[MAX_SIZE], n_pool):
        size = place[SIZE]
        while True:
            if not _weigh_subset(q, s, query, first, size):
                return False
            if place[N_LEFT] == 0:
                return True
            if not _next_subset(size, n_pool, chosen):
                break
        if s.noted[N_NOTED] > 0:
            return True
        place[SIZE] = size + 1
        _first_subset(size + 1, chosen)
    return True


@inner
def _find_weakest(q, s):
    """Find the weakest dependence, or a separator, of all candidates.

    One query has them all, or each query has one.
    """
    place = q.place
    while place[QUERY] < q.words[N_QUERIES]:
        query = q.words[_start_of(q, place[QUERY]) :]
        if place[N_LEFT] == 0:  # not begun yet
            place[N_LEFT] = query[END_OF_CANDIDATES] - query[CANDIDATES]
            place[SIZE] = q.words[MIN_SIZE]
            _first_subset(place[SIZE], place[CHOSEN:])
        if not _weigh_subsets(q, s, query, place[QUERY]):
            return False
        is_left, place[N_LEFT], place[ITEM] = place[N_LEFT] > 0, 0, 0
        place[QUERY] += 1
        if q.words[IS_IN_TURN] == 1 and is_left and s.noted[N_NOTED] == 0:
            return True
    return True
