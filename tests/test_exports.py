"""The public interface: what is exported, that it is complete, and that it is documented."""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import pkgutil
import textwrap
from enum import Enum
from types import FunctionType, ModuleType
from typing import Any

import attrs
import pytest

import ankerl_py

PUBLIC = ["ankerl_py", "ankerl_py.errors", "ankerl_py.testing", "ankerl_py.typing"]

# What is compiled may be missing, and has a stub for its types.
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(ankerl_py.__path__, "ankerl_py.")
    if module.name not in ("ankerl_py.native._native", "ankerl_py.native.build")
)


def own_names(module: ModuleType) -> set[str]:
    """Public names that a module defines itself, other modules and constants not counted."""
    return {
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and getattr(value, "__module__", None) == module.__name__
        and isinstance(value, (type, FunctionType))
    }


@pytest.mark.parametrize("name", ["ankerl_py", *MODULES])
def test_exports_are_sorted_and_there(name: str) -> None:
    """Each name of `__all__` is there, once, in the order in which ruff sorts them."""
    module = importlib.import_module(name)
    exported: list[str] = getattr(module, "__all__", [])

    def key(export: str) -> tuple[int, str]:
        # Constants first, then classes, then functions.
        return (0 if export.isupper() else 1 if export[0].isupper() else 2, export)

    assert exported == sorted(exported, key=key)
    assert len(exported) == len(set(exported))
    assert [export for export in exported if not hasattr(module, export)] == []


@pytest.mark.parametrize("name", MODULES)
def test_exports_are_complete(name: str) -> None:
    """A class or function without underscore is meant for others, so it is exported."""
    module = importlib.import_module(name)
    assert own_names(module) - set(getattr(module, "__all__", [])) == set()


@pytest.mark.parametrize("name", ["ankerl_py", *MODULES])
def test_modules_are_documented(name: str) -> None:
    """Each module says what it is about."""
    assert (importlib.import_module(name).__doc__ or "").strip()


def public_members(owner: Any) -> list[tuple[str, Any]]:
    members = []
    for name, value in vars(owner).items():
        if not name.startswith("_"):
            inner = value.fget if isinstance(value, property) else value
            inner = getattr(inner, "__func__", inner)
            members.append((name, inner))
    return members


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(getattr(importlib.import_module(name), export), id=f"{name}.{export}")
        for name in PUBLIC
        for export in importlib.import_module(name).__all__
    ],
)
def test_public_things_are_documented(value: Any) -> None:
    """Each exported class and function, and each public method and property, has a docstring."""
    assert (inspect.getdoc(value) or "").strip()
    if isinstance(value, ModuleType):
        return
    # typing.get_overloads and the like aside, a docstring is the summary of a thing by itself.
    assert not (value.__doc__ or "").startswith(f"{getattr(value, '__name__', '')}(")
    if isinstance(value, type):
        undocumented = [
            name
            for name, member in public_members(value)
            if isinstance(member, FunctionType) and not (member.__doc__ or "").strip()
        ]
        assert undocumented == []


def documented_attributes(owner: type) -> set[str]:
    """Attributes that have a text below them in the source, or stand under ``Attributes:``."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
    assert isinstance(definition, ast.ClassDef)
    names = {
        ast.unparse(field.target)
        for field, text in itertools.pairwise(definition.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
    }
    listed = (inspect.getdoc(owner) or "").partition("Attributes:")[2]
    return names | {line.strip().split(":")[0] for line in listed.splitlines()}


@pytest.mark.parametrize(
    "value",
    [
        value
        for value in (getattr(ankerl_py, export) for export in ankerl_py.__all__)
        if isinstance(value, type) and (attrs.has(value) or issubclass(value, Enum))
    ],
)
def test_public_fields_are_documented(value: Any) -> None:
    """Each public field of a value has its text, in the source where it stands."""
    if issubclass(value, Enum):
        return  # members are named for what they are
    fields = {field.name for field in attrs.fields(value) if not field.name.startswith("_")}
    assert fields - documented_attributes(value) == set()


def test_version() -> None:
    """The package says its version."""
    assert ankerl_py.__version__.split(".")[0].isdigit()


def test_public_names_are_those_agreed_on() -> None:
    """The names that users can rely on; a name less breaks their programs."""
    assert set(ankerl_py.__all__) >= {
        "Bench",
        "Column",
        "Config",
        "CorrectedMeasurement",
        "Measure",
        "Overhead",
        "RawMeasurement",
        "Result",
        "ResultStore",
        "Rng",
        "TimeUnit",
        "clock_resolution",
        "do_not_optimize_away",
        "errors",
    }


def test_errors_are_one_tree() -> None:
    """Every error is an `AnkerlPyError`, and is drawn in the module's docstring with its base."""
    errors = ankerl_py.errors
    drawn = errors.__doc__ or ""
    for name in errors.__all__:
        error = getattr(errors, name)
        assert issubclass(error, errors.AnkerlPyError)
        if error is not errors.AnkerlPyError:
            (base,) = (b for b in error.__bases__ if b is not errors.AnkerlPyError)
            assert f"{name} ({base.__name__})" in drawn
