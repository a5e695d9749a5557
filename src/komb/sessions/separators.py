"""Which dependences no small set removes, and what separates the others.

A dependence is a candidate and a given set; a separator removes it when the candidate is
independent of the target given both together. Whether *some* separator does is all that a search
wants to know, so they may be tried in any order: those that worked for the same candidate come
first, the latest before the others, for what explains a variable once explains it again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import combinations, islice
from typing import Protocol

from komb.sessions.questions import (
    EMPTY,
    Branch,
    Dependence,
    Position,
    Question,
    Variables,
    subsets,
)
from komb.sessions.separator_memory import Line, SeparationMemory, Separators, Trial

Ask = Callable[[int, Sequence[Question]], list[list[int]]]
AskEach = Callable[[int, Sequence[Dependence]], list[bool]]
Strengths = Callable[[int, Sequence[Question]], list[dict[int, float]]]

_TESTS_AT_FIRST, _TESTS_AT_MOST = 4, 32  # asked at once where superfluous ones are to be few
_WEIGHED_AT_FIRST, _WEIGHED_AT_MOST = 16, 128  # the same where most of them matter
_TESTS_PER_BATCH = 16  # separators tried at once, at least
_MOST_SEPARATORS = 64  # tried at once on one dependence
_LINES_AT_FIRST, _LINES_AT_MOST = 4, 4096  # looked at together when one may be enough
_MOST_AHEAD = 1024  # dependences of one candidate looked at together


class SeparatorSearch(Protocol):
    """What a search asks about separators."""

    def first_inseparable(
        self,
        target: int,
        lines: Sequence[tuple[int, Sequence[Variables]]],
        pool: Variables,
        max_size: int,
        *,
        one_is_enough: bool = False,
    ) -> list[Variables | None]:
        """For each candidate, the first given set whose dependence no separator removes."""
        ...

    def witnesses(
        self,
        target: int,
        branches: Sequence[Branch],
        blanket: Variables,
        max_separator: int,
        *,
        one_is_enough: bool = False,
    ) -> dict[Position, Variables]:
        """For each position, the first witness whose dependence no separator removes."""
        ...

    def find(
        self,
        target: int,
        candidates: AbstractSet[int],
        pool: Variables,
        max_size: int,
        *,
        min_size: int = 0,
        core: Variables = EMPTY,
    ) -> dict[int, Variables]:
        """For each candidate that can be separated from the target, the first set that does it."""
        ...

    def weakest(
        self,
        target: int,
        strengths: Mapping[int, float],
        pool: Variables,
        max_size: int,
        *,
        core: Variables = EMPTY,
    ) -> tuple[dict[int, float], dict[int, Variables]]:
        """For each candidate, its least strength given any set; for others, what separates them."""
        ...


class SeparatorFinder:
    """Looks for separators by asking a session."""

    def __init__(
        self,
        ask: Ask,
        ask_each: AskEach,
        strengths: Strengths,
        memories: dict[int, SeparationMemory],
    ) -> None:
        self._ask = ask
        self._ask_each = ask_each
        self._strengths = strengths
        self._memories = memories

    def first_inseparable(
        self,
        target: int,
        lines: Sequence[tuple[int, Sequence[Variables]]],
        pool: Variables,
        max_size: int,
        *,
        one_is_enough: bool = False,
    ) -> list[Variables | None]:
        """For each candidate, the first given set whose dependence no separator removes.

        Separators are the subsets of ``pool`` of up to ``max_size`` variables, without the given
        set and the candidate itself.
        """
        separators = Separators(pool, max_size)
        if not one_is_enough:
            return self._first_of_each(target, lines, separators)
        found: list[Variables | None] = []
        count = _LINES_AT_FIRST
        while len(found) < len(lines):
            some = lines[len(found) : len(found) + count]
            answers = self._first_of_each(target, some, separators)
            found += answers
            if any(given is not None for given in answers):
                break
            count = min(2 * count, _LINES_AT_MOST)
        return found

    def _first_of_each(
        self, target: int, lines: Sequence[tuple[int, Sequence[Variables]]], separators: Separators
    ) -> list[Variables | None]:
        memory = self._memories.setdefault(target, SeparationMemory())
        memory.make_room()
        everyone = [Line(candidate, givens) for candidate, givens in lines]
        waiting = everyone
        while waiting:
            ahead = [dependence for line in waiting for dependence in line.ahead()]
            self._try_latest(target, memory, ahead, separators)
            for line in waiting:
                line.advance(memory, separators)
            fronts = [(line, front) for line in waiting if (front := line.front) is not None]
            inseparable = self._try_all(target, memory, [front for _, front in fronts], separators)
            waiting = [
                line for (line, _), is_done in zip(fronts, inseparable, strict=True) if not is_done
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
            if not memory.is_separated(dependence, separators)
            and (separator := memory.latest(dependence, separators)) is not None
        ]
        answers = self._ask_each(target, [(x, given | s) for (x, given), s in trials])
        for (dependence, separator), depends in zip(trials, answers, strict=True):
            if not depends:
                memory.note_separated(dependence, separator)

    def _try_all(
        self,
        target: int,
        memory: SeparationMemory,
        dependences: Sequence[Dependence],
        separators: Separators,
    ) -> list[bool]:
        """Try every separator on each dependence until one works; tells where none does."""
        inseparable = [True] * len(dependences)
        trials = {
            place: Trial(dependence, memory.to_try(dependence, separators))
            for place, dependence in enumerate(dependences)
        }
        count = 1
        while trials:
            count = max(count, _TESTS_PER_BATCH // len(trials))
            batches = {place: trial.next(count) for place, trial in trials.items()}
            tests = [
                (dependences[place][0], given)
                for place, batch in batches.items()
                for _, given in batch
            ]
            answers = iter(self._ask_each(target, tests))
            for place, batch in batches.items():
                for (separator, _), depends in zip(batch, islice(answers, len(batch)), strict=True):
                    if not depends and inseparable[place]:
                        inseparable[place] = False
                        memory.note_separated(dependences[place], separator)
                if not inseparable[place]:
                    del trials[place]
                elif len(batch) < count:
                    memory.note_inseparable(dependences[place], separators)
                    del trials[place]
            count = min(2 * count, _MOST_SEPARATORS)
        return inseparable

    def witnesses(
        self,
        target: int,
        branches: Sequence[Branch],
        blanket: Variables,
        max_separator: int,
        *,
        one_is_enough: bool = False,
    ) -> dict[Position, Variables]:
        """For each branch and candidate, the first witness that nothing separates."""
        found: dict[Position, Variables] = {}
        most = max((branch.n_allies for branch in branches), default=0)
        for n_allies in range(min(most, len(blanket)) + 1):
            if one_is_enough and found:  # only an earlier position could still matter
                first = min(found)
                branches = [
                    *branches[: first.branch],
                    branches[first.branch].before(first.candidate),
                ]
            else:
                branches = _without(found, branches)
            found |= self._with_allies(
                target, branches, blanket, n_allies, max_separator, one_is_enough
            )
        return found

    def _with_allies(
        self,
        target: int,
        branches: Sequence[Branch],
        blanket: Variables,
        n_allies: int,
        max_separator: int,
        one_is_enough: bool,
    ) -> dict[Position, Variables]:
        """For each position, the first witness that has so many allies."""
        witnesses = self._dependences(target, branches, blanket, n_allies)
        positions = sorted(witnesses)
        kept = self.first_inseparable(
            target,
            [(position.candidate, witnesses[position]) for position in positions],
            blanket,
            max_separator,
            one_is_enough=one_is_enough,
        )
        # where one is enough, there are no answers for the positions after it
        pairs = zip(positions, kept, strict=not one_is_enough)
        return {position: witness for position, witness in pairs if witness is not None}

    def _dependences(
        self, target: int, branches: Sequence[Branch], blanket: Variables, n_allies: int
    ) -> dict[Position, list[Variables]]:
        """For each position, the sets of group and allies given which the candidate depends."""
        alliances = [
            _new_alliances(blanket, branch.settled, n_allies)
            if branch.candidates and n_allies <= branch.n_allies
            else ()
            for branch in branches
        ]
        questions = [
            (branch.candidates, branch.group | allies)
            for branch, some in zip(branches, alliances, strict=True)
            for allies in some
        ]
        answered = zip(questions, self._ask(target, questions), strict=True)
        witnesses: dict[Position, list[Variables]] = {}
        for number, some in enumerate(alliances):
            by_candidate: dict[int, list[Variables]] = {}
            for (_, witness), dependents in islice(answered, len(some)):
                for candidate in dependents:
                    by_candidate.setdefault(candidate, []).append(witness)
            witnesses |= {Position(number, x): sets for x, sets in by_candidate.items()}
        return witnesses

    def find(
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
        in the order of :func:`~komb.sessions.questions.subsets`; none contains the candidate.
        """
        found: dict[int, Variables] = {}
        waiting = set(candidates) - core
        for questions in _lots(
            waiting, pool - core, min_size, max_size, core, _TESTS_AT_FIRST, _TESTS_AT_MOST
        ):
            answers = self._ask(target, questions)
            for (asked, given), dependent in zip(questions, answers, strict=True):
                if len(dependent) < len(asked):
                    for candidate in (asked - set(dependent)) & waiting:
                        found[candidate] = given
                        waiting.discard(candidate)
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
        """For each candidate, its least strength given any set; for others, what separates them."""
        least = dict(strengths)
        found: dict[int, Variables] = {}
        waiting = set(least)
        for questions in _lots(
            waiting, pool - core, 0, max_size, core, _WEIGHED_AT_FIRST, _WEIGHED_AT_MOST
        ):
            answers = self._strengths(target, questions)
            for (asked, given), dependent in zip(questions, answers, strict=True):
                for candidate in asked & waiting:
                    if candidate in dependent:
                        least[candidate] = min(least[candidate], dependent[candidate])
                    else:
                        found[candidate] = given
                        waiting.discard(candidate)
                        del least[candidate]
        return least, found


def _without(found: Collection[Position], branches: Sequence[Branch]) -> list[Branch]:
    """Take the candidates of some positions out of their branches."""
    left = list(branches)
    for position in found:
        branch = left[position.branch]
        candidates = branch.candidates - {position.candidate}
        left[position.branch] = branch._replace(candidates=candidates)
    return left


def _lots(
    waiting: set[int],
    pool: Variables,
    min_size: int,
    max_size: int,
    core: Variables,
    at_first: int,
    at_most: int,
) -> Iterator[list[tuple[set[int], Variables]]]:
    """Questions whether subsets of a pool separate candidates, a batch at a time.

    Between batches the caller takes candidates out of ``waiting``; no more is asked about them.
    Batches are small as long as that happens, for questions beyond a separator are useless, and
    larger the longer it does not.
    """
    questions: list[tuple[set[int], Variables]] = []
    n_tests, enough = 0, at_first
    for subset in subsets(pool, max_size, min_size):
        if not waiting:
            return
        asked = waiting - subset
        if asked:
            questions.append((asked, core | subset))
            n_tests += len(asked)
        if n_tests >= enough:
            n_waiting = len(waiting)
            yield questions
            is_quiet = len(waiting) == n_waiting
            enough = min(2 * enough, at_most) if is_quiet else at_first
            questions, n_tests = [], 0
    if questions:
        yield questions


@lru_cache(maxsize=16)
def _new_alliances(
    blanket: Variables, settled: Variables | None, size: int
) -> tuple[Variables, ...]:
    """Subsets of a blanket that are not part of a settled one, in order."""
    alliances = combinations(sorted(blanket), size)
    if settled is None:
        return tuple(map(frozenset, alliances))
    return tuple(frozenset(allies) for allies in alliances if not settled.issuperset(allies))
