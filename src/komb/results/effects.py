r"""What each member of a blanket tells about the target, in bits per row; and all columns by it.

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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from komb.data.names import Name
from komb.errors import UnknownNameError
from komb.results.export import Drawn, Named, columns_of
from komb.results.record import Record
from komb.views.effects_text import effects_sheet, ranking_sheet
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


_RANKING_COLUMNS = (
    "rank", "column", "is_member", "added", "alone", "given", "complete", "separator",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ranked(Record):
    """One column in a ranking.

    Attributes
    ----------
    rank
        From 1.
    column
        Its name.
    is_member
        Whether it is in the blanket.
    added
        Bits per row that it adds to ``given``: ``I(Y; X | given)``, less what independence gives.
    alone
        ``I(Y; X)``, likewise.
    given
        What ``added`` is conditioned on: all (other) members, if there are rows enough; else of a
        member as in :class:`~komb.results.effects.Effect`, of another column what separates it,
        or as many members as the rows allow.
    complete
        Whether those are all (other) members.
    separator
        The members given which the column is independent of the target: none of them if it is
        marginally independent. ``None`` for members, and where no small set separates it.
    """

    rank: int
    column: Name
    is_member: bool
    added: float
    alone: float
    given: tuple[Name, ...]
    complete: bool
    separator: tuple[Name, ...] | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Ranking(Record, Drawn, Sequence[Ranked]):
    """All columns of a table: the members of a blanket first, then the others.

    Members are in the order in which they enter, each time the one with most evidence given those
    before it, so that the first ``k`` are a good choice of that size; what shows only together
    enters together. Others follow by what is left of them given the blanket. ``ranking[0]`` is the
    first, ``ranking.of(name)`` the one of that name.

    Attributes
    ----------
    target
        Whose blanket it is.
    columns
        All other columns, in order.

    Examples
    --------
    >>> import komb
    >>> table = komb.boolean_table("and", 500, n_parents=2, n_irrelevant=2)
    >>> ranking = komb.markov_blanket(table, "Y").ranking()
    >>> ranking
    Ranking('Y': 4 columns, 2 of them members)
    >>> [entry.column for entry in ranking if entry.is_member]
    ['X2', 'X1']

    Notes
    -----
    ``to_frame`` has a row per column, with columns ``rank``, ``column``, ``is_member``, ``added``,
    ``alone``, ``given`` (a list), ``complete`` and ``separator`` (a list or null).
    """

    target: Name
    columns: tuple[Ranked, ...]

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[Ranked]:
        return iter(self.columns)

    @overload
    def __getitem__(self, index: int) -> Ranked: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Ranked]: ...

    def __getitem__(self, index: int | slice) -> Ranked | Sequence[Ranked]:
        return self.columns[index]

    def of(self, column: Name) -> Ranked:
        """Return the entry of a column.

        Examples
        --------
        >>> import komb
        >>> table = komb.boolean_table("and", 500, n_parents=2, n_irrelevant=2)
        >>> komb.markov_blanket(table, "Y").ranking().of("E1").is_member
        False
        """
        for entry in self.columns:
            if entry.column == column:
                return entry
        raise UnknownNameError.among("column", column, [entry.column for entry in self.columns])

    def __repr__(self) -> str:
        n_members = sum(entry.is_member for entry in self.columns)
        count = plural(len(self), "column")
        return f"Ranking({self.target!r}: {count}, {n_members} of them members)"

    def _sheet(self) -> Sheet:
        return ranking_sheet(self)

    def _columns(self) -> dict[str, list[Any]]:
        return columns_of(self.columns, _RANKING_COLUMNS)

    def _draw(self, ax: Axes | None) -> Axes:
        from komb.views.pictures.bars import plot_ranking

        return plot_ranking(self, ax)
