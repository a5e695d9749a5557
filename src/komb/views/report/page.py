"""The page about a column: what goes into its template."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from komb import __version__
from komb.data.table import DiscreteTable
from komb.search.task import Choice
from komb.views.explanation_text import check_notes
from komb.views.html.renderer import render
from komb.views.html.versions import show_versions
from komb.views.report.code_to_repeat import show_code, show_command
from komb.views.report.overview import describe_table
from komb.views.report.pictures import take_picture
from komb.views.text import plural, show_name, show_names

if TYPE_CHECKING:
    from komb.results.blanket import Blanket
    from komb.results.comparison import Comparison
    from komb.results.explanation import Explanation

_NAMES_WIDTH = 400  # characters of a list of names

_SECTIONS = {
    "blanket": "The Markov blanket",
    "why": "Why these, and why not others?",
    "data": "The data",
    "methods": "What do other methods find?",
    "made": "How this was made",
    "repeat": "How to repeat it",
    "cite": "How to cite",
}
_PARAMETERS = {
    "order": "order (k): other columns that a dependence may need",
    "max_separator": "largest separator (l)",
    "max_conditioning": "largest conditioning set",
    "level": "family-wise error where nothing depends (level)",
    "alpha": "significance level of each test (alpha)",
    "time_budget": "time budget in seconds",
    "test": "conditional-independence test",
    "df": "degrees of freedom",
    "stability": "half-samples for stability",
    "seed": "seed",
    "start": "started from",
    "include": "included by request",
    "exclude": "excluded by request",
    "discretize": "numeric columns cut by",
    "bins": "number of bins",
    "missing": "missing values",
}
_CHOICES = _PARAMETERS | {"threshold": "largest p-value of a member that is marginally dependent"}


@dataclass(frozen=True, slots=True)
class Content:
    """What a page is made of."""

    table: DiscreteTable  # the data that were searched
    blanket: Blanket
    explanation: Explanation
    comparison: Comparison | None  # what other methods found, if they were asked
    # what the search was asked with, where that is not the default
    options: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""  # name of the file with the data; empty if they were in memory
    reading: Mapping[str, Any] = field(default_factory=dict)  # how that file was read
    path: str = "report.html"  # where the page goes
    # those that were to be compared; ``None`` is all of them
    methods: Sequence[object] | None = None


def make_page(content: Content) -> str:
    """Write the page."""
    blanket, compared = content.blanket, content.comparison
    target = show_name(blanket.target)
    absent = "methods" if compared is None else ""
    repeated = content.source, blanket.target
    details = content.options, content.reading
    effects = blanket._supplement.effects_at_hand if blanket.members else None
    return render(
        "report.html.j2",
        title=f"What matters for {target}?",
        subtitle=_subtitle(content),
        sections={name: title for name, title in _SECTIONS.items() if name != absent},
        blanket=blanket,
        sheet=blanket._sheet(),
        blanket_picture=blanket.members and take_picture(blanket.plot, f"The blanket of {target}"),
        effects=effects and effects._sheet(),
        effects_picture=effects
        and take_picture(effects.plot, f"What the members tell about {target}"),
        explanation=content.explanation,
        check_notes=list(check_notes(content.explanation)),
        overview=describe_table(content.table, blanket),
        comparison=compared and compared._sheet(),
        comparison_picture=compared
        and compared.members
        and take_picture(compared.plot, "Who found which member"),
        made_with=list(_made_with(blanket)),
        command=content.source and show_command(*repeated, content.path, *details, content.methods),
        code=show_code(*repeated, *details),
    )


def _subtitle(content: Content) -> str:
    table = content.table
    facts = (
        *([content.source] if content.source else []),
        plural(table.n_rows, "row"),
        plural(table.n_columns, "column"),
        f"method {content.blanket.method}",
        f"komb {__version__}",
        f"{datetime.now(UTC):%Y-%m-%d}",
    )
    return " · ".join(facts)


def _made_with(blanket: Blanket) -> Iterator[tuple[str, str]]:
    yield "method", blanket.method
    for name, words in _PARAMETERS.items():
        value = blanket.parameters.get(name)
        if value not in (None, (), {}):
            yield words, _show(value)
    for name, choice in blanket.choices.items():
        yield f"chosen: {(_PARAMETERS | _CHOICES).get(name, name)}", _show_choice(choice)
    versions = {"komb": __version__, **show_versions()}
    yield "versions", ", ".join(f"{name} {number}" for name, number in versions.items())


def _show(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{show_name(name)}: {_show(entry)}" for name, entry in value.items())
    return show_names(value, _NAMES_WIDTH) if isinstance(value, tuple | list) else str(value)


def _show_choice(choice: Choice) -> str:
    return choice.reason if choice.value is None else f"{choice.value}: {choice.reason}"
