"""Where compiled kernels are kept, so that only the first search on a machine has to compile.

Numba's own cache gives up (and komb with it) where it finds no folder that it can write, where the
disk is full, or where a file in it is damaged; and two processes that compile different kernels at
once can be given one file for both. This one needs none of that: a kernel is one file, named after
everything that it depends on, written beside its place and moved there in one step, with a digest
in front. What cannot be read is compiled, what cannot be written is compiled again next time.

Folders are tried in this order, for reading and for writing:

1. ``KOMB_CACHE_DIR`` or else ``NUMBA_CACHE_DIR``, if set; the others only if it cannot be written;
2. ``__pycache__`` beside the kernels, where Python keeps its own compiled files;
3. the user's cache folder, such as ``~/.cache/komb``;
4. a folder of the user's own among the temporary files.

The last two are used only if they belong to the user and no one else may write there: a compiled
kernel is a program.
"""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import stat
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import numpy as np

from komb import __version__

VARIABLE = "KOMB_CACHE_DIR"
"""The environment variable that names a folder for the kernels."""

NOTICE = (
    "komb is compiling its kernels; this takes up to half a minute, once for each kind of table "
    "(`komb warmup` does it for all of them)"
)
NOTICE_WITHOUT_FOLDER = (
    "komb is compiling its kernels; this takes up to half a minute in every process, because "
    f"there is no writable folder to keep them in: set {VARIABLE} to one"
)
NOTICE_NOT_KEPT = (
    "komb could not keep its compiled kernels on disk (%s), so the next process will compile them "
    f"again: free disk space, or set {VARIABLE} to another folder"
)

_PACKAGES_WITH_KERNELS = ("komb.engine", "komb.engine.kernels")
_DIGEST = hashlib.sha256
_DIGEST_SIZE = _DIGEST().digest_size
_log = logging.getLogger("komb")
_said: set[str] = set()  # every sentence is said once in a process


class KernelCache:
    """The files of one kernel; has the methods that Numba's dispatchers call."""

    def __init__(self, function: Callable[..., Any], folders: Sequence[Path]) -> None:
        self._name = function.__name__
        self._folders = tuple(folders)

    @property
    def cache_path(self) -> str:
        """The folder that is tried first."""
        return str(self._folders[0]) if self._folders else ""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the kernel compiled for these types, or ``None`` if it is in no folder."""
        name = self._file_name(sig, target_context.codegen())
        payload = self._read(name)
        if payload is not None:
            from numba.core.compiler import CompileResult

            rebuild: Any = CompileResult._rebuild
            return rebuild(target_context, *pickle.loads(payload))
        folder = self._writable_folder()
        if folder is None:
            _say(NOTICE_WITHOUT_FOLDER)
        elif not any(folder.glob(f"*-{source_stamp()}-*.nbc")):  # nobody has been told yet
            _say(NOTICE)
        return None

    def _read(self, name: str) -> bytes | None:
        found = (read_checked(folder / name) for folder in self._folders)
        return next((payload for payload in found if payload is not None), None)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled kernel in the first folder that takes it; never raises for a disk."""
        if data.library.has_dynamic_globals:  # holds addresses that mean nothing elsewhere
            return
        from numba.core.serialize import dumps

        name = self._file_name(sig, data.codegen)
        dump: Any = dumps  # has no types
        payload = dump(data._reduce())
        why: OSError | None = None
        for folder in self._folders:
            try:
                write_checked(folder / name, payload)
            except OSError as error:
                why = why or error
                continue
            self._remove_outdated(folder)
            return
        if why is not None and NOTICE_WITHOUT_FOLDER not in _said:
            _say(NOTICE_NOT_KEPT, (why.strerror or str(why)).lower())

    def enable(self) -> None:
        """Do nothing: it always is."""

    def disable(self) -> None:
        """Do not use any folder from now on."""
        self._folders = ()

    def flush(self) -> None:
        """Remove the files of this kernel from all folders."""
        for folder in self._folders:
            for file in list(folder.glob(f"{self._name}-*.nbc")):
                file.unlink(missing_ok=True)

    def _file_name(self, sig: Any, codegen: Any) -> str:
        import numba

        config: Any = numba.config
        depends_on = (
            str(sig),
            codegen.magic_tuple(),
            (numba.__version__, np.__version__, sys.implementation.cache_tag, sys.platform),
            getattr(sys, "abiflags", ""),
            (config.OPT, config.BOUNDSCHECK, config.DEBUGINFO_DEFAULT),
        )
        key = _DIGEST(repr(depends_on).encode()).hexdigest()[:32]
        return f"{self._name}-{source_stamp()}-{key}.nbc"

    def _writable_folder(self) -> Path | None:
        return next(filter(is_writable, self._folders), None)

    def _remove_outdated(self, folder: Path) -> None:
        """Remove what was compiled from older sources: nothing will ever ask for it."""
        current = f"{self._name}-{source_stamp()}-"
        for file in list(folder.glob(f"{self._name}-*.nbc")):
            if not file.name.startswith(current):
                file.unlink(missing_ok=True)


def is_kept(name: str) -> bool:
    """Whether a kernel of this name was compiled from these sources, for whatever types."""
    pattern = f"{name}-{source_stamp()}-*.nbc"
    return any(any(folder.glob(pattern)) for folder in find_folders())


def find_folders() -> list[Path]:
    """Return the folders that kernels may be in, as the module's docstring has them."""
    here = Path(__file__).resolve().parent
    place = _DIGEST(str(here).encode()).hexdigest()[:16]  # two installations do not share files
    named = os.environ.get(VARIABLE) or os.environ.get("NUMBA_CACHE_DIR")
    found = [Path(named) / place] if named else []
    if named and is_writable(found[0]):
        return found
    found.append(here / "__pycache__")
    found += [root / place for root in _own_roots() if is_private(root)]
    return found


def _own_roots() -> Iterator[Path]:
    """Yield folders of the user's own, as far as there are any."""
    user = user_cache_folder()
    if user is not None:
        yield user
    try:
        temporary = Path(tempfile.gettempdir())
    except OSError:  # a machine on which nothing at all can be written
        return
    yield temporary / f"komb-{os.getuid() if hasattr(os, 'getuid') else 'cache'}"


def user_cache_folder() -> Path | None:
    """Return the folder for caches that the system has for this user, or ``None``."""
    name = {"win32": "LOCALAPPDATA", "darwin": ""}.get(sys.platform, "XDG_CACHE_HOME")
    if os.environ.get(name):
        return Path(os.environ[name]) / "komb"
    try:
        home = Path.home()
    except (RuntimeError, KeyError):  # no HOME, and the user is unknown
        return None
    if not home.is_absolute():
        return None
    return home / {"darwin": "Library/Caches"}.get(sys.platform, ".cache") / "komb"


def is_private(folder: Path) -> bool:
    """Tell whether a folder is the user's own, and no one else can write in it; made if missing."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return False
    if not stat.S_ISDIR(found.st_mode):  # a link could lead anywhere
        return False
    if not hasattr(os, "getuid"):
        return True  # on Windows both folders are inside the user's profile
    is_open = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return found.st_uid == os.getuid() and not is_open


def is_writable(folder: Path) -> bool:
    """Tell whether files can be made in a folder, which is made if it is missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(1 << 16))
    except OSError:
        return False
    return True


@lru_cache(maxsize=1)
def source_stamp() -> str:
    """Return a digest of all sources that kernels are compiled from.

    It is of all of them, not of a kernel's own file, so that kernels can call others.
    """
    digest = _DIGEST(__version__.encode())
    for package in _PACKAGES_WITH_KERNELS:
        for source in _sources(files(package)):
            digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _sources(folder: Traversable) -> Iterator[Traversable]:
    """Yield the Python files of a folder and of those inside, always in the same order."""
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _sources(entry)
        elif entry.name.endswith(".py"):
            yield entry


def read_checked(path: Path) -> bytes | None:
    """Return what :func:`write_checked` wrote, or ``None`` if it is missing or damaged."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    digest, payload = data[:_DIGEST_SIZE], data[_DIGEST_SIZE:]
    return payload if _DIGEST(payload).digest() == digest else None


def write_checked(path: Path, payload: bytes) -> None:
    """Write a file in one step, so that no other process ever sees a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{uuid.uuid4().hex[:12]}.tmp")
    try:
        draft.write_bytes(_DIGEST(payload).digest() + payload)
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def _say(sentence: str, *details: object) -> None:
    if sentence not in _said:
        _said.add(sentence)
        _log.warning(sentence, *details)
