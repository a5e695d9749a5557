"""What every benchmark needs: data, truth, a clock and a table."""

from __future__ import annotations

import importlib.util
import io
import time
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from komb.data import DiscreteNetwork, DiscreteTable, read_bif

#: Names in the benchmark suite -> names of the networks inside pgmpy's wheel.
NETWORKS = {"Alarm1": "alarm", "Insurance": "insurance", "Barley": "barley", "Mildew": "mildew"}
N_ROWS = 5000


def bundled_network(name: str) -> DiscreteNetwork:
    """Read a benchmark network out of pgmpy's wheel, without importing pgmpy."""
    spec = importlib.util.find_spec("pgmpy")
    if spec is None or spec.origin is None:
        raise SystemExit("The networks ship with pgmpy: pip install 'komb[bench]'.")
    folder = Path(spec.origin).parent / "utils" / "example_models"
    return read_bif(folder / f"{NETWORKS.get(name, name)}.bif.gz")


class Samples:
    """Samples of a benchmark network with its true blankets.

    From ``data`` (a folder with the MMHC supplement's text files or zip archives) if given,
    otherwise drawn from the network in pgmpy's wheel with the sample's number as seed.
    """

    def __init__(self, name: str, data: Path | None) -> None:
        self.name = name
        self._files = _text_files(data, name) if data is not None else None
        if self._files is None:
            self._network: DiscreteNetwork | None = bundled_network(name)
            names = self._network.names
            self.blankets = [
                {names.index(member) for member in self._network.blanket(node)} for node in names
            ]
        else:
            self._network = None
            self.blankets = _blankets(_matrix(self._files[f"{name}_graph.txt"]))

    def table(self, sample: int) -> DiscreteTable:
        """Sample number ``sample``, starting at 1."""
        if self._network is not None:
            return self._network.sample(N_ROWS, seed=sample)
        assert self._files is not None
        return DiscreteTable.from_codes(
            _matrix(self._files[f"{self.name}_s{N_ROWS}_v{sample}.txt"])
        )

    def largest(self, count: int = 10) -> list[int]:
        """Targets with the largest blankets, ties by index."""
        order = sorted(range(len(self.blankets)), key=lambda v: (-len(self.blankets[v]), v))
        return order[:count]


def _text_files(data: Path, name: str) -> dict[str, bytes]:
    files = {path.name: path.read_bytes() for path in data.glob(f"{name}_*.txt")}
    for archive in data.glob("*.zip"):
        with zipfile.ZipFile(archive) as opened:
            for member in opened.namelist():
                if Path(member).name.startswith(f"{name}_"):
                    files[Path(member).name] = opened.read(member)
    if not files:
        raise SystemExit(f"No sample of {name} in {data}.")
    return files


def _matrix(text: bytes) -> np.ndarray[Any, Any]:
    return np.loadtxt(io.BytesIO(text), dtype=np.int64)


def _blankets(graph: np.ndarray[Any, Any]) -> list[set[int]]:
    blankets = []
    for node in range(len(graph)):
        children = np.flatnonzero(graph[node])
        parents_too = np.flatnonzero(graph[:, node])
        spouses = np.flatnonzero(graph[:, children].any(axis=1))
        members = {int(v) for v in (*children, *parents_too, *spouses)}
        blankets.append(members - {node})
    return blankets


def f1_score(truth: set[int], found: set[int]) -> float:
    """Harmonic mean of precision and recall; 1 if both sets are empty."""
    if not truth and not found:
        return 1.0
    hits = len(truth & found)
    return 2 * hits / (len(truth) + len(found)) if hits else 0.0


def best_of(repeats: int, work: Callable[[], object]) -> float:
    """Shortest of several runs, in seconds: the machine is noisy, the work is not."""
    best = float("inf")
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - started)
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
