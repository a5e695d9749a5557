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
    shares = Counter(target)
    least = 3.0
    if is_measured:
        left = np.array(target, float)
        design = np.column_stack([np.ones(len(left)), *covariates])
        left = left - design @ np.linalg.pinv(design) @ left
        least = max(least, float((left**4).mean() / (left**2).mean() ** 2) - 3.0)
    else:
        least = max(least, len(target) / min(shares.values()))
    rows = [i for i in range(len(target)) if all(column[i] is not None for column in columns)]
    own = [[column[i] for i in rows] for column in columns]
    y = [target[i] for i in rows]
    lower, highest = _products(own, least)
    ones = [[1.0] * len(rows)]
    null = ones if is_saturated else [*ones, *lower]
    more = [*lower, *highest] if is_saturated else highest
    held = [[own[i] for i in rows] for own in covariates]
    if not is_measured:
        null = _with_poor_cells(null, held, [*zip(*own, strict=True)], y, sorted(shares))
    spread = _kurtosis(y, is_measured) * _unevenness(null, more)
    if is_measured:
        return _f_test([*null, *held], more, y, spread)
    return _score_test([*null, *held], more, y, sorted(shares), spread)


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


def _kurtosis(y: Sequence[float], is_measured: bool) -> float:
    if is_measured:
        left = np.array(y) - np.mean(y)
        return float((left**4).mean() / (left**2).mean() ** 2) - 3.0
    n = len(Counter(y))
    return sum(len(y) / count for count in Counter(y).values()) - n**2 - 2 * n + 2


def _unevenness(null: list[list[float]], more: list[list[float]]) -> float:
    small, large = np.array(null).T, np.array([*null, *more]).T
    leverage = np.diag(large @ np.linalg.pinv(large)) - np.diag(small @ np.linalg.pinv(small))
    return float((leverage**2).sum())


def _f_test(
    null: list[list[float]], more: list[list[float]], y: Sequence[float], spread: float
) -> tuple[float, float, float]:
    small, large, values = np.array(null).T, np.array([*null, *more]).T, np.array(y)
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
