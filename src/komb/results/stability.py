r"""How often a member is found again in half of the rows.

Complementary pairs stability selection (Shah & Samworth 2013, *Variable selection with error
control: another look at stability selection*, JRSS B 75(1)): the rows are split at random into two
halves, the same search is run on each, and that is done again and again. The share of half-samples
in which a column is found says how much its place depends on the rows that happen to be there.

Their Theorem 1 bounds chance. Let :math:`L_\theta` be the columns that a search on half of the rows
finds with a probability of at most :math:`\theta`. Of the columns :math:`S_\tau` whose share is at
least :math:`\tau > 1/2`, on average at most

.. math:: E|S_\tau \cap L_\theta| \le \frac{\theta}{2\tau - 1} E|S_{n/2} \cap L_\theta|

are in :math:`L_\theta`. With :math:`\theta = q/p` (:math:`q` is the average size of the blankets of
half-samples, estimated by those that were searched, :math:`p` the number of candidates),
:math:`L_\theta` are the columns that are found no more often than one taken at random, and the
bound is at most :math:`q^2 / (p (2\tau - 1))`. Nothing is assumed about the search or the data, but
that rows are independent draws. It bounds columns that are *unlikely to be found*, which is not
quite the same as columns outside the true blanket: what a search errs on systematically is found
every time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from komb.data.names import FrozenMapping, Name
from komb.errors import ParameterError
from komb.results.export import Result
from komb.results.record import Record
from komb.views.effects_text import stability_sheet
from komb.views.text import Sheet, plural

THRESHOLD = 0.6
"""Share from which a column counts as found again and again."""


@dataclass(frozen=True, slots=True)
class Group(Record):
    """Columns that were found together, and how often.

    Attributes
    ----------
    columns
        A member and its witness, in the order of the table; which of them is the member does not
        matter.
    share
        Of the half-samples in which they were found together.
    """

    columns: tuple[Name, ...]
    share: float


@dataclass(frozen=True, slots=True, repr=False)
class Stability(Record, Result):
    """How often columns and groups are found in half of the rows.

    Attributes
    ----------
    target
        Whose blanket was searched.
    members
        Of the blanket that all rows give.
    n_halves
        Half-samples that were searched: complementary pairs, so an even number.
    shares
        For each column that was found at all, the share of half-samples that it was found in; in
        the order of the table. Shares depend on the seed and on the order of the rows, the blanket
        does not.
    groups
        The same for columns that were found together, the most frequent first.
    mean_size
        Of the blankets of half-samples, without members by request.
    n_candidates
        Columns that could be found.
    seconds
        Time of all half-samples together.
    replaceable
        For each member with alternatives (:attr:`komb.Blanket.equivalents`), the share of
        half-samples in which it or one of these was found.

    Examples
    --------
    >>> stability = Stability("Y", ("X1",), 50, {"X1": 0.98, "E1": 0.04}, (), 1.02, 20)
    >>> stability.share("X1"), stability.share("never found")
    (0.98, 0.0)
    >>> round(stability.bound, 2), round(stability.bound_at(0.9), 2)
    (0.26, 0.07)
    """

    target: Name
    members: tuple[Name, ...]
    n_halves: int
    shares: Mapping[Name, float] = field(hash=False)
    groups: tuple[Group, ...]
    mean_size: float
    n_candidates: int
    seconds: float = field(default=0.0, compare=False)
    replaceable: Mapping[Name, float] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "shares", FrozenMapping(self.shares))
        object.__setattr__(self, "replaceable", FrozenMapping(self.replaceable))

    def share(self, column: Name) -> float:
        """Return the share of half-samples that a column was found in."""
        return self.shares.get(column, 0.0)

    def group_share(self, columns: Iterable[Name]) -> float:
        """Return the share of half-samples that columns were found together in.

        Examples
        --------
        >>> groups = (Group(("X1", "X2"), 0.9),)
        >>> stability = Stability("Y", ("X1",), 50, {"X1": 0.9, "X2": 0.9}, groups, 1.8, 20)
        >>> stability.group_share(["X2", "X1"]), stability.group_share(["X1", "E1"])
        (0.9, 0.0)
        """
        wanted = frozenset(columns)
        return next((g.share for g in self.groups if frozenset(g.columns) == wanted), 0.0)

    @property
    def threshold(self) -> float:
        """Share from which a column counts as found again and again."""
        return THRESHOLD

    @property
    def bound(self) -> float:
        """Largest expected number of columns found by chance, at a share of ``threshold``."""
        return self.bound_at(THRESHOLD)

    def bound_at(self, threshold: float) -> float:
        """Bound the expected number of columns with at least this share that are there by chance.

        By chance: columns that the search finds in half of the rows no more often than a column
        taken at random (Shah & Samworth 2013, Theorem 1; the module says more).

        Parameters
        ----------
        threshold
            Above 0.5, at most 1.
        """
        if not 0.5 < threshold <= 1:
            remedy = f"Try {THRESHOLD}; a higher one has fewer columns by chance."
            raise ParameterError.because(
                "threshold", "be above 0.5 and at most 1", threshold, remedy
            )
        return self.mean_size**2 / (max(self.n_candidates, 1) * (2 * threshold - 1))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as dictionaries and lists, with the bound.

        Examples
        --------
        >>> groups = (Group(("X1", "X2"), 0.5),)
        >>> stability = Stability("Y", ("X1",), 2, {"X1": 1.0}, groups, 1.0, 10)
        >>> stability.to_dict()["groups"], stability.to_dict()["bound"]
        ([{'columns': ['X1', 'X2'], 'share': 0.5}], 0.5)
        >>> Stability.from_dict(stability.to_dict()) == stability
        True
        """
        bound = {"threshold": THRESHOLD, "bound": round(self.bound, 12)}
        return Record.to_dict(self) | bound

    def __repr__(self) -> str:
        return f"Stability({self.target!r}: {plural(self.n_halves, 'half-sample')})"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "column": list(self.shares),
            "share": list(self.shares.values()),
            "is_member": [name in self.members for name in self.shares],
        }

    def _sheet(self) -> Sheet:
        return stability_sheet(self)
