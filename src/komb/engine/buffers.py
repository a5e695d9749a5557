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
import numpy.typing as npt

from komb.data.table import DiscreteTable
from komb.engine.asks import Asks
from komb.engine.fixed_point import Int64Array
from komb.engine.rule import Rule
from komb.engine.state import Shared

_SPARE_TABLES = 4  # of so many tables, those searched last
_SPARE_ROWS = 20_000  # of so many rows at most: on larger ones nothing here is worth mentioning
_SPARE_BYTES = 16 << 20  # of sorted columns and bitmaps for each

_spares: dict[int, tuple[weakref.ref[DiscreteTable], Buffers]] = {}  # by the table's identity
_lock = threading.RLock()  # one that a finalizer can take while its own thread holds it


class Buffers:
    """What the targets of a table share, and the columns in the order of some targets."""

    def __init__(
        self, codes: npt.NDArray[Any], levels: Int64Array, weight: npt.NDArray[np.int32] | None
    ) -> None:
        self.shared = Shared(codes, levels, np.empty(0, np.int32) if weight is None else weight)
        self.asks = Asks(len(codes))
        self._states: dict[tuple[int, Rule], Any] = {}

    def state_of(self, target: int, rule: Rule) -> Any:
        """Return the state of a target, made now if need be; another memory goes into it."""
        state = self._states.pop((target, rule), None)
        if state is None:
            state = self.shared.state_of(target, rule)
        self._states[target, rule] = state
        return state

    def n_bytes(self, target: int) -> int:
        """Bytes of the columns in the order of a target."""
        states = [state for (own, _), state in self._states.items() if own == target]
        return sum(state.sorted.nbytes + state.bitmaps.nbytes for state in states)

    def forget(self, target: int) -> None:
        """Free the columns in the order of a target."""
        for key in [key for key in self._states if key[0] == target]:
            del self._states[key]

    def shrink(self) -> None:
        """Free what takes much memory and would save little time, as a search is over."""
        held = sum(self.n_bytes(target) for target in {target for target, _ in self._states})
        while self._states and held > _SPARE_BYTES:
            state = self._states.pop(next(iter(self._states)))
            held -= state.sorted.nbytes + state.bitmaps.nbytes


def borrow(table: DiscreteTable) -> Buffers:
    """Return buffers that nobody else has."""
    with _lock:
        reference, buffers = _spares.pop(id(table), (None, None))
    if buffers is None or reference is None or reference() is not table:
        return Buffers(table.codes, table.cardinalities, None)
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
        _spares.pop(key, None)
        if reference() is not None:
            _spares[key] = reference, buffers
        if len(_spares) > _SPARE_TABLES:
            del _spares[next(iter(_spares))]


def _drop(key: int) -> None:
    with _lock:
        _spares.pop(key, None)
