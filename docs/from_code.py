"""Parts of these pages that are written from the code, so that they cannot differ from it.

Every part is Markdown, made by a function without arguments; pages include it by its name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, get_args, get_origin, get_type_hints

from typer.models import ArgumentInfo, ParameterInfo

import komb
from komb.cli.app import make_app
from komb.search.registry import AlgorithmInfo


def parts() -> dict[str, Callable[[], str]]:
    """Return every part by the name of its file."""
    written: dict[str, Callable[[], str]] = {
        "commands.md": all_commands,
        "methods.md": all_methods,
        "tests.md": all_tests,
    }
    written |= {f"method-{name}.md": partial(one_method, name) for name in komb.algorithms()}
    return written


def write_all(folder: Path) -> None:
    """Write every part into a folder; what has not changed keeps its date."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, write in parts().items():
        file, text = folder / name, write()
        if not file.exists() or file.read_text("utf-8") != text:
            file.write_text(text, "utf-8")


# -------------------------------------------------------------------------------- methods and tests


def all_methods() -> str:
    """Return a table of the methods."""
    rows = [
        (
            f"[`{info.name}`](#{info.name})",
            str(info.year),
            info.assumes,
            "yes" if info.is_sound else "no: may keep too much",
            info.summary,
        )
        for info in komb.algorithms().values()
    ]
    return table(("method", "year", "assumes", "exact if no test errs", "in a line"), rows)


def one_method(name: str) -> str:
    """Return what the registry says about a method."""
    info = komb.algorithms()[name]
    options = [f"`{option.name}` ({_show_default(info, option)})" for option in info.options]
    facts = {
        "Assumes": f"{info.assumes}.",
        "Guarantee": info.guarantee,
        "Weakness": info.weakness,
        "Options": f"{', '.join(options)}.",
        "Source": f"{info.citation}.",
    }
    return "".join(f"- **{heading}**: {fact}\n" for heading, fact in facts.items())


def all_tests() -> str:
    """Return a table of the conditional-independence tests."""
    rows = [(f"`{info.name}`", info.summary, info.citation) for info in komb.tests().values()]
    return table(("name", "what it is", "source"), rows)


def _show_default(info: AlgorithmInfo, option: komb.Option) -> str:
    value = info.defaults[option.name]
    return f"default: {option.if_left_out if value is None else value}"


# ------------------------------------------------------------------------------------- command line


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument or option of a command."""

    name: str
    kind: type
    info: ParameterInfo
    default: object

    @property
    def is_argument(self) -> bool:
        """Whether it goes by its place and not by a name."""
        return isinstance(self.info, ArgumentInfo)

    @property
    def is_needed(self) -> bool:
        """Whether there is no default."""
        return self.default is inspect.Parameter.empty

    @property
    def spellings(self) -> list[str]:
        """How the option may be written, the long way first."""
        # Inside Annotated the first spelling is where the default would be outside.
        first = self.info.default
        given = [first] if isinstance(first, str) and first.startswith("-") else []
        given += self.info.param_decls or ()
        return given or [f"--{self.name.replace('_', '-')}"]

    @property
    def metavar(self) -> str:
        """What stands for the value."""
        return self.info.metavar or {int: "N", float: "NUMBER"}.get(self.kind, "TEXT")

    @property
    def shown(self) -> str:
        """The option as it is typed, or what an argument is called."""
        if self.is_argument:
            return f"`{self.name.upper()}`"
        names = f"`{', '.join(self.spellings)}`"
        return names if self.kind is bool else f"{names} `{self.metavar}`"

    @property
    def shown_default(self) -> str:
        """What holds if it is left out."""
        if self.is_needed:
            return "must be given"
        if isinstance(self.info.show_default, str):
            return self.info.show_default
        return "" if self.default is None or self.default is False else f"`{self.default}`"


def all_commands() -> str:
    """Return a section for every command: what it does, how it is called, its options."""
    return "\n".join(one_command(name) for name in commands())


def commands() -> dict[str, Callable[..., object]]:
    """Return the functions behind the commands, by name."""
    named = [(entry.name, entry.callback) for entry in make_app().registered_commands]
    return {name or function.__name__: function for name, function in named if function}


def one_command(name: str) -> str:
    """Return a section about one command."""
    function = commands()[name]
    known = list(parameters_of(function))
    arguments = [entry.metavar for entry in known if entry.is_argument]
    needed = [
        f"{entry.spellings[0]} {entry.metavar}"
        for entry in known
        if entry.is_needed and not entry.is_argument
    ]
    usage = ["komb", name, *arguments, *needed, "[OPTIONS]"]
    rows = [(entry.shown, entry.info.help or "", entry.shown_default) for entry in known]
    rows.append(("`--help`", "Show the options and exit.", ""))
    return (
        f"## `komb {name}`\n\n{inspect.getdoc(function)}\n\n"
        f"```text\n{' '.join(usage)}\n```\n\n"
        f"{table(('option', 'what it does', 'default'), rows)}"
    )


def parameters_of(function: Callable[..., object]) -> Iterator[Parameter]:
    """Yield the arguments and options of a command, in order."""
    hints = get_type_hints(function, include_extras=True)
    for name, parameter in inspect.signature(function).parameters.items():
        if get_origin(hints[name]) is not Annotated:
            continue  # the context, which is typer's own
        annotated, *extras = get_args(hints[name])
        info = next(extra for extra in extras if isinstance(extra, ParameterInfo))
        kinds = [kind for kind in get_args(annotated) if kind is not type(None)]
        yield Parameter(name, kinds[0] if kinds else annotated, info, parameter.default)


# ----------------------------------------------------------------------------------------- Markdown


def table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown."""
    head = list(headings)
    lines = [head, ["---"] * len(head), *map(list, rows)]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("\n", " ")
