"""The command line, run as users run it."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import polars as pl
import pytest

import komb
from komb.api import parallel
from komb.api.progress import Progress
from komb.cli import output
from komb.cli.exits import flag_of
from komb.errors import Argument, InPython, Interrupted, WorkerError
from komb.results.stability import Stability
from tests.conftest import Run

DRAWN = komb.boolean_table("parity", 500, n_parents=2, n_irrelevant=2)
XOR = komb.table({name: DRAWN.column(name) for name in DRAWN.names})


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


class TestStandardInput:
    @staticmethod
    def pipe(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    @pytest.mark.parametrize("compress", [bytes, gzip.compress], ids=["plain", "gzip"])
    def test_a_table_is_read_from_there(
        self,
        run: Run,
        file: Path,
        monkeypatch: pytest.MonkeyPatch,
        compress: Callable[[bytes], bytes],
    ) -> None:
        self.pipe(monkeypatch, compress(file.read_bytes()))
        assert run("find", "-", "--target", "Y", "--quiet") == (0, "X1\nX2\n", "")

    def test_its_name_is_in_errors(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        self.pipe(monkeypatch, b"")
        code, out, err = run("find", "-", "--target", "Y")
        assert (code, out) == (2, "")
        assert "standard input" in err

    def test_a_terminal_is_no_table(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        self.pipe(monkeypatch, b"")
        monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
        code, _, err = run("find", "-", "--target", "Y")
        assert code == 2
        assert "standard input is a terminal, not a table" in err


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

    def test_reasons_below_the_blanket(self, run: Run, file: Path) -> None:
        code, out, err = run("find", file, "-t", "Y", "--explain")
        assert (code, err) == (0, "")
        blanket, _, reasons = out.partition("\n\nMarkov blanket of Y explained")
        assert blanket.splitlines()[0] == "Markov blanket of Y: X1, X2"
        expected = str(komb.markov_blanket(XOR, "Y").explain())
        assert f"Markov blanket of Y explained{reasons}" == f"{expected}\n"

    def test_what_members_imply(self, run: Run, tmp_path: Path) -> None:
        rng = np.random.default_rng(1)
        causes = rng.normal(size=(8, 2000))
        columns = {f"cause{i}": values for i, values in enumerate(causes)}
        columns["effect"] = 0.25 * causes.sum(axis=0) + rng.normal(size=2000)
        file, rows = tmp_path / "weak.csv", zip(*columns.values(), strict=True)
        lines = [",".join(columns), *(",".join(map(str, map(float, row))) for row in rows)]
        file.write_text("\n".join(lines), "utf-8")
        expected = komb.markov_blanket(columns, "cause0").implied()
        assert expected.names
        _, out, _ = run("find", str(file), "-t", "cause0", "--implied")
        assert out.endswith(f"{expected}\n")
        _, out, _ = run("find", str(file), "-t", "cause0", "--implied", "--json")
        assert json.loads(out)["implied"].keys() == expected.keys()

    def test_reasons_in_json(self, run: Run, file: Path) -> None:
        _, out, _ = run("find", file, "-t", "Y", "--explain", "--json")
        record = json.loads(out)
        explained = komb.Explanation.from_dict(record["explanation"])
        assert explained == komb.markov_blanket(XOR, "Y").explain()
        assert komb.Blanket.from_dict(record) == komb.markov_blanket(XOR, "Y")

    def test_a_picture(self, run: Run, file: Path, tmp_path: Path) -> None:
        code, out, err = run("find", file, "-t", "Y", "-q", "--plot", tmp_path / "a.png")
        assert (code, out, err) == (0, "X1\nX2\n", "")
        assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
        code, out, err = run("find", file, "-t", "Y", "--plot", tmp_path / "a.doc")
        assert (code, out) == (2, "")
        assert "'--plot' must be the name of an image file" in err

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
            "types": "auto",
            "discretize": None,
            "missing": "testwise",
        }
        _, out, _ = run("find", file, "--target", "Y", "-k", "2", "-l", "3", "--json")
        assert json.loads(out)["parameters"]["max_separator"] == 3
        _, out, _ = run("find", file, "-t", "Y", "--level", "0.1", "--time-budget", "60", "--json")
        parameters = json.loads(out)["parameters"]
        assert (parameters["level"], parameters["time_budget"]) == (0.1, 60)

    @pytest.mark.parametrize("test", ["auto", "perm"])
    def test_stability(self, run: Run, file: Path, test: str) -> None:
        """The seed is that of the half-samples, and of the test if it draws random numbers."""
        method, seed = ("auto", None) if test == "auto" else ("komb", 7)
        asked = ("find", file, "-t", "Y", "--method", method, "--test", test, "-k", 1)
        _, out, err = run(*asked, "--stability", 4, "--seed", 7, "--json")
        assert err == ""
        blanket = komb.markov_blanket(XOR, "Y", method=method, test=test, order=1, seed=seed)
        expected = blanket.stability(4, seed=7)
        assert Stability.from_dict(json.loads(out)["stability"]) == expected
        if test == "auto":
            _, out, _ = run(*asked, "--stability", 4)
            assert "\n\nStability of the Markov blanket of Y\n" in out

    def test_options_of_the_classic_methods(self, run: Run, file: Path) -> None:
        takers = [n for n, info in komb.algorithms().items() if "max_conditioning" in info.defaults]
        for name in takers:
            found = run(
                "find", file, "-t", "Y", "--method", name, "--max-conditioning", 2, "--json"
            )
            assert json.loads(found[1])["parameters"]["max_conditioning"] == 2

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


class TestFindMany:
    def test_all_targets(self, run: Run, file: Path) -> None:
        code, out, err = run("find", file, "--all-targets")
        assert (code, err) == (0, "")
        assert out.startswith("Markov blankets of 5 targets\n")
        for target, blanket in komb.markov_blankets(XOR).items():
            members = ", ".join(map(str, blanket)) or "-"
            assert re.search(rf"^  {target} +{len(blanket)}  {members} ", out, re.MULTILINE)

    def test_some_targets(self, run: Run, file: Path) -> None:
        _, out, err = run("find", file, "-t", "Y", "--target", "X1", "--json", "-k", 2)
        assert err == ""
        expected = komb.markov_blankets(XOR, ["Y", "X1"], order=2)
        assert list(json.loads(out)) == ["Y", "X1"]
        assert dict(komb.Blankets.from_dict(json.loads(out))) == dict(expected)

    def test_names_alone(self, run: Run, file: Path) -> None:
        expected = "X1\tX2\tY\nE1\nY\tX1\tX2\n"
        targets = ("-t", "X1", "-t", "E1", "-t", "Y", "--alpha", 0.001)
        assert run("find", file, *targets, "-q") == (0, expected, "")

    def test_jobs(self, run: Run, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        given = []
        count_workers = parallel.count_workers

        def count(n_jobs: int | None, n_items: int) -> int:
            given.append((n_jobs, n_items))
            return count_workers(n_jobs, n_items)

        monkeypatch.setattr("komb.api.find.count_workers", count)
        with joblib.parallel_config(backend="threading"):
            results = [
                run("find", file, "--all-targets", "-q", *options)
                for options in ([], ["--jobs", 2], ["-j", -1])
            ]
        assert results[0] == results[1] == results[2]
        assert given == [(None, 5), (2, 5), (-1, 5)]

    def test_what_is_complete_is_printed(
        self, run: Run, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        finished = komb.markov_blankets(XOR, ["Y"])

        def lost(*_: Any, **__: Any) -> None:
            message = "A worker was killed", InPython("; see 'finished'"), "."
            remedy = "Try fewer ", Argument("n_jobs"), ", or ", Argument("n_jobs", 1), "."
            raise WorkerError(message, finished, remedy)

        monkeypatch.setattr("komb.api.find.markov_blankets", lost)
        code, out, err = run("find", file, "--all-targets", "--quiet")
        assert (code, out) == (1, "Y\tX1\tX2\n")
        assert err == "Error: A worker was killed. Try fewer '--jobs', or --jobs 1.\n"

    @pytest.mark.skipif(os.name == "nt", reason="signals are different there")
    @pytest.mark.usefixtures("_compiled")
    def test_control_c_reaches_all_processes(self, tmp_path: Path) -> None:
        """As in a terminal, where parent and workers get the signal at once."""
        path = tmp_path / "large.parquet"
        table = komb.boolean_table("and", 5000, n_parents=2, n_irrelevant=150)
        pl.DataFrame(table.codes.T, schema=[str(name) for name in table.names]).write_parquet(path)
        command = [sys.executable, "-m", "komb", "find", str(path), "--all-targets"]
        process = subprocess.Popen(
            [*command, "--jobs", "2", "-k", "3", "-q"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(Path(komb.__file__).parents[1])},
            start_new_session=True,
        )
        time.sleep(6)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)  # ends only when no worker holds the pipes
        assert (process.returncode, out) == (130, "")
        # on a busy machine it has not even begun, or has something to say about compiling
        assert err.splitlines()[-1] in ("Interrupted after 0 of 153 targets.", "Interrupted.")


class TestBadInput:
    @pytest.mark.parametrize(
        ("options", "parts"),
        [
            ("--target y", ["no column 'y'", "Did you mean 'Y'"]),
            ("", ["Missing option '--target' (or '--all-targets')", "komb find --help"]),
            ("--target Y --all-targets", ["'--target' and '--all-targets'", "Leave out one"]),
            ("--target Y --jobs 0", ["'--jobs' must be a whole number", "got 0", "--jobs -1"]),
            ("--all-targets --jobs two", ["--jobs", "komb find --help"]),
            ("--target Y --target y", ["no column 'y'", "Did you mean 'Y'"]),
            ("--target Y -k -1", ["'--order'", "got -1", "Try --order 0."]),
            ("--target Y -k 9", ["'--order'", "at most 3", "got 9", "Try --order 3."]),
            ("--target Y -k two", ["--order", "komb find --help"]),
            ("--target Y -l few", ["--max-separator", "komb find --help"]),
            ("--target Y --alpha high", ["--alpha", "komb find --help"]),
            ("--target Y -k auto", ["--order", "komb find --help"]),
            ("--target Y --stability 3", ["'--stability' must be an even number", "got 3"]),
            ("--target Y --level 0", ["'--level'", "got 0", "Try --level 0.05"]),
            ("--target Y --time-budget 0", ["'--time-budget'", "got 0", "Try --time-budget 60"]),
            ("--target Y --level 0.1 --method gs", ["'--level'", "method 'gs'", "method 'auto'."]),
            ("--target Y --df adjusted", ["'--df'", "test 'auto'", "test 'g'"]),
            ("--target Y --quiet --explain", ["'--quiet' and '--explain'"]),
            ("--target Y --quiet --implied", ["'--quiet' and '--implied'"]),
            ("--target Y --quiet --stability 4", ["'--quiet' and '--stability'"]),
            ("--target Y -l -1", ["'--max-separator'", "got -1"]),
            ("--target Y --alpha 1", ["'--alpha'", "got 1.0", "Try --alpha 0.01"]),
            ("--target Y --alpha nan", ["'--alpha'", "got nan"]),
            ("--target Y --test gsci", ["no test 'gsci'", "'g-sci'"]),
            ("--target Y --method kmob", ["no method 'kmob'", "'komb'"]),
            ("--target Y --test g --df no", ["'--df'", "'no'"]),
            ("--target Y --include Y", ["'--include' must not name the target"]),
            ("--target Y --include E1 --exclude E1", ["'--exclude'", "'--include'", "got 'E1'."]),
            ("--target Y --start x1", ["In '--start'", "Did you mean 'X1'"]),
            ("--target Y --exclude X1,X2", ["no column 'X1,X2'", "--exclude X1 --exclude X2."]),
            ("--target Y --include X1,E1", ["repeat the option: --include X1 --include E1."]),
            ("--target Y --max-conditioning 2", ["'--max-conditioning'", "method 'auto'", "got 2"]),
            ("--target Y --max-conditioning few", ["--max-conditioning"]),
            ("--target Y --delimiter ;;", ["'--delimiter' must be one character"]),
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
            (b"1,1\n0,1\n1,0\n", ["'1' (2 times)", "--no-header"]),
            (b"\x00\x01\x02\xff" * 99, ["binary"]),
            (
                b"X,Y\n" + b"".join(b"%f,%d\n" % (1e308 * i, i % 2) for i in range(9)),
                ["'X' holds 7 infinite values", "--na-value inf", "--discretize"],
            ),
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

    @pytest.mark.parametrize(
        ("content", "parts"),
        [
            (b"X,Y\n0,1\nNA,0\n", ["1 in 1 column", "'X'", "--missing level"]),
            (
                b"X,Y\n" + b"".join(b"%f,%d\n" % (i / 7, i % 2) for i in range(99)),
                ["'X'", "--type auto", "--discretize quantile"],
            ),
        ],
    )
    def test_strict_types(self, run: Run, tmp_path: Path, content: bytes, parts: list[str]) -> None:
        path = tmp_path / "unclear.csv"
        path.write_bytes(content)
        code, out, err = run("find", path, "--target", "Y", "--type", "strict")
        assert (code, out) == (2, "")
        for part in parts:
            assert part in err
        assert run("find", path, "--target", "Y")[0] == 0

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
        assert "?." not in err
        assert ".." not in err


class TestCompare:
    def test_it_prints_the_comparison(self, run: Run, file: Path) -> None:
        code, out, err = run("compare", file, "--target", "Y")
        assert (code, err) == (0, "")
        expected = komb.compare(XOR, "Y")
        assert out.split("\n  method ")[0] == str(expected).split("\n  method ")[0]
        assert "\x1b" not in out
        for name in komb.algorithms():
            assert re.search(rf"^  {name} ", out, re.MULTILINE)

    def test_json_alone(self, run: Run, file: Path) -> None:
        code, out, err = run("compare", file, "--target", "Y", "--json")
        assert (code, err) == (0, "")
        assert komb.Comparison.from_dict(json.loads(out)) == komb.compare(XOR, "Y")

    def test_csv_alone(self, run: Run, file: Path) -> None:
        code, out, err = run("compare", file, "--target", "Y", "--csv", "--truth", "X1")
        assert (code, err) == (0, "")
        rows = {row["label"]: row for row in csv.DictReader(out.splitlines())}
        assert list(rows) == list(komb.algorithms())
        assert rows["komb"]["members"] == "X1;X2"
        assert float(rows["komb"]["precision"]) == 0.5

    def test_methods_are_listed_or_repeated(self, run: Run, file: Path) -> None:
        names = list(komb.algorithms())[::-1]
        for methods in (
            ["--methods", ",".join(names)],
            ["--methods", ", ".join(names)],
            [part for name in names for part in ("--methods", name)],
        ):
            _, out, _ = run("compare", file, "-t", "Y", "--json", *methods)
            assert list(json.loads(out)["blankets"]) == names

    def test_every_option_arrives(self, run: Run, file: Path) -> None:
        options = (
            "--order 2 --max-separator 3 --alpha 0.05 --test g --df adjusted --methods komb "
            "--start X1 --start X2 --include E1 --exclude E2 --json"
        )
        _, out, _ = run("compare", file, "--target", "Y", *options.split())
        expected = komb.markov_blanket(
            XOR, "Y", method="komb", order=2, max_separator=3, alpha=0.05, test="g", df="adjusted",
            start=["X1", "X2"], include=["E1"], exclude=["E2"],
        )  # fmt: skip
        assert komb.Blanket.from_dict(json.loads(out)["blankets"]["komb"]) == expected
        _, out, _ = run("compare", file, "-t", "Y", "--max-conditioning", 2, "--json")
        for name, record in json.loads(out)["blankets"].items():
            is_taken = "max_conditioning" in komb.algorithms()[name].defaults
            assert (record["parameters"].get("max_conditioning") == 2) == is_taken

    def test_truth(self, run: Run, file: Path, tmp_path: Path) -> None:
        both = ("--truth", "X2", "--truth", "X1")
        _, out, _ = run("compare", file, "-t", "Y", "--methods", "komb", "--json", *both)
        assert json.loads(out)["truth"] == ["X1", "X2"]
        network = tmp_path / "net.bif"
        network.write_text(
            "network n { } variable X1 { type discrete [ 2 ] { 0, 1 }; }"
            "variable Y { type discrete [ 2 ] { 0, 1 }; } probability ( X1 ) { table 0.5, 0.5; }"
            "probability ( Y | X1 ) { (0) 0.9, 0.1; (1) 0.1, 0.9; }"
        )
        code, out, _ = run("compare", file, "-t", "Y", "--methods", "komb", "--truth", network)
        assert code == 0
        assert "  X1       ✓\n  X2       +\n" in out
        assert re.search(r"^  komb .* 0\.50    1\.00  0\.67$", out, re.MULTILINE)

    def test_plot(self, run: Run, file: Path, tmp_path: Path) -> None:
        picture = tmp_path / "picture.png"
        code, out, err = run("compare", file, "-t", "Y", "--plot", picture, "--csv")
        assert (code, err) == (0, "")
        assert out.startswith("label,")
        assert picture.read_bytes().startswith(b"\x89PNG")

    def test_no_header_and_delimiter(self, run: Run, tmp_path: Path, frame: pl.DataFrame) -> None:
        frame.write_csv(tmp_path / "a.csv", include_header=False, separator="|")
        options = ("--no-header", "--delimiter", "|", "--methods", "komb", "--json")
        _, out, _ = run("compare", tmp_path / "a.csv", "-t", "V3", *options)
        assert json.loads(out)["members"] == ["V1", "V2"]

    @pytest.mark.parametrize(
        ("options", "parts"),
        [
            ("", ["Missing option '--target'", "komb compare --help"]),
            ("--target y", ["no column 'y'", "Did you mean 'Y'"]),
            ("--target Y --methods kmob", ["no method 'kmob'", "'komb'"]),
            ("--target Y --methods komb,komb", ["'--methods' must name each method once"]),
            ("--target Y --methods komb,", ["no method ''"]),
            ("--target Y --alpha 1", ["'--alpha'", "got 1.0"]),
            ("--target Y --methods komb --max-conditioning 2", ["'--max-conditioning'", "komb"]),
            ("--target Y --truth x1", ["In '--truth'", "Did you mean 'X1'"]),
            ("--target Y --truth no.bif", ["no file 'no.bif'"]),
            ("--target Y --truth no.bif --truth X1", ["'--truth' must be one network or some"]),
            ("--target Y --json --csv", ["'--json' and '--csv'", "Leave out one"]),
            ("--target Y --plot a.doc", ["'--plot' must be the name of an image file", ".png"]),
            ("--target Y --plot nowhere/a.png", ["no folder 'nowhere'", "Make it first"]),
        ],
    )
    def test_bad_input(self, run: Run, file: Path, options: str, parts: list[str]) -> None:
        code, out, err = run("compare", file, *options.split())
        assert (code, out) == (2, "")
        assert err.startswith("Error: ")
        assert err.count("\n") == 1
        assert len(err) < 400
        for part in parts:
            assert part in err

    def test_without_matplotlib(
        self, run: Run, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        monkeypatch.setattr("komb.api.find.markov_blanket", lambda *_, **__: pytest.fail("ran"))
        code, out, err = run("compare", file, "-t", "Y", "--plot", "a.png")
        assert (code, out) == (2, "")
        assert 'pip install "komb[plots]"' in err

    def test_what_is_complete_is_printed_when_interrupted(
        self, run: Run, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        finished = komb.compare(XOR, "Y", methods=["komb"])

        def interrupted(*_: Any, **__: Any) -> None:
            message = "Interrupted after 1 of 2 methods", InPython("; see 'finished'"), "."
            raise Interrupted(message, finished)

        monkeypatch.setattr("komb.api.compare.compare", interrupted)
        code, out, err = run("compare", file, "--target", "Y", "--json")
        assert (code, err) == (130, "Interrupted after 1 of 2 methods.\n")
        assert komb.Comparison.from_dict(json.loads(out)) == finished


@contextmanager
def ascii_output(kind: Callable[[Any], Any] = lambda stream: stream) -> Iterator[io.BytesIO]:
    """Have standard output be one that knows ASCII only."""
    written = io.BytesIO()
    stream = io.TextIOWrapper(written, encoding="ascii", write_through=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", kind(stream))
        yield written
    stream.detach()  # or what was written would go with it


class TestPoorTerminals:
    """What cannot be shown is shown otherwise; nothing ends in a traceback."""

    @pytest.mark.parametrize("is_terminal", [False, True])
    def test_ticks(self, is_terminal: bool) -> None:
        comparison = komb.compare(XOR, "Y", methods=["komb"], truth=["X1", "E1"])
        with ascii_output(_Terminal if is_terminal else lambda stream: stream) as written:
            output.show(comparison)
        assert b"  X1       x\n  X2       +\n  E1       -\n" in written.getvalue()
        assert b"x found and true, + found but not true" in written.getvalue()

    def test_names(self) -> None:
        with ascii_output() as written:
            output.write("größe")
        assert written.getvalue() == b"gr\\xf6\\xdfe\n"

    def test_json_stays_json(self) -> None:
        with ascii_output() as written:
            output.write_json('{"größe": "✓ 🂡"}')
        assert json.loads(written.getvalue()) == {"größe": "✓ 🂡"}


class TestInterruption:
    def test_what_had_been_grown_is_told(
        self, run: Run, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def interrupted(*_: Any, **__: Any) -> None:
            raise Interrupted("Interrupted; the blanket of 'Y' had grown to: X1.", ("X1",))

        monkeypatch.setattr("komb.api.find.markov_blanket", interrupted)
        code, out, err = run("find", file, "--target", "Y")
        assert (code, out) == (130, "")
        assert err == "Interrupted; the blanket of 'Y' had grown to: X1.\n"

    @pytest.mark.parametrize("targets", [["Y"], ["Y", "X1"]])
    def test_what_half_samples_say_so_far(
        self, run: Run, file: Path, monkeypatch: pytest.MonkeyPatch, targets: list[str]
    ) -> None:
        finished = komb.markov_blanket(XOR, "Y").stability(2)

        def interrupted(*_: Any, **__: Any) -> None:
            raise Interrupted("Interrupted after 2 of 50 half-samples.", finished)

        monkeypatch.setattr(komb.Blanket, "stability", interrupted)
        asked = ("find", file, *(f"--target={name}" for name in targets), "--stability", 50)
        code, out, err = run(*asked, "--json")
        assert (code, err) == (130, "Interrupted after 2 of 50 half-samples.\n")
        record = json.loads(out) if len(targets) == 1 else json.loads(out)["Y"]
        assert Stability.from_dict(record["stability"]) == finished
        assert out.count('"stability"') == 1
        assert run(*asked)[1].count("Stability of") == 1

    def test_before_the_search(self, run: Run, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupt(*_: Any, **__: Any) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("komb.data.read.table_files.read_frame", interrupt)
        assert run("find", file, "--target", "Y") == (130, "", "Interrupted.\n")

    @pytest.mark.skipif(os.name == "nt", reason="signals are different there")
    @pytest.mark.usefixtures("_compiled")
    def test_control_c(self, tmp_path: Path) -> None:
        table = komb.boolean_table("and", 5000, n_parents=2, n_irrelevant=300)
        path = tmp_path / "large.parquet"
        pl.DataFrame(table.codes.T, schema=[str(name) for name in table.names]).write_parquet(path)
        for patience in (4, 10, 20):  # on a busy machine it takes a while to get to the search
            code, out, err = self._interrupt(path, patience)
            last = err.splitlines()[-1]  # the first may be about compiling
            if last.startswith("Interrupted; "):
                break
        assert (code, out) == (130, "")
        assert last.startswith("Interrupted; the blanket of 'Y' had grown to: ")

    @staticmethod
    def _interrupt(path: Path, patience: float) -> tuple[int, str, str]:
        """Stop a search that needs minutes."""
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "komb",
                "find",
                str(path),
                "--target",
                "Y",
                "--method",
                "komb",
                "-k",
                "3",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(Path(komb.__file__).parents[1])},
        )
        time.sleep(patience)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err


class TestOthers:
    def test_version(self, run: Run) -> None:
        assert run("--version") == (0, f"komb {komb.__version__}\n", "")

    def test_help(self, run: Run) -> None:
        code, out, err = run("--help")
        assert (code, err) == (0, "")
        for command in ("find", "compare", "methods", "tests", "demo"):
            assert f" {command} " in out
        assert run() == (code, out, err)
        assert "--target" in run("find", "--help")[1]
        assert "--truth" in run("compare", "--help")[1]

    def test_methods(self, run: Run) -> None:
        code, out, err = run("methods")
        assert (code, err) == (0, "")
        for name, info in komb.algorithms().items():
            sound = "yes" if info.is_sound else "no"
            line = rf"^  {name} +{info.year}  {info.assumes} +{sound} +{re.escape(info.citation)}$"
            assert re.search(line, out, re.MULTILINE)

    @pytest.mark.parametrize("name", komb.algorithms())
    def test_one_method(self, run: Run, name: str) -> None:
        code, out, err = run("methods", name)
        assert (code, err) == (0, "")
        info = komb.algorithms()[name]
        assert out.startswith(f"{name}: {info.summary}\n")
        for text in (info.assumes, info.guarantee, info.weakness, info.citation):
            assert text in out
        for option in info.options:
            assert flag_of(option.name) in out

    def test_no_such_method(self, run: Run) -> None:
        code, out, err = run("methods", "kmob")
        assert (code, out) == (2, "")
        assert "no method 'kmob'. Did you mean 'komb'" in err

    def test_tests(self, run: Run) -> None:
        code, out, err = run("tests")
        assert (code, err) == (0, "")
        for name, info in komb.tests().items():
            line = rf"^  {name} +{re.escape(info.summary)} +{re.escape(info.citation)}$"
            assert re.search(line, out, re.MULTILINE)

    def test_demo(self, run: Run) -> None:
        code, out, err = run("demo")
        assert (code, err) == (0, "")
        assert re.search(r"^  0 .* nothing ", out, re.MULTILINE)
        assert re.search(r"^  1 .* nothing ", out, re.MULTILINE)
        assert re.search(r"^  2 .* X1, X2, X3 ", out, re.MULTILINE)
        assert "komb find your.csv --target" in out


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
        output.show(komb.markov_blanket(XOR, "Y"))
        printed = capsys.readouterr().out
        assert "\x1b[1m" in printed
        assert "Markov blanket of Y: X1, X2" in printed

    def test_a_bar_appears_when_it_takes_long(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(sys, "stderr", _Terminal(sys.stderr))
        monkeypatch.setattr(output, "_PATIENCE", 0.05)
        with output.ProgressBar(is_wanted=True) as bar:
            bar(Progress("Y", "sweep", ("X1",), 10, 1, 2))
            assert capsys.readouterr().err == ""
            time.sleep(0.06)
            bar(Progress("Y", "sweep", ("X1",), 1234, 1, 2))
            assert "1 member, 1,234 tests" in capsys.readouterr().err
            bar.show("half-samples", 17, 34)
        assert "17 of 34" in capsys.readouterr().err

    def test_no_bar_without_a_terminal_or_when_quiet(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(output, "_PATIENCE", -1.0)
        with output.ProgressBar(is_wanted=True) as bar:
            bar(Progress("Y", "sweep", (), 10))
        monkeypatch.setattr(sys, "stderr", _Terminal(sys.stderr))
        with output.ProgressBar(is_wanted=False) as bar:
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
    code, out, err = run("find", path, "--target", "lamp", "--type", "strict")
    assert (code, out) == (2, "")
    assert "lamp.csv" in err
