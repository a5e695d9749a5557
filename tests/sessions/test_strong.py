"""Strong dependences, screens, and what a session knows beside its tests."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from komb.citests import tests as registered
from komb.citests.measure import TestSums
from komb.data.models.boolean_functions import boolean_network, boolean_table
from komb.data.table import DiscreteTable
from komb.sessions import data, sweeps
from komb.sessions.data import SWEPT_ROWS_PER_CELL, DataSession
from komb.sessions.oracles import DistributionOracle
from komb.sessions.session import EMPTY, Session, Variables
from tests import naive
from tests.counts.tables import (
    LOW_KIND,
    columns_of,
    make_table,
    tables,
    tables_with_missing,
    with_missing,
)

MIXED: list[int | str] = [2, 3, "parity", 2, 4, "copy", "parity", "rare"]
EVERY_KIND = [(name, "observed") for name in registered()] + [
    (name, "adjusted") for name in ("chi2", "g", "g-sci")
]
every_kind = pytest.mark.parametrize(("test", "df"), EVERY_KIND)


def is_small(table: DiscreteTable, variables: list[int]) -> bool:
    cells: int = math.prod(table.cardinalities[variables].tolist())
    return SWEPT_ROWS_PER_CELL * cells <= table.n_rows


def check_strong(
    table: DiscreteTable, test: str, df: str, candidates: set[int], size: int, bits: float
) -> int:
    """Compare with all strengths, one by one; returns how many are strong."""
    target, pool = 2, frozenset(range(table.n_columns)) - {2}
    fast, plain = (DataSession(table, test, alpha=0.05, df=df) for _ in range(2))
    found = fast.strong_dependences(target, candidates, pool, size, bits)
    everything = Session.strong_dependences(plain, target, candidates, pool, size, bits)
    expected = [(own, x, z) for own, x, z in everything if is_small(table, [target, x, *sorted(z)])]
    assert [(x, z) for _, x, z in found] == [(x, z) for _, x, z in expected]
    assert [own for own, _, _ in found] == pytest.approx([own for own, _, _ in expected])
    assert fast.counts.tests == len(candidates) * math.comb(len(pool) - 1, size)
    return len(found)


@every_kind
@pytest.mark.parametrize("size", [1, 2])
def test_strong_dependences(monkeypatch: pytest.MonkeyPatch, test: str, df: str, size: int) -> None:
    monkeypatch.setattr(sweeps, "UNIONS_A_CHUNK", 7)
    n_strong = 0
    for n_rows, candidates in [(60, {0, 3, 7}), (300, set(range(8)) - {2})]:
        table = make_table(MIXED, n_rows, seed=size)
        n_strong += check_strong(table, test, df, candidates, size, 6.0)
        n_strong += check_strong(table, test, df, candidates, size, 2.0)  # below the level
        check_strong(table, test, df, candidates, size, 10.5)
    assert n_strong


@pytest.mark.xdist_group("missing")  # whose kernels are compiled there anyway
@every_kind
def test_strong_dependences_with_missing_values(test: str, df: str) -> None:
    table = with_missing(make_table(MIXED, 200, seed=0), [0.1, 0, 0.2, 0, 0.1, 0.5, 0, 0], seed=0)
    for size in (1, 2):
        check_strong(table, test, df, {0, 1, 3, 6}, size, 5.0)


def test_the_strongest_come_first() -> None:
    table = boolean_table("parity", 400, n_parents=2, n_irrelevant=2, seed=0)
    found = DataSession(table, "g").strong_dependences(2, {0, 1}, frozenset({0, 1, 3, 4}), 1, 20)
    assert {(x, z) for _, x, z in found} == {(0, frozenset({1})), (1, frozenset({0}))}
    assert found[0][0] >= found[1][0] > 20


def test_an_oracle_has_no_large_tables() -> None:
    oracle = DistributionOracle(boolean_network("parity", n_parents=3).joint())
    pool = frozenset({0, 1, 2})
    assert oracle.strong_dependences(3, {0, 1}, pool, 2, 1e6) == [
        (math.inf, 0, frozenset({1, 2})),
        (math.inf, 1, frozenset({0, 2})),
    ]
    assert oracle.strong_dependences(3, {0, 1, 2}, pool, 1, 1.0) == []


def test_progress_of_a_sweep_for_strong_dependences() -> None:
    reports: list[tuple[int, int]] = []
    session = DataSession(make_table(MIXED, 100, seed=0), "g")
    pool = frozenset({0, 1, 3, 4, 5})
    session.strong_dependences(2, {0, 1}, pool, 1, 5.0, lambda *done: reports.append(done))
    assert reports[-1] == (10, 10)


# ---------------------------------------------------------------------------------------- screens


def swept_and_asked(
    table: DiscreteTable, test: str, alpha: float
) -> tuple[set[tuple[int, Variables]], set[tuple[int, Variables]]]:
    """Dependences on column 0 given one or two others, by screened sweeps and by single tests."""
    pool = frozenset(range(1, table.n_columns))
    swept, plain = (DataSession(table, test, alpha=alpha, df="adjusted") for _ in range(2))
    assert swept._screen(alpha) is not None
    for size in (1, 2):
        swept.sweep(0, pool, size)
    sets = [z for z in naive.steps.subsets(pool, 2) if z]
    by_sweep, one_by_one = (
        {(x, z) for z in sets for x in session.dependents(0, pool - z, z)}
        for session in (swept, plain)
    )
    assert swept.counts.tests == plain.counts.tests
    return by_sweep, one_by_one


@pytest.mark.parametrize("test", ["auto", "g", "g-sci"])
@settings(max_examples=20, deadline=None, derandomize=True)
@given(tables(kinds=LOW_KIND, n_rows=(30, 300), n_columns=(4, 6)))
def test_a_screen_lets_every_dependence_through(test: str, table: DiscreteTable) -> None:
    """Sweeps that are screened, of a test that needs tables, answer as tests asked one by one."""
    swept, asked = swept_and_asked(table, test, 0.1)
    assert swept == asked


# --------------------------------------------------------------------------------------- TestSums

PROPERTIES = (
    "gain", "target_saving", "candidate_saving", "adjusted_freedom", "pearson",
    "pearson_mean", "pearson_variance", "pearson_third", "cells", "is_thick",
    "is_codable", "levels", "strata",
)  # fmt: skip


def sums_of(table: DiscreteTable) -> TestSums:
    session = DataSession(table, "chi2", df="adjusted")
    return session._sums(2, [[0, 3, 4], [1], [3, 7]], [[1, 5], [3, 7], [0, 4]])


@pytest.mark.parametrize("share", [0.0, 0.1])
@pytest.mark.parametrize("kept", [[], [0], [1, 3, 5], [5, 2], list(range(6))])
def test_only_some_of_the_sums(share: float, kept: list[int]) -> None:
    table = make_table(MIXED, 150, seed=0)
    sums = sums_of(with_missing(table, [share] * 8, seed=0) if share else table)
    some = sums.only(np.array(kept, dtype=np.int64))
    for name in PROPERTIES:
        expected: Any = getattr(sums, name)[kept]
        np.testing.assert_array_equal(getattr(some, name), expected)
    np.testing.assert_array_equal(
        np.broadcast_to(some.n_rows, len(kept)), np.broadcast_to(sums.n_rows, 6)[kept]
    )
    assert some.tests.candidates.tolist() == [sums.tests.candidates[place] for place in kept]
    assert some.tests.set_of.tolist() == [sums.tests.set_of[place] for place in kept]
    again = some.only(np.arange(len(kept))[::-1])
    np.testing.assert_array_equal(again.gain, some.gain[::-1])


# ------------------------------------------------------------------------------- some questions


def draw_questions(n: int, seed: int) -> list[tuple[set[int], Variables]]:
    """Questions about column 2 with any number of candidates and conditions, some in both."""
    rng = np.random.default_rng(seed)
    others = [x for x in range(n) if x != 2]
    return [
        (
            set(rng.choice(others, rng.integers(0, 5), replace=False).tolist()),
            frozenset(rng.choice(others, rng.integers(0, 4), replace=False).tolist()),
        )
        for _ in range(25)
    ]


@every_kind
@pytest.mark.parametrize("lot", [1, 7, 20_000])
def test_strong_among(monkeypatch: pytest.MonkeyPatch, test: str, df: str, lot: int) -> None:
    """Not remembered, but the same as what is asked one by one, and each counted as a test."""
    monkeypatch.setattr(data, "_TESTS_PER_LOT", lot)
    table = make_table(MIXED, 150, seed=lot)
    questions = list({given: (xs, given) for xs, given in draw_questions(8, lot)}.values())
    fast, plain = (DataSession(table, test, alpha=0.05, df=df) for _ in range(2))
    for bits in (4.4, 8.0):
        found = fast.strong_among(2, questions, bits)
        expected = Session.strong_among(plain, 2, questions, bits)
        assert [(x, z) for _, x, z in found] == [(x, z) for _, x, z in expected]
        assert [own for own, _, _ in found] == pytest.approx([own for own, _, _ in expected])
    assert fast.counts.tests == 2 * sum(len(xs - given) for xs, given in questions)


@pytest.mark.xdist_group("missing")  # whose kernels are compiled there anyway
def test_strong_among_with_missing_values() -> None:
    table = with_missing(make_table(MIXED, 200, seed=0), [0.1, 0, 0.2, 0, 0.1, 0.5, 0, 0], seed=0)
    questions = draw_questions(8, 0)
    fast, plain = (DataSession(table, "auto", alpha=0.05) for _ in range(2))
    found = fast.strong_among(2, questions, 5.0)
    assert found == Session.strong_among(plain, 2, questions, 5.0)
    assert found == sorted(found, key=lambda each: (-each[0], each[1], sorted(each[2])))


def test_nothing_to_ask() -> None:
    session = DataSession(make_table(MIXED, 50, seed=0), "g")
    assert session.strong_among(2, [], 1.0) == []
    assert session.strong_among(2, [(set(), EMPTY), ({0}, frozenset({0}))], 1.0) == []
    assert session.counts.tests == 0


def test_progress_of_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "_TESTS_PER_LOT", 2)
    session = DataSession(make_table(MIXED, 50, seed=0), "g")
    reports: list[tuple[int, int]] = []
    questions = [({0}, frozenset({x})) for x in (1, 3, 4, 5, 6)]
    session.strong_among(2, questions, 1.0, lambda *done: reports.append(done))
    assert reports == [(0, 5), (2, 5), (4, 5)]


def test_a_sweep_in_which_nothing_passes_the_screen_is_progress_too() -> None:
    rng = np.random.default_rng(0)
    table = DiscreteTable.from_codes(rng.integers(0, 2, (300, 8)))
    session = DataSession(table, "auto")
    reports: list[tuple[int, int]] = []
    pool = frozenset(range(1, 8))
    found = session.strong_dependences(0, pool, pool, 2, 40.0, lambda *d: reports.append(d))
    assert found == []
    assert reports[-1] == (math.comb(7, 3), math.comb(7, 3))


# ------------------------------------------------------------------------------------------- power


def weak_and_strong(n_rows: int, seed: int = 0) -> DiscreteTable:
    """0 depends on 1 strongly and on 2 hardly; 3 has a level for each row, 4 is noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    strong = y ^ (rng.random(n_rows) < 0.1)
    weak = y ^ (rng.random(n_rows) < 0.47)
    fine = rng.permutation(n_rows)
    noise = rng.integers(0, 2, n_rows)
    return DiscreteTable.from_codes(np.column_stack([y, strong, weak, fine, noise]))


@pytest.mark.parametrize("test", ["auto", "chi2", "g"])
def test_what_a_test_can_detect(test: str) -> None:
    session = DataSession(weak_and_strong(1000), test, alpha=0.01, df="adjusted")
    assert session.can_detect(0, 1, frozenset({4}), EMPTY, 0.1)
    assert not session.can_detect(0, 1, frozenset({3}), EMPTY, 0.1)  # one row per stratum
    assert not session.can_detect(0, 2, frozenset({4}), EMPTY, 0.1)  # a share of nearly nothing
    assert not session.can_detect(0, 4, EMPTY, EMPTY, 1.0)
    shares = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0]
    answers = [session.can_detect(0, 1, frozenset({4}), EMPTY, share) for share in shares]
    assert answers == sorted(answers)  # whoever sees a share sees a larger one
    assert answers[0] is False
    assert answers[-1] is True


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    tables(kinds=LOW_KIND, n_rows=(20, 300), n_columns=(4, 6)),
    st.sampled_from(["chi2", "g"]),
    st.sampled_from([0.05, 0.2, 1.0]),
)
def test_power_agrees_with_the_formula(table: DiscreteTable, test: str, share: float) -> None:
    """Mean and variance of a noncentral chi-square, from the twin's statistics."""
    session = DataSession(table, test, alpha=0.05)
    twin = naive.sessions.DataSession(columns_of(table), test, 0.05)
    for x, given_set, witness in [(1, {2}, set()), (2, {1, 3}, {3}), (3, set(), {1})]:
        shown = twin.answer(0, x, frozenset(witness))
        tested = twin.answer(0, x, frozenset(given_set))
        assert shown.df is not None
        assert tested.df is not None
        moved = share * max(0.0, shown.statistic - shown.df) if shown.df else 0.0
        low = tested.df + moved - 0.84 * math.sqrt(2 * tested.df + 4 * moved)
        expected = tested.df > 0 and float(chi2.sf(max(0.0, low), tested.df)) <= 0.05
        detected = session.can_detect(0, x, frozenset(given_set), frozenset(witness), share)
        assert detected == expected


def test_an_oracle_can_detect_everything_and_knows_no_levels() -> None:
    oracle = DistributionOracle(boolean_network("parity", n_parents=2).joint())
    assert oracle.can_detect(2, 0, frozenset({1}), EMPTY, 1e-9)
    assert not oracle.determines(frozenset({0, 1}), 2)
    assert oracle.explained_shares(2, [0, 1]) == [0.0, 0.0]
    assert list(oracle.n_levels) == []
    assert oracle.n_rows is None


# ------------------------------------------------------------------------ what determines a column


def test_levels() -> None:
    table = make_table(MIXED, 100, seed=0)
    session = DataSession(table)
    assert list(session.n_levels) == table.cardinalities.tolist()
    assert session.n_rows == 100


def test_determined_columns() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 3, (2, 200))
    columns = [a, b, 3 * a + b, 2 - a, rng.permutation(200), a % 2]
    session = DataSession(DiscreteTable.from_codes(np.column_stack(columns)))
    for given_set, x in [({0, 1}, 2), ({2}, 0), ({2}, 1), ({3}, 0), ({0}, 3), ({0}, 5)]:
        assert session.determines(frozenset(given_set), x), (given_set, x)
    for given_set, x in [({0}, 1), ({0}, 2), ({5}, 0), (set(), 0)]:
        assert not session.determines(frozenset(given_set), x), (given_set, x)
    assert not session.determines(frozenset({4}), 0)  # rows that are all different tell nothing


@settings(max_examples=60, deadline=None, derandomize=True)
@given(tables_with_missing(kinds=LOW_KIND, n_rows=(2, 60), n_columns=(3, 5)), st.integers(0, 10**6))
def test_determined_columns_agree_with_the_twin(table: DiscreteTable, seed: int) -> None:
    session, columns = DataSession(table), columns_of(table)
    x, *chosen = np.random.default_rng(seed).permutation(table.n_columns)[:3].tolist()
    used = naive.counts.complete(columns, [x, *chosen])
    values: dict[tuple[int, ...], set[int]] = {}
    for row in range(len(used[0])):
        values.setdefault(tuple(used[z][row] for z in chosen), set()).add(used[x][row])
    is_enough = 2 * len(values) <= len(used[0])
    expected = is_enough and all(len(found) == 1 for found in values.values())
    assert session.determines(frozenset(chosen), x) == expected


def naive_share(columns: naive.counts.Columns, y: int, x: int) -> float:
    """Pearson's statistic between its mean under independence and its maximum."""
    t = naive.counts.count(columns, y, x, [])
    y_levels, x_levels = len(t.yz), len(t.xz)
    if t.n_rows < 2 or y_levels < 2 or x_levels >= t.n_rows:
        return 0.0
    mean = t.n_rows * (x_levels - 1) * (y_levels - 1) / (t.n_rows - 1)
    return (naive.statistics.pearson(t) - mean) / (t.n_rows * (y_levels - 1) - mean)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    tables_with_missing(kinds=(1, 2, 3, 4, "id", "rare", "copy"), n_rows=(2, 60), n_columns=(2, 5))
)
def test_explained_shares_agree_with_the_twin(table: DiscreteTable) -> None:
    columns = columns_of(table)
    others = list(range(1, table.n_columns))
    expected = [naive_share(columns, 0, x) for x in others]
    assert DataSession(table).explained_shares(0, others) == pytest.approx(expected, abs=1e-12)


def test_shares_of_a_copy_and_of_noise() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 1000)
    fine = rng.integers(0, 400, 1000)  # fits nearly every row, by chance
    table = DiscreteTable.from_codes(np.column_stack([y, 2 - y, fine, rng.integers(0, 3, 1000)]))
    copy, thin, noise = DataSession(table).explained_shares(0, [1, 2, 3])
    assert copy == pytest.approx(1.0)
    assert abs(thin) < 0.1
    assert abs(noise) < 0.01


# ---------------------------------------------------------------------------- many targets at once


@pytest.mark.parametrize("test", ["auto", "g", "perm", "sci"])
def test_targets_share_what_is_prepared(monkeypatch: pytest.MonkeyPatch, test: str) -> None:
    """One ledger and one shuffler for all, and contingencies that are prepared again if need be."""
    table = make_table(MIXED, 60, seed=0)
    others = {target: set(range(8)) - {target} for target in range(8)}
    questions = {y: [(others[y], EMPTY), (others[y], frozenset({(y + 1) % 8}))] for y in range(8)}
    fresh = {y: DataSession(table, test).strengths(y, questions[y]) for y in range(8)}
    for most in (data._PREPARED_BYTES, 0):
        monkeypatch.setattr(data, "_PREPARED_BYTES", most)
        shared = DataSession(table, test)
        for y in (*range(8), *range(8)):
            again = [({x}, z) for xs, z in questions[y] for x in sorted(xs)]
            answers = {
                (x, z): shared.measure(y, [x], z).statistic[0] for [x], z in again if x not in z
            }
            alone = DataSession(table, test)
            assert answers == {(x, z): alone.measure(y, [x], z).statistic[0] for x, z in answers}
            assert shared.strengths(y, questions[y]) == fresh[y]
        assert len(shared._prepared) == (8 if most else data._PREPARED_TARGETS)
        assert len({id(each._ledger) for each in shared._prepared.values()}) == 1
