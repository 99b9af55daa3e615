"""Whole runs with untimed parts: every scope in every phase, in C and in Python."""

from __future__ import annotations

import copy
import gc
import itertools
import pickle
import signal
import subprocess
import sys
import threading
import weakref
from io import StringIO
from itertools import repeat
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from ankerl_py import Bench
from ankerl_py.core.runner import DEFAULT_TOTAL_TIME_NS, STANDSTILL
from ankerl_py.environment import Environment
from ankerl_py.errors import OpError
from ankerl_py.results.measure import Measure
from ankerl_py.testing import FakeClock, FakeCounters

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from ankerl_py.core.instruments import Instruments

    Call = Callable[[], object]


def on_statement(bench: Bench, before: Call, op: Call) -> Bench:
    names = {"before": before, "op": op}
    return bench.setup("before()", "iteration").run("it", "op()", globals=names)


# How something can come before each iteration.
PAIRS: dict[str, Callable[[Bench, Call, Call], Bench]] = {
    "setup": lambda b, before, op: b.setup(before, "iteration").run("it", op),
    "inputs": lambda b, before, op: b.inputs(before).run("it", lambda value: op()),
    "state": lambda b, before, op: b.run_excluding_setup(
        "it", 5, lambda state: before(), lambda state: op()
    ),
    "text": on_statement,
    "setup, statement": lambda b, before, op: b.setup(before, "iteration").run(
        "it", "op()", globals={"op": op}
    ),
}

BATCH: dict[str, Callable[[Bench, Call, Call], Bench]] = {
    "batch": lambda b, before, op: b.inputs(before, "batch").run("it", lambda value: op()),
}

WAYS = PAIRS | BATCH

# How something can come before each epoch.
EPOCHS: dict[str, Callable[[Bench, Call, Call], Bench]] = {
    "setup": lambda b, before, op: b.setup(before).run("it", op),
    "text": lambda b, before, op: b.setup("before()").run(
        "it", "op()", globals={"before": before, "op": op}
    ),
    "setup, statement": lambda b, before, op: b.setup(before).run("it", "op()", globals={"op": op}),
}

PHASES: dict[str, Callable[[Bench], Bench]] = {
    "search": lambda b: b,
    "warmup": lambda b: b.warmup(7),
    "long warmup": lambda b: b.warmup(100),
    "least": lambda b: b.min_epoch_iterations(30),
    "exact": lambda b: b.epoch_iterations(5),
    "exact, warmup": lambda b: b.epoch_iterations(5).warmup(3),
    "one": lambda b: b.epoch_iterations(1),
    "no correction": lambda b: b.correct_overhead(False),
}

CLOCKS = ["fake", "wall", "process", "thread"]


def timed(bench: Bench, clock: str) -> tuple[Bench, Call]:
    """A bench whose epochs are short, and what op has to do so that they end soon."""
    bench = bench.epochs(3).min_epoch_time(30e-6).clock_resolution_multiple(1)
    if clock == "fake":
        fake = FakeClock()
        return bench.clock(fake), lambda: fake.advance(1000)
    return bench.clock(clock), lambda: None  # type: ignore[arg-type]


def phase_of(bench: Bench, phase: str) -> Bench:
    return PHASES[phase](bench)


def calls_of(result: Any) -> int:
    """How often op ran in the epochs that were recorded."""
    return sum(raw.iterations for raw in result.raw)


# ---------------------------------------------------------------- how often things are called


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("way", PAIRS)
def test_setup_comes_before_each_call(bench: Bench, way: str, phase: str, clock: str) -> None:
    """In all phases, also those that are not recorded, setup and op take turns."""
    bench, work = timed(bench, clock)
    calls: list[str] = []

    def op() -> None:
        calls.append("op")
        work()

    PAIRS[way](phase_of(bench, phase), lambda: calls.append("before"), op)
    (result,) = bench.results
    assert len(result) == 3
    assert calls == ["before", "op"] * (len(calls) // 2)
    if phase == "exact, warmup":
        assert len(calls) == 2 * (3 + 3 * 5)
    elif phase in ("exact", "one"):
        assert len(calls) == 2 * calls_of(result)
    else:
        assert len(calls) >= 2 * calls_of(result)


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("phase", PHASES)
def test_inputs_of_batches_are_as_many_as_calls(bench: Bench, phase: str, clock: str) -> None:
    """In all phases, as many inputs are made as there are calls, and always before them."""
    bench, work = timed(bench, clock)
    made = used = 0

    def make() -> int:
        nonlocal made
        made += 1
        return made

    def op(value: int) -> None:
        nonlocal used
        used += 1
        assert used == value <= made
        work()

    phase_of(bench, phase).inputs(make, "batch").run("it", op)
    (result,) = bench.results
    assert made == used >= calls_of(result)
    if phase == "exact, warmup":
        assert made == 3 + 3 * 5


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("way", EPOCHS)
def test_setup_comes_before_each_epoch(bench: Bench, way: str, phase: str, clock: str) -> None:
    """Once per epoch in all phases, as in nanobench."""
    bench, work = timed(bench, clock)
    epochs: list[int] = []

    def op() -> None:
        epochs[-1] += 1
        work()

    EPOCHS[way](phase_of(bench, phase), lambda: epochs.append(0), op)
    (result,) = bench.results
    assert epochs[-3:] == [raw.iterations for raw in result.raw]
    unrecorded = epochs[:-3]
    if "warmup" in phase:
        assert unrecorded.pop(0) == {"warmup": 7, "long warmup": 100, "exact, warmup": 3}[phase]
    if "exact" in phase or phase == "one":
        assert unrecorded == []
    assert all(n > 0 for n in unrecorded)


@pytest.mark.parametrize("scope", ["epoch", "iteration"])
@pytest.mark.parametrize("inputs", ["iteration", "batch"])
def test_setup_and_inputs_together(bench: Bench, scope: Any, inputs: Any) -> None:
    """A setup comes first, in its own scope, and then what makes the argument."""
    calls: list[str] = []
    bench = bench.epochs(2).epoch_iterations(2)
    bench = bench.inputs(lambda: calls.append("make"), inputs)
    if (scope, inputs) == ("iteration", "batch"):
        return  # they exclude each other
    bench.setup(lambda: calls.append("setup"), scope).run("it", lambda value: calls.append("op"))
    assert (
        calls
        == {
            ("epoch", "iteration"): ["setup", "make", "op", "make", "op"] * 2,
            ("iteration", "iteration"): ["setup", "make", "op"] * 4,
            ("epoch", "batch"): ["setup", "make", "make", "op", "op"] * 2,
        }[scope, inputs]
    )


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("scope", ["iteration", "batch"])
def test_pop_of_a_fresh_list_never_fails(bench: Bench, scope: Any, phase: str, clock: str) -> None:
    """A method in C that uses its argument up finds a full one each time, in all phases."""
    bench, work = timed(bench, clock)
    phase_of(bench, phase).inputs(lambda: [1], scope).run("it", list.pop if clock != "fake" else
                                                          lambda v: (v.pop(), work()))  # fmt: skip
    assert len(bench.results) == 1


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("way", PAIRS)
def test_op_sees_a_fresh_state(bench: Bench, way: str, phase: str, clock: str) -> None:
    """What op spoils is whole again before the next call, in all phases."""
    bench, work = timed(bench, clock)
    v: list[int] = []

    def refill() -> None:
        v[:] = (1, 2, 3)

    def op() -> None:
        assert v == [1, 2, 3]
        v.clear()
        work()

    PAIRS[way](phase_of(bench, phase), refill, op)
    assert (len(bench.results), v) == (1, [])


@pytest.mark.parametrize("scope", ["iteration", "batch"])
@pytest.mark.parametrize("clock", CLOCKS)
def test_lazy_inputs_are_used_by_op(bench: Bench, clock: str, scope: Any) -> None:
    """A generator is used up by a call, so each one gets its own."""
    bench, work = timed(bench, clock)

    def make() -> Generator[int]:
        yield from (1, 2, 3)

    def op(values: Generator[int]) -> None:
        assert list(values) == [1, 2, 3]
        work()

    bench.inputs(make, scope).run(op)
    assert len(bench.results) == 1


def test_values_of_setup_are_ignored(bench: Bench) -> None:
    """Whatever it returns, op takes no argument."""
    bench = bench.epochs(1).epoch_iterations(2)
    setups: list[Call] = [list, lambda: 5, lambda: StopIteration, lambda: iter([])]
    for setup in setups:
        bench.setup(setup).run(lambda: None).setup(setup, "iteration").run(lambda: None)
    assert len(bench.results) == 8


# ---------------------------------------------------------------- times


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("read_cost_ns", [0, 30])
def test_time_is_that_of_op_alone(bench: Bench, way: str, read_cost_ns: int) -> None:
    """What comes before takes as long as it likes, and what a reading takes is subtracted."""
    clock = FakeClock(read_cost_ns=read_cost_ns)
    run = WAYS[way]
    bench = bench.clock(clock).epochs(3).warmup(20)
    run(bench, lambda: clock.advance(5000), lambda: clock.advance(1000))
    (result,) = bench.results
    assert result.values("elapsed") == pytest.approx([1000e-9] * 3, rel=2e-4)
    kind = "statement" if way in ("text", "setup, statement") else "function"
    assert result.overhead.kind == kind
    if way != "batch":
        assert result.overhead.fixed_ns == 0.0
        assert result.overhead.per_iteration_ns == read_cost_ns
        assert [raw.elapsed_ns for raw in result.raw] == [
            (1000 + read_cost_ns) * raw.iterations for raw in result.raw
        ]


@pytest.mark.parametrize("way", WAYS)
def test_empty_op_cannot_be_told_from_one(bench: Bench, way: str) -> None:
    """It reads 0, and its row says so, as for any op."""
    stream = StringIO()
    clock = FakeClock(read_cost_ns=30)
    bench = bench.clock(clock).epochs(3).epoch_iterations(100).output(stream)
    WAYS[way](bench, lambda: clock.advance(5000), lambda: None)
    (result,) = bench.results
    assert result.median("elapsed") == 0.0
    assert "(cannot be told from an empty op)" in stream.getvalue()


@pytest.mark.parametrize("way", PAIRS)
def test_least_cost_of_a_pair_counts(bench: Bench, way: str) -> None:
    """A pair costs what an undisturbed one costs, however rare these are."""

    class Busy(FakeClock):
        """A clock whose readings are cheap in one of four thousands of them."""

        def __call__(self) -> int:
            self.advance(10 if self.reads % 4000 < 1000 else 30)
            return super().__call__()

    clock = Busy()
    bench = bench.clock(clock).epochs(5).epoch_iterations(1000)
    PAIRS[way](bench, lambda: None, lambda: clock.advance(1000))
    (result,) = bench.results
    assert result.overhead.per_iteration_ns == 10.0
    assert result.overhead.uncertainty_ns == 20.0


def test_number_of_iterations_follows_from_op_alone(bench: Bench) -> None:
    """A setup that takes much longer does not make epochs any shorter."""
    clock = FakeClock()
    bench = bench.clock(clock)
    bench.run("without", lambda: clock.advance(1000))
    bench.setup(lambda: clock.advance(10**6), "iteration").run("with", lambda: clock.advance(1000))
    without, with_setup = bench.results
    assert with_setup.values("iterations") == without.values("iterations")
    assert without.config.max_total_time_ns is None


# ---------------------------------------------------------------- immutable


def test_bench_is_as_before(bench: Bench) -> None:
    """A setting makes a new bench; the old one runs without it; None takes it away again."""
    calls: list[str] = []
    bench = bench.epochs(1).epoch_iterations(1)
    each = bench.setup(lambda: calls.append("each"), "iteration")
    both = each.inputs(lambda: calls.append("make"))
    bench.run("a", lambda: None)
    assert calls == []
    each.run("b", lambda: None)
    both.setup(None).run("c", lambda value: None)
    both.inputs(None).run("d", lambda: None)
    both.setup(None).inputs(None).run("e", lambda: None)
    assert calls == ["each", "make", "each"]
    assert [result.name for result in bench.results] == ["a", "b", "c", "d", "e"]


# ---------------------------------------------------------------- exceptions


class Failure(Exception):
    pass


def failing_at(number: int, error: BaseException) -> Call:
    calls = itertools.count(1)

    def fail() -> None:
        if next(calls) == number:
            raise error

    return fail


def note(where: str) -> list[str]:
    if not hasattr(BaseException, "add_note"):
        return []
    return [f"benchmark 'it' was in {where}; nothing of it is stored"]


def failure(
    bench: Bench, run: Callable[[Bench, Call, Call], Bench], before: Call, op: Call, error: Any
) -> list[str]:
    """Run what fails, and give the notes on its exception."""
    stored = len(bench.store)
    with pytest.raises(type(error)) as caught:
        run(bench, before, op)
    assert caught.value is error
    assert len(bench.store) == stored
    assert gc.isenabled()
    # Nothing of it is left in the way of the next run.
    bench.epochs(1).epoch_iterations(1).run("fine", lambda: None)
    return list(getattr(error, "__notes__", []))


WHERE: list[tuple[Callable[[Bench], Bench], int, str]] = [
    (lambda b: b.epoch_iterations(10), 1, "iteration 1 of 10 in epoch 1 of 11"),
    (lambda b: b.epoch_iterations(10), 10, "iteration 10 of 10 in epoch 1 of 11"),
    (lambda b: b.epoch_iterations(10), 110, "iteration 10 of 10 in epoch 11 of 11"),
    (lambda b: b.warmup(20), 15, "iteration 15 of 20 in the warmup"),
    (lambda b: b, 5, "iteration 4 of 10 in the search for the number of iterations"),
]


@pytest.mark.parametrize("clock", ["fake", "wall"])
@pytest.mark.parametrize(("settings", "number", "where"), WHERE)
@pytest.mark.parametrize("make", [Failure, KeyboardInterrupt, SystemExit, MemoryError])
@pytest.mark.parametrize("way", PAIRS)
def test_exceptions_of_setup_and_op_are_told_apart(
    bench: Bench,
    clock: str,
    settings: Callable[[Bench], Bench],
    number: int,
    where: str,
    make: Callable[[], BaseException],
    way: str,
) -> None:
    """The note says which one it was, before or in which iteration. Nothing is stored."""
    bench = settings(bench.clock(FakeClock() if clock == "fake" else "wall"))
    for_setup, for_op = make(), make()
    fail = failing_at(number, for_setup)
    assert failure(bench, PAIRS[way], fail, lambda: None, for_setup) == note(
        f"setup, not in the op itself, before {where}"
    )
    fail = failing_at(number, for_op)
    assert failure(bench, PAIRS[way], lambda: None, fail, for_op) == note(where)


@pytest.mark.parametrize("clock", ["fake", "wall"])
@pytest.mark.parametrize("make", [Failure, KeyboardInterrupt])
def test_exceptions_in_batches_are_told_apart(
    bench: Bench, clock: str, make: Callable[[], BaseException]
) -> None:
    """One of the inputs fails before the first iteration of its batch."""
    bench = bench.clock(FakeClock() if clock == "fake" else "wall").epoch_iterations(100).epochs(2)
    run = BATCH["batch"]
    for number, iteration, epoch in ((1, 1, 1), (8, 1, 1), (9, 9, 1), (100, 9, 1), (101, 1, 2)):
        for_setup, for_op = make(), make()
        fail = failing_at(number, for_setup)
        where = f"iteration {iteration} of 100 in epoch {epoch} of 2"
        assert failure(bench, run, fail, lambda: None, for_setup) == note(
            f"setup, not in the op itself, before {where}"
        )
        fail = failing_at(number, for_op)
        where = f"iteration {(number - 1) % 100 + 1} of 100 in epoch {epoch} of 2"
        assert failure(bench, run, lambda: None, fail, for_op) == note(where)


@pytest.mark.parametrize("make", [Failure, KeyboardInterrupt])
@pytest.mark.parametrize("way", EPOCHS)
def test_exceptions_of_setup_before_an_epoch(
    bench: Bench, way: str, make: Callable[[], BaseException]
) -> None:
    """It is before the first iteration of that epoch."""
    bench = bench.epoch_iterations(10).epochs(2)
    for number in (1, 2):
        error = make()
        fail = failing_at(number, error)
        assert failure(bench, EPOCHS[way], fail, lambda: None, error) == note(
            f"setup, not in the op itself, before iteration 1 of 10 in epoch {number} of 2"
        )
        error = make()
        fail = failing_at(10 * number, error)
        assert failure(bench, EPOCHS[way], lambda: None, fail, error) == note(
            f"iteration 10 of 10 in epoch {number} of 2"
        )


@pytest.mark.parametrize("clock", ["fake", "wall"])
@pytest.mark.parametrize("way", ["setup", "inputs", "batch", "state"])
def test_lazy_op_is_refused(bench: Bench, way: str, clock: str) -> None:
    """In pairs and batches, too, an op that does its work only later is none."""

    async def coroutine() -> None:
        raise AssertionError("nobody awaits it")

    bench = bench.clock(FakeClock() if clock == "fake" else "wall")
    with pytest.raises(OpError, match="none of its body would be measured"):
        WAYS[way](bench, lambda: None, lambda: coroutine())
    gc.collect()
    assert bench.results == ()


# ---------------------------------------------------------------- the limit of time


class World:
    """A setup and an op that take time by the wall, which stands still otherwise."""

    def __init__(
        self, instruments: Instruments, *setup_ns: int, op_ns: int = 100, clock_ns: int = 100
    ) -> None:
        self.wall = FakeClock()
        self.stream = StringIO()
        self._clock = FakeClock()
        instruments = attrs.evolve(instruments, wall_ns=self.wall)
        self.bench = Bench(instruments=instruments).clock(self._clock).output(self.stream)
        self._setup_ns = itertools.chain(setup_ns, repeat(setup_ns[-1]))
        self._op_ns = op_ns
        self._clock_ns = clock_ns

    def setup(self) -> None:
        self.wall.advance(next(self._setup_ns))

    def op(self) -> None:
        self.wall.advance(self._op_ns)
        self._clock.advance(self._clock_ns)


@pytest.mark.parametrize("way", WAYS)
def test_long_setup_ends_in_two_seconds(instruments: Instruments, way: str) -> None:
    """All epochs are there, each with as many iterations as there was time for; the row says so."""
    world = World(instruments, 10_000_000)
    WAYS[way](world.bench, world.setup, world.op)
    (result,) = world.bench.results
    assert 1_700_000_000 <= world.wall.now_ns <= DEFAULT_TOTAL_TIME_NS <= 2_000_000_000
    assert (len(result), result.stopped_early) == (11, True)
    assert {int(n) for n in result.values("iterations")} <= {16, 17}
    assert result.median("elapsed") == pytest.approx(100e-9)
    assert world.stream.getvalue().endswith(
        "`it` (There was time for 11 epochs of only ~16 iters. "
        "Increase `max_total_time` for more)\n"
    )


def test_very_long_setup_has_few_epochs(instruments: Instruments) -> None:
    """What does not fit into the time is left out; the row says how much there was."""
    world = World(instruments, 600_000_000)
    world.bench.setup(world.setup, "iteration").run("it", world.op)
    (result,) = world.bench.results
    assert (len(result), result.stopped_early) == (2, True)
    assert world.wall.now_ns == 3 * 600_000_100 < DEFAULT_TOTAL_TIME_NS
    assert world.stream.getvalue().endswith(
        "(There was time for 2 of 11 epochs of ~1 iters. Increase `max_total_time` for more)\n"
    )


@pytest.mark.parametrize("phase", ["search", "exact"])
def test_at_least_one_epoch_is_measured(instruments: Instruments, phase: str) -> None:
    """However long it takes, there is a figure."""
    world = World(instruments, 60_000_000_000)
    world.bench = PHASES[phase](world.bench).max_total_time(0)
    world.bench.setup(world.setup, "iteration").run("it", world.op)
    (result,) = world.bench.results
    assert [raw.iterations for raw in result.raw] == [1 if phase == "search" else 5]
    assert result.stopped_early


def test_exact_iterations_are_kept(instruments: Instruments) -> None:
    """There may be fewer epochs, but each has what was wanted."""
    world = World(instruments, 10_000_000)
    world.bench.epoch_iterations(100).setup(world.setup, "iteration").run("it", world.op)
    (result,) = world.bench.results
    assert [raw.iterations for raw in result.raw] == [100]
    assert "There was time for 1 of 11 epochs of ~100 iters" in world.stream.getvalue()


def test_least_iterations_are_kept(instruments: Instruments) -> None:
    """An epoch has at least as many as were wanted at least."""
    world = World(instruments, 10_000_000)
    world.bench.min_epoch_iterations(50).setup(world.setup, "iteration").run("it", world.op)
    (result,) = world.bench.results
    assert [raw.iterations for raw in result.raw] == [50, 50]
    assert world.wall.now_ns == 150 * 10_000_100 < DEFAULT_TOTAL_TIME_NS


def test_warmup_is_done_in_full(instruments: Instruments) -> None:
    """It was wanted, so it is no part of what has to be left out."""
    world = World(instruments, 10_000_000)
    world.bench.warmup(500).setup(world.setup, "iteration").run("it", world.op)
    (result,) = world.bench.results
    assert (calls_of(result), world.wall.now_ns) == (1, 501 * 10_000_100)


def test_slow_first_setup_does_not_count_for_the_others(instruments: Instruments) -> None:
    """What only the first call takes is no reason for short epochs later on."""
    world = World(instruments, 500_000_000, 1000)
    world.bench.setup(world.setup, "iteration").run("it", world.op)
    (result,) = world.bench.results
    assert len(result) == 11
    assert min(raw.iterations for raw in result.raw[1:]) >= 9_000


def test_limit_that_is_not_reached_leaves_no_trace(instruments: Instruments) -> None:
    """With a fast setup all is as without a limit."""
    world = World(instruments, 1000)
    world.bench.setup(world.setup, "iteration").run("it", world.op)
    world.bench.max_total_time("1000 s").setup(world.setup, "iteration").run("it", world.op)
    first, second = world.bench.results
    assert first.raw == second.raw
    assert not first.stopped_early
    assert not second.stopped_early
    assert "There was time" not in world.stream.getvalue()


def test_limit_is_a_setting(instruments: Instruments) -> None:
    """More time makes more iterations, and less makes fewer, by the wall."""
    found = []
    for limit in ("200 ms", None, "20 s"):
        world = World(instruments, 1_000_000)
        world.bench.max_total_time(limit).setup(world.setup, "iteration").run("it", world.op)
        limit_ns = (
            world.bench.max_total_time(limit).config.max_total_time_ns or DEFAULT_TOTAL_TIME_NS
        )
        assert 0.8 * limit_ns <= world.wall.now_ns <= limit_ns
        found.append(calls_of(world.bench.results[0]))
    assert found == sorted(found)
    assert found[0] * 5 < found[2]


@pytest.mark.parametrize("scope", [None, "epoch"])
def test_other_runs_have_no_limit_by_default(instruments: Instruments, scope: Any) -> None:
    """A usual op, and a setup before each epoch, take as long as they take."""
    for limit, epochs in ((None, 11), ("5 s", 3)):
        world = World(instruments, 500_000_000, op_ns=10**9, clock_ns=10**9)
        if scope:
            world.bench = world.bench.setup(world.setup, scope)
        world.bench.max_total_time(limit).run("it", world.op)
        (result,) = world.bench.results
        assert len(result) == (epochs if scope or limit is None else 5)
        assert result.stopped_early == (limit is not None)


@pytest.mark.parametrize("way", WAYS)
def test_clock_that_stands_still_is_a_failure(instruments: Instruments, way: str) -> None:
    """A run that took all of its time and saw none of it has no figures, and says why."""
    world = World(instruments, 1_000_000, clock_ns=0)
    WAYS[way](world.bench, world.setup, world.op)
    (result,) = world.bench.results
    assert (result.failure, len(result)) == (STANDSTILL, 0)
    assert f"({STANDSTILL})" in world.stream.getvalue()


def test_result_keeps_that_it_stopped_early(instruments: Instruments) -> None:
    """It is part of the value, for copies, too."""
    world = World(instruments, 10_000_000)
    (result,) = world.bench.clock("wall").max_total_time(0).run("it", lambda: None).results
    assert result.stopped_early
    assert pickle.loads(pickle.dumps(result)).stopped_early
    assert copy.deepcopy(result) == result


# ---------------------------------------------------------------- counters


@pytest.mark.parametrize("way", WAYS | {"text before an epoch": EPOCHS["text"]})
def test_nothing_is_counted_that_is_not_timed(instruments: Instruments, way: str) -> None:
    """Where counters would count what is untimed as well, there is no count at all."""
    counters = FakeCounters()
    bench = Bench(instruments=attrs.evolve(instruments, counters=counters)).output(None)
    bench = bench.epochs(2).epoch_iterations(3)
    ways = WAYS | {"text before an epoch": EPOCHS["text"]}
    ways[way](bench, lambda: counters.count("instructions", 1000), lambda: None)
    (result,) = bench.results
    assert not any(result.has(measure) for measure in Measure if measure not in
                   (Measure.ELAPSED, Measure.ITERATIONS))  # fmt: skip
    assert counters.epochs == 0


@pytest.mark.parametrize("way", ["setup", "setup, statement"])
def test_setup_before_an_epoch_is_not_counted(instruments: Instruments, way: str) -> None:
    """Counters begin when it is done, so what they count is op's."""
    counters = FakeCounters("instructions")
    bench = Bench(instruments=attrs.evolve(instruments, counters=counters)).output(None)
    bench = bench.epochs(2).epoch_iterations(3)
    EPOCHS[way](
        bench,
        lambda: counters.count("instructions", 1000),
        lambda: counters.count("instructions", 7),
    )
    assert bench.results[0].values("instructions") == (7.0, 7.0)


# ---------------------------------------------------------------- Ctrl-C, threads, memory


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no such timer")
@pytest.mark.parametrize("way", WAYS)
def test_ctrl_c_ends_an_endless_run(instruments: Instruments, way: str) -> None:
    """As in any run; by then, setup and op have taken turns."""
    environment = Environment({"NANOBENCH_ENDLESS": "it"})
    bench = Bench(instruments=attrs.evolve(instruments, environment=environment)).output(None)
    setups, calls = itertools.count(), itertools.count()

    def op() -> None:
        assert next(calls) < 10**7  # it ends at any rate

    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(KeyboardInterrupt) as caught:
            WAYS[way](bench, lambda: next(setups), op)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    ahead = next(setups) - next(calls)
    assert ahead in ((0, 1) if way != "batch" else range(1001))
    assert "in the endless run" in "".join(
        getattr(caught.value, "__notes__", ["in the endless run"])
    )
    assert (gc.isenabled(), len(bench.store)) == (True, 0)


PROGRAM = """
import gc, signal
from ankerl_py import Bench
from ankerl_py.backends.compiled import compiled
from ankerl_py.core.instruments import Instruments
from ankerl_py.environment import Environment

instruments = Instruments(
    environment=Environment({{}}), compiled={compiled}, stability_notice=lambda **_: ""
)
bench = Bench(instruments=instruments, output=None).epochs(1).epoch_iterations(10**15)
signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, 0.1)
try:
    bench.{untimed}.run("x", {op})
except KeyboardInterrupt as error:
    print("interrupted", gc.isenabled(), len(bench.store))
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no such timer")
@pytest.mark.parametrize(
    ("untimed", "op"),
    [
        ("setup(gc.isenabled, 'iteration')", "gc.isenabled"),
        ("inputs(list)", "callable"),
        ("inputs(list, 'batch')", "callable"),
    ],
)
def test_ctrl_c_while_all_is_written_in_c(instruments: Instruments, untimed: str, op: str) -> None:
    """In a single epoch, too, if neither setup nor op is Python code that looks at signals."""
    native = "None" if instruments.compiled is None else "compiled()"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(compiled=native, untimed=untimed, op=op)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == "interrupted True 0\n"


@pytest.mark.parametrize("way", ["setup", "inputs"])
def test_pairs_in_c_let_other_threads_run(instruments: Instruments, way: str) -> None:
    """However long an epoch is, the others get their turn meanwhile."""
    bench = Bench(instruments=instruments).output(None).correct_overhead(False)
    bench = bench.epochs(1).epoch_iterations(2**60)
    source = repeat(None, 400_000).__next__  # it ends itself

    def target() -> None:
        prepared = {
            "setup": bench.setup(gc.isenabled, "iteration"),
            "inputs": bench.inputs(source),
        }[way]
        with pytest.raises(StopIteration):
            prepared.run("x", source if way == "setup" else callable)

    thread = threading.Thread(target=target)
    thread.start()
    turns = 0
    while thread.is_alive():
        thread.join(0.001)
        turns += 1
    # One at the beginning and one or two at the end would be all, if there were none between.
    assert turns > 4


@pytest.mark.parametrize("way", ["setup", "inputs", "batch"])
def test_any_number_of_iterations_is_taken(bench: Bench, way: str) -> None:
    """Up to the largest that can be set; an epoch of so many ends by an exception only."""
    error = Failure()
    bench = bench.epochs(1).epoch_iterations(2**64 - 1).correct_overhead(False)
    for clock in ("wall", FakeClock()):
        with pytest.raises(Failure):
            WAYS[way](
                bench.clock(clock),
                lambda: None,
                failing_at(20, error),
            )


@pytest.mark.parametrize("way", WAYS)
def test_nothing_of_a_run_stays_behind(bench: Bench, way: str) -> None:
    """Setup, op, state, inputs and outputs can go when it is over, well or not."""

    class Callable_:
        def __call__(self) -> Callable_:
            return Callable_()

    before, op, failing = Callable_(), Callable_(), Callable_()
    gone = [weakref.ref(each) for each in (before, op, failing)]
    bench = bench.epochs(2).epoch_iterations(10)
    for clock in (FakeClock(), "wall"):
        WAYS[way](bench.clock(clock), before, op)
        error = Failure()
        with pytest.raises(Failure):
            WAYS[way](
                bench.clock(clock),
                failing,
                failing_at(15, error),
            )
        del error
    del before, op, failing
    gc.collect()
    assert [each() for each in gone] == [None] * 3
    assert len(bench.results) == 2


@pytest.mark.parametrize("way", WAYS)
def test_many_runs_leak_no_references(bench: Bench, way: str) -> None:
    """The number of references to what takes part in a run is the same after many of them."""
    value, argument = object(), object()
    bench = bench.epochs(3).epoch_iterations(20)

    def before() -> object:
        return argument

    def op() -> object:
        return value

    run = WAYS[way]
    run(bench, before, op)
    counts = [sys.getrefcount(each) for each in (before, op, value, argument)]
    for _ in range(30):
        run(bench, before, op)
    assert [sys.getrefcount(each) for each in (before, op, value, argument)] == counts
