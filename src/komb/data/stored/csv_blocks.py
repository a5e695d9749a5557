"""Files of delimited text, read in blocks of whole lines.

As :func:`komb.read_table` reads them, but a block at a time: fields are text at first, and when all
of them have been seen it is known what a column holds.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import numpy as np

from komb.data.read.csv_layout import (
    NULL_MARKERS,
    WHITE_SPACE,
    detect_delimiter,
    drop_blank_lines,
    first_record,
    is_rectangular,
    squeeze,
)
from komb.data.read.csv_quotes import END, QUOTE, find_quoting
from komb.data.read.file_bytes import check_text, shorten
from komb.errors import Argument, FileError

if TYPE_CHECKING:
    import polars as pl

BYTES_PER_BYTE = 32
"""Memory that a block takes for each byte of text while it is read and encoded."""

_LARGEST_BLOCK, _SMALLEST_BLOCK = 1 << 26, 1 << 16
_GZIP = b"\x1f\x8b"
_WHOLE = r"^[-+]?\d+$"


class CsvBlocks:
    """One file of delimited text.

    Parameters
    ----------
    file
        Where it is; it may be compressed with gzip.
    delimiter
        Between fields; found if ``None``.
    has_header
        Whether the first line holds the names.
    memory_limit
        Bytes that reading may take.

    Attributes
    ----------
    names : list of str
    n_bytes : int
        Of the file as it is on disk.
    done : int
        How many of these have been read in the present pass.
    """

    def __init__(
        self, file: Path, delimiter: str | None, has_header: bool, memory_limit: int
    ) -> None:
        self.file = file
        self.n_bytes = file.stat().st_size
        self.done = 0
        self._has_header = has_header
        self._size = min(max(memory_limit // BYTES_PER_BYTE, _SMALLEST_BLOCK), _LARGEST_BLOCK)
        first = next(self._texts(), b"")
        if not first.strip():
            raise FileError(f"{shorten(file)} is empty. Check how it was written.")
        self._mark = delimiter or detect_delimiter(first)
        first, quote = self._tidy(first)
        fields, _ = first_record(first, self._mark, quote)
        self.names = [f"V{number}" for number in range(1, len(fields) + 1)]
        if has_header:
            self.names = [
                field.strip() or name for field, name in zip(fields, self.names, strict=True)
            ]

    def blocks(self) -> Iterator[pl.DataFrame]:
        """Read the file, some rows at a time; all fields are text, missing values are null."""
        is_first, n_lines = True, 0
        for raw in self._texts():
            text, quote = self._tidy(raw)
            if is_first and self._has_header:
                _, start = first_record(text, self._mark, quote)
                n_lines += text.count(b"\n", 0, start)
                text = text[start:]
            is_first = False
            text = text.strip(b"\n")
            if len(self.names) > 1 and b"\n\n" in text:
                text = drop_blank_lines(text, quote)
            if not text.strip():
                continue
            if not is_rectangular(text, self._mark, len(self.names), quote):
                self._refuse_ragged(text, quote, n_lines)
            n_lines += text.count(b"\n") + 1
            yield self._parse(text, quote)

    def _texts(self) -> Iterator[bytes]:
        """Blocks of whole lines, which end in line feeds."""
        rest = b""
        with self.file.open("rb") as stream:
            is_packed = stream.read(2) == _GZIP
            stream.seek(0)
            source = cast("IO[bytes]", gzip.GzipFile(fileobj=stream)) if is_packed else stream
            is_first = True
            while piece := self._read(source):
                self.done = stream.tell()
                if is_first:
                    piece = piece.removeprefix(b"\xef\xbb\xbf")
                    is_first = False
                text = rest + piece
                end = _last_line_end(text)
                if end and text[end - 1 : end] == b"\r":
                    end = 0  # whether a line feed follows is not known yet
                rest = text[end:]
                if end:
                    yield self._checked(text[:end])
        if rest:
            yield self._checked(rest)

    def _read(self, source: IO[bytes]) -> bytes:
        try:
            return source.read(self._size)
        except (OSError, EOFError, zlib.error) as error:
            remedy = "Download the file again, or unpack it by hand."
            message = f"{shorten(self.file)} is damaged ({error})."
            raise FileError(message, remedy) from None

    def _checked(self, text: bytes) -> bytes:
        check_text(self.file, text)
        if b"\r" in text:
            text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return text

    def _tidy(self, text: bytes) -> tuple[bytes, str | None]:
        marks = b" \t" if self._mark == WHITE_SPACE else self._mark.encode()
        quote = find_quoting(text, marks, shorten(self.file))
        return (squeeze(text, quote) if self._mark == WHITE_SPACE else text), quote

    def _refuse_ragged(self, text: bytes, quote: str | None, n_lines: int) -> None:
        from komb.data.read.csv_layout import find_odd_line

        odd = find_odd_line(text, self._mark, len(self.names), quote)
        if odd is None:
            return
        line, found = odd
        raise FileError(
            f"{shorten(self.file)} must have {len(self.names)} fields on every line, as on the "
            f"first; line {n_lines + line} has {found}.",
            ("Correct that line, or name the right ", Argument("delimiter"), "."),
        )

    def _parse(self, text: bytes, quote: str | None) -> pl.DataFrame:
        import polars as pl

        try:
            frame = pl.read_csv(
                io.BytesIO(text),
                has_header=False,
                separator=self._mark,
                quote_char=quote,
                infer_schema=False,
                new_columns=self.names,
            )
        except pl.exceptions.PolarsError as error:
            why = str(error).strip().split("\n", 1)[0]
            message = f"Cannot parse {shorten(self.file)} ({why})."
            raise FileError(message, "Check its quotes.") from None
        return frame.select(map(_trimmed, self.names))


def _trimmed(name: str) -> pl.Expr:
    """Drop blanks around fields, and those that stand for a missing value."""
    import polars as pl

    text = pl.col(name).str.strip_chars()
    return pl.when(text.is_in(list(NULL_MARKERS))).then(None).otherwise(text).alias(name)


def _last_line_end(text: bytes) -> int:
    """Return where the last whole line ends, outside of quotes if they take turns; 0 if nowhere."""
    last = max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
    if b'"' not in text or not last:
        return last
    codes = np.frombuffer(text, np.uint8)
    is_outside = np.cumsum(codes == QUOTE, dtype=np.uint8) % 2 == 0
    ends = np.flatnonzero(is_outside & (codes == END))
    return int(ends[-1]) + 1 if ends.size else 0


@dataclass(slots=True)
class TextType:
    """What the fields of a column can be read as, after some blocks."""

    is_boolean: bool = True
    is_whole: bool = True  # and fits into 64 bits
    is_long: bool = True  # whole, of any length
    is_number: bool = True
    is_padded: bool = False  # such as 007, which is no number
    is_any: bool = False  # whether there was a field at all

    def see(self, fields: pl.Series) -> None:
        """Look at some more."""
        import polars as pl

        known = fields.drop_nulls().unique()
        if not len(known):
            return
        self.is_any = True
        self.is_boolean &= bool(known.str.to_lowercase().is_in(["true", "false"]).all())
        self.is_long &= bool(known.str.contains(_WHOLE).all())
        self.is_whole &= self.is_long and known.cast(pl.Int64, strict=False).null_count() == 0
        self.is_number &= known.cast(pl.Float64, strict=False).null_count() == 0
        self.is_padded |= bool(known.str.contains(r"^0[0-9]").any())

    def convert(self, fields: pl.Series) -> pl.Series:
        """Read fields as what all of them are."""
        import polars as pl

        if self.is_any and self.is_boolean:
            return fields.str.to_lowercase() == "true"
        return fields.cast(self.dtype) if self.dtype != pl.String else fields

    @property
    def dtype(self) -> Any:
        """The type of the column."""
        import polars as pl

        if not self.is_any:
            return pl.String
        if self.is_boolean:
            return pl.Boolean
        if self.is_long:
            if self.is_padded:
                return pl.String
            return pl.Int64 if self.is_whole else pl.Int128
        return pl.Float64 if self.is_number else pl.String
