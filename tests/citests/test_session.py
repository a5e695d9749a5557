"""What a session remembers, batches and sweeps, against one question at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any, Never

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.citests import data_session, session, sweep
from komb.citests.data_session import DataSession
from komb.citests.session import EMPTY, Case, Outcome, Session, Variables, subsets
from komb.citests.sweep import colex_subsets
from komb.data import DiscreteTable, boolean_table
from tests import naive
from tests.citests.kinds import EVERY_TEST
from tests.citests.recorder import Recorder
from tests.counts.tables import LOW_KIND, columns_of, make_table, tables

thorough = settings(max_examples=25, deadline=None, derandomize=True)
every_test = pytest.mark.parametrize(("test", "df"), EVERY_TEST)
MIXED: list[int | str] = [2, 3, "parity", 2, 20, "copy", "parity", 1, "id"]


class Coin(Session):
    """Answers like a coin, but always the same."""

    def __init__(self, n_variables: int, seed: int, bias: float) -> None:
        super().__init__(n_variables)
        self.seed, self.bias = seed, bias
        self.computed: list[tuple[int, int, Variables]] = []

    def independent(self, y: int, x: int, given: Variables) -> bool:
        rng = np.random.default_rng([self.seed, y, x, *sorted(given)])
        return bool(rng.random() < self.bias)

    def _decide(
        self, target: int, questions: Sequence[tuple[Sequence[int], Variables]]
    ) -> Sequence[Sequence[bool]]:
        for candidates, members in questions:
            self.computed += [(target, x, members) for x in candidates]
        return [[not self.independent(target, x, z) for x in xs] for xs, z in questions]

    def outcome(self, target: int, candidate: int, given: Any) -> Outcome:
        raise NotImplementedError


# ---------------------------------------------------------------------------------------- memory


@thorough
@given(tables(kinds=LOW_KIND, n_columns=(3, 6)), st.integers(0, 10**6))
def test_nothing_is_computed_twice(table: DiscreteTable, seed: int) -> None:
    rng = np.random.default_rng(seed)
    asked = Recorder(table)
    wanted: set[tuple[int, int, Variables]] = set()
    for _ in range(8):
        target = int(rng.integers(table.n_columns))
        others = [v for v in range(table.n_columns) if v != target]
        questions = []
        for _ in range(rng.integers(1, 4)):
            members = frozenset(rng.permutation(others)[: rng.integers(len(others))].tolist())
            candidates = set(rng.permutation(others)[: rng.integers(1, len(others) + 1)].tolist())
            questions.append((candidates, members))
            wanted |= {(target, x, members) for x in candidates - members}
        asked.ask(target, questions)
        assert asked.counts.tests == len(asked.decided) == len(set(asked.decided))
        assert set(asked.decided) == wanted


@thorough
@given(tables(kinds=LOW_KIND, n_columns=(3, 6)), st.integers(0, 10**6))
def test_any_batch_gives_the_answers_of_single_questions(table: DiscreteTable, seed: int) -> None:
    rng = np.random.default_rng(seed)
    others = range(1, table.n_columns)
    questions = [
        (
            set(rng.permutation(others)[: rng.integers(len(others) + 1)].tolist()),
            frozenset(rng.permutation(others)[: rng.integers(len(others))].tolist()),
        )
        for _ in range(12)
    ]
    together = DataSession(table).ask(0, questions)
    for (candidates, members), answer in zip(questions, together, strict=True):
        alone = DataSession(table)
        assert answer == [
            x for x in sorted(candidates - members) if alone.is_dependent(0, x, members)
        ]
        assert answer == DataSession(table).dependents(0, candidates, members)


def test_candidates_in_the_condition_are_ignored() -> None:
    asked = Recorder(make_table([2, "copy", "copy"], 50, seed=0))
    assert asked.dependents(0, {1, 2}, frozenset({1})) == []
    assert asked.decided == [(0, 2, frozenset({1}))]
    assert asked.dependents(0, set(), EMPTY) == []


def test_outcomes_and_measurements_are_not_counted() -> None:
    """Evidence for a result is not part of the search's work."""
    asked = DataSession(make_table([2, 2, 2], 50, seed=0))
    asked.outcome(0, 1, [2])
    asked.measure(0, [1], frozenset({2}))
    assert asked.counts.tests == 0


def test_a_measurement_is_a_batch_of_outcomes() -> None:
    table = make_table([3, 2, "copy", 20, "id", 2], 200, seed=0)
    asked = DataSession(table)
    measured = asked.measure(0, [1, 2, 3, 4], frozenset({5}))
    outcomes = [asked.outcome(0, x, [5]) for x in [1, 2, 3, 4]]
    assert measured.statistic.tolist() == [outcome.statistic for outcome in outcomes]
    assert measured.is_reliable.tolist() == [outcome.reliable for outcome in outcomes]


def test_answers_survive_forgetting(monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_table([2, 3, "parity", "copy", 2], 80, seed=0)
    questions = [(set(range(1, 5)), z) for z in subsets({1, 2, 3, 4}, 3)] * 2
    expected = DataSession(table).ask(0, questions)
    monkeypatch.setattr(session, "ROWS_REMEMBERED_BYTES", 0)
    assert DataSession(table).ask(0, questions) == expected
    forgetful = DataSession(table)
    assert [forgetful.dependents(0, *question) for question in questions] == expected


def test_the_oldest_are_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_table([2] * 12, 80, seed=0)
    a_row = len(table.names) + session._KEY_BYTES
    monkeypatch.setattr(session, "ROWS_REMEMBERED_BYTES", 10 * a_row)
    asked = Recorder(table)
    for z in range(2, 12):
        asked.is_dependent(0, 1, frozenset({z}))
    asked.is_dependent(0, 1, frozenset({2}))
    assert asked.counts.tests == 10  # ten fit
    asked.is_dependent(0, 1, EMPTY)
    assert asked.counts.tests == 11
    for z in (11, 10, 9):
        asked.is_dependent(0, 1, frozenset({z}))
    assert asked.counts.tests == 11  # the latest are still there
    asked.is_dependent(0, 1, frozenset({2}))
    assert asked.counts.tests == 12  # the first is not


def test_many_targets_share_a_session() -> None:
    """More targets than are kept ready."""
    table = make_table([2, 3, "parity", "copy", 2, 2, 3], 80, seed=0)
    asked = DataSession(table)
    for _ in range(2):
        for target in range(table.n_columns):
            others = set(range(table.n_columns)) - {target}
            expected = DataSession(table).dependents(target, others, EMPTY)
            assert asked.dependents(target, others, EMPTY) == expected


# ------------------------------------------------------------------------------------ separators


def drop_naively(
    answers: naive.Session, target: int, cases: Sequence[Case], pool: Variables, most: int
) -> list[set[int]]:
    return [
        {x for x in case.candidates if naive.no_seps(answers, target, x, case.given, pool, most)}
        for case in cases
    ]


def random_cases(n_variables: int, rng: np.random.Generator) -> list[Case]:
    cases = []
    for _ in range(rng.integers(1, 6)):
        shuffled = rng.permutation(np.arange(1, n_variables)).tolist()
        size = int(rng.integers(0, 3))
        candidates = set(shuffled[size : size + int(rng.integers(0, 4))])
        cases.append(Case(frozenset(shuffled[:size]), candidates))
    return cases


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.integers(2, 8), st.integers(0, 10**6), st.sampled_from([0.02, 0.1, 0.5]))
def test_drop_separable_equals_the_naive_loop(n: int, seed: int, bias: float) -> None:
    """On answers that are pure chance, several times in a row: what it remembers is no excuse."""
    rng = np.random.default_rng(seed)
    coin = Coin(n, seed, bias)
    for _ in range(4):
        pool = frozenset(rng.permutation(np.arange(1, n))[: rng.integers(n)].tolist())
        most = int(rng.integers(0, 4))
        cases = random_cases(n, rng)
        expected = drop_naively(coin, 0, cases, pool, most)
        coin.drop_separable(0, cases, pool, most)
        assert [case.candidates for case in cases] == expected
    assert len(coin.computed) == len(set(coin.computed)) == coin.counts.tests


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.integers(3, 9), st.integers(0, 10**6), st.sampled_from([0.01, 0.05]))
def test_separators_withstood_before_need_not_be_tried_again(
    n: int, seed: int, bias: float
) -> None:
    rng = np.random.default_rng(seed)
    coin = Coin(n, seed, bias)
    most = int(rng.integers(0, 4))
    shuffled = rng.permutation(np.arange(1, n)).tolist()
    first = frozenset(shuffled[: rng.integers(n)])
    second = first | frozenset(shuffled[: rng.integers(n)])
    cases = random_cases(n, rng)
    coin.drop_separable(0, cases, first, most)
    cases = [Case(case.given, set(case.candidates), first) for case in cases]
    expected = drop_naively(coin, 0, cases, second, most)
    coin.drop_separable(0, cases, second, most)
    assert [case.candidates for case in cases] == expected


@every_test
@thorough
@given(tables(kinds=LOW_KIND, n_columns=(3, 6), n_rows=(5, 150)), st.integers(0, 10**6))
def test_drop_separable_on_data(test: str, df: str, table: DiscreteTable, seed: int) -> None:
    rng = np.random.default_rng(seed)
    twin = naive.DataSession(columns_of(table), test=test, df=df)
    pool = frozenset(range(1, table.n_columns))
    cases = random_cases(table.n_columns, rng)
    expected = drop_naively(twin, 0, cases, pool, 2)
    DataSession(table, test, df=df).drop_separable(0, cases, pool, 2)
    assert [case.candidates for case in cases] == expected


def test_subsets_come_by_size_then_in_order() -> None:
    for n in range(6):
        for most in range(8):
            expected = [
                frozenset(c) for size in range(most + 1) for c in combinations(range(n), size)
            ]
            assert list(subsets(set(range(n)), most)) == expected
            for least in range(4):
                larger = [subset for subset in expected if len(subset) >= least]
                assert list(subsets(set(range(n)), most, least)) == larger


def test_there_are_no_subsets_of_less_than_nothing() -> None:
    assert list(subsets({1, 2}, -1)) == []
    assert list(subsets({1, 2}, 1, 2)) == []


# ----------------------------------------------------------------------------------------- sweeps


@every_test
@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("chunk", [1, 7, 1 << 17])
def test_sweeps_answer_like_single_tests(
    monkeypatch: pytest.MonkeyPatch, test: str, df: str, size: int, chunk: int
) -> None:
    monkeypatch.setattr(sweep, "UNIONS_A_CHUNK", chunk)
    for n_rows, seed in [(1, 0), (30, 1), (250, 2)]:
        table = make_table(MIXED, n_rows, seed)
        for target, pool in [
            (2, frozenset({0, 1, 3, 4, 5, 6, 7, 8})),
            (0, frozenset({1, 2, 4, 6})),
        ]:
            swept, plain = Recorder(table, test, df=df), DataSession(table, test, df=df)
            swept.sweep(target, pool, size)
            n_tests = (size + 1) * math.comb(len(pool), size + 1)
            assert swept.counts.tests == n_tests
            for members in combinations(sorted(pool), size):
                z = frozenset(members)
                assert swept.dependents(target, pool - z, z) == plain.dependents(
                    target, pool - z, z
                )
            assert swept.decided == []
            assert swept.counts.tests == plain.counts.tests == n_tests
            assert swept.counts.fallbacks == plain.counts.fallbacks
            assert swept.counts.unreliable == plain.counts.unreliable


@every_test
def test_sweeps_agree_with_the_twin(test: str, df: str) -> None:
    table = boolean_table("ex-1", 120, n_irrelevant=3, seed=1)
    twin = naive.DataSession(columns_of(table), test=test, df=df)
    swept = DataSession(table, test, df=df)
    pool = frozenset({0, 1, 2, 4, 5, 6})
    for size in (1, 2, 3):
        swept.sweep(3, pool, size)
        for members in combinations(sorted(pool), size):
            z = frozenset(members)
            expected = [x for x in sorted(pool - z) if not twin.independent(3, x, z)]
            assert swept.dependents(3, pool, z) == expected


def test_questions_that_leave_the_pool_are_still_answered() -> None:
    table = make_table(MIXED, 120, seed=0)
    plain, swept = DataSession(table), DataSession(table)
    swept.sweep(2, frozenset({0, 1, 3, 4}), 1)
    questions = [(set(range(9)) - {2}, frozenset({z})) for z in (0, 1, 3, 4, 5, 6)]
    assert swept.ask(2, questions) == plain.ask(2, questions)


def test_a_sweep_that_would_take_too_much_memory_is_not_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = make_table(MIXED, 120, seed=0)
    monkeypatch.setattr(data_session, "SWEEP_BYTES", 0)
    asked = Recorder(table)
    pool = frozenset({0, 1, 3, 4})
    asked.sweep(2, pool, 1)
    assert asked.counts.tests == 0
    assert asked.dependents(2, pool, frozenset({0})) == DataSession(table).dependents(
        2, pool, frozenset({0})
    )
    assert len(asked.decided) == 3


@pytest.mark.parametrize(("pool", "size"), [({1}, 1), (set(), 1), ({1, 2}, 0), ({1, 3}, 2)])
def test_sweeps_of_nothing(pool: set[int], size: int) -> None:
    asked = DataSession(make_table(MIXED, 20, seed=0))
    asked.sweep(0, frozenset(pool), size)
    assert asked.counts.tests == 0


def test_sweeps_report_how_far_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "UNIONS_A_CHUNK", 3)
    for test in ("g-sci", "chi2"):
        asked = DataSession(make_table(MIXED, 20, seed=0), test)
        reports: list[tuple[int, int]] = []
        asked.sweep(
            0,
            frozenset({1, 2, 3, 4, 5}),
            2,
            lambda done, total, to=reports: to.append((done, total)),  # type: ignore[misc]
        )
        done = [done for done, _ in reports]
        assert len(reports) > 1
        assert done == sorted(done)
        assert reports[-1][0] == reports[-1][1]
        assert len({total for _, total in reports}) == 1


def test_colex_subsets() -> None:
    for n in range(8):
        for size in range(n + 2):
            expected = sorted(combinations(range(n), size), key=lambda c: c[::-1])
            assert colex_subsets(n, size).tolist() == [list(c) for c in expected]
            assert colex_subsets(n, size).shape == (math.comb(n, size), size)


def test_an_interrupted_question_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    table = boolean_table("and", 500)
    asked = DataSession(table)
    right = DataSession(table).dependents(3, {0, 1, 2}, frozenset())

    def interrupt(*_: object) -> Never:
        raise KeyboardInterrupt

    monkeypatch.setattr(asked, "_sums", interrupt)
    with pytest.raises(KeyboardInterrupt):
        asked.dependents(3, {0, 1, 2}, frozenset())
    with pytest.raises(KeyboardInterrupt):
        asked.strengths(3, [({0, 1, 2}, frozenset())])
    assert asked.counts.tests == 0
    with pytest.raises(IndexError):  # raised while the questions are put together
        asked.ask(3, [({0, 1, 2}, frozenset()), ({99}, frozenset())])
    monkeypatch.undo()
    assert asked.dependents(3, {0, 1, 2}, frozenset()) == right != []
    question = ({0, 1, 2}, frozenset[int]())
    assert asked.strengths(3, [question]) == DataSession(table).strengths(3, [question])
    assert asked.counts.tests == 3


def test_products_of_cardinalities_do_not_overflow() -> None:
    """Four identifiers of 3,000 levels: more possible strata than 64 bits can count with."""
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.permutation(3000) for _ in range(6)])
    outcome = DataSession(DiscreteTable.from_codes(codes), "g").outcome(0, 5, [1, 2, 3, 4])
    assert (outcome.independent, outcome.statistic) == (True, 0.0)


def test_hundreds_of_conditions() -> None:
    table = make_table([2] * 1100, 50, seed=0)
    outcome = DataSession(table, "g").outcome(0, 1, range(2, 1100))
    assert outcome.independent
