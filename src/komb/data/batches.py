"""Tables that come in batches of rows, as often as they are asked for, in bounded memory."""

from __future__ import annotations

import glob
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from komb.data.encoder import Batches, Frame, Result
from komb.data.inputs import check_shape
from komb.data.read.file_bytes import mapped_file, shorten, to_path
from komb.data.read.formats import Format, format_of
from komb.data.read.parquet import PARQUET
from komb.data.read.text import TextFile, find_types, trimmed, typed
from komb.data.stored.format import is_table_folder
from komb.errors import DataError, FileError

VALUES_PER_BATCH = 1 << 25
"""Rows times columns of a batch."""

BYTES_PER_VALUE = 64
"""Memory that a batch takes for each value while it is read and encoded."""

_FEWEST_ROWS, _MOST_ROWS = 1 << 10, 1 << 22
_AHEAD = 8  # partitions of Dask that are begun before the first of them is asked for


def rows_per_batch(n_columns: int, memory_limit: int) -> int:
    """Return how many rows of a table make a batch."""
    values = min(VALUES_PER_BATCH, memory_limit // (2 * BYTES_PER_VALUE))
    return min(max(values // max(n_columns, 1), _FEWEST_ROWS), _MOST_ROWS)


class _Scan(Batches):
    """What polars reads, some rows at a time."""

    def __init__(self, files: str, kind: Format, scan: pl.LazyFrame, memory_limit: int) -> None:
        self._files, self._kind = files, kind  # as messages name them
        self._scan = scan
        with kind.naming_damage(files):
            super().__init__(list(scan.collect_schema()))
            self.total = int(scan.select(pl.len()).collect().item())
        check_shape(self.names, 1)
        self._step = rows_per_batch(len(self.names), memory_limit)

    def map(self, work: Callable[[int, Frame], Result], columns: Sequence[Any]) -> Iterator[Result]:
        """Do some work on every batch, one after the other."""
        scan = self._scan.select(list(columns))
        for number, start in enumerate(range(0, self.total, self._step)):
            with self._kind.naming_damage(self._files):
                frame = scan.slice(start, self._step).collect()
            self.done = start + len(frame)
            yield work(number, frame)


class _ArrowDataset(Batches):
    """A pyarrow dataset."""

    def __init__(self, data: Any, memory_limit: int) -> None:
        super().__init__(data.schema.names)
        check_shape(self.names, 1)
        self._data = data
        self._step = rows_per_batch(len(self.names), memory_limit)
        self.total = max(1, int(data.count_rows()))

    def map(self, work: Callable[[int, Frame], Result], columns: Sequence[Any]) -> Iterator[Result]:
        """Do some work on every batch, one after the other."""
        for number, frame in enumerate(self._tables(list(columns))):
            self.done += frame.num_rows
            yield work(number, frame)

    def _tables(self, columns: list[Any]) -> Iterator[Any]:
        """Join the batches of the dataset, which may be small."""
        import pyarrow as pa

        self.done = 0
        waiting: list[Any] = []
        # no more than a few fragments ahead: the reader would fill the memory otherwise
        for batch in self._data.to_batches(
            columns=columns, batch_size=self._step, batch_readahead=2, fragment_readahead=1
        ):
            waiting.append(batch)
            if sum(each.num_rows for each in waiting) >= self._step:
                yield pa.Table.from_batches(waiting)
                waiting = []
        if sum(each.num_rows for each in waiting):
            yield pa.Table.from_batches(waiting)


class DaskPartitions(Batches):
    """A Dask dataframe: the work goes to where the partitions are."""

    def __init__(self, data: Any) -> None:
        super().__init__(list(data.columns))
        check_shape(self.names, 1)
        self._data = data
        self.total = int(data.npartitions)

    def map(self, work: Callable[[int, Frame], Result], columns: Sequence[Any]) -> Iterator[Result]:
        """Do some work on every partition, by whoever has it."""
        from dask.base import compute
        from dask.delayed import delayed

        self.done = 0
        partitions = deque(self._data[list(columns)].to_delayed())
        number = 0
        while partitions:
            some = [partitions.popleft() for _ in range(min(_AHEAD, len(partitions)))]
            calls = [delayed(work)(number + i, part) for i, part in enumerate(some)]
            number += len(some)
            for result in compute(*calls):  # type: ignore[no-untyped-call]
                self.done += 1
                yield result


def open_batches(
    data: Any, folder: Path, memory_limit: int, delimiter: str | None, has_header: bool
) -> Batches | None:
    """Open what comes in batches; None for anything else, such as a table in memory.

    Text, and what a lazy frame computes, is written into a folder for temporary files first.
    """
    library, _, _ = type(data).__module__.partition(".")
    is_list = isinstance(data, list | tuple)
    if all(isinstance(each, str | os.PathLike) for each in (data if is_list else [data])):
        files = _find_files(data)
        kinds = [format_of(file) for file in files]
        kind = next(filter(None, kinds), None)
        if kind is not None:
            if kinds.count(kind) < len(kinds):
                other = next(file for file in files if format_of(file) != kind)
                message = f"Some files are {kind.name}, but {shorten(other)} is not."
                raise FileError(message, "Name files of one kind.")
            return _open_files(files, kind, memory_limit)
        return _open_text(files, folder, memory_limit, delimiter, has_header)
    if library == "polars" and hasattr(data, "sink_parquet"):
        return _open_lazy(data, folder, memory_limit)
    if library == "pyarrow" and hasattr(data, "to_batches") and hasattr(data, "count_rows"):
        return _ArrowDataset(data, memory_limit)
    if library.startswith("dask") and hasattr(data, "to_delayed") and hasattr(data, "npartitions"):
        return DaskPartitions(data)
    return None


def _find_files(data: Any) -> list[Path]:
    """Return the files that a name, a pattern or a list of names stands for, in their order.

    A folder stands for the Parquet files in it.
    """
    if not isinstance(data, str | os.PathLike):
        named = [file for each in data for file in _find_files(each)]
        if not named:
            raise FileError("There are no files in the list.", "Name at least one.")
        return named
    path = to_path(data)
    if is_table_folder(path):
        remedy = "Use it as it is, or open it with komb.read_table."
        raise FileError(f"{shorten(path)} is an encoded table already.", remedy)
    if path.is_dir():
        pattern = os.path.join(glob.escape(str(path)), "**", "*.parquet")
    elif glob.has_magic(str(path)) and not path.exists():
        pattern = str(path)
    else:
        return [path]
    found = sorted(Path(name) for name in glob.glob(pattern, recursive=True))
    files = [file for file in found if file.is_file()]
    if not files:
        what = "holds no Parquet file" if path.is_dir() else "matches no file"
        raise FileError(f"{shorten(path)} {what}.", "Check the name or the pattern.")
    return files


def _open_files(files: Sequence[Path], kind: Format, memory_limit: int) -> Batches:
    """Open files of one format with the same columns of the same types."""
    first, expected = files[0], _schema(files[0], kind)
    for file in files[1:]:
        found = _schema(file, kind)
        _check_same_columns(list(expected), list(found), first, file)
        for name, dtype in expected.items():
            if found[name] != dtype:
                raise DataError(
                    f"Column {name!r} is {dtype} in {shorten(first)}, but {found[name]} in "
                    f"{shorten(file)}; files of one table must have the same types.",
                    "Write them with the same types, or name files that have them.",
                )
    more = f" or one of {len(files) - 1} more" if len(files) > 1 else ""
    return _Scan(f"{shorten(first)}{more}", kind, kind.scan(files), memory_limit)


def _schema(file: Path, kind: Format) -> dict[str, Any]:
    with mapped_file(file, 0, 0), kind.naming_damage(shorten(file)):  # or it says why not
        return dict(kind.scan([file]).collect_schema())


def _check_same_columns(
    expected: Sequence[Any], found: Sequence[Any], first: object, file: object
) -> None:
    """Raise unless two files have the same columns."""
    lacks = [name for name in expected if name not in found]
    more = [name for name in found if name not in expected]
    if lacks or more:
        parts = [
            f"{verb} {', '.join(map(repr, names[:5]))}{' ...' if len(names) > 5 else ''}"
            for verb, names in (("lacks", lacks), ("also has", more))
            if names
        ]
        message = f"{shorten(file)} must have the columns of {shorten(first)}; it "
        remedy = "Name files of one table only."
        raise DataError(f"{message}{' and '.join(parts)}.", remedy)


def _open_text(
    files: Sequence[Path], folder: Path, memory_limit: int, delimiter: str | None, has_header: bool
) -> Batches:
    """Open files of delimited text with the same columns, whose types are those of all rows."""
    parts: list[pl.LazyFrame] = []
    names: list[str] = []
    for number, file in enumerate(files):
        kept = folder / f"text-{number}.parquet"

        def keep(fields: pl.LazyFrame, kept: Path = kept) -> pl.LazyFrame:
            fields.sink_parquet(kept, compression="lz4")
            return PARQUET.scan([kept])

        with mapped_file(file, memory_limit, 0) as (where, data):
            text = TextFile(
                file, where, data, memory_limit, delimiter=delimiter, has_header=has_header
            )
            names = names or text.names
            _check_same_columns(names, text.names, files[0], file)
            parts.append(trimmed(text.gather(keep), names))
    fields = pl.concat(parts)
    return _Scan("the text", PARQUET, typed(fields, find_types(fields, names)), memory_limit)


def _open_lazy(data: Any, folder: Path, memory_limit: int) -> Batches:
    """Run a lazy frame of polars once."""
    file = folder / "lazy.parquet"
    try:
        data.sink_parquet(file)
    except pl.exceptions.PolarsError as error:
        why = str(error).strip().split("\n", 1)[0]
        raise DataError(f"The LazyFrame cannot be collected: {why}.", "Correct it.") from None
    return _Scan("the lazy frame", PARQUET, PARQUET.scan([file]), memory_limit)
