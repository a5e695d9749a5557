"""Answers from a complete table by a test that kernels know: they decide, and they remember."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import takewhile

from komb.citests.contract import CITest
from komb.citests.formula import Formula
from komb.counts.contingency import Contingency
from komb.data.table import DiscreteTable
from komb.sessions.data import TableSource
from komb.sessions.formula_tests import FormulaTests
from komb.sessions.formula_walk import FormulaWalk, fits_memory
from komb.sessions.questions import (
    EMPTY,
    Branch,
    Candidates,
    OnProgress,
    Position,
    SessionCounts,
    Variables,
)
from komb.sessions.sweeps import Sweep
from komb.sessions.workspace import Workspace


class FormulaSource(TableSource):
    """Tests on a table in compiled code."""

    remembers = True

    def __init__(
        self,
        table: DiscreteTable,
        test: CITest,
        alpha: float,
        workspace: Workspace,
        formula: Formula,
    ) -> None:
        super().__init__(table, test, alpha, workspace)
        self._tests = FormulaTests(formula, workspace)

    @property
    def work(self) -> SessionCounts:
        """How much work was done so far, in lots and otherwise."""
        return self._tests.counts + super().work

    @property
    def n_tests(self) -> int:
        """How many tests were made so far."""
        return self._tests.n_tests + self.tests

    def decide(self, target: int, questions: Sequence[Candidates]) -> Sequence[Sequence[bool]]:
        """For each candidate of each question, whether it depends on the target given the set."""
        answers = self._tests.weigh(self._contingency(target), questions, wants_bits=False)
        return [[weight > 0 for weight in answer] for answer in answers]

    def weigh(
        self, target: int, questions: Sequence[Candidates], *, is_counted: bool
    ) -> Sequence[Sequence[float]]:
        """For each candidate of each question, the evidence that it depends; 0 if it does not."""
        if not is_counted:
            return super().weigh(target, questions, is_counted=False)
        return self._tests.weigh(self._contingency(target), questions, wants_bits=True)

    def sweep(
        self, target: int, pool: Variables, size: int, on_progress: OnProgress | None
    ) -> Sweep | None:
        """Decide every test inside ``pool`` with ``size`` conditions, counting each set once."""
        swept = super().sweep(target, pool, size, on_progress)
        if swept is not None:
            self._tests.note_sweep(self._contingency(target), swept)
        return swept

    def walk(
        self, target: int, columns: Sequence[int], members: Variables, most_given: int
    ) -> Variables:
        """Test columns in turn, each given the rest of a set that grows and shrinks on the way."""
        return self._tests.walk(self._contingency(target), columns, members, most_given)

    def separate_in_turn(
        self,
        target: int,
        candidates: Sequence[int],
        pool: Variables,
        max_size: int,
        min_size: int,
        core: Variables,
    ) -> dict[int, Variables]:
        """For each candidate up to the first that nothing separates, what separates it."""
        return self._tests.weakest(
            self._contingency(target),
            dict.fromkeys(takewhile(lambda x: x not in core, candidates), math.inf),
            pool - core,
            max_size,
            min_size=min_size,
            core=core,
            wants_bits=False,
            in_turn=True,
        )[1]

    def walk_groups(
        self, target: int, candidates: Variables, order: int, max_separator: int
    ) -> FormulaWalk | None:
        """Begin walks through the groups outside of a blanket that grows, in compiled code."""
        if not fits_memory(len(candidates), order, self.n_variables):
            return None
        return FormulaWalk(
            self._tests,
            lambda: self._contingency(target),
            candidates,
            order,
            max_separator,
        )

    @property
    def separators(self) -> FormulaSeparators:
        """Looks for separators in compiled code."""
        return FormulaSeparators(self._tests, self._contingency)

    def n_bytes(self, target: int) -> int:
        """Bytes of what is remembered of one target."""
        return self._tests.n_bytes(target)

    def forget(self, target: int) -> None:
        """Free what was prepared for one target, and what is remembered of it."""
        super().forget(target)
        self._tests.forget(target)


class FormulaSeparators:
    """As :class:`~komb.sessions.separators.SeparatorFinder`, every question one compiled call."""

    def __init__(self, tests: FormulaTests, contingency: Callable[[int], Contingency]) -> None:
        self._tests = tests
        self._contingency = contingency

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
        return self._tests.first_inseparable(
            self._contingency(target), lines, pool, max_size, one_is_enough=one_is_enough
        )

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
        return self._tests.witnesses(
            self._contingency(target),
            branches,
            blanket,
            max_separator,
            one_is_enough=one_is_enough,
        )

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
        return self._tests.weakest(
            self._contingency(target),
            dict.fromkeys(sorted(candidates - core), math.inf),
            pool - core,
            max_size,
            min_size=min_size,
            core=core,
            wants_bits=False,
        )[1]

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
        return self._tests.weakest(
            self._contingency(target), strengths, pool - core, max_size, core=core
        )
