"""Take apart whatever a caller passes as ``data``.

:func:`convert` recognises the container, checks its shape and names, and hands its columns to the
encoders. Anything that is nearly a table gets an error that says how to make it one.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from komb.data.encode.arrays import Columns, Later, encode_array, encode_columns, encode_matrix
from komb.data.encode.automatic import AutomaticEncoder
from komb.data.encode.codes import Array, Column, Name
from komb.data.encode.column_encoder import ColumnEncoder
from komb.data.encode.column_errors import FEW_LEVELS, MAX_LEVELS, and_more
from komb.data.encode.column_types import LEVELS, NOMINAL, ORDINAL, ColumnType
from komb.data.encode.python_objects import encode_objects
from komb.data.encode.treatment import Treatment
from komb.errors import Argument, DataError, UnknownNameError


class Request(NamedTuple):
    """What a caller asked for besides the data."""

    exclude: Collection[Name] = ()
    treatment: Treatment = Treatment()
    target: Name | None = None
    only: Collection[Name] | None = None  # these columns and no others

    def names_left(self, names: Sequence[Name]) -> list[Name]:
        """Return the names that are not excluded; every name in the request must be known."""
        self.treatment.check_names(names)
        left = names_left(names, self.exclude)
        for name in self.only or ():
            if name not in names:
                raise UnknownNameError.among("column", name, names)
        return left if self.only is None else [name for name in left if name in self.only]

    def encode(self, columns: Mapping[Name, Later], n_rows: int) -> Columns:
        """Encode the columns that are left."""
        treatment = self.treatment
        is_cutting = isinstance(treatment.discretize, Mapping)

        def encode(encode_column: Callable[[Name, Later], Column]) -> Columns:
            return encode_columns(
                columns.items(), len(columns), n_rows, encode_column, is_cutting=is_cutting
            )

        if treatment.is_strict:
            return encode(ColumnEncoder(treatment, columns, self.target).encode)
        encoder = AutomaticEncoder(treatment, columns, self.target)
        return _check_rest(encoder.revise(encode(encoder.encode)), n_rows)

    def takes_matrix(self, data: Array) -> bool:
        """Whether a matrix of whole numbers can be encoded at once."""
        treatment = self.treatment
        if treatment.discretize is not None or treatment.types or treatment.na_values:
            return False
        if treatment.is_strict or data.dtype.kind == "b" or data.dtype.itemsize == 1:
            return True
        low, high = data.min(axis=0), data.max(axis=0)
        # Unsigned arithmetic wraps, so the difference is right even where a signed one overflows.
        return bool((high.astype(np.uint64) - low.astype(np.uint64) < MAX_LEVELS).all())

    def complete_matrix(self, encoded: Columns, data: Array) -> Columns:
        """Find the types of columns that are encoded by their levels."""
        if self.treatment.is_strict:
            return encoded
        kind = NOMINAL if data.dtype.kind == "b" else ORDINAL
        types = dict.fromkeys(encoded.names, ColumnType(kind, LEVELS))
        if all(len(levels) <= FEW_LEVELS for levels in encoded.levels):
            return encoded._replace(types=types)
        columns = {name: Later(encode_array, data[:, i]) for i, name in enumerate(encoded.names)}
        return self.encode(columns, len(data))


def convert(data: object, request: Request = Request()) -> Columns:  # noqa: B008 - it is immutable
    """Encode a table of any supported kind."""
    if isinstance(data, np.ndarray):
        return _convert_array(data, request)
    if isinstance(data, Mapping):
        return _convert_mapping(data, request)
    return _convert_frame(data, request)


def _check_rest(encoded: Columns, n_rows: int) -> Columns:
    """Raise if no column is left."""
    if not encoded.names:
        listed = and_more(f"{name!r} ({found})" for name, found in encoded.types.items())
        rule, remedy = "have a column that can be tested", "Say what it is: "
        raise DataError.because(
            "data", rule, (n_rows, 0), (remedy, Argument("types", {"name": "nominal"}), "."),
            shown=listed,
        )  # fmt: skip
    return encoded


def names_left(names: Sequence[Name], exclude: Collection[Name]) -> list[Name]:
    """Return the names that are not excluded; an excluded name must be one of them."""
    for name in exclude:
        if name not in names:
            raise UnknownNameError.among("column", name, names, "exclude")
    return [name for name in names if name not in exclude]


def check_shape(names: Sequence[Name], n_rows: int) -> None:
    """Raise unless there are columns with names of their own, and rows."""
    repeated = [(name, count) for name, count in Counter(names).items() if count > 1]
    if repeated:
        listed = ", ".join(f"{name!r} ({count} times)" for name, count in repeated[:5])
        more = f" and {len(repeated) - 5} more" if len(repeated) > 5 else ""
        rule, remedy = "have distinct column names", "Rename or drop all but one of each."
        raise DataError.because("data", rule, dict(repeated), remedy, shown=f"{listed}{more}")
    if not names or not n_rows:
        rule, remedy = "have at least one row and one column", "Check how it was read or filtered."
        shape = n_rows, len(names)
        raise DataError.because("data", rule, shape, remedy, shown=f"{n_rows} x {len(names)}")


def _convert_array(data: Array, request: Request) -> Columns:
    if data.dtype.names is not None:
        remedy = "Pass a mapping of its fields: {name: data[name] for name in data.dtype.names}."
        raise _not_a_table("a structured array", remedy)
    if data.ndim != 2:
        shape = f"an array of shape {data.shape}"
        raise _not_a_table(shape, "Reshape it; for one column, data.reshape(-1, 1).")
    n_rows = data.shape[0]
    names: tuple[Any, ...] = tuple(request.names_left(range(data.shape[1])))
    check_shape(names, n_rows)
    if len(names) < data.shape[1]:
        data = data[:, list(names)]
    if not isinstance(data, np.ma.MaskedArray):
        data = np.asarray(data)  # np.matrix would stay two-dimensional when sliced
        if data.dtype.kind in "iub" and request.takes_matrix(data):
            return request.complete_matrix(encode_matrix(data, names), data)
    columns = {name: Later(encode_array, data[:, i]) for i, name in enumerate(names)}
    return request.encode(columns, n_rows)


def _convert_mapping(data: Mapping[Any, Any], request: Request) -> Columns:
    columns = {name: _column(name, data[name]) for name in request.names_left(list(data))}
    sizes = {name: len(column.values) for name, column in columns.items()}
    check_lengths(sizes)
    n_rows = next(iter(sizes.values()), 0)
    check_shape(tuple(columns), n_rows)
    return request.encode(columns, n_rows)


def check_lengths(sizes: Mapping[Name, int]) -> None:
    """Raise unless columns are equally long."""
    if len(set(sizes.values())) > 1:
        shortest, longest = min(sizes, key=sizes.__getitem__), max(sizes, key=sizes.__getitem__)
        shown = f"{sizes[shortest]} values in {shortest!r} and {sizes[longest]} in {longest!r}"
        rule, remedy = "have columns of one length", "Make them equally long."
        raise DataError.because("data", rule, sizes, remedy, shown=shown)


def _convert_frame(data: Any, request: Request) -> Columns:
    import narwhals as nw

    from komb.data.encode.frames import encode_series
    from komb.data.encode.integer_blocks import gather_integers

    try:
        frame = nw.from_native(data, eager_only=True)
    except nw.exceptions.DuplicateError:  # says so itself, but not in our words
        check_shape(list(getattr(data, "column_names", None) or data.columns), 1)
        raise
    except TypeError:
        raise _not_a_table(f"an object of type {type(data).__name__!r}", _remedy(data)) from None
    check_shape(frame.columns, len(frame))
    left = request.names_left(frame.columns)
    is_plain = request.treatment.discretize is None  # else their values are looked at first
    together = gather_integers(frame, left) if is_plain else {}
    columns = {
        name: together.get(name) or Later(encode_series, frame.get_column(name)) for name in left
    }
    check_shape(tuple(columns), len(frame))
    return request.encode(columns, len(frame))


def _column(name: Name, values: Any) -> Later:
    """Find the encoder of one entry of a mapping."""
    if hasattr(values, "__array__") and not isinstance(values, np.ndarray):
        import narwhals as nw

        from komb.data.encode.frames import encode_series

        try:
            return Later(encode_series, nw.from_native(values, series_only=True))
        except TypeError:  # not a series of any dataframe library, but an array all the same
            values = values.to_pylist() if hasattr(values, "to_pylist") else np.asarray(values)
    if isinstance(values, np.ndarray) and values.ndim == 1:
        return Later(encode_array, values)
    is_text = isinstance(values, str | bytes)
    if isinstance(values, Sequence) and not is_text:
        return Later(encode_objects, list(values))
    got = f"an array of shape {values.shape}" if isinstance(values, np.ndarray) else repr(values)
    rule, remedy = "map names to columns of values", "Pass a list, a series or a 1-d array."
    raise DataError.because("data", rule, values, remedy, shown=f"{got} for {name!r}")


def _not_a_table(got: str, remedy: str) -> DataError:
    rule = (
        "be a pandas, polars or pyarrow table, a two-dimensional numpy array, a mapping of names "
        "to columns, or a DiscreteTable"
    )
    return DataError.because("data", rule, got, remedy, shown=got)


def _remedy(data: Any) -> str:
    """Say how to make a table of something that is nearly one."""
    if isinstance(data, str | os.PathLike):
        return f"Read the file first: komb.read_table({str(data)!r})."
    if hasattr(data, "sample") and hasattr(data, "joint"):
        return "Draw rows from a model first: data.sample(1000)."
    if hasattr(data, "nodes"):
        return "A graph has no rows; only komb.markov_blanket takes one."
    if hasattr(data, "collect"):
        return "Collect it first: data.collect()."
    if hasattr(data, "to_frame"):
        return "Make it a table of one column: data.to_frame()."
    if hasattr(data, "toarray"):
        return "Make it a dense array: data.toarray()."
    if isinstance(data, list | tuple):
        return "Make it an array, np.array(data), or a table, pandas.DataFrame(data)."
    return "Make it a table first, for instance with pandas.DataFrame(data)."
