"""The one table that everything else in komb works on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from komb.data.codes import CodeArray, Levels, Name, code_dtype, compact
from komb.data.convert import check_shape, convert, names_left
from komb.data.encode import encode_matrix
from komb.errors import ParameterError, UnknownNameError


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
        from 0 to its number of levels less one, and each of them occurs.
    levels
        For each column the original values that its codes stand for.

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
    _positions: dict[Name, int] = field(init=False)

    def __post_init__(self) -> None:
        codes = np.ascontiguousarray(self.codes)[:]  # a view, so the caller's flag stays as it is
        codes.flags.writeable = False
        object.__setattr__(self, "codes", codes)
        object.__setattr__(self, "_positions", {name: i for i, name in enumerate(self.names)})

    @classmethod
    def from_data(cls, data: object, *, exclude: Collection[Name] = ()) -> DiscreteTable:
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

        Returns
        -------
        DiscreteTable
            With levels in natural order; categories keep theirs.

        Raises
        ------
        komb.errors.DataError
            If the table is empty, has two columns of one name, missing values, continuous columns
            or columns with more than 65,535 levels.

        Examples
        --------
        >>> DiscreteTable.from_data(np.array([[0, 2], [1, 3], [1, 4]]))
        DiscreteTable(3 rows x 2 columns, 2-3 levels)
        """
        if not isinstance(data, DiscreteTable):
            return cls(*convert(data, exclude))
        return data.select(names_left(data.names, exclude)) if exclude else data

    @classmethod
    def from_codes(
        cls,
        codes: npt.ArrayLike,
        names: Sequence[Name] | None = None,
        levels: Sequence[Sequence[object]] | None = None,
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

        Examples
        --------
        >>> table = DiscreteTable.from_codes([[0, 1], [2, 1]], ["x", "y"], ["abc", "de"])
        >>> table.levels, table.codes.tolist()
        ((('a', 'c'), ('e',)), [[0, 1], [0, 0]])
        """
        values = np.asarray(codes)
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
        encoded, found = encode_matrix(values, labels)
        if levels is not None:
            found = tuple(_look_up(labels, found, levels))
        return cls(labels, encoded, found)

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
        """The number of levels of each column."""
        return np.array([len(found) for found in self.levels], np.int64)

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
        """Return the original values of a column.

        Examples
        --------
        >>> DiscreteTable.from_data({"x": ["b", "a"]}).column("x")
        ['b', 'a']
        """
        position = self.index(name)
        return list(map(self.levels[position].__getitem__, self.codes[position].tolist()))

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
        return _narrowed(chosen, self.codes[positions], [self.levels[i] for i in positions])

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
        codes = self.codes[:, _check_rows(rows, self.n_rows)]
        levels = []
        for position, old in enumerate(self.levels):
            codes[position], seen = compact(codes[position], len(old))
            levels.append(tuple(old[code] for code in seen))
        return _narrowed(self.names, codes, levels)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DiscreteTable):
            return NotImplemented
        return (
            self.names == other.names
            and self.levels == other.levels
            and np.array_equal(self.codes, other.codes)
        )

    def __repr__(self) -> str:
        low, high = self.cardinalities.min(), self.cardinalities.max()
        span = _plural(int(high), "level") if low == high else f"{low}-{high} levels"
        shape = f"{_plural(self.n_rows, 'row')} x {_plural(self.n_columns, 'column')}"
        return f"DiscreteTable({shape}, {span})"

    def __reduce__(self) -> tuple[type[DiscreteTable], tuple[object, ...]]:
        # A pickled array comes back writeable; going through the constructor protects it again.
        return DiscreteTable, (self.names, self.codes, self.levels)


def _narrowed(names: tuple[Name, ...], codes: CodeArray, levels: Sequence[Levels]) -> DiscreteTable:
    """Build a table after levels were lost, in the smallest type that still holds the codes."""
    dtype = code_dtype(max(map(len, levels)))
    return DiscreteTable(names, codes.astype(dtype, copy=False), tuple(levels))


def _look_up(
    names: Sequence[Name], codes: Sequence[Levels], levels: Sequence[Sequence[object]]
) -> Iterator[Levels]:
    for name, seen, values in zip(names, codes, levels, strict=True):
        numbers = [int(code) for code in seen]  # type: ignore[call-overload]
        if numbers[0] < 0 or numbers[-1] >= len(values):
            rule = (
                f"be from 0 to {len(values) - 1} in column {name!r}, which has {len(values)} levels"
            )
            got = numbers[0] if numbers[0] < 0 else numbers[-1]
            raise ParameterError.because("codes", rule, got, "Correct the codes or add levels.")
        yield tuple(values[number] for number in numbers)


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
