"""Dask clusters: connections to them, and tables whose codes are in the memory of their workers."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from komb.data.batches import DaskPartitions
from komb.data.encoder import TablePlan, plan_table
from komb.data.levels import CodeArray
from komb.data.memory_limit import check_limit, refuse_beyond
from komb.data.options import ReadOptions
from komb.data.parts import ArrayPiece
from komb.data.stored.format import CodesElsewhere, StoredColumn, is_table_folder, stored_columns
from komb.data.table import DiscreteTable
from komb.errors import Argument, DataError, MissingPackageError, ParameterError, WorkerError

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
    is_elsewhere = isinstance(data, DiscreteTable) and not data.is_in_memory
    if cluster is None and (is_elsewhere or is_dask_frame(data)):
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


def check_sight(client: Any, path: Path) -> None:
    """Raise unless all workers see the folder of a table."""
    seen = client.run(is_table_folder, path.absolute(), on_error="return")
    blind = sorted(address for address, found in seen.items() if found is False)  # not: was lost
    if blind:
        remedy = "Put the table on a disk that they share, or load it with dask.dataframe."
        rule = f"see the folder {str(path)!r} from every worker"
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


# Codes on workers


def hold_table(connection: Connection, data: Any, options: ReadOptions) -> DiscreteTable:
    """Encode a dataframe of Dask where it is; its codes stay with the workers.

    Passes over the partitions say what the columns are, and where numbers are cut. A worker that is
    lost has its part made again, from what the dataframe is made of.
    """
    with connection.client.as_current():
        batches = DaskPartitions(data)
        names = options.names_left(batches.names)
        plan = plan_table(batches, names, options, limit=check_limit())
        held = _hold_codes(connection.client, data, plan)
    columns = stored_columns(plan)
    return DiscreteTable(
        tuple(column.name for column in columns),
        CodesOnWorkers(columns, range(len(columns)), sum(plan.rows), held),
        tuple(column.levels for column in columns),
        {column.name: column.cuts for column in columns if column.cuts is not None},
        has_missing=any(column.n_missing for column in columns),
        types=plan.types,
        reading=options.describe(),
        connection=connection,
    )


def _hold_codes(client: Any, data: Any, plan: TablePlan) -> list[Any]:
    """Have every partition encoded, and its codes kept, by a worker."""
    dask, distributed = import_module("dask"), import_module("distributed")
    partitions = data[[own.name for own in plan.plans]].to_delayed()
    encode = dask.delayed(partial(_encode_partition, plan), pure=False)
    held: list[Any] = client.compute([encode(partition) for partition in partitions])
    distributed.wait(held)
    for future in held:
        if future.status == "error":
            future.result()
    return held


def _encode_partition(plan: TablePlan, frame: Any) -> ArrayPiece:
    """Encode some rows, on a worker."""
    return ArrayPiece(plan.encode(frame)[0])


class CodesOnWorkers(CodesElsewhere):
    """Codes in the memory of the workers of a cluster: futures of pieces."""

    where = "on a cluster"

    def __init__(
        self,
        columns: Sequence[StoredColumn],
        places: Sequence[int],
        n_rows: int,
        held: Sequence[Any],
    ) -> None:
        super().__init__(columns, places, n_rows)
        self._all, self._held = tuple(columns), tuple(held)

    @property
    def is_here(self) -> bool:
        """They are elsewhere."""
        return False

    @property
    def whole(self) -> CodeArray:
        """All codes, of shape (columns, rows), brought here."""
        refuse_beyond(self.nbytes, check_limit(), "The table on the cluster, brought here,")
        pieces = self._held[0].client.gather(list(self._held))
        places = list(self.places)
        codes = np.concatenate([piece.codes()[places] for piece in pieces], axis=1)
        codes = codes.astype(self.dtype, copy=False)
        codes.flags.writeable = False
        return codes

    def pieces(self, at_least: int = 1) -> Sequence[Any]:
        """Return futures of pieces, one of each partition."""
        return self._held

    def select(self, positions: Sequence[int]) -> CodesOnWorkers:
        """Return the same rows of some columns; nothing moves."""
        places = [self.places[position] for position in positions]
        return CodesOnWorkers(self._all, places, self.n_rows, self._held)

    def each(self, work: Callable[..., Any], *arguments: Sequence[Any]) -> Iterable[Any]:
        """Have some work done on each piece, by the worker that has it."""
        client = self._held[0].client
        found: list[Any] = client.gather(client.map(work, self._held, *arguments, pure=False))
        return found

    def __reduce__(self) -> NoReturn:
        message = "A table on a cluster cannot be sent to another process."
        raise DataError(message, "Search it here; the cluster does the counting.")
