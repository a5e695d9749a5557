"""A session answers a search's questions and remembers the answers.

A search never sees data. It asks a few questions, each for many variables and many sets at once:

* which of these candidates depend on the target, given this set? (:meth:`Session.ask`) And how
  clearly? (:meth:`Session.strengths`)
* which of these dependences does no small set out of this pool undo?
  (:meth:`Session.drop_separable`)
* which is the first set out of this pool that separates this candidate from the target?
  (:meth:`Session.separators`) If none does, how clear is the weakest dependence?
  (:meth:`Session.weakest`)
* what exactly did the test of this candidate say? (:meth:`Session.outcome`)

Whoever answers (data, a graph, a distribution) supplies :meth:`Session._decide` and ``outcome``.
Decisions are a function of (target, candidate, given set), so none is computed twice as long as it
is remembered (``ROWS_REMEMBERED_BYTES``). Variables are integers, sets are frozensets; names and
levels belong to the layers above. A session is not safe to share between threads.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any

Variables = frozenset[int]
EMPTY: Variables = frozenset()

OnProgress = Callable[[int, int], None]
Question = tuple[AbstractSet[int], Variables]  # candidates, given set

_INDEPENDENT, _DEPENDENT, _QUEUED = 1, 2, 3  # 0 is "not asked yet"

#: Bytes of remembered decisions a target; the oldest are forgotten beyond.
ROWS_REMEMBERED_BYTES = 256 << 20
_KEY_BYTES = 400  # of a given set in memory, roughly
_STRENGTH_BYTES = 64  # of a strength in memory, roughly


def subsets(items: Collection[int], max_size: int, min_size: int = 0) -> Iterator[Variables]:
    """All subsets of ``min_size`` to ``max_size`` elements, by size and then in table order.

    Examples
    --------
    >>> [sorted(subset) for subset in subsets({1, 2, 3}, 2)]
    [[], [1], [2], [3], [1, 2], [1, 3], [2, 3]]
    """
    ordered = sorted(items)
    for size in range(min_size, min(max_size, len(ordered)) + 1):
        yield from map(frozenset, combinations(ordered, size))


@dataclass(slots=True)
class Case:
    """Candidates that depend on the target given a set, while separators are tried on them."""

    given: Variables
    candidates: set[int]  # those that still stand
    withstood: Variables | None = None  # a pool whose separators they are known to withstand

    def can_try(self, separator: Variables) -> bool:
        """Whether a separator could change anything here."""
        return separator.isdisjoint(self.given) and (
            self.withstood is None or not separator <= self.withstood
        )


Trial = tuple[Case, set[int], Variables]  # a case, those of its candidates asked, a separator

_TESTS_A_BATCH = 64  # fewer cost more in calls than the tests that turn out to be superfluous
_TESTS_AT_FIRST, _TESTS_AT_MOST = 4, 32  # the same where superfluous tests are to be few


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one conditional-independence test said.

    Attributes
    ----------
    independent : bool
    statistic : float or None
        None when an oracle answered.
    df : int or None
        Degrees of freedom; None when the deciding test has none.
    p_value : float or None
        None when the deciding test has none.
    test : str
        Which test decided.
    reliable : bool
        Whether the table was thick enough for the deciding test to be trusted.
    """

    independent: bool
    statistic: float | None
    df: int | None
    p_value: float | None
    test: str
    reliable: bool


@dataclass(frozen=True, slots=True)
class SessionCounts:
    """How much work a session has done."""

    tests: int  # different (target, candidate, given set) decided
    tables: int  # joint tables counted to decide them
    fallbacks: int  # tests decided by the fall-back for thin tables
    unreliable: int  # tests decided on a table too thin for the test

    def __sub__(self, earlier: SessionCounts) -> SessionCounts:
        """Work done since ``earlier``."""
        return SessionCounts(
            self.tests - earlier.tests,
            self.tables - earlier.tables,
            self.fallbacks - earlier.fallbacks,
            self.unreliable - earlier.unreliable,
        )


class Session(ABC):
    """Base class: memory and batching, over an abstract :meth:`_decide`."""

    def __init__(self, n_variables: int) -> None:
        self.n_variables = n_variables
        self._memory: dict[int, dict[Variables, bytearray]] = {}
        self._strengths: dict[int, dict[Variables, dict[int, float]]] = {}
        self._proven: dict[int, dict[int, Variables]] = {}  # candidate -> its last separator
        self._tests = 0

    @abstractmethod
    def _decide(
        self, target: int, questions: Sequence[tuple[Sequence[int], Variables]]
    ) -> Sequence[Sequence[bool]]:
        """For each candidate of each question, whether it depends on the target given the set."""

    def _weigh(
        self,
        target: int,
        questions: Sequence[tuple[Sequence[int], Variables]],
        *,
        is_counted: bool,
    ) -> Sequence[Sequence[float]]:
        """For each candidate of each question, how clearly it depends; 0 if it does not.

        With ``is_counted`` false the tests have been counted before, as reliable or not.
        """
        return [list(map(float, answer)) for answer in self._decide(target, questions)]

    @abstractmethod
    def outcome(self, target: int, candidate: int, given: Collection[int]) -> Outcome:
        """Everything one test has to say."""

    @property
    def counts(self) -> SessionCounts:
        """How much work has been done so far."""
        return SessionCounts(self._tests, 0, 0, 0)

    def sweep(  # noqa: B027
        self, target: int, pool: Variables, size: int, on_progress: OnProgress | None = None
    ) -> None:
        """Announce that every test inside ``pool`` with ``size`` conditions will be asked.

        A hint: a session that can answer them more cheaply together does so now, and calls
        ``on_progress`` with (sets done, sets in all) on the way.
        """

    def ask(self, target: int, questions: Sequence[Question]) -> list[list[int]]:
        """For each question, those candidates that depend on the target given its set.

        Candidates that are in the given set themselves are ignored. Answers are in table order.
        """
        memory = self._memory.setdefault(target, {})
        rows: list[bytearray] = []
        queue: list[tuple[list[int], Variables, bytearray]] = []
        try:
            for candidates, given in questions:
                row = memory.get(given)
                if row is None:
                    row = memory[given] = bytearray(self.n_variables)
                rows.append(row)
                unknown = [x for x in candidates if not row[x] and x not in given]
                if unknown:
                    queue.append((unknown, given, row))
                    for x in unknown:
                        row[x] = _QUEUED  # another question of this batch may ask the same
            if queue:
                self._answer(target, queue)
        except BaseException:  # an interrupt must not leave questions half answered
            for unknown, _, row in queue:
                for x in unknown:
                    row[x] = 0
            raise
        answers = [
            [x for x in candidates if row[x] == _DEPENDENT]
            for (candidates, _), row in zip(questions, rows, strict=True)
        ]
        for answer in answers:
            answer.sort()
        self._forget_oldest(memory)
        return answers

    def _answer(self, target: int, queue: Sequence[tuple[list[int], Variables, bytearray]]) -> None:
        """Decide what is not known yet and write it into the rows."""
        answers = self._decide(target, [(unknown, given) for unknown, given, _ in queue])
        for (unknown, _, row), answer in zip(queue, answers, strict=True):
            self._tests += len(unknown)
            for x, depends in zip(unknown, answer, strict=True):
                row[x] = _DEPENDENT if depends else _INDEPENDENT

    def _forget_oldest(self, memory: dict[Variables, Any], bytes_a_variable: int = 1) -> None:
        room = ROWS_REMEMBERED_BYTES // (bytes_a_variable * self.n_variables + _KEY_BYTES)
        if len(memory) > room:
            # many at once: a dictionary finds its first key slower the more have gone before it
            for given in list(islice(memory, len(memory) - room // 2)):
                del memory[given]

    def strengths(self, target: int, questions: Sequence[Question]) -> list[dict[int, float]]:
        """For each question, those candidates that depend on the target, and how clearly.

        In bits: a p-value of 2^-b counts as b, and so does a code that is b bits shorter. An oracle
        is sure of everything, 1 bit. Candidates that are in the given set are ignored.
        """
        memory = self._strengths.setdefault(target, {})
        rows = [memory.setdefault(given, {}) for _, given in questions]
        queues: dict[bool, list[tuple[list[int], Variables]]] = {False: [], True: []}
        try:
            for (candidates, given), row in zip(questions, rows, strict=True):
                unknown = [x for x in candidates if x not in row and x not in given]
                row.update(dict.fromkeys(unknown, math.nan))  # others of this batch may ask it too
                for is_decided, queue in queues.items():
                    asked = [x for x in unknown if self._is_decided(target, x, given) == is_decided]
                    if asked:
                        queue.append((asked, given))
            for is_decided, queue in queues.items():
                self._weigh_queue(target, queue, is_decided)
        except BaseException:  # an interrupt must not leave questions half answered
            for _, given in questions:
                memory.pop(given, None)
            raise
        answers = [
            {x: row[x] for x in sorted(candidates) if row.get(x)}
            for (candidates, _), row in zip(questions, rows, strict=True)
        ]
        self._forget_oldest(memory, _STRENGTH_BYTES)
        return answers

    def _weigh_queue(
        self, target: int, queue: Sequence[tuple[list[int], Variables]], is_decided: bool
    ) -> None:
        """Weigh what is not known yet; tests that were decided before count no more."""
        if not queue:
            return
        decisions = self._memory.setdefault(target, {})
        weighed = self._weigh(target, queue, is_counted=not is_decided)
        for (asked, given), bits in zip(queue, weighed, strict=True):
            self._strengths[target][given].update(zip(asked, bits, strict=True))
            if is_decided:
                continue
            self._tests += len(asked)
            row = decisions.setdefault(given, bytearray(self.n_variables))
            for x, strength in zip(asked, bits, strict=True):
                row[x] = _DEPENDENT if strength else _INDEPENDENT

    def _is_decided(self, target: int, candidate: int, given: Variables) -> bool:
        """Whether a test has been decided, and is remembered."""
        row = self._memory.get(target, {}).get(given)
        return row is not None and row[candidate] != 0

    def dependents(self, target: int, candidates: AbstractSet[int], given: Variables) -> list[int]:
        """Those of ``candidates`` that depend on ``target`` given ``given``, in table order."""
        return self.ask(target, [(candidates, given)])[0]

    def is_dependent(self, target: int, candidate: int, given: Variables) -> bool:
        """Whether one candidate depends on the target given the set."""
        return bool(self.dependents(target, {candidate}, given))

    def drop_separable(
        self, target: int, cases: Sequence[Case], pool: Variables, max_size: int
    ) -> None:
        """Take out of each case the candidates that some separator makes independent.

        Separators are the subsets of ``pool`` of up to ``max_size`` variables, without the given
        set and the candidate itself. Only whether there is one matters, not which: what separated
        a candidate last is tried on it first, then all separators in order, several at once as
        long as they make a small batch.
        """
        self._try_proven(target, cases, pool, max_size)
        live = [case for case in cases if case.candidates]
        trials: list[Trial] = []
        n_tests = 0
        tried = _withstood_by_all(live)
        for separator in subsets(pool, max_size):
            if not live:
                return
            if tried is not None and separator <= tried:
                continue
            for case in live:
                if case.can_try(separator):
                    asked = case.candidates - separator
                    trials.append((case, asked, separator))
                    n_tests += len(asked)
            if n_tests >= _TESTS_A_BATCH:
                if self._try(target, trials):
                    live = [case for case in live if case.candidates]
                trials, n_tests = [], 0
        self._try(target, trials)

    def _try_proven(
        self, target: int, cases: Sequence[Case], pool: Variables, max_size: int
    ) -> None:
        """Try on each candidate the separator that worked for it before."""
        proven = self._proven.get(target)
        if not proven:
            return
        trials: list[Trial] = []
        for case in cases:
            by_separator: dict[Variables, set[int]] = {}
            for candidate in case.candidates:
                separator = proven.get(candidate)
                if separator is not None:
                    by_separator.setdefault(separator, set()).add(candidate)
            trials += [
                (case, asked, separator)
                for separator, asked in by_separator.items()
                if len(separator) <= max_size and separator <= pool and case.can_try(separator)
            ]
        self._try(target, trials)

    def _try(self, target: int, trials: Sequence[Trial]) -> bool:
        """Drop the candidates that their separator makes independent; returns if any was."""
        if not trials:
            return False
        questions = [(asked, case.given | separator) for case, asked, separator in trials]
        any_dropped = False
        for (case, asked, separator), dependent in zip(
            trials, self.ask(target, questions), strict=True
        ):
            if len(dependent) < len(asked):
                separated = asked.difference(dependent)
                case.candidates -= separated
                any_dropped = True
                if separator:
                    self._proven.setdefault(target, {}).update(dict.fromkeys(separated, separator))
        return any_dropped

    def separators(
        self,
        target: int,
        candidates: AbstractSet[int],
        pool: Variables,
        max_size: int,
        *,
        min_size: int = 0,
        core: Variables = EMPTY,
    ) -> dict[int, Variables]:
        """For each candidate that can be separated from the target, the first set that does it.

        Sets consist of ``core`` and ``min_size`` to ``max_size`` further variables out of ``pool``,
        in the order of :func:`subsets`; none contains the candidate itself.
        """
        found: dict[int, Variables] = {}
        standing = set(candidates) - core
        for questions in _lots(standing, pool - core, min_size, max_size, core):
            answers = self.ask(target, questions)
            for (asked, given), dependent in zip(questions, answers, strict=True):
                if len(dependent) < len(asked):
                    for candidate in (asked - set(dependent)) & standing:
                        found[candidate] = given
                        standing.discard(candidate)
        return found

    def weakest(
        self,
        target: int,
        strengths: Mapping[int, float],
        pool: Variables,
        max_size: int,
        *,
        core: Variables = EMPTY,
    ) -> tuple[dict[int, float], dict[int, Variables]]:
        """For each candidate, its least strength given any set; for others, what separates them.

        Parameters
        ----------
        strengths : mapping
            Candidates, and the least strength that is known of each.
        target, pool, max_size, core
            As in :meth:`separators`.

        Returns
        -------
        weakest : dict
            Candidates that no set separates from the target, with their least strength.
        separators : dict
            The others, each with the first set that separates it.
        """
        least = dict(strengths)
        found: dict[int, Variables] = {}
        standing = set(least)
        for questions in _lots(standing, pool - core, 0, max_size, core):
            answers = self.strengths(target, questions)
            for (asked, given), dependent in zip(questions, answers, strict=True):
                for candidate in asked & standing:
                    if candidate in dependent:
                        least[candidate] = min(least[candidate], dependent[candidate])
                    else:
                        found[candidate] = given
                        standing.discard(candidate)
                        del least[candidate]
        return least, found


def _lots(
    standing: set[int], pool: Variables, min_size: int, max_size: int, core: Variables
) -> Iterator[list[tuple[set[int], Variables]]]:
    """Questions whether subsets of a pool separate candidates, a lot at a time.

    Between lots the caller takes candidates out of ``standing``; no more is asked about them. Lots
    are small as long as that happens, for what is asked beyond a separator is asked in vain, and
    larger the longer it does not.
    """
    questions: list[tuple[set[int], Variables]] = []
    n_tests, enough = 0, _TESTS_AT_FIRST
    for subset in subsets(pool, max_size, min_size):
        if not standing:
            return
        asked = standing - subset
        if asked:
            questions.append((asked, core | subset))
            n_tests += len(asked)
        if n_tests >= enough:
            n_standing = len(standing)
            yield questions
            is_quiet = len(standing) == n_standing
            enough = min(2 * enough, _TESTS_AT_MOST) if is_quiet else _TESTS_AT_FIRST
            questions, n_tests = [], 0
    if questions:
        yield questions


def _withstood_by_all(cases: Sequence[Case]) -> Variables | None:
    """Pool whose separators all cases are known to withstand; None if some knows of none."""
    pools = [case.withstood for case in cases]
    known = [pool for pool in pools if pool is not None]
    if not known or len(known) < len(pools):
        return None
    return known[0].intersection(*known[1:])
