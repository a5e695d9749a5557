"""What an experiment writes down: one record for each cell of a plan, and the journal of records.

A cell is one search: a method with its settings on one sample of one dataset for one target. The
journal is what makes a run safe to kill: a finished cell is on disk before the next one begins.
"""

from __future__ import annotations

import errno
import json
import math
import os
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Self, TypedDict

from komb.errors import FileError, ParameterError
from komb.results.comparison import Score
from komb.results.export import dump_json
from komb.results.record import known_fields

Key = tuple[str, str, int, int, str, str, str, int | None, int | None, str, str]
"""Suite, dataset, rows, sample, target, method, start, order, max_separator, test and df."""

PARTS = "*.jsonl"
"""Which files of a journal's folder hold records."""

_SYNC_EVERY = 1.0  # seconds; waiting for the disk takes longer than many a search


@dataclass(frozen=True, slots=True)
class Record:
    """What one search found, and how accurate that is.

    Attributes
    ----------
    suite
        ``"synthetic"``, ``"benchmark"`` or ``"runtime"``; the introduction and the ablation are
        views of these.
    dataset
        A Boolean function (``"parity"``, ``"ex-1"``, ``"ex-2"``, ``"and"``, ``"or"``) or a network
        (``"Alarm1"``, ``"Barley"``, ``"Insurance"``, ``"Mildew"``).
    n_rows, sample
        Size of the sample, and its number, from 1.
    target
        Whose blanket was searched.
    method
        A name in :func:`komb.algorithms`.
    start
        Where the search began: ``""`` is the empty set, anything else the method whose blanket it
        was.
    order, max_separator
        The k and l of kOMB; ``None`` for all other methods.
    test, df, alpha
        How dependence was tested.
    blanket, truth
        The members found and the true ones, in the order of the table.
    precision, recall, f1
        As in :class:`komb.results.comparison.Score`.
    distance
        From perfection: ``sqrt((1 - precision)^2 + (1 - recall)^2)``, between 0 and the root of 2.
    tests, seconds
        What the search cost. kOMB searches of one start share what they know, except in the suite
        ``"runtime"``, so elsewhere these are what the cells before had left to do.
    timed_out
        Whether it was stopped at the time cap. Then ``blanket`` is what had been grown by then, and
        is not scored: precision, recall and F1 are 0, as for a search that found nothing.

    Examples
    --------
    >>> score = score_fields(["a"], ["a", "b"])
    >>> record = Record("synthetic", "or", 100, 1, "Y", "gs", "", None, None, "g", "observed",
    ...     0.01, ("a",), ("a", "b"), **score, tests=3, seconds=0.1)
    >>> record.to_dict()["blanket"], Record.from_dict(record.to_dict()) == record
    (['a'], True)
    """

    suite: str
    dataset: str
    n_rows: int
    sample: int
    target: str
    method: str
    start: str
    order: int | None
    max_separator: int | None
    test: str
    df: str
    alpha: float
    blanket: tuple[str, ...]
    truth: tuple[str, ...]
    precision: float
    recall: float
    f1: float
    distance: float
    tests: int
    seconds: float
    timed_out: bool = False

    @property
    def key(self) -> Key:
        """What tells this cell from all others, whatever came out of it."""
        return (
            self.suite, self.dataset, self.n_rows, self.sample, self.target, self.method,
            self.start, self.order, self.max_separator, self.test, self.df,
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Return everything as a dictionary of plain values, as it is written to the journal."""
        return {**asdict(self), "blanket": list(self.blanket), "truth": list(self.truth)}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Return the record that :meth:`to_dict` made a dictionary of."""
        values = known_fields(cls, record)
        _check_types(values)
        return cls(**values | {name: tuple(values[name]) for name in ("blanket", "truth")})


_KINDS: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "int | None": (int, type(None)),
    "float": (int, float),
    "bool": (bool,),
    "tuple[str, ...]": (list, tuple),
}


def _check_types(values: Mapping[str, Any]) -> None:
    """Raise if a value has not the type of its field."""
    for entry in fields(Record):
        value = values.get(entry.name, entry.default)
        kind = str(entry.type)
        is_right = isinstance(value, _KINDS[kind])
        if kind != "bool":
            is_right &= not isinstance(value, bool)  # which is an int to Python
        if is_right and kind.startswith("tuple"):
            is_right = all(isinstance(name, str) for name in value)
        if not is_right:
            remedy = "Pass it on unchanged."
            raise ParameterError.because(f"record[{entry.name!r}]", f"be {kind}", value, remedy)


class ScoreFields(TypedDict):
    """The fields of a record that say how accurate a blanket is."""

    precision: float
    recall: float
    f1: float
    distance: float


def score_fields(
    blanket: Iterable[str], truth: Iterable[str], *, timed_out: bool = False
) -> ScoreFields:
    """Say how accurate a blanket is, in the fields of a record.

    Examples
    --------
    >>> score_fields(["a"], ["a", "b"])
    {'precision': 1.0, 'recall': 0.5, 'f1': 0.6666666666666666, 'distance': 0.5}
    >>> score_fields(["a"], ["a"], timed_out=True)["f1"]
    0.0
    """
    score = Score(0.0, 0.0, 0.0) if timed_out else Score.of(blanket, truth)
    return {
        "precision": score.precision,
        "recall": score.recall,
        "f1": score.f1,
        "distance": math.hypot(1 - score.precision, 1 - score.recall),
    }


@dataclass(frozen=True, slots=True)
class SeparatorRecord:
    """How many members of a blanket it takes to separate its owner from one other variable.

    Attributes
    ----------
    network, target, other
        Which two variables of which network.
    size
        Of an inclusion-minimal d-separator inside the true blanket of the target, as in the paper.
    minimum_size
        Of the smallest d-separator there is inside the true blanket.
    """

    network: str
    target: str
    other: str
    size: int
    minimum_size: int


class Journal:
    """The records of a run, in a folder of files with one record per line.

    Each process that adds records has a file of its own, and no file is ever added to again by a
    later process. So whatever is killed, whenever, at most the line that it was writing is lost,
    and that is the last one of its file: any other line that is no record is an error. A power cut
    may take a second's worth of lines with it. The folder is made with the first record.

    Examples
    --------
    >>> Journal("no such folder").records
    []
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._folder = Path(path)
        self._part: int | None = None  # descriptor of the file that this process writes
        self._synced = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def exists(self) -> bool:
        """Whether anybody has ever added a record."""
        return any(self._parts())

    @property
    def records(self) -> list[Record]:
        """All records that are on disk; where a cell was finished twice, one of them."""
        found = (record for part in self._parts() for record in _read_part(part))
        return list({record.key: record for record in found}.values())

    def append(self, record: Record) -> None:
        """Add a record; whatever happens to this process afterwards, it is kept."""
        try:
            self._write(f"{dump_json(record.to_dict(), None)}\n".encode())
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            remedy = "Free disk space, or name another folder."
            raise FileError(f"Cannot write to {str(self._folder)!r}: {why}. {remedy}") from None

    def _write(self, line: bytes) -> None:
        """Write a line in one piece, which is what the system does whole or not at all."""
        if self._part is None:
            self._part = self._open_part()
        if os.write(self._part, line) < len(line):
            self.close()  # what follows half a line must go elsewhere
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if time.monotonic() > self._synced + _SYNC_EVERY:
            os.fsync(self._part)
            self._synced = time.monotonic()

    def close(self) -> None:
        """Close the file that this process writes."""
        if self._part is not None:
            os.fsync(self._part)
            os.close(self._part)
            self._part = None

    def _parts(self) -> list[Path]:
        return sorted(self._folder.glob(PARTS))

    def _open_part(self) -> int:
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / PARTS.replace("*", uuid.uuid4().hex)
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o666)


def _read_part(path: Path) -> Iterator[Record]:
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, start=1):
        try:
            yield Record.from_dict(json.loads(line))
        except (ParameterError, TypeError, ValueError, RecursionError):
            if number == len(lines):  # what follows the last newline: nothing, or half a line
                return
            raise FileError(
                f"Line {number} of {str(path)!r} is not a record. komb never writes "
                "such a line: restore the file, or remove the line, and its search is repeated."
            ) from None
