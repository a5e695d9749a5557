"""Run the units of a plan, in one process or in several, and write down every cell at once.

Each process writes to a file of its own in the journal, so nothing has to be handed back, and a
process that is killed takes nothing with it but the search it was in. What is found does not depend
on the number of processes: units have nothing in common but the data.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

from komb.api.find import markov_blanket
from komb.api.parallel import prepare_worker
from komb.api.path import Grid, open_path
from komb.api.warmup import warm_up
from komb.data.models.boolean_functions import boolean_table
from komb.data.table import DiscreteTable
from komb.errors import Argument, ParameterError
from komb.reproduction.datasets import Dataset, open_dataset
from komb.reproduction.deadline import Deadline, TimeUp
from komb.reproduction.journal import PARTS, Journal, Record, score_fields
from komb.reproduction.paper import ALPHA
from komb.reproduction.plan import Cell, Unit
from komb.results.blanket import Blanket

_TABLES_KEPT = 4
_GLANCE_EVERY = 0.5  # seconds between two looks at what has been done


@dataclass(frozen=True, slots=True)
class RunProgress:
    """The progress of a run: cells that are finished, out of how many."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Conditions:
    """What all units of a run have in common.

    Attributes
    ----------
    data
        Folder with samples of the networks; ``None`` to draw them.
    journal
        Folder for the records.
    time_cap
        Seconds after which a search is given up.
    """

    data: str | None
    journal: Path
    time_cap: float


def run_units(
    units: Sequence[Unit],
    conditions: Conditions,
    jobs: int = 1,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Run every cell of some units, in this many processes; each ends up in the journal.

    ``progress`` is called now and then, from a thread of its own, with the number of cells finished
    so far.
    """
    with _Watch(conditions.journal, progress):
        if jobs == 1 or len(units) < 2:
            with Journal(conditions.journal) as journal:
                for unit in units:
                    _run_unit(unit, conditions, journal)
        elif units:
            _run_in_processes(units, conditions, min(jobs, len(units)))


def _run_in_processes(units: Sequence[Unit], conditions: Conditions, jobs: int) -> None:
    from joblib import Parallel, delayed

    for test in {cell.test for unit in units for cell in unit.cells}:
        warm_up(boolean_table("and", 2), test)  # compile once, here, not in every process
    # One unit at a time: some take a thousand times as long as others.
    parallel = Parallel(n_jobs=jobs, batch_size=1)
    try:
        with warnings.catch_warnings():
            # a process that has taken much memory is replaced by another, and nothing is lost
            warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
            parallel(delayed(_work)(unit, conditions, os.getpid()) for unit in units)
    except BrokenProcessPool:
        raise ParameterError(
            f"One of the {jobs} processes was killed, probably because memory ran out. All that "
            "is finished is kept.",
            ("Pass ", Argument("resume", True), " to continue, with fewer ", Argument("jobs"), "."),
        ) from None


def _work(unit: Unit, conditions: Conditions, parent: int) -> None:
    """Run a unit in a process that was made for that."""
    prepare_worker(parent)
    _run_unit(unit, conditions, _journal_of_process(conditions.journal))


@lru_cache(maxsize=1)
def _journal_of_process(folder: Path) -> Journal:
    return Journal(folder)


@lru_cache(maxsize=_TABLES_KEPT)
def _dataset(name: str, data: str | None) -> Dataset:
    return open_dataset(name, data)


@lru_cache(maxsize=_TABLES_KEPT)
def _table(name: str, data: str | None, sample: int, n_rows: int) -> DiscreteTable:
    return _dataset(name, data).table(sample, n_rows)


def _run_unit(unit: Unit, conditions: Conditions, journal: Journal) -> None:
    """Run the cells of a unit; those of kOMB with one test share their work."""
    table = _table(unit.dataset, conditions.data, unit.sample, unit.n_rows)
    truth = _dataset(unit.dataset, conditions.data).truth[unit.target]
    for test in {cell.test for cell in unit.cells}:
        warm_up(table, test)  # before any clock starts
    is_shared = unit.suite != "runtime"  # there the times of single searches are what counts
    for (method, *_), group in groupby(unit.cells, lambda c: (c.method, c.test, c.df)):
        cells = list(group)
        finder = _Together if is_shared and method == "komb" else _Alone
        search = finder(table, unit.target, cells)
        for cell in cells:
            journal.append(_run_cell(unit, cell, truth, search, conditions.time_cap))


def _run_cell(
    unit: Unit, cell: Cell, truth: tuple[str, ...], search: _Alone, time_cap: float
) -> Record:
    deadline = Deadline(time_cap)
    known = search.tests  # before this cell
    try:
        with deadline:
            found = search.find(cell, deadline)
        members, tests, seconds, timed_out = found.members, found.tests, found.seconds, False
    except TimeUp:
        latest = deadline.latest
        members = () if latest is None else latest.blanket
        tests = 0 if latest is None else latest.tests - known
        seconds, timed_out = deadline.elapsed, True
    blanket = tuple(map(str, members))
    return Record(
        *unit.key(cell),
        alpha=ALPHA,
        blanket=blanket,
        truth=truth,
        **score_fields(blanket, truth, timed_out=timed_out),
        tests=tests,
        seconds=seconds,
        timed_out=timed_out,
    )


class _Alone:
    """Searches of one target that know nothing of each other.

    Attributes
    ----------
    tests
        How many tests the next search will find done already.
    """

    def __init__(self, table: DiscreteTable, target: str, cells: Sequence[Cell]) -> None:
        self.tests = 0
        self._table = table
        self._target = target
        self._cells = cells

    def find(self, cell: Cell, deadline: Deadline) -> Blanket:
        """Find the blanket of one cell."""
        asked = {"order": cell.order, "max_separator": cell.max_separator}
        options: dict[str, Any] = {key: value for key, value in asked.items() if value is not None}
        return markov_blanket(
            self._table,
            self._target,
            method=cell.method,
            alpha=ALPHA,
            test=cell.test,
            df=cell.df,
            start=cell.start or (),
            progress=deadline,
            **options,
        )


class _Together(_Alone):
    """Searches of one target by kOMB, with one test, that share a session."""

    def __init__(self, table: DiscreteTable, target: str, cells: Sequence[Cell]) -> None:
        super().__init__(table, target, cells)
        self._grids: dict[str, Grid] = {}  # by start

    def find(self, cell: Cell, deadline: Deadline) -> Blanket:
        """Find the blanket of one cell, with what earlier ones have left to do."""
        assert cell.order is not None
        assert cell.max_separator is not None
        if cell.start not in self._grids:
            self._grids[cell.start] = self._open(cell)
        try:
            blanket = self._grids[cell.start].find((cell.order, cell.max_separator), deadline)
        except TimeUp:
            # The next one starts afresh: an alarm may have hit the session at any moment, and what
            # was done in the time of this cell would be a present to it.
            self._grids, self.tests = {}, 0
            raise
        self.tests += blanket.tests
        return blanket

    def _open(self, first: Cell) -> Grid:
        cells = [cell for cell in self._cells if cell.start == first.start]
        others = [grid.session for grid in self._grids.values()]
        return open_path(
            self._table,
            self._target,
            orders=[cell.order for cell in cells if cell.order is not None],
            max_separators=[c.max_separator for c in cells if c.max_separator is not None],
            alpha=ALPHA,
            test=first.test,
            df=first.df,
            start=first.start or (),
            include=(),
            exclude=(),
            session=others[0] if others else None,
        )


class _Watch:
    """Looks at the journal now and then, and reports how many cells it has grown by."""

    def __init__(self, folder: Path, report: Callable[[int], None] | None) -> None:
        self._folder = folder
        self._report = report
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._read: dict[Path, int] = {}  # bytes seen of each file
        self._count()

    def __enter__(self) -> None:
        if self._report is not None:
            self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._report is not None:
            self._thread.join()

    def _look(self) -> None:
        assert self._report is not None
        done, is_over = 0, False
        while not is_over:
            is_over = self._over.wait(_GLANCE_EVERY)
            done += self._count()
            self._report(done)

    def _count(self) -> int:
        """Count the lines that were added since the last time."""
        lines = 0
        for path in self._folder.glob(PARTS):
            with path.open("rb") as file:
                file.seek(self._read.get(path, 0))
                added = file.read()
            lines += added.count(b"\n")
            self._read[path] = self._read.get(path, 0) + len(added)
        return lines
