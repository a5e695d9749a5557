"""What a search found: the blanket of one target.

>>> import komb
>>> blanket = komb.markov_blanket(komb.boolean_table("parity", 500, n_parents=2), "Y")
>>> blanket.members
('X1', 'X2')
>>> blanket["X1"].witness
('X2',)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Self

from komb.data.encode.codes import Name
from komb.data.encode.column_types import ColumnType
from komb.data.frozen_mapping import FrozenMapping
from komb.errors import UnknownNameError
from komb.results.effects import Effects
from komb.results.engine import load_engine
from komb.results.export import Result
from komb.results.member import Member, member_columns
from komb.results.ranking import Ranking
from komb.results.record import (
    BY_COLUMN,
    NAMES,
    PARAMETERS,
    Record,
    by_key,
    merged,
    records_by_column,
    several,
    single,
)
from komb.results.remarks import Remarks
from komb.results.roles import Role
from komb.results.stability import Stability
from komb.results.supplement import Supplement
from komb.search.task import Choice, Leak, Omission, Sight
from komb.views.blanket_text import blanket_sheet
from komb.views.choices_text import choice_in_words
from komb.views.text import Sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from komb.data.table import DiscreteTable
    from komb.results.explanation import Explanation


class _WithSupplement:
    """Room for what is no part of a result: neither compared nor exported."""

    __slots__ = ("_supplement",)

    _supplement: Supplement


@dataclass(frozen=True, slots=True, repr=False)
class Blanket(_WithSupplement, Record, Result, Collection[Name]):
    """The Markov blanket of one target.

    A blanket is a collection of column names: ``len``, ``in`` and iteration work as expected, and
    ``blanket[name]`` is the :class:`Member` of that name.

    Attributes
    ----------
    target
        Whose blanket it is.
    details
        The members with their witness and evidence, in the order of the table.
    method
        The algorithm.
    parameters
        What it was run with: ``order``, ``max_separator``, ``max_conditioning``, ``level`` and
        ``time_budget`` (``None`` where the method has no such thing or nothing was said),
        ``alpha``, ``test``, ``df``, ``start``, ``include``, ``exclude``, ``types``, ``discretize``
        and ``missing``; ``bins`` if columns were cut into bins, ``na_values`` if there were any,
        and ``seed`` if random numbers were drawn.
    n_rows
        How many rows the table has.
    n_columns
        How many columns it has, without those that are left out.
    tests
        How many conditional-independence tests were computed.
    tables
        How many joint tables were counted to compute them.
    fallbacks
        How many of the tests were decided by the fall-back for thin tables: stochastic complexity,
        for test ``"g-sci"``.
    unreliable
        How many of the tests were decided on a table too thin for the test.
    identifiers
        Columns that identify rows: those that were left out for it, and those with more than half
        as many levels as there are rows, better excluded.
    cuts
        The cut points of each column that was cut into bins; ``discretize=blanket.cuts`` cuts other
        data in the same places. A column without cut points was constant for the search.
    choices
        What the search chose where it was left to it, each with a ``value`` and a ``reason``:
        ``order``, ``max_separator``, ``alpha``, and the ``threshold`` that the p-value of a member
        that is marginally dependent had to reach. Empty if nothing was.
    seconds
        Time of the search. Two blankets that differ only in the work they took (tests, tables,
        fallbacks, unreliable, seconds) are equal.
    remarks
        What else the search has to say; in parts ``equivalents``, ``leaks``, ``sight`` and
        ``omissions``.
    stability
        How often members and groups were found in half of the rows; ``None`` if that was not asked
        for.
    types
        What each column was found to be and how it was treated, a :class:`komb.ColumnType`; those
        that were left out are among them. ``types=blanket.types`` gives other data the same types.
        Empty if types were not to be found.

    Examples
    --------
    >>> import komb
    >>> blanket = komb.markov_blanket(komb.boolean_table("parity", 500, n_parents=2), "Y")
    >>> blanket
    Blanket('Y': 'X1', 'X2')
    >>> len(blanket), "X1" in blanket, list(blanket)
    (2, True, ['X1', 'X2'])

    Notes
    -----
    ``to_frame`` has a row per member, with columns ``member``, ``witness`` (a list, null for a
    member by request), ``statistic``, ``df``, ``p_value``, ``test``, ``reliable``,
    ``stability``, and ``role``, ``direction``, ``children`` and ``partners`` (lists) as in
    :attr:`roles`; the last four are null if the data are not at hand.
    """

    target: Name
    details: tuple[Member, ...] = field(metadata=several(Member))
    method: str
    parameters: Mapping[str, Any] = field(hash=False, metadata=PARAMETERS)
    n_rows: int
    n_columns: int
    tests: int = field(compare=False)
    tables: int = field(compare=False)
    fallbacks: int = field(default=0, compare=False)
    unreliable: int = field(default=0, compare=False)
    identifiers: tuple[Name, ...] = field(default=(), metadata=NAMES)
    cuts: Mapping[Name, tuple[float, ...]] = field(
        default_factory=dict, hash=False, metadata=BY_COLUMN
    )
    choices: Mapping[str, Choice] = field(default_factory=dict, hash=False, metadata=by_key(Choice))
    seconds: float = field(default=0.0, compare=False)
    remarks: Remarks = field(default_factory=Remarks, metadata=merged(Remarks))
    stability: Stability | None = field(default=None, metadata=single(Stability))
    types: Mapping[Name, ColumnType] = field(
        default_factory=dict, compare=False, metadata=records_by_column(ColumnType)
    )

    def __post_init__(self) -> None:
        for key in ("parameters", "cuts", "types"):
            object.__setattr__(self, key, FrozenMapping(getattr(self, key)))
        choices = {name: choice_in_words(choice) for name, choice in self.choices.items()}
        object.__setattr__(self, "choices", FrozenMapping(choices))
        self._supply(None, None)

    def _supply(self, data: Any, test: Callable[..., Any] | None) -> None:
        """Give the blanket and its members a supplement."""
        witnesses = {member.name: member.witness for member in self.details}
        supplement = Supplement(self.target, witnesses, self.settled_parameters, data, test)
        object.__setattr__(self, "_supplement", supplement)
        details = tuple(member.bound_to(supplement) for member in self.details)
        object.__setattr__(self, "details", details)

    def with_table(self, table: DiscreteTable | None) -> Blanket:
        """Return an equal blanket that has the table at hand which :meth:`explain` asks.

        A blanket fresh from a search has it; one that was pickled, or read from JSON, has not.

        Parameters
        ----------
        table
            The table that the blanket was found in, without the columns that were excluded; or the
            network or graph, if it was found in one. ``None`` lets go of it, and frees its memory.

        Examples
        --------
        >>> import komb, pickle
        >>> table = komb.boolean_table("parity", 500, n_parents=2)
        >>> blanket = pickle.loads(pickle.dumps(komb.markov_blanket(table, "Y")))
        >>> blanket.with_table(table).explain()
        Explanation('Y': 2 members, 0 left out, 0 unrelated)
        """
        return self._resupplied(table, self._supplement.test)

    def with_test(self, test: Callable[..., Any]) -> Blanket:
        """Return an equal blanket that has the user's own test at hand which :meth:`explain` asks.

        Parameters
        ----------
        test
            The function or class that was passed to the search as ``test``.

        Examples
        --------
        >>> import komb
        >>> blanket = komb.markov_blanket({"x": [0, 1] * 9, "y": [0, 1] * 9}, "y")
        >>> blanket.with_test(max) == blanket
        True
        """
        return self._resupplied(self._supplement.data, test)

    def _resupplied(self, data: Any, test: Callable[..., Any] | None) -> Blanket:
        blanket = replace(self)
        blanket._supply(data, test)
        blanket._supplement.note(*self._supplement.noted)
        return blanket

    def __copy__(self) -> Blanket:
        return self  # nothing in it can change

    def __deepcopy__(self, memo: object) -> Blanket:
        return self

    @property
    def settled_parameters(self) -> dict[str, Any]:
        """The parameters, with what the search chose where nothing was said.

        Examples
        --------
        >>> import komb
        >>> blanket = komb.markov_blanket(komb.boolean_table("parity", 500), "Y")
        >>> blanket.parameters["order"], blanket.settled_parameters["order"]
        (None, 2)
        """
        settled = dict(self.parameters)
        for name in ("order", "max_separator"):
            if settled.get(name) is None and name in self.choices:
                settled[name] = self.choices[name].value
        return settled

    @property
    def members(self) -> tuple[Name, ...]:
        """The names of the members, in the order of the table."""
        return tuple(member.name for member in self.details)

    @property
    def equivalents(self) -> dict[Name, tuple[tuple[Name, ...], ...]]:
        """For a member, other sets of columns that could replace it.

        Copies of the member, or columns that determine it: the data cannot tell which of them
        matters.
        """
        return dict(self.remarks.equivalents)

    @property
    def leaks(self) -> tuple[Leak, ...]:
        """Columns that alone determine the target, or nearly do, with the share they explain."""
        return self.remarks.leaks

    @property
    def sight(self) -> tuple[Sight, ...]:
        """For each order that was searched, the weakest dependence that could be found."""
        return self.remarks.sight

    @property
    def omissions(self) -> tuple[Omission, ...]:
        """What the search left out, why, and roughly what it would have cost."""
        return self.remarks.omissions

    def __len__(self) -> int:
        return len(self.details)

    def __iter__(self) -> Iterator[Name]:
        return iter(self.members)

    def __contains__(self, name: object) -> bool:
        return name in self.members

    def __getitem__(self, name: Name) -> Member:
        for member in self.details:
            if member.name == name:
                return member
        raise UnknownNameError.among("member", name, self.members)

    def __repr__(self) -> str:
        listed = ", ".join(map(repr, self.members)) or "empty"
        return f"Blanket({self.target!r}: {listed})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Going through the constructor leaves the table behind, but not what is known by now.
        values = tuple(getattr(self, entry.name) for entry in fields(self))
        return _rebuild, (values, *self._supplement.noted)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as dictionaries and lists, names as they are in the table.

        Examples
        --------
        >>> import komb
        >>> blanket = komb.markov_blanket(komb.boolean_table("and", 500, n_parents=2), "Y")
        >>> record = blanket.to_dict()
        >>> record["members"], record["details"][0]["witness"], record["parameters"]["order"]
        (['X1', 'X2'], [], None)
        >>> Blanket.from_dict(record) == blanket
        True
        """
        members = {"target": self.target, "members": list(self.members)}
        roles = [role.to_dict() for role in self._supplement.roles_at_hand.values()]
        effects = self._supplement.effects_at_hand
        return (
            members
            | Record.to_dict(self)
            | {
                "roles": roles or None,
                "effects": None if effects is None else effects.to_dict(),
            }
        )

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Rebuild what :meth:`to_dict` returned, or what was parsed from its JSON.

        Parameters
        ----------
        record
            What ``to_dict`` returned. From JSON, names that are neither text nor numbers come back
            as text.

        Examples
        --------
        >>> import json, komb
        >>> blanket = komb.markov_blanket(komb.boolean_table("parity", 500, n_parents=2), "Y")
        >>> Blanket.from_dict(json.loads(blanket.to_json()))["X1"].partners
        ('X2',)
        """
        blanket = super(Blanket, cls).from_dict(record)
        roles, effects = record.get("roles"), record.get("effects")
        blanket._supplement.note(
            roles and {role.name: role for role in map(Role.from_dict, roles)},
            effects and Effects.from_dict(effects),
        )
        return blanket

    def _columns(self) -> dict[str, list[Any]]:
        return member_columns(self.details)

    def _sheet(self) -> Sheet:
        return blanket_sheet(self)

    def explain(self, data: object = None) -> Explanation:
        """Say why each member is in the blanket, and why other columns are not.

        Parameters
        ----------
        data
            The table that the blanket was found in. May be left out as long as the blanket has not
            been pickled, copied to another process or read from JSON.

        Returns
        -------
        Explanation
            Prints as sentences; ``explanation[name]`` has the tests behind each of them.

        Raises
        ------
        komb.errors.InputError
            If there are no data, or others than those that the blanket was found in.

        Notes
        -----
        Tests are computed when they are asked for here; the search does no more work for it. They
        come from the same test with the same settings.

        Examples
        --------
        >>> import komb
        >>> blanket = komb.markov_blanket(komb.boolean_table("parity", 500, n_parents=2), "Y")
        >>> print(blanket.explain()["X2"])
        depends on Y only given X1: G = ..., df 2, p < 1e-16; marginally p = 0....
        """
        return load_engine().explain(self, data)

    @property
    def roles(self) -> Mapping[Name, Role]:
        """What each member is to the target: neighbour, spouse or partner; cause or effect.

        Found when it is first asked for, with more tests of the same kind on the same table.

        Raises
        ------
        komb.errors.InputError
            If the data are not at hand, as after pickling: see :meth:`with_table`.

        Examples
        --------
        >>> import komb
        >>> network = komb.boolean_network("and", n_parents=2)
        >>> for name, role in komb.markov_blanket(network, "Y").roles.items():
        ...     print(name, "is a", role)
        X1 is a cause
        X2 is a cause
        """
        return self._supplement.roles

    @property
    def effects(self) -> Effects:
        """How much each member tells about the target, alone and beyond the others.

        Measured when it is first asked for, on the same table, whichever test was used.

        Raises
        ------
        komb.errors.InputError
            If the data are not at hand, as after pickling: see :meth:`with_table`.

        Examples
        --------
        >>> import komb
        >>> blanket = komb.markov_blanket(komb.boolean_table("parity", 2000, n_parents=2), "Y")
        >>> round(blanket.effects["X1"].synergy, 2)
        0.48
        """
        return self._supplement.effects

    def ranking(self) -> Ranking:
        """Order all columns, members or not, by what they tell about the target.

        Members come first, by what they add to the rest of the blanket; then the others, by what is
        left of them given the blanket, with what separates them from the target.

        Raises
        ------
        komb.errors.InputError
            If the data are not at hand, as after pickling: see :meth:`with_table`.

        Examples
        --------
        >>> import komb
        >>> table = komb.boolean_table("parity", 500, n_parents=2, n_irrelevant=3)
        >>> [entry.column for entry in komb.markov_blanket(table, "Y").ranking()][:2]
        ['X1', 'X2']
        """
        return load_engine().rank(self._supplement)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the target amid its members.

        A line is the thicker the stronger the evidence for its member; the p-value, or the bits, is
        written below the name. Members that depend on the target given each other are joined by a
        coloured area; a dotted line comes from a column that only the others are conditioned on.

        Parameters
        ----------
        ax
            Where to draw; if left out, on a new figure that fits.

        Returns
        -------
        matplotlib.axes.Axes
            ``blanket.plot().figure`` shows the picture in a notebook, and
            ``blanket.plot().figure.savefig("picture.png")`` writes it to a file.

        Raises
        ------
        komb.errors.MissingPackageError
            If matplotlib is not installed.

        Examples
        --------
        >>> import komb
        >>> blanket = komb.markov_blanket(komb.boolean_table("parity", 500, n_parents=2), "Y")
        >>> blanket.plot().get_title(loc="left")
        'Markov blanket of Y'
        """
        from komb.views.pictures.network import plot_blanket

        return plot_blanket(self, ax)


def _rebuild(
    values: tuple[Any, ...], roles: Mapping[Name, Role] | None, effects: Effects | None
) -> Blanket:
    """Unpickle a blanket."""
    blanket = Blanket(*values)
    blanket._supplement.note(roles, effects)
    return blanket
