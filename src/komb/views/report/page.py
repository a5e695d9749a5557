"""The page about a column: what goes into its template."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, cached_property
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from komb import __version__
from komb.data.table import DiscreteTable
from komb.views.blanket_text import say_work
from komb.views.explanation_text import check_notes
from komb.views.report.overview import describe_table
from komb.views.report.page_file import show_versions, take_picture
from komb.views.text import plural, show_name, show_names

if TYPE_CHECKING:
    from jinja2 import Environment

    from komb.results.blanket import Blanket
    from komb.results.comparison import Comparison
    from komb.results.explanation import Explanation

_NAMES_WIDTH = 400  # characters of a list of names

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
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {}; "
    "base-uri 'none'; form-action 'none'"
)
"""What a page may load: nothing, and run no script but its own, which is named by its hash."""


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
    """Write the page: the answer and a picture first, all else folded."""
    blanket, compared, table = content.blanket, content.comparison, content.table
    target, explanation = show_name(blanket.target), content.explanation
    has_rows = table is not None and table.is_in_memory
    effects = blanket.effects if blanket.members and has_rows else None
    return render(
        "page.html.j2",
        title=f"What matters for {target}?",
        subtitle=_subtitle(content),
        blanket=blanket,
        answer=blanket._sheet(),
        details=blanket.details(),
        work=say_work(blanket),
        blanket_picture=blanket.members and take_picture(blanket.plot, f"The blanket of {target}"),
        effects=effects and effects._sheet(),
        effects_picture=effects
        and take_picture(effects.plot, f"What the members tell about {target}"),
        explanation=explanation,
        check_notes=[] if explanation is None else list(check_notes(explanation)),
        overview=None if table is None else describe_table(table, blanket),
        comparison=compared and compared._sheet(),
        comparison_picture=compared
        and compared.members
        and take_picture(compared.plot, "Who found which member"),
        made_with=list(_made_with(blanket)),
    )


def render(template: str, **content: object) -> str:
    """Fill a template; what is put into it is text, and nothing may be missing."""
    return _environment().get_template(template).render(content)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("komb.views.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    folder = files("komb.views.report") / "templates"
    style, script = ((folder / name).read_text("utf-8") for name in ("style.css", "page.js"))
    policy = _POLICY.format(f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'")
    environment.globals |= {"style": style, "script": script, "policy": policy}
    environment.filters |= {"plural": plural, "show_name": show_name, "show_names": show_names}
    return environment


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
    versions = {"komb": __version__, **show_versions()}
    yield "versions", ", ".join(f"{name} {number}" for name, number in versions.items())


def _show(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{show_name(name)}: {_show(entry)}" for name, entry in value.items())
    return show_names(value, _NAMES_WIDTH) if isinstance(value, tuple | list) else str(value)
