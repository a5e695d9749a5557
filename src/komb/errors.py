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
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class KombError(Exception):
    """Base class of every exception raised by komb."""


class InputError(KombError, ValueError):
    """Something the caller passed in cannot be used; the message says how to mend it."""


class ParameterError(InputError):
    """A parameter breaks its rule."""

    @classmethod
    def because(cls, parameter: str, rule: str, value: object, remedy: str) -> ParameterError:
        """Build the message all parameter errors share.

        Examples
        --------
        >>> print(ParameterError.because("alpha", "be between 0 and 1", 2, "Try alpha=0.01."))
        'alpha' must be between 0 and 1; got 2. Try alpha=0.01.
        """
        return cls(f"{parameter!r} must {rule}; got {value!r}. {remedy}")


class UnknownNameError(InputError):
    """A column, method or test was named that does not exist."""

    @classmethod
    def among(cls, kind: str, name: object, known: Iterable[object]) -> UnknownNameError:
        """Build a message that suggests the nearest known names, or lists them all if few.

        Examples
        --------
        >>> print(UnknownNameError.among("column", "smokes", ["smoker", "age", "sex"]))
        There is no column 'smokes'. Did you mean 'smoker'? Known: 'smoker', 'age', 'sex'.
        """
        choices = list(known)
        message = f"There is no {kind} {name!r}."
        by_text = {str(choice): choice for choice in choices}
        near = difflib.get_close_matches(str(name), by_text, n=3, cutoff=0.6)
        if not near:  # a slip of the shift key is the commonest slip of all
            near = [text for text in by_text if text.lower() == str(name).lower()]
        if near:
            message += f" Did you mean {' or '.join(repr(by_text[text]) for text in near)}?"
        shown = ", ".join(repr(choice) for choice in choices[:20])
        more = f" and {len(choices) - 20} more" if len(choices) > 20 else ""
        return cls(f"{message} Known: {shown}{more}.")


class DataError(InputError):
    """A table cannot be analysed as it is."""


class MissingValuesError(DataError):
    """A table has missing values, and nothing says what they mean."""


class ContinuousColumnError(DataError):
    """A column holds measurements, not levels."""


class FileError(InputError):
    """A file is missing, unreadable or not a table, or cannot be written."""

    @classmethod
    def on_writing(cls, where: object, error: OSError, remedy: str) -> FileError:
        """Build the error about a file, or what is in a folder, that could not be written.

        Examples
        --------
        >>> print(FileError.on_writing("a.png", OSError(28, "No space left"), "Make room."))
        Cannot write 'a.png': no space left. Make room.
        """
        why = (error.strerror or str(error)).lower()
        return cls(f"Cannot write {str(where)!r}: {why}. {remedy}")


class MemoryLimitError(InputError):
    """Something would take more memory than it may; nothing has been taken yet."""


class MissingPackageError(InputError, ImportError):
    """Something is wanted that needs a package which is not installed."""


class WorkerError(KombError, RuntimeError):
    """A worker was lost or failed; ``finished`` holds what had been completed by then."""

    def __init__(self, message: str, finished: object = None) -> None:
        super().__init__(message)
        self.finished = finished


class Interrupted(KombError, KeyboardInterrupt):  # noqa: N818 - it is no error
    """A run was interrupted; ``finished`` holds what had been completed by then."""

    def __init__(self, message: str, finished: object = None) -> None:
        super().__init__(message)
        self.finished = finished
