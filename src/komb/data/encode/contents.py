"""What is in a column: numbers, times, truth values, text or something else.

:func:`read_contents` looks at values alone; what follows from them is decided in
:mod:`komb.data.encode.automatic`. Text is judged by its distinct values, so that a column of a
million rows with ten levels costs ten decisions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from komb.data.encode.arrays import Later, encode_by_lookup
from komb.data.encode.codes import Column, code_dtype
from komb.data.encode.column_errors import (
    FEW_LEVELS,
    Continuous,
    Missing,
    TooManyLevels,
    Unusable,
    most_distinct_fractions,
)
from komb.data.encode.numbers import Floats, to_numbers
from komb.data.encode.python_objects import distinct_values, is_missing
from komb.data.encode.text_values import is_marker, level_times, parse_numbers, parse_times

_SAMPLE = 4_096  # rows that settle most of the time that a column has many values
_SHOWN_MARKERS = 3

BOOLEAN, NUMBER, INSTANT, WORDS, OTHER, NOTHING = (
    "boolean", "number", "instant", "words", "other", "nothing",
)  # fmt: skip


@dataclass(frozen=True)
class Contents:
    """What a column holds."""

    # ``BOOLEAN``, ``NUMBER``, ``INSTANT`` (dates and times), ``WORDS`` (text and any other
    # levels), ``OTHER`` (what cannot be levels) or ``NOTHING`` (no value at all)
    nature: str
    n_rows: int
    # values in order: of numbers, of instants in seconds, and of ordered categories
    numbers: Floats | None = None
    # encodes the column by its levels, with marks where values are missing
    make_levels: Callable[[], Column] | None = None
    remarks: tuple[str, ...] = ()  # what a reader might not expect

    @cached_property
    def by_levels(self) -> Column:
        """The column by its levels; raises a ``ColumnProblem`` if they are too many."""
        assert self.make_levels is not None
        return self.make_levels()

    @cached_property
    def known(self) -> Floats:
        """The numbers that are not missing."""
        assert self.numbers is not None
        is_known = ~np.isnan(self.numbers)
        return self.numbers if is_known.all() else self.numbers[is_known]

    @property
    def n_missing(self) -> int:
        """How many values are missing."""
        if self.nature == NOTHING:
            return self.n_rows
        if self.numbers is not None:
            return self.n_rows - self.known.size
        if self.nature == OTHER:
            return 0
        column = self.by_levels
        return int(np.count_nonzero(column.codes == len(column.levels)))

    @cached_property
    def is_whole(self) -> bool:
        """Whether all numbers are whole."""
        return bool((self.known == np.trunc(self.known)).all())

    @cached_property
    def has_many_values(self) -> bool:
        """Whether a column of numbers or instants has too many values to be levels."""
        limit = FEW_LEVELS if self.is_whole else most_distinct_fractions(self.known.size)
        if np.unique(self.known[:_SAMPLE]).size > limit:
            return True
        return bool(np.unique(self.known).size > limit)


def read_contents(
    column: Later, fill: Callable[[Later], Column], na_values: Collection[Any] = ()
) -> Contents:
    """Look at the values of a column."""
    n_rows = len(column.values)
    numbers = to_numbers(column.values)
    if numbers is not None:
        return _read_numbers(column, numbers, fill, na_values)
    try:
        filled = fill(column)
    except Missing:
        return Contents(NOTHING, n_rows)
    except TooManyLevels:
        filled = _list_levels(column.values)
    except Continuous:  # numbers and truth values together
        filled = _list_levels(column.values)
    except Unusable as problem:
        return Contents(OTHER, n_rows, remarks=(problem.why,))
    filled, remarks = _drop_markers(filled, na_values)
    if not filled.levels:
        return Contents(NOTHING, n_rows, remarks=remarks)
    return _read_levels(filled, n_rows, remarks, is_ordered=_is_ordered(column.values))


def _read_numbers(
    column: Later, numbers: Floats, fill: Callable[[Later], Column], na_values: Collection[Any]
) -> Contents:
    absent = _as_numbers(na_values)
    is_absent = np.isin(numbers, absent) if absent else np.zeros(len(numbers), bool)
    if is_absent.any():
        numbers = np.where(is_absent, np.nan, numbers)
    if np.isnan(numbers).all():
        return Contents(NOTHING, len(numbers))

    def make_levels() -> Column:
        try:
            filled = fill(column)
        except Continuous:
            filled = _number_levels(numbers)
        is_dropped = [_is_among(level, absent) for level in filled.levels]
        return _drop_levels(filled, is_dropped) if any(is_dropped) else filled

    remarks: tuple[str, ...] = ()
    if is_absent.any():
        remarks = (_say_markers([value for value in na_values if _is_among(value, absent)]),)
    return Contents(NUMBER, len(numbers), numbers, make_levels, remarks)


def _read_levels(
    filled: Column, n_rows: int, remarks: tuple[str, ...], *, is_ordered: bool
) -> Contents:
    levels = filled.levels

    def contents(nature: str, values: Floats | None = None, *more: str) -> Contents:
        numbers = None if values is None else _spread(values, filled)
        return Contents(nature, n_rows, numbers, lambda: filled, (*remarks, *more))

    if all(isinstance(level, bool | np.bool_) for level in levels):
        return contents(BOOLEAN)
    if all(map(is_number, levels)):
        return contents(NUMBER, np.array([float(level) for level in levels]))  # type: ignore[arg-type]
    times = level_times(levels)
    if times is not None:
        is_duration = all(hasattr(level, "total_seconds") for level in levels)
        return contents(NUMBER if is_duration else INSTANT, times)
    if is_ordered:
        return contents(WORDS, np.arange(len(levels), dtype=np.float64))
    texts = [level for level in levels if isinstance(level, str)]
    if len(texts) == len(levels) > FEW_LEVELS:
        values = parse_numbers(texts)
        if values is not None:
            return contents(NUMBER, values, "text read as numbers")
        values = parse_times(texts)
        if values is not None:
            return contents(INSTANT, values, "text read as times")
    return contents(WORDS)


def read_as_numbers(contents: Contents) -> Floats | None:
    """Return text of few levels as numbers or times, if that is what it is.

    More levels than a few are read so in any case.
    """
    if contents.numbers is not None:
        return contents.numbers
    if contents.nature == BOOLEAN:
        return _spread(
            np.array([float(bool(x)) for x in contents.by_levels.levels]), contents.by_levels
        )
    texts = [level for level in contents.by_levels.levels if isinstance(level, str)]
    if len(texts) < len(contents.by_levels.levels):
        return None
    values = parse_numbers(texts)
    values = parse_times(texts) if values is None else values
    return None if values is None else _spread(values, contents.by_levels)


def is_number(value: object) -> bool:
    """Whether a value is a number; truth values are not."""
    from decimal import Decimal

    is_truth = isinstance(value, bool | np.bool_)
    return isinstance(value, Real | Decimal) and not is_truth


def _as_numbers(values: Collection[Any]) -> list[float]:
    """Return the markers of missing values that are numbers, be it as text."""
    found = []
    for value in values:
        if is_number(value):
            found.append(float(value))
        elif isinstance(value, str):
            infinite = value.strip().lower() in ("inf", "-inf", "+inf")
            parsed = [float(value)] if infinite else parse_numbers([value])
            found += [] if parsed is None else [float(parsed[0])]
    return found


def _is_among(value: Any, numbers: Sequence[float]) -> bool:
    return any(number in numbers for number in _as_numbers([value]))


def _drop_markers(filled: Column, na_values: Collection[Any]) -> tuple[Column, tuple[str, ...]]:
    """Mark what stands for a missing value as missing."""
    numbers, others = _as_numbers(na_values), [value for value in na_values if not is_number(value)]
    is_dropped = [
        is_marker(level) or level in others or (bool(numbers) and _is_among(level, numbers))
        for level in filled.levels
    ]
    if not any(is_dropped):
        return filled, ()
    dropped = [level for level, is_out in zip(filled.levels, is_dropped, strict=True) if is_out]
    return _drop_levels(filled, is_dropped), (_say_markers(dropped),)


def _say_markers(markers: Sequence[object]) -> str:
    shown = ", ".join(repr(marker) for marker in markers[:_SHOWN_MARKERS])
    return f"{shown}{', ...' if len(markers) > _SHOWN_MARKERS else ''} read as missing"


def _drop_levels(column: Column, is_dropped: Sequence[bool]) -> Column:
    levels = tuple(
        level for level, is_out in zip(column.levels, is_dropped, strict=True) if not is_out
    )
    mark = len(levels)
    is_kept = ~np.array([*is_dropped, True])
    codes = np.where(is_kept, np.cumsum(is_kept) - 1, mark)
    return Column(codes.astype(_wide_dtype(mark + 1))[column.codes], levels, has_missing=True)


def _list_levels(values: Any) -> Column:
    """Encode values of more levels than codes can tell apart, for a look at the levels."""
    listed: list[Any] = values.to_list() if hasattr(values, "to_list") else list(values)
    absent = [is_missing(value) for value in listed]
    known = [value for value, is_absent in zip(listed, absent, strict=True) if not is_absent]
    found = {value: code for code, value in enumerate(distinct_values(known))}
    codes = np.array(
        [len(found) if gone else found[x] for x, gone in zip(listed, absent, strict=True)]
    )
    return Column(codes, tuple(found), has_missing=any(absent))


def _number_levels(numbers: Floats) -> Column:
    """Encode numbers by their distinct values, however many."""
    is_known = ~np.isnan(numbers)
    codes, levels = encode_by_lookup(numbers[is_known])
    shown = tuple((levels + 0.0).tolist())
    if is_known.all():
        return Column(codes, shown)
    spread = np.full(len(numbers), len(shown), code_dtype(len(shown) + 1))
    spread[is_known] = codes
    return Column(spread, shown, has_missing=True)


def _spread(values: Floats, column: Column) -> Floats:
    """Put the values of levels into their rows."""
    numbers: Floats = np.append(values, np.nan)[column.codes]
    return numbers


def _wide_dtype(n_codes: int) -> npt.DTypeLike:
    return np.int64 if n_codes > 1 << 16 else code_dtype(n_codes)


def _is_ordered(values: Any) -> bool:
    """Whether a column has categories in an order of their own."""
    native = values.to_native() if hasattr(values, "to_native") else values
    return bool(getattr(getattr(native, "dtype", None), "ordered", False))
