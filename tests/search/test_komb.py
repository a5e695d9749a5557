"""kOMB against its naive twin: the same blankets and the same witnesses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.data.models.bayesian_network import DiscreteNetwork
from komb.data.models.boolean_functions import BOOLEAN_FUNCTIONS, boolean_table
from komb.data.table import DiscreteTable
from komb.engine.engine import Engine, Query, Witness
from komb.engine.questions import Variables, subsets
from komb.search import komb as algorithm
from komb.search.komb import find_blanket
from komb.search.task import Progress, Task
from tests import naive
from tests.citests.kinds import EVERY_TEST
from tests.engine.answers import Answers, Coin
from tests.engine.engines import on_table, recorder
from tests.engine.tables import ANY_KIND, columns_of, make_table
from tests.search.running import Witnesses, tasks

every_test = pytest.mark.parametrize(("test", "df"), EVERY_TEST)


def search(
    table: DiscreteTable, target: int, k: int, most: int, test: str = "g-sci", **options: Any
) -> Witnesses:
    """Find the blanket of ``target`` among all other columns."""
    engine = on_table(table, test, **options)
    task = Task(target, frozenset(range(table.n_columns)) - {target})
    return dict(find_blanket(engine, task, order=k, max_separator=most).witnesses)


def search_naively(
    table: DiscreteTable, target: int, k: int, most: int, test: str = "g-sci", **options: Any
) -> Witnesses:
    session = naive.sessions.DataSession(columns_of(table), test, **options)
    return naive.komb.komb(session, range(table.n_columns), target, k, most)


# ------------------------------------------------------------------------------------ random tables


@every_test
@settings(max_examples=30, deadline=None, derandomize=True)
@given(tasks(), st.integers(0, 3), st.integers(0, 3), st.sampled_from([0.01, 0.2]))
def test_random_tables(
    test: str, df: str, drawn: tuple[DiscreteTable, Task], k: int, most: int, alpha: float
) -> None:
    """A level of 0.2 makes many false alarms, and so more work for every phase."""
    table, task = drawn
    engine = on_table(table, test, alpha=alpha, df=df)
    found = find_blanket(engine, task, order=k, max_separator=most).witnesses
    twin = naive.komb.komb(
        naive.sessions.DataSession(columns_of(table), test, alpha, df),
        task.candidates,
        task.target,
        k,
        most,
        task.start,
        task.include,
    )
    assert found == twin
    assert list(found) == sorted(found)
    assert task.include <= found.keys() <= task.candidates


@settings(max_examples=30, deadline=None, derandomize=True)
@given(tasks(kinds=ANY_KIND), st.integers(0, 2), st.integers(0, 2))
def test_random_tables_with_many_levels(
    drawn: tuple[DiscreteTable, Task], k: int, most: int
) -> None:
    table, task = drawn
    found = find_blanket(on_table(table), task, order=k, max_separator=most).witnesses
    twin = naive.sessions.DataSession(columns_of(table))
    assert found == naive.komb.komb(
        twin, task.candidates, task.target, k, most, task.start, task.include
    )


@pytest.mark.parametrize("seed", range(150))
def test_answers_that_are_pure_chance(seed: int) -> None:
    """No distribution would answer like this: every branch of the search is taken."""
    rng = np.random.default_rng(seed)
    n, bias = int(rng.integers(3, 9)), float(rng.choice([0.3, 0.6, 0.8, 0.9, 0.95]))
    k, most = int(rng.integers(0, 4)), int(rng.integers(0, 4))
    free = frozenset(range(1, n))
    start = frozenset(x for x in free if rng.random() < 0.15)
    include = frozenset(x for x in free if rng.random() < 0.1)
    coin = Coin(n, seed, bias)
    found = find_blanket(coin, Task(0, free, start, include), order=k, max_separator=most)
    assert found.witnesses == naive.komb.komb(coin, free, 0, k, most, start, include)
    assert len(coin.asked) == len(set(coin.asked)) == coin.work.tests


class Together(Coin):
    """Hardly anything depends unless so many others are given; little separates it then."""

    def __init__(self, n_variables: int, seed: int, n_others: int, bias: float) -> None:
        super().__init__(n_variables, seed, bias)
        self.n_others = n_others
        self._answers: dict[tuple[int, int, frozenset[int]], bool] = {}

    def independent(self, y: int, x: int, given: frozenset[int]) -> bool:
        key = (y, x, given)
        if key not in self._answers:  # the twin asks again and again
            surprise = np.random.default_rng([self.seed, y, x, *sorted(given)]).random()
            size = len(given)
            bias = 0.97 if size < self.n_others else self.bias if size == self.n_others else 0.1
            self._answers[key] = bool(surprise < bias)
        return self._answers[key]


def grow(engine: Engine, task: Task, k: int, most: int) -> tuple[list[tuple[int, ...]], Witnesses]:
    """Every blanket on the way up, and the witnesses in the last one."""
    blankets: list[tuple[int, ...]] = []
    first = task.start | task.include

    def observe(progress: Progress) -> None:
        is_larger = set(progress.blanket) > set(blankets[-1] if blankets else first)
        if progress.phase == "grow" and is_larger:
            blankets.append(progress.blanket)

    task = Task(task.target, task.candidates, task.start, task.include, observe)
    found = find_blanket(engine, task, order=k, max_separator=most)
    return blankets, dict(found.witnesses)


def grow_naively(
    session: naive.sessions.Session, task: Task, k: int, most: int
) -> tuple[list[tuple[int, ...]], Witnesses]:
    y, free, s = task.target, task.candidates, task.start | task.include
    blankets: list[tuple[int, ...]] = []
    while found := naive.komb.find_inter_dep(session, free, y, frozenset(), s, free - s, k, most):
        s = s | found
        blankets.append(tuple(sorted(s)))
    return blankets, naive.komb.komb(session, free, y, k, most, task.start, task.include)


def draw_together(seed: int, sizes: tuple[int, int]) -> tuple[Together, Task, int, int]:
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(*sizes)), int(rng.integers(1, 4))
    bias = float(rng.choice([0.7, 0.85, 0.95]))
    free = frozenset(range(1, n))
    start = frozenset(x for x in free if rng.random() < 0.1)
    include = frozenset(x for x in free if rng.random() < 0.1)
    coin = Together(n, seed, int(rng.integers(1, k + 1)), bias)
    return coin, Task(0, free, start, include), k, int(rng.integers(0, 3))


@pytest.mark.parametrize("size", [None, 1, 2, 3, 10**6])
def test_groups_enter_in_the_order_of_the_tree(
    size: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Large groups, many restarts, and whatever is asked about together."""
    if size is not None:
        monkeypatch.setattr(algorithm, "_GROUPS_AT_ONCE", size)
    n_restarts = 0
    for seed in range(60):
        coin, task, k, most = draw_together(seed, (4, 9))
        expected = grow_naively(coin, task, k, most)
        assert grow(coin, task, k, most) == expected, seed
        assert len(coin.asked) == len(set(coin.asked)) == coin.work.tests
        n_restarts += len(expected[0])
    assert n_restarts > 100


def test_more_groups_than_are_looked_at_together() -> None:
    for seed in range(12):
        coin, task, k, most = draw_together(seed, (12, 14))
        assert grow(coin, task, k, most) == grow_naively(coin, task, k, most), seed


# -------------------------------------------------------------------------------- real structure


@pytest.mark.parametrize("function", BOOLEAN_FUNCTIONS)
@pytest.mark.parametrize(("k", "most"), [(0, 3), (1, 1), (2, 3), (3, 2)])
def test_boolean_functions(function: str, k: int, most: int) -> None:
    table = boolean_table(function, 100, n_irrelevant=3, seed=7)
    for target in (3, 0):
        assert search(table, target, k, most) == search_naively(table, target, k, most)


@pytest.mark.parametrize("function", ["parity", "ex-1", "ex-2"])
def test_a_hundred_rows_are_enough_at_order_two(function: str) -> None:
    """The paper's table: the whole blanket, nothing else, for every target."""
    for seed in range(5):
        table = boolean_table(function, 100, seed=seed)
        for target in range(4):
            assert set(search(table, target, 2, 3)) == set(range(4)) - {target}


@pytest.mark.parametrize(("k", "most"), [(0, 1), (1, 1), (1, 2), (2, 2)])
@pytest.mark.parametrize("seed", [2, 6])
def test_samples_of_random_networks(k: int, most: int, seed: int) -> None:
    network = DiscreteNetwork.random(10, degree=3, concentration=0.3, seed=seed)
    table = network.sample(500, seed)
    sizes = []
    for target in (0, 4, 8):
        found = search(table, target, k, most)
        assert found == search_naively(table, target, k, most)
        sizes.append(len(found))
    assert max(sizes) > 2  # not a test of empty sets


# --------------------------------------------------------------------------------- bounds and roles


def test_without_separators_every_dependence_counts() -> None:
    """At order 0 with max_separator 0: exactly the marginal dependences."""
    for seed in range(10):
        table = make_table([2, 3, "parity", "copy", 2, 2], 80, seed)
        engine = on_table(table, alpha=0.1)
        others = frozenset(range(1, table.n_columns))
        found = find_blanket(engine, Task(0, others), order=0, max_separator=0).witnesses
        marginal = engine.dependents(0, others, frozenset())
        assert found == dict.fromkeys(marginal, frozenset())


@pytest.mark.parametrize("k", [0, 1, 2, 3])
def test_order_beyond_the_table(k: int) -> None:
    """More witnesses allowed than there are columns."""
    for n_columns in (1, 2):
        kinds: list[int | str] = [2, 2, "parity"]
        table = make_table(kinds[-n_columns - 1 :], 100, seed=0)
        assert search(table, 0, k, 3) == search_naively(table, 0, k, 3)


def test_fixed_members_stay_and_say_why() -> None:
    """An irrelevant member by request has no witness, unlike one found, and is never dropped."""
    table = boolean_table("parity", 500, n_parents=2, n_irrelevant=1, seed=0)
    task = Task(2, frozenset({0, 1, 3}), include=frozenset({3}))
    found = find_blanket(on_table(table), task, order=1).witnesses
    xor = {0: frozenset({1}), 1: frozenset({0})}
    assert found == xor | {3: None}
    dropped = Task(2, frozenset({0, 1, 3}), start=frozenset({3}))
    assert find_blanket(on_table(table), dropped, order=1).witnesses == xor


def test_what_is_left_out_is_never_conditioned_on() -> None:
    table = boolean_table("parity", 500, n_parents=2, seed=0)
    asked = recorder(table)
    assert find_blanket(asked, Task(2, frozenset({0})), order=2).witnesses == {}
    assert all(z <= {0} and x == 0 for _, x, z in asked.asked)


# -------------------------------------------------------------------------------------------- work


def full_sweep(n: int, k: int) -> int:
    """Tests of each of n candidates given each set of up to k others."""
    return n * sum(math.comb(n - 1, size) for size in range(k + 1))


def check_work(table: DiscreteTable, task: Task, k: int, most: int, **options: Any) -> int:
    """Nothing twice; one sweep and, for each dependence it brings up, the separators.

    A follow-up test adds a separator out of the blanket to a condition of at most k variables: one
    that showed a dependence, or one of those that make_strict looks at, at most k for each group.
    """
    reports: list[Progress] = []
    task = Task(task.target, task.candidates, task.start, task.include, reports.append)
    asked = recorder(table, **options)
    find_blanket(asked, task, order=k, max_separator=most)
    assert asked.work.tests == len(asked.asked) == len(set(asked.asked))
    assert reports[-1].tests <= asked.work.tests

    n = len(task.candidates)
    largest = max([len(task.start | task.include), *(len(report.blanket) for report in reports)])
    n_groups = len({report.blanket for report in reports if report.phase == "grow"})
    short = {test for test in asked.asked if len(test[2]) <= k}
    n_dependent = sum(asked.is_dependent(y, x, z) for y, x, z in short)
    separators = sum(math.comb(largest, size) for size in range(1, most + 1))
    assert len(short) <= full_sweep(n, k)
    assert len(asked.asked) >= len(short)
    follow_up = len(set(asked.asked)) - len(short)
    assert follow_up <= (n_dependent + k * n_groups) * separators
    return len(short)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(tasks(), st.integers(0, 3), st.integers(0, 3), st.sampled_from([0.01, 0.2]))
def test_work_on_random_tables(
    drawn: tuple[DiscreteTable, Task], k: int, most: int, alpha: float
) -> None:
    table, task = drawn
    check_work(table, task, k, most, alpha=alpha)


@pytest.mark.parametrize("k", [0, 1, 2])
def test_work_on_a_network(k: int) -> None:
    """One sweep in all, not one for each member found."""
    network = DiscreteNetwork.random(12, degree=3, concentration=0.3, seed=5)
    table = network.sample(800, seed=1)
    for target in (0, 3, 6, 9):
        check_work(table, Task(target, frozenset(range(12)) - {target}), k, 2)


def test_work_where_there_is_nothing_to_find() -> None:
    """Coins: the sweep and nothing else."""
    asked = recorder(make_table([2] * 12, 2000, seed=3), alpha=1e-6)
    task = Task(0, frozenset(range(1, 12)))
    assert find_blanket(asked, task, order=2, max_separator=2).witnesses == {}
    assert asked.work.tests == full_sweep(11, 2)


class Pairs(Answers):
    """The first variables depend if, and only if, the other of their pair is given."""

    def __init__(self, n_variables: int, n_pairs: int) -> None:
        super().__init__(n_variables)
        self.n_pairs = n_pairs
        self.groups: list[Variables] = []

    def independent(self, y: int, x: int, given: Variables) -> bool:
        del y
        return x >= 2 * self.n_pairs or x ^ 1 not in given

    def first_witness(
        self, target: int, queries: Sequence[Query], pool: Variables, max_separator: int
    ) -> Witness | None:
        found = super().first_witness(target, queries, pool, max_separator)
        self.groups += [query.group for query in queries[: None if found is None else found.query]]
        return found


@pytest.mark.parametrize("size", [1, 3, 64])
def test_full_groups_are_asked_about_in_vain_once(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often the search starts anew."""
    monkeypatch.setattr(algorithm, "_GROUPS_AT_ONCE", size)
    for k in (1, 2, 3):
        pairs = Pairs(11, n_pairs=3)
        task = Task(10, frozenset(range(10)))
        found = find_blanket(pairs, task, order=k, max_separator=1)
        assert found.witnesses == {x: frozenset({x ^ 1}) for x in range(6)}
        full = [group for group in pairs.groups if len(group) == k]
        assert len(full) == len(set(full))
        assert set(full) >= set(subsets(range(6, 10), k, k))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(tasks(), st.integers(1, 3), st.sampled_from([0.01, 0.2]))
def test_listing_dependences_beforehand_changes_no_answer(
    drawn: tuple[DiscreteTable, Task], k: int, alpha: float
) -> None:
    """As is done where there are very many."""
    table, task = drawn
    expected = find_blanket(on_table(table, alpha=alpha), task, order=k).witnesses
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(algorithm, "_FEW_TESTS", 0)
        for engine in (on_table(table, alpha=alpha), recorder(table, alpha=alpha)):
            assert find_blanket(engine, task, order=k).witnesses == expected


# -------------------------------------------------------------------------------------- invariance


@pytest.fixture(params=range(6))
def sample(request: pytest.FixtureRequest) -> DiscreteTable:
    seed: int = request.param
    if seed % 2:
        return DiscreteNetwork.random(7, degree=3, concentration=0.5, seed=seed).sample(300, seed)
    return make_table([2, 3, "parity", 2, "copy", 4, "parity"], 150, seed)


ORDERS = [(0, 1), (1, 1), (2, 2)]


@pytest.mark.parametrize("test", ["g-sci", "chi2"])
def test_how_many_groups_are_asked_about_at_once_does_not_matter(
    sample: DiscreteTable, test: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [search(sample, 2, k, most, test) for k, most in ORDERS]
    for size in (1, 2, 3, 10**6):
        monkeypatch.setattr(algorithm, "_GROUPS_AT_ONCE", size)
        assert [search(sample, 2, k, most, test) for k, most in ORDERS] == expected


def test_one_engine_serves_many_searches(sample: DiscreteTable) -> None:
    """Whatever was asked before, with whatever order, target or columns left out."""
    engine = on_table(sample)
    everyone = frozenset(range(sample.n_columns))
    for k, most in [*ORDERS, (1, 2), (3, 1)]:
        for target in (2, 5, 2):
            for candidates in (everyone - {target}, everyone - {target, 1}):
                task = Task(target, candidates)
                again = find_blanket(engine, task, order=k, max_separator=most)
                fresh = find_blanket(on_table(sample), task, order=k, max_separator=most)
                assert again.witnesses == fresh.witnesses


class Scripted(Answers):
    """Answers from a list of dependences; everything else is independent."""

    def __init__(self, n_variables: int, dependences: set[tuple[int, frozenset[int]]]) -> None:
        super().__init__(n_variables)
        self.listed = dependences

    def independent(self, y: int, x: int, given: frozenset[int]) -> bool:
        del y
        return (x, given) not in self.listed


def test_the_first_witness_is_the_first_even_if_a_later_one_is_known_longer() -> None:
    """A witness examined only now comes before a later one that is known not to be separable."""
    a, c, e, b, d, g, x, target = range(8)
    dependences: set[tuple[int, frozenset[int]]] = set()
    for variable, witness, failing in [
        (b, {a}, {c, e}),
        (x, {g, e}, {c}),
        (x, {b, g, c}, {e}),
        (x, {g, c, e}, {b}),
        (c, {b, g, x}, {e}),
        (b, {c, g, x}, {e}),
        (g, {b, c, x}, {e}),
        (d, {x}, {b, c, e}),
    ]:
        dependences.add((variable, frozenset(witness)))
        dependences |= {(variable, frozenset(witness | {s})) for s in failing}
    variables, include = frozenset(range(7)), frozenset({c, e})
    scripted = Scripted(8, dependences)
    task = Task(target, variables, include=include)
    found = find_blanket(scripted, task, order=3, max_separator=1).witnesses
    assert found == naive.komb.komb(scripted, variables, target, 3, 1, frozenset(), include)
    assert set(found) == {c, e}
