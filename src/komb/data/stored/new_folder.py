"""A folder that is there when it is complete, and not before.

Everything is written into a hidden folder beside it, which takes its name in one step at the end.
Whatever goes wrong on the way, a full disk or an interrupt, the hidden folder is removed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from komb.data.read.file_bytes import shorten
from komb.errors import Argument, FileError

_ROOM = "Make room, or choose another place."


@contextmanager
def new_folder(path: Path, *, overwrite: bool, is_ours: bool) -> Iterator[Path]:
    """Have a folder to write into, which becomes ``path`` if all goes well."""
    _check_place(path, overwrite=overwrite, is_ours=is_ours)
    hidden = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        hidden.mkdir()
    except OSError as error:
        remedy = "Choose a folder that exists and that you may write to."
        raise FileError.on_writing(path, error, remedy) from None
    try:
        yield hidden
        _sync(hidden)
        _take_place(hidden, path)
    except OSError as error:
        raise FileError.on_writing(path, error, _ROOM) from error
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def _check_place(path: Path, *, overwrite: bool, is_ours: bool) -> None:
    if not path.name:
        raise FileError(f"{shorten(path)} is no name for a table.", "Try 'table.komb'.")
    if not path.exists() and not path.is_symlink():
        return
    if not overwrite:
        remedy = "Choose another name, or pass ", Argument("overwrite", True), "."
        raise FileError(f"{shorten(path)} exists already.", remedy)
    if not is_ours:
        message = f"{shorten(path)} exists already and is no table on disk, so it is not replaced."
        raise FileError(message, "Choose another name, or remove it.")


def _take_place(hidden: Path, path: Path) -> None:
    """Move a complete folder to its place, and what was there out of the way."""
    old = hidden.with_suffix(".old")
    if path.exists():
        path.rename(old)
    try:
        hidden.rename(path)
    except OSError:
        if old.exists():
            old.rename(path)
        raise
    _sync(path.parent)
    shutil.rmtree(old, ignore_errors=True)


def _sync(folder: Path) -> None:
    """Have the names in a folder on the disk, where the system can say so."""
    with suppress(OSError):  # Windows opens no folders
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
