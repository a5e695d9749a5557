"""A second process compiles some kernels, and it does not matter if it fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from komb.api import warmup
from komb.counts import kernel_cache, second_compiler
from komb.counts.second_compiler import begin_compiling
from komb.counts.threads import use_threads

CALL = """
import numpy as np
from komb.counts.permutation_kernels import hash_columns
hashes = np.zeros(1, np.uint64)
hash_columns(np.array([[1, 2]], np.uint8), np.array([0]), hashes)
"""

CALL_AFTER = """
from komb.counts.second_compiler import begin_compiling
from komb.counts.threads import use_threads
with use_threads(2):
    print(begin_compiling({work!r}, ["hash_columns"]))
{call}
print(hashes[0], sum(hash_columns.stats.cache_hits.values()))
"""


def run_after(work: str, folder: Path) -> list[str]:
    """Call a kernel that another process was asked to compile by doing some work."""
    environment = os.environ | {"KOMB_CACHE_DIR": str(folder), "NUMBA_OPT": "1"}
    command = [sys.executable, "-W", "error", "-c", CALL_AFTER.format(work=work, call=CALL)]
    return subprocess.run(
        command, stdout=subprocess.PIPE, text=True, env=environment, check=True
    ).stdout.split()


def test_what_another_process_compiles_is_waited_for(tmp_path: Path) -> None:
    was_started, there, hits = run_after(CALL, tmp_path)
    assert (was_started, hits) == ("True", "1")
    was_started, here, hits = run_after(CALL, tmp_path)  # there is nothing left to compile
    assert (was_started, here, hits) == ("False", there, "1")


def test_what_another_process_fails_to_compile_is_compiled_here(tmp_path: Path) -> None:
    was_started, _, hits = run_after("raise SystemExit(1)", tmp_path)
    assert (was_started, hits) == ("True", "0")


class TestNoProcess:
    @pytest.fixture(autouse=True)
    def folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """Nothing is compiled yet, and whoever starts a process fails."""
        monkeypatch.setenv("KOMB_CACHE_DIR", str(tmp_path))
        monkeypatch.setattr(kernel_cache, "_awaited", {})

        def fail(*_: object, **__: object) -> None:
            raise OSError("no more processes")

        monkeypatch.setattr(subprocess, "Popen", fail)
        return tmp_path

    def test_on_one_processor(self) -> None:
        with use_threads(1):
            assert not begin_compiling("", ["mine"])

    def test_in_a_program_that_is_no_interpreter(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "executable", "/usr/bin/mine")
        with use_threads(2):
            assert not begin_compiling("", ["mine"])
        assert not second_compiler._is_python()

    def test_where_none_can_be_started(self) -> None:
        with use_threads(2):
            assert not begin_compiling("", ["mine"])
        assert not kernel_cache._awaited


def test_names_of_kernels_are_true() -> None:
    from komb.counts import expected_g_margin_kernels, gamma_tail_kernels

    modules = expected_g_margin_kernels, gamma_tail_kernels
    assert all(any(hasattr(module, name) for module in modules) for name in warmup._MOMENTS)
