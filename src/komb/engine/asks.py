"""Questions as kernels want them: numbers in a row, in memory that is kept from one to the next.

To make arrays for a short question takes longer than to answer it.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np

from komb.engine.kernels import loops
from komb.engine.kernels.judge import DECISION
from komb.engine.kernels.places import N_SUMS, N_VERDICT
from komb.engine.records import Record
from komb.engine.screens import Tests


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
            sums=np.zeros((n_items, N_SUMS), np.int64),
            verdicts=np.zeros((n_items, N_VERDICT)),
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
        wants: int = DECISION,
        is_in_turn: bool = False,
    ) -> Any:
        """Write down queries: candidates and columns, the same sequence once."""
        first = loops.N_HEADER
        end_of_pool = first + len(pool)
        end_of_core = end_of_pool + len(core)
        words = [
            loop, 0, len(queries), 0, first, end_of_pool, end_of_pool, end_of_core, min_size,
            max_size, wants, is_in_turn, *pool, *core,
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

    def write_tests(self, loop: int, tests: Tests, fixed: Sequence[int], wants: int) -> Any:
        """Write down tests given sets of one size, and fixed columns before each."""
        n_sets, n_candidates = len(tests.sets), len(tests.candidates)
        given = np.hstack((np.tile(np.array(fixed, np.int64), (n_sets, 1)), tests.sets))
        starts = loops.N_HEADER + tests.starts
        firsts = loops.N_HEADER + n_candidates + given.shape[1] * np.arange(n_sets + 1)
        queries = np.column_stack((starts[:-1], starts[1:], firsts[:-1], firsts[1:], firsts[1:]))
        header = np.zeros(loops.N_HEADER, np.int64)
        header[[loops.LOOP, loops.N_QUERIES, loops.WANTS]] = loop, n_sets, wants
        header[loops.FIRST_QUERY] = firsts[-1]
        words = np.concatenate((header, tests.candidates, given.ravel(), queries.ravel()))
        ask = self._ask
        if len(words) > ask.words.size or n_candidates > ask.bits.size:
            n_words, n_items = max(ask.words.size, len(words)), max(ask.bits.size, n_candidates)
            self._ask = ask = self._make(n_words, n_items, ask.separators.shape[1])
        ask.words[: len(words)] = words
        return ask
