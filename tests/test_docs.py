"""What the pages in docs show is what happens, and what they link to is there."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import komb
from komb import cli
from tests.documentation import ROOT, check_command, check_examples

DOCS = ROOT / "docs"


def in_docs(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


PAGES = {
    in_docs(file): file.read_text("utf-8")
    for file in sorted(DOCS.rglob("*.md"))
    if not {"_build", "_generated"}.intersection(file.relative_to(DOCS).parts)
}
AT_THE_ROOT = {file.name: file.read_text("utf-8") for file in sorted(ROOT.glob("*.md"))}


def load(name: str) -> ModuleType:
    """Import a module that lies beside the pages."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


from_code = load("from_code")
gallery = load("gallery")


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


# ----------------------------------------------------------------------------------------- examples

PYTHON = {
    page: "".join(re.findall(r"^```python\n(.*?)^```", text, re.M | re.S))
    for page, text in PAGES.items()
}
WITH_EXAMPLES = {page: code for page, code in PYTHON.items() if ">>> " in code}


def test_pages_with_examples_are_seen() -> None:
    assert {"docs/quick-start.md", "docs/idea.md", "docs/methods.md"} <= set(WITH_EXAMPLES)


@pytest.mark.parametrize("page", WITH_EXAMPLES)
def test_python_examples(page: str) -> None:
    check_examples(WITH_EXAMPLES[page], page)


COMMANDS = [
    (page, *entry)
    for page, text in PAGES.items()
    for block in re.findall(r"^```console\n(.*?)^```", text, re.M | re.S)
    for entry in re.findall(r"^\$ komb (.*)\n((?:(?!\$ ).*\n)*)", block, re.M)
]


@pytest.mark.parametrize(
    ("command", "expected"),
    [entry[1:] for entry in COMMANDS],
    ids=[f"{page}: {line}" for page, line, _ in COMMANDS],
)
def test_commands(command: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    check_command(command, expected, capsys)


# -------------------------------------------------------------------------------------------- links


def without_code(text: str) -> str:
    """Leave out blocks and spans of code, where brackets are no links."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "`", text)


def anchors_of(text: str) -> set[str]:
    """The anchors of a page: its headings, as MyST and others name them, and its labels."""
    outside = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    headings = re.findall(r"^#+ (.+)$", outside, re.M)
    named = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return named | set(re.findall(r"^\((.+)\)=$", outside, re.M))


def broken_links(file: Path, text: str) -> list[str]:
    """Links to files or sections that are not there; what is elsewhere is not looked at."""
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", without_code(text)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (file.parent / path).resolve() if path else file
        if not target.exists():
            broken.append(link)
        elif anchor and target.suffix == ".md":
            known = anchors_of(with_parts(target.read_text("utf-8")))
            broken += [] if anchor in known else [link]
    return broken


def with_parts(text: str) -> str:
    """A page with the parts that are written from the code."""
    return re.sub(
        r"^```\{include\} _generated/(.+)\n```",
        lambda match: str(from_code.parts()[match[1]]()),
        text,
        flags=re.M,
    )


@pytest.mark.parametrize("page", [*PAGES, *AT_THE_ROOT])
def test_links(page: str) -> None:
    text = PAGES[page] if page in PAGES else AT_THE_ROOT[page]
    assert broken_links(ROOT / page, text) == []


def test_broken_links_are_found() -> None:
    text = "[a](no-page.md) [b](idea.md) [c](idea.md#no-section) `[d](code.md)` [e](https://x.y/z)"
    assert broken_links(DOCS / "index.md", text) == ["no-page.md", "idea.md#no-section"]


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_includes_is_there(page: str) -> None:
    drawn = re.findall(r'^    "(\w+)": draw_\w+,$', (DOCS / "pictures.py").read_text(), re.M)
    made = set(from_code.parts()) | {f"{n}-{t}.svg" for n in drawn for t in ("light", "dark")}
    made |= {f"gallery-{file.stem}.svg" for file in gallery.PAGES}
    for path in re.findall(r"```\{(?:include|image|literalinclude)\} (\S+)", PAGES[page]):
        folder, _, name = path.rpartition("/")
        is_there = (ROOT / page).parent.joinpath(path).exists()
        assert name in made if folder.endswith("_generated") else is_there


@pytest.mark.parametrize("page", gallery.PAGES, ids=lambda page: str(page.stem))
def test_a_page_of_the_gallery_has_one_picture_and_a_thumbnail(page: Path) -> None:
    text = PAGES[in_docs(page)]
    assert len(re.findall(r"^>>> axes = ", text, re.M)) == 1
    assert f"```{{image}} ../_generated/gallery-{page.stem}.svg" in text
    index = PAGES["docs/index.md"]
    assert f"_generated/gallery-{page.stem}.svg" in index
    assert f"](gallery/{page.name})" in index


def test_the_picture_of_a_page_is_of_its_code() -> None:
    assert gallery.run("```python\n>>> axes = 'drawn'\n```")["axes"] == "drawn"
    with pytest.raises(NameError):
        gallery.run("```python\n>>> axes\n```")


@pytest.mark.parametrize("page", PAGES)
def test_every_page_is_in_a_table_of_contents(page: str) -> None:
    listed = {"docs/index.md"}
    for owner, text in PAGES.items():
        for block in re.findall(r"^```\{toctree\}\n(.*?)^```", text, re.M | re.S):
            entries = [line for line in block.split() if not line.startswith(":")]
            listed |= {in_docs((ROOT / owner).parent / f"{entry}.md") for entry in entries}
    assert page in listed


@pytest.mark.parametrize("page", PAGES)
def test_nothing_is_left_to_be_filled_in(page: str) -> None:
    assert re.findall(r"@@|\?\?\?|\b(?:TODO|FIXME|MEASURED)\b", PAGES[page]) == []


# ------------------------------------------------------------------------------- pages and the code


def test_every_method_has_a_section_with_its_facts_and_an_example_that_fails() -> None:
    sections = re.split(r"^## ", PAGES["docs/methods.md"], flags=re.M)
    by_method = {match[1]: text for text in sections if (match := re.match(r"`([\w-]+)`\n", text))}
    assert set(by_method) == set(komb.algorithms())
    for name, text in by_method.items():
        assert f"_generated/method-{name}.md" in text
        idea, cost, fails = (text.index(f"**{part}") for part in ("Idea.", "Cost.", "Fails"))
        assert idea < cost < fails
        assert ">>> " in text[fails:]


def test_every_test_is_mentioned_where_the_test_is_chosen() -> None:
    for name in komb.tests():
        assert f"`{name}`" in PAGES["docs/choosing.md"]


def test_every_public_name_is_in_the_reference() -> None:
    reference = "".join(text for page, text in PAGES.items() if page.startswith("docs/api/"))
    documented = set(re.findall(r"^\.\. auto\w+:: (?:komb\.)?(\w+)$", reference, re.M))
    assert set(komb.__all__) - documented == {"__version__"}


def test_parts_say_what_the_registries_say() -> None:
    for name, info in komb.algorithms().items():
        part = from_code.one_method(name)
        assert all(fact in part for fact in (info.guarantee, info.weakness, info.citation))
        assert all(f"`{option.name}`" in part for option in info.options)
    assert all(f"`{name}`" in from_code.all_tests() for name in komb.tests())


@pytest.mark.parametrize("name", from_code.commands())
def test_options_on_the_page_are_those_of_the_help(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit):
        cli.main([name, "--help"])
    helped = capsys.readouterr().out
    options = r"(?<![\w-])--?[a-z][\w-]*"
    _, _, shown = from_code.one_command(name).partition("| option")
    assert set(re.findall(options, helped)) == set(re.findall(options, shown))


def test_defaults_of_options_are_shown_even_if_they_are_nothing() -> None:
    known = {entry.name: entry for entry in from_code.parameters_of(from_code.commands()["find"])}
    expected = {
        "data": "must be given", "alpha": "auto chooses, others 0.01", "json": "", "start": "",
        "method": "`auto`", "seed": "0", "level": "0.05 for auto",
    }  # fmt: skip
    assert {name: known[name].shown_default for name in expected} == expected


def test_parts_are_written_once(tmp_path: Path) -> None:
    from_code.write_all(tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == set(from_code.parts())
    before = {file.name: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
    from_code.write_all(tmp_path)
    assert before == {file.name: file.stat().st_mtime_ns for file in tmp_path.iterdir()}


def test_a_bar_in_a_cell_is_no_border() -> None:
    assert from_code.table(["a"], [["x|y\nz"]]) == "| a |\n| --- |\n| x\\|y z |\n"
