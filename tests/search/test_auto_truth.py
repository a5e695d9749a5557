"""What the automatic search returns when its questions are answered by the truth.

The truth is a distribution or a graph, and what is right follows from definitions, not from another
search: a twin can only tell whether the search does what it was written to do.

With an oracle the search is to find the Markov boundary wherever kOMB of the same order finds it
with separators of up to three variables.
"""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

from komb.data.models.boolean_functions import boolean_network
from komb.engine.engine import Engine
from komb.engine.oracle import DistributionEngine, DSeparationEngine, SeparationEngine
from komb.search import _region
from komb.search.auto import LARGEST_SEPARATOR, find_blanket
from komb.search.komb import find_blanket as find_by_komb
from tests.data.models.graphs import NETWORKS, all_dags, random_dag, true_blanket
from tests.search.distributions import (
    STYLES,
    Joint,
    boundary,
    is_minimal_blanket,
    random_joint,
    with_combination,
    with_copy,
)
from tests.search.running import everyone

ORDER = 2


def found_members(engine: Engine, target: int, **options: Any) -> set[int]:
    """Search, and see that every witness lies inside and shows a dependence."""
    found = find_blanket(engine, everyone(engine, target), **options)
    members = set(found.witnesses)
    for x, witness in found.witnesses.items():
        assert witness is not None
        assert witness <= members - {x}
        assert engine.is_dependent(target, x, witness)
    return members


def found_by_komb(engine: Engine, target: int) -> set[int]:
    found = find_by_komb(
        engine, everyone(engine, target), order=ORDER, max_separator=LARGEST_SEPARATOR
    )
    return set(found.witnesses)


# ----------------------------------------------------------------------------------- distributions


def check_distributions(style: str, seeds: range) -> None:
    """Every variable of every distribution is a target; the search is no worse than kOMB."""
    n_targets = n_by_komb = 0
    for seed in seeds:
        rng = np.random.default_rng([seed, STYLES.index(style)])
        oracle = DistributionEngine(random_joint(style, int(rng.integers(4, 7)), rng))
        for target in range(oracle.n_variables):
            truth = boundary(oracle, target)
            is_found_by_komb = found_by_komb(oracle, target) == truth
            found = found_members(oracle, target, order=ORDER)
            assert found == truth or not is_found_by_komb, (seed, target)
            n_targets += 1
            n_by_komb += is_found_by_komb
    assert n_by_komb >= 0.98 * n_targets


@pytest.mark.parametrize("style", STYLES)
def test_random_distributions(style: str) -> None:
    check_distributions(style, range(16))


@pytest.mark.slow
@pytest.mark.parametrize("style", STYLES)
def test_thousands_of_random_distributions(style: str) -> None:
    check_distributions(style, range(100, 350))


def test_a_witness_may_be_a_member_that_shows_alone() -> None:
    """y depends on z, and on x and w by their exclusive or; x is a noisy copy of z."""
    z, w, x = (np.arange(2).reshape(shape) for shape in [(2, 1, 1), (1, 2, 1), (1, 1, 2)])
    of_y = 0.15 + 0.3 * z + 0.4 * (x ^ w)
    of_x = np.where(x == z, 0.8, 0.2)
    joint = (0.25 * of_x)[..., None] * np.stack([1 - of_y, of_y], axis=-1)
    assert found_members(DistributionEngine(joint), 3) == {0, 1, 2}


@pytest.mark.parametrize("n_parents", [2, 3])
def test_parities(n_parents: int) -> None:
    joint = boolean_network("parity", n_parents=n_parents, n_irrelevant=1).joint()
    oracle = DistributionEngine(joint)
    for target in range(oracle.n_variables):
        assert found_members(oracle, target) == boundary(oracle, target)


# ------------------------------------------------------------------- several sets are equally good


def redundant_joints(seed: int) -> list[Joint]:
    """Distributions with a variable more that others determine, or that is a copy."""
    rng = np.random.default_rng(seed)
    joint = random_joint(STYLES[seed % len(STYLES)], 4, rng)
    a, b = rng.choice(4, 2, replace=False).tolist()
    combined = with_combination(joint, a, b)
    return [
        combined,
        with_copy(joint, a),
        with_copy(combined, 4),
        with_copy(with_copy(joint, b), a),
    ]


def check_redundant(seeds: range) -> None:
    for seed in seeds:
        for place, joint in enumerate(redundant_joints(seed)):
            oracle = DistributionEngine(joint)
            for target in range(oracle.n_variables):
                found = found_members(oracle, target, order=ORDER)
                assert is_minimal_blanket(oracle, target, found), (seed, place, target, found)


def test_copies_and_functions_of_others() -> None:
    check_redundant(range(15))


@pytest.mark.slow
def test_hundreds_of_copies_and_functions_of_others() -> None:
    check_redundant(range(100, 400))


def test_a_copy_of_the_target_is_enough() -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        joint = with_copy(random_joint(STYLES[seed % 5], 4, rng), seed % 4)
        oracle = DistributionEngine(joint)
        assert found_members(oracle, seed % 4) == {4}
        assert found_members(oracle, 4) == {seed % 4}


# ------------------------------------------------------------------------------------------ graphs


def check_dags(seeds: range) -> None:
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n = int(rng.integers(5, 13))
        graph = random_dag(n, float(rng.uniform(1, 3)) / (n - 1), rng)
        oracle = DSeparationEngine(graph)
        for target in range(n):
            assert found_members(oracle, target, order=1) == true_blanket(graph, target), seed


def test_random_dags() -> None:
    check_dags(range(40))


@pytest.mark.slow
def test_hundreds_of_random_dags() -> None:
    check_dags(range(1000, 1600))


@pytest.mark.parametrize("n", [2, 3, 4])
def test_all_dags(n: int) -> None:
    for graph in all_dags(n):
        oracle = DSeparationEngine(graph)
        for target in range(n):
            assert found_members(oracle, target) == true_blanket(graph, target)


@pytest.mark.parametrize(
    "name", ["asia", "child", "alarm", pytest.param("insurance", marks=pytest.mark.slow)]
)
def test_networks(name: str) -> None:
    graph = NETWORKS[name]
    oracle = DSeparationEngine(graph)  # one for all: they have neighbours in common
    for target in range(len(graph)):
        assert found_members(oracle, target, order=1) == true_blanket(graph, target), target


def check_undirected(seeds: range) -> None:
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 11))
        graph = nx.gnp_random_graph(n, float(rng.uniform(0.5, 3.5)) / (n - 1), seed=seed)
        oracle = SeparationEngine(graph)
        for target in range(n):
            assert found_members(oracle, target, order=1) == set(graph.neighbors(target)), seed


def test_undirected_graphs() -> None:
    check_undirected(range(40))


@pytest.mark.slow
def test_hundreds_of_undirected_graphs() -> None:
    check_undirected(range(1000, 1500))


@pytest.mark.parametrize("pool", [3, 6])
def test_hubs_with_more_neighbours_than_a_pool_has(
    monkeypatch: pytest.MonkeyPatch, pool: int
) -> None:
    """Separators are made of some of the neighbours; what that lets in, the last step takes out."""
    monkeypatch.setattr(_region, "LARGEST_POOL", pool)
    star = nx.DiGraph([("hub", f"leaf {i}") for i in range(9)])
    star.add_edges_from((f"leaf {i}", f"far {i}") for i in range(3))
    star.add_edges_from((f"spouse {i}", f"leaf {i}") for i in range(3))
    oracle = DSeparationEngine(star)
    for target in range(len(star)):
        assert found_members(oracle, target, order=1) == true_blanket(star, target)
