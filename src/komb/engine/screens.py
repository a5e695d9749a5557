"""Screens: which tests of all sets of one size may be as strong as they have to be.

What the kernel in :mod:`komb.engine.kernels.screens` needs, and buffers for as many threads as use
it. A *union* is a given set with one larger column; it stands for a test of each of its elements.
Columns are numbered in an order of the screen's own: those of equally many levels stand side by
side, for they are counted side by side, and candidates come last.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from komb.engine.fixed_point import Int64Array
from komb.engine.threads import map_in_order

BoolArray = npt.NDArray[np.bool_]

SETS_PER_TILE = 128
"""Given sets that are compared with one block of columns; their bitmaps stay in the cache."""

TILE_BYTES = 8 << 20
"""Of the bitmaps of these sets, and of their tables, at most."""

UNIONS_PER_PART, ROWS_PER_PART = 1 << 17, 1 << 28
"""At most some tenths of a second of work: between parts progress is reported, interrupts heard."""

NEVER = 1 << 61
"""A fit that nothing reaches."""


class Bits(NamedTuple):
    """The bitmaps of a table, rows in order of the target."""

    bitmaps: npt.NDArray[np.uint64]  # [bitmap, word]; the last one has all rows
    level_counts: npt.NDArray[np.int32]  # [bitmap, y]
    words: Int64Array  # [y]: first word of each level of the target, and their end
    first_bitmap: Int64Array  # [column]; -1 without any
    levels: Int64Array  # [column]
    entropy: Int64Array  # [n]: n log2 n in fixed point
    n_rows: int
    has_missing: bool


class Need(NamedTuple):
    """What a test must gain in fit, in fixed point, to be as strong as it has to be."""

    gain: Int64Array  # [(levels of the candidate - 1) * strata], up to ``most_combinations``
    sparse_gain: int  # where there are fewer rows per cell than these
    rows_per_cell: float


class Part(NamedTuple):
    """Some given sets, and the columns that they are united with if those are larger."""

    first_set: int
    end_set: int
    first_column: int
    end_column: int


class Tests(NamedTuple):
    """Tests given sets of one size, those given the i-th from ``starts[i]`` on."""

    candidates: Int64Array
    sets: Int64Array  # [given set, element], ascending
    starts: Int64Array

    @classmethod
    def of(cls, candidates: Int64Array, given: Int64Array) -> Tests:
        """Group tests by what each is given."""
        order = np.lexsort((candidates, *given.T[::-1]))
        candidates, given = candidates[order], given[order]
        is_new = np.ones(len(given), dtype=np.bool_)
        is_new[1:] = (given[1:] != given[:-1]).any(axis=1)
        starts = np.append(np.flatnonzero(is_new), len(given))
        return cls(candidates, given[is_new], starts)

    @property
    def given(self) -> Int64Array:
        """What each test is given."""
        return np.repeat(self.sets, np.diff(self.starts), axis=0)


class Listed(NamedTuple):
    """The tests of a part that may be as strong as they have to be."""

    n_unions: int  # of the part
    n_counted: int
    candidates: Int64Array
    given: Int64Array  # [test, element], ascending


class Screen:
    """Goes through the unions of given sets of one size; other processes can have copies of it."""

    def __init__(
        self,
        bits: Bits,
        columns: Int64Array,
        need_of: Int64Array,
        size: int,
        most: int,
        **needs: Any,
    ) -> None:
        self.columns, self.size = columns, size
        levels = bits.levels[columns]
        largest = math.prod(np.sort(levels)[::-1][:size].tolist())
        most_strata = most // max(1, int(levels.min()))
        self._most_strata, self._most_levels = min(largest, most_strata), int(levels.max())
        none: dict[str, Any] = {
            "own_fit": np.empty(0, np.int64),
            "own_strata": np.empty(0, np.int64),
            "needed_fit": np.empty((0, 0), np.int64),
            "needed_gain": np.empty((0, 0), np.int64),
            "sparse_gain": np.empty(0, np.int64),
            "rows_per_cell": 0.0,
        }
        self._fields = (
            none
            | needs
            | {
                "bitmaps": bits.bitmaps,
                "level_counts": bits.level_counts,
                "words": bits.words,
                "first_bitmap": bits.first_bitmap[columns],
                "levels": levels,
                "need_of": need_of,
                "sets": colex_subsets(len(columns), size),
                "binomials": binomials(len(columns), size + 1),
                "entropy": bits.entropy,
                "has_missing": bits.has_missing,
                "is_first": "own_fit" in needs,
                "most_combinations": most,
                "most_strata": most_strata,
            }
        )
        self._room = max(1, min(UNIONS_PER_PART, ROWS_PER_PART // bits.n_rows))
        self._record: Any = None
        self._blocks: deque[Any] = deque()  # buffers that no thread is using

    @property
    def n_bytes(self) -> int:
        """Bytes of what it reads."""
        arrays = [each for each in self._fields.values() if isinstance(each, np.ndarray)]
        return sum(array.nbytes for array in arrays)

    def __getstate__(self) -> dict[str, Any]:
        """Return what another process needs: it makes buffers of its own."""
        return self.__dict__ | {"_record": None, "_blocks": deque()}

    def cut(self) -> Iterator[Part]:
        """Cut all unions into parts.

        Given sets are compared with blocks of columns best if they are many. So where a few of them
        fill a part, as they do in a very wide table, the columns are cut too.
        """
        from komb.engine.kernels.lanes import LANES

        sets, n_columns, room = self._fields["sets"], len(self.columns), self._room
        begin = sets[:, -1].astype(np.int64) + 1 if self.size else np.zeros(1, np.int64)
        ends = np.cumsum(n_columns - begin)
        first = 0
        while first < len(sets):
            done = int(ends[first - 1]) if first else 0
            fitting = int(np.searchsorted(ends, done + room, side="right"))
            last = min(max(fitting, first + SETS_PER_TILE), len(sets))
            start, width = int(begin[first]) // LANES * LANES, n_columns
            if last > fitting:
                width = max(1, room // ((last - first) * LANES)) * LANES
            for column in range(start, n_columns, width):
                yield Part(first, last, column, min(column + width, n_columns))
            first = last

    def count(self, part: Part) -> int:
        """How many unions a part has."""
        sets = self._fields["sets"][part.first_set : part.end_set]
        begin = np.maximum(sets[:, -1] + 1 if self.size else 0, part.first_column)
        return int(np.maximum(part.end_column - begin, 0).sum())

    def run(self, part: Part) -> Listed:
        """List the tests of a part that may be strong; threads may do so at the same time."""
        from komb.engine.kernels import screens

        if self._record is None:
            self._record = screens.Screen(**self._fields)
        try:
            block = self._blocks.pop()
        except IndexError:
            block = self._make_block()
        n_unions = self.count(part)
        listed = np.empty((n_unions * (self.size + 1), 3), np.int32)
        screens.list_tests(self._record, block, np.array(part), listed)
        n_counted, n_listed = block.found.tolist()
        self._blocks.append(block)
        index, x, omitted = listed[:n_listed].T
        unions = self.columns[np.column_stack((self._fields["sets"][index], x))]
        is_candidate = np.arange(self.size + 1) == omitted[:, None]
        given = np.sort(unions[~is_candidate].reshape(n_listed, self.size), axis=1)
        return Listed(n_unions, n_counted, unions[is_candidate], given)

    def _make_block(self) -> Any:
        from komb.engine.kernels import screens
        from komb.engine.kernels.lanes import LANES

        n_words = self._fields["bitmaps"].shape[1]
        words_at_once, n_y = min(n_words, screens.WORDS_AT_ONCE), len(self._fields["words"]) - 1
        n_strata, n_levels, elements = self._most_strata + 1, self._most_levels, self.size + 1
        table_size = (n_y + 1) * n_strata * n_levels * LANES
        n_sets = TILE_BYTES // max(8 * n_strata * n_words, 4 * table_size)
        n_sets = max(1, min(SETS_PER_TILE, n_sets))
        return screens.Block(
            n_sets=n_sets,
            strata=np.empty(n_sets * n_strata * n_words, np.uint64),
            codes=np.empty((n_sets, n_strata), np.int32),
            by_y=np.empty(n_sets * n_strata * n_y * LANES, np.int32),
            n_strata=np.empty(n_sets, np.int64),
            combinations=np.empty(n_sets, np.int64),
            is_asked=np.empty(n_sets, np.bool_),
            begin=np.empty(n_sets, np.int64),
            bases=np.empty((n_sets, elements), np.int64),
            lanes=np.empty(n_levels * words_at_once * LANES, np.uint64),
            lane_counts=np.empty(n_levels * n_y * LANES, np.int32),
            tables=np.empty((n_sets if n_words > words_at_once else 1) * table_size, np.int32),
            margin=np.empty(table_size if self._fields["has_missing"] else 0, np.int32),
            fits=np.empty((elements + 1) * LANES, np.int64),
            n_groups=np.empty((elements, LANES), np.int64),
            rows=np.empty(LANES, np.int64),
            found=np.zeros(2, np.int64),
        )


def make_screen(
    bits: Bits, columns: Int64Array, is_asked: BoolArray, size: int, need: Need, threads: int
) -> Screen:
    """Prepare a screen of tests of some of the columns given sets of the others."""
    most = len(need.gain) - 1
    order = np.lexsort((bits.levels[columns], is_asked))
    columns, is_asked = columns[order], is_asked[order]
    levels = bits.levels[columns]
    widths = np.concatenate(([0], np.unique(levels[is_asked])))  # the first for the others
    need_of = np.where(is_asked, np.searchsorted(widths, levels), 0)

    def needed(strata: Int64Array, n_rows: float) -> Int64Array:
        width = widths[:, None]
        is_sparse = n_rows < need.rows_per_cell * (width * strata * (len(bits.words) - 1))
        gain = need.gain[np.clip((width - 1) * strata, 0, most)]
        return np.where(width > 0, np.where(is_sparse, need.sparse_gain, gain), NEVER)

    if bits.has_missing:
        needs = {
            "needed_gain": needed(np.arange(most + 1), math.inf),
            "sparse_gain": needed(np.ones(1, np.int64), -1.0)[:, 0],
            "rows_per_cell": need.rows_per_cell,
        }
    else:
        fit, strata = sum_sets(bits, columns, size, most, threads)
        needs = {"needed_fit": fit + needed(strata, bits.n_rows)}
    return Screen(bits, columns, need_of, size, most, **needs)


def sum_sets(
    bits: Bits, columns: Int64Array, size: int, most: int, threads: int
) -> tuple[Int64Array, Int64Array]:
    """Fit and strata of all sets of a size, by rank; of those with few enough combinations."""
    fit, strata = np.zeros((2, math.comb(len(columns), size)), np.int64)
    everything = np.ones(len(columns), np.int64)
    first = Screen(bits, columns, everything, size - 1, most, own_fit=fit, own_strata=strata)
    for _ in map_in_order(first.run, first.cut(), threads):
        pass
    return fit, strata


def binomials(n: int, size: int) -> Int64Array:
    """``table[k, c] = C(c, k)``, for ``k`` up to ``size`` and ``c`` up to ``n``."""
    return np.array([[math.comb(c, k) for c in range(n + 1)] for k in range(size + 1)], np.int64)


def colex_subsets(n: int, size: int) -> npt.NDArray[np.int32]:
    """All subsets of ``range(n)``, ascending, in order of their largest elements: of their rank.

    ``rank({c1 < c2 < ...}) = C(c1, 1) + C(c2, 2) + ...``
    """
    if size == 0:
        return np.empty((1, 0), np.int32)
    smaller = colex_subsets(n, size - 1)
    # the subsets of range(c) come first among the smaller ones: a prefix of known length
    counts = [math.comb(c, size - 1) for c in range(n)]
    rows = np.concatenate([np.arange(count) for count in counts])
    return np.column_stack((smaller[rows], np.repeat(np.arange(n, dtype=np.int32), counts)))
