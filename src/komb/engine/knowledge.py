"""Evidence that respects background knowledge.

A search asks as ever; what is known changes the evidence, for every search in the same way:

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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from komb.data.knowledge import ColumnKnowledge
from komb.engine.engine import AllSets, Engine, Power
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
)

LARGEST_SEPARATOR = 3
"""Variables that may together separate a forbidden pair, on data."""

LARGEST_POOL = 15
"""Variables that such sets are made of, those that depend most on one of the two."""

LARGEST_OF_ORACLE = 5
"""Variables that may together separate a forbidden pair, if an oracle answers."""

LEAST_BITS = 1e-9
"""Evidence for a required pair that data do not show; it wins over no other."""

_Ask = Callable[[Sequence[Question]], list[dict[int, float]]]


class KnowledgeEngine(PlainEngine):
    """The evidence of another engine, as far as it agrees with background knowledge.

    Parameters
    ----------
    engine : Engine
    knowledge : ColumnKnowledge
    variables : frozenset of int
        Those that may separate others: all but covariates.

    Examples
    --------
    >>> import networkx as nx
    >>> from komb.engine.oracle import DSeparationEngine
    >>> chain = DSeparationEngine(nx.DiGraph([(0, 1), (1, 2)]))
    >>> chain.is_dependent(0, 2, frozenset({1}))
    False
    >>> known = ColumnKnowledge((0, 1, 0))  # variable 1 comes after the others
    >>> KnowledgeEngine(chain, known, frozenset({0, 1, 2})).is_dependent(0, 2, frozenset({1}))
    True
    """

    def __init__(self, engine: Engine, knowledge: ColumnKnowledge, variables: Variables) -> None:
        super().__init__(engine.n_variables)
        self._engine, self.least_share = engine, engine.least_share
        self._knowledge = knowledge
        self._variables = variables
        self._forbidden = knowledge.forbidden
        self._separators: dict[tuple[int, int], Variables | None] = {}  # of forbidden pairs

    def weigh(self, target: int, questions: Sequence[Candidates]) -> list[list[float]]:
        """Bits of the other engine, as far as they agree with what is known."""
        asked = [(frozenset(candidates), given) for candidates, given in questions]
        rows = self._judge(target, asked, is_conservative=False)
        pairs = zip(questions, rows, strict=True)
        return [[row.get(x, 0.0) for x in candidates] for (candidates, _), row in pairs]

    def conservative_evidence(
        self, target: int, questions: Sequence[Question]
    ) -> list[dict[int, float]]:
        """As :meth:`evidence`, with no more bits than all statistics of a test agree on."""
        rows = self._judge(target, questions, is_conservative=True)
        return [dict(sorted(row.items())) for row in rows]

    def _judge(
        self, target: int, questions: Sequence[Question], *, is_conservative: bool
    ) -> list[dict[int, float]]:
        """Ask the other engine, then let what is known have its say."""
        ask = partial(self._engine.evidence, target, is_conservative=is_conservative)
        rows = ask(questions)
        self._ask_earlier(target, questions, rows, ask)
        required = self._knowledge.required_of(target)
        for (candidates, given), row in zip(questions, rows, strict=True):
            for x in required & candidates - given:
                row.setdefault(x, LEAST_BITS)
            for x in [x for x in row if frozenset({target, x}) in self._forbidden]:
                separator = self._separator(target, x)
                if separator is None:
                    del row[x]
                elif not separator <= given:
                    [left] = ask([({x}, given | separator)])
                    row |= {x: min(row[x], left.get(x, 0.0))}
        return [{x: bits for x, bits in row.items() if bits} for row in rows]

    def _ask_earlier(
        self, target: int, questions: Sequence[Question], rows: list[dict[int, float]], ask: _Ask
    ) -> None:
        """Ask about what is independent once more, given the part of the set that is not later."""
        again: dict[Variables, list[tuple[int, int]]] = {}  # number of the question, candidate
        for number, (candidates, given) in enumerate(questions):
            for x in candidates - given - rows[number].keys():
                later = self._knowledge.later_than(target, x)
                if not later.isdisjoint(given):
                    again.setdefault(given - later, []).append((number, x))
        answers = ask([({x for _, x in tests}, given) for given, tests in again.items()])
        for tests, row in zip(again.values(), answers, strict=True):
            for number, x in tests:
                if x in row:
                    rows[number][x] = row[x]

    def _separator(self, target: int, candidate: int) -> Variables | None:
        """Return what separates a forbidden pair, the smallest set first; None if nothing does."""
        first, second = pair = min(target, candidate), max(target, candidate)
        if pair not in self._separators:
            largest = LARGEST_OF_ORACLE if self.n_rows is None else LARGEST_SEPARATOR
            found = self._engine.separators(first, [second], self._pool(first, second), largest)
            self._separators[pair] = found.get(second)
        return self._separators[pair]

    def _pool(self, target: int, candidate: int) -> Variables:
        """Return what may separate two variables: what depends on one of them, most of all."""
        later = self._knowledge.later_than(target, candidate)
        others = self._variables - {target, candidate} - later
        bits: dict[int, float] = {}
        for variable in (target, candidate):
            for x, own in self._engine.evidence(variable, [(others, EMPTY)])[0].items():
                bits[x] = max(own, bits.get(x, 0.0))
        if self.n_rows is None:
            return frozenset(bits)
        return frozenset(sorted(bits, key=lambda x: (-bits[x], x))[:LARGEST_POOL])

    def strong(
        self,
        target: int,
        asked: Sequence[Question] | AllSets,
        least_bits: float,
        *,
        is_conservative: bool = False,
        on_progress: OnProgress | None = None,
    ) -> list[StrongDependence]:
        """All dependences of at least so many bits that knowledge lets count."""
        tests, spent = self._engine.work.tests, self._engine.allowance.spent
        found = self._engine.strong(
            target, asked, least_bits, is_conservative=is_conservative, on_progress=on_progress
        )
        self._n_tests += self._engine.work.tests - tests
        self.allowance.spent += self._engine.allowance.spent - spent
        return [
            (bits, x, given)
            for bits, x, given in found
            if frozenset({target, x}) not in self._forbidden or self.is_dependent(target, x, given)
        ]

    def examine(self, target: int, tests: Sequence[Dependence]) -> list[Outcome]:
        """Everything each test has to say: of two that decide together, the one that depends."""
        earlier = [(x, given - self._knowledge.later_than(target, x)) for x, given in tests]
        outcomes = self._engine.outcomes(target, tests)
        again = [n for n, own in enumerate(outcomes) if own.independent and earlier[n] != tests[n]]
        others = self._engine.outcomes(target, [earlier[n] for n in again])
        for n, other in zip(again, others, strict=True):
            if not other.independent:
                outcomes[n] = other
        return outcomes

    def can_detect(
        self, target: int, candidate: int, given: Variables, witness: Variables, power: Power
    ) -> bool:
        """Whether a test has the power to see a share of the dependence that a witness shows."""
        if frozenset({target, candidate}) in self._forbidden:
            return True
        earlier = given - self._knowledge.later_than(target, candidate)
        return self._engine.can_detect(target, candidate, earlier, witness, power)

    # What the other engine knows of itself

    @property
    def work(self) -> WorkCounts:
        """Work of the other engine; tests are counted as they were asked for."""
        return replace(self._engine.work, tests=self._n_tests)

    @property
    def n_rows(self) -> int | None:
        """Rows that the answers come from; None if they come from an oracle."""
        return self._engine.n_rows

    @property
    def n_levels(self) -> Sequence[int]:
        """Levels of each variable; empty where there are none."""
        return self._engine.n_levels

    @property
    def n_strata(self) -> int:
        """Strata of the covariates, which every test is made in."""
        return self._engine.n_strata

    @property
    def alpha(self) -> float | None:
        """Level of the tests; None if answers come from an oracle."""
        return self._engine.alpha

    @property
    def test_cost(self) -> float:
        """Work of one test, in units of a test on counts."""
        return self._engine.test_cost

    def cost_of(self, target: int, bits: Mapping[int, float], given: Variables) -> int:
        """Work of having found bits of candidates, in nanoseconds or so."""
        return self._engine.cost_of(target, bits, given)

    def determines(self, given: Variables, variable: int, min_rows: float) -> bool:
        """Whether a set is known to determine a variable, from so many rows per combination."""
        return self._engine.determines(given, variable, min_rows)

    def explained_shares(self, target: int, candidates: Sequence[int]) -> list[float]:
        """Share of the target's variation that each candidate explains; 0 where unknown."""
        return self._engine.explained_shares(target, candidates)

    def trim(self, most_bytes: int | None = None) -> None:
        """Forget variables that were targets long ago until what is remembered fits."""
        super().trim(most_bytes)
        self._engine.trim(most_bytes)
