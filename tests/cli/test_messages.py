"""Errors on the command line speak the command line."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import komb
from komb.cli.compare import compare
from komb.cli.exits import flag_of, in_shell
from komb.cli.find import find
from komb.cli.report import report
from komb.errors import Argument, InPython, KombError, ParameterError, UnknownNameError
from komb.search.registry import all_options
from tests.conftest import Run

ROWS = [f"{i / 7:.3f},{i % 2},{'NA' if i % 9 == 0 else i % 3}" for i in range(99)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text("age,Y,first name\n" + "\n".join(ROWS) + "\n")
    return path


class TestWords:
    @pytest.mark.parametrize(
        ("part", "in_python", "expected"),
        [
            (Argument("alpha"), "'alpha'", "'--alpha'"),
            (Argument("max_separator", 1), "max_separator=1", "--max-separator 1"),
            (Argument("n_jobs", -1), "n_jobs=-1", "--jobs -1"),
            (Argument("has_header", False), "has_header=False", "--no-header"),
            (Argument("include", ["a b", "c"]), "include=['a b', 'c']",
             "--include 'a b' --include c"),
            (Argument("start", ["x"]), "start=['x']", "--start x"),
            (Argument("discretize", {"age": [1.5, 2]}), "discretize={'age': [1.5, 2]}",
             "--discretize age=1.5,2"),
            (Argument("bins", {"a": 2, "b": 3}), "bins={'a': 2, 'b': 3}", "--bins a=2 --bins b=3"),
            (Argument("memory_limit", "2 GB"), "memory_limit='2 GB'", "--memory-limit '2 GB'"),
            (Argument("KOMB_MEMORY_LIMIT"), "'KOMB_MEMORY_LIMIT'", "'KOMB_MEMORY_LIMIT'"),
            (Argument("data"), "'data'", "'DATA'"),
            (InPython("df.dropna()"), "df.dropna()", ""),
        ],
    )  # fmt: skip
    def test_parts(self, part: Any, in_python: str, expected: str) -> None:
        error = KombError(("<", part, ">"))
        assert str(error) == f"<{in_python}>"
        assert in_shell(error) == f"<{expected}>"

    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            (1.0, "1.0"),
            ("x", "'x'"),
            (["a", "b"], "'a', 'b'"),
            ([], "nothing"),
            ({"a": [1, 2]}, "a=1,2"),
        ],
    )
    def test_values(self, value: object, expected: str) -> None:
        error = ParameterError.because("order", "be otherwise", value, "Change it.")
        assert in_shell(error) == f"'--order' must be otherwise; got {expected}. Change it."

    def test_a_command_may_have_another_name_for_it(self) -> None:
        error = ParameterError.because("path", "end in .html", "x", "Rename it.")
        assert in_shell(error, {"path": "--out"}).startswith("'--out' must")

    def test_columns_with_commas_between(self) -> None:
        error = UnknownNameError.among("column", "a,b", ["a", "b"], "include")
        assert in_shell(error).endswith("repeat the option: --include a --include b.")
        other = UnknownNameError.among("column", "a,b", ["a", "b"], "target")
        assert "repeat" not in in_shell(other)


class TestFiles:
    def test_no_python(self, run: Run, file: Path) -> None:
        code, _, err = run("find", file, "-t", "Y", "--type", "strict")
        assert code == 2
        assert "--missing testwise" in err
        assert "dropna" not in err
        code, _, err = run("find", file, "-t", "Y", "--type", "strict", "--missing", "level")
        assert code == 2
        assert "--discretize quantile; or say where to cut: --discretize age=1.5,2.5." in err
        assert "{" not in err

    def test_python_has_its_own_words(self, file: Path) -> None:
        with pytest.raises(komb.errors.MissingValuesError, match=r"df = df.dropna\(\)") as caught:
            komb.read_table(file, missing="error")
        assert caught.value.parameter == "data"
        assert caught.value.value == 11
        assert str(caught.value).startswith(f"In '{file}': 'data' must have no missing values")

    def test_a_page_goes_out(self, run: Run, file: Path) -> None:
        code, _, err = run("report", file, "-t", "Y", "--out", "x.pdf")
        assert (code, "'--out' must be the name of an HTML file" in err) == (2, True)


class TestOptions:
    @pytest.mark.parametrize("command", [find, compare, report])
    def test_they_are_those_of_a_search_and_of_reading(self, command: Any) -> None:
        """One more in a signature, or one that an algorithm declares, has to be here too."""
        common = set(inspect.signature(komb.markov_blanket).parameters)
        common = common - {"data", "target", "n_jobs", "options"} | {"start"}
        reading = set(inspect.signature(komb.table).parameters) - {"data", "target"}
        expected = common | set(all_options()) | reading
        found = inspect.signature(command).parameters
        assert expected - set(found) == ({"method"} if command is compare else set())
        for name, option in all_options().items():
            assert found[name].annotation.__metadata__[0].help == option.help

    def test_help_shows_them_with_their_defaults(
        self, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("COLUMNS", "200")
        for command in ("find", "compare"):
            text = run(command, "--help")[1]
            assert all(flag_of(name) in text for name in all_options())
            for default in (
                "auto chooses, others 0.01", "3 for auto; 1 for komb", "0.05 for auto",
                "no limit for auto", "observed", "half of what is free",
            ):  # fmt: skip
                assert f"[default: ({default})]" in text
