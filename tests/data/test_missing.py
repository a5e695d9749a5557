from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.data.read.table_files import read_table
from komb.data.table import DiscreteTable
from komb.errors import DataError, MissingValuesError, ParameterError
from tests.data.missing_values import MISSING
from tests.optional import pandas as pd
from tests.optional import pyarrow as pa

Values = list[Any]


def table(values: Any, missing: str = "testwise", **options: Any) -> DiscreteTable:
    data = values if hasattr(values, "columns") else {"x": values}
    return DiscreteTable.from_data(data, missing=missing, **options)


@pytest.mark.parametrize("values", MISSING)
def test_missing_values_of_every_kind(values: Any) -> None:
    marked = table(values)
    assert marked.codes.tolist() == [[1, 0, 1]]
    assert len(marked.levels[0]) == 1
    assert marked.cardinalities.tolist() == [1]
    assert marked.missing_counts.tolist() == [2]
    assert marked.has_missing
    level = table(values, "level")
    assert level.codes.tolist() == [[1, 0, 1]]
    assert level.levels[0] == (*marked.levels[0], None)
    assert not level.has_missing
    assert level.column("x") == marked.column("x") == [None, marked.levels[0][0], None]


KINDS: dict[str, tuple[st.SearchStrategy[Any], Callable[[Values], Any]]] = {
    "list": (st.sampled_from(["a", "b", "c"]), list),
    "numpy": (st.integers(0, 5).map(float), lambda v: np.array(v, float)),
    "numpy-object": (st.integers(0, 5), lambda v: np.array(v, object)),
    "masked": (
        st.integers(0, 5),
        lambda v: np.ma.MaskedArray([x or 0 for x in v], [x is None for x in v]),
    ),
    "pandas-float": (st.integers(0, 5).map(float), lambda v: pd.Series(v, dtype=float)),
    "pandas-object": (st.sampled_from(["a", 1, 2.5]), lambda v: pd.Series(v, dtype=object)),
    "pandas-text": (st.sampled_from("abc"), lambda v: pd.Series(v, dtype="string")),
    "pandas-int": (st.integers(0, 5), lambda v: pd.Series(v, dtype="Int64")),
    "pandas-boolean": (st.booleans(), lambda v: pd.Series(v, dtype="boolean")),
    "pandas-category": (
        st.sampled_from("abc"),
        lambda v: pd.Series(pd.Categorical(v, list("cba"))),
    ),
    "pandas-arrow": (st.integers(0, 5), lambda v: pd.Series(v, dtype=pd.ArrowDtype(pa.int64()))),
    "pandas-index": (st.integers(0, 5), lambda v: pd.Series(v, range(9, 9 + len(v)), "Int64")),
    "polars-int": (st.integers(0, 5), lambda v: pl.Series(v, dtype=pl.Int64)),
    "polars-text": (st.sampled_from("abc"), lambda v: pl.Series(v, dtype=pl.String)),
    "polars-category": (st.sampled_from("abc"), lambda v: pl.Series(v, dtype=pl.Categorical)),
    "polars-enum": (st.sampled_from("abc"), lambda v: pl.Series(v, dtype=pl.Enum(list("cba")))),
    "pyarrow-int": (st.integers(0, 5), lambda v: pa.chunked_array([v[:2], v[2:]], pa.int64())),
    "pyarrow-text": (
        st.sampled_from("abc"),
        lambda v: pa.chunked_array([v[:2], v[2:]], pa.string()),
    ),
    "pyarrow-dates": (st.dates(), lambda v: pa.array(v, pa.date32())),
}


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=15)
@given(st.data())
def test_marks_are_where_values_are_missing(kind: str, data: st.DataObject) -> None:
    strategy, wrap = KINDS[kind]
    values = data.draw(st.lists(strategy | st.none(), min_size=1, max_size=12))
    known = [value for value in values if value is not None]
    if not known:
        for mode in ("error", "level", "testwise"):
            with pytest.raises(MissingValuesError, match="Column 'x': no values at all"):
                table(wrap(values), mode)
        return
    marked, level = table(wrap(values)), table(wrap(values), "level")
    complete = table(wrap(known), "error")
    assert marked.has_missing == (len(known) < len(values))
    assert marked.column("x") == level.column("x") == values
    assert marked.levels == complete.levels
    assert level.levels[0] == (*complete.levels[0], *[None] * marked.has_missing)
    assert marked.codes.tolist() == level.codes.tolist()
    known_codes = [
        c for c, v in zip(marked.codes[0].tolist(), values, strict=True) if v is not None
    ]
    assert known_codes == complete.codes[0].tolist()


class TestAllMissing:
    @pytest.mark.parametrize("mode", ["error", "level", "testwise"])
    @pytest.mark.parametrize(
        "values",
        [
            [None, None],
            np.array([np.nan, np.nan]),
            pd.Series([None, None]),
            pd.Series([pd.NA, pd.NA], dtype="Int64"),
            pl.Series([None, None]),
            pl.Series([None, float("nan")]),
            pa.array([None, None]),
            np.ma.MaskedArray([1, 2], [True, True]),
        ],
    )
    @pytest.mark.parametrize("options", [{}, {"discretize": "quantile"}])
    def test_a_column_without_values(self, values: Any, mode: str, options: dict[str, Any]) -> None:
        data = {"y": [1, 2], "gone": values}
        with pytest.raises(MissingValuesError, match=r"'gone': no values.*exclude=\['gone'\]"):
            DiscreteTable.from_data(data, missing=mode, **options)
        assert DiscreteTable.from_data(data, missing=mode, exclude=["gone"]).names == ("y",)

    def test_several(self) -> None:
        data = {name: [None] for name in "abcdefg"}
        with pytest.raises(
            MissingValuesError, match=r"'d', 'e' and 2 more: no values.*: 'exclude'\."
        ):
            DiscreteTable.from_data(data, missing="level")

    def test_rows_that_leave_none(self) -> None:
        marked = DiscreteTable.from_data({"x": [1, None], "y": [1, 2]}, missing="testwise")
        with pytest.raises(MissingValuesError, match="'x': no values at all"):
            marked.take([1])
        assert marked.select(["y"]).take([1]).column("y") == [2]


class TestTable:
    data: dict[str, Values] = {"x": ["a", None, "c", "b"], "y": [1, 2, 1, 2]}  # noqa: RUF012

    def test_repr_and_equality(self) -> None:
        marked = DiscreteTable.from_data(self.data, missing="testwise")
        level = DiscreteTable.from_data(self.data, missing="level")
        assert repr(marked) == "DiscreteTable(4 rows x 2 columns, 2-3 levels, 1 missing value)"
        assert repr(level) == "DiscreteTable(4 rows x 2 columns, 2-4 levels)"
        assert marked != level
        assert marked == DiscreteTable.from_data(self.data, missing="testwise")
        assert level.missing_counts.tolist() == [0, 0]

    def test_a_complete_table_is_as_ever(self) -> None:
        complete = DiscreteTable.from_data({"y": [1, 2]})
        for mode in ("level", "testwise"):
            again = DiscreteTable.from_data({"y": [1, 2]}, missing=mode)
            assert again == complete
            assert not again.has_missing

    def test_select(self) -> None:
        marked = DiscreteTable.from_data(self.data, missing="testwise")
        assert marked.select(["x"]).has_missing
        assert not marked.select(["y"]).has_missing
        assert marked.select(["y", "x"]).column("x") == self.data["x"]

    @settings(deadline=None)
    @given(
        st.lists(st.none() | st.integers(0, 3), min_size=4, max_size=4),
        st.lists(st.integers(0, 3), min_size=1, max_size=9),
    )
    def test_take_is_encoding_the_chosen_rows(self, values: Values, rows: list[int]) -> None:
        left = [values[row] for row in rows]
        for mode in ("level", "testwise"):
            if all(value is None for value in left):
                continue
            taken = table(values, mode).take(rows)
            again = table(left, mode)
            assert taken.column("x") == left
            assert taken == again
            assert taken.has_missing == again.has_missing

    @pytest.mark.parametrize(("n_levels", "dtype"), [(255, np.uint8), (256, np.uint16)])
    def test_the_type_has_room_for_the_mark(self, n_levels: int, dtype: type) -> None:
        marked = table([*range(n_levels), None])
        assert marked.codes.dtype == dtype
        assert marked.codes[0, -1] == n_levels
        assert marked.select(["x"]).codes.dtype == dtype
        assert marked.take(range(n_levels)).codes.dtype == np.uint8

    def test_the_most_levels(self) -> None:
        marked = table([*range(65_535), None])
        assert marked.codes[0, -1] == 65_535
        assert marked.codes.dtype == np.uint16
        with pytest.raises(DataError, match="has 65,536 distinct values"):
            table([*range(65_535), None], "level")

    def test_an_encoded_table_is_what_it_is(self) -> None:
        marked = DiscreteTable.from_data(self.data, missing="testwise")
        assert DiscreteTable.from_data(marked) is marked
        assert DiscreteTable.from_data(marked, missing="testwise") is marked
        with pytest.raises(ParameterError, match="'missing' must be left out for a DiscreteTable"):
            DiscreteTable.from_data(marked, missing="level")
        complete = DiscreteTable.from_data({"x": [1, 2]})
        assert DiscreteTable.from_data(complete, missing="level") is complete


class TestCodes:
    codes = np.array([[0, 1], [-1, 0], [2, -1]])

    def test_minus_one_is_missing(self) -> None:
        marked = DiscreteTable.from_codes(self.codes, ["x", "y"], ["abc", "de"], missing="testwise")
        assert marked.column("x") == ["a", None, "c"]
        assert marked.levels == (("a", "c"), ("d", "e"))
        assert marked.has_missing
        level = DiscreteTable.from_codes(self.codes, missing="level")
        assert level.levels == ((0, 2, None), (0, 1, None))
        named = DiscreteTable.from_codes(self.codes, ["x", "y"], ["abc", "de"], missing="level")
        assert named.levels == (("a", "c", None), ("d", "e", None))

    def test_it_is_a_level_like_any_other_by_default(self) -> None:
        assert DiscreteTable.from_codes(self.codes).levels == ((-1, 0, 2), (-1, 0, 1))
        with pytest.raises(ParameterError, match=r"got -1.*missing='testwise'"):
            DiscreteTable.from_codes(self.codes, ["x", "y"], ["abc", "de"])

    def test_a_column_without_values(self) -> None:
        with pytest.raises(MissingValuesError, match="'y': no values at all"):
            DiscreteTable.from_codes([[0, -1]], ["x", "y"], missing="testwise")


class TestCutting:
    values = [*(i / 7 for i in range(40)), None, float("nan")]  # noqa: RUF012

    @pytest.mark.parametrize("wrap", [list, lambda v: np.array(v, float), pl.Series, pd.Series])
    def test_a_missing_value_is_in_no_bin(self, wrap: Callable[[Values], Any]) -> None:
        complete = table(self.values[:40], "error", discretize="quantile")
        marked = table(wrap(self.values), discretize="quantile")
        assert marked.cuts == complete.cuts
        assert marked.codes[0].tolist() == [*complete.codes[0].tolist(), 4, 4]
        assert marked.levels == complete.levels
        level = table(wrap(self.values), "level", discretize="quantile")
        assert level.levels[0] == (*complete.levels[0], None)

    def test_it_is_still_an_error_by_default(self) -> None:
        with pytest.raises(MissingValuesError, match=r"'x' \(2 missing, first in row 40\)"):
            table(self.values, "error", discretize="quantile")


@pytest.mark.parametrize(
    "field", ["", "NA", "N/A", "NaN", "nan", "null", "NULL", " ", '"NA"', " NA "]
)
def test_missing_fields_of_files(tmp_path: Any, field: str) -> None:
    path = tmp_path / "gaps.csv"
    path.write_text(f"x,y,z\n1,a,0.5\n{field},{field},{field}\n2,None,1.5\n")
    marked = read_table(path, missing="testwise")
    assert marked.levels == ((1, 2), ("None", "a"), (0.5, 1.5))
    assert marked.missing_counts.tolist() == [1, 1, 1]
    assert read_table(path, missing="level").column("x") == [1, None, 2]
