"""Options that several commands share."""

from __future__ import annotations

import argparse
from pathlib import Path

__all__ = ["add_draws", "add_network_options"]


def add_network_options(parser: argparse.ArgumentParser, targets: str) -> None:
    parser.add_argument("--data", type=Path, help="folder with the MMHC samples")
    parser.add_argument("--targets", type=_targets, default=targets, help="a number, all, largest")
    parser.add_argument("--seed", type=int, default=0, help="of targets and drawn samples")


def add_draws(parser: argparse.ArgumentParser, tables: int) -> None:
    parser.add_argument("--tables", type=int, default=tables, help="tables per row of the output")
    parser.add_argument("--seed", type=int, default=0)


def _targets(text: str) -> str:
    if text not in ("all", "largest") and not (text.isdecimal() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"must be a number, 'all' or 'largest', not {text!r}")
    return text
