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
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import CodeType, FunctionType
from typing import Any, Final

import attrs

from ankerl_py.errors import ConfigTypeError, StatementError
from ankerl_py.units import shown

__all__ = ["Statement", "compile_statement"]

_NUMBERS: Final = itertools.count(1)

# The statement and its setup take the places of these names as syntax trees, so that their own
# indentation and the lines of their texts stay as they are. Restoring and keeping their
# variables is not timed.
_EPOCH_LOOP: Final = """
def {loop}(
    {iterations}, {begin}, {end}, {epoch}, {clock}, {kept}, {before}, {after}, {unbound}=None
):
    {restore}
    {before}()
    {setup}
    {after}()
    {begin}({epoch}, {clock})
    for {item} in {iterations}:
        {statement}
    {end}({epoch}, {clock})
    {keep}
"""

# Here the clock is read without a detour, and empty pairs of readings come right before the one
# that counts: a setup may have filled the caches with anything, and whatever lies between the
# readings of a pair is in its time. Six of them make an empty statement read 1 to 4 ns after a
# setup of 16 MiB, one makes it 15 ns, none 30 to 90.
_PAIR_LOOP: Final = """
def {loop}(
    {iterations}, {begin}, {end}, {epoch}, {clock}, {kept}, {before}, {after}, {unbound}=None
):
    {restore}
    for {item} in {iterations}:
        {before}()
        {setup}
        {after}()
        for {item} in (1, 2, 3, 4, 5, 6):
            {begin_ns} = {clock}()
            {end_ns} = {clock}()
        {begin_ns} = {clock}()
        {statement}
        {end_ns} = {clock}()
        {epoch}.end_ns += {end_ns} - {begin_ns}
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
    "before",
    "after",
    "setup",
    "statement",
    "unbound",
    "item",
    "begin_ns",
    "end_ns",
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
        text: Its source, behind that of its setup if there is one.
        loop: The function ``loop(iterations, begin, end, epoch, clock, kept, before, after)``: it
            calls ``begin(epoch, clock)``, runs the statement once for each item of `iterations`,
            and calls ``end(epoch, clock)``. If it is `paired`, it calls ``clock()`` around each
            iteration instead, and adds the time to ``epoch.end_ns``. `kept` holds the statement's
            variables between epochs. The setup runs between ``before()`` and ``after()``.
        empty_loop: The same function without the statement and its setup.
        kept: The values that these variables start with.
        filename: What tracebacks call its source; no other statement has the same.
        paired: Whether each iteration has a beginning and an end of its own.
    """

    text: str
    loop: Callable[..., None]
    empty_loop: Callable[..., None]
    kept: dict[str, Any]
    filename: str
    paired: bool

    def show_in_tracebacks(self) -> None:
        """Let tracebacks show the lines of the statement, for when it raised."""
        import linecache  # noqa: PLC0415 (not needed if nothing raises)

        lines = self.text.splitlines(keepends=True)
        linecache.cache[self.filename] = (len(self.text), None, lines, self.filename)


def compile_statement(
    text: str,
    namespace: Mapping[str, Any] | None = None,
    setup: str | None = None,
    *,
    paired: bool = False,
) -> Statement:
    """Compile a statement into a measuring loop.

    Args:
        text: One or several lines of Python, indented as one likes.
        namespace: The names that the statement can use, beside the built-in ones.
        setup: Another one that runs before it, in the same namespace and with the same variables.
        paired: Whether each iteration is timed alone, with the setup before it; else the setup
            comes once, before the loop.

    Returns:
        The compiled statement.

    Raises:
        StatementError: A text is no Python, or cannot stand in a loop of its own (``return``,
            ``break``, ``await``, ...).
    """
    if namespace is not None and not isinstance(namespace, Mapping):
        raise ConfigTypeError(f"globals: {shown(namespace)} is not a mapping of names to values")
    filename = f"<statement {next(_NUMBERS)}>"
    before = [] if setup is None else _checked(setup, "setup")
    lines = 0 if setup is None else len(setup.splitlines())
    body = _checked(text, "statement")
    whole = text if setup is None else "\n".join([*setup.splitlines(), text])
    names = _own_names(whole)
    try:
        variables = _variables([*_parse(setup or ""), *_parse(text)], names)
        for node in body:
            ast.increment_lineno(node, lines)
        template = _PAIR_LOOP if paired else _EPOCH_LOOP
        loop = _code(template, (before, body), names, variables, filename)
        empty = _code(template, ([], []), names, [], filename)
    except SyntaxError as error:
        raise _error("statement", text, error) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise StatementError(f"statement {shown(text)} cannot be measured: {error}") from None
    if not isinstance(namespace, dict):
        namespace = dict(namespace or {})
    return Statement(
        whole,
        FunctionType(loop, namespace, names["loop"], (NameError,)),
        FunctionType(empty, {}, names["loop"], (NameError,)),
        {name: namespace[name] for name in variables if name in namespace},
        filename,
        paired,
    )


_CANNOT: Final = {"statement": "cannot be measured", "setup": "cannot be run"}


def _checked(text: str, what: str) -> list[ast.stmt]:
    """Parse a text, and hear all complaints about it."""
    try:
        body = _parse(text)
        _check(_parse(text))
        # What is allowed in a module, but not in a function.
        _code(_EPOCH_LOOP, ([], _parse(text)), _own_names(text), [], "<statement>")
    except SyntaxError as error:
        raise _error(what, text, error) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise StatementError(f"{what} {shown(text)} {_CANNOT[what]}: {error}") from None
    if not body:
        if what == "setup":
            raise StatementError(f"setup {shown(text)} is no statement - use None for no setup")
        raise StatementError(f"{shown(text)} is no statement: there is nothing to measure")
    return body


def _error(what: str, text: str, error: SyntaxError) -> StatementError:
    where = "" if error.lineno is None else f", line {max(1, error.lineno)}"
    return StatementError(f"{what} {shown(text)} {_CANNOT[what]}: {error.msg}{where}")


def _parse(text: str) -> list[ast.stmt]:
    try:
        if sys.version_info < (3, 11):
            # Very deep expressions crash the parser there, but the compiler refuses them.
            with suppress(SyntaxError):
                compile(text, "<statement>", "exec", dont_inherit=True)
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
    code = _code(_EPOCH_LOOP, ([], body), names, [], "<statement>")
    own = set(names.values())
    found = dict.fromkeys((*code.co_varnames, *code.co_cellvars))
    return [name for name in found if name not in own]


def _code(
    template: str,
    places: tuple[list[ast.stmt], list[ast.stmt]],
    names: Mapping[str, str],
    variables: list[str],
    filename: str,
) -> CodeType:
    """Compile the loop with a setup and a statement in their places."""
    setup, body = places
    source = template.format(
        restore="".join(_RESTORE.format(name=name, **names) for name in variables) or "pass",
        keep="".join(_KEEP.format(name=name, **names) for name in variables) or "pass",
        **names,
    )
    tree = _Insert({names["setup"]: setup, names["statement"]: body}).visit(ast.parse(source))
    module = compile(tree, filename, "exec", dont_inherit=True)
    return next(const for const in module.co_consts if isinstance(const, CodeType))


class _Insert(ast.NodeTransformer):
    """Puts statements in the places of expressions that are a single name."""

    def __init__(self, statements: Mapping[str, list[ast.stmt]]) -> None:
        self._statements = statements

    def visit_Expr(self, node: ast.Expr) -> ast.stmt | list[ast.stmt]:
        if isinstance(node.value, ast.Name) and node.value.id in self._statements:
            return self._statements[node.value.id] or ast.copy_location(ast.Pass(), node)
        return node
