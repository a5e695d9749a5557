"""Benchmark networks, and independent copies of them side by side."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from common import NETWORKS
from komb.data.names import Name
from komb.data.table import DiscreteTable
from komb.reproduction.datasets import BundledNetwork, Dataset, open_dataset

__all__ = ["Tiles"]

N_LARGEST = 10  # blankets a network in the paper


@dataclass(frozen=True)
class Tiles:
    """Copies of a network that know nothing of each other; one copy is the network itself."""

    name: str
    dataset: Dataset
    copies: int
    seed: int

    @classmethod
    def open(cls, name: str, data: Path | None, seed: int) -> Tiles:
        """Open ``child``, ``child*3``, ``Alarm1`` (from ``data`` if given) and the like."""
        base, star, copies = name.partition("*")
        if star and not (copies.isdecimal() and int(copies)):
            raise SystemExit(f"Copies of a network are written child*3; got {name!r}.")
        dataset = open_dataset(base, data) if base in NETWORKS else BundledNetwork(base)
        return cls(name, dataset, int(copies or 1), seed)

    @property
    def truth(self) -> dict[Name, set[Name]]:
        """The true blanket of every column, in the order of the table."""
        return {
            self._column(node, copy): {self._column(member, copy) for member in blanket}
            for copy in range(self.copies)
            for node, blanket in self.dataset.truth.items()
        }

    def table(self, sample: int, n_rows: int) -> DiscreteTable:
        """Return sample number ``sample``, from 1; every copy in it is a sample of its own."""
        # Samples in files have their numbers, only those that are drawn depend on the seed.
        offset = 1000 * self.seed if isinstance(self.dataset, BundledNetwork) else 0
        first = offset + (sample - 1) * self.copies + 1
        parts = [self.dataset.table(first + copy, n_rows) for copy in range(self.copies)]
        names = [self._column(name, copy) for copy, part in enumerate(parts) for name in part.names]
        return DiscreteTable.from_codes(np.concatenate([part.codes for part in parts]).T, names)

    def targets(self, table: DiscreteTable, sample: int, wanted: str) -> list[Name]:
        """Choose targets that vary: ``all``, the ten ``largest`` blankets, or so many at random."""
        truth = self.truth
        if wanted == "largest":
            names = sorted(truth, key=lambda name: -len(truth[name]))[:N_LARGEST]
            return [name for name in names if self._varies(table, name)]
        varying = [name for name in truth if self._varies(table, name)]
        if wanted == "all":
            return varying
        rng = np.random.default_rng([self.seed, sample, zlib.crc32(self.name.encode())])
        chosen = rng.permutation(len(varying))[: int(wanted)]
        return [varying[position] for position in sorted(chosen.tolist())]

    def _column(self, node: Name, copy: int) -> str:
        return str(node) if self.copies == 1 else f"{node}.{copy + 1}"

    @staticmethod
    def _varies(table: DiscreteTable, name: Name) -> bool:
        return len(table.levels[table.index(name)]) > 1
