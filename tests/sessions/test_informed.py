"""Answers under background knowledge: against a twin, and against what they mean."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.data.knowledge import ColumnKnowledge
from komb.data.table import DiscreteTable
from komb.sessions.data import DataSession
from komb.sessions.graph import DirectedGraphSource
from komb.sessions.informed import LEAST_BITS, InformedSource
from komb.sessions.questions import EMPTY, subsets
from komb.sessions.session import Session
from komb.sessions.source import Power
from komb.sessions.table_session import open_table
from tests import naive
from tests.counts.tables import LOW_KIND, tables
from tests.search.running import OneByOne


@st.composite
def informed_tables(draw: Any) -> tuple[DiscreteTable, ColumnKnowledge]:
    """A table, with tiers and pairs that need not be true."""
    table = draw(tables(kinds=LOW_KIND, n_rows=(10, 200), n_columns=(3, 6)))
    n = table.n_columns
    tiers = draw(st.lists(st.sampled_from([None, 0, 1, 2]), min_size=n, max_size=n))
    pairs = [frozenset({a, b}) for a in range(n) for b in range(a)]
    kinds = draw(st.lists(st.sampled_from("frnn"), min_size=len(pairs), max_size=len(pairs)))
    by_kind = {
        kind: frozenset(p for p, own in zip(pairs, kinds, strict=True) if own == kind)
        for kind in "fr"
    }
    return table, ColumnKnowledge(tuple(tiers), by_kind["f"], by_kind["r"])


@pytest.mark.parametrize("test", ["auto", "g"])
@settings(max_examples=40, deadline=None, derandomize=True)
@given(informed_tables())
def test_single_answers(test: str, drawn: tuple[DiscreteTable, ColumnKnowledge]) -> None:
    table, known = drawn
    everything = frozenset(range(table.n_columns))
    session = open_table(table, knowledge=known, test=test, alpha=0.1)
    twin = naive.adjusted.InformedSession(
        OneByOne(DataSession(table, test, alpha=0.1)),
        everything,
        list(known.tiers),
        set(known.forbidden),
        set(known.required),
    )
    for target in (0, 1):
        others = everything - {target}
        questions = [(others, condition) for condition in subsets(others, 2)]
        dependents = session.ask(target, questions)
        strengths = session.strengths(target, questions)
        for (_, condition), found, bits in zip(questions, dependents, strengths, strict=True):
            expected = {x: twin.strength(target, x, condition) for x in sorted(others - condition)}
            assert found == [x for x, own in expected.items() if own]
            assert bits == {x: own for x, own in expected.items() if own}


def oracle(edges: list[tuple[int, int]], n: int, known: ColumnKnowledge) -> Session:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(edges)
    return Session(InformedSource(DirectedGraphSource(graph, range(n)), known, frozenset(range(n))))


def test_what_is_later_explains_nothing_away_but_may_show() -> None:
    chain = oracle([(0, 1), (1, 2)], 3, ColumnKnowledge((0, 1, 0)))
    assert chain.is_dependent(0, 2, frozenset({1}))
    collider = oracle([(0, 1), (2, 1)], 3, ColumnKnowledge((0, 1, 0)))
    assert not collider.is_dependent(0, 2, EMPTY)
    assert collider.is_dependent(0, 2, frozenset({1}))


def test_a_forbidden_pair_is_seen_only_through_a_common_effect() -> None:
    """0 - 1 depend through 2 as well; without a separator they would count as independent."""
    pair = frozenset({frozenset({0, 1})})
    known = ColumnKnowledge((None,) * 4, forbidden=pair)
    session = oracle([(2, 0), (2, 1), (0, 3), (1, 3)], 4, known)
    assert not session.is_dependent(0, 1, EMPTY)
    assert session.is_dependent(0, 1, frozenset({3}))
    neighbours = oracle([(0, 1), (0, 3), (1, 3)], 4, known)
    for condition in subsets({2, 3}, 2):
        assert not neighbours.is_dependent(0, 1, condition)


def test_a_required_pair_depends_but_wins_nothing() -> None:
    known = ColumnKnowledge((None,) * 3, required=frozenset({frozenset({0, 1})}))
    session = oracle([(0, 2)], 3, known)
    assert session.dependents(0, {1, 2}, EMPTY) == [1, 2]
    assert session.strengths(0, [({1, 2}, EMPTY)])[0] == {1: LEAST_BITS, 2: float("inf")}
    assert session.outcome(0, 1, EMPTY).independent


def test_power_and_outcomes_are_those_of_the_earlier_part() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, 400)
    y = x ^ (rng.random(400) < 0.2)
    table = DiscreteTable.from_codes(np.column_stack([x, y, y]))
    known = ColumnKnowledge((0, 1, 2))
    session = open_table(table, knowledge=known, test="g")
    plain = DataSession(table, "g")
    later = frozenset({2})
    assert plain.outcome(1, 0, later).independent
    assert session.outcome(1, 0, later) == plain.outcome(1, 0, EMPTY)
    power = Power(0.1, 0.3, 50.0)
    assert session.can_detect(1, 0, later, EMPTY, power) == plain.can_detect(
        1, 0, EMPTY, EMPTY, power
    )
