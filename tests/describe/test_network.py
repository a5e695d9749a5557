"""The network of all blankets, against the equivalence class of the graph they come from."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

from komb.describe.partial_graph import Directions
from komb.describe.structure import find_network
from komb.engine.oracle import DistributionEngine, DSeparationEngine
from komb.engine.questions import EMPTY
from tests.data.models.equivalence import shared_directions
from tests.data.models.graphs import NETWORKS, all_dags, random_dag, true_blanket


def blankets_of(graph: Any) -> dict[int, dict[int, frozenset[int] | None]]:
    return {y: dict.fromkeys(sorted(true_blanket(graph, y)), EMPTY) for y in range(len(graph))}


@pytest.mark.parametrize("symmetry", ["and", "or"])
def test_all_graphs_of_four_nodes(symmetry: Any) -> None:
    for graph in all_dags(4):
        network = find_network(DSeparationEngine(graph), blankets_of(graph), 4, symmetry)
        assert set(network.edges) == {(min(edge), max(edge)) for edge in graph.edges}
        assert network.directed == shared_directions(graph)
        assert network.groups == ()


@pytest.mark.parametrize("seed", range(20))
def test_random_graphs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = random_dag(8, 0.25, rng)
    if graph.number_of_edges() <= 10:
        network = find_network(DSeparationEngine(graph), blankets_of(graph), 8)
        assert network.directed == shared_directions(graph)


def test_asia() -> None:
    graph = nx.convert_node_labels_to_integers(NETWORKS["asia"])
    network = find_network(DSeparationEngine(graph), blankets_of(graph), 4)
    assert network.directed == shared_directions(graph)


def test_some_targets_only() -> None:
    """What was not searched has no say; the collider is seen from one side."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(3))
    graph.add_edges_from([(0, 2), (1, 2)])
    blankets: dict[int, Any] = {2: dict.fromkeys((0, 1), EMPTY)}
    network = find_network(DSeparationEngine(graph), blankets, 3)
    assert network.directed == {(0, 2), (1, 2)}


def test_symmetry() -> None:
    """A pair of which one search alone has the other: joined by "or", not by "and"."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(2))
    graph.add_edge(0, 1)
    blankets: dict[int, Any] = {0: {1: EMPTY}, 1: {}}
    oracle = DSeparationEngine(graph)
    assert find_network(oracle, blankets, 3, "and").edges == ()
    assert find_network(oracle, blankets, 3, "or").edges == ((0, 1),)


def test_known_directions() -> None:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(3))
    graph.add_edges_from([(0, 1), (1, 2)])
    known = Directions(forbidden=frozenset({(1, 0)}))
    network = find_network(DSeparationEngine(graph), blankets_of(graph), 3, directions=known)
    assert network.directed == {(0, 1), (1, 2)}


def test_parity_is_a_group_without_edges() -> None:
    joint = np.zeros((2, 2, 2))
    for a in range(2):
        for b in range(2):
            joint[a, b, a ^ b] = 0.25
    blankets: dict[int, Any] = {
        y: {x: frozenset({3 - x - y}) for x in range(3) if x != y} for y in range(3)
    }
    network = find_network(DistributionEngine(joint), blankets, 3)
    assert network.edges == ()
    assert network.groups == (frozenset({0, 1, 2}),)
