"""What the README shows is what happens."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import polars
import pytest

import komb
from komb import cli
from tests.documentation import ROOT, check_examples

README = (ROOT / "README.md").read_text("utf-8")


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")  # text is wrapped to the terminal


def test_python_examples() -> None:
    code = "".join(re.findall(r"```python\n(.*?)```", README, re.DOTALL))
    assert check_examples(code, "README.md") >= 5


SPANS = [
    *dict.fromkeys(re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", README, flags=re.DOTALL)))
]
COMMANDS = [span for span in SPANS if re.match(r"komb (find|report|compare|encode) ", span)]
CALLS = [span for span in SPANS if re.match(r"(komb|blankets?)\.\w+(\(.*\))?$", span)]


MORE = {"zip": 7, "rs1": 3, "rs2": 2, "n": 2}  # columns that calls name, and their levels


@pytest.fixture(scope="module")
def columns() -> dict[str, Any]:
    lamp = komb.example("lamp")
    columns = {str(name): list(lamp.column(name)) for name in lamp.names}
    more = {name: [row % n for row in range(lamp.n_rows)] for name, n in MORE.items()}
    return {**columns, "Y": columns["lamp"], **more}


@pytest.mark.parametrize("command", COMMANDS)
def test_commands(
    command: str, columns: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    polars.DataFrame(columns).write_parquet("data/part.parquet")
    polars.DataFrame(columns).write_csv("data.csv")
    with pytest.raises(SystemExit) as done:
        cli.main(shlex.split(command)[1:])
    assert not done.value.code


@pytest.mark.parametrize("call", CALLS)
def test_calls(call: str, columns: dict[str, Any]) -> None:
    table = komb.table(columns)
    blankets = komb.markov_blankets(table, ["lamp", "Y"])
    known = {"komb": komb, "data": columns, "table": table, "blankets": blankets}
    try:
        eval(call, {**known, "blanket": blankets["lamp"]})
    except ImportError as error:
        assert re.search("komb.(plots|networks)", str(error))  # noqa: PT017 - extras may be there
