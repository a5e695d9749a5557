"""Memory in which kernels of the test on features work, one for each thread."""

from __future__ import annotations

import numpy as np

from komb.engine.kernels import gram as kernels
from komb.engine.kernels.tiles import padded
from komb.engine.records import Record


class Work:
    """Memory that is used again and again, and grows with what it is needed for.

    Parameters
    ----------
    n_blocks, length : int
        Blocks of rows, at most, and how long they are.

    Attributes
    ----------
    record : Record
        What kernels see. What they leave there is of use until the next one is called.
    """

    record: Record

    def __init__(self, n_blocks: int, length: int) -> None:
        self._n_blocks, self._length = n_blocks, length
        self._sizes = {
            "n_own": 0, "n_first": 0, "n_terms": 0, "n_curves": 0, "n_features": 0, "n_functions": 0
        }  # fmt: skip
        self.make_room(n_own=1)

    def make_room(self, **sizes: int) -> None:
        """See to it that there is room for so many features, terms, curves or functions."""
        if any(size > self._sizes[name] for name, size in sizes.items()):
            self._sizes |= {name: max(size, self._sizes[name]) for name, size in sizes.items()}
            self.record = self._make(**self._sizes)

    def _make(
        self,
        n_own: int,  # features of a target, or of a candidate
        n_first: int,  # features of a target of degree 1
        n_terms: int,  # products of functions of conditions
        n_curves: int,
        n_features: int,  # of a candidate, with products
        n_functions: int,  # what products are made of
    ) -> Record:
        """Return a record with so much room."""
        own, terms, curves = padded(n_own), padded(n_terms), padded(n_curves)
        features, pairs = padded(n_features), padded(n_own * (n_own + 1) // 2)
        n_crossed, largest = n_first * (n_first + 1) // 2, max(terms, curves, features, own)
        blocks, length = self._n_blocks, self._length
        spreads = kernels.MOST_SPREAD_FUNCTIONS
        arrays = {
            # rows of all blocks, or of one
            "own": (blocks, own, length), "curves": (blocks, curves, length),
            "functions": (n_functions, length), "products": (max(terms, features), length),
            "fit": (own, length), "left": (features, length), "scaled": (features, length),
            "pairs": (pairs, length),
            # scalar products, and coefficients that follow from them
            "gram": (largest, largest), "term_squares": (largest,), "sums": (own, largest),
            "weights": (largest, terms + curves), "own_gram": (own, own),
            "own_inverse": (own, own), "fitted": (own, terms), "squares": (own,),
            "predicted": (own,), "curve_fit": (curves, terms), "curve_inverse": (curves, curves),
            "curve_weights": (curves, curves), "curve_own": (own, curves),
            "feature_inverse": (features, features), "own_spreads": (pairs, spreads),
            "crossed": (n_crossed, features, features), "own_covariances": (pairs, pairs),
        }  # fmt: skip
        return Record(
            **{name: np.zeros(shape) for name, shape in arrays.items()},
            is_chosen=np.zeros(terms, np.bool_),
            is_left=np.zeros(own, np.bool_),
        )
