"""The blanket of one search of kOMB, and how its questions are asked."""

from __future__ import annotations

from komb.search._batched_walk import BatchedWalk
from komb.search.task import Task
from komb.sessions.questions import EMPTY, Branch, Dependence, GroupWalk, Variables
from komb.sessions.session import Session


class Frontier:
    """The blanket of one search as it grows and shrinks."""

    def __init__(self, session: Session, task: Task, order: int, max_separator: int) -> None:
        self.session = session
        self.task = task
        self.target = task.target
        self.order = order
        self.max_separator = max_separator
        self.blanket: Variables = task.start | task.include
        self._walk: GroupWalk | None = None

    def first_witness(self) -> Dependence | None:
        """Return the first candidate outside of the blanket that has a witness, with the witness.

        In the order of Algorithm 2. The blanket only grows from one call to the next.
        """
        if self._walk is None:
            self._walk = self._begin_walk()
        return self._walk.first_witness(self.blanket, self._report_growth)

    def _begin_walk(self) -> GroupWalk:
        asked = self.target, self.task.candidates, self.order, self.max_separator
        return self.session.walk_groups(*asked) or BatchedWalk(self.session, *asked)

    def witnesses(self, candidates: Variables) -> dict[int, Variables]:
        """For each candidate, the first part of the blanket given which it depends.

        No separator removes the dependence.
        """
        branches = [Branch(EMPTY, candidates, self.order)]
        found = self.session.separators.witnesses(
            self.target, branches, self.blanket, self.max_separator
        )
        return {position.candidate: witness for position, witness in found.items()}

    def is_inseparable(self, candidate: int, witness: Variables) -> bool:
        """Whether no separator removes the dependence of a candidate given its witness."""
        return self.session.separators.first_inseparable(
            self.target, [(candidate, [witness])], self.blanket, self.max_separator
        ) != [None]

    def sweep(self) -> None:
        """Have all tests with up to ``order`` conditions decided together."""
        for size in range(1, self.order + 1):
            self.session.sweep(self.target, self.task.candidates, size, self._report_sweep)

    def report(self, phase: str, done: int = 0, total: int = 0) -> None:
        """Report the progress of the search to the observer."""
        self.task.report(self.session, phase, self.blanket, done, total)

    def _report_growth(self) -> None:
        self.report("grow")

    def _report_sweep(self, done: int, total: int) -> None:
        self.report("sweep", done, total)
