"""Feature selection for scikit-learn: keep the Markov blanket of ``y``, drop the rest.

>>> from komb import MarkovBlanketSelector
>>> import pandas as pd
>>> X = pd.DataFrame({
...     "hall": ["up", "up", "down", "down"] * 25,
...     "stairs": ["up", "down", "up", "down"] * 25,
...     "weather": ["sun", "sun", "sun", "rain", "rain"] * 20,
... })
>>> y = ["off", "on", "on", "off"] * 25
>>> MarkovBlanketSelector().fit(X, y).get_feature_names_out().tolist()
['hall', 'stairs']

Nothing is encoded or searched here: the selector makes one table of ``X`` and ``y``, copying
neither, and asks :func:`komb.markov_blanket`.
"""

# ruff: noqa: N803, N806 - X is what scikit-learn calls a table of features

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn, Self, cast

import narwhals as nw
import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags, check_array
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import (
    assert_all_finite,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from komb.api.find import markov_blanket
from komb.api.options import DEFAULT_LEVEL, DEFAULTS, TestOption
from komb.data.arrange.plan import Groups, Weights
from komb.data.encode.codes import Array, Levels, Name
from komb.data.encode.column_errors import and_more
from komb.data.encode.treatment import DEFAULT_BINS, DEFAULT_MISSING, Bins, Discretize
from komb.data.knowledge import Knowledge
from komb.data.table import DiscreteTable
from komb.errors import (
    Argument,
    ContinuousColumnError,
    DataError,
    MissingValuesError,
    ParameterError,
    UnknownNameError,
)

_FEW_ROWS = 40  # from here on the number of rows no longer decides what counts as continuous
_NOTHING_SELECTED = (
    "No features were selected: no column was found to depend on y. Members can hide in larger "
    "combinations (raise 'order'), or the tests may be too strict (raise 'alpha')."
)


class MarkovBlanketSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Select the features in the Markov blanket of the target, for scikit-learn.

    The blanket is the smallest set of features that makes all others irrelevant for ``y``. Features
    that matter only in combination, such as the inputs of an exclusive or, are found as well.

    Parameters
    ----------
    method, order, max_separator, max_conditioning, level, alpha, test, df
        As in :func:`komb.markov_blanket`.
    start, include, exclude
        As in :func:`komb.markov_blanket`: features to start from (or the name of a method), those
        that are selected in any case, and those that are never selected nor looked at. Text is the
        name of a feature, an integer its position; without names, features are called
        ``"x0"``, ``"x1"``, ... as everywhere in scikit-learn.
    given
        As in :func:`komb.markov_blanket`: features that every test holds fixed, and that are never
        selected.
    groups
        As in :func:`komb.markov_blanket`: features that are tested as one. If a group is in the
        blanket, all of its features are selected.
    knowledge
        As in :func:`komb.markov_blanket`, with the names of features, of groups, and of the target
        (see ``blanket_``).
    weights
        As in :func:`komb.markov_blanket`: a feature that holds weights, which is never selected.
        Weights that are no feature are passed to :meth:`fit`.
    discretize, bins
        As in :func:`komb.markov_blanket`: how to cut features of numbers into bins for the search.
        A continuous ``y`` is cut as well, except by ``"mdl"``, which needs classes to cut by; in a
        mapping it goes by its name (see ``blanket_``). ``discretize=other.blanket_.cuts``
        cuts where another selector did. Off by default: a continuous column is an error.
    missing
        As in :func:`komb.markov_blanket`: what to do about missing values in ``X``. There must be
        none in ``y``.
    seed, time_budget
        As in :func:`komb.markov_blanket`. (For ``stability`` call that: it selects nothing.)
    handle_unknown : {"error", "ignore"}
        What :meth:`transform` does about a level of a selected feature that was not there when the
        selector was fitted: refuse it, or pass it on unchecked. Features that were cut into levels
        have no unknown ones.

    Attributes
    ----------
    blanket_ : komb.Blanket
        Which features were selected and why, and in ``blanket_.cuts`` where features were cut. Its
        target has the name of ``y``, or ``"y"`` if that has none; an underscore is added while
        there is a feature of that name.
    levels_ : dict
        The known levels of each selected feature that was not cut.
    n_features_in_ : int
        Number of features seen by :meth:`fit`.
    feature_names_in_ : ndarray
        Their names; only if ``X`` has names that are all text.

    See Also
    --------
    komb.markov_blanket : The same for a column of a table.

    Notes
    -----
    Values are passed on as they came, neither encoded nor cut. ``X`` can be a pandas, polars or
    pyarrow table or an array; it must be dense. The answer depends on nothing but data and
    parameters. If nothing is selected, :meth:`transform` warns and returns no columns.

    Examples
    --------
    The second and the third of six coins decide, but only both together:

    >>> import numpy as np
    >>> from komb import MarkovBlanketSelector
    >>> X = np.random.default_rng(0).integers(0, 2, (300, 6))
    >>> y = X[:, 1] ^ X[:, 2]
    >>> selector = MarkovBlanketSelector(order=1).fit(X, y)
    >>> selector.get_support()
    array([False,  True,  True, False, False, False])
    >>> selector.transform(X).shape
    (300, 2)
    >>> selector.blanket_["x1"].witness
    ('x2',)
    """

    def __init__(
        self,
        *,
        method: str = "auto",
        order: int | None = None,
        max_separator: int | None = None,
        max_conditioning: int | None = None,
        level: float = DEFAULT_LEVEL,
        alpha: float | None = None,
        test: TestOption = "auto",
        df: str = "observed",
        start: Iterable[Name] | str = (),
        include: Iterable[Name] = (),
        exclude: Iterable[Name] = (),
        given: Iterable[Name] = (),
        groups: Groups = None,
        knowledge: Knowledge | Mapping[str, Any] | None = None,
        weights: Weights = None,
        discretize: Discretize = None,
        bins: Bins = DEFAULT_BINS,
        missing: str = DEFAULT_MISSING,
        seed: int = 0,
        time_budget: float | None = None,
        handle_unknown: str = "error",
    ) -> None:
        self.method = method
        self.order = order
        self.max_separator = max_separator
        self.max_conditioning = max_conditioning
        self.level = level
        self.alpha = alpha
        self.test = test
        self.df = df
        self.start = start
        self.include = include
        self.exclude = exclude
        self.given = given
        self.groups = groups
        self.knowledge = knowledge
        self.weights = weights
        self.discretize = discretize
        self.bins = bins
        self.missing = missing
        self.seed = seed
        self.time_budget = time_budget
        self.handle_unknown = handle_unknown

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the Markov blanket of ``y`` among the columns of ``X``.

        Parameters
        ----------
        X
            The features, shape ``(n_samples, n_features)``.
        y
            The target, a value for each sample: text, numbers, booleans.
        sample_weight
            A weight above 0 for each sample: whole numbers are frequencies, so that a sample stands
            for that many equal ones; others are the weights of a survey.

        Returns
        -------
        MarkovBlanketSelector
            Itself.

        Raises
        ------
        komb.errors.InputError
            A ``ValueError``: if data or parameters cannot be used.
        """
        self._check_handle_unknown()
        label = _name_of(y)
        X = self._validate(X, reset=True, min_samples=2)
        names = self._feature_names()
        target = _free_name(label, names)
        y = self._validate_target(y, target)
        check_consistent_length(X, y)
        columns = dict(zip(names, _columns_of(X), strict=True))
        given = self.get_params(deep=False)
        options = {name: value for name, value in given.items() if name in DEFAULTS}
        groups = options["groups"] if isinstance(options["groups"], Mapping) else {}
        for name in ("start", "include", "exclude", "given"):
            options[name] = _to_names(name, options[name], names, *groups)
        if groups:
            options["groups"] = {
                group: _to_names("groups", columns, names) for group, columns in groups.items()
            }
        if isinstance(options["weights"], int | np.integer | Mapping):
            options["weights"] = _weights_by_name(options["weights"], names)
        if sample_weight is not None:
            options["weights"] = self._add_weights(columns, sample_weight, target)
        for name in ("discretize", "bins"):
            options[name] = _to_names(name, options[name], names, target)
        self.blanket_ = markov_blanket({**columns, target: y}, target, **options)
        found: Mapping[str, tuple[str, ...]] = self.blanket_.parameters.get("groups", {})
        self._grouped = {name: group for group, columns in found.items() for name in columns}
        self.levels_ = {
            name: self._levels_of(name, column)
            for name, column in self._selected(X).items()
            if name not in self.blanket_.cuts
        }
        return self

    def transform(self, X: Any) -> Any:
        """Keep the selected columns.

        Parameters
        ----------
        X
            The features, with the columns that :meth:`fit` saw.

        Returns
        -------
        array or dataframe
            The selected columns as they came: an array, or the kind of table that
            :meth:`set_output` asks for.

        Raises
        ------
        komb.errors.InputError
            A ``ValueError``: with ``handle_unknown="error"``, if a selected feature has a level
            that was not there in :meth:`fit`.
        """
        check_is_fitted(self)
        self._check_handle_unknown()
        X = self._validate(X, reset=False)
        if not self.get_support().any():
            warnings.warn(_NOTHING_SELECTED, UserWarning, stacklevel=3)
        elif self.handle_unknown == "error":
            self._check_levels(X)
        kept = self.get_support(indices=True)
        if not nw.dependencies.is_into_dataframe(X):
            return X[:, kept]
        if not kept.size:  # tables without columns tend to forget how many rows they have
            return np.empty((X.shape[0], 0))
        return self._pack(nw.from_native(X, eager_only=True)[:, kept.tolist()])

    def _pack(self, frame: nw.DataFrame[Any]) -> Any:
        """Turn the selected columns of a table into what the caller wants to have."""
        container = _get_output_config("transform", estimator=self)["dense"]
        if container == "default":
            native = frame.to_native()
            return check_array(native, dtype=None, ensure_all_finite=self._finite())
        if container == "pandas":
            return frame.to_pandas()
        return frame.to_polars()

    def _get_support_mask(self) -> npt.NDArray[np.bool_]:
        check_is_fitted(self)
        members = set(self.blanket_.members)
        home = self._grouped
        return np.array([home.get(name, name) in members for name in self._feature_names()])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = self.missing != "error"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _add_weights(self, columns: dict[str, Any], sample_weight: Any, target: str) -> str:
        """Put weights into the table, and return their name there."""
        if self.weights is not None:
            rule = "be left out where 'fit' gets 'sample_weight'"
            raise ParameterError.because("weights", rule, self.weights, "Leave out one of them.")
        values: Array = column_or_1d(sample_weight, warn=True)
        name = _free_name("sample_weight", [*columns, target])
        columns[name] = values
        check_consistent_length(*columns.values())
        return name

    def _finite(self) -> bool | str:
        return "allow-nan" if self.__sklearn_tags__().input_tags.allow_nan else True

    def _feature_names(self) -> list[str]:
        known = getattr(self, "feature_names_in_", None)
        return [f"x{i}" for i in range(self.n_features_in_)] if known is None else list(known)

    def _validate(self, X: Any, *, reset: bool, min_samples: int = 1) -> Any:
        """Check everything but values; tables stay what they are, all else becomes an array."""
        if not nw.dependencies.is_into_dataframe(X):
            return validate_data(
                self, X, reset=reset, dtype=None, ensure_all_finite=self._finite(),
                ensure_min_samples=min_samples,
            )  # fmt: skip
        _check_distinct(getattr(X, "column_names", None) or list(X.columns))
        validate_data(self, X, reset=reset, skip_check_array=True)
        for minimum, count, noun in zip(
            (min_samples, 1), X.shape, ("sample", "feature"), strict=True
        ):
            if count < minimum:
                raise DataError(
                    f"Found a table with {count} {noun}(s) (shape={X.shape}) while a minimum of "
                    f"{minimum} is required by {type(self).__name__}.",
                    parameter="X",
                    value=X.shape,
                )
        return X

    def _validate_target(self, y: Any, name: str) -> Array:
        if y is None:
            message = f"{type(self).__name__} requires y to be passed, but the target y is None."
            raise DataError(message, parameter="y")
        values: Array = column_or_1d(y, warn=True)
        if values.dtype.kind == "f":
            assert_all_finite(values, input_name="y", estimator_name=type(self).__name__)
        levels = self._target_levels(values, name)
        if len(levels) < 2:
            shown = f"one class, {levels[0]!r}, in all {len(values)} samples"
            remedy = "Choose another target, or samples in which it varies."
            raise DataError.because("y", "have at least 2 classes", levels, remedy, shown=shown)
        return values

    def _target_levels(self, y: Array, name: str) -> Levels:
        """Encode the target on its own, so that what is wrong with it is said of ``y``."""
        discretize = _share(self.discretize, name, None)
        bins = DEFAULT_BINS if discretize is None else _share(self.bins, name, DEFAULT_BINS)
        try:
            return DiscreteTable.from_data(
                {name: y}, discretize=discretize, bins=bins, target=name
            ).levels[0]
        except ContinuousColumnError:
            raise ContinuousColumnError(
                f"Unknown label type: 'y' must hold classes; got {len(set(y.tolist())):,} distinct "
                f"values in {len(y):,} samples, not all of them whole numbers.",
                (
                    "Cut it into classes first, or let it be cut along with X: ",
                    Argument("discretize", "quantile"),
                    ".",
                ),
                parameter="y",
            ) from None
        except MissingValuesError as error:
            remedy = "Leave out the samples that have none, in X too."
            raise MissingValuesError.because(
                "y", "have no missing values", error.value, remedy
            ) from None

    def _selected(self, X: Any) -> dict[str, Any]:
        """Return the selected columns by name."""
        names = self._feature_names()
        columns = _columns_of(X)
        return {names[i]: columns[i] for i in self.get_support(indices=True)}

    def _levels_of(self, name: str, column: Any) -> Levels:
        """Encode a selected column as it was for the search."""
        cuts = self.blanket_.cuts
        discretize = {name: cuts[name]} if name in cuts else None
        data = {name: column}
        try:
            table = DiscreteTable.from_data(data, discretize=discretize, missing=self.missing)
            return table.levels[0]
        except MissingValuesError:
            if self.missing == "error":
                raise
            return (None,)  # nothing but missing values, which is no fault of a few new rows

    def _check_levels(self, X: Any) -> None:
        """Raise if a selected feature has a level that it did not have before."""
        for name, column in self._selected(_twice_if_short(X)).items():
            found = self._levels_of(name, column)  # refuses missing values if fit did
            known = self.levels_.get(name, found)  # any number is in some bin of a column
            passing = {*known, None} if self.missing == "testwise" else set(known)
            unknown = [level for level in found if level not in passing]
            if unknown:
                _refuse_levels(name, unknown, known)

    def _check_handle_unknown(self) -> None:
        if self.handle_unknown not in ("error", "ignore"):
            rule = "be 'error' or 'ignore'"
            remedy = Argument("handle_unknown", "ignore"), " lets unseen levels pass."
            raise ParameterError.because("handle_unknown", rule, self.handle_unknown, remedy)


def _name_of(y: Any) -> object:
    """Return the name of a series, or of the only column of a table."""
    columns = getattr(y, "columns", None)
    if columns is not None and len(columns) == 1:
        return cast("object", columns[0])
    return getattr(y, "name", None)


def _free_name(name: object, taken: Iterable[str]) -> str:
    """Return a name for the target that no feature has."""
    free = name if isinstance(name, str) and name else "y"
    while free in taken:
        free += "_"
    return free


def _columns_of(X: Any) -> Sequence[Any]:
    """Return the columns of a table or an array, without copying them."""
    if not nw.dependencies.is_into_dataframe(X):
        return cast("Sequence[Any]", X.T)
    return [column.to_native() for column in nw.from_native(X, eager_only=True).iter_columns()]


def _twice_if_short(X: Any) -> Any:
    """Repeat the rows of a short table.

    Whether fractions are levels or measurements depends on how many there are for the rows. What
    was a level in :meth:`fit` is one in a table of three rows as well.
    """
    n_rows = X.shape[0]
    if n_rows >= _FEW_ROWS:
        return X
    rows = list(range(n_rows)) * 2
    if not nw.dependencies.is_into_dataframe(X):
        return X[rows]
    return nw.from_native(X, eager_only=True)[rows, :].to_native()


def _share(option: Any, name: str, default: Any) -> Any:
    """Return what an option for some columns or for all has to say about one of them."""
    if not isinstance(option, Mapping):
        return option
    return {name: option[name]} if name in option else default


def _to_names(parameter: str, chosen: Any, names: Sequence[str], *others: str) -> Any:
    """Replace positions by names; whatever else is wrong is found where names are checked."""
    if isinstance(chosen, Mapping):
        known = [*names, *others]
        return {_to_name(parameter, key, known, names): rule for key, rule in chosen.items()}
    if isinstance(chosen, str | bytes) or not isinstance(chosen, Iterable):
        return chosen
    known = [*names, *others]
    return [_to_name(parameter, column, known, names) for column in chosen]


def _weights_by_name(weights: Any, names: Sequence[str]) -> Any:
    """Replace the position of a feature that holds weights by its name."""
    if isinstance(weights, Mapping):
        return {_to_name("weights", name, names, names): kind for name, kind in weights.items()}
    return _to_name("weights", weights, names, names)


def _to_name(parameter: str, column: object, known: Sequence[str], names: Sequence[str]) -> str:
    if isinstance(column, int | np.integer) and not isinstance(column, bool):
        if -len(names) <= column < len(names):
            return names[int(column)]
        rule = f"hold names, or positions below {len(names)}, the number of features"
        remedy = "Positions are counted from 0."
        raise ParameterError.because(parameter, rule, column, remedy)
    if column not in known:
        raise UnknownNameError.among("feature", column, known, parameter)
    return cast("str", column)


def _check_distinct(names: Sequence[Name]) -> None:
    repeated = [f"{name!r} ({count} times)" for name, count in Counter(names).items() if count > 1]
    if repeated:
        rule, remedy = "have distinct column names", "Rename or drop all but one of each."
        raise DataError.because("X", rule, repeated, remedy, shown=and_more(repeated))


def _refuse_levels(name: str, unknown: Sequence[object], known: Levels) -> NoReturn:
    raise DataError(
        f"Found unknown levels in feature {name!r} during transform: "
        f"{and_more(map(repr, unknown))}; fit saw {and_more(map(repr, known))}.",
        (
            "Correct them, fit on data that has them, or let them pass: ",
            Argument("handle_unknown", "ignore"),
            ".",
        ),
        parameter="X",
        value=unknown,
    )
