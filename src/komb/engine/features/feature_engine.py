"""An engine that tests on features where a number is involved, and on counts elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache, partial
from itertools import compress
from threading import Lock
from typing import Any, TypeVar

import numpy as np

from komb.engine.engine import AllSets, Engine, Power
from komb.engine.features import COMPONENTS
from komb.engine.features.columns import FeatureColumns, Rows
from komb.engine.features.components import UNLIKELY, WEIGHTS, Tests, compare, has_power
from komb.engine.features.conditions import Adjusted, Conditions
from komb.engine.features.lru_cache import LruCache
from komb.engine.features.screen import Features, Screen
from komb.engine.features.step_functions import is_simple_function
from komb.engine.features.work import Work
from komb.engine.kernels.gram import LINEAR
from komb.engine.plain import PlainEngine
from komb.engine.questions import (
    EMPTY,
    Candidates,
    Dependence,
    OnProgress,
    Outcome,
    Question,
    StrongDependence,
    Variables,
    WorkCounts,
    by_strength,
    subsets,
)
from komb.engine.threads import map_in_order, n_threads

LEAST_ROWS = 20
"""On fewer complete rows nothing is tested."""

KEPT_BYTES = 128 << 20
"""Of what is known of conditions, and the same of what they leave of targets."""

TEST_COST = 200.0
"""A test on features takes about this many times as long as one on counts."""

PLAIN_BITS = 40.0
"""Evidence in a few rows that decides a test."""

COST_OF_SET, COST_OF_TEST, COST_ALONE = 450, 30, 10
"""Work of a row, per condition: what is known of the conditions, and each test given them. The last
is that of a test without any."""

MOST_COSTLY_CONDITIONS = 3
"""More of them cost no more: there are as many functions of them as there may be."""

LEAST_SWEEP = 8
"""From so many sets on, only what passes a screen is tested."""

ROWS_FOR_THREADS = 20_000
"""Rows of all questions of a batch from which on it is worth to start threads."""

NEARLY_ALL = 0.999999
"""Largest share of a target that a candidate explains without determining it."""

_QUESTIONS_PER_REPORT = 100

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class FeatureEngine(PlainEngine):
    """Tests on features where a number is involved, those of the engine ``levels`` elsewhere.

    Without ``levels`` columns of levels are tested on features too. ``fixed`` are covariates; the
    other engine has none: they are part of what it is asked.

    Examples
    --------
    >>> from komb.data.table import DiscreteTable
    >>> rng = np.random.default_rng(1)
    >>> a, b, noise = rng.normal(size=(3, 400))
    >>> y = np.sign(a * b) + noise
    >>> table = DiscreteTable.from_data({"a": a, "b": b, "y": y}, discretize="quantile")
    >>> columns = FeatureColumns.of(table, {0: a, 1: b, 2: y}, ())
    >>> engine = FeatureEngine(columns, alpha=0.01)
    >>> engine.dependents(2, {0, 1}, frozenset())
    []
    >>> engine.dependents(2, {0}, frozenset({1}))
    [0]
    >>> engine.outcome(2, 0, frozenset({1})).test
    'interaction'
    """

    least_share = float(WEIGHTS.min())

    def __init__(
        self,
        columns: FeatureColumns,
        levels: Engine | None = None,
        *,
        alpha: float,
        fixed: Variables = EMPTY,
    ) -> None:
        super().__init__(columns.n_columns, fixed)
        self._columns, self._levels, self._alpha = columns, levels, alpha
        few = columns.few
        self._few = None if few is None else FeatureEngine(few, alpha=alpha)
        self._conditions = LruCache[Any, Conditions](KEPT_BYTES)
        self._adjusted = LruCache[Any, Adjusted](KEPT_BYTES)
        self._idle: list[Work] = []  # memory that no thread works in
        self._screen: Screen | None = None
        self._features = LruCache[int, Features](KEPT_BYTES)  # for the screen
        self._lock = Lock()
        self._n_tables = self._n_unreliable = 0

    # What it knows of itself

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return self._columns.n_rows

    @property
    def n_levels(self) -> Sequence[int]:
        """Levels of each column; a number counts as two, for it has one feature of degree 1."""
        return self._columns.n_levels

    @property
    def test_cost(self) -> float:
        """How much work a test is, in units of a test on counts."""
        return TEST_COST

    def cost_of(self, target: int, bits: Mapping[int, float], given: Variables) -> int:
        """Work of having found bits of candidates, in nanoseconds or so."""
        mixed = [own for x, own in bits.items() if self._is_mixed(target, x, given)]
        n_given = min(len(given | self.fixed), MOST_COSTLY_CONDITIONS)

        def cost(n_rows: int, n_tests: int) -> int:
            per_row = n_given * (COST_OF_SET + COST_OF_TEST * n_tests) + COST_ALONE * n_tests
            return n_rows * per_row if n_tests else 0

        if self._few is None or not n_given:
            return cost(self.n_rows, len(mixed))
        n_few = self._few.n_rows
        n_left = sum(own * n_few < PLAIN_BITS * self.n_rows for own in mixed)
        return cost(n_few, len(mixed)) + cost(self.n_rows, n_left)

    @property
    def alpha(self) -> float:
        """Level of the tests."""
        return self._alpha

    @property
    def work(self) -> WorkCounts:
        """Tests made so far, each counted once, and conditions that were looked at for them."""
        own = WorkCounts(self._n_tests, self._n_tables, 0, self._n_unreliable)
        if self._levels is None:
            return own
        counted = self._levels.work
        return own + WorkCounts(0, counted.tables, counted.fallbacks, counted.unreliable)

    # Single tests

    def weigh(self, target: int, questions: Sequence[Candidates]) -> list[list[float]]:
        """Bits of evidence for every candidate of every question; 0 if it is independent."""
        counted, on_features = self._split(target, questions)
        answers: list[dict[int, float]] = [{} for _ in questions]
        found = self._map(partial(self._weigh, target), on_features.values())
        for number, (row, n_unreliable) in zip(on_features, found, strict=True):
            answers[number], self._n_unreliable = row, self._n_unreliable + n_unreliable
        if self._levels is not None and counted:
            asked = [(frozenset(candidates), given) for candidates, given in counted.values()]
            for number, row in zip(counted, self._levels.evidence(target, asked), strict=True):
                answers[number] |= row
        pairs = zip(answers, questions, strict=True)
        return [[answer.get(x, 0.0) for x in candidates] for answer, (candidates, _) in pairs]

    def conservative_evidence(
        self, target: int, questions: Sequence[Question]
    ) -> list[dict[int, float]]:
        """As :meth:`evidence`, with no more bits than all statistics of a test agree on."""
        with_fixed = [(sorted(candidates), given | self.fixed) for candidates, given in questions]
        counted = self._split(target, with_fixed)[0]
        rows = self.evidence(target, questions)
        if self._levels is not None and counted:
            asked = [(frozenset(candidates), given) for candidates, given in counted.values()]
            sure = self._levels.evidence(target, asked, is_conservative=True)
            for (number, (candidates, _)), row in zip(counted.items(), sure, strict=True):
                others = {x: bits for x, bits in rows[number].items() if x not in candidates}
                rows[number] = dict(sorted((others | row).items()))
        return rows

    def examine(self, target: int, tests: Sequence[Dependence]) -> list[Outcome]:
        """Everything that each of some tests has to say."""
        return [self._outcome(target, x, given) for x, given in tests]

    def _outcome(self, target: int, candidate: int, given: Variables) -> Outcome:
        if self._levels is not None and not self._is_mixed(target, candidate, given):
            return self._levels.outcome(target, candidate, given)
        test = self._compare(target, [candidate], given)
        self._n_unreliable += int(not test.is_reliable[0])
        statistic, freedom = test.chi_square(0, test.decider(0))
        return Outcome(
            independent=not test.evidence(self._alpha)[0],
            statistic=statistic,
            df=freedom,
            p_value=float(np.exp2(test.log2_p_values[0])),
            test=COMPONENTS[test.decider(0)],
            reliable=bool(test.is_reliable[0]),
        )

    def _split(
        self, target: int, questions: Sequence[Candidates]
    ) -> tuple[dict[int, Candidates], dict[int, Candidates]]:
        """Split questions, by their numbers, into those on counts and those on features."""
        counted: dict[int, Candidates] = {}
        on_features: dict[int, Candidates] = {}
        for number, (candidates, given) in enumerate(questions):
            is_any = self._is_mixed(target, target, given)  # whatever the candidate is
            numbers = self._everything if is_any else self._columns.numeric
            mixed = [x for x in candidates if x in numbers]
            if mixed:
                on_features[number] = mixed, given
            if len(mixed) < len(candidates):
                counted[number] = [x for x in candidates if x not in numbers], given
        return counted, on_features

    def _is_mixed(self, target: int, candidate: int, given: Variables) -> bool:
        """Whether a test is on features: a number is involved, or levels are not counted."""
        numeric = self._columns.numeric
        is_any = target in numeric or candidate in numeric or not numeric.isdisjoint(given)
        return is_any or self._levels is None

    # Tests on features

    def _weigh(self, target: int, question: Candidates) -> tuple[dict[int, float], int]:
        """Bits of each candidate, and how many tests are unreliable.

        What is plain in a few rows is not looked at in all: evidence grows with the rows.
        """
        candidates, given = question
        row: dict[int, float] = {}
        if self._few is not None and given:
            ratio = self.n_rows / self._few.n_rows
            tests = self._few._compare(target, candidates, given)
            pairs = zip(candidates, tests.evidence(self._alpha), strict=True)
            row = {x: ratio * bits for x, bits in pairs if bits >= PLAIN_BITS}
        left = [x for x in candidates if x not in row]
        tests = self._compare(target, left, given)
        row |= zip(left, tests.evidence(self._alpha), strict=True)
        return row, int(np.count_nonzero(~tests.is_reliable))

    def _map(self, work: Callable[[_Item], _Result], items: Collection[_Item]) -> Iterator[_Result]:
        is_worth_it = len(items) > 1 and len(items) * self.n_rows >= ROWS_FOR_THREADS
        return map_in_order(work, items, n_threads() if is_worth_it else 1)

    def _compare(
        self, target: int, candidates: Sequence[int], given: Variables, unlikely: float = UNLIKELY
    ) -> Tests:
        """Make some tests, each on the rows that are complete for its columns."""
        found = Tests.nothing(len(candidates))
        by_missing: dict[Variables, list[int]] = {}
        for number, candidate in enumerate(candidates):
            incomplete = self._columns.incomplete({target, candidate, *given})
            by_missing.setdefault(incomplete, []).append(number)
        with self._work() as work:
            for incomplete, numbers in by_missing.items():
                asked = [candidates[number] for number in numbers]
                rows = self._columns.rows([target, *asked, *given], incomplete)
                if rows.n_rows < LEAST_ROWS:
                    continue
                key = given, incomplete
                conditions = self._conditions.get(key, partial(self._conditions_of, rows, given))
                if conditions.is_rich:
                    continue
                adjusted = self._adjusted.get(
                    (target, *key), partial(conditions.adjust, rows, target, work)
                )
                tests = compare(rows, conditions, adjusted, asked, work, unlikely)
                found.found[numbers] = tests.found
        return found

    def _conditions_of(self, rows: Rows, given: Variables) -> Conditions:
        with self._lock:
            self._n_tables += 1
        return Conditions(rows, self._columns.in_order(given))

    @contextmanager
    def _work(self) -> Iterator[Work]:
        """Lend memory to work in."""
        try:
            work = self._idle.pop()
        except IndexError:
            work = Work(self._columns.n_blocks, self._columns.length)
        try:
            yield work
        finally:
            self._idle.append(work)

    # Many tests, few of them strong

    def strong(
        self,
        target: int,
        asked: Sequence[Question] | AllSets,
        least_bits: float,
        *,
        is_conservative: bool = False,
        on_progress: OnProgress | None = None,
    ) -> list[StrongDependence]:
        """All dependences of at least so many bits, the strongest first."""
        found: list[StrongDependence] = []
        if isinstance(asked, AllSets):
            if self.fixed or asked.core:
                asked = list(self._questions_of(target, asked))
            else:
                found = self._strong_levels(target, asked, least_bits, is_conservative, on_progress)
                asked = list(self._mixed_questions(target, asked))
        questions = [
            (sorted(candidates - given), given | self.fixed) for candidates, given in asked
        ]
        counted, on_features = self._split(target, questions)
        found += self._strong_features(
            target, list(on_features.values()), least_bits, is_conservative, on_progress
        )
        if self._levels is not None and counted:
            found += self._ask_levels(
                target, [(frozenset(some), given) for some, given in counted.values()],
                least_bits, is_conservative, on_progress,
            )  # fmt: skip
        return sorted(((own, x, z - self.fixed) for own, x, z in found), key=by_strength)

    def _strong_levels(
        self,
        target: int,
        asked: AllSets,
        least_bits: float,
        is_conservative: bool,
        on_progress: OnProgress | None,
    ) -> list[StrongDependence]:
        """Strong dependences in all sets of levels alone."""
        numeric = self._columns.numeric
        candidates, pool = asked.candidates - numeric, asked.pool - numeric
        if self._levels is None or target in numeric or not candidates or len(pool) <= asked.size:
            return []
        among_levels = asked._replace(candidates=candidates, pool=pool)
        return self._ask_levels(target, among_levels, least_bits, is_conservative, on_progress)

    def _ask_levels(
        self,
        target: int,
        asked: Sequence[Question] | AllSets,
        least_bits: float,
        is_conservative: bool,
        on_progress: OnProgress | None,
    ) -> list[StrongDependence]:
        assert self._levels is not None
        before = self._levels.work.tests
        found = self._levels.strong(
            target, asked, least_bits, is_conservative=is_conservative, on_progress=on_progress
        )
        self._n_tests += self._levels.work.tests - before
        return found

    def _mixed_questions(self, target: int, asked: AllSets) -> Iterator[Question]:
        """Yield every set, with the candidates whose tests involve a number."""
        numeric = self._columns.numeric
        for given in subsets(asked.pool, asked.size, asked.size):
            has_number = target in numeric or not numeric.isdisjoint(given) or self._levels is None
            candidates = asked.candidates if has_number else asked.candidates & numeric
            if candidates - given:
                yield candidates, given

    def _strong_features(
        self,
        target: int,
        questions: Sequence[Candidates],
        least_bits: float,
        is_conservative: bool,
        on_progress: OnProgress | None,
    ) -> list[StrongDependence]:
        """Strong dependences on features; of many sets, of what passes a screen."""
        unlikely = min(UNLIKELY, 2.0 ** (-0.5 * least_bits)) if is_conservative else UNLIKELY
        is_screened = is_conservative and len(questions) >= LEAST_SWEEP
        if is_screened:
            self._make_screen()  # before several threads want it

        def test(question: Candidates) -> tuple[Sequence[int], Tests]:
            candidates, given = question
            if is_screened:
                candidates = self._screened(target, candidates, given, least_bits)
            return candidates, self._compare(target, candidates, given, unlikely)

        found: list[StrongDependence] = []
        with _one_thread():  # here, for all of them: no thread may change that for another
            for number, (candidates, tests) in enumerate(self._map(test, questions)):
                if on_progress is not None and number % _QUESTIONS_PER_REPORT == 0:
                    on_progress(number, len(questions))
                asked, given = questions[number]
                self.allowance.spent += self.cost_of(target, dict.fromkeys(candidates, 0.0), given)
                if self.allowance.is_spent:
                    break
                self._n_tests += len(asked)
                self._n_unreliable += int(np.count_nonzero(~tests.is_reliable))
                pairs = zip(candidates, tests.evidence(self._alpha), strict=True)
                found += [(own, x, given) for x, own in pairs if own >= least_bits]
        return found

    def _make_screen(self) -> Screen:
        """Return the screen of all columns, made now if need be."""
        if self._screen is None:
            self._screen = Screen.of(map(self._features_of, range(self.n_variables)))
        return self._screen

    def _features_of(self, column: int) -> Features:
        return self._features.get(column, lambda: Features.of(self._columns, column))

    def _screened(
        self, target: int, candidates: Sequence[int], given: Variables, bits: float
    ) -> list[int]:
        """Those of some candidates that could depend on the target by so many bits."""
        if not candidates or not given:
            return list(candidates)
        is_possible = self._make_screen().possible(
            self._features_of(target),
            candidates,
            [self._features_of(z) for z in sorted(given)],
            self._columns.are_known([target, *given]),
            bits,
        )
        return list(compress(candidates, is_possible))

    # What else a search asks

    def can_detect(
        self, target: int, candidate: int, given: Variables, witness: Variables, power: Power
    ) -> bool:
        """Whether a test has the power to see a share of the dependence that a witness shows."""
        given, witness = given | self.fixed, witness | self.fixed
        if self._levels is not None and not self._is_mixed(target, candidate, given | witness):
            return self._levels.can_detect(target, candidate, given, witness, power)
        for each in (given, witness):
            self.allowance.spent += self.cost_of(target, {candidate: 0.0}, each)
        test = self._compare(target, [candidate], given)
        seen = self._compare(target, [candidate], witness)
        share = power.share if power.left_share is None else power.left_share
        if seen.decider(0) == LINEAR:  # clearer, the less conditions leave of the target
            share *= self._share_left(target, witness) / self._share_left(target, given)
        return has_power(test, seen, share, self._alpha)

    def determines(self, given: Variables, variable: int, min_rows: float) -> bool:
        """Whether a set is known to determine a variable, from so many rows per combination."""
        columns = [*sorted(given | self.fixed), variable]
        rows = self._columns.complete_rows(columns)
        *coded, last = [self._columns.levels(x)[0][rows] for x in columns]
        combined = np.zeros(len(rows), dtype=np.int64)
        for codes in coded:
            _, combined = np.unique(
                combined * (codes.max(initial=0) + 1) + codes, return_inverse=True
            )
        n_combinations = int(combined.max(initial=-1)) + 1
        if n_combinations * min_rows > len(combined):
            return False
        return len(np.unique(combined * (last.max(initial=0) + 1) + last)) == n_combinations

    def explained_shares(self, target: int, candidates: Sequence[int]) -> list[float]:
        """Share of the target's normal scores, or contrasts, that functions of each explain."""
        return [self._explained_share(target, x) for x in candidates]

    def _explained_share(self, target: int, candidate: int) -> float:
        if self._levels is not None and not self._is_mixed(target, candidate, EMPTY):
            return self._levels.explained_shares(target, [candidate])[0]
        left = self._share_left(target, frozenset({candidate}))
        return 1.0 if left < 1.0 and self._is_function(target, candidate) else 1.0 - left

    def _share_left(self, target: int, given: Variables) -> float:
        """Share of the target's variance, of degree 1, that conditions leave; never nothing."""
        columns = [target, *self._columns.in_order(given)]
        rows = self._columns.rows(columns, self._columns.incomplete(columns))
        if not given or rows.n_rows < LEAST_ROWS:
            return 1.0
        self.allowance.spent += self.cost_of(target, {target: 0.0}, given)
        with self._work() as work:
            share = Conditions(rows, columns[1:]).explained_share(rows, target, work)
        return 1.0 - min(share, NEARLY_ALL)

    def _is_function(self, target: int, candidate: int) -> bool:
        """Whether the target is a simple function of a candidate."""
        rows = self._columns.complete_rows([target, candidate])
        values, cause = (self._columns.column(x) for x in (target, candidate))
        return is_simple_function(
            values.rows[0][rows], cause.rows[0][rows],
            is_number=not values.is_nominal, has_numbers=not cause.is_nominal,
        )  # fmt: skip

    def trim(self, most_bytes: int | None = None) -> None:
        """Forget variables that were targets long ago until what is remembered fits."""
        super().trim(most_bytes)
        if self._levels is not None:
            self._levels.trim(most_bytes)


@lru_cache(maxsize=1)
def _thread_pools() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _one_thread() -> AbstractContextManager[Any]:
    """Have products of matrices computed by one thread: they are small, and sums stay the same."""
    limit: AbstractContextManager[Any] = _thread_pools().limit(limits=1, user_api="blas")
    return limit
