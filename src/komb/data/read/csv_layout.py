r"""Look at delimited text before it is parsed: which delimiter, which header, which lines are odd.

Parsers guess. They fill short rows, rename repeated columns and stop at the first long row. All of
that is decided here, on the bytes of the file with lines that end in ``\n``.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator

import numpy as np

from komb.data.read.csv_quotes import END, walk

CANDIDATES = (",", "\t", ";", "|")
BLANK, TAB = ord(" "), ord("\t")
WHITE_SPACE = " "
"""Stands for any run of blanks and tabs, as in files of right-aligned numbers."""
NULL_MARKERS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL")
"""What stands for a missing value in text; "None" does not, it is a level in known networks."""
NO_DELIMITER = "\x1f"
"""Occurs in no text: the delimiter of files with a single column."""

_SAMPLE = 1 << 16  # bytes that are looked at to find the delimiter
_QUOTED = re.compile(rb'"[^"]*"')
_ENCLOSING = re.compile(rb'(?:^|[,\t;|\n ])"')


def detect_delimiter(data: bytes) -> str:
    """Find the delimiter that splits the first lines into equally many fields."""
    sample = data[:_SAMPLE]
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


def squeeze(data: bytes, quote: str | None) -> bytes:
    """Replace runs of blanks and tabs outside of quotes by one blank, and trim the lines."""
    single = b"".join(_without_runs(data, quote))
    return b"".join(_without_margins(single, quote))


def _without_runs(data: bytes, quote: str | None) -> Iterator[bytes]:
    for chunk in walk(data, quote):
        is_blank = ((chunk.bytes == BLANK) | (chunk.bytes == TAB)) & chunk.is_outside
        text = np.where(is_blank, np.uint8(BLANK), chunk.bytes)
        follows_blank = data[chunk.start - 1 : chunk.start] in (b" ", b"\t")
        yield text[~(is_blank & np.concatenate([[follows_blank], is_blank[:-1]]))].tobytes()


def _without_margins(data: bytes, quote: str | None) -> Iterator[bytes]:
    for chunk in walk(data, quote):
        end = chunk.start + chunk.bytes.size
        before = END if not chunk.start else data[chunk.start - 1]
        after = END if end == len(data) else data[end]
        is_first = np.concatenate([[before], chunk.bytes[:-1]]) == END
        is_last = np.concatenate([chunk.bytes[1:], [after]]) == END
        is_blank = (chunk.bytes == BLANK) & chunk.is_outside
        yield chunk.bytes[~(is_blank & (is_first | is_last))].tobytes()


def drop_blank_lines(data: bytes, quote: str | None) -> bytes:
    """Remove line ends that follow line ends; inside of quotes they belong to the value."""
    pieces = []
    follows_end = False
    for chunk in walk(data, quote):
        is_end = (chunk.bytes == END) & chunk.is_outside
        pieces.append(chunk.bytes[~(is_end & np.concatenate([[follows_end], is_end[:-1]]))])
        follows_end = bool(is_end[-1])
    return b"".join(piece.tobytes() for piece in pieces)


def first_record(data: bytes, delimiter: str, quote: str | None) -> tuple[list[str], int]:
    """Return the fields of the first line that is not blank, and where the next one starts."""
    start = len(data) - len(data.lstrip(b"\n"))
    end = end_of_record(data, start, quote)
    text = data[start:end].decode()
    if quote is None:
        return text.split(delimiter), min(end + 1, len(data))
    fields = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [""])
    return fields, min(end + 1, len(data))


def end_of_record(data: bytes, start: int, quote: str | None) -> int:
    """Return where the record that starts here ends; a quoted field may hold line ends."""
    end, is_quoted = start, False
    while (line_end := data.find(b"\n", end)) >= 0:
        is_quoted ^= quote is not None and data.count(b'"', end, line_end) % 2 == 1
        if not is_quoted:
            return line_end
        end = line_end + 1
    return len(data)


def count_lines(data: bytes, quote: str | None) -> int:
    """Count the lines of a text, those inside of quotes left out."""
    ends = sum(
        int(np.count_nonzero((chunk.bytes == END) & chunk.is_outside))
        for chunk in walk(data, quote)
    )
    return ends + (not data.endswith(b"\n"))


def is_rectangular(data: bytes, delimiter: str, n_fields: int, quote: str | None) -> bool:
    r"""Tell whether every line has this many fields, at the speed of a scan for bytes.

    The delimiters and line ends of such a file, everything else left out, repeat themselves.
    """
    mark = ord(delimiter)
    period = np.full(n_fields, mark, np.uint8)
    period[-1] = END
    left_over = np.empty(0, np.uint8)
    for chunk in walk(data, quote):
        is_mark = ((chunk.bytes == mark) | (chunk.bytes == END)) & chunk.is_outside
        marks = np.concatenate([left_over, chunk.bytes[is_mark]])
        n_whole = marks.size - marks.size % n_fields
        if (marks[:n_whole].reshape(-1, n_fields) != period).any():
            return False
        left_over = marks[n_whole:]
    return np.array_equal(left_over, period[: 0 if data.endswith(b"\n") else -1])


def find_odd_line(
    data: bytes, delimiter: str, n_fields: int, quote: str | None
) -> tuple[int, int] | None:
    """Return number and fields of the first line with another number of fields, if there is one."""
    lines = (line.decode() for line in io.BytesIO(data))
    # Without quotes that mean something, one that occurs nowhere: data hold no zero bytes.
    reader = csv.reader(lines, delimiter=delimiter, quotechar=quote or "\0")
    for fields in reader:
        if len(fields) != n_fields and fields:  # blank lines have no fields and do not count
            return reader.line_num, len(fields)
    return None
