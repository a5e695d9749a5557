"""How right, how calibrated and how fast the default method is, beside others: method ``auto``.

    python benchmarks/automatic.py networks [--data FOLDER] [--names NAME ...] [--rows N ...]
        [--samples N] [--targets N|all|largest] [--seed S] [--without METHOD ...] [--slow]
    python benchmarks/automatic.py noise [--tables N] [--quick]
    python benchmarks/automatic.py xor [--tables N]
    python benchmarks/automatic.py functions [--samples N] [--rows N]
    python benchmarks/automatic.py oracle [--networks N] [--rows N]
    python benchmarks/automatic.py implied [--networks N] [--rows N] [--strength LEAST MOST]
    python benchmarks/automatic.py cost [NAME ...] [--data FOLDER] [--targets N|all|largest]
    python benchmarks/automatic.py wide [--copies N ...]
    python benchmarks/automatic.py populations [--tables N]
    python benchmarks/automatic.py epistasis [--tables N]

``networks``: F1 on benchmark networks beside classic methods, fixed settings of kOMB and, if
pyAgrum is installed, hill climbing. A name is one of the paper's networks (Alarm1, Barley,
Insurance, Mildew; from ``--data``, a folder with the MMHC samples, if given), any file of pgmpy's
wheel (child, pigs, ...), or either with a number of copies side by side (``child*3``). ``noise``:
how often the blanket is not empty although nothing depends on anything. ``xor``: how often a hidden
pair is found. ``functions``: the Boolean functions of the paper. ``oracle``: random distributions,
asked exactly or sampled. ``implied``: spouses through weak links. ``cost`` and ``wide``: processor
time. ``populations`` and ``epistasis``: genotypes. All options of a command:
``python benchmarks/automatic.py COMMAND --help``.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable

from komb.errors import FileError
from measures import cost, functions, genes, implied, networks, noise, oracle

AddOptions = Callable[[argparse.ArgumentParser], None]
Run = Callable[[argparse.Namespace], None]

COMMANDS: dict[str, tuple[AddOptions, Run]] = {
    "networks": (networks.add_options, networks.run),
    "noise": (noise.add_noise_options, noise.run_noise),
    "xor": (noise.add_xor_options, noise.run_xor),
    "functions": (functions.add_options, functions.run),
    "oracle": (oracle.add_options, oracle.run),
    "implied": (implied.add_options, implied.run),
    "cost": (cost.add_cost_options, cost.run_cost),
    "wide": (cost.add_wide_options, cost.run_wide),
    "populations": (genes.add_population_options, genes.run_populations),
    "epistasis": (genes.add_epistasis_options, genes.run_epistasis),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, (add_options, run) in COMMANDS.items():
        command = commands.add_parser(name, help=(run.__doc__ or "").splitlines()[0])
        add_options(command)
    arguments = parser.parse_args()
    command_line = shlex.join(["python", "benchmarks/automatic.py", *sys.argv[1:]])
    print(f"```sh\n{command_line}\n```\n", flush=True)
    try:
        COMMANDS[arguments.command][1](arguments)
    except FileError as error:  # no samples of that size or number, for one
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main()
