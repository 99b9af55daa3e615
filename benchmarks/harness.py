"""What the benchmarks of this package share: fresh pinned processes, and figures with bars."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

PREAMBLE = """\
import json, os, statistics, sys, time
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
"""


@dataclass(frozen=True)
class Figure:
    """A measured figure, beside the bar that it should stay below."""

    what: str
    value: float
    bar: float
    unit: str
    details: str = ""

    @property
    def met(self) -> bool:
        """Whether the figure, whatever its sign, is within its bar."""
        return abs(self.value) <= self.bar

    def __str__(self) -> str:
        met = "met" if self.met else "MISSED"
        return (
            f"| {self.what} | {self.value:.3g} {self.unit} | {self.bar:g} {self.unit} "
            f"| {met} | {self.details} |"
        )


def in_fresh_process(code: str, *, python: Sequence[str] = (sys.executable,)) -> dict[str, float]:
    """Run code in a fresh process, pinned to one core.

    Args:
        code: It prints a JSON object as its last line.
        python: How to start Python.

    Returns:
        That object.
    """
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NANOBENCH_")}
    # Users import compiled modules; only the very first import compiles them.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [*python, "-c", PREAMBLE + code],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=Path(__file__).parent,
    )
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def medians(runs: Sequence[dict[str, float]]) -> dict[str, float]:
    """Give the median of each figure over several runs."""
    return {key: statistics.median(run[key] for run in runs) for key in runs[0]}


def spread(values: Sequence[float], form: str = ".2f") -> str:
    """Describe the range of values."""
    return f"{min(values):{form}} to {max(values):{form}} over {len(values)} processes"


def report(title: str, figures: Sequence[Figure]) -> None:
    """Print figures as a Markdown table."""
    print(f"\n### {title}\n\n| figure | measured | bar | | details |\n|:--|--:|--:|:--|:--|")
    for figure in figures:
        print(figure)


def machine() -> str:
    """Describe the machine and the Python that the figures are from."""
    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        name = next(line.partition(": ")[2] for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{python}, {platform.system()}, {name}, {os.cpu_count()} CPUs"


def run_sections(sections: Mapping[str, Callable[[], None]]) -> None:
    """Run the sections that are named on the command line, or all of them."""
    print(f"{datetime.now(timezone.utc):%Y-%m-%d}, {machine()}")
    for name in sys.argv[1:] or sections:
        sections[name]()
