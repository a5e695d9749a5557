"""What several tests need."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest
from hypothesis import settings

from komb import cli
from tests.optional import MISSING, reason

Run = Callable[..., tuple[int, str, str]]

# The same examples in every run: what fails once fails again. ``make fuzz`` looks for new ones.
settings.register_profile("komb", derandomize=True, deadline=None)
settings.load_profile("komb")

# A shell that starts tests in the background has them ignore Ctrl-C, and so would what they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line in this process; returns the exit code and both outputs."""

    def run_cli(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as caught:
            cli.main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        if "matplotlib" in MISSING and "need matplotlib, which is not installed" in printed.err:
            pytest.skip(reason("matplotlib"))
        assert isinstance(caught.value.code, int)
        return caught.value.code, printed.out, printed.err

    return run_cli
