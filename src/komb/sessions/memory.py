"""What a session remembers: decisions and the evidence behind them, each asked for only once.

An answer is a function of (target, candidate, given set). Decisions about one target and one given
set are a row of bytes, one per variable.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from komb.sessions.questions import Candidates, Dependence, Question, Variables

Decide = Callable[[int, Sequence[Candidates]], Sequence[Sequence[bool]]]
Weigh = Callable[..., Sequence[Sequence[float]]]
PoolDecided = Callable[[int, Variables], Variables]

_Unknown = tuple[list[int], Variables, bytearray]  # candidates, given set, where answers go
_INDEPENDENT, _DEPENDENT, _QUEUED = 1, 2, 3  # 0 is "not asked yet"

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
        self._decisions: dict[int, dict[Variables, bytearray]] = {}
        self._strengths: dict[int, dict[Variables, dict[int, float]]] = {}

    def ask(self, target: int, questions: Sequence[Question], decide: Decide) -> list[list[int]]:
        """For each question, the candidates that depend, in table order; decide what is unknown."""
        memory = self._decisions.setdefault(target, {})
        rows: list[bytearray] = []
        queue: list[_Unknown] = []
        with _all_or_nothing(queue):
            for candidates, given in questions:
                row = memory.get(given)
                if row is None:
                    row = memory[given] = bytearray(self.n_variables)
                rows.append(row)
                unknown = [x for x in candidates if not row[x] and x not in given]
                if unknown:
                    queue.append((unknown, given, row))
                    for x in unknown:
                        row[x] = _QUEUED  # another question of this batch may ask the same
            self._answer(target, queue, decide)
        answers = [
            [x for x in candidates if row[x] == _DEPENDENT]
            for (candidates, _), row in zip(questions, rows, strict=True)
        ]
        for answer in answers:
            answer.sort()
        self._forget_oldest(memory)
        return answers

    def ask_each(self, target: int, tests: Sequence[Dependence], decide: Decide) -> list[bool]:
        """Whether each candidate depends on the target given its set; decide what is unknown."""
        memory = self._decisions.setdefault(target, {})
        queue: list[_Unknown] = []
        queued: dict[Variables, list[int]] = {}
        with _all_or_nothing(queue):
            for candidate, given in tests:
                row = memory.get(given)
                if row is None:
                    row = memory[given] = bytearray(self.n_variables)
                if not row[candidate]:
                    if given not in queued:
                        queued[given] = []
                        queue.append((queued[given], given, row))
                    queued[given].append(candidate)
                    row[candidate] = _QUEUED  # it may be asked again in this batch
            self._answer(target, queue, decide)
        answers = [memory[given][candidate] == _DEPENDENT for candidate, given in tests]
        self._forget_oldest(memory)
        return answers

    def _answer(self, target: int, queue: Sequence[_Unknown], decide: Decide) -> None:
        """Decide what is not known yet and write it into the rows."""
        if not queue:
            return
        answers = decide(target, [(unknown, given) for unknown, given, _ in queue])
        for (unknown, _, row), answer in zip(queue, answers, strict=True):
            self.n_tests += len(unknown)
            for x, depends in zip(unknown, answer, strict=True):
                row[x] = _DEPENDENT if depends else _INDEPENDENT

    def strengths(
        self, target: int, questions: Sequence[Question], weigh: Weigh, decided_pool: PoolDecided
    ) -> list[dict[int, float]]:
        """For each question, the candidates that depend, with their strength; weigh the unknown.

        ``decided_pool`` names the variables whose tests were decided elsewhere, given a set; they
        do not count again.
        """
        memory = self._strengths.setdefault(target, {})
        rows = [memory.setdefault(given, {}) for _, given in questions]
        queues: dict[bool, list[Candidates]] = {False: [], True: []}
        try:
            for (candidates, given), row in zip(questions, rows, strict=True):
                unknown = [x for x in candidates if x not in row and x not in given]
                if not unknown:
                    continue
                row.update(dict.fromkeys(unknown, math.nan))  # others of this batch may ask it too
                decided = self._decided(target, unknown, given, decided_pool)
                if decided:
                    queues[True].append((decided, given))
                    unknown = [x for x in unknown if x not in decided]
                if unknown:
                    queues[False].append((unknown, given))
            for was_decided, queue in queues.items():
                self._weigh_queue(target, queue, weigh, was_decided)
        except BaseException:  # an interrupt must not leave questions half answered
            for _, given in questions:
                memory.pop(given, None)
            raise
        answers = [
            {x: row[x] for x in sorted(candidates) if row.get(x)}
            for (candidates, _), row in zip(questions, rows, strict=True)
        ]
        self._forget_oldest(memory, _STRENGTH_BYTES)
        return answers

    def _decided(
        self, target: int, candidates: Sequence[int], given: Variables, decided_pool: PoolDecided
    ) -> list[int]:
        """Those whose test has been decided."""
        pool = decided_pool(target, given)
        row = self._decisions.get(target, {}).get(given)
        if row is None:
            return [x for x in candidates if x in pool]
        return [x for x in candidates if row[x] or x in pool]

    def _weigh_queue(
        self, target: int, queue: Sequence[Candidates], weigh: Weigh, was_decided: bool
    ) -> None:
        """Weigh what is not known yet; tests that were decided before count no more."""
        if not queue:
            return
        decisions = self._decisions.setdefault(target, {})
        weighed = weigh(target, queue, is_counted=not was_decided)
        for (asked, given), bits in zip(queue, weighed, strict=True):
            self._strengths[target][given].update(zip(asked, bits, strict=True))
            if was_decided:
                continue
            self.n_tests += len(asked)
            row = decisions.setdefault(given, bytearray(self.n_variables))
            for x, strength in zip(asked, bits, strict=True):
                row[x] = _DEPENDENT if strength else _INDEPENDENT

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


@contextmanager
def _all_or_nothing(queue: Sequence[_Unknown]) -> Iterator[None]:
    """Take questions back if anything, such as an interrupt, leaves them without an answer."""
    try:
        yield
    except BaseException:
        for unknown, _, row in queue:
            for x in unknown:
                row[x] = 0
        raise
