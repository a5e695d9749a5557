"""Connections to Dask clusters, and whether they are ready for komb."""

from __future__ import annotations

import sys
import weakref
from importlib import import_module, metadata
from typing import Any

from komb.data.stored.stored_table import StoredTable, is_table_folder
from komb.errors import Argument, MissingPackageError, ParameterError

CONNECT_SECONDS = 10.0
"""How long to wait for a scheduler, and then for its first worker."""

_EXAMPLE = "Try ", Argument("cluster", "tcp://127.0.0.1:8786"), ", or leave it out."


def is_dask_frame(data: object) -> bool:
    """Whether something is a dataframe of Dask."""
    library = type(data).__module__.partition(".")[0]
    return library.startswith("dask") and hasattr(data, "to_delayed")


class Connection:
    """A client; if it was made here, it is closed with the last table that has the connection."""

    def __init__(self, client: Any, *, is_ours: bool = False) -> None:
        self.client = client
        self._finalizer = weakref.finalize(self, client.close) if is_ours else None

    def close(self) -> None:
        """Close the client now, if it was made here."""
        if self._finalizer is not None:
            self._finalizer()


def connect(cluster: object, data: object = None) -> Connection | None:
    """Connect to a cluster that is ready for komb, or return None if there is none."""
    is_large = isinstance(data, StoredTable) and not data.fits
    if cluster is None and (is_large or is_dask_frame(data)):
        cluster = active_client()
    if cluster is None:
        return None
    connection = _connect(cluster)
    try:
        _check_workers(connection.client)
    except BaseException:
        connection.close()
        raise
    return connection


def need_client(connection: Connection | None) -> Connection:
    """Return a connection, or say that a dataframe of Dask needs one."""
    if connection is None:
        rule = "be given for a dataframe of Dask, unless there is an active client"
        remedy = "Make one: distributed.Client(), or pass data.compute() as the data."
        raise ParameterError.because("cluster", rule, None, remedy)
    return connection


def check_sight(client: Any, table: StoredTable) -> None:
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


def _connect(cluster: object) -> Connection:
    is_client = hasattr(cluster, "scheduler_info") and hasattr(cluster, "submit")
    if not (isinstance(cluster, str) or is_client or hasattr(cluster, "scheduler_address")):
        rule = "be a Dask client, or the address of a scheduler"
        raise ParameterError.because("cluster", rule, cluster, _EXAMPLE)
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
        return Connection(cluster)
    where = cluster if isinstance(cluster, str) else cluster.scheduler_address  # type: ignore[attr-defined]
    try:
        client = client_type(where, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        rule = "be the address of a scheduler that answers"
        why = str(error) or type(error).__name__
        check = f"Check the address, and that the scheduler is running ({why}). "
        raise ParameterError.because("cluster", rule, where, (check, *_EXAMPLE)) from None
    return Connection(client, is_ours=True)


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
