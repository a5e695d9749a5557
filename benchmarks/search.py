"""Whole kOMB searches: seconds per target, quality, scale and memory.

    python benchmarks/search.py [--data FOLDER] [--samples N]

The authors' own code takes 3.5 s / 21.6 s a target on Alarm at (1,1) / (2,2) after an IAMB start of
9.8 s, and 103 s on Barley at (1,1), on a machine like the one komb is developed on.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path
from statistics import mean, median

import komb
from common import NETWORKS, Samples, f1_score, print_table

SETTINGS = ((1, 1), (2, 2))
REPEATS = 3


def time_targets(
    samples: Samples, sample: int, order: int, bound: int
) -> tuple[list[float], list[float]]:
    """Best seconds and F1 of each of the ten targets with the largest blankets."""
    table = samples.table(sample)
    seconds, scores = [], []
    for target in samples.largest():
        name = table.names[target]
        best = float("inf")
        for _ in range(REPEATS if order == 1 else 2):
            started = time.perf_counter()
            blanket = komb.markov_blanket(
                table, name, method="komb", order=order, max_separator=bound, test="g-sci"
            )
            best = min(best, time.perf_counter() - started)
        found = {table.index(member) for member in blanket.members}
        seconds.append(best)
        scores.append(f1_score(samples.blankets[target], found))
    return seconds, scores


def networks(data: Path | None, n_samples: int) -> None:
    rows = []
    for name in NETWORKS:
        samples = Samples(name, data)
        for order, bound in SETTINGS:
            results = [time_targets(samples, v, order, bound) for v in range(1, n_samples + 1)]
            seconds = [second for run, _ in results for second in run]
            scores = [score for _, run in results for score in run]
            rows.append((
                name, f"({order},{bound})", f"{median(seconds) * 1e3:.1f}",
                f"{max(seconds) * 1e3:.0f}", f"{mean(scores):.4f}",
            ))  # fmt: skip
    print_table(("network", "(k,l)", "median ms a target", "slowest ms", "mean F1"), rows)


def synthetic(n_samples: int) -> None:
    """Mean F1 on the paper's Boolean networks at 100 rows, every variable a target, l = 3."""
    rows = []
    for order in range(3):
        row = [str(order)]
        for function in ("and", "ex-1", "ex-2", "or", "parity"):
            scores = []
            for sample in range(n_samples):
                table = komb.boolean_table(function, 100, seed=sample)
                for target in table.names:
                    found = komb.markov_blanket(
                        table, target, method="komb", order=order, max_separator=3, test="g-sci"
                    )
                    truth = {table.index(name) for name in table.names if name != target}
                    scores.append(f1_score(truth, {table.index(name) for name in found.members}))
            row.append(f"{mean(scores):.3f}")
        rows.append(row)
    print_table(("order", "and", "ex-1", "ex-2", "or", "parity"), rows)


#: Run in a process of its own, so that peak memory is that of the search alone.
SCALE = """
import resource, sys, time
import numpy as np
import komb
rng = np.random.default_rng(0)
n_rows, n_columns, levels = {n_rows}, {n_columns}, {levels}
columns = rng.integers(0, levels, (n_columns, n_rows), dtype=np.uint8)
columns[3] = np.where(rng.random(n_rows) < 0.9, (columns[7] + columns[11]) % levels, columns[3])
columns[0] = np.where(rng.random(n_rows) < 0.9, columns[3], columns[0])
table = komb.DiscreteTable.from_codes(columns.T)
del columns
small = table.take(np.arange(200))
options = dict(method="komb", order=1, max_separator=1, test="g-sci")
komb.markov_blanket(small, 0, **options)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
def resident():
    for line in open('/proc/self/status'):
        if line.startswith('VmRSS'):
            return int(line.split()[1])
base = resident()
open('/proc/self/clear_refs', 'w').write('5')  # reset the peak
started = time.perf_counter()
blanket = komb.markov_blanket(table, 0, **options)
seconds = time.perf_counter() - started
peak = [int(line.split()[1]) for line in open('/proc/self/status') if line.startswith('VmHWM')][0]
added = (peak - base) * 1024
print(f"{{seconds:.2f}} {{(added + table.nbytes) / table.nbytes:.2f}} {{table.nbytes / 2**20:.0f}}",
      ",".join(map(str, blanket.members)))
"""


def scale() -> None:
    rows = []
    for label, n_rows, n_columns, levels in (
        ("1,000 binary columns, N=5,000, order 1", 5_000, 1_000, 2),
        ("1,000,000 rows x 40 columns of 3 levels, order 1", 1_000_000, 40, 3),
        ("1,000,000 rows x 40 columns of 10 levels, order 1", 1_000_000, 40, 10),
    ):
        code = SCALE.format(n_rows=n_rows, n_columns=n_columns, levels=levels)
        output = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        seconds, ratio, megabytes, members = output.stdout.split()
        rows.append(
            (
                label,
                seconds,
                megabytes,
                f"{ratio}x",
                members if len(members) < 40 else f"{members[:40]}...",
            )
        )
    print_table(("search", "seconds", "table MiB", "peak / table", "blanket"), rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with the MMHC samples")
    parser.add_argument("--samples", type=int, default=1, help="samples a network")
    arguments = parser.parse_args()
    networks(arguments.data, arguments.samples)
    print()
    synthetic(n_samples=10)
    print()
    scale()


if __name__ == "__main__":
    main()
