"""``komb reproduce``, run as users run it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from komb import cli
from komb.reproduction import Record
from komb.reproduction.experiments import EVERYTHING, SUITES, Cell, read_rows
from tests.reproduction.files import write_samples

ROOT = Path(__file__).parents[2]
N_CELLS = 4 * 34  # of a benchmark with four targets, enough not to be over before it is stopped


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_samples(tmp_path_factory.mktemp("mmhc"))


@pytest.fixture
def _no_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out what takes longer than the searches."""
    monkeypatch.setattr("komb.reproduction.reproduction.write_report", lambda out, *_: [out])


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Run the command in this process; returns the exit code and both outputs."""
    with pytest.raises(SystemExit) as caught:
        cli.main(["reproduce", *map(str, arguments)])
    printed = capsys.readouterr()
    assert isinstance(caught.value.code, int)
    return caught.value.code, printed.out, printed.err


def start(*arguments: object) -> subprocess.Popen[str]:
    """Run the command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "komb", "reproduce", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )


def wait_for_records(out: Path, count: int) -> None:
    """Wait until so many searches are finished."""
    deadline = time.monotonic() + 180  # other programs may be busy
    while count_records(out) < count:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def count_records(out: Path) -> int:
    return len(read_rows(out / "results.csv", Record))


def cells(out: Path) -> set[Cell]:
    return {record.cell for record in read_rows(out / "results.csv", Record)}


class TestWholeRuns:
    def test_a_slice_of_everything(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path, data: Path
    ) -> None:
        code, out, err = run(
            capsys, "intro", "benchmark", "separators", "runtime", "--out", tmp_path / "out",
            "--data", data, "--networks", "Alarm1", "--samples", 1, "--targets", 3, "--jobs", 1,
        )  # fmt: skip
        assert (code, err) == (0, "")
        assert out.startswith("Reproduced: intro, benchmark, separators, runtime\n")
        n_cells = 2 * 3 * 26 + 3 * 34
        assert f"{n_cells} searches" in out
        assert str(tmp_path / "out") in out
        assert re.search("holds so far +from the empty set +With k=2 kOMB finds every", out)
        records = read_rows(tmp_path / "out" / "results.csv", Record)
        assert len(records) == n_cells
        assert not any(record.timed_out for record in records)
        # The network is small and the samples are large: most of each blanket must be found.
        assert mean_f1(records, "komb", order=1, bound=1) > 0.8
        assert mean_f1(records, "hiton-mb") > 0.7
        written = {path.name for path in (tmp_path / "out").iterdir()}
        assert {"report.md", "manifest.json", "results.csv", "separators.csv"} <= written

    @pytest.mark.usefixtures("_no_report")
    @pytest.mark.skipif(os.name == "nt", reason="there is no such signal there")
    def test_killed_and_gone_on_with(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path, data: Path
    ) -> None:
        what = ("benchmark", "--data", data, "--networks", "Alarm1", "--targets", 4, "--jobs", 1)
        killed = tmp_path / "killed"
        process = start(*what, "--samples", 1, "--out", killed)
        wait_for_records(killed, 20)
        process.kill()
        process.communicate()
        kept = count_records(killed)
        assert 20 <= kept < N_CELLS
        code, out, _ = run(capsys, "--out", killed, "--jobs", 2, "--resume")
        assert code == 0
        assert f"{N_CELLS} searches" in out
        assert count_records(killed) == N_CELLS  # so no cell was done twice
        assert len(cells(killed)) == N_CELLS

    @pytest.mark.usefixtures("_no_report")
    @pytest.mark.skipif(os.name == "nt", reason="signals are different there")
    def test_interrupted_and_gone_on_with(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path, data: Path
    ) -> None:
        what = ("benchmark", "--data", data, "--networks", "Alarm1", "--targets", 4, "--jobs", 2)
        process = start(*what, "--samples", 1, "--out", tmp_path)
        wait_for_records(tmp_path, 8)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        assert (process.returncode, out) == (130, "")
        last = err.splitlines()[-1]  # on a busy machine there may be a word about kernels
        assert last.startswith("Interrupted; what is finished is kept in ")
        assert last.endswith(" records. Pass --resume to continue.")
        assert json.loads((tmp_path / "manifest.json").read_text())["arguments"]["samples"] == 1
        assert run(capsys, "--out", tmp_path, "--jobs", 1, "--resume")[0] == 0
        assert len(cells(tmp_path)) == count_records(tmp_path) == N_CELLS


def mean_f1(
    records: list[Record], method: str, order: int | None = None, bound: int | None = None
) -> float:
    scores = [
        record.f1
        for record in records
        if (record.dataset, record.test) == ("Alarm1", "g-sci")
        and (record.method, record.order, record.max_separator) == (method, order, bound)
    ]
    return sum(scores) / len(scores)


class TestBadInput:
    def test_results_that_are_there_already(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path, data: Path
    ) -> None:
        what = ("separators", "--data", data, "--networks", "Alarm1", "--out", tmp_path)
        assert run(capsys, *what)[0] == 0
        code, out, err = run(capsys, *what)
        assert (code, out) == (2, "")
        assert "has those of a run that began at" in err
        assert "Pass --resume to continue it, or name another folder." in err

    def test_no_folder_named(self, capsys: pytest.CaptureFixture[str]) -> None:
        code, _, err = run(capsys, "intro")
        assert code == 2
        assert "Missing option '--out'" in err


def test_help_names_every_suite(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "--help")
    assert f"{'|'.join([*SUITES, EVERYTHING])}" in "".join(out.split())
