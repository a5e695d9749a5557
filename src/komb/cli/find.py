"""The command ``komb find``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from komb.cli import options
from komb.cli.exits import exit_codes, missing_option
from komb.cli.output import ProgressBar, show, write, write_json
from komb.errors import Interrupted, ParameterError, WorkerError
from komb.views.text import show_on_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from komb.results.blanket import Blanket
    from komb.results.blankets import Blankets
    from komb.results.export import Result
    from komb.results.stability import Stability


@exit_codes()
@options.takes_options(after="jobs")
def find(
    context: typer.Context,
    data: options.Data,
    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target",
            "-t",
            metavar="COLUMN",
            help="Column whose blanket to find. May be repeated.",
        ),
    ] = None,
    all_targets: Annotated[
        bool, typer.Option("--all-targets", help="Find the blanket of every column.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            help="Number of processes for several targets, or of threads for a single one; "
            "-1: one per processor.",
            metavar="J",
        ),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File in which large sweeps note what they have counted; if it is there, go on "
            "where the run that wrote it ended. For a single target.",
        ),
    ] = None,
    json: options.Json = False,
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet",
            "-q",
            help="Print names only: one member per line; for several targets, one target per line "
            "and its members after it, separated by tabs. No progress bar.",
        ),
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            "-v",
            help="Say how the blanket was found, too: its tests, what "
            "was chosen and why, what could be detected.",
        ),
    ] = False,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Explain why each member is in, and why others are not."),
    ] = False,
    implied: Annotated[
        bool,
        typer.Option("--implied", help="Name other causes of effects, linked too weakly to show."),
    ] = False,
    stability: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Search this many half-samples too, an even number, and say how often each member "
            "is found again.",
        ),
    ] = None,
    plot: options.Plot = None,
    **asked: Any,
) -> None:
    """Find the Markov blanket of one or more columns of a file."""
    targets = _check_targets(context, target, all_targets)
    if resume is not None and (targets is None or len(targets) > 1):
        rule, remedy = (
            "be left out for several targets",
            "Search each by itself, with its own file.",
        )
        raise ParameterError.because("resume", rule, str(resume), remedy)
    wanted = {"verbose": verbose, "explain": explain, "implied": implied}
    wanted["stability"] = stability is not None
    for name, is_wanted in wanted.items():
        if quiet and is_wanted:
            raise options.contradiction("quiet", name, "both say what to print")
    halves = None if stability is None else (stability, _seed_of_halves(asked))
    arguments = options.to_search(asked)
    from komb.api.parallel import check_jobs
    from komb.data.read.table_files import naming
    from komb.describe.stability import check_halves
    from komb.views.pictures.canvas import check_picture

    check_jobs(jobs)
    if stability is not None:
        check_halves("stability", stability)
    if plot is not None:
        check_picture(plot)  # before the work, not after it
    output = _Output(json, quiet, verbose, explain, implied, halves, plot)
    only = targets[0] if targets is not None and len(targets) == 1 else None
    with naming(options.name_of(data)):
        arguments["data"] = options.read_data(data, asked, only)
        if only is not None:
            arguments |= {"n_jobs": jobs, "resume": resume}
            output.present_one(_find_one(only, arguments, quiet))
            return
        try:
            blankets = _find_many(targets, jobs, arguments, quiet)
        except (Interrupted, WorkerError) as stopped:
            output.present_many(cast("Blankets", stopped.finished))
            raise
        output.present_many(blankets)


def _check_targets(
    context: typer.Context, target: list[str] | None, all_targets: bool
) -> list[str] | None:
    """Return the targets that were named, or ``None`` for all."""
    if target and all_targets:
        raise options.contradiction("target", "all_targets", "both say whose blanket to find")
    if not target and not all_targets:
        raise missing_option(context, "'--target' (or '--all-targets')")
    return target or None


def _seed_of_halves(asked: dict[str, Any]) -> int:
    """Return the seed of half-samples, which is that of the test if it draws random numbers too."""
    from komb.citests import tests
    from komb.citests.registry import SEED

    seed = SEED.check("seed", asked["seed"] or 0)
    known = tests().get(asked["test"])
    if known is not None and not known.is_random:
        asked["seed"] = None
    return int(seed)


def _find_one(target: str, arguments: dict[str, Any], quiet: bool) -> Blanket:
    from komb.api.find import markov_blanket

    with ProgressBar(is_wanted=not quiet) as bar:
        return markov_blanket(target=target, progress=bar, **arguments)


def _find_many(
    targets: list[str] | None, jobs: int | None, arguments: dict[str, Any], quiet: bool
) -> Blankets:
    from komb.api.find import markov_blankets

    with ProgressBar(is_wanted=not quiet) as bar:
        return markov_blankets(targets=targets, n_jobs=jobs, progress=bar, **arguments)


@dataclass(frozen=True)
class _Output:
    """How results are shown."""

    as_json: bool
    is_quiet: bool
    is_verbose: bool
    has_reasons: bool
    has_implied: bool
    halves: tuple[int, int] | None  # how many, and their seed
    plot: Path | None
    stopped: list[Interrupted] = field(default_factory=list)  # while half-samples were searched

    def present_one(self, blanket: Blanket) -> None:
        """Show one blanket."""
        if self.as_json:
            write_json(self._dump(self._record(blanket)))
        elif self.is_quiet:
            write("".join(f"{show_on_line(name)}\n" for name in blanket), end="")
        else:
            show(blanket)
            self._explain(blanket)
        self._finish(blanket.plot)

    def present_many(self, blankets: Blankets) -> None:
        """Show several."""
        if self.as_json:
            records = {target: self._record(blanket) for target, blanket in blankets.items()}
            write_json(self._dump(records))
        elif self.is_quiet:
            named = blankets.items()
            lines = ("\t".join(map(show_on_line, (target, *found))) for target, found in named)
            write("".join(f"{line}\n" for line in lines), end="")
        else:
            show(blankets)
            for blanket in blankets.values():
                self._explain(blanket)
        self._finish(blankets.plot)

    @staticmethod
    def _dump(record: Any) -> str:
        from komb.results.export import dump_json

        return dump_json(record, 2)

    def _record(self, blanket: Blanket) -> dict[str, Any]:
        asked = {name: result.to_dict() for name, result in self._asked(blanket)}
        return blanket.to_dict() | asked

    def _asked(self, blanket: Blanket) -> Iterator[tuple[str, Result]]:
        """Yield what else is asked for about a blanket."""
        if self.has_reasons:
            yield "explanation", blanket.explain()
        if self.has_implied:
            yield "implied", blanket.implied()
        stability = self._measure(blanket)
        if stability is not None:
            yield "stability", stability

    def _measure(self, blanket: Blanket) -> Stability | None:
        """Search half-samples; if that is interrupted, return what those so far say."""
        if self.halves is None or self.stopped:
            return None
        n_halves, seed = self.halves
        try:
            with ProgressBar() as bar:
                return blanket.stability(
                    n_halves,
                    seed=seed,
                    progress=lambda done: bar.show("half-samples", done, n_halves),
                )
        except Interrupted as interrupt:
            self.stopped.append(interrupt)
            return cast("Stability", interrupt.finished)

    def _explain(self, blanket: Blanket) -> None:
        if self.is_verbose:
            write("")
            show(blanket.details())
        for _, result in self._asked(blanket):
            write("")
            show(result)

    def _finish(self, draw: Callable[[], Axes]) -> None:
        if self.plot is not None:
            from komb.views.pictures.canvas import save_picture

            save_picture(draw(), self.plot)
        for interrupt in self.stopped:
            raise interrupt
