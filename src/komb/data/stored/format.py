"""A table on disk: ``header.json``, ``codes.npy`` and, where columns have numbers, ``numbers.npy``.

The arrays have the layout that they have in memory, a column after the other, so a table is opened
by mapping them, and nothing is read. The header has everything else. It names its version and
carries a checksum of itself, so a damaged or foreign one is told from a good one before anything is
made of it; the sizes of the arrays must be those that it says.

In the header text, numbers, booleans and nothing are themselves; every other kind of value is an
object with one entry, the name of its kind.

>>> to_json((3, "a")), from_json({"date": "2020-02-29"})
({'tuple': [3, 'a']}, datetime.date(2020, 2, 29))
"""

from __future__ import annotations

import datetime as dt
import json
import math
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from komb.data.encoder import TablePlan
from komb.data.kinds import ColumnType, Place
from komb.data.levels import Array, CodeArray, Levels, code_dtype
from komb.data.memory_limit import check_limit, refuse_beyond
from komb.data.names import Name
from komb.data.parts import Int64Array, Parts, cut_rows, narrow
from komb.data.problems import MAX_LEVELS
from komb.data.read.file_bytes import shorten
from komb.data.table import DiscreteTable
from komb.errors import DataError, FileError


def _write_instant(value: np.datetime64 | np.timedelta64) -> list[Any]:
    return [str(value.dtype), int(value.astype(np.int64))]


def _read_instant(parts: list[Any]) -> Any:
    kind, number = parts
    return np.array(number, dtype=np.int64).astype(np.dtype(kind))[()]


def _write_pairs(value: Mapping[Any, Any]) -> list[Any]:
    return [[to_json(key), to_json(each)] for key, each in value.items()]


def _read_pairs(pairs: list[Any]) -> dict[Any, Any]:
    return {from_json(key): from_json(each) for key, each in pairs}


_KINDS: dict[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    # a datetime is a date as well, so it comes first
    "datetime": (dt.datetime, dt.datetime.isoformat, dt.datetime.fromisoformat),
    "date": (dt.date, dt.date.isoformat, dt.date.fromisoformat),
    "time": (dt.time, dt.time.isoformat, dt.time.fromisoformat),
    "duration": (
        dt.timedelta,
        lambda value: [value.days, value.seconds, value.microseconds],
        lambda parts: dt.timedelta(*parts),
    ),
    "instant": (np.datetime64, _write_instant, _read_instant),
    "span": (np.timedelta64, _write_instant, _read_instant),
    "tuple": (
        tuple,
        lambda value: [to_json(each) for each in value],
        lambda parts: tuple(from_json(each) for each in parts),
    ),
    "list": (
        list,
        lambda value: [to_json(each) for each in value],
        lambda parts: [from_json(each) for each in parts],
    ),
    "mapping": (Mapping, _write_pairs, _read_pairs),
}


def to_json(value: object) -> Any:
    """Return what stands for a value in JSON; TypeError if nothing does."""
    if value is None or type(value) in (str, int, bool):
        return value
    if type(value) is float and not math.isnan(value):
        return value
    for kind, (python_type, write, _) in _KINDS.items():
        if isinstance(value, python_type):
            written = {kind: write(value)}
            if from_json(written) != value:  # a type of somebody else's, with more to it
                break
            return written
    raise TypeError(f"values of type {type(value).__name__!r} cannot be written")


def from_json(value: Any) -> Any:
    """Return the value that some JSON stands for; ValueError if there is none such."""
    if value is None or isinstance(value, str | int | float):
        return value
    if not isinstance(value, dict) or len(value) != 1:
        raise ValueError(f"{value!r} is no value")
    [(kind, written)] = value.items()
    if kind not in _KINDS:
        raise ValueError(f"there is no kind of value {kind!r}")
    try:
        return _KINDS[kind][2](written)
    except (TypeError, ArithmeticError, AttributeError) as error:
        raise ValueError(f"{written!r} is no {kind}: {error}") from None


HEADER, CODES, NUMBERS = "header.json", "codes.npy", "numbers.npy"
FORMAT, VERSION = "komb table", 2

BYTES_PER_ROW = 220
"""Memory that a search takes for each row of a table in one array, besides its codes."""

BYTES_PER_CODE_BYTE = 1.5
"""And for each byte of its codes: themselves, and bitmaps."""

START = 128  # bytes before the first element of an array, as numpy writes them
_AGAIN = "Encode the data again: komb.encode(data, path, overwrite=True)."

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class StoredColumn:
    """What the header says of a column."""

    name: Name
    levels: Levels
    cuts: tuple[float, ...] | None = None
    n_missing: int = 0  # values that are marked with the code above the last level
    has_numbers: bool = False

    @property
    def n_codes(self) -> int:
        """Levels, and one more if values are missing."""
        return len(self.levels) + (self.n_missing > 0)


def stored_columns(plan: TablePlan) -> tuple[StoredColumn, ...]:
    """Return what a header says of columns that are encoded by a plan."""
    return tuple(
        StoredColumn(own.name, own.levels, own.cuts, own.n_missing, own.has_numbers)
        for own in plan.plans
    )


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows that were written at once, and the checksum (CRC-32) of what was."""

    n_rows: int
    checksum: int


@dataclass(frozen=True, slots=True)
class Header:
    """Everything about a table but its codes and numbers."""

    columns: tuple[StoredColumn, ...]
    n_rows: int
    batches: tuple[Batch, ...] = ()
    types: Mapping[Name, ColumnType] = field(default_factory=dict)  # of columns left out, too
    reading: Mapping[str, Any] = field(default_factory=dict)
    notes: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    annotations: Mapping[Name, Place] = field(default_factory=dict)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the codes, the same in all columns."""
        return code_dtype(max(column.n_codes for column in self.columns)).newbyteorder("<")

    @property
    def arrays(self) -> list[tuple[str, np.dtype[Any], tuple[int, int]]]:
        """Files, types and shapes of the arrays: of codes, and of numbers if there are any."""
        n_numbers = sum(column.has_numbers for column in self.columns)
        codes = CODES, self.dtype, (len(self.columns), self.n_rows)
        numbers = NUMBERS, np.dtype("<f8"), (n_numbers, self.n_rows)
        return [codes, numbers] if n_numbers else [codes]

    def to_bytes(self) -> bytes:
        """Write it as JSON."""
        content: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "rows": self.n_rows,
            "columns": [_write_column(column) for column in self.columns],
            "types": _write("types", self.types, _write_types),
            "reading": _write("reading", self.reading),
            "notes": _write("notes", self.notes),
            "batches": [[batch.n_rows, batch.checksum] for batch in self.batches],
        }
        if self.annotations:
            content["annotations"] = _write("annotations", self.annotations)
        content["crc32"] = checksum_of(content)
        return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


def _write(what: str, value: _Value, write: Callable[[_Value], Any] = to_json) -> Any:
    try:
        return write(value)
    except TypeError as error:
        message = f"{what[0].upper()}{what[1:]} cannot be stored: {error}."
        raise DataError(message, "Turn names and levels into text or numbers first.") from None


def _write_column(column: StoredColumn) -> dict[str, Any]:
    what = f"column {column.name!r}"
    return {
        "name": _write(what, column.name),
        "levels": _write(what, column.levels, lambda levels: [to_json(each) for each in levels]),
        "cuts": column.cuts if column.cuts is None else list(column.cuts),
        "missing": column.n_missing,
        "numbers": column.has_numbers,
    }


def _write_types(types: Mapping[Name, ColumnType]) -> list[Any]:
    return [
        [to_json(name), found.kind, found.treatment, found.missing, found.reason]
        for name, found in types.items()
    ]


def checksum_of(content: Mapping[str, Any]) -> str:
    """Return the checksum of a header."""
    rest = {key: value for key, value in content.items() if key != "crc32"}
    return f"{zlib.crc32(json.dumps(rest, sort_keys=True).encode()):08x}"


def damaged(folder: Path, why: str) -> FileError:
    """Return the error about a table on disk that is not as it was written."""
    return FileError(f"{shorten(folder)} is damaged: {why}.", _AGAIN)


# Reading


def is_table_folder(path: Path) -> bool:
    """Whether there is a header of a table at a path, good or bad."""
    return (path / HEADER).is_file()


def open_table(path: Path, memory_limit: int | str | None = None) -> DiscreteTable:
    """Open a table on disk; its arrays are mapped, not read."""
    header = read_header(path)
    _, *numbers = (_map(path, *array) for array in header.arrays)
    columns = header.columns
    with_numbers = [column.name for column in columns if column.has_numbers]
    return DiscreteTable(
        tuple(column.name for column in columns),
        CodesOnDisk(path, header, range(len(columns)), memory_limit),
        tuple(column.levels for column in columns),
        {column.name: column.cuts for column in columns if column.cuts is not None},
        has_missing=any(column.n_missing for column in columns),
        numbers=dict(zip(with_numbers, *numbers, strict=True)) if numbers else {},
        types=header.types,
        reading=header.reading,
        notes=header.notes,
        annotations=header.annotations,
    )


def read_header(folder: Path) -> Header:
    """Read the header of a table, or say what is wrong with it."""
    try:
        data = (folder / HEADER).read_bytes()
    except FileNotFoundError:
        raise _no_table(folder) from None
    except NotADirectoryError:
        remedy = "Make one of it with komb.encode, or read it with komb.read_table."
        raise FileError(f"{shorten(folder)} is a file, and no table on disk.", remedy) from None
    except OSError as error:
        raise _unreadable(folder / HEADER, error) from None
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):  # no JSON, no text, or nested a thousandfold
        raise damaged(folder, "its header is not JSON") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise damaged(folder, "its header is not that of a table")
    version = content.get("version")
    if version != VERSION and isinstance(version, int):
        age, remedy = ("a later", f"Update komb, or do so here. {_AGAIN}")
        if version < VERSION:
            age, remedy = "an earlier", _AGAIN
        message = f"{shorten(folder)} was written by {age} komb (format {version}; this komb reads"
        raise FileError(f"{message} format {VERSION}).", remedy)
    if content.get("crc32") != checksum_of(content):
        raise damaged(folder, "its header does not match its checksum")
    try:
        return _read_content(content)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise damaged(folder, f"its header makes no sense: {error}") from None


def _no_table(folder: Path) -> FileError:
    if not folder.exists():
        remedy = "Check the name; relative paths start at the current folder."
        return FileError(f"There is no table {shorten(folder)}.", remedy)
    message = f"{shorten(folder)} is a folder, but no table on disk: it has no {HEADER!r}."
    return FileError(message, "Name a folder that komb.encode has written.")


def _unreadable(path: Path, error: OSError) -> FileError:
    why = (error.strerror or str(error)).lower()
    return FileError(f"Cannot read {shorten(path)}: {why}.", "Check that you may read it.")


def _read_content(content: Mapping[str, Any]) -> Header:
    annotations = _check_mapping(from_json(content.get("annotations", {"mapping": []})))
    header = Header(
        columns=tuple(_read_column(entry) for entry in content["columns"]),
        n_rows=_check_number(content["rows"]),
        batches=tuple(Batch(*map(_check_number, batch)) for batch in content["batches"]),
        types=dict(_read_type(*parts) for parts in content["types"]),
        reading=_check_mapping(from_json(content["reading"])),
        notes=_check_mapping(from_json(content["notes"])),
        annotations={name: Place(*at) for name, at in annotations.items()},
    )
    names = [column.name for column in header.columns]
    if not names or len(set(names)) < len(names):
        raise ValueError("it has no columns, or two of one name")
    if not header.n_rows or sum(batch.n_rows for batch in header.batches) != header.n_rows:
        raise ValueError("it has no rows, or other numbers of rows than it says")
    if any(column.n_missing > header.n_rows for column in header.columns):
        raise ValueError("more values are missing than there are rows")
    return header


def _read_column(entry: Mapping[str, Any]) -> StoredColumn:
    cuts = entry["cuts"]
    column = StoredColumn(
        name=from_json(entry["name"]),
        levels=tuple(from_json(level) for level in entry["levels"]),
        cuts=None if cuts is None else tuple(float(point) for point in cuts),
        n_missing=_check_number(entry["missing"]),
        has_numbers=bool(entry["numbers"]),
    )
    if not 1 <= len(column.levels) <= MAX_LEVELS or len(set(column.levels)) < len(column.levels):
        raise ValueError(f"the levels of {column.name!r} are none, too many or not distinct")
    return column


def _read_type(
    name: Any, kind: str, treatment: str, missing: int, reason: str
) -> tuple[Name, ColumnType]:
    own = ColumnType(str(kind), str(treatment), _check_number(missing), str(reason))
    return from_json(name), own


def _check_number(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{value!r} is not a non-negative integer")
    return value


def _check_mapping(value: Any) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(f"{value!r} is not a mapping")
    return value


def array_start(dtype: np.dtype[Any], shape: tuple[int, int]) -> bytes:
    """Return the first bytes of the file of an array, as numpy.save writes them."""
    said = f"{{'descr': {dtype.str!r}, 'fortran_order': False, 'shape': {shape}, }}"
    return b"\x93NUMPY\x01\x00\x76\x00" + said.ljust(START - 11).encode() + b"\n"


def _map(folder: Path, file: str, dtype: np.dtype[Any], shape: tuple[int, int]) -> Array:
    """Map an array into memory; nothing is read, and the mapping ends with the last view of it."""
    try:
        mapped = np.memmap(folder / file, np.uint8, "r")
    except FileNotFoundError:
        raise damaged(folder, f"the file {file!r} is missing") from None
    except OSError as error:
        raise _unreadable(folder / file, error) from None
    except ValueError:  # there is nothing to map
        raise damaged(folder, f"{file!r} is empty") from None
    expected = START + dtype.itemsize * shape[0] * shape[1]
    if mapped.size != expected:
        raise damaged(folder, f"{file!r} has {mapped.size:,} bytes instead of {expected:,}")
    if mapped[:START].tobytes() != array_start(dtype, shape):
        raise damaged(folder, f"{file!r} is not an array of type {dtype} and shape {shape}")
    return np.asarray(mapped)[START:].view(dtype).reshape(shape)


@dataclass(frozen=True, slots=True)
class MappedRows:
    """Some rows of a table on disk, mapped only while they are counted."""

    path: Path
    dtype: np.dtype[Any]
    shape: tuple[int, int]  # of the table
    rows: slice

    def codes(self) -> CodeArray:
        """Map their codes, of shape (columns, rows)."""
        return _map(self.path, CODES, self.dtype, self.shape)[:, self.rows]


class CodesElsewhere(Parts):
    """Codes of columns that a header, or what stands for one, describes."""

    def __init__(self, columns: Sequence[StoredColumn], places: Sequence[int], n_rows: int) -> None:
        self.places, self.n_rows = tuple(places), n_rows
        self.columns = [columns[place] for place in places]
        self.dtype = code_dtype(max(column.n_codes for column in self.columns))

    def count_missing(self, n_levels: Int64Array) -> Int64Array:
        """Count the missing values of each column."""
        return np.array([column.n_missing for column in self.columns], np.int64)


class CodesOnDisk(CodesElsewhere):
    """Codes in a file.

    Attributes
    ----------
    path : pathlib.Path
        The folder.
    memory_limit : int, str or None
        As given to :func:`komb.table`: beyond it, the table is counted piece by piece.
    """

    where = "on disk"

    def __init__(
        self, path: Path, header: Header, places: Sequence[int], memory_limit: int | str | None
    ) -> None:
        super().__init__(header.columns, places, header.n_rows)
        self.path, self.memory_limit, self._header = path, memory_limit, header

    @cached_property
    def is_here(self) -> bool:
        """Whether a search of the table as one array stays within the memory limit."""
        needed = BYTES_PER_CODE_BYTE * self.nbytes + BYTES_PER_ROW * self.n_rows
        return needed <= check_limit(self.memory_limit)

    @cached_property
    def whole(self) -> CodeArray:
        """All codes, of shape (columns, rows): the file, mapped, unless columns were selected."""
        if not self.is_here:
            what = f"The table {shorten(self.path)}, in memory as a whole,"
            refuse_beyond(self.nbytes, check_limit(self.memory_limit), what)
        codes: CodeArray = _map(self.path, *self._header.arrays[0])
        if self.places != tuple(range(len(codes))):
            codes = narrow(codes[list(self.places)])
        for column, own in zip(self.columns, codes, strict=True):
            self._check_codes(own, column)
        codes.flags.writeable = False
        return codes

    def pieces(self, at_least: int = 1) -> Sequence[MappedRows]:
        """Return slices of the file, each to be mapped when it is counted."""
        slices = cut_rows(self.n_rows, len(self._header.columns), at_least)
        path, (_, dtype, shape) = self.path.absolute(), self._header.arrays[0]
        return [MappedRows(path, dtype, shape, rows) for rows in slices]

    def select(self, positions: Sequence[int]) -> CodesOnDisk:
        """Return the same rows of some columns; nothing is read."""
        places = [self.places[position] for position in positions]
        return CodesOnDisk(self.path, self._header, places, self.memory_limit)

    def limited(self, memory_limit: int | str | None) -> CodesOnDisk:
        """Return the same codes with another memory limit; None leaves it as it is."""
        if memory_limit is None:
            return self
        check_limit(memory_limit)
        return CodesOnDisk(self.path, self._header, self.places, memory_limit)

    def verify(self) -> None:
        """Compare all batches with their checksums, and their codes with the levels."""
        header = self._header
        arrays = [_map(self.path, *array) for array in header.arrays]
        start = 0
        for batch in header.batches:
            rows = slice(start, start + batch.n_rows)
            if checksum_of_rows([array[:, rows] for array in arrays]) != batch.checksum:
                said = f"rows {rows.start + 1:,} to {rows.stop:,}"
                raise damaged(self.path, f"{said} do not match their checksum")
            start = rows.stop
        for column, codes in zip(header.columns, arrays[0], strict=True):
            self._check_codes(codes, column)

    def _check_codes(self, codes: CodeArray, column: StoredColumn) -> None:
        """Refuse codes that no level belongs to: kernels would write outside of their tables."""
        if int(codes.max()) >= column.n_codes:
            raise self.wrong_codes(column.name)

    def wrong_codes(self, name: Name) -> Exception:
        """Return the error about codes of a column that no level belongs to."""
        return damaged(self.path, f"{CODES!r} has codes without levels in {name!r}")

    def __reduce__(self) -> tuple[type[CodesOnDisk], tuple[object, ...]]:
        # Another process, on this machine or another that sees the disk, maps the file itself.
        return CodesOnDisk, (self.path, self._header, self.places, self.memory_limit)


def checksum_of_rows(arrays: Iterable[Iterable[Array]]) -> int:
    """Return the checksum of some rows: of the codes, column by column, and of the numbers."""
    checksum = 0
    for array in arrays:
        for column in array:
            checksum = zlib.crc32(np.ascontiguousarray(column).view(np.uint8).data, checksum)
    return checksum
