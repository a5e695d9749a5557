"""The two public functions: what they accept, refuse and return."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import joblib
import numpy as np
import polars as pl
import pytest

import komb
from komb.api import warmup
from komb.api.progress import Progress
from komb.api.run import Run
from komb.engine.engine import Engine
from komb.errors import DataError, InputError, Interrupted, ParameterError, UnknownNameError
from komb.search.task import Task
from tests.engine.engines import on_table
from tests.optional import pandas as pd

XOR = komb.boolean_table("parity", 500, n_parents=2, n_irrelevant=3)  # X1, X2, Y, E1, E2, E3


def columns(table: komb.DiscreteTable = XOR) -> dict[str, list[Any]]:
    return {str(name): table.column(name) for name in table.names}


class TestResult:
    def test_order_decides_what_is_seen(self) -> None:
        assert komb.markov_blanket(XOR, "Y", order=0).members == ()
        assert komb.markov_blanket(XOR, "Y").members == ("X1", "X2")

    def test_facts(self) -> None:
        blanket = komb.markov_blanket(
            XOR, "Y", method="komb", order=1, max_separator=1, test="g-sci", alpha=0.02,
            start=["E2", "E1"], exclude=["E3"],
        )  # fmt: skip
        assert blanket.target == "Y"
        assert blanket.method == "komb"
        assert dict(blanket.parameters) == {
            "order": 1,
            "max_separator": 1,
            "alpha": 0.02,
            "test": "g-sci",
            "df": "observed",
            "start": ("E1", "E2"),
            "include": (),
            "exclude": ("E3",),
        }
        raw = komb.markov_blanket(columns(), "Y", exclude=["E3"]).parameters
        assert [raw[name] for name in ("types", "discretize", "missing", "exclude")] == [
            "auto", None, "testwise", ("E3",),
        ]  # fmt: skip
        assert (blanket.n_rows, blanket.n_columns) == (500, 5)  # without E3
        assert blanket.tests > 0
        assert blanket.tables > 0
        assert blanket.seconds > 0
        assert blanket.unreliable == 0

    def test_evidence(self) -> None:
        from scipy.stats import chi2_contingency

        member = komb.markov_blanket(XOR, "Y", test="g")["X1"]
        assert member.witness == ("X2",)
        assert member.test == "g"
        assert member.reliable
        frame = pd.DataFrame(columns())
        tables = [pd.crosstab(part["X1"], part["Y"]) for _, part in frame.groupby("X2")]
        results = [chi2_contingency(t, correction=False, lambda_="log-likelihood") for t in tables]
        assert member.statistic == pytest.approx(sum(result.statistic for result in results))
        assert member.df == 2
        assert member.p_value is not None
        assert member.p_value < 1e-16

    def test_what_is_left_open_is_chosen(self) -> None:
        blanket = komb.markov_blanket(XOR, "Y")
        assert blanket.method == "auto"
        assert blanket.parameters["order"] is blanket.parameters["max_separator"] is None
        assert blanket.parameters["level"] == 0.05
        assert blanket.settled_parameters["order"] == blanket.choices["order"].value == 3
        assert blanket.settled_parameters["max_separator"] == 3
        assert blanket.parameters["alpha"] == blanket.choices["alpha"].value == 0.023
        assert list(blanket.choices) == ["order", "max_separator", "threshold", "alpha"]
        assert all(choice.reason for choice in blanket.choices.values())
        assert str(blanket.choices["order"].reason) in str(blanket.details())

    @pytest.mark.parametrize("options", [{"order": 0}, {"order": 1}, {"max_separator": 2}])
    def test_a_number_bounds_the_automatic_search(self, options: dict[str, Any]) -> None:
        blanket = komb.markov_blanket(XOR, "Y", **options)
        name, value = next(iter(options.items()))
        assert blanket.parameters[name] == blanket.choices[name].value == value
        assert "as asked" in blanket.choices[name].reason
        assert blanket.members == (() if options == {"order": 0} else ("X1", "X2"))

    @pytest.mark.parametrize("bounds", [{}, {"order": 1}, {"order": 1, "max_separator": 1}])
    def test_komb_is_the_search_of_the_paper(self, bounds: dict[str, Any]) -> None:
        blanket = komb.markov_blanket(XOR, "Y", method="komb", test="g-sci", **bounds)
        assert (blanket.parameters["order"], blanket.parameters["max_separator"]) == (1, 1)
        assert not blanket.choices
        assert blanket.parameters["alpha"] == 0.01
        engine = on_table(XOR, "g-sci", alpha=0.01)
        target = XOR.index("Y")
        task = Task(target, frozenset(range(XOR.n_columns)) - {target})
        found = komb.algorithms()["komb"].search(engine, task, order=1, max_separator=1)
        assert blanket.members == tuple(XOR.names[x] for x in found.witnesses)
        assert blanket.tests == engine.work.tests

    def test_include_start_and_exclude(self) -> None:
        included = komb.markov_blanket(XOR, "Y", include=["E1"])
        assert included.members == ("X1", "X2", "E1")
        assert included["E1"] == komb.Member("E1", None)
        assert komb.markov_blanket(XOR, "Y", exclude=["X2"]).members == ()
        assert komb.markov_blanket(XOR, "Y", start=["E1", "X1"]).members == ("X1", "X2")
        assert komb.markov_blanket(XOR, "Y", order=0, start=included).members == ()

    def test_thin_tables_are_counted(self) -> None:
        rng = np.random.default_rng(0)
        thin = rng.integers(0, 6, (100, 4))
        assert komb.markov_blanket(thin, 0).fallbacks == 0
        assert komb.markov_blanket(thin, 0, method="komb", test="g-sci").fallbacks > 0
        assert komb.markov_blanket(thin, 0, test="g").unreliable > 0

    @pytest.mark.parametrize("test", komb.tests())
    def test_every_test(self, test: str) -> None:
        takes_df = "df" in {option.name for option in komb.tests()[test].options}
        for df in ("observed", "adjusted") if takes_df else (None,):
            for method in ("komb",) if test == "perm" else ("auto", "komb"):
                found = komb.markov_blanket(XOR, "Y", method=method, test=test, df=df)
                assert found.members == ("X1", "X2")
                assert found.parameters.get("df") == df

    @pytest.mark.parametrize("method", komb.algorithms())
    def test_every_method_finds_an_and(self, method: str) -> None:
        table = komb.boolean_table("and", 2000, n_parents=2, n_irrelevant=3)
        found = komb.markov_blanket(table, "Y", method=method, alpha=0.001)
        assert found.members == ("X1", "X2")


CHAIN = komb.DiscreteNetwork.random(8, cardinality=2, seed=9).sample(2000, 1)
BOUNDED = [name for name, i in komb.algorithms().items() if "max_conditioning" in i.defaults]


class TestMaxConditioning:
    @pytest.mark.parametrize("method", BOUNDED)
    def test_it_is_reported(self, method: str) -> None:
        default = komb.algorithms()[method].defaults["max_conditioning"]
        left_out = komb.markov_blanket(CHAIN, "X3", method=method)
        assert left_out.parameters["max_conditioning"] == default
        given = komb.markov_blanket(CHAIN, "X3", method=method, max_conditioning=2)
        assert given.parameters["max_conditioning"] == 2
        many = komb.markov_blankets(CHAIN, ["X1", "X3"], method=method, max_conditioning=2)
        assert many["X3"] == given

    def test_it_makes_a_difference(self) -> None:
        for method in BOUNDED:
            tests = [
                komb.markov_blanket(CHAIN, "X6", method=method, max_conditioning=bound).tests
                for bound in (0, 4)
            ]
            assert tests[0] != tests[1], method

    def test_growing_stops_at_the_bound(self) -> None:
        for method in ("gs", "iamb"):
            for bound in (0, 1, 2):
                blanket = komb.markov_blanket(CHAIN, "X6", method=method, max_conditioning=bound)
                assert len(blanket) <= bound + 1
            assert len(komb.markov_blanket(CHAIN, "X6", method=method)) > 3


class TestData:
    @pytest.mark.parametrize(
        "make", [dict, pd.DataFrame, pl.DataFrame, komb.DiscreteTable.from_data]
    )
    def test_kinds_of_table(self, make: Callable[[Any], object]) -> None:
        assert komb.markov_blanket(make(columns()), "Y").members == ("X1", "X2")

    def test_an_array_has_numbered_columns(self) -> None:
        array = XOR.codes.T
        assert komb.markov_blanket(array, 2).members == (0, 1)
        assert komb.markov_blanket(array, np.int64(2)).target == 2

    def test_numpy_numbers_are_numbers(self) -> None:
        expected = komb.markov_blanket(
            XOR, "Y", order=1, max_separator=1, alpha=0.01, level=0.1, time_budget=600
        )
        numbers: Any = {
            "level": np.float64(0.1),
            "time_budget": np.float64(600),
            "order": np.int8(1),
            "max_separator": np.uint64(1),
            "alpha": np.float64(0.01),
        }
        assert komb.markov_blanket(XOR, "Y", **numbers) == expected

    def test_two_columns_will_do(self) -> None:
        assert komb.markov_blanket({"a": [0, 1] * 50, "b": [0, 1] * 50}, "b").members == ("a",)

    def test_many_levels_have_kernels_of_their_own(self) -> None:
        wide = columns() | {"id": [number % 300 for number in range(500)]}
        assert komb.markov_blanket(wide, "Y", exclude=["id"]).members == ("X1", "X2")


class TestManyTargets:
    def test_all_columns(self) -> None:
        blankets = komb.markov_blankets(XOR)
        assert list(blankets) == list(XOR.names)
        assert blankets["X1"].members == ("X2", "Y")
        for target, blanket in blankets.items():
            assert blanket == komb.markov_blanket(XOR, target)

    def test_chosen_ones_in_their_order(self) -> None:
        assert list(komb.markov_blankets(XOR, ["Y", "X1", "Y"])) == ["Y", "X1"]
        assert list(komb.markov_blankets(XOR, iter(["Y"]), n_jobs=1)) == ["Y"]
        assert list(komb.markov_blankets(XOR, np.array(["Y"]))) == ["Y"]

    def test_constant_columns_are_no_targets_by_default(self) -> None:
        table = columns() | {"same": [1] * 500}
        assert "same" not in komb.markov_blankets(table)
        with pytest.raises(
            DataError, match=r"'target' must be .* got 'same', which is 1 in every row"
        ):
            komb.markov_blankets(table, ["same"])
        with pytest.raises(DataError, match="2 constant ones"):
            komb.markov_blankets({"a": [1, 1], "b": [2, 2]})

    def test_requests_hold_for_every_target_but_the_named(self) -> None:
        blankets = komb.markov_blankets(XOR, include=["E1"])
        assert "E1" in blankets["Y"]
        assert "E1" not in blankets["E1"]
        with pytest.raises(ParameterError, match="'include' must not name the target; got 'Y'"):
            komb.markov_blankets(XOR, ["Y"], include=["Y"])

    def test_targets_must_be_a_list_with_something_in_it(self) -> None:
        with pytest.raises(
            ParameterError, match=r"'targets' .*Pass a list of column names.*\['Y'\]"
        ):
            komb.markov_blankets(XOR, "Y")
        with pytest.raises(ParameterError, match="'targets' must name at least one column"):
            komb.markov_blankets(XOR, [])


class TestProgress:
    def test_it_speaks_of_names(self) -> None:
        seen: list[Progress] = []
        komb.markov_blankets(XOR, ["E1", "Y"], progress=seen.append)
        last = seen[-1]
        assert (last.target, last.blanket, last.position, last.n_targets) == (
            "Y",
            ("X1", "X2"),
            1,
            2,
        )
        assert last.tests > 0
        assert {progress.phase for progress in seen} >= {"neighbours", "spouses", "groups"}

    def test_it_must_be_callable(self) -> None:
        with pytest.raises(ParameterError, match=r"'progress' must be a function .*; got 3"):
            komb.markov_blanket(XOR, "Y", progress=3)


class TestInterruption:
    @staticmethod
    def stop_at(target: str) -> Callable[[Progress], None]:
        def stop(progress: Progress) -> None:
            if progress.target == target and progress.blanket:
                raise KeyboardInterrupt

        return stop

    def test_one_target_says_what_had_been_grown(self) -> None:
        with pytest.raises(Interrupted, match=r"blanket of 'Y' had grown to: X1, X2") as caught:
            komb.markov_blanket(XOR, "Y", progress=self.stop_at("Y"))
        assert caught.value.finished == ("X1", "X2")
        assert isinstance(caught.value, KeyboardInterrupt)

    def test_several_targets_keep_those_that_are_complete(self) -> None:
        with pytest.raises(Interrupted, match="after 2 of 3 targets") as caught:
            komb.markov_blankets(XOR, ["X1", "E1", "Y"], progress=self.stop_at("Y"))
        finished = caught.value.finished
        assert isinstance(finished, komb.Blankets)
        assert list(finished) == ["X1", "E1"]

    def test_nothing_grown_yet(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupt(*_: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("komb.api.run.clock", interrupt)
        with pytest.raises(Interrupted, match="nothing yet") as caught:
            komb.markov_blanket(XOR, "Y")
        assert caught.value.finished == ()


COLUMN_LISTS = ("start", "include", "exclude")
BadParameters = tuple[dict[str, Any], type[InputError], list[str]]


def bad_parameters() -> Iterator[BadParameters]:  # noqa: C901 - a list, no algorithm
    """Yield what to pass, which error to expect and what its message must say."""
    yield {"target": "y"}, UnknownNameError, ["'target'", "no column 'y'", "Did you mean 'Y'"]
    yield {"target": None}, UnknownNameError, ["'target'", "no column None", "Known: 'X1'"]
    yield {"target": ["Y"]}, ParameterError, ["'target' must be the name", "list", "as a column"]
    yield {"method": "kmb"}, UnknownNameError, ["no method 'kmb'", "Did you mean 'komb'"]
    yield {"method": []}, UnknownNameError, ["no method []", "Known: "]
    yield {"test": "gsci"}, UnknownNameError, ["no test 'gsci'", "'g-sci'", "'chi2'"]
    yield {"test": None}, ParameterError, ["'test' must be the name of a test", "None", "g-sci"]
    rule = "'df' must be 'observed' or 'adjusted'"
    yield {"df": "both", "test": "g"}, ParameterError, [rule, "'both'"]
    left_out = "must be left out for method 'auto' and test 'auto', which have no such option"
    yield {"df": "adjusted"}, ParameterError, [f"'df' {left_out}", "it: test 'chi2', test 'cressie"]
    yield {"seed": 1}, ParameterError, [f"'seed' {left_out}", "it: test 'perm'."]
    for seed in (-1, 1.5, True, "1"):
        parts = ["'seed' must be a whole number", repr(seed)]
        yield {"seed": seed, "test": "perm", "method": "komb"}, ParameterError, parts
    yield {"alfa": 0.1}, UnknownNameError, ["no option 'alfa'", "Did you mean 'alpha'"]
    yield {"types": "auto"}, ParameterError, ["'types' must be said of the table; got 'auto'"]
    for alpha in (0, 1, -0.1, 1.5, float("nan"), float("inf"), True, "auto", [0.01]):
        rule = "must be a number between 0 and 1"
        yield {"alpha": alpha}, ParameterError, ["'alpha'", rule, repr(alpha), "Try alpha=0.01, or"]
        yield {"level": alpha}, ParameterError, ["'level'", rule, repr(alpha), "Try level=0.05, or"]
    for seconds in (0, -1, float("nan"), float("inf"), True, "1"):
        rule = "'time_budget' must be a number of seconds above 0"
        yield {"time_budget": seconds}, ParameterError, [rule, repr(seconds), "Try time_budget=60"]
    for name in ("order", "max_separator", "max_conditioning"):
        method = "pcmb" if name == "max_conditioning" else "komb"
        for number in (-1, 1.0, 1.5, "1", True, [1]):
            rule = f"{name!r} must be a whole number, at least 0"
            changes: dict[str, Any] = {name: number, "method": method}
            yield changes, ParameterError, [rule, repr(number), f"Try {name}="]
    for name in ("order", "max_separator"):
        for method in ("auto", "komb"):
            parts = [f"{name!r} must be a whole number", "got 'auto'", "or leave it out"]
            yield {name: "auto", "method": method}, ParameterError, parts
    yield {"test": "perm"}, ParameterError, ["'test' must", "'perm'", "such as method='komb'"]
    rule = "'order' must be at most 4 for a table of 6 columns"
    yield {"order": 5}, ParameterError, [rule, "got 5", "Try order=4"]
    rule = "'order' must be left out for method 'pcmb' and test 'auto', which have no such option"
    have = "it: method 'auto', method 'komb'."
    yield {"order": 2, "method": "pcmb"}, ParameterError, [rule, "got 2", have]
    rule = "'max_separator' must be left out for method 'iamb'"
    yield {"max_separator": 1, "method": "iamb"}, ParameterError, [rule, "got 1", have]
    for name, value in (("level", 0.1), ("time_budget", 9.0)):
        rule = f"{name!r} must be left out for method 'komb' and test 'auto', which have no"
        parts = [rule, f"got {value}", "it: method 'auto'."]
        yield {name: value, "method": "komb"}, ParameterError, parts
    rule = "'max_conditioning' must be left out for method 'auto' and test 'auto'"
    parts = [rule, "got 3", "use one that has it: method 'bamb', method 'gs'"]
    yield {"max_conditioning": 3}, ParameterError, parts
    for name in COLUMN_LISTS:
        for names in ("X1", 3, None):
            rule = f"{name!r} must be a list of column names"
            yield {name: names}, ParameterError, [rule, repr(names), "Pass a list"]
        yield {name: ["x1"]}, UnknownNameError, [repr(name), "no column 'x1'", "mean 'X1'"]
        rule = f"{name!r} must not name the target"
        yield {name: ["Y"]}, ParameterError, [rule, "'Y'", "Take it out"]
    for name in ("start", "include"):
        rule = f"'exclude' must have no column in common with {name!r}"
        both = {name: ["X1", "E1"], "exclude": ["E2", "E1"]}
        yield both, ParameterError, [rule, "got 'E1'", "Take it out"]


BAD_DATA: list[tuple[object, type[InputError], list[str]]] = [
    ({}, DataError, ["'data' must have at least one row and one column"]),
    ({"Y": [], "X": []}, DataError, ["'data' must have at least one row", "0 x 2"]),
    ({"Y": [0, 1]}, DataError, ["'data' must have at least 2 columns", "got 1", "delimiter"]),
    ({"Y": [0], "X": [1]}, DataError, ["'data' must have at least 2 rows", "got 1"]),
    ({"Y": [1, 1], "X": [0, 1]}, DataError, ["'target'", "'Y', which is 1 in every row", "Choose"]),
    ({"Y": [0, None], "X": [0, 1]}, DataError, ["'Y', which is 0 in every row with a value"]),
    ({"Y": [0, 1], "X": [None, None]}, DataError, ["at least 2 columns", "'X': empty, left out"]),
    ({"Y": [0, 1] * 5, "X": [0, np.inf] * 5}, DataError, ["'X' holds 5 infinite values", "na_val"]),
    ({"Y": [f"n{i}" for i in range(30)], "X": [0, 1, 2] * 10}, DataError,
     ["'target' must name a column that can be tested", "identifier", "types={'Y': 'nominal'}"]),
    (pd.DataFrame([[0, 1], [1, 0]], columns=["Y", "Y"]), DataError, ["distinct", "'Y' (2 times)"]),
    ([1, 2], DataError, ["'data' must be a pandas"]),
    ("data.csv", DataError, ["'data' must be a pandas", "read_table"]),
]  # fmt: skip


class TestBadInput:
    @pytest.mark.parametrize(("changes", "kind", "parts"), list(bad_parameters()), ids=repr)
    def test_parameters(
        self, changes: dict[str, Any], kind: type[InputError], parts: list[str]
    ) -> None:
        arguments: dict[str, Any] = {"target": "Y", **changes}
        with pytest.raises(kind) as caught:
            komb.markov_blanket(XOR, **arguments)
        for part in parts:
            assert part in str(caught.value)
        arguments["targets"] = [arguments.pop("target")]
        with pytest.raises(kind):
            komb.markov_blankets(XOR, **arguments)

    @pytest.mark.parametrize(("data", "kind", "parts"), BAD_DATA, ids=lambda value: "")
    def test_data(self, data: object, kind: type[InputError], parts: list[str]) -> None:
        with pytest.raises(kind) as caught:
            komb.markov_blanket(data, "Y")
        for part in parts:
            assert part in str(caught.value)

    def test_nothing_is_counted_before_all_is_checked(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("komb.api.run.open_engine", lambda *_, **__: pytest.fail("counted"))
        with pytest.raises(InputError):
            komb.markov_blankets(XOR, ["Y", "X1", "nobody"])


class TestWarmUp:
    @pytest.fixture(autouse=True)
    def _fresh(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(warmup, "_done", set())

    def test_it_is_silent_when_it_is_quick(self, caplog: pytest.LogCaptureFixture) -> None:
        komb.markov_blanket(XOR, "Y")
        assert not caplog.records

    def test_nothing_hides_the_notice(self) -> None:
        assert not logging.getLogger("komb").handlers


def test_excluded_columns_are_not_looked_at() -> None:
    """Whatever they hold: missing values, measurements, more levels than a column may have."""
    n_rows = 70_000
    rng = np.random.default_rng(0)
    hall, stairs = rng.integers(0, 2, (2, n_rows))
    data: dict[str, Any] = {
        "hall": hall,
        "stairs": stairs,
        "lamp": hall ^ stairs,
        "row": np.arange(n_rows),
        "time": rng.random(n_rows),
        "note": [None] * n_rows,
    }
    blanket = komb.markov_blanket(data, "lamp", exclude=["row", "time", "note"])
    assert blanket.members == ("hall", "stairs")
    assert blanket.parameters["exclude"] == ("row", "time", "note")
    array = np.column_stack([hall, np.arange(n_rows), hall ^ stairs, stairs])
    assert komb.markov_blanket(array, 2, exclude=[1]).members == (0, 3)
    assert list(komb.markov_blankets(array, exclude=[1])) == [0, 2, 3]


def test_identifiers_are_named() -> None:
    data = {"lamp": [i % 2 for i in range(60)], "row": list(range(60)), "x": [0, 1, 1] * 20}
    blanket = komb.markov_blanket(data, "lamp")
    assert blanket.identifiers == ("row",)
    assert "Left out: row (identifier)" in str(blanket)
    strict = komb.markov_blanket(komb.table(data, types="strict"), "lamp")
    assert strict.identifiers == ("row",)
    assert "Caution: row has a different value in most rows" in str(strict)
    assert komb.markov_blanket(data, "lamp", exclude=["row"]).identifiers == ()
    assert komb.Blanket.from_dict(blanket.to_dict()) == blanket


class TestSharing:
    """Targets of one call share an engine, which changes the work but no answer."""

    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize("options", [{}, {"include": ["X3"], "order": 1}])
    def test_answers_are_those_of_single_calls(self, seed: int, options: dict[str, Any]) -> None:
        table = komb.DiscreteNetwork.random(9, degree=3, seed=seed).sample(400, seed)
        targets = [name for name in table.names if name != "X3"]
        many = komb.markov_blankets(table, targets, **options)
        backwards = komb.markov_blankets(table, targets[::-1], **options)
        for name in targets:
            assert many[name] == backwards[name] == komb.markov_blanket(table, name, **options)

    def test_forgetting_between_targets_changes_nothing(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        table = komb.DiscreteNetwork.random(9, degree=3, seed=1).sample(400, 1)
        plain = dict(komb.markov_blankets(table))
        open_engine = Run.open_engine

        def forgetful(run: Run, *arguments: Any) -> Engine:
            engine = open_engine(run, *arguments)
            monkeypatch.setattr(engine, "trim", partial(engine.trim, 0))
            return engine

        monkeypatch.setattr(Run, "open_engine", forgetful)
        assert dict(komb.markov_blankets(table)) == plain

    @pytest.mark.parametrize(("method", "n_engines"), [("auto", 1), ("mmmb", 3)])
    def test_one_engine_where_it_helps(
        self, method: str, n_engines: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        komb.markov_blanket(XOR, "Y", method=method)  # kernels are ready
        opened: list[object] = []
        open_engine = Run.open_engine

        def count(run: Run, *arguments: Any) -> Engine:
            opened.append(run)
            return open_engine(run, *arguments)

        monkeypatch.setattr(Run, "open_engine", count)
        komb.markov_blankets(XOR, ["Y", "X1", "X2"], method=method)
        assert len(opened) == n_engines

    def test_workers_share_as_well(self) -> None:
        table = komb.DiscreteNetwork.random(20, degree=2, seed=1).sample(300, 1)
        with joblib.parallel_config(backend="threading"):
            found = komb.markov_blankets(table, n_jobs=2)
        assert list(found) == list(table.names)
        assert dict(found) == dict(komb.markov_blankets(table))
