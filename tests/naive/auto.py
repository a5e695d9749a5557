"""Twin of the automatic search."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from itertools import combinations

from tests.naive.counts import Set
from tests.naive.sessions import DoubtingSession
from tests.naive.steps import Witnesses, first_strongest, separable, subsets


@dataclass(frozen=True)
class Rules:
    """The numbers that the automatic search goes by."""

    level: float  # chance of a blanket where there is none
    first_share: float  # of the level for order 0; of what is left the same share for order 1, ...
    false_share: float  # of what is believed
    partner_chance: float
    share_to_detect: float
    largest_pool: int  # members that separators are made of
    closeness_ratio: float
    largest_witness: int
    most_witnesses: int  # sets of members that are tried as one
    most_sets: int  # of members that are tried as a separator of a member
    missed_chance: float
    largest_order: int

    def share_of_level(self, order: int) -> float:
        left = 1.0
        for _ in range(order):
            left *= 1 - self.first_share
        return self.level * self.first_share * left


def family_bits(n: int, chance: float) -> float:
    """Bonferroni: n p-values of 2^-b are below it with this chance in all."""
    return math.log2(max(n, 1) / chance)


def false_discovery_bits(bits: Iterable[float], n: int, share: float) -> float:
    """Benjamini & Hochberg: the largest rank whose p-value is at most rank * share / n."""
    needed = math.inf
    for rank, own in enumerate(sorted(bits, reverse=True), start=1):
        if own >= math.log2(n / (rank * share)):
            needed = math.log2(n / (rank * share))
    return needed


Strong = tuple[float, int, Set]  # bits, variable, given


@dataclass
class Automatic:
    """All that the automatic search knows, found before it is needed."""

    session: DoubtingSession
    y: int
    v: Set  # without y
    single: float  # bits that any test needs
    most: int
    rules: Rules
    start: Set = frozenset()
    include: Set = frozenset()
    is_copy: Callable[[int, int], bool] = lambda x, z: False
    alone: dict[int, dict[int, float]] = field(default_factory=dict)
    members: dict[int, dict[int, float]] = field(default_factory=dict)  # with their least bits
    separated: dict[int, dict[int, Set]] = field(default_factory=dict)
    needed: float = 0.0
    blanket: dict[int, Set] = field(default_factory=dict)  # with what each is seen given
    separators: dict[int, Set] = field(default_factory=dict)
    reached: int = 0

    def __post_init__(self) -> None:
        everything = self.v | {self.y}
        for a in sorted(everything):
            bits = {b: self.session.strength(a, b, frozenset()) for b in sorted(everything - {a})}
            self.alone[a] = {b: own for b, own in bits.items() if own > 0}
        for a in sorted(everything):
            self.members[a], self.separated[a] = self.look_around(a)
        bits_of_y, n = self.alone[self.y].values(), len(self.v)
        chance = self.rules.share_of_level(0)
        sure = [self.session.confirmed(self.y, x, frozenset()) for x in self.alone[self.y]]
        if false_discovery_bits(sure, n, chance) == math.inf:
            self.needed = math.inf
        else:
            by_share = false_discovery_bits(bits_of_y, n, self.rules.false_share)
            self.needed = max(self.single, by_share)
        self.blanket = {x: frozenset() for x in sorted(self.include)}

    def chance(self, most: float) -> float:
        """What tests given members may spend while all of them are by request."""
        if self.blanket.keys() - self.include:
            return most
        return min(most, self.rules.share_of_level(self.rules.largest_order + 1))

    def nearest(self, a: int, pool: Set, most: int | None = None) -> Set:
        """Those that depend on a most, of equals the first ones."""
        by_strength = sorted(pool, key=lambda z: (-self.alone[a].get(z, 0.0), z))
        return frozenset(by_strength[: self.rules.largest_pool if most is None else most])

    def look_around(self, a: int) -> tuple[dict[int, float], dict[int, Set]]:
        """MMPC of one variable, whose separators are made of few members."""
        waiting = dict(self.alone[a])
        first, fixed = frozenset[int](), frozenset[int]()
        if a == self.y:
            first, fixed = self.start | self.include, self.include
            for x in fixed:
                waiting.setdefault(x, 0.0)
        separators = {b: frozenset[int]() for b in (self.v | {self.y}) - {a} - waiting.keys()}
        members: dict[int, float] = {}
        while waiting:
            b = min(first & waiting.keys(), default=first_strongest(waiting))
            members[b] = waiting.pop(b)
            for x in sorted(waiting.keys() - fixed):
                near = self.nearest(x, frozenset(members))
                if b in near:
                    core = frozenset({b})
                    self.confront(a, x, core, near - core, self.most - 1, waiting, separators)
        for b in sorted(members):
            before = members[b]
            near = self.nearest(b, frozenset(members) - {b})
            self.confront(a, b, frozenset(), near, self.most, members, separators)
            if b in fixed:  # it stays to separate others, whatever separates it
                members.setdefault(b, before)
        return members, separators

    def confront(
        self,
        a: int,
        x: int,
        core: Set,
        pool: Set,
        bound: int,
        strengths: dict[int, float],
        separators: dict[int, Set],
    ) -> None:
        """Lower the strength of x to its least given any set; a separator takes it out."""
        for z in subsets(pool, bound):
            bits = self.session.strength(a, x, core | z)
            if bits == 0:
                separators[x] = core | z
                del strengths[x]
                return
            strengths[x] = min(strengths[x], bits)

    def sees(self, a: int, b: int) -> float:
        """Least bits of a neighbour; 0 for anybody else."""
        return 0.0 if b in self.separated[a] else self.members[a].get(b, 0.0)

    def joined(self, a: int, b: int, bits: float = 0.0) -> float:
        """Least bits on the side of a or b that sees the other, if they are enough."""
        if self.alone[a].get(b, 0.0) < bits:
            return 0.0
        found = self.sees(a, b)
        if found == 0:
            separator = self.separated[a].get(b, frozenset())
            if not separator:
                return 0.0
            if len(separator) == 1:
                middle, own = self.alone[b].get(min(separator), 0.0), self.alone[b].get(a, 0.0)
                if own < math.inf and middle >= self.rules.closeness_ratio * own:
                    return 0.0
            found = self.sees(b, a)
        return found if found >= bits else 0.0

    def outside(self) -> list[int]:
        return sorted(self.v - self.blanket.keys())

    def depends(self, x: int, z: Set) -> bool:
        return not self.session.independent(self.y, x, z)

    def separator(self, x: int, witness: Set) -> Set | None:
        """Members that undo the dependence of x given its witness."""
        pool = self.nearest(x, frozenset(self.blanket) - witness - {x})
        found = separable(self.session, self.y, x, pool, self.most, witness)
        return None if found is None else found - witness

    def find_neighbours(self) -> None:
        self.separators = dict.fromkeys(sorted(self.v), frozenset())
        if self.needed == math.inf:
            return
        found = {x: self.joined(self.y, x, self.needed) for x in self.alone[self.y]}
        found = {x: bits for x, bits in found.items() if bits > 0}
        least = false_discovery_bits(found.values(), len(self.v), self.rules.false_share)
        for x in sorted(found):
            if found[x] >= least:
                self.blanket.setdefault(x, frozenset())
        for x in self.alone[self.y].keys() - self.blanket.keys():
            nearest = self.nearest(x, frozenset(self.blanket), self.most)
            self.separators[x] = self.separated[self.y].get(x, nearest)

    def find_spouses(self) -> None:
        best: dict[int, tuple[float, Set]] = {}
        family = set()
        for child in sorted(self.blanket):
            for x in self.outside():
                if x not in self.alone[child]:
                    continue
                family.add(x)
                z = self.separators[x] | {child}
                bits = self.session.strength(self.y, x, z)
                if bits < self.single or bits <= best.get(x, (0.0, z))[0]:
                    continue
                if self.joined(child, x):
                    best[x] = bits, z
        found = [bits for bits, _ in best.values()]
        needed = false_discovery_bits(found, len(family), self.rules.false_share)
        for x in sorted(best):
            bits, z = best[x]
            if bits >= needed:
                self.blanket.setdefault(x, z)

    def add_inseparable(self) -> None:
        """One at a time; separators that are found on the way are kept."""
        while True:
            has_grown = False
            doubtful = [
                x
                for x in self.outside()
                if x in self.alone[self.y]
                and self.alone[self.y][x] >= self.needed
                and not self.separators[x] <= self.blanket.keys()
            ]
            for x in doubtful:
                separator = self.separator(x, frozenset())
                if separator is None:
                    self.blanket[x] = frozenset()
                    has_grown = True
                    break
                self.separators[x] = separator
            if not has_grown:
                return

    def strong(self, xs: Iterable[int], sets: Collection[Set], bits: float) -> list[Strong]:
        """Dependences given a set and what separates a variable, the strongest first."""
        found = []
        for x in xs:
            for z in sets:
                if x in z or z & self.separators[x]:
                    continue
                given = z | self.separators[x]
                own = self.session.strength(self.y, x, given)
                if 0 < own >= bits:
                    found.append((own, x, given))
        return sorted(found, key=lambda each: (-each[0], each[1], sorted(each[2])))

    def add_partners(self) -> None:
        fresh = sorted(self.blanket)
        strong: list[Strong] = []
        while fresh:
            n_tests = len(self.outside()) * len(self.blanket)
            needed = max(self.single, family_bits(n_tests, self.chance(self.rules.partner_chance)))
            strong += self.strong(self.outside(), [frozenset({w}) for w in fresh], needed)
            fresh = self.add_strong(strong)

    def add_groups(self, size: int) -> None:
        n_tests = len(self.v) * math.comb(len(self.v) - 1, size)
        needed = max(self.single, family_bits(n_tests, self.rules.share_of_level(size)))
        sets = [frozenset(chosen) for chosen in combinations(sorted(self.v), size)]
        strong = [
            (bits, x, given)
            for bits, x, given in self.strong(self.outside(), sets, needed)
            if self.separators[x] or not self.session.is_large(self.y, x, given)
            if self.session.confirmed(self.y, x, given) >= needed
        ]
        self.add_strong(strong)

    def add_strong(self, strong: Iterable[Strong]) -> list[int]:
        """Those that nothing in the blanket separates, and their witnesses if they depend too.

        The strongest first, then all that are left are looked at again.
        """
        left = [(bits, x, given - self.separators[x]) for bits, x, given in strong]
        added: list[int] = []
        while True:
            inseparable: dict[int, Strong] = {}
            for bits, x, witness in left:
                if x in self.blanket or x in inseparable:
                    continue
                if self.separator(x, witness) is None:
                    inseparable[x] = bits, x, witness
            if not inseparable:
                return added
            _, x, witness = max(inseparable.values(), key=lambda one: (one[0], -one[1]))
            left = [one for one in left if one[1] in inseparable and one[1] != x]
            self.blanket[x] = witness
            added.append(x)
            for ally in sorted(witness - self.blanket.keys()):
                rest = (witness - {ally}) | {x}
                if self.depends(ally, rest) and self.separator(ally, rest) is None:
                    self.blanket[ally] = rest
                    added.append(ally)

    def grow(self, order: int | None) -> None:
        if order == 0:
            return
        self.add_inseparable()
        self.add_partners()
        for size in range(1, (self.rules.largest_order if order is None else order) + 1):
            if not self.outside() or len(self.v) <= size:
                return
            self.add_groups(size)
            self.reached = size

    def weakest_first(self) -> list[int]:
        alone = self.alone[self.y]
        return sorted(self.blanket.keys() - self.include, key=lambda x: (alone.get(x, 0), x))

    def has_power(self, x: int, given: Set, witness: Set) -> bool:
        return self.session.can_detect(self.y, x, given, witness, self.rules.share_to_detect)

    def settles(self, x: int, given: Set, witness: Set) -> bool:
        copies = [z for z in given - witness if self.is_copy(x, z)]
        return bool(copies) or self.has_power(x, given, witness)

    def shrink(self, bound: int | None) -> None:
        """The least strong member that the others make independent goes; then all over again."""
        while bound is None or len(self.blanket) <= bound + 1:
            for x in self.weakest_first():
                others = frozenset(self.blanket) - {x}
                if not self.depends(x, others) and self.settles(x, others, self.blanket[x]):
                    del self.blanket[x]
                    self.separators[x] = others
                    break
            else:
                return

    def sure_separator(self, x: int, witness: Set) -> Set | None:
        """Members that undo the dependence of x given its witness, in a test with power."""
        n = len(self.blanket)
        size = min(self.most, n)
        while size > 1 and sum(math.comb(n, i) for i in range(size + 1)) > self.rules.most_sets:
            size -= 1
        for z in subsets(frozenset(self.blanket) - witness - {x}, size):
            if not self.depends(x, witness | z) and self.settles(x, witness | z, witness):
                return z
        return None

    def witness(self, x: int) -> Set | None:
        others = frozenset(self.blanket) - {x}
        pool = self.nearest(x, others)
        size = max(self.reached, self.rules.largest_witness)
        while (
            size > 1
            and sum(math.comb(len(pool), i) for i in range(size + 1)) > self.rules.most_witnesses
        ):
            size -= 1
        first = [self.blanket[x]] if self.blanket[x] <= others else []
        for z in [*first, *subsets(pool, size), others]:
            if self.depends(x, z):
                separator = self.sure_separator(x, z)
                if separator is None:
                    return z
                self.separators[x] = separator | z
        return None

    def find_witnesses(self) -> Witnesses:
        while True:
            found = {x: self.witness(x) for x in sorted(self.blanket)}
            for x in self.include:
                z = found[x]
                if z is not None and self.separator(x, z) is not None:
                    found[x] = None  # only by request
            hidden = [x for x in self.weakest_first() if found[x] is None]
            if not hidden:
                return found
            del self.blanket[hidden[0]]

    def missed(self, bound: int | None) -> int | None:
        """The strongest outside, of equals the first, if it is strong given all members."""
        members, outside = frozenset(self.blanket), self.outside()
        if not members or (bound is not None and len(members) > bound):
            return None
        needed = max(self.single, family_bits(len(outside), self.chance(self.rules.missed_chance)))
        bits = {x: self.session.confirmed(self.y, x, members) for x in outside}
        strong = {x: own for x, own in bits.items() if self.depends(x, members) and own >= needed}
        return first_strongest(strong) if strong else None

    def settle(self, bound: int | None) -> Witnesses:
        """Members by definition, and what they miss; no column comes back twice."""
        returned = set()
        while True:
            self.shrink(bound)
            witnesses = self.find_witnesses()
            x = self.missed(bound)
            if x is None or x in returned:
                return witnesses
            returned.add(x)
            self.blanket[x] = frozenset(self.blanket)

    def exchange(self, members: Witnesses) -> None:
        """Columns in the place of members; both are seen without any condition from then on."""
        gone, come = self.blanket.keys() - members.keys(), members.keys() - self.blanket.keys()
        self.blanket = {x: z for x, z in self.blanket.items() if x in members}
        self.blanket |= dict.fromkeys(come, frozenset())
        self.separators |= dict.fromkeys(gone, frozenset())

    def settle_for(self, determining: int) -> Witnesses:
        """What determines the target is all; the rest is there by request or separated by it."""
        self.separators = {
            x: frozenset({determining}) if x in self.alone[self.y] else frozenset() for x in self.v
        }
        for x in {determining, *self.include}:
            self.separators[x] = self.blanket[x] = frozenset()
        return dict.fromkeys(self.include) | {determining: frozenset()}


def automatic(  # noqa: PLR0913 - a twin takes all that the search takes
    session: DoubtingSession,
    variables: Iterable[int],
    y: int,
    alpha: float | None,
    rules: Rules,
    order: int | None = None,
    bound: int | None = None,
    start: Set = frozenset(),
    include: Set = frozenset(),
    find_determining: Callable[[float], int | None] = lambda needed: None,
    is_copy: Callable[[int, int], bool] = lambda x, z: False,
    exchange: Callable[[Witnesses], Witnesses] = lambda witnesses: witnesses,
) -> tuple[Witnesses, dict[int, Set]]:
    """The members with their witnesses, and what separates the others.

    Whenever members are exchanged for what could replace them, the rest is settled again.
    """
    single = 0.0 if alpha is None else -math.log2(alpha) * (1 - 1e-9)
    most = 3 if bound is None else bound
    v = frozenset(variables) - {y}
    search = Automatic(session, y, v, single, most, rules, start, include, is_copy)
    determining = find_determining(search.needed)
    if determining is not None:
        witnesses = search.settle_for(determining)
    else:
        search.find_neighbours()
        search.find_spouses()
        search.grow(order)
        witnesses = search.settle(bound)
    seen = set[Set]()
    while True:
        members = exchange(witnesses)
        is_changed = members.keys() != search.blanket.keys()
        search.exchange(members)
        if not is_changed or frozenset(members) in seen:
            return members, search.separators
        seen.add(frozenset(members))
        witnesses = search.settle(bound)
