"""The command line: parse arguments, print results, nothing else.

Exit codes: 0 done (whether or not anything was found), 1 a worker was lost,
2 bad input, 130 interrupted.

What an option is called and says of itself is in :mod:`komb.cli.options`, once for all commands;
each command has a module of its own, and loads what it needs when it runs.
"""

from komb.cli.app import main

__all__ = ["main"]
