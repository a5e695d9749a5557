"""Take apart whatever a caller passes as ``data``.

Anything that is nearly a table gets an error that says how to make it one.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from komb.data.columns import Column, make_column
from komb.data.names import Name
from komb.errors import DataError, UnknownNameError

Rows: TypeAlias = npt.NDArray[np.intp]
Block: TypeAlias = tuple[Sequence[Any], npt.NDArray[Any]]
"""Names of columns of whole numbers or truth values, none of them missing, and their matrix."""

_FEWEST_TOGETHER = 256  # columns of one type from which on they are taken out together
_VALUES_PER_BLOCK = 1 << 22


def _no_blocks(_: Sequence[Name]) -> Iterator[Block]:
    return iter(())


@dataclass(frozen=True)
class Source:
    """The columns of a table, in whatever they came in."""

    names: list[Name]
    column: Callable[[Any], Column]
    n_rows: int | None = None  # unless it is a mapping, whose columns may differ
    sizes: Mapping[Name, int] = field(default_factory=dict)  # of the columns of a mapping
    # those of some columns that are quicker taken out together than one by one
    blocks: Callable[[Sequence[Name]], Iterator[Block]] = _no_blocks

    def count_rows(self) -> int:
        """Return the number of rows, or raise if columns differ in length."""
        check_lengths(self.sizes)
        return next(iter(self.sizes.values()), 0) if self.n_rows is None else self.n_rows

    def renamed(self, names: Sequence[Name]) -> Source:
        """Return the source with other names, all of them new."""
        old = dict(zip(names, self.names, strict=True))

        def blocks(some: Sequence[Name]) -> Iterator[Block]:
            new = {own: name for name, own in old.items()}
            for own, values in self.blocks([old[name] for name in some]):
                yield [new[name] for name in own], values

        return Source(list(names), lambda name: self.column(old[name]), self.n_rows, {}, blocks)

    def repeated(self, rows: Rows) -> Source:
        """Return the source with some rows only, each as often as it is named."""

        def blocks(names: Sequence[Name]) -> Iterator[Block]:
            return ((some, values[rows]) for some, values in self.blocks(names))

        return Source(self.names, lambda name: self.column(name).take(rows), len(rows), {}, blocks)


def open_source(data: object) -> Source:
    """Recognise the container of a table."""
    if isinstance(data, Source):
        return data
    if isinstance(data, np.ndarray):
        source = _open_array(data)
    elif isinstance(data, Mapping):
        sizes = {name: len(values) for name, values in data.items() if hasattr(values, "__len__")}
        source = Source(list(data), lambda name: column_of(data[name], name), sizes=sizes)
    else:
        source = _open_frame(data)
    check_shape(source.names, 1 if source.n_rows is None else source.n_rows)
    return source


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


def check_lengths(sizes: Mapping[Name, int]) -> None:
    """Raise unless columns are equally long."""
    if len(set(sizes.values())) > 1:
        shortest, longest = min(sizes, key=sizes.__getitem__), max(sizes, key=sizes.__getitem__)
        shown = f"{sizes[shortest]} values in {shortest!r} and {sizes[longest]} in {longest!r}"
        rule, remedy = "have columns of one length", "Make them equally long."
        raise DataError.because("data", rule, sizes, remedy, shown=shown)


def choose_names(names: Sequence[Name], wanted: Sequence[Name] | None) -> list[Any]:
    """Return the names of the columns that are wanted, all of them known."""
    for name in wanted or ():
        if name not in names:
            raise UnknownNameError.among("column", name, names)
    chosen = list(names if wanted is None else wanted)
    check_shape(chosen, 1)
    return chosen


def _open_array(data: npt.NDArray[Any]) -> Source:
    if data.dtype.names is not None:
        remedy = "Pass a mapping of its fields: {name: data[name] for name in data.dtype.names}."
        raise _not_a_table("a structured array", remedy)
    if data.ndim != 2:
        shape = f"an array of shape {data.shape}"
        raise _not_a_table(shape, "Reshape it; for one column, data.reshape(-1, 1).")
    values = data if isinstance(data, np.ma.MaskedArray) else np.asarray(data)  # no np.matrix

    def blocks(names: Sequence[Any]) -> Iterator[Block]:
        if values.dtype.kind in "iub" and not isinstance(values, np.ma.MaskedArray):
            yield names, values if len(names) == values.shape[1] else values[:, list(names)]

    names: list[Name] = list(range(values.shape[1]))
    return Source(names, lambda place: make_column(values[:, place]), len(values), {}, blocks)


def _open_frame(data: Any) -> Source:
    import narwhals as nw

    try:
        frame = nw.from_native(data, eager_only=True)
    except nw.exceptions.DuplicateError:  # says so itself, but not in our words
        check_shape(list(getattr(data, "column_names", None) or data.columns), 1)
        raise
    except TypeError:
        raise _not_a_table(f"an object of type {type(data).__name__!r}", _remedy(data)) from None

    def blocks(names: Sequence[Name]) -> Iterator[Block]:
        """Take out columns of whole numbers together: a library needs a while for each."""
        types = dict(frame.schema) if len(names) >= _FEWEST_TOGETHER else {}
        by_type: dict[Any, list[Any]] = {}
        for name in names if types else ():
            if isinstance(name, str) and types[name].is_integer():  # pandas has other names
                by_type.setdefault(types[name], []).append(name)
        size = max(1, _VALUES_PER_BLOCK // max(1, len(frame)))
        for alike in by_type.values():
            for first in range(0, len(alike) if len(alike) >= _FEWEST_TOGETHER else 0, size):
                some = alike[first : first + size]
                values = frame[:, some].to_numpy()
                if values.dtype.kind in "iu":  # otherwise values are missing
                    yield some, values

    names: list[Name] = list(frame.columns)
    return Source(names, lambda name: make_column(frame.get_column(name)), len(frame), {}, blocks)


def column_of(values: Any, name: Name) -> Column:
    """Take in one entry of a mapping."""
    if hasattr(values, "__array__") and not isinstance(values, np.ndarray):
        import narwhals as nw

        try:
            return make_column(nw.from_native(values, series_only=True))
        except TypeError:  # not a series of any dataframe library, but an array all the same
            values = values.to_pylist() if hasattr(values, "to_pylist") else np.asarray(values)
    if isinstance(values, np.ndarray) and values.ndim == 1:
        return make_column(values)
    if isinstance(values, Sequence) and not isinstance(values, str | bytes):
        return make_column(list(values))
    got = f"an array of shape {values.shape}" if isinstance(values, np.ndarray) else repr(values)
    rule, remedy = "map names to columns of values", "Pass a list, a series or a 1-d array."
    raise DataError.because("data", rule, values, remedy, shown=f"{got} for {name!r}")


def columns_of(frame: Any, names: Iterable[Name]) -> dict[Name, Column]:
    """Take in some columns of a batch: a dataframe, or columns that were taken in before."""
    if isinstance(frame, dict):
        return {name: frame[name] for name in names}
    import narwhals as nw

    taken = nw.from_native(frame, eager_only=True)
    return {name: make_column(taken.get_column(name)) for name in names}


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
