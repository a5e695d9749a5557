"""What an engine needs of its table besides memory, kept from one search to the next.

Tables of logarithms, sorted columns and buffers take longer to make than a short search takes to
test. They hold nothing that was decided: a search finds the same, by as many tests, with buffers
that others have used. No two engines use the same at a time.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any

import numpy as np

from komb.data.table import DiscreteTable
from komb.engine.asks import Asks
from komb.engine.rule import Rule
from komb.engine.state import Shared

_SPARE_TABLES = 4  # of so many tables, those searched last
_SPARE_ROWS = 20_000  # of so many rows at most: on larger ones nothing here is worth mentioning
_SPARE_BYTES = 16 << 20  # of sorted columns and bitmaps for each

_spares: dict[int, tuple[weakref.ref[DiscreteTable], Buffers]] = {}  # by the table's identity
_lock = threading.RLock()  # one that a finalizer can take while its own thread holds it


class Buffers:
    """What the targets of a table share, and the columns in the order of some targets."""

    def __init__(self, shared: Shared) -> None:
        self.shared = shared
        self.asks = Asks(len(shared.codes))
        self._columns: dict[int, dict[str, Any]] = {}  # fields of targets, the last used last
        self._states: dict[tuple[int, Rule], Any] = {}

    def state_of(self, target: int, rule: Rule) -> Any:
        """Return the state of a target, made now if need be; another memory goes into it."""
        columns = self._columns.pop(target, None)
        if columns is None:
            columns = self.shared.target_fields(target)
        self._columns[target] = columns
        if (target, rule) not in self._states:
            self._states[target, rule] = self.shared.state_of(columns, rule)
        return self._states[target, rule]

    def n_bytes(self, target: int) -> int:
        """Bytes of the columns in the order of a target that were put there so far."""
        columns = self._columns.get(target)
        if columns is None:
            return 0
        n_levels = np.dot(columns["is_packed"], self.shared.levels)
        of_columns = np.count_nonzero(columns["is_sorted"]) * columns["sorted"][0].nbytes
        return int(of_columns + n_levels * columns["bitmaps"][0].nbytes)

    def forget(self, target: int) -> None:
        """Free the columns in the order of a target."""
        self._columns.pop(target, None)
        for key in [key for key in self._states if key[0] == target]:
            del self._states[key]

    def shrink(self) -> None:
        """Free what takes much memory and would save little time, as a search is over."""
        held = sum(map(self.n_bytes, self._columns))
        while held > _SPARE_BYTES:
            oldest = next(iter(self._columns))
            held -= self.n_bytes(oldest)
            self.forget(oldest)


def borrow(table: DiscreteTable) -> Buffers:
    """Return buffers that nobody else has."""
    with _lock:
        reference, buffers = _spares.pop(id(table), (None, None))
    if buffers is None or reference is None or reference() is not table:
        return Buffers(Shared(table.codes, table.cardinalities, np.empty(0, np.int32)))
    return buffers


def return_after(engine: object, table: DiscreteTable, buffers: Buffers) -> None:
    """Have buffers ready for the next search on their table when an engine is gone."""
    if table.n_rows <= _SPARE_ROWS:
        key = id(table)
        reference = weakref.ref(table, lambda _: _drop(key))
        weakref.finalize(engine, _give_back, key, reference, buffers)


def _give_back(key: int, reference: weakref.ref[DiscreteTable], buffers: Buffers) -> None:
    buffers.shrink()
    with _lock:
        if reference() is not None:  # otherwise the key may be that of another table by now
            _spares.pop(key, None)
            _spares[key] = reference, buffers
        if len(_spares) > _SPARE_TABLES:
            del _spares[next(iter(_spares))]


def _drop(key: int) -> None:
    with _lock:
        _spares.pop(key, None)
