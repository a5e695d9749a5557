"""Answers from a table in which some columns are numbers.

Tests among columns of levels alone are left to the source of a discrete table; where a number is
involved, the test for mixed columns decides (:mod:`komb.citests.mixed`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager
from functools import lru_cache
from itertools import compress
from threading import Lock
from typing import Any

import numpy as np

from komb.citests import decision
from komb.citests.contract import CITest
from komb.citests.measure import Measurement
from komb.citests.mixed.batch import has_power, measure
from komb.citests.mixed.components import UNLIKELY, Components, compare
from komb.citests.mixed.conditions import Conditions, Given
from komb.citests.mixed.features import Features
from komb.citests.mixed.screening import Screen
from komb.citests.registry import TestChoice, make_test
from komb.counts.fixedpoint import FloatArray
from komb.counts.threads import map_in_order, n_threads
from komb.data.table import DiscreteTable
from komb.sessions.data import TableSource, make_source
from komb.sessions.mixed_columns import MixedColumns
from komb.sessions.questions import (
    Candidates,
    OnProgress,
    Outcome,
    Question,
    StrongDependence,
    Variables,
    by_strength,
    subsets,
)
from komb.sessions.session import Session
from komb.sessions.shelf import Shelf
from komb.sessions.source import Power, Source, Strong
from komb.sessions.sweep_journal import SweepJournal

LEAST_ROWS = 20
"""On fewer complete rows nothing is tested."""

KEPT_BYTES = 128 << 20
"""Of functions of conditions that are kept, and the same of what they leave of targets."""

TEST_COST = 200.0
"""A test on features takes about this many times as long as one on counts."""

LEAST_SWEEP = 8
"""From so many sets on, only what passes a screen is tested."""

ROWS_FOR_THREADS = 1000
"""On fewer rows a test is mostly Python, of which one thread runs at a time."""

_QUESTIONS_PER_REPORT = 100


@lru_cache(maxsize=1)
def _thread_pools() -> Any:
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """Have products of matrices computed by one thread: they are small, and sums stay the same."""
    limit: AbstractContextManager[Any] = _thread_pools().limit(limits=1, user_api="blas")
    return limit


class MixedSession(Session):
    """A session that tests on a table in which some columns are numbers.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> a, b, noise = rng.normal(size=(3, 400))
    >>> y = np.sign(a * b) + noise
    >>> table = DiscreteTable.from_data({"a": a, "b": b, "y": y}, discretize="quantile")
    >>> session = MixedSession(table, {0: a, 1: b, 2: y})
    >>> session.dependents(2, {0, 1}, frozenset())
    []
    >>> session.dependents(2, {0}, frozenset({1}))
    [0]
    >>> session.outcome(2, 0, {1}).test
    'interaction'
    """

    source: MixedSource

    def __init__(
        self,
        table: DiscreteTable,
        numbers: Mapping[int, FloatArray],
        *,
        ordered: Collection[int] = (),
        test: TestChoice | CITest = "auto",
        alpha: float = 0.01,
        df: str = "adjusted",
        seed: int = 0,
        journal: SweepJournal | None = None,
    ) -> None:
        if not isinstance(test, CITest):
            test = make_test(test, df, seed, alpha=alpha)
        discrete = make_source(table, test, alpha)
        discrete.journal = journal
        super().__init__(MixedSource(MixedColumns(table, numbers, ordered), discrete))


class MixedSource(Source):
    """Tests on features where a number is involved, on counts elsewhere."""

    def __init__(
        self, columns: MixedColumns, discrete: TableSource, *, are_levels_counted: bool = True
    ) -> None:
        super().__init__(columns.n_columns)
        self._are_levels_counted = are_levels_counted
        self._columns = columns
        self._discrete = discrete
        self._alpha = discrete.alpha
        self._conditions = Shelf[Any, Conditions](KEPT_BYTES)
        self._given = Shelf[Any, Given](KEPT_BYTES)
        self._screen: Screen | None = None
        self._lock = Lock()

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return self._columns.n_rows

    @property
    def n_levels(self) -> Sequence[int]:
        """Levels of each column; a number counts as two, for it has one feature of degree 1."""
        numeric = self._columns.numeric
        return [2 if x in numeric else n for x, n in enumerate(self._discrete.n_levels)]

    @property
    def test_cost(self) -> float:
        """How much work a test is, in terms of one on counts."""
        return TEST_COST

    @property
    def alpha(self) -> float:
        """Significance level of each test."""
        return self._alpha

    # -- single answers

    def decide(self, target: int, questions: Sequence[Candidates]) -> Sequence[Sequence[bool]]:
        """For each candidate of each question, whether it depends on the target given the set."""

        def decide(measured: Measurement) -> list[bool]:
            answers: list[bool] = decision.is_dependent(measured, self._alpha).tolist()
            return answers

        return self._answer(target, questions, decide, self._discrete.decide)

    def weigh(
        self, target: int, questions: Sequence[Candidates], *, is_counted: bool
    ) -> Sequence[Sequence[float]]:
        """For each candidate of each question, the evidence that it depends; 0 if it does not."""

        def ask_discrete(target: int, asked: Sequence[Candidates]) -> Sequence[Sequence[float]]:
            return self._discrete.weigh(target, asked, is_counted=is_counted)

        return self._answer(target, questions, self._strengths, ask_discrete)

    def confirm(self, target: int, questions: Sequence[Candidates]) -> Sequence[Sequence[float]]:
        """As :meth:`weigh`, with no more evidence than all statistics of a test agree on."""
        return self._answer(target, questions, self._strengths, self._discrete.confirm)

    def _strengths(self, measured: Measurement) -> list[float]:
        bits: list[float] = decision.strengths(measured, self._alpha).tolist()
        return bits

    def _answer(
        self,
        target: int,
        questions: Sequence[Candidates],
        evaluate: Callable[[Measurement], list[Any]],
        ask_discrete: Callable[[int, Sequence[Candidates]], Sequence[Sequence[Any]]],
    ) -> list[list[Any]]:
        """Answer questions, those without numbers from the discrete table and all together."""
        answers: list[dict[int, Any]] = [{} for _ in questions]
        discrete: dict[int, Candidates] = {}
        for place, (candidates, given) in enumerate(questions):
            mixed = [x for x in candidates if self._is_mixed(target, x, given)]
            if mixed:
                measured = self.measure(target, mixed, given)
                self._note_unreliable(measured)
                found = evaluate(measured)
                answers[place] = dict(zip(mixed, found, strict=True))
            if len(mixed) < len(candidates):
                discrete[place] = [x for x in candidates if x not in answers[place]], given
        if discrete:
            found_each = ask_discrete(target, list(discrete.values()))
            for place, counted in zip(discrete, found_each, strict=True):
                answers[place] |= dict(zip(discrete[place][0], counted, strict=True))
            self._count_discrete()
        return [
            [answer[x] for x in candidates]
            for answer, (candidates, _) in zip(answers, questions, strict=True)
        ]

    def _is_mixed(self, target: int, candidate: int, given: Collection[int]) -> bool:
        """Whether a test is on features: a number is involved, or levels are not counted."""
        if not self._are_levels_counted:
            return True
        numeric = self._columns.numeric
        return target in numeric or candidate in numeric or not numeric.isdisjoint(given)

    def _count_discrete(self) -> None:
        """Count the work of the discrete source as this one's."""
        for count in ("tables", "fallbacks", "unreliable"):
            setattr(self, count, getattr(self, count) + getattr(self._discrete, count))
            setattr(self._discrete, count, 0)

    def outcome(self, target: int, candidate: int, given: Collection[int]) -> Outcome:
        """Everything one test has to say."""
        if not self._is_mixed(target, candidate, given):
            return self._discrete.outcome(target, candidate, given)
        measured = self.measure(target, [candidate], frozenset(given))
        return Outcome(
            independent=not bool(decision.is_dependent(measured, self._alpha)[0]),
            statistic=float(measured.statistic[0]),
            df=float(measured.freedom[0]),
            p_value=decision.p_values(measured)[0],
            test=str(measured.decider[0]),
            reliable=bool(measured.is_reliable[0]),
        )

    # -- tests on features

    def measure(
        self,
        target: int,
        candidates: Sequence[int],
        given: Variables,
        *,
        unlikely: float = UNLIKELY,
    ) -> Measurement:
        """Measure candidates given a set, where numbers are involved."""
        with one_thread():
            return measure(self._compare(target, candidates, given, unlikely))

    def _note_unreliable(self, measured: Measurement) -> None:
        self.unreliable += int(np.count_nonzero(~measured.is_reliable))

    def _compare(
        self, target: int, candidates: Sequence[int], given: Variables, unlikely: float = UNLIKELY
    ) -> Components:
        """Return the components of some tests, each on the rows complete for its columns."""
        found = Components.nothing(len(candidates))
        by_missing: dict[Variables, list[int]] = {}
        for place, candidate in enumerate(candidates):
            incomplete = self._columns.incomplete({target, candidate, *given})
            by_missing.setdefault(incomplete, []).append(place)
        for incomplete, places in by_missing.items():
            asked = [candidates[place] for place in places]
            found.put(places, self._compare_on(incomplete, target, asked, given, unlikely))
        return found

    def _compare_on(
        self,
        incomplete: Variables,
        target: int,
        candidates: Sequence[int],
        given: Variables,
        unlikely: float,
    ) -> Components:
        """Compare on the rows in which some columns are not missing."""
        rows = self._columns.complete_rows(incomplete)
        n_rows = self.n_rows if rows is None else len(rows)

        def features(columns: Sequence[int]) -> list[Features]:
            every = [self._columns.features(column) for column in columns]
            return every if rows is None else [each.take(rows) for each in every]

        def make_conditions() -> Conditions:
            with self._lock:
                self.tables += 1
            return Conditions(features(sorted(given)), n_rows)

        if n_rows < LEAST_ROWS:
            return Components.nothing(len(candidates))
        conditions = self._conditions.get((given, incomplete), make_conditions)
        if conditions.is_rich:
            return Components.nothing(len(candidates))
        left = self._given.get(
            (target, given, incomplete), lambda: conditions.given(features([target])[0])
        )
        return compare(left, features(candidates), features(sorted(given)), unlikely)

    # -- many tests, few of them strong

    def strong_in_pool(
        self,
        target: int,
        candidates: AbstractSet[int],
        pool: Variables,
        size: int,
        bits: float,
        min_rows_per_cell: float,
        on_progress: OnProgress | None,
    ) -> Strong:
        """All dependences with ``size`` conditions of at least this many bits."""
        numeric = self._columns.numeric
        found: list[StrongDependence] = []
        n_tests = 0
        levels = pool - numeric
        if target not in numeric and candidates - numeric and len(levels) > size:
            counted = self._discrete.strong_in_pool(
                target, candidates - numeric, levels, size, bits, min_rows_per_cell, on_progress
            )
            found, n_tests = counted.found, counted.n_tests
            self._count_discrete()
        questions: list[Question] = []
        for given in subsets(pool, size, size):
            has_number = target in numeric or not numeric.isdisjoint(given)
            asked = candidates if has_number else candidates & numeric
            if asked - given:
                questions.append((asked, given))
        strong = self.strong_among(target, questions, bits, on_progress, is_confirmed=True)
        return Strong(sorted(found + strong.found, key=by_strength), n_tests + strong.n_tests)

    def strong_among(
        self,
        target: int,
        questions: Sequence[Question],
        bits: float,
        on_progress: OnProgress | None,
        *,
        is_confirmed: bool,
    ) -> Strong:
        """Those dependences among some questions that have at least this many bits."""
        found: list[StrongDependence] = []
        counted: list[Question] = []
        unlikely = UNLIKELY
        is_screened = is_confirmed and len(questions) >= LEAST_SWEEP
        if is_confirmed:
            unlikely = min(UNLIKELY, 2.0 ** (-0.5 * bits))
        n_tests = 0
        on_features: list[tuple[list[int], Variables]] = []
        for candidates, given in questions:
            asked = sorted(candidates - given)
            mixed = [x for x in asked if self._is_mixed(target, x, given)]
            if len(mixed) < len(asked):
                counted.append((frozenset(asked).difference(mixed), given))
            n_tests += len(mixed)
            on_features.append((mixed, given))
        if is_screened:
            self._make_screen()  # before several threads want it

        def test(question: tuple[list[int], Variables]) -> tuple[list[int], Measurement]:
            mixed, given = question
            if is_screened:
                mixed = self._screened(target, mixed, given, bits)
            return mixed, self.measure(target, mixed, given, unlikely=unlikely)

        n_workers = n_threads() if is_screened and self.n_rows >= ROWS_FOR_THREADS else 1
        with one_thread():  # here, for all of them: no thread may change that for another
            for place, (mixed, measured) in enumerate(map_in_order(test, on_features, n_workers)):
                if on_progress is not None and place % _QUESTIONS_PER_REPORT == 0:
                    on_progress(place, len(questions))
                self._note_unreliable(measured)
                given, strengths = questions[place][1], self._strengths(measured)
                found += [
                    (own, x, given) for x, own in zip(mixed, strengths, strict=True) if own >= bits
                ]
        if counted:
            strong = self._discrete.strong_among(
                target, counted, bits, on_progress, is_confirmed=is_confirmed
            )
            found, n_tests = found + strong.found, n_tests + strong.n_tests
            self._count_discrete()
        return Strong(sorted(found, key=by_strength), n_tests)

    def _make_screen(self) -> Screen:
        """Return the screen of all columns, made now if need be."""
        if self._screen is None:
            self._screen = Screen.of([self._columns.features(x) for x in range(self.n_variables)])
        return self._screen

    def _screened(
        self, target: int, candidates: Sequence[int], given: Variables, bits: float
    ) -> list[int]:
        """Those of some candidates that could depend on the target by so many bits."""
        if not candidates or not given:
            return list(candidates)
        screen = self._make_screen()
        conditions = [self._columns.features(z) for z in sorted(given)]
        with one_thread():
            is_possible = screen.possible(
                self._columns.features(target),
                candidates,
                conditions,
                self._columns.are_known([target, *given]),
                bits,
            )
        return list(compress(candidates, is_possible))

    # -- what else a search asks

    def can_detect(
        self, target: int, candidate: int, given: Variables, witness: Variables, power: Power
    ) -> bool:
        """Whether a test has the power to see a share of the dependence that a witness shows."""
        if not self._is_mixed(target, candidate, given | witness):
            return self._discrete.can_detect(target, candidate, given, witness, power)
        test = self._compare(target, [candidate], given)
        seen = self._compare(target, [candidate], witness)
        return has_power(test, seen, power.share, self._alpha)

    def determines(self, given: Variables, variable: int, min_rows: float) -> bool:
        """Whether each combination of values goes with one value of another column."""
        columns = [*sorted(given), variable]
        rows = self._columns.complete_rows(columns)
        coded = [self._columns.levels(x)[0] for x in columns]
        coded = coded if rows is None else [codes[rows] for codes in coded]
        combined = np.zeros(len(coded[0]), dtype=np.int64)
        for codes in coded[:-1]:
            _, combined = np.unique(
                combined * (codes.max(initial=0) + 1) + codes, return_inverse=True
            )
        n_combinations = int(combined.max(initial=-1)) + 1
        if n_combinations * min_rows > len(combined):
            return False
        last = coded[-1]
        return len(np.unique(combined * (last.max(initial=0) + 1) + last)) == n_combinations

    def explained_shares(self, target: int, candidates: Sequence[int]) -> list[float]:
        """Share of the target's variation that each candidate explains, beyond chance.

        Where numbers are involved, the share of the variance of the normal scores, or of the
        contrasts, that functions of the candidate explain.
        """
        return [self._explained_share(target, x) for x in candidates]

    def _explained_share(self, target: int, candidate: int) -> float:
        if not self._is_mixed(target, candidate, ()):
            return self._discrete.explained_shares(target, [candidate])[0]
        rows = self._columns.complete_rows([target, candidate])
        own, other = self._columns.features(target), self._columns.features(candidate)
        if rows is not None:
            own, other = own.take(rows), other.take(rows)
        n_rows = own.own.shape[1]
        return 0.0 if n_rows < LEAST_ROWS else Conditions([other], n_rows).explained_share(own)

    def forget(self, target: int) -> None:
        """Free what was prepared for one target."""
        self._discrete.forget(target)
