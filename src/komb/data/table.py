"""The one table that everything else in komb works on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from komb.data.encode.arrays import Later, encode_array, encode_matrix
from komb.data.encode.codes import CodeArray, Levels, Name, code_dtype, compact
from komb.data.encode.column_errors import Missing, explain
from komb.data.encode.column_types import ColumnType
from komb.data.encode.inputs import Request, check_shape, convert
from komb.data.encode.treatment import (
    DEFAULT_BINS,
    STRICT,
    Bins,
    Discretize,
    NaValues,
    Treatment,
    TypeOption,
    check_treatment,
)
from komb.data.frozen_mapping import FrozenMapping
from komb.errors import ParameterError, UnknownNameError

MOST_RANKED_ROWS, MOST_RANKED_NUMBERS = 50_000, 5_000_000
"""Rows, and numbers in all columns together, up to which tests may take numbers by their ranks."""


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False, repr=False)
class DiscreteTable:
    """A table of discrete columns, encoded once and never changed.

    Make one with :meth:`from_data`, :meth:`from_codes` or :func:`komb.read_table`; the constructor
    itself trusts what it is given.

    Parameters
    ----------
    names
        The names of the columns, in order.
    codes
        Shape ``(n_columns, n_rows)``, so that a column is contiguous. The codes of a column run
        from 0 to its number of levels less one, and each of them occurs. One above the last level
        marks a missing value.
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
        values; the codes of these columns are bins. Only where types were found.
    types
        What each column was found to be, those included that were left out; empty if that was not
        asked for.

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
    codes: CodeArray
    levels: tuple[Levels, ...]
    cuts: Mapping[Name, tuple[float, ...]] = field(default_factory=dict)
    has_missing: bool = False
    numbers: Mapping[Name, npt.NDArray[np.float64]] = field(default_factory=dict)
    types: Mapping[Name, ColumnType] = field(default_factory=dict)
    _positions: dict[Name, int] = field(init=False)

    def __post_init__(self) -> None:
        codes = np.ascontiguousarray(self.codes)[:]  # a view, so the caller's flag stays as it is
        codes.flags.writeable = False
        object.__setattr__(self, "codes", codes)
        for values in self.numbers.values():  # they are the table's own: see AutomaticEncoder
            values.flags.writeable = False
        for part in ("cuts", "numbers", "types"):
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
        """Encode a table of any supported kind.

        Parameters
        ----------
        data
            A pandas, polars or pyarrow table, a two-dimensional numpy array (its columns are named
            0, 1, ...), a mapping of names to columns, or a ``DiscreteTable``, which is returned as
            it is. Columns may hold integers, booleans, text, categories, dates or any hashable
            values; floats are fine while they are whole numbers or few.
        exclude
            Names of columns to leave out; they are not looked at, whatever they hold.
        types
            ``"strict"``: nothing is decided for you; numbers are levels, and a column that looks
            continuous or has missing values is an error unless something is said about it.
            ``"auto"``: types are found as :func:`komb.markov_blanket` finds them, and are in
            ``types`` of the table. Or types of some columns, ``{"zip": "nominal"}``; those of the
            others are found.
        discretize
            How to cut numeric columns into bins: ``"quantile"`` (bins of equally many rows),
            ``"uniform"`` (bins of one width), ``"kmeans"`` (bins around clusters) or ``"mdl"``
            (where the levels of the target change; as many bins as pay, Fayyad & Irani 1993) for
            all columns of numbers with more than 20 distinct values or that look continuous. Or a
            mapping from columns to one of those or to ascending cut points, such as ``{"age": [18,
            65]}``; other columns are left as they are. A value on a cut point is in the bin above
            it; infinite values, and those outside of what was seen, are in the outermost bins.
        bins
            Into how many bins, for all columns or by column (4 where not named). There may be fewer
            where many rows have one value.
        missing
            What to do about missing values: ``"error"``; ``"level"``, they are a level of their
            own, ``None``, the last one; or ``"testwise"``, they are marked, and each test is made
            on the rows that are complete for its columns. If left out, they are an error to
            ``types="strict"`` and testwise otherwise. To drop all incomplete rows, do so first, for
            instance with ``df.dropna()``.
        na_values
            What stands for a missing value besides NaN, null and (where types are found) text such
            as ``"NA"``, ``"?"`` and ``"."``: values for all columns, or a list for each of some.
        target
            By whose levels ``"mdl"`` cuts; it must be discrete, or be cut in some other way.

        Returns
        -------
        DiscreteTable
            With levels in natural order; categories keep theirs.

        Raises
        ------
        komb.errors.DataError
            If the table is empty or has two columns of one name; with strict types also if it has
            missing values that were not provided for, a column without any value, continuous
            columns that are not to be cut or columns with more than 65,535 levels.

        Examples
        --------
        >>> DiscreteTable.from_data(np.array([[0, 2], [1, 3], [1, 4]]))
        DiscreteTable(3 rows x 2 columns, 2-3 levels)
        >>> people = {"age": [15, 30, None, 70, 42], "sex": ["f", "m", "f", "f", "m"]}
        >>> table = DiscreteTable.from_data(people, discretize={"age": [18, 65]}, missing="level")
        >>> table.levels[0], table.column("age")[:3]
        (('< 18', '18 to 65', '>= 65', None), ['< 18', '18 to 65', None])
        """
        treatment = check_treatment(discretize, bins, missing, types, na_values)
        return encode_table(data, treatment, exclude=exclude, target=target)

    def _check_untreated(self, treatment: Treatment) -> None:
        """Raise if something is asked for that only raw data can give."""
        if treatment.discretize is not None:
            parameter = "discretize"
        elif treatment.types:
            parameter = "types"
        elif treatment.na_values:
            parameter = "na_values"
        elif treatment.missing == "level" and self.has_missing:
            parameter = "missing"
        else:
            return
        rule = "be left out for a DiscreteTable, which is encoded already"
        remedy = f"Pass it when the table is made: DiscreteTable.from_data(data, {parameter}=...)."
        raise ParameterError.because(parameter, rule, treatment.describe()[parameter], remedy)

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
            With ``"level"`` or ``"testwise"``, which are as in :meth:`from_data`, the code -1 is a
            missing value.

        Examples
        --------
        >>> table = DiscreteTable.from_codes([[0, 1], [2, 1]], ["x", "y"], ["abc", "de"])
        >>> table.levels, table.codes.tolist()
        ((('a', 'c'), ('e',)), [[0, 1], [0, 0]])
        """
        values = np.asarray(codes)
        treatment = check_treatment(missing=missing)
        if values.ndim != 2 or values.dtype.kind not in "iub":
            rule = "be a two-dimensional array of integers"
            got = f"{values.dtype} of shape {values.shape}"
            remedy = "Use DiscreteTable.from_data for other values."
            raise ParameterError.because("codes", rule, got, remedy)
        labels = tuple(range(values.shape[1])) if names is None else tuple(names)
        for parameter, given in (("names", labels), ("levels", levels)):
            if given is not None and len(given) != values.shape[1]:
                rule = f"have one entry for each of the {values.shape[1]} columns"
                remedy = "Add or remove some."
                raise ParameterError.because(parameter, rule, f"{len(given)} entries", remedy)
        check_shape(labels, len(values))
        if treatment.missing == "error":
            encoded = encode_matrix(values, labels)
        else:
            masked = np.ma.masked_equal(values, -1)
            columns = {name: Later(encode_array, masked[:, i]) for i, name in enumerate(labels)}
            encoded = Request((), treatment).encode(columns, len(values))
        found = encoded.levels
        if levels is not None:
            found = tuple(_look_up(labels, found, levels))
        return cls(labels, encoded.codes, found, has_missing=encoded.has_missing)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.codes.shape[1])

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
        counts = [np.count_nonzero(self.codes[i] == k) for i, k in enumerate(self.cardinalities)]
        return np.array(counts, np.int64)

    @property
    def is_in_memory(self) -> bool:
        """Whether its codes are here, to be gone through at any time."""
        return True

    @property
    def has_ranks(self) -> bool:
        """Whether it has numbers, and they are few enough to be tested by their ranks.

        Ranks take some 150 bytes per number, and tests a time that grows with the rows.
        """
        n_numbers = self.n_rows * len(self.numbers)
        return 0 < n_numbers <= MOST_RANKED_NUMBERS and self.n_rows <= MOST_RANKED_ROWS

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the codes."""
        return self.codes.dtype

    def level_counts(self, position: int) -> npt.NDArray[np.int64]:
        """How many rows have each level of a column; the last number is of missing values."""
        return np.bincount(self.codes[position], minlength=len(self.levels[position]) + 1)

    @property
    def nbytes(self) -> int:
        """The memory that the codes take, in bytes."""
        return self.codes.nbytes

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
            raise UnknownNameError.among("column", name, self.names) from None

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
        if isinstance(names, str):
            remedy = f"Put it in a list: [{names!r}]."
            raise ParameterError.because("names", "be a list of column names", names, remedy)
        positions = [self.index(name) for name in names]
        chosen = tuple(self.names[position] for position in positions)
        check_shape(chosen, self.n_rows)
        levels = [self.levels[i] for i in positions]
        return self._narrowed(chosen, self.codes[positions], levels, self.numbers)

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
                empty[self.names[position]] = Missing(np.ones(codes.shape[1], bool))
        if empty:
            raise explain(empty)
        numbers = {name: values[chosen] for name, values in self.numbers.items()}
        return self._narrowed(self.names, codes, levels, numbers)

    def _narrowed(
        self,
        names: tuple[Name, ...],
        codes: CodeArray,
        levels: Sequence[Levels],
        numbers: Mapping[Name, npt.NDArray[np.float64]],
    ) -> DiscreteTable:
        """Build a table after levels were lost, in the smallest type that still holds the codes."""
        n_codes = codes.max(axis=1).astype(np.int64) + 1
        return DiscreteTable(
            names,
            codes.astype(code_dtype(int(n_codes.max())), copy=False),
            tuple(levels),
            {name: self.cuts[name] for name in names if name in self.cuts},
            has_missing=bool((n_codes > [len(found) for found in levels]).any()),
            numbers={name: numbers[name] for name in names if name in numbers},
            types={name: self.types[name] for name in names if name in self.types},
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
        return f"DiscreteTable({shape}, {span}{missing if self.has_missing else ''})"

    def __reduce__(self) -> tuple[type[DiscreteTable], tuple[object, ...]]:
        # A pickled array comes back writeable; going through the constructor protects it again.
        parts = self.names, self.codes, self.levels, self.cuts, self.has_missing
        return DiscreteTable, (*parts, self.numbers, self.types)


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


def encode_table(
    data: object,
    treatment: Treatment,
    *,
    exclude: Collection[Name] = (),
    target: Name = None,
    only: Collection[Name] | None = None,
) -> DiscreteTable:
    """Encode a table, as :meth:`DiscreteTable.from_data` does, by a treatment that is checked.

    Examples
    --------
    >>> encode_table({"x": [1, 2], "y": [0, 0]}, Treatment(), exclude=["x"]).names
    ('y',)
    """
    if isinstance(data, DiscreteTable):
        data._check_untreated(treatment)
        if not exclude and only is None:
            return data
        return data.select(Request(exclude, Treatment(), None, only).names_left(data.names))
    return DiscreteTable(*convert(data, Request(exclude, treatment, target, only)))


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
