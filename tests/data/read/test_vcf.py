"""VCF files: what a genotype is, and what can be wrong with them."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import komb
from komb.errors import DataError, FileError

NAMES = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ta\tb\tc"


def line(*calls: str, alleles: str = "A\tG", form: str = "GT", name: str = "rs1") -> str:
    return "\t".join(["1", "7", name, alleles, ".", "PASS", "x;y=1", form, *calls])


def write(folder: Path, *lines: str, names: str = NAMES) -> Path:
    path = folder / "x.vcf"
    path.write_text("\n".join(["##fileformat=VCFv4.2", '##x=<D="a\tb">', names, *lines]) + "\n")
    return path


def test_genotypes_are_numbers_of_alternate_alleles(tmp_path: Path) -> None:
    path = write(
        tmp_path, line("0/1:9", "1|1:.", "./.", form="GT:DP"), line("1", "0", ".", name=".")
    )
    table = komb.read_table(path)
    assert table.column("rs1") == [1, 2, None]
    assert table.column("1:7") == [2, 0, None]
    assert str(table.annotations["rs1"]) == "1:7"
    packed = path.with_name("x.vcf.gz")
    text = path.read_bytes()  # bgzip writes several members
    packed.write_bytes(gzip.compress(text[:90]) + gzip.compress(text[90:]))
    assert komb.read_table(packed) == table


def test_they_are_stored_with_the_places_of_variants(tmp_path: Path) -> None:
    path = write(tmp_path, line("0/1", "1/1", "0/0"), line("1", "0", ".", name="rs2"))
    stored = komb.encode(path, tmp_path / "x.komb", exclude=["rs2"])
    assert stored == komb.read_table(path, exclude=["rs2"])
    assert stored.annotations == {"rs1": ("1", 7)}


def test_people_have_no_families(tmp_path: Path) -> None:
    path, pheno = write(tmp_path, line("0/1", "1/1", "0/0")), tmp_path / "y"
    pheno.write_text("FID IID y\nf1 c 1\nf1 a 2\nf2 b 2\n")
    keep = tmp_path / "keep"
    keep.write_text("c\na\n")
    table = komb.read_table(path, phenotype=pheno)
    assert table.column("y") == ["case", "case", "control"]
    assert komb.read_table(path, keep=keep).column("rs1") == [1, 0]
    pheno.write_text("FID IID y\nf1 c 1\nf2 c 2\n")
    with pytest.raises(DataError, match=r"must name every person once; 'c' is there 2 times"):
        komb.read_table(path, phenotype=pheno)


@pytest.mark.parametrize(
    ("odd", "message"),
    [
        (line("0/0", "0/1/1", "0/0"), r"of two alleles; line 5 has '0/1/1' for 'b'"),
        (line("0/0", "0/1", "0/2"), r"line 5 has '0/2' for 'c'.*name others by 'extract'"),
        (line("0/0", "0/1", ""), r"line 5 has '' for 'c'"),
        (line("/", "0/1", "0/0"), r"line 5 has '/' for 'a'"),
        (
            line("0/0", "0/1", "0/1", alleles="A\tC,T"),
            r"two alleles; 1 of 2 have more.* 1:7, A or C,T",
        ),
        (line("9", "9", "9", form="DP:GT"), r"GT, called genotypes, must .*; line 5 has 'DP:GT'"),
        (line("./.", "./.", "./.", name="rs2"), r"no genotype was called of 'rs2'.*plink2 --vcf"),
        (line("0/0", "0/1"), r"must have 12 fields on every line.*; line 5 has 11"),
        (line("0/0", "0/1", "0/1", "0/1"), r"line 5 has 13"),
        ("1\t7", r"line 5 has 2"),
    ],
)
def test_lines_that_cannot_be_used(tmp_path: Path, odd: str, message: str) -> None:
    good = line("0/0", "0/1", "1/1", name="rs0")
    with pytest.raises((DataError, FileError), match=message):
        komb.read_table(write(tmp_path, good, odd))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("##fileformat=VCFv4.2", r"must have a line that begins with '#CHROM POS ID REF ALT"),
        (NAMES[:-6], "and names of people behind"),
        (NAMES, "no variants below the names"),
        (NAMES.replace("b", "a") + "\n" + line("0/0", "0/1", "1/1"), "'a' is there 2 times"),
        ("a,b\n1,2\n", "must have a line that begins with '#CHROM"),
        ("BCF\2\2\0", "it is binary"),
    ],
)
def test_files_that_are_something_else(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x.vcf"
    path.write_text(text)
    with pytest.raises((DataError, FileError), match=message):
        komb.read_table(path)
