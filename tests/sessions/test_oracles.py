"""Oracles against networkx and against each other."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import networkx as nx
import numpy as np
import pytest

from komb.data.models.bayesian_network import DiscreteNetwork
from komb.data.models.boolean_functions import boolean_network
from komb.data.models.markov_field import MarkovField
from komb.sessions.oracles import DistributionOracle, DSeparationOracle, SeparationOracle
from tests import naive
from tests.data.models.graphs import random_dag


def triples(n: int) -> list[tuple[int, int, frozenset[int]]]:
    return [
        (y, x, z)
        for y, x in product(range(n), repeat=2)
        if x != y
        for z in naive.steps.subsets(frozenset(range(n)) - {x, y}, n)
    ]


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


@pytest.mark.parametrize("seed", range(12))
def test_separated_in_the_graph_means_independent_in_the_distribution(seed: int) -> None:
    """The global Markov property; the converse, faithfulness, need not hold."""
    network = DiscreteNetwork.random(5, degree=2.4, cardinality=(2, 3), seed=seed)
    field = MarkovField.random(5, degree=2.4, cardinality=(2, 3), seed=seed)
    for graph_oracle, joint in [
        (DSeparationOracle(network.graph), network.joint()),
        (SeparationOracle(field.graph), field.joint()),
    ]:
        distribution = DistributionOracle(joint)
        n_dependent = 0
        for y, x, z in triples(5):
            if distribution.is_dependent(y, x, z):
                n_dependent += 1
                assert graph_oracle.is_dependent(y, x, z)
        assert n_dependent > 0


def test_xor_is_where_the_two_differ() -> None:
    network = boolean_network("parity", n_parents=2)
    graph, distribution = DSeparationOracle(network.graph), DistributionOracle(network.joint())
    for x, other in [(0, 1), (1, 0)]:
        assert graph.is_dependent(2, x, frozenset())
        assert not distribution.is_dependent(2, x, frozenset())
        assert distribution.is_dependent(2, x, frozenset({other}))


@pytest.mark.parametrize("seed", range(10))
def test_distribution_equals_its_twin(seed: int) -> None:
    """In exact arithmetic, on distributions with many zeros and many independences."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 3, (2, 3, 2, 2))
    weights[0, 0, 0, 0] = 1
    total = int(weights.sum())
    joint = {
        tuple(map(int, row)): Fraction(int(weight), total)
        for row, weight in np.ndenumerate(weights)
        if weight
    }
    oracle, twin = DistributionOracle(weights / total), naive.sessions.ExactSession(joint)
    for y, x, z in triples(4):
        assert oracle.is_dependent(y, x, z) is not twin.independent(y, x, z)


def test_an_oracle_has_no_statistic() -> None:
    oracle = DistributionOracle(boolean_network("and", n_parents=2).joint())
    outcome = oracle.outcome(2, 0, [])
    assert (outcome.independent, outcome.test, outcome.reliable) == (False, "distribution", True)
    assert (outcome.statistic, outcome.df, outcome.p_value) == (None, None, None)
    assert oracle.outcome(0, 1, []).independent


def test_oracles_count_their_answers_once() -> None:
    oracle = DSeparationOracle(nx.DiGraph([(0, 1), (1, 2)]))
    for _ in range(3):
        oracle.dependents(0, {1, 2}, frozenset())
    assert oracle.counts.tests == 2


def test_small_probabilities_are_not_rounding() -> None:
    """A copy of the target stays dependent on it given sixteen fair coins."""
    joint = np.zeros((2,) * 18)
    joint[0, 0] = joint[1, 1] = 2.0**-17
    assert DistributionOracle(joint).is_dependent(0, 1, frozenset(range(2, 18)))
    assert not DistributionOracle(joint).is_dependent(0, 2, frozenset(range(3, 18)))
