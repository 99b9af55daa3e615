"""Measuring loops: what is called how often, what is timed, and what happens when op raises."""

from __future__ import annotations

import gc
import itertools
import operator
import sys
import weakref
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from ankerl_py.backends.clocks import clock_of
from ankerl_py.backends.compiled import compiled
from ankerl_py.core.loops import CompiledCallLoop, Loop, PythonCallLoop
from ankerl_py.core.ops import callable_op
from ankerl_py.core.statement_loop import StatementLoop
from ankerl_py.core.statements import compile_statement
from ankerl_py.errors import ClockError, OpError
from ankerl_py.testing import FakeClock
from deferred import async_generator, coroutine, generator

if TYPE_CHECKING:
    from ankerl_py.core.instruments import Instruments

Make = Callable[..., Loop]


def call_loop(instruments: Instruments, op: Callable[[], object], clock: Any = "wall") -> Loop:
    if instruments.compiled is None:
        return PythonCallLoop(callable_op(op), clock_of(clock))
    return CompiledCallLoop(callable_op(op), clock_of(clock), instruments.compiled)


def statement_loop(
    instruments: Instruments, text: str, clock: Any = "wall", **namespace: object
) -> Loop:
    statement = compile_statement(text, namespace)
    return StatementLoop(statement, clock_of(clock), instruments.compiled)


def loop_over(
    instruments: Instruments, form: str, op: Callable[[], object], clock: Any = "wall"
) -> Loop:
    """A loop over calls of op, in either form."""
    if form == "statement":
        return statement_loop(instruments, "op()", clock, op=op)
    return call_loop(instruments, op, clock)


both_forms = pytest.mark.parametrize("form", ["callable", "statement"])
all_clocks = pytest.mark.parametrize("clock", ["wall", "process", "thread", FakeClock()])


@both_forms
@all_clocks
@pytest.mark.parametrize("interval", [1, 7, 1000])
def test_op_runs_as_often_as_it_should(
    instruments: Instruments, form: str, clock: Any, interval: int
) -> None:
    """Every epoch runs its iterations, no more and no less, whenever signals are looked at."""
    calls: list[int] = []
    loop = loop_over(instruments, form, lambda: calls.append(1), clock)
    for iterations in (0, 1, 2, 15, 16, 17, 100, 1001, 0):
        calls.clear()
        assert loop.run(iterations, interval) >= 0
        assert (len(calls), loop.started) == (iterations, iterations)


@both_forms
def test_time_between_the_readings_is_given(instruments: Instruments, form: str) -> None:
    """The clock is read right before and after the loop: once each, with everything in between."""
    clock = FakeClock(read_cost_ns=10)
    loop = loop_over(instruments, form, lambda: clock.advance(100), clock)
    clock.advance(5000)
    for iterations in (0, 1, 7):
        reads = clock.reads
        assert loop.run(iterations, 1) == 100 * iterations + 10
        assert clock.reads - reads == 2


@both_forms
@pytest.mark.parametrize("clock", ["wall", "process", "thread"])
def test_times_of_the_clocks_are_plausible(instruments: Instruments, form: str, clock: Any) -> None:
    """Work takes time on each of the clocks, and not as long as the age of the universe."""
    loop = loop_over(instruments, form, lambda: sum(range(1000)), clock)
    elapsed_ns = sum(loop.run(200, 1000) for _ in range(20))
    assert 0 < elapsed_ns < 100_000_000_000


class Failure(Exception):
    pass


def failing_at(number: int) -> Callable[[], None]:
    """An op that raises in the call of that number."""
    calls = itertools.count(1)

    def op() -> None:
        if next(calls) == number:
            raise Failure(number)

    return op


@both_forms
@pytest.mark.parametrize("interval", [1, 3, 1000])
@pytest.mark.parametrize("number", [1, 2, 3, 4, 16, 17, 18, 50])
def test_exception_ends_the_epoch_at_once(
    instruments: Instruments, form: str, number: int, interval: int
) -> None:
    """The exception comes out, and `started` is the number of the iteration that raised it."""
    loop = loop_over(instruments, form, failing_at(number))
    with pytest.raises(Failure) as caught:
        loop.run(50, interval)
    assert caught.value.args == (number,)
    assert loop.started == number
    # The loop can go on after that: what was handed over is gone.
    assert loop.run(5, interval) >= 0
    assert loop.started == 5


@pytest.mark.parametrize("stop", [1, 2, 10, 1500])
def test_exception_of_an_op_in_c(instruments: Instruments, stop: int) -> None:
    """An op in C that raises ends the epoch like any other."""
    loop = call_loop(instruments, iter([None] * (stop - 1)).__next__)
    with pytest.raises(StopIteration):
        loop.run(2000, 100)
    assert loop.started == stop


@both_forms
@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), SystemExit(3), GeneratorExit(), MemoryError(), StopIteration()]
)
def test_any_exception_comes_out_as_it_is(
    instruments: Instruments, form: str, error: BaseException
) -> None:
    """It is the very object that op raised, and its traceback begins in the op."""

    def op() -> None:
        raise error

    with pytest.raises(type(error)) as caught:
        loop_over(instruments, form, op).run(1, 1)
    assert caught.value is error
    assert error.__context__ is None
    assert error.__cause__ is None
    frame = error.__traceback__
    assert frame is not None
    while frame.tb_next is not None:
        frame = frame.tb_next
    assert frame.tb_frame.f_code is op.__code__


def test_exception_keeps_cause_and_context(instruments: Instruments) -> None:
    """What an exception knows about others survives the way out of C."""
    first, second = ValueError("first"), KeyError("second")

    def op() -> None:
        try:
            raise first
        except ValueError:
            raise second from first

    with pytest.raises(KeyError) as caught:
        call_loop(instruments, op).run(1, 1)
    assert (caught.value.__cause__, caught.value.__context__) == (first, first)


@pytest.mark.parametrize("iterations", [1, 2, 100])
@pytest.mark.parametrize("make", [coroutine, generator, async_generator])
def test_first_value_is_looked_at(
    instruments: Instruments, make: Callable[[], Any], iterations: int
) -> None:
    """An op that only returns something lazy is refused at its first call, without a warning."""
    made: list[weakref.ref[Any]] = []

    def op() -> Any:
        value = make()
        made.append(weakref.ref(value))
        return value

    loop = call_loop(instruments, op)
    loop.run(0, 1)
    with pytest.raises(OpError, match="none of its body would be measured"):
        loop.run(iterations, 1000)
    gc.collect()
    assert [ref() for ref in made] == [None]
    assert loop.started == 1


def test_first_value_of_each_epoch_is_looked_at(instruments: Instruments) -> None:
    """An op that becomes lazy later is refused in the next epoch."""
    value: Any = 5
    loop = call_loop(instruments, lambda: value)
    loop.run(3, 1)
    value = lazy = generator()
    with pytest.raises(OpError, match="only makes a generator"):
        loop.run(3, 1)
    assert (loop.started, next(lazy, "closed")) == (1, "closed")
    # Only the first: in between, nothing is looked at.
    call_loop(instruments, iter([5, generator(), generator()]).__next__).run(3, 1)


def test_other_values_are_no_problem(instruments: Instruments) -> None:
    """What can be awaited or iterated over, but is no coroutine or generator, is a result."""
    values: list[object] = [None, [], iter([]), map(len, []), range(3), Coroutine, generator]
    for value in values:
        assert call_loop(instruments, partial(next, itertools.repeat(value))).run(3, 1) >= 0

        def op(value: object = value) -> object:
            return value

        assert call_loop(instruments, op).run(3, 1) >= 0


def test_values_are_released(instruments: Instruments) -> None:
    """No value of op outlives its iteration, so that a large one is not there twice."""

    class Value:
        pass

    alive: list[int] = []
    values: weakref.WeakSet[Value] = weakref.WeakSet()

    def op() -> Value:
        alive.append(len(values))
        value = Value()
        values.add(value)
        return value

    loop = call_loop(instruments, op)
    loop.run(5, 1)
    loop.run(5, 1000)
    assert (alive, len(values)) == ([0] * 10, 0)


class Counted:
    """An op and a value whose references can be counted."""

    def __init__(self) -> None:
        self.value = object()
        self.error: BaseException | None = None

    def __call__(self) -> object:
        if self.error is not None:
            raise self.error
        return self.value

    def references(self) -> list[int]:
        return [sys.getrefcount(self), sys.getrefcount(self.value)]


def test_no_reference_is_lost_or_kept(instruments: Instruments) -> None:
    """After many epochs, of an op that raises as well, there are as many references as before."""
    op = Counted()
    before = op.references()
    loop = call_loop(instruments, op)
    for _ in range(50):
        loop.run(100, 3)
    error = op.error = Failure()
    references = sys.getrefcount(error)
    for _ in range(50):
        with suppress(Failure):
            loop.run(100, 3)
        error.__traceback__ = None
    op.error = None
    assert sys.getrefcount(error) == references - 1
    del loop
    after = op.references()  # not within the assert, which keeps references of its own
    assert after == before


def test_raised_exception_is_no_part_of_a_cycle(instruments: Instruments) -> None:
    """With the collector off, as while measuring, an exception and its frames still go away."""
    gc.disable()
    try:
        loop = call_loop(instruments, failing_at(1))
        try:
            loop.run(1, 1)
        except Failure as error:
            gone = weakref.ref(error)
        assert gone() is None
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("op", "kind"),
    [(lambda: 1, "function"), (gc.isenabled, "C callable"), (Counted(), "callable object")],
)
def test_empty_twin_calls_the_empty_op(
    instruments: Instruments, op: Callable[[], object], kind: str
) -> None:
    """The twin is a loop of the same type and kind that never calls op, on the same clock."""
    calls: list[int] = []
    clock = FakeClock(read_cost_ns=10)
    loop = call_loop(instruments, op, clock)
    twin = loop.empty_twin()
    assert (loop.kind, twin.kind) == (kind, kind)
    assert type(twin) is type(loop)
    assert twin.run(3, 1) == 10
    assert clock.reads == 2

    counted = call_loop(instruments, lambda: calls.append(1))
    counted.empty_twin().run(10, 1)
    counted.empty_twin().empty_twin().run(10, 1)
    assert calls == []


def test_empty_twin_of_a_statement(instruments: Instruments) -> None:
    """The twin of a statement's loop runs no statement, and leaves its variables alone."""
    clock = FakeClock(read_cost_ns=10)
    namespace: dict[str, Any] = {"x": 0, "out": []}
    loop = statement_loop(instruments, "x += 1; out.append(x)", clock, **namespace)
    twin = loop.empty_twin()
    assert (loop.kind, twin.kind) == ("statement", "statement")
    loop.run(2, 1)
    assert (twin.run(5, 1), twin.started) == (10, 5)
    loop.run(1, 1)
    assert namespace["out"] == [1, 2, 3]


@both_forms
def test_number_of_iterations_may_be_huge(instruments: Instruments, form: str) -> None:
    """The largest number that the schedule can ask for is no overflow; `started` stays exact."""
    loop = loop_over(instruments, form, failing_at(5))
    with pytest.raises(Failure):
        loop.run(2**64 - 1, 1)
    assert loop.started == 5


@both_forms
@pytest.mark.parametrize("value", [1.5, None, "1", True])
def test_clock_has_to_give_integers(instruments: Instruments, form: str, value: object) -> None:
    """A clock of the user's own is checked at each reading."""
    with pytest.raises(ClockError) as caught:
        loop_over(instruments, form, lambda: None, lambda: value).run(1, 1)
    assert str(caught.value) == (
        f"clock test_clock_has_to_give_integers.<locals>.<lambda> returned {value!r}, but a clock "
        "returns integer nanoseconds, as time.perf_counter_ns does"
    )


@both_forms
def test_exception_of_the_clock_comes_out(instruments: Instruments, form: str) -> None:
    """A clock that raises ends the epoch like an op that raises."""
    readings = iter([1])
    with pytest.raises(StopIteration):
        loop_over(instruments, form, lambda: None, lambda: next(readings)).run(3, 1)


def test_calls_are_made_in_c_where_possible(instruments: Instruments) -> None:
    """The native loop is used if it is there, and a statement's loop reads its clock in C."""
    native = instruments.compiled is not None
    loop = instruments._loop(len, None, clock_of("wall"))
    assert type(loop) is (CompiledCallLoop if native else PythonCallLoop)
    statement: Any = instruments._loop("pass", None, clock_of("wall"))
    assert (type(statement._epoch).__module__ == "_cffi_backend") == native


def test_native_clocks_are_read_by_number() -> None:
    """The numbers of the clocks are those of the native module."""
    native = compiled()
    if native is None:
        pytest.skip("there is no native module")
    assert [
        clock_of("wall").native,
        clock_of("process").native,
        clock_of("thread").native,
    ] == [native.lib.AP_CLOCK_WALL, native.lib.AP_CLOCK_PROCESS, native.lib.AP_CLOCK_THREAD]
    for clock in ("wall", "process", "thread"):
        number = operator.attrgetter("native")(clock_of(clock))
        before = native.lib.ap_clock_ns(number)
        assert 0 <= before <= native.lib.ap_clock_ns(number)
