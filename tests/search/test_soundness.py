"""What the classic searches return when their questions are answered by a graph.

An oracle for d-separation answers, and conditioning sets are not bounded unless it is said. A sound
search then returns the blanket, exactly. HITON-MB and MMMB are not sound: what they take for a
neighbour is a variable that no set of *their* neighbours separates from the target, and for a
descendant such a set need not exist. They lose nothing, though. A true neighbour is never
separated. And a spouse that is no neighbour depends on the target given its separator and the
common child, which is never part of that separator.

An oracle is equally sure of all dependences, so candidates come in the order of the table, which
has no meaning here: the hardest case for a search that hopes to see the neighbours first.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import networkx as nx
import numpy as np
import pytest

import komb
from komb.engine.oracle import DSeparationEngine
from komb.search.komb import find_blanket as find_by_komb
from tests.data.models.graphs import NETWORKS, all_dags, random_dag, true_blanket
from tests.search.running import CLASSICS, everyone, search, unbounded

every_classic = pytest.mark.parametrize("name", CLASSICS)
SOUND = [name for name in CLASSICS if komb.algorithms()[name].is_sound]
every_sound = pytest.mark.parametrize("name", SOUND)


def found_blanket(name: str, oracle: DSeparationEngine, target: int, bound: int | None) -> set[int]:
    return set(search(name, oracle, everyone(oracle, target), bound))


# ------------------------------------------------------------------------------------ random graphs


@pytest.mark.parametrize("first", range(0, 150, 30))
def test_random_graphs(first: int) -> None:
    """Of 5 to 12 nodes with 1 to 2.6 neighbours on average; every node is a target."""
    for seed in range(first, first + 30):
        rng = np.random.default_rng(seed)
        n = 5 + int(rng.integers(8, size=2).min())  # small ones are more frequent
        graph = random_dag(n, float(rng.uniform(1, 2.6)) / (n - 1), rng)
        oracle = DSeparationEngine(graph)  # one for all: what one search asks, another need not
        for target in range(n):
            truth = true_blanket(graph, target)
            for name in CLASSICS:
                found = found_blanket(name, oracle, target, unbounded(name, n))
                assert truth <= found, (name, seed)
                assert truth == found or name not in SOUND, (name, seed)


# --------------------------------------------------------------------------------------- all graphs


@cache
def oracles(n: int) -> list[tuple[Any, DSeparationEngine, list[set[int]]]]:
    """All graphs over n nodes, who answers for them, and the blankets of the nodes."""
    return [
        (graph, DSeparationEngine(graph), [true_blanket(graph, target) for target in range(n)])
        for graph in all_dags(n)
    ]


@cache
def wrong_cases(name: str, n: int) -> list[tuple[Any, int]]:
    """Graphs over n nodes, and targets in them, for which a search returns another set."""
    wrong = []
    for graph, oracle, blankets in oracles(n):
        for target, truth in enumerate(blankets):
            found = found_blanket(name, oracle, target, unbounded(name, n))
            if found != truth:
                wrong.append((graph, target))
    return wrong


def test_all_graphs_are_there() -> None:
    assert [len(all_dags(n)) for n in (1, 2, 3, 4)] == [1, 3, 25, 543]


@every_classic
def test_no_search_is_wrong_on_three_nodes(name: str) -> None:
    assert wrong_cases(name, 3) == []


@every_classic
def test_what_the_registry_says_is_what_happens_on_four_nodes(name: str) -> None:
    """Sound means never wrong, and what is called not sound is wrong somewhere."""
    assert (wrong_cases(name, 4) == []) is komb.algorithms()[name].is_sound


#: Node 3 is the target, 1 its child, 2 a spouse; 0 is a child of both 1 and 2, and no member.
MISLEADING = [(3, 1), (2, 1), (1, 0), (2, 0)]


@pytest.mark.parametrize("name", ["hiton-mb", "mmmb"])
def test_the_smallest_graph_with_a_false_neighbour(name: str) -> None:
    """To separate 3 and 0 takes 1 and 2, but 2 is independent of 3 and never in the set."""
    graph = nx.DiGraph(MISLEADING)
    oracle = DSeparationEngine(graph)
    position = {node: index for index, node in enumerate(graph)}
    found = found_blanket(name, oracle, position[3], 4)
    assert found == {position[node] for node in (0, 1, 2)}
    assert true_blanket(graph, position[3]) == {position[node] for node in (1, 2)}
    for sound in SOUND:
        assert found_blanket(sound, oracle, position[3], unbounded(sound, 4)) == found - {
            position[0]
        }


@pytest.mark.parametrize("name", ["hiton-mb", "mmmb"])
def test_it_is_the_only_one_with_four_nodes(name: str) -> None:
    """All graphs and targets on which the two are wrong are copies of it: 4! of them."""
    pattern = nx.DiGraph(MISLEADING)
    nx.set_node_attributes(pattern, {node: node == 3 for node in pattern}, "is_target")
    wrong = wrong_cases(name, 4)
    for graph, target in wrong:
        marked = graph.copy()
        nx.set_node_attributes(marked, {node: node == target for node in marked}, "is_target")
        assert nx.is_isomorphic(pattern, marked, node_match=lambda a, b: a == b)
    assert len(wrong) == 24


# ----------------------------------------------------------------------------------- real networks

#: Bounds that suffice for every node, the smallest that do; for searches that condition on all they
#: have in the end, any bound does.
SUFFICIENT = {
    ("pcmb", "asia"): 2,
    ("pcmb", "child"): 2,
    ("pcmb", "alarm"): 3,
    ("pcmb", "insurance"): 3,
    ("bamb", "asia"): 3,
    ("bamb", "child"): 4,
    ("bamb", "alarm"): 4,
    ("bamb", "insurance"): 7,
    **{("lrh", network): 1 for network in NETWORKS},
    **{("stmb", network): 3 for network in NETWORKS},
}
#: Ten seconds each, and five minutes.
TAKES_LONG = {("bamb", "alarm"), ("pcmb", "insurance"), ("bamb", "insurance")}


def exact_targets(name: str, network: str, bound: int | None, step: int = 1) -> list[str]:
    """Nodes whose blanket a search returns; for the others it returns more, never less."""
    graph = NETWORKS[network]
    oracle = DSeparationEngine(graph)
    exact = []
    for target, node in list(enumerate(graph))[::step]:
        found, truth = found_blanket(name, oracle, target, bound), true_blanket(graph, target)
        assert truth <= found, node
        if found == truth:
            exact.append(node)
    return exact


def test_the_graphs_are_those_of_the_networks() -> None:
    sizes = {name: (len(g), g.number_of_edges()) for name, g in NETWORKS.items()}
    assert sizes == {"asia": (8, 8), "child": (20, 25), "alarm": (37, 46), "insurance": (27, 52)}
    assert all(nx.is_directed_acyclic_graph(graph) for graph in NETWORKS.values())


@pytest.mark.parametrize(
    ("name", "network"),
    [
        pytest.param(
            name, network, marks=[pytest.mark.slow] if (name, network) in TAKES_LONG else []
        )
        for name in SOUND
        for network in NETWORKS
    ],
)
def test_sound_searches_on_networks(name: str, network: str) -> None:
    n = len(NETWORKS[network])
    bound = SUFFICIENT.get((name, network), unbounded(name, n))
    assert exact_targets(name, network, bound) == list(NETWORKS[network])


def test_pcmb_on_a_part_of_insurance() -> None:
    """Every fourth node; all of them take long."""
    bound = SUFFICIENT["pcmb", "insurance"]
    assert exact_targets("pcmb", "insurance", bound, 4) == list(NETWORKS["insurance"])[::4]


@pytest.mark.parametrize(
    ("name", "network"), [("pcmb", "asia"), ("pcmb", "child"), ("bamb", "asia"), ("bamb", "child")]
)
def test_smaller_bounds_let_strangers_in(name: str, network: str) -> None:
    exact = exact_targets(name, network, SUFFICIENT[name, network] - 1)
    assert set(exact) < set(NETWORKS[network])


def test_bamb_on_alarm_needs_more_than_the_default_bound_once() -> None:
    graph = NETWORKS["alarm"]
    assert set(graph).difference(exact_targets("bamb", "alarm", 3)) == {"SAO2"}
    target = list(graph).index("SAO2")
    assert found_blanket("bamb", DSeparationEngine(graph), target, 4) == true_blanket(graph, target)


def test_bamb_on_insurance_needs_more_than_the_default_bound_often() -> None:
    """Nobody is lost, and eleven of the 27 blankets are exact."""
    exact = exact_targets("bamb", "insurance", 3)
    assert len(exact) == 11
    assert {"RiskAversion", "SocioEcon", "Mileage"} <= set(exact)  # of 10, 8 and 6 members


@pytest.mark.parametrize(
    ("network", "max_separator"),
    [("asia", 2), ("child", 3), pytest.param("alarm", 3, marks=pytest.mark.slow)],
)
def test_komb_at_order_one_on_networks(network: str, max_separator: int) -> None:
    graph = NETWORKS[network]
    oracle = DSeparationEngine(graph)
    for target in range(len(graph)):
        task = everyone(oracle, target)
        found = find_by_komb(oracle, task, order=1, max_separator=max_separator)
        assert set(found.witnesses) == true_blanket(graph, target)


# -------------------------------------------------------------------------------- order of columns


@every_sound
def test_the_order_of_the_columns_does_not_matter(name: str) -> None:
    graph = NETWORKS["child"]
    for seed in range(3):
        shuffled = nx.DiGraph()
        shuffled.add_nodes_from(np.random.default_rng(seed).permutation(list(graph)).tolist())
        shuffled.add_edges_from(graph.edges)
        oracle = DSeparationEngine(shuffled)
        for target in range(0, len(graph), 4):
            bound = SUFFICIENT.get((name, "child"), unbounded(name, len(graph)))
            found = found_blanket(name, oracle, target, bound)
            assert found == true_blanket(shuffled, target)
