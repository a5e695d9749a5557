"""A file that remembers how far large sweeps have come, so that a run can be taken up again.

A sweep over a hundred thousand columns takes minutes to hours. With a journal, what it has listed
is written down about every second: which parts of the sweep are done, and the few tests in them
that may be dependences. A run that is started again reads them and counts only what is missing;
decisions are made anew, so answers are the same. The file is a database of SQLite: whatever ends a
run, ``kill -9`` included, costs the last second at most.

The journal says whose it is: a hash of the table, the target and the options. A journal of anything
else is refused.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from komb.data.table import DiscreteTable
from komb.engine.fixed_point import Int64Array
from komb.errors import FileError, ParameterError

SECONDS_PER_BLOCK = 1.0
"""Between two writes, about: what a run that is killed has to count again."""

_BEGINS = b"SQLite format 3\0"  # as every file of SQLite that is not empty
_APPLICATION = int.from_bytes(b"komb")


class Noted(NamedTuple):
    """What a part of a sweep has found."""

    n_unions: int  # that it stands for
    n_counted: int
    numbers: Int64Array  # [test, number]: what there is to know of each


class Journal:
    """A journal, open for reading and writing.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name, "run.journal")
    >>> part = Noted(10, 10, np.array([[3, 5]]))
    >>> with Journal(file, {"target": "'y'"}) as journal:
    ...     _ = list(journal.run("pairs", lambda done: iter([part])))
    >>> with Journal(file, {"target": "'y'"}) as journal:
    ...     list(journal.run("pairs", lambda done: iter([])))
    [Noted(n_unions=10, n_counted=10, numbers=array([[3, 5]]))]
    >>> Journal(file, {"target": "'z'"})
    Traceback (most recent call last):
    komb.errors.ParameterError: 'resume' must be the journal of this very search; got ...
    >>> folder.cleanup()
    """

    def __init__(self, path: Path, identity: Mapping[str, str]) -> None:
        self.path = path
        if path.exists() and not (path.is_file() and _begin_of(path) in (b"", _BEGINS)):
            raise _not_a_journal(path)
        try:
            self._database = sqlite3.connect(path, timeout=0, isolation_level=None)
        except sqlite3.DatabaseError as error:
            raise _explain(path, error) from None
        try:
            self._begin(identity)
        except BaseException:
            self._database.close()
            raise
        self._written = time.monotonic()

    def _begin(self, identity: Mapping[str, str]) -> None:
        """Take the file for this process alone; write or check whose it is."""
        self._ask("PRAGMA locking_mode = EXCLUSIVE")
        is_new = not self._ask("SELECT name FROM sqlite_master")
        self._ask("BEGIN EXCLUSIVE")
        if is_new:
            self._ask(f"PRAGMA application_id = {_APPLICATION}")
            self._ask("CREATE TABLE search (name, value)")
            self._ask(
                "CREATE TABLE parts (sweep, number, unions, counted, width, numbers, checksum)"
            )
            for item in identity.items():
                self._ask("INSERT INTO search VALUES (?, ?)", *item)
            self._ask("COMMIT")
            self._ask("BEGIN EXCLUSIVE")
        if self._ask("PRAGMA application_id") != [(_APPLICATION,)]:
            raise _not_a_journal(self.path)
        found = dict(self._ask("SELECT name, value FROM search"))
        differences = [name for name in identity if found.get(name) != identity[name]]
        if differences:
            raise _of_another_search(self.path, found, identity, differences)

    def _ask(self, command: str, *values: Any) -> list[tuple[Any, ...]]:
        try:
            return self._database.execute(command, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise _explain(self.path, error) from None

    def run(self, sweep: str, work: Callable[[int], Iterator[Noted]]) -> Iterator[Noted]:
        """Yield what all parts of a sweep find; ``work`` begins after so many parts, in order."""
        done = self._ask("SELECT * FROM parts WHERE sweep = ? ORDER BY number", sweep)
        for number, (*row, checksum) in enumerate(done):
            if row[1] != number or checksum != _sum_up(row):
                raise _damaged(self.path)
            _, _, n_unions, n_counted, width, packed = row
            numbers = np.frombuffer(packed, "<i8").reshape(-1, width).astype(np.int64)
            yield Noted(n_unions, n_counted, numbers)
        for number, noted in enumerate(work(len(done)), len(done)):
            packed = noted.numbers.astype("<i8").tobytes()
            width = noted.numbers.shape[1]
            row = [sweep, number, noted.n_unions, noted.n_counted, width, packed]
            self._ask("INSERT INTO parts VALUES (?, ?, ?, ?, ?, ?, ?)", *row, _sum_up(row))
            if time.monotonic() - self._written >= SECONDS_PER_BLOCK:
                self._ask("COMMIT")
                self._ask("BEGIN EXCLUSIVE")
                self._written = time.monotonic()
            yield noted

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        """Write what has been noted, and close the file."""
        try:
            if self._database.in_transaction:  # a disk that is full has ended it
                self._ask("COMMIT")
        finally:
            self._database.close()


def hash_arrays(*arrays: Any) -> str:
    """Return a text that tells arrays from all others."""
    digest = hashlib.blake2b(digest_size=16)
    for array in map(np.ascontiguousarray, arrays):
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(array.data)
    return digest.hexdigest()


def hash_table(table: DiscreteTable) -> str:
    """Return a text that tells a table from all others, by its codes, names and levels."""
    names = hashlib.blake2b(repr((table.names, table.levels)).encode(), digest_size=16)
    return hash_arrays(table.codes, table.cardinalities) + names.hexdigest()


def _sum_up(row: list[Any]) -> int:
    """Return the checksum of a row; a database has none of its own."""
    return zlib.crc32(repr(row).encode())


def _begin_of(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(_BEGINS))


def _explain(path: Path, error: sqlite3.Error) -> FileError | ParameterError:
    """Return the error for what SQLite says."""
    code = vars(error).get("sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF  # without details
    if code == sqlite3.SQLITE_BUSY:
        rule, remedy = "not be in use by another run", "Wait for it to end, or name another file."
        return ParameterError.because("resume", rule, str(path), remedy)
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return _damaged(path)
    remedy = "Make room, or name a file in a folder that you may write to."
    return FileError.on_writing(path, OSError(code, str(error)), remedy)


def _damaged(path: Path) -> FileError:
    message = f"The journal {str(path)!r} is damaged."
    return FileError(message, "Delete it to start again.", parameter="resume")


def _of_another_search(
    path: Path, found: Mapping[str, str], identity: Mapping[str, str], differences: list[str]
) -> ParameterError:
    shown = ", ".join(
        "another table"
        if name == "table"
        else f"{name} {found.get(name, 'unknown')} where this one has {identity[name]}"
        for name in differences[:3]
    )
    return ParameterError.because(
        "resume",
        "be the journal of this very search",
        str(path),
        "Repeat the call that it was written by, or name another file.",
        shown=f"{str(path)!r}, which is of one with {shown}",
    )


def _not_a_journal(path: Path) -> ParameterError:
    rule = "be a journal that komb has written, or a file that is not there yet"
    remedy = "Name another file; this one is left as it is."
    return ParameterError.because("resume", rule, str(path), remedy)
