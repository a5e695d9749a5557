"""Levels of columns and the codes 0, 1, ... that stand for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from komb.data.problems import MAX_LEVELS, too_many_levels

Array: TypeAlias = npt.NDArray[Any]
CodeArray: TypeAlias = npt.NDArray[np.uint8 | np.uint16]
Levels: TypeAlias = tuple[object, ...]

_TILE = (512, 256)  # rows and columns that are transposed at a time; they stay in the cache
_FEW_VALUES = 16  # of a column, up to which all of them are looked for in many columns at once
_WIDEST = MAX_LEVELS  # range of values of a column that is encoded with others


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


def sort_levels(levels: Iterable[Any]) -> list[Any]:
    """Sort levels naturally, or by type and text where they cannot be compared."""
    found = list(levels)
    try:
        return sorted(found)
    except TypeError:
        return sorted(found, key=type_and_text)


def type_and_text(value: Any) -> tuple[str, str]:
    """Return a key by which whole numbers come after fractions and truth values."""
    return type(value).__name__, str(value)


class Block(NamedTuple):
    """Columns of whole numbers, encoded together; the code after the last level marks missing."""

    codes: CodeArray  # [column, row]
    levels: list[Levels]  # of each column; empty if it has too many values to be encoded here


def encode_block(values: Array, most_levels: int, missing: int | None = None) -> Block:
    """Encode whole numbers or truth values of shape ``(n_rows, n_columns)``, all at once.

    ``missing`` stands for a missing value, and is above all others. The columns of an array lie
    scattered in memory, so all of them are gathered together, tile by tile.
    """
    is_boolean = values.dtype.kind == "b"
    numbers = values.view(np.uint8) if is_boolean else values
    low, high = numbers.min(axis=0), numbers.max(axis=0)
    # Unsigned arithmetic wraps, so the difference is right even where a signed one overflows.
    span = high.astype(np.uint64) - low.astype(np.uint64)
    widest = min(int(span.max()) + 1, _WIDEST)
    codes = _offsets(numbers, low, code_dtype(widest))
    has_gaps = _find_gaps(codes, span)
    known: dict[tuple[int, int], Levels] = {}  # most columns of a wide table have the same levels
    levels: list[Levels] = []
    for place, (first, width) in enumerate(zip(low.tolist(), (span + 1).tolist(), strict=True)):
        seen: Iterable[int] = range(width)
        if width > _WIDEST or (width > most_levels and not has_gaps[place]):
            levels.append(())
            continue
        if has_gaps[place]:
            codes[place], found = compact(codes[place], width)
            seen = found.tolist()
        elif (first, width) in known:
            levels.append(known[first, width])
            continue
        own = tuple(int(first) + offset for offset in seen if int(first) + offset != missing)
        own = tuple(map(bool, own)) if is_boolean else own
        levels.append(own if len(own) <= most_levels else ())
        if not has_gaps[place]:
            known[first, width] = levels[-1]
    return Block(codes, levels)


def _offsets(numbers: Array, low: Array, dtype: np.dtype[Any]) -> CodeArray:
    """Return the columns of an array as rows, each less its smallest value."""
    n_rows, n_columns = numbers.shape
    offsets: CodeArray = np.empty((n_columns, n_rows), dtype)
    base = low.astype(dtype)  # cut to the low bits, as the values are: the offset stays exact
    height, width = _TILE
    for first in range(0, n_columns, width):
        columns = slice(first, first + width)
        for start in range(0, n_rows, height):
            tile = numbers[start : start + height, columns].astype(dtype)
            tile -= base[columns]
            offsets[columns, start : start + height] = tile.T
    return offsets


def _find_gaps(offsets: CodeArray, span: Array) -> npt.NDArray[np.bool_]:
    """Which rows lack one of the values from 0 to ``span``, both of which they have."""
    has_gaps = span > 1
    for first in range(0, len(span), _TILE[1]):
        rows = slice(first, first + _TILE[1])
        widest = int(span[rows].max())
        if 1 < widest < _FEW_VALUES:
            found = [(offsets[rows] == value).any(axis=1) for value in range(widest + 1)]
            has_gaps[rows] = np.sum(found, axis=0) <= span[rows]
    return has_gaps
