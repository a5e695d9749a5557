"""What a source may leave to others: all but decisions and outcomes."""

from __future__ import annotations

import math

import pytest

from komb.sessions.questions import EMPTY, SessionCounts
from komb.sessions.session import Session
from komb.sessions.source import Power, Source
from tests.sessions.sources import DecidingSource


class Chain:
    """0 - 1 - 2 - 3: neighbours separate what is beyond them."""

    def independent(self, y: int, x: int, given: frozenset[int]) -> bool:
        return any(min(x, y) < z < max(x, y) for z in given)


@pytest.fixture
def session() -> Session:
    return Session(DecidingSource(4, Chain()))


def test_a_source_decides_and_tells_outcomes() -> None:
    class Nothing(Source):
        pass

    with pytest.raises(TypeError, match=r"decide.*outcome"):
        Nothing(3)  # type: ignore[abstract]


def test_what_depends_does_so_for_sure(session: Session) -> None:
    question = ({1, 2, 3}, frozenset({2}))
    assert session.dependents(0, *question) == [1]
    for strengths in (session.strengths, session.confirmed_strengths):
        assert strengths(0, [question]) == [{1: math.inf}]
    assert session.strong_among(0, [question], 1e9) == [(math.inf, 1, frozenset({2}))]
    pool = frozenset({1, 2, 3})
    strong = session.strong_dependences(0, pool, pool, 2, 1e9, min_rows_per_cell=5)
    assert strong == [(math.inf, 1, frozenset({2, 3}))]


def test_there_is_no_quicker_way_than_to_ask(session: Session) -> None:
    session.sweep(0, frozenset({1, 2, 3}), 1)
    assert session.counts == SessionCounts(0, 0, 0, 0)
    assert session.separators.find(0, {2, 3}, frozenset({1, 2, 3}), 1) == {
        2: frozenset({1}),
        3: frozenset({1}),
    }
    assert session.counts.tests > 0


def test_what_it_does_not_know(session: Session) -> None:
    assert (session.n_rows, session.alpha, list(session.n_levels)) == (None, None, [])
    assert session.can_detect(0, 1, EMPTY, EMPTY, Power(0.1, 0.3, 50))
    assert not session.determines(frozenset({1}), 0, min_rows=0)
    assert session.explained_shares(0, [1, 2]) == [0.0, 0.0]


def test_what_is_forgotten_is_asked_for_again(session: Session) -> None:
    assert session.dependents(0, {1, 2}, EMPTY) == [1, 2]
    session.trim(0)
    assert session.dependents(0, {1, 2}, EMPTY) == [1, 2]
    assert session.counts.tests == 4
    assert session.outcome(0, 3, [1]).independent
