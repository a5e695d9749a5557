"""What a session remembers: decisions and the evidence behind them, each asked for only once.

An answer is a function of (target, candidate, given set). Decisions about one target and one given
set are a row of bytes, one per variable. A session asks here what is unknown, has that answered,
notes the answers, and reads all of them: whatever interrupts it leaves nothing half known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

from komb.sessions.questions import (
    Candidates,
    Dependence,
    Question,
    Variables,
    check_variables,
)

PoolDecided = Callable[[int, Variables], Variables]

_INDEPENDENT, _DEPENDENT = 1, 2  # 0 is "not known"

#: Bytes of remembered decisions per target; the oldest are forgotten beyond.
ROWS_REMEMBERED_BYTES = 256 << 20
KEY_BYTES = 400  # of a given set in memory, roughly
_STRENGTH_BYTES = 64  # of a strength in memory, roughly


class Memory:
    """Decisions and strengths of all targets.

    Attributes
    ----------
    n_tests : int
        How many different tests were decided or weighed.
    """

    def __init__(self, n_variables: int) -> None:
        self.n_variables = n_variables
        self.n_tests = 0
        self._everything = frozenset(range(n_variables))
        self._nothing = bytearray(n_variables)  # the row of a given set that was never asked about
        self._decisions: dict[int, dict[Variables, bytearray]] = {}
        self._strengths: dict[int, dict[Variables, dict[int, float]]] = {}

    def undecided(self, target: int, questions: Sequence[Question]) -> list[Candidates]:
        """Return the tests among some questions that are not decided, each once."""
        memory = self._decisions.setdefault(target, {})
        queue: list[Candidates] = []
        queued: dict[Variables, set[int]] = {}
        for candidates, given in questions:
            row = memory.get(given, self._nothing)
            unknown = [x for x in candidates if not row[x] and x not in given]
            if given in queued:
                unknown = [x for x in unknown if x not in queued[given]]
            if unknown:
                check_variables(given.union(unknown), self._everything)
                queue.append((unknown, given))
                queued.setdefault(given, set()).update(unknown)
        return queue

    def undecided_each(self, target: int, tests: Sequence[Dependence]) -> list[Candidates]:
        """Return those of some tests that are not decided, each once, by given set."""
        memory = self._decisions.setdefault(target, {})
        queue: dict[Variables, list[int]] = {}
        for candidate, given in tests:
            if not memory.get(given, self._nothing)[candidate]:
                queued = queue.get(given)
                if queued is None:
                    check_variables(given, self._everything)
                    queued = queue[given] = []
                if candidate not in queued:
                    queued.append(candidate)
        return [(unknown, given) for given, unknown in queue.items()]

    def note(
        self, target: int, tests: Sequence[Candidates], answers: Sequence[Sequence[bool]]
    ) -> None:
        """Remember decisions."""
        memory = self._decisions[target]
        for (candidates, given), answer in zip(tests, answers, strict=True):
            row = memory.get(given)
            if row is None:
                row = memory[given] = bytearray(self.n_variables)
            self.n_tests += len(candidates)
            for x, depends in zip(candidates, answer, strict=True):
                row[x] = _DEPENDENT if depends else _INDEPENDENT

    def dependents(self, target: int, questions: Sequence[Question]) -> list[list[int]]:
        """For each question, all of it decided, the candidates that depend, in table order."""
        memory = self._decisions[target]
        answers = []
        for candidates, given in questions:
            row = memory.get(given, self._nothing)
            answers.append(sorted([x for x in candidates if row[x] == _DEPENDENT]))
        self._forget_oldest(memory)
        return answers

    def depend_each(self, target: int, tests: Sequence[Dependence]) -> list[bool]:
        """Whether each candidate depends on the target given its set; all are decided."""
        memory = self._decisions[target]
        answers = [memory[given][candidate] == _DEPENDENT for candidate, given in tests]
        self._forget_oldest(memory)
        return answers

    def unweighed(
        self, target: int, questions: Sequence[Question], decided_pool: PoolDecided
    ) -> dict[bool, list[Candidates]]:
        """Return the tests whose strength is not known: those that were decided, and others.

        ``decided_pool`` names the variables whose tests were decided elsewhere, given a set; tests
        that were decided do not count again.
        """
        memory, decisions = self._strengths.setdefault(target, {}), self._decisions.get(target, {})
        queued: dict[Variables, set[int]] = {}
        queues: dict[bool, list[Candidates]] = {False: [], True: []}
        for candidates, given in questions:
            known = memory.get(given, {})
            unknown = [x for x in candidates if x not in known and x not in given]
            if given in queued:
                unknown = [x for x in unknown if x not in queued[given]]
            if not unknown:
                continue
            check_variables(given.union(unknown), self._everything)
            queued.setdefault(given, set()).update(unknown)
            pool, row = decided_pool(target, given), decisions.get(given, self._nothing)
            decided = [x for x in unknown if row[x] or x in pool]
            if decided:
                queues[True].append((decided, given))
                unknown = [x for x in unknown if x not in decided]
            if unknown:
                queues[False].append((unknown, given))
        return queues

    def note_strengths(
        self,
        target: int,
        tests: Sequence[Candidates],
        strengths: Sequence[Sequence[float]],
        *,
        was_decided: bool,
    ) -> None:
        """Remember strengths; 0 means "independent". What was decided before counts no more."""
        memory = self._strengths[target]
        for (candidates, given), bits in zip(tests, strengths, strict=True):
            memory.setdefault(given, {}).update(zip(candidates, bits, strict=True))
        if not was_decided:
            self._decisions.setdefault(target, {})
            self.note(target, tests, [[own > 0 for own in bits] for bits in strengths])

    def strengths(self, target: int, questions: Sequence[Question]) -> list[dict[int, float]]:
        """For each question, all of it weighed, the candidates that depend, with their strength."""
        memory = self._strengths[target]
        answers = []
        for candidates, given in questions:
            row = memory.get(given, {})
            answers.append({x: row[x] for x in sorted(candidates) if row.get(x)})
        self._forget_oldest(memory, _STRENGTH_BYTES)
        return answers

    def _forget_oldest(self, memory: dict[Variables, Any], bytes_per_variable: int = 1) -> None:
        room = ROWS_REMEMBERED_BYTES // (bytes_per_variable * self.n_variables + KEY_BYTES)
        if len(memory) > room:
            # many at once: a dictionary finds its first key slower the more have gone before it
            for given in list(islice(memory, len(memory) - room // 2)):
                del memory[given]

    def n_bytes(self, target: int) -> int:
        """Memory that goes with one target, roughly."""
        decisions, strengths = self._decisions.get(target, {}), self._strengths.get(target, {})
        return (
            len(decisions) * (self.n_variables + KEY_BYTES)
            + len(strengths) * KEY_BYTES
            + sum(map(len, strengths.values())) * _STRENGTH_BYTES
        )

    def forget(self, target: int) -> None:
        """Forget all that is known about one target."""
        self._decisions.pop(target, None)
        self._strengths.pop(target, None)

    @property
    def targets(self) -> list[int]:
        """Targets of which something is remembered."""
        return sorted(self._decisions.keys() | self._strengths.keys())
