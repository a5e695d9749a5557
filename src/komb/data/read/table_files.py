"""Read tables from files: those of a user, and those that come with komb."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Unpack, cast

from komb.data.inputs import choose_names
from komb.data.memory_limit import check_limit, refuse_beyond
from komb.data.names import list_names
from komb.data.options import AUTO, check_options
from komb.data.read.cohort import Beside, genotype_format_of, read_cohort
from komb.data.read.file_bytes import line_of, mapped_file, shorten, spooled, to_path
from komb.data.read.formats import format_of
from komb.data.read.text import TextFile, read_columns
from komb.data.reading import Reading, table
from komb.data.stored.format import open_table
from komb.data.table import DiscreteTable
from komb.errors import Argument, DataError, ParameterError, UnknownNameError

if TYPE_CHECKING:
    import polars as pl


BYTES_PER_BYTE = 6
"""Memory that reading takes for each byte of text, at most."""
BYTES_PER_FIELD = 48
"""And for each field."""
_START = 16  # bytes that may tell a format
_OF_PHENOTYPE = ("types", "missing", "na_values", "discretize", "bins")


def read_table(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    has_header: bool = True,
    columns: Sequence[str] | None = None,
    phenotype: str | os.PathLike[str] | None = None,
    phenotype_name: str | None = None,
    covariates: str | os.PathLike[str] | None = None,
    keep: str | os.PathLike[str] | None = None,
    extract: str | os.PathLike[str] | None = None,
    **reading: Unpack[Reading],
) -> DiscreteTable:
    r"""Read a table from delimited text, Parquet or files of genotypes, or open one on disk.

    Parameters
    ----------
    path
        The file: Parquet if its name ends in ``.parquet``, PLINK 1 if it ends in ``.bed`` (with
        ``.bim`` and ``.fam`` beside it; needs bed-reader), PLINK 2 if in ``.pgen`` (with ``.pvar``
        and ``.psam``; needs Pgenlib), VCF if in ``.vcf`` or ``.vcf.gz``, otherwise text in UTF-8,
        which may be compressed with gzip. Or the folder of a table that :func:`komb.encode` has
        written: it is opened, but not read.
    delimiter
        One character between fields; a blank stands for any run of blanks and tabs. If left out,
        the one of comma, tab, semicolon, bar and white space that fits the first lines.
    has_header
        Whether the first line holds the names. Without it they are ``V1``, ``V2``, ...
    columns
        The columns to read; all if left out.
    phenotype
        For genotypes: a file of phenotypes, whose lines have a family id, an individual id and
        the phenotype. If left out, that of the ``.fam`` or ``.psam`` file.
    phenotype_name
        Which of them, if there are several; then the first line must hold the names.
    covariates
        For genotypes: a file of covariates, in the same form. They become columns behind the
        phenotype, to be held fixed by ``given``; ``table.reading["covariates"]`` has their names.
    keep, extract
        For genotypes: files of the people (family and individual id) and of the variants (ids)
        to read; all if left out.
    **reading
        How columns are read, the keywords of :func:`komb.table`. In text, an empty field, ``NA``,
        ``N/A``, ``NaN``, ``null``, ``?``, ``.`` and the like, quoted or not and with any blanks
        around them, are missing values.

    Returns
    -------
    DiscreteTable
        That of a folder stays on disk. Columns of whole numbers hold integers. Blanks
        around names and values are dropped. Of genotypes, one column for each variant, how many
        copies of its first (in VCF and ``.pvar``: alternate) allele a person has, and the phenotype
        as the last one; missing genotypes are marked, and each test leaves out the rows that it
        would need them in, unless ``missing="level"``. ``annotations`` has the place of each
        variant.

    Raises
    ------
    komb.errors.FileError
        If the file cannot be read, or its lines have different numbers of fields; if a folder is no
        table, is damaged or was written by a later version.
    komb.errors.MemoryLimitError
        If it would take more memory than it may; it is raised before the memory is taken.
    komb.errors.DataError
        If two columns have one name, or a column has missing or continuous values that nothing was
        said about.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "smokers.csv")
    ...     _ = path.write_text("smoker,age\nno,30\nyes,50\n")
    ...     read_table(path).levels
    (('no', 'yes'), (30, 50))
    """
    file, limit = to_path(path), reading.get("memory_limit")
    paths = (None if each is None else to_path(each) for each in (covariates, keep, extract))
    beside = Beside(None if phenotype is None else to_path(phenotype), phenotype_name, *paths)
    if os.path.isdir(file):
        _refuse_text_options("tables on disk", delimiter, has_header)
        beside.refuse()
        stored = table(open_table(file), **reading)
        return stored if columns is None else stored.select(_listed(columns) or ())
    with naming(file):
        genotypes = genotype_format_of(file)
        if genotypes is not None:
            _refuse_text_options("files of genotypes", delimiter, has_header)
            said: Any = {name: reading.pop(name) for name in _OF_PHENOTYPE if name in reading}  # type: ignore[misc]
            options = check_options(**{"types": AUTO, **said})
            wanted = _listed(columns)
            cohort = read_cohort(file, genotypes, check_limit(limit), options, beside, wanted)
            return table(cohort, **reading)
        beside.refuse()
        frame = read_frame(
            file, delimiter=delimiter, has_header=has_header, columns=columns, memory_limit=limit
        )
        return table(frame, **reading)


@contextmanager
def naming(file: object) -> Iterator[None]:
    """Have errors in the data of a file say which file it is."""
    try:
        yield
    except DataError as error:
        is_said = shorten(file) in error.places
        raise (error if is_said else error.within(shorten(file))) from None


def read_frame(
    path: str | os.PathLike[str] | IO[bytes],
    *,
    delimiter: str | None = None,
    has_header: bool = True,
    columns: Sequence[str] | None = None,
    memory_limit: int | str | None = None,
) -> pl.DataFrame:
    """Read a file or stream as :func:`read_table` does, but do not encode or check its columns."""
    limit = check_limit(memory_limit)
    _check_delimiter(delimiter)
    wanted = _listed(columns)
    if not isinstance(path, str | os.PathLike) and hasattr(path, "read"):
        with spooled(path, "standard input", limit) as where:
            return _read_file(where, Path(where.name), limit, wanted, delimiter, has_header)
    file = to_path(cast("str", path))
    return _read_file(file, file, limit, wanted, delimiter, has_header)


def _read_file(
    where: Path,
    file: Path,
    limit: int,
    wanted: list[Any] | None,
    delimiter: str | None,
    has_header: bool,
) -> pl.DataFrame:
    """Read a file that messages may call something else."""
    per_byte = BYTES_PER_BYTE if format_of(file) is None else 1
    with mapped_file(where, limit, per_byte, name=file) as (found, data):
        kind = format_of(file, data[:_START])
        if kind is not None:
            return kind.read(found, file, wanted, limit)
        text = TextFile(file, found, data, limit, delimiter=delimiter, has_header=has_header)
        names = choose_names(text.names, wanted)
        n_fields = len(text.names) * line_of(data, len(data))
        needed = BYTES_PER_BYTE * len(data) + BYTES_PER_FIELD * n_fields
        refuse_beyond(needed, limit, f"Reading {shorten(file)}")
        fields = text.gather(lambda lazy: lazy.collect().lazy())
        return read_columns(fields, names)


def _listed(columns: Sequence[str] | None) -> list[Any] | None:
    return None if columns is None else list_names("columns", columns)


def _refuse_text_options(what: str, delimiter: str | None, has_header: bool) -> None:
    rule = f"be left out for {what}"
    if delimiter is not None:
        raise ParameterError.because("delimiter", rule, delimiter, "Leave it out.")
    if not has_header:
        raise ParameterError.because("has_header", rule, has_header, "Leave it out.")


def _check_delimiter(delimiter: str | None) -> None:
    is_usable = delimiter is None or (
        isinstance(delimiter, str)
        and len(delimiter) == 1
        and delimiter.isascii()
        and delimiter not in '"\r\n\0'
    )
    if not is_usable:
        rule = "be one character, neither a quote nor a line break"
        remedy = "Leave it out to have it detected, or try ", Argument("delimiter", ","), "."
        raise ParameterError.because("delimiter", rule, delimiter, remedy)


NAMES = ("lamp",)
"""The tables there are."""


def example(name: str = "lamp") -> DiscreteTable:
    """Return a table that comes with komb.

    Parameters
    ----------
    name
        ``"lamp"``: 500 rows of a lamp with a switch in the hall and one on the stairs, wrong in
        one row of twenty, and three columns that have nothing to do with it.

    Returns
    -------
    DiscreteTable
        As :func:`komb.read_table` would read it.

    Examples
    --------
    >>> example("lamp").names
    ('weekday', 'weather', 'hall', 'stairs', 'guests', 'lamp')
    """
    if name not in NAMES:
        raise UnknownNameError.among("example", name, NAMES)
    with as_file(files("komb.data") / "example_tables" / f"{name}.csv") as path:
        return read_table(path)
