"""Answers that respect background knowledge.

A search asks as ever; what is known changes the answers, for every search in the same way:

* **Tiers.** Two variables are independent given a set only if they are so given the part of it that
  is not later than both as well: what comes later explains no dependence away. It may still show
  one, as a common effect does.
* **Forbidden pairs.** They are no neighbours, so some set separates them. It is looked for once,
  and added to the condition of every test of the two: what dependence is left is that of causes of
  a common effect. If there is no such set, they count as independent.
* **Required pairs.** They depend on each other whatever is given.

With true knowledge and correct answers a sound search stays sound. Variables not later than two
others contain all their ancestors, so what separates the two there separates them at all; and given
a blanket, or its part that is not later, whatever is outside remains independent of the target.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import TypeVar

from komb.data.knowledge import ColumnKnowledge
from komb.sessions.questions import (
    EMPTY,
    Candidates,
    OnProgress,
    Outcome,
    Question,
    SessionCounts,
    Variables,
    subsets,
)
from komb.sessions.source import Power, Source, Strong, WrappedSource

LARGEST_SEPARATOR = 3
"""Variables that may together separate a forbidden pair, on data."""

LARGEST_POOL = 15
"""Variables that such sets are made of, those that depend most on one of the two."""

LARGEST_OF_ORACLE = 5
"""Variables that may together separate a forbidden pair, if an oracle answers."""

LEAST_BITS = 1e-9
"""Evidence for a required pair that data do not show; it wins over no other."""

_Answer = TypeVar("_Answer", bool, float)


class InformedSource(WrappedSource):
    """What another source answers, as far as it agrees with background knowledge.

    Examples
    --------
    >>> import networkx as nx
    >>> from komb.sessions.graph import DirectedGraphSource
    >>> from komb.sessions.session import Session
    >>> chain = DirectedGraphSource(nx.DiGraph([(0, 1), (1, 2)]))
    >>> Session(chain).is_dependent(0, 2, frozenset({1}))
    False
    >>> known = ColumnKnowledge((0, 1, 0))  # variable 1 comes after the others
    >>> informed = InformedSource(chain, known, frozenset({0, 1, 2}))
    >>> Session(informed).is_dependent(0, 2, frozenset({1}))
    True
    """

    def __init__(self, source: Source, knowledge: ColumnKnowledge, variables: Variables) -> None:
        super().__init__(source)
        self._knowledge = knowledge
        self._variables = variables
        self._separators: dict[frozenset[int], Variables | None] = {}  # of forbidden pairs

    @property
    def work(self) -> SessionCounts:
        """How much work was done so far; tests are counted by who remembers them."""
        return replace(self._source.work, tests=0)

    def decide(self, target: int, questions: Sequence[Candidates]) -> Sequence[Sequence[bool]]:
        """For each candidate of each question, whether it depends on the target given the set."""
        return self._judge(target, questions, self._source.decide, required=True)

    def weigh(
        self, target: int, questions: Sequence[Candidates], *, is_counted: bool
    ) -> Sequence[Sequence[float]]:
        """For each candidate of each question, the evidence that it depends; 0 if it does not."""

        def weigh(target: int, asked: Sequence[Candidates]) -> Sequence[Sequence[float]]:
            return self._source.weigh(target, asked, is_counted=is_counted)

        return self._judge(target, questions, weigh, required=LEAST_BITS)

    def confirm(
        self, target: int, questions: Sequence[Candidates]
    ) -> Sequence[Sequence[float]] | None:
        """As :meth:`weigh`, with no more evidence than all statistics of a test agree on."""
        if self._source.confirm(target, []) is None:
            return None

        def confirm(target: int, asked: Sequence[Candidates]) -> Sequence[Sequence[float]]:
            return self._source.confirm(target, asked) or []

        return self._judge(target, questions, confirm, required=LEAST_BITS)

    def _judge(
        self,
        target: int,
        questions: Sequence[Candidates],
        ask: Callable[[int, Sequence[Candidates]], Sequence[Sequence[_Answer]]],
        required: _Answer,
    ) -> list[list[_Answer]]:
        """Ask, then let what is known have its say; an answer that is false says "independent"."""
        answers = [list(answer) for answer in ask(target, questions)] if questions else []
        self._ask_earlier(target, questions, ask, answers)
        for (candidates, given), answer in zip(questions, answers, strict=True):
            for place, x in enumerate(candidates):
                pair = frozenset({target, x})
                if pair in self._knowledge.required:
                    answer[place] = answer[place] or required
                elif answer[place] and pair in self._knowledge.forbidden:
                    separator = self._separator(target, x)
                    if separator is None:
                        answer[place] = type(required)(0)
                    elif not separator <= given:
                        [[left]] = ask(target, [([x], given | separator)])
                        answer[place] = min(answer[place], left)
        return answers

    def _ask_earlier(
        self,
        target: int,
        questions: Sequence[Candidates],
        ask: Callable[[int, Sequence[Candidates]], Sequence[Sequence[_Answer]]],
        answers: list[list[_Answer]],
    ) -> None:
        """Ask about what is independent once more, given the part of the set that is not later."""
        places: dict[Variables, list[tuple[int, int]]] = {}
        for number, (candidates, given) in enumerate(questions):
            for place, x in enumerate(candidates):
                later = self._knowledge.later_than(target, x)
                if not answers[number][place] and not later.isdisjoint(given):
                    places.setdefault(given - later, []).append((number, place))
        if not places:
            return
        again = [
            ([questions[number][0][place] for number, place in own], given)
            for given, own in places.items()
        ]
        for own, found in zip(places.values(), ask(target, again), strict=True):
            for (number, place), answer in zip(own, found, strict=True):
                answers[number][place] = answer

    def _separator(self, target: int, candidate: int) -> Variables | None:
        """Return what separates a forbidden pair, the smallest set first; None if nothing does."""
        pair = frozenset({target, candidate})
        if pair not in self._separators:
            first, second = sorted(pair)
            self._separators[pair] = self._find_separator(first, second)
        return self._separators[pair]

    def _find_separator(self, target: int, candidate: int) -> Variables | None:
        pool = self._pool(target, candidate)
        largest = LARGEST_OF_ORACLE if self.n_rows is None else LARGEST_SEPARATOR
        for size in range(min(largest, len(pool)) + 1):
            sets = list(subsets(pool, size, size))
            answers = self._source.decide(target, [([candidate], given) for given in sets])
            for given, [depends] in zip(sets, answers, strict=True):
                if not depends:
                    return given
        return None

    def _pool(self, target: int, candidate: int) -> Variables:
        """Return what may separate two variables: what depends on one of them, most of all."""
        pair = frozenset({target, candidate})
        others = sorted(self._variables - pair - self._knowledge.later_than(target, candidate))
        if not others:
            return EMPTY
        bits = dict.fromkeys(others, 0.0)
        for variable in sorted(pair):
            [weighed] = self._source.weigh(variable, [(others, EMPTY)], is_counted=True)
            bits = {x: max(bits[x], own) for x, own in zip(others, weighed, strict=True)}
        likely = [x for x in others if bits[x]]
        if self.n_rows is None:
            return frozenset(likely)
        return frozenset(sorted(likely, key=lambda x: (-bits[x], x))[:LARGEST_POOL])

    def outcome(self, target: int, candidate: int, given: Collection[int]) -> Outcome:
        """Everything one test has to say: of two that decide together, the one that depends."""
        outcome = self._source.outcome(target, candidate, given)
        later = self._knowledge.later_than(target, candidate)
        if outcome.independent and not later.isdisjoint(given):
            earlier = self._source.outcome(target, candidate, frozenset(given) - later)
            return outcome if earlier.independent else earlier
        return outcome

    def strong_in_pool(
        self,
        target: int,
        candidates: AbstractSet[int],
        pool: Variables,
        size: int,
        bits: float,
        min_rows_per_cell: float,
        on_progress: OnProgress | None,
    ) -> Strong | None:
        """All dependences with ``size`` conditions of at least this many bits."""
        strong = self._source.strong_in_pool(
            target, candidates, pool, size, bits, min_rows_per_cell, on_progress
        )
        return self._allowed(target, strong)

    def strong_among(
        self,
        target: int,
        questions: Sequence[Question],
        bits: float,
        on_progress: OnProgress | None,
        *,
        is_confirmed: bool,
    ) -> Strong | None:
        """Those dependences among some questions that have at least this many bits."""
        strong = self._source.strong_among(
            target, questions, bits, on_progress, is_confirmed=is_confirmed
        )
        return self._allowed(target, strong)

    def _allowed(self, target: int, strong: Strong | None) -> Strong | None:
        """Leave out dependences that knowledge does not let count."""
        if strong is None:
            return None
        found = [
            (bits, x, given)
            for bits, x, given in strong.found
            if frozenset({target, x}) not in self._knowledge.forbidden
            or self.decide(target, [([x], given)])[0][0]
        ]
        return Strong(found, strong.n_tests)

    def can_detect(
        self, target: int, candidate: int, given: Variables, witness: Variables, power: Power
    ) -> bool:
        """Whether a test has the power to see a share of the dependence that a witness shows."""
        if frozenset({target, candidate}) in self._knowledge.forbidden:
            return True
        earlier = given - self._knowledge.later_than(target, candidate)
        return self._source.can_detect(target, candidate, earlier, witness, power)

    def determines(self, given: Variables, variable: int, min_rows: float) -> bool:
        """Whether a set is known to determine another variable, from rows enough to tell."""
        return self._source.determines(given, variable, min_rows)
