"""The report as one page that needs nothing else: no network, no other file.

It says first whether the claims of the paper hold, then shows every table and the figure, and ends
with what it was made by and how to cite it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from komb.reproduction import paper
from komb.reproduction.claims import Claim
from komb.reproduction.differences import measure_differences
from komb.reproduction.manifest import show_command, show_in_short, show_provenance
from komb.reproduction.tables import Column, Entry, Table
from komb.results.export import dump_json
from komb.views.html.renderer import render

_SUMMED_UP = ("introduction", "synthetic", "full-results", "full-runtimes")  # what others repeat
_FIGURE_AFTER = "synthetic"
_COUNTED = {
    "holds": "hold",
    "holds so far": "hold so far",
    "does not hold": "do not hold",
    "not tested": "not tested",
}
_SCORE_STEPS = (0.005, 0.03, 0.08)  # differences of scores from which on they have more colour
_TIME_STEPS = (0.02, 0.5, 1.5)  # the same for times, in powers of ten
_COMMANDS = (" adds it: ", " runs it: ")  # what stands before a command, at the end of a note


def make_page(
    claims: Sequence[Claim],
    tables: Sequence[Table],
    *,
    figures: Mapping[str, str] | None = None,
    figure_note: str = "",
    manifest: Mapping[str, Any] | None = None,
    suites: Sequence[str] = (),
    out: str = "",
) -> str:
    """Write a report as HTML; the only links in it lead to the files of the tables, beside it.

    Parameters
    ----------
    claims, tables
        In the order in which they are shown.
    figures, figure_note
        SVG elements by their titles; and what to say if there are none.
    manifest
        What the run was made with; whatever is missing in it is left out.
    suites, out
        What was run, and the folder of the results.

    Examples
    --------
    >>> page = make_page([], [Table("synthetic", "Synthetic data", "", "method")])
    >>> page.startswith("<!DOCTYPE html>"), "Synthetic data" in page
    (True, True)
    """
    manifest = manifest or {}
    differences = measure_differences(table for table in tables if table.name in _SUMMED_UP)
    sections = {"claims": "Do the paper's claims hold here?"}
    if differences:
        sections["nearness"] = "How close are the numbers?"
    for table in tables:
        sections[f"table-{table.name}"] = table.title
        if table.name == _FIGURE_AFTER:
            sections["figure"] = "Figure: growing samples"
    sections |= {"made": "How this was made", "cite": "How to cite"}
    parts = [*show_in_short(manifest), f"suites: {', '.join(suites)}" if suites else ""]
    return render(
        "reproduction.html.j2",
        title="kOMB: the paper's experiments, run again",
        subtitle=" · ".join(filter(None, parts)),
        sections=sections,
        claims=claims,
        tables=tables,
        figures=figures or {},
        figure_note=figure_note,
        paper=paper,
        verdicts=_count_verdicts(claims),
        differences=differences,
        figure_after=_FIGURE_AFTER,
        command=show_command(manifest, suites, out),
        provenance=list(show_provenance(manifest)),
        everything=dump_json(dict(manifest), 2),
        split_command=split_command,
        direction=direction,
    )


def _count_verdicts(claims: Sequence[Claim]) -> dict[str, int]:
    """Count what came out of the paper's claims."""
    found = [
        finding.verdict for claim in claims if claim.is_of_the_paper for finding in claim.findings
    ]
    return {word: found.count(verdict) for verdict, word in _COUNTED.items() if verdict in found}


def split_command(note: str) -> tuple[str, str]:
    """Split a note into its text and the command at its end, if there is one.

    Examples
    --------
    >>> split_command("Nothing was run. This adds it: komb reproduce all")
    ('Nothing was run. This adds it: ', 'komb reproduce all')
    """
    for mark in _COMMANDS:
        text, found, command = note.partition(mark)
        if found:
            return text + found, command
    return note, ""


def direction(column: Column, entry: Entry) -> str:
    """Say which way a difference goes, and how far: from 1 to 3.

    Examples
    --------
    >>> from komb.reproduction.paper import Published
    >>> direction(Column("F1", "or", 3), Entry(0.75, published=Published(0.5)))
    'up3'
    """
    difference = entry.difference or 0.0
    if column.better == "neither":
        return "off" if float(column.show_change(difference)) else "even"
    if column.better == "more":
        change, steps = difference / column.whole, _SCORE_STEPS
    else:
        change, steps = math.log10(entry.ratio or 1.0), _TIME_STEPS
    level = sum(abs(change) >= step for step in steps)
    return f"{'up' if change > 0 else 'down'}{level}" if level else "even"
