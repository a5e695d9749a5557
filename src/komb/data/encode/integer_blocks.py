"""Columns of integers in wide frames, encoded many at a time.

A library needs some time to hand over a column, however short it is. For a table of a hundred
thousand columns that adds up to more than the encoding itself, so columns of integers without
missing values are taken out as matrices of some hundreds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from komb.data.encode.arrays import Columns, Later, encode_matrix
from komb.data.encode.codes import Encoded, Name

if TYPE_CHECKING:
    import narwhals as nw

FEWEST_COLUMNS = 256
"""Columns of one type from which on they are encoded together."""

VALUES_PER_BLOCK = 1 << 22
"""In one matrix, about. It is encoded when the first of its columns is, and kept for the others."""


class _Block:
    """Some columns of a frame."""

    def __init__(self, frame: nw.DataFrame[Any], names: Sequence[str]) -> None:
        self._frame = frame
        self._names = names
        self._encoded: Columns | None = None
        self._n_left = len(names)
        self.n_rows = len(frame)

    def encode(self, place: int) -> Encoded:
        """Return one of the columns; after the last one nothing is kept."""
        if self._encoded is None:
            self._encoded = encode_matrix(self._frame.select(self._names).to_numpy(), self._names)
        encoded = self._encoded
        self._n_left -= 1
        if self._n_left == 0:
            self._encoded, self._n_left = None, len(self._names)
        return Encoded(encoded.codes[place], encoded.levels[place])


class _InBlock(NamedTuple):
    """A column of a block, in the place of its values."""

    block: _Block
    place: int

    def __len__(self) -> int:
        """How many rows it has."""
        return self.block.n_rows


def _encode(column: _InBlock) -> Encoded:
    return column.block.encode(column.place)


def gather_integers(frame: nw.DataFrame[Any], names: Sequence[Name]) -> dict[Name, Later]:
    """Return those of some columns that are encoded together: integers, none of them missing.

    Parameters
    ----------
    frame
        A narwhals frame.
    names
        Columns of it.

    Examples
    --------
    >>> import narwhals as nw, polars as pl
    >>> frame = nw.from_native(pl.DataFrame({f"x{i}": [5, 7, 7] for i in range(300)}))
    >>> columns = gather_integers(frame, frame.columns)
    >>> columns["x299"].encode(columns["x299"].values)
    Encoded(codes=array([0, 1, 1], dtype=uint8), levels=(5, 7))
    >>> gather_integers(frame, frame.columns[:9])
    {}
    """
    if len(names) < FEWEST_COLUMNS:
        return {}
    by_type: dict[Any, list[str]] = {}
    schema = frame.schema
    for name in names:
        if isinstance(name, str):  # pandas has others
            by_type.setdefault(schema[name], []).append(name)
    gathered: dict[Name, Later] = {}
    for dtype, alike in by_type.items():
        if len(alike) >= FEWEST_COLUMNS and dtype.is_integer():
            complete = list(_complete(frame, alike))
            size = max(1, VALUES_PER_BLOCK // len(frame))
            for first in range(0, len(complete), size):
                block = _Block(frame, complete[first : first + size])
                for place, name in enumerate(complete[first : first + size]):
                    gathered[name] = Later(_encode, _InBlock(block, place))
    return gathered


def _complete(frame: nw.DataFrame[Any], names: Sequence[str]) -> Iterator[str]:
    """Yield the columns in which no value is missing."""
    import narwhals as nw

    counts = frame.select(nw.col(*names).null_count()).row(0)
    for name, count in zip(names, counts, strict=True):
        if count == 0:
            yield name
