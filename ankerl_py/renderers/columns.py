"""The columns of a table as data, but for the last one (see :mod:`ankerl_py.renderers.remarks`).

Every table of results is made from these, whatever its format: a column gives the raw value of
a result as well as its text, neither of them escaped for anything.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import attrs

from ankerl_py.config import Column
from ankerl_py.renderers.cells import display_width, format_number, plain_text
from ankerl_py.results.measure import Measure
from ankerl_py.results.result import Result

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from ankerl_py.config import Config
    from ankerl_py.units import TimeUnit

__all__ = [
    "TableColumn",
    "TableRow",
    "TableShape",
    "available_measures",
    "table_columns",
    "table_rows",
]

_FREE_COLUMNS = 3
"""Columns of the terminal around a title: the bar and a space on both sides."""

_CONTEXT_WIDTH = 11
"""Least width of a context variable's column."""

Value = Callable[[Result, Result | None], float | str | None]
"""Gives a column's value from a result and its baseline, None where there is no such figure."""


@attrs.frozen
class TableColumn:
    """A column of the table. Columns are equal if they look the same."""

    key: Column | str
    """Which column it is; a text is the name of a context variable."""

    title: str
    """What stands above it, not escaped."""

    width: int
    """Columns of the terminal that it takes, with its bar and a space."""

    precision: int
    """Decimals of its numbers."""

    suffix: str
    """What is put behind its numbers."""

    value: Value = attrs.field(eq=False, repr=False)
    """Gives the value in the unit of the title, None where there is no such figure."""

    def text(self, result: Result, baseline: Result | None) -> str | None:
        """Give the value of a result as text.

        Args:
            result: The result.
            baseline: What it is relative to, None if that is the result itself.

        Returns:
            The text, neither padded nor escaped, or None where there is no such figure.
        """
        value = self.value(result, baseline)
        if value is None or isinstance(value, str):
            return value
        return format_number(value, self.precision) + self.suffix


def available_measures(result: Result) -> frozenset[Measure]:
    """Find what was recorded of a result.

    Args:
        result: The result.

    Returns:
        Its measures, whatever their values are.
    """
    return frozenset(measure for measure in Measure if result.has(measure))


def table_columns(config: Config, available: Collection[Measure]) -> tuple[TableColumn, ...]:
    """List the columns of a table, without the last one that holds the names.

    Args:
        config: The settings of the result to be shown.
        available: Measures that there are. Columns of counters depend on that alone, not on what
            was counted.

    Returns:
        The columns from left to right. They are wide enough for their titles.
    """
    return tuple(
        column
        for column in _all_columns(config, available)
        # A context variable may have the name of a column, and is not hidden with it.
        if not (isinstance(column.key, Column) and column.key in config.hidden_columns)
    )


def _all_columns(config: Config, available: Collection[Measure]) -> Iterator[TableColumn]:
    unit = config.unit
    if config.relative:
        yield _column(Column.RELATIVE, "relative", 11, 1, _relative, suffix="%")
    if config.complexity_n is not None:
        yield _column(Column.COMPLEXITY_N, "complexityN", 14, 0, _complexity_n)
    for name in config.context_columns:
        yield _column(name, name, _CONTEXT_WIDTH, 0, partial(_context, name))
    time_title = f"{config.time_unit.name}/{unit}"
    yield _column(Column.TIME_PER_UNIT, time_title, 22, 2, _time_per_unit)
    yield _column(Column.UNIT_PER_SECOND, f"{unit}/s", 22, 2, _unit_per_second)
    yield _column(Column.ERROR, "err%", 10, 1, _error, suffix="%")
    if config.performance_counters:
        yield from _counter_columns(unit, available)
    yield _column(Column.TOTAL, "total", 12, 2, _total)


def _counter_columns(unit: str, available: Collection[Measure]) -> Iterator[TableColumn]:
    instructions, cycles = Measure.INSTRUCTIONS, Measure.CPUCYCLES
    branches, misses = Measure.BRANCHINSTRUCTIONS, Measure.BRANCHMISSES
    if instructions in available:
        value = partial(_per_unit, instructions)
        yield _column(Column.INSTRUCTIONS, f"ins/{unit}", 18, 2, value)
    if cycles in available:
        yield _column(Column.CYCLES, f"cyc/{unit}", 18, 2, partial(_per_unit, cycles))
    if instructions in available and cycles in available:
        yield _column(Column.IPC, "IPC", 9, 3, partial(_ratio, 1.0, instructions, cycles))
    if branches in available:
        yield _column(Column.BRANCHES, f"bra/{unit}", 17, 2, partial(_per_unit, branches))
    if branches in available and misses in available:
        value = partial(_ratio, 100.0, misses, branches)
        yield _column(Column.BRANCH_MISSES, "miss%", 10, 1, value, suffix="%")


def _column(
    key: Column | str, title: str, width: int, precision: int, value: Value, *, suffix: str = ""
) -> TableColumn:
    width = max(width, display_width(plain_text(title)) + _FREE_COLUMNS)
    return TableColumn(key, title, width, precision, suffix, value)


def _elapsed(result: Result) -> float:
    """Give the seconds per iteration."""
    return result.median(Measure.ELAPSED)


def _seconds_per_unit(result: Result) -> float:
    return _elapsed(result) / result.config.batch


def _relative(result: Result, baseline: Result | None) -> float | None:
    if result.at_noise_floor:
        return None
    if baseline is None or baseline is result:
        return 100.0
    own = _seconds_per_unit(result)
    if own <= 0.0 or baseline.at_noise_floor:
        return None
    return 100.0 * _seconds_per_unit(baseline) / own


def _complexity_n(result: Result, _baseline: Result | None) -> float | None:
    return result.config.complexity_n


def _context(name: str, result: Result, _baseline: Result | None) -> str:
    return result.config.context.get(name, "")


def _time_per_unit(result: Result, _baseline: Result | None) -> float:
    seconds, batch = result.config.time_unit.seconds, result.config.batch
    divisor = seconds * batch  # nanobench's order of operations, hence its last bits
    if divisor > 0.0:  # if not, it is too small for a float
        return _elapsed(result) / divisor
    return _elapsed(result) / seconds / batch


def _unit_per_second(result: Result, _baseline: Result | None) -> float | None:
    # How often something happens that takes no time, or less than can be told, is unknown.
    elapsed = _elapsed(result)
    if elapsed <= 0.0 or result.at_noise_floor:
        return None
    return result.config.batch / elapsed


def _error(result: Result, _baseline: Result | None) -> float | None:
    # Of one epoch alone, nobody knows how much epochs differ.
    if result.at_noise_floor or len(result) == 1:
        return None
    return 100.0 * result.median_absolute_percent_error(Measure.ELAPSED)


def _per_unit(measure: Measure, result: Result, _baseline: Result | None) -> float:
    return result.median(measure) / result.config.batch


def _ratio(
    factor: float, above: Measure, below: Measure, result: Result, _baseline: Result | None
) -> float:
    divisor = result.median(below)
    return factor * result.median(above) / divisor if divisor > 0.0 else 0.0


def _total(result: Result, _baseline: Result | None) -> float:
    return result.total_seconds


@attrs.frozen
class TableShape:
    """What a header stands for. Results whose shapes are equal can be rows under one header."""

    title: str
    """Title of the table."""

    time_unit: TimeUnit
    """Unit of the times: another one of the same name would not be seen in the columns."""

    columns: tuple[TableColumn, ...]
    """The columns, without the last one that holds the names."""

    settings: tuple[object, ...] = attrs.field(eq=False, repr=False)
    """All settings that the columns depend on, but not what was measured."""

    @classmethod
    def of(cls, result: Result, in_force: TableShape | None = None) -> TableShape:
        """Find the shape of the table for a result.

        Args:
            result: The result.
            in_force: The shape of the table above it, if there is one.

        Returns:
            The shape. A failed result has measured nothing that could change the columns, so it
            takes the shape in force if its settings are the same.
        """
        config = result.config
        settings = (
            config.title,
            config.unit,
            config.time_unit,
            config.relative,
            config.complexity_n is not None,
            config.performance_counters,
            config.context_columns,
            config.hidden_columns,
        )
        if result.overflowed and in_force is not None and in_force.settings == settings:
            return in_force
        columns = table_columns(config, available_measures(result))
        return cls(config.title, config.time_unit, columns, settings)


@attrs.frozen
class TableRow:
    """A result with what is needed to show it among others."""

    shape: TableShape
    """The shape of the table that it belongs to."""

    result: Result
    """The result itself."""

    baseline: Result | None
    """What it is relative to; None if there is nothing but itself."""


def table_rows(results: Iterable[Result]) -> list[TableRow]:
    """Arrange finished results as rows of one or several tables.

    Args:
        results: The results in order, of any titles and settings. Those without epochs have no
            row, except for failed ones.

    Returns:
        The rows in the same order. Neighbours of equal shape belong to one table. The baseline
        is the first result of the same title and unit that did not fail.
    """
    shown = [result for result in results if result.overflowed or not result.empty]
    baselines: dict[tuple[str, str], Result] = {}
    measured: dict[tuple[object, ...], TableShape] = {}
    for result in shown:
        if not result.overflowed:
            baselines.setdefault((result.title, result.unit), result)
            shape = TableShape.of(result)
            measured.setdefault(shape.settings, shape)
    rows: list[TableRow] = []
    for result in shown:
        shape = TableShape.of(result, rows[-1].shape if rows else None)
        if result.overflowed and not (rows and rows[-1].shape == shape):
            # Nothing above it has its settings, but something below it may.
            shape = measured.get(shape.settings, shape)
        rows.append(TableRow(shape, result, baselines.get((result.title, result.unit))))
    return rows
