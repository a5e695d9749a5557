"""What a session answers, whatever was asked before and however much is asked at once."""

from __future__ import annotations

from typing import Never

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.data.models.boolean_functions import boolean_table
from komb.data.table import DiscreteTable
from komb.errors import ParameterError
from komb.sessions.data import DataSession
from komb.sessions.formula_kernels import lots
from komb.sessions.questions import EMPTY, Variables
from tests.counts.tables import LOW_KIND, make_table, tables

thorough = settings(max_examples=25, deadline=None, derandomize=True)


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


def test_outcomes_and_measurements_are_not_counted() -> None:
    """Evidence for a result is not part of the search's work."""
    asked = DataSession(make_table([2, 2, 2], 50, seed=0))
    asked.outcome(0, 1, [2])
    asked.source.measure(0, [1], frozenset({2}))
    assert asked.counts.tests == 0


def test_many_targets_share_a_session() -> None:
    """More targets than are kept ready."""
    table = make_table([2, 3, "parity", "copy", 2, 2, 3], 80, seed=0)
    asked = DataSession(table)
    for _ in range(2):
        for target in range(table.n_columns):
            others = set(range(table.n_columns)) - {target}
            expected = DataSession(table).dependents(target, others, EMPTY)
            assert asked.dependents(target, others, EMPTY) == expected


def test_an_interrupted_question_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    table = boolean_table("and", 500)
    asked = DataSession(table)
    right = DataSession(table).dependents(3, {0, 1, 2}, frozenset())

    def interrupt(*_: object) -> Never:
        raise KeyboardInterrupt

    monkeypatch.setattr(lots, "run_lot", interrupt)
    with pytest.raises(KeyboardInterrupt):
        asked.dependents(3, {0, 1, 2}, frozenset())
    with pytest.raises(KeyboardInterrupt):
        asked.strengths(3, [({0, 1, 2}, frozenset())])
    assert asked.counts.tests == 0
    with pytest.raises(ParameterError):
        asked.ask(3, [({0, 1, 2}, frozenset()), ({99}, frozenset())])
    monkeypatch.undo()
    assert asked.dependents(3, {0, 1, 2}, frozenset()) == right != []
    question = ({0, 1, 2}, frozenset[int]())
    assert asked.strengths(3, [question]) == DataSession(table).strengths(3, [question])
    assert asked.counts.tests == 3


@pytest.mark.parametrize(
    ("candidates", "given"),
    [({99}, EMPTY), ({-1}, EMPTY), ({1}, frozenset({99})), ({1}, frozenset({0, -7}))],
)
def test_variables_that_do_not_exist_are_refused(candidates: set[int], given: Variables) -> None:
    """By an error, not by a crash: algorithms may come from outside."""
    asked = DataSession(boolean_table("and", 500))
    for ask in (asked.ask, asked.strengths, asked.confirmed_strengths):
        with pytest.raises((IndexError, ParameterError)):
            ask(3, [(candidates, given)])
    with pytest.raises((IndexError, ParameterError)):
        asked.outcome(3, min(candidates), given)


def test_a_question_that_cannot_be_asked_leaves_no_trace() -> None:
    """Raised while the questions are put together, as an interrupt may be."""
    table = boolean_table("and", 500)
    asked = DataSession(table)
    asked.dependents(3, {0}, EMPTY)
    with pytest.raises(ParameterError):
        asked.strengths(3, [({0, 1, 2, 99}, EMPTY)])
    question = ({0, 1, 2}, EMPTY)
    assert asked.strengths(3, [question]) == DataSession(table).strengths(3, [question])


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
                answer = trimmed.separators.find(target, {x}, pool, 2)
                assert answer == kept.separators.find(target, {x}, pool, 2)
                assert answer == fresh.separators.find(target, {x}, pool, 2)
            trimmed.trim(0)
            assert not trimmed._memory.targets
            assert not trimmed._separations
        assert trimmed.counts.tests > kept.counts.tests

    def test_the_oldest_go_first_and_only_as_many_as_must(self) -> None:
        session = DataSession(make_table([2] * 5, 50, 0), "auto")
        for target in range(5):
            session.ask(target, [(frozenset(range(5)) - {target}, EMPTY)])
        size = session._memory.n_bytes(0)
        session.trim(2 * size)
        assert session._memory.targets == [3, 4]
        session.trim()
        assert session._memory.targets == [3, 4]

    def test_so_do_the_oldest_in_compiled_code(self) -> None:
        session = DataSession(make_table([2] * 5, 50, 0), "g")
        for target in range(5):
            session.ask(target, [(frozenset(range(5)) - {target}, EMPTY)])
        size = session.source.n_bytes(0)
        session.trim(2 * size)
        assert [session.source.n_bytes(target) for target in range(5)] == [0, 0, 0, size, size]
