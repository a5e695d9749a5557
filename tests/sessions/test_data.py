"""Answers from a table: strengths, power, what determines a column."""

from __future__ import annotations

import math
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from komb.citests.registry import make_test
from komb.counts.contingency import Contingency
from komb.data.models.boolean_functions import boolean_table
from komb.data.table import DiscreteTable
from komb.sessions import data, workspace
from komb.sessions.data import DataSession, TableSource
from komb.sessions.questions import EMPTY
from komb.sessions.session import Session
from komb.sessions.source import Power
from tests import naive
from tests.citests.kinds import EVERY_TEST
from tests.counts.tables import (
    LOW_KIND,
    columns_of,
    make_table,
    tables,
    tables_with_missing,
)

every_test = pytest.mark.parametrize(("test", "df"), EVERY_TEST)
thorough = settings(max_examples=25, deadline=None, derandomize=True)
MIXED: list[int | str] = [2, 3, "parity", 2, 4, "copy", "parity", "rare"]

# ----------------------------------------------------------------------------------------- outcomes


def test_a_measurement_is_a_batch_of_outcomes() -> None:
    table = make_table([3, 2, "copy", 20, "id", 2], 200, seed=0)
    asked = DataSession(table)
    measured = asked.source.measure(0, [1, 2, 3, 4], frozenset({5}))
    outcomes = [asked.outcome(0, x, [5]) for x in [1, 2, 3, 4]]
    assert measured.statistic.tolist() == [outcome.statistic for outcome in outcomes]
    assert measured.is_reliable.tolist() == [outcome.reliable for outcome in outcomes]


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


@pytest.mark.parametrize("test", ["auto", "g", "perm", "sci"])
def test_targets_share_what_is_prepared(monkeypatch: pytest.MonkeyPatch, test: str) -> None:
    """All share tables and a shuffler; contingencies are prepared again if need be."""
    table = make_table(MIXED, 60, seed=0)
    others = {target: set(range(8)) - {target} for target in range(8)}
    questions = {y: [(others[y], EMPTY), (others[y], frozenset({(y + 1) % 8}))] for y in range(8)}
    fresh = {y: DataSession(table, test).strengths(y, questions[y]) for y in range(8)}
    for most in (workspace.PREPARED_BYTES, 0):
        monkeypatch.setattr(workspace, "PREPARED_BYTES", most)
        shared = DataSession(table, test)
        own = shared.source
        for y in (*range(8), *range(8)):
            again = [({x}, z) for xs, z in questions[y] for x in sorted(xs)]
            answers = {
                (x, z): own.measure(y, [x], z).statistic[0] for [x], z in again if x not in z
            }
            alone = DataSession(table, test).source
            assert answers == {(x, z): alone.measure(y, [x], z).statistic[0] for x, z in answers}
            assert shared.strengths(y, questions[y]) == fresh[y]
        prepared = own._workspace.contingencies
        assert len(prepared) == (8 if most else workspace.PREPARED_TARGETS)
        assert len({id(each._shared) for each in prepared.values()}) == 1


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
    """-log2 of the p-value, or what a code saves; of a strong one more than one can count."""
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


# -------------------------------------------------------------------------------------------- power


def power(share: float) -> Power:
    """The power to see a share, or three times as much on a very thick table."""
    return Power(share, 3 * share, thick_rows_per_cell=50)


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
    assert session.can_detect(0, 1, frozenset({4}), EMPTY, power(0.1))
    assert not session.can_detect(0, 1, frozenset({3}), EMPTY, power(0.1))  # one row per stratum
    assert not session.can_detect(0, 2, frozenset({4}), EMPTY, power(0.1))  # hardly anything
    assert not session.can_detect(0, 4, EMPTY, EMPTY, power(1.0))
    shares = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0]
    answers = [session.can_detect(0, 1, frozenset({4}), EMPTY, power(share)) for share in shares]
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
        detected = session.can_detect(0, x, frozenset(given_set), frozenset(witness), power(share))
        assert detected == expected


# ------------------------------------------------------------------------- what determines a column


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
        assert session.determines(frozenset(given_set), x, min_rows=2), (given_set, x)
    for given_set, x in [({0}, 1), ({0}, 2), ({5}, 0), (set(), 0)]:
        assert not session.determines(frozenset(given_set), x, min_rows=2), (given_set, x)
    assert not session.determines(frozenset({4}), 0, min_rows=2)  # every row is different


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
    assert session.determines(frozenset(chosen), x, min_rows=2) == expected


def session_of(*columns: npt.NDArray[np.int64]) -> DataSession:
    return DataSession(DiscreteTable.from_codes(np.column_stack(columns)), "auto")


@pytest.mark.parametrize("levels", [2, 300])
def test_a_copy_determines_a_column(levels: int) -> None:
    column = np.arange(1800) % levels
    session = session_of(column, (column + 1) % levels, column % 2)
    assert session.determines(frozenset({0}), 1, min_rows=2)
    assert session.determines(frozenset({1}), 0, min_rows=2)
    assert session.determines(frozenset({0}), 2, min_rows=2)
    assert session.determines(frozenset({2}), 0, min_rows=2) == (levels == 2)


def test_memory_does_not_grow_with_a_product_of_levels() -> None:
    column = np.tile(np.arange(20_000), 3)
    session = session_of(column, column[::-1], column)
    tracemalloc.start()
    assert session.determines(frozenset({0}), 2, min_rows=2)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100 * len(column)


# --------------------------------------------------------------------------------- explained shares


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


# -------------------------------------------------------------------------- from question to counts


def test_a_question_is_counted_after_few_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """How many functions of sessions a question passes before its tables are counted."""
    passed: dict[str, int] = {}
    summarise = Contingency.summarise

    def watch(*args: Any, **options: Any) -> Any:
        names = []
        frame = sys._getframe(1)
        while Path(frame.f_code.co_filename).parent == Path(data.__file__).parent:
            names.append(frame.f_code.co_qualname)
            assert frame.f_back is not None
            frame = frame.f_back
        passed[names[-1]] = max(len(names), passed.get(names[-1], 0))
        return summarise(*args, **options)

    monkeypatch.setattr(Contingency, "summarise", watch)
    table = make_table(MIXED, 100, seed=0)
    session = Session(TableSource(table, make_test("g", "observed"), 0.01))
    pool = frozenset(range(1, 8))
    givens = [frozenset({z}) for z in (2, 3)]
    session.ask(0, [(pool, given_set) for given_set in givens])
    session.strengths(0, [(pool, EMPTY)])
    session.separators.first_inseparable(0, [(1, givens)], pool, 2)
    session.separators.find(0, pool, pool, 2)
    session.sweep(0, pool, 1)
    bounds = {
        "Session.ask": 5,
        "Session.strengths": 5,
        "SeparatorFinder.first_inseparable": 7,
        "SeparatorFinder.find": 6,
        "Session.sweep": 7,
    }
    assert passed.keys() == bounds.keys()
    assert all(n_calls <= bounds[name] for name, n_calls in passed.items()), passed
