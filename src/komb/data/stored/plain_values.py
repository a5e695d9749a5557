"""Names and levels as JSON, and back.

Text, whole numbers, booleans, finite floats and nothing are themselves; every other kind of value
is an object with one entry, the name of its kind.

>>> to_json(3), to_json(Decimal("1.5")), from_json({"decimal": "1.5"})
(3, {'decimal': '1.5'}, Decimal('1.5'))
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np


def _write_float(value: float) -> str:
    return value.hex() if math.isfinite(value) else str(value)


def _read_float(text: str) -> float:
    return float.fromhex(text) if "x" in text else float(text)


def _write_instant(value: np.datetime64 | np.timedelta64) -> list[Any]:
    return [str(value.dtype), int(value.astype(np.int64))]


def _read_instant(parts: list[Any]) -> Any:
    kind, number = parts
    return np.array(number, dtype=np.int64).astype(np.dtype(kind))[()]


def _write_duration(value: dt.timedelta) -> list[int]:
    return [value.days, value.seconds, value.microseconds]


_KINDS: dict[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    # a datetime is a date as well, so it comes first
    "datetime": (dt.datetime, dt.datetime.isoformat, dt.datetime.fromisoformat),
    "date": (dt.date, dt.date.isoformat, dt.date.fromisoformat),
    "time": (dt.time, dt.time.isoformat, dt.time.fromisoformat),
    "duration": (dt.timedelta, _write_duration, lambda parts: dt.timedelta(*parts)),
    "decimal": (Decimal, str, Decimal),
    "fraction": (Fraction, str, Fraction),
    "bytes": (bytes, bytes.hex, bytes.fromhex),
    "instant": (np.datetime64, _write_instant, _read_instant),
    "span": (np.timedelta64, _write_instant, _read_instant),
    "float": (float, _write_float, _read_float),
    "tuple": (
        tuple,
        lambda value: [to_json(each) for each in value],
        lambda parts: tuple(from_json(each) for each in parts),
    ),
}


def to_json(value: object) -> Any:
    """Return what stands for a name or level in JSON; TypeError if nothing does."""
    if value is None or type(value) in (str, int, bool):
        return value
    if type(value) is float and math.isfinite(value):
        return value
    for kind, (python_type, write, _) in _KINDS.items():
        if isinstance(value, python_type):
            written = {kind: write(value)}
            if from_json(written) != value:  # a type of somebody else's, with more to it
                break
            return written
    raise TypeError(f"values of type {type(value).__name__!r} cannot be written")


def from_json(value: Any) -> Any:
    """Return the name or level that some JSON stands for; ValueError if there is none such."""
    if value is None or isinstance(value, str | int | float):
        return value
    if not isinstance(value, dict) or len(value) != 1:
        raise ValueError(f"{value!r} is no value")
    [(kind, written)] = value.items()
    if kind not in _KINDS:
        raise ValueError(f"there is no kind of value {kind!r}")
    try:
        return _KINDS[kind][2](written)
    except (TypeError, ArithmeticError, AttributeError) as error:
        raise ValueError(f"{written!r} is no {kind}: {error}") from None
