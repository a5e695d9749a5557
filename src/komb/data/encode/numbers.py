"""Columns as numbers, whatever they came in."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from komb.data.encode.python_objects import is_missing

Floats = npt.NDArray[np.float64]


def to_numbers(values: Any) -> Floats | None:
    """Return a column as floats, NaN where a value is missing, or ``None`` if it is not numeric."""
    if isinstance(values, np.ndarray):
        return _array_numbers(values)
    if isinstance(values, list):
        return _object_numbers(values)
    return _series_numbers(values)


def _array_numbers(values: npt.NDArray[Any]) -> Floats | None:
    if values.dtype.kind == "O":
        return _object_numbers(values.tolist())
    if values.dtype.kind not in "iuf":
        return None
    if isinstance(values, np.ma.MaskedArray):
        numbers = np.asarray(values.data, np.float64).copy()
        numbers[np.ma.getmaskarray(values)] = np.nan
        return numbers
    return np.ascontiguousarray(values, np.float64)


def _object_numbers(values: Sequence[Any]) -> Floats | None:
    are_missing = [is_missing(value) for value in values]
    for value, is_absent in zip(values, are_missing, strict=True):
        if not is_absent and (isinstance(value, bool) or not isinstance(value, Real | Decimal)):
            return None
    numbers = (
        np.nan if is_absent else _to_float(value)
        for value, is_absent in zip(values, are_missing, strict=True)
    )
    return np.fromiter(numbers, np.float64, len(values))


def _to_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number or fraction beyond the floats
        return np.inf if value > 0 else -np.inf


def _series_numbers(series: Any) -> Floats | None:
    import narwhals as nw

    if not series.dtype.is_numeric():
        is_anything = series.dtype in (nw.Object, nw.Unknown)
        return _object_numbers(series.to_list()) if is_anything else None
    values = series.cast(nw.Float64()).to_numpy()
    return _array_numbers(values)
