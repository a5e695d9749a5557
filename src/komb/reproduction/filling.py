"""How a table of the paper is filled from records, and what is said where there are none."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from komb.reproduction import paper
from komb.reproduction.layout import Column, Entry, Row, Section, Table
from komb.reproduction.paper import Printed, Setting
from komb.reproduction.records import Record
from komb.reproduction.runs import Metric, Runs, Variant, summarise
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

    @property
    def published_runs(self) -> int:
        """How many runs are behind a number of the paper."""
        return paper.SYNTHETIC_RUNS if self.suite == "synthetic" else paper.BENCHMARK_RUNS

    def most_runs(self, runs: Runs) -> int:
        """Return how many runs are behind a number of ours, at most."""
        variants = runs.variants([self.suite])
        found = (self._find(runs, row, how) for row in self.printed for how in variants)
        return max(map(len, found), default=0)

    def make_entry(self, runs: Runs, setting: Setting, variant: Variant, usual: int) -> Entry:
        """Set our number beside that of the paper."""
        found = self._find(runs, setting, variant)
        entry = summarise(found, self.metric, finished_only=self.finished_only)
        has_timed_out = self.suite != "synthetic" and paper.has_timed_out(setting, self.dataset)
        return replace(
            _in_percent(entry) if self.metric == "recall" else entry,
            usual=usual,
            published=self.printed[setting][self.key],
            caveat="all timed out" if has_timed_out else "",
        )

    def _find(self, runs: Runs, setting: Setting, variant: Variant) -> tuple[Record, ...]:
        return runs.of(self.suite, self.dataset, self.n_rows, setting, variant)


def _in_percent(entry: Entry) -> Entry:
    mean = None if entry.mean is None else 100 * entry.mean
    return replace(entry, mean=mean, std=None if entry.std is None else 100 * entry.std)


def fill(table: Table, sources: Sequence[Source], runs: Runs, out: str) -> Table:
    """Put into a table what there are records for, and say what there are none for.

    Parameters
    ----------
    table
        With its title and caption, and notes on what will be in it.
    sources
        One for each column, all with the same rows in the table of the paper.
    runs
        All records.
    out
        The folder of the results, for the commands in notes.
    """
    counts = {source.name: source.most_runs(runs) for source in sources}
    filled = [source for source in sources if counts[source.name]]
    absent = [source for source in sources if not counts[source.name]]
    suites = list(dict.fromkeys(source.asked_as for source in absent))
    if not filled:
        return replace(table, notes=(say_nothing(suites, out),))
    notes = [*table.notes, *_say_other_counts(filled, counts)]
    if absent:
        notes.append(say_left_out([source.name for source in absent], suites, out))
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


def how_to_add(suites: Iterable[str], out: str, datasets: Iterable[str] = ()) -> str:
    """Return the command that runs what is missing.

    Parameters
    ----------
    suites
        To run.
    out
        The folder of the results.
    datasets
        What is missing there. The command names the networks among it, for a run that is resumed
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


def say_nothing(suites: Iterable[str], out: str) -> str:
    """Say that there is nothing to put into a table."""
    return f"Nothing has been run for this table. This adds it: {how_to_add(suites, out)}"


def say_left_out(names: Iterable[Name], suites: Iterable[str], out: str) -> str:
    """Say which columns or rows a table lacks.

    Examples
    --------
    >>> say_left_out(  # doctest: +NORMALIZE_WHITESPACE
    ...     [("F1", "Barley"), ("F1", "Mildew")], ["benchmark"], "out"
    ... )
    'Not run, and left out: F1 of Barley, Mildew. This adds it: komb reproduce benchmark --out out
    --resume --networks Barley,Mildew'
    """
    absent = list(names)
    command = how_to_add(suites, out, (heading for _, heading in absent))
    return f"Not run, and left out: {_enumerate(absent)}. This adds it: {command}"


def _say_other_counts(filled: Sequence[Source], counts: Mapping[Name, int]) -> Iterator[str]:
    """Say where a number of ours has more or fewer runs behind it than the paper's."""
    names: dict[tuple[int, int], list[Name]] = {}
    for source in filled:
        ours, theirs = counts[source.name], source.published_runs
        if ours != theirs:
            names.setdefault((ours, theirs), []).append(source.name)
    for (ours, theirs), some in names.items():
        yield f"From {plural(ours, 'run')}, where the paper has {theirs}: {_enumerate(some)}."


def _enumerate(names: Iterable[Name]) -> str:
    by_group: dict[str, list[str]] = {}
    for group, heading in names:
        by_group.setdefault(group, []).append(heading)
    return "; ".join(f"{group} of {', '.join(some)}" for group, some in by_group.items())
