"""Markov blankets of a table: the one place where data, tests and searches are put together.

>>> import komb
>>> blanket = komb.markov_blanket(komb.boolean_table("parity", 500, n_parents=2), "Y")
>>> blanket.members
('X1', 'X2')
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from inspect import Parameter, signature
from typing import Any

import numpy as np
import numpy.typing as npt

from komb.api.parallel import Stop, check_jobs, count_workers, spread
from komb.api.settings import (
    Settings,
    check_exclude,
    check_settings,
    check_table,
    check_target,
    is_constant,
    list_names,
)
from komb.api.warmup import warm_up
from komb.data import defaults
from komb.data.encode.codes import Name
from komb.data.encode.treatment import Bins, Discretize, Treatment, check_treatment
from komb.data.table import DiscreteTable
from komb.errors import DataError, Interrupted, ParameterError, WorkerError
from komb.results.blanket import Blanket
from komb.results.blankets import Blankets
from komb.results.member import Member
from komb.results.remarks import Remarks
from komb.results.stability import Stability, Tally, draw_halves
from komb.search import task as search_task
from komb.search.registry import AlgorithmInfo, find_algorithm
from komb.search.task import Leak
from komb.sessions.data import DataSession
from komb.sessions.session import Outcome, Session, SessionCounts, Variables
from komb.views.text import plural, show_names

_Found = Generator[tuple[int, Blanket], None, None]

_BATCHES_A_WORKER = 4  # where targets are searched together: few for sharing, many for balance
_FEW_LEVELS = 20  # up to here a column is no identifier, however few the rows


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a search stands; what the ``progress`` callback receives.

    Attributes
    ----------
    target
        Whose blanket is searched.
    phase
        ``"grow"``, ``"sweep"``, ``"shrink"`` or whatever else the method calls its phases, and
        ``"stability"`` while half-samples are searched. With several targets also ``"done"``, once
        for each of them; with several workers ``"done"`` is all there is, after one ``"start"``.
    blanket
        The names of the candidate blanket at this moment, in the order of the table.
    tests
        Tests computed so far.
    done
        How much of the current phase is done, where it is known; 0 otherwise.
    total
        How much there is to do in it; 0 where that is not known.
    position
        The number of the target among the targets, from 0.
    n_targets
        How many targets there are.
    finished
        How many targets are done.
    """

    target: Name
    phase: str
    blanket: tuple[Name, ...]
    tests: int
    done: int = 0
    total: int = 0
    position: int = 0
    n_targets: int = 1
    finished: int = 0


def markov_blanket(
    data: object,
    target: Name,
    *,
    method: str = defaults.METHOD,
    order: int | None = None,
    max_separator: int | None = None,
    max_conditioning: int | None = None,
    level: float = defaults.LEVEL,
    alpha: float | None = None,
    test: str = defaults.TEST,
    df: str = defaults.DF,
    start: Iterable[Name] | str = (),
    include: Iterable[Name] = (),
    exclude: Iterable[Name] = (),
    discretize: Discretize = None,
    bins: Bins = defaults.BINS,
    missing: str = defaults.MISSING,
    seed: int = defaults.SEED,
    time_budget: float | None = None,
    stability: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Blanket:
    """Find the Markov blanket of a column.

    The blanket is the smallest set of columns that makes all others irrelevant for the target, and
    so the set of features to keep for predicting it. Unlike other methods, ``"auto"`` and
    ``"komb"`` also find members that show only in combination with others, such as the inputs of an
    exclusive or.

    Data and target are all it needs. Method ``"auto"`` chooses what is left out from the data, and
    the result says what and why (``choices``); ``method="komb", test="g-sci"`` is the search of the
    kOMB paper.

    Parameters
    ----------
    data
        A pandas, polars or pyarrow table, a two-dimensional numpy array (its columns are named 0,
        1, ...), a mapping of names to columns, or a :class:`komb.DiscreteTable`.
    target
        Name of the column whose blanket to find.
    method
        Name of an algorithm; :func:`komb.algorithms` lists them.
    order
        How many other columns a dependence may need to become visible (the paper's k). Order 0 sees
        single columns, order 1 also pairs (exclusive or), order 2 also triples. For ``"auto"`` a
        bound: if left out, it goes as far as its work limit allows. For ``"komb"`` 1 if left out.
    max_separator
        How many columns together may explain a dependence away (the paper's l). For ``"auto"`` a
        bound, 3 if left out; for ``"komb"`` 1 if left out.
    max_conditioning
        Largest set of columns that the classic methods look at as a separator; if left out, what
        the method is used with: 3, but no bound for ``"gs"`` and ``"iamb"``, which condition on all
        they have and with a bound stop when they have that many.
    level
        For ``"auto"``: the chance that the blanket is not empty although nothing depends on the
        target. Lower it for fewer false members, raise it for weaker ones.
    alpha
        Level of single tests: a dependence counts when its p-value is at most this. If left out,
        ``"auto"`` chooses it by the size of the table, and 0.01 holds for every other method.
    test
        Name of a conditional-independence test; :func:`komb.tests` lists them. ``"auto"``: the
        likelihood ratio with the mean and variance that it has given the margins of the table.
    df
        Rule for the degrees of freedom: ``"observed"`` counts every cell of the observed strata,
        ``"adjusted"`` only the levels that occur in each of them. Test ``"auto"`` always takes the
        latter.
    start
        Columns to start the search from; it may drop them again. Or the name of a method, such as
        ``"iamb"``: start from the blanket that one finds.
    include
        Columns that are in the blanket whatever the tests say.
    exclude
        Columns that are left out altogether: neither checked nor counted.
    discretize
        How to cut columns of numbers into bins. ``None``: not at all, and one that is plainly
        continuous is an error. ``"quantile"`` (equally many rows a bin), ``"uniform"`` (bins of one
        width), ``"kmeans"`` (around clusters) or ``"mdl"`` (where the levels of the target change):
        all columns of numbers that look continuous or have more than 20 distinct values. Or a
        mapping from columns to one of those or to ascending cut points, ``{"age": [18, 65]}``; the
        ``cuts`` of a blanket or table are one. More in :meth:`komb.DiscreteTable.from_data`.
    bins
        Into how many bins, for all columns or by column.
    missing
        What to do about missing values: ``"error"``, ``"level"`` (they are a level of their own) or
        ``"testwise"`` (each test is made on the rows that are complete for its columns).
    seed
        For a test that draws random numbers; the same seed gives the same answer.
    time_budget
        For ``"auto"``: seconds that the search may take. What it leaves out for lack of time is in
        ``omissions``. If left out, it takes the time it needs.
    stability
        Number of half-samples to search as well, an even number such as 50: how often members and
        groups are found again is in the result (``stability``), with a bound on those that are
        found by chance. It takes about so many times half the time. The seed and the order of the
        rows decide what the halves are, and so the shares, but not the blanket. Each half-sample
        has the same time budget as the search itself.
    progress
        Called now and then with a :class:`komb.api.find.Progress`.

    Returns
    -------
    Blanket
        The members, each with the columns it was seen together with and the test that showed it.

    Raises
    ------
    komb.errors.InputError
        If anything passed in cannot be used; nothing has been counted then.
    komb.errors.Interrupted
        If the search is interrupted; ``finished`` holds the names of the blanket grown so far, or
        the whole :class:`Blanket`, without its stability, if nothing but half-samples was left.

    See Also
    --------
    markov_blankets : The blankets of several columns.

    Examples
    --------
    A lamp with two switches: neither alone says anything about the lamp.

    >>> table = {
    ...     "hall": ["up", "up", "down", "down"] * 25,
    ...     "stairs": ["up", "down", "up", "down"] * 25,
    ...     "weather": ["sun", "sun", "sun", "rain", "rain"] * 20,
    ...     "lamp": ["off", "on", "on", "off"] * 25,
    ... }
    >>> markov_blanket(table, "lamp", order=0).members
    ()
    >>> blanket = markov_blanket(table, "lamp")
    >>> blanket.members, blanket["hall"].witness, blanket.choices["order"].value
    (('hall', 'stairs'), ('stairs',), 2)
    """
    exclude = check_exclude(exclude, [target], start=start, include=include)
    table = DiscreteTable.from_data(
        data, exclude=exclude, discretize=discretize, bins=bins, missing=missing, target=target
    )
    check_table(table)
    settings = check_settings(
        table, method=method, order=order, max_separator=max_separator,
        max_conditioning=max_conditioning, level=level, alpha=alpha, test=test, df=df, start=start,
        include=include, exclude=exclude, discretize=discretize, bins=bins, missing=missing,
        seed=seed, time_budget=time_budget, stability=stability,
    )  # fmt: skip
    position = check_target(table, target, settings)
    return Run(table, settings, check_progress(progress), 1).find(position, 0)


OPTION_DEFAULTS = {
    parameter.name: parameter.default
    for parameter in signature(markov_blanket).parameters.values()
    if parameter.kind is Parameter.KEYWORD_ONLY and parameter.name != "progress"
}
"""What a search can be asked with, and what holds where nothing is said."""


def markov_blankets(
    data: object,
    targets: Iterable[Name] | None = None,
    *,
    method: str = defaults.METHOD,
    order: int | None = None,
    max_separator: int | None = None,
    max_conditioning: int | None = None,
    level: float = defaults.LEVEL,
    alpha: float | None = None,
    test: str = defaults.TEST,
    df: str = defaults.DF,
    start: Iterable[Name] | str = (),
    include: Iterable[Name] = (),
    exclude: Iterable[Name] = (),
    discretize: Discretize = None,
    bins: Bins = defaults.BINS,
    missing: str = defaults.MISSING,
    seed: int = defaults.SEED,
    time_budget: float | None = None,
    stability: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    n_jobs: int | None = None,
) -> Blankets:
    """Find the Markov blankets of several columns.

    Parameters
    ----------
    data
        As in :func:`markov_blanket`. It is encoded once.
    targets
        Names of the columns whose blankets to find. If left out, all that are not constant; then
        ``start`` and ``include`` hold for every target but those they name.
    method, order, max_separator, max_conditioning, level, alpha, test, df, start, include, \
exclude, discretize, bins, missing, seed, time_budget, stability, progress
        As in :func:`markov_blanket`. Only a single target can say where ``"mdl"`` cuts, and each
        target has a time budget of its own.
    n_jobs
        How many workers search, each for one target at a time, as joblib understands it: -1 is one
        a processor; ``None`` is 1, unless ``joblib.parallel_config`` says otherwise, which can also
        send the work to threads or to a cluster. The result is always the same. Workers share the
        table, but each needs a second or two to start.

    Returns
    -------
    Blankets
        A mapping from target to :class:`Blanket`, in the order of the targets.

    Raises
    ------
    komb.errors.InputError
        If anything passed in cannot be used; nothing has been counted then.
    komb.errors.Interrupted
        If the search is interrupted; ``finished`` holds the :class:`Blankets` that are complete.
    komb.errors.WorkerError
        If a worker dies or fails; ``finished`` holds the :class:`Blankets` that are complete.

    Examples
    --------
    >>> import komb
    >>> blankets = markov_blankets(komb.boolean_table("and", 500, n_parents=2), ["X1", "Y"])
    >>> blankets["Y"].members
    ('X1', 'X2')
    """
    n_jobs = check_jobs(n_jobs)
    if targets is not None:
        targets = list_names("targets", targets)
    exclude = check_exclude(exclude, targets or (), start=start, include=include)
    check_treatment(discretize, bins, missing).check_targets(targets)
    table = DiscreteTable.from_data(
        data, exclude=exclude, discretize=discretize, bins=bins, missing=missing,
        target=targets[0] if targets else None,
    )  # fmt: skip
    check_table(table)
    settings = check_settings(
        table, method=method, order=order, max_separator=max_separator,
        max_conditioning=max_conditioning, level=level, alpha=alpha, test=test, df=df, start=start,
        include=include, exclude=exclude, discretize=discretize, bins=bins, missing=missing,
        seed=seed, time_budget=time_budget, stability=stability,
    )  # fmt: skip
    positions = _check_targets(table, targets, settings)
    run = Run(table, settings, check_progress(progress), len(positions))
    return _find_all(run, positions, count_workers(n_jobs, len(positions)))


def _find_all(run: Run, positions: Sequence[int], n_workers: int) -> Blankets:
    """Find the blankets of several columns; whatever stops it keeps those that are complete."""
    finished: dict[int, Blanket] = {}
    find_each = run.find_in_turn if n_workers == 1 else run.find_at_once
    try:
        with closing(find_each(positions, n_workers)) as found:
            for number, blanket in found:
                finished[number] = blanket
                run.report_done(blanket, number, len(finished))
    except KeyboardInterrupt as interrupt:
        if isinstance(interrupt, Interrupted) and isinstance(interrupt.finished, Blanket):
            finished[len(finished)] = interrupt.finished  # all but its stability is known
        raise Interrupted(*_unfinished("Interrupted", finished, len(positions))) from None
    except WorkerError as error:
        message, blankets = _unfinished(str(error), finished, len(positions))
        remedy = "Try fewer 'n_jobs', or n_jobs=1."
        raise WorkerError(f"{message} {remedy}", blankets) from error.__cause__
    return _in_order(finished)


def _unfinished(
    event: str, finished: Mapping[int, Blanket], n_targets: int
) -> tuple[str, Blankets]:
    done = f"{len(finished)} of {plural(n_targets, 'target')}"
    return f"{event} after {done}; 'finished' holds their blankets.", _in_order(finished)


def _in_order(finished: Mapping[int, Blanket]) -> Blankets:
    return Blankets(finished[number] for number in sorted(finished))


@dataclass(frozen=True, slots=True)
class Finding:
    """What a search found, in positions: all that a worker has to hand back."""

    target: int
    found: search_task.Found
    outcomes: Mapping[int, Outcome]  # of the members that were tested
    counts: SessionCounts
    seconds: float
    halves: Tally | None = None  # what half-samples found


class Run:
    """Searches on one table with one set of settings."""

    def __init__(
        self,
        table: DiscreteTable,
        settings: Settings,
        progress: Callable[[Progress], None] | None,
        n_targets: int,
    ) -> None:
        self._table = table
        self._settings = settings
        self._progress = progress
        self._n_targets = n_targets

    def open_session(self) -> DataSession:
        """Make a session for searches with these settings."""
        settings = self._settings
        return DataSession(
            self._table, settings.test, alpha=settings.alpha, df=settings.df, seed=settings.seed,
        )  # fmt: skip

    def find(self, target: int, number: int, session: DataSession | None = None) -> Blanket:
        """Find the blanket of the column at position ``target``.

        A session that is passed in is asked first what it knows; what it did before is not counted.
        """
        return self._blanket(self.search(target, number, session))

    def find_in_turn(self, targets: Sequence[int], _: int) -> _Found:
        """Find several blankets here; yield each with the number of its target."""
        for number, finding in enumerate(self.search_in_turn(targets)):
            yield number, self._blanket(finding)

    def search_in_turn(self, targets: Sequence[int]) -> Iterator[Finding]:
        """Search for several blankets, in one session if the method gains by it."""
        shared = self.open_session() if self._settings.algorithm.shares_sessions else None
        for number, target in enumerate(targets):
            yield self.search(target, number, shared)
            if shared is not None:
                shared.trim()

    def find_at_once(self, targets: Sequence[int], n_workers: int) -> _Found:
        """Find several blankets with workers; yield each with the number of its target."""
        warm_up(self._table, self._settings.test)  # compile once, here, not in every worker
        numbers = {target: number for number, target in enumerate(targets)}
        batches = self._batches(targets, n_workers)
        first = numbers[batches[0][0]]
        self._report(search_task.Progress("start", (), 0), targets[first], first, finished=0)
        stop = Stop()
        try:
            shared = (stop, _without_names(self._settings), *_anonymous(self._table))
            with closing(spread(_search_in_worker, batches, shared, n_workers)) as found:
                for _, findings in found:
                    for finding in findings:
                        yield numbers[finding.target], self._blanket(finding)
        finally:
            stop.is_set = True

    def _batches(self, targets: Sequence[int], n_workers: int) -> list[tuple[int, ...]]:
        """Divide targets among workers; a batch is searched in one session.

        Those that look like much work come first, so that none is alone at the end.
        """
        size = 1
        if self._settings.algorithm.shares_sessions:
            size = max(1, len(targets) // (_BATCHES_A_WORKER * n_workers))
        batches = [tuple(targets[i : i + size]) for i in range(0, len(targets), size)]
        levels = self._table.cardinalities
        return sorted(batches, key=lambda batch: -max(levels[target] for target in batch))

    def search(self, target: int, number: int, session: DataSession | None = None) -> Finding:
        """Search for the blanket of the column at position ``target``."""
        latest: list[search_task.Progress] = []

        def observe(progress: search_task.Progress) -> None:
            latest[:] = [progress]
            self._report(progress, target, number)

        try:
            warm_up(self._table, self._settings.test)
            finding = self._search(self._task(target, observe), session)
        except KeyboardInterrupt:
            grown = self._names(latest[0].blanket) if latest else ()
            message = (
                f"Interrupted; the blanket of {self._table.names[target]!r} had grown to: "
                f"{show_names(grown) or 'nothing yet'}."
            )
            raise Interrupted(message, grown) from None
        if self._settings.stability is None:
            return finding
        try:
            return replace(finding, halves=self._search_halves(finding, observe))
        except KeyboardInterrupt:
            message = (
                f"Interrupted while half-samples were searched; 'finished' holds the blanket of "
                f"{self._table.names[target]!r}, without its stability."
            )
            raise Interrupted(message, self._blanket(finding)) from None

    def _search_halves(self, finding: Finding, observe: search_task.Observer) -> Tally:
        """Search halves of the rows, as the whole table was searched."""
        began = time.perf_counter()
        total = self._settings.stability or 0
        members, tests = tuple(sorted(finding.found.witnesses)), finding.counts.tests
        tally = Tally()
        for rows in draw_halves(self._table.n_rows, total, self._settings.seed):
            done = tally.n_halves
            observe(search_task.Progress("stability", members, tests, done, total))
            tally.add(self._search_half(finding.target, rows))
        tally.seconds = time.perf_counter() - began
        return tally

    def _search_half(self, target: int, rows: npt.NDArray[np.intp]) -> dict[int, Variables | None]:
        """Find the blanket of a target in some rows; empty where there is nothing to search."""
        table, name = self._table, self._table.names[target]
        half = _take_rows(table, rows)
        if name not in half.names or half.n_columns < 2 or is_constant(half, half.index(name)):
            return {}
        run = Run(half, self._settings.for_rows_of(table, half), None, 1)
        found = run.search(half.index(name), 0).found.witnesses
        places = [table.index(kept) for kept in half.names]
        return {
            places[x]: None if witness is None else frozenset(places[z] for z in witness)
            for x, witness in found.items()
        }

    def _task(self, target: int, observe: search_task.Observer) -> search_task.Task:
        settings = self._settings
        everything = frozenset(range(self._table.n_columns))
        return search_task.Task(
            target=target,
            candidates=everything - {target},
            start=frozenset(settings.start) - {target},
            include=frozenset(settings.include) - {target},
            observer=observe,
        )

    def _search(self, task: search_task.Task, session: DataSession | None) -> Finding:
        settings = self._settings
        began = time.perf_counter()
        session = session or self.open_session()
        before = session.counts
        task = self._begin(task, session)
        found = self._run(settings.algorithm, session, task)
        # the evidence, gathered below, is no part of the search
        counts = session.counts - before
        seconds = time.perf_counter() - began
        outcomes = {
            position: session.outcome(task.target, position, witness)
            for position, witness in found.witnesses.items()
            if witness is not None
        }
        return Finding(task.target, found, outcomes, counts, seconds)

    def _begin(self, task: search_task.Task, session: DataSession) -> search_task.Task:
        """Let another method find where to start, if there is one."""
        if self._settings.start_method is None:
            return task
        found = self._run(find_algorithm(self._settings.start_method), session, task)
        return replace(task, start=frozenset(found.witnesses))

    def _blanket(self, finding: Finding) -> Blanket:
        """Put names to what was found, here or by a worker; every blanket is made here."""
        settings, table, counts = self._settings, self._table, finding.counts
        stability = None
        if finding.halves is not None:
            stability = finding.halves.settle(table.names, table.n_columns - 1)
        return Blanket(
            target=table.names[finding.target],
            details=tuple(
                self._member(finding, position, stability)
                for position in sorted(finding.found.witnesses)
            ),
            method=settings.method,
            parameters=settings.describe(table),
            n_rows=table.n_rows,
            n_columns=table.n_columns,
            tests=counts.tests,
            tables=counts.tables,
            fallbacks=counts.fallbacks,
            unreliable=counts.unreliable,
            identifiers=self._identifiers(finding.target),
            cuts=table.cuts,
            choices={**finding.found.choices, **settings.choices},
            seconds=finding.seconds,
            remarks=self._remarks(finding.found),
            stability=stability,
        ).with_table(table)

    def _remarks(self, found: search_task.Found) -> Remarks:
        """Put names to what else a search has to say."""
        names = self._table.names
        return Remarks(
            equivalents={
                names[member]: tuple(self._names(sorted(columns)) for columns in sets)
                for member, sets in sorted(found.equivalents.items())
            },
            leaks=tuple(Leak(names[leak.column], leak.share) for leak in found.leaks),
            sight=found.sight,
            omissions=found.omissions,
        )

    def _run(
        self, algorithm: AlgorithmInfo, session: Session, task: search_task.Task
    ) -> search_task.Found:
        return algorithm.search(session, task, **self._settings.arguments_of(algorithm))

    def _identifiers(self, target: int) -> tuple[Name, ...]:
        """Candidates with so many levels that they tell rows rather than groups of rows apart."""
        levels = self._table.cardinalities
        most = max(_FEW_LEVELS, self._table.n_rows // 2)
        candidates = (x for x in range(self._table.n_columns) if x != target)
        return self._names(x for x in candidates if levels[x] > most)

    def _member(self, finding: Finding, position: int, stability: Stability | None) -> Member:
        name, witness = self._table.names[position], finding.found.witnesses[position]
        share = None if stability is None else stability.share(name)
        if witness is None:
            return Member(name, None, stability=share)
        outcome = finding.outcomes[position]
        return Member(
            name=name,
            witness=self._names(sorted(witness)),
            statistic=outcome.statistic,
            df=outcome.df,
            p_value=outcome.p_value,
            test=outcome.test,
            reliable=outcome.reliable,
            stability=share,
        )

    def _names(self, positions: Iterable[int]) -> tuple[Name, ...]:
        return tuple(self._table.names[position] for position in positions)

    def report_done(self, blanket: Blanket, number: int, finished: int) -> None:
        """Say that one of several targets is done."""
        index = self._table.index
        members = tuple(map(index, blanket))
        progress = search_task.Progress("done", members, blanket.tests)
        self._report(progress, index(blanket.target), number, finished)

    def _report(
        self, progress: search_task.Progress, target: int, number: int, finished: int | None = None
    ) -> None:
        if self._progress is None:
            return
        self._progress(
            Progress(
                target=self._table.names[target],
                phase=progress.phase,
                blanket=self._names(progress.blanket),
                tests=progress.tests,
                done=progress.done,
                total=progress.total,
                position=number,
                n_targets=self._n_targets,
                finished=number if finished is None else finished,
            )
        )


def _take_rows(table: DiscreteTable, rows: npt.NDArray[np.intp]) -> DiscreteTable:
    """Return a table of some rows, without the columns that have no value in any of them."""
    if table.has_missing:
        has_value = np.any(table.codes[:, rows] < table.cardinalities[:, None], axis=1)
        table = table.select(table.names[x] for x in np.flatnonzero(has_value))
    return table.take(rows)


def _anonymous(table: DiscreteTable) -> tuple[Any, ...]:
    """Return what a table is made of, with numbers for names and levels.

    A search needs no more, and numbers are quickly sent. The codes are an element of their own, so
    that workers can share them.
    """
    numbered = replace(
        table,
        names=tuple(range(table.n_columns)),
        levels=tuple(range(int(count)) for count in table.cardinalities),  # type: ignore[misc]
        cuts={},
    )
    return numbered.__reduce__()[1]


def _without_names(settings: Settings) -> Settings:
    """Return what a search needs of the settings; the rest is for whoever reads the result."""
    return replace(settings, exclude=(), treatment=Treatment())


def _search_in_worker(
    targets: tuple[int, ...], stop: Stop, settings: Settings, *table: Any
) -> list[Finding]:
    """Search for some blankets, wherever this is called; ``table`` is from :func:`_anonymous`."""
    return list(Run(DiscreteTable(*table), settings, stop, 1).search_in_turn(targets))


def _check_targets(
    table: DiscreteTable, targets: Iterable[Name] | None, settings: Settings
) -> list[int]:
    if targets is None:
        positions = [i for i in range(table.n_columns) if not is_constant(table, i)]
        if not positions:
            raise DataError(
                "'data' must have a column with at least 2 levels; got "
                f"{table.n_columns} constant ones. Check how it was read or filtered."
            )
        return positions
    names = list(targets)
    if not names:
        remedy = "Leave it out for all columns."
        raise ParameterError.because("targets", "name at least one column", names, remedy)
    return list(dict.fromkeys(check_target(table, name, settings) for name in names))


def check_progress(progress: object) -> Any:
    """Return a progress callback, or say why it cannot be one."""
    if progress is not None and not callable(progress):
        rule = "be a function of one argument, or None"
        raise ParameterError.because("progress", rule, progress, "Try progress=print.")
    return progress
