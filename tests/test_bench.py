"""The fluent interface: immutable benches, shared results, what is printed and where."""

from __future__ import annotations

import copy
import gc
import io
import itertools
import pickle
import sys
from contextlib import redirect_stderr, redirect_stdout
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import pytest

import ankerl_py
from ankerl_py import Bench, Column, Config, Result, TimeUnit
from ankerl_py.core import epochs
from ankerl_py.core.instruments import Instruments
from ankerl_py.environment import Environment
from ankerl_py.errors import (
    ClockError,
    ConfigError,
    ConfigTypeError,
    OpError,
    OutputError,
    StatementError,
)
from ankerl_py.results.measure import Measure
from ankerl_py.testing import FakeClock, FakeCounters
from support import no_notice

if TYPE_CHECKING:
    from collections.abc import Callable


def exact(bench: Bench, clock: FakeClock | None = None) -> Bench:
    """Two epochs of three iterations, on a virtual clock."""
    return bench.clock(clock or FakeClock()).epochs(2).epoch_iterations(3)


def nothing() -> None:
    pass


# ---------------------------------------------------------------- settings

SETTERS: list[tuple[Callable[[Any], Bench], dict[str, object]]] = [
    (lambda b: b.title("t"), {"title": "t"}),
    (lambda b: b.name("n"), {"name": "n"}),
    (lambda b: b.unit("byte"), {"unit": "byte"}),
    (lambda b: b.batch(5), {"batch": 5.0}),
    (lambda b: b.batch(Fraction(1, 2)), {"batch": 0.5}),
    (lambda b: b.batch(Decimal("2.5")), {"batch": 2.5}),
    (lambda b: b.batch(np.float32(1.5)), {"batch": 1.5}),
    (lambda b: b.complexity_n(7), {"complexity_n": 7.0}),
    (lambda b: b.complexity_n(np.int16(7)), {"complexity_n": 7.0}),
    (lambda b: b.complexity_n(7).complexity_n(None), {"complexity_n": None}),
    (lambda b: b.time_unit("ms"), {"time_unit": TimeUnit(1e-3, "ms")}),
    (lambda b: b.time_unit(60, "min"), {"time_unit": TimeUnit(60.0, "min")}),
    (lambda b: b.time_unit(TimeUnit(1.0, "s")), {"time_unit": TimeUnit(1.0, "s")}),
    (lambda b: b.epochs(3), {"epochs": 3}),
    (lambda b: b.epochs(np.uint8(3)), {"epochs": 3}),
    (lambda b: b.warmup(4), {"warmup": 4}),
    (lambda b: b.epoch_iterations(5), {"epoch_iterations": 5}),
    (lambda b: b.min_epoch_iterations(6), {"min_epoch_iterations": 6}),
    (lambda b: b.clock_resolution_multiple(7), {"clock_resolution_multiple": 7}),
    (lambda b: b.min_epoch_time("5ms"), {"min_epoch_time_ns": 5_000_000}),
    (lambda b: b.min_epoch_time(0.5), {"min_epoch_time_ns": 500_000_000}),
    (lambda b: b.max_epoch_time(timedelta(seconds=2)), {"max_epoch_time_ns": 2_000_000_000}),
    (lambda b: b.max_epoch_time("1.5 s"), {"max_epoch_time_ns": 1_500_000_000}),
    (lambda b: b.max_total_time("3 s"), {"max_total_time_ns": 3_000_000_000}),
    (lambda b: b.max_total_time(0), {"max_total_time_ns": 0}),
    (lambda b: b.max_total_time(1).max_total_time(None), {"max_total_time_ns": None}),
    (lambda b: b.relative(), {"relative": True}),
    (lambda b: b.relative().relative(False), {"relative": False}),
    (lambda b: b.performance_counters(False), {"performance_counters": False}),
    (lambda b: b.performance_counters(False).performance_counters(), {}),
    (lambda b: b.correct_overhead(False), {"correct_overhead": False}),
    (lambda b: b.correct_overhead(False).correct_overhead(), {"correct_overhead": True}),
    (lambda b: b.gc(), {"gc": True}),
    (lambda b: b.gc().gc(False), {"gc": False}),
    (lambda b: b.clock("thread"), {"clock": "thread"}),
    (lambda b: b.hide_column("error", Column.TOTAL), {"hidden_columns": {"error", "total"}}),
    (lambda b: b.hide_column("ipc").hide_column("cycles"), {"hidden_columns": {"ipc", "cycles"}}),
    (lambda b: b.hide_column("ipc", "cycles").show_column("ipc"), {"hidden_columns": {"cycles"}}),
    (lambda b: b.hide_column("ipc").show_column("ipc", "total"), {}),
    (lambda b: b.hide_column().show_column(), {"hidden_columns": frozenset()}),
    (lambda b: b.context("a", "1").context("b", "2"), {"context": {"a": "1", "b": "2"}}),
    (lambda b: b.context("a", "1").context("a", "2"), {"context": {"a": "2"}}),
    (lambda b: b.context("a", "1").clear_context().context("b", "2"), {"context": {"b": "2"}}),
    (lambda b: b.context_column("a").context_column("b"), {"context_columns": ("a", "b")}),
    (lambda b: b.context_column("a").context_column("a"), {"context_columns": ("a",)}),
    (lambda b: b.context_column("a").clear_context_columns(), {"context_columns": ()}),
    (lambda b: b.with_config(Config(title="x", epochs=2)), {"title": "x", "epochs": 2}),
]  # fmt: skip


@pytest.mark.parametrize(("change", "expected"), SETTERS)
def test_setter_gives_a_changed_bench(
    bench: Bench, change: Callable[[Bench], Bench], expected: dict[str, object]
) -> None:
    """A setter changes its setting in a new bench, and nothing else anywhere."""
    before = copy.deepcopy(bench.config)
    changed = change(bench)
    assert {name: getattr(changed.config, name) for name in expected} == expected
    assert bench.config == before
    assert changed is not bench
    others = {field.name for field in attrs.fields(Config)} - set(expected) - {"context_items"}
    assert [n for n in others if getattr(changed.config, n) != getattr(before, n)] == []
    assert changed.store is bench.store
    assert changed.instruments is bench.instruments


def test_every_setting_has_a_setter() -> None:
    """A field of the config without a setter could be changed only in a roundabout way."""
    others = {"context_items": "context", "context_columns": "context_column"}
    others["hidden_columns"] = "hide_column"
    names = [field.name.removesuffix("_ns") for field in attrs.fields(Config)]
    assert [n for n in names if not callable(getattr(Bench, others.get(n, n), None))] == []


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda b: b.title(""), ConfigError),
        (lambda b: b.title("  "), ConfigError),
        (lambda b: b.name("\n"), ConfigError),
        (lambda b: b.unit(""), ConfigError),
        (lambda b: b.unit(5), ConfigTypeError),
        (lambda b: b.batch(0), ConfigError),
        (lambda b: b.batch(-1), ConfigError),
        (lambda b: b.batch(float("nan")), ConfigError),
        (lambda b: b.batch(float("inf")), ConfigError),
        (lambda b: b.batch("1"), ConfigTypeError),
        (lambda b: b.epochs(0), ConfigError),
        (lambda b: b.epochs(1.0), ConfigTypeError),
        (lambda b: b.epochs(True), ConfigTypeError),
        (lambda b: b.warmup(-1), ConfigError),
        (lambda b: b.epoch_iterations(2**64), ConfigError),
        (lambda b: b.time_unit("min"), ConfigError),
        (lambda b: b.min_epoch_time("5"), ConfigError),
        (lambda b: b.min_epoch_time(-1), ConfigError),
        (lambda b: b.max_epoch_time(None), ConfigTypeError),
        (lambda b: b.max_total_time(-1), ConfigError),
        (lambda b: b.max_total_time("2"), ConfigError),
        (lambda b: b.max_total_time(float("nan")), ConfigError),
        (lambda b: b.max_total_time([]), ConfigTypeError),
        (lambda b: b.clock("sundial"), ConfigError),
        (lambda b: b.clock(5), ConfigTypeError),
        (lambda b: b.relative(1), ConfigTypeError),
        (lambda b: b.hide_column("nonsense"), ConfigError),
        (lambda b: b.show_column(5), ConfigTypeError),
        (lambda b: b.context("a", 1), ConfigTypeError),
        (lambda b: b.with_config({"epochs": 3}), ConfigTypeError),
        (lambda b: b.output(5), ConfigTypeError),
        (lambda b: b.output("results.md"), ConfigTypeError),
    ],
)
def test_setter_refuses_what_cannot_be_used(
    bench: Bench, change: Callable[[Any], Bench], error: type[Exception]
) -> None:
    """The error comes at the setter, and the bench is as before."""
    before = bench.config
    with pytest.raises(error):
        change(bench)
    assert bench.config is before


def test_messages_show_the_value() -> None:
    """Who wrote a wrong setting sees it in the message, with what would be right."""
    with pytest.raises(ConfigTypeError) as caught:
        Bench().output("results.md")  # type: ignore[arg-type]
    assert str(caught.value) == "output: 'results.md' is no text stream and not None"
    with pytest.raises(ConfigTypeError) as caught:
        Bench().with_config(5)  # type: ignore[arg-type]
    assert str(caught.value) == "with_config: 5 is not a Config"


def test_bench_cannot_be_changed(bench: Bench) -> None:
    """There is no way to set anything but a setter."""
    for name in ("config", "store", "instruments", "results", "_output", "epochs", "new"):
        with pytest.raises((attrs.exceptions.FrozenInstanceError, AttributeError)):
            setattr(bench, name, 1)
    with pytest.raises(TypeError):
        Bench(Config())  # type: ignore[call-arg,arg-type]


def test_environment_is_between_defaults_and_setters(capsys: pytest.CaptureFixture[str]) -> None:
    """NANOBENCH_CONFIG changes defaults; a setter wins over it; what is wrong is said on stderr."""
    variables = {"NANOBENCH_CONFIG": "epochs=51, minEpochTime=5 ms, warmup=x, max_epoch_time=1s"}
    environment = attrs.evolve(Environment(), variables=variables)
    bench = Bench(instruments=Instruments(environment=environment))
    assert bench.config == Config(
        epochs=51, min_epoch_time_ns=5_000_000, max_epoch_time_ns=1_000_000_000
    )
    assert bench.epochs(3).config.epochs == 3
    assert bench.with_config(Config()).config == Config()
    assert "'warmup=x' is not a number" in capsys.readouterr().err


def test_config_of_the_callers_own() -> None:
    """A config that was given is taken as it is."""
    assert Bench(config=Config(epochs=2)).config == Config(epochs=2)


# ---------------------------------------------------------------- running


def test_run_measures_the_op(bench: Bench) -> None:
    """The result has the op's time, the settings of the run, and its name."""
    clock = FakeClock()
    returned = exact(bench, clock).unit("byte").batch(10).run("op", lambda: clock.advance(250))
    (result,) = bench.results
    assert isinstance(result, Result)
    assert (result.name, result.unit, result.config.batch) == ("op", "byte", 10.0)
    assert result.values("elapsed") == (250e-9, 250e-9)
    assert returned.results == (result,)
    assert returned.config.name == "noname"


def test_run_of_a_statement(bench: Bench) -> None:
    """A text is a statement, which sees the names that it is given."""
    clock = FakeClock()
    exact(bench, clock).run("clock.advance(40)", globals={"clock": clock})
    exact(bench, clock).run("named", "clock.advance(50)", globals={"clock": clock})
    names = [result.name for result in bench.results]
    assert names == ["clock.advance(40)", "named"]
    assert [result.median("elapsed") for result in bench.results] == pytest.approx([40e-9, 50e-9])
    assert [result.overhead.kind for result in bench.results] == ["statement"] * 2


def test_names(bench: Bench) -> None:
    """The name is what run is told, else what the setter was told, else what the op is called."""
    bench = exact(bench)
    bench.run(nothing).run("pass").run("x", nothing).name("set").run(nothing).run("y", nothing)
    assert [result.name for result in bench.results] == ["nothing", "pass", "x", "set", "y"]


def test_chains_and_lines_are_the_same(bench: Bench) -> None:
    """Benches that come from the same one share their results, in order."""
    one = exact(bench).run("a", nothing)
    two = one.unit("byte").run("b", nothing)
    bench.epochs(1).epoch_iterations(1).run("c", nothing)
    assert [result.name for result in one.results] == ["a", "b", "c"]
    assert one.results == two.results == bench.results == bench.store.all
    assert Bench().results == ()


def test_results_are_those_of_the_title(bench: Bench) -> None:
    """A title is a table of its own; going back to it shows it again."""
    bench = exact(bench).run("a", nothing)
    other = bench.title("other").run("b", nothing)
    bench.run("c", nothing)
    assert [result.name for result in bench.results] == ["a", "c"]
    assert [result.name for result in other.results] == ["b"]
    assert [result.name for result in other.title("benchmark").results] == ["a", "c"]
    assert len(bench.store) == 3


@pytest.mark.parametrize("arguments", [(), ("a", nothing, nothing)])
def test_run_takes_one_or_two_arguments(bench: Bench, arguments: tuple[Any, ...]) -> None:
    """Anything else is refused, before anything is measured."""
    with pytest.raises(OpError) as caught:
        bench.run(*arguments)
    assert str(caught.value) == (
        f"run takes an op, or a name and an op, not {len(arguments)} arguments"
    )


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((5,), OpError),
        (("a", None), OpError),
        ((nothing, "a"), ConfigTypeError),
        (("", nothing), ConfigError),
        (("  ", nothing), ConfigError),
        (("",), StatementError),
        (("a", "return"), StatementError),
        (("a", lambda x: x), OpError),
    ],
)
def test_run_refuses_what_cannot_be_run(
    bench: Bench, arguments: tuple[Any, ...], error: type[Exception]
) -> None:
    """Each mistake has its type, and nothing is stored."""
    with pytest.raises(error):
        bench.run(*arguments)
    assert bench.results == ()


def test_overhead_of_the_clock_is_subtracted(bench: Bench) -> None:
    """With a clock whose reading takes time, an op takes what it takes, and raw times are kept."""
    clock = FakeClock(read_cost_ns=30)
    exact(bench, clock).run("op", lambda: clock.advance(100)).run("empty", nothing)
    op, empty = bench.results
    assert op.raw_values("elapsed") == (330e-9 / 3,) * 2
    assert op.values("elapsed") == (300e-9 / 3,) * 2
    assert [(each.elapsed_ns, each.subtracted_ns) for each in op.corrected] == [(300, 30)] * 2
    assert (op.overhead.fixed_ns, op.overhead.per_iteration_ns) == (30.0, 0.0)
    assert empty.values("elapsed") == (0.0, 0.0)
    assert empty.at_noise_floor
    assert not op.at_noise_floor


def test_overhead_can_stay(bench: Bench) -> None:
    """Without correction, times are what the clock said, and nothing else is ever run."""
    clock = FakeClock(read_cost_ns=30)
    exact(bench, clock).correct_overhead(False).run("op", lambda: clock.advance(100))
    (result,) = bench.results
    assert result.values("elapsed") == result.raw_values("elapsed") == (330e-9 / 3,) * 2
    assert result.overhead.kind == "none"
    assert clock.reads == 4


@pytest.mark.parametrize("form", ["callable", "statement"])
def test_clock_is_read_twice_an_epoch(bench: Bench, form: str) -> None:
    """All of the time between the two readings belongs to the epoch, in either mode."""
    clock = FakeClock(read_cost_ns=1)
    bench = exact(bench, clock).warmup(5).correct_overhead(False)
    bench.run("x", nothing if form == "callable" else "pass")
    assert clock.reads == 2 * 3
    assert [raw.elapsed_ns for raw in bench.results[0].raw] == [1, 1]


def test_collector_is_off_unless_wanted(bench: Bench) -> None:
    """While op runs, the collector is off; or on, if that was set, even if it was off before."""
    states: list[bool] = []

    def op() -> None:
        states.append(gc.isenabled())

    assert gc.isenabled()
    exact(bench).run(op)
    assert (set(states), gc.isenabled()) == ({False}, True)
    states.clear()
    gc.disable()
    try:
        exact(bench).gc().run(op)
        assert (set(states), gc.isenabled()) == ({True}, False)
    finally:
        gc.enable()


def test_counters_are_used_if_wanted(instruments: Instruments) -> None:
    """What counters count is part of the result, unless they were switched off."""
    counters = FakeCounters("instructions")
    bench = Bench(instruments=attrs.evolve(instruments, counters=counters)).output(None)

    def op() -> None:
        counters.count("instructions", 7)

    exact(bench).run(op).performance_counters(False).run(op)
    counted, not_counted = bench.results
    assert counted.values("instructions") == (7.0, 7.0)
    assert not not_counted.has(Measure.INSTRUCTIONS)
    assert counters.epochs == 2


def test_failed_run_is_stored_and_is_no_baseline(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run on a clock that stands still has a result that says so, and is no error."""
    monkeypatch.setattr(epochs, "STANDSTILL_NS", 1_000_000)
    stream = io.StringIO()
    bench = bench.output(stream).relative()
    bench.clock(FakeClock()).run("frozen", nothing)
    (result,) = bench.results
    assert (result.overflowed, len(result)) == (True, 0)
    assert ":boom: `frozen` (" in stream.getvalue()
    for name, ns, percent in [("ok", 100, "100.0%"), ("slower", 200, "50.0%")]:
        clock = FakeClock()
        exact(bench, clock).run(name, partial(clock.advance, ns))
        assert percent in stream.getvalue().splitlines()[-1]


# ---------------------------------------------------------------- printing

ROW = "|              250.00 |        4,000,000.00 |    0.0% |      0.00 | `{}`\n"
HEAD = (
    "\n"
    "|               ns/op |                op/s |    err% |     total | benchmark\n"
    "|--------------------:|--------------------:|--------:|----------:|:----------\n"
)


def run_250(bench: Bench, name: str) -> Bench:
    clock = FakeClock()
    return exact(bench, clock).run(name, lambda: clock.advance(250))


def test_rows_are_printed_under_one_header(bench: Bench) -> None:
    """The header comes first, and then one row after the other."""
    stream = io.StringIO()
    bench = bench.output(stream)
    run_250(run_250(bench, "a"), "b")
    run_250(bench, "c")
    assert stream.getvalue() == HEAD + ROW.format("a") + ROW.format("b") + ROW.format("c")


def test_default_output_is_stdout_at_that_time(instruments: Instruments) -> None:
    """A stdout that is replaced between two runs gets the rows from then on, with a header."""
    bench = Bench(instruments=instruments)
    first, second = io.StringIO(), io.StringIO()
    with redirect_stdout(first):
        run_250(bench, "a")
    with redirect_stdout(second):
        run_250(bench, "b")
        with redirect_stdout(first):
            run_250(bench, "c")
    assert first.getvalue() == HEAD + ROW.format("a") + ROW.format("c")
    assert second.getvalue() == HEAD + ROW.format("b")


def test_stdout_may_be_missing(instruments: Instruments, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a console, as in pythonw, nothing is printed and everything is stored."""
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    bench = run_250(Bench(instruments=instruments), "a")
    assert len(bench.results) == 1


def test_output_none_prints_nothing(
    instruments: Instruments, capsys: pytest.CaptureFixture[str]
) -> None:
    """It does not even look for reasons to warn, so the warning stays for who prints."""
    asked: list[bool] = []

    def notice(*, suppress: bool) -> str:
        asked.append(suppress)
        return ""

    bench = Bench(instruments=attrs.evolve(instruments, stability_notice=notice))
    run_250(bench.output(None), "a")
    assert capsys.readouterr() == ("", "")
    run_250(bench.output(io.StringIO()), "a")
    quiet = Environment({"NANOBENCH_SUPPRESS_WARNINGS": "1"})
    instruments = attrs.evolve(instruments, stability_notice=notice, environment=quiet)
    run_250(Bench(instruments=instruments).output(io.StringIO()), "a")
    assert asked == [True, False, True]


def test_notice_comes_before_the_measuring(instruments: Instruments) -> None:
    """Who could still do something about it reads it while the benchmark runs."""
    notices = iter(["unstable!\n\n", ""])
    stream = io.StringIO()
    seen: list[str] = []

    def notice(*, suppress: bool) -> str:
        return next(notices)

    bench = Bench(instruments=attrs.evolve(instruments, stability_notice=notice)).output(stream)
    exact(bench).run("a", lambda: seen.append(stream.getvalue())).run("b", nothing)
    assert set(seen) == {"unstable!\n\n"}
    assert stream.getvalue().startswith("unstable!\n\n" + HEAD)
    assert stream.getvalue().count("unstable!") == 1


class Broken(io.StringIO):
    """A stream that cannot be written to for a number of times."""

    failures = 1

    def write(self, text: str, /) -> int:
        if self.failures:
            self.failures -= 1
            raise OSError(28, "No space left on device")
        return super().write(text)


def test_result_is_stored_if_the_output_fails(bench: Bench) -> None:
    """A full disk loses the row, never the result, and the error says so."""
    stream = Broken()
    with pytest.raises(OutputError) as caught:
        run_250(bench.output(stream), "a")
    assert caught.value.errno == 28
    assert "the result is kept" in str(caught.value)
    assert [result.name for result in bench.results] == ["a"]
    run_250(bench.output(stream), "b")
    assert stream.getvalue() == HEAD + ROW.format("b")


def test_result_is_stored_if_the_output_is_closed(bench: Bench) -> None:
    """The same for a stream that somebody closed."""
    stream = io.StringIO()
    stream.close()
    with pytest.raises(OutputError, match="closed"):
        run_250(bench.output(stream), "a")
    assert len(bench.results) == 1


def test_notice_that_cannot_be_written_stops_nothing(instruments: Instruments) -> None:
    """The row tells that the output fails, after the result is stored."""
    stream = Broken()
    stream.failures = 2

    def notice(*, suppress: bool) -> str:
        return "unstable!"

    bench = Bench(instruments=attrs.evolve(instruments, stability_notice=notice)).output(stream)
    with pytest.raises(OutputError):
        run_250(bench, "a")
    assert len(bench.results) == 1


class Unhashable:
    """A stream that is as plain as can be: no flush, no hash, no weak references."""

    __slots__ = ("texts",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self) -> None:
        self.texts: list[str] = []

    def write(self, text: str, /) -> None:
        self.texts.append(text)

    def __eq__(self, other: object) -> bool:
        return True


def test_stream_may_be_anything_with_write(bench: Bench) -> None:
    """Two streams that claim to be equal each get a header, once."""
    first, second = Unhashable(), Unhashable()
    for stream in (first, second, first):
        run_250(bench.output(stream), "a")
    assert first.texts == [HEAD + ROW.format("a"), ROW.format("a")]
    assert second.texts == [HEAD + ROW.format("a")]


def test_new_stream_in_the_place_of_a_dead_one_gets_a_header(bench: Bench) -> None:
    """That a stream has the address of one that is gone does not make it the same."""
    for _ in range(50):
        stream = io.StringIO()
        run_250(bench.output(stream), "a")
        assert stream.getvalue() == HEAD + ROW.format("a")
        del stream


@pytest.mark.parametrize(
    "name",
    ["x" * 10_000, "two\nlines", "a | b", "`ticks`", "\N{ROCKET}", "שלום", "\u202eevil", "\ud800"],
)  # fmt: skip
def test_any_name_makes_one_row(bench: Bench, name: str) -> None:
    """Whatever a name is, its row is one line with the cells of the header."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")
    run_250(bench.output(stream), name)
    stream.seek(0)
    lines = stream.read().split("\n")
    assert len(lines) == 5  # an empty one first and last
    assert lines[3].startswith(ROW[:60])
    assert lines[3].replace("\\|", "").count("|") == lines[1].count("|")
    assert bench.results[0].name == name


def test_relative_rows_use_the_first_result_of_title_and_unit(bench: Bench) -> None:
    """Another title or another unit has its own baseline."""
    stream = io.StringIO()
    clock = FakeClock()
    bench = exact(bench, clock).relative().output(stream)

    def percent(bench: Bench, ns: int) -> str:
        bench.run("x", lambda: clock.advance(ns))
        return stream.getvalue().splitlines()[-1].split("|")[1].strip()

    assert percent(bench, 100) == "100.0%"
    assert percent(bench, 200) == "50.0%"
    assert percent(bench.unit("byte"), 400) == "100.0%"
    assert percent(bench.title("other"), 800) == "100.0%"
    assert percent(bench.name("ignored"), 50) == "200.0%"


def test_endless_is_said_on_stderr(instruments: Instruments) -> None:
    """Only the benchmark of that name is endless, and it says so; it does not look for overhead."""
    environment = Environment({"NANOBENCH_ENDLESS": "forever"})
    bench = Bench(instruments=attrs.evolve(instruments, environment=environment)).output(None)
    clock = FakeClock()
    calls = 0

    def op() -> None:
        nonlocal calls
        calls += 1
        if calls == 20:
            raise KeyError

    said = io.StringIO()
    with redirect_stderr(said):
        exact(bench, clock).run("short", nothing)
        assert said.getvalue() == ""
        clock.reads = 0
        with pytest.raises(KeyError):
            exact(bench, clock).run("forever", op)
    assert said.getvalue() == "NANOBENCH_ENDLESS set: running 'forever' endlessly\n"
    assert clock.reads <= 2 * 20
    assert [result.name for result in bench.results] == ["short"]
    closed = io.StringIO()
    closed.close()
    calls = 0
    with redirect_stderr(closed), pytest.raises(KeyError):
        exact(bench, clock).run("forever", op)

    calls = 0
    with redirect_stderr(None), pytest.raises(KeyError):
        exact(bench, clock).run("forever", op)


@pytest.mark.parametrize(("value", "marked"), [(None, True), ("0", True), ("1", False)])
def test_unstable_rows_are_marked_unless_suppressed(
    instruments: Instruments, value: str | None, marked: bool
) -> None:
    """NANOBENCH_SUPPRESS_WARNINGS silences the note on a row that is not to be trusted."""
    variables = {} if value is None else {"NANOBENCH_SUPPRESS_WARNINGS": value}
    stream, clock = io.StringIO(), FakeClock()
    costs = itertools.cycle([100, 500, 900])
    instruments = attrs.evolve(instruments, environment=Environment(variables))
    bench = Bench(instruments=instruments).output(stream).clock(clock).epoch_iterations(1)
    bench.run("unstable", lambda: clock.advance(next(costs)))
    assert (":wavy_dash: `unstable`" in stream.getvalue()) == marked
    assert "`unstable`" in stream.getvalue()


# ---------------------------------------------------------------- showing


def test_repr(bench: Bench) -> None:
    """It says how many results there are, and the settings that are not the defaults."""
    assert repr(bench) == "<Bench 'benchmark': 0 results, Config()>"
    bench = exact(bench).title("x").run("a", nothing)
    assert repr(bench).startswith("<Bench 'x': 1 result, Config(title='x', epochs=2, ")


def test_notebook_shows_the_table(bench: Bench) -> None:
    """A bench at the end of a cell shows its results; without any, its repr."""
    shown: Any = bench
    assert (shown._repr_markdown_(), shown._repr_html_()) == (None, None)
    run_250(bench, "a|b")
    assert shown._repr_markdown_() == HEAD[1:] + ROW.format("a\\|b")
    html = shown._repr_html_()
    assert html.startswith("<table>")
    assert "<code>a|b</code>" in html
    assert "250.00" in html


def test_do_not_optimize_away(bench: Bench) -> None:
    """It takes anything and does nothing with it."""
    value = [1]
    for function in (ankerl_py.do_not_optimize_away, Bench.do_not_optimize_away):
        function()
        function(value, value, None)
    assert value == [1]


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_results_can_be_pickled(bench: Bench, protocol: int) -> None:
    """A result of a real run, sent to another process, is equal to what it was."""
    bench.epochs(2).epoch_iterations(3).context("a", "b").run("x", nothing).run("pass")
    for result in bench.results:
        again = pickle.loads(pickle.dumps(result, protocol))
        assert again == result
        assert again.values("elapsed") == result.values("elapsed")
        assert copy.deepcopy(result) == result


def test_bench_can_be_copied(bench: Bench) -> None:
    """A shallow copy is as good as the bench itself."""
    bench = exact(bench).run("a", nothing)
    assert copy.copy(bench).run("b", nothing).results == bench.results


def test_clock_errors_come_out(bench: Bench) -> None:
    """A clock that is none is an error of its own kind, and nothing is stored."""
    clocks: list[Any] = [lambda: 1.5, itertools.count(10**9, -1).__next__]
    for clock in clocks:
        with pytest.raises(ClockError):
            bench.clock(clock).epoch_iterations(1).run(nothing)
    assert bench.results == ()


def test_default_instruments_are_the_real_ones() -> None:
    """Who gives none gets the environment of the process and the native module if there is one."""
    instruments = Bench(output=None).instruments
    assert instruments.environment == Environment() or instruments.environment.variables is None
    assert instruments.stability_notice is not no_notice
    bench = Bench(output=None).epochs(1).epoch_iterations(1).run(nothing)
    assert bench.results[0].raw[0].elapsed_ns >= 0


def through_pickle(bench: Bench) -> Bench:
    copied: Bench = pickle.loads(pickle.dumps(bench))
    return copied


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, through_pickle])
def test_bench_is_a_value(copied: Callable[[Bench], Bench]) -> None:
    """A bench is a value: it can be copied, and sent to another process, with its results."""
    bench = Bench().title("copied").output(None).epochs(1).epoch_iterations(1)
    bench.run("op", int)
    twin = copied(bench)
    assert (twin.config, twin.results) == (bench.config, bench.results)
    assert len(twin.run("again", int).results) == 2


@pytest.mark.parametrize(
    "field", [{"config": 5}, {"store": [1]}, {"output": 5}], ids=["config", "store", "output"]
)
def test_bench_of_wrong_parts(field: dict[str, Any]) -> None:
    """What a bench is made of is checked when it is made."""
    with pytest.raises(ConfigTypeError, match=next(iter(field))):
        Bench(**field)


@pytest.mark.parametrize(
    ("clock", "error"), [("x", ConfigError), (5, ConfigTypeError)], ids=["name", "type"]
)
def test_resolution_of_no_clock(clock: Any, error: type[Exception]) -> None:
    """A clock that is none is refused as in the setter."""
    with pytest.raises(error, match="clock"):
        ankerl_py.clock_resolution(clock)
