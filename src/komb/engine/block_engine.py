"""An engine that answers from a table whose rows are counted in blocks of columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from komb.data.stored.format import CodesOnDisk
from komb.data.table import DiscreteTable
from komb.engine.asks import Asks
from komb.engine.block_rows import BlockRows
from komb.engine.blocks import BlockCounter, Blocks, ThreadCounter
from komb.engine.buffers import Buffers
from komb.engine.cluster import ClusterCounter
from komb.engine.kernels import loops
from komb.engine.kernels.judge import BITS
from komb.engine.kernels.places import FIRST_NOTED, MOST_NOTED, N_NOTED
from komb.engine.questions import EMPTY, Variables
from komb.engine.rule import Rule
from komb.engine.state import MOST_WORDS_NOTED, Elsewhere, Shared, memory_of, with_room
from komb.engine.table import TableEngine

FIRST_WORDS = 1 << 10
"""Of the tests that are noted before the first of them are counted; then twice as many each time:
more make better use of a pass over the rows, and more of them may turn out to be needless."""

Test = tuple[int, tuple[int, ...]]
"""A candidate, and the given set as it is asked."""


class BlockEngine(TableEngine):
    """Answers from counts of blocks: of a long table, a file, or rows on a cluster."""

    def __init__(self, table: DiscreteTable, rule: Rule, fixed: Variables = EMPTY) -> None:
        elsewhere = Elsewhere(table.n_rows, table.missing_counts > 0)
        none = np.empty((table.n_columns, 0), table.dtype)
        shared = Shared(none, table.cardinalities, np.empty(0, np.int32), elsewhere)
        super().__init__(none, shared.levels, rule, fixed=fixed, buffers=Buffers(shared))
        counter: BlockCounter
        counter = ThreadCounter(table) if table.is_in_memory else _counter_of(table)
        limit = table.parts.memory_limit if isinstance(table.parts, CodesOnDisk) else None
        self._blocks, self._rows = Blocks(counter, limit), BlockRows(shared)
        self._block_asks = Asks(table.n_columns)

    def _run(self, target: int, ask: Any) -> None:
        """Go on with a loop to its end; it begins with few tests that are noted."""
        self._state(target).noted[MOST_NOTED] = FIRST_WORDS
        super()._run(target, ask)

    def _resume(self, state: Any, ask: Any) -> Any:
        """Have tests counted that were noted."""
        state = with_room(state)
        tests = dict.fromkeys(_read_noted(state.noted))
        if tests:
            state = self._decide(state, list(tests), max(int(ask.words[loops.WANTS]), BITS))
            state.noted[MOST_NOTED] = min(2 * int(state.noted[MOST_NOTED]), MOST_WORDS_NOTED)
        return state

    def _decide(self, state: Any, tests: Sequence[Test], wants: int) -> Any:
        """Have the evidence of some tests remembered; returns the state with room for it."""
        for bound, queries, _ in self._bound(state, tests):
            ask = self._block_asks.write(loops.EVIDENCE, queries, wants=wants)
            bound = bound.replaced(**memory_of(state))
            while loops.ask(ask, bound) != loops.DONE:
                state = with_room(state)
                bound = bound.replaced(**memory_of(state))
        return with_room(state)

    def _bound(
        self, state: Any, tests: Sequence[Test]
    ) -> Iterator[tuple[Any, list[tuple[list[int], list[int]]], list[int]]]:
        """Count blocks for tests; yields states, queries of columns of the block, and places."""
        sets = [tuple(sorted((*given, x, state.target))) for x, given in tests]
        for places, counts in self._blocks.count(sets):
            number = {column: place for place, column in enumerate(counts.columns)}
            queries: dict[tuple[int, ...], tuple[list[int], list[int]]] = {}
            order: dict[tuple[int, ...], list[int]] = {}
            for place in sorted(places):
                x, given = tests[place]
                own = queries.setdefault(given, ([], [number[column] for column in given]))
                own[0].append(number[x])
                order.setdefault(given, []).append(place)
            listed = [place for own in order.values() for place in own]
            yield self._rows.bind(state, counts), list(queries.values()), listed


def _counter_of(table: DiscreteTable) -> BlockCounter:
    return ThreadCounter(table) if table.cluster is None else ClusterCounter(table)


def _read_noted(noted: Any) -> Iterable[Test]:
    words = noted[FIRST_NOTED : FIRST_NOTED + noted[N_NOTED]].tolist()
    start = 0
    while start < len(words):
        size, column = words[start : start + 2]
        yield column, tuple(words[start + 2 : start + 2 + size])
        start += size + 2
