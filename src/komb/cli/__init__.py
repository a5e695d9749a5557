"""The command line: parse arguments, print results, nothing else.

Exit codes: 0 done (whether or not anything was found), 1 a worker was lost, output could not be
written or something unexpected happened, 2 bad input, 130 interrupted. Nothing ends in a traceback,
unless the environment variable ``KOMB_TRACEBACK`` is set.

What an option is called and says of itself is in :mod:`komb.cli.options`, once for all commands;
a command loads what it needs when it runs.
"""

from komb.cli.app import main

__all__ = ["main"]
