"""An environment of its own for a library that is measured but never depended on."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


def make_environment(folder: Path, requirements: Sequence[str]) -> Path:
    """Make a virtual environment in ``folder`` if there is none; return its Python.

    What is there already is kept, and ``requirements`` are installed if they are missing.
    """
    scripts, name = ("Scripts", "python.exe") if sys.platform == "win32" else ("bin", "python")
    python = folder.absolute() / scripts / name  # not resolved: the link is what makes it virtual
    if not python.exists():
        _run([sys.executable, "-m", "venv", str(folder)], f"make an environment in {folder}")
    if requirements:
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _run([*install, *requirements], f"install {', '.join(requirements)} into {folder}")
    return python


def _run(command: Sequence[str], aim: str) -> None:
    try:
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise SystemExit(f"Cannot {aim}: {error}") from error
    if ended.returncode:
        said = (ended.stderr.strip() or ended.stdout.strip() or "no reason given").splitlines()
        raise SystemExit(f"Cannot {aim}: {said[-1]}")
