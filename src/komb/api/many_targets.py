"""Searches for several targets of one table: one after the other, or by workers."""

from __future__ import annotations

import os
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import closing
from dataclasses import replace
from itertools import count
from typing import Any, TypeAlias

from komb.api.parallel import Stop, spread
from komb.api.run import Finding, Run
from komb.api.settings import Settings
from komb.api.warmup import warm_up
from komb.citests.registry import TESTS
from komb.data.encode.treatment import Treatment
from komb.data.stored.stored_table import StoredTable
from komb.data.table import DiscreteTable
from komb.errors import Argument, InPython, Interrupted, Text, WorkerError
from komb.results.blanket import Blanket
from komb.results.blankets import Blankets
from komb.search.registry import ALGORITHMS
from komb.search.task import Progress
from komb.sessions.session import Session
from komb.views.text import plural

_Found: TypeAlias = Generator[tuple[int, Blanket], None, None]  # with the number of the target

_Plugins: TypeAlias = tuple[list[Any], list[Any]]  # tests and algorithms from outside

_Ticket: TypeAlias = tuple[int, int]  # which of all calls this is, of all processes

# Where targets share a session: with more, what is finished is heard of sooner.
_BATCHES_PER_WORKER = 8

_tickets = count()
_workplace = threading.local()  # what a worker has at hand: searches of one call share a session


def find_all(run: Run, targets: Sequence[int], n_workers: int) -> Blankets:
    """Find the blankets of several columns; whatever stops it keeps those that are complete."""
    finished: dict[int, Blanket] = {}
    find_each = (
        _find_in_turn(run, targets) if n_workers == 1 else _find_at_once(run, targets, n_workers)
    )
    try:
        with closing(find_each) as found:
            for number, blanket in found:
                finished[number] = blanket
                _report_done(run, blanket, number, len(finished))
    except KeyboardInterrupt as interrupt:
        if isinstance(interrupt, Interrupted) and isinstance(interrupt.finished, Blanket):
            finished[len(finished)] = interrupt.finished  # all but its stability is known
        message = _unfinished("Interrupted", len(finished), len(targets))
        raise Interrupted(message, _in_order(finished)) from None
    except WorkerError as error:
        message = _unfinished(error.statement, len(finished), len(targets))
        remedy: Text = ("Try fewer ", Argument("n_jobs"), ", or ", Argument("n_jobs", 1), ".")
        if not isinstance(error.__cause__, BrokenExecutor):
            remedy = "Search with ", Argument("n_jobs", 1), " to see where it fails."
        raise WorkerError(message, _in_order(finished), remedy) from error.__cause__
    return _in_order(finished)


def _unfinished(event: Text, n_finished: int, n_targets: int) -> Text:
    done = f" after {n_finished} of {plural(n_targets, 'target')}"
    return event, done, InPython("; 'finished' holds their blankets"), "."


def _in_order(finished: Mapping[int, Blanket]) -> Blankets:
    return Blankets(finished[number] for number in sorted(finished))


def _report_done(run: Run, blanket: Blanket, number: int, finished: int) -> None:
    """Say that one of several targets is done."""
    index = run.table.index
    progress = Progress("done", tuple(map(index, blanket)), blanket.tests)
    run.report(progress, index(blanket.target), number, finished)


def _find_in_turn(run: Run, targets: Sequence[int]) -> _Found:
    """Find several blankets here."""
    for number, finding in enumerate(_search_in_turn(run, targets, _open_shared(run))):
        yield number, run.name(finding)


def _open_shared(run: Run) -> Session | None:
    """Open a session for all targets if the method gains by it."""
    return run.open_session() if run.settings.algorithm.shares_sessions else None


def _search_in_turn(run: Run, targets: Sequence[int], shared: Session | None) -> Iterator[Finding]:
    """Search for several blankets."""
    for number, target in enumerate(targets):
        yield run.search(target, number, shared)
        if shared is not None:
            shared.trim()


def _find_at_once(run: Run, targets: Sequence[int], n_workers: int) -> _Found:
    """Find several blankets with workers."""
    warm_up(run.table, run.settings.test)  # compile once, here, not in every worker
    numbers = {target: number for number, target in enumerate(targets)}
    batches = _batches(run, targets, n_workers)
    first = numbers[batches[0][0]]
    run.report(Progress("start", (), 0), targets[first], first, finished=0)
    stop = Stop()
    try:
        plugins = TESTS.from_outside(), ALGORITHMS.from_outside()
        ticket = os.getpid(), next(_tickets)
        shared = (ticket, stop, plugins, _without_names(run.settings), *_anonymous(run.table))
        with closing(spread(_search_in_worker, batches, shared, n_workers)) as found:
            for _, findings in found:
                for finding in findings:
                    yield numbers[finding.target], run.name(finding)
    finally:
        stop.is_set = True


def _batches(run: Run, targets: Sequence[int], n_workers: int) -> list[tuple[int, ...]]:
    """Divide targets among workers, which hear of the next ones when they are done with some.

    Those that look like much work come first, so that none is alone at the end.
    """
    size = 1
    if run.settings.algorithm.shares_sessions:
        size = max(1, len(targets) // (_BATCHES_PER_WORKER * n_workers))
    batches = [tuple(targets[i : i + size]) for i in range(0, len(targets), size)]
    levels = run.table.cardinalities
    return sorted(batches, key=lambda batch: -max(levels[target] for target in batch))


def _anonymous(table: DiscreteTable) -> tuple[Any, ...]:
    """Return what a table is made of, with numbers for names and levels.

    A search needs no more, and numbers are quickly sent. The codes are an element of their own, so
    that workers can share them.
    """
    if isinstance(table, StoredTable):  # workers open it themselves
        return (table,)
    numbered = replace(
        table,
        names=tuple(range(table.n_columns)),
        levels=tuple(range(int(count)) for count in table.cardinalities),  # type: ignore[misc]
        cuts={},
        numbers={table.index(name): values for name, values in table.numbers.items()},
        types={x: table.types[name] for x, name in enumerate(table.names) if name in table.types},
    )
    return numbered.__reduce__()[1]


def _without_names(settings: Settings) -> Settings:
    """Return what a search needs of the settings; the rest is for readers of the result."""
    return replace(settings, exclude=(), treatment=Treatment(), arrangement={})


def _search_in_worker(
    targets: tuple[int, ...],
    ticket: _Ticket,
    stop: Stop,
    plugins: _Plugins,
    settings: Settings,
    *table: Any,
) -> list[Finding]:
    """Search for some blankets, wherever this is called; ``table`` is from :func:`_anonymous`.

    What a worker has learned of a table it knows when it gets the next targets of the same call.
    """
    if getattr(_workplace, "ticket", None) != ticket:
        TESTS.adopt(plugins[0])  # what was registered in the process that asks
        ALGORITHMS.adopt(plugins[1])
        own = table[0] if len(table) == 1 else DiscreteTable(*table)
        _workplace.run = Run(own, settings, stop)
        _workplace.session = _open_shared(_workplace.run)
        _workplace.ticket = ticket
    return list(_search_in_turn(_workplace.run, targets, _workplace.session))
