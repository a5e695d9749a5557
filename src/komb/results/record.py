"""Results as dictionaries of plain values, field by field; a field says by its metadata how."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, asdict, fields
from typing import Any, ClassVar, NamedTuple, Self

from komb.errors import ParameterError

_COLUMN_PARAMETERS = ("types", "discretize", "bins", "na_values", "groups", "weights")
"""Parameters that may be mappings from columns."""


class _Form(NamedTuple):
    """How a field is written and read; one that is merged has no key of its own."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]
    is_merged: bool = False


class Record:
    """A dataclass that can be written as a dictionary of plain values, and read again.

    Fields are written as they are, unless their ``metadata`` is one of the forms of this module:
    ``NAMES``, ``BY_COLUMN``, ``PARAMETERS``, :func:`single`, :func:`several`, :func:`by_key`,
    :func:`records_by_column` or :func:`merged`. ``None`` is ``None`` in every form.
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
        for entry in fields(self):
            value, form = getattr(self, entry.name), _form_of(entry)
            written = value if form is None or value is None else form.write(value)
            if form is not None and form.is_merged:
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
        values = known_fields(cls, record)
        for entry in fields(cls):
            form = _form_of(entry)
            if form is not None and form.is_merged:
                values[entry.name] = form.read(record)
            elif form is not None and values.get(entry.name) is not None:
                values[entry.name] = form.read(values[entry.name])
        return cls(**values)


def _form_of(entry: Field[Any]) -> _Form | None:
    return entry.metadata.get("form")


def _as_form(
    write: Callable[[Any], Any], read: Callable[[Any], Any], *, is_merged: bool = False
) -> dict[str, _Form]:
    return {"form": _Form(write, read, is_merged)}


def single(cls: type[Any]) -> dict[str, _Form]:
    """Write a field that holds one object of a dataclass."""
    return _as_form(_write, lambda record: _read(cls, record))


def several(cls: type[Any]) -> dict[str, _Form]:
    """Write a field that holds a tuple of objects of a dataclass."""
    return _as_form(
        lambda values: [_write(value) for value in values],
        lambda records: tuple(_read(cls, record) for record in records),
    )


def by_key(cls: type[Any]) -> dict[str, _Form]:
    """Write a field that maps text to objects of a dataclass."""
    return _as_form(
        lambda values: {key: _write(value) for key, value in values.items()},
        lambda records: {key: _read(cls, record) for key, record in records.items()},
    )


def merged(cls: type[Any]) -> dict[str, _Form]:
    """Write the fields of a field beside the others, at the end of the record."""
    return _as_form(_write, lambda record: _read(cls, record), is_merged=True)


def _write(value: Any) -> dict[str, Any]:
    return value.to_dict() if isinstance(value, Record) else asdict(value)


def _read(cls: type[Any], record: Mapping[str, Any]) -> Any:
    return cls.from_dict(record) if issubclass(cls, Record) else cls(**record)


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


def to_entries(mapping: Mapping[Any, Any]) -> list[dict[str, Any]]:
    """Write a mapping from columns as a list, for keys of JSON are text and names need not be."""
    return [
        {"column": name, "value": list(value) if isinstance(value, tuple) else value}
        for name, value in mapping.items()
    ]


def from_entries(entries: Iterable[Mapping[str, Any]]) -> dict[Any, Any]:
    """Rebuild a mapping from :func:`to_entries`."""
    return {
        entry["column"]: tuple(entry["value"])
        if isinstance(entry["value"], list)
        else entry["value"]
        for entry in entries
    }


def to_plain(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a search with lists in the place of tuples and mappings."""

    def plain(key: str, value: object) -> object:
        if isinstance(value, Mapping):
            return to_entries(value) if key in _COLUMN_PARAMETERS else dict(value)
        return list(value) if isinstance(value, tuple) else value

    return {key: plain(key, value) for key, value in parameters.items()}


def from_plain(record: Mapping[str, Any]) -> dict[str, Any]:
    """Rebuild parameters from :func:`to_plain`."""
    return {
        key: value
        if not isinstance(value, list)
        else from_entries(value)
        if key in _COLUMN_PARAMETERS and all(isinstance(entry, Mapping) for entry in value)
        else tuple(value)
        for key, value in record.items()
    }


NAMES = _as_form(list, tuple)
"""Of a field that holds a tuple of names."""

BY_COLUMN = _as_form(to_entries, from_entries)
"""Of a field that maps columns to numbers or tuples."""


def records_by_column(cls: type[Any]) -> dict[str, _Form]:
    """Write a field that maps columns to objects of a dataclass."""
    return _as_form(
        lambda values: [{"column": name, **_write(value)} for name, value in values.items()],
        lambda records: {
            record["column"]: _read(cls, {k: v for k, v in record.items() if k != "column"})
            for record in records
        },
    )


SETS_BY_COLUMN = _as_form(
    lambda sets: to_entries({name: [*map(list, of_name)] for name, of_name in sets.items()}),
    lambda entries: {
        name: (*map(tuple, of_name),) for name, of_name in from_entries(entries).items()
    },
)
"""Of a field that maps columns to tuples of tuples of names."""

PARAMETERS = _as_form(to_plain, from_plain)
"""Of a field that holds the parameters of a search."""
