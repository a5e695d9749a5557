"""A whole grid of orders and separator bounds against separate searches, in one process.

    python benchmarks/paths.py [--data FOLDER] [--targets N] [NETWORK ...]

The grid is the paper's: k = 1, 2, 3 and l = 1, 2, 3. Blankets must be the same. Processor time, one
thread. Beside the times are the tests that either computes: sharing decisions can save no more than
the tests that separate searches have in common, so their ratio is what a path could reach.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import komb
from common import NETWORKS, Samples, print_table
from komb.engine.threads import use_threads

ORDERS = BOUNDS = range(1, 4)


def compare(table: komb.DiscreteTable, target: str) -> tuple[float, float, int, int]:
    """Seconds for the path and for separate searches, and the tests that they compute."""
    started = time.process_time()
    path = komb.blanket_path(table, target, orders=ORDERS, max_separators=BOUNDS)
    shared = time.process_time() - started
    started = time.process_time()
    n_tests = 0
    for order, bound in path:
        alone = komb.markov_blanket(
            table, target, method="komb", order=order, max_separator=bound, test="g-sci"
        )
        n_tests += alone.tests
        assert alone.members == path[order, bound].members, "sharing must not change a blanket"
    separate = time.process_time() - started
    return shared, separate, sum(blanket.tests for blanket in path.values()), n_tests


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", nargs="*", default=list(NETWORKS))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--targets", type=int, default=3)
    arguments = parser.parse_args()
    rows = []
    for name in arguments.networks:
        samples = Samples(name, arguments.data)
        table = samples.table(1)
        for order in ORDERS:  # compile before any clock starts
            komb.markov_blanket(
                table.take(range(100)), table.names[0], method="komb", order=order, test="g-sci"
            )
        targets = [str(table.names[target]) for target in samples.largest(arguments.targets)]
        with use_threads(1):
            figures = [compare(table, target) for target in targets]
        shared, alone, tests, n_alone = map(sum, zip(*figures, strict=True))
        rows.append((
            name, f"{shared:.2f}", f"{alone:.2f}", f"{alone / shared:.1f}x", f"{tests:,}",
            f"{n_alone:,}", f"{n_alone / tests:.1f}x",
        ))  # fmt: skip
    print_table(
        ("network", "path s", "separate s", "faster by", "tests", "separate tests", "fewer by"),
        rows,
    )


if __name__ == "__main__":
    main()
