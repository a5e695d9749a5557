"""What a blanket can tell beyond the search, computed when it is first asked for.

A blanket and its members share one supplement. It knows the blanket as plain values and not as an
object, so neither keeps the other alive, nor the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from komb.citests.plugins import is_ours
from komb.citests.registry import tests
from komb.data.frozen_mapping import FrozenMapping
from komb.data.table import DiscreteTable
from komb.results.engine import load_engine

if TYPE_CHECKING:
    from komb.data.encode.codes import Name
    from komb.results.effects import Effects
    from komb.results.roles import Role

Witnesses = Mapping["Name", "tuple[Name, ...] | None"]


class Supplement:
    """Roles and effect sizes of the members of one blanket.

    Parameters
    ----------
    target
        Whose blanket it is.
    witnesses
        The members, each with its witness; ``None`` for one by request.
    parameters
        Of the search, with what it chose.
    data
        The table that was searched, or the model that answered; ``None`` if it is not at hand.
    test
        A test of the user's own that the search used.
    """

    __slots__ = ("_effects", "_roles", "data", "parameters", "target", "test", "witnesses")

    def __init__(
        self,
        target: Name,
        witnesses: Witnesses,
        parameters: Mapping[str, Any],
        data: Any = None,
        test: Callable[..., Any] | None = None,
    ) -> None:
        self.target = target
        self.witnesses = witnesses
        self.parameters = parameters
        self.data = data
        self.test = test
        self._roles: FrozenMapping[Name, Role] | None = None
        self._effects: Effects | None = None

    @property
    def roles(self) -> FrozenMapping[Name, Role]:
        """What each member is to the target."""
        if self._roles is None:
            self._roles = FrozenMapping(load_engine().find_roles(self))
        return self._roles

    @property
    def effects(self) -> Effects:
        """How much each member tells about the target."""
        if self._effects is None:
            self._effects = load_engine().measure_effects(self)
        return self._effects

    @property
    def effects_at_hand(self) -> Effects | None:
        """The same, if it is known or there is a table to measure on; ``None`` otherwise."""
        if self._effects is None and not self._has_rows:
            return None
        return self.effects

    @property
    def _has_rows(self) -> bool:
        """Whether there is a table that can be gone through quickly."""
        return isinstance(self.data, DiscreteTable) and self.data.is_in_memory

    @property
    def roles_known(self) -> Mapping[Name, Role]:
        """The roles, if they are known or can be found; empty otherwise."""
        return {} if self._roles is None and self.data is None else self.roles

    @property
    def roles_at_hand(self) -> Mapping[Name, Role]:
        """The roles, if they are known or quickly found; empty otherwise."""
        return {} if self._roles is None and not self.is_quick else self.roles

    @property
    def is_quick(self) -> bool:
        """Whether data are at hand, and their tests are komb's own and draw nothing at random."""
        if self.data is None or self.test is not None:
            return False
        if not isinstance(self.data, DiscreteTable):
            return True  # an oracle
        if not self.data.is_in_memory:
            return False
        known = tests().get(self.parameters["test"])
        return known is not None and is_ours(known.implementation) and not known.is_random

    def note(self, roles: Mapping[Name, Role] | None, effects: Effects | None) -> None:
        """Take over what is known already, from a record or another supplement."""
        self._roles = None if roles is None else FrozenMapping(roles)
        self._effects = effects

    @property
    def noted(self) -> tuple[FrozenMapping[Name, Role] | None, Effects | None]:
        """What is known already."""
        return self._roles, self._effects
