"""Networks, fields and graphs that answer instead of data."""

from __future__ import annotations

from typing import Any

import networkx as nx
import pytest

import komb
from komb.api import oracle
from komb.errors import DataError, InputError, ParameterError, UnknownNameError

METHODS = [name for name, info in komb.algorithms().items() if info.is_sound]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("method", ["auto", "komb", "gs", "iamb"])
def test_a_network_gives_its_own_blankets(method: str, seed: int) -> None:
    network = komb.DiscreteNetwork.random(6, max_parents=2, seed=seed)
    options: dict[str, Any] = {"order": 2, "max_separator": 3} if method == "komb" else {}
    for name in network.names:
        blanket = komb.markov_blanket(network, name, method=method, **options)
        assert set(blanket.members) == set(network.blanket(name))
        assert blanket.parameters["test"] == "distribution"
        assert blanket.n_rows == blanket.tables == 0


def test_a_distribution_knows_what_the_graph_does_not() -> None:
    xor = komb.boolean_network("parity", n_parents=2)
    assert komb.markov_blanket(xor, "Y", method="iamb").members == ()
    assert komb.markov_blanket(xor.graph, "Y", method="iamb").members == ("X1", "X2")
    assert komb.markov_blanket(xor, "Y").members == ("X1", "X2")


def test_a_large_network_answers_by_its_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    network = komb.DiscreteNetwork.random(5, max_parents=2, seed=1)
    monkeypatch.setattr(oracle, "MOST_CELLS", 3)
    blanket = komb.markov_blanket(network, "X3")
    assert blanket.parameters["test"] == "d-separation"
    assert set(blanket.members) == set(network.blanket("X3"))


def test_a_field_and_undirected_graphs() -> None:
    field = komb.MarkovField.random(5, seed=2)
    for source in (field, field.graph):
        for name in field.names:
            assert set(komb.markov_blanket(source, name).members) == set(field.blanket(name))


def test_start_include_and_exclude() -> None:
    graph = nx.DiGraph([("a", "b"), ("b", "c"), ("c", "d")])
    assert komb.markov_blanket(graph, "c", exclude=["b"]).members == ("a", "d")
    kept = komb.markov_blanket(graph, "c", include=["a"], method="gs")
    assert kept.members == ("a", "b", "d")
    assert kept["a"].is_by_request
    assert komb.markov_blanket(graph, "c", start=["a"]).members == ("b", "d")


def test_what_it_prints() -> None:
    text = str(komb.markov_blanket(nx.path_graph(4), 1))
    assert "Markov blanket of 1: 0, 2" in text
    assert "separation" in text
    assert "rows" not in text


def test_progress_is_reported() -> None:
    seen: list[Any] = []
    komb.markov_blanket(nx.path_graph(4), 1, progress=seen.append)
    assert {step.target for step in seen} == {1}
    assert all(step.phase for step in seen)
    assert seen[-1].blanket == (0, 2)
    assert {(step.position, step.n_targets, step.finished) for step in seen} == {(0, 1, 0)}


GRAPH = nx.DiGraph([("a", "b"), ("c", "b")])


@pytest.mark.parametrize(
    ("data", "target", "options", "error", "words"),
    [
        (GRAPH, "z", {}, UnknownNameError, ["target", "no variable 'z'"]),
        (GRAPH, "a", {"exclude": ["z"]}, UnknownNameError, ["exclude", "no variable 'z'"]),
        (GRAPH, "a", {"include": ["a"]}, ParameterError, ["'include'", "not name the target"]),
        (GRAPH, "a", {"alpha": 0.05}, ParameterError, ["'alpha'", "left out", "sample"]),
        (GRAPH, "a", {"test": "g"}, ParameterError, ["'test'", "left out"]),
        (GRAPH, "a", {"level": 0.1}, ParameterError, ["'level'", "left out"]),
        (GRAPH, "a", {"test": "perm", "seed": 1, "method": "gs"}, ParameterError, ["left out"]),
        (GRAPH, "a", {"exclude": ["a"]}, ParameterError, ["'exclude'", "not name the target"]),
        (GRAPH, "a", {"method": "gs", "order": 1}, ParameterError, ["'order'", "'gs'"]),
        (nx.Graph(), "a", {}, DataError, ["at least 1 node"]),
        (GRAPH, ["a"], {}, ParameterError, ["'target' must be the name", "a list"]),
        (nx.DiGraph([(0, 1), (1, 0)]), 0, {}, DataError, ["without directed cycles", "0 -> 1"]),
    ],
)
def test_bad_input(
    data: Any, target: Any, options: Any, error: type[InputError], words: list[str]
) -> None:
    with pytest.raises(error) as caught:
        komb.markov_blanket(data, target, **options)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("method", METHODS)
def test_sound_methods_are_right_about_a_graph(method: str) -> None:
    graph = nx.DiGraph([(0, 2), (1, 2), (2, 3), (4, 3), (3, 5)])
    options: dict[str, Any] = {}
    if "max_separator" in komb.algorithms()[method].defaults:
        options = {"order": 1, "max_separator": 3}
    for target in graph:
        found = komb.markov_blanket(graph, target, method=method, **options).members
        parents, children = set(graph.predecessors(target)), set(graph.successors(target))
        spouses = {p for child in children for p in graph.predecessors(child)}
        assert set(found) == (parents | children | spouses) - {target}


def test_many_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    network = komb.DiscreteNetwork.random(6, max_parents=2, seed=3)
    for model in (network, network.graph):
        many = komb.markov_blankets(model)
        assert list(many) == list(network.names)
        assert many == komb.markov_blankets(model, n_jobs=2)
        for name, blanket in many.items():
            assert blanket == komb.markov_blanket(model, name)
    assert "X2" not in komb.markov_blankets(network, exclude=["X2"])
    assert "X2" not in komb.markov_blankets(network, given=["X2"])
    joined = komb.markov_blankets(network.graph).to_networkx()
    edges = {frozenset(edge) for edge in network.graph.edges}
    assert {frozenset(edge) for edge in joined.edges} == edges


def test_a_page_about_a_model() -> None:
    page = komb.report(komb.boolean_network("parity", n_parents=2), "Y", methods=["gs"])
    assert page.explanation is None
    assert page.blanket.members == ("X1", "X2")
    assert page.comparison is not None
    assert page.comparison.blankets["gs"].members == ()
    assert "What do other methods find?" in page.html
    assert "The data</h2>" not in page.html


@pytest.mark.parametrize("ask", ["explain", "ranking", "stability"])
def test_only_rows_can_be_measured(ask: str) -> None:
    blanket = komb.markov_blanket(komb.boolean_network("parity", n_parents=2), "Y")
    with pytest.raises(DataError, match=rf"network or graph has no {ask}\(\).*sample\(1000\)"):
        getattr(blanket, ask)()


def test_time_is_bounded_and_interrupts_are_ours() -> None:
    graph = nx.DiGraph((a, b) for a in range(12) for b in range(a + 1, min(a + 4, 12)))
    blanket = komb.markov_blanket(graph, 3, time_budget=1e-9)
    assert blanket.parameters["time_budget"] == 1e-9

    def stop(_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(komb.errors.Interrupted, match="Interrupted; the blanket of 3 had grown to"):
        komb.markov_blanket(graph, 3, progress=stop)
