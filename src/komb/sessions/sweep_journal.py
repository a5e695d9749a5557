"""A file that remembers how far large sweeps have come, so that a run can be taken up again.

A sweep over a hundred thousand columns takes minutes to hours. With a journal, what it has counted
is written down about every second, as one line at the end of a file: which parts of the sweep are
done, and the few tests among them that may be dependences. A run that is started again reads them
and counts only what is missing; decisions are made anew, so answers are the same. Whatever ends a
run, ``kill -9`` included, costs the last of these blocks at most.

The first line says whose journal it is: a hash of the table, the target and the options. A journal
of anything else is refused.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import time
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from komb.data.table import DiscreteTable
from komb.errors import FileError, ParameterError
from komb.sessions.listed_tests import Listed

FORMAT = 1
"""Of the file; one more whenever it changes, or the order in which a sweep is counted."""

SECONDS_PER_BLOCK = 1.0
"""Between two lines, about: what a run that is killed has to count again."""

_ABOUT = "komb journal"  # what the first line begins with
_DAMAGED = "Delete it to start again."


class SweepJournal:
    """A journal, open for reading and writing.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name, "run.journal")
    >>> nothing = np.empty(0, dtype=np.int64)
    >>> with SweepJournal(file, {"target": "'y'"}) as journal, journal.section("pairs") as pairs:
    ...     pairs.note(Listed(10, 10, nothing, nothing, nothing))
    >>> with SweepJournal(file, {"target": "'y'"}) as journal:
    ...     section = journal.section("pairs")
    ...     section.n_parts, [done.n_unions for done in section.done]
    (1, [10])
    >>> SweepJournal(file, {"target": "'z'"})
    Traceback (most recent call last):
    komb.errors.ParameterError: 'resume' must be the journal of this very search; got ...
    >>> folder.cleanup()
    """

    def __init__(self, path: Path, identity: Mapping[str, str]) -> None:
        self.path = path
        self._sections: dict[str, list[tuple[int, Listed]]] = {}
        self._open: list[JournalSection] = []
        if path.exists() and not path.is_file():  # a device may be read for ever
            raise _not_a_journal(path)
        try:
            self._file = path.open("a+b")
        except OSError as error:
            remedy = "Name a file in a folder that you may write to."
            raise FileError.on_writing(path, error, remedy) from None
        try:
            _lock(self._file, path)
            self._begin(dict(identity))
        except BaseException:
            self._file.close()
            raise

    def _begin(self, identity: dict[str, str]) -> None:
        """Read what is there; of an empty file, write the first line."""
        self._file.seek(0)
        data = self._file.read()
        whole = data[: data.rfind(b"\n") + 1]  # a run may have been killed in the middle of a line
        lines = whole.split(b"\n")[:-1]
        if not lines:
            if not f'{{"{_ABOUT}"'.encode().startswith(data[: len(_ABOUT) + 3]):
                raise _not_a_journal(self.path)
            self._file.truncate(0)
            self._write({_ABOUT: FORMAT, "identity": identity})
            return
        self._check_header(lines[0], identity)
        for number, line in enumerate(lines[1:], 2):
            self._read(number, line)
        if len(whole) < len(data):
            self._file.truncate(len(whole))

    def _check_header(self, line: bytes, identity: dict[str, str]) -> None:
        try:
            header = json.loads(line)
            written, found = header[_ABOUT], header["identity"]
        except (ValueError, TypeError, KeyError):
            raise _not_a_journal(self.path) from None
        if written != FORMAT:
            found = {**found, "format": str(written)}
            identity = {**identity, "format": str(FORMAT)}
        differences = [key for key in identity if found.get(key) != identity[key]]
        if differences:
            raise _of_another_search(self.path, found, identity, differences)

    def _read(self, number: int, line: bytes) -> None:
        """Read one block."""
        try:
            entry = json.loads(line)
            if zlib.crc32(entry["block"].encode()) != entry["crc"]:
                raise ValueError("checksum")
            block = json.loads(entry["block"])
            arrays = np.frombuffer(zlib.decompress(base64.b64decode(block["listed"])), "<i8")
            listed = Listed(block["unions"], block["counted"], *arrays.reshape(3, -1))
            section = self._sections.setdefault(str(block["sweep"]), [])
            if block["first"] != sum(n_parts for n_parts, _ in section):
                raise ValueError("a block is missing, or there twice")
            section.append((int(block["parts"]), listed))
        except (ValueError, TypeError, KeyError, zlib.error):
            message = f"The journal {str(self.path)!r} is damaged: line {number} is not as written."
            raise FileError(message, _DAMAGED, parameter="resume") from None

    def _write(self, entry: Mapping[str, Any]) -> None:
        remedy = "Make room, or name another file. What was written before is still in it."
        try:
            self._file.write(json.dumps(entry).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise FileError.on_writing(self.path, error, remedy) from None

    def section(self, key: str) -> JournalSection:
        """Return the part of the journal that is about one sweep; a key is a text of its own."""
        section = JournalSection(self, key, self._sections.get(key, []))
        self._open.append(section)
        return section

    def add(self, key: str, first: int, n_parts: int, listed: Listed) -> None:
        """Write down that so many parts of a sweep, from some part on, are done: what they list."""
        arrays = np.stack((listed.ranks, listed.places, listed.fit)).astype("<i8")
        block = json.dumps(
            {
                "sweep": key,
                "first": first,
                "parts": n_parts,
                "unions": listed.n_unions,
                "counted": listed.n_counted,
                "listed": base64.b64encode(zlib.compress(arrays.tobytes())).decode(),
            }
        )
        self._write({"crc": zlib.crc32(block.encode()), "block": block})

    def close(self) -> None:
        """Write what has been noted, and close the file."""
        for section in self._open:  # one whose sweep was interrupted has not been left yet
            section.write()
        self._open.clear()
        self._file.close()

    def __enter__(self) -> SweepJournal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class JournalSection:
    """What a journal knows about one sweep.

    As a context: what has been noted is written when it is left, for whatever reason.

    Attributes
    ----------
    n_parts : int
        How many parts, from the first on, are done.
    """

    def __init__(self, journal: SweepJournal, key: str, blocks: list[tuple[int, Listed]]) -> None:
        self._journal = journal
        self._key = key
        self._blocks = blocks
        self.n_parts = sum(n_parts for n_parts, _ in blocks)
        self._noted: list[Listed] = []
        self._written = time.monotonic()

    @property
    def done(self) -> Iterator[Listed]:
        """What earlier runs have listed."""
        return (listed for _, listed in self._blocks)

    def note(self, listed: Listed) -> None:
        """Note that the next part is done."""
        self._noted.append(listed)
        if time.monotonic() - self._written >= SECONDS_PER_BLOCK:
            self.write()

    def write(self) -> None:
        """Write what has been noted; once the journal is closed, there is nothing left to write."""
        if self._noted:
            noted, self._noted = self._noted, []
            self._journal.add(self._key, self.n_parts, len(noted), join(noted))
            self.n_parts += len(noted)
        self._written = time.monotonic()

    def __enter__(self) -> JournalSection:
        return self

    def __exit__(self, *_: object) -> None:
        self.write()


def join(parts: list[Listed]) -> Listed:
    """Join what consecutive parts list."""
    return Listed(
        sum(part.n_unions for part in parts),
        sum(part.n_counted for part in parts),
        np.concatenate([part.ranks for part in parts]),
        np.concatenate([part.places for part in parts]),
        np.concatenate([part.fit for part in parts]),
    )


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


def _lock(file: IO[bytes], path: Path) -> None:
    """Refuse a journal that another process is writing; the lock goes with the process."""
    try:
        import fcntl
    except ImportError:  # Windows does not let two processes write to it
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        rule, remedy = "not be in use by another run", "Wait for it to end, or name another file."
        raise ParameterError.because("resume", rule, str(path), remedy) from None
