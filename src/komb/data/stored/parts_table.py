"""Tables whose codes are elsewhere, in parts that are counted one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from komb.data.encode.codes import code_dtype
from komb.data.frozen_mapping import FrozenMapping
from komb.data.stored.header import ColumnEntry
from komb.data.table import DiscreteTable


class PartsTable(DiscreteTable):
    """A table of some of the columns that its parts hold."""

    places: tuple[int, ...]
    _own: tuple[ColumnEntry, ...]
    _n_rows: int

    # The class is no dataclass: its codes are no field.
    def _set(
        self,
        columns: Sequence[ColumnEntry],
        places: Sequence[int] | None,
        n_rows: int,
        **more: Any,
    ) -> None:
        """Take all attributes; ``places`` says which of the columns are those of the table."""
        chosen = tuple(range(len(columns)) if places is None else places)
        own = tuple(columns[place] for place in chosen)
        names = tuple(column.name for column in own)
        values = {
            "names": names,
            "levels": tuple(column.levels for column in own),
            "cuts": FrozenMapping({c.name: c.cuts for c in own if c.cuts is not None}),
            "has_missing": any(column.n_missing for column in own),
            **dict.fromkeys(("numbers", "types", "reading", "notes"), FrozenMapping({})),
            "_positions": {name: position for position, name in enumerate(names)},
            "places": chosen,
            "_own": own,
            "_n_rows": n_rows,
            **more,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self._n_rows

    @property
    def missing_counts(self) -> npt.NDArray[np.int64]:
        """How many values of each column are marked as missing."""
        return np.array([column.n_missing for column in self._own], np.int64)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the codes in memory."""
        return code_dtype(max(column.n_codes for column in self._own))

    @property
    def nbytes(self) -> int:
        """The memory that the codes would take, in bytes."""
        return self.n_columns * self.n_rows * self.dtype.itemsize
