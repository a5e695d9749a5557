"""Which Dask cluster a search may use, and whether it can."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from typing import Any

from komb.errors import Argument, MissingPackageError, ParameterError

CONNECT_SECONDS = 10.0
"""How long to wait for a scheduler, and then for its first worker."""

_EXAMPLE = "Try ", Argument("cluster", "tcp://127.0.0.1:8786"), ", or leave it out."


@contextmanager
def use_cluster(cluster: object) -> Iterator[Any]:
    """Have a client of a cluster that is ready for komb, or None if there is none.

    Parameters
    ----------
    cluster
        A ``distributed.Client``, a cluster that has one, the address of a scheduler, or None.

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
        from distributed import Client
    except ImportError:
        message = "Counting on a cluster needs Dask, which is not installed."
        raise MissingPackageError(message, 'pip install "komb[dask]".') from None
    if isinstance(cluster, Client):
        if cluster.status != "running":
            rule = "be a client that is connected"
            remedy = "Make a new one: distributed.Client(address)."
            raise ParameterError.because("cluster", rule, cluster, remedy)
        return cluster, False
    where = cluster if isinstance(cluster, str) else cluster.scheduler_address  # type: ignore[attr-defined]
    try:
        return Client(where, timeout=CONNECT_SECONDS, set_as_default=False), True
    except (OSError, ValueError, TypeError) as error:
        rule = "be the address of a scheduler that answers"
        why = str(error) or type(error).__name__
        remedy = f"Check the address, and that the scheduler is running ({why}).", " ", _EXAMPLE
        raise ParameterError.because("cluster", rule, where, remedy) from None


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
        if isinstance(version, Exception):
            remedy = f"Install komb {own} there, in the Python that runs the worker."
            _refuse("have komb on every worker", client, f"{address}: {version}", remedy)
        if version != own:
            remedy = f"Install komb {own} there."
            shown = f"{version} on {address}"
            _refuse(f"have the same komb on every worker as here, {own}", client, shown, remedy)


def _refuse(rule: str, client: Any, shown: str, remedy: str) -> None:
    raise ParameterError.because("cluster", rule, client, remedy, shown=shown)


def count_cluster_threads(client: Any) -> int:
    """Return how many threads all workers have together."""
    return sum(client.nthreads().values())
