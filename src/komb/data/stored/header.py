"""The header of a table on disk: everything about it but its codes, as JSON.

A header names its version and carries a checksum of itself, so a damaged or foreign one is told
from a good one before anything is made of it.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from komb.data.encode.codes import Levels, Name, code_dtype
from komb.data.encode.column_errors import MAX_LEVELS
from komb.data.read.file_bytes import shorten
from komb.data.stored.plain_values import from_json, to_json
from komb.errors import DataError, FileError

FILE = "header.json"
FORMAT = "komb table"
VERSION = 1
"""Of the format; a header with a higher one is of a later komb."""

ALIGNMENT = 64
"""Bytes: every column of a shard starts at a multiple of it."""

_MAKE_AGAIN = "Write the table again with komb.encode."


@dataclass(frozen=True, slots=True)
class ColumnEntry:
    """What the header says of a column."""

    name: Name
    levels: Levels
    cuts: tuple[float, ...] | None
    n_missing: int  # values that are marked with the code above the last level

    @property
    def n_codes(self) -> int:
        """Levels, and one more if values are missing."""
        return len(self.levels) + (self.n_missing > 0)

    @property
    def width(self) -> int:
        """Bytes of a code."""
        return int(code_dtype(self.n_codes).itemsize)


@dataclass(frozen=True, slots=True)
class ShardEntry:
    """What the header says of a shard: its file, rows, bytes and checksum (CRC-32)."""

    file: str
    n_rows: int
    n_bytes: int
    checksum: int


@dataclass(frozen=True, slots=True)
class Header:
    """Names, levels and cut points of a table, and where its codes are."""

    columns: tuple[ColumnEntry, ...]
    shards: tuple[ShardEntry, ...]

    @property
    def n_rows(self) -> int:
        """Rows of all shards."""
        return sum(shard.n_rows for shard in self.shards)

    @property
    def widths(self) -> npt.NDArray[np.int64]:
        """Bytes of a code of each column."""
        return np.array([column.width for column in self.columns], dtype=np.int64)

    def offsets(self, n_rows: int) -> npt.NDArray[np.int64]:
        """Where each column starts in a shard of so many rows, and where the last one ends."""
        return column_offsets(self.widths, n_rows)

    def to_bytes(self) -> bytes:
        """Write it as JSON."""
        content = {
            "format": FORMAT,
            "version": VERSION,
            "n_rows": self.n_rows,
            "columns": [_write_column(column) for column in self.columns],
            "shards": [
                {
                    "file": shard.file,
                    "rows": shard.n_rows,
                    "bytes": shard.n_bytes,
                    "crc32": f"{shard.checksum:08x}",
                }
                for shard in self.shards
            ],
        }
        content["crc32"] = _checksum(content)
        return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


def column_offsets(widths: npt.NDArray[np.int64], n_rows: int) -> npt.NDArray[np.int64]:
    """Where each column starts in a shard of so many rows, and where the last one ends."""
    sizes = -(-widths * n_rows // ALIGNMENT) * ALIGNMENT
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)


def _write_column(column: ColumnEntry) -> dict[str, Any]:
    try:
        name, levels = to_json(column.name), [to_json(level) for level in column.levels]
    except TypeError as error:
        message = f"Column {column.name!r} cannot be stored: {error}."
        raise DataError(message, "Turn its name and levels into text or numbers first.") from None
    return {
        "name": name,
        "levels": levels,
        "cuts": None if column.cuts is None else [to_json(point) for point in column.cuts],
        "missing": column.n_missing,
        "dtype": f"uint{8 * column.width}",
    }


def _checksum(content: Mapping[str, Any]) -> str:
    rest = {key: value for key, value in content.items() if key != "crc32"}
    return f"{zlib.crc32(json.dumps(rest, sort_keys=True).encode()):08x}"


def read_header(folder: Path) -> Header:
    """Read the header of a table, or say what is wrong with it."""
    try:
        data = (folder / FILE).read_bytes()
    except FileNotFoundError:
        raise _no_table(folder) from None
    except NotADirectoryError:
        remedy = "Make one of it with komb.encode, or read it with komb.read_table."
        raise FileError(f"{shorten(folder)} is a file, and no table on disk.", remedy) from None
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        remedy = "Check that you may read it."
        raise FileError(f"Cannot read the header of {shorten(folder)}: {why}.", remedy) from None
    try:
        content = json.loads(data)
    except ValueError:  # of text that is no JSON, or no text
        raise damaged(folder, "its header is not JSON") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise damaged(folder, "its header is not that of a table")
    version = content.get("version")
    if isinstance(version, int) and version > VERSION:
        message = f"{shorten(folder)} was written by a later komb (format {version}; this komb "
        raise FileError(f"{message}reads up to {VERSION}).", "Update komb, or encode it again.")
    if content.get("crc32") != _checksum(content):
        raise damaged(folder, "its header does not match its checksum")
    try:
        header = _read_content(content)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise damaged(folder, f"its header makes no sense: {error}") from None
    if content["n_rows"] != header.n_rows or not header.columns or not header.n_rows:
        raise damaged(folder, "its header makes no sense: it has no rows, or another number")
    return header


def damaged(folder: Path, why: str) -> FileError:
    """Return the error about a table on disk that is not as it was written."""
    return FileError(f"{shorten(folder)} is damaged: {why}.", _MAKE_AGAIN)


def _no_table(folder: Path) -> FileError:
    if not folder.exists():
        remedy = "Check the name; relative paths start at the current folder."
        return FileError(f"There is no table {shorten(folder)}.", remedy)
    message = f"{shorten(folder)} is a folder, but no table on disk: it has no {FILE!r}."
    return FileError(message, "Name a folder that komb.encode has written.")


def _read_content(content: Mapping[str, Any]) -> Header:
    columns = tuple(_read_column(entry) for entry in content["columns"])
    shards = tuple(
        ShardEntry(
            _check_file(entry["file"]),
            _check_number(entry["rows"]),
            _check_number(entry["bytes"]),
            int(entry["crc32"], 16),
        )
        for entry in content["shards"]
    )
    header = Header(columns, shards)
    if len({column.name for column in columns}) < len(columns):
        raise ValueError("two columns have one name")
    for shard in shards:
        if shard.n_bytes != header.offsets(shard.n_rows)[-1]:
            raise ValueError(f"{shard.file!r} has another number of bytes than its rows take")
    return header


def _read_column(entry: Mapping[str, Any]) -> ColumnEntry:
    cuts = entry["cuts"]
    column = ColumnEntry(
        name=from_json(entry["name"]),
        levels=tuple(from_json(level) for level in entry["levels"]),
        cuts=None if cuts is None else tuple(float(from_json(point)) for point in cuts),
        n_missing=_check_number(entry["missing"]),
    )
    if not 1 <= len(column.levels) <= MAX_LEVELS or len(set(column.levels)) < len(column.levels):
        raise ValueError(f"the levels of {column.name!r} are none, too many or not distinct")
    if entry["dtype"] != f"uint{8 * column.width}":
        raise ValueError(f"column {column.name!r} is of type {entry['dtype']!r}")
    return column


def _check_number(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{value!r} is no number of things")
    return value


def _check_file(name: Any) -> str:
    """Return the name of a shard, which lies in the folder whatever a header says."""
    if not isinstance(name, str) or Path(name).name != name or name in ("", ".", ".."):
        raise ValueError(f"{name!r} is no file of the table")
    return name
