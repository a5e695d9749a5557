"""Several blankets as text: of several methods, who found what at what cost; of several targets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from komb.views.blanket_text import cut_notes, identifier_notes, shared_parameters, show_parameters
from komb.views.remarks_text import leak_warnings, omission_notes
from komb.views.text import (
    DOT,
    NOTHING,
    TICK,
    Grid,
    Mark,
    Sheet,
    plural,
    show_name,
    show_names,
    show_seconds,
)

if TYPE_CHECKING:
    from komb.results.blanket import Blanket
    from komb.results.blankets import Blankets
    from komb.results.comparison import Comparison


_WIDTH = 78  # characters of a matrix; it is folded where it has more methods
_SIGNS: dict[Mark, str] = {"found": TICK, "hit": TICK, "extra": "+", "missed": "-", "absent": DOT}
_LEGEND = f"{TICK} found and true, + found but not true, - true but missed."
_SCORES = {"precision": "precision>", "recall": "recall>", "f1": "F1>"}


def comparison_sheet(comparison: Comparison) -> Sheet:
    """Say which method found what, and what it took."""
    n_methods = plural(len(comparison.blankets), "method")
    return Sheet(
        title=f"Markov blanket of {show_name(comparison.target)}: {n_methods} compared",
        facts=_facts(comparison),
        grids=(*_matrix(comparison), _numbers(comparison)),
        notes=tuple(_notes(comparison)),
        warnings=tuple(_warnings(comparison)),
    )


def _warnings(comparison: Comparison) -> Iterator[str]:
    """Name leaks, each once."""
    found = comparison.blankets.values()
    leaks = dict.fromkeys(leak for blanket in found for leak in blanket.leaks)
    yield from leak_warnings(leaks, comparison.target)


def _facts(comparison: Comparison) -> str:
    """Say what all methods were run with, the level of the tests first."""
    shared = shared_parameters(comparison.blankets.values())
    alpha = shared.pop("alpha", None)
    level = "" if alpha is None else f"every method at alpha {alpha:g}"
    return ", ".join(filter(None, [level, show_parameters(shared)]))


def _matrix(comparison: Comparison) -> Iterator[Grid]:
    """Draw who found what, folded into several tables where it is too wide for one."""
    names = [show_name(member) for member in comparison.members]
    room = _WIDTH - max(map(len, names), default=0)
    for labels in _fold(list(comparison.blankets), room):
        rows = tuple(
            (name, *(_SIGNS[comparison.mark(label, member)] for label in labels))
            for name, member in zip(names, comparison.members, strict=True)
        )
        yield Grid(("member", *(f"{show_name(label)}^" for label in labels)), rows)


def _numbers(comparison: Comparison) -> Grid:
    """Draw what each method cost and how accurate it is."""
    found = comparison.blankets.items()
    columns: dict[str, list[str]] = {
        "method": [show_name(label) for label, _ in found],
        "size>": [str(len(blanket)) for _, blanket in found],
        "tests>": [f"{blanket.tests:,}" for _, blanket in found],
        "time>": [show_seconds(blanket.seconds) for _, blanket in found],
    }
    if any(blanket.unreliable for _, blanket in found):
        columns["unreliable>"] = [f"{blanket.unreliable:,}" for _, blanket in found]
    if comparison.scores is not None:
        for key, heading in _SCORES.items():
            values = [getattr(score, key) for score in comparison.scores.values()]
            columns[heading] = [f"{value:.2f}" for value in values]
    return Grid(tuple(columns), tuple(zip(*columns.values(), strict=True)))


def _notes(comparison: Comparison) -> Iterator[str]:
    blankets = list(comparison.blankets.values())
    if comparison.truth is not None and comparison.members:
        yield _LEGEND
    elif not comparison.members:
        yield "No method found a member." if blankets else "Nothing was searched."
    for label, blanket in comparison.blankets.items():
        for sentence in omission_notes(blanket.omissions):
            yield f"{show_name(label)}: {sentence}"
    yield from _setting_notes(comparison)
    yield from identifier_notes(blankets)
    if blankets:  # all were searched in one table
        yield from cut_notes(blankets[0])
    if any(blanket.unreliable for blanket in blankets):
        yield (
            "Caution: unreliable tests had too few rows per cell. Collect more rows, merge rare "
            "levels, exclude columns with many levels, or limit the size of conditioning sets."
        )
    if blankets:
        tests = plural(sum(blanket.tests for blanket in blankets), "test")
        rows = plural(blankets[0].n_rows, "row")
        yield f"{tests} on {rows} in {show_seconds(comparison.seconds)}."


def _setting_notes(comparison: Comparison) -> Iterator[str]:
    """Say what methods were run with that not all of them were."""
    shared = shared_parameters(comparison.blankets.values())
    alike: dict[str, list[str]] = {}
    for label, blanket in comparison.blankets.items():
        settled = blanket.settled_parameters
        own = {key: value for key, value in settled.items() if key not in shared}
        alike.setdefault(show_parameters(own), []).append(label)
    for settings, labels in alike.items():
        if settings:
            yield f"{show_names(labels)}: {settings}."


def _fold(labels: list[str], room: int) -> Iterator[list[str]]:
    """Split labels into runs that fit side by side, at least one in each."""
    run: list[str] = []
    for label in labels:
        if run and sum(len(show_name(entry)) + 2 for entry in [*run, label]) > room:
            yield run
            run = []
        run.append(label)
    if run:
        yield run


_NAMES_WIDTH = 60  # characters of a list of names in a table
_MOST_LEAKS = 10  # leaks that are named
_HEADINGS = ("target", "size>", "members", "tests>", "time>")


def blankets_sheet(blankets: Blankets) -> Sheet:
    """Say what was found for each target."""
    tests = plural(sum(blanket.tests for blanket in blankets.values()), "test")
    return Sheet(
        title=f"Markov blankets of {plural(len(blankets), 'target')}",
        facts=_facts_of_all(list(blankets.values())),
        grids=(Grid(_HEADINGS, tuple(map(_show_blanket, blankets.values()))),),
        notes=(f"{tests} in {show_seconds(blankets.seconds)}.",),
        warnings=tuple(_warnings_of_all(blankets)),
    )


def _facts_of_all(blankets: list[Blanket]) -> str:
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


def _warnings_of_all(blankets: Blankets) -> Iterator[str]:
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
