"""What tests on one table need whoever makes them, kept from one search to the next.

Tables of logarithms, buffers and contingencies take longer to make than a short search takes to
test. They hold nothing that was decided: a search finds the same, by as many tests, with a
workspace that others have used. No two sessions use one at the same time.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any, ClassVar, Protocol, TypeVar

from komb.counts.contingency import Contingency, SharedTables
from komb.counts.long_contingency import LONG_ROWS, LongContingency
from komb.data.table import DiscreteTable

PREPARED_TARGETS = 4  # contingencies kept ready, at least; each may hold as much as the table
PREPARED_BYTES = 64 << 20  # and more of them as long as all take no more than this

# Between two searches
_SPARE_TABLES = 4  # of so many tables, those searched last
_SPARE_ROWS = 20_000  # of so many rows at most: on larger ones nothing here is worth mentioning
_SPARE_BYTES = 16 << 20  # of contingencies for each

_spares: dict[int, tuple[weakref.ref[DiscreteTable], Workspace]] = {}  # by the table's identity
_lock = threading.RLock()  # one that a finalizer can take while its own thread holds it


class Kept(Protocol):
    """Something that is worth keeping."""

    def reclaim(self) -> None:
        """Free what is not, as the search that used it is over."""


_Kept = TypeVar("_Kept", bound=Kept)


class Workspace:
    """Tables, buffers and contingencies of one table.

    Parameters
    ----------
    table : DiscreteTable

    Attributes
    ----------
    shared : SharedTables
    cardinalities : int array
    contingencies : dict
        By target, the one used last is the last.
    is_kept : bool
        Whether it is for the next search on the table, too.
    """

    is_kept: ClassVar[bool] = True

    def __init__(self, table: DiscreteTable) -> None:
        self.cardinalities = table.cardinalities
        self.shared = SharedTables(table.codes, self.cardinalities)
        self.contingencies: dict[int, Contingency] = {}
        self._kept: dict[str, Any] = {}

    def contingency(self, target: int) -> Contingency:
        """Return the contingency of a target, made now if need be."""
        prepared = self.contingencies.pop(target, None)
        if prepared is None:
            self._make_room(PREPARED_TARGETS, PREPARED_BYTES)
            prepared = self._make_contingency(target)
        self.contingencies[target] = prepared
        return prepared

    def _make_contingency(self, target: int) -> Contingency:
        is_long = self.shared.n_rows >= LONG_ROWS and not self.shared.has_missing
        kind = LongContingency if is_long and self.cardinalities[target] > 0 else Contingency
        return kind(self.shared.codes, self.cardinalities, target, self.shared)

    def keep(self, name: str, make: Callable[[], _Kept]) -> _Kept:
        """Return what was kept under a name, made now if need be."""
        if name not in self._kept:
            self._kept[name] = make()
        kept: _Kept = self._kept[name]
        return kept

    def forget(self, target: int) -> None:
        """Free what was prepared for one target."""
        self.contingencies.pop(target, None)

    def shrink(self) -> None:
        """Free what takes much memory and would save little time, as a search is over."""
        self._make_room(1, _SPARE_BYTES)
        for kept in self._kept.values():
            kept.reclaim()

    def _make_room(self, at_least: int, most_bytes: int) -> None:
        """Forget the contingencies used longest ago, if there are many and they are large."""
        held = sum(each.nbytes for each in self.contingencies.values())
        while len(self.contingencies) >= at_least and held > most_bytes:
            held -= self.contingencies.pop(next(iter(self.contingencies))).nbytes


def borrow(table: DiscreteTable) -> Workspace:
    """Return a workspace that nobody else has."""
    with _lock:
        reference, workspace = _spares.pop(id(table), (None, None))
    if workspace is None or reference is None or reference() is not table:
        return Workspace(table)
    return workspace


def return_after(borrower: object, table: DiscreteTable, workspace: Workspace) -> None:
    """Have a workspace ready for the next search on its table when the borrower is gone."""
    if workspace.is_kept and table.n_rows <= _SPARE_ROWS:
        key = id(table)
        reference = weakref.ref(table, lambda _: _drop(key))
        weakref.finalize(borrower, _give_back, key, reference, workspace)


def _give_back(key: int, reference: weakref.ref[DiscreteTable], workspace: Workspace) -> None:
    workspace.shrink()
    with _lock:
        _spares.pop(key, None)
        if reference() is not None:
            _spares[key] = reference, workspace
        if len(_spares) > _SPARE_TABLES:
            del _spares[next(iter(_spares))]


def _drop(key: int) -> None:
    with _lock:
        _spares.pop(key, None)
