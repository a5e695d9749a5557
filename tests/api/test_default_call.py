"""How much one default call runs through and waits for: what a reader has to know to follow it."""

from __future__ import annotations

import gc
import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import komb
import komb.engine
from komb.engine.compiling import Kernel, compile_at_once
from tests.documentation import ROOT

FOLDER = str(Path(komb.__file__).parent)
TABLE = komb.boolean_table("parity", 500, n_parents=2, n_irrelevant=3)
KINDS = {"columns": {name: TABLE.column(name) for name in TABLE.names}, "table": TABLE}

BOUNDS = {"columns": (63, 21), "table": (58, 21)}
"""Modules of komb, and frames of komb on top of each other. Only go down: lower them."""

KERNELS = 14
"""Kernels in all. Only goes down: lower it."""

COMPILED = """
import komb
from komb.engine.compiling import Kernel, compile_at_once
from tests.api.test_default_call import KINDS, kernels
with compile_at_once():
    komb.markov_blanket(KINDS["columns"], "Y")
print(sum(sum(kernel.compiled.stats.cache_misses.values()) for kernel in kernels()))
"""


def kernels() -> list[Kernel]:
    """Return every kernel in memory."""
    modules = [module for name, module in sys.modules.items() if name.startswith("komb.")]
    found = {id(k): k for module in modules for k in vars(module).values() if isinstance(k, Kernel)}
    return list(found.values())


class Profile:
    """Notes which modules are run, and how deep calls go, of komb alone."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.depth = 0

    def __call__(self, frame: FrameType | None, event: str, _: Any) -> None:
        if event != "call" or frame is None or not self._is_ours(frame):
            return
        self.modules.add(frame.f_code.co_filename.removeprefix(FOLDER).strip("/")[:-3])
        depth = 0
        while frame is not None:
            depth += self._is_ours(frame)
            frame = frame.f_back
        self.depth = max(self.depth, depth)

    def _is_ours(self, frame: FrameType) -> bool:
        return frame.f_code.co_filename.startswith(FOLDER)


def profile_of(data: Any) -> Profile:
    """What a default call runs, once all is imported and compiled."""
    with compile_at_once():
        expected = komb.markov_blanket(data, "Y").members
    profile = Profile()
    gc.collect()
    gc.disable()  # what other tests left is given back on top of whatever runs
    sys.setprofile(profile)
    try:
        found = komb.markov_blanket(data, "Y").members
    finally:
        sys.setprofile(None)
        gc.enable()
    assert found == expected == ("X1", "X2")
    return profile


@pytest.mark.parametrize("kind", BOUNDS)
def test_it_runs_few_modules_and_is_not_deep(kind: str) -> None:
    profile = profile_of(KINDS[kind])
    modules, depth = BOUNDS[kind]
    assert len(profile.modules) <= modules
    assert profile.depth <= depth


def test_the_picture_of_the_way_is_true() -> None:
    """CONTRIBUTING shows modules that a default call of raw columns runs, and most of them."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    _, _, section = text.partition("### The way of a call")
    rooms = "api|data|citests|search|engine|results"
    shown = set(re.findall(rf"\b(?:{rooms})/\w+", section.split("```")[1]))
    assert shown <= profile_of(KINDS["columns"]).modules
    assert len(shown) >= 25


def test_kernels_are_few() -> None:
    for found in pkgutil.walk_packages(komb.engine.__path__, "komb.engine."):
        import_module(found.name)
    assert len(kernels()) <= KERNELS


def test_the_next_process_waits_for_no_kernel() -> None:
    run = [sys.executable, "-c", COMPILED]
    for _ in range(2):
        done = subprocess.run(run, capture_output=True, text=True, check=True, cwd=ROOT)
    assert int(done.stdout) == 0
