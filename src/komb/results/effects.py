r"""How much each member of a blanket tells about the target, in bits per row.

``I(Y; X)`` is what a member ``X`` tells **alone**, and ``I(Y; X | R)`` what it **adds** to the rest
``R`` of the blanket: what would be lost without it. The two make three parts:

* **unique**, ``min(I(Y; X), I(Y; X | R))``: there with the others or without them;
* **synergy**, what it adds beyond that: there only together with others, as in ``Y = X1 xor X2``;
* **redundancy**, what it tells alone beyond that: others tell it too, as a copy does.

So ``alone = unique + redundancy`` and ``added = unique + synergy``. These are the identities of the
partial information decomposition (Williams & Beer 2010, *Nonnegative decomposition of multivariate
information*), and among its many versions the one with the largest unique part: whatever version
one prefers, its synergy and its redundancy are at least as large as these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from komb.data.names import Name
from komb.results.export import Drawn, Named, columns_of
from komb.results.record import Record
from komb.views.effects_text import effects_sheet
from komb.views.text import Sheet, plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FRAME_COLUMNS = (
    "name", "alone", "alone_low", "alone_high", "added", "added_low", "added_high",
    "unique", "synergy", "redundancy", "given", "complete",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Effect(Record):
    """How much one member tells about the target, in bits per row.

    Attributes
    ----------
    name
        The member.
    alone
        ``I(Y; X)``, less what independence gives: about 0 if there is nothing, or a little less.
    alone_low, alone_high
        An interval of about 95 % for it, from random halves of the rows.
    added
        ``I(Y; X | given)``, likewise.
    added_low, added_high
        Its interval.
    given
        The members that ``added`` is conditioned on.
    complete
        Whether those are all other members; with too few rows per cell they are not.

    Examples
    --------
    >>> effect = Effect("X1", 0.0, 0.0, 0.01, 0.53, 0.49, 0.57, ("X2",), True)
    >>> effect.unique, effect.synergy, effect.redundancy
    (0.0, 0.53, 0.0)
    """

    name: Name
    alone: float
    alone_low: float
    alone_high: float
    added: float
    added_low: float
    added_high: float
    given: tuple[Name, ...]
    complete: bool

    @property
    def unique(self) -> float:
        """What it tells with the others or without them."""
        return max(min(self.alone, self.added), 0.0)

    @property
    def synergy(self) -> float:
        """What it tells only together with others."""
        return max(self.added, 0.0) - self.unique

    @property
    def redundancy(self) -> float:
        """What others tell as well."""
        return max(self.alone, 0.0) - self.unique


@dataclass(frozen=True, slots=True)
class GroupEffect(Record):
    """How much a member and its witness tell about the target together, in bits per row.

    Attributes
    ----------
    columns
        The group, in the order of the table.
    together
        ``I(Y; group)``.
    alone
        The sum of what each of them tells alone.

    Examples
    --------
    >>> GroupEffect(("X1", "X2"), together=0.53, alone=0.01).synergy
    0.52
    """

    columns: tuple[Name, ...]
    together: float
    alone: float

    @property
    def synergy(self) -> float:
        """What is there only together."""
        return max(self.together - max(self.alone, 0.0), 0.0)


@dataclass(frozen=True, slots=True, repr=False)
class Effects(Record, Drawn, Named):
    """How much the members of a blanket tell about the target.

    ``effects[name]`` is the :class:`~komb.results.effects.Effect` of a member.

    Attributes
    ----------
    target
        Whose blanket it is.
    entropy
        Of the target, in bits: no column tells more.
    details
        The effects of the members, in the order of the table.
    groups
        The effects of members together with their witnesses.

    Examples
    --------
    >>> import komb
    >>> effects = komb.markov_blanket(komb.boolean_table("parity", 2000, n_parents=2), "Y").effects
    >>> effects
    Effects('Y': 2 members)
    >>> round(effects["X1"].alone, 2), round(effects["X1"].added, 2)
    (0.0, 0.48)

    Notes
    -----
    ``to_frame`` has a row per member, with columns ``member``, ``alone``, ``alone_low``,
    ``alone_high``, ``added``, ``added_low``, ``added_high``, ``unique``, ``synergy``,
    ``redundancy``, ``given`` (a list) and ``complete``. The picture stacks unique, synergy and
    redundancy as bars.
    """

    target: Name
    entropy: float
    details: tuple[Effect, ...]
    groups: tuple[GroupEffect, ...] = ()

    @property
    def _entries(self) -> dict[Name, Effect]:
        return {effect.name: effect for effect in self.details}

    def __getitem__(self, name: Name) -> Effect:
        effect: Effect = self._entry(name)
        return effect

    def __repr__(self) -> str:
        return f"Effects({self.target!r}: {plural(len(self), 'member')})"

    def _sheet(self) -> Sheet:
        return effects_sheet(self)

    def _columns(self) -> dict[str, list[Any]]:
        return columns_of(self.details, _FRAME_COLUMNS, "member")

    def _draw(self, ax: Axes | None) -> Axes:
        from komb.views.pictures.bars import plot_effects

        return plot_effects(self, ax)
