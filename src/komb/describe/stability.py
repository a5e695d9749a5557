"""The same search on halves of the rows: how they are drawn, searched and counted.

What it is for, and what it bounds, is in :mod:`komb.results.stability`.

A search of a half-sample costs about half of what the search has cost, too much for whoever only
prints a blanket. What decides whether a member is found again is, for the most part, whether a
*rival* takes its place: a column that tells much about the target given the other members. So what
is printed of a short table rests on a few halves of which members and rivals alone are searched, at
the level of all columns (:func:`find_again`). That they are fewer still makes every threshold for
many tests milder; :func:`measure_stability` leaves nothing out.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from numbers import Integral
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from komb.data.checks import check_count, check_progress
from komb.data.names import Name
from komb.data.row_sample import shuffle_rows
from komb.engine.engine import Engine
from komb.engine.questions import Variables
from komb.errors import Argument, DataError, InPython, Interrupted, ParameterError
from komb.results.stability import Group, Stability

if TYPE_CHECKING:
    from komb.api.run import Run
    from komb.data.table import DiscreteTable
    from komb.results.blanket import Blanket

Rows: TypeAlias = npt.NDArray[np.intp]
Witnesses: TypeAlias = Mapping[int, frozenset[int] | None]  # of members; none if by request

_ROWS_TO_SPLIT = 4  # halves of fewer rows have nothing to test

MOST_ROWS = 5_000
"""Rows of a short table; with more the evidence for members is seldom a matter of chance."""

SHORT_HALVES = 10
"""Half-samples of members and rivals."""

FEWEST_HALVES = 4
"""With fewer nothing is said."""

RIVALS_OF_ONE = 2
"""Rivals of each member."""

MOST_COLUMNS = 20
"""Members and rivals, those with most evidence; of more members nothing is said."""

MOST_TESTS = 5_000
"""After so many tests on counts, and as many as the search took, no more halves are searched."""


MOST_COSTLY_TESTS = 2_000
"""The same of tests that cost more than those on counts."""


def measure_stability(
    run: Run, blanket: Blanket, n_halves: int, seed: int, progress: Callable[[int], None] | None
) -> Stability:
    """Search halves of the rows as the whole table was searched; see ``Blanket.stability``."""
    check_halves("n_halves", n_halves)
    check_count("seed", seed)
    check_progress(progress)
    table, target = run.table, run.table.index(blanket.target)
    if table.n_rows < _ROWS_TO_SPLIT:
        rule = f"have at least {_ROWS_TO_SPLIT} rows to be split into halves"
        raise DataError.because("data", rule, table.n_rows, "Collect more rows.")
    began, tally = time.perf_counter(), Tally()
    try:
        for rows in draw_halves(table.n_rows, n_halves, seed):
            if progress is not None:
                progress(len(tally.halves))
            tally.add(*_search_half(run, target, rows))
    except KeyboardInterrupt:
        done = f"Interrupted after {len(tally.halves)} of {n_halves} half-samples"
        message = done, InPython("; 'finished' holds what they say"), "."
        raise Interrupted(message, tally.settle(run, blanket, began)) from None
    return tally.settle(run, blanket, began)


def find_again(run: Run, blanket: Blanket) -> Stability | None:
    """Search members and their rivals in a few halves of a short table; None if that is dear."""
    is_short = _ROWS_TO_SPLIT <= blanket.n_rows <= MOST_ROWS and run.data.is_in_memory
    n_found = sum(not member.is_by_request for member in blanket.evidence)
    if not (is_short and 0 < n_found < MOST_COLUMNS and run.search.test == "auto"):
        return None
    target, members, tally = run.data.index(blanket.target), run.positions(blanket), Tally()
    if blanket.sight:  # halves without a finding are not searched any further than the table
        options = {**run.search.options, "order": blanket.sight[-1].order}
        run = replace(run, search=replace(run.search, options=options))
    engine, began = run.open_engine(), time.perf_counter()
    among = members | find_rivals(run, engine, target, members)
    least = MOST_TESTS if engine.test_cost <= 1.0 else MOST_COSTLY_TESTS
    most_tests = max(least, blanket.tests)
    for rows in same_halves(run.table, SHORT_HALVES):
        if len(tally.halves) % 2 == 0 and tally.tests >= most_tests:
            break
        tally.add(*_search_half(run, target, rows, among))
    return tally.settle(run, blanket, began) if len(tally.halves) >= FEWEST_HALVES else None


def find_rivals(run: Run, engine: Engine, target: int, members: Variables) -> Variables:
    """Return the columns outside that tell most about the target given all members but one."""
    outside = run.candidates(target) - members
    questions = [(outside, members - {x}) for x in sorted(members)]
    strongest = dict[int, float]()
    for bits in engine.evidence(target, questions):
        for x in sorted(bits, key=lambda x: (-bits[x], x))[:RIVALS_OF_ONE]:
            strongest[x] = max(bits[x], strongest.get(x, 0.0))
    return frozenset(
        sorted(strongest, key=lambda x: (-strongest[x], x))[: max(0, MOST_COLUMNS - len(members))]
    )


def check_halves(parameter: str, value: object) -> None:
    """Raise unless a number of half-samples is one of complementary pairs."""
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_whole or value < 2 or value % 2:  # type: ignore[operator]
        rule = "be an even number, at least 2: rows are split into pairs of halves"
        raise ParameterError.because(parameter, rule, value, ("Try ", Argument(parameter, 50), "."))


def _search_half(
    run: Run, target: int, rows: Rows, among: Variables | None = None
) -> tuple[Witnesses, int]:
    """Find the blanket of a target in some rows, and count tests; empty if nothing is left."""
    half = run.on_rows(rows, target, among)
    if half is None:
        return {}, 0
    own, position = half
    places = [run.data.index(name) for name in own.names]
    finding = own.search_for(position)
    return {
        places[x]: None if witness is None else frozenset(places[z] for z in witness)
        for x, witness in finding.found.witnesses.items()
    }, finding.counts.tests


def draw_halves(n_rows: int, n_halves: int, seed: int) -> Iterator[Rows]:
    """Yield the rows of each half, one of a pair after the other.

    Halves have ``n_rows // 2`` rows; of an odd number of rows each pair leaves out one.
    """
    rng = np.random.default_rng(seed)
    size = n_rows // 2
    for _ in range(n_halves // 2):
        order = rng.permutation(n_rows)
        yield np.sort(order[:size])
        yield np.sort(order[size : 2 * size])


def same_halves(table: DiscreteTable, n_halves: int) -> Iterator[Rows]:
    """Yield halves with the same rows whatever the order of rows is."""
    order = shuffle_rows(table)
    for places in draw_halves(table.n_rows, n_halves, seed=0):
        yield np.sort(order[places])


@dataclass(slots=True)
class Tally:
    """Counts what half-samples find; columns are positions in the table."""

    tests: int = 0
    halves: list[Variables] = field(default_factory=list)
    together: Counter[frozenset[int]] = field(default_factory=Counter)

    def add(self, witnesses: Witnesses, tests: int = 0) -> None:
        """Count the blanket of one half-sample; members by request were not found."""
        self.tests += tests
        own = {x: witness for x, witness in witnesses.items() if witness is not None}
        self.halves.append(frozenset(own))
        self.together.update({witness | {x} for x, witness in own.items() if witness})

    def settle(self, run: Run, blanket: Blanket, began: float) -> Stability:
        """Turn counts into shares, and positions into names."""
        n_halves, names = max(1, len(self.halves)), run.names
        found = Counter(chain.from_iterable(self.halves))
        groups = sorted(self.together, key=lambda g: (-self.together[g], len(g), sorted(g)))
        return Stability(
            target=blanket.target,
            members=blanket.members,
            n_halves=len(self.halves),
            shares={names[x]: found[x] / n_halves for x in sorted(found)},
            groups=tuple(
                Group(tuple(names[x] for x in sorted(g)), self.together[g] / n_halves)
                for g in groups
            ),
            mean_size=found.total() / n_halves,
            n_candidates=len(run.candidates(run.data.index(blanket.target))),
            seconds=time.perf_counter() - began,
            replaceable={
                member: self._count_any([(member,), *others], run) / n_halves
                for member, others in blanket.equivalents.items()
            },
        )

    def _count_any(self, sets: Sequence[tuple[Name, ...]], run: Run) -> int:
        """Count the halves in which a member was found, or what could take its place."""
        places = [frozenset(map(run.data.index, each)) for each in sets]
        return sum(any(each <= half for each in places) for half in self.halves)
