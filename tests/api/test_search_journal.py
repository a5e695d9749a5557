"""Searches that are interrupted and taken up again."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import komb
from komb.api.progress import Progress
from komb.engine import journal, screens, sweep
from komb.errors import Interrupted, ParameterError
from tests.engine.engines import on_table


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("komb.search.komb._FEW_TESTS", 0)
    monkeypatch.setattr(sweep, "LEAST_WORK", 1)
    monkeypatch.setattr(screens, "UNIONS_PER_PART", 50)
    monkeypatch.setattr(journal, "SECONDS_PER_BLOCK", 0.0)


def hidden_pair(seed: int = 0) -> komb.DiscreteTable:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, (800, 40))
    codes[:, 0] = codes[:, 11] ^ codes[:, 30] ^ (rng.random(800) < 0.1)
    return komb.DiscreteTable.from_codes(codes)


def count_parts(file: Path) -> int:
    with closing(sqlite3.connect(file)) as database:
        [(n_parts,)] = database.execute("SELECT count(*) FROM parts")
    return int(n_parts)


@pytest.mark.parametrize("method", ["auto", "komb"])
def test_an_interrupted_search_is_taken_up_again(tmp_path: Path, method: str) -> None:
    table, file = hidden_pair(), tmp_path / "run.journal"
    expected = komb.markov_blanket(table, 0, method=method, order=1)
    assert set(expected.members) >= {11, 30}

    def interrupt(progress: Progress) -> None:
        if progress.phase in ("groups", "sweep") and progress.done > 300:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted):
        komb.markov_blanket(table, 0, method=method, order=1, resume=file, progress=interrupt)
    n_parts = count_parts(file)
    assert n_parts > 3
    found = komb.markov_blanket(table, 0, method=method, order=1, resume=file)
    assert found == expected
    assert found.tests == expected.tests
    assert count_parts(file) > n_parts


def test_what_may_change_between_two_runs(tmp_path: Path) -> None:
    table, file = hidden_pair(), tmp_path / "run.journal"
    first = komb.markov_blanket(table, 0, order=1, resume=file)
    again = komb.markov_blanket(table, 0, order=1, resume=str(file), time_budget=60, n_jobs=1)
    assert again.evidence == first.evidence


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"target": 1}, "target 0 where this one has 1"),
        ({"level": 0.2}, r"level 0\.05 where this one has 0\.2"),
        ({"exclude": [5]}, "another table"),
        ({"data": hidden_pair(seed=1)}, "another table"),
        ({"test": "g"}, "test 'auto' where this one has 'g'"),
    ],
)
def test_a_journal_of_another_search(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    file = tmp_path / "run.journal"
    call: dict[str, Any] = {"data": hidden_pair(), "target": 0, "order": 1, "resume": file}
    komb.markov_blanket(**call)
    before = file.read_bytes()
    with pytest.raises(ParameterError, match=message):
        komb.markov_blanket(**call | changes)
    assert file.read_bytes() == before


def test_what_is_no_name_of_a_file() -> None:
    with pytest.raises(ParameterError, match="'resume' must be the name of a file; got 1"):
        komb.markov_blanket(hidden_pair(), 0, resume=1)


def test_an_order_that_is_asked_for_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the limit of orders that are searched without being asked for."""
    from komb.search import _effort

    monkeypatch.setattr(_effort, "MOST_WORK", 1.0)
    table = hidden_pair(seed=2)
    assert komb.markov_blanket(table, 0).members == ()
    assert komb.markov_blanket(table, 0, order=1).members == (11, 30)


def test_an_order_with_too_many_sets_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from komb.search import auto
    from komb.search._automatic import Budget
    from komb.search.task import GroundedOmission, Kind, Task, fact

    task = Task(0, frozenset(range(1, 40)))
    monkeypatch.setattr(auto, "Budget", lambda seconds: Budget(seconds, max_sets=100))
    found = auto.find_blanket(on_table(hidden_pair()), task, order=2)
    [omission] = found.omissions
    assert isinstance(omission, GroundedOmission)
    assert (omission.order, omission.limit) == (2, fact(Kind.TOO_MANY_SETS, 741, 100))


def test_a_table_that_is_counted_in_parts(tmp_path: Path) -> None:
    stored = komb.encode(hidden_pair(), tmp_path / "table.komb")
    with pytest.raises(ParameterError, match="'resume' must be left out for a table that is"):
        komb.markov_blanket(
            komb.table(stored, memory_limit=1000), 0, resume=tmp_path / "run.journal"
        )
    assert not (tmp_path / "run.journal").exists()
    found = komb.markov_blanket(stored, 0, order=1, resume=tmp_path / "run.journal")
    assert set(found.members) >= {11, 30}
