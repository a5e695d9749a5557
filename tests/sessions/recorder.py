"""A session that lists every test it computes on a table."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from komb.citests.registry import make_test
from komb.data.table import DiscreteTable
from komb.sessions.data import TableSource
from komb.sessions.questions import Candidates, OnProgress, Variables
from komb.sessions.session import Session
from komb.sessions.sweeps import Sweep
from tests.sessions.sources import Test, tests_of


class RecordingSource(TableSource):
    """``decided`` are tests asked for, ``weighed`` those with a strength, ``swept`` in sweeps."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.decided: list[Test] = []
        self.weighed: list[Test] = []
        self.swept: list[Test] = []

    @property
    def computed(self) -> list[Test]:
        return self.swept + self.decided + self.weighed

    def sweep(
        self, target: int, pool: Variables, size: int, on_progress: OnProgress | None
    ) -> Sweep | None:
        swept = super().sweep(target, pool, size, on_progress)
        if swept is not None:
            givens = map(frozenset, combinations(sorted(pool), size))
            self.swept += tests_of(target, [(sorted(pool - given), given) for given in givens])
        return swept

    def decide(self, target: int, questions: Sequence[Candidates]) -> Sequence[Sequence[bool]]:
        self.decided += tests_of(target, questions)
        return super().decide(target, questions)

    def weigh(
        self, target: int, questions: Sequence[Candidates], *, is_counted: bool
    ) -> Sequence[Sequence[float]]:
        self.weighed += tests_of(target, questions)
        return super().weigh(target, questions, is_counted=is_counted)


class Recorder(Session):
    """Answers as a :class:`~komb.sessions.data.DataSession`, from a source that keeps a record."""

    source: RecordingSource

    def __init__(
        self, table: DiscreteTable, test: str = "g-sci", df: str = "observed", alpha: float = 0.01
    ) -> None:
        super().__init__(RecordingSource(table, make_test(test, df, alpha=alpha), alpha))
