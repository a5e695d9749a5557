"""An engine that answers from a table whose rows are counted in blocks of columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from komb.data.levels import CodeArray
from komb.data.memory_limit import check_limit, refuse_beyond
from komb.data.stored.format import BYTES_PER_ROW, CodesOnDisk
from komb.data.table import DiscreteTable
from komb.engine.asks import Asks
from komb.engine.block_rows import BlockRows, bind_block
from komb.engine.blocks import Blocks, ThreadCounter
from komb.engine.buffers import Buffers
from komb.engine.cluster import ClusterCounter
from komb.engine.fixed_point import FloatArray, Int64Array
from komb.engine.kernels import loops
from komb.engine.kernels.judge import BITS
from komb.engine.kernels.places import FIRST_NOTED, MOST_NOTED, N_NOTED, N_SUMS, N_VERDICT
from komb.engine.questions import EMPTY, Dependence, Question, Variables
from komb.engine.rule import Rule
from komb.engine.screens import Tests
from komb.engine.state import (
    MOST_BLOCK_CELLS,
    MOST_WORDS_NOTED,
    Elsewhere,
    Shared,
    memory_of,
    with_room,
)
from komb.engine.table import TableEngine

FIRST_WORDS = 1 << 10
"""Of the tests that are noted before the first of them are counted; then twice as many each time:
more make better use of a pass over the rows, and more of them may turn out to be needless."""

Test = tuple[int, tuple[int, ...]]
"""A candidate, and the given set as it is asked."""


class BlockEngine(TableEngine):
    """Answers from counts of blocks: of a long table, a file, or rows on a cluster."""

    def __init__(
        self,
        table: DiscreteTable,
        rule: Rule,
        fixed: Variables = EMPTY,
        blocks: Blocks | None = None,
    ) -> None:
        elsewhere = Elsewhere(table.n_rows, table.missing_counts > 0)
        # of a table in memory, sweeps make bitmaps
        codes = table.codes if table.is_in_memory else np.empty((table.n_columns, 0), table.dtype)
        shared = Shared(codes, table.cardinalities, np.empty(0, np.int32), elsewhere)
        super().__init__(codes, shared.levels, rule, fixed=fixed, buffers=Buffers(shared))
        self._table, self._blocks = table, blocks or _blocks_of(table)
        self._rows, self._block_asks = BlockRows(shared), Asks(table.n_columns)

    @classmethod
    def open(cls, table: DiscreteTable, rule: Rule, fixed: Variables = EMPTY) -> BlockEngine:
        """Open an engine on a table."""
        return cls(table, rule, fixed)

    @property
    def codes(self) -> CodeArray:
        """Codes [column, row]; refused where they are not here: what takes rows takes them all."""
        if not self._table.is_in_memory:
            needed = self._table.nbytes + BYTES_PER_ROW * self._table.n_rows
            what = (
                "A test that works on rows, not on counts, needs the whole table in memory, which"
            )
            refuse_beyond(needed, min(check_limit(), needed - 1), what)
        return self._table.codes

    def _run(self, target: int, ask: Any) -> None:
        """Go on with a loop to its end; it begins with few tests that are noted."""
        self._state(target).noted[MOST_NOTED] = FIRST_WORDS
        super()._run(target, ask)

    def _resume(self, state: Any, ask: Any) -> Any:
        """Have tests counted that were noted."""
        tests = list(dict.fromkeys(_read_noted(state.noted)))
        if tests:
            wants = max(int(ask.words[loops.WANTS]), BITS)
            for _ in self._ask_blocks(state.target, loops.EVIDENCE, tests, wants):
                pass
            state = self._state(state.target)
            state.noted[MOST_NOTED] = min(2 * int(state.noted[MOST_NOTED]), MOST_WORDS_NOTED)
        return with_room(state)

    def _ask_blocks(
        self, target: int, loop: int, tests: Sequence[Test], wants: int
    ) -> Iterator[tuple[list[int], Any]]:
        """Have blocks counted and tests made on them; yields places of tests, and the answers."""
        sets = [tuple(sorted((*given, x, target))) for x, given in tests]
        for places, counts in self._blocks.count(sets):
            places.sort(key=lambda place: tests[place][1])
            is_small = counts.is_dense and len(counts.counts) <= MOST_BLOCK_CELLS
            number = {x: x if is_small else place for place, x in enumerate(counts.columns)}
            queries = [
                ([number[tests[place][0]] for place in own], [number[z] for z in given])
                for given, own in groupby(places, key=lambda place: tests[place][1])
            ]
            answers = self._block_asks.write(loop, queries, wants=wants)
            bind = bind_block if is_small else self._rows.bind
            bound = bind(self._state(target), counts)
            while loops.ask(answers, bound) != loops.DONE:
                self._states[target] = state = with_room(self._state(target))
                bound = bound.replaced(**memory_of(state))
            yield places, answers

    def _weigh(
        self, target: int, loop: int, questions: Sequence[Question], wants: int
    ) -> list[dict[int, float]]:
        """Bits of the candidates of each question that are dependent."""
        if loop != loops.STRONG:
            return super()._weigh(target, loop, questions, wants)
        asked = [(sorted(some - given), given) for some, given in questions]
        tests = [(x, self._given(given)) for some, given in asked for x in some]
        bits = np.zeros(len(tests))
        for places, answers in self._ask_blocks(target, loop, tests, wants):
            bits[places] = answers.bits[: len(places)]
        answer = iter(bits.tolist())
        return [{x: own for x, own in zip(some, answer, strict=False) if own} for some, _ in asked]

    def _weigh_tests(
        self, target: int, tests: Tests, fixed: Sequence[int], wants: int
    ) -> FloatArray:
        """Bits of strong dependences, with some columns in the condition of each test."""
        sets, bits = tests.sets.tolist(), np.zeros(len(tests.candidates))
        set_of = np.repeat(np.arange(len(sets)), np.diff(tests.starts)).tolist()
        asked = zip(tests.candidates.tolist(), set_of, strict=True)
        listed = [(x, (*fixed, *sets[number])) for x, number in asked]
        for places, answers in self._ask_blocks(target, loops.STRONG, listed, wants):
            bits[places] = answers.bits[: len(places)]
        return bits

    def _given(self, given: Variables, fixed: Sequence[int] | None = None) -> tuple[int, ...]:
        return (*(self._fixed if fixed is None else fixed), *sorted(given))

    def _examine(
        self, target: int, tests: Sequence[Dependence], wants: int, fixed: Sequence[int]
    ) -> tuple[Int64Array, FloatArray]:
        """Return sums and verdicts of some tests."""
        sums, verdicts = np.zeros((len(tests), N_SUMS), np.int64), np.zeros((len(tests), N_VERDICT))
        asked = [(x, self._given(given, fixed)) for x, given in tests]
        for places, answers in self._ask_blocks(target, loops.EXAMINE, asked, wants):
            sums[places] = answers.sums[: len(places)]
            verdicts[places] = answers.verdicts[: len(places)]
        return sums, verdicts

    def _with_rule(self, rule: Rule) -> TableEngine:
        if rule not in self._others:
            fixed = frozenset(self._fixed)
            self._others[rule] = BlockEngine(self._table, rule, fixed, self._blocks)
        return self._others[rule]

    def determines(self, given: Variables, variable: int, min_rows: float) -> bool:
        """Whether each combination of values goes with one value of another column."""
        columns = tuple(sorted({*self._fixed, *given, variable}))
        [(_, block)] = self._blocks.count([columns])
        counts = block.margin(columns)
        codes, levels = counts.codes(), self._shared.levels[list(columns)]
        is_there = (counts.counts > 0) & (codes < levels[:, None]).all(axis=0)
        codes, n_rows = codes[:, is_there], int(counts.counts[is_there].sum())
        others = [place for place, column in enumerate(columns) if column != variable]
        n_combinations = len(np.unique(codes[others], axis=1).T) if n_rows else 0
        return n_combinations * min_rows <= n_rows and codes.shape[1] == n_combinations


def _blocks_of(table: DiscreteTable) -> Blocks:
    """Choose who counts blocks: threads here, or a cluster for rows that are not here."""
    limit = table.parts.memory_limit if isinstance(table.parts, CodesOnDisk) else None
    if table.is_in_memory or table.cluster is None:
        return Blocks(ThreadCounter(table), limit)
    return Blocks(ClusterCounter(table), limit)


def _read_noted(noted: Any) -> Iterable[Test]:
    words = noted[FIRST_NOTED : FIRST_NOTED + noted[N_NOTED]].tolist()
    start = 0
    while start < len(words):
        size, column = words[start : start + 2]
        yield column, tuple(words[start + 2 : start + 2 + size])
        start += size + 2
