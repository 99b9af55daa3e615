"""What Python has in store for a benchmark: lazy values, exceptions, signals, threads, forks.

Each test goes through `Bench`, with native and with pure Python loops.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import os
import signal
import subprocess
import sys
import threading
import traceback
import types
import warnings
import weakref
from functools import partial
from io import StringIO
from itertools import repeat
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from ankerl_py import Bench
from ankerl_py.core import epochs
from ankerl_py.environment import Environment
from ankerl_py.errors import ClockError, OpError
from ankerl_py.testing import FakeClock
from deferred import async_generator, coroutine, generator, old_coroutine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ankerl_py.core.instruments import Instruments


def exact(bench: Bench, iterations: int = 3, epochs: int = 2) -> Bench:
    """So many epochs of so many iterations, on a virtual clock."""
    return bench.clock(FakeClock()).epochs(epochs).epoch_iterations(iterations)


# ---------------------------------------------------------------- values that do their work later


class Lazy:
    async def method(self) -> None:
        raise AssertionError("nobody awaits it")

    async def __call__(self) -> None:
        raise AssertionError("nobody awaits it")


LAZY: list[Callable[[], Any]] = [
    coroutine,
    generator,
    async_generator,
    old_coroutine,
    Lazy().method,
    Lazy(),
    partial(coroutine),
    lambda: coroutine(),
    lambda: generator(),
    lambda: async_generator(),
    lambda: (i for i in range(3)),
    partial(lambda: coroutine()),
    types.MethodType(lambda self: coroutine(), 5),
    asyncio.Queue().get,
]

PHASES: list[Callable[[Bench], Bench]] = [
    lambda b: b,
    lambda b: b.warmup(100),
    lambda b: b.epoch_iterations(1),
    lambda b: b.epoch_iterations(1000).warmup(1),
]


@pytest.mark.parametrize("op", LAZY)
@pytest.mark.parametrize("phase", PHASES)
def test_op_that_only_makes_something_lazy_is_refused(
    bench: Bench, op: Callable[[], Any], phase: Callable[[Bench], Bench]
) -> None:
    """The error names the remedy, nothing is stored, and nobody complains of a lost coroutine."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(OpError, match=r"none of its body would be measured - measure "):
            phase(bench.clock(FakeClock())).run("lazy", op)
        gc.collect()
    assert bench.results == ()


def test_statement_may_make_something_lazy(bench: Bench) -> None:
    """A statement is measured as it stands; that it makes a generator may be what is wanted."""
    exact(bench).run("(i for i in ())")
    assert len(bench.results) == 1


def test_function_that_runs_a_coroutine_is_measured(bench: Bench) -> None:
    """The remedies in the messages work."""

    async def work() -> int:
        return 1

    exact(bench).run(lambda: asyncio.run(work())).run(lambda: list(generator()))
    assert len(bench.results) == 2


# ---------------------------------------------------------------- exceptions


class Failure(Exception):
    pass


def failing_at(number: int, error: BaseException) -> Callable[[], None]:
    calls = itertools.count(1)

    def op() -> None:
        if next(calls) == number:
            raise error

    return op


def notes(error: BaseException) -> list[str]:
    return list(getattr(error, "__notes__", []))


def note(where: str) -> list[str]:
    if not hasattr(BaseException, "add_note"):
        return []
    return [f"benchmark 'it' was in {where}; nothing of it is stored"]


WHERE = [
    (lambda b: b.epoch_iterations(10), 1, "iteration 1 of 10 in epoch 1 of 11"),
    (lambda b: b.epoch_iterations(10), 10, "iteration 10 of 10 in epoch 1 of 11"),
    (lambda b: b.epoch_iterations(10), 11, "iteration 1 of 10 in epoch 2 of 11"),
    (lambda b: b.epoch_iterations(10), 110, "iteration 10 of 10 in epoch 11 of 11"),
    (lambda b: b.epoch_iterations(10).warmup(100), 50, "iteration 50 of 100 in the warmup"),
    (lambda b: b.epoch_iterations(3000).epochs(3), 8999, "iteration 2999 of 3000 in epoch 3 of 3"),
    (lambda b: b.epoch_iterations(3000).epochs(3), 4001, "iteration 1001 of 3000 in epoch 2 of 3"),
    (lambda b: b, 5, "iteration 4 of 10 in the search for the number of iterations"),
]


@pytest.mark.parametrize("form", ["callable", "statement"])
@pytest.mark.parametrize(("settings", "number", "where"), WHERE)
@pytest.mark.parametrize("make", [Failure, KeyboardInterrupt, SystemExit, MemoryError])
def test_exception_of_op_comes_out(
    bench: Bench,
    form: str,
    settings: Callable[[Bench], Bench],
    number: int,
    where: str,
    make: Callable[[], BaseException],
) -> None:
    """It is op's own, noted down with benchmark, epoch and iteration; nothing is stored."""
    error = make()
    op = failing_at(number, error)
    profiler, tracer, limit = sys.getprofile(), sys.gettrace(), sys.getrecursionlimit()
    bench = settings(bench.clock(FakeClock()))
    with pytest.raises(type(error)) as caught:
        bench.run("it", op if form == "callable" else "op()", globals={"op": op})
    assert caught.value is error
    assert notes(error) == note(where)
    assert (bench.results, len(bench.store)) == ((), 0)
    assert gc.isenabled()
    assert (sys.getprofile(), sys.gettrace()) == (profiler, tracer)
    assert sys.getrecursionlimit() == limit


def test_traceback_shows_where_op_raised(bench: Bench) -> None:
    """The last frames are op's own, with their source lines."""

    def inner() -> None:
        raise Failure("here")

    def op() -> None:
        inner()

    with pytest.raises(Failure) as caught:
        exact(bench).run(op)
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert [(frame.name, frame.line) for frame in frames[-2:]] == [
        ("op", "inner()"),
        ("inner", 'raise Failure("here")'),
    ]


def test_traceback_shows_the_line_of_a_statement(bench: Bench) -> None:
    """The text of a statement is no file, but its lines are shown all the same."""
    text = "x = 1\ny = x / 0  # the line\nz = 2"
    with pytest.raises(ZeroDivisionError) as caught:
        exact(bench).run(text)
    frame = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (frame.lineno, frame.line) == (2, "y = x / 0  # the line")


def test_unknown_name_in_a_statement(bench: Bench) -> None:
    """It is a NameError as anywhere else; names of the library are as unknown as any."""
    for text in ("unknown", "iterations", "bench", "attrs", "_timer", "_item"):
        with pytest.raises(NameError, match=f"name '{text}' is not defined"):
            exact(bench).run(text)


def test_bench_goes_on_after_an_exception(bench: Bench) -> None:
    """An op that failed leaves nothing behind."""
    bench = exact(bench)
    with pytest.raises(Failure):
        bench.run(failing_at(4, Failure()))
    bench.run("fine", lambda: None)
    assert [result.name for result in bench.results] == ["fine"]


def test_depth_of_recursion_is_as_before(bench: Bench) -> None:
    """An op that runs out of stack is an op that raises; afterwards all of the stack is there."""

    def depth(n: int = 0) -> int:
        try:
            return depth(n + 1)
        except RecursionError:
            return n

    def endless() -> None:
        endless()

    before = depth()
    with pytest.raises(RecursionError):
        exact(bench).run(endless)
    assert abs(depth() - before) <= 2


def test_tracer_and_profiler_are_as_before(bench: Bench) -> None:
    """They stay on while measuring, and nothing of them is replaced."""
    seen: list[str] = []

    def trace(frame: types.FrameType, event: str, arg: object) -> None:
        seen.append(frame.f_code.co_name)

    def traced() -> None:
        pass

    before = sys.gettrace(), sys.getprofile()
    sys.settrace(trace)
    sys.setprofile(trace)
    try:
        exact(bench).run(traced)
        during = sys.gettrace(), sys.getprofile()
    finally:
        sys.settrace(before[0])
        sys.setprofile(before[1])
    assert during == (trace, trace)
    assert "traced" in seen


# ---------------------------------------------------------------- the garbage collector


@pytest.fixture(autouse=True)
def _collector_is_on_afterwards() -> Iterator[None]:
    gc.enable()
    yield
    gc.enable()


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("wanted", [True, False])
@pytest.mark.parametrize("number", [0, 1, 4])
@pytest.mark.parametrize("switch", [None, gc.enable, gc.disable])
def test_collector_is_as_before(
    bench: Bench, before: bool, wanted: bool, number: int, switch: Callable[[], None] | None
) -> None:
    """On if it was on, off if it was off, whatever op does to it, and also if op raises."""
    (gc.enable if before else gc.disable)()
    fail = failing_at(number, Failure())

    def op() -> None:
        if switch:
            switch()
        fail()

    bench = exact(bench).gc(wanted)
    if number:
        with pytest.raises(Failure):
            bench.run(op)
    else:
        bench.run(op)
    assert gc.isenabled() == before


def test_benchmark_in_a_benchmark(bench: Bench) -> None:
    """An op may run another benchmark: both are stored, the inner ones first."""
    stream = StringIO()
    bench = exact(bench, iterations=2, epochs=1).output(stream)
    states: list[bool] = []

    def op() -> None:
        bench.gc(True).run("inner", lambda: None)
        states.append(gc.isenabled())

    bench.run("outer", op)
    assert [result.name for result in bench.results] == ["inner", "inner", "outer"]
    assert states == [False, False]
    assert gc.isenabled()
    assert len(stream.getvalue().splitlines()) == 1 + 2 + 3


def test_exception_through_two_benchmarks(bench: Bench) -> None:
    """Each one notes where it was."""
    bench = exact(bench)
    error = Failure()
    with pytest.raises(Failure):
        bench.run("it", lambda: bench.run("it", failing_at(2, error)))
    assert notes(error) == [
        *note("iteration 2 of 3 in epoch 1 of 2"),
        *note("iteration 1 of 3 in epoch 1 of 2"),
    ]
    assert gc.isenabled()


# ---------------------------------------------------------------- threads and processes


def test_threads_share_a_store(bench: Bench) -> None:
    """Every result of several threads is there, and every row is whole."""
    stream = StringIO()
    bench = bench.epochs(2).epoch_iterations(50).output(stream)
    start = threading.Barrier(4, timeout=20)
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            start.wait()
            for i in range(10):
                bench.run(f"{number}-{i}", lambda: None)
                bench.run(f"{number}-{i} statement", "pass")
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert errors == []
    names = [f"{n}-{i}{kind}" for n in range(4) for i in range(10) for kind in ("", " statement")]
    assert sorted(result.name for result in bench.results) == sorted(names)
    assert len(stream.getvalue().splitlines()) == 3 + 80
    assert gc.isenabled()


def test_threads_that_overlap_leave_the_collector_as_it_was(bench: Bench) -> None:
    """The one that ends first does not switch it on for the other."""
    both, first_ended = threading.Barrier(2, timeout=20), threading.Event()
    states: list[bool] = []

    def first() -> None:
        exact(bench, 1, 1).run("first", both.wait)
        first_ended.set()

    def op() -> None:
        both.wait()
        first_ended.wait(20)
        states.append(gc.isenabled())

    threads = [
        threading.Thread(target=first),
        threading.Thread(target=lambda: exact(bench, 1, 1).run("second", op)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert (states, gc.isenabled()) == ([False], True)


@pytest.mark.parametrize("endless", [True, False])
def test_op_in_c_lets_other_threads_run(instruments: Instruments, endless: bool) -> None:
    """However long an op in C is measured in one thread, the others get their turn meanwhile."""
    environment = Environment({"NANOBENCH_ENDLESS": "x"} if endless else {})
    bench = Bench(instruments=attrs.evolve(instruments, environment=environment)).output(None)
    bench = bench.epochs(1).epoch_iterations(2**60).correct_overhead(False)
    op = repeat(None, 20_000_000).__next__  # it ends itself

    def target() -> None:
        with pytest.raises(StopIteration):
            bench.run("x", op)

    thread = threading.Thread(target=target)
    thread.start()
    turns = 0
    while thread.is_alive():
        thread.join(0.001)
        turns += 1
    # One at the beginning and one or two at the end would be all, if there were none between.
    assert turns > 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_child_process_can_measure(bench: Bench) -> None:
    """After a fork, the child measures, stores and prints as its parent does."""
    stream = StringIO()
    bench = exact(bench).output(stream).run("parent", lambda: None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # other threads, from Python 3.12 on
        pid = os.fork()
    if pid == 0:
        status = 1
        try:
            signal.alarm(20)
            bench.run("child", lambda: None).run("pass")
            names = [result.name for result in bench.results]
            rows = stream.getvalue().count("\n")
            good = names == ["parent", "child", "pass"] and rows == 6 and gc.isenabled()
            status = 0 if good else 2
        finally:
            os._exit(status)
    assert os.waitpid(pid, 0)[1] == 0
    assert [result.name for result in bench.results] == ["parent"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_op_may_fork(bench: Bench) -> None:
    """A child that is born in an op and leaves by `os._exit` is nothing special."""

    def op() -> None:
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        exact(bench).run(op)
    assert len(bench.results) == 1


# ---------------------------------------------------------------- clocks


def test_clock_that_stands_still_is_bounded(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run ends, and its result says why it has no figures."""
    monkeypatch.setattr(epochs, "STANDSTILL_NS", 2_000_000)
    for clock in (FakeClock(), FakeClock(resolution_ns=None), FakeClock(resolution_ns=0)):
        result = bench.clock(clock).run("it", lambda: None).results[-1]
        assert result.failure == "the clock stands still, or shows less than is measured"
        assert result.empty


def test_clock_that_advances_by_reading_only_is_bounded(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock that shows next to nothing is as good as one that stands still."""
    monkeypatch.setattr(epochs, "STANDSTILL_NS", 2_000_000)
    monkeypatch.setattr(epochs, "STANDSTILL_RATIO", 1000)
    result = bench.clock(FakeClock(read_cost_ns=1)).run("it", lambda: None).results[-1]
    assert result.failure == "the clock stands still, or shows less than is measured"


@pytest.mark.parametrize("correct", [True, False])
@pytest.mark.parametrize("cost_ns", [20_000, 900_000, 15_625_000, 10**9])
def test_clock_of_coarse_steps_gives_figures(bench: Bench, cost_ns: int, correct: bool) -> None:
    """With a clock that steps 15.6 ms, epochs are long enough to see steps; no error, no end."""
    clock = FakeClock(tick_ns=15_625_000, resolution_ns=15_625_000)
    op = partial(clock.advance, cost_ns)
    (result,) = bench.clock(clock).epochs(3).correct_overhead(correct).run(op).results
    assert len(result) == 3
    assert all(raw.elapsed_ns % 15_625_000 == 0 and raw.elapsed_ns for raw in result.raw)


def test_clock_without_known_resolution_is_looked_at(bench: Bench) -> None:
    """A clock that steps, and is advanced by nobody while one looks, has no resolution."""
    clock = FakeClock(tick_ns=1000, resolution_ns=None)
    bench.clock(clock).epochs(1).run(partial(clock.advance, 100_000))
    assert bench.results[0].median("elapsed") == 1e-4


@pytest.mark.parametrize("form", ["callable", "statement"])
def test_clock_that_runs_backwards_is_an_error(bench: Bench, form: str) -> None:
    """It is told by how much, in which benchmark; nothing is stored."""
    clock = FakeClock()
    back = partial(clock.advance, -5)
    op = back if form == "callable" else "back()"
    with pytest.raises(ClockError, match=r"the clock of 'it' ran backwards by 15 ns .* of 3 it"):
        exact(bench).clock(clock).run("it", op, globals={"back": back})
    assert bench.results == ()
    assert gc.isenabled()


@pytest.mark.parametrize("value", [1.5, "1", None])
def test_clock_that_gives_no_integers_is_an_error(bench: Bench, value: Any) -> None:
    """Floating point seconds, as of time.perf_counter, are no integer nanoseconds."""

    class Odd(FakeClock):
        def __call__(self) -> Any:
            return value

    with pytest.raises(ClockError, match=r"Odd returned .*, but a clock returns integer"):
        bench.clock(Odd()).run(lambda: None)
    assert bench.results == ()


# ---------------------------------------------------------------- Ctrl-C

FORMS = {
    "C function": "gc.isenabled",
    "Python function": "lambda: None",
    "statement": "'pass'",
    "method in C": "[].copy",
}

PROGRAM = """
import gc, os, signal, sys, threading
from ankerl_py import Bench
from ankerl_py.backends.compiled import compiled
from ankerl_py.core.instruments import Instruments
from ankerl_py.environment import Environment

instruments = Instruments(
    environment=Environment({variables}), compiled={compiled}, stability_notice=lambda **_: ""
)
bench = Bench(instruments=instruments, output=None).epochs(1).{settings}
{send}
try:
    bench.run("x", {op})
except KeyboardInterrupt as error:
    told = getattr(error, "__notes__", ["in the endless run", "epoch 1 of 1"])
    print("interrupted", gc.isenabled(), len(bench.store), *told)
"""

BY_TIMER = """
signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, 0.05)
"""

BY_THREAD = """
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
"""


def interrupted(instruments: Instruments, **parts: str) -> str:
    """Run a program that is interrupted soon; one that hangs fails the test by a timeout."""
    native = "None" if instruments.compiled is None else "compiled()"
    code = PROGRAM.format(
        **{"variables": "{}", "settings": "epoch_iterations(0)", "compiled": native, **parts}
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no such timer")
@pytest.mark.parametrize("form", FORMS)
def test_ctrl_c_ends_an_endless_run(instruments: Instruments, form: str) -> None:
    """Also if op is a function in C, during which Python itself never looks at signals."""
    out = interrupted(
        instruments,
        variables="{'NANOBENCH_ENDLESS': 'x'}",
        op=FORMS[form],
        send=BY_TIMER,
    )
    assert out.startswith("interrupted True 0 ")
    assert "in the endless run" in out


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no such timer")
@pytest.mark.parametrize("send", [BY_TIMER, BY_THREAD])
@pytest.mark.parametrize(
    "settings", ["epoch_iterations(2**63)", "epoch_iterations(10**15).clock('thread')"]
)
def test_ctrl_c_ends_a_long_epoch_of_a_c_function(
    instruments: Instruments, send: str, settings: str
) -> None:
    """A single epoch that would last for years ends as soon."""
    out = interrupted(instruments, settings=settings, op=FORMS["C function"], send=send)
    assert out.startswith("interrupted True 0 ")
    assert "epoch 1 of 1" in out


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no such timer")
def test_ctrl_c_while_a_c_function_is_slow(instruments: Instruments) -> None:
    """An op in C of some milliseconds is interrupted after one of its calls."""
    out = interrupted(
        instruments,
        settings="epoch_iterations(10**6)",
        op="__import__('functools').partial(sum, range(200_000))",
        send=BY_TIMER,
    )
    assert out.startswith("interrupted True 0 ")


# ---------------------------------------------------------------- memory


def test_nothing_of_a_run_stays_behind(bench: Bench) -> None:
    """After a run, an op and what it refers to can go, although its result is stored."""

    class Op:
        def __call__(self) -> None:
            pass

    op = Op()
    gone = weakref.ref(op)
    bench = exact(bench)
    bench.run("op", op).run("op()", globals={"op": op})
    with pytest.raises(Failure):
        bench.run("failing", "op(); fail()", globals={"op": op, "fail": failing_at(1, Failure())})
    del op
    gc.collect()
    assert gone() is None
    assert len(bench.results) == 2


def test_many_runs_leak_no_references(bench: Bench) -> None:
    """The number of references to an op and to its value is the same after many runs."""
    value = object()

    def op() -> object:
        return value

    bench = exact(bench, 20)
    bench.run("x", op)
    before = sys.getrefcount(op), sys.getrefcount(value)
    for _ in range(30):
        bench.run("x", op)
    after = sys.getrefcount(op), sys.getrefcount(value)
    assert after == before
