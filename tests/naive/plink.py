"""Files of genotypes, one genotype at a time."""

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


def write_pgen(bed: Path, variants: Sequence[Sequence[int | None]]) -> Path:
    """Write what PLINK 2 would make of a cohort, in the plainest of its ways to store genotypes."""
    counts = len(variants).to_bytes(4, "little") + len(variants[0]).to_bytes(4, "little")
    data = bytearray(b"\x6c\x1b\x02" + counts + b"\x40")
    for genotypes in variants:
        for first in range(0, len(genotypes), 4):
            four = genotypes[first : first + 4]
            data.append(sum((3 if g is None else g) << 2 * i for i, g in enumerate(four)))
    lines = [line.split("\t") for line in bed.with_suffix(".bim").read_text().splitlines()]
    sites = [
        "#CHROM\tPOS\tID\tREF\tALT",
        *(f"{c}\t{p}\t{i}\t{b}\t{a}" for c, i, _, p, a, b in lines),
    ]
    people = ["#FID IID SEX PHENO1"]
    for line in bed.with_suffix(".fam").read_text().splitlines():
        family, person, _, _, sex, phenotype = line.split()
        people.append(f"{family} {person} {sex} {phenotype}")
    bed.with_suffix(".pvar").write_text("\n".join(["##a comment", *sites]) + "\n")
    bed.with_suffix(".psam").write_text("\n".join(people) + "\n")
    pgen = bed.with_suffix(".pgen")
    pgen.write_bytes(bytes(data))
    return pgen


CALLS: dict[int | None, list[str]] = {
    0: ["0/0", "0|0", "0"], 1: ["0/1", "1|0"], 2: ["1/1", "1|1", "1"],
    None: ["./.", ".", ".|.", "./1", "0|."],
}  # fmt: skip


def write_vcf(bed: Path, variants: Sequence[Sequence[int | None]], more: str = "") -> Path:
    """Write what PLINK 2 would make of a cohort, with all ways to write a genotype in turn."""
    people = [line.split()[1] for line in bed.with_suffix(".fam").read_text().splitlines()]
    fixed = ["CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT"]
    lines = ["##fileformat=VCFv4.3", "#" + "\t".join([*fixed, *people])]
    sites = bed.with_suffix(".bim").read_text().splitlines()
    for site, genotypes in zip(sites, variants, strict=True):
        chromosome, name, _, position, a, b = site.split("\t")
        calls = [CALLS[g][i % len(CALLS[g])] + more for i, g in enumerate(genotypes)]
        form = "GT:DP" if more else "GT"
        lines.append("\t".join([chromosome, position, name, b, a, ".", "PASS", ".", form, *calls]))
    vcf = bed.with_suffix(".vcf")
    vcf.write_text("\n".join(lines) + "\n")
    return vcf


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
