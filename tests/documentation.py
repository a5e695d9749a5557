"""Examples in the documentation: how they are read, and how their output is compared."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from komb import cli

ROOT = Path(__file__).parents[1]


def steady(text: str) -> str:
    """Leave out what differs from run to run or with the engine's inner workings."""
    text = re.sub(r"(?: +|(?<=\())([\d.,]+ m?s|time)\b", " TIME", text)  # with blanks that align it
    return re.sub(r"from \d+ contingency tables", "from N contingency tables", text)


class Checker(doctest.OutputChecker):
    """Compares output but for counts of tables and times."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        """Return whether two outputs are the same."""
        return super().check_output(steady(want), steady(got), optionflags)


def check_examples(code: str, page: str) -> int:
    """Run the examples of a page, compare what they print, and return how many there are."""
    # In a doctest a blank line ends the output unless it is marked.
    marked = re.sub(r"\n\n(?!\Z)(?!>>>)", "\n<BLANKLINE>\n", code)
    examples = doctest.DocTestParser().get_doctest(marked, {}, page, page, 0)
    problems: list[str] = []
    runner = doctest.DocTestRunner(Checker(), optionflags=doctest.ELLIPSIS)
    runner.run(examples, out=problems.append)
    assert not problems, "".join(problems)
    return len(examples.examples)


def check_command(command: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Run a command as it is typed after ``komb``, and compare what it prints."""
    with pytest.raises(SystemExit):
        cli.main(command.split())
    printed = capsys.readouterr()
    assert steady(printed.out + printed.err) == steady(expected), command
