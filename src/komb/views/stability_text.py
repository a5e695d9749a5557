"""How often members are found in half of the rows, as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from komb.views.text import Grid, Sheet, plural, show_name, show_names, show_seconds

if TYPE_CHECKING:
    from komb.results.stability import Stability

_NAMES_WIDTH = 60  # characters of a list of names
_HEADINGS = ("found in half-samples", "share>", "what it is")
_STRICT_THRESHOLD = 0.9  # share at which the bound is shown as well


def stability_sheet(stability: Stability) -> Sheet:
    """Show how often members and groups were found, and what else was found again and again."""
    shares = stability.shares
    rows = [(show_name(name), shares.get(name, 0.0), "a member") for name in stability.members]
    rows += [
        (show_names(group.columns, _NAMES_WIDTH), group.share, "found together")
        for group in stability.groups
        if group.share >= stability.threshold
    ]
    rows += [
        (show_name(name), share, "not a member")
        for name, share in shares.items()
        if name not in stability.members and share >= stability.threshold
    ]
    return Sheet(
        title=f"Stability of the Markov blanket of {show_name(stability.target)}",
        grids=(Grid(_HEADINGS, tuple((name, f"{share:.2f}", what) for name, share, what in rows)),),
        notes=tuple(_notes(stability)),
    )


def _notes(stability: Stability) -> Iterator[str]:
    halves = plural(stability.n_halves, "half-sample")
    yield (
        f"Share of {halves} in which the column is in the blanket "
        f"({show_seconds(stability.seconds)})."
    )
    found = (_show_bound(stability, share) for share in (stability.threshold, _STRICT_THRESHOLD))
    yield f"Shares of {'; of '.join(found)}. By chance: no more often than a random column."


def _show_bound(stability: Stability, threshold: float) -> str:
    count = sum(share >= threshold for share in stability.shares.values())
    bound = f"at most {stability.bound_at(threshold):.2g} expected by chance"
    return f"at least {threshold}: {plural(count, 'column')}, {bound}"
