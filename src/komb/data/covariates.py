"""Covariates that every test holds fixed: columns of a finished table, or strata of them.

Discrete covariates give a stratum for each combination of values. Continuous ones are cut finely,
all of them together, by a regression tree that predicts them from themselves: again and again the
stratum is split where that takes away most of their variance. So a cut goes through a gap rather
than through a cluster (two populations on a principal component), and several covariates share the
strata by how much they vary. The number of strata grows with the cube root of the rows: what a
covariate still explains inside of strata falls faster than the tests gain power to see it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from komb.data.bins import Floats, label_bins
from komb.data.groups import join, replace_columns
from komb.data.kinds import TIME
from komb.data.levels import Levels
from komb.data.names import Name
from komb.data.problems import FEW_LEVELS, MAX_LEVELS
from komb.data.table import DiscreteTable, column_numbers
from komb.errors import ParameterError, UnknownNameError

STRATA_FACTOR = 2.0
"""Strata of one continuous covariate per cube root of the rows."""

LEAST_ROWS = 5
"""Rows in a stratum."""

_FAR = 3.0  # quartile ranges beyond the quartiles, where values count as equally far out


class Held(NamedTuple):
    """A table whose covariates are columns that a search can hold fixed."""

    table: DiscreteTable
    fixed: tuple[Name, ...] = ()  # one column of strata, and those that tests take by their values
    notes: Mapping[str, tuple[int, str]] = {}  # number of strata, and what they are


def hold_fixed(table: DiscreteTable, given: Sequence[Name], *, takes_numbers: bool = False) -> Held:
    """Put covariates into the columns that are held fixed.

    Those with many different numbers stay as they are, if the test takes numbers and other columns
    are tested as such. The others become one column of strata, at the end of the table.
    """
    try:
        columns = {name: column_numbers(table, name) for name in dict.fromkeys(given)}
    except UnknownNameError as error:
        raise error.concerning("given") from None
    continuous = {name: x for name, x in columns.items() if x is not None and is_continuous(x)}
    are_ranked = takes_numbers and table.has_ranks and table.numbers.keys() >= continuous.keys()
    numeric: tuple[Name, ...] = ()
    if are_ranked and table.numbers.keys() - given:
        numeric, continuous = tuple(continuous), {}
    rest = [name for name in columns if name not in numeric]
    if not rest:
        return Held(table, numeric)
    strata = strata_name(rest)
    if strata in table.names and strata not in rest:
        rule = f"leave the name {strata!r} to the strata of the covariates"
        raise ParameterError.because("given", rule, tuple(given), "Rename that column.")
    table = put_into_strata(table, rest, continuous)
    reason = "combinations of values held fixed"
    if continuous:
        listed = ", ".join(map(str, continuous))
        reason = f"{listed} cut finely, as the cube root of the rows allows"
    n_strata = len(table.levels[table.index(strata)])
    return Held(table, (strata, *numeric), {"strata": (n_strata, reason)})


def is_continuous(numbers: Floats) -> bool:
    """Whether a covariate has too many values to be a stratum each."""
    return np.unique(numbers[~np.isnan(numbers)]).size > FEW_LEVELS


def strata_name(covariates: Sequence[Name]) -> Name:
    """Return the name of the column of strata."""
    return covariates[0] if len(covariates) == 1 else ", ".join(map(str, covariates))


def put_into_strata(
    table: DiscreteTable, covariates: Sequence[Name], continuous: Mapping[Name, Floats]
) -> DiscreteTable:
    """Put one column of strata into the place of all covariates."""
    positions = [table.index(name) for name in covariates if name not in continuous]
    columns, levels = [table.codes[x] for x in positions], [table.levels[x] for x in positions]
    if continuous:
        n_combinations = len(join(columns, [*map(len, levels)]).parts) if columns else 1
        n_strata = count_strata(table.n_rows // n_combinations, len(continuous))
        codes = find_strata(np.column_stack([*continuous.values()]), n_strata)
        are_times = any(
            table.types[name].kind == TIME for name in continuous if name in table.types
        )
        own = label_strata([*continuous.values()], codes, are_times=are_times)
        is_level = any(None in table.levels[table.index(name)] for name in continuous)
        if is_level and (codes == len(own)).any():
            own = (*own, None)
        columns, levels = [*columns, codes.astype(np.uint16)], [*levels, own]
    joint = join(columns, [*map(len, levels)])
    if len(joint.parts) >= MAX_LEVELS:
        rule = f"have fewer than {MAX_LEVELS:,} combinations of values"
        remedy = "Hold fewer columns fixed, or columns with fewer values."
        raise ParameterError.because("given", rule, len(joint.parts), remedy)
    named = [
        tuple(own[code] for own, code in zip(levels, part, strict=True)) for part in joint.parts
    ]
    shown: Levels = tuple(part[0] for part in named) if len(levels) == 1 else tuple(named)
    without = table.select([name for name in table.names if name not in covariates])
    return replace_columns(without, [], strata_name(covariates), joint.codes, shown)


def count_strata(n_rows: int, n_covariates: int) -> int:
    """Into how many strata continuous covariates are cut."""
    wanted = round(STRATA_FACTOR * n_covariates * math.cbrt(n_rows))
    return max(2, min(wanted, n_rows // LEAST_ROWS, MAX_LEVELS - 1))


def find_strata(covariates: Floats, n_strata: int) -> npt.NDArray[np.int64]:
    """Give numbers to strata of continuous covariates; rows that lack a value have the next one."""
    from sklearn.tree import DecisionTreeRegressor

    is_known = ~np.isnan(covariates).any(axis=1)
    if not is_known.any():
        rule, remedy = "have a row in which none of them is missing", "Hold fewer columns fixed."
        raise ParameterError.because("given", rule, "none", remedy, shown="none")
    points = np.column_stack([_scale(column) for column in covariates[is_known].T])
    # sums, and so the tree, depend on nothing but the values if these are in order
    ordered = points[np.lexsort(points.T[::-1])]
    tree = DecisionTreeRegressor(
        max_leaf_nodes=n_strata, min_samples_leaf=LEAST_ROWS, random_state=0
    )
    leaves = tree.fit(ordered, ordered).apply(points)
    lowest = [points[leaves == leaf].min(axis=0).tolist() for leaf in np.unique(leaves)]
    place = np.empty(len(lowest), np.int64)
    place[sorted(range(len(lowest)), key=lowest.__getitem__)] = np.arange(len(lowest))
    codes = np.full(len(covariates), len(lowest), np.int64)
    codes[is_known] = place[np.unique(leaves, return_inverse=True)[1]]
    return codes


def _scale(numbers: Floats) -> Floats:
    """Bring a covariate to unit variance, with values that are far out pulled in."""
    finite = numbers[np.isfinite(numbers)]
    if not finite.size:
        return np.zeros(len(numbers))
    low, high = np.quantile(finite, [0.25, 0.75])
    span = _FAR * (high - low)
    ends = (low - span, high + span) if span > 0 else (finite.min(), finite.max())
    numbers = np.clip(numbers, *ends)
    ordered = np.sort(numbers)  # sums do not depend on the order of the rows
    deviation = float(np.std(ordered))
    centred: Floats = (numbers - np.mean(ordered)) / (deviation or 1.0)
    return centred


def label_strata(
    covariates: Sequence[Floats], codes: npt.NDArray[np.int64], *, are_times: bool
) -> Levels:
    """Name strata: those of a single covariate by where it is cut, others by number."""
    is_known = ~np.isnan(covariates).any(axis=0)
    n_strata = int(codes[is_known].max()) + 1
    if len(covariates) > 1:
        return tuple(f"stratum {number}" for number in range(1, n_strata + 1))
    values, own = covariates[0][is_known], codes[is_known]
    lowest = np.array([values[own == code].min() for code in range(n_strata)])
    highest = np.array([values[own == code].max() for code in range(n_strata)])
    cuts = (highest[:-1] / 2 + lowest[1:] / 2).tolist()
    labels = label_bins(cuts, are_times=are_times)
    return tuple(labels) if len(labels) == n_strata else tuple(range(n_strata))
