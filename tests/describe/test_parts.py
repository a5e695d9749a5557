"""Roles and directions of members, against the graph they come from and a naive twin."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.data.models.bayesian_network import DiscreteNetwork
from komb.describe.partial_graph import Directions
from komb.describe.structure import Part, find_parts
from komb.engine.engine import Engine
from komb.engine.oracle import DistributionEngine, DSeparationEngine
from komb.engine.questions import EMPTY
from tests import naive
from tests.data.models.equivalence import shared_directions
from tests.data.models.graphs import NETWORKS, all_dags, random_dag, true_blanket
from tests.engine.engines import on_table
from tests.engine.tables import LOW_KIND, tables
from tests.search.running import OneByOne


def parts_in(graph: Any, oracle: Engine, target: int, bound: int) -> dict[int, Part]:
    witnesses = dict.fromkeys(sorted(true_blanket(graph, target)), EMPTY)
    return find_parts(oracle, target, witnesses, bound)


def check_against(graph: Any, oracle: Engine, target: int, parts: dict[int, Part]) -> int:
    """Compare roles with a graph of numbered nodes; returns how many directions were found."""
    found = 0
    for x, part in parts.items():
        is_cause, is_effect = graph.has_edge(x, target), graph.has_edge(target, x)
        assert (part.kind == "neighbour") == (is_cause or is_effect)
        if part.direction in ("cause", "effect"):
            assert part.direction == ("cause" if is_cause else "effect")
            found += 1
        if part.kind != "neighbour":
            common = {*graph.successors(target)} & {*graph.successors(x)}
            assert part.kind == "spouse"
            assert set(part.children) == common
            assert part.separator is not None
            assert not oracle.is_dependent(target, x, part.separator)
    return found


def numbered(graph: Any) -> Any:
    return nx.relabel_nodes(graph, {node: number for number, node in enumerate(graph)})


class TestOracle:
    def test_all_graphs_of_four_nodes(self) -> None:
        """No direction is claimed that the equivalence class does not share."""
        for graph in all_dags(4):
            oracle, shared = DSeparationEngine(graph), shared_directions(graph)
            for target in range(4):
                parts = parts_in(graph, oracle, target, 4)
                check_against(graph, oracle, target, parts)
                for x, part in parts.items():
                    edge = (x, target) if part.direction == "cause" else (target, x)
                    assert part.direction in (None, "undecided") or edge in shared

    @pytest.mark.parametrize("first", range(0, 60, 20))
    def test_random_graphs(self, first: int) -> None:
        for seed in range(first, first + 20):
            rng = np.random.default_rng(seed)
            n = 5 + int(rng.integers(6))
            graph = random_dag(n, float(rng.uniform(1, 2.6)) / (n - 1), rng)
            oracle = DSeparationEngine(graph)
            for target in range(n):
                check_against(graph, oracle, target, parts_in(graph, oracle, target, n))

    @pytest.mark.parametrize(("name", "found"), [("asia", 7), ("child", 10), ("alarm", 69)])
    def test_networks(self, name: str, found: int) -> None:
        """How many directions the blankets alone tell; whole networks tell 10, 26 and 84."""
        graph = numbered(NETWORKS[name])
        oracle = DSeparationEngine(graph)
        n_found = sum(
            check_against(graph, oracle, target, parts_in(graph, oracle, target, 4))
            for target in graph
        )
        assert n_found == found

    def test_directions_that_only_others_could_tell_are_undecided(self) -> None:
        """0 -> 2 <- 1 points the way of 2 -> 3 -> 4, but the blanket of 4 is 3 alone."""
        graph = nx.DiGraph([(0, 2), (1, 2), (2, 3), (3, 4)])
        oracle = DSeparationEngine(graph)
        position = {node: number for number, node in enumerate(graph)}
        parts = find_parts(oracle, position[4], {position[3]: EMPTY}, 3)
        assert parts[position[3]].direction == "undecided"

    def test_known_directions(self) -> None:
        graph = nx.DiGraph()
        graph.add_nodes_from(range(3))
        graph.add_edges_from([(0, 1), (1, 2)])
        known = Directions(required=frozenset({(0, 1)}))
        parts = find_parts(DSeparationEngine(graph), 1, {0: EMPTY, 2: EMPTY}, 3, known)
        assert [part.direction for part in parts.values()] == ["cause", "effect"]

    def test_a_cause_makes_an_effect_of_what_it_is_separated_from(self) -> None:
        """Two causes and an effect of the target: nothing but the rules tells the last."""
        graph = nx.DiGraph()
        graph.add_nodes_from(range(4))
        graph.add_edges_from([(0, 2), (1, 2), (2, 3)])
        parts = find_parts(DSeparationEngine(graph), 2, dict.fromkeys((0, 1, 3), EMPTY), 3)
        assert [part.direction for part in parts.values()] == ["cause", "cause", "effect"]


class TestGroups:
    def test_parity_makes_partners(self) -> None:
        joint = np.zeros((2, 2, 2))
        for a in range(2):
            for b in range(2):
                joint[a, b, a ^ b] = 0.25
        witnesses = {0: frozenset({1}), 1: frozenset({0})}
        parts = find_parts(DistributionEngine(joint), 2, witnesses, 3)
        assert parts[0] == Part("partner", None, EMPTY, (), (1,))
        assert parts[1] == Part("partner", None, EMPTY, (), (0,))

    def test_a_partner_of_a_neighbour(self) -> None:
        """The target is 0 xor 1, and 0 is no fair coin: 1 is marginally dependent, 0 is not."""
        joint = np.zeros((2, 2, 2))
        for a, p in enumerate((0.3, 0.7)):
            for b in range(2):
                joint[a, b, a ^ b] = p / 2
        oracle = DistributionEngine(joint)
        assert oracle.dependents(2, {0, 1}, EMPTY) == [1]
        parts = find_parts(oracle, 2, {0: frozenset({1}), 1: EMPTY}, 3)
        assert (parts[0].kind, parts[0].partners) == ("partner", (1,))
        assert (parts[1].kind, parts[1].partners) == ("neighbour", (0,))

    def test_a_spouse_is_no_partner(self) -> None:
        network = DiscreteNetwork(
            {"a": [], "y": [], "c": ["a", "y"]},
            {
                "a": [0.6, 0.4],
                "y": [0.3, 0.7],
                "c": [[[0.9, 0.1], [0.6, 0.4]], [[0.5, 0.5], [0.2, 0.8]]],
            },
        )
        oracle = DistributionEngine(network.joint())
        parts = find_parts(oracle, 1, {0: frozenset({2}), 2: EMPTY}, 3)
        assert parts[0] == Part("spouse", None, EMPTY, (2,))
        assert parts[2].direction == "effect"

    def test_members_by_request(self) -> None:
        graph = nx.DiGraph()
        graph.add_nodes_from(range(3))
        graph.add_edge(0, 1)
        parts = find_parts(DSeparationEngine(graph), 1, {0: None, 2: None}, 3)
        assert [part.kind for part in parts.values()] == ["neighbour", "by request"]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.data())
def test_twin(data: Any) -> None:
    """On random tables, with random members and witnesses: kinds, separators, children, groups."""
    table = data.draw(tables(kinds=LOW_KIND, n_rows=(20, 300), n_columns=(3, 6)))
    engine = on_table(table, "auto", alpha=0.1)
    others = frozenset(range(1, table.n_columns))
    members = data.draw(st.sets(st.sampled_from(sorted(others)), min_size=1))
    witnesses: dict[int, frozenset[int] | None] = {}
    for x in sorted(members):
        some = st.frozensets(st.sampled_from(sorted(others)), max_size=2)
        drawn = data.draw(st.none() | some)
        witnesses[x] = None if drawn is None else drawn - {x}
    found = find_parts(engine, 0, witnesses, 2)
    expected = naive.parts.find_parts(OneByOne(engine), 0, witnesses, 2)
    assert {
        x: (part.kind, part.separator, part.children, part.partners) for x, part in found.items()
    } == {x: tuple(part) for x, part in expected.items()}
