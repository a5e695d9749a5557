"""Time and work that a search may spend."""

from __future__ import annotations

import pytest

import komb
from komb.search._automatic import Budget

XOR = komb.boolean_table("parity", 500, n_parents=2, n_irrelevant=3)


def test_the_clock_starts_with_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("komb.search._automatic.clock", lambda: now[0])
    budget = Budget(10.0, _began=100.0)
    assert not budget.is_spent()
    now[0] += 9.0
    assert budget.seconds_used == 9.0
    assert not budget.is_spent()
    now[0] += 1.0
    assert budget.is_spent()
    assert not Budget().is_spent()


def test_what_time_did_not_suffice_for_is_told() -> None:
    blanket = komb.markov_blanket(XOR, "Y", time_budget=1e-9)
    assert blanket.parameters["time_budget"] == 1e-9
    assert blanket.omissions
    assert "time budget of 1e-09 s" in blanket.omissions[0].reason
    assert blanket.omissions[0].reason in str(blanket.details())
    assert blanket.omissions[0].n_tests > 0


def test_enough_time_changes_nothing() -> None:
    plain, timed = komb.markov_blanket(XOR, "Y"), komb.markov_blanket(XOR, "Y", time_budget=600)
    assert timed.evidence == plain.evidence
    assert timed.remarks == plain.remarks


def test_every_target_has_a_budget_of_its_own() -> None:
    many = komb.markov_blankets(XOR, time_budget=600)
    assert many["Y"] == komb.markov_blanket(XOR, "Y", time_budget=600)
