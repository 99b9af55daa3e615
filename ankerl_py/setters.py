"""The setters of a `Bench`: one method for each field of `Config`, with the same name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast, overload

import attrs

from ankerl_py.config import Column, Config
from ankerl_py.errors import ConfigTypeError
from ankerl_py.units import duration_ns, shown

if TYPE_CHECKING:
    from datetime import timedelta

    from typing_extensions import Self  # type checkers know it, installed or not

    from ankerl_py.config import ClockSetting
    from ankerl_py.units import TimeUnit

__all__ = ["Setters"]


class Setters:
    """Methods that return a copy of an attrs class with another `config`.

    What a setting means in full stands at its field in `Config`.
    """

    __slots__ = ()

    config: Config

    def _with(self, **changes: object) -> Self:
        """Make a copy with some settings changed: the one path that all setters take."""
        return self.with_config(self.config.replace(**changes))

    def with_config(self, config: Config) -> Self:
        """Take all settings from a `Config`; results and output stay."""
        if not isinstance(config, Config):
            raise ConfigTypeError(f"with_config: {shown(config)} is not a Config")
        changed: Self = attrs.evolve(cast(Any, self), config=config)
        return changed

    def title(self, title: str) -> Self:
        """Set the title of the table; results of another title belong to another table."""
        return self._with(title=title)

    def name(self, name: str) -> Self:
        """Set the name of the next benchmark, for a `run` without a name."""
        return self._with(name=name)

    def unit(self, unit: str) -> Self:
        """Set what is counted by `batch`, in the singular: ``"byte"``."""
        return self._with(unit=unit)

    def batch(self, batch: float) -> Self:
        """Set how many units one iteration processes; finite, above 0."""
        return self._with(batch=batch)

    def complexity_n(self, n: float | None) -> Self:
        """Set the problem size, for a big-O fit; None: no part of a fit."""
        return self._with(complexity_n=n)

    @overload
    def time_unit(self, unit: str | TimeUnit, /) -> Self: ...
    @overload
    def time_unit(self, seconds: float, name: str, /) -> Self: ...
    def time_unit(self, unit: object, name: str | None = None, /) -> Self:
        """Set the unit of the time column. Display only: stored times stay in seconds.

        Args:
            unit: ``"ns"``, ``"us"``, ``"ms"`` or ``"s"``; or a number of seconds and a name.
            name: The name of the unit, if `unit` is a number.
        """
        return self._with(time_unit=unit if name is None else (unit, name))

    def epochs(self, number: int) -> Self:
        """Set how many epochs are measured, 11 by default."""
        return self._with(epochs=number)

    def warmup(self, iterations: int) -> Self:
        """Set how many iterations run before the measuring begins."""
        return self._with(warmup=iterations)

    def epoch_iterations(self, iterations: int) -> Self:
        """Set the exact number of iterations per epoch, in every phase; 0: found automatically."""
        return self._with(epoch_iterations=iterations)

    def min_epoch_iterations(self, iterations: int) -> Self:
        """Set the least number of iterations per epoch."""
        return self._with(min_epoch_iterations=iterations)

    def clock_resolution_multiple(self, multiple: int) -> Self:
        """Set how many times the clock's resolution an epoch should last, 1000 by default."""
        return self._with(clock_resolution_multiple=multiple)

    def min_epoch_time(self, duration: float | timedelta | str) -> Self:
        """Set how long an epoch should last at least, 1 ms by default.

        Args:
            duration: Seconds as a number, a ``timedelta``, or a text with a unit: ``"10ms"``.
        """
        return self._with(min_epoch_time_ns=duration_ns(duration, "min_epoch_time"))

    def max_epoch_time(self, duration: float | timedelta | str) -> Self:
        """Set how long an epoch need not exceed, 100 ms by default; `min_epoch_time` wins.

        Args:
            duration: Seconds as a number, a ``timedelta``, or a text with a unit: ``"10ms"``.
        """
        return self._with(max_epoch_time_ns=duration_ns(duration, "max_epoch_time"))

    def max_total_time(self, duration: float | timedelta | str | None) -> Self:
        """Set after how long a run ends, untimed parts included, with the epochs it has by then.

        Args:
            duration: Seconds as a number, a ``timedelta``, or a text with a unit: ``"10ms"``.
                None, the default: 2 s if something untimed comes before each iteration, no limit
                otherwise.
        """
        limit = None if duration is None else duration_ns(duration, "max_total_time")
        return self._with(max_total_time_ns=limit)

    def relative(self, on: bool = True) -> Self:
        """Show times relative to the first result of the same title and unit."""
        return self._with(relative=on)

    def performance_counters(self, on: bool = True) -> Self:
        """Measure with hardware counters, where the system grants them; on by default."""
        return self._with(performance_counters=on)

    def correct_overhead(self, on: bool = True) -> Self:
        """Subtract the measured cost of the harness; on by default. Raw times are always kept."""
        return self._with(correct_overhead=on)

    def gc(self, on: bool = True) -> Self:
        """Leave the garbage collector on while measuring; by default it is off meanwhile."""
        return self._with(gc=on)

    def clock(self, clock: ClockSetting) -> Self:
        """Set the clock: ``"wall"``, ``"process"``, ``"thread"``, or a callable.

        Args:
            clock: A callable returns integer nanoseconds. Its attribute ``resolution_ns``, if it
                has one, is believed; else its resolution is measured.
        """
        return self._with(clock=clock)

    def hide_column(self, *columns: Column | str) -> Self:
        """Leave columns out of the table."""
        hidden = {Column.parse(column) for column in columns}
        return self._with(hidden_columns=self.config.hidden_columns | hidden)

    def show_column(self, *columns: Column | str) -> Self:
        """Show hidden columns again."""
        shown_again = {Column.parse(column) for column in columns}
        return self._with(hidden_columns=self.config.hidden_columns - shown_again)

    def context(self, name: str, value: str) -> Self:
        """Set a context variable: something to know about the following results."""
        return self._with(context_items=(*self.config.context_items, (name, value)))

    def clear_context(self) -> Self:
        """Forget all context variables; results that have them keep them."""
        return self._with(context_items=())

    def context_column(self, name: str) -> Self:
        """Show a context variable as a column of the table."""
        return self._with(context_columns=(*self.config.context_columns, name))

    def clear_context_columns(self) -> Self:
        """Remove the columns of all context variables."""
        return self._with(context_columns=())
