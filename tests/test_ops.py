"""Kinds of callables, empty ones of the same kind, and what cannot be measured."""

from __future__ import annotations

import asyncio
import dis
import gc
import inspect
import math
import types
from functools import lru_cache, partial, wraps
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import pytest

from ankerl_py.core.ops import callable_op, default_name, refuse_value
from ankerl_py.errors import OpError, StatementError
from deferred import async_generator, coroutine, generator, old_coroutine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def function() -> int:
    return 1


FUNCTION: Any = function  # for calls that type checkers see through


class Thing:
    def method(self) -> int:
        return 2

    def __call__(self, factor: int = 3) -> int:
        return factor

    @classmethod
    def class_method(cls) -> type:
        return cls

    @staticmethod
    def static_method() -> int:
        return 4


class Meta(type):
    def __call__(cls) -> Any:
        return super().__call__()


class Made(metaclass=Meta):
    """A class whose instances are made by a function in Python."""


class Slotted:
    """An object whose class says that calling it is calling something else."""

    __call__ = Thing()


THING = Thing()


@pytest.mark.parametrize(
    ("op", "kind"),
    [
        (function, "function"),
        (lambda: 1, "function"),
        (Thing.static_method, "function"),
        (THING.method, "method"),
        (Thing.class_method, "method"),
        (types.MethodType(Thing.method, THING), "method"),
        (THING, "callable object"),
        (partial(function), "partial"),
        (partial(THING.method), "partial"),
        (partial(THING, 5), "partial"),
        (partial(math.sqrt, 2.0), "C callable"),
        (gc.isenabled, "C callable"),
        ([1].copy, "C callable"),
        (Thing, "C callable"),
        (Made, "callable object"),
        (int, "C callable"),
        (Slotted(), "C callable"),
        (types.MethodType(len, "abc"), "C callable"),
        (lru_cache(function), "C callable"),
    ],
)
def test_kind(op: Callable[[], object], kind: str) -> None:
    """The kind says what a call of op enters, and the empty callable is called in the same way."""
    found = callable_op(op)
    assert (found.call, found.kind) == (op, kind)
    empty = found.empty
    if kind == "C callable":
        assert isinstance(empty(), bool)
        return
    assert empty() is None
    shape = {
        "function": types.FunctionType,
        "method": types.MethodType,
        "partial": partial,
    }.get(kind)
    assert shape is None or type(empty) is shape
    if kind == "callable object":
        assert isinstance(type(empty).__dict__["__call__"], types.FunctionType)


def test_partial_of_each_kind_has_an_empty_partial_of_that_kind() -> None:
    """A partial is emptied inside, with the same arguments around it."""
    keywords = {"factor": 7}
    for op, inner in [
        (partial(function), types.FunctionType),
        (partial(THING.method), types.MethodType),
        (partial(THING, **keywords), object),
    ]:
        empty = callable_op(op).empty
        assert isinstance(empty, partial)
        assert isinstance(empty.func, inner)
        assert empty.func not in (function, THING.method, THING)
        assert (empty.args, empty.keywords) == (op.args, op.keywords)


A, B = object(), object()


def zoo() -> Iterator[Callable[..., object]]:
    x, y = A, B
    yield lambda: None
    yield lambda a=A: a
    yield lambda a=A, b=B: (a, b)
    yield lambda *args: args
    yield lambda **keywords: keywords
    yield lambda a=A, *args, b=B, **keywords: (a, args, b, keywords)
    yield lambda *, a=A, b=B: (a, b)
    yield lambda a=A, /: a
    yield lambda a=A, /, b=B: (a, b)
    yield lambda a=A, /, *, b=B: (a, b)
    yield lambda a=A, b=B, /, *args, **keywords: (a, b, args, keywords)
    yield lambda: x
    yield lambda: (x, y)
    yield lambda c0=A, *args, empty=B, **make: (x, y, c0, args, empty, make)
    # Local variables behind the parameters are none of the signature.
    yield lambda a=A: [(b, a) for b in (a, x)]
    yield lambda größe=A: größe  # noqa: PLC2401 (such names are legal)


@pytest.mark.parametrize("op", list(zoo()))
def test_empty_function_has_the_same_signature(op: Any) -> None:
    """What entering a function costs depends on its parameters, defaults and free variables."""
    empty: Any = callable_op(op).empty
    assert empty.__kwdefaults__ == op.__kwdefaults__
    assert inspect.signature(empty) == inspect.signature(op)
    assert len(empty.__code__.co_freevars) == len(op.__code__.co_freevars)
    assert empty.__globals__ == {}
    entering = {"RESUME", "COPY_FREE_VARS", "NOP"}
    work = [each.opname for each in dis.get_instructions(empty) if each.opname not in entering]
    assert work in (["LOAD_CONST", "RETURN_VALUE"], ["RETURN_CONST"])


def test_empty_callable_does_not_call_op() -> None:
    """Finding out about an op runs none of it."""
    calls: list[int] = []
    op = callable_op(lambda: calls.append(1))
    op.empty()
    assert calls == []


@pytest.mark.parametrize("op", [5, None, b"pass", ("f",), object()])
def test_what_is_not_callable_is_refused(op: Any) -> None:
    """The error shows the value and says what is possible."""
    with pytest.raises(OpError) as caught:
        callable_op(op)
    assert str(caught.value) == (
        f"{op!r} cannot be measured - give a callable without arguments, or a statement as text"
    )


@pytest.mark.parametrize(
    ("op", "what"),
    [
        (lambda a: a, "missing 1 required positional argument: 'a'"),
        (lambda a, b, c=1: a, "missing 2 required positional arguments: 'a' and 'b'"),
        (lambda a, /: a, "missing 1 required positional argument: 'a'"),
        (lambda *, key: key, "missing 1 required keyword-only argument: 'key'"),
        (Thing.method, "missing 1 required positional argument: 'self'"),
        (partial(lambda a, b: a, 1), "missing 1 required positional argument: 'b'"),
        (partial(FUNCTION, 1), "takes 0 positional arguments but 1 was given"),
        (partial(FUNCTION, key=1), "got an unexpected keyword argument 'key'"),
    ],
)
def test_arguments_have_to_be_complete(op: Any, what: str) -> None:
    """A call that cannot work is refused before anything is timed, in Python's own words."""
    with pytest.raises(OpError) as caught:
        callable_op(op)
    inner = op.func if isinstance(op, partial) else op
    assert str(caught.value) == (
        f"{inner.__qualname__!r} cannot be called without arguments: {inner.__qualname__}() "
        f"{what} - wrap it, e.g. run(lambda: f(...))"
    )


class Deferred:
    async def method(self) -> None:
        raise AssertionError("nobody awaits it")

    def __call__(self) -> Iterator[int]:
        yield 1


DEFERRED = [
    (coroutine, "a coroutine"),
    (old_coroutine, "a coroutine"),
    (generator, "a generator"),
    (async_generator, "an async generator"),
    (Deferred().method, "a coroutine"),
    (Deferred(), "a generator"),
    (partial(coroutine), "a coroutine"),
]


@pytest.mark.parametrize(("op", "what"), DEFERRED)
def test_functions_that_do_their_work_later_are_refused(op: Any, what: str) -> None:
    """They are never called, and the error names what they make and the remedy."""
    with pytest.raises(OpError) as caught:
        callable_op(op)
    remedy = (
        "measure the loop that consumes it, e.g. run(lambda: list(f()))"
        if what == "a generator"
        else "measure a function that runs it to its end, e.g. run(lambda: asyncio.run(f()))"
    )
    assert str(caught.value) == (
        f"calling {default_name(op)!r} only makes {what}, and none of its body would be "
        f"measured - {remedy}"
    )


def test_wrapper_of_a_coroutine_function_that_runs_it_is_measured() -> None:
    """What counts is the function that is called, not what it wraps."""

    @wraps(coroutine)
    def runs_it() -> None:
        asyncio.run(coroutine())

    assert callable_op(runs_it).kind == "function"


def test_refused_values_are_closed() -> None:
    """A coroutine that was closed does not warn that nobody awaited it."""
    value = coroutine()
    error = refuse_value(coroutine, value)
    assert inspect.getcoroutinestate(value) == inspect.CORO_CLOSED
    assert str(error).startswith("calling 'coroutine' only makes a coroutine, ")
    lazy = generator()
    assert "only makes a generator, " in str(refuse_value(generator, lazy))
    assert inspect.getgeneratorstate(lazy) == inspect.GEN_CLOSED
    error = refuse_value(async_generator, async_generator())
    assert "only makes an async generator, " in str(error)


@pytest.mark.parametrize(
    ("op", "name"),
    [
        (function, "function"),
        (Thing.method, "Thing.method"),
        (THING.method, "Thing.method"),
        (THING, "Thing"),
        (Thing, "Thing"),
        (len, "len"),
        ([].append, "list.append"),
        (partial(function), "function"),
        (partial(partial(THING, 1), factor=2), "Thing"),
        (Mock(), "Mock"),
        ("x += 1", "x += 1"),
        ("\n  x = 1\n  y = 2\n", "x = 1\n  y = 2"),
    ],
)
def test_default_name(op: object, name: str) -> None:
    """A benchmark is named after the qualified name of what is called, or after its text."""
    assert default_name(op) == name


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
def test_blank_text_has_no_name(text: str) -> None:
    """There is nothing to measure in a blank text."""
    with pytest.raises(StatementError) as caught:
        default_name(text)
    assert str(caught.value) == f"{text!r} is no statement: there is nothing to measure"


def test_static_method_as_call() -> None:
    """An object whose ``__call__`` is a static method takes no argument, and can be measured."""

    class Static:
        __call__ = staticmethod(lambda: None)

    assert callable_op(Static()).kind == "C callable"
