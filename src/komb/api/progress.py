"""The progress of a search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from komb.data.names import Name
from komb.errors import InPython, Text
from komb.search.task import Progress as TaskProgress


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a search; what the ``progress`` callback receives.

    Attributes
    ----------
    target
        Whose blanket is searched.
    phase
        ``"grow"``, ``"sweep"``, ``"shrink"`` or whatever else the method calls its phases. With
        several targets also ``"done"``, once for each of them; with several workers ``"done"`` is
        all there is, after one ``"start"``. Where methods are compared, their name comes first.
    blanket
        The names of the candidate blanket at this moment, in the order of the table.
    tests
        Tests computed so far.
    done
        How much of the current phase is done, where it is known; 0 otherwise.
    total
        How much there is to do in it; 0 where that is not known.
    position
        The number of the target among the targets, from 0.
    n_targets
        How many targets there are.
    finished
        How many targets are done.
    """

    target: Name
    phase: str
    blanket: tuple[Name, ...]
    tests: int
    done: int = 0
    total: int = 0
    position: int = 0
    n_targets: int = 1
    finished: int = 0


Observer: TypeAlias = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Reporter:
    """Passes on what a search reports, with names for columns and which of several it is."""

    observer: Observer | None = None
    number: int = 0
    n_targets: int = 1
    label: str = ""

    def at(self, number: int, label: str = "") -> Reporter:
        """Return a reporter for another of several searches."""
        return replace(self, number=number, label=label)

    def report(
        self, names: Sequence[Name], target: int, step: TaskProgress, finished: int | None = None
    ) -> None:
        """Report a step of the search for a target."""
        if self.observer is None:
            return
        self.observer(
            Progress(
                target=names[target],
                phase=f"{self.label}: {step.phase}" if self.label else step.phase,
                blanket=tuple(names[x] for x in step.blanket),
                tests=step.tests,
                done=step.done,
                total=step.total,
                position=self.number,
                n_targets=self.n_targets,
                finished=self.number if finished is None else finished,
            )
        )


IGNORED = Reporter()
"""Reports to nobody."""


def unfinished(event: Text, n_finished: int, total: str, held: str = "blankets") -> Text:
    """Say what stopped several searches, and what is kept of them."""
    done = f" after {n_finished} of {total}"
    return event, done, InPython(f"; 'finished' holds their {held}"), "."
