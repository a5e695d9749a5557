"""What each member of a blanket is to the target, asked of a session.

* A **neighbour** is not separated from the target by any set of other members. In a Bayesian
  network it is a parent or a child, and other members are enough to tell: a variable that is no
  neighbour is separated from the target by those members that are neighbours of the target in the
  moral graph of the ancestors of both (the variable itself is not among them, or it would be its
  own ancestor).
* A **spouse** is separated from the target by a set, and depends on it once a neighbour joins the
  condition that is joined to both and not in that set: their common child.
* A **partner** depends on the target only together with other members, none of which is such a
  child: as ``X1`` and ``X2`` of ``Y = X1 xor X2``.

Directions come from colliders among the members and the target, and from the rules of
:mod:`~komb.describe.partial_graph`. Only the blanket is looked at, so other variables may
be common causes of two members, and edges among members need not be edges of the network; the rules
allow for that. Edges of the target *are* edges of the network, so what does not cause the target is
an effect, and what the target does not cause is a cause. A direction that only variables outside
of the blanket could tell remains undecided.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from komb.describe.partial_graph import NO_DIRECTIONS, Directions, PartialGraph
from komb.describe.separations import Separations, largest_separator
from komb.results.roles import Direction, Kind, Role, Roles
from komb.sessions.questions import Variables
from komb.sessions.session import Session

if TYPE_CHECKING:
    from komb.api.run import Run
    from komb.results.blanket import Blanket


def find_roles(run: Run, blanket: Blanket) -> Roles:
    """Say what each member of a blanket is to the target."""
    session, witnesses = run.open_session(), run.witnesses_of(blanket)
    target = run.data.index(blanket.target)
    bound = largest_separator(session, len(witnesses))
    known = known_directions(run, {target, *witnesses})
    parts = find_parts(session, target, witnesses, bound, known)
    roles = {
        run.names[x]: Role(
            name=run.names[x],
            kind=part.kind,
            direction=part.direction,
            separator=None if part.separator is None else run.named(part.separator),
            children=run.named(part.children),
            partners=run.named(part.partners),
        )
        for x, part in parts.items()
    }
    return Roles(blanket.target, roles)


def known_directions(run: Run, columns: Iterable[int]) -> Directions:
    """Return what background knowledge says of causes and effects among some columns."""
    knowledge = run.search.knowledge
    if knowledge is None:
        return NO_DIRECTIONS
    position = {run.names[x]: x for x in columns}
    tier_of = {name: number for number, tier in enumerate(knowledge.tiers) for name in tier}
    in_tiers = [(x, tier_of[name]) for name, x in position.items() if name in tier_of]
    return Directions(
        required=frozenset(
            (position[cause], position[effect])
            for cause, effect in knowledge.required
            if cause in position and effect in position
        ),
        forbidden=frozenset(
            (a, b) for a, late in in_tiers for b, early in in_tiers if late > early
        ),
    )


@dataclass(frozen=True, slots=True)
class Part:
    """What one member is to the target; variables are positions."""

    kind: Kind  # ``"undecided"`` if a set separates the member and nothing tells why it is one
    direction: Direction | None = None  # of a neighbour
    # what separates the member from the target; ``None`` if nothing does
    separator: Variables | None = None
    # of a spouse: the children that it has in common with the target
    children: tuple[int, ...] = ()
    partners: tuple[int, ...] = ()  # members together with which it depends on the target


def find_parts(
    session: Session,
    target: int,
    witnesses: Mapping[int, Variables | None],
    max_separator: int,
    directions: Directions = NO_DIRECTIONS,
) -> dict[int, Part]:
    """Say what each member of a blanket is to the target."""
    blanket = frozenset(witnesses)
    separations = Separations(session, blanket | {target}, max_separator)
    own = separations.of(target)
    neighbours = blanket - own.keys()
    children = _common_children(separations, target, neighbours)
    way = _directions(separations, target, neighbours, directions)
    parts = {}
    for x in sorted(blanket):
        if x in neighbours:
            parts[x] = Part("neighbour", way.get(x, "undecided"))
        elif x in children:
            parts[x] = Part("spouse", None, own[x], children[x])
        elif witnesses[x]:
            parts[x] = Part("partner", None, own[x])
        else:
            parts[x] = Part("by request" if witnesses[x] is None else "undecided", None, own[x])
    return _with_partners(parts, witnesses)


def _common_children(
    separations: Separations, target: int, neighbours: Variables
) -> dict[int, tuple[int, ...]]:
    """For each member that is no neighbour, the children it has in common with the target."""
    found = {}
    for x in sorted(separations.of(target)):
        candidates = (c for c in sorted(neighbours) if separations.are_joined(x, c))
        children = tuple(c for c in candidates if separations.is_collider(target, c, x))
        if children:
            found[x] = children
    return found


def _directions(
    separations: Separations, target: int, neighbours: Variables, directions: Directions
) -> dict[int, Direction]:
    """Causes and effects among the neighbours, as far as colliders tell."""
    variables = sorted(separations.variables)
    joined = {a: {b for b in variables if separations.are_joined(a, b)} for a in variables}
    colliders, others = separations.triples(joined)
    edges = [(x, target) for x in sorted(neighbours)]
    direct = {*edges, *((target, x) for x in neighbours)}
    graph = PartialGraph(joined, direct)
    graph.orient(colliders, others, directions.implied(edges))
    causes: dict[int, Direction] = {x: "cause" for x, y in graph.directed() if y == target}
    effects: dict[int, Direction] = {y: "effect" for x, y in graph.directed() if x == target}
    return causes | effects


def _with_partners(
    parts: Mapping[int, Part], witnesses: Mapping[int, Variables | None]
) -> dict[int, Part]:
    """Add to each member those that it depends on the target with, whichever of them needs it."""
    groups: dict[int, set[int]] = {x: set() for x in parts}
    for x, part in parts.items():
        if part.kind == "partner":
            group = {x, *(witnesses[x] or ())} & parts.keys()
            for one in group:
                groups[one] |= group - {one}
    return {
        x: Part(part.kind, part.direction, part.separator, part.children, tuple(sorted(groups[x])))
        for x, part in parts.items()
    }
