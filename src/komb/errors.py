"""Every exception komb raises on purpose.

All of them derive from :class:`KombError`. Whatever the caller can mend is an :class:`InputError`
(also a ``ValueError``, so code that knows nothing of komb can catch it) and its message names the
parameter, the rule, the value it got and the remedy::

    KombError
    ├── InputError (ValueError)
    │   ├── ParameterError         a parameter breaks its rule
    │   ├── UnknownNameError       a column, method or test that does not exist
    │   ├── DataError              a table that cannot be analysed
    │   │   ├── MissingValuesError
    │   │   └── ContinuousColumnError
    │   ├── FileError              a file that is missing, unreadable or not a table
    │   ├── MemoryLimitError       something would take more memory than it may
    │   └── MissingPackageError (ImportError)   something optional is wanted, but not installed
    ├── WorkerError (RuntimeError)        a worker was lost; what had finished is attached
    └── Interrupted (KeyboardInterrupt)   a run was stopped; what had finished is attached

An error carries what it says as data, so that no program needs to parse its text: ``parameter``,
``rule``, ``value`` and ``remedy``. Where its words depend on how komb was called, they are an
:class:`Argument`, a :class:`Value` or :class:`InPython`; ``str(error)`` writes them as Python, the
command line as its own options (:meth:`KombError.show`).
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self, TypeAlias


@dataclass(frozen=True, slots=True)
class Argument:
    """A parameter that a message names, alone or with a value to give it.

    Examples
    --------
    >>> print(Argument("alpha"), Argument("alpha", 0.01))
    'alpha' alpha=0.01
    """

    parameter: str
    value: object = ...  # nothing: the name alone

    @property
    def has_value(self) -> bool:
        """Whether there is more than the name."""
        return self.value is not ...

    def __str__(self) -> str:
        return f"{self.parameter}={self.value!r}" if self.has_value else repr(self.parameter)


@dataclass(frozen=True, slots=True)
class Value:
    """A value that a parameter has.

    Examples
    --------
    >>> print(Value({"age": [18, 65]}))
    {'age': [18, 65]}
    """

    value: object

    def __str__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True, slots=True)
class InPython:
    """Words that help only who writes Python.

    Examples
    --------
    >>> print(InPython("df = df.dropna()"))
    df = df.dropna()
    """

    text: str

    def __str__(self) -> str:
        return self.text


_MANY_NAMES = 5_000  # more take seconds to compare with a misspelt one


def _near_in_length(name: str, by_text: dict[str, object]) -> dict[str, object]:
    """Leave out of very many names those that differ by more than a letter in length, or at once.

    Examples
    --------
    >>> _near_in_length("rs12", {"rs1": 1, "x": 2})
    {'rs1': 1, 'x': 2}
    """
    if len(by_text) <= _MANY_NAMES:
        return by_text
    return {
        text: choice
        for text, choice in by_text.items()
        if abs(len(text) - len(name)) <= 1 and text[:2].lower() == name[:2].lower()
    }


Part: TypeAlias = str | Argument | Value | InPython
Text: TypeAlias = "Part | tuple[Text, ...]"


def _flatten(text: Text) -> Iterator[Part]:
    if isinstance(text, tuple):
        for part in text:
            yield from _flatten(part)
    else:
        yield text


class KombError(Exception):
    """Base class of every exception raised by komb.

    Attributes
    ----------
    statement
        What is wrong, or what has happened.
    remedy
        What to do about it; empty if there is nothing to say.
    """

    def __init__(self, statement: Text, remedy: Text = "") -> None:
        self.statement = statement
        self.remedy = remedy
        super().__init__(self.show())

    def parts(self) -> Iterator[Part]:
        """Yield the message piece by piece."""
        yield from _flatten(self.statement)
        yield " "
        yield from _flatten(self.remedy)

    def show(self, write: Callable[[Part], str] = str) -> str:
        """Return the message, each of its pieces as ``write`` has it.

        Examples
        --------
        >>> remedy = "Try ", Argument("alpha", 0.1)
        >>> error = ParameterError.because("alpha", "be below 1", 2, remedy)
        >>> error.show()
        "'alpha' must be below 1; got 2. Try alpha=0.1"
        >>> error.show(lambda part: part if isinstance(part, str) else "*")
        '* must be below 1; got *. Try *'
        """
        return "".join(map(write, self.parts())).strip()

    def __str__(self) -> str:
        return self.show()


class InputError(KombError, ValueError):
    """Something the caller passed in cannot be used; the message says how to mend it.

    Attributes
    ----------
    parameter
        Which parameter is to blame, where it is one.
    rule
        Completes the sentence "it must ...".
    value
        What came instead.
    places
        Where that was, such as in which file; the outermost first.
    """

    def __init__(
        self,
        statement: Text,
        remedy: Text = "",
        *,
        parameter: str | None = None,
        rule: Text = "",
        value: Any = None,
        places: tuple[Text, ...] = (),
    ) -> None:
        self.parameter = parameter
        self.rule = rule
        self.value = value
        self.places = places
        super().__init__(statement, remedy)

    @classmethod
    def because(
        cls, parameter: str, rule: Text, value: object, remedy: Text, *, shown: Text = ""
    ) -> Self:
        """Build the error whose message is "parameter must rule; got value. Remedy".

        ``shown`` is for a value that is better described than written down.

        Examples
        --------
        >>> remedy = "Try ", Argument("alpha", 0.01), "."
        >>> print(ParameterError.because("alpha", "be between 0 and 1", 2, remedy))
        'alpha' must be between 0 and 1; got 2. Try alpha=0.01.
        """
        statement = (Argument(parameter), " must ", rule, "; got ", shown or Value(value), ".")
        return cls(statement, remedy, parameter=parameter, rule=rule, value=value)

    def parts(self) -> Iterator[Part]:
        """Yield the message piece by piece."""
        for place in self.places:
            yield from _flatten(("In ", place, ": "))
        yield from super().parts()

    @property
    def parameters(self) -> frozenset[str]:
        """Every parameter that is to blame; two may not fit together."""
        named = {part.parameter for part in _flatten(self.statement) if isinstance(part, Argument)}
        return frozenset(named if self.parameter is None else {*named, self.parameter})

    def within(self, place: Text) -> Self:
        """Return the same error, which now says where.

        Examples
        --------
        >>> print(DataError("there are no rows.").within("'people.csv'"))
        In 'people.csv': there are no rows.
        """
        self.places = (place, *self.places)
        self.args = (self.show(),)
        return self

    def advising(self, remedy: Text) -> Self:
        """Return the same error with one more remedy.

        Examples
        --------
        >>> print(DataError("there are no rows.", "Add some.").advising("Or leave it."))
        there are no rows. Add some. Or leave it.
        """
        self.remedy = (self.remedy, " ", remedy)
        self.args = (self.show(),)
        return self

    def concerning(self, parameter: str) -> Self:
        """Return the same error, which now says which parameter is to blame.

        Examples
        --------
        >>> print(UnknownNameError("There is no column 'x'.").concerning("start"))
        In 'start': There is no column 'x'.
        """
        self.parameter = parameter
        return self.within(Argument(parameter))


class ParameterError(InputError):
    """A parameter breaks its rule."""


class UnknownNameError(InputError):
    """A column, method or test was named that does not exist; ``kind`` says which of them."""

    kind = ""

    @classmethod
    def among(
        cls,
        kind: str,
        name: object,
        known: Iterable[object],
        parameter: str | None = None,
        remedy: Text = "",
    ) -> Self:
        """Build a message that suggests the nearest known names, or lists them all if few.

        Examples
        --------
        >>> print(UnknownNameError.among("column", "smokes", ["smoker", "age", "sex"]))
        There is no column 'smokes'. Did you mean 'smoker'? Known: 'smoker', 'age', 'sex'.
        >>> print(UnknownNameError.among("column", "a", ["b"], "start"))
        In 'start': There is no column 'a'. Known: 'b'.
        """
        choices = list(known)
        message = f"There is no {kind} {name!r}."
        by_text = _near_in_length(str(name), {str(choice): choice for choice in choices})
        near = difflib.get_close_matches(str(name), by_text, n=3, cutoff=0.6)
        if not near:  # a slip of the shift key is the commonest slip of all
            near = [text for text in by_text if text.lower() == str(name).lower()]
        if near:
            message += f" Did you mean {' or '.join(repr(by_text[text]) for text in near)}?"
        shown = ", ".join(repr(choice) for choice in choices[:20])
        more = f" and {len(choices) - 20} more" if len(choices) > 20 else ""
        message += f" Known: {shown}{more}." if shown else ""
        error = cls(message, remedy, parameter=parameter, value=name)
        error.kind = kind
        # "In 'test': there is no test" would say it twice
        return error if parameter in (None, kind) else error.concerning(str(parameter))


class DataError(InputError):
    """A table cannot be analysed as it is."""


class MissingValuesError(DataError):
    """A table has missing values, and nothing says what they mean."""


class ContinuousColumnError(DataError):
    """A column holds measurements, not levels."""


class FileError(InputError):
    """A file is missing, unreadable or not a table, or cannot be written."""

    @classmethod
    def on_writing(cls, where: object, error: OSError, remedy: Text) -> FileError:
        """Build the error about a file, or what is in a folder, that could not be written.

        Examples
        --------
        >>> print(FileError.on_writing("a.png", OSError(28, "No space left"), "Make room."))
        Cannot write 'a.png': no space left. Make room.
        """
        why = (error.strerror or str(error)).lower()
        return cls(f"Cannot write {str(where)!r}: {why}.", remedy)


class MemoryLimitError(InputError):
    """Something would take more memory than it may; nothing has been taken yet."""


class MissingPackageError(InputError, ImportError):
    """Something is wanted that needs a package which is not installed."""


class WorkerError(KombError, RuntimeError):
    """A worker was lost or failed; ``finished`` holds what had been completed by then."""

    def __init__(self, statement: Text, finished: object = None, remedy: Text = "") -> None:
        super().__init__(statement, remedy)
        self.finished = finished


class Interrupted(KombError, KeyboardInterrupt):  # noqa: N818 - it is no error
    """A run was interrupted; ``finished`` holds what had been completed by then."""

    def __init__(self, statement: Text, finished: object = None) -> None:
        super().__init__(statement)
        self.finished = finished
