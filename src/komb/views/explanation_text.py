"""An explanation as text: why members are in, and why other columns are not."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

from komb.views.remarks_text import (
    alternatives,
    choice_grids,
    sight_grids,
    sight_notes,
    warnings_of,
)
from komb.views.text import Grid, Sheet, plural, show_name, show_names

if TYPE_CHECKING:
    from komb.results.explanation import Explanation, Reason

_NAMES_WIDTH = 60  # characters of a list of names
_SHOWN = 10  # columns left out that are shown; all are in the data
_NARROWEST, _WIDEST = 50, 100  # characters per line


def explanation_text(explanation: Explanation, width: int | None) -> str:
    """Write an explanation in lines of a width; if there is none, that of the terminal."""
    if width is None:
        width = min(max(shutil.get_terminal_size().columns, _NARROWEST), _WIDEST)
    return explanation_sheet(explanation).to_text(width)


def explanation_sheet(explanation: Explanation) -> Sheet:
    """Say why each member is in, and why other columns are not."""
    names = [reason.name for reason in explanation.members]
    shown = explanation.rejected[:_SHOWN]
    return Sheet(
        title=f"Markov blanket of {show_name(explanation.target)} explained: "
        f"{show_names(names, _NAMES_WIDTH) or 'empty'}",
        facts=f"method {explanation.method}, {_show_checks(explanation)}",
        grids=(
            Grid(("member", "why it is in"), tuple(_member_rows(explanation))),
            Grid(("left out", "why it is not in"), tuple(map(_show_reason, shown))),
            *choice_grids(explanation.choices),
            *sight_grids(explanation.remarks),
        ),
        notes=tuple(_notes(explanation)),
        warnings=tuple(warnings_of(explanation.remarks, explanation.target)),
    )


def show_conditions(explanation: Explanation, count: int = 1) -> str:
    """Say under which conditions one column, or several, were tested."""
    if not explanation.order or not explanation.members:
        return "on its own" if count == 1 else "on their own"
    return f"alone or given up to {plural(explanation.order, 'member')}"


def _show_checks(explanation: Explanation) -> str:
    wordings = {"test": "test {}", "df": "df {}", "alpha": "alpha {}"}
    given = explanation.parameters
    parts = [words.format(given[key]) for key, words in wordings.items() if key in given]
    return ", ".join([f"separators of up to {plural(explanation.max_separator, 'member')}", *parts])


def _show_reason(reason: Reason) -> tuple[str, str]:
    return show_name(reason.name), reason.text


def _member_rows(explanation: Explanation) -> Iterator[tuple[str, str]]:
    """Show why each member is in, and below it what could stand in its place."""
    for reason in explanation.members:
        yield _show_reason(reason)
        for line in alternatives(explanation.remarks, reason.name):
            yield line, f"could stand in the place of {show_name(reason.name)}."


def _notes(explanation: Explanation) -> Iterator[str]:
    target = show_name(explanation.target)
    n_more = len(explanation.rejected) - _SHOWN
    if n_more > 0:
        depend = "column depends" if n_more == 1 else "columns depend"
        was = "was" if n_more == 1 else "were"
        yield f"{n_more:,} more {depend} on {target}, less clearly, and {was} left out."
    if explanation.unrelated:
        count = len(explanation.unrelated)
        columns = plural(count, "other column" if explanation.reasons else "column")
        yield f"{columns} never depended on {target}, {show_conditions(explanation, count)}."
    yield from check_notes(explanation)
    yield from sight_notes(explanation.remarks)
    if any(not test.reliable for reason in explanation.reasons for test in reason.tests):
        yield "Unreliable: a table with too few rows for its test to be trusted."


def check_notes(explanation: Explanation) -> Iterator[str]:
    """Say where less was looked at than in the search, and not for lack of members."""
    largest = max(1, len(explanation.members))
    given = explanation.parameters
    asked = given.get("max_separator") or given.get("max_conditioning")
    if asked is not None and min(asked, largest) > explanation.max_separator:
        yield (
            f"Separators of more than {plural(explanation.max_separator, 'member')} were not tried "
            f"here, up to {asked} in the search: there are too many."
        )
    order = given.get("order")
    is_automatic = "order" in explanation.choices  # asks more of groups than these tests do
    if order is not None and not is_automatic and min(order, largest) > explanation.order:
        yield (
            f"Dependences given more than {plural(explanation.order, 'member')} were not looked "
            f"for here, up to {order} in the search: there are too many."
        )
