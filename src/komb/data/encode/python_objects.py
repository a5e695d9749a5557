"""Encode columns of arbitrary Python values: hashable, perhaps of several types."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from komb.data.encode.codes import Encoded, code_dtype
from komb.data.encode.column_errors import (
    MAX_LEVELS,
    Continuous,
    Missing,
    Unusable,
    most_distinct_fractions,
    too_many_levels,
)

_NEVER_EQUAL = {str, int, type(None)}  # unless they look alike too


def encode_objects(values: Sequence[Any]) -> Encoded:
    """Encode arbitrary hashable Python values; equal values (``1``, ``1.0``) are one level.

    Which of them stands for the level does not depend on the order of the rows.

    Levels are in natural order if they can be compared with each other, otherwise by the name of
    their type and then by their text.
    """
    try:
        distinct = distinct_values(values)
    except TypeError:
        raise Unusable(_describe_unhashable(values)) from None
    if missing := {id(value) for value in distinct if is_missing(value)}:
        Missing.check(np.fromiter((id(value) in missing for value in values), bool, len(values)))
    _refuse_measurements(list(distinct), len(values))
    if len(distinct) > MAX_LEVELS:
        raise too_many_levels(len(distinct))
    levels = sort_levels(distinct)
    number = {level: code for code, level in enumerate(levels)}
    dtype = code_dtype(len(levels))
    codes = np.fromiter(map(number.__getitem__, values), dtype, len(values))
    return Encoded(codes, tuple(map(_plain, levels)))


def distinct_values(values: Sequence[Any]) -> list[Any]:
    """Return the distinct values; of equal ones always the same, whichever came first."""
    if set(map(type, values)) <= _NEVER_EQUAL:
        return list(dict.fromkeys(values))
    shown: dict[Any, Any] = {}
    for _, _, value in dict.fromkeys(zip(map(type, values), map(str, values), values, strict=True)):
        shown[value] = max(shown.get(value, value), value, key=_type_and_text)
    return list(shown.values())


def _type_and_text(value: Any) -> tuple[str, str]:
    """Return a key by which whole numbers come after fractions and truth values."""
    return type(value).__name__, str(value)


def sort_levels(levels: Iterable[Any]) -> list[Any]:
    """Sort levels naturally, or by type and text where they cannot be compared."""
    found = list(levels)
    try:
        return sorted(found)
    except TypeError:
        return sorted(found, key=_type_and_text)


def _refuse_measurements(levels: Sequence[Any], n_rows: int) -> None:
    whole, fractional = (int, np.integer), (float, np.floating, Decimal, Fraction)
    if not all(isinstance(level, whole + fractional) for level in levels):
        return
    candidates: list[Any] = [level for level in levels if isinstance(level, fractional)]
    if any(math.isinf(level) for level in candidates):
        raise Continuous("holds infinite values")
    has_fractions = any(level != math.trunc(level) for level in candidates)
    if has_fractions and len(levels) > most_distinct_fractions(n_rows):
        raise Continuous.because_of(len(levels), n_rows)


def is_missing(value: Any) -> bool:
    """Tell whether a value stands for none: ``None``, NaN, NaT or NA of any library."""
    if value is None or type(value).__name__ == "NAType":  # pandas.NA refuses to be compared
        return True
    try:
        return bool(value != value)  # true of NaN and NaT of every library
    except (TypeError, ValueError, ArithmeticError):
        return False


def _plain(level: Any) -> object:
    if isinstance(level, np.generic) and not isinstance(level, np.datetime64 | np.timedelta64):
        return level.item()
    return level


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
