"""Which dependences no set removes, and what separates the others, against the naive loops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.data.models.boolean_functions import boolean_table
from komb.data.table import DiscreteTable
from komb.sessions import memory, separator_memory, separators
from komb.sessions.data import DataSession
from komb.sessions.graph import DSeparationOracle
from komb.sessions.questions import EMPTY, Dependence, Variables, subsets
from tests import naive
from tests.citests.kinds import EVERY_TEST
from tests.counts.tables import LOW_KIND, columns_of, make_table, tables
from tests.sessions.batch_sizes import SIZES_OF_BATCHES
from tests.sessions.random_answers import Coin, Dice
from tests.sessions.recorder import Recorder

thorough = settings(max_examples=25, deadline=None, derandomize=True)
every_test = pytest.mark.parametrize(("test", "df"), EVERY_TEST)

# -------------------------------------------------------------------------- inseparable dependences
Line = tuple[int, list[Variables]]  # a candidate and given sets


def first_inseparable_naively(
    answers: naive.sessions.Session, target: int, lines: list[Line], pool: Variables, most: int
) -> list[Variables | None]:
    return [
        next((z for z in givens if naive.komb.no_seps(answers, target, x, z, pool, most)), None)
        for x, givens in lines
    ]


def draw_set(items: Sequence[int], largest: int, rng: np.random.Generator) -> Variables:
    size = rng.integers(min(largest, len(items)) + 1)
    return frozenset(rng.permutation(np.array(items, int))[:size].tolist())


def draw_lines(n_variables: int, rng: np.random.Generator) -> list[Line]:
    """Some candidates with no, a few or many given sets of up to three variables."""
    lines = []
    for _ in range(rng.integers(1, 6)):
        candidate, *others = rng.permutation(np.arange(1, n_variables)).tolist()
        n_givens = int(rng.choice([0, 1, 3, 12]))
        lines.append((candidate, [draw_set(others, 3, rng) for _ in range(n_givens)]))
    return lines


class Impatient(Coin):
    """Gives up on a search that asks for ever what it has been told."""

    n_batches = 0

    def ask_each(self, target: int, tests: Sequence[Dependence]) -> list[bool]:
        self.n_batches += 1
        assert self.n_batches < 5000
        return super().ask_each(target, tests)


def check_first_inseparable(asked: Impatient, rng: np.random.Generator, n_calls: int) -> None:
    """The same and new dependences, with whatever separators: memory must not change an answer.

    The first and the last variable are targets.
    """
    n = asked.n_variables - 1
    lines = draw_lines(n, rng)
    for _ in range(n_calls):
        target = int(rng.choice([0, n]))
        pool = draw_set(range(1, n), n, rng)
        most = int(rng.integers(0, 4))
        mixed = lines + draw_lines(n, rng)
        expected = first_inseparable_naively(asked, target, mixed, pool, most)
        assert asked.separators.first_inseparable(target, mixed, pool, most) == expected


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.integers(3, 9), st.integers(0, 10**6), st.sampled_from([0.01, 0.05, 0.2, 0.5]))
def test_first_inseparable_equals_the_naive_loop(n: int, seed: int, bias: float) -> None:
    """On answers that are pure chance, several times in a row."""
    coin = Impatient(n, seed, bias)
    check_first_inseparable(coin, np.random.default_rng(seed), n_calls=5)
    assert len(coin.source.computed) == len(set(coin.source.computed)) == coin.counts.tests


def test_pools_may_grow_and_shrink() -> None:
    """What is separable in one pool need not be so in another."""
    n_changes = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        coin = Impatient(8, seed, float(rng.choice([0.02, 0.05, 0.1])))
        lines = draw_lines(8, rng) + draw_lines(8, rng)
        order = rng.permutation(np.arange(1, 8)).tolist()
        answers = []
        for size, most in [(1, 3), (3, 1), (3, 2), (5, 2), (7, 3), (5, 3), (5, 1), (2, 3), (7, 0)]:
            pool = frozenset(order[:size])
            answers.append(coin.separators.first_inseparable(0, lines, pool, most))
            assert answers[-1] == first_inseparable_naively(coin, 0, lines, pool, most)
        n_changes += sum(before != after for before, after in pairwise(answers))
    assert n_changes > 100  # pools do make a difference


@pytest.mark.parametrize("remembered", [0, 1, 2, 5])
def test_first_inseparable_survives_forgetting(
    remembered: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(separator_memory, "DEPENDENCES_REMEMBERED", remembered)
    for seed in range(25):
        rng = np.random.default_rng(seed)
        check_first_inseparable(Impatient(8, seed, float(rng.choice([0.05, 0.2, 0.6]))), rng, 3)


def test_a_long_line_of_what_one_set_separates_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if not all of it can be remembered, and all is looked at together."""
    monkeypatch.setattr(separator_memory, "DEPENDENCES_REMEMBERED", 1)
    independent = Impatient(9, seed=0, bias=1)
    lines = [(x, list(subsets(set(range(1, 9)) - {x}, 2))) for x in (1, 2, 3)]
    assert independent.separators.first_inseparable(0, lines, EMPTY, 0) == [None] * 3


@pytest.mark.parametrize("seed", range(40))
def test_sizes_of_batches_do_not_matter(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    for constant in SIZES_OF_BATCHES:
        size = [1, 2, 3, 10**6][seed] if seed < 4 else int(rng.choice([1, 2, 3, 10**6]))
        monkeypatch.setattr(separators, constant, size)
    check_first_inseparable(Impatient(8, seed, float(rng.choice([0.05, 0.2, 0.5]))), rng, 3)


@pytest.mark.parametrize("seed", range(40))
def test_lines_after_the_first_success_do_not_matter(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    for constant in SIZES_OF_BATCHES:
        monkeypatch.setattr(separators, constant, int(rng.choice([1, 2, 3, 10**6])))
    asked = Impatient(8, seed, float(rng.choice([0.2, 0.5, 0.8])))
    lines = draw_lines(8, rng)
    pool = draw_set(range(1, 8), 8, rng)
    expected = first_inseparable_naively(asked, 0, lines, pool, 2)
    answers = asked.separators.first_inseparable(0, lines, pool, 2, one_is_enough=True)
    assert answers == expected[: len(answers)]
    assert len(answers) == len(lines) or any(answer is not None for answer in answers)


def test_one_success_is_enough() -> None:
    """Of very many lines only the first few are looked at."""
    asked = Impatient(40, seed=0, bias=0)
    lines = [(x, [EMPTY]) for x in range(1, 40)]
    answers = asked.separators.first_inseparable(0, lines, EMPTY, 1, one_is_enough=True)
    assert answers[0] == EMPTY
    assert len(answers) < len(lines) / 2


@every_test
@thorough
@given(tables(kinds=LOW_KIND, n_columns=(3, 6), n_rows=(5, 150)), st.integers(0, 10**6))
def test_first_inseparable_on_data(test: str, df: str, table: DiscreteTable, seed: int) -> None:
    rng = np.random.default_rng(seed)
    twin = naive.sessions.DataSession(columns_of(table), test=test, df=df)
    asked = DataSession(table, test, df=df)
    lines = draw_lines(table.n_columns, rng)
    for most in (2, 1):
        pool = draw_set(range(1, table.n_columns), table.n_columns, rng)
        expected = first_inseparable_naively(twin, 0, lines, pool, most)
        assert asked.separators.first_inseparable(0, lines, pool, most) == expected


def test_what_does_not_depend_is_separable() -> None:
    """Nothing added is a separator, too."""
    asked = DataSession(boolean_table("parity", 500, n_parents=2, n_irrelevant=1, seed=0))
    givens = [EMPTY, frozenset({3}), frozenset({1}), frozenset({1, 3})]
    for pool in (EMPTY, frozenset({3})):
        lines = [(0, givens), (3, [EMPTY, frozenset({0, 1})]), (1, [])]
        assert asked.separators.first_inseparable(2, lines, pool, 1) == [frozenset({1}), None, None]


class Explained(Coin):
    """Everything depends unless one variable is given."""

    def __init__(self, n_variables: int, explanation: int) -> None:
        super().__init__(n_variables, seed=0, bias=0)
        self.explanation = explanation

    def independent(self, y: int, x: int, given: Variables) -> bool:
        del y, x
        return self.explanation in given


def test_what_explained_a_candidate_before_is_tried_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last of many separators is looked for once; then one test a dependence is enough."""
    monkeypatch.setattr(separators, "_TESTS_PER_BATCH", 1)
    asked = Explained(22, explanation=21)
    pool = frozenset(range(12, 22))
    givens = [frozenset({z}) for z in range(2, 12)]
    assert asked.separators.first_inseparable(0, [(1, givens)], pool, 2) == [None]
    n_separators = sum(math.comb(len(pool), size) for size in range(3))
    assert len(asked.source.computed) <= n_separators + len(givens)
    before = len(asked.source.computed)
    more = [frozenset({z, 2}) for z in range(3, 12)]
    assert asked.separators.first_inseparable(0, [(1, more)], pool, 2) == [None]
    assert asked.source.computed[before:] == [(0, 1, z | {21}) for z in more]


def test_what_did_not_separate_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even where the tests themselves have been forgotten."""
    monkeypatch.setattr(memory, "ROWS_REMEMBERED_BYTES", 0)
    asked = Explained(9, explanation=8)
    find = asked.separators.first_inseparable
    given_set = frozenset({2})
    lines = [(1, [given_set])]
    assert find(0, lines, frozenset({3, 4}), 2) == [given_set]
    before = len(asked.source.computed)
    assert before == 4
    assert find(0, lines, frozenset({3, 4}), 2) == [given_set]
    assert len(asked.source.computed) == before
    assert find(0, lines, frozenset({3, 4, 5}), 1) == [given_set]
    assert asked.source.computed[before:] == [(0, 1, frozenset({2, 5}))]
    assert find(0, lines, frozenset({3, 8}), 1) == [None]


def test_what_is_too_much_to_remember_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "ROWS_REMEMBERED_BYTES", 0)
    monkeypatch.setattr(separator_memory, "DEPENDENCES_REMEMBERED", 1)
    asked = Explained(9, explanation=8)
    given_set, pool = frozenset({2}), frozenset({3, 4})
    for _ in range(3):
        assert asked.separators.first_inseparable(0, [(1, [given_set])], pool, 2) == [given_set]
    assert len(asked.source.computed) == 3 * 4


def test_separators_are_tried_on_a_dependence_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Larger ones the longer none works, up to a bound."""
    monkeypatch.setattr(separators, "_TESTS_PER_BATCH", 4)
    monkeypatch.setattr(separators, "_MOST_SEPARATORS", 16)
    asked = Explained(13, explanation=2)
    pool = frozenset(range(3, 13))
    assert asked.separators.first_inseparable(0, [(1, [EMPTY])], pool, 2) == [EMPTY]
    assert [len(batch) for batch in asked.source.batches] == [4, 8, 16, 16, 12]


def test_dependences_are_looked_at_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Larger ones the more in a row are separated by what separated the first, up to a bound."""
    monkeypatch.setattr(separators, "_TESTS_PER_BATCH", 1)
    monkeypatch.setattr(separators, "_MOST_AHEAD", 8)
    asked = Explained(60, explanation=59)
    givens = [frozenset({z}) for z in range(2, 52)]
    assert asked.separators.first_inseparable(0, [(1, givens)], frozenset({59}), 1) == [None]
    assert len(asked.source.computed) == len(givens) + 1
    assert max(map(len, asked.source.batches)) == 7  # one of eight is known
    assert len(asked.source.batches) < len(givens) / 2


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
        found = dice.separators.find(0, candidates, pool, most, min_size=least, core=core)
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
    assert oracle.separators.find(0, everyone, pool, 1) == {4: frozenset()}
    assert oracle.separators.find(0, everyone, pool, 2) == {3: frozenset({1, 2}), 4: frozenset()}
    assert oracle.separators.find(0, everyone, pool, 2, min_size=1) == {
        3: frozenset({1, 2}),
        4: frozenset({1}),
    }
    assert oracle.separators.find(0, {3}, pool, 1, core=frozenset({2})) == {3: frozenset({1, 2})}
    assert oracle.separators.find(0, {3}, pool, 0, core=frozenset({1, 2})) == {3: frozenset({1, 2})}
    assert oracle.separators.find(0, {3}, pool, 1, core=frozenset({4})) == {}
    assert oracle.separators.find(0, {3}, frozenset({1}), 9) == {}
    assert oracle.separators.find(0, set(), pool, 2) == {}
    assert (
        oracle.separators.find(0, {3}, pool, 2, core=frozenset({3})) == {}
    )  # it is in the condition


def test_no_more_is_asked_than_a_small_lot() -> None:
    """The empty set separates: what is tried beyond it fills one batch, not the whole pool."""
    asked = Recorder(make_table([2] * 30, 500, seed=3), alpha=1e-6)
    assert asked.separators.find(0, {1}, frozenset(range(2, 30)), 3) == {1: EMPTY}
    assert asked.counts.tests <= separators._TESTS_AT_FIRST


# ------------------------------------------------------------------------------ weakest dependences


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.integers(3, 9), st.integers(0, 10**6), st.sampled_from([0.0, 0.01, 0.1]))
def test_weakest_is_the_least_of_all(n: int, seed: int, bias: float) -> None:
    rng = np.random.default_rng(seed)
    dice, plain = Dice(n, seed, bias), Dice(n, seed, bias)
    for _ in range(4):
        candidates, pool, core, _, most = draw_sets(n, rng)
        known = {x: float(rng.choice([0.5, 2.0, 9.0])) for x in candidates - core}
        before = dict(known)
        least, separators = dice.separators.weakest(0, known, pool, most, core=core)
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
    least, separators = asked.separators.weakest(0, known, pool, 2)
    assert known.keys() == least.keys() | separators.keys()
    assert least
    assert separators
    for x in known:
        assert separators.get(x) == naive.steps.separable(twin, 0, x, pool, 2)
        if x in least:
            assert least[x] == pytest.approx(naive.steps.weakest(twin, 0, x, pool, 2))
