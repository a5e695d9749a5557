"""Covariates held fixed: the same answers as with the covariates in every question."""

from __future__ import annotations

from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.data.table import DiscreteTable
from komb.sessions.data import DataSession
from komb.sessions.given import GivenSource
from komb.sessions.graph import DirectedGraphSource
from komb.sessions.questions import EMPTY, subsets
from komb.sessions.session import Session
from komb.sessions.source import Power
from komb.sessions.table_session import open_table
from tests import naive
from tests.counts.tables import LOW_KIND, make_table, tables, with_missing
from tests.search.running import OneByOne

FEW = settings(max_examples=25, deadline=None, derandomize=True)
some_tests = pytest.mark.parametrize("test", ["auto", "g", "g-sci", "perm"])


def questions_about(table: DiscreteTable, fixed: frozenset[int]) -> list[Any]:
    """Every candidate given every set of up to two others, the target being column 0."""
    others = frozenset(range(1, table.n_columns)) - fixed
    return [(others, given) for given in subsets(others, 2)]


@some_tests
@FEW
@given(tables(kinds=LOW_KIND, n_rows=(5, 200), n_columns=(4, 6)), st.integers(1, 2))
def test_single_answers(test: str, table: DiscreteTable, n_fixed: int) -> None:
    fixed = frozenset(range(table.n_columns - n_fixed, table.n_columns))
    session = open_table(table, given=fixed, test=test, alpha=0.1)
    twin = naive.adjusted.GivenSession(OneByOne(DataSession(table, test, alpha=0.1)), fixed)
    questions = questions_about(table, fixed)
    dependents, strengths = session.ask(0, questions), session.strengths(0, questions)
    for (candidates, condition), found, bits in zip(questions, dependents, strengths, strict=True):
        asked = sorted(candidates - condition)
        assert found == [x for x in asked if not twin.independent(0, x, condition)]
        expected = {x: twin.strength(0, x, condition) for x in asked}
        assert bits == {x: own for x, own in expected.items() if own}


@some_tests
@FEW
@given(tables(kinds=LOW_KIND, n_rows=(5, 200), n_columns=(4, 6)))
def test_separators(test: str, table: DiscreteTable) -> None:
    """Those of whoever is quick, against those of a session that asks one by one."""
    fixed = frozenset({table.n_columns - 1})
    quick = open_table(table, given=fixed, test=test, alpha=0.1)

    class Slow(GivenSource):
        separators = None
        remembers = False

    slow = Session(Slow(DataSession(table, test, alpha=0.1).source, fixed, 2))
    slow.source.remembers = False
    others = frozenset(range(1, table.n_columns)) - fixed
    assert quick.separators.find(0, others, others, 2) == slow.separators.find(0, others, others, 2)
    weak = dict.fromkeys(sorted(others), 1e9)
    least, by = quick.separators.weakest(0, weak, others, 2)
    assert (least, by) == slow.separators.weakest(0, weak, others, 2)
    lines = [(x, list(subsets(others - {x}, 1))) for x in sorted(others)]
    inseparable = quick.separators.first_inseparable(0, lines, others, 1)
    assert inseparable == slow.separators.first_inseparable(0, lines, others, 1)


@FEW
@given(tables(kinds=LOW_KIND, n_rows=(20, 200), n_columns=(4, 6)), st.integers(0, 2))
def test_strong_dependences(table: DiscreteTable, size: int) -> None:
    """All that have so many bits, without those whose table would be too thin."""
    fixed = frozenset({table.n_columns - 1})
    session = open_table(table, given=fixed, test="auto", alpha=0.2)
    plain = DataSession(table, "auto", alpha=0.2)
    others = frozenset(range(1, table.n_columns)) - fixed
    found = session.strong_dependences(0, others, others, size, 3.0, min_rows_per_cell=2.0)
    levels = table.cardinalities
    expected = []
    for condition in subsets(others, size, size):
        for x in sorted(others - condition):
            cells = 1
            for z in {x, *condition, *fixed}:
                cells *= int(levels[z])
            whole = condition | fixed
            [bits] = plain.strengths(0, [({x}, whole)])
            [least] = plain.confirmed_strengths(0, [({x}, whole)])
            if least.get(x, 0.0) >= 3.0 and 2 * cells <= table.n_rows:
                expected.append((bits[x], x, condition))
    assert found == sorted(expected, key=lambda each: (-each[0], each[1], sorted(each[2])))


def test_outcomes_power_and_determination() -> None:
    table = make_table([2, 2, "parity", 3], 300, seed=3)
    fixed = frozenset({1})
    session, plain = open_table(table, given=fixed, test="g"), DataSession(table, "g")
    assert session.outcome(2, 0, EMPTY) == plain.outcome(2, 0, fixed)
    power = Power(0.1, 0.3, 50.0)
    for condition in (EMPTY, frozenset({3})):
        wanted = plain.can_detect(2, 0, condition | fixed, fixed, power)
        assert session.can_detect(2, 0, condition, EMPTY, power) == wanted
    copy = make_table([2, "copy", 2], 100, seed=0)
    assert open_table(copy, given=frozenset({0})).determines(frozenset({2}), 1, min_rows=1.0)
    assert not open_table(copy).determines(frozenset({2}), 1, min_rows=1.0)


def test_missing_values() -> None:
    table = with_missing(make_table([2, 3, "parity", 2], 300, seed=5), [0, 0.1, 0.1, 0.2], seed=1)
    fixed = frozenset({3})
    session, plain = open_table(table, given=fixed, test="auto"), DataSession(table, "auto")
    for x in (0, 1):
        for condition in (EMPTY, frozenset({1 - x})):
            assert session.outcome(2, x, condition) == plain.outcome(2, x, condition | fixed)
            asked = plain.is_dependent(2, x, condition | fixed)
            assert session.is_dependent(2, x, condition) == asked


def test_work_is_counted_once() -> None:
    table = make_table([2, 2, 3, 2], 200, seed=0)
    session = open_table(table, given=frozenset({3}), test="auto")
    session.strengths(0, [({1, 2}, EMPTY)])
    session.ask(0, [({1, 2}, EMPTY)])
    assert session.counts.tests == 2
    assert session.n_strata == 2
    assert DataSession(table).n_strata == 1


def test_an_oracle_answers_given_covariates() -> None:
    graph = nx.DiGraph([(0, 1), (0, 2), (1, 3), (2, 3)])
    session = Session(GivenSource(DirectedGraphSource(graph, range(4)), frozenset({0})))
    assert session.dependents(1, {2, 3}, EMPTY) == [3]
    [first, *_] = session.strong_dependences(1, {2}, frozenset({2, 3}), 1, 1.0)
    assert first[1:] == (2, frozenset({3}))
    assert session.n_rows is None
