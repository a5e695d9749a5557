"""Commands on PLINK files, and searches that are taken up again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import komb
from tests.conftest import Run
from tests.naive.plink import write_cohort
from tests.optional import bed_reader as bed_reader  # skips what needs it


@pytest.fixture
def bed(tmp_path: Path) -> Path:
    assert bed_reader.open_bed
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3, (8, 600))
    status = 1 + (codes[2] > 0)
    status[5] = -9
    return write_cohort(tmp_path / "cohort", codes.tolist(), phenotypes=status.tolist())


def test_the_phenotype_of_the_fam_file(run: Run, bed: Path) -> None:
    assert run("find", bed, "-t", "phenotype", "-q") == (0, "rs2\n", "")
    code, out, _ = run("compare", bed, "-t", "phenotype", "--methods", "iamb", "--csv")
    assert code == 0
    assert "rs2" in out


def test_a_file_of_phenotypes(run: Run, bed: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    file = tmp_path / "x.pheno"
    genotypes = [int(line.split()[5]) for line in bed.with_suffix(".fam").read_text().splitlines()]
    rows = [f"f{i} p{i} {y + rng.normal():.3f}\n" for i, y in enumerate(genotypes)]
    file.write_text("FID IID height\n" + "".join(rows))
    arguments = ("find", bed, "-t", "height", "--phenotype", file, "-q")
    assert run(*arguments) == (0, "rs2\n", "")
    code, out, err = run(*arguments, "--type", "strict")
    assert (code, out) == (2, "")
    assert err.count("cohort.bed") == 1
    assert "Column 'height' looks continuous" in err
    assert "--discretize quantile" in err
    assert run(*arguments, "--discretize", "quantile", "--bins", "3") == (0, "rs2\n", "")


def test_a_report(run: Run, bed: Path, tmp_path: Path) -> None:
    file, page = tmp_path / "x.pheno", tmp_path / "x.html"
    file.write_text("".join(f"f{i} p{i} {i % 7 + i / 100}\n" for i in range(600)))
    given = ("--phenotype", file, "--discretize", "quantile", "-k", "0", "--no-comparison")
    code, _, err = run("report", bed, "-t", "phenotype", "-o", page, *given)
    assert (code, err) == (0, "")
    text = page.read_text().replace("&#39;", "'")
    assert str(bed) in text


def test_a_cohort_is_stored_with_a_phenotype(run: Run, bed: Path, tmp_path: Path) -> None:
    file, folder = tmp_path / "y", tmp_path / "t.komb"
    people = [line.split()[:2] for line in bed.with_suffix(".fam").read_text().splitlines()]
    file.write_text("".join(f"{a} {b} {1 + i % 2}\n" for i, (a, b) in enumerate(people)))
    code, _, err = run("encode", bed, "--out", folder, "--pheno", file)
    assert code == 0, err
    assert komb.read_table(folder).column("phenotype")[:2] == ["control", "case"]


def test_options_of_other_files(run: Run, bed: Path, tmp_path: Path) -> None:
    text = tmp_path / "x.csv"
    text.write_text("a,b\n1,2\n")
    for arguments, message in [
        ((text, "-t", "a", "--phenotype", "x"), "'--phenotype' must be left out for files other"),
        ((bed, "-t", "a", "--no-header"), "'--no-header' must be left out for files of genotypes"),
        ((bed, "-t", "a", "--phenotype-name", "x"), "must come with '--phenotype'"),
    ]:
        code, out, err = run("find", *arguments)
        assert (code, out) == (2, "")
        assert message in err


def test_a_search_is_taken_up_again(run: Run, bed: Path, tmp_path: Path) -> None:
    file = tmp_path / "run.journal"
    arguments = ("find", bed, "-t", "phenotype", "-k", "1", "-q", "--resume", file)
    assert run(*arguments) == run(*arguments) == (0, "rs2\n", "")
    code, out, err = run(*arguments, "--alpha", "0.2")
    assert (code, out) == (2, "")
    assert "'--resume' must be the journal of this very search" in err
    code, out, err = run("find", bed, "-t", "rs1", "-t", "rs2", "--resume", file)
    assert (code, out) == (2, "")
    assert "'--resume' must be left out for several targets" in err
