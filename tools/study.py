"""Simulate the cohort in ``examples/study.*``: 1,000 people, 600 variants on 22 chromosomes.

    python tools/study.py examples

Linkage: the chromosomes of a person are mosaics of some ancestors', in pieces of a dozen variants.
Structure: a third of the people descend from other ancestors, and have other risks. What acts:

- on ``status`` ancestry, age, a variant by itself, and two variants on chromosomes 6 and 11 that
  raise the odds where just one of them has a copy of its rarer allele;
- on ``ldl`` ancestry, age, sex, a variant by itself, and the product of two on chromosomes 2, 19.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

N_PEOPLE, N_ANCESTORS, PER_PIECE = 1_000, 60, 12
PER_CHROMOSOME = [
    40,
    40,
    36,
    34,
    34,
    32,
    32,
    30,
    28,
    28,
    28,
    28,
    26,
    24,
    24,
    24,
    22,
    22,
    20,
    18,
    15,
    15,
]
MISSING = 0.01
ALONE, TOGETHER = (0, 20), ((5, 12), (10, 14))  # chromosome less one, variant: on status
LDL_ALONE, LDL_TOGETHER = (15, 10), ((1, 25), (18, 8))

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def make_chromosome(rng: np.random.Generator, n: int, group: Ints) -> Ints:
    """Return copies of the rarer allele, of shape (people, variants)."""
    frequency = rng.uniform(0.1, 0.5, n)
    own = np.stack([np.clip(frequency + rng.normal(0, 0.08, n), 0.05, 0.6) for _ in range(2)])
    ancestors = rng.random((2, N_ANCESTORS, n)) < own[:, None, :]
    pieces = np.cumsum(rng.random((2, len(group), n)) < 1 / PER_PIECE, axis=2, dtype=np.int64)
    chosen = rng.integers(0, N_ANCESTORS, (2, len(group), n + 1))
    copied = np.take_along_axis(chosen, pieces, axis=2)
    return np.asarray(ancestors[group[None, :, None], copied, np.arange(n)].sum(0))


def principal_components(genotypes: Ints) -> Floats:
    """Return the first two principal components of people."""
    scaled = (genotypes - genotypes.mean(0)) / np.maximum(genotypes.std(0), 1e-9)
    vectors, _, _ = np.linalg.svd(scaled, full_matrices=False)
    signs = np.sign(vectors[np.abs(vectors).argmax(0), np.arange(vectors.shape[1])])
    return np.asarray(vectors[:, :2] * signs[:2])


def write_bed(path: Path, genotypes: Ints, is_missing: npt.NDArray[np.bool_]) -> None:
    """Write two bits for each genotype, variant by variant, the first person in the lowest."""
    bits = np.where(is_missing, 1, np.array([3, 2, 0])[genotypes]).T
    bits = np.pad(bits, ((0, 0), (0, -len(genotypes) % 4)))
    four = bits.reshape(len(bits), -1, 4) << np.array([0, 2, 4, 6])
    path.write_bytes(b"\x6c\x1b\x01" + four.sum(2).astype(np.uint8).tobytes())


def main(folder: Path) -> None:
    """Write the files."""
    rng = np.random.default_rng(2024)
    group = (rng.random(N_PEOPLE) < 1 / 3).astype(np.int64)
    chromosomes = [make_chromosome(rng, n, group) for n in PER_CHROMOSOME]
    genotypes = np.hstack(chromosomes)
    age, sex = rng.integers(35, 75, N_PEOPLE), rng.integers(1, 3, N_PEOPLE)

    def at(place: tuple[int, int]) -> Ints:
        return chromosomes[place[0]][:, place[1]]

    just_one = (at(TOGETHER[0]) > 0) ^ (at(TOGETHER[1]) > 0)
    odds = -2.4 + 0.9 * group + 0.03 * (age - 55) + 0.7 * at(ALONE) + 1.6 * just_one
    status = 1 + (rng.random(N_PEOPLE) < 1 / (1 + np.exp(-odds)))
    first, second = (at(place) - at(place).mean() for place in LDL_TOGETHER)
    ldl = 3.2 + 0.3 * group + 0.01 * (age - 55) + 0.1 * sex + 0.25 * at(LDL_ALONE)
    ldl = ldl + 0.45 * first * second + rng.normal(0, 0.7, N_PEOPLE)
    write_bed(folder / "study.bed", genotypes, rng.random(genotypes.shape) < MISSING)
    names = [(c, i) for c, n in enumerate(PER_CHROMOSOME, 1) for i in range(n)]
    places = [1_000_000 + 40_000 * i + int(rng.integers(0, 30_000)) for _, i in names]
    write(folder / "study.bim", [
        [c, f"rs{c}{i:02}", 0, place, "A", "G"] for (c, i), place in zip(names, places, strict=True)
    ])  # fmt: skip
    ids = [(f"F{i:04}", f"P{i:04}") for i in range(1, N_PEOPLE + 1)]
    people = list(zip(ids, sex.tolist(), status.tolist(), strict=True))
    write(folder / "study.fam", [[*own, 0, 0, s, y] for own, s, y in people])
    lines: list[list[Any]] = [["FID", "IID", "status", "ldl"]]
    write(folder / "study.pheno", lines + [
        [*own, y, "NA" if i % 50 == 7 else f"{value:.2f}"]
        for i, ((own, _, y), value) in enumerate(zip(people, ldl.tolist(), strict=True))
    ])  # fmt: skip
    components = principal_components(genotypes)
    lines = [["FID", "IID", "age", "sex", "PC1", "PC2"]]
    write(folder / "study.covar", lines + [
        [*own, a, s, *(f"{x:.4f}" for x in pcs)]
        for (own, s, _), a, pcs in zip(people, age.tolist(), components.tolist(), strict=True)
    ])  # fmt: skip


def write(path: Path, lines: list[list[Any]]) -> None:
    """Write fields with tabs between."""
    path.write_text("".join("\t".join(map(str, line)) + "\n" for line in lines))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
