"""How often members are found in half of the rows, as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from komb.views.text import Grid, Sheet, plural, show_name, show_names, show_seconds

if TYPE_CHECKING:
    from komb.data.names import Name
    from komb.results.blanket import Blanket
    from komb.results.stability import Stability

_NAMES_WIDTH = 60  # characters of a list of names
_HEADINGS = ("found in half-samples", "share>", "what it is")
_OFTEN = 0.5  # share of half-samples from which on a member is called found again
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


def recurrence_note(blanket: Blanket) -> str:
    """Say which members are found again in half-samples of a short table, and which are not."""
    found = blanket.recurrence
    if found is None:
        return "Stability: not measured yet; ask for stability() or --stability 50."
    sought = [member.name for member in blanket.evidence if not member.is_by_request]
    seldom = [name for name in sought if found.share(name) < _OFTEN]
    found_again = f"{len(sought) - len(seldom)} of {plural(len(sought), 'member')}"
    recur = "recurs" if len(sought) == 1 else "recur"
    whole = f"{recur} in at least half of {plural(found.n_halves, 'half-sample')}"
    said = [
        f"{show_name(name)} in {_count(found, name)}{_alternatives(blanket, found, name)}"
        for name in seldom
    ]
    return f"Stability: {'; '.join([f'{found_again} {whole}', *said])}."


def _alternatives(blanket: Blanket, found: Stability, name: Name) -> str:
    """Say how often what could take the place of a member is found in half-samples."""
    single = [own[0] for own in blanket.equivalents.get(name, ()) if len(own) == 1]
    said = ", ".join(f"{show_name(other)} in {_count(found, other)}" for other in single)
    return f" (its alternatives: {said})" if said else ""


def _count(found: Stability, name: Name) -> int:
    return round(found.share(name) * found.n_halves)


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
