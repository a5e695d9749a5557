"""All that kernels need of one target, in one record; what targets have in common is made once.

Between two searches on one table everything is kept that holds no answer: tables of logarithms,
columns in the order of their targets, buffers.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from komb.engine import fixed_point
from komb.engine.fixed_point import Int64Array, largest_scale, scale_for
from komb.engine.kernels.g_moments import remember_cells
from komb.engine.kernels.judge import bounds_for
from komb.engine.kernels.memo import N_ROLES, move
from komb.engine.kernels.places import (
    FIRST_NOTED,
    MOST_NOTED,
    N_COUNTED,
    N_SUMS,
    N_VERDICT,
    N_WORK,
    RECENT,
)
from komb.engine.kernels.tails import tail_functions
from komb.engine.records import Record
from komb.engine.rule import Rule
from komb.errors import DataError

Codes = npt.NDArray[np.uint8 | np.uint16]

MOST_ROWS = (1 << 31) - 2  # counts have 32 bits
MOST_BITMAP_LEVELS = 16  # of a column with bitmaps
MOST_BITMAP_STRATA = 256  # of a given set and its leading columns, in bitmaps
MOST_BITMAP_WORK = 128  # strata times levels up to which bitmaps are quicker than rows
WORDS_AT_ONCE = 4  # bitmaps of a level of the target are as long as whole registers
BITMAP_BYTES, STRATA_BYTES = 16 << 20, 8 << 20
DEPTH = 8  # columns of a given set whose partial labels are kept
CELLS_PER_ROW, FEWEST_CELLS = 2, 1 << 10  # of a dense table, at most
FIRST_PLACES = 1 << 10  # of a hash table
MOST_BYTES = 128 << 20  # of a hash table: a larger one is emptied
MOST_BLOCK_CELLS = 1 << 20  # of a block whose cells are gone through, not its rows
MOST_WORDS_NOTED = 1 << 15  # of tests whose rows are elsewhere
_CRITICAL_VALUES = 1 << 14


class Elsewhere(NamedTuple):
    """What is known of rows that are counted elsewhere."""

    n_rows: int
    is_incomplete: npt.NDArray[np.bool_]  # columns that have missing values


class Shared:
    """What the targets of one table have in common.

    Parameters
    ----------
    codes : array of shape (n_columns, n_rows)
        Each column coded 0 .. levels - 1, and levels where a value is missing.
    levels : int array
    weight : int array
        How many rows each row stands for; empty if each counts once.
    elsewhere : Elsewhere, optional
        What is known of rows that are not in ``codes``, which has none then.
    """

    def __init__(
        self,
        codes: Codes,
        levels: Int64Array,
        weight: npt.NDArray[np.int32],
        elsewhere: Elsewhere | None = None,
    ) -> None:
        largest = codes.max(axis=1, initial=0)
        if (largest > levels).any():
            raise DataError(
                "The codes of a column must be smaller than its number of levels, or equal to it "
                "for a missing value. Build the table with DiscreteTable.from_codes or from_data, "
                "which ensure that."
            )
        self.codes, self.levels, self.weight = codes, levels.astype(np.int64), weight
        self.n_rows = int(weight.sum()) if weight.size else codes.shape[1]
        if elsewhere is not None:
            self.n_rows = elsewhere.n_rows
        if max(self.n_rows, codes.shape[1]) > MOST_ROWS:
            raise DataError(
                f"A table may have at most {MOST_ROWS:,} rows; this one has {self.n_rows:,}. "
                "Take a sample of it."
            )
        self.is_incomplete = (largest == levels) & (codes.shape[1] > 0)
        if elsewhere is not None:
            self.is_incomplete = elsewhere.is_incomplete
        self._is_elsewhere = elsewhere is not None
        self.scale = scale_for(self.n_rows)
        self.n_tabled = min(self.n_rows, fixed_point.MOST_ENTROPIES)
        self.class_levels, length_class = np.unique(self.levels, return_inverse=True)
        self.length_class = length_class.astype(np.int64)
        self.fields = self._make_fields()
        self._lengths: Int64Array | None = None
        self._first: dict[Rule, Any] = {}  # state of each rule
        self._cell_moments: Any = None

    @property
    def lengths(self) -> Int64Array:
        """Code lengths [n, length class]."""
        if self._lengths is None:
            self._lengths = fixed_point.lengths(self.class_levels.tolist(), self.n_rows, self.scale)
        return self._lengths

    def _make_fields(self) -> dict[str, Any]:
        """Fields of all states; memory that is never used is never taken."""
        n_columns, n_rows = self.codes.shape
        if self._is_elsewhere:
            n_rows = max(n_rows, MOST_BLOCK_CELLS)
        room, n_classes = n_columns + 4, len(self.class_levels)

        def integers(*shape: int) -> Int64Array:
            return np.zeros(shape, np.int64)

        random = np.random.default_rng(1)
        bits = random.integers(1, 1 << 63, (N_ROLES, max(room, n_classes)), np.uint64)
        noted = integers(FIRST_NOTED + (MOST_WORDS_NOTED + room if self._is_elsewhere else 0))
        noted[MOST_NOTED] = MOST_WORDS_NOTED
        return _fields(
            # the table
            codes=self.codes, levels=self.levels, weight=self.weight, n_rows=self.n_rows,
            is_incomplete=self.is_incomplete, has_missing=bool(self.is_incomplete.any()),
            can_leave_out=not (self.is_incomplete.any() or self.weight.size),
            is_elsewhere=self._is_elsewhere, noted=noted,
            # terms
            entropy=fixed_point.entropies(self.n_tabled, self.scale), scale=self.scale,
            length_class=self.length_class, class_levels=self.class_levels.astype(np.int64),
            # the present given set, and the test that was counted last
            given=integers(room), bits=bits, hash=np.zeros(2, np.uint64), generation=integers(1),
            counted=integers(N_COUNTED), sums=integers(N_SUMS), verdict=np.zeros(N_VERDICT),
            work=integers(N_WORK), splits=integers(n_classes), small=integers(64),
            most_bitmap_work=MOST_BITMAP_WORK,
            # loops
            chosen=integers(room), allies=integers(room), free=integers(room),
            witness=integers(room),
            block=integers(0), block_columns=integers(0), block_shape=integers(0),
            block_steps=integers(room), block_ends=integers(room), block_digits=integers(room),
            **stack_fields(n_columns), **row_fields(n_rows, int(self.levels.max(initial=1))),
        )  # fmt: skip

    def rule_fields(self, rule: Rule) -> dict[str, Any]:
        """Fields of the rule of a test."""
        critical = np.full(_CRITICAL_VALUES, -1.0)
        return _fields(
            alpha=float(rule.alpha), log2_alpha=math.log2(rule.alpha),
            divergence=float(rule.divergence), is_adjusted=rule.is_adjusted,
            has_moments=rule.has_moments, coded_below=float(rule.coded_below),
            is_fallback=rule.is_fallback, reliable_from=float(rule.reliable_from),
            critical=critical, addresses=tail_functions(), bounds=bounds_for(rule.alpha),
            cell_moments=self._remembered_cells(rule),
            lengths=self.lengths if rule.coded_below else np.zeros((1, 1), np.int64),
        )  # fmt: skip

    def _remembered_cells(self, rule: Rule) -> Any:
        """Room for moments of cells, the same for all targets."""
        if not rule.has_moments:
            return remember_cells(0, 1)
        if self._cell_moments is None:
            self._cell_moments = remember_cells(self.n_rows, int(self.levels.max(initial=1)))
        return self._cell_moments

    def target_fields(self, target: int) -> dict[str, Any]:
        """Fields of one target: rows in its order; columns follow when they are needed."""
        self.fields["packed"][0] = -1  # strata on the stack were in other memory
        codes, levels, weight = self.codes, self.levels, self.weight
        (n_columns, n_rows), n_y, y = codes.shape, int(levels[target]), codes[target]
        order = np.argsort(y, kind="stable").astype(np.int32)
        if weight.size:
            order = order[weight[order] > 0]
        counts = np.bincount(y[order], minlength=n_y)[:n_y]
        order = order[: counts.sum()]  # the rest is missing
        blocks = -(-counts // (64 * WORDS_AT_ONCE))
        words = np.concatenate(([0], np.cumsum(WORDS_AT_ONCE * blocks)))
        if words[-1] * 64 > 4 * n_rows + 1024 or weight.size:  # mostly padding
            words[:] = 0
        has_bitmaps = self._columns_to_pack(int(words[-1]) * 8)
        n_bitmaps = np.where(has_bitmaps, levels, 0)
        bitmaps = np.zeros((n_bitmaps.sum() + 1, words[-1]), np.uint64)
        for first, count in zip(words[: n_y if words[-1] else 0], counts, strict=False):
            full, rest = divmod(int(count), 64)  # the last bitmap has all rows
            bitmaps[-1, first : first + full] = ~np.uint64(0)
            if rest:
                bitmaps[-1, first + full] = (1 << rest) - 1
        n_strata = min(MOST_BITMAP_STRATA, STRATA_BYTES // (8 * int(words[-1]) + 64))
        return _fields(
            target=target, n_y=n_y, order=order, rows=np.concatenate(([0], np.cumsum(counts))),
            sorted=np.empty((n_columns, len(order)), codes.dtype),
            sorted_weight=weight[order] if weight.size else weight,
            is_sorted=np.zeros(n_columns, np.bool_), is_packed=np.zeros(n_columns, np.bool_),
            words=words, bitmaps=bitmaps, level_counts=np.zeros((len(bitmaps), n_y), np.int32),
            first_bitmap=np.where(has_bitmaps, np.cumsum(n_bitmaps) - n_bitmaps, -1),
            strata=np.empty((n_strata, words[-1]), np.uint64),
            stratum_rows=np.zeros(n_strata * n_y, np.int32),
            **self._pearson_scales(n_y),
        )  # fmt: skip

    def _columns_to_pack(self, bytes_of_bitmap: int) -> npt.NDArray[np.bool_]:
        """Choose the columns of fewest levels, as long as their bitmaps are affordable."""
        if bytes_of_bitmap == 0:
            return np.zeros(len(self.levels), np.bool_)
        order = np.argsort(self.levels, kind="stable")
        cost = np.cumsum(self.levels[order]) * bytes_of_bitmap
        affordable = np.zeros(len(self.levels), np.bool_)
        affordable[order] = cost <= max(BITMAP_BYTES, self.codes.nbytes // 4 * 3)
        return affordable & (self.levels <= MOST_BITMAP_LEVELS) & (self.levels > 0)

    def _pearson_scales(self, n_y: int) -> dict[str, Any]:
        """Fixed-point units of Pearson's statistic, and of two of its cumulants for each column.

        The statistic is at most rows x (levels of the target - 1). In a stratum with r levels of
        one variable and s of the other the variance is at most 2 (r - 1)(s - 1) for every row, and
        the third cumulant (r - 1)(s - 1) for every pair of rows, up or down.
        """
        n_rows = float(self.n_rows)
        levels = [min(own, n_rows) for own in self.class_levels.tolist()]
        bounds = [n_rows * own * min(n_y, n_rows) for own in levels]
        variance = np.array([largest_scale(2.0 * bound) for bound in bounds])
        third = np.array([largest_scale(n_rows * bound) for bound in bounds])
        return _fields(
            pearson_scale=largest_scale(n_rows * n_y), variance_scales=variance[self.length_class],
            third_scales=third[self.length_class],
        )  # fmt: skip

    def state_of(self, columns: dict[str, Any], rule: Rule) -> Any:
        """Return the state of a target, with nothing remembered; all share one empty memory."""
        if rule not in self._first:
            fields = self.fields | self.rule_fields(rule) | columns
            self._first[rule] = Record(**fields, **empty_memory(len(self.codes)))
            return self._first[rule]
        # quicker than to look at all fields again, most of which are the same
        return self._first[rule].replaced(**columns)


def stack_fields(n_columns: int) -> dict[str, Any]:
    """Fields of the stacks that are kept for the leading columns of the given set."""
    room = n_columns + 4
    return _fields(
        packed=np.full(room, -1, np.int64), first_stratum=np.zeros(room, np.int64),
        grouped=np.full(room, -1, np.int64), n_built=np.zeros(1, np.int64),
        n_asked=np.zeros(room, np.int64),
    )  # fmt: skip


def row_fields(n_rows: int, most_levels: int) -> dict[str, Any]:
    """Fields that are as long as there are rows; memory that is never used is never taken."""
    most_cells, n_lines = max(CELLS_PER_ROW * n_rows, FEWEST_CELLS), DEPTH + 3

    def integers(*shape: int) -> Int64Array:
        return np.zeros(shape, np.int64)

    def short(*shape: int) -> npt.NDArray[np.int32]:
        return np.zeros(shape, np.int32)

    return _fields(
        # dense tables
        table=short(2 * most_cells), by_code=short(most_cells), most_cells=most_cells,
        few_cells=n_rows // 2,
        # grouped rows
        grouped_rows=short(n_lines, n_rows), stratum_of=short(n_lines, n_rows),
        run_of=short(n_lines, n_rows), group_start=short(n_lines, n_rows + 2),
        first_run=short(n_lines, n_rows + 2), n_groups=integers(n_lines),
        n_alone=integers(n_lines), part_place=short(n_rows), part_group=short(n_rows),
        row_codes=short(n_rows), in_run=short(n_rows), in_stratum=short(n_rows),
        cells=short(max(8 * n_rows, 1 << 16, 2 * n_rows + most_levels) + 1),
        # strata
        by_x=integers(most_levels), by_y=integers(most_levels),
        x_place=np.full(most_levels, -1, np.int64), x_cell=integers(most_levels),
        cell_rows=integers(n_rows + 1), cell_x=integers(n_rows + 1), cell_y=integers(n_rows + 1),
    )  # fmt: skip


def _fields(**fields: Any) -> dict[str, Any]:
    """Return fields of a record by their names."""
    return fields


def hash_table(name: str, width: int, n_places: int = FIRST_PLACES) -> dict[str, Any]:
    """Return an empty hash table: keys, values with a line for nobody, and how many are taken."""
    dtype = np.int64 if name == "set" else np.float64
    return {
        f"{name}_keys": np.zeros((n_places, 2), np.uint64),
        f"{name}_values": np.zeros((n_places + 1, width), dtype),
        f"{name}_used": np.zeros(1, np.int64),
    }


def empty_memory(n_columns: int) -> dict[str, Any]:
    """Return room for sums over sets, decisions of tests, and what separated each column lately."""
    recent = np.full((n_columns, RECENT**2), -1, np.int64)
    return hash_table("set", 4) | hash_table("test", 2) | {"recent": recent}


def memory_of(state: Any) -> dict[str, Any]:
    """Return what is remembered of a target."""
    return {name: getattr(state, name) for name in empty_memory(0)}


def with_room(state: Any) -> Any:
    """Return the same with larger hash tables where one is a quarter full."""
    larger: dict[str, Any] = {}
    for name in ("set", "test"):
        parts = [f"{name}_{part}" for part in ("keys", "values", "used")]
        keys, values, used = (getattr(state, part) for part in parts)
        if 4 * used[0] >= len(keys):
            is_largest = 4 * keys.nbytes > MOST_BYTES
            new = hash_table(name, values.shape[1], len(keys) if is_largest else 4 * len(keys))
            if not is_largest:
                move(keys, values, new[f"{name}_keys"], new[f"{name}_values"], new[f"{name}_used"])
            larger |= new
    return state.replaced(**larger) if larger else state
