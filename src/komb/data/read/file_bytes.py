"""Read files, and say why one cannot be read."""

from __future__ import annotations

import codecs
import difflib
import gzip
import io
import os
import stat
import zlib
from pathlib import Path
from typing import IO, NamedTuple

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


def read_bytes(path: Path, memory_limit: object = None, bytes_per_byte: int = 1) -> bytes:
    """Read a whole file, unpacked if it is compressed with gzip."""
    room = _Room(check_limit(memory_limit), bytes_per_byte)
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if stat.S_ISREG(
                status.st_mode
            ):  # others, such as devices, do not say how long they are
                room.check(status.st_size, shorten(path))
            data = _read_up_to(file, room, shorten(path))
    except FileNotFoundError:
        raise FileError(_describe_missing(path)) from None
    except (IsADirectoryError, NotADirectoryError):
        raise FileError(f"{shorten(path)} is not a file.", "Name one file.") from None
    except OSError as error:
        # On Windows a folder ends up here: it may not be opened.
        why = "it is a folder" if os.path.isdir(path) else (error.strerror or str(error)).lower()
        remedy = "Name one file, and check that you may read it."
        raise FileError(f"Cannot read {shorten(path)}: {why}. {remedy}") from None
    return _unpacked(path, data, room)


def read_stream(
    stream: IO[bytes], name: Path, memory_limit: object = None, bytes_per_byte: int = 1
) -> bytes:
    """Read a stream such as standard input to its end, as :func:`read_bytes` reads a file."""
    room = _Room(check_limit(memory_limit), bytes_per_byte)
    return _unpacked(name, _read_up_to(stream, room, shorten(name)), room)


def _unpacked(path: Path, data: bytes, room: _Room) -> bytes:
    if data.startswith(_GZIP) or path.suffix.lower() == ".gz":
        data = _unpack(path, data, room)
    if not data:
        raise FileError(f"{shorten(path)} is empty. Check how it was written.")
    return data


class _Room(NamedTuple):
    """How much may be read."""

    limit: int
    bytes_per_byte: int

    def check(self, size: int, name: str, *, is_at_least: bool = False) -> None:
        """Raise if this many bytes exceed the limit."""
        refuse_beyond(self.bytes_per_byte * size, self.limit, name, is_at_least=is_at_least)


def _read_up_to(file: IO[bytes] | gzip.GzipFile, room: _Room, name: str) -> bytes:
    """Read a stream to its end, or until there is more than there may be."""
    gathered = io.BytesIO()
    while piece := file.read(min(_PIECE, room.limit)):
        gathered.write(piece)
        room.check(gathered.tell(), name, is_at_least=True)
    return gathered.getvalue()


def _unpack(path: Path, data: bytes, room: _Room) -> bytes:
    name = f"{shorten(path)}, unpacked,"
    # The last four bytes of gzip are how long the text is, or was when it was last below 4 GiB.
    room.check(int.from_bytes(data[-4:], "little"), name)
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
            return _read_up_to(packed, room, name)
    except (OSError, EOFError, zlib.error) as error:
        remedy = "Download the file again, or unpack it by hand."
        raise FileError(f"{shorten(path)} is damaged gzip ({error}). {remedy}") from None


def check_text(path: Path, data: bytes) -> None:
    """Raise if a file is no text in UTF-8; takes no memory, unlike :func:`decode`."""
    for magic, kind in _OTHER_KINDS.items():
        if data.startswith(magic):
            raise FileError(f"{shorten(path)} must be text in UTF-8; it seems to be {kind}.")
    zero = data.find(b"\0")
    if zero >= 0:
        line = data.count(b"\n", 0, zero) + 1
        raise FileError(
            f"{shorten(path)} must be text in UTF-8; it is binary (a zero byte on line {line}). "
            "Export it as CSV, or name it .parquet if that is what it is."
        )
    if data.isascii():
        return
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(data)
    for start in range(0, len(data), _PIECE):
        kept = len(decoder.getstate()[0])
        try:
            decoder.decode(view[start : start + _PIECE], start + _PIECE >= len(data))
        except UnicodeDecodeError as error:
            place = start - kept + error.start
            line = data.count(b"\n", 0, place) + 1
            raise FileError(
                f"{shorten(path)} must be text in UTF-8; line {line} has the byte "
                f"0x{data[place]:02x}, which is not. Save it as UTF-8."
            ) from None


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
