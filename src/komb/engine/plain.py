"""An engine in plain Python, around one function that answers many tests at once.

For everything that is not counted by kernels: oracles, tests of a user's own, background knowledge.
A kind of engine says how to weigh tests, and has the five questions from here. All are loops over
given sets, of which many candidates are asked about side by side, so that ``weigh`` gets large
batches. What it said is remembered by target and given set, up to so many bytes.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, takewhile
from typing import Generic, TypeVar

from komb.engine.engine import AllSets, Engine, Query, Witness
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
    check_variables,
    find_strong,
    subsets,
)

REMEMBERED_BYTES = 256 << 20
"""Of one target, and of all together when an engine is trimmed; the oldest go first."""

SET_BYTES, TEST_BYTES = 400, 64
"""What remembering a given set takes, and one test given it, roughly."""

SEPARATORS_REMEMBERED = 32
"""Of one candidate: those that worked last are tried first."""

SETS_AT_FIRST, SETS_AT_MOST = 4, 64
"""Given sets that one candidate is tested with at once; superfluous ones are to be few."""

TESTS_AT_ONCE = 128
"""Tests that are worth a batch: candidates asked about together have one given set each."""

CANDIDATES_AT_FIRST, CANDIDATES_AT_MOST = 4, 4096
"""Asked about together where the first success ends a question."""

Result = TypeVar("Result")

Weighed = list[tuple[Variables, float]]  # given sets, with the evidence given each

Walk = Generator[Iterator[Variables], Weighed, Result]
"""What one candidate has to be asked: gives sets, gets as many of them as suited with evidence."""


@dataclass(slots=True)
class _Memory:
    """What is known about one target."""

    bits: dict[Variables, dict[int, float]] = field(default_factory=dict)  # by given set
    n_bytes: int = 0
    # of each candidate the separators that worked, the latest last
    separators: dict[int, dict[Variables, None]] = field(default_factory=dict)

    def note(self, tests: Sequence[Candidates], answers: Sequence[Sequence[float]]) -> None:
        """Remember the evidence of tests."""
        for (candidates, given), bits in zip(tests, answers, strict=True):
            row = self.bits.get(given)
            if row is None:
                row = self.bits[given] = {}
                self.n_bytes += SET_BYTES
            row.update(zip(candidates, bits, strict=True))
            self.n_bytes += TEST_BYTES * len(candidates)

    def make_room(self) -> None:
        """Forget the oldest half if it has become too much."""
        if self.n_bytes <= REMEMBERED_BYTES:
            return
        for given in list(self.bits):  # all at once: the first key is found ever more slowly
            self.n_bytes -= SET_BYTES + TEST_BYTES * len(self.bits.pop(given))
            if self.n_bytes <= REMEMBERED_BYTES // 2:
                return

    @property
    def size(self) -> int:
        """Bytes of all that is remembered, roughly."""
        return self.n_bytes + SET_BYTES * sum(map(len, self.separators.values()))

    def separators_of(self, candidate: int) -> list[Variables]:
        """Return the separators that worked for a candidate, the latest first."""
        return list(reversed(self.separators.get(candidate, {})))

    def note_separator(self, candidate: int, separator: Variables) -> None:
        """Remember what worked: what explained a variable once explains it again."""
        worked = self.separators.setdefault(candidate, {})
        worked.pop(separator, None)
        worked[separator] = None
        if len(worked) > SEPARATORS_REMEMBERED:
            del worked[next(iter(worked))]


class PlainEngine(Engine):
    """The five questions, as loops around :meth:`weigh`.

    Parameters
    ----------
    n_variables : int
    fixed : frozenset of int
        Covariates: they are in the condition of every test, and never asked about.
    """

    def __init__(self, n_variables: int, fixed: Variables = EMPTY) -> None:
        super().__init__(n_variables)
        self.fixed = fixed
        self._everything = frozenset(range(n_variables))
        self._memories: dict[int, _Memory] = {}  # by target, the one asked about last is the last
        self._n_tests = 0

    # What a kind of engine has to say

    @abstractmethod
    def weigh(self, target: int, questions: Sequence[Candidates]) -> Sequence[Sequence[float]]:
        """Bits of evidence for every candidate of every question; 0 if it is independent."""

    @abstractmethod
    def examine(self, target: int, tests: Sequence[Dependence]) -> list[Outcome]:
        """Everything that each of some tests has to say."""

    @property
    def n_strata(self) -> int:
        """Combinations of the values of the covariates."""
        return math.prod(self.n_levels[x] for x in self.fixed) if self.n_levels else 1

    @property
    def work(self) -> WorkCounts:
        """Tests made so far, each counted once."""
        return WorkCounts(self._n_tests, 0, 0, 0)

    def conservative_evidence(
        self, target: int, questions: Sequence[Question]
    ) -> list[dict[int, float]]:
        """As :meth:`evidence`, with no more bits than all statistics of a test agree on.

        Most tests have one statistic.
        """
        return self.evidence(target, questions)

    # Evidence

    def evidence(
        self,
        target: int,
        questions: Sequence[Question],
        *,
        wants_bits: bool = True,
        is_conservative: bool = False,
    ) -> list[dict[int, float]]:
        """For each question, the candidates that depend on the target, with their bits."""
        if is_conservative:
            return self.conservative_evidence(target, questions)
        rows = self._rows(target, questions)
        return [
            {x: row[x] for x in sorted(candidates) if row.get(x)}
            for (candidates, _), row in zip(questions, rows, strict=True)
        ]

    def _rows(self, target: int, questions: Sequence[Question]) -> list[dict[int, float]]:
        """Return what is known given the set of each question; its candidates are among them."""
        memory = self._memory_of(target)
        unknown = self._unknown(memory, questions)
        if unknown:
            asked = unknown
            if self.fixed:
                asked = [(candidates, given | self.fixed) for candidates, given in unknown]
            memory.note(unknown, self.weigh(target, asked))
            self._n_tests += sum(len(candidates) for candidates, _ in unknown)
        rows = [memory.bits.get(given, {}) for _, given in questions]
        if self.test_cost > 1.0:
            for (candidates, given), row in zip(questions, rows, strict=True):
                bits = {x: row[x] for x in candidates - given}
                self.allowance.spent += self.cost_of(target, bits, given)
        memory.make_room()
        return rows

    def _unknown(self, memory: _Memory, questions: Sequence[Question]) -> list[Candidates]:
        """Return the tests that are not known, each once."""
        queue: dict[Variables, list[int]] = {}
        for candidates, given in questions:
            row = memory.bits.get(given, {})
            queued = queue.get(given, ())
            left = [x for x in candidates if x not in row and x not in given and x not in queued]
            if left:
                check_variables(given.union(left), self._everything)
                queue.setdefault(given, []).extend(left)
        return [(sorted(candidates), given) for given, candidates in queue.items()]

    def _memory_of(self, target: int) -> _Memory:
        memory = self._memories.pop(target, None)
        if memory is None:
            check_variables({target}, self._everything)
            memory = _Memory()
        self._memories[target] = memory
        return memory

    # Witnesses

    def first_witness(
        self, target: int, queries: Sequence[Query], pool: Variables, max_separator: int
    ) -> Witness | None:
        """Return the first candidate, query by query, that has a witness nothing separates."""
        start, count = 0, 1
        while start < len(queries):  # at first a few at a time, for a success is often near
            some = dict(enumerate(queries[start : start + count], start))
            found = self._first_witness(target, some, pool, max_separator)
            if found is not None:
                return found
            start, count = start + count, 2 * count
        return None

    def _first_witness(
        self, target: int, queries: Mapping[int, Query], pool: Variables, max_separator: int
    ) -> Witness | None:
        """Answer for a few queries: given the groups alone, then with one ally, and so on."""
        found: Witness | None = None
        for n_allies in range(max(query.n_allies for query in queries.values()) + 1):
            witnesses = self._dependences(target, queries, pool, n_allies)
            walks = (
                (x, self._first_inseparable(target, x, own, pool, max_separator))
                for (_, x), own in witnesses.items()
            )
            results = self._run(target, walks, lambda witness: witness is not None)
            if results and results[-1] is not None:
                number, x = list(witnesses)[len(results) - 1]
                found = Witness(number, x, results[-1])
                queries = _before(queries, found)  # what comes first may have it with more allies
        return found

    def _dependences(
        self, target: int, queries: Mapping[int, Query], pool: Variables, n_allies: int
    ) -> dict[tuple[int, int], list[Variables]]:
        """Return the sets that each candidate of each query depends given, in order."""
        asked = [
            (number, frozenset(query.candidates), query.group | allies)
            for number, query in queries.items()
            if n_allies <= query.n_allies and query.candidates
            for allies in subsets(pool - query.group, n_allies, n_allies)
        ]
        rows = self.evidence(target, [(candidates, given) for _, candidates, given in asked])
        by_query: dict[int, list[tuple[Variables, dict[int, float]]]] = {}
        for (number, _, given), row in zip(asked, rows, strict=True):
            by_query.setdefault(number, []).append((given, row))
        return {
            (number, x): witnesses
            for number, answers in by_query.items()
            for x in queries[number].candidates
            if (witnesses := [given for given, row in answers if x in row])
        }

    def _first_inseparable(
        self, target: int, candidate: int, witnesses: list[Variables], pool: Variables, most: int
    ) -> Walk[Variables | None]:
        """Return the first witness of a candidate that nothing in the pool separates."""
        memory = self._memories[target]
        while witnesses:
            free = pool - witnesses[0] - {candidate}
            worked = [z for z in memory.separators_of(candidate) if len(z) <= most and z <= free]
            for latest in worked[:1]:  # most likely it separates some in a row
                similar = takewhile(latest.isdisjoint, witnesses)
                n_separated = yield from _count_independent(each | latest for each in similar)
                witnesses = witnesses[n_separated:]
                if n_separated:
                    break
            else:
                separators = chain(worked, subsets(free, most, 1))
                _, given = yield from _weaken(witnesses[0] | each for each in separators)
                if given is None:
                    return witnesses[0]
                memory.note_separator(candidate, given - witnesses[0])
                witnesses = witnesses[1:]
        return None

    # Weakest evidence

    def weakest(
        self,
        target: int,
        bits: Mapping[int, float],
        pool: Variables | Mapping[int, Variables],
        max_size: int,
        *,
        min_size: int = 0,
        core: Variables = EMPTY,
        wants_bits: bool = True,
        is_in_turn: bool = False,
    ) -> tuple[dict[int, float], dict[int, Variables]]:
        """Weakest evidence of each candidate given the core and subsets of its pool."""

        def walk(x: int) -> Walk[tuple[float, Variables | None]]:
            free = (pool[x] if isinstance(pool, Mapping) else pool) - core - {x}
            largest = -1 if x in core else max_size  # what is given cannot be tested
            return _weaken((core | own for own in subsets(free, largest, min_size)), bits[x])

        walks = ((x, walk(x)) for x in bits)
        is_last = (lambda result: result[1] is None) if is_in_turn else None
        results = self._run(target, walks, is_last)
        examined = list(zip(bits, results, strict=False))
        least = {x: own for x, (own, separator) in examined if separator is None}
        return least, {x: by for x, (_, by) in examined if by is not None}

    def _run(
        self,
        target: int,
        walks: Iterable[tuple[int, Walk[Result]]],
        is_last: Callable[[Result], bool] | None,
    ) -> list[Result]:
        """Go walks of candidates side by side; return results up to the first that is the last."""
        results: dict[int, Result] = {}
        waiting, going = enumerate(walks), dict[int, _Walker[Result]]()
        width = CANDIDATES_AT_MOST if is_last is None else CANDIDATES_AT_FIRST
        while True:
            for number, (x, walk) in islice(waiting, max(0, width - len(going))):
                going[number] = _Walker(x, walk)
            if not going:
                return list(dict(sorted(results.items())).values())
            most = 0 if self.allowance.is_spent else max(1, TESTS_AT_ONCE // len(going))
            asked = [(walker.candidate, walker.take(most)) for walker in going.values()]
            for number, weighed in zip(list(going), self._weigh_each(target, asked), strict=True):
                if number in going and going[number].has_ended(weighed):
                    result = results[number] = going.pop(number).result
                    if is_last is not None and is_last(result):
                        waiting = enumerate(())
                        going = {n: walker for n, walker in going.items() if n < number}
                        results = {n: own for n, own in results.items() if n <= number}
            if len(going) <= width // 2:  # successes are rare
                width = min(2 * width, CANDIDATES_AT_MOST)

    def _weigh_each(
        self, target: int, asked: Sequence[tuple[int, list[Variables]]]
    ) -> Iterator[Weighed]:
        """Evidence for each candidate given each set of its own."""
        by_given: dict[Variables, set[int]] = {}
        for x, sets in asked:
            for given in sets:
                by_given.setdefault(given, set()).add(x)
        answers = self._rows(
            target, [(candidates, given) for given, candidates in by_given.items()]
        )
        rows = dict(zip(by_given, answers, strict=True))
        for x, sets in asked:
            yield [(given, rows[given][x]) for given in sets]

    # Strong dependences

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
        if isinstance(asked, AllSets):
            asked = list(self._questions_of(target, asked))

        def weigh(batch: Sequence[Question]) -> list[dict[int, float]]:
            answers = []
            for (_, given), bits in zip(batch, self.evidence(target, batch), strict=True):
                strong = {x: own for x, own in bits.items() if own >= least_bits}
                if strong and is_conservative:
                    [sure] = self.conservative_evidence(target, [(strong.keys(), given)])
                    strong = {x: own for x, own in strong.items() if sure.get(x, 0) >= least_bits}
                answers.append(strong)
            return answers

        return find_strong(weigh, asked, on_progress)

    def _questions_of(self, target: int, asked: AllSets) -> Iterator[Question]:
        """Yield every set, with the candidates whose table has rows enough per cell."""
        levels, most = self.n_levels, math.inf
        if self.n_rows is not None and asked.min_rows_per_cell:
            n_strata = self.n_strata * levels[target]
            most = self.n_rows / (asked.min_rows_per_cell * n_strata)
        for given in subsets(asked.pool, asked.size, asked.size):
            candidates = asked.candidates - given
            if most < math.inf:
                cells = math.prod(levels[z] for z in given)
                candidates = frozenset(x for x in candidates if levels[x] * cells <= most)
            if candidates:
                yield candidates, given | asked.core

    # Everything about a test

    def outcomes(self, target: int, tests: Sequence[Dependence]) -> list[Outcome]:
        """Everything that each of some tests has to say."""
        for candidate, given in tests:
            check_variables(given | {target, candidate}, self._everything)
        return self.examine(target, [(x, given | self.fixed) for x, given in tests])

    # Memory

    def trim(self, most_bytes: int | None = None) -> None:
        """Forget variables that were targets long ago until what is remembered fits."""
        room = REMEMBERED_BYTES if most_bytes is None else most_bytes
        sizes = {target: memory.size for target, memory in self._memories.items()}
        total = sum(sizes.values())
        for target, size in sizes.items():
            if total <= room:
                return
            del self._memories[target]
            total -= size


class _Walker(Generic[Result]):
    """A walk on its way."""

    def __init__(self, candidate: int, walk: Walk[Result]) -> None:
        self.candidate = candidate
        self.result: Result
        self._walk = walk
        self._sets = next(walk)
        self._n_taken = 0

    def take(self, most: int) -> list[Variables]:
        """Return the next sets to ask about, and the more the more have been asked about."""
        count = min(max(self._n_taken, SETS_AT_FIRST), SETS_AT_MOST, most)
        self._n_taken += count
        return list(islice(self._sets, count))

    def has_ended(self, weighed: Weighed) -> bool:
        """Go on with the evidence given the sets that were taken."""
        try:
            sets = self._walk.send(weighed)
        except StopIteration as end:
            self.result = end.value
            return True
        if sets is not self._sets:
            self._sets, self._n_taken = sets, 0
        return False


def _weaken(
    sets: Iterator[Variables], least: float = math.inf
) -> Walk[tuple[float, Variables | None]]:
    """Return the least evidence given any set, and the first set without any."""
    while weighed := (yield sets):
        for given, bits in weighed:
            if not bits:
                return 0.0, given
            least = min(least, bits)
    return least, None


def _count_independent(sets: Iterator[Variables]) -> Walk[int]:
    """Return how many sets there are before the first with evidence."""
    count = 0
    while weighed := (yield sets):
        for _, bits in weighed:
            if bits:
                return count
            count += 1
    return count


def _before(queries: Mapping[int, Query], found: Witness) -> dict[int, Query]:
    """Return the candidates that come before the one that was found."""
    kept = {number: query for number, query in queries.items() if number <= found.query}
    last = kept[found.query]
    index = last.candidates.index(found.candidate)
    kept[found.query] = last._replace(candidates=last.candidates[:index])
    return kept
