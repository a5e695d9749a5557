"""Read PLINK 1 binary files: ``.bed`` (genotypes), ``.bim`` (variants) and ``.fam`` (people).

A ``.bed`` file holds two bits for each genotype, variant by variant. bed-reader decodes it, in
blocks of variants, into the codes of a table. So reading takes the memory of the codes, which is
one byte per genotype or four times the file, and that of one block.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from komb.data.encode.codes import CodeArray, Levels
from komb.data.encode.column_errors import and_more
from komb.data.encode.inputs import check_shape
from komb.data.encode.treatment import Treatment
from komb.data.memory_limit import refuse_beyond
from komb.data.read.file_bytes import read_bytes, shorten
from komb.data.read.plink_people import Phenotype, from_fam, read_fam, read_phenotype
from komb.data.read.plink_variants import read_bim
from komb.data.table import DiscreteTable, encode_table
from komb.errors import (
    Argument,
    DataError,
    FileError,
    MissingPackageError,
    ParameterError,
    UnknownNameError,
)

if TYPE_CHECKING:
    from bed_reader import open_bed

VALUES_PER_BLOCK = 1 << 24
"""Genotypes that are decoded at a time, about."""

BYTES_PER_VARIANT = 1_000
"""Memory for the name and the levels of a variant, at most."""

GENOTYPES = (0, 1, 2)
"""Levels: how many copies of the first allele of the ``.bim`` file a person has."""

_MAGIC = b"\x6c\x1b"
_HEADER = 3  # bytes
_SAMPLE_MAJOR = 0
_MISSING = 3  # what becomes of a genotype that was not called


class Cohort(NamedTuple):
    """What belongs to a ``.bed`` file, all of it checked but the genotypes."""

    bed: Path
    n_people: int
    variants: list[str]
    phenotype: Phenotype | None


def is_plink(file: Path) -> bool:
    """Whether a file is a PLINK 1 binary file, by its name."""
    return file.suffix.lower() == ".bed"


def read_plink(
    file: Path,
    limit: int,
    treatment: Treatment,
    *,
    phenotype: Path | None = None,
    phenotype_name: str | None = None,
    columns: Sequence[str] | None = None,
) -> DiscreteTable:
    """Read a cohort: one column per variant, and one for the phenotype."""
    _need_bed_reader()
    if phenotype_name is not None and phenotype is None:
        rule = "come with ", Argument("phenotype"), ", the file that it is in"
        remedy = "Name that file, or leave it out for the phenotype of the .fam file."
        raise ParameterError.because("phenotype_name", rule, phenotype_name, remedy)
    cohort = _read_cohort(file, limit, phenotype, phenotype_name)
    _check_bed(cohort)
    chosen = _choose(cohort, columns)
    needed = len(chosen) * (cohort.n_people + BYTES_PER_VARIANT) + 4 * VALUES_PER_BLOCK
    what = f"Reading {shorten(file)}, of {cohort.n_people:,} people and {len(chosen):,} variants,"
    refuse_beyond(needed, limit, what)
    table = _encode(cohort, chosen, treatment)
    return table if columns is None else table.select(columns)


def _need_bed_reader() -> None:
    """Raise :class:`komb.errors.MissingPackageError` if bed-reader is not installed."""
    try:
        import bed_reader  # noqa: F401
    except ImportError:
        raise MissingPackageError(
            "PLINK files need bed-reader, which is not installed. Install it: "
            'pip install "komb[genetics]", or pip install bed-reader.'
        ) from None


def _read_cohort(
    file: Path, limit: int, phenotype: Path | None, phenotype_name: str | None
) -> Cohort:
    """Read all but the genotypes."""
    _read_start(file)  # if there is no such file, that is what to say
    people, raw = read_fam(_beside(file, ".fam"), limit)
    variants = read_bim(_beside(file, ".bim"), limit)
    found = (
        from_fam(raw)
        if phenotype is None
        else read_phenotype(phenotype, people, limit, phenotype_name)
    )
    names = variants if found is None else [*variants, found.name]
    check_shape(names, len(people))
    return Cohort(file, len(people), variants, found)


def _beside(file: Path, suffix: str) -> Path:
    """Return the file of another kind that belongs to a ``.bed`` file."""
    other = file.with_suffix(suffix)
    if not other.is_file():
        raise FileError(
            f"{shorten(file)} needs {shorten(other)} beside it, which is not there.",
            "PLINK writes .bed, .bim and .fam together: keep them in one folder, with one name.",
        )
    return other


def _read_start(file: Path) -> bytes:
    """Return the first bytes of a file."""
    if not file.is_file():
        read_bytes(file)  # says why it cannot be read
    try:
        with file.open("rb") as opened:
            return opened.read(_HEADER)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise FileError(f"Cannot read {shorten(file)}: {why}.", "Check that you may.") from None


def _check_bed(cohort: Cohort) -> None:
    """Raise unless a file is what its companions say it is."""
    file, start = cohort.bed, _read_start(cohort.bed)
    if start[:2] != _MAGIC:
        raise FileError(
            f"{shorten(file)} is not a PLINK 1 .bed file: it must begin with the bytes 6c 1b; got "
            f"{start[:2].hex(' ') or 'nothing'}.",
            "Write it with 'plink --make-bed'. A .bed file of genomic intervals is something else.",
        )
    if start[2] == _SAMPLE_MAJOR:
        raise FileError(
            f"{shorten(file)} must hold its genotypes variant by variant; it has them person by "
            "person.",
            f"Have PLINK turn it: plink --bfile {file.stem} --make-bed --out another",
        )
    expected = _HEADER + len(cohort.variants) * -(-cohort.n_people // 4)
    size = file.stat().st_size
    if size != expected:
        what = "cut off" if size < expected else "too long"
        raise FileError(
            f"{shorten(file)} is {what}: {len(cohort.variants):,} variants (.bim) of "
            f"{cohort.n_people:,} people (.fam) take {expected:,} bytes; it has {size:,}.",
            "Copy it again, together with the .bim and .fam that were written with it.",
        )


def _choose(cohort: Cohort, columns: Sequence[str] | None) -> npt.NDArray[np.intp]:
    """Return which variants to read."""
    if columns is None:
        return np.arange(len(cohort.variants))
    places = {name: place for place, name in enumerate(cohort.variants)}
    others = () if cohort.phenotype is None else (cohort.phenotype.name,)
    for column in columns:
        if column not in places and column not in others:
            raise UnknownNameError.among("column", column, [*others, *cohort.variants])
    check_shape(list(columns), 1)
    return np.array(sorted(places[name] for name in columns if name in places), dtype=np.intp)


def _encode(cohort: Cohort, chosen: npt.NDArray[np.intp], treatment: Treatment) -> DiscreteTable:
    """Decode the genotypes, and put the phenotype behind them."""
    phenotype = _encode_phenotype(cohort.phenotype, treatment)
    n_variants, n_people = len(chosen), cohort.n_people
    n_columns = n_variants + (phenotype is not None)
    dtype = np.uint8 if phenotype is None else phenotype.codes.dtype
    codes: CodeArray = np.empty((n_columns, n_people), dtype)
    names, is_level = [cohort.variants[i] for i in chosen], treatment.missing == "level"
    levels, has_missing = _decode(cohort, chosen, codes, is_level=is_level)
    cuts = {}
    if phenotype is not None:
        codes[n_variants] = phenotype.codes[0]
        names.append(phenotype.names[0])
        levels.append(phenotype.levels[0])
        cuts, has_missing = dict(phenotype.cuts), has_missing or phenotype.has_missing
    return DiscreteTable(tuple(names), codes, tuple(levels), cuts, has_missing)


def _encode_phenotype(phenotype: Phenotype | None, treatment: Treatment) -> DiscreteTable | None:
    if phenotype is None:
        if treatment.discretize is not None:
            rule = "be left out where there is no phenotype to cut: genotypes are levels"
            remedy = "Leave it out, or name a file of phenotypes: ", Argument("phenotype"), "."
            raise ParameterError.because("discretize", rule, treatment.discretize, remedy)
        return None
    missing = "level" if treatment.missing == "level" else "testwise"
    treatment = Treatment(treatment.discretize, treatment.bins, missing)
    return encode_table({phenotype.name: phenotype.values}, treatment)


def _decode(
    cohort: Cohort, chosen: npt.NDArray[np.intp], codes: CodeArray, *, is_level: bool
) -> tuple[list[Levels], bool]:
    """Write the codes of some variants; returns their levels, and whether any is missing."""
    from bed_reader import open_bed

    levels: list[Levels] = []
    empty: list[str] = []
    has_missing = False
    n_people, per_block = cohort.n_people, max(1, VALUES_PER_BLOCK // cohort.n_people)
    with open_bed(
        cohort.bed, iid_count=n_people, sid_count=len(cohort.variants), skip_format_check=True
    ) as bed:
        for first in range(0, len(chosen), per_block):
            block = _read_block(bed, chosen[first : first + per_block])
            is_seen = np.stack([(block == code).any(axis=1) for code in (*GENOTYPES, _MISSING)])
            for place, seen in enumerate(is_seen.T.tolist()):
                *called, has_gaps = seen
                codes[first + place] = _renumber(block[place], called)
                found = tuple(g for g, is_there in zip(GENOTYPES, called, strict=True) if is_there)
                levels.append((*found, None) if is_level and has_gaps else found)
                has_missing |= has_gaps
                if not found:
                    empty.append(cohort.variants[chosen[first + place]])
    if empty:
        statement = f"no genotype was called of {and_more(map(repr, empty))}: all are missing."
        remedy = f"Leave such variants out: plink --bfile {cohort.bed.stem} --geno 0.99 --make-bed"
        raise DataError(statement, f"{remedy} --out another")
    return levels, has_missing and not is_level


def _read_block(bed: open_bed, variants: npt.NDArray[np.intp]) -> npt.NDArray[np.uint8]:
    """Return the genotypes of some variants, of shape ``(n_variants, n_people)``."""
    index: Any = variants
    if len(variants) == variants[-1] - variants[0] + 1:
        index = slice(int(variants[0]), int(variants[-1]) + 1)
    values = bed.read(index=(slice(None), index), dtype="int8", order="F")
    block: npt.NDArray[np.uint8] = values.T.view(np.uint8)  # -127, not called, is 129 here
    np.minimum(block, _MISSING, out=block)
    return block


def _renumber(genotypes: npt.NDArray[np.uint8], called: Sequence[bool]) -> npt.NDArray[np.uint8]:
    """Return codes without gaps for the genotypes that occur, and the next one for missing."""
    if all(called):
        return genotypes
    place = np.cumsum([0, *called]).astype(np.uint8)
    renumbered: npt.NDArray[np.uint8] = place.take(genotypes)
    return renumbered
