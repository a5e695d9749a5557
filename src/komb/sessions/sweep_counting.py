"""All tests of one size in one go: how they are counted.

A sweep counts each set of ``size + 1`` variables once and reads the tests of all its elements from
it.

If values are missing, the rows of a set are those that are complete for it, and so are those of the
given set of each of its tests: a margin of its table. Sets whose tables are too large for that have
their other tests counted one by one.

A statistic that needs the table of each test, not only sums over sets, is counted one by one too,
unless the test can tell from the sums alone that most of them are no dependences
(:meth:`~komb.citests.contract.CITest.screen`). Where there are many more rows than cells, the table
of a set is read for all of its tests (:mod:`komb.sessions.tabled_sweep`).

Where that helps, most of a sweep is counted and screened by one kernel, on all processors
(:mod:`komb.sessions.screened_sweep`); what is said here goes for the rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from functools import partial

import numpy as np

from komb.citests.contract import CITest
from komb.citests.measure import BoolArray, Tests, TestSums
from komb.counts.binomials import binomials
from komb.counts.contingency import Contingency, Summaries
from komb.counts.fixedpoint import Int64Array
from komb.counts.union_tables import UnionTables
from komb.sessions.listed_tests import Listed
from komb.sessions.questions import OnProgress, Variables
from komb.sessions.screened_sweep import screened_sweep
from komb.sessions.sweep_journal import SweepJournal
from komb.sessions.sweeps import Sweep, colex_subsets, rank_sets
from komb.sessions.tabled_sweep import tabled_sweep

# A chunk is about a second of work at most: progress is reported and interrupts are heard between.
UNIONS_PER_CHUNK = 1 << 17
ROWS_PER_CHUNK = 1 << 28

Decider = Callable[[TestSums], BoolArray]


class Sweeper:
    """Makes a sweep.

    Parameters
    ----------
    contingency : Contingency
    test : CITest
        Says what it needs, and what it can rule out before tables are counted.
    alpha : float
        What is no dependence at this level may be ruled out.
    decide : callable
        Turns sums over a batch of tests into decisions.
    pool : sorted list of variables
    size : int
        Number of conditions of each test, at least 1.
    candidates : set of variables, optional
        Those of the pool to decide about; all of them if left out.
    most_cells : float, optional
        Tests whose variables have more combinations of levels are left out.

    Attributes
    ----------
    journal : SweepJournal or None
        Where to note what is screened.
    n_tables : int
        Joint tables counted.
    """

    def __init__(
        self,
        contingency: Contingency,
        test: CITest,
        alpha: float,
        decide: Decider,
        pool: list[int],
        size: int,
        *,
        candidates: AbstractSet[int] | None = None,
        most_cells: float = math.inf,
    ) -> None:
        self.journal: SweepJournal | None = None
        self._pool = pool
        self._size = size
        self._variables = np.array(pool, dtype=np.int64)
        self._contingency = contingency
        self._decide = decide
        self._length_below = test.length_below
        self._wants_tables = test.needs_tables
        self._screen: Decider | None = (
            partial(test.screen, alpha=alpha) if test.can_screen else None
        )
        self._most_cells = most_cells / max(contingency.target_levels, 1)  # 0: it is never there
        self._levels = contingency.cardinalities[pool].astype(np.float64)
        self._is_asked = np.array([candidates is None or x in candidates for x in pool])
        self._binomials = binomials(len(pool), size + 1)
        self._subsets = colex_subsets(len(pool), size)
        self._sets = self._variables[self._subsets]
        self._screened = (
            screened_sweep(
                contingency, test, alpha, self._variables, self._is_asked, size, self._most_cells
            )
            if self._is_by_union
            else None
        )
        self._tabled = tabled_sweep(contingency, test, alpha, self._variables, self._is_asked, size)
        self.n_tables = self._n_unions = self._n_decided = 0

    def run(self, on_progress: OnProgress | None = None) -> Sweep:
        """Decide every test; ``on_progress`` is called with what is done and what there is."""
        ranks, members = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        for found_ranks, found_members in self._found(on_progress):
            ranks.append(found_ranks)
            members.append(found_members)
        swept = Sweep(self._pool, self._size, np.concatenate(ranks), np.concatenate(members))
        swept.n_tests, swept.n_tables = self.n_tests, self.n_tables
        return swept

    def dependences(self, on_progress: OnProgress | None = None) -> Iterator[tuple[int, Variables]]:
        """Decide every test; yield those that are dependences, a candidate with its given set."""
        for ranks, members in self._found(on_progress):
            for given, member in zip(self._sets[ranks].tolist(), members.tolist(), strict=True):
                yield member, frozenset(given)

    @property
    def n_tests(self) -> int:
        """How many tests there are to decide."""
        n_candidates = int(np.count_nonzero(self._is_asked))
        return n_candidates * math.comb(len(self._pool) - 1, self._size)

    @property
    def _is_by_union(self) -> bool:
        """Whether every set is counted once for the tests of all its elements."""
        return not self._wants_tables or self._screen is not None

    def _found(self, on_progress: OnProgress | None) -> Iterator[tuple[Int64Array, Int64Array]]:
        """Given sets and candidates of the dependences, a chunk at a time.

        Progress is in sets counted, or in tests decided if tests have tables of their own.
        """
        chunks = self._with_missing if self._contingency.has_missing else self._complete
        n_unions = math.comb(len(self._pool), self._size + 1)
        for ranks, places in chunks(self._subsets):
            yield ranks, self._variables[places]
            if on_progress is not None and self._is_by_union:
                on_progress(min(self._n_unions, n_unions), n_unions)
            elif on_progress is not None:
                on_progress(self._n_decided, self.n_tests)

    @property
    def _unions_per_chunk(self) -> int:
        """How many sets are about a second of work."""
        n_rows = self._contingency.rows_per_table
        return max(1, min(UNIONS_PER_CHUNK, ROWS_PER_CHUNK // n_rows))

    def _chunks(self, counts: Int64Array) -> Iterator[slice]:
        """Consecutive slices whose counts add up to about a second of work."""
        return cut(counts, self._unions_per_chunk)

    def _columns(self, sets: Int64Array) -> Int64Array:
        """Turn sets into columns of the table, largest first: that is what neighbours share."""
        return np.ascontiguousarray(self._variables[sets][:, ::-1])

    def _summarise_given(self, sets: Int64Array) -> Summaries:
        self.n_tables += len(sets)
        nothing = np.empty(0, dtype=np.int64)
        parts = []
        for chunk in self._chunks(np.ones(len(sets), dtype=np.int64)):
            columns = self._columns(sets[chunk])
            parts.append(
                self._contingency.summarise(
                    columns,
                    np.zeros(len(columns) + 1, dtype=np.int64),
                    nothing,
                    length_below=self._length_below,
                    wants_splits=True,
                )
            )
        return Summaries(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))

    def _complete(self, sets: Int64Array) -> Iterator[tuple[Int64Array, Int64Array]]:
        if self.journal is None and self._tabled is not None and self._tabled.is_quicker:
            self._screened = None
        own = self._summarise_given(sets)
        yield from self._by_screened_union(sets, own)
        if not self._wants_tables:
            yield from self._by_union(sets, own, self._decide)
        elif self._screen is None:
            yield from self._by_set(sets, own)
        else:
            yield from self._by_union_table(sets, own)
            for ranks, places in self._by_union(sets, own, self._screen):
                # an empty chunk is progress too
                yield self._by_test(sets, ranks, places, own) if len(ranks) else (ranks, places)

    def _with_missing(self, sets: Int64Array) -> Iterator[tuple[Int64Array, Int64Array]]:
        if not self._is_by_union:
            yield from self._by_set(sets, None)
            return
        yield from self._by_screened_union(sets, None)
        if not self._wants_tables:
            yield from self._by_union_with_missing(sets, self._decide)
        else:
            for ranks, places in self._by_union_with_missing(sets, self._screen or self._decide):
                yield self._by_test(sets, ranks, places) if len(ranks) else (ranks, places)

    def _by_screened_union(
        self, sets: Int64Array, own: Summaries | None
    ) -> Iterator[tuple[Int64Array, Int64Array]]:
        """Count what can be screened where it is counted, and decide what is left of it."""
        if self._screened is None:
            return
        is_read = self._tabled is not None and own is not None and self.journal is None
        parts = self._screened.run(own, self._unions_per_chunk, self.journal, wants_tables=is_read)
        for listed in parts:
            self._n_unions += listed.n_unions
            self.n_tables += listed.n_counted
            if self._tabled is not None and own is not None and listed.tables is not None:
                sums = self._tabled.read(listed.tables)
                yield self._decide_read(listed.ranks, listed.places, own, sums)
            else:
                yield self._decide_listed(sets, listed, own)  # an empty chunk is progress too

    def _decide_listed(
        self, sets: Int64Array, listed: Listed, own: Summaries | None
    ) -> tuple[Int64Array, Int64Array]:
        """Decide what the screen has left, and count it again if the statistic calls for that."""
        decide = self._decide if not self._wants_tables else self._screen or self._decide
        _, _, ranks, places, fit, _ = listed
        if own is not None and len(ranks):
            nothing = np.zeros_like(fit)
            unions = Summaries(*[nothing] * len(Summaries._fields))._replace(union_fit=fit)
            ranks, places = self._dependences(ranks, places, own, ranks, unions, decide)
        if len(ranks) and (own is None or self._wants_tables):
            is_new = self._wants_tables  # or else the sums of these tables are asked for again
            return self._by_test(sets, ranks, places, own, is_new=is_new)
        return ranks, places

    def _decide_read(
        self, ranks: Int64Array, places: Int64Array, own: Summaries, sums: Int64Array
    ) -> tuple[Int64Array, Int64Array]:
        """Decide tests whose tables were read; those that are ruled out do not count as tables."""
        screen = self._screen
        assert screen is not None  # without one, sets are not counted

        def decide(sums: TestSums) -> BoolArray:
            is_hit = np.zeros(len(sums.levels), dtype=np.bool_)
            possible = np.flatnonzero(screen(sums))
            self.n_tables += len(possible)
            if len(possible):
                is_hit[possible] = self._decide(sums.only(possible))
            return is_hit

        unions = UnionTables.summaries(sums)
        return self._dependences(ranks, places, own, ranks, unions, decide)

    def _by_union_table(
        self, sets: Int64Array, own: Summaries
    ) -> Iterator[tuple[Int64Array, Int64Array]]:
        """Count every union once, and read the tests of all its elements from its table."""
        if self._tabled is None:
            return
        for unions in self._unions_per_plan(sets):
            blocks = self._tabled.plan(unions)
            per_chunk = max(1, ROWS_PER_CHUNK // self._contingency.rows_per_table)
            for first in range(0, len(blocks.sizes), per_chunk):
                part = blocks.part(first, first + per_chunk)
                union = unions[part.order]
                self.n_tables += len(union)
                tests = [self._tests_of(union, omitted) for omitted in range(self._size + 1)]
                ranks, places = (np.stack(each, axis=1) for each in zip(*tests, strict=True))
                is_reached, sums = self._tabled.count(part, union, ranks, places, own)
                yield self._decide_read(ranks[is_reached], places[is_reached], own, sums)

    def _unions_per_plan(self, sets: Int64Array) -> Iterator[Int64Array]:
        """Yield sets whose tables are read, a great many at a time, to be counted together."""
        found: list[Int64Array] = []
        for _, _, union in self._unions(sets, is_tabled=True):
            found.append(union)
            if sum(map(len, found)) >= UNIONS_PER_CHUNK:
                yield np.concatenate(found)
                found = []
        if sum(map(len, found)):
            yield np.concatenate(found)

    def _by_union(
        self, sets: Int64Array, own: Summaries, decide: Decider
    ) -> Iterator[tuple[Int64Array, Int64Array]]:
        """Count every union once, as its set without the largest element plus that element."""
        for chunk, counts, union in self._unions(sets):
            sums = self._count(sets[chunk], counts, union[:, -1], wants_tables=False)
            for omitted in range(self._size + 1):
                ranks, candidate = self._tests_of(union, omitted)
                yield self._dependences(ranks, candidate, own, ranks, sums, decide)

    def _unions(
        self, sets: Int64Array, *, is_tabled: bool = False
    ) -> Iterator[tuple[slice, Int64Array, Int64Array]]:
        """Chunks of the given sets, how many larger elements each can have, and the unions.

        Unions without any of the candidates, or with too many combinations, are left out, and so
        are those that were screened. Those whose tables are read come by themselves, before others.
        """
        n_pool = len(self._variables)
        if self._screened is not None and self._screened.has_all:
            return
        tabled = self._tabled
        if tabled is not None and tabled.has_all and not is_tabled:
            return
        followers = n_pool - 1 - sets[:, -1]
        for chunk in self._chunks(followers):
            counts = followers[chunk]
            largest = np.concatenate([np.arange(n_pool - count, n_pool) for count in counts])
            union = np.column_stack((np.repeat(sets[chunk], counts, axis=0), largest))
            if is_tabled or tabled is None:
                self._n_unions += len(union)
                if self._screened is not None:
                    self._n_unions -= int(self._screened.is_inside[union].all(axis=1).sum())
            is_kept = self._is_asked[union].any(axis=1) & self._is_small(union)
            if tabled is not None:
                is_kept &= tabled.has(union) == is_tabled
            if self._screened is not None:
                is_kept &= ~self._screened.has(union)
            if not is_kept.all():
                place = np.repeat(np.arange(len(counts)), counts)
                counts = np.bincount(place[is_kept], minlength=len(counts))
                union = union[is_kept]
            yield chunk, counts, union

    def _is_small(self, union: Int64Array) -> BoolArray:
        """Whether sets have no more combinations of levels than they may."""
        small: BoolArray = self._levels[union].prod(axis=1) <= self._most_cells
        return small

    def _tests_of(self, union: Int64Array, omitted: int) -> tuple[Int64Array, Int64Array]:
        """Ranks of the unions without one of their elements, and those elements."""
        given = np.delete(union, omitted, axis=1)
        return rank_sets(given, self._binomials), union[:, omitted]

    def _by_union_with_missing(
        self, sets: Int64Array, decide: Decider
    ) -> Iterator[tuple[Int64Array, Int64Array]]:
        """Count every union once, with the margins that are the given sets of its tests."""
        for chunk, counts, union in self._unions(sets):
            self.n_tables += len(union)
            by_element = self._contingency.summarise_exchanged(
                self._columns(sets[chunk]),
                np.concatenate(([0], np.cumsum(counts))),
                self._variables[union[:, -1]],
                length_below=self._length_below,
            )
            *others, last = by_element
            left = []
            # columns of the table are in descending order
            for omitted, sums in enumerate([*reversed(others), last]):
                ranks, candidate = self._tests_of(union, omitted)
                is_counted = sums.strata >= 0
                if not is_counted.all():
                    left.append((ranks[~is_counted], candidate[~is_counted]))
                    sums = Summaries(*(array[is_counted] for array in sums))
                    ranks, candidate = ranks[is_counted], candidate[is_counted]
                index = np.arange(len(ranks))
                yield self._dependences(ranks, candidate, sums, index, sums, decide)
            if left:
                by_test = [np.concatenate(parts) for parts in zip(*left, strict=True)]
                yield self._by_test(sets, by_test[0], by_test[1], decide=decide)

    def _by_test(
        self,
        sets: Int64Array,
        ranks: Int64Array,
        candidates: Int64Array,
        own: Summaries | None = None,
        *,
        is_new: bool = True,
        decide: Decider | None = None,
    ) -> tuple[Int64Array, Int64Array]:
        """Count some tests by themselves, those with the same given set together.

        What only screens them needs no tables.
        """
        is_screened = decide is not None and decide is self._screen
        wants_tables = self._wants_tables and not is_screened
        order = np.lexsort((candidates, ranks))
        ranks, candidates = ranks[order], candidates[order]
        found, counts = np.unique(ranks, return_counts=True)
        is_new = is_new and not is_screened  # or else they are counted as unions already
        sums = self._count(sets[found], counts, candidates, wants_tables, is_new=is_new)
        index = np.arange(len(ranks)) if own is None else ranks
        decide = decide or self._decide
        return self._dependences(ranks, candidates, own or sums, index, sums, decide)

    def _by_set(
        self, sets: Int64Array, own: Summaries | None
    ) -> Iterator[tuple[Int64Array, Int64Array]]:
        """Count every test by itself, for statistics that need its own table."""
        asked = np.flatnonzero(self._is_asked)
        counts = len(asked) - self._is_asked[sets].sum(axis=1)
        for chunk in self._chunks(counts):
            candidates = np.concatenate([asked[~np.isin(asked, row)] for row in sets[chunk]])
            ranks = np.repeat(np.arange(chunk.start, chunk.stop), counts[chunk])
            is_small = self._is_small(np.column_stack((sets[ranks], candidates)))
            candidates, ranks = candidates[is_small], ranks[is_small]
            per_set = np.bincount(ranks - chunk.start, minlength=chunk.stop - chunk.start)
            sums = self._count(sets[chunk], per_set, candidates, self._wants_tables)
            index = np.arange(len(ranks)) if own is None else ranks
            yield self._dependences(ranks, candidates, own or sums, index, sums, self._decide)

    def _count(
        self,
        sets: Int64Array,
        counts: Int64Array,
        candidates: Int64Array,
        wants_tables: bool,
        *,
        is_new: bool = True,
    ) -> Summaries:
        self.n_tables += len(candidates) if is_new else 0
        starts = np.concatenate(([0], np.cumsum(counts)))
        return self._contingency.summarise(
            self._columns(sets),
            starts,
            self._variables[candidates],
            length_below=self._length_below,
            wants_tables=wants_tables,
        )

    def _dependences(
        self,
        ranks: Int64Array,
        candidates: Int64Array,
        own: Summaries,
        index: Int64Array,
        unions: Summaries,
        decide: Decider,
    ) -> tuple[Int64Array, Int64Array]:
        """Decide some tests; returns the given set and the candidate of the dependences."""
        tests = Tests(self._contingency, self._variables[candidates], self._sets, ranks)
        sums = TestSums(tests, own, index, unions)
        is_asked = self._is_asked[candidates]
        if not is_asked.all():
            asked = np.flatnonzero(is_asked)
            sums, ranks, candidates = sums.only(asked), ranks[asked], candidates[asked]
        hit = decide(sums)
        self._n_decided += len(ranks)
        return ranks[hit], candidates[hit]


def cut(counts: Int64Array, room: int) -> Iterator[slice]:
    """Cut into consecutive slices whose counts add up to at most ``room``, if there are several."""
    ends = np.cumsum(counts)
    first = 0
    while first < len(counts):
        done = ends[first - 1] if first else 0
        last = max(int(np.searchsorted(ends, done + room, side="right")), first + 1)
        if ends[last - 1] > done:
            yield slice(first, last)
        first = last
