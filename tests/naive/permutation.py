"""Twin of the permutation test, with the same random numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tests.naive.counts import Columns

WORD = 2**64


class SplitMix64:
    """Steele, Lea & Flood (2014): a counter, and a function that mixes it."""

    STEP = 0x9E3779B97F4A7C15

    def __init__(self, state: int) -> None:
        self.state = state

    @staticmethod
    def mix(z: int) -> int:
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % WORD
        return z ^ (z >> 31)

    def word(self) -> int:
        self.state = (self.state + self.STEP) % WORD
        return self.mix(self.state)

    def below(self, bound: int) -> int:
        """The upper half of a word times the bound, over 2^32, without the bias that has."""
        while True:
            product = (self.word() >> 32) * bound
            if product % 2**32 >= 2**32 % bound:
                return product >> 32

    def coins(self, n: int, chance: int) -> int:
        """How many of n coins fall, each with a chance of so many 64ths; 64 coins are a word."""
        if chance == 0:
            return 0
        fell = 0
        binary = f"{chance:06b}".rstrip("0")
        for first in range(0, n, 64):
            coins = self.word()  # for the last digit that is one
            for digit in reversed(binary[:-1]):
                coins = coins | self.word() if digit == "1" else coins & self.word()
            fell += (coins % 2 ** min(64, n - first)).bit_count()
        return fell


def column_hash(column: Sequence[int]) -> int:
    mix, step = SplitMix64.mix, SplitMix64.STEP
    return sum(mix((step * (row + 1)) % WORD ^ code) for row, code in enumerate(column)) % WORD


def random_stream(
    columns: Columns, y: int, x: int, given: Collection[int], seed: int
) -> SplitMix64:
    """Where the random numbers of a test start: symmetric in x and y, and in the given set."""
    mix, step = SplitMix64.mix, SplitMix64.STEP
    pair = (mix(column_hash(columns[x])) + mix(column_hash(columns[y]))) % WORD
    condition = sum(mix(column_hash(columns[z]) ^ step) for z in given) % WORD
    return SplitMix64(mix(mix((seed + step) % WORD) ^ mix(pair) ^ condition))


@dataclass(frozen=True)
class StratumMargins:
    """What is shuffled in one stratum: values, over groups of these sizes, the largest last."""

    values: list[int]
    sizes: list[int]
    groups: list[list[int]]  # the values as they are in the data


def in_order(items: Iterable[int]) -> list[int]:
    """Each item once, by first occurrence."""
    return list(dict.fromkeys(items))


def stratum_margins(
    pairs: list[tuple[int, int]], x_hash: int, y_hash: int
) -> StratumMargins | None:
    """The variable whose largest level is larger makes the groups; None if nothing can vary."""
    xs, ys = Counter(x for x, _ in pairs), Counter(y for _, y in pairs)
    if len(xs) < 2 or len(ys) < 2:
        return None
    most_x, most_y = max(xs.values()), max(ys.values())
    if most_x > most_y or (most_x == most_y and x_hash < y_hash):
        pairs = [(y, x) for x, y in pairs]
    levels = in_order(value for value, _ in pairs)
    names = in_order(group for _, group in pairs)
    groups = [[levels.index(value) for value, name in pairs if name == group] for group in names]
    largest = max(range(len(groups)), key=lambda g: (len(groups[g]), -g))
    groups[largest], groups[-1] = groups[-1], groups[largest]
    return StratumMargins(
        [value for group in groups for value in group], [len(group) for group in groups], groups
    )


def shuffle_by_rows(margins: StratumMargins, rng: SplitMix64) -> list[Counter[int]]:
    """Fisher and Yates: draw the groups one after the other; the last gets what is left.

    The values stay in the order that the shuffle leaves them in, for the next one.
    """
    values, left, drawn = margins.values, len(margins.values), []
    for size in margins.sizes[:-1]:
        for _ in range(size):
            here = rng.below(left)
            left -= 1
            values[here], values[left] = values[left], values[here]
        drawn.append(Counter(values[left : left + size]))
    return [*drawn, Counter(values[:left])]


def shuffle_by_coins(margins: StratumMargins, rng: SplitMix64) -> list[Counter[int]]:
    """Give values to each group by coins, then mend its size by single draws."""
    levels = range(max(margins.values) + 1)
    rest = Counter(margins.values)
    drawn = []
    for size in margins.sizes[:-1]:
        left = rest.total()
        chance = math.floor(Fraction(64 * size, left) + Fraction(1, 2))
        chosen = Counter({level: rng.coins(rest[level], chance) for level in levels})
        while chosen.total() > size:
            chosen[draw_from([chosen[level] for level in levels], rng)] -= 1
        while chosen.total() < size:
            chosen[draw_from([rest[level] - chosen[level] for level in levels], rng)] += 1
        drawn.append(chosen)
        rest = rest - chosen
    return [*drawn, rest]


def draw_from(urn: list[int], rng: SplitMix64) -> int:
    ball = rng.below(sum(urn))
    return [level for level, count in enumerate(urn) for _ in range(count)][ball]


def bits_of_dependence(groups: Sequence[Counter[int]]) -> float:
    """Sum of n log2(n n_all / (n_value n_group)): half of G in one stratum, in bits."""
    values = sum(groups, Counter[int]())
    return math.fsum(
        n * math.log2(n * values.total() / (values[value] * group.total()))
        for group in groups
        for value, n in group.items()
        if n
    )


@dataclass(frozen=True)
class Permuted:
    """What a permutation test finds."""

    p_value: float
    varies: bool
    statistics: list[float]  # of the shuffles: half of G, in bits


def permute(
    columns: Columns,
    y: int,
    x: int,
    given: Collection[int],
    seed: int,
    most: int = 999,
    levels: Sequence[int] | None = None,
    enough: int = 10,
) -> Permuted:
    """Shuffle within strata, at most so often or until enough shuffles are as large as the data.

    A code that is not below its column's number of levels is missing.
    """
    tested = [x, y, *given]
    strata: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for row in range(len(columns[0])):
        is_missing = {v: levels is not None and columns[v][row] >= levels[v] for v in tested}
        if any(is_missing[v] for v in given):
            continue
        stratum = strata.setdefault(tuple(columns[v][row] for v in sorted(given)), [])
        if not is_missing[x] and not is_missing[y]:
            stratum.append((columns[x][row], columns[y][row]))
    hashes = column_hash(columns[x]), column_hash(columns[y])
    found = [stratum_margins(pairs, *hashes) for pairs in strata.values()]
    varying = [margins for margins in found if margins is not None]
    if not varying:
        return Permuted(1.0, varies=False, statistics=[])
    data = math.fsum(bits_of_dependence(list(map(Counter, m.groups))) for m in varying)
    rng = random_stream(columns, y, x, given, seed)
    statistics: list[float] = []
    exceedances = 0
    while len(statistics) < most:
        strengths = []
        for margins in varying:
            cells = len(set(margins.values)) * len(margins.sizes)
            is_thick = len(margins.values) > 6 * cells
            shuffle = shuffle_by_coins if is_thick else shuffle_by_rows
            strengths.append(bits_of_dependence(shuffle(margins, rng)))
        statistics.append(math.fsum(strengths))
        exceedances += statistics[-1] > data - 1e-9
        if exceedances == enough:
            return Permuted(enough / len(statistics), True, statistics)
    return Permuted((1 + exceedances) / (1 + most), True, statistics)
