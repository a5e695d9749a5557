"""The people of a PLINK file, and a phenotype for each of them.

PLINK's codes hold: where all values of a phenotype are 1, 2, 0 or -9, it is a case-control
phenotype, 1 is a control, 2 is a case, and the others are missing. Otherwise numbers are
measurements, of which -9 is missing, and anything else is a text of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from komb.data.read.file_bytes import shorten
from komb.data.read.plink_text import read_fields
from komb.errors import Argument, DataError, ParameterError, UnknownNameError

Person: TypeAlias = tuple[str, str]
"""Family and individual id."""

PHENOTYPE = "phenotype"
"""The name of the column, unless a file of phenotypes says another."""

CONTROL, CASE = "control", "case"

_MISSING = ("-9", "NA", "NaN", "nan", ".")
_CASE_CONTROL: Mapping[str, str | None] = {"1": CONTROL, "2": CASE, "0": None}


class Phenotype(NamedTuple):
    """One value for each person, None where it is missing."""

    name: str
    values: list[str | float | None]


def read_fam(file: Path, limit: int) -> tuple[list[Person], list[str]]:
    """Return the people of a ``.fam`` file, and the phenotype of each as it stands there."""
    what = "family, individual, father, mother, sex and phenotype"
    lines = [fields for _, fields in read_fields(file, limit, 6, what)]
    people = [(fields[0], fields[1]) for fields in lines]
    _check_once(people, file)
    return people, [fields[5] for fields in lines]


def _check_once(people: Sequence[Person], file: Path) -> None:
    for person, count in Counter(people).items():
        if count > 1:
            shown = " ".join(person)
            message = (
                f"{shorten(file)} must name every person once; {shown!r} is there {count} times."
            )
            raise DataError(message, "Remove all lines but one.")


def from_fam(raw: Sequence[str]) -> Phenotype | None:
    """Return the phenotype of a ``.fam`` file, or None if it is missing for everybody."""
    values = to_values(raw)
    return None if all(value is None for value in values) else Phenotype(PHENOTYPE, values)


def to_values(raw: Sequence[str]) -> list[str | float | None]:
    """Return what the codes of a phenotype stand for."""
    known = {value for value in raw if value not in _MISSING}
    if known <= _CASE_CONTROL.keys():
        _check_not_from_zero(known)
        return [_CASE_CONTROL.get(value) for value in raw]
    try:
        return [None if value in _MISSING else float(value) for value in raw]
    except ValueError:
        return [None if value in _MISSING else value for value in raw]


def _check_not_from_zero(known: set[str]) -> None:
    """Raise if a phenotype seems to be 0 for controls and 1 for cases, unlike PLINK's."""
    if known == {"0", "1"}:
        raise DataError(
            "The phenotype is 0 or 1 for everybody; in PLINK's codes 1 is a control, 2 is a case "
            "and 0 is missing.",
            "Write 1 and 2, or words such as 'no' and 'yes' in a phenotype file.",
        )


def read_phenotype(
    file: Path, people: Sequence[Person], limit: int, name: str | None = None
) -> Phenotype:
    """Return what a file of phenotypes says about some people.

    Lines have a family id, an individual id and at least one phenotype. The first line may hold the
    names: it does if it begins with ``FID IID``, or ``#FID IID``.
    """
    lines = read_fields(file, limit, None, "as on the first")
    first = lines[0][1]
    has_names = [field.upper() for field in first[:2]] in (["FID", "IID"], ["#FID", "IID"])
    if len(first) < 3:
        message = f"{shorten(file)} must have a family id, an individual id and a phenotype on "
        raise DataError(f"{message}every line; it has {len(first)} fields.", "Add what is missing.")
    names = first[2:] if has_names else [PHENOTYPE, *(f"V{i}" for i in range(4, len(first) + 1))]
    place = 2 + _choose(names, name, file)
    rows = [fields for _, fields in lines[has_names:]]
    listed = [(fields[0], fields[1]) for fields in rows]
    _check_once(listed, file)
    raw = dict(zip(listed, (fields[place] for fields in rows), strict=True))
    _check_known(raw, people, file)
    values = to_values([raw.get(person, _MISSING[0]) for person in people])
    if all(value is None for value in values):
        message = f"{shorten(file)} has no phenotype for anybody in the .fam file: all are missing."
        raise DataError(message, "Choose another file or phenotype.")
    return Phenotype(names[place - 2], values)


def _choose(names: Sequence[str], name: str | None, file: Path) -> int:
    """Return the place of the phenotype that is wanted."""
    if name is not None:
        if name not in names:
            error = UnknownNameError.among("phenotype", name, names, "phenotype_name")
            raise error.within(shorten(file))
        return list(names).index(name)
    if len(names) > 1:
        rule = f"name one of the {len(names)} phenotypes in {shorten(file)}"
        remedy = "Try ", Argument("phenotype_name", names[0]), "."
        raise ParameterError.because("phenotype_name", rule, None, remedy, shown="none")
    return 0


def _check_known(raw: Mapping[Person, str], people: Sequence[Person], file: Path) -> None:
    """Raise if the file is about other people altogether."""
    if raw.keys().isdisjoint(people):
        ours, theirs = " ".join(people[0]), " ".join(next(iter(raw), ("nobody", "")))
        raise DataError(
            f"{shorten(file)} names nobody who is in the .fam file: there the first is {ours!r}, "
            f"here {theirs.strip()!r}.",
            "Lines must begin with the family id and the individual id of the .fam file.",
        )
