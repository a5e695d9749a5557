"""How long the call without parameters takes where that used to be long.

    python benchmarks/default_call.py [copies] [rows] [targets] [networks]

``copies``: 400 and 800 noisy copies of one cause of the target, with the cause in the table (5,000
rows) and without it (1,000 rows), beside IAMB. ``rows``: a million rows of 40 columns with three
and with ten levels, beside IAMB. ``targets``: all targets of pigs (441 columns, 5,000 rows) at
order 0, in this process and with a process per processor. ``networks``: the ten largest blankets of
networks in pgmpy's wheel at 5,000 rows, beside MMMB. All of them if none is named. Seconds of
processor time, but wall time for all targets.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import median

import numpy as np

import komb
from common import best_of, print_table
from komb.data.names import Name
from komb.data.table import DiscreteTable
from measures.cost import IAMB, copies_table
from measures.methods import AUTO, MMMB, Options
from measures.tiles import Tiles

COPIES = (400, 800)
COPIES_ROWS = {False: 5000, True: 1000}  # by whether the cause is latent
LONG_ROWS, LONG_COLUMNS, LONG_LEVELS = 1_000_000, 40, (3, 10)
NETWORKS = ("child", "hailfinder", "alarm", "insurance")
KEPT = 0.3  # share of the rows in which a column follows those before it

Row = list[str]


def measure_copies() -> list[Row]:
    """Measure many columns that tell the same."""
    rows = []
    for is_latent, n_rows in COPIES_ROWS.items():
        for n_copies in COPIES:
            table = copies_table(0, n_rows, n_copies, is_latent=is_latent)
            cause = "latent" if is_latent else "in the table"
            label = f"{n_copies} copies, cause {cause}, {n_rows:,} rows"
            rows.append([label, *compare(table, "y", IAMB, "iamb")])
    return rows


def measure_long_tables() -> list[Row]:
    """Measure a million rows."""
    return [
        [
            f"{LONG_ROWS:,} rows, {LONG_COLUMNS} columns of {levels} levels",
            *compare(draw_long_table(levels), "v10", IAMB, "iamb"),
        ]
        for levels in LONG_LEVELS
    ]


def draw_long_table(levels: int, n_rows: int = LONG_ROWS) -> DiscreteTable:
    """Draw columns in pairs: one follows the column before it, one the sum of the two before it."""
    rng = np.random.default_rng(levels)
    columns = list(rng.integers(0, levels, (2, n_rows)))
    while len(columns) < LONG_COLUMNS:
        is_pair = len(columns) % 2 == 0
        followed = columns[-2] + columns[-1] * is_pair
        noise = rng.integers(0, levels, n_rows)
        columns.append(np.where(rng.random(n_rows) < KEPT, followed % levels, noise))
    return DiscreteTable.from_data({f"v{number}": column for number, column in enumerate(columns)})


def measure_all_targets() -> list[Row]:
    """Measure one call for every column of a large network."""
    table = Tiles.open("pigs", None, seed=0).table(1, 5000)
    alone = best_of(1, lambda: komb.markov_blankets(table, order=0, n_jobs=1))
    together = best_of(1, lambda: komb.markov_blankets(table, order=0, n_jobs=-1))
    label = f"{table.n_columns} targets of pigs, order 0"
    return [[label, f"{alone:.2f}", "all processors", f"{together:.2f}", f"{alone / together:.1f}"]]


def measure_networks() -> list[Row]:
    """Measure ordinary tables, each by the median of its targets."""
    rows = []
    for name in NETWORKS:
        tiles = Tiles.open(name, None, seed=0)
        table = tiles.table(1, 5000)
        targets = tiles.targets(table, 1, "largest")
        ours, theirs = ([seconds(table, x, options) for x in targets] for options in (AUTO, MMMB))
        rows.append([f"{name}, median of {len(targets)}", *ratio(ours, theirs, "mmmb")])
    return rows


def compare(table: DiscreteTable, target: Name, peer: Options, name: str) -> Row:
    """Measure the default beside another method, once."""
    ours, theirs = (seconds(table, target, options, repeats=1) for options in (AUTO, peer))
    return ratio([ours], [theirs], name)


def seconds(table: DiscreteTable, target: Name, options: Options, repeats: int = 3) -> float:
    """Processor time of the quickest of some calls."""
    return best_of(
        repeats, lambda: komb.markov_blanket(table, target, **options), time.process_time
    )


def ratio(ours: list[float], theirs: list[float], peer: str) -> Row:
    """Write medians down, and how many times as long the default takes."""
    own, other = median(ours), median(theirs)
    return [f"{own:.3f}", peer, f"{other:.3f}", f"{own / other:.1f}"]


PARTS: dict[str, Callable[[], list[Row]]] = {
    "copies": measure_copies,
    "rows": measure_long_tables,
    "targets": measure_all_targets,
    "networks": measure_networks,
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    asked = parser.parse_args().parts or list(PARTS)
    if unknown := set(asked) - PARTS.keys():
        parser.error(f"Parts are {', '.join(PARTS)}; got {', '.join(sorted(unknown))}.")
    for options in (AUTO, IAMB, MMMB):  # compiles
        komb.markov_blanket(copies_table(0, 200, 9, is_latent=False), "y", **options)
        for levels in LONG_LEVELS:
            komb.markov_blanket(draw_long_table(levels, 70_000), "v10", **options)
    rows = [row for part in asked for row in PARTS[part]()]
    print_table(["", "default, seconds", "beside", "seconds", "ratio"], rows)


if __name__ == "__main__":
    main()
