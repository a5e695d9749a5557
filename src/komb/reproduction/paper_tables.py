"""Every table of the paper as data, and what fills it from the records of a run.

>>> tables = make_tables([], [], "results")
>>> [table.name for table in tables]  # doctest: +NORMALIZE_WHITESPACE
['introduction', 'synthetic', 'benchmark', 'ablation', 'full-results', 'full-runtimes',
 'separators']
>>> tables[0].notes
('Nothing has been run for this table. This adds it: komb reproduce intro --out results --resume',)
"""

from __future__ import annotations

import shlex
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from komb.reproduction import paper
from komb.reproduction.averages import Metric, Runs, Variant, average
from komb.reproduction.journal import Record, SeparatorRecord
from komb.reproduction.paper import Printed, Published, Setting
from komb.reproduction.tables import Column, Entry, Row, Section, Table
from komb.views.text import plural

Name: TypeAlias = tuple[str, str]
"""Of a column: the heading that it shares, and its own."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where the numbers of a column come from.

    Attributes
    ----------
    column
        To fill.
    suite, dataset, n_rows, metric
        Which records, and which number of them.
    printed, key
        The table of the paper, and the column in it.
    asked_as
        The suite that makes the records. It may be a part of the suite that is named in them.
    finished_only
        Whether runs that reached the time cap are left out of means.
    """

    column: Column
    suite: str
    dataset: str
    n_rows: int
    metric: Metric
    printed: Printed
    key: str
    asked_as: str
    finished_only: bool = False

    @property
    def name(self) -> Name:
        """What tells it from the other columns of a table."""
        return self.column.group, self.column.heading

    def most_runs(self, runs: Runs) -> int:
        """Return how many runs are behind a number of ours, at most."""
        variants = runs.variants([self.suite])
        found = (self._find(runs, row, how) for row in self.printed for how in variants)
        return max(map(len, found), default=0)

    def make_entry(self, runs: Runs, setting: Setting, variant: Variant, usual: int) -> Entry:
        """Set our number beside that of the paper."""
        found = self._find(runs, setting, variant)
        mean, std, n_runs, timed_out = average(found, self.metric, finished_only=self.finished_only)
        factor = 100 if self.metric == "recall" else 1  # which is in percent
        has_timed_out = self.suite != "synthetic" and paper.has_timed_out(setting, self.dataset)
        return Entry(
            mean=None if mean is None else factor * mean,
            std=None if std is None else factor * std,
            runs=n_runs,
            usual=usual,
            timed_out=timed_out,
            published=self.printed[setting][self.key],
            caveat="all timed out" if has_timed_out else "",
        )

    def _find(self, runs: Runs, setting: Setting, variant: Variant) -> tuple[Record, ...]:
        return runs.of(self.suite, self.dataset, self.n_rows, setting, variant)


@dataclass(frozen=True, slots=True)
class TablePlan:
    """A table before it is filled.

    Attributes
    ----------
    name, title, caption, notes
        As in :class:`Table`.
    sources
        One for each column, all with the same rows in the table of the paper.
    on_times
        A note to end with if the table has times.
    """

    name: str
    title: str
    caption: str
    sources: tuple[Source, ...]
    notes: tuple[str, ...]
    on_times: str = ""


def _with_classics(printed: Printed) -> Printed:
    """Add the classics that the paper has no rows for; they are shown if they were run."""
    first, *others = printed
    blank: dict[str, Published | None] = dict.fromkeys(printed[first])
    classics = {Setting(method): blank for method in paper.CLASSICS if method != first.method}
    return {first: printed[first], **classics, **{row: printed[row] for row in others}}


def _recall(n_rows: int) -> Source:
    column = Column("recall (%)", f"{n_rows} rows", 2, whole=100.0)
    printed = _with_classics(paper.INTRODUCTION)
    return Source(column, "synthetic", "ex-1", n_rows, "recall", printed, str(n_rows), "intro")


def _f1(
    printed: Printed, name: str, asked_as: str, digits: int = 4, *, finished_only: bool = False
) -> Source:
    suite, n_rows, _ = paper.experiment_on(name)
    column = Column("F1", name, digits)
    return Source(column, suite, name, n_rows, "f1", printed, name, asked_as, finished_only)


def _seconds(printed: Printed, name: str) -> Source:
    column = Column("seconds per target", name, 3, "less")
    n_rows = paper.BENCHMARK_ROWS
    return Source(column, "runtime", name, n_rows, "seconds", printed, name, "runtime")


def _main_text(printed: Printed) -> Printed:
    return {row: printed[row] for row in paper.BENCHMARK}


_DEVIATION = "± is the standard deviation of a sample (divided by n - 1), as in the paper."
_STARTS = (
    "From the empty set is kOMB as the paper prints it, from IAMB's blanket is how its published "
    "runs began; both are compared with the same number of the paper."
)
_TESTS = (
    "The paper ran the classics in pyCausalFS, with the tests of that library; here every method "
    "uses the test that is named above its rows."
)
_CHANCE = (
    "The paper's samples and ours are different draws: a difference of up to about half the "
    "standard deviation can be chance."
)
_OTHERS = (
    "The paper has no numbers of the other classics here; it says that GS was the best of them."
)
_CAPPED_AS_ZERO = "Runs that reached the time cap have an F1 of 0 here, as in the paper."
_CAPPED_LEFT_OUT = "Runs that reached the time cap are left out of means here, as in the paper."
_CAPPED_AS_LONG = "Runs that reached the time cap count with the time they took."
_MACHINES = f"The paper's times are from an {paper.MACHINE}, ours from the machine of this run."

PLANS = (
    TablePlan(
        "introduction",
        "Introduction: recall on ex-1",
        "Share of the true blankets that is found, in percent, by rows of the sample. The target "
        "says whether exactly one of three coins shows heads, and is wrong in one row of ten.",
        tuple(map(_recall, (100, 1000))),
        (_DEVIATION, _STARTS, _OTHERS, _CHANCE),
    ),
    TablePlan(
        "synthetic",
        "Synthetic data",
        f"F1 at {paper.SYNTHETIC_ROWS} rows: ten samples of each Boolean function, every variable "
        "a target.",
        tuple(
            _f1(_with_classics(paper.SYNTHETIC), name, "synthetic", 3)
            for name in ("and", "ex-1", "ex-2", "or", "parity")
        ),
        (_DEVIATION, _STARTS, _OTHERS, _CHANCE),
    ),
    TablePlan(
        "benchmark",
        "Benchmark networks",
        f"F1 and seconds per target at {paper.BENCHMARK_ROWS} rows: ten samples of each network, "
        "and the ten targets with the largest blankets.",
        (
            *(_f1(_main_text(paper.FULL), name, "benchmark") for name in paper.NETWORKS),
            *(_seconds(_main_text(paper.RUNTIMES), name) for name in paper.NETWORKS),
        ),
        (_DEVIATION, _STARTS, _TESTS, _CAPPED_AS_ZERO),
        on_times=_MACHINES,
    ),
    TablePlan(
        "ablation",
        "Ablation: every k and l",
        f"F1 of kOMB, at {paper.SYNTHETIC_ROWS} rows for Boolean functions and at "
        f"{paper.BENCHMARK_ROWS} for networks.",
        tuple(
            _f1(paper.ABLATION, name, "ablation", finished_only=True)
            for name in (*paper.FUNCTIONS, *paper.NETWORKS)
        ),
        (_DEVIATION, _STARTS, _CAPPED_LEFT_OUT),
    ),
    TablePlan(
        "full-results",
        "Full results on benchmark networks",
        f"F1 of every method at {paper.BENCHMARK_ROWS} rows.",
        tuple(_f1(paper.FULL, name, "benchmark") for name in paper.NETWORKS),
        (_DEVIATION, _STARTS, _TESTS, _CAPPED_AS_ZERO),
    ),
    TablePlan(
        "full-runtimes",
        "Full runtimes on benchmark networks",
        f"Seconds per target of every method at {paper.BENCHMARK_ROWS} rows, "
        "each search on its own.",
        tuple(_seconds(paper.RUNTIMES, name) for name in paper.NETWORKS),
        (_DEVIATION, _CAPPED_AS_LONG, _MACHINES),
    ),
)
"""The tables of the paper in its order, but for that of the separators, which has no runs."""

_SEPARATORS = Table(
    "separators",
    "Separators in the benchmark networks",
    "How many members of a target's true blanket it takes to d-separate it from a variable "
    "outside: in a separator that no member can be taken from, as in the paper, and in the "
    "smallest one there is.",
    "network",
)

_SIZES: tuple[tuple[str, int, Callable[[Sequence[int]], float]], ...] = (
    ("mean", 3, statistics.fmean),
    ("max", 0, max),
    (
        f"share <= {paper.SMALL}",
        3,
        lambda sizes: sum(size <= paper.SMALL for size in sizes) / len(sizes),
    ),
)
"""Heading, digits and number of the columns on sizes of separators."""


def make_tables(
    records: Sequence[Record], separators: Sequence[SeparatorRecord], out: str
) -> list[Table]:
    """Make every table of the paper, in its order.

    Parameters
    ----------
    records, separators
        Of all suites that were run. What was not run is left out, and notes say so; a table that
        there are no records for has no sections.
    out
        The folder of the results, for the commands in notes.
    """
    runs = Runs(records)
    return [*(_fill(plan, runs, out) for plan in PLANS), _fill_separators(separators, out)]


def _fill(plan: TablePlan, runs: Runs, out: str) -> Table:
    """Put into a table what there are records for, and say what there are none for."""
    table = Table(plan.name, plan.title, plan.caption, "method")
    counts = {source.name: source.most_runs(runs) for source in plan.sources}
    filled = [source for source in plan.sources if counts[source.name]]
    absent = [source for source in plan.sources if not counts[source.name]]
    suites = list(dict.fromkeys(source.asked_as for source in absent))
    if not filled:
        return replace(table, notes=(_say_nothing(suites, out),))
    notes = [*plan.notes, *_say_other_counts(filled, counts)]
    if absent:
        notes.append(_say_left_out([source.name for source in absent], suites, out))
    if plan.on_times and any(source.column.better == "less" for source in filled):
        notes.append(plan.on_times)
    return replace(
        table,
        columns=tuple(source.column for source in filled),
        sections=tuple(_sections(filled, runs, counts)),
        notes=tuple(notes),
    )


def _sections(
    sources: Sequence[Source], runs: Runs, counts: Mapping[Name, int]
) -> Iterator[Section]:
    """Make a section for each test; what was not run is shown as such, but only in the first."""
    variants = runs.variants({source.suite for source in sources})
    for place, title in enumerate(dict.fromkeys(variant.section for variant in variants)):
        alike = [variant for variant in variants if variant.section == title]
        rows = tuple(_rows(sources, runs, counts, alike, is_first=place == 0))
        if rows:
            yield Section(title, rows)


def _rows(
    sources: Sequence[Source],
    runs: Runs,
    counts: Mapping[Name, int],
    variants: Sequence[Variant],
    *,
    is_first: bool,
) -> Iterator[Row]:
    for setting in sources[0].printed:
        for variant in variants:
            entries = tuple(
                source.make_entry(runs, setting, variant, counts[source.name]) for source in sources
            )
            is_missed = is_first and not variant.start and any(entry.published for entry in entries)
            if is_missed or any(entry.runs for entry in entries):
                origin = variant.origin if setting.method == "komb" else ""
                yield Row(setting.label, origin, entries)


def _fill_separators(separators: Sequence[SeparatorRecord], out: str) -> Table:
    pairs: dict[str, list[SeparatorRecord]] = {}
    for record in separators:
        pairs.setdefault(record.network, []).append(record)
    if not pairs:
        return replace(_SEPARATORS, notes=(_say_nothing(["separators"], out),))
    absent = [("sizes", name) for name in paper.NETWORKS if name not in pairs]
    columns = [Column("", name, 0, "neither") for name in ("targets", "pairs")]
    for group, is_published in (("inclusion-minimal", True), ("smallest", False)):
        columns += [Column(group, name, n, "neither", is_published) for name, n, _ in _SIZES]
    return replace(
        _SEPARATORS,
        columns=tuple(columns),
        sections=(Section("", tuple(_separator_row(*entry) for entry in pairs.items())),),
        notes=(_say_left_out(absent, ["separators"], out),) if absent else (),
    )


def _separator_row(network: str, pairs: Sequence[SeparatorRecord]) -> Row:
    minimal, smallest = [pair.size for pair in pairs], [pair.minimum_size for pair in pairs]
    targets = {pair.target for pair in pairs}
    ours = (len(targets), len(pairs), *(count(minimal) for *_, count in _SIZES))
    published = map(Published, paper.SEPARATORS[network])
    compared = (Entry(mean=number, published=next(published)) for number in ours)
    alone = (Entry(mean=count(smallest)) for *_, count in _SIZES)
    return Row(network, "", (*compared, *alone))


def how_to_add(suites: Iterable[str], out: str, datasets: Iterable[str] = ()) -> str:
    """Return the command that runs what is missing.

    It names the networks among the ``datasets`` that lack something, for a run that is resumed
    keeps to those it began with.

    Examples
    --------
    >>> how_to_add(["runtime"], "my results", ["Barley", "Mildew"])
    "komb reproduce runtime --out 'my results' --resume --networks Barley,Mildew"
    """
    command = f"komb reproduce {' '.join(suites)} --out {shlex.quote(out)} --resume"
    missing = set(datasets)
    networks = [name for name in paper.NETWORKS if name in missing]
    return f"{command} --networks {','.join(networks)}" if networks else command


def _say_nothing(suites: Iterable[str], out: str) -> str:
    return f"Nothing has been run for this table. This adds it: {how_to_add(suites, out)}"


def _say_left_out(absent: Sequence[Name], suites: Iterable[str], out: str) -> str:
    command = how_to_add(suites, out, (heading for _, heading in absent))
    return f"Not run, and left out: {_enumerate(absent)}. This adds it: {command}"


def _say_other_counts(filled: Sequence[Source], counts: Mapping[Name, int]) -> Iterator[str]:
    """Say where a number of ours has more or fewer runs behind it than the paper's."""
    names: dict[tuple[int, int], list[Name]] = {}
    for source in filled:
        ours, theirs = counts[source.name], paper.experiment_on(source.dataset).n_runs
        if ours != theirs:
            names.setdefault((ours, theirs), []).append(source.name)
    for (ours, theirs), some in names.items():
        yield f"From {plural(ours, 'run')}, where the paper has {theirs}: {_enumerate(some)}."


def _enumerate(names: Iterable[Name]) -> str:
    by_group: dict[str, list[str]] = {}
    for group, heading in names:
        by_group.setdefault(group, []).append(heading)
    return "; ".join(f"{group} of {', '.join(some)}" for group, some in by_group.items())
