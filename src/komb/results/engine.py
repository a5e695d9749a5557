"""What results ask of the engine, which they do not know.

An explanation, roles or effect sizes need tests, and so data and a session. A result asks whoever
was registered for that when the package was imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from komb.data.encode.codes import Name
    from komb.results.blanket import Blanket
    from komb.results.effects import Effects
    from komb.results.explanation import Explanation
    from komb.results.ranking import Ranking
    from komb.results.roles import Role
    from komb.results.supplement import Supplement
    from komb.search.structure.joined_blankets import Symmetry


class NamedNetwork(NamedTuple):
    """Columns that are joined, what is known of the direction, and groups."""

    edges: list[tuple[Name, Name]]
    directed: set[tuple[Name, Name]]  # from cause to effect
    groups: list[tuple[Name, ...]]


class Engine(Protocol):
    """Answers what a blanket alone cannot tell."""

    def explain(self, blanket: Blanket, data: object) -> Explanation:
        """Say why members are in a blanket; ``data`` is what the caller passed as its table."""
        ...

    def find_roles(self, supplement: Supplement) -> Mapping[Name, Role]:
        """Say what each member is to the target."""
        ...

    def measure_effects(self, supplement: Supplement) -> Effects:
        """Say how much each member tells about the target."""
        ...

    def rank(self, supplement: Supplement) -> Ranking:
        """Order all columns by what they tell about the target."""
        ...

    def join(self, supplements: Sequence[Supplement], symmetry: Symmetry) -> NamedNetwork:
        """Join the blankets of several targets in the same data to a network."""
        ...


_loaders: list[Callable[[], Engine]] = []


def register_engine(load: Callable[[], Engine]) -> None:
    """Say how to get the engine; it is loaded with the first question."""
    _loaders[:] = [load]


def load_engine() -> Engine:
    """Return the engine that was registered."""
    return _loaders[0]()
