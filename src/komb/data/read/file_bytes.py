"""Open files, and say why one cannot be read."""

from __future__ import annotations

import codecs
import difflib
import gzip
import mmap
import os
import stat
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from komb.data.memory_limit import check_limit, refuse_beyond
from komb.errors import FileError, ParameterError

_PIECE = 1 << 24  # bytes that are read or looked at in one go
_LONGEST_NAME = 200  # characters of a path that messages show

_GZIP = b"\x1f\x8b"
_OTHER_KINDS = {
    b"PK\x03\x04": "a zip archive or an Excel workbook; unpack or export it",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook; export it",
    b"BZh": "compressed with bzip2; unpack it",
    b"\xfd7zXZ": "compressed with xz; unpack it",
    b"(\xb5/\xfd": "compressed with zstd; unpack it",
    codecs.BOM_UTF16_LE: "text in UTF-16; save it as UTF-8",
    codecs.BOM_UTF16_BE: "text in UTF-16; save it as UTF-8",
}


def to_path(path: str | os.PathLike[str]) -> Path:
    """Return a path, or raise if it is not one."""
    if not isinstance(path, str | os.PathLike):
        remedy = "For a table in memory use komb.table."
        raise ParameterError.because("path", "be the name of a file", path, remedy)
    found = Path(path)
    if "\0" in str(found):
        raise FileError(f"Cannot use {shorten(found)}: no name holds a zero byte. Check the name.")
    try:
        return found.expanduser()
    except RuntimeError:  # "~name", and there is no such user
        return found


def shorten(path: object) -> str:
    """Return a path as messages quote it: all of it, unless somebody passed a whole text."""
    text = str(path)
    return repr(text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}...")


class _Room(NamedTuple):
    """How much may be read."""

    limit: int
    bytes_per_byte: int

    def check(self, size: int, name: str, *, is_at_least: bool = False) -> None:
        """Raise if this many bytes exceed the limit."""
        refuse_beyond(self.bytes_per_byte * size, self.limit, name, is_at_least=is_at_least)


def read_bytes(path: Path, memory_limit: object = None, bytes_per_byte: int = 1) -> bytes:
    """Read a whole file, unpacked if it is compressed with gzip."""
    room = _Room(check_limit(memory_limit), bytes_per_byte)
    with _opened(path) as file:
        data = b"".join(_pieces(file, path, room))
    if not data:
        raise _is_empty(path)
    return data


@contextmanager
def mapped_file(
    path: Path, limit: int, bytes_per_byte: int, name: Path | None = None
) -> Iterator[tuple[Path, mmap.mmap]]:
    """Map a file into memory; what is compressed with gzip is unpacked on the disk first.

    Yields where the bytes are, and what they are. Messages call the file by another name, if given.
    """
    room, file_name = _Room(limit, bytes_per_byte), name or path
    with tempfile.TemporaryDirectory(prefix="komb-", ignore_cleanup_errors=True) as folder:
        where = path
        with _opened(path) as file:
            if not _is_regular(file) or _is_packed(file, path):
                where = Path(folder, "unpacked")
                with where.open("wb") as unpacked:
                    unpacked.writelines(_pieces(file, file_name, room))
        with where.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            room.check(size, shorten(file_name))
            if not size:
                raise _is_empty(file_name)
            text = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        yield where, text


@contextmanager
def spooled(stream: IO[bytes], name: str, limit: int) -> Iterator[Path]:
    """Write a stream such as standard input to a file, as long as there is room for it."""
    room, size = _Room(limit, 1), 0
    with tempfile.TemporaryDirectory(prefix="komb-", ignore_cleanup_errors=True) as folder:
        path = Path(folder, name)
        with path.open("wb") as file:
            while piece := stream.read(min(_PIECE, limit)):
                size += file.write(piece)
                room.check(size, repr(name), is_at_least=True)
        yield path


def _is_empty(path: Path) -> FileError:
    return FileError(f"{shorten(path)} is empty. Check how it was written.")


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Open a file, or say why it cannot be read."""
    try:
        with path.open("rb") as file:
            yield file
    except FileNotFoundError:
        raise FileError(_describe_missing(path)) from None
    except (IsADirectoryError, NotADirectoryError):
        raise FileError(f"{shorten(path)} is not a file.", "Name one file.") from None
    except OSError as error:
        # On Windows a folder ends up here: it may not be opened.
        why = "it is a folder" if os.path.isdir(path) else (error.strerror or str(error)).lower()
        remedy = "Name one file, and check that you may read it."
        raise FileError(f"Cannot read {shorten(path)}: {why}. {remedy}") from None


def _is_regular(file: Any) -> bool:
    """Whether a file says how long it is, as devices do not."""
    return stat.S_ISREG(os.fstat(file.fileno()).st_mode)


def _is_packed(file: Any, path: Path) -> bool:
    """Whether a file is compressed with gzip, by its first bytes or its name."""
    return file.peek(len(_GZIP)).startswith(_GZIP) or path.suffix.lower() == ".gz"


def _pieces(file: Any, path: Path, room: _Room) -> Iterator[bytes]:
    """Read a file piece by piece, unpacked, or until there is more than there may be."""
    name, is_packed, source = shorten(path), _is_packed(file, path), file
    if _is_regular(file):
        room.check(os.fstat(file.fileno()).st_size, name)
    if is_packed:
        name, source = f"{name}, unpacked,", gzip.GzipFile(fileobj=file)
        if _is_regular(file) and os.fstat(file.fileno()).st_size > len(_GZIP):
            # The last four bytes are how long the text is, or was when it was last below 4 GiB.
            file.seek(-4, os.SEEK_END)
            room.check(int.from_bytes(file.read(), "little"), name)
            file.seek(0)
    size = 0
    try:
        while piece := source.read(min(_PIECE, room.limit)):
            size += len(piece)
            room.check(size, name, is_at_least=True)
            yield piece
    except (OSError, EOFError, zlib.error) as error:
        if not is_packed:
            raise
        remedy = "Download the file again, or unpack it by hand."
        raise FileError(f"{shorten(path)} is damaged gzip ({error}). {remedy}") from None


def check_text(path: Path, data: bytes | mmap.mmap) -> None:
    """Raise if a file is no text in UTF-8; takes no memory, unlike :func:`decode`."""
    for magic, kind in _OTHER_KINDS.items():
        if data[: len(magic)] == magic:
            raise FileError(f"{shorten(path)} must be text in UTF-8; it seems to be {kind}.")
    zero = data.find(b"\0")
    if zero >= 0:
        raise FileError(
            f"{shorten(path)} must be text in UTF-8; it is binary (a zero byte on line "
            f"{line_of(data, zero)}). Export it as CSV, or name it .parquet if that is what it is."
        )
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(data), _PIECE):
        kept, piece = len(decoder.getstate()[0]), data[start : start + _PIECE]
        try:
            decoder.decode(piece, final=start + _PIECE >= len(data))
        except UnicodeDecodeError as error:
            place = start - kept + error.start
            raise FileError(
                f"{shorten(path)} must be text in UTF-8; line {line_of(data, place)} has the byte "
                f"0x{data[place]:02x}, which is not. Save it as UTF-8."
            ) from None


def count_in(data: bytes | mmap.mmap, mark: bytes, start: int, end: int) -> int:
    """Count a byte in some of the bytes."""
    starts = range(start, end, _PIECE)
    return sum(data[place : min(place + _PIECE, end)].count(mark) for place in starts)


def line_of(data: bytes | mmap.mmap, place: int) -> int:
    """Return the number of the line that a byte is on."""
    return 1 + count_in(data, b"\n", 0, place)


def decode(path: Path, data: bytes) -> str:
    """Return the text of a file without byte-order mark, or raise if it is no text in UTF-8."""
    check_text(path, data)
    return data.decode("utf-8-sig")


def _describe_missing(path: Path) -> str:
    folder = path.parent
    if not os.path.isdir(folder):
        return f"There is no file {shorten(path)}: the folder {shorten(folder)} does not exist."
    try:
        others = sorted(entry.name for entry in folder.iterdir())
    except OSError:
        others = []
    by_lower = {name.lower(): name for name in others}
    near = difflib.get_close_matches(path.name.lower(), by_lower, n=3, cutoff=0.6)
    if near:
        hint = f"Did you mean {' or '.join(repr(by_lower[name]) for name in near)}?"
    else:
        hint = "Check the name; relative paths start at the current folder."
    return f"There is no file {shorten(path)}. {hint}"
