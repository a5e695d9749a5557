"""Rows of results as dataframes, typed alike whether there are any or not."""

from __future__ import annotations

from importlib.util import find_spec
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

from komb.errors import ParameterError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

Backend = Literal["polars", "pandas"]

_NAME_FIELDS = {"target", "member", "column"}
_LIST_FIELDS = {"witness", "members", "separator", "children", "partners", "given"}  # of names
_TEXT_FIELDS = {"label", "method", "test", "status", "text", "kind", "direction"}
_COUNT_FIELDS = {"size", "tests", "unreliable", "rank"}
_FLOAT_FIELDS = {
    "statistic", "df", "p_value", "alone_p_value", "separator_p_value", "share", "seconds",
    "precision", "recall", "f1", "alone", "added", "unique", "synergy", "redundancy",
    "alone_low", "alone_high", "added_low", "added_high",
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
