"""What blankets can tell beyond the search: the engine behind :mod:`komb.results.engine`.

Tests are those of the search, asked of the same table again when someone wants to know.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, NoReturn

from komb.api.effect_sizes import InformationMeter
from komb.api.explain import explain, open_session
from komb.api.truth import open_truth
from komb.data.encode.codes import Name
from komb.data.knowledge import Knowledge
from komb.data.table import DiscreteTable
from komb.errors import DataError, ParameterError
from komb.results.blanket import Blanket
from komb.results.effects import Effect, Effects, GroupEffect
from komb.results.engine import NamedNetwork
from komb.results.explanation import Explanation
from komb.results.ranking import Ranked, Ranking
from komb.results.roles import Role
from komb.results.supplement import Supplement
from komb.search.structure.joined_blankets import Symmetry, find_network
from komb.search.structure.partial_graph import NO_DIRECTIONS, Directions
from komb.search.structure.parts import find_parts
from komb.sessions.questions import EMPTY, Variables, count_subsets
from komb.sessions.session import Session

MAX_SEPARATOR = 3
"""Members in a separator, at most, if the answers come from data."""

MOST_TESTS = 50_000
"""Tests to find roles, at most: fewer members are allowed in a separator where it takes more."""


class Answers(NamedTuple):
    """Who answers, and what columns are called."""

    session: Session
    names: tuple[Name, ...]

    def position(self, name: Name) -> int:
        """Return the position of a column."""
        return self.names.index(name)

    def positions(self, names: Iterable[Name]) -> Variables:
        """Return the positions of some columns."""
        return frozenset(map(self.position, names))

    def witnesses(self, supplement: Supplement) -> dict[int, Variables | None]:
        """Return the members of a blanket, each with its witness."""
        return {
            self.position(name): None if witness is None else self.positions(witness)
            for name, witness in supplement.witnesses.items()
        }

    def directions(self, supplement: Supplement, columns: Iterable[int]) -> Directions:
        """Return what background knowledge says of causes and effects among some columns."""
        if "knowledge" not in supplement.parameters:
            return NO_DIRECTIONS
        knowledge = Knowledge.of(supplement.parameters["knowledge"])
        position = {self.names[x]: x for x in columns}
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

    def named(self, positions: Iterable[int]) -> tuple[Name, ...]:
        """Return the names of some columns, in the order of the table."""
        return tuple(self.names[x] for x in sorted(positions))


class Supplements:
    """Answers what a blanket alone cannot tell."""

    def explain(self, blanket: Blanket, data: object) -> Explanation:
        """Say why members are in a blanket; ``data`` is what the caller passed as its table."""
        supplement = blanket._supplement
        return explain(blanket, supplement.data, data, supplement.test)

    def find_roles(self, supplement: Supplement) -> dict[Name, Role]:
        """Say what each member is to the target."""
        answers = open_answers(supplement, "roles")
        witnesses = answers.witnesses(supplement)
        bound = largest_separator(answers.session, len(witnesses))
        target = answers.position(supplement.target)
        known = answers.directions(supplement, {target, *witnesses})
        parts = find_parts(answers.session, target, witnesses, bound, known)
        return {
            answers.names[x]: Role(
                name=answers.names[x],
                kind=part.kind,
                direction=part.direction,
                separator=None if part.separator is None else answers.named(part.separator),
                children=answers.named(part.children),
                partners=answers.named(part.partners),
            )
            for x, part in parts.items()
        }

    def measure_effects(self, supplement: Supplement) -> Effects:
        """Say how much each member tells about the target."""
        table = find_table(supplement, "effects")
        meter, witnesses = open_meter(supplement, table)
        blanket = frozenset(witnesses)
        details = []
        for x in sorted(blanket):
            measured = meter.of_member(x, blanket - {x}, witnesses[x] or EMPTY)
            alone = meter.amount(x, measured.alone, EMPTY)
            added = meter.amount(x, measured.added, measured.given)
            given = tuple(table.names[z] for z in sorted(measured.given))
            details.append(Effect(table.names[x], *alone, *added, given, measured.is_complete))
        groups = {witness | {x} for x, witness in witnesses.items() if witness}
        return Effects(
            target=supplement.target,
            entropy=meter.entropy,
            details=tuple(details),
            groups=tuple(
                GroupEffect(
                    tuple(table.names[x] for x in sorted(group)),
                    meter.together(group),
                    sum(meter.bits(sorted(group), EMPTY)),
                )
                for group in sorted(groups, key=lambda group: (len(group), sorted(group)))
            ),
        )

    def rank(self, supplement: Supplement) -> Ranking:
        """Order all columns by what they tell about the target."""
        table = find_table(supplement, "ranking()")
        meter, witnesses = open_meter(supplement, table)
        blanket = frozenset(witnesses)
        outside = frozenset(range(table.n_columns)) - blanket - {meter.target}
        session = open_session(table, supplement.parameters, supplement.test)
        bound = largest_separator(session, len(blanket))
        separators = session.separators.find(meter.target, outside, blanket, bound)
        measured = {x: meter.of_member(x, blanket - {x}, witnesses[x] or EMPTY) for x in blanket}
        measured |= meter.of_others(sorted(outside), blanket, separators)
        order = sorted(
            measured, key=lambda x: (x in outside, -measured[x].added, -measured[x].alone, x)
        )

        def named(positions: Variables | None) -> tuple[Name, ...] | None:
            return None if positions is None else tuple(table.names[z] for z in sorted(positions))

        return Ranking(
            target=supplement.target,
            columns=tuple(
                Ranked(
                    rank=rank,
                    column=table.names[x],
                    is_member=x in blanket,
                    added=measured[x].added,
                    alone=measured[x].alone,
                    given=named(measured[x].given) or (),
                    complete=measured[x].is_complete,
                    separator=named(separators.get(x)),
                )
                for rank, x in enumerate(order, start=1)
            ),
        )

    def join(self, supplements: Sequence[Supplement], symmetry: Symmetry) -> NamedNetwork:
        """Join the blankets of several targets to a network."""
        answers = open_answers(supplements[0], "to_networkx()")
        blankets = {
            answers.position(supplement.target): answers.witnesses(supplement)
            for supplement in supplements
        }
        bound = largest_separator(answers.session, max(map(len, blankets.values())))
        known = answers.directions(supplements[0], {*blankets}.union(*blankets.values()))
        network = find_network(answers.session, blankets, bound, symmetry, known)
        return NamedNetwork(
            edges=[(answers.names[a], answers.names[b]) for a, b in network.edges],
            directed={(answers.names[a], answers.names[b]) for a, b in network.directed},
            groups=[answers.named(group) for group in network.groups],
        )


def find_table(supplement: Supplement, wanted: str) -> DiscreteTable:
    """Return the table of a blanket, or say that there is none."""
    data: Any = supplement.data
    if data is not None and not isinstance(data, DiscreteTable):
        raise DataError(
            f"A blanket in a network or graph has no {wanted}: it has no rows to measure on. "
            "Search a table, such as network.sample(1000)."
        )
    if data is None:
        _refuse_without_data(wanted)
    return data


def open_meter(
    supplement: Supplement, table: DiscreteTable
) -> tuple[InformationMeter, dict[int, Variables | None]]:
    """Return what measures information on a target, and the members with their witnesses."""
    witnesses = {
        table.index(name): None if witness is None else frozenset(map(table.index, witness))
        for name, witness in supplement.witnesses.items()
    }
    seed = supplement.parameters.get("seed") or 0
    return InformationMeter(table, table.index(supplement.target), seed), witnesses


def _refuse_without_data(wanted: str) -> NoReturn:
    raise ParameterError(
        f"'data' must be at hand for the {wanted.removesuffix('()')} of a blanket that was pickled "
        "or read from a record, or has let go of its table. Pass the table: "
        f"blanket.with_table(table).{wanted}."
    )


def open_answers(supplement: Supplement, wanted: str) -> Answers:
    """Ask whom the search asked, or say that there are no data."""
    data: Any = supplement.data
    if data is None:
        _refuse_without_data(wanted)
    if isinstance(data, DiscreteTable):
        session = open_session(data, supplement.parameters, supplement.test, is_required_told=True)
        return Answers(session, data.names)
    truth = open_truth(data)
    assert truth is not None  # a search has answered from it
    return Answers(truth.session, truth.names)


def largest_separator(session: Session, n_members: int) -> int:
    """How many members a separator may have: with an oracle all, as far as that is affordable.

    Examples
    --------
    >>> from komb.sessions.data import DataSession
    >>> from komb.data.models.boolean_functions import boolean_table
    >>> session = DataSession(boolean_table("and", 500))
    >>> [largest_separator(session, n_members) for n_members in (2, 10, 25, 300)]
    [2, 3, 1, 1]
    """
    size = n_members if session.n_rows is None else min(MAX_SEPARATOR, n_members)
    n_pairs = n_members * (n_members + 1) // 2
    while size > 1 and n_pairs * count_subsets(n_members - 1, size) > MOST_TESTS:
        size -= 1
    return size
