"""Sweeps that look for clear dependences only, screens, and sets that say nothing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.citests import data_session, sweep
from komb.citests import tests as registered
from komb.citests.data_session import CLEAR_ROWS_A_CELL, DataSession
from komb.citests.measure import TestSums
from komb.citests.oracles import DistributionOracle
from komb.citests.session import EMPTY, Session, Variables
from komb.data import DiscreteTable, boolean_network, boolean_table
from tests import naive
from tests.counts.tables import LOW_KIND, columns_of, make_table, tables, with_gaps

MIXED: list[int | str] = [2, 3, "parity", 2, 4, "copy", "parity", "rare"]
EVERY_KIND = [(name, "observed") for name in registered()] + [
    (name, "adjusted") for name in ("chi2", "g", "g-sci")
]
every_kind = pytest.mark.parametrize(("test", "df"), EVERY_KIND)


def is_small(table: DiscreteTable, variables: list[int]) -> bool:
    cells: int = math.prod(table.cardinalities[variables].tolist())
    return CLEAR_ROWS_A_CELL * cells <= table.n_rows


def check_clear(
    table: DiscreteTable, test: str, df: str, candidates: set[int], size: int, bits: float
) -> int:
    """Compare with all strengths, one by one; returns how many are clear."""
    target, pool = 2, frozenset(range(table.n_columns)) - {2}
    fast, plain = (DataSession(table, test, alpha=0.05, df=df) for _ in range(2))
    found = fast.clear_dependences(target, candidates, pool, size, bits)
    everything = Session.clear_dependences(plain, target, candidates, pool, size, bits)
    expected = [(own, x, z) for own, x, z in everything if is_small(table, [target, x, *sorted(z)])]
    assert [(x, z) for _, x, z in found] == [(x, z) for _, x, z in expected]
    assert [own for own, _, _ in found] == pytest.approx([own for own, _, _ in expected])
    assert fast.counts.tests == len(candidates) * math.comb(len(pool) - 1, size)
    return len(found)


@every_kind
@pytest.mark.parametrize("size", [1, 2])
def test_clear_dependences(monkeypatch: pytest.MonkeyPatch, test: str, df: str, size: int) -> None:
    monkeypatch.setattr(sweep, "UNIONS_A_CHUNK", 7)
    n_clear = 0
    for n_rows, candidates in [(60, {0, 3, 7}), (300, set(range(8)) - {2})]:
        table = make_table(MIXED, n_rows, seed=size)
        n_clear += check_clear(table, test, df, candidates, size, 6.0)
        n_clear += check_clear(table, test, df, candidates, size, 2.0)  # below the level
        check_clear(table, test, df, candidates, size, 10.5)
    assert n_clear


@pytest.mark.xdist_group("missing")  # whose kernels are compiled there anyway
@every_kind
def test_clear_dependences_with_missing_values(test: str, df: str) -> None:
    table = with_gaps(make_table(MIXED, 200, seed=0), [0.1, 0, 0.2, 0, 0.1, 0.5, 0, 0], seed=0)
    for size in (1, 2):
        check_clear(table, test, df, {0, 1, 3, 6}, size, 5.0)


def test_the_clearest_come_first() -> None:
    table = boolean_table("parity", 400, n_parents=2, n_irrelevant=2, seed=0)
    found = DataSession(table, "g").clear_dependences(2, {0, 1}, frozenset({0, 1, 3, 4}), 1, 20)
    assert {(x, z) for _, x, z in found} == {(0, frozenset({1})), (1, frozenset({0}))}
    assert found[0][0] >= found[1][0] > 20


def test_an_oracle_has_no_large_tables() -> None:
    oracle = DistributionOracle(boolean_network("parity", n_parents=3).joint())
    pool = frozenset({0, 1, 2})
    assert oracle.clear_dependences(3, {0, 1}, pool, 2, 1e6) == [
        (math.inf, 0, frozenset({1, 2})),
        (math.inf, 1, frozenset({0, 2})),
    ]
    assert oracle.clear_dependences(3, {0, 1, 2}, pool, 1, 1.0) == []


def test_progress_of_a_sweep_for_clear_dependences() -> None:
    reports: list[tuple[int, int]] = []
    session = DataSession(make_table(MIXED, 100, seed=0), "g")
    pool = frozenset({0, 1, 3, 4, 5})
    session.clear_dependences(2, {0, 1}, pool, 1, 5.0, lambda *done: reports.append(done))
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
    sets = [z for z in naive.subsets(pool, 2) if z]
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
    "is_codable", "is_mute", "levels", "strata",
)  # fmt: skip


def sums_of(table: DiscreteTable) -> TestSums:
    session = DataSession(table, "chi2", df="adjusted")
    return session._sums(2, [[0, 3, 4], [1], [3, 7]], [[1, 5], [3, 7], [0, 4]])


@pytest.mark.parametrize("share", [0.0, 0.1])
@pytest.mark.parametrize("kept", [[], [0], [1, 3, 5], [5, 2], list(range(6))])
def test_only_some_of_the_sums(share: float, kept: list[int]) -> None:
    table = make_table(MIXED, 150, seed=0)
    sums = sums_of(with_gaps(table, [share] * 8, seed=0) if share else table)
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


# -------------------------------------------------------------------------- sets that say nothing


def copies() -> DiscreteTable:
    """1 is a copy of 0, and 2 depends on both; 3 is noise."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, 300)
    noisy = (first + (rng.random(300) < 0.1)) % 2
    return DiscreteTable.from_codes(np.column_stack([first, first, noisy, rng.integers(0, 2, 300)]))


@pytest.mark.parametrize("test", ["auto", "chi2", "g", "g-sci", "sci"])
def test_a_set_that_says_nothing_is_no_separator_if_asked_for(test: str) -> None:
    pool = frozenset({1, 2, 3})
    for ignores in (False, True):
        session = DataSession(copies(), test, ignores_mute_sets=ignores)
        known = session.strengths(0, [({2}, EMPTY)])[0]
        separators = {} if ignores else {2: frozenset({1})}
        assert session.separators(0, {2}, pool, 2) == separators
        least, found = session.weakest(0, known, pool, 2)
        assert found == separators
        assert least.keys() == ({2} if ignores else set())
        # the other way round the copy leaves freedom, and separates
        assert session.separators(2, {0}, pool - {2}, 1) == {0: frozenset({1})}


@pytest.mark.xdist_group("missing")  # whose kernels are compiled there anyway
@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    tables(kinds=LOW_KIND, n_rows=(10, 150), n_columns=(4, 6)),
    st.integers(0, 10**6),
    st.booleans(),
)
def test_mute_sets_agree_with_the_twin(table: DiscreteTable, seed: int, has_gaps: bool) -> None:
    """If values are missing, a set may say nothing about one variable, and much about another."""
    rng = np.random.default_rng(seed)
    if has_gaps:
        table = with_gaps(table, rng.choice([0, 0.3, 0.8], table.n_columns).tolist(), seed)
    twin = naive.DataSession(columns_of(table), "g", 0.2)
    together, alone = (DataSession(table, "g", alpha=0.2, ignores_mute_sets=True) for _ in range(2))
    pool = frozenset(range(1, table.n_columns))
    expected = {}
    for x in sorted(pool):
        speaking = [z for z in naive.subsets(pool - {x}, 2) if not twin.is_mute(0, x, z)]
        first = next((z for z in speaking if twin.independent(0, x, z)), None)
        if first is not None:
            expected[x] = first
    assert together.separators(0, pool, pool, 2) == expected
    for x in sorted(pool, reverse=True):  # whatever was asked before, and with whom
        answer = alone.separators(0, {x}, pool, 2)
        assert answer == ({x: expected[x]} if x in expected else {})
    known = dict.fromkeys(pool, 99.0)
    least, found = together.weakest(0, known, pool, 2)
    assert found == expected
    for x, bits in least.items():
        sets = [z for z in naive.subsets(pool - {x}, 2) if not twin.is_mute(0, x, z)]
        assert bits == pytest.approx(min([99.0, *(twin.strength(0, x, z) for z in sets)]))


# ---------------------------------------------------------------------------- many targets at once


@pytest.mark.parametrize("test", ["auto", "g", "perm", "sci"])
def test_targets_share_what_is_prepared(monkeypatch: pytest.MonkeyPatch, test: str) -> None:
    """One ledger and one shuffler for all, and contingencies that are prepared again if need be."""
    table = make_table(MIXED, 60, seed=0)
    others = {target: set(range(8)) - {target} for target in range(8)}
    questions = {y: [(others[y], EMPTY), (others[y], frozenset({(y + 1) % 8}))] for y in range(8)}
    fresh = {y: DataSession(table, test).strengths(y, questions[y]) for y in range(8)}
    for most in (data_session._PREPARED_BYTES, 0):
        monkeypatch.setattr(data_session, "_PREPARED_BYTES", most)
        shared = DataSession(table, test)
        for y in (*range(8), *range(8)):
            again = [({x}, z) for xs, z in questions[y] for x in sorted(xs)]
            answers = {
                (x, z): shared.measure(y, [x], z).statistic[0] for [x], z in again if x not in z
            }
            alone = DataSession(table, test)
            assert answers == {(x, z): alone.measure(y, [x], z).statistic[0] for x, z in answers}
            assert shared.strengths(y, questions[y]) == fresh[y]
        assert len(shared._prepared) == (8 if most else data_session._PREPARED_TARGETS)
        assert len({id(each._ledger) for each in shared._prepared.values()}) == 1
