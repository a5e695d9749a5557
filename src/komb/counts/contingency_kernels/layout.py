"""Records of arrays that kernels get and fill."""

from __future__ import annotations

from typing import Any

from komb.counts.records import Record


class Prepared(Record):
    """A table made ready for one target."""

    codes: Any  # [column, row]
    cardinalities: Any
    most_levels: int
    target: int
    order: Any  # rows sorted by the target's level
    level_start: Any  # first bitmap of each column, or -1
    bitmaps: Any  # [level, word]; the last one marks the rows that exist
    level_counts: Any  # [level, y]
    segments: Any  # first word of each level of the target


class Terms(Record):
    """What the sums are made of."""

    entropy: Any  # [0, n]: f(n) = n log2 n in fixed point; [1, n]: f(n + 1) - f(n)
    lengths: Any  # [length class, n]: log2 of the multinomial normaliser; class 0 is the target
    length_below: float  # rows per cell below which code lengths are summed; 0 for never
    wants_tables: bool  # whether freedom and Pearson's sum and its moments are wanted
    scale: float  # fixed-point units of Pearson's statistic and of its mean
    variance_scales: Any  # [column]: those of its variance
    third_scales: Any  # [column]: those of its third cumulant


class Scratch(Record):
    """Buffers kept from call to call."""

    strata: Any  # [columns of the given set so far, stratum, word]
    codes: Any  # [columns so far, stratum]: its place among all that there could be
    n_strata: Any  # [columns so far]
    by_y: Any
    table: Any
    column_sums: Any
    row_base: Any
    sizes: Any
    cells: Any
    state: Any  # see LAST_PACKED and following


class Labels(Record):
    """The stratum of each row, numbered by first occurrence, and its run.

    A run is the rows of a stratum with one level of the target. Where there are many strata of one
    row, those rows are left out: such a stratum stays one whatever column comes next, adds nothing
    to a fit and always the same to a length, so it is enough to count them.
    """

    counts: Any  # see N_STRATA and following
    rows: Any  # [position]: the rows that are kept; all in order if none was left out
    stratum: Any  # [position]
    run: Any  # [position]
    stratum_sizes: Any
    run_sizes: Any
    runs_of_stratum: Any  # how many it has
    stratum_of_run: Any
    cells: Any  # [position]
    other_cells: Any  # [position]
    margins: Any  # [stratum, of one test: see LEVELS and following]
    table: Any  # all zero between uses


class Groups(Record):
    """Rows sorted by stratum and, inside a stratum, by target level; empty if never needed.

    Only strata of two rows or more are kept. A stratum of one row stays one whatever column comes
    next, adds nothing to a fit and always the same to a length: it is enough to count those.
    """

    rows: Any  # [columns of the given set so far, position]
    starts: Any  # [columns so far, stratum]: first position of each stratum, and their end
    n_strata: Any  # [columns so far]
    n_single: Any  # [columns so far]: strata of one row
    runs: Any  # first position of each run of one target level
    run_of_stratum: Any
    touched: Any
    in_stratum: Any
    in_run: Any
    gathered: Any


class Present(Record):
    """What is needed to leave out rows with missing values."""

    is_incomplete: Any  # [column]: whether any value is missing
    is_complete: Any  # [row]: whether the target and the given set are there
    not_labelled: Any  # complete rows that are alone in their stratum
    not_grouped: Any
    by_y: Any  # dense [stratum, y] of the rows of one test
    labels: Any  # the labels again, but with the sizes of strata and runs in one test
