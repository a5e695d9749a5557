"""What is told about a blanket beyond the search, as text: effects, ranking, roles, stability."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from komb.views.text import NOTHING, Grid, Sheet, plural, show_name, show_names, show_seconds

if TYPE_CHECKING:
    from komb.data.names import Name
    from komb.results.blanket import Blanket
    from komb.results.effects import Effect, Effects, Ranked, Ranking
    from komb.results.roles import Implied, Role, Roles
    from komb.results.stability import Stability


_NAMES_WIDTH = 40  # characters of a list of names
_HEADINGS = ("member", "unique>", "synergy>", "redundancy>", "alone>", "95 %>", "added>", "95 %>",
             "added to what")  # fmt: skip
_GROUP_HEADINGS = ("group", "together>", "sum of each alone>", "synergy>")


def show_bits(value: float) -> str:
    """Show bits per row; an estimate below zero says that there are none."""
    return f"{max(value, 0.0):.3f}"


def effects_sheet(effects: Effects) -> Sheet:
    """Say how much each member tells, the one that adds most first."""
    ordered = sorted(effects.details, key=lambda effect: -effect.added)
    groups = [
        (
            show_names(group.columns, _NAMES_WIDTH),
            show_bits(group.together),
            show_bits(group.alone),
            show_bits(group.synergy),
        )
        for group in effects.groups
    ]
    return Sheet(
        title=f"What the members tell about {show_name(effects.target)}, in bits per row",
        facts=(
            f"Knowing {show_name(effects.target)} itself would be {show_bits(effects.entropy)} bits"
        ),
        grids=(
            Grid(_HEADINGS, tuple(_show_effect(effect, len(effects)) for effect in ordered)),
            Grid(_GROUP_HEADINGS, tuple(groups)),
        ),
        notes=tuple(_notes(effects)),
    )


def _show_effect(effect: Effect, n_members: int) -> tuple[str, ...]:
    parts = (effect.unique, effect.synergy, effect.redundancy, effect.alone)
    rest = "all other members" if effect.complete else show_names(effect.given, _NAMES_WIDTH)
    return (
        show_name(effect.name),
        *map(show_bits, parts),
        f"{show_bits(effect.alone_low)} to {show_bits(effect.alone_high)}",
        show_bits(effect.added),
        f"{show_bits(effect.added_low)} to {show_bits(effect.added_high)}",
        (rest or "(nothing)") if n_members > 1 else "(it is the only member)",
    )


def _notes(effects: Effects) -> Iterator[str]:
    if effects.details:
        yield (
            "One bit answers one yes-or-no question about the target, in every row. Alone: what a "
            "member tells by itself, unique + redundancy. Added: what it tells beyond the members "
            "named, unique + synergy. Corrected for chance: about 0 where there is nothing."
        )
    n_thin = sum(not effect.complete for effect in effects.details)
    if n_thin:
        has = "has" if n_thin == 1 else "have"
        yield (
            f"{plural(n_thin, 'member')} {has} too few rows per cell to be conditioned on all "
            "others: what is added to fewer of them may be more, or less, than what is added to "
            "all."
        )


_SHOWN = 20  # columns besides members
_RANKING_HEADINGS = ("rank>", "column", "member", "added>", "alone>", "added to what",
                     "independent given")  # fmt: skip


def ranking_sheet(ranking: Ranking) -> Sheet:
    """List the members, and the first of the other columns."""
    n_members = sum(entry.is_member for entry in ranking)
    shown = ranking.columns[: n_members + _SHOWN]
    return Sheet(
        title=f"Columns by what they tell about {show_name(ranking.target)}, in bits per row",
        facts=f"{plural(len(ranking), 'column')}, {plural(n_members, 'member')} first",
        grids=(Grid(_RANKING_HEADINGS, tuple(map(_show, shown))),),
        notes=tuple(_ranking_notes(ranking, len(shown))),
    )


def _show(entry: Ranked) -> tuple[str, ...]:
    return (
        str(entry.rank),
        show_name(entry.column),
        "yes" if entry.is_member else "",
        show_bits(entry.added),
        show_bits(entry.alone),
        show_names(entry.given, _NAMES_WIDTH) or "(nothing)",
        NOTHING
        if entry.separator is None
        else show_names(entry.separator, _NAMES_WIDTH) or "(nothing)",
    )


def _ranking_notes(ranking: Ranking, n_shown: int) -> Iterator[str]:
    if n_shown < len(ranking):
        yield f"{plural(len(ranking) - n_shown, 'more column')}: see 'to_frame'."
    if len(ranking):
        yield (
            "One bit answers one yes-or-no question about the target, in every row. Added: what a "
            "column tells beyond the columns named. Alone: what it tells by itself. Corrected for "
            "chance: about 0 where there is nothing."
        )


def roles_sheet(roles: Roles) -> Sheet:
    """Say what each member is to the target, and what that rests on."""
    rows = tuple(
        (show_name(name), show_role(role), say_role(role, roles.target))
        for name, role in roles.items()
    )
    return Sheet(
        title=f"What the members are to {show_name(roles.target)}",
        grids=(Grid(("member", "role", "why"), rows),),
        notes=tuple(direction_notes(roles.values())),
    )


def implied_sheet(implied: Implied) -> Sheet:
    """Say which columns outside a blanket its members imply, and why."""
    aim, rows = show_name(implied.target), []
    for name, role in implied.items():
        given = f" given {_names(role.separator)}" if role.separator else ""
        child = _names(role.children)
        why = f"joined with {child} as {aim} is, and independent of {aim}{given} without it"
        if role.kind == "undecided":
            why = f"{why}; in the blanket of the graph if {child} is an effect of both"
        rows.append((show_name(name), show_role(role), f"{why}."))
    return Sheet(
        title=f"What members of the blanket of {aim} imply",
        grids=(Grid(("column", "role", "why"), tuple(rows)),) if rows else (),
        notes=(
            f"With what is implied: {show_names(implied.graph_blanket) or 'none'}."
            if rows
            else "No column outside is joined with a member.",
        ),
    )


def show_role(role: Role) -> str:
    """Say in a few words what a member is to the target."""
    if role.kind == "neighbour":
        return role.kind if role.direction in (None, "undecided") else str(role.direction)
    if role.kind == "spouse":
        return f"spouse through {_names(role.children)}"
    if role.kind == "implied":
        return f"implied by {_names(role.children)}"
    return f"partner of {_names(role.partners)}" if role.kind == "partner" else role.kind


def say_role(role: Role, target: Name) -> str:
    """Say in a sentence what a member is to the target, and what that rests on."""
    aim = show_name(target)
    if role.kind == "neighbour":
        return f"{_say_neighbour(role, aim)}."
    given = f"given {_names(role.separator)}" if role.separator else "marginally"
    apart = f"independent of {aim} {given}"
    if role.kind == "spouse":
        child = "child" if len(role.children) == 1 else "children"
        return f"A spouse, {apart}, but not given their common {child} " + (
            f"{_names(role.children)}."
        )
    if role.kind == "partner":
        return f"A partner of {_names(role.partners)}, {apart}."
    if role.kind == "by request":
        return f"By request alone; {apart}."
    return f"Undecided; {apart}, and no common child or partner is known."


def _say_neighbour(role: Role, target: str) -> str:
    if role.direction == "cause":
        return f"A neighbour of {target}, and a cause of it"
    if role.direction == "effect":
        return f"A neighbour of {target}, and an effect of it"
    return f"A neighbour of {target}; whether cause or effect is undecided"


def direction_notes(roles: Iterable[Role]) -> Iterator[str]:
    """Say what directions rest on, if there are any."""
    if any(role.direction in ("cause", "effect") for role in roles):
        yield (
            "Cause and effect: as the independences among these columns tell, if no common cause "
            "of the target and a member is missing from the table."
        )


def _names(names: Iterable[Name] | None) -> str:
    return show_names(tuple(names or ()), _NAMES_WIDTH)


_GROUP_WIDTH = 60  # characters of a list of names
_SHARE_HEADINGS = ("found in half-samples", "share>", "what it is")
_OFTEN = 0.5  # share of half-samples from which on a member is called found again
_STRICT_THRESHOLD = 0.9  # share at which the bound is shown as well


def stability_sheet(stability: Stability) -> Sheet:
    """Show how often members and groups were found, and what else was found again and again."""
    shares = stability.shares
    rows = [(show_name(name), shares.get(name, 0.0), "a member") for name in stability.members]
    rows += [
        (show_name(name), share, "this member or an alternative of it")
        for name, share in stability.replaceable.items()
    ]
    rows += [
        (show_names(group.columns, _GROUP_WIDTH), group.share, "found together")
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
        grids=(
            Grid(
                _SHARE_HEADINGS, tuple((name, f"{share:.2f}", what) for name, share, what in rows)
            ),
        ),
        notes=tuple(_stability_notes(stability)),
    )


def recurrence_note(blanket: Blanket) -> str:
    """Say which members are found again in half-samples of a short table, and which are not."""
    found = blanket.recurrence
    if found is None:
        return "Stability: not measured yet; ask for stability() or --stability 50."
    sought = [member.name for member in blanket.evidence if not member.is_by_request]
    often = [name for name in sought if found.replaceable.get(name, found.share(name)) >= _OFTEN]
    others = ", or an alternative of theirs," if found.replaceable else ""
    recur = "recurs" if len(sought) == 1 else "recur"
    said = [
        f"{len(often)} of {plural(len(sought), 'member')}{others} {recur} in at least half of "
        f"{plural(found.n_halves, 'half-sample')}"
    ]
    said += [_say_seldom(found, name) for name in sought if found.share(name) < _OFTEN]
    known = {*blanket.members, *chain.from_iterable(chain(*blanket.equivalents.values()))}
    instead = ", ".join(
        f"{show_name(name)} in {_count(found, share)}"
        for name, share in found.shares.items()
        if share >= _OFTEN and name not in known
    )
    said += [f"as often, but no members: {instead}"] if instead else []
    return f"Stability: {'; '.join(said)}."


def _say_seldom(found: Stability, name: Name) -> str:
    """Say in how many half-samples a member is, and with what could take its place."""
    said = f"{show_name(name)} in {_count(found, found.share(name))}"
    if name not in found.replaceable:
        return said
    return f"{said}, with its alternatives in {_count(found, found.replaceable[name])}"


def _count(found: Stability, share: float) -> int:
    return round(share * found.n_halves)


def _stability_notes(stability: Stability) -> Iterator[str]:
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
