"""The report as one page that needs nothing else: no network, no other file.

It says first whether the claims of the paper hold, then shows every table and the figure, and ends
with what it was made by and how to cite it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from komb.reproduction import paper
from komb.reproduction.claims import Claim, Verdict
from komb.reproduction.layout import Table
from komb.reproduction.markup import claim_html, note_html, table_html
from komb.reproduction.nearness import measure
from komb.reproduction.provenance import show_command, show_in_short, show_provenance
from komb.reproduction.style import CSS
from komb.results.export import dump_json
from komb.views.html.frame import Part, citation, frame
from komb.views.html.markup import facts_html, plain_table_html, scroll_box
from komb.views.text import plural

_TITLE = "kOMB: the paper's experiments, run again"
_SUMMED_UP = (
    "introduction",
    "synthetic",
    "full-results",
    "full-runtimes",
)  # which hold what is in the others
_FIGURE_AFTER = "synthetic"
_COUNTED: dict[Verdict, str] = {
    "holds": "hold",
    "holds so far": "hold so far",
    "does not hold": "do not hold",
    "not tested": "not tested",
}
_FORMATS = {"md": "Markdown", "csv": "CSV", "tex": "LaTeX"}


@dataclass(frozen=True, slots=True)
class Content:
    """What a page is made of.

    Attributes
    ----------
    claims, tables
        In the order in which they are shown.
    figures
        SVG elements, by what is on them.
    figure_note
        What stands there if there are none.
    manifest
        What the run was made with; whatever is missing in it is left out.
    suites
        What was run.
    out
        The folder of the results.
    """

    claims: Sequence[Claim]
    tables: Sequence[Table]
    figures: Mapping[str, str] = field(default_factory=dict)
    figure_note: str = ""
    manifest: Mapping[str, Any] = field(default_factory=dict)
    suites: Sequence[str] = ()
    out: str = ""


def make_page(content: Content) -> str:
    """Write a report as HTML.

    Parameters
    ----------
    content
        What to show.

    Returns
    -------
    str
        A whole page. The only links in it lead to the files of the tables, beside it.

    Examples
    --------
    >>> page = make_page(Content([], [Table("synthetic", "Synthetic data", "", "method")]))
    >>> page.startswith("<!DOCTYPE html>"), "Synthetic data" in page
    (True, True)
    """
    return frame(_TITLE, _lead(content), list(_parts(content)), CSS)


def _parts(content: Content) -> Iterator[Part]:
    yield Part("claims", "Do the paper's claims hold here?", _claims(content))
    nearness = _nearness(content)
    if nearness:
        yield Part("nearness", "How near are the numbers?", nearness)
    for table in content.tables:
        yield Part(f"table-{table.name}", table.title, _table(table))
        if table.name == _FIGURE_AFTER:
            yield Part("figure", "Figure: growing samples", _figure(content))
    yield Part("made", "How this was made", _made(content))
    yield citation()


def _lead(content: Content) -> str:
    suites = f"suites: {', '.join(content.suites)}" if content.suites else ""
    told = " · ".join(filter(None, [*show_in_short(content.manifest), suites]))
    return (
        "<p>Every table and the figure of the UAI 2026 paper on k-order Markov blankets, computed "
        f'anew, with the paper\'s number beside each of ours.</p><p class="soft">{escape(told)}</p>'
    )


def _claims(content: Content) -> str:
    found = [
        finding.verdict
        for claim in content.claims
        for finding in claim.findings
        if claim.is_of_the_paper
    ]
    counts = ", ".join(
        f"{found.count(verdict)} {word}" for verdict, word in _COUNTED.items() if verdict in found
    )
    return (
        f"<p>What the paper claims, checked {plural(len(found), 'time')}: {counts}.</p>\n"
        f'<ul class="claims">{"".join(map(claim_html, content.claims))}</ul>\n'
    )


def _nearness(content: Content) -> str:
    rows = measure(table for table in content.tables if table.name in _SUMMED_UP)
    if not rows:
        return ""
    headings = ("table", "numbers", "compared", "median difference", "farthest from the paper")
    cells = [(row.title, row.kind, str(row.compared), row.middle, row.farthest) for row in rows]
    text = (
        "Differences are ours minus the paper's; their median is taken without signs. Of times it "
        "is the ratio, and the farthest is the one where we are slowest."
    )
    return f"<p>{text}</p>{plain_table_html('How near', headings, cells)}{_legend()}"


def _legend() -> str:
    return (
        '<p class="soft legend">In the tables below: <b>ours</b> ± standard deviation, then the '
        'paper\'s, then the difference: <span class="change up2">▲ better than the paper</span> '
        '<span class="change down2">▼ worse</span> <span class="change even">= about the '
        "same</span>. ★ is the best of a column.</p>\n"
    )


def _table(table: Table) -> str:
    notes = "".join(f"<li>{note_html(note)}</li>" for note in table.notes)
    shown = table_html(table) + _files(table.name) if table.sections else ""
    listed = f'<ul class="notes">{notes}</ul>' if notes else ""
    return f"<p>{escape(table.caption)}</p>\n{shown}{listed}\n"


def _files(name: str) -> str:
    links = ", ".join(
        f'<a href="tables/{name}.{ending}">{kind}</a>' for ending, kind in _FORMATS.items()
    )
    return f'<p class="files">As a file: {links}</p>\n'


def _figure(content: Content) -> str:
    caption = (
        f"Precision, recall and F1 over the size of the sample, from {min(paper.SIZES)} to "
        f"{max(paper.SIZES)} rows. Test {paper.TEST}, df {paper.DF}."
    )
    pictures = "".join(
        f"<p><b>{escape(title)}</b></p>{scroll_box(title, svg, 'picture')}"
        for title, svg in content.figures.items()
    )
    note = f'<p class="notes">{note_html(content.figure_note)}</p>' if content.figure_note else ""
    return f"<p>{escape(caption)}</p>\n{pictures}{note}\n"


def _made(content: Content) -> str:
    facts = facts_html(show_provenance(content.manifest))
    command = show_command(content.manifest, content.suites, content.out)
    everything = dump_json(dict(content.manifest), 2)
    return (
        f"<p>This command makes all of it:</p><pre>{escape(command)}</pre>\n{facts}"
        f"<details><summary>Everything that was written down</summary>"
        f"<pre>{escape(everything)}</pre></details>\n"
    )
