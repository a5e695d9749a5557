"""What a search chose where it was left to it: shown, written and read.

>>> from komb.search.task import Choice
>>> choices = {"order": Choice(2, "as far as the tests allow")}
>>> from_records(to_records(choices)) == choices
True
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from komb.search.task import Choice
from komb.views.text import NOTHING, Grid

_HEADINGS = ("chosen", "value>", "why")


def choice_grids(choices: Mapping[str, Choice]) -> tuple[Grid, ...]:
    """Show what a search chose, and why; nothing if it had no choice.

    Examples
    --------
    >>> choice_grids({"order": Choice(2, "as far as the tests allow")})[0].rows
    (('order', '2', 'as far as the tests allow'),)
    """
    rows = [
        (name, NOTHING if choice.value is None else str(choice.value), choice.reason)
        for name, choice in choices.items()
    ]
    return (Grid(_HEADINGS, tuple(rows)),) if rows else ()


def to_records(choices: Mapping[str, Choice]) -> dict[str, dict[str, Any]]:
    """Return choices as dictionaries.

    Examples
    --------
    >>> to_records({"order": Choice(2, "why")})
    {'order': {'value': 2, 'reason': 'why'}}
    """
    return {name: asdict(choice) for name, choice in choices.items()}


def from_records(records: Mapping[str, Mapping[str, Any]]) -> dict[str, Choice]:
    """Rebuild choices from :func:`to_records`.

    Examples
    --------
    >>> from_records({"order": {"value": 2, "reason": "why"}})
    {'order': Choice(value=2, reason='why')}
    """
    return {name: Choice(**record) for name, record in records.items()}
