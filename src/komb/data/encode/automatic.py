"""Find the type of each column, and encode it by that.

The rules, the first that applies to a column:

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

Text that is all numbers or all dates counts as such. Where every column holds whole numbers from 0
or 1 on without gaps, the table is encoded already, and its codes are levels.

Nothing here depends on the order of the rows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from komb.data.encode.arrays import Columns, Later
from komb.data.encode.bin_labels import label_times
from komb.data.encode.codes import Column, Encoded, Name
from komb.data.encode.column_encoder import ColumnEncoder
from komb.data.encode.column_errors import (
    FEW_LEVELS,
    MAX_LEVELS,
    ColumnProblem,
    Infinite,
    LeftOut,
    Missing,
    MistakenType,
    not_to_be_cut,
    too_many_levels,
)
from komb.data.encode.column_types import (
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
from komb.data.encode.contents import (
    BOOLEAN,
    INSTANT,
    NOTHING,
    NUMBER,
    OTHER,
    Contents,
    read_as_numbers,
    read_contents,
)
from komb.data.encode.discretization import cut, even_cuts
from komb.data.encode.frames import encode_series
from komb.data.encode.integer_blocks import BlockColumn
from komb.data.encode.numbers import Floats
from komb.data.encode.treatment import Treatment

_MANY_LEVELS = 50  # a reader is told of so many
_FEW_ROWS = 10  # so few rows may well have a name each that is a level
_WORDS_OF_TEXT = 4  # on average, from here on text is prose
_MOST_CODES = 100  # levels of a column of an encoded table
_SHARE_OF_CODES = 0.9  # of the codes up to the largest one that must occur
_ID_NAME = re.compile(
    r"(?i:(.*[_.\s-])?([pusrcfi]?id|ids|uuid|guid|index|key|identifier|row[_.]?(names?|num(ber)?|id|no)|"
    r"record_?(num(ber)?|id|no)|serial_?(num(ber)?|no)?|(subject|patient|person|participant|"
    r"customer|user|client|respondent|employee|household|account)_?(id|no|num(ber)?|code)?))|"
    r"(?i:unnamed):? ?\d*|.*[a-z](Id|ID)"
)
_TIME_NAME = re.compile(r"(?i:.*(time|date|year|month|week|day|hour|period|quarter|trend).*|t)")


class AutomaticEncoder:
    """The encoder of the columns of one table, whose types it finds."""

    def __init__(
        self, treatment: Treatment, columns: Mapping[Name, Later], target: Name | None = None
    ) -> None:
        self._treatment = treatment
        self._columns = columns
        self._encoder = ColumnEncoder(replace(treatment, missing="testwise"), columns, target)
        self._may_be_codes: dict[Name, bool] = {}  # of numeric columns with many values

    def encode(self, name: Name, column: Later) -> Column:
        """Encode one column.

        Raises :class:`~komb.data.encode.column_errors.LeftOut` if it is no part of the table, or
        another :class:`~komb.data.encode.column_errors.ColumnProblem`.
        """
        wanted = self._treatment.type_of(name)
        if isinstance(column.values, BlockColumn):
            found = self._encode_few_integers(name, column)
            if found is not None:
                return found
            column = _by_itself(column)
        fill, na_values = self._encoder.fill, self._treatment.na_values_of(name)
        contents = read_contents(column, fill, na_values)
        kind, reason = (wanted, "") if wanted is not None else find_kind(name, contents)
        return self._encode_as(name, contents, kind, reason)

    def _encode_few_integers(self, name: Name, column: Later) -> Column | None:
        """Encode a column of integers with its neighbours if its values are levels, and few."""
        treatment = self._treatment
        if treatment.type_of(name) is not None or treatment.na_values_of(name):
            return None
        try:
            encoded = column.encode(column.values)
        except ColumnProblem:  # values are missing, or too many: the column is looked at by itself
            return None
        if len(encoded.levels) > FEW_LEVELS:
            return None
        return Column(*encoded, type=ColumnType(ORDINAL, LEVELS))

    def revise(self, encoded: Columns) -> Columns:
        """Encode numbers by levels after all if the whole table turns out to hold codes."""
        many = [name for name in encoded.names if name in self._may_be_codes]
        if not many or not self._holds_codes(encoded):
            return encoded
        codes, levels = list(encoded.codes), list(encoded.levels)
        types = dict(encoded.types)
        for name in many:
            column = _by_itself(self._columns[name])
            position = encoded.names.index(name)
            contents = read_contents(column, self._encoder.fill, self._treatment.na_values_of(name))
            found = self._encode_as(name, contents, NOMINAL, "codes, as in all columns")
            codes[position], levels[position] = found.codes, found.levels
            assert found.type is not None
            types[name] = found.type
        cuts = {name: points for name, points in encoded.cuts.items() if name not in many}
        numbers = {name: x for name, x in encoded.numbers.items() if name not in many}
        stacked = np.stack(codes)
        return encoded._replace(
            codes=stacked, levels=tuple(levels), cuts=cuts, numbers=numbers, types=types
        )

    def _holds_codes(self, encoded: Columns) -> bool:
        """Whether all columns look like codes, and nothing was left out or cut on request."""
        if self._treatment.discretize is not None or len(encoded.types) > len(encoded.names):
            return False
        return all(
            self._may_be_codes[name] if name in self._may_be_codes else _are_codes(levels)
            for name, levels in zip(encoded.names, encoded.levels, strict=True)
        )

    def _encode_as(self, name: Name, contents: Contents, kind: str, reason: str) -> Column:
        is_named = self._treatment.is_named(name)
        if contents.nature == NOTHING and self._treatment.missing == "error":
            raise Missing(np.ones(contents.n_rows, bool))
        reason = "; ".join(filter(None, (*contents.remarks, reason)))
        if kind in (NESTED, EMPTY) or (kind in (IDENTIFIER, TEXT) and not is_named):
            raise LeftOut(ColumnType(kind, LEFT_OUT, contents.n_missing, reason))
        if is_named and read_as_numbers(contents) is None:
            raise not_to_be_cut()
        if is_named and kind not in NUMERIC:
            kind = ORDINAL
        if contents.nature in (OTHER, NOTHING):
            raise LeftOut(
                ColumnType(
                    EMPTY if contents.nature == NOTHING else NESTED,
                    LEFT_OUT,
                    contents.n_missing,
                    reason,
                )
            )
        is_wanted = self._treatment.type_of(name) is not None
        if kind in NUMERIC and (is_wanted or is_named or contents.numbers is not None):
            return self._encode_numbers(name, contents, kind, reason)
        return self._encode_levels(contents, kind, reason)

    def _encode_levels(self, contents: Contents, kind: str, reason: str) -> Column:
        column = contents.by_levels
        if len(column.levels) > MAX_LEVELS:
            raise too_many_levels(len(column.levels))
        if len(column.levels) > _MANY_LEVELS and not reason:
            reason = f"{len(column.levels):,} levels"
        found = ColumnType(kind, LEVELS, contents.n_missing, reason)
        return self._settle(column._replace(type=found))

    def _encode_numbers(self, name: Name, contents: Contents, kind: str, reason: str) -> Column:
        treatment = self._treatment
        numbers = read_as_numbers(contents)
        if numbers is None:
            examples = [level for level in contents.by_levels.levels if isinstance(level, str)]
            raise MistakenType(kind, examples or contents.by_levels.levels)
        if contents.numbers is None:
            contents = replace(contents, nature=NUMBER, numbers=numbers)
        rule = treatment.rule_of(name)
        is_wanted = treatment.type_of(name) is not None
        if treatment.is_named(name) or (rule is not None and contents.has_many_values):
            assert rule is not None
            column = self._encoder.cut(name, numbers, rule)
            kept = None if treatment.is_named(name) else numbers.copy()  # for strata
            found = ColumnType(kind, BINS, contents.n_missing, reason)
            return self._settle(column._replace(numbers=kept, type=found))
        if np.isinf(contents.known).any():
            raise Infinite(contents.known)
        if not contents.has_many_values:
            column = self._encode_levels(contents, kind, reason)
            return column._replace(numbers=numbers.copy()) if is_wanted else column
        self._may_be_codes[name] = (
            contents.is_whole
            and not is_wanted
            and _are_codes(np.unique(contents.known)[: _MOST_CODES + 1].tolist())
        )
        return self._settle(self._cut_evenly(contents, numbers, kind, reason))

    def _cut_evenly(self, contents: Contents, numbers: Floats, kind: str, reason: str) -> Column:
        """Cut numbers for tests that know levels only; others take the values."""
        cuts = even_cuts(contents.known)
        encoded = cut(contents.known, cuts)
        if contents.nature == INSTANT:
            labels = label_times(cuts)
            encoded = Encoded(encoded.codes, tuple(labels))
        found = ColumnType(kind, BINS, contents.n_missing, reason)
        column = self._encoder.spread(encoded, numbers, cuts)
        return column._replace(numbers=numbers.copy(), type=found)  # the caller may change theirs

    def _settle(self, column: Column) -> Column:
        """Do what is to be done about missing values."""
        missing = self._treatment.missing
        if not column.has_missing or missing == "testwise":
            return column
        mark = len(column.levels)
        if missing == "error":
            raise Missing(column.codes == mark)
        if mark == MAX_LEVELS:
            raise too_many_levels(mark + 1)
        levels = (*column.levels, None)
        return column._replace(levels=levels, has_missing=False, numbers=None)


def _by_itself(column: Later) -> Later:
    """Take a column out of the block that it would be encoded with."""
    if isinstance(column.values, BlockColumn):
        return Later(encode_series, column.values.series())
    return column


def find_kind(name: Name, contents: Contents) -> tuple[str, str]:
    """Find the kind of a column, and why where that is not obvious."""
    if contents.nature == NOTHING:
        return EMPTY, "no value in any row"
    if contents.nature == OTHER:
        return NESTED, ""
    if contents.nature == BOOLEAN:
        return NOMINAL, ""
    if contents.nature == INSTANT:
        return TIME, ""
    if contents.nature == NUMBER:
        return _kind_of_numbers(name, contents)
    if contents.numbers is not None:  # ordered categories
        is_long = contents.has_many_values
        return (ORDINAL, "ordered categories") if is_long else (NOMINAL, "")
    return _kind_of_words(name, contents)


def _kind_of_numbers(name: Name, contents: Contents) -> tuple[str, str]:
    if not contents.has_many_values:
        return ORDINAL, ""
    if not contents.is_whole:
        return CONTINUOUS, ""
    is_time = isinstance(name, str) and _TIME_NAME.fullmatch(name)
    if _are_row_numbers(contents) and not is_time:
        return IDENTIFIER, "numbers the rows"
    if _is_called_identifier(name):
        return IDENTIFIER, "many whole numbers, by its name an identifier"
    return ORDINAL, ""


def _is_called_identifier(name: Name) -> bool:
    return isinstance(name, str) and _ID_NAME.fullmatch(name.strip()) is not None


def _kind_of_words(name: Name, contents: Contents) -> tuple[str, str]:
    levels = contents.by_levels.levels
    n_levels, n_known = len(levels), contents.n_rows - contents.n_missing
    is_unique = n_levels == n_known > _FEW_ROWS
    if not is_unique and n_levels <= max(FEW_LEVELS, n_known // 2):
        if n_levels > FEW_LEVELS and _is_called_identifier(name):
            return IDENTIFIER, "many values, by its name an identifier"
        return NOMINAL, ""
    counts = f"{n_levels:,} distinct values in {n_known:,} rows"
    texts = [level for level in levels if isinstance(level, str)]
    words = sum(len(text.split()) for text in texts)
    if texts and words >= _WORDS_OF_TEXT * len(texts):
        return TEXT, counts
    return IDENTIFIER, counts


def _are_row_numbers(contents: Contents) -> bool:
    """Whether each of 0 (or 1) to the number of rows occurs once, in any order."""
    known = contents.known
    low, high = known.min(), known.max()
    if known.size < contents.n_rows or low not in (0, 1) or high - low + 1 != known.size:
        return False
    return bool((np.bincount((known - low).astype(np.int64)) == 1).all())


def _are_codes(levels: object) -> bool:
    """Whether levels are whole numbers from 0 or 1 on, nearly without gaps."""
    assert isinstance(levels, list | tuple)
    if len(levels) > _MOST_CODES:
        return False
    for level in levels:
        if not isinstance(level, int | float) or level != int(level):
            return False
    low, high = min(levels), max(levels)
    return low in (0, 1) and len(levels) >= _SHARE_OF_CODES * (high - low + 1)
