"""What `import komb` costs and offers, and which layer may see which."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import komb

SOURCE = Path(komb.__file__).parent

LAYERS = (
    "errors",
    "data",
    "counts",
    "citests",
    "sessions",
    "search",
    "views",
    "results",
    "api",
    "reproduction",
    "cli",
)
"""A module imports from its own layer and from those before it.

A result prints itself through a view, so views stand before results; a view may still name the
results that it takes, for type checkers alone.
"""

FREE = {"__version__"}  # may be imported by all
AT_THE_TOP = {"__init__", "__main__"}  # may import all

HEAVY = (
    "numba",
    "scipy",
    "polars",
    "pandas",
    "matplotlib",
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
    "Comparison",
    "DiscreteNetwork",
    "DiscreteTable",
    "Explanation",
    "MarkovBlanketSelector",
    "MarkovField",
    "Member",
    "__version__",
    "algorithms",
    "blanket_path",
    "boolean_network",
    "boolean_table",
    "compare",
    "errors",
    "example",
    "markov_blanket",
    "markov_blankets",
    "plot_blankets",
    "read_bif",
    "read_table",
    "report",
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
        assert loaded_after(code) == "['numpy']"

    def test_help_needs_no_engine(self) -> None:
        loaded = loaded_after("import komb.cli")
        assert not {"numba", "scipy", "polars", "numpy"} & set(ast.literal_eval(loaded))

    def test_it_is_quick(self) -> None:
        best = min(self._seconds() for _ in range(3))
        assert best < 0.3

    @staticmethod
    def _seconds() -> float:
        began = time.perf_counter()
        run_python("import komb")
        return time.perf_counter() - began


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


def imports_of(file: Path, *, with_types: bool = True) -> Iterator[str]:
    """Every module that a file imports, wherever in the file that is."""
    tree = ast.parse(file.read_text())
    skipped = set() if with_types else set(map(id, nodes_for_types(tree)))
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports are absolute"
            assert node.module is not None
            if node.module == "komb":
                yield from (f"komb.{alias.name}" for alias in node.names)
            else:
                yield node.module


def nodes_for_types(tree: ast.Module) -> Iterator[ast.AST]:
    """Everything under ``if TYPE_CHECKING:``, which never runs."""
    for node in tree.body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for statement in node.body:
                yield from ast.walk(statement)


def layer_of(parts: tuple[str, ...]) -> str:
    return parts[0].removesuffix(".py")


FILES = sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.py"))


class TestLayers:
    @pytest.mark.parametrize("file", FILES, ids=str)
    def test_a_module_imports_only_from_layers_before_its_own(self, file: Path) -> None:
        layer = layer_of(file.parts)
        if layer in FREE | AT_THE_TOP:
            return
        assert layer in LAYERS, f"give {layer!r} a place in LAYERS"
        allowed = {*LAYERS[: LAYERS.index(layer) + 1], *FREE}
        when_run = set(imports_of(SOURCE / file, with_types=False))
        for module in imports_of(SOURCE / file):
            is_shown = layer == "views" and module.startswith("komb.results.")
            if module.startswith("komb.") and not (is_shown and module not in when_run):
                assert module.split(".")[1] in allowed, f"{file} must not import {module}"

    @pytest.mark.parametrize("file", [f for f in FILES if f.parts[0] == "search"], ids=str)
    def test_a_search_never_sees_data(self, file: Path) -> None:
        for module in imports_of(SOURCE / file):
            assert not module.startswith(("komb.data", "komb.counts", "komb.sessions.data"))

    @pytest.mark.parametrize("file", FILES, ids=str)
    def test_kernels_live_in_one_place(self, file: Path) -> None:
        uses_numba = any(module.split(".")[0] == "numba" for module in imports_of(SOURCE / file))
        assert not uses_numba or file.parts[0] == "counts"

    @pytest.mark.parametrize("file", FILES, ids=str)
    def test_nothing_prints_but_the_command_line(self, file: Path) -> None:
        calls = [
            node.func.id
            for node in ast.walk(ast.parse((SOURCE / file).read_text()))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        ]
        assert "print" not in calls
