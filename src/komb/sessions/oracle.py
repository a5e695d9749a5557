"""Answers from the truth: what the sources that are always right have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Sequence

from komb.sessions.questions import Candidates, Outcome, Variables
from komb.sessions.source import Source


class Oracle(Source):
    """An oracle answers one question at a time and is always right."""

    name = "oracle"

    @abstractmethod
    def depends(self, target: int, candidates: Sequence[int], given: Variables) -> list[bool]:
        """For each candidate, whether it depends on the target given the set."""

    def decide(self, target: int, questions: Sequence[Candidates]) -> Sequence[Sequence[bool]]:
        """For each candidate of each question, whether it depends on the target given the set."""
        return [self.depends(target, candidates, given) for candidates, given in questions]

    def outcome(self, target: int, candidate: int, given: Collection[int]) -> Outcome:
        """Say what the oracle says; it has no statistic."""
        [depends] = self.depends(target, [candidate], frozenset(given))
        return Outcome(not depends, None, None, None, self.name, reliable=True)
