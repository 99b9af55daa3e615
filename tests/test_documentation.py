"""The documentation is true: its code runs, its lists are complete, its links lead somewhere."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
from pathlib import Path

import attrs
import pytest

import ankerl_py
from ankerl_py import Config

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "ankerl_py"
EXAMPLES = sorted(ROOT.glob("examples/*.py"))
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])


def read(path: str) -> str:
    """Read a file of the source tree."""
    return (ROOT / path).read_text(encoding="utf-8")


def python_blocks(text: str) -> list[tuple[int, str]]:
    """Find the Python code of a page: number of the line above it, and the code."""
    pattern = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    return [(text[: m.start()].count("\n") + 1, m[1]) for m in pattern.finditer(text)]


def table_keys(text: str) -> list[str]:
    """Find what the rows of a page's tables begin with, where that is code."""
    return re.findall(r"^\| `([^`]+)` ", text, re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python code of a page runs from top to bottom as one program."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "page"}
    with contextlib.redirect_stdout(io.StringIO()):
        for line, block in python_blocks(page.read_text(encoding="utf-8")):
            # Line breaks first, so that a traceback shows the line of the page.
            exec(compile("\n" * line + block, page.name, "exec"), namespace)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_example_runs(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each example is a program that prints at least one table."""
    runpy.run_path(str(example))
    assert "|--------------------:|" in capsys.readouterr().out


def test_pages_have_code() -> None:
    """The pages that teach something show code; this also sees that code is found at all."""
    numbers = {page.name: len(python_blocks(page.read_text(encoding="utf-8"))) for page in PAGES}
    assert [
        name
        for name in ("README.md", "measuring.md", "settings.md", "setup.md")
        if numbers[name] < 2
    ] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """Each relative link of a page names a file that is there."""
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
    relative = [link for link in links if "://" not in link]
    assert [link for link in relative if not (page.parent / link).exists()] == []


def test_settings_are_all_there() -> None:
    """The page of the settings has each field of Config once, with its default."""
    rows = re.findall(r"^\| `(\w+)` \| `(.+?)` \|", read("docs/settings.md"), re.MULTILINE)
    assert sorted(rows) == sorted((f.name, repr(f.default)) for f in attrs.fields(Config))


def test_environment_variables_are_all_there() -> None:
    """The page of the settings has each variable of ours that the code mentions, and no other."""
    code = "".join(file.read_text(encoding="utf-8") for file in PACKAGE.rglob("*.py"))
    used = set(re.findall(r"(?:NANOBENCH|ANKERL_PY)_[A-Z_]+[A-Z]", code + read("setup.py")))
    documented = [key for key in table_keys(read("docs/settings.md")) if key.isupper()]
    assert sorted(documented) == sorted(used)


def test_modules_are_all_there() -> None:
    """The page of the architecture has each module once, and no other."""
    modules = [
        ".".join(file.relative_to(PACKAGE).with_suffix("").parts)
        for file in PACKAGE.rglob("*.py")
        if file.name != "__init__.py"
    ]
    assert sorted(table_keys(read("docs/architecture.md"))) == sorted(modules)


def test_version_is_in_the_changelog() -> None:
    """The newest numbered version of the changelog is that of the package."""
    versions = re.findall(r"^## \[(\d[^]]*)\]", read("CHANGELOG.md"), re.MULTILINE)
    assert versions[0] == ankerl_py.__version__
