"""The values of one column in one batch of rows, and what is known of it after several batches.

The encoders of :mod:`komb.data.encode` see whole columns. Here a column comes in pieces: each piece
gets codes and levels of its own, by the same encoders, and when the levels of all pieces are known,
so are those of the column, in the same order as if it had come in one piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from komb.data.encode.arrays import Later, encode_by_lookup
from komb.data.encode.codes import Array, Levels, code_dtype
from komb.data.encode.column_encoder import ColumnEncoder
from komb.data.encode.column_errors import (
    FEW_LEVELS,
    MAX_LEVELS,
    Continuous,
    Missing,
    TooManyLevels,
    Unusable,
    most_distinct_fractions,
    too_many_levels,
)
from komb.data.encode.frames import encode_series
from komb.data.encode.python_objects import encode_objects, is_missing
from komb.data.encode.treatment import Treatment

_SAMPLE = 4_096  # rows that settle most of the time that a column is continuous
_AS_IS = ColumnEncoder(Treatment(missing="testwise"), {})


class Values(NamedTuple):
    """The values of a column in a batch."""

    codes: Array  # in the order of the levels; one above the last marks a missing value
    levels: Levels
    is_float: bool = False
    categories: Levels = ()  # of a column that has an order of its own


def encode_values(series: Any) -> Values:
    """Encode a narwhals series, continuous or not."""
    if series.dtype.is_float():
        values = series.to_numpy()
        return _encode_floats(values) if values.dtype.kind == "f" else _encode_any(values.tolist())
    try:
        column = _AS_IS.encode(series.name, Later(encode_series, series))
    except Missing:  # nothing is there
        return Values(np.zeros(len(series), np.uint8), ())
    except Continuous:  # of so few rows that nobody can tell
        return _encode_any(series.to_list())
    return Values(column.codes, column.levels, categories=_categories_of(series))


def _encode_floats(values: Array) -> Values:
    if values.dtype.itemsize not in (4, 8):
        values = values.astype(np.float64)
    is_known = ~np.isnan(values)
    if is_known.all():
        codes, levels = encode_by_lookup(values)
        return Values(codes, tuple((levels + 0.0).tolist()), is_float=True)
    if not is_known.any():
        return Values(np.zeros(len(values), np.uint8), (), is_float=True)
    found, levels = encode_by_lookup(values[is_known])
    codes = np.full(len(values), len(levels), code_dtype(len(levels) + 1))
    codes[is_known] = found
    return Values(codes, tuple((levels + 0.0).tolist()), is_float=True)


def _encode_any(values: Sequence[Any]) -> Values:
    """Encode Python values that were found to be measurements, as levels all the same."""
    number: dict[Any, int] = {}
    absent = [is_missing(value) for value in values]
    for value, is_absent in zip(values, absent, strict=True):
        if not is_absent:
            number.setdefault(value, len(number))
    if len(number) > MAX_LEVELS:
        raise too_many_levels(len(number))
    codes = np.array(
        [
            len(number) if is_absent else number[value]
            for value, is_absent in zip(values, absent, strict=True)
        ],
        code_dtype(len(number) + 1),
    )
    return Values(codes, tuple(number))


def _categories_of(series: Any) -> Levels:
    """Return all categories of a column that keeps their order, as ``encode_series`` sees it."""
    import narwhals as nw

    if series.dtype not in (nw.Categorical, nw.Enum):
        return ()
    native = series.to_native()
    if series.implementation.is_polars():
        return tuple(native.dtype.categories.to_list()) if series.dtype == nw.Enum else ()
    if series.implementation.is_pandas():
        return tuple(native.cat.categories.tolist())
    if series.implementation.is_pyarrow():
        dictionaries = [chunk.dictionary.to_pylist() for chunk in native.chunks]
        return tuple(dict.fromkeys(x for each in dictionaries for x in each if x is not None))
    return ()


@dataclass(slots=True)
class ColumnValues:
    """What is known of a column after some batches."""

    n_rows: int = 0
    n_missing: int = 0
    first_missing: int = 0  # row of the first missing value
    # those that occur, as keys; none if there are too many, or too many to be any
    levels: dict[Any, None] = field(default_factory=dict)
    # those of a column that has an order of its own, in that order, as keys
    categories: dict[Any, None] = field(default_factory=dict)
    is_float: bool = False
    is_continuous: bool = False  # whether it has more fractions than a discrete column may have
    problem: Unusable | None = None  # why its values cannot be levels

    @classmethod
    def of(cls, series: Any) -> ColumnValues:
        """Look at one batch."""
        if _looks_continuous(series):
            values = series.to_numpy()
            absent = np.isnan(values)
            found = cls(len(series), is_float=True, is_continuous=True)
        else:
            try:
                encoded = encode_values(series)
            except Unusable as problem:
                missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
                found = cls(len(series), is_float=series.dtype.is_float(), problem=problem)
                return found._note_missing(missing)
            absent = np.asarray(encoded.codes == len(encoded.levels))
            found = cls(
                len(series),
                levels=dict.fromkeys(encoded.levels),
                categories=dict.fromkeys(encoded.categories),
                is_float=encoded.is_float,
            )
        return found._note_missing(absent)

    def _note_missing(self, absent: npt.NDArray[np.bool_]) -> ColumnValues:
        self.n_missing = int(absent.sum())
        self.first_missing = int(absent.argmax()) if self.n_missing else 0
        return self

    def add(self, other: ColumnValues) -> None:
        """Add the next batch."""
        if other.n_missing and not self.n_missing:
            self.first_missing = self.n_rows + other.first_missing
        self.n_rows += other.n_rows
        self.n_missing += other.n_missing
        self.is_float |= other.is_float
        self.is_continuous |= other.is_continuous
        self.problem = self.problem or other.problem
        if self.problem is not None or self.is_continuous:
            self.levels, self.categories = {}, {}
            return
        self.levels |= other.levels
        self.categories |= other.categories
        if len(self.levels) > MAX_LEVELS:
            self.problem = _more_than_can_be()
            self.levels = {}

    @property
    def has_many(self) -> bool:
        """Whether numbers like these are better cut into bins."""
        is_refused = self.is_continuous or isinstance(self.problem, TooManyLevels)
        return is_refused or len(self.levels) > FEW_LEVELS or self._is_refused()

    def _is_refused(self) -> bool:
        try:
            self.settle()
        except Continuous:
            return True
        except Unusable:
            return False
        return False

    def settle(self) -> Levels:
        """Return the levels in their order, or raise if they are none."""
        if self.n_missing == self.n_rows:
            raise Missing.counted(self.n_missing, 0, self.n_rows)
        if self.problem is not None:
            raise self.problem
        if self.is_continuous:
            raise Continuous(_CONTINUOUS)
        if self.is_float:
            return self._settle_floats()
        if self.categories:
            return tuple(level for level in self.categories if level in self.levels)
        return self._settle_others()

    def _settle_floats(self) -> Levels:
        levels = np.array(list(self.levels), dtype=np.float64)
        if not np.isfinite(levels).all():
            raise Continuous("holds infinite values")
        is_whole = bool((levels == np.trunc(levels)).all())
        n_known = self.n_rows - self.n_missing
        if not is_whole and len(levels) > most_distinct_fractions(n_known):
            raise Continuous.because_of(len(levels), n_known)
        return tuple(np.sort(levels).tolist())

    def _settle_others(self) -> Levels:
        """Have the encoder of Python values judge and sort the levels, as a column of all rows."""
        levels = list(self.levels)
        n_known = self.n_rows - self.n_missing
        # as many rows as there are, as far as it makes a difference
        repeated = min(n_known, max(3 * len(levels), 2 * FEW_LEVELS)) - len(levels)
        try:
            return encode_objects(levels + levels[:1] * repeated).levels
        except Continuous as problem:
            if "infinite" in problem.why:
                raise
            raise Continuous.because_of(len(levels), n_known) from None


_CONTINUOUS = "looks continuous: many distinct values, not all of them whole numbers"


def _more_than_can_be() -> TooManyLevels:
    exact = too_many_levels(MAX_LEVELS)
    return TooManyLevels(
        f"has more than {MAX_LEVELS:,} distinct values, the most that a column may have.",
        exact.remedy,
    )


def _looks_continuous(series: Any) -> bool:
    """Tell from a few rows that a column of floats has more fractions than a discrete one may."""
    if not series.dtype.is_float():
        return False
    values = series.to_numpy()
    if values.dtype.kind != "f":
        return False
    sample = values[:_SAMPLE]
    sample = sample[~np.isnan(sample)]
    return bool((sample != np.trunc(sample)).any() and np.unique(sample).size > FEW_LEVELS)
