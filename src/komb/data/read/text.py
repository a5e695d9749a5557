"""Read delimited text: polars parses it, and what polars does not check is checked here.

That is which delimiter there is, what quotes mean, whether lines are short, and whether numerals
are padded with zeros. All fields are text at first; types are those that suit all rows.
"""

from __future__ import annotations

import csv
import mmap
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import polars as pl

from komb.data.inputs import check_shape
from komb.data.memory_limit import refuse_beyond
from komb.data.read.file_bytes import check_text, count_in, line_of, shorten
from komb.data.text_values import MISSING_MARKS
from komb.errors import Argument, DataError, FileError, Text

CANDIDATES = (",", "\t", ";", "|")
WHITE_SPACE = " "
"""Stands for any run of blanks and tabs, as in files of right-aligned numbers."""
NO_DELIMITER = "\x1f"
"""Occurs in no text: the delimiter of files with a single column."""

BYTES_PER_COLUMN = 10_000
"""Memory that reading takes for each column, at most."""

_SAMPLE = 1 << 16  # bytes that are looked at to find the delimiter
_ROWS = 1_000  # that suggest types
_TOGETHER = 256  # columns in one query, which takes memory for each of them
_CHUNK = 1 << 22  # bytes that are looked at in one go
_LONGEST_NAME = 10_000  # characters; beyond that it is no name, but a quote or delimiter is wrong
_BOM, _QUOTE = b"\xef\xbb\xbf", ord('"')
_QUOTED = re.compile(rb'"[^"]*"')
_ENCLOSING = re.compile(rb'(?:^|[,\t;|\n ])"')
_LINE, _WORD = re.compile(rb"[^\r\n]"), re.compile(rb"\S")
_LONE_RETURN = re.compile(rb"\r(?!\n)")
_ROW = "row of fields"


class TextFile:
    """A file of delimited text whose delimiter, quotes and names have been found.

    ``names`` are those of the columns, and ``fields`` a lazy frame of all fields as they stand.
    """

    def __init__(
        self,
        file: Path,
        where: Path,
        data: mmap.mmap,
        limit: int,
        *,
        delimiter: str | None = None,
        has_header: bool = True,
        has_quotes: bool = True,
    ) -> None:
        check_text(file, data)
        self._file = file  # as messages name it
        self._data: Any = data
        source: Any = where
        if _LONE_RETURN.search(data):  # as lines ended in the last century
            source = self._data = data[:].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        self._mark = delimiter or detect_delimiter(self._data[: _SAMPLE + 1])
        marks = b" \t" if self._mark == WHITE_SPACE else self._mark.encode()
        self._quote = find_quoting(self._data, marks, file) if has_quotes else None
        self.names = self._find_names(limit, has_header=has_header)
        self.fields = self._scan(source)

    def _find_names(self, limit: int, *, has_header: bool) -> list[str]:
        """Find the names of the columns, and where the rows start."""
        data, start = self._data, len(_BOM) * (self._data[: len(_BOM)] == _BOM)
        start = _skip_blank_lines(data, start)
        end = data.find(b"\n", start)
        n_fields = data[start : None if end < 0 else end].count(self._mark.encode()) + 1
        what = f"Reading {shorten(self._file)}, of which line 1 has {n_fields:,} fields,"
        refuse_beyond(BYTES_PER_COLUMN * n_fields, limit, what)
        n_lines, fields = next(((n, fields) for n, fields in self._records() if fields), (0, [""]))
        names = [f"V{number}" for number in range(1, len(fields) + 1)]
        if has_header:
            start = len(_BOM) * (self._data[: len(_BOM)] == _BOM)
            for _ in range(n_lines):
                start = data.find(b"\n", start) + 1 or len(data)
            start = _skip_blank_lines(data, start)
            names = [field.strip() or name for field, name in zip(fields, names, strict=True)]
            _check_names(names)
        self._start = start
        self._n_skipped = line_of(data, start) - 1 if start < len(data) else 0
        if not _WORD.search(data, start):
            if not has_header:
                raise FileError(f"{shorten(self._file)} is empty. Check how it was written.")
            quotes = ", and that all quotes are closed" if b'"' in data[:_SAMPLE] else ""
            remedy = f"Check that the file has rows of data{quotes}."
            raise DataError("there are no rows below the header.", remedy)
        return names

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the line that each record ends on, and its fields: slow, but exact."""
        if self._mark == WHITE_SPACE:
            pattern = re.compile(_field_pattern(self._quote))
            for number, line in enumerate(_lines(self._data), 1):
                fields = pattern.findall(line)
                if self._quote:
                    fields = [x.removeprefix('"').removesuffix('"') for x in fields]
                yield number, fields
            return
        # Where quotes are letters, one that occurs nowhere is the quote: data hold no zero bytes.
        quote = self._quote or "\0"
        reader = csv.reader(_lines(self._data), delimiter=self._mark, quotechar=quote)
        try:
            for fields in reader:
                yield reader.line_num, fields
        except csv.Error as error:
            message = f"Cannot split {shorten(self._file)} into fields: {error}."
            raise FileError(message, "Check its quotes.") from None

    def _scan(self, source: Any) -> pl.LazyFrame:
        if self._mark != WHITE_SPACE:
            return pl.scan_csv(
                source,
                has_header=False,
                separator=self._mark,
                quote_char=self._quote,
                skip_lines=self._n_skipped,
                schema=dict.fromkeys(self.names, pl.String),
                empty_string_is_null=False,
                glob=False,
            )
        line = pl.col(_ROW).str.strip_prefix("\ufeff")
        rows = pl.scan_lines(source, name=_ROW, glob=False).slice(self._n_skipped)
        listed = rows.select(line.str.extract_all(_field_pattern(self._quote)))
        fields = [pl.col(_ROW).list.get(i, null_on_oob=True) for i in range(len(self.names))]
        if self._quote:
            inner = [field.str.strip_prefix('"').str.strip_suffix('"') for field in fields]
            fields = [field.str.replace_all('""', '"', literal=True) for field in inner]
        self._n_fields = listed.select(pl.col(_ROW).list.len())
        found = listed.filter(pl.col(_ROW).list.len() > 0)
        return found.select(x.alias(name) for name, x in zip(self.names, fields, strict=True))

    def gather(self, keep: Callable[[pl.LazyFrame], pl.LazyFrame]) -> pl.LazyFrame:
        """Parse the file, and keep its fields somewhere; each line has as many as the first."""
        try:
            return self._well_formed(keep(self.fields))
        except pl.exceptions.PolarsError as error:
            self._refuse_odd_lines()
            why = str(error).strip().split("\n", 1)[0]
            remedy = "Check its quotes: each must be closed, and start its field."
            raise FileError(f"Cannot parse {shorten(self._file)} ({why}). {remedy}") from None

    def _well_formed(self, fields: pl.LazyFrame) -> pl.LazyFrame:
        more = len(self.names) - 1
        if self._mark == WHITE_SPACE:
            n_fields = self._n_fields.filter(~pl.first().is_in([0, more + 1])).head(1).collect()
            if len(n_fields):
                self._refuse_odd_lines()
            return fields
        inner = pl.all().str.count_matches(self._mark, literal=True) if self._quote else pl.lit(0)
        facts = fields.select(pl.len(), pl.sum_horizontal(inner.sum()).alias("inner"))
        n_rows, n_inner = facts.collect(engine="streaming").row(0)
        end = self._data[-_SAMPLE:]
        n_ends = end[len(end.rstrip(b"\r\n")) :].count(b"\n")
        n_rows -= max(0, n_ends - 1)  # blank lines at the end
        whole = fields.slice(0, n_rows)
        n_marks = count_in(self._data, self._mark.encode(), self._start, len(self._data)) - n_inner
        is_cut_off = self._data[-1:] == self._mark.encode()  # polars drops this one mark at the end
        if not more or (n_rows * more == n_marks and not is_cut_off):
            return whole  # of a single column, a blank line is a missing value
        blank = self._refuse_odd_lines()
        return whole.with_row_index(_ROW).filter(~pl.col(_ROW).is_in(blank)).drop(_ROW)

    def _refuse_odd_lines(self) -> list[int]:
        """Raise for the first line that is too long or too short; return rows that are blank."""
        blank, n_rows, n_wanted = [], -1, len(self.names)
        for line, fields in self._records():
            if line <= self._n_skipped:
                continue
            n_rows += 1
            if not fields:
                blank.append(n_rows)
            elif len(fields) != n_wanted:
                self._refuse(line, len(fields))
        return blank

    def _refuse(self, line: int, n_fields: int) -> NoReturn:
        shown = {"\t": "tab", WHITE_SPACE: "white space", NO_DELIMITER: "nothing"}
        remedy: Text = ("Correct that line, or name the right ", Argument("delimiter"), ".")
        if line == 2 and n_fields == len(self.names) + 1:
            remedy = "If lines start with row names, write them without (in R, row.names=FALSE)."
        raise FileError(
            f"{shorten(self._file)} must have {len(self.names)} fields on every line, as on the "
            f"first, split at {shown.get(self._mark, repr(self._mark))}; line {line} has "
            f"{n_fields}.",
            remedy,
        )


def _field_pattern(quote: str | None) -> str:
    """Return what a field between white space looks like."""
    return r"[^ \t\r\n]+" if quote is None else r'"(?:[^"]|"")*"|[^ \t\r\n]+'


def _lines(data: Any) -> Iterator[str]:
    """Yield all lines, with their ends."""
    start = len(_BOM) if data[: len(_BOM)] == _BOM else 0
    while start < len(data):
        end = data.find(b"\n", start) + 1 or len(data)
        yield data[start:end].decode("utf-8", "replace").replace("\r\n", "\n")
        start = end


def _skip_blank_lines(data: Any, start: int) -> int:
    """Return where the first line starts that is not blank."""
    found = _LINE.search(data, start)
    return len(data) if found is None else found.start()


def _check_names(names: Sequence[str]) -> None:
    for number, name in enumerate(names, 1):
        if len(name) > _LONGEST_NAME:
            raise DataError(
                f"the name of column {number} must have at most {_LONGEST_NAME:,} characters; got "
                f"{len(name):,}.",
                "Check the line ends, the delimiter and the quotes.",
            )
    try:
        check_shape(names, 1)
    except DataError as error:
        if all(re.fullmatch(r"[-+.\d]+", name) for name in names):
            hint = "If the file has no header, pass ", Argument("has_header", False), "."
            raise error.advising(hint) from None
        raise


def detect_delimiter(data: bytes) -> str:
    """Find the delimiter that splits the first lines into equally many fields."""
    sample = data[:_SAMPLE].removeprefix(_BOM).replace(b"\r\n", b"\n")
    if len(data) > _SAMPLE and b"\n" in sample:
        sample = sample[: sample.rindex(b"\n")]  # the last line may be cut short
    if _ENCLOSING.search(sample):  # otherwise quotes are letters
        sample = _QUOTED.sub(b"x", sample)
    lines = [line for line in sample.split(b"\n") if line.strip()] or [b""]
    counts = {mark: [line.count(mark.encode()) for line in lines] for mark in CANDIDATES}
    # Tabs alone are delimiters of their own, with empty fields between two of them.
    has_blanks = any(b" " in line for line in lines)
    counts[WHITE_SPACE] = [has_blanks * (len(line.split()) - 1) for line in lines]
    even = [mark for mark, found in counts.items() if found[0] and len(set(found)) == 1]
    if even != [WHITE_SPACE]:  # only if nothing else fits: names and values may well hold blanks
        even = [mark for mark in even if mark != WHITE_SPACE]
    best = max(even or counts, key=lambda mark: counts[mark][0])
    return best if counts[best][0] else NO_DELIMITER


def find_quoting(data: Any, delimiters: bytes, file: Path) -> str | None:
    """Return the character that encloses fields, or ``None`` if there is none.

    A quote has a meaning only at the start of a field: it encloses the field, in which two quotes
    stand for one. Anywhere else it is a letter, as in ``5" pipe``. Parsers differ on text that has
    both kinds, so that is refused, with the line of the first quote that does not fit.
    """
    if data.find(b'"') < 0:
        return None
    text = np.frombuffer(data, np.uint8)
    is_limit = np.zeros(256, np.bool_)
    is_limit[[*delimiters, ord("\n"), ord("\r")]] = True
    begin = len(_BOM) if data[: len(_BOM)] == _BOM else 0
    n_quotes, last, is_enclosing, odd = 0, -2, False, -1
    for start in range(0, len(text), _CHUNK):
        quotes = start + np.flatnonzero(text[start : start + _CHUNK] == _QUOTE)
        if not quotes.size:
            continue
        is_first = (quotes == begin) | is_limit[text[quotes - 1]]
        after = text[np.minimum(quotes + 1, len(text) - 1)]
        is_last = (quotes == len(text) - 1) | is_limit[after]
        # If all is proper, quotes take turns in opening and closing, or are doubled inside.
        is_opening = (np.arange(quotes.size) + n_quotes) % 2 == 0
        follows = np.diff(quotes, prepend=last) == 1
        fits = np.where(is_opening, is_first | follows, is_last | (after == _QUOTE))
        if odd < 0 and not fits.all():
            odd = int(quotes[fits.argmin()])
        n_quotes, last = n_quotes + quotes.size, int(quotes[-1])
        is_enclosing |= bool(is_first.any())
    if not is_enclosing:
        return None
    if odd >= 0 or n_quotes % 2:
        place, why = (odd, "is in the middle of a field") if odd >= 0 else (last, "is never closed")
        raise FileError(
            f"Cannot split {shorten(file)} into fields: a quote on line {line_of(data, place)} "
            f"{why}, while others enclose fields. Check its quotes: close each, and double those "
            "that belong to a quoted value."
        )
    return '"'


def read_columns(fields: pl.LazyFrame, names: Sequence[str]) -> pl.DataFrame:
    """Read fields as what all those of a column are, some columns at a time."""
    parts = []
    for first in range(0, len(names), _TOGETHER):
        some = names[first : first + _TOGETHER]
        known = trimmed(fields, some).collect().lazy()
        parts.append(typed(known, find_types(known, some)).collect())
    return pl.concat(parts, how="horizontal")


def trimmed(fields: pl.LazyFrame, names: Sequence[str]) -> pl.LazyFrame:
    """Drop blanks around the fields of some columns, and those that stand for missing values."""
    text = pl.col(names).str.strip_chars()
    return fields.select(pl.when(~text.is_in(MISSING_MARKS)).then(text).name.keep())


def find_types(fields: pl.LazyFrame, names: Sequence[str]) -> dict[str, Any]:
    """Find as what the fields of columns can be read, in all rows; the others are text."""
    found: dict[str, Any] = {}
    for dtype in _TYPES:
        left = [name for name in names if name not in found]
        for some in (fields.head(_ROWS), fields):  # a few rows rule out most columns
            checks = [_can_be(dtype, pl.col(name)).alias(name) for name in left]
            is_so = some.select(checks).collect(engine="streaming").row(0) if left else ()
            left = [name for name, is_one in zip(left, is_so, strict=True) if is_one]
        found |= dict.fromkeys(left, dtype)
    return found


_TYPES = (pl.Boolean, pl.Int64, pl.Int128, pl.Float64)


def _can_be(dtype: Any, text: pl.Expr) -> pl.Expr:
    has_any = text.is_not_null().any()
    if dtype == pl.Boolean:
        return has_any & text.str.to_lowercase().is_in(["true", "false"]).all()
    is_one = (text.cast(dtype, strict=False).is_null() == text.is_null()).all()
    return has_any & is_one & ~text.str.contains(r"^[-+]?0[0-9]").any()  # 007 is a code


def typed(fields: pl.LazyFrame, types: Mapping[str, Any]) -> pl.LazyFrame:
    """Read fields as what all of them are."""
    return fields.with_columns(
        pl.col(name).str.to_lowercase() == "true"
        if dtype == pl.Boolean
        else pl.col(name).cast(dtype)
        for name, dtype in types.items()
    )
