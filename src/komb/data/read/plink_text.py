"""The text files of PLINK: fields with white space between, the same number on every line."""

from __future__ import annotations

from pathlib import Path

from komb.data.read.file_bytes import decode, read_bytes, shorten
from komb.errors import FileError

BYTES_PER_BYTE = 20
"""Memory that the fields take for each byte of the file, at most."""


def read_fields(
    file: Path, limit: int, n_fields: int | None, what: str
) -> list[tuple[int, list[str]]]:
    """Return the fields of every line that is not blank, and its number."""
    text = decode(file, read_bytes(file, limit, BYTES_PER_BYTE))
    lines = [(number, line.split()) for number, line in enumerate(text.splitlines(), 1)]
    found = [(number, fields) for number, fields in lines if fields]
    if not found:
        raise FileError(f"{shorten(file)} is empty. Check how it was written.")
    wanted = len(found[0][1]) if n_fields is None else n_fields
    for number, fields in found:
        if len(fields) != wanted:
            raise FileError(
                f"{shorten(file)} must have {wanted} fields on every line ({what}), with blanks or "
                f"tabs between; line {number} has {len(fields)}.",
                "Write it again with PLINK, or correct that line.",
            )
    return found
