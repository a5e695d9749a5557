"""What is kept because it may be asked for again, up to so many bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, Protocol, TypeVar

Key = TypeVar("Key", bound=Hashable)


class _Sized(Protocol):
    @property
    def nbytes(self) -> int: ...


Kept = TypeVar("Kept", bound=_Sized)


class LruCache(Generic[Key, Kept]):
    """Keeps what was asked for last, up to so many bytes.

    Examples
    --------
    >>> import numpy as np
    >>> kept = LruCache[str, np.ndarray](1000)
    >>> kept.get("ones", lambda: np.ones(100)).sum()
    np.float64(100.0)
    >>> kept.get("ones", lambda: np.zeros(100)).sum()  # it is there
    np.float64(100.0)
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[Key, Kept] = OrderedDict()
        self._n_bytes = 0
        self._lock = Lock()

    def get(self, key: Key, make: Callable[[], Kept]) -> Kept:
        """Return what is kept, or make it; several threads may make things at the same time."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = make()
        with self._lock:
            if key not in self._kept:
                self._kept[key] = made
                self._n_bytes += made.nbytes
            while self._n_bytes > self._most_bytes and len(self._kept) > 1:
                self._n_bytes -= self._kept.popitem(last=False)[1].nbytes
        return made
