"""Records grouped by what was run, and averages over them.

>>> from komb.reproduction.paper import Setting
>>> Runs([]).of("benchmark", "Alarm1", 5000, Setting("gs"), Variant("g", "adjusted"))
()
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias

from komb.reproduction import paper
from komb.reproduction.journal import Record
from komb.reproduction.paper import Setting

Metric: TypeAlias = Literal["precision", "recall", "f1", "seconds"]


class Variant(NamedTuple):
    """How a method was run: on which test, and from where.

    Examples
    --------
    >>> Variant("g", "adjusted").section, Variant("g", "adjusted", "iamb").origin
    ('test g, df adjusted', "from IAMB's blanket")
    """

    test: str = paper.TEST
    df: str = paper.DF
    start: str = ""

    @property
    def section(self) -> str:
        """Which test it was, in words."""
        return f"test {self.test}, df {self.df}"

    @property
    def origin(self) -> str:
        """Where the search began, in words."""
        return f"from {self.start.upper()}'s blanket" if self.start else "from the empty set"


class Runs:
    """Records, by what was run; they may come in any order."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._records: dict[tuple[str, str, int, Setting, Variant], list[Record]] = {}
        for record in records:
            setting = Setting(record.method, record.order, record.max_separator)
            variant = Variant(record.test, record.df, record.start)
            key = record.suite, record.dataset, record.n_rows, setting, variant
            self._records.setdefault(key, []).append(record)

    def of(
        self, suite: str, dataset: str, n_rows: int, setting: Setting, variant: Variant
    ) -> tuple[Record, ...]:
        """Return the records of one setting on one dataset, none if it was not run."""
        return tuple(self._records.get((suite, dataset, n_rows, setting, variant), ()))

    def variants(self, suites: Iterable[str]) -> list[Variant]:
        """Return how methods were run in some suites: on the paper's test, from nothing, first."""
        wanted = set(suites)
        found = {variant for suite, *_, variant in self._records if suite in wanted}
        return sorted(found, key=lambda variant: (variant[:2] != (paper.TEST, paper.DF), variant))


class Average(NamedTuple):
    """A mean over runs, ``None`` if there are none.

    The standard deviation is that of a sample, as in the paper, and ``None`` for a single run.
    ``runs`` counts all of them, ``timed_out`` those that reached the time cap.
    """

    mean: float | None
    std: float | None
    runs: int
    timed_out: int


def average(records: Sequence[Record], metric: Metric, *, finished_only: bool = False) -> Average:
    """Average one number over the records of one setting on one dataset.

    Runs that reached the time cap count as they are recorded, with an F1 of 0 and all the time they
    took; ``finished_only`` leaves them out of the mean.

    Examples
    --------
    >>> average([], "f1")
    Average(mean=None, std=None, runs=0, timed_out=0)
    """
    used = [run for run in records if not (finished_only and run.timed_out)]
    values = [float(getattr(run, metric)) for run in used]
    return Average(
        mean=statistics.fmean(values) if values else None,
        std=statistics.stdev(values) if len(values) > 1 else None,
        runs=len(records),
        timed_out=sum(run.timed_out for run in records),
    )
