"""Printing: in colour on a terminal, as plain text into a pipe, on whatever it can show."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from komb.views.text import in_ascii, neutralise, plural

if TYPE_CHECKING:
    from komb.api.progress import Progress

_PATIENCE = 1.0  # seconds before a progress bar appears


def show(result: object) -> None:
    """Print a result."""
    text = str(result)
    if sys.stdout.isatty() and not isinstance(result, str) and _can_write(text):
        from rich.console import Console

        Console().print(result)
    else:
        write(text)


def write(text: str, *, end: str = "\n") -> None:
    """Print text; what the terminal has no code for, or would obey, is written as escapes."""
    text = neutralise(text)
    if not _can_write(text):
        encoding = sys.stdout.encoding
        text = in_ascii(text).encode(encoding, "backslashreplace").decode(encoding)
    typer.echo(f"{text}{end}", nl=False)


def write_json(text: str) -> None:
    """Print JSON, which has escapes of its own."""
    is_plain = _can_write(text) and neutralise(text) == text
    write(text if is_plain else json.dumps(json.loads(text), indent=2))


def _can_write(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def program() -> str:
    """Say how the command line can be called from here."""
    if shutil.which("komb"):
        return "komb"
    script = Path(sys.argv[0])
    return os.path.relpath(script) if script.name == "komb" else "python -m komb"


class ProgressBar:
    """A progress bar on standard error, if that is a terminal and the work takes a while."""

    def __init__(self, *, is_wanted: bool = True) -> None:
        self._is_wanted = is_wanted and sys.stderr.isatty()
        self._began: float | None = None  # when progress was first reported
        self._bar: Any = None

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, progress: Progress) -> None:
        """Show the progress of a search."""
        if progress.n_targets > 1:
            self.show("targets", progress.finished, progress.n_targets)
            return
        found = plural(len(progress.blanket), "member"), plural(progress.tests, "test")
        self.show(progress.phase, progress.done, progress.total, ", ".join(found))

    def show(self, phase: str, done: int, total: int, more: str = "") -> None:
        """Show how much of a phase is done, if that is known."""
        if self._began is None:
            self._began = time.monotonic()
        if not self._is_wanted or time.monotonic() - self._began < _PATIENCE:
            return
        # a full bar would stop the clock
        state: dict[str, Any] = {"description": phase, "completed": done, "total": total + 1}
        count = f"{done:,} of {total:,}" if total else ""
        state["more"] = ", ".join(filter(None, [count, more]))
        if self._bar is None:
            self._bar = self._make_bar()
            self._bar.add_task(**state)
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], **state)

    @staticmethod
    def _make_bar() -> Any:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        return Progress(
            TextColumn("{task.description:6}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[more]}"),
            TimeElapsedColumn(),
            TextColumn("left:"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
            speed_estimate_period=3600,  # some searches are over in no time, others take minutes
        )
