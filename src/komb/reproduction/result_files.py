"""Results as files of plain tables, one row per search, for those who want to analyse them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from komb.errors import FileError
from komb.reproduction.journal import Record, SeparatorRecord

_LISTS = ("blanket", "truth")
_SEPARATORS = "separators.csv"


def in_order(records: Iterable[Record]) -> list[Record]:
    """Sort records by what was run, independent of writer and time.

    Examples
    --------
    >>> in_order([])
    []
    """
    # None sorts before any number, and numbers sort as numbers.
    return sorted(records, key=lambda record: [(x is not None, x) for x in record.key])


def _schema(cls: type[Record | SeparatorRecord]) -> dict[str, Any]:
    """Return the types of columns for records, of which there may be none to guess from."""
    import polars as pl

    types: dict[str, Any] = {
        "str": pl.String(), "int": pl.Int64(), "int | None": pl.Int64(), "float": pl.Float64(),
        "bool": pl.Boolean(), "tuple[str, ...]": pl.List(pl.String),
    }  # fmt: skip
    return {field.name: types[str(field.type)] for field in fields(cls)}


def write_results(
    out: Path, records: Sequence[Record], separators: Sequence[SeparatorRecord]
) -> list[Path]:
    """Write results as CSV and as Parquet, and return the files.

    In CSV the members of a blanket stand in one field, with a blank between them.
    """
    import polars as pl

    frame = pl.DataFrame([record.to_dict() for record in records], _schema(Record))
    files = [out / "results.csv", out / "results.parquet"]
    frame.with_columns(pl.col(_LISTS).list.join(" ")).write_csv(files[0])
    frame.write_parquet(files[1])
    if separators:
        files.append(out / _SEPARATORS)
        pl.DataFrame([asdict(record) for record in separators]).write_csv(files[2])
    return files


def read_separators(out: Path) -> list[SeparatorRecord]:
    """Return what :func:`write_results` wrote about separators, if it did."""
    import polars as pl

    path = out / _SEPARATORS
    if not os.path.isfile(path):
        return []
    try:
        rows = pl.read_csv(path, schema=_schema(SeparatorRecord)).rows()
        return [SeparatorRecord(*row) for row in rows]
    except (pl.exceptions.PolarsError, OSError) as error:
        why = str(error).strip().split("\n", 1)[0]
        remedy = "Restore it, or remove it, and it is computed again."
        raise FileError(f"{str(path)!r} is not a table of separators ({why}). {remedy}") from None
