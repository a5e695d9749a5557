"""Independence in exact distributions, against exact arithmetic and against graphs."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from komb.data.models.bayesian_network import DiscreteNetwork
from komb.data.models.boolean_functions import boolean_network
from komb.data.models.markov_field import MarkovField
from komb.sessions.distribution import DistributionOracle
from komb.sessions.graph import DSeparationOracle, SeparationOracle
from komb.sessions.questions import EMPTY
from komb.sessions.source import Power
from tests import naive
from tests.sessions.triples import triples


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


def test_small_probabilities_are_not_rounding() -> None:
    """A copy of the target stays dependent on it given sixteen fair coins."""
    joint = np.zeros((2,) * 18)
    joint[0, 0] = joint[1, 1] = 2.0**-17
    assert DistributionOracle(joint).is_dependent(0, 1, frozenset(range(2, 18)))
    assert not DistributionOracle(joint).is_dependent(0, 2, frozenset(range(3, 18)))


def test_an_oracle_has_no_statistic() -> None:
    oracle = DistributionOracle(boolean_network("and", n_parents=2).joint())
    outcome = oracle.outcome(2, 0, [])
    assert (outcome.independent, outcome.test, outcome.reliable) == (False, "distribution", True)
    assert (outcome.statistic, outcome.df, outcome.p_value) == (None, None, None)
    assert oracle.outcome(0, 1, []).independent


def test_an_oracle_has_no_large_tables() -> None:
    oracle = DistributionOracle(boolean_network("parity", n_parents=3).joint())
    pool = frozenset({0, 1, 2})
    assert oracle.strong_dependences(3, {0, 1}, pool, 2, 1e6) == [
        (math.inf, 0, frozenset({1, 2})),
        (math.inf, 1, frozenset({0, 2})),
    ]
    assert oracle.strong_dependences(3, {0, 1, 2}, pool, 1, 1.0) == []


def test_an_oracle_can_detect_everything_and_knows_no_levels() -> None:
    oracle = DistributionOracle(boolean_network("parity", n_parents=2).joint())
    assert oracle.can_detect(2, 0, frozenset({1}), EMPTY, Power(1e-9, 1e-9, 0))
    assert not oracle.determines(frozenset({0, 1}), 2, min_rows=0)
    assert oracle.explained_shares(2, [0, 1]) == [0.0, 0.0]
    assert list(oracle.n_levels) == []
    assert oracle.n_rows is None


# ------------------------------------------------------------------------- distributions and graphs


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
