"""Where a page goes."""

from __future__ import annotations

import os
from pathlib import Path

from komb.data.read.file_bytes import to_path
from komb.errors import FileError, ParameterError

_ENDINGS = (".html", ".htm")


def check_page(path: str | os.PathLike[str]) -> Path:
    """Return where a page shall go, or say why it cannot; nothing has been searched then.

    An older page of that name is replaced; nothing but a page ever is, for the name must say that
    it is one.
    """
    file = to_path(path)
    if os.path.isdir(file):
        raise FileError(f"Cannot write {str(file)!r}: it is a folder. Name a file in it.")
    if file.suffix.lower() not in _ENDINGS:
        remedy = "Use a name that ends in .html."
        raise ParameterError.because("path", "be the name of an HTML file", str(path), remedy)
    if not os.path.isdir(file.parent):
        raise FileError(f"There is no folder {str(file.parent)!r} for the report. Make it first.")
    if not os.access(file if os.path.exists(file) else file.parent, os.W_OK):
        raise FileError(
            f"Cannot write {str(file)!r}: permission denied. Name a file where you may write."
        )
    return file


def write_page(page: str, path: Path) -> None:
    """Write a page in one step: an interruption leaves the old one or the new one."""
    # Python strings may hold halves of characters, which no file can; a page can name them.
    content = page.encode("utf-8", "xmlcharrefreplace")
    fresh = path.with_name(f"{path.name}.new")
    try:
        fresh.write_bytes(content)
        os.replace(fresh, path)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        remedy = "Name another file, or free disk space."
        raise FileError.on_writing(path, error, remedy) from None
