"""An engine whose answers come from a session."""

# ruff: noqa: D102 (the contract has the docstrings)

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from komb.citests.contract import TestOptions
from komb.citests.counted import CountedTest
from komb.data.table import DiscreteTable
from komb.engine import engine as contract
from komb.engine.engine import AllSets, Engine, Query, Witness
from komb.engine.plugin import CountingEngine
from komb.engine.questions import (
    EMPTY,
    Branch,
    Dependence,
    OnProgress,
    Outcome,
    Question,
    SessionCounts,
    StrongDependence,
    Variables,
    subsets,
)
from komb.engine.test_sums import Counted
from komb.sessions.data import DataSession
from komb.sessions.session import Session
from komb.sessions.source import Power

_MOST_TESTS = 4096  # asked at once where candidates have pools of their own


class SessionEngine(Engine):
    """Puts the five questions to a session."""

    def __init__(self, session: Session) -> None:
        super().__init__(session.n_variables)
        self._session = session

    @property
    def n_rows(self) -> int | None:
        return self._session.n_rows

    @property
    def n_levels(self) -> Sequence[int]:
        return self._session.n_levels

    @property
    def n_strata(self) -> int:
        return self._session.n_strata

    @property
    def alpha(self) -> float | None:
        return self._session.alpha

    @property
    def test_cost(self) -> float:
        return self._session.test_cost

    @property
    def work(self) -> SessionCounts:
        return self._session.counts

    def evidence(
        self,
        target: int,
        questions: Sequence[Question],
        *,
        wants_bits: bool = True,
        is_conservative: bool = False,
    ) -> list[dict[int, float]]:
        if is_conservative:
            return self._session.confirmed_strengths(target, questions)
        if wants_bits:
            return self._session.strengths(target, questions)
        return [dict.fromkeys(own, math.inf) for own in self._session.ask(target, questions)]

    def first_witness(
        self, target: int, queries: Sequence[Query], pool: Variables, max_separator: int
    ) -> Witness | None:
        branches = [
            Branch(query.group, frozenset(query.candidates) - query.group, query.n_allies)
            for query in queries
        ]
        found = self._session.separators.witnesses(
            target, branches, pool, max_separator, one_is_enough=True
        )
        if not found:
            return None
        first = min(found)
        return Witness(first.branch, first.candidate, found[first])

    def weakest(
        self,
        target: int,
        bits: Mapping[int, float],
        pool: Variables | Mapping[int, Variables],
        max_size: int,
        *,
        min_size: int = 0,
        core: Variables = EMPTY,
        wants_bits: bool = True,
        is_in_turn: bool = False,
    ) -> tuple[dict[int, float], dict[int, Variables]]:
        if isinstance(pool, Mapping) and len(set(pool.values())) == 1:
            [pool] = set(pool.values())
        if isinstance(pool, Mapping):
            return self._weakest_in_pools(target, bits, pool, max_size, core)
        if wants_bits and not (is_in_turn or min_size):
            return self._session.separators.weakest(target, bits, pool, max_size, core=core)
        if is_in_turn:
            separated = self._session.separate_in_turn(
                target, list(bits), pool, max_size, min_size=min_size, core=core
            )
            first = list(bits)[len(separated) : len(separated) + 1]
            return {x: bits[x] for x in first}, separated
        separated = self._session.separators.find(
            target, bits.keys(), pool, max_size, min_size=min_size, core=core
        )
        return {x: own for x, own in bits.items() if x not in separated}, separated

    def _weakest_in_pools(
        self,
        target: int,
        bits: Mapping[int, float],
        pools: Mapping[int, Variables],
        max_size: int,
        core: Variables,
    ) -> tuple[dict[int, float], dict[int, Variables]]:
        least, separated = dict(bits), dict[int, Variables]()
        for size in range(max_size + 1):
            tests = [
                (x, core | given)
                for x, pool in pools.items()
                if x in least
                for given in subsets(pool, size, size)
            ]
            for first in range(0, len(tests), _MOST_TESTS):
                some = tests[first : first + _MOST_TESTS]
                for (x, given), own in zip(some, self._weigh(target, some), strict=True):
                    if own:
                        least[x] = min(least.get(x, own), own)
                    else:
                        separated.setdefault(x, given)
            least = {x: own for x, own in least.items() if x not in separated}
        return least, separated

    def _weigh(self, target: int, tests: Sequence[Dependence]) -> list[float]:
        by_given: dict[Variables, set[int]] = {}
        for x, given in tests:
            by_given.setdefault(given, set()).add(x)
        questions = [(asked, given) for given, asked in by_given.items()]
        answers = dict(zip(by_given, self._session.strengths(target, questions), strict=True))
        return [answers[given].get(x, 0.0) for x, given in tests]

    def strong(
        self,
        target: int,
        asked: Sequence[Question] | AllSets,
        least_bits: float,
        *,
        is_conservative: bool = False,
        on_progress: OnProgress | None = None,
    ) -> list[StrongDependence]:
        if isinstance(asked, AllSets) and not is_conservative:
            return self._swept(target, asked, on_progress)
        if isinstance(asked, AllSets):
            return self._session.strong_dependences(
                target, asked.candidates, asked.pool, asked.size, least_bits,
                min_rows_per_cell=asked.min_rows_per_cell, on_progress=on_progress,
            )  # fmt: skip
        return self._session.strong_among(
            target, asked, least_bits, on_progress, is_confirmed=is_conservative
        )

    def _swept(
        self, target: int, asked: AllSets, on_progress: OnProgress | None
    ) -> list[StrongDependence]:
        for size in range(1, asked.size + 1):
            self._session.sweep(target, asked.candidates | asked.pool, size, on_progress)
        sets = list(subsets(asked.pool, asked.size, asked.size))
        answers = self._session.ask(target, [(asked.candidates, given) for given in sets])
        return [
            (math.inf, x, given) for given, some in zip(sets, answers, strict=True) for x in some
        ]

    def outcomes(self, target: int, tests: Sequence[Dependence]) -> list[Outcome]:
        return self._session.outcomes(target, tests)

    def can_detect(
        self,
        target: int,
        candidate: int,
        given: Variables,
        witness: Variables,
        power: contract.Power,
    ) -> bool:
        return self._session.can_detect(target, candidate, given, witness, Power(*power))

    def determines(self, given: Variables, variable: int, min_rows: float) -> bool:
        return self._session.determines(given, variable, min_rows=min_rows)

    def explained_shares(self, target: int, candidates: Sequence[int]) -> list[float]:
        return self._session.explained_shares(target, candidates)

    def trim(self, most_bytes: int | None = None) -> None:
        self._session.trim(most_bytes)


class _AnySum(CountedTest):
    """Wants what is asked for; what it would measure nobody asks."""

    def measure(self, sums: Any) -> Any:
        return sums


class CountingSession(SessionEngine, CountingEngine):
    """Counts tables for tests of a user's own."""

    def __init__(self, table: DiscreteTable) -> None:
        self._source = DataSession(table, _AnySum(TestOptions())).source
        super().__init__(Session(self._source))

    @property
    def codes(self) -> Any:
        return self._source._contingency(0).codes

    def count(
        self, target: int, tests: Sequence[Dependence], *, wants_pearson: bool, wants_lengths: bool
    ) -> Counted:
        test = self._source._test
        test.needs_tables = wants_pearson
        test.length_below = math.inf if wants_lengths else 0.0  # type: ignore[misc]
        by_given: dict[Variables, list[int]] = {}
        for place, (_, given) in enumerate(tests):
            by_given.setdefault(given, []).append(place)
        columns = [[tests[place][0] for place in places] for places in by_given.values()]
        order = np.concatenate(list(by_given.values()))
        found = self._source._sums(target, columns, [sorted(given) for given in by_given])
        sums = {name: np.empty(len(tests)) for name in Counted._fields}
        for name, old in zip(Counted._fields, _NAMES, strict=True):
            sums[name][order] = getattr(found, old)
        whole = {name: sums[name].astype(np.int64) for name in ("rows", "strata", "freedom")}
        return Counted(**(sums | whole))  # type: ignore[arg-type]


_NAMES = (
    "n_rows", "strata", "gain", "target_saving", "candidate_saving", "adjusted_freedom",
    "pearson", "pearson_mean", "pearson_variance", "pearson_third",
)  # fmt: skip
