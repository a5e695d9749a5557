"""Roles of members, in a word or in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from komb.views.text import Grid, Sheet, show_name, show_names

if TYPE_CHECKING:
    from komb.data.names import Name
    from komb.results.roles import Implied, Role, Roles

_NAMES_WIDTH = 40  # characters of a list of names


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
        notes=() if rows else ("No column outside is joined with a member.",),
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
