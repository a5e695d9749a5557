"""Encode a table of any size into a folder, batch by batch.

One pass gathers what is in the columns, another writes their codes. Everything is written into a
hidden folder beside the one that is wanted, which takes its name in one step at the end. Whatever
goes wrong on the way, a full disk or an interrupt, the hidden folder is removed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from komb.data.batches import open_batches, rows_per_batch
from komb.data.encoder import Batches, Frame, TablePlan, plan_table
from komb.data.levels import Array
from komb.data.memory_limit import check_limit
from komb.data.names import Name, list_names
from komb.data.options import (
    AUTO,
    DEFAULT_BINS,
    Bins,
    Discretize,
    NaValues,
    ReadOptions,
    TypeOption,
    check_options,
)
from komb.data.read.cohort import genotype_format_of
from komb.data.read.file_bytes import shorten, to_path
from komb.data.read.table_files import read_table
from komb.data.reading import note_excluded
from komb.data.stored.format import (
    HEADER,
    START,
    Batch,
    Header,
    StoredColumn,
    array_start,
    checksum_of_rows,
    is_table_folder,
    open_table,
    stored_columns,
)
from komb.data.table import DiscreteTable, encode_table
from komb.errors import Argument, DataError, FileError

OnProgress = Callable[[str, int, int], None]
"""Called with what is going on, how much is done, and how much there is."""

_WORK = "work"  # folder of temporary files
_ROOM = "Make room, or choose another place."


def encode(
    data: object,
    path: str | os.PathLike[str],
    *,
    types: TypeOption = AUTO,
    missing: str | None = None,
    na_values: NaValues = (),
    discretize: Discretize = None,
    bins: Bins = DEFAULT_BINS,
    exclude: Iterable[Name] = (),
    target: Name | None = None,
    delimiter: str | None = None,
    has_header: bool = True,
    overwrite: bool = False,
    memory_limit: int | str | None = None,
    progress: OnProgress | None = None,
) -> DiscreteTable:
    r"""Encode a table of any size into a folder on disk, in bounded memory.

    Levels and codes are those of :func:`komb.table` of the whole data, with strict types. Groups
    and weights are given when the table is opened: ``komb.read_table(path, groups=...)``.

    Parameters
    ----------
    data
        Files by name, pattern (``"data/*.parquet"``) or as a list of names: Parquet, or delimited
        text, which may be compressed with gzip; a folder stands for the Parquet files in it. One
        file of genotypes (``.bed``, ``.pgen``, ``.vcf``), which is read into memory. A polars
        ``LazyFrame``, a pyarrow ``Dataset`` or a Dask dataframe. Or any table that
        :func:`komb.table` takes.
    path
        The folder to write, such as ``"table.komb"``.
    types, missing, na_values, discretize, bins, exclude, target
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
    DiscreteTable
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
    if isinstance(data, str | os.PathLike) and genotype_format_of(to_path(data)):
        data = read_table(
            data, types=types, missing=missing, na_values=na_values, discretize=discretize,
            bins=bins, target=target, memory_limit=memory_limit,
        )  # fmt: skip
        types, missing, na_values, discretize, bins = AUTO, None, (), None, DEFAULT_BINS
    options = check_options(
        discretize, bins, missing, types, na_values,
        exclude=list_names("exclude", exclude), target=target,
    )  # fmt: skip
    limit = check_limit(memory_limit)
    place = to_path(path)
    with _new_folder(place, overwrite=overwrite) as folder:
        work = folder / _WORK
        work.mkdir()
        batches = open_batches(data, work, limit, delimiter, has_header)
        if batches is None:
            table = note_excluded(encode_table(data, options), options.exclude)
            _write_table(table, folder, limit)
        else:
            _encode_batches(batches, options, folder, limit, progress)
        for left in work.iterdir():
            left.unlink()
        work.rmdir()
    return open_table(place, memory_limit)


def _write_table(table: DiscreteTable, folder: Path, limit: int) -> None:
    """Write a table that is in memory."""
    counts = table.missing_counts.tolist()
    columns = tuple(
        StoredColumn(name, levels, table.cuts.get(name), n_missing, name in table.numbers)
        for name, levels, n_missing in zip(table.names, table.levels, counts, strict=True)
    )
    said: Any = {
        name: getattr(table, name) for name in ("types", "reading", "notes", "annotations")
    }
    step = rows_per_batch(table.n_columns, limit)
    batches = [slice(lo, min(lo + step, table.n_rows)) for lo in range(0, table.n_rows, step)]
    header = Header(columns, table.n_rows, **said)
    writer = RowWriter.begin(folder, header, [rows.stop - rows.start for rows in batches])
    numbers = [table.numbers[column.name] for column in columns if column.has_numbers]
    writer.finish(
        [
            writer.write(number, table.codes[:, rows], [values[rows] for values in numbers])
            for number, rows in enumerate(batches)
        ]
    )


def _encode_batches(
    batches: Batches, options: ReadOptions, folder: Path, limit: int, progress: OnProgress | None
) -> None:
    """Gather, decide, and write the codes of all batches."""

    def tell(phase: str) -> None:
        if progress is not None:
            progress(phase, min(batches.done, batches.total), batches.total)

    names = options.names_left(batches.names)
    plan = plan_table(batches, names, options, limit=limit, progress=partial(tell, "levels"))
    columns, n_rows = stored_columns(plan), sum(plan.rows)
    left_out = {"exclude": tuple(options.exclude)} if options.exclude else {}
    header = Header(columns, n_rows, types=plan.types, reading=options.describe() | left_out)
    writer = RowWriter.begin(folder, header, plan.rows)
    written = []
    for batch in batches.map(partial(_write_batch, writer, plan), [own.name for own in plan.plans]):
        written += [batch] if batch.n_rows else []
        tell("codes")
    writer.finish(written)


def _write_batch(writer: RowWriter, plan: TablePlan, number: int, frame: Frame) -> Batch:
    """Encode a batch and write it."""
    return writer.write(number, *plan.encode(frame))


@dataclass(frozen=True, slots=True)
class RowWriter:
    """Writes batches of rows into a folder, in any order, by any process that sees it."""

    folder: Path
    header: Header
    starts: tuple[int, ...]  # the first row of each batch, and the end

    @classmethod
    def begin(cls, folder: Path, header: Header, rows_of_batches: Sequence[int]) -> RowWriter:
        """Make files of the right sizes, which take no room yet."""
        header.to_bytes()  # raises before anything is written
        for file, dtype, shape in header.arrays:
            with (folder / file).open("wb") as stream:
                stream.write(array_start(dtype, shape))
                stream.truncate(START + shape[0] * shape[1] * dtype.itemsize)
        return cls(folder, header, tuple(accumulate(rows_of_batches, initial=0)))

    def write(
        self, number: int, codes: Iterable[Array], numbers: Iterable[npt.NDArray[np.float64]] = ()
    ) -> Batch:
        """Write the codes of a batch, and the values of the columns that have numbers."""
        start, end = self.starts[number : number + 2]
        written = []
        for (file, dtype, _), columns in zip(self.header.arrays, (codes, numbers), strict=False):
            own = [np.ascontiguousarray(column, dtype) for column in columns]
            if any(len(column) != end - start for column in own):
                message = "The data changed while they were encoded: rows came or went."
                raise DataError(message, "Encode them when nothing writes to them.")
            with (self.folder / file).open("r+b") as stream:
                for place, column in enumerate(own):
                    first = place * self.header.n_rows + start
                    stream.seek(START + first * dtype.itemsize)
                    stream.write(column.data)
            written.append(own)
        return Batch(end - start, checksum_of_rows(written))

    def finish(self, batches: Sequence[Batch]) -> None:
        """Write the header, and have everything on the disk."""
        header = replace(self.header, batches=tuple(batches))
        (self.folder / HEADER).write_bytes(header.to_bytes())
        for file in (HEADER, *(name for name, _, _ in header.arrays)):
            with (self.folder / file).open("r+b") as stream:
                os.fsync(stream.fileno())


@contextmanager
def _new_folder(path: Path, *, overwrite: bool) -> Iterator[Path]:
    """Have a folder to write into, which becomes ``path`` if all goes well."""
    _check_place(path, overwrite=overwrite)
    hidden = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        hidden.mkdir()
    except OSError as error:
        remedy = "Choose a folder that exists and that you may write to."
        raise FileError.on_writing(path, error, remedy) from None
    try:
        yield hidden
        _sync(hidden)
        _take_place(hidden, path)
    except OSError as error:
        raise FileError.on_writing(path, error, _ROOM) from error
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def _check_place(path: Path, *, overwrite: bool) -> None:
    if not path.name:
        raise FileError(f"{shorten(path)} is no name for a table.", "Try 'table.komb'.")
    if not path.exists() and not path.is_symlink():
        return
    if not overwrite:
        remedy = "Choose another name, or pass ", Argument("overwrite", True), "."
        raise FileError(f"{shorten(path)} exists already.", remedy)
    if not is_table_folder(path):
        message = f"{shorten(path)} exists already and is no table on disk, so it is not replaced."
        raise FileError(message, "Choose another name, or remove it.")


def _take_place(hidden: Path, path: Path) -> None:
    """Move a complete folder to its place, and what was there out of the way."""
    old = hidden.with_suffix(".old")
    if path.exists():
        path.rename(old)
    try:
        hidden.rename(path)
    except OSError:
        if old.exists():
            old.rename(path)
        raise
    _sync(path.parent)
    shutil.rmtree(old, ignore_errors=True)


def _sync(folder: Path) -> None:
    """Have the names in a folder on the disk, where the system can say so."""
    with suppress(OSError):  # Windows opens no folders
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
