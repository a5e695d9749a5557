r"""Look at delimited text before it is parsed: which delimiter, which header, which lines are odd.

Parsers guess. They fill short rows, rename repeated columns and stop at the first long row. All of
that is decided here, on the bytes of the file with lines that end in ``\n``.
"""

from __future__ import annotations

import csv
import io
import re

import numpy as np

CANDIDATES = (",", "\t", ";", "|")
WHITE_SPACE = " "
"""Stands for any run of blanks and tabs, as in files of right-aligned numbers."""
NO_DELIMITER = "\x1f"
"""Occurs in no text: the delimiter of files with a single column."""

_SAMPLE = 1 << 16  # bytes that are looked at to find the delimiter
_CHUNK = 1 << 22  # bytes that are checked at a time
_QUOTED = re.compile(rb'"[^"]*"')


def detect_delimiter(data: bytes) -> str:
    r"""Find the delimiter that splits the first lines into equally many fields.

    Parameters
    ----------
    data
        The file.

    Returns
    -------
    str
        One of :data:`CANDIDATES`, :data:`WHITE_SPACE` or :data:`NO_DELIMITER`. If the lines cannot
        be split evenly, what the first line suggests.

    Examples
    --------
    >>> detect_delimiter(b"a;b\n1,5;2\n"), detect_delimiter(b" 1   2\n10  20\n")
    (';', ' ')
    """
    sample = data[:_SAMPLE]
    if len(data) > _SAMPLE and b"\n" in sample:
        sample = sample[: sample.rindex(b"\n")]  # the last line may be cut short
    lines = [line for line in _QUOTED.sub(b"x", sample).split(b"\n") if line.strip()] or [b""]
    counts = {mark: [line.count(mark.encode()) for line in lines] for mark in CANDIDATES}
    # Tabs alone are delimiters of their own, with empty fields between two of them.
    has_blanks = any(b" " in line for line in lines)
    counts[WHITE_SPACE] = [has_blanks * (len(line.split()) - 1) for line in lines]
    even = [mark for mark, found in counts.items() if found[0] and len(set(found)) == 1]
    if even != [WHITE_SPACE]:  # only if nothing else fits: names and values may well hold blanks
        even = [mark for mark in even if mark != WHITE_SPACE]
    best = max(even or counts, key=lambda mark: counts[mark][0])
    return best if counts[best][0] else NO_DELIMITER


def squeeze(data: bytes) -> bytes:
    r"""Replace runs of blanks and tabs by one blank and trim the lines.

    Examples
    --------
    >>> squeeze(b"  a \t b\n 1  \"x  y\" \n")
    b'a b\n1 "x  y"\n'
    """
    if b'"' in data:  # blanks inside quotes belong to the value
        data = re.sub(rb'("[^"]*")|[ \t]+', lambda found: found[1] or b" ", data)
    else:
        data = data.replace(b"\t", b" ")
        while b"  " in data:
            data = data.replace(b"  ", b" ")
    return data.replace(b"\n ", b"\n").replace(b" \n", b"\n").strip(b" ")


def first_record(data: bytes, delimiter: str) -> tuple[list[str], int]:
    r"""Return the fields of the first line that is not blank, and where the next one starts.

    Examples
    --------
    >>> first_record(b'a,"b,c"\n1,2\n', ",")
    (['a', 'b,c'], 8)
    """
    start = len(data) - len(data.lstrip(b"\n"))
    # A quoted name may hold line breaks, so the line ends where the quotes are balanced.
    end = data.find(b"\n", start)
    while end >= 0 and data.count(b'"', start, end) % 2:
        end = data.find(b"\n", end + 1)
    end = len(data) if end < 0 else end
    text = data[start:end].decode()
    fields = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [""])
    return fields, min(end + 1, len(data))


def is_rectangular(data: bytes, delimiter: str, n_fields: int) -> bool:
    r"""Tell whether every line has this many fields, at the speed of a scan for bytes.

    The delimiters and line ends of such a file, everything else left out, repeat themselves.

    Examples
    --------
    >>> is_rectangular(b"1,2\n3,4", ",", 2), is_rectangular(b"1,2\n3", ",", 2)
    (True, False)
    """
    is_ended = data.endswith(b"\n")  # before fields are taken out: the last line may be one
    if b'"' in data:
        data = _QUOTED.sub(b"", data)
    mark, end = ord(delimiter), ord("\n")
    period = np.full(n_fields, mark, np.uint8)
    period[-1] = end
    left_over = np.empty(0, np.uint8)
    for start in range(0, len(data), _CHUNK):
        chunk = np.frombuffer(data, np.uint8, min(_CHUNK, len(data) - start), start)
        marks = np.concatenate([left_over, chunk[(chunk == mark) | (chunk == end)]])
        n_whole = marks.size - marks.size % n_fields
        if (marks[:n_whole].reshape(-1, n_fields) != period).any():
            return False
        left_over = marks[n_whole:]
    return np.array_equal(left_over, period[: 0 if is_ended else -1])


def find_odd_line(data: bytes, delimiter: str, n_fields: int) -> tuple[int, int] | None:
    r"""Return number and fields of the first line with another number of fields, if there is one.

    Examples
    --------
    >>> find_odd_line(b"a,b\n1,2\n3\n", ",", 2)
    (3, 1)
    """
    reader = csv.reader(io.StringIO(data.decode(), newline=""), delimiter=delimiter)
    for fields in reader:
        if len(fields) != n_fields and fields:  # blank lines have no fields and do not count
            return reader.line_num, len(fields)
    return None
