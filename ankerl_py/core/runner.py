"""One run: epochs as the schedule wants them, measured, and what is to be subtracted from them."""

from __future__ import annotations

import gc
import os
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import attrs

from ankerl_py.config import MAX_COUNT
from ankerl_py.core.epochs import STANDSTILL, Epochs
from ankerl_py.core.schedule import Phase
from ankerl_py.core.untimed import NOTHING_UNTIMED
from ankerl_py.results.measurement import NO_OVERHEAD
from ankerl_py.results.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ankerl_py.backends.counters import CounterBackend
    from ankerl_py.config import Config
    from ankerl_py.core.calibration import OverheadMeter
    from ankerl_py.core.loops import Loop
    from ankerl_py.core.schedule import Schedule
    from ankerl_py.core.untimed import Untimed
    from ankerl_py.results.measurement import RawMeasurement

__all__ = ["Run", "collector"]

DEFAULT_TOTAL_TIME_NS: Final = 1_900_000_000
"""How long a run takes at most if something untimed comes before each iteration. It is about 2 s
with what comes before and after."""

ENDLESS_TIME_NS: Final = 50_000_000
"""How long a piece of an endless run takes; between two of them other threads get their turn."""


class Run:
    """Measures one op."""

    def __init__(
        self,
        config: Config,
        loop: Loop,
        schedule: Schedule,
        counters: CounterBackend,
        meter: OverheadMeter | None,
        *,
        untimed: Untimed = NOTHING_UNTIMED,
        wall_ns: Callable[[], int] = time.perf_counter_ns,
    ) -> None:
        """Prepare a run.

        Args:
            config: The settings, with the name of this run.
            loop: The measuring loop over the op.
            schedule: Decides on the iterations of each epoch.
            counters: What counts beside the clock.
            meter: Measures the overhead; None if it is not to be subtracted.
            untimed: What comes before the op without being timed. The loop does what comes before
                each iteration; what comes before each epoch is done here.
            wall_ns: Gives the time in nanoseconds that is limited, whatever the clock of the loop.
        """
        self._config = config
        self._schedule = schedule
        self._meter = meter
        self._epochs = Epochs(config.name, loop, counters, untimed.epoch_setup, wall_ns)
        budget_ns = config.max_total_time_ns
        if budget_ns is None and (untimed.per_iteration or untimed.batched):
            budget_ns = DEFAULT_TOTAL_TIME_NS
        self._wall_ns = wall_ns
        self._budget = None if budget_ns is None else _Budget(budget_ns, wall_ns)

    def measure(self) -> Result:
        """Measure until the schedule has all its epochs; forever, if it is endless.

        Returns:
            The result, of all epochs, or of none if the run failed.

        Raises:
            ClockError: The clock ran backwards, or does not return integers.
            BaseException: Whatever the op raises, with a note on when it did.
        """
        schedule = self._schedule
        if schedule.phase is Phase.ENDLESS:
            self._run_forever()
        failure = None
        while failure is None and (iterations := self._affordable_iterations()):
            recorded = schedule.recorded
            started_ns = self._wall_ns()
            measurement = self._epoch(iterations)
            if self._budget is not None:
                self._budget.spend(iterations, self._wall_ns() - started_ns)
            elif schedule.phase is not Phase.MEASURING and self._epochs.stands_still(measurement):
                # Once more, because this thread may only have had to wait for its turn.
                measurement = self._epoch(iterations)
                failure = STANDSTILL if self._epochs.stands_still(measurement) else None
            schedule.add(measurement)
            if schedule.recorded > recorded:  # others need not be corrected
                self._sample_overhead(iterations)
        # Without a limit, a clock that stands still would have been found out above.
        if schedule.limited and not any(raw.elapsed_ns for raw in schedule.measurements):
            failure = STANDSTILL
        return self._result(failure or schedule.failure)

    def _affordable_iterations(self) -> int:
        if self._budget is not None:
            self._budget.keep(self._schedule, self._config)
        return self._schedule.iterations

    def _sample_overhead(self, iterations: int) -> None:
        if self._meter is not None:
            self._meter.sample(iterations)

    def _result(self, failure: str | None) -> Result:
        if failure is not None:
            return Result.from_measurements(self._config, (), NO_OVERHEAD, failure)
        overhead = NO_OVERHEAD if self._meter is None else self._meter.overhead()
        schedule = self._schedule
        return Result.from_measurements(
            self._config, schedule.measurements, overhead, stopped_early=schedule.limited
        )

    def _epoch(self, iterations: int) -> RawMeasurement:
        return self._epochs.run(iterations, self._phase())

    def _phase(self) -> str:
        schedule = self._schedule
        if schedule.phase is Phase.MEASURING:
            return f"epoch {schedule.recorded + 1} of {self._config.epochs}"
        return {
            Phase.WARMUP: "the warmup",
            Phase.UPSCALING: "the search for the number of iterations",
            Phase.ENDLESS: "the endless run",
        }[schedule.phase]

    def _run_forever(self) -> None:
        iterations = 1
        while True:
            started_ns = time.perf_counter_ns()
            self._epoch(iterations)
            elapsed_ns = max(1, time.perf_counter_ns() - started_ns)
            # Not more than twice as many: the first ones may be fast for a reason of their own.
            iterations = max(1, min(2 * iterations, iterations * ENDLESS_TIME_NS // elapsed_ns))


class _Budget:
    """Keeps a run within a time that includes everything untimed."""

    def __init__(self, budget_ns: int, wall_ns: Callable[[], int]) -> None:
        self._wall_ns = wall_ns
        self._end_ns = wall_ns() + budget_ns
        self._epochs = 0
        self._spent_ns = 0
        self._iterations = 0

    def spend(self, iterations: int, elapsed_ns: int) -> None:
        """Take note of how long an epoch really took."""
        self._epochs += 1
        if self._epochs == 2:
            # The first one may have been slow for reasons of its own, such as imports.
            self._spent_ns = self._iterations = 0
        self._spent_ns += elapsed_ns
        self._iterations += iterations

    def keep(self, schedule: Schedule, config: Config) -> None:
        """Have the schedule do no more than there is time for, shared among the epochs to come.

        At least one epoch is recorded, however long it takes; another one only if there is time
        for the least iterations that it may have.
        """
        if not self._iterations or not schedule.iterations:
            return  # nobody knows yet what an iteration costs, or there is none to come
        cost_ns = max(self._spent_ns / self._iterations, 1.0)
        left_ns = max(self._end_ns - self._wall_ns(), 0)
        least = config.epoch_iterations or config.min_epoch_iterations
        if schedule.recorded and left_ns < least * cost_ns:
            schedule.stop()
            return
        share_ns = left_ns / (config.epochs - schedule.recorded)
        schedule.limit(max(1, int(min(share_ns / cost_ns, MAX_COUNT))))


class _Collector:
    """Switches the garbage collector for several runs at once, in several threads.

    The collector is one for the whole process, so the state to restore is the one from before
    the first of overlapping runs; and until the last one ends, the newest wish holds.
    """

    def __init__(self) -> None:
        # Reentrant: a signal handler may run a benchmark, too.
        self._lock = threading.RLock()
        self._wishes: list[_Wish] = []
        self._before = True

    def begin(self, wish: _Wish) -> None:
        with self._lock:
            if not self._wishes:
                self._before = gc.isenabled()
            self._wishes.append(wish)
            _switch(wish.enabled)

    def end(self, wish: _Wish) -> None:
        with self._lock:
            if wish in self._wishes:
                self._wishes.remove(wish)
                _switch(self._wishes[-1].enabled if self._wishes else self._before)

    def after_fork(self) -> None:
        """Go on in a child process: there is only this one thread, and it does not wait."""
        self._lock = threading.RLock()
        others = [wish for wish in self._wishes if wish.thread != threading.get_ident()]
        for wish in others:
            self.end(wish)


@attrs.frozen(eq=False)
class _Wish:
    enabled: bool
    thread: int = attrs.field(factory=threading.get_ident)


def _switch(enabled: bool) -> None:
    (gc.enable if enabled else gc.disable)()


_COLLECTOR: Final = _Collector()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_COLLECTOR.after_fork)


@contextmanager
def collector(*, enabled: bool) -> Iterator[None]:
    """Have the garbage collector on or off for a while, and then as it was before.

    Whatever the op does to the collector in the meantime is undone as well.
    """
    wish = _Wish(enabled)
    try:
        # In here, because Ctrl-C may come as soon as it is done.
        _COLLECTOR.begin(wish)
        yield
    finally:
        _COLLECTOR.end(wish)
