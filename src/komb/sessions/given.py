"""Answers given covariates: some variables are in the condition of every test.

A search asks about candidates and sets as ever, and never hears of the covariates. Whoever answers
is asked the same with the covariates added to the set, and they are taken out of sets that come
back. So every search adjusts for covariates without a line of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from komb.sessions.questions import (
    EMPTY,
    Branch,
    Candidates,
    OnProgress,
    Outcome,
    Position,
    Question,
    Variables,
    subsets,
)
from komb.sessions.separators import SeparatorSearch
from komb.sessions.source import Power, Source, Strong, WrappedSource


class GivenSource(WrappedSource):
    """Whatever another source answers, given some variables besides.

    Examples
    --------
    >>> import networkx as nx
    >>> from komb.sessions.graph import DirectedGraphSource
    >>> from komb.sessions.session import Session
    >>> fork = DirectedGraphSource(nx.DiGraph([(0, 1), (0, 2)]))
    >>> Session(fork).dependents(1, {2}, EMPTY)
    [2]
    >>> Session(GivenSource(fork, frozenset({0}))).dependents(1, {2}, EMPTY)
    []
    """

    def __init__(self, source: Source, fixed: Variables, n_strata: int = 1) -> None:
        super().__init__(source)
        self._fixed = fixed
        self._n_strata = n_strata
        self.remembers = source.remembers

    @property
    def n_strata(self) -> int:
        """Combinations of the values of the covariates."""
        return self._n_strata

    @property
    def separators(self) -> SeparatorSearch | None:
        """What looks for separators more quickly than by asking a session; None without it."""
        inner = self._source.separators
        return None if inner is None else GivenSeparators(inner, self._fixed)

    def _add(self, questions: Sequence[Candidates]) -> list[Candidates]:
        return [(candidates, given | self._fixed) for candidates, given in questions]

    def decide(self, target: int, questions: Sequence[Candidates]) -> Sequence[Sequence[bool]]:
        """For each candidate of each question, whether it depends on the target given the set."""
        return self._source.decide(target, self._add(questions))

    def weigh(
        self, target: int, questions: Sequence[Candidates], *, is_counted: bool
    ) -> Sequence[Sequence[float]]:
        """For each candidate of each question, the evidence that it depends; 0 if it does not."""
        return self._source.weigh(target, self._add(questions), is_counted=is_counted)

    def confirm(
        self, target: int, questions: Sequence[Candidates]
    ) -> Sequence[Sequence[float]] | None:
        """As :meth:`weigh`, with no more evidence than all statistics of a test agree on."""
        return self._source.confirm(target, self._add(questions))

    def outcome(self, target: int, candidate: int, given: Collection[int]) -> Outcome:
        """Everything one test has to say."""
        return self._source.outcome(target, candidate, self._fixed.union(given))

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
        """All dependences with ``size`` conditions of at least this many bits.

        They are asked about set by set: a sweep over all sets of one size leaves no room for what
        is part of each.
        """
        if self.n_rows is None:
            return None
        most_cells = self.n_rows / (max(min_rows_per_cell, 1e-9) * self._n_strata)
        questions = list(self._questions(candidates, pool, size, most_cells))
        return self.strong_among(target, questions, bits, on_progress, is_confirmed=True)

    def _questions(
        self, candidates: AbstractSet[int], pool: Variables, size: int, most_cells: float
    ) -> Iterator[Question]:
        """Yield sets with the candidates whose table is small enough."""
        levels = self.n_levels
        by_levels: dict[int, set[int]] = {}
        for x in candidates:
            by_levels.setdefault(levels[x], set()).add(x)
        for given in subsets(pool, size, size):
            cells = 1
            for variable in given:
                cells *= levels[variable]
            small = [some for own, some in by_levels.items() if own * cells <= most_cells]
            asked = set[int]().union(*small) - given
            if asked:
                yield asked, given

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
        # a question need not be spared candidates that are in the set: the covariates are none
        asked = [(candidates, given | self._fixed) for candidates, given in questions]
        strong = self._source.strong_among(
            target, asked, bits, on_progress, is_confirmed=is_confirmed
        )
        if strong is None:
            return None
        found = [(own, x, given - self._fixed) for own, x, given in strong.found]
        return Strong(found, strong.n_tests)

    def can_detect(
        self, target: int, candidate: int, given: Variables, witness: Variables, power: Power
    ) -> bool:
        """Whether a test has the power to see a share of the dependence that a witness shows."""
        given, witness = given | self._fixed, witness | self._fixed
        return self._source.can_detect(target, candidate, given, witness, power)

    def determines(self, given: Variables, variable: int, min_rows: float) -> bool:
        """Whether a set is known to determine another variable, from rows enough to tell."""
        return self._source.determines(given | self._fixed, variable, min_rows)


class GivenSeparators:
    """As another search for separators, given some variables besides."""

    def __init__(self, separators: SeparatorSearch, fixed: Variables) -> None:
        self._separators = separators
        self._fixed = fixed

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
        asked = [(x, [given | self._fixed for given in sets]) for x, sets in lines]
        found = self._separators.first_inseparable(
            target, asked, pool, max_size, one_is_enough=one_is_enough
        )
        return [None if given is None else given - self._fixed for given in found]

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
        asked = [branch._replace(group=branch.group | self._fixed) for branch in branches]
        found = self._separators.witnesses(
            target, asked, blanket, max_separator, one_is_enough=one_is_enough
        )
        return {position: witness - self._fixed for position, witness in found.items()}

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
        found = self._separators.find(
            target, candidates, pool, max_size, min_size=min_size, core=core | self._fixed
        )
        return {x: separator - self._fixed for x, separator in found.items()}

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
        least, found = self._separators.weakest(
            target, strengths, pool, max_size, core=core | self._fixed
        )
        return least, {x: separator - self._fixed for x, separator in found.items()}
