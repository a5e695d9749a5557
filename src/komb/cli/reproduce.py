"""The command ``komb reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from komb.cli import options
from komb.cli.exits import exit_codes
from komb.cli.output import ProgressBar, show
from komb.views.text import Grid, Sheet, show_seconds


@exit_codes(data="--data")
def reproduce(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for all results.")],
    suites: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[intro|synthetic|benchmark|ablation|separators|runtime|all]...",
            help="Experiments to run.",
            show_default="all",
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder with the MMHC samples, zipped or not; without it, samples are drawn.",
        ),
    ] = None,
    networks: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[,NAME...]",
            help="Alarm1, Barley, Insurance, Mildew. May be repeated.",
            show_default="all",
        ),
    ] = None,
    samples: Annotated[
        int | None, typer.Option(help="Maximum number of samples per dataset.", show_default="10")
    ] = None,
    targets: Annotated[
        int | None,
        typer.Option(
            help="Maximum number of targets; those with the largest blankets come first.",
            show_default="10",
        ),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(help="Number of processes.", show_default="one per processor")
    ] = None,
    time_cap: Annotated[
        float | None, typer.Option(help="Time limit per search, in seconds.", show_default="1800")
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Continue the run in DIR: options that you leave out keep their values, and "
            "finished searches are not repeated.",
        ),
    ] = False,
) -> None:
    """Repeat the experiments of the paper: results and a report in one folder."""
    from komb.reproduction.reproduction import reproduce as run
    from komb.reproduction.tables import check_claims

    with ProgressBar() as bar:
        result = run(
            suites or None,
            out,
            data=data,
            networks=options.split_names(networks),
            samples=samples,
            targets=targets,
            jobs=jobs,
            time_cap=time_cap,
            resume=resume,
            progress=lambda done, total: bar.show("searches", done, total),
        )
    checked = check_claims(result.records, result.separators, str(out))
    claims = [
        (finding.verdict, finding.conditions, claim.text)
        for claim, findings in checked
        for finding in findings
        if finding.verdict != "not tested"
    ]
    timed_out = sum(record.timed_out for record in result.records)
    capped = f", {timed_out:,} of them given up at the time cap" if timed_out else ""
    seconds = show_seconds(result.manifest["seconds"])
    sheet = Sheet(
        f"Reproduced: {', '.join(result.manifest['suites'])}",
        f"{len(result.records):,} searches{capped}, {seconds}",
        (Grid(("verdict", "conditions", "claim"), tuple(claims)),) if claims else (),
        (f"Everything is in {out}: {', '.join(file.name for file in result.files)}",),
    )
    show(sheet)
