"""Tables in parts, in memory: what a table on disk is to those who count it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from komb.counts.joint_counts import (
    Columns,
    JointCounter,
    JointCounts,
    OnCounted,
    add_counts,
    count_part,
)
from komb.data.table import DiscreteTable


@dataclass
class ArrayPart:
    """Some rows; columns are as wide as their codes need, one after the other."""

    n_rows: int
    data: npt.NDArray[np.uint8]
    offsets: npt.NDArray[np.int64]
    widths: npt.NDArray[np.int64]


def make_part(codes: npt.NDArray[Any], n_codes: Sequence[int]) -> ArrayPart:
    columns = [
        np.ascontiguousarray(row.astype("<u2" if count > 256 else np.uint8)).view(np.uint8)
        for row, count in zip(codes, n_codes, strict=True)
    ]
    sizes = [len(column) for column in columns]
    offsets = np.concatenate(([0], np.cumsum(sizes)))[:-1].astype(np.int64)
    widths = np.array([2 if count > 256 else 1 for count in n_codes], dtype=np.int64)
    return ArrayPart(codes.shape[1], np.concatenate(columns), offsets, widths)


class PartsCounter(JointCounter):
    """Counts a table that was cut into parts of about so many rows."""

    def __init__(self, table: DiscreteTable, rows_per_part: int, memory_limit: int = 10**8) -> None:
        levels = table.cardinalities
        missing = np.array(
            [int((row == count).sum()) for row, count in zip(table.codes, levels, strict=True)]
        )
        super().__init__(table.n_rows, levels, missing)
        self._limit = memory_limit
        self.parts = [
            make_part(table.codes[:, start : start + rows_per_part], self.n_codes)
            for start in range(0, table.n_rows, rows_per_part)
        ]
        self.lots: list[list[Columns]] = []

    @property
    def memory_limit(self) -> int:
        return self._limit

    def count(
        self, lot: Sequence[Columns], on_counted: OnCounted | None = None
    ) -> list[JointCounts]:
        self.lots.append(list(lot))
        return reduce(add_counts, (count_part(part, self.n_codes, lot) for part in self.parts))
