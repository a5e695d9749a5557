"""Read Parquet files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from komb.data.inputs import choose_names
from komb.data.memory_limit import refuse_beyond
from komb.data.read.file_bytes import shorten
from komb.errors import FileError

BYTES_PER_VALUE = 40
"""Memory that reading takes for each value, at most: twice a reference to a text, and some."""

BYTES_PER_BYTE = 5
"""The same for each byte of a number."""


def read_parquet(where: Path, file: Path, wanted: list[Any] | None, limit: int) -> pl.DataFrame:
    """Read a Parquet file that messages may call something else."""
    with naming_damage(shorten(file)):
        scan = pl.scan_parquet(where, glob=False)
        schema, n_rows = scan.collect_schema(), int(scan.select(pl.len()).collect().item())
    names = choose_names(list(schema), wanted)
    needed = n_rows * sum(_bytes_of(schema[name]) for name in names)
    what = f"Reading {shorten(file)}, of {n_rows:,} rows and {len(names):,} columns,"
    refuse_beyond(needed, limit, what)
    with naming_damage(shorten(file)):
        return scan.select(names).collect()


def _bytes_of(dtype: Any) -> int:
    if dtype == pl.Boolean:
        return BYTES_PER_BYTE
    is_plain = dtype.is_integer() or dtype.is_float()
    return BYTES_PER_BYTE * int(re.sub(r"\D", "", str(dtype))) // 8 if is_plain else BYTES_PER_VALUE


@contextmanager
def naming_damage(files: str) -> Iterator[None]:
    """Turn what a reader has against files into an error of ours."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        why = str(error).strip().split("\n", 1)[0]
        message = f"{files} is not a valid Parquet file ({why}). Write it again; "
        raise FileError(f"{message}text must not be named .parquet.") from None
