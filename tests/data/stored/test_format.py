"""A table on disk is a table like any other, and says so when it is damaged."""

from __future__ import annotations

import datetime as dt
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import komb
from komb import DiscreteTable
from komb.data.stored.format import checksum_of, from_json, open_table, to_json
from komb.errors import DataError, FileError, MemoryLimitError, ParameterError, UnknownNameError
from tests.data.stored.tables import small_batches

assert small_batches

TABLE = DiscreteTable.from_data(
    {
        "x": ["a", "b", None, "b"] * 5,
        "many": list(range(20)),
        "y": [0, 1, 1, 1] * 5,
        "cut": np.linspace(0, 1, 20),
    },
    missing="testwise",
    discretize={"cut": "quantile"},
)


@pytest.fixture
def path(tmp_path: Path, small_batches: None) -> Path:
    komb.encode(TABLE, tmp_path / "t.komb")
    return tmp_path / "t.komb"


class TestTables:
    def test_the_same(self, path: Path) -> None:
        stored = komb.read_table(path)
        assert stored == TABLE
        assert (stored.n_rows, stored.n_columns, stored.nbytes) == (20, 4, TABLE.nbytes)
        assert stored.missing_counts.tolist() == [5, 0, 0, 0]
        assert stored.dtype == TABLE.dtype
        assert not stored.codes.flags.writeable
        for position in range(4):
            expected = TABLE.level_counts(position)
            assert stored.level_counts(position).tolist() == expected.tolist()
        assert repr(stored) == repr(TABLE).replace("values)", "values, on disk)")
        assert stored.column("x") == TABLE.column("x")
        assert (stored.reading, stored.notes) == (TABLE.reading, TABLE.notes)

    def test_the_layout_is_that_of_numpy(self, path: Path) -> None:
        codes = np.load(path / "codes.npy")
        assert codes.dtype == TABLE.dtype
        assert codes.tolist() == TABLE.codes.tolist()
        assert sorted(file.name for file in path.iterdir()) == ["codes.npy", "header.json"]

    def test_numbers_and_types(self, tmp_path: Path, small_batches: None) -> None:
        """What is found in memory is there on disk, columns that were left out as well."""
        rng = np.random.default_rng(1)
        table = komb.table(
            {
                "id": [f"person {i}" for i in range(300)],
                "height": [None, *rng.normal(size=299)],
                "sex": ["f", "m", None] * 100,
                "born": [dt.date(1990, 1, 1) + dt.timedelta(int(i)) for i in range(300)],
            },
            na_values={"sex": ["-9"]},
        )
        komb.encode(table, tmp_path / "t.komb")
        stored = komb.read_table(tmp_path / "t.komb")
        assert stored == table
        assert list(stored.numbers) == ["height", "born"]
        assert np.load(tmp_path / "t.komb" / "numbers.npy").shape == (2, 300)
        assert (stored.types, stored.reading) == (table.types, table.reading)
        assert not stored.numbers["height"].flags.writeable
        chosen = stored.select(["sex", "born"])
        assert chosen == table.select(["sex", "born"])
        assert chosen.types == table.select(["sex", "born"]).types
        stored.verify()
        found = [komb.markov_blanket(each, "height").to_dict() for each in (stored, table)]
        assert found[0] | {"seconds": 0} == found[1] | {"seconds": 0}

    def test_columns_and_rows(self, path: Path) -> None:
        stored = komb.read_table(path)
        chosen = stored.select(["y", "x"])
        assert chosen.parts.where == "on disk"
        assert chosen == TABLE.select(["y", "x"])
        assert chosen.codes.dtype == TABLE.select(["y", "x"]).codes.dtype
        assert stored.select(["y"]).has_missing is False
        assert stored.take([1, 3]) == TABLE.take([1, 3])
        with pytest.raises(UnknownNameError):
            stored.select(["z"])
        with pytest.raises(ParameterError, match="be a list of column names"):
            stored.select("x")

    def test_pickles_hold_no_codes(self, tmp_path: Path) -> None:
        komb.encode({"x": np.arange(10**5) % 3, "y": np.arange(10**5) % 2}, tmp_path / "t.komb")
        stored = komb.read_table(tmp_path / "t.komb")
        sent = pickle.dumps(stored.select(["y"]))
        assert len(sent) < 10_000
        assert pickle.loads(sent) == stored.select(["y"])

    def test_wide_columns(self, tmp_path: Path) -> None:
        table = DiscreteTable.from_data({"u": np.arange(300), "v": np.arange(300) % 2})
        stored = komb.encode(table, tmp_path / "w.komb")
        assert stored == table
        assert stored.codes.dtype == np.uint16
        assert stored.select(["v"]).codes.dtype == np.uint8
        stored.verify()

    def test_memory(self, path: Path) -> None:
        small = komb.read_table(path, memory_limit=10)
        assert not small.is_in_memory
        with pytest.raises(MemoryLimitError, match="in memory as a whole"):
            _ = small.codes
        assert komb.table(small, memory_limit="1 GB").is_in_memory
        assert not komb.table(small).is_in_memory
        for table in (path, small):
            read: Any = komb.read_table if table is path else komb.table
            with pytest.raises(ParameterError, match="'memory_limit' must"):
                read(table, memory_limit="lots")

    def test_functions_take_it(self, tmp_path: Path) -> None:
        xor = komb.boolean_table("parity", 500, n_parents=2)
        stored = komb.encode(xor, tmp_path / "t.komb")
        expected, found = komb.markov_blanket(xor, "Y"), komb.markov_blanket(stored, "Y")
        assert found.to_dict() | {"seconds": 0} == expected.to_dict() | {"seconds": 0}
        assert komb.markov_blankets(stored, n_jobs=2)["Y"].members == ("X1", "X2")
        assert komb.markov_blanket(stored, "Y", exclude=["X1"]).members == ()
        with pytest.raises(ParameterError, match="'discretize' must be left out"):
            komb.table(stored, discretize="quantile")


class TestValues:
    @pytest.mark.parametrize(
        "value",
        [
            "é", 3, 2**80, True, None, 0.1, -0.0, float("inf"), 1e-320, ("a", 1, ("b",)),
            dt.date(2020, 2, 29), dt.datetime(2020, 2, 29, 1, 2, 3, 4), dt.time(1, 2),
            dt.datetime(2020, 2, 29, tzinfo=dt.UTC), dt.timedelta(-3, 4, 5),
            np.datetime64("2020-01-01T00:00:00.000000001"), np.timedelta64(7, "ns"),
            {"a": [1, ("b", 2)], 3: {}},
        ],
        ids=repr,
    )  # fmt: skip
    def test_there_and_back(self, value: object) -> None:
        again = from_json(json.loads(json.dumps(to_json(value))))
        assert again == value
        assert repr(again) == repr(value)

    @pytest.mark.parametrize("value", [object(), frozenset(), float("nan"), 1j, b"\xff"])
    def test_what_cannot_be_written(self, value: object) -> None:
        with pytest.raises(TypeError, match="cannot be written"):
            to_json(value)

    @pytest.mark.parametrize("value", [[], {}, {"a": 1, "b": 2}, {"no": 1}, {"date": 3}])
    def test_what_is_no_value(self, value: Any) -> None:
        with pytest.raises(ValueError, match=r"is no|no kind"):
            from_json(value)

    @pytest.mark.parametrize("levels", [[1j, 2j], [b"a", b"b"]])
    def test_columns_that_cannot_be_stored(self, tmp_path: Path, levels: list[Any]) -> None:
        with pytest.raises(DataError, match="Column 'x' cannot be stored: values of type"):
            komb.encode({"x": levels * 9}, tmp_path / "t.komb")
        assert not list(tmp_path.iterdir())


class TestDamage:
    def refuse(self, path: Path, message: str) -> None:
        with pytest.raises(FileError, match=message):
            open_table(path).verify()

    def test_no_table(self, tmp_path: Path) -> None:
        self.refuse(tmp_path, "is a folder, but no table on disk")
        self.refuse(tmp_path / "no.komb", "There is no table")
        (tmp_path / "file").write_text("x")
        self.refuse(tmp_path / "file", "is a file, and no table")

    @pytest.mark.parametrize(("row", "batch"), [(0, "1 to 7"), (13, "8 to 14"), (19, "15 to 20")])
    def test_a_byte_changed(self, path: Path, row: int, batch: str) -> None:
        codes = np.load(path / "codes.npy", mmap_mode="r+")
        codes[2, row] ^= 1
        codes.flush()
        self.refuse(path, f"damaged: rows {batch} do not match their checksum")

    def test_numbers_changed(self, tmp_path: Path, small_batches: None) -> None:
        komb.encode(komb.table({"x": np.linspace(0, 1, 50) ** 2}), tmp_path / "t.komb")
        numbers = np.load(tmp_path / "t.komb" / "numbers.npy", mmap_mode="r+")
        numbers[0, 30] += 1e-9
        numbers.flush()
        self.refuse(tmp_path / "t.komb", "rows 29 to 35 do not match")

    def test_a_file_cut_or_gone(self, path: Path) -> None:
        table = komb.read_table(path)
        file = path / "codes.npy"
        whole = file.read_bytes()
        file.write_bytes(whole[:-1])
        self.refuse(path, r"'codes.npy' has 207 bytes instead of 208")
        with pytest.raises(FileError, match="has 207 bytes instead of 208"):
            komb.markov_blanket(table, "y")
        file.write_bytes(b"")
        self.refuse(path, "'codes.npy' is empty")
        file.write_bytes(whole.replace(b"u1", b"i1"))
        self.refuse(path, r"is not an array of type uint8 and shape \(4, 20\)")
        file.unlink()
        self.refuse(path, "'codes.npy' is missing")

    def rewrite(self, path: Path, *, checksum: bool = True, **changes: Any) -> None:
        file = path / "header.json"
        content = json.loads(file.read_text()) | changes
        content["crc32"] = checksum_of(content) if checksum else content["crc32"]
        file.write_text(json.dumps(content))

    def test_versions(self, path: Path) -> None:
        self.rewrite(path, version=3)
        self.refuse(path, r"written by a later komb \(format 3; this komb reads format 2\)")
        self.rewrite(path, version=1, shards=[])
        self.refuse(path, r"by an earlier komb \(format 1; .*Encode the data again: komb.encode")

    def test_headers(self, path: Path) -> None:
        content = json.loads((path / "header.json").read_text())
        columns = content["columns"]
        self.rewrite(path, rows=21)
        self.refuse(path, "header makes no sense: it has no rows, or other")
        self.rewrite(path, rows=20, checksum=False, columns=columns[:1])
        self.refuse(path, "header does not match its checksum")
        self.rewrite(path, columns=columns[:2])
        self.refuse(path, "has 208 bytes instead of 168")
        self.rewrite(path, columns=[])
        self.refuse(path, "no columns")
        self.rewrite(path, columns=[*columns[:3], columns[2]])
        self.refuse(path, "two of one name")
        self.rewrite(path, columns=columns, batches=[[-20, 0], [40, 0]])
        self.refuse(path, "-20 is not a non-negative integer")
        for levels in (["a", "a"], []):
            self.rewrite(path, columns=[columns[0] | {"levels": levels}, *columns[1:]])
            self.refuse(path, "not distinct")
        self.rewrite(path, columns=[columns[0] | {"missing": 21}, *columns[1:]], batches=[[20, 0]])
        self.refuse(path, "more values are missing than there are rows")
        self.rewrite(path, columns=columns, reading=[["a"]])
        self.refuse(path, "is no value")
        self.rewrite(path, format="something else")
        self.refuse(path, "not that of a table")
        (path / "header.json").write_bytes(b"\xff\x00")
        self.refuse(path, "is not JSON")
        (path / "header.json").write_bytes(b"[" * 10**5)
        self.refuse(path, "is not JSON")

    def test_codes_without_levels(self, path: Path) -> None:
        """A checksum says that nothing changed, not that the codes make sense."""
        content = json.loads((path / "header.json").read_text())
        content["columns"][2] |= {"levels": [0]}
        self.rewrite(path, columns=content["columns"])
        self.refuse(path, "has codes without levels in 'y'")
        for limit in (None, 10):
            with pytest.raises(FileError, match="has codes without levels in 'y'"):
                komb.markov_blanket(komb.read_table(path, memory_limit=limit), "many")
