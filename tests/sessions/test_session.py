"""What a session remembers, batches and sweeps, against one question at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Never

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.data.models.boolean_functions import boolean_table
from komb.data.table import DiscreteTable
from komb.sessions import data, separation, session, sweeps
from komb.sessions.data import DataSession
from komb.sessions.separation import subsets
from komb.sessions.session import EMPTY, Question, Variables
from komb.sessions.sweeps import colex_subsets
from tests import naive
from tests.citests.kinds import EVERY_TEST
from tests.counts.tables import LOW_KIND, columns_of, make_table, tables
from tests.sessions.batch_sizes import SIZES_OF_BATCHES
from tests.sessions.random_answers import Coin
from tests.sessions.recorder import Recorder

thorough = settings(max_examples=25, deadline=None, derandomize=True)
every_test = pytest.mark.parametrize(("test", "df"), EVERY_TEST)
SCREENED = {("auto", "observed"), ("g", "adjusted")}
MIXED: list[int | str] = [2, 3, "parity", 2, 20, "copy", "parity", 1, "id"]


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

Line = tuple[int, list[Variables]]  # a candidate and given sets


def first_standing_naively(
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

    def ask(self, target: int, questions: Sequence[Question]) -> list[list[int]]:
        self.n_batches += 1
        assert self.n_batches < 5000
        return super().ask(target, questions)


def check_first_standing(asked: Impatient, rng: np.random.Generator, n_calls: int) -> None:
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
        expected = first_standing_naively(asked, target, mixed, pool, most)
        assert asked.first_standing(target, mixed, pool, most) == expected


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.integers(3, 9), st.integers(0, 10**6), st.sampled_from([0.01, 0.05, 0.2, 0.5]))
def test_first_standing_equals_the_naive_loop(n: int, seed: int, bias: float) -> None:
    """On answers that are pure chance, several times in a row."""
    coin = Impatient(n, seed, bias)
    check_first_standing(coin, np.random.default_rng(seed), n_calls=5)
    assert len(coin.computed) == len(set(coin.computed)) == coin.counts.tests


def test_pools_may_grow_and_shrink() -> None:
    """What one pool undid another may not, and what withstood the one may fall to the other."""
    n_changes = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        coin = Impatient(8, seed, float(rng.choice([0.02, 0.05, 0.1])))
        lines = draw_lines(8, rng) + draw_lines(8, rng)
        order = rng.permutation(np.arange(1, 8)).tolist()
        answers = []
        for size, most in [(1, 3), (3, 1), (3, 2), (5, 2), (7, 3), (5, 3), (5, 1), (2, 3), (7, 0)]:
            pool = frozenset(order[:size])
            answers.append(coin.first_standing(0, lines, pool, most))
            assert answers[-1] == first_standing_naively(coin, 0, lines, pool, most)
        n_changes += sum(before != after for before, after in pairwise(answers))
    assert n_changes > 100  # pools do make a difference


@pytest.mark.parametrize("remembered", [0, 1, 2, 5])
def test_first_standing_survives_forgetting(
    remembered: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(separation, "DEPENDENCES_REMEMBERED", remembered)
    for seed in range(25):
        rng = np.random.default_rng(seed)
        check_first_standing(Impatient(8, seed, float(rng.choice([0.05, 0.2, 0.6]))), rng, 3)


def test_a_long_line_of_what_one_set_undoes_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if not all of it can be remembered, and all is looked at together."""
    monkeypatch.setattr(separation, "DEPENDENCES_REMEMBERED", 1)
    independent = Impatient(9, seed=0, bias=1)
    lines = [(x, list(subsets(set(range(1, 9)) - {x}, 2))) for x in (1, 2, 3)]
    assert independent.first_standing(0, lines, EMPTY, 0) == [None] * 3


@pytest.mark.parametrize("seed", range(40))
def test_sizes_of_batches_do_not_matter(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    for constant in SIZES_OF_BATCHES:
        size = [1, 2, 3, 10**6][seed] if seed < 4 else int(rng.choice([1, 2, 3, 10**6]))
        monkeypatch.setattr(session, constant, size)
    check_first_standing(Impatient(8, seed, float(rng.choice([0.05, 0.2, 0.5]))), rng, 3)


@pytest.mark.parametrize("seed", range(40))
def test_lines_after_the_first_success_do_not_matter(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    for constant in SIZES_OF_BATCHES:
        monkeypatch.setattr(session, constant, int(rng.choice([1, 2, 3, 10**6])))
    asked = Impatient(8, seed, float(rng.choice([0.2, 0.5, 0.8])))
    lines = draw_lines(8, rng)
    pool = draw_set(range(1, 8), 8, rng)
    expected = first_standing_naively(asked, 0, lines, pool, 2)
    answers = asked.first_standing(0, lines, pool, 2, one_is_enough=True)
    assert answers == expected[: len(answers)]
    assert len(answers) == len(lines) or any(answer is not None for answer in answers)


def test_one_success_is_enough() -> None:
    """Of very many lines only the first few are looked at."""
    asked = Impatient(40, seed=0, bias=0)
    lines = [(x, [EMPTY]) for x in range(1, 40)]
    answers = asked.first_standing(0, lines, EMPTY, 1, one_is_enough=True)
    assert answers[0] == EMPTY
    assert len(answers) < len(lines) / 2


@every_test
@thorough
@given(tables(kinds=LOW_KIND, n_columns=(3, 6), n_rows=(5, 150)), st.integers(0, 10**6))
def test_first_standing_on_data(test: str, df: str, table: DiscreteTable, seed: int) -> None:
    rng = np.random.default_rng(seed)
    twin = naive.sessions.DataSession(columns_of(table), test=test, df=df)
    asked = DataSession(table, test, df=df)
    lines = draw_lines(table.n_columns, rng)
    for most in (2, 1):
        pool = draw_set(range(1, table.n_columns), table.n_columns, rng)
        expected = first_standing_naively(twin, 0, lines, pool, most)
        assert asked.first_standing(0, lines, pool, most) == expected


def test_what_does_not_depend_does_not_stand() -> None:
    """Nothing added is a separator, too."""
    asked = DataSession(boolean_table("parity", 500, n_parents=2, n_irrelevant=1, seed=0))
    givens = [EMPTY, frozenset({3}), frozenset({1}), frozenset({1, 3})]
    for pool in (EMPTY, frozenset({3})):
        lines = [(0, givens), (3, [EMPTY, frozenset({0, 1})]), (1, [])]
        assert asked.first_standing(2, lines, pool, 1) == [frozenset({1}), None, None]


class Explained(Coin):
    """Everything depends unless one variable is given."""

    def __init__(self, n_variables: int, explanation: int) -> None:
        super().__init__(n_variables, seed=0, bias=0)
        self.explanation = explanation
        self.batches: list[int] = []  # tests decided together

    def independent(self, y: int, x: int, given: Variables) -> bool:
        del y, x
        return self.explanation in given

    def _decide(
        self, target: int, questions: Sequence[tuple[Sequence[int], Variables]]
    ) -> Sequence[Sequence[bool]]:
        self.batches.append(sum(len(candidates) for candidates, _ in questions))
        return super()._decide(target, questions)


def test_what_explained_a_candidate_before_is_tried_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last of many separators is looked for once; then one test a dependence is enough."""
    monkeypatch.setattr(session, "_TESTS_A_BATCH", 1)
    asked = Explained(22, explanation=21)
    pool = frozenset(range(12, 22))
    givens = [frozenset({z}) for z in range(2, 12)]
    assert asked.first_standing(0, [(1, givens)], pool, 2) == [None]
    n_separators = sum(math.comb(len(pool), size) for size in range(3))
    assert len(asked.computed) <= n_separators + len(givens)
    before = len(asked.computed)
    more = [frozenset({z, 2}) for z in range(3, 12)]
    assert asked.first_standing(0, [(1, more)], pool, 2) == [None]
    assert asked.computed[before:] == [(0, 1, z | {21}) for z in more]


def test_what_was_withstood_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even where the tests themselves have been forgotten."""
    monkeypatch.setattr(session, "ROWS_REMEMBERED_BYTES", 0)
    asked = Explained(9, explanation=8)
    given_set = frozenset({2})
    assert asked.first_standing(0, [(1, [given_set])], frozenset({3, 4}), 2) == [given_set]
    before = len(asked.computed)
    assert before == 4
    assert asked.first_standing(0, [(1, [given_set])], frozenset({3, 4}), 2) == [given_set]
    assert len(asked.computed) == before
    assert asked.first_standing(0, [(1, [given_set])], frozenset({3, 4, 5}), 1) == [given_set]
    assert asked.computed[before:] == [(0, 1, frozenset({2, 5}))]
    assert asked.first_standing(0, [(1, [given_set])], frozenset({3, 8}), 1) == [None]


def test_what_is_too_much_to_remember_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "ROWS_REMEMBERED_BYTES", 0)
    monkeypatch.setattr(separation, "DEPENDENCES_REMEMBERED", 1)
    asked = Explained(9, explanation=8)
    for _ in range(3):
        lines = [(1, [frozenset({2})])]
        assert asked.first_standing(0, lines, frozenset({3, 4}), 2) == [frozenset({2})]
    assert len(asked.computed) == 3 * 4


def test_separators_are_tried_on_a_dependence_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Larger ones the longer none works, up to a bound."""
    monkeypatch.setattr(session, "_TESTS_A_BATCH", 4)
    monkeypatch.setattr(session, "_MOST_SEPARATORS", 16)
    asked = Explained(13, explanation=2)
    assert asked.first_standing(0, [(1, [EMPTY])], frozenset(range(3, 13)), 2) == [EMPTY]
    assert asked.batches == [4, 8, 16, 16, 12]


def test_dependences_are_looked_at_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Larger ones the more in a row are undone by what undid the first, up to a bound."""
    monkeypatch.setattr(session, "_TESTS_A_BATCH", 1)
    monkeypatch.setattr(session, "_MOST_AHEAD", 8)
    asked = Explained(60, explanation=59)
    givens = [frozenset({z}) for z in range(2, 52)]
    assert asked.first_standing(0, [(1, givens)], frozenset({59}), 1) == [None]
    assert len(asked.computed) == len(givens) + 1
    assert max(asked.batches) == 7  # one of eight is known already: it ended the last batch
    assert len(asked.batches) < len(givens) / 2


# ----------------------------------------------------------------------------------------- sweeps


@every_test
@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("chunk", [1, 7, 1 << 17])
def test_sweeps_answer_like_single_tests(
    monkeypatch: pytest.MonkeyPatch, test: str, df: str, size: int, chunk: int
) -> None:
    monkeypatch.setattr(sweeps, "UNIONS_A_CHUNK", chunk)
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
            if (test, df) in SCREENED:  # what is screened has no table to be called thin
                assert swept.counts.unreliable <= plain.counts.unreliable
            else:
                assert swept.counts.unreliable == plain.counts.unreliable


@every_test
def test_sweeps_agree_with_the_twin(test: str, df: str) -> None:
    table = boolean_table("ex-1", 120, n_irrelevant=3, seed=1)
    twin = naive.sessions.DataSession(columns_of(table), test=test, df=df)
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
    monkeypatch.setattr(data, "SWEEP_BYTES", 0)
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
    monkeypatch.setattr(sweeps, "UNIONS_A_CHUNK", 3)
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


# ------------------------------------------------------------------------ many targets, one session


class TestTrim:
    def test_forgetting_changes_no_answer(self) -> None:
        table = make_table([2, 3, "parity", 2, "copy", 4, "parity"], 150, 0)
        kept, trimmed, fresh = (DataSession(table) for _ in range(3))
        for target in (*range(7), *range(7)):
            others = frozenset(range(7)) - {target}
            questions = [(others, EMPTY), (others, frozenset({(target + 1) % 7}))]
            assert kept.strengths(target, questions) == trimmed.strengths(target, questions)
            for x in sorted(others):
                pool = others - {x}
                answer = trimmed.separators(target, {x}, pool, 2)
                assert answer == kept.separators(target, {x}, pool, 2)
                assert answer == fresh.separators(target, {x}, pool, 2)
            trimmed.trim(0)
            assert not trimmed._memory
            assert not trimmed._strengths
            assert not trimmed._separations
        assert trimmed.counts.tests > kept.counts.tests

    def test_the_oldest_go_first_and_only_as_many_as_must(self) -> None:
        session = DataSession(make_table([2] * 5, 50, 0))
        for target in range(5):
            session.ask(target, [(frozenset(range(5)) - {target}, EMPTY)])
        size = session._remembered_bytes(0)
        session.trim(2 * size)
        assert list(session._memory) == [3, 4]
        session.trim()
        assert list(session._memory) == [3, 4]
