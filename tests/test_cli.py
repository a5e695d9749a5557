"""The command line, run as users run it."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import komb
from komb import cli
from komb.discover import Progress
from komb.errors import Interrupted

XOR = komb.boolean_table("parity", 500, n_parents=2, n_irrelevant=2)

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line in this process; returns the exit code and both outputs."""

    def run_cli(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as caught:
            cli.main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        assert isinstance(caught.value.code, int)
        return caught.value.code, printed.out, printed.err

    return run_cli


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    return pl.DataFrame({str(name): XOR.column(name) for name in XOR.names})


@pytest.fixture
def file(tmp_path: Path, frame: pl.DataFrame) -> Path:
    path = tmp_path / "xor.csv"
    frame.write_csv(path)
    return path


@pytest.fixture(scope="module")
def _compiled() -> None:
    """Compile here what other processes shall find on disk, so that they have nothing to say."""
    komb.markov_blanket(XOR, "Y")


class TestFind:
    def test_it_prints_the_blanket(self, run: Run, file: Path) -> None:
        code, out, err = run("find", file, "--target", "Y")
        assert (code, err) == (0, "")
        expected = str(komb.markov_blanket(XOR, "Y"))
        assert out.splitlines()[:-1] == expected.splitlines()[:-1]
        assert "\x1b" not in out

    def test_an_empty_blanket_is_a_success(self, run: Run, file: Path) -> None:
        code, out, _ = run("find", file, "-t", "Y", "-k", "0")
        assert code == 0
        assert "try order 1" in out

    def test_json_alone(self, run: Run, file: Path) -> None:
        code, out, err = run("find", file, "--target", "Y", "--json")
        assert (code, err) == (0, "")
        assert komb.Blanket.from_dict(json.loads(out)) == komb.markov_blanket(XOR, "Y")

    def test_members_alone(self, run: Run, file: Path) -> None:
        assert run("find", file, "--target", "Y", "--quiet") == (0, "X1\nX2\n", "")
        assert run("find", file, "--target", "Y", "--quiet", "-k", 0) == (0, "", "")

    def test_every_option_arrives(self, run: Run, file: Path) -> None:
        options = (
            "--order 2 --max-separator 3 --alpha 0.05 --test g --df adjusted --method komb "
            "--start X1 --start X2 --include E1 --exclude E2 --json"
        )
        _, out, _ = run("find", file, "--target", "Y", *options.split())
        assert json.loads(out)["parameters"] == {
            "order": 2,
            "max_separator": 3,
            "alpha": 0.05,
            "test": "g",
            "df": "adjusted",
            "start": ["X1", "X2"],
            "include": ["E1"],
            "exclude": ["E2"],
        }
        _, out, _ = run("find", file, "--target", "Y", "-k", "2", "-l", "3", "--json")
        assert json.loads(out)["parameters"]["max_separator"] == 3

    def test_kinds_of_file(self, run: Run, tmp_path: Path, frame: pl.DataFrame) -> None:
        frame.write_csv(tmp_path / "a.tsv", separator="\t")
        (tmp_path / "a.csv.gz").write_bytes(gzip.compress(frame.write_csv().encode()))
        frame.write_parquet(tmp_path / "a.parquet")
        for name in ("a.tsv", "a.csv.gz", "a.parquet"):
            assert run("find", tmp_path / name, "-t", "Y", "-q")[1] == "X1\nX2\n"
        for delimiter in ("tab", "\\t", "\t"):
            found = run("find", tmp_path / "a.tsv", "-t", "Y", "-q", "--delimiter", delimiter)
            assert found == (0, "X1\nX2\n", "")

    def test_no_header(self, run: Run, tmp_path: Path, frame: pl.DataFrame) -> None:
        frame.write_csv(tmp_path / "a.csv", include_header=False)
        assert run("find", tmp_path / "a.csv", "-t", "V3", "-q", "--no-header")[1] == "V1\nV2\n"


class TestBadInput:
    @pytest.mark.parametrize(
        ("options", "parts"),
        [
            ("--target y", ["no column 'y'", "Did you mean 'Y'"]),
            ("", ["Missing option '--target'", "komb find --help"]),
            ("--target Y -k -1", ["'order'", "got -1"]),
            ("--target Y -k 9", ["'order'", "at most 3", "got 9"]),
            ("--target Y -k two", ["--order", "komb find --help"]),
            ("--target Y -l -1", ["'max_separator'", "got -1"]),
            ("--target Y --alpha 1", ["'alpha'", "got 1.0", "Try alpha=0.01"]),
            ("--target Y --alpha nan", ["'alpha'", "got nan"]),
            ("--target Y --test gsci", ["no test 'gsci'", "'g-sci'"]),
            ("--target Y --method kmob", ["no method 'kmob'", "'komb'"]),
            ("--target Y --df no", ["'df'", "'no'"]),
            ("--target Y --include Y", ["'include' must not name the target"]),
            ("--target Y --include E1 --exclude E1", ["'exclude'", "'include'", "['E1']"]),
            ("--target Y --start x1", ["'start'", "Did you mean 'X1'"]),
            ("--target Y --delimiter ;;", ["'delimiter' must be one character"]),
            ("--target Y --delimiter ;", ["at least 2 columns"]),
            ("--target Y --frobnicate", ["--frobnicate"]),
            ("--target Y surplus", ["surplus"]),
        ],
    )
    @pytest.mark.parametrize("json_too", [False, True])
    def test_options(
        self, run: Run, file: Path, options: str, parts: list[str], json_too: bool
    ) -> None:
        code, out, err = run("find", file, *options.split(), *["--json"] * json_too)
        assert (code, out) == (2, "")
        assert err.startswith("Error: ")
        assert err.count("\n") == 1
        assert len(err) < 400
        for part in parts:
            assert part in err

    @pytest.mark.parametrize(
        ("content", "parts"),
        [
            (b"", ["empty"]),
            (b"X,Y\n", ["no rows"]),
            (b"X,Y\n0,1\n", ["at least 2 rows"]),
            (b"Y\n0\n1\n", ["at least 2 columns"]),
            (b"X,Y\n0,1\n1,1\n", ["'Y', which is 1 in every row"]),
            (b"Y,Y\n0,1\n1,1\n", ["distinct column names", "'Y' (2 times)"]),
            (b"X,Y\n0,1\n1\n", ["line 3 has 1", "--delimiter"]),
            (b"X,Y\n0,1\nNA,0\n", ["1 in 1 column", "'X'"]),
            (b"1,1\n0,1\n1,0\n", ["'1' (2 times)", "--no-header"]),
            (b"\x00\x01\x02\xff" * 99, ["binary"]),
            (b"X,Y\n" + b"".join(b"%f,%d\n" % (i / 7, i % 2) for i in range(99)), ["'X'", "qcut"]),
        ],
    )
    def test_files(self, run: Run, tmp_path: Path, content: bytes, parts: list[str]) -> None:
        path = tmp_path / "bad.csv"
        path.write_bytes(content)
        code, out, err = run("find", path, "--target", "Y")
        assert (code, out) == (2, "")
        assert err.startswith("Error: ")
        assert err.count("\n") == 1
        for part in parts:
            assert part in err

    def test_no_such_file(self, run: Run, file: Path) -> None:
        code, out, err = run("find", file.with_name("xor.cvs"), "--target", "Y")
        assert (code, out) == (2, "")
        assert "Did you mean 'xor.csv'" in err
        assert run("find", file.parent, "--target", "Y")[0] == 2

    def test_no_such_command(self, run: Run) -> None:
        code, out, err = run("fnd")
        assert (code, out) == (2, "")
        assert "'find'" in err
        assert err.count("\n") == 1


class TestInterruption:
    def test_what_had_been_grown_is_told(
        self, run: Run, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def interrupted(*_: Any, **__: Any) -> None:
            raise Interrupted("Interrupted; the blanket of 'Y' had grown to: X1.", ("X1",))

        monkeypatch.setattr("komb.discover.markov_blanket", interrupted)
        code, out, err = run("find", file, "--target", "Y")
        assert (code, out) == (130, "")
        assert err == "Interrupted; the blanket of 'Y' had grown to: X1.\n"

    def test_before_the_search(self, run: Run, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupt(*_: Any, **__: Any) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("komb.data.files.read_frame", interrupt)
        assert run("find", file, "--target", "Y") == (130, "", "Interrupted.\n")

    @pytest.mark.skipif(os.name == "nt", reason="signals are different there")
    @pytest.mark.usefixtures("_compiled")
    def test_control_c(self, tmp_path: Path) -> None:
        table = komb.boolean_table("and", 5000, n_parents=2, n_irrelevant=150)
        path = tmp_path / "large.parquet"
        pl.DataFrame(table.codes.T, schema=[str(name) for name in table.names]).write_parquet(path)
        process = subprocess.Popen(
            [sys.executable, "-m", "komb", "find", str(path), "--target", "Y", "-k", "3"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(Path(komb.__file__).parents[1])},
        )
        time.sleep(4)  # it needs minutes
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        assert (process.returncode, out) == (130, "")
        assert err.startswith("Interrupted; the blanket of 'Y' had grown to: ")


class TestOthers:
    def test_version(self, run: Run) -> None:
        assert run("--version") == (0, f"komb {komb.__version__}\n", "")

    def test_help(self, run: Run) -> None:
        code, out, err = run("--help")
        assert (code, err) == (0, "")
        assert "find" in out
        assert "demo" in out
        assert run() == (code, out, err)
        assert "--target" in run("find", "--help")[1]

    def test_list(self, run: Run) -> None:
        code, out, err = run("list")
        assert (code, err) == (0, "")
        for name in [*komb.algorithms(), *komb.tests()]:
            assert re.search(rf"^  {name} ", out, re.MULTILINE)

    def test_demo(self, run: Run) -> None:
        code, out, err = run("demo")
        assert (code, err) == (0, "")
        assert re.search(r"^  0 .* nothing ", out, re.MULTILINE)
        assert re.search(r"^  1 .* nothing ", out, re.MULTILINE)
        assert re.search(r"^  2 .* X1, X2, X3 ", out, re.MULTILINE)
        assert "komb find your.csv --target" in out

    @pytest.mark.usefixtures("_compiled")
    def test_a_reader_may_leave_early(self, file: Path) -> None:
        command = f"{sys.executable} -m komb find {file} --target Y --json | head -n 1"
        environment = os.environ | {"PYTHONPATH": str(Path(komb.__file__).parents[1])}
        done = subprocess.run(command, shell=True, capture_output=True, text=True, env=environment)
        assert (done.stdout, done.stderr) == ("{\n", "")


class _Terminal:
    """Wraps a stream and says that it is a terminal."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def isatty(self) -> bool:
        return True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class TestTerminal:
    @pytest.fixture(autouse=True)
    def _terminal(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", "120")

    def test_results_are_drawn_by_rich(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(sys, "stdout", _Terminal(sys.stdout))
        cli._show(komb.markov_blanket(XOR, "Y"))
        printed = capsys.readouterr().out
        assert "\x1b[1m" in printed
        assert "Markov blanket of Y: X1, X2" in printed

    def test_a_bar_appears_when_it_takes_long(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(sys, "stderr", _Terminal(sys.stderr))
        monkeypatch.setattr(cli, "_PATIENCE", 0.05)
        with cli._ProgressBar(is_wanted=True) as bar:
            bar(Progress("Y", "sweep", ("X1",), 10, 1, 2))
            assert capsys.readouterr().err == ""
            time.sleep(0.06)
            bar(Progress("Y", "sweep", ("X1",), 1234, 1, 2))
        assert "1 member, 1,234 tests" in capsys.readouterr().err

    def test_no_bar_without_a_terminal_or_when_quiet(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(cli, "_PATIENCE", -1.0)
        with cli._ProgressBar(is_wanted=True) as bar:
            bar(Progress("Y", "sweep", (), 10))
        monkeypatch.setattr(sys, "stderr", _Terminal(sys.stderr))
        with cli._ProgressBar(is_wanted=False) as bar:
            bar(Progress("Y", "sweep", (), 10))
        assert capsys.readouterr().err == ""


def test_excluded_columns_of_a_file_are_not_looked_at(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "lamp.csv"
    rows = [f"{i % 2},{i // 2 % 2},{(i + i // 2) % 2},{i / 7},\n" for i in range(200)]
    path.write_text("hall,stairs,lamp,time,note\n" + "".join(rows))
    code, out, err = run(
        "find", path, "--target", "lamp", "--exclude", "time", "--exclude", "note", "-q"
    )
    assert (code, out, err) == (0, "hall\nstairs\n", "")
    code, out, err = run("find", path, "--target", "lamp")
    assert (code, out) == (2, "")
    assert "lamp.csv" in err
