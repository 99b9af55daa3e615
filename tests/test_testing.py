"""The fakes that the package ships: they do exactly what tests rely on."""

from __future__ import annotations

import pytest

from ankerl_py.config import Config
from ankerl_py.results.measure import COUNTER_MEASURES, Measure
from ankerl_py.results.measurement import Overhead, RawMeasurement
from ankerl_py.testing import FakeClock, FakeCounters, make_result


def test_clock_stands_still_until_told() -> None:
    """Virtual time goes by only when it is advanced."""
    clock = FakeClock(start_ns=5)
    assert [clock(), clock()] == [5, 5]
    clock.advance(10)
    assert clock() == 15
    clock.advance(-20)
    assert clock() == -5
    assert (clock.reads, clock.now_ns) == (4, -5)


def test_clock_can_cost_time_to_read() -> None:
    """Each reading advances it first, as the time to read a clock is part of what it shows."""
    clock = FakeClock(read_cost_ns=7)
    assert [clock(), clock(), clock()] == [7, 14, 21]


def test_clock_can_be_coarse() -> None:
    """It shows multiples of its tick, rounded down, and forgets nothing in between."""
    clock = FakeClock(tick_ns=100, start_ns=99)
    assert clock() == 0
    clock.advance(1)
    assert clock() == 100
    clock.advance(99)
    assert clock() == 100
    clock.advance(1)
    assert clock() == 200
    clock.advance(-201)
    assert clock() == -100


def test_clock_says_its_resolution() -> None:
    """By default that of the recorded cases; None has it measured."""
    assert FakeClock().resolution_ns == 20.0
    assert FakeClock(resolution_ns=None).resolution_ns is None


def test_counters_count_while_they_run() -> None:
    """What happens before `begin` or after `end` is lost, and `begin` starts from zero."""
    counters = FakeCounters("instructions", Measure.PAGEFAULTS)
    zero = {Measure.INSTRUCTIONS: 0, Measure.PAGEFAULTS: 0}
    counters.count("instructions")
    assert (dict(counters.read()), counters.epochs) == (zero, 0)
    counters.begin()
    counters.count("instructions", 5)
    counters.count(Measure.INSTRUCTIONS)
    counters.count("cpucycles")  # not one of those that are counted
    counters.end()
    counters.count("pagefaults")
    assert (dict(counters.read()), counters.epochs) == ({**zero, Measure.INSTRUCTIONS: 6}, 1)
    counters.begin()
    counters.end()
    assert (dict(counters.read()), counters.epochs) == (zero, 2)


def test_counters_count_everything_by_default() -> None:
    """Without names, all that can be counted is."""
    assert set(FakeCounters().read()) == set(COUNTER_MEASURES)
    assert FakeCounters().reason == ""
    assert FakeCounters(reason="not allowed").reason == "not allowed"


def test_counts_that_were_read_do_not_change() -> None:
    """What `read` gives belongs to the caller."""
    counters = FakeCounters()
    counters.begin()
    counts = counters.read()
    counters.count("instructions")
    assert counts[Measure.INSTRUCTIONS] == 0


@pytest.mark.parametrize("measure", ["elapsed", Measure.ITERATIONS, "heat"])
def test_counters_know_what_is_none(measure: str) -> None:
    """Time and iterations are not counted by counters."""
    with pytest.raises(ValueError, match=r"is no counter - counters are .*instructions"):
        FakeCounters(measure)
    with pytest.raises(ValueError, match="is no counter"):
        FakeCounters().count(measure)


def test_result_is_made_of_pairs_and_measurements() -> None:
    """Epochs are given as they are convenient; settings are changes of a config."""
    epoch = RawMeasurement(500, 5, {Measure.INSTRUCTIONS: 50})
    overhead = Overhead(fixed_ns=10.0, kind="function")
    result = make_result([(1000, 10), epoch], overhead=overhead, name="x", epochs=2)
    assert result.raw == (RawMeasurement(1000, 10), epoch)
    assert (result.config, result.overhead) == (Config(name="x", epochs=2), overhead)
    assert result.failure is None
    assert make_result(config=Config(unit="byte"), batch=2).config == Config(unit="byte", batch=2.0)
    assert make_result(failure="no").failure == "no"
