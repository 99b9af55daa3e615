"""Clocks: which ones there are, what they have to answer, and how fine they are."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import pytest

from ankerl_py import clock_resolution
from ankerl_py.backends import clocks
from ankerl_py.backends.clocks import Clock, clock_of, measure_resolution_ns, resolution_ns
from ankerl_py.backends.compiled import compiled
from ankerl_py.errors import ClockError
from ankerl_py.testing import FakeClock

if TYPE_CHECKING:
    from collections.abc import Callable

    from ankerl_py.core.instruments import Instruments


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("wall", time.perf_counter_ns),
        ("process", time.process_time_ns),
        ("thread", time.thread_time_ns),
    ],
)
def test_clocks_by_name(name: Any, read: Callable[[], int]) -> None:
    """A clock by name is one of Python's own, and one of the native module's."""
    clock = clock_of(name)
    assert (clock.name, clock.read) == (name, read)
    assert clock.native >= 0
    assert isinstance(clock(), int)
    assert clock_of(name) is clock


def test_clock_of_the_users_own() -> None:
    """It is named after the callable, is not native, and says its resolution if it can."""

    def ticks() -> int:
        return 7

    assert clock_of(ticks) == Clock(ticks.__qualname__, ticks)
    assert clock_of(ticks)() == 7
    fake = FakeClock(resolution_ns=2.5)
    assert clock_of(fake) == Clock("FakeClock", fake, known_resolution_ns=2.5)
    assert clock_of(fake).native == -1


@pytest.mark.parametrize("value", ["20", -1, float("nan"), object])
def test_resolution_has_to_be_a_number(value: Any) -> None:
    """What a clock says of its own resolution is believed only if it can be true."""
    with pytest.raises(ClockError) as caught:
        clock_of(FakeClock(resolution_ns=value))
    assert str(caught.value) == (
        f"clock FakeClock has resolution_ns {value!r}, which is no number >= 0"
    )


@pytest.mark.parametrize("value", [1.0, None, "7", True, 1j])
def test_reading_has_to_be_an_integer(value: Any) -> None:
    """The error names the clock, shows its answer, and says what it should be."""
    with pytest.raises(ClockError) as caught:
        Clock("mine", lambda: value)()
    assert str(caught.value) == (
        f"clock mine returned {value!r}, but a clock returns integer nanoseconds, as "
        "time.perf_counter_ns does"
    )


def test_negative_times_are_times() -> None:
    """Where a clock starts counting is its own business."""
    assert Clock("mine", lambda: -5)() == -5


def from_list(readings: list[int]) -> Clock:
    """A clock that shows these times, then stays at the last one."""
    left = iter(readings)
    return Clock("list", lambda: next(left, readings[-1]))


@pytest.mark.parametrize(
    ("readings", "resolution"),
    [
        ([0, 10, 20, 25, 60], 5),
        ([0, 0, 0, 40, 40, 80], 40),
        ([100, 50, 80], 30),  # running backwards is no step
        ([0, 15_625_000], 15_625_000),
        ([0], 0),
        ([5, 4, 3], 0),
    ],
)
def test_resolution_is_the_smallest_step(
    readings: list[int], resolution: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps forward count. A clock that stands still is given up, and has none."""
    monkeypatch.setattr(clocks, "MAX_SEARCH_NS", 1_000_000)
    measured = measure_resolution_ns(from_list(readings))
    assert measured == resolution
    assert isinstance(measured, float)


def test_only_so_many_steps_are_looked_at() -> None:
    """Twenty steps are enough: a finer one behind them is not seen, nor is a reading more made."""
    clock = FakeClock(read_cost_ns=10)
    assert measure_resolution_ns(clock_of(clock)) == 10
    assert clock.reads == clocks.STEPS + 1


def test_search_in_a_standing_clock_is_bounded() -> None:
    """It takes about as long as three steps of 15.6 ms last, not for ever."""
    clock = FakeClock()
    assert measure_resolution_ns(clock_of(clock)) == 0.0
    assert clock.reads > 100


@pytest.mark.parametrize("name", ["wall", "process", "thread"])
def test_resolution_of_the_systems_clocks(instruments: Instruments, name: Any) -> None:
    """Each clock of the system advances, by less than a second, in C and in Python."""
    assert 0 < measure_resolution_ns(clock_of(name), instruments.compiled) < 1e9


def test_search_in_c_is_bounded() -> None:
    """It looks at so many steps at most, in so many readings at most."""
    native = compiled()
    if native is None:
        pytest.skip("there is no native module")
    step_ns = native.lib.ap_clock_step_ns
    assert step_ns(native.lib.AP_CLOCK_THREAD, 2**31 - 1, 1000) >= 0
    assert (step_ns(0, 0, 10**18), step_ns(0, 20, 0)) == (0, 0)


def test_resolution_is_measured_once(
    instruments: Instruments, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system's clocks are measured at the first use; C and Python see different steps."""
    measured: list[object] = []

    def measure(clock: Clock, native: object) -> float:
        measured.append(native)
        return 7.0

    monkeypatch.setattr(clocks, "_resolutions", {})
    monkeypatch.setattr(clocks, "measure_resolution_ns", measure)
    wall, process = clock_of("wall"), clock_of("process")
    for _ in range(3):
        assert resolution_ns(wall, instruments.compiled) == 7.0
        assert resolution_ns(process, instruments.compiled) == 7.0
    assert measured == [instruments.compiled] * 2
    assert resolution_ns(wall, None) == 7.0
    assert len(measured) == (2 if instruments.compiled is None else 3)


def test_resolution_of_the_users_own_clock() -> None:
    """Its word is taken; without one it is measured each time, in Python."""
    assert resolution_ns(clock_of(FakeClock(resolution_ns=0)), compiled()) == 0
    clock = FakeClock(resolution_ns=None, read_cost_ns=3)
    assert resolution_ns(clock_of(clock), compiled()) == 3.0
    reads = clock.reads
    assert resolution_ns(clock_of(clock), compiled()) == 3.0
    assert clock.reads == 2 * reads


def test_public_resolution_is_in_seconds() -> None:
    """`clock_resolution` takes what the setting `clock` takes."""
    assert clock_resolution(FakeClock(resolution_ns=20.0)) == 20e-9
    assert 0 < clock_resolution() < 0.1
    assert clock_resolution("thread") == resolution_ns(clock_of("thread"), compiled()) / 1e9
    with pytest.raises(ClockError):
        clock_resolution(lambda: 1.0)  # type: ignore[arg-type,return-value]


@pytest.mark.parametrize("resolution", [True, "20", -1, math.nan, math.inf, 2**70])
def test_resolution_that_is_none(resolution: object) -> None:
    """What a clock says of its own resolution is believed only if it is a time."""

    def clock() -> int:
        return 0

    clock.resolution_ns = resolution  # type: ignore[attr-defined]
    with pytest.raises(ClockError, match="resolution_ns"):
        clock_of(clock)
