"""Read PLINK 1 binary files: ``.bed`` (genotypes), ``.bim`` (variants) and ``.fam`` (people).

A ``.bed`` file holds two bits for each genotype, variant by variant. bed-reader decodes it, in
blocks of variants, into the codes of a table. So reading takes the memory of the codes, which is
one byte per genotype or four times the file, and that of one block.

PLINK's codes of phenotypes hold: where all are 1, 2, 0 or -9, 1 is a control, 2 is a case, and the
others are missing. Otherwise numbers are measurements, of which -9 is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from komb.data.encoder import Encoded, encode_data
from komb.data.inputs import check_shape, choose_names
from komb.data.kinds import LEVELS, ORDINAL, ColumnType
from komb.data.levels import CodeArray, Levels, encode_block
from komb.data.memory_limit import refuse_beyond
from komb.data.options import ReadOptions
from komb.data.parts import CodesHere
from komb.data.problems import and_more
from komb.data.read.file_bytes import mapped_file, read_bytes, shorten
from komb.data.read.text import WHITE_SPACE, TextFile
from komb.data.table import DiscreteTable
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

BYTES_PER_BYTE = 20
"""Memory that the fields of its companions take for each byte of text, at most."""

BYTES_PER_VARIANT = 1_000
"""Memory for the name and the levels of a variant, at most."""

PHENOTYPE = "phenotype"
"""The name of the column, unless a file of phenotypes says another."""

_MAGIC = b"\x6c\x1b\x01"  # the last byte says that genotypes are there variant by variant
_BY_PERSON = b"\0"
_MISSING = 3  # what becomes of a genotype that was not called; above all others
_MISSING_PHENOTYPES = ["-9", "NA", "NaN", "nan", "."]
_CASE_CONTROL = {"1": "control", "2": "case", "0": None}
_PERSON = ["V1", "V2"]  # family and individual


class Cohort(NamedTuple):
    """What belongs to a ``.bed`` file, all of it checked but the genotypes."""

    bed: Path
    n_people: int
    variants: list[str]
    phenotype: pl.Series | None  # by the name of its column


def is_plink(file: Path) -> bool:
    """Whether a file is a PLINK 1 binary file, by its name."""
    return file.suffix.lower() == ".bed"


def read_plink(
    file: Path,
    limit: int,
    options: ReadOptions,
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
    others = [] if cohort.phenotype is None else [cohort.phenotype.name]
    names = set(choose_names([*cohort.variants, *others], columns))
    chosen = [place for place, name in enumerate(cohort.variants) if name in names]
    needed = len(chosen) * (cohort.n_people + BYTES_PER_VARIANT) + 4 * VALUES_PER_BLOCK
    what = f"Reading {shorten(file)}, of {cohort.n_people:,} people and {len(chosen):,} variants,"
    refuse_beyond(needed, limit, what)
    table = _encode(cohort, np.array(chosen, dtype=np.intp), options)
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
    what = "family, individual, father, mother, sex and phenotype"
    fam = _beside(file, ".fam")
    people = _read_fields(fam, limit, 6, what)
    _check_once(people, fam)
    variants = _read_variants(_beside(file, ".bim"), limit)
    if phenotype is None:
        found = _interpret(people["V6"].alias(PHENOTYPE))
    else:
        found = _read_phenotype(phenotype, people, limit, phenotype_name)
        if found.null_count() == len(found):
            message = (
                f"{shorten(phenotype)} has no phenotype for anybody in the .fam file: all are "
            )
            raise DataError(f"{message}missing.", "Choose another file or phenotype.")
    own = found if found.null_count() < len(found) else None
    check_shape(variants if own is None else [*variants, own.name], len(people))
    return Cohort(file, len(people), variants, own)


def _read_fields(
    file: Path, limit: int, n_fields: int = 0, what: str = "as on the first"
) -> pl.DataFrame:
    """Read fields with white space between, in which quotes are letters, as text."""
    with mapped_file(file, limit, BYTES_PER_BYTE) as (where, data):
        text = TextFile(
            file, where, data, limit, delimiter=WHITE_SPACE, has_header=False, has_quotes=False
        )
        if n_fields and len(text.names) != n_fields:
            raise FileError(
                f"{shorten(file)} must have {n_fields} fields on every line ({what}), with blanks "
                f"or tabs between; line 1 has {len(text.names)}.",
                "Write it again with PLINK, or correct that line.",
            )
        return text.gather(lambda fields: fields.collect().lazy()).collect()


def _check_once(people: pl.DataFrame, file: Path) -> None:
    """Raise if a person is there several times."""
    for *person, count in people.group_by(_PERSON, maintain_order=True).len().rows():
        if count > 1:
            shown = " ".join(person)
            message = f"{shorten(file)} must name every person once; {shown!r} is there {count} "
            raise DataError(f"{message}times.", "Remove all lines but one.")


def _read_variants(file: Path, limit: int) -> list[str]:
    """Return a name for every variant of a ``.bim`` file.

    That is its id. A variant without one (``.``), or whose id is not the only one of its kind, is
    called ``chromosome:position``, and with its alleles, ``chromosome:position:A1:A2``, where that
    is not the only one either.
    """
    what = "chromosome, id, distance, position and two alleles"
    variants = _read_fields(file, limit, 6, what)
    name = pl.col("V2")
    is_unclear = name.is_duplicated() | (name == ".")
    place = pl.concat_str("V1", "V4", separator=":")
    for longer in (place, pl.concat_str(place, "V5", "V6", separator=":")):
        variants = variants.with_columns(V2=pl.when(is_unclear).then(longer).otherwise(name))
    return variants["V2"].to_list()


def _interpret(raw: pl.Series) -> pl.Series:
    """Return what the codes of a phenotype stand for."""
    known = raw.set(raw.is_in(_MISSING_PHENOTYPES), None)
    codes = set(known.drop_nulls().unique().to_list())
    if codes == {"0", "1"}:
        raise DataError(
            "The phenotype is 0 or 1 for everybody; in PLINK's codes 1 is a control, 2 is a case "
            "and 0 is missing.",
            "Write 1 and 2, or words such as 'no' and 'yes' in a phenotype file.",
        )
    if codes <= _CASE_CONTROL.keys():
        return known.replace_strict(_CASE_CONTROL, return_dtype=pl.String)
    numbers = known.cast(pl.Float64, strict=False)
    return numbers if numbers.null_count() == known.null_count() else known


def _read_phenotype(file: Path, people: pl.DataFrame, limit: int, name: str | None) -> pl.Series:
    """Return what a file of phenotypes says about some people.

    Lines have a family id, an individual id and at least one phenotype. The first line may hold the
    names: it does if it begins with ``FID IID``, or ``#FID IID``.
    """
    lines = _read_fields(file, limit)
    first = lines.row(0)
    if len(first) < 3:
        message = f"{shorten(file)} must have a family id, an individual id and a phenotype on "
        raise DataError(f"{message}every line; it has {len(first)} fields.", "Add what is missing.")
    names = [PHENOTYPE, *lines.columns[3:]]
    if [field.upper() for field in first[:2]] in (["FID", "IID"], ["#FID", "IID"]):
        names, lines = list(first[2:]), lines[1:]
    place = _choose(names, name, file)
    listed = lines.select(*_PERSON, raw=pl.nth(2 + place))
    _check_once(listed, file)
    if listed.join(people, on=_PERSON, how="semi").is_empty():
        ours, theirs = " ".join(people.row(0)[:2]), "nobody"
        if len(listed):
            theirs = " ".join(listed.row(0)[:2])
        raise DataError(
            f"{shorten(file)} names nobody who is in the .fam file: there the first is {ours!r}, "
            f"here {theirs!r}.",
            "Lines must begin with the family id and the individual id of the .fam file.",
        )
    found = people.join(listed, on=_PERSON, how="left", maintain_order="left")["raw"]
    return _interpret(found.fill_null(_MISSING_PHENOTYPES[0]).alias(names[place]))


def _choose(names: Sequence[str], name: str | None, file: Path) -> int:
    """Return the place of the phenotype that is wanted."""
    if name is not None:
        if name not in names:
            error = UnknownNameError.among("phenotype", name, names, "phenotype_name")
            raise error.within(shorten(file))
        return list(names).index(name)
    if len(names) > 1:
        rule = f"name one of the {len(names)} phenotypes in {shorten(file)}"
        remedy = "Try ", Argument("phenotype_name", names[0]), "."
        raise ParameterError.because("phenotype_name", rule, None, remedy, shown="none")
    return 0


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
            return opened.read(len(_MAGIC))
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise FileError(f"Cannot read {shorten(file)}: {why}.", "Check that you may.") from None


def _check_bed(cohort: Cohort) -> None:
    """Raise unless a file is what its companions say it is."""
    file, start = cohort.bed, _read_start(cohort.bed)
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
    expected = len(_MAGIC) + len(cohort.variants) * -(-cohort.n_people // 4)
    size = file.stat().st_size
    if size != expected:
        what = "cut off" if size < expected else "too long"
        raise FileError(
            f"{shorten(file)} is {what}: {len(cohort.variants):,} variants (.bim) of "
            f"{cohort.n_people:,} people (.fam) take {expected:,} bytes; it has {size:,}.",
            "Copy it again, together with the .bim and .fam that were written with it.",
        )


def _encode(cohort: Cohort, chosen: npt.NDArray[np.intp], options: ReadOptions) -> DiscreteTable:
    """Decode the genotypes, and put the phenotype behind them."""
    if options.missing == "error":  # some genotypes are missing in every cohort
        options = replace(options, missing="testwise")
    own = _encode_phenotype(cohort, options)
    codes: CodeArray = np.empty((len(chosen) + len(own.names), cohort.n_people), own.codes.dtype)
    codes[len(chosen) :] = own.codes
    names = [cohort.variants[place] for place in chosen]
    levels, types = _decode(cohort, chosen, codes, is_level=options.missing == "level")
    n_missing = any(found.missing for found in types) and options.missing != "level"
    return DiscreteTable(
        (*names, *own.names),
        CodesHere(codes),
        (*levels, *own.levels),
        own.cuts,
        own.has_missing or n_missing,
        own.numbers,
        {} if options.is_strict else dict(zip(names, types, strict=True)) | own.types,
        options.describe(),
    )


def _encode_phenotype(cohort: Cohort, options: ReadOptions) -> Encoded:
    """Encode the phenotype, if there is one; nothing else can be cut."""
    found = cohort.phenotype
    if found is None:
        if options.discretize is not None:
            rule = "be left out where there is no phenotype to cut: genotypes are levels"
            remedy = "Leave it out, or name a file of phenotypes: ", Argument("phenotype"), "."
            raise ParameterError.because("discretize", rule, options.discretize, remedy)
        codes: CodeArray = np.empty((0, cohort.n_people), np.uint8)
        return Encoded((), codes, (), {}, has_missing=False, numbers={}, types={})
    return encode_data({found.name: found}, options)


def _decode(
    cohort: Cohort, chosen: npt.NDArray[np.intp], codes: CodeArray, *, is_level: bool
) -> tuple[list[Levels], list[ColumnType]]:
    """Write the codes of some variants; return their levels and types."""
    from bed_reader import open_bed

    levels: list[Levels] = []
    types: list[ColumnType] = []
    n_people, per_block = cohort.n_people, max(1, VALUES_PER_BLOCK // cohort.n_people)
    with open_bed(
        cohort.bed, iid_count=n_people, sid_count=len(cohort.variants), skip_format_check=True
    ) as bed:
        for first in range(0, len(chosen), per_block):
            values = _read_block(bed, chosen[first : first + per_block])
            block = encode_block(values, 1 + _MISSING, missing=_MISSING)
            codes[first : first + len(block.codes)] = block.codes
            counts = np.count_nonzero(values == _MISSING, axis=0).tolist()
            types += [ColumnType(ORDINAL, LEVELS, count) for count in counts]
            for own, count in zip(block.levels, counts, strict=True):
                levels.append((*own, None) if own and count and is_level else own)
    empty = [cohort.variants[place] for place, own in zip(chosen, levels, strict=True) if not own]
    if empty:
        statement = f"no genotype was called of {and_more(map(repr, empty))}: all are missing."
        remedy = f"Leave such variants out: plink --bfile {cohort.bed.stem} --geno 0.99 --make-bed"
        raise DataError(statement, f"{remedy} --out another")
    return levels, types


def _read_block(bed: open_bed, variants: npt.NDArray[np.intp]) -> npt.NDArray[np.uint8]:
    """Return the genotypes of some variants, of shape ``(n_people, n_variants)``."""
    index: Any = variants
    if len(variants) == variants[-1] - variants[0] + 1:
        index = slice(int(variants[0]), int(variants[-1]) + 1)
    values = bed.read(index=(slice(None), index), dtype="int8", order="F")
    block: npt.NDArray[np.uint8] = values.view(np.uint8)  # -127, not called, is 129 here
    return np.minimum(block, _MISSING, out=block)
