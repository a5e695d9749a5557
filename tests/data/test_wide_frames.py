"""Columns of integers in wide frames are encoded as each would be by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from komb.data.table import DiscreteTable

FEWEST_COLUMNS = 256


@pytest.mark.parametrize("has_gaps", [False, True])
@pytest.mark.parametrize("most", [2, 40, 90])  # levels, bins or codes
def test_types_are_found_as_of_single_columns(has_gaps: bool, most: int) -> None:
    rng = np.random.default_rng(0)
    data: dict[str, Any] = {f"x{i}": rng.integers(0, 3, 400) for i in range(FEWEST_COLUMNS)}
    data["x7"] = rng.permutation(np.arange(400) % most) * (2 if most == 40 else 1)
    frame = pl.DataFrame(data)
    if has_gaps:
        frame = frame.with_columns(x3=pl.when(pl.col("x3") > 0).then("x3"))
    alone = {name: frame[name] for name in frame.columns}
    found = DiscreteTable.from_data(frame, types="auto")
    expected = DiscreteTable.from_data(alone, types="auto")
    assert found == expected
    assert found.types == expected.types
    assert found.cuts == expected.cuts
