"""Wide sweeps on a cluster: blocks of columns against blocks of columns, dealt out to its workers.

Where rows are cut, counts are added up (:mod:`komb.engine.cluster`). Here every worker has
the bits of all columns, and a task is to screen some rectangles of unions. Nearly all of those are
no dependences, so next to nothing comes back. The bits go to each worker once for a sweep.

Whether that pays is worked out beforehand: a sweep takes its rows over all unions, divided by what
a thread gets through in a second and by the number of threads; a cluster has to be sent the bits
besides. The rates are rough, and the answer does not depend on who screens.
"""

from __future__ import annotations

import uuid
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from typing import Any

from komb.data.stored.dask import explained

ROWS_PER_SECOND = 5e10
"""Rows over all unions that a thread screens; measured with pairs of columns of three levels."""

BYTES_PER_SECOND = 2e8
"""Of the bits that are sent, to one worker after the other."""

SECONDS_TO_BEGIN = 0.5
"""Before the first result is there."""

RECTANGLES_PER_TASK = 32
"""Some tenths of a second of work: long beside a message, short beside the sweep."""

TASKS_PER_THREAD = 3
"""Begun before the first of them is asked for."""

PATIENCE = 30.0
"""Seconds for the bits or one task: beyond, a worker has died with what they hang on."""

_client: ContextVar[Any] = ContextVar("komb_cluster", default=None)


@contextmanager
def use_workers(client: Any) -> Iterator[None]:
    """Let the workers of a cluster screen wide sweeps of the code inside; nobody if it is None."""
    token = _client.set(client)
    try:
        yield
    finally:
        _client.reset(token)


def find_workers(n_rows: int, n_bytes: int, threads: int) -> Any:
    """Return the client of the cluster that is to screen a sweep; None if threads are quicker."""
    client = _client.get()
    if client is None:
        return None
    by_worker = client.nthreads()
    there = n_rows / (ROWS_PER_SECOND * max(1, sum(by_worker.values())))
    there += SECONDS_TO_BEGIN + len(by_worker) * n_bytes / BYTES_PER_SECOND
    here = n_rows / (ROWS_PER_SECOND * threads)
    return client if there < here else None


def screen_on(client: Any, screen: Any, parts: Iterable[Any]) -> Iterator[Any]:
    """Have rectangles screened by the workers of a cluster; yield the results in their order.

    A worker that dies costs time and no answer: others have the bits too, and do its tasks again.
    What is lost all the same, as bits on their way to that worker are, is screened here.
    """
    try:
        remote = client.scatter(screen, broadcast=True, hash=False, timeout=PATIENCE)
    except OSError:  # a connection that broke, or nobody there in time
        yield from map(screen.run, parts)
        return
    threads = max(1, sum(client.nthreads().values()))
    left = iter(parts)
    begun: deque[tuple[Any, list[Any]]] = deque()
    try:
        while lot := list(islice(left, RECTANGLES_PER_TASK)):
            key = f"komb-screen-{uuid.uuid4().hex}"
            begun.append((client.submit(screen_all, remote, lot, key=key, pure=False), lot))
            if len(begun) > TASKS_PER_THREAD * threads:
                yield from _result(screen, *begun.popleft())
        while begun:
            yield from _result(screen, *begun.popleft())
    except BaseException as error:  # an interrupt, too: nobody waits for the rest any more
        raise explained(error) from error
    finally:
        client.cancel([*(future for future, _ in begun), remote])


def _result(screen: Any, future: Any, lot: list[Any]) -> list[Any]:
    """Return what a worker found; if it cannot, what it would have found."""
    try:
        found: list[Any] = future.result(PATIENCE)
    except (OSError, CancelledError):
        return screen_all(screen, lot)
    return found


def screen_all(screen: Any, parts: Iterable[Any]) -> list[Any]:
    """Screen some rectangles, on a worker."""
    return [screen.run(part) for part in parts]
