from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ankerl_py.config import MAX_COUNT, Config
from ankerl_py.core.schedule import OVERFLOW, Phase, Schedule, target_epoch_ns
from ankerl_py.errors import ConfigError
from ankerl_py.results.measurement import RawMeasurement
from strategies import counts
from support import check_case, config_from_set, departs, load_cases

if TYPE_CHECKING:
    from collections.abc import Callable

RESOLUTION_NS = 20
"""The resolution of the clock in the vectors."""

# The number grows tenfold up to 2**64, and only a search that is over can begin again.
MAX_SEARCH_STEPS = 60


class Trace:
    """What a schedule asked for, step by step, when an op behaves according to a model.

    The model gives the duration in ns of the k-th epoch with n iterations.
    """

    def __init__(
        self, schedule: Schedule, model: Callable[[int, int], int], max_steps: int = 10_000
    ) -> None:
        self.schedule = schedule
        self.n: list[int] = []
        self.elapsed: list[int] = []
        self.phases: list[Phase] = []
        while schedule.iterations and len(self.n) < max_steps:
            n = schedule.iterations
            elapsed = model(len(self.n), n)
            self.n.append(n)
            self.elapsed.append(elapsed)
            self.phases.append(schedule.phase)
            schedule.add(RawMeasurement(elapsed, n))

    @property
    def finished(self) -> bool:
        return self.schedule.iterations == 0

    @property
    def restarts(self) -> int:
        pairs = zip(self.phases, self.phases[1:], strict=False)
        return sum(a is Phase.MEASURING and b is Phase.UPSCALING for a, b in pairs)


def model_of(model: dict[str, Any]) -> Callable[[int, int], int]:
    """The duration of an epoch as the vectors define it."""
    if "elapsed_ns" in model:
        elapsed = [int(ns) for ns in model["elapsed_ns"]]
        return lambda k, n: elapsed[k % len(elapsed)]
    cost = [int(ps) for ps in model["cost_ps"]]
    overhead, tick = int(model.get("overhead_ns", 0)), int(model.get("tick_ns", 1))
    return lambda k, n: min((n * cost[k % len(cost)] // 1000 + overhead) // tick * tick, 4 * 10**17)


def calls(cost_ns: Callable[[int], int]) -> Callable[[int, int], int]:
    """Make a model of what the k-th call of the op takes; only the first 10,000 are special."""
    done = 0

    def model(_: int, n: int) -> int:
        nonlocal done
        special = range(done, min(done + n, 10_000))
        done += n
        return sum(map(cost_ns, special)) + (n - len(special)) * cost_ns(10_000)

    return model


def steady(cost_ns: float) -> Callable[[int, int], int]:
    return lambda _, n: int(n * cost_ns)


def answer(case: dict[str, Any]) -> dict[str, Any]:
    """What this package answers, in the form of the vectors."""
    try:
        config = config_from_set(case["in"]["set"])
    except ConfigError as error:
        return {"error": str(error)}
    endless = case["in"].get("env", {}).get("NANOBENCH_ENDLESS") == config.name
    schedule = Schedule(config, RESOLUTION_NS, endless)
    actual: dict[str, Any] = {"target_ns": str(schedule.target_ns)}
    if case["in"]["kind"] != "logic":
        return actual
    trace = Trace(schedule, model_of(case["in"]["model"]), case["in"]["max_steps"])
    return actual | {
        "n": [str(n) for n in trace.n],
        "elapsed_ns": [str(ns) for ns in trace.elapsed],
        "state": [phase.value for phase in trace.phases],
        "finished": trace.finished,
        "result": {
            "iterations": [float(raw.iterations) for raw in schedule.measurements],
            "elapsed": [
                float(raw.elapsed_ns) / 1e9 / float(raw.iterations) for raw in schedule.measurements
            ],
        },
    }


@pytest.mark.parametrize("case", load_cases("iteration_logic", "logic", "target"))
def test_iterations_are_those_of_nanobench(case: dict[str, Any]) -> None:
    """Target, iterations and phase of each epoch, and what is recorded, are nanobench's."""
    actual = answer(case)
    expected = {key: value for key, value in case["out"].items() if key not in ("text", "stderr")}
    check_case("iteration_logic", case, actual, expected)
    failed = "overflow" in case["out"].get("text", "")
    if not departs("iteration_logic", case) and case["in"]["kind"] == "logic":
        schedule = Schedule(config_from_set(case["in"]["set"]), RESOLUTION_NS)
        if case["in"].get("output") and "NANOBENCH_ENDLESS" not in case["in"].get("env", {}):
            Trace(schedule, model_of(case["in"]["model"]), case["in"]["max_steps"])
            assert schedule.failure == (OVERFLOW if failed else None)


def test_the_message_of_an_overflow_is_nanobenchs() -> None:
    """The vectors have this text in the row of a failed run."""
    texts = [param.values[0]["out"].get("text", "") for param in load_cases("iteration_logic")]
    assert sum(OVERFLOW in text for text in texts) == sum("overflow" in text for text in texts) > 0


@pytest.mark.parametrize(
    ("settings", "resolution", "expected"),
    [
        ({}, 20, 1_000_000),
        ({}, 5000, 5_000_000),
        ({}, 41.6, 1_000_000),
        ({"min_epoch_time_ns": 0}, 41.6666, 41_667),
        ({"min_epoch_time_ns": 0}, 0, 0),
        ({}, 15_600_000, 100_000_000),
        ({"min_epoch_time_ns": 2 * 10**8}, 15_600_000, 2 * 10**8),
        ({"clock_resolution_multiple": MAX_COUNT}, 20, 100_000_000),
        ({"clock_resolution_multiple": MAX_COUNT}, 0.5, 100_000_000),
        ({"clock_resolution_multiple": 0}, math.inf, 100_000_000),
        ({}, math.nan, 100_000_000),
        ({}, math.inf, 100_000_000),
    ],
)
def test_target(settings: dict[str, Any], resolution: float, expected: int) -> None:
    """Resolution times multiple, within the limits; the lower limit wins, nothing wraps around."""
    config = Config(**settings)
    actual = target_epoch_ns(config, resolution)
    assert actual == expected
    assert type(actual) is int
    assert Schedule(config, resolution).target_ns == expected


def test_wrapping_product_departs_to_the_upper_limit() -> None:
    """iter-058: the epochs last 100 ms, where nanobench's product wraps around to 0."""
    trace = Trace(Schedule(Config(clock_resolution_multiple=2**62), 20), steady(10))
    assert trace.schedule.target_ns == 100_000_000
    assert min(raw.elapsed_ns for raw in trace.schedule.measurements) >= 100_000_000


FAST_NS = 7

SLOW_BEGINNINGS: dict[str, Callable[[int], int]] = {
    "one call fills an epoch": lambda call: 1_000_000 if call < 1 else FAST_NS,
    "one call takes a second": lambda call: 10**9 if call < 1 else FAST_NS,
    "one call is just long enough": lambda call: 666_667 if call < 1 else FAST_NS,
    "one call is just not long enough": lambda call: 666_666 if call < 1 else FAST_NS,
    "two calls": lambda call: 2_000_000 if call < 2 else FAST_NS,
    "four calls": lambda call: 300_000 if call < 4 else FAST_NS,
    "nine calls": lambda call: 300_000 if call < 9 else FAST_NS,
    "two very slow calls": lambda call: 10**9 if call < 2 else FAST_NS,
    "eleven calls": lambda call: 800_000 if call < 11 else FAST_NS,
    "calls 1 and 3 to 11": lambda call: 900_000 if call == 0 or 2 <= call < 11 else FAST_NS,
    "a slow and a free op": lambda call: 1_000_000 if call < 1 else 1,
}


@pytest.mark.parametrize("beginning", SLOW_BEGINNINGS)
@pytest.mark.parametrize("warmup", [0, 1, 2, 5])
def test_a_slow_beginning_does_not_spoil_the_run(beginning: str, warmup: int) -> None:
    """However slow the first few calls, the recorded epochs last as long as they should."""
    config = Config(warmup=warmup, epochs=15)
    trace = Trace(Schedule(config, RESOLUTION_NS), calls(SLOW_BEGINNINGS[beginning]))
    recorded = trace.schedule.measurements
    assert trace.finished
    assert len(recorded) == config.epochs
    # The fast op alone, without one of the slow calls.
    late = recorded[-1].elapsed_ns / recorded[-1].iterations
    short = [raw for raw in recorded if raw.elapsed_ns * 10 < trace.schedule.target_ns]
    assert short == []
    assert late < 2 * FAST_NS


def test_the_search_goes_on_from_where_it_had_ended() -> None:
    """iter-047: the first epoch is dropped, and the search goes on as if it had not ended."""
    slow = SLOW_BEGINNINGS["one call fills an epoch"]
    trace = Trace(Schedule(Config(), RESOLUTION_NS), calls(slow))
    assert trace.n[:8] == [1, 1, 10, 100, 1000, 10_000, 100_000, 146_889]
    assert [phase.name for phase in trace.phases[:8]] == [
        "UPSCALING",
        "MEASURING",
        "UPSCALING",
        "UPSCALING",
        "UPSCALING",
        "UPSCALING",
        "UPSCALING",
        "MEASURING",
    ]
    # Averages do not know the slow call any more.
    assert [raw.iterations for raw in trace.schedule.measurements] == trace.n[6:]
    assert all(raw.elapsed_ns == FAST_NS * raw.iterations for raw in trace.schedule.measurements)


def test_a_slow_first_call_of_many_does_not_spoil_the_run() -> None:
    """The first epoch counts as the beginning, however many iterations it has."""
    config = Config(min_epoch_iterations=100)
    trace = Trace(
        Schedule(config, RESOLUTION_NS), calls(SLOW_BEGINNINGS["one call fills an epoch"])
    )
    assert trace.n[:4] == [100, 102, 1020, 10_200]
    assert trace.restarts == 1


def test_a_slow_first_call_in_a_long_warmup_does_not_spoil_the_run() -> None:
    """A warmup counts as the beginning, however many iterations it has."""
    config = Config(warmup=50)
    trace = Trace(
        Schedule(config, RESOLUTION_NS), calls(SLOW_BEGINNINGS["one call fills an epoch"])
    )
    assert trace.restarts == 1
    assert min(raw.elapsed_ns for raw in trace.schedule.measurements) >= 666_667


def test_nothing_but_the_beginning_is_forgotten() -> None:
    """Epochs that are too short later on, or at the end of a long search, are recorded."""
    fast = steady(100)
    late = Trace(Schedule(Config(), 20), lambda k, n: 0 if k == 7 else fast(k, n))
    assert (late.restarts, late.schedule.measurements[3].elapsed_ns) == (0, 0)
    after_search = Trace(Schedule(Config(), 20), lambda k, n: 0 if k == 5 else fast(k, n))
    assert after_search.phases[4:6] == [Phase.UPSCALING, Phase.MEASURING]
    assert (after_search.restarts, after_search.schedule.measurements[1].elapsed_ns) == (0, 0)
    slow = Trace(Schedule(Config(epochs=13), 20), lambda k, n: 0 if k == 12 else 5_000_000)
    assert slow.n == [1] * 13
    assert slow.schedule.measurements[12].elapsed_ns == 0


@pytest.mark.parametrize(("calls_before", "restarts"), [(10, 1), (11, 0)])
def test_the_beginning_is_ten_calls(calls_before: int, restarts: int) -> None:
    """An early end of the search is one within the first ten calls of op."""
    config = Config(min_epoch_iterations=calls_before, max_epoch_time_ns=10**6)
    # The first epoch is not long enough, the second one is, the third far too short. Only the
    # second one decides about the number of iterations.
    elapsed = [600_000, 700_000, 99_999]
    trace = Trace(Schedule(config, 20), lambda k, n: elapsed[k] if k < 3 else 10**6)
    assert trace.phases[:3] == [Phase.UPSCALING, Phase.UPSCALING, Phase.MEASURING]
    assert trace.restarts == restarts


@pytest.mark.parametrize(("elapsed", "restarts"), [(99_999, 1), (100_000, 0)])
def test_far_too_short_is_less_than_a_tenth(elapsed: int, restarts: int) -> None:
    """A tenth of the target is enough to go on measuring."""
    trace = Trace(Schedule(Config(), 20), lambda k, n: elapsed if k == 1 else 10**6)
    assert trace.restarts == restarts


@pytest.mark.parametrize("warmup", [0, 1])
def test_exact_iterations_know_no_search(warmup: int) -> None:
    """With an exact number of iterations a slow first call is recorded like any other."""
    config = Config(epoch_iterations=3, warmup=warmup)
    trace = Trace(Schedule(config, 20), calls(lambda call: 10**7 if call < 1 else 0))
    assert trace.n[warmup:] == [3] * config.epochs
    assert Phase.UPSCALING not in trace.phases


def test_an_op_that_gets_faster_gets_more_iterations() -> None:
    """A tenfold speed-up over the first epochs is followed, without a new search."""
    trace = Trace(Schedule(Config(epochs=30), 20), lambda k, n: n * 10_000 // min(k + 1, 10))
    assert trace.restarts == 0
    recorded = trace.schedule.measurements
    assert recorded[-1].iterations > 3 * recorded[0].iterations
    assert 3 * min(raw.elapsed_ns for raw in recorded) > trace.schedule.target_ns


def test_a_clock_with_large_steps_ends() -> None:
    """A first epoch over which the clock happens to step by 15.6 ms is no reason to stop."""
    clock = {"ns": 15_624_990}

    def model(_: int, n: int) -> int:
        before = clock["ns"] // 15_625_000
        clock["ns"] += n * 20
        return (clock["ns"] // 15_625_000 - before) * 15_625_000

    trace = Trace(Schedule(Config(), 20), model)
    assert trace.finished
    assert trace.schedule.failure is None
    assert len(trace.n) < 40


def test_a_clock_that_stands_still_fails() -> None:
    """No time at all, from the start or after a slow first call, is an overflow."""
    for first in (0, 10**6):
        trace = Trace(Schedule(Config(), 20), lambda k, n, first=first: 0 if k else first)
        assert trace.finished
        assert trace.schedule.failure == OVERFLOW
        assert trace.schedule.measurements == ()
        assert trace.n[-1] == 10**19


def test_search_after_a_short_warmup_keeps_the_lower_limit() -> None:
    """A warmup may have fewer iterations than an epoch; ten times that is no epoch yet."""
    config = Config(warmup=1, min_epoch_iterations=1000)
    trace = Trace(Schedule(config, 20), steady(90_000))
    assert trace.n[:2] == [1, 1000]
    assert min(raw.iterations for raw in trace.schedule.measurements) >= 1000


def test_lower_limit_is_kept_exactly() -> None:
    """A float cannot hold every 64 bit number, but the limit is kept all the same."""
    for minimum in (2**53 + 1, 2**63 + 1, MAX_COUNT):
        config = Config(min_epoch_iterations=minimum)
        trace = Trace(Schedule(config, 20), lambda k, n: 10**17)
        assert min(trace.n) >= minimum
        assert max(trace.n) <= MAX_COUNT


def test_no_time_at_all_makes_the_largest_number() -> None:
    """Totals of 0 ns ask for 2**63 iterations, the most that a signed number can hold."""
    schedule = Schedule(Config(), 20)
    assert schedule._best_iterations(0, 1) == 2**63
    assert Schedule(Config(min_epoch_time_ns=0), 0)._best_iterations(0, 5) == 1


def test_endless_never_ends() -> None:
    """Every epoch has all the iterations there are, and none is recorded."""
    schedule = Schedule(Config(warmup=3, epoch_iterations=4), 20, endless=True)
    trace = Trace(schedule, steady(0.01), max_steps=5)
    assert trace.n == [MAX_COUNT] * 5
    assert trace.phases == [Phase.ENDLESS] * 5
    assert (schedule.measurements, schedule.failure, schedule.recorded) == ((), None, 0)


def test_a_finished_run_takes_no_more() -> None:
    """Adding to a finished run is a mistake of the caller."""
    schedule = Trace(Schedule(Config(epochs=1), 20), steady(10**6)).schedule
    assert schedule.recorded == 1
    with pytest.raises(RuntimeError, match="the run is finished"):
        schedule.add(RawMeasurement(1, 1))
    assert schedule.recorded == 1


def test_measurements_are_those_added() -> None:
    """What the counters said stays with its epoch."""
    schedule = Schedule(Config(epochs=1), 20)
    raw = RawMeasurement(10**6, 1, {"pagefaults": 3})  # type: ignore[dict-item]
    schedule.add(raw)
    assert schedule.measurements == (raw,)


def test_equal_runs_are_equal() -> None:
    """The variation of the iterations is the same in every run."""
    first, second = (Trace(Schedule(Config(), 20), steady(3)) for _ in range(2))
    assert first.n == second.n


@st.composite
def small_configs(draw: st.DrawFn) -> Config:
    """Configurations with few epochs, whose runs can be played through."""
    return Config(
        epochs=draw(st.integers(1, 20)),
        warmup=draw(st.just(0) | counts()),
        min_epoch_iterations=draw(counts()),
        epoch_iterations=draw(st.just(0) | counts()),
        clock_resolution_multiple=draw(counts()),
        min_epoch_time_ns=draw(st.integers(0, 10**9) | st.integers(0, 2**63 - 1)),
        max_epoch_time_ns=draw(st.integers(0, 10**9) | st.integers(0, 2**63 - 1)),
    )


DURATIONS = st.lists(
    st.just(0) | st.integers(0, 10**7) | st.integers(0, 2**63 - 1), min_size=1, max_size=60
)


@given(small_configs(), DURATIONS, st.floats(0.0, 1e9))
@example(Config(), [0], 20.0)
@example(Config(epochs=20), [10**7, 7], 20.0)
@example(Config(warmup=1), [10**7, 7, 10**8, 7, 10**8], 20.0)
def test_any_run_ends(config: Config, durations: list[int], resolution: float) -> None:
    """Whatever the times, a run ends soon: with all epochs, or with an overflow and none."""

    # A search that neither ends nor multiplies by ten is as long as the times are in between;
    # from the end of the list on, they are long enough or too short.
    def model(k: int, n: int) -> int:
        return durations[k] if k < len(durations) else durations[-1] if k % 2 else 2**63 - 1

    schedule = Schedule(config, resolution)
    trace = Trace(schedule, model, max_steps=len(durations) + MAX_SEARCH_STEPS + config.epochs)
    assert trace.finished
    assert trace.restarts <= 2
    assert all(1 <= n <= MAX_COUNT for n in trace.n)
    if schedule.failure is None:
        assert len(schedule.measurements) == schedule.recorded == config.epochs
    else:
        assert schedule.failure == OVERFLOW
        assert schedule.measurements == ()
        assert not config.epoch_iterations
    for phase, n in zip(trace.phases, trace.n, strict=True):
        if phase is Phase.WARMUP:
            assert n == config.warmup
        elif config.epoch_iterations:
            assert (phase, n) == (Phase.MEASURING, config.epoch_iterations)
        else:
            assert n >= config.min_epoch_iterations
    assert (
        list(schedule.measurements)
        == [RawMeasurement(ns, n) for ns, n in zip(trace.elapsed, trace.n, strict=True)][
            len(trace.n) - len(schedule.measurements) :
        ]
    )


@given(
    small_configs().map(lambda config: config.replace(epoch_iterations=0)),
    st.floats(1e-3, 1e12),
    st.integers(0, 10**6),
)
def test_a_steady_op_gets_epochs_that_are_long_enough(
    config: Config, cost_ns: float, overhead_ns: int
) -> None:
    """Of an op that always takes as long, every recorded epoch is long enough, or it overflows."""
    trace = Trace(Schedule(config, 20), lambda _, n: min(int(n * cost_ns) + overhead_ns, 2**63 - 1))
    assert trace.finished
    assert trace.restarts == 0
    target = trace.schedule.target_ns
    # The first epoch after the search has at least as many iterations as the last of the search.
    assert all(3 * raw.elapsed_ns >= target for raw in trace.schedule.measurements)


def drive(schedule: Schedule, cost_ns: int, affordable: int) -> list[int]:
    """Run a schedule that may not have more than so many iterations per epoch."""
    done = []
    while True:
        schedule.limit(affordable)
        if not schedule.iterations:
            return done
        done.append(schedule.iterations)
        schedule.add(RawMeasurement(cost_ns * schedule.iterations, schedule.iterations))


def test_limit_ends_the_search() -> None:
    """An epoch that is as long as it can be is recorded, and the following ones, too."""
    schedule = Schedule(Config(epochs=3), 20.0)
    assert drive(schedule, 10, affordable=50) == [1, 10, 50, 50, 50]
    assert [raw.iterations for raw in schedule.measurements] == [50, 50, 50]
    assert schedule.limited


def test_limit_that_is_never_reached_changes_nothing() -> None:
    """A limit above what the schedule wants leaves no trace."""
    limited, free = Schedule(Config(), 20.0), Schedule(Config(), 20.0)
    assert drive(limited, 1000, affordable=10**9) == drive(free, 1000, affordable=MAX_COUNT)
    assert not limited.limited


def test_limit_keeps_exact_iterations() -> None:
    """A number of iterations that the user fixed is not limited."""
    schedule = Schedule(Config(epoch_iterations=100, epochs=2), 20.0)
    assert drive(schedule, 10, affordable=1) == [100, 100]
    assert not schedule.limited


def test_limit_keeps_the_least_iterations() -> None:
    """Epochs have at least as many iterations as the user wants at least."""
    schedule = Schedule(Config(min_epoch_iterations=100, epochs=2), 20.0)
    assert drive(schedule, 10, affordable=20) == [100, 100, 100]
    assert schedule.limited


def test_stop_finishes_with_what_there_is() -> None:
    """A stopped schedule wants nothing more, keeps its epochs, and is no failure."""
    schedule = Schedule(Config(epoch_iterations=1), 20.0)
    schedule.add(RawMeasurement(10, 1))
    schedule.stop()
    assert (schedule.iterations, len(schedule.measurements)) == (0, 1)
    assert schedule.limited
    assert schedule.failure is None
