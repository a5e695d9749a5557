"""Which Dask cluster a search may use, and whether it can."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from komb.api.options import SearchOptions
from komb.data.encode.inputs import Request
from komb.data.stored.clients import Connection, check_sight, connect, need_client
from komb.data.stored.cluster_table import ClusterTable, hold_table, is_dask_frame
from komb.data.stored.stored_table import StoredTable
from komb.data.table import DiscreteTable


@contextmanager
def use_cluster(cluster: object, data: object = None) -> Iterator[Any]:
    """Have a client of a cluster that is ready for komb, or None if there is none.

    Examples
    --------
    >>> with use_cluster(None) as client:
    ...     client is None
    True
    """
    connection = connect(cluster, data)
    if connection is None:
        yield None
        return
    try:
        yield connection.client
    finally:
        connection.close()


def place_data(data: Any, client: Any, options: SearchOptions) -> object:
    """Return data as they are searched: those that a cluster has or sees stay with it."""
    connection = None if client is None else Connection(client)
    if is_dask_frame(data):
        request = Request(list(options.exclude), options.treatment)
        return hold_table(need_client(connection), data, request)
    if isinstance(data, StoredTable) and connection is not None:
        check_sight(client, data)
        return data.counted_by(connection)
    return data


def is_counted_in_parts(table: DiscreteTable) -> bool:
    """Whether the parts of a table are counted where they are.

    Examples
    --------
    >>> is_counted_in_parts(DiscreteTable.from_data({"x": [1, 2]}))
    False
    """
    is_large = isinstance(table, StoredTable) and not table.fits
    return is_large or isinstance(table, ClusterTable)


@contextmanager
def spread_targets(client: Any) -> Iterator[None]:
    """Have searches for several targets done by the workers of a cluster; here, if it is None."""
    if client is None:
        yield
        return
    import joblib

    with joblib.parallel_config(backend="dask", client=client):
        yield
