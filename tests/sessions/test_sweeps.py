"""Sweeps, screened or not, against one question at a time."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings

from komb.citests import tests as registered
from komb.data.models.boolean_functions import boolean_table
from komb.data.table import DiscreteTable
from komb.sessions import data, sweep_counting
from komb.sessions.data import DataSession
from komb.sessions.questions import EMPTY, Variables
from komb.sessions.sweeps import colex_subsets
from tests import naive
from tests.citests.kinds import EVERY_TEST
from tests.counts.tables import LOW_KIND, columns_of, make_table, tables
from tests.sessions.recorder import Recorder

every_test = pytest.mark.parametrize(("test", "df"), EVERY_TEST)
SCREENED = {("auto", "observed"), ("g", "adjusted")}
MIXED: list[int | str] = [2, 3, "parity", 2, 20, "copy", "parity", 1, "id"]


@every_test
@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("chunk", [1, 7, 1 << 17])
def test_sweeps_answer_like_single_tests(
    monkeypatch: pytest.MonkeyPatch, test: str, df: str, size: int, chunk: int
) -> None:
    monkeypatch.setattr(sweep_counting, "UNIONS_PER_CHUNK", chunk)
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
            assert swept.source.decided == []
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
    assert len(asked.source.decided) == 3


@pytest.mark.parametrize(("pool", "size"), [({1}, 1), (set(), 1), ({1, 2}, 0), ({1, 3}, 2)])
def test_sweeps_of_nothing(pool: set[int], size: int) -> None:
    asked = DataSession(make_table(MIXED, 20, seed=0))
    asked.sweep(0, frozenset(pool), size)
    assert asked.counts.tests == 0


def test_sweeps_report_how_far_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_counting, "UNIONS_PER_CHUNK", 3)
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


# ---------------------------------------------------------------------------------------- strengths


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


# ------------------------------------------------------------------------------------------ screens


def swept_and_asked(
    table: DiscreteTable, test: str, alpha: float
) -> tuple[set[tuple[int, Variables]], set[tuple[int, Variables]]]:
    """Dependences on column 0 given one or two others, by screened sweeps and by single tests."""
    pool = frozenset(range(1, table.n_columns))
    swept, plain = (DataSession(table, test, alpha=alpha, df="adjusted") for _ in range(2))
    for size in (1, 2):
        swept.sweep(0, pool, size)
    sets = [z for z in naive.steps.subsets(pool, 2) if z]
    by_sweep, one_by_one = (
        {(x, z) for z in sets for x in session.dependents(0, pool - z, z)}
        for session in (swept, plain)
    )
    assert swept.counts.tests == plain.counts.tests
    return by_sweep, one_by_one


@pytest.mark.parametrize(
    "test", [name for name, info in registered().items() if info.implementation.can_screen]
)
@settings(max_examples=20, deadline=None, derandomize=True)
@given(tables(kinds=LOW_KIND, n_rows=(30, 300), n_columns=(4, 6)))
def test_a_screen_lets_every_dependence_through(test: str, table: DiscreteTable) -> None:
    """Sweeps that are screened, of a test that needs tables, answer as tests asked one by one."""
    swept, asked = swept_and_asked(table, test, 0.1)
    assert swept == asked


def test_a_sweep_in_which_nothing_passes_the_screen_is_progress_too() -> None:
    rng = np.random.default_rng(0)
    table = DiscreteTable.from_codes(rng.integers(0, 2, (300, 8)))
    session = DataSession(table, "auto")
    reports: list[tuple[int, int]] = []
    pool = frozenset(range(1, 8))
    found = session.strong_dependences(
        0, pool, pool, 2, 40.0, on_progress=lambda *d: reports.append(d)
    )
    assert found == []
    assert reports[-1] == (math.comb(7, 3), math.comb(7, 3))
