r"""Joint counts of a table that lies on the workers of a Dask cluster.

The rows stay where they are. A lot of sets goes out to the workers, each counts it in its parts of
the table, counts are added up on the way back, a few at a time, and one list of them arrives:

    parts      1   2   3   4   5   6   7   8   9
    counted    c   c   c   c   c   c   c   c   c      on the worker that has the part
    added      \_______________/   \___________/      by whichever worker has most of them
    arrived               \______________/

Everything that a worker holds was made by a task that the scheduler can run again elsewhere, so a
worker that is lost costs time and no answer. Counts are whole numbers: they are the same however
they are added.
"""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from functools import partial, reduce
from importlib import import_module
from typing import Any

import numpy as np

from komb.counts.joint_counts import (
    Columns,
    JointCounter,
    JointCounts,
    OnCounted,
    Part,
    add_counts,
    count_part,
)
from komb.data.stored.shards import Shard
from komb.data.stored.stored_table import StoredTable
from komb.data.table import DiscreteTable
from komb.errors import WorkerError

FAN_IN = 8
"""Lists of counts that are added in one task."""

TASKS_PER_THREAD = 2
"""Pieces that the shards are dealt out in, for each thread of the cluster: few, because each is a
message; more than one, so that no worker waits long for the others."""

_MOST_REMEMBERED = 16  # tables, by a worker


Count = Callable[[Iterable[Part]], Any]
"""What to do with some parts of a table, on a worker."""


class ClusterParts(ABC):
    """What the parts of a table are on the workers, and how they are counted there."""

    @abstractmethod
    def submit(self, client: Any, count: Count) -> list[Any]:
        """Have all parts counted, some in each task; returns the futures."""


class StoredParts(ClusterParts):
    """Shards on a disk that all workers see: each maps those that it counts."""

    def __init__(self, table: StoredTable, n_tasks: int) -> None:
        self._table = table
        self._token = uuid.uuid4().hex
        pieces = np.array_split(np.arange(table.n_shards), max(1, min(n_tasks, table.n_shards)))
        self._pieces = [piece.tolist() for piece in pieces]

    def submit(self, client: Any, count: Count) -> list[Any]:
        """Have each piece of the shards counted by any worker."""
        work = partial(_count_shards, self._token, self._table, count)
        return _submit_each(client, "count-shards", work, self._pieces)


class HeldParts(ClusterParts):
    """Parts in the memory of the workers."""

    def __init__(self, futures: Sequence[Any], places: Sequence[int]) -> None:
        self._futures = list(futures)
        self._places = list(places)

    def submit(self, client: Any, count: Count) -> list[Any]:
        """Have each part counted where it is."""
        work = partial(_count_held, self._places, count)
        return _submit_each(client, "count-part", work, self._futures)


def _submit_each(
    client: Any, name: str, work: Callable[[Any], Any], items: Sequence[Any]
) -> list[Any]:
    """Submit one task per item; names of their own keep Dask from hashing what is in them."""
    run = uuid.uuid4().hex
    keys = [f"komb-{name}-{run}-{number}" for number in range(len(items))]
    futures: list[Any] = client.map(work, items, key=keys, pure=False)
    return futures


def _count_shards(token: str, table: StoredTable, count: Count, numbers: Sequence[int]) -> Any:
    known = _remember(token, table)
    return count(known.shard(number) for number in numbers)


def _count_held(places: Sequence[int], count: Count, part: Shard) -> Any:
    chosen = list(places)
    return count((Shard(part.n_rows, part.data, part.offsets[chosen], part.widths[chosen]),))


_remembered: OrderedDict[str, StoredTable] = OrderedDict()


def _remember(token: str, table: StoredTable) -> StoredTable:
    """Return the table that came with this token first: it knows which shards are not damaged."""
    known = _remembered.setdefault(token, table)
    _remembered.move_to_end(token)
    while len(_remembered) > _MOST_REMEMBERED:
        _remembered.popitem(last=False)
    return known


class ClusterCounter(JointCounter):
    """Counts in the memory, or on the disks, of a cluster."""

    def __init__(
        self, table: DiscreteTable, parts: ClusterParts, client: Any, memory_limit: int
    ) -> None:
        super().__init__(table.n_rows, table.cardinalities, table.missing_counts)
        self._client = client
        self._parts = parts
        self._memory_limit = memory_limit

    @property
    def memory_limit(self) -> int:
        """Bytes that counts may take here."""
        return self._memory_limit

    def count(
        self, lot: Sequence[Columns], on_counted: OnCounted | None = None
    ) -> list[JointCounts]:
        """Count each set of a lot, in one pass over the rows."""
        if not lot:
            return []
        counted = self._parts.submit(self._client, partial(_count_lot, self.n_codes, tuple(lot)))
        futures = list(counted)
        try:
            total = self._add_up(counted, futures)
            if on_counted is not None:
                self._watch(counted, on_counted)
            answer: list[JointCounts] = total.result()
        except BaseException as error:  # an interrupt, too: nobody waits for the rest any more
            self._client.cancel(futures)
            raise explained(error) from error
        return answer

    def _add_up(self, counted: Sequence[Any], futures: list[Any]) -> Any:
        """Have counts added, some at a time, until there is one list of them."""
        level = list(counted)
        while len(level) > 1:
            groups = [level[i : i + FAN_IN] for i in range(0, len(level), FAN_IN)]
            level = _submit_each(self._client, "add-counts", _add_all, groups)
            futures += level
        return level[0]

    def _watch(self, counted: Sequence[Any], on_counted: OnCounted) -> None:
        """Say how many pieces are counted, as they are."""
        distributed = import_module("distributed")
        for done, _ in enumerate(distributed.as_completed(counted), 1):
            on_counted(done, len(counted))


def _count_lot(
    n_codes: Sequence[int], lot: Sequence[Columns], parts: Iterable[Part]
) -> list[JointCounts]:
    """Count a lot in some parts."""
    return reduce(add_counts, (count_part(part, n_codes, lot) for part in parts))


def _add_all(counts: Sequence[list[JointCounts]]) -> list[JointCounts]:
    return reduce(add_counts, counts)


def explained(error: BaseException) -> BaseException:
    """Return what to raise for what went wrong on a cluster."""
    from distributed import KilledWorker
    from distributed.client import FutureCancelledError

    if isinstance(error, KilledWorker):
        message = "Workers of the cluster were lost again and again while they counted."
        remedy = "Look at their logs: most likely their memory ran out. Give them more of it."
        return WorkerError(message, None, remedy)
    if isinstance(error, FutureCancelledError | TimeoutError):
        message = f"The connection to the cluster was lost ({error})."
        return WorkerError(message, None, "Check that its scheduler is running.")
    return error
