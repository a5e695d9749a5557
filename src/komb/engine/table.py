"""An engine that answers from a table in memory, by a test that the compiled judge knows."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from komb.counts.records import Record
from komb.engine.engine import AllSets, Engine, Query, Witness
from komb.engine.fixed_point import Int64Array, entropies
from komb.engine.journal import Journal
from komb.engine.kernels import loops
from komb.engine.kernels.places import FALLBACKS, TABLES, TESTS, UNRELIABLE
from komb.engine.questions import (
    EMPTY,
    OnProgress,
    Question,
    SessionCounts,
    StrongDependence,
    Variables,
)
from komb.engine.rule import Rule
from komb.engine.screens import Bits, Tests
from komb.engine.state import Shared, with_room
from komb.engine.sweep import Sweep, find_strong, least_gain


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
        self._rule, self._fixed = rule, tuple(sorted(fixed))
        self._shared = Shared(codes, levels, np.empty(0, np.int32) if weight is None else weight)
        self._states: dict[int, Any] = {}
        self._kept = {}
        self._asks = Asks(len(codes))
        self._before = self._shared.fields["work"].copy()
        self.journal: Journal | None = None

    @classmethod
    def on(cls, codes, levels, rule, **options):
        first = cls(codes, levels, rule, **options)

        def again():
            other = object.__new__(cls)
            other.__dict__ = dict(first.__dict__)
            other._states = {}
            other._before = first._shared.fields["work"].copy()
            other._kept = first._kept
            return other
        return again

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
        work = (self._shared.fields["work"] - self._before).tolist()
        return SessionCounts(work[TESTS], work[TABLES], work[FALLBACKS], work[UNRELIABLE])

    def _state(self, target: int) -> Any:
        if target not in self._states:
            if target not in self._kept:
                self._kept[target] = self._shared.state_of(target, self._rule)
            from komb.engine.state import empty_memory
            self._states[target] = self._kept[target].replaced(**empty_memory(len(self._shared.codes)))
        return self._states[target]

    def _run(self, target: int, ask: Any) -> None:
        """Go on with a loop to its end."""
        state = self._states.get(target) or self._state(target)
        while not loops.ask(ask, state):
            self._states[target] = state = with_room(state)

    def evidence(
        self,
        target: int,
        questions: Sequence[Question],
        *,
        wants_bits: bool = True,
        is_conservative: bool = False,
    ) -> list[dict[int, float]]:
        asked = [(sorted(candidates - given), [*self._fixed, *sorted(given)]) for candidates, given in questions]
        ask = self._asks.write(loops.EVIDENCE, asked, wants_bits=wants_bits)
        self._run(target, ask)
        if len(asked) == 1:
            candidates = asked[0][0]
            bits = ask.bits[: len(candidates)].tolist()
            return [{x: own for x, own in zip(candidates, bits) if own}]
        answers = iter(ask.bits[: sum(len(candidates) for candidates, _ in asked)].tolist())
        return [{x: own for x, own in zip(candidates, answers) if own} for candidates, _ in asked]

    def first_witness(
        self, target: int, queries: Sequence[Query], pool: Variables, max_separator: int
    ) -> Witness | None:
        asked = [(query.candidates, [*self._fixed, *sorted(query.group)]) for query in queries]
        ask = self._asks.write(
            loops.FIRST_WITNESS, asked, [query.n_allies for query in queries], pool=sorted(pool),
            max_size=max_separator,
        )  # fmt: skip
        self._run(target, ask)
        query, column, size, *witness = ask.found[: 3 + self._shared.codes.shape[0]].tolist()
        if query < 0:
            return None
        return Witness(query, column, frozenset(witness[len(self._fixed) : size]))

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
        candidates, n, n_fixed = list(bits), len(bits), len(self._fixed)
        held = [*self._fixed, *sorted(core)]
        if isinstance(pool, Mapping):
            asked = [([x], sorted(pool[x] - core)) for x in candidates]
        else:
            shared = sorted(pool - core)
            asked = [([x], shared) for x in candidates] if is_in_turn else [(candidates, shared)]
        ask = self._asks.write(
            loops.WEAKEST, asked, core=held, min_size=min_size, max_size=max_size,
            wants_bits=wants_bits, is_in_turn=is_in_turn,
        )  # fmt: skip
        ask.bits[:n] = array("d", bits.values())
        ask.found[:n] = loops.NOT_SEPARATED
        self._run(target, ask)
        done = int(ask.place[loops.QUERY]) if is_in_turn else n
        kept: dict[int, float] = {}
        separated: dict[int, Variables] = {}
        found, least = ask.found[:done].tolist(), ask.bits[:done].tolist()
        for place, (x, size, own) in enumerate(zip(candidates, found, least)):
            if size == loops.NOT_SEPARATED:
                kept[x] = own
            else:
                separated[x] = frozenset(ask.separators[place, n_fixed:size].tolist())
        return kept, separated

    def weigh(
        self, target: int, tests: Tests, *, is_conservative: bool = False
    ) -> npt.NDArray[np.float64]:
        """As :meth:`evidence`, of tests in arrays."""
        fixed = np.tile(np.array(self._fixed, dtype=np.int64), (len(tests.sets), 1))
        tests = tests._replace(sets=np.hstack((fixed, tests.sets)))
        ask = self._asks.write_tests(tests)
        self._run(target, ask)
        return ask.bits[: len(tests.candidates)].copy()

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
            return find_strong(self, target, asked, least_bits, **how)
        sweep, work = self._sweep(target, asked, least_bits), self._shared.fields["work"]
        bits, n_tests = self._pack(target, sweep.screened), work[TESTS]
        how |= {"journal": self.journal, "key": str(target)}
        found = sweep.run(partial(self.weigh, target), bits, least_bits, **how)
        work[TESTS] = n_tests + sweep.n_tests
        work[TABLES] += sweep.n_counted
        return found

    def _sweep(self, target: int, asked: AllSets, least_bits: float) -> Sweep:
        """Plan a sweep."""
        shared, n_y, most = self._shared, int(self._shared.levels[target]), math.inf
        if asked.min_rows_per_cell:
            most = shared.n_rows / (asked.min_rows_per_cell * n_y * self.n_strata)
        need = least_gain(self._rule, n_y, shared.scale, least_bits, shared.n_rows)
        has_bitmaps = self._state(target).first_bitmap >= 0
        if self._fixed:  # covariates are columns in front of every given set
            need = None
        return Sweep(asked, shared.levels, shared.n_rows, most, has_bitmaps, need)

    def _pack(self, target: int, columns: Int64Array) -> Bits:
        """Return the bitmaps of a target, with those of some columns."""
        self._run(target, self._asks.write(loops.PACK, [(columns.tolist(), [])]))
        s = self._state(target)
        return Bits(
            s.bitmaps, s.level_counts, s.words, s.first_bitmap, s.levels,
            entropies(s.n_rows, s.scale), len(s.order), bool(s.is_incomplete[columns].any()),
        )  # fmt: skip

    def outcomes(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError


class Asks:
    """Memory for what is asked and answered, kept from question to question."""

    def __init__(self, n_columns: int) -> None:
        self._room = n_columns + 4
        self._ask = self._make(1024, 256, 8)

    def _make(self, n_words: int, n_items: int, width: int) -> Any:
        return Record(
            words=np.zeros(n_words, np.int64),
            place=np.zeros(loops.CHOSEN + self._room, np.int64),
            bits=np.zeros(n_items),
            found=np.zeros(max(n_items, self._room), np.int64),
            separators=np.zeros((n_items, width), np.int32),
        )

    def write(
        self,
        loop: int,
        queries: Sequence[tuple[Sequence[int], Sequence[int]]],
        n_allies: Sequence[int] | None = None,
        *,
        pool: Sequence[int] = (),
        core: Sequence[int] = (),
        min_size: int = 0,
        max_size: int = 0,
        wants_bits: bool = False,
        is_in_turn: bool = False,
    ) -> Any:
        """Write down queries: candidates and columns, the same sequence once."""
        first = loops.N_HEADER
        end_of_pool = first + len(pool)
        end_of_core = end_of_pool + len(core)
        words = [
            loop, 0, len(queries), 0, first, end_of_pool, end_of_pool, end_of_core, min_size,
            max_size, wants_bits, is_in_turn, *pool, *core,
        ]  # fmt: skip
        rows: list[int] = []
        known: Sequence[int] | None = None
        start = end = n_items = widest = 0
        for place, (candidates, columns) in enumerate(queries):
            if candidates is not known:
                start, known = len(words), candidates
                words += candidates
                end = len(words)
            n_items += end - start
            first = len(words)
            words += columns
            widest = max(widest, len(columns))
            rows += (start, end, first, len(words), n_allies[place] if n_allies else 0)
        words[loops.FIRST_QUERY] = len(words)
        words += rows
        width = len(core) + max(min_size, min(max_size, widest)) if loop == loops.WEAKEST else 0
        n_items = 0 if loop == loops.FIRST_WITNESS else n_items
        ask = self._ask
        if (
            len(words) > ask.words.size
            or n_items > ask.bits.size
            or width > ask.separators.shape[1]
        ):
            self._ask = ask = self._make(
                max(ask.words.size, 2 * len(words)),
                max(ask.bits.size, 2 * n_items),
                max(ask.separators.shape[1], 2 * width),
            )
        ask.words[: len(words)] = array("q", words)
        return ask

    def write_tests(self, tests: Tests) -> Any:
        """Write down tests of candidates given sets of one size."""
        n_sets, size = tests.sets.shape
        n_candidates, n_columns = len(tests.candidates), tests.sets.size
        starts = loops.N_HEADER + tests.starts
        firsts = loops.N_HEADER + n_candidates + size * np.arange(n_sets + 1)
        queries = np.column_stack((starts[:-1], starts[1:], firsts[:-1], firsts[1:], firsts[1:]))
        n_words = loops.N_HEADER + n_candidates + n_columns + queries.size
        ask = self._ask
        if n_words > ask.words.size or n_candidates > ask.bits.size:
            self._ask = ask = self._make(
                max(ask.words.size, n_words), max(ask.bits.size, n_candidates), ask.separators.shape[1]
            )
        header = np.zeros(loops.N_HEADER, np.int64)
        header[[loops.LOOP, loops.N_QUERIES, loops.WANTS_BITS]] = loops.EVIDENCE, n_sets, True
        header[loops.FIRST_QUERY] = loops.N_HEADER + n_candidates + n_columns
        parts = header, tests.candidates, tests.sets.ravel(), queries.ravel()
        np.concatenate(parts, out=ask.words[:n_words])
        return ask
