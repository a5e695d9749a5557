"""Read tables from files."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Unpack, cast

from komb.data.encode.inputs import check_shape
from komb.data.encode.treatment import check_treatment
from komb.data.memory_limit import check_limit, refuse_beyond
from komb.data.names import list_names
from komb.data.read.csv_layout import (
    NO_DELIMITER,
    NULL_MARKERS,
    WHITE_SPACE,
    count_lines,
    detect_delimiter,
    drop_blank_lines,
    end_of_record,
    find_odd_line,
    first_record,
    is_rectangular,
    squeeze,
)
from komb.data.read.csv_quotes import find_quoting
from komb.data.read.file_bytes import check_text, read_bytes, read_stream, shorten, to_path
from komb.data.read.parquet import read_parquet
from komb.data.read.plink import is_plink, read_plink
from komb.data.reading import Reading, table
from komb.data.stored.stored_table import open_table
from komb.data.table import DiscreteTable
from komb.errors import Argument, DataError, FileError, ParameterError, Text, UnknownNameError

if TYPE_CHECKING:
    import polars as pl

BYTES_PER_BYTE = 6
"""Memory that reading takes for each byte of text, at most."""
BYTES_PER_FIELD = 48
"""And for each field."""
BYTES_PER_COLUMN = 10_000
"""And for each column."""

_OF_PLINK = ("discretize", "bins", "missing")  # for the phenotype
_SAMPLE = 10_000  # rows from which types are guessed at first
_LONGEST_NAME = 10_000  # characters; beyond that it is no name, but a quote or delimiter is wrong


def read_table(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    has_header: bool = True,
    columns: Sequence[str] | None = None,
    phenotype: str | os.PathLike[str] | None = None,
    phenotype_name: str | None = None,
    **reading: Unpack[Reading],
) -> DiscreteTable:
    r"""Read a table from delimited text, Parquet or PLINK's binary files, or open one on disk.

    Parameters
    ----------
    path
        The file: Parquet if its name ends in ``.parquet``, PLINK 1 if it ends in ``.bed`` (with
        ``.bim`` and ``.fam`` beside it; needs bed-reader), otherwise text in UTF-8, which may be
        compressed with gzip. Or the folder of a table that :func:`komb.encode` has written: it is
        opened, but not read.
    delimiter
        One character between fields; a blank stands for any run of blanks and tabs. If left out,
        the one of comma, tab, semicolon, bar and white space that fits the first lines.
    has_header
        Whether the first line holds the names. Without it they are ``V1``, ``V2``, ...
    columns
        The columns to read; all if left out.
    phenotype
        For PLINK files: a file of phenotypes, whose lines have a family id, an individual id and
        the phenotype. If left out, that of the ``.fam`` file.
    phenotype_name
        Which of them, if there are several; then the first line must hold the names.
    **reading
        How columns are read, the keywords of :func:`komb.table`. An empty field, ``NA``, ``N/A``,
        ``NaN``, ``nan``, ``null`` and ``NULL``, quoted or not and with any blanks around them, are
        missing values in text.

    Returns
    -------
    DiscreteTable
        A :class:`komb.StoredTable` of a folder. Columns of whole numbers hold integers. Blanks
        around names and values are dropped. Of PLINK files, one column for each variant, how many
        copies of its first allele a person has, and the phenotype as the last one; missing
        genotypes are marked, and each test leaves out the rows that it would need them in, unless
        ``missing="level"``.

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
    if os.path.isdir(file):
        _refuse_text_options("tables on disk", delimiter, has_header)
        refuse_phenotype(phenotype, phenotype_name)
        stored = table(open_table(file), **reading)
        return stored if columns is None else stored.select(_listed(columns) or ())
    with naming(file):
        if is_plink(file):
            _refuse_text_options("PLINK files", delimiter, has_header)
            where = None if phenotype is None else to_path(phenotype)
            said = {name: reading.pop(name) for name in _OF_PLINK if name in reading}  # type: ignore[misc]
            cohort = read_plink(
                file, check_limit(limit), check_treatment(**said), phenotype=where,
                phenotype_name=phenotype_name, columns=_listed(columns),
            )  # fmt: skip
            return table(cohort, **reading)
        refuse_phenotype(phenotype, phenotype_name)
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
    is_stream = isinstance(path, io.IOBase) or hasattr(path, "read")
    file = Path("standard input") if is_stream else to_path(cast("str", path))
    limit = check_limit(memory_limit)
    _check_delimiter(delimiter)
    columns = _listed(columns)
    is_parquet = file.suffix.lower() == ".parquet"
    if is_stream:
        data = read_stream(cast("IO[bytes]", path), file, limit, BYTES_PER_BYTE)
    else:
        data = read_bytes(file, limit, 1 if is_parquet else BYTES_PER_BYTE)
    if is_parquet or data.startswith(b"PAR1"):
        return read_parquet(file, data, columns, lambda names: _choose(names, columns), limit)
    check_text(file, data)
    return _read_text(file, _plain_lines(data), delimiter, has_header, columns, limit)


def _listed(columns: Sequence[str] | None) -> list[Any] | None:
    return None if columns is None else list_names("columns", columns)


def _refuse_text_options(what: str, delimiter: str | None, has_header: bool) -> None:
    rule = f"be left out for {what}, which are no text"
    if delimiter is not None:
        raise ParameterError.because("delimiter", rule, delimiter, "Leave it out.")
    if not has_header:
        raise ParameterError.because("has_header", rule, has_header, "Leave it out.")


def refuse_phenotype(phenotype: object, phenotype_name: object) -> None:
    """Raise if a phenotype was asked for that only PLINK files can have."""
    given = {"phenotype": phenotype, "phenotype_name": phenotype_name}
    for parameter, value in given.items():
        if value is not None:
            rule = "be left out for files other than PLINK's .bed"
            remedy = "The target is a column of the table: name it as ", Argument("target"), "."
            raise ParameterError.because(parameter, rule, str(value), remedy)


def _plain_lines(data: bytes) -> bytes:
    data = data.removeprefix(b"\xef\xbb\xbf")
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
        data = data.replace(b"\r", b"\n")
    return data


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


def _read_text(
    file: Path,
    data: bytes,
    delimiter: str | None,
    has_header: bool,
    columns: Sequence[str] | None,
    limit: int,
) -> pl.DataFrame:
    mark = delimiter or detect_delimiter(data)
    quote = find_quoting(data, b" \t" if mark == WHITE_SPACE else mark.encode(), shorten(file))
    if mark == WHITE_SPACE:
        data = squeeze(data, quote)
    data = data.rstrip(b"\n")
    names, body_start = _read_header(file, data, mark, quote, has_header, limit)
    body = data[body_start:].lstrip(b"\n")
    if not body.strip():
        quotes = ", and that all quotes are closed" if b'"' in data else ""
        remedy = f"Check that the file has rows of data{quotes}."
        raise DataError("there are no rows below the header.", remedy)
    if len(names) > 1 and b"\n\n" in body:
        body = drop_blank_lines(body, quote)  # parsers take them for rows of nulls
    if not is_rectangular(body, mark, len(names), quote):
        _refuse_ragged(file, data, mark, len(names), quote)
    chosen = _choose(names, columns)
    fields = count_lines(body, quote) * len(chosen)
    needed = BYTES_PER_BYTE * len(data) + BYTES_PER_FIELD * fields
    refuse_beyond(needed, limit, f"Reading {shorten(file)}")
    return _parse(file, body, mark, quote, names, chosen)


def _read_header(
    file: Path, data: bytes, mark: str, quote: str | None, has_header: bool, limit: int
) -> tuple[list[str], int]:
    """Return the names of the columns, and where the rows start."""
    end = end_of_record(data, len(data) - len(data.lstrip(b"\n")), quote)
    n_fields = data.count(mark.encode(), 0, end) + 1
    what = f"Reading {shorten(file)}, of which line 1 has {n_fields:,} fields,"
    refuse_beyond(BYTES_PER_COLUMN * n_fields, limit, what)
    fields, body_start = first_record(data, mark, quote)
    if not has_header:
        return [f"V{number}" for number in range(1, len(fields) + 1)], 0
    for number, field in enumerate(fields, 1):
        if len(field) > _LONGEST_NAME:
            raise DataError(
                f"the name of column {number} must have at most {_LONGEST_NAME:,} characters; got "
                f"{len(field):,}.",
                "Check the line ends, the delimiter and the quotes.",
            )
    names = [field.strip() or f"V{number}" for number, field in enumerate(fields, 1)]
    _check_names(names)
    return names, body_start


def _check_names(names: Sequence[str]) -> None:
    try:
        check_shape(names, 1)
    except DataError as error:
        are_numbers = all(re.fullmatch(r"[-+.\d]+", name) for name in names)
        if are_numbers:
            hint = "If the file has no header, pass ", Argument("has_header", False), "."
            raise error.advising(hint) from None
        raise


def _choose(names: Sequence[str], columns: Sequence[str] | None) -> list[str]:
    if columns is None:
        return list(names)
    for column in columns:
        if column not in names:
            raise UnknownNameError.among("column", column, names)
    check_shape(list(columns), 1)
    return list(columns)


def _refuse_ragged(file: Path, data: bytes, mark: str, n_fields: int, quote: str | None) -> None:
    """Raise for the first line that is too long or too short; the slow but exact way."""
    try:
        odd = find_odd_line(data, mark, n_fields, quote)
    except csv.Error as error:
        message = f"Cannot split {shorten(file)} into fields: {error}."
        raise FileError(message, "Check its quotes.") from None
    if odd is None:
        return
    line, found = odd
    shown = {"\t": "tab", WHITE_SPACE: "white space", NO_DELIMITER: "nothing"}.get(mark, repr(mark))
    remedy: Text = ("Correct that line, or name the right ", Argument("delimiter"), ".")
    if line == 2 and found == n_fields + 1:
        remedy = "If lines start with row names, write them without (in R, row.names=FALSE)."
    raise FileError(
        f"{shorten(file)} must have {n_fields} fields on every line, as on the first, split at "
        f"{shown}; line {line} has {found}.",
        remedy,
    )


def _parse(
    file: Path,
    body: bytes,
    mark: str,
    quote: str | None,
    names: Sequence[str],
    chosen: Sequence[str],
) -> pl.DataFrame:
    import polars as pl

    positions = {name: position for position, name in enumerate(names)}
    read = partial(
        pl.read_csv,
        has_header=False,
        separator=mark,
        quote_char=quote,
        columns=sorted(positions[name] for name in chosen),
        null_values=list(NULL_MARKERS),
    )
    try:
        try:
            frame = read(io.BytesIO(body), infer_schema_length=_SAMPLE)
        except pl.exceptions.ComputeError:
            # A later row does not fit what the first ones suggest. Types that suit all rows take
            # several times as long to find, so that comes second.
            frame = _read_with_care(partial(read, io.BytesIO(body)))
    except pl.exceptions.PolarsError as error:
        remedy = "Check its quotes: each must be closed, and start its field."
        raise FileError(f"Cannot parse {shorten(file)} ({_first_line(error)}). {remedy}") from None
    frame.columns = sorted(chosen, key=positions.__getitem__)
    if re.search(rb'(?:^|[\n"%b])0[0-9]' % re.escape(mark.encode()), body):
        text = read(io.BytesIO(body), infer_schema=False)
        text.columns = frame.columns
        frame = frame.with_columns(_zero_padded(frame, text))
    return frame.select(_trimmed(frame[name]) for name in chosen)


def _read_with_care(read: Callable[..., pl.DataFrame]) -> pl.DataFrame:
    """Read with types that suit all rows."""
    import polars as pl

    try:
        return read(infer_schema_length=None)
    except pl.exceptions.ComputeError:  # polars below 2 knows no whole numbers beyond 64 bits
        text = read(infer_schema=False)
        return text.with_columns(_to_numbers(column) for column in text)


def _to_numbers(text: pl.Series) -> pl.Series:
    """Return the numbers in a column of text, or the text if it is none of them."""
    import polars as pl

    for dtype in (pl.Int64, pl.Float64):
        numbers = text.cast(dtype, strict=False)
        is_exact = dtype == pl.Int64 or not text.str.contains(r"^\s*[-+]?\d{16,}\s*$").any()
        if numbers.null_count() == text.null_count() and is_exact:
            return numbers
    return text


def _zero_padded(frame: pl.DataFrame, text: pl.DataFrame) -> list[pl.Series]:
    """Columns of numerals such as 007: they are codes, and 007 and 7 are two of them."""
    return [
        text[column.name]
        for column in frame
        if column.dtype.is_integer() and text[column.name].str.contains(r"^[ \t]*0[0-9]").any()
    ]


def _trimmed(column: pl.Series) -> pl.Series:
    """Drop blanks around text, and see whether numbers come to light."""
    import polars as pl

    if column.dtype != pl.String:
        return column
    text = column.str.strip_chars()
    # A quoted marker, or one with blanks around it, is a missing value too.
    text = (
        text.to_frame()
        .select(
            pl.when(pl.first().is_in(NULL_MARKERS))
            .then(None)
            .otherwise(pl.first())
            .alias(text.name)
        )
        .to_series()
    )
    if not text.equals(column):
        for dtype in (pl.Int64, pl.Float64):
            numbers = text.cast(dtype, strict=False)
            if numbers.null_count() == text.null_count():
                return numbers
    return text


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0]
