"""File formats that polars scans: each is a file of this folder that registers itself.

Text, which has to be looked at first, and PLINK's files, which are several, are read elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from komb.data.inputs import choose_names
from komb.data.memory_limit import refuse_beyond
from komb.data.read.file_bytes import shorten
from komb.errors import FileError

BYTES_PER_VALUE = 40
"""Memory that reading takes for each value, at most: twice a reference to a text, and some."""

BYTES_PER_BYTE = 5
"""The same for each byte of a number."""


class Format(NamedTuple):
    """A file format, by how names of its files end and by how the files begin."""

    name: str
    suffixes: tuple[str, ...]
    magic: bytes  # empty if they begin in many ways
    scan: Callable[[Sequence[Path]], pl.LazyFrame]  # files of the same columns, in their order

    @contextmanager
    def naming_damage(self, files: str) -> Iterator[None]:
        """Turn what a reader has against files into an error of ours."""
        try:
            yield
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            why = str(error).strip().split("\n", 1)[0]
            message = f"{files} is not a valid {self.name} file ({why}). Write it again; "
            remedy = f"text must not be named {self.suffixes[0]}."
            raise FileError(f"{message}{remedy}") from None

    def read(self, where: Path, file: Path, wanted: list[Any] | None, limit: int) -> pl.DataFrame:
        """Read a file that messages may call something else, if there is memory for it."""
        with self.naming_damage(shorten(file)):
            scan = self.scan([where])
            schema, n_rows = scan.collect_schema(), int(scan.select(pl.len()).collect().item())
        names = choose_names(list(schema), wanted)
        needed = n_rows * sum(_bytes_of(schema[name]) for name in names)
        what = f"Reading {shorten(file)}, of {n_rows:,} rows and {len(names):,} columns,"
        refuse_beyond(needed, limit, what)
        with self.naming_damage(shorten(file)):
            return scan.select(names).collect()


_FORMATS: list[Format] = []


def register_format(form: Format) -> Format:
    """Have files of a format read and encoded."""
    _FORMATS.append(form)
    return form


def format_of(file: Path, start: bytes = b"") -> Format | None:
    """Return the format of a file, by its name or else by its first bytes; None for text."""
    from komb.data.read import parquet  # noqa: F401 - each registers itself

    for each in _FORMATS:
        if file.suffix.lower() in each.suffixes:
            return each
    return next((each for each in _FORMATS if each.magic and start.startswith(each.magic)), None)


def _bytes_of(dtype: Any) -> int:
    if dtype == pl.Boolean:
        return BYTES_PER_BYTE
    is_plain = dtype.is_integer() or dtype.is_float()
    return BYTES_PER_BYTE * int(re.sub(r"\D", "", str(dtype))) // 8 if is_plain else BYTES_PER_VALUE
