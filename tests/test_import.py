"""What `import komb` loads, and what it offers.

How long it takes is measured by ``benchmarks/startup.py``.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import komb
from komb.cli.app import COMMANDS, load

SOURCE = Path(komb.__file__).parent

MOST_MODULES = 40
"""That ``import komb`` may load, all told: 30 do today, nearly all of them Python's own."""

HEAVY = (
    "numba",
    "scipy",
    "polars",
    "pandas",
    "matplotlib",
    "jinja2",
    "typer",
    "rich",
    "networkx",
    "joblib",
    "sklearn",
    "numpy",
)

PUBLIC = [
    "Blanket",
    "BlanketPath",
    "Blankets",
    "ColumnType",
    "Comparison",
    "DiscreteNetwork",
    "DiscreteTable",
    "Explanation",
    "Interactions",
    "Knowledge",
    "MarkovBlanketSelector",
    "MarkovField",
    "Member",
    "Option",
    "TestResult",
    "__version__",
    "algorithms",
    "blanket_path",
    "boolean_network",
    "boolean_table",
    "ci_test",
    "compare",
    "encode",
    "errors",
    "example",
    "interactions",
    "markov_blanket",
    "markov_blankets",
    "read_bif",
    "read_table",
    "register_algorithm",
    "register_test",
    "report",
    "table",
    "tests",
]


def run_python(code: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(SOURCE.parent)}
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    return result.stdout.strip()


def loaded_after(code: str) -> str:
    return run_python(f"{code}\nimport sys\nprint([m for m in {HEAVY!r} if m in sys.modules])")


class TestImport:
    def test_nothing_heavy_is_loaded(self) -> None:
        assert loaded_after("import komb; dir(komb)") == "[]"

    def test_a_table_needs_no_kernels(self) -> None:
        assert "numba" not in loaded_after("import komb; komb.DiscreteTable.from_codes([[0], [1]])")

    def test_functions_can_be_looked_at_without_kernels(self) -> None:
        code = "import komb; komb.markov_blanket, komb.compare, komb.tests(), komb.algorithms()"
        assert loaded_after(code) == "['polars', 'numpy']"

    @pytest.mark.parametrize(
        ("arguments", "loaded"),
        [(["--help"], set()), (["--version"], set()), (["methods", "--help"], set()),
         (["find", "--help"], {"numpy"})],
    )  # fmt: skip
    def test_help_is_quick(self, arguments: list[str], loaded: set[str]) -> None:
        """Only the module of a command that is called is loaded, and no engine for its help."""
        call = f"try:\n    main({arguments!r})\nexcept SystemExit:\n    print()"
        last = loaded_after(f"from komb.cli import main\n{call}").splitlines()[-1]
        assert set(ast.literal_eval(last)) - {"typer", "rich", "jinja2"} <= loaded

    @pytest.mark.parametrize("name", COMMANDS)
    def test_help_says_of_commands_what_they_say_themselves(self, name: str) -> None:
        assert (load(name).__doc__ or "").splitlines()[0] == COMMANDS[name]

    def test_few_modules_are_loaded(self) -> None:
        count = "print(len(sys.modules) - before)"
        loaded = run_python(f"import sys; before = len(sys.modules); import komb; {count}")
        assert int(loaded) <= MOST_MODULES


class TestNames:
    def test_the_public_interface_is_this(self) -> None:
        assert sorted(komb.__all__) == PUBLIC
        assert dir(komb) == sorted(komb.__all__)

    @pytest.mark.parametrize("name", PUBLIC)
    def test_every_name_is_there(self, name: str) -> None:
        assert getattr(komb, name) is not None

    @pytest.mark.parametrize(
        "name", [name for name in PUBLIC if name not in ("__version__", "errors")]
    )
    def test_every_name_is_documented_with_an_example(self, name: str) -> None:
        documentation = getattr(komb, name).__doc__ or ""
        assert ">>> " in documentation

    def test_a_wrong_name_is_an_attribute_error(self) -> None:
        with pytest.raises(AttributeError, match="module 'komb' has no attribute 'markov'"):
            komb.markov  # noqa: B018

    def test_type_checkers_see_the_same_names(self) -> None:
        tree = ast.parse((SOURCE / "__init__.py").read_text())
        block = next(node for node in tree.body if isinstance(node, ast.If))
        seen = [alias.name for node in block.body for alias in node.names]  # type: ignore[attr-defined]
        assert sorted([*seen, "__version__"]) == PUBLIC
