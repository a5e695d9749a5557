"""The automatic search: against its twin, against the truth, against chance."""

from __future__ import annotations

import math
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.citests import session as session_module
from komb.citests.data_session import DataSession
from komb.citests.oracles import DistributionOracle
from komb.citests.session import Session, Variables
from komb.data import DiscreteTable, boolean_network, boolean_table
from komb.search import auto
from komb.search.auto import (
    find_blanket,
    gate_bits,
    least_bits,
    level_for,
    separator_size,
)
from komb.search.task import Progress, Task
from tests import naive
from tests.citests.test_oracles import random_dag
from tests.counts.tables import columns_of, with_gaps
from tests.search.graphs import ASIA, CHILD
from tests.search.running import Dice, OneByOne, QuickOracle, Witnesses, everyone, tasks
from tests.search.test_soundness import MISLEADING, all_dags, true_blanket

ALPHA = 0.05


def search(session: Session, task: Task, alpha: float = ALPHA, **options: Any) -> Witnesses:
    return dict(find_blanket(session, task, alpha=alpha, **options).witnesses)


def search_naively(
    session: naive.DoubtingSession,
    task: Task,
    alpha: float = ALPHA,
    order: int | None = None,
    max_separator: int = 3,
) -> Witnesses:
    return naive.automatic(
        session,
        task.candidates,
        task.target,
        alpha,
        order,
        max_separator,
        task.start,
        task.include,
    )


def on_data(table: DiscreteTable, test: str = "auto", alpha: float = ALPHA) -> DataSession:
    return DataSession(table, test, alpha=alpha, ignores_mute_sets=True)


# ------------------------------------------------------------------------------------------- twin


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.integers(1, 8),
    st.integers(0, 10**6),
    st.sampled_from([0.0, 0.1, 0.3, 0.6]),
    st.sampled_from([None, 0, 1, 2]),
    st.integers(0, 4),
)
def test_dice(n: int, seed: int, bias: float, order: int | None, most: int) -> None:
    """Answers without rhyme or reason, of up to 20 bits, lead both the same way."""
    rng = np.random.default_rng(seed)
    roles = rng.choice(["free"] * 4 + ["start", "include"], n).tolist()
    start, include = (
        frozenset(x for x in range(1, n) if roles[x] == role) for role in ("start", "include")
    )
    task = Task(0, frozenset(range(1, n)), start, include)
    options: dict[str, Any] = {"alpha": 0.4, "order": order, "max_separator": most}
    twin = Dice(n, seed, bias, sides=20)
    assert search(Dice(n, seed, bias, sides=20), task, **options) == search_naively(
        twin, task, **options
    )


@pytest.mark.parametrize("test", ["g", "g-sci", "chi2", "sci"])
@settings(max_examples=12, deadline=None, derandomize=True)
@given(tasks(n_rows=(20, 120), n_columns=(3, 6)), st.sampled_from([0.05, 0.3]))
def test_tables(test: str, drawn: tuple[DiscreteTable, Task], alpha: float) -> None:
    table, task = drawn
    twin = naive.DataSession(columns_of(table), test, alpha)
    assert search(on_data(table, test, alpha), task, alpha) == search_naively(twin, task, alpha)


@settings(max_examples=10, deadline=None, derandomize=True)
@given(tasks(n_rows=(20, 90), n_columns=(3, 5)))
def test_tables_by_the_automatic_test(drawn: tuple[DiscreteTable, Task]) -> None:
    table, task = drawn
    twin = naive.DataSession(columns_of(table), "auto", 0.3)
    assert search(on_data(table, alpha=0.3), task, 0.3) == search_naively(twin, task, 0.3)


@pytest.mark.xdist_group("missing")  # whose kernels are compiled there anyway
@settings(max_examples=12, deadline=None, derandomize=True)
@given(tasks(n_rows=(20, 120), n_columns=(3, 6)), st.integers(0, 10**6))
def test_tables_with_missing_values(drawn: tuple[DiscreteTable, Task], seed: int) -> None:
    table, task = drawn
    shares = np.random.default_rng(seed).choice([0, 0.1, 0.5], table.n_columns).tolist()
    gappy = with_gaps(table, shares, seed)
    twin = naive.DataSession(columns_of(gappy), "g", 0.3)
    assert search(on_data(gappy, "g", 0.3), task, 0.3) == search_naively(twin, task, 0.3)


def draw_from(graph: Any, n_rows: int, seed: int) -> DiscreteTable:
    """Rows of a network with random tables; columns are in the order of the nodes."""
    rng = np.random.default_rng(seed)
    columns: dict[Any, Any] = {}
    for node in nx.topological_sort(graph):
        code = np.zeros(n_rows, dtype=np.int64)
        for parent in graph.predecessors(node):
            code = 3 * code + columns[parent]
        levels = int(rng.integers(2, 4))
        shares = rng.dirichlet(np.full(levels, 0.5), int(code.max()) + 1)
        columns[node] = (rng.random(n_rows)[:, None] > shares.cumsum(axis=1)[code]).sum(axis=1)
    return DiscreteTable.from_codes(np.column_stack([columns[node] for node in graph]))


@pytest.mark.parametrize(
    ("table", "target"),
    [
        pytest.param(boolean_table("parity", 300, n_irrelevant=2, seed=1), 3, id="parity"),
        pytest.param(boolean_table("ex-1", 200, n_irrelevant=4, seed=1), 3, id="ex-1"),
        pytest.param(boolean_table("and", 200, n_irrelevant=4, seed=2), 0, id="and"),
        pytest.param(draw_from(ASIA, 250, seed=3), 3, id="asia"),
    ],
)
def test_sampled_tables(table: DiscreteTable, target: int) -> None:
    session = on_data(table)
    task = everyone(session, target)
    found = search(session, task)
    assert found == search_naively(naive.DataSession(columns_of(table), "auto", ALPHA), task)
    assert found


def test_a_network() -> None:
    table = draw_from(CHILD, 300, seed=0)
    session = on_data(table, "g")
    task = everyone(session, 4)
    twin = naive.DataSession(columns_of(table), "g", ALPHA)
    assert search(session, task, order=0) == search_naively(twin, task, order=0)


class LoudDice(Dice):
    """What depends does so clearly."""

    def strength(self, y: int, x: int, given: Variables) -> float:
        bits = super().strength(y, x, given)
        return bits + 5 if bits else 0.0


@pytest.mark.parametrize("bias", [0.0, 0.0005])
def test_separators_out_of_many_neighbours(bias: float) -> None:
    """Nearly everything is a neighbour of everything, and larger separators would be too many."""
    task = Task(0, frozenset(range(1, 18)))
    found = search(LoudDice(18, 0, bias), task, order=0)
    assert found == search_naively(LoudDice(18, 0, bias), task, order=0)
    assert found


# ------------------------------------------------------------------------------------- the truth


def test_random_graphs() -> None:
    """Nobody is lost. Not everybody is a member: what holds for MMMB holds here, from both ends."""
    exact = n_targets = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 9))
        graph = random_dag(n, 1.6 / (n - 1), rng)
        oracle = QuickOracle(graph)
        for target in range(n):
            found = search(oracle, everyone(oracle, target), max_separator=n)
            truth = true_blanket(graph, target)
            assert truth <= found.keys(), (seed, target)
            n_targets += 1
            exact += truth == found.keys()
    assert exact >= 0.9 * n_targets


def test_the_only_graph_of_four_nodes_with_a_false_neighbour() -> None:
    """It is that of MMMB, but as two are joined by the word of either, both ends are wrong."""
    ends = {}
    for end in (0, 3):
        ends[end] = nx.DiGraph(MISLEADING)
        nx.set_node_attributes(ends[end], {node: node == end for node in range(4)}, "is_target")
    wrong = {0: 0, 3: 0}
    for graph, target in ((graph, target) for graph in all_dags(4) for target in range(4)):
        oracle = QuickOracle(graph)
        found = search(oracle, everyone(oracle, target), max_separator=4).keys()
        truth = true_blanket(graph, target)
        assert truth <= found
        if truth != found:
            marked = graph.copy()
            nx.set_node_attributes(marked, {node: node == target for node in marked}, "is_target")
            [end] = [
                end
                for end, pattern in ends.items()
                if nx.is_isomorphic(pattern, marked, node_match=lambda a, b: a == b)
            ]
            wrong[end] += 1
    assert wrong == {0: 24, 3: 24}


def test_trees_and_colliders_without_a_triangle() -> None:
    """Where no child of a child is a child of a spouse as well, blankets are exact."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 9))
        graph = nx.DiGraph()
        graph.add_nodes_from(range(n))
        for node in range(1, n):
            other = int(rng.integers(node))
            graph.add_edge(*((node, other) if rng.random() < 0.5 else (other, node)))
        oracle = QuickOracle(graph)
        for target in range(n):
            found = search(oracle, everyone(oracle, target), max_separator=n)
            assert found.keys() == true_blanket(graph, target)


@pytest.mark.parametrize("graph", [ASIA, CHILD], ids=["asia", "child"])
def test_networks(graph: Any) -> None:
    oracle = QuickOracle(graph)
    for target in range(len(graph)):
        found = search(oracle, everyone(oracle, target), order=0)
        assert found.keys() >= true_blanket(graph, target)


@pytest.mark.parametrize("n_parents", [2, 3])
def test_parents_that_show_only_together(n_parents: int) -> None:
    network = boolean_network("parity", n_parents=n_parents, n_irrelevant=1)
    oracle = DistributionOracle(network.joint())
    found = find_blanket(oracle, everyone(oracle, n_parents), alpha=ALPHA)
    parents = frozenset(range(n_parents))
    assert dict(found.witnesses) == {x: parents - {x} for x in parents}
    twin = search_naively(OneByOne(oracle), everyone(oracle, n_parents))
    assert found.witnesses == twin


def test_an_order_that_is_too_low_shows_nothing() -> None:
    oracle = DistributionOracle(boolean_network("parity", n_parents=3).joint())
    found = find_blanket(oracle, everyone(oracle, 3), alpha=ALPHA, order=1)
    assert not found.witnesses
    assert (found.choices["order"].value, found.choices["threshold"].value) == (1, None)
    assert "as asked" in found.choices["order"].reason


def test_orders_that_would_take_too_many_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    oracle = DistributionOracle(boolean_network("parity", n_parents=3).joint())
    monkeypatch.setattr(auto, "MOST_TESTS", {1: 100, 2: 2})
    found = find_blanket(oracle, everyone(oracle, 3), alpha=ALPHA)
    assert not found.witnesses
    assert found.choices["order"].value == 1
    assert "order 2 was left out: 3 tests exceed the limit of 2" in found.choices["order"].reason


# ----------------------------------------------------------------------------- start and include

AND = boolean_table("and", 500, n_irrelevant=3, seed=1)  # 0, 1, 2 are the parents of 3


def test_what_is_included_stays() -> None:
    session = on_data(AND)
    others = frozenset(range(AND.n_columns)) - {3}
    plain = search(session, Task(3, others))
    assert plain.keys() == {0, 1, 2}
    assert search(session, Task(3, others, include=frozenset({5}))) == {**plain, 5: None}
    assert search(session, Task(3, others, include=frozenset({0}))) == plain


def test_a_start_may_be_dropped_again() -> None:
    session = on_data(AND)
    others = frozenset(range(AND.n_columns)) - {3}
    plain = search(session, Task(3, others))
    for start in ({4}, {2, 5}, {0, 1, 2}, others):
        assert search(session, Task(3, others, start=frozenset(start))) == plain


# ------------------------------------------------------------------ nothing else makes a difference


def test_progress_is_reported() -> None:
    seen: list[Progress] = []
    session = on_data(AND)
    find_blanket(session, Task(3, frozenset({0, 1, 2, 4}), observer=seen.append), alpha=ALPHA)
    assert list(dict.fromkeys(progress.phase for progress in seen)) == [
        "neighbours",
        "spouses",
        "groups",
    ]
    assert [progress.tests for progress in seen] == sorted(progress.tests for progress in seen)
    assert seen[-1].total > 0
    assert seen[-1].done == seen[-1].total
    assert seen[1].blanket == (0, 1, 2)


@pytest.mark.parametrize("size", [1, 1000])
def test_batches_make_no_difference(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    tables = [draw_from(CHILD, 300, seed=0), with_gaps(draw_from(ASIA, 300, 1), [0.2] * 8, 1)]
    plain = [search(on_data(table), everyone(on_data(table), 5), order=1) for table in tables]
    for name in (
        "_TESTS_AT_FIRST", "_TESTS_AT_MOST", "_WEIGHED_AT_FIRST", "_WEIGHED_AT_MOST",
        "_TESTS_A_BATCH",
    ):  # fmt: skip
        monkeypatch.setattr(session_module, name, size)
    batched = [search(on_data(table), everyone(on_data(table), 5), order=1) for table in tables]
    assert batched == plain
    assert all(plain)


def test_a_session_that_knows_much_already_answers_the_same() -> None:
    table = draw_from(CHILD, 300, seed=0)
    shared = on_data(table)
    for target in (5, 3, 5, 6):
        task = everyone(shared, target)
        assert search(shared, task, order=1) == search(on_data(table), task, order=1)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_the_columns_makes_no_difference(seed: int) -> None:
    for table, target in [(draw_from(CHILD, 400, seed=2), 4), (AND, 3)]:
        order = np.random.default_rng(seed).permutation(table.n_columns)
        shuffled = DiscreteTable.from_codes(table.codes[order].T)
        place = order.tolist().index(target)
        found = search(on_data(shuffled), everyone(on_data(shuffled), place), order=1)
        plain = search(on_data(table), everyone(on_data(table), target), order=1)
        assert {int(order[x]) for x in found} == plain.keys()


# ----------------------------------------------------------------------------------------- chance


def test_noise_is_rarely_taken_for_a_blanket() -> None:
    """Two families open their gate by chance, and each with a known probability at most."""
    n_columns, n_tables = 40, 200
    families = [n_columns - 1, (n_columns - 1) * (n_columns - 2)]
    promised = sum(n * 2 ** -gate_bits(n, ALPHA) for n in families)
    assert promised < 0.06
    found = 0
    rng = np.random.default_rng(0)
    for _ in range(n_tables):
        table = DiscreteTable.from_codes(rng.integers(0, 2, (200, n_columns)))
        session = on_data(table, "g")
        found += bool(search(session, everyone(session, 0), order=1))
    # three standard deviations
    assert found <= n_tables * promised + 3 * math.sqrt(n_tables * promised)


def test_gates_rise_with_the_family() -> None:
    for alpha in (0.001, 0.05, 0.3):
        gates = [gate_bits(n, alpha) for n in range(1, 3000)]
        assert gates == sorted(gates)
        assert gates[0] == -math.log2(alpha)
        for n, bits in enumerate(gates, start=1):
            assert n * 2**-bits <= 0.5 * (1 + 1e-9) or n == 1
            assert bits == pytest.approx(naive.gate(n, alpha))
        assert 10**6 * 2 ** -gate_bits(10**6, alpha) == pytest.approx(auto.GATE)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    st.lists(st.floats(4.4, 40), max_size=12), st.integers(0, 5000), st.sampled_from([0.05, 0.047])
)
def test_what_is_believed(bits: list[float], others: int, alpha: float) -> None:
    n = len(bits) + others or 1
    level = least_bits(bits, n, alpha)
    assert level == pytest.approx(naive.believed(bits, n, alpha))
    if max(bits, default=0) < gate_bits(n, alpha):
        assert level == math.inf
        return
    assert level >= -math.log2(alpha) * (1 - 1e-6)
    assert max(bits) >= level  # the one that opened the gate is believed
    assert least_bits([*bits, 50.0], n + 1, alpha) <= level + math.log2((n + 1) / n) + 1e-9
    assert least_bits(bits, n + 1000, alpha) >= level


def test_levels_fall_with_the_rows() -> None:
    levels = [level_for(n) for n in (1, 10, 1000, 1001, 2000, 10**4, 10**6, 10**8)]
    assert levels == sorted(levels, reverse=True)
    assert levels[:3] == [0.05] * 3
    assert level_for(4000) == 0.025


def test_separators_are_smaller_the_larger_the_pool() -> None:
    for largest in range(-1, 6):
        sizes = [separator_size(n, largest) for n in range(100)]
        assert sizes == sorted(sizes, reverse=True)
        assert sizes == [naive.allowed(n, largest) for n in range(100)]
        assert sizes[0] == largest
        assert sizes[-1] == min(largest, 1)


def test_of_copies_one_is_enough() -> None:
    """Given the original a copy is constant; what it sees itself of the target is the original."""
    rng = np.random.default_rng(3)
    x, noise = rng.integers(0, 3, 800), rng.integers(0, 2, 800)
    y = np.where(rng.random(800) < 0.1, rng.integers(0, 3, 800), x)
    table = DiscreteTable.from_codes(np.column_stack([x, 2 - x, y, noise]))
    session = on_data(table, "auto", 0.05)
    assert session.are_copies(0, 1)
    assert not session.are_copies(0, 2)
    assert search(session, Task(2, frozenset({0, 1, 3})), 0.05) == {0: frozenset()}
