"""Tables on disk: time and memory to encode and search them, beside the same in memory.

    python benchmarks/large_tables.py reach [--rows 100000000] [--folder /tmp]
    python benchmarks/large_tables.py ratio [--rows 3000000] [--folder /tmp]
    python benchmarks/large_tables.py cluster [--rows 30000000] [--folder /tmp]

``reach``: Parquet files of 20 columns with 2 to 8 levels are drawn and written, encoded, and one
target is searched with the default call within 2 GB; each step is a process of its own, of which
time, processor time and peak memory are shown. ``ratio``: the same search of a table on disk that
may take a tenth of the table's size, and of the same table in memory, in one process, alternating;
processor time, best of three. ``cluster``: the same search of a table on disk by two threads and by
a Dask cluster of two worker processes here, alternating; wall-clock time, best of two. Files are
deleted afterwards.

Every column depends on two before it, one pair by an exclusive or.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from common import print_table

N_COLUMNS = 20
ROWS_PER_FILE = 5_000_000
TARGET = "v12"
KEPT = 0.4  # share of the rows in which a column follows those before it


def draw_columns(rng: np.random.Generator, n_rows: int) -> dict[str, np.ndarray]:
    """Draw rows of a network with two parents a column."""
    plan = np.random.default_rng(7)
    columns: list[np.ndarray] = []
    for place in range(N_COLUMNS):
        levels = int(plan.integers(2, 9))
        values = rng.integers(0, levels, n_rows, dtype=np.uint8)
        if place > 1:
            first, second = plan.choice(place, 2, replace=False)
            follows = rng.random(n_rows, dtype=np.float32) < KEPT
            cause = (columns[first] + columns[second]) % np.uint8(levels)
            values = np.where(follows, cause, values)
        columns.append(values)
    return {f"v{place}": values for place, values in enumerate(columns)}


def write_files(folder: Path, n_rows: int) -> None:
    """Write the table as Parquet files; a third of the columns hold text."""
    import polars as pl

    for number, start in enumerate(range(0, n_rows, ROWS_PER_FILE)):
        size = min(ROWS_PER_FILE, n_rows - start)
        drawn = draw_columns(np.random.default_rng([1, number]), size)
        words = pl.Series([f"level {i}" for i in range(9)])
        frame = pl.DataFrame(
            {
                name: values.astype(np.int64) if place % 3 else words.gather(values)
                for place, (name, values) in enumerate(drawn.items())
            }
        )
        frame.write_parquet(folder / f"part-{number:03d}.parquet")


STEPS = {
    "encode": "komb.encode({source!r}, {table!r}, overwrite=True)",
    "search": "print(json.dumps(komb.markov_blanket(komb.read_table({table!r}, "
    "memory_limit='2 GB'), {target!r}).to_dict(), default=str))",
}
MEASURED = """
import json, sys, tempfile, time, komb
with tempfile.TemporaryDirectory() as folder:  # have kernels compiled before
    small = komb.encode(komb.boolean_table('parity', 500, n_parents=2), folder + '/t.komb')
    komb.markov_blanket(komb.table(small, memory_limit=1), 'Y')
began, used = time.perf_counter(), time.process_time()
{code}
seconds = [time.perf_counter() - began, time.process_time() - used]
# not that of getrusage, which begins with what the parent had
status = open('/proc/self/status').read()
peak = int(status.split('VmHWM:')[1].split()[0]) * 1024
print(json.dumps([*seconds, peak]), file=sys.stderr)
"""


def run_step(name: str, **places: str) -> tuple[list[float], str]:
    """Run a step in a process of its own; returns what it took and what it printed."""
    code = MEASURED.format(code=STEPS[name].format(target=TARGET, **places))
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.exit(ran.stderr)
    return json.loads(ran.stderr.strip().splitlines()[-1]), ran.stdout


def measure_reach(folder: Path, n_rows: int) -> None:
    """Measure how long a table of so many rows takes."""
    source, table = str(folder / "*.parquet"), str(folder / "table.komb")
    write_files(folder, n_rows)
    rows = []
    said = ""
    for name in STEPS:
        (seconds, processor, peak), said = run_step(name, source=source, table=table)
        times = [f"{seconds:.1f} s", f"{processor:.1f} s"]
        rows.append([name, f"{n_rows:,}", *times, f"{peak / 1e9:.2f} GB"])
    print_table(["step", "rows", "time", "of processors", "peak memory"], rows)
    found = json.loads(said)
    print(f"members of {TARGET}:", found["members"])
    print(f"{found['tests']:,} tests from {found['tables']:,} tables")


def measure_ratio(folder: Path, n_rows: int) -> None:
    """Compare a search within a tenth of the table's size with one in memory."""
    import komb

    columns = draw_columns(np.random.default_rng(1), n_rows)
    table = komb.DiscreteTable.from_data(columns)
    stored = komb.encode(table, folder / "table.komb")
    within = komb.table(stored, memory_limit=table.nbytes // 10)
    calls: dict[str, Callable[[], object]] = {
        "in memory": lambda: komb.markov_blanket(table, TARGET),
        "on disk": lambda: komb.markov_blanket(within, TARGET),
    }
    answers = {name: call() for name, call in calls.items()}
    assert len({str(answer.members) for answer in answers.values()}) == 1  # type: ignore[attr-defined]
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(3):
        for name, call in calls.items():
            began = time.process_time()
            call()
            best[name] = min(best[name], time.process_time() - began)
    rows = [[name, f"{n_rows:,}", f"{seconds:.2f} s"] for name, seconds in best.items()]
    print_table(["table", "rows", "time"], rows)
    print(f"on disk / in memory: {best['on disk'] / best['in memory']:.2f}")


def measure_cluster(folder: Path, n_rows: int) -> None:
    """Compare two threads with two worker processes."""
    from importlib import import_module

    import komb

    distributed = import_module("distributed")  # its functions have no types

    columns = draw_columns(np.random.default_rng(1), n_rows)
    stored = komb.encode(komb.DiscreteTable.from_data(columns), folder / "table.komb")
    del columns
    address = "127.0.0.1:0"
    within = komb.table(stored, memory_limit=stored.nbytes // 10)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=address
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        calls: dict[str, Callable[[], komb.Blanket]] = {
            "2 threads": lambda: komb.markov_blanket(within, TARGET, n_jobs=2),
            "2 workers": lambda: komb.markov_blanket(komb.table(within, cluster=client), TARGET),
        }
        best = dict.fromkeys(calls, float("inf"))
        answers = []
        for _ in range(2):
            for name, call in calls.items():
                began = time.perf_counter()
                answers.append(call())
                best[name] = min(best[name], time.perf_counter() - began)
    assert all(answer == answers[0] for answer in answers)
    rows = [[name, f"{n_rows:,}", f"{seconds:.1f} s"] for name, seconds in best.items()]
    print_table(["counted by", "rows", "time"], rows)
    print(f"workers / threads: {best['2 workers'] / best['2 threads']:.2f}; identical results")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("measure", choices=["reach", "ratio", "cluster"])
    parser.add_argument("--rows", type=int)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="komb-large-", dir=options.folder))
    try:
        if options.measure == "reach":
            measure_reach(folder, options.rows or 100_000_000)
        elif options.measure == "cluster":
            measure_cluster(folder, options.rows or 30_000_000)
        else:
            measure_ratio(folder, options.rows or 3_000_000)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
