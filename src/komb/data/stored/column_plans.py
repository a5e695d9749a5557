"""How each column of a table in batches is encoded, settled when all its values have been seen."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from komb.data.encode.bin_labels import label_bins
from komb.data.encode.codes import Array, Levels, Name, code_dtype
from komb.data.encode.column_errors import (
    MAX_LEVELS,
    Missing,
    Unusable,
    too_many_levels,
)
from komb.data.encode.numbers import Floats, to_numbers
from komb.data.encode.treatment import MDL, Rule, Treatment
from komb.data.stored.column_values import ColumnValues, encode_values
from komb.data.stored.header import ColumnEntry
from komb.data.stored.spilled_numbers import SpilledNumbers
from komb.errors import Argument


class ColumnPlan(NamedTuple):
    """How a column is encoded."""

    name: Name
    levels: Levels  # in the order of their codes; with None as the last if missing values are one
    mark: int  # code of a missing value
    n_missing: int  # that are marked, not a level
    cuts: tuple[float, ...] | None = None
    bin_codes: tuple[int, ...] = ()  # of each bin, if it is cut

    @property
    def entry(self) -> ColumnEntry:
        """What the header says of it."""
        return ColumnEntry(self.name, self.levels, self.cuts, self.n_missing)

    def encode(self, series: Any) -> Array:
        """Encode the column in one batch."""
        dtype = code_dtype(self.entry.n_codes)
        if self.cuts is not None:
            numbers = to_numbers(series)
            assert numbers is not None  # or it would not be cut
            return _encode_bins(numbers, self.cuts, self.bin_codes, self.mark).astype(dtype)
        values = encode_values(series)
        number = {level: code for code, level in enumerate(self.levels)}
        codes = [number[level] for level in values.levels]
        return np.array([*codes, self.mark], np.int64).astype(dtype)[values.codes]


def _encode_bins(
    numbers: Floats, cuts: tuple[float, ...], bin_codes: tuple[int, ...], mark: int
) -> npt.NDArray[np.int64]:
    bins = np.searchsorted(np.asarray(cuts, np.float64), numbers, side="right")
    codes = np.array(bin_codes, np.int64)[bins]
    codes[np.isnan(numbers)] = mark
    return codes


class Cutter(NamedTuple):
    """What is needed to cut the columns of a table."""

    treatment: Treatment
    target: Name | None
    classes: npt.NDArray[np.integer] | None  # codes of the target, if columns are cut by it
    n_classes: int
    memory_limit: int


def rule_of(treatment: Treatment, target: Name | None, name: Name) -> Rule | None:
    """How a column is cut; the target that others are cut by is cut only if it is named."""
    if treatment.needs_target and name == target and not treatment.is_named(name):
        return None
    return treatment.rule_of(name)


def settle_column(
    name: Name, values: ColumnValues, numbers: SpilledNumbers | None, cutter: Cutter
) -> ColumnPlan:
    """Settle how a column is encoded, or say why it cannot be."""
    treatment = cutter.treatment
    if values.n_missing and treatment.missing == "error":
        raise Missing.counted(values.n_missing, values.first_missing, values.n_rows)
    rule = rule_of(treatment, cutter.target, name)
    is_named = treatment.is_named(name)
    if is_named and rule is not None and numbers is None:
        raise Unusable(
            "is to be cut, but does not hold numbers.",
            ("Turn it into numbers, or take it out of ", Argument("discretize"), "."),
        )
    if rule is not None and numbers is not None and (is_named or values.has_many):
        if values.n_missing == values.n_rows:
            raise Missing.counted(values.n_missing, 0, values.n_rows)
        return _plan_bins(name, values, numbers, rule, cutter)
    return _with_missing(ColumnPlan(name, values.settle(), 0, values.n_missing), treatment)


def _plan_bins(
    name: Name, values: ColumnValues, numbers: SpilledNumbers, rule: Rule, cutter: Cutter
) -> ColumnPlan:
    cuts = _find_cuts(name, numbers, rule, cutter)
    counts = np.zeros(len(cuts) + 1, np.int64)
    for piece in numbers.known():
        bins = np.searchsorted(np.asarray(cuts, np.float64), piece, side="right")
        counts += np.bincount(bins, minlength=len(counts))
    labels = label_bins(cuts)
    seen = np.flatnonzero(counts)
    codes = np.cumsum(counts > 0) - 1
    plan = ColumnPlan(
        name, tuple(labels[place] for place in seen), 0, values.n_missing, cuts,
        tuple(np.maximum(codes, 0).tolist()),
    )  # fmt: skip
    return _with_missing(plan, cutter.treatment)


def _find_cuts(
    name: Name, numbers: SpilledNumbers, rule: Rule, cutter: Cutter
) -> tuple[float, ...]:
    if isinstance(rule, tuple):
        return rule
    if rule == MDL:
        assert cutter.classes is not None
        return numbers.with_classes(name, cutter.classes, cutter.n_classes, cutter.memory_limit)
    return numbers.find_cuts(name, rule, cutter.treatment.bins_of(name), cutter.memory_limit)


def _with_missing(plan: ColumnPlan, treatment: Treatment) -> ColumnPlan:
    """Say what stands for a missing value."""
    mark = len(plan.levels)
    if not plan.n_missing or treatment.missing == "testwise":
        return plan._replace(mark=mark)
    if mark == MAX_LEVELS:
        raise too_many_levels(mark + 1)
    return plan._replace(levels=(*plan.levels, None), mark=mark, n_missing=0)
