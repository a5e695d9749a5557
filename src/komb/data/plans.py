"""What becomes of a column, once all of it has been seen.

The rules, the first that applies to a column whose type is to be found:

==================================================  ==========  ==============================
what it holds                                       kind        treatment
==================================================  ==========  ==============================
no value at all                                     empty       left out
lists, records and the like                         nested      left out
truth values                                        nominal     by levels
numbers of at most 20 distinct values               ordinal     by levels
whole numbers 0 (or 1) to the number of rows,
unless the column is called a time                  identifier  left out
many whole numbers or texts, in a column called id  identifier  left out
many whole numbers                                  ordinal     by values, or cut into bins
many numbers, not all whole                         continuous  by values, or cut into bins
dates and times, at most 20                         time        by levels
dates and times                                     time        by values, or cut into bins
text or categories, different in most rows          identifier  left out
... of several words                                text        left out
text or categories                                  nominal     by levels
==================================================  ==========  ==============================

Text of more than 20 levels that is all numbers or all dates counts as such. Strict types are those
of a caller who says all that is to be said: every column goes by its levels unless it is to be cut.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from komb.data.bins import EVEN, Floats, bins_of
from komb.data.columns import Column, python_values
from komb.data.kinds import (
    BINS,
    CONTINUOUS,
    EMPTY,
    IDENTIFIER,
    LEFT_OUT,
    LEVELS,
    NESTED,
    NOMINAL,
    NUMERIC,
    ORDINAL,
    TEXT,
    TIME,
    ColumnType,
)
from komb.data.levels import CodeArray, Levels, code_dtype, sort_levels
from komb.data.names import Name
from komb.data.options import Cut, Rule
from komb.data.problems import (
    FEW_LEVELS,
    MAX_LEVELS,
    Continuous,
    Infinite,
    LeftOut,
    Missing,
    MistakenType,
    not_to_be_cut,
    show_count,
    too_many_levels,
)
from komb.data.summary import AS_IT_IS, Nature, Numbers, Summary, drop_marks
from komb.data.text_values import NUMBER_FORMS

_MANY_LEVELS = 50  # a reader is told of so many
_FEW_ROWS = 10  # so few rows may well have a name each that is a level
_WORDS_OF_TEXT = 4  # on average, from here on text is prose
_SHOWN_MARKS = 3
_EXACT = 1 << 53  # whole numbers up to here are floats as well
_ID_NAME = re.compile(
    r"(?i:(.*[_.\s-])?([pusrcfi]?id|ids|uuid|guid|index|key|identifier|row[_.]?(names?|num(ber)?|id|no)|"
    r"record_?(num(ber)?|id|no)|serial_?(num(ber)?|no)?|(subject|patient|person|participant|"
    r"customer|user|client|respondent|employee|household|account)_?(id|no|num(ber)?|code)?))|"
    r"(?i:unnamed):? ?\d*|.*[a-z](Id|ID)"
)
_TIME_NAME = re.compile(r"(?i:.*(time|date|year|month|week|day|hour|period|quarter|trend).*|t)")


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """How a column is encoded."""

    name: Name
    levels: Levels  # in the order of their codes; with None as the last if missing values are one
    n_missing: int = 0  # that are marked with the code after the last level
    type: ColumnType | None = None  # if it was found
    marks: frozenset[Any] = frozenset()  # what is read as missing
    form: str = AS_IT_IS  # in which text is read as numbers
    ordered: Levels = ()  # categories whose places are numbers
    way: Cut | None = None  # how it is cut
    cuts: tuple[float, ...] | None = None
    bin_codes: tuple[int, ...] = ()  # of each bin
    are_times: bool = False  # whether cut points are
    has_numbers: bool = False  # whether the table keeps its values
    may_be_codes: bool = False  # if all other columns are codes as well

    @property
    def mark(self) -> int:
        """The code of a missing value, be it a level or not."""
        return len(self.levels) - (self.levels[-1:] == (None,))

    @property
    def n_codes(self) -> int:
        """Levels, and one more if values are marked as missing."""
        return len(self.levels) + (self.n_missing > 0)

    def encode(self, column: Column) -> CodeArray:
        """Return the codes of a batch of the column."""
        if self.cuts is None:
            codes = _find_levels(drop_marks(column, self.marks), self.levels[: self.mark])
        else:
            numbers = self.read_numbers(column)
            codes = np.array(self.bin_codes, np.uint16)[bins_of(numbers, self.cuts)]
            codes[np.isnan(numbers)] = self.mark
        return codes.astype(code_dtype(self.n_codes), copy=False)

    def read_numbers(self, column: Column) -> Floats:
        """Return a batch of the column as numbers, NaN where a value is missing."""
        column = drop_marks(column, self.marks)
        if self.form:
            return column.read(self.form)
        if not self.ordered:
            return column.to_floats()
        places = _find_levels(column, self.ordered)
        return np.where(places == len(self.ordered), np.nan, places)


def _find_levels(column: Column, levels: tuple[Any, ...]) -> npt.NDArray[Any]:
    """Look values up among levels; what is not there has the number after the last one."""
    number = {level: code for code, level in enumerate(levels)}
    values, mark = column.values, len(levels)
    if column.levels is not None:
        codes = np.array([*(number.get(level, mark) for level in column.levels), mark])
        found = codes[values.fill_null(len(column.levels)).to_numpy()]
    elif values.dtype == pl.String and all(isinstance(level, str) for level in levels):
        places = values.cast(pl.Enum(levels), strict=False).to_physical()
        found = (places.fill_null(mark) if places.null_count() else places).to_numpy()
    elif column.is_number and all(type(x) in (int, float) and abs(x) <= _EXACT for x in levels):
        found = np.searchsorted(np.array(levels, np.float64), column.to_floats())
    else:
        seen = values.unique()
        codes_seen = [number.get(value, mark) for value in python_values(seen)]
        codes_of = partial(values.replace_strict, return_dtype=pl.UInt16, default=mark)
        found = codes_of(seen, codes_seen).fill_null(mark).to_numpy()
    return np.asarray(found)


def decide(name: Name, found: Summary, rule: Rule, *, are_codes: bool = False) -> ColumnPlan:
    """Decide how a column is encoded, or raise what is wrong with it.

    ``are_codes``: all columns of the table are numbers, and may be codes.
    """
    is_refused = found.n_missing > 0 and rule.missing == "error"
    if not found.n_known and (is_refused or rule.is_strict):
        raise Missing(found.n_missing, found.first_missing, found.n_rows)
    if rule.is_strict:
        if is_refused:  # that comes first: what is done about it may change what else is wrong
            raise Missing(found.n_missing, found.first_missing, found.n_rows)
        return _settle_missing(_plan_strictly(name, found, rule), found, rule)
    if are_codes:
        reason = "codes, as in all columns"
        plan = _plan_levels(name, found, ColumnType(NOMINAL, LEVELS, found.n_missing, reason))
    else:
        plan = _plan_found(name, found, rule)
    return _settle_missing(plan, found, rule)


def _settle_missing(plan: ColumnPlan, found: Summary, rule: Rule) -> ColumnPlan:
    """Say what stands for a missing value; bins are levels that are found later."""
    if not found.n_missing or rule.missing == "testwise":
        return replace(plan, marks=found.marks, n_missing=found.n_missing)
    if rule.missing == "error":
        raise Missing(found.n_missing, found.first_missing, found.n_rows)
    if len(plan.levels) == MAX_LEVELS:
        raise too_many_levels(MAX_LEVELS + 1)
    return replace(plan, marks=found.marks, levels=(*plan.levels, None), has_numbers=False)


def _plan_strictly(name: Name, found: Summary, rule: Rule) -> ColumnPlan:
    numbers = found.readings[AS_IT_IS] if found.nature == Nature.NUMBER else None
    if rule.is_cut_by_name and numbers is None:
        raise not_to_be_cut()
    if numbers is not None:
        has_many = numbers.has_many(found.n_known)
        if rule.cut is not None and (rule.is_cut_by_name or has_many or numbers.n_infinite):
            return ColumnPlan(name, (), way=rule.cut)
        if numbers.n_infinite:
            raise Continuous("holds infinite values")
        if has_many and not numbers.is_whole:
            raise Continuous.because_of(numbers.n_distinct, found.n_known)
    return ColumnPlan(name, found.list_levels())


class _Reading(NamedTuple):
    """As what values are read."""

    nature: Nature
    numbers: Numbers | None = None
    form: str = AS_IT_IS

    @classmethod
    def of(cls, found: Summary, *, is_wanted: bool) -> _Reading:
        """Read text as numbers or times if it has many levels, or somebody wants it."""
        if found.nature == Nature.TEXT and (is_wanted or found.n_levels > FEW_LEVELS):
            for form, numbers in found.readings.items():
                return cls(Nature.NUMBER if form in NUMBER_FORMS else Nature.TIME, numbers, form)
        levels: npt.NDArray[Any] = np.arange(len(found.levels or ()))
        if found.is_ordered or (found.nature == Nature.BOOLEAN and is_wanted):
            return cls(found.nature, Numbers.of(levels, len(levels)))
        return cls(found.nature, found.readings.get(AS_IT_IS))


def _plan_found(name: Name, found: Summary, rule: Rule) -> ColumnPlan:
    """Decide by what was found, and by what the caller has named."""
    is_named = rule.is_cut_by_name
    reading = _Reading.of(found, is_wanted=rule.kind is not None or is_named)
    kind, reason = (rule.kind, "") if rule.kind else _find_kind(name, found, reading)
    if found.nature in (Nature.NOTHING, Nature.NESTED) and kind not in (IDENTIFIER, TEXT):
        kind, reason = _find_kind(name, found, reading)
    remark = ""
    if reading.form and found.n_levels > FEW_LEVELS and kind != NOMINAL:
        remark = f"text read as {'numbers' if reading.nature == Nature.NUMBER else 'times'}"
    reason = "; ".join(filter(None, (_say_marks(found), remark, reason)))
    column = ColumnType(kind, LEFT_OUT, found.n_missing, reason)
    if kind in (EMPTY, NESTED) or (kind in (IDENTIFIER, TEXT) and not is_named):
        raise LeftOut(column)
    if is_named and reading.numbers is None:
        raise not_to_be_cut()
    if is_named and kind not in NUMERIC:
        column = replace(column, kind=ORDINAL)
    if column.kind not in NUMERIC or not (rule.kind or is_named or reading.numbers):
        return _plan_levels(name, found, column)
    if reading.numbers is None:
        levels = found.list_levels()
        raise MistakenType(kind, [x for x in levels if isinstance(x, str)] or levels)
    are_times = reading.nature == Nature.TIME
    ordered = found.list_levels() if found.is_ordered else ()
    plan = ColumnPlan(
        name, (), type=column, form=reading.form, ordered=ordered, are_times=are_times
    )
    return _plan_numbers(plan, found, rule, reading.numbers)


def _plan_levels(name: Name, found: Summary, column: ColumnType) -> ColumnPlan:
    levels = found.list_levels()
    reason = column.reason
    if len(levels) > _MANY_LEVELS and not reason:
        reason = f"{len(levels):,} levels"
    return ColumnPlan(name, levels, type=replace(column, treatment=LEVELS, reason=reason))


def _plan_numbers(plan: ColumnPlan, found: Summary, rule: Rule, numbers: Numbers) -> ColumnPlan:
    """Cut numbers with many values, for tests that know levels only; others take the values."""
    assert plan.type is not None
    has_many, is_wanted = numbers.has_many(found.n_known), rule.kind is not None
    column = replace(plan.type, treatment=BINS)
    if rule.cut is not None and (rule.is_cut_by_name or has_many):  # values are kept for strata
        return replace(plan, way=rule.cut, type=column, has_numbers=not rule.is_cut_by_name)
    if numbers.n_infinite:
        raise Infinite(numbers.n_infinite)
    if not has_many:
        by_levels = _plan_levels(plan.name, found, plan.type)
        return replace(plan, levels=by_levels.levels, type=by_levels.type, has_numbers=is_wanted)
    may_be_codes = numbers.are_codes() and not is_wanted
    return replace(plan, way=EVEN, type=column, has_numbers=True, may_be_codes=may_be_codes)


def _find_kind(name: Name, found: Summary, reading: _Reading) -> tuple[str, str]:
    """Find the kind of a column, and why where that is not obvious."""
    if reading.nature == Nature.NOTHING:
        return EMPTY, "no value in any row"
    if reading.nature == Nature.NESTED:
        return NESTED, "" if found.problem is None else found.problem.why
    if reading.nature == Nature.BOOLEAN:
        return NOMINAL, ""
    if reading.nature == Nature.TIME:
        return TIME, ""
    if reading.numbers is None:
        return _find_kind_of_words(name, found)
    has_many = reading.numbers.has_many(found.n_known)
    if found.is_ordered:
        return (ORDINAL, "ordered categories") if has_many else (NOMINAL, "")
    if has_many and not reading.numbers.is_whole:
        return CONTINUOUS, ""
    is_time = isinstance(name, str) and _TIME_NAME.fullmatch(name)
    if (
        has_many
        and not is_time
        and not found.n_missing
        and reading.numbers.number_rows(found.n_rows)
    ):
        return IDENTIFIER, "numbers the rows"
    if has_many and _is_called_identifier(name):
        return IDENTIFIER, "many whole numbers, by its name an identifier"
    return ORDINAL, ""


def _is_called_identifier(name: Name) -> bool:
    return isinstance(name, str) and _ID_NAME.fullmatch(name.strip()) is not None


def _find_kind_of_words(name: Name, found: Summary) -> tuple[str, str]:
    n_levels, n_known = found.n_levels, found.n_known
    is_unique = n_levels == n_known > _FEW_ROWS
    most = min(max(FEW_LEVELS, n_known // 2), MAX_LEVELS)
    if not is_unique and n_levels <= most:
        if n_levels > FEW_LEVELS and _is_called_identifier(name):
            return IDENTIFIER, "many values, by its name an identifier"
        return NOMINAL, ""
    counts = f"{show_count(n_levels)} distinct values in {n_known:,} rows"
    is_prose = found.n_texts and found.n_words >= _WORDS_OF_TEXT * found.n_texts
    return TEXT if is_prose else IDENTIFIER, counts


def _say_marks(found: Summary) -> str:
    """Say what was read as missing."""
    marks = sort_levels(found.marks)
    shown = ", ".join(repr(mark) for mark in marks[:_SHOWN_MARKS])
    return f"{shown}{', ...' if len(marks) > _SHOWN_MARKS else ''} read as missing" if marks else ""
