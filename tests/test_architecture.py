"""The layers of the package: imports go one way, stay light, and modules stay small."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import ankerl_py

PACKAGE = Path(ankerl_py.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))

MAX_MODULE_LINES = 400
MAX_FUNCTION_LINES = 60

BASE = {"errors", "typing", "units", "rng"}

# Which modules and packages may be imported from which; all of them may import from themselves.
ALLOWED = {
    "errors": set(),
    "typing": set(),
    "units": {"errors"},
    "rng": {"errors", "units"},
    "config": {"errors", "typing", "units"},
    "environment": {"config", "errors", "units"},
    "statistics": BASE,
    "results": {"statistics", "config", *BASE},
    "renderers": {"results", "statistics", "config", *BASE},
    "comparing": {"renderers", "results", "config", *BASE},
    "native": set(),
    "backends": {"native", "results", "statistics", "config", *BASE},
    "core": {"backends", "results", "statistics", "config", "environment", *BASE},
    "testing": {"core", "backends", "results", "config", "environment", *BASE},
    "setters": {"config", *BASE},
    "analyses": {"core", "renderers", "results", "config", *BASE},
    "bench": {
        *("core", "renderers", "results", "config", "environment", "setters", "analyses"),
        *BASE,
    },
}


def layer(name: str) -> str:
    """The first part of a module's name inside the package; empty for the package itself."""
    return name.split(".")[1] if "." in name else ""


def module_name(path: Path) -> str:
    parts = ["ankerl_py", *path.relative_to(PACKAGE).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def own_imports(tree: ast.AST) -> list[str]:
    """Names of own modules that a module imports, wherever in it, also for types only."""
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            module = node.module or ""
            # `from ankerl_py import errors` imports a module, not a name of the package.
            below = module in ("ankerl_py", *(f"ankerl_py.{name}" for name in ALLOWED))
            names += [f"{module}.{a.name}" if below else module for a in node.names]
    return [name for name in names if name.split(".")[0] == "ankerl_py"]


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_imports_point_downward(path: Path) -> None:
    """No module imports from a layer above it, so that each layer can be understood by itself."""
    own = layer(module_name(path))
    if own == "":
        return  # the package's own __init__ may import everything
    assert own in ALLOWED, f"{own} has no place in the layers yet"
    wrong = [name for name in own_imports(parse(path)) if layer(name) not in {own, *ALLOWED[own]}]
    assert wrong == []


def test_layers_have_no_cycle() -> None:
    """The arrows between layers can be followed only so far."""
    left = {name: set(below) for name, below in ALLOWED.items()}
    while left:
        lowest = {name for name, below in left.items() if not below & set(left)}
        assert lowest, f"these import each other: {sorted(left)}"
        left = {name: below for name, below in left.items() if name not in lowest}


def test_modules_have_no_cycle() -> None:
    """Within a layer, too: nobody has to know two modules to understand either."""
    modules = {module_name(path): path for path in SOURCES}
    left = {
        name: {each for each in own_imports(parse(path)) if each in modules and each != name}
        for name, path in modules.items()
    }
    left = {name: below - {"ankerl_py"} for name, below in left.items() if name != "ankerl_py"}
    while left:
        lowest = {name for name, below in left.items() if not below & set(left)}
        assert lowest, f"these import each other: {sorted(left)}"
        left = {name: below for name, below in left.items() if name not in lowest}


def test_only_backends_know_native_code() -> None:
    """Everything compiled has one importer, which copes with its absence."""
    importers = {
        layer(module_name(path))
        for path in SOURCES
        if any(layer(name) == "native" for name in own_imports(parse(path)))
    }
    assert importers - {"native"} <= {"backends"}


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_modules_are_small(path: Path) -> None:
    """A module that can be read in one sitting, of functions that can be seen at a glance."""
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MAX_MODULE_LINES
    functions = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef)]
    long = {
        node.name: length
        for node in functions
        if (length := (node.end_lineno or 0) - node.lineno + 1 - docstring_lines(node))
        > MAX_FUNCTION_LINES
    }
    assert long == {}


def docstring_lines(node: ast.FunctionDef) -> int:
    """Lines of a docstring, which make a function longer, but not harder to see."""
    first = node.body[0]
    if ast.get_docstring(node) is None:
        return 0
    return (first.end_lineno or 0) - first.lineno + 1


def imported_by(code: str, **environment: str) -> set[str]:
    """Modules that are there after some code has run in a new process."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    return set(done.stdout.split())


HEAVY = {
    *("asyncio", "ast", "csv", "dataclasses", "decimal", "dis", "email", "fractions", "html"),
    *("http", "importlib.metadata", "inspect", "json", "logging", "mstache", "numpy", "platform"),
    *("random", "socket", "statistics", "subprocess", "tabulate", "tempfile", "textwrap", "timeit"),
    *("tracemalloc", "typing_extensions", "unicodedata", "unittest", "urllib", "uuid", "zipfile"),
    *("cffi", "ctypes", "multiprocessing", "concurrent", "shutil", "pathlib", "string"),
}


@pytest.mark.parametrize("pure", ["", "1"])
def test_importing_the_package_is_light(pure: str) -> None:
    """What attrs does not need by itself is imported only when it is used."""
    before = imported_by("import attrs, types, threading, __future__")
    after = imported_by("import ankerl_py", ANKERL_PY_PURE=pure)
    assert (after - before) & HEAVY == set()
    assert "ankerl_py.core.statements" not in after
    assert ("ankerl_py.native._native" in after) <= (not pure)


def test_measuring_a_function_is_light_as_well() -> None:
    """A run of a callable needs nothing heavy; one of a statement needs a compiler of syntax."""
    before = imported_by("import attrs, types, threading, __future__")
    code = "import ankerl_py\nankerl_py.Bench(output=None).epochs(1).run({op})"
    assert (imported_by(code.format(op="lambda: None")) - before) & HEAVY == set()
    after = imported_by(code.format(op="'pass'"))
    assert "ankerl_py.core.statements" in after
    assert (after - before) & HEAVY <= {"ast"}


def test_pure_mode_has_no_native_module() -> None:
    """Who switches it off gets none of it, and is told why."""
    code = (
        "from ankerl_py.backends.compiled import compiled, missing_reason\n"
        "assert compiled() is None\n"
        "assert missing_reason() == 'ANKERL_PY_PURE is set', missing_reason()"
    )
    assert "ankerl_py.native._native" not in imported_by(code, ANKERL_PY_PURE="1")


def test_missing_native_module_is_no_error() -> None:
    """A package that was built without a compiler works, and is told why it is slower."""
    code = (
        "sys.modules['ankerl_py.native._native'] = None\n"
        "from ankerl_py import Bench\n"
        "from ankerl_py.backends.compiled import compiled, missing_reason\n"
        "assert compiled() is None\n"
        "assert 'was not built at installation' in missing_reason(), missing_reason()\n"
        "Bench(output=None).epochs(1).epoch_iterations(1).run(lambda: None)"
    )
    imported_by(code, ANKERL_PY_PURE="0")
