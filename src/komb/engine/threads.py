"""How many threads may count, and the same work on many pieces by that many.

Kernels let other threads run, so a large piece of work can be cut into parts that several
processors count at once. Nothing that is counted depends on how many there are.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_allowed: ContextVar[int | None] = ContextVar("komb_threads", default=None)

_AHEAD = 2  # pieces per thread that are begun before the first of them is asked for
_GLANCE_EVERY = 0.5  # seconds between two moments in which Ctrl-C is heard, wherever komb runs


def n_threads() -> int:
    """Return how many threads may count here: one per processor, unless somebody says otherwise.

    One in the workers of a pool (joblib's or Python's own), which are one per processor already.
    """
    allowed = _allowed.get()
    if allowed is not None:
        return allowed
    return 1 if _is_worker() else _count_processors()


@contextmanager
def use_threads(count: int | None) -> Iterator[None]:
    """Have the code inside count with this many threads; with None as if nothing had been said."""
    token = _allowed.set(count)
    try:
        yield
    finally:
        _allowed.reset(token)


def _is_worker() -> bool:
    """Whether this is one of several workers; what is not loaded has started none."""
    multiprocessing = sys.modules.get("multiprocessing.process")
    if multiprocessing is not None and multiprocessing.parent_process() is not None:
        return True
    joblib = sys.modules.get("joblib.parallel")
    return joblib is not None and (joblib.get_active_backend()[0].nesting_level or 0) > 0


def _count_processors() -> int:
    """Processors that this process may use, not all that the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def map_in_order(
    work: Callable[[_Item], _Result], items: Iterable[_Item], threads: int
) -> Iterator[_Result]:
    """Do some work on every item, by some threads; yield the results in the order of the items.

    If the caller stops early, or is interrupted, no thread is left running.
    """
    if threads == 1:
        yield from map(work, items)
        return
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(threads, "komb", initializer=_allowed.set, initargs=(1,))
    begun: deque[Future[_Result]] = deque()
    try:
        for item in items:
            begun.append(pool.submit(work, item))
            if len(begun) > _AHEAD * threads:
                yield _wait_for(begun.popleft())
        while begun:
            yield _wait_for(begun.popleft())
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _wait_for(future: Future[_Result]) -> _Result:
    """Wait in steps: on some systems a thread that waits for long does not hear Ctrl-C."""
    from concurrent.futures import wait

    while not future.done():
        wait([future], timeout=_GLANCE_EVERY)
    return future.result()
