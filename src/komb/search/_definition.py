"""The last step of the automatic search: its members by the definition of a blanket.

A member is in because it depends on the target given a *witness*, some of the other members, and no
further members separate the two; and because all the others together do not tell what it tells. On
data an "independent" counts if the test had the power to say "dependent", or if one of the others
tells nearly all of the member: then one of the two is enough. What is outside comes back if it
depends on the target given all members.
"""

from __future__ import annotations

from komb.engine.questions import Variables, count_subsets, strongest, subsets
from komb.search._automatic import Search
from komb.search._effort import UNTIL_SHRUNK
from komb.search._thresholds import family_bits

MISSED_CHANCE = 0.02
"""Chance that one of the columns outside comes back for no reason."""

MOST_WITNESSES = 50
"""Sets of members that are tried as a witness, besides the one seen first and all together."""

LARGEST_WITNESS = 3
"""Members in a witness, where the search itself has used more than the order."""


def settle(search: Search, order: int, max_separator: int | None) -> dict[int, Variables | None]:
    """Check the blanket by its definition, in both directions; returns a witness for each member.

    Members that tests with power find superfluous go, and what is dependent on the target given all
    that are left comes back, each column once at most.
    """
    returned: set[int] = set()
    while True:
        search.allow(UNTIL_SHRUNK)
        shrink(search, max_separator)
        search.allow(1.0)
        witnesses = find_witnesses(search, order)
        missed = _find_missed(search, max_separator)
        if missed is None or missed in returned:
            return witnesses
        returned.add(missed)
        search.add(missed, frozenset(search.blanket))


def shrink(search: Search, max_separator: int | None = None) -> None:
    """Remove members that are independent of the target given all others.

    The least strong of those goes first. On data only a test with power removes a member. A bound
    on separators that was asked for holds here too.
    """
    search.report("shrink")
    while max_separator is None or len(search.blanket) <= max_separator + 1:
        for x in [] if search.is_spent else search.weakest_first():
            others = frozenset(search.blanket) - {x}
            if not search.is_dependent(x, others) and search.is_settled(
                x, others, search.blanket[x]
            ):
                search.remove(x, others)
                break
        else:
            return


def _find_missed(search: Search, max_separator: int | None) -> int | None:
    """Return the column outside that depends on the target most given all members, if one does."""
    members = frozenset(search.blanket)
    if not members or (max_separator is not None and len(members) > max_separator):
        return None
    question = search.outside, members
    [bits] = search.engine.evidence(search.task.target, [question], is_conservative=True)
    chance = search.chance_given_members(MISSED_CHANCE)
    needed = max(search.single, family_bits(len(search.outside), chance))
    strong = {x: own for x, own in bits.items() if own >= needed}
    return strongest(strong) if strong else None


def find_witnesses(search: Search, order: int) -> dict[int, Variables | None]:
    """Find for each member what makes it visible and no members separate; one without goes.

    The empty set is a witness for whatever depends on the target without any condition.
    """
    while True:
        found = {x: _witness(search, x, order) for x in sorted(search.blanket)}
        found |= dict.fromkeys(x for x in search.task.include if _is_explained(search, x, found[x]))
        hidden = [x for x in search.weakest_first() if found[x] is None]
        if not hidden:
            break
        search.remove(hidden[0], search.separators[hidden[0]])
    return found | dict.fromkeys(sorted(search.task.include - found.keys()))


def _is_explained(search: Search, x: int, witness: Variables | None) -> bool:
    """Whether other members separate one that is in the blanket by request."""
    return witness is not None and search.find_separator(x, witness) is not None


def _witness(search: Search, x: int, order: int) -> Variables | None:
    """Return what a member depends on the target given, and no others separate by a sure test."""
    others = frozenset(search.blanket) - {x}
    pool = search.region.nearest(x, others)
    size = max(order, LARGEST_WITNESS)
    while size > 1 and count_subsets(len(pool), size) > MOST_WITNESSES:
        size -= 1
    seen_given = [search.blanket[x]] if search.blanket[x] <= others else []
    for witness in (*seen_given, *subsets(pool, size), others):
        if search.is_spent and witness not in (search.blanket[x], others):
            continue
        if search.is_dependent(x, witness):
            separator = search.sure_separator(x, witness)
            if separator is None:
                return witness
            search.separators[x] = separator | witness
    return None
