"""How columns are read belongs to the table: every keyword, what survives, and bad input."""

from __future__ import annotations

import gc
import inspect
import pickle
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import komb
from komb.data.covariates import hold_fixed
from komb.data.reading import Reading
from komb.data.table import DiscreteTable
from komb.errors import InputError, ParameterError, UnknownNameError
from tests.local_cluster import local_client
from tests.optional import pandas as pd
from tests.optional import pyarrow as pa

RNG = np.random.default_rng(7)
N = 400
AGE = RNG.normal(50, 12, N)
DATA: dict[str, Any] = {
    "age": AGE, "bmi": RNG.normal(25, 4, N) + AGE / 20, "sex": RNG.choice(["f", "m"], N),
    "c_red": (RNG.integers(0, 3, N) == 0).astype(int), "year": RNG.integers(1950, 1990, N),
    "s1": RNG.integers(0, 3, N), "s2": RNG.integers(0, 3, N), "n": RNG.integers(1, 4, N),
    "w": RNG.choice([0.5, 1.5, 4.0], N), "y": (AGE + RNG.normal(0, 9, N) > 50).astype(int),
}  # fmt: skip
DATA["c_blue"] = (1 - DATA["c_red"]) * RNG.integers(0, 2, N)

GENE = {"gene": ["s1", "s2"]}
FOUND = {"types": "auto", "discretize": None, "missing": "testwise"}
FINELY = "cut finely, as the cube root of the rows allows"
LEVELS = "combinations of values held fixed"
LONGER = 816, "frequencies: 400 different rows stand for 816"
DRAWN = (
    201,
    "survey weights: 201 rows drawn by weight from 400, which have an effective sample size of 252",
)


def digest(table: DiscreteTable) -> int:
    levels = [tuple(map(str, own)) for own in table.levels]
    return zlib.crc32(repr((table.names, levels, table.codes.tolist())).encode())


# What was read and held fixed when one function did both.
AS_EVER: list[tuple[dict[str, Any], list[str], bool, int, tuple[str, ...], dict[str, Any]]] = [
    ({}, ["age"], False, 4116087308, ("age",), {"strata": (15, f"age {FINELY}")}),
    ({}, ["age"], True, 465464375, ("age",), {}),
    ({}, ["age", "sex"], False, 3227448423, ("age, sex",), {"strata": (24, f"age {FINELY}")}),
    ({}, ["sex", "age"], True, 2303631911, ("sex", "age"), {"strata": (2, LEVELS)}),
    ({}, ["age", "bmi"], False, 2556331336, ("age, bmi",), {"strata": (29, f"age, bmi {FINELY}")}),
    ({}, ["year"], False, 1809331155, ("year",), {"strata": (15, f"year {FINELY}")}),
    ({}, ["sex", "s1"], True, 3822827146, ("sex, s1",), {"strata": (6, LEVELS)}),
    (
        {"discretize": "quantile"},
        ["age"], True, 3171551020, ("age",), {"strata": (15, f"age {FINELY}")},
    ),
    (
        {"discretize": {"age": [40, 60]}},
        ["age"], True, 394653268, ("age",), {"strata": (3, LEVELS)},
    ),
    (
        {"weights": "n"},
        ["age", "sex"], True, 628477502, ("age, sex",),
        {"strata": (30, f"age {FINELY}"), "rows": LONGER},
    ),
    ({"groups": GENE}, ["age"], True, 1752237178, ("age",), {"strata": (15, f"age {FINELY}")}),
    ({"groups": "prefix"}, ["sex"], False, 4194197352, ("sex",), {"strata": (2, LEVELS)}),
    ({"weights": {"w": "survey"}}, [], True, 1095776481, (), {"rows": DRAWN}),
    ({"weights": {"w": "survey"}, "groups": GENE}, [], False, 1416899053, (), {"rows": DRAWN}),
    (
        {"weights": "n", "groups": GENE},
        ["age", "sex"], True, 3053260982, ("age, sex",),
        {"strata": (30, f"age {FINELY}"), "rows": LONGER},
    ),
]  # fmt: skip


def unused(options: dict[str, Any]) -> list[str]:
    """The columns of weights that are not used as such."""
    weights = options.get("weights", ())
    return [name for name in ("n", "w") if name not in weights]


@pytest.mark.parametrize(("options", "given", "takes_numbers", "crc", "fixed", "notes"), AS_EVER)
def test_reading_and_holding_fixed_give_what_they_gave_as_one(
    options: Any, given: Any, takes_numbers: bool, crc: int, fixed: Any, notes: Any
) -> None:
    table = komb.table(DATA, exclude=unused(options), target="y", **options)
    held = hold_fixed(table, given, takes_numbers=takes_numbers)
    assert digest(held.table) == crc
    assert held.fixed == fixed
    assert {**held.notes, **held.table.notes} == notes
    assert held.table.has_ranks == (options.keys() <= {"discretize"} and options != {
        "discretize": "quantile"
    })  # fmt: skip


class TestReading:
    @pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
    @pytest.mark.parametrize(
        "weights", ["n", {"n": "frequency"}, DATA["n"], DATA["n"].tolist(), DATA["n"] * 1.0,
                    pd.Series(DATA["n"]), pl.Series(DATA["n"]), {"frequency": DATA["n"]}],
        ids=["name", "kind", "array", "list", "floats", "pandas", "polars", "kind of array"],
    )  # fmt: skip
    def test_frequencies(self, make: Any, weights: Any) -> None:
        data = {name: DATA[name] for name in ("age", "sex", "y", "n")}
        is_named = isinstance(weights, str) or (isinstance(weights, dict) and "n" in weights)
        exclude = [] if is_named else ["n"]
        table = komb.table(make(data), weights=weights, exclude=exclude)
        longer = {name: np.repeat(DATA[name], DATA["n"]) for name in ("age", "sex", "y")}
        assert table == komb.table(make(longer))
        said = {"n": "frequency"} if is_named else "frequency"
        left_out = {"exclude": tuple(exclude)} if exclude else {}
        assert table.reading == {**FOUND, "weights": said, **left_out}
        assert table.notes == {"rows": LONGER}

    def test_a_row_of_weight_zero_is_left_out(self) -> None:
        data = {"x": ["a", "b", "c", "a"], "y": [0, 1, 0, 1]}
        table = komb.table(data, weights=[2, 1, 0, 1])
        assert table.column("x") == ["a", "a", "b", "a"]
        assert table.notes["rows"] == (4, "frequencies: 3 different rows stand for 4")
        drawn = komb.table(data, weights={"survey": [1.0, 1.0, 0.0, 1.0]})
        assert drawn.column("x") == ["a", "b", "a"]

    def test_weights_of_a_survey(self) -> None:
        by_name = komb.table(DATA, weights={"w": "survey"})
        by_value = komb.table(DATA, weights={"survey": DATA["w"]}, exclude=["w"])
        assert by_name == by_value
        assert by_name.reading["weights"] == {"w": "survey"}
        assert by_value.reading["weights"] == "survey"
        whole = komb.table(DATA, weights={"n": "survey"})
        assert whole.n_rows < N

    def test_groups(self) -> None:
        table = komb.table(DATA, groups=GENE, exclude=["w"])
        assert table.groups == {"gene": ("s1", "s2")}
        assert table.reading == {**FOUND, "groups": {"gene": ("s1", "s2")}, "exclude": ("w",)}
        assert set(table.numbers) == {"age", "bmi", "year"}  # for strata, not for ranks
        assert not table.has_ranks
        assert komb.table(DATA, groups="prefix").groups == {"c": ("c_red", "c_blue")}
        apart = komb.table(DATA, groups="prefix", target="c_red")
        assert apart.groups == {}
        assert apart.has_ranks

    def test_treatments(self) -> None:
        data = {"x": [1.5, -9.0, 2.5, None] * 20, "y": ["a", "b"] * 40}
        table = komb.table(data, na_values=[-9], missing="level")
        assert table.column("x")[:4] == [1.5, None, 2.5, None]
        assert table.reading == {**FOUND, "missing": "level", "na_values": (-9,)}
        cut = komb.table(data, discretize={"x": "uniform"}, bins={"x": 2}, types={"y": "nominal"})
        assert cut.reading == {
            "types": {"y": "nominal"}, "discretize": {"x": "uniform"}, "bins": {"x": 2},
            "missing": "testwise",
        }  # fmt: skip
        strict = komb.table({"x": range(90), "y": [0, 1] * 45}, types="strict")
        assert strict.reading["types"] == "strict"
        assert len(strict.levels[0]) == 90
        by_target = komb.table(DATA, discretize="mdl", target="y")
        assert len(by_target.cuts["age"]) == 3

    def test_it_is_what_from_data_reads(self) -> None:
        assert DiscreteTable.from_data(DATA, types="auto").reading == komb.table(DATA).reading
        assert DiscreteTable.from_data(DATA, types="auto") == komb.table(DATA)
        assert DiscreteTable.from_codes([[0, 1], [1, 1]]).reading == {}

    def test_what_was_read_survives(self) -> None:
        table = komb.table({**DATA, "id": range(N)}, groups=GENE, weights="n", exclude=["w"])
        assert table.types["id"].is_left_out
        for other in (
            table.select(["y", "gene"]),
            table.take([0, 5, 6]),
            pickle.loads(pickle.dumps(table)),
            komb.table(table, exclude=["w"]),
            hold_fixed(table, ["age"]).table,
        ):
            assert (other.reading, other.notes) == (table.reading, table.notes)
            assert other.groups == {"gene": ("s1", "s2")}
            assert not other.has_ranks
            assert other.types["id"] == table.types["id"]
        assert komb.table(table, exclude=["bmi"]).reading["exclude"] == ("w", "bmi")
        with pytest.raises(TypeError):
            table.reading["types"] = "strict"  # type: ignore[index]
        assert komb.table(table, exclude=["bmi"]).reading["exclude"] == ("w", "bmi")

    def test_a_table_takes_groups_and_weights_later(self) -> None:
        plain = komb.table(DATA, exclude=["w"])
        assert komb.table(plain) is plain
        later = komb.table(plain, groups=GENE, weights="n")
        at_once = komb.table(DATA, groups=GENE, weights="n", exclude=["w"])
        assert later.n_rows == at_once.n_rows == LONGER[0]
        assert later.reading == at_once.reading
        assert later.names == at_once.names
        both = komb.table(later, groups={"c": ["c_red", "c_blue"]})
        assert both.groups == {"gene": ("s1", "s2"), "c": ("c_red", "c_blue")}
        assert both.notes == later.notes

    def test_a_group_named_after_its_column_is_another_column(self) -> None:
        table = komb.table(DATA, groups={"age": ["age", "sex"]}, exclude=["w", "bmi", "year"])
        assert "age" not in table.numbers
        assert "age" not in table.types
        assert table.cuts == {}


def test_what_is_left_out_can_be_left_out_again() -> None:
    """A search may name it too, and a blanket that was stored finds its table again."""
    table = komb.table(DATA, exclude=["w", "n"])
    assert komb.table(table, exclude=["n", "bmi"]).reading["exclude"] == ("w", "n", "bmi")
    blanket = komb.markov_blanket(table, "y", exclude=["w"])
    assert blanket.parameters["exclude"] == ("w", "n")
    stored = pickle.loads(pickle.dumps(blanket))
    assert stored.with_table(DATA).explain() == stored.with_table(table).explain()
    with pytest.raises(UnknownNameError, match="In 'exclude': There is no column 'nothing'"):
        komb.table(table, exclude=["nothing"])


class TestHoldingFixed:
    def test_times_are_cut_into_strata_of_dates(self) -> None:
        days = np.datetime64("2020-01-01") + np.arange(200).astype("timedelta64[D]")
        table = komb.table({"day": days, "y": np.arange(200) % 2})
        held = hold_fixed(table, ["day"])
        assert held.notes["strata"][0] == 12
        assert str(held.table.levels[1][0]).startswith("< 2020-01-")

    def test_missing_values(self) -> None:
        age = np.where(np.arange(N) % 10 == 0, np.nan, AGE)
        held = hold_fixed(komb.table({"age": age, "y": DATA["y"]}), ["age"])
        assert held.table.missing_counts.tolist() == [0, 40]
        whole = np.arange(N) % 30 * 1.0
        whole[:40] = np.nan
        table = komb.table({"x": whole, "y": DATA["y"]}, missing="level", types={"x": "nominal"})
        held = hold_fixed(table, ["x"])
        assert held.table.levels[1][-1] is None
        assert not held.table.has_missing

    def test_a_group_is_held_fixed(self) -> None:
        table = komb.table(DATA, groups=GENE)
        assert hold_fixed(table, ["gene"]).table.levels[-1] == table.levels[table.index("gene")]

    def test_bad_input(self) -> None:
        table = komb.table({"a": [0, 1], "b": [0, 1], "a, b": [0, 1]})
        with pytest.raises(InputError, match="In 'given': There is no column 'z'"):
            hold_fixed(table, ["z"])
        with pytest.raises(InputError, match=r"In 'given'.*It is part of the group 'gene': name"):
            hold_fixed(komb.table(DATA, groups=GENE), ["s1"])
        with pytest.raises(ParameterError, match="leave the name 'a, b' to the strata"):
            hold_fixed(table, ["a", "b"])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    komb.encode({name: DATA[name] for name in ("sex", "s1", "s2", "n", "y")}, tmp_path / "t.komb")
    return tmp_path / "t.komb"


class TestTablesOnDisk:
    def test_they_take_everything_that_fits(self, path: Path) -> None:
        stored = komb.read_table(path)
        table = komb.read_table(path, groups=GENE, weights="n")
        assert table == komb.table(stored.take(range(stored.n_rows)), groups=GENE, weights="n")
        assert table.n_rows == LONGER[0]
        chosen = komb.read_table(path, columns=["y", "sex"], memory_limit=1000)
        assert (chosen.names, chosen.is_in_memory) == (("y", "sex"), False)
        left = komb.table(stored, exclude=["n"])
        assert (left.names, left.reading["exclude"]) == (("sex", "s1", "s2", "y"), ("n",))

    @pytest.mark.parametrize("options", [{"groups": GENE}, {"weights": "n"}], ids=str)
    def test_or_say_that_they_do_not(self, path: Path, options: Any) -> None:
        with pytest.raises(ParameterError, match="for a table on disk, which is counted part by"):
            komb.read_table(path, memory_limit=1000, **options)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"discretize": "quantile"}, "'discretize' must be left out for a DiscreteTable"),
            ({"types": {"sex": "nominal"}}, "'types' must be left out for a DiscreteTable"),
            ({"delimiter": ","}, "'delimiter' must be left out for tables on disk"),
            ({"phenotype": "x"}, "'phenotype' must be left out"),
            ({"columns": "y"}, "'columns' must be a list"),
            ({"columns": ["z"]}, "no column 'z'"),
            ({"memory_limit": "lots"}, "'memory_limit' must"),
        ],
        ids=str,
    )
    def test_bad_input(self, path: Path, options: Any, message: str) -> None:
        with pytest.raises(InputError, match=message):
            komb.read_table(path, **options)


def test_files_take_the_same_keywords(tmp_path: Path) -> None:
    keywords = [*inspect.signature(komb.table).parameters][1:]
    assert [*Reading.__annotations__] == keywords
    path = tmp_path / "t.csv"
    pl.DataFrame(DATA).write_csv(path)
    options: dict[str, Any] = {"groups": GENE, "weights": "n", "exclude": ["w"], "target": "y"}
    assert komb.read_table(path, **options) == komb.table(DATA, **options)
    assert komb.read_table(path, **options).reading == komb.table(DATA, **options).reading
    with pytest.raises(TypeError, match="unexpected keyword"):
        komb.read_table(path, group=GENE)  # type: ignore[call-arg]


BAD: list[tuple[dict[str, Any], str]] = [
    ({"types": "found"}, "'types' must be 'auto', 'strict', or map"),
    ({"missing": "drop"}, "In 'missing': There is no treatment 'drop'"),
    ({"na_values": "NA"}, "'na_values' must be a list"),
    ({"discretize": "quantil"}, "In 'discretize': There is no rule 'quantil'"),
    ({"bins": 3}, "'bins' must be left out where nothing is cut"),
    ({"discretize": "mdl"}, "'discretize' must come with 'target'"),
    ({"exclude": "age"}, r"'exclude' must be a list of column names; got 'age'.*exclude=\['age'\]"),
    ({"exclude": ["nope"]}, "In 'exclude': There is no column 'nope'"),
    ({"target": "nope"}, "In 'target': There is no column 'nope'"),
    ({"target": [1, 2]}, "'target' must be the name of a column; got a list"),
    ({"target": "y", "exclude": ["y"]}, "'exclude' must have no column in common with 'target'"),
    ({"memory_limit": "lots"}, "'memory_limit' must be a number of bytes"),
    ({"cluster": 7}, "'cluster' must be a Dask client, or the address"),
    ({"groups": "suffix"}, "'groups' must map names.*or be 'prefix'"),
    ({"groups": {"g": "abc"}}, "'groups' must have a list of names of columns for 'g'; got 'abc'"),
    ({"groups": {"g": 5}}, "'groups' must have a list of names of columns for 'g'; got 5"),
    ({"groups": {"g": [["s1"]]}}, "'groups' must have names of columns in its list"),
    ({"groups": {"g": []}}, "'groups' must name at least one column for 'g'"),
    ({"groups": {"g": ["nope"]}}, "In 'groups': There is no column 'nope'"),
    ({"groups": {"y": ["s1", "s2"]}}, "names that no other column has"),
    ({"groups": GENE, "target": "s1"}, "'groups' must have no column in common with 'target'"),
    ({"groups": GENE, "exclude": ["s1"]}, "'groups' must have no column in common with 'exclude'"),
    ({"groups": {"g": ["n"]}, "weights": "n"}, "'weights' must have no column in common with 'gr"),
    ({"weights": "nope"}, "In 'weights': There is no column 'nope'"),
    ({"weights": "y", "target": "y"}, "'weights' must have no column in common with 'target'"),
    ({"weights": {"w": "mass"}}, "In 'weights': There is no kind of weight 'mass'"),
    ({"weights": {"mass": [1] * N}}, "In 'weights': There is no kind of weight 'mass'"),
    ({"weights": {"n": "survey", "w": "survey"}}, "'weights' must be the name of a column"),
    ({"weights": "sex"}, "'weights' must be numbers from 0 on in every row of 'sex'; got other"),
    ({"weights": ["a"] * N}, "'weights' must be numbers from 0 on for every row; got other"),
    ({"weights": np.ones((N, 2))}, "'weights' must be numbers from 0 on for every row"),
    ({"weights": [1, 2]}, "'weights' must have one number for each of the 400 rows; got 2 numbers"),
    ({"weights": [*[1] * 399, -1]}, "from 0 on for every row; got -1.0 in row 399.*leaves a row"),
    ({"weights": [*[1] * 399, None]}, "from 0 on for every row; got nan in row 399"),
    ({"weights": [0] * N}, "'weights' must not be 0 for every row"),
    ({"weights": "w"}, r"whole numbers if they are frequencies.*weights=\{'w': 'survey'\}"),
    ({"weights": DATA["w"]}, r"whole numbers if.*weights=\{'survey': numbers\}"),
    ({"weights": [1e15] * N}, "rows needs about"),
]


@pytest.mark.parametrize(("options", "message"), BAD, ids=lambda value: str(value)[:60])
def test_bad_input(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        komb.table(DATA, **options)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (5, "'data' must be a pandas, polars or pyarrow table"),
        ("t.csv", r"Read the file first: komb\.read_table"),
        ({}, "at least one row and one column"),
        (np.arange(3), "'data' must be a pandas"),
        ({"w": [1, 2, 1], "x": [1, 2], "y": [0, 1]}, "'data' must have columns of one length"),
        ({"w": 5, "x": [1, 2]}, "'weights' must be numbers from 0 on in every row of 'w'"),
        ({"w": [2, 0], "x": 5}, "'data' must map names to columns of values"),
        ({"w": [2, 0], "x": "ab"}, "'data' must map names to columns of values"),
    ],
    ids=str,
)
def test_what_is_no_table(data: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        komb.table(data, weights="w")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"types": {"x": "nominal"}}, "'types' must be left out for a DiscreteTable, which is enc"),
        ({"na_values": [0]}, r"must be left out.*komb\.table\(data, na_values=\.\.\.\)"),
        ({"weights": [1, 2]}, "'weights' must be left out for a table that has weights already"),
    ],
    ids=str,
)
def test_a_table_is_encoded_already(options: dict[str, Any], message: str) -> None:
    table = komb.table({"x": [0, 1], "y": [1, 0]}, weights=[1, 1])
    with pytest.raises(ParameterError, match=message):
        komb.table(table, **options)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with local_client() as client:
        yield client


class TestClusters:
    def test_a_table_in_memory_remembers_it(self, client: Any) -> None:
        table = komb.table(DATA, cluster=client)
        assert table.cluster is client
        assert table.select(["y"]).cluster is table.take([1, 2]).cluster is client
        assert pickle.loads(pickle.dumps(table)).cluster is None
        assert table == komb.table(DATA)
        assert komb.table(komb.table(DATA), cluster=client).cluster is client
        assert client.status == "running"

    def test_a_dataframe_of_dask(self, client: Any) -> None:
        frames = pytest.importorskip("dask.dataframe")
        names = ("sex", "s1", "s2", "n", "y", "age", "year")
        frame = pd.DataFrame({name: DATA[name] for name in names})
        data = frames.from_pandas(frame, npartitions=3)
        said: list[dict[str, Any]] = [
            {}, {"discretize": "quantile"}, {"types": {"y": "nominal"}}, {"na_values": [0]},
            {"types": "strict", "discretize": {"age": [50.0]}},
        ]  # fmt: skip
        for options in said:
            table = komb.table(data, cluster=client, exclude=["n"], **options)
            assert table.parts.where == "on a cluster"
            assert table.cluster is client
            whole = komb.table(frame, exclude=["n"], **options)
            assert table == replace(whole, numbers={})
            assert (table.types, table.reading) == (whole.types, whole.reading)
        for name, value in (("groups", GENE), ("weights", "n")):
            with pytest.raises(ParameterError, match="must be left out for a dataframe of Dask"):
                komb.table(data, cluster=client, **{name: value})  # type: ignore[arg-type]
        with pytest.raises(ParameterError, match="'groups' must be left out for a table on a clus"):
            komb.table(table, groups=GENE)

    def test_a_connection_lives_as_long_as_its_tables(self, client: Any) -> None:
        table = komb.table(DATA, cluster=client.scheduler.address)
        connection = table.cluster
        part = table.select(["y", "sex"])
        del table
        gc.collect()
        assert connection.status == "running"
        del part
        gc.collect()
        assert connection.status == "closed"

    def test_a_table_on_disk(self, client: Any, path: Path) -> None:
        table = komb.read_table(path, memory_limit=1000, cluster=client)
        assert table.parts.where == "on disk"
        assert table.cluster is client
        assert table.select(["y"]).cluster is client
