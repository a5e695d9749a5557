"""Tables and claims as pieces of HTML."""

from __future__ import annotations

import math
from collections.abc import Iterator
from html import escape

from komb.reproduction.claims import Claim, Finding
from komb.reproduction.layout import Column, Entry, Row, Section, Table
from komb.views.html.markup import scroll_box

_STEPS = (0.005, 0.03, 0.08)  # differences of scores from which on they have more colour
_TIME_STEPS = (0.02, 0.5, 1.5)  # the same for times, in powers of ten
_ARROWS = {"up": "▲ ", "down": "▼ ", "even": "= ", "off": "≠ "}
_SIGNS = {"holds": "✓", "holds so far": "✓", "does not hold": "✗", "not tested": "?"}
_COMMANDS = (" adds it: ", " runs it: ")  # what stands before a command, at the end of a note


def table_html(table: Table) -> str:
    """Write a table as HTML, in a box that it can be scrolled in.

    Examples
    --------
    >>> from komb.reproduction.paper import Published
    >>> section = Section("", (Row("GS", "", (Entry(0.75, published=Published(0.5)),)),))
    >>> html = table_html(Table("", "Title", "", "method", (Column("", "or", 2),), (section,)))
    >>> '<span class="change up3">▲ +0.25</span>' in html
    True
    """
    body = "".join(_section(table, section) for section in table.sections)
    return scroll_box(
        table.title, f"<table><thead>{_head(table)}</thead><tbody>{body}</tbody></table>"
    )


def claim_html(claim: Claim) -> str:
    """Write a claim and whether it holds."""
    origin = (
        "" if claim.is_of_the_paper else ' <span class="soft">(not claimed by the paper)</span>'
    )
    findings = "".join(map(_finding, claim.findings))
    return f"<li><p>{escape(claim.text)}{origin}</p>{findings}</li>\n"


def note_html(note: str) -> str:
    """Write a note; a command at its end is set as one.

    Examples
    --------
    >>> note_html("Nothing was run. This adds it: komb reproduce all")
    'Nothing was run. This adds it: <code>komb reproduce all</code>'
    """
    for mark in _COMMANDS:
        text, found, command = note.partition(mark)
        if found:
            return f"{escape(text + found)}<code>{escape(command)}</code>"
    return escape(note)


def _finding(finding: Finding) -> str:
    kind = finding.verdict.replace(" ", "-")
    verdict = f"{_SIGNS[finding.verdict]} {finding.verdict}"
    why = "<br>".join(map(note_html, finding.why.split("; ")))
    return (
        f'<div class="finding"><span class="verdict {kind}">{escape(verdict)}</span>'
        f"<span>{escape(finding.conditions)}</span><span>{why}</span></div>"
    )


def _head(table: Table) -> str:
    headings = "".join(f"<th>{escape(column.heading)}</th>" for column in table.columns)
    groups = list(table.groups())
    if not any(name for name, _ in groups):
        return f'<tr><th class="first">{escape(table.head)}</th>{headings}</tr>'
    spans = "".join(
        f'<th class="group" colspan="{width}"><span>{escape(name)}</span></th>'
        for name, width in groups
    )
    first = f'<th class="first" rowspan="2">{escape(table.head)}</th>'
    return f"<tr>{first}{spans}</tr><tr>{headings}</tr>"


def _section(table: Table, section: Section) -> str:
    rows = "".join(_row(table, row) for row in section.rows)
    if not section.title:
        return rows
    width = len(table.columns) + 1
    band = f'<th colspan="{width}"><span>{escape(section.title)}</span></th>'
    return f'<tr class="band">{band}</tr>{rows}'


def _row(table: Table, row: Row) -> str:
    label = escape(row.label).replace(", ", ",&nbsp;")  # k and l stay on one line
    detail = f"<small>{escape(row.detail)}</small>" if row.detail else ""
    entries = "".join(_entry(table, *pair) for pair in enumerate(row.entries))
    return f'<tr><th class="first" scope="row">{label}{detail}</th>{entries}</tr>\n'


def _entry(table: Table, place: int, entry: Entry) -> str:
    column = table.columns[place]
    kind = "entry best" if table.is_best(place, entry) else "entry"
    return f'<td class="{kind}">{"".join(_lines(column, entry))}</td>'


def _lines(column: Column, entry: Entry) -> Iterator[str]:
    """Write our number, the paper's, the difference and what else is to be said, a line each."""
    ours = entry.show_ours(column)
    yield _span("none", escape(ours)) if entry.mean is None else _span("ours", _number(ours))
    if column.is_published and not entry.is_empty:
        yield _span("paper", f"paper {_number(entry.show_paper(column), is_bold=False)}")
    if entry.difference is not None:
        kind = _kind(column, entry)
        change, _, ratio = entry.show_change(column).partition(", ")
        signed = _ARROWS[kind.rstrip("123")] + change.replace("-", "\N{MINUS SIGN}")
        yield _span(f"change {kind}", escape(signed))
        if ratio:
            yield _span("ratio", escape(ratio))
    for remark in entry.remarks:
        yield _span("remark", escape(remark))


def _span(kind: str, inner: str) -> str:
    return f'<span class="{kind}">{inner}</span>'


def _number(text: str, *, is_bold: bool = True) -> str:
    mean, sign, std = map(escape, text.partition(" ± "))
    shown = f"<b>{mean}</b>" if is_bold else mean
    return f"{shown} <i>{sign.strip()} {std}</i>" if sign else shown


def _kind(column: Column, entry: Entry) -> str:
    """Say which way a difference goes, and how far: from 1 to 3."""
    difference = entry.difference or 0.0
    is_zero = not float(column.show_change(difference))
    if column.better == "neither":
        return "even" if is_zero else "off"
    if column.better == "more":
        change, steps = difference / column.whole, _STEPS
    else:
        change, steps = math.log10(entry.ratio or 1.0), _TIME_STEPS
    level = sum(abs(change) >= step for step in steps)
    if level == 0:
        return "even"
    return f"{'up' if change > 0 else 'down'}{level}"
