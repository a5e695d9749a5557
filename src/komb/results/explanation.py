"""What single tests say, and why a blanket is what it is: the tests behind each column."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from komb.data.names import FrozenMapping, Name
from komb.errors import UnknownNameError
from komb.results.export import Named, Result
from komb.results.member import Remarks
from komb.results.record import MERGED, Record
from komb.search.task import Choice
from komb.views.explanation_text import explanation_sheet, explanation_text
from komb.views.reasons import show_brief, show_evidence, show_test
from komb.views.text import Sheet, plural, show_name, show_names

Status: TypeAlias = Literal["member", "by request", "left out"]

_FRAME_COLUMNS = (
    "column", "status", "witness", "statistic", "df", "p_value", "test", "reliable",
    "alone_p_value", "separator", "separator_p_value", "separated", "text",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Evidence(Record):
    """What one test of a column against the target said.

    Attributes
    ----------
    given
        The columns that were conditioned on.
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
    no evidence by sci, unreliable
    """

    given: tuple[Name, ...]
    is_dependent: bool
    statistic: float
    df: float | None
    p_value: float | None
    test: str
    reliable: bool

    def __str__(self) -> str:
        return show_evidence(self)

    @property
    def brief(self) -> str:
        """The p-value, or its equivalent, in a few words."""
        return show_brief(self)

    @property
    def bits(self) -> float:
        """The evidence for dependence; a p-value of 2^-b is b bits, as is a code b bits shorter.

        Examples
        --------
        >>> Evidence((), True, 9.0, 1, 0.25, "g", True).bits
        2.0
        """
        if self.p_value is None:
            return self.statistic
        return -math.log2(self.p_value) if self.p_value > 0 else math.inf


@dataclass(frozen=True, slots=True)
class Reason(Record):
    """Why one column is in a blanket, or is not.

    Attributes
    ----------
    name
        The column.
    status
        ``"member"``, ``"by request"`` (a member that nothing but ``include`` put there) or
        ``"left out"``.
    alone
        The marginal test of the column against the target.
    shown
        The test in which the dependence shows: of a member given its witness, of another column the
        marginal one. ``None`` for a member by request that is marginally independent.
    part
        Of a witness of two or three columns: the strongest test given some of them, but not all.
    separator
        Of a member: the test given a few other members besides its witness that comes closest to
        "independent"; ``None`` if there is no other member. Of a column left out: the test given
        what separates it from the target; ``None`` if nothing is known to.
    alone_separator
        The same for ``alone``, if that dependence is another than the one of ``shown``.
    is_decided
        Whether the test given the separator decides: if it says "independent" without the power to
        say "dependent", it is not known whether the column is needed.
    text
        All that in words.

    Examples
    --------
    >>> import komb
    >>> blanket = komb.markov_blanket(komb.boolean_table("parity", 500, n_parents=2), "Y")
    >>> print(blanket.explain()["X1"])
    depends on Y only given X2: chi-square = ..., df 2, p = ...e-...; marginally p = 0....
    """

    name: Name
    status: Status
    alone: Evidence
    shown: Evidence | None
    part: Evidence | None = None
    separator: Evidence | None = None
    alone_separator: Evidence | None = None
    is_decided: bool = True
    text: str = ""

    def __str__(self) -> str:
        return self.text

    @property
    def is_separated(self) -> bool:
        """Whether other columns separate the dependence that is shown."""
        return self.separator is not None and not self.separator.is_dependent

    @property
    def tests(self) -> tuple[Evidence, ...]:
        """All tests that it rests on."""
        tests = (self.alone, self.shown, self.part, self.separator, self.alone_separator)
        return tuple(test for test in tests if test is not None)


@dataclass(frozen=True, slots=True, repr=False)
class Explanation(Record, Result, Named):
    """Why the members of a blanket are in it, and why other columns are not.

    It is a collection of the columns it explains: members first, then columns that were left out
    although they depend on the target. ``explanation[name]`` is the
    :class:`~komb.results.explanation.Reason` of a column.

    Attributes
    ----------
    target
        Whose blanket it is.
    reasons
        A reason for each member, in the order of the table.
    rejected
        A reason for each other column that is marginally dependent on the target; the strongest
        dependence first.
    unrelated
        The columns that are marginally independent of the target, in the order of the table.
    method
        Of the search.
    parameters
        Of the search, as in :class:`komb.Blanket`, with what it chose where nothing was said.
    max_separator
        How many members together were tried as a separator of a member.
    choices
        What the search chose where it was left to it, as in :class:`komb.Blanket`.
    remarks
        What else the search has to say, as in :class:`komb.Blanket`: leaks, what could replace
        members, which dependences could be found, what was skipped.

    Examples
    --------
    >>> import komb
    >>> table = komb.boolean_table("and", 500, n_irrelevant=1, seed=1)
    >>> explanation = komb.markov_blanket(table, "Y").explain()
    >>> explanation
    Explanation('Y': 3 members, 0 left out, 1 unrelated)
    >>> list(explanation), "X1" in explanation
    (['X1', 'X2', 'X3'], True)

    Notes
    -----
    ``to_frame`` has a row per column that is explained, with columns ``column``, ``status``,
    ``witness`` (a list: the conditioning set of the test that shows the dependence), ``statistic``,
    ``df``, ``p_value``, ``test`` and ``reliable`` of that test, ``alone_p_value``, ``separator`` (a
    list: what was conditioned on besides the witness), ``separator_p_value``, ``separated`` and
    ``text``. Where a test does not exist, or has no p-value, there is a null.
    """

    target: Name
    reasons: tuple[Reason, ...]
    rejected: tuple[Reason, ...]
    unrelated: tuple[Name, ...]
    method: str
    parameters: Mapping[str, Any] = field(hash=False)
    max_separator: int
    choices: Mapping[str, Choice] = field(default_factory=dict, hash=False)
    remarks: Remarks = field(default_factory=Remarks, metadata=MERGED)

    noun = "explained column"

    def __post_init__(self) -> None:
        for key in ("parameters", "choices"):
            object.__setattr__(self, key, FrozenMapping(getattr(self, key)))

    @property
    def members(self) -> tuple[Name, ...]:
        """The members of the blanket, as in :class:`komb.Blanket`."""
        return tuple(reason.name for reason in self.reasons)

    @property
    def _entries(self) -> dict[Name, Reason]:
        return {reason.name: reason for reason in self.reasons + self.rejected}

    def __getitem__(self, name: Name) -> Reason:
        if name in self.unrelated:
            raise UnknownNameError(
                f"There is nothing to explain about {name!r}: it is marginally independent of "
                f"{self.target!r}. 'unrelated' lists all such columns."
            )
        reason: Reason = self._entry(name)
        return reason

    def __repr__(self) -> str:
        counts = (
            f"{plural(len(self.members), 'member')}, {len(self.rejected)} left out, "
            f"{len(self.unrelated)} unrelated"
        )
        return f"Explanation({self.target!r}: {counts})"

    def __str__(self) -> str:
        return self.to_text()

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
        return explanation_text(self, width)

    def _sheet(self) -> Sheet:
        return explanation_sheet(self)

    def _columns(self) -> dict[str, list[Any]]:
        rows = [_frame_row(reason) for reason in self.reasons + self.rejected]
        return {key: [row.get(key) for row in rows] for key in _FRAME_COLUMNS}


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


@dataclass(frozen=True, slots=True)
class TestResult(Record):
    """What one conditional-independence test said about two columns.

    Attributes
    ----------
    x
        The one column that was tested.
    y
        The other.
    given
        The columns that were conditioned on.
    independent : bool
        Whether independence was *not* rejected.
    statistic : float or None
        ``None`` if a model answered instead of a test.
    df : float or None
        Degrees of freedom; ``None`` if the test has none.
    p_value : float or None
        ``None`` if the test has none.
    test : str
        Which test decided.
    reliable : bool
        Whether there were rows enough for it.
    n_rows : int
        Rows of the table.

    Examples
    --------
    >>> import komb
    >>> table = komb.boolean_table("parity", 500, n_parents=2)
    >>> result = komb.ci_test(table, "X1", "Y", ["X2"])
    >>> result.independent, result.p_value < 1e-20
    (False, True)
    >>> print(komb.ci_test(table, "X1", "Y"))
    X1 and Y: independent (X2 = ..., df 1, p = ...)
    """

    __test__ = False  # the name starts with Test, but pytest has no business here

    x: Name
    y: Name
    given: tuple[Name, ...]
    independent: bool
    statistic: float | None
    df: float | None
    p_value: float | None
    test: str
    reliable: bool
    n_rows: int

    def __str__(self) -> str:
        given = f" given {show_names(self.given)}" if self.given else ""
        verdict = "independent" if self.independent else "dependent"
        return f"{show_name(self.x)} and {show_name(self.y)}{given}: {verdict} ({self._evidence()})"

    def _evidence(self) -> str:
        if self.statistic is None:
            return f"by {self.test}"
        return show_test(self.test, self.statistic, self.df, self.p_value, reliable=self.reliable)
