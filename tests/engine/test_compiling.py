"""Kernels run in Python at first, and give the same answers as when they are compiled."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import komb
from komb.engine import compiling, inner_functions
from komb.engine.compiling import clock, compile_at_once
from komb.engine.kernels import loops
from tests.engine.tables import make_table

Patch = pytest.MonkeyPatch

FIRST_CALL = """
import sys
import komb
print(komb.markov_blanket(komb.example("lamp"), "lamp").members, "numba" in sys.modules)
"""


def tick(patch: Patch) -> None:
    """Have the time be how often it was asked for, so that all happens at the same moment."""
    ticks = count()

    def now() -> float:
        return float(next(ticks))

    patch.setattr(compiling, "time", SimpleNamespace(perf_counter=now, process_time=now))


def search(table: Any, method: str) -> Any:
    return komb.markov_blanket(table, 2, method=method, order=1, max_separator=2)


@pytest.mark.parametrize("method", ["auto", "komb"])
def test_a_search_may_be_compiled_at_any_moment(monkeypatch: Patch, method: str) -> None:
    table = make_table([2, 3, "parity", 2, 3, "copy", 2], 120, seed=3)
    with compile_at_once():
        expected = search(table, method)
    seen = set()
    tick(monkeypatch)
    for moment in (0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 100_000):
        patience = compiling._Patience()
        patience.limit = float(moment)
        monkeypatch.setattr(compiling, "_patience", patience)
        monkeypatch.setattr(loops.ask, "_compiled", None)
        found = search(table, method)
        assert found == expected
        assert found.evidence == expected.evidence
        seen.add(patience.used >= patience.limit)
    assert seen == {True, False}


def test_a_long_table_is_compiled_for_at_once(monkeypatch: Patch) -> None:
    monkeypatch.setattr(loops, "MOST_ROWS_IN_PYTHON", 100)
    monkeypatch.setattr(loops.ask, "_compiled", None)
    search(make_table([2, 2, "parity"], 101, seed=0), "komb")
    assert loops.ask._compiled is not None


def test_the_first_call_waits_for_nothing(tmp_path: Path) -> None:
    environment = os.environ | {"KOMB_CACHE_DIR": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-W", "error", "-c", FIRST_CALL]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.split() == ["('hall',", "'stairs')", "False"]
    assert done.stderr == ""
    assert not list(tmp_path.rglob("*.nbc"))


def test_there_is_more_time_if_nothing_is_on_disk(monkeypatch: Patch) -> None:
    for is_kept in (False, True):
        monkeypatch.setattr(compiling, "is_kept", lambda _, answer=is_kept: answer)
        patience = compiling._Patience()
        patience.used = compiling.SECONDS_TO_LOAD
        assert patience.is_over("ask") == is_kept
        patience.used = compiling.SECONDS_TO_WAIT
        assert patience.is_over("ask")


def test_results_leave_compiling_out(monkeypatch: Patch) -> None:
    """Also a time budget: it is for the search."""
    make = inner_functions.make_dispatcher

    def make_slowly(*arguments: Any) -> Any:
        time.sleep(1.0)
        return make(*arguments)

    monkeypatch.setattr(inner_functions, "make_dispatcher", make_slowly)
    monkeypatch.setattr(loops.ask, "_compiled", None)
    lamp, began = komb.example("lamp"), time.process_time()
    with compile_at_once():
        blanket = komb.markov_blanket(lamp, "lamp", time_budget=0.9)
    assert blanket.members == ("hall", "stairs")
    assert blanket.seconds < 1.0 + time.process_time() - began


def test_the_clock_stands_still_while_somebody_waits(monkeypatch: Patch) -> None:
    tick(monkeypatch)
    own = compiling._Clock()
    before = own()
    with own.stopped():
        with own.stopped():
            stopped = own()
        assert own() == stopped
    assert own() - before <= 3.0
    assert clock() <= clock()
