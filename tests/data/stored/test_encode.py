"""A table that is encoded in batches is the one that is encoded as a whole."""

from __future__ import annotations

import gzip
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import komb
from komb import DiscreteTable
from komb.errors import (
    ContinuousColumnError,
    DataError,
    FileError,
    InputError,
    MemoryLimitError,
    MissingValuesError,
    ParameterError,
    UnknownNameError,
)
from tests.data.stored.tables import raw_tables, small_batches
from tests.optional import pandas as pd
from tests.optional import pyarrow as pa

assert small_batches

FRAME = pl.DataFrame(
    {
        "x": [i % 3 for i in range(50)],
        "y": ["no", "yes", "no", "no", "perhaps"] * 10,
        "z": [0.25 * (i % 4) for i in range(50)],
    }
)

fixed = settings(
    max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)


def same(stored: DiscreteTable, whole: DiscreteTable) -> bool:
    return (
        stored == whole
        and (stored.types, stored.reading) == (whole.types, whole.reading)
        and stored.codes.dtype == whole.codes.dtype
        and stored.has_missing == whole.has_missing
        and list(map(repr, stored.levels)) == list(map(repr, whole.levels))
        and stored.missing_counts.tolist() == whole.missing_counts.tolist()
    )


def outcome(encode: Any) -> Any:
    """What encoding gives: a table, or the kind of error."""
    try:
        return encode()
    except InputError as error:
        return type(error)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    parts = [tmp_path / "part-1.parquet", tmp_path / "part-2.parquet"]
    FRAME[:20].write_parquet(parts[0])
    FRAME[20:].write_parquet(parts[1])
    return parts


@pytest.mark.usefixtures("small_batches")
class TestSameAsWhole:
    @fixed
    @given(
        frame=raw_tables(),
        types=st.sampled_from(["auto", "strict"]),
        missing=st.sampled_from(["error", "level", "testwise"]),
        discretize=st.sampled_from([None, "quantile", "uniform"]),
        is_small=st.booleans(),
    )
    def test_any_table(
        self,
        tmp_path_factory: pytest.TempPathFactory,
        frame: pl.DataFrame,
        types: str,
        missing: str,
        discretize: str | None,
        is_small: bool,
    ) -> None:
        """Also where numbers do not fit into memory, and are read again and again."""
        folder = tmp_path_factory.mktemp("any")
        if types == "auto":
            frame = frame.with_columns(beside=pl.lit("x"))  # there is always something left
        frame.write_parquet(folder / "t.parquet")
        treatment: dict[str, Any] = {"types": types, "missing": missing, "discretize": discretize}
        whole = outcome(lambda: komb.table(frame, **treatment))
        stored = outcome(
            lambda: komb.encode(
                folder / "t.parquet",
                folder / "t.komb",
                memory_limit=1 if is_small else None,
                **treatment,
            )
        )
        if isinstance(stored, DiscreteTable):
            stored = komb.table(stored, memory_limit="1 GB")
        if isinstance(whole, DiscreteTable):
            assert isinstance(stored, DiscreteTable)
            assert same(stored, whole)
        else:
            assert stored == whole
            assert sorted(os.listdir(folder)) == ["t.parquet"]

    @pytest.mark.parametrize("way", ["mdl", "kmeans", "quantile", {"a": [0.0, 1.0], "b": "mdl"}])
    def test_cuts(self, tmp_path: Path, way: Any) -> None:
        rng = np.random.default_rng(3)
        y = rng.integers(0, 2, 200)
        frame = pl.DataFrame({"a": rng.normal(y), "b": rng.normal(-y), "y": y})
        frame[3, "b"] = None
        frame.write_parquet(tmp_path / "t.parquet")
        treatment: dict[str, Any] = {"discretize": way, "target": "y", "missing": "testwise"}
        whole = komb.table(frame, **treatment)
        stored = komb.encode(tmp_path / "t.parquet", tmp_path / "t.komb", **treatment)
        assert same(stored, whole)
        assert stored.cuts

    @pytest.mark.parametrize("bins", [2, 3, 5, 8])
    def test_quantiles_without_memory(
        self, tmp_path: Path, bins: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Order statistics are looked for between values of a sample, here a bad one."""
        monkeypatch.setattr("komb.data.bins._SAMPLE", 20)
        monkeypatch.setattr("komb.data.bins._MARGIN", 1)
        rng = np.random.default_rng(bins)
        numbers = rng.normal(size=300) * 10.0 ** rng.integers(-9, 10, 300)
        pl.DataFrame({"x": numbers}).write_parquet(tmp_path / "t.parquet")
        stored = komb.encode(
            tmp_path / "t.parquet", tmp_path / "t.komb", discretize="quantile", bins=bins,
            memory_limit=1,
        )  # fmt: skip
        expected = np.quantile(numbers, np.linspace(0, 1, bins + 1)[1:-1])
        assert stored.cuts["x"] == pytest.approx(expected, rel=1e-12)
        codes = komb.table(stored, memory_limit="1 MB").codes[0]
        assert np.bincount(codes) == pytest.approx(300 / bins, abs=1)

    @pytest.mark.parametrize("kind", ["pattern", "list", "folder", "lazy", "frame"])
    def test_polars(self, files: list[Path], tmp_path: Path, kind: str) -> None:
        data: Any = {
            "pattern": str(tmp_path / "*.parquet"),
            "list": files,
            "folder": tmp_path,
            "lazy": pl.scan_parquet(files).filter(pl.col("x") >= 0),
            "frame": FRAME,
        }[kind]
        stored = komb.encode(data, tmp_path / "t.komb")
        assert same(stored, komb.table(FRAME))

    def test_pandas_and_mappings(self, tmp_path: Path) -> None:
        frame = FRAME.to_pandas().assign(c=pd.Categorical(["u", "v"] * 25, ["v", "u", "w"]))
        assert same(komb.encode(frame, tmp_path / "t.komb"), komb.table(frame))
        array = np.arange(40).reshape(20, 2) % 3
        assert same(komb.encode(array, tmp_path / "a.komb"), komb.table(array))

    def test_arrow_datasets(self, files: list[Path], tmp_path: Path) -> None:
        pytest.importorskip("pyarrow.dataset")
        from pyarrow import dataset

        data = dataset.dataset([str(file) for file in files])
        whole = komb.table(data.to_table())
        assert same(komb.encode(data, tmp_path / "t.komb"), whole)
        # dictionaries of batches differ, and their order counts
        column = pa.array(["b", "a", "c", "a"] * 10).dictionary_encode()
        table = pa.table({"x": column, "y": list(range(4)) * 10})
        whole = komb.table(table)
        assert same(komb.encode(dataset.dataset(table), tmp_path / "u.komb"), whole)

    def test_dask(self, tmp_path: Path) -> None:
        dd = pytest.importorskip("dask.dataframe")
        frame = FRAME.to_pandas().assign(w=np.linspace(0, 1, 50))
        data = dd.from_pandas(frame, npartitions=3)
        stored = komb.encode(data, tmp_path / "t.komb", discretize="quantile")
        assert same(stored, komb.table(frame, discretize="quantile"))

    def test_a_table_on_disk(self, files: list[Path], tmp_path: Path) -> None:
        """Opened, it is a table like any other: it can be encoded again."""
        stored = komb.encode(files, tmp_path / "t.komb")
        again = komb.encode(stored, tmp_path / "u.komb", exclude=["x"])
        assert same(again, komb.table(stored, exclude=["x"]))


FIELDS = st.sampled_from(
    ["1", "2", "-3", "2.5", "1e3", "NA", "", "a b", "x,y", "007", "true", "false", "é", '"q"']
)


@pytest.mark.usefixtures("small_batches")
class TestText:
    @fixed
    @given(st.lists(st.tuples(FIELDS, FIELDS, st.integers(0, 9)), min_size=2, max_size=40))
    def test_same_as_read_table(
        self, tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, int]]
    ) -> None:
        folder = tmp_path_factory.mktemp("text")
        frame = pl.DataFrame(rows, schema=["u", "v", "w"], orient="row")
        frame.write_csv(folder / "t.csv")
        treatment: dict[str, Any] = {"missing": "level"}
        whole = outcome(lambda: komb.read_table(folder / "t.csv", **treatment))
        stored = outcome(lambda: komb.encode(folder / "t.csv", folder / "t.komb", **treatment))
        assert type(stored) is not type(whole) or stored == whole  # a stored one is another class
        if isinstance(whole, DiscreteTable):
            assert same(stored, whole)

    def test_blocks_end_between_lines(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        lines = ["name;n"] + [f'"a{i % 3}\n;b";{i % 5}' for i in range(40)]
        data = "\r\n".join(lines).encode()
        (tmp_path / "t.csv").write_bytes(data)
        with gzip.open(tmp_path / "t.csv.gz", "wb") as packed:
            packed.write(data)
        whole = komb.read_table(tmp_path / "t.csv")
        assert whole.n_rows == 40
        stored = komb.encode(tmp_path / "t.csv", tmp_path / "t.komb")
        assert same(stored, whole)
        assert same(komb.encode(tmp_path / "t.csv.gz", tmp_path / "u.komb"), whole)

    def test_types_are_those_of_all_files(self, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text("x,y\n1,2\n3,4\n" + "1,2\n" * 9)
        (tmp_path / "b.csv").write_text("y,x\n5,1.5\nz,1\n")
        table = komb.encode([tmp_path / "a.csv", tmp_path / "b.csv"], tmp_path / "t.komb")
        assert table.levels == ((1.0, 1.5, 3.0), ("2", "4", "5", "z"))

    def test_no_header(self, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_text("1 2\n3  4\n")
        table = komb.encode(tmp_path / "a.txt", tmp_path / "t.komb", has_header=False)
        assert (table.names, table.n_rows) == (("V1", "V2"), 2)


class TestErrors:
    def refuse(
        self, error: type[Exception], message: str, data: Any, folder: Path, **options: Any
    ) -> None:
        before = sorted(os.listdir(folder))
        options = {"types": "strict", **options}
        with pytest.raises(error, match=message):
            komb.encode(data, folder / "t.komb", **options)
        assert sorted(os.listdir(folder)) == before

    def test_files(self, files: list[Path], tmp_path: Path) -> None:
        refuse = self.refuse
        refuse(FileError, "matches no file", str(tmp_path / "*.csv"), tmp_path)
        refuse(FileError, "There is no file", tmp_path / "no.parquet", tmp_path)
        refuse(FileError, "There are no files in the list", [], tmp_path)
        refuse(FileError, "holds no Parquet file", self.empty(tmp_path), tmp_path)
        (tmp_path / "bad.parquet").write_bytes(b"PAR1 and no more")
        refuse(FileError, "not a valid Parquet file", tmp_path / "bad.parquet", tmp_path)
        (tmp_path / "empty.csv").write_text("")
        refuse(FileError, "is empty", tmp_path / "empty.csv", tmp_path)
        (tmp_path / "ragged.csv").write_text("a,b\n1,2\n1\n")
        refuse(FileError, "line 3 has 1", tmp_path / "ragged.csv", tmp_path)
        refuse(FileError, "files of one kind", [*files, tmp_path / "ragged.csv"], tmp_path)

    @staticmethod
    def empty(tmp_path: Path) -> Path:
        folder = tmp_path / "nothing"
        folder.mkdir()
        return folder

    def test_different_files(self, files: list[Path], tmp_path: Path) -> None:
        other = tmp_path / "other.parquet"
        FRAME.rename({"x": "u"}).write_parquet(other)
        message = "must have the columns of .*lacks 'x' and also has 'u'"
        self.refuse(DataError, message, [*files, other], tmp_path)
        FRAME.with_columns(pl.col("x").cast(pl.Float64)).write_parquet(other)
        message = "Column 'x' is Int64 in .*, but Float64 in"
        self.refuse(DataError, message, [*files, other], tmp_path)
        (tmp_path / "a.csv").write_text("x,y\n1,2\n")
        (tmp_path / "b.csv").write_text("x,z\n1,2\n")
        both = [tmp_path / "a.csv", tmp_path / "b.csv"]
        self.refuse(DataError, "lacks 'y' and also has 'z'", both, tmp_path)

    def test_columns(self, tmp_path: Path) -> None:
        file = tmp_path / "t.parquet"
        pl.DataFrame({"x": [1, None, 3], "y": [0.1, 0.2, 0.3]}).write_parquet(file)
        message = r"no missing values; got 1 in 1 column.*'x' \(1 missing, first in row 1\)"
        self.refuse(MissingValuesError, message, file, tmp_path)
        options: dict[str, Any] = {"missing": "testwise"}
        self.refuse(ContinuousColumnError, "'y' looks continuous", file, tmp_path, **options)
        self.refuse(UnknownNameError, "no column 'u'", file, tmp_path, exclude=["u"])
        self.refuse(UnknownNameError, "no column 'u'", file, tmp_path, discretize={"u": "mdl"})
        self.refuse(ParameterError, "come with 'target'", file, tmp_path, discretize="mdl")
        self.refuse(ParameterError, "'memory_limit' must", file, tmp_path, memory_limit="much")
        pl.DataFrame({"x": [None, None]}, {"x": pl.Int8}).write_parquet(file)
        self.refuse(MissingValuesError, "no values at all", file, tmp_path, **options)
        pl.DataFrame({"x": []}, {"x": pl.Int8}).write_parquet(file)
        self.refuse(DataError, "at least one row", file, tmp_path)
        pl.DataFrame({"x": [[1], [2]]}).write_parquet(file)
        self.refuse(DataError, "cannot be levels", file, tmp_path)

    def test_too_many_levels(self, tmp_path: Path) -> None:
        file = tmp_path / "t.parquet"
        pl.DataFrame({"x": np.arange(70_000), "y": np.arange(70_000) % 2}).write_parquet(file)
        self.refuse(DataError, "'x' has .*70,000 distinct values", file, tmp_path)
        table = komb.encode(file, tmp_path / "t.komb", types="strict", discretize="quantile")
        assert table.cardinalities.tolist() == [4, 2]

    def test_too_many_levels_in_several_batches(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("komb.data.batches.rows_per_batch", lambda *_: 40_000)
        file = tmp_path / "t.parquet"
        pl.DataFrame({"x": np.arange(70_000)}).write_parquet(file)
        self.refuse(DataError, "'x' has more than 65,535 distinct values", file, tmp_path)

    def test_kmeans_needs_memory(self, tmp_path: Path) -> None:
        file = tmp_path / "t.parquet"
        pl.DataFrame({"x": np.linspace(0, 1, 1000)}).write_parquet(file)
        options: dict[str, Any] = {"discretize": "kmeans", "memory_limit": 1000}
        self.refuse(MemoryLimitError, "Cutting column 'x' by 'kmeans'", file, tmp_path, **options)

    def test_places(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        komb.encode(FRAME, tmp_path / "t.komb")
        with pytest.raises(FileError, match=r"exists already.*overwrite=True"):
            komb.encode(FRAME, tmp_path / "t.komb")
        table = komb.encode(FRAME.select("x"), tmp_path / "t.komb", overwrite=True)
        assert table.names == ("x",)
        (tmp_path / "mine").mkdir()
        with pytest.raises(FileError, match="is no table on disk, so it is not replaced"):
            komb.encode(FRAME, tmp_path / "mine", overwrite=True)
        with pytest.raises(FileError, match="Cannot write"):
            komb.encode(FRAME, tmp_path / "no" / "t.komb")
        with pytest.raises(FileError, match="encoded table already"):
            komb.encode(tmp_path / "t.komb", tmp_path / "u.komb")
        assert sorted(os.listdir(tmp_path)) == ["mine", "t.komb"]

    def test_a_value_that_cannot_be_written(self, tmp_path: Path) -> None:
        data = {"x": [frozenset("a"), frozenset("b")]}
        self.refuse(DataError, "'x' cannot be stored: values of type 'frozenset'", data, tmp_path)

    def test_a_full_disk(self, files: list[Path], tmp_path: Path) -> None:
        """A limit on the size of files is met as a full disk is."""
        code = (
            "import resource, signal, komb; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100));"
            f"komb.encode({[str(file) for file in files]!r}, {str(tmp_path / 't.komb')!r})"
        )
        assert resource.RLIM_INFINITY
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert "komb.errors.FileError: Cannot write" in ran.stderr
        assert "Make room" in ran.stderr
        assert sorted(os.listdir(tmp_path)) == [file.name for file in files]

    def test_an_interrupt(self, files: list[Path], tmp_path: Path) -> None:
        def interrupt(phase: str, _done: int, _total: int) -> None:
            if phase == "codes":
                raise KeyboardInterrupt

        komb.encode(FRAME.select("x"), tmp_path / "t.komb")
        with pytest.raises(KeyboardInterrupt):
            komb.encode(files, tmp_path / "t.komb", overwrite=True, progress=interrupt)
        assert komb.read_table(tmp_path / "t.komb").names == ("x",)
        assert len(os.listdir(tmp_path)) == 3
