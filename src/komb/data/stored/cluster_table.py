"""A table whose codes are in the memory of the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from importlib import import_module
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from komb.data.encode.codes import CodeArray, Name
from komb.data.encode.inputs import Request
from komb.data.memory_limit import check_limit, refuse_beyond
from komb.data.stored.batches import DaskPartitions
from komb.data.stored.column_plans import ColumnPlan
from komb.data.stored.encoding import encode_columns, plan_columns
from komb.data.stored.header import ColumnEntry, column_offsets
from komb.data.stored.parts_table import PartsTable
from komb.data.stored.shards import Shard
from komb.data.table import DiscreteTable
from komb.errors import DataError


def hold_table(connection: Any, data: Any, request: Request) -> ClusterTable:
    """Encode a dataframe of Dask where it is; none of its rows comes here.

    Two passes over the partitions: one for the levels of the columns, one for their codes, which
    stay with the workers. A worker that is lost has its part made again, from what the dataframe is
    made of.
    """
    rule = "be left out for a dataframe of Dask"
    remedy = "Encode the dataframe first: komb.encode(data, 'table.komb', {}=...)."
    request.treatment.refuse(["discretize"], rule, remedy)
    request.treatment.refuse(["types", "na_values"], rule, "Change the dataframe instead.")
    client = connection.client
    with client.as_current():
        plans, n_rows = plan_columns(DaskPartitions(data), request)
        held = _hold_codes(client, data, plans)
    return ClusterTable(connection, held, [plan.entry for plan in plans], n_rows)


def _hold_codes(client: Any, data: Any, plans: Sequence[ColumnPlan]) -> list[Any]:
    """Have every partition encoded, and its codes kept, by a worker."""
    dask, distributed = import_module("dask"), import_module("distributed")
    partitions = data[[plan.name for plan in plans]].to_delayed()
    encode = dask.delayed(partial(_encode_partition, tuple(plans)), pure=False)
    held: list[Any] = client.compute([encode(partition) for partition in partitions])
    distributed.wait(held)
    for future in held:
        if future.status == "error":
            future.result()
    return held


def _encode_partition(plans: Sequence[ColumnPlan], frame: Any) -> Shard:
    """Encode some rows, on a worker."""
    columns = encode_columns(plans, frame)
    n_rows = len(columns[0])
    widths = np.array([codes.dtype.itemsize for codes in columns], dtype=np.int64)
    offsets = column_offsets(widths, n_rows)
    data = np.zeros(int(offsets[-1]), dtype=np.uint8)
    for codes, start in zip(columns, offsets.tolist(), strict=False):
        stored = np.ascontiguousarray(codes, dtype=codes.dtype.newbyteorder("<")).view(np.uint8)
        data[start : start + stored.size] = stored
    return Shard(n_rows, data, offsets[:-1], widths)


class ClusterTable(PartsTable):
    """A table of discrete columns whose codes are on the workers of a cluster.

    It is a :class:`DiscreteTable`: what asks for ``codes`` has them brought here, if they fit into
    memory. Searches do not.

    ``held`` are futures of :class:`~komb.data.stored.shards.Shard`, ``columns`` all that they hold,
    and ``places`` those of the table.
    """

    def __init__(
        self,
        connection: Any,
        held: Sequence[Any],
        columns: Sequence[ColumnEntry],
        n_rows: int,
        places: Sequence[int] | None = None,
    ) -> None:
        self._set(
            columns, places, n_rows, connection=connection, held=tuple(held),
            _columns=tuple(columns),
        )  # fmt: skip

    held: tuple[Any, ...]
    _columns: tuple[ColumnEntry, ...]

    @property
    def is_in_memory(self) -> bool:
        """Its codes are elsewhere."""
        return False

    def level_counts(self, position: int) -> npt.NDArray[np.int64]:
        """How many rows have each level of a column; the last number is of missing values."""
        count = partial(_count_levels, self.places[position], len(self.levels[position]) + 1)
        counts: npt.NDArray[np.int64] = sum(
            self.cluster.gather(self.cluster.map(count, self.held, pure=False))
        )
        return counts

    @property
    def codes(self) -> CodeArray:
        """The codes, brought here."""
        refuse_beyond(self.nbytes, check_limit(), "The table on the cluster, brought here,")
        parts = self.cluster.gather(list(self.held))
        codes: CodeArray = np.empty((self.n_columns, self.n_rows), self.dtype)
        for row, place in zip(codes, self.places, strict=True):
            np.concatenate([part.column(place) for part in parts], out=row, casting="unsafe")
        codes.flags.writeable = False
        return codes

    def select(self, names: Iterable[Name]) -> DiscreteTable:
        """Return a table of some columns, in the order given."""
        places = [self.places[place] for place in self.positions(names)]
        return ClusterTable(self.connection, self.held, self._columns, self._n_rows, places)

    def __reduce__(self) -> NoReturn:
        message = "A table on a cluster cannot be sent to another process."
        raise DataError(message, "Search it here; the cluster does the counting.")


def _count_levels(place: int, n_codes: int, part: Shard) -> npt.NDArray[np.int64]:
    return np.bincount(part.column(place), minlength=n_codes)
