"""Where the data of the experiments come from."""

from __future__ import annotations

import gzip
import importlib.util
import shutil
from itertools import chain, combinations
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from komb.data.models.bayesian_network import DiscreteNetwork
from komb.data.table import DiscreteTable
from komb.errors import DataError, FileError, MissingPackageError, ParameterError, UnknownNameError
from komb.reproduction.datasets import (
    N_ROWS,
    Dataset,
    measure_separators,
    open_dataset,
    open_networks,
)
from komb.reproduction.paper import FUNCTIONS, NETWORKS
from tests.reproduction.files import NETWORK, pack, write_matrix, write_samples


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_samples(tmp_path_factory.mktemp("mmhc"))


class TestBooleanFunctions:
    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_every_variable_is_in_every_blanket(self, name: str) -> None:
        dataset = open_dataset(name)
        assert dataset.targets() == ["X1", "X2", "X3", "Y"]
        assert dataset.truth["X2"] == ("X1", "X3", "Y")
        assert dataset.fingerprint() == ""

    def test_samples_are_different_and_repeatable(self) -> None:
        dataset = open_dataset("or")
        first, again, second = (dataset.table(number, 200).codes for number in (1, 1, 2))
        assert np.array_equal(first, again)
        assert not np.array_equal(first, second)


class TestSampledNetworks:
    def check(self, dataset: Dataset) -> None:
        new_name = {name: f"V{number}" for number, name in enumerate(NETWORK.names, start=1)}
        assert dataset.truth == {
            new_name[name]: tuple(new_name[member] for member in NETWORK.blanket(name))
            for name in NETWORK.names
        }
        for sample in (1, 2):
            table = dataset.table(sample)
            assert table.names == tuple(dataset.truth)
            assert np.array_equal(table.codes, NETWORK.sample(N_ROWS, seed=sample).codes)

    def test_text_files(self, folder: Path) -> None:
        self.check(open_dataset("Alarm1", folder))

    def test_zip_archives(self, folder: Path, tmp_path: Path) -> None:
        packed = open_dataset("Alarm1", pack(folder, tmp_path / "alarm.zip"))
        self.check(packed)
        assert packed.fingerprint() == open_dataset("Alarm1", folder).fingerprint()

    def test_targets_have_the_largest_blankets(self, folder: Path) -> None:
        dataset = open_dataset("Alarm1", folder)
        targets = dataset.targets(4)
        sizes = {name: len(blanket) for name, blanket in dataset.truth.items()}
        rank = sorted(sizes, key=lambda name: (-sizes[name], int(name[1:])))
        assert targets == rank[:4]
        assert len({sizes[name] for name in targets}) < 4  # there are ties to be broken

    def test_edges_go_from_row_to_column(self, tmp_path: Path) -> None:
        write_matrix(tmp_path / "Barley_graph.txt", [[0, 1, 0], [0, 0, 0], [0, 1, 0]])
        dataset = open_dataset("Barley", tmp_path)
        assert dataset.truth["V1"] == ("V2", "V3")
        assert list(dataset.graph.edges) == [("V1", "V2"), ("V3", "V2")]

    def test_fingerprints_tell_sources_apart(self, folder: Path, tmp_path: Path) -> None:
        copy = Path(shutil.copytree(folder, tmp_path / "copy"))
        before = open_dataset("Alarm1", copy).fingerprint()
        assert before == open_dataset("Alarm1", folder).fingerprint()
        write_matrix(copy / f"Alarm1_s{N_ROWS}_v1.txt", NETWORK.sample(N_ROWS, seed=9).codes.T)
        assert open_dataset("Alarm1", copy).fingerprint() != before


class TestBadFiles:
    def test_no_folder(self, tmp_path: Path) -> None:
        with pytest.raises(ParameterError, match=r"'data' must be a folder; got .*mmhc_index"):
            open_dataset("Alarm1", tmp_path / "none")

    def test_no_graph(self, folder: Path) -> None:
        with pytest.raises(FileError, match=r"no 'Barley_graph.txt' in .*leave 'data' out"):
            open_networks(folder, NETWORKS)

    def test_no_sample(self, folder: Path) -> None:
        with pytest.raises(FileError, match=rf"no 'Alarm1_s{N_ROWS}_v3.txt' in "):
            open_dataset("Alarm1", folder).table(3)

    def test_no_zip_archive(self, tmp_path: Path) -> None:
        (tmp_path / "alarm.zip").write_text("nothing")
        with pytest.raises(
            FileError, match=r"alarm.zip': File is not a zip file. Download the archive"
        ):
            open_dataset("Alarm1", tmp_path)

    def test_no_numbers(self, tmp_path: Path) -> None:
        (tmp_path / "Alarm1_graph.txt").write_text("a b\nc d\n")
        with pytest.raises(FileError, match=r"_graph.txt' must hold a table of whole numbers"):
            open_dataset("Alarm1", tmp_path)

    @pytest.mark.parametrize("matrix", [[[0, 1], [1, 0]], [[0, 1, 0], [0, 0, 0]]])
    def test_no_acyclic_graph(self, tmp_path: Path, matrix: list[list[int]]) -> None:
        write_matrix(tmp_path / "Alarm1_graph.txt", matrix)
        with pytest.raises(FileError, match="adjacency matrix of a directed acyclic graph"):
            open_dataset("Alarm1", tmp_path)

    def test_another_number_of_columns(self, tmp_path: Path) -> None:
        write_samples(tmp_path)
        write_matrix(tmp_path / f"Alarm1_s{N_ROWS}_v1.txt", [[0, 1, 0]])
        with pytest.raises(DataError, match="5000 rows and, as the graph, 7 columns; it has 1 and"):
            open_dataset("Alarm1", tmp_path).table(1)


class TestBundledNetworks:
    def test_without_pgmpy(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
        with pytest.raises(MissingPackageError, match=r'pip install "komb\[networks\]"'):
            open_networks(None, NETWORKS)

    def test_samples_are_drawn(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        bif = (
            "network x { }\n"
            "variable a { type discrete [ 2 ] { no, yes }; }\n"
            "variable b { type discrete [ 2 ] { no, yes }; }\n"
            "probability ( a ) { table 0.5, 0.5; }\n"
            "probability ( b | a ) { (no) 0.9, 0.1; (yes) 0.2, 0.8; }\n"
        )
        (tmp_path / "alarm.bif.gz").write_bytes(gzip.compress(bif.encode()))
        monkeypatch.setattr("komb.reproduction.datasets._bundled_folder", lambda: tmp_path)
        dataset = open_dataset("Alarm1")
        assert dataset.truth == {"a": ("b",), "b": ("a",)}
        assert dataset.table(1).n_rows == N_ROWS
        assert not np.array_equal(dataset.table(1).codes, dataset.table(2).codes)
        assert len(dataset.fingerprint()) == 16


class TestNames:
    def test_unknown(self) -> None:
        with pytest.raises(UnknownNameError, match=r"no network 'Alarm'. Did you mean 'Alarm1'\?"):
            open_networks(None, ["Alarm"])
        with pytest.raises(UnknownNameError, match="no dataset 'xor'"):
            open_dataset("xor")

    def test_the_order_is_always_the_same(self, tmp_path: Path) -> None:
        for name in ("Mildew", "Alarm1"):
            write_samples(tmp_path, name, n_samples=0)
        assert list(open_networks(tmp_path, ["Mildew", "Alarm1"])) == ["Alarm1", "Mildew"]


class Graph(Dataset):
    """A network of which only the graph matters."""

    def table(self, sample: int, n_rows: int = N_ROWS) -> DiscreteTable:
        raise NotImplementedError


def naive_separators(dataset: Dataset, target: str, other: str) -> list[set[str]]:
    """All d-separators inside the blanket, by size."""
    blanket = dataset.truth[target]
    subsets = chain.from_iterable(combinations(blanket, n) for n in range(len(blanket) + 1))
    return [
        set(subset)
        for subset in subsets
        if nx.is_d_separator(dataset.graph, {target}, {other}, set(subset))
    ]


class TestSeparators:
    @pytest.mark.parametrize("seed", range(8))
    def test_against_all_subsets_of_all_blankets(self, seed: int) -> None:
        dataset = Graph("random", DiscreteNetwork.random(9, n_edges=9 + seed, seed=seed).graph)
        for target, blanket in dataset.truth.items():
            for other in dataset.truth.keys() - {target, *blanket}:
                separators = naive_separators(dataset, target, other)
                minimal = [one for one in separators if not any(less < one for less in separators)]
                size, smallest = measure_separators(dataset, target, other)
                assert size in {len(one) for one in minimal}
                assert smallest == len(separators[0])

    @pytest.mark.parametrize(
        ("edges", "sizes"),
        [
            ("tm mx", (1, 1)),  # path
            ("mt mx", (1, 1)),  # fork
            ("tm sm sx", (0, 0)),  # collider: nothing to block
            ("at bt ca cb xc ck tk", (2, 1)),  # a and b, or c, where their paths to x meet
        ],
    )
    def test_small_graphs(self, edges: str, sizes: tuple[int, int]) -> None:
        dataset = Graph("g", nx.DiGraph(map(tuple, edges.split())))
        assert measure_separators(dataset, "t", "x") == sizes
