"""What each member of a blanket is to the target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from komb.data.names import Name
from komb.results.export import Result, columns_of
from komb.results.record import Record
from komb.views.effects_text import implied_sheet, roles_sheet, show_role
from komb.views.text import Sheet, plural

Kind: TypeAlias = Literal["neighbour", "spouse", "partner", "by request", "implied", "undecided"]
Direction: TypeAlias = Literal["cause", "effect", "undecided"]


@dataclass(frozen=True, slots=True)
class Role(Record):
    """What one member is to the target, or a column that a member implies.

    Attributes
    ----------
    name
        The member.
    kind
        ``"neighbour"``: no set of other members separates it from the target; in a Bayesian network
        a parent or a child. ``"spouse"``: some set does, but given a common child it depends on the
        target. ``"partner"``: it depends on the target only together with other members, none of
        which is such a child. ``"by request"``: nothing but ``include`` put it there.
        ``"implied"``: no member, but a cause of a child of the target.
        ``"undecided"``: some set separates it, and no child or partner tells why it is a member.
    direction
        Of a neighbour: ``"cause"``, ``"effect"`` or ``"undecided"``. ``None`` for others.
    separator
        The members that separate it from the target; ``None`` if none do.
    children
        Of a spouse, or of what is implied: the children that it has in common with the target.
    partners
        Members together with which it depends on the target.

    Examples
    --------
    >>> print(Role("smoke", "neighbour", "cause"))
    cause
    >>> print(Role("tub", "spouse", separator=(), children=("either",)))
    spouse through either
    """

    name: Name
    kind: Kind
    direction: Direction | None = None
    separator: tuple[Name, ...] | None = None
    children: tuple[Name, ...] = ()
    partners: tuple[Name, ...] = ()

    def __str__(self) -> str:
        return show_role(self)


class Roles(Result, Mapping[Name, Role]):
    """What the members of a blanket are to the target: a mapping from member to :class:`Role`.

    ``to_frame`` has a row per member, with the attributes of :class:`Role`.
    """

    __slots__ = ("_by_name", "target")

    def __init__(self, target: Name, roles: Mapping[Name, Role]) -> None:
        self.target = target
        self._by_name = dict(roles)

    def __getitem__(self, name: Name) -> Role:
        return self._by_name[name]

    def __iter__(self) -> Iterator[Name]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def __repr__(self) -> str:
        return f"Roles({self.target!r}: {plural(len(self), 'member')})"

    def to_dict(self) -> dict[Name, dict[str, Any]]:
        """Return everything as dictionaries and lists, by member."""
        return {name: role.to_dict() for name, role in self.items()}

    def _columns(self) -> dict[str, list[Any]]:
        names = ("name", "kind", "direction", "separator", "children", "partners")
        return columns_of(self.values(), names, "member")

    def _sheet(self) -> Sheet:
        return roles_sheet(self)


class Implied(Roles):
    """The columns outside a blanket that are joined with its members: a mapping to :class:`Role`.

    Those of the kind ``"implied"`` cause a child of the target, and so are in the blanket of the
    graph; of those that are ``"undecided"`` the rows do not tell whether they do. ``graph_blanket``
    has the members and what is implied, in the order of the table.
    """

    __slots__ = ("graph_blanket",)

    def __init__(
        self, target: Name, roles: Mapping[Name, Role], graph_blanket: tuple[Name, ...]
    ) -> None:
        super().__init__(target, roles)
        self.graph_blanket = graph_blanket

    @property
    def names(self) -> tuple[Name, ...]:
        """The columns that are implied, without those that are undecided."""
        return tuple(name for name, role in self.items() if role.kind == "implied")

    def __repr__(self) -> str:
        return f"Implied({self.target!r}: {plural(len(self.names), 'column')})"

    def _sheet(self) -> Sheet:
        return implied_sheet(self)
