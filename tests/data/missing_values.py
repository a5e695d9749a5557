"""Columns with missing values, of every kind that can be told apart."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl

from tests.optional import pandas as pd
from tests.optional import pyarrow as pa


def series(values: Any, dtype: Any = None) -> pd.DataFrame:
    return pd.DataFrame({"x": pd.Series(values, dtype=dtype)})


MISSING = [
    [None, "a", None],
    [float("nan"), 1.0, float("nan")],
    [None, 1, float("nan")],
    [pd.NA, "a", pd.NaT],
    [Decimal("NaN"), Decimal(1), Decimal("NaN")],
    np.array([np.nan, 1, np.nan]),
    np.array([np.nan, 1, np.nan], np.float16),
    np.array(["NaT", "2020-01-01", "NaT"], "M8[D]"),
    np.array([np.datetime64("NaT", "s"), 1, None], object),
    np.ma.MaskedArray([1, 2, 3], [True, False, True]),
    series([None, "a", None]),
    series([None, "a", None], object),
    series([None, 1, None], "Int64"),
    series([None, 1.5, None], "Float64"),
    series([np.nan, 1.5, np.nan]),
    series([None, True, None], "boolean"),
    series(pd.Categorical([None, "a", None])),
    series([None, dt.datetime(2020, 1, 1), None], "datetime64[us]"),
    pl.Series([None, 1, None]),
    pl.Series([None, 1.0, float("nan")]),
    pl.Series([None, "a", None]),
    pl.Series([None, True, None]),
    pl.Series([None, "a", None], dtype=pl.Categorical),
    pl.Series([None, dt.date(2020, 1, 1), None]),
    pa.array([None, 1, None]),
    pa.table({"x": pa.array([None, 1.0, float("nan")])}),
    pa.table({"x": pa.array([None, "a", None])}),
    pa.table({"x": pa.array([None, "a", None]).dictionary_encode()}),
    pa.table({"x": pa.DictionaryArray.from_arrays([0, 1, 0], pa.array([None, "a"]))}),
]
