"""Blankets of several targets as text: a line per target."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from komb.views.blanket_text import shared_parameters, show_parameters
from komb.views.remarks_text import leak_warnings
from komb.views.text import NOTHING, Grid, Sheet, plural, show_name, show_names, show_seconds

if TYPE_CHECKING:
    from komb.results.blanket import Blanket
    from komb.results.blankets import Blankets

_NAMES_WIDTH = 60  # characters of a list of names in a table
_MOST_LEAKS = 10  # leaks that are named
_HEADINGS = ("target", "size>", "members", "tests>", "time>")


def blankets_sheet(blankets: Blankets) -> Sheet:
    """Say what was found for each target."""
    tests = plural(sum(blanket.tests for blanket in blankets.values()), "test")
    return Sheet(
        title=f"Markov blankets of {plural(len(blankets), 'target')}",
        facts=_facts(list(blankets.values())),
        grids=(Grid(_HEADINGS, tuple(map(_show_blanket, blankets.values()))),),
        notes=(f"{tests} in {show_seconds(blankets.seconds)}.",),
        warnings=tuple(_warnings(blankets)),
    )


def _facts(blankets: list[Blanket]) -> str:
    """Say what all targets were searched with; an automatic search chooses for each target."""
    if not blankets:
        return "Nothing was searched."
    parameters = show_parameters(shared_parameters(blankets))
    return ", ".join(filter(None, [f"method {blankets[0].method}", parameters]))


def _show_blanket(blanket: Blanket) -> tuple[str, ...]:
    return (
        show_name(blanket.target),
        str(len(blanket)),
        show_names(blanket.members, _NAMES_WIDTH) or NOTHING,
        f"{blanket.tests:,}",
        show_seconds(blanket.seconds),
    )


def _warnings(blankets: Blankets) -> Iterator[str]:
    """Name leaks, and say for how many targets something was left out."""
    leaks = [
        warning
        for blanket in blankets.values()
        for warning in leak_warnings(blanket.leaks, blanket.target)
    ]
    yield from leaks[:_MOST_LEAKS]
    if len(leaks) > _MOST_LEAKS:
        n_more = plural(len(leaks) - _MOST_LEAKS, "more possible leak")
        yield f"{n_more}: see 'leaks' of each target."
    n_partial = sum(bool(blanket.omissions) for blanket in blankets.values())
    if n_partial:
        yield (
            f"The search skipped tests for {plural(n_partial, 'target')}: see 'omissions' of each."
        )
