"""Columns of whatever a caller passes as data, each as a polars series.

Numbers, text, truth values, dates and times have types of their own there. Values of several types,
and categories in an order of their own, are numbered, and their levels listed beside them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import cached_property
from numbers import Real
from types import NoneType
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from komb.data.levels import Levels, type_and_text
from komb.data.problems import Unusable
from komb.data.text_values import read_form

Floats = npt.NDArray[np.float64]

_SIMPLE: dict[type, Any] = {
    bool: pl.Boolean, int: pl.Int64, float: pl.Float64, str: pl.String, date: pl.Date,
    datetime: pl.Datetime, time: pl.Time, timedelta: pl.Duration,
}  # fmt: skip
_PER_SECOND = {"ms": 1e3, "us": 1e6, "ns": 1e9}
_DAY = 86_400  # seconds
_UNITS = ("D", "ms", "us", "ns")  # of numpy's instants that polars takes


@dataclass(frozen=True)
class Column:
    """The values of a column; null or NaN where one is missing."""

    values: pl.Series
    levels: Levels | None = None  # if values are their numbers
    has_order: bool = False  # whether levels are in an order of their own
    is_ordered: bool = False  # and whether that order counts
    problem: Unusable | None = None  # why its values cannot be levels
    _read: dict[str, Floats] = field(default_factory=dict, init=False)  # by the form of text

    @property
    def is_number(self) -> bool:
        """Whether it holds numbers."""
        return self.levels is None and self.values.dtype.is_numeric()

    def is_missing(self) -> npt.NDArray[np.bool_]:
        """Which values are missing."""
        if self.values.dtype.is_float():
            return np.isnan(self.values.to_numpy())  # type: ignore[no-any-return]
        has_nulls = self.values.null_count() > 0  # otherwise polars need not be asked
        return self.values.is_null().to_numpy() if has_nulls else np.zeros(len(self.values), bool)

    @cached_property
    def distinct(self) -> pl.Series:
        """The values that occur, each once."""
        has_nulls = self.values.null_count() > 0
        return (self.values.drop_nulls() if has_nulls else self.values).unique()

    def to_floats(self) -> Floats:
        """Return numbers, and times in seconds; NaN where one is missing."""
        dtype, values = self.values.dtype, self.values
        if not dtype.is_numeric():
            values = values.to_physical()
        numbers: Floats = values.cast(pl.Float64).to_numpy()
        if dtype == pl.Date:
            return numbers * _DAY
        if isinstance(dtype, pl.Datetime | pl.Duration):
            return numbers / _PER_SECOND[dtype.time_unit]
        return numbers / _PER_SECOND["ns"] if dtype == pl.Time else numbers

    def read(self, form: str) -> Floats:
        """Return text as numbers or times; it is read once, however often it is asked for."""
        if form not in self._read:
            self._read[form] = read_form(self.values, form)
        return self._read[form]

    def without(self, is_out: npt.NDArray[np.bool_]) -> Column:
        """Return the column with some values missing."""
        nulls = pl.Series([None], dtype=self.values.dtype).new_from_index(0, len(self.values))
        return replace(self, values=self.values.zip_with(pl.Series(~is_out), nulls))

    def take(self, rows: npt.NDArray[np.intp]) -> Column:
        """Return some rows, as often as they are named."""
        return replace(self, values=self.values.gather(rows))


def make_column(values: Any) -> Column:
    """Take in a numpy array, a list, or a series of any library that narwhals knows."""
    try:
        if isinstance(values, np.ndarray):
            return _of_array(values)
        if isinstance(values, list):
            return _of_objects(values)
        if isinstance(values, pl.Series):
            return _of_polars(values)
        return _of_series(values)
    except Unusable as problem:
        return Column(pl.Series([None] * len(values)), problem=problem)


def _of_array(values: npt.NDArray[Any]) -> Column:
    if isinstance(values, np.ma.MaskedArray):
        return _of_array(np.asarray(values.data)).without(np.ma.getmaskarray(values))
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind == "V":
        raise Unusable("holds records of several fields. Make one column of each field.")
    if kind in "mM" and np.datetime_data(values.dtype)[0] not in _UNITS[kind == "m" :]:
        values = values.astype(f"{kind}8[us]")
    if kind == "f" and size not in (4, 8):  # half and extended precision: Python has neither
        values = values.astype(np.float64)
    return Column(pl.Series(values)) if kind in "biufmM" else _of_objects(values.tolist())


def _of_series(series: Any) -> Column:
    import narwhals as nw

    if not isinstance(series, nw.Series):
        series = nw.from_native(series, series_only=True)
    native: Any = series.to_native()
    if series.implementation.is_polars():
        return _of_polars(native)
    is_category = series.dtype in (nw.Categorical, nw.Enum)
    if series.implementation.is_pyarrow():
        return _of_dictionary(native) if is_category else _of_polars(pl.Series(native))
    if is_category and hasattr(native, "cat"):  # of pandas
        codes, ordered = native.cat.codes.to_numpy(), bool(native.cat.ordered)
        levels = tuple(native.cat.categories.tolist())
        column = Column(pl.Series(codes), levels, has_order=True, is_ordered=ordered)
        return column.without(codes < 0)
    if hasattr(getattr(native, "dt", None), "to_timestamp"):  # periods of pandas
        native = native.dt.to_timestamp()
    if isinstance(native.dtype, np.dtype):
        return _of_array(native.to_numpy())
    try:
        return _of_polars(series.to_polars())
    except (ImportError, TypeError, ValueError, pl.exceptions.PolarsError):
        return _of_objects(series.to_list())  # without pyarrow, or a type that polars has not


def _of_dictionary(native: Any) -> Column:
    """Take in an array of pyarrow that has its levels beside it, in their order."""
    joined = native.unify_dictionaries().combine_chunks()
    if hasattr(joined, "chunks"):  # some versions keep the chunked type
        joined = joined.chunk(0)
    levels = tuple(joined.dictionary.to_pylist())
    column = Column(pl.Series(joined.indices), levels, has_order=True)
    if None in levels:  # a null may hide in the dictionary instead of the indices
        column = column.without((column.values == levels.index(None)).fill_null(False).to_numpy())
    return column


def _of_polars(values: pl.Series) -> Column:
    dtype = values.dtype
    if isinstance(dtype, pl.Enum):
        return Column(values.to_physical(), tuple(dtype.categories.to_list()), has_order=True)
    if isinstance(dtype, pl.Categorical):
        return Column(values.cast(pl.String))
    if dtype.is_decimal() or dtype == pl.Float16:
        return Column(values.cast(pl.Float64))
    is_simple = dtype.is_numeric() or dtype.is_temporal()
    if is_simple or dtype in (pl.String, pl.Boolean, pl.Null):
        return Column(values)
    return _of_objects(values.to_list())


def _of_objects(values: Sequence[Any]) -> Column:
    """Take in Python values of any types, as one type if they have one in common."""
    kinds = set(map(type, values)) - {NoneType}
    if len(kinds) > 1 or not kinds <= _SIMPLE.keys():
        values = [None if is_missing(value) else _plain(value) for value in values]
        kinds = set(map(type, values)) - {NoneType}
    for convert in (_of_one_type, _of_numbers, _of_times):
        try:
            found = convert(kinds, values)
        except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
            continue
        if found is not None:
            return Column(found)
    return _of_mixed(values)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item() if not isinstance(value, np.datetime64 | np.timedelta64) else value
    if hasattr(value, "to_pydatetime"):  # of pandas
        return value.to_pydatetime()
    return value.to_timestamp().to_pydatetime() if hasattr(value, "to_timestamp") else value


def _of_one_type(kinds: set[type], values: Sequence[Any]) -> pl.Series | None:
    if not kinds:
        return pl.Series([None] * len(values))
    (kind, *others) = kinds
    return None if others or kind not in _SIMPLE else pl.Series(values, dtype=_SIMPLE[kind])


def _of_numbers(kinds: set[type], values: Sequence[Any]) -> pl.Series | None:
    if kinds == {int}:  # too large for 64 bits
        try:
            return pl.Series(values, dtype=pl.Int128)
        except OverflowError:
            return pl.Series([None if x is None else _to_float(x) for x in values])
    if bool in kinds or not all(issubclass(kind, Real | Decimal) for kind in kinds):
        return None
    floats = [None if value is None else _to_float(value) for value in values]
    return pl.Series(floats, dtype=pl.Float64)


def _to_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number or fraction beyond the floats
        return math.inf if value > 0 else -math.inf


def _of_times(kinds: set[type], values: Sequence[Any]) -> pl.Series | None:
    if kinds <= {np.datetime64, np.timedelta64}:
        return _of_array(np.array(["NaT" if x is None else x for x in values])).values
    if kinds != {date, datetime}:
        return None
    return pl.Series(
        [datetime.combine(x, time()) if type(x) is date else x for x in values], dtype=pl.Datetime
    )


def _of_mixed(values: Sequence[Any]) -> Column:
    """Give numbers to values of several types; equal values (``1``, ``1.0``) are one level.

    Which of them stands for the level does not depend on the order of the rows.
    """
    try:
        distinct = distinct_values(value for value in values if value is not None)
    except TypeError:
        raise Unusable(_describe_unhashable(values)) from None
    if all(type(level) in (int, float) for level in distinct):  # truth values among numbers
        number_of = {level: level for level in distinct}
        return _of_objects([None if value is None else number_of[value] for value in values])
    number: dict[Any, int | None] = {level: code for code, level in enumerate(distinct)}
    number[None] = None
    codes = pl.Series(map(number.__getitem__, values), dtype=pl.UInt32)
    return Column(codes, tuple(distinct))


def python_values(values: pl.Series) -> list[Any]:
    """Return values as Python has them, and instants of nanoseconds as numpy has them."""
    is_fine = isinstance(values.dtype, pl.Datetime | pl.Duration) and values.dtype.time_unit == "ns"
    if is_fine and (values.to_physical() % 1000 != 0).any():
        return list(values.to_numpy())
    return values.to_list()


def distinct_values(values: Iterable[Any]) -> list[Any]:
    """Return the distinct values; of equal ones always the same, whichever came first."""
    shown: dict[Any, Any] = {}
    for value in dict.fromkeys((type(value), str(value), value) for value in values):
        shown[value[2]] = max(shown.get(value[2], value[2]), value[2], key=type_and_text)
    return list(shown.values())


def is_missing(value: Any) -> bool:
    """Tell whether a value stands for none: ``None``, NaN, NaT or NA of any library."""
    if value is None or type(value).__name__ == "NAType":  # pandas.NA refuses to be compared
        return True
    try:
        return bool(value != value)  # true of NaN and NaT of every library
    except (TypeError, ValueError, ArithmeticError):
        return False


def _describe_unhashable(values: Sequence[Any]) -> str:
    row = next(row for row, value in enumerate(values) if not _is_hashable(value))
    return (
        f"holds values of type {type(values[row]).__name__!r} (first in row {row}), which cannot "
        "be levels. Turn them into text or numbers first, e.g. with .map(str)."
    )


def _is_hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True
