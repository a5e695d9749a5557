"""What is known about variables before any test: tiers, and pairs that are or are not neighbours.

>>> print(Knowledge(tiers=[["age", "sex"], ["diet"], ["weight"]], forbidden=[("age", "diet")]))
tiers: age, sex < diet < weight; forbidden: age - diet
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import chain
from os import PathLike
from typing import Any, NoReturn, Self

from komb.data.checks import find_cycle
from komb.data.names import Name, check_hashable
from komb.data.read.file_bytes import decode, read_bytes, shorten, to_path
from komb.errors import FileError, ParameterError, UnknownNameError

Pairs = Iterable[tuple[Name, Name]]

_EXAMPLE = "Write it as Knowledge(tiers=[['age', 'sex'], ['diet']], forbidden=[('age', 'diet')])."


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Background knowledge that a search has to respect.

    Parameters
    ----------
    tiers
        Groups of columns in the order of time, the earliest first. No column is a cause of one in
        an earlier tier, so nothing of a later tier explains a dependence among earlier ones away: a
        set that separates two columns contains none of a tier later than both. Columns that are in
        no tier may come at any time.
    forbidden
        Pairs of columns of which neither is a direct cause of the other. They can still be in one
        another's blanket, as causes of a common effect.
    required
        Pairs (cause, effect) of which the first is known to be a direct cause of the second: they
        are in one another's blanket whatever the tests say.

    Raises
    ------
    komb.errors.ParameterError
        If one thing that is said contradicts another.

    Examples
    --------
    >>> Knowledge(tiers=[["age"], ["diet"]], required=[("diet", "age")])
    Traceback (most recent call last):
    komb.errors.ParameterError: 'knowledge' must not require a cause in a later tier than its ...
    """

    tiers: Iterable[Iterable[Name]] = ()
    forbidden: Pairs = ()
    required: Pairs = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "tiers", tuple(map(_check_names, _listed(self.tiers))))
        for field in ("forbidden", "required"):
            pairs = _listed(getattr(self, field))
            object.__setattr__(self, field, tuple(_check_pair(field, pair) for pair in pairs))
        self._check_tiers()
        self._check_required()

    @classmethod
    def of(cls, value: object) -> Self:
        """Return knowledge, or make it of a mapping such as :meth:`to_dict` returns.

        Examples
        --------
        >>> Knowledge.of({"forbidden": [["x", "w"]]})
        Knowledge(tiers=(), forbidden=(('x', 'w'),), required=())
        """
        if isinstance(value, cls):
            return value
        if not isinstance(value, Mapping):
            raise ParameterError.because("knowledge", "be a komb.Knowledge", value, _EXAMPLE)
        known = [field.name for field in fields(cls)]
        for key in value:
            if key not in known:
                raise UnknownNameError.among("entry", key, known, "knowledge")
        return cls(**value)

    @classmethod
    def from_file(cls, path: str | PathLike[str]) -> Self:
        """Read knowledge from a TOML file with ``tiers``, ``forbidden`` and ``required``.

        Parameters
        ----------
        path
            A file such as::

                tiers = [["age", "sex"], ["diet"], ["weight"]]
                forbidden = [["age", "diet"]]
                required = [["diet", "weight"]]

        Examples
        --------
        >>> Knowledge.from_file("nowhere.toml")
        Traceback (most recent call last):
        komb.errors.FileError: There is no file 'nowhere.toml'. ...
        """
        import tomllib

        file = to_path(path)
        try:
            entries = tomllib.loads(decode(file, read_bytes(file)))
        except tomllib.TOMLDecodeError as error:
            remedy = 'Write it as tiers = [["age", "sex"], ["diet"]].'
            raise FileError(f"{shorten(file)} is not a TOML file: {error}.", remedy) from None
        return cls.of(entries)

    def to_dict(self) -> dict[str, list[list[Name]]]:
        """Return it as lists.

        Examples
        --------
        >>> Knowledge(tiers=[["age"], ["diet"]]).to_dict()
        {'tiers': [['age'], ['diet']], 'forbidden': [], 'required': []}
        """
        return {field.name: [list(x) for x in getattr(self, field.name)] for field in fields(self)}

    @property
    def names(self) -> tuple[Name, ...]:
        """All columns that are named, each once."""
        return tuple(dict.fromkeys(chain(*self.tiers, *self.forbidden, *self.required)))

    def __str__(self) -> str:
        parts = {
            "tiers": " < ".join(", ".join(map(str, tier)) for tier in self.tiers),
            "forbidden": ", ".join(f"{a} - {b}" for a, b in self.forbidden),
            "required": ", ".join(f"{a} -> {b}" for a, b in self.required),
        }
        return "; ".join(f"{name}: {text}" for name, text in parts.items() if text) or "nothing"

    def in_columns(self, names: Sequence[Name], also: Collection[Name] = ()) -> ColumnKnowledge:
        """Return what is known about the columns of a table, by their positions.

        Parameters
        ----------
        names
            The columns of the table, in order.
        also
            Names of columns that the search does not ask about; what is said of them is of no use.

        Examples
        --------
        >>> known = Knowledge(tiers=[["age"], ["diet"]]).in_columns(["diet", "age", "sex"])
        >>> known.tiers
        (1, 0, None)
        """
        position = {name: number for number, name in enumerate(names)}
        for name in self.names:
            if name not in position and name not in also:
                raise UnknownNameError.among("column", name, names, "knowledge")
        tiers: list[int | None] = [None] * len(names)
        for number, tier in enumerate(self.tiers):
            for name in tier:
                if name in position:
                    tiers[position[name]] = number
        forbidden, required = (
            frozenset(
                frozenset({position[a], position[b]})
                for a, b in pairs
                if a in position and b in position
            )
            for pairs in (self.forbidden, self.required)
        )
        return ColumnKnowledge(tuple(tiers), forbidden, required)

    def _check_tiers(self) -> None:
        seen: dict[Name, int] = {}
        for number, tier in enumerate(self.tiers, start=1):
            for name in tier:
                if name in seen:
                    where = f"in tiers {seen[name]} and {number}"
                    shown = f"{name!r} {where if seen[name] < number else 'twice'}"
                    _contradict("have no column in two tiers", shown)
                seen[name] = number

    def _check_required(self) -> None:
        forbidden = {frozenset(pair) for pair in self.forbidden}
        tier_of = {name: number for number, tier in enumerate(self.tiers, 1) for name in tier}
        for cause, effect in self.required:
            shown = f"{cause!r} -> {effect!r}"
            if frozenset((cause, effect)) in forbidden:
                _contradict("not require what it forbids", shown)
            tiers = tier_of.get(cause), tier_of.get(effect)
            if tiers[0] is not None and tiers[1] is not None and tiers[0] > tiers[1]:
                where = f"{shown}, tier {tiers[0]} before tier {tiers[1]}"
                _contradict("not require a cause in a later tier than its effect", where)
        cycle = find_cycle(self.required)
        if cycle:
            shown = " -> ".join(map(repr, cycle))
            _contradict("not require causes that go round in a circle", shown)


def _contradict(rule: str, shown: str) -> NoReturn:
    remedy = "Take out one of what contradict each other."
    raise ParameterError.because("knowledge", rule, shown, remedy, shown=shown)


def _listed(values: Any) -> list[Any]:
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        rule = "have lists of columns as tiers, and lists of pairs"
        raise ParameterError.because("knowledge", rule, values, _EXAMPLE)
    return list(values)


def _check_names(names: Any) -> tuple[Name, ...]:
    listed = _listed(names)
    check_hashable("knowledge", listed)
    return tuple(listed)


def _check_pair(field: str, pair: Any) -> tuple[Name, Name]:
    names = _check_names(pair)
    if len(names) != 2 or names[0] == names[1]:
        rule = f"have pairs of two columns as {field}"
        raise ParameterError.because("knowledge", rule, pair, _EXAMPLE)
    return names[0], names[1]


@dataclass(frozen=True)
class ColumnKnowledge:
    """What is known about the columns of one table, by their positions."""

    tiers: tuple[int | None, ...]  # the tier of each column; ``None`` if it is in none
    forbidden: frozenset[frozenset[int]] = frozenset()  # pairs
    required: frozenset[frozenset[int]] = frozenset()  # pairs

    @cached_property
    def _later(self) -> dict[int, frozenset[int]]:
        """For each tier, the columns of the tiers after it."""
        own = {tier for tier in self.tiers if tier is not None}
        return {
            tier: frozenset(x for x, t in enumerate(self.tiers) if t is not None and t > tier)
            for tier in own
        }

    def later_than(self, a: int, b: int) -> frozenset[int]:
        """Return the columns of tiers later than those of both."""
        first, second = self.tiers[a], self.tiers[b]
        if first is None or second is None:
            return frozenset()
        return self._later[max(first, second)]

    def required_of(self, column: int) -> frozenset[int]:
        """Return the columns that are known to be neighbours of one."""
        return frozenset(x for pair in self.required if column in pair for x in pair - {column})

    def moved(self, places: Mapping[int, int], n_columns: int) -> ColumnKnowledge:
        """Return the same for some of the columns; ``places`` are their new positions."""
        tiers: list[int | None] = [None] * n_columns
        for old, new in places.items():
            tiers[new] = self.tiers[old]
        forbidden, required = (
            frozenset(frozenset(places[x] for x in pair) for pair in pairs if pair <= places.keys())
            for pairs in (self.forbidden, self.required)
        )
        return ColumnKnowledge(tuple(tiers), forbidden, required)
