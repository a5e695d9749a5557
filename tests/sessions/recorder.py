"""A session that lists every test it computes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from komb.sessions.data import DataSession
from komb.sessions.questions import OnProgress, Variables

Test = tuple[int, int, Variables]  # target, candidate, condition


class Recorder(DataSession):
    """``decided`` are tests asked for, ``weighed`` those with a strength, ``swept`` in sweeps."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.decided: list[Test] = []
        self.weighed: list[Test] = []
        self.swept: list[Test] = []

    @property
    def computed(self) -> list[Test]:
        return self.swept + self.decided + self.weighed

    def sweep(
        self, target: int, pool: Variables, size: int, on_progress: OnProgress | None = None
    ) -> None:
        before = self.counts.tests
        super().sweep(target, pool, size, on_progress)
        if self.counts.tests > before:
            for members in combinations(sorted(pool), size):
                z = frozenset(members)
                self.swept += [(target, x, z) for x in sorted(pool - z)]

    def _decide(
        self, target: int, questions: Sequence[tuple[Sequence[int], Variables]]
    ) -> Sequence[Sequence[bool]]:
        for candidates, members in questions:
            self.decided += [(target, x, members) for x in candidates]
        return super()._decide(target, questions)

    def _weigh(
        self,
        target: int,
        questions: Sequence[tuple[Sequence[int], Variables]],
        *,
        is_counted: bool,
    ) -> Sequence[Sequence[float]]:
        for candidates, members in questions:
            self.weighed += [(target, x, members) for x in candidates]
        return super()._weigh(target, questions, is_counted=is_counted)
