"""PLINK 2 binary files, and what can be wrong with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import komb
from komb.errors import DataError, FileError, ParameterError, UnknownNameError
from tests.naive.plink import write_cohort, write_pgen
from tests.optional import pgenlib as pgenlib  # skips what needs it

GENOTYPES: list[list[int | None]] = [[0, 1, 2, None, 1], [2, 2, 0, 0, 2], [1, 1, 1, 1, 1]]
STATUS = [1, 2, 2, 1, -9]


@pytest.fixture
def cohort(tmp_path: Path) -> Path:
    assert pgenlib.PgenReader
    return write_pgen(write_cohort(tmp_path / "x", GENOTYPES, phenotypes=STATUS), GENOTYPES)


def change(file: Path, suffix: str, *lines: str) -> Path:
    file.with_suffix(suffix).write_text("".join(f"{line}\n" for line in lines))
    return file


def test_it_is_the_table_of_the_bed_file(cohort: Path) -> None:
    table, bed = komb.read_table(cohort), komb.read_table(cohort.with_suffix(".bed"))
    assert table == bed
    assert table.annotations == bed.annotations
    assert table.types == bed.types


def test_some_people_and_some_variants(cohort: Path, tmp_path: Path) -> None:
    keep, extract = tmp_path / "keep", tmp_path / "extract"
    keep.write_text("#IID\np3\np0\np4\n")
    extract.write_text("rs2\nrs0\n")
    table = komb.read_table(cohort, keep=keep, extract=extract)
    assert table.names == ("rs0", "rs2", "phenotype")
    assert table.column("rs0") == [0, None, 1]


def test_genotypes_that_are_stored_in_other_ways(tmp_path: Path) -> None:
    import numpy as np

    rng = np.random.default_rng(1)
    values = rng.choice(np.array([0, 1, 2, -9], np.int8), (40, 70), p=[0.7, 0.2, 0.05, 0.05])
    values[1::2] = np.where(rng.random((20, 70)) < 0.05, 2, values[::2])  # nearly as those before
    expected = [[None if g < 0 else int(g) for g in each] for each in values]
    file = write_pgen(write_cohort(tmp_path / "x", expected), expected)
    with pgenlib.PgenWriter(str(file).encode(), 70, 40) as writer:
        writer.append_biallelic_batch(values)
    table = komb.read_table(file)
    assert [table.column(name) for name in table.names] == expected
    assert table == komb.read_table(file.with_suffix(".bed"))


def test_variants_of_more_alleles(cohort: Path, tmp_path: Path) -> None:
    rows = [f"1\t{i}\trs{i}\tA\t{alt}" for i, alt in enumerate(["C", "C,G", "T"])]
    change(cohort, ".pvar", "#CHROM\tPOS\tID\tREF\tALT", *rows)
    with pgenlib.PgenWriter(str(cohort).encode(), 5, 3, False, 3) as writer:
        for i, calls in enumerate(([0, 0, 0, 1, 1, 1], [0, 2, 1, 1, 0, 1], [0, 1, 0, 0, 1, 1])):
            writer.append_alleles(pgenlib_alleles(calls), allele_ct=3 if i == 1 else 2)
    with pytest.raises(DataError, match=r"1 of 3 have more, .* 1:1, A or C,G.*--max-alleles 2"):
        komb.read_table(cohort)
    table = komb.read_table(cohort, columns=["rs0", "rs2"])
    assert (table.column("rs0"), table.column("rs2")) == ([0, 1, 2, 2, 2], [1, 0, 2, 2, 2])


def pgenlib_alleles(calls: list[int]) -> Any:
    import numpy as np

    return np.array([*calls, 1, 1, 1, 1], np.int32)


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (["#IID SEX bmi status", *(f"p{i} 1 {i}.5 {1 + i % 2}" for i in range(5))], None),
        (["f0 p0 0 0 1 1", *(f"f{i} p{i} 0 0 1 2" for i in range(1, 5))], ("phenotype",)),
        (["#IID", *(f"p{i}" for i in range(5))], ()),
        (["#IID smokes", *(f"p{i} {'yn'[i % 2]}" for i in range(5))], ("smokes",)),
    ],
)
def test_people_and_their_phenotypes(
    cohort: Path, lines: list[str], names: tuple[str, ...] | None
) -> None:
    change(cohort, ".psam", *lines)
    if names is not None:
        assert komb.read_table(cohort).names == ("rs0", "rs1", "rs2", *names)
        return
    with pytest.raises(ParameterError, match=r"one of the 2 phenotypes in the .psam file"):
        komb.read_table(cohort)
    table = komb.read_table(cohort, phenotype_name="status")
    assert table.column("status") == ["control", "case", "control", "case", "control"]
    with pytest.raises(UnknownNameError, match="no phenotype 'height'"):
        komb.read_table(cohort, phenotype_name="height")


def test_variants_without_names_of_fields(cohort: Path) -> None:
    text = cohort.with_suffix(".bim").read_text()
    cohort.with_suffix(".pvar").write_text(text)
    assert komb.read_table(cohort) == komb.read_table(cohort.with_suffix(".bed"))


@pytest.mark.parametrize(
    ("suffix", "lines", "message"),
    [
        (".pvar", ["#CHROM\tID\tPOS", "1\trs0\t1"], "begins with '#CHROM POS ID REF ALT'"),
        (".pvar", ["#CHROM\tPOS\tID\tREF\tALT", "1\t1\trs0\tA"], "on every line.*line 2 has 4"),
        (".pvar", ["#CHROM\tPOS\tID\tREF\tALT"], "no variants below"),
        (".pvar", ["#CHROM\tPOS\tID\tREF\tALT", "1\t1\trs0\tA\tC"], "has 3 variants and 5 people"),
        (".psam", ["#IID", "p0", "p1"], "has 3 variants and 5 people; the .pvar file has 3 and"),
        (".psam", ["#IID SEX SEX", "p0 1 1"], "a line of different names"),
        (".psam", ["#FID SEX", "p0 1"], "a line of different names"),
    ],
)
def test_companions_that_do_not_fit(
    cohort: Path, suffix: str, lines: list[str], message: str
) -> None:
    with pytest.raises((DataError, FileError), match=message):
        komb.read_table(change(cohort, suffix, *lines))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "got nothing"),
        (b"\x6c\x1b\x02\x03", "not a PLINK 2 .pgen file"),
        (b"chr1\t100\t200\n", "not a PLINK 2 .pgen file: it must begin with the bytes 6c 1b"),
        (b"\x6c\x1b\x02\x03\0\0\0\x05\0\0\0\x40\0", "is damaged"),
        (b"\x6c\x1b\x09\x03\0\0\0\x05\0\0\0\x40\0", "is damaged .*mode"),
    ],
)
def test_a_file_that_is_something_else(cohort: Path, data: bytes, message: str) -> None:
    cohort.write_bytes(data)
    with pytest.raises(FileError, match=message):
        komb.read_table(cohort)


def test_a_companion_is_missing(cohort: Path) -> None:
    cohort.with_suffix(".pvar").rename(cohort.with_name("x.pvar.zst"))
    with pytest.raises(FileError, match=r"needs '.*x.pvar' beside it.*Unpack x.pvar.zst"):
        komb.read_table(cohort)
    cohort.with_suffix(".psam").unlink()
    with pytest.raises(FileError, match=r"needs '.*x.psam'.*\.pgen, \.pvar and \.psam together"):
        komb.read_table(cohort)
