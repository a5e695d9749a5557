"""All tests of one size in one go.

A sweep decides ``X`` against the target given ``Z`` for every ``X`` and every ``Z`` of ``size``
variables inside a pool. It counts each set of ``size + 1`` variables once and reads the tests of
all its elements from it, and it keeps only the dependences, which are few. Sets are numbered by
their colexicographic rank, ``rank({c1 < c2 < ...}) = C(c1, 1) + C(c2, 2) + ...``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from komb.citests.measure import BoolArray, TestSums
from komb.citests.session import Variables
from komb.counts.contingency import Contingency, Summaries
from komb.counts.fixedpoint import Int64Array

#: A sweep whose bookkeeping would take more than this is not made; tests are asked one set at a
#: time instead, with the same answers.
SWEEP_BYTES = 512 << 20
UNIONS_A_CHUNK = 1 << 17

Decider = Callable[[TestSums], BoolArray]


def sweep_bytes(n_pool: int, size: int, n_classes: int) -> int:
    """Bytes of bookkeeping for a sweep."""
    return math.comb(n_pool, size) * 8 * (size + 5 + n_classes)


class Sweep:
    """The dependences found among all tests of one size inside a pool.

    Parameters
    ----------
    contingency : Contingency
    decide : callable
        Turns sums over a batch of tests into decisions.
    pool : sorted sequence of variables
    size : int
        Number of conditions of each test, at least 1.
    length_below, wants_tables
        As in :meth:`komb.counts.contingency.Contingency.summarise`.
    on_progress : callable, optional
        Called with (sets counted, sets in all).
    """

    def __init__(
        self,
        contingency: Contingency,
        decide: Decider,
        pool: list[int],
        size: int,
        *,
        length_below: float,
        wants_tables: bool,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.pool = frozenset(pool)
        self.size = size
        self._variables = np.array(pool, dtype=np.int64)
        self._position = {variable: position for position, variable in enumerate(pool)}
        self._contingency = contingency
        self._decide = decide
        self._length_below = length_below
        self._wants_tables = wants_tables
        self._binomials = _binomials(len(pool), size + 1)
        self.n_tests = (size + 1) * math.comb(len(pool), size + 1)
        self.n_tables = 0
        sets = colex_subsets(len(pool), size)
        own = self._summarise_given(sets)
        chunks = self._by_set(sets, own) if wants_tables else self._by_union(sets, own)
        total = self.n_tests if wants_tables else math.comb(len(pool), size + 1)
        ranks, members = [], []
        for found_ranks, found_members in chunks:
            ranks.append(found_ranks)
            members.append(found_members)
            if on_progress is not None:
                on_progress(self.n_tables - len(sets), total)
        self._index(np.concatenate([*ranks, []]), np.concatenate([*members, []]), len(sets))

    def covers(self, given: Variables, candidates: Variables) -> bool:
        """Whether the tests of ``candidates`` given ``given`` belong to this sweep."""
        return len(given) == self.size and given <= self.pool and candidates <= self.pool

    def dependents(self, given: Variables) -> list[int]:
        """All variables of the pool that depend on the target given ``given``, in order."""
        positions = sorted(self._position[variable] for variable in given)
        rank = sum(math.comb(position, index + 1) for index, position in enumerate(positions))
        found: list[int] = self._members[self._starts[rank] : self._starts[rank + 1]].tolist()
        return found

    def _summarise_given(self, sets: Int64Array) -> Summaries:
        self.n_tables += len(sets)
        nothing = np.empty(0, dtype=np.int64)
        starts = np.zeros(len(sets) + 1, dtype=np.int64)
        return self._contingency.summarise(
            self._variables[sets],
            starts,
            nothing,
            length_below=self._length_below,
            wants_splits=True,
        )

    def _by_union(
        self, sets: Int64Array, own: Summaries
    ) -> Iterator[tuple[Int64Array, Int64Array]]:
        """Count every union once, as its set without the largest element plus that element."""
        n_pool = len(self._variables)
        followers = n_pool - 1 - sets[:, -1]
        for chunk in _chunks(followers):
            counts = followers[chunk]
            largest = np.concatenate([np.arange(n_pool - count, n_pool) for count in counts])
            union = np.column_stack((np.repeat(sets[chunk], counts, axis=0), largest))
            sums = self._count(sets[chunk], counts, largest)
            for omitted in range(self.size + 1):
                given = np.delete(union, omitted, axis=1)
                ranks = self._rank(given)
                candidate = union[:, omitted]
                hit = self._decide(self._test_sums(candidate, ranks, own, sums))
                yield ranks[hit], self._variables[candidate[hit]]

    def _by_set(self, sets: Int64Array, own: Summaries) -> Iterator[tuple[Int64Array, Int64Array]]:
        """Count every test by itself, for statistics that need its own table."""
        n_pool = len(self._variables)
        counts = np.full(len(sets), n_pool - self.size)
        everyone = np.arange(n_pool)
        for chunk in _chunks(counts):
            others = np.concatenate([np.delete(everyone, row) for row in sets[chunk]])
            ranks = np.repeat(np.arange(len(sets))[chunk], counts[chunk])
            sums = self._count(sets[chunk], counts[chunk], others)
            hit = self._decide(self._test_sums(others, ranks, own, sums))
            yield ranks[hit], self._variables[others[hit]]

    def _count(self, sets: Int64Array, counts: Int64Array, candidates: Int64Array) -> Summaries:
        self.n_tables += len(candidates)
        starts = np.concatenate(([0], np.cumsum(counts)))
        return self._contingency.summarise(
            self._variables[sets],
            starts,
            self._variables[candidates],
            length_below=self._length_below,
            wants_tables=self._wants_tables,
        )

    def _test_sums(
        self, candidate: Int64Array, ranks: Int64Array, own: Summaries, unions: Summaries
    ) -> TestSums:
        return TestSums.of(self._contingency, self._variables[candidate], own, ranks, unions)

    def _rank(self, sets: Int64Array) -> Int64Array:
        ranks = np.zeros(len(sets), dtype=np.int64)
        for index in range(sets.shape[1]):
            ranks += self._binomials[index + 1][sets[:, index]]
        return ranks

    def _index(self, ranks: Int64Array, members: Int64Array, n_sets: int) -> None:
        """Sort the dependences by set, then by variable."""
        order = np.lexsort((members, ranks))
        self._members = members[order].astype(np.int32)
        counts = np.bincount(ranks.astype(np.int64), minlength=n_sets)
        self._starts = np.concatenate(([0], np.cumsum(counts)))


def colex_subsets(n: int, size: int) -> Int64Array:
    """All subsets of ``range(n)`` with ``size`` elements, ascending, in order of their rank.

    Examples
    --------
    >>> colex_subsets(4, 2).tolist()
    [[0, 1], [0, 2], [1, 2], [0, 3], [1, 3], [2, 3]]
    """
    if size == 0:
        return np.empty((1, 0), dtype=np.int64)
    smaller = colex_subsets(n, size - 1)
    # the subsets of range(c) come first among the smaller ones: a prefix of known length
    counts = np.array([math.comb(c, size - 1) for c in range(n)], dtype=np.int64)
    rows = np.concatenate([np.arange(count) for count in counts] or [np.empty(0, dtype=np.int64)])
    largest = np.repeat(np.arange(n), counts)
    return np.column_stack((smaller[rows], largest))


def _binomials(n: int, size: int) -> list[Int64Array]:
    """``table[k][c] = C(c, k)``."""
    return [
        np.array([math.comb(c, k) for c in range(n + 1)], dtype=np.int64) for k in range(size + 1)
    ]


def _chunks(counts: Int64Array) -> Iterator[slice]:
    """Consecutive slices whose counts add up to about ``UNIONS_A_CHUNK``."""
    ends = np.cumsum(counts)
    first = 0
    while first < len(counts):
        done = ends[first - 1] if first else 0
        last = int(np.searchsorted(ends, done + UNIONS_A_CHUNK, side="right"))
        last = max(last, first + 1)
        if ends[last - 1] > done:
            yield slice(first, last)
        first = last
