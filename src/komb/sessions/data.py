"""Answers from data: counts, then a statistic, then a decision."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from itertools import accumulate, chain, islice
from typing import Any

import numpy as np
import numpy.typing as npt

from komb.citests import decision
from komb.citests.g_sci import FALLBACK
from komb.citests.measure import NO_FREEDOM, BoolArray, Measurement, Tests, TestSums
from komb.citests.registry import make_test
from komb.counts.contingency import Contingency, Ledger
from komb.counts.fixedpoint import FloatArray
from komb.data.table import DiscreteTable
from komb.sessions.session import (
    OnProgress,
    Outcome,
    Question,
    Session,
    SessionCounts,
    StrongDependence,
    Variables,
    by_strength,
)
from komb.sessions.sweeps import SWEEP_BYTES, Decider, Sweep, Sweeper, sweep_bytes

_PREPARED_TARGETS = 4  # contingencies kept ready, at least; each may hold as much as the table
_PREPARED_BYTES = 64 << 20  # and more of them as long as all take no more than this

#: A sweep for strong dependences looks at tables of so many rows per cell, all levels combined.
#: With fewer a dependence can hardly be strong, and of large tables there are a great many.
SWEPT_ROWS_PER_CELL = 2.0

#: Rows per combination of values from which on one is said to determine a column.
DETERMINED_ROWS = 2

#: Rows per cell of a very thick table, and how many times the share that a test on it has to see.
VERY_THICK_ROWS_PER_CELL, LARGER_SHARE = 50.0, 3.0

_TESTS_PER_LOT = 20_000  # of questions that are not remembered, between two reports of progress


class DataSession(Session):
    """A session that tests on a table.

    Parameters
    ----------
    table : DiscreteTable
    test : str
        Name of a registered test.
    alpha : float
        Level of the tests that have one.
    df : {"observed", "adjusted"}
        Rule for the degrees of freedom.
    seed : int
        Of the random numbers of a test that draws some.

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

    def __init__(
        self,
        table: DiscreteTable,
        test: str = "g-sci",
        *,
        alpha: float = 0.01,
        df: str = "observed",
        seed: int = 0,
    ) -> None:
        super().__init__(table.n_columns)
        self._table = table
        self._test = make_test(test, df, seed, alpha=alpha)
        self._alpha = alpha
        self._ledger: Ledger | None = None
        self._prepared: dict[int, Contingency] = {}
        self._sweeps: dict[tuple[int, int], Sweep] = {}
        self._largest_sweep: dict[int, int] = {}
        self._tables = self._fallbacks = self._unreliable = 0

    @property
    def counts(self) -> SessionCounts:
        """How much work has been done so far."""
        return SessionCounts(self._tests, self._tables, self._fallbacks, self._unreliable)

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return self._table.n_rows

    @property
    def n_levels(self) -> Sequence[int]:
        """Levels of each column."""
        levels: list[int] = self._table.cardinalities.tolist()
        return levels

    @property
    def alpha(self) -> float:
        """Level of the tests."""
        return self._alpha

    def _contingency(self, target: int) -> Contingency:
        prepared = self._prepared.get(target)
        if prepared is None:
            self._make_room()
            codes, cardinalities = self._table.codes, self._table.cardinalities
            if self._ledger is None:
                self._ledger = Ledger(codes, cardinalities)
            prepared = Contingency(codes, cardinalities, target, self._ledger)
            self._prepared[target] = prepared
        return prepared

    def _make_room(self) -> None:
        """Forget the contingencies prepared first, if there are many and they are large."""
        while (
            len(self._prepared) >= _PREPARED_TARGETS
            and sum(each.nbytes for each in self._prepared.values()) > _PREPARED_BYTES
        ):
            self._prepared.pop(next(iter(self._prepared)))

    def sweep(
        self, target: int, pool: Variables, size: int, on_progress: OnProgress | None = None
    ) -> None:
        """Decide every test inside ``pool`` with ``size`` conditions, counting each set once."""
        contingency = self._contingency(target)
        if size == 0 or len(pool) <= size or (target, size) in self._sweeps:
            return
        if sweep_bytes(len(pool), size, len(contingency.class_levels)) > SWEEP_BYTES:
            return
        sweeper = self._sweeper(target, pool, size, self._decide_sums, self._alpha)
        swept = sweeper.run(on_progress)
        self._tests += swept.n_tests
        self._tables += swept.n_tables
        self._sweeps[target, size] = swept
        self._largest_sweep[target] = max(size, self._largest_sweep.get(target, 0))

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
        return Sweeper(
            self._contingency(target),
            decide,
            sorted(pool),
            size,
            length_below=self._test.length_below,
            wants_tables=self._test.needs_tables,
            candidates=candidates,
            screen=self._screen(alpha),
            most_cells=most_cells,
        )

    def _screen(self, alpha: float) -> Decider | None:
        """Return what tells from sums over sets that a test is no dependence, if anything can."""
        screen = getattr(self._test, "screen", None)
        return None if screen is None else partial(screen, alpha=alpha)

    def strong_dependences(
        self,
        target: int,
        candidates: AbstractSet[int],
        pool: Variables,
        size: int,
        bits: float,
        on_progress: OnProgress | None = None,
    ) -> list[StrongDependence]:
        """All dependences with ``size`` conditions of at least so many bits, the strongest first.

        Tables that could have fewer than ``SWEPT_ROWS_PER_CELL`` rows per cell are left out.
        """

        def decide(sums: TestSums) -> BoolArray:
            return np.asarray(decision.strengths(self._measured(sums), self._alpha) >= bits)

        sweeper = self._sweeper(
            target, pool, size, decide, 2.0**-bits,
            candidates=candidates, most_cells=self._table.n_rows / SWEPT_ROWS_PER_CELL,
        )  # fmt: skip
        found = list(sweeper.dependences(on_progress))
        self._tests += sweeper.n_tests
        self._tables += sweeper.n_tables
        weighed = self._weigh(target, [([x], given) for x, given in found], is_counted=False)
        return sorted(
            ((own, x, given) for (x, given), [own] in zip(found, weighed, strict=True)),
            key=by_strength,
        )

    def strong_among(
        self,
        target: int,
        questions: Sequence[Question],
        bits: float,
        on_progress: OnProgress | None = None,
    ) -> list[StrongDependence]:
        """Those dependences among some questions that have at least so many bits."""
        found: list[StrongDependence] = []
        asked = [(sorted(candidates - given), given) for candidates, given in questions]
        asked = [question for question in asked if question[0]]
        done = 0
        for lot in _lots_of(asked, _TESTS_PER_LOT):
            if on_progress is not None:
                on_progress(done, len(asked))
            weighed = self._weigh(target, lot, is_counted=True)
            self._tests += sum(len(candidates) for candidates, _ in lot)
            found += [
                (own, x, given)
                for (candidates, given), answer in zip(lot, weighed, strict=True)
                for x, own in zip(candidates, answer, strict=True)
                if own >= bits
            ]
            done += len(lot)
        return sorted(found, key=by_strength)

    def ask(self, target: int, questions: Sequence[Question]) -> list[list[int]]:
        """For each question, those candidates that depend on the target given its set."""
        largest = self._largest_sweep.get(target, 0)
        if all(len(given) > largest for _, given in questions):
            return super().ask(target, questions)
        answers: list[list[int]] = [[]] * len(questions)
        left = dict(enumerate(questions))
        for size, places in _by_size(questions).items():
            swept = self._sweeps.get((target, size))
            if swept is not None:
                inside = [place for place in places if questions[place][1] <= swept.pool]
                self._look_up(swept, inside, questions, answers, left)
        for place, answer in zip(left, super().ask(target, list(left.values())), strict=True):
            answers[place] = sorted(answers[place] + answer) if answers[place] else answer
        return answers

    def _ask_each(self, target: int, tests: Sequence[tuple[int, Variables]]) -> list[bool]:
        """Whether each candidate depends on the target given its set."""
        largest = self._largest_sweep.get(target, 0)
        if all(len(given) > largest for _, given in tests):
            return super()._ask_each(target, tests)
        by_given: dict[Variables, set[int]] = {}
        for candidate, given in tests:
            by_given.setdefault(given, set()).add(candidate)
        answers = self.ask(target, [(asked, given) for given, asked in by_given.items()])
        dependents = dict(zip(by_given, answers, strict=True))
        return [candidate in dependents[given] for candidate, given in tests]

    @staticmethod
    def _look_up(
        swept: Sweep,
        places: Sequence[int],
        questions: Sequence[Question],
        answers: list[list[int]],
        left: dict[int, Question],
    ) -> None:
        """Answer some questions from a sweep, and note which candidates are left to ask about."""
        last: AbstractSet[int] | None = None  # most questions have the candidates of the one before
        others: AbstractSet[int] = frozenset()
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

    def _decide(
        self, target: int, questions: Sequence[tuple[Sequence[int], Variables]]
    ) -> Sequence[Sequence[bool]]:
        return self._evaluate(target, questions, self._decide_sums)

    def _weigh(
        self,
        target: int,
        questions: Sequence[tuple[Sequence[int], Variables]],
        *,
        is_counted: bool,
    ) -> Sequence[Sequence[float]]:
        def weigh(sums: TestSums) -> FloatArray:
            measured = self._measured(sums) if is_counted else self._test.measure(sums)
            return decision.strengths(measured, self._alpha)

        return self._evaluate(target, questions, weigh)

    def _decided(self, target: int, candidates: Sequence[int], given: Variables) -> list[int]:
        swept = self._sweeps.get((target, len(given)))
        if swept is None or not given <= swept.pool:
            return super()._decided(target, candidates, given)
        others = super()._decided(target, [x for x in candidates if x not in swept.pool], given)
        return [x for x in candidates if x in swept.pool or x in others]

    def _evaluate(
        self,
        target: int,
        questions: Sequence[tuple[Sequence[int], Variables]],
        evaluate: Callable[[TestSums], npt.NDArray[Any]],
    ) -> list[list[Any]]:
        """Count the tables of all questions, those with equally many conditions together."""
        if len(questions) == 1:
            candidates, given = questions[0]
            sums = self._sums(target, [candidates], [sorted(given)])
            return [evaluate(sums).tolist()]
        answers: list[list[Any]] = [[]] * len(questions)
        for indices in _by_size(questions).values():
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

    def _forget(self, target: int) -> None:
        super()._forget(target)
        self._prepared.pop(target, None)
        self._largest_sweep.pop(target, None)
        for key in [key for key in self._sweeps if key[0] == target]:
            del self._sweeps[key]

    def confirmed_strengths(
        self, target: int, questions: Sequence[Question]
    ) -> list[dict[int, float]]:
        """As :meth:`strengths`, but with no more bits than all statistics of a test agree on."""

        def weigh(sums: TestSums) -> FloatArray:
            return decision.confirmed_strengths(self._test.measure(sums), self._alpha)

        asked = [(sorted(candidates - given), given) for candidates, given in questions]
        answers = self._evaluate(target, asked, weigh) if asked else []
        return [
            {x: bits for x, bits in zip(candidates, answer, strict=True) if bits}
            for (candidates, _), answer in zip(asked, answers, strict=True)
        ]

    def can_detect(
        self, target: int, candidate: int, given: Variables, witness: Variables, share: float
    ) -> bool:
        """Whether a test has the power to see a share of the dependence that a witness shows.

        On a thin table it has not, whatever the formula says: a dependence does not keep its
        noncentrality where rows are spread over strata of a few rows each. On a very thick one the
        formula can be trusted, and a larger share will do.
        """
        sums = self._sums(target, [[candidate]], [sorted(given)])
        if not sums.is_thick[0]:
            return False
        if sums.has_rows_a_cell(VERY_THICK_ROWS_PER_CELL)[0]:
            share *= LARGER_SHARE
        shown = decision.excess(self.measure(target, [candidate], witness))
        return bool(decision.has_power(self._test.measure(sums), share * shown, self._alpha)[0])

    def determines(self, given: Variables, variable: int) -> bool:
        """Whether each combination of values goes with one value of another column.

        Combinations that hardly ever come twice determine everything, and so tell nothing.
        """
        columns = [*sorted(given), variable]
        levels = self._table.cardinalities[columns]
        codes = self._table.codes[columns].astype(np.int64)
        codes = codes[:, (codes < levels[:, None]).all(axis=0)]
        combined = np.zeros(codes.shape[1], dtype=np.int64)
        for code, width in zip(codes[:-1], levels, strict=False):
            _, combined = np.unique(combined * width + code, return_inverse=True)
        n_combinations = int(combined.max(initial=-1)) + 1
        if n_combinations * DETERMINED_ROWS > len(combined):
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
        levels = self._table.cardinalities[[candidate, target]]
        pair = self._table.codes[[candidate, target]].astype(np.int64)
        x, y = pair[:, (pair < levels[:, None]).all(axis=0)]
        n_rows = len(x)
        cells, counts = np.unique(x * levels[1] + y, return_counts=True)
        by_x, by_y = np.bincount(x), np.bincount(y)
        fit = counts**2 / (by_x[cells // levels[1]] * by_y[cells % levels[1]])
        x_levels, y_levels = np.count_nonzero(by_x), np.count_nonzero(by_y)
        if n_rows < 2 or y_levels < 2:
            return 0.0
        explained = (math.fsum(fit) - 1.0) / (y_levels - 1)
        chance = (x_levels - 1) / (n_rows - 1)
        return (explained - chance) / (1.0 - chance) if chance < 1 else 0.0

    def test_batch(
        self, target: int, candidates: Sequence[Sequence[int]], given: Sequence[Sequence[int]]
    ) -> BoolArray:
        """Count, measure and decide a batch of tests, without remembering them.

        Parameters
        ----------
        target : int
        candidates : sequence of sequences
            ``candidates[i]`` are tested given ``given[i]``.
        given : sequence of sequences, all of one length

        Returns
        -------
        bool array
            Whether each candidate depends on the target, all candidates one after the other.
        """
        return self._decide_sums(self._sums(target, candidates, given))

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
        if contingency.has_missing:  # a table a test, which has the given set in its margin
            self._tables += len(variables)
            return TestSums(tests, sums, np.arange(len(variables)), sums)
        self._tables += len(variables) + len(given)
        return TestSums(tests, sums, set_of, sums)

    def _decide_sums(self, sums: TestSums) -> BoolArray:
        return decision.is_dependent(self._measured(sums), self._alpha)

    def _measured(self, sums: TestSums) -> Measurement:
        """Turn sums into statistics, and count those that are not what the caller expects."""
        measured = self._test.measure(sums)
        if not isinstance(measured.decider, str):  # not one test for all: some may have fallen back
            self._fallbacks += int(np.count_nonzero(measured.decider == FALLBACK))
        self._unreliable += int(np.count_nonzero(~measured.is_reliable))
        return measured

    def measure(self, target: int, candidates: Sequence[int], given: Variables) -> Measurement:
        """Statistics of a batch of tests, undecided and not remembered."""
        return self._test.measure(self._sums(target, [candidates], [sorted(given)]))

    def outcome(self, target: int, candidate: int, given: Collection[int]) -> Outcome:
        """Everything one test has to say."""
        measured = self.measure(target, [candidate], frozenset(given))
        freedom = measured.freedom[0].item()
        decider = measured.decider
        return Outcome(
            independent=not bool(decision.is_dependent(measured, self._alpha)[0]),
            statistic=float(measured.statistic[0]),
            df=None if freedom == NO_FREEDOM else freedom,
            p_value=decision.p_values(measured)[0],
            test=decider if isinstance(decider, str) else str(decider[0]),
            reliable=bool(measured.is_reliable[0]),
        )


def _lots_of(
    questions: Sequence[tuple[Sequence[int], Variables]], n_tests: int
) -> Iterator[list[tuple[Sequence[int], Variables]]]:
    """Cut questions into lots of about so many tests."""
    lot: list[tuple[Sequence[int], Variables]] = []
    count = 0
    for question in questions:
        lot.append(question)
        count += len(question[0])
        if count >= n_tests:
            yield lot
            lot, count = [], 0
    if lot:
        yield lot


def _by_size(questions: Sequence[tuple[Collection[int], Variables]]) -> dict[int, list[int]]:
    """Places of the questions, by their number of conditions."""
    places: dict[int, list[int]] = {}
    for place, (_, given) in enumerate(questions):
        places.setdefault(len(given), []).append(place)
    return places


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
