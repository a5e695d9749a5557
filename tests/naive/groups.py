"""The test of a group of columns, row by row: products of indicators, models by Newton's method."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
from scipy.special import chdtrc, fdtrc

Rows = Sequence[Sequence[int | None]]  # of each column, None where missing


def group_test(
    columns: Rows, target: Sequence[float], *, is_measured: bool,
    covariates: Sequence[Sequence[float]] = (), is_saturated: bool = False,
) -> tuple[float, float, float]:  # fmt: skip
    """Statistic, degrees of freedom and p-value of what a group has beyond its subsets.

    With ``is_saturated``, of all that it has.
    """
    rows = [i for i in range(len(target)) if all(column[i] is not None for column in columns)]
    own = [[column[i] for i in rows] for column in columns]
    y = [target[i] for i in rows]
    cells = [*zip(*own, strict=True)]
    if is_measured:
        kurtosis = _kurtosis_within(cells, y)
        least = max(3.0, kurtosis)
    else:
        kurtosis = _kurtosis(y)
        least = max(3.0, len(target) / min(Counter(target).values()))
    lower, highest = _products(own, least)
    ones = [[1.0] * len(rows)]
    null = ones if is_saturated else [*ones, *lower]
    more = [*lower, *highest] if is_saturated else highest
    held = [[own[i] for i in rows] for own in covariates]
    if not is_measured:
        null = _with_poor_cells(null, held, cells, y, sorted(set(target)))
    spread = kurtosis * _unevenness(null, more)
    if not is_measured:
        return _score_test([*null, *held], more, y, sorted(set(target)), spread)
    weights = [[1.0] * len(y), *(_weights_by_level(each, cells, y) for each in own)]
    tests = [_f_test([*null, *held], more, y, spread, each) for each in weights]
    return tests[0][0], tests[0][1], max(p_value for _, _, p_value in tests)


def _products(columns: Rows, least: float) -> tuple[list[list[float]], list[list[float]]]:
    column: Any
    cells = [*zip(*columns, strict=True)]
    counts = Counter(cells)
    lower = [
        [float(own == cell) for own in cells] for cell, count in counts.items() if count < least
    ]
    kept = []
    for column in columns:
        own = Counter(column)
        first = max(sorted(own), key=lambda level: own[level])
        kept.append([level for level in own if level != first])
    highest: list[list[float]] = []
    for size in range(1, len(columns) + 1):
        for subset in combinations(range(len(columns)), size):
            for levels in product(*(kept[x] for x in subset)):
                column = [
                    float(all(cell[x] == own for x, own in zip(subset, levels, strict=True)))
                    for cell in cells
                ]
                (highest if size == len(columns) else lower).append(column)
    return lower, highest


def _kurtosis(y: Sequence[float]) -> float:
    n = len(Counter(y))
    return sum(len(y) / count for count in Counter(y).values()) - n**2 - 2 * n + 2


def _left(cells: Sequence[object], y: Sequence[float]) -> list[float]:
    own = {cell: [z for other, z in zip(cells, y, strict=True) if other == cell] for cell in cells}
    return [z - sum(own[cell]) / len(own[cell]) for cell, z in zip(cells, y, strict=True)]


def _kurtosis_within(cells: Sequence[object], y: Sequence[float]) -> float:
    """Of what cells with three rows leave."""
    counts = Counter(cells)
    left = [z for cell, z in zip(cells, _left(cells, y), strict=True) if counts[cell] >= 3]
    return float(np.mean(np.power(left, 4)) / np.mean(np.power(left, 2)) ** 2) - 3.0


def _weights_by_level(
    levels: Sequence[Any], cells: Sequence[object], y: Sequence[float]
) -> list[float]:
    """Weights by the variance that cells leave at each level of a column."""
    left = _left(cells, y)
    both = {*zip(cells, levels, strict=True)}
    free = {
        each: count - sum(own == each for _, own in both) for each, count in Counter(levels).items()
    }
    mean = sum(z**2 for z in left) / sum(free.values())
    variances = {
        each: sum(z**2 for z, own in zip(left, levels, strict=True) if own == each)
        / max(free[each], 1)
        for each in free
    }
    return [mean / max(variances[each], 1e-3 * mean) for each in levels]


def _unevenness(null: list[list[float]], more: list[list[float]]) -> float:
    small, large = np.array(null).T, np.array([*null, *more]).T
    leverage = np.diag(large @ np.linalg.pinv(large)) - np.diag(small @ np.linalg.pinv(small))
    return float((leverage**2).sum())


def _f_test(
    null: list[list[float]], more: list[list[float]], y: Sequence[float], spread: float,
    weights: Sequence[float],
) -> tuple[float, float, float]:  # fmt: skip
    root = np.sqrt(weights)[:, None]
    small, large = root * np.array(null).T, root * np.array([*null, *more]).T
    values = root[:, 0] * np.array(y)
    left = [float(((values - x @ np.linalg.pinv(x) @ values) ** 2).sum()) for x in (small, large)]
    ranks = [int(np.linalg.matrix_rank(x)) for x in (small, large)]
    df, free = ranks[1] - ranks[0], len(y) - ranks[1]
    statistic = (left[0] - left[1]) / (left[1] / free)
    p_value = fdtrc(_freedom(df, spread), free, statistic / df) if df else 1.0
    return statistic, df, float(p_value)


def _score_test(
    null: list[list[float]], more: list[list[float]], y: Sequence[float],
    classes: Sequence[float], spread: float,
) -> tuple[float, float, float]:  # fmt: skip
    small, large = np.array(null).T, np.array([*null, *more]).T
    own = np.array([[value == each for each in classes] for value in y], float)
    chances = _fitted(small, own)
    information = _information(large, chances)
    gradient = (large.T @ (own - chances)[:, 1:]).T.reshape(-1)
    statistic = float(gradient @ np.linalg.pinv(information, hermitian=True) @ gradient)
    df = _rank(information) - _rank(_information(small, chances))
    freedom = _freedom(int(df), spread)
    p_value = chdtrc(freedom, statistic * freedom / df) if df else 1.0
    return statistic, int(df), float(p_value)


def _rank(information: np.ndarray) -> int:
    """How many directions are known at all: a class that a rare cell lacks makes one unknown."""
    scale = np.sqrt(np.maximum(np.diag(information), 1e-9))
    values = np.linalg.eigvalsh(information / np.outer(scale, scale))
    return int((values > 1e-7 * max(values)).sum())


def _freedom(df: int, spread: float) -> float:
    return 2.0 * df**2 / max(2.0 * df + spread, 0.2 * df) if df else math.nan


def _with_poor_cells(
    null: list[list[float]], held: list[list[float]], cells: Sequence[object], y: Sequence[float],
    classes: Sequence[float],
) -> list[list[float]]:  # fmt: skip
    """Add an indicator of each cell that the model expects less than a tenth of a row in."""
    own = np.array([[value == each for each in classes] for value in y], float)
    while True:
        chances = _fitted(np.array([*null, *held]).T, own)
        more = []
        for cell in sorted(set(cells)):  # type: ignore[type-var]
            column = [float(each == cell) for each in cells]
            if column not in null and (np.array(column) @ chances).min() < 0.1:
                more.append(column)
        if not more:
            return null
        null = [*null, *more]


def _fitted(small: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Chances of the classes, by Newton's method."""
    coefficients = np.zeros((small.shape[1], own.shape[1] - 1))
    for _ in range(30):
        chances = _chances(small @ coefficients)
        gradient = (small.T @ (own - chances)[:, 1:]).T.reshape(-1)
        step = np.linalg.pinv(_information(small, chances)) @ gradient
        coefficients = coefficients + np.clip(step, -3, 3).reshape(own.shape[1] - 1, -1).T
    return _chances(small @ coefficients)


def _chances(logits: np.ndarray) -> np.ndarray:
    raised = np.exp(np.column_stack((np.zeros(len(logits)), np.clip(logits, -30, 30))))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def _information(design: np.ndarray, chances: np.ndarray) -> np.ndarray:
    own = chances[:, 1:]
    blocks = [
        [design.T @ ((x * ((i == j) - z))[:, None] * design) for j, z in enumerate(own.T)]
        for i, x in enumerate(own.T)
    ]
    return np.block(blocks)
