"""What can be measured: callables, how to tell their kinds, and an empty one of the same kind.

The time of a call has two parts: getting into the callable and out again, and its body. The first
part depends on what kind of callable it is (a Python function builds a frame, a bound method puts
an object before that, a function in C does neither), so the empty callable that is measured to
take it out has to be of the same kind and, for Python functions, of the same signature.
"""

from __future__ import annotations

import gc
from functools import lru_cache, partial
from types import CodeType, FunctionType, MethodDescriptorType, MethodType
from typing import TYPE_CHECKING, Any, Final

import attrs

from ankerl_py.errors import OpError, StatementError
from ankerl_py.units import shown

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["EMPTY_ARGUMENT", "CallableOp", "callable_op", "default_name", "refuse_value"]

EMPTY_ARGUMENT: Final = 0
"""What empty callables are called with, if they take an argument: all of them can take this."""

# Flags of code objects, as in the inspect module, which is slow to import.
_VARARGS: Final = 0x04
_VARKEYWORDS: Final = 0x08
_GENERATOR: Final = 0x20
_COROUTINE: Final = 0x80 | 0x100  # the second one: made so by types.coroutine
_ASYNC_GENERATOR: Final = 0x200


@attrs.frozen
class CallableOp:
    """A callable to be measured.

    Attributes:
        call: The callable.
        kind: What kind it is: "function", "method", "partial", "callable object" or "C callable".
        empty: An empty callable of the same kind. Calling it costs what a measurement of `call`
            must not be charged with.
    """

    call: Callable[..., object]
    kind: str
    empty: Callable[..., object]


def callable_op(op: Callable[..., object], arguments: int = 0, *, lazy: bool = False) -> CallableOp:
    """Find out what kind of callable an op is, and whether it can be measured.

    Args:
        op: What is to be called.
        arguments: How many arguments it will be called with, 0 or 1.
        lazy: Whether it may make a coroutine or generator.

    Returns:
        The op with an empty callable of its kind.

    Raises:
        OpError: It is not callable, wants other arguments, or makes a coroutine or generator,
            which would be measured without ever running.
    """
    if not callable(op):
        raise OpError(
            f"{shown(op)} cannot be measured - give a callable "
            f"{'with one argument' if arguments else 'without arguments, or a statement as text'}"
        )
    called = op.func if isinstance(op, partial) else op
    function = _function_of(called)
    if function is None:
        # These are as good as empty: they return one of two constants, or what they are given.
        # What they do beside that is less than a nanosecond.
        if not arguments:
            return CallableOp(op, "C callable", gc.isenabled)
        is_method = isinstance(op, MethodDescriptorType)  # such as list.pop
        return CallableOp(op, "C callable", int.conjugate if is_method else callable)
    empty = _empty(function)
    kind = "function"
    if isinstance(called, MethodType):
        kind, empty = "method", MethodType(empty, _INSTANCE)
    elif called is not function:
        kind, empty = "callable object", type("Empty", (), {"__call__": empty})()
    if isinstance(op, partial):
        kind, empty = "partial", partial(empty, *op.args, **op.keywords)
    if not lazy:
        _check_eager(op, function.__code__)
    _check_signature(op, empty, arguments)
    return CallableOp(op, kind, empty)


_INSTANCE: Final = object()


def _function_of(op: object) -> FunctionType | None:
    """Give the Python function that a call of op enters directly, if there is one."""
    if isinstance(op, FunctionType):
        return op
    if isinstance(op, MethodType):
        return op.__func__ if isinstance(op.__func__, FunctionType) else None
    for kind in type(op).__mro__:
        if "__call__" in kind.__dict__:
            # Not by getattr: a static method would look like a function that takes the object.
            call = kind.__dict__["__call__"]
            return call if isinstance(call, FunctionType) else None
    return None


def _check_eager(op: object, code: CodeType) -> None:
    """Refuse what does its work only later."""
    if code.co_flags & (_COROUTINE | _GENERATOR | _ASYNC_GENERATOR):
        raise OpError(_deferred(op, _kind_of_code(code)))


def _check_signature(op: object, empty: Callable[..., object], arguments: int) -> None:
    """Refuse what cannot be called with so many arguments."""
    try:
        empty(*(EMPTY_ARGUMENT,) * arguments)
    except TypeError as error:  # its signature is that of op, and it does nothing
        how = "with one argument" if arguments else "without arguments"
        remedy = "lambda value: f(value, ...)" if arguments else "run(lambda: f(...))"
        raise OpError(
            f"{default_name(op)!r} cannot be called {how}: {error} - wrap it, e.g. {remedy}"
        ) from None


def _kind_of_code(code: CodeType) -> str:
    if code.co_flags & _ASYNC_GENERATOR:
        return "an async generator"
    return "a coroutine" if code.co_flags & _COROUTINE else "a generator"


def _deferred(op: object, what: str) -> str:
    remedy = (
        "measure the loop that consumes it, e.g. run(lambda: list(f()))"
        if what == "a generator"
        else "measure a function that runs it to its end, e.g. run(lambda: asyncio.run(f()))"
    )
    return (
        f"calling {default_name(op)!r} only makes {what}, and none of its body would be "
        f"measured - {remedy}"
    )


def refuse_value(op: object, value: Any) -> OpError:
    """Make the error for an op whose first call returned a coroutine or generator.

    Args:
        op: The op.
        value: What it returned; it is closed, so that it does not warn that nobody awaited it.

    Returns:
        The error, to be raised.
    """
    what = type(value).__name__.replace("_", " ")
    if hasattr(value, "close"):
        value.close()
    return OpError(_deferred(op, f"{'an' if what[0] in 'aeiou' else 'a'} {what}"))


def default_name(op: object) -> str:
    """Name a benchmark after its op: its qualified name, or the text of a statement.

    Raises:
        StatementError: The text is blank.
    """
    if isinstance(op, str):
        name = op.strip()
        if not name:
            raise StatementError(f"{op!r} is no statement: there is nothing to measure")
        return name
    while isinstance(op, partial):
        op = op.func
    return getattr(op, "__qualname__", None) or type(op).__qualname__


def _empty(function: FunctionType) -> Callable[..., object]:
    """Make an empty function of the signature of another one, and with as many free variables."""
    code = function.__code__
    flags = code.co_flags & (_VARARGS | _VARKEYWORDS)
    parameters = code.co_argcount + code.co_kwonlyargcount + flags.bit_count()
    empty = _empty_function(
        code.co_varnames[:parameters],
        code.co_posonlyargcount,
        code.co_argcount,
        flags,
        len(code.co_freevars),
    )
    # Without a namespace of its own, it would keep this module's alive, and find names in it.
    twin = FunctionType(empty.__code__, {}, "empty", function.__defaults__, empty.__closure__)
    twin.__kwdefaults__ = function.__kwdefaults__
    twin.__qualname__ = function.__qualname__  # for the message if arguments are missing
    return twin


@lru_cache(maxsize=256)
def _empty_function(
    names: tuple[str, ...], positional_only: int, positional: int, flags: int, free: int
) -> FunctionType:
    """Compile an empty function.

    Args:
        names: Its parameters, in the order in which a code object has them: those with * and **
            come last.
        positional_only: How many of them can only be given by position.
        positional: How many of them can be given by position.
        flags: Whether there are parameters with * and **.
        free: How many free variables it has. They stand in a branch that is compiled away.
    """
    rest = list(names)
    keywords = f"**{rest.pop()}" if flags & _VARKEYWORDS else ""
    arguments = f"*{rest.pop()}" if flags & _VARARGS else "*" if len(rest) > positional else ""
    slash = "/" if positional_only else ""
    parameters = [
        *rest[:positional_only],
        slash,
        *rest[positional_only:positional],
        arguments,
        *rest[positional:],
        keywords,
    ]
    # Longer than any parameter, so that none of them has that name.
    cell = "c" * (1 + max(map(len, names), default=0))
    cells = [f"{cell}{i}" for i in range(free)]
    source = (
        "def make():\n"
        f" {' = '.join([*cells, 'None'])}\n"
        f" def empty({', '.join(filter(None, parameters))}):\n"
        f"  if 0: {', '.join(cells) or 'pass'}\n"
        " return empty\n"
    )
    namespace: dict[str, Any] = {}
    exec(source, namespace)  # noqa: S102 (made of identifiers only)
    made: FunctionType = namespace["make"]()
    return made
