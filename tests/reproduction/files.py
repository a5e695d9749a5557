"""Files as in the MMHC supplement, of a network small enough for tests."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from komb.data.models.bayesian_network import DiscreteNetwork
from komb.reproduction.datasets import N_ROWS

# Strong dependences: with thousands of rows nearly all of every blanket can be found.
NETWORK = DiscreteNetwork.random(7, n_edges=8, cardinality=2, concentration=0.3, seed=3)


def write_samples(
    folder: Path, name: str = "Alarm1", *, n_samples: int = 2, network: DiscreteNetwork = NETWORK
) -> Path:
    """Write the graph and some samples of a network, under the name of one in the paper."""
    folder.mkdir(parents=True, exist_ok=True)
    names = network.names
    matrix = [[int(one in network.parents(other)) for other in names] for one in names]
    write_matrix(folder / f"{name}_graph.txt", matrix)
    for sample in range(1, n_samples + 1):
        codes = network.sample(N_ROWS, seed=sample).codes.T
        write_matrix(folder / f"{name}_s{N_ROWS}_v{sample}.txt", codes)
    return folder


def write_matrix(path: Path, matrix: object) -> None:
    np.savetxt(path, np.asarray(matrix), fmt="%d", delimiter="  ")


def pack(folder: Path, archive: Path) -> Path:
    """Put all text files of a folder into a zip archive; returns the folder of that."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(folder.glob("*.txt")):
            packed.write(path, f"inside/{path.name}")
    return archive.parent
