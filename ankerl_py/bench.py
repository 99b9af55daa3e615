"""The fluent interface: an immutable `Bench` whose methods set, run, and return a `Bench`."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, overload

import attrs

from ankerl_py.config import Column, Config
from ankerl_py.errors import ConfigTypeError, OpError
from ankerl_py.results.store import ResultStore
from ankerl_py.units import duration_ns, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import timedelta

    from ankerl_py.config import ClockSetting
    from ankerl_py.core.instruments import Instruments
    from ankerl_py.results.result import Result
    from ankerl_py.typing import TextStream
    from ankerl_py.units import TimeUnit

__all__ = ["Bench", "do_not_optimize_away"]


class _Stdout:
    """Stands for ``sys.stdout`` as it is when a row is printed: it may be replaced until then."""

    def __repr__(self) -> str:
        return "sys.stdout"


# What measures and what prints is imported by those who need it: a program that has benchmarks,
# but does not run them now, waits only for the settings.


def _default_instruments() -> Instruments:
    from ankerl_py.core.instruments import Instruments  # noqa: PLC0415

    return Instruments()


_STDOUT: Final = _Stdout()
_NAME_UNSET: Final = Config().name


def do_not_optimize_away(*values: object) -> None:
    """Do nothing with values, as a reader knows it from nanobench.

    Python never optimizes a computation away because its result is unused, so a benchmark needs
    no call of this. It costs as much as any call with arguments.

    Args:
        *values: Anything.
    """


@attrs.frozen(kw_only=True, repr=False, eq=False)
class Bench:
    """Benchmarks with common settings, and a table of their results.

    Immutable: each setter returns a new `Bench` with one setting changed, which shares the store
    of results with the one that it was made from. `run` measures, stores, prints a row, and
    returns the `Bench`, so that everything can be chained::

        Bench().title("hashes").unit("byte").batch(len(data)).run("sha256", lambda: sha256(data))

    Settings start with their defaults, changed by the environment variable ``NANOBENCH_CONFIG``;
    setters win over both. What a setting means stands at its field in `Config`.
    """

    instruments: Instruments = attrs.field(factory=_default_instruments)
    """The clock's native module, counters and environment: what tests replace."""

    config: Config = attrs.field()
    """The settings, read-only: ``bench.config.epochs``."""

    store: ResultStore = attrs.field(factory=ResultStore)
    """All results of every `Bench` that was derived from the same one, whatever their title."""

    _output: TextStream | _Stdout | None = _STDOUT

    @config.default
    def _default_config(self) -> Config:
        return self.instruments.environment.configure(Config())

    # ------------------------------------------------------------------ what it shows

    @property
    def results(self) -> tuple[Result, ...]:
        """The results of this title, in the order in which they were measured."""
        return self.store.for_title(self.config.title)

    def __repr__(self) -> str:
        number = len(self.results)
        return (
            f"<Bench {self.config.title!r}: {number} result{'' if number == 1 else 's'}, "
            f"{self.config!r}>"
        )

    def _repr_markdown_(self) -> str | None:
        """Show the table of the results in a notebook; None, so the `repr`, if there are none."""
        from ankerl_py.renderers.markdown import markdown_table  # noqa: PLC0415

        return markdown_table(self.results) or None

    def _repr_html_(self) -> str | None:
        """Show the table of the results in a notebook; None, so the `repr`, if there are none."""
        from ankerl_py.renderers.markdown import html_table  # noqa: PLC0415

        return html_table(self.results) or None

    # ------------------------------------------------------------------ settings

    def _with(self, **changes: object) -> Bench:
        """Make a copy with some settings changed: the one path that all setters take."""
        return attrs.evolve(self, config=self.config.replace(**changes))

    def with_config(self, config: Config) -> Bench:
        """Take all settings from a `Config`; results and output stay."""
        if not isinstance(config, Config):
            raise ConfigTypeError(f"with_config: {shown(config)} is not a Config")
        return attrs.evolve(self, config=config)

    def title(self, title: str) -> Bench:
        """Set the title of the table; results of another title belong to another table."""
        return self._with(title=title)

    def name(self, name: str) -> Bench:
        """Set the name of the next benchmark, for a `run` without a name."""
        return self._with(name=name)

    def unit(self, unit: str) -> Bench:
        """Set what is counted by `batch`, in the singular: ``"byte"``."""
        return self._with(unit=unit)

    def batch(self, batch: float) -> Bench:
        """Set how many units one iteration processes; finite, above 0."""
        return self._with(batch=batch)

    def complexity_n(self, n: float | None) -> Bench:
        """Set the problem size, for a big-O fit; None: no part of a fit."""
        return self._with(complexity_n=n)

    @overload
    def time_unit(self, unit: str | TimeUnit, /) -> Bench: ...
    @overload
    def time_unit(self, seconds: float, name: str, /) -> Bench: ...
    def time_unit(self, unit: object, name: str | None = None, /) -> Bench:
        """Set the unit of the time column. Display only: stored times stay in seconds.

        Args:
            unit: ``"ns"``, ``"us"``, ``"ms"`` or ``"s"``; or a number of seconds and a name.
            name: The name of the unit, if `unit` is a number.
        """
        return self._with(time_unit=unit if name is None else (unit, name))

    def epochs(self, number: int) -> Bench:
        """Set how many epochs are measured, 11 by default."""
        return self._with(epochs=number)

    def warmup(self, iterations: int) -> Bench:
        """Set how many iterations run before the measuring begins."""
        return self._with(warmup=iterations)

    def epoch_iterations(self, iterations: int) -> Bench:
        """Set the exact number of iterations per epoch, in every phase; 0: found automatically."""
        return self._with(epoch_iterations=iterations)

    def min_epoch_iterations(self, iterations: int) -> Bench:
        """Set the least number of iterations per epoch."""
        return self._with(min_epoch_iterations=iterations)

    def clock_resolution_multiple(self, multiple: int) -> Bench:
        """Set how many times the clock's resolution an epoch should last, 1000 by default."""
        return self._with(clock_resolution_multiple=multiple)

    def min_epoch_time(self, duration: float | timedelta | str) -> Bench:
        """Set how long an epoch should last at least, 1 ms by default.

        Args:
            duration: Seconds as a number, a ``timedelta``, or a text with a unit: ``"10ms"``.
        """
        return self._with(min_epoch_time_ns=duration_ns(duration, "min_epoch_time"))

    def max_epoch_time(self, duration: float | timedelta | str) -> Bench:
        """Set how long an epoch need not exceed, 100 ms by default; `min_epoch_time` wins.

        Args:
            duration: Seconds as a number, a ``timedelta``, or a text with a unit: ``"10ms"``.
        """
        return self._with(max_epoch_time_ns=duration_ns(duration, "max_epoch_time"))

    def relative(self, on: bool = True) -> Bench:
        """Show times relative to the first result of the same title and unit."""
        return self._with(relative=on)

    def performance_counters(self, on: bool = True) -> Bench:
        """Measure with hardware counters, where the system grants them; on by default."""
        return self._with(performance_counters=on)

    def correct_overhead(self, on: bool = True) -> Bench:
        """Subtract the measured cost of the harness; on by default. Raw times are always kept."""
        return self._with(correct_overhead=on)

    def gc(self, on: bool = True) -> Bench:
        """Leave the garbage collector on while measuring; by default it is off meanwhile."""
        return self._with(gc=on)

    def clock(self, clock: ClockSetting) -> Bench:
        """Set the clock: ``"wall"``, ``"process"``, ``"thread"``, or a callable.

        Args:
            clock: A callable returns integer nanoseconds. Its attribute ``resolution_ns``, if it
                has one, is believed; else its resolution is measured.
        """
        return self._with(clock=clock)

    def hide_column(self, *columns: Column | str) -> Bench:
        """Leave columns out of the table."""
        hidden = {Column.parse(column) for column in columns}
        return self._with(hidden_columns=self.config.hidden_columns | hidden)

    def show_column(self, *columns: Column | str) -> Bench:
        """Show hidden columns again."""
        shown_again = {Column.parse(column) for column in columns}
        return self._with(hidden_columns=self.config.hidden_columns - shown_again)

    def context(self, name: str, value: str) -> Bench:
        """Set a context variable: something to know about the following results."""
        return self._with(context_items=(*self.config.context_items, (name, value)))

    def clear_context(self) -> Bench:
        """Forget all context variables; results that have them keep them."""
        return self._with(context_items=())

    def context_column(self, name: str) -> Bench:
        """Show a context variable as a column of the table."""
        return self._with(context_columns=(*self.config.context_columns, name))

    def clear_context_columns(self) -> Bench:
        """Remove the columns of all context variables."""
        return self._with(context_columns=())

    def output(self, stream: TextStream | None) -> Bench:
        """Set where the table is printed.

        Args:
            stream: Something with a method ``write(text)``; None: nowhere. Without this setting,
                ``sys.stdout`` as it is at the time when a row is printed.

        Raises:
            ConfigTypeError: It cannot be written to.
        """
        if stream is not None and not callable(getattr(stream, "write", None)):
            raise ConfigTypeError(f"output: {shown(stream)} is no text stream and not None")
        return attrs.evolve(self, output=stream)

    # ------------------------------------------------------------------ measuring

    @overload
    def run(
        self, op: Callable[[], object] | str, /, *, globals: Mapping[str, Any] | None = None
    ) -> Bench: ...
    @overload
    def run(
        self,
        name: str,
        op: Callable[[], object] | str,
        /,
        *,
        globals: Mapping[str, Any] | None = None,
    ) -> Bench: ...
    def run(
        self,
        *name_and_op: Any,
        globals: Mapping[str, Any] | None = None,  # noqa: A002 (as in timeit)
    ) -> Bench:
        """Measure an op, store its result, and print its row.

        The time of a callable is that of its body: what it costs to call an empty one of the same
        kind is measured and subtracted. The time of a statement is that of the statement; what
        is subtracted is an empty loop. So ``run(f)`` leaves out the call of f, and
        ``run("f()", globals=globals())`` contains it.

        While it measures, the garbage collector is off (see `gc`) and afterwards as it was before,
        also if the op switches it.

        Args:
            *name_and_op: The op, or its name and the op. An op is a callable without arguments, or
                a statement as text. Its name is by default what was set with `name`, else the
                ``__qualname__`` of the callable, or the text.
            globals: The names that a statement can use, as in timeit. Variables that the
                statement assigns are local to it; they start with the values from here.

        Returns:
            This bench, unchanged; its `results` has one more.

        Raises:
            OpError: The op cannot be called without arguments, or makes a coroutine or generator.
            StatementError: The statement cannot be compiled.
            ClockError: The clock gives no usable times.
            OutputError: The row could not be written. The result is stored all the same.
            BaseException: What the op raises, with a note on where it happened. Nothing is stored.
        """
        from ankerl_py.core.ops import default_name  # noqa: PLC0415

        if len(name_and_op) not in (1, 2):
            raise OpError(f"run takes an op, or a name and an op, not {len(name_and_op)} arguments")
        op = name_and_op[-1]
        if len(name_and_op) == 2:
            name = name_and_op[0]
        elif self.config.name == _NAME_UNSET:
            name = default_name(op)
        else:
            name = self.config.name
        config = self.config.replace(name=name)
        self._announce(config.name)
        result = self.instruments.measure(config, op, globals)
        baseline = self.store.baseline(config.title, config.unit)
        self.store.append(result)
        self._print(result, baseline)
        return self

    def _stream(self) -> TextStream | None:
        return sys.stdout if isinstance(self._output, _Stdout) else self._output

    def _announce(self, name: str) -> None:
        """Say what there is to know before measuring: what is unstable, and what never ends."""
        environment, output = self.instruments.environment, self._stream()
        notice = self.instruments.stability_notice(
            suppress=output is None or environment.suppress_warnings
        )
        # A stream that fails fails again for the row. By then there is a result, and it is stored.
        if notice and output is not None:
            with suppress(Exception):
                output.write(notice)
        if name == environment.endless_name and sys.stderr is not None:
            with suppress(OSError, ValueError):
                sys.stderr.write(f"NANOBENCH_ENDLESS set: running '{name}' endlessly\n")
                sys.stderr.flush()

    def _print(self, result: Result, baseline: Result | None) -> None:
        from ankerl_py.renderers.markdown import table_writer  # noqa: PLC0415

        quiet = self.instruments.environment.suppress_warnings
        table_writer.write_result(self._stream(), result, baseline, suppress_warnings=quiet)

    @staticmethod
    def do_not_optimize_away(*values: object) -> None:
        """Do nothing with values; see the function of the same name."""
        do_not_optimize_away(*values)
