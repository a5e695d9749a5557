"""Read cohorts: genotypes of people, with their phenotypes and covariates.

A format of genotypes is a file of this folder that registers itself. It says who the people and
the variants are, and decodes genotypes, in blocks of variants, into the codes of a table. So
reading takes the memory of the codes, which is one byte per genotype, and that of one block.

PLINK's codes of phenotypes hold: where all are 1, 2, 0 or -9, 1 is a control, 2 is a case, and the
others are missing. Otherwise numbers are measurements, of which -9 is missing, as in covariates.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from komb.data.encoder import Encoded, encode_data
from komb.data.inputs import check_shape, choose_names
from komb.data.kinds import LEVELS, ORDINAL, ColumnType, Place
from komb.data.levels import Array, CodeArray, Levels, encode_block
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

_MISSING = 3  # what becomes of a genotype that was not called; above all others
_MARKS = ["-9", "NA", "NaN", "nan", ".", "NONE"]  # of missing phenotypes and covariates
_STATUS = {"1": "control", "2": "case", "0": None}
PERSON = ["family", "individual"]
"""Columns that tell people apart; the first is not there if a format has no families."""

VARIANT = ["chromosome", "position", "id", "A1", "A2"]
"""Columns about variants: it is copies of A1 that are counted."""

Positions = npt.NDArray[np.intp]


class Genotypes(NamedTuple):
    """An open file of genotypes, all of it checked but what is decoded."""

    people: pl.DataFrame  # PERSON, and columns of phenotypes
    variants: pl.DataFrame  # VARIANT, all of it text
    listed: tuple[str, str]  # where people are listed, and variants, for messages
    decode: Callable[[Positions, Positions], Array]
    """Copies of A1 of some people (rows) and variants, as 8 bits; what was not called exceeds 2."""


class GenotypeFormat(NamedTuple):
    """A format of genotypes, by how names of its files end."""

    suffixes: tuple[str, ...]
    open: Callable[[Path, int], AbstractContextManager[Genotypes]]  # a file, and a memory limit
    companions: tuple[str, ...]  # how names of files beside them end
    without_empty: str  # a command that leaves out variants nobody was called of


_FORMATS: list[GenotypeFormat] = []


def register_genotypes(form: GenotypeFormat) -> GenotypeFormat:
    """Have files of a format read."""
    _FORMATS.append(form)
    return form


def genotype_format_of(file: Path) -> GenotypeFormat | None:
    """Return the format of a file of genotypes, by its name; None for other files."""
    from komb.data.read import bed, pgen, vcf  # noqa: F401 - each registers itself

    name = file.name.lower()
    for form in _FORMATS:
        stem = file.with_suffix("") if file.suffix.lower() in form.companions else file
        whole = Path(f"{stem}{form.suffixes[0]}")
        # of os, which says of impossible names that there are no such files
        if os.path.isfile(whole) and (stem != file or not os.path.exists(file)):
            remedy = f"Name the file that has them: {str(whole)!r}."
            raise FileError(f"{shorten(file)} has no genotypes.", remedy)
    return next((each for each in _FORMATS if name.endswith(each.suffixes)), None)


class Beside(NamedTuple):
    """Files that a caller names beside a file of genotypes, and which phenotype."""

    phenotype: Path | None = None
    phenotype_name: str | None = None
    covariates: Path | None = None
    keep: Path | None = None
    extract: Path | None = None

    def refuse(self) -> None:
        """Raise if something is named for a file of another kind."""
        for parameter, value in self._asdict().items():
            if value is not None:
                known = and_more([suffix for form in _FORMATS for suffix in form.suffixes])
                rule = f"be left out for files other than genotypes ({known})"
                remedy = "The target is a column of the table: name it as ", Argument("target"), "."
                raise ParameterError.because(parameter, rule, str(value), remedy)


class Cohort(NamedTuple):
    """What of a file is read, and what belongs to it; all of it checked but the genotypes."""

    people: Positions
    variants: dict[str, int]  # positions by name
    places: dict[str, Place]
    values: dict[str, pl.Series]  # the phenotype, if there is one, and covariates
    covariates: tuple[str, ...]


def read_cohort(
    file: Path,
    form: GenotypeFormat,
    limit: int,
    options: ReadOptions,
    beside: Beside = Beside(),  # noqa: B008 - it is frozen
    columns: Sequence[str] | None = None,
) -> DiscreteTable:
    """Read a cohort: a column for each variant, one for the phenotype, and those of covariates."""
    with form.open(file, limit) as genotypes:
        cohort = _choose_cohort(genotypes, limit, beside)
        names = set(choose_names([*cohort.variants, *cohort.values], columns))
        wanted = {name: place for name, place in cohort.variants.items() if name in names}
        _check_alleles(genotypes.variants[[*wanted.values()]])
        n_people = len(cohort.people)
        needed = len(wanted) * (n_people + BYTES_PER_VARIANT) + 4 * VALUES_PER_BLOCK
        what = f"Reading {shorten(file)}, of {n_people:,} people and {len(wanted):,} variants,"
        refuse_beyond(needed, limit, what)
        table = _encode(cohort._replace(variants=wanted), genotypes, form, options)
    return table if columns is None else table.select(columns)


def need_package(module: str, package: str, what: str) -> Any:
    """Return a module, or raise if its package is not installed."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingPackageError(
            f"{what} need {package}, which is not installed. Install it: "
            f'pip install "komb[genetics]", or pip install {package}.'
        ) from None


def _choose_cohort(genotypes: Genotypes, limit: int, beside: Beside) -> Cohort:
    """Find which people and variants are read, and read all but the genotypes."""
    in_people, in_variants = genotypes.listed
    people = genotypes.people.with_row_index("row")
    _check_once(people, in_people, [name for name in PERSON if name in people.columns])
    variants = _name_variants(genotypes.variants).with_row_index("row")
    if beside.keep is not None:
        kept = About.read(beside.keep, limit)
        people = people.join(kept.lines, on=kept.ids(people), how="semi", maintain_order="left")
        _check_any(people, beside.keep, "person who is", in_people)
    if beside.extract is not None:
        ids = read_fields(beside.extract, limit)["V1"]
        variants = variants.filter(pl.any_horizontal(pl.col("id", "name").is_in(ids.implode())))
        _check_any(variants, beside.extract, "variant that is", in_variants)
    values = _read_phenotype(people, in_people, limit, beside)
    covariates: dict[str, pl.Series] = {}
    if beside.covariates is not None:
        about = About.read(beside.covariates, limit, "covariate")
        covariates = {n: _to_numbers(about.of(people, n, in_people)) for n in about.names}
    check_shape([*variants["name"], *values, *covariates], len(people))
    places = map(Place, variants["chromosome"], variants["position"].cast(pl.Int64, strict=False))
    return Cohort(
        people["row"].to_numpy().astype(np.intp),
        dict(zip(variants["name"], variants["row"], strict=True)),
        dict(zip(variants["name"], places, strict=True)),
        values | covariates,
        tuple(covariates),
    )


def _check_alleles(variants: pl.DataFrame) -> None:
    """Raise if a variant has more alleles than one that is counted and one that is not."""
    more = variants.filter(pl.col("A1").str.contains(",", literal=True))
    if len(more):
        chromosome, position, _, counted, other = more.select(VARIANT).row(0)
        raise DataError(
            f"variants must have two alleles; {len(more):,} of {len(variants):,} have more, such "
            f"as {chromosome}:{position}, {other} or {counted}.",
            "Leave them out (plink2 --max-alleles 2, bcftools view --max-alleles 2), or split them "
            "(bcftools norm --multiallelics -).",
        )


def _check_any(left: pl.DataFrame, file: Path, what: str, listed: str) -> None:
    if left.is_empty():
        message = f"{shorten(file)} must name at least one {what} in {listed}; got none."
        raise DataError(message, f"Write the ids as {listed} has them.")


def read_fields(
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


def _check_once(people: pl.DataFrame, file: str, ids: Sequence[str]) -> None:
    """Raise if a person is there several times."""
    for *person, count in people.group_by(ids, maintain_order=True).len().rows():
        if count > 1:
            shown = " ".join(person)
            message = f"{file} must name every person once; {shown!r} is there {count} "
            raise DataError(f"{message}times.", "Remove all lines but one.")


def _name_variants(variants: pl.DataFrame) -> pl.DataFrame:
    """Give every variant a name.

    The name is the id. A variant without one (``.``), or whose id is not the only one of its kind,
    is called ``chromosome:position``, and with its alleles, ``chromosome:position:A1:A2``, where
    that is not the only one either.
    """
    variants, name = variants.with_columns(name="id"), pl.col("name")
    is_unclear = name.is_duplicated() | (name == ".")
    place = pl.concat_str("chromosome", "position", separator=":")
    for longer in (place, pl.concat_str(place, "A1", "A2", separator=":")):
        variants = variants.with_columns(name=pl.when(is_unclear).then(longer).otherwise(name))
    return variants


class About(NamedTuple):
    """Values by person, one on each line: phenotypes or covariates."""

    file: Path
    lines: pl.DataFrame  # PERSON, or the individual alone, and the values
    names: list[str]  # of the values

    @classmethod
    def read(cls, file: Path, limit: int, word: str = "") -> About:
        """Read a file whose first line may name its columns: ``FID IID ...``, or ``IID ...``."""
        lines = read_fields(file, limit)
        first = [field.upper().removeprefix("#") for field in lines.row(0)[:2]]
        n_ids = 1 if first[0] == "IID" or (not word and lines.width == 1) else 2
        n_values = lines.width - n_ids
        if n_values < (word != ""):
            message = f"{shorten(file)} must have a family id, an individual id and a {word} on "
            remedy = "Add what is missing."
            raise DataError(f"{message}every line; it has {lines.width} fields.", remedy)
        names = [word] if n_values == 1 else [f"{word}{i}" for i in range(1, n_values + 1)]
        if first[:n_ids] in (["FID", "IID"], ["IID"]):
            names, lines = list(lines.row(0)[n_ids:]), lines[1:]
        lines.columns = [*PERSON[-n_ids:], *(f"value {i}" for i in range(len(names)))]
        return cls(file, lines, names)

    def ids(self, people: pl.DataFrame) -> list[str]:
        """Return the columns that tell people apart, here and there."""
        ids = [name for name in PERSON if name in people.columns and name in self.lines.columns]
        _check_once(self.lines, shorten(self.file), ids)
        return ids

    def of(self, people: pl.DataFrame, name: str, in_people: str) -> pl.Series:
        """Return the values of one column for all people; null where somebody has none."""
        ids = self.ids(people)
        if self.lines.join(people, on=ids, how="semi").is_empty():
            ours = " ".join(people.select(ids).row(0))
            theirs = " ".join(self.lines.select(ids).row(0)) if len(self.lines) else "nobody"
            raise DataError(
                f"{shorten(self.file)} names nobody who is in {in_people}: there the first is "
                f"{ours!r}, here {theirs!r}.",
                f"Lines must begin with the ids of {in_people}: family and individual, or the "
                "individual alone if the first line begins with IID.",
            )
        own = self.lines.select(*ids, value=f"value {self.names.index(name)}")
        found = people.select(ids).join(own, on=ids, how="left", maintain_order="left")
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


def _read_phenotype(
    people: pl.DataFrame, in_people: str, limit: int, beside: Beside
) -> dict[str, pl.Series]:
    """Return the phenotype of a file, or that of the people if they have one."""
    wanted = beside.phenotype_name
    if beside.phenotype is None:
        own = [name for name in people.columns if name not in ("row", *PERSON)]
        if wanted is not None and {*own} <= {PHENOTYPE}:
            rule = "come with ", Argument("phenotype"), ", the file that it is in"
            remedy = f"Name that file, or leave it out for the phenotype of {in_people}."
            raise ParameterError.because("phenotype_name", rule, wanted, remedy)
        if not own:
            return {}
        name = _choose(own, in_people, wanted)
        found = _interpret(_without_marks(people[name]))
        return {name: found} if found.null_count() < len(found) else {}
    about = About.read(beside.phenotype, limit, PHENOTYPE)
    name = _choose(about.names, shorten(about.file), wanted)
    found = _interpret(about.of(people, name, in_people))
    if found.drop_nulls().n_unique() < 2:
        message = f"{shorten(about.file)} must have different phenotypes for people in {in_people}"
        one = found.drop_nulls().head(1).to_list()
        shown = f"all are {one[0]!r}" if one else "all are missing"
        raise DataError(f"{message}; {shown}.", "Choose another file or phenotype.")
    return {name: found}


def _choose(names: Sequence[str], where: str, name: str | None) -> str:
    """Return the phenotype that is wanted."""
    if name is None and len(names) > 1:
        rule = f"name one of the {len(names)} phenotypes in {where}"
        remedy = "Try ", Argument("phenotype_name", names[0]), "."
        raise ParameterError.because("phenotype_name", rule, None, remedy, shown="none")
    if name is not None and name not in names:
        error = UnknownNameError.among("phenotype", name, names, "phenotype_name")
        raise error.within(where)
    return name or names[0]


def companion(file: Path, suffix: str, together: str) -> Path:
    """Return the file of another kind that belongs to a file of genotypes."""
    other = file.with_suffix(suffix)
    if not other.is_file():
        packed = other.with_name(f"{other.name}.zst")
        remedy = f"Unpack {packed.name} (zstd -d)." if packed.is_file() else (
            f"PLINK writes {together} together: keep them in one folder, with one name."
        )  # fmt: skip
        message = f"{shorten(file)} needs {shorten(other)} beside it, which is not there."
        raise FileError(message, remedy)
    return other


def read_start(file: Path, n_bytes: int) -> bytes:
    """Return the first bytes of a file."""
    if not file.is_file():
        read_bytes(file)  # says why it cannot be read
    try:
        with file.open("rb") as opened:
            return opened.read(n_bytes)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise FileError(f"Cannot read {shorten(file)}: {why}.", "Check that you may.") from None


def _encode(
    cohort: Cohort, genotypes: Genotypes, form: GenotypeFormat, options: ReadOptions
) -> DiscreteTable:
    """Decode the genotypes, and put the phenotype and covariates behind them."""
    if options.missing == "error":  # some genotypes are missing in every cohort
        options = replace(options, missing="testwise")
    own = _encode_values(cohort, options)
    n_variants = len(cohort.variants)
    codes: CodeArray = np.empty((n_variants + len(own.names), own.codes.shape[1]), own.codes.dtype)
    codes[n_variants:] = own.codes
    levels, types = _decode(cohort, genotypes, codes, is_level=options.missing == "level")
    empty = [name for name, own in zip(cohort.variants, levels, strict=True) if not own]
    if empty:
        statement = f"no genotype was called of {and_more(map(repr, empty))}: all are missing."
        raise DataError(statement, f"Leave such variants out: {form.without_empty}.")
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
    cohort: Cohort, genotypes: Genotypes, codes: CodeArray, *, is_level: bool
) -> tuple[list[Levels], list[ColumnType]]:
    """Write the codes of the variants; return their levels and types."""
    levels: list[Levels] = []
    types: list[ColumnType] = []
    chosen = np.array([*cohort.variants.values()], np.intp)
    per_block = max(1, VALUES_PER_BLOCK // max(1, len(genotypes.people)))
    for first in range(0, len(chosen), per_block):
        values = genotypes.decode(cohort.people, chosen[first : first + per_block])
        np.minimum(values, _MISSING, out=values)
        block = encode_block(values, 1 + _MISSING, missing=_MISSING)
        codes[first : first + len(block.codes)] = block.codes
        counts = np.count_nonzero(values == _MISSING, axis=0).tolist()
        types += [ColumnType(ORDINAL, LEVELS, count) for count in counts]
        for own, count in zip(block.levels, counts, strict=True):
            levels.append((*own, None) if own and count and is_level else own)
    return levels, types
