"""Searches, one after the other or side by side, with a clock."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import komb
from komb.api import path
from komb.api.progress import Progress
from komb.errors import ParameterError
from komb.reproduction import runner
from komb.reproduction.datasets import open_dataset
from komb.reproduction.deadline import Deadline, TimeUp
from komb.reproduction.journal import Journal, Record
from komb.reproduction.paper import ALPHA
from komb.reproduction.plan import Cell, Unit, make_plan
from komb.reproduction.runner import Conditions, run_units
from komb.results.comparison import Score
from tests.reproduction.files import write_samples


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_samples(tmp_path_factory.mktemp("mmhc")))


def plan(data: str, suite: str, **cuts: int) -> list[Unit]:
    return make_plan([suite], {"Alarm1": open_dataset("Alarm1", data)}, **cuts)


def results(journal: Path) -> dict[Any, tuple[Any, ...]]:
    """Return what must not depend on how a plan was run."""
    return {
        record.key: (record.blanket, record.truth, record.f1, record.distance)
        for record in Journal(journal).records
    }


def find_directly(record: Record, data: str) -> komb.Blanket:
    """Do what the record says, in a session of its own."""
    asked = {"order": record.order, "max_separator": record.max_separator}
    options = {name: value for name, value in asked.items() if value is not None}
    return komb.markov_blanket(
        open_dataset(record.dataset, data).table(record.sample, record.n_rows), record.target,
        method=record.method, start=record.start or (), test=record.test, df=record.df,
        alpha=record.alpha, **options,  # type: ignore[arg-type]
    )  # fmt: skip


class TestResults:
    def test_blankets_are_those_of_separate_searches(self, data: str, tmp_path: Path) -> None:
        run_units(plan(data, "benchmark", samples=1, targets=2), Conditions(data, tmp_path, 60))
        records = Journal(tmp_path).records
        assert len(records) == 2 * 34
        for record in records:
            direct = find_directly(record, data)
            assert record.blanket == direct.members
            assert record.f1 == Score.of(direct, record.truth).f1
            assert record.alpha == ALPHA
            assert not record.timed_out

    def test_timings_of_the_runtime_suite_share_nothing(self, data: str, tmp_path: Path) -> None:
        run_units(plan(data, "runtime", targets=1), Conditions(data, tmp_path, 60))
        records = Journal(tmp_path).records
        assert len(records) == 17
        for record in records:
            assert record.tests == find_directly(record, data).tests
            assert record.seconds > 0

    def test_the_number_of_processes_changes_nothing(self, data: str, tmp_path: Path) -> None:
        units = plan(data, "benchmark", samples=2, targets=2)
        for jobs in (1, 2):
            run_units(units, Conditions(data, tmp_path / str(jobs), 60), jobs)
        assert results(tmp_path / "1") == results(tmp_path / "2")
        assert len(results(tmp_path / "1")) == 4 * 34
        assert len(list((tmp_path / "2").iterdir())) == 2  # one file per process

    def test_progress_counts_cells(self, data: str, tmp_path: Path) -> None:
        units = plan(data, "runtime", targets=2)
        for _ in range(2):  # what was there before is not counted
            reports: list[int] = []
            run_units(units, Conditions(data, tmp_path, 60), progress=reports.append)
            assert reports == sorted(reports)
            assert reports[-1] == 34

    def test_a_process_that_is_killed(
        self, data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        units = plan(data, "benchmark", samples=2, targets=2)
        monkeypatch.setattr(runner, "_work", _work_until_killed)
        with pytest.raises(ParameterError, match=r"of the 2 processes was killed.*resume=True"):
            run_units(units, Conditions(data, tmp_path, 60), 2)
        assert units[0].key(units[0].cells[0]) in results(tmp_path)


def _work_until_killed(unit: Unit, conditions: Conditions, parent: int) -> None:
    with Journal(conditions.journal) as journal:
        runner._run_unit(unit, conditions, journal)
    os.kill(os.getpid(), signal.SIGKILL)


class TestTimeCap:
    def test_a_search_that_takes_too_long(self, data: str, tmp_path: Path) -> None:
        run_units(plan(data, "benchmark", samples=1, targets=1), Conditions(data, tmp_path, 1e-6))
        records = Journal(tmp_path).records
        assert len(records) == 34  # the run went on
        assert all(record.timed_out for record in records)
        for record in records:
            assert (record.precision, record.recall, record.f1) == (0, 0, 0)
            assert record.distance == math.sqrt(2)
            assert record.seconds >= 1e-6
            assert record.tests >= 0

    def test_the_next_search_starts_afresh(
        self, data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (unit, *_) = plan(data, "ablation", samples=1, targets=1)
        monkeypatch.setattr(runner, "Deadline", _FirstTimesOut)
        monkeypatch.setattr(_FirstTimesOut, "n_made", 0)
        run_units([unit], Conditions(data, tmp_path, 60))
        first, second, *_ = Journal(tmp_path).records
        assert (first.timed_out, second.timed_out) == (True, False)
        assert first.tests > 0
        assert set(first.blanket) <= set(open_dataset("Alarm1", data).truth)
        direct = find_directly(second, data)
        assert (second.blanket, second.tests) == (direct.members, direct.tests)

    def test_an_alarm_rings_where_nothing_is_reported(self) -> None:
        began = time.monotonic()
        with pytest.raises(TimeUp), Deadline(0.05):
            time.sleep(10)
        assert time.monotonic() < began + 5

    def test_no_alarm_is_left_behind(self) -> None:
        before = signal.getsignal(signal.SIGALRM)
        with Deadline(0.02):
            pass
        assert signal.getsignal(signal.SIGALRM) is before
        time.sleep(0.05)

    def test_reports_are_enough_in_a_thread(self) -> None:
        caught: list[bool] = []
        thread = threading.Thread(target=lambda: caught.append(_times_out_by_report()))
        thread.start()
        thread.join()
        assert caught == [True]


def _times_out_by_report() -> bool:
    report = Progress("Y", "grow", ("X1",), 3)
    with Deadline(0.01) as deadline:
        deadline(report)
        time.sleep(0.02)
        try:
            deadline(report)
        except TimeUp:
            return deadline.latest == report
    return False


class _FirstTimesOut(Deadline):
    """Lets the first search run until it reports that something was found."""

    n_made = 0

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        _FirstTimesOut.n_made += 1
        self._is_first = _FirstTimesOut.n_made == 1

    def __call__(self, progress: Progress) -> None:
        super().__call__(progress)
        if self._is_first and progress.phase == "shrink":
            raise TimeUp


def test_only_komb_shares_a_session(
    data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[dict[str, Any]] = []

    def open_path(*arguments: Any, **options: Any) -> Any:
        opened.append(options)
        return path.open_path(*arguments, **options)

    monkeypatch.setattr(runner, "open_path", open_path)
    run_units(plan(data, "benchmark", samples=1, targets=1), Conditions(data, tmp_path, 60))
    assert [options["start"] for options in opened] == [(), "iamb"]


def test_cells_of_one_method_with_two_tests_are_kept_apart(data: str, tmp_path: Path) -> None:
    cells = tuple(
        Cell("komb", "", 1, 1, test, df) for test, df in (("g", "adjusted"), ("sci", "observed"))
    )
    (unit, *_) = plan(data, "benchmark", samples=1, targets=1)
    unit = Unit(unit.suite, unit.dataset, unit.n_rows, unit.sample, unit.target, cells)
    run_units([unit], Conditions(data, tmp_path, 60))
    for record in Journal(tmp_path).records:
        assert record.blanket == find_directly(record, data).members
