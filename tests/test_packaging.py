"""What the project's files say about packages agrees with the source tree.

Building and installing takes longer; ``.ci/run`` does that, and tries what was installed.
"""

from __future__ import annotations

import re
from pathlib import Path

import ankerl_py

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_packages_are_all_listed() -> None:
    """A directory with an ``__init__.py`` that is not listed would be missing in the wheel."""
    directories = [file.parent for file in (ROOT / "ankerl_py").rglob("__init__.py")]
    packages = [".".join(directory.relative_to(ROOT).parts) for directory in directories]
    block = re.search(r"^packages = \[\n(.*?)^\]", PYPROJECT, re.MULTILINE | re.DOTALL)
    assert block is not None
    assert re.findall(r'"([\w.]+)"', block[1]) == sorted(packages)


def test_versions_agree() -> None:
    """The package says the same version as its metadata."""
    assert re.findall(r'^version = "(.+)"$', PYPROJECT, re.MULTILINE) == [ankerl_py.__version__]


def test_package_is_typed() -> None:
    """The marker for type checkers is there and is packaged."""
    assert (ROOT / "ankerl_py" / "py.typed").is_file()
    assert 'ankerl_py = ["py.typed"]' in PYPROJECT


def test_sdist_has_the_sources_of_the_native_module() -> None:
    """Every file that the native module is made of goes into the sdist."""
    manifest = (ROOT / "MANIFEST.in").read_text(encoding="utf-8")
    listed = re.findall(r"ankerl_py/native/\*(\.\w+)|ankerl_py/native/(build\.py)", manifest)
    suffixes = {suffix for suffix, _ in listed} | {".py", ".pyi", ".so", ".pyd"}
    files = [file for file in (ROOT / "ankerl_py" / "native").iterdir() if file.is_file()]
    assert [file.name for file in files if file.suffix not in suffixes] == []
    assert "build.py" in {name for _, name in listed}


def test_scripts_can_be_run() -> None:
    """The script of the continuous integration is executable."""
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111
