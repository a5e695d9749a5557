"""Benchmark networks: F1 of the default beside every other method."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import mean

from common import NETWORKS, print_table
from komb.results.comparison import Score
from measures.methods import Method, list_methods, warm_up
from measures.options import add_network_options
from measures.tiles import Tiles

__all__ = ["add_options", "run"]


@dataclass
class Tally:
    """What one method found on one network and size."""

    scores: list[Score] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def f1(self) -> float:
        """Mean F1."""
        return mean(score.f1 for score in self.scores)

    def show(self) -> list[str]:
        """Return F1, precision, recall and seconds per target."""
        precision = mean(score.precision for score in self.scores)
        recall = mean(score.recall for score in self.scores)
        per_target = self.seconds / len(self.scores)
        return [f"{self.f1:.3f}", f"{precision:.3f}", f"{recall:.3f}", f"{per_target:.3f}"]


Cell = dict[str, Tally]
"""What every method found on one network and size, by label."""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--names", nargs="+", default=list(NETWORKS), help="networks and tiles")
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 5000])
    parser.add_argument("--samples", type=int, default=1, help="samples per network and size")
    parser.add_argument("--without", nargs="+", default=[], help="methods to leave out: bamb, hc")
    parser.add_argument("--slow", action="store_true", help="slow methods on large tables, too")
    add_network_options(parser, targets="25")


def run(arguments: argparse.Namespace) -> None:
    """Accuracy on benchmark networks, beside other methods."""
    methods = list_methods(arguments.without)
    warm_up(methods)
    print(
        "F1, precision and recall: means over targets. Seconds of processor time per target; hc is "
        "hill climbing, which learns one graph for all, so its time is that divided by the "
        "number of targets.\n"
    )
    cells: dict[tuple[str, int], Cell] = {}
    for name in arguments.names:
        tiles = Tiles.open(name, arguments.data, arguments.seed)
        for n_rows in arguments.rows:
            cell = measure(tiles, n_rows, methods, arguments)
            cells[name, n_rows] = cell
            print_cell(name, n_rows, cell, methods, arguments)
    if all("auto" in cell and len(cell) > 1 for cell in cells.values()):
        print_differences(cells)
        print_best_single(list(cells.values()))


def measure(
    tiles: Tiles, n_rows: int, methods: Sequence[Method], arguments: argparse.Namespace
) -> Cell:
    """Score all methods on the same targets of the same samples."""
    cell: Cell = {}
    truth = tiles.truth
    for sample in range(1, arguments.samples + 1):
        table = tiles.table(sample, n_rows)
        targets = tiles.targets(table, sample, arguments.targets)
        for method in methods:
            if method.is_slow(n_rows, table.n_columns) and not arguments.slow:
                continue
            tally = cell.setdefault(method.label, Tally())
            started = time.process_time()
            found = method.find(table, targets)
            tally.seconds += time.process_time() - started
            tally.scores += [
                Score.of(blanket, truth[target])
                for target, blanket in zip(targets, found, strict=True)
            ]
    return cell


def print_cell(
    name: str, n_rows: int, cell: Cell, methods: Sequence[Method], arguments: argparse.Namespace
) -> None:
    n_targets = len(next(iter(cell.values())).scores)
    print(f"{name}, {n_rows:,} rows, samples: {arguments.samples}, targets in all: {n_targets}\n")
    print_table(
        ["", "F1", "precision", "recall", "seconds per target"],
        [[label, *tally.show()] for label, tally in cell.items()],
    )
    skipped = [method.label for method in methods if method.label not in cell]
    if skipped:
        print(f"\nNot run on a table of this size without --slow: {', '.join(skipped)}.")
    print(flush=True)


def best_other(cell: Cell) -> str:
    """Return the label of the best method but the default."""
    return max((label for label in cell if label != "auto"), key=lambda label: cell[label].f1)


def print_differences(cells: dict[tuple[str, int], Cell]) -> None:
    """Print how far the default is from the best of the others, wherever that is another one."""
    rows, pairs = [], []
    for (name, n_rows), cell in cells.items():
        best = best_other(cell)
        ours, theirs = cell["auto"].f1, cell[best].f1
        pairs.append((ours, theirs))
        shown = [f"{ours:.3f}", best, f"{theirs:.3f}", f"{ours - theirs:+.3f}"]
        rows.append([name, f"{n_rows:,}", *shown])
    ours, theirs = (mean(column) for column in zip(*pairs, strict=True))
    rows.append(["mean", "", f"{ours:.3f}", "", f"{theirs:.3f}", f"{ours - theirs:+.3f}"])
    print("auto beside the best of the others on each network and size: F1\n")
    print_table(["", "rows", "auto", "best other", "its F1", "difference"], rows)


def print_best_single(cells: Sequence[Cell]) -> None:
    """Print how far the default is from the one method that is best over all."""
    everywhere = [label for label in cells[0] if all(label in cell for cell in cells)]
    means = {label: mean(cell[label].f1 for cell in cells) for label in everywhere}
    ours = means.pop("auto")
    if means:
        best = max(means, key=lambda label: means[label])
        difference = f"{ours - means[best]:+.3f}"
        print(f"\nBest single method over all: {best}, {means[best]:.3f}; auto {difference}.")
