"""Questions beside "how long does it take": which one is faster, and how does it grow?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import timedelta

    from ankerl_py.config import Config
    from ankerl_py.core.instruments import Instruments
    from ankerl_py.core.untimed import Untimed
    from ankerl_py.renderers.big_o import BigOFits
    from ankerl_py.renderers.comparison import CompareResult
    from ankerl_py.results.big_o import BigO
    from ankerl_py.results.measure import Measure
    from ankerl_py.results.result import Result
    from ankerl_py.typing import TextStream

__all__ = ["Analyses"]


class Analyses:
    """Methods of a `Bench` that answer them."""

    __slots__ = ()

    config: Config
    instruments: Instruments
    _untimed: Untimed

    if TYPE_CHECKING:

        @property
        def results(self) -> tuple[Result, ...]:
            """The results of this title."""

        def _stream(self) -> TextStream | None: ...

        def _print_notice(self) -> None: ...

    def compare(
        self,
        *names_and_ops: Any,
        globals: Mapping[str, Any] | None = None,  # noqa: A002 (as in timeit)
        unit: str | Mapping[str, str] | None = None,
        batch: float | Mapping[str, float] | None = None,
        until: float | None = None,
        time_budget: float | timedelta | str = 10.0,
    ) -> CompareResult:
        """Measure alternatives against each other, in turns, and print which one is faster.

        Each round has one epoch of each alternative, in an order that changes; ratios are those
        within rounds. So what disturbs the machine disturbs all of them, and differences of less
        than a percent are seen. Results are not added to `results`: they are in what is returned.

        Args:
            *names_and_ops: Names and ops in turn, or one mapping of names to ops. The first one is
                the baseline. Ops are what `run` takes; `setup` and `inputs` come before each.
            globals: The names that statements can use.
            unit: The unit of all alternatives, or a mapping with that of some.
            batch: The same for the batch. Ratios are those of times per unit.
            until: Go on until all intervals are narrower than that many percent. There are at
                least as many rounds as `epochs` in any case.
            time_budget: With `until`: stop after that time at the latest.

        Returns:
            The comparison, which prints as a table with a summary.

        Raises:
            OpError: There are fewer than two ops, or one cannot be measured.
            StatementError: A statement cannot be compiled.
            ConfigError: A value cannot be used, or two names are the same.
            ConfigTypeError: A value has the wrong type.
            ClockError: The clock gives no usable times.
            OutputError: The table could not be written.
            BaseException: What an op raises, with a note on which one and where.
        """
        from ankerl_py.core import alternatives  # noqa: PLC0415
        from ankerl_py.renderers.comparison import CompareResult  # noqa: PLC0415
        from ankerl_py.renderers.markdown import table_writer  # noqa: PLC0415

        ops = alternatives.named_ops(names_and_ops)
        configs = alternatives.alternative_configs(self.config, list(ops), unit, batch)
        precision = alternatives.precision_of(until, time_budget)
        self._print_notice()
        results = self.instruments.compare(
            configs, list(ops.values()), globals, self._untimed, precision
        )
        compared = CompareResult.of(results, anytime=until is not None, until=until)
        table_writer.write_text(self._stream(), compared.text)
        return compared

    @overload
    def complexity_big_o(self, /, *, measure: Measure | str = "elapsed") -> BigOFits: ...
    @overload
    def complexity_big_o(
        self, name: str, fn: Callable[[float], float], /, *, measure: Measure | str = "elapsed"
    ) -> BigO: ...
    def complexity_big_o(
        self,
        name: str | None = None,
        fn: Callable[[float], float] | None = None,
        /,
        *,
        measure: Measure | str = "elapsed",
    ) -> BigOFits | BigO:
        """Fit how the results grow with `complexity_n`.

        Args:
            name: The name of a model of one's own; None: all of nanobench's models are fitted.
            fn: That model: a function of n, which is a float.
            measure: What is fitted, such as ``"instructions"``.

        Returns:
            The fits of the results of this title and unit, best first; or the fit of the own model.

        Raises:
            ConfigError: There is no such measure, or the name is blank.
            ConfigTypeError: The model is no function that returns numbers.
        """
        from ankerl_py.renderers.big_o import BigOFits  # noqa: PLC0415
        from ankerl_py.results.big_o import fit_custom  # noqa: PLC0415

        results = [each for each in self.results if each.unit == self.config.unit]
        if name is None and fn is None:
            return BigOFits.of(results, measure)
        return fit_custom(results, name, fn, measure)
