"""Pages of HTML from the templates in this folder. A page needs no network and no other file."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from komb.views.text import plural, show_name, show_names

if TYPE_CHECKING:
    from jinja2 import Environment

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
form-action 'none'"
"""What a page may load: nothing, and run no scripts. Its style and pictures are inside of it."""


def render(template: str, **content: object) -> str:
    """Write a page."""
    return _environment().get_template(template).render(content)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("komb.views.html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["policy"] = POLICY
    environment.filters |= {"plural": plural, "show_name": show_name, "show_names": show_names}
    return environment
