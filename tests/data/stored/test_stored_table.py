"""A table on disk is a table like any other, and says so when it is damaged."""

from __future__ import annotations

import datetime as dt
import json
import pickle
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import komb
from komb import DiscreteTable, StoredTable
from komb.data.stored.header import _checksum
from komb.data.stored.plain_values import from_json, to_json
from komb.data.stored.stored_table import open_table
from komb.errors import FileError, MemoryLimitError, ParameterError, UnknownNameError
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
def stored(tmp_path: Path, small_batches: None) -> StoredTable:
    return komb.encode(TABLE, tmp_path / "t.komb")


class TestTables:
    def test_the_same(self, stored: StoredTable) -> None:
        assert isinstance(stored, DiscreteTable)
        assert stored == TABLE
        assert stored.n_shards == 3
        assert (stored.n_rows, stored.n_columns, stored.nbytes) == (20, 4, TABLE.nbytes)
        assert stored.missing_counts.tolist() == [5, 0, 0, 0]
        assert stored.dtype == TABLE.dtype
        assert not stored.codes.flags.writeable
        for position in range(4):
            expected = TABLE.level_counts(position)
            assert stored.level_counts(position).tolist() == expected.tolist()
        assert repr(stored) == repr(TABLE).replace("Discrete", "Stored")
        assert stored.column("x") == TABLE.column("x")

    def test_columns_and_rows(self, stored: StoredTable) -> None:
        chosen = stored.select(["y", "x"])
        assert isinstance(chosen, StoredTable)
        assert chosen == TABLE.select(["y", "x"])
        assert stored.select(["y"]).has_missing is False
        assert stored.take([1, 3]) == TABLE.take([1, 3])
        with pytest.raises(UnknownNameError):
            stored.select(["z"])
        with pytest.raises(ParameterError, match="be a list of column names"):
            stored.select("x")

    def test_pickles_hold_no_codes(self, stored: StoredTable) -> None:
        assert stored.codes.size
        sent = pickle.dumps(stored.select(["y"]))
        again = pickle.loads(sent)
        assert isinstance(again, StoredTable)
        assert again == TABLE.select(["y"])

    def test_wide_columns(self, tmp_path: Path) -> None:
        table = DiscreteTable.from_data({"u": np.arange(300), "v": np.arange(300) % 2})
        stored = komb.encode(table, tmp_path / "w.komb")
        assert stored == table
        assert [int(width) for width in stored.shard(0).widths] == [2, 1]
        assert stored.shard(0).data.size == 640 + 320

    def test_memory(self, stored: StoredTable) -> None:
        small = komb.read_table(stored.path, memory_limit=10)
        assert isinstance(small, StoredTable)
        assert not small.fits
        with pytest.raises(MemoryLimitError, match="in memory as a whole"):
            _ = small.codes
        assert small.limited("1 GB").fits
        assert small.limited(None) is small
        with pytest.raises(ParameterError, match="'memory_limit' must"):
            komb.read_table(stored.path, memory_limit="lots")
        with pytest.raises(ParameterError, match="'memory_limit' must"):
            small.limited("lots")

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
            "é", 3, 2**80, True, None, 0.1, -0.0, float("inf"), 1e-320, ("a", 1, ("b",)), b"\xff",
            dt.date(2020, 2, 29), dt.datetime(2020, 2, 29, 1, 2, 3, 4), dt.time(1, 2),
            dt.datetime(2020, 2, 29, tzinfo=dt.UTC), dt.timedelta(-3, 4, 5),
            Decimal("1.10"), Fraction(1, 3), np.datetime64("2020-01-01T00:00:00.000000001"),
            np.timedelta64(7, "ns"),
        ],
        ids=repr,
    )  # fmt: skip
    def test_there_and_back(self, value: object) -> None:
        again = from_json(json.loads(json.dumps(to_json(value))))
        assert again == value
        assert repr(again) == repr(value)

    @pytest.mark.parametrize("value", [object(), frozenset(), float("nan"), 1j])
    def test_what_cannot_be_written(self, value: object) -> None:
        with pytest.raises(TypeError, match="cannot be written"):
            to_json(value)

    @pytest.mark.parametrize("value", [[], {}, {"a": 1, "b": 2}, {"no": 1}, {"date": 3}])
    def test_what_is_no_value(self, value: Any) -> None:
        with pytest.raises(ValueError, match=r"is no|no kind"):
            from_json(value)


class TestDamage:
    def refuse(self, path: Path, message: str) -> None:
        with pytest.raises(FileError, match=message):
            open_table(path).verify()

    def test_no_table(self, tmp_path: Path) -> None:
        self.refuse(tmp_path, "is a folder, but no table on disk")
        self.refuse(tmp_path / "no.komb", "There is no table")
        (tmp_path / "file").write_text("x")
        self.refuse(tmp_path / "file", "is a file, and no table")

    @pytest.mark.parametrize("place", [0, 5, -1])
    def test_a_shard_changed(self, stored: StoredTable, place: int) -> None:
        """It is found when the shard is first read, and all that need it name it."""
        file = stored.path / "shard-000001.codes"
        data = bytearray(file.read_bytes())
        data[place] ^= 1
        file.write_bytes(data)
        table = open_table(stored.path)
        assert table.shard(0).n_rows == 7
        with pytest.raises(FileError, match=r"damaged: the file 'shard-000001.codes' does not"):
            komb.markov_blanket(table, "y")
        self.refuse(stored.path, "checksum")

    def test_a_shard_cut_or_gone(self, stored: StoredTable) -> None:
        file = stored.path / "shard-000002.codes"
        file.write_bytes(file.read_bytes()[:-1])
        self.refuse(stored.path, r"'shard-000002.codes' has 255 bytes instead of 256")
        file.unlink()
        self.refuse(stored.path, "'shard-000002.codes' is missing")

    def rewrite(self, stored: StoredTable, *, checksum: bool = True, **changes: Any) -> None:
        file = stored.path / "header.json"
        content = json.loads(file.read_text()) | changes
        content["crc32"] = _checksum(content) if checksum else content["crc32"]
        file.write_text(json.dumps(content))

    def test_headers(self, stored: StoredTable) -> None:
        content = json.loads((stored.path / "header.json").read_text())
        self.rewrite(stored, version=2)
        self.refuse(stored.path, r"written by a later komb \(format 2")
        self.rewrite(stored, version=1, n_rows=21)
        self.refuse(stored.path, "header makes no sense")
        self.rewrite(stored, n_rows=20, checksum=False, columns=content["columns"][:1])
        self.refuse(stored.path, "header does not match its checksum")
        self.rewrite(stored, columns=content["columns"][:2])
        self.refuse(stored.path, "another number of bytes")
        shards = [content["shards"][0] | {"file": "../secret"}, *content["shards"][1:]]
        self.rewrite(stored, columns=content["columns"], shards=shards)
        self.refuse(stored.path, "no file of the table")
        column = content["columns"][0] | {"levels": ["a", "a"]}
        self.rewrite(stored, columns=[column, *content["columns"][1:]], shards=content["shards"])
        self.refuse(stored.path, "not distinct")
        self.rewrite(stored, format="something else")
        self.refuse(stored.path, "not that of a table")
        (stored.path / "header.json").write_bytes(b"\xff\x00")
        self.refuse(stored.path, "is not JSON")

    def test_codes_without_levels(self, stored: StoredTable) -> None:
        """A checksum says that nothing changed, not that the codes make sense."""
        content = json.loads((stored.path / "header.json").read_text())
        column = content["columns"][2]
        content["columns"][2] = column | {"levels": [0]}
        self.rewrite(stored, columns=content["columns"])
        self.refuse(stored.path, "has codes without levels in 'y'")
