"""Functions that take the options of a search as keywords.

Such a function ends in ``**keywords: Unpack[...]``, which type checkers understand. The decorator
gives it the signature and the descriptions that ``help`` and editors show, and
:func:`complete` the defaults.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Mapping
from inspect import Parameter
from typing import Any, TypeVar, get_type_hints

from komb.api.options import DEFAULTS, DESCRIPTIONS, SearchOptions

_Function = TypeVar("_Function", bound=Callable[..., Any])

_MARK = "**keywords\n"  # where in the docstring the options belong
_WIDTH = 96


def takes_options(
    *names: str, also: Mapping[str, str] | None = None, **defaults: object
) -> Callable[[_Function], _Function]:
    """Show the options of a search in the signature and docstring of a function.

    Examples
    --------
    >>> @takes_options("alpha", "df", alpha=0.01)
    ... def search(data, **keywords):
    ...     '''Search, with:
    ...     **keywords
    ...     '''
    ...     return complete(search, keywords)
    >>> inspect.signature(search)
    <Signature (data, *, alpha: float | None = 0.01, df: str = 'observed')>
    >>> print(inspect.getdoc(search))
    Search, with:
    alpha
        Significance level of each test.
    df
        Degrees of freedom of tests g, chi2 and g-sci: 'observed' or 'adjusted'.
    >>> search([], df="adjusted")
    {'alpha': 0.01, 'df': 'adjusted'}
    >>> search([], fd="adjusted")
    Traceback (most recent call last):
    TypeError: search() got an unexpected keyword argument 'fd'
    """
    taken = names or tuple(DEFAULTS)

    def decorate(function: _Function) -> _Function:
        function.__signature__ = _signature(function, taken, defaults)  # type: ignore[attr-defined]
        text = inspect.cleandoc(function.__doc__ or "") + "\n"
        if _MARK in text:
            before, after = text.split(_MARK)
            more = dict.fromkeys(defaults, "") | {**(also or {})}
            entries = "".join(_entry(name, more.get(name)) for name in taken)
            function.__doc__ = before + entries + after.removesuffix("\n")
        return function

    return decorate


def complete(function: Callable[..., Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that a function was called with, defaults included."""
    known = {
        name: parameter.default
        for name, parameter in inspect.signature(function).parameters.items()
        if name in DEFAULTS
    }
    for name in keywords:
        if name not in known:
            called = f"{function.__name__}()"
            raise TypeError(f"{called} got an unexpected keyword argument {name!r}")
    return {**known, **keywords}


def _signature(
    function: Callable[..., Any], names: tuple[str, ...], defaults: Mapping[str, object]
) -> inspect.Signature:
    own = inspect.signature(function)
    types = get_type_hints(SearchOptions)
    options = [
        Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            default=defaults.get(name, DEFAULTS[name]),
            annotation=types[name],
        )
        for name in names
    ]
    kept = [p for p in own.parameters.values() if p.kind is not Parameter.VAR_KEYWORD]
    return own.replace(parameters=[*kept, *options])


def _entry(name: str, also: str | None) -> str:
    """Return what the docstring says of an option; what is said besides replaces its default."""
    option = DESCRIPTIONS[name]
    if also is None and option.if_left_out:
        also = f"If left out: {option.if_left_out}."
    text = " ".join(filter(None, (option.about, also)))
    lines = textwrap.wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False)
    return "".join(f"{line}\n" for line in (name, *(f"    {line}" for line in lines)))
