"""Columns and rows of whatever a caller passes as ``data``, before anything is encoded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from komb.data.encode.inputs import check_lengths
from komb.data.encode.numbers import Floats, to_numbers
from komb.data.names import Name
from komb.data.table import DiscreteTable
from komb.errors import UnknownNameError


def column_names(data: Any) -> list[Name]:
    """Return the names of the columns; none if data are not a table."""
    if isinstance(data, DiscreteTable):
        return list(data.names)
    if isinstance(data, np.ndarray):
        return list(range(data.shape[1])) if data.ndim == 2 else []
    if isinstance(data, Mapping):
        return list(data)
    frame = _frame_of(data)
    return [] if frame is None else list(frame.columns)


def check_names(parameter: str, wanted: Any, data: Any) -> None:
    """Raise if a parameter names a column that is not there; encoding says what else is wrong."""
    names = column_names(data)
    known = set(names)
    for name in wanted:
        if names and name not in known:
            raise UnknownNameError.among("column", name, names, parameter)


def count_rows(data: Any) -> int | None:
    """Return the number of rows; None if data are not a table."""
    if isinstance(data, DiscreteTable):
        return data.n_rows
    if isinstance(data, Mapping):
        sizes = {name: len(column) for name, column in data.items() if hasattr(column, "__len__")}
        check_lengths(sizes)
        return next(iter(sizes.values()), None)
    return len(data) if hasattr(data, "__len__") else None


def numbers_of(data: Any, name: Name) -> Floats | None:
    """Return a column as floats, NaN where values are missing; ``None`` if it holds no numbers."""
    if isinstance(data, DiscreteTable):
        return data.numbers[name] if name in data.numbers else _of_codes(data, name)
    if isinstance(data, np.ndarray):
        position: Any = name
        return to_numbers(data[:, position])
    if isinstance(data, Mapping):
        return numbers_in(data[name])
    frame = _frame_of(data)
    return None if frame is None else to_numbers(frame[name])


def _of_codes(table: DiscreteTable, name: Name) -> Floats | None:
    position = table.index(name)
    levels = table.levels[position]
    known = [level for level in levels if level is not None]
    if not all(isinstance(level, Real) and not isinstance(level, bool) for level in known):
        return None
    values = [np.nan if level is None else float(level) for level in levels]  # type: ignore[arg-type]
    numbers: Floats = np.array([*values, np.nan])[table.codes[position]]
    return numbers


def numbers_in(values: Any) -> Floats | None:
    """Return values of any kind of column as floats, or ``None`` if they are no numbers."""
    if isinstance(values, np.ndarray | list):
        return to_numbers(values)
    if hasattr(values, "__array__"):
        import narwhals as nw

        try:
            return to_numbers(nw.from_native(values, series_only=True))
        except TypeError:  # an array of some other library
            return to_numbers(np.asarray(values))
    return to_numbers(list(values)) if isinstance(values, Iterable) else None


def take_rows(data: Any, rows: npt.NDArray[np.intp]) -> Any:
    """Return some rows of a table, as often as they are named, in the kind of table it is."""
    if isinstance(data, DiscreteTable):
        return data.take(rows)
    if isinstance(data, np.ndarray):
        return data[rows]
    if isinstance(data, Mapping):
        return {name: _take(values, rows) for name, values in data.items()}
    import narwhals as nw

    return nw.from_native(data, eager_only=True)[rows.tolist(), :].to_native()


def _take(values: Any, rows: npt.NDArray[np.intp]) -> Any:
    if isinstance(values, np.ndarray):
        return values[rows]
    if hasattr(values, "__array__"):
        import narwhals as nw

        try:
            return nw.from_native(values, series_only=True)[rows.tolist()].to_native()
        except TypeError:
            return np.asarray(values)[rows]
    if isinstance(values, str | bytes) or not isinstance(values, Sequence):
        return values  # encoding says what is wrong
    return [values[row] for row in rows.tolist()]


def _frame_of(data: Any) -> Any:
    import narwhals as nw

    try:
        return nw.from_native(data, eager_only=True)
    except (TypeError, nw.exceptions.DuplicateError):
        return None  # encoding says what is wrong
