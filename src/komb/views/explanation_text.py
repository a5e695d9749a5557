"""An explanation as text: why members are in, and why other columns are not."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

from komb.views.blanket_text import show_parameters
from komb.views.remarks_text import equivalents_note, leak_warnings, omission_notes
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
    shown, members = explanation.rejected[:_SHOWN], sorted(explanation.reasons, key=_weakness)
    return Sheet(
        title=f"Markov blanket of {show_name(explanation.target)} explained: "
        f"{show_names(explanation.members, _NAMES_WIDTH) or 'empty'}",
        facts=f"method {explanation.method}, {_show_checks(explanation)}",
        grids=(
            Grid(("member", "why it is in the blanket"), tuple(map(_show_reason, members))),
            Grid(("left out", "why it is not in the blanket"), tuple(map(_show_reason, shown))),
        ),
        notes=tuple(_notes(explanation)),
        warnings=tuple(leak_warnings(explanation.remarks.leaks, explanation.target)),
    )


def _show_checks(explanation: Explanation) -> str:
    given = {key: explanation.parameters.get(key) for key in ("test", "df", "alpha")}
    separators = f"separators of up to {plural(explanation.max_separator, 'member')}"
    return ", ".join(filter(None, [separators, show_parameters(given)]))


def _show_reason(reason: Reason) -> tuple[str, str]:
    return show_name(reason.name), reason.text


def _weakness(reason: Reason) -> tuple[float, float]:
    """Sort the strongest member first, and those by request last."""
    if reason.status == "by request" or reason.shown is None:
        return math.inf, 0.0
    return -reason.shown.bits, -reason.shown.statistic


def _notes(explanation: Explanation) -> Iterator[str]:
    target = show_name(explanation.target)
    n_more = len(explanation.rejected) - _SHOWN
    if n_more > 0:
        was = "was" if n_more == 1 else "were"
        columns = plural(n_more, "more column")
        yield f"{columns} with weaker dependence on {target} {was} left out."
    if explanation.unrelated:
        count = len(explanation.unrelated)
        columns = plural(count, "other column" if len(explanation) else "column")
        yield f"{columns} {'is' if count == 1 else 'are'} marginally independent of {target}."
    yield from check_notes(explanation)
    yield from equivalents_note(explanation.remarks, is_sought=False)
    yield from omission_notes(explanation.remarks.omissions)
    reasons = explanation.reasons + explanation.rejected
    if any(not test.reliable for reason in reasons for test in reason.tests):
        yield "Unreliable: the table has too few rows per cell for the test to be trusted."


def check_notes(explanation: Explanation) -> Iterator[str]:
    """Say where an explanation makes fewer tests than the search, unless it lacks members."""
    largest = max(1, len(explanation.members))
    given = explanation.parameters
    asked = given.get("max_separator") or given.get("max_conditioning")
    if asked is not None and min(asked, largest) > explanation.max_separator:
        yield (
            f"To limit the number of tests, this explanation tries separators of up to "
            f"{plural(explanation.max_separator, 'member')}; the search tried up to {asked}."
        )
