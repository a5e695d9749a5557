"""How clearly, and given which set: what the classic searches ask beyond yes and no."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.data.models.boolean_functions import boolean_table
from komb.data.table import DiscreteTable
from komb.sessions import session as session_module
from komb.sessions.data import DataSession
from komb.sessions.oracles import DSeparationOracle
from komb.sessions.session import EMPTY, Variables
from tests import naive
from tests.citests.kinds import EVERY_TEST
from tests.counts.tables import LOW_KIND, columns_of, make_table, tables
from tests.sessions.random_answers import Dice
from tests.sessions.recorder import Recorder

every_test = pytest.mark.parametrize(("test", "df"), EVERY_TEST)
thorough = settings(max_examples=25, deadline=None, derandomize=True)
MIXED: list[int | str] = [2, 3, "parity", 2, 4, "copy", "parity", "rare"]

# ---------------------------------------------------------------------------------------- strengths


@every_test
@thorough
@given(
    tables(kinds=LOW_KIND, n_columns=(3, 6)), st.integers(0, 10**6), st.sampled_from([0.01, 0.3])
)
def test_strengths_agree_with_the_twin(
    test: str, df: str, table: DiscreteTable, seed: int, alpha: float
) -> None:
    rng = np.random.default_rng(seed)
    asked = DataSession(table, test, alpha=alpha, df=df)
    twin = naive.sessions.DataSession(columns_of(table), test, alpha, df)
    for _ in range(6):
        target, *others = rng.permutation(table.n_columns).tolist()
        members = frozenset(others[: rng.integers(len(others))])
        [answer] = asked.strengths(target, [(set(others), members)])
        expected = {x: twin.strength(target, x, members) for x in set(others) - members}
        assert answer == pytest.approx({x: bits for x, bits in expected.items() if bits}, rel=1e-8)
        assert list(answer) == sorted(answer) == asked.dependents(target, set(others), members)


def test_the_scale_is_bits() -> None:
    """-log2 of the p-value, or what a code saves; of a clear dependence more than one can count."""
    table = boolean_table("and", 500, n_parents=2, seed=1)
    for test in ("g", "chi2"):
        asked = DataSession(table, test)
        [answer] = asked.strengths(2, [({0, 1}, EMPTY)])
        for x, bits in answer.items():
            p = asked.outcome(2, x, []).p_value
            assert p is not None
            assert bits == pytest.approx(-math.log2(p))
    asked = DataSession(table, "sci")
    for x, bits in asked.strengths(2, [({0, 1}, EMPTY)])[0].items():
        assert bits == asked.outcome(2, x, []).statistic
    certain = DataSession(make_table([2, "copy"], 20_000, seed=0), "g")
    outcome = certain.outcome(0, 1, [])
    assert outcome.p_value == 0.0
    assert outcome.statistic is not None
    bits = certain.strengths(0, [({1}, EMPTY)])[0][1]
    assert bits == pytest.approx(outcome.statistic / 2 / math.log(2), rel=1e-3)


def test_an_oracle_is_sure_of_everything() -> None:
    oracle = DSeparationOracle(nx.DiGraph([(0, 1), (1, 2), (3, 4)]))
    assert oracle.strengths(0, [({1, 2, 3, 4}, EMPTY)]) == [{1: math.inf, 2: math.inf}]
    assert oracle.strengths(0, [({1, 2}, frozenset({1})), ({3}, EMPTY)]) == [{}, {}]
    assert oracle.counts.tests == 5  # 0 with 1, 2, 3, 4; and with 2 given 1


def test_candidates_in_the_condition_are_ignored() -> None:
    asked = Recorder(make_table([2, "copy", "copy"], 50, seed=0))
    assert asked.strengths(0, [({1, 2}, frozenset({1}))]) == [{}]
    assert asked.weighed == [(0, 2, frozenset({1}))]
    assert asked.strengths(0, [(set(), EMPTY)]) == [{}]
    assert asked.strengths(0, []) == []


@every_test
def test_nothing_is_weighed_or_decided_after_it_was_weighed(test: str, df: str) -> None:
    asked = Recorder(make_table(MIXED, 200, seed=0), test, df=df)
    others = set(range(1, 8))
    questions = [(others, z) for z in naive.steps.subsets(frozenset(others), 2)]
    first = asked.strengths(0, questions)
    counts = asked.counts
    assert counts.tests == len(asked.weighed) == len(set(asked.weighed))
    assert asked.strengths(0, questions[::-1]) == first[::-1]
    assert asked.ask(0, questions) == [list(answer) for answer in first]
    assert asked.counts == counts
    assert asked.decided == []


def test_a_test_that_was_asked_before_is_not_counted_again() -> None:
    asked = Recorder(make_table(MIXED, 200, seed=0))
    others = set(range(1, 8))
    asked.dependents(0, {1, 2, 3}, EMPTY)
    assert asked.counts.tests == 3
    asked.strengths(0, [(others, EMPTY), ({2}, frozenset({1}))])
    assert asked.counts.tests == 8
    asked.ask(0, [(others, EMPTY), (others, frozenset({1}))])
    assert asked.counts.tests == 7 + 6


def test_targets_do_not_share_strengths() -> None:
    asked = DataSession(make_table([2, "copy", 3, "copy", "parity"], 300, seed=1), alpha=0.5)
    for _ in range(2):
        for target in range(5):
            others = set(range(5)) - {target}
            fresh = DataSession(asked._table, alpha=0.5)
            for z in naive.steps.subsets(frozenset(others), 1):
                assert asked.strengths(target, [(others, z)]) == fresh.strengths(
                    target, [(others, z)]
                )


def test_strengths_survive_forgetting(monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_table(MIXED, 80, seed=0)
    questions = [(set(range(1, 8)), z) for z in naive.steps.subsets(frozenset(range(1, 8)), 2)] * 2
    expected = DataSession(table).strengths(0, questions)
    monkeypatch.setattr(session_module, "ROWS_REMEMBERED_BYTES", 0)
    assert DataSession(table).strengths(0, questions) == expected
    forgetful = DataSession(table)
    assert [forgetful.strengths(0, [question])[0] for question in questions] == expected


def test_strengths_after_a_sweep() -> None:
    table = make_table(MIXED, 120, seed=0)
    swept, plain = DataSession(table), DataSession(table)
    pool = frozenset({0, 1, 3, 4})
    swept.sweep(2, pool, 1)
    questions = [(set(pool), frozenset({z})) for z in sorted(pool)]
    assert swept.strengths(2, questions) == plain.strengths(2, questions)


def test_a_test_that_was_swept_before_is_not_counted_again() -> None:
    asked = DataSession(boolean_table("and", 500, n_irrelevant=2))
    pool = frozenset({0, 1, 2, 4, 5})
    asked.sweep(3, pool, 1)
    swept = asked.counts.tests
    asked.strengths(3, [({0, 1}, frozenset({2}))])
    assert asked.counts.tests == swept


def test_what_a_sweep_left_out_is_counted() -> None:
    """Candidates and conditions that are not in its pool; conditions of another size."""
    asked = DataSession(boolean_table("and", 500, n_irrelevant=3))
    pool = frozenset({0, 1, 2, 4})
    asked.sweep(3, pool, 1)
    swept = asked.counts.tests
    asked.strengths(3, [({5}, frozenset({2}))])
    assert asked.counts.tests == swept + 1
    asked.strengths(3, [({0, 1}, frozenset({6}))])
    assert asked.counts.tests == swept + 3
    asked.strengths(3, [({0, 1}, EMPTY), ({0}, frozenset({1, 2}))])
    assert asked.counts.tests == swept + 6


def test_unreliable_tests_and_fallbacks_are_counted_once() -> None:
    asked = DataSession(make_table([3, 4, 4, 4, 4], 60, seed=0))
    question = ({1, 2}, frozenset({3, 4}))
    asked.ask(0, [question])
    asked.strengths(0, [question])
    assert asked.counts.tests == 2
    assert asked.counts.fallbacks <= 2
    assert asked.counts.unreliable <= 2


def test_nothing_is_weighed_twice_in_one_batch() -> None:
    asked = Recorder(make_table(MIXED, 200, seed=0))
    asked.strengths(0, [({1, 2}, EMPTY), ({2, 3}, EMPTY)])
    assert len(asked.weighed) == len(set(asked.weighed))


def test_a_question_that_cannot_be_asked_leaves_no_trace() -> None:
    """Raised while the questions are put together, as an interrupt may be."""
    table = boolean_table("and", 500)
    asked = DataSession(table)
    asked.dependents(3, {0}, EMPTY)
    with pytest.raises(IndexError):
        asked.strengths(3, [({0, 1, 2, 99}, EMPTY)])
    question = ({0, 1, 2}, EMPTY)
    assert asked.strengths(3, [question]) == DataSession(table).strengths(3, [question])


# --------------------------------------------------------------------------------------- separators


def draw_sets(n: int, rng: np.random.Generator) -> tuple[set[int], Variables, Variables, int, int]:
    """Candidates, a pool that may hold some of them, a core, and sizes."""
    others = np.arange(1, n)
    candidates = set(rng.permutation(others)[: rng.integers(1, n)].tolist())
    pool = frozenset(rng.permutation(others)[: rng.integers(n)].tolist())
    core = frozenset(rng.permutation(others)[: rng.integers(3)].tolist())
    least = int(rng.integers(3))
    return candidates, pool, core, least, int(rng.integers(-1, 5))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.integers(3, 9), st.integers(0, 10**6), st.sampled_from([0.01, 0.1, 0.4]))
def test_separators_are_the_first_in_order(n: int, seed: int, bias: float) -> None:
    rng = np.random.default_rng(seed)
    dice, plain = Dice(n, seed, bias), Dice(n, seed, bias)
    for _ in range(4):
        candidates, pool, core, least, most = draw_sets(n, rng)
        found = dice.separators(0, candidates, pool, most, min_size=least, core=core)
        expected = {
            x: naive.steps.separable(plain, 0, x, pool, most, core, least)
            for x in candidates - core
        }
        assert found == {x: z for x, z in expected.items() if z is not None}
        for x, z in found.items():
            assert x not in z
            assert core <= z <= core | pool
            assert least <= len(z - core) <= most


def test_separators_on_a_graph() -> None:
    """A diamond: 1 and 2 together separate 0 and 3, neither does so alone; 4 is on its own."""
    graph = nx.DiGraph([(0, 1), (0, 2), (1, 3), (2, 3)])
    graph.add_node(4)
    oracle = DSeparationOracle(graph)
    pool = frozenset({1, 2, 3, 4})
    everyone = {1, 2, 3, 4}
    assert oracle.separators(0, everyone, pool, 1) == {4: frozenset()}
    assert oracle.separators(0, everyone, pool, 2) == {3: frozenset({1, 2}), 4: frozenset()}
    assert oracle.separators(0, everyone, pool, 2, min_size=1) == {
        3: frozenset({1, 2}),
        4: frozenset({1}),
    }
    assert oracle.separators(0, {3}, pool, 1, core=frozenset({2})) == {3: frozenset({1, 2})}
    assert oracle.separators(0, {3}, pool, 0, core=frozenset({1, 2})) == {3: frozenset({1, 2})}
    assert oracle.separators(0, {3}, pool, 1, core=frozenset({4})) == {}
    assert oracle.separators(0, {3}, frozenset({1}), 9) == {}
    assert oracle.separators(0, set(), pool, 2) == {}
    assert oracle.separators(0, {3}, pool, 2, core=frozenset({3})) == {}  # it is in the condition


def test_no_more_is_asked_than_a_small_lot() -> None:
    """The empty set separates: what is tried beyond it fills one lot, not the whole pool."""
    asked = Recorder(make_table([2] * 30, 500, seed=3), alpha=1e-6)
    assert asked.separators(0, {1}, frozenset(range(2, 30)), 3) == {1: EMPTY}
    assert asked.counts.tests <= session_module._TESTS_AT_FIRST


# ------------------------------------------------------------------------------------------ weakest


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.integers(3, 9), st.integers(0, 10**6), st.sampled_from([0.0, 0.01, 0.1]))
def test_weakest_is_the_least_of_all(n: int, seed: int, bias: float) -> None:
    rng = np.random.default_rng(seed)
    dice, plain = Dice(n, seed, bias), Dice(n, seed, bias)
    for _ in range(4):
        candidates, pool, core, _, most = draw_sets(n, rng)
        known = {x: float(rng.choice([0.5, 2.0, 9.0])) for x in candidates - core}
        before = dict(known)
        least, separators = dice.weakest(0, known, pool, most, core=core)
        assert known == before  # what was passed in is left alone
        for x in known:
            separator = naive.steps.separable(plain, 0, x, pool, most, core)
            if separator is None:
                assert x not in separators
                assert least[x] == min(known[x], naive.steps.weakest(plain, 0, x, pool, most, core))
            else:
                assert x not in least
                assert separators[x] == separator
        assert least.keys() | separators.keys() == known.keys()


def test_weakest_on_data() -> None:
    table = make_table([2, "copy", 3, "parity", 2, "parity"], 150, seed=2)
    twin = naive.sessions.DataSession(columns_of(table), alpha=0.5)
    asked = DataSession(table, alpha=0.5)
    pool = frozenset(range(1, 6))
    known = asked.strengths(0, [(set(pool), EMPTY)])[0]
    least, separators = asked.weakest(0, known, pool, 2)
    assert known.keys() == least.keys() | separators.keys()
    assert least
    assert separators
    for x in known:
        assert separators.get(x) == naive.steps.separable(twin, 0, x, pool, 2)
        if x in least:
            assert least[x] == pytest.approx(naive.steps.weakest(twin, 0, x, pool, 2))
