"""Where things are: the folders of the package, which of them may see which, and the tests."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import komb

SOURCE = Path(komb.__file__).parent
TESTS = Path(__file__).parent

LAYERS = (
    "errors",
    "data",
    "engine",
    "citests",
    "search",
    "views",
    "results",
    "describe",
    "api",
    "reproduction",
    "cli",
)
"""A module imports from its own layer and from those before it."""

UPWARDS: dict[tuple[str, str], tuple[str, ...]] = {
    ("views", "for types"): ("komb.results",),
    ("results", "for types"): ("komb.describe", "komb.api.run"),
    ("results", "in functions"): ("komb.describe", "komb.api.reopening"),
    ("describe", "for types"): ("komb.api.run",),
}
"""What else a layer may import, and where: a view shows results, and a result has a method for what
can be told about it, which loads the module that does it when it is called."""

AT_THE_TOP = {"__init__.py", "__main__.py", "errors.py", "py.typed"}
"""All that lies beside the folders; ``python -m komb`` looks for ``__main__`` there."""

SHARED_STEMS = {
    "init": "Python asks for it",
    "auto": "the automatic test and the automatic search",
    "compare": "a function and its command",
    "columns": "those of data, as they come in; and those of a table, as features are made of them",
    "encode": "into a folder, and the command that does so",
    "effects": "how they are measured and what a result says of them",
    "interactions": "a function, its command, its result and how that is drawn",
    "find": "a function and its command",
    "knowledge": "what is known beforehand, and evidence that agrees with it",
    "options": "of reading, of algorithms, of a search, and how a command has them",
    "oracle": "what a model answers, and whether data are one",
    "registry": "one of tests and one of searches",
    "report": "a function and its command; and the report of a reproduction",
    "text": "text files that are read; and what results look like as text",
    "stability": "how half-samples are searched and what a result says of them",
    "table": "a table, and the engine that answers from one",
}
"""Names of several modules, and why nobody takes one for the other."""

BUDGET = {
    "": (487, 3),
    "api": (3884, 17),
    "citests": (1141, 14),
    "cli": (1714, 13),
    "data": (9393, 46),
    "describe": (1642, 10),
    "engine": (14443, 71),
    "reproduction": (1847, 7),
    "results": (3021, 12),
    "search": (3264, 23),
    "views": (3584, 24),
}
"""Lines and files of each folder, at most; of what lies beside them under no name."""

NOT_IN_SOURCE = {"naive"}
"""Folders of tests that mirror no folder of the package: they are there for all layers."""


def files_below(folder: Path, pattern: str = "*.py") -> list[Path]:
    return sorted(path.relative_to(folder) for path in folder.rglob(pattern))


FILES = files_below(SOURCE)
TEST_FILES = files_below(TESTS)


def place_of(node: ast.AST) -> str | None:
    """Where the imports inside of a node are, if that is not where it is itself."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return "in functions"
    is_test = isinstance(node, ast.If) and isinstance(node.test, ast.Name)
    return "for types" if is_test and node.test.id == "TYPE_CHECKING" else None  # type: ignore[attr-defined]


def imported(node: ast.AST) -> Iterator[str]:
    """Every module that is imported, wherever that is."""
    for each in ast.walk(node):
        if isinstance(each, ast.Import):
            yield from (alias.name for alias in each.names)
        elif isinstance(each, ast.ImportFrom):
            assert each.level == 0, "imports are absolute"
            assert each.module is not None
            yield each.module
            yield from (f"{each.module}.{alias.name}" for alias in each.names)


@cache
def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text("utf-8"))


@cache
def imports_of(file: Path) -> set[str]:
    return set(imported(tree_of(file)))


def imports_by_place(node: ast.AST, place: str = "at once") -> Iterator[tuple[str, str]]:
    """Every module that is imported, with where: at once, in functions, or for types."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.Import | ast.ImportFrom):
            yield from ((place, module) for module in imported(each))
        else:
            yield from imports_by_place(each, place_of(each) or place)


def layer_of(module: str) -> str | None:
    """The layer that a module of komb is in; a name at the top, as the version, is in none."""
    first, second, *_ = [*module.split("."), ""]
    return second if first == "komb" and second in LAYERS else None


class TestPackage:
    def test_the_folders_are_the_layers(self) -> None:
        """Few enough to be an architecture, not a queue."""
        entries = {path.name for path in SOURCE.iterdir()} - {"__pycache__"}
        assert entries == {*AT_THE_TOP, *LAYERS} - {"errors"}
        assert len(LAYERS) <= 12

    @pytest.mark.parametrize("folder", BUDGET)
    def test_a_folder_does_not_grow(self, folder: str) -> None:
        files = [file for file in FILES if "/".join(file.parts[:-1][:1]) == folder]
        lines = sum(len((SOURCE / file).read_text("utf-8").splitlines()) for file in files)
        allowed, allowed_files = BUDGET[folder]
        message = f"{folder or 'the top'}: BUDGET only goes down: lower it, or move less in"
        assert lines <= allowed, message
        assert len(files) <= allowed_files, message

    def test_every_folder_has_a_budget(self) -> None:
        assert {"/".join(file.parts[:-1][:1]) for file in FILES} == BUDGET.keys()

    def test_a_module_imports_only_from_layers_before_its_own(self) -> None:
        upwards = []
        for file in FILES:
            layer = file.parts[0].removesuffix(".py")
            if layer not in LAYERS:
                continue
            before = {None, *LAYERS[: LAYERS.index(layer) + 1]}
            for place, module in imports_by_place(tree_of(SOURCE / file)):
                allowed = tuple(f"{each}." for each in UPWARDS.get((layer, place), ()))
                if layer_of(module) not in before and not f"{module}.".startswith(allowed):
                    upwards.append((str(file), place, module))
        assert upwards == []

    @pytest.mark.parametrize(("layer", "place"), UPWARDS)
    def test_every_exception_is_needed(self, layer: str, place: str) -> None:
        files = [SOURCE / file for file in FILES if file.parts[0] == layer]
        seen = [entry for file in files for entry in imports_by_place(tree_of(file))]
        for module in UPWARDS[layer, place]:
            assert any(where == place and name.startswith(module) for where, name in seen)

    def test_a_search_never_sees_data(self) -> None:
        hidden = ("komb.data", "komb.citests.engines", "komb.engine.table")
        searches = [file for file in FILES if file.parts[0] == "search"]
        assert not [f for f in searches for m in imports_of(SOURCE / f) if m.startswith(hidden)]

    def test_kernels_live_in_one_place(self) -> None:
        others = [file for file in FILES if file.parts[0] != "engine"]
        assert not [f for f in others for m in imports_of(SOURCE / f) if m.split(".")[0] == "numba"]

    def test_nothing_prints_but_the_command_line(self) -> None:
        assert not [
            file
            for file in FILES
            for node in ast.walk(tree_of(SOURCE / file))
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "print"
        ]

    def test_no_two_modules_have_names_that_confuse(self) -> None:
        by_stem = defaultdict(list)
        for file in FILES:
            if file.parent.name != "kernels":  # they may be named after who calls them
                by_stem[file.stem.strip("_")].append(str(file))
        shared = {stem: files for stem, files in by_stem.items() if len(files) > 1}
        assert not {stem: shared[stem] for stem in shared.keys() - SHARED_STEMS.keys()}
        assert not SHARED_STEMS.keys() - shared.keys()


class TestTests:
    def test_tests_mirror_the_package(self) -> None:
        """Every folder of tests is one of the package, and every layer has its tests."""
        folders = {path.parent for path in TEST_FILES} - {Path(), *map(Path, NOT_IN_SOURCE)}
        assert folders <= {path.parent for path in FILES}
        assert {folder.parts[0] for folder in folders} == set(LAYERS) - {"errors"}

    def test_no_test_module_imports_another(self) -> None:
        """What tests share is in modules beside them, named after what they hold."""
        modules = [(file, module) for file in TEST_FILES for module in imports_of(TESTS / file)]
        assert not [(f, m) for f, m in modules if m.split(".")[0] == "tests" and ".test_" in m]

    def test_twins_know_nothing_of_what_they_check(self) -> None:
        twins = [file for file in TEST_FILES if file.parts[0] == "naive"]
        assert not [f for f in twins for m in imports_of(TESTS / f) if m.split(".")[0] == "komb"]

    def test_what_tests_share_holds_no_test(self) -> None:
        """Pytest would not find it."""
        assert not [
            (file, node.name)
            for file in TEST_FILES
            if not file.stem.startswith("test_")
            for node in ast.walk(tree_of(TESTS / file))
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        ]
