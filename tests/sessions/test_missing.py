"""Tests on tables with missing values: each uses the rows that are complete for its variables."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.citests.registry import make_test
from komb.data.models.boolean_functions import boolean_table
from komb.data.table import DiscreteTable
from komb.sessions import sweep_counting
from komb.sessions.data import DataSession
from komb.sessions.questions import EMPTY
from tests import naive
from tests.citests.kinds import EVERY_TEST
from tests.citests.twins import check_some_against_twins
from tests.counts.tables import LOW_KIND, columns_of, make_table, tables_with_missing, with_missing
from tests.sessions.recorder import Recorder

thorough = settings(max_examples=30, deadline=None, derandomize=True)
every_test = pytest.mark.parametrize(("test", "df"), EVERY_TEST)
MIXED: list[int | str] = [2, 3, "parity", 2, 20, "copy", "parity", 1, "id"]


@every_test
@thorough
@given(tables_with_missing(), st.integers(0, 10**6), st.sampled_from([0.05, 0.01, 1e-6]))
def test_outcomes_equal_their_twins(
    test: str, df: str, table: DiscreteTable, seed: int, alpha: float
) -> None:
    check_some_against_twins(test, df, table, seed, alpha)


@every_test
@thorough
@given(tables_with_missing(kinds=LOW_KIND, n_columns=(3, 6)), st.integers(0, 10**6))
def test_strengths_agree_with_the_twin(test: str, df: str, table: DiscreteTable, seed: int) -> None:
    rng = np.random.default_rng(seed)
    asked = DataSession(table, test, alpha=0.3, df=df)
    twin = naive.sessions.DataSession(columns_of(table), test, 0.3, df)
    for _ in range(4):
        target, *others = rng.permutation(table.n_columns).tolist()
        members = frozenset(others[: rng.integers(len(others))])
        [answer] = asked.strengths(target, [(set(others), members)])
        expected = {x: twin.strength(target, x, members) for x in set(others) - members}
        assert answer == pytest.approx({x: bits for x, bits in expected.items() if bits}, rel=1e-8)
        assert list(answer) == asked.dependents(target, set(others), members)


@every_test
def test_a_test_without_rows_says_nothing(test: str, df: str) -> None:
    """Where one value is there the other never is, or the target itself is never there."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (4, 100)).astype(np.uint8)
    codes[1, :50] = codes[2, 50:] = 2
    codes[3] = 0
    table = DiscreteTable((0, 1, 2, 3), codes, ((0, 1), (0, 1), (0, 1), ()))
    session = DataSession(table, test, df=df)
    for target, x, members in [(1, 2, ()), (0, 1, (2,)), (3, 0, ()), (0, 3, (1,)), (0, 1, (3,))]:
        outcome = session.outcome(target, x, members)
        assert outcome.independent
        assert outcome.statistic == 0.0
        assert outcome.df in (None, 0)
        assert outcome.p_value in (None, 1.0)
        assert not outcome.reliable
        assert not session.is_dependent(target, x, frozenset(members))


def test_rows_are_those_of_the_test() -> None:
    """40 complete rows are enough for eight cells, 39 are not; how long the table is is no help."""
    complete = make_table([2, 2, 2], 1000, seed=0)
    codes = complete.codes.copy()
    codes[0, 40:400], codes[1, 400:700], codes[2, 700:] = 2, 2, 2
    table = DiscreteTable(complete.names, codes.copy(), complete.levels)
    codes[1, 0] = 2
    thinner = DiscreteTable(complete.names, codes, complete.levels)
    for rows, decider, is_reliable in [(table, "g", True), (thinner, "sci", False)]:
        assert DataSession(rows, "g").outcome(0, 1, [2]).reliable == is_reliable
        assert DataSession(rows, "g-sci").outcome(0, 1, [2]).test == decider
        assert DataSession(rows, "g").outcome(0, 1, []).reliable


def test_a_test_is_that_of_the_complete_rows() -> None:
    """The same numbers as on a table of those rows alone, if no level is lost with the others."""
    table = with_missing(boolean_table("and", 600, n_irrelevant=2, seed=0), [0.1] * 6, seed=0)
    is_there = (table.codes[[0, 3, 4]] < 2).all(axis=0)
    used = DiscreteTable(table.names, table.codes[:, is_there], table.levels)
    for test, df in (("g", "adjusted"), ("chi2", "observed"), ("sci", "observed")):
        here, there = (DataSession(each, test, df=df) for each in (table, used))
        outcome, expected = (session.outcome(3, 0, [4]) for session in (here, there))
        assert outcome.statistic == pytest.approx(expected.statistic, rel=1e-12)
        assert outcome.df == expected.df


# ------------------------------------------------------------------------------ sweeps and batches


@every_test
@pytest.mark.parametrize("size", [1, 2, 3])
def test_sweeps_answer_like_single_tests(
    monkeypatch: pytest.MonkeyPatch, test: str, df: str, size: int
) -> None:
    monkeypatch.setattr(sweep_counting, "UNIONS_PER_CHUNK", 7)
    for n_rows, seed in [(1, 0), (250, 2)]:
        shares = np.random.default_rng(seed).choice([0, 0.1, 0.5], len(MIXED)).tolist()
        table = with_missing(make_table(MIXED, n_rows, seed), shares, seed)
        target, pool = 2, frozenset({0, 1, 3, 4, 5, 6, 7, 8})
        swept, plain = Recorder(table, test, df=df), DataSession(table, test, df=df)
        swept.sweep(target, pool, size)
        for members in combinations(sorted(pool), size):
            z = frozenset(members)
            assert swept.dependents(target, pool - z, z) == plain.dependents(target, pool - z, z)
        assert swept.source.decided == []
        n_unions = math.comb(len(pool), size + 1)
        assert swept.counts.tests == plain.counts.tests == (size + 1) * n_unions
        assert swept.counts.fallbacks == plain.counts.fallbacks
        made = make_test(test, df, alpha=0.01)
        if made.needs_tables and made.can_screen:  # of what is ruled out nothing else is known
            assert swept.counts.unreliable <= plain.counts.unreliable
            assert n_unions <= swept.counts.tables <= n_unions + plain.counts.tables
        else:
            assert swept.counts.unreliable == plain.counts.unreliable
            assert n_unions <= swept.counts.tables <= plain.counts.tables
        assert plain.counts.tables == swept.counts.tests


@every_test
def test_sweeps_agree_with_the_twin(test: str, df: str) -> None:
    table = with_missing(boolean_table("ex-1", 150, n_irrelevant=2, seed=1), [0.1] * 6, seed=1)
    twin = naive.sessions.DataSession(columns_of(table), test=test, df=df)
    swept = DataSession(table, test, df=df)
    pool = frozenset({0, 1, 2, 4, 5})
    for size in (1, 2, 3):
        swept.sweep(3, pool, size)
        for members in combinations(sorted(pool), size):
            z = frozenset(members)
            expected = [x for x in sorted(pool - z) if not twin.independent(3, x, z)]
            assert swept.dependents(3, pool, z) == expected


@pytest.mark.parametrize(("test", "total"), [("g-sci", 10), ("chi2", 30)])
def test_sweeps_report_how_far_they_are(
    monkeypatch: pytest.MonkeyPatch, test: str, total: int
) -> None:
    """In sets if each is counted once, otherwise in tests."""
    monkeypatch.setattr(sweep_counting, "UNIONS_PER_CHUNK", 3)
    reports: list[tuple[int, int]] = []
    table = with_missing(make_table(MIXED, 30, seed=0), [0.1] * len(MIXED), seed=0)
    pool = frozenset({1, 2, 3, 4, 5})
    DataSession(table, test).sweep(0, pool, 2, lambda done, total: reports.append((done, total)))
    done = [done for done, _ in reports]
    assert len(reports) > 1
    assert done == sorted(done)
    assert reports[-1] == (total, total)
    assert {expected for _, expected in reports} == {total}


@thorough
@given(tables_with_missing(kinds=LOW_KIND, n_rows=(40, 200), n_columns=(4, 6)), st.integers(0, 2))
def test_separators_and_what_is_inseparable(table: DiscreteTable, most: int) -> None:
    """The longer questions: first separators, weakest strengths, inseparable dependences."""
    asked = DataSession(table, "g", alpha=0.3)
    twin = naive.sessions.DataSession(columns_of(table), "g", 0.3)
    pool = frozenset(range(1, table.n_columns))
    separators = asked.separators.find(0, pool, pool, most)
    assert separators == {
        x: s for x in pool if (s := naive.steps.separable(twin, 0, x, pool, most)) is not None
    }
    known = asked.strengths(0, [(set(pool), EMPTY)])[0]
    least, _ = asked.separators.weakest(0, known, pool, most)
    for x, bits in least.items():
        assert bits == pytest.approx(naive.steps.weakest(twin, 0, x, pool, most), rel=1e-8)
    givens = {x: list(naive.steps.subsets(pool - {x}, 1)) for x in pool}
    inseparable = asked.separators.first_inseparable(0, list(givens.items()), pool, most)
    assert inseparable == [
        next((z for z in mine if naive.komb.no_seps(twin, 0, x, z, pool, most)), None)
        for x, mine in givens.items()
    ]
