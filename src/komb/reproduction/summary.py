"""The outcome of a run in a few lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import mean

from komb.reproduction.journal import Record
from komb.reproduction.paper import FUNCTIONS, NETWORKS
from komb.reproduction.reproduction import Reproduction
from komb.views.text import NOTHING, Grid, Sheet, plural, show_seconds


def summarise(run: Reproduction) -> Sheet:
    """Say what came out of a run: the best of kOMB and of the other methods on each dataset.

    Examples
    --------
    >>> from pathlib import Path
    >>> run = Reproduction(Path("out"), ("intro",), [], [], {"seconds": 2}, [])
    >>> summarise(run).title, summarise(run).notes
    ('Reproduced: intro', ('Everything is in out',))
    """
    searches = f"{len(run.records):,} searches"
    timed_out = sum(record.timed_out for record in run.records)
    capped = f", {timed_out:,} of them given up at the time cap" if timed_out else ""
    facts = f"{searches}{capped}, {show_seconds(float(run.manifest['seconds']))}"
    rows = tuple(_rows(run.records))
    heading = ("dataset", "rows>", "best of komb", "F1>", "best of the others", "F1>")
    grids = (Grid(heading, rows),) if rows else ()
    notes = [f"{plural(len(run.separators), 'pair')} with separators."] if run.separators else []
    names = ", ".join(file.name for file in run.files if file.parent == run.out)
    return Sheet(
        f"Reproduced: {', '.join(run.suites)}",
        facts,
        grids,
        (*notes, f"Everything is in {run.out}{': ' if names else ''}{names}"),
    )


def _rows(records: Sequence[Record]) -> Iterator[tuple[str, ...]]:
    """One row for each dataset, at each size for which the paper has numbers in tables."""
    for dataset in (*FUNCTIONS, *NETWORKS):
        ours = [r for r in records if r.dataset == dataset and r.suite != "runtime"]
        for size in sorted({record.n_rows for record in ours}):
            at_size = [record for record in ours if record.n_rows == size]
            if dataset in FUNCTIONS and size not in (100, 1000):
                continue
            yield (
                dataset,
                f"{size:,}",
                *_best(record for record in at_size if record.method == "komb"),
                *_best(record for record in at_size if record.method != "komb"),
            )


def _best(records: Iterable[Record]) -> tuple[str, str]:
    """Return the method with the highest mean F1, and that mean."""
    scores: dict[str, list[float]] = {}
    for record in records:
        scores.setdefault(_label(record), []).append(record.f1)
    if not scores:
        return NOTHING, NOTHING
    label = max(scores, key=lambda label: mean(scores[label]))
    return label, f"{mean(scores[label]):.3f}"


def _label(record: Record) -> str:
    if record.order is None:
        return f"{record.method}, test {record.test}"
    start = f", start {record.start}" if record.start else ""
    return f"k={record.order} l={record.max_separator}{start}"
