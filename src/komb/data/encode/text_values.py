"""Text that stands for something else: missing values, numbers, dates and times.

Everything works on the distinct values of a column, never on its rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

MISSING_MARKERS = frozenset(
    ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "?", ".")
)
"""Text that stands for a missing value. "None" does not: it is a level in known networks."""

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_ZERO_PADDED = re.compile(r"[-+]?0\d")
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?")
_DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+([eE][-+]?\d+)?")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TRIED = 20  # values that rule out most formats of dates
_FORMATS = (
    "%Y/%m/%d",
    "%Y-%m",
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%m/%d/%y",
    "%d/%m/%y",
    "%d.%m.%Y",
    "%d.%m.%y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%d-%b-%Y",
    "%d-%b-%y",
    "%b %d %Y",
    "%b %d, %Y",
    "%B %d, %Y",
    "%d %b %Y",
    "%d %B %Y",
    "%m/%y",
    "%m/%Y",
    "%b %Y",
    "%B %Y",
    "%a %b %d %Y",
    "%H:%M",
    "%H:%M:%S",
    "%I:%M %p",
)
_CLOCKS = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")


def is_marker(value: object) -> bool:
    """Tell whether a value is text that stands for a missing value."""
    return isinstance(value, str) and value.strip() in MISSING_MARKERS


def parse_numbers(texts: Sequence[str]) -> Floats | None:
    """Read text as numbers, with a decimal point or comma; ``None`` if one is something else.

    Numerals with leading zeros such as ``007`` are codes. A comma separates thousands if each is
    followed by three digits, and decimals otherwise. A currency sign in front and a percent sign
    behind do not matter.
    """
    bare = [text.strip().lstrip("$€£").rstrip("%").strip() for text in texts]
    with_comma = [text for text in bare if "," in text]
    if with_comma:
        if all(_THOUSANDS.fullmatch(text) for text in with_comma):
            bare = [text.replace(",", "") for text in bare]
        elif all(_DECIMAL_COMMA.fullmatch(text) for text in with_comma) and not any(
            "." in text for text in bare
        ):
            bare = [text.replace(",", ".") for text in bare]
        else:
            return None
    if any(_ZERO_PADDED.match(text) or not _NUMBER.fullmatch(text) for text in bare):
        return None
    return np.array([float(text) for text in bare])


def parse_times(texts: Sequence[str]) -> Floats | None:
    """Read text as dates or times, in seconds since 1970; ``None`` if one is something else.

    ISO 8601 first, then the usual ways to write a day. Where day and month could be either, the
    month comes first.
    """
    if not all(any(map(str.isdigit, text)) for text in texts):
        return None
    found = _parse_all(datetime.fromisoformat, texts)
    if found is not None:
        return found
    for day in _FORMATS:
        for clock in _CLOCKS if "%H" not in day and "%I" not in day else ("",):
            found = _parse_all(_parser(day + clock), texts)
            if found is not None:
                return found
    return None


def _parser(form: str) -> Callable[[str], datetime]:
    return lambda text: datetime.strptime(text, form)


def _parse_all(parse: Callable[[str], datetime], texts: Sequence[str]) -> Floats | None:
    try:
        for text in texts[:_TRIED]:
            parse(text.strip())
        return np.array([_to_seconds(parse(text.strip())) for text in texts])
    except ValueError:
        return None


def level_times(levels: Sequence[Any]) -> Floats | None:
    """Return dates, times or durations as seconds; ``None`` if one is something else."""
    try:
        return np.array([_to_seconds(level) for level in levels], np.float64)
    except TypeError:
        return None


def _to_seconds(value: Any) -> float:
    if hasattr(value, "to_timestamp"):  # a period of pandas
        value = value.to_timestamp()
    if isinstance(value, np.datetime64):
        return float((value - np.datetime64(0, "s")) / np.timedelta64(1, "s"))
    if isinstance(value, np.timedelta64):
        return float(value / np.timedelta64(1, "s"))
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, datetime):
        aware = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
        return (aware - _EPOCH).total_seconds()
    if isinstance(value, date):
        return (value - _EPOCH.date()).total_seconds()
    if isinstance(value, time):
        return value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6
    raise TypeError
