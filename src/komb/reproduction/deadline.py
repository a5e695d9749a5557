"""Stop a search that takes too long."""

from __future__ import annotations

import signal
import threading
import time
from types import FrameType
from typing import Any, Self

from komb.api.progress import Progress


class TimeUp(Exception):  # noqa: N818 - it is no error
    """The search has had all the time that it may take."""


class Deadline:
    """A clock to run one search under: a context manager, and the search's ``progress`` callback.

    Searches report at their leisure, so where there are signals an alarm rings as well. It is heard
    between two batches of tests, which are short. ``latest`` is what the search reported last.

    Examples
    --------
    >>> with Deadline(60) as deadline:
    ...     pass
    >>> deadline.elapsed < 60
    True
    """

    def __init__(self, seconds: float) -> None:
        self.latest: Progress | None = None
        self._seconds = seconds
        self._began = time.perf_counter()
        self._has_alarm = False
        self._previous: Any = None

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._began

    def __call__(self, progress: Progress) -> None:
        """Look at the clock."""
        self.latest = progress
        if self.elapsed >= self._seconds:
            raise TimeUp

    def __enter__(self) -> Self:
        self._began = time.perf_counter()
        # Only the main thread hears signals; workers do their work there.
        is_main = threading.current_thread() is threading.main_thread()
        self._has_alarm = is_main and hasattr(signal, "setitimer")
        if self._has_alarm:
            self._previous = signal.signal(signal.SIGALRM, self._ring)
            signal.setitimer(signal.ITIMER_REAL, self._seconds)
        return self

    def __exit__(self, *_: object) -> None:
        if self._has_alarm:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._previous)

    def _ring(self, number: int, frame: FrameType | None) -> None:
        raise TimeUp
