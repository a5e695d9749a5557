"""Columns that tell the target by having a value or none."""

from __future__ import annotations

import numpy as np
import pytest

import komb
from komb.data.gaps import shares_of_gaps


def obvious(empty: list[bool], y: list[str | None]) -> float:
    """Return the share as the squared correlation, adjusted for chance."""
    rows = [(gap, value == "yes") for gap, value in zip(empty, y, strict=True) if value is not None]
    square = float(np.corrcoef(np.array(rows, float).T)[0, 1] ** 2)
    chance = 1 / (len(rows) - 1)
    return (square - chance) / (1 - chance)


@pytest.mark.parametrize("is_target_complete", [True, False])
def test_shares_are_those_of_the_obvious_twin(is_target_complete: bool) -> None:
    rng = np.random.default_rng(5)
    n = 300
    churned = rng.random(n) < 0.4
    y: list[str | None] = ["yes" if value else "no" for value in churned]
    if not is_target_complete:
        y[::7] = [None] * len(y[::7])
    empty = {
        "only yes": ~churned,
        "only no": churned,
        "nearly": ~churned ^ (rng.random(n) < 0.02),
        "by chance": rng.random(n) < 0.6,
        "rarely": rng.random(n) < 0.05,
    }
    values = rng.integers(0, 3, n).astype(str)
    columns = {
        name: [None if gap else str(value) for gap, value in zip(gaps, values, strict=True)]
        for name, gaps in empty.items()
    }
    table = komb.table({**columns, "y": y, "full": values})
    shares = {
        str(table.names[x]): share
        for x, share in shares_of_gaps(table, table.index("y"), range(table.n_columns)).items()
    }
    assert shares.keys() - {"y"} == empty.keys() - {"rarely"}
    for name in shares.keys() & empty.keys():
        assert shares[name] == pytest.approx(obvious(empty[name].tolist(), y))
    leaks = komb.markov_blanket(table, "y").leaks
    assert {leak.column for leak in leaks if leak.by_gaps} == {"only yes", "only no"}


def test_a_leak_by_gaps_is_said() -> None:
    y = ["yes", "no", "no"] * 40
    ended = [f"2025-0{1 + row % 7}-01" if y[row] == "yes" else None for row in range(len(y))]
    columns = {"ended": ended, "y": y, "x": [row % 5 for row in range(len(y))]}
    text = str(komb.markov_blanket(columns, "y"))
    assert "'ended' has a value or none, which determines 'y' completely." in text
    assert "Leaks: none" not in text


def test_few_rows_are_no_leak() -> None:
    y = ["yes"] * 4 + ["no"] * 30
    columns = {"x": [None] * 4 + ["a", "b"] * 15, "y": y}
    assert not komb.markov_blanket(columns, "y").leaks
