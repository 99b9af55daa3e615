"""A smoke test of an installed ankerl_py, to be run from anywhere but its source tree.

usage: smoke.py native|pure

It needs nothing but the package, and exits with 1 if something is wrong.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import io
import subprocess
import sys
from pathlib import Path

import ankerl_py
from ankerl_py import Bench, Measure, errors
from ankerl_py.backends.compiled import compiled, missing_reason
from ankerl_py.testing import FakeClock

SOURCE_TREE = Path(__file__).resolve().parent.parent


def check_files() -> None:
    """What is installed is the built package: typed, and without tests, sources and tools."""
    package = Path(ankerl_py.__file__).resolve().parent
    assert SOURCE_TREE not in package.parents, f"{package} is the source tree"
    assert (package / "py.typed").is_file()
    assert not list(package.rglob("*.c")) + list(package.rglob("*.cdef"))
    assert not (package / "native" / "build.py").exists()
    files = importlib.metadata.files("ankerl-py") or []
    assert {file.parts[0] for file in files if ".dist-info" not in file.parts[0]} == {"ankerl_py"}
    assert importlib.metadata.version("ankerl-py") == ankerl_py.__version__
    assert all(hasattr(ankerl_py, name) for name in ankerl_py.__all__)


def check_mode(mode: str) -> None:
    """The native module is there, or it is not and a reason is given."""
    is_native = compiled() is not None
    assert is_native == (mode == "native"), f"{mode} was expected: {missing_reason() or 'native'}"
    assert bool(missing_reason()) == (mode == "pure")


def check_imports() -> None:
    """What is slow to import is not imported before it is needed."""
    code = "import sys, ankerl_py; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert not {"numpy", "tabulate", "mstache"} & set(done.stdout.split())


def check_measuring() -> None:
    """Callables and statements are measured, and the table is printed row by row."""
    output = io.StringIO()
    data = bytes(1024)
    bench = Bench().title("smoke").unit("byte").batch(len(data)).output(output).relative()
    bench.run("sum", lambda: sum(data)).run("max", "max(data)", globals={"data": data})
    assert [result.name for result in bench.results] == ["sum", "max"]
    for result in bench.results:
        assert len(result) == 11
        assert result.median(Measure.ELAPSED) > 0
    lines = output.getvalue().splitlines()
    assert [line.count("|") for line in lines[-4:]] == [6, 6, 6, 6], lines
    assert "`sum`" in lines[-2]
    assert "`max`" in lines[-1]


def check_exactness() -> None:
    """With a clock that is told the time, figures are exact."""
    clock = FakeClock()
    bench = Bench().clock(clock).output(None).run("virtual", lambda: clock.advance(250))
    assert bench.results[0].median("elapsed") == 250e-9


def check_errors() -> None:
    """What the op raises reaches the caller, and nothing is stored; bad settings are refused."""
    bench = Bench().output(None)
    with contextlib.suppress(ZeroDivisionError):
        bench.run("division", lambda: 1 // 0)
        raise AssertionError("the exception of the op got lost")
    assert bench.results == ()
    with contextlib.suppress(errors.ConfigError):
        bench.epochs(0)
        raise AssertionError("epochs(0) was accepted")


def main() -> None:
    """Run all checks."""
    [mode] = sys.argv[1:]
    check_files()
    check_mode(mode)
    check_imports()
    check_measuring()
    check_exactness()
    check_errors()
    print(f"smoke test passed: {mode}, Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
