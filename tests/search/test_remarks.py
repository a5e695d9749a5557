"""What a search says beside the members: stand-ins, leaks, and what it could see."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2, ncx2

import komb
from komb.data.table import DiscreteTable
from komb.engine.engine import Engine
from komb.engine.questions import EMPTY, Variables
from komb.search import _remarks
from komb.search._region import Region
from komb.search._remarks import (
    LEAKED_SHARE,
    POWER,
    describe_sight,
    find_equivalents,
    find_leaks,
    least_noncentrality,
)
from komb.search.auto import find_blanket
from komb.search.task import GroundedChoice, Kind, Task, fact
from tests.engine.answers import Dice
from tests.engine.engines import on_table
from tests.engine.tables import Codes
from tests.search.running import everyone

N_ROWS = 2000


def on(*columns: Codes) -> Engine:
    return on_table(DiscreteTable.from_codes(np.column_stack(columns)), "auto", alpha=0.01)


# ------------------------------------------------------------------------------------- equivalents


def draw_causes(seed: int = 0) -> tuple[Codes, Codes, Codes]:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 3, (2, N_ROWS))
    is_noise = rng.random(N_ROWS) < 0.3
    return a, b, np.where(is_noise, rng.integers(0, 3, N_ROWS), np.maximum(a, b))


def replaced(
    engine: Engine, target: int, witnesses: dict[int, Variables | None], include: Variables = EMPTY
) -> tuple[dict[int, Variables | None], dict[int, tuple[Variables, ...]]]:
    task = Task(target, everyone(engine, target).candidates, include=include)
    region = Region.of(engine, task.candidates | {target}, 3)
    return find_equivalents(region, task, witnesses)


def equivalents(
    engine: Engine, target: int, witnesses: dict[int, Variables | None]
) -> dict[int, tuple[Variables, ...]]:
    members, found = replaced(engine, target, witnesses)
    assert members == witnesses
    return found


def test_a_copy_stands_in_for_a_member() -> None:
    a, b, y = draw_causes()
    engine = on(a, b, 2 - a, y)
    assert equivalents(engine, 3, {0: EMPTY, 1: EMPTY}) == {0: (frozenset({2}),)}


def test_two_columns_stand_in_for_what_they_determine() -> None:
    a, b, y = draw_causes()
    engine = on(a, b, 3 * a + b, y)
    assert equivalents(engine, 3, {2: EMPTY}) == {2: (frozenset({0, 1}),)}


def test_one_column_stands_in_for_each_of_two() -> None:
    a, b, y = draw_causes()
    engine = on(a, b, 3 * a + b, y)
    found = equivalents(engine, 3, {0: EMPTY, 1: EMPTY})
    assert found == {0: (frozenset({2}),), 1: (frozenset({2}),)}


def test_what_a_member_explains_need_not_explain_it() -> None:
    rng = np.random.default_rng(0)
    a, _, y = draw_causes()
    noisy = np.where(rng.random(N_ROWS) < 0.3, rng.integers(0, 3, N_ROWS), a)
    engine = on(a, noisy, y)
    assert equivalents(engine, 2, {0: EMPTY}) == {}


def test_a_copy_of_a_member_that_is_visible_only_in_combination() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 3, (2, N_ROWS))
    y = (a == b) ^ (rng.random(N_ROWS) < 0.2)
    engine = on(a, b, (a + 1) % 3, y.astype(int))
    witnesses: dict[int, Variables | None] = {0: frozenset({1}), 1: frozenset({0})}
    assert equivalents(engine, 3, witnesses) == {0: (frozenset({2}),)}


def test_members_by_request_stay_what_they_are() -> None:
    a, b, y = draw_causes()
    engine = on(a, b, 2 - a, y)
    assert replaced(engine, 3, {0: None, 1: EMPTY}, frozenset({0}))[1] == {}
    assert replaced(engine, 3, {0: EMPTY, 1: EMPTY}, frozenset({0}))[1] == {}


def test_no_more_columns_are_examined_than_there_is_time_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_remarks, "MOST_STAND_INS", 2)
    a, _, y = draw_causes()
    engine = on(a, 2 - a, (a + 1) % 3, (a + 2) % 3, y)
    assert equivalents(engine, 4, {0: EMPTY}) == {0: (frozenset({1}), frozenset({2}))}


def test_of_a_column_and_a_near_copy_the_one_with_more_evidence_is_the_member() -> None:
    """Neither leaves anything for the other to tell, by tests on this many rows."""
    rng = np.random.default_rng(4)
    a, b, y = draw_causes()
    y = np.where(rng.random(N_ROWS) < 0.5, rng.integers(0, 3, N_ROWS), y)
    nearly = np.where(rng.random(N_ROWS) < 0.01, rng.integers(0, 3, N_ROWS), a)
    engine = on(nearly, b, a, y)
    members, found = replaced(engine, 3, {0: EMPTY, 1: frozenset({0})})
    [bits] = engine.evidence(3, [({0, 2}, frozenset({1}))])
    assert bits[2] > bits[0]
    assert members == {1: frozenset({2}), 2: EMPTY}
    assert found == {2: (frozenset({0}),)}


def numbers(columns: dict[str, Any], **options: Any) -> tuple[tuple[Any, ...], dict[Any, Any]]:
    blanket = komb.markov_blanket(columns, "y", **options)
    sets = {name: {frozenset(each) for each in own} for name, own in blanket.equivalents.items()}
    return blanket.members, sets


def test_numbers_have_equivalents() -> None:
    """Monotone functions, and a copy with little noise."""
    rng = np.random.default_rng(1)
    x, z, noise, error = rng.normal(size=(4, 500))
    columns = {"x": x, "cube": x**3, "exp": np.exp(x), "near": x + 0.01 * noise}
    members, found = numbers({**columns, "z": z, "y": x + z + error})
    [member] = set(members) - {"z"}
    assert found == {member: {frozenset({name}) for name in columns.keys() - {member}}}


def test_numbers_with_gaps_have_equivalents() -> None:
    rng = np.random.default_rng(2)
    x, z, error = rng.normal(size=(3, 600))
    cube = np.where(rng.random(600) < 0.1, np.nan, x**3)
    members, found = numbers({"x": x, "cube": cube, "z": z, "y": x + z + error})
    [member] = set(members) - {"z"}
    assert found == {member: {frozenset({"x", "cube"} - {member})}}


def test_numbers_that_matter_in_combination_have_equivalents() -> None:
    rng = np.random.default_rng(3)
    a, b, error = rng.normal(size=(3, 800))
    members, found = numbers({"a": a, "cube": a**3, "b": b, "y": a * b + 0.5 * error})
    [member] = set(members) - {"b"}
    assert found == {member: {frozenset({"a", "cube"} - {member})}}


def test_a_noisy_copy_that_the_data_can_tell_is_no_equivalent() -> None:
    rng = np.random.default_rng(5)
    x, noise, error = rng.normal(size=(3, 1000))
    assert numbers({"x": x, "noisy": x + 0.5 * noise, "y": x + error}) == (("x",), {})


# -------------------------------------------------------------------------------------------- leaks


def test_leaks_are_named_the_closest_first() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N_ROWS)
    nearly = np.where(rng.random(N_ROWS) < 0.01, 1 - y, y)
    far = np.where(rng.random(N_ROWS) < 0.1, 1 - y, y)
    engine = on(far, nearly, 3 * y + rng.integers(0, 3, N_ROWS), y)
    alone = engine.evidence(3, [({0, 1, 2}, EMPTY)])[0]
    found = find_leaks(engine, everyone(engine, 3), alone)
    assert [leak.column for leak in found] == [2, 1]
    assert found[0].share == pytest.approx(1.0)
    assert LEAKED_SHARE <= found[1].share < 1


def test_a_leak_is_a_leak_whatever_the_blanket() -> None:
    """The finer of two columns that determine the target may be outside."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N_ROWS)
    engine = on(y, 2 * y + rng.integers(0, 2, N_ROWS), y)
    found = find_blanket(engine, everyone(engine, 2))
    assert set(found.witnesses) == {0}
    assert {leak.column for leak in found.leaks} == {0, 1}
    order = found.choices["order"]
    assert isinstance(order, GroundedChoice)
    assert (order.value, order.facts[-1]) == (0, fact(Kind.DETERMINED))


def test_oracles_and_dice_know_of_no_leak() -> None:
    dice = Dice(4, 0, 0.0, sides=40)
    assert find_leaks(dice, everyone(dice, 0), {1: 30.0, 2: 9.0}) == ()


# -------------------------------------------------------------------------------------------- sight


@pytest.mark.parametrize("freedom", [1.0, 4.0, 30.0, 500.0])
@pytest.mark.parametrize("threshold", [0.05, 1e-4, 1e-9])
def test_a_dependence_in_sight_is_found_in_four_cases_of_five(
    freedom: float, threshold: float
) -> None:
    noncentrality = least_noncentrality(freedom, threshold)
    critical = float(chi2.isf(threshold, freedom))
    assert float(ncx2.sf(critical, freedom, noncentrality)) == pytest.approx(POWER, abs=1e-4)


def test_thresholds_too_small_for_a_number() -> None:
    assert np.isfinite(least_noncentrality(3.0, 0.0))


def test_sight_falls_with_conditions_and_rises_with_rows() -> None:
    rng = np.random.default_rng(0)
    effects = []
    for n_rows in (200, 2000):
        engine = on(*rng.integers(0, 3, (5, n_rows)))
        seen = [describe_sight(engine, everyone(engine, 0), k, 4, 10.0) for k in range(3)]
        assert [sight.order for sight in seen] == [0, 1, 2]
        assert all(sight.threshold == 2.0**-10 for sight in seen)
        effects.append([sight.effect for sight in seen])
        assert effects[-1] == sorted(effects[-1])
    assert all(many < few for few, many in zip(*effects, strict=True))


def test_nothing_to_look_at() -> None:
    engine = on(*np.random.default_rng(0).integers(0, 3, (2, 100)))
    assert describe_sight(engine, Task(0, EMPTY), 0, 0, 5.0).effect > 0


def test_a_bend_in_sight_is_found() -> None:
    """Tests on features favour what is linear, but sight holds for the other kinds, too."""
    found, n_rows, names = 0, 400, [f"x{i}" for i in range(4)]
    for seed in range(20):
        rng = np.random.default_rng(seed)
        levels = rng.integers(0, 3, (4, n_rows))
        table = dict(zip(names, levels, strict=True))
        noise = rng.normal(size=n_rows)
        seen = komb.markov_blanket(table | {"y": noise}, "y").sight[0].effect
        bend = np.array([-1.0, 2.0, -1.0])[levels[0]] / np.sqrt(2.0)
        correlation = np.sqrt(1.0 - 2.0 ** (-2.0 * seen))
        target = correlation * bend + np.sqrt(1.0 - correlation**2) * noise
        found += "x0" in komb.markov_blanket(table | {"y": target}, "y")
    assert found >= 15
