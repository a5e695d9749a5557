"""The same work on many items, by as many workers as the caller wants.

joblib runs the workers, so ``joblib.parallel_config(backend=...)`` decides what they are: processes
(loky, the default), threads, or those of a dask or ray cluster. What all items have in common is
handed over apart from them, and reaches a worker once: loky maps large arrays into memory, dask
scatters them, threads have them already. Searches for several targets of one table are such work.
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
from collections.abc import Callable, Generator, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import closing
from dataclasses import replace
from functools import lru_cache
from itertools import count, islice
from typing import Any, TypeAlias, TypeVar

from komb.api.oracle import Oracle
from komb.api.progress import IGNORED, Reporter, unfinished
from komb.api.run import Finding, Run
from komb.api.warmup import warm_up
from komb.citests.registry import TESTS
from komb.data.parts import CodesHere
from komb.data.table import DiscreteTable
from komb.engine.engine import Engine
from komb.errors import (
    Argument,
    Interrupted,
    KombError,
    ParameterError,
    Text,
    WorkerError,
)
from komb.results.blanket import Blanket
from komb.results.blankets import Blankets
from komb.search.registry import ALGORITHMS
from komb.search.task import Progress
from komb.views.text import plural

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


_Found: TypeAlias = Generator[tuple[int, Blanket], None, None]  # with the number of the target

_Plugins: TypeAlias = tuple[list[Any], list[Any]]  # tests and algorithms from outside

_Ticket: TypeAlias = tuple[int, int]  # which of all calls this is, of all processes

# Where targets share an engine: with more, what is finished is heard of sooner.
_BATCHES_PER_WORKER = 8

_tickets = count()
_workplace = threading.local()  # what a worker has at hand: searches of one call share an engine


def find_all(run: Run, targets: Sequence[int], n_workers: int, reporter: Reporter) -> Blankets:
    """Find the blankets of several columns; whatever stops it keeps those that are complete."""
    finished: dict[int, Blanket] = {}
    find_each = _find_in_turn if n_workers == 1 else _find_at_once
    try:
        with closing(find_each(run, targets, n_workers, reporter)) as found:
            for number, blanket in found:
                finished[number] = blanket
                _report_done(run, blanket, reporter.at(number), len(finished))
    except KeyboardInterrupt:
        message = unfinished("Interrupted", len(finished), plural(len(targets), "target"))
        raise Interrupted(message, _in_order(finished)) from None
    except WorkerError as error:
        message = unfinished(error.statement, len(finished), plural(len(targets), "target"))
        remedy: Text = ("Try fewer ", Argument("n_jobs"), ", or ", Argument("n_jobs", 1), ".")
        if not isinstance(error.__cause__, BrokenExecutor):
            remedy = "Search with ", Argument("n_jobs", 1), " to see where it fails."
        raise WorkerError(message, _in_order(finished), remedy) from error.__cause__
    return _in_order(finished)


def _in_order(finished: Mapping[int, Blanket]) -> Blankets:
    return Blankets(finished[number] for number in sorted(finished))


def _report_done(run: Run, blanket: Blanket, reporter: Reporter, finished: int) -> None:
    """Say that one of several targets is done."""
    index = run.data.index
    progress = Progress("done", tuple(map(index, blanket)), blanket.tests)
    reporter.report(run.names, index(blanket.target), progress, finished)


def _find_in_turn(run: Run, targets: Sequence[int], _: int, reporter: Reporter) -> _Found:
    """Find several blankets here."""
    own = run.ordered()
    for number, finding in enumerate(_search_in_turn(own, targets, _open_shared(own), reporter)):
        yield number, run.for_target(finding.target).name(finding)


def _open_shared(run: Run) -> Engine | None:
    """Open an engine for all targets if the method gains by it."""
    return run.open_engine() if run.search.algorithm.shares_engine else None


def _search_in_turn(
    run: Run, targets: Sequence[int], shared: Engine | None, reporter: Reporter = IGNORED
) -> Iterator[Finding]:
    """Search for several blankets."""
    for number, target in enumerate(targets):
        own = run.for_target(target)
        engine = shared if own is run else None  # one that has the target as it is
        yield own.search_for(target, reporter.at(number), engine)
        if shared is not None:
            shared.trim()


def _find_at_once(run: Run, targets: Sequence[int], n_workers: int, reporter: Reporter) -> _Found:
    """Find several blankets with workers."""
    if isinstance(run.data, DiscreteTable):
        warm_up(run.data, run.search.test)  # compile once, here, not in every worker
    numbers = {target: number for number, target in enumerate(targets)}
    batches = _batches(run, targets, n_workers)
    first = numbers[batches[0][0]]
    reporter.at(first).report(run.names, targets[first], Progress("start", (), 0), finished=0)
    stop = Stop()
    try:
        plugins = TESTS.from_outside(), ALGORITHMS.from_outside()
        ticket = os.getpid(), next(_tickets)
        shared = (ticket, stop, plugins, _without_data(run.ordered()), *_anonymous(run.data))
        with closing(spread(_search_in_worker, batches, shared, n_workers)) as found:
            for _, findings in found:
                for finding in findings:
                    named = run.for_target(finding.target).name(finding)
                    yield numbers[finding.target], named
    finally:
        stop.is_set = True


def _batches(run: Run, targets: Sequence[int], n_workers: int) -> list[tuple[int, ...]]:
    """Divide targets among workers, which hear of the next ones when they are done with some.

    Those that look like much work come first, so that none is alone at the end.
    """
    size = 1
    if run.search.algorithm.shares_engine:
        size = max(1, len(targets) // (_BATCHES_PER_WORKER * n_workers))
    batches = [tuple(targets[i : i + size]) for i in range(0, len(targets), size)]
    levels = run.data.cardinalities
    return sorted(batches, key=lambda batch: -max(levels[target] for target in batch))


def _anonymous(data: DiscreteTable | Oracle) -> tuple[Any, ...]:
    """Return what data are made of, with numbers for names and levels of a table.

    A search needs no more, and numbers are quickly sent. The codes are an element of their own, so
    that workers can share them.
    """
    if isinstance(data, Oracle) or not isinstance(data.parts, CodesHere):
        return (data,)  # a file: workers open it themselves
    numbered = replace(
        data,
        names=tuple(range(data.n_columns)),
        levels=tuple(range(int(count)) for count in data.cardinalities),  # type: ignore[misc]
        cuts={},
        numbers={data.index(name): values for name, values in data.numbers.items()},
        types={x: data.types[name] for x, name in enumerate(data.names) if name in data.types},
    )
    names, _, *rest = numbered.__reduce__()[1]
    return names, data.codes, *rest


def _without_data(run: Run) -> Run:
    """Return what a search needs besides data; the rest is for readers of the result."""
    search = replace(run.search, exclude=(), knowledge=None)
    return replace(run, data=None, search=search, choices={})  # type: ignore[arg-type]


def _search_in_worker(
    targets: tuple[int, ...], ticket: _Ticket, stop: Stop, plugins: _Plugins, run: Run, *data: Any
) -> list[Finding]:
    """Search for some blankets, wherever this is called; ``data`` are from :func:`_anonymous`.

    What a worker has learned of a table it knows when it gets the next targets of the same call.
    """
    if getattr(_workplace, "ticket", None) != ticket:
        TESTS.adopt(plugins[0])  # what was registered in the process that asks
        ALGORITHMS.adopt(plugins[1])
        own = data[0] if len(data) == 1 else DiscreteTable(data[0], CodesHere(data[1]), *data[2:])
        _workplace.run = replace(run, data=own)
        _workplace.engine = _open_shared(_workplace.run)
        _workplace.ticket = ticket
    reporter = Reporter(stop)
    return list(_search_in_turn(_workplace.run, targets, _workplace.engine, reporter))
