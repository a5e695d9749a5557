"""The journal of one search: what makes a long one safe to kill."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from komb import __version__
from komb.api.oracle import Oracle
from komb.api.run import Run
from komb.data.read.file_bytes import to_path
from komb.engine.journal import Journal, hash_table
from komb.errors import Argument, ParameterError

_IRRELEVANT = ("time_budget",)  # a run may be taken up with another

JournalPath = str | os.PathLike[str] | None


def check_journal(resume: object) -> None:
    """Raise unless this is the name of a file, or nothing."""
    if resume is not None and not isinstance(resume, str | os.PathLike):
        remedy = "Pass one such as 'run.journal'; it is made if it is not there."
        raise ParameterError.because("resume", "be the name of a file", resume, remedy)


@contextmanager
def open_journal(resume: JournalPath, run: Run, target: int) -> Iterator[Journal | None]:
    """Open the journal of a search, if one is wanted; one of another search is refused."""
    if resume is None or isinstance(run.data, Oracle):  # a model counts nothing
        yield None
        return
    table = run.data
    if not table.is_in_memory:
        rule = "be left out for a table that is counted part by part: it has no long sweeps to note"
        remedy = "Leave it out, or raise ", Argument("memory_limit", "8 GB"), " so that it fits."
        raise ParameterError.because("resume", rule, str(resume), remedy)
    identity = {
        "table": hash_table(table),
        "target": repr(table.names[target]),
        "method": run.search.method,
        **{name: repr(value) for name, value in run.describe().items() if name not in _IRRELEVANT},
        "version": __version__,
    }
    with Journal(to_path(resume), identity) as journal:
        yield journal
