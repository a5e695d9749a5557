from __future__ import annotations

import datetime as dt
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.data.parts import CodesHere
from komb.data.table import DiscreteTable
from komb.errors import DataError, MissingValuesError, ParameterError, UnknownNameError
from tests.optional import pandas as pd
from tests.optional import pyarrow as pa

Columns = dict[str, list[Any]]


def as_mapping_of_arrays(columns: Columns) -> dict[str, Any]:
    return {name: np.array(values) for name, values in columns.items()}


CONTAINERS: dict[str, Callable[[Columns], object]] = {
    "pandas": pd.DataFrame,
    "pandas-object": lambda columns: pd.DataFrame(columns, dtype=object),
    "pandas-arrow": lambda columns: pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "mapping": dict,
    "mapping-of-tuples": lambda columns: {name: tuple(v) for name, v in columns.items()},
    "mapping-of-arrays": as_mapping_of_arrays,
    "mapping-of-series": lambda columns: {name: pl.Series(v) for name, v in columns.items()},
}


@st.composite
def column_sets(draw: st.DrawFn) -> Columns:
    n_rows = draw(st.integers(1, 12))
    kinds = [
        st.integers(-(2**63), 2**63 - 1),
        st.integers(-3, 300),
        st.booleans(),
        # Surrogates are no text, and numpy drops trailing zero bytes.
        st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=4),
        st.sampled_from([0.5, 1.0]),
        st.integers(-5, 5).map(float),
        st.datetimes(dt.datetime(1970, 1, 1), dt.datetime(2100, 1, 1)),
    ]
    names = draw(st.lists(st.text("abc", min_size=1), min_size=1, max_size=4, unique=True))
    chosen = [draw(st.sampled_from(kinds)) for _ in names]
    return {
        name: draw(st.lists(kind, min_size=n_rows, max_size=n_rows))
        for name, kind in zip(names, chosen, strict=True)
    }


@settings(deadline=None)
@given(column_sets())
def test_every_container_gives_the_same_table_and_decodes_to_the_original(columns: Columns) -> None:
    tables = {kind: DiscreteTable.from_data(make(columns)) for kind, make in CONTAINERS.items()}
    for kind, table in tables.items():
        assert table == tables["mapping"], kind
        for name, values in columns.items():
            assert table.column(name) == values, kind
            check_column(table, name)


def check_column(table: DiscreteTable, name: object) -> None:
    position = table.index(name)
    levels = list(table.levels[position])
    assert levels == sorted(levels)  # type: ignore[type-var]
    assert set(table.codes[position].tolist()) == set(range(len(levels)))


@settings(deadline=None)
@given(
    st.integers(1, 6).flatmap(
        lambda n: st.lists(
            st.lists(st.integers(-(2**40), 2**40) | st.integers(0, 3), min_size=n, max_size=n),
            min_size=1,
            max_size=10,
        )
    )
)
def test_integer_arrays_agree_with_unique(rows: list[list[int]]) -> None:
    values = np.array(rows)
    for table in (
        DiscreteTable.from_data(values),
        DiscreteTable.from_data(np.asfortranarray(values)),
        DiscreteTable.from_codes(values),
        DiscreteTable.from_data(values.astype(object)),
    ):
        assert table.names == tuple(range(values.shape[1]))
        for i in range(values.shape[1]):
            levels, codes = np.unique(values[:, i], return_inverse=True)
            assert table.levels[i] == tuple(levels.tolist())
            assert table.codes[i].tolist() == codes.tolist()


def test_pandas_keeps_integer_and_tuple_labels() -> None:
    frame = pd.DataFrame({0: [1, 2], 5: ["a", "b"]})
    assert DiscreteTable.from_data(frame).names == (0, 5)
    pairs = pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", 1), ("b", 2)]))
    assert DiscreteTable.from_data(pairs).names == (("a", 1), ("b", 2))


def test_a_table_is_returned_as_it_is() -> None:
    table = DiscreteTable.from_data({"x": [1, 2]})
    assert DiscreteTable.from_data(table) is table


def test_codes_are_contiguous_and_read_only() -> None:
    table = DiscreteTable.from_data(np.arange(6).reshape(3, 2))
    assert table.codes.flags.c_contiguous
    with pytest.raises(ValueError, match="read-only"):
        table.codes[0, 0] = 1
    with pytest.raises(AttributeError):
        table.names = ("a", "b")  # type: ignore[misc]


def test_pickling_keeps_the_protection() -> None:
    table = DiscreteTable.from_data({"x": ["b", "a"], "y": [1, 1]})
    copy = pickle.loads(pickle.dumps(table))
    assert copy == table
    assert not copy.codes.flags.writeable


def test_the_constructor_leaves_the_callers_array_writeable() -> None:
    codes = np.array([[0, 1]], np.uint8)
    DiscreteTable(("x",), CodesHere(codes), ((0, 1),))
    assert codes.flags.writeable


@pytest.mark.parametrize(("n_levels", "dtype"), [(256, np.uint8), (257, np.uint16)])
def test_the_smallest_type_is_used(n_levels: int, dtype: type) -> None:
    values = np.arange(n_levels)
    for data in (
        values.reshape(-1, 1),
        {"x": values},
        {"x": values.tolist()},
        pl.DataFrame({"x": values}),
        pl.DataFrame({"x": values}).cast(pl.String),
    ):
        assert DiscreteTable.from_data(data).codes.dtype == dtype


def test_one_wide_column_widens_all_and_selecting_narrows_again() -> None:
    data = {"a": [0, 1] * 150, "b": list(range(300)), "c": [1, 2] * 150}
    table = DiscreteTable.from_data(data)
    assert table.codes.dtype == np.uint16
    assert [table.column(name) for name in "abc"] == list(data.values())
    assert table.select(["c", "a"]).codes.dtype == np.uint8
    assert table.take(range(10)).codes.dtype == np.uint8
    assert DiscreteTable.from_data(pd.DataFrame(data).to_numpy() * 3).codes.dtype == np.uint16


def test_wide_integers_with_few_levels_stay_small() -> None:
    table = DiscreteTable.from_data(np.array([[0, 60_000], [1000, 0], [0, 0]]))
    assert table.codes.dtype == np.uint8
    assert table.levels == ((0, 1000), (0, 60_000))


def test_properties() -> None:
    table = DiscreteTable.from_data({"x": [1, 2, 3], "y": ["a", "a", "b"]})
    assert (table.n_rows, table.n_columns, table.nbytes) == (3, 2, 6)
    assert table.cardinalities.tolist() == [3, 2]
    assert table.cardinalities.dtype == np.int64


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"x": [1, 2], "y": [1, 1]}, "DiscreteTable(2 rows x 2 columns, 1-2 levels)"),
        ({"x": [1]}, "DiscreteTable(1 row x 1 column, 1 level)"),
        ({"x": [1, 2]}, "DiscreteTable(2 rows x 1 column, 2 levels)"),
    ],
)
def test_repr(data: Columns, text: str) -> None:
    assert repr(DiscreteTable.from_data(data)) == text


def test_equality() -> None:
    table = DiscreteTable.from_data({"x": [1, 2]})
    assert table == DiscreteTable.from_data({"x": [1, 2]})
    assert table != DiscreteTable.from_data({"x": [2, 1]})
    assert table != DiscreteTable.from_data({"x": [1, 3]})
    assert table != DiscreteTable.from_data({"y": [1, 2]})
    assert table != "x"


def test_index_and_column_of_unknown_names() -> None:
    table = DiscreteTable.from_data({"smoker": [1], "age": [1]})
    assert table.index("age") == 1
    with pytest.raises(UnknownNameError, match=r"no column 'smokes'\. Did you mean 'smoker'"):
        table.column("smokes")
    with pytest.raises(UnknownNameError):
        table.index(["smoker"])  # type: ignore[arg-type]
    assert DiscreteTable.from_data(np.ones((1, 3), int)).index(np.int64(2)) == 2


def test_select() -> None:
    table = DiscreteTable.from_data({"x": [1, 2], "y": ["a", "b"], "z": [0, 0]})
    chosen = table.select(["z", "x"])
    assert chosen.names == ("z", "x")
    assert chosen.column("x") == [1, 2]
    assert table.select(table.names) == table
    with pytest.raises(ParameterError, match=r"Pass a list of column names: names=\['xy'\]"):
        table.select("xy")
    with pytest.raises(DataError, match=r"distinct column names; got 'x' \(2 times\)"):
        table.select(["x", "x"])
    with pytest.raises(DataError, match="at least one row and one column"):
        table.select([])


@settings(deadline=None)
@given(st.lists(st.integers(-4, 3), min_size=1, max_size=9))
def test_take_is_encoding_the_chosen_rows(rows: list[int]) -> None:
    data: Columns = {"x": ["a", "c", "b", "c"], "y": [3, 3, 3, 1]}
    table = DiscreteTable.from_data(data)
    again = {name: [values[row] for row in rows] for name, values in data.items()}
    assert table.take(rows) == DiscreteTable.from_data(again)
    assert table.take(rows).codes.flags.c_contiguous


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "got 'none'"),
        ([[0]], "Pass at least one row number"),
        ([0.5], "got 'float64 of shape"),
        ([True, False], "np.flatnonzero"),
        ([0, 3], "below 3; got 3"),
        ([-4], "got -4"),
    ],
)
def test_take_refuses(rows: list[Any], message: str) -> None:
    table = DiscreteTable.from_data({"x": [1, 2, 3]})
    with pytest.raises(ParameterError, match=message):
        table.take(rows)


def test_from_codes_with_names_and_levels() -> None:
    table = DiscreteTable.from_codes(
        np.array([[0, 2], [0, 1]], np.int8), ["x", "y"], [["lo", "hi"], ["c", "b", "a"]]
    )
    assert table.levels == (("lo",), ("b", "a"))
    assert table.column("y") == ["a", "b"]
    booleans = DiscreteTable.from_codes([[True], [False]])
    assert booleans.levels == ((False, True),)
    assert DiscreteTable.from_codes([[True], [False]], None, ["ny"]).column(0) == ["y", "n"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1],), "'codes' must be a two-dimensional array of integers"),
        (([[0.5]],), "Use komb.table"),
        (([[0, 1]], ["x"]), "'names' must have one entry for each of the 2 columns"),
        (([[0, 1]], ["x", "y"], ["a"]), "'levels' must have one entry"),
        (([[0, 2]], ["x", "y"], ["a", "ab"]), "from 0 to 1 in column 'y'.*got 2"),
        (([[-1]], ["x"], ["ab"]), "got -1"),
    ],
)
def test_from_codes_refuses(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        DiscreteTable.from_codes(*arguments)


@pytest.mark.parametrize(
    ("data", "remedy"),
    [
        (pl.LazyFrame({"a": [1]}), r"'LazyFrame'. Collect it first: data.collect\(\)"),
        (pd.Series([1]), r"data.to_frame\(\)"),
        (pl.Series([1]), r"data.to_frame\(\)"),
        ([[1, 2]], r"np.array\(data\)"),
        ("table.csv", r"komb.read_table\('table.csv'\)"),
        (np.array([1, 2]), r"shape \(2,\). Reshape it; for one column, data.reshape\(-1, 1\)"),
        (np.zeros((1, 1, 1)), r"shape \(1, 1, 1\)"),
        (np.zeros(2, [("a", int)]), "a structured array. Pass a mapping of its fields"),
        (None, "Make it a table first"),
        (object(), "Make it a table first"),
    ],
)
def test_what_is_not_a_table_gets_a_remedy(data: object, remedy: str) -> None:
    with pytest.raises(DataError, match=remedy) as caught:
        DiscreteTable.from_data(data)
    assert "'data' must be a pandas, polars or pyarrow table" in str(caught.value)


def test_a_sparse_matrix_gets_a_remedy() -> None:
    class Sparse:
        def toarray(self) -> None:
            raise NotImplementedError

    with pytest.raises(DataError, match=r"data.toarray\(\)"):
        DiscreteTable.from_data(Sparse())


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]),
        pa.table([[1], [2], [3]], names=["a", "b", "a"]),
    ],
)
def test_duplicate_names(data: object) -> None:
    with pytest.raises(DataError, match=r"distinct column names; got 'a' \(2 times\). Rename"):
        DiscreteTable.from_data(data)


def test_many_duplicate_names() -> None:
    frame = pd.DataFrame([range(14)], columns=list("abcdefg") * 2)
    with pytest.raises(DataError, match=r"'e' \(2 times\) and 2 more"):
        DiscreteTable.from_data(frame)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"x": []},
        pd.DataFrame(),
        pd.DataFrame(index=[0, 1]),
        pl.DataFrame({"x": []}),
        pa.table({"x": pa.array([], pa.string())}),
        np.zeros((0, 2)),
        np.zeros((2, 0)),
    ],
)
def test_empty_tables(data: object) -> None:
    with pytest.raises(DataError, match="at least one row and one column; got"):
        DiscreteTable.from_data(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"a": [1], "b": [1, 2]}, "1 values in 'a' and 2 in 'b'. Make them equally long"),
        ({"a": 1}, "got 1 for 'a'. Pass a list"),
        ({"a": "text"}, "got 'text' for 'a'"),
        ({"a": np.zeros((2, 2))}, r"got an array of shape \(2, 2\) for 'a'"),
    ],
)
def test_mappings_of_something_else(data: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        DiscreteTable.from_data(data)


def test_a_mapping_may_mix_libraries() -> None:
    table = DiscreteTable.from_data(
        {
            "a": pd.Series([2, 1]),
            "b": pl.Series(["y", "x"]),
            "c": pa.array([True, False]),
            "d": pa.chunked_array([["y"], ["x"]]),
            "e": pd.Categorical(["y", "x"]),
            "f": pd.Index([2, 1]),
            "g": range(2, 0, -1),
        }
    )
    assert table.codes.tolist() == [[1, 0]] * 7


def test_masked_arrays() -> None:
    values = np.ma.MaskedArray([[1, 2], [3, 4]], [[False, False], [True, False]])
    with pytest.raises(MissingValuesError, match=r"0 \(1 missing, first in row 1\)"):
        DiscreteTable.from_data(values)
    assert DiscreteTable.from_data(np.ma.MaskedArray([[1], [2]])).column(0) == [1, 2]


def test_one_row_and_constant_columns_are_tables() -> None:
    table = DiscreteTable.from_data(pd.DataFrame({"x": [0.3], "y": ["a"]}))
    assert table.levels == ((0.3,), ("a",))
