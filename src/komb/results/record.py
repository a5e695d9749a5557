"""Results as dictionaries of plain values: the types of their fields say how each is written."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import MISSING, Field, asdict, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, ClassVar, Self, get_args, get_origin, get_type_hints

from komb.errors import ParameterError

MERGED = {"is_merged": True}
"""Metadata of a field whose own fields stand beside the others, at the end of the record."""

_COLUMN_PARAMETERS = ("types", "discretize", "bins", "na_values", "groups", "weights")
"""Parameters that may be mappings from columns."""


class Record:
    """A dataclass that can be written as a dictionary of plain values, and read again.

    Tuples are written as lists, records as dictionaries, and mappings from columns as lists of
    entries, for keys of JSON are text and names need not be.
    """

    __slots__ = ()

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as dictionaries and lists, names as they are in the table.

        Examples
        --------
        >>> import komb
        >>> komb.Member("age", ("sex",)).to_dict()["witness"]
        ['sex']
        """
        record: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        cls: Any = type(self)
        for entry in fields(self):
            written = _write(getattr(self, entry.name), _types_of(cls)[entry.name])
            if entry.metadata == MERGED:
                merged |= written
            else:
                record[entry.name] = written
        return record | merged

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Rebuild what :meth:`to_dict` returned, or what was parsed from its JSON.

        Examples
        --------
        >>> import komb
        >>> komb.Member.from_dict({"name": "age", "witness": []})
        Member(name='age', witness=(), statistic=None, df=None, p_value=None, test=None, ...)
        """
        own: Any = cls
        types, values = _types_of(own), known_fields(cls, record)
        for entry in fields(cls):
            if entry.metadata == MERGED:
                values[entry.name] = _read(record, types[entry.name])
            elif entry.name in values:
                values[entry.name] = _read(values[entry.name], types[entry.name])
        return cls(**values)


@cache
def _types_of(cls: Any) -> dict[str, Any]:
    """Return the types of the fields; of one that may be None the other type."""
    types = get_type_hints(cls)
    for name, kind in types.items():
        if get_origin(kind) is UnionType:
            types[name] = next(each for each in get_args(kind) if each is not type(None))
    return types


def _write(value: Any, kind: Any) -> Any:
    if isinstance(value, Record):
        return value.to_dict()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    origin, inner = get_origin(kind), get_args(kind)
    if value is not None and origin is tuple:
        return [_write(each, inner[0]) for each in value]
    if value is None or origin is not Mapping:
        return value
    if inner == (str, Any):
        return {name: _write_parameter(name, each) for name, each in value.items()}
    written = {key: _write(each, inner[1]) for key, each in value.items()}
    return _to_entries(written) if inner[0] is Hashable else written


def _read(value: Any, kind: Any) -> Any:
    origin, inner = get_origin(kind), get_args(kind)
    if value is None:
        return None
    if isinstance(kind, type) and is_dataclass(kind):
        make: Any = kind
        return make.from_dict(value) if issubclass(kind, Record) else make(**value)
    if origin is tuple:
        return tuple(_read(each, inner[0]) for each in value)
    if origin is not Mapping:
        return value
    if inner == (str, Any):
        return {name: _read_parameter(name, each) for name, each in value.items()}
    by_key = _from_entries(value) if inner[0] is Hashable else value
    return {key: _read(each, inner[1]) for key, each in by_key.items()}


def _to_entries(mapping: Mapping[Any, Any]) -> list[dict[str, Any]]:
    """Write a mapping from columns as a list."""
    return [
        {"column": name, **(value if isinstance(value, dict) else {"value": value})}
        for name, value in mapping.items()
    ]


def _from_entries(entries: Iterable[Mapping[str, Any]]) -> dict[Any, Any]:
    """Rebuild a mapping from :func:`_to_entries`."""
    mapping = {}
    for entry in entries:
        rest = {key: value for key, value in entry.items() if key != "column"}
        mapping[entry["column"]] = rest["value"] if rest.keys() == {"value"} else rest
    return mapping


def _write_parameter(name: str, value: object) -> object:
    if isinstance(value, Mapping):
        plain = {
            key: list(each) if isinstance(each, tuple) else each for key, each in value.items()
        }
        return _to_entries(plain) if name in _COLUMN_PARAMETERS else plain
    return list(value) if isinstance(value, tuple) else value


def _read_parameter(name: str, value: object) -> object:
    if not isinstance(value, list):
        return value
    if name in _COLUMN_PARAMETERS and all(isinstance(each, Mapping) for each in value):
        return {
            key: tuple(each) if isinstance(each, list) else each
            for key, each in _from_entries(value).items()
        }
    return tuple(value)


def known_fields(cls: type[Any], record: Mapping[str, Any]) -> dict[str, Any]:
    """Pick out of a record what a dataclass takes, or say what is wrong with the record."""
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
