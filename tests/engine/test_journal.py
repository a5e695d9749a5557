"""Sweeps that are interrupted and taken up again."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from komb.data.table import DiscreteTable
from komb.engine import journal as journals
from komb.engine import screens, sweep
from komb.engine.engine import AllSets
from komb.engine.journal import Journal, Noted, hash_table
from komb.engine.questions import StrongDependence
from komb.engine.rule import Rule
from komb.engine.table import TableEngine
from komb.engine.threads import use_threads
from komb.errors import FileError, ParameterError
from tests.engine.tables import make_table, with_missing

IDENTITY = {"table": "x", "target": "0"}


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have small sweeps screened, in many parts, each of which is written at once."""
    monkeypatch.setattr(sweep, "LEAST_WORK", 1)
    monkeypatch.setattr(sweep, "WORK_PER_THREAD", 1)
    monkeypatch.setattr(screens, "UNIONS_PER_PART", 30)
    monkeypatch.setattr(screens, "SETS_PER_TILE", 4)
    monkeypatch.setattr(journals, "SECONDS_PER_BLOCK", 0.0)


def wide_table(*, is_complete: bool) -> DiscreteTable:
    kinds: list[Any] = [2, 3, "parity", 2, 3, "copy", 4, 3, 2, "parity"] * 4
    table = make_table(kinds, 600, seed=1)
    return table if is_complete else with_missing(table, [0.02] * len(kinds), seed=1)


class Stopped(Exception):  # noqa: N818 - it is no error
    """A run ends here."""


def run(
    table: DiscreteTable, journal: Journal | None, size: int = 1, stop_after: int | None = None
) -> tuple[list[StrongDependence], int]:
    """Return what a sweep finds, and how often it reported progress."""
    n_reports = 0

    def report(done: int, total: int) -> None:
        nonlocal n_reports
        n_reports += 1
        if n_reports == stop_after:
            raise Stopped

    engine = TableEngine(table.codes, table.cardinalities, Rule(0.05, "g"))
    engine.journal = journal
    pool = frozenset(range(1, table.n_columns))
    return engine.strong(0, AllSets(pool, pool, size), 4.0, on_progress=report), n_reports


@pytest.mark.parametrize("is_complete", [True, False])
@pytest.mark.parametrize("threads", [1, 2])
def test_any_number_of_interruptions_changes_nothing(
    tmp_path: Path, is_complete: bool, threads: int
) -> None:
    table = wide_table(is_complete=is_complete)
    expected, n_parts = run(table, None)
    assert expected
    assert n_parts > 10
    with use_threads(threads):
        for _ in range(4):
            with Journal(tmp_path / "x", IDENTITY) as journal, pytest.raises(Stopped):
                run(table, journal, stop_after=n_parts // 2)
        with Journal(tmp_path / "x", IDENTITY) as journal:
            assert run(table, journal)[0] == expected


def test_what_is_done_is_not_counted_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = wide_table(is_complete=True)
    with Journal(tmp_path / "x", IDENTITY) as journal:
        expected = run(table, journal)

    def refuse(*_: object) -> None:
        raise AssertionError("counted again")

    with monkeypatch.context() as patch, Journal(tmp_path / "x", IDENTITY) as journal:
        patch.setattr(sweep, "map_in_order", lambda *_: iter([]))
        assert run(table, journal) == expected
        patch.setattr(sweep, "map_in_order", refuse)
        with pytest.raises(AssertionError, match="counted again"):
            run(table, journal, size=2)  # another sweep


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "no line end", "[1]\n", "x", "x" * 5000])
def test_other_files_are_left_as_they_are(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(ParameterError, match="must be a journal that komb has written"):
        Journal(path, IDENTITY)
    assert path.read_text() == text


def test_other_databases_are_left_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE mine (a)")
        other.commit()
    before = path.read_bytes()
    with pytest.raises(ParameterError, match="must be a journal that komb has written"):
        Journal(path, IDENTITY)
    assert path.read_bytes() == before


def test_a_damaged_journal_is_refused(tmp_path: Path) -> None:
    path, table = tmp_path / "x", wide_table(is_complete=True)
    with Journal(path, IDENTITY) as journal:
        run(table, journal, size=2)
    data = path.read_bytes()
    for n_left in (len(data) // 2, 100):
        path.write_bytes(data[:n_left])
        with (
            pytest.raises(FileError, match=r"is damaged. Delete it to start again"),
            Journal(path, IDENTITY) as journal,
        ):
            run(table, journal, size=2)


@pytest.mark.parametrize("change", ["counted = 8", "numbers = x'00'", "number = 7", "checksum = 0"])
def test_what_was_written_is_what_is_read(tmp_path: Path, change: str) -> None:
    path, part = tmp_path / "x", Noted(10, 9, np.array([[3, 5, -(1 << 61)]]))
    with Journal(path, IDENTITY) as journal:
        list(journal.run("pairs", lambda done: iter([part, part])))
    with Journal(path, IDENTITY) as journal:
        for each in journal.run("pairs", lambda done: iter([])):
            assert each.n_counted == 9
            assert each.numbers.tolist() == part.numbers.tolist()
    with closing(sqlite3.connect(path)) as other:
        other.execute(f"UPDATE parts SET {change} WHERE number = 1")
        other.commit()
    with Journal(path, IDENTITY) as journal, pytest.raises(FileError, match="damaged"):
        list(journal.run("pairs", lambda done: iter([])))


def test_an_empty_file_becomes_a_journal(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.touch()
    Journal(path, IDENTITY).__exit__()
    assert path.read_bytes()


def test_a_journal_of_another_search_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x"
    Journal(path, {"table": "x", "target": "'a'", "alpha": "0.1"}).__exit__()
    for other, message in [
        ({"table": "y", "target": "'a'", "alpha": "0.1"}, "of one with another table"),
        ({"table": "x", "target": "'b'", "alpha": "0.1"}, "target 'a' where this one has 'b'"),
        ({"table": "x", "target": "'a'", "alpha": "0.2"}, r"alpha 0\.1 where this one has 0\.2"),
    ]:
        with pytest.raises(ParameterError, match=message):
            Journal(path, other)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"Cannot write .*unable to open"):
        Journal(tmp_path / "nowhere" / "x", IDENTITY)


def test_two_runs_cannot_share_a_journal(tmp_path: Path) -> None:
    path = tmp_path / "x"
    with (
        Journal(path, IDENTITY),
        pytest.raises(ParameterError, match="not be in use by another run"),
    ):
        Journal(path, IDENTITY)
    Journal(path, IDENTITY).__exit__()


def test_a_full_disk(tmp_path: Path) -> None:
    table = wide_table(is_complete=True)
    with Journal(tmp_path / "x", IDENTITY) as journal:
        journal._ask("PRAGMA max_page_count = 4")
        with pytest.raises(FileError, match=r"Cannot write .*is full"):
            run(table, journal, size=2)


def test_what_is_no_file(tmp_path: Path) -> None:
    for path in (tmp_path, Path(os.devnull)):
        with pytest.raises(ParameterError, match="must be a journal that komb has written"):
            Journal(path, IDENTITY)


def test_tables_have_hashes_of_their_own() -> None:
    table = DiscreteTable.from_data({"a": [0, 1, 1], "b": [1, 1, 0]})
    others = [
        DiscreteTable.from_data({"a": [0, 1, 1], "c": [1, 1, 0]}),
        DiscreteTable.from_data({"a": [0, 1, 0], "b": [1, 1, 0]}),
        DiscreteTable.from_data({"a": [0, 2, 2], "b": [1, 1, 0]}),
    ]
    assert hash_table(table) == hash_table(table.take(np.array([0, 1, 2])))
    assert len({hash_table(each) for each in (table, *others)}) == 4


# -------------------------------------------------------------------------------------------- kill

RUN = """
import json, sys, time
from pathlib import Path
from komb.engine import journal, screens, sweep
from tests.engine.test_journal import IDENTITY, run, wide_table

path, pause = Path(sys.argv[1]), float(sys.argv[2])
sweep.LEAST_WORK = sweep.WORK_PER_THREAD = 1
screens.UNIONS_PER_PART, screens.SETS_PER_TILE = 30, 4
sweep.UNIONS_PER_PART, sweep.SETS_PER_TILE = 30, 4
journal.SECONDS_PER_BLOCK = 0.05
list_part, counted = screens.Screen.run, []

def slowly(self, part):
    if not self._fields["is_first"]:
        time.sleep(pause)
        counted.append(self.count(part))
    return list_part(self, part)

screens.Screen.run = slowly
with journal.Journal(path, IDENTITY) as noted:
    found, _ = run(wide_table(is_complete=True), noted)
print(json.dumps([sum(counted), [[own, x, sorted(given)] for own, x, given in found]]))
"""


def start(path: Path, pause: float) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-c", RUN, str(path), str(pause)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes are killed otherwise there")
def test_a_killed_run_is_taken_up_again(tmp_path: Path) -> None:
    """It loses no block that was written, and the answer is that of an undisturbed run."""
    path, table = tmp_path / "x", wide_table(is_complete=True)
    killed = start(path, 0.1)
    deadline, writes = time.monotonic() + 120, set[int]()
    while len(writes) < 6:  # the first ones make the file
        assert time.monotonic() < deadline
        assert killed.poll() is None
        time.sleep(0.01)
        if path.exists():
            writes.add(path.stat().st_mtime_ns)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    with Journal(path, IDENTITY) as journal:
        [(written,)] = journal._ask("SELECT sum(unions) FROM parts")
    output, _ = start(path, 0.0).communicate()
    counted, found = json.loads(output)
    n_unions = (table.n_columns - 1) * (table.n_columns - 2) // 2
    assert 0 < written < n_unions
    assert counted == n_unions - written  # and nothing else
    expected, _ = run(table, None)
    assert found == [[own, x, sorted(given)] for own, x, given in expected]
