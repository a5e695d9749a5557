"""A session answers a search's questions and remembers the answers.

A search never sees data. It asks a few questions, each for many variables and many sets at once:

* which of these candidates depend on the target, given this set? (:meth:`Session.ask`) And how
  clearly? (:meth:`Session.strengths`)
* which is the first of these dependences that no small set out of this pool undoes?
  (:meth:`Session.first_standing`)
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
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

from komb.sessions.separation import Dependence, Line, SeparationMemory, Separators, Trial, subsets
from komb.sessions.separation import Variables as Variables  # who asks names its sets by this

EMPTY: Variables = frozenset()

OnProgress = Callable[[int, int], None]
Question = tuple[AbstractSet[int], Variables]  # candidates, given set
StrongDependence = tuple[float, int, Variables]  # bits, candidate, given set
_Unknown = tuple[list[int], Variables, bytearray]  # candidates, given set, where answers go

_INDEPENDENT, _DEPENDENT, _QUEUED = 1, 2, 3  # 0 is "not asked yet"

#: Bytes of remembered decisions a target; the oldest are forgotten beyond.
ROWS_REMEMBERED_BYTES = 256 << 20
_KEY_BYTES = 400  # of a given set in memory, roughly
_STRENGTH_BYTES = 64  # of a strength in memory, roughly


_TESTS_AT_FIRST, _TESTS_AT_MOST = 4, 32  # asked at once where superfluous ones are to be few
_WEIGHED_AT_FIRST, _WEIGHED_AT_MOST = 16, 128  # the same where most of them matter
_TESTS_A_BATCH = 16  # separators tried at once, at least
_MOST_SEPARATORS = 64  # tried at once on one dependence
_LINES_AT_FIRST, _LINES_AT_MOST = 4, 4096  # looked at together when one may be enough
_MOST_AHEAD = 1024  # dependences of one candidate looked at together


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one conditional-independence test said.

    Attributes
    ----------
    independent : bool
    statistic : float or None
        None when an oracle answered.
    df : int, float or None
        Degrees of freedom; None when the deciding test has none. Of test ``auto`` the mean of its
        statistic under independence, a real number.
    p_value : float or None
        None when the deciding test has none.
    test : str
        Which test decided.
    reliable : bool
        Whether the table was thick enough for the deciding test to be trusted.
    """

    independent: bool
    statistic: float | None
    df: float | None
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

    def __add__(self, other: SessionCounts) -> SessionCounts:
        """Work of both."""
        return SessionCounts(
            self.tests + other.tests,
            self.tables + other.tables,
            self.fallbacks + other.fallbacks,
            self.unreliable + other.unreliable,
        )

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
        self.knowledge: dict[str, Any] = {}  # what a search learnt, for the next one to use
        self._memory: dict[int, dict[Variables, bytearray]] = {}
        self._strengths: dict[int, dict[Variables, dict[int, float]]] = {}
        self._separations: dict[int, SeparationMemory] = {}
        self._tests = 0
        self._sizes: dict[int, int] = {}  # bytes remembered of each target when last looked at
        self._asked: set[int] = set()  # targets asked about since then

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
        answers = self._decide(target, questions)  # whoever has no statistic is sure
        return [[math.inf if depends else 0.0 for depends in answer] for answer in answers]

    @abstractmethod
    def outcome(self, target: int, candidate: int, given: Collection[int]) -> Outcome:
        """Everything one test has to say."""

    @property
    def counts(self) -> SessionCounts:
        """How much work has been done so far."""
        return SessionCounts(self._tests, 0, 0, 0)

    @property
    def n_rows(self) -> int | None:
        """Rows that the answers come from; None if they come from an oracle."""
        return None

    @property
    def n_levels(self) -> Sequence[int]:
        """Levels of each variable; empty if nobody knows."""
        return ()

    @property
    def alpha(self) -> float | None:
        """Level of the tests; None if answers come from an oracle."""
        return None

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
        self._asked.add(target)
        memory = self._memory.setdefault(target, {})
        rows: list[bytearray] = []
        queue: list[_Unknown] = []
        with _all_or_nothing(queue):
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
        answers = [
            [x for x in candidates if row[x] == _DEPENDENT]
            for (candidates, _), row in zip(questions, rows, strict=True)
        ]
        for answer in answers:
            answer.sort()
        self._forget_oldest(memory)
        return answers

    def _answer(self, target: int, queue: Sequence[_Unknown]) -> None:
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

    def trim(self, most_bytes: int = ROWS_REMEMBERED_BYTES) -> None:
        """Forget variables that were targets long ago, until what is remembered fits.

        For whoever has many searches done by one session: between two of them. What is forgotten is
        computed again when it is asked for, so no answer changes.
        """
        for target in sorted(self._asked):
            self._sizes[target] = self._remembered_bytes(target)
        self._asked.clear()
        total = sum(self._sizes.values())
        for target, size in list(self._sizes.items()):
            if total <= most_bytes:
                return
            self._forget(target)
            total -= size

    def _remembered_bytes(self, target: int) -> int:
        """Memory that goes with one variable, roughly."""
        decisions, strengths = self._memory.get(target, {}), self._strengths.get(target, {})
        separations = self._separations.get(target)
        return (
            len(decisions) * (self.n_variables + _KEY_BYTES)
            + len(strengths) * _KEY_BYTES
            + sum(map(len, strengths.values())) * _STRENGTH_BYTES
            + (0 if separations is None else len(separations) * _KEY_BYTES)
        )

    def _forget(self, target: int) -> None:
        """Forget all that is known about one variable as a target."""
        for memory in (self._memory, self._strengths, self._separations, self._sizes):
            memory.pop(target, None)

    def strengths(self, target: int, questions: Sequence[Question]) -> list[dict[int, float]]:
        """For each question, those candidates that depend on the target, and how clearly.

        In bits: a p-value of 2^-b counts as b, and so does a code that is b bits shorter. An oracle
        is sure of everything. Candidates that are in the given set are ignored.
        """
        self._asked.add(target)
        memory = self._strengths.setdefault(target, {})
        rows = [memory.setdefault(given, {}) for _, given in questions]
        queues: dict[bool, list[tuple[list[int], Variables]]] = {False: [], True: []}
        try:
            for (candidates, given), row in zip(questions, rows, strict=True):
                unknown = [x for x in candidates if x not in row and x not in given]
                if not unknown:
                    continue
                row.update(dict.fromkeys(unknown, math.nan))  # others of this batch may ask it too
                decided = self._decided(target, unknown, given)
                if decided:
                    queues[True].append((decided, given))
                    unknown = [x for x in unknown if x not in decided]
                if unknown:
                    queues[False].append((unknown, given))
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

        Tests whose table is too large for anything to be that strong may be left out.

        Parameters
        ----------
        target : int
        candidates : set of int
            Variables of the pool that may depend on the target.
        pool : frozenset of int
            Variables that given sets are made of.
        size : int
            Number of conditions.
        bits : float
            As in :meth:`strengths`.
        on_progress : callable, optional
            Called now and then with how much is done, and how much there is.

        Returns
        -------
        list of (bits, candidate, given set)
        """
        return self.strong_among(
            target, [(candidates, given) for given in subsets(pool, size, size)], bits, on_progress
        )

    def strong_among(
        self,
        target: int,
        questions: Sequence[Question],
        bits: float,
        on_progress: OnProgress | None = None,
    ) -> list[StrongDependence]:
        """Those dependences among some questions that have at least so many bits.

        The strongest come first. Questions that are many and hardly ever have such an answer are
        better asked here than with :meth:`strengths`: a session need not remember them.
        """
        found = []
        for candidates, given in questions:
            strengths = self.strengths(target, [(candidates, given)])[0]
            found += [(own, x, given) for x, own in strengths.items() if own >= bits]
        return sorted(found, key=by_strength)

    def confirmed_strengths(
        self, target: int, questions: Sequence[Question]
    ) -> list[dict[int, float]]:
        """As :meth:`strengths`, but with no more bits than all statistics of a test agree on.

        For dependences that are to be believed among a great many tests.
        """
        return self.strengths(target, questions)

    def can_detect(
        self, target: int, candidate: int, given: Variables, witness: Variables, share: float
    ) -> bool:
        """Whether a test has the power to see a share of the dependence that a witness shows.

        An oracle sees everything.
        """
        return True

    def determines(self, given: Variables, variable: int) -> bool:
        """Whether a set of variables is known to determine another one."""
        return False

    def explained_shares(self, target: int, candidates: Sequence[int]) -> list[float]:
        """Share of the target's variation that each candidate explains; 0 where nobody knows."""
        return [0.0] * len(candidates)

    def _decided(self, target: int, candidates: Sequence[int], given: Variables) -> list[int]:
        """Those whose test has been decided, and is remembered."""
        row = self._memory.get(target, {}).get(given)
        return [] if row is None else [x for x in candidates if row[x]]

    def dependents(self, target: int, candidates: AbstractSet[int], given: Variables) -> list[int]:
        """Those of ``candidates`` that depend on ``target`` given ``given``, in table order."""
        return self.ask(target, [(candidates, given)])[0]

    def is_dependent(self, target: int, candidate: int, given: Variables) -> bool:
        """Whether one candidate depends on the target given the set."""
        return bool(self.dependents(target, {candidate}, given))

    def first_standing(
        self,
        target: int,
        lines: Sequence[tuple[int, Sequence[Variables]]],
        pool: Variables,
        max_size: int,
        *,
        one_is_enough: bool = False,
    ) -> list[Variables | None]:
        """For each candidate, the first given set whose dependence no separator undoes.

        Separators are the subsets of ``pool`` of up to ``max_size`` variables, without the given
        set and the candidate itself.

        Parameters
        ----------
        target : int
        lines : sequence of (candidate, given sets)
        pool, max_size
            What separators are made of.
        one_is_enough : bool
            Whether lines after the first one with a success do not matter.

        Returns
        -------
        list
            None for a candidate that is separable whatever is given; shorter than ``lines`` when
            one was enough.
        """
        separators = Separators(pool, max_size)
        if not one_is_enough:
            return self._first_standing(target, lines, separators)
        found: list[Variables | None] = []
        count = _LINES_AT_FIRST
        while len(found) < len(lines):
            some = lines[len(found) : len(found) + count]
            answers = self._first_standing(target, some, separators)
            found += answers
            if any(given is not None for given in answers):
                break
            count = min(2 * count, _LINES_AT_MOST)
        return found

    def _first_standing(
        self, target: int, lines: Sequence[tuple[int, Sequence[Variables]]], separators: Separators
    ) -> list[Variables | None]:
        memory = self._separations.setdefault(target, SeparationMemory())
        memory.make_room()
        everyone = [Line(candidate, givens) for candidate, givens in lines]
        waiting = everyone
        while waiting:
            ahead = [dependence for line in waiting for dependence in line.ahead()]
            self._try_latest(target, memory, ahead, separators)
            for line in waiting:
                line.advance(memory, separators)
            fronts = [(line, front) for line in waiting if (front := line.front) is not None]
            stands = self._withstand(target, memory, [front for _, front in fronts], separators)
            waiting = [
                line for (line, _), is_done in zip(fronts, stands, strict=True) if not is_done
            ]
            for line in waiting:
                line.window = min(2 * line.window, _MOST_AHEAD)
        return [None if line.front is None else line.front[1] for line in everyone]

    def _try_latest(
        self,
        target: int,
        memory: SeparationMemory,
        dependences: Sequence[Dependence],
        separators: Separators,
    ) -> None:
        """Try on each dependence the separator that worked last for its candidate."""
        trials = [
            (dependence, separator)
            for dependence in dependences
            if not memory.is_undone(dependence, separators)
            and (separator := memory.latest(dependence, separators)) is not None
        ]
        answers = self._ask_each(target, [(x, given | s) for (x, given), s in trials])
        for (dependence, separator), depends in zip(trials, answers, strict=True):
            if not depends:
                memory.note_undone(dependence, separator)

    def _withstand(
        self,
        target: int,
        memory: SeparationMemory,
        dependences: Sequence[Dependence],
        separators: Separators,
    ) -> list[bool]:
        """Try every separator on each dependence until one undoes it; returns which stand."""
        stands = [True] * len(dependences)
        trials = {
            place: Trial(dependence, memory.to_try(dependence, separators))
            for place, dependence in enumerate(dependences)
        }
        count = 1
        while trials:
            count = max(count, _TESTS_A_BATCH // len(trials))
            lots = {place: trial.next(count) for place, trial in trials.items()}
            tests = [
                (dependences[place][0], given) for place, lot in lots.items() for _, given in lot
            ]
            answers = iter(self._ask_each(target, tests))
            for place, lot in lots.items():
                for (separator, _), depends in zip(lot, islice(answers, len(lot)), strict=True):
                    if not depends and stands[place]:
                        stands[place] = False
                        memory.note_undone(dependences[place], separator)
                if not stands[place]:
                    del trials[place]
                elif len(lot) < count:
                    memory.note_withstood(dependences[place], separators)
                    del trials[place]
            count = min(2 * count, _MOST_SEPARATORS)
        return stands

    def _ask_each(self, target: int, tests: Sequence[tuple[int, Variables]]) -> list[bool]:
        """Whether each candidate depends on the target given its set."""
        memory = self._memory.setdefault(target, {})
        queue: list[_Unknown] = []
        queued: dict[Variables, list[int]] = {}
        with _all_or_nothing(queue):
            for candidate, given in tests:
                row = memory.get(given)
                if row is None:
                    row = memory[given] = bytearray(self.n_variables)
                if not row[candidate]:
                    if given not in queued:
                        queued[given] = []
                        queue.append((queued[given], given, row))
                    queued[given].append(candidate)
                    row[candidate] = _QUEUED  # it may be asked again in this batch
            if queue:
                self._answer(target, queue)
        answers = [memory[given][candidate] == _DEPENDENT for candidate, given in tests]
        self._forget_oldest(memory)
        return answers

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
        for questions in _lots(
            standing, pool - core, min_size, max_size, core, _TESTS_AT_FIRST, _TESTS_AT_MOST
        ):
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
        for questions in _lots(
            standing, pool - core, 0, max_size, core, _WEIGHED_AT_FIRST, _WEIGHED_AT_MOST
        ):
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


def by_strength(dependence: StrongDependence) -> tuple[float, int, list[int]]:
    """Order dependences by their bits, the strongest first, then by their variables."""
    bits, candidate, given = dependence
    return -bits, candidate, sorted(given)


@contextmanager
def _all_or_nothing(queue: Sequence[_Unknown]) -> Iterator[None]:
    """Take questions back if anything, such as an interrupt, leaves them without an answer."""
    try:
        yield
    except BaseException:
        for unknown, _, row in queue:
            for x in unknown:
                row[x] = 0
        raise


def _lots(
    standing: set[int],
    pool: Variables,
    min_size: int,
    max_size: int,
    core: Variables,
    at_first: int,
    at_most: int,
) -> Iterator[list[tuple[set[int], Variables]]]:
    """Questions whether subsets of a pool separate candidates, a lot at a time.

    Between lots the caller takes candidates out of ``standing``; no more is asked about them. Lots
    are small as long as that happens, for what is asked beyond a separator is asked in vain, and
    larger the longer it does not.
    """
    questions: list[tuple[set[int], Variables]] = []
    n_tests, enough = 0, at_first
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
            enough = min(2 * enough, at_most) if is_quiet else at_first
            questions, n_tests = [], 0
    if questions:
        yield questions
