"""Which searches each suite of experiments consists of.

A :class:`Cell` is one method with its settings; a :class:`Unit` is all cells that look at the same
target in the same sample, and is what one worker does at a time.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

from komb.errors import ParameterError, UnknownNameError
from komb.reproduction import paper
from komb.reproduction.datasets import Dataset
from komb.reproduction.journal import Key

SUITES = ("intro", "synthetic", "benchmark", "ablation", "separators", "runtime")
"""What can be asked for. ``separators`` has no searches: it looks at graphs alone."""

EVERYTHING = "all"

_ADJUSTED = ("g", "adjusted")  # under which the classics are at their best


class Cell(NamedTuple):
    """One method with its settings; fields are those of :class:`komb.reproduction.Record`."""

    method: str
    start: str = ""
    order: int | None = None
    max_separator: int | None = None
    test: str = paper.TEST
    df: str = paper.DF


@dataclass(frozen=True, slots=True)
class Unit:
    """Searches for one target in one sample."""

    suite: str
    dataset: str
    n_rows: int
    sample: int
    target: str
    cells: tuple[Cell, ...]

    def key(self, cell: Cell) -> Key:
        """Return what a record of one of the cells is known by."""
        return (self.suite, self.dataset, self.n_rows, self.sample, self.target, *cell)

    def without(self, finished: Container[Key]) -> Unit:
        """Return what is left to do."""
        left = (cell for cell in self.cells if self.key(cell) not in finished)
        return replace(self, cells=tuple(left))


@dataclass(frozen=True, slots=True)
class _Block:
    """The same cells on every sample of every size of some datasets."""

    suite: str
    datasets: tuple[str, ...]
    sizes: tuple[int, ...]
    cells: tuple[Cell, ...]
    n_samples: int = paper.N_SAMPLES

    def units(self, datasets: Mapping[str, Dataset], samples: int, targets: int) -> Iterator[Unit]:
        """List the units sample by sample, so that a run that is cut short has whole samples."""
        present = [datasets[name] for name in self.datasets if name in datasets]
        numbers = range(1, min(samples, self.n_samples) + 1)
        for sample, dataset, n_rows in product(numbers, present, self.sizes):
            for target in dataset.targets(targets):
                yield Unit(self.suite, dataset.name, n_rows, sample, target, self.cells)


def _classics(test: str = paper.TEST, df: str = paper.DF) -> tuple[Cell, ...]:
    return tuple(Cell(method, test=test, df=df) for method in paper.CLASSICS)


def _grid(orders: Iterable[int], start: str = "") -> tuple[Cell, ...]:
    return tuple(Cell("komb", start, order, bound) for order, bound in product(orders, (1, 2, 3)))


_ON_FUNCTIONS = _grid(range(3)) + _grid(range(3), start="iamb")
_ON_NETWORKS = _grid(range(1, 4)) + _grid(range(1, 4), start="iamb")

_SMALL, _LARGE = (paper.SYNTHETIC_ROWS,), (paper.BENCHMARK_ROWS,)

# Suites overlap: a cell that is in two of them is run once.
_BLOCKS: dict[str, tuple[_Block, ...]] = {
    "intro": (_Block("synthetic", ("ex-1",), (100, 1000), _classics() + _ON_FUNCTIONS),),
    "synthetic": (_Block("synthetic", paper.FUNCTIONS, paper.SIZES, _classics() + _ON_FUNCTIONS),),
    "benchmark": (
        _Block(
            "benchmark", paper.NETWORKS, _LARGE, _classics() + _classics(*_ADJUSTED) + _ON_NETWORKS
        ),
    ),
    "ablation": (
        _Block("synthetic", paper.FUNCTIONS, _SMALL, _ON_FUNCTIONS),
        _Block("benchmark", paper.NETWORKS, _LARGE, _ON_NETWORKS),
    ),
    "separators": (),
    "runtime": (_Block("runtime", paper.NETWORKS, _LARGE, _classics() + _grid(range(1, 4)), 1),),
}


def check_suites(suites: str | Iterable[str]) -> tuple[str, ...]:
    """Return the suites that are asked for, each once and in order.

    Examples
    --------
    >>> check_suites(["runtime", "intro"]), check_suites("all") == SUITES
    (('intro', 'runtime'), True)
    """
    names = [suites] if isinstance(suites, str) else list(suites)
    for name in names:
        if name not in (*SUITES, EVERYTHING):
            raise UnknownNameError.among("suite", name, [*SUITES, EVERYTHING])
    if not names:
        remedy = f"Name one of these: {', '.join(SUITES)}, or {EVERYTHING!r}."
        raise ParameterError.because("suites", "name at least one suite", names, remedy)
    return tuple(suite for suite in SUITES if suite in names or EVERYTHING in names)


def needs_networks(suites: Iterable[str]) -> bool:
    """Whether any of the suites looks at networks.

    Examples
    --------
    >>> needs_networks(["intro", "synthetic"]), needs_networks(["separators"])
    (False, True)
    """
    return not set(suites) <= {"intro", "synthetic"}


def make_plan(
    suites: Iterable[str],
    datasets: Mapping[str, Dataset],
    *,
    samples: int = paper.N_SAMPLES,
    targets: int = paper.N_TARGETS,
) -> list[Unit]:
    """List everything there is to do for some suites, in the order in which to do it.

    Datasets that are not there are left out. There are at most this many samples of each dataset,
    and targets in each of them.

    Examples
    --------
    >>> from komb.reproduction.datasets import BooleanDataset
    >>> units = make_plan(["intro"], {"ex-1": BooleanDataset("ex-1")}, samples=1)
    >>> [(unit.n_rows, unit.target, len(unit.cells)) for unit in units][:2]
    [(100, 'X1', 26), (100, 'X2', 26)]
    """
    merged: dict[Unit, dict[Cell, None]] = {}
    for block in (block for suite in suites for block in _BLOCKS[suite]):
        for unit in block.units(datasets, samples, targets):
            cells = merged.setdefault(replace(unit, cells=()), {})
            cells.update(dict.fromkeys(unit.cells))
    return [replace(unit, cells=tuple(cells)) for unit, cells in merged.items()]
