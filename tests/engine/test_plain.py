"""The five questions as loops in Python: against naive loops, and how much is asked for them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.engine import plain
from komb.engine.engine import AllSets, Query, Witness
from komb.engine.questions import EMPTY, Variables, subsets
from komb.errors import ParameterError
from tests import naive
from tests.engine.random_answers import FunctionEngine, dice

SIZES_OF_BATCHES = [
    "SETS_AT_FIRST", "SETS_AT_MOST", "TESTS_AT_ONCE", "CANDIDATES_AT_FIRST", "CANDIDATES_AT_MOST",
    "SEPARATORS_REMEMBERED",
]  # fmt: skip

engines = given(st.integers(3, 9), st.integers(0, 10**6), st.sampled_from([0.01, 0.1, 0.4]))
thorough = settings(max_examples=100, deadline=None, derandomize=True)


def draw_set(items: Sequence[int], largest: int, rng: np.random.Generator) -> Variables:
    size = rng.integers(min(largest, len(items)) + 1)
    return frozenset(rng.permutation(np.array(items, int))[:size].tolist())


# ----------------------------------------------------------------------------------------- evidence


@thorough
@engines
def test_evidence_is_that_of_single_questions(n: int, seed: int, bias: float) -> None:
    rng, engine = np.random.default_rng(seed), dice(n, seed, bias)
    wanted: set[tuple[int, int, Variables]] = set()
    for _ in range(6):
        target = int(rng.integers(n))
        others = [v for v in range(n) if v != target]
        questions = [
            (draw_set(others, n, rng), draw_set(others, n, rng)) for _ in range(rng.integers(5))
        ]
        answers = engine.evidence(target, questions)
        for (candidates, condition), answer in zip(questions, answers, strict=True):
            tested = sorted(candidates - condition)
            expected = {x: engine.strength(target, x, condition) for x in tested}
            assert list(answer.items()) == [(x, bits) for x, bits in expected.items() if bits]
            wanted |= {(target, x, condition) for x in tested}
        assert engine.evidence(target, questions, is_conservative=True) == answers
        assert engine.work.tests == len(engine.asked) == len(set(engine.asked))
        assert set(engine.asked) == wanted


@pytest.mark.parametrize(
    ("target", "candidates", "condition"),
    [(9, {1}, EMPTY), (0, {9}, EMPTY), (0, {-1}, EMPTY), (0, {1}, frozenset({2, -7}))],
)
def test_variables_that_do_not_exist_are_refused(
    target: int, candidates: set[int], condition: Variables
) -> None:
    """By an error, not by a crash: algorithms may come from outside."""
    engine = dice(5, 0, 0.1)
    with pytest.raises(ParameterError):
        engine.evidence(target, [({1, 2}, EMPTY), (candidates, condition)])
    with pytest.raises(ParameterError):
        engine.outcome(target, min(candidates), condition)
    assert engine.work.tests == 0
    assert engine.evidence(0, [({1}, EMPTY)]) == dice(5, 0, 0.1).evidence(0, [({1}, EMPTY)])


def test_an_interrupted_question_is_asked_again() -> None:
    calls = iter([False, True])

    def strength(y: int, x: int, condition: Variables) -> float:
        if not next(calls, True):
            raise KeyboardInterrupt
        return 1.0

    engine = FunctionEngine(3, strength)
    with pytest.raises(KeyboardInterrupt):
        engine.evidence(0, [({1, 2}, EMPTY)])
    assert engine.work.tests == 0
    assert engine.evidence(0, [({1, 2}, EMPTY)]) == [{1: 1.0, 2: 1.0}]


# ---------------------------------------------------------------------------------- first witnesses


def first_witness_naively(
    engine: FunctionEngine, queries: Sequence[Query], pool: Variables, most: int
) -> Witness | None:
    for number, (candidates, group, n_allies) in enumerate(queries):
        for x in candidates:
            for allies in naive.steps.subsets(pool - group - {x}, n_allies):
                z = group | allies
                is_shown = x not in z and not engine.independent(0, x, z)
                if is_shown and naive.komb.no_seps(engine, 0, x, z, pool, most):
                    return Witness(number, x, z)
    return None


def draw_queries(n: int, rng: np.random.Generator) -> list[Query]:
    others = list(range(1, n))
    return [
        Query(
            rng.permutation(sorted(draw_set(others, n, rng))).tolist(),
            draw_set(others, 2, rng),
            int(rng.integers(3)),
        )
        for _ in range(rng.integers(6))
    ]


def check_first_witness(engine: FunctionEngine, rng: np.random.Generator) -> None:
    """The same and new queries, with whatever pools: memory must not change an answer."""
    n = engine.n_variables
    queries = draw_queries(n, rng)
    for _ in range(5):
        mixed = [*queries, *draw_queries(n, rng)]
        pool, most = draw_set(range(1, n), n, rng), int(rng.integers(4))
        expected = first_witness_naively(engine, mixed, pool, most)
        assert engine.first_witness(0, mixed, pool, most) == expected
    assert len(engine.asked) == len(set(engine.asked)) == engine.work.tests


@thorough
@engines
def test_the_first_witness_is_that_of_the_naive_loop(n: int, seed: int, bias: float) -> None:
    check_first_witness(dice(n, seed, bias), np.random.default_rng(seed))


@pytest.mark.parametrize("seed", range(60))
def test_sizes_of_batches_do_not_matter(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    for constant in SIZES_OF_BATCHES:
        size = [1, 2, 3, 10**6][seed] if seed < 4 else int(rng.choice([1, 2, 3, 10**6]))
        monkeypatch.setattr(plain, constant, size)
    engine = dice(8, seed, float(rng.choice([0.05, 0.2, 0.5])))
    check_first_witness(engine, rng)
    check_weakest(engine, rng)


def explained_by(explanation: int, n: int) -> FunctionEngine:
    """Everything depends unless one variable is given."""
    return FunctionEngine(n, lambda _y, _x, z: float(explanation not in z))


def test_what_explained_a_candidate_before_is_tried_first() -> None:
    """The last of many separators is looked for once; then one test a witness is enough."""
    engine, pool = explained_by(21, 22), frozenset(range(12, 22))
    query = Query([1], EMPTY, 1)
    assert engine.first_witness(0, [query], pool, 2) is None
    n_separators, n_witnesses = math.comb(10, 2) + 11, 11
    assert len(engine.asked) <= n_separators + 2 * n_witnesses + plain.SETS_AT_FIRST
    before = len(engine.asked)
    groups = [frozenset({z}) for z in range(2, 12)]
    assert engine.first_witness(0, [Query([1], group) for group in groups], pool, 2) is None
    assert len(engine.asked) - before <= 2 * len(groups) + plain.SETS_AT_FIRST


def test_one_success_is_enough() -> None:
    """Of very many candidates only the first few are looked at for separators."""
    engine = FunctionEngine(60, lambda *_: 1.0)
    query = Query(range(1, 50), EMPTY)
    found = engine.first_witness(0, [query] * 60, frozenset(range(50, 60)), 1)
    assert found == Witness(0, 1, EMPTY)
    assert len(engine.asked) < 49 + 4 * 11


def test_witnesses_that_one_set_separates_are_dismissed_together() -> None:
    engine, pool = explained_by(59, 60), frozenset(range(2, 60))
    assert engine.first_witness(0, [Query([1], EMPTY, 1)], pool, 1) is None
    assert len(engine.batches) < 20
    assert len(engine.asked) < 4 * len(pool)


# ----------------------------------------------------------------------------------------- weakest


def check_weakest(engine: FunctionEngine, rng: np.random.Generator) -> None:
    others = np.arange(1, engine.n_variables)
    for _ in range(4):
        core = draw_set(others.tolist(), 2, rng)
        bits = {
            int(x): float(rng.choice([0.5, 2.0, 9.0]))
            for x in rng.permutation(others)[: rng.integers(1, len(others) + 1)]
            if x not in core
        }
        pools = {x: draw_set(others.tolist(), 9, rng) for x in bits}
        pool: Variables | dict[int, Variables] = pools
        if rng.random() < 0.5:
            pool = draw_set(others.tolist(), 9, rng)
            pools = dict.fromkeys(bits, pool)
        least, most, in_turn = int(rng.integers(3)), int(rng.integers(-1, 5)), rng.random() < 0.5
        before = dict(bits)
        weakest, separated = engine.weakest(
            0, bits, pool, most, min_size=least, core=core, is_in_turn=in_turn
        )
        assert bits == before  # what was passed in is left alone
        expected: tuple[dict[int, float], dict[int, Variables]] = {}, {}
        for x, own in bits.items():
            sets = [core | z for z in subsets(pools[x] - core - {x}, most, least)]
            separator = next((z for z in sets if engine.independent(0, x, z)), None)
            if separator is not None:
                expected[1][x] = separator
                continue
            expected[0][x] = min([own, *(engine.strength(0, x, z) for z in sets)])
            if in_turn:
                break
        assert (weakest, separated) == expected


@thorough
@engines
def test_the_weakest_evidence_is_the_least_of_all(n: int, seed: int, bias: float) -> None:
    check_weakest(dice(n, seed, bias), np.random.default_rng(seed))


def test_what_is_given_cannot_be_separated() -> None:
    engine = FunctionEngine(4, lambda *_: 0.0)
    assert engine.weakest(0, {1: 2.0}, frozenset({2, 3}), 2, core=frozenset({1})) == ({1: 2.0}, {})
    assert engine.separators(0, [1, 2], frozenset({3}), 1) == {1: EMPTY, 2: EMPTY}
    held = frozenset({1})
    assert engine.separators(0, [2], frozenset({3}), 1, core=held) == {2: held}


def test_little_is_asked_beyond_a_separator() -> None:
    """The empty set separates: what is tried beyond it fills one batch, not the whole pool."""
    engine = FunctionEngine(30, lambda *_: 0.0)
    assert engine.separators(0, [1], frozenset(range(2, 30)), 3) == {1: EMPTY}
    assert engine.work.tests <= plain.SETS_AT_FIRST


def test_many_candidates_are_asked_about_together() -> None:
    engine = FunctionEngine(40, lambda *_: 1.0)
    least, _ = engine.weakest(0, dict.fromkeys(range(1, 31), 2.0), frozenset(range(31, 40)), 2)
    assert least == dict.fromkeys(range(1, 31), 1.0)
    assert len(engine.batches) < 20
    assert max(map(len, engine.batches)) <= plain.TESTS_AT_ONCE


# ------------------------------------------------------------------------------ strong dependences


@thorough
@engines
def test_strong_dependences(n: int, seed: int, bias: float) -> None:
    rng, engine = np.random.default_rng(seed), dice(n, seed, bias, sides=9)
    candidates, pool = (draw_set(range(1, n), n, rng) for _ in range(2))
    size, bits = int(rng.integers(3)), float(rng.choice([1.0, 5.0, 8.0]))
    questions = [(candidates, z) for z in subsets(pool, size, size)]
    expected = [
        (own, x, z)
        for _, z in questions
        for x in candidates - z
        if (own := engine.strength(0, x, z)) >= bits
    ]
    expected.sort(key=lambda each: (-each[0], each[1], sorted(each[2])))
    seen: list[tuple[int, int]] = []

    def note(done: int, total: int) -> None:
        seen.append((done, total))

    assert engine.strong(0, questions, bits, on_progress=note) == expected
    assert engine.strong(0, questions, bits, is_conservative=True) == expected
    everything = AllSets(candidates, pool, size)
    assert engine.strong(0, everything, bits, on_progress=note) == expected
    assert all(done < total for done, total in seen)


class Sampled(FunctionEngine):
    """As if from 100 rows of variables with 2, 3, 4, ... levels, whose bits are doubted."""

    n_rows = 100

    @property
    def n_levels(self) -> list[int]:
        return list(range(2, 2 + self.n_variables))

    def conservative_evidence(self, target, questions):  # type: ignore[no-untyped-def]
        return [
            {x: bits / 2 for x, bits in row.items()} for row in self.evidence(target, questions)
        ]


def test_strong_dependences_of_large_tables_and_of_bits_in_doubt() -> None:
    engine = Sampled(5, lambda y, x, z: 2.0 + 2 * x, fixed=frozenset({1}))
    everything = AllSets(frozenset({2, 3, 4}), frozenset({2, 3, 4}), 1, min_rows_per_cell=0.75)
    found = engine.strong(0, everything, 4.0)
    assert engine.n_strata == 3
    # cells: 2 of the target, 3 of the covariate, and 4 x 5, 4 x 6 or 5 x 6 of the pair; at most 133
    assert found == [(8.0, 3, frozenset({2})), (6.0, 2, frozenset({3}))]
    assert engine.strong(0, everything, 4.0, is_conservative=True) == found[:1]
    assert engine.strong(0, [({2, 3, 4}, EMPTY)], 8.0) == [(10.0, 4, EMPTY), (8.0, 3, EMPTY)]
    assert engine.strong(0, [({2, 3, 4}, EMPTY)], 4.5, is_conservative=True) == [(10.0, 4, EMPTY)]


# --------------------------------------------------------------------------------------- covariates


@thorough
@engines
def test_covariates_are_added_to_each_condition(n: int, seed: int, bias: float) -> None:
    rng, plain_engine = np.random.default_rng(seed), dice(n + 2, seed, bias)
    fixed, others = frozenset({n, n + 1}), frozenset(range(1, n))

    def strength(y: int, x: int, z: Variables) -> float:
        return plain_engine.strength(y, x, z | fixed)

    held, added = FunctionEngine(n + 2, plain_engine.strength, fixed), FunctionEngine(n, strength)
    questions = [(others, z) for z in subsets(others, 2)]
    assert held.evidence(0, questions) == added.evidence(0, questions)
    assert all(fixed <= z for _, _, z in held.asked)
    bits = dict.fromkeys(sorted(others), 9.0)
    assert held.weakest(0, bits, others, 2) == added.weakest(0, bits, others, 2)
    queries, pool = draw_queries(n, rng), draw_set(sorted(others), n, rng)
    assert held.first_witness(0, queries, pool, 2) == added.first_witness(0, queries, pool, 2)
    everything = AllSets(others, others, 1)
    assert held.strong(0, everything, 2.0) == added.strong(0, everything, 2.0)
    tests = [(x, z) for x in sorted(others) for z in subsets(others - {x}, 1)]
    assert held.outcomes(0, tests) == added.outcomes(0, tests)
    assert held.n_strata == added.n_strata == 1


# ------------------------------------------------------------------------------------------ memory


@pytest.mark.parametrize("remembered", [0, 1, 1000, 10**4])
def test_answers_survive_forgetting(remembered: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain, "REMEMBERED_BYTES", remembered)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        engine = dice(8, seed, float(rng.choice([0.05, 0.2, 0.6])))
        check_weakest(engine, rng)
        queries, pool = draw_queries(8, rng), draw_set(range(1, 8), 8, rng)
        expected = first_witness_naively(engine, queries, pool, 2)
        assert engine.first_witness(0, queries, pool, 2) == expected
        questions = [(frozenset(range(1, 8)), z) for z in subsets(range(1, 8), 3)] * 2
        fresh = dice(8, seed, 0.0)
        fresh._strength = engine.strength
        assert engine.evidence(0, questions) == [fresh.evidence(0, [q])[0] for q in questions]


def test_the_oldest_are_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    a_set = plain.SET_BYTES + plain.TEST_BYTES
    monkeypatch.setattr(plain, "REMEMBERED_BYTES", 10 * a_set)
    engine = dice(12, 0, 0.1)
    for z in range(2, 12):
        engine.is_dependent(0, 1, frozenset({z}))
    engine.is_dependent(0, 1, frozenset({2}))
    assert engine.work.tests == 10  # ten fit
    engine.is_dependent(0, 1, EMPTY)
    for z in (11, 10, 9, 8):
        engine.is_dependent(0, 1, frozenset({z}))
    assert engine.work.tests == 11  # the latest are still there
    engine.is_dependent(0, 1, frozenset({2}))
    assert engine.work.tests == 12  # the first is not


def test_targets_of_long_ago_are_forgotten_first_and_only_as_many_as_must() -> None:
    engine = dice(5, 0, 0.1)
    for target in (0, 1, 2, 3, 4, 0):
        engine.evidence(target, [(frozenset(range(5)) - {target}, EMPTY)])
    assert engine.work.tests == 20
    engine.trim()
    engine.trim(2 * (plain.SET_BYTES + 4 * plain.TEST_BYTES))
    for target in (0, 4):
        engine.evidence(target, [(frozenset(range(5)) - {target}, EMPTY)])
    assert engine.work.tests == 20
    engine.evidence(3, [(frozenset({1}), EMPTY)])
    assert engine.work.tests == 21
    engine.trim(0)
    engine.evidence(3, [(frozenset({1}), EMPTY)])
    assert engine.work.tests == 22
