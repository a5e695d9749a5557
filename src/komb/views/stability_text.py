"""How often members are found in half of the rows, as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from komb.views.text import Grid, plural, show_name, show_names, show_seconds

if TYPE_CHECKING:
    from komb.results.blanket import Blanket
    from komb.results.stability import Stability

_NAMES_WIDTH = 60  # characters of a list of names
_HEADINGS = ("found in half-samples", "share>", "what it is")
_STRICT_THRESHOLD = 0.9  # share at which the bound is shown as well


def stability_grids(blanket: Blanket) -> tuple[Grid, ...]:
    """Show the groups of a blanket, and what else was found again and again."""
    stability = blanket.stability
    if stability is None:
        return ()
    groups = {frozenset((m.name, *m.witness)) for m in blanket.details if m.witness}
    rows = [
        (show_names(group.columns, _NAMES_WIDTH), f"{group.share:.2f}", "members found together")
        for group in stability.groups
        if frozenset(group.columns) in groups
    ]
    rows += [
        (show_name(name), f"{share:.2f}", "not a member")
        for name, share in stability.shares.items()
        if name not in blanket and share >= stability.threshold
    ]
    return (Grid(_HEADINGS, tuple(rows)),) if rows else ()


def stability_notes(stability: Stability) -> Iterator[str]:
    """Say what was done, and what it bounds."""
    halves = plural(stability.n_halves, "half-sample")
    yield (
        f"Stability: share of {halves} in which the column is in the blanket "
        f"({show_seconds(stability.seconds)})."
    )
    found = (_show_bound(stability, share) for share in (stability.threshold, _STRICT_THRESHOLD))
    yield f"Stability of {'; of '.join(found)}. By chance: no more often than a random column."


def _show_bound(stability: Stability, threshold: float) -> str:
    count = sum(share >= threshold for share in stability.shares.values())
    bound = f"of which at most {stability.bound_at(threshold):.2g} are expected by chance"
    return f"at least {threshold}: {plural(count, 'column')}, {bound}"
