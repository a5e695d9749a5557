"""Every search given covariates and under knowledge: against its twin, and against the truth."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import komb
from komb.data.knowledge import ColumnKnowledge
from komb.data.table import DiscreteTable
from komb.engine.knowledge import KnowledgeEngine
from komb.engine.oracle import DSeparationEngine
from komb.engine.questions import EMPTY
from komb.search.task import Task
from tests import naive
from tests.data.models.graphs import random_dag, true_blanket
from tests.engine.engines import on_table
from tests.engine.tables import LOW_KIND
from tests.search.automatic_twin import check_twin
from tests.search.running import CLASSICS, METHODS, OneByOne, search, search_naively, tasks


def drop(task: Task, fixed: int) -> Task:
    out = frozenset({fixed})
    return Task(task.target, task.candidates - out, task.start - out, task.include - out)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(drawn=tasks(kinds=LOW_KIND, n_rows=(20, 300), n_columns=(4, 7)), seed=st.integers(0, 99))
def test_twins_ask_one_by_one(drawn: tuple[DiscreteTable, Task], seed: int) -> None:
    """Batches, separators and strong dependences of a engine that adjusts, all in one."""
    table, task = drawn
    rng = np.random.default_rng(seed)
    fixed = (task.target + 1) % table.n_columns
    task = drop(task, fixed)
    options: dict[str, Any] = {"given": frozenset({fixed}), "test": "auto", "alpha": 0.1}
    if seed % 2:
        tiers = [None if rng.random() < 0.3 else int(rng.integers(3)) for _ in table.names]
        pairs = [frozenset({a, b}) for a in range(table.n_columns) for b in range(a)]
        forbidden = frozenset(pair for pair in pairs if rng.random() < 0.2)
        options["knowledge"] = ColumnKnowledge(tuple(tiers), forbidden)
    one_by_one = OneByOne(on_table(table, **options))
    for name in CLASSICS:
        found = search(name, on_table(table, **options), task, 2)
        assert found == search_naively(name, one_by_one, task, 2), name
    find_by_komb = komb.algorithms()["komb"].search
    found = dict(find_by_komb(on_table(table, **options), task, order=1).witnesses)
    assert found == naive.komb.komb(
        one_by_one, task.candidates, task.target, 1, 1, task.start, task.include
    )
    if "knowledge" not in options and table.n_rows > 100:  # thin tables are left out, by all levels
        is_thin = 2 * np.prod(table.cardinalities) > table.n_rows
        if not is_thin:
            check_twin(on_table(table, **options), one_by_one, task, alpha=0.1)


def true_knowledge(graph: Any, rng: np.random.Generator) -> ColumnKnowledge:
    """Some of what is true of a graph."""
    n = graph.number_of_nodes()
    cuts = np.sort(rng.choice(n, 2))
    tiers: list[int | None] = [None] * n
    for place, node in enumerate(nx.topological_sort(graph)):
        if rng.random() < 0.85:
            tiers[node] = int(np.searchsorted(cuts, place, side="right"))
    pairs = [frozenset({a, b}) for a in range(n) for b in range(a)]
    joined = {frozenset(edge) for edge in graph.edges}
    return ColumnKnowledge(
        tuple(tiers),
        forbidden=frozenset(p for p in pairs if p not in joined and rng.random() < 0.3),
        required=frozenset(p for p in joined if rng.random() < 0.3),
    )


def options_of(name: str, n: int) -> dict[str, Any]:
    info = komb.algorithms()[name]
    if "max_conditioning" in info.defaults:
        return {"max_conditioning": None if info.defaults["max_conditioning"] is None else n}
    return {"order": 2, "max_separator": n}


@pytest.mark.parametrize("name", METHODS)
def test_true_knowledge_leaves_a_sound_search_sound(name: str) -> None:
    """With correct answers; the others lose no member."""
    find_blanket = komb.algorithms()[name].search
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(5, 9))
        graph = random_dag(n, float(rng.uniform(1, 2.6)) / (n - 1), rng)
        known = true_knowledge(graph, rng)
        everything = frozenset(range(n))
        for target in range(n):
            engine = KnowledgeEngine(DSeparationEngine(graph, range(n)), known, everything)
            task = Task(target, everything - {target}, EMPTY, known.required_of(target))
            found = set(find_blanket(engine, task, **options_of(name, n)).witnesses)
            truth = true_blanket(graph, target)
            assert truth <= found, seed
            assert truth == found or not komb.algorithms()[name].is_sound, seed


@pytest.mark.parametrize("name", METHODS)
def test_a_search_given_roots_finds_the_rest_of_the_blanket(name: str) -> None:
    """Given a variable without parents, what is left of the blanket is the blanket of the rest."""
    find_blanket = komb.algorithms()[name].search
    for seed in range(12):
        rng = np.random.default_rng(100 + seed)
        n = int(rng.integers(5, 9))
        graph = random_dag(n, float(rng.uniform(1, 2.6)) / (n - 1), rng)
        root = next(iter(nx.topological_sort(graph)))
        for target in set(range(n)) - {root}:
            engine = DSeparationEngine(graph, range(n), frozenset({root}))
            task = Task(target, frozenset(range(n)) - {target, root})
            found = set(find_blanket(engine, task, **options_of(name, n)).witnesses)
            truth = true_blanket(graph, target) - {root}
            assert truth <= found, seed
            assert truth == found or not komb.algorithms()[name].is_sound, seed


@pytest.mark.parametrize("name", METHODS)
def test_wrong_knowledge_wins(name: str) -> None:
    """A forbidden pair is no member, a required one is, whatever the graph says."""
    graph = nx.DiGraph([(0, 1), (1, 2), (3, 4)])
    known = ColumnKnowledge(
        (None,) * 5,
        forbidden=frozenset({frozenset({1, 2})}),
        required=frozenset({frozenset({1, 3})}),
    )
    engine = KnowledgeEngine(DSeparationEngine(graph, range(5)), known, frozenset(range(5)))
    task = Task(1, frozenset({0, 2, 3, 4}), include=known.required_of(1))
    found = komb.algorithms()[name].search(engine, task, **options_of(name, 5)).witnesses
    assert 3 in found
    assert 2 not in found


@pytest.mark.parametrize("name", METHODS)
def test_a_later_copy_explains_nothing_away(name: str) -> None:
    """The copy of the target separates its cause from it, unless it is known to come later."""
    rng = np.random.default_rng(0)
    cause = rng.integers(0, 2, 500)
    target = cause ^ (rng.random(500) < 0.2)
    data = {"copy": target ^ (rng.random(500) < 0.01), "cause": cause, "y": target}
    known = komb.Knowledge(tiers=[["cause"], ["y"], ["copy"]])
    assert komb.markov_blanket(data, "y", method=name, knowledge=known).members == ("copy", "cause")
