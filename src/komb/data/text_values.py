"""Text that stands for something else: missing values, numbers, dates and times.

A *form* is a way to read text as numbers or as seconds. Which forms fit is found from the distinct
values of a column; then polars reads all of them at once.
"""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import numpy.typing as npt
import polars as pl

Floats = npt.NDArray[np.float64]

MISSING_MARKS = frozenset(
    ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "?", ".")
)
"""Text that stands for a missing value. "None" does not: it is a level in known networks."""

POINT, COMMA, ISO = "point", "comma", "iso"
"""Numbers with a decimal point or comma; dates and times by ISO 8601."""

NUMBER_FORMS = (POINT, COMMA)
"""Forms of numbers; all others are of dates and times."""

_POWER = r"(?:[eE][-+]?[0-9]+)?$"
# Numerals with leading zeros such as 007 are codes.
_WHOLE = r"(?:0|[1-9][0-9]*)"
_THOUSANDS = r"[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]*)?$"
_INFINITE = r"(?i:inf|infinity)$"
_NUMBERS = {
    POINT: rf"^[-+]?(?:(?:{_WHOLE}(?:\.[0-9]*)?|\.[0-9]+){_POWER}|{_THOUSANDS}|{_INFINITE})",
    COMMA: rf"^[-+]?(?:{_WHOLE}?,[0-9]+|{_WHOLE}){_POWER}",
}
_CLOCK = r"[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[-+][0-9]{2}:?[0-9]{2})?"
_ISO = rf"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(?:{_CLOCK})?$"
_ISO_FORMS = (
    "%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M%#z",
    "%Y-%m-%d %H:%M:%S%.f%#z",
)  # fmt: skip
_DAYS = (
    "%Y/%m/%d", "%Y-%m", "%m/%d/%Y", "%d/%m/%Y", "%m/%d/%y", "%d/%m/%y", "%d.%m.%Y", "%d.%m.%y",
    "%d-%m-%Y", "%m-%d-%Y", "%d-%b-%Y", "%d-%b-%y", "%b %d %Y", "%b %d, %Y", "%B %d, %Y",
    "%d %b %Y", "%d %B %Y", "%m/%y", "%m/%Y", "%b %Y", "%B %Y", "%a %b %d %Y",
)  # fmt: skip
_CLOCKS = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
_TIMES = ("%H:%M", "%H:%M:%S", "%I:%M %p")
_FIELDS = {
    "%Y": "[0-9]{4}", "%b": "[A-Za-z]{3}", "%a": "[A-Za-z]{3}", "%B": "[A-Za-z]+",
    "%p": "[AaPp][Mm]", "%y": "[0-9]{2}",
}  # fmt: skip


@cache
def _time_patterns() -> dict[str, str]:
    """Return what times of each form look like; the month comes first where it may be either."""
    forms = [*(day + clock for day in _DAYS for clock in _CLOCKS), *_TIMES]
    patterns = {
        form: re.sub("%.", lambda x: _FIELDS.get(x[0], "[0-9]{1,2}"), form.replace(".", r"\."))
        for form in forms
    }
    return {ISO: _ISO} | {form: f"^{pattern}$" for form, pattern in patterns.items()}


def is_mark(value: object) -> bool:
    """Tell whether a value is text that stands for a missing value."""
    return isinstance(value, str) and value.strip() in MISSING_MARKS


def marks_in(distinct: pl.Series) -> set[str]:
    """Return those of some distinct texts that stand for a missing value."""
    return {*distinct.filter(distinct.str.strip_chars().is_in(MISSING_MARKS))}


def read_forms(distinct: pl.Series) -> dict[str, Floats]:
    """Read some distinct texts in all forms that every one of them has; numbers before times."""
    first = distinct[0]
    bare, text = _strip_signs(first), first.strip()
    found = {
        form: read_form(distinct, form)
        for form, pattern in _NUMBERS.items()
        if re.match(pattern, bare) and _bare(distinct).str.contains(pattern).all()
    }
    times = _time_patterns() if any(map(str.isdigit, text)) else {}
    for form, pattern in times.items():
        if re.match(pattern, text) and distinct.str.strip_chars().str.contains(pattern).all():
            times_read = read_form(distinct, form)
            found |= {} if np.isnan(times_read).any() else {form: times_read}
    return found


def _strip_signs(text: str) -> str:
    return text.strip().lstrip("$€£").rstrip("%").strip()


def _bare(texts: pl.Series) -> pl.Series:
    """Drop blanks, a currency sign in front, and a percent sign behind."""
    inner = texts.str.strip_chars().str.strip_chars_start("$€£").str.strip_chars_end("%")
    return inner.str.strip_chars()


def read_each(words: list[str]) -> Floats:
    """Read each text as the number that it is by itself; NaN where it is none."""
    texts = pl.Series([word.encode("utf-8", "replace").decode() for word in words])  # no surrogates
    numbers = np.full(len(texts), np.nan)
    for form, pattern in reversed(_NUMBERS.items()):
        is_one = _bare(texts).str.contains(pattern).to_numpy()
        numbers[is_one] = read_form(texts, form)[is_one]
    return numbers


def read_form(texts: pl.Series, form: str) -> Floats:
    """Read text as numbers, or as seconds since 1970 or midnight; NaN where it is neither."""
    if form in _NUMBERS:
        mark = "" if form == POINT else "."
        written = _bare(texts).str.replace_all(",", mark, literal=True)
        return written.cast(pl.Float64, strict=False).to_numpy()
    text = texts.str.strip_chars()
    if form in _TIMES:
        return _seconds(text.str.to_time(form, strict=False), 1e9)
    if form == ISO:
        text = text.str.replace("T", " ", literal=True)
        found = pl.repeat(None, len(text), dtype=pl.Int64, eager=True)
        for each in sorted(_ISO_FORMS, key=lambda form: _instants(text[:1], form).null_count()):
            if (
                found.null_count() > text.null_count()
            ):  # most columns are in the form of their first
                found = found.fill_null(_instants(text, each))
        return _seconds(found, 1e6)
    if "%d" not in form:  # a month; its first day
        text, form = "1 " + text, f"%d {form}"
    return _seconds(_instants(text, form), 1e6)


def _instants(texts: pl.Series, form: str) -> pl.Series:
    return texts.str.to_datetime(form, time_unit="us", strict=False).cast(pl.Int64)


def _seconds(times: pl.Series, per_second: float) -> Floats:
    seconds: Floats = times.cast(pl.Int64).cast(pl.Float64).to_numpy() / per_second
    return seconds
