"""A table as the search for groups of columns takes it: few levels, one target, covariates.

A column of numbers is cut into bins of equally many rows; of a column with very many levels the
rarest are one. Covariates become numbers: a measurement stays one, any other column is an indicator
for each of its levels but one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from komb.data.bins import bins_of, find_cuts, label_bins
from komb.data.covariates import is_continuous
from komb.data.kinds import TIME, Place
from komb.data.levels import Levels
from komb.data.names import Name
from komb.data.table import DiscreteTable, column_numbers
from komb.engine.group_screen import MOST_LEVELS
from komb.engine.group_tests import LARGEST_SHARE, Target, entropy_of, normal_scores
from komb.errors import DataError, ParameterError
from komb.views.text import plural

BINS = {2: 4}
"""Into how many levels numbers are cut, by the size of the groups."""
FEW_BINS = 3
"""The same for larger groups, whose tables have more cells."""

OTHER_LEVELS = "other levels"

CASE = "case"
"""The level of a PLINK phenotype whose share is shown."""


@dataclass(frozen=True)
class GroupColumns:
    """Columns of which groups are made, and what they are to explain.

    ``names`` are those of the columns, ``codes`` has each of them coded 0 .. levels - 1, and levels
    where a value is missing; ``notes`` says in sentences what has become of columns.
    """

    names: tuple[Name, ...]
    codes: npt.NDArray[Any]
    levels: tuple[Levels, ...]
    target: Target
    target_levels: Levels  # none if it is measured
    places: Mapping[Name, Place]
    notes: tuple[str, ...] = ()
    _numbers: Mapping[int, npt.NDArray[np.float64]] = field(default_factory=dict)

    @cached_property
    def cardinalities(self) -> npt.NDArray[np.int64]:
        """How many levels each column has."""
        return np.array([len(own) for own in self.levels], np.int64)

    def likeness(self, x: int, z: int) -> float:
        """How much two columns are copies: a squared correlation, or Cramer's V of levels."""
        key = (min(x, z), max(x, z))
        if key not in self._likenesses:
            self._likenesses[key] = self._compare(*key)
        return self._likenesses[key]

    @cached_property
    def _likenesses(self) -> dict[tuple[int, int], float]:
        return {}

    def _compare(self, x: int, z: int) -> float:
        if self._deviations(x) is not None and self._deviations(z) is not None:
            return _squared_correlation(self._deviations(x), self._deviations(z))
        n, m = self.cardinalities[[x, z]]
        known = (self.codes[x] < n) & (self.codes[z] < m)
        a, b = self.codes[x][known].astype(np.intp), self.codes[z][known].astype(np.intp)
        table = np.bincount(a * m + b, minlength=n * m).reshape(n, m).astype(float)
        table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
        if min(table.shape) < 2:
            return 0.0
        shares = table**2 / np.outer(table.sum(axis=1), table.sum(axis=0))
        return float((shares.sum() - 1.0) / (min(table.shape) - 1))

    def _deviations(self, x: int) -> Any:
        """Return how far the values of an ordered column are from their mean, 0 where missing."""
        if x not in self._known_deviations:
            own = None
            if _are_ordered(self.levels[x]):
                known = self.codes[x] < self.cardinalities[x]
                own = np.where(known, self.codes[x] - self.codes[x][known].mean(), 0.0)
            self._known_deviations[x] = own, None if own is None else known.astype(float)
        return None if self._known_deviations[x][0] is None else self._known_deviations[x]

    @cached_property
    def _known_deviations(self) -> dict[int, tuple[Any, Any]]:
        return {}

    def distance(self, x: int, z: int) -> float:
        """How far apart two variants are in the genome; infinite on different chromosomes."""
        first, second = (self.places.get(self.names[column]) for column in (x, z))
        if first is None or second is None or first.chromosome != second.chromosome:
            return np.inf
        if first.position is None or second.position is None:
            return np.inf
        return abs(first.position - second.position)

    def cells(self, group: Sequence[int]) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any], Any]:
        """Rows of each cell of a group, the target's mean there, and the level that it is of.

        Of a target with more than two levels it is the one whose share differs most.
        """
        levels = self.cardinalities[list(group)]
        own = self.codes[list(group)]
        rows = np.flatnonzero(self.target.is_known & (own < levels[:, None]).all(axis=0))
        place = np.ravel_multi_index(tuple(own[:, rows].astype(np.intp)), tuple(levels))
        n_cells = int(np.prod(levels))
        counts = np.bincount(place, minlength=n_cells)
        shown: tuple[object, ...] = (None,)
        if not self.target.n_levels:
            responses = self.measured[rows][None]
        else:
            responses = np.eye(self.target.n_levels)[:, self.target.codes[rows]]
            shown = (*self.target_levels,)
            if len(shown) == 2:
                side = 0 if shown[0] == CASE else 1
                responses, shown = responses[[side]], (shown[side],)
        sums = np.array([np.bincount(place, each, n_cells) for each in responses])
        means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
        total = responses.mean(axis=1)
        spread = np.nansum(counts * (means - total[:, None]) ** 2, axis=1)
        best = int(np.argmax(spread / np.maximum(responses.var(axis=1), 1e-300)))
        return counts, means[best], shown[best]

    def on(self, scale: str) -> GroupColumns:
        """Return the same columns with a measured target on a scale."""
        return replace(self, target=_on_scale(self.target, self.measured, scale))

    @property
    def measured(self) -> npt.NDArray[np.float64]:
        """The target's own numbers, if it is measured."""
        return self._numbers[-1]


def make_columns(
    table: DiscreteTable, target: Name, given: Sequence[Name], size: int, names: Sequence[Name]
) -> GroupColumns:
    """Prepare the columns of a table that are named, the target and its covariates."""
    covariates, known = _to_covariates(table, given)
    response, target_levels, values = _to_target(table, target, covariates, known)
    taken: list[tuple[Name, npt.NDArray[Any], Levels]] = []
    n_cut, n_pooled, constant = 0, 0, 0
    for name in names:
        codes, levels, what = _to_levels(table, name, BINS.get(size, FEW_BINS))
        n_cut, n_pooled = n_cut + (what == "cut"), n_pooled + (what == "pooled")
        counts = np.bincount(codes[response.is_known], minlength=len(levels) + 1)[: len(levels)]
        if np.count_nonzero(counts) < 2:
            constant += 1
            continue
        taken.append((name, codes.astype(np.uint8), levels))
    if len(taken) < 2:
        rule, remedy = "have at least 2 columns that vary besides the target", "Check its columns."
        raise DataError.because("data", rule, len(taken), remedy)
    return GroupColumns(
        tuple(name for name, _, _ in taken),
        np.array([codes for _, codes, _ in taken]),
        tuple(levels for _, _, levels in taken),
        response,
        target_levels,
        table.annotations,
        tuple(_describe(n_cut, n_pooled, constant, BINS.get(size, FEW_BINS))),
        {-1: values},
    )


def _describe(n_cut: int, n_pooled: int, n_constant: int, bins: int) -> Iterator[str]:
    if n_cut:
        verb = "was" if n_cut == 1 else "were"
        count = f"{plural(n_cut, 'column')} of numbers {verb}"
        yield f"{count} cut into {bins} levels of equally many rows."
    if n_pooled:
        count = plural(n_pooled, "column")
        yield f"Of {count} with more than {MOST_LEVELS} levels, the rarest were taken as one."
    if n_constant:
        yield f"{plural(n_constant, 'column')} without two levels took no part."


def _squared_correlation(first: Any, second: Any) -> float:
    """Return that of two columns, in the rows that have both."""
    (a, has_a), (b, has_b) = first, second
    product = float((a * a @ has_b) * (b * b @ has_a))
    return float((a @ b) ** 2 / product) if product > 0 else 0.0


def _are_ordered(levels: Levels) -> bool:
    """Whether levels are in an order that counts: numbers, or bins of some."""
    return len(levels) == 2 or all(
        isinstance(level, int | float | np.number | _Bin) for level in levels
    )


class _Bin(str):
    """The label of a bin of numbers."""

    __slots__ = ()


def _to_levels(table: DiscreteTable, name: Name, bins: int) -> tuple[npt.NDArray[Any], Levels, str]:
    """Return a column with few levels, and what was done to it."""
    position = table.index(name)
    codes, levels = table.codes[position], table.levels[position]
    numbers = column_numbers(table, name) if name in table.numbers or _is_long(levels) else None
    if numbers is not None and not _is_cut(table, name):
        known = np.isfinite(numbers)
        cuts = find_cuts(lambda: iter([numbers[~np.isnan(numbers)]]), "quantile", bins)
        labels = label_bins(cuts, are_times=name in table.types and table.types[name].kind == TIME)
        cut = np.where(np.isnan(numbers), len(labels), bins_of(numbers, cuts))
        return cut, tuple(map(_Bin, labels)) if known.any() else (), "cut"
    if not _is_long(levels):
        return codes, levels, ""
    counts = np.bincount(codes, minlength=len(levels))[: len(levels)]
    kept = np.sort(np.argsort(-counts, kind="stable")[: MOST_LEVELS - 1])
    place = np.full(len(levels) + 1, MOST_LEVELS - 1)
    place[kept], place[-1] = np.arange(len(kept)), MOST_LEVELS
    return place[codes], (*(levels[level] for level in kept), OTHER_LEVELS), "pooled"


def _is_cut(table: DiscreteTable, name: Name) -> bool:
    """Whether a column of numbers was cut by request."""
    said = table.reading.get("discretize")
    return isinstance(said, str) or (isinstance(said, Mapping) and name in said)


def _is_long(levels: Levels) -> bool:
    return len(levels) > MOST_LEVELS


def _to_covariates(
    table: DiscreteTable, given: Sequence[Name]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return covariates as numbers, and which rows have all of them."""
    columns: list[npt.NDArray[np.float64]] = []
    known = np.ones(table.n_rows, np.bool_)
    for name in given:
        numbers, position = column_numbers(table, name), table.index(name)
        if numbers is not None and is_continuous(numbers):
            known &= np.isfinite(numbers)
            columns.append(numbers)
            continue
        codes, n_levels = table.codes[position], len(table.levels[position])
        known &= codes < n_levels
        columns += [(codes == level).astype(float) for level in range(1, n_levels)]
    most = int(LARGEST_SHARE * known.sum())
    if len(columns) > most:
        rule = f"have at most {most:,} numbers and levels, one for ten rows that have all of them"
        remedy = "Hold fewer columns fixed, or columns with fewer levels."
        raise ParameterError.because("given", rule, len(columns), remedy)
    covariates = np.array(columns).reshape(len(columns), table.n_rows).T
    if columns:
        own = covariates[known]
        covariates = (covariates - own.mean(axis=0)) / np.where(
            own.std(axis=0) > 0, own.std(axis=0), 1
        )
        covariates[~known] = 0.0
    return covariates, known


def _to_target(
    table: DiscreteTable, name: Name, covariates: npt.NDArray[np.float64],
    known: npt.NDArray[np.bool_],
) -> tuple[Target, Levels, npt.NDArray[np.float64]]:  # fmt: skip
    """Return the target: a measurement stays one, any other has levels."""
    position = table.index(name)
    codes, levels = table.codes[position], table.levels[position]
    nothing = np.empty(0)
    if name in table.numbers and not _is_cut(table, name):
        values = np.where(known, table.numbers[name], np.nan)
        is_known = np.isfinite(values)
        _check_varies(name, np.unique(values[is_known]).size)
        marks = np.where(is_known, 0, 1).astype(np.uint8)
        return _on_scale(Target(marks, 0, values, covariates), values, "scores"), (), values
    if len(levels) > MOST_LEVELS:
        rule = f"have at most {MOST_LEVELS} levels, or be measured"
        shown = f"{name!r} with {len(levels)}"
        remedy = "Pool some of its levels, or cut it into bins."
        raise DataError.because("target", rule, name, remedy, shown=shown)
    counts = np.bincount(codes[known], minlength=len(levels) + 1)[: len(levels)]
    seen = np.flatnonzero(counts)
    _check_varies(name, len(seen))
    place = np.full(len(levels) + 1, len(seen), np.uint8)
    place[seen] = np.arange(len(seen))
    own = np.where(known, place[codes], len(seen)).astype(np.uint8)
    return Target(own, len(seen), nothing, covariates), tuple(levels[x] for x in seen), nothing


def _on_scale(target: Target, values: npt.NDArray[np.float64], scale: str) -> Target:
    """Return a measured target by normal scores, or by its values or their logarithm.

    The density is that of values with a variance of 1, so that scales can be compared.
    """
    known = values[target.is_known]
    spread, density = known.std(), -0.5 * math.log(2.0 * math.pi * math.e)
    if scale == "log":
        values, density = np.log(np.where(values > 0, values, 1.0)), density - np.log(known).mean()
    own = values[target.is_known]
    density += math.log(spread / own.std())
    scores = (values - own.mean()) / own.std()
    if scale == "scores":
        scores = normal_scores(np.where(target.is_known, values, np.nan))
        density = -entropy_of(known / spread)
    own = np.where(target.is_known, scores, 0.0)
    return target._replace(values=own, is_ranked=scale == "scores", density=float(density))


def _check_varies(name: Name, n_values: int) -> None:
    if n_values < 2:
        rule = "have at least 2 values, in rows that have all covariates if there are any"
        shown = f"{name!r} with {n_values}"
        raise DataError.because("target", rule, name, "Choose another target.", shown=shown)
