"""Encode a table of any size into a folder, batch by batch.

Two passes: one that gathers the levels of every column, and one that writes their codes. Columns
that may be cut into bins have their numbers written to a temporary file in the first.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from komb.data.encode.codes import Array, Name, code_dtype
from komb.data.encode.column_errors import ColumnProblem, explain
from komb.data.encode.inputs import Request, check_shape
from komb.data.encode.numbers import to_numbers
from komb.data.encode.treatment import (
    DEFAULT_BINS,
    MDL,
    Bins,
    Discretize,
    check_treatment,
)
from komb.data.memory_limit import check_limit, refuse_beyond
from komb.data.names import list_names
from komb.data.read.file_bytes import to_path
from komb.data.stored.batches import Batches, Frame, open_batches, rows_per_batch
from komb.data.stored.column_plans import ColumnPlan, Cutter, rule_of, settle_column
from komb.data.stored.column_values import ColumnValues
from komb.data.stored.header import FILE, ColumnEntry, Header, ShardEntry
from komb.data.stored.new_folder import new_folder
from komb.data.stored.shards import write_shard
from komb.data.stored.spilled_numbers import SpilledNumbers
from komb.data.stored.stored_table import StoredTable, is_table_folder, open_table
from komb.data.table import DiscreteTable, encode_table
from komb.errors import ContinuousColumnError, DataError

OnProgress = Callable[[str, int, int], None]
"""Called with what is going on, how much is done, and how much there is."""

_WORK = "work"  # folder of temporary files


def encode(
    data: object,
    path: str | os.PathLike[str],
    *,
    exclude: Collection[Name] = (),
    discretize: Discretize = None,
    bins: Bins = DEFAULT_BINS,
    missing: str | None = None,
    target: Name | None = None,
    delimiter: str | None = None,
    has_header: bool = True,
    overwrite: bool = False,
    memory_limit: int | str | None = None,
    progress: OnProgress | None = None,
) -> StoredTable:
    r"""Encode a table of any size into a folder on disk, in bounded memory.

    Levels and codes are those of :func:`komb.table` of the whole data, with strict types. Groups
    and weights are given when the table is opened: ``komb.read_table(path, groups=...)``.

    Parameters
    ----------
    data
        Files by name, pattern (``"data/*.parquet"``) or as a list of names: Parquet, or delimited
        text, which may be compressed with gzip; a folder stands for the Parquet files in it. A
        polars ``LazyFrame``, a pyarrow ``Dataset`` or a Dask dataframe. Or any table that
        :func:`komb.table` takes.
    path
        The folder to write, such as ``"table.komb"``.
    exclude, discretize, bins, missing, target
        As in :func:`komb.table`. Cut points are exact; ``"kmeans"`` and ``"mdl"`` need memory for
        all numbers of a column.
    delimiter, has_header
        Of delimited text, as in :func:`komb.read_table`.
    overwrite
        Whether a table that is there already may be replaced; it is when the new one is complete.
    memory_limit
        How much memory to take: bytes, or text such as ``"2 GB"``. If left out, what the
        environment variable ``KOMB_MEMORY_LIMIT`` says, or else half of what is free.
    progress
        Called now and then with what is going on (``"levels"`` or ``"codes"``), how much is done,
        and how much there is.

    Returns
    -------
    StoredTable
        The table, opened. :func:`komb.read_table` opens it again.

    Raises
    ------
    komb.errors.InputError
        If the data cannot be encoded, or the folder not be written; nothing is left of it then.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.csv").write_text("x,y\n1,no\n2,yes\n")
    ...     _ = Path(folder, "b.csv").write_text("x,y\n3,no\n")
    ...     encode(f"{folder}/*.csv", f"{folder}/table.komb").levels
    ((1, 2, 3), ('no', 'yes'))
    """
    treatment = check_treatment(discretize, bins, missing)
    exclude = list_names("exclude", exclude)
    limit = check_limit(memory_limit)
    place = to_path(path)
    with new_folder(place, overwrite=overwrite, is_ours=is_table_folder(place)) as folder:
        work = folder / _WORK
        work.mkdir()
        batches = open_batches(data, work, limit, delimiter, has_header)
        request = Request(exclude, treatment, target)
        if batches is None:
            table = encode_table(data, treatment, exclude=exclude, target=target)
            header = _store(table, folder, limit)
        else:
            header = _Encoding(batches, request, folder, limit, progress).run()
        for left in work.iterdir():
            left.unlink()
        work.rmdir()
        _write_header(folder, header)
    return open_table(place, memory_limit=memory_limit)


def _write_header(folder: Path, header: Header) -> None:
    with (folder / FILE).open("wb") as file:
        file.write(header.to_bytes())
        file.flush()
        os.fsync(file.fileno())


def _store(table: DiscreteTable, folder: Path, limit: int) -> Header:
    """Write a table that is in memory."""
    counts = table.missing_counts.tolist()
    columns = tuple(
        ColumnEntry(name, levels, table.cuts.get(name), n_missing)
        for name, levels, n_missing in zip(table.names, table.levels, counts, strict=True)
    )
    header = Header(columns, ())
    header.to_bytes()  # raises before anything is written
    step = rows_per_batch(table.n_columns, limit)
    shards = []
    for number, start in enumerate(range(0, table.n_rows, step)):
        codes = [
            row[start : start + step].astype(code_dtype(column.n_codes))
            for row, column in zip(table.codes, columns, strict=True)
        ]
        shards.append(write_shard(folder, number, codes))
    return Header(columns, tuple(shards))


class _Encoding:
    """One table in batches, on its way to the disk."""

    def __init__(
        self,
        batches: Batches,
        request: Request,
        folder: Path,
        memory_limit: int,
        progress: OnProgress | None,
    ) -> None:
        self._batches = batches
        self._treatment = request.treatment
        self._target = request.target
        self._folder = folder
        self._limit = memory_limit
        self._progress = progress
        self._names = request.names_left(list(batches.names))
        check_shape(self._names, 1)
        if self._treatment.needs_target:
            self._treatment.check_target(self._target)
            Request((), self._treatment, only=[self._target]).names_left(self._names)

    def plan(self) -> tuple[list[ColumnPlan], int]:
        """Gather levels, and settle what the columns are; returns the number of rows, too."""
        spilled = [
            name for name in self._names if rule_of(self._treatment, self._target, name) is not None
        ]
        values, files = self._look(spilled)
        n_rows = next(iter(values.values())).n_rows
        check_shape(self._names, n_rows)
        return self._settle(values, files), n_rows

    def run(self) -> Header:
        """Settle what the columns are, and write their codes."""
        plans, _ = self.plan()
        header = Header(tuple(plan.entry for plan in plans), ())
        header.to_bytes()  # raises before anything is written
        work = partial(_write_batch, self._folder, plans)
        shards = [shard for shard in self._map("codes", work, self._names) if shard.n_rows]
        return Header(header.columns, tuple(shards))

    def _map(
        self, phase: str, work: Callable[[int, Frame], Any], columns: Sequence[Name]
    ) -> Iterator[Any]:
        for result in self._batches.map(work, columns):
            yield result
            if self._progress is not None:
                self._progress(phase, min(self._batches.done, self._batches.total),
                               self._batches.total)  # fmt: skip

    def _look(
        self, spilled: Sequence[Name]
    ) -> tuple[dict[Name, ColumnValues], dict[Name, list[Path] | None]]:
        """Make the first pass; returns what is known of each column, and files of its numbers."""
        values = {name: ColumnValues() for name in self._names}
        files: dict[Name, list[Path] | None] = {name: [] for name in spilled}
        work = partial(_look_at_batch, self._folder / _WORK, tuple(spilled))
        for found in self._map("levels", work, self._names):
            for name, (own, file) in found.items():
                values[name].add(own)
                gathered = files.get(name)
                if gathered is not None:
                    files[name] = None if file is None else [*gathered, file]
        return values, files

    def _settle(
        self, values: dict[Name, ColumnValues], files: dict[Name, list[Path] | None]
    ) -> list[ColumnPlan]:
        cutter = Cutter(self._treatment, self._target, None, 0, self._limit)
        if self._treatment.needs_target:
            cutter = self._with_classes(cutter, values, files)
        plans: list[ColumnPlan] = []
        problems: dict[Name, ColumnProblem] = {}
        for name in self._names:
            try:
                plans.append(_settle(name, values, files, cutter))
            except ColumnProblem as problem:
                problems[name] = problem
        if problems:
            raise explain(problems, is_cutting=isinstance(self._treatment.discretize, Mapping))
        return plans

    def _with_classes(
        self,
        cutter: Cutter,
        values: dict[Name, ColumnValues],
        files: dict[Name, list[Path] | None],
    ) -> Cutter:
        """Encode the target, by whose levels others are cut, in memory."""
        target = self._target
        n_rows = values[target].n_rows
        refuse_beyond(4 * n_rows, self._limit, f"Cutting by the target {target!r} ('mdl')")
        try:
            plan = _settle(target, values, files, cutter)
        except ColumnProblem as problem:
            raise _explain_target(target, problem) from None
        work = partial(_encode_column, plan)
        classes = np.concatenate(list(self._batches.map(work, [target])))
        # missing values are no class, unless they are a level
        return cutter._replace(classes=classes, n_classes=len(plan.levels))


def plan_columns(batches: Batches, request: Request) -> tuple[list[ColumnPlan], int]:
    """Settle how columns are encoded, none of which is to be cut, and count the rows."""
    return _Encoding(batches, request, Path(), 0, None).plan()


def _explain_target(target: Name, problem: ColumnProblem) -> DataError:
    error = explain({target: problem})
    if isinstance(error, ContinuousColumnError):
        return error.advising(f"Others are cut by it ({MDL!r}), so it must be discrete or be cut.")
    return error


def _settle(
    name: Name,
    values: dict[Name, ColumnValues],
    files: dict[Name, list[Path] | None],
    cutter: Cutter,
) -> ColumnPlan:
    own = files.get(name)
    return settle_column(name, values[name], None if own is None else SpilledNumbers(own), cutter)


class _Look(NamedTuple):
    """What a batch says of a column, and where its numbers are."""

    values: ColumnValues
    file: Path | None


def _columns_of(frame: Frame) -> Iterator[Any]:
    import narwhals as nw

    yield from nw.from_native(frame, eager_only=True).iter_columns()


def _look_at_batch(
    folder: Path, spilled: tuple[Name, ...], number: int, frame: Frame
) -> dict[Name, _Look]:
    """Gather the levels of a batch, and write down the numbers that may be cut."""
    found = {}
    for place, series in enumerate(_columns_of(frame)):
        numbers = to_numbers(series) if series.name in spilled else None
        file = None
        if numbers is not None:
            file = folder / f"numbers-{place}-{number}.f8"
            with file.open("wb") as stream:
                stream.write(numbers.astype("<f8").data)
        found[series.name] = _Look(ColumnValues.of(series), file)
    return found


def _write_batch(
    folder: Path, plans: Sequence[ColumnPlan], number: int, frame: Frame
) -> ShardEntry:
    """Encode a batch and write it as a shard."""
    return write_shard(folder, number, encode_columns(plans, frame))


def encode_columns(plans: Sequence[ColumnPlan], frame: Frame) -> list[Array]:
    """Encode the columns of a batch, in the order of their plans."""
    columns = {plan.name: plan for plan in plans}
    codes = {series.name: columns[series.name].encode(series) for series in _columns_of(frame)}
    return [codes[plan.name] for plan in plans]


def _encode_column(plan: ColumnPlan, _number: int, frame: Frame) -> Array:
    return plan.encode(next(iter(_columns_of(frame))))
