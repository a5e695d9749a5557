"""The screen of all groups of columns of one size: which of them may act together on a target.

What the kernel in :mod:`komb.engine.kernels.interactions` needs, buffers for as many threads as use
it, and the parts that all groups are cut into, which a journal can note.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import chdtri

from komb.engine.fixed_point import FloatArray, Int64Array
from komb.engine.journal import Journal, Noted, hash_arrays
from komb.engine.screens import colex_subsets
from komb.engine.threads import map_in_order, n_threads

Codes = npt.NDArray[np.uint8]

MOST_LEVELS = 16
"""Of a column of a group."""

MOST_CELLS = 256
"""Of the table of a group."""

LEAST_ROWS = 3.0
"""Of a cell; one with fewer gets a parameter of its own, and tells nothing of an interaction."""

ROWS_PER_PART = 1 << 28
"""Of all groups of a part, at most: some tenths of a second of work."""

PLANES = 8
"""Bits that a measured response has in the screen; decisions have all of its values."""

_NOBODY = 255  # the code of the row that fills up words


class Responses(NamedTuple):
    """What groups are to explain, as sums over classes of rows that may overlap.

    A class of each level of a target; or all rows and, for each bit of a number, those that have
    it. Each response has mean 0 and variance 1.
    """

    order: npt.NDArray[np.int32]  # [place]: row, by class
    classes: Int64Array  # [class]: first place, and the end of the last
    weights: npt.NDArray[np.float32]  # [1 + response, class]: of the rows, and of each response
    rank: int  # degrees of freedom of the responses of a contrast

    @classmethod
    def of_levels(cls, codes: npt.NDArray[Any], n_levels: int) -> Responses:
        """Make the responses of a target with levels; with more than two, one of each."""
        order = np.argsort(codes, kind="stable")
        counts = np.bincount(codes, minlength=n_levels + 1)[:n_levels]
        shares = counts / counts.sum()
        own = (np.eye(n_levels) - shares[:, None]) / np.sqrt(shares)[:, None]
        if n_levels == 2:
            own = own[1:] / math.sqrt(shares[0])
        weights = np.vstack((np.ones(n_levels), own)).astype(np.float32)
        classes = np.concatenate(([0], np.cumsum(counts)))
        return cls(order[: classes[-1]].astype(np.int32), classes, weights, n_levels - 1)

    @classmethod
    def of_values(cls, values: FloatArray, rows: npt.NDArray[Any]) -> Responses:
        """Make the responses ``values[response, i]`` of some rows; their bits are classes."""
        order, counts = [rows], [len(rows)]
        weights = np.zeros((len(values) + 1, 1 + PLANES * len(values)))
        weights[0, 0] = 1.0
        for number, own in enumerate(values):
            low, step = own.min(), (np.ptp(own) or 1.0) / ((1 << PLANES) - 1)
            steps = np.rint((own - low) / step).astype(np.int64)
            deviation = float(np.std(steps)) or 1.0
            weights[number + 1, 0] = -steps.mean() / deviation
            for bit in range(PLANES):
                has_bit = rows[(steps >> bit & 1) > 0]
                weights[number + 1, len(counts)] = (1 << bit) / deviation
                order.append(has_bit)
                counts.append(len(has_bit))
        classes = np.concatenate(([0], np.cumsum(counts)))
        places = np.concatenate(order).astype(np.int32)
        return cls(places, classes, weights.astype(np.float32), len(values))


class GroupScreen:
    """Goes through all groups of one size of some columns.

    Parameters
    ----------
    codes : array of shape (n_columns, n_rows)
        Each column coded 0 .. levels - 1, and levels where a value is missing.
    levels : int array
    responses : Responses
    size : int
        Of the groups.
    level : float
        Groups are listed whose statistic has, as a chi-square, at most this p-value.
    is_saturated : bool
        Whether associations are listed, not interactions.
    least_rows : float
        Of a cell that has no parameter of its own.
    """

    def __init__(
        self,
        codes: npt.NDArray[Any],
        levels: Int64Array,
        responses: Responses,
        size: int,
        level: float,
        *,
        is_saturated: bool = False,
        least_rows: float = LEAST_ROWS,
    ) -> None:
        self.columns = np.argsort(levels, kind="stable")
        self.size, self._n_rows = size, codes.shape[1]
        levels = levels[self.columns]
        ordered = [_by_frequency(codes[x], int(levels[i])) for i, x in enumerate(self.columns)]
        has_missing = np.array([bool((x == n).any()) for x, n in zip(ordered, levels, strict=True)])
        filled = np.full((len(levels), codes.shape[1] + 1), _NOBODY, np.uint8)
        filled[:, :-1] = ordered
        n_codes = levels + has_missing
        freedom = np.arange(MOST_CELLS + 1.0)
        needed = np.append(np.inf, chdtri(responses.rank * freedom[1:], level))
        bound = needed if size > 3 else needed[(np.arange(len(needed)) + 1) // 2]
        self.fields: dict[str, Any] = {
            "codes": filled, "order": responses.order, "classes": responses.classes,
            "levels": levels, "n_codes": n_codes,
            "first_bitmap": np.cumsum(n_codes - 1) - (n_codes - 1),
            "prefixes": colex_subsets(len(levels), size - 2),
            "weights": np.ascontiguousarray(responses.weights).reshape(-1),
            "n_responses": len(responses.weights) - 1, "has_missing": bool(has_missing.any()),
            "is_saturated": is_saturated, "least_rows": float(least_rows), "most_cells": MOST_CELLS,
            "needed": needed, "needed_bound": bound,
        }  # fmt: skip
        self._record: Any = None
        self._blocks: deque[Any] = deque()

    @property
    def n_groups(self) -> int:
        """How many groups there are, those with too many cells included."""
        return math.comb(len(self.columns), self.size)

    def cut(self) -> Iterator[tuple[int, int, int, int]]:
        """Cut all groups into parts: prefixes, or some middle columns of one."""
        prefixes, n = self.fields["prefixes"], len(self.columns)
        starts = prefixes[:, -1].astype(np.int64) + 1 if self.size > 2 else np.zeros(1, np.int64)
        room = max(1, ROWS_PER_PART // self._n_rows)
        counts = np.maximum(n - starts, 0) * np.maximum(n - starts - 1, 0) // 2
        ends = np.cumsum(counts)
        first = 0
        while first < len(prefixes):
            done = int(ends[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(ends, done + room, side="right")))
            if last > first + 1 or counts[first] <= room:
                yield first, last, 0, n
            else:
                yield from self._cut_one(first, int(starts[first]), room)
            first = last

    def _cut_one(self, prefix: int, start: int, room: int) -> Iterator[tuple[int, int, int, int]]:
        """Cut the groups of one prefix by their middle column."""
        n = len(self.columns)
        done = np.cumsum(n - 1 - np.arange(start, n - 1))
        first = 0
        while first < len(done):
            so_far = int(done[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(done, so_far + room, side="right")))
            yield prefix, prefix + 1, start + first, start + last
            first = last

    def _count(self, part: Sequence[int]) -> int:
        """How many groups a part has."""
        first, last, low, high = part
        n = len(self.columns)
        if last - first == 1:
            start = max(low, int(self.fields["prefixes"][first, -1]) + 1 if self.size > 2 else 0)
            return sum(n - 1 - x for x in range(start, min(high, n - 1)))
        own = np.maximum(n - 1 - self.fields["prefixes"][first:last, -1].astype(np.int64), 1)
        return int((own * (own - 1) // 2).sum())

    def run(self, part: Sequence[int]) -> Noted:
        """List the groups of a part that may interact; threads may do so at the same time."""
        from komb.engine.kernels import interactions as kernels

        if self._record is None:
            self._record = kernels.Groups(**self.fields)
        try:
            block = self._blocks.pop()
        except IndexError:
            block = self._make_block()
        n_groups = self._count(part)
        listed = np.empty((n_groups, 3), np.int32)
        kernels.list_groups(self._record, block, np.array(part, np.int64), listed)
        n_tested, n_listed = block.found.tolist()
        self._blocks.append(block)
        prefix, a, x = listed[:n_listed].T
        members = np.column_stack((self.fields["prefixes"][prefix], a, x))
        groups = np.sort(self.columns[members].reshape(-1, self.size), axis=1)
        return Noted(n_groups, n_tested, groups)

    def run_all(
        self, on_progress: Callable[[int, int], None] | None, journal: Journal | None
    ) -> tuple[Int64Array, int]:
        """Return the groups that may interact, and how many have been tested."""

        def work(first: int) -> Iterator[Noted]:
            return map_in_order(self.run, islice(self.cut(), first, None), n_threads())

        fields = [value for value in self.fields.values() if not isinstance(value, bool | float)]
        key = f"groups {self.size} {ROWS_PER_PART} {hash_arrays(*fields)}"
        found, done, tested = [np.empty((0, self.size), np.int64)], 0, 0
        for noted in journal.run(key, work) if journal is not None else work(0):
            found.append(noted.numbers)
            done, tested = done + noted.n_unions, tested + noted.n_counted
            if on_progress is not None:
                on_progress(done, self.n_groups)
        return np.concatenate(found), tested

    def _make_block(self) -> Any:
        from komb.engine.kernels import interactions as kernels
        from komb.engine.kernels.lanes import LANES

        fields, size = self.fields, self.size
        n_classes, n_places = len(fields["classes"]) - 1, len(fields["order"])
        most, width = int(fields["n_codes"].max()), int(fields["n_codes"].max()) + 1
        n_strata = min(math.prod(np.sort(fields["levels"])[::-1][: size - 2].tolist()), MOST_CELLS)
        n_segments = n_classes * n_strata
        n_words, n_bitmaps = n_places // 64 + n_segments + 1, int((fields["n_codes"] - 1).sum())
        n_contrasts = min(MOST_CELLS, int((fields["levels"].max() - 1) ** size))
        n_responses = fields["n_responses"]
        return kernels.Block(
            stratum_of=np.empty(n_places, np.int64), tally=np.empty(n_strata, np.int64),
            rows=np.empty(n_words * 64, np.int32), words=np.empty(n_segments + 1, np.int64),
            sizes=np.empty(n_segments, np.int64), gathered=np.empty(n_words * 64, np.uint8),
            bitmaps=np.zeros(n_bitmaps * n_words, np.uint64),
            margins=np.zeros(n_bitmaps * n_segments, np.int32),
            explained=np.empty(len(fields["levels"])),
            lanes=np.empty((width - 1) * n_words * LANES, np.uint64),
            lane_margins=np.empty(width * n_segments * LANES, np.int32),
            row_margins=np.empty(most * n_segments * LANES, np.int32),
            table=np.empty(n_segments * most * width * LANES, np.int32),
            sums=np.zeros(LANES, np.float32), variances=np.empty(MOST_CELLS),
            means=np.empty((n_responses, MOST_CELLS)), sizes_of=np.empty(size, np.int64),
            strides=np.empty(size, np.int64), contrasts=np.empty((n_contrasts, size), np.int64),
            system=np.empty((n_contrasts, n_contrasts)),
            right=np.empty((n_responses, n_contrasts)),
            packed=np.full(2, -1, np.int64), found=np.zeros(2, np.int64),
        )  # fmt: skip


def _by_frequency(codes: npt.NDArray[Any], n_levels: int) -> Codes:
    """Return a column with its levels numbered by how often they occur, missing values above."""
    counts = np.bincount(codes, minlength=n_levels)[:n_levels]
    rank = np.full(n_levels + 1, n_levels, np.uint8)
    rank[np.argsort(-counts, kind="stable")] = np.arange(n_levels)
    ranks: Codes = rank[codes]
    return ranks
