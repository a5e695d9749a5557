"""Several methods on one table: what `komb.compare` accepts, refuses and returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import networkx as nx
import numpy as np
import polars as pl
import pytest

import komb
from komb.api.progress import Progress
from komb.data.table import encode_table
from komb.errors import DataError, InputError, Interrupted, ParameterError, UnknownNameError
from komb.search import registry
from komb.search.task import Found, Task
from tests.optional import pandas as pd

XOR = komb.boolean_table("parity", 500, n_parents=2, n_irrelevant=3)  # X1, X2, Y, E1, E2, E3
SOME = ["iamb", "komb", "auto"]
CHAIN = komb.DiscreteNetwork(
    parents={"a": [], "b": ["a"], "c": ["b", "d"], "d": []},
    tables={
        "a": [0.5, 0.5],
        "b": [[0.9, 0.1], [0.1, 0.9]],
        "c": [[[0.9, 0.1], [0.2, 0.8]], [[0.3, 0.7], [0.05, 0.95]]],
        "d": [0.5, 0.5],
    },
)


@pytest.fixture
def recorder() -> Iterator[list[dict[str, Any]]]:
    """Register a method without options that finds nothing; yields what it is called with."""
    calls: list[dict[str, Any]] = []

    def find_blanket(engine: Any, task: Task, **options: Any) -> Found:
        calls.append(options)
        return Found({})

    registry.register_algorithm("nothing", summary="Finds nothing.")(find_blanket)
    yield calls
    registry.ALGORITHMS.remove("nothing")


class TestMethods:
    def test_all_by_default_each_as_it_runs_by_itself(self) -> None:
        comparison = komb.compare(XOR, "Y")
        assert list(comparison.blankets) == list(komb.algorithms())
        for name, blanket in comparison.blankets.items():
            assert blanket == komb.markov_blanket(XOR, "Y", method=name)
        assert comparison.blankets["auto"].parameters["alpha"] == 0.023
        assert comparison.blankets["komb"].parameters["alpha"] == 0.01

    def test_chosen_ones_in_their_order(self) -> None:
        names = ["komb", "gs", "auto"]
        for chosen in (names, tuple(names), iter(names), np.array(names)):
            assert list(komb.compare(XOR, "Y", methods=chosen).blankets) == names

    def test_common_options_reach_every_method(self) -> None:
        common: dict[str, Any] = {
            "alpha": 0.05,
            "test": "chi2",
            "df": "adjusted",
            "start": np.array(["X1"]),
            "include": iter(["E1"]),
            "exclude": iter(["E3"]),
        }
        comparison = komb.compare(XOR, "Y", **common)
        assert "\nevery method at alpha 0.05, " in str(comparison)
        for blanket in comparison.blankets.values():
            reported = {key: blanket.parameters[key] for key in common}
            assert reported == {
                "alpha": 0.05,
                "test": "chi2",
                "df": "adjusted",
                "start": ("X1",),
                "include": ("E1",),
                "exclude": ("E3",),
            }
            assert blanket.n_columns == 5

    def test_each_method_gets_the_options_it_takes(self, recorder: list[dict[str, Any]]) -> None:
        comparison = komb.compare(XOR, "Y", methods=["nothing", "komb"], order=2, max_separator=1)
        assert recorder == [{}]
        assert comparison.blankets["komb"].parameters["order"] == 2
        assert "order" not in comparison.blankets["nothing"].parameters

    @pytest.mark.parametrize("option", ["order", "max_separator", "max_conditioning"])
    def test_options_reach_all_methods_that_take_them(self, option: str) -> None:
        options: dict[str, Any] = {option: 2}
        for name, blanket in komb.compare(XOR, "Y", **options).blankets.items():
            is_taken = option in komb.algorithms()[name].defaults
            assert (blanket.parameters.get(option) == 2) == is_taken

    def test_an_option_that_nobody_takes_is_refused(self, recorder: list[dict[str, Any]]) -> None:
        with pytest.raises(ParameterError, match=r"'order' must be left out.*got 2.*: nothing\."):
            komb.compare(XOR, "Y", methods=["nothing"], order=2)
        assert not recorder
        komb.compare(XOR, "Y", methods=["nothing"], order=None)
        assert recorder == [{}]

    def test_a_model_answers_all_of_them(self) -> None:
        comparison = komb.compare(CHAIN, "b", methods=["gs", "auto", "komb"], truth=CHAIN)
        for blanket in comparison.blankets.values():
            assert blanket.members == ("a", "c", "d")
            assert (blanket.n_rows, blanket.parameters["test"]) == (0, "distribution")
        assert comparison.scores is not None
        assert comparison.scores["gs"].f1 == 1
        assert "distribution" in str(comparison)
        with pytest.raises(ParameterError, match="'alpha' must be left out for a network"):
            komb.compare(CHAIN, "b", alpha=0.05)


@pytest.mark.parametrize("target", ["X1", "Y"])
def test_every_method_runs_as_it_does_alone(target: str) -> None:
    """The level that auto chooses too: nobody is told what a user does not get."""
    table = komb.boolean_network("and", n_parents=3).sample(2000)
    for method, blanket in komb.compare(table, target).blankets.items():
        alone = komb.markov_blanket(table, target, method=method)
        assert blanket == alone
        assert blanket.parameters["alpha"] == alone.parameters["alpha"]


class TestTable:
    def test_it_is_encoded_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        frame = pl.DataFrame({str(name): XOR.column(name) for name in XOR.names})
        seen: list[Sequence[object]] = []

        def spy(data: Any, *arguments: Any, **options: Any) -> komb.DiscreteTable:
            seen.append(data.names)
            return encode_table(data, *arguments, **options)

        monkeypatch.setattr("komb.data.reading.encode_table", spy)
        comparison = komb.compare(frame, "Y", methods=SOME)
        assert seen == [frame.columns]
        plain = komb.compare(XOR, "Y", methods=SOME)
        for name, blanket in comparison.blankets.items():
            assert blanket.evidence == plain.blankets[name].evidence

    def test_excluded_columns_are_not_looked_at(self) -> None:
        data = {str(name): XOR.column(name) for name in XOR.names} | {"note": [None] * 500}
        comparison = komb.compare(data, "Y", methods=SOME, exclude=["note"])
        alone = komb.markov_blanket(data, "Y", method="komb", exclude=["note"])
        assert comparison.blankets["komb"] == alone

    def test_numbered_columns(self) -> None:
        comparison = komb.compare(XOR.codes.T, np.int64(2), methods=SOME, truth=[1, 0])
        assert comparison.target == 2
        assert comparison.truth == (0, 1)
        assert comparison.members == (0, 1)

    def test_members_are_in_the_order_of_the_table(self) -> None:
        found = komb.compare(XOR, "Y", methods=["komb", "iamb"], include=["E2"])
        assert found.members == ("X1", "X2", "E2")
        assert komb.compare(XOR, "Y", methods=["iamb"]).members == ()
        assert komb.compare(XOR, "Y", methods=["iamb"], truth=["E3"]).members == ("E3",)


class TestTruth:
    @pytest.mark.parametrize(
        "truth",
        [
            ["d", "a", "c"],
            {"d", "a", "c"},
            iter("dac"),
            CHAIN,
            CHAIN.graph,
            pd.Series(["d", "a", "c"]),
            ("d", "a", "c", "a"),
        ],
        ids=lambda truth: type(truth).__name__,
    )
    def test_kinds(self, truth: object) -> None:
        comparison = komb.compare(CHAIN.sample(2000), "b", methods=["komb"], truth=truth)
        assert comparison.truth == ("a", "c", "d")

    def test_a_blanket_can_be_the_truth(self) -> None:
        blanket = komb.markov_blanket(XOR, "Y")
        scores = komb.compare(XOR, "Y", methods=["komb"], truth=blanket).scores
        assert scores is not None
        assert scores["komb"].f1 == 1

    def test_a_field_can_be_the_truth(self) -> None:
        field = komb.MarkovField.random(5, seed=1)
        comparison = komb.compare(field.sample(200), "X1", methods=["komb"], truth=field)
        assert comparison.truth == field.blanket("X1")

    def test_every_graph_gives_the_blanket_of_its_network(self) -> None:
        network = komb.DiscreteNetwork.random(12, degree=3, seed=4)
        table = network.sample(50)
        for name in network.names:
            try:
                comparison = komb.compare(table, name, methods=["komb"], truth=network.graph)
            except DataError:  # constant in so small a sample
                continue
            assert comparison.truth == network.blanket(name)

    def test_the_empty_blanket_is_a_truth_too(self) -> None:
        comparison = komb.compare(XOR, "E1", methods=["komb"], truth=[], alpha=1e-6)
        assert comparison.truth == ()
        assert comparison.scores == {"komb": (1.0, 1.0, 1.0)}

    def test_there_need_not_be_one(self) -> None:
        comparison = komb.compare(XOR, "Y", methods=["komb"])
        assert comparison.truth is None
        assert comparison.scores is None


def bad_arguments() -> Iterator[tuple[dict[str, Any], type[InputError], list[str]]]:
    """Yield what to pass, which error to expect and what its message must say."""
    nothing: list[Any] = [[], (), {}]
    for empty in nothing:
        rule = "'methods' must name at least one method"
        yield {"methods": empty}, ParameterError, [rule, "Leave it out for all"]
    for single in ("komb", 3, b"komb"):
        rule = "'methods' must be a list of methods"
        yield {"methods": single}, ParameterError, [rule, f"methods=[{single!r}]"]
    yield {"methods": ["kmob"]}, UnknownNameError, ["no method 'kmob'", "mean 'komb'"]
    yield {"methods": ["komb", None]}, UnknownNameError, ["no method None", "Known: "]
    yield {"methods": [["komb"]]}, UnknownNameError, ["no method ['komb']"]
    rule = "'methods' must name each method once; got 'komb'"
    yield {"methods": ["komb", "komb"]}, ParameterError, [rule, "all but one"]
    yield {"methods": {"k": {"method": "komb"}}}, UnknownNameError, ["no method 'k'"]
    yield {"ordre": 1}, UnknownNameError, ["no option 'ordre'", "mean 'order'"]
    yield {"method": "komb"}, ParameterError, ["'method' must be left out here", "methods=["]
    yield {"target": "y"}, UnknownNameError, ["'target'", "no column 'y'", "mean 'Y'"]
    yield {"target": ["Y"]}, ParameterError, ["'target' must be the name"]
    yield {"alpha": 1}, ParameterError, ["'alpha' must be a number between 0 and 1"]
    yield {"order": 9}, ParameterError, ["'order' must be at most 4"]
    yield {"max_conditioning": -1}, ParameterError, ["'max_conditioning'", "got -1"]
    yield {"exclude": "E1"}, ParameterError, ["'exclude' must be a list of column names"]
    yield {"exclude": ["e1"]}, UnknownNameError, ["In 'exclude': There is no column 'e1'"]
    yield {"exclude": ["Y"]}, ParameterError, ["'exclude' must not name the target"]
    both = {"include": ["E1"], "exclude": ["E1"]}
    yield both, ParameterError, ["'exclude' must have no column in common with 'include'"]
    yield {"progress": 3}, ParameterError, ["'progress' must be a function"]
    yield {"truth": "X1"}, ParameterError, ["'truth' must be a list of column names", "['X1']"]
    yield {"truth": 3}, ParameterError, ["'truth' must be a list of column names"]
    yield {"truth": ["X1", "x2"]}, UnknownNameError, ["In 'truth'", "no column 'x2'", "'X2'"]
    yield {"truth": ["X1", "Y"]}, ParameterError, ["'truth' must not name the target; got 'Y'"]
    excluded = {"truth": ["X1", "E1"], "exclude": ["E1"]}
    yield excluded, ParameterError, ["'truth' must name no excluded column; got 'E1'"]
    yield {"truth": CHAIN}, UnknownNameError, ["In 'truth'", "no variable 'Y'"]
    yield {"truth": CHAIN.graph}, UnknownNameError, ["In 'truth'", "no node 'Y'"]
    graph = nx.DiGraph([("X1", "Y"), ("Z", "Y")])
    yield {"truth": graph}, UnknownNameError, ["In 'truth'", "no column 'Z'"]
    yield {"truth": graph.to_undirected()}, ParameterError, ["'truth' must be a directed graph"]


class TestBadInput:
    @pytest.mark.parametrize(("changes", "kind", "parts"), list(bad_arguments()))
    def test_nothing_is_counted_before_all_is_checked(
        self,
        changes: dict[str, Any],
        kind: type[InputError],
        parts: list[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr("komb.api.run.open_engine", lambda *_, **__: pytest.fail("counted"))
        arguments: dict[str, Any] = {"target": "Y", **changes}
        with pytest.raises(kind) as caught:
            komb.compare(XOR, **arguments)
        for part in parts:
            assert part in str(caught.value)

    def test_data(self) -> None:
        with pytest.raises(DataError, match="at least 2 columns"):
            komb.compare({"Y": [0, 1]}, "Y")
        with pytest.raises(DataError, match="'Y', which is 1 in every row"):
            komb.compare({"Y": [1, 1], "X": [0, 1]}, "Y")


class TestProgress:
    def test_reports_say_which_method_it_is(self) -> None:
        seen: list[Progress] = []
        komb.compare(XOR, "Y", methods=SOME, progress=seen.append)
        assert {report.phase.partition(": ")[0] for report in seen} == set(SOME)
        assert "grow" in {report.phase.partition(": ")[2] for report in seen}
        assert {(report.position, report.n_targets) for report in seen} == {(0, 3), (1, 3), (2, 3)}


class TestInterruption:
    @staticmethod
    def stop_at(label: str) -> Callable[[Progress], None]:
        def stop(progress: Progress) -> None:
            if progress.phase.startswith(label):
                raise KeyboardInterrupt

        return stop

    def test_complete_methods_are_kept(self) -> None:
        with pytest.raises(Interrupted, match="after 2 of 3 methods") as caught:
            komb.compare(XOR, "Y", methods=SOME, truth=["X1", "E1"], progress=self.stop_at("auto"))
        finished = caught.value.finished
        assert isinstance(finished, komb.Comparison)
        assert list(finished.blankets) == ["iamb", "komb"]
        assert finished.members == ("X1", "X2", "E1")
        assert finished.scores is not None
        assert isinstance(caught.value, KeyboardInterrupt)

    def test_none_is_complete(self) -> None:
        with pytest.raises(Interrupted, match="after 0 of 3 methods") as caught:
            komb.compare(XOR, "Y", methods=SOME, progress=self.stop_at("iamb"))
        assert "Nothing was searched" in str(caught.value.finished)
