"""Statements given as text: how they are compiled, what they can use, what they cannot be."""

from __future__ import annotations

import itertools
import linecache
import sys
import traceback
from collections import ChainMap, UserDict
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ankerl_py.core.statements import Statement, compile_statement
from ankerl_py.errors import ConfigTypeError, StatementError

if TYPE_CHECKING:
    from collections.abc import Mapping


def run(statement: Statement, *epochs: int) -> dict[str, Any]:
    """Run epochs of so many iterations, and give the variables that are left."""
    for iterations in epochs:
        calls: list[tuple[str, object, object]] = []
        statement.loop(
            itertools.repeat(None, iterations),
            lambda *args: calls.append(("begin", *args)),
            lambda *args: calls.append(("end", *args)),
            "epoch",
            "clock",
            statement.kept,
            lambda: None,
            lambda: None,
        )
        assert calls == [("begin", "epoch", "clock"), ("end", "epoch", "clock")]
    return statement.kept


def variables(text: str, namespace: Mapping[str, Any] | None = None, n: int = 1) -> dict[str, Any]:
    return run(compile_statement(text, namespace), n)


def test_statement_runs_once_per_iteration() -> None:
    """It runs exactly as often as the loop is told, also not at all."""
    out: list[int] = []
    statement = compile_statement("out.append(1)", {"out": out})
    run(statement, 0)
    assert out == []
    run(statement, 3, 4)
    assert out == [1] * 7


def test_empty_loop_runs_nothing() -> None:
    """The empty loop has the same parameters and does nothing but time."""
    out: list[int] = []
    statement = compile_statement("out.append(1)", {"out": out})
    calls: list[str] = []
    statement.empty_loop(
        itertools.repeat(None, 5),
        lambda *args: calls.append("begin"),
        lambda *args: calls.append("end"),
        None,
        None,
        statement.kept,
        lambda: None,
        lambda: None,
    )
    assert (out, calls) == ([], ["begin", "end"])


def test_variables_count_on_and_leave_the_namespace_alone() -> None:
    """A variable starts with the namespace's value, keeps its own, and is never written back."""
    namespace = {"x": 10, "step": 2}
    statement = compile_statement("x += step", namespace)
    assert run(statement, 3)["x"] == 16
    assert run(statement, 2, 1)["x"] == 22
    assert namespace == {"x": 10, "step": 2}
    assert list(statement.kept) == ["x"]


def test_variable_without_value_is_unbound() -> None:
    """A name that is assigned somewhere is local, so without a value it cannot be read."""
    with pytest.raises(UnboundLocalError):
        variables("x += 1")


def test_deleted_variable_stays_deleted() -> None:
    """After `del`, the next epoch does not see the old value again."""
    statement = compile_statement("x = 1\ndel x", {"x": 5})
    assert run(statement, 2, 2) == {}
    with pytest.raises(NameError):
        run(compile_statement("del x", {"x": 5}), 1, 1)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("x = 1", {"x": 1}),
        ("x: int = 1", {"x": 1}),
        ("x = y = 1", {"x": 1, "y": 1}),
        ("(x, *y), [z] = (1, 2, 3), [4]", {"x": 1, "y": [2, 3], "z": 4}),
        ("for x in range(3): pass", {"x": 2}),
        ("with given as x: pass", {"x": "entered"}),
        ("import math as x", {"x": __import__("math")}),
        ("import os.path", {"os": __import__("os")}),
        ("from math import pi", {"pi": __import__("math").pi}),
        ("(x := 1)", {"x": 1}),
        ("[x := i for i in range(3)]", {"x": 2}),
        ("match 5:\n case x: pass", {"x": 5}),
        ("try: 1 / 0\nexcept ZeroDivisionError as x: y = 1", {"y": 1}),
        ("größe = 1", {"größe": 1}),
        ("ﬁ = 1", {"fi": 1}),
        # A comprehension's variable is its own, whether or not it is inlined.
        ("[i for i in range(3)]", {}),
        ("{i for i in range(3)}", {}),
        ("{i: j for i, j in zip('ab', 'cd')}", {}),
        ("x = [[j for j in range(i)] for i in range(3)]", {"x": [[], [0], [0, 1]]}),
        ("list(i for i in range(3))", {}),
        ("x = (lambda i: i)(1)", {"x": 1}),
        # Assigned variables are seen by functions, classes and comprehensions inside.
        ("x = 2\ny = [x * i for i in range(3)]", {"x": 2, "y": [0, 2, 4]}),
        ("x = 2\ny = (lambda: x)()", {"x": 2, "y": 2}),
        ("x = 2\nclass C:\n y = x\ny = C.y\ndel C", {"x": 2, "y": 2}),
        ("x = 2\ndef f():\n nonlocal x\n x += 1\nf()\ndel f", {"x": 3}),
        # Names that the measuring loop has, or might have, are the statement's own.
        ("_it = _timer = _loop = _iterations = 1", dict.fromkeys(
            ("_it", "_timer", "_loop", "_iterations"), 1)),
        ("_begin = _end = _epoch = _clock = _kept = _item = _unbound = 1", dict.fromkeys(
            ("_begin", "_end", "_epoch", "_clock", "_kept", "_item", "_unbound"), 1)),
        ("_item_ = _kept__ = 1", {"_item_": 1, "_kept__": 1}),
        ("ｘ = 1; _ｉtem = 2", {"x": 1, "_item": 2}),  # noqa: RUF001
        ("KeyError = NameError = 1; del KeyError", {"NameError": 1}),
    ],
)  # fmt: skip
def test_assigned_names_are_kept(text: str, kept: dict[str, Any]) -> None:
    """Whatever binds a name in a statement makes a variable of it, and nothing else does."""

    class Given:
        def __enter__(self) -> str:
            return "entered"

        def __exit__(self, *args: object) -> None:
            pass

    assert variables(text, {"given": Given()}, 2) == kept


def test_names_of_the_loop_do_not_show() -> None:
    """A name that the generated code uses is not defined in a statement that reads it."""
    for name in ("_item", "_kept", "_begin", "_clock", "_iterations", "_unbound"):
        with pytest.raises(NameError, match=f"'{name}' is not defined"):
            variables(name)
    assert variables("x = _item", {"_item": 7}) == {"x": 7}


@pytest.mark.parametrize(
    "comprehension", ["[i for i in 'ab']", "{i for i in 'ab'}", "{i: 1 for i in 'ab'}"]
)
def test_comprehension_does_not_make_a_global_name_local(comprehension: str) -> None:
    """A global name stays global if a comprehension has a variable of that name."""
    namespace = {"i": 1, "out": []}
    statement = compile_statement(f"out.append(i)\n{comprehension}", namespace)
    run(statement, 1)
    namespace["i"] = 2
    run(statement, 1)
    assert namespace["out"] == [1, 2]


def test_global_writes_to_the_namespace() -> None:
    """Who says `global` means the namespace that was given."""
    namespace = {"x": 1}
    statement = compile_statement("global x\nx += 1", namespace)
    assert run(statement, 3) == {}
    assert namespace == {"x": 4}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("    x = 1", 1),
        ("    x = 1\n    x += 1", 2),
        ("\n        if True:\n            x = 3\n", 3),
        ("\tx = 4", 4),
        ("x = 5  # and no more", 5),
        ("# first\nx = 6\n# last", 6),
        ("x = (\n7\n)", 7),
        ("x = 0; x += 8;", 8),
        ("if True:\n    x = 9", 9),
        ("x = '''a\n    b'''", "a\n    b"),
        ("    x = '''a\n  b\nc'''", "a\n  b\nc"),
        ("x = 'a\\\n  b'", "a  b"),
        ("x = '{loop} {} %s'", "{loop} {} %s"),
        ("x = 10\r\n", 10),
        ("x = 11\f", 11),
    ],
)
def test_layout_of_the_text_is_its_own(text: str, value: object) -> None:
    """Indentation, lines, comments and the inside of texts mean what they mean in a file."""
    assert variables(text)["x"] == value


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x = ", "invalid syntax, line 1"),
        ("x = 1\ny = ", "invalid syntax, line 2"),
        ("  x = 1\n  y = ", "invalid syntax, line 2"),
        ("x = 1\n  y = 2", "unexpected indent, line 2"),
        ("return 1", "'return' outside function, line 1"),
        ("x = 1\nreturn", "'return' outside function, line 2"),
        ("break", "'break' outside loop, line 1"),
        ("continue", "'continue' not properly in loop, line 1"),
        ("yield 1", "'yield' outside function, line 1"),
        ("x = 1\nnonlocal y", "no binding for nonlocal 'y' found, line 2"),
        ("x = 1\nglobal x", "name 'x' is assigned to before global declaration, line 2"),
        ("from math import *", "import * only allowed at module level, line 1"),
        ("None = 1", "cannot assign to None, line 1"),
    ],
)
def test_what_cannot_be_measured_is_refused(text: str, problem: str) -> None:
    """The error shows the text, what is wrong, and the line of the text where it is."""
    with pytest.raises(StatementError) as caught:
        compile_statement(text)
    assert str(caught.value) == f"statement {text!r} cannot be measured: {problem}"
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    "text",
    [
        "yield from x",
        "await x",
        "async for x in y: pass",
        "async with x: pass",
        "[x async for x in y]",
        "from __future__ import annotations",
        "from __future__ import braces",
        "x = (",
        "'unterminated",
        "if True:",
        "  x = 1\n y = 2",
        "x = 1\0",
        "x = '\ud800'",
        "(" * 1000,
        "if 1:\n  return 5",
        "for i in (): break\nbreak",
        "def f(): nonlocal x",
        "def f(x): global x",
        "__debug__ = 1",
    ],
)
def test_other_texts_that_are_refused(text: str) -> None:
    """Whatever Python says about them is a StatementError, which is a ValueError."""
    with pytest.raises(ValueError, match="cannot be measured") as caught:
        compile_statement(text)
    assert isinstance(caught.value, StatementError)


@pytest.mark.parametrize("text", ["", "  ", "\n", "# nothing", "  # nothing\n"])
def test_text_without_statement_is_refused(text: str) -> None:
    """A loop over nothing is no measurement."""
    with pytest.raises(StatementError) as caught:
        compile_statement(text)
    assert str(caught.value) == f"{text!r} is no statement: there is nothing to measure"


def test_long_text_is_cut_in_messages() -> None:
    """An error message is not as long as the program."""
    with pytest.raises(StatementError) as caught:
        compile_statement("x = 1\n" * 500 + "return")
    assert len(str(caught.value)) < 200
    assert str(caught.value).endswith("'return' outside function, line 501")


def test_inner_functions_can_do_what_functions_can() -> None:
    """What is refused at the top is fine in a function, a generator or a coroutine inside."""
    text = """
        def f():
            for i in range(9):
                if i:
                    break
            yield i
            return
        async def g():
            await x
            return [y async for y in z]
        x = list(f())
    """
    assert variables(text)["x"] == [1]


def test_warning_of_the_compiler_is_heard() -> None:
    """A doubtful statement is measured, and Python's warning about it is not lost."""
    with pytest.warns(SyntaxWarning, match="is"):
        assert variables("x = 1\ny = x is 1") == {"x": 1, "y": True}


@pytest.mark.parametrize(
    "namespace",
    [
        MappingProxyType({"a": 1}),
        UserDict({"a": 1}),
        ChainMap({"a": 1}, {"b": 2}),
        {"a": 1},
    ],
)
def test_namespace_may_be_any_mapping(namespace: Mapping[str, Any]) -> None:
    """A mapping that is no dict is as good, even if it cannot be written to."""
    before = dict(namespace)
    assert variables("a += 1; b = len('xy')", namespace) == {"a": 2, "b": 2}
    assert dict(namespace) == before


def test_namespace_needs_no_builtins() -> None:
    """Built-in names are there without being in the namespace, and are not put there."""
    namespace: dict[str, Any] = {}
    assert variables("x = max(1, 2)", namespace) == {"x": 2}
    assert namespace == {}
    assert variables("x = max(1, 2)", {"max": min}) == {"x": 1}
    assert variables("x = max(1, 2)") == {"x": 2}


def test_namespace_is_looked_at_when_the_statement_runs() -> None:
    """Names that are only read have the value that they have at that time."""
    namespace = {"x": 1}
    statement = compile_statement("y = x", namespace)
    namespace["x"] = 2
    assert run(statement, 1) == {"y": 2}


@pytest.mark.parametrize("namespace", [5, "x", ["x"], SimpleNamespace(x=1)])
def test_namespace_has_to_be_a_mapping(namespace: Any) -> None:
    """The error shows what was given."""
    with pytest.raises(ConfigTypeError) as caught:
        compile_statement("x", namespace)
    assert str(caught.value) == f"globals: {namespace!r} is not a mapping of names to values"


def test_tracebacks_show_the_line_of_the_right_statement() -> None:
    """Of two statements that raise, each traceback shows its own line."""
    texts = ["x = 1\nfirst = x / 0", "    second = [\n      1 / 0\n    ]"]
    errors = []
    for text in texts:
        statement = compile_statement(text)
        with pytest.raises(ZeroDivisionError) as caught:
            run(statement, 1)
        statement.show_in_tracebacks()
        errors.append((statement, caught.value))
    linecache.checkcache()
    for (statement, error), line, number in zip(
        errors, ["first = x / 0", "1 / 0"], [2, 2], strict=True
    ):
        frame = traceback.extract_tb(error.__traceback__)[-1]
        assert (frame.filename, frame.lineno, frame.line) == (statement.filename, number, line)
        assert line in "".join(traceback.format_exception(error))


def test_recursion_in_deep_code_is_an_error_of_ours() -> None:
    """Code that is nested too deeply for Python's compiler is refused, not a crash."""
    text = "x = " + "-" * 100_000 + "1"
    with pytest.raises(StatementError, match="cannot be measured"):
        compile_statement(text)


def test_long_flat_code_is_fine() -> None:
    """Hundreds of statements, and a chain of hundreds of operators, are no problem."""
    assert variables("x = 0\n" + "x += 1\n" * 500) == {"x": 500}
    terms = min(400, sys.getrecursionlimit() // 3)
    assert variables("x = " + " + ".join(["1"] * terms)) == {"x": terms}


NAMES = st.sampled_from(["_it", "_item", "_item_", "_kept", "_loop", "x", "y"])


@given(st.lists(st.tuples(NAMES, st.integers(0, 9)), min_size=1, max_size=6))
def test_any_names_can_be_assigned(assignments: list[tuple[str, int]]) -> None:
    """A statement does what it does as a function of its own, whatever its names are."""
    text = "\n".join(f"{name} = {value}" for name, value in assignments)
    assert variables(text, None, 2) == dict(assignments)
