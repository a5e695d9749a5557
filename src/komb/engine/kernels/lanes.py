"""Steps on ``LANES`` columns at once, one vector each: what popcounts of interleaved bitmaps need.

Arrays are flat, and places are those of the first lane. What compiled kernels have is written in
:mod:`komb.engine.kernels.lane_code`.
"""

# Numba asks for the types of what an instruction gets; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import numpy as np

from komb.engine.compiling import instruction, popcount

LANES = 8  # 64-bit words of an AVX-512 register
CODES = 64  # bytes that become the bits of a word


def _add_common_bits(words, lanes, table, places, n_strata=1):
    first, step, n_words, start, sink, sink_step = places
    for stratum in range(n_strata):
        for index in range(n_words * LANES):
            word = words[first + stratum * step + index // LANES] & lanes[start + index]
            table[sink + stratum * sink_step + index % LANES] += popcount(word)


def _add_common_bits_twice(words, lanes, table, places):
    _add_common_bits(words, lanes, table, places, 2)


def _subtract(start, table, places):
    source, first, step, count, sink = places
    for lane in range(LANES):
        cells = (table[first + index * step + lane] for index in range(count))
        table[sink + lane] = start[source + lane] - sum(cells)


def _add_squares(table, weights, sums, places):
    first, n_cells, step, n_classes, n_responses, sink = places
    shares = weights[: (n_responses + 1) * n_classes].reshape(-1, n_classes)
    for index in range(n_cells * LANES):
        start = first + index
        rows, *responses = shares @ table[start : start + n_classes * step : step][:n_classes]
        for own in responses:
            sums[sink + index % LANES] += own * own / max(rows, 1)


def _match_codes(codes, places):
    first, code = places
    found = 0
    for bit in range(CODES):
        found |= int(codes[first + bit] == code) << bit
    return np.uint64(found)


@instruction(_add_squares)
def add_squares(typingctx, table, weights, sums, places):  # noqa: ARG001
    """Add to ``sums[sink + lane]`` what some cells explain: squared responses, by their rows.

    A cell has counts of classes, ``table[first + i * LANES + class * step + lane]`` for ``i <
    n_cells``; ``weights`` have what a row of each class is of the rows, and then of each response.
    ``places`` are (first, n_cells, step, n_classes, n_responses, sink).
    """
    from komb.engine.kernels import lane_code as code

    return code.add_squares(table, weights, sums)


@instruction(_match_codes)
def match_codes(typingctx, codes, places):  # noqa: ARG001
    """Return the bits of 64 codes that are equal to one; places are (first, code)."""
    from komb.engine.kernels import lane_code as code

    return code.match_codes(codes)


@instruction(_add_common_bits)
def add_common_bits(typingctx, words, lanes, table, places):  # noqa: ARG001
    """Count the bits that a stratum has in common with the words of each lane.

    ``table[sink + lane]`` grows by those that ``words[first + i]`` and ``lanes[start + i * LANES +
    lane]`` share, for ``i < n_words``; ``places`` are (first, step, n_words, start, sink,
    sink_step), the steps to another stratum.
    """
    from komb.engine.kernels import lane_code as code

    return code.add_common_bits(1, words, lanes, table)


@instruction(_add_common_bits_twice)
def add_common_bits_twice(typingctx, words, lanes, table, places):  # noqa: ARG001
    """The same for two strata, which share what they load."""  # noqa: D401
    from komb.engine.kernels import lane_code as code

    return code.add_common_bits(2, words, lanes, table)


@instruction(_subtract)
def subtract(typingctx, start, table, places):  # noqa: ARG001
    """Set cells of the table to what another array has beyond the sum of some cells.

    ``table[sink + lane]`` becomes ``start[source + lane]`` less ``table[first + i * step + lane]``
    for ``i < count``; ``places`` are (source, first, step, count, sink).
    """
    from komb.engine.kernels import lane_code as code

    return code.subtract(start, table)
