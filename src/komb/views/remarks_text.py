"""What a search chose and what else it has to say, as text: leaks, omissions, sight."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from komb.search.task import Choice, Leak, Omission
from komb.views.text import Grid, plural, show_names, show_p_value, show_seconds

if TYPE_CHECKING:
    from komb.data.names import Name
    from komb.results.member import Remarks

_NAMES_WIDTH = 60  # characters of a list of names
_CHOICE_NAMES = {"threshold": "p-value limit at order 0"}


def leak_warnings(leaks: Iterable[Leak], target: Name) -> Iterator[str]:
    """Name columns that nearly determine the target."""
    for leak in leaks:
        how = (
            f"determines {target!r} completely"
            if leak.share >= 1
            else f"explains {_percent(leak.share)} of the variation of {target!r}"
        )
        remedy = (
            f"If its value is not known before that of {target!r}, leave it out: "
            f"exclude=[{leak.column!r}] or --exclude."
        )
        if leak.by_gaps:
            how, remedy = f"has a value or none, which {how}", "Tests see values only."
        yield f"Possible leak: {leak.column!r} {how}. {remedy}"


def omission_notes(omissions: Iterable[Omission], order: int | None = None) -> Iterator[str]:
    """Say in a sentence what was not searched, or how far was searched."""
    every = list(omissions)
    left_out = [each for each in every if each.order]
    if len(left_out) < len(every):
        yield (
            "Not searched to the end: which columns others separate from the target, so some may "
            "be wrong. That is much work here; max_separator=3 or --max-separator 3 does it."
        )
    if left_out:
        orders = " or ".join(str(number) for number in sorted({each.order for each in left_out}))
        tests = plural(sum(each.n_tests for each in left_out), "test")
        seconds = sum(each.seconds for each in left_out)
        took = f", about {show_seconds(seconds)}" if seconds >= 1.0 else ""
        counts = [each.n_columns for each in left_out]
        some = max((count for count in counts if count is not None), default=0)
        whom = "" if None in counts else f" for {plural(some, 'column')}"
        yield (
            f"Not searched{whom}: what shows only together with {orders} "
            f"{'other' if orders == '1' else 'others'} ({tests} more{took})."
        )
    elif order is not None and not every:
        groups = f" and together with up to {plural(order, 'other')}" if order else ""
        yield f"Searched: every column by itself{groups}."


def omission_reasons(omissions: Iterable[Omission]) -> Iterator[str]:
    """Say why something was not searched, order by order."""
    for each in omissions:
        whom = "" if each.n_columns is None else f" for {plural(each.n_columns, 'column')}"
        end = "" if each.order else " to the end"
        yield f"Order {each.order} was not searched{end}{whom}: {each.reason}."


def equivalents_note(remarks: Remarks, *, is_sought: bool) -> Iterator[str]:
    """Say what could replace members."""
    for member, sets in remarks.equivalents.items():
        names = "; or ".join(show_names(each, _NAMES_WIDTH) for each in sets)
        yield f"Alternatives: {names} could take the place of {show_names([member])}."
    if is_sought and not remarks.equivalents and all(each.order for each in remarks.omissions):
        yield "Alternatives: none; no other column could take a member's place."


def choice_grid(choices: Mapping[str, Choice]) -> Grid:
    """Show what a search chose, and why; no rows if it had no choice."""
    rows = (
        (
            _CHOICE_NAMES.get(name, name),
            "none" if choice.value is None else str(choice.value),
            choice.reason,
        )
        for name, choice in choices.items()
    )
    return Grid(("chosen", "value>", "why"), tuple(rows))


def sight_grid(remarks: Remarks) -> Grid:
    """Show which dependences could be found, one line per order, if the search says so."""
    rows = (
        (str(seen.order), f"{seen.n_tests:,}", show_p_value(seen.threshold), f"{seen.effect:.2g}")
        for seen in remarks.sight
    )
    headings = ("order>", "tests>", "p-value limit>", "detectable effect, bits per row>")
    return Grid(headings, tuple(rows))


def sight_notes(remarks: Remarks) -> Iterator[str]:
    """Say what the numbers of :func:`sight_grid` mean."""
    if remarks.sight:
        yield (
            "Detectable effect: the weakest dependence, in bits of information per row, that the "
            "search finds with 80 % power at this order; it may miss weaker ones."
        )


def _percent(share: float) -> str:
    """Show a share below 1 so that it is not taken for all."""
    return f"{100 * share:.0f} %" if share < 0.985 else f"{min(100 * share, 99.9):.1f} %"
