"""Read PLINK 1 binary files: ``.bed`` (genotypes), ``.bim`` (variants) and ``.fam`` (people).

A ``.bed`` file holds two bits for each genotype, variant by variant. bed-reader decodes it, in
blocks of variants, into the codes of a table. So reading takes the memory of the codes, which is
one byte per genotype or four times the file, and that of one block.

PLINK's codes of phenotypes hold: where all are 1, 2, 0 or -9, 1 is a control, 2 is a case, and the
others are missing. Otherwise numbers are measurements, of which -9 is missing, as in covariates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from komb.data.encoder import Encoded, encode_data
from komb.data.inputs import check_shape, choose_names
from komb.data.kinds import LEVELS, ORDINAL, ColumnType, Place
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

VALUES_PER_BLOCK = 1 << 24
"""Genotypes that are decoded at a time, about."""

BYTES_PER_BYTE = 20
"""Memory that the fields of its companions take for each byte of text, at most."""

BYTES_PER_VARIANT = 1_000
"""Memory for the name, the place and the levels of a variant, at most."""

PHENOTYPE = "phenotype"
"""The name of the column, unless a file of phenotypes says another."""

_MAGIC = b"\x6c\x1b\x01"  # the last byte says that genotypes are there variant by variant
_PADDED = 1000  # variants whose last bits are looked at: no person has them
_BY_PERSON = b"\0"
_MISSING = 3  # what becomes of a genotype that was not called; above all others
_MARKS = ["-9", "NA", "NaN", "nan", "."]  # of missing phenotypes and covariates
_STATUS = {"1": "control", "2": "case", "0": None}
_PERSON = ["V1", "V2"]  # family and individual
_IN_FAM = "family, individual, father, mother, sex and phenotype"
_IN_BIM = "chromosome, id, distance, position and two alleles"


class Beside(NamedTuple):
    """Files that a caller names beside a ``.bed`` file, and which phenotype."""

    phenotype: Path | None = None
    phenotype_name: str | None = None
    covariates: Path | None = None
    keep: Path | None = None
    extract: Path | None = None

    def refuse(self) -> None:
        """Raise if something is named for a file of another kind."""
        for parameter, value in self._asdict().items():
            if value is not None:
                rule = "be left out for files other than PLINK's .bed"
                remedy = "The target is a column of the table: name it as ", Argument("target"), "."
                raise ParameterError.because(parameter, rule, str(value), remedy)


class Cohort(NamedTuple):
    """What belongs to a ``.bed`` file, all of it checked but the genotypes."""

    bed: Path
    shape: tuple[int, int]  # people and variants of the file
    people: npt.NDArray[np.intp]  # those that are read
    variants: dict[str, int]  # numbers of those that are read
    places: dict[str, Place]
    values: dict[str, pl.Series]  # the phenotype, if there is one, and covariates
    covariates: tuple[str, ...]


def is_plink(file: Path) -> bool:
    """Whether a file is a PLINK 1 binary file, by its name."""
    return file.suffix.lower() == ".bed"


def read_plink(
    file: Path,
    limit: int,
    options: ReadOptions,
    beside: Beside = Beside(),  # noqa: B008 - it is frozen
    columns: Sequence[str] | None = None,
) -> DiscreteTable:
    """Read a cohort: a column for each variant, one for the phenotype, and those of covariates."""
    _need_bed_reader()
    if beside.phenotype_name is not None and beside.phenotype is None:
        rule = "come with ", Argument("phenotype"), ", the file that it is in"
        remedy = "Name that file, or leave it out for the phenotype of the .fam file."
        raise ParameterError.because("phenotype_name", rule, beside.phenotype_name, remedy)
    cohort = _read_cohort(file, limit, beside)
    _check_bed(cohort)
    names = set(choose_names([*cohort.variants, *cohort.values], columns))
    wanted = {name: place for name, place in cohort.variants.items() if name in names}
    n_people = len(cohort.people)
    needed = len(wanted) * (n_people + BYTES_PER_VARIANT) + 4 * VALUES_PER_BLOCK
    what = f"Reading {shorten(file)}, of {n_people:,} people and {len(wanted):,} variants,"
    refuse_beyond(needed, limit, what)
    table = _encode(cohort._replace(variants=wanted), options)
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


def _read_cohort(file: Path, limit: int, beside: Beside) -> Cohort:
    """Read all but the genotypes."""
    _read_start(file)  # if there is no such file, that is what to say
    fam = _companion(file, ".fam")
    people = _read_fields(fam, limit, 6, _IN_FAM).with_row_index("row")
    _check_once(people, fam, _PERSON)
    variants = _read_variants(_companion(file, ".bim"), limit).with_row_index("row")
    shape = len(people), len(variants)
    if beside.keep is not None:
        listed = _About.read(beside.keep, limit)
        people = people.join(listed.lines, on=listed.ids, how="semi", maintain_order="left")
        _check_any(people, beside.keep, "person who is", ".fam")
    if beside.extract is not None:
        ids = _read_fields(beside.extract, limit)["V1"]
        variants = variants.filter(pl.any_horizontal(pl.col("id", "name").is_in(ids.implode())))
        _check_any(variants, beside.extract, "variant that is", ".bim")
    values = _read_phenotype(people, limit, beside)
    covariates: dict[str, pl.Series] = {}
    if beside.covariates is not None:
        about = _About.read(beside.covariates, limit, "covariate")
        covariates = {name: _to_numbers(about.of(people, name)) for name in about.names}
    check_shape([*variants["name"], *values, *covariates], len(people))
    places = map(Place, variants["V1"], variants["V4"].cast(pl.Int64, strict=False))
    return Cohort(
        file,
        shape,
        people["row"].to_numpy().astype(np.intp),
        dict(zip(variants["name"], variants["row"], strict=True)),
        dict(zip(variants["name"], places, strict=True)),
        values | covariates,
        tuple(covariates),
    )


def _check_any(left: pl.DataFrame, file: Path, what: str, suffix: str) -> None:
    if left.is_empty():
        message = f"{shorten(file)} must name at least one {what} in the {suffix} file; got none."
        raise DataError(message, f"Write the ids as the {suffix} file has them.")


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


def _check_once(people: pl.DataFrame, file: Path, ids: Sequence[str]) -> None:
    """Raise if a person is there several times."""
    for *person, count in people.group_by(ids, maintain_order=True).len().rows():
        if count > 1:
            shown = " ".join(person)
            message = f"{shorten(file)} must name every person once; {shown!r} is there {count} "
            raise DataError(f"{message}times.", "Remove all lines but one.")


def _read_variants(file: Path, limit: int) -> pl.DataFrame:
    """Read a ``.bim`` file, with the id and a name of every variant.

    The name is the id. A variant without one (``.``), or whose id is not the only one of its kind,
    is called ``chromosome:position``, and with its alleles, ``chromosome:position:A1:A2``, where
    that is not the only one either.
    """
    variants = _read_fields(file, limit, 6, _IN_BIM).with_columns(name="V2").rename({"V2": "id"})
    name = pl.col("name")
    is_unclear = name.is_duplicated() | (name == ".")
    place = pl.concat_str("V1", "V4", separator=":")
    for longer in (place, pl.concat_str(place, "V5", "V6", separator=":")):
        variants = variants.with_columns(name=pl.when(is_unclear).then(longer).otherwise(name))
    return variants


class _About(NamedTuple):
    """Values by person, one on each line: phenotypes or covariates."""

    file: Path
    ids: list[str]  # family and individual, or the individual alone
    lines: pl.DataFrame
    names: list[str]

    @classmethod
    def read(cls, file: Path, limit: int, word: str = "") -> _About:
        """Read a file whose first line may name its columns: ``FID IID ...``, or ``IID ...``."""
        lines = _read_fields(file, limit)
        first = [field.upper().removeprefix("#") for field in lines.row(0)[:2]]
        n_ids = 1 if first[0] == "IID" else 2
        n_values = lines.width - n_ids
        if n_values < (word != ""):
            message = f"{shorten(file)} must have a family id, an individual id and a {word} on "
            remedy = "Add what is missing."
            raise DataError(f"{message}every line; it has {lines.width} fields.", remedy)
        names = [word] if n_values == 1 else [f"{word}{i}" for i in range(1, n_values + 1)]
        if first[:n_ids] in (["FID", "IID"], ["IID"]):
            names, lines = list(lines.row(0)[n_ids:]), lines[1:]
        lines.columns = [*_PERSON[-n_ids:], *(f"value {i}" for i in range(len(names)))]
        _check_once(lines, file, lines.columns[:n_ids])
        return cls(file, lines.columns[:n_ids], lines, names)

    def of(self, people: pl.DataFrame, name: str) -> pl.Series:
        """Return the values of one column for all people; null where somebody has none."""
        if self.lines.join(people, on=self.ids, how="semi").is_empty():
            ours = " ".join(people.select(self.ids).row(0))
            theirs = " ".join(self.lines.select(self.ids).row(0)) if len(self.lines) else "nobody"
            raise DataError(
                f"{shorten(self.file)} names nobody who is in the .fam file: there the first is "
                f"{ours!r}, here {theirs!r}.",
                "Lines must begin with the family id and the individual id of the .fam file.",
            )
        own = self.lines.select(*self.ids, value=f"value {self.names.index(name)}")
        found = people.select(self.ids).join(own, on=self.ids, how="left", maintain_order="left")
        return _without_marks(found["value"].alias(name))


def _without_marks(raw: pl.Series) -> pl.Series:
    return raw.set(raw.is_in(_MARKS), None)


def _to_numbers(known: pl.Series) -> pl.Series:
    """Read text as numbers if all of it is."""
    numbers = known.cast(pl.Float64, strict=False)
    return numbers if numbers.null_count() == known.null_count() else known


def _interpret(known: pl.Series) -> pl.Series:
    """Return what the codes of a phenotype stand for."""
    codes = {*known.drop_nulls()}
    if codes == {"0", "1"}:
        raise DataError(
            "The phenotype is 0 or 1 for everybody; in PLINK's codes 1 is a control, 2 is a case "
            "and 0 is missing.",
            "Write 1 and 2, or words such as 'no' and 'yes' in a phenotype file.",
        )
    if codes <= _STATUS.keys():
        return known.replace_strict(_STATUS, return_dtype=pl.String)
    return _to_numbers(known)


def _read_phenotype(people: pl.DataFrame, limit: int, beside: Beside) -> dict[str, pl.Series]:
    """Return the phenotype of a file, or of the ``.fam`` file if there is one."""
    if beside.phenotype is None:
        own = _interpret(_without_marks(people["V6"]))
        return {PHENOTYPE: own} if own.null_count() < len(own) else {}
    about = _About.read(beside.phenotype, limit, PHENOTYPE)
    name = _choose(about, beside.phenotype_name)
    found = _interpret(about.of(people, name))
    if found.drop_nulls().n_unique() < 2:
        rule = f"{shorten(about.file)} must have different phenotypes for people in the .fam file"
        one = found.drop_nulls().head(1).to_list()
        shown = f"all are {one[0]!r}" if one else "all are missing"
        raise DataError(f"{rule}; {shown}.", "Choose another file or phenotype.")
    return {name: found}


def _choose(about: _About, name: str | None) -> str:
    """Return the phenotype that is wanted."""
    if name is None and len(about.names) > 1:
        rule = f"name one of the {len(about.names)} phenotypes in {shorten(about.file)}"
        remedy = "Try ", Argument("phenotype_name", about.names[0]), "."
        raise ParameterError.because("phenotype_name", rule, None, remedy, shown="none")
    if name is not None and name not in about.names:
        error = UnknownNameError.among("phenotype", name, about.names, "phenotype_name")
        raise error.within(shorten(about.file))
    return name or about.names[0]


def _companion(file: Path, suffix: str) -> Path:
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
    n_people, n_variants = cohort.shape
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


def _encode(cohort: Cohort, options: ReadOptions) -> DiscreteTable:
    """Decode the genotypes, and put the phenotype and covariates behind them."""
    if options.missing == "error":  # some genotypes are missing in every cohort
        options = replace(options, missing="testwise")
    own = _encode_values(cohort, options)
    n_variants = len(cohort.variants)
    codes: CodeArray = np.empty((n_variants + len(own.names), own.codes.shape[1]), own.codes.dtype)
    codes[n_variants:] = own.codes
    levels, types = _decode(cohort, codes, is_level=options.missing == "level")
    n_missing = any(found.missing for found in types) and options.missing != "level"
    said = {"covariates": cohort.covariates} if cohort.covariates else {}
    return DiscreteTable(
        (*cohort.variants, *own.names),
        CodesHere(codes),
        (*levels, *own.levels),
        own.cuts,
        own.has_missing or n_missing,
        own.numbers,
        {} if options.is_strict else dict(zip(cohort.variants, types, strict=True)) | own.types,
        options.describe() | said,
        annotations={name: cohort.places[name] for name in cohort.variants},
    )


def _encode_values(cohort: Cohort, options: ReadOptions) -> Encoded:
    """Encode the phenotype and covariates, if there are any; nothing else can be cut."""
    if cohort.values:
        return encode_data(cohort.values, options)
    if options.discretize is not None:
        rule = "be left out where there is no phenotype to cut: genotypes are levels"
        remedy = "Leave it out, or name a file of phenotypes: ", Argument("phenotype"), "."
        raise ParameterError.because("discretize", rule, options.discretize, remedy)
    codes: CodeArray = np.empty((0, len(cohort.people)), np.uint8)
    return Encoded((), codes, (), {}, has_missing=False, numbers={}, types={})


def _decode(
    cohort: Cohort, codes: CodeArray, *, is_level: bool
) -> tuple[list[Levels], list[ColumnType]]:
    """Write the codes of the variants; return their levels and types."""
    from bed_reader import open_bed

    levels: list[Levels] = []
    types: list[ColumnType] = []
    (n_people, n_variants), chosen = cohort.shape, np.array([*cohort.variants.values()], np.intp)
    people: Any = slice(None) if len(cohort.people) == n_people else cohort.people
    per_block = max(1, VALUES_PER_BLOCK // n_people)
    with open_bed(
        cohort.bed, iid_count=n_people, sid_count=n_variants, skip_format_check=True
    ) as bed:
        for first in range(0, len(chosen), per_block):
            index = people, _as_slice(chosen[first : first + per_block])
            values = bed.read(index=index, dtype="int8", order="F").view(np.uint8)
            np.minimum(values, _MISSING, out=values)  # -127, not called, is 129 here
            block = encode_block(values, 1 + _MISSING, missing=_MISSING)
            codes[first : first + len(block.codes)] = block.codes
            counts = np.count_nonzero(values == _MISSING, axis=0).tolist()
            types += [ColumnType(ORDINAL, LEVELS, count) for count in counts]
            for own, count in zip(block.levels, counts, strict=True):
                levels.append((*own, None) if own and count and is_level else own)
    empty = [name for name, own in zip(cohort.variants, levels, strict=True) if not own]
    if empty:
        statement = f"no genotype was called of {and_more(map(repr, empty))}: all are missing."
        remedy = f"Leave such variants out: plink --bfile {cohort.bed.stem} --geno 0.99 --make-bed"
        raise DataError(statement, f"{remedy} --out another")
    return levels, types


def _as_slice(places: npt.NDArray[np.intp]) -> Any:
    """Return a slice where places follow one another, which is read at once."""
    first, last = int(places[0]), int(places[-1])
    return slice(first, last + 1) if last - first + 1 == len(places) else places
