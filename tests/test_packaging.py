"""What is shipped is complete, and what it stands on is written down."""

from __future__ import annotations

import importlib.util
import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = PYPROJECT["project"]
EXTRAS = PROJECT["optional-dependencies"]


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"tools_{name}", ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


lowest, licences = load("lowest"), load("licences")


def locked() -> dict[str, str]:
    lines = (ROOT / "lock.txt").read_text("utf-8").splitlines()
    pins = (line.split("==") for line in lines if not line.startswith("#"))
    return {licences.normalise(name): version for name, version in pins}


def test_the_source_distribution_has_all_that_tests_read() -> None:
    targets = PYPROJECT["tool"]["hatch"]["build"]["targets"]
    included = {entry.strip("/") for entry in targets["sdist"]["include"]}
    for needed in ("src", "tests", "docs", "examples", "tools", "conftest.py", "*.md", "lock.txt"):
        assert needed in included
    for entry in included:
        assert list(ROOT.glob(entry)), entry


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


@pytest.mark.parametrize("requirement", PROJECT["dependencies"] + EXTRAS["dev"])
def test_the_lock_file_has_every_dependency(requirement: str) -> None:
    name, _, bound = requirement.partition(">=")
    assert numbers(locked()[licences.normalise(name)]) >= numbers(bound)


def test_every_dependency_has_a_lower_bound() -> None:
    assert len(lowest.lowest(PROJECT["dependencies"])) == len(PROJECT["dependencies"])


def test_lowest_versions(capsys: pytest.CaptureFixture[str]) -> None:
    assert lowest.lowest(["numpy>=2.0", "pandas-stubs", "komb[plots]"]) == ["numpy==2.0"]
    lowest.main()
    assert "click==" in capsys.readouterr().out


def test_licences(capsys: pytest.CaptureFixture[str]) -> None:
    licences.main()
    lines = capsys.readouterr().out.splitlines()
    stated = {line.split()[0]: line.split(None, 2)[2] for line in lines}
    assert "BSD-3-Clause" in stated["numpy"]
    assert licences.NONE not in stated["polars"]


class Silent:
    """A distribution that says nothing of its licence, or too much."""

    def __init__(self, **fields: str) -> None:
        self.metadata = self
        self.fields = fields

    def get(self, name: str) -> str | None:
        return self.fields.get(name)

    def get_all(self, _: str, __: list[str]) -> list[str]:
        return ["License :: OSI Approved :: MIT License"] if "License" in self.fields else []


def test_no_licence() -> None:
    assert licences.licence(Silent()) == licences.NONE
    assert licences.licence(Silent(License="x" * 1000)) == "MIT License"


def test_the_conda_recipe_has_the_version_and_every_dependency() -> None:
    """As conda renders it: with functions that read files beside the recipe."""
    jinja2 = pytest.importorskip("jinja2")
    folder = ROOT / "tools" / "conda"
    text = jinja2.Template((folder / "meta.yaml").read_text("utf-8")).render(
        PYTHON="python",
        load_file_data=lambda path, **_: tomllib.loads((folder / path).read_text("utf-8")),
        load_file_regex=lambda path, pattern, **_: re.search(
            pattern, (folder / path).read_text("utf-8")
        ),
    )
    import komb

    assert f"version: {komb.__version__}\n" in text
    for requirement in PROJECT["dependencies"]:
        assert f"- {requirement}\n" in text


def test_the_citation_names_this_version() -> None:
    import komb

    assert f"version: {komb.__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
