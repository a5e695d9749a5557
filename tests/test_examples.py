"""Examples of what no user calls: one per function, in ``tests/examples``, a file for each room.

An example sees the names of the module that its function is in.
"""

from __future__ import annotations

import doctest
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from textwrap import dedent

import pytest

FOLDER = Path(__file__).parent / "examples"


def read_examples() -> Iterator[tuple[str, str]]:
    """Yield each function, as ``module:name``, and its example."""
    for file in sorted(FOLDER.glob("*.txt")):
        name, lines = "", list[str]()
        for line in [*file.read_text("utf-8").split("\n"), "."]:
            if line and not line.startswith(" "):
                if name:
                    yield name, dedent("\n".join(lines))
                name, lines = line, []
            else:
                lines.append(line)


EXAMPLES = dict(read_examples())


@pytest.mark.parametrize("function", EXAMPLES)
def test_an_example_holds(function: str) -> None:
    module, _, name = function.partition(":")
    found: object = import_module(module)
    names = dict(vars(found))
    for part in name.split("."):
        found = getattr(found, part)  # an example of nothing fails
    test = doctest.DocTestParser().get_doctest(EXAMPLES[function], names, function, None, 0)
    assert test.examples
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    said: list[str] = []
    runner.run(test, out=said.append)
    assert not runner.failures, "".join(said)
