"""What the columns of a table were found to be, as a mapping that prints itself."""

from __future__ import annotations

from typing import Any

from komb.data.frozen_mapping import FrozenMapping
from komb.data.kinds import ColumnType
from komb.data.names import Name
from komb.views.types_text import types_sheet


class ColumnTypes(FrozenMapping[Name, ColumnType]):
    """The type of each column.

    Examples
    --------
    >>> print(ColumnTypes({"age": ColumnType("continuous", "ranks", missing=3)}))
    1 column
    <BLANKLINE>
      column  type        treatment  missing  why
      age     continuous  ranks            3
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return types_sheet(self).to_text()

    def _repr_html_(self) -> str:
        return types_sheet(self).to_html()

    def __reduce__(self) -> tuple[Any, ...]:
        return ColumnTypes, (dict(self),)
