"""Statements given as text: compiled into a function that loops over them.

The loop is Python code, so a statement is measured as it would run inside a function: the names
that it assigns are local variables. They start with the values that the namespace has for them
and keep theirs from one epoch to the next, so ``x += 1`` counts on. The namespace itself is never
written to, unless the statement says ``global``.

Nothing imports this module before there is a statement: ``ast`` takes its time.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Mapping
from types import CodeType, FunctionType
from typing import Any, Final

import attrs

from ankerl_py.errors import ConfigTypeError, StatementError
from ankerl_py.units import shown

__all__ = ["Statement", "compile_statement"]

_NUMBERS: Final = itertools.count(1)

# The statement takes the place of `pass` as a syntax tree, so that its own indentation and the
# lines of its texts stay as they are. Restoring and keeping its variables is not timed.
_LOOP: Final = """
def {loop}({iterations}, {begin}, {end}, {epoch}, {clock}, {kept}, {unbound}=None):
    {restore}
    {begin}({epoch}, {clock})
    for {item} in {iterations}:
        pass
    {end}({epoch}, {clock})
    {keep}
"""

_ROLES: Final = (
    "loop",
    "iterations",
    "begin",
    "end",
    "epoch",
    "clock",
    "kept",
    "unbound",
    "item",
)

# A variable need not have a value: before the first epoch, or after `del`. No name of Python's own
# is used here, because the statement may give it another meaning.
_RESTORE: Final = """
    if {name!r} in {kept}:
        {name} = {kept}[{name!r}]
"""

_KEEP: Final = """
    try:
        {kept}[{name!r}] = {name}
    except {unbound}:
        {kept}.pop({name!r}, None)
"""


@attrs.frozen
class Statement:
    """A compiled statement.

    Attributes:
        text: Its source.
        loop: The function ``loop(iterations, begin, end, epoch, clock, kept)``: it calls
            ``begin(epoch, clock)``, runs the statement once for each item of `iterations`, and
            calls ``end(epoch, clock)``. `kept` holds the statement's variables between epochs.
        empty_loop: The same function without the statement.
        kept: The values that these variables start with.
        filename: What tracebacks call its source; no other statement has the same.
    """

    text: str
    loop: Callable[..., None]
    empty_loop: Callable[..., None]
    kept: dict[str, Any]
    filename: str

    def show_in_tracebacks(self) -> None:
        """Let tracebacks show the lines of the statement, for when it raised."""
        import linecache  # noqa: PLC0415 (not needed if nothing raises)

        lines = self.text.splitlines(keepends=True)
        linecache.cache[self.filename] = (len(self.text), None, lines, self.filename)


def compile_statement(text: str, namespace: Mapping[str, Any] | None = None) -> Statement:
    """Compile a statement into a measuring loop.

    Args:
        text: One or several lines of Python, indented as one likes.
        namespace: The names that the statement can use, beside the built-in ones.

    Returns:
        The compiled statement.

    Raises:
        StatementError: The text is no Python, or cannot stand in a loop of its own (``return``,
            ``break``, ``await``, ...).
    """
    if namespace is not None and not isinstance(namespace, Mapping):
        raise ConfigTypeError(f"globals: {shown(namespace)} is not a mapping of names to values")
    filename = f"<statement {next(_NUMBERS)}>"
    try:
        body = _parse(text)
        _check(_parse(text))
        names = _own_names(text)
        variables = _variables(_parse(text), names)
        loop = _code(body, names, variables, filename)
    except SyntaxError as error:
        where = "" if error.lineno is None else f", line {max(1, error.lineno)}"
        raise StatementError(
            f"statement {shown(text)} cannot be measured: {error.msg}{where}"
        ) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise StatementError(f"statement {shown(text)} cannot be measured: {error}") from None
    if not body:
        raise StatementError(f"{shown(text)} is no statement: there is nothing to measure")
    if not isinstance(namespace, dict):
        namespace = dict(namespace or {})
    return Statement(
        text,
        FunctionType(loop, namespace, names["loop"], (NameError,)),
        FunctionType(_code([], names, [], filename), {}, names["loop"], (NameError,)),
        {name: namespace[name] for name in variables if name in namespace},
        filename,
    )


def _parse(text: str) -> list[ast.stmt]:
    try:
        return ast.parse(text).body
    except IndentationError as error:
        complaint = error
    # Indented as it stood in its own source: a block makes that right.
    try:
        block = ast.parse("if 1:\n" + text).body[0]
    except SyntaxError as error:
        if error.msg.startswith("expected an indented block"):
            raise complaint from None  # it began without indentation
        error.lineno = (error.lineno or 2) - 1
        raise
    assert isinstance(block, ast.If)  # noqa: S101 (for the type checker)
    for node in block.body:
        ast.increment_lineno(node, -1)
    return block.body


def _check(body: list[ast.stmt]) -> None:
    """Hear the complaints about what needs a function or a loop around it.

    In the measuring loop, ``return``, ``yield`` and ``break`` would be legal, and end it.
    """
    module = ast.Module(body, [])
    for node in ast.walk(module):
        if isinstance(node, ast.Nonlocal):
            # The variables of a module are global, but those of the loop are not.
            node.__class__ = ast.Pass  # type: ignore[assignment]
    compile(module, "<statement>", "exec", dont_inherit=True)


def _own_names(text: str) -> dict[str, str]:
    """Choose names for the loop's own variables that do not occur anywhere in the statement."""
    if not text.isascii():
        from unicodedata import normalize  # noqa: PLC0415 (rarely needed)

        text = normalize("NFKC", text)  # as Python does with names
    names = {}
    for role in _ROLES:
        name = f"_{role}"
        while name in text:
            name += "_"
        names[role] = name
    return names


def _variables(body: list[ast.stmt], names: Mapping[str, str]) -> list[str]:
    """Find the names that a statement assigns."""
    for node in ast.walk(ast.Module(body, [])):
        # From Python 3.12 on, comprehensions are part of the code around them, and their variables
        # seem to belong to that. Those of generators do not.
        if isinstance(node, ast.DictComp):
            pair = ast.Tuple([node.key, node.value], ast.Load())
            node.elt = ast.copy_location(pair, node)  # type: ignore[attr-defined]
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp)):
            node.__class__ = ast.GeneratorExp  # type: ignore[assignment]
    code = _code(body, names, [], "<statement>")
    own = set(names.values())
    found = dict.fromkeys((*code.co_varnames, *code.co_cellvars))
    return [name for name in found if name not in own]


def _code(
    body: list[ast.stmt], names: Mapping[str, str], variables: list[str], filename: str
) -> CodeType:
    """Compile the loop with statements as its body."""
    source = _LOOP.format(
        restore="".join(_RESTORE.format(name=name, **names) for name in variables) or "pass",
        keep="".join(_KEEP.format(name=name, **names) for name in variables) or "pass",
        **names,
    )
    tree = ast.parse(source)
    function = tree.body[0]
    loop = next(node for node in function.body if isinstance(node, ast.For))  # type: ignore[attr-defined]
    if body:
        loop.body = body
    module = compile(tree, filename, "exec", dont_inherit=True)
    return next(const for const in module.co_consts if isinstance(const, CodeType))
