"""Sweeps that are interrupted and taken up again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from komb.counts.threads import use_threads
from komb.data.table import DiscreteTable
from komb.errors import FileError, ParameterError
from komb.sessions import screened_sweep, sweep_counting, sweep_journal
from komb.sessions.data import DataSession
from komb.sessions.listed_tests import Listed
from komb.sessions.questions import StrongDependence
from komb.sessions.sweep_journal import SweepJournal, hash_table
from tests.counts.tables import make_table, with_missing

IDENTITY = {"table": "x", "target": "0"}


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have small sweeps screened, in many parts, each of which is written at once."""
    monkeypatch.setattr(screened_sweep, "LEAST_WORK", 1)
    monkeypatch.setattr(screened_sweep, "WORK_PER_THREAD", 1)
    monkeypatch.setattr(sweep_counting, "UNIONS_PER_CHUNK", 30)
    monkeypatch.setattr(screened_sweep, "SETS_PER_BLOCK", 4)
    monkeypatch.setattr("komb.counts.union_screen.SETS_PER_BLOCK", 4)
    monkeypatch.setattr(sweep_journal, "SECONDS_PER_BLOCK", 0.0)


def wide_table(*, is_complete: bool) -> DiscreteTable:
    kinds: list[Any] = [2, 3, "parity", 2, 3, "copy", 4, 3, 2, "parity"] * 4
    table = make_table(kinds, 600, seed=1)
    return table if is_complete else with_missing(table, [0.02] * len(kinds), seed=1)


class Stopped(Exception):  # noqa: N818 - it is no error
    """A run ends here."""


def sweep(
    table: DiscreteTable, journal: SweepJournal | None, size: int = 1, stop_after: int | None = None
) -> tuple[list[StrongDependence], int]:
    """Return what a sweep finds, and how often it reported progress."""
    n_reports = 0

    def report(done: int, total: int) -> None:
        nonlocal n_reports
        n_reports += 1
        if n_reports == stop_after:
            raise Stopped

    session = DataSession(table, "auto", alpha=0.05, journal=journal)
    pool = frozenset(range(1, table.n_columns))
    found = session.strong_dependences(0, pool, pool, size, 4.0, on_progress=report)
    return found, n_reports


@pytest.mark.parametrize("is_complete", [True, False])
@pytest.mark.parametrize("threads", [1, 2])
def test_any_number_of_interruptions_changes_nothing(
    tmp_path: Path, is_complete: bool, threads: int
) -> None:
    table = wide_table(is_complete=is_complete)
    expected, n_parts = sweep(table, None)
    assert expected
    assert n_parts > 10
    with use_threads(threads):
        for _ in range(4):
            with SweepJournal(tmp_path / "x", IDENTITY) as journal, pytest.raises(Stopped):
                sweep(table, journal, stop_after=n_parts // 2)
        with SweepJournal(tmp_path / "x", IDENTITY) as journal:
            found, _ = sweep(table, journal)
    assert found == expected


def test_what_is_done_is_not_counted_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = wide_table(is_complete=True)
    with SweepJournal(tmp_path / "x", IDENTITY) as journal:
        expected = sweep(table, journal)

    def refuse(*_: object) -> None:
        raise AssertionError("counted again")

    monkeypatch.setattr("komb.counts.union_screen.UnionScreen.screen", refuse)
    with SweepJournal(tmp_path / "x", IDENTITY) as journal:
        assert sweep(table, journal)[0] == expected[0]
        with pytest.raises(AssertionError, match="counted again"):
            sweep(table, journal, size=2)  # another sweep


def test_a_line_that_was_cut_off_is_counted_again(tmp_path: Path) -> None:
    table, path = wide_table(is_complete=True), tmp_path / "x"
    with SweepJournal(path, IDENTITY) as journal:
        expected = sweep(table, journal)[0]
    data = path.read_bytes()
    for n_left in (len(data) - 1, len(data) - 40, len(data) // 2, 10, 0):
        path.write_bytes(data[:n_left])
        with SweepJournal(path, IDENTITY) as journal:
            assert sweep(table, journal)[0] == expected
        assert path.read_bytes().count(b"\n") == data.count(b"\n")


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x"
    nothing = np.empty(0, dtype=np.int64)
    with SweepJournal(path, IDENTITY) as journal:
        for number in range(3):
            journal.add("pairs", number, 1, Listed(5, 5, nothing, nothing, nothing))
    lines = path.read_text().splitlines()
    for damaged in ("{}", "nonsense", lines[2].replace("unions", "onions"), lines[1], lines[3]):
        path.write_text("\n".join([*lines[:2], damaged, lines[3]]) + "\n")
        with pytest.raises(FileError, match=r"line 3 is not as written\. Delete it"):
            SweepJournal(path, IDENTITY)


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "no line end", "[1]\n", "x"])
def test_other_files_are_left_as_they_are(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(ParameterError, match="must be a journal that komb has written"):
        SweepJournal(path, IDENTITY)
    assert path.read_text() == text


def test_a_journal_of_another_search_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x"
    SweepJournal(path, {"table": "x", "target": "'a'", "alpha": "0.1"}).close()
    for other, message in [
        ({"table": "y", "target": "'a'", "alpha": "0.1"}, "of one with another table"),
        ({"table": "x", "target": "'b'", "alpha": "0.1"}, "target 'a' where this one has 'b'"),
        ({"table": "x", "target": "'a'", "alpha": "0.2"}, r"alpha 0\.1 where this one has 0\.2"),
    ]:
        with pytest.raises(ParameterError, match=message):
            SweepJournal(path, other)


def test_a_journal_of_another_format_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x"
    SweepJournal(path, IDENTITY).close()
    monkeypatch.setattr(sweep_journal, "FORMAT", 99)
    with pytest.raises(ParameterError, match="format 1 where this one has 99"):
        SweepJournal(path, IDENTITY)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"Cannot write .*no such file"):
        SweepJournal(tmp_path / "nowhere" / "x", IDENTITY)


@pytest.mark.skipif(os.name == "nt", reason="files are locked otherwise there")
def test_two_runs_cannot_share_a_journal(tmp_path: Path) -> None:
    path = tmp_path / "x"
    with (
        SweepJournal(path, IDENTITY),
        pytest.raises(ParameterError, match="not be in use by another run"),
    ):
        SweepJournal(path, IDENTITY)
    SweepJournal(path, IDENTITY).close()


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(FileError, match=r"Cannot write .*x': no space left .* Make room"):
        SweepJournal(tmp_path / "x", IDENTITY)


def test_what_is_no_file(tmp_path: Path) -> None:
    for path in (tmp_path, Path(os.devnull)):
        with pytest.raises(ParameterError, match="must be a journal that komb has written"):
            SweepJournal(path, IDENTITY)


def test_tables_have_hashes_of_their_own() -> None:
    table = DiscreteTable.from_data({"a": [0, 1, 1], "b": [1, 1, 0]})
    others = [
        DiscreteTable.from_data({"a": [0, 1, 1], "c": [1, 1, 0]}),
        DiscreteTable.from_data({"a": [0, 1, 0], "b": [1, 1, 0]}),
        DiscreteTable.from_data({"a": [0, 2, 2], "b": [1, 1, 0]}),
    ]
    assert hash_table(table) == hash_table(table.take([0, 1, 2]))
    assert len({hash_table(each) for each in (table, *others)}) == 4


# -------------------------------------------------------------------------------------------- kill

RUN = """
import json, sys, time
from pathlib import Path
from komb.counts import union_screen
from komb.sessions import screened_sweep, sweep_counting, sweep_journal
from komb.sessions.sweep_journal import SweepJournal
from tests.sessions.test_sweep_journal import IDENTITY, sweep, wide_table

path, pause = Path(sys.argv[1]), float(sys.argv[2])
screened_sweep.LEAST_WORK = screened_sweep.WORK_PER_THREAD = 1
sweep_counting.UNIONS_PER_CHUNK = 30
union_screen.SETS_PER_BLOCK = screened_sweep.SETS_PER_BLOCK = 4
sweep_journal.SECONDS_PER_BLOCK = 0.05
screen, counted = union_screen.UnionScreen.screen, []

def slowly(self, part):
    time.sleep(pause)
    counted.append(self.count(part))
    return screen(self, part)

union_screen.UnionScreen.screen = slowly
with SweepJournal(path, IDENTITY) as journal:
    found, _ = sweep(wide_table(is_complete=True), journal)
print(json.dumps([sum(counted), [[own, x, sorted(given)] for own, x, given in found]]))
"""


def run(path: Path, pause: float) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-c", RUN, str(path), str(pause)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)


def unions_in(path: Path) -> Iterator[int]:
    for line in path.read_text().splitlines()[1:]:
        yield json.loads(json.loads(line)["block"])["unions"]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes are killed otherwise there")
def test_a_killed_run_is_taken_up_again(tmp_path: Path) -> None:
    """It loses no block that was written, and the answer is that of an undisturbed run."""
    path, table = tmp_path / "x", wide_table(is_complete=True)
    killed = run(path, 0.02)
    deadline = time.monotonic() + 120
    while not path.exists() or path.read_bytes().count(b"\n") < 4:
        assert time.monotonic() < deadline
        assert killed.poll() is None
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    written = sum(unions_in(path))
    again = run(path, 0.0)
    output, _ = again.communicate()
    counted, found = json.loads(output)
    n_unions = (table.n_columns - 1) * (table.n_columns - 2) // 2
    assert 0 < written < n_unions
    assert counted == n_unions - written  # and nothing else
    expected, _ = sweep(table, None)
    assert found == [[own, x, sorted(given)] for own, x, given in expected]
