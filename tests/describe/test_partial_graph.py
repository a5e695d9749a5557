"""Rules for directions: against all graphs of an equivalence class, and what contradicts itself."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from komb.describe.partial_graph import Directions, Edge, PartialGraph, Triple
from tests.data.models.equivalence import colliders, shared_directions
from tests.data.models.graphs import all_dags, random_dag


def joined_in(graph: Any) -> dict[int, set[int]]:
    return {a: {*graph.predecessors(a), *graph.successors(a)} for a in graph}


def oriented(graph: Any, known: frozenset[Edge] = frozenset()) -> set[Edge]:
    """Directions that follow from the colliders of a graph."""
    joined = joined_in(graph)
    unshielded: list[Triple] = [
        (a, c, b) for c in joined for a, b in combinations(sorted(joined[c]), 2)
        if b not in joined[a]
    ]  # fmt: skip
    met = colliders(graph)
    partial = PartialGraph(joined, direct={(a, b) for a in joined for b in joined[a]})
    partial.orient(met, [triple for triple in unshielded if triple not in met], known)
    return set(partial.directed())


def test_all_graphs_of_four_nodes() -> None:
    for graph in all_dags(4):
        assert oriented(graph) == shared_directions(graph)


@pytest.mark.parametrize("seed", range(30))
def test_random_graphs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = random_dag(7, float(rng.uniform(0.2, 0.5)), rng)
    if graph.number_of_edges() <= 11:
        assert oriented(graph) == shared_directions(graph)


@pytest.mark.parametrize("seed", range(30))
def test_directions_known_beforehand_spread_and_none_is_wrong(seed: int) -> None:
    """The fourth rule is at work here."""
    rng = np.random.default_rng(seed)
    graph = random_dag(7, 0.5, rng)
    edges = list(graph.edges)
    known = frozenset(edges[i] for i in rng.permutation(len(edges))[:3])
    found = oriented(graph, known)
    assert found <= set(edges)
    assert found >= known | oriented(graph)


def test_the_fourth_rule() -> None:
    """Its picture in Meek (1995): 0 - 1 -> 2 -> 3, 0 joined to all, 1 and 3 not joined."""
    joined = {0: {1, 2, 3}, 1: {0, 2}, 2: {0, 1, 3}, 3: {0, 2}}
    partial = PartialGraph(joined, direct={(a, b) for a in joined for b in joined[a]})
    partial.orient([], [(1, 0, 3)], known={(1, 2), (2, 3)})
    assert (0, 3) in set(partial.directed())


def test_contradicting_colliders_set_no_direction() -> None:
    """0 -> 1 <- 2 and 1 -> 2 <- 3 cannot both be: the edge of 1 and 2 is left open."""
    joined = {0: {1}, 1: {0, 2}, 2: {1, 3}, 3: {2}}
    partial = PartialGraph(joined, direct={(a, b) for a in joined for b in joined[a]})
    partial.orient([(0, 1, 2), (1, 2, 3)], [])
    assert set(partial.directed()) == {(0, 1), (3, 2)}


def test_without_hidden_variables_excluded_both_ends_may_have_a_head() -> None:
    joined = {0: {1}, 1: {0, 2}, 2: {1, 3}, 3: {2}}
    partial = PartialGraph(joined, direct=set())
    partial.orient([(0, 1, 2), (1, 2, 3)], [])
    assert {(1, 2), (2, 1)} <= partial.heads
    assert set(partial.directed()) == set()


def test_a_circle_is_taken_back() -> None:
    joined = {0: {1, 2, 3}, 1: {0, 2, 4}, 2: {0, 1, 5}, 3: {0}, 4: {1}, 5: {2}}
    partial = PartialGraph(joined, direct={(a, b) for a in joined for b in joined[a]})
    partial.orient([(3, 0, 2), (4, 1, 0), (5, 2, 1)], [])  # 2 -> 0 -> 1 -> 2
    assert set(partial.directed()) == {(3, 0), (4, 1), (5, 2)}


def test_a_known_direction_is_not_questioned() -> None:
    joined = {0: {2}, 1: {2}, 2: {0, 1}}
    partial = PartialGraph(joined, direct={(a, b) for a in joined for b in joined[a]})
    partial.orient([(0, 2, 1)], [], known={(2, 0)})
    assert set(partial.directed()) == {(2, 0), (1, 2)}


def test_what_is_forbidden_leads_the_other_way() -> None:
    known = Directions(forbidden=frozenset({(0, 1)})).implied([(0, 1), (1, 2)])
    assert known == {(1, 0)}
