"""Steps shared by the searches that look for parents and children first, and then for spouses.

A *neighbour* of the target, its parent or child, is a variable that no set separates from it. Under
faithfulness that is all there is to it, but a set has to be looked for, and how is where the
methods differ. What they share: pruning the set of likely neighbours, and the search for spouses, a
spouse being a variable that has a separator and loses it when a common child joins the condition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from komb.citests.session import EMPTY, Session, Variables
from komb.search.task import Found, Task


@dataclass(frozen=True, slots=True)
class Neighbours:
    """What a search for parents and children found.

    Attributes
    ----------
    members : frozenset of int
        Variables that no set it tried separates from the target.
    separators : mapping
        Every other variable, with the set that separates it.
    """

    members: Variables
    separators: Mapping[int, Variables]


FindNeighbours = Callable[[int], Neighbours]


def prune(
    session: Session,
    target: int,
    members: Variables,
    pool: Variables,
    max_size: int,
    *,
    min_size: int = 0,
    core: Variables = EMPTY,
) -> dict[int, Variables]:
    """Members to drop one by one, in table order, each with a separator out of what is then left.

    Separators are looked for as in :meth:`~komb.citests.session.Session.separators`: for all
    members at once in the whole pool, and once more for those whose separator has lost a variable
    by then. The pool holds the members.
    """

    def separators(candidates: Variables, among: Variables) -> dict[int, Variables]:
        return session.separators(target, candidates, among, max_size, min_size=min_size, core=core)

    dropped: dict[int, Variables] = {}
    for member, separator in sorted(separators(members, pool).items()):
        if separator.isdisjoint(dropped):
            dropped[member] = separator
        else:
            dropped |= separators(frozenset({member}), pool.difference(dropped))
    return dropped


def find_spouses(
    session: Session, target: int, own: Neighbours, neighbours_of: FindNeighbours
) -> dict[int, Variables]:
    """Neighbours of neighbours that depend on the target once a common child is in the condition.

    Parameters
    ----------
    session : Session
    target : int
    own : Neighbours
        Of the target.
    neighbours_of : callable
        Gives those of another variable.

    Returns
    -------
    dict
        Spouses, each with the set that shows it: what separates it from the target, and the child.
    """
    spouses: dict[int, Variables] = {}
    for child in sorted(own.members):
        beyond = sorted(neighbours_of(child).members - own.members - {target})
        given = [_separator(target, x, own, neighbours_of) | {child} for x in beyond]
        answers = session.ask(target, [({x}, z) for x, z in zip(beyond, given, strict=True)])
        for x, z, dependent in zip(beyond, given, answers, strict=True):
            if dependent:
                spouses.setdefault(x, z)
    return spouses


def _separator(
    target: int, candidate: int, own: Neighbours, neighbours_of: FindNeighbours
) -> Variables:
    """Return what separates a candidate from the target, in the eyes of the one or the other."""
    if candidate in own.separators:
        return own.separators[candidate]
    return neighbours_of(candidate).separators[target]


def neighbours_and_spouses(
    session: Session, task: Task, neighbours: Variables, spouses: Mapping[int, Variables]
) -> Found:
    """Return the blanket: neighbours are seen alone, spouses as their witness says."""
    witnesses: dict[int, Variables | None] = dict.fromkeys(task.include)
    witnesses |= spouses
    alone = session.dependents(task.target, neighbours | task.include, EMPTY)
    witnesses |= dict.fromkeys(alone, EMPTY)
    return Found(dict(sorted(witnesses.items())))
