from __future__ import annotations

import datetime as dt
import math
import pickle
import warnings
from collections.abc import Callable
from decimal import Decimal
from inspect import signature
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.data import bins as cutting
from komb.data.bins import bins_of, label_bins, show_numbers
from komb.data.options import INTO_BINS, WAYS
from komb.data.read.table_files import read_table
from komb.data.table import DiscreteTable
from komb.errors import (
    ContinuousColumnError,
    DataError,
    InputError,
    MissingValuesError,
    ParameterError,
    UnknownNameError,
)
from tests import naive
from tests.optional import pandas as pd
from tests.optional import pyarrow as pa

RNG = np.random.default_rng(0)
MEASURED = RNG.normal(size=300)
LEVELS = RNG.integers(0, 3, 300)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=32)


def find_cuts(numbers: Any, way: str, bins: int) -> tuple[float, ...]:
    if way == "kmeans":
        return cutting.find_cuts_by_clusters(numbers, bins)
    return cutting.find_cuts(lambda: iter([numbers]), way, bins)


def table(data: object = None, **options: Any) -> DiscreteTable:
    return DiscreteTable.from_data(
        {"x": MEASURED, "y": LEVELS} if data is None else data, **options
    )


class TestLabels:
    @given(st.lists(st.floats(allow_nan=False, allow_infinity=False), unique=True, max_size=8))
    def test_they_tell_cuts_apart_and_in_order(self, points: list[float]) -> None:
        ascending = sorted({point + 0.0 for point in points})
        shown = [float(text) for text in show_numbers(ascending)]
        assert shown == sorted(set(shown))
        assert len(set(label_bins(ascending))) == len(ascending) + 1

    @pytest.mark.parametrize(
        ("points", "labels"),
        [
            ([], ["any value"]),
            ([0], ["< 0", ">= 0"]),
            ([-0.0], ["< 0", ">= 0"]),
            ([1 / 3, 2 / 3], ["< 0.3333", "0.3333 to 0.6667", ">= 0.6667"]),
            ([1949.5, 2003.5], ["< 1949.5", "1949.5 to 2003.5", ">= 2003.5"]),
            ([12345.678, 1e6], ["< 12346", "12346 to 1000000", ">= 1000000"]),
            ([1.0001, 1.00011], ["< 1.0001", "1.0001 to 1.00011", ">= 1.00011"]),
            ([1e-9, 1e20], ["< 1e-09", "1e-09 to 1e+20", ">= 1e+20"]),
        ],
    )
    def test_they_are_short(self, points: list[float], labels: list[str]) -> None:
        assert label_bins([float(point) for point in points]) == labels


class TestCuts:
    @settings(deadline=None, max_examples=30)
    @given(
        st.lists(NUMBERS | st.sampled_from([0.0, 1.0]), min_size=1, max_size=40),
        st.sampled_from(INTO_BINS),
        st.integers(2, 6),
    )
    def test_every_way_gives_ascending_cuts_that_split(
        self, values: list[float], way: str, bins: int
    ) -> None:
        numbers = np.array(values)
        cuts = find_cuts(numbers, way, bins)
        assert list(cuts) == sorted(set(cuts))
        assert len(cuts) <= bins - 1
        assert bool(cuts) == (len(set(values)) > 1)
        if cuts:
            assert min(values) < cuts[0]
            assert cuts[-1] <= max(values)
        assert find_cuts(numbers, way, bins) == cuts

    @settings(deadline=None, max_examples=50)
    @given(
        st.lists(NUMBERS | st.sampled_from([math.inf, -math.inf]), min_size=1, max_size=30),
        st.lists(NUMBERS, unique=True, max_size=5),
    )
    def test_a_value_on_a_cut_is_in_the_bin_above(
        self, values: list[float], points: list[float]
    ) -> None:
        cuts = sorted({point + 0.0 for point in points})
        more = [*cuts, *(1e39 + 1e38 * i for i in range(20))]  # then they are searched
        for points in (cuts, more):
            found = bins_of(np.array([*values, *cuts]), points).tolist()
            expected = [naive.discretization.bin_of(x, points) for x in [*values, *cuts]]
            assert found == expected

    @pytest.mark.parametrize("way", INTO_BINS)
    def test_they_are_those_of_scikit_learn(self, way: str) -> None:
        from sklearn.preprocessing import KBinsDiscretizer

        options = {"quantile_method": "linear"} if way == "quantile" else {}
        if "quantile_method" not in signature(KBinsDiscretizer).parameters:
            options = {}  # scikit-learn 1.6 knows one way only, this one
        fitted = KBinsDiscretizer(5, encode="ordinal", strategy=way, subsample=None, **options)
        theirs = fitted.fit_transform(MEASURED.reshape(-1, 1)).ravel()
        ours = table(discretize=way, bins=5)
        assert ours.codes[0].tolist() == theirs.tolist()
        assert ours.cuts["x"] == pytest.approx(fitted.bin_edges_[0][1:-1], rel=1e-12)

    @pytest.mark.parametrize("way", INTO_BINS)
    @pytest.mark.parametrize("scale", [1e-300, 1e-12, 1e12, 1e300])
    def test_the_scale_does_not_matter(self, way: str, scale: float) -> None:
        scaled = find_cuts(MEASURED * scale, way, 4)
        assert scaled == pytest.approx([c * scale for c in find_cuts(MEASURED, way, 4)], rel=1e-9)

    @pytest.mark.parametrize("way", INTO_BINS)
    def test_the_largest_floats_do_not_overflow(self, way: str) -> None:
        cuts = find_cuts(np.array([-1.7e308, 0.0, 1.7e308]), way, 2)
        assert len(cuts) == 1
        assert abs(cuts[0]) < 1e308

    def test_quantiles_of_tied_values(self) -> None:
        many_low = np.array([0.0] * 80 + list(range(1, 21)))
        assert find_cuts(many_low, "quantile", 4) == (1.0,)
        many_high = np.array([5.0] * 80 + [i / 10 for i in range(20)])
        assert find_cuts(many_high, "quantile", 4) == (5.0,)
        two = np.array([0.0, 0.0, 5.0, 5.0, 5.0])
        assert find_cuts(two, "quantile", 4) == (5.0,)

    def test_the_number_of_rows_in_bins_of_quantiles(self) -> None:
        counts = np.bincount(table(discretize="quantile", bins=3).codes[0])
        assert counts.tolist() == [100, 100, 100]

    def test_infinite_values_are_in_the_outermost_bins(self) -> None:
        values = [-math.inf] * 30 + list(np.linspace(0, 1, 40)) + [math.inf] * 30
        for way in INTO_BINS:
            column = table({"x": values}, discretize=way).column("x")
            assert column[0] == min(column, key=column.index) != column[-1]
            assert str(column[0]).startswith("<")
            assert str(column[-1]).startswith(">=")
        with pytest.raises(DataError, match="'x' holds infinite values only"):
            table({"x": [math.inf, -math.inf]}, discretize="quantile")
        points = table({"x": [math.inf, -math.inf]}, discretize={"x": [0]})
        assert points.column("x") == [">= 0", "< 0"]

    def test_nothing_is_warned_of_and_no_filter_is_left_behind(self) -> None:
        before = list(warnings.filters)
        for way in INTO_BINS:
            table({"x": [0.0] * 50 + [0.5] * 50 + [1 / 3]}, discretize={"x": way}, bins=30)
        assert warnings.filters == before


class TestWhichColumns:
    @pytest.mark.parametrize("way", WAYS)
    def test_numbers_with_many_values_are_cut_and_nothing_else(self, way: str) -> None:
        n = 300
        data = {
            "measured": MEASURED,
            "whole": np.arange(n),
            "float": np.arange(n) * 1.0,
            "few": np.arange(n) % 20,
            "halves": (np.arange(n) % 20) / 2,
            "text": [str(i) for i in range(n)],
            "flag": np.arange(n) % 2 == 0,
            "category": pd.Series(pd.Categorical(np.arange(n))),
            "day": [dt.date(2020, 1, 1) + dt.timedelta(i) for i in range(n)],
            "y": (np.arange(n) > 100) | (MEASURED > 0),
        }
        encoded = table(data, discretize=way, target="y")
        assert set(encoded.cuts) == {"measured", "whole", "float"}
        assert encoded.cardinalities.tolist()[3:] == [20, 20, n, 2, n, n, 2]

    def test_twenty_values_are_few_and_twenty_one_many(self) -> None:
        values = list(range(21)) * 5
        assert "x" in table({"x": values}, discretize="quantile").cuts
        assert "x" not in table({"x": [v % 20 for v in values]}, discretize="quantile").cuts
        gaps = [*[v % 20 for v in values], None]
        assert "x" not in table({"x": gaps}, discretize="quantile", missing="level").cuts

    def test_what_looks_continuous_in_few_rows_is_cut(self) -> None:
        values = [0.5, 0.25, 0.125, 0.75]
        assert table({"x": values}, discretize="quantile", bins=2).codes.tolist() == [[1, 0, 0, 1]]

    def test_values_that_come_late(self) -> None:
        late = np.concatenate([np.zeros(5000), np.arange(100)])
        assert "x" in table({"x": late}, discretize="uniform").cuts
        identifier = np.arange(70_000)
        assert table({"x": identifier}, discretize="uniform").cardinalities.tolist() == [4]
        repeated = np.concatenate([np.zeros(5000), np.arange(70_000)])
        assert table({"x": repeated}, discretize="uniform").cardinalities.tolist() == [4]

    def test_a_mapping_cuts_the_named_and_leaves_the_others(self) -> None:
        data = {"a": [1, 2, 3, 4], "b": [1, 2, 3, 4], "c": [1, 2, 3, 4]}
        encoded = table(data, discretize={"a": [2, 4], "b": "quantile"}, bins={"b": 2})
        assert encoded.column("a") == ["< 2", "2 to 4", "2 to 4", ">= 4"]
        assert encoded.column("b") == ["< 2.5", "< 2.5", ">= 2.5", ">= 2.5"]
        assert encoded.column("c") == [1, 2, 3, 4]
        assert dict(encoded.cuts) == {"a": (2.0, 4.0), "b": (2.5,)}

    @pytest.mark.parametrize(
        "points", [(2, 4), range(2, 5, 2), np.array([2, 4]), pd.Series([2, 4])]
    )
    def test_cut_points_in_any_kind_of_list(self, points: Any) -> None:
        assert table({"a": [1, 2, 3, 4]}, discretize={"a": points}).cuts["a"] == (2.0, 4.0)

    def test_a_continuous_column_that_a_mapping_forgets(self) -> None:
        with pytest.raises(
            ContinuousColumnError,
            match=r"'x' looks .* how to cut it too: discretize={'x': 'quantile'}",
        ):
            table(discretize={"y": [1]})

    def test_a_column_that_is_constant_or_not_cut(self) -> None:
        encoded = table({"x": [3, 3, 3], "y": [1, 2, 3]}, discretize={"x": "kmeans", "y": []})
        assert encoded.levels == (("any value",), ("any value",))
        assert dict(encoded.cuts) == {"x": (), "y": ()}

    @pytest.mark.parametrize("values", [["a", "b"], [True, False], [dt.date(2020, 1, 1)] * 2])
    def test_only_numbers_can_be_cut(self, values: list[Any]) -> None:
        for data in ({"x": values}, {"x": np.array(values)}, pl.DataFrame({"x": values})):
            with pytest.raises(
                DataError, match="Column 'x' is to be cut, but does not hold numbers"
            ):
                table(data, discretize={"x": "quantile"})

    @pytest.mark.parametrize(
        "wrap",
        [
            list,
            np.array,
            lambda v: np.array(v, np.float32),
            lambda v: np.array(v, object),
            lambda v: np.array(v, np.longdouble),
            lambda v: [Decimal(x) for x in v],
            pd.Series,
            lambda v: pd.Series(v, dtype="Float64"),
            lambda v: pd.Series(v, dtype=object),
            pl.Series,
            lambda v: pl.Series(v).cast(pl.Decimal(10, 3)),
            pa.array,
            lambda v: pa.chunked_array([v[:5], v[5:]]),
        ],
    )
    def test_every_kind_of_number(self, wrap: Callable[[list[float]], Any]) -> None:
        values = [i / 8 for i in range(30)]
        encoded = table({"x": wrap(values)}, discretize="quantile", bins=3)
        assert encoded.codes[0].tolist() == [0] * 10 + [1] * 10 + [2] * 10

    def test_integers_of_every_kind(self) -> None:
        values = list(range(30))
        for column in (
            values,
            pd.Series(values, dtype="Int64"),
            pd.Series(values, dtype=pd.ArrowDtype(pa.int8())),
            pl.Series(values, dtype=pl.Int128),
            np.array(values, np.uint64),
            [*values[:-1], 10**400],
        ):
            encoded = table({"x": column}, discretize={"x": [10, 20]})
            assert encoded.codes[0].tolist() == [0] * 10 + [1] * 10 + [2] * 10
        matrix = np.array([values, [v % 2 for v in values]]).T
        assert table(matrix, discretize="quantile").cardinalities.tolist() == [4, 2]
        assert dict(table(matrix, discretize={0: [15]}).cuts) == {0: (15.0,)}


class TestMdl:
    def test_it_cuts_by_the_target(self) -> None:
        data = {"x": MEASURED, "noise": RNG.normal(size=300), "y": (MEASURED > 0.5) * 1}
        encoded = table(data, discretize="mdl", target="y")
        assert len(encoded.cuts["x"]) == 1
        assert encoded.codes[0].tolist() == encoded.codes[2].tolist()
        assert encoded.cuts["noise"] == ()
        assert encoded.levels[1] == ("any value",)

    def test_the_target_may_be_cut_in_another_way(self) -> None:
        data = {"x": MEASURED, "y": MEASURED * 2}
        encoded = table(data, discretize={"x": "mdl", "y": [0]}, target="y")
        assert encoded.codes[0].tolist() == encoded.codes[1].tolist()

    def test_a_target_of_many_whole_numbers_keeps_its_levels(self) -> None:
        data = {"x": MEASURED, "y": np.arange(300) % 30}
        assert len(table(data, discretize="mdl", target="y").levels[1]) == 30

    def test_a_continuous_target_is_an_error(self) -> None:
        with pytest.raises(ContinuousColumnError, match=r"'y' looks continuous.*'y': 'quantile'"):
            table({"x": MEASURED, "y": MEASURED}, discretize="mdl", target="y")

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"discretize": "mdl"}, "'discretize' must come with 'target'"),
            ({"discretize": {"x": "mdl"}}, "'discretize' must come with 'target'"),
            ({"discretize": "mdl", "target": "z"}, "In 'target': There is no column 'z'"),
            ({"discretize": {"y": "mdl"}, "target": "y"}, "not cut the target by 'mdl'"),
        ],
    )
    def test_it_needs_a_target(self, options: dict[str, Any], message: str) -> None:
        with pytest.raises(InputError, match=message):
            table(**options)

    def test_rows_with_gaps_have_no_say(self) -> None:
        half = np.arange(100) / 7
        classes: list[Any] = (half > 7).astype(int).tolist()
        strange = table(
            {"x": [*half, math.nan, 3.0], "y": [*classes, 1, None]},
            discretize="mdl", target="y", missing="testwise",
        )  # fmt: skip
        plain = table({"x": half, "y": classes}, discretize="mdl", target="y")
        assert strange.cuts == plain.cuts
        assert len(plain.cuts["x"]) == 1
        with pytest.raises(MissingValuesError, match=r"'y' \(1 missing"):
            table({"x": half[:2], "y": [1, None]}, discretize="mdl", target="y")

    def test_no_row_with_both(self) -> None:
        data = {"x": [0.1, 0.2, 0.3, None, None], "y": [None, None, None, 0, 1]}
        encoded = table(data, discretize="mdl", target="y", missing="testwise")
        assert dict(encoded.cuts) == {"x": ()}


class TestReuse:
    @settings(deadline=None, max_examples=25)
    @given(st.sampled_from(INTO_BINS), st.integers(2, 5), st.data())
    def test_cuts_of_one_table_fit_another(self, way: str, bins: int, data: st.DataObject) -> None:
        old = table(discretize=way, bins=bins)
        fresh = data.draw(st.lists(st.floats(allow_nan=False, width=32), min_size=1, max_size=20))
        new = table({"x": fresh, "y": [0] * len(fresh)}, discretize=old.cuts)
        labels = label_bins(old.cuts["x"])
        assert new.column("x") == [
            labels[naive.discretization.bin_of(v, old.cuts["x"])] for v in fresh
        ]
        assert new.cuts == old.cuts

    def test_the_same_data_give_the_same_table(self) -> None:
        for way in WAYS:
            old = table(discretize=way, target="y")
            assert table(discretize=old.cuts) == old

    def test_cuts_survive(self) -> None:
        old = table(discretize="quantile")
        assert pickle.loads(pickle.dumps(old)) == old
        assert old.take(range(10)).cuts == old.cuts
        assert old.select(["x"]).cuts == old.cuts
        assert dict(old.select(["y"]).cuts) == {}
        assert DiscreteTable.from_data(old, exclude=["y"]).cuts == old.cuts
        with pytest.raises(TypeError):
            old.cuts["x"] = ()  # type: ignore[index]
        assert old != DiscreteTable(old.names, old.parts, old.levels)

    def test_an_encoded_table_cannot_be_cut(self) -> None:
        message = r"'discretize' must be left out.*komb\.table\(data, discretize="
        with pytest.raises(ParameterError, match=message):
            table(table(discretize="quantile"), discretize="quantile")

    def test_files(self, tmp_path: Any) -> None:
        path = tmp_path / "x.csv"
        pl.DataFrame({"x": MEASURED, "y": LEVELS}).write_csv(path)
        found = read_table(path, types="strict", discretize="quantile", bins=3)
        assert found == table(discretize="quantile", bins=3)
        assert read_table(path, discretize="mdl", target="y").cuts == {"x": ()}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"discretize": "quantil"}, UnknownNameError, "In 'discretize'.*Did you mean 'quantile'"),
        ({"discretize": {"x": "mld"}}, UnknownNameError, "In 'discretize'.*Did you mean 'mdl'"),
        ({"discretize": True}, ParameterError, "'discretize' must be one of 'quantile'.*got True"),
        ({"discretize": [1, 2]}, ParameterError, "or map columns.*Try discretize='quantile'"),
        ({"discretize": {"z": "mdl"}}, UnknownNameError, "In 'discretize': There is no column 'z'"),
        ({"discretize": {"x": [2, 1]}}, ParameterError, r"ascending finite.*of 'x'; got \[2, 1\]"),
        ({"discretize": {"x": [1, 1]}}, ParameterError, "ascending finite numbers"),
        ({"discretize": {"x": [1, math.inf]}}, ParameterError, "ascending finite numbers"),
        ({"discretize": {"x": [math.nan]}}, ParameterError, "ascending finite numbers"),
        ({"discretize": {"x": ["1"]}}, ParameterError, "ascending finite numbers"),
        ({"discretize": {"x": [True]}}, ParameterError, "ascending finite numbers"),
        ({"discretize": {"x": 5}}, ParameterError, "ascending finite numbers"),
        ({"discretize": {"x": {1, 2}}}, ParameterError, "ascending finite numbers"),
        ({"discretize": {"x": None}}, ParameterError, "ascending finite numbers"),
        ({"discretize": "uniform", "bins": 1}, ParameterError, "'bins' must be a whole number, at"),
        ({"discretize": "uniform", "bins": 2.5}, ParameterError, "'bins' must be a whole number"),
        ({"discretize": "uniform", "bins": 10**6}, ParameterError, "at most 65535; got 1000000"),
        (
            {"discretize": "uniform", "bins": {"x": 1}},
            ParameterError,
            "for 'x'; got 1. Try bins={'x",
        ),
        ({"discretize": "uniform", "bins": {"z": 3}}, UnknownNameError, "In 'bins': There is no c"),
        ({"bins": 3}, ParameterError, "'bins' must be left out where nothing is cut"),
        ({"discretize": {"x": [0]}, "bins": 3}, ParameterError, "'bins' must be left out"),
        ({"discretize": {"x": [0]}, "bins": {"y": 3}}, ParameterError, "'y' is not; got"),
        ({"missing": "levle"}, UnknownNameError, "In 'missing'.*Did you mean 'level'"),
        ({"missing": 0}, UnknownNameError, "In 'missing'"),
    ],
)
def test_bad_options(options: dict[str, Any], error: type[InputError], message: str) -> None:
    with pytest.raises(error, match=message):
        table(**options)


def test_options_are_checked_before_the_data() -> None:
    with pytest.raises(UnknownNameError, match="'missing'"):
        table({"x": [object]}, missing="drop")


def test_a_rule_may_name_a_column_that_is_left_out() -> None:
    encoded = table(discretize={"x": "quantile"}, exclude=["x"])
    assert encoded.names == ("y",)
