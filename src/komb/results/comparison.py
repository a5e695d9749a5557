"""What several methods found for one target, side by side.

>>> import komb
>>> table = komb.boolean_table("parity", 500, n_parents=2)
>>> rows = {"k=0": {"method": "komb", "order": 0}, "k=1": {"method": "komb", "order": 1}}
>>> comparison = komb.compare(table, "Y", methods=rows, truth=["X1", "X2"])
>>> comparison.scores["k=1"].f1
1.0
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

from komb.data.frozen_mapping import FrozenMapping
from komb.results.blanket import (
    Backend,
    Blanket,
    Name,
    cut_notes,
    identifier_notes,
    show_parameters,
)
from komb.results.export import dump_json, known_fields, make_frame, no_formula
from komb.results.remarks import Remarks
from komb.views.pictures.matrix import Mark, draw_matrix
from komb.views.text import DOT, TICK, Grid, Sheet, plural, show_name, show_names, show_seconds

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from matplotlib.axes import Axes
    from rich.console import RenderableType

_WIDTH = 78  # characters of a matrix; it is folded where it has more methods
_SIGNS: dict[Mark, str] = {"found": TICK, "hit": TICK, "extra": "+", "missed": "-", "absent": DOT}
_LEGEND = f"{TICK} found and true, + found but not true, - true but missed."


class Score(NamedTuple):
    """How near a found blanket is to the true one.

    Attributes
    ----------
    precision
        Share of the found members that are true.
    recall
        Share of the true members that were found.
    f1
        Harmonic mean of the two.

    Notes
    -----
    A share of nothing is 1 if both blankets are empty, and 0 if only one of them is. So F1 is 1 for
    an empty blanket that was rightly found empty, and 0 whenever no true member was found.

    Examples
    --------
    >>> Score.of(found=["a", "b"], true=["b", "c", "d", "e"])
    Score(precision=0.5, recall=0.25, f1=0.3333333333333333)
    >>> Score.of(found=[], true=[])
    Score(precision=1.0, recall=1.0, f1=1.0)
    """

    precision: float
    recall: float
    f1: float

    @classmethod
    def of(cls, found: Iterable[Name], true: Iterable[Name]) -> Score:
        """Compare two sets of names.

        Examples
        --------
        >>> Score.of(found=[], true=["a"])
        Score(precision=0.0, recall=0.0, f1=0.0)
        """
        ours, theirs = set(found), set(true)
        if ours == theirs:  # both may be empty
            return cls(1.0, 1.0, 1.0)
        hits = len(ours & theirs)
        return cls(
            precision=hits / max(len(ours), 1),
            recall=hits / max(len(theirs), 1),
            f1=2 * hits / (len(ours) + len(theirs)),
        )


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """The blankets that several methods found for one target.

    Attributes
    ----------
    target
        Whose blanket it is.
    blankets
        What each method found: a read-only mapping from label to :class:`Blanket`.
    members
        Every column that a method found or that is true, in the order of the table.
    truth
        The true blanket, in the order of the table; ``None`` if it is not known.

    Examples
    --------
    >>> import komb
    >>> rows = {"k=0": {"method": "komb", "order": 0}, "k=1": {"method": "komb", "order": 1}}
    >>> table = komb.boolean_table("parity", 500, n_parents=2)
    >>> comparison = komb.compare(table, "Y", methods=rows, truth=["X1", "X2"])
    >>> comparison
    Comparison('Y': 2 methods)
    >>> comparison.blankets["k=0"].members, comparison.members
    ((), ('X1', 'X2'))
    """

    target: Name
    blankets: Mapping[str, Blanket] = field(hash=False)
    members: tuple[Name, ...]
    truth: tuple[Name, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "blankets", FrozenMapping(self.blankets))

    @property
    def scores(self) -> dict[str, Score] | None:
        """How near each method came to the truth, by label; ``None`` if that is not known."""
        if self.truth is None:
            return None
        return {label: Score.of(found, self.truth) for label, found in self.blankets.items()}

    @property
    def seconds(self) -> float:
        """Time of all searches together."""
        return sum(blanket.seconds for blanket in self.blankets.values())

    def __repr__(self) -> str:
        return f"Comparison({self.target!r}: {plural(len(self.blankets), 'method')})"

    def __str__(self) -> str:
        return self._sheet().to_text()

    def _repr_html_(self) -> str:
        return self._sheet().to_html()

    def __rich__(self) -> RenderableType:
        return self._sheet().to_rich()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as dictionaries and lists, names as they are in the table.

        Examples
        --------
        >>> import komb
        >>> table = komb.boolean_table("and", 500, n_parents=2)
        >>> comparison = komb.compare(table, "Y", methods=["komb"], truth=["X1", "X2"])
        >>> record = comparison.to_dict()
        >>> record["members"], record["scores"]["komb"]["f1"], list(record["blankets"])
        (['X1', 'X2'], 1.0, ['komb'])
        >>> Comparison.from_dict(record) == comparison
        True
        """
        scores = self.scores
        return {
            "target": self.target,
            "members": list(self.members),
            "truth": None if self.truth is None else list(self.truth),
            "scores": scores and {label: score._asdict() for label, score in scores.items()},
            "blankets": {label: blanket.to_dict() for label, blanket in self.blankets.items()},
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Comparison:
        """Rebuild a comparison from :meth:`to_dict`, or from parsed :meth:`to_json`.

        Parameters
        ----------
        record
            What ``to_dict`` returned; scores are computed anew.

        Examples
        --------
        >>> Comparison.from_dict({"target": "Y", "blankets": {}, "members": [], "truth": ["X"]})
        Comparison('Y': 0 methods)
        """
        values = known_fields(cls, record)
        found = {label: Blanket.from_dict(entry) for label, entry in values["blankets"].items()}
        truth = values.get("truth")
        return cls(
            target=values["target"],
            blankets=found,
            members=tuple(values["members"]),
            truth=None if truth is None else tuple(truth),
        )

    def to_json(self, *, indent: int | None = None) -> str:
        """Return everything as JSON.

        Parameters
        ----------
        indent
            Spaces a level; everything on one line if left out.

        Examples
        --------
        >>> Comparison("Y", {}, ("X",), ("X",)).to_json()
        '{"target": "Y", "members": ["X"], "truth": ["X"], "scores": {}, "blankets": {}}'
        """
        return dump_json(self.to_dict(), indent)

    @overload
    def to_frame(self, backend: Literal["polars"] = ...) -> pl.DataFrame: ...

    @overload
    def to_frame(self, backend: Literal["pandas"]) -> pd.DataFrame: ...

    def to_frame(self, backend: Backend = "polars") -> pl.DataFrame | pd.DataFrame:
        """Return a dataframe with a row for each method.

        Parameters
        ----------
        backend
            ``"polars"`` or ``"pandas"``.

        Returns
        -------
        polars.DataFrame or pandas.DataFrame
            With columns ``label``, ``method``, ``members`` (a list), ``size``, ``tests``,
            ``unreliable``, ``seconds``, ``precision``, ``recall`` and ``f1``; the last three are
            null where the truth is not known.

        Examples
        --------
        >>> import komb
        >>> table = komb.boolean_table("and", 500, n_parents=2)
        >>> frame = komb.compare(table, "Y", methods=["komb"], truth=["X1"]).to_frame()
        >>> frame.select("label", "members", "precision").row(0)
        ('komb', ['X1', 'X2'], 0.5)
        """
        return make_frame(self._columns(), backend)

    def to_csv(self) -> str:
        r"""Return the rows of :meth:`to_frame` as CSV, with semicolons between members.

        Spreadsheets run cells that begin with ``=``, ``+``, ``-``, ``@``, a tab or a carriage
        return; such text gets an apostrophe in front, which they do not show. For exact names use
        :meth:`to_json` or :meth:`to_frame`.

        Examples
        --------
        >>> Comparison("Y", {}, ()).to_csv()
        'label,method,members,size,tests,unreliable,seconds,precision,recall,f1\n'
        """
        columns = self._columns()
        columns["members"] = [";".join(map(str, names)) for names in columns["members"]]
        for key in ("label", "method", "members"):
            columns[key] = [no_formula(text) for text in columns[key]]
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        return text.getvalue()

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw which method found which column; true members have their names in bold.

        Parameters
        ----------
        ax
            Where to draw; if left out, on a new figure that fits.

        Returns
        -------
        matplotlib.axes.Axes
            ``comparison.plot().figure`` shows the picture in a notebook, and
            ``comparison.plot().figure.savefig("picture.png")`` writes it to a file.

        Raises
        ------
        komb.errors.MissingPackageError
            If matplotlib is not installed.

        Examples
        --------
        >>> import komb
        >>> ax = komb.compare(komb.boolean_table("and", 500), "Y", methods=["komb"]).plot()
        >>> ax.get_title(loc="left")
        'Markov blanket of Y'
        """
        return draw_matrix(
            f"Markov blanket of {show_name(self.target)}",
            list(self.blankets),
            [show_name(member) for member in self.members],
            [[self._mark(label, member) for label in self.blankets] for member in self.members],
            ax,
        )

    def _mark(self, label: str, member: Name) -> Mark:
        is_found = member in self.blankets[label]
        if self.truth is None:
            return "found" if is_found else "absent"
        if member in self.truth:
            return "hit" if is_found else "missed"
        return "extra" if is_found else "absent"

    def _columns(self) -> dict[str, list[Any]]:
        """Gather the fields of a frame, one value for each method."""
        blankets = list(self.blankets.values())
        scores = None if self.scores is None else list(self.scores.values())
        columns: dict[str, list[Any]] = {
            "label": list(self.blankets),
            "method": [blanket.method for blanket in blankets],
            "members": [list(blanket) for blanket in blankets],
            "size": [len(blanket) for blanket in blankets],
        }
        for key in ("tests", "unreliable", "seconds"):
            columns[key] = [getattr(blanket, key) for blanket in blankets]
        for key in Score._fields:
            columns[key] = [None] * len(blankets)
            if scores is not None:
                columns[key] = [getattr(score, key) for score in scores]
        return columns

    def _sheet(self) -> Sheet:
        n_methods = plural(len(self.blankets), "method")
        return Sheet(
            title=f"Markov blanket of {show_name(self.target)}: {n_methods} compared",
            facts=self._facts(),
            grids=(*self._matrix(), self._numbers()),
            notes=tuple(self._notes()),
            warnings=tuple(self._warnings()),
        )

    def _warnings(self) -> Iterator[str]:
        """Name leaks once, and what each method left out."""
        found = self.blankets.items()
        leaks = dict.fromkeys(leak for _, blanket in found for leak in blanket.leaks)
        yield from Remarks(leaks=tuple(leaks)).warnings(self.target)
        for label, blanket in found:
            for warning in Remarks(omissions=blanket.omissions).warnings(self.target):
                yield f"{show_name(label)}: {warning}"

    def _facts(self) -> str:
        """Say what all methods were run with, the level of the tests first."""
        shared = self._shared()
        alpha = shared.pop("alpha", None)
        level = "" if alpha is None else f"every method at alpha {alpha:g}"
        return ", ".join(filter(None, [level, show_parameters(shared)]))

    def _matrix(self) -> Iterator[Grid]:
        """Draw who found what, folded into several tables where it is too wide for one."""
        names = [show_name(member) for member in self.members]
        room = _WIDTH - max(map(len, names), default=0)
        for labels in _fold(list(self.blankets), room):
            rows = tuple(
                (name, *(_SIGNS[self._mark(label, member)] for label in labels))
                for name, member in zip(names, self.members, strict=True)
            )
            yield Grid(("member", *(f"{show_name(label)}^" for label in labels)), rows)

    def _numbers(self) -> Grid:
        """Draw what each method cost and how right it is."""
        found = self.blankets.items()
        columns: dict[str, list[str]] = {
            "method": [show_name(label) for label, _ in found],
            "size>": [str(len(blanket)) for _, blanket in found],
            "tests>": [f"{blanket.tests:,}" for _, blanket in found],
            "time>": [show_seconds(blanket.seconds) for _, blanket in found],
        }
        if any(blanket.unreliable for _, blanket in found):
            columns["unreliable>"] = [f"{blanket.unreliable:,}" for _, blanket in found]
        if self.scores is not None:
            for key in Score._fields:
                heading = f"{key.replace('f1', 'F1')}>"
                values = [getattr(score, key) for score in self.scores.values()]
                columns[heading] = [f"{value:.2f}" for value in values]
        return Grid(tuple(columns), tuple(zip(*columns.values(), strict=True)))

    def _shared(self) -> dict[str, Any]:
        """Return the parameters that all methods were run with."""
        first, *others = [found.settled_parameters for found in self.blankets.values()] or [{}]
        return {
            key: value
            for key, value in first.items()
            if all(other.get(key) == value for other in others)
        }

    def _notes(self) -> Iterator[str]:
        blankets = list(self.blankets.values())
        if self.truth is not None and self.members:
            yield _LEGEND
        elif not self.members:
            yield "No method found a member." if blankets else "Nothing was searched."
        yield from self._setting_notes()
        for identifiers in dict.fromkeys(blanket.identifiers for blanket in blankets):
            yield from identifier_notes(identifiers)
        if blankets:  # all were searched in one table
            yield from cut_notes(blankets[0])
        if any(blanket.unreliable for blanket in blankets):
            yield (
                "Caution: tests called unreliable had too few rows. Collect more, merge rare "
                "levels, exclude columns with many levels, or bound the conditioning sets."
            )
        if blankets:
            tests = plural(sum(blanket.tests for blanket in blankets), "test")
            rows = plural(blankets[0].n_rows, "row")
            yield f"{tests} on {rows} in {show_seconds(self.seconds)}."

    def _setting_notes(self) -> Iterator[str]:
        """Say what methods were run with that not all of them were."""
        shared = self._shared()
        alike: dict[str, list[str]] = {}
        for label, blanket in self.blankets.items():
            settled = blanket.settled_parameters
            own = {key: value for key, value in settled.items() if key not in shared}
            alike.setdefault(show_parameters(own), []).append(label)
        for settings, labels in alike.items():
            if settings:
                yield f"{show_names(labels)}: {settings}."


def _fold(labels: list[str], room: int) -> Iterator[list[str]]:
    """Split labels into runs that fit side by side, at least one in each.

    Examples
    --------
    >>> list(_fold(["gs", "iamb", "hiton-mb"], 10))
    [['gs', 'iamb'], ['hiton-mb']]
    """
    run: list[str] = []
    for label in labels:
        if run and sum(len(show_name(entry)) + 2 for entry in [*run, label]) > room:
            yield run
            run = []
        run.append(label)
    if run:
        yield run
