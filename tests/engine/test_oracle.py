"""Engines that know the truth: against networkx, exact arithmetic and each other."""

from __future__ import annotations

import math
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

from komb.data.models.bayesian_network import DiscreteNetwork
from komb.data.models.boolean_functions import boolean_network
from komb.data.models.markov_field import MarkovField
from komb.engine.engine import AllSets, Engine, Power
from komb.engine.oracle import DistributionEngine, DSeparationEngine, SeparationEngine
from komb.engine.questions import EMPTY, subsets
from tests import naive
from tests.data.models.graphs import random_dag
from tests.engine.triples import triples

# ------------------------------------------------------------------------------------------- graphs


@pytest.mark.parametrize("seed", range(25))
def test_d_separation_equals_networkx(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    graph = random_dag(n, float(rng.uniform(0.1, 0.8)), rng)
    oracle = DSeparationEngine(graph)
    for y, x, z in triples(n):
        assert oracle.is_dependent(y, x, z) is not nx.is_d_separator(graph, {y}, {x}, set(z))


def test_d_separation_by_name() -> None:
    graph = nx.DiGraph([("rain", "wet"), ("sprinkler", "wet"), ("wet", "slippery")])
    oracle = DSeparationEngine(graph, names=["slippery", "sprinkler", "wet", "rain"])
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
    oracle = SeparationEngine(graph)
    for y, x, z in triples(n):
        rest = graph.subgraph(set(graph) - z)
        assert oracle.is_dependent(y, x, z) == nx.has_path(rest, y, x)


@pytest.mark.parametrize("seed", range(10))
def test_many_questions_at_once_have_the_answers_of_single_ones(seed: int) -> None:
    """On larger graphs, with hundreds of given sets."""
    rng = np.random.default_rng(seed)
    for kind, graph in [
        (DSeparationEngine, random_dag(14, 0.3, rng)),
        (SeparationEngine, nx.gnp_random_graph(14, 0.25, seed=seed)),
    ]:
        target = max(graph, key=graph.degree)
        others = frozenset(range(14)) - {target}
        questions = [(others, z) for z in subsets(others, 3)]
        together, alone = kind(graph, range(14)).evidence(target, questions), kind(graph, range(14))
        assert together == [alone.evidence(target, [question])[0] for question in questions]
        assert 0 < sum(map(len, together)) < sum(len(others - z) for _, z in questions)


def test_oracles_count_their_answers_once() -> None:
    oracle = DSeparationEngine(nx.DiGraph([(0, 1), (1, 2)]))
    for _ in range(3):
        oracle.dependents(0, {1, 2}, frozenset())
    assert oracle.work.tests == 2


def test_an_oracle_is_sure_of_everything() -> None:
    oracle = DSeparationEngine(nx.DiGraph([(0, 1), (1, 2), (3, 4)]))
    assert oracle.evidence(0, [({1, 2, 3, 4}, EMPTY)]) == [{1: math.inf, 2: math.inf}]
    assert oracle.evidence(0, [({1, 2}, frozenset({1})), ({3}, EMPTY)]) == [{}, {}]
    assert oracle.work.tests == 5  # 0 with 1, 2, 3, 4; and with 2 given 1


def test_covariates_are_given() -> None:
    graph = nx.DiGraph([(0, 1), (0, 2), (1, 3), (2, 3)])
    oracle = DSeparationEngine(graph, range(4), fixed=frozenset({0}))
    assert oracle.dependents(1, {2, 3}, EMPTY) == [3]
    everything = AllSets(frozenset({2}), frozenset({2, 3}), 1, min_rows_per_cell=5.0)
    assert oracle.strong(1, everything, 1.0) == [(math.inf, 2, frozenset({3}))]
    undirected = SeparationEngine(nx.path_graph(3), fixed=frozenset({1}))
    assert undirected.dependents(0, {2}, EMPTY) == []
    joint = boolean_network("parity", n_parents=2).joint()
    assert DistributionEngine(joint, frozenset({1})).dependents(2, {0}, EMPTY) == [0]


def test_separators_in_a_graph() -> None:
    """A diamond: 1 and 2 together separate 0 and 3, neither does so alone; 4 is on its own."""
    graph = nx.DiGraph([(0, 1), (0, 2), (1, 3), (2, 3)])
    graph.add_node(4)
    oracle, pool = DSeparationEngine(graph), frozenset({1, 2, 3, 4})
    separators = oracle.separators
    assert separators(0, pool, pool, 1) == {4: EMPTY}
    assert separators(0, pool, pool, 2) == {3: frozenset({1, 2}), 4: EMPTY}
    found = separators(0, pool, pool, 2, min_size=1)
    assert found == {3: frozenset({1, 2}), 4: frozenset({1})}
    assert separators(0, [3], pool, 1, core=frozenset({2})) == {3: frozenset({1, 2})}
    assert separators(0, [3], pool, 1, core=frozenset({4})) == {}
    assert separators(0, [], pool, 2) == {}
    assert separators(0, [4, 3, 1, 2], pool, 2, is_in_turn=True) == {4: EMPTY, 3: frozenset({1, 2})}


# ------------------------------------------------------------------------------------ distributions


@pytest.mark.parametrize("seed", range(10))
def test_a_distribution_equals_its_twin(seed: int) -> None:
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
    oracle, twin = DistributionEngine(weights / total), naive.sessions.ExactSession(joint)
    for y, x, z in triples(4):
        assert oracle.is_dependent(y, x, z) is not twin.independent(y, x, z)
    for y in range(4):
        others = frozenset(range(4)) - {y}
        questions = [(others, z) for z in subsets(others, 2)]
        for (_, z), found in zip(questions, oracle.evidence(y, questions), strict=True):
            assert list(found) == [x for x in sorted(others - z) if not twin.independent(y, x, z)]


def test_small_probabilities_are_not_rounding() -> None:
    """A copy of the target stays dependent on it given sixteen fair coins."""
    joint = np.zeros((2,) * 18)
    joint[0, 0] = joint[1, 1] = 2.0**-17
    assert DistributionEngine(joint).is_dependent(0, 1, frozenset(range(2, 18)))
    assert not DistributionEngine(joint).is_dependent(0, 2, frozenset(range(3, 18)))


def test_an_oracle_has_no_statistic() -> None:
    oracle = DistributionEngine(boolean_network("and", n_parents=2).joint())
    outcome, other = oracle.outcomes(2, [(0, EMPTY), (1, frozenset({0}))])
    assert (outcome.independent, outcome.test, outcome.reliable) == (False, "distribution", True)
    assert (outcome.statistic, outcome.df, outcome.p_value) == (None, None, None)
    assert not other.independent
    assert oracle.outcome(0, 1, EMPTY).independent


def test_an_oracle_has_no_large_tables() -> None:
    oracle = DistributionEngine(boolean_network("parity", n_parents=3).joint())
    pool = frozenset({0, 1, 2})
    assert oracle.strong(3, AllSets(frozenset({0, 1}), pool, 2), 1e6) == [
        (math.inf, 0, frozenset({1, 2})),
        (math.inf, 1, frozenset({0, 2})),
    ]
    assert oracle.strong(3, AllSets(pool, pool, 1), 1.0) == []


def test_an_oracle_can_detect_everything_and_knows_no_levels() -> None:
    oracle = DistributionEngine(boolean_network("parity", n_parents=2).joint())
    assert oracle.can_detect(2, 0, frozenset({1}), EMPTY, Power(1e-9, 1e-9, 0))
    assert not oracle.determines(frozenset({0, 1}), 2, min_rows=0)
    assert oracle.explained_shares(2, [0, 1]) == [0.0, 0.0]
    assert list(oracle.n_levels) == []
    assert (oracle.n_rows, oracle.alpha, oracle.n_strata) == (None, None, 1)


# ------------------------------------------------------------------------- distributions and graphs


@pytest.mark.parametrize("seed", range(12))
def test_separated_in_the_graph_means_independent_in_the_distribution(seed: int) -> None:
    """The global Markov property; the converse, faithfulness, need not hold."""
    network = DiscreteNetwork.random(5, degree=2.4, cardinality=(2, 3), seed=seed)
    field = MarkovField.random(5, degree=2.4, cardinality=(2, 3), seed=seed)
    pairs: list[tuple[Engine, Engine]] = [
        (DSeparationEngine(network.graph), DistributionEngine(network.joint())),
        (SeparationEngine(field.graph), DistributionEngine(field.joint())),
    ]
    for by_graph, by_distribution in pairs:
        n_dependent = 0
        for y, x, z in triples(5):
            if by_distribution.is_dependent(y, x, z):
                n_dependent += 1
                assert by_graph.is_dependent(y, x, z)
        assert n_dependent > 0


def test_xor_is_where_the_two_differ() -> None:
    network = boolean_network("parity", n_parents=2)
    graph, distribution = DSeparationEngine(network.graph), DistributionEngine(network.joint())
    for x, other in [(0, 1), (1, 0)]:
        assert graph.is_dependent(2, x, frozenset())
        assert not distribution.is_dependent(2, x, frozenset())
        assert distribution.is_dependent(2, x, frozenset({other}))
