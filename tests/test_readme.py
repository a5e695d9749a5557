"""What the README shows is what happens."""

from __future__ import annotations

import re

import pytest

from tests.documentation import ROOT, check_command, check_examples

README = (ROOT / "README.md").read_text("utf-8")


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")  # text is wrapped to the terminal


def test_python_examples() -> None:
    code = "".join(re.findall(r"```python\n(.*?)```", README, re.DOTALL))
    assert check_examples(code, "README.md") >= 5


COMMANDS = re.findall(r"^\$ komb (.*)\n((?:(?!\$ |```).*\n)*)", README, re.MULTILINE)


@pytest.mark.parametrize(("command", "expected"), COMMANDS, ids=[entry[0] for entry in COMMANDS])
def test_commands(command: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    check_command(command, expected, capsys)
