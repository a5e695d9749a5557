"""A session answers a search's questions and remembers the answers.

A search never sees data. It asks a few questions, each for many variables and many sets at once:

* which of these candidates depend on the target, given this set? (:meth:`Session.ask`) How strong
  is the evidence? (:meth:`Session.strengths`)
* which is the first of these dependences that no small set out of this pool removes? Which is the
  first set out of it that separates this candidate from the target? If none does, how strong is the
  weakest dependence? (:attr:`Session.separators`)
* what exactly did the test of this candidate say? (:meth:`Session.outcome`)

A session has a :class:`~komb.sessions.source.Source`, which knows the answers (from data, a graph
or a distribution); a :class:`~komb.sessions.memory.Memory`, so that nothing is asked of it twice; a
:class:`~komb.sessions.sweeps.SweepCache` for all tests of one size made in one go; and a
:class:`~komb.sessions.separators.SeparatorFinder`. It is not safe to share between threads.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from itertools import compress
from typing import Any

from komb.sessions import memory as remembering
from komb.sessions.memory import Memory
from komb.sessions.questions import (
    EMPTY,
    Candidates,
    Dependence,
    GroupWalk,
    OnProgress,
    Outcome,
    Question,
    SessionCounts,
    StrongDependence,
    Variables,
    by_strength,
    check_variables,
    subsets,
)
from komb.sessions.separator_memory import SeparationMemory
from komb.sessions.separators import SeparatorFinder, SeparatorSearch
from komb.sessions.source import Power, Source, Strong
from komb.sessions.sweeps import SweepCache


class Session:
    """Answers from a source, each asked for only once.

    Parameters
    ----------
    source : Source
        Who knows.

    Attributes
    ----------
    knowledge : dict
        What a search learnt, for the next one to use.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.n_variables = source.n_variables
        self.knowledge: dict[str, Any] = {}
        self._everything = frozenset(range(source.n_variables))
        self._memory = Memory(source.n_variables)
        self._sweeps = SweepCache()
        self._separations: dict[int, SeparationMemory] = {}
        self._n_swept = 0  # tests decided without being remembered one by one
        self._sizes: dict[int, int] = {}  # bytes remembered of each target when last looked at
        self._asked: set[int] = set()  # targets asked about since then

    @property
    def separators(self) -> SeparatorSearch:
        """Looks for sets that separate candidates from the target.

        Made when it is asked for: one that is kept would keep the session, and all its buffers,
        alive until Python looks for cycles.
        """
        return self.source.separators or SeparatorFinder(
            self.ask, self.ask_each, self.strengths, self._separations
        )

    @property
    def counts(self) -> SessionCounts:
        """How much work has been done so far."""
        return self.source.work + SessionCounts(self._memory.n_tests + self._n_swept, 0, 0, 0)

    @property
    def n_tests(self) -> int:
        """How many tests have been decided so far, as in :attr:`counts`."""
        return self.source.n_tests + self._memory.n_tests + self._n_swept

    @property
    def n_rows(self) -> int | None:
        """Rows that the answers come from; None if they come from an oracle."""
        return self.source.n_rows

    @property
    def n_levels(self) -> Sequence[int]:
        """Levels of each variable; empty if the source does not know."""
        return self.source.n_levels

    @property
    def n_strata(self) -> int:
        """Strata that every test is made in, whatever it is given besides."""
        return self.source.n_strata

    @property
    def test_cost(self) -> float:
        """How much work a test is, in terms of one on counts."""
        return self.source.test_cost

    @property
    def alpha(self) -> float | None:
        """Level of the tests; None if answers come from an oracle."""
        return self.source.alpha

    @property
    def stops_at_success(self) -> bool:
        """Whether nothing is tested beyond a success, where one is enough."""
        return self.source.remembers

    def sweep(
        self, target: int, pool: Variables, size: int, on_progress: OnProgress | None = None
    ) -> None:
        """Announce that every test inside ``pool`` with ``size`` conditions will be asked.

        A hint: a source that can answer them more cheaply together does so now, and calls
        ``on_progress`` with (sets done, sets in all) on the way.
        """
        if self._sweeps.has(target, size):
            return
        swept = self.source.sweep(target, pool, size, on_progress)
        if swept is not None:
            self._n_swept += swept.n_tests
            self._sweeps.add(target, size, swept)

    def ask(self, target: int, questions: Sequence[Question]) -> list[list[int]]:
        """For each question, those candidates that depend on the target given its set.

        Candidates that are in the given set themselves are ignored. Answers are in table order.
        """
        self._asked.add(target)
        if self.source.remembers:  # sweeps, too
            return self._ask_source(target, questions)
        answers, left = self._sweeps.look_up(target, questions)
        if left:
            rest = self._ask_source(target, list(left.values()))
            for place, answer in zip(left, rest, strict=True):
                answers[place] = sorted(answers[place] + answer) if answers[place] else answer
        return answers

    def _ask_source(self, target: int, questions: Sequence[Question]) -> list[list[int]]:
        """Have questions answered that no sweep has answered."""
        if self.source.remembers:
            asked = self._in_order(questions)
            decided = zip(asked, self.source.decide(target, asked), strict=True)
            return [list(compress(candidates, answer)) for (candidates, _), answer in decided]
        unknown = self._memory.undecided(target, questions)
        if unknown:
            self._memory.note(target, unknown, self.source.decide(target, unknown))
        return self._memory.dependents(target, questions)

    def _in_order(self, questions: Sequence[Question]) -> list[Candidates]:
        """Order candidates, without those that are in the given set."""
        self._check(questions)
        return [(sorted(candidates - given), given) for candidates, given in questions]

    def ask_each(self, target: int, tests: Sequence[Dependence]) -> list[bool]:
        """Whether each candidate depends on the target given its set."""
        if not self.source.remembers and not self._sweeps.may_answer(target, tests):
            unknown = self._memory.undecided_each(target, tests)
            if unknown:
                self._memory.note(target, unknown, self.source.decide(target, unknown))
            return self._memory.depend_each(target, tests)
        by_given: dict[Variables, set[int]] = {}
        for candidate, given in tests:
            by_given.setdefault(given, set()).add(candidate)
        answers = self.ask(target, [(asked, given) for given, asked in by_given.items()])
        dependents = dict(zip(by_given, answers, strict=True))
        return [candidate in dependents[given] for candidate, given in tests]

    def dependents(self, target: int, candidates: AbstractSet[int], given: Variables) -> list[int]:
        """Those of ``candidates`` that depend on ``target`` given ``given``, in table order."""
        return self.ask(target, [(candidates, given)])[0]

    def is_dependent(self, target: int, candidate: int, given: Variables) -> bool:
        """Whether one candidate depends on the target given the set."""
        return bool(self.dependents(target, {candidate}, given))

    def walk(
        self,
        target: int,
        columns: Sequence[int],
        members: Variables,
        most_given: int | None = None,
    ) -> Variables:
        """Test columns one after the other, each given the rest of a set, which changes on the way.

        A column outside of the set enters if it depends on the target, one inside leaves if it does
        not. Stops before a test given more than ``most_given`` columns.
        """
        self._check([(members, frozenset(columns))])
        self._asked.add(target)
        most = self.n_variables if most_given is None else most_given
        walked = self.source.walk(target, columns, members, most)
        return self._walk(target, list(columns), members, most) if walked is None else walked

    def _walk(
        self, target: int, waiting: list[int], members: Variables, most_given: int
    ) -> Variables:
        """Ask about several columns at once, and the more the longer none has entered.

        What is asked beyond the first that depends is asked in vain.
        """
        idle = 0  # tests since the last one entered
        while waiting and len(members - {waiting[0]}) <= most_given:
            if waiting[0] in members:
                column = waiting.pop(0)
                others = members - {column}
                members = members if self.is_dependent(target, column, others) else others
                continue
            batch = waiting[: max(1, idle // 8)]
            batch = batch[: next((n for n, x in enumerate(batch) if x in members), len(batch))]
            dependent = self.dependents(target, set(batch), members)
            idle += len(batch)
            del waiting[: batch.index(dependent[0]) + 1 if dependent else len(batch)]
            if dependent:
                members |= {dependent[0]}
                idle = 0
        return members

    def walk_groups(
        self, target: int, candidates: Variables, order: int, max_separator: int
    ) -> GroupWalk | None:
        """Begin walks through the groups outside of a blanket; None if that is no quicker here."""
        self._check([(candidates, frozenset({target}))])
        self._asked.add(target)
        return self.source.walk_groups(target, candidates, order, max_separator)

    def separate_in_turn(
        self,
        target: int,
        candidates: Sequence[int],
        pool: Variables,
        max_size: int,
        *,
        min_size: int,
        core: Variables = EMPTY,
    ) -> dict[int, Variables]:
        """For each candidate up to the first that nothing separates, the first set that does it.

        As :meth:`SeparatorSearch.find <komb.sessions.separators.SeparatorSearch.find>`, but one
        candidate after the other: those after the first that is not separated are not looked at.
        """
        self._check([(pool | core, frozenset(candidates))])
        self._asked.add(target)
        found = self.source.separate_in_turn(target, candidates, pool, max_size, min_size, core)
        if found is not None:
            return found
        found = {}
        for candidate in candidates:
            separable = self.separators.find(
                target, {candidate}, pool, max_size, min_size=min_size, core=core
            )
            if not separable:
                break
            found |= separable
        return found

    def outcome(self, target: int, candidate: int, given: Collection[int]) -> Outcome:
        """Everything one test has to say."""
        self._check([({candidate}, frozenset(given))])
        return self.source.outcome(target, candidate, given)

    def outcomes(self, target: int, tests: Sequence[Dependence]) -> list[Outcome]:
        """Everything that each of some tests has to say; many are quicker together."""
        self._check([({candidate}, given) for candidate, given in tests])
        return self.source.outcomes(target, tests)

    def strengths(self, target: int, questions: Sequence[Question]) -> list[dict[int, float]]:
        """For each question, those candidates that depend on the target, and how strongly.

        In bits: a p-value of 2^-b counts as b, and so does a code that is b bits shorter. An oracle
        is sure of everything. Candidates that are in the given set are ignored.
        """
        self._asked.add(target)
        memory = self._memory
        if self.source.remembers:
            asked = self._in_order(questions)
            return _named(asked, self.source.weigh(target, asked, is_counted=True))
        for was_decided, tests in memory.unweighed(target, questions, self._sweeps.pool).items():
            if tests:
                strengths = self.source.weigh(target, tests, is_counted=not was_decided)
                memory.note_strengths(target, tests, strengths, was_decided=was_decided)
        return memory.strengths(target, questions)

    def confirmed_strengths(
        self, target: int, questions: Sequence[Question]
    ) -> list[dict[int, float]]:
        """As :meth:`strengths`, but with no more bits than all statistics of a test agree on.

        For dependences that have to be significant among a great many tests.
        """
        asked = self._in_order(questions)
        answers = self.source.confirm(target, asked)
        return self.strengths(target, questions) if answers is None else _named(asked, answers)

    def strong_dependences(
        self,
        target: int,
        candidates: AbstractSet[int],
        pool: Variables,
        size: int,
        bits: float,
        *,
        min_rows_per_cell: float = 0.0,
        on_progress: OnProgress | None = None,
    ) -> list[StrongDependence]:
        """All dependences with ``size`` conditions of at least this many bits, the strongest first.

        By every statistic of a test, as in :meth:`confirmed_strengths`.
        """
        strong = self.source.strong_in_pool(
            target, candidates, pool, size, bits, min_rows_per_cell, on_progress
        )
        if strong is not None:
            return self._counted(strong)
        questions = [(candidates, given) for given in subsets(pool, size, size)]
        return self.strong_among(target, questions, bits, on_progress, is_confirmed=True)

    def strong_among(
        self,
        target: int,
        questions: Sequence[Question],
        bits: float,
        on_progress: OnProgress | None = None,
        *,
        is_confirmed: bool = False,
    ) -> list[StrongDependence]:
        """Those dependences among some questions that have at least this many bits.

        The strongest come first. With ``is_confirmed`` they have as many by every statistic of a
        test, as in :meth:`confirmed_strengths`. Questions that are many and hardly ever have such
        an answer are better asked here than with :meth:`strengths`: a session need not remember
        them.
        """
        self._check(questions)
        strong = self.source.strong_among(
            target, questions, bits, on_progress, is_confirmed=is_confirmed
        )
        if strong is not None:
            return self._counted(strong)
        found = []
        for question in questions:
            strengths = least = self.strengths(target, [question])[0]
            if is_confirmed:
                [least] = self.confirmed_strengths(target, [question])
            found += [
                (own, x, question[1]) for x, own in strengths.items() if least.get(x, 0.0) >= bits
            ]
        return sorted(found, key=by_strength)

    def _counted(self, strong: Strong) -> list[StrongDependence]:
        self._n_swept += strong.n_tests
        return strong.found

    def can_detect(
        self, target: int, candidate: int, given: Variables, witness: Variables, power: Power
    ) -> bool:
        """Whether a test has the power to see a share of the dependence that a witness shows."""
        self._check([({candidate}, given | witness)])
        return self.source.can_detect(target, candidate, given, witness, power)

    def determines(self, given: Variables, variable: int, *, min_rows: float) -> bool:
        """Whether a set is known to determine another variable.

        Combinations of values that hardly ever come twice determine everything, and so tell
        nothing: there must be ``min_rows`` rows per combination.
        """
        return self.source.determines(given, variable, min_rows)

    def explained_shares(self, target: int, candidates: Sequence[int]) -> list[float]:
        """Share of the target's variation that each candidate explains; 0 where unknown."""
        return self.source.explained_shares(target, candidates)

    def _check(self, questions: Sequence[Question]) -> None:
        """Refuse questions about variables that do not exist, where no memory looks at them."""
        for candidates, given in questions:
            check_variables(candidates | given, self._everything)

    def trim(self, most_bytes: int | None = None) -> None:
        """Forget variables that were targets long ago, until what is remembered fits.

        For callers that run many searches in one session: between two of them. What is forgotten is
        computed again when it is asked for, so no answer changes.
        """
        for target in sorted(self._asked):
            n_separations = len(self._separations.get(target, ()))
            self._sizes[target] = (
                self._memory.n_bytes(target)
                + self.source.n_bytes(target)
                + n_separations * remembering.KEY_BYTES
            )
        self._asked.clear()
        room = remembering.ROWS_REMEMBERED_BYTES if most_bytes is None else most_bytes
        total = sum(self._sizes.values())
        for target, size in list(self._sizes.items()):
            if total <= room:
                return
            self._forget(target)
            total -= size

    def _forget(self, target: int) -> None:
        """Forget all that is known about one variable as a target."""
        for keeper in (self._memory, self._sweeps, self.source):
            keeper.forget(target)
        self._separations.pop(target, None)
        self._sizes.pop(target, None)


def _named(
    asked: Sequence[Candidates], answers: Sequence[Sequence[float]]
) -> list[dict[int, float]]:
    """Put the candidates that depend to their strengths."""
    return [
        {x: bits for x, bits in zip(candidates, answer, strict=True) if bits}
        for (candidates, _), answer in zip(asked, answers, strict=True)
    ]
