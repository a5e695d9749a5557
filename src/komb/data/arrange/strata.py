"""Strata of covariates: rows that are alike in what is held fixed.

Discrete covariates give a stratum for each combination of values. Continuous ones are cut finely,
all of them together, by a tree: again and again the stratum whose values differ most is split where
that takes away most of the variance. So a cut goes through a gap rather than through a cluster
(two populations on a principal component), and several covariates share the strata by how much they
vary. The number of strata grows with the cube root of the rows: what a covariate still explains
inside of strata falls faster than the tests gain power to see it.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from komb.data.arrange.joint import join, replace_columns
from komb.data.encode.bin_labels import label_bins, label_times
from komb.data.encode.codes import Levels
from komb.data.encode.column_errors import FEW_LEVELS, MAX_LEVELS, Missing, explain
from komb.data.encode.column_types import TIME
from komb.data.encode.numbers import Floats
from komb.data.names import Name
from komb.data.table import DiscreteTable
from komb.errors import ParameterError

STRATA_FACTOR = 2.0
"""Strata of one continuous covariate per cube root of the rows."""

LEAST_ROWS = 5
"""Rows in a stratum."""

_FAR = 3.0  # quartile ranges beyond the quartiles, where values count as equally far out


class Strata(NamedTuple):
    """The strata of continuous covariates; the code above the last level marks missing values."""

    codes: npt.NDArray[np.int64]
    levels: Levels


def is_continuous(numbers: Floats | None) -> bool:
    """Whether a covariate has too many values to be a stratum each."""
    return numbers is not None and np.unique(numbers[~np.isnan(numbers)]).size > FEW_LEVELS


def count_strata(n_rows: int, n_covariates: int) -> int:
    """Into how many strata continuous covariates are cut."""
    wanted = round(STRATA_FACTOR * n_covariates * math.cbrt(n_rows))
    return max(2, min(wanted, n_rows // LEAST_ROWS, MAX_LEVELS - 1))


def cut_into_strata(
    covariates: Sequence[tuple[Name, Floats]],
    n_strata: int,
    missing: str,
    label: Callable[[Sequence[float]], list[str]] = label_bins,
) -> Strata:
    """Cut continuous covariates into strata, all of them together."""
    is_missing = np.zeros(len(covariates[0][1]), dtype=bool)
    problems = {}
    for name, numbers in covariates:
        lacks = np.isnan(numbers)
        if lacks.any() and (missing == "error" or lacks.all()):
            problems[name] = Missing(lacks)
        is_missing |= lacks
    if problems:
        raise explain(problems)
    known = np.flatnonzero(~is_missing)
    scaled = [_scale(numbers[known]) for _, numbers in covariates]
    own = _split(np.column_stack(scaled), n_strata)
    levels = _label(covariates, known, own, label)
    codes = np.full(len(is_missing), len(levels), dtype=np.int64)
    codes[known] = own
    if missing == "level" and is_missing.any():
        levels = (*levels, None)
    return Strata(codes, levels)


def _scale(numbers: Floats) -> Floats:
    """Bring a covariate to unit variance, with values that are far out pulled in."""
    finite = numbers[np.isfinite(numbers)]
    if not finite.size:
        return np.zeros(len(numbers))
    low, high = np.quantile(finite, [0.25, 0.75])
    span = _FAR * (high - low)
    if span > 0:
        numbers = np.clip(numbers, low - span, high + span)
    else:
        numbers = np.clip(numbers, finite.min(), finite.max())
    ordered = np.sort(numbers)  # sums do not depend on the order of the rows
    deviation = float(np.std(ordered))
    centred: Floats = (numbers - np.mean(ordered)) / (deviation or 1.0)
    return centred


class _Split(NamedTuple):
    """Where to split a stratum, and how much variance that takes away."""

    gain: float
    column: int
    cut: float


def _split(points: Floats, n_strata: int) -> npt.NDArray[np.int64]:
    """Give numbers to the strata of points: the one that gains most is split first."""
    rows = np.arange(len(points))
    done: list[npt.NDArray[np.intp]] = []
    waiting: list[tuple[float, int, npt.NDArray[np.intp], _Split]] = []
    number = 0  # of equal gains, the stratum that was made first

    def offer(some: npt.NDArray[np.intp]) -> None:
        nonlocal number
        best = _best_split(points[some])
        if best is None:
            done.append(some)
        else:
            heapq.heappush(waiting, (-best.gain, number, some, best))
        number += 1

    offer(rows)
    while waiting and len(waiting) + len(done) < n_strata:
        _, _, some, best = heapq.heappop(waiting)
        is_low = points[some, best.column] < best.cut
        offer(some[is_low])
        offer(some[~is_low])
    strata = done + [some for _, _, some, _ in waiting]
    strata.sort(key=lambda some: tuple(np.sort(points[some], axis=0)[0].tolist()))
    codes = np.empty(len(points), dtype=np.int64)
    for code, some in enumerate(strata):
        codes[some] = code
    return codes


def _best_split(points: Floats) -> _Split | None:
    """Find the split that takes away most variance; None if there is nothing to split."""
    n_rows = len(points)
    if n_rows < 2 * LEAST_ROWS:
        return None
    sizes = np.arange(1, n_rows)
    best: _Split | None = None
    for column in range(points.shape[1]):
        values = np.sort(points[:, column])
        sums = np.cumsum(values)
        left, right = sums[:-1] / sizes, (sums[-1] - sums[:-1]) / (n_rows - sizes)
        gains = sizes * (n_rows - sizes) / n_rows * (right - left) ** 2
        gains[: LEAST_ROWS - 1] = gains[n_rows - LEAST_ROWS :] = 0.0
        gains[values[:-1] == values[1:]] = 0.0
        place = int(np.argmax(gains))
        if gains[place] > 0 and (best is None or gains[place] > best.gain):
            cut = (values[place] + values[place + 1]) / 2
            # halfway between neighbouring floats is one of the two
            best = _Split(
                float(gains[place]), column, max(cut, np.nextafter(values[place], np.inf))
            )
    return best


def _label(
    covariates: Sequence[tuple[Name, Floats]],
    known: npt.NDArray[np.intp],
    codes: npt.NDArray[np.int64],
    label: Callable[[Sequence[float]], list[str]],
) -> Levels:
    """Name strata: those of a single covariate by where it is cut, others by number."""
    n_strata = int(codes.max()) + 1
    if len(covariates) > 1:
        return tuple(f"stratum {number}" for number in range(1, n_strata + 1))
    values = covariates[0][1][known]
    lowest = np.array([values[codes == code].min() for code in range(n_strata)])
    highest = np.array([values[codes == code].max() for code in range(n_strata)])
    cuts = (highest[:-1] / 2 + lowest[1:] / 2).tolist()
    labels = label(cuts)
    return tuple(labels) if len(labels) == n_strata else tuple(range(n_strata))


def strata_name(covariates: Sequence[Name]) -> Name:
    """Return the name of the column of strata."""
    return covariates[0] if len(covariates) == 1 else ", ".join(map(str, covariates))


def put_into_strata(
    table: DiscreteTable,
    covariates: Sequence[Name],
    continuous: Sequence[tuple[Name, Floats]],
    missing: str,
) -> DiscreteTable:
    """Put one column of strata into the place of all covariates."""
    numeric = {name for name, _ in continuous}
    positions = [table.index(name) for name in covariates if name not in numeric]
    columns, levels = [table.codes[x] for x in positions], [table.levels[x] for x in positions]
    if continuous:
        n_combinations = len(join(columns, [*map(len, levels)]).parts) if columns else 1
        n_strata = count_strata(table.n_rows // n_combinations, len(continuous))
        types = [table.types[name].kind for name in numeric if name in table.types]
        label = label_times if TIME in types else label_bins
        cut = cut_into_strata(continuous, n_strata, missing, label)
        columns, levels = [*columns, cut.codes.astype(np.uint16)], [*levels, cut.levels]
    joint = join(columns, [*map(len, levels)])
    if len(joint.parts) >= MAX_LEVELS:
        rule = f"have fewer than {MAX_LEVELS:,} combinations of values"
        remedy = "Hold fewer columns fixed, or columns with fewer values."
        raise ParameterError.because("given", rule, len(joint.parts), remedy)
    named: Levels = tuple(
        own[part[0]] if len(levels) == 1 else tuple(o[c] for o, c in zip(levels, part, strict=True))
        for part in joint.parts
        for own in levels[:1]
    )
    without = table.select([name for name in table.names if name not in covariates])
    return replace_columns(without, [], strata_name(covariates), joint.codes, named)
