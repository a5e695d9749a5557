"""Blocks that were counted, as kernels go through them: as cells, or as rows with weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from komb.engine.joint_counts import JointCounts
from komb.engine.kernels.cells import list_cells
from komb.engine.kernels.memo import LENGTH_CLASS
from komb.engine.state import CELLS_PER_ROW, FEWEST_CELLS, Shared, row_fields, stack_fields

_FEWEST_ROWS = 1 << 12  # that there is room for


def bind_block(state: Any, counts: JointCounts) -> Any:
    """Return a state that takes its tables from the cells of a block, all of which are there."""
    return state.replaced(
        block=counts.counts, block_columns=np.array(counts.columns, np.int64),
        block_shape=np.array(counts.shape, np.int64),
    )  # fmt: skip


class BlockRows:
    """Binds the state of a target to the rows of a block.

    For blocks of very many cells, most of which are empty. What was asked and answered, and the
    terms that sums are made of, stay those of the target: what is decided by a block is remembered
    for the table. Columns are numbered by their places in the block.
    """

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._room: dict[str, Any] = {}
        self._order = np.empty(0, np.int32)

    def bind(self, state: Any, counts: JointCounts) -> Any:
        """Return a state whose rows are the combinations of a block."""
        shared, columns = self._shared, list(counts.columns)
        target, n_y = counts.columns.index(state.target), int(state.n_y)
        codes, weight, starts = _list(counts, target, n_y, shared.codes.dtype)
        width, n_rows = codes.shape
        self._make_room(n_rows)
        bits = shared.fields["bits"].copy()
        bits[:LENGTH_CLASS, :width] = bits[:LENGTH_CLASS, columns]
        return state.replaced(
            target=target, codes=codes, sorted=codes, weight=weight, sorted_weight=weight,
            rows=starts, order=self._order[:n_rows], levels=shared.levels[columns],
            is_incomplete=shared.is_incomplete[columns], length_class=shared.length_class[columns],
            variance_scales=state.variance_scales[columns],
            third_scales=state.third_scales[columns], bits=bits,
            is_sorted=np.ones(width, np.bool_), first_bitmap=np.full(width, -1, np.int64),
            is_elsewhere=False, can_leave_out=False, **stack_fields(width), **self._room,
            most_cells=max(CELLS_PER_ROW * n_rows, FEWEST_CELLS), few_cells=n_rows // 2,
        )  # fmt: skip

    def _make_room(self, n_rows: int) -> None:
        """Have buffers for so many rows."""
        if n_rows > len(self._order):
            n_rows = max(n_rows, 2 * len(self._order), _FEWEST_ROWS)
            self._order = np.arange(n_rows, dtype=np.int32)
            self._room = row_fields(n_rows, int(self._shared.levels.max(initial=1)))
            del self._room["most_cells"], self._room["few_cells"]


def _list(
    counts: JointCounts, target: int, n_y: int, dtype: np.dtype[Any]
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """List combinations that occur by the level of the target: codes, weights, and first rows."""
    starts = np.zeros(n_y + 1, np.int64)
    if counts.keys is None:
        n_rows, width = int(np.count_nonzero(counts.counts)), len(counts.shape)
        codes, weight = np.empty((width, n_rows), dtype), np.empty(n_rows, np.int32)
        shape, digits = np.array(counts.shape, np.int64), np.zeros(width, np.int64)
        list_cells(counts.counts, shape, target, digits, codes, weight, starts)
        n_rows = int(starts[-1])
        if n_rows < len(weight):  # the target is missing in some
            codes, weight = np.ascontiguousarray(codes[:, :n_rows]), weight[:n_rows]
        return codes, weight, starts
    listed = counts.codes()
    order = np.argsort(listed[target], kind="stable")
    starts[1:] = np.cumsum(np.bincount(listed[target], minlength=n_y)[:n_y])
    order = order[: starts[-1]]
    codes = np.stack([column[order].astype(dtype) for column in listed])
    return codes, counts.counts[order].astype(np.int32), starts
