"""Types of columns: what is found, what follows from it, and what is said about it."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb import ColumnType, DiscreteTable
from komb.data.bins import EVEN, find_cuts
from komb.data.text_values import read_form, read_forms
from komb.errors import DataError, InputError, MissingValuesError, ParameterError, UnknownNameError
from tests.optional import pandas as pd

N_ROWS = 300
RNG = np.random.default_rng(0)
MANY = RNG.permutation(np.arange(N_ROWS) * 7 + 100)  # whole numbers, all different
DAYS = [date(2020, 1, 1) + timedelta(days=i) for i in range(N_ROWS)]
FEW = [i % 3 for i in range(N_ROWS)]


def even_cuts(numbers: Any) -> tuple[float, ...]:
    return find_cuts(lambda: iter([numbers]), EVEN, 0)


def found(values: Any, name: str = "x", **options: Any) -> DiscreteTable:
    """A table of a column whose type is to be found, and of one of text, which is no code."""
    beside = ["a", "b", "c"] * (len(values) // 3) + ["a"] * (len(values) % 3)
    options = {"types": "auto", **options}
    return DiscreteTable.from_data({name: values, "beside": beside}, **options)


def kind_of(values: Any, name: str = "x", **options: Any) -> tuple[str, str]:
    column = found(values, name, **options).types[name]
    return column.kind, column.treatment


CASES: list[tuple[str, Any, str, str]] = [
    ("booleans", [True, False, True] * 100, "nominal", "levels"),
    ("text", ["a", "b", "c"] * 100, "nominal", "levels"),
    ("few whole numbers", FEW, "ordinal", "levels"),
    ("few fractions", [0.5, 1.5, 2.5] * 100, "ordinal", "levels"),
    ("twenty numbers", [i % 20 for i in range(N_ROWS)], "ordinal", "levels"),
    ("one more", [i % 21 for i in range(N_ROWS)], "ordinal", "bins"),
    ("many whole numbers", MANY, "ordinal", "bins"),
    ("many whole floats", MANY.astype(float), "ordinal", "bins"),
    ("many whole numbers in a list", MANY.tolist(), "ordinal", "bins"),
    ("measurements", RNG.normal(size=N_ROWS), "continuous", "bins"),
    ("single precision", RNG.normal(size=N_ROWS).astype(np.float32), "continuous", "bins"),
    ("decimals", [Decimal(int(i)) / 8 for i in MANY], "continuous", "bins"),
    ("fractions", [Fraction(int(i), 9) for i in MANY], "continuous", "bins"),
    ("numbers as text", [f"{i}" for i in MANY], "ordinal", "bins"),
    ("decimal commas", [f"{i / 8}".replace(".", ",") for i in MANY], "continuous", "bins"),
    ("thousands", [f"{1000 * i:,}" for i in MANY], "ordinal", "bins"),
    ("money", [f"${i}.50" for i in MANY], "continuous", "bins"),
    ("numbers and a mark", ["?", *(f"{i}" for i in MANY[1:])], "ordinal", "bins"),
    ("numbers and text", [".", *MANY[1:].tolist()], "ordinal", "bins"),
    ("leading zeros", [f"{i % 99:03}" for i in MANY], "nominal", "levels"),
    ("dates", DAYS, "time", "bins"),
    ("instants", np.array(DAYS, "M8[s]"), "time", "bins"),
    ("few dates", [DAYS[i] for i in FEW], "time", "levels"),
    ("times of day", [time(i % 24, i % 60) for i in range(N_ROWS)], "time", "bins"),
    ("durations", [timedelta(seconds=int(i)) for i in MANY], "ordinal", "bins"),
    ("dates as text", [day.isoformat() for day in DAYS], "time", "bins"),
    ("days and months", [f"{day:%d.%m.%Y}" for day in DAYS], "time", "bins"),
    ("row numbers", RNG.permutation(N_ROWS), "identifier", "left out"),
    ("row numbers from 1", np.arange(1, N_ROWS + 1), "identifier", "left out"),
    ("names", [f"person {i}" for i in range(N_ROWS)], "identifier", "left out"),
    ("nearly names", [f"person {i % 200}" for i in range(N_ROWS)], "identifier", "left out"),
    ("towns", [f"town {i % 100}" for i in range(N_ROWS)], "nominal", "levels"),
    ("prose", [f"it was on day {i} that I saw her" for i in range(N_ROWS)], "text", "left out"),
    ("lists", [[1], [2], [3]] * 100, "nested", "left out"),
    ("nothing", [None] * N_ROWS, "empty", "left out"),
    ("nothing but marks", ["?", "NA", ""] * 100, "empty", "left out"),
    ("one value", [7] * N_ROWS, "ordinal", "levels"),
    ("truth and numbers", [True, 2, 3.5] * 100, "nominal", "levels"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("values", "kind", "treatment"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_what_is_found(values: Any, kind: str, treatment: str) -> None:
    assert kind_of(values) == (kind, treatment)


@pytest.mark.parametrize(
    "name", ["id", "ID", "customer_id", "userId", "Unnamed: 0", "patient", "row.names"]
)
def test_names_of_identifiers(name: str) -> None:
    assert kind_of(MANY, name) == ("identifier", "left out")
    assert kind_of(FEW, name) == ("ordinal", "levels")  # few are groups
    assert kind_of([f"p{i % 90}" for i in range(N_ROWS)], name) == ("identifier", "left out")


@pytest.mark.parametrize("name", ["paid", "humid", "grid", "idea", "index_of_health", "kidney"])
def test_names_of_others(name: str) -> None:
    assert kind_of(MANY, name) == ("ordinal", "bins")


@pytest.mark.parametrize("name", ["year", "time", "t", "Month"])
def test_time_may_number_the_rows(name: str) -> None:
    assert kind_of(np.arange(N_ROWS), name) == ("ordinal", "bins")


def test_a_table_of_codes_stays_one() -> None:
    """Known networks have columns of 67 levels; all of their columns are codes from 0 on."""
    codes: dict[str, Any] = {"a": np.arange(N_ROWS) % 67, "b": FEW, "c": [1, 2] * 150}
    table = DiscreteTable.from_data(codes, types="auto")
    assert table == DiscreteTable.from_data(codes)
    assert table.types["a"] == ColumnType("nominal", "levels", reason="codes, as in all columns")
    assert (
        DiscreteTable.from_data(np.column_stack(list(codes.values())), types="auto").types[0]
        == (table.types["a"])
    )
    for other in (np.arange(N_ROWS) % 67 + 2, np.arange(N_ROWS) % 67 * 2, np.arange(N_ROWS) % 150):
        mixed = DiscreteTable.from_data({**codes, "d": other}, types="auto")
        assert mixed.types["a"].treatment == mixed.types["d"].treatment == "bins"


def test_values_are_kept_beside_the_bins() -> None:
    values = MANY.astype(float)
    values[::10] = np.nan
    table = found(values)
    np.testing.assert_array_equal(table.numbers["x"], values)
    assert table.types["x"].missing == 30
    assert table.cuts["x"] == even_cuts(values[~np.isnan(values)])
    assert list(table.numbers) == ["x"]
    values[1] = -1.0  # the table has its own
    assert table.numbers["x"][1] != -1.0
    assert not table.numbers["x"].flags.writeable
    half = table.take(range(0, N_ROWS, 2))
    np.testing.assert_array_equal(half.numbers["x"], table.numbers["x"][::2])
    assert list(table.select(["beside"]).numbers) == []
    cut = found(values, discretize="quantile")
    assert list(cut.numbers) == ["x"]  # for strata of covariates
    assert not cut.has_ranks
    assert found(values, discretize={"x": "quantile"}).numbers == {}
    assert found(values, missing="level").numbers == {}


def test_bins_of_times_are_named_by_dates() -> None:
    assert found(DAYS).levels[0][0] == "< 2020-04-10"


@pytest.mark.parametrize(
    ("n_rows", "n_bins"), [(20, 2), (200, 3), (1_000, 4), (5_000, 5), (10**6, 8)]
)
def test_number_of_bins(n_rows: int, n_bins: int) -> None:
    assert len(even_cuts(np.arange(float(n_rows)))) == n_bins - 1


class TestRequests:
    def test_types_can_be_named(self) -> None:
        assert kind_of(MANY, types={"x": "nominal"}) == ("nominal", "levels")
        assert kind_of(FEW, types={"x": "identifier"}) == ("identifier", "left out")
        assert kind_of(FEW, types={"x": "text"}) == ("text", "left out")
        assert kind_of(np.arange(N_ROWS), types={"x": "ordinal"}) == ("ordinal", "bins")
        assert kind_of(RNG.normal(size=N_ROWS), types={"x": "nominal"})[1] == "levels"
        assert kind_of([f"p {i}" for i in range(N_ROWS)], types={"x": "nominal"})[1] == "levels"
        few = found(FEW, types={"x": "continuous"})
        assert few.types["x"].treatment == "levels"
        assert few.numbers["x"].tolist() == FEW  # for tests that take values
        assert found(["1", "2", "3"] * 100, types={"x": "ordinal"}).numbers["x"][1] == 2

    def test_types_that_were_found_can_be_named_again(self) -> None:
        first = found(MANY)
        again = found(MANY[:10], types=first.types)
        assert again.types["x"].kind == "ordinal"
        assert "x" in again.numbers

    def test_ordered_categories(self) -> None:
        names = [f"step {i}" for i in range(30)]
        values = pd.Categorical([names[i % 30] for i in range(N_ROWS)], names, ordered=True)
        assert kind_of(pd.Series(values)) == ("ordinal", "bins")
        assert found(pd.Series(values)).numbers["x"][:3].tolist() == [0, 1, 2]
        unordered = pd.Categorical([names[i % 30] for i in range(N_ROWS)], names)
        assert kind_of(pd.Series(unordered)) == ("nominal", "levels")

    def test_what_stands_for_a_missing_value(self) -> None:
        values = [str(i) for i in FEW]
        assert found([*values[:-2], "?", " NA "]).types["x"].missing == 2
        assert found([*values[:-1], "None"]).types["x"].missing == 0
        assert found(FEW, na_values=[2]).types["x"] == ColumnType(
            "ordinal", "levels", 100, "2 read as missing"
        )
        assert found(FEW, na_values={"x": ["2"]}).levels[0] == (0, 1)
        assert found(FEW, na_values={"beside": ["a"]}).types["x"].missing == 0
        assert found(values, na_values=["1"]).levels[0] == ("0", "2")
        assert found([*MANY[:-1], -9], na_values=[-9]).types["x"].missing == 1
        assert found([*MANY[:-1], np.inf], na_values=["inf"]).types["x"].missing == 1

    def test_missing_values(self) -> None:
        values = [None, *FEW[1:]]
        assert found(values).has_missing
        assert found(values, missing="level").levels[0] == (0, 1, 2, None)
        with pytest.raises(MissingValuesError, match=r"'x' \(1 missing, first in row 0\)"):
            found(values, missing="error")
        with pytest.raises(MissingValuesError, match="no values at all"):
            found([None] * 9, missing="error")

    def test_numbers_are_cut_as_asked(self) -> None:
        assert found(MANY, discretize={"x": [500.0]}).cuts == {"x": (500.0,)}
        assert found(np.arange(N_ROWS), discretize={"x": [9.0]}).cuts == {"x": (9.0,)}
        assert len(found(MANY, discretize="quantile", bins=6).cuts["x"]) == 5
        assert found(FEW, discretize="quantile").cuts == {}
        assert found([np.inf, *MANY[1:]], discretize="quantile").codes[0].max() == 3


BAD: list[tuple[Any, dict[str, Any], type[InputError], str]] = [
    (["a", "b"] * 9, {"types": {"x": "continuous"}}, DataError,
     "'x' is to be continuous, but holds no numbers: 'a', 'b'. Leave it out of 'types', or say"),
    (["a", "b"] * 9, {"types": {"x": "time"}}, DataError, "'x' is to be time, but holds no"),
    ([1.5, np.inf] * 9, {}, DataError,
     "finite numbers; got column 'x' holds 9 infinite values. .*na_values=.'inf', '-inf'"),
    ([1, 2], {"types": {"z": "nominal"}}, UnknownNameError, "In 'types': There is no column 'z'"),
    ([1, 2], {"types": {"x": "number"}}, UnknownNameError, "In 'types': There is no type .of col"),
    ([1, 2], {"types": {"x": 3}}, UnknownNameError, "There is no type .of column 'x'. 3"),
    ([1, 2], {"types": "loose"}, ParameterError, "'types' must be 'auto', 'strict', or map"),
    ([1, 2], {"types": None}, ParameterError, "'types' must be 'auto'"),
    ([1, 2], {"na_values": "?"}, ParameterError, r"'na_values' must be a list.*na_values=\['\?'\]"),
    ([1, 2], {"na_values": {"z": [1]}}, UnknownNameError, "In 'na_values'"),
    ([1, 2], {"na_values": [1], "types": "strict"}, ParameterError, "be left out with types='str"),
    ([1, 2], {"types": {"x": "nominal"}, "discretize": {"x": [1]}}, ParameterError,
     "'discretize' must not cut column 'x', whose type is to be 'nominal'"),
    (["a", "b"] * 9, {"discretize": {"x": [1]}}, DataError, "'x' is to be cut, but does not"),
]  # fmt: skip


@pytest.mark.parametrize(("values", "options", "error", "message"), BAD)
def test_bad_input(
    values: Any, options: dict[str, Any], error: type[InputError], message: str
) -> None:
    with pytest.raises(error, match=message):
        found(values, **options)


def test_all_problems_are_reported_together() -> None:
    data = {"a": [1.0, np.inf] * 9, "b": ["x", "y"] * 9, "c": [None, 1] * 9, "d": [-np.inf, 2] * 9}
    with pytest.raises(DataError) as caught:
        DiscreteTable.from_data(data, types={"b": "continuous"}, missing="error")
    for part in ("'c' (9 missing", "'b' is to be continuous", "'a' holds 9", "'d' holds 9"):
        assert part in str(caught.value)
    strict = {"a": [[1]] * 4, "b": [0.5, 1.5, 2.5, 3.5], "c": [1, None, 1, 2], "d": [{}] * 4}
    with pytest.raises(MissingValuesError) as caught:
        DiscreteTable.from_data(strict)
    for part in ("'c' (1 missing", "'a' holds values of type 'list'", "'d' holds", "'b' looks"):
        assert part in str(caught.value)


def test_nothing_is_left() -> None:
    with pytest.raises(DataError, match=r"a column that can be tested; got 'x'.*identif"):
        DiscreteTable.from_data({"x": [f"n{i}" for i in range(30)]}, types="auto")


CELLS = st.one_of(
    st.none(),
    st.integers(-3, 40),
    st.floats(allow_infinity=False),
    st.sampled_from(["a", "b", "?", "", "7", "2,5", "2020-01-01"]),
    st.booleans(),
    st.dates(),
)
COLUMNS = st.one_of(
    st.lists(CELLS, min_size=24, max_size=24),
    *(st.lists(cells, min_size=24, max_size=24) for cells in (
        st.integers(0, 30), st.floats(-5, 5), st.sampled_from("abc"), st.integers(0, 3),
    )),
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(COLUMNS, min_size=1, max_size=4), st.permutations(range(24)))
def test_any_table_and_any_order_of_rows(columns: list[list[Any]], rows: list[int]) -> None:
    data = {"whole": list(range(2, 26)), **{f"c{i}": column for i, column in enumerate(columns)}}
    table = DiscreteTable.from_data(data, types="auto")
    mixed = {name: [column[row] for row in rows] for name, column in data.items()}
    shuffled = DiscreteTable.from_data(mixed, types="auto")
    kinds = {name: (x.kind, x.treatment, x.missing) for name, x in table.types.items()}
    assert kinds == {n: (x.kind, x.treatment, x.missing) for n, x in shuffled.types.items()}
    assert table.cuts == shuffled.cuts
    assert table.take(rows) == shuffled
    assert set(table.types) == set(data)
    for name, levels in zip(table.names, table.levels, strict=True):
        assert set(table.codes[table.index(name)].tolist()) >= set(range(len(levels)))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_the_container_does_not_matter(data: st.DataObject) -> None:
    cells = {"n": st.integers(0, 60), "f": st.floats(-9, 9), "t": st.sampled_from(["u", "v", "?"])}
    columns = {
        name: data.draw(st.lists(st.none() | cell, min_size=40, max_size=40))
        for name, cell in cells.items()
    }
    columns["beside"] = ["x", "y"] * 20
    expected = DiscreteTable.from_data(columns, types="auto")
    frames: list[Any] = [pl.DataFrame(columns, strict=False), pd.DataFrame(columns)]
    for frame in [*frames, frames[0].to_arrow()]:
        table = DiscreteTable.from_data(frame, types="auto")
        assert table == expected
        assert table.types == expected.types


def read_text(texts: list[str]) -> list[float] | None:
    forms = tuple(read_forms(pl.Series(texts)))
    return read_form(pl.Series(texts), forms[0]).tolist() if forms else None


def test_times_and_numbers_in_text() -> None:
    days = read_text(["2/1/2020", "13/1/2020"])  # a month would be too large
    assert days is not None
    assert (days[1] - days[0]) / 86_400 == 11
    assert read_text(["2020-01-01T00:00:00Z", "2020-01-01T01:00:00+01:00"]) == [1577836800.0] * 2
    noon = read_text(["Jan 1 2000 12:00", "Jan 2 2000 12:00"])
    assert noon is not None
    assert noon[0] == (datetime(2000, 1, 1, 12) - datetime(1970, 1, 1)).total_seconds()
    for other in (["1.2.3"], ["1,2,3"], ["1,5", "1.5"], ["0x10"], ["1e"], ["--1"], [""], ["007"]):
        assert read_text(other) is None
