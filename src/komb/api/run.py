"""One run: data, what to search them with, and names for what is found.

The data are a table, or a network, field or graph that answers as an oracle. Columns are positions
inside and names outside; :class:`Run` alone translates.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
import numpy.typing as npt

from komb.api.opening import Opened, check_search, choose_alpha, find_targets, open_data
from komb.api.options import FIXED_ALPHA, Search
from komb.api.oracle import Oracle
from komb.api.progress import IGNORED, Reporter
from komb.citests.engines import open_engine, ranked_numbers
from komb.citests.registry import find_test, name_of_test, options_of
from komb.data.column_order import order_columns, put_in_order
from komb.data.gaps import shares_of_gaps
from komb.data.kinds import IDENTIFIER, RANKS
from komb.data.knowledge import ColumnKnowledge
from komb.data.names import Name
from komb.data.table import DiscreteTable
from komb.engine.compiling import clock
from komb.engine.engine import Engine
from komb.engine.journal import Journal
from komb.engine.knowledge import KnowledgeEngine
from komb.engine.questions import Outcome, Variables, WorkCounts
from komb.errors import DataError, Interrupted
from komb.results.blanket import Blanket
from komb.results.member import Member, Remarks
from komb.search._remarks import LEAKED_SHARE
from komb.search.task import Choice, Found, Leak, Task, check_found
from komb.search.task import Progress as TaskProgress
from komb.views.text import show_names

Witnesses: TypeAlias = Mapping[int, Variables | None]  # of members; none if by request
Rows: TypeAlias = npt.NDArray[np.intp]

_FEW_LEVELS = 20  # up to here a column is no identifier, however few the rows


def library_of(data: object) -> str | None:
    """Return the library of a dataframe; None if data are something else."""
    if nw.dependencies.is_pandas_dataframe(data):
        return "pandas"
    is_arrow = nw.dependencies.is_pyarrow_table(data)
    return "polars" if is_arrow or nw.dependencies.is_polars_dataframe(data) else None


@dataclass(frozen=True, slots=True)
class Finding:
    """What a search found, in positions: all that a worker has to hand back."""

    target: int
    found: Found
    outcomes: Mapping[int, Outcome]  # of the members that were tested
    counts: WorkCounts
    seconds: float


@dataclass(frozen=True, slots=True)
class Run:
    """Searches of one table, or of one model that answers as an oracle.

    ``search`` is what the caller asked for; the other attributes say what that means for the data.
    """

    data: DiscreteTable | Oracle
    search: Search
    alpha: float | None  # level of the tests; an oracle has none
    start: tuple[int, ...] = ()
    include: tuple[int, ...] = ()
    held: tuple[int, ...] = ()  # columns of covariates, in the condition of every test
    left_out: tuple[int, ...] = ()  # variables of a model that are excluded; tables are without
    knowledge: ColumnKnowledge | None = None
    choices: Mapping[str, Choice] = field(default_factory=dict)  # made before the search
    order: tuple[int, ...] = ()  # in which a search sees the columns; empty: that of the table
    library: str | None = None  # of dataframes that the data came in
    seconds_to_read: float = 0.0

    @classmethod
    def open(
        cls,
        data: object,
        targets: Sequence[Name] | None,
        search: Search,
        parameter: str = "target",
    ) -> tuple[Run, tuple[int, ...]]:
        """Read data and check everything; nothing is counted. Returns positions of targets too."""
        began = time.perf_counter()
        opened = open_data(data, targets, search)
        is_raw = not (opened.data is data or isinstance(data, DiscreteTable))
        seconds = time.perf_counter() - began if is_raw else 0.0
        checked = check_search(search, opened)
        found = find_targets(opened.data, targets, checked, parameter)
        run = cls(opened.data, search, **checked, library=library_of(data), seconds_to_read=seconds)
        return (run.for_target(*found) if len(found) == 1 else run), found

    def for_target(self, target: int) -> Run:
        """Return the run in which a target of few whole numbers has classes."""
        if not self._ranked():  # everything is tested by its levels
            return self
        data = self.table.with_classes(self.names[target])
        return self if data is self.data else replace(self, data=data)

    def with_search(self, search: Search) -> Run:
        """Return the run of another search on the same data, with the same covariates."""
        notes = {name: choice for name, choice in self.choices.items() if name != "alpha"}
        opened = Opened(self.data, self.named(self.held), notes)
        return replace(self, search=search, order=(), **check_search(search, opened))

    def ordered(self) -> Run:
        """Return the same run with the order in which its search sees the columns, if any."""
        table, search = self.data, self.search
        if self.order or not isinstance(table, DiscreteTable) or not search.algorithm.is_order_free:
            return self
        return replace(self, order=order_columns(table, ranked_numbers(table, search.test)))

    @property
    def names(self) -> tuple[Name, ...]:
        """The names of the columns, or of the variables of a model."""
        return self.data.names

    @property
    def table(self) -> DiscreteTable:
        """The table; a model has none."""
        if isinstance(self.data, Oracle):
            raise DataError(
                "A network or graph has no rows to measure on.",
                "Search a table, such as network.sample(1000).",
            )
        return self.data

    def positions(self, names: Iterable[Name]) -> Variables:
        """Return the positions of some columns."""
        return frozenset(map(self.data.index, names))

    def named(self, positions: Iterable[int]) -> tuple[Name, ...]:
        """Return the names of some columns, in the order of the table."""
        return tuple(self.names[position] for position in sorted(positions))

    def witnesses_of(self, blanket: Blanket) -> dict[int, Variables | None]:
        """Return the members of a blanket in positions, each with its witness."""
        return {
            self.data.index(member.name): None
            if member.witness is None
            else self.positions(member.witness)
            for member in blanket.evidence
        }

    def open_engine(self, journal: Journal | None = None, *, tells_required: bool = True) -> Engine:
        """Open what answers tests; without ``tells_required`` those of known pairs count.

        Its columns are those of the table, in the order of the search if the run has one.
        """
        data, knowledge, fixed = self.data, self.knowledge, frozenset(self.held)
        if knowledge is not None and not tells_required:
            knowledge = replace(knowledge, required=frozenset())
        engine: Engine
        if isinstance(data, DiscreteTable):
            if self.order:
                data, place = put_in_order(data, self.order), self._places()
                knowledge = knowledge and knowledge.moved(place, len(place))
                fixed = _moved(fixed, place)
            engine = open_engine(
                data, self.search.test, given=fixed, alpha=self.alpha or FIXED_ALPHA,
                journal=journal, **self.search.of_test,
            )  # fmt: skip
        else:
            engine = data.open(fixed)
        if knowledge is None:
            return engine
        return KnowledgeEngine(engine, knowledge, frozenset(range(len(self.names))) - fixed)

    def find(
        self,
        target: int,
        reporter: Reporter = IGNORED,
        engine: Engine | None = None,
        journal: Journal | None = None,
    ) -> Blanket:
        """Find the blanket of a column; an engine that is opened for it keeps the journal."""
        return self.name(self.search_for(target, reporter, engine, journal))

    def search_for(
        self,
        target: int,
        reporter: Reporter = IGNORED,
        engine: Engine | None = None,
        journal: Journal | None = None,
    ) -> Finding:
        """Search for the blanket of the column at position ``target``."""
        run, grown = self, list[int]()

        def observe(progress: TaskProgress) -> None:
            grown[:] = _moved(progress.blanket, run.order)
            reporter.report(self.names, target, replace(progress, blanket=tuple(sorted(grown))))

        algorithm, arguments = self.search.algorithm, self.search.arguments
        if algorithm.choose_alpha is not None:
            arguments["alpha"] = self.search.alpha
        try:
            began = clock()
            run = self.ordered()
            own, task = engine or run.open_engine(journal), run._task_of_engine(target, observe)
            before = own.work
            found = algorithm.search(own, task, **arguments)
            check_found(found, task, algorithm.name)
            # the evidence, gathered below, is no part of the search
            counts, seconds = own.work - before, clock() - began
            finding = _with_evidence(Finding(task.target, found, {}, counts, seconds), task, own)
            if engine is None:
                own.notes.clear()  # they hold their engine, whose buffers are free without them
            return _in_table_order(finding, run.order)
        except KeyboardInterrupt:
            names = self.named(grown)
            message = (
                f"Interrupted; the blanket of {self.names[target]!r} had grown to: "
                f"{show_names(names) or 'nothing yet'}."
            )
            raise Interrupted(message, names) from None

    def task(self, target: int, observe: Any = None) -> Task:
        """Say what an algorithm has to find."""
        known, candidates = self.knowledge, self.candidates(target)
        required = frozenset[int]() if known is None else known.required_of(target)
        task = Task(
            target=target,
            candidates=candidates,
            start=frozenset(self.start) - {target},
            include=(frozenset(self.include) | required & candidates) - {target} - set(self.held),
        )
        return task if observe is None else replace(task, observer=observe)

    def _task_of_engine(self, target: int, observe: Any) -> Task:
        """Return the task in the columns of the engine."""
        task, place = self.task(target, observe), self._places()
        return replace(
            task,
            target=place.get(target, target),
            candidates=_moved(task.candidates, place),
            start=_moved(task.start, place),
            include=_moved(task.include, place),
        )

    def _places(self) -> dict[int, int]:
        """Return where the search has each column, if not in its place in the table."""
        return {x: place for place, x in enumerate(self.order)}

    def candidates(self, target: int) -> Variables:
        """Columns that may be members: all but the target, what is held fixed and left out."""
        return frozenset(range(len(self.names))) - {target, *self.held, *self.left_out}

    def name(self, finding: Finding) -> Blanket:
        """Put names to what was found, here or by a worker; every blanket is made here."""
        counts, types, is_ranked = finding.counts, self.data.types, self._ranked().__contains__
        is_table = isinstance(self.data, DiscreteTable)
        blanket = Blanket(
            target=self.names[finding.target],
            evidence=tuple(self._member(finding, x) for x in sorted(finding.found.witnesses)),
            method=self.search.method,
            parameters=self.describe(),
            n_rows=self.data.n_rows,
            n_columns=len(self.names) - len(self.left_out),
            tests=counts.tests,
            tables=counts.tables if is_table else 0,
            fallbacks=counts.fallbacks,
            unreliable=counts.unreliable,
            identifiers=self._identifiers(finding.target),
            cuts={name: cuts for name, cuts in self.data.cuts.items() if not is_ranked(name)},
            choices={**self._choices(finding.found), **self.choices},
            seconds=finding.seconds,
            remarks=self._remarks(finding),
            types={
                name: replace(found, treatment=RANKS) if is_ranked(name) else found
                for name, found in types.items()
            },
            seconds_to_read=self.seconds_to_read,
        )
        return blanket.attached(self, finding.found.separators)

    def _choices(self, found: Found) -> dict[str, Choice]:
        """Return what a search chose; of a model only what a user could have set."""
        if isinstance(self.data, DiscreteTable):
            return dict(found.choices)
        options = self.search.algorithm.defaults
        return {name: choice for name, choice in found.choices.items() if name in options}

    def _ranked(self) -> frozenset[Name]:
        """Columns that are tested by their ranks."""
        if isinstance(self.data, Oracle):
            return frozenset()
        return frozenset(self.named(ranked_numbers(self.data, self.search.test)))

    def describe(self) -> dict[str, Any]:
        """Return the parameters as a result reports them, with names for columns."""
        search = self.search
        options = {**search.algorithm.defaults, **search.arguments}
        columns = {"start": self.named(self.start), "include": self.named(self.include)}
        columns["exclude"] = search.exclude
        knowledge = None if search.knowledge is None else search.knowledge.to_dict()
        held = {"given": search.given, "knowledge": knowledge}
        said = {name: value for name, value in held.items() if value}
        if isinstance(self.data, Oracle):
            options.pop("level", None)  # nothing is left to chance
            return {**options, "test": self.data.answers_by, **columns, **said}
        test = {"alpha": self.alpha, "test": name_of_test(search.test), **self._test_options()}
        reading = dict(self.data.reading)
        if self.data.has_missing:  # the maker of a table with marks has said what they mean
            reading["missing"] = "testwise"
        return {**options, **test, **columns, **said, **reading}

    def _test_options(self) -> dict[str, Any]:
        defaults = {"df": "observed", "seed": 0}
        declared = [option.name for option in options_of(find_test(self.search.test))]
        return {name: self.search.of_test.get(name, defaults.get(name)) for name in declared}

    def _remarks(self, finding: Finding) -> Remarks:
        """Put names to what else a search has to say."""
        found = finding.found
        return Remarks(
            equivalents={
                self.names[member]: tuple(map(self.named, sets))
                for member, sets in sorted(found.equivalents.items())
            },
            leaks=tuple(
                replace(leak, column=self.names[leak.column])
                for leak in (*found.leaks, *self._leaking_gaps(finding))
            ),
            sight=found.sight,
            omissions=found.omissions,
        )

    def _leaking_gaps(self, finding: Finding) -> Iterator[Leak]:
        """Columns that have a value where the target has one of its two levels; tests miss that."""
        if isinstance(self.data, DiscreteTable) and finding.found.sight:
            columns = sorted(self.candidates(finding.target))
            for x, share in shares_of_gaps(self.data, finding.target, columns).items():
                if share >= LEAKED_SHARE:
                    yield Leak(x, share, by_gaps=True)

    def _identifiers(self, target: int) -> tuple[Name, ...]:
        """Columns that identify rows rather than groups of rows, left out or not."""
        levels = self.data.cardinalities
        most = max(_FEW_LEVELS, self.data.n_rows // 2)
        kept = self.named(x for x in self.candidates(target) if levels[x] > most)
        types = self.data.types
        return (*(name for name in types if types[name].kind == IDENTIFIER), *kept)

    def _member(self, finding: Finding, position: int) -> Member:
        name, witness = self.names[position], finding.found.witnesses[position]
        if witness is None:
            return Member(name, None)
        outcome = finding.outcomes[position]
        return Member(
            name=name,
            witness=self.named(witness),
            statistic=outcome.statistic,
            df=outcome.df,
            p_value=outcome.p_value,
            test=self.decider(outcome),
            reliable=outcome.reliable,
        )

    def decider(self, outcome: Outcome) -> str:
        """Return the test that decided; a model says by what it answers."""
        return self.data.answers_by if isinstance(self.data, Oracle) else outcome.test

    def on_rows(
        self, rows: Rows, target: int, among: Variables | None = None
    ) -> tuple[Run, int] | None:
        """Return the same run on some rows, and where the target is; None if nothing is left.

        Columns without a value in these rows are left out, and all but those ``among`` some. The
        level of a test stays that of all columns.
        """
        table = self.table
        if among is not None:
            table = table.select(self.named({target, *self.held, *self.include, *among}))
        if table.has_missing:
            has_value = np.any(table.codes[:, rows] < table.cardinalities[:, None], axis=1)
            table = table.select([table.names[x] for x in np.flatnonzero(has_value)])
        half = table.take(rows)
        kept = {name: position for position, name in enumerate(half.names)}
        name = self.names[target]
        if name not in kept or half.n_columns < 2 or len(half.levels[kept[name]]) < 2:
            return None
        moved = {self.data.index(name): position for name, position in kept.items()}
        columns: dict[str, Any] = {
            key: tuple(moved[x] for x in getattr(self, key) if x in moved)
            for key in ("start", "include", "held")
        }
        alpha, choices = choose_alpha(self.search, half, self.table.n_columns)
        knowledge = self.knowledge and self.knowledge.moved(moved, half.n_columns)
        made = {"alpha": alpha, "choices": choices, "knowledge": knowledge, "order": (), **columns}
        return replace(self, data=half, **made), kept[name]


def _with_evidence(finding: Finding, task: Task, engine: Engine) -> Finding:
    """Add what the tests of the members say; those that no test shows are there by request."""
    found = finding.found
    shown = {x: z for x, z in found.witnesses.items() if z is not None}
    outcomes = dict(zip(shown, engine.outcomes(task.target, [*shown.items()]), strict=True))
    by_request = {x for x in task.include if x in outcomes and outcomes[x].independent}
    if by_request:
        found = replace(found, witnesses={**found.witnesses, **dict.fromkeys(by_request)})
    return replace(finding, found=found, outcomes=outcomes)


def _moved(columns: Iterable[int], place: Sequence[int] | Mapping[int, int]) -> Variables:
    """Return the same columns in other places, if there are any."""
    return frozenset(place[x] for x in columns) if place else frozenset(columns)


def _in_table_order(finding: Finding, order: Sequence[int]) -> Finding:
    """Return what was found in the positions that columns have in the table."""
    if not order:
        return finding
    found = finding.found

    # hundreds of columns have the same separator
    moved = cache(lambda own: None if own is None else _moved(own, order))

    def move(sets: Mapping[int, Variables | None]) -> dict[int, Any]:
        return dict(sorted((order[x], moved(own)) for x, own in sets.items()))

    found = replace(
        found,
        witnesses=move(found.witnesses),
        separators=move(found.separators),
        equivalents={
            order[x]: tuple(sorted((_moved(own, order) for own in sets), key=sorted))
            for x, sets in sorted(found.equivalents.items())
        },
        leaks=tuple(replace(leak, column=order[leak.column]) for leak in found.leaks),
    )
    outcomes = {order[x]: outcome for x, outcome in finding.outcomes.items()}
    return replace(finding, target=order[finding.target], found=found, outcomes=outcomes)
