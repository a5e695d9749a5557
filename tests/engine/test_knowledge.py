"""Evidence under background knowledge: against a twin, and against what it means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.data.knowledge import ColumnKnowledge
from komb.engine.engine import AllSets, Power
from komb.engine.knowledge import LEAST_BITS, KnowledgeEngine
from komb.engine.oracle import DSeparationEngine
from komb.engine.questions import EMPTY, Question, Variables, subsets
from tests import naive
from tests.engine.random_answers import FunctionEngine, dice

thorough = settings(max_examples=60, deadline=None, derandomize=True)


class Sampled(FunctionEngine):
    """As if from rows, with half the bits where a second statistic is asked."""

    n_rows = 100

    def conservative_evidence(
        self, target: int, questions: Sequence[Question]
    ) -> list[dict[int, float]]:
        rows = self.evidence(target, questions)
        return [{x: bits / 2 for x, bits in row.items()} for row in rows]

    def can_detect(
        self, target: int, candidate: int, given: Variables, witness: Variables, power: Power
    ) -> bool:
        return given == frozenset({3})


@st.composite
def known_columns(draw: Any, n: int) -> ColumnKnowledge:
    """Tiers and pairs that need not be true."""
    tiers = draw(st.lists(st.sampled_from([None, 0, 1, 2]), min_size=n, max_size=n))
    pairs = [frozenset({a, b}) for a in range(n) for b in range(a)]
    kinds = draw(st.lists(st.sampled_from("frnn"), min_size=len(pairs), max_size=len(pairs)))
    by_kind = {
        kind: frozenset(p for p, own in zip(pairs, kinds, strict=True) if own == kind)
        for kind in "fr"
    }
    return ColumnKnowledge(tuple(tiers), by_kind["f"], by_kind["r"])


@thorough
@given(st.data(), st.integers(3, 6), st.integers(0, 10**6), st.sampled_from([0.1, 0.4, 0.7]))
def test_evidence_is_that_of_the_twin(data: Any, n: int, seed: int, bias: float) -> None:
    """For two targets, given up to two others."""
    known, everything = data.draw(known_columns(n)), frozenset(range(n))
    engine = Sampled(n, dice(n, seed, bias).strength)
    informed = KnowledgeEngine(engine, known, everything)
    pairs = set(known.forbidden), set(known.required)
    twin = naive.adjusted.InformedSession(engine, everything, list(known.tiers), *pairs)
    n_tests = 0
    for target in (0, 1):
        others = everything - {target}
        questions = [(others, condition) for condition in subsets(others, 2)]
        rows = informed.evidence(target, questions)
        for (_, z), row in zip(questions, rows, strict=True):
            n_tests += len(others - z)
            expected = {x: twin.strength(target, x, z) for x in sorted(others - z)}
            assert list(row.items()) == [(x, bits) for x, bits in expected.items() if bits]
        doubted = informed.evidence(target, questions, is_conservative=True)
        assert [row.keys() for row in doubted] == [row.keys() for row in rows]
    assert informed.work.tests == n_tests


def oracle(edges: list[tuple[int, int]], n: int, known: ColumnKnowledge) -> KnowledgeEngine:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(edges)
    return KnowledgeEngine(DSeparationEngine(graph, range(n)), known, frozenset(range(n)))


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
    engine = oracle([(2, 0), (2, 1), (0, 3), (1, 3)], 4, known)
    assert not engine.is_dependent(0, 1, EMPTY)
    assert engine.is_dependent(0, 1, frozenset({3}))
    assert engine.can_detect(0, 1, EMPTY, EMPTY, Power(0.1, 0.3, 50.0))
    neighbours = oracle([(0, 1), (0, 3), (1, 3)], 4, known)
    for condition in subsets({2, 3}, 2):
        assert not neighbours.is_dependent(0, 1, condition)


def test_covariates_separate_no_forbidden_pair() -> None:
    known = ColumnKnowledge((None,) * 3, forbidden=frozenset({frozenset({0, 1})}))
    inner = Sampled(3, lambda _y, _x, z: float(2 not in z))
    assert not KnowledgeEngine(inner, known, frozenset({0, 1, 2})).is_dependent(0, 1, EMPTY)
    assert KnowledgeEngine(inner, known, frozenset({0, 1}))._separator(0, 1) is None


def test_a_required_pair_depends_but_wins_nothing() -> None:
    known = ColumnKnowledge((None,) * 3, required=frozenset({frozenset({0, 1})}))
    engine = oracle([(0, 2)], 3, known)
    assert engine.dependents(0, {1, 2}, EMPTY) == [1, 2]
    assert engine.evidence(0, [({1, 2}, EMPTY)])[0] == {1: LEAST_BITS, 2: math.inf}
    assert engine.outcome(0, 1, EMPTY).independent


def test_power_and_outcomes_are_those_of_the_earlier_part() -> None:
    engine = Sampled(4, lambda _y, _x, z: float(2 not in z))
    known = KnowledgeEngine(engine, ColumnKnowledge((0, 1, 2, None)), frozenset(range(4)))
    later = frozenset({2})
    assert engine.outcome(1, 0, later).independent
    assert not known.outcome(1, 0, later).independent
    assert known.outcome(3, 0, later).independent  # its time is not known
    power = Power(0.1, 0.3, 50.0)
    assert known.can_detect(1, 0, frozenset({2, 3}), EMPTY, power)
    assert not known.can_detect(1, 0, frozenset({2}), EMPTY, power)


def test_strong_dependences_are_filtered() -> None:
    engine = Sampled(4, lambda _y, x, _z: 4.0 + x)
    pair = frozenset({frozenset({0, 3})})
    known = KnowledgeEngine(engine, ColumnKnowledge((None,) * 4, pair), frozenset(range(4)))
    questions = [({1, 2, 3}, EMPTY)]
    assert known.strong(0, questions, 6.0) == [(6.0, 2, EMPTY)]
    assert known.strong(0, questions, 3.0, is_conservative=True) == [(6.0, 2, EMPTY)]
    everything = AllSets(frozenset({2, 3}), frozenset({1, 2}), 1)
    assert known.strong(0, everything, 1.0) == [(6.0, 2, frozenset({1}))]
    assert known.work.tests > 0


def test_it_says_of_itself_what_the_other_engine_says() -> None:
    engine = Sampled(4, lambda *_: 1.0)
    known = KnowledgeEngine(engine, ColumnKnowledge((None,) * 4), frozenset(range(4)))
    for name in ("n_rows", "n_levels", "n_strata", "alpha", "test_cost", "least_share"):
        assert getattr(known, name) == getattr(engine, name)
    assert not known.determines(frozenset({1}), 2, 1.0)
    assert known.explained_shares(0, [1, 2]) == [0.0, 0.0]
    known.is_dependent(0, 1, EMPTY)
    known.trim(0)
    known.is_dependent(0, 1, EMPTY)
    assert engine.work.tests == 2
