"""Names, levels and what was said about reading as JSON, and back.

Text, numbers, booleans and nothing are themselves; every other kind of value is an object with one
entry, the name of its kind.

>>> to_json((3, "a")), from_json({"date": "2020-02-29"})
({'tuple': [3, 'a']}, datetime.date(2020, 2, 29))
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np


def _write_instant(value: np.datetime64 | np.timedelta64) -> list[Any]:
    return [str(value.dtype), int(value.astype(np.int64))]


def _read_instant(parts: list[Any]) -> Any:
    kind, number = parts
    return np.array(number, dtype=np.int64).astype(np.dtype(kind))[()]


def _write_pairs(value: Mapping[Any, Any]) -> list[Any]:
    return [[to_json(key), to_json(each)] for key, each in value.items()]


def _read_pairs(pairs: list[Any]) -> dict[Any, Any]:
    return {from_json(key): from_json(each) for key, each in pairs}


_KINDS: dict[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    # a datetime is a date as well, so it comes first
    "datetime": (dt.datetime, dt.datetime.isoformat, dt.datetime.fromisoformat),
    "date": (dt.date, dt.date.isoformat, dt.date.fromisoformat),
    "time": (dt.time, dt.time.isoformat, dt.time.fromisoformat),
    "duration": (
        dt.timedelta,
        lambda value: [value.days, value.seconds, value.microseconds],
        lambda parts: dt.timedelta(*parts),
    ),
    "instant": (np.datetime64, _write_instant, _read_instant),
    "span": (np.timedelta64, _write_instant, _read_instant),
    "tuple": (
        tuple,
        lambda value: [to_json(each) for each in value],
        lambda parts: tuple(from_json(each) for each in parts),
    ),
    "list": (
        list,
        lambda value: [to_json(each) for each in value],
        lambda parts: [from_json(each) for each in parts],
    ),
    "mapping": (Mapping, _write_pairs, _read_pairs),
}


def to_json(value: object) -> Any:
    """Return what stands for a value in JSON; TypeError if nothing does."""
    if value is None or type(value) in (str, int, bool):
        return value
    if type(value) is float and not math.isnan(value):
        return value
    for kind, (python_type, write, _) in _KINDS.items():
        if isinstance(value, python_type):
            written = {kind: write(value)}
            if from_json(written) != value:  # a type of somebody else's, with more to it
                break
            return written
    raise TypeError(f"values of type {type(value).__name__!r} cannot be written")


def from_json(value: Any) -> Any:
    """Return the value that some JSON stands for; ValueError if there is none such."""
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
