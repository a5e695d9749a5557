"""Sweeps: how many sets are counted and decided in a second, beside PLINK's BOOST.

    python benchmarks/sweeps.py [--part pairs|triples|missing ...] [--threads 1 2]

Columns are genotypes, of three levels, that have nothing to do with the target, as most columns of
a genome have not; a sweep tests each of them given each other (pairs), or given two others
(triples), for dependences that are significant among so many. PLINK 1.9 (``plink1.9`` or ``plink``
on the PATH) searches the same pairs with ``--fast-epistasis boost``, which tests the interaction of
two genotypes. Its time is that of the whole program, komb's that of the sweep, without reading the
table.
"""

from __future__ import annotations

import argparse
import math
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from common import best_of, print_table
from komb.citests.engines import open_engine
from komb.data.parts import CodesHere
from komb.data.table import DiscreteTable
from komb.engine.engine import AllSets
from komb.engine.threads import use_threads

Genotypes = npt.NDArray[np.uint8]

REPEATS = 3
LEAST_BITS = 30.0  # as dependences need among a thousand million tests
MISSING = 3  # the code that follows the last genotype
#: part -> columns, rows, conditions, share of values that are missing
PARTS = {
    "pairs": (2_000, 5_000, 1, 0.0),
    "triples": (300, 2_000, 2, 0.0),
    "missing": (10_000, 3_000, 1, 0.02),
}


def draw(n_columns: int, n_rows: int, share: float) -> tuple[Genotypes, npt.NDArray[np.uint8]]:
    """Draw genotypes of random frequencies ``[column, row]``, and a target of two levels."""
    rng = np.random.default_rng(0)
    frequency = rng.uniform(0.1, 0.5, (n_columns, 1))
    genotypes = rng.binomial(2, frequency, (n_columns, n_rows)).astype(np.uint8)
    genotypes[rng.random(genotypes.shape) < share] = MISSING
    return genotypes, rng.integers(0, 2, n_rows, dtype=np.uint8)


def as_table(genotypes: Genotypes, target: npt.NDArray[np.uint8]) -> DiscreteTable:
    codes = np.vstack((genotypes, target))
    levels = (*((0, 1, 2),) * len(genotypes), (0, 1))
    return DiscreteTable(tuple(range(len(codes))), CodesHere(codes), levels)


def sweep_seconds(table: DiscreteTable, test: str, size: int, repeats: int) -> float:
    target = table.n_columns - 1
    pool = frozenset(range(target))

    def work() -> None:
        open_engine(table, test).strong(target, AllSets(pool, pool, size), LEAST_BITS)

    work()  # kernels are loaded
    return best_of(repeats, work)


def write_plink(folder: Path, genotypes: Genotypes, target: npt.NDArray[np.uint8]) -> Path:
    """Write a table in PLINK's binary format; returns what its files' names begin with."""
    n_columns, n_rows = genotypes.shape
    two_bits = np.array([3, 2, 0, 1], dtype=np.uint8)[genotypes]  # by number of the first allele
    padded = np.zeros((n_columns, 4 * -(-n_rows // 4)), dtype=np.uint8)
    padded[:, :n_rows] = two_bits
    quads = padded.reshape(n_columns, -1, 4)
    packed = (quads << np.array([0, 2, 4, 6], dtype=np.uint8)).sum(axis=2, dtype=np.uint8)
    prefix = folder / "table"
    prefix.with_suffix(".bed").write_bytes(b"\x6c\x1b\x01" + packed.tobytes())
    snps = (f"1\tsnp{i}\t0\t{i + 1}\tA\tG\n" for i in range(n_columns))
    prefix.with_suffix(".bim").write_text("".join(snps))
    people = (f"p{i}\tp{i}\t0\t0\t1\t{1 + y}\n" for i, y in enumerate(target.tolist()))
    prefix.with_suffix(".fam").write_text("".join(people))
    return prefix


def plink_seconds(plink: str, genotypes: Genotypes, target: Any, threads: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        prefix = write_plink(Path(folder), genotypes, target)
        command = [plink, "--bfile", str(prefix), "--fast-epistasis", "boost", "--threads"]
        command += [str(threads), "--out", str(prefix)]
        started = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - started


def measure(part: str, threads: Sequence[int], plink: str | None) -> list[list[str]]:
    n_columns, n_rows, size, share = PARTS[part]
    genotypes, target = draw(n_columns, n_rows, share)
    table = as_table(genotypes, target)
    n_sets = math.comb(n_columns, size + 1)
    repeats = 1 if part == "missing" else REPEATS
    rows = []
    for count in threads:
        beside = math.nan
        if plink is not None and size == 1:
            beside = min(plink_seconds(plink, genotypes, target, count) for _ in range(repeats))
        for test in ("g-sci", "g"):
            with use_threads(count):
                seconds = sweep_seconds(table, test, size, repeats)
            rows.append(
                [f"{part}: {n_columns:,} x {n_rows:,}", test, str(count), f"{seconds:.2f}"]
                + [f"{n_sets / seconds / 1e6:.1f}"]
                + ([f"{beside:.2f}", f"{beside / seconds:.1f}"] if beside > 0 else ["-", "-"])
            )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    options = parser.parse_args()
    plink = shutil.which("plink1.9") or shutil.which("plink")
    header = ["sweep", "test", "threads", "s", "million sets/s", "PLINK s", "PLINK / komb"]
    print_table(
        header, [row for part in options.part for row in measure(part, options.threads, plink)]
    )


if __name__ == "__main__":
    main()
