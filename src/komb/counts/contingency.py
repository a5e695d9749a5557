"""Contingency tables of one target, summarised: the only door to the kernels.

Why sums over *sets*, not over tests
------------------------------------
For a set ``A`` of columns with joint counts ``n_a`` and, with the target, ``n_ay``, let

    fit(A)    = sum n_ay log2(n_ay / n_a)        the maximised log-likelihood of Y given A, in bits
    strata(A) = number of observed values of A
    length(A) = sum log2 C(|Y|, n_a)             what coding Y given A costs beyond -fit(A)

A likelihood-ratio test of ``Y`` against ``X`` given ``Z`` is the difference of two fits,
``G = 2 ln 2 (fit(Z u X) - fit(Z))``, and so is stochastic complexity. One joint table of a set with
the target therefore answers a test for each of its elements against the others, and every set is
counted once however many tests it takes part in. Only two quantities belong to a test rather than
to a set: the adjusted degrees of freedom and Pearson's statistic; they are summed on request, and
with them the mean, the variance (Haldane 1940) and the third cumulant that this statistic has if
the values of ``X`` in each stratum are put into any order: with ``n`` rows, ``r`` levels of ``X``
that occur ``n_i`` times and ``s`` of ``Y`` that occur ``m_j`` times,

    mean     = (r - 1)(s - 1) n / (n - 1)
    variance = 2 n / (n - 3) (v - w)(v' - w') + n^2 / (n - 1) w w'
    v = (n - r)(r - 1) / (n - 1),   w = (n sum 1 / n_i - r^2) / (n - 2),   v', w' with s and m_j.

The third cumulant is of the same kind. X2 is ``n sum A_kl B_kl`` over all pairs of rows, with the
projections ``A`` and ``B`` on the levels of ``X`` and of ``Y``. What varies of ``A`` has two parts:
``d_k = 1 / n_i - r / n`` for a row of level i, and for two rows of levels i and j
``O_kl = (1 / n_i if i = j) + (d_k + d_l) / (n - 2) - (n - r) / (n (n - 1))``, whose rows add up to
zero. No permutation mixes the two, so the cumulant is a sum over the ways to combine three of them:

    third = n^7 / ((n - 1)(n - 2)^4) a a' + 6 n^4 / ((n - 2)^2 (n - 3)) b b'
            + 12 n^4 / ((n - 1)(n - 3)(n - 4)) c c' + 4 n^2 (n - 1)(n - 2)^2 / ((n - 3) p) e e'
            + 8 n^2 / ((n - 1)(n - 2)(n - 3)(n - 4)(n - 5) p) f f'
    a = sum d_k^3,   b = sum d_k O_kl d_l,   c = sum d_k O_kl^2,   e = sum O_kl^3,
    f = p tr(O^3) - (3 n^2 - 15 n + 16) e,   p = n^3 - 9 n^2 + 26 n - 22,

without the terms whose denominators vanish or are negative. All five need ``n``, ``r`` and the sums
of ``1 / n_i`` and ``1 / n_i^2`` only. (Kazi-Aoual, Hitier, Sabatier and Lebreton 1995 have the
third moment of any such product of two matrices, for six rows and more.)

Missing values
--------------
A code equal to the number of levels of its column stands for a missing value. Each test is then
counted on the rows that are complete for its variables, so ``fit(Z)`` is not the same for every
``X`` any more: it is the margin of the table of ``Z u X``, summed with it for every test.

Memory
------
Besides the table: one bitmap per level, for columns of at most ``MAX_BITMAP_LEVELS`` levels that
were counted with a condition and only as many as fit into three quarters of the bytes of the codes
(or ``BITMAP_BYTES``, if that is more; three levels and a missing one take a little over half),
``STRATA_BYTES`` for bitmaps of strata, some 30 bytes per row, 76 more if a table is too large for a
dense count, 26 + 8 per condition more if it is so even with the strata that occur, and, once a test
is too sparse for the likelihood ratio, 8 bytes per row for each distinct cardinality. All but the
bitmaps of levels and the code lengths are there once for every thread that counts. Tables of 65,536
rows and more (:mod:`komb.counts.long_contingency`) have a copy of the columns that were counted, in
order of the target, and 16 MiB of tables. Missing
values take one more bitmap for each column that has any, 21 bytes per row and half a MiB. Nothing
grows with a product of cardinalities.
"""

from __future__ import annotations

import copy
import math
from collections import deque
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from komb.counts.contingency_kernels.buffers import (
    DENSE_CELLS_PER_ROW,
    LABELLED_CELLS,
    MAX_DENSE_CELLS,
    WORDS_PER_BLOCK,
)
from komb.counts.fixedpoint import (
    FloatArray,
    Int64Array,
    entropy_table,
    largest_scale,
    length_table,
    scale_for,
)
from komb.counts.threads import map_in_order, n_threads
from komb.data.memory_limit import check_limit, refuse_beyond
from komb.errors import DataError

Codes = npt.NDArray[np.uint8 | np.uint16]

MAX_BITMAP_LEVELS = 16
MAX_BITMAP_STRATA = 1024
BYTES_PER_LENGTH = 16  # one table for each number of levels, and one of all of them
FEW_BYTES = 1 << 26
STRATA_BYTES = 8 << 20
BITMAP_BYTES = 16 << 20
MAX_ROWS = (1 << 31) - 2  # rows are numbered in 32 bits
_ALL_ROWS = np.empty(0, dtype=np.int64)
WORK_PER_THREAD = 1 << 22  # rows of all tables that are worth starting a thread for
FEW_ROWS = 100_000  # up to here several buffers are kept at once
_KEPT_BUFFERS = 64  # for given sets of some sizes, with targets of some kinds
_KEPT_GROUPS = 12  # of some sizes
_PARTS_PER_THREAD = 4  # of a batch: some tables take longer than others


class Summaries(NamedTuple):
    """Sums over a batch of sets, in fixed point.

    Divide by ``Contingency.scale`` for bits; Pearson's sum and its mean by
    ``Contingency.pearson_scale``, its variance by ``Contingency.variance_scales`` of the candidate,
    its third cumulant by ``Contingency.third_scales``.
    """

    fit: Int64Array  # of each given set; of that of each test, if values are missing
    strata: Int64Array
    length: Int64Array
    splits: Int64Array  # [given set, length class], if asked for
    rows: Int64Array  # of each test, if values are missing; else empty, for it is all of them
    union_fit: Int64Array  # of each given set with each of its candidates
    union_strata: Int64Array
    union_length: Int64Array
    freedom: Int64Array  # of the test of the candidate given the set
    pearson: Int64Array
    pearson_mean: Int64Array  # over all orders of the rows of each stratum
    pearson_variance: Int64Array
    pearson_third: Int64Array
    split: Int64Array  # of the given set, for this candidate's length class


class SharedTables:
    """What the contingencies of one table have in common: tables of logarithms, and buffers.

    Contingencies that share one cannot count at the same time.
    """

    def __init__(self, codes: Codes, cardinalities: Int64Array) -> None:
        from komb.counts.contingency_kernels import (
            bitmaps,
            layout,
            missing_values,
            summaries,
            thin_missing_values,
            thin_summaries,
        )

        self.layout = layout

        self.pack_levels = bitmaps.pack_levels
        self._summarise_dense = summaries.summarise_dense
        self._summarise = thin_summaries.summarise
        self._is_thin = False  # whether a table was met that is not to be counted as a dense one
        self._summarise_present = missing_values.summarise_present
        self._summarise_thin_present = thin_missing_values.summarise_thin_present
        self.codes = codes
        self.cardinalities = cardinalities
        self.n_rows = codes.shape[1]
        self.scale = scale_for(self.n_rows)
        self.most_levels = int(cardinalities.max())
        self.is_incomplete = _find_incomplete(codes, cardinalities)
        self.has_missing = bool(self.is_incomplete.any())
        self.most_missing = _count_missing(codes, cardinalities, self.is_incomplete)
        entropy = entropy_table(self.n_rows, self.scale)
        self.entropy = np.stack((entropy[:-1], np.diff(entropy)))
        self.labels = self._make_labels()
        self.present = self._make_present() if self.has_missing else None
        self._lengths: dict[int, Int64Array] = {}
        self._buffers: dict[tuple[int, int, int], tuple[object, object]] = {}
        self._groups: dict[tuple[int, int], object] = {}
        self._arena: dict[str, npt.NDArray[Any]] = {}
        self._others: list[SharedTables] = []

    def others(self, count: int) -> list[SharedTables]:
        """Return the same so many times, each with buffers of its own, for other threads."""
        while len(self._others) < count:
            other = copy.copy(self)
            other.labels = self._make_labels()
            other._buffers, other._groups, other._arena = {}, {}, {}
            self._others.append(other)
        return self._others[:count]

    def summarise(
        self, prepared: Any, terms: object, buffers: tuple[object, object], *sets: npt.NDArray[Any]
    ) -> None:
        """Have the sums of a batch of sets written, by the kernel that is compiled if it can."""
        scratch, groups = buffers
        done = 0
        if not self._is_thin:
            done = self._summarise_dense(prepared, terms, scratch, *sets)
            self._is_thin = done < len(sets[0])
        if self._is_thin:
            self._summarise(prepared, terms, scratch, self.labels, groups, *_from(done, *sets))

    def summarise_present(
        self,
        prepared: Any,
        terms: object,
        buffers: tuple[object, object],
        *sets: npt.NDArray[Any],
        margins: Int64Array,
    ) -> None:
        """Have the sums of a batch of tests written, each on the rows complete for it."""
        scratch, groups = buffers
        if self._summarise_present(prepared, terms, scratch, self.present, *sets, margins):
            self._summarise_thin_present(
                prepared, terms, scratch, self.labels, groups, self.present, *sets
            )

    def lengths(self, levels: int) -> Int64Array:
        """Code lengths of columns of this many levels."""
        if levels not in self._lengths:
            self._lengths[levels] = length_table(levels, self.n_rows, self.scale)
        return self._lengths[levels]

    def buffers(self, size: int, n_words: int, target_levels: int) -> tuple[object, object]:
        """Buffers for given sets of one size, kept for the next batch of that size."""
        key = size, n_words, target_levels
        if key not in self._buffers:
            if len(self._buffers) >= (_KEPT_BUFFERS if self.n_rows <= FEW_ROWS else 1):
                self._buffers.clear()
                self._groups.clear()
            self._buffers[key] = self._make_scratch(*key), self._groups_for(size, target_levels)
        return self._buffers[key]

    def _make_scratch(self, size: int, n_words: int, n_levels: int) -> object:
        """Buffers of one shape; all shapes use the same memory, one call after the other."""
        affordable = STRATA_BYTES // (8 * max(1, n_words) * (size + 1))
        n_strata = max(1, min(MAX_BITMAP_STRATA, affordable, 4 * self.n_rows))
        shape, n_rows = (size + 1, n_strata), self.n_rows
        return self.layout.Scratch(
            strata=self._memory("strata", (*shape, n_words), np.uint64),
            codes=self._memory("codes", shape, np.int32),
            n_strata=self._memory("n_strata", (size + 1,), np.int64),
            by_y=self._memory("by_y", (n_strata * (n_levels if n_words else 0),), np.int32),
            table=self._memory("table", (MAX_DENSE_CELLS,), np.int32),
            column_sums=self._memory("column_sums", (self.most_levels,), np.int64),
            row_base=self._memory("row_base", (n_rows,), np.uint32),
            sizes=self._memory("sizes", (n_rows,), np.int32),
            cells=self._memory("cells", (n_rows,), np.int32),
            state=np.zeros(5, dtype=np.int64),
        )

    def _memory(self, name: str, shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """Return an array of any contents, which uses the memory of others of this name."""
        size = math.prod(shape)
        flat = self._arena.get(name)
        if flat is None or flat.size < size:
            flat = self._arena[name] = np.empty(size, dtype=dtype)
        return flat[:size].reshape(shape)

    def _make_labels(self) -> object:
        """Buffers for labelled rows; memory that is never used is never taken."""
        n_rows = self.n_rows

        def integers(size: int) -> npt.NDArray[np.int32]:
            return np.zeros(size, dtype=np.int32)

        return self.layout.Labels(
            counts=np.zeros(4, dtype=np.int64),
            rows=integers(n_rows),
            stratum=integers(n_rows),
            run=integers(n_rows),
            stratum_sizes=integers(n_rows),
            run_sizes=integers(n_rows),
            runs_of_stratum=integers(n_rows),
            stratum_of_run=integers(n_rows),
            cells=integers(n_rows),
            other_cells=integers(n_rows),
            margins=np.zeros((n_rows, 5), dtype=np.int64),
            table=integers(LABELLED_CELLS),
        )

    def _make_present(self) -> object:
        """Buffers for leaving out rows with missing values."""
        n_rows = self.n_rows

        def integers(size: int) -> npt.NDArray[np.int32]:
            return np.zeros(size, dtype=np.int32)

        return self.layout.Present(
            is_incomplete=self.is_incomplete,
            is_complete=np.empty(n_rows, dtype=np.bool_),
            not_labelled=integers(n_rows),
            not_grouped=integers(n_rows),
            by_y=integers(MAX_DENSE_CELLS),
            labels=self.labels.replaced(  # type: ignore[attr-defined]
                counts=np.zeros(4, dtype=np.int64),
                stratum_sizes=integers(n_rows),
                run_sizes=integers(n_rows),
                runs_of_stratum=integers(n_rows),
            ),
        )

    def _groups_for(self, size: int, target_levels: int) -> object:
        """Buffers for sorted rows; empty if no table of this size is too large for a dense one."""
        largest = self.most_strata(size + 1) * target_levels
        dense = min(MAX_DENSE_CELLS, DENSE_CELLS_PER_ROW * self.n_rows)
        key = size, self.n_rows if largest > dense else 0
        if key not in self._groups:
            if len(self._groups) >= _KEPT_GROUPS:
                self._groups.clear()
            self._groups[key] = self._make_groups(*key)
        return self._groups[key]

    def _make_groups(self, size: int, n_rows: int) -> object:
        depths = size + 1 + self.has_missing  # the last for the rows that have the candidate
        return self.layout.Groups(
            rows=np.empty((depths, n_rows), dtype=np.int32),
            starts=np.empty((depths, n_rows + 1), dtype=np.int32),
            n_strata=np.empty(depths, dtype=np.int64),
            n_single=np.empty(depths, dtype=np.int64),
            runs=np.empty(n_rows + 1, dtype=np.int32),
            run_of_stratum=np.empty(n_rows + 1, dtype=np.int32),
            touched=np.empty(self.most_levels, dtype=np.int32),
            in_stratum=np.zeros(self.most_levels, dtype=np.int32),
            in_run=np.zeros(self.most_levels, dtype=np.int32),
            gathered=np.empty(n_rows, dtype=self.codes.dtype),
        )

    def most_strata(self, size: int) -> int:
        """More strata than a set of ``size`` columns can have, or a great many."""
        most: int = min(self.most_levels**size, 1 << 62)
        return most


class Contingency:
    """A table prepared for counting against one target.

    Parameters
    ----------
    codes : array of shape (n_columns, n_rows), uint8 or uint16
        Every column coded 0 .. cardinality - 1, and cardinality where a value is missing.
    cardinalities : int array of shape (n_columns,)
    target : int
    shared : SharedTables, optional
        Of these codes and cardinalities, if there is one already.

    Attributes
    ----------
    n_rows : int
        All rows, complete or not.
    has_missing : bool

    Examples
    --------
    >>> codes = np.array([[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]], dtype=np.uint8)
    >>> xor = Contingency(codes, np.array([2, 2, 2]), target=2)
    >>> sums = xor.summarise(np.array([[0]]), np.array([0, 1]), np.array([1]))
    >>> (sums.fit / xor.scale).tolist(), (sums.union_fit / xor.scale).tolist()
    ([-4.0], [0.0])
    """

    def __init__(
        self,
        codes: Codes,
        cardinalities: Int64Array,
        target: int,
        shared: SharedTables | None = None,
    ) -> None:
        self._shared = shared = shared or SharedTables(codes, cardinalities)
        self.codes = codes
        self.n_rows = shared.n_rows
        self.target = target
        self.cardinalities = cardinalities
        self.target_levels = int(cardinalities[target])
        self.scale = shared.scale
        # Pearson's statistic is at most rows x (levels of the target - 1)
        self.pearson_scale = largest_scale(float(self.n_rows) * self.target_levels)
        self.variance_scales, self.third_scales = self._scale_cumulants()
        self.has_missing = shared.has_missing
        # class 0 is the target's cardinality, so that kernels find it without a look-up
        self.class_levels = np.concatenate(
            ([cardinalities[target]], np.unique(cardinalities))
        ).astype(np.int64)
        self.length_class = 1 + np.searchsorted(self.class_levels[1:], cardinalities)
        self._lengths: Int64Array | None = None
        self._no_lengths = np.zeros((len(self.class_levels), 1), dtype=np.int64)
        self._known_terms: dict[tuple[float, bool], object] = {}
        self._bitmap_bytes = 0
        self._prepared = self._prepare()
        if self._prepared.bitmaps.shape[0] > 1:
            self._pack(np.empty(0, dtype=np.int64))  # which rows there are

    def _scale_cumulants(self) -> tuple[FloatArray, FloatArray]:
        """Fixed-point units of two cumulants of Pearson's statistic, for each column.

        In a stratum with r levels of one variable and s of the other the variance is at most
        2 (r - 1)(s - 1) for every row, and the third cumulant (r - 1)(s - 1) for every pair of
        rows, up or down.
        """
        levels = np.minimum(self.cardinalities, self.n_rows).astype(np.float64)
        different, place = np.unique(levels, return_inverse=True)
        products = float(self.n_rows) * different * levels[self.target]
        variance_scales = [largest_scale(2.0 * bound) for bound in products.tolist()]
        third_scales = [largest_scale(self.n_rows * bound) for bound in products.tolist()]
        return np.array(variance_scales)[place], np.array(third_scales)[place]

    @property
    def prepared(self) -> Any:
        """Rows in order of the target, and bitmaps: what other kernels need of it."""
        self.pack_all()
        return self._prepared

    @property
    def has_bitmaps(self) -> npt.NDArray[np.bool_]:
        """Which columns have a bitmap for each of their levels."""
        has: npt.NDArray[np.bool_] = (self.prepared.level_start >= 0) & (self.cardinalities > 0)
        return has

    @property
    def row_order(self) -> npt.NDArray[np.int32]:
        """Rows in order of the target's level."""
        order: npt.NDArray[np.int32] = self._prepared.order
        return order

    @property
    def entropy(self) -> Int64Array:
        """``n log2 n`` in fixed point, for every number of rows."""
        entropy: Int64Array = self._shared.entropy[0]
        return entropy

    @property
    def has_rows(self) -> bool:
        """Whether kernels can go through the rows."""
        return True

    @property
    def rows_per_table(self) -> int:
        """How many rows are gone through for one more table: about how much work it is."""
        return int(self.n_rows)

    @property
    def keeps_tables(self) -> bool:
        """Whether :meth:`margins` may know a test."""
        return False

    def margins(self, given: Int64Array, candidate: int) -> tuple[Int64Array, Int64Array] | None:
        """Count the candidate and the target in each stratum, if that is at hand."""
        return None

    def union_tables(self) -> Any:
        """Return what counts sets of columns for the tests of all their elements."""
        from komb.counts.union_tables import UnionTables

        return UnionTables(self)

    def make_expected_g(self) -> Any:
        """Return what has the moments of G from the same rows."""
        from komb.counts.expected_g import ExpectedG

        return ExpectedG(self.codes, self.cardinalities)

    @property
    def nbytes(self) -> int:
        """Bytes that are held for this target, besides the shared ones."""
        prepared = self._prepared
        held: int = self._bitmap_bytes + prepared.level_counts.nbytes + prepared.order.nbytes
        return held

    def _prepare(self) -> Any:
        """Sort the rows by target level, and make room for bitmaps of low-cardinality columns."""
        codes, y, n_levels = self.codes, self.codes[self.target], self.target_levels
        order = np.argsort(y, kind="stable").astype(np.int32)
        y_counts = np.bincount(y, minlength=n_levels)[:n_levels]
        order = order[: y_counts.sum()]  # the rest is missing
        block = 64 * WORDS_PER_BLOCK
        words = WORDS_PER_BLOCK * -(-y_counts // block)
        segments = np.concatenate(([0], np.cumsum(words))).astype(np.int64)
        self._is_to_pack = is_to_pack = self._columns_to_pack(int(segments[-1]) * 8, codes.nbytes)
        if segments[-1] * 64 > 4 * self.n_rows + 4 * block:  # many target levels: mostly padding
            is_to_pack[:] = False
            segments[:] = 0
        self._has_to_pack = bool(is_to_pack.any())
        # missing ones have an unused bitmap
        n_codes = np.where(is_to_pack, self.cardinalities + self._shared.is_incomplete, 0)
        self._first_bitmap = np.cumsum(n_codes) - n_codes
        n_bitmaps = int(n_codes.sum())
        return self._shared.layout.Prepared(
            codes=codes,
            cardinalities=self.cardinalities,
            most_levels=self._shared.most_levels,
            target=self.target,
            order=order,
            level_start=np.full(len(self.cardinalities), -1, dtype=np.int64),
            # memory that is not written to is not taken
            bitmaps=np.zeros((n_bitmaps + 1, segments[-1]), dtype=np.uint64),
            level_counts=np.zeros((n_bitmaps + 1, n_levels if n_bitmaps else 0), dtype=np.int32),
            segments=segments,
        )

    def _pack(self, columns: Int64Array) -> None:
        """Pack some columns into bitmaps, one per level."""
        prepared = self._prepared
        y = self.codes[self.target]
        y_counts = np.bincount(y, minlength=self.target_levels)[: self.target_levels]
        prepared.level_start[columns] = self._first_bitmap[columns]
        self._shared.pack_levels(
            self.codes, self.cardinalities, columns, prepared.level_start, prepared.order,
            np.concatenate(([0], np.cumsum(y_counts))).astype(np.int64), prepared.segments,
            prepared.bitmaps, prepared.level_counts, np.empty(64, dtype=np.uint8),
            np.empty(self._shared.most_levels + 1, dtype=np.uint64),
        )  # fmt: skip
        self._is_to_pack[columns] = False
        self._has_to_pack = bool(self._is_to_pack.any())
        n_bitmaps = 1 + int(self.cardinalities[columns].sum())
        self._bitmap_bytes += n_bitmaps * prepared.bitmaps.strides[0]

    def pack_all(self) -> None:
        """Pack whatever can be packed."""
        if self._has_to_pack:
            self._pack(np.flatnonzero(self._is_to_pack))

    def _columns_to_pack(self, bitmap_bytes: int, table_bytes: int) -> npt.NDArray[np.bool_]:
        """Choose the columns of fewest levels, as long as their bitmaps are affordable."""
        order = np.argsort(self.cardinalities, kind="stable")
        order = order[order != self.target]
        cost = np.cumsum((self.cardinalities + self._shared.is_incomplete)[order]) * bitmap_bytes
        affordable = cost <= max(BITMAP_BYTES, table_bytes // 4 * 3)
        is_packed = np.zeros(len(self.cardinalities), dtype=np.bool_)
        is_packed[order[affordable]] = True
        return is_packed & (self.cardinalities <= MAX_BITMAP_LEVELS)

    def prepared_for(self, given: Int64Array, candidates: Int64Array) -> Any:
        """Return the table as kernels want it for some tests.

        Columns are packed when they are first counted together with a condition: many a column is
        a target for its marginal dependences alone, and those are counted sooner than packed.
        """
        if given.shape[1] and self._has_to_pack:
            is_asked = np.zeros_like(self._is_to_pack)
            is_asked[candidates] = True
            is_asked[given] = True
            is_asked &= self._is_to_pack
            if is_asked.any():
                self._pack(np.flatnonzero(is_asked))
        return self._prepared

    def workers(self, n_tables: int) -> list[Contingency]:
        """Return this one and others like it that may count so many tables at the same time.

        As many as threads are worth starting. What they count has to be packed before.
        """
        work = n_tables * self.n_rows // WORK_PER_THREAD
        threads = min(n_threads(), work) if work > 1 else 1
        others = [copy.copy(self) for _ in range(threads - 1)]
        for other, shared in zip(others, self._shared.others(threads - 1), strict=True):
            other._shared = shared
        return [self, *others]

    def buffers_for(self, size: int) -> tuple[object, object]:
        """Return buffers of this thread for given sets of one size."""
        n_words = self._prepared.bitmaps.shape[1]
        return self._shared.buffers(size, n_words, self.target_levels)

    def _lengths_for(self, set_size: int, length_below: float) -> tuple[Int64Array, float]:
        """Tables of code lengths, unless no set of this size can be sparse enough to need them."""
        most = self._shared.most_levels
        strata = min(self.n_rows, self._shared.most_strata(set_size + 1))
        fewest_rows = self.n_rows - int(self._shared.most_missing[: set_size + 2].sum())
        most_cells = max(1, most * self.target_levels * strata)
        if fewest_rows >= length_below * most_cells:
            return self._no_lengths, 0.0
        if self._lengths is None:
            n_classes = len(self.class_levels)
            what = f"Code lengths for {n_classes:,} numbers of levels and {self.n_rows:,} rows"
            needed = BYTES_PER_LENGTH * n_classes * self.n_rows
            if needed > FEW_BYTES:  # what is free takes a while to find out
                refuse_beyond(needed, check_limit(), what)
            self._lengths = np.stack(
                [self._shared.lengths(int(levels)) for levels in self.class_levels]
            )
        return self._lengths, length_below

    def kernel_arguments(
        self, size: int, length_below: float, *, wants_tables: bool
    ) -> tuple[object, ...]:
        """Table, terms and buffers for kernels of other modules; given sets have up to ``size``.

        Tests with conditions want :meth:`pack_all` first.
        """
        terms = self._terms(size, length_below, wants_tables)
        scratch, groups = self.buffers_for(size)
        return self._prepared, terms, scratch, self._shared.labels, groups

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
        """Summarise every row of ``given`` and its union with each of its candidates."""
        if self.has_missing:
            no_margins = np.empty((len(candidates), 0, 4), dtype=np.int64)
            return self._summarise_present(
                given, candidate_start, candidates, no_margins, length_below, wants_tables
            )
        terms = self._terms(given.shape[1], length_below, wants_tables)
        self.prepared_for(given, candidates)
        sums = np.empty((len(given), 3), dtype=np.int64)
        n_classes = len(self.class_levels) if wants_splits else 0
        splits = np.zeros((len(given), n_classes), dtype=np.int64)
        unions = np.empty((len(candidates), 9), dtype=np.int64)
        workers = deque(self.workers(len(given) + len(candidates)))

        def count(part: slice) -> None:
            worker = workers.pop()
            first, end = candidate_start[part.start], candidate_start[part.stop]
            starts = candidate_start[part.start : part.stop + 1] - first
            worker._shared.summarise(
                self._prepared, terms, worker.buffers_for(given.shape[1]), given[part], starts,
                candidates[first:end], self.length_class, sums[part], splits[part],
                unions[first:end],
            )  # fmt: skip
            workers.append(worker)

        n_workers = len(workers)
        for _ in map_in_order(count, _parts_of(candidate_start, n_workers), n_workers):
            pass
        fit, strata, length = sums.T
        return Summaries(fit, strata, length, splits, _ALL_ROWS, *unions.T)

    def summarise_exchanged(
        self,
        given: Int64Array,
        candidate_start: Int64Array,
        candidates: Int64Array,
        *,
        length_below: float = 0.0,
    ) -> list[Summaries]:
        """Summarise every union of a given set and a candidate, and the tests of all its elements.

        For tables with missing values, whose given sets belong to a test. Returns one summary for
        each column of ``given``, of the tests in which that column is the candidate and the
        candidate takes its place, and as the last one what :meth:`summarise` returns. Tests whose
        table is too large are left out of all but the last: their ``strata`` are negative.
        """
        margins = np.empty((len(candidates), given.shape[1], 4), dtype=np.int64)
        sums = self._summarise_present(
            given, candidate_start, candidates, margins, length_below, wants_tables=False
        )
        exchanged = [
            sums._replace(fit=fit, strata=strata, length=length, split=split)
            for fit, strata, length, split in margins.transpose(1, 2, 0)
        ]
        return [*exchanged, sums]

    def _summarise_present(
        self,
        given: Int64Array,
        candidate_start: Int64Array,
        candidates: Int64Array,
        margins: Int64Array,
        length_below: float,
        wants_tables: bool,
    ) -> Summaries:
        """Summarise every test on the rows that are complete for it; no two share a given set."""
        terms = self._terms(given.shape[1], length_below, wants_tables)
        prepared = self.prepared_for(given, candidates)
        tests = np.empty((len(candidates), 13), dtype=np.int64)
        self._shared.summarise_present(
            prepared, terms, self.buffers_for(given.shape[1]), given, candidate_start, candidates,
            self.length_class, tests, margins=margins,
        )  # fmt: skip
        fit, strata, length, rows = tests[:, 9:].T
        no_splits = np.empty((len(tests), 0), dtype=np.int64)
        return Summaries(fit, strata, length, no_splits, rows, *tests[:, :9].T)

    def table_terms(self) -> object:
        """Terms for kernels of other modules that sum over tables, without code lengths."""
        return self._terms(0, 0.0, wants_tables=True)

    def _terms(self, set_size: int, length_below: float, wants_tables: bool) -> object:
        lengths, length_below = self._lengths_for(set_size, length_below)
        key = length_below, wants_tables
        if key not in self._known_terms:
            self._known_terms[key] = self._make_terms(lengths, length_below, wants_tables)
        return self._known_terms[key]

    def _make_terms(self, lengths: Int64Array, length_below: float, wants_tables: bool) -> object:
        return self._shared.layout.Terms(
            entropy=self._shared.entropy,
            lengths=lengths,
            length_below=length_below,
            wants_tables=wants_tables,
            scale=self.pearson_scale,
            variance_scales=self.variance_scales,
            third_scales=self.third_scales,
        )


def _from(
    first: int,
    given: Int64Array,
    starts: Int64Array,
    candidates: Int64Array,
    length_class: Int64Array,
    sums: Int64Array,
    splits: Int64Array,
    unions: Int64Array,
) -> tuple[npt.NDArray[Any], ...]:
    """Return what kernels get for the given sets from one on, and where they write."""
    if first == 0:
        return given, starts, candidates, length_class, sums, splits, unions
    begin = starts[first]
    return (
        given[first:], starts[first:] - begin, candidates[begin:], length_class, sums[first:],
        splits[first:], unions[begin:],
    )  # fmt: skip


def _parts_of(candidate_start: Int64Array, n_workers: int) -> list[slice]:
    """Cut given sets into parts of about as many tables each; one part for a single worker."""
    n_sets = len(candidate_start) - 1
    if n_workers == 1:
        return [slice(0, n_sets)]
    n_tables = candidate_start + np.arange(n_sets + 1)
    ends = np.linspace(0, n_tables[-1], _PARTS_PER_THREAD * n_workers + 1)
    cuts = np.unique(np.searchsorted(n_tables, ends)).tolist()
    return [slice(lo, hi) for lo, hi in pairwise(cuts)]


def _find_incomplete(codes: Codes, cardinalities: Int64Array) -> npt.NDArray[np.bool_]:
    """Which columns have missing values; refuses what would make kernels write outside tables."""
    if codes.shape[1] > MAX_ROWS:
        raise DataError(
            f"A table may have at most {MAX_ROWS:,} rows; this one has {codes.shape[1]:,}. "
            "Take a sample of it."
        )
    largest = codes.max(axis=1)
    if (largest > cardinalities).any():
        raise DataError(
            "The codes of a column must be smaller than its number of levels, or equal to it for "
            "a missing value. Build the table with DiscreteTable.from_codes or from_data, which "
            "ensure that."
        )
    is_incomplete: npt.NDArray[np.bool_] = largest == cardinalities
    return is_incomplete


def _count_missing(
    codes: Codes, cardinalities: Int64Array, is_incomplete: npt.NDArray[np.bool_]
) -> Int64Array:
    """How many values are missing in each column that has any, most first."""
    counts = [np.count_nonzero(codes[i] == cardinalities[i]) for i in is_incomplete.nonzero()[0]]
    return np.array(sorted(counts, reverse=True), dtype=np.int64)
