"""Whole runs: what is asked for, what is kept, what is gone on with."""

from __future__ import annotations

import json
import math
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import komb
from komb.errors import (
    FileError,
    InputError,
    Interrupted,
    ParameterError,
    WorkerError,
)
from komb.reproduction import Record, Reproduction, reproduce, reproduction
from komb.reproduction.datasets import open_dataset
from komb.reproduction.experiments import Cell, Journal, read_rows
from komb.reproduction.reproduction import run_cell
from komb.results.comparison import Score
from tests.reproduction.files import NETWORK, write_samples


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mmhc")
    write_samples(folder, "Insurance", n_samples=1)
    return write_samples(folder)


@pytest.fixture(autouse=True)
def reports(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Reports are tested elsewhere: note what they are made of."""
    calls: list[tuple[Any, ...]] = []

    def write_report(out: Path, *arguments: Any) -> list[Path]:
        calls.append(arguments)
        return [out / "report.md"]

    monkeypatch.setattr(reproduction, "write_report", write_report)
    return calls


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[Cell]:
    """All searches that were made."""
    cells: list[Cell] = []

    def run(cell: Cell, *rest: Any) -> Record:
        cells.append(cell)
        return run_cell(cell, *rest)

    monkeypatch.setattr(reproduction, "run_cell", run)
    return cells


def small(out: Path, suites: Any = "intro", **options: Any) -> Reproduction:
    return reproduce(suites, out, **{"samples": 1, "targets": 1, "jobs": 1, **options})


def answers(records: list[Record]) -> dict[Cell, tuple[str, ...]]:
    return {record.cell: record.blanket for record in records}


def find_directly(record: Record, data: Path) -> komb.Blanket:
    """Do what the record says."""
    table = open_dataset(record.dataset, data).table(record.sample, record.n_rows)
    options: dict[str, Any] = {"test": record.test, "df": record.df, "alpha": record.alpha}
    if record.start:
        found = komb.markov_blanket(table, record.target, method=record.start, **options)
        options["start"] = found.members
    options |= {"order": record.order, "max_separator": record.max_separator}
    return komb.markov_blanket(table, record.target, method=record.method, **options)


class TestSearches:
    def test_records_are_what_a_user_would_find(self, tmp_path: Path, data: Path) -> None:
        run = small(tmp_path, "benchmark", data=data, networks=["Alarm1"], targets=2)
        assert len(run.records) == 2 * 34
        for record in run.records:
            direct = find_directly(record, data)
            assert record.blanket == direct.members
            assert record.f1 == Score.of(direct, record.truth).f1
            assert record.distance == math.hypot(1 - record.precision, 1 - record.recall)
            assert (record.tests == direct.tests) == (not record.start)  # IAMB's are counted too
            assert record.seconds > 0
            assert not record.timed_out

    def test_the_number_of_processes_changes_nothing(self, tmp_path: Path, data: Path) -> None:
        options: dict[str, Any] = {"data": data, "networks": ["Alarm1"], "samples": 2}
        one, two = (
            small(tmp_path / str(jobs), "runtime", jobs=jobs, targets=2, **options)
            for jobs in (1, 2)
        )
        assert len(one.records) == 2 * 17  # of one sample
        assert [record.cell for record in one.records] == [record.cell for record in two.records]
        assert answers(one.records) == answers(two.records)

    @pytest.mark.skipif(os.name == "nt", reason="there is no such signal there")
    def test_a_process_that_is_killed(
        self, tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reproduction, "run_cell", _run_until_killed)
        with pytest.raises(WorkerError, match=r"killed.* kept in .*resume=True") as caught:
            small(tmp_path, "benchmark", data=data, networks=["Alarm1"], targets=2, jobs=2)
        assert isinstance(caught.value.finished, list)
        kept = read_rows(tmp_path / "results.csv", Record)
        assert answers(caught.value.finished) == answers(kept) != {}


def _run_until_killed(cell: Cell, *rest: Any) -> Record:
    if cell.order == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return run_cell(cell, *rest)


class TestTimeCap:
    # an alarm that rings while garbage is collected is lost; others are not
    @pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    def test_searches_that_take_too_long(self, tmp_path: Path, data: Path) -> None:
        run = small(tmp_path, "benchmark", data=data, networks=["Alarm1"], time_cap=0.001)
        assert len(run.records) == 34  # the run went on
        capped = [record for record in run.records if record.timed_out]
        assert capped
        for record in capped:
            assert (record.precision, record.recall, record.f1, record.blanket) == (0, 0, 0, ())
            assert record.distance == math.sqrt(2)
            assert record.seconds >= 0.001

    @pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no alarms there")
    def test_an_alarm_rings_where_nothing_is_reported_and_none_is_left_behind(self) -> None:
        before, began = signal.getsignal(signal.SIGALRM), time.monotonic()
        with pytest.raises(reproduction._TimeUp), reproduction._time_limit(0.05):
            time.sleep(10)
        assert time.monotonic() < began + 5
        with reproduction._time_limit(0.02):
            assert signal.getsignal(signal.SIGALRM) is not before
        assert signal.getsignal(signal.SIGALRM) is before
        time.sleep(0.05)

    def test_reports_are_enough_in_a_thread(self) -> None:
        caught: list[bool] = []

        def search() -> None:
            try:
                with reproduction._time_limit(0.01) as check_clock:
                    check_clock("progress")
                    time.sleep(0.02)
                    check_clock("progress")
            except reproduction._TimeUp:
                caught.append(True)

        thread = threading.Thread(target=search)
        thread.start()
        thread.join()
        assert caught == [True]


class TestFiles:
    def test_separators(self, tmp_path: Path, data: Path) -> None:
        run = small(tmp_path, "separators", data=data, networks=["Alarm1"])
        n_pairs = sum(6 - len(NETWORK.blanket(name)) for name in NETWORK.names)
        assert (len(run.records), len(run.separators)) == (0, n_pairs)

    def test_the_manifest(self, tmp_path: Path, data: Path) -> None:
        small(tmp_path, ["runtime", "intro"], data=data, networks=["Alarm1"])
        manifest = json.loads((tmp_path / "manifest.json").read_text())
        assert manifest["komb"] == komb.__version__
        assert manifest["suites"] == ["intro", "runtime"]
        assert manifest["arguments"] == {
            "suites": ["intro", "runtime"], "data": str(data), "networks": ["Alarm1"],
            "samples": 1, "targets": 1, "time_cap": 1800.0, "jobs": 1,
        }  # fmt: skip
        assert {"python", "numpy", "numba"} <= manifest["versions"].keys()
        assert manifest["machine"]["cpu"]
        assert manifest["machine"]["cores"] >= 1
        assert manifest["began"] <= manifest["ended"]
        assert list(manifest["fingerprints"]) == ["Alarm1"]

    def test_the_report_gets_everything(self, tmp_path: Path, reports: list[Any]) -> None:
        run = small(tmp_path)
        assert reports == [(run.records, [], run.manifest)]
        assert [file.name for file in run.files] == ["report.md", "results.csv", "manifest.json"]
        assert read_rows(tmp_path / "results.csv", Record) == run.records


class TestResuming:
    def test_results_are_never_overwritten(self, tmp_path: Path) -> None:
        small(tmp_path)
        before = {path: path.read_bytes() for path in tmp_path.iterdir()}
        with pytest.raises(ParameterError, match=r"'out' must be a folder without results.*resume"):
            small(tmp_path)
        assert before == {path: path.read_bytes() for path in tmp_path.iterdir()}

    def test_nothing_is_done_again(self, tmp_path: Path, searches: list[Cell]) -> None:
        first = small(tmp_path, resume=True)  # of what is not there yet
        again = small(tmp_path, resume=True)
        assert len(searches) == 52
        assert again.records == first.records
        assert len(again.manifest["resumed"]) == 1

    def test_a_run_that_was_stopped(
        self, tmp_path: Path, data: Path, searches: list[Cell], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        options: dict[str, Any] = {"data": data, "networks": ["Alarm1"], "targets": 2}
        whole = small(tmp_path / "whole", "benchmark", **options)
        out = tmp_path / "cut"
        with monkeypatch.context() as patch:
            patch.setattr(Journal, "append", stop_after(20, Journal.append))
            with pytest.raises(Interrupted, match=r"kept in '.*': 20 records. Pass resume=True"):
                small(out, "benchmark", **options)
        rows = (out / "results.csv").read_bytes()
        (out / "results.csv").write_bytes(rows[:-50])  # the last one was not written to its end
        searches.clear()
        resumed = reproduce(out=out, jobs=1, resume=True)  # the rest is as it was
        assert len(searches) == 68 - 19
        assert answers(resumed.records) == answers(whole.records)

    def test_more_of_the_same(self, tmp_path: Path, searches: list[Cell]) -> None:
        few = small(tmp_path)
        reports: list[tuple[int, int]] = []
        options: dict[str, Any] = {"samples": 2, "targets": 2, "resume": True}
        many = small(tmp_path, progress=lambda *counts: reports.append(counts), **options)
        assert len(searches) == len(set(searches)) == 4 * 52
        assert answers(few.records).items() < answers(many.records).items()
        assert reports == [(done, 208) for done in range(53, 209)]  # earlier ones count as well

    def test_another_suite(self, tmp_path: Path, data: Path) -> None:
        small(tmp_path, "separators", data=data, networks=["Insurance"])
        run = small(tmp_path, "intro", resume=True)
        assert len(run.records) == 52
        assert run.manifest["suites"] == ["intro", "separators"]
        assert {record.network for record in run.separators} == {"Insurance"}  # still there
        run = small(tmp_path, "separators", networks=["Alarm1"], resume=True)
        found = list(dict.fromkeys(record.network for record in run.separators))
        assert found == ["Alarm1", "Insurance"]

    def test_other_data(self, tmp_path: Path, data: Path) -> None:
        small(tmp_path / "out", "separators", data=data, networks=["Alarm1"])
        moved = write_samples(tmp_path / "moved")
        small(tmp_path / "out", data=moved, resume=True)  # the same in another place
        other = write_samples(tmp_path / "other", network=type(NETWORK).random(6, seed=3))
        with pytest.raises(ParameterError, match=r"'data' must be what .*Alarm1 is another"):
            small(tmp_path / "out", "separators", data=other, resume=True)

    def test_another_time_cap(self, tmp_path: Path) -> None:
        small(tmp_path, time_cap=60)
        with pytest.raises(ParameterError, match=r"'time_cap' must .*Leave it out for the same"):
            small(tmp_path, time_cap=61, resume=True)
        assert small(tmp_path, resume=True).manifest["arguments"]["time_cap"] == 60

    def test_another_version(self, tmp_path: Path) -> None:
        small(tmp_path)
        manifest = json.loads((tmp_path / "manifest.json").read_text())
        (tmp_path / "manifest.json").write_text(json.dumps(manifest | {"komb": "0.0.1"}))
        with pytest.raises(ParameterError, match=r"'out' must hold a run of komb .*one of 0.0.1"):
            small(tmp_path, resume=True)

    @pytest.mark.parametrize("broken", ["{", "[]", '{"komb": "1"}', b"\xff".decode("latin-1")])
    def test_a_manifest_that_is_broken_or_gone(self, tmp_path: Path, broken: str) -> None:
        small(tmp_path)
        (tmp_path / "manifest.json").write_text(broken, "latin-1")
        with pytest.raises(FileError, match=r"manifest.json' is not the manifest of a run"):
            small(tmp_path, resume=True)
        (tmp_path / "manifest.json").unlink()
        with pytest.raises(FileError, match="has results without a manifest"):
            small(tmp_path, resume=True)


def stop_after(n_records: int, append: Callable[..., None]) -> Callable[..., None]:
    """Have Ctrl-C pressed when so many records are written."""
    left = n_records

    def append_or_stop(*arguments: Any) -> None:
        nonlocal left
        if not left:
            raise KeyboardInterrupt
        left -= 1
        append(*arguments)

    return append_or_stop


class TestBadInput:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"samples": 0}, "'samples' must be a whole number, at least 1 and at most 10; got 0"),
            ({"samples": 11}, "'samples' must be .* at most 10; got 11. Try samples=10"),
            ({"targets": 0}, "'targets' must be a whole number, at least 1; got 0"),
            ({"jobs": 0}, "'jobs' must be a whole number, at least 1; got 0"),
            ({"time_cap": 0}, "'time_cap' must be a number from 0.001; got 0"),
            ({"networks": "Alarm1"}, "'networks' must be a list of names; got 'Alarm1'"),
            ({"networks": []}, r"'networks' must be a list of names; got \[\]"),
            ({"data": "nowhere"}, "'data' must be a folder; got '.*nowhere'"),
        ],
    )
    def test_parameters(self, tmp_path: Path, options: dict[str, Any], message: str) -> None:
        with pytest.raises(InputError, match=message):
            small(tmp_path / "out", "benchmark", **options)
        assert not (tmp_path / "out").exists()

    def test_out_is_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(FileError, match=r"Cannot write .*file"):
            small(tmp_path / "file")
