"""The same work on many items, by as many workers as the caller wants.

joblib runs the workers, so ``joblib.parallel_config(backend=...)`` decides what they are: processes
(loky, the default), threads, or those of a dask or ray cluster. What all items have in common is
handed over apart from them, and reaches a worker once: loky maps large arrays into memory, dask
scatters them, threads have them already.
"""

from __future__ import annotations

import logging
import operator
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Hashable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from functools import lru_cache
from itertools import islice
from typing import Any, TypeVar

from komb.errors import Argument, KombError, ParameterError, WorkerError

_Item = TypeVar("_Item", bound=Hashable)

_GLANCE_EVERY = 0.5  # seconds between two looks whether the parent is still there
_SLICE = 8  # items a worker that are sent at once where results come back together


def check_jobs(n_jobs: object) -> int | None:
    """Return a number of jobs in joblib's sense, or say why it is none."""
    if n_jobs is None:
        return None
    try:
        number = operator.index(n_jobs)  # type: ignore[arg-type]
    except TypeError:
        number = 0
    if number == 0 or isinstance(n_jobs, bool):
        rule = "be a whole number other than 0, or None"
        remedy = (
            "Try ",
            Argument("n_jobs", 2),
            " for two workers, or ",
            Argument("n_jobs", -1),
            " for one per processor.",
        )
        raise ParameterError.because("n_jobs", rule, n_jobs, remedy)
    return number


def count_workers(n_jobs: int | None, n_items: int) -> int:
    """Return how many workers there will be: never more than there are items."""
    # What is not loaded is not configured either, and loading it takes a tenth of a second.
    if n_items < 2 or n_jobs == 1 or (n_jobs is None and "joblib" not in sys.modules):
        return 1
    import joblib

    wanted = joblib.Parallel().n_jobs if n_jobs is None else n_jobs
    return min(int(joblib.effective_n_jobs(wanted)), n_items)


def count_threads(n_jobs: int | None) -> int | None:
    """Return how many threads may count for one search; None leaves that to the machine."""
    if n_jobs is None or n_jobs > 0:
        return n_jobs
    import joblib

    return int(joblib.effective_n_jobs(n_jobs))


class Stop:
    """Tells threads that their results are no longer wanted; another process has one of its own.

    Processes are ended from outside, threads can only end themselves: the flag is looked at
    whenever a search reports progress.

    Examples
    --------
    >>> stop = Stop()
    >>> stop("progress")
    >>> stop.is_set = True
    >>> stop("progress")
    Traceback (most recent call last):
    komb.api.parallel.Stopped
    """

    def __init__(self) -> None:
        self.is_set = False

    def __call__(self, _: object) -> None:
        """Raise if there is no point in going on."""
        if self.is_set:
            raise Stopped

    def __reduce__(self) -> tuple[type[Stop], tuple[()]]:
        return Stop, ()


class Stopped(Exception):  # noqa: N818 - it is no error
    """A thread has noticed that its result is no longer wanted."""


def spread(
    work: Callable[..., Any], items: Sequence[_Item], shared: Sequence[Any], n_workers: int
) -> Generator[tuple[_Item, Any], None, None]:
    """Do some work on every item, and yield the results as they come."""
    from joblib import Parallel, delayed
    from joblib.parallel import get_active_backend

    is_streaming = get_active_backend()[0].supports_return_generator
    parallel = Parallel(
        n_jobs=n_workers,
        batch_size=1,  # some take a thousand times as long as others
        return_as="generator_unordered" if is_streaming else "list",
    )
    calls = (delayed(_call)(os.getpid(), work, item, *shared) for item in items)
    results = parallel(calls) if is_streaming else _in_slices(parallel, calls, _SLICE * n_workers)
    try:
        for result in _guarded(results):  # noqa: UP028
            yield result
    finally:
        with warnings.catch_warnings():  # what is thrown away here is known
            warnings.simplefilter("ignore")
            results.close()


def _in_slices(parallel: Any, calls: Iterator[Any], size: int) -> Generator[Any, None, None]:
    """Yield results from workers that give all of them back together, some at a time."""
    while part := list(islice(calls, size)):
        yield from parallel(part)


def _guarded(results: Iterator[Any]) -> Iterator[Any]:
    # No "yield from": it would close the results before the warning of that is silenced.
    try:
        for result in results:  # noqa: UP028
            yield result
    except KombError:
        raise
    except BrokenExecutor as error:
        raise WorkerError("A worker was killed, probably because memory ran out") from error
    except Exception as error:
        raise WorkerError(f"A worker failed ({type(error).__name__}: {error})") from error


def _call(parent: int, work: Callable[..., Any], item: Any, *shared: Any) -> tuple[Any, Any]:
    prepare_worker(parent)
    return item, work(item, *shared)


@lru_cache(maxsize=1)
def prepare_worker(parent: int) -> None:
    """Make this process a good child, if it is one that works for ``parent`` alone.

    It leaves Ctrl-C to its parent, which ends it; it says nothing; and it ends when its parent is
    gone, for its work is no longer wanted. Threads, and the workers of a cluster, stay as they are.
    """
    if os.getppid() != parent or threading.current_thread() is not threading.main_thread():
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.getLogger("komb").setLevel(logging.ERROR)
    threading.Thread(target=_follow, args=(parent,), daemon=True).start()


def _follow(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_GLANCE_EVERY)
    os._exit(1)
