"""The kernel for thin tables with missing values: rows that are labelled, or else sorted."""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import numpy as np

from komb.counts.compiling import inner, kernel
from komb.counts.contingency_kernels.buffers import (
    N_KEPT,
    N_RUNS,
    N_SINGLE,
    N_STRATA,
    NOT_COUNTED,
    OWN_STRATA,
)
from komb.counts.contingency_kernels.labelled_rows import (
    clear_labelled,
    count_labelled,
    fits_table,
    label_kept_rows,
    list_labelled,
    put_labelled,
    tabulate_labelled,
)
from komb.counts.contingency_kernels.missing_values import mark_complete, put_own
from komb.counts.contingency_kernels.sorted_rows import list_grouped, mark_runs, refine, sum_grouped


@inner
def _keep_complete_rows(given, prepared, labels, present):
    """Keep the complete rows for labelling."""
    mark_complete(given, prepared, present)
    n_kept = np.uint64(0)
    for row in range(np.uint64(present.is_complete.size)):
        labels.rows[n_kept] = np.int32(row)
        n_kept += np.uint64(present.is_complete[row])
    labels.counts[N_KEPT] = n_kept


@inner
def _group_complete_rows(given, prepared, groups, present):
    """Sort the complete rows by stratum of ``given`` and, inside a stratum, by target level."""
    mark_complete(given, prepared, present)
    n_kept = 0
    for row in prepared.order:
        if present.is_complete[row]:
            groups.rows[0, n_kept] = row
            n_kept += 1
    groups.starts[0, 0] = 0
    groups.starts[0, 1] = n_kept
    groups.n_strata[0] = 1
    groups.n_single[0] = 0
    for depth in range(given.size):
        refine(depth, prepared.codes[given[depth]], groups)
    end = groups.starts[given.size, groups.n_strata[given.size]]
    _list_single(
        groups.rows[given.size], end, groups.n_single[given.size], present.is_complete,
        present.not_grouped,
    )  # fmt: skip


@inner
def _list_single(rows, n_kept, n_single, is_complete, single):
    """List the complete rows that are not kept, for they are alone in their stratum."""
    if n_single == 0:
        return
    for position in range(n_kept):
        is_complete[rows[position]] = False
    found = 0
    for row in range(is_complete.size):
        if is_complete[row]:
            single[found] = row
            found += 1


@inner
def _count_present(rows, n_rows, x, levels):
    """How many of some rows have a value of ``x``."""
    count = 0
    for index in range(np.uint64(n_rows)):
        count += x[np.uint64(rows[index])] < levels
    return count


@inner
def _leave_out_missing(levels, sums, terms, wants_lengths, labels, kept):
    """Take the missing values of a column back out of a count, and size what is left."""
    fit, length, sets = sums
    entropy, lengths, table = terms.entropy[0], terms.lengths[0], labels.table
    n_strata, n_runs, width = labels.counts[N_STRATA], labels.counts[N_RUNS], levels + 1
    for stratum in range(n_strata):
        kept.runs_of_stratum[stratum] = 0
    cell = np.uint64(levels)
    for run in range(np.uint64(n_runs)):
        missing = table[cell]
        table[cell] = 0
        fit -= entropy[np.uint64(missing)]
        kept.run_sizes[run] = labels.run_sizes[run] - missing
        stratum = np.uint64(labels.stratum_of_run[run])
        kept.runs_of_stratum[stratum] += np.int32(kept.run_sizes[run] > 0)
        cell += np.uint64(width)
    for stratum in range(np.uint64(n_strata)):
        missing = table[cell]
        table[cell] = 0
        fit += entropy[np.uint64(missing)]
        if wants_lengths:
            length -= lengths[np.uint64(missing)]
        sets -= missing > 0
        kept.stratum_sizes[stratum] = labels.stratum_sizes[stratum] - missing
        cell += np.uint64(width)
    return fit, length, sets


@inner
def _sum_labelled_present(column, kind, prepared, terms, scratch, labels, present, out, j):
    """Sum over the table of a column with the labelled strata, and over those in its rows."""
    x, levels = prepared.codes[column], prepared.cardinalities[column]
    x_has_missing = present.is_incomplete[column]
    wants_lengths = terms.length_below > 0
    width = levels + x_has_missing
    sums = count_labelled(x, width, terms, wants_lengths, labels)
    kept = labels
    if x_has_missing:
        kept = present.labels
        for place in range(kept.counts.size):
            kept.counts[place] = labels.counts[place]
        kept.counts[N_SINGLE] = _count_present(
            present.not_labelled, labels.counts[N_SINGLE], x, levels
        )
        sums = _leave_out_missing(levels, sums, terms, wants_lengths, labels, kept)
    put_labelled(sums, terms, wants_lengths, kept, out, j)
    if terms.wants_tables:
        tabulate_labelled(column, width, terms, kept, out, j)
    clear_labelled(width, labels)
    n_rows = kept.counts[N_SINGLE]
    for stratum in range(kept.counts[N_STRATA]):
        n_rows += kept.stratum_sizes[stratum]
    listed = list_labelled(kept, terms.lengths, wants_lengths, scratch)
    put_own(listed, n_rows, wants_lengths, kind, terms.entropy, terms.lengths, scratch.sizes,
             scratch.cells, out, j)  # fmt: skip


@inner
def _keep_present(depth, x, levels, groups, present):
    """Keep the sorted rows that have a value of ``x``, and the strata that have such rows."""
    rows, starts = groups.rows, groups.starts
    source, sink = np.uint64(depth), np.uint64(depth + 1)
    found = 0
    place = np.uint64(0)
    for stratum in range(groups.n_strata[depth]):
        first = place
        for position in range(
            np.uint64(starts[source, stratum]), np.uint64(starts[source, stratum + 1])
        ):
            row = rows[source, position]
            rows[sink, place] = row
            place += np.uint64(x[np.uint64(row)] < levels)
        starts[sink, found] = first
        found += place > first
    starts[sink, found] = place
    groups.n_strata[depth + 1] = found
    groups.n_single[depth + 1] = _count_present(
        present.not_grouped, groups.n_single[depth], x, levels
    )


@inner
def _sum_grouped_present(depth, column, kind, prepared, terms, scratch, groups, present, out,
                         j):  # fmt: skip
    """Sum over the table of a column stratum by stratum, and over the strata in its rows."""
    x, levels = prepared.codes[column], prepared.cardinalities[column]
    wants_lengths = terms.length_below > 0
    _keep_present(depth, x, levels, groups, present)
    mark_runs(depth + 1, prepared, groups)
    sum_grouped(depth + 1, x, column, terms, wants_lengths, groups, out, j)
    n_rows = groups.starts[depth + 1, groups.n_strata[depth + 1]] + groups.n_single[depth + 1]
    listed = list_grouped(depth + 1, groups, terms.lengths, wants_lengths, scratch)
    put_own(listed, n_rows, wants_lengths, kind, terms.entropy, terms.lengths, scratch.sizes,
             scratch.cells, out, j)  # fmt: skip


@inner
def _is_left(lo, hi, out):
    """Whether a given set has tests that were not counted."""
    for j in range(lo, hi):  # noqa: SIM110 - kernels have no generators
        if out[j, OWN_STRATA] == NOT_COUNTED:
            return True
    return False


@kernel
def summarise_thin_present(prepared, terms, scratch, labels, groups, present, given,
                           candidate_start, candidates, length_class, out):  # fmt: skip
    """Summarise the tests that :func:`missing_values.summarise_present` left."""
    for index in range(given.shape[0]):
        members = given[index]
        lo, hi = candidate_start[index], candidate_start[index + 1]
        if not _is_left(lo, hi, out):
            continue
        _keep_complete_rows(members, prepared, labels, present)
        has_labels = label_kept_rows(members, prepared, labels)
        has_groups = False
        if has_labels:
            _list_single(labels.rows, labels.counts[N_KEPT], labels.counts[N_SINGLE],
                         present.is_complete, present.not_labelled)  # fmt: skip
        for j in range(lo, hi):
            column = candidates[j]
            width = prepared.cardinalities[column] + present.is_incomplete[column]
            if out[j, OWN_STRATA] != NOT_COUNTED:
                continue
            if has_labels and fits_table(width, labels):
                _sum_labelled_present(column, length_class[column], prepared, terms, scratch,
                                      labels, present, out, j)  # fmt: skip
                continue
            if not has_groups:
                _group_complete_rows(members, prepared, groups, present)
                has_groups = True
            _sum_grouped_present(members.size, column, length_class[column], prepared, terms,
                                 scratch, groups, present, out, j)  # fmt: skip
