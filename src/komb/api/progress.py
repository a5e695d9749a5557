"""The progress of a search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from komb.data.names import Name
from komb.errors import ParameterError


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a search; what the ``progress`` callback receives.

    Attributes
    ----------
    target
        Whose blanket is searched.
    phase
        ``"grow"``, ``"sweep"``, ``"shrink"`` or whatever else the method calls its phases, and
        ``"stability"`` while half-samples are searched. With several targets also ``"done"``, once
        for each of them; with several workers ``"done"`` is all there is, after one ``"start"``.
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


def check_progress(progress: object) -> None:
    """Raise if a progress callback cannot be called.

    Examples
    --------
    >>> check_progress(3)
    Traceback (most recent call last):
    komb.errors.ParameterError: 'progress' must be a function of one argument, or None; got 3. ...
    """
    if progress is not None and not callable(progress):
        rule = "be a function of one argument, or None"
        raise ParameterError.because("progress", rule, progress, "Try progress=print.")
