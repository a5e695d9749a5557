"""Records sorted by what was run, and the numbers that stand there.

>>> from komb.reproduction.paper import Setting
>>> runs = Runs([])
>>> runs.of("benchmark", "Alarm1", 5000, Setting("gs"), Variant("g", "adjusted"))
()
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias

from komb.reproduction import paper
from komb.reproduction.layout import Entry
from komb.reproduction.paper import Setting
from komb.reproduction.records import Record

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
        """What tells which test it was."""
        return f"test {self.test}, df {self.df}"

    @property
    def origin(self) -> str:
        """What tells where the search began."""
        return f"from {self.start.upper()}'s blanket" if self.start else "from the empty set"


class Runs:
    """Records, by what was run.

    Parameters
    ----------
    records
        In any order.
    """

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
        """Return how methods were run in some suites: on the paper's test and from nothing first.

        Examples
        --------
        >>> from komb.reproduction.records import Record, score_fields
        >>> score = score_fields(["a"], ["a"])
        >>> record = Record("synthetic", "or", 100, 1, "Y", "gs", "", None, None, "g", "adjusted",
        ...     0.01, ("a",), ("a",), **score, tests=3, seconds=0.1)
        >>> Runs([record]).variants(["synthetic"])
        [Variant(test='g', df='adjusted', start='')]
        """
        wanted = set(suites)
        found = {variant for suite, *_, variant in self._records if suite in wanted}
        return sorted(found, key=lambda variant: (variant[:2] != (paper.TEST, paper.DF), variant))


def summarise(records: Sequence[Record], metric: Metric, *, finished_only: bool = False) -> Entry:
    """Average one number over records.

    Parameters
    ----------
    records
        Of one setting on one dataset.
    metric
        Which number.
    finished_only
        Whether to leave out runs that reached the time cap, instead of counting them as they are
        recorded: with an F1 of 0 and all the time they took.

    Returns
    -------
    Entry
        Without the paper's number. The standard deviation is that of a sample, as in the paper.
    """
    used = [run for run in records if not (finished_only and run.timed_out)]
    values = [float(getattr(run, metric)) for run in used]
    return Entry(
        mean=statistics.fmean(values) if values else None,
        std=statistics.stdev(values) if len(values) > 1 else None,
        runs=len(records),
        timed_out=sum(run.timed_out for run in records),
    )
