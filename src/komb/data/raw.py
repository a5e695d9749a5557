"""Read files, and say clearly why one cannot be read."""

from __future__ import annotations

import codecs
import difflib
import gzip
import os
import zlib
from pathlib import Path

from komb.errors import FileError, ParameterError

_GZIP = b"\x1f\x8b"
_OTHER_KINDS = {
    b"PK\x03\x04": "a zip archive or an Excel workbook; unpack or export it",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook; export it",
    b"BZh": "compressed with bzip2; unpack it",
    b"\xfd7zXZ": "compressed with xz; unpack it",
    b"(\xb5/\xfd": "compressed with zstd; unpack it",
    codecs.BOM_UTF16_LE: "text in UTF-16; save it as UTF-8",
    codecs.BOM_UTF16_BE: "text in UTF-16; save it as UTF-8",
}


def to_path(path: str | os.PathLike[str]) -> Path:
    """Return a path, or raise if it is not one.

    Examples
    --------
    >>> to_path("table.csv").name
    'table.csv'
    """
    if not isinstance(path, str | os.PathLike):
        remedy = "For a table in memory use DiscreteTable.from_data."
        raise ParameterError.because("path", "be the name of a file", path, remedy)
    return Path(path).expanduser()


def read_bytes(path: Path) -> bytes:
    """Read a whole file, unpacked if it is compressed with gzip.

    Parameters
    ----------
    path
        Where it is.

    Returns
    -------
    bytes
        What it holds, never nothing.

    Raises
    ------
    komb.errors.FileError
        If it is missing, a folder, empty, damaged or may not be read.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise FileError(_describe_missing(path)) from None
    except (IsADirectoryError, NotADirectoryError):
        raise FileError(f"'path' must be a file; {str(path)!r} is not. Name one file.") from None
    except OSError as error:
        # On Windows a folder ends up here: it may not be opened.
        why = "it is a folder" if path.is_dir() else (error.strerror or str(error)).lower()
        remedy = "Name one file, and check that you may read it."
        raise FileError(f"Cannot read {str(path)!r}: {why}. {remedy}") from None
    if data.startswith(_GZIP) or path.suffix.lower() == ".gz":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            remedy = "Get the file once more, or unpack it by hand."
            raise FileError(f"{str(path)!r} is damaged gzip ({error}). {remedy}") from None
    if not data:
        raise FileError(f"{str(path)!r} is empty. Check how it was written.")
    return data


def decode(path: Path, data: bytes) -> str:
    """Return the text of a file without byte-order mark, or raise if it is no text in UTF-8.

    Examples
    --------
    >>> decode(Path("x.csv"), b"a,b")
    'a,b'
    """
    for magic, kind in _OTHER_KINDS.items():
        if data.startswith(magic):
            raise FileError(f"{str(path)!r} must be text in UTF-8; it seems to be {kind}.")
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise FileError(
            f"{str(path)!r} must be text in UTF-8; it is binary (a zero byte on line {line}). "
            "Export it as CSV, or name it .parquet if that is what it is."
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileError(
            f"{str(path)!r} must be text in UTF-8; line {line} has the byte "
            f"0x{data[error.start]:02x}, which is not. Save it as UTF-8."
        ) from None


def _describe_missing(path: Path) -> str:
    folder = path.parent
    if not folder.is_dir():
        return f"There is no file {str(path)!r}: the folder {str(folder)!r} does not exist."
    try:
        others = sorted(entry.name for entry in folder.iterdir())
    except OSError:
        others = []
    by_lower = {name.lower(): name for name in others}
    near = difflib.get_close_matches(path.name.lower(), by_lower, n=3, cutoff=0.6)
    if near:
        hint = f"Did you mean {' or '.join(repr(by_lower[name]) for name in near)}?"
    else:
        hint = "Check the name; relative paths start at the current folder."
    return f"There is no file {str(path)!r}. {hint}"
