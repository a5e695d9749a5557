"""The Boolean functions of the paper."""

from __future__ import annotations

import argparse
from statistics import mean, pstdev

import komb
from common import print_table
from komb.data.models.boolean_functions import BOOLEAN_FUNCTIONS
from komb.results.comparison import Score
from measures.methods import AUTO, Options

__all__ = ["add_options", "run"]

SETTINGS: dict[str, Options] = {
    "auto": AUTO,
    "komb 2,3 g-sci (the paper's cell)": {
        "method": "komb",
        "order": 2,
        "max_separator": 3,
        "test": "g-sci",
    },
}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--samples", type=int, default=40, help="samples per function")
    parser.add_argument("--rows", type=int, default=100)


def run(arguments: argparse.Namespace) -> None:
    """Accuracy on the Boolean functions of the paper."""
    rows = []
    for label, options in SETTINGS.items():
        scores = [
            score_function(function, options, arguments.samples, arguments.rows)
            for function in BOOLEAN_FUNCTIONS
        ]
        rows.append([label, *(f"{mean(each):.3f} ± {pstdev(each):.2f}" for each in scores)])
    print(
        f"Boolean functions, {arguments.samples} samples of {arguments.rows:,} rows, every "
        "variable: F1, mean ± standard deviation\n"
    )
    print_table(["", *BOOLEAN_FUNCTIONS], rows)


def score_function(function: str, options: Options, n_samples: int, n_rows: int) -> list[float]:
    """F1 of every variable in every sample."""
    network = komb.boolean_network(function)
    return [
        Score.of(blanket.members, network.blanket(str(blanket.target))).f1
        for seed in range(n_samples)
        for blanket in komb.markov_blankets(network.sample(n_rows, seed), **options).values()
    ]
