"""What there is to do: the paper's experiments, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import networkx as nx
import pytest

import komb
from komb.data.table import DiscreteTable
from komb.errors import ParameterError, UnknownNameError
from komb.reproduction.datasets import N_ROWS, Dataset, open_dataset
from komb.reproduction.paper import CLASSICS, FUNCTIONS, NETWORKS, SIZES
from komb.reproduction.plan import (
    SUITES,
    Unit,
    check_suites,
    make_plan,
    needs_networks,
)


class Graph(Dataset):
    """A network of which only the graph matters."""

    def table(self, sample: int, n_rows: int = N_ROWS) -> DiscreteTable:
        raise NotImplementedError


DATASETS: dict[str, Dataset] = {name: open_dataset(name) for name in FUNCTIONS}
DATASETS |= {
    name: Graph(name, nx.path_graph(12, create_using=nx.DiGraph)) for name in NETWORKS
}  # more variables than targets


def cells(units: Iterable[Unit]) -> list[tuple[object, ...]]:
    return [unit.key(cell) for unit in units for cell in unit.cells]


class TestCounts:
    def test_synthetic(self) -> None:
        units = make_plan(["synthetic"], DATASETS)
        assert len(units) == 5 * len(SIZES) * 10 * 4
        assert {len(unit.cells) for unit in units} == {2 * 3 * 3 + 8}

    def test_introduction(self) -> None:
        units = make_plan(["intro"], DATASETS)
        assert {(unit.dataset, unit.n_rows) for unit in units} == {("ex-1", 100), ("ex-1", 1000)}
        assert len(cells(units)) == 2 * 10 * 4 * 26
        assert set(cells(units)) < set(cells(make_plan(["synthetic"], DATASETS)))

    def test_benchmark(self) -> None:
        units = make_plan(["benchmark"], DATASETS)
        assert len(units) == 4 * 10 * 10
        settings = Counter((cell.method, cell.start, cell.test, cell.df) for cell in units[0].cells)
        assert settings == {
            ("komb", "", "g-sci", "observed"): 9,
            ("komb", "iamb", "g-sci", "observed"): 9,
            **{(method, "", "g-sci", "observed"): 1 for method in CLASSICS},
            **{(method, "", "g", "adjusted"): 1 for method in CLASSICS},
        }

    def test_ablation_is_kombs_part_of_two_others(self) -> None:
        ablation = cells(make_plan(["ablation"], DATASETS))
        assert len(ablation) == 5 * 10 * 4 * 18 + 4 * 10 * 10 * 18
        assert set(ablation) < set(cells(make_plan(["synthetic", "benchmark"], DATASETS)))

    def test_runtime(self) -> None:
        units = make_plan(["runtime"], DATASETS)
        assert {unit.sample for unit in units} == {1}
        assert len(cells(units)) == 4 * 10 * (9 + 8)

    def test_separators_need_no_search(self) -> None:
        assert make_plan(["separators"], DATASETS) == []

    def test_nothing_is_done_twice(self) -> None:
        everything = cells(make_plan(SUITES, DATASETS))
        assert len(everything) == len(set(everything)) == 41_600 + 13_600 + 680


class TestCuts:
    def test_samples_and_targets(self) -> None:
        units = make_plan(["benchmark"], DATASETS, samples=2, targets=3)
        assert len(units) == 4 * 2 * 3
        assert {unit.target for unit in units} == set(DATASETS["Alarm1"].targets(3))

    def test_fewer_are_the_beginning_of_more(self) -> None:
        few = cells(make_plan(["synthetic"], DATASETS, samples=1, targets=2))
        many = cells(make_plan(["synthetic"], DATASETS, samples=2, targets=3))
        assert set(few) < set(many)

    def test_one_sample_after_the_other(self) -> None:
        samples = [unit.sample for unit in make_plan(["benchmark"], DATASETS)]
        assert samples == sorted(samples)

    def test_absent_datasets_are_left_out(self) -> None:
        units = make_plan(["benchmark"], {"Barley": DATASETS["Barley"]})
        assert {unit.dataset for unit in units} == {"Barley"}

    def test_what_is_left(self) -> None:
        (unit, *_) = make_plan(["runtime"], DATASETS)
        left = unit.without({unit.key(cell) for cell in unit.cells[:-2]})
        assert left.cells == unit.cells[-2:]


class TestSuites:
    def test_all(self) -> None:
        assert check_suites("all") == check_suites(["all", "intro"]) == SUITES

    def test_one_or_several(self) -> None:
        assert check_suites("runtime") == ("runtime",)
        assert check_suites(["runtime", "intro", "intro"]) == ("intro", "runtime")

    def test_unknown(self) -> None:
        with pytest.raises(UnknownNameError, match=r"no suite 'bench'. Did you mean 'benchmark'\?"):
            check_suites(["bench"])

    def test_none(self) -> None:
        with pytest.raises(ParameterError, match="'suites' must name at least one suite"):
            check_suites([])

    def test_networks(self) -> None:
        with_networks = [suite for suite in SUITES if needs_networks([suite])]
        assert with_networks == ["benchmark", "ablation", "separators", "runtime"]


def test_methods_are_known() -> None:
    assert set(CLASSICS) < set(komb.algorithms())
