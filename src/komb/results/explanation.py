"""Why a blanket is what it is: frozen objects that show themselves and can be exported.

>>> import komb
>>> blanket = komb.markov_blanket(komb.boolean_table("parity", 500, n_parents=2), "Y")
>>> explanation = blanket.explain()
>>> explanation["X1"].alone.is_dependent, explanation["X1"].shown.given
(False, ('X2',))
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from komb.data.frozen_mapping import FrozenMapping
from komb.errors import UnknownNameError
from komb.results.choices import choice_grids, from_records, to_records
from komb.results.export import dump_json, from_plain, known_fields, make_frame, to_plain
from komb.results.remarks import Remarks
from komb.search.task import Choice
from komb.views.text import Grid, Sheet, plural, show_freedom, show_name, show_names, show_p_value

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from rich.console import RenderableType

Name: TypeAlias = Hashable
Status: TypeAlias = Literal["member", "by request", "left out"]

_NAMES_WIDTH = 60  # characters of a list of names
_SHOWN = 10  # columns left out that are shown; all are in the data
_NARROWEST, _WIDEST = 50, 100  # characters a line
_LETTERS = {"g": "G", "chi2": "chi-square", "perm": "G", "x2": "X2"}  # what statistics are called


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one test of a column against the target said.

    Attributes
    ----------
    given
        The columns that were held fixed.
    is_dependent
        How it was decided.
    statistic
        Of the test.
    df
        Degrees of freedom; ``None`` if the deciding test has none.
    p_value
        ``None`` if the deciding test has none.
    test
        Which test decided.
    reliable
        Whether the table was thick enough for that test to be trusted.

    Examples
    --------
    >>> print(Evidence(("sex",), True, 12.5, 2, 0.0019, "g", True))
    G = 12.50, df 2, p = 0.0019
    >>> print(Evidence((), False, -3.2, None, None, "sci", False))
    sci saves no bits, unreliable
    """

    given: tuple[Name, ...]
    is_dependent: bool
    statistic: float
    df: float | None
    p_value: float | None
    test: str
    reliable: bool

    def __str__(self) -> str:
        if self.p_value is None:
            return self.brief
        letter = _LETTERS.get(self.test, self.test)
        freedom = "" if self.df is None else f", df {show_freedom(self.df)}"
        return f"{letter} = {self.statistic:,.2f}{freedom}, {self.brief}"

    @property
    def brief(self) -> str:
        """The p-value, or what stands for it, in a few words."""
        trust = "" if self.reliable else ", unreliable"
        if self.p_value is None:
            bits = f"{self.statistic:,.2f}" if self.is_dependent else "no"
            return f"{self.test} saves {bits} bits{trust}"
        shown = show_p_value(self.p_value)
        return f"p {shown if shown.startswith('<') else f'= {shown}'}{trust}"

    @property
    def bits(self) -> float:
        """How clearly it speaks for dependence; a p-value of 2^-b is b bits, a saved bit is one.

        Examples
        --------
        >>> Evidence((), True, 9.0, 1, 0.25, "g", True).bits
        2.0
        """
        if self.p_value is None:
            return self.statistic
        return -math.log2(self.p_value) if self.p_value > 0 else math.inf

    def to_dict(self) -> dict[str, Any]:
        """Return the evidence as a dictionary.

        Examples
        --------
        >>> Evidence(("sex",), True, 12.5, 2, 0.0019, "g", True).to_dict()["given"]
        ['sex']
        """
        record = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return record | {"given": list(self.given)}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Evidence:
        """Rebuild evidence from :meth:`to_dict`.

        Examples
        --------
        >>> evidence = Evidence(("sex",), True, 12.5, 2, 0.0019, "g", True)
        >>> Evidence.from_dict(evidence.to_dict()) == evidence
        True
        """
        values = known_fields(cls, record)
        return cls(**values | {"given": tuple(values["given"])})


@dataclass(frozen=True, slots=True)
class Reason:
    """Why one column is in a blanket, or is not.

    Attributes
    ----------
    name
        The column.
    status
        ``"member"``, ``"by request"`` (a member that nothing but ``include`` put there) or
        ``"left out"``.
    alone
        The test of the column against the target, with nothing held fixed.
    shown
        The test in which the dependence shows: of a member given its witness, of another column
        given few members. ``None`` for a member by request that does not depend in any of them.
    part
        Of a witness of two or three columns: the clearest test given some of them, but not all.
    separator
        The test given other members on top of what ``shown`` holds fixed: one that says independent
        if there is any, and the least clear one otherwise; ``None`` if there is no other member.
    alone_separator
        The same for ``alone``, if that dependence is another than the one of ``shown``.
    text
        All that in words.

    Examples
    --------
    >>> import komb
    >>> blanket = komb.markov_blanket(komb.boolean_table("parity", 500, n_parents=2), "Y")
    >>> print(blanket.explain()["X1"])
    enters only together with X2: given it, G = ..., df 2, p < 1e-16; alone p = 0....
    """

    name: Name
    status: Status
    alone: Evidence
    shown: Evidence | None
    part: Evidence | None = None
    separator: Evidence | None = None
    alone_separator: Evidence | None = None
    text: str = ""

    def __str__(self) -> str:
        return self.text

    @property
    def is_separated(self) -> bool:
        """Whether other members undo the dependence that shows."""
        return self.separator is not None and not self.separator.is_dependent

    def to_dict(self) -> dict[str, Any]:
        """Return the reason as a dictionary.

        Examples
        --------
        >>> alone = Evidence((), True, 12.5, 2, 0.0019, "g", True)
        >>> Reason("age", "member", alone, alone).to_dict()["shown"]["p_value"]
        0.0019
        """
        record = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return {
            key: value.to_dict() if isinstance(value, Evidence) else value
            for key, value in record.items()
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Reason:
        """Rebuild a reason from :meth:`to_dict`.

        Examples
        --------
        >>> alone = Evidence((), True, 12.5, 2, 0.0019, "g", True)
        >>> reason = Reason("age", "member", alone, alone)
        >>> Reason.from_dict(reason.to_dict()) == reason
        True
        """
        values = known_fields(cls, record)
        for key, value in values.items():
            if isinstance(value, Mapping):
                values[key] = Evidence.from_dict(value)
        return cls(**values)


@dataclass(frozen=True, slots=True, repr=False)
class Explanation(Collection[Name]):
    """Why the members of a blanket are in it, and why other columns are not.

    It is a collection of the columns it explains: members first, then columns that were left out
    although they depend on the target. ``explanation[name]`` is the
    :class:`~komb.results.explanation.Reason` of a column.

    Attributes
    ----------
    target
        Whose blanket it is.
    members
        A reason for each member, in the order of the table.
    rejected
        A reason for each other column that depends on the target, alone or given up to ``order``
        members; the clearest dependence first.
    unrelated
        The columns that do not, in the order of the table.
    method
        Of the search.
    parameters
        Of the search, as in :class:`komb.Blanket`, with what it chose where nothing was said.
    order
        How many members together were tried as a condition under which other columns depend.
    max_separator
        How many members together were tried as a separator.
    choices
        What the search chose where it was left to it, as in :class:`komb.Blanket`.
    remarks
        What else the search has to say, as in :class:`komb.Blanket`: leaks, what could stand in the
        place of members, what could be seen, what was left out.

    Examples
    --------
    >>> import komb
    >>> table = komb.boolean_table("and", 500, n_irrelevant=1, seed=1)
    >>> explanation = komb.markov_blanket(table, "Y").explain()
    >>> explanation
    Explanation('Y': 3 members, 0 left out, 1 unrelated)
    >>> list(explanation), "X1" in explanation
    (['X1', 'X2', 'X3'], True)
    """

    target: Name
    members: tuple[Reason, ...]
    rejected: tuple[Reason, ...]
    unrelated: tuple[Name, ...]
    method: str
    parameters: Mapping[str, Any] = field(hash=False)
    order: int
    max_separator: int
    choices: Mapping[str, Choice] = field(default_factory=dict, hash=False)
    remarks: Remarks = field(default_factory=Remarks)

    def __post_init__(self) -> None:
        for key in ("parameters", "choices"):
            object.__setattr__(self, key, FrozenMapping(getattr(self, key)))

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """The reasons of all columns that are explained."""
        return self.members + self.rejected

    def __len__(self) -> int:
        return len(self.reasons)

    def __iter__(self) -> Iterator[Name]:
        return (reason.name for reason in self.reasons)

    def __contains__(self, name: object) -> bool:
        return any(reason.name == name for reason in self.reasons)

    def __getitem__(self, name: Name) -> Reason:
        for reason in self.reasons:
            if reason.name == name:
                return reason
        if name in self.unrelated:
            raise UnknownNameError(
                f"There is nothing to explain about {name!r}: it never depended on "
                f"{self.target!r}, {self._conditions()}. 'unrelated' lists all such columns."
            )
        raise UnknownNameError.among("explained column", name, list(self))

    def __repr__(self) -> str:
        counts = (
            f"{plural(len(self.members), 'member')}, {len(self.rejected)} left out, "
            f"{len(self.unrelated)} unrelated"
        )
        return f"Explanation({self.target!r}: {counts})"

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self._sheet().to_html()

    def __rich__(self) -> RenderableType:
        return self._sheet().to_rich()

    def to_text(self, width: int | None = None) -> str:
        """Return what ``print`` shows.

        Parameters
        ----------
        width
            Characters a line; if left out, as many as the terminal has, within reason.

        Examples
        --------
        >>> import komb
        >>> blanket = komb.markov_blanket(komb.boolean_table("and", 500, n_irrelevant=1), "Y")
        >>> blanket.explain().to_text(60).splitlines()[0]
        'Markov blanket of Y explained: X1, X2, X3'
        """
        if width is None:
            width = min(max(shutil.get_terminal_size().columns, _NARROWEST), _WIDEST)
        return self._sheet().to_text(width)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as dictionaries and lists, names as they are in the table.

        Examples
        --------
        >>> import komb
        >>> blanket = komb.markov_blanket(komb.boolean_table("and", 500, n_parents=2), "Y")
        >>> record = blanket.explain().to_dict()
        >>> record["members"][0]["name"], record["members"][0]["alone"]["is_dependent"]
        ('X1', True)
        >>> Explanation.from_dict(record) == blanket.explain()
        True
        """
        record = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        for key in ("members", "rejected"):
            record[key] = [reason.to_dict() for reason in record[key]]
        record |= {"unrelated": list(self.unrelated), "choices": to_records(self.choices)}
        record |= record.pop("remarks").to_records()
        return record | {"parameters": to_plain(self.parameters)}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Explanation:
        """Rebuild an explanation from :meth:`to_dict`, or from parsed :meth:`to_json`.

        Examples
        --------
        >>> import json, komb
        >>> explanation = komb.markov_blanket(komb.boolean_table("and", 500), "Y").explain()
        >>> Explanation.from_dict(json.loads(explanation.to_json())) == explanation
        True
        """
        values = known_fields(cls, record)
        for key in ("members", "rejected"):
            values[key] = tuple(Reason.from_dict(reason) for reason in values[key])
        values["unrelated"] = tuple(values["unrelated"])
        values["parameters"] = from_plain(values["parameters"])
        values["choices"] = from_records(values.get("choices", {}))
        values["remarks"] = Remarks.from_records(record)
        return cls(**values)

    def to_json(self, *, indent: int | None = None) -> str:
        """Return everything as JSON.

        Parameters
        ----------
        indent
            Spaces a level; everything on one line if left out.

        Examples
        --------
        >>> import komb
        >>> komb.markov_blanket(komb.boolean_table("and", 500), "Y").explain().to_json()[:14]
        '{"target": "Y"'
        """
        return dump_json(self.to_dict(), indent)

    @overload
    def to_frame(self, backend: Literal["polars"] = ...) -> pl.DataFrame: ...

    @overload
    def to_frame(self, backend: Literal["pandas"]) -> pd.DataFrame: ...

    def to_frame(
        self, backend: Literal["polars", "pandas"] = "polars"
    ) -> pl.DataFrame | pd.DataFrame:
        """Return a dataframe with a row for each column that is explained.

        Parameters
        ----------
        backend
            ``"polars"`` or ``"pandas"``.

        Returns
        -------
        polars.DataFrame or pandas.DataFrame
            With columns ``column``, ``status``, ``witness`` (a list: what was held fixed in the
            test that shows the dependence), ``statistic``, ``df``, ``p_value``, ``test`` and
            ``reliable`` of that test, ``alone_p_value``, ``separator`` (a list: what was held fixed
            besides the witness), ``separator_p_value``, ``separated`` and ``text``. Where a test
            does not exist, or has no p-value, there is a null.

        Examples
        --------
        >>> import komb
        >>> blanket = komb.markov_blanket(komb.boolean_table("parity", 500, n_parents=2), "Y")
        >>> blanket.explain().to_frame().select("column", "status", "witness").row(0)
        ('X1', 'member', ['X2'])
        """
        rows = [_frame_row(reason) for reason in self.reasons]
        keys = ("column", "status", "witness", "statistic", "df", "p_value", "test", "reliable",
                "alone_p_value", "separator", "separator_p_value", "separated", "text")  # fmt: skip
        return make_frame({key: [row.get(key) for row in rows] for key in keys}, backend)

    def _conditions(self, count: int = 1) -> str:
        if not self.order or not self.members:
            return "on its own" if count == 1 else "on their own"
        return f"alone or given up to {plural(self.order, 'member')}"

    def _sheet(self) -> Sheet:
        names = [reason.name for reason in self.members]
        shown = self.rejected[:_SHOWN]
        return Sheet(
            title=f"Markov blanket of {show_name(self.target)} explained: "
            f"{show_names(names, _NAMES_WIDTH) or 'empty'}",
            facts=f"method {self.method}, {_show_checks(self)}",
            grids=(
                Grid(("member", "why it is in"), tuple(self._member_rows())),
                Grid(("left out", "why it is not in"), tuple(map(_show_reason, shown))),
                *choice_grids(self.choices),
                *self.remarks.grids(),
            ),
            notes=tuple(self._notes()),
            warnings=tuple(self.remarks.warnings(self.target)),
        )

    def _member_rows(self) -> Iterator[tuple[str, str]]:
        """Show why each member is in, and below it what could stand in its place."""
        for reason in self.members:
            yield _show_reason(reason)
            for line in self.remarks.alternatives(reason.name):
                yield line, f"could stand in the place of {show_name(reason.name)}."

    def _notes(self) -> Iterator[str]:
        target = show_name(self.target)
        n_more = len(self.rejected) - _SHOWN
        if n_more > 0:
            depend = "column depends" if n_more == 1 else "columns depend"
            was = "was" if n_more == 1 else "were"
            yield f"{n_more:,} more {depend} on {target}, less clearly, and {was} left out."
        if self.unrelated:
            count = len(self.unrelated)
            yield (
                f"{plural(count, 'other column' if self.reasons else 'column')} never depended on "
                f"{target}, {self._conditions(count)}."
            )
        yield from self._check_notes()
        yield from self.remarks.notes()
        if any(not evidence.reliable for reason in self.reasons for evidence in _tests_of(reason)):
            yield "Unreliable: a table with too few rows for its test to be trusted."

    def _check_notes(self) -> Iterator[str]:
        """Say where less was looked at than in the search, and not for lack of members."""
        largest = max(1, len(self.members))
        asked = self.parameters.get("max_separator") or self.parameters.get("max_conditioning")
        if asked is not None and min(asked, largest) > self.max_separator:
            yield (
                f"Separators of more than {plural(self.max_separator, 'member')} were not tried "
                f"here, up to {asked} in the search: there are too many."
            )
        order = self.parameters.get("order")
        is_automatic = "order" in self.choices  # asks more of groups than these tests do
        if order is not None and not is_automatic and min(order, largest) > self.order:
            yield (
                f"Dependences given more than {plural(self.order, 'member')} were not looked for "
                f"here, up to {order} in the search: there are too many."
            )


def _show_checks(explanation: Explanation) -> str:
    wordings = {"test": "test {}", "df": "df {}", "alpha": "alpha {}"}
    given = explanation.parameters
    parts = [words.format(given[key]) for key, words in wordings.items() if key in given]
    return ", ".join([f"separators of up to {plural(explanation.max_separator, 'member')}", *parts])


def _show_reason(reason: Reason) -> tuple[str, str]:
    return show_name(reason.name), reason.text


def _tests_of(reason: Reason) -> Iterator[Evidence]:
    for test in (
        reason.alone, reason.shown, reason.part, reason.separator, reason.alone_separator,
    ):  # fmt: skip
        if test is not None:
            yield test


def _frame_row(reason: Reason) -> dict[str, Any]:
    row: dict[str, Any] = {
        "column": reason.name,
        "status": reason.status,
        "alone_p_value": reason.alone.p_value,
        "separated": reason.is_separated,
        "text": reason.text,
    }
    witness: tuple[Name, ...] = ()
    if reason.shown is not None:
        witness = reason.shown.given
        row |= {"witness": list(witness)}
        row |= {
            key: getattr(reason.shown, key)
            for key in ("statistic", "df", "p_value", "test", "reliable")
        }
    if reason.separator is not None:
        row["separator"] = [name for name in reason.separator.given if name not in witness]
        row["separator_p_value"] = reason.separator.p_value
    return row
