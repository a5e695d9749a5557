"""The pictures of the gallery, made by the code that its pages show."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager, redirect_stdout
from doctest import DocTestParser
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGES = sorted((Path(__file__).parent / "gallery").glob("*.md"))


def draw_all(folder: Path) -> None:
    """Run the code of each page, and save its picture as ``gallery-PAGE.svg``.

    A page calls what it draws on ``axes``. One that is younger than its page is left as it is.
    """
    for page in PAGES:
        picture = folder / f"gallery-{page.stem}.svg"
        if not picture.exists() or picture.stat().st_mtime < page.stat().st_mtime:
            figure = run(page.read_text("utf-8"))["axes"].get_figure()
            figure.savefig(picture, bbox_inches="tight", metadata={"Date": None})


def run(text: str) -> dict[str, Any]:
    """Run the examples of a page, from the root of the repository; returns what it has named."""
    code = "".join(re.findall(r"^```python\n(.*?)^```", text, re.M | re.S))
    names: dict[str, Any] = {}
    with _at_the_root(), redirect_stdout(StringIO()):
        for example in DocTestParser().get_examples(code):
            exec(compile(example.source, "gallery", "single"), names)
    return names


@contextmanager
def _at_the_root() -> Iterator[None]:
    before = Path.cwd()
    os.chdir(Path(__file__).parents[1])
    try:
        yield
    finally:
        os.chdir(before)
