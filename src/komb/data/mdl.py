"""Cut points where the classes change: entropy and minimum description length.

Fayyad & Irani (1993), "Multi-Interval Discretization of Continuous-Valued Attributes for
Classification Learning". A column is split in two where the classes of its parts are purest, and
each part again, while a split saves more bits of class entropy than it takes to describe it.

The bits of a part with ``n`` rows, ``n_c`` of them of class ``c``, are ``f(n)`` less the sum of
``f(n_c)``, with ``f(x) = x log2 x``. A row that joins as number ``i`` of its class adds
``f(i) - f(i - 1)`` to the sum, so a running sum over sorted rows gives all splits at once, whatever
the number of classes.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

_SLACK = 1e-9  # bits per row; splits nearer than that are equally good, and the lowest is taken

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def mdl_cuts(values: Floats, classes: npt.NDArray[Any]) -> tuple[float, ...]:
    """Find cut points by the classes of the rows.

    Notes
    -----
    Takes a sort, and time linear in the rows for each level of splits.
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    column = _Column(ordered, classes[order].astype(np.int64))
    whole = _Part(0, len(values), np.zeros(column.n_classes, np.int64))
    parts, cuts = [whole], []
    while parts:
        part = parts.pop()
        row = column.split(part)
        if row is not None:
            cuts.append(_between(float(ordered[row - 1]), float(ordered[row])))
            parts += column.divide(part, row)
    return tuple(sorted(cuts))


class _Part(NamedTuple):
    """Some neighbouring rows of the sorted column."""

    start: int
    stop: int
    before: Integers  # how many rows of each class come before them


class _Column:
    """The classes in the order of the values, and what is the same for all parts."""

    def __init__(self, values: Floats, classes: Integers) -> None:
        self.n_classes = int(classes.max()) + 1
        self._classes = classes
        self._rank = _ranks(classes, self.n_classes)
        self._first = np.flatnonzero(values[1:] != values[:-1]) + 1  # where a value starts
        counts = np.arange(len(values) + 1, dtype=np.float64)
        counts[1:] *= np.log2(counts[1:])
        self._xlogx = counts
        self._step = np.diff(counts)

    def split(self, part: _Part) -> int | None:
        """Return the first row of the upper half of the best split, or ``None`` if none pays."""
        start, stop, before = part
        rows = self._first[slice(*np.searchsorted(self._first, [start + 1, stop]))]
        if rows.size == 0:
            return None
        classes = self._classes[start:stop]
        totals = np.bincount(classes, minlength=self.n_classes)
        seen = self._rank[start:stop] - before[classes]
        # sums of f over the classes up to each row, and from each row on
        up_to = np.cumsum(self._step[seen])
        from_on = np.cumsum(self._step[totals[classes] - 1 - seen][::-1])[::-1]
        n, sizes = stop - start, rows - start
        lower = self._xlogx[sizes] - up_to[sizes - 1]
        upper = self._xlogx[n - sizes] - from_on[sizes]
        bits = lower + upper
        best = int(np.argmax(bits <= bits.min() + _SLACK * n))  # the first of the best
        row, size = int(rows[best]), int(sizes[best])
        below = np.bincount(classes[:size], minlength=self.n_classes)
        whole = float(self._xlogx[n] - self._xlogx[totals].sum())
        cost = _cost(
            n,
            [int(np.count_nonzero(counts)) for counts in (totals, below, totals - below)],
            [whole / n, float(lower[best]) / size, float(upper[best]) / (n - size)],
        )
        return row if whole - float(bits[best]) > cost else None

    def divide(self, part: _Part, row: int) -> list[_Part]:
        """Return the rows of a part below and from some row on."""
        passed = np.bincount(self._classes[part.start : row], minlength=self.n_classes)
        return [_Part(part.start, row, part.before), _Part(row, part.stop, part.before + passed)]


def _cost(n: int, n_classes: list[int], entropies: list[float]) -> float:
    """Return the bits it takes to describe a split: where it is, and the classes of both halves."""
    whole, lower, upper = (k * bits for k, bits in zip(n_classes, entropies, strict=True))
    return math.log2(n - 1) + math.log2(3 ** n_classes[0] - 2) - (whole - lower - upper)


def _ranks(classes: Integers, n_classes: int) -> Integers:
    """Count the rows of each class from 0, in order."""
    by_class = np.argsort(classes, kind="stable")
    counts = np.bincount(classes, minlength=n_classes)
    ranks = np.empty(len(classes), np.int64)
    ranks[by_class] = np.arange(len(classes)) - np.repeat(np.cumsum(counts) - counts, counts)
    return ranks


def _between(low: float, high: float) -> float:
    """Return the middle of two numbers, above the lower one even if they are neighbours."""
    middle = low / 2 + high / 2
    return middle if low < middle <= high else high
