"""Shards: the codes of some rows in one file, column after column."""

from __future__ import annotations

import mmap
import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from komb.data.read.file_bytes import shorten
from komb.data.stored.header import Header, ShardEntry, column_offsets, damaged
from komb.errors import FileError

_PIECE = 1 << 24  # bytes of a checksum in one go


@dataclass(frozen=True, slots=True)
class Shard:
    """Some rows of a table, mapped into memory."""

    n_rows: int
    data: npt.NDArray[np.uint8]  # all bytes of the file
    # where in them each column starts, and how many bytes a code of it takes (the lower first)
    offsets: npt.NDArray[np.int64]
    # where in them each column starts, and how many bytes a code of it takes (the lower first)
    widths: npt.NDArray[np.int64]

    def column(self, place: int) -> npt.NDArray[np.uint8 | np.uint16]:
        """Return the codes of a column, without copying them."""
        start, width = int(self.offsets[place]), int(self.widths[place])
        codes = self.data[start : start + width * self.n_rows]
        return codes if width == 1 else codes.view("<u2")


def shard_name(number: int) -> str:
    """Return the name of the file of a shard."""
    return f"shard-{number:06d}.codes"


def write_shard(folder: Path, number: int, columns: Sequence[npt.NDArray[Any]]) -> ShardEntry:
    """Write the codes of some rows, each column in the type it has, and have them on the disk."""
    n_rows = len(columns[0])
    widths = np.array([codes.dtype.itemsize for codes in columns], dtype=np.int64)
    offsets = column_offsets(widths, n_rows).tolist()
    name = shard_name(number)
    checksum = written = 0
    with (folder / name).open("wb") as file:
        for codes, end in zip(columns, offsets[1:], strict=True):
            stored = np.ascontiguousarray(codes, dtype=codes.dtype.newbyteorder("<"))
            written += stored.nbytes
            for piece in (stored.view(np.uint8).data, bytes(end - written)):
                checksum = zlib.crc32(piece, checksum)
                file.write(piece)
            written = end
        file.flush()
        os.fsync(file.fileno())
    return ShardEntry(name, n_rows, written, checksum)


def map_shard(folder: Path, header: Header, number: int) -> Shard:
    """Map a shard into memory; nothing is read yet, and the mapping ends with the last array."""
    entry = header.shards[number]
    try:
        with (folder / entry.file).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size != entry.n_bytes:
                why = f"{entry.file!r} has {size:,} bytes instead of {entry.n_bytes:,}"
                raise damaged(folder, why)
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError:
        raise damaged(folder, f"the file {entry.file!r} is missing") from None
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        path = shorten(folder / entry.file)
        raise FileError(f"Cannot read {path}: {why}.", "Check that you may read it.") from None
    data = np.frombuffer(mapped, dtype=np.uint8)
    return Shard(entry.n_rows, data, header.offsets(entry.n_rows)[:-1], header.widths)


def verify_shard(folder: Path, header: Header, number: int) -> None:
    """Raise unless the bytes of a shard are those that were written."""
    data = map_shard(folder, header, number).data
    checksum = 0
    for start in range(0, len(data), _PIECE):
        checksum = zlib.crc32(data[start : start + _PIECE].data, checksum)
    entry = header.shards[number]
    if checksum != entry.checksum:
        raise damaged(folder, f"the file {entry.file!r} does not match its checksum")
