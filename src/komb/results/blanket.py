"""What a search found: frozen objects that show themselves and can be exported.

>>> import komb
>>> blanket = komb.markov_blanket(komb.boolean_table("parity", 500, n_parents=2), "Y")
>>> blanket.members
('X1', 'X2')
>>> blanket["X1"].witness
('X2',)
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from komb.data.encode.bin_labels import show_numbers
from komb.data.frozen_mapping import FrozenMapping
from komb.errors import DataError, ParameterError, UnknownNameError
from komb.results.choices import choice_grids, from_records, to_records
from komb.results.export import (
    dump_json,
    from_entries,
    from_plain,
    known_fields,
    make_frame,
    to_entries,
    to_plain,
)
from komb.results.remarks import Remarks
from komb.results.stability import Stability
from komb.search.task import Choice, Leak, Omission, Sight
from komb.views.text import (
    NOTHING,
    Grid,
    Sheet,
    plural,
    show_freedom,
    show_name,
    show_names,
    show_p_value,
    show_seconds,
    show_statistic,
)

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd
    import polars as pl
    from matplotlib.axes import Axes
    from rich.console import RenderableType

    from komb.data.table import DiscreteTable
    from komb.results.explanation import Explanation

Name: TypeAlias = Hashable
Backend = Literal["polars", "pandas"]

_PLAIN_DECADES = 15  # smaller p-values are shown with one digit
_NAMES_WIDTH = 60  # characters of a list of names in a table
_MEMBER_HEADINGS = ("member", "seen together with", "statistic>", "df>", "p-value>", "test")
_MOST_CUTS = 5  # columns whose cut points are shown
_MOST_LEAKS = 10  # leaks that are told where there are many targets
_BLANKET_HEADINGS = ("target", "size>", "members", "tests>", "time>")


@dataclass(frozen=True, slots=True)
class Member:
    """One column of a blanket, and why it is there.

    Attributes
    ----------
    name
        The column.
    witness
        The columns that must be held fixed for the dependence on the target to show: empty for an
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
    witness: tuple[Name, ...] | None
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

    @property
    def bits(self) -> float | None:
        """How clearly the member depends on the target, whichever test said so.

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

    def to_dict(self) -> dict[str, Any]:
        """Return the member as a dictionary.

        Examples
        --------
        >>> Member("age", ("sex",)).to_dict()["witness"]
        ['sex']
        """
        record = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return record | {"witness": None if self.witness is None else list(self.witness)}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Member:
        """Rebuild a member from :meth:`to_dict`.

        Examples
        --------
        >>> Member.from_dict({"name": "age", "witness": []})
        Member(name='age', witness=(), statistic=None, df=None, p_value=None, test=None, ...)
        """
        values = known_fields(cls, record)
        if values["witness"] is not None:
            values["witness"] = tuple(values["witness"])
        return cls(**values)


class _WithTable:
    """Room for a table that is no part of a result: neither compared nor pickled nor exported."""

    __slots__ = ("_table",)

    _table: DiscreteTable | None


@dataclass(frozen=True, slots=True, repr=False)
class Blanket(_WithTable, Collection[Name]):
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
        ``alpha``, ``test``, ``df``, ``start``, ``include``, ``exclude``, ``discretize`` and
        ``missing``; ``bins`` if columns were cut into bins, and ``seed`` if random numbers were
        drawn.
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
        Columns with more than half as many levels as there are rows; better excluded.
    cuts
        The cut points of each column that was cut into bins; ``discretize=blanket.cuts`` cuts other
        data in the same places. A column without cut points was constant for the search.
    choices
        What the search chose where it was left to it, each with a ``value`` and a ``reason``:
        ``order``, ``max_separator``, ``alpha``, and the ``threshold`` that the p-value of a member
        seen alone had to reach. Empty if nothing was.
    seconds
        Time of the search. Two blankets that differ only in the work they took (tests, tables,
        fallbacks, unreliable, seconds) are equal.
    remarks
        What else the search has to say; in parts ``equivalents``, ``leaks``, ``sight`` and
        ``omissions``.
    stability
        How often members and groups were found in half of the rows; ``None`` if that was not asked
        for.

    Examples
    --------
    >>> import komb
    >>> blanket = komb.markov_blanket(komb.boolean_table("parity", 500, n_parents=2), "Y")
    >>> blanket
    Blanket('Y': 'X1', 'X2')
    >>> len(blanket), "X1" in blanket, list(blanket)
    (2, True, ['X1', 'X2'])
    """

    target: Name
    details: tuple[Member, ...]
    method: str
    parameters: Mapping[str, Any] = field(hash=False)
    n_rows: int
    n_columns: int
    tests: int = field(compare=False)
    tables: int = field(compare=False)
    fallbacks: int = field(default=0, compare=False)
    unreliable: int = field(default=0, compare=False)
    identifiers: tuple[Name, ...] = ()
    cuts: Mapping[Name, tuple[float, ...]] = field(default_factory=dict, hash=False)
    choices: Mapping[str, Choice] = field(default_factory=dict, hash=False)
    seconds: float = field(default=0.0, compare=False)
    remarks: Remarks = field(default_factory=Remarks)
    stability: Stability | None = None

    def __post_init__(self) -> None:
        for key in ("parameters", "cuts", "choices"):
            object.__setattr__(self, key, FrozenMapping(getattr(self, key)))
        object.__setattr__(self, "_table", None)

    def with_table(self, table: DiscreteTable | None) -> Blanket:
        """Return an equal blanket that has the table at hand which :meth:`explain` asks.

        A blanket fresh from a search has it; one that was pickled, or read from JSON, has not.

        Parameters
        ----------
        table
            The table that the blanket was found in, without the columns that were excluded.
            ``None`` lets go of it, and frees its memory.

        Examples
        --------
        >>> import komb, pickle
        >>> table = komb.boolean_table("parity", 500, n_parents=2)
        >>> blanket = pickle.loads(pickle.dumps(komb.markov_blanket(table, "Y")))
        >>> blanket.with_table(table).explain()
        Explanation('Y': 2 members, 0 left out, 0 unrelated)
        """
        blanket = replace(self)
        object.__setattr__(blanket, "_table", table)
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
        """For a member, other sets of columns that could stand in its place.

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
        """For each order that was looked at, the weakest dependence that could be seen."""
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

    def __str__(self) -> str:
        return self._sheet().to_text()

    def _repr_html_(self) -> str:
        return self._sheet().to_html()

    def __rich__(self) -> RenderableType:
        return self._sheet().to_rich()

    def __reduce__(self) -> tuple[type[Blanket], tuple[object, ...]]:
        # Going through the constructor leaves the table behind.
        return Blanket, tuple(getattr(self, entry.name) for entry in fields(self))

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
        record = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        details = [member.to_dict() for member in self.details]
        target = {"target": record.pop("target"), "members": list(self.members)}
        record |= {"identifiers": list(self.identifiers), "cuts": to_entries(self.cuts)}
        record["choices"] = to_records(self.choices)
        record |= record.pop("remarks").to_records()
        record["stability"] = None if self.stability is None else self.stability.to_dict()
        return target | record | {"details": details, "parameters": to_plain(self.parameters)}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Blanket:
        """Rebuild a blanket from :meth:`to_dict`, or from parsed :meth:`to_json`.

        Parameters
        ----------
        record
            What ``to_dict`` returned. From JSON, names that are neither text nor numbers come back
            as text.

        Examples
        --------
        >>> import json, komb
        >>> blanket = komb.markov_blanket(komb.boolean_table("and", 500), "Y")
        >>> Blanket.from_dict(json.loads(blanket.to_json())) == blanket
        True
        """
        values = known_fields(cls, record)
        values["details"] = tuple(Member.from_dict(member) for member in values["details"])
        values["identifiers"] = tuple(values.get("identifiers", ()))
        values["cuts"] = from_entries(values.get("cuts", []))
        values["parameters"] = from_plain(values["parameters"])
        values["choices"] = from_records(values.get("choices", {}))
        values["remarks"] = Remarks.from_records(record)
        if values.get("stability") is not None:
            values["stability"] = Stability.from_dict(values["stability"])
        return cls(**values)

    def to_json(self, *, indent: int | None = None) -> str:
        """Return everything as JSON.

        Parameters
        ----------
        indent
            Spaces a level; everything on one line if left out.

        Returns
        -------
        str
            Names that JSON has no type for are turned into text; there is no NaN or infinity.

        Examples
        --------
        >>> import komb
        >>> blanket = komb.markov_blanket(komb.boolean_table("and", 500, n_parents=2), "Y")
        >>> print(blanket.to_json(indent=2)[:43])
        {
          "target": "Y",
          "members": [
            "X1",
        """
        return dump_json(self.to_dict(), indent)

    @overload
    def to_frame(self, backend: Literal["polars"] = ...) -> pl.DataFrame: ...

    @overload
    def to_frame(self, backend: Literal["pandas"]) -> pd.DataFrame: ...

    def to_frame(self, backend: Backend = "polars") -> pl.DataFrame | pd.DataFrame:
        """Return the members as a dataframe, a row each.

        Parameters
        ----------
        backend
            ``"polars"`` or ``"pandas"``.

        Returns
        -------
        polars.DataFrame or pandas.DataFrame
            With columns ``member``, ``witness`` (a list, null for a member by request),
            ``statistic``, ``df``, ``p_value``, ``test``, ``reliable`` and ``stability``.

        Examples
        --------
        >>> import komb
        >>> blanket = komb.markov_blanket(komb.boolean_table("and", 500, n_parents=2), "Y")
        >>> blanket.to_frame()["member"].to_list()
        ['X1', 'X2']
        """
        return make_frame(_member_columns(self.details), backend)

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
        enters only together with X1: given it, G = ..., df 2, p < 1e-16; alone p = 0....
        """
        from komb.api.explain import explain_blanket

        table = self._table if data is None else self._check_data(data)
        if table is None:
            raise ParameterError(
                "'data' must be given to explain a blanket that was pickled or read from a record: "
                "it has no data with it. Pass the table: blanket.explain(data)."
            )
        witnesses = {member.name: member.witness for member in self.details}
        explanation = explain_blanket(
            table, self.target, witnesses, self.method, self.settled_parameters, self.choices,
            self.remarks,
        )  # fmt: skip
        if data is not None:
            self._check_explained(explanation)
        return explanation

    def _check_data(self, data: object) -> DiscreteTable:
        """Encode the table that the blanket was found in, or say why it cannot be the one."""
        from komb.data.table import DiscreteTable

        parameters = self.parameters
        treatment = {"discretize": self.cuts or None, "missing": parameters.get("missing", "error")}
        if isinstance(data, DiscreteTable):  # it has been cut already
            treatment = {}
        table = DiscreteTable.from_data(data, exclude=parameters.get("exclude", ()), **treatment)
        shape = (table.n_rows, table.n_columns)
        if shape != (self.n_rows, self.n_columns):
            found_in, got = (
                f"{plural(n_rows, 'row')} x {plural(n_columns, 'column')}"
                for n_rows, n_columns in ((self.n_rows, self.n_columns), shape)
            )
            raise DataError(
                f"'data' must be the table that the blanket was found in, {found_in}; got {got}. "
                "Pass that table, or search this one again."
            )
        for name in (self.target, *self.members):
            table.index(name)
        return table

    def _check_explained(self, explanation: Explanation) -> None:
        """Raise if a test says something else than it did in the search."""
        for member in self.details:
            reason = explanation[member.name]
            if member.statistic is None or reason.shown is None:
                continue
            if not math.isclose(member.statistic, reason.shown.statistic, rel_tol=1e-6):
                raise DataError(
                    "'data' must be the table that the blanket was found in; got one in which the "
                    f"statistic of {member.name!r} is {show_statistic(reason.shown.statistic)} "
                    f"instead of {show_statistic(member.statistic)}. Pass that table, or search "
                    "this one again."
                )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the target amid its members.

        A line is the thicker the clearer its member depends on the target; the p-value, or the bits
        saved, is written below the name. Members that are seen together are joined by a coloured
        area; a dotted line comes from a column that is held fixed for the others to be seen.

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
        from komb.views.pictures.network import Spoke, draw_blanket

        has_order = (
            self.settled_parameters.get("order") is not None
        )  # then every witness is a small one
        spokes = [
            Spoke(
                member.name,
                member.witness,
                member.bits,
                show_strength(member),
                not has_order and set(member.witness or ()) == {*self.members} - {member.name},
            )
            for member in self.details
        ]
        return draw_blanket(self.target, spokes, ax)

    def _sheet(self) -> Sheet:
        names = show_names(self.members, _NAMES_WIDTH) or "empty"
        return Sheet(
            title=f"Markov blanket of {show_name(self.target)}: {names}",
            facts=_show_run(self),
            grids=(
                self._member_grid(),
                *self._stability_grids(),
                *choice_grids(self.choices),
                *self.remarks.grids(),
            ),
            notes=tuple(self._notes()),
            warnings=tuple(self.remarks.warnings(self.target)),
        )

    def _member_grid(self) -> Grid:
        """Show each member, and below it what could stand in its place."""
        has_shares = self.stability is not None
        headings = (*_MEMBER_HEADINGS, "stability>") if has_shares else _MEMBER_HEADINGS
        rows: list[tuple[str, ...]] = []
        for member in self.details:
            rows.append(_show_member(member, has_shares=has_shares))
            empty = [""] * (len(headings) - 1)
            rows += [(line, *empty) for line in self.remarks.alternatives(member.name)]
        return Grid(headings, tuple(rows))

    def _stability_grids(self) -> tuple[Grid, ...]:
        if self.stability is None:
            return ()
        groups = [frozenset((m.name, *m.witness)) for m in self.details if m.witness]
        return self.stability.grids(self.members, groups)

    def _notes(self) -> Iterator[str]:
        if all(member.is_by_request for member in self.details):
            yield from self._empty_notes()
        yield from identifier_notes(self.identifiers)
        yield from cut_notes(self)
        yield from _test_notes(self)
        yield from self.remarks.notes()
        if self.stability is not None:
            yield from self.stability.notes()
        tables = f"{plural(self.tables, 'table')} of {plural(self.n_rows, 'row')}"
        yield f"{plural(self.tests, 'test')} from {tables} in {show_seconds(self.seconds)}."

    def _empty_notes(self) -> Iterator[str]:
        """Say what was looked for in vain, and what to try next."""
        target, order = show_name(self.target), self.settled_parameters.get("order")
        together = f", alone or together with {plural(order, 'other')}" if order else " on its own"
        yield f"No column was found to depend on {target}{together}."
        if order is None:
            yield f"Members that show only in combination escape {self.method}: try method auto."
        elif order + 1 <= self.n_columns - 2:
            yield f"Members can hide in larger combinations: try order {order + 1}."


class Blankets(Mapping[Name, Blanket]):
    """The Markov blankets of several targets: a mapping from target to :class:`Blanket`.

    Parameters
    ----------
    blankets
        The blankets, in order.

    Examples
    --------
    >>> import komb
    >>> blankets = komb.markov_blankets(komb.boolean_table("parity", 500, n_parents=2))
    >>> blankets
    Blankets(3 targets)
    >>> {target: blanket.members for target, blanket in blankets.items()}
    {'X1': ('X2', 'Y'), 'X2': ('X1', 'Y'), 'Y': ('X1', 'X2')}
    """

    __slots__ = ("_by_target",)

    def __init__(self, blankets: Iterable[Blanket] = ()) -> None:
        self._by_target = {blanket.target: blanket for blanket in blankets}

    def __getitem__(self, target: Name) -> Blanket:
        return self._by_target[target]

    def __iter__(self) -> Iterator[Name]:
        return iter(self._by_target)

    def __len__(self) -> int:
        return len(self._by_target)

    @property
    def seconds(self) -> float:
        """Time of all searches together."""
        return sum(blanket.seconds for blanket in self.values())

    def __repr__(self) -> str:
        return f"Blankets({plural(len(self), 'target')})"

    def __str__(self) -> str:
        return self._sheet().to_text()

    def _repr_html_(self) -> str:
        return self._sheet().to_html()

    def __rich__(self) -> RenderableType:
        return self._sheet().to_rich()

    def to_dict(self) -> dict[Name, dict[str, Any]]:
        """Return everything as dictionaries and lists, by target.

        Examples
        --------
        >>> import komb
        >>> blankets = komb.markov_blankets(komb.boolean_table("and", 500), ["Y"])
        >>> blankets.to_dict()["Y"]["members"]
        ['X1', 'X2', 'X3']
        """
        return {target: blanket.to_dict() for target, blanket in self.items()}

    @classmethod
    def from_dict(cls, record: Mapping[Any, Mapping[str, Any]]) -> Blankets:
        """Rebuild blankets from :meth:`to_dict`, or from parsed :meth:`to_json`.

        Examples
        --------
        >>> Blankets.from_dict({})
        Blankets(0 targets)
        """
        return cls(Blanket.from_dict(entry) for entry in record.values())

    def to_json(self, *, indent: int | None = None) -> str:
        """Return everything as JSON: an object with an entry for each target.

        Examples
        --------
        >>> Blankets().to_json()
        '{}'
        """
        return dump_json(self.to_dict(), indent)

    @overload
    def to_frame(self, backend: Literal["polars"] = ...) -> pl.DataFrame: ...

    @overload
    def to_frame(self, backend: Literal["pandas"]) -> pd.DataFrame: ...

    def to_frame(self, backend: Backend = "polars") -> pl.DataFrame | pd.DataFrame:
        """Return all members as one dataframe; a target without members has no row.

        Parameters
        ----------
        backend
            ``"polars"`` or ``"pandas"``.

        Returns
        -------
        polars.DataFrame or pandas.DataFrame
            As :meth:`Blanket.to_frame`, with a column ``target`` in front.

        Examples
        --------
        >>> import komb
        >>> blankets = komb.markov_blankets(komb.boolean_table("parity", 500, n_parents=2))
        >>> blankets.to_frame().select("target", "member").rows()[:3]
        [('X1', 'X2'), ('X1', 'Y'), ('X2', 'X1')]
        """
        targets = [blanket.target for blanket in self.values() for _ in blanket]
        details = [member for blanket in self.values() for member in blanket.details]
        return make_frame({"target": targets, **_member_columns(details)}, backend)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw which target has which member, as :func:`komb.plot_blankets` does.

        Examples
        --------
        >>> import komb
        >>> komb.markov_blankets(komb.boolean_table("and", 500)).plot().get_title(loc="left")
        'Markov blankets of 4 targets'
        """
        return plot_blankets(self, ax)

    def graph(self, symmetry: str = "and") -> nx.Graph:
        """Return the undirected network of targets and members.

        In theory, two columns are in each other's blanket or in neither's. In data, one search may
        find what the other does not.

        Parameters
        ----------
        symmetry
            ``"and"`` joins two columns if each has the other in its blanket, ``"or"`` if one of
            them has. Where only one of the two was searched, there is one opinion only, and it
            decides in both cases.

        Returns
        -------
        networkx.Graph
            Nodes are the targets, in order, and after them members that were no targets; the
            attribute ``searched`` tells them apart. Edges have ``named_by``, the one or two targets
            that have the other in their blanket; ``mutual``, whether those are two; ``bits``, how
            clearly they depend (see :attr:`Member.bits`), of two the smaller number, ``None`` by
            request; and ``witnesses``, those of ``named_by`` in turn.

        Raises
        ------
        komb.errors.ParameterError
            If ``symmetry`` is something else.

        Examples
        --------
        >>> import komb
        >>> blankets = komb.markov_blankets(komb.boolean_table("parity", 500, n_parents=2))
        >>> graph = blankets.graph()
        >>> sorted(graph.edges)
        [('X1', 'X2'), ('X1', 'Y'), ('X2', 'Y')]
        >>> graph.edges["X1", "Y"]["witnesses"]
        [['X2'], ['X2']]
        """
        import networkx as nx

        if symmetry not in ("and", "or"):
            remedy = "'and' joins columns that have each other, 'or' those of which one has."
            raise ParameterError.because("symmetry", "be 'and' or 'or'", symmetry, remedy)
        graph = nx.Graph()
        graph.add_nodes_from(self, searched=True)
        others = dict.fromkeys(name for blanket in self.values() for name in blanket)
        graph.add_nodes_from((name for name in others if name not in self), searched=False)
        for target, blanket in self.items():
            for name in blanket:
                if graph.has_edge(target, name):
                    continue  # the one that was searched first has told
                edge = self._edge(target, name)
                if edge["mutual"] or symmetry == "or" or name not in self:
                    graph.add_edge(target, name, **edge)
        return graph

    def _edge(self, one: Name, other: Name) -> dict[str, Any]:
        """Gather what two columns say of each other."""
        found = {
            target: self[target][name]
            for target, name in ((one, other), (other, one))
            if target in self and name in self[target]
        }
        bits = [member.bits for member in found.values()]
        return {
            "named_by": list(found),
            "mutual": len(found) == 2,
            "bits": None if None in bits else min(bit for bit in bits if bit is not None),
            "witnesses": [
                None if member.witness is None else list(member.witness)
                for member in found.values()
            ],
        }

    def _sheet(self) -> Sheet:
        tests = plural(sum(blanket.tests for blanket in self.values()), "test")
        first = next(iter(self.values()), None)
        return Sheet(
            title=f"Markov blankets of {plural(len(self), 'target')}",
            facts="Nothing was searched." if first is None else _show_run(first),
            grids=(Grid(_BLANKET_HEADINGS, tuple(map(_show_blanket, self.values()))),),
            notes=(f"{tests} in {show_seconds(self.seconds)}.",),
            warnings=tuple(self._warnings()),
        )

    def _warnings(self) -> Iterator[str]:
        """Name leaks, and say for how many targets something was left out."""
        leaks = [
            warning
            for blanket in self.values()
            for warning in Remarks(leaks=blanket.leaks).warnings(blanket.target)
        ]
        yield from leaks[:_MOST_LEAKS]
        if len(leaks) > _MOST_LEAKS:
            yield f"{plural(len(leaks) - _MOST_LEAKS, 'more possible leak')}; 'leaks' has them all."
        n_partial = sum(bool(blanket.omissions) for blanket in self.values())
        if n_partial:
            yield (
                f"Not everything was looked at for {plural(n_partial, 'target')}; 'omissions' of "
                "each says what."
            )


def plot_blankets(
    blankets: Mapping[Name, Blanket] | Iterable[Blanket], ax: Axes | None = None
) -> Axes:
    """Draw the blankets of many targets: a row each, its members in colours.

    The darker a cell, the clearer its member depends on the target. A dot marks a one-sided cell:
    the member was searched too, and does not have the target in its blanket. A frame marks members
    that are seen together with others only. Members that were no targets come last.

    Parameters
    ----------
    blankets
        What :func:`komb.markov_blankets` returned, or any blankets.
    ax
        Where to draw; if left out, on a new figure that fits.

    Returns
    -------
    matplotlib.axes.Axes
        ``ax.figure`` shows the picture in a notebook, ``ax.figure.savefig("picture.png")`` writes
        it to a file.

    Raises
    ------
    komb.errors.MissingPackageError
        If matplotlib is not installed.

    Examples
    --------
    >>> import komb
    >>> blankets = komb.markov_blankets(komb.boolean_table("parity", 500, n_parents=2))
    >>> ax = komb.plot_blankets(blankets)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['X1', 'X2', 'Y']
    """
    from komb.views.pictures.heatmap import Cell, draw_heatmap

    if isinstance(blankets, Blanket):
        remedy = "Draw a single one with blanket.plot()."
        raise ParameterError.because("blankets", "be several blankets", blankets, remedy)
    found = blankets if isinstance(blankets, Mapping) else Blankets(blankets)
    names = dict.fromkeys([*found, *(name for blanket in found.values() for name in blanket)])
    place = {name: number for number, name in enumerate(names)}
    cells = {
        (place[target], place[member.name]): Cell(
            bits=member.bits,
            is_together=bool(member.witness),
            is_one_sided=member.name in found and target not in found[member.name],
        )
        for target, blanket in found.items()
        for member in blanket.details
    }
    return draw_heatmap(
        f"Markov blankets of {plural(len(found), 'target')}",
        [show_name(target) for target in found],
        [show_name(name) for name in names],
        cells,
        ax,
    )


def _show_member(member: Member, *, has_shares: bool = False) -> tuple[str, ...]:
    test = member.test or NOTHING
    share = NOTHING if member.stability is None else f"{member.stability:.2f}"
    return (
        show_name(member.name),
        _show_witness(member.witness),
        show_statistic(member.statistic),
        show_freedom(member.df),
        show_p_value(member.p_value),
        f"{test} (unreliable)" if member.reliable is False else test,
        *([share] if has_shares else []),
    )


def show_strength(member: Member) -> str:
    """Say in a few words how clearly a member depends on the target.

    Examples
    --------
    >>> show_strength(Member("age", (), 700.0, 2, 1e-152, "g", True))
    'p = 1e-152'
    >>> show_strength(Member("age", ("sex",), 7.25, None, None, "sci", False))
    '7.2 bits, unreliable'
    >>> show_strength(Member("age", (), 9.0, 1, 0.0027, "g", True, stability=0.94))
    'p = 0.0027, stability 0.94'
    """
    if member.bits is None:
        return "by request"
    trust = ", unreliable" if member.reliable is False else ""
    if member.stability is not None:
        trust += f", stability {member.stability:.2f}"
    if member.p_value is None:
        return f"{member.bits:,.1f} bits{trust}"
    decades = member.bits * math.log10(2)
    small = _show_tiny(decades) if decades > _PLAIN_DECADES else show_p_value(member.p_value)
    return f"p = {small}{trust}"


def _show_tiny(decades: float) -> str:
    """Show ten to the power of minus ``decades``, which may be too small for a double.

    Examples
    --------
    >>> _show_tiny(22.29), _show_tiny(30.0), _show_tiny(29.99), _show_tiny(21710.4)
    ('5e-23', '1e-30', '1e-30', '4e-21,711')
    """
    power = math.ceil(decades)
    digit = round(10 ** (power - decades))
    return f"1e-{power - 1:,}" if digit == 10 else f"{digit}e-{power:,}"


def _show_witness(witness: tuple[Name, ...] | None) -> str:
    return "(by request)" if witness is None else show_names(witness) or "(alone)"


def _show_blanket(blanket: Blanket) -> tuple[str, ...]:
    return (
        show_name(blanket.target),
        str(len(blanket)),
        show_names(blanket.members, _NAMES_WIDTH) or NOTHING,
        f"{blanket.tests:,}",
        show_seconds(blanket.seconds),
    )


def _show_run(blanket: Blanket) -> str:
    parameters = blanket.settled_parameters
    return f"method {blanket.method}, {show_parameters(parameters)}".removesuffix(", ")


def show_parameters(parameters: Mapping[str, Any]) -> str:
    """Say in a line what a search was run with; empty parameters are left out.

    Examples
    --------
    >>> show_parameters({"order": 1, "max_separator": None, "start": ("age", "sex")})
    'order 1, started from age, sex'
    """
    wordings = {
        "order": "order {}",
        "max_separator": "separators up to {}",
        "max_conditioning": "conditioning on up to {}",
        "test": "test {}",
        "df": "df {}",
        "level": "level {}",
        "alpha": "alpha {}",
        "time_budget": "time budget {} s",
        "start": "started from {}",
        "include": "with {} by request",
        "exclude": "without {}",
        "missing": "missing {}",
        "stability": "stability in {} half-samples",
        "seed": "seed {}",
    }
    parts = []
    for key, wording in wordings.items():
        value = parameters.get(key)
        shown = show_names(value, _NAMES_WIDTH) if isinstance(value, tuple) else value
        if shown not in (None, "") and (key, value) != ("missing", "error"):
            parts.append(wording.format(shown))
    return ", ".join(parts)


def identifier_notes(identifiers: tuple[Name, ...]) -> Iterator[str]:
    """Warn of columns that tell rows rather than groups of rows apart."""
    if identifiers:
        yield (
            f"Caution: {show_names(identifiers)} nearly tells every row from every other; "
            "a test on such a column means nothing. Exclude it."
        )


def cut_notes(blanket: Blanket) -> Iterator[str]:
    """Say where columns were cut: first the target, then members, then a few of the others."""
    first = [blanket.target, *blanket.members]
    names = [name for name in dict.fromkeys([*first, *blanket.cuts]) if name in blanket.cuts]
    cut = [name for name in names if blanket.cuts[name]]
    for name in cut[:_MOST_CUTS]:
        points = show_names(show_numbers(blanket.cuts[name]), _NAMES_WIDTH)
        yield f"{show_name(name)}: cut at {points}{_show_way(blanket, name)}."
    if len(cut) > _MOST_CUTS:
        yield f"{plural(len(cut) - _MOST_CUTS, 'more column')} cut; 'cuts' has them all."
    constant = [name for name in names if not blanket.cuts[name]]
    if constant:
        but = " but for missing values" if blanket.parameters.get("missing") == "level" else ""
        yield f"Without cut points, and so constant{but}: {show_names(constant, _NAMES_WIDTH)}."
    if any(_way(blanket, name) == "mdl" for name in constant):
        yield (
            "mdl cuts look at one column at a time: what shows only in combination needs another "
            "way, such as quantile."
        )


def _show_way(blanket: Blanket, name: Name) -> str:
    """Say in parentheses how cut points were found, if that is known."""
    way = _way(blanket, name)
    if way is None:
        return ""
    return f" ({way})" if isinstance(way, str) else " (as given)"


def _way(blanket: Blanket, name: Name) -> object:
    discretize = blanket.parameters.get("discretize")
    return discretize.get(name) if isinstance(discretize, Mapping) else discretize


def _test_notes(blanket: Blanket) -> Iterator[str]:
    """Say which tests were not what the reader expects."""
    test = blanket.parameters.get("test")
    if blanket.fallbacks:
        on_thin = f"{blanket.fallbacks:,} of {plural(blanket.tests, 'test')} on thin tables"
        yield f"Stochastic complexity (sci, without a p-value) decided {on_thin}."
    if blanket.unreliable and test == "perm":
        yield (
            f"Caution: {blanket.unreliable:,} of {plural(blanket.tests, 'test')} had nothing to "
            "shuffle: among rows that agree in the columns held fixed, one of the two tested is "
            "constant. They count as independent, and say nothing. Collect more rows, merge rare "
            "levels or exclude columns with many levels."
        )
    elif blanket.unreliable and test == "auto":
        yield (
            f"{blanket.unreliable:,} of {plural(blanket.tests, 'test')} say nothing and count as "
            "independent: given the columns held fixed, one of the two tested is constant."
        )
    elif blanket.unreliable:
        on_thin = f"{blanket.unreliable:,} of {plural(blanket.tests, 'test')}"
        remedy = "Collect more rows, merge rare levels or exclude columns with many levels"
        remedy += "." if test in ("sci", "g-sci") else ", or use test g-sci."
        yield f"Caution: {on_thin} had too few rows for test {test} to be trusted. {remedy}"


def _member_columns(details: Iterable[Member]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {"member": []}
    columns |= {entry.name: [] for entry in fields(Member) if entry.name != "name"}
    for member in details:
        for key, value in member.to_dict().items():
            columns["member" if key == "name" else key].append(value)
    return columns
