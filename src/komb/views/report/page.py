"""The sections of the page about a column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import escape
from typing import Any

from komb import __version__
from komb.data.table import DiscreteTable
from komb.results.blanket import Blanket
from komb.results.comparison import Comparison
from komb.results.explanation import Explanation, Reason
from komb.search.task import Choice
from komb.views.explanation_text import check_notes
from komb.views.html.frame import Part, citation, frame
from komb.views.html.markup import facts_html, grid_html, notes_html
from komb.views.html.versions import show_versions
from komb.views.report.overview import overview_html
from komb.views.report.pictures import picture_html
from komb.views.report.reproduce_code import show_code, show_command
from komb.views.report.style import CSS
from komb.views.text import plural, show_name, show_names

_MOST_REASONS = 12  # columns left out that are explained at once; the others on request
_NAMES_WIDTH = 400  # characters of a list of names

_PARAMETERS = {
    "order": "order (k): other columns that a dependence may need",
    "max_separator": "largest separator (l)",
    "max_conditioning": "largest conditioning set",
    "level": "chance of a member where nothing depends (level)",
    "alpha": "level of the tests (alpha)",
    "time_budget": "time budget in seconds",
    "test": "conditional-independence test",
    "df": "degrees of freedom",
    "stability": "half-samples for stability",
    "seed": "seed",
    "start": "started from",
    "include": "included on request",
    "exclude": "left out on request",
    "discretize": "columns of numbers were cut by",
    "bins": "into so many bins",
    "missing": "missing values",
}
_CHOICES = {"threshold": "largest p-value of a member that is seen alone"}


@dataclass(frozen=True, slots=True)
class Content:
    """What a page is made of.

    Attributes
    ----------
    table
        The data that were searched.
    blanket, explanation
        What was found, and why.
    comparison
        What other methods found, if they were asked.
    options
        What the search was asked with.
    source
        Name of the file with the data; empty if they were in memory.
    reading
        How that file was read.
    path
        Where the page goes.
    methods
        Those that were to be compared; ``None`` is all of them.
    """

    table: DiscreteTable
    blanket: Blanket
    explanation: Explanation
    comparison: Comparison | None
    options: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    reading: Mapping[str, Any] = field(default_factory=dict)
    path: str = "report.html"
    methods: Sequence[object] | None = None


def make_page(content: Content) -> str:
    """Write the page."""
    title = f"What matters for {show_name(content.blanket.target)}?"
    return frame(title, _lead(content), list(_parts(content)), CSS)


def _parts(content: Content) -> Iterator[Part]:
    yield Part("blanket", "The Markov blanket", _blanket(content.blanket))
    yield Part("why", "Why these, and why not others?", _why(content.explanation))
    yield Part("data", "The data", overview_html(content.table, content.blanket))
    if content.comparison is not None:
        yield Part(
            "methods", "What do other methods find?", _methods(content.comparison, content.blanket)
        )
    yield Part("made", "How this was made", _made(content))
    yield Part("repeat", "How to repeat it", _repeat(content))
    yield citation()


def _lead(content: Content) -> str:
    table, blanket = content.table, content.blanket
    facts = (
        f"{content.source} · " if content.source else "",
        f"{plural(table.n_rows, 'row')} · {plural(table.n_columns, 'column')}",
        f" · method {blanket.method} · komb {__version__} · {datetime.now(UTC):%Y-%m-%d}",
    )
    warnings = "".join(
        f'<p class="warning">{escape(warning)}</p>\n' for warning in blanket._sheet().warnings
    )
    return f'{warnings}{_answer(blanket)}<p class="soft">{escape("".join(facts))}</p>'


def _answer(blanket: Blanket) -> str:
    """Say in a sentence what was found."""
    target = f"<b>{escape(show_name(blanket.target))}</b>"
    if not blanket.members:
        return f'<p class="answer">No column was found that matters for {target}.</p>'
    names = escape(show_names(blanket.members, _NAMES_WIDTH))
    count = plural(blanket.n_columns - 1, "other column")
    return (
        f'<p class="answer">{len(blanket)} of {escape(count)}: <b>{names}</b>. By the tests made '
        f"here, whoever knows {'it' if len(blanket) == 1 else 'them'} learns nothing more about "
        f"{target} from the rest.</p>"
    )


def _blanket(blanket: Blanket) -> str:
    sheet = blanket._sheet()
    tables = "".join(
        grid_html("The members and their evidence", grid).replace(
            'class="scroll"', 'class="scroll members"', 1
        )
        for grid in sheet.grids
        if grid.rows
    )
    picture = ""
    if blanket.members:
        picture = picture_html(blanket.plot, f"The blanket of {show_name(blanket.target)}")
    legend = (
        "<p>A <em>Markov blanket</em> is the smallest set of columns that makes all others "
        "irrelevant for the target: the features to keep for predicting it, and in a causal graph "
        "its parents, its children and their other parents. Some members show only while others "
        "are held fixed; those stand under <em>seen together with</em>.</p>\n"
    )
    return f"{legend}{tables}{picture}{notes_html(sheet.notes)}"


def _why(explanation: Explanation) -> str:
    shown, more = explanation.rejected[:_MOST_REASONS], explanation.rejected[_MOST_REASONS:]
    html = ""
    if explanation.members:
        html += f"<h3>Members</h3>\n{_reasons(explanation.members)}"
    if shown:
        html += f"<h3>Left out, though they came close</h3>\n{_reasons(shown)}"
    if more:
        summary = f"{plural(len(more), 'more column')} left out"
        html += f"<details><summary>{escape(summary)}</summary>{_reasons(more)}</details>\n"
    if explanation.unrelated:
        target = show_name(explanation.target)
        summary = f"{plural(len(explanation.unrelated), 'column')} never depended on {target}"
        names = show_names(explanation.unrelated)
        html += f"<details><summary>{escape(summary)}</summary><p>{escape(names)}</p></details>\n"
    return html + notes_html(check_notes(explanation))


def _reasons(reasons: tuple[Reason, ...]) -> str:
    pairs = ((show_name(reason.name), reason.text) for reason in reasons)
    return facts_html(pairs).replace("<dl>", '<dl class="reasons">', 1)


def _methods(comparison: Comparison, blanket: Blanket) -> str:
    sheet = comparison._sheet()
    *matrices, numbers = sheet.grids
    said = set(blanket._sheet().notes)
    picture = ""
    if comparison.members:
        picture = picture_html(comparison.plot, "Who found which member")
    matrix = "".join(grid_html("Who found which member", grid) for grid in matrices if grid.rows)
    if matrix:
        matrix = f"<details><summary>The same as a table</summary>{matrix}</details>\n"
    return (
        "<p>Classic methods assume that a member shows on its own, or given what else was found. "
        "The same data and the same test, method by method:</p>\n"
        f"{picture}{matrix}{grid_html('What each method took', numbers)}"
        f"{notes_html(note for note in sheet.notes if note not in said)}"
    )


def _made(content: Content) -> str:
    given = content.blanket.parameters
    facts = [("method", content.blanket.method)]
    facts += [
        (words, _show(given[name]))
        for name, words in _PARAMETERS.items()
        if given.get(name) not in (None, (), {})
    ]
    facts += [
        (f"chosen: {(_PARAMETERS | _CHOICES).get(name, name)}", _show_choice(choice))
        for name, choice in content.blanket.choices.items()
    ]
    versions = {"komb": __version__, **show_versions()}
    facts += [("versions", ", ".join(f"{name} {number}" for name, number in versions.items()))]
    return facts_html(facts)


def _show(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{show_name(name)}: {_show(entry)}" for name, entry in value.items())
    return show_names(value, _NAMES_WIDTH) if isinstance(value, tuple | list) else str(value)


def _show_choice(choice: Choice) -> str:
    return choice.reason if choice.value is None else f"{choice.value}: {choice.reason}"


def _repeat(content: Content) -> str:
    target, options = content.blanket.target, content.options
    html = ""
    if content.source:
        command = show_command(
            content.source, target, content.path, options, content.reading, content.methods
        )
        html += f"<p>This command makes the page again:</p><pre>{escape(command)}</pre>\n"
    code = show_code(content.source, target, options, content.reading)
    return f"{html}<p>This code finds the blanket again:</p><pre>{escape(code)}</pre>\n"
