"""Loops that time each iteration, or each batch, alone: what is timed, when things are released."""

from __future__ import annotations

import gc
import itertools
import sys
import time
import tracemalloc
import weakref
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from ankerl_py.backends.clocks import clock_of
from ankerl_py.core.calibration import LAYOUT_SPREAD, PAIRS_AT_ONCE, PairMeter
from ankerl_py.core.ops import callable_op
from ankerl_py.core.pairs import (
    MAX_BATCH,
    MAX_BATCH_BYTES,
    BatchLoop,
    CompiledPairLoop,
    PythonPairLoop,
    code_parts,
    spans_of,
)
from ankerl_py.core.untimed import Untimed
from ankerl_py.errors import ClockError, OpError
from ankerl_py.results.measurement import Overhead
from ankerl_py.testing import FakeClock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from ankerl_py.core.instruments import Instruments

Loop = CompiledPairLoop | PythonPairLoop | BatchLoop


def pair_loop(
    instruments: Instruments, op: Callable[..., object], clock: Any = "wall", **untimed: Any
) -> Loop:
    """A loop over pairs: of C code for a clock of the native module, if that is there."""
    what = Untimed(setup_scope="iteration", **untimed)
    of_op, read = callable_op(op, what.arguments), clock_of(clock)
    if instruments.compiled is None or read.native < 0:
        return PythonPairLoop(of_op, what, read)
    return CompiledPairLoop(of_op, what, read, instruments.compiled)


def batch_loop(
    instruments: Instruments, op: Callable[..., object], make: Any, clock: Any = "wall"
) -> BatchLoop:
    read = clock_of(clock)
    native = instruments.compiled if read.native >= 0 else None
    return BatchLoop(callable_op(op, 1), Untimed(make=make, make_scope="batch"), read, native)


def any_loop(instruments: Instruments, way: str, op: Callable[..., object], clock: Any) -> Loop:
    """A loop that calls op with an argument or without."""
    if way == "setup":
        return pair_loop(instruments, op, clock, setup=nothing)
    if way == "inputs":
        return pair_loop(instruments, op, clock, make=list)
    return batch_loop(instruments, op, list, clock)


def nothing(*args: object) -> None:
    pass


all_clocks = pytest.mark.parametrize("clock", ["wall", "process", "thread", FakeClock()])


# ---------------------------------------------------------------- what is called


@all_clocks
def test_setup_and_op_take_turns(instruments: Instruments, clock: Any) -> None:
    """Each iteration is a call of setup and then one of op, in every epoch, also of none."""
    calls: list[str] = []
    loop = pair_loop(
        instruments, lambda: calls.append("op"), clock, setup=lambda: calls.append("setup")
    )
    for iterations in (0, 1, 2, 17, 1000, 0):
        calls.clear()
        assert loop.run(iterations, 1) >= 0
        assert calls == ["setup", "op"] * iterations
        assert (loop.started, loop.in_setup) == (iterations, False)


@all_clocks
def test_each_call_gets_a_value_of_its_own(instruments: Instruments, clock: Any) -> None:
    """What make gives is what op gets, each time; a setup comes before both."""
    events: list[object] = []

    def make() -> object:
        value = object()
        events.append(("make", value))
        return value

    loop = pair_loop(
        instruments,
        lambda value: events.append(("op", value)),
        clock,
        make=make,
        setup=lambda: events.append("setup"),
    )
    loop.run(20, 1)
    turns = [events[i : i + 3] for i in range(0, 60, 3)]
    assert len(events) == 60
    for setup, made, used in turns:
        assert isinstance(made, tuple)
        assert (setup, made[0], used) == ("setup", "make", ("op", made[1]))


@all_clocks
def test_state_is_given_to_both(instruments: Instruments, clock: Any) -> None:
    """Setup and op get the very object."""
    state = object()
    calls: list[object] = []
    loop = pair_loop(instruments, calls.append, clock, setup=calls.append, state=(state,))
    loop.run(3, 1)
    assert len(calls) == 6
    assert all(given is state for given in calls)


@all_clocks
@pytest.mark.parametrize("size", [1, 7, 8, 9, 1000, 1008, 1009, 2500])
def test_batches_are_made_first(instruments: Instruments, clock: Any, size: int) -> None:
    """All inputs of a batch come before its first call; each is used once, in their order."""
    events: list[tuple[str, int]] = []
    numbers = itertools.count()

    def make() -> int:
        number = next(numbers)
        events.append(("make", number))
        return number

    loop = batch_loop(instruments, lambda number: events.append(("op", number)), make, clock)
    loop.run(size, 1)
    loop.run(size, 1000)
    assert (loop.started, loop.in_setup) == (size, False)
    for what in ("make", "op"):
        assert [number for name, number in events if name == what] == list(range(2 * size))
    runs = [(name, len(list(group))) for name, group in itertools.groupby(events, lambda e: e[0])]
    expected = []
    for left, first in ((size, 8), (size, MAX_BATCH)):
        while left:
            expected.append(min(left, first))
            left -= expected[-1]
            first = MAX_BATCH
    assert runs == [(name, n) for n in expected for name in ("make", "op")]


def test_epoch_without_iterations(instruments: Instruments) -> None:
    """It makes nothing and takes no time."""
    loop = batch_loop(instruments, nothing, lambda: pytest.fail("made"))
    assert (loop.run(0, 1), loop.started) == (0, 0)


# ---------------------------------------------------------------- what is timed


def test_only_op_is_timed(instruments: Instruments) -> None:
    """Between two readings lies nothing but op; setup and make may take as long as they like."""
    clock = FakeClock(read_cost_ns=10)

    def slow(*args: object) -> int:
        clock.advance(5000)
        return 1

    def op(*args: object) -> None:
        clock.advance(100)

    loops = [
        pair_loop(instruments, op, clock, setup=slow),
        pair_loop(instruments, op, clock, make=slow),
        pair_loop(instruments, op, clock, make=slow, setup=slow),
        pair_loop(instruments, op, clock, setup=slow, state=(5,)),
    ]
    for loop in loops:
        for iterations in (0, 1, 7):
            reads = clock.reads
            assert loop.run(iterations, 1) == 110 * iterations
            assert clock.reads - reads == 4 * iterations  # the warm-up is a pair, too


def test_only_the_loop_over_a_batch_is_timed(instruments: Instruments) -> None:
    """A batch costs one pair of readings; the first call of all is timed alone, and looked at."""
    clock = FakeClock(read_cost_ns=10)

    def slow() -> int:
        clock.advance(5000)
        return 1

    loop = batch_loop(instruments, lambda value: clock.advance(100), slow, clock)
    assert loop.run(8, 1) == 800 + 10 + 10
    assert loop.run(1000, 1) == 100_000 + 10
    assert loop.run(1001, 1) == 100_100 + 10 + 10
    assert clock.reads == 2 * 5


class Reported:
    """An object that reports when it is released."""

    def __init__(self, events: list[str], name: str) -> None:
        self.events = events
        self.name = name

    def __del__(self) -> None:
        self.events.append(f"release {self.name}")


class ReportedClock(FakeClock):
    def __init__(self, events: list[str]) -> None:
        super().__init__()
        self.events = events

    def __call__(self) -> int:
        self.events.append("read")
        return super().__call__()


def reporting(events: list[str]) -> tuple[Callable[[], object], Callable[[object], object]]:
    def make() -> Reported:
        events.append("make")
        return Reported(events, "input")

    def op(value: object) -> Reported:
        events.append("op")
        return Reported(events, "output")

    return make, op


def test_value_and_argument_outlive_the_clock(instruments: Instruments) -> None:
    """They are released after the second reading, and before the next iteration begins."""
    events: list[str] = []
    make, op = reporting(events)
    loop = pair_loop(instruments, op, ReportedClock(events), make=make)
    turn = ["make", "read", "read", "read", "op", "read", "release output", "release input"]
    for iterations in (1, 3):
        events.clear()
        loop.run(iterations, 1)
        assert events == turn * iterations


def test_value_and_argument_are_not_kept(instruments: Instruments) -> None:
    """With the native module, too, they are gone before the next argument is made."""
    events: list[str] = []
    make, op = reporting(events)
    pair_loop(instruments, op, make=make).run(3, 1)
    assert events == ["make", "op", "release output", "release input"] * 3


def test_result_of_setup_is_released_at_once(instruments: Instruments) -> None:
    """It is ignored, and its release is not timed."""
    for clock, readings in (("wall", False), (None, True)):
        events: list[str] = []
        loop = pair_loop(
            instruments,
            lambda: events.append("op"),
            clock or ReportedClock(events),
            setup=lambda: Reported(events, "result"),
        )
        loop.run(2, 1)
        reads = ["read"] * readings
        assert events == ["release result", *reads * 3, "op", *reads] * 2


def test_inputs_and_outputs_of_a_batch_outlive_the_clock(instruments: Instruments) -> None:
    """All of them are there until the clock has stopped, and none stays until the next batch."""
    events: list[str] = []
    make, op = reporting(events)
    loop = batch_loop(instruments, op, make, ReportedClock(events))
    releases = ["release input", "release output"]
    loop.run(3, 1)
    assert events[:9] == ["make"] * 3 + ["read", "op", "read"] + ["read", "op", "op"]
    assert events[9] == "read"
    assert sorted(events[10:]) == sorted(releases * 3)
    for size in (1, 5):
        events.clear()
        loop.run(size, 1)
        assert events[: 2 * size + 2] == ["make"] * size + ["read"] + ["op"] * size + ["read"]
        assert sorted(events[2 * size + 2 :]) == sorted(releases * size)


def test_inputs_and_outputs_of_a_batch_are_not_kept(instruments: Instruments) -> None:
    """With the native module, too, they are there while op runs, and gone when the run is over."""
    events: list[str] = []
    make, op = reporting(events)
    loop = batch_loop(instruments, op, make)
    for size in (3, 4):
        events.clear()
        loop.run(size, 1)
        assert events[: 2 * size] == ["make"] * size + ["op"] * size
        assert sorted(events[2 * size :]) == ["release input"] * size + ["release output"] * size


@pytest.mark.parametrize("way", ["setup", "inputs", "batch"])
def test_clock_is_checked(instruments: Instruments, way: str) -> None:
    """Floating point seconds are no integer nanoseconds."""
    with pytest.raises(ClockError, match="perf_counter returned"):
        any_loop(instruments, way, nothing, time.perf_counter).run(1, 1)


# ---------------------------------------------------------------- sizes of batches


def sizes(instruments: Instruments, make: Callable[[], object], op: Any, clock: Any) -> list[int]:
    """The sizes of the batches of an epoch of 2500 iterations."""
    kinds: list[str] = []

    def noted_make() -> object:
        kinds.append("make")
        return make()

    def noted_op(value: Any) -> object:
        kinds.append("op")
        return op(value)

    batch_loop(instruments, noted_op, noted_make, clock).run(2500, 1000)
    return [len(list(group)) for kind, group in itertools.groupby(kinds) if kind == "make"]


@pytest.mark.parametrize("clock", ["wall", FakeClock()])
def test_large_inputs_make_small_batches(instruments: Instruments, clock: Any) -> None:
    """The inputs of a batch take a bounded amount of memory, found from the first few."""
    each = MAX_BATCH_BYTES // 100
    found = sizes(instruments, lambda: bytes(each), nothing, clock)
    assert (found[0], sum(found)) == (8, 2500)
    assert all(90 <= size <= 100 for size in found[1:-1])


@pytest.mark.parametrize("clock", ["wall", FakeClock()])
def test_large_outputs_make_small_batches(instruments: Instruments, clock: Any) -> None:
    """Outputs are kept until the end of a batch, so they count as well."""
    each = MAX_BATCH_BYTES // 100
    found = sizes(instruments, int, lambda value: bytes(each), clock)
    assert (found[0], sum(found)) == (8, 2500)
    assert all(90 <= size <= 100 for size in found[1:-1])


def test_batch_has_at_least_one_input(instruments: Instruments) -> None:
    """Also if that one is larger than a batch should be."""
    loop = batch_loop(instruments, nothing, lambda: bytes(MAX_BATCH_BYTES + 1))
    loop.run(9, 1)
    assert loop._size == 1


@pytest.mark.parametrize("clock", ["wall", FakeClock()])
def test_small_inputs_make_batches_of_a_thousand(instruments: Instruments, clock: Any) -> None:
    """More would not make a reading of the clock any cheaper that could be noticed."""
    assert sizes(instruments, list, nothing, clock) == [8, 1000, 1000, 492]


def test_tracer_of_memory_stays_as_it_is(instruments: Instruments) -> None:
    """It is on for a moment to see what inputs take; a user's own goes on, with what it saw."""
    batch_loop(instruments, nothing, list).run(9, 1)
    assert not tracemalloc.is_tracing()
    with pytest.raises(ZeroDivisionError):
        batch_loop(instruments, nothing, lambda: 1 / 0).run(9, 1)
    assert not tracemalloc.is_tracing()
    tracemalloc.start()
    try:
        kept = bytes(10**6)
        batch_loop(instruments, nothing, list).run(9, 1)
        assert tracemalloc.is_tracing()
        assert tracemalloc.get_object_traceback(kept) is not None
    finally:
        tracemalloc.stop()


# ---------------------------------------------------------------- exceptions


class Failure(Exception):
    pass


def failing_at(number: int, error: type[BaseException] = Failure) -> Callable[..., None]:
    calls = itertools.count(1)

    def fail(*args: object) -> None:
        if next(calls) == number:
            raise error(number)

    return fail


@pytest.mark.parametrize("clock", ["wall", FakeClock()])
@pytest.mark.parametrize("number", [1, 2, 16, 50])
@pytest.mark.parametrize("where", ["setup", "make", "op", "state"])
def test_exception_of_a_pair_comes_out(
    instruments: Instruments, clock: Any, number: int, where: str
) -> None:
    """At once, with the number of its iteration, and whether it was op that raised it."""
    fail = failing_at(number)
    loop = {
        "setup": lambda: pair_loop(instruments, nothing, clock, setup=fail),
        "make": lambda: pair_loop(instruments, nothing, clock, make=fail, setup=nothing),
        "op": lambda: pair_loop(instruments, fail, clock, setup=nothing, make=int),
        "state": lambda: pair_loop(instruments, nothing, clock, setup=fail, state=(1,)),
    }[where]()
    with pytest.raises(Failure) as caught:
        loop.run(50, 1)
    assert caught.value.args == (number,)
    assert (loop.started, loop.in_setup) == (number, where != "op")


@pytest.mark.parametrize("clock", ["wall", FakeClock()])
@pytest.mark.parametrize(
    ("number", "started"), [(1, 1), (8, 1), (9, 9), (1008, 9), (1009, 1009), (1500, 1009)]
)
def test_exception_of_make_in_a_batch(
    instruments: Instruments, clock: Any, number: int, started: int
) -> None:
    """It comes before the first iteration of its batch."""
    calls: list[object] = []
    loop = batch_loop(instruments, calls.append, failing_at(number), clock)
    with pytest.raises(Failure):
        loop.run(2000, 1000)
    assert (loop.started, loop.in_setup, len(calls)) == (started, True, started - 1)


@pytest.mark.parametrize("clock", ["wall", FakeClock()])
@pytest.mark.parametrize("number", [1, 2, 8, 9, 1008, 1009, 1500])
@pytest.mark.parametrize("error", [Failure, StopIteration, KeyboardInterrupt, MemoryError])
def test_exception_of_op_in_a_batch(
    instruments: Instruments, clock: Any, number: int, error: type[BaseException]
) -> None:
    """It is told which iteration it was; also StopIteration, which ends loops elsewhere."""
    loop = batch_loop(instruments, failing_at(number, error), list, clock)
    with pytest.raises(error):
        loop.run(2000, 1000)
    assert (loop.started, loop.in_setup) == (number, False)


async def coroutine(*args: object) -> None:
    raise AssertionError("nobody awaits it")


def generator(*args: object) -> Iterator[int]:
    yield 1


async def async_generator(*args: object) -> AsyncIterator[int]:
    yield 1


@pytest.mark.parametrize("clock", ["wall", FakeClock()])
@pytest.mark.parametrize("make", [coroutine, generator, async_generator])
@pytest.mark.parametrize("way", ["setup", "inputs", "batch"])
def test_lazy_value_is_refused(
    instruments: Instruments, clock: Any, make: Callable[[], Any], way: str
) -> None:
    """The first value is looked at, and closed, so that nobody complains that it was lost."""
    made: list[weakref.ref[Any]] = []

    def op(*args: object) -> Any:
        value = make()
        made.append(weakref.ref(value))
        return value

    loop = any_loop(instruments, way, op, clock)
    loop.run(0, 1)
    with pytest.raises(OpError, match="none of its body would be measured"):
        loop.run(20, 1)
    gc.collect()
    assert [each() for each in made] == [None]
    assert (loop.started, loop.in_setup) == (1, False)


@pytest.mark.parametrize("clock", ["wall", FakeClock()])
@pytest.mark.parametrize("way", ["setup", "inputs", "batch"])
def test_only_the_first_value_is_looked_at(instruments: Instruments, clock: Any, way: str) -> None:
    """The rest is none of the harness's business."""
    values: Iterator[Any] = itertools.chain([1], (generator() for _ in itertools.count()))

    def op(*args: object) -> Any:
        return next(values)

    loop = any_loop(instruments, way, op, clock)
    loop.run(20, 1)
    loop.run(3, 1)
    assert loop.started == 3


# ---------------------------------------------------------------- references


@pytest.mark.parametrize("clock", ["wall", FakeClock()])
@pytest.mark.parametrize("ends", ["well", "op", "setup", "lazy"])
def test_no_references_leak(instruments: Instruments, clock: Any, ends: str) -> None:
    """However an epoch ends, what it had in hand is as free as before."""
    state, argument, value, result = (type("Value", (), {})() for _ in range(4))
    lazy = iter(generator())

    def setup(*args: object) -> object:
        if ends == "setup":
            raise Failure
        return result

    def make() -> object:
        return argument

    def op(given: object) -> object:
        if ends == "op":
            raise Failure
        return lazy if ends == "lazy" else value

    watched = (state, argument, value, result, lazy, setup, make, op)

    def run() -> None:
        for loop in (
            pair_loop(instruments, op, clock, make=make, setup=setup),
            pair_loop(instruments, op, clock, state=(state,), setup=setup),
            batch_loop(instruments, op, make, clock),
        ):
            with suppress(Failure, OpError):
                loop.run(20, 5)

    run()
    before = [sys.getrefcount(each) for each in watched]
    for _ in range(20):
        run()
    assert [sys.getrefcount(each) for each in watched] == before


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="counts of constants mean nothing there")
def test_empty_pairs_leak_no_references(instruments: Instruments) -> None:
    """What the empty callable of a warm-up returns is released as well."""
    for op, value in ((nothing, None), (gc.isenabled, True)):
        loop = pair_loop(instruments, op, setup=nothing)
        loop.run(10, 1)
        before = sys.getrefcount(value)
        loop.run(10_000, 1)
        assert abs(sys.getrefcount(value) - before) < 1000  # others use it, too


# ---------------------------------------------------------------- the code of an op


class Callable_:
    def __call__(self) -> int:
        return 1

    def method(self) -> int:
        return 2


def function() -> int:
    return 12345


def test_code_that_a_call_reads() -> None:
    """For whatever ends in a Python function, it is that function's."""
    parts = (function, function.__code__, function.__code__.co_consts)
    assert code_parts(function) == parts
    assert code_parts(partial(partial(function))) == parts
    method = Callable_.method
    for op in (Callable_().method, partial(Callable_().method)):
        assert code_parts(op) == (method, method.__code__, method.__code__.co_consts)
    call = Callable_.__call__
    assert code_parts(Callable_()) == (call, call.__code__, call.__code__.co_consts)


@pytest.mark.parametrize("op", [len, [].append, list.pop, int, partial(len, []), {}.get])
def test_code_in_c_is_not_looked_for(op: Any) -> None:
    """What is not Python code has no parts that are known."""
    assert code_parts(op) == ()
    assert spans_of(code_parts(op)) == []


def test_memory_of_an_object_is_its_own() -> None:
    """Nothing is read that lies in front of it, behind it, or elsewhere."""
    spans = spans_of(code_parts(function))
    assert [address for address, _ in spans] == [id(part) for part in code_parts(function)]
    for part, (_, size) in zip(code_parts(function), spans, strict=True):
        # With what the garbage collector has in front of it, and with caches.
        assert 0 < size <= sys.getsizeof(part)
    assert spans[2][1] == object.__sizeof__(function.__code__.co_consts)


def test_op_may_give_itself_other_code(instruments: Instruments) -> None:
    """The code that it had is kept as long as its memory is looked at."""
    namespace: dict[str, Any] = {}
    exec("def other(): pass\ndef op(): op.__code__ = other.__code__", namespace)
    op = namespace["op"]
    loop = pair_loop(instruments, op, setup=nothing)
    code = weakref.ref(op.__code__)
    loop.run(3, 1)
    gc.collect()
    assert (code() is None) == (not isinstance(loop, CompiledPairLoop))
    del loop
    gc.collect()
    assert code() is None


# ---------------------------------------------------------------- what a pair costs


def test_twin_has_no_setup_and_the_same_arguments(instruments: Instruments) -> None:
    """It is timed in the same way, over an empty op, and never calls anything of the user's."""
    clock = FakeClock(read_cost_ns=10)
    for untimed in ({"setup": nothing}, {"make": nothing}, {"setup": nothing, "state": (1,)}):
        loop = pair_loop(instruments, lambda *args: clock.advance(100), clock, **untimed)
        twin = loop.empty_twin()
        assert (twin.kind, type(twin)) == ("function", type(loop))
        loop._untimed = Untimed(setup=lambda *args: 1 / 0, setup_scope="iteration")
        assert twin.run(7, 1) == 70
        assert twin.empty_twin().run(7, 1) == 70


@pytest.mark.parametrize("op", [lambda value: None, list.pop, callable, partial(nothing, 1)])
def test_twin_of_any_kind_runs(instruments: Instruments, op: Any) -> None:
    """There is an empty op for all kinds of callables."""
    for loop in (pair_loop(instruments, op, make=list), batch_loop(instruments, op, list)):
        twin = loop.empty_twin()
        assert twin.kind == callable_op(op, 1).kind
        assert twin.run(100, 1) >= 0


def test_twin_of_batches_has_batches_of_the_same_size(instruments: Instruments) -> None:
    """Large inputs make small batches, whose readings of the clock cost more for each input."""
    clock = FakeClock(read_cost_ns=10)
    loop = batch_loop(instruments, nothing, lambda: bytes(MAX_BATCH_BYTES // 10), clock)
    twin = loop.empty_twin()
    twin.run(1, 1)  # the first call is looked at
    assert twin.run(2000, 1) == 20
    loop.run(100, 1)
    size = loop._size
    assert size in (9, 10)
    assert twin.run(100, 1) == 10 * -(-100 // size)


class Twin:
    """A loop whose epochs say to have taken given times."""

    kind = "fake"

    def __init__(self, *times_ns: int) -> None:
        self.asked: list[int] = []
        self.started = 0
        self.in_setup = False
        self._times = itertools.chain(times_ns, itertools.repeat(times_ns[-1]))

    def run(self, iterations: int, signal_interval: int) -> int:
        self.asked.append(iterations)
        return next(self._times)

    def empty_twin(self) -> Twin:
        return self

    def prepare_traceback(self) -> None:
        pass


def test_cost_of_a_pair_is_the_least_of_many_means() -> None:
    """At least 1000 pairs are measured before the op, in short epochs, after as many to warm up."""
    twin = Twin(*[1] * 10, *range(4000, 4000 + 30 * 50, 50), 6000)
    meter = PairMeter(twin)
    assert twin.asked == [PAIRS_AT_ONCE] * 40
    assert meter.overhead() == Overhead(
        fixed_ns=0.0,
        per_iteration_ns=4000 / PAIRS_AT_ONCE,
        uncertainty_ns=14.5,  # half of them are further away from it
        kind="fake",
    )


def test_cost_of_a_pair_is_measured_on() -> None:
    """More are measured after each epoch, however long that was, and may be cheaper."""
    twin = Twin(*[5000] * 40, 5000, 5000, 5000, 4000, 5000)
    meter = PairMeter(twin)
    for iterations in (1, 10**6):
        meter.sample(iterations)
    assert twin.asked == [PAIRS_AT_ONCE] * 48
    overhead = meter.overhead()
    assert overhead.per_iteration_ns == 80.0
    assert overhead.uncertainty_ns == 20.0


def test_uncertainty_of_a_pair_is_never_nothing() -> None:
    """Pairs that cost the same are still no better known than where a function lies."""
    assert PairMeter(Twin(5000)).overhead().uncertainty_ns == LAYOUT_SPREAD * 100.0


def test_clock_that_runs_backwards_makes_no_negative_cost() -> None:
    """What is subtracted is 0 at least."""
    assert PairMeter(Twin(-50)).overhead().per_iteration_ns == 0.0
