"""Waiting times outside the search: import, help, a small file, the very first call.

    python benchmarks/startup.py

Each figure is the best of several fresh processes, except the first call, which is made once with
an empty kernel cache.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import print_table

REPEATS = 5


def run(*arguments: str, cache: str | None = None) -> None:
    environment = dict(os.environ)
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = cache
    subprocess.run(
        [sys.executable, *arguments], check=True, env=environment, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL if cache is None else None,
    )  # fmt: skip


def measure(what: str, repeats: int, *arguments: str, cache: str | None = None) -> tuple[str, ...]:
    """Return a row: the least seconds on the clock, and the least of processors.

    Other processes on the machine cost the first, but hardly the second.
    """
    clock, processor = [], []
    for _ in range(repeats):
        before = _processor_seconds()
        began = time.perf_counter()
        run(*arguments, cache=cache)
        clock.append(time.perf_counter() - began)
        processor.append(_processor_seconds() - before)
    return what, f"{min(clock):.2f}", f"{min(processor):.2f}"


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "small.csv"
        code = (
            "import komb;"
            "table = komb.boolean_table('parity', 500, n_parents=2, n_irrelevant=5);"
            "rows = zip(*(table.column(name) for name in table.names));"
            "text = [','.join(table.names)] + [','.join(map(str, row)) for row in rows];"
            f"open({str(small)!r}, 'w').write('\\n'.join(text) + '\\n')"
        )
        run("-c", code)
        find = ("-m", "komb", "find", str(small), "--target", "Y")
        run(*find)  # fills the kernel cache
        rows = [
            measure("python, nothing imported", REPEATS, "-c", "pass"),
            measure("import komb", REPEATS, "-c", "import komb"),
            measure("komb --help", REPEATS, "-m", "komb", "--help"),
            measure("komb find on a small CSV", REPEATS, *find),
        ]
        cache = str(Path(folder) / "empty-cache")
        rows.append(measure("the very first komb find, compiling", 1, *find, cache=cache))
    print_table(("what", "seconds, whole process", "of processors"), rows)


if __name__ == "__main__":
    main()
