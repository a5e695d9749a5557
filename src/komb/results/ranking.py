"""All columns of a table, ordered by what they tell about the target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from komb.data.names import Name
from komb.errors import UnknownNameError
from komb.results.export import Drawn, columns_of
from komb.results.record import Record
from komb.views.ranking_text import ranking_sheet
from komb.views.text import Sheet, plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FRAME_COLUMNS = (
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
        return columns_of(self.columns, _FRAME_COLUMNS)

    def _draw(self, ax: Axes | None) -> Axes:
        from komb.views.pictures.bars import plot_ranking

        return plot_ranking(self, ax)
