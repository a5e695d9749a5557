"""What a search chose and what else it has to say, as text: leaks, omissions, sight."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from komb.search.task import Choice, Leak, Omission
from komb.views.text import NOTHING, Grid, plural, show_names, show_p_value, show_seconds

if TYPE_CHECKING:
    from komb.data.names import Name
    from komb.results.remarks import Remarks

_NAMES_WIDTH = 60  # characters of a list of names
_CHOICE_HEADINGS = ("chosen", "value>", "why")
_SIGHT_HEADINGS = (
    "order>", "tests>", "p-value threshold>", "detectable effect, bits per row>",
)  # fmt: skip
_CHOICE_NAMES = {"order": "order (searched up to)", "threshold": "p-value threshold"}


def warnings_of(remarks: Remarks, target: Name) -> Iterator[str]:
    """Say what a reader must know before anything else: leaks first, then omissions."""
    yield from leak_warnings(remarks.leaks, target)
    yield from omission_warnings(remarks.omissions)


def leak_warnings(leaks: Iterable[Leak], target: Name) -> Iterator[str]:
    """Name columns that nearly determine the target."""
    for leak in leaks:
        how = (
            f"determines {target!r} completely"
            if leak.share >= 1
            else f"explains {_percent(leak.share)} of the variation of {target!r}"
        )
        yield (
            f"Possible leak: {leak.column!r} {how}. Exclude it if its value is not known before "
            f"that of {target!r}."
        )


def omission_warnings(omissions: Iterable[Omission]) -> Iterator[str]:
    """Say what a search left out."""
    for left_out in omissions:
        whom = "" if left_out.n_columns is None else f" for {plural(left_out.n_columns, 'column')}"
        why = f"{left_out.reason} (about {show_seconds(left_out.seconds)})"
        yield f"Order {left_out.order} was not searched{whom}: {why}."


def alternatives(remarks: Remarks, member: Name) -> Iterator[str]:
    """Name what could replace a member, one line each."""
    for names in remarks.equivalents.get(member, ()):
        yield f"or: {show_names(names, _NAMES_WIDTH)}"


def choice_grids(choices: Mapping[str, Choice]) -> tuple[Grid, ...]:
    """Show what a search chose, and why; nothing if it had no choice."""
    rows = [
        (
            _CHOICE_NAMES.get(name, name),
            NOTHING if choice.value is None else str(choice.value),
            choice.reason,
        )
        for name, choice in choices.items()
    ]
    return (Grid(_CHOICE_HEADINGS, tuple(rows)),) if rows else ()


def sight_grids(remarks: Remarks) -> tuple[Grid, ...]:
    """Show which dependences could be found, one line per order, if the search says so."""
    rows = tuple(
        (str(seen.order), f"{seen.n_tests:,}", show_p_value(seen.threshold), f"{seen.effect:.2g}")
        for seen in remarks.sight
    )
    return (Grid(_SIGHT_HEADINGS, rows),) if rows else ()


def sight_notes(remarks: Remarks) -> Iterator[str]:
    """Say what the numbers of :func:`sight_grids` mean."""
    if remarks.sight:
        yield (
            "Detectable effect: the weakest dependence, in bits of information per row, that the "
            "search finds with 80 % power at this order; it may miss weaker ones."
        )


def _percent(share: float) -> str:
    """Show a share below 1 so that it is not taken for all."""
    return f"{100 * share:.0f} %" if share < 0.985 else f"{min(100 * share, 99.9):.1f} %"
