"""Answers from data: counts, then a statistic, then a decision."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate, chain, islice
from typing import Any

import numpy as np
import numpy.typing as npt

from komb.citests import decision
from komb.citests.contract import CITest
from komb.citests.measure import (
    NO_FREEDOM,
    BoolArray,
    Measurement,
    Tests,
    TestSums,
    check_measurement,
)
from komb.citests.plugins import is_ours
from komb.citests.registry import TestChoice, make_test
from komb.counts.contingency import Contingency
from komb.counts.fixedpoint import FloatArray, Int64Array
from komb.data.stored.cluster_table import ClusterTable
from komb.data.stored.stored_table import StoredTable
from komb.data.table import DiscreteTable
from komb.sessions.questions import (
    Candidates,
    Dependence,
    OnProgress,
    Outcome,
    Question,
    StrongDependence,
    Variables,
    by_strength,
)
from komb.sessions.session import Session
from komb.sessions.source import Power, Source, Strong
from komb.sessions.sweep_counting import Decider, Sweeper
from komb.sessions.sweep_journal import SweepJournal
from komb.sessions.sweeps import SWEEP_BYTES, Sweep, by_size, sweep_bytes
from komb.sessions.workspace import Workspace, borrow, return_after

_TESTS_PER_BATCH = 20_000  # of questions that are not remembered, between two reports of progress


class DataSession(Session):
    """A session that tests on a table.

    Examples
    --------
    >>> from komb.data.models.boolean_functions import boolean_table
    >>> xor = boolean_table("parity", 500, n_parents=2, noise=0.1)  # columns X1, X2, Y
    >>> session = DataSession(xor)
    >>> session.dependents(2, {0, 1}, frozenset())
    []
    >>> session.dependents(2, {0}, frozenset({1}))
    [0]
    """

    source: TableSource

    def __init__(
        self,
        table: DiscreteTable,
        test: TestChoice | CITest = "g-sci",
        *,
        alpha: float = 0.01,
        df: str = "observed",
        seed: int = 0,
        journal: SweepJournal | None = None,
    ) -> None:
        if not isinstance(test, CITest):
            test = make_test(test, df, seed, alpha=alpha)
        super().__init__(make_source(table, test, alpha))
        self.source.journal = journal


def make_source(table: DiscreteTable, test: CITest, alpha: float) -> TableSource:
    """Choose who tests on a table: kernels alone, if they know the test."""
    if isinstance(table, StoredTable | ClusterTable):
        from komb.sessions.stored import CountedSource, find_counter

        counter = find_counter(table)
        if counter is not None:
            return CountedSource(table, test, alpha, counter)
    formula = test.formula(alpha) if is_ours(type(test)) else None
    workspace = borrow(table)
    if formula is None or workspace.shared.has_missing:
        return TableSource(table, test, alpha, workspace)
    from komb.sessions.formula_source import FormulaSource

    return FormulaSource(table, test, alpha, workspace, formula)


class TableSource(Source):
    """Tests on a table."""

    def __init__(
        self,
        table: DiscreteTable,
        test: CITest,
        alpha: float,
        workspace: Workspace | None = None,
    ) -> None:
        super().__init__(table.n_columns)
        self._table = table
        self._test = test
        self._alpha = alpha
        self._is_ours = is_ours(type(test))
        self.journal: SweepJournal | None = None
        self._workspace = workspace or borrow(table)
        self._cardinalities = self._workspace.cardinalities
        return_after(self, table, self._workspace)

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return self._table.n_rows

    @property
    def n_levels(self) -> Sequence[int]:
        """Levels of each column."""
        levels: list[int] = self._cardinalities.tolist()
        return levels

    @property
    def alpha(self) -> float:
        """Significance level of each test."""
        return self._alpha

    def decide(self, target: int, questions: Sequence[Candidates]) -> Sequence[Sequence[bool]]:
        """For each candidate of each question, whether it depends on the target given the set."""
        return self._evaluate(target, questions, self._decide_sums)

    def weigh(
        self, target: int, questions: Sequence[Candidates], *, is_counted: bool
    ) -> Sequence[Sequence[float]]:
        """For each candidate of each question, the evidence that it depends; 0 if it does not."""

        def weigh(sums: TestSums) -> FloatArray:
            measured = self._measured(sums) if is_counted else self._measure(sums)
            return decision.strengths(measured, self._alpha)

        return self._evaluate(target, questions, weigh)

    def confirm(self, target: int, questions: Sequence[Candidates]) -> Sequence[Sequence[float]]:
        """As :meth:`weigh`, with no more evidence than all statistics of a test agree on."""

        def weigh(sums: TestSums) -> FloatArray:
            return decision.confirmed_strengths(self._measure(sums), self._alpha)

        return self._evaluate(target, questions, weigh) if questions else []

    def outcome(self, target: int, candidate: int, given: Collection[int]) -> Outcome:
        """Everything one test has to say."""
        return self.outcomes(target, [(candidate, frozenset(given))])[0]

    def outcomes(self, target: int, tests: Sequence[Dependence]) -> list[Outcome]:
        """Everything that each of some tests has to say."""
        outcomes: dict[int, Outcome] = {}
        for places in by_size([((x,), given) for x, given in tests]).values():
            candidates = [[tests[place][0]] for place in places]
            sets = [sorted(tests[place][1]) for place in places]
            measured = self._measure(self._sums(target, candidates, sets))
            outcomes |= zip(places, self._outcomes(measured), strict=True)
        return [outcomes[place] for place in range(len(tests))]

    def _outcomes(self, measured: Measurement) -> Iterator[Outcome]:
        depends = decision.is_dependent(measured, self._alpha).tolist()
        p_values, decider = decision.p_values(measured), measured.decider
        statistics, freedoms = measured.statistic.tolist(), measured.freedom.tolist()
        reliable = measured.is_reliable.tolist()
        for number, freedom in enumerate(freedoms):
            yield Outcome(
                independent=not depends[number],
                statistic=statistics[number],
                df=None if freedom == NO_FREEDOM else freedom,
                p_value=p_values[number],
                test=decider if isinstance(decider, str) else str(decider[number]),
                reliable=reliable[number],
            )

    def measure(self, target: int, candidates: Sequence[int], given: Variables) -> Measurement:
        """Statistics of a batch of tests, undecided."""
        return self._measure(self._sums(target, [candidates], [sorted(given)]))

    def test_batch(
        self, target: int, candidates: Sequence[Sequence[int]], given: Sequence[Sequence[int]]
    ) -> BoolArray:
        """Count, measure and decide a batch of tests."""
        return self._decide_sums(self._sums(target, candidates, given))

    def _evaluate(
        self,
        target: int,
        questions: Sequence[Candidates],
        evaluate: Callable[[TestSums], npt.NDArray[Any]],
    ) -> list[list[Any]]:
        """Count the tables of all questions, those with equally many conditions together."""
        if len(questions) == 1:
            candidates, given = questions[0]
            sums = self._sums(target, [candidates], [sorted(given)])
            return [evaluate(sums).tolist()]
        answers: list[list[Any]] = [[]] * len(questions)
        for indices in by_size(questions).values():
            sets = _prefix_friendly([questions[index][1] for index in indices])
            order = sorted(range(len(sets)), key=sets.__getitem__)
            asked = [questions[indices[place]] for place in order]
            sums = self._sums(
                target, [candidates for candidates, _ in asked], [sets[place] for place in order]
            )
            answer = iter(evaluate(sums).tolist())
            for place, (candidates, _) in zip(order, asked, strict=True):
                answers[indices[place]] = list(islice(answer, len(candidates)))
        return answers

    def _sums(
        self, target: int, candidates: Sequence[Sequence[int]], given: Sequence[Sequence[int]]
    ) -> TestSums:
        """Count the tables of given sets of one size, each with its candidates."""
        contingency = self._contingency(target)
        counts = [len(asked) for asked in candidates]
        variables = np.array(list(chain.from_iterable(candidates)), dtype=np.int64)
        sets = np.array(given, dtype=np.int64).reshape(len(given), len(given[0]))
        sums = contingency.summarise(
            sets,
            np.array([0, *accumulate(counts)], dtype=np.int64),
            variables,
            length_below=self._test.length_below,
            wants_tables=self._test.needs_tables,
        )
        set_of = np.repeat(np.arange(len(given)), counts)
        tests = Tests(contingency, variables, sets, set_of)
        if contingency.has_missing:  # one table per test, which has the given set in its margin
            self.tables += len(variables)
            return TestSums(tests, sums, np.arange(len(variables)), sums)
        self.tables += len(variables) + len(given)
        return TestSums(tests, sums, set_of, sums)

    def _decide_sums(self, sums: TestSums) -> BoolArray:
        return decision.is_dependent(self._measured(sums), self._alpha)

    def _measure(self, sums: TestSums, strong_at: float | None = None) -> Measurement:
        """Turn sums into statistics; only strong dependences matter if a level is given."""
        if strong_at is None:
            measured = self._test.measure(sums)
        else:
            measured = self._test.measure_strong(sums, strong_at)
        if not self._is_ours:
            check_measurement(measured, len(sums.levels))
        return measured

    def _measured(self, sums: TestSums, strong_at: float | None = None) -> Measurement:
        """Turn sums into statistics, and count those that are not what the caller expects."""
        measured = self._measure(sums, strong_at)
        if not isinstance(measured.decider, str):  # not one test for all: some may have fallen back
            self.fallbacks += int(np.count_nonzero(measured.decider == self._test.fallback))
        self.unreliable += int(np.count_nonzero(~measured.is_reliable))
        return measured

    def _contingency(self, target: int) -> Contingency:
        return self._workspace.contingency(target)

    def sweep(
        self, target: int, pool: Variables, size: int, on_progress: OnProgress | None
    ) -> Sweep | None:
        """Decide every test inside ``pool`` with ``size`` conditions, counting each set once."""
        contingency = self._contingency(target)
        if size == 0 or len(pool) <= size:
            return None
        if sweep_bytes(len(pool), size, len(contingency.class_levels)) > SWEEP_BYTES:
            return None
        sweeper = self._sweeper(target, pool, size, self._decide_sums, self._alpha)
        swept = sweeper.run(on_progress)
        self.tables += swept.n_tables
        return swept

    def _sweeper(
        self,
        target: int,
        pool: Variables,
        size: int,
        decide: Decider,
        alpha: float,
        *,
        candidates: AbstractSet[int] | None = None,
        most_cells: float = math.inf,
    ) -> Sweeper:
        """Prepare a sweep; what is no dependence at level ``alpha`` may be screened out."""
        sweeper = Sweeper(
            self._contingency(target),
            self._test,
            alpha,
            decide,
            sorted(pool),
            size,
            candidates=candidates,
            most_cells=most_cells,
        )
        sweeper.journal = self.journal
        return sweeper

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
        strengths: list[FloatArray] = []  # of what is found, in the order in which it is

        def decide(sums: TestSums) -> BoolArray:
            own, is_strong = self._find_strong(sums, bits)
            strengths.append(own[is_strong])
            return is_strong

        sweeper = self._sweeper(
            target,
            pool,
            size,
            decide,
            2.0**-bits,
            candidates=candidates,
            most_cells=self._table.n_rows / min_rows_per_cell if min_rows_per_cell else math.inf,
        )
        found = list(sweeper.dependences(on_progress))
        self.tables += sweeper.n_tables
        weighed = chain.from_iterable(own.tolist() for own in strengths)
        strong = [(own, x, given) for (x, given), own in zip(found, weighed, strict=True)]
        return Strong(sorted(strong, key=by_strength), sweeper.n_tests)

    def _find_strong(self, sums: TestSums, bits: float) -> tuple[FloatArray, BoolArray]:
        """Return strengths, and which are so large by every statistic of the test."""
        measured = self._measured(sums, strong_at=2.0**-bits)
        own = decision.strengths(measured, self._alpha)
        return own, decision.confirmed(own, measured) >= bits

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

        def weigh(sums: TestSums) -> FloatArray:
            if is_confirmed:
                own, is_strong = self._find_strong(sums, bits)
                return np.where(is_strong, own, -1.0)
            return decision.strengths(self._measured(sums), self._alpha)

        found: list[StrongDependence] = []
        asked = [(sorted(candidates - given), given) for candidates, given in questions]
        asked = [question for question in asked if question[0]]
        done = n_tests = 0
        for batch in _batches_of(asked, _TESTS_PER_BATCH):
            if on_progress is not None:
                on_progress(done, len(asked))
            weighed = self._evaluate(target, batch, weigh)
            n_tests += sum(len(candidates) for candidates, _ in batch)
            found += [
                (own, x, given)
                for (candidates, given), answer in zip(batch, weighed, strict=True)
                for x, own in zip(candidates, answer, strict=True)
                if own >= bits
            ]
            done += len(batch)
        return Strong(sorted(found, key=by_strength), n_tests)

    def can_detect(
        self, target: int, candidate: int, given: Variables, witness: Variables, power: Power
    ) -> bool:
        """Whether a test has the power to see a share of the dependence that a witness shows."""
        sums = self._sums(target, [[candidate]], [sorted(given)])
        if not sums.is_thick[0]:
            return False
        is_very_thick = sums.has_rows_per_cell(power.thick_rows_per_cell)[0]
        share = power.thick_share if is_very_thick else power.share
        shown = decision.excess(self.measure(target, [candidate], witness))
        return bool(decision.has_power(self._measure(sums), share * shown, self._alpha)[0])

    def determines(self, given: Variables, variable: int, min_rows: float) -> bool:
        """Whether each combination of values goes with one value of another column."""
        columns = [*sorted(given), variable]
        levels = self._cardinalities[columns]
        codes = self._table.codes[columns].astype(np.int64)
        codes = codes[:, (codes < levels[:, None]).all(axis=0)]
        combined = np.zeros(codes.shape[1], dtype=np.int64)
        for code, width in zip(codes[:-1], levels, strict=False):
            _, combined = np.unique(combined * width + code, return_inverse=True)
        n_combinations = int(combined.max(initial=-1)) + 1
        if n_combinations * min_rows > len(combined):
            return False
        return len(np.unique(combined * levels[-1] + codes[-1])) == n_combinations

    def explained_shares(self, target: int, candidates: Sequence[int]) -> list[float]:
        """Share of the target's variation that each candidate explains, beyond chance.

        The share is ``(X2 - e) / (N (|Y| - 1) - e)`` with Pearson's statistic and its mean ``e``
        under independence: 1 if the candidate determines the target, about 0 if it has nothing to
        do with it, however many levels it has.
        """
        return [self._explained_share(target, x) for x in candidates]

    def _explained_share(self, target: int, candidate: int) -> float:
        levels = self._cardinalities[[candidate, target]]
        pair = self._table.codes[[candidate, target]].astype(np.int64)
        x, y = pair[:, (pair < levels[:, None]).all(axis=0)]
        n_rows = len(x)
        cells, counts = _count_codes(x * levels[1] + y, int(levels.prod()))
        by_x, by_y = np.bincount(x), np.bincount(y)
        fit = counts**2 / (by_x[cells // levels[1]] * by_y[cells % levels[1]])
        x_levels, y_levels = np.count_nonzero(by_x), np.count_nonzero(by_y)
        if n_rows < 2 or y_levels < 2:
            return 0.0
        explained = (math.fsum(fit) - 1.0) / (y_levels - 1)
        chance = (x_levels - 1) / (n_rows - 1)
        return (explained - chance) / (1.0 - chance) if chance < 1 else 0.0

    def forget(self, target: int) -> None:
        """Free what was prepared for one target."""
        self._workspace.forget(target)


def _count_codes(codes: Int64Array, n_codes: int) -> tuple[Int64Array, Int64Array]:
    """Codes that occur, in ascending order, and how often."""
    if n_codes > len(codes):
        return np.unique(codes, return_counts=True)
    counts = np.bincount(codes)
    found = np.flatnonzero(counts)
    return found, counts[found]


def _batches_of(questions: Sequence[Candidates], n_tests: int) -> Iterator[list[Candidates]]:
    """Cut questions into batches of about this many tests."""
    batch: list[Candidates] = []
    count = 0
    for question in questions:
        batch.append(question)
        count += len(question[0])
        if count >= n_tests:
            yield batch
            batch, count = [], 0
    if batch:
        yield batch


def _prefix_friendly(sets: Sequence[Variables]) -> list[list[int]]:
    """Order the columns of each set so that many sets begin alike; counting shares that work.

    Columns that occur in more of the sets come first.
    """
    if len(sets) == 1:
        return [sorted(sets[0])]
    occurrences = Counter(chain.from_iterable(sets))
    by_frequency = sorted(occurrences, key=lambda column: (-occurrences[column], column))
    rank = {column: position for position, column in enumerate(by_frequency)}
    return [sorted(given, key=rank.__getitem__) for given in sets]
