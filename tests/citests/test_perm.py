"""The permutation test against its twin, against all permutations, and against chance."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import permutations
from statistics import fmean, pvariance
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, chi2, hypergeom

import komb
from komb.citests import perm
from komb.citests.perm import shuffles_for
from komb.citests.registry import make_test
from komb.data.models.boolean_functions import boolean_table
from komb.data.table import DiscreteTable
from komb.engine import measurement, shuffle
from komb.engine.fixed_point import entropies, scale_for
from komb.engine.measurement import NO_FREEDOM, Measurement, Resampled
from komb.engine.questions import EMPTY
from komb.engine.shuffle import Shuffler, Shuffles
from komb.errors import ParameterError
from komb.search.registry import find_algorithm
from komb.search.task import Task
from tests import naive
from tests.engine.engines import on_table
from tests.engine.tables import columns_of, make_table, tables

thorough = settings(max_examples=60, deadline=None, derandomize=True)


def draw_test(n_columns: int, rng: np.random.Generator) -> tuple[int, int, list[int]]:
    target, x, *others = rng.permutation(n_columns).tolist()
    return target, x, others[: rng.integers(0, min(3, len(others)) + 1)]


def run(
    codes: Any, levels: list[int], target: int, x: int, members: list[int], **options: int
) -> Shuffles:
    """Shuffle one test."""
    codes = np.array(codes, dtype=np.uint8, order="C")
    codes.flags.writeable = False  # as those of tables: another kernel would be compiled
    options = {"seed": 0, "most": 999, "enough": 10} | options
    return Shuffler(codes, np.array(levels)).run(
        target,
        np.array([members], dtype=np.int64).reshape(1, -1), np.array([0]), np.array([x]),
        seed=options["seed"], most=options["most"], enough=options["enough"],
    )  # fmt: skip


# ------------------------------------------------------------------------------------------- twin


@thorough
@given(tables(n_rows=(1, 90), n_columns=(2, 5)), st.integers(0, 10**6))
def test_p_values_equal_their_twins(table: DiscreteTable, seed: int) -> None:
    rng = np.random.default_rng(seed)
    session = on_table(table, "perm", seed=seed)
    for _ in range(3):
        target, x, members = draw_test(table.n_columns, rng)
        twin = naive.decision.run_test(
            columns_of(table), target, x, members, "perm", 0.01, "observed", seed
        )
        outcome = session.outcome(target, x, frozenset(members))
        assert outcome.p_value == twin.p_value  # to the last bit
        assert outcome.statistic == pytest.approx(twin.statistic, rel=1e-9, abs=1e-9)
        assert (outcome.df, outcome.test) == (None, "perm")
        assert (outcome.reliable, outcome.independent) == (twin.reliable, twin.independent)
        assert session.is_dependent(target, x, frozenset(members)) is not twin.independent


@settings(max_examples=15, deadline=None, derandomize=True)
@given(st.integers(2, 4), st.integers(2, 4), st.integers(100, 500), st.integers(0, 10**6))
def test_thick_tables_equal_their_twins(
    x_levels: int, y_levels: int, n_rows: int, seed: int
) -> None:
    """Strata drawn by bits, with groups of all shares."""
    rng = np.random.default_rng(seed)
    columns = [
        rng.choice(levels, n_rows, p=rng.dirichlet(np.full(levels, 1.5)))
        for levels in (x_levels, y_levels, 2)
    ]
    levels = [int(column.max()) + 1 for column in columns]
    made = run(columns, levels, 0, 1, [2], seed=seed, most=15)
    twin = naive.permutation.permute([c.tolist() for c in columns], 0, 1, [2], seed, most=15)
    assert perm.p_values(made)[0] == twin.p_value
    assert made.made[0] == len(twin.statistics)


@thorough
@given(tables(n_rows=(2, 60), n_columns=(2, 5)), st.integers(0, 10**6))
def test_rows_with_a_missing_value_are_left_out(table: DiscreteTable, seed: int) -> None:
    """The code above the last level marks one."""
    rng = np.random.default_rng(seed)
    levels = table.cardinalities
    codes = np.where(rng.random(table.codes.shape) < 0.15, levels[:, None], table.codes)
    if codes.max() > 255:
        return
    for _ in range(3):
        target, x, members = draw_test(table.n_columns, rng)
        made = run(codes, levels.tolist(), target, x, members, seed=seed, most=99)
        twin = naive.permutation.permute(
            codes.tolist(), target, x, members, seed, most=99, levels=levels.tolist()
        )
        assert perm.p_values(made)[0] == twin.p_value
        assert made.varies[0] == twin.varies
        complete = (codes < levels[:, None])[[target, x, *members]].all(axis=0)
        if complete.any():
            rest = naive.counts.count(codes[:, complete].tolist(), target, x, members)
            nats = 2 * math.log(2) * made.statistic[0]
            assert nats == pytest.approx(naive.statistics.g(rest), rel=1e-9, abs=1e-9)


def test_a_column_of_missing_values_leaves_nothing_to_permute() -> None:
    codes = np.array([[0, 1] * 20, [0, 1] * 20, [0] * 40])
    levels = [2, 2, 0]
    assert run(codes, levels, 0, 1, []).varies[0]
    for target, x, members in [(0, 1, [2]), (0, 2, []), (2, 0, [1])]:
        made = run(codes, levels, target, x, members)
        assert (made.varies[0], made.made[0], perm.p_values(made)[0]) == (False, 0, 1.0)


@thorough
@given(tables(n_rows=(5, 120), n_columns=(2, 5)), st.integers(0, 10**6))
def test_moments_are_those_of_the_shuffles(table: DiscreteTable, seed: int) -> None:
    rng = np.random.default_rng(seed)
    target, x, members = draw_test(table.n_columns, rng)
    levels = table.cardinalities.tolist()
    if table.codes.max() > 255:
        return
    made = run(table.codes, levels, target, x, members, most=50)
    twin = naive.permutation.permute(columns_of(table), target, x, members, 0, most=50)
    statistics = twin.statistics or [0.0]
    assert made.mean[0] == pytest.approx(fmean(statistics), rel=1e-9, abs=1e-9)
    assert made.variance[0] == pytest.approx(pvariance(statistics), rel=1e-6, abs=1e-6)


# -------------------------------------------------------------------------------------- the truth


def all_orders(columns: list[list[int]], target: int, x: int, members: list[int]) -> float:
    """P-value out of all orders of x within the strata, every one of them."""
    strata: dict[tuple[int, ...], list[int]] = {}
    for row in range(len(columns[0])):
        strata.setdefault(tuple(columns[z][row] for z in members), []).append(row)

    def shuffled(rows_left: list[list[int]], column: list[int]) -> Iterator[list[int]]:
        if not rows_left:
            yield column
            return
        rows, *rest = rows_left
        for order in permutations(rows):
            changed = list(column)
            for here, there in zip(rows, order, strict=True):
                changed[here] = columns[x][there]
            yield from shuffled(rest, changed)

    def statistic(column: list[int]) -> float:
        replaced = [column if v == x else columns[v] for v in range(len(columns))]
        return naive.statistics.g(naive.counts.count(replaced, target, x, members))

    data = statistic(columns[x])
    found = [statistic(column) for column in shuffled(list(strata.values()), list(columns[x]))]
    return sum(value > data - 1e-9 for value in found) / len(found)


@pytest.mark.parametrize("seed", range(12))
def test_shuffles_exceed_as_often_as_all_orders_do(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_rows = [6, 7, 8][seed % 3]
    columns = [rng.integers(0, levels, n_rows).tolist() for levels in (3, 2, 2)]
    members = [2] if n_rows == 8 else []
    exact = all_orders(columns, 0, 1, members)
    made = run(columns, [3, 2, 2], 0, 1, members, most=20_000, enough=20_001, seed=seed)
    if not made.varies[0]:
        assert exact == 1.0
    else:
        assert binomtest(int(made.exceedances[0]), 20_000, exact).pvalue > 1e-4


@pytest.mark.parametrize("rows_a_cell", [3, 40])  # drawn by rows, drawn by bits
@pytest.mark.parametrize("shape", [(2, 2), (3, 2), (4, 4), (2, 9)])
@pytest.mark.parametrize("skew", [0, 2])
def test_the_mean_over_all_orders(shape: tuple[int, int], rows_a_cell: int, skew: int) -> None:
    """It is known: with the margins fixed every cell is hypergeometric."""
    rng = np.random.default_rng(7)
    n_rows = rows_a_cell * shape[0] * shape[1]
    columns = []
    for levels in shape:
        weights = np.arange(1, levels + 1.0) ** skew
        columns.append(rng.choice(levels, n_rows, p=weights / weights.sum()))
    expected = 0.0
    for n_x in np.bincount(columns[0]):
        for n_y in np.bincount(columns[1]):
            cell = np.arange(1, min(n_x, n_y) + 1)
            bits = cell * np.log2(cell * n_rows / (n_x * n_y))
            expected += float((hypergeom.pmf(cell, n_rows, n_x, n_y) * bits).sum())
    found = run(columns, list(shape), 0, 1, [], most=4000, enough=4001)
    assert abs(found.mean[0] - expected) < 4 * math.sqrt(found.variance[0] / 4000)


@pytest.mark.parametrize("n_levels", [2, 6])
def test_p_values_are_uniform_under_independence(n_levels: int) -> None:
    """Also on a table of 0.7 rows per cell, where the chi-square distribution is far off."""
    p_values, by_g = [], []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        z = rng.integers(0, n_levels, 150)
        x, y = ((z + rng.integers(0, n_levels, 150) ** 2) % n_levels for _ in range(2))
        table = DiscreteTable.from_codes(np.column_stack([x, y, z]))
        p_values.append(on_table(table, "perm", seed=seed).outcome(0, 1, frozenset({2})).p_value)
        by_g.append(on_table(table, "g").outcome(0, 1, frozenset({2})).p_value)
    for level in (0.01, 0.05, 0.2, 0.5):
        n_below = sum(p is not None and p <= level for p in p_values)
        assert binomtest(n_below, 300, level).pvalue > 1e-3, level
    if n_levels == 6:
        n_below = sum(p is not None and p <= 0.2 for p in by_g)
        assert binomtest(n_below, 300, 0.2).pvalue < 1e-6


# ----------------------------------------------------------------------------- one test, one answer


@thorough
@given(tables(n_rows=(5, 80), n_columns=(3, 6)), st.integers(0, 10**6))
def test_the_order_of_columns_does_not_matter(table: DiscreteTable, seed: int) -> None:
    rng = np.random.default_rng(seed)
    target, x, members = draw_test(table.n_columns, rng)
    p_value = on_table(table, "perm").outcome(target, x, frozenset(members)).p_value
    assert on_table(table, "perm").outcome(x, target, frozenset(members)).p_value == p_value
    order = rng.permutation(table.n_columns)
    place = np.argsort(order)
    moved = DiscreteTable.from_codes(table.codes[order].T)
    target, x, *members = place[[target, x, *members]].tolist()
    assert on_table(moved, "perm").outcome(target, x, frozenset(members)).p_value == p_value


def test_batches_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_table([2, 3, "parity", "copy", 4, "parity"], 60, seed=0)
    sets = list(naive.steps.subsets(frozenset(range(1, 6)), 2))
    everyone = set(range(1, 6))
    alone = {
        z: [x for x in everyone - z if on_table(table, "perm").is_dependent(0, x, z)] for z in sets
    }
    assert any(alone.values())
    assert not all(len(alone[z]) == len(everyone - z) for z in sets)
    for rows_per_call in (1, 200, 1 << 24):
        monkeypatch.setattr(shuffle, "ROWS_PER_CALL", rows_per_call)
        together = on_table(table, "perm")
        found = together.evidence(0, [(everyone, z) for z in sets])
        assert list(map(list, found)) == list(alone.values())
        backwards = on_table(table, "perm")
        found = backwards.evidence(0, [(everyone, z) for z in reversed(sets)])
        assert list(map(list, found)) == list(alone.values())[::-1]


def test_many_targets_share_an_engine() -> None:
    """More than are kept ready."""
    table = make_table([2, 3, "parity", "copy", 2, 2, 3], 80, seed=0)
    asked = on_table(table, "perm")
    for _ in range(2):
        for target in range(7):
            x = (target + 1) % 7
            expected = on_table(table, "perm").outcome(target, x, EMPTY)
            assert asked.outcome(target, x, EMPTY) == expected


def test_another_seed_gives_other_random_numbers() -> None:
    table = make_table([3, 3, 2], 100, seed=0)
    found = {
        on_table(table, "perm", seed=seed).outcome(0, 1, frozenset({2})).p_value
        for seed in range(9)
    }
    assert len(found) > 3
    assert max(found) < 10 * min(found)  # type: ignore[type-var, operator]
    again = on_table(table, "perm", seed=0).outcome(0, 1, frozenset({2}))
    assert again == on_table(table, "perm").outcome(0, 1, frozenset({2}))


def test_the_stream_is_part_of_the_interface() -> None:
    """The same p-values in every version and on every machine."""
    table = boolean_table("and", 300, n_irrelevant=1, noise=0.3, seed=5)
    session = on_table(table, "perm")
    p_values = [
        session.outcome(3, x, frozenset(z)).p_value
        for x, z in [(0, []), (4, []), (0, [1]), (4, [2])]
    ]
    assert p_values == [2 / 25, 10 / 271, 10 / 107, 5 / 38]


# -------------------------------------------------------------------------- statistic and decision


def test_the_statistic_is_g() -> None:
    table = make_table([3, 4, "parity", "id", 20, "copy"], 200, seed=1)
    for members in ([], [2], [2, 3], [4, 5]):
        by_g = on_table(table, "g").outcome(0, 1, frozenset(members))
        assert on_table(table, "perm").outcome(0, 1, frozenset(members)).statistic == by_g.statistic


def test_equal_statistics_count_as_equal() -> None:
    """6^6 = 2^2 2^2 2^2 3^3 3^3: cells 6, 1, 1, 1, 1, 1, 1 and 2, 2, 2, 3, 3 have equal sums.

    In fixed point they may differ by rounding, and must still count as equal.
    """
    for n_rows in (12, 5000, 100_000):
        entropy = entropies(n_rows, scale_for(n_rows))
        difference = entropy[6] - 3 * entropy[2] - 2 * entropy[3]
        empty = np.zeros((2, n_rows), dtype=np.uint8)
        assert abs(difference) <= Shuffler(empty, np.array([1, 1]))._strata.slack


def test_nothing_to_permute() -> None:
    table = make_table(["id", 2, "copy", 1], 50, seed=1)
    for target, x, members in [(1, 2, [0]), (1, 3, []), (3, 1, [])]:
        outcome = on_table(table, "perm").outcome(target, x, frozenset(members))
        assert (outcome.p_value, outcome.independent, outcome.reliable) == (1.0, True, False)
    asked = on_table(table, "perm")
    asked.dependents(1, {2, 3}, frozenset({0}))
    assert asked.work.unreliable == 2
    assert on_table(table, "perm").outcome(1, 2, EMPTY).reliable
    one_row = on_table(DiscreteTable.from_codes([[0, 0]]), "perm")
    assert one_row.outcome(0, 1, EMPTY).p_value == 1.0


def test_a_smaller_alpha_takes_more_shuffles() -> None:
    table = boolean_table("and", 300, seed=0)
    for alpha, smallest in [(0.2, 1e-3), (0.01, 1e-3), (0.001, 1e-4), (0.0002, 2e-5)]:
        outcome = on_table(table, "perm", alpha=alpha).outcome(3, 0, EMPTY)
        assert outcome.p_value == smallest <= alpha
        assert not outcome.independent


def test_what_stopped_early_is_the_same_for_any_alpha() -> None:
    table = make_table([3, 3, 2], 100, seed=0)
    p_values = {
        on_table(table, "perm", alpha=a).outcome(0, 1, frozenset({2})).p_value for a in (0.3, 1e-4)
    }
    assert len(p_values) == 1


@pytest.mark.parametrize("alpha", [0.05, 0.01, 0.003, 0.0007, 1e-4, 1e-5])
def test_stopping_early_means_independence(alpha: float) -> None:
    """At 0.01 and below; above, the shuffles go on for the sake of the p-value."""
    most = shuffles_for(alpha)
    assert perm.ENOUGH / (most + 1) <= alpha
    if alpha <= 0.01:
        assert perm.ENOUGH / most > alpha


def test_an_alpha_out_of_reach_is_refused() -> None:
    table = boolean_table("and", 100, seed=0)
    with pytest.raises(ParameterError, match=r"'alpha' must be at least 1e-05 for test 'perm'"):
        komb.markov_blanket(table, "Y", method="komb", test="perm", alpha=1e-6)
    assert make_test("g", alpha=1e-6)
    for seed in (-1, 0.5, "a", 1 << 63):
        with pytest.raises(ParameterError, match="'seed' must be a whole number"):
            make_test("perm", seed=seed)  # type: ignore[arg-type]


# -------------------------------------------------------------------------------------- strengths


def measured(statistic: list[float], p: list[float], mean: list[float]) -> Measurement:
    n = len(statistic)
    sample = Resampled(np.array(p), 1e-3, np.array(mean), 2 * np.array(mean))
    freedom = np.full(n, NO_FREEDOM)
    return Measurement(np.array(statistic), freedom, np.ones(n, dtype=bool), "perm", sample)


def test_strengths_are_bits_of_the_p_value() -> None:
    found = measurement.weigh(measured([5, 9, 3], [0.25, 0.005, 0.5], [1, 1, 1]), 0.3)
    assert found.tolist() == [2.0, -math.log2(0.005), 0.0]


def test_ties_at_the_smallest_p_value_are_broken_by_the_tail() -> None:
    """A statistic of 60 with a mean of 1 is rarer than one of 80 with a mean of 16."""
    statistics, means = [60.0, 80.0, 61.0, 20.0], [1.0, 16.0, 1.0, 1.0]
    found = measurement.weigh(measured([*statistics, 12.0], [1e-3] * 4 + [2e-3], [*means, 1]), 0.01)
    tails = [chi2.sf(g, mean) for g, mean in zip(statistics, means, strict=True)]
    assert np.argsort(-found[:4]).tolist() == np.argsort(tails).tolist()
    floor = math.log2(1000)
    assert ((found[:4] > floor) & (found[:4] < floor + 1)).all()
    assert found[4] == pytest.approx(floor - 1)


def test_strengths_agree_with_the_twin() -> None:
    table = make_table([2, "copy", 3, "parity", 2, "parity"], 60, seed=2)
    asked = on_table(table, "perm", alpha=0.2)
    for z in [EMPTY, frozenset({4})]:
        [answer] = asked.evidence(0, [({1, 2, 3, 5}, z)])
        for x in {1, 2, 3, 5}:
            twin = naive.decision.run_test(columns_of(table), 0, x, z, "perm", 0.2, "observed")
            assert twin.p_value is not None
            if twin.independent:
                assert x not in answer
            elif twin.p_value > 1e-3:
                assert answer[x] == pytest.approx(-math.log2(twin.p_value))
            else:
                assert 0 < answer[x] - math.log2(1000) < 1
        assert list(answer) == asked.dependents(0, {1, 2, 3, 5}, z)
    assert asked.evidence(0, [({1}, EMPTY)])[0][1] > asked.evidence(0, [({5}, EMPTY)])[0].get(5, 0)


# --------------------------------------------------------------------------------------- searches


@pytest.mark.parametrize("method", [name for name in komb.algorithms() if name != "auto"])
def test_every_method_takes_it(method: str) -> None:
    table = boolean_table("and", 600, n_parents=2, n_irrelevant=2, seed=1)
    bounds: dict[str, Any] = {"order": 1, "max_separator": 1} if method == "komb" else {}
    blanket = komb.markov_blanket(table, "Y", method=method, test="perm", **bounds)
    assert blanket.members == ("X1", "X2")
    assert "perm" in str(blanket.details())
    for member in blanket:
        found = blanket[member]
        assert (found.test, found.df, found.p_value) == ("perm", None, 0.001)


def test_a_search_equals_its_twin() -> None:
    for seed in range(3):
        table = make_table([2, 3, "parity", 2, "parity"], 40, seed=seed)
        task = Task(target=4, candidates=frozenset(range(4)))
        found = find_algorithm("komb").search(
            on_table(table, "perm", alpha=0.05), task, order=1, max_separator=1
        )
        twin = naive.sessions.DataSession(columns_of(table), "perm", alpha=0.05)
        assert found.witnesses == naive.komb.komb(twin, range(4), 4, 1, 1)


def test_many_levels_and_rows_of_two_bytes() -> None:
    rng = np.random.default_rng(0)
    column = rng.integers(0, 700, 3000)
    codes = np.column_stack([column, column % 300, rng.permutation(3000)])
    table = DiscreteTable.from_codes(codes)
    assert table.codes.dtype == np.uint16
    session = on_table(table, "perm")
    assert session.outcome(0, 1, EMPTY).p_value == 0.001
    assert session.outcome(0, 2, EMPTY).p_value == 1.0  # all orders of an identifier are alike


def test_products_of_cardinalities_do_not_overflow() -> None:
    """Nine columns of 300 levels: more possible strata than 64 bits can count."""
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.integers(0, 2, 600) for _ in range(2)])
    pairs = np.repeat(np.arange(300), 2)
    conditions = np.column_stack([rng.permutation(300)[pairs] for _ in range(9)])
    table = DiscreteTable.from_codes(np.column_stack([codes, conditions]))
    many = on_table(table, "perm").outcome(0, 1, frozenset(range(2, 11)))
    one = on_table(table, "g").outcome(0, 1, frozenset({2}))
    assert many.statistic == one.statistic  # each condition tells the same pairs apart
    assert many.reliable
