"""What there is to do, counted; and the file of what is done, which survives whatever happens."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import networkx as nx
import polars as pl
import pytest

from komb.data.table import DiscreteTable
from komb.errors import FileError, ParameterError, UnknownNameError
from komb.reproduction.datasets import N_ROWS, Dataset, open_dataset
from komb.reproduction.experiments import (
    SUITES,
    Cell,
    Journal,
    Record,
    SeparatorRecord,
    check_suites,
    make_plan,
    needs_networks,
    read_rows,
    write_rows,
)
from komb.reproduction.paper import CLASSICS, FUNCTIONS, NETWORKS, SIZES
from tests.reproduction.made_up import make_komb, make_record, make_separators


class Graph(Dataset):
    """A network of which only the graph matters."""

    def table(self, sample: int, n_rows: int = N_ROWS) -> DiscreteTable:
        raise NotImplementedError


DATASETS: dict[str, Dataset] = {name: open_dataset(name) for name in FUNCTIONS}
DATASETS |= {
    name: Graph(name, nx.path_graph(12, create_using=nx.DiGraph)) for name in NETWORKS
}  # more variables than targets


def plan(*suites: str, samples: int = 10, targets: int = 10) -> list[Cell]:
    return make_plan(suites, DATASETS, samples=samples, targets=targets)


class TestPlan:
    @pytest.mark.parametrize(
        ("suite", "count"),
        [
            ("intro", 2 * 10 * 4 * 26),
            ("synthetic", 5 * len(SIZES) * 10 * 4 * 26),
            ("benchmark", 4 * 10 * 10 * 34),
            ("ablation", 5 * 10 * 4 * 18 + 4 * 10 * 10 * 18),
            ("separators", 0),
            ("runtime", 4 * 10 * 17),
        ],
    )
    def test_counts(self, suite: str, count: int) -> None:
        assert len(plan(suite)) == len(set(plan(suite))) == count

    def test_all_is_in_two_suites(self) -> None:
        assert set(plan(*SUITES)) == set(plan("synthetic", "benchmark"))
        assert len(plan(*SUITES)) == 41_600 + 13_600

    def test_benchmark(self) -> None:
        first = plan("benchmark", samples=1, targets=1)[:34]
        assert Counter((cell.method, *cell.variant) for cell in first) == {
            ("komb", "g-sci", "observed", ""): 9,
            ("komb", "g-sci", "observed", "iamb"): 9,
            **{(method, "g-sci", "observed", ""): 1 for method in CLASSICS},
            **{(method, "g", "adjusted", ""): 1 for method in CLASSICS},
        }

    def test_runtime_is_about_the_first_sample(self) -> None:
        assert {(cell.sample, cell.start) for cell in plan("runtime")} == {(1, "")}

    def test_fewer_are_the_beginning_of_more(self) -> None:
        few = plan("benchmark", samples=2, targets=3)
        assert len(few) == 4 * 2 * 3 * 34
        assert {cell.target for cell in few} == set(DATASETS["Alarm1"].targets(3))
        assert set(few) < set(plan("benchmark", samples=3, targets=4))

    def test_one_sample_after_the_other(self) -> None:
        samples = [cell.sample for cell in plan("benchmark")]
        assert samples == sorted(samples)

    def test_absent_datasets_are_left_out(self) -> None:
        cells = make_plan(["benchmark"], {"Barley": DATASETS["Barley"]})
        assert {cell.dataset for cell in cells} == {"Barley"}


class TestSuites:
    def test_names(self) -> None:
        assert check_suites("all") == check_suites(["all", "intro"]) == SUITES
        assert check_suites(["runtime", "intro", "intro"]) == ("intro", "runtime")

    def test_bad_names(self) -> None:
        with pytest.raises(UnknownNameError, match=r"no suite 'bench'. Did you mean 'benchmark'\?"):
            check_suites(["bench"])
        with pytest.raises(ParameterError, match="'suites' must name at least one suite"):
            check_suites([])

    def test_networks(self) -> None:
        with_networks = [suite for suite in SUITES if needs_networks([suite])]
        assert with_networks == ["benchmark", "ablation", "separators", "runtime"]


RECORDS = [
    make_komb("or", 1, 1, 1 / 3, blanket=(), timed_out=True),
    make_record("or", sample=2),
    make_record("ex-1", target="a, b", start="iamb"),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "results.csv"


def fill(path: Path) -> None:
    with Journal(path) as journal:
        for record in RECORDS:
            journal.append(record)


class TestFiles:
    def test_what_is_written_is_read(self, path: Path) -> None:
        write_rows(path, RECORDS, Record)
        assert read_rows(path, Record) == RECORDS
        pairs = make_separators("Alarm1", [1, 2])
        write_rows(path, pairs, SeparatorRecord)
        assert read_rows(path, SeparatorRecord) == pairs

    def test_others_can_read_it(self, path: Path) -> None:
        write_rows(path, RECORDS, Record)
        frame = pl.read_csv(path)
        assert frame["truth"].to_list() == ["X2 X3"] * 3
        assert frame["order"].to_list() == [1, None, None]

    def test_there_is_none(self, path: Path) -> None:
        assert read_rows(path, Record) == []

    def test_each_record_is_on_disk_at_once(self, path: Path) -> None:
        with Journal(path) as journal:
            for count, record in enumerate(RECORDS, start=1):
                journal.append(record)
                assert read_rows(path, Record) == RECORDS[:count]

    def test_in_the_end_rows_are_sorted(self, path: Path) -> None:
        fill(path)
        assert read_rows(path, Record) == [RECORDS[2], RECORDS[0], RECORDS[1]]

    def test_half_a_line_is_dropped_and_written_anew(self, path: Path) -> None:
        fill(path)
        path.write_bytes(path.read_bytes()[:-20])
        journal = Journal(path)
        assert len(journal.records) == 2
        with journal:
            journal.append(RECORDS[1])
        assert len(read_rows(path, Record)) == 3

    def test_a_cell_that_was_finished_twice_counts_once(self, path: Path) -> None:
        write_rows(path, [*RECORDS, RECORDS[0]], Record)
        assert Journal(path).records == RECORDS

    @pytest.mark.parametrize("broken", ["no row", "", "or,x" + "," * 18])
    def test_a_line_that_is_no_row(self, path: Path, broken: str) -> None:
        write_rows(path, RECORDS, Record)
        lines = path.read_text().splitlines()
        path.write_text("\n".join([*lines[:2], broken, *lines[2:], ""]))
        with pytest.raises(FileError, match=r"Line 3 of '.*results.csv' is not a row of results"):
            read_rows(path, Record)

    def test_another_file(self, path: Path) -> None:
        path.write_text("a,b\n1,2\n")
        with pytest.raises(FileError, match="is not a file of results of this version"):
            read_rows(path, Record)

    def test_no_room(self) -> None:
        if not Path("/dev/full").exists():
            pytest.skip("there is no full device")
        with Path("/dev/full").open("ab", buffering=0) as full:
            journal = Journal(Path("nowhere.csv"))
            journal._file = full
            with pytest.raises(FileError, match="no space left on device"):
                journal.append(RECORDS[0])
