"""What loops over many tests are asked, and the steps that they share."""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

from typing import Any

from komb.counts.compiling import inner
from komb.counts.records import Record
from komb.sessions.formula_kernels.counting import N_TABLES
from komb.sessions.formula_kernels.hash_table import NO_COLUMN

# The loops
SOME_TESTS, WALK, WITNESSES, GROUPS, WEAKEST, SEPARATED = range(6)

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
    ORDER,
    GENERATION,
    MOST_TABLES,  # to count in one call
) = range(12)
N_ASKED = 12

# Places of ``Lot.place``: how far a loop has come
(
    LINE,
    CANDIDATE,  # of the line
    SET,  # of the line
    N_ANSWERS,
    N_LEFT,  # candidates that nothing separates yet
    SUBSET_SIZE,
    FIRST_POSITION,  # and following: positions in the pool of the present subset, or of a group
) = range(7)
NONE_YET = -1  # in ``Lot.found``

# Columns of ``Lot.lines``: what is asked of each line
(
    FIRST_CANDIDATE,
    END_OF_CANDIDATES,
    FIRST_SET,
    END_OF_SETS,
    MOST_ALLIES,
) = range(5)
N_OF_LINE = 5

NEVER = 0  # in ``Walk.examined``


class Walk(Record):
    """What was examined by walks through the groups outside of a blanket that grows.

    The blanket grows generation by generation, from 1 on. A group of full size, a leaf of the tree,
    takes no allies: it is examined once and for all.
    """

    entered: Any  # [column]: the generation in which it entered the blanket
    examined: Any  # [group, column]: the last generation of allies with it, or NEVER; no leaves
    first: Any  # [size]: where the groups of this size begin there
    position: Any  # [column]: among the candidates, for the ranks of groups
    binomials: Any  # [k, n]: how many sets of k there are among n
    last: Any  # the candidate that was last examined with a leaf, and the columns of this leaf


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
    GROUPS      ``columns`` outside of a blanket,      ``answers``: 0, and the first candidate and
                the ``pool``, and what is known of     witness made of a group of up to ORDER
                the ``walk``                           columns and members of the blanket
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
    walk: Any
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
    recent: Any  # [column, latest first, column]: what separated it


@inner
def write_set(row, start, work):
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
def first_subset(size, chosen):
    """Choose the first positions."""
    for index in range(size):
        chosen[index] = index


@inner
def next_subset(size, n, chosen):
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
def is_full(lot, work):
    """Whether it is time to stop for a moment."""
    given, tests, sets = work.given, work.tests, work.sets
    return (
        given.counts[N_TABLES] >= lot.asked[MOST_TABLES]
        or 4 * tests.used[0] >= tests.keys.shape[0]
        or 4 * sets.used[0] >= sets.keys.shape[0]
    )


@inner
def is_in(column, row, n):
    """Whether a column is among the first so many of a set."""
    index = 0
    while index < n and row[index] != column:
        index += 1
    return index < n
