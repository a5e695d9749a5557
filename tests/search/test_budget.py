"""Time and work that a search may spend."""

from __future__ import annotations

import numpy as np
import pytest

import komb
from komb.search import _effort
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


@pytest.fixture
def alike(monkeypatch: pytest.MonkeyPatch) -> dict[str, np.ndarray]:
    """Noisy copies of three causes, and a search that may do less than they would take."""
    monkeypatch.setattr(_effort, "MOST_SEARCHED", 3e7)
    rng = np.random.default_rng(1)
    causes = rng.normal(size=(3, 400))
    columns = {f"x{i}": causes[i % 3] + 0.5 * rng.normal(size=400) for i in range(9)}
    return columns | {"y": causes.sum(axis=0) + rng.normal(size=400)}


def test_work_is_bounded_and_what_was_left_out_is_told(alike: dict[str, np.ndarray]) -> None:
    blanket = komb.markov_blanket(alike, "y")
    assert blanket.members
    assert blanket.omissions[0].order == 0
    assert "Not searched to the end" in str(blanket)
    asked = komb.markov_blanket(alike, "y", max_separator=3)
    assert all(left_out.order for left_out in asked.omissions)
    assert asked.tests > blanket.tests


def test_where_a_search_ends_depends_on_the_table_alone(alike: dict[str, np.ndarray]) -> None:
    blanket = komb.markov_blanket(alike, "y")
    rng = np.random.default_rng(2)
    rows = rng.permutation(400)
    shuffled = {name: alike[name][rows] for name in rng.permutation(list(alike)).tolist()}
    assert set(komb.markov_blanket(shuffled, "y").members) == set(blanket.members)
    many = komb.markov_blankets(alike, n_jobs=1)
    assert many["y"].members == blanket.members
    assert many["y"].omissions == blanket.omissions
