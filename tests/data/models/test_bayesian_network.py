from __future__ import annotations

from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.data.models.bayesian_network import DiscreteNetwork
from komb.data.models.sampling import thresholds
from komb.errors import ParameterError, UnknownNameError

COIN = [0.5, 0.5]
COPY = [[0.9, 0.1], [0.2, 0.8]]
EITHER = [[COIN, [0.9, 0.1]], [[0.3, 0.7], [0.1, 0.9]]]


def collider() -> DiscreteNetwork:
    return DiscreteNetwork(
        {"w": [], "z": ["x", "y"], "x": [], "y": [], "below": ["z"]},
        {"w": [1 / 3] * 3, "x": COIN, "y": [0.25, 0.75], "z": EITHER, "below": COPY},
        {"x": ["no", "yes"]},
    )


networks = st.builds(
    DiscreteNetwork.random,
    st.integers(1, 7),
    degree=st.floats(0, 4),
    cardinality=st.just((2, 4)),
    max_parents=st.integers(0, 3),
    seed=st.integers(0, 10**6),
)


def test_structure() -> None:
    network = collider()
    assert network.names == ("w", "z", "x", "y", "below")
    assert network.cardinalities.tolist() == [3, 2, 2, 2, 2]
    assert network.parents("z") == ("x", "y")
    assert network.children("x") == ("z",)
    assert network.levels("x") == ("no", "yes")
    assert network.levels("w") == (0, 1, 2)
    assert network.blanket("x") == ("z", "y")
    assert network.blanket("z") == ("x", "y", "below")
    assert network.blanket("w") == ()
    assert repr(network) == "DiscreteNetwork(5 variables, 3 edges)"
    assert repr(DiscreteNetwork({"x": []}, {"x": COIN})) == "DiscreteNetwork(1 variable, 0 edges)"


def test_graph() -> None:
    graph = collider().graph
    assert list(graph.nodes) == ["w", "z", "x", "y", "below"]
    assert set(graph.edges) == {("x", "z"), ("y", "z"), ("z", "below")}


@settings(deadline=None)
@given(networks)
def test_blankets_separate_and_are_minimal(network: DiscreteNetwork) -> None:
    graph = network.graph
    assert nx.is_directed_acyclic_graph(graph)
    for name in network.names:
        blanket = set(network.blanket(name))
        others = set(network.names) - blanket - {name}
        assert not others or nx.is_d_separator(graph, {name}, others, blanket)
        for member in blanket:
            assert not nx.is_d_separator(graph, {name}, {member}, blanket - {member})


@settings(deadline=None)
@given(networks)
def test_the_joint_distribution_has_the_tables_as_conditionals(network: DiscreteNetwork) -> None:
    joint = network.joint()
    assert joint.sum() == pytest.approx(1)
    names = network.names
    for name in names:
        scope = [*network.parents(name), name]
        axes = [names.index(member) for member in scope]
        others = tuple(axis for axis in range(len(names)) if axis not in axes)
        kept = sorted(axes)
        marginal = joint.sum(axis=others).transpose([kept.index(axis) for axis in axes])
        conditional = marginal / marginal.sum(axis=-1, keepdims=True)
        assert np.allclose(conditional, network.table(name))


def test_samples_agree_with_the_joint_distribution() -> None:
    network = collider()
    n_rows = 200_000
    table = network.sample(n_rows, seed=7)
    assert table.names == network.names
    assert table.levels[2] == ("no", "yes")
    shape = tuple(network.cardinalities.tolist())
    cells = np.ravel_multi_index(tuple(table.codes.astype(int)), shape)
    exact = network.joint().ravel()
    found = np.bincount(cells, minlength=exact.size)
    # Pearson's statistic has mean 47 and standard deviation 9.7 here.
    statistic = ((found - n_rows * exact) ** 2 / (n_rows * exact)).sum()
    assert statistic < 47 + 5 * 9.7


def test_seeds() -> None:
    network = collider()
    assert network.sample(100, seed=1) == network.sample(100, seed=1)
    assert network.sample(100, seed=1) != network.sample(100, seed=2)
    assert network.sample(100) == network.sample(100, seed=0)


def test_levels_that_do_not_occur_are_dropped() -> None:
    network = DiscreteNetwork({"x": []}, {"x": [0, 0.5, 0, 0.5, 0]}, {"x": "abcde"})
    assert network.sample(1000).levels == (("b", "d"),)
    assert network.sample(1).n_rows == 1


def test_many_levels() -> None:
    network = DiscreteNetwork({"x": []}, {"x": np.full(300, 1 / 300)})
    table = network.sample(20_000)
    assert table.codes.dtype == np.uint16
    assert table.cardinalities.tolist() == [300]


def test_impossible_levels_are_out_of_reach() -> None:
    tenths = np.full(12, 0.1)  # ten of them do not quite sum to one
    tenths[10:] = 0
    assert thresholds(tenths)[9:].tolist() == [1.0, 1.0]


def test_rounding_is_divided_out_and_tables_are_protected() -> None:
    given_table = np.array([0.3333333, 0.3333333, 0.3333333])
    network = DiscreteNetwork({"x": []}, {"x": given_table})
    assert network.table("x").sum() == pytest.approx(1, abs=1e-15)
    assert given_table[0] == 0.3333333
    with pytest.raises(ValueError, match="read-only"):
        network.table("x")[0] = 1


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ({}, r"'parents' must map every variable to its parents; got \{\}"),
        (["x"], "'parents' must map"),
        ({"x": "y", "y": []}, r"map 'x' to a list of variables; got 'y'. Write \['y'\]"),
        ({"x": ["y", "y"], "y": []}, "name each parent of 'x' once"),
        ({"x": ["x"]}, "have no cycle; got 'x -> x'"),
        ({"a": [], "x": ["z", "a"], "y": ["x"], "z": ["y"], "end": ["z"]}, "have no cycle; got '"),
    ],
)
def test_parents_are_checked(parents: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        DiscreteNetwork(parents, {})


def test_a_cycle_is_named_along_its_edges() -> None:
    parents = {"start": ["z"], "x": ["z"], "y": ["x"], "z": ["y"]}
    with pytest.raises(ParameterError) as caught:
        DiscreteNetwork(parents, {})
    cycle = str(caught.value).split("'")[3].split(" -> ")
    assert len(cycle) == 4
    assert cycle[0] == cycle[-1]
    for parent, child in pairwise(cycle):
        assert parent in parents[child]


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"x": COIN}, r"'tables' must have an entry for every variable.*Add one for 'y'"),
        ({"x": COIN, "y": "text"}, "be an array of numbers for 'y'"),
        ({"x": COIN, "y": 0.5}, "be an array of numbers for 'y'"),
        ({"x": COIN, "y": [[], []]}, "be an array of numbers for 'y'"),
        ({"x": COIN, "y": [[1], [0.5, 0.5]]}, "be an array of numbers for 'y'"),
        ({"x": COIN, "y": COIN}, r"have shape \(2, 2\) for 'y'.*got \(2,\)"),
        ({"x": [0.4, 0.5], "y": COPY}, r"sum to 1 over the last axis for 'x'; got \[0.4, 0.5\]"),
        ({"x": [1.5, -0.5], "y": COPY}, "hold probabilities"),
        ({"x": [float("nan"), 1], "y": COPY}, "hold probabilities"),
        ({"x": COIN, "y": [COIN, [0.5, 0.6]]}, r"got '\[0.5, 0.6\] at \(1,\)'. Divide each row"),
        ({"x": np.full(65_536, 1 / 65_536), "y": COPY}, "at most 65535 levels for 'x'"),
    ],
)
def test_tables_are_checked(tables: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        DiscreteNetwork({"x": [], "y": ["x"]}, tables)


@pytest.mark.parametrize("levels", [["a"], ["a", "a"], ["a", "b", "c"]])
def test_levels_are_checked(levels: list[str]) -> None:
    with pytest.raises(ParameterError, match="hold 2 distinct values for 'x'"):
        DiscreteNetwork({"x": []}, {"x": COIN}, {"x": levels})


def test_unknown_names() -> None:
    with pytest.raises(UnknownNameError, match="no variable 'y'"):
        DiscreteNetwork({"x": ["y"]}, {})
    with pytest.raises(UnknownNameError, match="no variable 'y'"):
        DiscreteNetwork({"x": []}, {"x": COIN, "y": COIN})
    with pytest.raises(UnknownNameError, match="no variable 'y'"):
        DiscreteNetwork({"x": []}, {"x": COIN}, {"y": "ab"})
    network = collider()
    for method in (network.parents, network.children, network.blanket, network.levels):
        with pytest.raises(UnknownNameError, match=r"no variable 'belo'\. Did you mean 'below'"):
            method("belo")


@pytest.mark.parametrize("n_variables", [25, 40])
def test_large_joint_distributions_are_refused(n_variables: int) -> None:
    network = DiscreteNetwork.random(n_variables, cardinality=2)
    with pytest.raises(ParameterError, match=r"at most 16,777,216 cells.*\.sample\(n_rows\)"):
        network.joint()


def test_constant_variables_count_as_axes() -> None:
    names = [f"x{i}" for i in range(33)]
    network = DiscreteNetwork({name: [] for name in names}, {name: [1.0] for name in names})
    assert network.sample(3).cardinalities.max() == 1
    with pytest.raises(ParameterError, match="33 variables"):
        network.joint()


def test_random_networks() -> None:
    network = DiscreteNetwork.random(20, n_edges=30, cardinality=(2, 5), max_parents=3, seed=5)
    assert network.graph.number_of_edges() == 30
    assert max(len(network.parents(name)) for name in network.names) <= 3
    assert set(network.cardinalities.tolist()) <= {2, 3, 4, 5}
    again = DiscreteNetwork.random(20, n_edges=30, cardinality=(2, 5), max_parents=3, seed=5)
    assert again.sample(50) == network.sample(50)
    other = DiscreteNetwork.random(20, n_edges=30, cardinality=(2, 5), max_parents=3, seed=6)
    assert set(other.graph.edges) != set(network.graph.edges)
    assert DiscreteNetwork.random(10, degree=3.0).graph.number_of_edges() == 15
    assert DiscreteNetwork.random(4, n_edges=6, max_parents=1).graph.number_of_edges() == 3
    strong = DiscreteNetwork.random(5, concentration=0.001, seed=1)
    assert strong.joint().sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_variables": 0}, "'n_variables' must be a whole number, at least 1"),
        ({"n_edges": 11}, "'n_edges' must be a whole number, at least 0 and at most 10; got 11"),
        ({"degree": -1}, "'degree' must be a number from 0; got -1"),
        ({"cardinality": 1}, "'cardinality' must be a whole number, at least 2"),
        ({"cardinality": (3, 2)}, "'cardinality' must be a whole number, at least 3"),
        ({"cardinality": "many"}, "got 'many'"),
        ({"max_parents": -1}, "'max_parents'"),
        ({"concentration": 0}, "'concentration' must be a number from 0.001"),
        ({"seed": None}, "'seed' must be a whole number"),
    ],
)
def test_random_parameters_are_checked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        DiscreteNetwork.random(**{"n_variables": 5, **options})


@pytest.mark.parametrize("n_rows", [0, -1, 1.5, "10"])
def test_sample_size_is_checked(n_rows: Any) -> None:
    with pytest.raises(ParameterError, match="'n_rows' must be a whole number, at least 1"):
        collider().sample(n_rows)
