"""A grid of orders and bounds gives what separate runs give, and less work."""

from __future__ import annotations

from typing import Any

import pytest

import komb
from komb.data.models.bayesian_network import DiscreteNetwork
from komb.errors import DataError, Interrupted, ParameterError, UnknownNameError

TABLE = DiscreteNetwork.random(9, degree=3, concentration=0.3, seed=3).sample(800, seed=3)
PARITY = komb.boolean_table("parity", 500, n_irrelevant=2)


def contents(blanket: komb.Blanket) -> tuple[Any, ...]:
    """Everything about a blanket but the work it took."""
    return blanket.target, blanket.evidence, blanket.method, dict(blanket.parameters)


class TestAnswers:
    @pytest.mark.parametrize("target", [0, 4, 7])
    @pytest.mark.parametrize("start", [(), (1, 2)])
    def test_each_cell_is_a_separate_run(self, target: int, start: Any) -> None:
        name = TABLE.names[target]
        begin = [TABLE.names[x] for x in start]
        path = komb.blanket_path(
            TABLE, name, orders=[2, 0, 1], max_separators=[2, 1], start=begin, alpha=0.05
        )
        assert list(path) == [(0, 1), (0, 2), (1, 1), (1, 2), (2, 1), (2, 2)]
        for (order, bound), blanket in path.items():
            alone = komb.markov_blanket(
                TABLE, name, method="komb", order=order, max_separator=bound, start=begin,
                alpha=0.05, test="g-sci",
            )  # fmt: skip
            assert contents(blanket) == contents(alone)

    @pytest.mark.parametrize("options", [{"test": "g", "df": "adjusted"}, {"test": "sci"}])
    def test_with_every_kind_of_test(self, options: dict[str, Any]) -> None:
        for (order, bound), blanket in komb.blanket_path(
            TABLE, TABLE.names[4], orders=[1, 2], max_separators=[1, 2], **options
        ).items():
            alone = komb.markov_blanket(
                TABLE, TABLE.names[4], method="komb", order=order, max_separator=bound, **options
            )
            assert contents(blanket) == contents(alone)

    def test_a_model_answers(self) -> None:
        network = komb.boolean_network("parity", n_irrelevant=1)
        path = komb.blanket_path(network, "Y", max_separators=[1])
        assert list(path) == [(0, 1), (1, 1), (2, 1), (3, 1)]
        assert [blanket.members for blanket in path.values()] == [(), ()] + [("X1", "X2", "X3")] * 2
        assert path[2, 1].parameters["test"] == "distribution"
        with pytest.raises(ParameterError, match="'test' must be left out for a network"):
            komb.blanket_path(network, "Y", test="g")

    def test_work_is_shared(self) -> None:
        path = komb.blanket_path(TABLE, TABLE.names[4], orders=[1, 2])
        alone = sum(
            komb.markov_blanket(
                TABLE, TABLE.names[4], method="komb", order=order, max_separator=bound
            ).tests
            for order, bound in path
        )
        assert 0 < sum(blanket.tests for blanket in path.values()) < alone / 2

    def test_the_default_grid(self) -> None:
        path = komb.blanket_path(PARITY, "Y")
        assert list(path) == [(k, bound) for k in range(4) for bound in (1, 2, 3)]
        assert path[2, 1].members == ("X1", "X2", "X3")
        small = {"a": [0, 1] * 9, "b": [1, 0] * 9}
        assert list(komb.blanket_path(small, "a", max_separators=[1])) == [(0, 1), (1, 1)]

    def test_columns_by_request(self) -> None:
        path = komb.blanket_path(PARITY, "Y", orders=[2], include=["E1"], exclude=["E2"])
        assert path[2, 2].members == ("X1", "X2", "X3", "E1")
        assert path[2, 2].parameters["exclude"] == ("E2",)


class TestResult:
    PATH = komb.blanket_path(PARITY, "Y", orders=[1, 2], max_separators=[1])

    def test_it_is_a_mapping(self) -> None:
        assert len(self.PATH) == 2
        assert self.PATH.members == ("X1", "X2", "X3")
        assert repr(self.PATH) == "BlanketPath('Y': 2 cells)"
        with pytest.raises(KeyError):
            self.PATH[3, 1]

    def test_it_shows_itself(self) -> None:
        for text in (str(self.PATH), self.PATH._repr_html_()):
            assert "k=1 l=1" in text
            assert "X3" in text

    def test_it_is_compared_with_the_truth(self) -> None:
        scores = self.PATH.compare(["X1", "X2", "X3"]).scores
        assert scores is not None
        assert (scores["k=1 l=1"].f1, scores["k=2 l=1"].f1) == (0, 1)


class TestBadInput:
    @pytest.mark.parametrize(
        ("changes", "kind", "parts"),
        [
            ({"orders": 2}, ParameterError, ["'orders' must be a list", "2", "Try"]),
            ({"orders": "12"}, ParameterError, ["'orders' must be a list"]),
            ({"orders": []}, ParameterError, ["'orders' must have at least one value"]),
            ({"orders": [1, 9]}, ParameterError, ["'order' must be at most 4", "9"]),
            ({"orders": [-1]}, ParameterError, ["'order'", "-1"]),
            ({"max_separators": [1.5]}, ParameterError, ["'max_separators'", "1.5"]),
            ({"max_separators": []}, ParameterError, ["'max_separators' must have"]),
            ({"target": "Z"}, UnknownNameError, ["In 'target'", "'Z'"]),
            ({"start": "nothing"}, ParameterError, ["'start'", "'nothing'"]),
            ({"order": 2}, ParameterError, ["'order' must be left out here", "orders=[1, 2]"]),
            ({"max_separator": 2}, ParameterError, ["'max_separator' must", "max_separators=["]),
            ({"method": "gs"}, ParameterError, ["'method' must", "always of method 'komb'"]),
            ({"level": 0.1}, ParameterError, ["'level' must be left out for method 'komb'"]),
            ({"orderz": 2}, UnknownNameError, ["no option 'orderz'"]),
            ({"alpha": 2}, ParameterError, ["'alpha'"]),
            ({"progress": 3}, ParameterError, ["'progress'"]),
            ({"data": {"Y": [0, 1]}}, DataError, ["at least 2 columns"]),
        ],
    )
    def test_parameters(
        self, changes: dict[str, Any], kind: type[Exception], parts: list[str]
    ) -> None:
        arguments: dict[str, Any] = {"data": PARITY, "target": "Y", **changes}
        with pytest.raises(kind) as caught:
            komb.blanket_path(**arguments)
        for part in parts:
            assert part in str(caught.value)

    def test_what_is_finished_survives_an_interrupt(self) -> None:
        def stop_late(progress: Any) -> None:
            if progress.position == 2:
                raise KeyboardInterrupt

        with pytest.raises(Interrupted, match="after 2 of 4 cells") as caught:
            komb.blanket_path(PARITY, "Y", orders=[1, 2], max_separators=[1, 2], progress=stop_late)
        finished: Any = caught.value.finished
        assert list(finished) == [(1, 1), (1, 2)]
