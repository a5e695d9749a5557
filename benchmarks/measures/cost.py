"""Processor time of the default, beside quick methods."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from itertools import product
from statistics import median

import numpy as np

import komb
from common import best_of, print_table
from komb.data.names import Name
from komb.data.table import DiscreteTable
from measures.methods import AUTO, MMMB, Method, Options, find_each, warm_up
from measures.options import add_network_options
from measures.tiles import Tiles

__all__ = ["IAMB", "add_cost_options", "add_wide_options", "copies_table", "run_cost", "run_wide"]

REPEATS = 2
USUAL = ("alarm", "insurance", "child", "hailfinder", "child*20")
IAMB: Options = {"method": "iamb", "test": "g", "df": "adjusted"}
FLIPPED = 0.2  # share of the rows in which a copy, or the target, differs from the cause


def add_cost_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", default=list(USUAL), help="networks and tiles")
    parser.add_argument("--rows", type=int, default=5000)
    add_network_options(parser, targets="all")


def run_cost(arguments: argparse.Namespace) -> None:
    """Processor time of single calls and of one call for all targets."""
    _warm_up(AUTO, MMMB)
    rows = []
    for name in arguments.names or USUAL:
        tiles = Tiles.open(name, arguments.data, arguments.seed)
        table = tiles.table(1, arguments.rows)
        targets = tiles.targets(table, 1, arguments.targets)
        rows.append([name, str(table.n_columns), str(len(targets)), *compare(table, targets)])
    print(f"Milliseconds of processor time per target (median), {arguments.rows:,} rows, best of 2")
    print("ratio: of auto to mmmb on the same target; together: one call as a share of the sum\n")
    header = ["", "columns", "targets", "auto", "mmmb", "median ratio", "largest", "together"]
    print_table(header, rows)


def compare(table: DiscreteTable, targets: Sequence[Name]) -> list[str]:
    """Return the times of both methods, their ratio, and what one call for all targets saves."""
    ours = [time_call(table, target, AUTO) for target in targets]
    theirs = [time_call(table, target, MMMB) for target in targets]
    together = best_of(
        REPEATS, lambda: komb.markov_blankets(table, targets, n_jobs=1), time.process_time
    )
    ratios = [long / short for long, short in zip(ours, theirs, strict=True)]
    return [
        f"{1000 * median(ours):.1f}",
        f"{1000 * median(theirs):.1f}",
        f"{median(ratios):.1f}",
        f"{max(ratios):.1f}",
        f"{together / sum(ours):.2f}",
    ]


def time_call(table: DiscreteTable, target: Name, options: Options) -> float:
    """Seconds of the quickest of some calls."""
    return best_of(
        REPEATS, lambda: komb.markov_blanket(table, target, **options), time.process_time
    )


def add_wide_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--copies", type=int, nargs="+", default=[100, 400, 800])
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)


def run_wide(arguments: argparse.Namespace) -> None:
    """Processor time on tables of many noisy copies of one cause."""
    _warm_up(AUTO, IAMB)
    rows = []
    for is_latent, n_copies in product((False, True), arguments.copies):
        table = copies_table(arguments.seed, arguments.rows, n_copies, is_latent=is_latent)
        row = ["latent" if is_latent else "in the table", str(n_copies)]
        for options in (AUTO, IAMB):
            started = time.process_time()
            members = komb.markov_blanket(table, "y", **options).members
            row += [f"{time.process_time() - started:.2f}", str(len(members))]
        rows.append(row)
    print(f"Noisy copies of a cause of the target, {arguments.rows:,} rows: processor time\n")
    print_table(["cause", "copies", "auto, seconds", "members", "iamb, seconds", "members"], rows)


def copies_table(seed: int, n_rows: int, n_copies: int, *, is_latent: bool) -> DiscreteTable:
    """Draw a cause, its copies and the target; the cause stays out if it is latent."""
    rng = np.random.default_rng([seed, n_copies])
    cause = rng.integers(0, 2, n_rows)
    flips = rng.random((n_copies + 1, n_rows)) < FLIPPED
    columns = {f"x{number}": cause ^ flip for number, flip in enumerate(flips[1:], start=1)}
    if not is_latent:
        columns["cause"] = cause
    return DiscreteTable.from_data({**columns, "y": cause ^ flips[0]})


def _warm_up(*settings: Options) -> None:
    def find(options: Options) -> Method:
        return Method("", lambda table, targets: find_each(options, table, targets))

    warm_up([find(options) for options in settings])
