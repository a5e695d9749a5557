"""Which Dask cluster a search may use, and whether it can."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module, metadata
from typing import Any

from komb.api.options import SearchOptions
from komb.data.encode.inputs import Request
from komb.data.stored.cluster_table import ClusterTable, hold_table, is_dask_frame
from komb.data.stored.stored_table import StoredTable, is_table_folder
from komb.data.table import DiscreteTable
from komb.errors import Argument, MissingPackageError, ParameterError

CONNECT_SECONDS = 10.0
"""How long to wait for a scheduler, and then for its first worker."""

_EXAMPLE = "Try ", Argument("cluster", "tcp://127.0.0.1:8786"), ", or leave it out."


@contextmanager
def use_cluster(cluster: object, data: object = None) -> Iterator[Any]:
    """Have a client of a cluster that is ready for komb, or None if there is none.

    Examples
    --------
    >>> with use_cluster(None) as client:
    ...     client is None
    True
    >>> with use_cluster(7):
    ...     pass
    Traceback (most recent call last):
    komb.errors.ParameterError: 'cluster' must be a Dask client, or the address of a scheduler; ...
    """
    if cluster is None and _is_for_clusters(data):
        cluster = active_client()
    if cluster is None:
        yield None
        return
    client, is_ours = _connect(cluster)
    try:
        _check_workers(client)
        yield client
    finally:
        if is_ours:
            client.close()


def _is_for_clusters(data: object) -> bool:
    return is_dask_frame(data) or (isinstance(data, StoredTable) and not data.fits)


def place_data(data: Any, client: Any, options: SearchOptions) -> object:
    """Return data as they are searched: those that a cluster has or sees stay with it."""
    if is_dask_frame(data):
        if client is None:
            rule = "be given for a dataframe of Dask, unless there is an active client"
            remedy = "Make one: distributed.Client(), or pass data.compute() as the data."
            raise ParameterError.because("cluster", rule, None, remedy)
        return hold_table(client, data, Request(list(options.exclude), options.treatment))
    if isinstance(data, StoredTable) and client is not None:
        _check_sight(client, data)
        return data.counted_by(client)
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


def _check_sight(client: Any, table: StoredTable) -> None:
    """Raise unless all workers see the folder of a table."""
    seen = client.run(is_table_folder, table.path.absolute())
    blind = sorted(address for address, is_there in seen.items() if not is_there)
    if blind:
        remedy = "Put the table on a disk that they share, or load it with dask.dataframe."
        rule = f"see the folder {str(table.path)!r} from every worker"
        _refuse(rule, client, f"none on {blind[0]}", remedy)


def active_client() -> Any:
    """Return the client that Dask would use by itself, or None."""
    distributed = sys.modules.get("distributed")
    if distributed is None:  # what is not loaded has no client
        return None
    try:
        return distributed.default_client()
    except ValueError:
        return None


def _connect(cluster: object) -> tuple[Any, bool]:
    """Return a client, and whether it was made here."""
    _check_kind(cluster)
    try:
        client_type: Any = import_module("distributed").Client
    except ImportError:
        message = "Counting on a cluster needs Dask, which is not installed."
        raise MissingPackageError(message, 'pip install "komb[dask]".') from None
    if isinstance(cluster, client_type):
        if cluster.status != "running":
            rule = "be a client that is connected"
            remedy = "Make a new one: distributed.Client(address)."
            raise ParameterError.because("cluster", rule, cluster, remedy)
        return cluster, False
    where = cluster if isinstance(cluster, str) else cluster.scheduler_address  # type: ignore[attr-defined]
    try:
        return client_type(where, timeout=CONNECT_SECONDS, set_as_default=False), True
    except (OSError, ValueError, TypeError) as error:
        rule = "be the address of a scheduler that answers"
        why = str(error) or type(error).__name__
        check = f"Check the address, and that the scheduler is running ({why}). "
        raise ParameterError.because("cluster", rule, where, (check, *_EXAMPLE)) from None


def _check_kind(cluster: object) -> None:
    is_client = hasattr(cluster, "scheduler_info") and hasattr(cluster, "submit")
    if not (isinstance(cluster, str) or is_client or hasattr(cluster, "scheduler_address")):
        rule = "be a Dask client, or the address of a scheduler"
        raise ParameterError.because("cluster", rule, cluster, _EXAMPLE)


def _check_workers(client: Any) -> None:
    """Raise unless there are workers, all with this version of komb."""
    try:
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
    except TimeoutError:
        remedy = "Start some: dask worker tcp://..., on machines that have komb."
        _refuse("have at least one worker", client, "none", remedy)
    own = metadata.version("komb")
    found = client.run(metadata.version, "komb", on_error="return")
    for address, version in sorted(found.items()):
        if isinstance(version, OSError):  # it was lost this very moment, which costs no answer
            continue
        if isinstance(version, Exception):
            remedy = f"Install komb {own} there, in the Python that runs the worker."
            _refuse("have komb on every worker", client, f"{address}: {version}", remedy)
        if version != own:
            remedy = f"Install komb {own} there."
            shown = f"{version} on {address}"
            _refuse(f"have the same komb on every worker as here, {own}", client, shown, remedy)


def _refuse(rule: str, client: Any, shown: str, remedy: str) -> None:
    raise ParameterError.because("cluster", rule, client, remedy, shown=shown)


@contextmanager
def spread_targets(client: Any) -> Iterator[None]:
    """Have searches for several targets done by the workers of a cluster; here, if it is None."""
    if client is None:
        yield
        return
    import joblib

    with joblib.parallel_config(backend="dask", client=client):
        yield
