"""Encode the columns of dataframe libraries, each by its own fastest means.

Narwhals gives one view of pandas, polars, pyarrow and others. Only text and categories leave it,
because every library has a quick hash-based encoder of its own for those. None of the libraries is
imported here: a column that arrives has its library loaded already.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from komb.data.encode.arrays import encode_array, encode_by_lookup
from komb.data.encode.codes import Array, Encoded, code_dtype, compact
from komb.data.encode.column_errors import MAX_LEVELS, Missing, too_many_levels
from komb.data.encode.python_objects import encode_objects, sort_levels

if TYPE_CHECKING:
    import narwhals as nw


def encode_series(series: nw.Series[Any]) -> Encoded:
    """Encode one column of a dataframe."""
    import narwhals as nw

    dtype = series.dtype
    if dtype.is_float():  # a float column may hold both nulls and NaN: numpy sees them alike
        values = series.to_numpy()
        return encode_array(values) if values.dtype.kind == "f" else encode_objects(values.tolist())
    if series.null_count():
        Missing.check(np.asarray(series.is_null().to_numpy(), dtype=bool))
    if dtype in (nw.Int128, nw.UInt128):  # numpy has nothing of that size
        return encode_objects(series.to_list())
    if dtype.is_integer() or dtype == nw.Boolean:
        values = series.to_numpy()
        if values.dtype.kind in "iub":
            return encode_array(values)
    elif dtype == nw.String:
        return _encode_text(series)
    elif dtype in (nw.Categorical, nw.Enum):
        return _encode_categories(series)
    elif dtype.is_temporal():
        return _encode_times(series)
    return encode_objects(series.to_list())


def _encode_text(series: nw.Series[Any]) -> Encoded:
    native: Any = series.to_native()
    if series.implementation.is_polars():
        return _encode_polars_text(native)
    if series.implementation.is_pandas():
        codes, uniques = native.factorize()
        return _relabel(codes, uniques.tolist(), is_sorted=False)
    if series.implementation.is_pyarrow():
        return _encode_dictionary(native.dictionary_encode(), is_sorted=False)
    return encode_objects(series.to_list())


def _encode_categories(series: nw.Series[Any]) -> Encoded:
    native: Any = series.to_native()
    if series.implementation.is_polars():
        if not _is_enum(series):
            # The categories of a polars Categorical are shared by the whole process and their
            # order is that of the alphabet, by polars' own rule.
            import polars as pl

            return _encode_polars_text(native.cast(pl.String))
        categories = native.dtype.categories.to_list()
        return _relabel(native.to_physical().to_numpy(), categories, is_sorted=True)
    if series.implementation.is_pyarrow():
        return _encode_dictionary(native, is_sorted=True)
    if series.implementation.is_pandas() and hasattr(native, "cat"):
        categories = native.cat.categories.tolist()
        return _relabel(native.cat.codes.to_numpy(), categories, is_sorted=True)
    return encode_objects(series.to_list())


def _is_enum(series: nw.Series[Any]) -> bool:
    import narwhals as nw

    return series.dtype == nw.Enum


def _encode_polars_text(native: Any) -> Encoded:
    import polars as pl

    levels = sorted(native.unique().to_list())
    if len(levels) > MAX_LEVELS:
        raise too_many_levels(len(levels))
    codes = native.cast(pl.Enum(levels)).to_physical().to_numpy()
    return Encoded(codes.astype(code_dtype(len(levels)), copy=False), tuple(levels))


def _encode_dictionary(native: Any, *, is_sorted: bool) -> Encoded:
    """Encode a chunked pyarrow array of dictionary type, each chunk with its own dictionary."""
    joined = native.unify_dictionaries().combine_chunks()
    if hasattr(joined, "chunks"):  # some versions keep the chunked type
        joined = joined.chunk(0)
    raw, levels = joined.indices.to_numpy(), joined.dictionary.to_pylist()
    if None in levels:  # a null may hide in the dictionary instead of the indices
        Missing.check(raw == levels.index(None))
    return _relabel(raw, levels, is_sorted=is_sorted)


def _relabel(raw: Array, levels: Sequence[Any], *, is_sorted: bool) -> Encoded:
    """Encode codes of some library: drop unobserved levels, sort the others if they are not."""
    codes, seen = compact(raw, len(levels))
    found = [levels[position] for position in seen]
    if is_sorted:
        return Encoded(codes, tuple(found))
    ordered = sort_levels(found)
    position = {level: code for code, level in enumerate(ordered)}
    renumber = np.array([position[level] for level in found], code_dtype(len(found)))
    return Encoded(renumber.take(codes), tuple(ordered))


def _encode_times(series: nw.Series[Any]) -> Encoded:
    values = series.to_numpy()
    if values.dtype.kind not in "mM":
        return encode_objects(series.to_list())
    codes, instants = encode_by_lookup(values)
    # numpy drops time zones and calls nanoseconds integers, so let the column show its own values.
    examples = np.empty(len(instants), np.intp)
    examples[codes] = np.arange(len(codes))
    return Encoded(codes, tuple(series[examples.tolist()].to_list()))
