"""A whole page: title, contents and sections. It needs no network and no other file."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from komb.views.html.citation import BIBTEX, CITATION
from komb.views.html.style import CSS


class Part(NamedTuple):
    """A section of a page.

    Attributes
    ----------
    name
        For links to it; unlike all others on the page.
    title
        Text.
    html
        What is in it.
    """

    name: str
    title: str
    html: str


POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
form-action 'none'"
"""What a page may load: nothing, and run no scripts. Its style and pictures are inside of it."""


def frame(title: str, lead: str, parts: Sequence[Part], css: str = "") -> str:
    """Write a page.

    Parameters
    ----------
    title
        Text.
    lead
        HTML that stands below the title.
    parts
        The sections; contents lead to them.
    css
        What to add to the style that all pages have.

    Returns
    -------
    str
        From the doctype to the end.

    Examples
    --------
    >>> page = frame("A & B", "", [Part("one", "First", "<p>Hello</p>")])
    >>> "<h1>A &amp; B</h1>" in page, '<a href="#one">First</a>' in page
    (True, True)
    """
    links = "".join(f'<li><a href="#{part.name}">{escape(part.title)}</a></li>' for part in parts)
    body = "".join(
        f'<section id="{part.name}"><h2>{escape(part.title)}</h2>\n{part.html}</section>\n'
        for part in parts
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{CSS}{css}</style>\n</head>\n<body>\n"
        f"<header><h1>{escape(title)}</h1>{lead}</header>\n"
        f'<nav aria-label="Contents"><ul>{links}</ul></nav>\n<main>\n{body}</main>\n'
        "<footer>Made by komb, which is under the MIT licence.</footer>\n</body>\n</html>\n"
    )


def citation() -> Part:
    """Return the section that says how to cite.

    Examples
    --------
    >>> citation().title
    'How to cite'
    """
    return Part("cite", "How to cite", f"<p>{escape(CITATION)}</p><pre>{escape(BIBTEX)}</pre>")
