"""A table whose codes stay on disk until they are asked for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from komb.data.encode.codes import CodeArray, Name
from komb.data.memory_limit import check_limit, refuse_beyond
from komb.data.read.file_bytes import shorten, to_path
from komb.data.stored.header import FILE, Header, damaged, read_header
from komb.data.stored.parts_table import PartsTable
from komb.data.stored.shards import Shard, map_shard, verify_shard
from komb.data.table import DiscreteTable

BYTES_PER_ROW = 220
"""Memory that a search takes for each row of a table in memory, besides its codes."""

BYTES_PER_CODE_BYTE = 1.5
"""And for each byte of its codes: themselves, and bitmaps."""


def open_table(
    path: str | os.PathLike[str], *, memory_limit: int | str | None = None
) -> StoredTable:
    """Open a table that :func:`komb.encode` has written, without reading it."""
    folder = to_path(path)
    return StoredTable(folder, read_header(folder)).limited(memory_limit)


def is_table_folder(path: Path) -> bool:
    """Whether there is a header of a table at a path, good or bad."""
    return (path / FILE).is_file()


class StoredTable(PartsTable):
    """A table of discrete columns whose codes are on disk.

    Made by :func:`komb.encode`, and opened by :func:`komb.read_table`. It is a
    :class:`DiscreteTable`: what asks for ``codes`` has them read into memory, if they fit into the
    memory limit. Searches count shard by shard where they do not.

    Attributes
    ----------
    path : pathlib.Path
        The folder.
    memory_limit : int, str or None
        As given to :func:`komb.table`.

    Examples
    --------
    >>> import komb, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = komb.encode({"x": [0, 1, 1], "y": [2, 2, 3]}, f"{folder}/table.komb")
    ...     table, table.n_shards, table.level_counts(0).tolist()
    (StoredTable(3 rows x 2 columns, 2 levels), 1, [1, 2, 0])
    """

    def __init__(
        self,
        path: Path,
        header: Header,
        places: Sequence[int] | None = None,
        memory_limit: int | str | None = None,
        connection: Any = None,
    ) -> None:
        self._set(
            header.columns, places, header.n_rows, path=path, memory_limit=memory_limit,
            connection=connection, _header=header, _verified=set(), _loaded=None,
        )  # fmt: skip

    path: Path
    memory_limit: int | str | None
    _header: Header
    _verified: set[int]
    _loaded: CodeArray | None

    @property
    def codes(self) -> CodeArray:
        """The codes, read into memory when they are first asked for."""
        if self._loaded is None:
            what = f"The table {shorten(self.path)}, in memory as a whole,"
            refuse_beyond(self.nbytes, check_limit(self.memory_limit), what)
            object.__setattr__(self, "_loaded", self._load())
        assert self._loaded is not None
        return self._loaded

    def _load(self) -> CodeArray:
        codes: CodeArray = np.empty((self.n_columns, self.n_rows), self.dtype)
        start = 0
        for shard in self.shards():
            for row, place in zip(codes, range(self.n_columns), strict=True):
                row[start : start + shard.n_rows] = shard.column(place)
            start += shard.n_rows
        codes.flags.writeable = False
        return codes

    @property
    def is_in_memory(self) -> bool:
        """Whether its codes have been read."""
        return self._loaded is not None

    @property
    def n_shards(self) -> int:
        """The number of files that the rows are in."""
        return len(self._header.shards)

    @property
    def fits(self) -> bool:
        """Whether a search of the table in memory stays within the memory limit."""
        if self._loaded is not None:
            return True
        needed = BYTES_PER_CODE_BYTE * self.nbytes + BYTES_PER_ROW * self.n_rows
        return needed <= check_limit(self.memory_limit)

    def in_memory(self) -> DiscreteTable:
        """Return the same table with its codes in memory."""
        return self.derive(self.names, self.codes, self.levels)

    def level_counts(self, position: int) -> npt.NDArray[np.int64]:
        """How many rows have each level of a column; the last number is of missing values."""
        counts = np.zeros(len(self.levels[position]) + 1, np.int64)
        for shard in self.shards():
            counts += np.bincount(shard.column(position), minlength=len(counts))
        return counts

    def shard(self, number: int) -> Shard:
        """Map one shard into memory; the first time it is compared with its checksum."""
        if number not in self._verified:
            verify_shard(self.path, self._header, number)
            self._check_codes(number)
            self._verified.add(number)
        return self._map(number)

    def _map(self, number: int) -> Shard:
        mapped = map_shard(self.path, self._header, number)
        places = list(self.places)
        return Shard(mapped.n_rows, mapped.data, mapped.offsets[places], mapped.widths[places])

    def _check_codes(self, number: int) -> None:
        """Refuse codes that no level belongs to: kernels would write outside of their tables."""
        shard = self._map(number)
        for place, column in enumerate(self._own):
            if shard.n_rows and int(shard.column(place).max()) >= column.n_codes:
                file = self._header.shards[number].file
                raise damaged(self.path, f"{file!r} has codes without levels in {column.name!r}")

    def shards(self) -> Iterator[Shard]:
        """Map one shard after the other."""
        return map(self.shard, range(self.n_shards))

    def verify(self) -> None:
        """Compare all shards with their checksums.

        Raises
        ------
        komb.errors.FileError
            Naming the first that is missing or damaged.
        """
        for number in range(self.n_shards):
            self.shard(number)

    def limited(self, memory_limit: int | str | None) -> StoredTable:
        """Return the same table with another memory limit; None leaves it as it is."""
        if memory_limit is None:
            return self
        check_limit(memory_limit)
        return self._copy(memory_limit, self.connection)

    def counted_by(self, connection: Any) -> StoredTable:
        """Return the same table, to be counted by a cluster if it does not fit into memory."""
        return self._copy(self.memory_limit, connection)

    def _copy(self, memory_limit: int | str | None, connection: Any) -> StoredTable:
        other = StoredTable(self.path, self._header, self.places, memory_limit, connection)
        object.__setattr__(other, "_verified", self._verified)
        object.__setattr__(other, "_loaded", self._loaded)
        return other

    def select(self, names: Iterable[Name]) -> DiscreteTable:
        """Return a table of some columns, in the order given; nothing is read."""
        places = [self.places[place] for place in self.positions(names)]
        return StoredTable(self.path, self._header, places, self.memory_limit, self.connection)

    def __reduce__(self) -> tuple[Any, tuple[object, ...]]:
        # Another process, on this machine or another that sees the disk, opens it itself. It counts
        # what it is asked to count, and asks nobody else.
        return _reopen, (self.path, self._header, self.places, self.memory_limit)

    def __dask_tokenize__(self) -> tuple[object, ...]:
        """Say which table it is; Dask would read all of it to find out."""
        checksums = tuple(shard.checksum for shard in self._header.shards)
        return str(self.path), self.names, checksums, str(self.memory_limit)


def _reopen(
    path: Path, header: Header, places: Sequence[int], memory_limit: int | str | None
) -> StoredTable:
    return StoredTable(path, header, places, memory_limit)
