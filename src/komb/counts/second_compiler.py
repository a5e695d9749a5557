"""A second process that compiles some kernels while this one compiles the others.

Numba compiles one kernel at a time in a process. On a machine with more than one processor the
first search waits half as long if another process compiles what will be needed last, and both put
what they have compiled where the other finds it (:mod:`komb.counts.kernel_cache`). If the other
process fails, this one compiles everything, as it would have done anyway.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from komb.counts.kernel_cache import await_kernel, is_kept, is_to_be_kept
from komb.counts.threads import n_threads

_PATIENCE = 120.0  # seconds; then the other process hangs, or its machine is very busy


def begin_compiling(work: str, kernels: Sequence[str]) -> bool:
    """Have another process compile some kernels, unless one of them is there already."""
    if any(map(is_kept, kernels)) or n_threads() < 2 or not _is_python() or not is_to_be_kept():
        return False
    nothing = subprocess.DEVNULL
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", work], stdin=nothing, stdout=nothing, stderr=nothing
        )
    except OSError:  # no more processes, or none at all
        return False

    def wait() -> None:
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    for kernel in kernels:
        await_kernel(kernel, wait)
    return True


def _is_python() -> bool:
    """Whether this is an interpreter that can be started again, not a program made of one."""
    is_interpreter = Path(sys.executable or "").stem.lower().startswith(("python", "pypy"))
    return is_interpreter and not getattr(sys, "frozen", False)
