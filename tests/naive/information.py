"""Information by dictionaries and loops."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

Column = Sequence[int]


def plain(x: Column, y: Column, given: Sequence[Column] = ()) -> float:
    """I(Y; X | Z) of the shares in a table, in bits."""
    n = len(x)
    z = list(zip(*given, strict=True)) if given else [()] * n
    xyz, xz = Counter(zip(x, y, z, strict=True)), Counter(zip(x, z, strict=True))
    yz, strata = Counter(zip(y, z, strict=True)), Counter(z)
    return sum(
        count / n * math.log2(count * strata[c] / (xz[a, c] * yz[b, c]))
        for (a, b, c), count in xyz.items()
    )
