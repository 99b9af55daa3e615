"""Statements with something untimed before them: text that shares their variables, or callables."""

from __future__ import annotations

import itertools
import time
import traceback
from typing import TYPE_CHECKING, Any

import pytest

from ankerl_py.backends.clocks import clock_of
from ankerl_py.core.statement_loop import StatementLoop
from ankerl_py.core.statements import Statement, compile_statement
from ankerl_py.errors import ClockError, StatementError
from ankerl_py.testing import FakeClock

if TYPE_CHECKING:
    from collections.abc import Callable

    from ankerl_py import Bench
    from ankerl_py.core.instruments import Instruments


def loop_over(
    instruments: Instruments,
    text: str,
    setup: str | Callable[[], object] | None = None,
    *,
    paired: bool = True,
    clock: Any = "wall",
    **namespace: object,
) -> StatementLoop:
    """A loop as a run makes it; a setup that is callable comes before each iteration."""
    before = setup if isinstance(setup, str) else None
    statement = compile_statement(text, namespace, before, paired=paired)
    called = None if isinstance(setup, str) else setup
    return StatementLoop(statement, clock_of(clock), instruments.compiled, called)


both_scopes = pytest.mark.parametrize("paired", [False, True], ids=["epoch", "iteration"])
all_clocks = pytest.mark.parametrize("clock", ["wall", "process", "thread", FakeClock()])


# ---------------------------------------------------------------- what runs


@all_clocks
@both_scopes
def test_setup_runs_as_often_as_its_scope_says(
    instruments: Instruments, clock: Any, paired: bool
) -> None:
    """Before the epoch, or before each iteration; before an epoch of none, too."""
    calls: list[str] = []
    loop = loop_over(
        instruments, "note('op')", "note('setup')", paired=paired, clock=clock, note=calls.append
    )
    for iterations in (0, 1, 2, 100):
        calls.clear()
        assert loop.run(iterations, 1) >= 0
        turn = ["setup", "op"] * iterations if paired else ["setup"] + ["op"] * iterations
        assert calls == turn
        assert (loop.started, loop.in_setup) == (iterations, False)


@all_clocks
def test_callable_runs_before_each_statement(instruments: Instruments, clock: Any) -> None:
    """A setup that is a callable takes turns with a statement, too."""
    calls: list[str] = []
    loop = loop_over(
        instruments, "note('op')", lambda: calls.append("setup"), clock=clock, note=calls.append
    )
    loop.run(3, 1)
    assert calls == ["setup", "op"] * 3


@both_scopes
def test_variables_are_shared(instruments: Instruments, paired: bool) -> None:
    """What the setup assigns is what the statement sees, as fast as a local variable."""
    seen: list[object] = []
    loop = loop_over(
        instruments,
        "seen.append(x)\nx = 'used'",
        "import math\nx = [math.floor(2.5)]\ndef unused(): return x",
        paired=paired,
        seen=seen,
    )
    loop.run(2, 1)
    assert seen == [[2], [2] if paired else "used"]
    assert set(loop._statement.kept) == {"x", "math", "unused"}


@both_scopes
def test_setup_sees_what_the_statement_assigned(instruments: Instruments, paired: bool) -> None:
    """They are one program: variables go from one to the other, and to the next epoch."""
    seen: list[int] = []
    loop = loop_over(instruments, "x += 1", "seen.append(x)", paired=paired, seen=seen, x=10)
    loop.run(3, 1)
    loop.run(2, 1)
    assert seen == ([10, 11, 12, 13, 14] if paired else [10, 13])


@both_scopes
def test_global_statement_is_of_the_namespace(instruments: Instruments, paired: bool) -> None:
    """A setup may work on the namespace itself, if it says so."""
    namespace: dict[str, Any] = {"total": 0}
    statement = compile_statement("total += 1", namespace, "global total", paired=paired)
    StatementLoop(statement, clock_of("wall"), instruments.compiled).run(4, 1)
    assert namespace["total"] == 4


@both_scopes
@pytest.mark.parametrize(
    "setup",
    ["x = 1", "  x = 1\n", "x = 1;", "if True:\n    x = 1\n", "  for x in (0, 1):\n    pass\n"],
)
@pytest.mark.parametrize("text", ["y = x", "    y = x\n", "if x:\n  y = x"])
def test_texts_may_be_indented_each_in_its_own_way(
    instruments: Instruments, setup: str, text: str, paired: bool
) -> None:
    """A setup and a statement need not agree on that."""
    loop = loop_over(instruments, text, setup, paired=paired)
    loop.run(1, 1)
    assert loop._statement.kept == {"x": 1, "y": 1}


@both_scopes
def test_names_of_the_loop_are_hidden(instruments: Instruments, paired: bool) -> None:
    """A setup may use any name for its own."""
    names = "_loop _iterations _begin _end _epoch _clock _kept _before _after _setup _item _unbound"
    setup = f"{' = '.join(names.split())} = 7"
    seen: list[int] = []
    loop = loop_over(
        instruments, f"seen.extend([{', '.join(names.split())}])", setup, paired=paired, seen=seen
    )
    loop.run(2, 1)
    assert seen == [7] * 24


# ---------------------------------------------------------------- what is timed


@pytest.mark.parametrize("before", ["text", "callable"])
def test_only_the_statement_is_timed(instruments: Instruments, before: str) -> None:
    """Whatever the setup takes; and the pairs that warm up leave no time behind."""
    clock = FakeClock(read_cost_ns=10)
    setup = "advance(5000)" if before == "text" else (lambda: clock.advance(5000))
    loop = loop_over(instruments, "advance(100)", setup, clock=clock, advance=clock.advance)
    for iterations in (0, 1, 7):
        reads = clock.reads
        assert loop.run(iterations, 1) == 110 * iterations
        assert clock.reads - reads == 14 * iterations  # a pair, and six to warm up


def test_setup_before_an_epoch_is_not_timed(instruments: Instruments) -> None:
    """The clock is read once it is done."""
    clock = FakeClock(read_cost_ns=10)
    statement = compile_statement("advance(100)", {"advance": clock.advance}, "advance(5000)")
    loop = StatementLoop(statement, clock_of(clock), instruments.compiled)
    for iterations in (0, 1, 7):
        reads = clock.reads
        assert loop.run(iterations, 1) == 100 * iterations + 10
        assert clock.reads - reads == 2


@both_scopes
@pytest.mark.parametrize("clock", ["wall", FakeClock()])
def test_twin_runs_nothing(instruments: Instruments, clock: Any, paired: bool) -> None:
    """It has neither the statement nor any setup, and is timed in the same way."""
    called: list[int] = []
    for setup in ("called.append(1)", lambda: called.append(1), None):
        loop = loop_over(
            instruments, "called.append(1)", setup, paired=paired, clock=clock, called=called
        )
        twin = loop.empty_twin()
        assert twin.run(50, 1) >= 0
        assert twin.empty_twin().run(50, 1) >= 0
        assert twin.kind == "statement"
    assert called == []
    read = FakeClock(read_cost_ns=10)
    twin = loop_over(instruments, "pass", "pass", paired=paired, clock=read).empty_twin()
    assert twin.run(7, 1) == (70 if paired else 10)


def test_time_of_a_pair_does_not_pass_on(instruments: Instruments) -> None:
    """Each epoch starts from nothing."""
    for clock in ("wall", "thread"):
        loop = loop_over(instruments, "sum(range(10_000))", "pass", clock=clock)
        many = loop.run(50, 1)
        assert loop.run(0, 1) == 0
        assert many > 0


@both_scopes
def test_clock_is_checked(instruments: Instruments, paired: bool) -> None:
    """Floating point seconds are no integer nanoseconds."""
    loop = loop_over(instruments, "pass", "pass", paired=paired, clock=time.perf_counter)
    with pytest.raises(ClockError, match="perf_counter returned"):
        loop.run(1, 1)


# ---------------------------------------------------------------- exceptions


class Failure(Exception):
    pass


def failing_at(number: int, error: type[BaseException] = Failure) -> Callable[[], None]:
    calls = itertools.count(1)

    def fail() -> None:
        if next(calls) == number:
            raise error(number)

    return fail


@pytest.mark.parametrize("clock", ["wall", FakeClock()])
@pytest.mark.parametrize("where", ["text", "callable", "statement"])
@pytest.mark.parametrize("number", [1, 2, 50])
@pytest.mark.parametrize("error", [Failure, KeyboardInterrupt])
def test_exception_comes_out(
    instruments: Instruments, clock: Any, where: str, number: int, error: type[BaseException]
) -> None:
    """With the number of its iteration, and whether the statement raised it."""
    fail = failing_at(number, error)
    setup: Any = {"text": "fail()", "callable": fail, "statement": "pass"}[where]
    text = "fail()" if where == "statement" else "pass"
    loop = loop_over(instruments, text, setup, clock=clock, fail=fail)
    with pytest.raises(error):
        loop.run(50, 1)
    assert (loop.started, loop.in_setup) == (number, where != "statement")


@pytest.mark.parametrize("where", ["setup", "statement"])
def test_exception_in_an_epoch_with_setup(instruments: Instruments, where: str) -> None:
    """A setup that raises does so before any iteration has started."""
    text, setup = ("pass", "fail()") if where == "setup" else ("fail()", "pass")
    loop = loop_over(instruments, text, setup, paired=False, fail=failing_at(1))
    with pytest.raises(Failure):
        loop.run(5, 1)
    assert (loop.started, loop.in_setup) == ((0, True) if where == "setup" else (1, False))


@both_scopes
@pytest.mark.parametrize(
    ("setup", "text", "line"),
    [
        ("x = 1\n1 / 0  # first\ny = 2", "pass", (2, "1 / 0  # first")),
        ("x = 1\ny = 2", "x\n1 / 0  # second", (4, "1 / 0  # second")),
        ("x = 1\n", "1 / 0  # directly below", (2, "1 / 0  # directly below")),
        ("  x = 1\n  y = 2\n", "  x\n  1 / 0  # indented", (4, "1 / 0  # indented")),
        ("x = '''\n\n'''", "\n1 / 0  # far below", (5, "1 / 0  # far below")),
    ],
)
def test_traceback_shows_the_line(
    instruments: Instruments, setup: str, text: str, line: tuple[int, str], paired: bool
) -> None:
    """The lines of setup and statement are numbered as if they were one text."""
    loop = loop_over(instruments, text, setup, paired=paired)
    with pytest.raises(ZeroDivisionError) as caught:
        loop.run(1, 1)
    loop.prepare_traceback()
    frame = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (frame.lineno, frame.line) == line


@pytest.mark.parametrize(
    ("setup", "message"),
    [
        ("yield", "setup 'yield' cannot be run: 'yield' outside function, line 1"),
        ("x = 1\ncontinue", "setup 'x = 1\\ncontinue' cannot be run: 'continue' not properly in "),
        ("x = ", "setup 'x = ' cannot be run: invalid syntax, line 1"),
        ("", "setup '' is no statement - use None for no setup"),
    ],
)
@both_scopes
def test_setup_that_is_no_statement(setup: str, message: str, paired: bool) -> None:
    """The error names the setup, with the line in its own text."""
    with pytest.raises(StatementError) as caught:
        compile_statement("pass", {}, setup, paired=paired)
    assert str(caught.value).startswith(message)


def test_texts_that_do_not_go_together() -> None:
    """Each one may stand alone, but not both in one function."""
    with pytest.raises(StatementError, match="assigned to before global declaration"):
        compile_statement("global x", {}, "x = 1")


def test_statement_without_setup_is_as_before() -> None:
    """Its text is its own, and it is not timed in pairs unless that is wanted."""
    plain, paired = compile_statement("x = 1"), compile_statement("x = 1", paired=True)
    assert isinstance(plain, Statement)
    assert (plain.text, plain.paired, paired.paired) == ("x = 1", False, True)
    assert compile_statement("x = 1", None, "y = 2").text == "y = 2\nx = 1"


# ---------------------------------------------------------------- as a benchmark


@pytest.mark.parametrize("scope", ["epoch", "iteration"])
def test_benchmark_of_a_statement_with_setup(bench: Bench, scope: Any) -> None:
    """The example of the documentation: a list that is refilled, in the statement's namespace."""
    v: list[int] = []
    seen: list[int] = []
    bench = bench.epochs(2).epoch_iterations(3).setup("v.clear(); v.extend(range(5))", scope)
    bench.run("seen.append(len(v)); v.pop()", globals={"v": v, "seen": seen})
    assert seen == ([5] * 6 if scope == "iteration" else [5, 4, 3] * 2)
    assert bench.results[0].overhead.kind == "statement"
