"""The same search on halves of the rows: how they are drawn, searched and counted.

What it is for, and what it bounds, is in :mod:`komb.results.stability`.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from numbers import Integral
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from komb.data.checks import check_count, check_progress
from komb.errors import Argument, DataError, InPython, Interrupted, ParameterError
from komb.results.stability import Group, Stability

if TYPE_CHECKING:
    from komb.api.run import Run
    from komb.results.blanket import Blanket

Rows: TypeAlias = npt.NDArray[np.intp]
Witnesses: TypeAlias = Mapping[int, frozenset[int] | None]  # of members; none if by request

_ROWS_TO_SPLIT = 4  # halves of fewer rows have nothing to test


def measure_stability(
    run: Run, blanket: Blanket, n_halves: int, seed: int, progress: Callable[[int], None] | None
) -> Stability:
    """Search halves of the rows as the whole table was searched; see ``Blanket.stability``."""
    check_halves("n_halves", n_halves)
    check_count("seed", seed)
    check_progress(progress)
    table, target = run.table, run.table.index(blanket.target)
    if table.n_rows < _ROWS_TO_SPLIT:
        rule = f"have at least {_ROWS_TO_SPLIT} rows to be split into halves"
        raise DataError.because("data", rule, table.n_rows, "Collect more rows.")
    began, tally = time.perf_counter(), Tally()
    try:
        for rows in draw_halves(table.n_rows, n_halves, seed):
            if progress is not None:
                progress(tally.n_halves)
            tally.add(_search_half(run, target, rows))
    except KeyboardInterrupt:
        done = f"Interrupted after {tally.n_halves} of {n_halves} half-samples"
        message = done, InPython("; 'finished' holds what they say"), "."
        raise Interrupted(message, tally.settle(run, blanket, began)) from None
    return tally.settle(run, blanket, began)


def check_halves(parameter: str, value: object) -> None:
    """Raise unless a number of half-samples is one of complementary pairs."""
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_whole or value < 2 or value % 2:  # type: ignore[operator]
        rule = "be an even number, at least 2: rows are split into pairs of halves"
        raise ParameterError.because(parameter, rule, value, ("Try ", Argument(parameter, 50), "."))


def _search_half(run: Run, target: int, rows: Rows) -> Witnesses:
    """Find the blanket of a target in some rows; empty where there is nothing to search."""
    half = run.on_rows(rows, target)
    if half is None:
        return {}
    own, position = half
    places = [run.data.index(name) for name in own.names]
    return {
        places[x]: None if witness is None else frozenset(places[z] for z in witness)
        for x, witness in own.search_for(position).found.witnesses.items()
    }


def draw_halves(n_rows: int, n_halves: int, seed: int) -> Iterator[Rows]:
    """Yield the rows of each half, one of a pair after the other.

    Halves have ``n_rows // 2`` rows; of an odd number of rows each pair leaves out one.
    """
    rng = np.random.default_rng(seed)
    size = n_rows // 2
    for _ in range(n_halves // 2):
        order = rng.permutation(n_rows)
        yield np.sort(order[:size])
        yield np.sort(order[size : 2 * size])


@dataclass(slots=True)
class Tally:
    """Counts what half-samples find; columns are positions in the table."""

    n_halves: int = 0
    found: Counter[int] = field(default_factory=Counter)
    together: Counter[frozenset[int]] = field(default_factory=Counter)

    def add(self, witnesses: Witnesses) -> None:
        """Count the blanket of one half-sample; members by request were not found."""
        own = {x: witness for x, witness in witnesses.items() if witness is not None}
        self.n_halves += 1
        self.found.update(list(own))
        self.together.update({witness | {x} for x, witness in own.items() if witness})

    def settle(self, run: Run, blanket: Blanket, began: float) -> Stability:
        """Turn counts into shares, and positions into names."""
        n_halves, names = max(1, self.n_halves), run.names
        groups = sorted(self.together, key=lambda g: (-self.together[g], len(g), sorted(g)))
        return Stability(
            target=blanket.target,
            members=blanket.members,
            n_halves=self.n_halves,
            shares={names[x]: self.found[x] / n_halves for x in sorted(self.found)},
            groups=tuple(
                Group(tuple(names[x] for x in sorted(g)), self.together[g] / n_halves)
                for g in groups
            ),
            mean_size=sum(self.found.values()) / n_halves,
            n_candidates=len(run.candidates(run.data.index(blanket.target))),
            seconds=time.perf_counter() - began,
        )
