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
from dataclasses import replace
from itertools import accumulate
from typing import Any, NoReturn, Self, cast

import joblib
import narwhals as nw
import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
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
from komb.api.options import TestOption, check_known
from komb.api.run import Run
from komb.citests.registry import TESTS
from komb.data.checks import check_count
from komb.data.kinds import CONTINUOUS, NOMINAL, ORDINAL
from komb.data.levels import Array, Levels
from komb.data.names import Name
from komb.data.options import AUTO, DEFAULT_BINS, MDL, STRICT, TypeOption
from komb.data.problems import FEW_LEVELS, and_more
from komb.data.reading import Reading
from komb.data.reading import table as read_table
from komb.data.stored.dask import is_dask_frame
from komb.data.table import DiscreteTable
from komb.data.weights import SURVEY
from komb.describe.predictors import ANY_LEVEL, find_predictors, order_members
from komb.errors import (
    Argument,
    ContinuousColumnError,
    DataError,
    MissingValuesError,
    ParameterError,
    UnknownNameError,
)
from komb.search import algorithms
from komb.search.registry import ALGORITHMS

_SEARCH = ("method", "order", "max_separator", "alpha", "test", "include", "exclude")
"""Parameters that are keywords of the search."""

PREDICTION, BLANKET = "prediction", "blanket"
"""What to select for."""

_NOTHING_SELECTED = (
    "No features were selected: no column was found to depend on y. Members can hide in larger "
    "combinations (raise 'order'), or the tests may be too strict (raise 'alpha'). To keep the "
    "best columns in any case, set 'min_features'."
)


class MarkovBlanketSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Select the features in the Markov blanket of the target, for scikit-learn.

    The blanket is the smallest set of features that makes all others irrelevant for ``y``. Features
    that matter only in combination, such as the inputs of an exclusive or, are found as well. With
    ``goal="prediction"`` features are added that have some evidence left given all selected ones:
    weak effects that cannot be proven, and help to predict all the same.

    Parameters
    ----------
    method, order, max_separator, alpha, test
        As in :func:`komb.markov_blanket`.
    include, exclude
        As in :func:`komb.markov_blanket`: features that are selected in any case, and those that
        are never selected nor looked at. Text is the name of a feature, an integer its position;
        without names, features are called ``"x0"``, ``"x1"``, ... as everywhere in scikit-learn.
    options
        Other keywords of :func:`komb.markov_blanket`, by name: ``{"level": 0.01, "given": ["age"],
        "knowledge": ..., "time_budget": 60, "df": "adjusted"}``. Features in ``given`` are held
        fixed in every test and never selected.
    reading
        How columns are read, keywords of :func:`komb.table` by name: ``{"types": {"zip":
        "nominal"}, "missing": "level", "groups": {"gene A": ["rs1", "rs2"]}}``. Types are found if
        it is left out. If a group is in the blanket, all of its features are selected. The target
        goes by its name (see ``blanket_``). Weights are passed to :meth:`fit`.
    goal : {"blanket", "prediction"}
        What to select for. ``"blanket"``: the members of the blanket, each of them proven. For
        ``"prediction"`` features are added one by one, each time the one with most evidence given
        all selected ones, as long as no more than half of those added are expected to be false
        (Benjamini & Hochberg 1995) and no more than half of all features are selected. Nothing is
        added if the p-values of all others together are what chance gives (Fisher 1932, at level
        0.2), if the blanket is empty, or on more than 20,000 samples, where a blanket has what is
        worth having. ``added_`` says what was.
    min_features : int
        How many features to keep at least. Where fewer are selected, those with the highest
        ``scores_`` are added; identifiers, free text, excluded and given features never are.
    max_features : int, optional
        How many features to keep at most: the first ones in the order in which they enter. These
        are members as :meth:`komb.Blanket.ranking` has them, then those that are added. So a
        smaller number keeps some of what a larger one keeps. What ``include`` names is kept.
    handle_unknown : {"ignore", "error"}
        What :meth:`transform` does about a level of a selected feature that was not there when the
        selector was fitted: pass it on, for selecting needs no levels, or refuse it. Features that
        were cut into bins have no unknown levels.

    Attributes
    ----------
    blanket_ : komb.Blanket
        Which features were selected and why, and in ``blanket_.cuts`` where features were cut. Its
        target has the name of ``y``, or ``"y"`` if that has none; an underscore is added while
        there is a feature of that name.
    added_ : tuple of str
        The features, or groups of them, that are selected and not in the blanket, in the order in
        which they were added.
    scores_ : ndarray
        For each feature the evidence that it depends on ``y``, in bits (a p-value of 2^-b counts as
        b): of a member given its witness, of any other feature marginally. 0 for features that were
        left out.
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
    pyarrow table or an array. A sparse matrix of counts or of zeros and ones is searched column by
    column, with a byte for each value; it stays sparse in ``transform``. The answer depends on
    nothing but data and parameters. If nothing is selected, :meth:`transform` warns and returns no
    columns, which most models refuse; ``min_features=1`` keeps the best column instead. Options
    that the method has no use for are ignored here, unlike in :func:`komb.markov_blanket`, so that
    a grid search can try several methods at once.

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
        alpha: float | None = None,
        test: TestOption = "auto",
        include: Iterable[Name] = (),
        exclude: Iterable[Name] = (),
        options: Mapping[str, Any] | None = None,
        reading: Mapping[str, Any] | None = None,
        goal: str = BLANKET,
        min_features: int = 0,
        max_features: int | None = None,
        handle_unknown: str = "ignore",
    ) -> None:
        self.method = method
        self.order = order
        self.max_separator = max_separator
        self.alpha = alpha
        self.test = test
        self.include = include
        self.exclude = exclude
        self.options = options
        self.reading = reading
        self.goal = goal
        self.min_features = min_features
        self.max_features = max_features
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
            A weight for each sample. Whole numbers are frequencies: a sample of weight 2 counts
            twice, one of weight 0 not at all. Others are the weights of a survey.

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
        self._check_goal()
        fewest = check_count("min_features", self.min_features)
        most = self.max_features
        if most is not None:
            most = check_count("max_features", most, max(1, fewest))
        label = _name_of(y)
        X = self._validate(X, reset=True, min_samples=2)
        names = self._feature_names()
        target = _free_name(label, names)
        y = self._validate_target(y, target)
        check_consistent_length(X, y)
        columns = dict(zip(names, _columns_of(X), strict=True))
        search = self._search(names)
        table = read_table(
            {**columns, target: y}, exclude=search["exclude"], target=target,
            weights=_weights(sample_weight, len(y)), **self._reading(names, target, y),
        )  # fmt: skip
        self.blanket_ = markov_blanket(table, target, **search)
        self._grouped = {name: group for group, parts in table.groups.items() for name in parts}
        run = self.blanket_.run_for("fit")
        self.scores_ = self._score(run)
        selected = self._select(run, fewest, most)
        self.added_ = tuple(name for name in selected if name not in self.blanket_.members)
        self._selected = {*selected}
        self.levels_ = {
            name: table.levels[table.index(name)]
            for name in names
            if name in self._selected and name not in table.cuts
        }
        return self

    def _search(self, names: Sequence[str]) -> dict[str, Any]:
        """Return what to call the search with: names for positions, and what it has no use for out.

        Somebody who searches over methods gives all of them the same options.
        """
        own = {name: getattr(self, name) for name in _SEARCH}
        search = {**own, **_check_mapping("options", self.options)}
        groups = self._groups()
        for name in ("start", "include", "exclude", "given"):
            search[name] = _to_names(name, search.get(name, ()), names, *groups)
        check_known("method", search["method"], algorithms(), "method")
        taken = {option.name for option in algorithms()[search["method"]].options}
        unused = {name for info in algorithms().values() for name in info.defaults} - taken
        return {name: value for name, value in search.items() if name not in unused}

    def _reading(self, names: Sequence[str], target: str, y: Array) -> dict[str, Any]:
        """Return how columns are read: names for positions, and what ``y`` is."""
        reading = dict(_check_mapping("reading", self.reading))
        for name in reading.keys() & {"weights", "exclude", "target"}:
            remedy = "Pass weights to fit, and 'exclude' to the selector."
            raise ParameterError.because("reading", f"not have {name!r}", reading[name], remedy)
        for name in reading:
            check_known("keyword", name, Reading.__annotations__, "reading")
        for name in ("types", "discretize", "bins", "na_values"):
            if isinstance(reading.get(name), Mapping):
                reading[name] = _to_names(name, reading[name], names, target)
        if self._groups():
            groups = self._groups().items()
            reading["groups"] = {name: _to_names("groups", of, names) for name, of in groups}
        reading["types"] = _with_target(reading.get("types", AUTO), target, y)
        return reading

    def _groups(self) -> Mapping[str, Any]:
        groups = _check_mapping("reading", self.reading).get("groups")
        return groups if isinstance(groups, Mapping) else {}

    def _read(self, name: str, default: Any) -> Any:
        """Return how one thing is read."""
        return _check_mapping("reading", self.reading).get(name, default)

    def _home(self, name: str) -> Name:
        """Return the group that a feature is in, or the feature itself."""
        return self._grouped.get(name, name)

    def _score(self, run: Run) -> npt.NDArray[np.float64]:
        """Return the evidence for each feature, or its group, in bits."""
        target = run.data.index(self.blanket_.target)
        engine = replace(run, alpha=ANY_LEVEL).open_engine()
        [marginal] = engine.evidence(target, [(run.candidates(target), frozenset())])
        scores = {run.names[position]: bits for position, bits in marginal.items()}
        scores |= {member.name: member.bits or 0.0 for member in self.blanket_.evidence}
        found = (scores.get(self._home(name), 0.0) for name in self._feature_names())
        return np.array([max(bits, 0.0) for bits in found])

    def _select(self, run: Run, fewest: int, most: int | None) -> list[Name]:
        """Return what to select in the order in which it enters: members, then what is added."""
        blanket, sizes = self.blanket_, Counter[Name](map(self._home, self._feature_names()))
        scores = {
            home: bits
            for name, bits in zip(self._feature_names(), self.scores_.tolist(), strict=True)
            if (home := self._home(name)) in run.names and home not in run.named(run.held)
        }
        chosen = list(blanket.members)
        if most is not None:
            chosen = [run.names[x] for x in order_members(run, blanket)]
        if self.goal == PREDICTION:
            room = self.n_features_in_ // 2 - sum(sizes[name] for name in chosen)
            others = {name: bits for name, bits in scores.items() if name not in chosen}
            chosen += find_predictors(run, blanket, others, sizes, room)
        left = sorted(scores.keys() - chosen, key=lambda x: (-scores[x], run.data.index(x)))
        chosen += left[: max(0, fewest - len(chosen))]
        kept = accumulate(sizes[name] for name in chosen)
        is_in = (most is None or n <= most for n in kept)
        return [x for x, fits in zip(chosen, is_in, strict=True) if fits or x in run.search.include]

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
        if not self._selected:
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
            values = _to_array(frame)
            return check_array(values, dtype=None, ensure_all_finite=self._finite(is_new=True))
        if container == "pandas":
            return frame.to_pandas()
        return frame.to_polars()

    def _get_support_mask(self) -> npt.NDArray[np.bool_]:
        check_is_fitted(self)
        return np.array([self._home(name) in self._selected for name in self._feature_names()])

    def __getstate__(self) -> dict[str, Any]:
        """Take along what a script registered: workers of scikit-learn import komb alone."""
        methods = [info for info in ALGORITHMS.from_outside() if info.name == self.method]
        tests = [info for info in TESTS.from_outside() if info.name == self.test]
        own = joblib.wrap_non_picklable_objects((methods, tests), keep_wrapper=False)
        return {**super().__getstate__(), **({"_registered": own} if methods or tests else {})}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Register what came along, where it is not known yet."""
        methods, tests = state.pop("_registered", ((), ()))
        ALGORITHMS.adopt(methods)
        TESTS.adopt(tests)
        super().__setstate__(state)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._allows_missing()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _allows_missing(self) -> bool:
        missing = self._read("missing", None)
        is_strict = isinstance(self._read("types", AUTO), str) and self._read("types", "") == STRICT
        return bool(missing != "error" and not (is_strict and missing is None))

    def _finite(self, *, is_new: bool = False) -> bool | str:
        """Return what numbers may be; those of new rows are passed on, if missing ones may be."""
        if not self.__sklearn_tags__().input_tags.allow_nan:
            return True
        return False if is_new else "allow-nan"

    def _feature_names(self) -> list[str]:
        known = getattr(self, "feature_names_in_", None)
        return [f"x{i}" for i in range(self.n_features_in_)] if known is None else list(known)

    def _validate(self, X: Any, *, reset: bool, min_samples: int = 1) -> Any:
        """Check everything but values; tables stay what they are, all else becomes an array."""
        X = X.compute() if is_dask_frame(X) else X
        if not nw.dependencies.is_into_dataframe(X):
            return validate_data(
                self, X, reset=reset, dtype=None, accept_sparse="csc",
                ensure_all_finite=self._finite(is_new=not reset), ensure_min_samples=min_samples,
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
        if len(levels) == 1:
            shown = f"one class, {levels[0]!r}, in all {len(values)} samples"
            remedy = "Choose another target, or samples in which it varies."
            raise DataError.because("y", "have at least 2 classes", levels, remedy, shown=shown)
        return values

    def _target_levels(self, y: Array, name: str) -> Levels:
        """Encode the target on its own, so that what is wrong with it is said of ``y``."""
        discretize = _share(self._read("discretize", None), name, None)
        types = _with_target(_share(self._read("types", AUTO), name, AUTO), name, y)
        if discretize == MDL:  # cuts others by the target
            discretize = None
        bins = DEFAULT_BINS
        if discretize is not None:
            bins = _share(self._read("bins", DEFAULT_BINS), name, DEFAULT_BINS)
        try:
            table = DiscreteTable.from_data(
                {name: y, f"{name}_": np.zeros(len(y), np.int8)},  # a column must be left
                types=types, discretize=discretize, bins=bins, missing="error",
            )  # fmt: skip
        except ContinuousColumnError:
            raise ContinuousColumnError(
                f"Unknown label type: 'y' must hold classes; got {len(set(y.tolist())):,} distinct "
                f"values in {len(y):,} samples, not all of them whole numbers.",
                ("Cut it into classes first, or let it be cut: ", Argument("types", "auto"), "."),
                parameter="y",
            ) from None
        except MissingValuesError as error:
            remedy = "Leave out the samples that have none, in X too."
            raise MissingValuesError.because(
                "y", "have no missing values", error.value, remedy
            ) from None
        return table.levels[0] if name in table.names else ()

    def _check_levels(self, X: Any) -> None:
        """Raise if a selected feature has a level that it did not have before."""
        for name, column in zip(self._feature_names(), _columns_of(X), strict=True):
            if name in self.levels_:
                known = self.levels_[name]
                unknown = [level for level in self._levels_of(name, column) if level not in known]
                if unknown:
                    _refuse_levels(name, unknown, known)

    def _levels_of(self, name: str, column: Any) -> Levels:
        """Return the levels of a column; raises if values are missing and may not be."""
        is_strict = self._read("types", AUTO) == STRICT
        missing = (self._read("missing", None) or "testwise") if self._allows_missing() else "error"
        beside = name + "_"  # a column without any value is no table
        table = DiscreteTable.from_data(
            {name: column, beside: np.zeros(len(column), np.int8)},
            types={name: NOMINAL},
            na_values=() if is_strict else _share(self._read("na_values", ()), name, ()),
            missing=missing,
        )
        if name in table.names:
            return table.levels[0]
        return (None,) if missing == "level" else ()

    def _check_goal(self) -> None:
        if self.goal not in (PREDICTION, BLANKET):
            rule = f"be {BLANKET!r} or {PREDICTION!r}"
            remedy = Argument("goal", BLANKET), " selects the members of the blanket alone."
            raise ParameterError.because("goal", rule, self.goal, remedy)

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
    if issparse(X):
        small = X.data.size == 0 or bool(np.isin(X.data, np.arange(256)).all())
        compact = X.astype(np.uint8) if small else X
        return [compact[:, [place]].toarray().ravel() for place in range(X.shape[1])]
    if not nw.dependencies.is_into_dataframe(X):
        return cast("Sequence[Any]", X.T)
    return [column.to_native() for column in nw.from_native(X, eager_only=True).iter_columns()]


def _to_array(frame: nw.DataFrame[Any]) -> Any:
    """Return what becomes an array: the table, or objects where its columns have no type in common.

    Dataframes disagree on what that is for categories and times beside numbers, and some fail.
    """
    kinds = {column.to_numpy().dtype.kind for column in frame.iter_columns()}
    if kinds <= {*"biuf"} or len(kinds) == 1:
        return frame.to_native()
    values = np.empty(frame.shape, dtype=object)
    for place, column in enumerate(frame.iter_columns()):
        values[:, place] = column.to_list()
    return values


def _with_target(types: TypeOption, target: str, y: Array) -> TypeOption:
    """Say that a target of many numbers is no identifier, unless something is said about it."""
    if types != AUTO and not isinstance(types, Mapping):
        return types
    if y.dtype.kind not in "iuf" or np.unique(y).size <= FEW_LEVELS:
        return types
    kind = ORDINAL if bool((y == np.trunc(y)).all()) else CONTINUOUS
    return {target: kind, **(types if isinstance(types, Mapping) else {})}


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


def _check_mapping(parameter: str, value: Mapping[str, Any] | None) -> Mapping[str, Any]:
    if value is not None and not isinstance(value, Mapping):
        remedy = "Write e.g. ", Argument(parameter, {"missing": "level"}), "."
        raise ParameterError.because(parameter, "map keywords to values", value, remedy)
    return value or {}


def _weights(sample_weight: Any, n_samples: int) -> Any:
    """Return weights as a table takes them: whole numbers are frequencies, others of a survey."""
    if sample_weight is None:
        return None
    values: Array = column_or_1d(sample_weight, warn=True)
    if len(values) != n_samples:
        rule = f"have one weight for each of {n_samples:,} samples"
        remedy = "Pass the weights of these samples, in their order."
        shown = f"{len(values):,} weights"
        raise DataError.because("sample_weight", rule, len(values), remedy, shown=shown)
    if not values.any():
        rule, remedy = "not be zero for every sample", "Leave them out if all samples count alike."
        raise DataError.because("sample_weight", rule, 0, remedy)
    is_whole = values.dtype.kind in "iub" or bool((values == np.trunc(values)).all())
    return values if is_whole else {SURVEY: values}


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
