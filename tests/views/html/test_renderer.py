"""Templates: what is put into them is text, and nothing may be missing."""

from __future__ import annotations

from typing import Any

import pytest
from jinja2 import UndefinedError

from komb.views.html.renderer import POLICY, render

CONTENT: dict[str, Any] = {"title": "Title", "sections": {"one": "First"}}


def test_text_is_escaped() -> None:
    page = render("base.html.j2", title="<b>&\"'", sections={"one": "</a><script>"})
    assert "<h1>&lt;b&gt;&amp;&#34;&#39;</h1>" in page
    assert "<script" not in page


@pytest.mark.parametrize("text", ["{{ 7 * 7 }}", "{% raw %}", "{# no comment #}"])
def test_text_is_no_template(text: str) -> None:
    assert f"<h1>{text}</h1>" in render("base.html.j2", **CONTENT | {"title": text})


@pytest.mark.parametrize("name", list(CONTENT))
def test_what_is_missing_is_an_error(name: str) -> None:
    with pytest.raises(UndefinedError, match=name):
        render("base.html.j2", **{key: CONTENT[key] for key in CONTENT if key != name})


def test_the_policy_comes_before_all_that_could_load_something() -> None:
    head = render("base.html.j2", **CONTENT).split("</head>")[0]
    assert head.index(f'content="{POLICY}"') < head.index("<style>")
