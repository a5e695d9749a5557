"""Bad data that only some ways in can meet: what is said of it, and that the limit itself works."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import komb
from komb import DiscreteTable
from komb.data.stored.format import checksum_of
from komb.errors import FileError, InputError, MissingPackageError

MOST = 65_535
"""Levels of a column."""

COINS: dict[str, Any] = {
    name: np.random.default_rng(number).integers(0, 2, 60) for number, name in enumerate("aby")
}
FRACTIONS = np.linspace(0, 1, 100)
NAMES = [f"t{number}" for number in range(MOST + 1)]


def strata(n_combinations: int) -> dict[str, Any]:
    rows, names = np.arange(n_combinations), np.array(NAMES[:256])  # numbers would be cut
    return {"a": names[rows % 256], "b": names[rows // 256], "y": rows % 2, "x": rows // 7 % 2}


def check_refused(call: Callable[[], object], parameter: str | None, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        call()
    assert caught.value.parameter == parameter


REFUSED: list[tuple[dict[str, Any], dict[str, Any], str | None, str]] = [
    (
        COINS | {"a, b": COINS["y"][::-1]}, {"given": ["a", "b"]},
        "given", "'given' must leave the name 'a, b' to the strata.*Rename that column",
    ),
    (
        strata(MOST), {"given": ["a", "b"]},
        "given", "'given' must have fewer than 65,535 combinations of values; got 65535. Hold",
    ),
    (
        COINS | {"w": ["u"] * 60}, {"weights": "w"},
        "weights", "numbers from 0 on in every row of 'w'; got other values. Pass numbers, or name",
    ),
    (
        {"x": NAMES, "y": np.arange(MOST + 1) % 2}, {"types": {"x": "nominal"}},
        None, "'x' has 65,536 distinct values; a column must have at most 65,535",
    ),
    (
        {"x": [*NAMES[:MOST], None], "y": np.arange(MOST + 1) % 2},
        {"types": {"x": "nominal"}, "missing": "level"},
        None, "'x' has 65,536 distinct values; a column must have at most 65,535",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("data", "options", "parameter", "message"), REFUSED)
def test_tables(data: Any, options: dict[str, Any], parameter: str | None, message: str) -> None:
    reading = dict(options)
    given = reading.pop("given", ())
    check_refused(
        lambda: komb.markov_blanket(
            komb.table(data, **reading), "y", method="gs", test="g", given=given
        ),
        parameter, message,
    )  # fmt: skip


def test_as_many_as_are_allowed() -> None:
    blanket = komb.markov_blanket(strata(MOST - 1), "y", given=["a", "b"], method="gs", test="g")
    assert blanket.members == ()  # every stratum is one row
    table = DiscreteTable.from_data({"x": [*NAMES[:MOST], None]}, missing="testwise")
    assert table.cardinalities.tolist() == [MOST]
    table = DiscreteTable.from_data({"x": [*NAMES[: MOST - 1], None]}, missing="level")
    assert table.cardinalities.tolist() == [MOST]


ENCODED: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"x": ["a", "b"] * 9}, {"discretize": {"x": "quantile"}}, "'x' is to be cut, but does not"),
    (
        {"x": pl.Series([None] * 5, dtype=pl.Float64), "y": [1, 2, 1, 2, 1]},
        {"discretize": {"x": "quantile"}, "missing": "testwise"},
        "'x': no values at all, every row is missing.*exclude=",
    ),
    ({"x": [1.0, 2.0, np.inf] * 5}, {}, "'x' holds infinite values; columns must"),
    ({"x": FRACTIONS}, {}, "'x' looks continuous: .* distinct values in .*, not all of them whole"),
    ({"x": [Decimal(n) / 8 for n in range(99)]}, {}, "'x' looks continuous: 99 distinct values in"),
    (
        {"x": FRACTIONS, "y": FRACTIONS},
        {"discretize": {"x": "mdl"}, "target": "y"},
        "'y' looks continuous",
    ),
    ({"x": [*NAMES[:MOST], None]}, {"missing": "level"}, "'x' has 65,536 distinct values; a col"),
]


@pytest.mark.parametrize(("columns", "options", "message"), ENCODED)
def test_files_to_encode(
    tmp_path: Path, columns: dict[str, Any], options: dict[str, Any], message: str
) -> None:
    pl.DataFrame(columns).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match=message):
        komb.encode(tmp_path / "t.parquet", tmp_path / "t.komb", types="strict", **options)
    assert not (tmp_path / "t.komb").exists()


def test_as_many_levels_as_are_allowed_in_a_file(tmp_path: Path) -> None:
    pl.DataFrame({"x": [*NAMES[:MOST], None]}).write_parquet(tmp_path / "t.parquet")
    table = komb.encode(
        tmp_path / "t.parquet", tmp_path / "t.komb", types="strict", missing="testwise"
    )
    assert table.cardinalities.tolist() == [MOST]


def test_what_is_no_file_to_read(tmp_path: Path) -> None:
    check_refused(lambda: komb.Knowledge.from_file(tmp_path), None, "is not a file. Name one file")
    long = tmp_path / "long.csv"
    long.write_text("a,b\n1,2\n" + "x" * 200_000 + "\n")
    check_refused(lambda: komb.read_table(long), None, "Cannot split .*long.csv' into fields: fie")
    packed = gzip.compress(b"a,b\n" + b"".join(b"%d,1\n" % row for row in range(5000)))
    (tmp_path / "cut.csv.gz").write_bytes(packed[: len(packed) // 2])
    check_refused(
        lambda: komb.encode(tmp_path / "cut.csv.gz", tmp_path / "t.komb"),
        None, "cut.csv.gz' is damaged .*Download the file again, or unpack it by hand",
    )  # fmt: skip
    text = pl.LazyFrame({"x": ["a", "b"]}).select(pl.col("x").cast(pl.Int64))
    check_refused(
        lambda: komb.encode(text, tmp_path / "t.komb"), None, "LazyFrame cannot be collected: conv"
    )
    check_refused(lambda: komb.encode(COINS, "/"), None, "'/' is no name for a table. Try 'table.k")


@pytest.mark.parametrize("part", ["header.json", "codes.npy"])
def test_parts_of_a_stored_table_that_cannot_be_read(tmp_path: Path, part: str) -> None:
    komb.encode(COINS, tmp_path / "t.komb")
    (tmp_path / "t.komb" / part).unlink()
    (tmp_path / "t.komb" / part).mkdir()
    with pytest.raises(FileError, match=r"Cannot read .*: is a directory\. Check that you may"):
        komb.read_table(tmp_path / "t.komb").column("a")


@pytest.mark.parametrize(
    ("entry", "value", "message"),
    [
        ("name", "b", "two of one name"),
        ("missing", -1, "-1 is not a non-negative integer"),
        ("missing", True, "True is not a non-negative integer"),
    ],
)
def test_headers_that_make_no_sense(tmp_path: Path, entry: str, value: Any, message: str) -> None:
    komb.encode(COINS, tmp_path / "t.komb")
    file = tmp_path / "t.komb" / "header.json"
    content = json.loads(file.read_text())
    content["columns"][0][entry] = value
    content["crc32"] = checksum_of(content)
    file.write_text(json.dumps(content))
    with pytest.raises(FileError, match=message):
        komb.read_table(tmp_path / "t.komb")


def test_clusters_that_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    dd = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    frame = dd.from_pandas(pandas.DataFrame(COINS), npartitions=2)
    message = "'cluster' must be given for a dataframe of Dask.*data.compute"
    check_refused(lambda: komb.markov_blanket(frame, "y"), "cluster", message)
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingPackageError, match=r'needs Dask.*pip install "komb\[dask\]"'):
        komb.table(COINS, cluster="tcp://127.0.0.1:1")
