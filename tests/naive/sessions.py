"""Sessions that answer one question at a time: from a table, or from an exact distribution."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

from tests.naive.counts import Columns, Set, joint_counts
from tests.naive.decision import Answer, log2_p_value, run_test


class Session(Protocol):
    """Answers one question at a time."""

    def independent(self, y: int, x: int, given: Set) -> bool: ...


class WeighingSession(Session, Protocol):
    """Says also how clearly x depends on y: bits of evidence, 0 if it does not."""

    def strength(self, y: int, x: int, given: Set) -> float: ...


class DoubtingSession(WeighingSession, Protocol):
    """Says also which tests see little."""

    def can_detect(self, y: int, x: int, given: Set, witness: Set, share: float) -> bool: ...

    def confirmed(self, y: int, x: int, given: Set) -> float: ...

    def is_large(self, y: int, x: int, given: Set) -> bool: ...


@dataclass
class DataSession:
    """Answers from a table and remembers which questions were asked."""

    columns: Columns
    test: str = "g-sci"
    alpha: float = 0.01
    df: str = "observed"
    memory: dict[tuple[int, int, Set], Answer] = field(default_factory=dict)

    def answer(self, y: int, x: int, given: Set) -> Answer:
        key = (y, x, given)
        if key not in self.memory:
            self.memory[key] = run_test(self.columns, y, x, given, self.test, self.alpha, self.df)
        return self.memory[key]

    def independent(self, y: int, x: int, given: Set) -> bool:
        return self.answer(y, x, given).independent

    def strength(self, y: int, x: int, given: Set) -> float:
        answer = self.answer(y, x, given)
        if answer.independent:
            return 0.0
        if answer.df is None:
            return answer.statistic  # bits saved
        if isinstance(answer.df, int):
            return -log2_p_value(answer.statistic, answer.df)
        return math.inf if answer.p_value is None else -math.log2(answer.p_value)


@dataclass
class ExactSession:
    """Answers from an exact distribution: the probability of each combination of levels."""

    joint: Mapping[tuple[int, ...], Fraction]

    @staticmethod
    def of_sample(columns: Columns) -> ExactSession:
        """The empirical distribution of a table."""
        n_rows = len(columns[0])
        counts = joint_counts(columns, range(len(columns)))
        return ExactSession({row: Fraction(n, n_rows) for row, n in counts.items()})

    def marginal(self, variables: Sequence[int]) -> dict[tuple[int, ...], Fraction]:
        sums: dict[tuple[int, ...], Fraction] = {}
        for row, probability in self.joint.items():
            key = tuple(row[v] for v in variables)
            sums[key] = sums.get(key, Fraction(0)) + probability
        return sums

    def independent(self, y: int, x: int, given: Set) -> bool:
        z = sorted(given)
        p_xyz, p_z = self.marginal([x, y, *z]), self.marginal(z)
        p_xz, p_yz = self.marginal([x, *z]), self.marginal([y, *z])
        return all(
            p_xyz.get((x_key[0], *y_key), Fraction(0)) * p_z[y_key[1:]] == p_x * p_y
            for x_key, p_x in p_xz.items()
            for y_key, p_y in p_yz.items()
            if x_key[1:] == y_key[1:]
        )

    def strength(self, y: int, x: int, given: Set) -> float:
        return 0.0 if self.independent(y, x, given) else 1.0
