"""Every table of the paper, from the records of a run.

>>> tables = make_tables([], [], "results")
>>> [table.name for table in tables]  # doctest: +NORMALIZE_WHITESPACE
['introduction', 'synthetic', 'benchmark', 'ablation', 'full-results', 'full-runtimes',
 'separators']
>>> tables[0].notes
('Nothing has been run for this table. This adds it: komb reproduce intro --out results --resume',)
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace

from komb.reproduction import paper
from komb.reproduction.filling import Source, fill, say_left_out, say_nothing
from komb.reproduction.layout import Column, Entry, Row, Section, Table
from komb.reproduction.paper import Printed, Published, Setting
from komb.reproduction.records import Record, SeparatorRecord
from komb.reproduction.runs import Runs

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


def make_tables(
    records: Sequence[Record], separators: Sequence[SeparatorRecord], out: str
) -> list[Table]:
    """Make every table of the paper.

    Parameters
    ----------
    records, separators
        Of all suites that were run. What was not run is left out, and notes say so.
    out
        The folder of the results, for the commands in notes.

    Returns
    -------
    list of Table
        In the order of the paper. A table that there are no records for has no sections.
    """
    runs = Runs(records)
    makers = (_introduction, _synthetic, _benchmark, _ablation, _full_results, _full_runtimes)
    return [*(make(runs, out) for make in makers), _separators(separators, out)]


def _introduction(runs: Runs, out: str) -> Table:
    table = Table(
        "introduction",
        "Introduction: recall on ex-1",
        "Share of the true blankets that is found, in percent, by rows of the sample. The target "
        "says whether exactly one of three coins shows heads, and is wrong in one row of ten.",
        "method",
        notes=(_DEVIATION, _STARTS, _OTHERS, _CHANCE),
    )
    printed = _with_classics(paper.INTRODUCTION)
    sources = [
        Source(
            Column("recall (%)", f"{key} rows", 2, whole=100.0),
            "synthetic", "ex-1", int(key), "recall", printed, key, "intro",
        )
        for key in ("100", "1000")
    ]  # fmt: skip
    return fill(table, sources, runs, out)


def _synthetic(runs: Runs, out: str) -> Table:
    table = Table(
        "synthetic",
        "Synthetic data",
        f"F1 at {paper.SYNTHETIC_ROWS} rows: ten samples of each Boolean function, every variable "
        "a target.",
        "method",
        notes=(_DEVIATION, _STARTS, _OTHERS, _CHANCE),
    )
    printed = _with_classics(paper.SYNTHETIC)
    names = ("and", "ex-1", "ex-2", "or", "parity")
    sources = [_f1_source(printed, name, 3, "synthetic") for name in names]
    return fill(table, sources, runs, out)


def _benchmark(runs: Runs, out: str) -> Table:
    table = Table(
        "benchmark",
        "Benchmark networks",
        f"F1 and seconds a target at {paper.BENCHMARK_ROWS} rows: ten samples of each network, and "
        "the ten targets with the largest blankets.",
        "method",
        notes=(_DEVIATION, _STARTS, _TESTS, _CAPPED_AS_ZERO),
    )
    printed = {row: paper.FULL[row] for row in paper.BENCHMARK}
    times = {row: paper.RUNTIMES[row] for row in paper.BENCHMARK}
    scores = [_f1_source(printed, name, 4, "benchmark") for name in paper.NETWORKS]
    sources = [*scores, *(_time_source(times, name) for name in paper.NETWORKS)]
    filled = fill(table, sources, runs, out)
    has_times = any(column.better == "less" for column in filled.columns)
    return replace(filled, notes=(*filled.notes, _MACHINES)) if has_times else filled


def _ablation(runs: Runs, out: str) -> Table:
    table = Table(
        "ablation",
        "Ablation: every k and l",
        f"F1 of kOMB, at {paper.SYNTHETIC_ROWS} rows for Boolean functions and at "
        f"{paper.BENCHMARK_ROWS} for networks.",
        "method",
        notes=(_DEVIATION, _STARTS, _CAPPED_LEFT_OUT),
    )
    sources = [
        _f1_source(paper.ABLATION, name, 4, "ablation", finished_only=True)
        for name in (*paper.FUNCTIONS, *paper.NETWORKS)
    ]
    return fill(table, sources, runs, out)


def _full_results(runs: Runs, out: str) -> Table:
    table = Table(
        "full-results",
        "Full results on benchmark networks",
        f"F1 of every method at {paper.BENCHMARK_ROWS} rows.",
        "method",
        notes=(_DEVIATION, _STARTS, _TESTS, _CAPPED_AS_ZERO),
    )
    sources = [_f1_source(paper.FULL, name, 4, "benchmark") for name in paper.NETWORKS]
    return fill(table, sources, runs, out)


def _full_runtimes(runs: Runs, out: str) -> Table:
    table = Table(
        "full-runtimes",
        "Full runtimes on benchmark networks",
        f"Seconds a target of every method at {paper.BENCHMARK_ROWS} rows, each search on its own.",
        "method",
        notes=(_DEVIATION, _CAPPED_AS_LONG, _MACHINES),
    )
    sources = [_time_source(paper.RUNTIMES, name) for name in paper.NETWORKS]
    return fill(table, sources, runs, out)


def _with_classics(printed: Printed) -> Printed:
    """Add the classics that the paper has no rows for; they are shown if they were run."""
    first, *others = printed
    blank: dict[str, Published | None] = dict.fromkeys(printed[first])
    classics = {Setting(method): blank for method in paper.CLASSICS if method != first.method}
    return {first: printed[first], **classics, **{row: printed[row] for row in others}}


def _f1_source(
    printed: Printed, name: str, digits: int, asked_as: str, *, finished_only: bool = False
) -> Source:
    is_network = name in paper.NETWORKS
    return Source(
        Column("F1", name, digits),
        "benchmark" if is_network else "synthetic",
        name,
        paper.BENCHMARK_ROWS if is_network else paper.SYNTHETIC_ROWS,
        "f1",
        printed,
        name,
        asked_as,
        finished_only,
    )


def _time_source(printed: Printed, name: str) -> Source:
    column = Column("seconds a target", name, 3, "less")
    n_rows = paper.BENCHMARK_ROWS
    return Source(column, "runtime", name, n_rows, "seconds", printed, name, "runtime")


def _separators(separators: Sequence[SeparatorRecord], out: str) -> Table:
    table = Table(
        "separators",
        "Separators in the benchmark networks",
        "How many members of a target's true blanket it takes to d-separate it from a variable "
        "outside: in a separator that no member can be taken from, as in the paper, and in the "
        "smallest one there is.",
        "network",
    )
    pairs: dict[str, list[SeparatorRecord]] = {}
    for record in separators:
        pairs.setdefault(record.network, []).append(record)
    if not pairs:
        return replace(table, notes=(say_nothing(["separators"], out),))
    absent = [("sizes", name) for name in paper.NETWORKS if name not in pairs]
    return replace(
        table,
        columns=_separator_columns(),
        sections=(Section("", tuple(_separator_row(*entry) for entry in pairs.items())),),
        notes=(say_left_out(absent, ["separators"], out),) if absent else (),
    )


def _separator_columns() -> tuple[Column, ...]:
    sizes = (("mean", 3), ("max", 0), (f"share <= {paper.SMALL}", 3))
    return (
        Column("", "targets", 0, "neither"),
        Column("", "pairs", 0, "neither"),
        *(Column("inclusion-minimal", name, digits, "neither") for name, digits in sizes),
        *(Column("smallest", name, digits, "neither", False) for name, digits in sizes),
    )


def _separator_row(network: str, pairs: Sequence[SeparatorRecord]) -> Row:
    ours = (
        len({pair.target for pair in pairs}),
        len(pairs),
        *_sizes([pair.size for pair in pairs]),
    )
    published = map(Published, paper.SEPARATORS[network])
    compared = (Entry(mean=number, published=next(published)) for number in ours)
    alone = (Entry(mean=number) for number in _sizes([pair.minimum_size for pair in pairs]))
    return Row(network, "", (*compared, *alone))


def _sizes(sizes: Sequence[int]) -> tuple[float, int, float]:
    share = sum(size <= paper.SMALL for size in sizes) / len(sizes)
    return statistics.fmean(sizes), max(sizes), share
