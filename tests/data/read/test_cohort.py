"""PLINK's binary files: genotypes, phenotypes, and what can be wrong with them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import komb
from komb.data.read import cohort as cohorts
from komb.errors import (
    ContinuousColumnError,
    DataError,
    FileError,
    MemoryLimitError,
    MissingPackageError,
    ParameterError,
    UnknownNameError,
)
from tests.naive.plink import write_cohort, write_pgen, write_vcf
from tests.optional import bed_reader as bed_reader  # skips what needs it

GENOTYPES: list[list[int | None]] = [[0, 1, 2, None, 1], [2, 2, 0, 0, 2], [1, 1, 1, 1, 1]]
STATUS = [1, 2, 2, 1, -9]


@pytest.fixture(autouse=True)
def _needs_bed_reader() -> None:
    assert bed_reader.open_bed


@pytest.fixture
def cohort(tmp_path: Path) -> Path:
    return write_cohort(tmp_path / "cohort", GENOTYPES, phenotypes=STATUS)


def test_genotypes_are_numbers_of_first_alleles(cohort: Path) -> None:
    table = komb.read_table(cohort)
    assert table.names == ("rs0", "rs1", "rs2", "phenotype")
    assert table.column("rs0") == [0, 1, 2, None, 1]
    assert table.levels == ((0, 1, 2), (0, 2), (1,), ("case", "control"))
    assert table.column("phenotype") == ["control", "case", "case", "control", None]
    assert table.has_missing
    assert table == komb.DiscreteTable.from_data(
        {name: table.column(name) for name in table.names}, missing="testwise"
    )


def test_bits_are_those_that_plink_writes(tmp_path: Path) -> None:
    """The example of PLINK's own description of the format: six people, three variants."""
    (tmp_path / "x.bed").write_bytes(bytes.fromhex("6c1b01 dc0f e70f 6b01"))
    (tmp_path / "x.bim").write_text(
        "1\tsnp1\t0\t1\tG\tA\n1\tsnp2\t0\t2\t1\t2\n1\tsnp3\t0\t3\tA\tC\n"
    )
    people = ["1 1 0 0 1 0", "1 2 0 0 1 0", "1 3 1 2 1 2", "2 1 0 0 1 0", "2 2 0 0 1 2"]
    (tmp_path / "x.fam").write_text("\n".join([*people, "2 3 1 2 1 2"]) + "\n")
    table = komb.read_table(tmp_path / "x.bed")
    assert table.column("snp1") == [2, 0, None, 0, 0, 0]  # GG AA 00 AA AA AA
    assert table.column("snp2") == [0, None, 1, 0, 0, 0]  # 22 00 12 22 22 22
    assert table.column("snp3") == [0, 1, 1, None, None, 2]  # CC AC AC 00 00 AA


MORE = st.sampled_from(["", ":12", ":3,4:."])


@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.data(), st.integers(1, 9), st.integers(1, 7), st.sampled_from([1, 10, 1 << 24]))
def test_any_genotypes(tmp_path: Path, data: Any, n_people: int, n: int, per_block: int) -> None:
    genotype = st.sampled_from([0, 1, 2, None])
    people = st.lists(genotype, min_size=n_people, max_size=n_people)
    called = people.filter(lambda each: any(g is not None for g in each))
    variants = data.draw(st.lists(called, min_size=n, max_size=n))
    bed = write_cohort(tmp_path / "cohort", variants)
    files = bed, write_pgen(bed, variants), write_vcf(bed, variants, data.draw(MORE))
    before, cohorts.VALUES_PER_BLOCK = cohorts.VALUES_PER_BLOCK, per_block
    try:
        for missing in ("testwise", "level"):
            expected = {f"rs{i}": each for i, each in enumerate(variants)}
            table = komb.DiscreteTable.from_data(expected, missing=missing)
            for file in files:
                assert komb.read_table(file, missing=missing) == table
    finally:
        cohorts.VALUES_PER_BLOCK = before


def test_some_columns(cohort: Path) -> None:
    table = komb.read_table(cohort, columns=["phenotype", "rs2", "rs0"])
    assert table.names == ("phenotype", "rs2", "rs0")
    assert table.column("rs0") == GENOTYPES[0]
    with pytest.raises(UnknownNameError, match="no column 'rs9'"):
        komb.read_table(cohort, columns=["rs9"])


def test_a_hidden_pair_is_found(tmp_path: Path) -> None:
    import numpy as np

    rng = np.random.default_rng(3)
    codes = rng.integers(0, 3, (60, 1200))
    status = 1 + ((codes[7] == 1) ^ (codes[40] == 1))
    variants = [[None if rng.random() < 0.02 else int(g) for g in each] for each in codes]
    bed = write_cohort(tmp_path / "cohort", variants, phenotypes=status.tolist())
    blanket = komb.markov_blanket(komb.read_table(bed), "phenotype")
    assert blanket.members == ("rs7", "rs40")
    assert blanket.parameters["missing"] == "testwise"


# -------------------------------------------------------------------------------------- phenotypes


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_phenotypes_from_a_file(cohort: Path, tmp_path: Path) -> None:
    lines = ("f1 p1 2", "f0 p0 1", "f9 p9 2", "f3 p3 -9", "f4 p4 2")  # nothing of f2, f9 unknown
    file = write(tmp_path / "x.pheno", *lines)
    table = komb.read_table(cohort, phenotype=file)
    assert table.column("phenotype") == ["control", "case", None, None, "case"]


def test_one_of_several_phenotypes(cohort: Path, tmp_path: Path) -> None:
    rows = [f"f{i} p{i} {i % 2 + 1} {word}" for i, word in enumerate(["a", "b", "a", "NA", "c"])]
    file = write(tmp_path / "x.pheno", "#FID IID status diet", *rows)
    table = komb.read_table(cohort, phenotype=file, phenotype_name="diet")
    assert table.column("diet") == ["a", "b", "a", None, "c"]
    with pytest.raises(ParameterError, match=r"must name one of the 2 phenotypes .*'status'"):
        komb.read_table(cohort, phenotype=file)
    with pytest.raises(UnknownNameError, match=r"There is no phenotype 'diets'\. Did you mean"):
        komb.read_table(cohort, phenotype=file, phenotype_name="diets")


def test_a_measured_phenotype_is_cut(tmp_path: Path) -> None:
    n_people = 40
    values = [str(i + 0.25) for i in range(n_people - 1)]
    genotypes: list[list[int | None]] = [[i % 3 for i in range(n_people)]]
    bed = write_cohort(tmp_path / "cohort", genotypes, phenotypes=[*values, -9])
    with pytest.raises(ContinuousColumnError, match=r"Column 'phenotype' looks continuous"):
        komb.read_table(bed, types="strict")
    found = komb.read_table(bed)
    assert found.types["phenotype"] == komb.ColumnType("continuous", "bins", missing=1)
    assert found.types["rs0"] == komb.ColumnType("ordinal", "levels")
    assert found.has_ranks
    table = komb.read_table(bed, discretize="quantile", bins=3)
    assert len(table.levels[-1]) == 3
    assert table.column("phenotype")[-1] is None
    assert list(table.cuts) == ["phenotype"]


def test_nobody_has_a_phenotype(tmp_path: Path) -> None:
    bed = write_cohort(tmp_path / "cohort", GENOTYPES)
    assert komb.read_table(bed).names == ("rs0", "rs1", "rs2")
    with pytest.raises(ParameterError, match="'discretize' must be left out where there is no"):
        komb.read_table(bed, discretize="quantile")


# ------------------------------------------------------------------ covariates, people and variants


def test_covariates_are_columns_behind_the_phenotype(cohort: Path, tmp_path: Path) -> None:
    rows = [f"f{i} p{i} {i % 2 + 1} {i / 8}" for i in (3, 1, 0, 4)]
    file = write(tmp_path / "x.covar", "FID IID sex PC1", *rows, "f9 p9 1 5.0")
    table = komb.read_table(cohort, covariates=file)
    assert table.names[3:] == ("phenotype", "sex", "PC1")
    assert table.column("sex") == [1, 2, None, 2, 1]  # and not controls and cases
    assert [str(x) for x in table.numbers["PC1"]] == ["0.0", "0.125", "nan", "0.375", "0.5"]
    assert table.reading["covariates"] == ("sex", "PC1")
    found = komb.markov_blanket(table, "rs0", given=table.reading["covariates"], method="iamb")
    assert found.parameters["given"] == ("sex", "PC1")


def test_covariates_by_individual_alone_and_without_names(cohort: Path, tmp_path: Path) -> None:
    by_iid = write(tmp_path / "a", "#IID PC1", *(f"p{i} {i}.5" for i in range(5)))
    table = komb.read_table(cohort, covariates=by_iid)
    assert table.numbers["PC1"].tolist() == [0.5, 1.5, 2.5, 3.5, 4.5]
    bare = write(tmp_path / "b", *(f"f{i} p{i} {i} x{i % 2}" for i in range(5)))
    table = komb.read_table(cohort, covariates=bare)
    assert table.reading["covariates"] == ("covariate1", "covariate2")
    assert table.column("covariate2") == ["x0", "x1", "x0", "x1", "x0"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["f7 p0 1"], r"x' names nobody who is in the .fam file: there .* 'f0 p0', here 'f7 p0'"),
        (["FID IID PC1"], "here 'nobody'"),
        (["f0 p0"], "a covariate on every line; it has 2"),
        (["FID IID rs1", "f0 p0 1"], r"distinct column names; got 'rs1' \(2 times\)"),
        (["f0 p0 1", "f0 p0 1"], "name every person once"),
    ],
)
def test_covariates_that_cannot_be_used(
    cohort: Path, tmp_path: Path, lines: list[str], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        komb.read_table(cohort, covariates=write(tmp_path / "x", *lines))


def test_some_people_and_some_variants(cohort: Path, tmp_path: Path) -> None:
    keep = write(tmp_path / "keep", "f3 p3", "f0 p0", "f9 p9", "f4 p4")
    extract = write(tmp_path / "extract", "rs2", "rs0", "rs9")
    table = komb.read_table(cohort, keep=keep, extract=extract)
    whole = komb.read_table(cohort)
    assert table.names == ("rs0", "rs2", "phenotype")
    for name in table.names:
        assert table.column(name) == [whole.column(name)[i] for i in (0, 3, 4)]
    with pytest.raises(DataError, match=r"one person who is in the .fam file"):
        komb.read_table(cohort, keep=write(tmp_path / "none", "f9 p9"))
    with pytest.raises(DataError, match=r"one variant that is in the .bim file"):
        komb.read_table(cohort, extract=write(tmp_path / "none", "rs9"))


def test_the_places_of_variants(cohort: Path) -> None:
    table = komb.read_table(cohort)
    assert table.annotations == {f"rs{i}": ("1", 100 + i) for i in range(3)}
    assert str(table.select(["rs2", "phenotype"]).annotations["rs2"]) == "1:102"
    assert table.take([0, 1, 2]).annotations == table.annotations


# ------------------------------------------------------------------------------------------- names


def test_names_that_do_not_tell_variants_apart(tmp_path: Path) -> None:
    bed = write_cohort(tmp_path / "cohort", GENOTYPES, names=["rs1", ".", "rs1"])
    assert komb.read_table(bed).names == ("1:100", "1:101", "1:102")
    same = "1 . 0 5 A G\n1 . 0 5 A C\n1 . 0 5 A C\n"
    bed.with_suffix(".bim").write_text(same)
    with pytest.raises(DataError, match=r"distinct column names; got '1:5:A:C' \(2 times\)"):
        komb.read_table(bed)


# ------------------------------------------------------------------------------------------ errors


@pytest.mark.parametrize("suffix", [".bim", ".fam"])
def test_a_companion_is_missing(cohort: Path, suffix: str) -> None:
    cohort.with_suffix(suffix).unlink()
    with pytest.raises(FileError, match=rf"cohort.bed' needs '.*cohort\{suffix}' beside it"):
        komb.read_table(cohort)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"chr1\t100\t200\n", "not a PLINK 1 .bed file: .* got 63 68.* intervals"),
        (b"\x6c\x1b\x00" + bytes(6), "variant by variant; .*plink --bfile cohort --make-bed"),
        (b"\x6c\x1b\x01" + bytes(5), r"cut off: 3 variants .* of 5 people .* take 9 bytes; .* 8"),
        (b"\x6c\x1b\x01" + bytes(7), "too long"),
        (b"\x6c\x1b\x01" + bytes([0, 4] * 3), "genotypes of more than 5 people"),
        (b"", "got nothing"),
        (b"\x6c\x1b", "cut off"),
        (b"\x6c\x1b\x07" + bytes(6), "not a PLINK 1 .bed file"),
    ],
)
def test_a_file_that_is_something_else(cohort: Path, data: bytes, message: str) -> None:
    cohort.write_bytes(data)
    with pytest.raises(FileError, match=message):
        komb.read_table(cohort)


@pytest.mark.parametrize("name", ["cohort", "cohort.bim", "cohort.fam"])
def test_a_file_beside_the_genotypes(cohort: Path, name: str) -> None:
    with pytest.raises(FileError, match=r"has no genotypes\. Name the file that has.*cohort\.bed"):
        komb.read_table(cohort.with_name(name), keep="x")


def test_there_is_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="There is no file"):
        komb.read_table(tmp_path / "x.bed")


@pytest.mark.parametrize(
    ("suffix", "text", "message"),
    [
        (
            ".bim",
            "1 rs0 0 1 A G\n1 rs1 0 2 A\n1 rs2 0 3 A G\n",
            "must have 6 fields .*line 2 has 5",
        ),
        (".fam", "f p 0 0 1 1\n" * 5, "name every person once; 'f p' is there 5 times"),
        (".fam", "\n\n", "is empty"),
    ],
)
def test_damaged_companions(cohort: Path, suffix: str, text: str, message: str) -> None:
    cohort.with_suffix(suffix).write_text(text)
    with pytest.raises((FileError, DataError), match=message):
        komb.read_table(cohort)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["x1 x1 1"], "names nobody who is in the .fam file: there the first is 'f0 p0'"),
        (["f0 p0"], "a family id, an individual id and a phenotype on every line; it has 2"),
        (["f0 p0 1", "f0 p0 2"], "name every person once"),
        (["f0 p0 1", "f1 p1"], "line 2 has 2"),
        (["f0 p0 -9", "f1 p1 0"], "different phenotypes for people .*; all are missing"),
        (["f0 p0 2", "f1 p1 2", "f9 p9 1"], "different phenotypes .*; all are 'case'"),
        (["f0 p0 0", "f1 p1 1"], "0 or 1 for everybody; in PLINK's codes 1 is a control"),
    ],
)
def test_phenotypes_that_cannot_be_used(
    cohort: Path, tmp_path: Path, lines: list[str], message: str
) -> None:
    with pytest.raises((FileError, DataError), match=message):
        komb.read_table(cohort, phenotype=write(tmp_path / "x.pheno", *lines))


def test_a_variant_without_any_genotype(tmp_path: Path) -> None:
    bed = write_cohort(tmp_path / "cohort", [[0, 1], [None, None]])
    with pytest.raises(DataError, match=r"no genotype was called of 'rs1'.*--geno 0.99"):
        komb.read_table(bed)
    assert komb.read_table(bed, columns=["rs0"]).names == ("rs0",)


def test_options_of_other_files(cohort: Path, tmp_path: Path) -> None:
    other: list[dict[str, Any]] = [{"delimiter": ","}, {"has_header": False}]
    for options in other:
        with pytest.raises(ParameterError, match="must be left out for files of genotypes"):
            komb.read_table(cohort, **options)
    with pytest.raises(ParameterError, match="'phenotype_name' must come with 'phenotype'"):
        komb.read_table(cohort, phenotype_name="status")
    text = write(tmp_path / "x.csv", "a,b", "1,2")
    for parameter in ("phenotype", "covariates", "keep", "extract"):
        with pytest.raises(ParameterError, match=f"'{parameter}' must be left out for files other"):
            komb.read_table(text, **{parameter: "x"})  # type: ignore[arg-type]


def test_too_large_for_the_memory(cohort: Path) -> None:
    with pytest.raises(MemoryLimitError, match="of 5 people and 3 variants, needs about"):
        komb.read_table(cohort, memory_limit="1 MB")


def test_bed_reader_is_not_installed(cohort: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bed_reader", None)
    with pytest.raises(MissingPackageError, match=r'pip install "komb\[genetics\]"'):
        komb.read_table(cohort)
