"""All settings of a benchmark as one immutable value.

The full text of a setting stands at its field in :class:`Config`; the setters of ``Bench`` have
the same names.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any, Literal, TypeVar, cast

import attrs

from ankerl_py.errors import ConfigError, ConfigTypeError
from ankerl_py.units import (
    MAX_DURATION_NS,
    TimeUnit,
    check_positive,
    check_text,
    is_boolean,
    shown,
)

__all__ = ["MAX_COUNT", "ClockSetting", "Column", "Config"]

MAX_COUNT = 2**64 - 1
"""The largest number of epochs or iterations: nanobench counts in 64 bits."""

ClockSetting = Literal["wall", "process", "thread"] | Callable[[], int]
"""Which clock measures: one of three by name, or a callable that returns integer nanoseconds."""

_CLOCKS = ("wall", "process", "thread")

_T = TypeVar("_T")


class Column(str, Enum):
    """A column of the table, to be hidden or shown again."""

    RELATIVE = "relative"
    COMPLEXITY_N = "complexity_n"
    TIME_PER_UNIT = "time_per_unit"
    UNIT_PER_SECOND = "unit_per_second"
    ERROR = "error"
    INSTRUCTIONS = "instructions"
    CYCLES = "cycles"
    IPC = "ipc"
    BRANCHES = "branches"
    BRANCH_MISSES = "branch_misses"
    TOTAL = "total"

    def __str__(self) -> str:
        return self.value

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    @classmethod
    def parse(cls, text: object) -> Column:
        """Find a column by its name.

        Args:
            text: The name in snake_case or, as in nanobench, in camelCase; or a `Column`.

        Returns:
            The column.

        Raises:
            ConfigError: There is no column of that name.
            ConfigTypeError: It is no text.
        """
        if not isinstance(text, str):
            raise ConfigTypeError(f"{shown(text)} is not a column - give a Column or its name")
        column = _COLUMNS.get(text)
        if column is None:
            names = ", ".join(column.value for column in cls)
            raise ConfigError(f"{shown(text)} is not a column - columns are {names}")
        return column


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(other.capitalize() for other in others)


_COLUMNS: dict[str, Column] = {
    name: column for column in Column for name in (column.value, _camel_case(column.value))
}


def _count(minimum: int = 0) -> Callable[[object], int]:
    """Make a check of a whole number that fits in 64 bits, and is not below a minimum."""
    return _whole_number(minimum, MAX_COUNT, "")


def _whole_number(minimum: int, maximum: int, unit: str) -> Callable[[object], int]:
    allowed = f"allowed are whole numbers from {minimum} to {maximum}{unit}"

    def check(value: object) -> int:
        try:
            # Bools pass for integers, but nobody means a number by them.
            number = operator.index(None if is_boolean(value) else value)  # type: ignore[arg-type]
        except TypeError:
            raise ConfigTypeError(
                f"{shown(value)} is not a whole number (int) - {allowed}"
            ) from None
        if number < minimum:
            raise ConfigError(f"{shown(value)} is too small - {allowed}")
        if number > maximum:
            raise ConfigError(f"{shown(value)} is too large - {allowed}")
        return number

    return check


_any_count = _count()
_duration = _whole_number(0, MAX_DURATION_NS, " ns")


def _optional_duration(value: object) -> int | None:
    return None if value is None else _duration(value)


def _iterations(value: object) -> int:
    # As in nanobench, no lower limit means the same as one iteration, the least possible.
    return _any_count(value) or 1


def _problem_size(value: object) -> float | None:
    return None if value is None else check_positive(value)


def _flag(value: object) -> bool:
    if not is_boolean(value):
        raise ConfigTypeError(f"{shown(value)} is not True or False")
    return bool(value)


def _clock(value: object) -> ClockSetting:
    if isinstance(value, str):
        for name in _CLOCKS:
            if value == name:
                return name  # type: ignore[return-value]  # mypy does not narrow by equality
        raise ConfigError(
            f"{shown(value)} is not a clock - clocks are wall, process, thread, or a callable "
            "that returns integer nanoseconds"
        )
    if not callable(value):
        raise ConfigTypeError(
            f"{shown(value)} is not a clock - give 'wall', 'process', 'thread', or a callable "
            "that returns integer nanoseconds"
        )
    return value


def _items(value: object, of: str) -> tuple[Any, ...]:
    """Give the elements of a collection; a text is none, though it has characters."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise ConfigTypeError(f"{shown(value)} is not a collection of {of}")
    return tuple(value)


def _context_items(value: object) -> tuple[tuple[str, str], ...]:
    items: dict[str, str] = {}
    for item in _items(value.items() if isinstance(value, Mapping) else value, "pairs of texts"):
        if not isinstance(item, (tuple, list)) or len(item) != 2:
            raise ConfigTypeError(f"{shown(item)} is not a pair (name, value) of texts")
        name, text = item
        if not isinstance(text, str):
            raise ConfigTypeError(f"value {shown(text)} of {shown(name)} is not a text")
        items[check_text(name)] = str.__str__(text)
    return tuple(items.items())


def _context_columns(value: object) -> tuple[str, ...]:
    names = _items(value, "names of context variables")
    return tuple(dict.fromkeys(check_text(name) for name in names))


def _columns(value: object) -> frozenset[Column]:
    return frozenset(Column.parse(item) for item in _items(value, "columns"))


def _setting(default: _T, check: Callable[[object], _T]) -> _T:
    """Declare a setting: its default value, and what checks and converts the given one."""
    field: _T = attrs.field(default=default, metadata={"check": check})
    return field


@attrs.frozen(kw_only=True, repr=False)
class Config:
    """The settings of a benchmark. Immutable; `replace` makes a changed one.

    Every value is checked, and all that cannot be used are told together.

    Raises:
        ConfigError: A value is out of its range.
        ConfigTypeError: A value has the wrong type.
    """

    title: str = _setting("benchmark", check_text)
    """Title of the table. Results of the same title belong to one table."""

    name: str = _setting("noname", check_text)
    """Name of the benchmark, shown in its row."""

    unit: str = _setting("op", check_text)
    """What is counted by `batch`, in the singular: ``"byte"`` makes columns ns/byte and byte/s."""

    batch: float = _setting(1.0, check_positive)
    """How many units one iteration processes; finite, above 0."""

    complexity_n: float | None = _setting(None, _problem_size)
    """Problem size for a big-O fit; finite, above 0. None: not part of a fit."""

    time_unit: TimeUnit = _setting(TimeUnit(1e-9, "ns"), TimeUnit.parse)  # noqa: RUF009 (immutable)
    """Unit of the time column, by name (ns, us, ms, s) or as (seconds, name). Display only."""

    relative: bool = _setting(False, _flag)
    """Show times relative to the first result of the same title and unit."""

    performance_counters: bool = _setting(True, _flag)
    """Measure with hardware counters too, where the system grants them, and show them."""

    context_items: tuple[tuple[str, str], ...] = _setting((), _context_items)
    """Context variables of the results, as pairs (name, value) in order; see also `context`."""

    context_columns: tuple[str, ...] = _setting((), _context_columns)
    """Names of the context variables that are columns of the table, in order."""

    hidden_columns: frozenset[Column] = _setting(frozenset(), _columns)
    """Columns that the table does without."""

    epochs: int = _setting(11, _count(1))
    """How many epochs are measured, at least 1. The median over them is what a row shows."""

    warmup: int = _setting(0, _any_count)
    """Iterations in a first epoch that is not recorded; 0: there is none."""

    min_epoch_iterations: int = _setting(1, _iterations)
    """At least so many iterations per epoch; 0 means 1."""

    epoch_iterations: int = _setting(0, _any_count)
    """Exactly so many iterations per epoch, in every phase; 0: found automatically."""

    clock_resolution_multiple: int = _setting(1000, _any_count)
    """An epoch should last this many times the resolution of the clock (within the limits)."""

    min_epoch_time_ns: int = _setting(1_000_000, _duration)
    """An epoch should last at least so many nanoseconds. Wins over the upper limit."""

    max_epoch_time_ns: int = _setting(100_000_000, _duration)
    """An epoch need not last longer than so many nanoseconds."""

    max_total_time_ns: int | None = _setting(None, _optional_duration)
    """A run ends after about so many nanoseconds, untimed parts included, with the epochs that it
    has by then, and says so. None: 2 s if something untimed comes before each iteration, no limit
    otherwise. Iterations of a warmup, or fixed by the other settings, are done all the same."""

    clock: ClockSetting = _setting("wall", _clock)  # noqa: RUF009 (immutable)
    """``"wall"``, ``"process"`` or ``"thread"`` (CPU time), or a callable returning integer ns."""

    gc: bool = _setting(False, _flag)
    """Leave the garbage collector on while timing."""

    correct_overhead: bool = _setting(True, _flag)
    """Subtract the calibrated cost of the measuring itself from the times."""

    def __attrs_post_init__(self) -> None:
        problems: list[ConfigError | ConfigTypeError] = []
        for name, check in _CHECKS:
            value = getattr(self, name)
            try:
                checked = check(value)
            except (ConfigError, ConfigTypeError) as error:
                problems.append(type(error)(f"{name}: {error}"))
            else:
                if checked is not value:
                    object.__setattr__(self, name, checked)
        if problems:
            raise _together(problems) from None

    def __repr__(self) -> str:
        changes = ", ".join(
            f"{field.name}={getattr(self, field.name)!r}"
            for field in attrs.fields(Config)
            if getattr(self, field.name) != field.default
        )
        return f"{type(self).__name__}({changes})"

    @property
    def context(self) -> dict[str, str]:
        """The context variables as a dict; a fresh one, so changing it changes nothing else."""
        return dict(self.context_items)

    def replace(self, **changes: object) -> Config:
        """Make a copy with some settings changed. All changes of settings go through here.

        Args:
            **changes: New values by the name of their field.

        Returns:
            The changed copy.

        Raises:
            ConfigError: One or several of the values are out of their ranges.
            ConfigTypeError: A value has the wrong type, or there is no such setting.
        """
        unknown = [name for name in changes if name not in _NAMES]
        if unknown:
            raise ConfigTypeError(
                f"no such setting: {', '.join(unknown)} - settings are {', '.join(_NAMES)}"
            )
        return attrs.evolve(self, **cast(Any, changes))


def _together(problems: list[ConfigError | ConfigTypeError]) -> ConfigError | ConfigTypeError:
    """Make one error of several. It is about types only if each of them is."""
    if len(problems) == 1:
        return problems[0]
    kind = ConfigTypeError if all(isinstance(p, ConfigTypeError) for p in problems) else ConfigError
    lines = "".join(f"\n  {problem}" for problem in problems)
    return kind(f"{len(problems)} settings cannot be used:{lines}")


_NAMES = tuple(field.name for field in attrs.fields(Config))

_CHECKS: tuple[tuple[str, Callable[[object], object]], ...] = tuple(
    (field.name, field.metadata["check"]) for field in attrs.fields(Config)
)
