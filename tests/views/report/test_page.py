"""The page as a file: what is put into it is text, it loads nothing, and it runs its own script."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from jinja2 import UndefinedError

import komb
from komb.views.report.page import render

PAGE = komb.report(komb.boolean_table("parity", 500, n_parents=2), "Y", methods=["gs"]).html


@pytest.mark.parametrize("text", ["<b>&\"'", "{{ 7 * 7 }}", "{% raw %}", "{# no comment #}"])
def test_names_are_text(text: str) -> None:
    data = {text: [0, 1] * 50, "y": [0, 1] * 50}
    page = komb.report(data, text, methods=[]).html
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    escaped = escaped.replace('"', "&#34;").replace("'", "&#39;")
    assert f"<h1>What matters for {escaped}?</h1>" in page


def test_what_is_missing_is_an_error() -> None:
    with pytest.raises(UndefinedError, match="title"):
        render("page.html.j2", blanket=None)


def test_the_policy_comes_first_and_names_the_only_script() -> None:
    head, _, rest = PAGE.partition("</head>")
    assert head.index("Content-Security-Policy") < head.index("<style>")
    [script] = re.findall(r"<script>(.*?)</script>", PAGE, re.DOTALL)
    assert script in rest
    named = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert "default-src 'none'; " in head
    assert f"script-src 'sha256-{named}';" in head


def test_the_answer_comes_first_and_all_else_is_folded() -> None:
    answer, _, folded = PAGE.partition("<details>")
    assert answer.index('class="answer"') < answer.index("<img ") < answer.index("<table>")
    assert "depends on Y together with X2" in answer
    assert "chi-square" not in answer
    assert re.findall(r"<summary>(.*?)</summary>", folded) == [
        "Why these columns, and why not others?",
        "How much does each member tell?",
        "What do other methods find?",
        "What is in the data?",
        "How was this found?",
        "How to cite",
    ]
    assert " open" not in re.findall("<details[^>]*>", PAGE)


def test_it_looks_right_in_the_dark_and_on_paper() -> None:
    style = PAGE.partition("<style>")[2].partition("</style>")[0]
    assert "@media (prefers-color-scheme: dark)" in style
    assert "@media print" in style
    assert "details::details-content" in style


CHROMIUM = shutil.which("chromium")


@pytest.mark.skipif(CHROMIUM is None, reason="looks at the page in chromium")
def test_a_browser_runs_the_script(tmp_path: Path) -> None:
    """The policy lets the page's own script through: headings can be reached by the keyboard."""
    (tmp_path / "page.html").write_text(PAGE, "utf-8")
    command = [
        str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
        "--no-first-run", "--disable-background-networking", "--disable-component-update",
        "--disable-sync", f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom",
        (tmp_path / "page.html").as_uri(),
    ]  # fmt: skip
    seen = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    headings = re.findall(r"<th [^>]*>", seen)
    assert headings
    assert all('tabindex="0"' in heading for heading in headings)
