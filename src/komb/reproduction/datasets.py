"""The data of the paper's experiments: five Boolean functions and four benchmark networks.

The networks come either from pgmpy's wheel, which has their probabilities, and are sampled; or from
the files of the MMHC supplement, which are the samples of the paper: ``Alarm1_s5000_v1.txt`` to
``Alarm1_s5000_v10.txt`` with one row per line, and ``Alarm1_graph.txt``, a matrix with a 1 in
row i and column j for an edge from i to j.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import os
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from komb.data.models.bayesian_network import graph_blanket
from komb.data.models.boolean_functions import boolean_network, boolean_table
from komb.data.read.bif import read_bif
from komb.data.read.file_bytes import read_bytes
from komb.data.table import DiscreteTable
from komb.errors import (
    Argument,
    DataError,
    FileError,
    MissingPackageError,
    ParameterError,
    UnknownNameError,
)
from komb.reproduction.paper import BENCHMARK_ROWS, FUNCTIONS, NETWORKS

if TYPE_CHECKING:
    import networkx as nx

N_ROWS = BENCHMARK_ROWS
"""Size of the samples from networks."""

_SUPPLEMENT = "https://pages.mtu.edu/~lebrown/supplements/mmhc_paper/mmhc_index.html"


class Dataset(ABC):
    """Something to draw samples from, with a known graph and so a true blanket per variable."""

    def __init__(self, name: str, graph: nx.DiGraph) -> None:
        self.name = name
        self.graph = graph
        self.truth = {str(node): graph_blanket(graph, node) for node in graph}

    @abstractmethod
    def table(self, sample: int, n_rows: int = N_ROWS) -> DiscreteTable:
        """Return a sample by its number, from 1; always the same one."""

    def fingerprint(self) -> str:
        """Return what tells the source of these samples from others under the same name."""
        return ""

    def targets(self, count: int | None = None) -> list[str]:
        """Return the variables with the largest true blankets, ties in order."""
        return sorted(self.truth, key=lambda name: -len(self.truth[name]))[:count]


class BooleanDataset(Dataset):
    """A noisy Boolean function of three fair coins; the number of a sample is its seed."""

    def __init__(self, function: str) -> None:
        super().__init__(function, boolean_network(function).graph)

    def table(self, sample: int, n_rows: int = N_ROWS) -> DiscreteTable:
        """Draw a sample."""
        return boolean_table(self.name, n_rows, seed=sample)


class BundledNetwork(Dataset):
    """A network out of pgmpy's wheel, any by its file; the number of a sample is its seed."""

    def __init__(self, name: str) -> None:
        # In pgmpy's wheel the paper's Alarm1 is called alarm.
        file = name.lower().removesuffix("1") if name in NETWORKS else name
        self._file = _bundled_folder() / f"{file}.bif.gz"
        self._network = read_bif(self._file)
        super().__init__(name, self._network.graph)

    def table(self, sample: int, n_rows: int = N_ROWS) -> DiscreteTable:
        """Draw a sample."""
        return self._network.sample(n_rows, seed=sample)

    def fingerprint(self) -> str:
        """Return a hash of the network."""
        return _hash(read_bytes(self._file))


class SampledNetwork(Dataset):
    """A benchmark network of which there are samples in files; its variables are V1, V2, ..."""

    def __init__(self, name: str, folder: Path) -> None:
        self._files = _Files(folder)
        file = f"{name}_graph.txt"
        super().__init__(name, _to_graph(_matrix(self._files.read(file), file), file))

    def table(self, sample: int, n_rows: int = N_ROWS) -> DiscreteTable:
        """Read a sample."""
        file = f"{self.name}_s{n_rows}_v{sample}.txt"
        codes = _matrix(self._files.read(file), file)
        if codes.shape != (n_rows, len(self.truth)):
            rows, columns = codes.shape
            raise DataError(
                f"{file!r} must have {n_rows} rows and, as the graph, {len(self.truth)} columns; "
                f"it has {rows} and {columns}. Download the file again."
            )
        return DiscreteTable.from_codes(codes, list(self.truth))

    def fingerprint(self) -> str:
        """Return a hash of the graph and the first sample."""
        names = (f"{self.name}_graph.txt", f"{self.name}_s{N_ROWS}_v1.txt")
        return _hash(b"".join(map(self._files.read, names)))


def open_dataset(name: str, data: str | os.PathLike[str] | None = None) -> Dataset:
    """Open a Boolean function or a network; ``data`` is a folder with the MMHC supplement."""
    if name in FUNCTIONS:
        return BooleanDataset(name)
    if name not in NETWORKS:
        raise UnknownNameError.among("dataset", name, [*FUNCTIONS, *NETWORKS])
    return BundledNetwork(name) if data is None else SampledNetwork(name, Path(data))


def open_networks(data: str | os.PathLike[str] | None, names: Iterable[str]) -> dict[str, Dataset]:
    """Open benchmark networks, in the order of the paper."""
    wanted = set(names)
    for name in sorted(wanted.difference(NETWORKS)):
        raise UnknownNameError.among("network", name, NETWORKS)
    return {name: open_dataset(name, data) for name in NETWORKS if name in wanted}


class _Files:
    """Files of a folder by name, those inside its zip archives as well."""

    def __init__(self, folder: Path) -> None:
        if not os.path.isdir(folder):
            remedy = f"Name the folder with the files from {_SUPPLEMENT}."
            raise ParameterError.because("data", "be a folder", str(folder), remedy)
        self._folder = folder
        self._archive_of: dict[str, tuple[Path, str]] = {}
        for archive in sorted(folder.glob("*.zip")):
            with _open_archive(archive) as opened:
                for member in opened.namelist():
                    self._archive_of[Path(member).name] = (archive, member)

    def read(self, name: str) -> bytes:
        path = self._folder / name
        if os.path.isfile(path):
            return read_bytes(path)
        if name not in self._archive_of:
            missing = f"There is no {name!r} in {str(self._folder)!r}, nor in a zip archive there."
            source = f"The files are at {_SUPPLEMENT}; leave "
            raise FileError(missing, (source, Argument("data"), " out to draw samples instead."))
        archive, member = self._archive_of[name]
        with _open_archive(archive) as opened:
            return opened.read(member)


@contextmanager
def _open_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as opened:
            yield opened
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError) as error:
        raise FileError(
            f"Cannot read {str(path)!r}: {error}. Download the archive again."
        ) from None


def _bundled_folder() -> Path:
    spec = importlib.util.find_spec("pgmpy")  # which is slow to import, and need not be
    if spec is None or spec.origin is None:
        remedy = (
            'Install it: pip install "komb[networks]", or pass the folder with the MMHC samples'
        )
        raise MissingPackageError(
            "The benchmark networks ship with pgmpy, which is not installed.",
            (f"{remedy} as ", Argument("data"), "."),
        )
    return Path(spec.origin).parent / "utils" / "example_models"


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _matrix(text: bytes, file: str) -> npt.NDArray[np.int64]:
    try:
        return np.loadtxt(io.BytesIO(text), dtype=np.int64, ndmin=2)
    except ValueError as error:
        raise FileError(
            f"{file!r} must hold a table of whole numbers: {error}. Download the file again."
        ) from None


def _to_graph(matrix: npt.NDArray[np.int64], file: str) -> nx.DiGraph:
    import networkx as nx

    graph = nx.DiGraph()
    graph.add_nodes_from(f"V{number}" for number in range(1, len(matrix) + 1))
    if matrix.shape == (len(graph),) * 2:
        graph.add_edges_from((f"V{i + 1}", f"V{j + 1}") for i, j in np.argwhere(matrix).tolist())
        if nx.is_directed_acyclic_graph(graph):
            return graph
    raise FileError(
        f"{file!r} must be the adjacency matrix of a directed acyclic graph: square, without a "
        "cycle. Download the file again."
    )


def measure_separators(dataset: Dataset, target: str, other: str) -> tuple[int, int]:
    """Return the sizes of two d-separators of a target and a variable outside its blanket.

    Both lie inside the blanket. The first is inclusion-minimal, which is what the paper measures;
    the second is the smallest there is, which is what the bound l of kOMB has to allow.
    """
    import networkx as nx

    graph, blanket = dataset.graph, set(dataset.truth[target])
    found = nx.find_minimal_d_separator(graph, target, other, restricted=blanket)
    # A smallest separator is also inclusion-minimal, and those have no nodes but ancestors. In the
    # moral graph of the ancestors d-separation is separation: a cut, here one of members alone, so
    # that whatever a path crosses between two members becomes an edge.
    ancestors = {target, other} | nx.ancestors(graph, target) | nx.ancestors(graph, other)
    moral = nx.moral_graph(graph.subgraph(ancestors))
    fixed = ancestors - blanket - {target, other}
    members = nx.Graph(moral.subgraph(ancestors - fixed))
    for crossed in nx.connected_components(moral.subgraph(fixed)):
        members.add_edges_from(combinations(nx.node_boundary(moral, crossed) - fixed, 2))
    return len(found), nx.node_connectivity(members, target, other)
