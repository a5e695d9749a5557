"""Where the answers of a session come from.

A source knows which variables depend on each other: it has a table to test on, a graph to look at
or a distribution to compute with. Most remember nothing: asking for the same thing only once is
what a :class:`~komb.sessions.session.Session` is for.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, NamedTuple

from komb.sessions.questions import (
    Candidates,
    Dependence,
    GroupWalk,
    OnProgress,
    Outcome,
    Question,
    SessionCounts,
    StrongDependence,
    Variables,
)

if TYPE_CHECKING:
    from komb.sessions.separators import SeparatorSearch
    from komb.sessions.sweeps import Sweep


class Strong(NamedTuple):
    """The strong dependences among some tests."""

    found: list[StrongDependence]  # the strongest first
    n_tests: int  # that were decided to find them


class Power(NamedTuple):
    """The effect that a test must be able to detect for its "independent" to count.

    A dependence does not keep its size where rows are spread over strata of a few rows each, so on
    a thin table no test is said to have power. On a very thick one the formula for the power can be
    trusted, and a larger share will do.
    """

    share: float  # of the dependence that the witness shows
    thick_share: float  # the same on a very thick table
    thick_rows_per_cell: float  # from which on a table is very thick


class Source(ABC):
    """Who answers; what is not abstract suits an oracle, which is sure of everything.

    Attributes
    ----------
    n_variables : int
    tests, tables, fallbacks, unreliable : int
        How much work was done, as in :class:`~komb.sessions.questions.SessionCounts`; tests only by
        a source that remembers its answers.
    remembers : bool
        Whether it remembers its answers, so that no one else has to.
    """

    remembers: bool = False

    def __init__(self, n_variables: int) -> None:
        self.n_variables = n_variables
        self.tests = self.tables = self.fallbacks = self.unreliable = 0

    @property
    def work(self) -> SessionCounts:
        """How much work was done so far."""
        return SessionCounts(self.tests, self.tables, self.fallbacks, self.unreliable)

    @property
    def n_tests(self) -> int:
        """How many tests were made so far, of which nobody else knows."""
        return self.work.tests

    @property
    def n_rows(self) -> int | None:
        """Rows that the answers come from; None if they come from an oracle."""
        return None

    @property
    def n_levels(self) -> Sequence[int]:
        """Levels of each variable; empty if the source does not know."""
        return ()

    @property
    def n_strata(self) -> int:
        """Strata that every test is made in, whatever it is given besides."""
        return 1

    @property
    def test_cost(self) -> float:
        """How much work a test is, in terms of one on counts."""
        return 1.0

    @property
    def alpha(self) -> float | None:
        """Level of the tests; None if answers come from an oracle."""
        return None

    @property
    def separators(self) -> SeparatorSearch | None:
        """What looks for separators more quickly than by asking a session; None without it."""
        return None

    @abstractmethod
    def decide(self, target: int, questions: Sequence[Candidates]) -> Sequence[Sequence[bool]]:
        """For each candidate of each question, whether it depends on the target given the set."""

    @abstractmethod
    def outcome(self, target: int, candidate: int, given: Collection[int]) -> Outcome:
        """Everything one test has to say."""

    def outcomes(self, target: int, tests: Sequence[Dependence]) -> list[Outcome]:
        """Everything that each of some tests has to say."""
        return [self.outcome(target, candidate, given) for candidate, given in tests]

    def weigh(
        self, target: int, questions: Sequence[Candidates], *, is_counted: bool
    ) -> Sequence[Sequence[float]]:
        """For each candidate of each question, the evidence that it depends; 0 if it does not.

        With ``is_counted`` false the tests have been counted before, as reliable or not.
        """
        answers = self.decide(target, questions)
        return [[math.inf if depends else 0.0 for depends in answer] for answer in answers]

    def confirm(
        self, target: int, questions: Sequence[Candidates]
    ) -> Sequence[Sequence[float]] | None:
        """As :meth:`weigh`, with no more evidence than all statistics of a test agree on.

        None if a test has but one statistic.
        """
        return None

    def sweep(
        self, target: int, pool: Variables, size: int, on_progress: OnProgress | None
    ) -> Sweep | None:
        """Decide every test inside ``pool`` with ``size`` conditions; None if that saves nothing.

        ``on_progress`` is called with (sets done, sets in all) on the way.
        """
        return None

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
        """As :meth:`Session.strong_dependences`; None if that is no quicker than to weigh all."""
        return None

    def strong_among(
        self,
        target: int,
        questions: Sequence[Question],
        bits: float,
        on_progress: OnProgress | None,
        *,
        is_confirmed: bool,
    ) -> Strong | None:
        """As :meth:`Session.strong_among`; None if that is no quicker than to weigh all."""
        return None

    def walk(
        self, target: int, columns: Sequence[int], members: Variables, most_given: int
    ) -> Variables | None:
        """As :meth:`Session.walk`; None if that is no quicker than to ask one by one."""
        return None

    def separate_in_turn(
        self,
        target: int,
        candidates: Sequence[int],
        pool: Variables,
        max_size: int,
        min_size: int,
        core: Variables,
    ) -> dict[int, Variables] | None:
        """As :meth:`Session.separate_in_turn`; None if that is no quicker than to ask in turn."""
        return None

    def walk_groups(
        self, target: int, candidates: Variables, order: int, max_separator: int
    ) -> GroupWalk | None:
        """As :meth:`Session.walk_groups`."""
        return None

    def can_detect(
        self, target: int, candidate: int, given: Variables, witness: Variables, power: Power
    ) -> bool:
        """Whether a test has the power to see a share of the dependence that a witness shows."""
        return True

    def determines(self, given: Variables, variable: int, min_rows: float) -> bool:
        """Whether a set is known to determine another variable, from rows enough to tell."""
        return False

    def explained_shares(self, target: int, candidates: Sequence[int]) -> list[float]:
        """Share of the target's variation that each candidate explains; 0 where unknown."""
        return [0.0] * len(candidates)

    def n_bytes(self, target: int) -> int:
        """Bytes of what is remembered of one target."""
        return 0

    def forget(self, target: int) -> None:  # noqa: B027
        """Free what was prepared for one target."""


class WrappedSource(Source):
    """What another source answers, except where a kind of it says otherwise."""

    def __init__(self, source: Source) -> None:
        super().__init__(source.n_variables)
        self._source = source

    @property
    def work(self) -> SessionCounts:
        """How much work was done so far."""
        return self._source.work

    @property
    def n_rows(self) -> int | None:
        """Rows that the answers come from; None if they come from an oracle."""
        return self._source.n_rows

    @property
    def n_levels(self) -> Sequence[int]:
        """Levels of each variable; empty if the source does not know."""
        return self._source.n_levels

    @property
    def n_strata(self) -> int:
        """Strata that every test is made in, whatever it is given besides."""
        return self._source.n_strata

    @property
    def test_cost(self) -> float:
        """How much work a test is, in terms of one on counts."""
        return self._source.test_cost

    @property
    def alpha(self) -> float | None:
        """Level of the tests; None if answers come from an oracle."""
        return self._source.alpha

    def explained_shares(self, target: int, candidates: Sequence[int]) -> list[float]:
        """Share of the target's variation that each candidate explains; 0 where unknown."""
        return self._source.explained_shares(target, candidates)

    def n_bytes(self, target: int) -> int:
        """Bytes of what is remembered of one target."""
        return self._source.n_bytes(target)

    def forget(self, target: int) -> None:
        """Free what was prepared for one target."""
        self._source.forget(target)
