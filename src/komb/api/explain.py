"""Explanations of blankets: whose table it is, and who answers.

What is asked, and what it is put together to, is :mod:`komb.describe.explain`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from komb.citests.registry import takes_numbers
from komb.data.arrange.arrangement import arrange
from komb.data.arrange.plan import Plan, check_groups, check_weight_column
from komb.data.arrange.strata import held_columns
from komb.data.encode.treatment import MDL, STRICT, Treatment, check_treatment
from komb.data.knowledge import Knowledge
from komb.data.table import DiscreteTable
from komb.describe import explain as describe
from komb.errors import DataError, ParameterError
from komb.results.blanket import Blanket
from komb.results.explanation import Explanation
from komb.search.separated import complete_separators
from komb.search.task import Found, Task
from komb.sessions.questions import Variables
from komb.sessions.session import Session
from komb.sessions.table_session import open_table
from komb.views.text import plural, show_statistic


def explain(
    blanket: Blanket,
    table: DiscreteTable | None,
    data: object = None,
    test: Callable[..., Any] | None = None,
) -> Explanation:
    """Explain a blanket, which is what :meth:`komb.Blanket.explain` does.

    Examples
    --------
    >>> import komb
    >>> table = komb.boolean_table("parity", 500, n_parents=2)
    >>> explain(komb.markov_blanket(table, "Y"), None, table)
    Explanation('Y': 2 members, 0 left out, 0 unrelated)
    """
    if not blanket.n_rows:
        raise DataError(
            "A blanket in a network or graph has nothing to explain: its answers are no tests. "
            "Search a table to have tests explained."
        )
    asked = table if data is None else _check_data(blanket, data)
    if asked is None:
        raise ParameterError(
            "'data' must be given to explain a blanket that was pickled or read from a record: "
            "it has no data with it. Pass the table: blanket.explain(data)."
        )
    explanation = _explain(blanket, asked, test)
    if data is not None:
        _check_explained(blanket, explanation)
    return _supplement(explanation, blanket if table is asked else blanket.with_table(asked))


def _explain(
    blanket: Blanket, table: DiscreteTable, test: Callable[..., Any] | None
) -> Explanation:
    """Ask the table, with separators for the columns outside."""
    parameters = blanket.settled_parameters
    session, target = open_session(table, parameters, test), table.index(blanket.target)
    others = frozenset(range(table.n_columns)) - {target} - _held_fixed(table, parameters)
    witnesses = {
        table.index(member.name): None
        if member.witness is None
        else frozenset(map(table.index, member.witness))
        for member in blanket.details
    }
    task, size = Task(target, others), describe.tried_separator(parameters)
    separators = complete_separators(session, task, Found(witnesses), size)
    return describe.explain(
        session, table.names, task, Found(witnesses, separators=separators), method=blanket.method,
        parameters=parameters, choices=blanket.choices, remarks=blanket.remarks,
    )  # fmt: skip


def _supplement(explanation: Explanation, blanket: Blanket) -> Explanation:
    """Say of each member how much it tells, and what it is to the target, if quickly found."""
    supplement = blanket._supplement
    roles, effects = supplement.roles_at_hand, supplement.effects_at_hand
    members = (
        replace(
            reason,
            role=roles.get(reason.name),
            effect=None if effects is None else effects[reason.name],
        )
        for reason in explanation.reasons
    )
    return replace(explanation, reasons=tuple(members))


def _check_data(blanket: Blanket, data: object) -> DiscreteTable:
    """Encode the table that a blanket was found in, or say why it cannot be the one."""
    parameters = blanket.parameters
    is_cut = isinstance(data, DiscreteTable)
    treatment = check_treatment() if is_cut else _repeat_treatment(blanket)
    table = arrange(
        data, treatment, _plan(parameters), exclude=parameters.get("exclude", ()),
        takes_numbers=takes_numbers(str(parameters.get("test"))),
    ).table  # fmt: skip
    shape, wanted = (table.n_rows, table.n_columns), (blanket.n_rows, blanket.n_columns)
    if shape != wanted:
        found_in, got = (
            f"{plural(n_rows, 'row')} x {plural(n_columns, 'column')}"
            for n_rows, n_columns in (wanted, shape)
        )
        raise DataError(
            f"'data' must be the table that the blanket was found in, {found_in}; got {got}. "
            "Pass that table, or search this one again."
        )
    for name in (blanket.target, *blanket.members):
        table.index(name)
    return table


def _repeat_treatment(blanket: Blanket) -> Treatment:
    """Return how the columns of a blanket's table were treated."""
    parameters = blanket.parameters
    types, discretize = parameters.get("types", STRICT), parameters.get("discretize")
    missing = parameters.get("missing", "error")
    if types == STRICT:
        return check_treatment(blanket.cuts or None, missing=missing)
    if discretize == MDL:
        discretize = blanket.cuts
    elif isinstance(discretize, Mapping):
        rules = discretize.items()
        discretize = {name: blanket.cuts[name] if rule == MDL else rule for name, rule in rules}
    given = {name: parameters[name] for name in ("bins", "na_values") if name in parameters}
    return check_treatment(discretize, missing=missing, types=types, **given)


def _plan(parameters: Mapping[str, Any]) -> Plan:
    """Return how the table of a search was arranged."""
    return Plan(
        tuple(parameters.get("given", ())),
        check_groups("groups", parameters.get("groups")),
        check_weight_column("weights", parameters.get("weights")),
    )


def _check_explained(blanket: Blanket, explanation: Explanation) -> None:
    """Raise if a test says something else than it did in the search."""
    for member in blanket.details:
        reason = explanation[member.name]
        if member.statistic is None or reason.shown is None:
            continue
        if not math.isclose(member.statistic, reason.shown.statistic, rel_tol=1e-6):
            raise DataError(
                "'data' must be the table that the blanket was found in; got one in which the "
                f"statistic of {member.name!r} is {show_statistic(reason.shown.statistic)} "
                f"instead of {show_statistic(member.statistic)}. Pass that table, or search "
                "this one again."
            )


def open_session(
    table: DiscreteTable,
    parameters: Mapping[str, Any],
    test: Callable[..., Any] | None = None,
    *,
    is_required_told: bool = False,
) -> Session:
    """Make a session that answers as the one of the search did.

    What tests say of a required pair is told as it is, unless ``is_required_told``.

    Examples
    --------
    >>> from komb.data.models.boolean_functions import boolean_table
    >>> open_session(boolean_table("and", 500), {"test": "g"}).is_dependent(3, 0, frozenset())
    True
    """
    known = {key: parameters[key] for key in ("test", "alpha", "df", "seed") if key in parameters}
    known |= {} if test is None else {"test": test}
    if "knowledge" in parameters:
        also = {*parameters.get("given", ()), *parameters.get("exclude", ())}
        said = Knowledge.of(parameters["knowledge"])
        if not is_required_told:
            said = replace(said, required=())
        known["knowledge"] = said.in_columns(table.names, also)
    return open_table(table, given=_held_fixed(table, parameters), **known)


def _held_fixed(table: DiscreteTable, parameters: Mapping[str, Any]) -> Variables:
    """Return the columns that were held fixed."""
    return frozenset(map(table.index, held_columns(table, parameters.get("given", ()))))
