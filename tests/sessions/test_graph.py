"""Separation in graphs against networkx."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest

from komb.sessions.graph import DSeparationOracle, SeparationOracle
from komb.sessions.questions import EMPTY
from tests.data.models.graphs import random_dag
from tests.sessions.triples import triples


@pytest.mark.parametrize("seed", range(25))
def test_d_separation_equals_networkx(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    graph = random_dag(n, float(rng.uniform(0.1, 0.8)), rng)
    oracle = DSeparationOracle(graph)
    for y, x, z in triples(n):
        assert oracle.is_dependent(y, x, z) is not nx.is_d_separator(graph, {y}, {x}, set(z))


def test_d_separation_by_name() -> None:
    graph = nx.DiGraph([("rain", "wet"), ("sprinkler", "wet"), ("wet", "slippery")])
    oracle = DSeparationOracle(graph, names=["slippery", "sprinkler", "wet", "rain"])
    assert not oracle.is_dependent(3, 1, frozenset())
    assert oracle.is_dependent(3, 1, frozenset({2}))
    assert oracle.is_dependent(3, 1, frozenset({0}))  # a descendant of the collider
    assert oracle.is_dependent(3, 0, frozenset())
    assert not oracle.is_dependent(3, 0, frozenset({2}))
    assert oracle.dependents(3, {0, 1, 2}, frozenset()) == [0, 2]


@pytest.mark.parametrize("seed", range(40))
def test_separation_equals_networkx(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    graph = nx.gnp_random_graph(n, float(rng.uniform(0.1, 0.8)), seed=seed)
    oracle = SeparationOracle(graph)
    for y, x, z in triples(n):
        rest = graph.subgraph(set(graph) - z)
        assert oracle.is_dependent(y, x, z) == nx.has_path(rest, y, x)


def test_oracles_count_their_answers_once() -> None:
    oracle = DSeparationOracle(nx.DiGraph([(0, 1), (1, 2)]))
    for _ in range(3):
        oracle.dependents(0, {1, 2}, frozenset())
    assert oracle.counts.tests == 2


def test_an_oracle_is_sure_of_everything() -> None:
    oracle = DSeparationOracle(nx.DiGraph([(0, 1), (1, 2), (3, 4)]))
    assert oracle.strengths(0, [({1, 2, 3, 4}, EMPTY)]) == [{1: math.inf, 2: math.inf}]
    assert oracle.strengths(0, [({1, 2}, frozenset({1})), ({3}, EMPTY)]) == [{}, {}]
    assert oracle.counts.tests == 5  # 0 with 1, 2, 3, 4; and with 2 given 1
