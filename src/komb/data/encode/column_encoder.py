"""Encode columns that may have missing values, and numbers to be cut into bins.

The encoders of :mod:`komb.data.encode.arrays` know neither; they refuse a column with missing
values and say where those are. So such a column is encoded without them, and they are put back as a
code of their own. A table without missing values takes the same way as ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import compress
from typing import Any

import numpy as np
import numpy.typing as npt

from komb.data.encode.arrays import Later
from komb.data.encode.codes import Array, Column, Encoded, Name, code_dtype
from komb.data.encode.column_errors import (
    FEW_LEVELS,
    MAX_LEVELS,
    ColumnProblem,
    Continuous,
    Missing,
    TooManyLevels,
    explain,
    not_to_be_cut,
    too_many_levels,
)
from komb.data.encode.discretization import cut, find_cuts
from komb.data.encode.numbers import Floats, to_numbers
from komb.data.encode.treatment import MDL, Rule, Treatment
from komb.errors import Argument, ContinuousColumnError, UnknownNameError

_SAMPLE = 4_096  # rows that settle most of the time that a column has many values


class ColumnEncoder:
    """The encoder of the columns of one table."""

    def __init__(
        self, treatment: Treatment, columns: Mapping[Name, Later], target: Name | None = None
    ) -> None:
        self._treatment = treatment
        self._target = target
        self._classes: Column | None = None
        if treatment.needs_target:
            self._classes = self._encode_target(columns)

    def encode(self, name: Name, column: Later) -> Column:
        """Encode one column; raises :class:`~komb.data.encode.column_errors.ColumnProblem`."""
        if self._classes is not None and name == self._target:
            return self._classes
        return self._treat(name, column, self._treatment.rule_of(name))

    def _encode_target(self, columns: Mapping[Name, Later]) -> Column:
        target, treatment = self._target, self._treatment
        treatment.check_target(target)
        if target not in columns:
            raise UnknownNameError.among("column", target, columns, "target")
        rule = treatment.rule_of(target) if treatment.is_named(target) else None
        try:
            return self._treat(target, columns[target], rule)
        except Continuous as problem:
            raise ContinuousColumnError(
                f"Column {target!r} {problem.why}; where others are cut by the target ('mdl'), it "
                "must hold discrete levels.",
                (
                    "Say for each column how it is cut: ",
                    Argument("discretize", {target: "quantile", "another": "mdl"}),
                    ".",
                ),
            ) from None
        except ColumnProblem as problem:
            raise explain({target: problem}) from None

    def _treat(self, name: Name, column: Later, rule: Rule | None) -> Column:
        """Cut a column if it is numeric and has many values, or was named; else keep its levels."""
        numbers = None if rule is None else to_numbers(column.values)
        is_named = self._treatment.is_named(name)
        if rule is None or numbers is None:
            if is_named:
                raise not_to_be_cut()
            return self.fill(column)
        if is_named or _has_many(numbers):
            return self.cut(name, numbers, rule)
        try:
            filled = self.fill(column)
        except (Continuous, TooManyLevels):
            return self.cut(name, numbers, rule)
        n_levels = sum(level is not None for level in filled.levels)
        return filled if n_levels <= FEW_LEVELS else self.cut(name, numbers, rule)

    def cut(self, name: Name, numbers: Floats, rule: Rule) -> Column:
        """Cut a column of numbers, which are NaN where missing."""
        is_missing = np.isnan(numbers)
        if is_missing.all() or self._treatment.missing == "error":
            Missing.check(is_missing)
        known = numbers[~is_missing] if is_missing.any() else numbers
        cuts = rule if isinstance(rule, tuple) else self._find_cuts(name, numbers, rule)
        return self.spread(cut(known, cuts), numbers, cuts)

    def spread(self, encoded: Encoded, numbers: Floats, cuts: tuple[float, ...]) -> Column:
        """Put the codes of numbers that were cut into the rows that have one."""
        is_known = ~np.isnan(numbers)
        kept = None if is_known.all() else np.flatnonzero(is_known)
        return self._spread(encoded, kept, len(numbers), cuts)

    def _find_cuts(self, name: Name, numbers: Floats, way: str) -> tuple[float, ...]:
        is_used = ~np.isnan(numbers)
        if way != MDL or self._classes is None:
            return find_cuts(numbers[is_used], way, self._treatment.bins_of(name))
        if self._classes.has_missing:
            is_used &= self._classes.codes < len(self._classes.levels)
        if not is_used.any():
            return ()
        return find_cuts(numbers[is_used], way, 0, self._classes.codes[is_used])

    def fill(self, column: Later) -> Column:
        """Encode the values that are there, and mark the missing ones."""
        values, kept, n_rows = column.values, None, len(column.values)
        while True:
            try:
                return self._spread(column.encode(values), kept, n_rows)
            except Missing as problem:
                if self._treatment.missing == "error":
                    raise
                is_known = ~problem.is_missing
                kept = np.flatnonzero(is_known) if kept is None else kept[is_known]
                if not kept.size:
                    raise Missing(np.ones(n_rows, bool)) from None
                values = _keep(values, is_known)

    def _spread(
        self,
        encoded: Encoded,
        kept: npt.NDArray[np.intp] | None,
        n_rows: int,
        cuts: tuple[float, ...] | None = None,
    ) -> Column:
        """Put the codes of known values into their rows; a code above the last marks the others."""
        if kept is None:
            return Column(encoded.codes, encoded.levels, cuts)
        mark = len(encoded.levels)
        codes = np.full(n_rows, mark, code_dtype(mark + 1))
        codes[kept] = encoded.codes
        if self._treatment.missing == "testwise":
            return Column(codes, encoded.levels, cuts, has_missing=True)
        if mark == MAX_LEVELS:
            raise too_many_levels(mark + 1)
        return Column(codes, (*encoded.levels, None), cuts)


def _has_many(numbers: Floats) -> bool:
    """Tell from a few rows whether a column has many values; false if they do not settle it."""
    sample = numbers[:_SAMPLE]
    return np.unique(sample[~np.isnan(sample)]).size > FEW_LEVELS


def _keep(values: Any, is_kept: npt.NDArray[np.bool_]) -> Any:
    """Return some values of a column, in the kind of container they are in."""
    if isinstance(values, list):
        return list(compress(values, is_kept.tolist()))
    if isinstance(values, np.ndarray):
        kept: Array = values[is_kept]
        return kept
    return values[np.flatnonzero(is_kept)]
