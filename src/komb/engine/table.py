"""An engine that answers from a table in memory, by a test that the compiled judge knows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from komb.counts.records import Record
from komb.engine.engine import AllSets, Engine, Query, Witness
from komb.engine.fixed_point import Int64Array, entropies
from komb.engine.journal import Journal
from komb.engine.kernels import loops
from komb.engine.kernels.judge import BITS, CONSERVATIVE, DECISION
from komb.engine.kernels.places import FALLBACKS, ROWS_COUNTED, TABLES, TESTS, UNRELIABLE
from komb.engine.questions import (
    EMPTY, OnProgress, Question, SessionCounts, StrongDependence, Variables
)
from komb.engine.rule import Rule
from komb.engine.screens import Bits
from komb.engine.state import Shared, with_room
from komb.engine.sweep import Sweep, cut, find_strong, least_gain

_ROWS_PER_CALL = 1 << 28  # about half a second: interrupts are heard between two calls


class TableEngine(Engine):
    """Answers from counts."""

    def __init__(
        self,
        codes: npt.NDArray[Any],
        levels: Int64Array,
        rule: Rule,
        *,
        weight: npt.NDArray[np.int32] | None = None,
        fixed: Variables = EMPTY,
    ) -> None:
        super().__init__(len(codes))
        self._rule, self._fixed = rule, fixed
        self._shared = Shared(codes, levels, np.empty(0, np.int32) if weight is None else weight)
        self._states: dict[int, Any] = {}
        self._asks = _Asks(len(codes))
        self._work = np.zeros(4, np.int64)
        self.journal: Journal | None = None

    @property
    def n_rows(self) -> int:
        return self._shared.n_rows

    @property
    def n_levels(self) -> Sequence[int]:
        levels: list[int] = self._shared.levels.tolist()
        return levels

    @property
    def alpha(self) -> float:
        return self._rule.alpha

    @property
    def work(self) -> SessionCounts:
        tests, tables, fallbacks, unreliable = self._work.tolist()
        return SessionCounts(tests, tables, fallbacks, unreliable)

    def _state(self, target: int) -> Any:
        if target not in self._states:
            self._states[target] = self._shared.state_of(target, self._rule)
        return self._states[target]

    def _run(self, target: int, ask: Any) -> None:
        """Go on with a loop to its end."""
        state = self._state(target)
        ask.asked[loops.MOST_ROWS] = _ROWS_PER_CALL
        while True:
            is_done = loops.ask(ask, state)
            self._work += state.work[[TESTS, TABLES, FALLBACKS, UNRELIABLE]]
            state.work[:] = 0
            self._states[target] = state = with_room(state)
            if is_done:
                return

    def evidence(
        self,
        target: int,
        questions: Sequence[Question],
        *,
        wants_bits: bool = True,
        is_conservative: bool = False,
    ) -> list[dict[int, float]]:
        asked = [(sorted(candidates - given), sorted(given | self._fixed)) for candidates, given in questions]
        ask = self._asks.write(loops.EVIDENCE, asked)
        ask.asked[loops.WANTS] = CONSERVATIVE if is_conservative else BITS if wants_bits else DECISION
        self._run(target, ask)
        bits = iter(ask.bits[: sum(len(candidates) for candidates, _ in asked)].tolist())
        return [{x: own for x, own in zip(candidates, bits) if own} for candidates, _ in asked]

    def first_witness(
        self, target: int, queries: Sequence[Query], pool: Variables, max_separator: int
    ) -> Witness | None:
        asked = [(query.candidates, sorted(query.group | self._fixed)) for query in queries]
        ask = self._asks.write(loops.FIRST_WITNESS, asked, pool=sorted(pool))
        ask.queries[: len(queries), loops.N_ALLIES] = [query.n_allies for query in queries]
        ask.asked[loops.MAX_SIZE] = max_separator
        self._run(target, ask)
        column, size = ask.found[:2].tolist()
        if column < 0:
            return None
        witness = frozenset(ask.found[2 : size + 2].tolist()) - self._fixed
        return Witness(int(ask.place[loops.QUERY]), column, witness)

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
        if not bits:
            return {}, {}
        core = core | self._fixed
        candidates, n = list(bits), len(bits)
        if isinstance(pool, Mapping):
            asked = [([x], sorted(pool[x] - core)) for x in candidates]
        elif is_in_turn:
            shared = sorted(pool - core)
            asked = [([x], shared) for x in candidates]
        else:
            asked = [(candidates, sorted(pool - core))]
        largest = max(min(max_size, max(len(own) for _, own in asked)), min_size)
        ask = self._asks.write(loops.WEAKEST, asked, core=sorted(core), width=largest + len(core))
        ask.bits[:n] = list(bits.values())
        ask.found[:n] = loops.NOT_SEPARATED
        ask.asked[loops.MIN_SIZE], ask.asked[loops.MAX_SIZE] = min_size, max_size
        ask.asked[loops.WANTS] = BITS if wants_bits else DECISION
        ask.asked[loops.IS_IN_TURN] = is_in_turn
        self._run(target, ask)
        done = int(ask.place[loops.QUERY]) if is_in_turn else n
        kept: dict[int, float] = {}
        separated: dict[int, Variables] = {}
        found, least = ask.found[:done].tolist(), ask.bits[:done].tolist()
        for place, (x, size, own) in enumerate(zip(candidates, found, least)):
            if size == loops.NOT_SEPARATED:
                kept[x] = own
            else:
                separated[x] = frozenset(ask.separators[place, :size].tolist()) - self._fixed
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
        how: Any = {"is_conservative": is_conservative, "on_progress": on_progress}
        if not isinstance(asked, AllSets):
            return find_strong(self, target, cut(asked), len(asked), least_bits, **how)
        sweep = self._sweep(target, asked, least_bits)
        bits = self._pack(target, sweep.screened) if len(sweep.screened) else None
        batches, n_tests = sweep.batches(bits, self.journal, str(target)), self._work[0]
        found = find_strong(self, target, batches, sweep.total, least_bits, **how)
        self._work[:2] = n_tests + sweep.n_tests, self._work[1] + sweep.n_counted
        return found

    def _sweep(self, target: int, asked: AllSets, least_bits: float) -> Sweep:
        levels, n_rows, most = self._shared.levels, self._shared.n_rows, math.inf
        n_y = int(levels[target])
        if asked.min_rows_per_cell:
            most = n_rows / (asked.min_rows_per_cell * n_y * self.n_strata)
        need = None if self._fixed else least_gain(self._rule, n_y, self._shared.scale, least_bits, n_rows)
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

    def outcomes(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError


class _Asks:
    """Memory for what is asked and answered, kept from question to question."""

    def __init__(self, n_columns: int) -> None:
        self._n_columns = n_columns
        self._room = 256, 256, 8
        self._ask = self._make()

    def _make(self) -> Any:
        (n_items, n_columns, width), room = self._room, self._n_columns + 4
        return Record(
            asked=np.zeros(loops.N_ASKED, np.int64),
            queries=np.zeros((n_items, loops.N_OF_QUERY), np.int64),
            candidates=np.zeros(n_items, np.int64),
            columns=np.zeros(n_columns, np.int64),
            pool=np.zeros(room, np.int64),
            core=np.zeros(room, np.int64),
            place=np.zeros(loops.CHOSEN + room, np.int64),
            bits=np.zeros(n_items),
            found=np.zeros(max(n_items, room), np.int64),
            separators=np.zeros((n_items, width), np.int32),
        )

    def write(
        self,
        loop: int,
        queries: Sequence[tuple[Sequence[int], Sequence[int]]],
        *,
        pool: Sequence[int] = (),
        core: Sequence[int] = (),
        width: int = 0,
    ) -> Any:
        """Write down queries: candidates and columns."""
        candidates, starts = _joined([candidates for candidates, _ in queries])
        columns, firsts = _joined([columns for _, columns in queries])
        n_items, n_columns = max(len(candidates), len(queries)), len(columns)
        needed = n_items, n_columns, width
        if any(a > b for a, b in zip(needed, self._room)):
            self._room = tuple(b if a <= b else 2 * a for a, b in zip(needed, self._room))
            self._ask = self._make()
        ask = self._ask
        ask.candidates[: len(candidates)] = candidates
        ask.columns[:n_columns] = columns
        ask.queries[: len(queries), :4] = [(*a, *b) for a, b in zip(starts, firsts)]
        ask.pool[: len(pool)], ask.core[: len(core)] = pool, core
        ask.asked[loops.LOOP], ask.asked[loops.N_QUERIES] = loop, len(queries)
        ask.asked[loops.N_POOL], ask.asked[loops.N_CORE] = len(pool), len(core)
        ask.place[: loops.CHOSEN] = 0
        return ask


def _joined(parts: Sequence[Sequence[int]]) -> tuple[list[int], list[tuple[int, int]]]:
    """Write sequences one after the other, the same one once; returns where each is."""
    ranges: dict[int, tuple[int, int]] = {}
    joined: list[int] = []
    for part in parts:
        if id(part) not in ranges:
            ranges[id(part)] = len(joined), len(joined) + len(part)
            joined += part
    return joined, [ranges[id(part)] for part in parts]
