"""Epochs of one op: run, checked, and with a note on where they were if the op raises."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from ankerl_py.core.loops import MAX_SIGNAL_INTERVAL
from ankerl_py.errors import ClockError
from ankerl_py.results.measurement import MAX_ELAPSED_NS, RawMeasurement

if TYPE_CHECKING:
    from collections.abc import Callable

    from ankerl_py.backends.counters import CounterBackend
    from ankerl_py.core.loops import Loop

__all__ = ["STANDSTILL", "Epochs"]

SIGNAL_TIME_NS: Final = 2_000_000
"""About how long Ctrl-C has to wait at most while an op written in C is measured."""

STANDSTILL_NS: Final = 200_000_000
STANDSTILL_RATIO: Final = 1_000_000
"""An epoch that takes so long, and so many times what its clock shows: the clock stands still.

Sleeping does not, although it takes next to no time of the processor: a second that is slept
shows at least 10 us.
"""

STANDSTILL: Final = "the clock stands still, or shows less than is measured"
"""Why an op cannot be measured whose epochs take long, but not by its clock."""


class Epochs:
    """Runs epochs of an op.

    Attributes:
        waited_ns: How long the last epoch really took, without what comes before it.
    """

    def __init__(
        self,
        name: str,
        loop: Loop,
        counters: CounterBackend,
        before: Callable[[], object] | None = None,
        wall_ns: Callable[[], int] = time.perf_counter_ns,
        *,
        kind: str = "benchmark",
        lost: str = "it is stored",
    ) -> None:
        """Prepare to run epochs.

        Args:
            name: What to call the op in messages.
            loop: The measuring loop over it.
            counters: What counts beside the clock.
            before: What comes before each epoch without being timed; None: nothing.
            wall_ns: Gives the time that really goes by, whatever the clock of the loop is.
            kind: What the op is, for the note on an exception.
            lost: What nothing is left of then, for the same note.
        """
        self.waited_ns = 0
        self._name = name
        self._kind = kind
        self._lost = lost
        self._loop = loop
        self._counters = counters
        self._before = before
        self._wall_ns = wall_ns
        self._signal_interval = 1

    def run(self, iterations: int, where: str) -> RawMeasurement:
        """Run one epoch.

        Args:
            iterations: How often the op is to be called, at least once.
            where: What the epoch is for, for the note on an exception.

        Returns:
            What the clock and the counters said.

        Raises:
            ClockError: The clock ran backwards, or does not return integers.
            BaseException: What the op, or what comes before it, raises.
        """
        elapsed_ns = self._run(iterations, where)
        if not 0 <= elapsed_ns <= MAX_ELAPSED_NS:
            what = f"backwards by {-elapsed_ns}" if elapsed_ns < 0 else f"forwards by {elapsed_ns}"
            raise ClockError(
                f"the clock of {self._name!r} ran {what} ns during an epoch of "
                f"{iterations} iterations"
            )
        cost_ns = max(elapsed_ns / iterations, 1.0)
        self._signal_interval = max(1, int(min(MAX_SIGNAL_INTERVAL, SIGNAL_TIME_NS / cost_ns)))
        return RawMeasurement(elapsed_ns, iterations, self._counters.read())

    def stands_still(self, raw: RawMeasurement) -> bool:
        """Whether the clock showed next to nothing of an epoch that was long."""
        return self.waited_ns > max(STANDSTILL_NS, STANDSTILL_RATIO * raw.elapsed_ns)

    def _run(self, iterations: int, where: str) -> int:
        counters, loop = self._counters, self._loop
        loop.started = 0  # in case it does not get that far
        loop.in_setup = False
        try:
            if self._before is not None:
                loop.in_setup = True
                self._before()
                loop.in_setup = False
            started_ns = self._wall_ns()
            counters.begin()
            try:
                return loop.run(iterations, self._signal_interval)
            finally:
                counters.end()
                self.waited_ns = self._wall_ns() - started_ns
        except BaseException as error:
            loop.prepare_traceback()
            # There are notes from Python 3.11 on, and exceptions that do not take any.
            with suppress(Exception):
                error.add_note(self._position(iterations, where))  # type: ignore[attr-defined]
            raise

    def _position(self, iterations: int, where: str) -> str:
        loop = self._loop
        if loop.in_setup:
            # What comes before an epoch runs when none of its iterations has started.
            position = f"setup, not in the op itself, before iteration {max(1, loop.started)}"
        else:
            position = f"iteration {loop.started}"
        what = f"{self._kind} {self._name!r}"
        return f"{what} was in {position} of {iterations} in {where}; nothing of {self._lost}"
