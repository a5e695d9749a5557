"""Where the ways of counting cross: the nanoseconds in ``contingency_kernels/costs.py``.

    python benchmarks/crossover.py

Each way is forced by calling its kernels directly, on the same random tables.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numba import njit

from common import best_of, print_table
from komb.counts.contingency import Contingency
from komb.counts.contingency_kernels import bitmaps, dense_tables, labelled_rows
from komb.counts.contingency_kernels.buffers import MAX_DENSE_CELLS
from komb.counts.contingency_kernels.layout import Terms

N_ROWS = 5000
LOOPS = 200


@njit
def popcount(prepared, terms, buffers, given, column, loops, out):  # type: ignore[no-untyped-def]
    scratch, _ = buffers
    levels = prepared.cardinalities[column]
    n_strata = bitmaps.fill_strata(given, -1, prepared, scratch)
    bitmaps.count_strata(given.size, prepared, scratch)
    for _ in range(loops):
        bitmaps.count_by_popcount(
            given.size, n_strata, levels, prepared.level_start[column], scratch.strata,
            scratch.by_y, prepared.bitmaps, prepared.level_counts, prepared.segments, False, False,
            scratch.table,
        )  # fmt: skip
        dense_tables.sum_dense(
            n_strata, prepared.cardinalities[prepared.target], levels, terms.entropy,
            terms.lengths, False, False, 1.0, 1.0, 1.0, scratch.table, scratch.column_sums, out, 0,
        )  # fmt: skip


@njit
def histogram(prepared, terms, buffers, given, column, loops, out):  # type: ignore[no-untyped-def]
    scratch, _ = buffers
    levels = prepared.cardinalities[column]
    n_y = prepared.cardinalities[prepared.target]
    product = 1
    for other in given:
        product *= prepared.cardinalities[other]
    dense_tables.fill_base(given, 1, prepared, scratch.row_base)
    for _ in range(loops):
        dense_tables.count_by_histogram(
            scratch.row_base, prepared.codes[column], levels, product * n_y * levels, scratch.table
        )
        dense_tables.sum_dense(
            product, n_y, levels, terms.entropy, terms.lengths, False, False, 1.0, 1.0, 1.0,
            scratch.table, scratch.column_sums, out, 0,
        )  # fmt: skip


@njit
def labelled(prepared, terms, buffers, given, column, loops, out):  # type: ignore[no-untyped-def]
    _, labels = buffers
    labelled_rows.label_rows(given, prepared, labels)
    for _ in range(loops):
        labelled_rows.sum_labelled(
            prepared.codes[column], column, prepared.cardinalities[column], terms, False, labels,
            out, 0,
        )  # fmt: skip


@njit
def labelling(prepared, terms, buffers, given, column, loops, out):  # type: ignore[no-untyped-def]
    _, labels = buffers
    for _ in range(loops):
        labelled_rows.label_rows(given, prepared, labels)


def main() -> None:
    rng = np.random.default_rng(0)
    rows = []
    for levels, n_given in (
        (2, 1),
        (3, 1),
        (3, 2),
        (3, 3),
        (4, 3),
        (8, 1),
        (8, 2),
        (8, 3),
        (12, 3),
    ):
        codes = rng.integers(0, levels, (7, N_ROWS)).astype(np.uint8)
        contingency = Contingency(codes, 1 + codes.max(axis=1).astype(np.int64), target=0)
        terms = Terms(
            entropy=contingency._shared.entropy,
            lengths=np.zeros((1, 1), np.int64),
            length_below=0.0,
            wants_tables=False,
            scale=1.0,
            variance_scales=np.ones(7),
            third_scales=np.ones(7),
        )
        given = np.arange(1, 1 + n_given)
        prepared, scratch, _ = contingency.prepared_for(given[None, :], np.array([5]))
        arguments = (prepared, terms, (scratch, contingency._shared.labels), given, 5)
        out = np.zeros((1, 9), dtype=np.int64)
        cells = levels ** (n_given + 2)
        and_rows = (levels**n_given - 1) * (levels - 1)
        row = [str(levels), str(n_given), str(cells), str(and_rows)]
        answers = set()
        for way, largest in ((popcount, 512 * levels**2), (histogram, MAX_DENSE_CELLS),
                             (labelled, 1 << 60), (labelling, 1 << 60)):  # fmt: skip
            if cells > largest:
                row.append("-")
                continue
            way(*arguments, 1, out)
            answers.add(out[0, 0].item())
            seconds = best_of(5, partial(way, *arguments, LOOPS, out))
            row.append(f"{seconds / LOOPS * 1e6:.2f}")
        assert len(answers) == 1, "the ways of counting must agree to the last bit"
        rows.append(row)
    header = ("levels", "conditions", "cells", "AND-rows")
    ways = ("popcount us", "histogram us", "labelled us", "labelling a set us")
    print_table(header + ways, rows)


if __name__ == "__main__":
    main()
