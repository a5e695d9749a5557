"""Tests of single groups of columns: what their screen has listed, decided with all there is.

The interaction of a group is tested by the score of its highest-order products in the model that
has all products of fewer columns, and the covariates: logistic or multinomial where the target has
levels, linear where it is measured. The association of a group is the score of all its cells, given
the covariates. Cells with too few rows get a parameter of their own in either model.

A score is a quadratic form in the residuals. Its variance depends on their kurtosis, by the
leverages of the cells, and so do the degrees of freedom of the distribution that p-values are
taken from.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc, fdtrc, ndtri, psi

from komb.engine.fixed_point import FloatArray, Int64Array
from komb.engine.group_screen import LEAST_ROWS, Responses

LEAST_EXPECTED = 1.0
"""Rows of the rarest class that a cell should have; one with fewer gets a parameter of its own."""

LEAST_FITTED = 0.1
"""The same, of what the model without the interaction expects, however rare the class is."""

LARGEST_SHARE = 0.1
"""Of the rows: as many parameters as covariates may have."""

_TOLERANCE = 1e-7  # of eigenvalues, relative to the largest: less is known of no direction
_MOST_STEPS, _CONVERGED = 40, 1e-9
_FARTHEST = 30.0  # of a logit


class Target(NamedTuple):
    """A target, and the covariates that its models have besides a group."""

    codes: npt.NDArray[Any]  # of rows; above the levels where missing, or where a covariate is
    n_levels: int  # 0 if it is measured
    values: FloatArray  # of rows, if it is measured
    covariates: FloatArray  # [row, covariate]; without columns if there are none
    is_ranked: bool = False  # whether it is measured by normal scores
    density: float = 0.0  # logarithm, per row, if nothing explains what it is measured by

    @property
    def is_known(self) -> npt.NDArray[np.bool_]:
        """Rows that no test has to leave out for the target or the covariates."""
        known: npt.NDArray[np.bool_] = self.codes < max(self.n_levels, 1)
        return known

    @property
    def least_rows(self) -> float:
        """Rows that a cell needs to have no parameter of its own: about its excess kurtosis."""
        if not self.n_levels:
            left = self.standardised()[0]
            return max(LEAST_ROWS, float((left**4).mean()) - 3.0)
        counts = np.bincount(self.codes[self.is_known], minlength=self.n_levels)
        return float(max(LEAST_ROWS, LEAST_EXPECTED * counts.sum() / counts.min()))

    def responses(self) -> Responses:
        """Return what groups are to explain: the levels, or what the covariates leave of them."""
        if self.n_levels and not self.covariates.shape[1]:
            return Responses.of_levels(self.codes, self.n_levels)
        left, rank = self.standardised()
        return Responses.of_values(left.T, np.flatnonzero(self.is_known))._replace(rank=rank)

    def beside(self, columns: FloatArray) -> Target:
        """Return the target of models that have further columns.

        Of numbers it is what these leave: so tests go by cell, not row by row.
        """
        covariates, known = np.hstack((self.covariates, columns)), self.is_known
        if self.n_levels or not columns.shape[1]:
            return self._replace(covariates=covariates)
        left = np.zeros(len(known))
        left[known] = _residuals(covariates[known], self.values[known])
        if self.is_ranked:
            left[known] = normal_scores(left[known])
        return self._replace(values=left)

    def fit(self, columns: FloatArray) -> float:
        """Return the log-likelihood per row of a measured target, by a linear model of columns.

        Less half of Schwarz's penalty.
        """
        if self.n_levels:
            return 0.0
        known = self.is_known
        left = _residuals(np.hstack((self.covariates, columns))[known], self.values[known])
        penalty = 0.5 * columns.shape[1] * math.log(len(left)) / len(left)
        return float(self.density - 0.5 * math.log(max((left**2).mean(), 1e-300)) - penalty)

    def standardised(self) -> tuple[FloatArray, int]:
        """Return what the covariates leave of the target, by row and response, and their rank.

        Each response has a variance of 1; of more than two levels there is one of each.
        """
        rows = np.flatnonzero(self.is_known)
        if not self.n_levels:
            left = _residuals(self.covariates[rows], self.values[rows])
            return left[:, None] / (left.std() or 1.0), 1
        own = np.eye(self.n_levels)[self.codes[rows]]
        chances = _fit(_with_constant(self.covariates[rows]), np.ones(len(rows)), own)
        if self.n_levels == 2:
            weight = math.sqrt(float((chances[:, 0] * chances[:, 1]).mean()))
            return (own - chances)[:, 1:] / weight, 1
        return (own - chances) / np.sqrt(chances.mean(axis=0)), self.n_levels - 1


def normal_scores(values: FloatArray) -> FloatArray:
    """Replace numbers by the normal quantiles of their mean ranks; missing ones stay."""
    from scipy.stats import rankdata

    known = ~np.isnan(values)
    scores = np.full(len(values), np.nan)
    scores[known] = ndtri((rankdata(values[known]) - 0.5) / known.sum())
    return scores


def entropy_of(values: FloatArray) -> float:
    """Estimate the differential entropy of numbers by their spacings (Vasicek 1976)."""
    ordered, n = np.sort(values), len(values)
    steps = round(math.sqrt(n))
    low, high = np.maximum(np.arange(n) - steps, 0), np.minimum(np.arange(n) + steps, n - 1)
    gaps = np.diff(ordered)
    least = float(gaps[gaps > 0].min(initial=math.inf))
    spacings = np.maximum(ordered[high] - ordered[low], least)
    return float((np.log(spacings) - psi(high - low)).mean()) + float(psi(n + 1))


class GroupTest(NamedTuple):
    """What is known of a group."""

    statistic: float
    df: float
    p_value: float
    bits: float  # beyond all smaller groups, less what chance gives
    bits_in_all: float
    n_rows: int


class GroupTests:
    """Tests groups of the columns of a table.

    Parameters
    ----------
    codes : array of shape (n_columns, n_rows)
    levels : int array
    target : Target
    alone : Target, optional
        The target without what other columns explain, by which bits in all are counted.
    """

    def __init__(
        self, codes: npt.NDArray[Any], levels: Int64Array, target: Target,
        alone: Target | None = None,
    ) -> None:  # fmt: skip
        self._codes, self._levels, self.target = codes, levels, target
        self._least_rows, self._alone = target.least_rows, alone or target

    def test(self, group: Sequence[int], *, is_saturated: bool = False) -> GroupTest:
        """Test the interaction of a group, or its association with the target."""
        units = self._units(group, self.target)
        smaller, highest = units.products()
        ones = _with_constant(np.empty((len(units.cells), 0)))
        alone = units if self._alone is self.target else self._units(group, self._alone)
        whole = alone.score(ones, np.hstack(alone.products()))
        own = whole if is_saturated else units.score(np.hstack((ones, smaller)), highest)
        pure = units.score(np.hstack((ones, smaller)), highest) if is_saturated else own
        return GroupTest(
            own.statistic, own.df, own.p_value, pure.bits, whole.bits, int(units.n_rows)
        )

    def beside(self, groups: Iterable[Sequence[int]]) -> GroupTests | None:
        """Return tests in models that have the cells of some groups; None if these are too many."""
        cells = self.cells_of(groups)
        if cells.shape[1] > LARGEST_SHARE * self.target.is_known.sum():
            return None
        beside = self.target.beside(cells)
        alone = None if beside.n_levels else self._alone
        return GroupTests(self._codes, self._levels, beside, alone)

    def cells_of(self, groups: Iterable[Sequence[int]]) -> FloatArray:
        """Return an indicator of each cell of some groups that is not rare, but for one of each."""
        return np.hstack([np.empty((len(self.target.codes), 0)), *map(self._cells_of, groups)])

    def _cells_of(self, group: Sequence[int]) -> FloatArray:
        own, levels = self._codes[list(group)].astype(np.intp), self._levels[list(group)] + 1
        cell_of = np.ravel_multi_index(tuple(own), tuple(levels))  # missing values are a level
        found, counts = np.unique(cell_of[self.target.is_known], return_counts=True)
        least = self._least_rows if self.target.n_levels else LEAST_ROWS
        cells: FloatArray = (cell_of[:, None] == found[counts >= least][1:]).astype(float)
        return cells

    def _units(self, group: Sequence[int], target: Target) -> _Units:
        levels = self._levels[list(group)]
        own = self._codes[list(group)]
        rows = np.flatnonzero(target.is_known & (own < levels[:, None]).all(axis=0))
        cell_of = np.ravel_multi_index(tuple(own[:, rows].astype(np.intp)), tuple(levels))
        found, place, sizes = np.unique(cell_of, return_inverse=True, return_counts=True)
        cells = np.column_stack(np.unravel_index(found, tuple(levels)))
        if target.n_levels:
            response = np.eye(target.n_levels)[target.codes[rows]]
        else:
            response = target.values[rows][:, None]
        kurtosis, least = _kurtosis(place, sizes, response, target.n_levels), self._least_rows
        if not target.n_levels:
            least = max(LEAST_ROWS, kurtosis)
        return _Units(
            cells, sizes.astype(float), sizes < least, place,
            target.covariates[rows], response, bool(target.n_levels), kurtosis,
        )  # fmt: skip


def _kurtosis(place: Int64Array, sizes: Int64Array, response: FloatArray, n_levels: int) -> float:
    """By how much the variance of a score exceeds that of a normal response.

    Of a measured one it is that of what the cells leave, whose effects are no outliers.
    """
    if n_levels:
        shares = response.mean(axis=0)
        n_classes = int((shares > 0).sum())
        return float((1 / shares[shares > 0]).sum()) - n_classes**2 - 2 * n_classes + 2
    values = response[:, 0]
    left = (values - (np.bincount(place, values) / sizes)[place])[sizes[place] >= LEAST_ROWS]
    if len(left) == 0:
        return 0.0
    return float((left**4).mean() / max((left**2).mean(), 1e-300) ** 2) - 3.0


class _Score(NamedTuple):
    statistic: float
    df: float
    p_value: float
    bits: float


class _Units(NamedTuple):
    """The rows of a group by cell."""

    cells: Int64Array  # [cell, element]
    sizes: FloatArray
    is_rare: npt.NDArray[np.bool_]
    place: Int64Array  # [row]: its cell
    covariates: FloatArray
    response: FloatArray  # [row, class], or [row, 1]
    has_levels: bool
    kurtosis: float  # excess

    @property
    def n_rows(self) -> int:
        return len(self.place)

    def products(self) -> tuple[FloatArray, FloatArray]:
        """Return the products of fewer than all columns, with those of rare cells, and of all."""
        n_elements, columns = self.cells.shape[1], [np.eye(len(self.cells))[:, self.is_rare]]
        for size in range(1, n_elements + 1):
            highest = [
                each
                for subset in combinations(range(n_elements), size)
                for each in self._indicators(subset)
            ]
            columns.append(np.array(highest, float).reshape(-1, len(self.cells)).T)
        return np.hstack(columns[:-1]), columns[-1]

    def _indicators(self, subset: tuple[int, ...]) -> Iterator[npt.NDArray[np.bool_]]:
        """Return the cells with each combination of levels, none of them the most frequent."""
        kept = [self._levels_but_one(element) for element in subset]
        for levels in product(*kept):
            yield (self.cells[:, list(subset)] == levels).all(axis=1)

    def _levels_but_one(self, element: int) -> Int64Array:
        counts = np.bincount(self.cells[:, element], weights=self.sizes)
        found = np.flatnonzero(counts)
        kept: Int64Array = found[found != counts.argmax()]
        return kept

    def score(self, null: FloatArray, more: FloatArray) -> _Score:
        """Test whether products matter beyond others and the covariates."""
        sizes, sums = np.ones(self.n_rows), self.response
        if not self.covariates.shape[1]:
            sizes = self.sizes
            sums = np.array([np.bincount(self.place, own, len(sizes)) for own in self.response.T]).T
        chances = np.empty((0, 0))
        while self.has_levels:
            chances = _fit(self._design(null), sizes, sums)
            is_poor = self._are_poor(null, sizes[:, None] * chances)
            if not is_poor.any():
                break
            null = np.hstack((null, np.eye(len(self.cells))[:, is_poor]))
        design, both = self._design(null), np.hstack((null, more))
        spread = self.kurtosis * self._unevenness(null, both)
        n_null, whole = design.shape[1], np.hstack((design, self._by_row(more)))
        if self.has_levels:
            return _multinomial_score(whole, n_null, sizes, sums, chances, spread)
        scores = [
            _linear_score(
                whole, n_null, weight * sizes, weight * sums[:, 0], total, spread, self.n_rows
            )
            for weight, total in self._weights()
        ]
        return scores[0]._replace(p_value=max(score.p_value for score in scores))

    def _weights(self) -> Iterator[tuple[FloatArray | float, float]]:
        """Return weights of units, and the weighted sum of squares of all rows.

        All alike; or by the variance that the cells leave at each level of one column, since rows
        of a level may vary more than others.
        """
        values, place = self.response[:, 0], self.place
        yield 1.0, float(values @ values)
        left = (values - (np.bincount(place, values) / self.sizes)[place]) ** 2
        for levels in self.cells.T:
            of_row = levels[place]
            counts = np.bincount(of_row) - np.bincount(levels)  # less the means of the cells
            variances = np.bincount(of_row, left) / np.maximum(counts, 1)
            mean = left.sum() / max(counts.sum(), 1)
            weights = mean / np.maximum(variances, 1e-3 * mean)
            of_unit = weights[of_row] if self.covariates.shape[1] else weights[levels]
            yield of_unit, float(values**2 @ weights[of_row])

    def _design(self, products: FloatArray) -> FloatArray:
        return np.hstack((self._by_row(products), self.covariates[: self._n_units]))

    def _by_row(self, products: FloatArray) -> FloatArray:
        """Repeat the cells for their rows, if these differ in covariates."""
        return products[self.place] if self.covariates.shape[1] else products

    @property
    def _n_units(self) -> int:
        return self.n_rows if self.covariates.shape[1] else len(self.cells)

    def _are_poor(self, null: FloatArray, expected: FloatArray) -> npt.NDArray[np.bool_]:
        """Which cells a model expects too few rows of some class in, and fits together with others.

        One that is there all the same would count for any amount.
        """
        if self.covariates.shape[1]:
            n_cells = len(self.cells)
            expected = np.array([np.bincount(self.place, own, n_cells) for own in expected.T]).T
        has_own = (null[:, np.count_nonzero(null, axis=0) == 1] != 0).any(axis=1)
        is_poor: npt.NDArray[np.bool_] = (expected.min(axis=1) < LEAST_FITTED) & ~has_own
        return is_poor

    def _unevenness(self, null: FloatArray, both: FloatArray) -> float:
        """Return the squared leverages of all rows, summed."""
        root = np.sqrt(self.sizes)[:, None]
        leverage = _leverages(root * both) - _leverages(root * null)
        return float((leverage**2 / self.sizes).sum())


def _leverages(design: FloatArray) -> FloatArray:
    left, values, _ = np.linalg.svd(design, full_matrices=False)
    kept = left[:, values > 1e-9 * values[0]]
    sums: FloatArray = (kept**2).sum(axis=1)
    return sums


def _multinomial_score(
    both: FloatArray, n_null: int, sizes: FloatArray, sums: FloatArray, chances: FloatArray,
    spread: float,
) -> _Score:  # fmt: skip
    """Score of some products in a multinomial model with the others, which has been fitted."""
    information = _information(both, sizes, chances)
    n_free = sums.shape[1] - 1
    is_null = np.tile(np.arange(both.shape[1]) < n_null, n_free)
    gradient = (both.T @ (sums - sizes[:, None] * chances)[:, 1:]).T.reshape(-1)
    inverse, rank = _invert(information)
    statistic = float(gradient @ inverse @ gradient)
    df = rank - _invert(information[np.ix_(is_null, is_null)])[1]
    is_grouped = not np.isin(sums, (0, 1)).all()
    gain = statistic
    if is_grouped:  # cells are saturated by both
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = sums * np.log(sums / (sizes[:, None] * chances))
        gain = 2.0 * float(np.nansum(terms))
    bits = max(gain - df, 0.0) / (2.0 * math.log(2.0) * sizes.sum())
    return _Score(statistic, df, _tail(statistic, df, spread, math.inf), float(bits))


def _linear_score(
    both: FloatArray, n_null: int, sizes: FloatArray, sums: FloatArray, total: float,
    spread: float, n_rows: int,
) -> _Score:  # fmt: skip
    """F test of some products in a linear model with the others, times its degrees of freedom."""
    gram, moments = both.T @ (sizes[:, None] * both), both.T @ sums
    inverse, rank = _invert(gram)
    own, own_rank = _invert(gram[:n_null, :n_null])
    explained, df = moments @ inverse @ moments, rank - own_rank
    gained = max(float(explained - moments[:n_null] @ own @ moments[:n_null]), 0.0)
    left, n_left = max(float(total - explained), 1e-300), n_rows - rank
    if n_left <= 0 or df <= 0:
        return _Score(0.0, df, 1.0, 0.0)
    statistic = gained / (left / n_left)
    shrunk = max(gained - df * left / n_left, 0.0)
    bits = 0.5 * math.log2(1.0 + shrunk / left)
    return _Score(statistic, df, _tail(statistic, df, spread, n_left), float(bits))


def _tail(statistic: float, df: float, spread: float, n_left: float) -> float:
    """Return the p-value of a quadratic form whose mean is ``df``, by its spread."""
    if df <= 0:
        return 1.0
    freedom = 2.0 * df**2 / max(2.0 * df + spread, 0.2 * df)
    if math.isinf(n_left):
        return float(chdtrc(freedom, statistic * freedom / df))
    return float(fdtrc(freedom, n_left, statistic / df))


def _fit(design: FloatArray, sizes: FloatArray, sums: FloatArray) -> FloatArray:
    """Fit a multinomial model by Newton's method; returns the chances of the classes."""
    shares = sums.sum(axis=0) / sizes.sum()
    logits = np.tile(
        np.log(np.maximum(shares[1:], 1e-12) / max(shares[0], 1e-12)), (len(design), 1)
    )
    for _ in range(_MOST_STEPS):
        chances = _to_chances(logits)
        gradient = (design.T @ (sums - sizes[:, None] * chances)[:, 1:]).T.reshape(-1)
        step = _invert(_information(design, sizes, chances))[0] @ gradient
        change = design @ step.reshape(sums.shape[1] - 1, -1).T
        logits = np.clip(logits + np.clip(change, -4.0, 4.0), -_FARTHEST, _FARTHEST)
        if np.abs(gradient @ step) < _CONVERGED:
            break
    return _to_chances(logits)


def _to_chances(logits: FloatArray) -> FloatArray:
    raised = np.exp(np.column_stack((np.zeros(len(logits)), logits)))
    chances: FloatArray = raised / raised.sum(axis=1, keepdims=True)
    return chances


def _information(design: FloatArray, sizes: FloatArray, chances: FloatArray) -> FloatArray:
    """Fisher's information, in blocks of all classes but the first."""
    own = chances[:, 1:]
    blocks = [
        [
            design.T @ ((sizes * own[:, k] * ((k == other) - own[:, other]))[:, None] * design)
            for other in range(own.shape[1])
        ]
        for k in range(own.shape[1])
    ]
    return np.block(blocks)


def _invert(matrix: FloatArray) -> tuple[FloatArray, int]:
    """Invert a symmetric matrix where it can be, with its rank."""
    scale = 1.0 / np.sqrt(np.maximum(np.diag(matrix), 1e-300))
    scale[np.diag(matrix) < _TOLERANCE] = 0.0
    values, vectors = np.linalg.eigh(matrix * scale[:, None] * scale)
    kept = values > _TOLERANCE * max(values.max(initial=0.0), 1e-300)
    vectors = vectors[:, kept] * scale[:, None]
    return (vectors / values[kept]) @ vectors.T, int(kept.sum())


def _residuals(covariates: FloatArray, values: FloatArray) -> FloatArray:
    design = _with_constant(covariates)
    left: FloatArray = values - design @ np.linalg.lstsq(design, values, rcond=None)[0]
    return left


def _with_constant(columns: FloatArray) -> FloatArray:
    return np.column_stack((np.ones(len(columns)), columns))
