"""One search: a session, an algorithm, and names for what it finds.

Columns are positions inside and names outside; :class:`Run` alone translates.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from komb.api.progress import Observer, Progress
from komb.api.settings import Settings
from komb.api.stability import Tally, Witnesses, search_halves
from komb.api.warmup import warm_up
from komb.data.encode.codes import Name
from komb.data.encode.column_types import IDENTIFIER, RANKS
from komb.data.table import DiscreteTable
from komb.errors import InPython, Interrupted
from komb.results.blanket import Blanket
from komb.results.member import Member
from komb.results.remarks import Remarks
from komb.results.stability import Stability
from komb.search.registry import AlgorithmInfo, find_algorithm
from komb.search.task import Found, Leak, Task, check_found
from komb.search.task import Observer as TaskObserver
from komb.search.task import Progress as TaskProgress
from komb.sessions.questions import Outcome, SessionCounts
from komb.sessions.session import Session
from komb.sessions.sweep_journal import SweepJournal
from komb.sessions.table_session import open_table, ranked_numbers
from komb.views.text import show_names

_FEW_LEVELS = 20  # up to here a column is no identifier, however few the rows


@dataclass(frozen=True, slots=True)
class Finding:
    """What a search found, in positions: all that a worker has to hand back."""

    target: int
    found: Found
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
        progress: Observer | None = None,
        n_targets: int = 1,
    ) -> None:
        self.table = table
        self.settings = settings
        self._progress = progress
        self._n_targets = n_targets

    def open_session(self, journal: SweepJournal | None = None) -> Session:
        """Make a session for searches with these settings."""
        settings = self.settings
        return open_table(
            self.table, given=frozenset(settings.given), knowledge=settings.knowledge,
            test=settings.test, alpha=settings.alpha, df=settings.df, seed=settings.seed,
            journal=journal,
        )  # fmt: skip

    def find(
        self,
        target: int,
        number: int = 0,
        session: Session | None = None,
        journal: SweepJournal | None = None,
    ) -> Blanket:
        """Find the blanket of the column at position ``target``.

        A session that is passed in is asked first what it knows; what it did before is not counted.
        One that is made notes large sweeps in the journal.
        """
        return self.name(self.search(target, number, session, journal))

    def search(
        self,
        target: int,
        number: int,
        session: Session | None = None,
        journal: SweepJournal | None = None,
    ) -> Finding:
        """Search for the blanket of the column at position ``target``."""
        latest: list[TaskProgress] = []

        def observe(progress: TaskProgress) -> None:
            latest[:] = [progress]
            self.report(progress, target, number)

        try:
            warm_up(self.table, self.settings.test)
            finding = self._search(self._task(target, observe), session, journal)
        except KeyboardInterrupt:
            grown = self._names(latest[0].blanket) if latest else ()
            message = (
                f"Interrupted; the blanket of {self.table.names[target]!r} had grown to: "
                f"{show_names(grown) or 'nothing yet'}."
            )
            raise Interrupted(message, grown) from None
        return self._add_halves(finding, observe)

    def _add_halves(self, finding: Finding, observe: TaskObserver) -> Finding:
        """Search half-samples too, if that is wanted, as the whole table was searched."""
        n_halves = self.settings.stability
        if n_halves is None:
            return finding
        members, tests = tuple(sorted(finding.found.witnesses)), finding.counts.tests

        def report(done: int) -> None:
            observe(TaskProgress("stability", members, tests, done, n_halves))

        try:
            halves = search_halves(
                self.table, self.settings, finding.target, n_halves, _search_rows, report
            )
        except KeyboardInterrupt:
            message = (
                f"Interrupted while half-samples were searched: the blanket of "
                f"{self.table.names[finding.target]!r} is complete",
                InPython(" and in 'finished'"),
                ", its stability is not.",
            )
            raise Interrupted(message, self.name(finding)) from None
        return replace(finding, halves=halves)

    def _task(self, target: int, observe: TaskObserver) -> Task:
        settings = self.settings
        known = settings.knowledge
        required = frozenset[int]() if known is None else known.required_of(target)
        return Task(
            target=target,
            candidates=self._candidates(target),
            start=frozenset(settings.start) - {target},
            include=(frozenset(settings.include) | required) - {target} - set(settings.given),
            observer=observe,
        )

    def _candidates(self, target: int) -> frozenset[int]:
        """Columns that may be members: all but the target and what is held fixed."""
        return frozenset(range(self.table.n_columns)) - {target} - set(self.settings.given)

    def _search(self, task: Task, session: Session | None, journal: SweepJournal | None) -> Finding:
        settings = self.settings
        began = time.perf_counter()
        session = session or self.open_session(journal)
        before = session.counts
        task = self._begin(task, session)
        found = self._run(settings.algorithm, session, task)
        check_found(found, task, settings.method)
        # the evidence, gathered below, is no part of the search
        counts = session.counts - before
        seconds = time.perf_counter() - began
        shown = [(x, z) for x, z in found.witnesses.items() if z is not None]
        measured = zip(shown, session.outcomes(task.target, shown), strict=True)
        outcomes = {x: own for (x, _), own in measured}
        by_request = {x for x in task.include if x in outcomes and outcomes[x].independent}
        if by_request:  # known neighbours that no test shows
            found = replace(found, witnesses={**found.witnesses, **dict.fromkeys(by_request)})
        return Finding(task.target, found, outcomes, counts, seconds)

    def _begin(self, task: Task, session: Session) -> Task:
        """Let another method find where to start, if there is one."""
        if self.settings.start_method is None:
            return task
        found = self._run(find_algorithm(self.settings.start_method), session, task)
        return replace(task, start=frozenset(found.witnesses))

    def name(self, finding: Finding) -> Blanket:
        """Put names to what was found, here or by a worker; every blanket is made here."""
        settings, table, counts = self.settings, self.table, finding.counts
        stability = None
        if finding.halves is not None:
            n_candidates = len(self._candidates(finding.target))
            stability = finding.halves.settle(table.names, n_candidates)
        is_ranked = frozenset(self._names(ranked_numbers(table, settings.test))).__contains__
        blanket = Blanket(
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
            cuts={name: cuts for name, cuts in table.cuts.items() if not is_ranked(name)},
            choices={**finding.found.choices, **settings.choices},
            seconds=finding.seconds,
            remarks=self._remarks(finding.found),
            stability=stability,
            types={
                name: replace(found, treatment=RANKS) if is_ranked(name) else found
                for name, found in table.types.items()
            },
        ).with_table(table)
        return blanket if isinstance(settings.test, str) else blanket.with_test(settings.test)

    def _remarks(self, found: Found) -> Remarks:
        """Put names to what else a search has to say."""
        names = self.table.names
        return Remarks(
            equivalents={
                names[member]: tuple(self._names(sorted(columns)) for columns in sets)
                for member, sets in sorted(found.equivalents.items())
            },
            leaks=tuple(Leak(names[leak.column], leak.share) for leak in found.leaks),
            sight=found.sight,
            omissions=found.omissions,
        )

    def _run(self, algorithm: AlgorithmInfo, session: Session, task: Task) -> Found:
        return algorithm.search(session, task, **self.settings.arguments_of(algorithm))

    def _identifiers(self, target: int) -> tuple[Name, ...]:
        """Columns that identify rows rather than groups of rows, left out or not."""
        levels = self.table.cardinalities
        most = max(_FEW_LEVELS, self.table.n_rows // 2)
        candidates = sorted(self._candidates(target))
        kept = self._names(x for x in candidates if levels[x] > most)
        types = self.table.types
        return (*(name for name in types if types[name].kind == IDENTIFIER), *kept)

    def _member(self, finding: Finding, position: int, stability: Stability | None) -> Member:
        name, witness = self.table.names[position], finding.found.witnesses[position]
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
        return tuple(self.table.names[position] for position in positions)

    def report(
        self, progress: TaskProgress, target: int, number: int, finished: int | None = None
    ) -> None:
        """Report the progress of the search for one of several targets."""
        if self._progress is None:
            return
        self._progress(
            Progress(
                target=self.table.names[target],
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


def _search_rows(half: DiscreteTable, settings: Settings, target: int) -> Witnesses:
    """Find the blanket of a target in some rows of a table."""
    return Run(half, settings).search(target, 0).found.witnesses
