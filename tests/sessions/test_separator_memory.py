"""What is remembered of separators, and the lines of dependences they are tried on."""

from __future__ import annotations

import numpy as np
import pytest

from komb.sessions import separator_memory
from komb.sessions.questions import Dependence, Variables, subsets
from komb.sessions.separator_memory import Line, SeparationMemory, Separators, Trial


def of(*variables: int) -> Variables:
    return frozenset(variables)


def test_separators_contain_the_subsets_of_their_pool() -> None:
    everything = list(subsets(range(5), 5))
    for pool in everything:
        for most in range(4):
            contained = [subset for subset in everything if subset in Separators(pool, most)]
            assert contained == list(subsets(pool, most))


# ------------------------------------------------------------------------------------------- memory
X: Dependence = (1, of(2))
ALL = Separators(of(3, 4, 5), 2)


def test_a_dependence_is_separated_by_a_set_that_can_be_tried() -> None:
    memory = SeparationMemory()
    assert not memory.is_separated(X, ALL)
    memory.note_separated(X, of(3, 4))
    assert memory.is_separated(X, ALL)
    assert not memory.is_separated(X, Separators(ALL.pool, 1))
    assert not memory.is_separated(X, Separators(of(3, 5), 2))
    assert not memory.is_separated((1, of()), ALL)
    assert not memory.is_separated((6, of(2)), ALL)
    memory.note_separated(X, of())
    assert memory.is_separated(X, Separators(of(), 0))


def test_the_latest_that_worked_and_can_be_tried() -> None:
    memory = SeparationMemory()
    assert memory.latest(X, ALL) is None
    for given, separator in [(of(), of(5)), (of(6), of(3)), (of(), of(4, 5)), (of(7), of(5))]:
        memory.note_separated((1, given), separator)
    memory.note_separated((6, of()), of(4))  # another candidate's
    assert memory.latest(X, ALL) == of(5)  # worked first, but also last
    assert memory.latest((1, of(5)), ALL) == of(3)  # nothing that is given
    assert memory.latest(X, Separators(of(3, 4), 2)) == of(3)
    assert memory.latest(X, Separators(of(4), 2)) is None


def test_what_worked_is_tried_first_and_the_rest_in_order() -> None:
    memory = SeparationMemory()
    assert list(memory.to_try(X, ALL)) == list(subsets(ALL.pool, 2))
    memory.note_separated((1, of()), of(4, 5))
    memory.note_separated((1, of(7)), of(4))
    memory.note_separated((1, of(8)), of(2))  # is given here
    assert list(memory.to_try(X, ALL)) == [
        *(of(4), of(4, 5)),
        *(of(), of(3), of(5), of(3, 4), of(3, 5)),
    ]


def test_what_did_not_separate_is_left_out() -> None:
    memory = SeparationMemory()
    memory.note_separated((1, of()), of(4))
    memory.note_inseparable(X, Separators(of(3, 4), 1))
    assert list(memory.to_try(X, ALL)) == [of(5), of(3, 4), of(3, 5), of(4, 5)]
    memory.note_inseparable(X, ALL)
    assert list(memory.to_try(X, ALL)) == []
    assert list(memory.to_try((1, of(3)), ALL)) == [of(4), of(), of(5), of(4, 5)]


def test_every_separator_that_may_work_is_tried_once() -> None:
    """Whatever has been noted: all subsets of the pool except candidate, given and failures."""
    for seed in range(200):
        rng = np.random.default_rng(seed)

        def draw(largest: int, rng: np.random.Generator = rng) -> Variables:
            return frozenset(rng.permutation(6)[: rng.integers(largest + 1)].tolist())

        memory = SeparationMemory()
        for _ in range(8):
            worked, given = draw(3) - {0}, draw(2) - {0}
            memory.note_separated((0, given - worked), worked)
        failed, separators = Separators(draw(6), 2), Separators(draw(6), 3)
        given = draw(2) - {0}
        memory.note_inseparable((0, given), failed)
        tried = list(memory.to_try((0, given), separators))
        assert len(tried) == len(set(tried))
        assert set(tried) == {
            subset
            for subset in subsets(separators.pool - given - {0}, 3)
            if len(subset) > 2 or not subset <= failed.pool
        }


def test_room_is_made_only_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who notes something may rely on it until then."""
    monkeypatch.setattr(separator_memory, "DEPENDENCES_REMEMBERED", 3)
    memory = SeparationMemory()
    dependences = [(1, of(z)) for z in range(6, 11)]
    for dependence in dependences[:2]:
        memory.note_separated(dependence, of(3))
    memory.make_room()
    assert all(memory.is_separated(dependence, ALL) for dependence in dependences[:2])
    for dependence in dependences:
        memory.note_separated(dependence, of(3))
        memory.note_inseparable(dependence, Separators(of(4), 1))
    assert all(memory.is_separated(dependence, ALL) for dependence in dependences)
    assert all(of(4) not in memory.to_try(dependence, ALL) for dependence in dependences)
    memory.make_room()
    assert not any(memory.is_separated(dependence, ALL) for dependence in dependences)
    assert all(of(4) in memory.to_try(dependence, ALL) for dependence in dependences)


# --------------------------------------------------------------------------------- lines and trials


def test_a_line_passes_over_what_is_separated() -> None:
    memory = SeparationMemory()
    line = Line(1, [of(6), of(7), of(8)])
    for given in (of(6), of(8)):
        memory.note_separated((1, given), of(3))
    assert line.front == (1, of(6))
    line.advance(memory, Separators(of(4), 1))  # does not separate it
    assert line.front == (1, of(6))
    line.advance(memory, ALL)
    assert line.front == (1, of(7))  # not yet the last, separated as it is
    memory.note_separated((1, of(7)), of())
    line.advance(memory, ALL)
    assert line.front is None
    line.advance(memory, ALL)
    assert line.front is None


def test_a_line_looks_ahead_from_its_front() -> None:
    line = Line(1, [of(6), of(7), of(8)])
    assert list(line.ahead()) == [(1, of(6))]
    line.place, line.window = 1, 2
    assert list(line.ahead()) == [(1, of(7)), (1, of(8))]
    line.window = 100
    assert list(line.ahead()) == [(1, of(7)), (1, of(8))]
    assert Line(1, []).front is None


def test_a_trial_goes_on_where_it_was() -> None:
    trial = Trial(X, subsets({3, 4}, 2))
    assert trial.next(1) == [(of(), of(2))]
    assert trial.next(2) == [(of(3), of(2, 3)), (of(4), of(2, 4))]
    assert trial.next(5) == [(of(3, 4), of(2, 3, 4))]
    assert trial.next(5) == []
