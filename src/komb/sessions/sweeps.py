"""All tests of one size in one go.

A sweep decides ``X`` against the target given ``Z`` for every ``X`` and every ``Z`` of ``size``
variables inside a pool. It counts each set of ``size + 1`` variables once and reads the tests of
all its elements from it, and it keeps only the dependences, which are few. Sets are numbered by
their colexicographic rank, ``rank({c1 < c2 < ...}) = C(c1, 1) + C(c2, 2) + ...``.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain

import numpy as np

from komb.counts.binomials import binomials
from komb.counts.fixedpoint import Int64Array
from komb.sessions.questions import EMPTY, Dependence, Question, Variables

#: A sweep whose bookkeeping would take more than this is not made; tests are asked one set at a
#: time instead, with the same answers.
SWEEP_BYTES = 512 << 20


def sweep_bytes(n_pool: int, size: int, n_classes: int) -> int:
    """Bytes of bookkeeping for a sweep."""
    return math.comb(n_pool, size) * 8 * (2 * size + 5 + n_classes)


class Sweep:
    """The dependences among all tests of one size inside a pool.

    Attributes
    ----------
    pool : frozenset of int
    size : int
    members, starts : int arrays
        The candidates that depend given the set of rank ``r`` are ``members[starts[r]:starts[r +
        1]]``, in ascending order.
    binomials : int array
    n_tests, n_tables : int
        Tests decided and joint tables counted for it.
    """

    def __init__(self, pool: list[int], size: int, ranks: Int64Array, members: Int64Array) -> None:
        self.pool = frozenset(pool)
        self.n_tests = self.n_tables = 0
        self.size = size
        self._place = np.zeros(max(pool) + 1, dtype=np.int64)  # of a variable in the pool
        self._place[pool] = np.arange(len(pool))
        self.binomials = binomials(len(pool), size)
        order = np.lexsort((members, ranks))
        self.members = members[order].astype(np.int32)
        n_sets = math.comb(len(pool), size)
        self.starts = np.concatenate(([0], np.cumsum(np.bincount(ranks, minlength=n_sets))))

    def dependents(self, givens: Sequence[Variables]) -> list[list[int]]:
        """For each set inside the pool, all variables that depend on the target given it."""
        variables = np.fromiter(chain.from_iterable(givens), np.int64, len(givens) * self.size)
        places = np.sort(self._place[variables].reshape(-1, self.size), axis=1)
        ranks = rank_sets(places, self.binomials)
        starts, ends = self.starts[ranks], self.starts[ranks + 1]
        members = self.members
        return [
            members[start:end].tolist() if start < end else []
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
        ]


class SweepCache:
    """Sweeps by target and size, looked up before anything is tested."""

    def __init__(self) -> None:
        self._sweeps: dict[tuple[int, int], Sweep] = {}
        self._largest: dict[int, int] = {}  # target -> size

    def has(self, target: int, size: int) -> bool:
        """Whether a sweep was made."""
        return (target, size) in self._sweeps

    def add(self, target: int, size: int, sweep: Sweep) -> None:
        """Keep a sweep."""
        self._sweeps[target, size] = sweep
        self._largest[target] = max(size, self._largest.get(target, 0))

    def forget(self, target: int) -> None:
        """Drop the sweeps of one target."""
        self._largest.pop(target, None)
        for key in [key for key in self._sweeps if key[0] == target]:
            del self._sweeps[key]

    def may_answer(self, target: int, questions: Sequence[Question | Dependence]) -> bool:
        """Whether a sweep is as large as one of the questions."""
        largest = self._largest.get(target, 0)
        return largest > 0 and any(len(given) <= largest for _, given in questions)

    def pool(self, target: int, given: Variables) -> Variables:
        """Return the variables that a sweep has tested given a set."""
        swept = self._sweeps.get((target, len(given)))
        return EMPTY if swept is None or not given <= swept.pool else swept.pool

    def look_up(
        self, target: int, questions: Sequence[Question]
    ) -> tuple[list[list[int]], dict[int, Question]]:
        """Answer what sweeps can; return the answers, and by place what is left to ask."""
        answers: list[list[int]] = [[]] * len(questions)
        left = dict(enumerate(questions))
        if not self.may_answer(target, questions):
            return answers, left
        for size, places in by_size(questions).items():
            swept = self._sweeps.get((target, size))
            if swept is not None:
                inside = [place for place in places if questions[place][1] <= swept.pool]
                _look_up(swept, inside, questions, answers, left)
        return answers, left


def _look_up(
    swept: Sweep,
    places: Sequence[int],
    questions: Sequence[Question],
    answers: list[list[int]],
    left: dict[int, Question],
) -> None:
    """Answer some questions from a sweep, and note which candidates are left to ask about."""
    last: AbstractSet[int] | None = None  # most questions have the candidates of the one before
    others: AbstractSet[int] = EMPTY
    found = swept.dependents([questions[place][1] for place in places])
    for place, dependents in zip(places, found, strict=True):
        candidates, given = questions[place]
        if candidates is not last:
            last, others = candidates, candidates - swept.pool
        answers[place] = [x for x in dependents if x in candidates]
        if others:
            left[place] = others, given
        else:
            del left[place]


def by_size(questions: Sequence[tuple[Collection[int], Variables]]) -> dict[int, list[int]]:
    """Places of the questions, by their number of conditions."""
    places: dict[int, list[int]] = {}
    for place, (_, given) in enumerate(questions):
        places.setdefault(len(given), []).append(place)
    return places


def rank_sets(sets: Int64Array, table: Int64Array) -> Int64Array:
    """Colexicographic rank of each row, an ascending set of positions, by a table of binomials."""
    ranks = np.zeros(len(sets), dtype=np.int64)
    for index in range(sets.shape[1]):
        ranks += table[index + 1, sets[:, index]]
    return ranks


def colex_subsets(n: int, size: int) -> Int64Array:
    """All subsets of ``range(n)`` with ``size`` elements, ascending, in order of their rank."""
    if size == 0:
        return np.empty((1, 0), dtype=np.int64)
    smaller = colex_subsets(n, size - 1)
    # the subsets of range(c) come first among the smaller ones: a prefix of known length
    counts = np.array([math.comb(c, size - 1) for c in range(n)], dtype=np.int64)
    rows = np.concatenate([np.arange(count) for count in counts] or [np.empty(0, dtype=np.int64)])
    largest = np.repeat(np.arange(n), counts)
    return np.column_stack((smaller[rows], largest))
