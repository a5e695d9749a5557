"""A blanket as text: the answer, and on request how it was found."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from komb.citests.registry import unreliable_note
from komb.data.knowledge import Knowledge
from komb.search.registry import algorithms, all_options
from komb.views.effects_text import recurrence_note
from komb.views.reasons import ADJUSTED_NOTE, adjust
from komb.views.remarks_text import (
    choice_grid,
    equivalents_note,
    leak_warnings,
    omission_notes,
    omission_reasons,
    sight_grid,
    sight_notes,
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
from komb.views.types_text import bin_notes, left_out_notes, rank_notes, show_cuts, type_notes

if TYPE_CHECKING:
    from komb.data.names import Name
    from komb.results.blanket import Blanket
    from komb.results.member import Member

_NAMES_WIDTH = 60  # characters of a list of names in a table
_TEST_HEADINGS = ("member", "given", "statistic>", "df>", "p-value>", "decided by")
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
    """Show the answer: members, how sure they are, and what a reader must know besides."""
    return Sheet(
        title=f"Markov blanket of {_title(blanket)}",
        grids=(member_grid(blanket),),
        notes=tuple(_answer_notes(blanket)),
        warnings=(*_row_warnings(blanket), *leak_warnings(blanket.leaks, blanket.target)),
    )


def _row_warnings(blanket: Blanket) -> Iterator[str]:
    """Warn of rows that are copies of others."""
    if blanket.repeated_rows:
        yield (
            f"Caution: {blanket.repeated_rows:,} of {plural(blanket.n_rows, 'row')} are copies of "
            "others, but tests take each for a new observation: p-values are too small. Keep one "
            "of each."
        )


def details_sheet(blanket: Blanket) -> Sheet:
    """Show how a blanket was found: its tests, what was chosen, what could be detected."""
    return Sheet(
        title=f"How the Markov blanket of {show_name(blanket.target)} was found",
        facts=_show_run(blanket),
        grids=(_test_grid(blanket), choice_grid(blanket.choices), sight_grid(blanket.remarks)),
        notes=tuple(_details_notes(blanket)),
    )


def _title(blanket: Blanket) -> str:
    names = show_names(blanket.members) or "empty"
    if len(names) > _NAMES_WIDTH:  # the table below has them all
        names = f"{len(blanket):,} of {plural(blanket.n_columns - 1, 'column')}"
    return f"{show_name(blanket.target)}: {names}"


def member_grid(blanket: Blanket) -> Grid:
    """Show the members, the strongest first: why each is one, and how sure that is."""
    shares = None if blanket.known_stability is None else blanket.known_stability.shares
    headings = ("member", "why it is a member", "evidence")
    rows = [(show_name(m.name), say_why(m, blanket), show_strength(m)) for m in _ordered(blanket)]
    if shares is None:
        return Grid(headings, tuple(rows))
    found = [f"{shares.get(member.name, 0.0):.0%}" for member in _ordered(blanket)]
    columns = (*headings, "in half-samples>")
    return Grid(columns, tuple((*row, share) for row, share in zip(rows, found, strict=True)))


def say_why(member: Member, blanket: Blanket) -> str:
    """Say in a few words why a column is a member."""
    target, witness = show_name(blanket.target), member.witness
    if witness is None:
        return "by request"
    if not witness:
        return f"depends on {target} by itself"
    if len(witness) > 1 and len(witness) == len(blanket) - 1 and {*witness} < {*blanket}:
        return f"depends on {target} together with all other members"
    return f"depends on {target} together with {show_names(witness, _NAMES_WIDTH)}"


def show_strength(member: Member) -> str:
    """Say in a few words how strong the evidence for a member is."""
    if member.bits is None:
        return "by request" if member.witness is None else "certain"
    trust = ", unreliable" if member.reliable is False else ""
    if member.p_value is None:
        return f"{member.bits:,.1f} bits{trust}"
    return f"p = {show_p_value(member.p_value, member.bits)}{trust}"


def _answer_notes(blanket: Blanket) -> Iterator[str]:
    """Say what could replace members, what was not searched, and how often the search errs."""
    if all(member.is_by_request for member in blanket.evidence):
        yield from _empty_notes(blanket)
    is_automatic = "order" in blanket.choices and bool(blanket.n_rows)
    yield from equivalents_note(blanket.remarks, is_sought=is_automatic and bool(blanket.members))
    if is_automatic and not blanket.leaks:
        yield f"Leaks: none; no column gives {show_name(blanket.target)} away."
    if is_automatic and blanket.members and blanket.known_stability is None:
        yield recurrence_note(blanket)
    order = blanket.settled_parameters.get("order") if blanket.members else None
    yield from omission_notes(blanket.omissions, order)
    yield from left_out_notes(blanket.types)
    yield from identifier_notes([blanket])
    yield from _error_notes(blanket)
    yield f"{say_work(blanket)} How it was found: details() or --verbose."


def _error_notes(blanket: Blanket) -> Iterator[str]:
    """Name the one number that governs how often the list is wrong."""
    level, alpha = (blanket.parameters.get(name) for name in ("level", "alpha"))
    if level is not None and blanket.n_rows:
        yield (
            f"Errors: where nothing depends on {show_name(blanket.target)}, at most "
            f"{_in_100(level)} such searches name a column all the same."
        )
    elif alpha is not None:
        yield f"Errors: of tests of two independent columns, {_in_100(alpha)} call them dependent."


def _in_100(share: float) -> str:
    """Show a share as a count of 100, or of more if that is not whole."""
    of = 100 if share >= 0.01 else 10 ** math.ceil(-math.log10(share))
    return f"{round(share * of, 2):g} in {of:,}"


def say_work(blanket: Blanket) -> str:
    """Say how many tests it took, and how long, with the time of reading the data."""
    took = f"{plural(blanket.tests, 'test')} in {show_seconds(blanket.seconds)}"
    if not blanket.n_rows:
        return f"{took}, answered by {blanket.parameters['test']} of a model, without error."
    read = blanket.seconds_to_read
    after = f", after {show_seconds(read)} of reading the data" if read else ""
    return f"{plural(blanket.n_rows, 'row')}, {took}{after}."


def _ordered(blanket: Blanket) -> list[Member]:
    """Return the strongest member first, and those by request last."""
    return sorted(blanket.evidence, key=lambda m: math.inf if m.bits is None else -m.bits)


def _test_grid(blanket: Blanket) -> Grid:
    return Grid(_TEST_HEADINGS, tuple(map(_show_test, _ordered(blanket))))


def _show_test(member: Member) -> tuple[str, ...]:
    """Show the test of a member, with the statistic that its p-value belongs to."""
    test = member.test or NOTHING
    given = "(by request)" if member.witness is None else show_names(member.witness) or "(nothing)"
    return (
        show_name(member.name),
        given,
        show_statistic(adjust(member.statistic, member.df, member.p_value)),
        show_freedom(member.df),
        show_p_value(member.p_value, member.bits),
        f"{test} (unreliable)" if member.reliable is False else test,
    )


def _details_notes(blanket: Blanket) -> Iterator[str]:
    adjusted = (adjust(m.statistic, m.df, m.p_value) != m.statistic for m in blanket.evidence)
    if any(adjusted):
        yield ADJUSTED_NOTE
    yield from omission_reasons(blanket.omissions)
    yield from sight_notes(blanket.remarks)
    yield from type_notes(blanket.types, str(blanket.parameters.get("missing")))
    yield from cut_notes(blanket)
    yield from _test_notes(blanket)
    if blanket.tables:
        yield f"{plural(blanket.tests, 'test')} from {plural(blanket.tables, 'contingency table')}."


def _empty_notes(blanket: Blanket) -> Iterator[str]:
    """Say what was searched in vain, and what to try next."""
    target, order = show_name(blanket.target), blanket.settled_parameters.get("order")
    given = f", by itself or together with up to {plural(order, 'other')}" if order else ""
    yield f"No column was found to depend on {target}{' by itself' if order == 0 else given}."
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


def _show_run(blanket: Blanket) -> str:
    """Say in a line what a blanket was searched with; what was chosen has a table of its own."""
    given = {key: value for key, value in blanket.parameters.items() if key not in blanket.choices}
    return ", ".join(filter(None, [f"method {blanket.method}", show_parameters(given)]))


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


def identifier_notes(blankets: Iterable[Blanket]) -> Iterator[str]:
    """Warn of columns that identify rows instead of grouping them, and were searched."""
    identifiers = dict.fromkeys(
        name
        for blanket in blankets
        for name in blanket.identifiers
        if name not in blanket.types or not blanket.types[name].is_left_out
    )
    if identifiers:
        has, it = ("has", "it") if len(identifiers) == 1 else ("have", "them")
        yield (
            f"Caution: {show_names([*identifiers])} {has} a different value in most rows, so tests "
            f"on {it} mean nothing. Exclude {it}."
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
    if blanket.fallbacks:
        share = f"{blanket.fallbacks:,} of {plural(blanket.tests, 'test')}"
        yield f"Stochastic complexity (sci, which has no p-value) decided {share} on sparse tables."
    if blanket.unreliable:
        share = f"{blanket.unreliable:,} of {plural(blanket.tests, 'test')}"
        yield unreliable_note(str(blanket.parameters.get("test")), share)
