"""Everything that happens before a search: data become a table, and what was asked is checked."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from komb.api.options import FIXED_ALPHA, Search
from komb.api.oracle import Oracle, find_oracle
from komb.citests.registry import find_test, make_test, name_of_test
from komb.data.covariates import Held, hold_fixed
from komb.data.kinds import KINDS, NOMINAL, ORDINAL, ColumnType
from komb.data.knowledge import ColumnKnowledge
from komb.data.names import Name, list_names
from komb.data.problems import and_more
from komb.data.reading import table as read_table
from komb.data.table import DiscreteTable
from komb.errors import Argument, DataError, InPython, ParameterError, Text, UnknownNameError
from komb.search.task import Choice

Data = DiscreteTable | Oracle


class Opened(NamedTuple):
    """A table or model, the columns that are held fixed, and what was decided on the way."""

    data: Data
    held: tuple[Name, ...] = ()
    choices: Mapping[str, Choice] = {}


def open_data(data: object, targets: Sequence[Name] | None, search: Search) -> Opened:
    """Make a table of data, large enough for a search; a model is taken as it is."""
    for target in targets or ():
        _check_is_name(target)
        for parameter in ("exclude", "given"):
            if target in getattr(search, parameter):
                _refuse_target(parameter, target)
    oracle = find_oracle(data)
    if oracle is not None:
        check_for_models(search)
        return Opened(oracle, search.given)
    parameter = "target" if len(targets or ()) == 1 else "targets"
    if isinstance(data, DiscreteTable):
        _check_size(data, ())  # a file of one column was read with a wrong delimiter
        find_columns(parameter, targets or (), data)
    table = read_table(data, exclude=search.exclude, target=next(iter(targets or ()), None))
    for target in targets or ():
        if target in table.types:  # or else it is looked for later
            find_column(parameter, target, table)
    find_columns("given", search.given, table)  # says why a column was left out
    held = Held(table)
    if search.given:
        takes_numbers = find_test(search.test).takes_numbers
        held = hold_fixed(table, search.given, takes_numbers=takes_numbers)
    _check_size(held.table, held.fixed)
    table = held.table
    notes = {**table.notes, **held.notes}
    return Opened(table, held.fixed, {name: Choice(*note) for name, note in notes.items()})


def check_search(search: Search, opened: Opened) -> dict[str, Any]:
    """Check what depends on the data, and find out what holds for them."""
    data = opened.data
    for name, value in search.options.items():
        search.declared[name].check_fit(value, data.n_columns)
    alpha, choices = choose_alpha(search, data)
    if isinstance(data, DiscreteTable):
        _check_fit(search, alpha or FIXED_ALPHA)
    is_model = isinstance(data, Oracle)
    return {
        "alpha": alpha,
        "start": find_columns("start", search.start, data),
        "include": find_columns("include", search.include, data),
        "held": find_columns("given", opened.held, data),
        "left_out": find_columns("exclude", search.exclude, data) if is_model else (),
        "knowledge": _find_knowledge(search, data),
        "choices": {**choices, **opened.choices},
    }


def choose_alpha(
    search: Search, data: Data, n_columns: int | None = None
) -> tuple[float | None, dict[str, Choice]]:
    """Return the level of the tests; if the search chooses it, why.

    Some of the columns of a table have the level of all of them.
    """
    if isinstance(data, Oracle):
        return None, {}
    if search.alpha is not None:
        return search.alpha, {}
    if search.algorithm.choose_alpha is None:
        return FIXED_ALPHA, {}
    choice = search.algorithm.choose_alpha(data.n_rows, n_columns or data.n_columns)
    return float(choice.value), {"alpha": choice}


def check_for_models(search: Search) -> None:
    """Raise if something is asked for that only data have a use for."""
    asked = {"test": search.test if search.test != "auto" else None, "alpha": search.alpha}
    asked |= search.of_test | {"level": search.options.get("level")}
    for name, value in asked.items():
        if value is not None:
            rule = "be left out for a network or graph, which answers without any test"
            remedy = "Leave it out, or draw a table first, with network.sample(1000)."
            raise ParameterError.because(name, rule, value, remedy)


def _find_knowledge(search: Search, data: Data) -> ColumnKnowledge | None:
    """Return what is known about the columns; names must be those of columns or groups."""
    if search.knowledge is None:
        return None
    for pair in search.knowledge.required:
        left_out = [name for name in pair if name in search.exclude]
        if left_out:
            rule = "not require a column that is excluded"
            words = "Take it out of ", Argument("exclude"), " or of the required pairs."
            raise ParameterError.because("knowledge", rule, left_out[0], words)
    for name in search.knowledge.names:
        _check_not_grouped("knowledge", name, data)
    return search.knowledge.in_columns(data.names, {*search.given, *search.exclude})


def _check_not_grouped(parameter: str, name: Name, data: Data) -> None:
    """Raise if a column is part of a group, and so not there by itself."""
    if name in data.names:
        return
    for group, names in data.groups.items():
        if name in names:
            rule = "speak of groups as a whole"
            remedy = f"Name the group {group!r} instead, or take the column out of it."
            raise ParameterError.because(parameter, rule, name, remedy)


def _check_fit(search: Search, alpha: float) -> None:
    """Raise if a test cannot be made, or has no p-values as small as the search needs."""
    algorithm = search.algorithm
    test = make_test(search.test, alpha=alpha, **search.of_test)
    if test.smallest_p_value > 0 and algorithm.choose_alpha is not None:
        name = name_of_test(search.test)
        rule = f"give p-values small enough for multiple testing by method {algorithm.name!r}"
        remedy = (
            f"Those of {name!r} are never below {test.smallest_p_value:.2g}. Use ",
            Argument("test", "auto"), ", or another method, such as ",
            Argument("method", "komb"), ".",
        )  # fmt: skip
        raise ParameterError.because("test", rule, name, remedy)


def find_columns(parameter: str, names: Iterable[Name], data: Data) -> tuple[int, ...]:
    """Return the positions of several columns, each once, in the order of the table."""
    listed = list_names(parameter, names)
    return tuple(sorted({find_column(parameter, name, data) for name in listed}))


def find_column(parameter: str, name: Name, data: Data) -> int:
    """Return the position of a column, or say which parameter named what is not there."""
    try:
        return data.index(name)
    except UnknownNameError as error:
        _check_not_grouped(parameter, name, data)
        if isinstance(name, Hashable) and name in data.types:
            raise _refuse_left_out(parameter, name, data.types[name]) from None
        raise error.concerning(parameter) from None


def _refuse_left_out(parameter: str, name: Name, found: ColumnType) -> DataError:
    """Say why a column that was named is no part of the table."""
    rule, shown = "name a column that can be tested", f"{name!r}: {found}"
    remedy: Text = "Choose another column."
    if found.kind in KINDS:
        kinds = " or ".join(repr(kind) for kind in (NOMINAL, ORDINAL))
        said = Argument("types", {name: NOMINAL})
        remedy = f"If it is {kinds}, say so", InPython(" in komb.table"), ": ", said, "."
    return DataError.because(parameter, rule, name, remedy, shown=shown)


def find_targets(
    data: Data, targets: Sequence[Name] | None, taken: Mapping[str, tuple[int, ...]], parameter: str
) -> tuple[int, ...]:
    """Return the positions of the targets; of all columns that vary if none are named."""
    if targets is None:
        searched = [x for x in range(data.n_columns) if x not in {*taken["held"]}]
        positions = tuple(x for x in searched if not is_constant(data, x))
        if not positions:
            rule, remedy = "have a column with at least 2 levels", "Check how it was read."
            shown = f"{data.n_columns} constant ones"
            raise DataError.because("data", rule, data.n_columns, remedy, shown=shown)
        return tuple(x for x in positions if x not in {*taken["left_out"]})
    if not targets:
        remedy = "Leave it out for all columns."
        raise ParameterError.because("targets", "name at least one column", targets, remedy)
    return tuple(dict.fromkeys(_find_target(data, name, taken, parameter) for name in targets))


def is_constant(data: Data, position: int) -> bool:
    """Whether a column has one level only; what a model knows of a variable is taken to vary."""
    return isinstance(data, DiscreteTable) and len(data.levels[position]) < 2


def _find_target(data: Data, target: Name, taken: Mapping[str, tuple[int, ...]], named: str) -> int:
    """Return the position of a target, or say why it cannot be one."""
    position = find_column(named, target, data)
    for parameter in ("include", "start"):
        if position in taken[parameter]:
            _refuse_target(parameter, data.names[position])
    if isinstance(data, DiscreteTable) and is_constant(data, position):
        where = "every row with a value" if data.missing_counts[position] else "every row"
        shown = f"{target!r}, which is {data.levels[position][0]!r} in {where}"
        rule = "be a column with at least 2 levels"
        remedy = "Choose another target, or rows in which it varies."
        raise DataError.because("target", rule, target, remedy, shown=shown)
    return position


def _check_is_name(target: object) -> None:
    """Raise if a target is not a name but, say, the values of a column."""
    if not isinstance(target, Hashable):
        remedy = "Put its values into the table as a column and pass that column's name."
        shown = f"a {type(target).__name__}"
        rule = "be the name of a column"
        raise ParameterError.because("target", rule, target, remedy, shown=shown)


def _refuse_target(parameter: str, name: Name) -> NoReturn:
    remedy = "Take it out of ", Argument(parameter), ": a column is never in its own blanket."
    raise ParameterError.because(parameter, "not name the target", name, remedy)


def _check_size(table: DiscreteTable, held: Sequence[Name]) -> None:
    """Raise if a table is too small for any analysis."""
    if table.n_columns - len(held) < 2:
        rule = "have at least 2 columns, a target and a candidate"
        remedy: Text = "Check how it was read: a wrong delimiter puts everything into one column."
        shown = f"{table.n_columns}"
        left_out = [name for name, found in table.types.items() if found.is_left_out]
        if left_out:
            listed = and_more(f"{name!r}: {table.types[name]}" for name in left_out)
            shown = f"{table.n_columns}, besides {listed}"
            remedy = "Say what they are: ", Argument("types", dict.fromkeys(left_out, ORDINAL)), "."
        raise DataError.because("data", rule, table.n_columns, remedy, shown=shown)
    if table.n_rows < 2:
        remedy = "One row says nothing about dependence: check how it was read or filtered."
        raise DataError.because("data", "have at least 2 rows", table.n_rows, remedy)
