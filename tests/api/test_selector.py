"""The selector for scikit-learn: its manners, what it selects, what it refuses."""

# ruff: noqa: N803, N806 - X is what scikit-learn calls a table of features

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csc_matrix, csr_array, issparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, ParameterGrid, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import Tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import komb
from komb import MarkovBlanketSelector
from komb.api.selector import _columns_of
from komb.citests import CITest, Measurement
from komb.citests.registry import TESTS, register_test
from komb.errors import (
    ContinuousColumnError,
    DataError,
    MissingValuesError,
    ParameterError,
    UnknownNameError,
)
from tests.optional import pandas as pd


class Measuring(MarkovBlanketSelector):
    """Does not mention that it takes categories, and so is checked with continuous features."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = False
        return tags


@pytest.mark.filterwarnings("ignore:No features were selected")
@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [
        MarkovBlanketSelector(),
        MarkovBlanketSelector(
            reading={"discretize": "mdl", "missing": "level"}, handle_unknown="ignore"
        ),
        Measuring(reading={"discretize": "quantile"}),
        Measuring(reading={"discretize": "uniform", "bins": 3, "missing": "testwise"}),
    ]
)
def test_scikit_learns_checks(
    estimator: Any, check: Callable[[Any], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    # One of the checks wants this set, or skips itself.
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    check(estimator)


RNG = np.random.default_rng(0)
COINS = RNG.integers(0, 2, (600, 6))
XOR = COINS[:, 1] ^ COINS[:, 4] ^ (RNG.random(600) < 0.05)
"""Only columns 1 and 4 matter, and only together."""

NAMES = [f"coin{i}" for i in range(6)]


def mixed(n_rows: int = 600) -> tuple[pd.DataFrame, pd.Series[Any]]:
    """Text, categories, booleans, integers and measurements; ``hall`` xor ``stairs`` decides."""
    rng = np.random.default_rng(1)
    hall, stairs, guests = rng.integers(0, 2, (3, n_rows))
    X = pd.DataFrame(
        {
            "hall": np.where(hall, "up", "down"),
            "weather": pd.Categorical(rng.choice(["sun", "fog", "rain"], n_rows)),
            "stairs": pd.Categorical(np.where(stairs, "up", "down"), ["up", "down"]),
            "guests": guests.astype(bool),
            "day": rng.integers(1, 8, n_rows),
            "volts": rng.normal(size=n_rows),
        }
    )
    wrong = rng.random(n_rows) < 0.05
    return X, pd.Series(np.where(hall ^ stairs ^ wrong, "on", "off"), name="lamp")


class TestSelection:
    def test_members_that_show_only_together(self) -> None:
        selector = MarkovBlanketSelector().fit(COINS, XOR)
        assert selector.get_support().tolist() == [False, True, False, False, True, False]
        assert selector.get_support(indices=True).tolist() == [1, 4]
        assert selector.get_feature_names_out().tolist() == ["x1", "x4"]
        assert (selector.transform(COINS) == COINS[:, [1, 4]]).all()
        alone = MarkovBlanketSelector(order=0, alpha=0.01).fit(COINS, XOR)
        assert not alone.get_support().any()

    def test_it_is_what_the_function_finds(self) -> None:
        X, y = mixed()
        search: dict[str, Any] = {"alpha": 0.3, "test": "g", "max_separator": 2}
        options: dict[str, Any] = {"df": "adjusted", "start": ["day"], "time_budget": 600.0}
        reading: Any = {"discretize": "quantile", "bins": 3, "missing": "level"}
        selector = MarkovBlanketSelector(**search, options=options, reading=reading).fit(X, y)
        table = komb.table(X.assign(lamp=y), **reading)
        expected = komb.markov_blanket(table, "lamp", **search, **options)
        assert selector.blanket_ == expected
        assert selector.get_feature_names_out().tolist() == list(expected.members)
        assert len(expected) >= 2

    def test_every_option_gets_there(self, monkeypatch: pytest.MonkeyPatch) -> None:
        own: dict[str, Any] = {
            "method": "hiton-mb", "alpha": 0.02, "test": "chi2", "include": ["x3"],
            "exclude": ["x0"],
        }  # fmt: skip
        options = {
            "df": "adjusted", "start": ["x2"], "max_conditioning": 2, "knowledge": None,
            "given": ["x5"],
        }  # fmt: skip
        reading = {
            "types": {"x4": "nominal"}, "discretize": {"x1": [0.5]}, "missing": "level",
            "na_values": [-9],
        }  # fmt: skip
        seen: dict[str, Any] = {}

        def record(data: object, target: str, **search: Any) -> komb.Blanket:
            seen.update(search)
            return komb.markov_blanket(data, target, **search)

        monkeypatch.setattr("komb.api.selector.markov_blanket", record)
        selector = MarkovBlanketSelector(**own, options=options, reading=reading).fit(COINS, XOR)
        assert seen == own | options
        told = selector.blanket_.parameters
        assert told["discretize"] == {"x1": (0.5,)}
        assert (told["missing"], told["df"], told["exclude"]) == ("level", "adjusted", ("x0",))

    def test_values_pass_as_they_came(self) -> None:
        X, y = mixed()
        y = pd.Series(np.where(X["volts"] > 0.1, "high", "low"))
        selector = MarkovBlanketSelector(reading={"discretize": "quantile"}, order=0)
        selector.set_output(transform="pandas")
        out = selector.fit_transform(X, y)
        assert list(out.columns) == ["volts"]
        pd.testing.assert_frame_equal(out, X[["volts"]])
        assert len(selector.blanket_.cuts["volts"]) == 3

    def test_blanket_has_names_and_evidence(self) -> None:
        X, y = mixed()
        blanket = MarkovBlanketSelector(exclude=["volts"]).fit(X, y).blanket_
        assert blanket.target == "lamp"
        assert blanket.members == ("hall", "stairs")
        assert blanket["hall"].witness == ("stairs",)

    def test_inverse(self) -> None:
        selector = MarkovBlanketSelector().fit(COINS, XOR)
        back = selector.inverse_transform(selector.transform(COINS))
        assert (back[:, [1, 4]] == COINS[:, [1, 4]]).all()
        assert not back[:, [0, 2, 3, 5]].any()

    def test_nothing_selected(self) -> None:
        selector = MarkovBlanketSelector(order=0, alpha=0.01).fit(COINS, XOR)
        with pytest.warns(UserWarning, match="No features were selected.*raise 'order'"):
            assert selector.transform(COINS).shape == (600, 0)
        frame = pd.DataFrame(COINS, columns=NAMES)
        selector = MarkovBlanketSelector(order=0, alpha=0.01).fit(frame, XOR)
        with pytest.warns(UserWarning, match="No features were selected"):
            assert selector.transform(frame).shape == (600, 0)
        selector.set_output(transform="pandas")
        with pytest.warns(UserWarning, match="No features were selected"):
            assert selector.transform(frame).shape == (600, 0)

    def test_fewest_features(self) -> None:
        selector = MarkovBlanketSelector(order=0, alpha=0.01, min_features=2).fit(COINS, XOR)
        assert selector.blanket_.members == ()
        kept = selector.get_support(indices=True)
        assert kept.tolist() == sorted(np.argsort(-selector.scores_, kind="stable")[:2].tolist())
        assert selector.transform(COINS).shape == (600, 2)
        more = MarkovBlanketSelector(min_features=3, exclude=["x0", "x2"]).fit(COINS, XOR)
        assert {1, 4} < set(more.get_support(indices=True).tolist()) < {1, 3, 4, 5}
        few = MarkovBlanketSelector(min_features=1).fit(COINS, XOR)
        assert few.get_support(indices=True).tolist() == [1, 4]
        everything = MarkovBlanketSelector(min_features=99).fit(COINS, XOR)
        assert everything.get_support().all()

    def test_scores(self) -> None:
        X, y = mixed()
        X["row"] = np.arange(600)
        selector = MarkovBlanketSelector().fit(X, y)
        scores = dict(zip(X.columns, selector.scores_, strict=True))
        for name in ("hall", "stairs"):
            assert scores[name] == selector.blanket_[name].bits
        assert scores["row"] == 0.0  # an identifier
        marginal = komb.ci_test(X.assign(lamp=y), "day", "lamp").p_value
        assert marginal is not None
        assert scores["day"] == pytest.approx(-np.log2(marginal))
        assert min(scores.values()) >= 0

    def test_options_that_a_method_has_no_use_for(self) -> None:
        """Whatever a grid search combines is tried."""
        grid = {
            "method": ["auto", "komb", "iamb"], "order": [None, 1],
            "options": [None, {"level": 0.1}, {"max_conditioning": 2}],
            "reading": [None, {"discretize": "mdl"}, {"missing": "level"}],
        }  # fmt: skip
        for number, options in enumerate(ParameterGrid(grid)):
            if number % 5 == 0:
                selector = MarkovBlanketSelector().set_params(**dict(reversed(options.items())))
                found = selector.fit(COINS, XOR).get_support(indices=True).tolist()
                # order 1, which is the default of kOMB, is what it takes to see an exclusive or
                assert found == ([] if options["method"] == "iamb" else [1, 4]), options

    def test_any_target(self) -> None:
        X = RNG.normal(size=(400, 4))
        y = 2 * X[:, 2] + RNG.normal(size=400)
        rank = np.argsort(np.argsort(y))  # each of 0 to 399 once, but a target numbers no rows
        for target in (y, rank, (10 * y).round().astype(int)):
            selector = MarkovBlanketSelector().fit(X, target)
            assert selector.get_support().tolist() == [False, False, True, False]

    def test_continuous_target_is_cut_if_asked(self) -> None:
        random = np.random.default_rng(0)  # its own: what others have drawn must not matter
        X = random.normal(size=(400, 4))
        y = 2 * X[:, 2] + random.normal(size=400)
        selector = MarkovBlanketSelector(reading={"discretize": "quantile"}).fit(X, y)
        assert selector.get_support().tolist() == [False, False, True, False]
        assert len(selector.blanket_.cuts["y"]) == 3
        by_column: dict[Any, str] = {"y": "uniform", **dict.fromkeys(range(4), "quantile")}
        selector = MarkovBlanketSelector(
            reading={"discretize": by_column, "bins": {"y": 2, "x2": 5}}
        )
        cuts = selector.fit(X, y).blanket_.cuts
        assert {name: len(points) for name, points in cuts.items()} == {
            "x0": 3, "x1": 3, "x2": 4, "x3": 3, "y": 1,
        }  # fmt: skip

    def test_columns_by_name_and_by_position(self) -> None:
        frame = pd.DataFrame(COINS, columns=NAMES)
        fit = partial(MarkovBlanketSelector, order=0, alpha=0.01)
        for columns in (["coin0"], [0], [-6], np.array([0])):
            assert fit(include=columns).fit(frame, XOR).blanket_.members == ("coin0",)
        assert fit(include=["x5"]).fit(COINS, XOR).blanket_.members == ("x5",)
        assert fit(options={"start": [1]}, order=1).fit(COINS, XOR).blanket_.parameters[
            "start"
        ] == ("x1",)
        assert fit(exclude=[4], order=1).fit(frame, XOR).blanket_.members == ()

    def test_excluded_columns_are_not_looked_at(self) -> None:
        X, y = mixed()
        X.loc[3, "volts"] = np.nan
        assert MarkovBlanketSelector(exclude=["volts"]).fit(X, y).transform(X).shape == (600, 2)


def weak_effects(n_rows: int = 250) -> tuple[pd.DataFrame, Any]:
    """One strong effect and five weak ones among twelve columns of numbers and levels."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame({f"n{i}": rng.normal(size=n_rows) for i in range(6)})
    for i in range(6):
        X[f"l{i}"] = rng.integers(0, 3, n_rows)
    weights = np.array([2.0, 0.4, 0.4, 0, 0, 0, 0.4, 0.4, 0.4, 0, 0, 0])
    signal = (X - X.mean()).to_numpy() @ weights
    return X, (signal + rng.logistic(size=n_rows) > 0).astype(int)


quick = partial(MarkovBlanketSelector, order=0, goal="prediction")


class TestGoal:
    def test_weak_effects_are_added_for_prediction(self) -> None:
        X, y = weak_effects()
        blanket = quick(goal="blanket").fit(X, y)
        assert blanket.added_ == ()
        assert blanket.get_feature_names_out().tolist() == list(blanket.blanket_.members)
        selector = quick().fit(X, y)
        assert selector.blanket_ == blanket.blanket_
        kept = selector.get_feature_names_out()
        assert len({"n1", "n2", "l0", "l1", "l2"} & {*kept}) >= 3
        assert selector.added_
        assert {*kept} == {*selector.added_, *blanket.blanket_.members}
        assert len(kept) <= 6  # half of them
        again = quick().fit(X[::-1], y[::-1])
        assert again.added_ == selector.added_

    def test_nothing_is_added_to_an_empty_blanket(self) -> None:
        X, y = weak_effects()
        X = X.drop(columns="n0")
        selector = quick(options={"level": 1e-9}).fit(X, y)
        assert selector.blanket_.members == ()
        assert selector.added_ == ()
        kept = quick(options={"level": 1e-9}, include=["l5"]).fit(X, y)
        assert kept.get_feature_names_out().tolist() == ["l5"]

    def test_what_must_not_be_added(self) -> None:
        X, y = weak_effects()
        added = quick().fit(X, y).added_
        first, second, *_ = added
        for options in (
            {"exclude": [first]}, {"options": {"given": [first]}},
            {"reading": {"types": {first: "identifier"}}},
            {"options": {"knowledge": {"forbidden": [[first, "y"]]}}},
        ):  # fmt: skip
            other = quick(**options).fit(X, y)
            assert first not in other.get_feature_names_out()
            assert second in other.get_feature_names_out()

    def test_groups_are_added_whole(self) -> None:
        X, y = weak_effects(300)
        selector = quick(reading={"groups": {"weak": ["l0", "l1"]}}).fit(X, y)
        kept = {*selector.get_feature_names_out()}
        assert "weak" in selector.added_
        assert {"l0", "l1"} <= kept
        assert len(kept) <= 6

    def test_more_features_on_request(self) -> None:
        X, y = weak_effects()
        added = quick().fit(X, y).added_
        more = quick(min_features=9).fit(X, y)
        assert more.added_[: len(added)] == added
        assert len(more.get_feature_names_out()) == 9

    def test_covariates_are_not_among_them(self) -> None:
        X, y = weak_effects()
        selector = quick(min_features=99, options={"given": ["n0"]}).fit(X, y)
        assert selector.get_feature_names_out().tolist() == list(X.columns[1:])

    def test_not_on_very_many_rows(self, monkeypatch: pytest.MonkeyPatch) -> None:
        X, y = weak_effects()
        monkeypatch.setattr("komb.describe.predictors.MOST_ROWS", 249)
        assert quick().fit(X, y).added_ == ()

    def test_wrong_goal(self) -> None:
        with pytest.raises(
            ParameterError, match=r"'goal' must be 'blanket' or 'prediction'.*'all'"
        ):
            MarkovBlanketSelector(goal="all").fit(COINS, XOR)


class TestTargets:
    @pytest.mark.parametrize(
        "convert",
        [
            list,
            pd.Series,
            pl.Series,
            lambda y: y.astype(bool),
            lambda y: y.astype(float),
            lambda y: np.where(y, "yes", "no"),
            lambda y: np.where(y, "yes", "no").astype(object),
            lambda y: pd.Series(pd.Categorical(y)),
            lambda y: pd.Series(y, dtype="boolean"),
            lambda y: pd.Series(y, index=range(900, 300, -1)),
            lambda y: pl.Series(np.where(y, "yes", "no"), dtype=pl.Categorical),
        ],
    )
    def test_any_kind(self, convert: Callable[[Any], Any]) -> None:
        selector = MarkovBlanketSelector().fit(COINS, convert(XOR))
        assert selector.blanket_.members == ("x1", "x4")

    def test_a_table_of_one_column(self) -> None:
        with pytest.warns(DataConversionWarning, match="column-vector y was passed"):
            selector = MarkovBlanketSelector().fit(COINS, pd.DataFrame({"light": XOR}))
        assert selector.blanket_.target == "light"

    @pytest.mark.parametrize(
        ("names", "y", "target"),
        [
            ("abcdef", XOR, "y"),
            ("abcdef", pd.Series(XOR, name="light"), "light"),
            ("abcdef", pl.Series("light", XOR), "light"),
            ("abcdey", XOR, "y_"),
            (["y_", *"abcdy"], XOR, "y__"),
            ("abcdef", pd.Series(XOR, name="c"), "c_"),
            ("abcdef", pd.Series(XOR, name=7), "y"),
        ],
    )
    def test_name(self, names: Any, y: Any, target: str) -> None:
        frame = pd.DataFrame(COINS, columns=list(names))
        assert MarkovBlanketSelector(order=0).fit(frame, y).blanket_.target == target


class TestTables:
    """Whatever container X comes in, the same columns are selected, with their types."""

    @pytest.mark.parametrize(
        "convert", [lambda X: X, pl.from_pandas, lambda X: pl.from_pandas(X).to_arrow()]
    )
    def test_names(self, convert: Callable[[Any], Any]) -> None:
        X, y = mixed()
        X = X.drop(columns="volts")
        selector = MarkovBlanketSelector().fit(convert(X), y)
        assert selector.n_features_in_ == 5
        assert selector.feature_names_in_.tolist() == list(X.columns)
        assert selector.get_feature_names_out().tolist() == ["hall", "stairs"]
        out = selector.transform(convert(X))
        assert isinstance(out, np.ndarray)
        assert out.tolist() == X[["hall", "stairs"]].to_numpy().tolist()

    @pytest.mark.parametrize("convert", [lambda X: X, pl.from_pandas, np.asarray])
    def test_pandas_output(self, convert: Callable[[Any], Any]) -> None:
        X, y = mixed()
        X = X.drop(columns="volts")
        X.index = X.index + 50
        given = convert(X)
        selector = MarkovBlanketSelector().set_output(transform="pandas").fit(given, y)
        out = selector.transform(given)
        assert isinstance(out, pd.DataFrame)
        if isinstance(given, pd.DataFrame):
            pd.testing.assert_frame_equal(out, X[["hall", "stairs"]])
        assert out.astype(str).to_numpy().tolist() == X[["hall", "stairs"]].to_numpy().tolist()

    @pytest.mark.parametrize("convert", [lambda X: X, pl.from_pandas])
    def test_polars_output(self, convert: Callable[[Any], Any]) -> None:
        X, y = mixed()
        X = X.drop(columns="volts")
        given = convert(X)
        out = MarkovBlanketSelector().set_output(transform="polars").fit_transform(given, y)
        assert isinstance(out, pl.DataFrame)
        assert out.columns == ["hall", "stairs"]
        assert out["stairs"].dtype in (pl.Categorical, pl.Enum)

    def test_polars_and_numbers(self) -> None:
        frame = pl.DataFrame(COINS, schema=NAMES)
        selector = MarkovBlanketSelector().set_output(transform="polars").fit(frame, XOR)
        assert selector.transform(frame).equals(frame.select("coin1", "coin4"))
        assert selector.transform(frame).columns == ["coin1", "coin4"]
        assert frame.columns == NAMES

    def test_columns_without_text_as_names(self) -> None:
        frame = pd.DataFrame(COINS, columns=range(10, 16))
        selector = MarkovBlanketSelector().set_output(transform="pandas").fit(frame, XOR)
        assert not hasattr(selector, "feature_names_in_")
        assert selector.blanket_.members == ("x1", "x4")
        assert list(selector.transform(frame).columns) == ["x1", "x4"]

    def test_lists_and_text(self) -> None:
        words = np.where(COINS, "head", "tail")
        for X in (words, words.tolist(), words.astype(object)):
            selector = MarkovBlanketSelector().fit(X, XOR)
            assert (selector.transform(X) == words[:, [1, 4]]).all()

    def test_the_caller_keeps_his_data(self) -> None:
        X, y = mixed()
        before = X.copy()
        MarkovBlanketSelector(reading={"discretize": "quantile"}).set_output(
            transform="pandas"
        ).fit_transform(X, y)
        pd.testing.assert_frame_equal(X, before)

    def test_arrays_are_not_copied(self) -> None:

        assert all(np.shares_memory(column, COINS) for column in _columns_of(COINS))
        frame = pd.DataFrame(COINS, columns=NAMES)
        assert all(np.shares_memory(column, frame.to_numpy()) for column in _columns_of(frame))


class TestMixedArrays:
    """Columns without a type in common become an array of objects, as they came."""

    @pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
    def test_times_and_categories_beside_numbers(self, kind: str) -> None:
        rng = np.random.default_rng(0)
        days = pd.to_timedelta(rng.integers(0, 900, 60), "D")
        X = pd.DataFrame(
            {
                "size": pd.Categorical(rng.choice(["low", "high"], 60)),
                "volts": rng.normal(size=60),
                "open": rng.random(60) < 0.5,
                "when": pd.Timestamp("2020-01-01") + days,
            }
        )
        data: Any = X
        if kind == "polars":
            data = pl.from_pandas(X)
        elif kind == "arrow":
            data = pytest.importorskip("pyarrow").Table.from_pandas(X)
        for columns in (["size", "volts", "open", "when"], ["volts", "when"], ["size", "volts"]):
            kept = MarkovBlanketSelector(include=columns, order=0)
            out = kept.fit(data, rng.integers(0, 2, 60)).transform(data)
            names = kept.get_feature_names_out().tolist()
            assert out.dtype == object
            for name, values in zip(names, out.T, strict=True):
                assert values.tolist() == X[name].tolist()
        numbers = MarkovBlanketSelector(include=["volts", "open"], order=0)
        numbers.fit(data, X["volts"] > 0)
        assert numbers.transform(data).dtype == float


class TestScikitLearn:
    def test_pipeline(self) -> None:
        X, y = mixed()
        selector = MarkovBlanketSelector(exclude=["volts"])
        model = make_pipeline(selector, OneHotEncoder(), DecisionTreeClassifier())
        assert cross_val_score(model, X, y, cv=3).min() > 0.85
        worse = make_pipeline(
            MarkovBlanketSelector(exclude=["volts"], include=["day"], order=0),
            OneHotEncoder(),
            DecisionTreeClassifier(),
        )
        assert cross_val_score(worse, X, y, cv=3).mean() < 0.65

    def test_grid_search(self) -> None:
        model = make_pipeline(MarkovBlanketSelector(include=[0]), DecisionTreeClassifier())
        name = "markovblanketselector__"
        grid = {f"{name}order": [0, 1], f"{name}alpha": [0.01, 1e-5]}
        search = GridSearchCV(model, grid, cv=3, error_score="raise").fit(COINS, XOR)
        assert search.best_params_[f"{name}order"] == 1
        assert search.best_estimator_[0].blanket_.members == ("x0", "x1", "x4")

    def test_column_transformer(self) -> None:
        X, y = mixed()
        categories = ["hall", "weather", "stairs", "guests"]
        chosen = make_pipeline(MarkovBlanketSelector(), OneHotEncoder(sparse_output=False))
        both = ColumnTransformer([("chosen", chosen, categories), ("rest", "passthrough", ["day"])])
        both.set_output(transform="pandas")
        out = both.fit_transform(X, y)
        assert list(out.columns) == [
            "chosen__hall_down",
            "chosen__hall_up",
            "chosen__stairs_down",
            "chosen__stairs_up",
            "rest__day",
        ]

    def test_after_a_column_transformer(self) -> None:
        X, y = mixed()
        X.loc[5, "day"] = np.nan
        first = make_column_transformer(
            (OrdinalEncoder(), ["hall", "weather", "stairs", "guests"]),
            (SimpleImputer(strategy="most_frequent"), ["day"]),
            verbose_feature_names_out=False,
        )
        model = make_pipeline(first, MarkovBlanketSelector()).set_output(transform="pandas")
        assert model.fit(X, y)[-1].blanket_.members == ("hall", "stairs")

    def test_clone_and_params(self) -> None:
        selector = MarkovBlanketSelector(
            order=2,
            include=["x1"],
            options={"df": "adjusted"},
            reading={"discretize": {"x0": [0.5]}},
        )
        copy = clone(selector)
        assert copy.get_params() == selector.get_params()
        assert copy.set_params(alpha=0.1).alpha == 0.1
        assert selector.alpha is None

    def test_parameters_are_those_of_the_function(self) -> None:
        from inspect import signature

        theirs = signature(komb.markov_blanket).parameters
        ours = signature(MarkovBlanketSelector).parameters
        own = {"options", "reading", "goal", "min_features", "max_features", "handle_unknown"}
        assert own <= {*ours}
        assert all(ours[name].default == theirs[name].default for name in {*ours} - own)

    def test_pickle(self) -> None:
        X, y = mixed()
        selector = MarkovBlanketSelector(reading={"discretize": "quantile"}).fit(X, y)
        again = pickle.loads(pickle.dumps(selector))
        assert again.blanket_ == selector.blanket_
        assert (again.transform(X) == selector.transform(X)).all()

    def test_fitted_again_without_names(self) -> None:
        selector = MarkovBlanketSelector().fit(pd.DataFrame(COINS, columns=NAMES), XOR)
        selector.fit(COINS[:, 1:], XOR)
        assert selector.get_feature_names_out().tolist() == ["x0", "x3"]

    def test_nothing_is_printed(self, capfd: pytest.CaptureFixture[str]) -> None:
        MarkovBlanketSelector(reading={"discretize": "kmeans"}).fit(*mixed())
        assert capfd.readouterr() == ("", "")

    def test_tags(self) -> None:
        tags = MarkovBlanketSelector().__sklearn_tags__()
        assert tags.target_tags.required
        assert tags.input_tags.string
        assert tags.input_tags.categorical
        assert tags.input_tags.sparse
        assert tags.input_tags.allow_nan
        for selector in (
            MarkovBlanketSelector(reading={"missing": "error"}),
            MarkovBlanketSelector(reading={"types": "strict"}),
        ):
            assert not selector.__sklearn_tags__().input_tags.allow_nan
        tags = MarkovBlanketSelector(
            reading={"types": "strict", "missing": "level"}
        ).__sklearn_tags__()
        assert tags.input_tags.allow_nan


class TestUnknownLevels:
    X = pd.DataFrame(np.where(COINS, "head", "tail"), columns=NAMES)

    def test_they_can_be_refused(self) -> None:
        selector = MarkovBlanketSelector(handle_unknown="error").fit(self.X, XOR)
        odd = self.X.head(3).copy()
        odd.loc[1, "coin4"] = "edge"
        message = (
            r"unknown levels in feature 'coin4' during transform: 'edge'; fit saw 'head', 'tail'\."
            r".*handle_unknown='ignore'"
        )
        for container in ("default", "pandas"):
            with pytest.raises(DataError, match=message):
                selector.set_output(transform=container).transform(odd)
        assert selector.levels_ == {"coin1": ("head", "tail"), "coin4": ("head", "tail")}

    def test_only_selected_columns_count(self) -> None:
        selector = MarkovBlanketSelector(handle_unknown="error").fit(self.X, XOR)
        odd = self.X.head(3).copy()
        odd.loc[1, "coin0"] = "edge"
        assert selector.transform(odd).shape == (3, 2)

    def test_they_pass(self) -> None:
        selector = MarkovBlanketSelector().fit(self.X, XOR)
        odd = self.X.head(3).copy()
        odd.loc[1, "coin4"] = "edge"
        odd.loc[2, "coin4"] = None
        passed = selector.transform(odd)[1:, 1].tolist()
        assert passed[0] == "edge"
        assert pd.isna(passed[1])

    def test_anything_passes(self) -> None:
        """Whatever new rows hold, selecting columns of them does not fail."""
        selector = MarkovBlanketSelector().fit(COINS, XOR)
        odd = np.array([[np.inf, np.nan, 7, -1, 0.5, 1e300]])
        np.testing.assert_array_equal(selector.transform(odd), [[np.nan, 0.5]])

    def test_cross_validation_with_rare_levels(self) -> None:
        """Each of the folds holds a level that the others have not."""
        X, y = mixed()
        X["hall"] = X["hall"].where(np.arange(600) % 100 != 7, [f"odd {i}" for i in range(600)])
        encoder = OneHotEncoder(handle_unknown="ignore")
        model = make_pipeline(MarkovBlanketSelector(), encoder, DecisionTreeClassifier())
        scores = cross_val_score(model, X, y, cv=4, error_score="raise")
        assert scores.min() > 0.8

    def test_numbers(self) -> None:
        selector = MarkovBlanketSelector(handle_unknown="error").fit(COINS, XOR)
        assert selector.transform(COINS[:1].astype(float)).shape == (1, 2)
        with pytest.raises(DataError, match="levels in feature 'x1' during transform: 2; fit"):
            selector.transform(np.full((2, 6), 2))

    def test_a_few_rows_of_fractions_are_levels(self) -> None:
        fractions = RNG.integers(0, 7, (500, 3)) / 4
        selector = MarkovBlanketSelector(handle_unknown="error")
        selector.fit(fractions, fractions[:, 1] > 0.8)
        each = np.repeat(np.arange(7) / 4, 3).reshape(7, 3)
        assert selector.transform(each).ravel().tolist() == each[:, 0].tolist()
        with pytest.raises(DataError, match=r"in feature 'x1' during transform: 1\.75; fit"):
            selector.transform(each + 0.25)

    def test_columns_that_were_cut_have_none(self) -> None:
        X = RNG.normal(size=(400, 3))
        selector = MarkovBlanketSelector(alpha=0.001, handle_unknown="error").fit(X, X[:, 0] > 0)
        assert selector.levels_ == {}
        assert selector.transform([[99.0, 0, 0]]).tolist() == [[99.0]]

    def test_cut_points_can_be_used_again(self) -> None:
        X, y = mixed()
        cuts = MarkovBlanketSelector(reading={"discretize": "quantile"}).fit(X, y).blanket_.cuts
        copied = clone(MarkovBlanketSelector(reading={"discretize": cuts}))
        again = pickle.loads(pickle.dumps(copied))
        assert again.fit(X.head(300), y.head(300)).blanket_.cuts == cuts


class TestMissing:
    X = pd.DataFrame(COINS.astype(float), columns=NAMES).mask(RNG.random((600, 6)) < 0.05)

    @pytest.mark.parametrize("missing", ["level", "testwise"])
    @pytest.mark.parametrize("convert", [lambda X: X, np.asarray, pl.from_pandas])
    def test_provided_for(self, missing: str, convert: Callable[[Any], Any]) -> None:
        X = convert(self.X)
        selector = MarkovBlanketSelector(reading={"missing": missing}).fit(X, XOR)
        out = selector.transform(X)
        assert selector.get_support(indices=True).tolist() == [1, 4]
        np.testing.assert_array_equal(out, self.X[["coin1", "coin4"]].to_numpy())

    def test_new_rows_may_lack_every_value(self) -> None:
        gap = np.full((2, 6), np.nan)
        for missing in ("level", "testwise"):
            selector = MarkovBlanketSelector(reading={"missing": missing}).fit(
                self.X.to_numpy(), XOR
            )
            assert np.isnan(selector.transform(gap)).all()

    def test_a_gap_is_a_level(self) -> None:
        complete = MarkovBlanketSelector(reading={"missing": "level"}, handle_unknown="error").fit(
            COINS, XOR
        )
        with pytest.raises(DataError, match="levels in feature 'x1' during transform: None"):
            complete.transform(np.full((2, 6), np.nan))
        testwise = MarkovBlanketSelector(handle_unknown="error").fit(COINS, XOR)
        assert np.isnan(testwise.transform(np.full((2, 6), np.nan))).all()

    @pytest.mark.parametrize("options", [{"missing": "error"}, {"types": "strict"}])
    def test_refused(self, options: dict[str, Any]) -> None:
        selector = MarkovBlanketSelector(handle_unknown="error", reading=options)
        with pytest.raises(ValueError, match="X contains NaN"):
            selector.fit(self.X.to_numpy(), XOR)
        for X in (self.X, pl.from_pandas(self.X)):
            with pytest.raises(MissingValuesError, match="missing values"):
                selector.fit(X, XOR)
        selector.fit(pd.DataFrame(COINS, columns=NAMES), XOR)
        for container in ("default", "pandas"):
            with pytest.raises(ValueError, match="missing values"):
                selector.set_output(transform=container).transform(self.X)

    @pytest.mark.parametrize("types", ["auto", "strict"])
    @pytest.mark.parametrize("missing", ["error", "level", "testwise"])
    def test_columns_without_values(self, missing: str, types: str) -> None:
        X = pd.DataFrame(COINS, columns=NAMES).assign(coin2=None)
        selector = MarkovBlanketSelector(reading={"missing": missing, "types": types})
        if types == "strict" or missing == "error":
            with pytest.raises(MissingValuesError, match="'coin2'"):
                selector.fit(X, XOR)
        else:
            assert selector.fit(X, XOR).get_support(indices=True).tolist() == [1, 4]
            assert selector.blanket_.types["coin2"].kind == "empty"


FRAME = pd.DataFrame(COINS, columns=NAMES)
BAD_FITS: list[tuple[Any, Any, dict[str, Any], type[Exception], str]] = [
    (COINS, XOR[:-1], {}, ValueError, r"inconsistent numbers of samples: \[600, 599\]"),
    (FRAME, XOR[:-1], {}, ValueError, r"inconsistent numbers of samples: \[600, 599\]"),
    (COINS, None, {}, ValueError, "requires y to be passed, but the target y is None"),
    (COINS, COINS[:, :2], {}, ValueError, r"y should be a 1d array, got an array of shape"),
    (COINS, RNG.normal(size=600), {"reading": {"types": "strict"}}, ContinuousColumnError,
     "Unknown label type: 'y' must hold classes; got 600 distinct values .*types='auto'"),
    (COINS, RNG.normal(size=600), {"reading": {"discretize": "mdl"}}, ContinuousColumnError,
     "where others are cut by the target .'mdl'., it must hold discrete levels"),
    (COINS, [f"name {i}" for i in range(600)], {}, DataError,
     "'target' must name a column that can be tested; got 'y': identifier.*types={'y': 'nominal'}"),
    (COINS, np.ones(600), {}, DataError, "'y' must have at least 2 classes; got one class, 1.0"),
    (COINS, np.where(XOR, 1, np.nan), {}, ValueError, "Input y contains NaN"),
    (COINS, np.where(XOR, 1, np.nan), {"reading": {"missing": "level"}}, ValueError,
     "Input y contains NaN"),
    (COINS, np.where(XOR, 1, np.inf), {}, ValueError, "Input y contains infinity"),
    (COINS, [None, *XOR[1:]], {}, MissingValuesError, "'y' must have no missing values"),
    (COINS, pd.Series([pd.NA, *XOR[1:]]), {}, MissingValuesError, "'y' must have no missing"),
    (COINS[:1], XOR[:1], {}, ValueError, "1 sample.* while a minimum of 2 is required"),
    (FRAME[:1], XOR[:1], {}, DataError, "1 sample.* while a minimum of 2 is required"),
    (COINS[:, :0], XOR, {}, ValueError, r"0 feature\(s\).* while a minimum of 1 is required"),
    (FRAME[[]], XOR, {}, DataError, r"0 feature\(s\).* while a minimum of 1 is required"),
    (COINS[:, 0], XOR, {}, ValueError, "Expected 2D array, got 1D array"),
    (RNG.normal(size=(600, 2)), XOR, {"reading": {"types": "strict"}}, ContinuousColumnError,
     "'x0' looks continuous"),
    (np.full((600, 2), np.inf), XOR, {"reading": {"discretize": "quantile"}}, ValueError,
     "infinity"),
    (FRAME.set_axis([*NAMES[:5], "coin0"], axis=1), XOR, {}, DataError,
     r"'X' must have distinct column names; got 'coin0' \(2 times\)"),
    (FRAME.set_axis([*NAMES[:5], 5], axis=1), XOR, {}, TypeError, "string names"),
    (COINS, XOR, {"method": "kom"}, UnknownNameError, "no method 'kom'. Did you mean 'komb'"),
    (COINS, XOR, {"test": "G2"}, UnknownNameError, "no test 'G2'"),
    (COINS, XOR, {"test": "g", "options": {"df": "all"}}, ParameterError, "'df' must"),
    (COINS, XOR, {"order": -1}, ParameterError, "'order' must"),
    (COINS, XOR, {"alpha": 1}, ParameterError, "'alpha' must be a number between 0 and 1"),
    (COINS, XOR, {"reading": {"discretize": "quantil"}}, UnknownNameError,
     "Did you mean 'quantile'"),
    (COINS, XOR, {"reading": {"bins": 1, "discretize": "quantile"}}, ParameterError, "'bins' must"),
    (COINS, XOR, {"reading": {"missing": "drop"}}, UnknownNameError, "In 'missing'"),
    (COINS, XOR, {"reading": {"types": "loose"}}, ParameterError,
     "'types' must be 'auto', 'strict', or map"),
    (COINS, XOR, {"reading": {"types": {"x9": "nominal"}}}, UnknownNameError,
     "In 'types': .*no feature 'x9'"),
    (COINS, XOR, {"reading": {"na_values": -9}}, ParameterError,
     "'na_values' must be a list of values"),
    (COINS, XOR, {"min_features": -1}, ParameterError, "'min_features' must"),
    (COINS, XOR, {"method": "komb", "test": "perm", "options": {"seed": -1}}, ParameterError,
     "'seed' must"),
    (COINS, XOR, {"options": {"depht": 1}}, UnknownNameError, "no option 'depht'"),
    (COINS, XOR, {"options": {"types": "auto"}}, ParameterError, "'types' must be said of the"),
    (COINS, XOR, {"options": ["df"]}, ParameterError, "'options' must map keywords to values"),
    (COINS, XOR, {"reading": "auto"}, ParameterError, "'reading' must map keywords to values"),
    (COINS, XOR, {"reading": {"tipes": 1}}, UnknownNameError, "no keyword 'tipes'.*mean 'types'"),
    (COINS, XOR, {"reading": {"exclude": [0]}}, ParameterError, "'reading' must not have 'excl"),
    (COINS, XOR, {"handle_unknown": "warn"}, ParameterError,
     "'handle_unknown' must be 'error' or 'ignore'; got 'warn'"),
    (FRAME, XOR, {"include": ["coin9"]}, UnknownNameError, "In 'include': .*no feature 'coin9'"),
    (FRAME, XOR, {"include": "coin1"}, ParameterError, r"'include' must be a list .*\['coin1'\]"),
    (FRAME, XOR, {"exclude": [6]}, ParameterError, "'exclude' must hold .* below 6.*; got 6"),
    (FRAME, XOR, {"options": {"start": [True]}}, UnknownNameError,
     "In 'start': There is no feature True"),
    (FRAME, XOR, {"include": ["y"]}, UnknownNameError, "In 'include': There is no feature 'y'"),
    (FRAME, XOR, {"reading": {"discretize": {"coin9": "mdl"}}}, UnknownNameError,
     "In 'discretize': .*'coin9'"),
]  # fmt: skip


class TestBadInput:
    @pytest.mark.parametrize(("X", "y", "options", "error", "message"), BAD_FITS)
    def test_fit(
        self, X: Any, y: Any, options: dict[str, Any], error: type[Exception], message: str
    ) -> None:
        with pytest.raises(error, match=message):
            MarkovBlanketSelector(**options).fit(X, y)

    def test_not_fitted(self) -> None:
        for ask in ("transform", "inverse_transform"):
            with pytest.raises(NotFittedError):
                getattr(MarkovBlanketSelector(), ask)(COINS)
        with pytest.raises(NotFittedError):
            MarkovBlanketSelector().get_support()

    def test_other_columns(self) -> None:
        selector = MarkovBlanketSelector().fit(FRAME, XOR)
        with pytest.raises(ValueError, match="unseen at fit time:\n- coin9\n"):
            selector.transform(FRAME.rename(columns={"coin2": "coin9"}))
        with pytest.raises(ValueError, match="must be in the same order"):
            selector.transform(FRAME[NAMES[::-1]])
        with pytest.raises(ValueError, match="yet now missing:\n- coin5\n"):
            selector.transform(FRAME[NAMES[:5]])
        with pytest.warns(UserWarning, match="does not have valid feature names"):
            assert selector.transform(COINS).shape == (600, 2)

    def test_other_number_of_columns(self) -> None:
        selector = MarkovBlanketSelector().fit(COINS, XOR)
        with pytest.raises(ValueError, match="X has 5 features, but MarkovBlanketSelector is exp"):
            selector.transform(COINS[:, :5])
        with pytest.raises(ValueError, match="different shape"):
            selector.inverse_transform(COINS)

    def test_no_rows(self) -> None:
        selector = MarkovBlanketSelector().fit(FRAME, XOR)
        with pytest.raises(DataError, match=r"0 sample\(s\)"):
            selector.transform(FRAME[:0])


class TestSparse:
    """Matrices of counts, of zeros and ones, and of anything else."""

    @pytest.mark.parametrize("make", [csr_array, csc_matrix])
    @pytest.mark.parametrize("scale", [1, 2.5])
    def test_they_are_searched_as_if_they_were_dense(self, make: Any, scale: float) -> None:
        dense = COINS * scale
        selector = MarkovBlanketSelector().fit(make(dense), XOR)
        assert selector.blanket_ == MarkovBlanketSelector().fit(dense, XOR).blanket_
        kept = selector.transform(make(dense))
        assert issparse(kept)
        assert (kept.toarray() == dense[:, [1, 4]]).all()

    def test_counts_take_a_byte_each(self) -> None:
        X = csr_array(COINS.astype(float))
        assert {column.dtype for column in _columns_of(X.tocsc())} == {np.dtype(np.uint8)}

    def test_unknown_levels(self) -> None:
        selector = MarkovBlanketSelector(handle_unknown="error").fit(csr_array(COINS), XOR)
        odd = COINS[:3].copy()
        odd[1, 4] = 7
        with pytest.raises(DataError, match="levels in feature 'x4' during transform: 7"):
            selector.transform(csr_array(odd))


def test_weights_are_routed() -> None:
    """Metadata routing hands a step of a pipeline the weights that it asks for."""
    counts = np.arange(600) % 3
    with config_context(enable_metadata_routing=True):
        selector = MarkovBlanketSelector().set_fit_request(sample_weight=True)
        made = make_pipeline(selector).fit(COINS, XOR, sample_weight=counts)
    alone = MarkovBlanketSelector().fit(COINS, XOR, sample_weight=counts)
    assert made[-1].blanket_ == alone.blanket_
    assert made[-1].blanket_.parameters["weights"]


REGISTERED_IN_A_SCRIPT = """
import numpy as np, komb
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

@komb.register_algorithm(
    "first", summary="The first.", citation="This test", year=2024, assumes="nothing",
    is_sound=False, guarantee="None.",
)
def first(engine, task):
    from komb.search.task import Found
    return Found({0: frozenset()})

if __name__ == "__main__":
    X = np.arange(80).reshape(-1, 2) // 7 % 2
    model = make_pipeline(komb.MarkovBlanketSelector(method="first"), DecisionTreeClassifier())
    grid = {"decisiontreeclassifier__max_depth": [1, 2]}
    search = GridSearchCV(model, grid, cv=2, n_jobs=2, error_score="raise").fit(X, X[:, 0])
    print(search.best_score_)
"""


def test_workers_know_what_a_script_registered(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(REGISTERED_IN_A_SCRIPT)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "1.0", done.stderr


def test_a_pickle_registers_what_it_needs() -> None:
    @register_test("mine", summary="Mine.", citation="This test")
    class Always(CITest):
        def measure(self, sums: Any) -> Measurement:
            ones = np.ones(len(sums))
            return Measurement(ones, ones, ones > 0, "mine", log2_p_value=-20.0 * ones)

    selector = MarkovBlanketSelector(test="mine", include=[0]).fit(COINS, XOR)
    pickled = pickle.dumps(selector)
    TESTS.remove("mine")
    again = pickle.loads(pickled)
    assert again.get_support().tolist() == selector.get_support().tolist()
    assert TESTS.find("mine").summary == "Mine."
    TESTS.remove("mine")
