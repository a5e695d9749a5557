"""A blanket as text: the members with their evidence, what was chosen, and what to know."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from komb.citests.registry import unreliable_note
from komb.data.knowledge import Knowledge
from komb.search.registry import algorithms, all_options
from komb.views.remarks_text import (
    alternatives,
    choice_grids,
    sight_grids,
    sight_notes,
    warnings_of,
)
from komb.views.text import (
    NOTHING,
    Grid,
    Sheet,
    plural,
    show_freedom,
    show_name,
    show_names,
    show_p_value,
    show_seconds,
    show_statistic,
)
from komb.views.types_text import bin_notes, rank_notes, show_cuts, type_notes

if TYPE_CHECKING:
    from komb.data.names import Name
    from komb.results.blanket import Blanket
    from komb.results.member import Member

_PLAIN_DECADES = 15  # smaller p-values are shown with one digit
_NAMES_WIDTH = 60  # characters of a list of names in a table
_MEMBER_HEADINGS = ("member", "depends given", "statistic>", "df>", "p-value>", "test")
_WORDINGS = {
    "test": "test {}",
    "alpha": "alpha {}",
    "start": "started from {}",
    "include": "with {} by request",
    "exclude": "excluding {}",
    "given": "given {} in every test",
    "groups": "groups {}",
    "knowledge": "known: {}",
    "weights": "weights {}",
    "missing": "missing values: {}",
}
"""How parameters are said that no algorithm or test declares; nothing is said of the others."""

_MOST_CUTS = 5  # columns whose cut points are shown


def blanket_sheet(blanket: Blanket) -> Sheet:
    """Say what a blanket is and how it was found."""
    names = show_names(blanket.members, _NAMES_WIDTH) or "empty"
    return Sheet(
        title=f"Markov blanket of {show_name(blanket.target)}: {names}",
        facts=_show_run(blanket),
        grids=(
            _member_grid(blanket),
            *choice_grids(blanket.choices),
            *sight_grids(blanket.remarks),
        ),
        notes=tuple(_notes(blanket)),
        warnings=tuple(warnings_of(blanket.remarks, blanket.target)),
    )


def _member_grid(blanket: Blanket) -> Grid:
    """Show the members, the strongest first, and below each what could replace it."""
    rows: list[tuple[str, ...]] = []
    for member in sorted(blanket.details, key=_weakness):
        rows.append(_show_member(member))
        empty = [""] * (len(_MEMBER_HEADINGS) - 1)
        rows += [(line, *empty) for line in alternatives(blanket.remarks, member.name)]
    return Grid(_MEMBER_HEADINGS, tuple(rows))


def _notes(blanket: Blanket) -> Iterator[str]:
    if all(member.is_by_request for member in blanket.details):
        yield from _empty_notes(blanket)
    yield from type_notes(blanket.types, str(blanket.parameters.get("missing")))
    kept = (name for name in blanket.identifiers if not _is_left_out(blanket, name))
    yield from identifier_notes(tuple(kept))
    yield from cut_notes(blanket)
    yield from _test_notes(blanket)
    yield from sight_notes(blanket.remarks)
    took = f"{plural(blanket.tests, 'test')}", show_seconds(blanket.seconds)
    if not blanket.n_rows:
        yield f"{took[0]} in {took[1]}, answered without data and without error."
        return
    tables = f"{plural(blanket.tables, 'contingency table')} of {plural(blanket.n_rows, 'row')}"
    yield f"{took[0]} from {tables} in {took[1]}."


def _weakness(member: Member) -> float:
    """Sort the strongest member first, and those by request last."""
    return math.inf if member.bits is None else -member.bits


def _empty_notes(blanket: Blanket) -> Iterator[str]:
    """Say what was searched in vain, and what to try next."""
    target, order = show_name(blanket.target), blanket.settled_parameters.get("order")
    if order == 0:
        yield f"No column was found to be marginally dependent on {target}."
    else:
        given = f", marginally or given up to {plural(order, 'other column')}" if order else ""
        yield f"No column was found to depend on {target}{given}."
    if order is None and _sees_no_combinations(blanket.method):
        yield (
            f"Method {blanket.method} cannot find columns that depend on {target} only in "
            "combination: try method auto."
        )
    elif order is not None and order + 1 <= blanket.n_columns - 2:
        yield f"Columns may depend on {target} in larger combinations: try order {order + 1}."


def _sees_no_combinations(method: str) -> bool:
    """Whether a method is known to assume that what matters is visible by itself."""
    info = algorithms().get(method)
    return info is not None and info.assumes in ("composition", "faithfulness")


def _show_member(member: Member) -> tuple[str, ...]:
    test = member.test or NOTHING
    return (
        show_name(member.name),
        _show_witness(member.witness),
        show_statistic(member.statistic),
        show_freedom(member.df),
        show_p_value(member.p_value),
        f"{test} (unreliable)" if member.reliable is False else test,
    )


def show_strength(member: Member) -> str:
    """Say in a few words how strong the evidence for a member is."""
    if member.bits is None:
        return "by request"
    trust = ", unreliable" if member.reliable is False else ""
    if member.p_value is None:
        return f"{member.bits:,.1f} bits{trust}"
    decades = member.bits * math.log10(2)
    small = _show_tiny(decades) if decades > _PLAIN_DECADES else show_p_value(member.p_value)
    return f"p = {small}{trust}"


def _show_tiny(decades: float) -> str:
    """Show ten to the power of minus ``decades``, which may be too small for a double."""
    power = math.ceil(decades)
    digit = round(10 ** (power - decades))
    return f"1e-{power - 1:,}" if digit == 10 else f"{digit}e-{power:,}"


def _show_witness(witness: tuple[Name, ...] | None) -> str:
    return "(by request)" if witness is None else show_names(witness) or "(nothing)"


def _show_run(blanket: Blanket) -> str:
    """Say in a line how a blanket was found; what the search chose is in a table of its own."""
    parts = [f"method {blanket.method}"]
    order = blanket.settled_parameters.get("order")
    witnesses = [member.witness for member in blanket.details if member.witness is not None]
    if order is not None and witnesses:
        parts.append(f"found at order {max(map(len, witnesses))}")
    given = {key: value for key, value in blanket.parameters.items() if key not in blanket.choices}
    return ", ".join(filter(None, [*parts, show_parameters(given)]))


def show_parameters(parameters: Mapping[str, Any]) -> str:
    """Say in a line what a search was run with; empty parameters are left out."""
    options = all_options()
    parts = []
    for key, value in parameters.items():
        wording = options[key].show if key in options else _WORDINGS.get(key, "").format
        shown = _show_value(key, value)
        if shown != "" and _usual(parameters).get(key, ...) != value:
            parts.append(wording(shown))
    return ", ".join(filter(None, parts))


def _usual(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters that a reader expects, so that nothing is said of them."""
    is_strict = parameters.get("types", "strict") == "strict"
    return {"missing": "error" if is_strict else "testwise", "seed": 0}


def _show_value(key: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return _show_mapping(key, value)
    if isinstance(value, tuple):
        return show_names(value, _NAMES_WIDTH)
    return "" if value is None else value if isinstance(value, int) else str(value)


def _show_mapping(key: str, value: Mapping[Any, Any]) -> str:
    """Show what is said by name: groups, weights or knowledge."""
    if key == "knowledge":
        return str(Knowledge.of(value))
    if key == "weights":
        return ", ".join(f"{show_name(name)} ({kind})" for name, kind in value.items())
    return show_names(tuple(value), _NAMES_WIDTH)


def shared_parameters(blankets: Iterable[Blanket]) -> dict[str, Any]:
    """Return the parameters that all blankets were searched with."""
    first, *others = [blanket.settled_parameters for blanket in blankets] or [{}]
    return {
        key: value
        for key, value in first.items()
        if all(other.get(key) == value for other in others)
    }


def _is_left_out(blanket: Blanket, name: Name) -> bool:
    return name in blanket.types and blanket.types[name].is_left_out


def identifier_notes(identifiers: tuple[Name, ...]) -> Iterator[str]:
    """Warn of columns that identify rows instead of grouping them."""
    if identifiers:
        has, it = ("has", "it") if len(identifiers) == 1 else ("have", "them")
        yield (
            f"Caution: {show_names(identifiers)} {has} a different value in most rows, so tests on "
            f"{it} mean nothing. Exclude {it}."
        )


def cut_notes(blanket: Blanket) -> Iterator[str]:
    """Say where columns were cut into bins: the target, the members, a few of the others."""
    cuts, types = blanket.cuts, blanket.types
    yield from rank_notes(types)
    unasked = {name: cuts[name] for name in cuts if _way(blanket, name) is None and name in types}
    yield from bin_notes(types, unasked)
    first = [blanket.target, *blanket.members]
    names = [
        name for name in dict.fromkeys([*first, *cuts]) if name in cuts and name not in unasked
    ]
    cut = [name for name in names if cuts[name]]
    for name in cut[:_MOST_CUTS]:
        points = show_names(show_cuts(name, cuts, types), _NAMES_WIDTH)
        yield f"{show_name(name)}: cut at {points}{_show_way(blanket, name)}."
    if len(cut) > _MOST_CUTS:
        yield f"{plural(len(cut) - _MOST_CUTS, 'more column')} cut into bins: see 'cuts'."
    constant = [name for name in names if not cuts[name]]
    if constant:
        but = " apart from missing values" if blanket.parameters.get("missing") == "level" else ""
        yield f"No cut points, so constant{but}: {show_names(constant, _NAMES_WIDTH)}."
    if any(_way(blanket, name) == "mdl" for name in constant):
        yield (
            "mdl chooses the cut points of one column at a time, so it can lose columns that "
            "depend on the target only in combination: try quantile."
        )


def _show_way(blanket: Blanket, name: Name) -> str:
    """Say in parentheses how cut points were found, if that is known."""
    way = _way(blanket, name)
    if way is None:
        return ""
    return f" ({way})" if isinstance(way, str) else " (as given)"


def _way(blanket: Blanket, name: Name) -> object:
    discretize = blanket.parameters.get("discretize")
    return discretize.get(name) if isinstance(discretize, Mapping) else discretize


def _test_notes(blanket: Blanket) -> Iterator[str]:
    """Say which tests were not what the reader expects."""
    test = blanket.parameters.get("test")
    if blanket.fallbacks:
        share = f"{blanket.fallbacks:,} of {plural(blanket.tests, 'test')}"
        yield f"Stochastic complexity (sci, which has no p-value) decided {share} on sparse tables."
    if blanket.unreliable:
        yield unreliable_note(
            str(test), f"{blanket.unreliable:,} of {plural(blanket.tests, 'test')}"
        )
