"""Groups of columns that act together on a target."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from komb.data.kinds import Place
from komb.data.names import Name
from komb.errors import ParameterError, UnknownNameError
from komb.results.export import Drawn, columns_of
from komb.results.record import Record
from komb.views.interactions_text import certificate, interaction_sheet, interactions_sheet
from komb.views.text import Sheet, plural, show_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FRAME_COLUMNS = (
    "rank", "columns", "statistic", "df", "p_value", "p_family", "p_fdr", "bits", "bits_in_all",
    "n_rows", "places", "proxies",
)  # fmt: skip
_MEDIAN = 0.4549364  # of a chi-square with one degree of freedom

PICTURES = ("groups", "heatmap", "manhattan", "qq")
"""What :meth:`Interactions.plot` can draw."""


@dataclass(frozen=True, slots=True)
class Cells(Record):
    """The table of effects of a group.

    Attributes
    ----------
    levels
        The levels of each column, as text.
    n_rows
        Rows of each cell; the levels of the last column change fastest.
    means
        The mean of the target there, or the share of ``level``; ``None`` without rows.
    level
        The level of the target that shares are of; ``None`` if it is measured.
    """

    levels: tuple[tuple[str, ...], ...]
    n_rows: tuple[int, ...]
    means: tuple[float | None, ...]
    level: str | None


@dataclass(frozen=True, slots=True)
class Interaction(Record, Drawn):
    """One group of columns, and what it does together.

    Attributes
    ----------
    rank
        From 1: the smallest family-wise p-value.
    columns
        The group, in the order of the table.
    statistic : float
        Of the test of the group.
    df : float
        Its degrees of freedom.
    p_value : float
        The p-value of the group by itself.
    p_family
        The p-value corrected for all groups that were searched (Bonferroni, weighted).
    p_fdr
        The false discovery rate at which the group would be found (Benjamini & Hochberg), among
        groups of its size.
    bits
        What the group tells about the target beyond all of its subsets, in bits per row, less what
        chance gives.
    bits_in_all
        What its columns tell together, likewise.
    n_rows
        Rows without a missing value in it.
    places
        Chromosome and position of each column, if they are variants.
    proxies
        Other groups that are the same finding: their columns are near-copies of these.
    cells
        The table of effects, of the first groups.
    """

    rank: int
    columns: tuple[Name, ...]
    statistic: float
    df: float
    p_value: float
    p_family: float
    p_fdr: float
    bits: float
    bits_in_all: float
    n_rows: int
    target: Name = None
    places: tuple[str, ...] = ()
    proxies: tuple[tuple[Name, ...], ...] = ()
    cells: Cells | None = None

    def __repr__(self) -> str:
        return f"Interaction({show_names(self.columns)}: p = {self.p_value:.2g})"

    def _sheet(self) -> Sheet:
        return interaction_sheet(self)

    def _columns(self) -> dict[str, list[Any]]:
        return _columns_of([self])

    def _draw(self, ax: Axes | None) -> Axes:
        from komb.views.pictures.interactions import plot_cells

        return plot_cells(self, ax)


@dataclass(frozen=True, slots=True)
class Searched(Record):
    """What was searched among groups of one size.

    Attributes
    ----------
    size
        Columns of a group.
    n_groups
        How many groups of that size there are.
    n_tested
        How many were tested: the others have tables of too many cells.
    most_bits
        More than that no group has, but for those that were found, with 95 % confidence for all
        sizes together.
    """

    size: int
    n_groups: int
    n_tested: int
    most_bits: float


@dataclass(frozen=True, slots=True, repr=False)
class Interactions(Record, Drawn, Sequence[Interaction]):
    """Groups of columns that act together on a target, the most significant first.

    ``found[0]`` is the first :class:`~komb.results.interactions.Interaction`, ``found.significant``
    has those whose family-wise p-value is at most ``level``.

    Attributes
    ----------
    target
        The column that they act on.
    test
        ``"interaction"`` or ``"association"``.
    level
        The family-wise error.
    groups
        All groups that are listed; most of them are not significant.
    searched
        How many groups of each size there are, and what none of them has.
    p_values
        Of each column by itself: its association with the target.
    places
        Chromosome and position of the columns that are variants.
    given
        The covariates.
    n_rows : int
        Rows with a target and all covariates.
    n_columns : int
        Columns that groups were made of.
    notes
        What was done to columns, in sentences.
    seconds
        How long it took.

    Examples
    --------
    >>> import komb
    >>> found = komb.interactions(komb.boolean_table("parity", 500, n_irrelevant=3), "Y", order=3)
    >>> found
    Interactions('Y': 1 group of 35)
    >>> found[0].columns, round(found[0].bits, 1)
    (('X1', 'X2', 'X3'), 0.6)

    Notes
    -----
    ``to_frame`` has a row per group. ``plot()`` draws the significant groups;
    ``plot(kind="heatmap")`` pairs, ``"manhattan"`` the best p-value of each column, ``"qq"`` the
    p-values of single columns, with their inflation. ``found[0].plot()`` draws the table of effects
    of one group.
    """

    target: Name
    test: str
    level: float
    groups: tuple[Interaction, ...]
    searched: tuple[Searched, ...]
    p_values: Mapping[Name, float]
    places: Mapping[Name, Place]
    given: tuple[Name, ...]
    n_rows: int
    n_columns: int
    notes: tuple[str, ...] = ()
    seconds: float = 0.0

    def __len__(self) -> int:
        return len(self.groups)

    def __iter__(self) -> Iterator[Interaction]:
        return iter(self.groups)

    @overload
    def __getitem__(self, index: int) -> Interaction: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Interaction]: ...

    def __getitem__(self, index: int | slice) -> Interaction | Sequence[Interaction]:
        return self.groups[index]

    def of(self, columns: Collection[Name]) -> Interaction:
        """Return the entry of a group, or of the one that it is a proxy of.

        Examples
        --------
        >>> import komb
        >>> found = komb.interactions(komb.boolean_table("parity", 500, n_parents=2), "Y")
        >>> found.of(["X2", "X1"]).rank
        1
        """
        for entry in self.groups:
            if any(set(columns) == {*group} for group in (entry.columns, *entry.proxies)):
                return entry
        raise UnknownNameError.among("group", tuple(columns), [g.columns for g in self.groups])

    @property
    def significant(self) -> tuple[Interaction, ...]:
        """The groups whose family-wise p-value is at most ``level``."""
        return tuple(entry for entry in self.groups if entry.p_family <= self.level)

    @property
    def order(self) -> int:
        """The size of the largest groups that were searched."""
        return max(each.size for each in self.searched)

    @property
    def certificate(self) -> str:
        """What no group carries, besides those that were found, as a sentence.

        Examples
        --------
        >>> import komb
        >>> found = komb.interactions(komb.boolean_table("parity", 500, n_parents=2), "X1")
        >>> print(found.certificate)
        With 95 % confidence, no other group of up to 2 of these columns carries more ...
        """
        return certificate(self)

    @property
    def inflation(self) -> float:
        """Genomic inflation, of the tests of single columns; 1 if most of them tell nothing."""
        from scipy.special import chdtri

        p_values = sorted(p for p in self.p_values.values() if p < 1.0)
        if not p_values:
            return math.nan
        return float(chdtri(1, p_values[len(p_values) // 2]) / _MEDIAN)

    def __repr__(self) -> str:
        found, total = len(self.significant), sum(each.n_tested for each in self.searched)
        return f"Interactions({self.target!r}: {plural(found, 'group')} of {total:,})"

    def to_plink(self) -> str:
        r"""Return the groups as PLINK writes tables: tab-separated, a line for each.

        Columns ``CHR1``, ``SNP1``, ``BP1`` to those of the last column of a group, ``NA`` where a
        group has fewer; ``STAT``, ``DF``, ``P``, ``BONF``, ``FDR_BH``, ``BITS``, ``BITS_ALL``,
        ``NMISS`` (rows that were tested) and ``PROXIES``.

        Examples
        --------
        >>> import komb
        >>> found = komb.interactions(komb.boolean_table("parity", 500, n_parents=2), "Y")
        >>> found.to_plink().splitlines()[0].split("\t")[:7]
        ['CHR1', 'SNP1', 'BP1', 'CHR2', 'SNP2', 'BP2', 'STAT']
        """
        order = self.order
        heads = [f"{word}{i}" for i in range(1, order + 1) for word in ("CHR", "SNP", "BP")]
        rest = ["STAT", "DF", "P", "BONF", "FDR_BH", "BITS", "BITS_ALL", "NMISS", "PROXIES"]
        lines = ["\t".join([*heads, *rest])]
        for each in self.groups:
            fields: list[str] = []
            for name in (*each.columns, *[None] * (order - len(each.columns))):
                at = self.places.get(name)
                fields += [at.chromosome if at else "NA", "NA" if name is None else _field(name)]
                fields.append("NA" if at is None or at.position is None else str(at.position))
            numbers = (each.statistic, each.df, each.p_value, each.p_family, each.p_fdr)
            fields += [f"{number:.6g}" for number in (*numbers, each.bits, each.bits_in_all)]
            proxies = "|".join(",".join(map(_field, group)) for group in each.proxies)
            lines.append("\t".join([*fields, str(each.n_rows), proxies or "NA"]))
        return "\n".join(lines) + "\n"

    def plot(self, ax: Axes | None = None, *, kind: str = "groups") -> Axes:
        """Draw a picture.

        Parameters
        ----------
        ax
            Where to draw; if left out, on a new figure that fits.
        kind : {"groups", "heatmap", "manhattan", "qq"}
            What to draw: the significant groups around the target; pairs in two dimensions; the
            best p-value of every column, along the genome if they are variants; the p-values of
            single columns beside those expected.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> import komb
        >>> found = komb.interactions(komb.boolean_table("parity", 500, n_parents=2), "Y")
        >>> found.plot(kind="qq").get_xlabel()
        'expected -log10 p'
        """
        from komb.views.pictures import interactions as pictures

        if kind not in PICTURES:
            rule = f"be one of {', '.join(map(repr, PICTURES))}"
            raise ParameterError.because("kind", rule, kind, "Leave it out for the groups.")
        return pictures.DRAWN[kind](self, ax)

    def save(self, folder: str | os.PathLike[str], *, source: str = "") -> list[Path]:
        """Write tables, pictures and a page into a folder, which is made if it is not there.

        ``groups.tsv`` and ``columns.tsv`` (tab-separated, with PLINK's column names),
        ``results.json``, pictures (``.png``, if matplotlib is installed) and ``report.html``, which
        needs no other file.

        Parameters
        ----------
        folder
            Where to write.
        source
            Where the data come from, for the page to say so.

        Returns
        -------
        list of pathlib.Path
            The files.

        Examples
        --------
        >>> import komb, tempfile
        >>> found = komb.interactions(komb.boolean_table("parity", 500, n_parents=2), "Y")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     [file.name for file in found.save(folder)][:3]
        ['groups.tsv', 'columns.tsv', 'results.json']
        """
        from komb.views.report.interactions_page import check_folder, save_results

        return save_results(self, check_folder(folder), source)

    def _sheet(self) -> Sheet:
        return interactions_sheet(self)

    def _columns(self) -> dict[str, list[Any]]:
        return _columns_of(self.groups)

    def _draw(self, ax: Axes | None) -> Axes:
        return self.plot(ax)


def _columns_of(groups: Sequence[Interaction]) -> dict[str, list[Any]]:
    columns = columns_of(groups, _FRAME_COLUMNS)
    for name in ("columns", "places"):
        columns[name] = [list(each) for each in columns[name]]
    columns["proxies"] = [[show_names(group) for group in each] for each in columns["proxies"]]
    return columns


def _field(name: Name) -> str:
    """Write a name as a field of a table with tabs between."""
    return "_".join(str(name).split())
