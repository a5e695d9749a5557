"""The page about a column: what goes into its template."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from komb import __version__
from komb.data.table import DiscreteTable
from komb.search.task import Choice
from komb.views.explanation_text import check_notes
from komb.views.html.renderer import render
from komb.views.html.versions import show_versions
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
    "cite": "How to cite",
}
_PARAMETERS = {
    "alpha": "significance level of each test (alpha)",
    "test": "conditional-independence test",
    "start": "started from",
    "include": "included by request",
    "exclude": "excluded by request",
    "given": "held fixed in every test",
    "discretize": "numeric columns cut by",
    "bins": "number of bins",
    "missing": "missing values",
}
_CHOICES = _PARAMETERS | {"threshold": "largest p-value of a member that is marginally dependent"}
_OF_TABLES = ("why", "data")  # sections that a model has nothing to say in


@dataclass(frozen=True)
class Content:
    """What a page is made of."""

    blanket: Blanket
    comparison: Comparison | None  # what other methods found, if they were asked
    source: str = ""  # where the data come from; empty if they were in memory

    @cached_property
    def table(self) -> DiscreteTable | None:
        """The data that were searched; none if a model answered."""
        return self.blanket.run_for("a report").table if self.blanket.n_rows else None

    @cached_property
    def explanation(self) -> Explanation | None:
        """Why these members were found, and not others."""
        return None if self.table is None else self.blanket.explain()


def make_page(content: Content) -> str:
    """Write the page."""
    blanket, compared, table = content.blanket, content.comparison, content.table
    target = show_name(blanket.target)
    absent = {*(() if compared else ("methods",)), *(() if table else _OF_TABLES)}
    has_rows = table is not None and table.is_in_memory
    effects = blanket.effects if blanket.members and has_rows else None
    return render(
        "report.html.j2",
        title=f"What matters for {target}?",
        subtitle=_subtitle(content),
        sections={name: title for name, title in _SECTIONS.items() if name not in absent},
        blanket=blanket,
        sheet=blanket._sheet(),
        blanket_picture=blanket.members and take_picture(blanket.plot, f"The blanket of {target}"),
        effects=effects and effects._sheet(),
        effects_picture=effects
        and take_picture(effects.plot, f"What the members tell about {target}"),
        explanation=content.explanation,
        check_notes=[] if content.explanation is None else list(check_notes(content.explanation)),
        overview=None if table is None else describe_table(table, blanket),
        comparison=compared and compared._sheet(),
        comparison_picture=compared
        and compared.members
        and take_picture(compared.plot, "Who found which member"),
        made_with=list(_made_with(blanket)),
    )


def _subtitle(content: Content) -> str:
    blanket = content.blanket
    facts = (
        *([content.source] if content.source else []),
        *([plural(blanket.n_rows, "row")] if blanket.n_rows else []),
        plural(blanket.n_columns, "column"),
        f"method {blanket.method}",
        f"komb {__version__}",
        f"{datetime.now(UTC):%Y-%m-%d}",
    )
    return " · ".join(facts)


def _made_with(blanket: Blanket) -> Iterator[tuple[str, str]]:
    yield "method", blanket.method
    for name, value in blanket.parameters.items():
        if value not in (None, (), {}):
            yield _PARAMETERS.get(name, name.replace("_", " ")), _show(value)
    for name, choice in blanket.choices.items():
        yield f"chosen: {_CHOICES.get(name, name.replace('_', ' '))}", _show_choice(choice)
    versions = {"komb": __version__, **show_versions()}
    yield "versions", ", ".join(f"{name} {number}" for name, number in versions.items())


def _show(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{show_name(name)}: {_show(entry)}" for name, entry in value.items())
    return show_names(value, _NAMES_WIDTH) if isinstance(value, tuple | list) else str(value)


def _show_choice(choice: Choice) -> str:
    return choice.reason if choice.value is None else f"{choice.value}: {choice.reason}"
