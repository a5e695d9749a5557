"""What the README shows is what happens."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from komb import cli

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def steady(text: str) -> str:
    """Leave out what differs from run to run or with the engine's inner workings."""
    text = re.sub(r" +([\d.,]+ m?s|time)\b", " TIME", text)  # with the blanks that align it
    return re.sub(r"from \d+ tables ", "from N tables ", text)


class Checker(doctest.OutputChecker):
    """Compares output but for counts of tables and times."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        """Return whether two outputs are the same."""
        return super().check_output(steady(want), steady(got), optionflags)


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")  # text is wrapped to the terminal


def test_python_examples() -> None:
    code = "".join(re.findall(r"```python\n(.*?)```", README, re.DOTALL))
    # In a doctest a blank line ends the output unless it is marked.
    marked = re.sub(r"\n\n(?!\Z)(?!>>>)", "\n<BLANKLINE>\n", code)
    examples = doctest.DocTestParser().get_doctest(marked, {}, "README", "README.md", 0)
    assert len(examples.examples) > 5
    problems: list[str] = []
    doctest.DocTestRunner(Checker()).run(examples, out=problems.append)
    assert not problems, "".join(problems)


COMMANDS = re.findall(r"^\$ komb (.*)\n((?:(?!\$ |```).*\n)*)", README, re.MULTILINE)


@pytest.mark.parametrize(("command", "expected"), COMMANDS, ids=[entry[0] for entry in COMMANDS])
def test_commands(command: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(command.split())
    printed = capsys.readouterr()
    assert steady(printed.out + printed.err) == steady(expected)
