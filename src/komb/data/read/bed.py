"""PLINK 1 binary files: ``.bed`` (genotypes), ``.bim`` (variants) and ``.fam`` (people).

A ``.bed`` file holds two bits for each genotype, variant by variant. bed-reader decodes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from komb.data.levels import Array
from komb.data.read.cohort import (
    PERSON,
    PHENOTYPE,
    VARIANT,
    GenotypeFormat,
    Genotypes,
    Positions,
    companion,
    need_package,
    read_fields,
    read_start,
    register_genotypes,
)
from komb.data.read.file_bytes import shorten
from komb.errors import FileError

_MAGIC = b"\x6c\x1b\x01"  # the last byte says that genotypes are there variant by variant
_PADDED = 1000  # variants whose last bits are looked at: no person has them
_BY_PERSON = b"\0"
_IN_FAM = "family, individual, father, mother, sex and phenotype"
_IN_BIM = "chromosome, id, distance, position and two alleles"
_TOGETHER = ".bed, .bim and .fam"


@contextmanager
def open_bed(file: Path, limit: int) -> Iterator[Genotypes]:
    """Open a ``.bed`` file with its companions."""
    reader = need_package("bed_reader", "bed-reader", "PLINK 1 files")
    start = read_start(file, len(_MAGIC))  # if there is no such file, that is what to say
    fam, bim = (companion(file, suffix, _TOGETHER) for suffix in (".fam", ".bim"))
    people = read_fields(fam, limit, 6, _IN_FAM).select("V1", "V2", "V6")
    people.columns = [*PERSON, PHENOTYPE]
    variants = read_variants(bim, limit)
    shape = len(people), len(variants)
    _check_bed(file, start, *shape)

    def decode(people: Positions, variants: Positions) -> Array:
        index = _as_slice(people), _as_slice(variants)
        return np.asarray(bed.read(index=index, dtype="int8", order="F")).view(np.uint8)

    with reader.open_bed(
        file, iid_count=shape[0], sid_count=shape[1], skip_format_check=True
    ) as bed:
        yield Genotypes(people, variants, ("the .fam file", "the .bim file"), decode)


def read_variants(file: Path, limit: int) -> pl.DataFrame:
    """Read a ``.bim`` file."""
    variants = read_fields(file, limit, 6, _IN_BIM).select("V1", "V4", "V2", "V5", "V6")
    variants.columns = VARIANT
    return variants


def _check_bed(file: Path, start: bytes, n_people: int, n_variants: int) -> None:
    """Raise unless a file is what its companions say it is."""
    if start[:2] != _MAGIC[:2] or start[2:] not in (b"", _BY_PERSON, _MAGIC[2:]):
        raise FileError(
            f"{shorten(file)} is not a PLINK 1 .bed file: it must begin with the bytes 6c 1b 01; "
            f"got {start.hex(' ') or 'nothing'}.",
            "Write it with 'plink --make-bed'. A .bed file of genomic intervals is something else.",
        )
    if start[2:] == _BY_PERSON:
        raise FileError(
            f"{shorten(file)} must hold its genotypes variant by variant; it has them person by "
            "person.",
            f"Have PLINK turn it: plink --bfile {file.stem} --make-bed --out another",
        )
    expected = len(_MAGIC) + n_variants * -(-n_people // 4)
    size = file.stat().st_size
    if size != expected:
        what = "cut off" if size < expected else "too long"
        raise FileError(
            f"{shorten(file)} is {what}: {n_variants:,} variants (.bim) of "
            f"{n_people:,} people (.fam) take {expected:,} bytes; it has {size:,}.",
            "Copy it again, together with the .bim and .fam that were written with it.",
        )
    bytes_each, n_last = -(-n_people // 4), n_people % 4
    genotypes = np.memmap(file, np.uint8, "r", len(_MAGIC)) if n_variants else np.empty(0, np.uint8)
    if n_last and (genotypes[bytes_each - 1 :: bytes_each][:_PADDED] >> 2 * n_last).any():
        raise FileError(
            f"{shorten(file)} has genotypes of more than {n_people:,} people, which the .fam file "
            "has.",
            "Take the .fam file that was written with it.",
        )


def _as_slice(places: Positions) -> Any:
    """Return a slice where places follow one another, which is read at once."""
    first, last = int(places[0]), int(places[-1])
    return slice(first, last + 1) if last - first + 1 == len(places) else places


register_genotypes(
    GenotypeFormat(
        (".bed",), open_bed, (".bim", ".fam"), "plink --bfile ... --geno 0.99 --make-bed"
    )
)
