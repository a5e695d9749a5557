"""What kOMB provably returns when its questions are answered by the truth.

Throughout, ``N`` are the target's neighbours (parents and children, or the neighbours in an
undirected graph), ``B`` is its Markov blanket, and separators are not limited in size.

*Undirected graphs, order 0: exactly B.* A neighbour is never separated, so it enters and stays.
Once ``N = B`` is inside, ``B`` separates everything else.

*Directed graphs, order 1 or more: exactly B.* A spouse is never separated given its witness, the
common child. Given B (and any witness more, by weak union), everything else is separated.

*Directed graphs, order 0: all of N, no spouse that is not a descendant, and not always N alone.*
Without a witness a member must depend on the target given every subset of the rest. So N is inside.
A non-neighbour that is no descendant of the target is separated by the target's parents, which are
in N: it is dropped. For a *descendant* there need not be a separator inside the set found: in
``Y -> C <- D -> X <- C`` the path over C must be blocked by C, which opens the one over D, and D, a
spouse independent of Y, never enters. So X is returned, which may be a spouse (add ``Y -> E <- X``)
or not even that. Spouses that are no descendants, like D, are always missed.
"""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

from komb.data.models.bayesian_network import DiscreteNetwork
from komb.data.models.boolean_functions import boolean_network
from komb.data.table import DiscreteTable
from komb.engine.engine import Engine
from komb.engine.oracle import DistributionEngine, DSeparationEngine, SeparationEngine
from komb.search.komb import find_blanket
from komb.search.task import Task
from tests import naive
from tests.data.models.graphs import random_dag
from tests.engine.engines import on_table


def members(engine: Engine, target: int, order: int, max_separator: int) -> set[int]:
    task = Task(target, frozenset(range(engine.n_variables)) - {target})
    return set(find_blanket(engine, task, order=order, max_separator=max_separator).witnesses)


# ---------------------------------------------------------------------------------- noisy parity


@pytest.mark.parametrize("n_irrelevant", [0, 2])
@pytest.mark.parametrize("k", range(4))
@pytest.mark.parametrize("max_separator", [0, 1, 5])
def test_parity_over_k_plus_2_variables_needs_order_k(
    k: int, n_irrelevant: int, max_separator: int
) -> None:
    """The whole blanket at order k, nothing at all below, for every variable as target."""
    network = boolean_network("parity", n_parents=k + 1, n_irrelevant=n_irrelevant)
    oracle = DistributionEngine(network.joint())
    involved = set(range(k + 2))
    for target in range(k + 2 + n_irrelevant):
        truth = involved - {target} if target in involved else set()
        assert members(oracle, target, k, max_separator) == truth
        for lower in range(k):
            assert members(oracle, target, lower, max_separator) == set()


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_witness_of_a_member_of_a_parity_is_all_the_others(k: int) -> None:
    network = boolean_network("parity", n_parents=k + 1, n_irrelevant=1)
    task = Task(k + 1, frozenset(range(k + 3)) - {k + 1})
    found = find_blanket(DistributionEngine(network.joint()), task, order=k).witnesses
    inputs = frozenset(range(k + 1))
    assert found == {x: inputs - {x} for x in inputs}


def test_an_order_higher_than_needed_does_no_harm() -> None:
    network = boolean_network("parity", n_parents=2, n_irrelevant=2)
    oracle = DistributionEngine(network.joint())
    for order in (1, 2, 3, 4):
        assert members(oracle, 2, order, 3) == {0, 1}


# ----------------------------------------------------------------------------------------- graphs


def neighbours(graph: Any, target: int) -> set[int]:
    return {*graph.predecessors(target), *graph.successors(target)}


def blanket(graph: Any, target: int) -> set[int]:
    spouses = {p for child in graph.successors(target) for p in graph.predecessors(child)}
    return (neighbours(graph, target) | spouses) - {target}


def draw_dag(seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return random_dag(int(rng.integers(6, 10)), float(rng.uniform(0.15, 0.5)), rng)


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_order_one_returns_the_blanket_of_a_dag(first: int) -> None:
    for seed in range(first, first + 20):
        graph = draw_dag(seed)
        oracle = DSeparationEngine(graph)
        for target in (0, 3):
            found = members(oracle, target, 1, len(graph))
            assert found == blanket(graph, target), seed


@pytest.mark.parametrize("seed", range(10))
def test_so_do_higher_orders(seed: int) -> None:
    graph = draw_dag(seed)
    for order in (2, 3):
        assert members(DSeparationEngine(graph), 0, order, len(graph)) == blanket(graph, 0)


def has_no_separator(graph: Any, y: int, x: int, pool: set[int]) -> bool:
    parts = naive.steps.subsets(frozenset(pool - {x}), len(pool))
    return not any(nx.is_d_separator(graph, {y}, {x}, set(part)) for part in parts)


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_order_zero_returns_the_neighbours_and_perhaps_descendants(first: int) -> None:
    for seed in range(first, first + 20):
        graph = draw_dag(seed)
        oracle = DSeparationEngine(graph)
        for target in (0, 3):
            near, below = neighbours(graph, target), nx.descendants(graph, target)
            found = members(oracle, target, 0, len(graph))
            assert near <= found <= near | below, seed
            for x in found - near:  # only where the neighbours leave no separator
                assert has_no_separator(graph, target, x, near), seed
                assert has_no_separator(graph, target, x, found), seed
            spouses = blanket(graph, target) - near
            assert not (spouses - below) & found, seed


def test_order_zero_is_wrong_about_some_descendants_and_some_spouses() -> None:
    """The random graphs above do contain each of the cases named in the head of this file."""
    only_neighbours = missed_spouse = found_spouse = found_stranger = 0
    for seed in range(200):
        graph = draw_dag(seed)
        for target in (0, 3):
            near, truth = neighbours(graph, target), blanket(graph, target)
            found = members(DSeparationEngine(graph), target, 0, len(graph))
            only_neighbours += found == near
            missed_spouse += bool(truth - near - found)
            found_spouse += bool((truth - near) & found)
            found_stranger += bool(found - truth)
    assert only_neighbours > 300
    assert missed_spouse > 100
    assert found_spouse > 0
    assert found_stranger > 0


def test_the_smallest_graphs_on_which_order_zero_is_wrong() -> None:
    graph = nx.DiGraph(["YC", "DC", "DX", "CX"])
    y, c, d, x = names = list("YCDX")
    oracle = DSeparationEngine(graph, names)
    assert members(oracle, 0, 0, 4) == {names.index(c), names.index(x)}  # X is a stranger
    assert members(oracle, 0, 1, 4) == {names.index(c), names.index(d)}  # the blanket
    graph.add_edges_from(["YE", "XE"])  # now X is a spouse, as D is
    oracle = DSeparationEngine(graph, [y, c, d, x, "E"])
    assert members(oracle, 0, 0, 5) == {1, 3, 4}  # with X, without D
    assert members(oracle, 0, 1, 5) == {1, 2, 3, 4}


def test_a_collider_hides_a_spouse_from_order_zero() -> None:
    oracle = DSeparationEngine(nx.DiGraph([(0, 1), (2, 1)]))
    assert members(oracle, 0, 0, 3) == {1}
    task = Task(0, frozenset({1, 2}))
    found = find_blanket(oracle, task, order=1, max_separator=3).witnesses
    assert found == {1: frozenset(), 2: frozenset({1})}


@pytest.mark.parametrize("first", range(0, 200, 40))
def test_order_zero_returns_the_neighbours_in_an_undirected_graph(first: int) -> None:
    for seed in range(first, first + 40):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 10))
        graph = nx.gnp_random_graph(n, float(rng.uniform(0.1, 0.6)), seed=seed)
        oracle = SeparationEngine(graph)
        for target in (0, 3):
            for order in (0, 1):
                assert members(oracle, target, order, n) == set(graph.neighbors(target)), seed


def test_separators_that_are_too_small_let_strangers_in() -> None:
    """Two paths from 0 to 3: one variable cannot block both."""
    ladder = SeparationEngine(nx.Graph([(0, 1), (0, 2), (1, 3), (2, 3)]))
    assert members(ladder, 0, 0, 1) == {1, 2, 3}
    assert members(ladder, 0, 0, 2) == {1, 2}


@pytest.mark.parametrize("seed", range(15))
def test_order_one_on_the_exact_distribution_of_a_random_network(seed: int) -> None:
    """Tables drawn at random are faithful with probability one."""
    network = DiscreteNetwork.random(6, degree=2.4, cardinality=2, max_parents=2, seed=seed)
    oracle = DistributionEngine(network.joint(), tolerance=1e-12)
    for target, name in enumerate(network.names):
        found = members(oracle, target, 1, 6)
        assert {network.names[x] for x in found} == set(network.blanket(name))


# --------------------------------------------------------------------------- Example 2 of the paper

PATHOLOGICAL = ["0000", "0011", "0101", "0110", "1001", "1010", "1100", "1001"]  # X1 X2 X3 Y


@pytest.fixture
def pathological() -> DiscreteTable:
    return DiscreteTable.from_codes(np.array([[int(c) for c in row] for row in PATHOLOGICAL]))


def empirical(table: DiscreteTable) -> DistributionEngine:
    joint = np.zeros([2] * 4)
    np.add.at(joint, tuple(table.codes), 1 / table.n_rows)
    return DistributionEngine(joint)


def test_example_2_hides_x1_at_first_sight(pathological: DiscreteTable) -> None:
    """Y and X1 fall together in exactly a quarter of the rows each way."""
    oracle = empirical(pathological)
    assert not oracle.is_dependent(3, 0, frozenset())
    assert oracle.dependents(3, {0, 1, 2}, frozenset()) == [1, 2]
    outcome = on_table(pathological, "g").outcome(3, 0, frozenset())
    assert (outcome.statistic, outcome.p_value) == (0.0, 1.0)
    for x in (1, 2):
        statistic = on_table(pathological, "g").outcome(3, x, frozenset()).statistic
        assert statistic is not None
        assert statistic > 0.5


def test_example_2_yields_x1_to_one_witness(pathological: DiscreteTable) -> None:
    """Given X2, or X3, or both, X1 tells about Y; so order 1 returns all three."""
    oracle = empirical(pathological)
    exact = naive.sessions.ExactSession.of_sample(pathological.codes.tolist())
    for z in ({1}, {2}, {1, 2}):
        assert oracle.is_dependent(3, 0, frozenset(z))
        assert not exact.independent(3, 0, frozenset(z))
    for max_separator in range(4):
        assert members(oracle, 3, 0, max_separator) == {1, 2}
        for order in (1, 2, 3):
            assert members(oracle, 3, order, max_separator) == {0, 1, 2}
            task = Task(3, frozenset({0, 1, 2}))
            found = find_blanket(oracle, task, order=order, max_separator=max_separator)
            assert found.witnesses == naive.komb.komb(exact, range(4), 3, order, max_separator)
            assert found.witnesses[0] == frozenset({1})


@pytest.mark.parametrize("test", ["g", "chi2"])
def test_example_2_is_beyond_a_level(pathological: DiscreteTable, test: str) -> None:
    """Eight rows are evidence for nothing at level 0.01, at any order."""
    for order in range(4):
        assert members(on_table(pathological, test), 3, order, 3) == set()


@pytest.mark.parametrize("test", ["g-sci", "sci"])
def test_example_2_is_not_beyond_code_lengths(pathological: DiscreteTable, test: str) -> None:
    """X1, X2 and X3 together determine Y in all eight rows: order 2 sees that, less does not."""
    for order in (0, 1):
        assert members(on_table(pathological, test), 3, order, 3) == set()
    task = Task(3, frozenset({0, 1, 2}))
    found = find_blanket(on_table(pathological, test), task, order=2, max_separator=3)
    everyone = frozenset({0, 1, 2})
    assert found.witnesses == {x: everyone - {x} for x in everyone}
