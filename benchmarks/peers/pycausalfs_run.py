"""Run one method of pyCausalFS, in an environment of its own.

    echo '{"method": "iamb", "alpha": 0.01, "data": "codes.npy", "targets": [0]}' \
        | ENVIRONMENT/bin/python benchmarks/peers/pycausalfs_run.py

Prints one line of JSON a target as soon as it is done: target, blanket, tests (as pyCausalFS
counts them) and seconds of the call. pyCausalFS is licensed under the GPL: it is called from here
as a program of its own, and komb contains nothing of it.
"""

from __future__ import annotations

import json
import sys
import time
from importlib import import_module
from typing import Any

import numpy as np

#: Pinned, because what is measured should be named. Python 3.11.
REQUIREMENTS = ("pyCausalFS==0.23", "numpy==2.4.6", "scipy==1.17.1")

#: Method -> module and function of pyCausalFS.
METHODS = {
    "gs": ("GSMB", "GSMB"),
    "iamb": ("IAMB", "IAMB"),
    "hiton-mb": ("HITON.HITON_MB", "HITON_MB"),
    "mmmb": ("MMMB.MMMB", "MMMB"),
    "pcmb": ("PCMB.PCMB", "PCMB"),
    "lrh": ("LCMB", "LRH"),
    "stmb": ("STMB", "STMB"),
    "bamb": ("BAMB", "BAMB"),
}


def load_method(name: str) -> Any:
    if name not in METHODS:
        raise SystemExit(f"Unknown method {name!r}. Known: {', '.join(METHODS)}.")
    module, function = METHODS[name]
    return getattr(import_module(f"pyCausalFS.CBD.MBs.{module}"), function)


def main() -> None:
    request = json.load(sys.stdin)
    find_blanket = load_method(request["method"])
    codes = np.load(request["data"]).astype(np.int64)
    for target in request["targets"]:
        started = time.perf_counter()
        blanket, tests = find_blanket(codes, target, request["alpha"], True)
        seconds = time.perf_counter() - started
        answer = {
            "target": target,
            "blanket": sorted(int(member) for member in blanket),
            "tests": int(tests),
            "seconds": seconds,
        }
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
