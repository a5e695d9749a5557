"""A damaged Parquet file is an error, whatever it does to its reader."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from komb.data.read.table_files import read_table
from komb.errors import InputError, MemoryLimitError, UnknownNameError


@pytest.fixture
def sound() -> bytes:
    buffer = io.BytesIO()
    values = np.random.default_rng(0).integers(0, 3, 300)
    pl.DataFrame({"a": values, "b": values.astype(str)}).write_parquet(buffer)
    return buffer.getvalue()


def test_some_columns(tmp_path: Path, sound: bytes) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(sound)
    assert read_table(path).names == ("a", "b")
    assert read_table(path, columns=["b"]).names == ("b",)
    with pytest.raises(UnknownNameError, match="no column 'c'"):
        read_table(path, columns=["c"])
    with pytest.raises(InputError, match="distinct"):
        read_table(path, columns=["a", "a"])


@pytest.mark.parametrize("seed", range(6))
def test_flipped_bytes(tmp_path: Path, sound: bytes, seed: int) -> None:
    """Some of these make polars panic, or ask for more memory than there is on earth."""
    rng = np.random.default_rng(seed)
    path = tmp_path / "x.parquet"
    damaged = bytearray(sound)
    for place in rng.integers(4, len(sound), 3):
        damaged[place] = rng.integers(0, 256)
    path.write_bytes(damaged)
    with contextlib.suppress(InputError):
        assert read_table(path).n_rows


def test_many_rows_in_few_bytes(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    n_rows = 3_000_000
    zeros = np.zeros(n_rows, np.int8)
    pl.DataFrame({"a": zeros, "b": zeros}).write_parquet(path)
    assert path.stat().st_size < 100_000
    message = r"of 3,000,000 rows and 2 columns, needs about 30.0 MB .* limit is 10.0 MB"
    with pytest.raises(MemoryLimitError, match=message):
        read_table(path, memory_limit="10 MB")
    with pytest.raises(MemoryLimitError, match="and 1 columns"):
        read_table(path, columns=["a"], memory_limit="10 MB")
    pl.DataFrame({"a": ["x"] * n_rows}).write_parquet(path)
    with pytest.raises(MemoryLimitError, match=r"needs about 120.0 MB"):
        read_table(path, memory_limit="100 MB")
