"""What every test of the registry promises, and that a test needs no more than `measure`."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.citests import tests as registered
from komb.citests.contract import CITest, TestOptions
from komb.citests.decision import is_dependent
from komb.citests.g import degrees_of_freedom, g_statistic
from komb.citests.measure import BoolArray, Measurement, TestSums
from komb.citests.registry import make_test, statistic_symbol
from komb.data.table import DiscreteTable
from komb.sessions.data import DataSession, TableSource
from komb.sessions.questions import EMPTY
from komb.sessions.session import Session
from tests.citests.kinds import EVERY_TEST
from tests.counts.tables import ANY_KIND, LOW_KIND, make_table, tables, with_missing

every_name = pytest.mark.parametrize("name", list(registered()))
every_test = pytest.mark.parametrize(("test", "df"), EVERY_TEST)
MIXED: list[int | str] = [2, 3, "parity", 2, 20, "copy", "parity", 1, "id"]


# ---------------------------------------------------------------------------------------- promises


@every_name
def test_every_test_derives_from_the_contract(name: str) -> None:
    info = registered()[name]
    assert issubclass(info.implementation, CITest)
    assert isinstance(make_test(name), info.implementation)
    assert info.is_random == info.implementation.is_random
    note = info.implementation.unreliable_note.format(tests="3 of 120 tests", test=name)
    assert "3 of 120 tests" in note
    assert "{" not in note


@every_name
def test_no_p_value_is_smaller_than_the_smallest(name: str) -> None:
    smallest = make_test(name).smallest_p_value
    assert 0 <= smallest < 0.01
    p_value = DataSession(make_table([2, "copy"], 2000, seed=0), name).outcome(0, 1, []).p_value
    assert p_value is None or p_value >= smallest


class Watched(TableSource):
    """Compares the screen of a test with its decision, whenever something is counted."""

    n_possible = n_ruled_out = 0

    def _decide_sums(self, sums: TestSums) -> BoolArray:
        depends = super()._decide_sums(sums)
        is_possible = self._test.screen(sums, self._alpha)
        assert not (depends & ~is_possible).any()
        self.n_possible += int(np.count_nonzero(is_possible))
        self.n_ruled_out += int(np.count_nonzero(~is_possible))
        return depends


def watch(table: DiscreteTable, test: str, df: str, alpha: float) -> Watched:
    """Ask for all tests of the first column with up to two conditions."""
    source = Watched(table, make_test(test, df, alpha=alpha), alpha)
    pool = frozenset(range(1, table.n_columns))
    sets = [frozenset(z) for size in range(3) for z in combinations(sorted(pool), size)]
    Session(source).ask(0, [(pool, z) for z in sets])
    return source


@every_test
@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    tables(kinds=ANY_KIND, n_rows=(5, 300), n_columns=(3, 6)),
    st.sampled_from([0.3, 0.01, 1e-6]),
)
def test_a_screen_never_rules_out_a_dependence(
    test: str, df: str, table: DiscreteTable, alpha: float
) -> None:
    watch(table, test, df, alpha)


@every_test
def test_a_screen_rules_out_something_if_it_can(test: str, df: str) -> None:
    watched = watch(make_table([2] * 6, 500, seed=0), test, df, 0.01)
    assert (watched.n_ruled_out > 0) == registered()[test].implementation.can_screen


# ------------------------------------------------------------------------------ a test of one's own


class OnlyMeasure(CITest):
    """G, without anything that a test need not have."""

    def measure(self, sums: TestSums) -> Measurement:
        statistic, freedom = g_statistic(sums), degrees_of_freedom(sums, "observed")
        return Measurement(statistic, freedom, sums.is_thick, "mine")


def test_a_test_without_measure_is_none() -> None:
    class Nothing(CITest):
        pass

    with pytest.raises(TypeError, match="measure"):
        Nothing(TestOptions())  # type: ignore[abstract]


def test_the_contract_has_defaults_for_the_rest() -> None:
    test = OnlyMeasure(TestOptions(alpha=0.05))
    assert test.options.alpha == 0.05
    assert not any((test.needs_tables, test.can_screen, test.has_df_rule, test.is_random))
    assert test.length_below == test.smallest_p_value == 0
    assert test.fallback is None
    assert statistic_symbol("mine") == "mine"
    source = Watched(make_table(MIXED, 50, seed=0), test, 0.05)
    Session(source).dependents(0, {1, 2, 3}, EMPTY)
    assert (source.n_possible, source.n_ruled_out) == (3, 0)


@pytest.mark.parametrize("share", [0.0, 0.1])
@settings(max_examples=10, deadline=None, derandomize=True)
@given(tables(kinds=LOW_KIND, n_rows=(20, 200), n_columns=(4, 6)), st.integers(0, 10**6))
def test_only_measure_is_enough(share: float, table: DiscreteTable, seed: int) -> None:
    """For questions, strengths and sweeps."""
    if share:
        table = with_missing(table, [share] * table.n_columns, seed)
    own = DataSession(table, OnlyMeasure(TestOptions()), alpha=0.1)
    g = DataSession(table, "g", alpha=0.1)
    pool = frozenset(range(1, table.n_columns))
    questions = [(pool, frozenset({z})) for z in sorted(pool)]
    assert own.strengths(0, questions) == g.strengths(0, questions)
    own.sweep(0, pool, 2)
    for members in combinations(sorted(pool), 2):
        z = frozenset(members)
        assert own.dependents(0, pool, z) == g.dependents(0, pool, z)
    assert own.separators.find(0, pool, pool, 2) == g.separators.find(0, pool, pool, 2)
    bits = 4.0
    assert own.strong_dependences(0, pool, pool, 1, bits) == g.strong_dependences(
        0, pool, pool, 1, bits
    )


def test_measurements_are_decided_at_the_level_of_the_session() -> None:
    """A test compares nothing: the same measurement is a dependence at one level and not at all."""
    table = make_table([2, 2, 2], 60, seed=4)
    measured = DataSession(table, OnlyMeasure(TestOptions())).source.measure(0, [1, 2], EMPTY)
    p_values = [DataSession(table, "g").outcome(0, x, []).p_value for x in (1, 2)]
    for alpha in (0.01, 0.2, 0.5, 0.9):
        expected = [p is not None and p <= alpha for p in p_values]
        assert is_dependent(measured, alpha).tolist() == expected
