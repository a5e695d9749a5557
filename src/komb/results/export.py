"""What every result can do: print itself, and leave as JSON, as a dataframe or as CSV."""

from __future__ import annotations

import csv
import io
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from importlib.util import find_spec
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, overload

from komb.data.names import Name
from komb.errors import ParameterError, UnknownNameError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from matplotlib.axes import Axes
    from rich.console import RenderableType

    from komb.views.text import Sheet


Backend = Literal["polars", "pandas"]

_NAME_FIELDS = {"target", "member", "column"}
_LIST_FIELDS = {
    "witness",
    "members",
    "separator",
    "children",
    "partners",
    "given",
    "columns",
}  # of names
_TEXTS_FIELDS = {"places", "proxies"}
_TEXT_FIELDS = {"label", "method", "test", "status", "text", "kind", "direction"}
_COUNT_FIELDS = {"size", "tests", "unreliable", "rank", "n_rows"}
_FLOAT_FIELDS = {
    "statistic", "df", "p_value", "alone_p_value", "separator_p_value", "share", "seconds",
    "precision", "recall", "f1", "alone", "added", "unique", "synergy", "redundancy",
    "alone_low", "alone_high", "added_low", "added_high",
    "p_family", "p_fdr", "bits", "bits_in_all",
}  # fmt: skip
_TRUTH_FIELDS = {"reliable", "separated", "complete", "is_member"}


def installed_library() -> str:
    """Return the library of frames for data that came in no dataframe."""
    return "polars" if find_spec("pandas") is None else "pandas"


def make_frame(columns: dict[str, list[Any]], backend: str) -> pl.DataFrame | pd.DataFrame:
    """Make a dataframe of results, typed alike whether it has rows or not."""
    if backend not in ("polars", "pandas"):
        remedy = "Leave it out for the library of the data."
        raise ParameterError.because("backend", "be 'polars' or 'pandas'", backend, remedy)
    for key in columns.keys() & _LIST_FIELDS:
        columns[key] = [entry if entry is None else [*entry] for entry in columns[key]]
    has_numbers = _unify_names(columns)
    return _polars(columns, has_numbers) if backend == "polars" else _pandas(columns)


def _unify_names(columns: dict[str, list[Any]]) -> bool:
    """Give all names one type, and return whether that is whole numbers; otherwise it is text."""
    single, listed = columns.keys() & _NAME_FIELDS, columns.keys() & _LIST_FIELDS
    names = [name for key in single for name in columns[key]]
    names += [name for key in listed for entry in columns[key] for name in entry or ()]
    if names and all(isinstance(name, Integral) for name in names):
        return True
    for key in single:
        columns[key] = [str(name) for name in columns[key]]
    for key in listed:
        columns[key] = [
            entry if entry is None else [str(name) for name in entry] for entry in columns[key]
        ]
    return False


def _polars(columns: dict[str, list[Any]], has_numbers: bool) -> pl.DataFrame:
    import polars as pl

    name = pl.Int64() if has_numbers else pl.String()
    types: dict[str, Any] = dict.fromkeys(_TRUTH_FIELDS, pl.Boolean())
    types |= dict.fromkeys(_NAME_FIELDS, name) | dict.fromkeys(_LIST_FIELDS, pl.List(name))
    types |= dict.fromkeys(_TEXT_FIELDS, pl.String())
    types |= dict.fromkeys(_TEXTS_FIELDS, pl.List(pl.String()))
    types |= dict.fromkeys(_COUNT_FIELDS, pl.Int64()) | dict.fromkeys(_FLOAT_FIELDS, pl.Float64())
    return pl.DataFrame(columns, {key: types[key] for key in columns})


def _pandas(columns: dict[str, list[Any]]) -> pd.DataFrame:
    try:
        import pandas as pd
    except ImportError:
        rule = "be a dataframe library that is installed"
        remedy = "Install it (pip install pandas), or leave backend out."
        raise ParameterError.because("backend", rule, "pandas", remedy) from None
    types = dict.fromkeys(_TRUTH_FIELDS, "boolean")
    types |= dict.fromkeys(_COUNT_FIELDS, "Int64") | dict.fromkeys(_FLOAT_FIELDS, "float64")
    return pd.DataFrame(columns).astype({key: types[key] for key in columns if key in types})


_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


class Named(Collection[Name]):
    """A collection of column names, each of which has an entry."""

    __slots__ = ()

    noun: ClassVar[str] = "member"  # what a column in it is called

    @property
    @abstractmethod
    def _entries(self) -> Mapping[Name, Any]:
        """Return the entries by name, in order."""

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Name]:
        return iter(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def _entry(self, name: Name) -> Any:
        entries = self._entries
        if name not in entries:
            raise UnknownNameError.among(self.noun, name, [*entries])
        return entries[name]


class Result(ABC):
    """What a user gets: prints itself, renders in a notebook, and can be exported."""

    __slots__ = ("_library",)

    _library: str | None  # of dataframes that the data came in

    @property
    def library(self) -> str | None:
        """The dataframe library that the user came with; ``None`` if that was none."""
        return getattr(self, "_library", None)

    def like(self, other: Result) -> Self:
        """Return itself, with frames of the library that another result has."""
        object.__setattr__(self, "_library", other.library)
        return self

    @abstractmethod
    def to_dict(self) -> dict[Any, Any]:
        """Return everything as dictionaries and lists."""

    @abstractmethod
    def _sheet(self) -> Sheet:
        """Return what to show."""

    @abstractmethod
    def _columns(self) -> dict[str, list[Any]]:
        """Return the columns of :meth:`to_frame`."""

    def __str__(self) -> str:
        return self._sheet().to_text()

    def _repr_html_(self) -> str:
        return self._sheet().to_html()

    def __rich__(self) -> RenderableType:
        return self._sheet().to_rich()

    def to_json(self, *, indent: int | None = None) -> str:
        """Return everything as JSON.

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
    def to_frame(self, backend: Literal["polars"]) -> pl.DataFrame: ...

    @overload
    def to_frame(self, backend: Literal["pandas"]) -> pd.DataFrame: ...

    @overload
    def to_frame(self, backend: None = ...) -> Any: ...

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return a dataframe; the class says what its rows and columns are.

        Parameters
        ----------
        backend : {"pandas", "polars"}, optional
            If left out, the library of the dataframe that was searched. For all other data
            (arrays, files, a komb table) pandas if it is installed, else polars.

        Examples
        --------
        >>> import komb
        >>> blanket = komb.markov_blanket(komb.boolean_table("and", 500, n_parents=2), "Y")
        >>> list(blanket.to_frame()["member"])
        ['X1', 'X2']
        """
        return make_frame(self._columns(), backend or self.library or installed_library())

    def to_csv(self) -> str:
        r"""Return the rows of :meth:`to_frame` as CSV, with semicolons between the names of a list.

        Spreadsheets run cells that begin with ``=``, ``+``, ``-``, ``@``, a tab or a carriage
        return; such text gets an apostrophe in front, which they do not show. For exact names use
        :meth:`to_json` or :meth:`to_frame`.

        Examples
        --------
        >>> import komb
        >>> komb.Comparison("Y", {}, ()).to_csv()
        'label,method,members,size,tests,unreliable,seconds,precision,recall,f1\n'
        """
        columns = self._columns()
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        for row in zip(*columns.values(), strict=True):
            writer.writerow([_csv_cell(value) for value in row])
        return text.getvalue()


class Drawn(Result):
    """A result with a picture."""

    __slots__ = ()

    @abstractmethod
    def _draw(self, ax: Axes | None) -> Axes:
        """Draw the picture."""

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw a picture; the class says what is on it.

        Parameters
        ----------
        ax
            Where to draw; if left out, on a new figure that fits.

        Returns
        -------
        matplotlib.axes.Axes
            A notebook shows the picture; ``plot().figure.savefig("picture.png")`` writes it to a
            file.

        Raises
        ------
        komb.errors.MissingPackageError
            If matplotlib is not installed.

        Examples
        --------
        >>> import komb
        >>> blanket = komb.markov_blanket(komb.boolean_table("and", 500, n_parents=2), "Y")
        >>> blanket.plot().get_title(loc="left"), blanket.effects.plot().get_title(loc="left")
        ('Markov blanket of Y', 'What the members tell about Y')
        """
        return self._draw(ax)


def columns_of(rows: Iterable[Any], names: Iterable[str], key: str = "name") -> dict[str, Any]:
    """Return attributes of rows as columns of a frame; that of the ``name`` is called ``key``."""
    rows = list(rows)
    return {key if name == "name" else name: [getattr(row, name) for row in rows] for name in names}


def _csv_cell(value: object) -> object:
    if value is None or isinstance(value, Real):
        return value
    return no_formula(";".join(map(str, value)) if isinstance(value, list | tuple) else str(value))


def dump_json(value: object, indent: int | None) -> str:
    """Write dictionaries, lists and leaves as JSON; any leaf may be a column's name."""
    plain = _jsonable(value)
    text = json.dumps(plain, indent=indent, ensure_ascii=False, allow_nan=False)
    # A name may hold half a character, which no file can, but JSON has an escape for it.
    return text if is_encodable(text) else json.dumps(plain, indent=indent, allow_nan=False)


def is_encodable(text: str) -> bool:
    """Tell whether a text can be written in UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _jsonable(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): _jsonable(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_jsonable(entry) for entry in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    return int(value) if isinstance(value, Integral) else str(value)


def no_formula(text: str) -> str:
    """Put an apostrophe before text that a spreadsheet would take for a formula."""
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text
