"""One column of a blanket, with the evidence for it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from komb.data.encode.codes import Name
from komb.results.record import NAMES, Record
from komb.search.structure.parts import Direction, Kind

if TYPE_CHECKING:
    from komb.results.roles import Role
    from komb.results.supplement import Supplement


ROLE_COLUMNS = ("role", "direction", "children", "partners")
"""Columns of a dataframe of members that are not known from the search."""


class _WithSupplement:
    """Room for what the member's blanket can tell beyond the search; no part of the member."""

    __slots__ = ("_supplement",)

    _supplement: Supplement


@dataclass(frozen=True, slots=True)
class Member(_WithSupplement, Record):
    """One column of a blanket, and why it is there.

    Attributes
    ----------
    name
        The column.
    witness
        The columns to condition on for the dependence on the target to become visible: empty for an
        ordinary dependence, ``None`` for a column that is there by request (``include``) alone.
    statistic
        Of the test of this column against the target given the witness; ``None`` without a test.
    df
        Degrees of freedom; ``None`` if the deciding test has none.
    p_value
        ``None`` if the deciding test has none.
    test
        Which test decided.
    reliable
        Whether the table was thick enough for that test to be trusted.
    stability
        Share of half-samples that the column was found in; ``None`` if none were searched.

    Examples
    --------
    >>> Member("age", ("sex",), 12.5, 2, 0.0019, "g", True).name
    'age'
    """

    name: Name
    witness: tuple[Name, ...] | None = field(metadata=NAMES)
    statistic: float | None = None
    df: float | None = None
    p_value: float | None = None
    test: str | None = None
    reliable: bool | None = None
    stability: float | None = None

    @property
    def is_by_request(self) -> bool:
        """Whether nothing but the caller's ``include`` put the column there."""
        return self.witness is None

    def bound_to(self, supplement: Supplement) -> Member:
        """Return an equal member that can ask what else is known of its blanket."""
        member = replace(self)
        object.__setattr__(member, "_supplement", supplement)
        return member

    @property
    def role(self) -> Kind | None:
        """What the member is to the target: ``"neighbour"``, ``"spouse"``, ``"partner"`` ...

        As in :attr:`Blanket.roles`; ``None`` if the data are not at hand.

        Examples
        --------
        >>> import komb
        >>> blanket = komb.markov_blanket(komb.boolean_table("parity", 500, n_parents=2), "Y")
        >>> blanket["X1"].role, blanket["X1"].partners
        ('partner', ('X2',))
        """
        return None if self._role is None else self._role.kind

    @property
    def direction(self) -> Direction | None:
        """Of a neighbour: ``"cause"``, ``"effect"`` or ``"undecided"``."""
        return None if self._role is None else self._role.direction

    @property
    def children(self) -> tuple[Name, ...]:
        """Of a spouse: the children that it has in common with the target."""
        return () if self._role is None else self._role.children

    @property
    def partners(self) -> tuple[Name, ...]:
        """Members together with which it depends on the target."""
        return () if self._role is None else self._role.partners

    @property
    def _role(self) -> Role | None:
        supplement = getattr(self, "_supplement", None)
        return None if supplement is None else supplement.roles_known.get(self.name)

    @property
    def _role_at_hand(self) -> Role | None:
        supplement = getattr(self, "_supplement", None)
        return None if supplement is None else supplement.roles_at_hand.get(self.name)

    @property
    def bits(self) -> float | None:
        """The evidence that the member depends on the target, in bits, whichever test decided.

        A p-value of 2^-b counts as b bits, and so does a code that is b bits shorter. ``None``
        without a test.

        Examples
        --------
        >>> Member("age", (), 9.0, 1, 0.25, "g", True).bits
        2.0
        """
        if self.statistic is None:
            return None
        if self.p_value is None:
            return max(self.statistic, 0.0)
        if self.p_value > 0 or not self.df:
            return -math.log2(self.p_value)
        import numpy as np

        from komb.citests.decision import log2_p_values

        return -float(log2_p_values(np.array([self.statistic]), np.array([self.df]))[0])


def member_columns(details: Iterable[Member]) -> dict[str, list[Any]]:
    """Return members as the columns of a dataframe.

    Examples
    --------
    >>> member_columns([Member("age", ("sex",))])["witness"]
    [['sex']]
    """
    names = ["member" if entry.name == "name" else entry.name for entry in fields(Member)]
    columns: dict[str, list[Any]] = {name: [] for name in (*names, *ROLE_COLUMNS)}
    for member in details:
        for name, value in zip(names, member.to_dict().values(), strict=True):
            columns[name].append(value)
        role = member._role_at_hand
        for name, value in zip(ROLE_COLUMNS, _role_cells(role), strict=True):
            columns[name].append(value)
    return columns


def _role_cells(role: Role | None) -> tuple[Any, ...]:
    if role is None:
        return (None,) * len(ROLE_COLUMNS)
    return role.kind, role.direction, list(role.children), list(role.partners)
