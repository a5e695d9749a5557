"""Parquet files."""

from __future__ import annotations

import polars as pl

from komb.data.read.formats import Format, register_format

PARQUET = register_format(
    Format(
        "Parquet",
        suffixes=(".parquet", ".pq"),
        magic=b"PAR1",
        scan=lambda files: pl.scan_parquet(list(files), glob=False),
    )
)
