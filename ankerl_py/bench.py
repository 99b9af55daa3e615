"""The fluent interface: an immutable `Bench` whose methods set, run, and return a `Bench`."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, overload

import attrs

from ankerl_py.analyses import Analyses
from ankerl_py.config import Config
from ankerl_py.errors import ConfigTypeError, OpError
from ankerl_py.results.store import ResultStore
from ankerl_py.setters import Setters
from ankerl_py.units import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ankerl_py.core.instruments import Instruments
    from ankerl_py.core.untimed import Untimed
    from ankerl_py.results.result import Result
    from ankerl_py.typing import TextStream

__all__ = ["Bench", "do_not_optimize_away"]

T = TypeVar("T")


class _Stdout:
    """Stands for ``sys.stdout`` as it is when a row is printed: it may be replaced until then."""

    def __repr__(self) -> str:
        return "sys.stdout"


# What measures and what prints is imported by those who need it: a program that has benchmarks,
# but does not run them now, waits only for the settings.


def _default_instruments() -> Instruments:
    from ankerl_py.core.instruments import Instruments  # noqa: PLC0415

    return Instruments()


def _default_untimed() -> Untimed:
    from ankerl_py.core.untimed import NOTHING_UNTIMED  # noqa: PLC0415

    return NOTHING_UNTIMED


def _is_stream(value: object) -> bool:
    return callable(getattr(value, "write", None))


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
class Bench(Analyses, Setters):
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

    _untimed: Untimed = attrs.field(factory=_default_untimed)

    @config.default
    def _default_config(self) -> Config:
        return self.instruments.environment.configure(Config())

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.config, Config):
            raise ConfigTypeError(f"config: {shown(self.config)} is not a Config")
        if not isinstance(self.store, ResultStore):
            raise ConfigTypeError(f"store: {shown(self.store)} is not a ResultStore")
        output = self._output
        if not (output is None or isinstance(output, _Stdout) or _is_stream(output)):
            raise ConfigTypeError(f"output: {shown(output)} is no text stream and not None")

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

    def output(self, stream: TextStream | None) -> Bench:
        """Set where the table is printed.

        Args:
            stream: Something with a method ``write(text)``; None: nowhere. Without this setting,
                ``sys.stdout`` as it is at the time when a row is printed.

        Raises:
            ConfigTypeError: It cannot be written to.
        """
        return attrs.evolve(self, output=stream)

    # ------------------------------------------------------------------ what is not timed

    def setup(
        self,
        setup: Callable[[], object] | str | None,
        scope: Literal["epoch", "iteration"] = "epoch",
    ) -> Bench:
        """Set something to be done before the op, and not timed.

        What it returns is ignored; see `inputs` for an op that takes a value.

        Args:
            setup: A callable without arguments; or, for ops that are statements, a statement that
                runs in the same namespace, with the same variables; None: nothing.
            scope: ``"epoch"``: before each epoch, as in nanobench. ``"iteration"``: before every
                single call of the op, in the warmup and the search for the number of iterations,
                too.

        Raises:
            ConfigError: There is no such scope, or it does not go with `inputs`.
            ConfigTypeError: The setup is neither a callable, nor a text, nor None.
            OpError: It cannot be called without arguments.
        """
        return attrs.evolve(self, untimed=self._untimed.with_setup(setup, scope))

    def inputs(
        self,
        make: Callable[[], object] | None,
        scope: Literal["iteration", "batch"] = "iteration",
    ) -> Bench:
        """Set what makes a fresh argument for every single call of the op, and is not timed.

        Args:
            make: A callable without arguments, whose value the op is called with; None: the op
                takes no argument.
            scope: ``"iteration"``: each call is timed alone, right after its argument was made.
                ``"batch"``: up to 1000 arguments are made first (less if they are large), and one
                loop over them is timed, which is more exact for very short ops. Arguments and
                what the op returns are released when the clock has stopped.

        Raises:
            ConfigError: There is no such scope, or it does not go with `setup`.
            ConfigTypeError: It is neither a callable nor None.
            OpError: It cannot be called without arguments.
        """
        return attrs.evolve(self, untimed=self._untimed.with_inputs(make, scope))

    def run_excluding_setup(
        self,
        name: str,
        state: T,
        setup: Callable[[T], object],
        op: Callable[[T], object],
    ) -> Bench:
        """Measure ``op(state)`` with ``setup(state)`` before every single call, untimed.

        The shape is that of ``iter_excluding_setup``, as proposed for Rust's test crate.

        Args:
            name: Name of the benchmark.
            state: What `setup` prepares and `op` uses.
            setup: Called before each call of `op`, with the state.
            op: What is measured, called with the state.

        Returns:
            This bench, unchanged; its `results` has one more.

        Raises:
            ConfigError: This bench has a `setup` or `inputs`, which would never be called.
            ConfigTypeError: The setup is not callable.
            OpError: The setup or the op cannot be called with one argument, or the op makes a
                coroutine or generator.
            BaseException: What the op or the setup raises, with a note on which one it was.
        """
        bench = attrs.evolve(self, untimed=self._untimed.with_state(state, setup))
        bench.run(name, op)
        return self

    # ------------------------------------------------------------------ measuring

    @overload
    def run(
        self, op: Callable[..., object] | str, /, *, globals: Mapping[str, Any] | None = None
    ) -> Bench: ...
    @overload
    def run(
        self,
        name: str,
        op: Callable[..., object] | str,
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
        result = self.instruments.measure(config, op, globals, self._untimed)
        baseline = self.store.baseline(config.title, config.unit)
        self.store.append(result)
        self._print(result, baseline)
        return self

    def _stream(self) -> TextStream | None:
        return sys.stdout if isinstance(self._output, _Stdout) else self._output

    def _announce(self, name: str) -> None:
        """Say what there is to know before measuring: what is unstable, and what never ends."""
        self._print_notice()
        if name == self.instruments.environment.endless_name and sys.stderr is not None:
            with suppress(OSError, ValueError):
                sys.stderr.write(f"NANOBENCH_ENDLESS set: running '{name}' endlessly\n")
                sys.stderr.flush()

    def _print_notice(self) -> None:
        environment, output = self.instruments.environment, self._stream()
        notice = self.instruments.stability_notice(
            suppress=output is None or environment.suppress_warnings
        )
        # A stream that fails fails again for the row. By then there is a result, and it is stored.
        if notice and output is not None:
            with suppress(Exception):
                output.write(notice)

    def _print(self, result: Result, baseline: Result | None) -> None:
        from ankerl_py.renderers.markdown import table_writer  # noqa: PLC0415

        quiet = self.instruments.environment.suppress_warnings
        table_writer.write_result(self._stream(), result, baseline, suppress_warnings=quiet)

    @staticmethod
    def do_not_optimize_away(*values: object) -> None:
        """Do nothing with values; see the function of the same name."""
        do_not_optimize_away(*values)
