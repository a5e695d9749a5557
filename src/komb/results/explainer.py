"""Who explains a blanket: the engine, which a result does not know.

An explanation needs tests, and so data and a session. A result asks the function that was
registered for that when the package was imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from komb.data.table import DiscreteTable
    from komb.results.blanket import Blanket
    from komb.results.explanation import Explanation


class Explainer(Protocol):
    """Explains a blanket by tests on its data."""

    def __call__(
        self,
        blanket: Blanket,
        table: DiscreteTable | None,
        data: object,
        test: Callable[..., Any] | None,
    ) -> Explanation:
        """Explain a blanket.

        Parameters
        ----------
        blanket
            What to explain.
        table
            The table that the search left with the blanket, if there is one.
        data
            What the caller passed as the data of the blanket; ``None`` for ``table``.
        test
            A test of the user's own that the search used; ``None`` if its name is known.
        """


_loaders: list[Callable[[], Explainer]] = []


def register_explainer(load: Callable[[], Explainer]) -> None:
    """Say how to get the explainer; it is loaded with the first explanation."""
    _loaders[:] = [load]


def load_explainer() -> Explainer:
    """Return the explainer that was registered."""
    return _loaders[0]()
