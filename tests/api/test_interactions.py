"""Groups of columns that act together: against the naive twin, and every way to ask."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import komb
from komb.data.kinds import Place
from komb.data.names import Name
from komb.engine.group_tests import normal_scores
from komb.errors import DataError, InputError, ParameterError
from tests.naive.groups import group_test


def make_table(seed: int, n: int = 300, n_columns: int = 6) -> dict[str, np.ndarray]:
    """Columns of 2 to 4 levels, two of which act together on Y."""
    rng = np.random.default_rng(seed)
    columns = {f"X{i}": rng.integers(0, 2 + (i + seed) % 3, n) for i in range(n_columns)}
    together = (columns["X0"] > 0) ^ (columns["X1"] > 0)
    return columns | {"Y": np.where(rng.random(n) < 0.25, ~together, together).astype(int)}


def with_gaps(columns: dict[str, np.ndarray], seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        name: np.where(rng.random(len(own)) < 0.05, np.nan, own) if name != "Y" else own
        for name, own in columns.items()
    }


def listed(column: np.ndarray) -> list[int | None]:
    return [None if math.isnan(value) else int(value) for value in column]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["two", "three", "measured"])
@pytest.mark.parametrize("test", ["interaction", "association"])
def test_all_groups_are_as_in_the_twin(seed: int, kind: str, test: str) -> None:
    rng = np.random.default_rng(seed)
    columns = make_table(seed)
    if seed % 2:
        columns = with_gaps(columns, seed)
    if kind == "three":
        columns["Y"] = np.where(rng.random(300) < 0.2, 2, columns["Y"])
    if kind == "measured":
        columns["Y"] = columns["Y"] + rng.normal(size=300)
    given = {"C": rng.normal(size=300)} if seed > 1 else {}
    found = komb.interactions(
        columns | given, "Y", 3, test=test, given=[*given], proxies=1.0, scale="scores", level=1e-30
    )  # no finding, beside which others would be tested
    y = columns["Y"]
    target = normal_scores(y).tolist() if kind == "measured" else y.tolist()
    names = [name for name in columns if name != "Y"]
    n_groups = len(found) + sum(len(each.proxies) for each in found)
    every = math.comb(len(names), 2) + math.comb(len(names), 3)
    assert every - 2 <= n_groups <= every  # those whose cells are all rare have no test
    # with three classes, triples have cells on the edge of being tested
    groups = [group for group in found if kind != "three" or len(group.columns) == 2]
    for group in groups[:: 1 + len(groups) // 8]:
        statistic, df, p_value = group_test(
            [listed(columns[str(name)]) for name in group.columns], target,
            is_measured=kind == "measured", is_saturated=test == "association",
            covariates=[[*own] for own in given.values()],
        )  # fmt: skip
        assert group.df == df
        assert group.statistic == pytest.approx(statistic, rel=1e-5, abs=1e-6)
        assert group.p_value == pytest.approx(p_value, rel=1e-4)


def test_family_wise_p_values_by_hand() -> None:
    found = komb.interactions(make_table(0), "Y")
    for group in found:  # no column depends on Y by itself: all share the level
        assert group.p_family == pytest.approx(min(1.0, 15 * group.p_value))
    order = sorted(found, key=lambda group: group.p_value)
    rates = [15 * group.p_value / rank for rank, group in enumerate(order, 1)]
    for rank, group in enumerate(order):
        assert group.p_fdr == pytest.approx(min(1.0, *rates[rank:]))


def parity(n: int, size: int, width: int, seed: int) -> dict[str, np.ndarray]:
    """Genotypes, of which the first act together, none alone."""
    rng = np.random.default_rng(seed)
    columns = {f"S{i}": rng.binomial(2, 0.3, n) for i in range(width)}
    odd = sum(columns[f"S{i}"] > 0 for i in range(size)) % 2
    return columns | {"Y": np.where(rng.random(n) < 0.25, 1 - odd, odd)}


@pytest.mark.parametrize(("size", "width"), [(2, 60), (3, 30), (4, 16)])
def test_the_screen_lists_what_is_strong(size: int, width: int) -> None:
    columns = parity(600, size, width, size)
    truth = tuple(f"S{i}" for i in range(size))
    found = komb.interactions(columns, "Y", size)
    assert [group.columns for group in found.significant] == [truth]  # no other of its columns
    target = columns["Y"].tolist()
    for group in [*combinations(range(width), size)][:: math.comb(width, size) // 25]:
        _, _, p_value = group_test(
            [columns[f"S{i}"].tolist() for i in group], target, is_measured=False
        )
        if p_value < 0.2 * (200 if size < 4 else 1) / math.comb(width, size):
            found.of([f"S{i}" for i in group])  # raises if it is not listed


@pytest.mark.parametrize("options", [{"n_jobs": 1}, {"resume": "journal"}])
def test_the_answer_is_the_same(options: dict[str, Any], tmp_path: Path) -> None:
    columns = parity(500, 3, 20, 0)
    plain = komb.interactions(columns, "Y", 3)
    if "resume" in options:
        options = {"resume": tmp_path / "journal"}
        komb.interactions(columns, "Y", 3, **options)
    assert komb.interactions(columns, "Y", 3, **options).groups == plain.groups


def test_linked_groups_are_one_finding() -> None:
    rng = np.random.default_rng(0)
    columns = parity(2000, 2, 8, 1)
    near = np.where(rng.random(2000) < 0.5, columns["S0"], rng.binomial(2, 0.3, 2000))
    found = komb.interactions(columns | {"near": near}, "Y")
    assert [group.columns for group in found.significant] == [("S0", "S1")]
    assert ("S1", "near") in found[0].proxies
    assert np.corrcoef(near, columns["S0"])[0, 1] ** 2 < 0.5  # no near-copy


def test_groups_that_share_a_column_stay_two() -> None:
    rng = np.random.default_rng(0)
    a, b, c = (rng.integers(0, 2, 2000) for _ in range(3))
    y = (a ^ b) + (a ^ c) + rng.normal(size=2000)
    found = komb.interactions({"a": a, "b": b, "c": c, "n": rng.integers(0, 2, 2000), "Y": y}, "Y")
    assert [group.columns for group in found.significant] in (
        [("a", "b"), ("a", "c")], [("a", "c"), ("a", "b")],
    )  # fmt: skip


def test_a_finding_that_others_leave_no_test_for_stays() -> None:
    rng = np.random.default_rng(3)
    x = (rng.random((8, 500)) < 0.2).astype(int)
    columns = {f"X{i}": own for i, own in enumerate(x)}
    found = komb.interactions(columns | {"Y": (x[::2] ^ x[1::2]).any(axis=0)}, "Y").significant
    pairs = [("X0", "X1"), ("X2", "X3"), ("X4", "X5"), ("X6", "X7")]
    assert sorted(group.columns for group in found) == pairs


def test_ten_covariates_keep_the_power() -> None:
    rng = np.random.default_rng(1)
    columns = parity(1000, 2, 10, 2)
    given = {f"C{i}": rng.normal(size=1000) for i in range(9)} | {"sex": rng.integers(0, 2, 1000)}
    y = columns["Y"] + 2 * sum(given.values()) + 0.3 * rng.normal(size=1000)
    alone = komb.interactions(columns | {"Y": y}, "Y")
    held = komb.interactions(columns | given | {"Y": y}, "Y", given=[*given])
    assert held[0].columns == ("S0", "S1")
    assert held[0].p_family < 1e-20 < min(group.p_family for group in alone)


def test_covariates_and_missing_values_leave_single_tests_uniform() -> None:
    rng = np.random.default_rng(0)
    columns = {f"S{i}": rng.binomial(2, 0.3, 2000).astype(float) for i in range(200)}
    for own in columns.values():
        own[rng.random(2000) < 0.01] = np.nan
    given = {f"C{i}": rng.normal(size=2000) for i in range(4)}
    y = (given["C0"] + rng.normal(size=2000) > 0).astype(int)
    found = komb.interactions(columns | given | {"Y": y}, "Y", given=[*given])
    assert 0.8 < found.inflation < 1.25


def test_no_outlier_makes_a_finding() -> None:
    rng = np.random.default_rng(0)
    columns = {f"S{i}": rng.binomial(2, 0.1, 500) for i in range(60)}
    y = np.exp(2.0 * rng.normal(size=500))
    for scale in ("scores", "values"):
        assert not komb.interactions(columns | {"Y": y}, "Y", scale=scale).significant


def multiplied(noise: float, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Genotypes, and effects of two of them that multiply, with noise that adds up."""
    rng = np.random.default_rng(seed)
    columns = {f"S{i}": rng.binomial(2, 0.1, 1000) for i in range(30)}
    return columns, 10 * np.exp2(columns["S0"] + columns["S1"]) + noise * rng.normal(size=1000)


def test_effects_that_multiply_interact_where_noise_is_normal() -> None:
    columns, y = multiplied(1.0, 0)
    found = komb.interactions(columns | {"Y": y}, "Y")
    assert [group.columns for group in found.significant] == [("S0", "S1")]
    assert "measured by its values" in found.notes[-1]


def test_effects_that_multiply_with_their_noise_do_not_interact() -> None:
    columns, y = multiplied(0.0, 1)
    noise = np.exp(0.3 * np.random.default_rng(1).normal(size=1000))
    found = komb.interactions(columns | {"Y": y * noise}, "Y")
    assert not found.significant
    assert "logarithm" in found.notes[-1]


def test_what_has_been_found_is_no_noise_for_others() -> None:
    rng = np.random.default_rng(3)
    columns = {f"S{i}": rng.integers(0, 2, 800) for i in range(20)}
    pairs = [(f"S{i}", f"S{i + 1}") for i in range(0, 8, 2)]
    effects = [3.0, 1.0, 0.5, 0.35]
    parities = (k * (columns[a] ^ columns[b]) for k, (a, b) in zip(effects, pairs, strict=True))
    y = sum(parities, 0.5 * rng.normal(size=800))
    found = komb.interactions(columns | {"Y": y}, "Y")
    assert {group.columns for group in found.significant} == {*pairs}


def test_a_column_whose_rows_vary_more_has_no_partners() -> None:
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(10):
        columns = {f"S{i}": rng.binomial(2, 0.2, 1000) for i in range(30)}
        y = rng.normal(size=1000) * (1 + 5 * (columns["S0"] > 0))
        wrong += bool(komb.interactions(columns | {"Y": y}, "Y").significant)
    assert wrong <= 1


def test_between_takes_a_column_of_each() -> None:
    columns = parity(500, 2, 6, 0)
    sides = [["S0", "S2"], ["S1", "S3"]]
    found = komb.interactions(columns, "Y", between=sides)
    every = {group for each in found for group in (each.columns, *each.proxies)}
    assert every == {("S0", "S1"), ("S0", "S3"), ("S1", "S2"), ("S2", "S3")}
    assert found[0].p_family == pytest.approx(4 * found[0].p_value)


def test_groups_of_columns_are_tested_as_one() -> None:
    table = komb.table(parity(800, 2, 6, 0), groups={"gene": ["S0", "S2"], "other": ["S1", "S3"]})
    assert komb.interactions(table, "Y")[0].columns == ("gene", "other")


def test_distance_and_linkage_leave_pairs_out() -> None:
    columns = parity(800, 2, 5, 0)
    codes = np.column_stack([*columns.values()])
    places: dict[Name, Place] = {f"S{i}": Place("1", 1000 * i) for i in range(5)}
    table = replace(komb.DiscreteTable.from_codes(codes, [*columns]), annotations=places)
    assert komb.interactions(table, "Y", min_distance=1000).significant
    far = komb.interactions(table, "Y", min_distance=2000)
    assert not far.significant
    assert ("S0", "S1") not in {each.columns for each in far}


def test_a_stored_table_gives_the_same(tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")
    columns = parity(500, 2, 6, 0)
    pl.DataFrame(columns).write_csv(tmp_path / "table.csv")
    komb.encode([tmp_path / "table.csv"], tmp_path / "stored")
    stored = komb.interactions(komb.read_table(tmp_path / "stored"), "Y")
    here = komb.interactions(komb.read_table(tmp_path / "table.csv"), "Y")
    assert stored.groups == here.groups


def test_results_are_written(tmp_path: Path) -> None:
    found = komb.interactions(parity(500, 2, 6, 0), "Y")
    names = {file.name for file in found.save(tmp_path)}
    assert {"groups.tsv", "columns.tsv", "results.json", "report.html"} <= names
    lines = (tmp_path / "groups.tsv").read_text("utf-8").splitlines()
    assert len(lines) == 1 + len(found)
    assert lines[1].split("\t")[1] == "S0"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"order": 1}, ParameterError, "at least 2 and at most 5"),
        ({"order": 4, "time_budget": 1e-9}, ParameterError, "groups, which take some"),
        ({"between": [["S0"], ["S0"]]}, ParameterError, "no column in both lists"),
        ({"between": "S0"}, ParameterError, "two lists of columns"),
        ({"between": [["S0"], ["Y"]]}, ParameterError, "neither the target nor a covariate"),
        ({"given": ["Y"]}, ParameterError, "not name the target"),
        ({"test": "anova"}, ParameterError, "'interaction' or 'association'"),
        ({"scale": "cubes"}, ParameterError, "'auto' or 'scores'"),
        ({"exclude": ["S0", "S1", "S2", "S3", "S4"]}, DataError, "at least 2 columns that vary"),
    ],
)
def test_what_cannot_be_asked(
    options: dict[str, Any], error: type[InputError], message: str
) -> None:
    with pytest.raises(error, match=message):
        komb.interactions(parity(100, 2, 6, 0), "Y", **options)


def test_only_positive_numbers_have_logarithms() -> None:
    columns, y = multiplied(1.0, 0)
    with pytest.raises(ParameterError, match="not all positive"):
        komb.interactions(columns | {"Y": y - 10.0}, "Y", scale="log")


def test_a_target_of_one_value() -> None:
    columns = parity(100, 2, 6, 0) | {"Y": np.ones(100, int)}
    with pytest.raises(DataError, match="at least 2 values"):
        komb.interactions(columns, "Y")


def test_a_model_has_no_rows() -> None:
    with pytest.raises(DataError, match="a model has no rows to test"):
        komb.interactions(_network(), "Y")


def _network() -> object:
    import networkx as nx

    return nx.DiGraph([("X", "Y")])
