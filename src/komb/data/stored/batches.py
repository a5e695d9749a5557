"""Tables that come in batches of rows, more than once, in memory that is bounded."""

from __future__ import annotations

import glob
import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from komb.data.encode.inputs import check_shape
from komb.data.read.file_bytes import shorten, to_path
from komb.data.stored.csv_blocks import CsvBlocks, TextType
from komb.data.stored.stored_table import is_table_folder
from komb.errors import DataError, FileError

_Result = TypeVar("_Result")

Frame = Any
"""A dataframe of any library that narwhals knows."""

VALUES_PER_BATCH = 1 << 25
"""Rows times columns of a batch; a batch becomes a shard."""

BYTES_PER_VALUE = 64
"""Memory that a batch takes for each value while it is read and encoded."""

_FEWEST_ROWS, _MOST_ROWS = 1 << 10, 1 << 22
_AHEAD = 8  # partitions of Dask that are begun before the first of them is asked for


def rows_per_batch(n_columns: int, memory_limit: int) -> int:
    """Return how many rows of a table make a batch."""
    values = min(VALUES_PER_BATCH, memory_limit // (2 * BYTES_PER_VALUE))
    return min(max(values // max(n_columns, 1), _FEWEST_ROWS), _MOST_ROWS)


class Batches(ABC):
    """A table in batches.

    Attributes
    ----------
    names : tuple
        Of the columns.
    done, total : int
        How far the present pass over the batches is, in some unit.
    """

    def __init__(self, names: Sequence[Any]) -> None:
        self.names = tuple(names)
        self.done = 0
        self.total = 1

    @abstractmethod
    def frames(self, columns: Sequence[Any]) -> Iterator[Frame]:
        """Read some columns, a batch at a time; the same batches every time."""

    def map(
        self, work: Callable[[int, Frame], _Result], columns: Sequence[Any]
    ) -> Iterator[_Result]:
        """Do some work on every batch; ``work`` gets its number and the batch."""
        for number, frame in enumerate(self.frames(columns)):
            yield work(number, frame)


class ParquetFiles(Batches):
    """Parquet files with the same columns, read by polars."""

    def __init__(self, files: Sequence[Path], memory_limit: int) -> None:
        import polars as pl

        self._files = list(files)
        schemas = {file: _parquet_schema(file) for file in files}
        _check_schemas(schemas)
        super().__init__(list(schemas[files[0]]))
        check_shape(self.names, 1)
        self._step = rows_per_batch(len(self.names), memory_limit)
        self._scan = pl.scan_parquet(self._files, glob=False)
        with _naming(files):
            self.total = int(self._scan.select(pl.len()).collect().item())

    def frames(self, columns: Sequence[Any]) -> Iterator[Frame]:
        """Read some columns, a batch at a time."""
        scan = self._scan.select(list(columns))
        for start in range(0, self.total, self._step):
            with _naming(self._files):
                frame = scan.slice(start, self._step).collect()
            self.done = start + len(frame)
            yield frame


class _naming:  # noqa: N801 - a context, read like a function
    """Turn what a reader has against files into an error of ours."""

    def __init__(self, files: Sequence[Path]) -> None:
        self._files = files

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        import polars as pl

        if isinstance(error, pl.exceptions.PolarsError | OSError):
            which = shorten(self._files[0])
            more = f" or one of {len(self._files) - 1} more" if len(self._files) > 1 else ""
            why = str(error).strip().split("\n", 1)[0]
            message = f"{which}{more} is not a valid Parquet file ({why})."
            raise FileError(message, "Write it again; text must not be named .parquet.") from None


def _parquet_schema(file: Path) -> dict[str, Any]:
    import polars as pl

    _check_exists(file)
    with _naming([file]):
        return dict(pl.read_parquet_schema(file))


def _check_schemas(schemas: Mapping[Path, Mapping[str, Any]]) -> None:
    """Raise unless all files have the same columns of the same types."""
    (first, expected), *others = schemas.items()
    for file, found in others:
        check_same_columns(list(expected), list(found), first, file)
        for name, dtype in expected.items():
            if found[name] != dtype:
                raise DataError(
                    f"Column {name!r} is {dtype} in {shorten(first)}, but {found[name]} in "
                    f"{shorten(file)}; files of one table must have the same types.",
                    "Write them with the same types, or name files that have them.",
                )


def check_same_columns(
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


class ArrowDataset(Batches):
    """A pyarrow dataset."""

    def __init__(self, data: Any, memory_limit: int) -> None:
        super().__init__(data.schema.names)
        check_shape(self.names, 1)
        self._data = data
        self._step = rows_per_batch(len(self.names), memory_limit)
        self.total = max(1, int(data.count_rows()))

    def frames(self, columns: Sequence[Any]) -> Iterator[Frame]:
        """Read some columns, a batch at a time."""
        import pyarrow as pa

        self.done = 0
        waiting: list[Any] = []
        n_waiting = 0
        # no more than a few fragments ahead: the reader would fill the memory otherwise
        for batch in self._data.to_batches(
            columns=list(columns), batch_size=self._step, batch_readahead=2, fragment_readahead=1
        ):
            waiting.append(batch)
            n_waiting += batch.num_rows
            if n_waiting >= self._step:
                yield self._joined(pa, waiting)
                waiting, n_waiting = [], 0
        if n_waiting:
            yield self._joined(pa, waiting)

    def _joined(self, pa: Any, batches: list[Any]) -> Frame:
        table = pa.Table.from_batches(batches)
        self.done += table.num_rows
        return table


class DaskPartitions(Batches):
    """A Dask dataframe: the work goes to where the partitions are."""

    def __init__(self, data: Any) -> None:
        super().__init__(list(data.columns))
        check_shape(self.names, 1)
        self._data = data
        self.total = int(data.npartitions)

    def frames(self, columns: Sequence[Any]) -> Iterator[Frame]:
        """Bring some columns here, a partition at a time."""
        yield from self.map(_itself, columns)

    def map(
        self, work: Callable[[int, Frame], _Result], columns: Sequence[Any]
    ) -> Iterator[_Result]:
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


def _itself(_number: int, frame: Frame) -> Frame:
    return frame


class CsvFiles(Batches):
    """Files of delimited text with the same header."""

    def __init__(
        self, files: Sequence[Path], memory_limit: int, delimiter: str | None, has_header: bool
    ) -> None:
        for file in files:
            _check_exists(file)
        readers = [CsvBlocks(file, delimiter, has_header, memory_limit) for file in files]
        for reader in readers[1:]:
            check_same_columns(readers[0].names, reader.names, files[0], reader.file)
        super().__init__(readers[0].names)
        self._readers = readers
        self.total = sum(reader.n_bytes for reader in readers)
        self._types = self._find_types()

    def _find_types(self) -> dict[str, TextType]:
        """Find out what the fields of each column can be read as, in all files."""
        found = {name: TextType() for name in self.names}
        for block in self._blocks():
            for name, kind in found.items():
                kind.see(block[name])
        return found

    def _blocks(self) -> Iterator[Frame]:
        before = 0
        for reader in self._readers:
            for block in reader.blocks():
                self.done = before + reader.done
                yield block
            before += reader.n_bytes

    def frames(self, columns: Sequence[Any]) -> Iterator[Frame]:
        """Read some columns, a batch at a time."""
        for block in self._blocks():
            yield block.select(self._types[name].convert(block[name]) for name in columns)


def _check_exists(file: Path) -> None:
    if not file.is_file():
        from komb.data.read.file_bytes import read_bytes

        read_bytes(file)  # says why not


def open_files(data: object, memory_limit: int, delimiter: str | None, has_header: bool) -> Batches:
    """Open the files that a name, a pattern or a list of names stands for."""
    files = find_files(data)
    is_parquet = [file.suffix.lower() in (".parquet", ".pq") for file in files]
    if all(is_parquet):
        return ParquetFiles(files, memory_limit)
    if any(is_parquet):
        other = files[is_parquet.index(False)]
        message = f"Some files are Parquet, but {shorten(other)} is not."
        raise FileError(message, "Name files of one kind.")
    return CsvFiles(files, memory_limit, delimiter, has_header)


def find_files(data: Any) -> list[Path]:
    """Return the files that a name, a pattern or a list of names stands for, in their order.

    A folder stands for the Parquet files in it.
    """
    if not isinstance(data, str | os.PathLike):
        named = [file for each in data for file in find_files(each)]
        if not named:
            raise FileError("There are no files in the list.", "Name at least one.")
        return named
    path = to_path(data)
    if is_table_folder(path):
        remedy = "Use it as it is, or open it with komb.open_table."
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


def open_lazy(data: Any, folder: Path, memory_limit: int) -> Batches:
    """Run a polars LazyFrame once, into a file, and read that."""
    import polars as pl

    file = folder / "lazy.parquet"
    try:
        data.sink_parquet(file)
    except pl.exceptions.PolarsError as error:
        why = str(error).strip().split("\n", 1)[0]
        raise DataError(f"The LazyFrame cannot be collected: {why}.", "Correct it.") from None
    return ParquetFiles([file], memory_limit)


def open_batches(
    data: Any, folder: Path, memory_limit: int, delimiter: str | None, has_header: bool
) -> Batches | None:
    """Open what comes in batches; None for anything else, such as a table in memory."""
    library, _, _ = type(data).__module__.partition(".")
    if isinstance(data, str | os.PathLike):
        return open_files(data, memory_limit, delimiter, has_header)
    if isinstance(data, list | tuple) and all(isinstance(x, str | os.PathLike) for x in data):
        return open_files(data, memory_limit, delimiter, has_header)
    if library == "polars" and hasattr(data, "sink_parquet"):
        return open_lazy(data, folder, memory_limit)
    if library == "pyarrow" and hasattr(data, "to_batches") and hasattr(data, "count_rows"):
        return ArrowDataset(data, memory_limit)
    if library.startswith("dask") and hasattr(data, "to_delayed") and hasattr(data, "npartitions"):
        return DaskPartitions(data)
    return None
