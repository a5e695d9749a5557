"""Tests and searches say what they said when they were frozen."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.guards import calls, compare, freeze
from tests.guards.freeze import Table
from tests.guards.kinds import KINDS, Kind

EVERY_QUERY, EVERY_SEARCH = 15, 7
"""Of how many one is compared in every run of the tests; the rest takes minutes."""

TESTS = freeze.load_tests()
FROZEN = freeze.load_searches()

every_test = pytest.mark.parametrize("key", TESTS)
every_kind = pytest.mark.parametrize("name", KINDS)


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("kinds")

    @cache
    def make(name: str) -> Kind:
        return KINDS[name](Path(folder))

    return make


def searches_of(name: str) -> list[freeze.Search]:
    return [each for each in FROZEN["searches"] if each["kind"] == name]


@every_kind
def test_the_same_data_are_drawn(kinds: Any, name: str) -> None:
    """Or else nothing below says anything."""
    assert kinds(name).drawn == FROZEN["drawn"][name]


@every_test
def test_some_tests(kinds: Any, key: str) -> None:
    name, test = key.split("/")
    assert not compare.compare_tests(kinds(name), name, test, TESTS[key], EVERY_QUERY)


@pytest.mark.slow
@every_test
def test_all_tests(kinds: Any, key: str) -> None:
    name, test = key.split("/")
    assert not compare.compare_tests(kinds(name), name, test, TESTS[key])


@every_kind
def test_some_searches(kinds: Any, name: str) -> None:
    assert not compare.compare_searches(kinds(name), searches_of(name)[::EVERY_SEARCH])


@pytest.mark.slow
@every_kind
def test_all_searches(kinds: Any, name: str) -> None:
    assert not compare.compare_searches(kinds(name), searches_of(name))


@pytest.mark.parametrize("name", ["levels", "gaps", "stored", "numbers", "mixed"])
def test_a_single_test_says_the_same(kinds: Any, name: str) -> None:
    """By the public function, which opens an engine of its own."""
    kind = kinds(name)
    for place, (y, x, z) in enumerate(freeze.draw_queries(kind.names)[:5]):
        was = TESTS[f"{name}/auto"]
        assert isinstance(was, Table)
        statistic = calls.run_test(kind.data, x, y, z).statistic
        assert statistic is not None
        assert compare.is_close(was.numbers[0, place], statistic)


@pytest.mark.parametrize("test", calls.names_of_tests())
def test_a_lot_of_tests_decides_as_each_of_them_does(kinds: Any, test: str) -> None:
    kind = kinds("levels")
    for answer in calls.ask(kind.data, test, freeze.draw_queries(kind.names, 20)):
        assert answer.is_decided_so == answer.is_independent


def test_enough_is_frozen() -> None:
    tables = [table for table in TESTS.values() if isinstance(table, Table)]
    assert sum(table.flags.size for table in tables) >= 20_000
    assert len(FROZEN["searches"]) >= 400
    shares = [(table.flags >> 1 & 1).mean() for table in tables]
    assert 0.1 < sum(shares) / len(shares) < 0.9  # both answers are there


def test_a_difference_says_which_answer_it_is(kinds: Any) -> None:
    was = TESTS["levels/g"]
    assert isinstance(was, Table)
    numbers = was.numbers.copy()
    numbers[0, 0] *= 1 + 1e-8
    [said] = compare.compare_tests(
        kinds("levels"), "levels", "g", was._replace(numbers=numbers), 50
    )
    assert said.startswith("levels, test g, ")
    assert "statistic was" in said
    search = {**searches_of("levels")[0], "members": []}
    [said] = compare.compare_search(kinds("levels"), search)
    assert "members was [], is [[" in said
