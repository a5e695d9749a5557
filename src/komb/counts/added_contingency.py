"""Contingency tables that were counted elsewhere and added up, summarised to the last bit alike.

:class:`AddedContingency` stands in for :class:`~komb.counts.contingency.Contingency` where the rows
are not at hand: it asks for joint counts (:mod:`komb.counts.joint_tables`) and takes from them the
sums that the kernels take while they count rows. All of them are sums over strata in fixed point,
so it does not matter who counted, nor in which order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from komb.counts.contingency import Contingency, Summaries
from komb.counts.fixedpoint import (
    Int64Array,
    entropy_of,
    entropy_table,
    largest_scale,
    length_of,
    scale_for,
)
from komb.counts.joint_counts import Columns, JointCounter, JointCounts
from komb.counts.joint_tables import JointTables
from komb.data.memory_limit import check_limit, refuse_beyond

TABULATED = 1 << 20
"""Counts up to here are looked up; beyond, their logarithms are taken when they occur."""

BLOCK_CELLS = 1 << 20
"""Cells of strata that are summed at once."""

_NONE = np.empty(0, dtype=np.int64)
_NO_CANDIDATE = -1
_SPLIT = 8  # place among the sums of a union


class CountTerms:
    """What the sums over tables of so many rows are made of, count by count.

    The same numbers as in the tables of :mod:`komb.counts.fixedpoint`, without their memory.
    """

    def __init__(self, n_rows: int) -> None:
        self.scale = scale_for(n_rows)
        self._most = min(n_rows, TABULATED)
        self._entropy = entropy_table(self._most, self.scale)
        self._lengths: dict[int, Int64Array] = {}

    def entropy(self, counts: Int64Array) -> Int64Array:
        """``n log2 n`` in fixed point."""
        return self._look_up(self._entropy, counts, lambda n: entropy_of(n, self.scale))

    def length(self, levels: int, counts: Int64Array) -> Int64Array:
        """``log2 C(levels, n)`` in fixed point."""
        if levels not in self._lengths:
            numbers = np.arange(self._most + 2, dtype=np.int64)
            self._lengths[levels] = length_of(levels, numbers, self.scale)
        return self._look_up(
            self._lengths[levels], counts, lambda n: length_of(levels, n, self.scale)
        )

    def _look_up(self, table: Int64Array, counts: Int64Array, compute: Any) -> Int64Array:
        flat = counts.reshape(-1)
        if not flat.size or flat.max() < len(table):
            return table[flat]
        is_large = flat >= len(table)
        found = table[np.where(is_large, 0, flat)]
        found[is_large] = compute(flat[is_large])
        return found


class AddedContingency(Contingency):
    """Counts against one target, from joint counts."""

    def __init__(self, tables: JointTables, target: int, terms: CountTerms) -> None:
        counter = tables.counter
        self._tables = tables
        self._counter: JointCounter = counter
        self._count_terms = terms
        self.n_rows = counter.n_rows
        self.target = target
        self.cardinalities = counter.cardinalities
        self.target_levels = int(counter.cardinalities[target])
        self.scale = terms.scale
        self.pearson_scale = largest_scale(float(self.n_rows) * self.target_levels)
        self.variance_scales, self.third_scales = self._scale_cumulants()
        self.has_missing = bool(counter.missing.any())
        self.class_levels = np.concatenate(
            ([self.cardinalities[target]], np.unique(self.cardinalities))
        ).astype(np.int64)
        self.length_class = 1 + np.searchsorted(self.class_levels[1:], self.cardinalities)
        self._most_levels = int(self.cardinalities.max())

    @property
    def codes(self) -> NoReturn:  # type: ignore[override]
        """Refuse: a test that needs rows needs all of them in memory."""
        needed = float(self.n_rows) * (len(self.cardinalities) + 220)
        what = "A test that works on rows, not on counts, needs the whole table in memory, which"
        refuse_beyond(needed, min(check_limit(), int(needed) - 1), what)
        raise AssertionError

    @property
    def has_rows(self) -> bool:
        """No rows are at hand."""
        return False

    @property
    def has_bitmaps(self) -> npt.NDArray[np.bool_]:
        """No column has any: rows are not at hand."""
        return np.zeros(len(self.cardinalities), dtype=np.bool_)

    @property
    def nbytes(self) -> int:
        """Nothing is held for this target: joint counts serve all of them."""
        return 0

    @property
    def rows_per_table(self) -> int:
        """How many rows are gone through for one more table: none, once it is counted."""
        return 1

    def make_expected_g(self) -> Any:
        """Return what has the moments of G from the same counts."""
        from komb.counts.added_expected_g import AddedExpectedG

        return AddedExpectedG(self.n_rows, self._most_levels)

    def summarise(
        self,
        given: Int64Array,
        candidate_start: Int64Array,
        candidates: Int64Array,
        *,
        length_below: float = 0.0,
        wants_tables: bool = False,
        wants_splits: bool = False,
    ) -> Summaries:
        """As :meth:`Contingency.summarise`."""
        set_of = np.repeat(np.arange(len(given)), np.diff(candidate_start))
        sizer = _Sizer(self, given.shape[1], length_below)
        if self.has_missing:
            return self._summarise_tests(given, set_of, candidates, sizer, wants_tables)
        own = self._summarise_given(given, sizer)
        n_classes = len(self.class_levels) if wants_splits else 0
        splits = np.zeros((len(given), n_classes), dtype=np.int64)
        for index in own.thin:
            splits[index] = [self._split(own, index, kind) for kind in range(n_classes)]
        unions = np.zeros((len(candidates), 9), dtype=np.int64)
        for place, counts in self.stratified(given[set_of], candidates):
            index, column = int(set_of[place]), int(candidates[place])
            strata = min(self.n_rows, int(own.strata[index]) * int(self.cardinalities[column]))
            self._sum_union(counts, column, sizer.is_thin(strata), wants_tables, unions[place])
            if index in own.thin:
                kind = int(self.length_class[column])
                unions[place, _SPLIT] = self._split(own, index, kind)
        return Summaries(own.fit, own.strata, own.length, splits, _NONE, *unions.T)

    def _summarise_given(self, given: Int64Array, sizer: _Sizer) -> _GivenSums:
        """Summarise given sets by themselves."""
        fit, strata, length = np.zeros((3, len(given)), dtype=np.int64)
        own = _GivenSums(fit, strata, length, thin={}, splits={})
        nothing = np.full(len(given), _NO_CANDIDATE, dtype=np.int64)
        for place, counts in self.stratified(given, nothing):
            by_y = [block[:, :, 0] for block in counts]
            fit[place], strata[place], length[place], _ = self._sum_own(
                by_y, wants_lengths=sizer.wants_lengths
            )
            if sizer.is_thin(int(strata[place])):
                own.thin[place] = by_y
        return own

    def _split(self, own: _GivenSums, index: int, kind: int) -> int:
        """Return the split of a thin set for candidates of one kind."""
        if (index, kind) not in own.splits:
            own.splits[index, kind] = self._sum_split(own.thin[index], kind)
        return own.splits[index, kind]

    def _summarise_tests(
        self,
        given: Int64Array,
        set_of: Int64Array,
        candidates: Int64Array,
        sizer: _Sizer,
        wants_tables: bool,
    ) -> Summaries:
        """Summarise every test on the rows that are complete for it."""
        own = np.zeros((len(candidates), 4), dtype=np.int64)
        unions = np.zeros((len(candidates), 9), dtype=np.int64)
        for place, counts in self.stratified(given[set_of], candidates):
            column = int(candidates[place])
            own[place] = self._sum_test(counts, column, sizer, unions[place])
            is_thin = sizer.is_sparse(own[place], int(self.cardinalities[column]))
            self._sum_union(counts, column, is_thin, wants_tables, unions[place])
        fit, strata, length, rows = own.T
        no_splits = np.empty((len(candidates), 0), dtype=np.int64)
        return Summaries(fit, strata, length, no_splits, rows, *unions.T)

    def _sum_test(
        self, counts: Sequence[Int64Array], column: int, sizer: _Sizer, out: Int64Array
    ) -> tuple[int, int, int, int]:
        """Sum over the given set of a test, in the rows of that test."""
        by_y = [block.sum(axis=2) for block in counts]
        own = self._sum_own(by_y, wants_lengths=sizer.wants_lengths)
        if sizer.is_sparse(np.array(own), int(self.cardinalities[column])):
            out[_SPLIT] = self._sum_split(by_y, int(self.length_class[column]))
        return own

    def summarise_exchanged(
        self,
        given: Int64Array,
        candidate_start: Int64Array,
        candidates: Int64Array,
        *,
        length_below: float = 0.0,
    ) -> list[Summaries]:
        """As :meth:`Contingency.summarise_exchanged`, by tests one after the other.

        Their counts are margins of the same tables, so they cost no pass of their own.
        """
        set_of = np.repeat(np.arange(len(given)), np.diff(candidate_start))
        exchanged = []
        for place in range(given.shape[1]):
            others = given[set_of].copy()
            others[:, place] = candidates
            starts = np.arange(len(candidates) + 1)
            exchanged.append(
                self.summarise(others, starts, given[set_of, place], length_below=length_below)
            )
        last = self.summarise(given, candidate_start, candidates, length_below=length_below)
        return [*exchanged, last]

    def stratified(
        self, given: Int64Array, candidates: Int64Array
    ) -> Iterator[tuple[int, list[Int64Array]]]:
        """Count each given set with its candidate, if it has one; yields places and blocks."""
        rows = [tuple(row) for row in given.tolist()]
        asked = candidates.tolist()
        sets = [
            tuple(sorted({*row, self.target, *([x] if x != _NO_CANDIDATE else [])}))
            for row, x in zip(rows, asked, strict=True)
        ]
        for places in self._tables.lots(sets):
            for place in places:
                counts = self._tables.counts_of(sets[place])
                yield place, self.stratify(counts, rows[place], asked[place])

    def stratify(self, counts: JointCounts, given: Columns, candidate: int) -> list[Int64Array]:
        """Arrange joint counts by stratum, target and candidate, without missing values."""
        order = [*given, self.target, *([candidate] if candidate != _NO_CANDIDATE else [])]
        places = [counts.columns.index(column) for column in order]
        levels = [int(self.cardinalities[column]) for column in order]
        n_y = self.target_levels
        n_x = int(self.cardinalities[candidate]) if candidate != _NO_CANDIDATE else 1
        if counts.is_dense:
            table = counts.counts.reshape(counts.shape)
            table = table[tuple(slice(int(self.cardinalities[c])) for c in counts.columns)]
            arranged = np.ascontiguousarray(table.transpose(places))
            # a column may have no level at all, so that numpy could not tell
            arranged = arranged.reshape(math.prod(levels[: len(given)]), n_y, n_x)
            step = max(1, BLOCK_CELLS // max(1, n_y * n_x))
            return [arranged[lo : lo + step] for lo in range(0, len(arranged), step)]
        return list(_list_strata(counts, places, levels, len(given), (n_y, n_x)))

    def _sum_own(
        self, by_y: Sequence[Int64Array], *, wants_lengths: bool
    ) -> tuple[int, int, int, int]:
        """Fit, strata, length of the target and rows of a given set, from ``[stratum, y]``."""
        terms = self._count_terms
        fit = strata = length = rows = 0
        for block in by_y:
            sizes = block.sum(axis=1)
            fit += int(terms.entropy(block).sum()) - int(terms.entropy(sizes).sum())
            strata += int(np.count_nonzero(sizes))
            rows += int(sizes.sum())
            if wants_lengths:
                length += int(terms.length(self.target_levels, sizes).sum())
        return fit, strata, length, rows

    def _sum_split(self, by_y: Sequence[Int64Array], kind: int) -> int:
        """Sum what is saved on coding a candidate of some levels if the target is known."""
        terms, levels = self._count_terms, int(self.class_levels[kind])
        split = 0
        for block in by_y:
            sizes = block.sum(axis=1)
            split += int(terms.length(levels, sizes).sum())
            split -= int(terms.length(levels, block).sum())
        return split

    def _sum_union(
        self,
        counts: Sequence[Int64Array],
        column: int,
        is_thin: bool,
        wants_tables: bool,
        out: Int64Array,
    ) -> None:
        """Sum over the table of a test into columns as those of ``Summaries`` from union_fit on."""
        from komb.counts.added_count_kernels import sum_strata

        terms = self._count_terms
        for block in counts:
            by_x = block.sum(axis=1)
            out[0] += terms.entropy(block).sum() - terms.entropy(by_x).sum()
            out[1] += np.count_nonzero(by_x)
            if is_thin:
                out[2] += terms.length(self.target_levels, by_x).sum()
            if wants_tables:
                column_sums = np.empty(block.shape[2], dtype=np.int64)
                sum_strata(
                    np.ascontiguousarray(block).reshape(-1), len(block), self.target_levels,
                    block.shape[2], self.pearson_scale, self.variance_scales[column],
                    self.third_scales[column], column_sums, out,
                )  # fmt: skip


class _Sizer:
    """Says for which sets code lengths are summed: where a table could be too thin without."""

    def __init__(self, contingency: AddedContingency, size: int, length_below: float) -> None:
        n_rows = contingency.n_rows
        self._n_y = n_y = contingency.target_levels
        most = contingency._most_levels
        missing = np.sort(contingency._counter.missing)[::-1]
        strata = min(n_rows, most ** (size + 1))
        fewest_rows = n_rows - int(missing[: size + 2].sum())
        if fewest_rows >= length_below * max(1, most * n_y * strata):
            length_below = 0.0
        self._length_below = length_below
        self.wants_lengths = length_below > 0
        self._most_strata = n_rows / max(length_below * most * n_y, 1e-300)

    def is_thin(self, strata: int) -> bool:
        """Whether so many strata are too many, for some candidate of a complete table."""
        return bool(strata > self._most_strata)

    def is_sparse(self, own: npt.NDArray[np.int64], levels: int) -> bool:
        """Whether a test has too few rows for its strata."""
        _, strata, _, n_rows = own.tolist()
        return bool(n_rows < self._length_below * (strata * levels * self._n_y))


class _GivenSums(NamedTuple):
    """Sums over given sets by themselves."""

    fit: Int64Array
    strata: Int64Array
    length: Int64Array
    thin: dict[int, list[Int64Array]]  # counts by stratum and target, of sets of many strata
    splits: dict[tuple[int, int], int]  # of these and a kind of candidates, as far as known


def _list_strata(
    counts: JointCounts,
    places: Sequence[int],
    levels: Sequence[int],
    n_given: int,
    widths: tuple[int, int],
) -> Iterator[Int64Array]:
    """Arrange listed counts, some of the strata that occur at a time."""
    codes = counts.codes()[list(places)]
    is_complete = (codes < np.array(levels)[:, None]).all(axis=0)
    codes, found = codes[:, is_complete], counts.counts[is_complete]
    given, y = codes[:n_given], codes[n_given]
    x = codes[n_given + 1] if len(codes) > n_given + 1 else np.zeros_like(y)
    n_strata, stratum = _number_strata(given, levels[:n_given])
    order = np.argsort(stratum, kind="stable")
    stratum, y, x, found = stratum[order], y[order], x[order], found[order]
    step = max(1, BLOCK_CELLS // max(1, widths[0] * widths[1]))
    for first in range(0, n_strata, step):
        lo, hi = np.searchsorted(stratum, [first, first + step])
        block = np.zeros((min(step, n_strata - first), *widths), dtype=np.int64)
        block[stratum[lo:hi] - first, y[lo:hi], x[lo:hi]] = found[lo:hi]
        yield block


def _number_strata(given: Int64Array, levels: Sequence[int]) -> tuple[int, Int64Array]:
    """Give combinations of codes that occur numbers; returns how many, and that of each."""
    keys = np.zeros(given.shape[1], dtype=np.int64)
    n_keys = 1
    for codes, width in zip(given, levels, strict=True):
        if n_keys * width >= 1 << 62:
            found, keys = np.unique(keys, return_inverse=True)
            n_keys = len(found)
        keys = keys * width + codes
        n_keys *= width
    found, keys = np.unique(keys, return_inverse=True)
    return len(found), keys.reshape(-1)
