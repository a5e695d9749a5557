"""Test "auto": moments against all orders of rows, outcomes against the twin, sweeps."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, random_table

from komb.citests import tests as registered
from komb.data.models.boolean_functions import boolean_table
from komb.data.table import DiscreteTable
from komb.engine.questions import EMPTY
from komb.engine.rule import Rule
from komb.engine.table import TableEngine
from tests import naive
from tests.citests.twins import check_some_against_twins
from tests.engine.engines import on_table
from tests.engine.reorderings import reorder
from tests.engine.tables import LOW_KIND, columns_of, make_table, tables, tables_with_missing

quick = settings(max_examples=15, deadline=None, derandomize=True)

# --------------------------------------------------------------------------------------- moments


def partitions(n: int, largest: int) -> Iterator[tuple[int, ...]]:
    """All ways to write ``n`` as a sum of positive numbers, in descending order."""
    if n == 0:
        yield ()
    for first in range(min(n, largest), 0, -1):
        for rest in partitions(n - first, first):
            yield (first, *rest)


def moments_of_all_orders(
    xs: Sequence[int], ys: Sequence[int]
) -> tuple[Fraction, Fraction, Fraction]:
    """First three cumulants of Pearson's statistic by listing every order of the rows."""
    x, y = ([level for level, n in enumerate(counts) for _ in range(n)] for counts in (xs, ys))
    expected = {
        (i, j): Fraction(n * m, len(x)) for (i, n), (j, m) in product(enumerate(xs), enumerate(ys))
    }
    values: list[Fraction] = []
    for order in permutations(x):
        cells = Counter(zip(order, y, strict=True))
        terms = ((cells[cell] - e) * (cells[cell] - e) / e for cell, e in expected.items())
        values.append(sum(terms, Fraction(0)))
    mean = sum(values, Fraction(0)) / len(values)
    powers = [
        sum(((value - mean) ** degree for value in values), Fraction(0)) / len(values)
        for degree in (2, 3)
    ]
    return mean, powers[0], powers[1]


@pytest.mark.parametrize("n_rows", [1, 2, 3, 4, 5])
def test_moments_are_those_of_all_orders_of_the_rows(n_rows: int) -> None:
    for xs, ys in product(partitions(n_rows, n_rows), repeat=2):
        check_moments_of_stratum(xs, ys)


@pytest.mark.parametrize(
    ("xs", "ys"),
    [((3, 3), (4, 2)), ((5, 1), (5, 1)), ((2, 2, 1, 1), (3, 2, 1)), ((2, 1, 1, 1, 1), (2, 2, 2))],
)
def test_moments_of_six_rows(xs: tuple[int, ...], ys: tuple[int, ...]) -> None:
    check_moments_of_stratum(xs, ys)


@pytest.mark.parametrize(("xs", "ys"), [((4, 2, 1), (3, 3, 1)), ((5, 1, 1), (4, 3))])
def test_moments_of_seven_rows(xs: tuple[int, ...], ys: tuple[int, ...]) -> None:
    check_moments_of_stratum(xs, ys)


def check_moments_of_stratum(xs: tuple[int, ...], ys: tuple[int, ...]) -> None:
    """Compare twin and kernel with what a list of all orders says."""
    *expected, third = moments_of_all_orders(xs, ys)
    assert naive.moments.moments_of_stratum(xs, ys) == tuple(expected)
    assert naive.moments.third_of_stratum(xs, ys) == pytest.approx(
        float(third), rel=1e-12, abs=1e-12
    )
    levels = [len(xs), len(ys)]
    codes = np.stack([np.repeat(np.arange(len(c)), c) for c in (xs, ys)]).astype(np.uint8)
    found = moments(codes, levels, 0, 1, [])[3]
    assert found == pytest.approx(float(third), rel=1e-10, abs=1e-10)


@pytest.mark.parametrize(
    ("xs", "ys"),
    [
        ((990, 9, 1), (700, 250, 40, 10)),
        ((400, 300, 300), (996, 1, 1, 1, 1)),
        ((500, 500), (600, 400)),
        ((1,) * 90 + (210,), (2,) * 120 + (60,)),
    ],
)
def test_the_third_cumulant_is_near_that_of_drawn_orders(
    xs: tuple[int, ...], ys: tuple[int, ...]
) -> None:
    """Four standard errors, from the spread of the third powers themselves."""
    mean, variance = map(float, naive.moments.moments_of_stratum(xs, ys))
    drawn = random_table(xs, ys, seed=0).rvs(20_000 if len(xs) * len(ys) < 100 else 300)
    expected = np.outer(xs, ys) / sum(xs)
    deviations = ((drawn - expected) ** 2 / expected).sum(axis=(1, 2)) - mean
    cubes = deviations**3
    error = cubes.std() / math.sqrt(len(cubes)) + 1e-3 * variance**1.5
    assert abs(cubes.mean() - naive.moments.third_of_stratum(xs, ys)) < 4 * error


def moments(
    codes: Any, cardinalities: Sequence[int], target: int, x: int, members: Sequence[int]
) -> tuple[float, float, float, float]:
    """The statistic of one test, and its cumulants."""
    rule = Rule(0.05, "x2", divergence=1.0, has_moments=True, other_name="g")
    levels = np.array(cardinalities, dtype=np.int64)
    counted = TableEngine(np.ascontiguousarray(codes), levels, rule).count(
        target, [(x, frozenset(members))], wants_pearson=True, wants_lengths=False
    )
    found = counted.pearson, counted.mean, counted.variance, counted.third
    statistic, mean, variance, third = (float(array[0]) for array in found)
    return statistic, mean, variance, third


@pytest.mark.parametrize("share_missing", [0.0, 0.1])
@quick
@given(tables(n_rows=(2, 200), n_columns=(2, 5)), st.integers(0, 10**6))
def test_sums_depend_on_counts_alone(share_missing: float, table: DiscreteTable, seed: int) -> None:
    """Rows, levels and conditions in another order: the same to the last bit."""
    test, reordered = reorder(table, share_missing, seed)
    assert moments(*reordered) == moments(*test)


def test_moments_of_thick_tables_are_those_of_chi_square() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (3, 90_000)).astype(np.uint8)
    _, mean, variance, third = moments(codes, [3, 3, 3], 0, 1, [2])
    assert mean == pytest.approx(12, rel=1e-3)
    assert variance == pytest.approx(24, rel=1e-3)
    assert third == pytest.approx(96, rel=1e-2)


@pytest.mark.parametrize("levels", [2, 60, 5000])
def test_the_largest_cumulants_stay_within_64_bits(levels: int) -> None:
    """All levels but one are single rows, for both variables: X2 is huge where two of them meet."""
    n_rows = 3 * levels
    column = np.maximum(np.arange(n_rows) - (n_rows - levels), 0)
    codes = np.stack([column, column]).astype(np.uint16)
    counts = [n_rows - levels + 1] + [1] * (levels - 1)
    mean, variance = naive.moments.moments_of_stratum(counts, counts)
    _, own_mean, own_variance, own_third = moments(codes, [levels, levels], 0, 1, [])
    found = own_third
    assert 0 < found < float(n_rows * levels) ** 2
    if levels < 1000:  # the twin takes the cube of the levels
        assert found == pytest.approx(naive.moments.third_of_stratum(counts, counts), rel=1e-9)
    assert own_mean == pytest.approx(float(mean), rel=1e-9)
    assert own_variance == pytest.approx(float(variance), rel=1e-9)


@pytest.mark.parametrize("n_rows", range(3, 17))
def test_no_third_cumulant_is_beyond_its_bound(n_rows: int) -> None:
    """That sums stay within 64 bits depends on it: (r - 1)(s - 1) for every pair of rows."""
    margins = [counts for counts in partitions(n_rows, n_rows) if len(counts) > 1]
    chosen = np.random.default_rng(n_rows).permutation(len(margins))[:25]
    for xs, ys in product([margins[index] for index in chosen], repeat=2):
        bound = n_rows**2 * (len(xs) - 1) * (len(ys) - 1)
        assert abs(naive.moments.third_of_stratum(xs, ys)) <= bound
    rare = (n_rows - 1, 1)
    assert naive.moments.third_of_stratum(rare, rare) <= n_rows**2


@pytest.mark.parametrize("n_rows", [6, 30, 999, 30_000])
def test_what_cannot_vary_has_no_variance(n_rows: int) -> None:
    """One odd row, and three levels of equally many rows: X2 is the same wherever it stands."""
    odd = np.zeros(n_rows, dtype=np.int64)
    odd[n_rows // 2] = 1
    table = DiscreteTable.from_codes(np.column_stack([odd, np.arange(n_rows) % 3]))
    for target in (0, 1):
        outcome = on_table(table, "auto").outcome(target, 1 - target, EMPTY)
        assert (outcome.independent, outcome.reliable) == (True, False)
        assert (outcome.df, outcome.p_value) == (0, 1.0)


# --------------------------------------------------------------------------------------- outcomes


def test_it_draws_nothing_at_random() -> None:
    assert not registered()["auto"].is_random
    table = make_table([4, 4, 3, 3], 60, seed=0)
    first, second = (on_table(table, "auto", seed=seed) for seed in (0, 1))
    assert first.outcome(0, 1, frozenset({2})) == second.outcome(0, 1, frozenset({2}))


@quick
@given(tables_with_missing(n_rows=(1, 90), n_columns=(2, 5)), st.integers(0, 10**6))
def test_outcomes_with_missing_values_equal_their_twins(table: DiscreteTable, seed: int) -> None:
    check_some_against_twins("auto", "observed", table, seed, 0.05)


@quick
@given(tables(kinds=LOW_KIND, n_rows=(5, 120), n_columns=(3, 5)), st.integers(0, 10**6))
def test_strengths_agree_with_the_twin(table: DiscreteTable, seed: int) -> None:
    rng = np.random.default_rng(seed)
    asked = on_table(table, "auto", alpha=0.3)
    twin = naive.sessions.DataSession(columns_of(table), "auto", 0.3)
    for _ in range(3):
        target, *others = rng.permutation(table.n_columns).tolist()
        members = frozenset(others[: rng.integers(len(others))])
        [answer] = asked.evidence(target, [(set(others), members)])
        expected = {x: twin.strength(target, x, members) for x in set(others) - members}
        assert answer == pytest.approx({x: bits for x, bits in expected.items() if bits}, rel=1e-8)


def test_strengths_beyond_the_smallest_number() -> None:
    """A column with itself, in 20,000 rows: G counts 27,726 with one degree of freedom."""
    column = np.arange(20_000) % 2
    table = DiscreteTable.from_codes(np.column_stack([column, column]))
    session = on_table(table, "auto")
    assert session.outcome(0, 1, EMPTY).p_value == 0.0
    [bits] = session.evidence(0, [({1}, EMPTY)])
    assert bits[1] == pytest.approx(-naive.decision.log2_p_value(20_000 * math.log(4), 1), rel=1e-2)


def test_a_p_value_is_at_least_that_of_g_with_one_degree_of_freedom() -> None:
    """Two single rows do not meet: the gamma distribution alone makes far too much of that."""
    codes = np.zeros((1000, 2), dtype=np.int64)
    codes[7, 0] = codes[8, 1] = 1
    outcome = on_table(DiscreteTable.from_codes(codes), "auto").outcome(0, 1, EMPTY)
    by_g = on_table(DiscreteTable.from_codes(codes), "g").outcome(0, 1, EMPTY)
    assert outcome.statistic == by_g.statistic
    assert by_g.p_value == pytest.approx(chi2.sf(by_g.statistic, 1))
    assert outcome.p_value == pytest.approx(by_g.p_value)
    assert outcome.independent


def test_very_skewed_distributions_count_as_the_worse_of_two() -> None:
    """One row in 2,000 for both variables: G is one of two values, and 1 / 2,000 is right."""
    codes = np.zeros((2000, 2), dtype=np.int64)
    codes[7] = 1
    outcome = on_table(DiscreteTable.from_codes(codes), "auto").outcome(0, 1, EMPTY)
    by_g = on_table(DiscreteTable.from_codes(codes), "g").outcome(0, 1, EMPTY)
    assert outcome.statistic == by_g.statistic
    assert outcome.p_value is not None
    assert 1e-5 < outcome.p_value < 0.01


def test_levels_hold_far_out_on_skewed_margins() -> None:
    """Of 2,000 pairs of a rare target and columns with rare levels few reach 0.001."""
    rng = np.random.default_rng(3)
    chances = 1.0 / np.arange(1, 21)
    columns = rng.choice(20, (1000, 2000), p=chances / chances.sum())
    table = DiscreteTable.from_codes(np.column_stack([np.arange(1000) < 3, columns]))
    found = on_table(table, "auto", alpha=0.001).dependents(0, set(range(1, 2001)), EMPTY)
    assert len(found) <= 8


def test_thick_tables_give_what_chi_square_gives() -> None:
    table = boolean_table("and", 20_000, n_irrelevant=1, seed=0)
    automatic, plain = on_table(table, "auto"), on_table(table, "chi2", df="adjusted")
    for members in ([], [1], [1, 2]):
        found, expected = (each.outcome(3, 4, frozenset(members)) for each in (automatic, plain))
        assert found.p_value == pytest.approx(expected.p_value, rel=1e-2)
        assert found.statistic == expected.statistic
        assert found.df == pytest.approx(expected.df, rel=1e-2)


def test_thin_tables_are_not_left_to_chi_square() -> None:
    """Two columns of many levels that have nothing to do with each other."""
    rng = np.random.default_rng(0)
    table = DiscreteTable.from_codes(
        np.column_stack([rng.integers(0, levels, 150) for levels in (12, 2, 2, 2, 3)])
    )
    outcome = on_table(table, "auto").outcome(0, 1, frozenset({2, 3, 4}))
    assert (outcome.test, outcome.independent, outcome.reliable) == ("x2", True, True)


def test_levels_hold_on_thin_tables() -> None:
    """Of 300 pairs of independent columns about one in twenty is called dependent."""
    rng = np.random.default_rng(1)
    table = DiscreteTable.from_codes(
        np.column_stack([rng.integers(0, 4, 100), rng.integers(0, 8, (100, 300))])
    )
    found = on_table(table, "auto", alpha=0.05).dependents(0, set(range(1, 301)), EMPTY)
    assert 4 <= len(found) <= 28  # three standard deviations


def test_what_does_not_vary_is_not_reliable() -> None:
    """All values differ: X2 is the same for every order."""
    rng = np.random.default_rng(0)
    table = DiscreteTable.from_codes(np.column_stack([np.arange(63), rng.integers(0, 5, 63)]))
    outcome = on_table(table, "auto").outcome(0, 1, EMPTY)
    assert (outcome.test, outcome.independent, outcome.reliable) == ("x2", True, False)
    assert (outcome.df, outcome.p_value) == (0, 1.0)


def test_either_variable_may_be_the_target() -> None:
    session = on_table(make_table([4, 5, 3, 3], 60, seed=0), "auto")
    there, back = session.outcome(0, 1, frozenset({2})), session.outcome(1, 0, frozenset({2}))
    assert there.df == pytest.approx(back.df)
    assert there.p_value == pytest.approx(back.p_value)
