"""Two workers on this machine, for tests of what a cluster does."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

LOOPBACK = "127.0.0.1:0"  # a free port, for this machine alone


@contextmanager
def local_client(*, processes: bool = True) -> Iterator[Any]:
    """Start two workers, each a process or a thread, and stop them afterwards."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=processes, dashboard_address=LOOPBACK
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
    with warnings.catch_warnings():  # what Dask leaves open is closed here, not in another test
        warnings.simplefilter("ignore")
        gc.collect()
