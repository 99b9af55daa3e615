"""Clocks, and what they can tell apart."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import attrs

from ankerl_py.errors import ClockError
from ankerl_py.units import MAX_DURATION_NS, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from ankerl_py.backends.compiled import Compiled
    from ankerl_py.config import ClockSetting

__all__ = ["Clock", "clock_of", "measure_resolution_ns", "resolution_ns"]

STEPS: Final = 20
"""So many steps of a clock are looked at; the smallest one is its resolution."""

MAX_READS: Final = 1_000_000
"""Bound for a clock that stands still: 20 ms of reading in C."""

MAX_SEARCH_NS: Final = 50_000_000
"""Bound for the same in Python, enough to see 3 steps of a clock that steps 15.6 ms."""


@attrs.frozen
class Clock:
    """A source of times.

    Attributes:
        name: What to call it in messages and saved results.
        read: Gives the time in integer nanoseconds since an arbitrary moment.
        native: Its number in the native module; -1 if it is none of those.
        known_resolution_ns: What the clock says of itself, in ns; None: to be measured.
    """

    name: str
    read: Callable[[], int]
    native: int = -1
    known_resolution_ns: float | None = None

    def __call__(self) -> int:
        """Read the clock, and check that it answers with integer nanoseconds.

        Raises:
            ClockError: It does not.
        """
        now: object = self.read()
        if isinstance(now, int) and not isinstance(now, bool):
            return now
        raise ClockError(
            f"clock {self.name} returned {shown(now)}, but a clock returns integer "
            "nanoseconds, as time.perf_counter_ns does"
        )


# On Linux and macOS, perf_counter_ns reads the same clock as the native module's "wall".
_BUILTIN: Final = {
    "wall": Clock("wall", time.perf_counter_ns, native=0),
    "process": Clock("process", time.process_time_ns, native=1),
    "thread": Clock("thread", time.thread_time_ns, native=2),
}

_resolutions: dict[tuple[str, bool], float] = {}


def clock_of(setting: ClockSetting) -> Clock:
    """Give the clock that a setting means.

    Args:
        setting: ``"wall"``, ``"process"``, ``"thread"``, or a callable that returns integer
            nanoseconds. If the callable has an attribute ``resolution_ns``, that is believed.

    Returns:
        The clock.

    Raises:
        ClockError: That attribute is no number above or equal to 0.
    """
    if isinstance(setting, str):
        return _BUILTIN[setting]
    name = getattr(setting, "__qualname__", type(setting).__qualname__)
    resolution: Any = getattr(setting, "resolution_ns", None)
    if resolution is not None and not (isinstance(resolution, (int, float)) and resolution >= 0):
        raise ClockError(
            f"clock {name} has resolution_ns {shown(resolution)}, which is no number >= 0"
        )
    if resolution is not None and not _is_resolution(resolution):
        raise ClockError(
            f"clock {name} says that its resolution_ns is {shown(resolution)}, which is no number "
            "of nanoseconds"
        )
    return Clock(name, setting, known_resolution_ns=resolution)


def _is_resolution(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return 0 <= value <= MAX_DURATION_NS


def measure_resolution_ns(clock: Clock, compiled: Compiled | None = None) -> float:
    """Measure the smallest difference that a clock shows between two successive readings.

    That is as fine as it can tell times apart, the cost of reading it included.

    Args:
        clock: The clock.
        compiled: The native module, which reads its own clocks faster than Python can.

    Returns:
        Nanoseconds; 0.0 if the clock did not advance within bounded time.

    Raises:
        ClockError: The clock does not return integers.
    """
    if compiled is not None and clock.native >= 0:
        return float(compiled.lib.ap_clock_step_ns(clock.native, STEPS, MAX_READS))
    end = time.perf_counter_ns() + MAX_SEARCH_NS
    smallest = 0
    steps = 0
    last = clock()
    while steps < STEPS and time.perf_counter_ns() < end:
        now = clock()
        if now == last:
            continue
        if now > last and (smallest == 0 or now - last < smallest):
            smallest = now - last
        last = now
        steps += 1
    return float(smallest)


def resolution_ns(clock: Clock, compiled: Compiled | None = None) -> float:
    """Give the resolution of a clock in nanoseconds: measured once per process, or its own word.

    A clock of the user's own is measured each time: it may be a different one under an old name.
    """
    if clock.known_resolution_ns is not None:
        return clock.known_resolution_ns
    if clock.native < 0:
        return measure_resolution_ns(clock)
    key = (clock.name, compiled is not None)
    if key not in _resolutions:
        _resolutions[key] = measure_resolution_ns(clock, compiled)
    return _resolutions[key]
