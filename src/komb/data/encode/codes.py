"""Codes: what an encoded column is, and how codes are renumbered."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from komb.data.encode.column_errors import MAX_LEVELS, too_many_levels
from komb.data.encode.column_types import ColumnType
from komb.data.names import Name as Name

Array: TypeAlias = npt.NDArray[Any]
CodeArray: TypeAlias = npt.NDArray[np.uint8 | np.uint16]
Levels: TypeAlias = tuple[object, ...]


class Encoded(NamedTuple):
    """The codes of one column and the levels they stand for."""

    codes: CodeArray
    levels: Levels


class Column(NamedTuple):
    """One column of a table, with its cut points and whether values are missing."""

    codes: CodeArray
    levels: Levels
    cuts: tuple[float, ...] | None = None  # only if it was cut
    has_missing: bool = False  # whether the code above the last level marks missing values
    numbers: npt.NDArray[np.float64] | None = None  # only of many values, NaN where missing
    type: ColumnType | None = None  # only if it was found


def code_dtype(n_levels: int) -> np.dtype[Any]:
    """Return the smallest type that holds the codes of ``n_levels`` levels."""
    return np.dtype(np.uint8 if n_levels <= 256 else np.uint16)


def compact(offsets: Array, width: int) -> tuple[CodeArray, npt.NDArray[np.intp]]:
    """Renumber codes so that only observed ones remain."""
    is_present = np.bincount(offsets, minlength=width) > 0
    seen = np.flatnonzero(is_present)
    if seen.size > MAX_LEVELS:
        raise too_many_levels(seen.size)
    dtype = code_dtype(seen.size)
    if seen.size == seen[-1] + 1:
        return offsets.astype(dtype, copy=False), seen
    renumber = np.cumsum(is_present) - 1
    return renumber.astype(dtype).take(offsets), seen
