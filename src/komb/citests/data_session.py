"""Answers from data: counts, then a statistic, then a decision."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from itertools import accumulate, chain, compress, islice
from typing import Any

import numpy as np
import numpy.typing as npt

from komb.citests import decision
from komb.citests.measure import NO_FREEDOM, BoolArray, Measurement, Tests, TestSums
from komb.citests.registry import make_test
from komb.citests.session import (
    OnProgress,
    Outcome,
    Question,
    Session,
    SessionCounts,
    Variables,
    by_clarity,
)
from komb.citests.sweep import SWEEP_BYTES, Decider, Sweep, Sweeper, sweep_bytes
from komb.counts.contingency import Contingency, Ledger
from komb.counts.fixedpoint import FloatArray
from komb.data import DiscreteTable

_PREPARED_TARGETS = 4  # contingencies kept ready, at least; each may hold as much as the table
_PREPARED_BYTES = 64 << 20  # and more of them as long as all take no more than this

#: A sweep for clear dependences looks at tables of so many rows a cell, all levels combined. With
#: fewer a dependence can hardly be clear, and of large tables there are a great many.
CLEAR_ROWS_A_CELL = 2.0


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
    ignores_mute_sets : bool
        Whether a set that leaves the target no freedom is no separator: given such a set everything
        is independent of the target, which says nothing about what it depends on.

    Examples
    --------
    >>> from komb.data import boolean_table
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
        ignores_mute_sets: bool = False,
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
        self._ignores_mute_sets = ignores_mute_sets
        self._mute: dict[int, set[tuple[int, Variables]]] = {}

    @property
    def counts(self) -> SessionCounts:
        """How much work has been done so far."""
        return SessionCounts(self._tests, self._tables, self._fallbacks, self._unreliable)

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

    def clear_dependences(
        self,
        target: int,
        candidates: AbstractSet[int],
        pool: Variables,
        size: int,
        bits: float,
        on_progress: OnProgress | None = None,
    ) -> list[tuple[float, int, Variables]]:
        """All dependences with ``size`` conditions that are at least so clear, the clearest first.

        Tables that could have fewer than ``CLEAR_ROWS_A_CELL`` rows a cell are left out.
        """
        alpha = 2.0**-bits
        preselect = getattr(self._test, "preselect", None)

        def decide(sums: TestSums) -> BoolArray:
            if preselect is None:
                return np.asarray(decision.strengths(self._measured(sums), self._alpha) >= bits)
            clear: BoolArray = preselect(sums, alpha)
            kept = np.flatnonzero(clear)
            clear[kept] = decision.strengths(self._measured(sums.only(kept)), self._alpha) >= bits
            return clear

        sweeper = self._sweeper(
            target, pool, size, decide, alpha,
            candidates=candidates, most_cells=self._table.n_rows / CLEAR_ROWS_A_CELL,
        )  # fmt: skip
        found = list(sweeper.dependences(on_progress))
        self._tests += sweeper.n_tests
        self._tables += sweeper.n_tables
        weighed = self._weigh(target, [([x], given) for x, given in found], is_counted=False)
        return sorted(
            ((own, x, given) for (x, given), [own] in zip(found, weighed, strict=True)),
            key=by_clarity,
        )

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
            self._note_mute(target, questions, sums)
            return [evaluate(sums).tolist()]
        answers: list[list[Any]] = [[]] * len(questions)
        for indices in _by_size(questions).values():
            sets = _prefix_friendly([questions[index][1] for index in indices])
            order = sorted(range(len(sets)), key=sets.__getitem__)
            asked = [questions[indices[place]] for place in order]
            sums = self._sums(
                target, [candidates for candidates, _ in asked], [sets[place] for place in order]
            )
            self._note_mute(target, asked, sums)
            answer = iter(evaluate(sums).tolist())
            for place, (candidates, _) in zip(order, asked, strict=True):
                answers[indices[place]] = list(islice(answer, len(candidates)))
        return answers

    def _note_mute(
        self, target: int, questions: Sequence[tuple[Sequence[int], Variables]], sums: TestSums
    ) -> None:
        """Remember the tests whose set leaves the target no freedom.

        If values are missing, the rows of a test and so this depend on the candidate too.
        """
        if not self._ignores_mute_sets:
            return
        is_mute = sums.is_mute
        if is_mute.any():
            tests = ((x, given) for candidates, given in questions for x in candidates)
            self._mute.setdefault(target, set()).update(compress(tests, is_mute.tolist()))

    def _is_mute(self, target: int, candidate: int, given: Variables) -> bool:
        return (candidate, given) in self._mute.get(target, ())

    def are_copies(self, first: int, second: int) -> bool:
        """Whether the levels of two columns go together one to one, where both have a value."""
        levels = self._table.cardinalities[[first, second]]
        pair = self._table.codes[[first, second]].astype(np.int64)
        a, b = pair[:, (pair < levels[:, None]).all(axis=0)]
        pairs = np.unique(a * levels[1] + b)  # a table of all pairs could be levels x levels large
        one_to_one = np.unique(pairs // levels[1]).size, np.unique(pairs % levels[1]).size
        return one_to_one == (pairs.size, pairs.size)

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
        if not isinstance(measured.decider, str):  # not one test for all: some fell back
            self._fallbacks += int(np.count_nonzero(measured.decider != "g"))
        self._unreliable += int(np.count_nonzero(~measured.is_reliable))
        return measured

    def measure(self, target: int, candidates: Sequence[int], given: Variables) -> Measurement:
        """Statistics of a batch of tests, undecided and not remembered."""
        return self._test.measure(self._sums(target, [candidates], [sorted(given)]))

    def outcome(self, target: int, candidate: int, given: Collection[int]) -> Outcome:
        """Everything one test has to say."""
        measured = self.measure(target, [candidate], frozenset(given))
        freedom = int(measured.freedom[0])
        decider = measured.decider
        return Outcome(
            independent=not bool(decision.is_dependent(measured, self._alpha)[0]),
            statistic=float(measured.statistic[0]),
            df=None if freedom == NO_FREEDOM else freedom,
            p_value=decision.p_values(measured)[0],
            test=decider if isinstance(decider, str) else str(decider[0]),
            reliable=bool(measured.is_reliable[0]),
        )


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
