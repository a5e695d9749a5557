"""What is compiled: read from disk by the next process, and not more of it than today."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

FOR_DEFAULT_CALL = 0
"""Kernels that the default call on a small table waits for. Only goes down: lower it."""

KERNELS, COMPILED = 14, 13
"""Kernels in all, and for how many types they are compiled. Only go down: lower them."""

RARELY_USED = {"has_power", "list_cells", "make_features", "move", "orthonormalise"}
"""Kernels for the power of single tests, for few cells of long tables, for very many numbers, and
for a memory that outgrows its room."""


def use(which: str) -> dict[str, tuple[int, int]]:
    """Have a new process use kernels; returns how many it read and how many it compiled."""
    command = [sys.executable, "-m", "tests.guards.kernel_use", which]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {name: (read, made) for name, (read, made) in json.loads(done.stdout).items()}


def test_the_default_call_waits_for_few_kernels() -> None:
    assert sum(map(sum, use("default").values())) <= FOR_DEFAULT_CALL


@pytest.mark.slow
def test_every_kernel_is_read_by_the_next_process() -> None:
    use("all")
    uses = use("all")
    assert not [name for name, (_, made) in uses.items() if made]
    assert {name for name, (read, _) in uses.items() if not read} <= RARELY_USED
    assert len(uses) <= KERNELS
    assert sum(read for read, _ in uses.values()) <= COMPILED
