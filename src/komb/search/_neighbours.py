"""Steps shared by the searches that look for parents and children first, and then for spouses.

A *neighbour* of the target, its parent or child, is a variable that no set separates from it. Under
faithfulness that is all there is to it, but a set has to be looked for, and how is where the
methods differ. What they share: pruning the set of likely neighbours, and the search for spouses, a
spouse being a variable that has a separator and loses it when a common child joins the condition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from komb.engine.engine import Engine
from komb.engine.questions import EMPTY, Variables
from komb.search.separated import of_those_outside
from komb.search.task import Found, Task


@dataclass(frozen=True, slots=True)
class Neighbours:
    """What a search for parents and children found."""

    members: Variables  # variables that no set it tried separates from the target
    separators: Mapping[int, Variables]  # every other variable, with the set that separates it


FindNeighbours = Callable[[int], Neighbours]


class SearchNeighbours(Protocol):
    """A search for the neighbours of any variable, among candidates."""

    def __call__(
        self,
        target: int,
        candidates: Variables,
        *,
        first: Variables = EMPTY,
        fixed: Variables = EMPTY,
    ) -> Neighbours:
        """Return them; ``first`` are tried first, ``fixed`` are members whatever the tests say."""
        ...


def prune(
    engine: Engine,
    target: int,
    members: Variables,
    pool: Variables,
    max_size: int,
    *,
    min_size: int = 0,
    core: Variables = EMPTY,
) -> dict[int, Variables]:
    """Members to drop one by one, in table order, each with a separator out of what is then left.

    Separators of all members are looked for at once in the whole pool, and once more for those
    whose separator has lost a variable by then. The pool holds the members.
    """

    def separators(candidates: Variables, among: Variables) -> dict[int, Variables]:
        return engine.separators(target, candidates, among, max_size, min_size=min_size, core=core)

    dropped: dict[int, Variables] = {}
    for member, separator in sorted(separators(members, pool).items()):
        if separator.isdisjoint(dropped):
            dropped[member] = separator
        else:
            dropped |= separators(frozenset({member}), pool.difference(dropped))
    return dropped


def find_spouses(
    engine: Engine, target: int, own: Neighbours, neighbours_of: FindNeighbours
) -> dict[int, Variables]:
    """Neighbours of neighbours that depend on the target given a common child."""
    spouses: dict[int, Variables] = {}
    for child in sorted(own.members):
        beyond = sorted(neighbours_of(child).members - own.members - {target})
        given = [own.separators[x] | {child} for x in beyond]
        questions = [({x}, z) for x, z in zip(beyond, given, strict=True)]
        answers = engine.evidence(target, questions, wants_bits=False)
        for x, z, dependent in zip(beyond, given, answers, strict=True):
            if dependent:
                spouses.setdefault(x, z)
    return spouses


def search_from_target(engine: Engine, task: Task, search: SearchNeighbours) -> Found:
    """Find the target's neighbours, and its spouses among the neighbours of those."""
    everything = task.candidates | {task.target}
    own = search(task.target, task.candidates, first=task.start, fixed=task.include)
    return add_spouses(
        engine, task, own, cache(lambda variable: search(variable, everything - {variable}))
    )


def add_spouses(
    engine: Engine, task: Task, own: Neighbours, neighbours_of: FindNeighbours
) -> Found:
    """Return the blanket that neighbours are part of."""
    task.report(engine, "spouses", own.members)
    spouses = find_spouses(engine, task.target, own, neighbours_of)
    return neighbours_and_spouses(engine, task, own, spouses)


def neighbours_and_spouses(
    engine: Engine, task: Task, own: Neighbours, spouses: Mapping[int, Variables]
) -> Found:
    """Return the blanket: neighbours are seen alone, spouses as their witness says."""
    witnesses: dict[int, Variables | None] = dict.fromkeys(task.include)
    witnesses |= spouses
    alone = engine.dependents(task.target, own.members, EMPTY)  # those by request are among them
    witnesses |= dict.fromkeys(alone, EMPTY)
    separators = of_those_outside(task, witnesses, own.separators)
    return Found(dict(sorted(witnesses.items())), separators=separators)
