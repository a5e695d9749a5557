"""Kernels that many tests need, compiled before tests are dealt out to several processes.

On a machine that has no kernels yet, each of these processes would compile all of them. Codes of
one byte and of two have kernels of their own, so two processes can share the work. A kernel that is
missing here costs time, nothing else: it is compiled where it is needed.

``python -m tests.kernels uint8`` compiles the kernels for codes of one byte.
"""

from __future__ import annotations

import subprocess
import sys

from komb.engine.engine import AllSets
from komb.engine.kernel_cache import find_folders, is_kept, is_writable
from komb.search.komb import find_blanket
from komb.search.task import Task
from tests.engine.engines import on_table
from tests.engine.tables import make_table, with_missing

ROWS = {"uint8": 250, "uint16": 400}  # as many as there are levels
LAST = "shuffle_tests"


def compile_kernels() -> None:
    """Have one process for each type of codes compile, unless that was done before."""
    if is_kept(LAST) or not any(map(is_writable, find_folders())):
        return
    processes = [subprocess.Popen([sys.executable, "-m", "tests.kernels", name]) for name in ROWS]
    exit_codes = [process.wait() for process in processes]
    if any(exit_codes):
        raise RuntimeError("kernels could not be compiled")


def use_kernels(dtype: str) -> None:
    """Make use of all kernels that have a type of codes, and once of the others."""
    kinds: list[int | str] = [2, 3, "parity", 2, 3, "copy", "id"]
    complete = make_table(kinds, ROWS[dtype], seed=0)
    incomplete = with_missing(complete, [0.0, *[0.1] * 5, 0.0], seed=0)
    others = frozenset(range(len(kinds))) - {2}
    for table in (complete, incomplete):
        assert table.dtype == dtype
        for test in ("g-sci", "auto"):
            engine = on_table(table, test, alpha=0.1)
            engine.strong(2, AllSets(others - {6}, others - {6}, 1), 1.0)
            engine.outcome(2, 0, frozenset({1, 6}))
            find_blanket(engine, Task(2, others), order=1, max_separator=1)
        on_table(table, "perm").outcome(2, 0, frozenset({1}))


if __name__ == "__main__":
    use_kernels(sys.argv[1])
