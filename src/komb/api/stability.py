"""The same search on halves of the rows: how they are drawn, searched and counted.

What it is for, and what it bounds, is in :mod:`komb.results.stability`.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from komb.api.preparation import is_constant
from komb.api.settings import Settings
from komb.data.encode.codes import Name
from komb.data.table import DiscreteTable
from komb.results.stability import Group, Stability

Rows: TypeAlias = npt.NDArray[np.intp]
Witnesses: TypeAlias = Mapping[int, frozenset[int] | None]  # of members; none if by request
Search: TypeAlias = Callable[[DiscreteTable, Settings, int], Witnesses]


def draw_halves(n_rows: int, n_halves: int, seed: int) -> Iterator[Rows]:
    """Yield the rows of each half, one of a pair after the other.

    Halves have ``n_rows // 2`` rows; of an odd number of rows each pair leaves out one.

    Examples
    --------
    >>> first, second = draw_halves(6, 2, seed=0)
    >>> sorted([*first.tolist(), *second.tolist()])
    [0, 1, 2, 3, 4, 5]
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
    seconds: float = 0.0

    def add(self, witnesses: Witnesses) -> None:
        """Count the blanket of one half-sample; members by request were not found.

        Examples
        --------
        >>> tally = Tally()
        >>> tally.add({0: frozenset({1}), 1: frozenset({0}), 2: None})
        >>> dict(tally.found), list(tally.together.values())
        ({0: 1, 1: 1}, [1])
        """
        own = {x: witness for x, witness in witnesses.items() if witness is not None}
        self.n_halves += 1
        self.found.update(list(own))
        self.together.update({witness | {x} for x, witness in own.items() if witness})

    def settle(self, names: Sequence[Name], n_candidates: int) -> Stability:
        """Turn counts into shares, and positions into names."""
        groups = sorted(self.together, key=lambda g: (-self.together[g], len(g), sorted(g)))
        return Stability(
            n_halves=self.n_halves,
            shares={names[x]: self.found[x] / self.n_halves for x in sorted(self.found)},
            groups=tuple(
                Group(tuple(names[x] for x in sorted(g)), self.together[g] / self.n_halves)
                for g in groups
            ),
            mean_size=sum(self.found.values()) / self.n_halves,
            n_candidates=n_candidates,
            seconds=self.seconds,
        )


def search_halves(
    table: DiscreteTable,
    settings: Settings,
    target: int,
    n_halves: int,
    search: Search,
    report: Callable[[int], None],
) -> Tally:
    """Search halves of the rows.

    Parameters
    ----------
    table, settings, target
        What the whole table is searched with.
    n_halves
        How many; an even number.
    search
        Finds the blanket of a target in a table.
    report
        Called before each half with the number of those that are done.
    """
    began = time.perf_counter()
    tally = Tally()
    for rows in draw_halves(table.n_rows, n_halves, settings.seed):
        report(tally.n_halves)
        tally.add(_search_half(table, settings, target, search, rows))
    tally.seconds = time.perf_counter() - began
    return tally


def _search_half(
    table: DiscreteTable, settings: Settings, target: int, search: Search, rows: Rows
) -> Witnesses:
    """Find the blanket of a target in some rows; empty where there is nothing to search."""
    name = table.names[target]
    half = _take_rows(table, rows)
    if name not in half.names or half.n_columns < 2 or is_constant(half, half.index(name)):
        return {}
    found = search(half, settings.for_rows_of(table, half), half.index(name))
    places = [table.index(kept) for kept in half.names]
    return {
        places[x]: None if witness is None else frozenset(places[z] for z in witness)
        for x, witness in found.items()
    }


def _take_rows(table: DiscreteTable, rows: Rows) -> DiscreteTable:
    """Return a table of some rows, without the columns that have no value in any of them."""
    if table.has_missing:
        has_value = np.any(table.codes[:, rows] < table.cardinalities[:, None], axis=1)
        table = table.select(table.names[x] for x in np.flatnonzero(has_value))
    return table.take(rows)
