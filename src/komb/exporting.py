"""Records of results, as JSON and as dataframes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import MISSING, fields
from numbers import Integral
from typing import TYPE_CHECKING, Any

from komb.errors import ParameterError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


def known_fields(cls: type[Any], record: Mapping[str, Any]) -> dict[str, Any]:
    """Pick out of a record what a dataclass takes, or say what is wrong with the record.

    Examples
    --------
    >>> from komb.results import Member
    >>> known_fields(Member, {"name": "age", "witness": None, "comment": "not a field"})
    {'name': 'age', 'witness': None}
    """
    rule = f"be what {cls.__name__}.to_dict returns"
    if not isinstance(record, Mapping):
        remedy = "Parse JSON first: json.loads(text)."
        raise ParameterError.because("record", rule, record, remedy)
    required = [entry.name for entry in fields(cls) if entry.default is MISSING]
    missing = [name for name in required if name not in record]
    if missing:
        lacking = ", ".join(map(repr, missing))
        raise ParameterError(
            f"'record' must {rule}; got one without {lacking}. Pass it on unchanged."
        )
    return {entry.name: record[entry.name] for entry in fields(cls) if entry.name in record}


def dump_json(value: object, indent: int | None) -> str:
    r"""Write dictionaries, lists and leaves as JSON; any leaf may be a column's name.

    Examples
    --------
    >>> dump_json({"names": ["age", 3, ("a", "tuple")], "p_value": float("nan")}, None)
    '{"names": ["age", 3, "(\'a\', \'tuple\')"], "p_value": null}'
    """
    return json.dumps(_jsonable(value), indent=indent, ensure_ascii=False, allow_nan=False)


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


def make_frame(columns: dict[str, list[Any]], backend: str) -> pl.DataFrame | pd.DataFrame:
    """Make a dataframe of members, typed alike whether there are any or not.

    Parameters
    ----------
    columns
        Values of the fields of members, by field, with names in ``member`` and, if it is there,
        in ``target``.
    backend
        ``"polars"`` or ``"pandas"``.
    """
    if backend not in ("polars", "pandas"):
        remedy = "Leave it out for polars."
        raise ParameterError.because("backend", "be 'polars' or 'pandas'", backend, remedy)
    has_numbers = _unify_names(columns)
    return _polars(columns, has_numbers) if backend == "polars" else _pandas(columns)


def _unify_names(columns: dict[str, list[Any]]) -> bool:
    """Give all names one type, and return whether that is whole numbers; otherwise it is text."""
    witnesses = [name for witness in columns["witness"] for name in witness or ()]
    names = [*columns.get("target", ()), *columns["member"], *witnesses]
    if names and all(isinstance(name, Integral) for name in names):
        return True
    for key in columns.keys() & {"target", "member"}:
        columns[key] = [str(name) for name in columns[key]]
    columns["witness"] = [
        witness if witness is None else [str(name) for name in witness]
        for witness in columns["witness"]
    ]
    return False


def _polars(columns: dict[str, list[Any]], has_numbers: bool) -> pl.DataFrame:
    import polars as pl

    name = pl.Int64() if has_numbers else pl.String()
    types = {
        "target": name,
        "member": name,
        "witness": pl.List(name),
        "statistic": pl.Float64(),
        "df": pl.Int64(),
        "p_value": pl.Float64(),
        "test": pl.String(),
        "reliable": pl.Boolean(),
    }
    return pl.DataFrame(columns, {key: types[key] for key in columns})


def _pandas(columns: dict[str, list[Any]]) -> pd.DataFrame:
    try:
        import pandas as pd
    except ImportError:
        rule = "be a dataframe library that is installed"
        remedy = "Install it (pip install pandas), or leave backend out for polars."
        raise ParameterError.because("backend", rule, "pandas", remedy) from None
    types = {"statistic": "float64", "df": "Int64", "p_value": "float64", "reliable": "boolean"}
    return pd.DataFrame(columns).astype(types)
