"""Data of any kind become a table: how columns are read is said here, once."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypedDict

from komb.data.groups import PREFIX, Groups, check_groups, columns_of, find_blocks, group_columns
from komb.data.inputs import Source, open_source
from komb.data.memory_limit import check_limit
from komb.data.names import Name, check_apart, list_names
from komb.data.options import (
    AUTO,
    DEFAULT_BINS,
    Bins,
    Discretize,
    NaValues,
    ReadOptions,
    TypeOption,
    check_options,
)
from komb.data.stored.dask import check_sight, connect, hold_table, is_dask_frame, need_client
from komb.data.stored.format import CodesOnDisk
from komb.data.table import DiscreteTable, encode_table
from komb.data.weights import (
    FREQUENCY,
    SURVEY,
    WeightColumn,
    Weights,
    check_weights,
    describe_weights,
    read_weights,
    repeated_rows,
    thin,
)
from komb.errors import ParameterError, UnknownNameError


class Reading(TypedDict, total=False):
    """The keywords of :func:`table`, for other functions that take them."""

    types: TypeOption
    missing: str | None
    na_values: NaValues
    discretize: Discretize
    bins: Bins
    groups: Groups
    weights: Weights
    exclude: Iterable[Name]
    target: Name | None
    memory_limit: int | str | None
    cluster: object


def table(
    data: object,
    *,
    types: TypeOption = AUTO,
    missing: str | None = None,
    na_values: NaValues = (),
    discretize: Discretize = None,
    bins: Bins = DEFAULT_BINS,
    groups: Groups = None,
    weights: Weights = None,
    exclude: Iterable[Name] = (),
    target: Name | None = None,
    memory_limit: int | str | None = None,
    cluster: object = None,
) -> DiscreteTable:
    """Read data of any kind into a table, and say how its columns are to be read.

    Every search takes raw data as well; then everything below is found.

    Parameters
    ----------
    data
        A pandas, polars or pyarrow table, a two-dimensional numpy array (its columns are named 0,
        1, ...), a mapping of names to columns, a dataframe of Dask, or a
        :class:`komb.DiscreteTable`, in memory or on disk, whose columns are read already: groups,
        weights, a memory limit and a cluster can be added to it.
    types
        ``"auto"``: the type of each column is found from its values (nominal, ordinal, continuous,
        time, identifier, free text), and what was decided is in ``types`` of the table.
        Identifiers and free text are left out. Types of some columns: ``{"zip": "nominal"}``;
        those of the others are found. ``"strict"``: every distinct value is a level; columns that
        look continuous or have missing values are errors unless ``discretize`` and ``missing``
        provide for them.
    missing
        What to do about missing values: ``"error"``; ``"level"``, they are a level of their own,
        ``None``, the last one; or ``"testwise"``, they are marked, and each test is made on the
        rows that are complete for its columns. If left out, ``"testwise"``; an error with strict
        types. To drop all incomplete rows, do so first, for instance with ``df.dropna()``.
    na_values
        What stands for a missing value, ``[-9, "unknown"]``, or by column, ``{"age": [99]}``,
        besides NaN and null of every library, an empty text, ``NA``, ``N/A``, ``nan``, ``null``,
        ``?`` and ``.``.
    discretize
        How to cut numeric columns into bins. ``None``: tests take columns with many values by
        their ranks or by bins of equally many rows. ``"quantile"`` (equally many rows per bin),
        ``"uniform"`` (bins of one width), ``"kmeans"`` (around clusters) or ``"mdl"`` (where the
        levels of the target change; as many bins as pay, Fayyad & Irani 1993): all columns of
        numbers that look continuous or have more than 20 distinct values. Or a mapping from columns
        to one of those or to ascending cut points, ``{"age": [18, 65]}``; the ``cuts`` of a table
        or blanket are one. A value on a cut point is in the bin above it; infinite values, and
        those outside of what was seen, are in the outermost bins.
    bins
        Into how many bins, for all columns or by column (4 where not named). There may be fewer
        where many rows have one value.
    groups
        Columns that are tested and reported as one, by the name of the group: ``{"gene A": ["rs1",
        "rs2"]}``. ``"prefix"`` finds one-hot blocks by the names of their columns: ``colour_red``
        and ``colour_blue`` become ``colour``.
    weights
        Frequencies: the name of a column, or one number per row. A weight of 2 is that row twice, 0
        leaves it out. ``{"w": "survey"}`` or ``{"survey": numbers}``: weights of a survey, by which
        rows are drawn.
    exclude
        Names of columns to leave out; they are not looked at, whatever they hold.
    target
        The column that will be searched for: by its levels ``"mdl"`` cuts, and ``"prefix"`` takes
        it into no group.
    memory_limit
        How much memory reading may take, or a search of a table on disk: bytes, or text such as
        ``"2 GB"``. A table on disk that needs more is counted piece by piece. If left out, what
        the environment variable ``KOMB_MEMORY_LIMIT`` says, or else half of what is free.
    cluster
        A Dask cluster that counts for searches of the table: a ``distributed.Client`` or the
        address of a scheduler. A dataframe of Dask, and a table on disk beyond the memory limit,
        are counted where they are; for those, the active client of Dask is used if this is left
        out.

    Returns
    -------
    DiscreteTable
        With levels in natural order; categories keep theirs.

    Raises
    ------
    komb.errors.InputError
        If anything passed in cannot be used.

    Examples
    --------
    >>> people = {"age": [15, 30, None, 70, 42], "sex": ["f", "m", "f", "f", "m"]}
    >>> cut = table(people, discretize={"age": [18, 65]}, missing="level")
    >>> cut.levels[0], cut.column("age")[:3]
    (('< 18', '18 to 65', '>= 65', None), ['< 18', '18 to 65', None])
    >>> table(people, weights=[2, 1, 1, 0, 3]).n_rows
    7
    """
    columns = None if groups is None else check_groups(groups)
    weighing = None if weights is None else check_weights(weights)
    known = data.reading.get("exclude", ()) if isinstance(data, DiscreteTable) else ()
    left_out = [name for name in list_names("exclude", exclude) if name not in known]
    if not isinstance(target, Hashable):
        rule, shown = "be the name of a column", f"a {type(target).__name__}"
        remedy = "Put its values into the table as a column and pass that column's name."
        raise ParameterError.because("target", rule, target, remedy, shown=shown)
    targets = [] if target is None else [target]
    grouped = columns_of(columns) if columns else ()
    weighed = weighing.names if weighing else ()
    named = {"exclude": left_out, "groups": grouped, "weights": weighed}
    check_apart(named, {"target": targets})
    options = check_options(
        discretize, bins, missing, types, na_values, exclude=left_out, target=target
    )
    if memory_limit is not None:
        check_limit(memory_limit)
    connection = connect(cluster, data)
    if is_dask_frame(data):
        _refuse_parts("a dataframe of Dask", groups, weights)
        return note_excluded(hold_table(need_client(connection), data, options), left_out)
    if isinstance(data, DiscreteTable) and isinstance(data.parts, CodesOnDisk):
        parts = data.parts.limited(memory_limit)
        if connection is not None:
            check_sight(connection.client, parts.path)
        data = replace(data, parts=parts)
    source = data if isinstance(data, DiscreteTable) else open_source(data)
    _check_names("target", targets, source)
    found = note_excluded(_read(source, options, columns, weighing, memory_limit), left_out)
    return found if connection is None else replace(found, connection=connection)


def _check_names(parameter: str, wanted: Iterable[Name], data: DiscreteTable | Source) -> None:
    """Raise if a parameter names a column that is not there."""
    for name in wanted:
        if name not in data.names:
            raise UnknownNameError.among("column", name, data.names, parameter)


def note_excluded(found: DiscreteTable, left_out: Collection[Name]) -> DiscreteTable:
    """Have a table know which columns were left out, so that others can be read like it."""
    known = tuple(found.reading.get("exclude", ()))
    new = tuple(name for name in dict.fromkeys(left_out) if name not in known)
    return replace(found, reading={**found.reading, "exclude": known + new}) if new else found


def _read(
    data: DiscreteTable | Source,
    options: ReadOptions,
    groups: Mapping[Name, tuple[Name, ...]] | str | None,
    weights: WeightColumn | None,
    memory_limit: int | str | None,
) -> DiscreteTable:
    """Read data by options that are checked: weights, then codes, then groups."""
    if groups is None and weights is None:
        return encode_table(data, options)
    if groups is not None:
        _check_names("groups", columns_of(groups), data)
    data, numbers = _load(data, groups, weights), None
    if weights is not None:
        _check_names("weights", weights.names, data)
        numbers = read_weights(data, weights)
        options = replace(options, exclude=[*options.exclude, *weights.names])
        if weights.kind == FREQUENCY:
            rows = repeated_rows(numbers, len(data.names), memory_limit)
            data = data.take(rows) if isinstance(data, DiscreteTable) else data.repeated(rows)
    found = encode_table(data, options)
    apart = () if options.target is None else (options.target,)
    blocks = find_blocks(found, apart) if groups == PREFIX else groups
    assert not isinstance(blocks, str)
    said: dict[str, Any] = {}
    if blocks:
        found = group_columns(found, blocks)
        said["groups"] = {**found.groups, **blocks}
    notes = {}
    if weights is not None and numbers is not None:
        if weights.kind == SURVEY:
            found = found.take(thin(found, numbers))
        said["weights"] = weights.describe()
        notes["rows"] = describe_weights(weights.kind, numbers, found.n_rows)
    return replace(found, reading={**found.reading, **said}, notes={**found.notes, **notes})


def _load(
    data: DiscreteTable | Source, groups: object, weights: WeightColumn | None
) -> DiscreteTable | Source:
    """Return data whose rows and columns can be changed, or say why they cannot."""
    if isinstance(data, DiscreteTable) and not data.is_in_memory:
        _refuse_parts(f"a table {data.parts.where}", groups, weights)
    if isinstance(data, DiscreteTable) and weights is not None and data.reading.get("weights"):
        rule, remedy = "be left out for a table that has weights already", "Leave them out."
        raise ParameterError.because("weights", rule, weights.describe(), remedy)
    return data


def _refuse_parts(what: str, groups: object, weights: object) -> None:
    """Raise if columns or rows are to be changed that are counted part by part."""
    for parameter, value in (("groups", groups), ("weights", weights)):
        if value is not None:
            rule = f"be left out for {what}, which is counted part by part"
            remedy = "Raise the memory limit, or take part of the data into memory first."
            raise ParameterError.because(parameter, rule, value, remedy)
