"""How much code one default call runs through: what a reader has to know to follow it."""

from __future__ import annotations

import gc
import re
import sys
from types import FrameType
from typing import Any

import pytest

from tests.documentation import ROOT
from tests.guards import calls

BOUNDS = {"columns": (69, 30), "table": (61, 30)}
"""Modules of komb, and frames of komb on top of each other. Only go down: lower them."""


class Profile:
    """Notes which modules are run, and how deep calls go, of komb alone."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.modules: set[str] = set()
        self.depth = 0

    def __call__(self, frame: FrameType | None, event: str, _: Any) -> None:
        if event != "call" or frame is None or not self._is_ours(frame):
            return
        self.modules.add(frame.f_code.co_filename)
        depth = 0
        while frame is not None:
            depth += self._is_ours(frame)
            frame = frame.f_back
        self.depth = max(self.depth, depth)

    def _is_ours(self, frame: FrameType) -> bool:
        return frame.f_code.co_filename.startswith(self._folder)


def profile_of(data: Any) -> Profile:
    """What a default call runs, once all is imported and compiled."""
    expected = calls.find(data, "Y").members
    profile = Profile(calls.folder())
    gc.collect()
    gc.disable()  # what other tests left is given back on top of whatever runs
    sys.setprofile(profile)
    try:
        found = calls.find(data, "Y").members
    finally:
        sys.setprofile(None)
        gc.enable()
    assert found == expected == ("X1", "X2")
    return profile


@pytest.mark.parametrize("kind", BOUNDS)
def test_a_default_call_runs_few_modules_and_is_not_deep(kind: str) -> None:
    profile = profile_of(calls.small_tables()[kind])
    modules, depth = BOUNDS[kind]
    assert len(profile.modules) <= modules
    assert profile.depth <= depth


def test_the_picture_of_the_way_is_true() -> None:
    """CONTRIBUTING shows modules that a default call of raw columns runs, and most of them."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    _, _, section = text.partition("### The way of a call")
    shown = set(
        re.findall(r"\b(?:api|data|citests|search|engine|results)/\w+", section.split("```")[1])
    )
    profile = profile_of(calls.small_tables()["columns"])
    run = {name.removeprefix(calls.folder()).strip("/")[:-3] for name in profile.modules}
    assert shown <= run
    assert len(shown) >= 25
