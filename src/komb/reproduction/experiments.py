"""Which searches the experiments consist of, and what is written down about each.

A :class:`Cell` is one search: a method with its settings, for one target in one sample. What came
out of it is a :class:`Record`, a row of ``results.csv``. That file makes a run safe to kill: a
finished search is in it before the next one begins.
"""

from __future__ import annotations

import csv
import errno
import io
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from itertools import product
from pathlib import Path
from typing import IO, Any, NamedTuple, Self, TypeVar

from komb.errors import FileError, ParameterError, UnknownNameError
from komb.reproduction import paper
from komb.reproduction.datasets import Dataset
from komb.reproduction.paper import Setting

SUITES = ("intro", "synthetic", "benchmark", "ablation", "separators", "runtime")
"""What can be asked for. ``separators`` has no searches: it looks at graphs alone."""

EVERYTHING = "all"


class Variant(NamedTuple):
    """How a method was run: on which test, and from where (``""`` is the empty set)."""

    test: str = paper.TEST
    df: str = paper.DF
    start: str = ""

    @property
    def origin(self) -> str:
        """Where the search began, in words."""
        return f"from {self.start.upper()}'s blanket" if self.start else "from the empty set"


@dataclass(frozen=True, slots=True)
class Cell:
    """One search: a method with its settings, for one target in one sample of a dataset."""

    dataset: str
    n_rows: int
    sample: int
    target: str
    method: str
    order: int | None
    max_separator: int | None
    test: str
    df: str
    start: str

    @property
    def setting(self) -> Setting:
        """The method, with its k and l."""
        return Setting(self.method, self.order, self.max_separator)

    @property
    def variant(self) -> Variant:
        """How it is run."""
        return Variant(self.test, self.df, self.start)


@dataclass(frozen=True, slots=True)
class Record(Cell):
    """What one search found, and how accurate that is: a row of ``results.csv``.

    ``order`` and ``max_separator`` are the k and l of kOMB, ``start`` the method whose blanket it
    began with, ``distance`` that of precision and recall from perfection. ``tests`` and ``seconds``
    include those of the method it began with. A search that was stopped at the time cap has no
    blanket, and scores of 0.
    """

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
    def cell(self) -> Cell:
        """The search that this is about."""
        return Cell(*(getattr(self, field.name) for field in fields(Cell)))


@dataclass(frozen=True, slots=True)
class SeparatorRecord:
    """Sizes of d-separators inside a target's blanket: an inclusion-minimal and the smallest."""

    network: str
    target: str
    other: str
    size: int
    minimum_size: int


# ------------------------------------------------------------------------------------------ suites


class _Block(NamedTuple):
    """The same methods on every sample of every size of some datasets."""

    datasets: tuple[str, ...]
    sizes: tuple[int, ...]
    methods: tuple[tuple[Setting, Variant], ...]
    n_samples: int = paper.N_SAMPLES


def _classics(variant: Variant) -> tuple[tuple[Setting, Variant], ...]:
    return tuple((Setting(method), variant) for method in paper.CLASSICS)


def _grid(orders: Sequence[int], *starts: str) -> tuple[tuple[Setting, Variant], ...]:
    cells = product(starts, orders, (1, 2, 3))
    return tuple((Setting("komb", k, bound), Variant(start=start)) for start, k, bound in cells)


PAPERS_TEST, ADJUSTED = Variant(), Variant("g", "adjusted")
"""The classics are run on both; on the second they are at their best."""

_ON_FUNCTIONS, _ON_NETWORKS = _grid((0, 1, 2), "", "iamb"), _grid((1, 2, 3), "", "iamb")
_ALL_ON_FUNCTIONS = _classics(PAPERS_TEST) + _ON_FUNCTIONS
_ALL_ON_NETWORKS = _classics(PAPERS_TEST) + _classics(ADJUSTED) + _ON_NETWORKS
_TIMED = _classics(PAPERS_TEST) + _grid((1, 2, 3), "")
_SMALL, _LARGE = (paper.SYNTHETIC_ROWS,), (paper.BENCHMARK_ROWS,)

_BLOCKS: Mapping[str, tuple[_Block, ...]] = {
    "intro": (_Block(("ex-1",), (100, 1000), _ALL_ON_FUNCTIONS),),
    "synthetic": (_Block(paper.FUNCTIONS, paper.SIZES, _ALL_ON_FUNCTIONS),),
    "benchmark": (_Block(paper.NETWORKS, _LARGE, _ALL_ON_NETWORKS),),
    "ablation": (
        _Block(paper.FUNCTIONS, _SMALL, _ON_FUNCTIONS),
        _Block(paper.NETWORKS, _LARGE, _ON_NETWORKS),
    ),
    "separators": (),
    "runtime": (_Block(paper.NETWORKS, _LARGE, _TIMED, n_samples=1),),
}


def check_suites(suites: str | Iterable[str]) -> tuple[str, ...]:
    """Return the suites that are asked for, each once and in order."""
    names = [suites] if isinstance(suites, str) else list(suites)
    for name in names:
        if name not in (*SUITES, EVERYTHING):
            raise UnknownNameError.among("suite", name, [*SUITES, EVERYTHING])
    if not names:
        remedy = f"Name one of these: {', '.join(SUITES)}, or {EVERYTHING!r}."
        raise ParameterError.because("suites", "name at least one suite", names, remedy)
    return tuple(suite for suite in SUITES if suite in names or EVERYTHING in names)


def needs_networks(suites: Iterable[str]) -> bool:
    """Whether any of the suites looks at networks."""
    return not set(suites) <= {"intro", "synthetic"}


def make_plan(
    suites: Iterable[str],
    datasets: Mapping[str, Dataset],
    *,
    samples: int = paper.N_SAMPLES,
    targets: int = paper.N_TARGETS,
) -> list[Cell]:
    """List the searches of some suites, each once, sample by sample within a suite.

    Datasets that are not there are left out. There are at most so many samples of each dataset, and
    targets in each of them. A run that is cut short has whole samples.
    """
    cells: dict[Cell, None] = {}
    for block in (block for suite in suites for block in _BLOCKS[suite]):
        present = [datasets[name] for name in block.datasets if name in datasets]
        numbers = range(1, min(samples, block.n_samples) + 1)
        for sample, dataset, n_rows in product(numbers, present, block.sizes):
            for target, (setting, variant) in product(dataset.targets(targets), block.methods):
                cells[Cell(dataset.name, n_rows, sample, target, *setting, *variant)] = None
    return list(cells)


# ------------------------------------------------------------------------------------------- files

_Row = TypeVar("_Row", Record, SeparatorRecord)

_READ: Mapping[str, Callable[[str], Any]] = {
    "str": str,
    "int": int,
    "int | None": lambda text: int(text) if text else None,
    "float": float,
    "bool": {"True": True, "False": False}.__getitem__,
    "tuple[str, ...]": lambda text: tuple(text.split(" ")) if text else (),
}
_NO_ROOM = "Name another folder, or free disk space."


def write_rows(path: Path, rows: Sequence[_Row], kind: type[_Row]) -> None:
    """Write rows as CSV in one step: a killed process leaves the old file or the new one."""
    lines = [_line(field.name for field in fields(kind)), *(_line(astuple(row)) for row in rows)]
    write_file(path, "".join(lines).encode())


def write_file(path: Path, content: bytes) -> None:
    """Write a file in one step, in a folder that is made if need be."""
    fresh = path.with_name(f"{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_bytes(content)
        os.replace(fresh, path)
    except OSError as error:
        raise FileError.on_writing(path, error, _NO_ROOM) from None


def _line(values: Iterable[object]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(
        " ".join(value) if isinstance(value, tuple) else value for value in values
    )
    return text.getvalue()


def read_rows(path: Path, kind: type[_Row]) -> list[_Row]:
    """Read what was written; half a line at the end, which a killed process left, is ignored."""
    try:
        *lines, _ = path.read_bytes().split(b"\n")
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise FileError(f"Cannot read {str(path)!r}: {error.strerror}. {_NO_ROOM}") from None
    if lines and lines[0].decode(errors="replace") + "\n" != _line(f.name for f in fields(kind)):
        raise FileError(f"{str(path)!r} is not a file of results of this version of komb.")
    return [_parse(line, kind, path, number) for number, line in enumerate(lines[1:], start=2)]


def _parse(line: bytes, kind: type[_Row], path: Path, number: int) -> _Row:
    try:
        [texts] = csv.reader([line.decode()])
        pairs = zip(fields(kind), texts, strict=True)
        return kind(*(_READ[str(field.type)](text) for field, text in pairs))
    except (ValueError, KeyError, csv.Error):
        raise FileError(
            f"Line {number} of {str(path)!r} is not a row of results. Restore the file, or remove "
            "the line, and its search is repeated."
        ) from None


class Journal:
    """A file of results that grows by one row at a time, each on disk before the next begins."""

    def __init__(self, path: Path) -> None:
        self._path = path
        found = {record.cell: record for record in read_rows(path, Record)}
        self.records = list(found.values())
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        write_rows(self._path, self.records, Record)  # without half a line at its end
        self._file = self._path.open("ab", buffering=0)
        return self

    def append(self, record: Record) -> None:
        """Add a record; whatever happens to this process afterwards, it is kept."""
        assert self._file is not None
        line = _line(astuple(record)).encode()
        try:
            if self._file.write(line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            raise FileError.on_writing(self._path, error, _NO_ROOM) from None
        self.records.append(record)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Close the file; once all is done, rows are sorted by what was run."""
        assert self._file is not None
        self._file.close()
        self.records.sort(key=lambda row: [(x is not None, x) for x in astuple(row.cell)])
        if kind is None:
            write_rows(self._path, self.records, Record)
