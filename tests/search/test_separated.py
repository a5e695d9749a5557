"""What separates the columns that a search leaves out: handed over, and true."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import komb
from komb.data.models.boolean_functions import boolean_network
from komb.data.table import DiscreteTable
from komb.engine.engine import Engine
from komb.engine.oracle import DistributionEngine, DSeparationEngine, SeparationEngine
from komb.engine.questions import EMPTY
from komb.errors import ParameterError
from komb.search.separated import affordable_size, complete_separators
from komb.search.task import Found, Task, check_found
from tests.data.models.graphs import all_dags, random_dag, true_blanket
from tests.engine.engines import on_table
from tests.search.running import METHODS, everyone, is_bounded, tasks

every_method = pytest.mark.parametrize("name", METHODS)
KNOWS_NONE = {"komb"}
"""Its walk notes that something separates a column, and forgets what."""


def run(name: str, engine: Engine, task: Task) -> Found:
    """Run any search, as far as its bounds allow."""
    options: dict[str, Any] = {}
    if name == "komb":
        options = {"order": 1, "max_separator": len(task.candidates)}
    elif name != "auto" and is_bounded(name):
        options = {"max_conditioning": len(task.candidates)}
    found: Found = komb.algorithms()[name].search(engine, task, **options)
    check_found(found, task, name)
    return found


def check(name: str, engine: Engine, task: Task, truth: set[int] | None = None) -> None:
    """Search; every separator separates, and if the blanket is right every column has one."""
    found = run(name, engine, task)
    outside = task.candidates - found.witnesses.keys()
    if name not in KNOWS_NONE:
        assert found.separators.keys() == outside, name
    completed = complete_separators(engine, task, found, len(task.candidates))
    assert found.separators.items() <= completed.items()
    assert list(completed) == sorted(completed)
    for x, separator in completed.items():
        assert not engine.is_dependent(task.target, x, separator), (name, x)
    if truth is None or truth == set(found.witnesses):
        assert completed.keys() == outside, name


@every_method
def test_all_graphs_of_four_nodes(name: str) -> None:
    for graph in all_dags(4)[::7]:
        oracle = DSeparationEngine(graph)
        for target in range(4):
            check(name, oracle, everyone(oracle, target), true_blanket(graph, target))


@every_method
def test_random_graphs(name: str) -> None:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        graph = random_dag(8, 2 / 7, rng)
        oracle = DSeparationEngine(graph)
        for target in range(8):
            check(name, oracle, everyone(oracle, target), true_blanket(graph, target))


@every_method
def test_undirected_graphs(name: str) -> None:
    for seed in range(6):
        graph = nx.gnp_random_graph(7, 0.35, seed=seed)
        oracle = SeparationEngine(graph)
        for target in range(7):
            check(name, oracle, everyone(oracle, target), set(graph[target]))


@every_method
@pytest.mark.parametrize("function", ["parity", "and", "ex-1"])
def test_distributions(name: str, function: str) -> None:
    """Also where the blanket that is found is not the true one: all that is said is true."""
    network = boolean_network(function, n_parents=3, n_irrelevant=1)
    oracle = DistributionEngine(network.joint())
    for target in range(len(network.names)):
        check(name, oracle, everyone(oracle, target))


@every_method
def test_nothing_is_asked_twice_on_data(name: str) -> None:
    """What is handed over was tested in the search, from one side or the other."""
    table = komb.DiscreteNetwork.random(9, degree=3, concentration=0.3, seed=4).sample(300, 4)
    engine = on_table(table)
    task = everyone(engine, 4)
    options = {} if name in {"auto", "komb"} else {"max_conditioning": 2}
    found = komb.algorithms()[name].search(engine, task, **options)
    n_tests = engine.work.tests
    for x, separator in found.separators.items():
        answers = [engine.is_dependent(4, x, separator)]
        if name == "pcmb" and engine.work.tests > n_tests:
            answers.append(engine.is_dependent(x, 4, separator))
            n_tests = engine.work.tests
        assert not all(answers)
    assert engine.work.tests == n_tests


@settings(max_examples=25, deadline=None)
@given(tasks(), st.sampled_from(METHODS), st.sampled_from(["g", "g-sci"]), st.integers(0, 3))
def test_data(case: tuple[DiscreteTable, Task], name: str, test: str, bound: int) -> None:
    """With columns left out, fixed and to begin with; tests contradict each other at will."""
    table, task = case
    engine = on_table(table, test, alpha=0.2)
    bounds = {"max_separator": bound} if name in {"auto", "komb"} else {"max_conditioning": bound}
    found = komb.algorithms()[name].search(engine, task, **bounds)
    check_found(found, task, name)
    for x, separator in complete_separators(engine, task, found, bound).items():
        assert not engine.is_dependent(task.target, x, separator), name


def test_few_members_are_tried_first_and_then_all() -> None:
    oracle = DSeparationEngine(nx.DiGraph([(0, 2), (0, 3), (1, 3), (2, 4), (3, 4), (1, 5)]))
    task = Task(0, frozenset(range(1, 6)))
    position = {node: index for index, node in enumerate([0, 2, 3, 1, 4, 5])}
    found = Found({position[x]: EMPTY for x in (1, 2, 3)})
    separators = complete_separators(oracle, task, found)
    assert separators[position[4]] == {position[2], position[3], position[1]}
    assert separators[position[5]] == EMPTY
    pairs = complete_separators(oracle, task, found, 2)
    assert pairs[position[4]] != separators[position[4]]


def test_what_nothing_separates_is_left_out() -> None:
    oracle = DSeparationEngine(nx.DiGraph([(0, 1)]))
    assert complete_separators(oracle, everyone(oracle, 0), Found({})) == {}


def test_sizes_that_are_affordable() -> None:
    assert [affordable_size(n, 2) for n in (0, 1, 5, 40)] == [1, 1, 2, 1]
    assert affordable_size(5, 0) == 0


@pytest.mark.parametrize(
    ("separators", "rule"),
    [
        ({1: EMPTY}, "separators of candidates that are not members"),
        ({7: EMPTY}, "separators of candidates that are not members"),
        ({2: frozenset({2})}, "separators made of other candidates"),
    ],
)
def test_an_algorithm_from_outside_is_checked(separators: Any, rule: str) -> None:
    found = Found({1: EMPTY}, separators=separators)
    with pytest.raises(ParameterError, match=rule):
        check_found(found, Task(0, frozenset({1, 2})), "mine")
