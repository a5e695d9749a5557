"""A whole grid of orders and separator bounds against separate searches, in one process.

    python benchmarks/paths.py [--data FOLDER] [--targets N] [NETWORK ...]

The grid is the paper's: k = 1, 2, 3 and l = 1, 2, 3. Blankets must be the same.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import komb
from common import NETWORKS, Samples, print_table

ORDERS = BOUNDS = range(1, 4)


def compare(table: komb.DiscreteTable, target: str) -> tuple[float, float]:
    """Seconds for the path and for separate searches."""
    started = time.perf_counter()
    path = komb.blanket_path(table, target, orders=ORDERS, max_separators=BOUNDS)
    shared = time.perf_counter() - started
    started = time.perf_counter()
    for order, bound in path:
        alone = komb.markov_blanket(
            table, target, method="komb", order=order, max_separator=bound, test="g-sci"
        )
        assert alone.members == path[order, bound].members, "sharing must not change a blanket"
    return shared, time.perf_counter() - started


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
        komb.markov_blanket(table, table.names[0])  # compile before any clock starts
        targets = [str(table.names[target]) for target in samples.largest(arguments.targets)]
        shared, alone = map(sum, zip(*(compare(table, t) for t in targets), strict=True))
        rows.append((name, f"{shared:.2f}", f"{alone:.2f}", f"{alone / shared:.1f}x"))
    print_table(("network", "path s", "separate s", "faster by"), rows)


if __name__ == "__main__":
    main()
