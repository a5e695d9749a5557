"""Whole runs: what is asked for, what is kept, what is gone on with."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from komb import __version__
from komb.errors import FileError, InputError, Interrupted, ParameterError, UnknownNameError
from komb.reproduction import Record, Reproduction, reproduce, reproduction
from komb.reproduction.journal import Journal
from komb.reproduction.runner import Conditions, RunProgress, run_units
from komb.reproduction.summary import summarise
from tests.reproduction.files import NETWORK, write_samples


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mmhc")
    write_samples(folder, "Insurance", n_samples=1)
    return write_samples(folder)


@pytest.fixture(autouse=True)
def reports(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Reports are made elsewhere: note what they are made of."""
    calls: list[tuple[Any, ...]] = []

    def write_report(out: Path, *arguments: Any) -> list[Path]:
        calls.append(arguments)
        (out / "report.html").touch()
        return [out / "report.html"]

    monkeypatch.setattr(reproduction, "write_report", write_report)
    return calls


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many searches each call had to make."""
    counts: list[int] = []

    def count(units: Any, conditions: Conditions, *rest: Any) -> None:
        counts.append(sum(len(unit.cells) for unit in units))
        run_units(units, conditions, *rest)

    monkeypatch.setattr(reproduction, "run_units", count)
    return counts


def small(out: Path, suites: Any = "intro", **options: Any) -> Reproduction:
    return reproduce(suites, out, **{"samples": 1, "targets": 1, "jobs": 1, **options})


def answers(records: list[Record]) -> dict[Any, tuple[str, ...]]:
    return {record.key: record.blanket for record in records}


class TestFiles:
    def test_results_as_tables(self, tmp_path: Path) -> None:
        run = small(tmp_path)
        from_csv = pl.read_csv(tmp_path / "results.csv")
        from_parquet = pl.read_parquet(tmp_path / "results.parquet")
        assert from_csv.height == from_parquet.height == len(run.records) == 2 * 26
        assert from_parquet.to_dicts() == [record.to_dict() for record in run.records]
        assert from_csv["truth"].unique().to_list() == ["X2 X3 Y"]
        numbers = ["n_rows", "sample", "order", "max_separator", "f1", "tests", "seconds"]
        assert from_csv[numbers].equals(from_parquet[numbers])

    def test_separators(self, tmp_path: Path, data: Path) -> None:
        run = small(tmp_path, "separators", data=data, networks=["Alarm1"])
        n_pairs = sum(6 - len(NETWORK.blanket(name)) for name in NETWORK.names)
        assert run.records == []
        assert len(run.separators) == pl.read_csv(tmp_path / "separators.csv").height == n_pairs

    def test_the_manifest(self, tmp_path: Path, data: Path) -> None:
        small(tmp_path, ["runtime", "intro"], data=data, networks=["Alarm1"])
        manifest = json.loads((tmp_path / "manifest.json").read_text())
        assert manifest["komb"] == __version__
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
        ((records, separators, manifest, suites),) = reports
        assert (records, separators, suites) == (run.records, [], ("intro",))
        assert manifest["seconds"] >= 0
        assert run.files[0] == tmp_path / "report.html"
        assert all(file.exists() for file in run.files)

    def test_records_come_in_order(self, tmp_path: Path) -> None:
        sizes = [record.n_rows for record in small(tmp_path).records]
        assert sizes == sorted(sizes)


class TestResuming:
    def test_results_are_never_overwritten(self, tmp_path: Path) -> None:
        small(tmp_path)
        before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        with pytest.raises(ParameterError, match=r"'out' must be a folder without results.*resume"):
            small(tmp_path)
        assert before == {path: path.read_bytes() for path in before}

    def test_nothing_is_done_again(self, tmp_path: Path, searches: list[int]) -> None:
        first = small(tmp_path)
        again = small(tmp_path, resume=True)
        assert searches == [52, 0]
        assert again.records == first.records
        assert len(again.manifest["resumed"]) == 1

    def test_a_run_that_was_stopped(
        self, tmp_path: Path, data: Path, searches: list[int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        options: dict[str, Any] = {"data": data, "networks": ["Alarm1"], "targets": 2}
        whole = small(tmp_path / "whole", "benchmark", **options)
        with monkeypatch.context() as patch:
            patch.setattr(Journal, "append", stop_after(20, Journal.append))
            with pytest.raises(Interrupted, match=r"kept in '.*': 20 records. Pass resume=True"):
                small(tmp_path / "cut", "benchmark", **options)
        (part,) = (tmp_path / "cut" / "journal").iterdir()
        part.write_bytes(part.read_bytes()[:-50])  # the last one was not written to its end
        resumed = reproduce(out=tmp_path / "cut", jobs=1, resume=True)  # the rest is as it was
        assert searches == [68, 68, 68 - 19]
        assert answers(resumed.records) == answers(whole.records)

    def test_more_of_the_same(self, tmp_path: Path, searches: list[int]) -> None:
        few = small(tmp_path)
        many = small(tmp_path, samples=2, targets=2, resume=True)
        assert searches == [52, 4 * 52 - 52]
        assert answers(few.records).items() < answers(many.records).items()

    def test_another_suite(
        self, tmp_path: Path, data: Path, searches: list[int], reports: list[Any]
    ) -> None:
        small(tmp_path, "separators", data=data, networks=["Alarm1"])
        run = small(tmp_path, "intro", resume=True)
        assert searches == [0, 52]
        assert run.suites == reports[-1][3] == ("intro", "separators")
        assert {record.network for record in run.separators} == {"Alarm1"}  # still there
        run = small(tmp_path, "separators", networks=["Insurance"], resume=True)
        assert [record.network for record in run.separators][:: len(run.separators) - 1] == [
            "Alarm1",
            "Insurance",
        ]

    def test_there_need_be_nothing_to_resume(self, tmp_path: Path, searches: list[int]) -> None:
        small(tmp_path / "new", resume=True)
        assert searches == [52]

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
        edit(tmp_path, komb="0.0.1")
        with pytest.raises(ParameterError, match=r"'out' must hold a run of komb .*one of 0.0.1"):
            small(tmp_path, resume=True)

    def test_a_manifest_that_is_gone_or_broken(self, tmp_path: Path) -> None:
        small(tmp_path)
        (tmp_path / "manifest.json").write_text("{")
        with pytest.raises(FileError, match=r"manifest.json' is not the manifest of a run"):
            small(tmp_path, resume=True)
        (tmp_path / "manifest.json").unlink()
        with pytest.raises(FileError, match="has results without a manifest"):
            small(tmp_path, resume=True)


def edit(out: Path, **changes: Any) -> None:
    manifest = json.loads((out / "manifest.json").read_text())
    (out / "manifest.json").write_text(json.dumps(manifest | changes))


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
            ({"networks": []}, "'networks' must name at least one network"),
            ({"data": "nowhere"}, "'data' must be a folder; got '.*nowhere'"),
        ],
    )
    def test_parameters(self, tmp_path: Path, options: dict[str, Any], message: str) -> None:
        with pytest.raises(InputError, match=message):
            small(tmp_path / "out", "benchmark", **options)
        assert not (tmp_path / "out").exists()

    def test_names(self, tmp_path: Path, data: Path) -> None:
        with pytest.raises(UnknownNameError, match="no suite 'introduction'"):
            small(tmp_path, "introduction")
        with pytest.raises(UnknownNameError, match=r"no network 'barley'. Did you mean 'Barley'"):
            small(tmp_path, "benchmark", data=data, networks=["barley"])

    def test_a_network_without_files(self, tmp_path: Path, data: Path) -> None:
        with pytest.raises(FileError, match=r"no 'Barley_graph.txt' in"):
            small(tmp_path, "benchmark", data=data)

    def test_out_is_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(FileError, match=r"Cannot write to .*file"):
            small(tmp_path / "file")


class TestProgress:
    def test_cells_of_earlier_runs_count(self, tmp_path: Path) -> None:
        small(tmp_path)
        reports: list[RunProgress] = []
        small(tmp_path, samples=2, resume=True, progress=reports.append)
        assert reports[-1] == RunProgress(104, 104)
        assert reports[0].done >= 52


class TestHeadline:
    def test_the_best_on_each_dataset(self, tmp_path: Path) -> None:
        run = small(tmp_path, targets=4, samples=2)
        lines = str(summarise(run)).splitlines()
        assert lines[0] == "Reproduced: intro"
        assert lines[1].startswith("416 searches, ")
        assert lines[4].split()[:6] == ["ex-1", "100", "k=2", "l=1", "1.000", "gs,"]
        assert lines[-1].endswith("report.html, results.csv, results.parquet")

    # an alarm that rings while garbage is collected is lost; others are not
    @pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    def test_timeouts_are_told(self, tmp_path: Path) -> None:
        run = small(tmp_path, time_cap=0.001)
        n_capped = sum(record.timed_out for record in run.records)
        assert n_capped
        assert f"52 searches, {n_capped} of them given up at the time cap" in str(summarise(run))
