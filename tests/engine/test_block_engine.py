"""What is answered from counted blocks is what is answered from rows, to the last bit."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import komb
from komb.citests.contract import RuleTest
from komb.citests.registry import make_test
from komb.data.table import DiscreteTable
from komb.engine import block_engine, blocks
from komb.engine.block_engine import BlockEngine
from komb.engine.engine import AllSets, Engine, Power, Query
from komb.engine.questions import EMPTY, Variables
from komb.engine.rule import Rule
from komb.engine.table import TableEngine
from komb.engine.threads import use_threads
from komb.errors import MemoryLimitError
from tests.citests.kinds import RULE_TESTS
from tests.engine.tables import make_table

KINDS: list[int | str] = [2, 3, "copy", 4, "parity", 3, 2, 6]
EVERYTHING: Variables = frozenset(range(len(KINDS)))


def draw(n_rows: int, share: float, seed: int) -> DiscreteTable:
    """Draw a table in which so many values are missing."""
    codes = make_table(KINDS, n_rows, seed).codes.T.astype(np.int64)
    gone = np.random.default_rng(seed).random(codes.shape) < share
    return DiscreteTable.from_codes(np.where(gone, -1, codes), missing="testwise")


def open_both(table: DiscreteTable, test: str, fixed: Variables = EMPTY) -> tuple[Any, Any]:
    rule = rule_of(test)
    return TableEngine.open(table, rule, fixed), BlockEngine(table, rule, fixed)


def rule_of(test: str) -> Rule:
    made = make_test(test, "observed", 0, alpha=0.01)
    assert isinstance(made, RuleTest)
    return made.rule(0.01)


def questions(target: int) -> list[tuple[Variables, Variables]]:
    sets = [(), (1,), (1, 3), (2, 4, 5), (1, 2, 3, 4)]
    given = [frozenset((target + step) % len(KINDS) for step in steps) for steps in sets]
    return [(EVERYTHING - own - {target}, own) for own in given]


def check(rows: Engine, counted: Engine, target: int) -> None:
    options: Any
    for options in ({}, {"wants_bits": False}, {"is_conservative": True}):
        asked: Any = (target, questions(target))
        found = counted.evidence(*asked, **options)
        expected = rows.evidence(*asked, **options)
        if options.get("wants_bits", True):
            assert found == expected
        assert [set(own) for own in found] == [set(own) for own in expected]
    pool = EVERYTHING - {target}
    bits = dict.fromkeys(sorted(pool), math.inf)
    how: Any
    for how in ({}, {"is_in_turn": True}, {"min_size": 1}):
        weakest: Any = (target, bits, pool, 2)
        assert counted.weakest(*weakest, **how) == rows.weakest(*weakest, **how)
    pools = {x: pool - {x} for x in bits}
    assert counted.weakest(target, bits, pools, 1) == rows.weakest(target, bits, pools, 1)
    groups = [EMPTY, *(frozenset({x}) for x in sorted(pool))]
    queries = [Query(sorted(pool - group), group, 1) for group in groups]
    for begin in range(0, len(queries), 3):
        witness: Any = (target, queries[begin:], pool, 2)
        assert counted.first_witness(*witness) == rows.first_witness(*witness)
    tests = [(x, given) for candidates, given in questions(target) for x in sorted(candidates)]
    assert counted.outcomes(target, tests) == rows.outcomes(target, tests)
    assert counted.explained_shares(target, sorted(pool)) == rows.explained_shares(
        target, sorted(pool)
    )
    for _, given in questions(target)[1:]:
        candidate = min(pool - given)
        for power in (Power(0.5, 0.25, 20.0), Power(0.1, 0.1, 5.0)):
            detect: Any = (target, candidate, given, EMPTY, power)
            assert counted.can_detect(*detect) == rows.can_detect(*detect)
        for least in (1.0, 5.0):
            assert counted.determines(given, target, least) == rows.determines(given, target, least)


@pytest.mark.parametrize("share", [0.0, 0.05])
@pytest.mark.parametrize("test", RULE_TESTS)
def test_five_questions(test: str, share: float) -> None:
    rows, counted = open_both(draw(700, share, 3), test)
    for target in (0, 3, 4):
        check(rows, counted, target)


@pytest.mark.parametrize("test", RULE_TESTS)
def test_sweeps(test: str) -> None:
    rows, counted = open_both(draw(700, 0.03, 4), test)
    pool = EVERYTHING - {4}
    for size in (1, 2):
        for options in ({}, {"is_conservative": True}):
            asked: Any = (4, AllSets(pool, pool, size), 5.0)
            found = counted.strong(*asked, **options)
            assert found == rows.strong(*asked, **options)
            assert found
    listed = [(pool - {1}, frozenset({1})), (pool, EMPTY)]
    assert counted.strong(4, listed, 3.0) == rows.strong(4, listed, 3.0)


@pytest.mark.parametrize("test", ["g-sci", "auto"])
@pytest.mark.parametrize("cells", [0, 3, 200])
def test_large_blocks(test: str, cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks whose combinations are listed, or gone through as rows."""
    monkeypatch.setattr(block_engine, "MOST_BLOCK_CELLS", cells)
    monkeypatch.setattr("komb.engine.joint_counts.MOST_DENSE_CELLS", 10 * cells)
    for share in (0.0, 0.05):
        check(*open_both(draw(300, share, 5), test), target=3)


def test_few_words_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few tests are noted before they are counted, a loop comes to its end."""
    monkeypatch.setattr(block_engine, "FIRST_WORDS", 1)
    monkeypatch.setattr(block_engine, "MOST_WORDS_NOTED", 1)
    check(*open_both(draw(200, 0.0, 6), "g"), target=4)


def test_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "LEAST_BYTES", 0)
    monkeypatch.setattr(blocks, "SHARE", 1e-9)
    check(*open_both(draw(200, 0.0, 7), "auto"), target=4)


def test_covariates() -> None:
    table = draw(700, 0.0, 8)
    rows, counted = open_both(table, "auto", frozenset({1}))
    asked = [(EVERYTHING - {1, 4} - given, given) for given in (EMPTY, frozenset({3}))]
    assert counted.evidence(4, asked) == rows.evidence(4, asked)
    assert counted.n_strata == rows.n_strata == 3


@pytest.mark.parametrize("threads", [1, 3])
def test_on_disk(tmp_path: Path, threads: int) -> None:
    table = draw(5000, 0.02, 9)
    komb.encode(table, tmp_path / "t.komb")
    stored = komb.read_table(tmp_path / "t.komb", memory_limit=1000)
    assert not stored.is_in_memory
    rows, _ = open_both(table, "auto")
    counted = BlockEngine(stored, rule_of("auto"))
    with use_threads(threads):
        check(rows, counted, target=4)
    with pytest.raises(MemoryLimitError):
        _ = stored.codes
