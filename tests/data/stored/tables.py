"""Raw tables of all kinds of columns, and batches so small that a few rows are several."""

from __future__ import annotations

from datetime import date
from typing import Any

import polars as pl
import pytest
from hypothesis import strategies as st

from komb.data import batches
from komb.data.stored import encode

WHOLE = st.integers(-3, 40)
TEXT = st.sampled_from(["a", "b", "B", "ab", "", "é", "1"])
FRACTION = st.sampled_from([0.0, -0.0, 0.5, 1.5, 2.0, -1.25, 1e300])
FLOAT = st.floats(-1e6, 1e6, allow_nan=False)
DAY = st.dates(date(2020, 1, 1), date(2020, 1, 9))

KINDS: dict[str, tuple[Any, Any]] = {
    "whole": (WHOLE, pl.Int64),
    "small": (st.integers(0, 3), pl.UInt8),
    "text": (TEXT, pl.String),
    "truth": (st.booleans(), pl.Boolean),
    "fraction": (FRACTION, pl.Float64),
    "single": (st.sampled_from([0.5, 1.25, 3.0]), pl.Float32),
    "whole_float": (st.integers(-5, 5).map(float), pl.Float64),
    "number": (FLOAT, pl.Float64),
    "day": (DAY, pl.Date),
    "rank": (st.sampled_from(["lo", "mid", "hi"]), pl.Enum(["lo", "mid", "hi"])),
    "category": (TEXT, pl.Categorical),
}


@st.composite
def raw_tables(draw: st.DrawFn, *, missing: bool = True) -> pl.DataFrame:
    """Draw a table with one to five columns of any kinds."""
    n_rows = draw(st.integers(1, 60))
    kinds = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=5))
    columns = {}
    for number, kind in enumerate(kinds):
        values, dtype = KINDS[kind]
        if missing and draw(st.booleans()):
            values = st.one_of(values, st.none())
        drawn = draw(st.lists(values, min_size=n_rows, max_size=n_rows))
        columns[f"{kind}{number}"] = pl.Series(drawn, dtype=dtype)
    return pl.DataFrame(columns)


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have batches of seven rows."""
    for module in (batches, encode):
        monkeypatch.setattr(module, "rows_per_batch", lambda *_: 7)
