"""Waiting times outside the search: import, help, a small file, the very first call.

    python benchmarks/startup.py

Each figure is the best of several fresh processes, except the first call, which is made once with
an empty kernel cache.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import best_of, print_table

REPEATS = 5


def run(*arguments: str, cache: str | None = None) -> None:
    environment = dict(os.environ)
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = cache
    subprocess.run(
        [sys.executable, *arguments], check=True, env=environment, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL if cache is None else None,
    )  # fmt: skip


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
            ("python, nothing imported", f"{best_of(REPEATS, lambda: run('-c', 'pass')):.2f}"),
            ("import komb", f"{best_of(REPEATS, lambda: run('-c', 'import komb')):.2f}"),
            ("komb --help", f"{best_of(REPEATS, lambda: run('-m', 'komb', '--help')):.2f}"),
            ("komb find on a small CSV", f"{best_of(REPEATS, lambda: run(*find)):.2f}"),
        ]
        cache = str(Path(folder) / "empty-cache")
        started = time.perf_counter()
        run(*find, cache=cache)
        rows.append(("the very first komb find, compiling", f"{time.perf_counter() - started:.1f}"))
    print_table(("what", "seconds, whole process"), rows)


if __name__ == "__main__":
    main()
