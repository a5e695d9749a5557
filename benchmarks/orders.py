"""How right kOMB is by order, bound and test: the figures behind "Choosing k, l and the test".

    python benchmarks/orders.py [--data FOLDER] [--samples N] [--orders K ...] [--networks NAME ...]

Mean F1, from the empty set, alpha .01: of the Boolean functions of the paper at 100 rows, over 40
samples and every variable; of its networks at 5,000 rows, over the ten largest blankets.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import mean

import komb
from common import NETWORKS, Samples, f1_score, print_table
from komb.data.models.boolean_functions import BOOLEAN_FUNCTIONS
from komb.results.comparison import Score

BOUNDS = (1, 2, 3)
N_ROWS, N_DRAWS = 100, 40

#: Test and rule for its degrees of freedom.
RULES = (("g-sci", "observed"), ("g", "adjusted"), ("sci", "observed"))


def grid_scores(
    samples: Samples, n_samples: int, orders: list[int], test: str, df: str
) -> dict[tuple[int, int], float]:
    """Mean F1 for each order and bound."""
    scores: dict[tuple[int, int], list[float]] = {}
    for number in range(1, n_samples + 1):
        table = samples.table(number)
        for target in samples.largest():
            path = komb.blanket_path(
                table, table.names[target], orders=orders, max_separators=BOUNDS, test=test, df=df
            )
            for cell, blanket in path.items():
                found = {table.index(member) for member in blanket}
                scores.setdefault(cell, []).append(f1_score(samples.blankets[target], found))
    return {cell: mean(values) for cell, values in scores.items()}


def print_functions() -> None:
    """Print the mean F1 on the Boolean functions, at order 2."""
    rows = []
    for test, df in RULES:
        row = [f"{test}, {df} df"]
        for function in BOOLEAN_FUNCTIONS:
            network = komb.boolean_network(function)
            scores = [
                Score.of(blanket.members, network.blanket(str(blanket.target))).f1
                for seed in range(N_DRAWS)
                for blanket in komb.markov_blankets(
                    network.sample(N_ROWS, seed),
                    method="komb",
                    order=2,
                    max_separator=3,
                    test=test,
                    df=df,
                ).values()
            ]
            row.append(f"{mean(scores):.3f}")
        rows.append(row)
    print(f"Boolean functions, {N_DRAWS} samples of {N_ROWS} rows, k=2, l=3: mean F1")
    print_table(["test", *BOOLEAN_FUNCTIONS], rows)
    print(flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder with the MMHC samples")
    parser.add_argument("--samples", type=int, default=1, help="samples a network")
    parser.add_argument("--orders", type=int, nargs="+", default=[1], help="orders to try")
    parser.add_argument("--networks", nargs="+", choices=list(NETWORKS), default=list(NETWORKS))
    arguments = parser.parse_args()
    print_functions()
    for name in arguments.networks:
        samples = Samples(name, arguments.data)
        rows = []
        for test, df in RULES:
            scores = grid_scores(samples, arguments.samples, arguments.orders, test, df)
            rows.append([f"{test}, {df} df", *(f"{score:.3f}" for score in scores.values())])
        print(f"{name}, {arguments.samples} samples of 5,000 rows, ten largest blankets: mean F1")
        print_table(["test", *(f"k={k}, l={bound}" for k, bound in scores)], rows)
        print(flush=True)


if __name__ == "__main__":
    main()
