"""What a run does without timing it, as settings: what can be set, and what is refused when."""

from __future__ import annotations

from functools import partial
from io import StringIO
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from ankerl_py.core.untimed import NOTHING_UNTIMED, Untimed
from ankerl_py.errors import ConfigError, ConfigTypeError, OpError, StatementError
from ankerl_py.testing import FakeClock
from deferred import async_generator, coroutine, generator

if TYPE_CHECKING:
    from collections.abc import Callable

    from ankerl_py import Bench


def nothing() -> None:
    pass


def identity(value: object) -> object:
    return value


def two(a: object, b: object) -> None:
    pass


# ---------------------------------------------------------------- what follows from the settings


@pytest.mark.parametrize(
    ("untimed", "expected"),
    [
        (NOTHING_UNTIMED, set()),
        (Untimed(setup=nothing), {"epoch_setup"}),
        (Untimed(setup=nothing, setup_scope="iteration"), {
            "per_iteration", "iteration_setup", "in_loop"}),
        (Untimed(setup="pass"), {"in_loop"}),
        (Untimed(setup="pass", setup_scope="iteration"), {"per_iteration", "in_loop"}),
        (Untimed(make=nothing), {"per_iteration", "arguments", "in_loop"}),
        (Untimed(make=nothing, make_scope="batch"), {"batched", "arguments", "in_loop"}),
        (Untimed(make=nothing, setup=nothing), {
            "per_iteration", "arguments", "epoch_setup", "in_loop"}),
        (Untimed(make=nothing, make_scope="batch", setup=nothing), {
            "batched", "arguments", "epoch_setup", "in_loop"}),
        (Untimed(setup=nothing, setup_scope="iteration", state=(None,)), {
            "per_iteration", "iteration_setup", "arguments", "in_loop"}),
        # A scope of nothing is none.
        (Untimed(setup_scope="iteration", make_scope="batch"), set()),
    ],
)  # fmt: skip
def test_what_follows(untimed: Untimed, expected: set[str]) -> None:
    """What is done when, and with how many arguments op is called."""
    names = ["per_iteration", "batched", "epoch_setup", "iteration_setup", "arguments", "in_loop"]
    assert {name for name in names if getattr(untimed, name)} == expected
    assert untimed.arguments in (0, 1)
    assert {untimed.epoch_setup, untimed.iteration_setup} <= {nothing, None}


# ---------------------------------------------------------------- setters


def untimed_of(bench: Bench) -> Untimed:
    return bench._untimed


CHANGES: list[tuple[Callable[[Any], Any], Untimed | None]] = [
    (lambda b: b.setup(nothing), Untimed(setup=nothing)),
    (lambda b: b.setup(nothing, "iteration"), Untimed(setup=nothing, setup_scope="iteration")),
    (lambda b: b.setup("x = 1", scope="iteration"), Untimed("x = 1", "iteration")),
    (lambda b: b.setup(nothing, "iteration").setup(nothing), Untimed(setup=nothing)),
    (lambda b: b.setup(nothing, "iteration").setup(None), NOTHING_UNTIMED),
    (lambda b: b.inputs(nothing), Untimed(make=nothing)),
    (lambda b: b.inputs(nothing, "batch"), Untimed(make=nothing, make_scope="batch")),
    (lambda b: b.inputs(nothing, scope="batch").inputs(None), NOTHING_UNTIMED),
    (lambda b: b.setup(nothing).inputs(nothing, "batch"), Untimed(nothing, "epoch", nothing,
                                                                  "batch")),
    (lambda b: b.inputs(nothing).setup(nothing, "iteration"), Untimed(nothing, "iteration",
                                                                      nothing)),
    # What makes a value may make a lazy one: op is there to use it.
    (lambda b: b.inputs(generator), Untimed(make=generator)),
    (lambda b: b.inputs(coroutine), Untimed(make=coroutine)),
    (lambda b: b.inputs(async_generator, "batch"), Untimed(make=async_generator,
                                                           make_scope="batch")),
    (lambda b: b.setup(partial(identity, 5)), None),
    (lambda b: b.setup([].copy, "iteration"), None),
    (lambda b: b.inputs(list), Untimed(make=list)),
]  # fmt: skip


@pytest.mark.parametrize(("change", "expected"), CHANGES)
def test_setter_gives_a_changed_bench(
    bench: Bench, change: Callable[[Bench], Bench], expected: Untimed | None
) -> None:
    """A setter changes what it is for in a new bench, and nothing anywhere else."""
    changed = change(bench)
    assert untimed_of(bench) is NOTHING_UNTIMED
    assert changed is not bench
    assert (changed.config, changed.store) == (bench.config, bench.store)
    if expected is not None:
        assert untimed_of(changed) == expected


def test_settings_keep_each_other(bench: Bench) -> None:
    """What is untimed survives a change of any other setting, and the other way round."""
    changed = bench.setup(nothing, "iteration").epochs(3).output(None).title("x")
    assert untimed_of(changed) == Untimed(setup=nothing, setup_scope="iteration")
    assert (changed.config.epochs, changed.inputs(nothing).config.title) == (3, "x")


REFUSED: list[tuple[Callable[[Any], Any], type[Exception], str | None]] = [
    (lambda b: b.setup(nothing, "batch"), ConfigError,
     "setup: scope 'batch' is not one of 'epoch' or 'iteration'"),
    (lambda b: b.setup(nothing, None), ConfigError,
     "setup: scope None is not one of 'epoch' or 'iteration'"),
    (lambda b: b.setup(None, "each"), ConfigError,
     "setup: scope 'each' is not one of 'epoch' or 'iteration'"),
    (lambda b: b.inputs(nothing, "epoch"), ConfigError,
     "inputs: scope 'epoch' is not one of 'iteration' or 'batch'"),
    (lambda b: b.inputs(nothing, ["batch"]), ConfigError,
     "inputs: scope ['batch'] is not one of 'iteration' or 'batch'"),
    (lambda b: b.setup(5), ConfigTypeError,
     "setup: 5 is not a callable, a statement as text or None"),
    (lambda b: b.inputs(5), ConfigTypeError, "inputs: 5 is not a callable or None"),
    (lambda b: b.inputs("[]"), ConfigTypeError, "inputs: '[]' is not a callable or None"),
    (lambda b: b.run_excluding_setup("x", 1, "pass", identity), ConfigTypeError,
     "setup: 'pass' is not a callable"),
    (lambda b: b.run_excluding_setup("x", 1, None, identity), ConfigTypeError,
     "setup: None is not a callable"),
    (lambda b: b.setup(nothing, "iteration").inputs(nothing, "batch"), ConfigError, None),
    (lambda b: b.inputs(nothing, "batch").setup(nothing, "iteration"), ConfigError, None),
    (lambda b: b.inputs(nothing, "batch").setup("pass", "iteration"), ConfigError, None),
]  # fmt: skip


@pytest.mark.parametrize(("change", "error", "message"), REFUSED)
def test_setter_refuses(
    bench: Bench, change: Callable[[Bench], Any], error: type[Exception], message: str | None
) -> None:
    """The error comes at once, with the value and what is allowed."""
    with pytest.raises(error) as caught:
        change(bench)
    if message is None:
        message = (
            "setup with scope 'iteration' and inputs with scope 'batch' exclude each other: in a "
            "batch, nothing comes between two calls of op - use inputs(make, scope='iteration')"
        )
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda b: b.setup(identity), "setup: 'identity' cannot be called without arguments"),
        (lambda b: b.setup(two, "iteration"), "setup: 'two' cannot be called without arguments"),
        (lambda b: b.inputs(identity), "inputs: 'identity' cannot be called without arguments"),
        (lambda b: b.inputs(two, "batch"), "inputs: 'two' cannot be called without arguments"),
        (lambda b: b.run_excluding_setup("x", 1, nothing, identity),
         "setup: 'nothing' cannot be called with one argument"),
        (lambda b: b.run_excluding_setup("x", 1, two, identity),
         "setup: 'two' cannot be called with one argument"),
        (lambda b: b.setup(generator), "setup: calling 'generator' only makes a generator"),
        (lambda b: b.setup(coroutine, "iteration"), "setup: calling 'coroutine' only makes a coro"),
        (lambda b: b.run_excluding_setup("x", 1, lambda x: coroutine(), nothing),
         "'nothing' cannot be called with one argument"),
    ],
)  # fmt: skip
def test_what_is_called_takes_as_many_arguments_as_it_gets(
    bench: Bench, change: Callable[[Bench], Any], message: str
) -> None:
    """Nothing is called before that is clear, and what does its work only later does none."""
    with pytest.raises(OpError) as caught:
        change(bench)
    assert str(caught.value).startswith(message)


# ---------------------------------------------------------------- op and what comes before it


def forbidden(*args: object) -> None:
    raise AssertionError("called, although the op is refused")


OPS: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (lambda b: b.inputs(forbidden).run(nothing), OpError, "'nothing' cannot be called with one"),
    (lambda b: b.inputs(forbidden, "batch").run(two), OpError, "'two' cannot be called with one"),
    (lambda b: b.inputs(forbidden).run("pass"), OpError,
     ("statement 'pass' cannot take an argument - give a callable as op, or use setup with a "
      "statement that assigns a variable")),
    (lambda b: b.inputs(forbidden, "batch").run("pass"), OpError, "statement 'pass' cannot take"),
    (lambda b: b.run_excluding_setup("x", 1, forbidden, "pass"), OpError, "statement 'pass' "),
    (lambda b: b.run_excluding_setup("x", 1, forbidden, nothing), OpError, "'nothing' cannot"),
    (lambda b: b.run_excluding_setup("x", 1, forbidden, 5), OpError,
     "5 cannot be measured - give a callable with one argument"),
    (lambda b: b.setup(forbidden).run(identity), OpError, "'identity' cannot be called without"),
    (lambda b: b.setup(forbidden, "iteration").run(identity), OpError, "'identity' cannot be"),
    (lambda b: b.setup("x = 1").run(nothing), OpError,
     ("setup 'x = 1' is a statement, but the op is none, so they share no variables - give a "
      "callable as setup, or a statement as op")),
    (lambda b: b.setup("x = 1", "iteration").run(nothing), OpError, "setup 'x = 1' is a statem"),
    (lambda b: b.setup("x = 1").inputs(forbidden).run(identity), OpError, "setup 'x = 1' is a"),
    (lambda b: b.setup(forbidden, "iteration").run(generator), OpError, "calling 'generator' on"),
    (lambda b: b.setup("return").run("pass"), StatementError,
     "setup 'return' cannot be run: 'return' outside function, line 1"),
    (lambda b: b.setup("x = = 1").run("pass"), StatementError, "setup 'x = = 1' cannot be run: "),
    (lambda b: b.setup("\0").run("pass"), StatementError, "setup '\\x00' cannot be run: "),
    (lambda b: b.setup("").run("pass"), StatementError,
     "setup '' is no statement - use None for no setup"),
    (lambda b: b.setup(" # x").run("pass"), StatementError, "setup ' # x' is no statement - use "),
    (lambda b: b.setup("x = 1").run("break"), StatementError, "statement 'break' cannot be meas"),
]  # fmt: skip


@pytest.mark.parametrize(("run", "error", "message"), OPS)
def test_op_has_to_go_with_it(
    bench: Bench, run: Callable[[Any], Any], error: type[Exception], message: str
) -> None:
    """Else nothing is called at all, and nothing is stored."""
    with pytest.raises(error) as caught:
        run(bench)
    assert str(caught.value).startswith(message)
    assert bench.results == ()


# ---------------------------------------------------------------- run_excluding_setup


def exact(bench: Bench) -> Bench:
    return bench.clock(FakeClock()).epochs(2).epoch_iterations(3)


@pytest.mark.parametrize("state", [None, 0, [], "text", ()])
def test_state_reaches_setup_and_op(bench: Bench, state: object) -> None:
    """Both are called with the state itself, whatever it is, in turns."""
    calls: list[tuple[str, object]] = []
    returned = exact(bench).run_excluding_setup(
        "it",
        state,
        lambda state: calls.append(("setup", state)),
        lambda state: calls.append(("op", state)),
    )
    assert [name for name, _ in calls] == ["setup", "op"] * 6
    assert all(given is state for _, given in calls)
    assert [result.name for result in returned.results] == ["it"]


def test_state_is_of_this_run_only(bench: Bench) -> None:
    """The bench that is returned has no setup; the next run is a usual one."""
    calls: list[object] = []
    bench = exact(bench).run_excluding_setup("it", 1, calls.append, identity)
    calls.clear()
    bench.run("other", nothing)
    assert calls == []
    assert untimed_of(bench) is NOTHING_UNTIMED


def test_state_goes_with_other_settings(bench: Bench) -> None:
    """Units, relative times and the warmup are as in any run."""
    clock, stream, setups = FakeClock(), StringIO(), []

    def setup(costs: list[int]) -> None:
        setups.append(1)
        clock.advance(10_000)

    def op(costs: list[int]) -> None:
        clock.advance(costs[0])

    bench = exact(bench).clock(clock).unit("byte").batch(10).relative().warmup(4).output(stream)
    bench.run_excluding_setup("a", [200], setup, op).run_excluding_setup("b", [400], setup, op)
    assert [result.median("elapsed") for result in bench.results] == [200e-9, 400e-9]
    assert len(setups) == 2 * (4 + 6)
    cells = [[cell.strip() for cell in row.split("|")] for row in stream.getvalue().splitlines()]
    assert [(row[1], row[2]) for row in cells if row[-1] in ("`a`", "`b`")] == [
        ("100.0%", "20.00"),
        ("50.0%", "40.00"),
    ]


@pytest.mark.parametrize(
    ("prepare", "setting"),
    [
        (lambda b: b.setup(forbidden), "setup"),
        (lambda b: b.setup(forbidden, "iteration"), "setup"),
        (lambda b: b.setup("pass"), "setup"),
        (lambda b: b.inputs(forbidden), "inputs"),
        (lambda b: b.inputs(forbidden, "batch"), "inputs"),
    ],
)
def test_state_excludes_other_untimed_parts(
    bench: Bench, prepare: Callable[[Any], Bench], setting: str
) -> None:
    """They would silently be left out; without them, it goes on."""
    prepared = prepare(exact(bench))
    with pytest.raises(ConfigError) as caught:
        prepared.run_excluding_setup("it", 1, identity, identity)
    assert f"but {setting} is set to " in str(caught.value)
    assert str(caught.value).endswith(f"which would never be called - use {setting}(None) first")
    getattr(prepared, setting)(None).run_excluding_setup("it", 1, identity, identity)
    assert len(bench.results) == 1


def test_name_of_the_run_is_checked(bench: Bench) -> None:
    """A blank name is refused as in `run`, before anything is called."""
    for name, error in (("", ConfigError), (5, ConfigTypeError)):
        with pytest.raises(error):
            bench.run_excluding_setup(name, 1, forbidden, forbidden)  # type: ignore[arg-type]
    assert bench.results == ()


def test_untimed_is_a_value() -> None:
    """It is immutable, and compared by what it holds."""
    assert Untimed(setup=nothing) == Untimed(setup=nothing) != Untimed(setup=identity)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        NOTHING_UNTIMED.setup = nothing  # type: ignore[misc]
