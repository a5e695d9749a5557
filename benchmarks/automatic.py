"""How right the call without parameters is, beside fixed settings: the figures of "One call".

    python benchmarks/automatic.py networks [--data FOLDER] [--samples N] [--rows N] [NAME ...]
    python benchmarks/automatic.py functions [--samples N] [--rows N]
    python benchmarks/automatic.py noise [--samples N] [--columns N] [--orders K ...]
    python benchmarks/automatic.py cost [--data FOLDER] [NAME ...]

``networks``: precision, recall and F1 of the ten largest blankets, mean and standard deviation over
blankets, of benchmark networks: samples of the MMHC supplement if there is a folder with them,
otherwise drawn from the networks in pgmpy's wheel (any of them, by the name of its file).
``functions``: the Boolean functions of the paper, every variable. ``noise``: in how many tables of
three-level columns without any dependence the blanket is empty, and with an exclusive or of two of
them, in how many it is those two. ``cost``: time, as a multiple of kOMB with k = l = 1.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable
from pathlib import Path
from statistics import mean, median, pstdev
from typing import Any

import numpy as np

import komb
from common import NETWORKS, best_of, print_table
from komb.comparison import Score
from komb.data import BOOLEAN_FUNCTIONS, DiscreteTable
from komb.experiments.datasets import BundledNetwork, Dataset, open_dataset

Options = dict[str, Any]

SETTINGS: dict[str, Options] = {
    "no parameters": {},
    "k=1, l=1, g-sci (the paper's test)": {
        "method": "komb",
        "order": 1,
        "max_separator": 1,
        "test": "g-sci",
    },
    "k=2, l=2, g-sci": {"method": "komb", "order": 2, "max_separator": 2, "test": "g-sci"},
    "k=1, l=2, g, adjusted df": {
        "method": "komb",
        "order": 1,
        "max_separator": 2,
        "test": "g",
        "df": "adjusted",
    },
    "mmmb, g, adjusted df": {"method": "mmmb", "test": "g", "df": "adjusted"},
}
"""Rows of the tables, by what they are called."""

FLIPPED = 0.1  # share of the rows of an exclusive or that are noise


def open_network(name: str, data: Path | None) -> Dataset:
    """Open one of the paper's networks, or any other."""
    return open_dataset(name, data) if name in NETWORKS else BundledNetwork(name)


def show(scores: Iterable[Score]) -> list[str]:
    """Mean and standard deviation of precision, recall and F1."""
    columns = zip(*((score.precision, score.recall, score.f1) for score in scores), strict=True)
    return [f"{mean(column):.3f} ± {pstdev(column):.2f}" for column in columns]


def score_network(
    dataset: Dataset, n_samples: int, n_rows: int, options: Options
) -> tuple[list[Score], list[float]]:
    """Scores and seconds of the ten largest blankets in some samples."""
    scores, seconds = [], []
    for sample in range(1, n_samples + 1):
        table = dataset.table(sample, n_rows)
        for target in dataset.targets(10):
            if len(table.levels[table.index(target)]) > 1:
                blanket = komb.markov_blanket(table, target, **options)
                scores.append(Score.of(blanket.members, dataset.truth[target]))
                seconds.append(blanket.seconds)
    return scores, seconds


def run_networks(arguments: argparse.Namespace) -> None:
    """Print a table for each network."""
    for name in arguments.names or NETWORKS:
        dataset = open_network(name, arguments.data)
        rows = []
        for label, options in SETTINGS.items():
            if label in arguments.without:
                continue
            scores, seconds = score_network(dataset, arguments.samples, arguments.rows, options)
            rows.append([label, *show(scores), f"{1000 * median(seconds):.0f}"])
        print(
            f"{name}, {arguments.samples} samples of {arguments.rows:,} rows, ten largest blankets"
        )
        print_table(["", "precision", "recall", "F1", "ms (median)"], rows)
        print(flush=True)


def run_functions(arguments: argparse.Namespace) -> None:
    """Print a table for the Boolean functions."""
    settings: dict[str, Options] = {
        "no parameters": {},
        "k=2, l=3, g-sci": {"method": "komb", "order": 2, "max_separator": 3, "test": "g-sci"},
    }
    rows = []
    for label, options in settings.items():
        row = [label]
        for function in BOOLEAN_FUNCTIONS:
            network = komb.boolean_network(function)
            scores = [
                Score.of(blanket.members, network.blanket(str(blanket.target))).f1
                for seed in range(arguments.samples)
                for blanket in komb.markov_blankets(
                    network.sample(arguments.rows, seed), **options
                ).values()
            ]
            row.append(f"{mean(scores):.3f} ± {pstdev(scores):.2f}")
        rows.append(row)
    print(f"Boolean functions, {arguments.samples} samples of {arguments.rows} rows: F1")
    print_table(["", *BOOLEAN_FUNCTIONS], rows)


def noise_tables(seed: int, n_columns: int, n_rows: int) -> tuple[DiscreteTable, DiscreteTable]:
    """Return columns of noise, and the same with the first the exclusive or of two of them."""
    rng = np.random.default_rng(seed)
    noise = rng.integers(0, 3, (n_rows, n_columns), dtype=np.uint8)
    hidden = noise.copy()
    hidden[:, 1:3] = rng.integers(0, 2, (n_rows, 2))
    is_flipped = rng.random(n_rows) < FLIPPED
    hidden[:, 0] = hidden[:, 1] ^ hidden[:, 2] ^ is_flipped
    return DiscreteTable.from_codes(noise), DiscreteTable.from_codes(hidden)


def run_noise(arguments: argparse.Namespace) -> None:
    """Print how often noise stays out."""
    rows = []
    for order in arguments.orders:
        empty = exact = 0
        started = time.perf_counter()
        for seed in range(arguments.samples):
            noise, hidden = noise_tables(seed, arguments.columns, 1000)
            first = noise.names[0]
            empty += not komb.markov_blanket(noise, first, order=order).members
            pair = tuple(hidden.names[1:3])
            exact += komb.markov_blanket(hidden, first, order=order).members == pair
        seconds = (time.perf_counter() - started) / (2 * arguments.samples)
        rows.append([str(order), str(empty), str(exact), f"{seconds:.2f}"])
    print(f"{arguments.samples} tables of 1,000 rows, {arguments.columns:,} columns of 3 levels")
    print_table(["order", "noise: empty", "exclusive or: the pair alone", "seconds"], rows)


def time_search(table: DiscreteTable, target: str, options: Options) -> float:
    """Seconds of the quickest of three searches."""
    return best_of(3, lambda: komb.markov_blanket(table, target, **options))


def run_cost(arguments: argparse.Namespace) -> None:
    """Print how long the call without parameters takes."""
    fixed = SETTINGS["k=1, l=1, g-sci (the paper's test)"]
    rows = []
    for name in arguments.names or ["Alarm1", "Insurance"]:
        dataset = open_network(name, arguments.data)
        table = dataset.table(1, arguments.rows)
        targets = dataset.targets(10)
        automatic = [time_search(table, target, {}) for target in targets]
        simple = [time_search(table, target, fixed) for target in targets]
        ratios = [long / short for long, short in zip(automatic, simple, strict=True)]
        milliseconds = [f"{1000 * mean(times):.0f}" for times in (automatic, simple)]
        rows.append(
            [name, *milliseconds, f"{sum(automatic) / sum(simple):.1f}", f"{max(ratios):.1f}"]
        )
    print(f"Ten largest blankets, {arguments.rows:,} rows, best of 3: ms a target")
    print_table(["", "no parameters", "k=1, l=1", "times", "at most"], rows)


RUNS = {
    "networks": run_networks, "functions": run_functions, "noise": run_noise, "cost": run_cost,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=list(RUNS))
    parser.add_argument("names", nargs="*", help="networks; those of the paper if left out")
    parser.add_argument("--data", type=Path, help="folder with the MMHC samples")
    parser.add_argument("--samples", type=int, default=None, help="samples or tables")
    parser.add_argument("--rows", type=int, default=None)
    parser.add_argument("--columns", type=int, default=1000)
    parser.add_argument("--orders", nargs="+", default=["none"], help="none is no bound")
    parser.add_argument("--without", nargs="*", default=[], help="rows to leave out")
    arguments = parser.parse_args()
    usual = {"networks": (1, 5000), "functions": (40, 100), "noise": (100, 1000), "cost": (1, 5000)}
    samples, rows = usual[arguments.what]
    arguments.samples = arguments.samples or samples
    arguments.rows = arguments.rows or rows
    arguments.orders = [None if k == "none" else int(k) for k in arguments.orders]
    RUNS[arguments.what](arguments)


if __name__ == "__main__":
    main()
