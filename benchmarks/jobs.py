"""All targets of a network with several workers against one, and what the workers need.

    python benchmarks/jobs.py [--data FOLDER] [--jobs J] [--order K] [--default] [NETWORK ...]

The paper's search, or with ``--default`` that of a call without parameters; any network in pgmpy's
wheel, such as the 441 columns of ``--default --order 0 pigs``.

"cold" includes starting the workers, each of which loads numba; "warm" finds them ready. Blankets
must be the same. Memory is the highest that a worker ever took.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path
from typing import Any

import joblib

import komb
from common import best_of, print_table
from measures.tiles import Tiles


def peak_memory(wait: float) -> int:
    """Most memory this process ever took, in MB; waiting lets other workers have their turn."""
    time.sleep(wait)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def peak_of_workers(jobs: int) -> int:
    calls = (joblib.delayed(peak_memory)(0.2) for _ in range(4 * jobs))
    return int(max(joblib.Parallel(jobs, batch_size=1)(calls)))


def measure(
    name: str, data: Path | None, jobs: int, order: int, is_default: bool
) -> tuple[str, ...]:
    """One line of the table."""
    table = Tiles.open(name, data, seed=0).table(1, 5000)
    komb.markov_blanket(table, table.names[0])  # compile before any clock starts
    joblib.externals.loky.get_reusable_executor(max_workers=jobs, reuse=False).shutdown()
    options: dict[str, Any] = {
        "method": "komb",
        "order": order,
        "max_separator": max(1, order),
        "test": "g-sci",
    }
    if is_default:
        options = {"order": order}
    started = time.perf_counter()
    many = komb.markov_blankets(table, **options, n_jobs=jobs)
    cold = time.perf_counter() - started
    warm = best_of(2, lambda: komb.markov_blankets(table, **options, n_jobs=jobs))
    memory = peak_of_workers(jobs)
    started = time.perf_counter()
    one = komb.markov_blankets(table, **options, n_jobs=1)
    alone = time.perf_counter() - started
    assert dict(one) == dict(many), "workers must not change a blanket"
    return (
        name, str(len(one)), str(order), f"{alone:.1f}", f"{cold:.1f}", f"{warm:.1f}",
        f"{alone / cold:.2f}x", f"{alone / warm:.2f}x", f"{memory} MB",
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", nargs="*", default=["Alarm1", "Barley"])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--order", type=int, default=2)
    parser.add_argument("--default", action="store_true", help="the default search")
    arguments = parser.parse_args()
    rows = [
        measure(name, arguments.data, arguments.jobs, arguments.order, arguments.default)
        for name in arguments.networks
    ]
    idle = peak_memory(0)
    header = (
        "network", "targets", "order", "1 worker s", f"{arguments.jobs} cold s", "warm s",
        "faster cold", "faster warm", "a worker's peak",
    )  # fmt: skip
    print_table(header, rows)
    print(f"This process, which loaded the same and did the work alone: {idle} MB.")


if __name__ == "__main__":
    main()
