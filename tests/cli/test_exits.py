"""Nothing that a user types or a file holds ends in a traceback, or is obeyed by a terminal."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import komb
from komb.cli.exits import exit_codes
from komb.results.export import dump_json, no_formula
from komb.views.text import neutralise, show_on_line
from tests.conftest import Run

SOURCE = Path(komb.__file__).parents[1]
ESCAPE = "\x1b[31mred"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "x.csv"
    rows = "".join(f"{i % 2},{i % 2},{i % 3}\n" for i in range(60))
    path.write_text(f"{ESCAPE},y,=1+1\n{rows}")
    return path


def in_shell(command: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(SOURCE)}
    environment.pop("KOMB_TRACEBACK", None)
    return subprocess.run(
        ["sh", "-c", command.replace("komb", f"{sys.executable} -m komb", 1)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )


class TestOutput:
    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
    @pytest.mark.parametrize("command", ["komb methods", "komb --version", "komb find --help"])
    def test_a_full_disk(self, command: str) -> None:
        done = in_shell(f"{command} > /dev/full")
        assert done.returncode == 1
        message = "Error: Cannot read or write the output: no space left on device.\n"
        assert done.stderr == message

    @pytest.mark.skipif(os.name == "nt", reason="shells of Windows close no streams")
    def test_closed_streams(self) -> None:
        assert in_shell("komb tests >&- 2>&-").returncode == 0

    def test_a_reader_that_leaves(self) -> None:
        done = in_shell("komb tests | head -n 1")
        assert done.stderr == ""


class TestUnexpected:
    @pytest.mark.parametrize(
        ("error", "message"),
        [
            (
                TypeError("no\nway"),
                r"Internal error in komb \(TypeError: no way\). Please report it",
            ),
            (MemoryError(), "Memory ran out. Take fewer rows"),
            (MemoryError("8 TiB"), r"Memory ran out \(8 TiB\)"),
            (OSError(28, "No space left", "a.png"), "Cannot read or write 'a.png': no space left."),
            (type("PanicException", (BaseException,), {})("lost"), r"\(PanicException: lost\)"),
        ],
    )
    def test_one_line(self, error: BaseException, message: str, monkeypatch: pytest.MonkeyPatch,
                      capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
        monkeypatch.delenv("KOMB_TRACEBACK", raising=False)
        monkeypatch.setattr("komb.cli.exits._give_up_output", lambda: None)
        with pytest.raises(SystemExit) as caught, exit_codes():
            raise error
        assert caught.value.code == 1
        printed = capsys.readouterr().err
        assert printed.startswith("Error: ")
        assert printed.count("\n") == 1
        assert re.search(message, printed)

    def test_a_traceback_if_wanted(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("KOMB_TRACEBACK", "1")
        with pytest.raises(TypeError, match="no"), exit_codes():
            raise TypeError("no")

    def test_other_ends_are_left_alone(self) -> None:
        with pytest.raises(GeneratorExit), exit_codes():
            raise GeneratorExit


class TestNames:
    @pytest.mark.parametrize("name", ["x" * 5_000, "a/" * 3_000, "~nobody-has-this-name/x"])
    @pytest.mark.parametrize("command", ["find", "compare"])
    def test_of_files(self, run: Run, command: str, name: str) -> None:
        code, out, err = run(command, name, "--target", "y")
        assert (code, out) == (2, "")
        assert err.startswith("Error: ")
        assert len(err) < 800

    @pytest.mark.parametrize("option", ["--plot", "--out"])
    def test_of_files_to_write(self, run: Run, table: Path, option: str) -> None:
        command = "find" if option == "--plot" else "report"
        name = table.parent / ("x" * 5_000 + (".png" if option == "--plot" else ".html"))
        code, _, err = run(command, table, "--target", "y", option, name)
        assert code in (1, 2)
        assert err.startswith("Error: ")

    def test_a_text_instead_of_a_network(self) -> None:
        with pytest.raises(komb.errors.FileError, match=r"'network network .*\.\.\.'") as caught:
            komb.read_bif("network " * 10_000)
        assert len(str(caught.value)) < 1_000

    def test_a_zero_byte(self) -> None:
        with pytest.raises(komb.errors.FileError, match="no name holds a zero byte"):
            komb.read_table("a\0b")

    def test_half_a_character(self) -> None:
        half = chr(0xD800)
        blanket = komb.markov_blanket({half: [0, 1] * 50, "y": [0, 1] * 50}, "y")
        text = blanket.to_json()
        assert komb.Blanket.from_dict(json.loads(text.encode())) == blanket
        assert dump_json(["é"], None) == '["é"]'


class TestTerminal:
    @pytest.mark.parametrize(
        "arguments",
        [
            ("find", "--quiet"),
            ("find", "--json"),
            ("find",),
            ("find", "--explain"),
            ("compare", "--methods", "iamb"),
            ("compare", "--methods", "iamb", "--csv"),
            ("compare", "--methods", "iamb", "--json"),
        ],
    )
    def test_no_command_prints_control_characters(
        self, run: Run, table: Path, arguments: tuple[str, ...]
    ) -> None:
        command, *options = arguments
        code, out, _ = run(command, table, "--target", "y", *options)
        assert code == 0
        assert "red" in out
        assert "\x1b" not in out

    def test_all_targets(self, run: Run, table: Path) -> None:
        _, out, _ = run("find", table, "--all-targets", "--quiet")
        assert "\\x1b[31mred\ty" in out
        assert "\x1b" not in out

    def test_the_report_says_the_names(self, run: Run, table: Path) -> None:
        page = table.parent / "x.html"
        code, out, _ = run(
            "report", table, "--target", "y", "--out", page, "--no-comparison", "--exclude", "=1+1"
        )
        assert code == 0
        assert "'\\x1b[31mred'" in out
        assert "\x1b" not in out
        assert "\x1b" not in page.read_text()

    def test_errors(self, run: Run, table: Path) -> None:
        code, _, err = run("find", table, "--target", "\x1b[2J")
        assert code == 2
        assert "\x1b" not in err

    def test_json_stays_json(self, run: Run, tmp_path: Path) -> None:
        name = "\x9b31m\u202e"
        path = tmp_path / "x.csv"
        path.write_text(f"{name},y\n" + "0,0\n1,1\n" * 50)
        _, out, _ = run("find", path, "--target", "y", "--json")
        assert name not in out
        assert json.loads(out)["members"] == [name]

    def test_letters_of_all_scripts_stay(self) -> None:
        text = "é 日本語 \u200cنیم\u200d\u3000 \xa0✓"
        assert neutralise(text) == text
        assert show_on_line("a\tb\r\n") == "a\\tb\\r\\n"


class TestSpreadsheets:
    @pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\tx", "\rx"])
    def test_formulas(self, text: str) -> None:
        assert no_formula(text) == f"'{text}"

    def test_comparisons(self) -> None:
        data = {"=cmd()": [0, 1] * 50, "y": [0, 1] * 50}
        comparison = komb.compare(data, "y", methods=["iamb"])
        (row,) = csv.DictReader(io.StringIO(comparison.to_csv()))
        assert row["members"] == "'=cmd()"
        assert comparison.to_frame("polars")["members"][0].to_list() == ["=cmd()"]


def test_reports_load_nothing(tmp_path: Path) -> None:
    page = komb.report({"x": [0, 1] * 50, "y": [0, 1] * 50}, "y", tmp_path / "x.html")
    head = page.html.split("</head>")[0]
    assert "default-src 'none'" in head
    assert "unsafe-inline" not in head.partition("script-src")[2].partition(";")[0]
    assert head.index("Content-Security-Policy") < head.index("<style>")
