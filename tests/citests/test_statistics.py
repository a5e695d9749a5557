"""Each test of the registry against its twin: statistic, freedom, p-value, decision."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.citests import tests as registered
from komb.citests.registry import make_test
from komb.data.models.boolean_functions import boolean_table
from komb.data.table import DiscreteTable
from komb.engine.questions import EMPTY
from komb.errors import ParameterError, UnknownNameError
from tests import naive
from tests.citests.kinds import EVERY_TEST, HAS_NO_FREEDOM
from tests.citests.twins import check_against_twin, check_some_against_twins
from tests.engine.engines import on_table
from tests.engine.tables import columns_of, make_table, tables

thorough = settings(max_examples=25, deadline=None, derandomize=True)
every_test = pytest.mark.parametrize(("test", "df"), EVERY_TEST)


@every_test
@thorough
@given(tables(), st.integers(0, 10**6), st.sampled_from([0.05, 0.01, 1e-6]))
def test_outcomes_equal_their_twins(
    test: str, df: str, table: DiscreteTable, seed: int, alpha: float
) -> None:
    check_some_against_twins(test, df, table, seed, alpha)


@every_test
@pytest.mark.parametrize("function", ["parity", "ex-1", "and"])
def test_outcomes_on_thick_tables(test: str, df: str, function: str) -> None:
    """Enough rows per cell for g-sci to stay with G."""
    table = boolean_table(function, 800, n_irrelevant=1, seed=3)
    session = on_table(table, test, df=df)
    for members in naive.steps.subsets(frozenset({1, 2, 4}), 3):
        kind = {"test": test, "df": df, "alpha": 0.01}
        check_against_twin(table, 3, 0, members, session, **kind)
        if test == "g-sci":
            assert session.outcome(3, 0, frozenset(members)).test == "g"


@every_test
def test_large_statistics_of_columns_with_many_levels(test: str, df: str) -> None:
    """A column against itself, given one that splits it: nothing overflows."""
    rng = np.random.default_rng(0)
    column = rng.integers(0, 200, 1200)
    codes = np.column_stack([column, column, column % 3, rng.integers(0, 2, 1200)])
    table = DiscreteTable.from_codes(codes)
    session = on_table(table, test, df=df)
    columns = columns_of(table)
    for members in ([], [3]):
        twin = naive.decision.run_test(columns, 0, 1, members, test, 0.01, df)
        outcome = session.outcome(0, 1, frozenset(members))
        assert outcome.statistic == pytest.approx(twin.statistic, rel=1e-9)
        assert outcome.independent == twin.independent


# ------------------------------------------------------------------------------- degenerate cases


@every_test
def test_a_constant_is_independent_of_everything(test: str, df: str) -> None:
    table = make_table([2, 1, 3, "id", 2], 60, seed=0)
    session = on_table(table, test, df=df)
    for members in naive.steps.subsets(frozenset({2, 3, 4}), 3):
        for target, x in [(0, 1), (1, 0)]:
            outcome = session.outcome(target, x, frozenset(members))
            assert outcome.independent
            assert outcome.statistic == pytest.approx(0.0, abs=1e-12)
            assert outcome.p_value in (None, 1.0)
            assert outcome.df in (None, 0)


@every_test
def test_a_duplicate_of_a_condition_says_nothing(test: str, df: str) -> None:
    table = make_table([2, 3, "copy"], 200, seed=0)
    outcome = on_table(table, test, df=df).outcome(0, 2, frozenset({1}))
    assert outcome.independent
    assert outcome.statistic is not None
    assert outcome.statistic <= 1e-12


@every_test
def test_every_row_a_stratum_of_its_own(test: str, df: str) -> None:
    """Nothing can be learnt inside strata of one row."""
    table = make_table(["id", 2, "copy", 3], 50, seed=1)
    session = on_table(table, test, df=df)
    for target, x in [(1, 2), (2, 1), (1, 3), (3, 1)]:
        outcome = session.outcome(target, x, frozenset({0}))
        assert outcome.independent
        assert outcome.statistic is not None
        assert outcome.statistic <= 0.0
        if df == "adjusted" and outcome.df is not None:
            assert (outcome.df, outcome.p_value) == (0, 1.0)


@every_test
def test_one_row(test: str, df: str) -> None:
    session = on_table(DiscreteTable.from_codes([[0, 0, 0]]), test, df=df)
    for members in ([], [2]):
        outcome = session.outcome(0, 1, frozenset(members))
        assert outcome.independent
        assert outcome.statistic == 0.0
        assert session.dependents(0, {1}, frozenset(members)) == []


def test_stochastic_complexity_never_sees_dependence_in_nothing() -> None:
    """Degenerate tables give exactly zero or less, never a positive rounding error."""
    for n_rows in [1, 2, 3, 10, 63, 64, 65, 300]:
        table = make_table([1, 2, 3, "id", 1, "copy"], n_rows, seed=n_rows)
        session = on_table(table, "sci")
        for members in naive.steps.subsets(frozenset(range(1, table.n_columns - 1)), 3):
            for x in range(1, table.n_columns):
                if x in members:
                    continue
                statistic = session.outcome(0, x, frozenset(members)).statistic
                assert statistic == 0.0  # the target is constant
        for x in (1, 2):  # given an identifier nothing is left to explain
            statistic = session.outcome(3 - x, x, frozenset({3})).statistic
            assert statistic is not None
            assert statistic <= 0.0


# ----------------------------------------------------------------------------------- reliability


def test_reliable_from_five_rows_a_cell() -> None:
    """2 x 2 x 2 observed strata = 8 cells: 40 rows are enough, 39 are not."""
    table = make_table([2, 2, 2], 40, seed=0)
    thinner = table.take(range(39))
    assert thinner.cardinalities.tolist() == [2, 2, 2]
    for test in ("g", "chi2"):
        assert on_table(table, test).outcome(0, 1, frozenset({2})).reliable
        assert not on_table(thinner, test).outcome(0, 1, frozenset({2})).reliable
        assert on_table(thinner, test).outcome(0, 1, EMPTY).reliable
    for rows, decider in [(table, "g"), (thinner, "sci")]:
        outcome = on_table(rows, "g-sci").outcome(0, 1, frozenset({2}))
        assert (outcome.test, outcome.reliable) == (decider, True)
        assert (outcome.df is None) == (outcome.p_value is None) == (decider == "sci")
    assert on_table(thinner, "sci").outcome(0, 1, frozenset({2})).reliable


def test_code_lengths_are_reliable_from_one_row_a_cell() -> None:
    table = make_table([2, 2, 2], 40, seed=0).take(range(8))
    assert table.cardinalities.tolist() == [2, 2, 2]
    for test in ("sci", "g-sci"):
        assert on_table(table, test).outcome(0, 1, frozenset({2})).reliable
        assert not on_table(table.take(range(7)), test).outcome(0, 1, frozenset({2})).reliable


def test_only_observed_strata_count() -> None:
    """Two copies have two strata, not four."""
    column = np.arange(40) % 2
    other = np.arange(40) // 2 % 2
    x = np.arange(40) // 4 % 2
    table = DiscreteTable.from_codes(np.column_stack([x, other, column, column]))
    outcome = on_table(table, "g").outcome(0, 1, frozenset({2, 3}))
    assert (outcome.df, outcome.reliable) == (2, True)


def test_work_is_counted_by_kind() -> None:
    table = make_table([2, 2, 2, 200], 40, seed=0)
    session = on_table(table, "g-sci")
    session.dependents(0, {1, 2, 3}, frozenset())
    assert (session.work.tests, session.work.fallbacks) == (3, 1)
    assert session.work.unreliable == 1  # 400 cells, 40 rows: too thin even for code lengths
    plain = on_table(table, "g")
    plain.dependents(0, {1, 2, 3}, frozenset())
    assert (plain.work.fallbacks, plain.work.unreliable) == (0, 1)
    assert plain.work.tables >= 3


def count_false_alarms(n_conditions: int, draws: int = 200) -> int:
    """How often g-sci sees a dependence between 3-state independent variables, 1000 rows."""
    rejected = 0
    conditions = range(2, 2 + n_conditions)
    for seed in range(draws):
        table = make_table([3] * 7, 1000, seed)
        outcome = on_table(table, "g-sci").outcome(0, 1, frozenset(conditions))
        assert outcome.test == "sci"
        rejected += not outcome.independent
        if seed < 3:
            for df in ("observed", "adjusted"):
                assert not on_table(table, "g", df=df).outcome(0, 1, frozenset(conditions)).reliable
    return rejected


@pytest.mark.parametrize("n_conditions", [3, 4])
def test_false_alarms_on_thin_tables(n_conditions: int) -> None:
    """From five rows per cell down to about one, code lengths keep the false alarms rare."""
    assert count_false_alarms(n_conditions) < 0.05 * 200


def test_half_a_row_a_cell_is_called_unreliable() -> None:
    """243 strata of four rows each: code lengths always see a dependence, and are not trusted."""
    assert count_false_alarms(5, draws=20) == 20
    outcome = on_table(make_table([3] * 7, 1000, seed=0), "g-sci").outcome(
        0, 1, frozenset(range(2, 7))
    )
    assert not outcome.reliable


def test_stochastic_complexity_is_to_blame() -> None:
    """The false alarms with five conditions are the statistic's: the twin has them too."""
    table = make_table([3] * 7, 1000, seed=0)
    twin = naive.statistics.sci(naive.counts.count(columns_of(table), 0, 1, range(2, 7)))
    assert twin > 50
    statistic = on_table(table, "sci").outcome(0, 1, frozenset(range(2, 7))).statistic
    assert statistic == pytest.approx(twin, rel=1e-9)


def test_false_alarms_match_alpha_on_thick_tables() -> None:
    """G and chi-square at 5 %: 400 draws reject 20 times, give or take four standard deviations."""
    for test in ("g", "chi2", "cressie-read"):
        rejected = 0
        for seed in range(400):
            table = make_table([3, 3, 2], 1000, seed)
            rejected += on_table(table, test, alpha=0.05).is_dependent(0, 1, frozenset({2}))
        assert 3 <= rejected <= 38, test


# -------------------------------------------------------------------------------------- registry


def test_registry() -> None:
    assert set(registered()) >= {"g", "chi2", "cressie-read", "sci", "g-sci"}
    assert set(registered()) >= HAS_NO_FREEDOM
    for name, info in registered().items():
        assert info.name == name
        assert info.summary
        assert info.citation
        assert isinstance(make_test(name), info.implementation)
    with pytest.raises(TypeError):
        registered()["new"] = info  # type: ignore[index]


def test_unknown_names_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="g-sci"):
        make_test("g-sc")
    with pytest.raises(ParameterError, match="observed"):
        make_test("g", "exact")
