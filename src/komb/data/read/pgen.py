"""PLINK 2 binary files: ``.pgen`` (genotypes), ``.pvar`` (variants) and ``.psam`` (people).

Pgenlib decodes the genotypes that were called; doses and phases are not read. As in the ``.bed``
file that PLINK 2 makes of them, the alternate allele is counted.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from komb.data.levels import Array
from komb.data.read.bed import read_variants
from komb.data.read.cohort import (
    PERSON,
    PHENOTYPE,
    GenotypeFormat,
    Genotypes,
    Positions,
    companion,
    need_package,
    read_fields,
    read_start,
    register_genotypes,
)
from komb.data.read.file_bytes import mapped_file, shorten
from komb.data.read.vcf import Sites, to_variants
from komb.errors import FileError

_MAGIC = b"\x6c\x1b"
_COUNTED = 2  # the first mode whose header says how many variants and people there are
_START = 11  # bytes of magic, mode and these two numbers
_AS_FAM = ["FID", "IID", "PAT", "MAT", "SEX", "PHENO1"]
_NO_PHENOTYPE = ("SID", "PAT", "MAT", "SEX")
_FIXED = ["CHROM", "POS", "ID", "REF", "ALT"]
_TOGETHER = ".pgen, .pvar and .psam"


@contextmanager
def open_pgen(file: Path, limit: int) -> Iterator[Genotypes]:
    """Open a ``.pgen`` file with its companions."""
    reader = need_package("pgenlib", "Pgenlib", "PLINK 2 files")
    start = read_start(file, _START)
    psam, pvar = (companion(file, suffix, _TOGETHER) for suffix in (".psam", ".pvar"))
    people, variants = _read_people(psam, limit), _read_variants(pvar, limit)
    _check_pgen(file, start, len(people), len(variants))
    n_more = variants["A1"].str.count_matches(",", literal=True)
    has_more = bool((n_more > 0).any())
    offsets = np.concatenate([[0], (2 + n_more).cum_sum().to_numpy()]).astype(np.uintp)

    def open_for(chosen: Positions) -> Any:
        return reader.PgenReader(
            os.fsencode(file), len(people), len(variants),
            None if len(chosen) == len(people) else chosen.astype(np.uint32),
            offsets if has_more else None,
        )  # fmt: skip

    def decode(chosen: Positions, variants: Positions) -> Array:
        values = np.empty((len(variants), len(chosen)), np.int8)
        with _naming_damage(file), open_for(chosen) as opened:
            opened.read_list(variants.astype(np.uint32), values)
        return values.view(np.uint8).T  # -9, not called, is 247 here

    yield Genotypes(people, variants, ("the .psam file", "the .pvar file"), decode)


def _check_pgen(file: Path, start: bytes, n_people: int, n_variants: int) -> None:
    """Raise unless a file has as many people and variants as its companions."""
    if start[:2] != _MAGIC or len(start) < _START:
        raise FileError(
            f"{shorten(file)} is not a PLINK 2 .pgen file: it must begin with the bytes 6c 1b; "
            f"got {start.hex(' ') or 'nothing'}.",
            "Write it with 'plink2 --make-pgen'.",
        )
    found = tuple(int.from_bytes(start[i : i + 4], "little") for i in (3, 7))
    if start[2] >= _COUNTED and found != (n_variants, n_people):
        raise FileError(
            f"{shorten(file)} has {found[0]:,} variants and {found[1]:,} people; the .pvar file "
            f"has {n_variants:,} and the .psam file {n_people:,}.",
            "Copy it again, together with the .pvar and .psam that were written with it.",
        )


@contextmanager
def _naming_damage(file: Path) -> Iterator[None]:
    """Turn what Pgenlib has against a file into an error of ours."""
    try:
        yield
    except RuntimeError as error:
        why = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
        message = f"{shorten(file)} is damaged ({why.strip().rstrip('.')})."
        raise FileError(message, "Write it again with 'plink2 --make-pgen'.") from None


def _read_people(file: Path, limit: int) -> pl.DataFrame:
    """Read a ``.psam`` file: ids, and phenotypes by name; without names it is a ``.fam`` file."""
    lines = read_fields(file, limit)
    names = [name.removeprefix("#") for name in lines.row(0)]
    if names[0] in ("FID", "IID"):
        lines = lines[1:]
    else:
        names = [*_AS_FAM[: len(names)], *names[len(_AS_FAM) :]]
    if "IID" not in names or len({*names}) < len(names):
        raise FileError(
            f"{shorten(file)} must begin with a line of different names, #FID IID ... or #IID ..., "
            f"or have six fields as a .fam file; got {' '.join(names)!r}.",
            "Write it again with PLINK 2, or correct that line.",
        )
    known = {"FID": PERSON[0], "IID": PERSON[1], "PHENO1": PHENOTYPE}
    lines.columns = [known.get(name, name) for name in names]
    return lines.drop(_NO_PHENOTYPE, strict=False)


def _read_variants(file: Path, limit: int) -> pl.DataFrame:
    """Read a ``.pvar`` file; without names it is a ``.bim`` file."""
    with mapped_file(file, limit, 1) as (_, data):
        if data[:1] == b"#":
            sites = Sites(file, data)
            if sites.names[: len(_FIXED)] != _FIXED:
                raise FileError(
                    f"{shorten(file)} must have a line that begins with '#{' '.join(_FIXED)}', "
                    "with tabs between.",
                    "Write it again with PLINK 2.",
                )
            return to_variants([fields for _, fields, _, _ in sites.read(len(_FIXED))])
    return read_variants(file, limit)


register_genotypes(
    GenotypeFormat(
        (".pgen",), open_pgen, (".pvar", ".psam"), "plink2 --pfile ... --geno 0.99 --make-pgen"
    )
)
