"""Fakes for tests, of this package and of its users: no sleeping, no patching, exact figures.

::

    clock = FakeClock()
    bench = Bench().clock(clock).output(None)
    bench.run("virtual", lambda: clock.advance(250))
    assert bench.results[0].median("elapsed") == 250e-9
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ankerl_py.config import Config
from ankerl_py.results.measure import Measure
from ankerl_py.results.measurement import NO_OVERHEAD, Overhead, RawMeasurement
from ankerl_py.results.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["FakeClock", "FakeCounters", "make_result"]


class FakeClock:
    """A clock that advances only when it is told to.

    Attributes:
        now_ns: The virtual time in nanoseconds.
        reads: How often it was read.
        resolution_ns: What it says of its own resolution; None: it has to be measured.
    """

    def __init__(
        self,
        *,
        tick_ns: int = 1,
        read_cost_ns: int = 0,
        resolution_ns: float | None = 20.0,
        start_ns: int = 0,
    ) -> None:
        """Make a clock.

        Args:
            tick_ns: It shows multiples of this only, rounded down: 15_625_000 is a coarse clock.
            read_cost_ns: How much it advances by each reading.
            resolution_ns: What it says of its own resolution; None: it has to be measured.
            start_ns: The virtual time at first.
        """
        self.now_ns = start_ns
        self.reads = 0
        self.resolution_ns = resolution_ns
        self._tick_ns = tick_ns
        self._read_cost_ns = read_cost_ns

    def advance(self, nanoseconds: int) -> None:
        """Let time go by; negative: backwards."""
        self.now_ns += nanoseconds

    def __call__(self) -> int:
        """Read the clock."""
        self.reads += 1
        self.now_ns += self._read_cost_ns
        return self.now_ns // self._tick_ns * self._tick_ns


class FakeCounters:
    """Counters that count what they are told, between `begin` and `end` only.

    Attributes:
        epochs: How many epochs were counted.
        reason: Why something is not counted, if so.
    """

    def __init__(self, *measures: Measure | str, reason: str = "") -> None:
        """Make counters.

        Args:
            *measures: What is counted; by default everything that can be.
            reason: Why something is not counted.

        Raises:
            ValueError: There is no such measure, or it is no counter.
        """
        self.reason = reason
        self.epochs = 0
        self._running = False
        self._counts = dict.fromkeys(map(_counter, measures or _COUNTERS), 0)

    def count(self, measure: Measure | str, number: int = 1) -> None:
        """Have events happen. They are lost if nothing counts them at the time."""
        counter = _counter(measure)
        if self._running and counter in self._counts:
            self._counts[counter] += number

    def begin(self) -> None:
        """Start counting from zero."""
        self._counts = dict.fromkeys(self._counts, 0)
        self._running = True

    def end(self) -> None:
        """Stop counting."""
        self._running = False
        self.epochs += 1

    def read(self) -> Mapping[Measure, int]:
        """Give what was counted."""
        return dict(self._counts)


_NO_COUNTERS = (Measure.ELAPSED, Measure.ITERATIONS)
_COUNTERS = tuple(measure for measure in Measure if measure not in _NO_COUNTERS)


def _counter(measure: Measure | str) -> Measure:
    counter = Measure.parse(measure)
    if counter not in _COUNTERS:
        raise ValueError(f"{measure!r} is no counter - counters are {', '.join(_COUNTERS)}")
    return counter


def make_result(
    epochs: Iterable[RawMeasurement | tuple[int, int]] = (),
    /,
    *,
    config: Config | None = None,
    overhead: Overhead = NO_OVERHEAD,
    failure: str | None = None,
    **settings: object,
) -> Result:
    """Make a result without measuring anything.

    Args:
        epochs: For each one the elapsed nanoseconds and the iterations, or a `RawMeasurement`.
        config: The settings; by default those of ``Config()``.
        overhead: What is subtracted.
        failure: Why it could not be measured, for a result that was not.
        **settings: Changes to the settings, such as ``name="sha256"``.

    Returns:
        The result.
    """
    measurements = [
        epoch if isinstance(epoch, RawMeasurement) else RawMeasurement(*epoch) for epoch in epochs
    ]
    return Result.from_measurements(
        (config or Config()).replace(**settings), measurements, overhead, failure
    )
