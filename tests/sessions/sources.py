"""Sources made of anything that answers one question at a time, such as a naive session."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from komb.sessions.questions import Candidates, Outcome, Variables
from komb.sessions.source import Source
from tests import naive

Test = tuple[int, int, Variables]  # target, candidate, given set


def tests_of(target: int, questions: Sequence[Candidates]) -> list[Test]:
    """The tests of some questions, one by one."""
    return [(target, x, given) for candidates, given in questions for x in candidates]


class DecidingSource(Source):
    """Says yes or no, which is the least that a source can do; ``batches`` lists what it decided.

    Parameters
    ----------
    n_variables : int
    answers : object with a method ``independent``
    """

    def __init__(self, n_variables: int, answers: naive.sessions.Session) -> None:
        super().__init__(n_variables)
        self._answers = answers
        self.batches: list[list[Test]] = []

    @property
    def computed(self) -> list[Test]:
        """Everything that was decided."""
        return [test for batch in self.batches for test in batch]

    def decide(self, target: int, questions: Sequence[Candidates]) -> Sequence[Sequence[bool]]:
        self.batches.append(tests_of(target, questions))
        return [
            [not self._answers.independent(target, x, given) for x in candidates]
            for candidates, given in questions
        ]

    def outcome(self, target: int, candidate: int, given: Collection[int]) -> Outcome:
        independent = self._answers.independent(target, candidate, frozenset(given))
        return Outcome(independent, None, None, None, "naive", reliable=True)


class WeighingSource(DecidingSource):
    """Knows also how strong a dependence is.

    Parameters
    ----------
    n_variables : int
    answers : object with methods ``independent`` and ``strength``
    """

    def __init__(self, n_variables: int, answers: naive.sessions.WeighingSession) -> None:
        super().__init__(n_variables, answers)
        self._weights = answers

    def weigh(
        self, target: int, questions: Sequence[Candidates], *, is_counted: bool
    ) -> Sequence[Sequence[float]]:
        self.batches.append(tests_of(target, questions))
        return [
            [self._weights.strength(target, x, given) for x in candidates]
            for candidates, given in questions
        ]
