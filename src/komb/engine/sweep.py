"""Dependences among a great many tests: list those that may be strong enough, then decide.

A sweep asks for all strong dependences of some candidates given any set of one size. It has
millions of tests and finds a handful. A dependence of so many bits has a likelihood ratio of so
much at least, and that is a difference of two sums over sets. So where columns have few levels, a
screen counts them side by side and lists the tests that reach it (:mod:`komb.engine.screens`). What
is listed, and what no screen has seen, is decided like any other test.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import combinations, islice

import numpy as np
from scipy.special import chdtri

from komb.engine.cluster_screens import find_workers, screen_on
from komb.engine.engine import AllSets
from komb.engine.fixed_point import FloatArray, Int64Array
from komb.engine.journal import Journal, Noted, hash_arrays
from komb.engine.questions import TESTS_PER_REPORT, OnProgress, StrongDependence
from komb.engine.rule import Rule
from komb.engine.screens import (
    NEVER,
    ROWS_PER_PART,
    SETS_PER_TILE,
    UNIONS_PER_PART,
    Bits,
    BoolArray,
    Need,
    Tests,
    make_screen,
)
from komb.engine.threads import map_in_order, n_threads

MOST_COMBINATIONS = 256
"""Of the levels of a given set and a candidate; beyond that a screen is no quicker."""

LEAST_WORK = 1 << 29
"""Rows of all tests together from which on it is worth having the kernel of the screen ready."""

WORK_PER_THREAD = 1 << 27
"""Rows of all tests together that are worth starting a thread for."""

_SMALLEST_LEVEL = 1e-290
_MARGIN = (
    1e-6  # relative, and in bits: for rounding; what is listed in vain is decided all the same
)


class Sweep:
    """Everything that :class:`AllSets` asks of a table, in batches.

    Attributes
    ----------
    screened : int array
        Columns that a screen counts; empty if that is not worth while.
    total : int
        Sets that the screen counts, and given sets whose tests are decided one by one.
    n_tests : int
    n_counted : int
        Tables that the screen has counted.
    """

    def __init__(
        self,
        asked: AllSets,
        levels: Int64Array,
        n_rows: int,
        most_combinations: float,
        has_bitmaps: BoolArray,
        need: Need | None,
    ) -> None:
        pool = np.array(sorted(asked.pool), dtype=np.int64)
        self._asked, self._levels, self._need = asked, levels, need
        self._most = most_combinations
        self.screened = pool[has_bitmaps[pool] & (levels[pool] > 0)]
        smallest = np.sort(levels[self.screened])[: asked.size + 1].prod()
        n_sets = math.comb(len(self.screened), asked.size + 1)
        self._n_rows = n_sets * n_rows if smallest <= min(MOST_COMBINATIONS, self._most) else 0
        if need is None or asked.size == 0 or self._n_rows < max(LEAST_WORK, 1):
            self.screened, n_sets = pool[:0], 0
        largest = math.prod(np.sort(levels[pool])[-asked.size - 1 :].tolist())
        self._has_rest = len(self.screened) < len(pool) or largest > MOST_COMBINATIONS
        self.total = n_sets + (math.comb(len(pool), asked.size) if self._has_rest else 0)
        self.n_tests = len(asked.candidates) * math.comb(max(len(pool) - 1, 0), asked.size)
        self.n_counted = 0

    def run(
        self,
        weigh: Callable[[Tests], FloatArray],
        bits: Bits,
        on_progress: OnProgress | None,
        journal: Journal | None = None,
        key: str = "",
    ) -> list[StrongDependence]:
        """Return strong dependences, the strongest first; ``weigh`` has 0 bits for all others."""
        nothing = _no_tests(self._asked.size)
        found = [(np.empty(0), nothing.candidates, nothing.given)]
        for tests, done in self._batches(bits, journal, key):
            if len(tests.candidates):
                own = weigh(tests)
                strong = np.flatnonzero(own)
                found.append((own[strong], tests.candidates[strong], tests.given[strong]))
            if on_progress is not None:
                on_progress(done, self.total)
        return _in_order(*map(np.concatenate, zip(*found, strict=True)))

    def _batches(
        self, bits: Bits, journal: Journal | None, key: str
    ) -> Iterator[tuple[Tests, int]]:
        """Yield what may be strong, a part at a time, and then what no screen can list.

        With how much is done of all that there is to do.
        """
        done = 0
        if len(self.screened):
            for n_unions, n_counted, tests in self._listed(bits, journal, key):
                self.n_counted += n_counted
                done += n_unions
                yield Tests.of(tests[:, 0], tests[:, 1:]), done
        if self._has_rest:
            for n_sets, rest in self._rest():
                done += n_sets
                yield rest, done
            yield _no_tests(self._asked.size), self.total

    def _rest(self) -> Iterator[tuple[int, Tests]]:
        """Yield tests that no screen lists and that have few enough combinations of levels."""
        levels, size = self._levels.astype(np.float64), self._asked.size
        candidates = np.array(sorted(self._asked.candidates), np.int64)
        is_screened = np.isin(np.arange(len(levels)), self.screened)
        sets = combinations(sorted(self._asked.pool), size)
        while some := list(islice(sets, -(-TESTS_PER_REPORT // max(1, len(candidates))))):
            given = np.array(some, np.int64).reshape(len(some), size)
            n_combinations = np.outer(levels[given].prod(axis=1), levels[candidates])
            is_listed = np.outer(is_screened[given].all(axis=1), is_screened[candidates])
            is_listed &= n_combinations <= MOST_COMBINATIONS
            is_asked = (n_combinations <= self._most) & ~is_listed
            for column in given.T:
                is_asked &= column[:, None] != candidates
            n_asked = is_asked.sum(axis=1)
            is_used = n_asked > 0
            own = candidates[np.nonzero(is_asked)[1]]
            yield len(some), Tests(own, given[is_used], np.append(0, n_asked[is_used].cumsum()))

    def _listed(self, bits: Bits, journal: Journal | None, key: str) -> Iterator[Noted]:
        assert self._need is not None  # or there were no columns to screen
        size, most = self._asked.size, int(min(self._most, MOST_COMBINATIONS))
        threads = max(1, min(n_threads(), self._n_rows // WORK_PER_THREAD))
        is_asked = np.isin(self.screened, sorted(self._asked.candidates))
        need = self._need._replace(gain=self._need.gain[: most + 1])
        screen = make_screen(bits, self.screened, is_asked, size, need, threads)

        def work(first: int) -> Iterator[Noted]:
            parts = islice(screen.cut(), first, None)
            workers = find_workers(self._n_rows, screen.n_bytes, threads)
            found = (
                map_in_order(screen.run, parts, threads)
                if workers is None
                else screen_on(workers, screen, parts)
            )
            for listed in found:
                tests = np.column_stack((listed.candidates, listed.given))
                yield Noted(listed.n_unions, listed.n_counted, tests)

        if journal is None:
            return work(0)
        cutting = [size, UNIONS_PER_PART, ROWS_PER_PART, SETS_PER_TILE]
        needs = [need.gain, [need.sparse_gain, need.rows_per_cell]]
        own = hash_arrays(cutting, *needs, self.screened, is_asked)
        return journal.run(f"{key} {own}", work)


def _no_tests(size: int) -> Tests:
    return Tests.of(np.empty(0, np.int64), np.empty((0, size), np.int64))


def _in_order(
    bits: FloatArray, candidates: Int64Array, given: Int64Array
) -> list[StrongDependence]:
    """Sort dependences by strength; those given one set share it."""
    order = np.lexsort((*given.T[::-1], candidates, -bits))
    sets, set_of = np.unique(given[order], axis=0, return_inverse=True)
    shared = [frozenset(z) for z in sets.tolist()]
    in_order = map(shared.__getitem__, set_of.tolist())
    return list(zip(bits[order].tolist(), candidates[order].tolist(), in_order, strict=True))


def least_gain(rule: Rule, n_y: int, scale: float, least_bits: float, n_rows: int) -> Need | None:
    """Return what tests need to be so strong; None if a likelihood ratio does not tell.

    Code lengths grow with the number of strata, so a code saves no more than the gain in fit.
    """
    if rule.divergence and not rule.has_moments:
        return None
    freedom = (n_y - 1) * np.arange(MOST_COMBINATIONS + 1.0)
    if rule.is_adjusted or rule.has_moments:  # it is not known before the table is counted
        freedom = np.minimum(freedom, 1.0)
    level = max(min(rule.alpha, 2.0**-least_bits), _SMALLEST_LEVEL)
    bits = chdtri(freedom, level) / (2.0 * math.log(2.0))
    bits[freedom == 0] = math.inf
    sparse = least_bits if least_bits > 0 else -math.inf
    gain = np.append(bits, sparse) * (1.0 - _MARGIN) - _MARGIN
    fixed = np.clip(gain * scale, -NEVER, NEVER).astype(np.int64)
    return Need(fixed[:-1], int(fixed[-1]), min(rule.coded_below, n_rows + 1.0))
