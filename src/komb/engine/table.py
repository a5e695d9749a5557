"""An engine that answers from a table in memory, by a test that the compiled judge knows."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from komb.data.levels import CodeArray
from komb.data.table import DiscreteTable
from komb.engine.buffers import Buffers, borrow, return_after
from komb.engine.engine import AllSets, Query, Witness
from komb.engine.fixed_point import FloatArray, Int64Array, entropies
from komb.engine.journal import Journal
from komb.engine.kernels import loops
from komb.engine.kernels.judge import BITS, CONSERVATIVE, DECISION, bounds_for
from komb.engine.kernels.places import FALLBACKS, TABLES, TESTS, UNRELIABLE
from komb.engine.plugin import CountingEngine
from komb.engine.questions import (
    EMPTY,
    OnProgress,
    Question,
    StrongDependence,
    Variables,
    WorkCounts,
    check_variables,
    find_strong,
)
from komb.engine.rule import Rule
from komb.engine.screens import Bits, Tests
from komb.engine.state import Shared, empty_memory, memory_of, with_room
from komb.engine.sweep import Sweep, least_gain
from komb.engine.verdicts import ExaminingEngine

PREPARED_TARGETS, PREPARED_BYTES = 4, 64 << 20
"""Targets whose columns are kept in their order: at least so many, and more as long as they fit."""

REMEMBERED_BYTES = 256 << 20
"""Of what is remembered of all targets, when an engine is trimmed."""


class TableEngine(ExaminingEngine, CountingEngine):
    """Answers from counts.

    Parameters
    ----------
    codes, levels, weight
        As :class:`~komb.engine.state.Shared` takes them.
    rule : Rule
        How the test decides.
    fixed : frozenset of int
        Columns in the condition of every test; they are never asked about.
    buffers : Buffers, optional
        Of this table, if there are some already.

    Attributes
    ----------
    journal : Journal or None
        Keeps what sweeps have listed.
    """

    def __init__(
        self,
        codes: npt.NDArray[Any],
        levels: Int64Array,
        rule: Rule,
        *,
        weight: npt.NDArray[np.int32] | None = None,
        fixed: Variables = EMPTY,
        buffers: Buffers | None = None,
    ) -> None:
        super().__init__(len(codes))
        self._rule, self._fixed = rule, tuple(sorted(fixed))
        if buffers is None:
            own = np.empty(0, np.int32) if weight is None else weight
            buffers = Buffers(Shared(codes, levels, own))
        self._buffers = buffers
        self._shared, self._asks = self._buffers.shared, self._buffers.asks
        self._states: dict[int, Any] = {}
        self._others: dict[Rule, TableEngine] = {}  # on the same table
        self._memories: dict[int, dict[str, Any]] = {}  # of targets that are not prepared any more
        self._present = -1  # the target in use
        self._n_bytes: dict[int, tuple[int, int]] = {}  # columns and memory, when last in use
        self._before = self._shared.fields["work"].copy()
        self._listed = WorkCounts(0, 0, 0, 0)  # by sweeps
        self.journal: Journal | None = None

    @classmethod
    def open(cls, table: DiscreteTable, rule: Rule, fixed: Variables = EMPTY) -> TableEngine:
        """Open an engine on a table, with the buffers of the one before."""
        buffers = borrow(table)
        engine = cls(table.codes, buffers.shared.levels, rule, fixed=fixed, buffers=buffers)
        return_after(engine, table, buffers)
        return engine

    @property
    def codes(self) -> CodeArray:
        """Codes [column, row]; the number of levels stands for a missing value."""
        return self._shared.codes

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return self._shared.n_rows

    @property
    def n_levels(self) -> Sequence[int]:
        """Levels of each column."""
        levels: list[int] = self._shared.levels.tolist()
        return levels

    @property
    def n_strata(self) -> int:
        """Combinations of the levels of the covariates."""
        return math.prod(int(self._shared.levels[x]) for x in self._fixed)

    @property
    def alpha(self) -> float:
        """Level of the tests."""
        return self._rule.alpha

    @property
    def work(self) -> WorkCounts:
        """Tests made so far, and tables counted for them."""
        work = (self._shared.fields["work"] - self._before).tolist()
        made = WorkCounts(work[TESTS], work[TABLES], work[FALLBACKS], work[UNRELIABLE])
        return made + self._listed

    def _state(self, target: int) -> Any:
        """Return all that kernels need of one target, which is the last of those in use."""
        if target == self._present:
            return self._states[target]
        self._note_bytes()
        state = self._states.pop(target, None)
        if state is None:
            memory = self._memories.pop(target, None) or empty_memory(self.n_variables)
            state = self._buffers.state_of(target, self._rule).replaced(**memory)
            self._make_room()
        self._states[target], self._present = state, target
        return state

    def _note_bytes(self) -> None:
        """Note what the target in use takes, as another one takes its place."""
        if self._present in self._states:
            state = self._states[self._present]
            memory = sum([part.nbytes for part in memory_of(state).values()])
            self._n_bytes[self._present] = self._buffers.n_bytes(self._present), memory

    def _make_room(self) -> None:
        """Keep the columns of the last targets only, but all that is remembered."""
        held = sum([self._n_bytes[target][0] for target in self._states])
        while len(self._states) >= PREPARED_TARGETS and held > PREPARED_BYTES:
            oldest = next(iter(self._states))
            held -= self._n_bytes[oldest][0]
            self._memories[oldest] = memory_of(self._states.pop(oldest))
            self._buffers.forget(oldest)

    def _run(self, target: int, ask: Any) -> None:
        """Go on with a loop to its end."""
        state = self._state(target)
        while (answer := loops.ask(ask, state)) != loops.DONE:
            if answer == loops.REFUSED:
                asked = ask.words[loops.N_HEADER : ask.words[loops.FIRST_QUERY]]
                check_variables(set(asked.tolist()), frozenset(range(self.n_variables)))
            self._states[target] = state = self._resume(state, ask)

    def _resume(self, state: Any, ask: Any) -> Any:
        """Return a state that a loop can go on with."""
        return with_room(state)

    def evidence(
        self,
        target: int,
        questions: Sequence[Question],
        *,
        wants_bits: bool = True,
        is_conservative: bool = False,
    ) -> list[dict[int, float]]:
        """For each question, the candidates that depend on the target, with their bits."""
        wants = CONSERVATIVE if is_conservative else BITS if wants_bits else DECISION
        return self._weigh(target, loops.EVIDENCE, questions, wants)

    def _weigh(
        self, target: int, loop: int, questions: Sequence[Question], wants: int
    ) -> list[dict[int, float]]:
        fixed = self._fixed
        asked = [(sorted(some - given), [*fixed, *sorted(given)]) for some, given in questions]
        ask = self._asks.write(loop, asked, wants=wants)
        self._run(target, ask)
        n_answers = sum([len(candidates) for candidates, _ in asked])
        bits = iter(ask.bits[:n_answers].tolist())
        # the bits have to be the second of zip: it takes one of the first before it ends
        return [
            {x: own for x, own in zip(some, bits, strict=False) if own} for some, _ in asked
        ]  # fmt: skip

    def first_witness(
        self, target: int, queries: Sequence[Query], pool: Variables, max_separator: int
    ) -> Witness | None:
        """Return the first candidate, query by query, that has a witness nothing separates."""
        fixed = self._fixed
        ask = self._asks.write(
            loops.FIRST_WITNESS,
            [(query.candidates, [*fixed, *sorted(query.group)]) for query in queries],
            [query.n_allies for query in queries],
            pool=sorted(pool),
            max_size=max_separator,
        )
        self._run(target, ask)
        query, column, size, *witness = ask.found[: self.n_variables + 4].tolist()
        return None if query < 0 else Witness(query, column, frozenset(witness[len(fixed) : size]))

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
        candidates, n = list(bits), len(bits)
        if not n:
            return {}, {}
        if isinstance(pool, Mapping):
            asked = [([x], sorted(pool[x] - core)) for x in candidates]
        else:
            shared = sorted(pool - core)
            asked = [([x], shared) for x in candidates] if is_in_turn else [(candidates, shared)]
        ask = self._asks.write(
            loops.WEAKEST, asked, core=[*self._fixed, *sorted(core)], min_size=min_size,
            max_size=max_size, wants=BITS if wants_bits else DECISION, is_in_turn=is_in_turn,
        )  # fmt: skip
        ask.bits[:n] = array("d", bits.values())
        ask.found[:n] = loops.NOT_SEPARATED
        self._run(target, ask)
        done = int(ask.place[loops.QUERY]) if is_in_turn else n
        sizes, least = ask.found[:done].tolist(), ask.bits[:done].tolist()
        kept: dict[int, float] = {}
        separated: dict[int, Variables] = {}
        for place, size in enumerate(sizes):
            if size == loops.NOT_SEPARATED:
                kept[candidates[place]] = least[place]
            else:
                separator = ask.separators[place, len(self._fixed) : size]
                separated[candidates[place]] = frozenset(separator.tolist())
        return kept, separated

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
        wants = CONSERVATIVE if is_conservative else BITS

        def weigh(questions: Sequence[Question]) -> list[dict[int, float]]:
            return self._weigh(target, loops.STRONG, questions, wants)

        with self._bounded(target, least_bits, is_conservative):
            if not isinstance(asked, AllSets):
                return find_strong(weigh, asked, on_progress)
            fixed = (*self._fixed, *sorted(asked.core))
            sweep, before = self._sweep(target, asked, least_bits), self.work

            def weigh_tests(tests: Tests) -> FloatArray:
                return self._weigh_tests(target, tests, fixed, wants)

            bits = self._pack(target, sweep.screened)
            found = sweep.run(weigh_tests, bits, on_progress, self.journal, str(target))
        if asked.core:
            return [(own, x, z | asked.core) for own, x, z in found]
        # what was listed has been tested once more
        made = WorkCounts(sweep.n_tests - (self.work - before).tests, sweep.n_counted, 0, 0)
        self._listed += made
        return found

    def _weigh_tests(
        self, target: int, tests: Tests, fixed: Sequence[int], wants: int
    ) -> FloatArray:
        """Bits of strong dependences, with some columns in the condition of each test."""
        ask = self._asks.write_tests(loops.STRONG, tests, fixed, wants)
        self._run(target, ask)
        bits: FloatArray = ask.bits[: len(tests.candidates)].copy()
        return bits

    @contextmanager
    def _bounded(self, target: int, least_bits: float, is_conservative: bool) -> Iterator[None]:
        """Have tests of fewer bits answered as independent."""
        bounds = self._state(target).bounds
        ordinary = bounds.copy()
        bounds[:] = bounds_for(self.alpha, least_bits, is_conservative=is_conservative)
        try:
            yield
        finally:
            bounds[:] = ordinary

    def _sweep(self, target: int, asked: AllSets, least_bits: float) -> Sweep:
        levels, n_rows, most = self._shared.levels, self._shared.n_rows, math.inf
        n_y = int(levels[target])
        if asked.min_rows_per_cell:
            most = n_rows / (asked.min_rows_per_cell * n_y * self.n_strata)
        need = None
        if not (self._fixed or asked.core):
            need = least_gain(self._rule, n_y, self._shared.scale, least_bits, n_rows)
        has_bitmaps = self._state(target).first_bitmap >= 0
        return Sweep(asked, levels, n_rows, most, has_bitmaps, need)

    def _pack(self, target: int, columns: Int64Array) -> Bits:
        """Return the bitmaps of some columns."""
        self._run(target, self._asks.write(loops.PACK, [(columns.tolist(), [])]))
        s = self._state(target)
        return Bits(
            s.bitmaps, s.level_counts, s.words, s.first_bitmap, s.levels,
            entropies(s.n_rows, s.scale), len(s.order), bool(s.is_incomplete[columns].any()),
        )  # fmt: skip

    def _with_rule(self, rule: Rule) -> TableEngine:
        if rule not in self._others:
            shared = self._shared
            self._others[rule] = TableEngine(
                shared.codes, shared.levels, rule, weight=shared.weight,
                fixed=frozenset(self._fixed),
            )  # fmt: skip
        return self._others[rule]

    def determines(self, given: Variables, variable: int, min_rows: float) -> bool:
        """Whether each combination of values goes with one value of another column."""
        columns = [*self._fixed, *sorted(given), variable]
        levels = self._shared.levels[columns]
        codes = self._shared.codes[columns].astype(np.int64)
        codes = codes[:, (codes < levels[:, None]).all(axis=0)]
        combined = np.zeros(codes.shape[1], dtype=np.int64)
        for code, width in zip(codes[:-1], levels, strict=False):
            _, combined = np.unique(combined * width + code, return_inverse=True)
        n_combinations = int(combined.max(initial=-1)) + 1
        if n_combinations * min_rows > len(combined):
            return False
        return len(np.unique(combined * levels[-1] + codes[-1])) == n_combinations

    def trim(self, most_bytes: int | None = None) -> None:
        """Forget variables that were targets long ago until what is remembered fits."""
        self._note_bytes()
        held = [*self._memories, *self._states]
        total = sum([self._n_bytes[target][1] for target in held])
        room = REMEMBERED_BYTES if most_bytes is None else most_bytes
        for target in held:
            if total <= room:
                return
            self._memories.pop(target, None)
            self._states.pop(target, None)
            total -= self._n_bytes[target][1]
        self._present = -1
