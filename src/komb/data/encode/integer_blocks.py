"""Columns of integers in wide frames, encoded many at a time.

A library needs some time to hand over a column, however short it is. For a table of a hundred
thousand columns that adds up to more than the encoding itself, so columns of integers are taken out
as matrices of some hundreds. Where values are missing, no such matrix exists, and the columns are
taken out one by one after all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from komb.data.encode.arrays import Columns, Later, encode_matrix
from komb.data.encode.codes import Encoded, Name
from komb.data.encode.frames import encode_series

if TYPE_CHECKING:
    import narwhals as nw

FEWEST_COLUMNS = 256
"""Columns of one type from which on they are encoded together."""

VALUES_PER_BLOCK = 1 << 22
"""In one matrix, about. It is encoded when the first of its columns is, and kept for the others."""


class _Block:
    """Some columns of a frame, all of one type."""

    def __init__(self, frame: nw.DataFrame[Any], names: Sequence[str]) -> None:
        self.frame = frame
        self.names = names
        self.n_rows = len(frame)
        self._encoded: Columns | None = None
        self._n_left = 0

    def encoded(self) -> Columns | None:
        """All columns; None if values are missing. After the last one nothing is kept."""
        if self._n_left == 0:
            values = self.frame[:, list(self.names)].to_numpy()
            is_complete = values.dtype.kind in "iu"
            self._encoded = encode_matrix(values, self.names) if is_complete else None
            self._n_left = len(self.names)
        self._n_left -= 1
        encoded = self._encoded
        if self._n_left == 0:
            self._encoded = None
        return encoded


class BlockColumn:
    """A column of a block, in the place of its values."""

    __slots__ = ("_block", "_place")

    def __init__(self, block: _Block, place: int) -> None:
        self._block = block
        self._place = place

    def __len__(self) -> int:
        return self._block.n_rows

    def __getitem__(self, rows: Any) -> nw.Series[Any]:
        return self.series()[rows]  # type: ignore[no-any-return]

    def series(self) -> nw.Series[Any]:
        """Take the column out by itself."""
        return self._block.frame.get_column(self._block.names[self._place])

    def encode(self) -> Encoded:
        """Encode it, with the block if no value is missing there."""
        encoded = self._block.encoded()
        if encoded is None:
            return encode_series(self.series())
        return Encoded(encoded.codes[self._place], encoded.levels[self._place])


def _encode(column: BlockColumn | nw.Series[Any]) -> Encoded:
    """Encode a column, or some rows of one that has missing values."""
    return column.encode() if isinstance(column, BlockColumn) else encode_series(column)


def gather_integers(frame: nw.DataFrame[Any], names: Sequence[Name]) -> dict[Name, Later]:
    """Return those of some columns that are encoded together: integers, if they are many."""
    if len(names) < FEWEST_COLUMNS:
        return {}
    by_type: dict[Any, list[str]] = {}
    schema = dict(frame.schema)
    for name in names:
        if isinstance(name, str):  # pandas has others
            by_type.setdefault(schema[name], []).append(name)
    gathered: dict[Name, Later] = {}
    size = max(1, VALUES_PER_BLOCK // len(frame))
    for dtype, alike in by_type.items():
        if len(alike) < FEWEST_COLUMNS or not dtype.is_integer():
            continue
        for first in range(0, len(alike), size):
            block = _Block(frame, alike[first : first + size])
            for place, name in enumerate(block.names):
                gathered[name] = Later(_encode, BlockColumn(block, place))
    return gathered
