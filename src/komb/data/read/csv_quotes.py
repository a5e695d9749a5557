r"""Say what the quotes of delimited text mean, in time and memory that do not depend on them.

A quote has a meaning only at the start of a field: it encloses the field, in which delimiters and
line breaks are part of the value and two quotes stand for one. Anywhere else it is a letter, as in
``5" pipe``. Parsers differ on text that has both kinds: some take every quote for the start or end
of something, and see other rows than those that a person sees. So there are three cases:

none
    No quotes, or none that starts a field: all are letters.
proper
    Quotes take turns in starting and ending whole fields. Everybody agrees on such text.
neither
    Refused, with the line of the first quote that does not fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from komb.errors import FileError

Bytes = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]

QUOTE = ord('"')
END = ord("\n")

_CHUNK = 1 << 22  # bytes that are looked at in one go


class Chunk(NamedTuple):
    """A part of a text, and which of its bytes are outside of quotes."""

    start: int
    bytes: Bytes
    is_outside: Mask


def find_quoting(data: bytes, delimiters: bytes, label: str) -> str | None:
    """Return the character that encloses fields, or ``None`` if there is none."""
    if b'"' not in data:
        return None
    quotes = np.concatenate([c.start + np.flatnonzero(c.bytes == QUOTE) for c in _chunks(data)])
    text = np.frombuffer(data, np.uint8)
    limits = np.zeros(256, np.bool_)
    limits[[*delimiters, END]] = True
    is_first = (quotes == 0) | limits[text[quotes - 1]]
    if not is_first.any():
        return None
    # If all is proper, quotes with even numbers open a field, or go on after a doubled one.
    is_opening = np.arange(quotes.size) % 2 == 0
    is_near = np.diff(quotes) == 1
    follows = np.concatenate([[False], is_near])
    is_last = (quotes == text.size - 1) | limits[text[np.minimum(quotes + 1, text.size - 1)]]
    precedes = np.concatenate([is_near, [False]])
    fits = np.where(is_opening, is_first | follows, is_last | precedes)
    if not fits.all():
        _refuse(data, int(quotes[fits.argmin()]), label, "is in the middle of a field")
    if quotes.size % 2:
        _refuse(data, int(quotes[-1]), label, "is never closed")
    return '"'


def _refuse(data: bytes, position: int, label: str, why: str) -> None:
    line = data.count(b"\n", 0, position) + 1
    raise FileError(
        f"Cannot split {label} into fields: a quote on line {line} {why}, while others enclose "
        "fields. Check its quotes: close each, and double those that belong to a quoted value."
    )


def walk(data: bytes, quote: str | None) -> Iterator[Chunk]:
    """Go through a text that :func:`find_quoting` has seen, some bytes at a time."""
    depth = 0
    for chunk in _chunks(data):
        if quote is not None:
            is_quote = chunk.bytes == QUOTE
            inside = (np.cumsum(is_quote, dtype=np.uint8) + depth) % 2  # wraps, and parity stays
            depth = int(inside[-1])
            chunk = Chunk(chunk.start, chunk.bytes, inside == 0)
        yield chunk


def _chunks(data: bytes) -> Iterator[Chunk]:
    for start in range(0, len(data), _CHUNK):
        part = np.frombuffer(data, np.uint8, min(_CHUNK, len(data) - start), start)
        yield Chunk(start, part, np.ones(part.size, np.bool_))
