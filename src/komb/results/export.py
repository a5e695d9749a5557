"""Records of results, as JSON and as dataframes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from numbers import Integral
from typing import TYPE_CHECKING, Any

from komb.errors import ParameterError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


_BY_COLUMN = ("discretize", "bins")  # parameters that may be mappings from columns
_NAME_FIELDS = {"target", "member", "column"}
_LIST_FIELDS = {"witness", "members", "separator"}  # of names
_TEXT_FIELDS = {"label", "method", "test", "status", "text"}
_COUNT_FIELDS = {"size", "tests", "unreliable"}
_FLOAT_FIELDS = {
    "statistic", "df", "p_value", "alone_p_value", "separator_p_value", "stability", "seconds",
    "precision", "recall", "f1",
}  # fmt: skip
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_TRUTH_FIELDS = {"reliable", "separated"}


def known_fields(cls: type[Any], record: Mapping[str, Any]) -> dict[str, Any]:
    """Pick out of a record what a dataclass takes, or say what is wrong with the record.

    Examples
    --------
    >>> from komb.results.blanket import Member
    >>> known_fields(Member, {"name": "age", "witness": None, "comment": "not a field"})
    {'name': 'age', 'witness': None}
    """
    rule = f"be what {cls.__name__}.to_dict returns"
    if not isinstance(record, Mapping):
        remedy = "Parse JSON first: json.loads(text)."
        raise ParameterError.because("record", rule, record, remedy)
    required = [
        entry.name
        for entry in fields(cls)
        if entry.default is MISSING and entry.default_factory is MISSING
    ]
    missing = [name for name in required if name not in record]
    if missing:
        lacking = ", ".join(map(repr, missing))
        raise ParameterError(
            f"'record' must {rule}; got one without {lacking}. Pass it on unchanged."
        )
    return {entry.name: record[entry.name] for entry in fields(cls) if entry.name in record}


def to_entries(mapping: Mapping[Any, Any]) -> list[dict[str, Any]]:
    """Write a mapping from columns as a list, for keys of JSON are text and names need not be.

    Examples
    --------
    >>> to_entries({"age": (18.0, 65.0), 3: "mdl"})
    [{'column': 'age', 'value': [18.0, 65.0]}, {'column': 3, 'value': 'mdl'}]
    """
    return [
        {"column": name, "value": list(value) if isinstance(value, tuple) else value}
        for name, value in mapping.items()
    ]


def from_entries(entries: Iterable[Mapping[str, Any]]) -> dict[Any, Any]:
    """Rebuild a mapping from :func:`to_entries`.

    Examples
    --------
    >>> from_entries([{"column": "age", "value": [18.0, 65.0]}])
    {'age': (18.0, 65.0)}
    """
    return {
        entry["column"]: tuple(entry["value"])
        if isinstance(entry["value"], list)
        else entry["value"]
        for entry in entries
    }


def to_plain(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a search with lists in the place of tuples and mappings.

    Examples
    --------
    >>> to_plain({"order": 1, "include": ("age",), "bins": {"age": 5}})
    {'order': 1, 'include': ['age'], 'bins': [{'column': 'age', 'value': 5}]}
    """

    def plain(value: object) -> object:
        if isinstance(value, Mapping):
            return to_entries(value)
        return list(value) if isinstance(value, tuple) else value

    return {key: plain(value) for key, value in parameters.items()}


def from_plain(record: Mapping[str, Any]) -> dict[str, Any]:
    """Rebuild parameters from :func:`to_plain`.

    Examples
    --------
    >>> from_plain({"include": ["age"], "bins": [{"column": "age", "value": 5}]})
    {'include': ('age',), 'bins': {'age': 5}}
    """
    return {
        key: value
        if not isinstance(value, list)
        else from_entries(value)
        if key in _BY_COLUMN
        else tuple(value)
        for key, value in record.items()
    }


def dump_json(value: object, indent: int | None) -> str:
    r"""Write dictionaries, lists and leaves as JSON; any leaf may be a column's name.

    Examples
    --------
    >>> dump_json({"names": ["age", 3, ("a", "tuple")], "p_value": float("nan")}, None)
    '{"names": ["age", 3, "(\'a\', \'tuple\')"], "p_value": null}'
    """
    plain = _jsonable(value)
    text = json.dumps(plain, indent=indent, ensure_ascii=False, allow_nan=False)
    # A name may hold half a character, which no file can, but JSON has an escape for it.
    return text if is_encodable(text) else json.dumps(plain, indent=indent, allow_nan=False)


def is_encodable(text: str) -> bool:
    """Tell whether a text can be written in UTF-8.

    Examples
    --------
    >>> is_encodable("é"), is_encodable(chr(0xD800))
    (True, False)
    """
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
    """Put an apostrophe before text that a spreadsheet would take for a formula.

    Examples
    --------
    >>> no_formula("=1+1"), no_formula("age")
    ("'=1+1", 'age')
    """
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def make_frame(columns: dict[str, list[Any]], backend: str) -> pl.DataFrame | pd.DataFrame:
    """Make a dataframe of results, typed alike whether it has rows or not.

    Parameters
    ----------
    columns
        Values by field. There are names of columns in ``target``, ``member``, ``column``,
        ``witness``, ``members`` and ``separator``, of which the last three hold lists.
    backend
        ``"polars"`` or ``"pandas"``.

    Examples
    --------
    >>> make_frame({"label": ["komb"], "members": [["age", 3]]}, "polars").row(0)
    ('komb', ['age', '3'])
    """
    if backend not in ("polars", "pandas"):
        remedy = "Leave it out for polars."
        raise ParameterError.because("backend", "be 'polars' or 'pandas'", backend, remedy)
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
        remedy = "Install it (pip install pandas), or leave backend out for polars."
        raise ParameterError.because("backend", rule, "pandas", remedy) from None
    types = dict.fromkeys(_TRUTH_FIELDS, "boolean")
    types |= dict.fromkeys(_COUNT_FIELDS, "Int64") | dict.fromkeys(_FLOAT_FIELDS, "float64")
    return pd.DataFrame(columns).astype({key: types[key] for key in columns if key in types})
