"""The overhead of measuring: how it is found out, on loops whose cost is known exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ankerl_py.core import calibration
from ankerl_py.core.calibration import (
    FIXED_SAMPLES,
    LAYOUT_SPREAD,
    TWIN_EPOCHS,
    TWIN_TIME_NS,
    TWIN_WARMUP,
    LoopMeter,
    fixed_overhead_ns,
    measure_fixed_overhead_ns,
)
from ankerl_py.results.measurement import NO_OVERHEAD, Overhead

if TYPE_CHECKING:
    from collections.abc import Callable


class Twin:
    """A loop that says to have taken a given time, and keeps in mind what it was asked for."""

    kind = "fake"
    in_setup = False

    def __init__(self, elapsed_ns: Callable[[int], float]) -> None:
        self.asked: list[int] = []
        self.intervals: set[int] = set()
        self.started = 0
        self._elapsed_ns = elapsed_ns

    def run(self, iterations: int, signal_interval: int) -> int:
        self.asked.append(iterations)
        self.intervals.add(signal_interval)
        return int(self._elapsed_ns(iterations))

    def empty_twin(self) -> Twin:
        return self

    def prepare_traceback(self) -> None:
        pass


def linear(fixed_ns: float, per_iteration_ns: float) -> Twin:
    return Twin(lambda n: fixed_ns + n * per_iteration_ns)


def sampled(twin: Twin, fixed_ns: float, *iterations: int) -> LoopMeter:
    meter = LoopMeter(twin, fixed_ns)
    for n in iterations:
        meter.sample(n)
    return meter


def test_fixed_overhead_is_that_of_epochs_without_iterations() -> None:
    """The median over many of them, so that a few interruptions do not matter."""
    twin = linear(23, 1000)
    assert measure_fixed_overhead_ns(twin) == 23.0
    assert twin.asked == [0] * FIXED_SAMPLES
    times = iter([*range(FIXED_SAMPLES - 1), 10**9])
    assert measure_fixed_overhead_ns(Twin(lambda n: next(times))) == FIXED_SAMPLES // 2


def test_fixed_overhead_is_measured_once_per_loop_and_clock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each type of loop on each clock has its own figure, a clock of the user's own never."""
    monkeypatch.setattr(calibration, "_fixed", {})

    class OtherTwin(Twin):
        pass

    assert fixed_overhead_ns(linear(5, 0), "wall", cached=True) == 5.0
    assert fixed_overhead_ns(linear(6, 0), "wall", cached=True) == 5.0
    assert fixed_overhead_ns(linear(6, 0), "process", cached=True) == 6.0
    assert fixed_overhead_ns(OtherTwin(lambda n: 7), "wall", cached=True) == 7.0
    assert fixed_overhead_ns(linear(8, 0), "wall", cached=False) == 8.0
    assert fixed_overhead_ns(linear(9, 0), "wall", cached=False) == 9.0
    assert fixed_overhead_ns(linear(9, 0), "wall", cached=True) == 5.0


def test_overhead_is_found_exactly() -> None:
    """If the twin takes a fixed time and one per iteration, these are the overhead."""
    meter = sampled(linear(20, 15), 20.0, 1, 10, 100, 1000)
    assert meter.overhead() == Overhead(
        fixed_ns=20.0,
        per_iteration_ns=15.0,
        uncertainty_ns=15.0 * LAYOUT_SPREAD,
        kind="fake",
    )


@given(st.integers(0, 1000), st.integers(0, 10**6), st.lists(st.integers(1, 10**12), min_size=1))
def test_overhead_is_found_for_any_cost(fixed: int, cost: int, epochs: list[int]) -> None:
    """The cost is found, and no epoch of the twin is much longer than it should be."""
    twin = linear(fixed, cost)
    overhead = sampled(twin, float(fixed), *epochs).overhead()
    assert overhead.per_iteration_ns == cost
    assert (overhead.fixed_ns, overhead.kind) == (fixed, "fake")
    asked = twin.asked[1:]
    assert len(asked) == TWIN_EPOCHS * len(epochs)
    assert all(1 <= n <= epochs[i // TWIN_EPOCHS] for i, n in enumerate(asked))
    assert all(n * max(cost, 0.5) <= max(TWIN_TIME_NS, cost) for n in asked[1:])


def test_twin_is_warmed_up_first() -> None:
    """The first calls of a new function are slow, and are no sample."""
    twin = Twin(lambda n: 10**9 if n == TWIN_WARMUP else 15 * n)
    meter = LoopMeter(twin, 0.0)
    assert twin.asked == [TWIN_WARMUP]
    meter.sample(10)
    assert meter.overhead().per_iteration_ns == 15.0


def test_twin_runs_as_the_op_does() -> None:
    """It has as many iterations if they are few, and looks at signals as often as a fast op."""
    twin = linear(20, 15)
    sampled(twin, 20.0, 1, 2, 3)
    assert twin.asked == [TWIN_WARMUP, 1, 1, 2, 2, 3, 3]
    assert twin.intervals == {1000}


def test_twin_is_bounded_in_time() -> None:
    """However many iterations the op has, the twin's epochs take about their time each."""
    twin = linear(20, 10)
    sampled(twin, 20.0, 10**6, 10**6, 10**9)
    # 1000 first, then as many as fit, the fixed part of 20 ns counted in.
    assert twin.asked == [TWIN_WARMUP, 1000, *[3992] * 1, *twin.asked[3:]]
    assert all(39_000 <= 20 + 10 * n <= 40_100 for n in twin.asked[2:])


def test_twin_grows_slowly_on_a_slow_clock() -> None:
    """A clock that shows nothing at first does not make the twin run for long."""
    twin = Twin(lambda n: 0)
    sampled(twin, 0.0, *[10**9] * 3)
    assert twin.asked[1:] == [1000, 10_000, *[80_000] * 4]


def test_slow_empty_op_runs_once() -> None:
    """An iteration that is longer than the twin's time is done all the same, once."""
    twin = linear(0, 10**6)
    sampled(twin, 0.0, 500, 500)
    assert twin.asked[2:] == [1, 1, 1]


def test_overhead_is_the_median_of_the_samples() -> None:
    """One interruption in several samples changes nothing; the spread is the uncertainty."""
    costs = iter([0, 10, 12, 900, 14, 16])
    meter = sampled(Twin(lambda n: next(costs) * n), 0.0, 10, 10)
    # Samples 10, 12, 900, 14: the median is 13, the deviations are 3, 1, 887, 1.
    assert meter.overhead() == Overhead(
        fixed_ns=0.0, per_iteration_ns=13.0, uncertainty_ns=2.0, kind="fake"
    )


def test_memory_layout_is_part_of_the_uncertainty() -> None:
    """Even if all samples agree, another empty function would have cost a little more or less."""
    overhead = sampled(linear(0, 100), 0.0, 1000).overhead()
    assert overhead.uncertainty_ns == pytest.approx(3.0)


def test_overhead_is_never_negative() -> None:
    """A twin that is faster than the fixed cost has no cost per iteration, and is no error."""
    meter = sampled(Twin(lambda n: 5), 20.0, 10)
    assert meter.overhead() == Overhead(
        fixed_ns=20.0, per_iteration_ns=0.0, uncertainty_ns=1.5, kind="fake"
    )


def test_without_samples_there_is_no_overhead() -> None:
    """A run without a recorded epoch has nothing to be corrected."""
    assert sampled(linear(20, 15), 20.0).overhead() is NO_OVERHEAD


def test_twins_of_odd_clocks_do_no_harm() -> None:
    """Times that jump, also backwards, give a finite overhead after a bounded number of calls."""
    jumps: Any = iter([0, -(10**9), 10**12, -5, 0, 3, 10**15, 0, 0])
    twin = Twin(lambda n: next(jumps))
    overhead = sampled(twin, 1.0, *[10**6] * 4).overhead()
    assert 0.0 <= overhead.per_iteration_ns < 1e15
    assert max(twin.asked) <= 100_000
