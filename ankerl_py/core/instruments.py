"""What a benchmark measures with and looks at, as one value that tests can replace in parts."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import attrs

from ankerl_py.backends.clocks import clock_of, resolution_ns
from ankerl_py.backends.compiled import Compiled, compiled
from ankerl_py.backends.counters import CounterBackend, NoCounters
from ankerl_py.config import Config
from ankerl_py.core.calibration import LoopMeter, OverheadMeter, PairMeter, fixed_overhead_ns
from ankerl_py.core.loops import CompiledCallLoop, Loop, PythonCallLoop
from ankerl_py.core.ops import callable_op
from ankerl_py.core.pairs import BatchLoop, CompiledPairLoop, PythonPairLoop
from ankerl_py.core.runner import Run, collector
from ankerl_py.core.schedule import Schedule
from ankerl_py.core.stability import pending_notice
from ankerl_py.core.statement_loop import StatementLoop
from ankerl_py.core.untimed import NOTHING_UNTIMED, Untimed
from ankerl_py.environment import Environment

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from ankerl_py.backends.clocks import Clock
    from ankerl_py.config import ClockSetting
    from ankerl_py.core.pairing import Precision
    from ankerl_py.results.result import Result

__all__ = ["Instruments", "clock_resolution"]

_NO_BACKEND = NoCounters("this version has no access to hardware counters")


@attrs.frozen
class Instruments:
    """The parts of the world outside that a benchmark depends on.

    Attributes:
        environment: The environment variables.
        compiled: The native module; None: all loops are Python code.
        counters: What counts beside the clock.
        stability_notice: Gives the text about what makes the machine unreliable, to be printed
            before the next row; see `ankerl_py.core.stability.pending_notice`.
        wall_ns: Gives the time in nanoseconds that a run with a time limit may take.
    """

    environment: Environment = attrs.field(factory=Environment)
    compiled: Compiled | None = attrs.field(factory=compiled)
    counters: CounterBackend = _NO_BACKEND
    stability_notice: Callable[..., str] = pending_notice
    wall_ns: Callable[[], int] = time.perf_counter_ns

    def measure(
        self,
        config: Config,
        op: Callable[..., object] | str,
        namespace: Mapping[str, Any] | None = None,
        untimed: Untimed = NOTHING_UNTIMED,
    ) -> Result:
        """Measure an op, from finding out what it is to the result.

        Args:
            config: The settings, with the name of this run.
            op: A callable, or a statement as text.
            namespace: The names that a statement can use.
            untimed: What comes before the op without being timed.

        Returns:
            The result.

        Raises:
            OpError: The op cannot be measured.
            StatementError: The statement cannot be compiled.
            ClockError: The clock is unusable.
            BaseException: What the op, or what comes before it, raises.
        """
        untimed.check_op(op)
        clock = clock_of(config.clock)
        loop = self._loop(op, namespace, clock, untimed)
        endless = config.name == self.environment.endless_name
        with collector(enabled=config.gc):
            schedule = Schedule(config, resolution_ns(clock, self.compiled), endless)
            counters = self._counters(config, untimed)
            wanted = config.correct_overhead and not endless
            meter = self._meter(loop, clock, untimed) if wanted else None
            run = Run(
                config, loop, schedule, counters, meter, untimed=untimed, wall_ns=self.wall_ns
            )
            return run.measure()

    def _counters(self, config: Config, untimed: Untimed) -> CounterBackend:
        if not config.performance_counters:
            return _SWITCHED_OFF
        return _NOT_ALONE if untimed.in_loop else self.counters

    def compare(
        self,
        configs: Sequence[Config],
        ops: Sequence[Callable[..., object] | str],
        namespace: Mapping[str, Any] | None = None,
        untimed: Untimed = NOTHING_UNTIMED,
        precision: Precision | None = None,
    ) -> tuple[Result, ...]:
        """Measure ops against each other, in turns.

        Args:
            configs: The settings of each op, which differ in name, unit and batch only.
            ops: Callables, or statements as text.
            namespace: The names that statements can use.
            untimed: What comes before each op without being timed.
            precision: When to stop; None: after the number of rounds that the settings ask for.

        Returns:
            One result for each op; epoch k of each is of the same round.

        Raises:
            OpError: An op cannot be measured.
            StatementError: A statement cannot be compiled.
            ClockError: The clock is unusable.
            BaseException: What an op, or what comes before it, raises.
        """
        from ankerl_py.core.alternatives import cost_kind  # noqa: PLC0415 (rarely needed)
        from ankerl_py.core.pairing import Alternative, Pairing  # noqa: PLC0415
        from ankerl_py.rng import Rng  # noqa: PLC0415

        config = configs[0]
        clock = clock_of(config.clock)
        alternatives = []
        for own, op in zip(configs, ops, strict=True):
            untimed.check_op(op)
            loop = self._loop(op, namespace, clock, untimed)
            alternatives.append(Alternative(own, loop, cost_kind(op, loop)))
        with collector(enabled=config.gc):
            resolution = resolution_ns(clock, self.compiled)
            counters = self._counters(config, untimed)
            meters: dict[Hashable, OverheadMeter] = {}
            for each in alternatives if config.correct_overhead else []:
                if each.kind not in meters:
                    meters[each.kind] = self._meter(each.loop, clock, untimed)
            pairing = Pairing(
                alternatives,
                resolution,
                counters,
                meters,
                Rng(),
                untimed=untimed,
                wall_ns=self.wall_ns,
            )
            return pairing.measure(precision)

    def _loop(
        self,
        op: Callable[..., object] | str,
        namespace: Mapping[str, Any] | None,
        clock: Clock,
        untimed: Untimed = NOTHING_UNTIMED,
    ) -> Loop:
        if isinstance(op, str):
            return self._statement_loop(op, namespace, clock, untimed)
        measured = callable_op(op, untimed.arguments)
        native = self.compiled if clock.native >= 0 else None
        if untimed.batched:
            return BatchLoop(measured, untimed, clock, native)
        if untimed.per_iteration:
            if native is not None:
                return CompiledPairLoop(measured, untimed, clock, native)
            return PythonPairLoop(measured, untimed, clock)
        if self.compiled is not None:
            return CompiledCallLoop(measured, clock, self.compiled)
        return PythonCallLoop(measured, clock)

    def _statement_loop(
        self, op: str, namespace: Mapping[str, Any] | None, clock: Clock, untimed: Untimed
    ) -> Loop:
        from ankerl_py.core.statements import compile_statement  # noqa: PLC0415 (imports ast)

        setup = untimed.setup if isinstance(untimed.setup, str) else None
        statement = compile_statement(op, namespace, setup, paired=untimed.per_iteration)
        return StatementLoop(statement, clock, self.compiled, untimed.iteration_setup)

    @staticmethod
    def _meter(loop: Loop, clock: Clock, untimed: Untimed) -> OverheadMeter:
        twin = loop.empty_twin()
        if untimed.per_iteration:
            return PairMeter(twin)
        return LoopMeter(twin, fixed_overhead_ns(twin, clock.name, cached=clock.native >= 0))


_SWITCHED_OFF = NoCounters("performance_counters is off")

_NOT_ALONE = NoCounters(
    "what is untimed runs between the iterations, or right before them, and would be counted, too"
)


def clock_resolution(clock: ClockSetting = "wall") -> float:
    """Give the smallest difference in time that a clock can show.

    Args:
        clock: ``"wall"``, ``"process"``, ``"thread"``, or a callable that returns integer ns.

    Returns:
        Seconds; measured once per process, except for a callable. 0.0 if the clock stands still.

    Raises:
        ClockError: The callable does not return integers.
        ConfigError: There is no clock of that name.
        ConfigTypeError: It is neither a name nor a callable.
    """
    checked = Config(clock=clock).clock
    return resolution_ns(clock_of(checked), compiled()) / 1e9
