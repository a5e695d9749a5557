"""What is known of a column after some batches of its rows; what follows from it is decided later.

:func:`gather` looks at one batch, and summaries add up: a frame in memory is one batch, a file
many. Nothing depends on the order of the rows. What is kept is bounded: distinct values are listed
up to the number of levels that a column may have.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum, auto
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from komb.data.columns import Column, distinct_values, make_column, python_values
from komb.data.levels import Levels, sort_levels
from komb.data.options import Rule
from komb.data.problems import (
    FEW_LEVELS,
    MANY,
    MAX_LEVELS,
    Unusable,
    most_distinct_fractions,
    too_many_levels,
)
from komb.data.text_values import is_mark, marks_in, read_each, read_forms

Array: TypeAlias = npt.NDArray[Any]


class Nature(StrEnum):
    """What values are."""

    NOTHING = auto()
    BOOLEAN = auto()
    NUMBER = auto()
    SPAN = auto()  # of time
    TIME = auto()
    TEXT = auto()
    MIXED = auto()  # values of several types, and categories
    NESTED = auto()  # what cannot be levels


AS_IT_IS = ""
"""How numbers and times are read; text has a form instead."""

MOST_CODES = 100
"""Levels of a column of numbers in a table that is encoded already."""

_SHARE_OF_CODES = 0.9  # of the codes up to the largest one that must occur
_SAMPLE = 4_096  # rows that settle most of the time that a column has many values
_CHUNK = 1 << 22  # numbers that are hashed together


@dataclass(frozen=True)
class Numbers:
    """What is known of numbers, of times in seconds, or of text read as either."""

    distinct: Array | None  # in order, unless there are more than were asked for
    n_distinct: int  # at least
    low: float  # of finite numbers
    high: float
    is_whole: bool
    n_infinite: int
    checksum: int  # of whole numbers that are not listed, whatever their order

    @classmethod
    def of(cls, known: Array, most: int) -> Numbers:
        """Look at numbers, none of them missing; list no more than so many distinct ones."""
        finite, is_whole = known, known.dtype.kind in "iu"
        if known.dtype.kind == "f":
            is_finite = np.isfinite(known)
            finite = known if is_finite.all() else known[is_finite]
            is_whole = bool((known == np.trunc(known)).all())
        distinct = _distinct(known, most)
        is_listed = distinct.size <= most
        return cls(
            distinct if is_listed else None,
            distinct.size,
            float(finite.min()) if finite.size else np.inf,
            float(finite.max()) if finite.size else -np.inf,
            is_whole,
            known.size - finite.size,
            _checksum(known) if is_whole and not is_listed else 0,
        )

    def __add__(self, other: Numbers) -> Numbers:
        distinct = None
        if self.distinct is not None and other.distinct is not None:
            distinct = np.union1d(self.distinct, other.distinct)
            distinct = None if distinct.size > MAX_LEVELS else distinct
        return Numbers(
            distinct,
            MANY if distinct is None else distinct.size,
            min(self.low, other.low),
            max(self.high, other.high),
            self.is_whole and other.is_whole,
            self.n_infinite + other.n_infinite,
            (self._sum() + other._sum()) % (1 << 64) if distinct is None else 0,
        )

    def _sum(self) -> int:
        return self.checksum if self.distinct is None else _checksum(self.distinct)

    def has_many(self, n_known: int) -> bool:
        """Whether there are too many values, of so many rows, to be levels."""
        limit = FEW_LEVELS if self.is_whole else most_distinct_fractions(n_known)
        return self.n_distinct > limit

    def number_rows(self, n_rows: int) -> bool:
        """Whether each of 0 (or 1) to the number of rows occurs once, in any order."""
        if not self.is_whole or self.low not in (0, 1) or self.high - self.low + 1 != n_rows:
            return False
        first = int(self.low)
        starts = range(first, first + n_rows, _CHUNK)
        chunks = (np.arange(x, min(x + _CHUNK, first + n_rows)) for x in starts)
        return self._sum() == sum(map(_checksum, chunks)) % (1 << 64)

    def are_codes(self) -> bool:
        """Whether they are whole, from 0 or 1 on, and nearly without gaps."""
        return self.is_whole and self.distinct is not None and are_codes(self.distinct.tolist())


def are_codes(levels: Collection[Any]) -> bool:
    """Whether levels are whole numbers from 0 or 1 on, nearly without gaps."""
    if len(levels) > MOST_CODES or not all(isinstance(x, Real) and x % 1 == 0 for x in levels):
        return False
    low, high = min(levels), max(levels)
    return low in (0, 1) and len(levels) >= _SHARE_OF_CODES * (high - low + 1)


def _distinct(known: Array, most: int) -> Array:
    """Return distinct numbers in order; some of them if there are more than so many."""
    sample = np.unique(known[:_SAMPLE])
    if len(known) > _SAMPLE and sample.size <= most:
        sample = pl.Series(known).unique().sort().to_numpy()
    return sample + 0.0 if sample.dtype.kind == "f" else sample  # -0.0 becomes 0.0


def _checksum(numbers: Array) -> int:
    return int(pl.Series(numbers.astype(np.float64)).hash().sum())


@dataclass(frozen=True)
class Summary:
    """What is known of a column."""

    nature: Nature = Nature.NOTHING
    n_rows: int = 0
    n_missing: int = 0
    first_missing: int = 0  # row of the first missing value
    levels: frozenset[Any] | None = frozenset()  # distinct values, unless there are too many
    n_levels: int = 0  # at least
    n_words: int = 0  # of so many texts
    n_texts: int = 0
    readings: Mapping[str, Numbers] = field(default_factory=dict)  # by the form of text
    categories: Mapping[Any, None] = field(default_factory=dict)  # in an order of their own
    is_ordered: bool = False  # whether that order counts
    marks: frozenset[Any] = frozenset()  # what was read as missing
    problem: Unusable | None = None  # why values cannot be levels

    @property
    def n_known(self) -> int:
        """How many values there are."""
        return self.n_rows - self.n_missing

    def list_levels(self) -> Levels:
        """Return the levels in their order, or raise if they are none."""
        if self.problem is not None:
            raise self.problem
        if self.levels is None or self.n_levels > MAX_LEVELS:
            raise too_many_levels(self.n_levels)
        if self.categories:
            return tuple(level for level in self.categories if level in self.levels)
        return tuple(sort_levels(self.levels))

    def __add__(self, other: Summary) -> Summary:
        """Add the rows of the next batch."""
        first = self.first_missing if self.n_missing else self.n_rows + other.first_missing
        rows = Summary(
            n_rows=self.n_rows + other.n_rows,
            n_missing=self.n_missing + other.n_missing,
            first_missing=first,
            marks=self.marks | other.marks,
        )
        if Nature.NOTHING in (self.nature, other.nature):
            return _of_rows(other if self.nature == Nature.NOTHING else self, rows)
        is_alike = self.nature == other.nature
        forms = [form for form in self.readings if is_alike and form in other.readings]
        levels = None
        if self.levels is not None and other.levels is not None:
            levels = frozenset(distinct_values([*self.levels, *other.levels]))
            levels = None if len(levels) > MAX_LEVELS else levels
        both = Summary(
            self.nature if is_alike else Nature.MIXED,
            levels=levels,
            n_levels=MANY if levels is None else len(levels),
            n_words=self.n_words + other.n_words,
            n_texts=self.n_texts + other.n_texts,
            readings={form: self.readings[form] + other.readings[form] for form in forms},
            categories={**self.categories, **other.categories},
            is_ordered=self.is_ordered and other.is_ordered,
            problem=self.problem or other.problem,
        )
        return _of_rows(both, rows)


def _of_rows(found: Summary, rows: Summary) -> Summary:
    return replace(
        found,
        n_rows=rows.n_rows,
        n_missing=rows.n_missing,
        first_missing=rows.first_missing,
        marks=rows.marks,
    )


def gather(column: Column, rule: Rule) -> Summary:
    """Look at one batch of a column."""
    n_rows = len(column.values)
    if column.problem is not None:
        return Summary(Nature.NESTED, n_rows, levels=None, problem=column.problem)
    marks = find_marks(column, rule)
    column = drop_marks(column, marks)
    is_out = column.is_missing()
    n_missing = int(np.count_nonzero(is_out))
    first = int(is_out.argmax()) if n_missing else 0
    rows = Summary(Nature.NOTHING, n_rows, n_missing, first, marks=marks)
    if n_missing == n_rows:
        return rows
    most = MAX_LEVELS if rule.lists_levels else MOST_CODES
    return _of_rows(_look(column, is_out, most), rows)


def _look(column: Column, is_out: npt.NDArray[np.bool_], most: int) -> Summary:
    """Look at the values that are there."""
    dtype = column.values.dtype
    if column.levels is not None:
        levels = frozenset(column.levels[place] for place in column.distinct.to_list())
        texts = [level for level in levels if isinstance(level, str)]
        return Summary(
            Nature.MIXED,
            levels=levels if len(levels) <= MAX_LEVELS else None,
            n_levels=len(levels),
            n_words=sum(len(text.split()) for text in texts),
            n_texts=len(texts),
            categories=dict.fromkeys(column.levels if column.has_order else ()),
            is_ordered=column.is_ordered,
        )
    if dtype == pl.Boolean:
        truths = frozenset(column.distinct.to_list())
        return Summary(Nature.BOOLEAN, levels=truths, n_levels=len(truths))
    if dtype == pl.String:
        return _look_at_text(column.distinct, most)
    # Whole numbers beyond those that floats can tell apart are listed as they are.
    is_whole = dtype.is_integer() and dtype not in (pl.Int128, pl.UInt128)
    values = column.values.drop_nulls().to_numpy() if is_whole else column.to_floats()[~is_out]
    numbers = Numbers.of(values, most)
    listed = None
    if numbers.distinct is not None:
        is_exact = is_whole or dtype.is_float()
        listed = numbers.distinct.tolist() if is_exact else python_values(column.distinct)
    nature = Nature.NUMBER if dtype.is_numeric() else Nature.TIME
    return Summary(
        Nature.SPAN if dtype == pl.Duration else nature,
        levels=None if listed is None else frozenset(listed),
        n_levels=numbers.n_distinct,
        readings={AS_IT_IS: numbers},
    )


def _look_at_text(distinct: pl.Series, most: int) -> Summary:
    return Summary(
        Nature.TEXT,
        levels=frozenset(distinct) if len(distinct) <= MAX_LEVELS else None,
        n_levels=len(distinct),
        n_words=int(distinct.str.count_matches(r"\S+").sum()),
        n_texts=len(distinct),
        readings={form: Numbers.of(own, most) for form, own in read_forms(distinct).items()},
    )


def find_marks(column: Column, rule: Rule) -> frozenset[Any]:
    """Find what stands for a missing value in a column."""
    if rule.is_strict:
        return frozenset()
    numbers = _as_numbers(rule.na_values)
    absent = set(numbers[~np.isnan(numbers)].tolist())
    if column.is_number:
        found = absent & set(np.unique(column.to_floats()).tolist()) if absent else ()
        given = zip(rule.na_values, numbers.tolist(), strict=True)
        return frozenset(value for value, number in given if number in found)
    others = [value for value in rule.na_values if not is_number(value)]
    is_text = column.levels is None and column.values.dtype == pl.String
    if is_text and not rule.na_values:
        return frozenset(marks_in(column.distinct))
    levels = column.levels
    if levels is None:
        listed = is_text or others
        levels = tuple(python_values(column.distinct) if listed else ())
    found = {level for level in levels if is_mark(level) or level in others}
    if absent:
        values = zip(levels, _as_numbers(levels).tolist(), strict=True)
        found |= {level for level, number in values if number in absent}
    return frozenset(found)


def drop_marks(column: Column, marks: frozenset[Any]) -> Column:
    """Mark as missing what stands for a missing value."""
    if not marks:
        return column
    if column.is_number:
        return column.without(np.isin(column.to_floats(), _as_numbers(tuple(marks))))
    if column.levels is None:
        is_out = column.values.is_in(list(marks)).fill_null(value=False)
        return column.without(is_out.to_numpy())
    is_level_out = np.array([level in marks for level in column.levels] + [False])
    codes = column.values.fill_null(len(column.levels)).to_numpy()
    kept = column.without(is_level_out[codes])
    if column.has_order:
        return kept
    values = [None if place is None else column.levels[place] for place in kept.values.to_list()]
    return make_column(values)  # what is left may well be of one type


def is_number(value: object) -> bool:
    """Whether a value is a number; truth values are not."""
    from decimal import Decimal

    is_truth = isinstance(value, bool | np.bool_)
    return isinstance(value, Real | Decimal) and not is_truth


def _as_numbers(values: Sequence[Any]) -> npt.NDArray[np.float64]:
    """Return values as numbers if they are, be it as text; NaN for all others."""
    numbers = np.array([float(value) if is_number(value) else np.nan for value in values])
    places = [place for place, value in enumerate(values) if isinstance(value, str)]
    if places:
        numbers[places] = read_each([values[place] for place in places])
    return numbers
