"""Random structural models with mixed mechanisms: tables to predict a column of.

Columns are drawn one after the other, each from a few of those before it: a sum of terms, each
linear, monotone, a wave or a parabola, a product, the sign of a product (an exclusive or), or an
effect for each level of a category, and of noise. The target stands in the middle, so it has
causes, effects and other causes of these. Some columns are noise, some are noisy copies of others,
and some are cut into levels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from measures.real_tables import Question

__all__ = ["TEST_ROWS", "draw_task"]

TEST_ROWS = 2_000

_Values = npt.NDArray[np.float64]
_Generator = np.random.Generator
_MECHANISMS = ("linear", "monotone", "wave", "product", "sign", "levels")


def draw_task(seed: int, most_cells: int) -> tuple[Question, Question]:
    """Draw rows to learn from and rows to predict; the target is a number or two classes."""
    rng = np.random.default_rng(seed)
    while True:
        n_columns = round(40 * 25 ** rng.random())
        n_rows = round(200 * 25 ** rng.random())
        if n_columns * n_rows <= most_cells:
            break
    columns, target = _draw_columns(rng, n_columns, n_rows + TEST_ROWS)
    answers: npt.NDArray[Any] = target
    if rng.random() < 0.7:
        answers = (target > np.quantile(target, rng.uniform(0.3, 0.7))).astype(np.int64)
    order = rng.permutation(n_columns)
    features = pd.DataFrame({f"c{i}": _as_seen(rng, columns[x]) for i, x in enumerate(order)})
    learn, predict = slice(0, n_rows), slice(n_rows, None)
    return tuple(  # type: ignore[return-value]
        Question(f"task {seed}", features.iloc[rows].reset_index(drop=True), answers[rows])
        for rows in (learn, predict)
    )


def _draw_columns(rng: _Generator, n_columns: int, n_rows: int) -> tuple[list[_Values], _Values]:
    """Return the columns and the target, all of them as numbers on one scale."""
    n_noise = round(n_columns * rng.uniform(0, 0.7))
    n_copies = round(n_columns * rng.uniform(0, 0.2))
    n_model = max(8, n_columns - n_noise - n_copies)
    place = int(rng.integers(n_model // 4, n_model))
    n_causes = max(1, round(min(float(place), 2 * 20 ** rng.random())))
    model: list[_Values] = []
    for number in range(n_model + 1):
        n_parents = n_causes if number == place else min(number, int(rng.integers(0, 5)))
        model.append(_draw_node(rng, model, n_parents, n_rows))
    target = model.pop(place)
    copies = [
        model[rng.integers(n_model)] + rng.uniform(0.1, 1) * rng.normal(size=n_rows)
        for _ in range(n_copies)
    ]
    noise = [rng.normal(size=n_rows) for _ in range(n_columns - n_model - n_copies)]
    return [*model, *copies, *noise][:n_columns], target


def _draw_node(rng: _Generator, others: list[_Values], n_parents: int, n_rows: int) -> _Values:
    """Return a sum of terms of some parents, and noise."""
    left = [others[i] for i in rng.choice(len(others), n_parents, replace=False)] if others else []
    total = np.zeros(n_rows)
    while left:
        mechanism = rng.choice(_MECHANISMS, p=[0.3, 0.2, 0.15, 0.1, 0.1, 0.15])
        term = _draw_term(rng, str(mechanism), left)
        total += rng.uniform(0.3, 1) * rng.choice([-1, 1]) * _scaled(term)
    share = 1.0 if n_parents == 0 else rng.uniform(0.1, 0.6)  # of the variance, that is noise
    values: _Values = np.sqrt(1 - share) * _scaled(total) + np.sqrt(share) * rng.normal(size=n_rows)
    return values


def _draw_term(rng: _Generator, mechanism: str, left: list[_Values]) -> _Values:
    """Take one parent, or two if both act together, and return what they do."""
    x = left.pop()
    if mechanism in ("product", "sign") and left:
        product = x * left.pop()
        return product if mechanism == "product" else np.sign(product)
    if mechanism == "levels":
        edges = np.quantile(x, np.linspace(0, 1, rng.integers(2, 7))[1:-1])
        return rng.normal(size=len(edges) + 1)[np.searchsorted(edges, x)]
    if mechanism == "wave":
        return x**2 if rng.random() < 0.5 else np.sin(rng.uniform(1, 3) * x)
    if mechanism == "monotone":
        return np.tanh(2 * x) if rng.random() < 0.5 else np.exp(x)
    return x


def _scaled(values: _Values) -> _Values:
    spread = values.std()
    scaled: _Values = (values - values.mean()) / (spread if spread > 1e-9 else 1.0)
    return scaled


def _as_seen(rng: _Generator, values: _Values) -> npt.NDArray[np.generic]:
    """Return a column as a user sees it: a number, a few whole numbers, or text."""
    kind = rng.choice(["number", "whole", "text"], p=[0.6, 0.2, 0.2])
    if kind == "number":
        return values
    n_levels = int(rng.integers(2, 7))
    edges = np.quantile(values, np.sort(rng.uniform(0.1, 0.9, n_levels - 1)))
    levels = np.searchsorted(edges, values)
    if kind == "whole":
        return levels
    return np.array([f"level {i}" for i in rng.permutation(n_levels)])[levels]
