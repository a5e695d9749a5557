"""What each member of a blanket is to the target.

>>> import komb
>>> blanket = komb.markov_blanket(komb.boolean_table("parity", 500, n_parents=2), "Y")
>>> print(blanket.roles()["X1"])
partner of X2
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from komb.data.names import Name
from komb.results.record import NAMES, Record
from komb.views.roles_text import show_role

Kind: TypeAlias = Literal["neighbour", "spouse", "partner", "by request", "undecided"]
Direction: TypeAlias = Literal["cause", "effect", "undecided"]


@dataclass(frozen=True, slots=True)
class Role(Record):
    """What one member is to the target.

    Attributes
    ----------
    name
        The member.
    kind
        ``"neighbour"``: no set of other members separates it from the target; in a Bayesian network
        a parent or a child. ``"spouse"``: some set does, but given a common child it depends on the
        target. ``"partner"``: it depends on the target only together with other members, none of
        which is such a child. ``"by request"``: nothing but ``include`` put it there.
        ``"undecided"``: some set separates it, and no child or partner tells why it is a member.
    direction
        Of a neighbour: ``"cause"``, ``"effect"`` or ``"undecided"``. ``None`` for others.
    separator
        The members that separate it from the target; ``None`` if none do.
    children
        Of a spouse: the children that it has in common with the target.
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
    separator: tuple[Name, ...] | None = field(default=None, metadata=NAMES)
    children: tuple[Name, ...] = field(default=(), metadata=NAMES)
    partners: tuple[Name, ...] = field(default=(), metadata=NAMES)

    def __str__(self) -> str:
        return show_role(self)
