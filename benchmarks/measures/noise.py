"""Tables in which nothing depends on anything, and one in which a pair hides among noise."""

from __future__ import annotations

import argparse
import time
from itertools import product
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

import komb
from common import print_table
from komb.data.table import DiscreteTable
from measures.options import add_draws

__all__ = ["add_noise_options", "add_xor_options", "run_noise", "run_xor"]

Codes = npt.NDArray[np.uint8]

PROMISE = 0.05  # share of tables of noise that may have a blanket
RARE = 0.01  # share of the rows that each level beside a dominant one has
POSITIVES = 3  # in a thousand rows, and at least as many
FLIPPED = 0.1  # share of the rows of an exclusive or that are noise

SHAPES = {
    "even": "all levels equally frequent",
    "zipf": "level k has a share proportional to 1/k",
    "dominant": "one dominant level, each other has 1 % of the rows",
    "positives": "even columns, binary target with 3 positives in 1,000 rows (at least 3)",
}

GRID: dict[str, list[int]] = {
    "columns": [3, 10, 60, 200],
    "rows": [100, 500, 5000],
    "levels": [2, 3, 10, 30],
}
QUICK: dict[str, list[int]] = {"columns": [3, 10, 60], "rows": [100, 500], "levels": [2, 10]}


def add_noise_options(parser: argparse.ArgumentParser) -> None:
    add_draws(parser, tables=200)
    parser.add_argument("--quick", action="store_true", help="a part of the grid")
    for axis in GRID:
        parser.add_argument(f"--{axis}", type=int, nargs="+", help="only this part of the grid")
    parser.add_argument("--shapes", nargs="+", choices=list(SHAPES), default=list(SHAPES))


def run_noise(arguments: argparse.Namespace) -> None:
    """Share of tables of pure noise with a blanket that is not empty."""
    grid = QUICK if arguments.quick else GRID
    columns, rows, levels = (getattr(arguments, axis) or grid[axis] for axis in GRID)
    limit = PROMISE + 2 * standard_error(PROMISE, arguments.tables)
    print(
        f"Share of {arguments.tables} tables of noise with a blanket that is not empty, ± its "
        f"standard error; ** where it is above {limit:.3f}, two standard errors above {PROMISE}. "
        "Columns include the target.\n"
    )
    above = total = 0
    for shape in arguments.shapes:
        lines = []
        for n_levels, n_rows in product(levels, rows):
            shares = [
                share_with_blanket(shape, (n_rows, n_columns), n_levels, arguments)
                for n_columns in columns
            ]
            above += sum(share > limit for share in shares)
            total += len(shares)
            shown = [show_share(share, arguments.tables, limit) for share in shares]
            lines.append([str(n_levels), f"{n_rows:,}", *shown])
        print(f"{SHAPES[shape]}\n")
        print_table(["levels", "rows", *(f"{number} columns" for number in columns)], lines)
        print(flush=True)
    print(f"Cells above the limit: {above} of {total}.")


def standard_error(share: float, count: int) -> float:
    """Return the standard deviation of a binomial share."""
    return sqrt(share * (1 - share) / count)


def show_share(share: float, count: int, limit: float) -> str:
    text = f"{share:.3f} ± {standard_error(share, count):.3f}"
    return f"**{text}**" if share > limit else text


def share_with_blanket(
    shape: str, size: tuple[int, int], n_levels: int, arguments: argparse.Namespace
) -> float:
    """Share of tables of one cell of the grid in which something is found."""
    count = 0
    for number in range(arguments.tables):
        key = [arguments.seed, number, list(SHAPES).index(shape), *size, n_levels]
        table = noise_table(np.random.default_rng(key), shape, size, n_levels)
        count += bool(komb.markov_blanket(table, table.names[0]).members)
    return count / int(arguments.tables)


def noise_table(
    rng: np.random.Generator, shape: str, size: tuple[int, int], n_levels: int
) -> DiscreteTable:
    """Draw independent columns, the first of which is the target."""
    chances = level_chances(shape, n_levels)
    codes = rng.choice(n_levels, size, p=chances).astype(np.uint8)
    if shape == "positives":
        codes[:, 0] = 0
        n_positives = max(POSITIVES, POSITIVES * len(codes) // 1000)
        codes[rng.choice(len(codes), n_positives, replace=False), 0] = 1
    while np.ptp(codes[:, 0]) == 0:  # a target has to vary
        codes[:, 0] = rng.choice(n_levels, len(codes), p=chances)
    return DiscreteTable.from_codes(codes)


def level_chances(shape: str, n_levels: int) -> npt.NDArray[np.float64]:
    if shape == "zipf":
        weights = 1 / np.arange(1, n_levels + 1)
    elif shape == "dominant":
        weights = np.full(n_levels, RARE)
        weights[0] = 1 - RARE * (n_levels - 1)
    else:
        weights = np.ones(n_levels)
    return np.asarray(weights / weights.sum(), np.float64)


def add_xor_options(parser: argparse.ArgumentParser) -> None:
    add_draws(parser, tables=100)
    parser.add_argument("--columns", type=int, default=1000, help="the target included")
    parser.add_argument("--rows", type=int, default=1000)


def run_xor(arguments: argparse.Namespace) -> None:
    """How often an exclusive or of two among many columns is found."""
    n_found = n_alone = 0
    seconds = 0.0
    for number in range(arguments.tables):
        rng = np.random.default_rng([arguments.seed, number])
        table, pair = xor_table(rng, arguments.rows, arguments.columns)
        started = time.process_time()
        members = set(komb.markov_blanket(table, table.names[0]).members)
        seconds += time.process_time() - started
        n_found += members >= pair
        n_alone += members == pair
    print(
        f"Exclusive or of two columns, {FLIPPED:.0%} of the rows flipped, among "
        f"{arguments.columns:,} columns of three levels, {arguments.rows:,} rows\n"
    )
    shown = [str(arguments.tables), str(n_found), str(n_alone)]
    print_table(
        ["tables", "pair found", "pair alone", "seconds per table"],
        [[*shown, f"{seconds / arguments.tables:.2f}"]],
    )


def xor_table(
    rng: np.random.Generator, n_rows: int, n_columns: int
) -> tuple[DiscreteTable, set[Any]]:
    """Draw noise with an exclusive or in it; the target comes first, its pair anywhere."""
    codes = rng.integers(0, 3, (n_rows, n_columns), dtype=np.uint8)
    first, second = rng.choice(np.arange(1, n_columns), 2, replace=False).tolist()
    codes[:, [first, second]] = rng.integers(0, 2, (n_rows, 2), dtype=np.uint8)
    codes[:, 0] = codes[:, first] ^ codes[:, second] ^ (rng.random(n_rows) < FLIPPED)
    table = DiscreteTable.from_codes(codes)
    return table, {table.names[first], table.names[second]}
