from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.data.table import DiscreteTable
from komb.errors import ContinuousColumnError, DataError, MissingValuesError
from tests.data.missing_values import MISSING, series
from tests.optional import pandas as pd
from tests.optional import pyarrow as pa


def encode(values: object) -> tuple[list[int], tuple[object, ...]]:
    """Encode one column, in a mapping unless it is a table already."""
    table = DiscreteTable.from_data(values if hasattr(values, "columns") else {"x": values})
    return table.codes[0].tolist(), table.levels[0]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64])
def test_integers_of_every_size(dtype: type[np.integer[Any]]) -> None:
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    assert encode(np.array([high, low, high], dtype)) == ([1, 0, 1], (low, high))
    everything = np.arange(max(low, -100), 100).astype(dtype)
    assert encode(everything)[1] == tuple(everything.tolist())


def test_large_unsigned_integers() -> None:
    values = np.array([2**64 - 1, 0, 2**63], np.uint64)
    assert encode(values) == ([2, 0, 1], (0, 2**63, 2**64 - 1))


@settings(deadline=None)
@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=50), st.integers(1, 30))
def test_long_columns_agree_with_unique(seen: list[int], repeats: int) -> None:
    values = np.array(seen * repeats * 7)
    levels, codes = np.unique(values, return_inverse=True)
    assert encode(values) == (codes.tolist(), tuple(levels.tolist()))


@pytest.mark.parametrize("dtype", [np.int64, np.float64, "U8"])
def test_levels_that_come_late(dtype: Any) -> None:
    values = np.array([5] * 5000 + [3, 9, 5, 1]).astype(dtype)
    codes, levels = encode(values)
    assert levels == tuple(np.array([1, 3, 5, 9]).astype(dtype).tolist())
    assert np.array(levels)[codes].tolist() == values.tolist()


@pytest.mark.parametrize(
    "values",
    [
        np.array([True, False]),
        [True, False],
        pd.Series([True, False], dtype="boolean"),
        pl.Series([True, False]),
        pa.array([True, False]),
    ],
)
def test_booleans_stay_booleans(values: Any) -> None:
    codes, levels = encode(values)
    assert codes == [1, 0]
    assert levels == (False, True)
    assert all(isinstance(level, bool) for level in levels)


@pytest.mark.parametrize(
    "values",
    [
        series(["b", "a", "b"]),
        series(["b", "a", "b"], object),
        series(["b", "a", "b"], "string"),
        series(["b", "a", "b"], pd.ArrowDtype(pa.string())),
        pl.DataFrame({"x": ["b", "a", "b"]}),
        pl.DataFrame({"x": ["b", "a", "b"]}, schema={"x": pl.Categorical}),
        pa.table({"x": ["b", "a", "b"]}),
        pa.table({"x": pa.chunked_array([["b"], [], ["a", "b"]], pa.large_string())}),
        np.array(["b", "a", "b"]),
        np.array(["b", "a", "b"], object),
        np.array(["b", "a", "b"], np.dtypes.StringDType()),
        ["b", "a", "b"],
    ],
)
def test_text_is_sorted(values: Any) -> None:
    codes, levels = encode(values)
    assert codes == [1, 0, 1]
    assert levels == ("a", "b")
    assert all(type(level) is str for level in levels)


def dictionaries(*chunks: list[str]) -> pa.Table:
    return pa.table({"x": pa.chunked_array([pa.array(c).dictionary_encode() for c in chunks])})


@pytest.mark.parametrize(
    "values",
    [
        series(pd.Categorical(["lo", "hi", "lo"], ["lo", "mid", "hi"])),
        series(pd.Categorical(["lo", "hi", "lo"], ["lo", "mid", "hi"], ordered=True)),
        pl.DataFrame({"x": ["lo", "hi", "lo"]}, schema={"x": pl.Enum(["lo", "mid", "hi"])}),
        dictionaries(["lo", "hi", "lo"]),
        dictionaries(["lo"], ["hi", "lo"]),
    ],
)
def test_categories_keep_their_order_and_lose_the_unused(values: Any) -> None:
    assert encode(values) == ([0, 1, 0], ("lo", "hi"))


def test_categories_need_not_be_text() -> None:
    assert encode(series(pd.Categorical([30, 5], [30, 5]))) == ([0, 1], (30, 5))
    binned = encode(series(pd.cut([1.5, 2.5, 9.25], 2)))
    assert binned[0] == [0, 0, 1]
    arrow = pa.table({"x": pa.array(["b", "a"]).dictionary_encode()})
    assert encode(arrow.to_pandas(types_mapper=pd.ArrowDtype)) == ([1, 0], ("a", "b"))


MOMENTS = [dt.datetime(2021, 5, 1, 12), dt.datetime(2020, 1, 1)]
DAYS = [moment.date() for moment in MOMENTS]
SPANS = [dt.timedelta(2), dt.timedelta(1)]
TIMES = [dt.time(13), dt.time(2)]


@pytest.mark.parametrize("values", [MOMENTS, DAYS, SPANS, TIMES])
@pytest.mark.parametrize("wrap", [list, series, pl.Series, lambda v: pa.table({"x": v})])
def test_dates_and_times(values: list[Any], wrap: Callable[[list[Any]], Any]) -> None:
    assert encode(wrap(values)) == ([1, 0], tuple(sorted(values)))


@pytest.mark.parametrize("unit", ["s", "us", "ns"])
def test_numpy_dates(unit: str) -> None:
    assert encode(np.array(MOMENTS, f"M8[{unit}]")) == ([1, 0], tuple(sorted(MOMENTS)))
    assert encode(np.array(SPANS, f"m8[{unit}]")) == ([1, 0], tuple(sorted(SPANS)))


def test_nanoseconds_are_not_rounded() -> None:
    values = np.array([2, 1], "M8[ns]")
    assert encode(values) == ([1, 0], (values[1], values[0]))


def test_time_zones_survive() -> None:
    aware = pd.to_datetime(["2021-01-02", "2020-01-01"]).tz_localize("UTC")
    levels = encode(series(aware))[1]
    assert [level.tzinfo is not None for level in levels] == [True, True]  # type: ignore[attr-defined]
    assert levels[0] == dt.datetime(2020, 1, 1, tzinfo=dt.UTC)


def test_other_types_of_dataframes() -> None:
    assert encode(pl.Series([2, 1], dtype=pl.Int128)) == ([1, 0], (1, 2))
    assert encode(pl.Series([Decimal("1.5"), Decimal(1)])) == ([1, 0], (1, Decimal("1.5")))
    assert encode(pl.Series([b"b", b"a"])) == ([1, 0], (b"a", b"b"))
    assert encode(series([2, 1], "Int64")) == ([1, 0], (1, 2))
    assert encode(series([2.0, 1.0], "Float64")) == ([1, 0], (1.0, 2.0))
    assert encode(series(pd.period_range("2020", periods=2, freq="M")))[0] == [0, 1]


def test_numpy_text_of_bytes_and_complex_numbers() -> None:
    assert encode(np.array([b"b", b"a"])) == ([1, 0], (b"a", b"b"))
    assert encode(np.array([2j, 1j])) == ([1, 0], (1j, 2j))


def test_numpy_scalars_become_plain() -> None:
    levels = encode([np.int64(2), np.str_("x"), np.bool_(False)])[1]
    assert {type(level) for level in levels} == {int, str, bool}
    assert encode([np.datetime64(1, "ns")])[1] == (np.datetime64(1, "ns"),)


def test_values_that_cannot_be_compared_are_sorted_by_type_and_text() -> None:
    assert encode(["b", 2, "a", 1.5, (1, 2)])[1] == (1.5, 2, "a", "b", (1, 2))


def test_equal_values_are_one_level() -> None:
    assert encode([1, 1.0, True, 2])[0] == [0, 0, 0, 1]


@pytest.mark.parametrize("values", [[0.0, -0.0], [0.0, -0.0, 0.5, 0.5, 0.5]])
def test_negative_zero_is_zero(values: list[float]) -> None:
    for column in (values, np.array(values), np.array(values, np.float32)):
        codes, levels = encode(column)
        assert codes[:2] == [0, 0]
        assert str(levels[0]) == "0.0"


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
def test_floats_that_are_whole_or_few(dtype: type[np.floating[Any]]) -> None:
    assert encode(np.array([3, 1, 3], dtype)) == ([1, 0, 1], (1.0, 3.0))
    assert encode(np.array([0.5, 0.25], dtype)) == ([1, 0], (0.25, 0.5))
    assert all(type(level) is float for level in encode(np.array([0.5, 1], dtype))[1])


def test_whole_floats_beyond_the_integers() -> None:
    assert encode(np.array([1e300, -1e300, 2.0**60])) == ([2, 0, 1], (-1e300, 2.0**60, 1e300))
    assert len(encode(np.arange(1000.0))[1]) == 1000


@pytest.mark.parametrize(
    ("n_rows", "limit"), [(1, 2), (2, 2), (3, 2), (5, 2), (6, 3), (40, 20), (10_000, 20)]
)
@pytest.mark.parametrize("wrap", [list, np.array, pl.Series])
def test_where_continuous_begins(n_rows: int, limit: int, wrap: Callable[[Any], Any]) -> None:
    few = [0.5 + i % min(limit, n_rows) for i in range(n_rows)]
    assert len(encode(wrap(few))[1]) == min(limit, n_rows)
    if n_rows > limit:
        many = [0.5 + i % (limit + 1) for i in range(n_rows)]
        with pytest.raises(ContinuousColumnError, match=f"{limit + 1} distinct values"):
            encode(wrap(many))


def test_continuous_message() -> None:
    values = np.random.default_rng(0).normal(size=5000)
    with pytest.raises(ContinuousColumnError) as caught:
        DiscreteTable.from_data({"a": [1] * 5000, "x": values, "y": values, "z": values.tolist()})
    assert str(caught.value) == (
        "Column 'x' looks continuous: 5,000 distinct values in 5,000 rows, not all of them whole "
        "numbers; columns must hold discrete levels. So do: 'y', 'z'. Have types found: "
        "types='auto'; or have such columns cut into bins: discretize='quantile'; or say where to "
        "cut: discretize={'x': [1.5, 2.5]}."
    )


def test_continuous_values_that_come_late() -> None:
    late = np.concatenate([np.full(5000, 0.5), np.linspace(0, 1, 100)])
    with pytest.raises(ContinuousColumnError, match="101 distinct values in 5,100 rows"):
        encode(late)
    later = np.concatenate([np.full(5000, 0.5), np.linspace(0, 1, 70_000)])
    with pytest.raises(ContinuousColumnError, match="70,001 distinct"):
        encode(later)


@pytest.mark.parametrize(
    "values", [np.array([1.0, np.inf]), [1.0, -np.inf], [Decimal("Infinity"), Decimal(1)]]
)
def test_infinite_values(values: Any) -> None:
    with pytest.raises(ContinuousColumnError, match="'x' holds infinite values"):
        encode(values)


@pytest.mark.parametrize("kind", [float, Decimal, Fraction])
def test_continuous_objects(kind: Callable[[float], Any]) -> None:
    with pytest.raises(ContinuousColumnError, match="3 distinct values in 3 rows"):
        encode([kind(0.5), kind(0.25), 3])
    with pytest.raises(ContinuousColumnError, match="infinite"):
        encode([kind(0.5), 10**400])
    assert len(encode([kind(0.5), kind(0.25), "rest"])[1]) == 3


@pytest.mark.parametrize("values", MISSING)
def test_missing_values_of_every_kind(values: Any) -> None:
    with pytest.raises(MissingValuesError, match=r"'x' \(2 missing, first in row 0\)"):
        encode(values)


def test_missing_values_are_gathered_over_all_columns() -> None:
    columns: dict[str, list[Any]] = {f"c{i}": [1, None, 2] for i in range(7)}
    columns["full"] = [0.5, 0.25, 0.125]  # continuous, and that is said as well
    columns["last"] = [None, None, None]
    with pytest.raises(MissingValuesError) as caught:
        DiscreteTable.from_data(columns)
    each = "(1 missing, first in row 1)"
    assert str(caught.value) == (
        "'data' must have no missing values; got 10 in 8 columns, counting rows from 0: "
        f"'c0' {each}, 'c1' {each}, 'c2' {each}, 'c3' {each}, 'c4' {each} and 3 more. "
        "Say what to do: missing='testwise' makes each test on the rows that are complete for its "
        "columns, missing='level' gives them a level of their own. Or drop those rows first: "
        "df = df.dropna(). Leave out what has no value in any row: exclude=['last']. Also: Column "
        "'full' looks continuous: 3 distinct values in 3 rows, not all of them whole numbers; "
        "columns must hold discrete levels. Have types found: types='auto'; or have such columns "
        "cut into bins: discretize='quantile'; or say where to cut: discretize={'full': [1.5, "
        "2.5]}."
    )


def test_values_that_refuse_comparison_are_not_missing() -> None:
    class Stubborn:
        def __ne__(self, other: object) -> bool:
            raise TypeError

        def __hash__(self) -> int:
            return 1

    assert encode([Stubborn()])[0] == [0]


@pytest.mark.parametrize("values", [[[1], [2]], ["a", {1: 2}], pl.Series([[1], [2]])])
def test_unhashable_values(values: Any) -> None:
    with pytest.raises(DataError, match=r"'x' holds values of type '(list|dict)' \(first in row"):
        encode(values)


def test_structured_columns() -> None:
    with pytest.raises(DataError, match="Make one column of each field"):
        encode(np.zeros(2, [("a", int)]))


def many(kind: str, count: int) -> Any:
    numbers = np.arange(count)
    if kind == "objects":
        return numbers.tolist()
    if kind == "matrix":
        return numbers.reshape(-1, 1)
    if kind == "sparse":
        return numbers * 10**9
    if kind == "polars-text":
        return pl.DataFrame({"x": numbers}).cast(pl.String)
    if kind == "pandas-text":
        return series(numbers.astype(str))
    if kind == "pyarrow-text":
        return pa.table({"x": numbers.astype(str).tolist()})
    dtypes: dict[str, Any] = {"integers": np.int64, "text": "U8", "floats": np.float64}
    return numbers.astype(dtypes[kind])


@pytest.mark.parametrize(
    "kind",
    [
        "integers",
        "matrix",
        "sparse",
        "text",
        "floats",
        "objects",
        "polars-text",
        "pandas-text",
        "pyarrow-text",
    ],
)
def test_65535_levels_and_no_more(kind: str) -> None:
    def build(count: int) -> DiscreteTable:
        data = many(kind, count)
        is_table = hasattr(data, "columns") or kind == "matrix"
        return DiscreteTable.from_data(data if is_table else {"x": data})

    table = build(65_535)
    assert table.cardinalities.tolist() == [65_535]
    assert table.codes.dtype == np.uint16
    with pytest.raises(DataError, match="has 65,536 distinct values; a column must have at most"):
        build(65_536)


def test_too_many_levels_names_column_and_remedy() -> None:
    data = np.stack([np.zeros(70_000, int), np.arange(70_000)], axis=1)
    with pytest.raises(DataError, match=r"Column 1 has 70,000 .* Drop it if it is an identifier"):
        DiscreteTable.from_data(data)
    with pytest.raises(DataError, match="Column 'id' has 65,536"):
        DiscreteTable.from_codes(data[:65_536], ["x", "id"])
