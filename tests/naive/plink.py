"""PLINK's binary files, one genotype at a time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

#: Two bits for a number of copies of the first allele; None was not called.
BITS: dict[int | None, int] = {2: 0b00, None: 0b01, 1: 0b10, 0: 0b11}


def write_bed(path: Path, variants: Sequence[Sequence[int | None]]) -> None:
    """Write genotypes ``[variant][person]``, the first person in the lowest bits of a byte."""
    data = bytearray(b"\x6c\x1b\x01")
    for genotypes in variants:
        for first in range(0, len(genotypes), 4):
            byte = 0
            for place, genotype in enumerate(genotypes[first : first + 4]):
                byte |= BITS[genotype] << 2 * place
            data.append(byte)
    path.write_bytes(bytes(data))


def write_cohort(
    prefix: Path,
    variants: Sequence[Sequence[int | None]],
    names: Sequence[str] | None = None,
    phenotypes: Sequence[object] | None = None,
) -> Path:
    """Write all three files; returns the ``.bed`` file."""
    n_people = len(variants[0])
    names = names or [f"rs{i}" for i in range(len(variants))]
    phenotypes = phenotypes or [-9] * n_people
    bed = prefix.with_suffix(".bed")
    write_bed(bed, variants)
    lines = [f"1\t{name}\t0\t{100 + i}\tA\tG\n" for i, name in enumerate(names)]
    prefix.with_suffix(".bim").write_text("".join(lines))
    people = [f"f{i} p{i} 0 0 1 {y}\n" for i, y in enumerate(phenotypes)]
    prefix.with_suffix(".fam").write_text("".join(people))
    return bed
