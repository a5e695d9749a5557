"""Encode a table of any size into a folder, batch by batch.

Two passes: one that gathers the levels of every column, and one that writes their codes. Columns
that may be cut into bins have their numbers written to a temporary file in the first.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from komb.data.batches import open_batches, rows_per_batch
from komb.data.encoder import Batches, Frame, TablePlan, plan_table
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
from komb.data.read.file_bytes import to_path
from komb.data.reading import note_excluded
from komb.data.stored.format import (
    Batch,
    Header,
    RowWriter,
    StoredColumn,
    is_table_folder,
    open_table,
    stored_columns,
)
from komb.data.stored.new_folder import new_folder
from komb.data.table import DiscreteTable, encode_table

OnProgress = Callable[[str, int, int], None]
"""Called with what is going on, how much is done, and how much there is."""

_WORK = "work"  # folder of temporary files


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
        text, which may be compressed with gzip; a folder stands for the Parquet files in it. A
        polars ``LazyFrame``, a pyarrow ``Dataset`` or a Dask dataframe. Or any table that
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
    options = check_options(
        discretize, bins, missing, types, na_values,
        exclude=list_names("exclude", exclude), target=target,
    )  # fmt: skip
    limit = check_limit(memory_limit)
    place = to_path(path)
    with new_folder(place, overwrite=overwrite, is_ours=is_table_folder(place)) as folder:
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
    said: Any = {"types": table.types, "reading": table.reading, "notes": table.notes}
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
    batches: Batches,
    options: ReadOptions,
    folder: Path,
    limit: int,
    progress: OnProgress | None,
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
