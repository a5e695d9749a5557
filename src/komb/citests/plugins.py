"""Things found by name: ours, those that a caller registers, and those of installed packages.

An installed package adds its own through an entry point: komb loads what the entry point names when
it is first asked for a name or a list, and loading is expected to register it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, Generic, Protocol, TypeVar

from komb.data.names import FrozenMapping
from komb.errors import ParameterError, UnknownNameError


class Info(Protocol):
    """How something that is registered introduces itself."""

    @property
    def name(self) -> str:
        """What it goes by."""
        ...

    @property
    def summary(self) -> str:
        """What it does, in a line."""
        ...

    @property
    def implementation(self) -> Any:
        """The class or function itself."""
        ...


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")

I = TypeVar("I", bound=Info)  # noqa: E741


class Listing(FrozenMapping[str, I]):
    """What is known, by name; shows a line for each.

    Examples
    --------
    >>> import komb
    >>> print(str(komb.tests()).splitlines()[1])
    chi2          Pearson's chi-square test at level alpha.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        width = max(map(len, self), default=0)
        return "\n".join(f"{name:<{width}}  {info.summary}" for name, info in self.items())


class Registry(Generic[I]):
    """What is known by name."""

    def __init__(self, kind: str, group: str) -> None:
        self._kind = kind
        self._group = group
        self._known: dict[str, I] = {}
        self._listed: Mapping[str, I] | None = None  # the same in order, until something changes
        self._is_complete = False

    def add(self, info: I) -> None:
        """Register something; a name can be taken only once.

        A definition that is run again, as in a notebook, takes the place of its former self.
        """
        if not isinstance(info.name, str) or not _NAME.fullmatch(info.name):
            rule = "be a word of letters, digits, '-', '_' and '.'"
            remedy = f"It is what users call the {self._kind} by, also on the command line."
            raise ParameterError.because("name", rule, info.name, remedy)
        taken = self._known.get(info.name)
        if taken is not None and not _is_same(taken.implementation, info.implementation):
            rule = f"not be the name of another {self._kind}"
            where = taken.implementation.__module__
            raise ParameterError.because(
                "name", rule, info.name, f"It is taken by {where}: choose another name."
            )
        self._known[info.name] = info
        self._listed = None

    def all(self) -> Mapping[str, I]:
        """Everything that is known, by name in alphabetical order."""
        self._load_entry_points()
        if self._listed is None:
            self._listed = Listing(dict(sorted(self._known.items())))
        return self._listed

    def find(self, name: str) -> I:
        """Look something up; raises :class:`~komb.errors.UnknownNameError`."""
        if name not in self._known:
            self._load_entry_points()
        if name not in self._known:
            raise UnknownNameError.among(self._kind, name, self.all())
        return self._known[name]

    def from_outside(self) -> list[I]:
        """Return what is not part of komb, to be handed to another process."""
        self._load_entry_points()
        return [info for info in self._known.values() if not is_ours(info.implementation)]

    def adopt(self, infos: Iterable[I]) -> None:
        """Register what another process handed over."""
        for info in infos:
            self._known.setdefault(info.name, info)
        self._listed = None

    def remove(self, name: str) -> None:
        """Take something out again; its name is free then."""
        del self._known[name]
        self._listed = None

    def _load_entry_points(self) -> None:
        if self._is_complete:
            return
        self._is_complete = True  # before loading, for what is loaded may ask for the list
        from importlib.metadata import entry_points

        for point in entry_points(group=self._group):
            try:
                point.load()
            except Exception as error:  # whatever is wrong with it, komb works without it
                warnings.warn(
                    f"komb leaves out the {self._kind} {point.name!r} of {point.value!r}: loading "
                    f"it failed with {type(error).__name__}: {error}",
                    RuntimeWarning,
                    stacklevel=2,
                )


def is_ours(implementation: Any) -> bool:
    """Whether a class or function is part of komb."""
    return str(implementation.__module__).split(".")[0] == "komb"


def _is_same(one: Any, other: Any) -> bool:
    """Whether two are the same definition, run twice; one without a name is only like itself."""
    if not (hasattr(one, "__qualname__") and hasattr(other, "__qualname__")):
        return one is other
    return (one.__module__, one.__qualname__) == (other.__module__, other.__qualname__)
