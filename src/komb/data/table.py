"""The one table that everything else in komb works on."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from komb.data.encoder import encode_data
from komb.data.inputs import check_shape, open_source
from komb.data.kinds import LEVELS, NOMINAL, ORDINAL, ColumnType, Place
from komb.data.levels import CodeArray, Levels, compact
from komb.data.names import FrozenMapping, Name, list_names
from komb.data.options import (
    DEFAULT_BINS,
    STRICT,
    Bins,
    Discretize,
    NaValues,
    ReadOptions,
    TypeOption,
    check_options,
)
from komb.data.parts import CodesHere, Parts, narrow
from komb.data.problems import Missing, explain
from komb.errors import ParameterError, UnknownNameError

MOST_RANKED_ROWS, MOST_RANKED_NUMBERS = 20_000, 5_000_000
"""Rows, and numbers in all columns together, that tests which take numbers by their ranks look at:
of longer tables, some rows."""

FEWEST_RANKED_ROWS = 2_000
"""If that many rows hold too many numbers, they are cut into bins."""

_CLASSES = "whole numbers of few values, taken as classes; if their order counts, say 'ordinal'"


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False, repr=False)
class DiscreteTable:
    """A table of discrete columns, encoded once and never changed.

    Make one with :func:`komb.table`, :func:`komb.read_table` or :meth:`from_codes`; the constructor
    itself trusts what it is given.

    Parameters
    ----------
    names
        The names of the columns, in order.
    parts
        Where the codes are: in memory, in a file, or on the workers of a cluster. The codes of a
        column run from 0 to its number of levels less one, and each of them occurs. One above the
        last level marks a missing value.
    levels
        For each column the original values that its codes stand for; the bins of a column that was
        cut have labels such as ``"1.5 to 2.3"``.
    cuts
        The cut points of the columns that were cut. ``discretize=table.cuts`` cuts other data in
        the same places.
    has_missing
        Whether there are values marked as missing.
    numbers
        The values of numeric columns with many of them, NaN where missing, for tests that take
        values and for strata of covariates; the codes of these columns are bins. Only where types
        were found.
    types
        What each column was found to be, those included that were left out; empty if that was not
        asked for.
    reading
        What :func:`komb.table` was told, as results report it; empty for tables made otherwise.
    notes
        What reading decided, by a word for it: a number, and the reason. ``"rows"``: how many rows
        weights have made.
    annotations
        Where variants of PLINK files are: ``(chromosome, position)`` by name.
    connection
        To the cluster that may count for searches of the table (``cluster`` is its client).

    Examples
    --------
    >>> table = DiscreteTable.from_data({"smoker": ["no", "yes", "no"], "age": [30, 50, 30]})
    >>> table
    DiscreteTable(3 rows x 2 columns, 2 levels)
    >>> table.codes
    array([[0, 1, 0],
           [0, 1, 0]], dtype=uint8)
    >>> table.levels
    (('no', 'yes'), (30, 50))
    """

    names: tuple[Name, ...]
    parts: Parts
    levels: tuple[Levels, ...]
    cuts: Mapping[Name, tuple[float, ...]] = field(default_factory=dict)
    has_missing: bool = False
    numbers: Mapping[Name, npt.NDArray[np.float64]] = field(default_factory=dict)
    types: Mapping[Name, ColumnType] = field(default_factory=dict)
    reading: Mapping[str, Any] = field(default_factory=dict)
    notes: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    annotations: Mapping[Name, Place] = field(default_factory=dict)
    connection: Any = None
    # What follows from its contents and is made when it is asked for: nothing that was decided
    made: dict[str, Any] = field(init=False, default_factory=dict)
    _positions: dict[Name, int] = field(init=False)

    def __post_init__(self) -> None:
        for values in self.numbers.values():  # they are the table's own: copied by the encoder
            values.flags.writeable = False
        for part in ("cuts", "numbers", "types", "reading", "notes", "annotations"):
            object.__setattr__(self, part, FrozenMapping(getattr(self, part)))
        object.__setattr__(self, "_positions", {name: i for i, name in enumerate(self.names)})

    @classmethod
    def from_data(
        cls,
        data: object,
        *,
        exclude: Collection[Name] = (),
        types: TypeOption = STRICT,
        discretize: Discretize = None,
        bins: Bins = DEFAULT_BINS,
        missing: str | None = None,
        na_values: NaValues = (),
        target: Name | None = None,
    ) -> DiscreteTable:
        """Encode a table as :func:`komb.table` does, but by default with strict types.

        Parameters
        ----------
        data, exclude, types, discretize, bins, missing, na_values, target
            As in :func:`komb.table`.

        Examples
        --------
        >>> DiscreteTable.from_data(np.array([[0, 2], [1, 3], [1, 4]]))
        DiscreteTable(3 rows x 2 columns, 2-3 levels)
        """
        options = check_options(
            discretize, bins, missing, types, na_values, exclude=exclude, target=target
        )
        return encode_table(data, options)

    def _check_unread(self, options: ReadOptions) -> None:
        """Raise if something is asked for that only raw data can give."""
        marks = ["missing"] if options.missing == "level" and self.has_missing else []
        rule = "be left out for a DiscreteTable, which is encoded already"
        remedy = "Pass it when the table is made: komb.table(data, {}=...)."
        options.refuse(["discretize", "types", "na_values", *marks], rule, remedy)

    @classmethod
    def from_codes(
        cls,
        codes: npt.ArrayLike,
        names: Sequence[Name] | None = None,
        levels: Sequence[Sequence[object]] | None = None,
        *,
        missing: str = "error",
    ) -> DiscreteTable:
        """Build a table from integers, quickly.

        Parameters
        ----------
        codes
            Integers of shape ``(n_rows, n_columns)``.
        names
            Names of the columns; 0, 1, ... if left out.
        levels
            For each column the values that the codes 0, 1, ... stand for; the codes themselves if
            left out. Levels that do not occur are dropped, the others keep their order.
        missing
            With ``"level"`` or ``"testwise"``, which are as in :func:`komb.table`, the code -1 is a
            missing value.

        Examples
        --------
        >>> table = DiscreteTable.from_codes([[0, 1], [2, 1]], ["x", "y"], ["abc", "de"])
        >>> table.levels, table.codes.tolist()
        ((('a', 'c'), ('e',)), [[0, 1], [0, 0]])
        """
        values = np.asarray(codes)
        options = check_options(missing=missing)
        if values.ndim != 2 or values.dtype.kind not in "iub":
            rule = "be a two-dimensional array of integers"
            got = f"{values.dtype} of shape {values.shape}"
            remedy = "Use komb.table for other values."
            raise ParameterError.because("codes", rule, got, remedy)
        labels = tuple(range(values.shape[1])) if names is None else tuple(names)
        for parameter, given in (("names", labels), ("levels", levels)):
            if given is not None and len(given) != values.shape[1]:
                rule = f"have one entry for each of the {values.shape[1]} columns"
                remedy = "Add or remove some."
                raise ParameterError.because(parameter, rule, f"{len(given)} entries", remedy)
        check_shape(labels, len(values))
        known = values if options.missing == "error" else np.ma.masked_equal(values, -1)
        encoded = encode_data(open_source(known).renamed(labels), options)
        found = encoded.levels
        if levels is not None:
            found = tuple(_look_up(labels, found, levels))
        return cls(labels, CodesHere(encoded.codes), found, has_missing=encoded.has_missing)

    @property
    def codes(self) -> CodeArray:
        """All codes, of shape ``(n_columns, n_rows)``, so that a column is contiguous.

        Those of a table that is elsewhere are brought here, if there is memory for them.
        """
        return self.parts.whole

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.parts.n_rows

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return len(self.names)

    @property
    def cardinalities(self) -> npt.NDArray[np.int64]:
        """The number of levels of each column; missing values are none."""
        return np.array([len(found) for found in self.levels], np.int64)

    @property
    def missing_counts(self) -> npt.NDArray[np.int64]:
        """How many values of each column are marked as missing."""
        if not self.has_missing:
            return np.zeros(self.n_columns, np.int64)
        return self.parts.count_missing(self.cardinalities)

    @property
    def is_in_memory(self) -> bool:
        """Whether its codes are here, to be gone through at any time."""
        return self.parts.is_here

    @property
    def groups(self) -> Mapping[Name, tuple[Name, ...]]:
        """The columns of each group that is one column of the table."""
        found: Mapping[Name, tuple[Name, ...]] = self.reading.get("groups", {})
        return found

    @property
    def cluster(self) -> Any:
        """The client of the cluster that may count for searches of the table, or None."""
        return None if self.connection is None else self.connection.client

    @property
    def has_ranks(self) -> bool:
        """Whether it has numbers that tests may take by their ranks.

        Groups, weights and a rule for cutting all columns have everything counted by levels.
        """
        said = self.reading
        if said.get("groups") or said.get("weights") or isinstance(said.get("discretize"), str):
            return False
        return 0 < self.n_ranked_rows * len(self.numbers) <= MOST_RANKED_NUMBERS

    @property
    def n_ranked_rows(self) -> int:
        """Rows that tests of numbers by their ranks look at.

        Ranks take some 150 bytes per number, and tests a time that grows with the rows.
        """
        most = MOST_RANKED_NUMBERS // max(1, len(self.numbers))
        return min(self.n_rows, MOST_RANKED_ROWS, max(most, FEWEST_RANKED_ROWS))

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the codes."""
        return self.parts.dtype

    def level_counts(self, position: int) -> npt.NDArray[np.int64]:
        """How many rows have each level of a column; the last number is of missing values."""
        return self.parts.count_levels(position, len(self.levels[position]) + 1)

    @property
    def nbytes(self) -> int:
        """The memory that the codes take, or would take if they were here, in bytes."""
        return self.parts.nbytes

    def verify(self) -> None:
        """Compare what is on disk with its checksums; codes in memory have none.

        Raises
        ------
        komb.errors.FileError
            If anything is missing or damaged.
        """
        self.parts.verify()

    def index(self, name: Name) -> int:
        """Return the position of a column.

        Examples
        --------
        >>> DiscreteTable.from_data({"x": [1, 2], "y": [0, 0]}).index("y")
        1
        """
        try:
            return self._positions[name]
        except (KeyError, TypeError):  # TypeError: not even hashable
            homes = [group for group, columns in self.groups.items() if name in columns]
            remedy = f"It is part of the group {homes[0]!r}: name that." if homes else ""
            raise UnknownNameError.among("column", name, self.names, remedy=remedy) from None

    def column(self, name: Name) -> list[object]:
        """Return the original values of a column, or the labels of their bins if it was cut.

        Missing values are ``None``.

        Examples
        --------
        >>> DiscreteTable.from_data({"x": ["b", "a"]}).column("x")
        ['b', 'a']
        """
        position = self.index(name)
        values = (*self.levels[position], None)
        return list(map(values.__getitem__, self.codes[position].tolist()))

    def select(self, names: Iterable[Name]) -> DiscreteTable:
        """Return a table of some columns, in the order given.

        Examples
        --------
        >>> DiscreteTable.from_data({"x": [1, 2], "y": [0, 0]}).select(["y"]).names
        ('y',)
        """
        positions = self.positions(names)
        chosen = [self.names[i] for i in positions]
        levels = [self.levels[i] for i in positions]
        return self._with_parts(chosen, self.parts.select(positions), levels)

    def positions(self, names: Iterable[Name]) -> list[int]:
        """Return the positions of some columns, each named once."""
        found = [self.index(name) for name in list_names("names", names)]
        check_shape([self.names[position] for position in found], self.n_rows)
        return found

    def take(self, rows: npt.ArrayLike) -> DiscreteTable:
        """Return a table of some rows, in the order given and as often as given.

        Levels that no longer occur are dropped.

        Parameters
        ----------
        rows
            Row numbers; negative ones count from the end.

        Examples
        --------
        >>> table = DiscreteTable.from_data({"x": ["a", "b", "c"]}).take([2, 0])
        >>> table.column("x"), table.levels
        (['c', 'a'], (('a', 'c'),))
        """
        chosen = _check_rows(rows, self.n_rows)
        codes = self.codes[:, chosen]
        levels = []
        empty: dict[Name, Missing] = {}
        for position, old in enumerate(self.levels):
            # The mark of a missing value is the highest code, and still is when codes move up.
            codes[position], seen = compact(codes[position], len(old) + 1)
            left = tuple(old[code] for code in seen if code < len(old))
            levels.append(left)
            if not left:
                empty[self.names[position]] = Missing(codes.shape[1], 0, codes.shape[1])
        if empty:
            raise explain(empty)
        numbers = {name: values[chosen] for name, values in self.numbers.items()}
        return self.derive(self.names, codes, levels, numbers)

    def with_classes(self, name: Name) -> DiscreteTable:
        """Return the table with the levels of a target as classes, unless its type was named.

        Whole numbers of few values may be codes, and then what is found must not depend on which
        class has which. Two levels are no different as numbers; a column that is named ordinal is
        among ``numbers``.
        """
        found = self.types.get(name)
        if found is None or (found.kind, found.treatment) != (ORDINAL, LEVELS):
            return self
        if name in self.numbers or len(self.levels[self.index(name)]) < 3:
            return self
        classes = replace(found, kind=NOMINAL, reason=_CLASSES)
        return replace(self, types={**self.types, name: classes})

    def derive(
        self,
        names: Iterable[Name],
        codes: CodeArray,
        levels: Sequence[Levels],
        numbers: Mapping[Name, npt.NDArray[np.float64]] | None = None,
        made: Collection[Name] = (),
    ) -> DiscreteTable:
        """Build a table of other rows or columns, some of which may be made of several."""
        return self._with_parts(names, CodesHere(narrow(codes)), levels, numbers, made)

    def _with_parts(
        self,
        names: Iterable[Name],
        parts: Parts,
        levels: Sequence[Levels],
        numbers: Mapping[Name, npt.NDArray[np.float64]] | None = None,
        made: Collection[Name] = (),
    ) -> DiscreteTable:
        names = tuple(names)
        kept = set(names).difference(made)
        known = self.numbers if numbers is None else numbers
        n_levels = np.array([len(found) for found in levels], np.int64)
        return DiscreteTable(
            names,
            parts,
            tuple(levels),
            {name: points for name, points in self.cuts.items() if name in kept},
            has_missing=bool(parts.count_missing(n_levels).any()),
            numbers={name: values for name, values in known.items() if name in kept},
            types={n: found for n, found in self.types.items() if n in kept or found.is_left_out},
            reading=self.reading,
            notes=self.notes,
            annotations={n: at for n, at in self.annotations.items() if n in kept},
            connection=self.connection,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DiscreteTable):
            return NotImplemented
        return (
            self.names == other.names
            and self.levels == other.levels
            and self.cuts == other.cuts
            and np.array_equal(self.codes, other.codes)
            and self.numbers.keys() == other.numbers.keys()
            and all(
                np.array_equal(values, other.numbers[name], equal_nan=True)
                for name, values in self.numbers.items()
            )
        )

    def __repr__(self) -> str:
        low, high = self.cardinalities.min(), self.cardinalities.max()
        span = _plural(int(high), "level") if low == high else f"{low}-{high} levels"
        shape = f"{_plural(self.n_rows, 'row')} x {_plural(self.n_columns, 'column')}"
        missing = f", {_plural(int(self.missing_counts.sum()), 'missing value')}"
        where = f", {self.parts.where}" if self.parts.where else ""
        return f"DiscreteTable({shape}, {span}{missing if self.has_missing else ''}{where})"

    def __reduce__(self) -> tuple[type[DiscreteTable], tuple[object, ...]]:
        # A pickled array comes back writeable; going through the constructor protects it again.
        parts = self.names, self.parts, self.levels, self.cuts, self.has_missing
        said = self.types, self.reading, self.notes, self.annotations
        return DiscreteTable, (*parts, self.numbers, *said)


def _look_up(
    names: Sequence[Name], codes: Sequence[Levels], levels: Sequence[Sequence[object]]
) -> Iterator[Levels]:
    for name, seen, values in zip(names, codes, levels, strict=True):
        missing = seen[-1:] if seen[-1] is None else ()
        numbers = [int(code) for code in seen if code is not None]  # type: ignore[call-overload]
        if numbers[0] < 0 or numbers[-1] >= len(values):
            rule = (
                f"be from 0 to {len(values) - 1} in column {name!r}, which has {len(values)} levels"
            )
            got = numbers[0] if numbers[0] < 0 else numbers[-1]
            remedy = "Correct the codes or add levels; missing='testwise' makes -1 a missing value."
            raise ParameterError.because("codes", rule, got, remedy)
        yield tuple(values[number] for number in numbers) + missing


def encode_table(data: object, options: ReadOptions) -> DiscreteTable:
    """Encode a table, as :meth:`DiscreteTable.from_data` does, by options that are checked."""
    if isinstance(data, DiscreteTable):
        data._check_unread(options)
        if not options.exclude and options.only is None:
            return data
        which = ReadOptions(exclude=options.exclude, only=options.only)
        return data.select(which.names_left(data.names))
    encoded = encode_data(data, options)
    parts = CodesHere(encoded.codes)
    return DiscreteTable(encoded.names, parts, *encoded[2:], reading=options.describe())


def column_numbers(table: DiscreteTable, name: Name) -> npt.NDArray[np.float64] | None:
    """Return a column as numbers, NaN where values are missing; ``None`` if it holds others."""
    if name in table.numbers:
        return table.numbers[name]
    position = table.index(name)
    levels = [math.nan if level is None else level for level in table.levels[position]]
    if not all(isinstance(level, Real) and not isinstance(level, bool) for level in levels):
        return None
    numbers: npt.NDArray[np.float64] = np.array([*levels, math.nan])[table.codes[position]]
    return numbers


def _check_rows(rows: npt.ArrayLike, n_rows: int) -> npt.NDArray[np.intp]:
    chosen = np.asarray(rows)
    rule = f"be a list of row numbers below {n_rows}"
    if chosen.dtype.kind == "b":
        remedy = "Turn a mask into row numbers: np.flatnonzero(mask)."
        raise ParameterError.because("rows", rule, "booleans", remedy)
    if chosen.ndim != 1 or chosen.size == 0 or chosen.dtype.kind not in "iu":
        got = "none" if chosen.size == 0 else f"{chosen.dtype} of shape {chosen.shape}"
        raise ParameterError.because("rows", rule, got, "Pass at least one row number.")
    wrong = chosen[(chosen >= n_rows) | (chosen < -n_rows)]
    if wrong.size:
        raise ParameterError.because("rows", rule, int(wrong[0]), "Rows are counted from 0.")
    return chosen.astype(np.intp)


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
