"""What a session remembers: nothing is decided, weighed or counted twice."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.data.table import DiscreteTable
from komb.sessions import memory
from komb.sessions.data import DataSession
from komb.sessions.questions import EMPTY, Variables, subsets
from tests import naive
from tests.citests.kinds import EVERY_TEST
from tests.counts.tables import LOW_KIND, make_table, tables
from tests.sessions.recorder import Recorder

thorough = settings(max_examples=25, deadline=None, derandomize=True)
every_test = pytest.mark.parametrize(("test", "df"), EVERY_TEST)
MIXED: list[int | str] = [2, 3, "parity", 2, 4, "copy", "parity", "rare"]

# ---------------------------------------------------------------------------------------- decisions


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
        assert asked.counts.tests == len(asked.source.decided) == len(set(asked.source.decided))
        assert set(asked.source.decided) == wanted


def test_candidates_in_the_condition_are_ignored() -> None:
    asked = Recorder(make_table([2, "copy", "copy"], 50, seed=0))
    assert asked.dependents(0, {1, 2}, frozenset({1})) == []
    assert asked.source.decided == [(0, 2, frozenset({1}))]
    assert asked.dependents(0, set(), EMPTY) == []


def test_answers_survive_forgetting(monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_table([2, 3, "parity", "copy", 2], 80, seed=0)
    questions = [(set(range(1, 5)), z) for z in subsets({1, 2, 3, 4}, 3)] * 2
    expected = DataSession(table).ask(0, questions)
    monkeypatch.setattr(memory, "ROWS_REMEMBERED_BYTES", 0)
    assert DataSession(table).ask(0, questions) == expected
    forgetful = DataSession(table)
    assert [forgetful.dependents(0, *question) for question in questions] == expected


def test_the_oldest_are_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_table([2] * 12, 80, seed=0)
    a_row = len(table.names) + memory.KEY_BYTES
    monkeypatch.setattr(memory, "ROWS_REMEMBERED_BYTES", 10 * a_row)
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


# ---------------------------------------------------------------------------------------- strengths


def test_candidates_in_the_condition_are_not_weighed() -> None:
    asked = Recorder(make_table([2, "copy", "copy"], 50, seed=0))
    assert asked.strengths(0, [({1, 2}, frozenset({1}))]) == [{}]
    assert asked.source.weighed == [(0, 2, frozenset({1}))]
    assert asked.strengths(0, [(set(), EMPTY)]) == [{}]
    assert asked.strengths(0, []) == []


@every_test
def test_nothing_is_weighed_or_decided_after_it_was_weighed(test: str, df: str) -> None:
    asked = Recorder(make_table(MIXED, 200, seed=0), test, df=df)
    others = set(range(1, 8))
    questions = [(others, z) for z in naive.steps.subsets(frozenset(others), 2)]
    first = asked.strengths(0, questions)
    counts = asked.counts
    assert counts.tests == len(asked.source.weighed) == len(set(asked.source.weighed))
    assert asked.strengths(0, questions[::-1]) == first[::-1]
    assert asked.ask(0, questions) == [list(answer) for answer in first]
    assert asked.counts == counts
    assert asked.source.decided == []


def test_a_test_that_was_asked_before_is_not_counted_again() -> None:
    asked = Recorder(make_table(MIXED, 200, seed=0))
    others = set(range(1, 8))
    asked.dependents(0, {1, 2, 3}, EMPTY)
    assert asked.counts.tests == 3
    asked.strengths(0, [(others, EMPTY), ({2}, frozenset({1}))])
    assert asked.counts.tests == 8
    asked.ask(0, [(others, EMPTY), (others, frozenset({1}))])
    assert asked.counts.tests == 7 + 6


def test_targets_do_not_share_strengths() -> None:
    asked = DataSession(make_table([2, "copy", 3, "copy", "parity"], 300, seed=1), alpha=0.5)
    for _ in range(2):
        for target in range(5):
            others = set(range(5)) - {target}
            fresh = DataSession(asked.source._table, alpha=0.5)
            for z in naive.steps.subsets(frozenset(others), 1):
                assert asked.strengths(target, [(others, z)]) == fresh.strengths(
                    target, [(others, z)]
                )


def test_strengths_survive_forgetting(monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_table(MIXED, 80, seed=0)
    questions = [(set(range(1, 8)), z) for z in naive.steps.subsets(frozenset(range(1, 8)), 2)] * 2
    expected = DataSession(table).strengths(0, questions)
    monkeypatch.setattr(memory, "ROWS_REMEMBERED_BYTES", 0)
    assert DataSession(table).strengths(0, questions) == expected
    forgetful = DataSession(table)
    assert [forgetful.strengths(0, [question])[0] for question in questions] == expected


def test_unreliable_tests_and_fallbacks_are_counted_once() -> None:
    asked = DataSession(make_table([3, 4, 4, 4, 4], 60, seed=0))
    question = ({1, 2}, frozenset({3, 4}))
    asked.ask(0, [question])
    asked.strengths(0, [question])
    assert asked.counts.tests == 2
    assert asked.counts.fallbacks <= 2
    assert asked.counts.unreliable <= 2


def test_nothing_is_weighed_twice_in_one_batch() -> None:
    asked = Recorder(make_table(MIXED, 200, seed=0))
    asked.strengths(0, [({1, 2}, EMPTY), ({2, 3}, EMPTY)])
    assert len(asked.source.weighed) == len(set(asked.source.weighed))
