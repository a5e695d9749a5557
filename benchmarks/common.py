"""What every benchmark needs: data, truth, a clock and a table."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from komb.data.table import DiscreteTable
from komb.reproduction.datasets import open_dataset
from komb.reproduction.paper import NETWORKS
from komb.results.comparison import Score

__all__ = ["NETWORKS", "Samples", "best_of", "f1_score", "print_table"]


class Samples:
    """Samples of a benchmark network with its true blankets, by position.

    From ``data`` (a folder with the MMHC supplement's text files or zip archives) if given,
    otherwise drawn from the network in pgmpy's wheel with the sample's number as seed.
    """

    def __init__(self, name: str, data: Path | None) -> None:
        self._dataset = open_dataset(name, data)
        self._position = {node: i for i, node in enumerate(self._dataset.truth)}
        self.blankets = [
            {self._position[member] for member in blanket}
            for blanket in self._dataset.truth.values()
        ]

    def table(self, sample: int) -> DiscreteTable:
        """Sample number ``sample``, starting at 1."""
        return self._dataset.table(sample)

    def largest(self, count: int = 10) -> list[int]:
        """Targets with the largest blankets, ties by index."""
        return [self._position[target] for target in self._dataset.targets(count)]


def f1_score(truth: set[int], found: set[int]) -> float:
    """Harmonic mean of precision and recall; 1 if both sets are empty."""
    return Score.of(found, truth).f1


def best_of(
    repeats: int, work: Callable[[], object], clock: Callable[[], float] = time.perf_counter
) -> float:
    """Shortest of several runs, in seconds: the machine is noisy, the work is not."""
    best = float("inf")
    for _ in range(repeats):
        started = clock()
        work()
        best = min(best, clock() - started)
    return best


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print an aligned Markdown table."""
    lines = [list(header), *[list(row) for row in rows]]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    for number, line in enumerate(lines):
        print(
            "| "
            + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
            + " |"
        )
        if number == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")
