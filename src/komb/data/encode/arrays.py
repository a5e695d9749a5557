"""Turn columns of values into small integer codes.

A column becomes *codes* ``0 .. k-1`` and the ``k`` *levels* they stand for. Every level is
observed, and levels are in their natural order, so that the same values give the same codes
whatever container they came in.

One function per kind of value does the work and raises a private
:class:`~komb.data.encode.column_errors.ColumnProblem` when the column cannot be encoded;
:func:`encode_columns` gathers those over the whole table, so that a user hears about all incomplete
columns at once and not about one per attempt.

Sorting a million values is what makes encoders slow, so nothing here sorts a whole column:
integers are looked up in a table of the range they span, everything else in the few levels found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from komb.data.encode.codes import (
    Array,
    CodeArray,
    Column,
    Encoded,
    Levels,
    Name,
    code_dtype,
    compact,
)
from komb.data.encode.column_errors import (
    MAX_LEVELS,
    ColumnProblem,
    Continuous,
    LeftOut,
    Missing,
    Unusable,
    explain,
    most_distinct_fractions,
    too_many_levels,
)
from komb.data.encode.column_types import ColumnType
from komb.data.encode.python_objects import encode_objects

_SAMPLE = 4_096  # rows that are sorted to guess the levels of a column
_TILE = (512, 256)  # rows and columns that are transposed at a time; they stay in the cache
_FEW_VALUES = 16  # of a column, up to which all of them are looked for in many columns at once
_WIDEST_TABLE = 1 << 22  # longest lookup table, in entries


class Later(NamedTuple):
    """The values of a column and the function that will encode them."""

    encode: Callable[[Any], Encoded]
    values: Any


class Columns(NamedTuple):
    """The columns of a table, encoded: what a :class:`~komb.data.table.DiscreteTable` has."""

    names: tuple[Name, ...]
    codes: CodeArray
    levels: tuple[Levels, ...]
    cuts: dict[Name, tuple[float, ...]]
    has_missing: bool
    numbers: dict[Name, npt.NDArray[np.float64]]
    types: dict[Name, ColumnType]


def encode_columns(
    columns: Iterable[tuple[Name, Later]],
    n_columns: int,
    n_rows: int,
    encode: Callable[[Name, Later], Column] = lambda _, column: Column(
        *column.encode(column.values)
    ),
    *,
    is_cutting: bool = False,
) -> Columns:
    """Encode a whole table column by column."""
    codes: CodeArray = np.empty((n_columns, n_rows), np.uint8)
    found = Columns((), codes, (), {}, has_missing=False, numbers={}, types={})
    levels: dict[Name, Levels] = {}
    problems: dict[Name, ColumnProblem] = {}
    has_missing = False
    for name, column in columns:
        try:
            encoded = encode(name, column)
        except LeftOut as left_out:
            found.types[name] = left_out.type
            continue
        except ColumnProblem as problem:
            problems[name] = problem
            continue
        if encoded.codes.dtype.itemsize > codes.dtype.itemsize:
            codes = codes.astype(np.uint16)
        codes[len(levels)] = encoded.codes
        levels[name] = encoded.levels
        has_missing |= encoded.has_missing
        if encoded.cuts is not None:
            found.cuts[name] = encoded.cuts
        if encoded.numbers is not None:
            found.numbers[name] = encoded.numbers
        if encoded.type is not None:
            found.types[name] = encoded.type
    if problems:
        raise explain(problems, is_cutting=is_cutting)
    return found._replace(
        names=tuple(levels),
        codes=codes[: len(levels)],
        levels=tuple(levels.values()),
        has_missing=has_missing,
    )


def encode_array(values: Array) -> Encoded:
    """Encode a one-dimensional numpy array of any type."""
    if isinstance(values, np.ma.MaskedArray):
        Missing.check(np.ma.getmaskarray(values))
        values = values.data
    kind = values.dtype.kind
    if kind == "V":
        raise Unusable("holds records of several fields. Make one column of each field.")
    values = np.ascontiguousarray(values)
    if kind == "b":
        codes, found = _encode_integers(values.view(np.uint8))
        return Encoded(codes, tuple(map(bool, found)))
    if kind in "iu":
        return _encode_integers(values)
    if kind == "f":
        return _encode_floats(values)
    if kind in "US":
        codes, levels = encode_by_lookup(values)
        return Encoded(codes, tuple(levels.tolist()))
    if kind in "mM":
        return _encode_times(values)
    return encode_objects(values.tolist())


def encode_matrix(values: Array, names: Sequence[Name] | None = None) -> Columns:
    """Encode the columns of a two-dimensional array of integers or booleans, all at once.

    The columns of an array lie scattered in memory, so all of them are gathered together, block by
    block; taking one at a time would read the whole array once per column.
    """
    n_rows, n_columns = values.shape
    labels: Sequence[Name] = range(n_columns) if names is None else names
    is_boolean = values.dtype.kind == "b"
    numbers = values.view(np.uint8) if is_boolean else values
    low, high = numbers.min(axis=0), numbers.max(axis=0)
    # Unsigned arithmetic wraps, so the difference is right even where a signed one overflows.
    span = high.astype(np.uint64) - low.astype(np.uint64)
    if span.max() > 0xFFFF:
        columns = ((name, Later(encode_array, values[:, i])) for i, name in enumerate(labels))
        return encode_columns(columns, n_columns, n_rows)
    codes = _offsets(numbers, low, code_dtype(int(span.max()) + 1))
    has_gaps = _find_gaps(codes, span)
    levels: list[Levels] = []
    known: dict[tuple[int, int], Levels] = {}  # most columns of a wide table have the same levels
    problems: dict[Name, ColumnProblem] = {}
    for i, (first, width) in enumerate(zip(low.tolist(), (span + 1).tolist(), strict=True)):
        if has_gaps[i] or width > MAX_LEVELS:
            try:
                codes[i], seen = compact(codes[i], width)
            except ColumnProblem as problem:
                problems[labels[i]] = problem
                continue
            levels.append(tuple(int(first) + offset for offset in seen.tolist()))
            continue
        found = known.get((first, width))
        if found is None:
            found = tuple(range(int(first), int(first) + width))
            known[first, width] = found = tuple(map(bool, found)) if is_boolean else found
        levels.append(found)
    if problems:
        raise explain(problems)
    narrow = codes.astype(code_dtype(max(map(len, levels))), copy=False)
    return Columns(
        tuple(labels), narrow, tuple(levels), {}, has_missing=False, numbers={}, types={}
    )


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


def encode_by_lookup(values: Array) -> tuple[CodeArray, Array]:
    """Encode values of any sortable type by searching them among the levels found so far.

    The levels come from the first rows; values that turn out not to be among them are added
    and the search is run once more. Only a few rows are ever sorted.
    """
    levels = np.unique(values[:_SAMPLE])
    while True:
        found = np.searchsorted(levels, values)
        np.minimum(found, levels.size - 1, out=found)
        is_new = levels[found] != values
        if not is_new.any():
            return found.astype(code_dtype(levels.size)), levels
        levels = np.union1d(levels, values[is_new])
        if levels.size > MAX_LEVELS:
            raise too_many_levels(levels.size)


def _encode_integers(values: Array) -> Encoded:
    low, high = int(values.min()), int(values.max())
    width = high - low + 1
    # A table much longer than the column would cost more than the search that it replaces.
    if width > min(_WIDEST_TABLE, max(1 << 10, 4 * values.size)):
        codes, levels = encode_by_lookup(values)
        return Encoded(codes, tuple(levels.tolist()))
    dtype = np.uint8 if width <= 1 << 8 else np.uint16 if width <= 1 << 16 else np.uint32
    # Cutting to the low bits first and subtracting there gives the exact offset, since it is
    # known to fit, and spares a temporary copy in the wide type.
    offsets: Array = values.astype(dtype)
    if low:
        offsets -= dtype(low % (1 << 8 * offsets.itemsize))
    codes, seen = compact(offsets, width)
    return Encoded(codes, tuple(low + offset for offset in seen.tolist()))


def _encode_floats(values: Array) -> Encoded:
    if values.dtype.itemsize not in (4, 8):  # half and extended precision: Python has neither
        values = values.astype(np.float64)
    Missing.check(np.isnan(values))
    if not np.isfinite(values).all():
        raise Continuous("holds infinite values")
    if not (values == np.trunc(values)).all():
        return _encode_fractions(values)
    if np.abs(values).max() < 2**53:  # beyond that a float does not stand for one integer
        codes, seen = _encode_integers(values.astype(np.int64))
        return Encoded(codes, tuple(float(level) for level in seen))  # type: ignore[arg-type]
    codes, levels = encode_by_lookup(values)
    return Encoded(codes, tuple(levels.tolist()))


def _encode_fractions(values: Array) -> Encoded:
    limit = most_distinct_fractions(values.size)
    # A few rows settle most cases; the exact number is only needed for the message.
    if np.unique(values[:_SAMPLE]).size > limit:
        raise Continuous.because_of(np.unique(values).size, values.size)
    try:
        codes, levels = encode_by_lookup(values)
    except Unusable:
        raise Continuous.because_of(np.unique(values).size, values.size) from None
    if levels.size > limit:
        raise Continuous.because_of(levels.size, values.size)
    return Encoded(codes, tuple((levels + 0.0).tolist()))  # adding zero turns -0.0 into 0.0


def _encode_times(values: Array) -> Encoded:
    Missing.check(np.isnat(values))
    codes, levels = encode_by_lookup(values)
    if np.datetime_data(values.dtype)[0] in ("ns", "ps", "fs", "as"):
        # Python's own types stop at microseconds: convert only what survives it.
        coarse = levels.astype(f"{values.dtype.kind}8[us]")
        if (coarse != levels).any():
            return Encoded(codes, tuple(levels))
        levels = coarse
    return Encoded(codes, tuple(levels.tolist()))
